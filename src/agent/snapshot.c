/* snapshot.c - writes an agent as one JSON text, and makes it again from the text. */
#include "agent/snapshot.h"

#include "agent/agent_in.h"
#include "loop/deferral_in.h"
#include "loop/head_in.h"
#include "loop/run_save_in.h"
#include "model/message_in.h"
#include "text/records_in.h"
#include "persist/entry_in.h"
#include "persist/info_in.h"
#include "persist/recall_in.h"
#include "persist/store.h"

#include <stdio.h>

/* ---- writing ---- */

static const phi__field phi__snapshot_budget[] = {
    PHI__FIELD(phi__budget, limits.max_tokens, "max_tokens", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi__budget, limits.max_requests, "max_requests", PHI__FIELD_UINT,
               PHI__FIELD_ALWAYS),
    PHI__FIELD(phi__budget, limits.max_cost, "max_cost", PHI__FIELD_DOUBLE, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi__budget, seen.tokens, "tokens", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi__budget, seen.requests, "requests", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi__budget, seen.cost, "spent", PHI__FIELD_DOUBLE, PHI__FIELD_ALWAYS)};

static void phi__snapshot_usage(phi__buf *out, const char *key, const phi_usage *usage,
                                double cost) {
    phi__records_raw(out, key, "{");
    phi__message_put_usage(out, usage);
    phi__records_double(out, "cost", cost);
    phi__buf_char(out, '}');
}

/* A turn that is held before its call reserves the request anew. */
static bool phi__snapshot_holds(const phi__run *run) {
    return run != NULL && run->state == PHI__RUN_HELD && phi__feature_held_as(run) == PHI__RUN_TURN;
}

static void phi__snapshot_spent(phi__buf *out, const phi__agent *agent) {
    phi__budget budget = agent->budget;
    budget.seen.requests = phi__limits_budget_requests(agent, phi__snapshot_holds(agent->run));
    phi__snapshot_usage(out, "all", &agent->spent.usage, agent->spent.cost);
    phi__snapshot_usage(out, "last_run", &agent->spent.run_usage, agent->spent.run_cost);
    phi__records_raw(out, "budget", "{");
    phi__records_put(out, phi__snapshot_budget, PHI__COUNT(phi__snapshot_budget), &budget);
    phi__buf_char(out, '}');
}

static void phi__snapshot_features(phi__buf *out, const phi__agent *agent, phi_arena *scratch,
                                   phi__point point) {
    phi__moment moment;
    memset(&moment, 0, sizeof moment);
    moment.point = point;
    moment.agent = (phi__agent *)(uintptr_t)agent; /* nothing of it is changed */
    moment.out = out;
    moment.scratch = scratch;
    (void)phi__feature_take(&moment);
}

/* The queues of an agent, by their names in a snapshot. */
typedef struct phi__snapshot_queue {
    const char *name;
    phi_input kind;
} phi__snapshot_queue;

static const phi__snapshot_queue phi__snapshot_queues[] = {{"steering", PHI_INPUT_STEERING},
                                                           {"follow_ups", PHI_INPUT_FOLLOW_UP},
                                                           {"injected", PHI_INPUT_INJECTED}};

static void phi__snapshot_put_queues(phi__buf *out, const phi__agent *agent, phi_arena *scratch) {
    phi__agent *owner = (phi__agent *)(uintptr_t)agent; /* nothing of it is changed */
    size_t i;
    for (i = 0; i < PHI__COUNT(phi__snapshot_queues); i++) {
        phi__json_write_key(out, phi_str_of(phi__snapshot_queues[i].name));
        phi__run_save_inputs(out, phi__input_list_of(owner, phi__snapshot_queues[i].kind), scratch);
    }
}

PHI__FN phi_status phi__snapshot_begin(phi__buf *out, const phi__agent *agent, phi_arena *scratch) {
    phi_status status = phi__recall(agent->thread);
    if (status != PHI_OK) return status;
    phi__buf_char(out, '{');
    phi__records_u64(out, "phi_snapshot", PHI_SNAPSHOT_VERSION);
    phi__records_str(out, "agent_id", agent->agent_id);
    phi__records_str(out, "session_id", agent->line.session->id);
    phi__records_str(out, "config_id", agent->line.segment);
    phi__records_str(out, "last_loop_id", agent->line.last_loop_id);
    phi__records_u64(out, "loops", agent->line.loops);
    phi__snapshot_features(out, agent, scratch, PHI__POINT_AGENT_SAVE);
    phi__records_u64(out, "session_loops",
                     phi__session_count_so_far(agent->line.session, agent->line.segment));
    phi__snapshot_spent(out, agent);
    phi__head_save(out, agent);
    if (agent->prior.deferral != NULL) agent->rt->features.deferral->save(out, agent);
    phi__snapshot_put_queues(out, agent, scratch);
    phi__json_write_key(out, PHI__LIT("run"));
    phi__run_save(out, agent, scratch);
    phi__snapshot_features(out, agent, scratch, PHI__POINT_AGENT_SAVE_LATE);
    phi__records_raw(out, "thread", "[");
    return PHI_OK;
}

