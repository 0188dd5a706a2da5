/* monkey.h - one who does anything at any moment: every public function of agents, calls, decisions, threads, stores
   and snapshots, with good and bad arguments, from outside and from within every callback, while memory fails. What it
   holds to afterwards is in test_monkey.c.

   Everything that it does comes from one number: the same seed does the same. */
#ifndef PHI_TESTS_SOAK_MONKEY_H
#define PHI_TESTS_SOAK_MONKEY_H

#include "agent/one_shot_run.h"
#include "agent/dry_run.h"
#include "agent/response.h"
#include "agent/snapshot.h"
#include "agent/summary.h"
#include "config/config_agents.h"
#include "orchestrate/evaluate.h"
#include "features/effects.h"
#include "features/facts.h"
#include "features/failover.h"
#include "record/replay.h"
#include "orchestrate/adaptive.h"
#include "orchestrate/strategy.h"
#include "orchestrate/subagents.h"
#include "soak/mutate.h"
#include "support/rig.h"
#include "support/store_mem.h"
#include "persist/introspect.h"
#include "tools/context_tools.h"
#include "loop/tool_source.h"
#include "loop/hook.h"
#include "config/config_own_in.h"
#include "log/log_in.h"
#include "loop/loop_in.h"

enum {
    SEATS = 5,
    KEPT = 64,
    KNOWN = 2048,
    THREADS = 3,
    SAVES = 6,
    TOOLS = 8,
    DEEDS = 40,
    DEEP = 3,
    LANES = 5,
    SHOPS = 2,
    HELPERS = 2,
    THINKERS = 7,
    CASTS = 2
};

typedef struct seat {
    phi_agent agent;
    bool limited; /* its memory */
    bool wild;    /* it came out of a text that was tampered with, or has a history that was */
} seat;

typedef struct shop { /* a tool source */
    phi_tool_source source;
    struct monkey *m;
    uint64_t version;
    int out; /* lists not given back */
} shop;

/* What agents borrow as long as they live. */
typedef struct lent {
    shop shops[SHOPS];
    const phi_tool_source *sources[SHOPS];
    phi_subagent_desc helpers[HELPERS];
    phi_agent_desc helper_descs[HELPERS];
    phi_tool helper_tools[TOOLS];
    phi_strategy_desc thinkers[THINKERS];
    phi_tot_options tot;
    phi_failover_model models[3];
    phi_failover failover;
    phi_tool cast_tools[TOOLS];
    phi_agent_desc cast_base;
} lent;

typedef enum under_way { NOTHING = 0, SAVING, LOADING } under_way;

/* A tape. */
typedef struct reel {
    char *at;
    size_t len, cap;
    uint32_t writes_left; /* then a write fails */
} reel;

typedef struct monkey {
    rig *r;
    store_mem *store;
    phi_store kept;
    uint32_t state;
    seat seats[SEATS];
    /* whatever was ever seen, most of it stale by now */
    phi_agent agents[KEPT];
    phi_agent known[KNOWN]; /* every agent that phi has given out */
    phi_call calls[KEPT];
    phi_ticket tickets[KEPT];
    phi_response responses[KEPT];
    uint32_t agent_count, known_count, call_count, ticket_count, response_count;
    phi_thread *threads[THREADS];
    char *saves[SAVES];
    phi_policy policy;
    phi_tape *tape;    /* that records; or NULL */
    phi_memory memory; /* of the test's own, that never fails */
    phi_arena arena;   /* of one thing done */
    phi_arena_mark empty;
    lent lent;
    phi_config *configs[CASTS]; /* agents out of a file, of which the second replace the first */
    phi_agents *casts[CASTS];
    phi_status cast_status[CASTS];
    phi_agent held[KEPT]; /* phi_agent_hold */
    uint32_t held_count;
    phi_arena whole;     /* of a snapshot or restore of the runtime under way */
    under_way under_way; /* that */
    char *world, *loading;
    reel *reel;              /* the tape's; or NULL */
    uint32_t weights[DEEDS]; /* of this round: each does some things more, and some never */
    uint32_t seat_count, long_texts;
    uint32_t ids, ops, names, depth, open_calls;
    bool stepping, calm, failed, starving, poor, trace; /* poor: the runtime has a limit */
    bool strangers; /* there are agents that phi makes: sub-agents, branches, judges */
    bool playing;   /* the reel */
} monkey;

