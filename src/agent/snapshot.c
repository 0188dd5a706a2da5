/* snapshot.c - writes an agent as one JSON text, and makes an agent from such a text. */
#include "agent/agent_in.h"
#include "features/features_in.h"

#include <stdio.h>

/* ---- checks that the runtime has the features that a snapshot needs ---- */

/* A member of a snapshot that only one feature writes. */
typedef struct phi__snap_need {
    char member[16], what[24], name[32];
    uint8_t order;
} phi__snap_need;

static const phi__snap_need phi__snapshot_needs_agent[] = {
    {"facts", "facts", "phi_feature_facts", PHI__FEATURE_AT_FACTS},
    {"failover", "another model's seat", "phi_feature_failover", PHI__FEATURE_AT_FAILOVER},
    {"loaded_tools", "loaded tools", "phi_feature_deferral", PHI__FEATURE_AT_DEFERRAL},
    {"put_off", "a deferred rewrite", "phi_feature_deferred_rewrites", PHI__FEATURE_AT_DEFERRED}};

static const phi__snap_need phi__snapshot_needs_run[] = {
    {"failover", "a failover", "phi_feature_failover", PHI__FEATURE_AT_FAILOVER},
    {"tool_state", "a tool state", "phi_feature_tool_state", PHI__FEATURE_AT_EFFECTS},
    {"prune", "a context edit", "phi_feature_context_edits", PHI__FEATURE_AT_CONTEXT_EDITS},
    {"revert", "a context edit", "phi_feature_context_edits", PHI__FEATURE_AT_CONTEXT_EDITS}};

static phi_status phi__snap_needs_say(phi_runtime *rt, const char *what, const char *name) {
    return phi__error(rt, PHI_UNSUPPORTED,
                      "phi_agent_restore: the snapshot has %s: name %s in "
                      "phi_runtime_desc.features",
                      what, name);
}

static phi_status phi__snap_needs_members(phi_runtime *rt, const phi_json *node,
                                          const phi__snap_need *needs, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (!phi__feature_named(rt, needs[i].order) && phi_json_get(node, needs[i].member) != NULL)
            return phi__snap_needs_say(rt, needs[i].what, needs[i].name);
    return PHI_OK;
}

/* True if the thread has a note with a tool state. */
static bool phi__snap_needs_state(const phi_json *thread) {
    phi_json_iter it = phi_json_each(thread);
    const phi_json *line;
    while ((line = phi_json_next(&it)) != NULL)
        if (phi__str_is(phi__records_get_str(line, "name"), PHI_NOTE_STATE) &&
            phi__str_is(phi__records_get_str(line, "kind"), "note"))
            return true;
    return false;
}

/* True if a tool in the snapshot's head is strict. */
static bool phi__snap_needs_strict(const phi_json *tools) {
    phi_json_iter it = phi_json_each(tools);
    const phi_json *tool;
    while ((tool = phi_json_next(&it)) != NULL)
        if (phi_json_bool(phi_json_at(tool, 3), false)) return true;
    return false;
}

static phi_status phi__snap_needs(phi_runtime *rt, const phi_json *root) {
    const phi_json *run = phi_json_get(root, "run");
    phi_status status = phi__snap_needs_members(rt, root, phi__snapshot_needs_agent,
                                                PHI__COUNT(phi__snapshot_needs_agent));
    if (status == PHI_OK)
        status = phi__snap_needs_members(rt, run, phi__snapshot_needs_run,
                                         PHI__COUNT(phi__snapshot_needs_run));
    if (status != PHI_OK) return status;
    if (!phi__feature_named(rt, PHI__FEATURE_AT_EFFECTS) &&
        phi__snap_needs_state(phi_json_get(root, "thread")))
        return phi__snap_needs_say(rt, "a tool state", "phi_feature_tool_state");
    if (rt->features.formats == NULL &&
        (phi__records_get_u64(phi_json_get(run, "format"), "kind") != PHI_FORMAT_TEXT ||
         phi__snap_needs_strict(phi_json_get(phi_json_get(root, "head"), "tools"))))
        return phi__snap_needs_say(rt, "a format, or a strict tool", "phi_feature_formats");
    if (!phi__feature_named(rt, PHI__FEATURE_AT_SUMMARIES) &&
        phi__records_get_u64(phi_json_get(run, "policy"), "summaries") ==
            (uint64_t)PHI_SUMMARIES_WRITE)
        return phi__snap_needs_say(rt, "a policy with summaries", "phi_feature_summaries");
    return PHI_OK;
}