PHI__FN bool phi__snapshot_more(phi__buf *out, const phi__agent *agent, size_t *line,
                                phi_arena *scratch) {
    if (*line > agent->thread->log.held)
        phi__buf_text(out, "]}");
    else
        phi__json_write_comma(out);
    return phi__thread_text_more(out, agent->thread, line, scratch);
}

PHI_API phi_status phi_agent_snapshot(phi_agent handle, phi_arena *arena, phi_str *out) {
    phi__agent *agent = phi__find_agent(handle);
    phi_arena scratch;
    phi_status status;
    size_t line = 0;
    phi__buf buf;
    if (handle.rt == NULL || arena == NULL || out == NULL) return PHI_BAD_ARG;
    if (handle.rt->in_step)
        return phi__error(handle.rt, PHI_MISUSE, "phi_agent_snapshot inside a callback");
    if (agent == NULL)
        return phi__error(handle.rt, PHI_STALE, "phi_agent_snapshot: the agent is gone");
    phi__posts_read_all(handle.rt); /* input posted so far */
    if (agent->run != NULL) phi__tools_round_settle(agent->run);
    phi__buf_init(&buf, arena->memory);
    phi_arena_init(&scratch, arena->memory, 0);
    status = phi__snapshot_begin(&buf, agent, &scratch);
    while (status == PHI_OK && phi__snapshot_more(&buf, agent, &line, &scratch) && !buf.failed) {}
    phi_arena_free(&scratch);
    if (status == PHI_OK && (buf.failed || !phi__arena_str(arena, phi__buf_str(&buf), out)))
        status = PHI_NO_MEMORY;
    phi__buf_free(&buf);
    return status == PHI_OK
               ? status
               : phi__error(handle.rt, status, "phi_agent_snapshot: %s", phi_status_text(status));
}

/* ---- reading ---- */

static void phi__snapshot_read_spent(phi__agent *agent, const phi_json *root) {
    const phi_json *all = phi_json_get(root, "all"), *last = phi_json_get(root, "last_run");
    agent->spent.usage = phi__message_read_get_usage(phi_json_get(all, "usage"));
    agent->spent.cost = phi__records_get_double(all, "cost");
    agent->spent.run_usage = phi__message_read_get_usage(phi_json_get(last, "usage"));
    agent->spent.run_cost = phi__records_get_double(last, "cost");
    (void)phi__records_get(phi_json_get(root, "budget"), phi__snapshot_budget,
                           PHI__COUNT(phi__snapshot_budget), &agent->budget, NULL);
}

static phi_status phi__snapshot_read_thread(phi__agent *agent, const phi_json *lines, char *words,
                                            size_t words_size) {
    return phi_json_count(lines) > 0
               ? phi__thread_text_from_array(agent->thread, lines, words, words_size)
               : PHI_OK;
}

static phi_status phi__snapshot_read_queues(phi__agent *agent, const phi_json *root) {
    phi_status status = PHI_OK;
    size_t i;
    for (i = 0; i < PHI__COUNT(phi__snapshot_queues) && status == PHI_OK; i++)
        status = phi__run_load_inputs(agent, phi_json_get(root, phi__snapshot_queues[i].name),
                                      phi__input_list_of(agent, phi__snapshot_queues[i].kind));
    return status;
}

static phi_status phi__snapshot_read_features(phi__agent *agent, const phi_json *root,
                                              phi__point point) {
    phi__moment moment;
    memset(&moment, 0, sizeof moment);
    moment.point = point;
    moment.agent = agent;
    moment.json = root;
    (void)phi__feature_take(&moment);
    return moment.status;
}

static phi_status phi__snapshot_read(phi__agent *agent, const phi_json *root, phi_restore_run how,
                                     char *words, size_t words_size) {
    const phi_json *run = phi_json_get(root, "run");
    phi_str last = phi__records_get_str(root, "last_loop_id");
    phi_status status = PHI_MISUSE;
    if (agent->thread->log.count == 0)
        status = phi__snapshot_read_thread(agent, phi_json_get(root, "thread"), words, words_size);
    else
        (void)snprintf(words, words_size, "the store has thread \"%.128s\" already",
                       agent->thread->journal->id);
    if (status != PHI_OK) return status;
    phi__snapshot_read_spent(agent, root);
    status = phi__snapshot_read_features(agent, root, PHI__POINT_AGENT_LOAD);
    if (status == PHI_OK) status = phi__head_load(agent, phi_json_get(root, "head"));
    if (status == PHI_OK && phi_json_get(root, "loaded_tools") != NULL &&
        !agent->rt->features.deferral->load(agent, phi_json_get(root, "loaded_tools")))
        status = PHI_NO_MEMORY;
    if (status != PHI_OK) return status;
    phi__line_count(agent, phi__records_get_u32(root, "loops"));
    if (!phi__session_go_on(&agent->rt->sessions, agent->line.session, agent->line.segment,
                            phi__records_get_u64(root, "session_loops")))
        return PHI_NO_MEMORY;
    if (last.len > 0 && !phi__line_remember(agent, phi_str_of(last.at))) return PHI_NO_MEMORY;
    status = phi__snapshot_read_queues(agent, root);
    if (status == PHI_OK && phi_json_is(run, PHI_JSON_OBJECT)) {
        phi__line_active(agent);
        status = phi__run_load(agent, run, how == PHI_RESTORE_INTERRUPT);
    }
    return status == PHI_OK ? phi__snapshot_read_features(agent, root, PHI__POINT_AGENT_LOAD_LATE)
                            : status;
}