#define HOLDS(m, condition)                                                                        \
    do {                                                                                           \
        if (!CHECK(condition)) (m)->failed = true;                                                 \
    } while (0)

static uint32_t pick(monkey *m, uint32_t n) { return test_random(&m->state) % n; }
static bool once_in(monkey *m, uint32_t n) { return pick(m, n) == 0; }
static bool inside(const monkey *m) { return m->stepping || m->depth > 0; }
static phi_runtime *runtime(const monkey *m) { return rig_runtime(m->r); }

/* ---- memory ---- */

static void memory_is_back(monkey *m) {
    test_alloc_fail_at(-1);
    store_mem_fail_at(m->store, -1, PHI_IO);
    store_mem_room(m->store, SIZE_MAX);
}

static void disturb(monkey *m) {
    if (!m->starving || m->calm) return;
    switch (pick(m, 6)) {
    case 0: test_alloc_fail_at((int)pick(m, 80)); break;
    case 1: test_alloc_fail_from((int)pick(m, 200)); break;
    case 2: test_alloc_fail_some(pick(m, 1 << 30), 2 + pick(m, 60)); break;
    default: test_alloc_fail_at(-1); break;
    }
}

/* ---- arguments, good and bad ---- */

static const char *any_text(monkey *m) {
    static char big[6000];
    static const char *const texts[] = {"hello",
                                        "go on with the story of the fox and the many grapes",
                                        "x",
                                        "\xff\xfe not UTF-8",
                                        "tell me",
                                        "{\"a\":1}",
                                        "a line\nand \x1b[31manother"};
    switch (pick(m, 14)) {
    case 0: return NULL;
    case 1: return "";
    case 2:
    case 3:
    case 4:
        if (!once_in(m, m->long_texts)) return texts[0];
        memset(big, 'y', sizeof big - 1);
        big[pick(m, sizeof big - 1)] = '\0';
        return big;
    default: return texts[pick(m, PHI__COUNT(texts))];
    }
}

static phi_str any_str(monkey *m) { return phi_str_of(any_text(m)); }

static phi_agent any_agent(monkey *m) {
    phi_agent a;
    memset(&a, 0, sizeof a);
    switch (pick(m, 20)) {
    case 0: return a;
    case 1:
        a.rt = runtime(m);
        a.index = pick(m, 3) == 0 ? UINT32_MAX : pick(m, 12);
        a.gen = pick(m, 6);
        return a;
    case 2:
    case 3: return m->agents[pick(m, KEPT)];
    default: return m->seats[pick(m, m->seat_count)].agent;
    }
}

static seat *seat_of(monkey *m, phi_agent a) {
    size_t i;
    for (i = 0; i < SEATS; i++)
        if (m->seats[i].agent.rt == a.rt && m->seats[i].agent.index == a.index &&
            m->seats[i].agent.gen == a.gen)
            return &m->seats[i];
    return NULL;
}

static void spoilt(monkey *m, phi_agent a) {
    seat *s = seat_of(m, a);
    if (s != NULL) s->wild = true;
}

static phi_call any_call(monkey *m) {
    phi_pending_item items[16];
    size_t n;
    if (once_in(m, 2)) return m->calls[pick(m, KEPT)];
    n = phi__min(phi_pending(runtime(m), items, 16), 16);
    if (n == 0) return m->calls[pick(m, KEPT)];
    return items[pick(m, (uint32_t)n)].call;
}

static phi_content any_block(monkey *m) {
    phi_content block;
    memset(&block, 0, sizeof block);
    block.kind = once_in(m, 12) ? (phi_content_kind)pick(m, 9) : PHI_CONTENT_TEXT;
    block.text = any_str(m);
    if (once_in(m, 8)) {
        block.kind = PHI_CONTENT_IMAGE;
        block.data = any_str(m);
        block.mime_type = PHI__LIT("image/png");
    }
    return block;
}