/* ---- writing ---- */

static phi_status phi__snap_begin(phi__buf *out, const phi__agent *agent, phi_arena *scratch) {
    phi_status status = phi__recall(agent->thread);
    if (status != PHI_OK) return status;
    phi__buf_char(out, '{');
    phi__records_u64(out, "phi_snapshot", PHI_SNAPSHOT_VERSION);
    phi__save_agent(out, agent, scratch);
    phi__records_raw(out, "thread", "[");
    return PHI_OK;
}

static bool phi__snap_more(phi__buf *out, const phi__agent *agent, size_t *line,
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
    size_t line = 0;
    phi__buf buf;
    if (handle.rt == NULL || arena == NULL || out == NULL) return PHI_BAD_ARG;
    if (handle.rt->in_step)
        return phi__error(handle.rt, PHI_MISUSE, "phi_agent_snapshot inside a callback");
    if (agent == NULL)
        return phi__error(handle.rt, PHI_STALE, "phi_agent_snapshot: the agent is gone");
    phi__posts_read_all(handle.rt); /* so that the snapshot has all input posted so far */
    if (agent->run != NULL) phi__round_settle(agent->run);
    phi__buf_init(&buf, arena->memory);
    phi_arena_init(&scratch, arena->memory, 0);
    phi_status status = phi__snap_begin(&buf, agent, &scratch);
    while (status == PHI_OK && phi__snap_more(&buf, agent, &line, &scratch) && !buf.failed) {}
    phi_arena_free(&scratch);
    if (status == PHI_OK && (buf.failed || !phi__arena_str(arena, phi__buf_str(&buf), out)))
        status = PHI_NO_MEMORY;
    phi__buf_free(&buf);
    return status == PHI_OK
               ? status
               : phi__error(handle.rt, status, "phi_agent_snapshot: %s", phi_status_text(status));
}

/* Returns the desc with the ids of the snapshot. */
static phi_agent_desc phi__snap_desc(const phi_agent_desc *desc, const phi_json *root) {
    phi_agent_desc named = *desc;
    phi_str s = phi__records_get_str(root, "agent_id");
    if (s.len > 0) named.ids.agent_id = s.at;
    s = phi__records_get_str(root, "session_id");
    if (s.len > 0) named.ids.session_id = s.at;
    s = phi__records_get_str(root, "config_id");
    if (s.len > 0) named.ids.config_id = s.at;
    return named;
}