/* The desc with the snapshot's own identity. */
static phi_agent_desc phi__snapshot_desc(const phi_agent_desc *desc, const phi_json *root) {
    phi_agent_desc named = *desc;
    phi_str s = phi__records_get_str(root, "agent_id");
    if (s.len > 0) named.ids.agent_id = s.at;
    s = phi__records_get_str(root, "session_id");
    if (s.len > 0) named.ids.session_id = s.at;
    s = phi__records_get_str(root, "config_id");
    if (s.len > 0) named.ids.config_id = s.at;
    return named;
}

static bool phi__snapshot_version(phi_runtime *rt, const phi_json *root) {
    uint64_t version = phi__records_get_u64(root, "phi_snapshot");
    if (version == PHI_SNAPSHOT_VERSION) return true;
    if (version > PHI_SNAPSHOT_VERSION)
        (void)phi__error(rt, PHI_UNSUPPORTED,
                         "phi_agent_restore: a snapshot of version %llu, expected at most %d",
                         (unsigned long long)version, (int)PHI_SNAPSHOT_VERSION);
    else
        (void)phi__error(rt, PHI_PARSE, "phi_agent_restore: no snapshot");
    return false;
}

PHI__FN phi__agent *phi__snapshot_make(phi_runtime *rt, const phi_agent_desc *desc,
                                       const phi_json *root, phi_restore_run how) {
    phi_agent_desc named = phi__snapshot_desc(desc, root);
    char words[200] = "";
    phi__agent *agent;
    phi_status status;
    if (!phi__snapshot_version(rt, root) || phi__snapshot_needs(rt, root) != PHI_OK) return NULL;
    agent = phi__agent_make(rt, &named, NULL);
    if (agent == NULL) return NULL;
    status = phi__snapshot_read(agent, root, how, words, sizeof words);
    if (status == PHI_OK) return agent;
    phi__journal_close(agent->thread); /* its entries must not be stored */
    phi__agent_end_retire(agent);
    (void)phi__error(rt, status, "phi_agent_restore: %s",
                     words[0] != '\0'      ? words
                     : status == PHI_PARSE ? "the snapshot does not fit together"
                                           : phi_status_text(status));
    return NULL;
}

PHI__FN phi_agent phi__snapshot_restore(phi_runtime *rt, const phi_agent_desc *desc,
                                        const phi_json *root, phi_restore_run how) {
    phi_agent none;
    phi__agent *agent;
    memset(&none, 0, sizeof none);
    rt->in_step = true; /* a store's functions must not step an unfinished agent */
    rt->step.wall_ms = phi__io_wall_ms(rt->io);
    agent = phi__snapshot_make(rt, desc, root, how);
    phi__agent_end_of_step(rt);
    return agent != NULL ? agent->handle : none;
}

PHI_API phi_agent phi_agent_restore(phi_runtime *rt, const phi_agent_desc *desc, phi_str snapshot,
                                    phi_restore_run how) {
    phi_agent none;
    phi_arena scratch;
    phi_json *root = NULL;
    phi_parse_error error;
    phi_status status;
    memset(&none, 0, sizeof none);
    if (rt == NULL) return none;
    if (desc == NULL || rt->in_step) {
        (void)phi__error(rt, desc == NULL ? PHI_BAD_ARG : PHI_MISUSE, "phi_agent_restore: %s",
                         desc == NULL ? "desc is NULL" : "inside a callback");
        return none;
    }
    phi_arena_init(&scratch, &rt->memory, 0);
    status = phi_json_parse(&scratch, snapshot, 0, &root, &error);
    if (status != PHI_OK)
        (void)phi__error(rt, status, "phi_agent_restore: %u:%u: %s", (unsigned)error.line,
                         (unsigned)error.column, error.message);
    else
        none = phi__snapshot_restore(rt, desc, root, how);
    phi_arena_free(&scratch);
    return none;
}