static const char *any_name(monkey *m, const char *prefix, uint32_t n) {
    static char name[24];
    (void)snprintf(name, sizeof name, "%s%u", prefix, (unsigned)pick(m, n));
    return name;
}

/* ---- what is kept of all that was seen ---- */

static void keep_agent(monkey *m, phi_agent a) {
    if (a.rt == NULL) return;
    if (m->strangers && m->known_count == KNOWN) m->known_count = 0;
    if (m->known_count == KNOWN) abort();
    m->agents[m->agent_count++ % KEPT] = a;
    m->known[m->known_count++] = a;
}

/* No callback hears of an agent that its host has not got; while a runtime is restored, phi_pending
   may have named it. */
static void must_know(monkey *m, phi_agent a) {
    uint32_t i = m->known_count;
    while (i > 0 && (m->known[i - 1].index != a.index || m->known[i - 1].gen != a.gen)) i--;
    HOLDS(m, i > 0 || m->strangers || m->under_way == LOADING);
    m->agents[m->agent_count++ % KEPT] = a;
}

static void keep_call(monkey *m, phi_call c) { m->calls[m->call_count++ % KEPT] = c; }
static void keep_ticket(monkey *m, phi_ticket t) { m->tickets[m->ticket_count++ % KEPT] = t; }
static void keep_response(monkey *m, phi_response r) {
    m->responses[m->response_count++ % KEPT] = r;
}

/* ---- callbacks: all of them do anything ---- */

static void act(monkey *m);

static void act_within(monkey *m) {
    if (m->calm || m->depth >= DEEP) return;
    m->depth++;
    disturb(m);
    while (once_in(m, 3)) act(m);
    disturb(m);
    m->depth--;
}

static phi_verdict any_hook(void *user_data, phi_hook *hook) {
    monkey *m = (monkey *)user_data;
    HOLDS(m, phi_agent_alive(hook->agent));
    must_know(m, hook->agent);
    if (m->calm) return PHI_ALLOW;
    if (hook->call.rt != NULL) keep_call(m, hook->call);
    keep_ticket(m, hook->ticket);
    if (hook->messages != NULL && once_in(m, 8))
        hook->message_count = pick(m, (uint32_t)hook->message_count + 1);
    act_within(m);
    switch (pick(m, 16)) {
    case 0: hook->reply = PHI__LIT("no"); return PHI_DENY;
    case 1: hook->reply = PHI__LIT("mind the step"); return PHI_WARN;
    case 2: hook->reply = PHI__LIT("{\"changed\":1}"); return PHI_ALLOW;
    case 3:
    case 4: hook->timeout_ms = 1 + pick(m, 50); return PHI_WAIT;
    case 5: return (phi_verdict)pick(m, 9);
    default: return PHI_ALLOW;
    }
}

static const char *any_effects(monkey *m) {
    static const char *const effects[] = {
        "[]",
        "[{\"op\":\"merge\",\"value\":{\"a\":{\"b\":1},\"c\":[1,2]}}]",
        "[{\"op\":\"merge\",\"value\":{\"a\":{\"b\":{\"d\":null}}}},"
        "{\"op\":\"delete_keys\",\"keys\":[\"c\",\"zz\"]}]",
        "[{\"op\":\"replace\",\"value\":{\"n\":[]}},{\"op\":\"set_path\",\"path\":\"/n/"
        "-\",\"value\":7}]",
        "[{\"op\":\"set_path\",\"path\":\"/a/b/e\",\"value\":\"x\"},"
        "{\"op\":\"delete_path\",\"path\":\"/n/"
        "0\"},{\"op\":\"emit\",\"name\":\"bell\",\"value\":[1]}]",
        "[{\"op\":\"nothing\"}]",
        "{\"op\":\"merge\"}",
        "[{\"op\":\"set_path\",\"path\":\"/c/9\",\"value\":{}}]"};
    return effects[pick(m, PHI__COUNT(effects))];
}