static bool phi__snap_version(phi_runtime *rt, const phi_json *root) {
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

PHI__FN phi__agent *phi__snap_make(phi_runtime *rt, const phi_agent_desc *desc,
                                   const phi_json *root, phi_restore_run how) {
    phi_agent_desc named = phi__snap_desc(desc, root);
    char words[200] = "";
    uint64_t refusals = rt->memory.refusals;
    if (!phi__snap_version(rt, root) || phi__snap_needs(rt, root) != PHI_OK) return NULL;
    phi__agent *agent = phi__agent_make(rt, &named, NULL);
    if (agent == NULL) return NULL;
    phi_status status =
        phi__load_agent(agent, root, how == PHI_RESTORE_INTERRUPT, words, sizeof words);
    if (status == PHI_OK) return agent;
    phi__journal_close(agent->thread); /* the agent's entries must not be stored */
    phi__end_retire(agent);
    if (status == PHI_NO_MEMORY && words[0] == '\0') {
        (void)phi__agent_no_room(agent, "phi_agent_restore", refusals);
        return NULL;
    }
    (void)phi__error(rt, status, "phi_agent_restore: %s",
                     words[0] != '\0'      ? words
                     : status == PHI_PARSE ? "the snapshot does not fit together"
                                           : phi_status_text(status));
    return NULL;
}

/* Restores an agent outside of a step. On failure the handle's rt is NULL, and phi_last_error says
   why. */
static phi_agent phi__snap_restore(phi_runtime *rt, const phi_agent_desc *desc,
                                   const phi_json *root, phi_restore_run how) {
    phi_agent none = PHI_ZERO;
    rt->in_step = true; /* a store's functions must not step an unfinished agent */
    rt->step.wall_ms = phi__io_wall_ms(rt->io);
    phi__agent *agent = phi__snap_make(rt, desc, root, how);
    phi__end_of_step(rt);
    return agent != NULL ? agent->handle : none;
}

PHI_API phi_agent phi_agent_restore(phi_runtime *rt, const phi_agent_desc *desc, phi_str snapshot,
                                    phi_restore_run how) {
    phi_arena scratch;
    phi_json *root = NULL;
    phi_parse_error error;
    phi_agent none = PHI_ZERO;
    if (rt == NULL) return none;
    if (desc == NULL || rt->in_step) {
        (void)phi__error(rt, desc == NULL ? PHI_BAD_ARG : PHI_MISUSE, "phi_agent_restore: %s",
                         desc == NULL ? "desc is NULL" : "inside a callback");
        return none;
    }
    phi_arena_init(&scratch, &rt->memory, 0);
    phi_status status = phi_json_parse(&scratch, snapshot, 0, &root, &error);
    if (status != PHI_OK)
        (void)phi__error(rt, status, "phi_agent_restore: %u:%u: %s", (unsigned)error.line,
                         (unsigned)error.column, error.message);
    else
        none = phi__snap_restore(rt, desc, root, how);
    phi_arena_free(&scratch);
    return none;
}

/* ---- all agents of a runtime as one text with a line for each ---- */

/* phi_step does nothing until the text is complete, so only the host can change agents
   meanwhile. */

struct phi__snap_saving {
    phi__buf text; /* the finished lines, and the one being written */
    phi_arena scratch;
    phi_arena_mark empty;
    size_t count;
    /* Agents are written by depth in the tree, parents first. next: the next slot to check. */
    uint32_t depth, next;
    bool deeper;
    /* the agent being written; rt NULL: none */
    phi_agent agent;
    size_t began;   /* offset of the agent's line in the text */
    size_t line;    /* next line of the agent's thread */
    size_t entries; /* length of the agent's log when its line began */
};

static uint32_t phi__crew_depth(const phi__agent *agent) {
    uint32_t depth = 0;
    while ((agent = agent->tree.parent) != NULL) depth++;
    return depth;
}

/* Chooses the next agent. False: no agent is left. */
static bool phi__crew_next(phi_runtime *rt, struct phi__snap_saving *s) {
    for (;;) {
        while (s->next < rt->agents.count) {
            phi__agent *agent = (phi__agent *)phi__slots_at(&rt->agents, s->next++)->object;
            if (agent == NULL || agent->tree.watch != NULL || agent->thread != &agent->own)
                continue;
            uint32_t depth = phi__crew_depth(agent);
            s->deeper = s->deeper || depth > s->depth;
            if (depth != s->depth) continue;
            s->agent = agent->handle;
            return true;
        }
        if (!s->deeper) return false;
        s->deeper = false;
        s->next = 0;
        s->depth++;
    }
}

/* Writes the beginning of an agent's line, or one line of its thread. PHI_BUSY: there is more. */
static phi_status phi__crew_piece(phi_runtime *rt, struct phi__snap_saving *s) {
    phi_status status = PHI_BUSY;
    bool begins = s->agent.rt == NULL;
    if (begins && !phi__crew_next(rt, s)) return PHI_OK;
    phi__agent *agent = phi__find_agent(s->agent);
    if (agent == NULL) { /* the agent was freed while its line was being written */
        s->text.len = s->began;
        memset(&s->agent, 0, sizeof s->agent);
        return PHI_BUSY;
    }
    if (!begins && agent->thread->log.count != s->entries) {
        s->text.len = s->began;
        begins = true;
    }
    if (begins) {
        s->began = s->text.len;
        s->line = 0;
        if (agent->run != NULL) phi__round_settle(agent->run);
        s->entries = agent->thread->log.count;
        status = phi__snap_begin(&s->text, agent, &s->scratch);
        if (status == PHI_OK) status = PHI_BUSY;
    } else if (!phi__snap_more(&s->text, agent, &s->line, &s->scratch)) {
        phi__buf_char(&s->text, '\n');
        memset(&s->agent, 0, sizeof s->agent);
        phi_arena_reset(&s->scratch, s->empty);
        s->count++;
    }
    return s->text.failed ? PHI_NO_MEMORY : status;
}

static void phi__crew_drop_saving(phi_runtime *rt) {
    struct phi__snap_saving *s = rt->snapshots.saving;
    if (s == NULL) return;
    rt->snapshots.saving = NULL;
    phi__buf_free(&s->text);
    phi_arena_free(&s->scratch);
    phi__free(&rt->memory, s, sizeof *s);
}

/* Joins the line about the whole and the agents' lines. */
static phi_status phi__crew_join(phi_runtime *rt, phi_arena *arena, phi_str *out) {
    struct phi__snap_saving *s = rt->snapshots.saving;
    phi__buf head;
    phi_str facts = {NULL, 0};
    phi_status status = PHI_OK;
    if (phi__feature_named(rt, PHI__FEATURE_AT_FACTS))
        status = phi_facts_save(rt, &s->scratch, &facts);
    if (status != PHI_OK) return status;
    phi__buf_init(&head, &rt->memory);
    phi__buf_char(&head, '{');
    phi__records_u64(&head, "phi_runtime_snapshot", PHI_SNAPSHOT_VERSION);
    phi__records_u64(&head, "agents", s->count);
    if (facts.len > 0) {
        phi__json_write_key(&head, PHI__LIT("facts"));
        phi__buf_add_str(&head, facts);
    }
    phi__buf_text(&head, "}\n");
    char *at = head.failed ? NULL : (char *)phi_arena_alloc(arena, head.len + s->text.len + 1);
    if (at != NULL) {
        memcpy(at, head.at, head.len);
        if (s->text.len > 0) memcpy(at + head.len, s->text.at, s->text.len);
        at[head.len + s->text.len] = '\0';
        *out = phi__str(at, head.len + s->text.len);
    }
    phi__buf_free(&head);
    return at != NULL ? PHI_OK : PHI_NO_MEMORY;
}

PHI_API phi_status phi_runtime_snapshot(phi_runtime *rt, phi_arena *arena, phi_str *out) {
    phi_status status = PHI_BUSY;
    if (rt == NULL) return PHI_BAD_ARG;
    if (rt->in_step || rt->snapshots.loading != NULL)
        return phi__error(rt, PHI_MISUSE, "phi_runtime_snapshot %s",
                          rt->in_step ? "inside a callback" : "during phi_runtime_restore");
    if (arena == NULL || out == NULL) {
        phi__crew_drop_saving(rt);
        return arena == NULL ? PHI_OK : PHI_BAD_ARG;
    }
    struct phi__snap_saving *s = rt->snapshots.saving;
    if (s == NULL) {
        s = (struct phi__snap_saving *)phi__alloc(&rt->memory, sizeof *s);
        if (s == NULL) return phi__error(rt, PHI_NO_MEMORY, "phi_runtime_snapshot: out of memory");
        rt->snapshots.saving = s;
        phi__buf_init(&s->text, &rt->memory);
        phi_arena_init(&s->scratch, &rt->memory, 0);
        s->empty = phi_arena_save(&s->scratch);
    }
    phi__posts_read_all(rt); /* so that the snapshot has all input posted so far */
    phi__slice_begin(&rt->slice);
    while (status == PHI_BUSY && !phi__slice_spent(&rt->slice)) {
        size_t before = s->text.len;
        status = phi__crew_piece(rt, s);
        if (s->text.len > before) phi__slice_took(&rt->slice, s->text.len - before);
    }
    if (status == PHI_BUSY) return status;
    if (status == PHI_OK) status = phi__crew_join(rt, arena, out);
    phi__crew_drop_saving(rt);
    return status == PHI_OK
               ? status
               : phi__error(rt, status, "phi_runtime_snapshot: %s", phi_status_text(status));
}

/* ---- loading ---- */

struct phi__snap_loading {
    phi_str text;
    size_t at;       /* offset of the next line */
    uint64_t agents; /* number of agents, from line 1 */
    bool has_head;   /* line 1 describes the whole snapshot */
    phi_arena arena; /* memory of line 1 */
    phi_str facts;   /* JSON; empty: line 1 has no facts */
    phi_agent *made;
    size_t count, cap;
};

/* Finds the next line from *at on. False: there is no further line. */
static bool phi__crew_line(phi_str text, size_t *at, phi_str *line) {
    while (*at < text.len && (text.at[*at] == '\n' || text.at[*at] == '\r')) ++*at;
    if (*at >= text.len) return false;
    size_t end = phi__str_find(text, *at, "\n");
    if (end == SIZE_MAX) end = text.len;
    *line = phi__str(text.at + *at, end - *at);
    *at = end;
    return true;
}

static phi_status phi__crew_words(phi_runtime *rt, size_t line, phi_status status,
                                  const char *why) {
    char kept[300];
    /* `why` may point to the last error, which changes */
    (void)snprintf(kept, sizeof kept, "%s", why);
    return phi__error(rt, status, "phi_runtime_restore: line %lu: %s", (unsigned long)line, kept);
}

static void phi__crew_drop_loading(phi_runtime *rt, bool with_agents) {
    struct phi__snap_loading *l = rt->snapshots.loading;
    if (l == NULL) return;
    rt->snapshots.loading = NULL;
    for (size_t i = l->count; with_agents && i > 0; i--)
        if (l->made[i - 1].rt != NULL) phi_agent_free(l->made[i - 1]);
    phi_arena_free(&l->arena);
    phi__free(&rt->memory, l->made, l->cap * sizeof *l->made);
    phi__free(&rt->memory, l, sizeof *l);
}

/* Makes the agent of a line, unless desc_fn leaves it out. */
static phi_status phi__crew_agent(phi_runtime *rt, const phi_restore_desc *with, phi_str line,
                                  phi_arena *scratch, phi_agent *out) {
    struct phi__snap_loading *l = rt->snapshots.loading;
    phi_parse_error error;
    phi_json *root = NULL;
    phi_str id;
    size_t number = l->count + (l->has_head ? 2u : 1u);
    phi_status status = phi_json_parse(scratch, line, 0, &root, &error);
    const char *words = error.message;
    phi_agent_desc desc = PHI_ZERO;
    memset(out, 0, sizeof *out);
    if (status != PHI_OK) return phi__crew_words(rt, number, status, words);
    if (!phi__arena_str(scratch, phi__records_get_str(root, "agent_id"), &id))
        return phi__crew_words(rt, number, PHI_NO_MEMORY, "out of memory");
    rt->in_step = true; /* desc_fn is a callback of the host */
    if (with->desc_fn(with->user_data, id, l->count, l->made, &desc)) {
        *out = phi__snap_restore(rt, &desc, root, with->how);
        if (out->rt == NULL) status = phi__error_last(rt, &words);
    } else
        phi__end_of_step(rt);
    return status == PHI_OK ? status : phi__crew_words(rt, number, status, words);
}

/* Makes the agent of the next line. PHI_BUSY: there may be more. */
static phi_status phi__crew_load(phi_runtime *rt, const phi_restore_desc *with) {
    struct phi__snap_loading *l = rt->snapshots.loading;
    phi_str line;
    phi_agent made;
    phi_arena scratch;
    if (!phi__crew_line(l->text, &l->at, &line)) {
        if (!l->has_head || l->count == l->agents) return PHI_OK;
        return phi__crew_words(rt, 1, PHI_PARSE, "the text was cut: agents are missing");
    }
    phi__slice_took(&rt->slice, line.len);
    void *grown = phi__grow(&rt->memory, l->made, &l->cap, l->count + 1, sizeof *l->made);
    if (grown == NULL) return phi__error(rt, PHI_NO_MEMORY, "phi_runtime_restore: out of memory");
    l->made = (phi_agent *)grown;
    phi_arena_init(&scratch, &rt->memory, 0);
    phi_status status = phi__crew_agent(rt, with, line, &scratch, &made);
    phi_arena_free(&scratch);
    if (status != PHI_OK) return status;
    l->made[l->count++] = made;
    return PHI_BUSY;
}

/* All agents are made: loads the facts and makes the list for the host. */
static phi_status phi__crew_finish(phi_runtime *rt, phi_arena *arena, const phi_agent **agents,
                                   size_t *count) {
    struct phi__snap_loading *l = rt->snapshots.loading;
    phi_agent *made = (phi_agent *)phi_arena_alloc(arena, l->count * sizeof *made + 1);
    if (made == NULL) return phi__error(rt, PHI_NO_MEMORY, "phi_runtime_restore: out of memory");
    if (l->facts.len > 0) {
        phi_status status = phi_facts_load(rt, l->facts);
        const char *words = "";
        if (status != PHI_OK) (void)phi__error_last(rt, &words);
        if (status != PHI_OK) return phi__crew_words(rt, 1, status, words);
    }
    if (l->count > 0) memcpy(made, l->made, l->count * sizeof *made);
    *agents = made;
    *count = l->count;
    return PHI_OK;
}

/* Begins to load the text, or continues with the same text. PHI_OK: the text is being loaded. */
static phi_status phi__crew_load_begin(phi_runtime *rt, phi_str text) {
    struct phi__snap_loading *l = rt->snapshots.loading;
    if (l != NULL) {
        if (l->text.at == text.at && l->text.len == text.len) return PHI_OK;
        return phi__error(rt, PHI_MISUSE, "phi_runtime_restore: another text is being read");
    }
    l = (struct phi__snap_loading *)phi__alloc(&rt->memory, sizeof *l);
    if (l == NULL) return phi__error(rt, PHI_NO_MEMORY, "phi_runtime_restore: out of memory");
    rt->snapshots.loading = l;
    l->text = text;
    phi_arena_init(&l->arena, &rt->memory, 0);
    phi_parse_error error;
    phi_json *root = NULL;
    size_t at = 0;
    phi_str line = {"", 0};
    if (!phi__crew_line(l->text, &at, &line))
        return phi__crew_words(rt, 1, PHI_PARSE, "no snapshot");
    phi_status status = phi_json_parse(&l->arena, line, PHI_JSON_BORROW, &root, &error);
    if (status != PHI_OK) return phi__crew_words(rt, 1, status, error.message);
    if (phi_json_get(root, "phi_snapshot") != NULL) return PHI_OK;
    uint64_t version = phi__records_get_u64(root, "phi_runtime_snapshot");
    if (version > PHI_SNAPSHOT_VERSION)
        return phi__crew_words(rt, 1, PHI_UNSUPPORTED, "a snapshot of a later version");
    if (version != PHI_SNAPSHOT_VERSION) return phi__crew_words(rt, 1, PHI_PARSE, "no snapshot");
    l->at = at;
    l->has_head = true;
    l->agents = phi__records_get_u64(root, "agents");
    const phi_json *facts = phi_json_get(root, "facts");
    if (!phi__feature_named(rt, PHI__FEATURE_AT_FACTS))
        return phi_json_count(phi_json_get(facts, "all")) == 0 &&
                       phi_json_count(phi_json_get(facts, "groups")) == 0
                   ? PHI_OK
                   : phi__crew_words(rt, 1, PHI_UNSUPPORTED,
                                     "the snapshot has facts: name phi_feature_facts in "
                                     "phi_runtime_desc.features");
    if (facts == NULL || phi_json_write(&l->arena, facts, 0, &l->facts) == PHI_OK) return PHI_OK;
    return phi__error(rt, PHI_NO_MEMORY, "phi_runtime_restore: out of memory");
}

PHI_API phi_status phi_runtime_restore(phi_runtime *rt, phi_str text, const phi_restore_desc *desc,
                                       phi_arena *arena, const phi_agent **agents, size_t *count) {
    if (rt == NULL) return PHI_BAD_ARG;
    if (rt->in_step || rt->snapshots.saving != NULL)
        return phi__error(rt, PHI_MISUSE, "phi_runtime_restore %s",
                          rt->in_step ? "inside a callback" : "during phi_runtime_snapshot");
    if (text.len == 0) {
        phi__crew_drop_loading(rt, true);
        return PHI_OK;
    }
    if (desc == NULL || desc->desc_fn == NULL || arena == NULL || agents == NULL || count == NULL)
        return PHI_BAD_ARG;
    phi_status status = phi__crew_load_begin(rt, text);
    if (status == PHI_MISUSE) return status;
    if (status == PHI_OK) status = PHI_BUSY;
    phi__slice_begin(&rt->slice);
    while (status == PHI_BUSY) {
        status = phi__crew_load(rt, desc);
        if (status == PHI_BUSY && phi__slice_spent(&rt->slice)) return status;
    }
    if (status == PHI_OK) status = phi__crew_finish(rt, arena, agents, count);
    phi__crew_drop_loading(rt, status != PHI_OK);
    return status;
}

PHI__FN bool phi__crew_under_way(const phi_runtime *rt) {
    return rt->snapshots.saving != NULL || rt->snapshots.loading != NULL;
}

PHI__FN void phi__crew_drop(phi_runtime *rt) {
    phi__crew_drop_saving(rt);
    phi__crew_drop_loading(rt, false); /* the runtime frees all agents */
}