static phi_status give_by(monkey *m, phi_call call,
                          phi_status (*how)(phi_call call, const phi_tool_result *result)) {
    phi_content blocks[3];
    phi_tool_result result;
    size_t i;
    memset(&result, 0, sizeof result);
    for (i = 0; i < 3; i++) blocks[i] = any_block(m);
    result.content = once_in(m, 20) ? NULL : blocks;
    result.content_count = pick(m, 4);
    result.is_error = once_in(m, 4);
    if (once_in(m, 6)) result.details = any_text(m);
    if (once_in(m, 6)) result.child_loop_id = any_text(m);
    if (once_in(m, 3)) result.effects = any_effects(m);
    return how(call, &result);
}

static phi_status give(monkey *m, phi_call call) { return give_by(m, call, phi_call_result); }

static phi_flow any_flow(monkey *m, phi_call call) {
    if (m->calm) {
        (void)phi_call_reply(call, "calm");
        return PHI_DONE;
    }
    keep_call(m, call);
    must_know(m, phi_call_get_info(call).agent);
    act_within(m);
    switch (pick(m, 8)) {
    case 0: return PHI_DONE;
    case 1: (void)give(m, call); return PHI_DONE;
    case 2:
        (void)(once_in(m, 3) ? phi_call_fail(call, "posted") : phi_call_reply(call, "posted"));
        return PHI_DONE;
    case 3: (void)give(m, call); return PHI_PENDING;
    default: return PHI_PENDING;
    }
}

static phi_flow any_start(void *user_data, phi_call call, phi_str arguments) {
    monkey *m = (monkey *)user_data;
    HOLDS(m, arguments.len > 0 && arguments.at[0] != '\0' && phi_call_get_info(call).pending);
    return any_flow(m, call);
}

static phi_flow any_step(void *user_data, phi_call call) {
    return any_flow((monkey *)user_data, call);
}

static void any_cancel(void *user_data, phi_call call) {
    monkey *m = (monkey *)user_data;
    HOLDS(m, !phi_call_get_info(call).pending);
    must_know(m, phi_call_get_info(call).agent);
    act_within(m);
}

static void any_field(void *user_data, const phi_field *field) {
    monkey *m = (monkey *)user_data;
    HOLDS(m, phi_agent_alive(field->agent));
    act_within(m);
}

static phi_status any_translate(void *user_data, const phi_model *target,
                                const phi_message *const *messages, size_t count, phi_arena *arena,
                                const phi_message *const **out, size_t *out_count) {
    monkey *m = (monkey *)user_data;
    if (!m->calm && once_in(m, 10)) return PHI_NO_MEMORY;
    if (m->calm || once_in(m, 2))
        return phi_translate(target, messages, count, arena, out, out_count);
    *out = messages;
    *out_count = count;
    return PHI_OK;
}

static phi_status any_write(void *user_data, const char *bytes, size_t len) {
    monkey *m = (monkey *)user_data;
    HOLDS(m, len > 0 && bytes[len - 1] == '\n');
    if (m->reel->writes_left-- == 0) return PHI_IO;
    if (m->reel->len + len >= m->reel->cap) {
        m->reel->cap = (m->reel->len + len + 1) * 2;
        m->reel->at = (char *)realloc(m->reel->at, m->reel->cap);
        if (m->reel->at == NULL) abort();
    }
    memcpy(m->reel->at + m->reel->len, bytes, len);
    m->reel->len += len;
    m->reel->at[m->reel->len] = '\0';
    return PHI_OK;
}

/* ---- a compactor ---- */

typedef struct job {
    monkey *m;
    phi_span span;
    phi_message summary;
    phi_content words;
    uint32_t polls;
} job;

static phi_status job_start(void *user_data, const phi_compaction_request *request, void **out) {
    monkey *m = (monkey *)user_data;
    job *j;
    if (m->calm) return PHI_UNSUPPORTED;
    act_within(m);
    if (once_in(m, 4) || request->item_count == 0 || !phi_agent_alive(request->agent))
        return PHI_UNSUPPORTED;
    j = (job *)calloc(1, sizeof *j);
    if (j == NULL) abort();
    j->m = m;
    j->words.kind = PHI_CONTENT_TEXT;
    j->words.text = PHI__LIT("so far");
    j->summary.role = PHI_ROLE_USER;
    j->summary.content = &j->words;
    j->summary.content_count = 1;
    j->span.from = request->items[0].from;
    j->span.to = request->items[pick(m, (uint32_t)request->item_count)].to;
    j->span.messages = &j->summary;
    j->span.message_count = 1;
    j->span.summary = true;
    j->polls = pick(m, 4);
    m->open_calls++;
    *out = j;
    return PHI_OK;
}

static phi_status job_poll(void *user_data, void *at, phi_rewrite *out) {
    monkey *m = (monkey *)user_data;
    job *j = (job *)at;
    if (j->polls > 0) {
        j->polls--;
        act_within(m);
        return PHI_BUSY;
    }
    out->spans = &j->span;
    out->span_count = 1;
    return once_in(m, 5) ? PHI_NETWORK : PHI_OK;
}

static void job_end(void *user_data, void *at) {
    ((monkey *)user_data)->open_calls--;
    free(at);
}

/* ---- a model of its own ---- */

static phi_status own_open(void *user_data, const phi_model_request *request, void **call) {
    monkey *m = (monkey *)user_data;
    HOLDS(m, phi_agent_alive(request->agent));
    *call = m;
    if (m->calm) {
        m->open_calls++;
        return PHI_OK;
    }
    act_within(m);
    if (once_in(m, 5)) return once_in(m, 2) ? PHI_BUSY : PHI_NETWORK;
    m->open_calls++;
    return PHI_OK;
}

static void own_call(monkey *m, phi_answer *answer) {
    static const char *const names[] = {"slow", "polled", "telling", "nobody", "alone", ""};
    phi_answer_call(answer, once_in(m, 3) ? phi__str(NULL, 0) : phi_str_of(any_name(m, "o", 40)),
                    phi_str_of(names[pick(m, 6)]));
    phi_answer_arguments(answer, PHI__LIT("{\"a\":[1,2"), false);
    phi_answer_arguments(answer, once_in(m, 6) ? PHI__LIT("") : PHI__LIT("]}"), !once_in(m, 6));
}

static phi_poll own_poll(void *user_data, void *call, phi_answer *answer) {
    monkey *m = (monkey *)user_data;
    phi_usage usage;
    (void)call;
    memset(&usage, 0, sizeof usage);
    usage.input = usage.output = 10;
    if (m->calm) {
        phi_answer_text(answer, PHI__LIT("here"));
        return PHI_POLL_DONE;
    }
    switch (pick(m, 12)) {
    case 0: phi_answer_thinking(answer, any_str(m), phi_str_of(NULL)); break;
    case 1: phi_answer_thinking(answer, phi_str_of(NULL), PHI__LIT("sig")); break;
    case 2: phi_answer_usage(answer, &usage); break;
    case 3: phi_answer_stop(answer, (phi_stop_reason)pick(m, 9)); break;
    case 4:
        phi_answer_fail(answer, (phi_failure_kind)pick(m, 12), once_in(m, 2), any_text(m));
        break;
    case 5:
    case 6: own_call(m, answer); break;
    case 7: return PHI_POLL_DONE;
    default: phi_answer_text(answer, any_str(m)); break;
    }
    act_within(m);
    return once_in(m, 3) ? PHI_POLL_DONE : PHI_POLL_AGAIN;
}

static void own_close(void *user_data, void *call) {
    monkey *m = (monkey *)user_data;
    HOLDS(m, call == m && m->open_calls > 0);
    m->open_calls--;
    act_within(m);
}

static phi_provider own_provider(monkey *m) {
    phi_provider p;
    memset(&p, 0, sizeof p);
    p.protocol = "mine";
    p.user_data = m;
    p.open = own_open;
    p.poll = own_poll;
    p.close = own_close;
    return p;
}

#endif
