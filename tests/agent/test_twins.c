/* One story told to three agents: one in memory only, one whose thread is in a store in memory, one whose thread is in
   a file. Entries of the latter two leave memory whenever they can. Whatever is asked of them, they answer the same.
   Each seed is one story; PHI_SEEDS says how many, PHI_SEED picks one. */
#include "agent/long_talk.h"
#include "record/event_json.h"

#include "agent/snapshot.h"
#include "agent/summary.h"
#include "persist/file_store.h"
#include "support/context_tools.h"
#include "support/set.h"
#include "support/store_mem.h"
#include "log/prune.h"
#include "log/revert.h"
#include "support/append.h"
#include "agent/agent_history.h"
#include "agent/agent_info.h"
#include "log/policy.h"
#include "loop/input.h"
#include "log/log_in.h"

enum { SEEDS = 40, ACTIONS = 45, TWINS = 3, TOOLS = 5, LANES = 6, PATIENCE = 3000 };

typedef struct twin {
    rig *r;
    phi_agent agent;
    phi_thread *thread;
    uint64_t told; /* all events so far, as JSON */
} twin;

typedef struct story {
    uint32_t seed, state;
    twin at[TWINS];
    phi_tool tools[TOOLS];
    store_mem *store;
    phi_store files;
    char id[16];
    unsigned turns, ops, names; /* how many there were */
    bool held;                  /* events are left in the queue */
    bool failed;
    const char *doing;
} story;

/* The items of what the plain one shows on a lane, from which things are picked. */
typedef struct shown {
    talk_scratch scratch;
    const phi_view_item *items;
    size_t count;
} shown;

static uint32_t pick(story *s, uint32_t n) { return test_random(&s->state) % n; }
static bool chance(story *s, uint32_t percent) { return pick(s, 100) < percent; }
static phi_thread *plain(story *s) { return s->at[0].thread; }

static void same(story *s, const char *what, const uint64_t answers[TWINS]) {
    size_t i;
    for (i = 1; i < TWINS; i++) {
        if (answers[i] == answers[0]) continue;
        s->failed = true;
        CHECK(!"the twins say the same");
        printf("  after \"%s\": twin %lu says something else about %s\n", s->doing,
               (unsigned long)i, what);
    }
}

static uint64_t status_of(phi_status status) { return (uint64_t)(int64_t)status; }

/* ---- readings ---- */

static void same_faces(story *s) {
    uint64_t answers[TWINS];
    size_t i;
    for (i = 0; i < TWINS; i++) answers[i] = talk_face(s->at[i].agent);
    same(s, "what it shows", answers);
}

static void same_entry(story *s, uint64_t seq) {
    uint64_t answers[TWINS];
    size_t i;
    for (i = 0; i < TWINS; i++) answers[i] = talk_entry(s->at[i].thread, seq, NULL);
    same(s, "an entry", answers);
}

static void same_view(story *s, size_t lane, uint64_t upto) {
    phi_str name = phi_str_of(phi_thread_lane_at(plain(s), lane));
    uint64_t answers[TWINS];
    char text[64];
    size_t i;
    phi_status status;
    (void)snprintf(text, sizeof text, "%.*s", (int)name.len, name.at);
    for (i = 0; i < TWINS; i++) {
        answers[i] = talk_view(s->at[i].thread, text, upto, &status);
        answers[i] = talk_mix(answers[i], status_of(status));
    }
    same(s, "a view", answers);
}

static uint64_t snapshot_of(const twin *t) {
    talk_scratch scratch;
    phi_str text = {"", 0};
    uint64_t sum;
    talk_open(&scratch);
    sum = status_of(phi_agent_snapshot(t->agent, &scratch.arena, &text));
    sum = talk_mix_str(sum, talk_unnamed(text));
    talk_close(&scratch);
    return sum;
}

static uint64_t slice_of(const twin *t, uint64_t from, uint64_t many) {
    phi_status status = PHI_OK;
    uint64_t sum = 1, i;
    for (i = from; i < from + many && status == PHI_OK; i++) {
        phi_entry entry;
        status = phi_thread_entry(t->thread, i, &entry);
        sum = status == PHI_OK ? talk_mix_entry(sum, &entry) : sum + status_of(status);
    }
    return sum;
}

static uint64_t reading(const twin *t, uint32_t kind, uint32_t a) {
    uint64_t count = phi_thread_count(t->thread);
    size_t messages = phi_thread_message_count(phi_agent_thread(t->agent));
    switch (kind) {
    case 0: return talk_log(t->thread, NULL);
    case 1: return talk_saved(t->agent, NULL);
    case 2: return phi_thread_hash(t->thread);
    case 3: return talk_fork(t->agent, a % (count + 1), NULL);
    case 4: return snapshot_of(t);
    case 5: return phi__prune_from(t->thread);
    case 6:
    case 7:
        return messages > 0 ? talk_mix_message(1, phi_thread_message_at(phi_agent_thread(t->agent),
                                                                        a % messages))
                            : 0;
    case 8:
        return messages > 0 ? talk_mix_message(1, phi_thread_message_at(t->thread, a % messages))
                            : 0;
    case 9: return slice_of(t, a % (count + 1), a % 97);
    default: return talk_entry(t->thread, a % (count + 1), NULL);
    }
}

/* At most one thing that may have to be read back: so that at other times most is away. */
static void ask_something(story *s) {
    static const char *const names[] = {"the log",   "the history", "the hash",
                                        "a fork",    "a snapshot",  "what can be pruned",
                                        "a message", "a message",   "a message of the thread",
                                        "a slice",   "an old entry"};
    uint32_t kind = pick(s, 15), a = test_random(&s->state);
    uint64_t answers[TWINS];
    size_t i;
    if (kind >= 11) {
        same_view(s, a % phi_thread_get_info(plain(s)).lane_count,
                  pick(s, 3) == 0 ? UINT64_MAX : a / 8 % 400);
        return;
    }
    for (i = 0; i < TWINS; i++) answers[i] = reading(&s->at[i], kind, a);
    same(s, names[kind], answers);
}

static void drop_lines(const char *text, char *out) {
    while (*text != '\0') {
        const char *end = strchr(text, '\n');
        size_t len = end != NULL ? (size_t)(end - text) + 1 : strlen(text);
        bool own = strncmp(text, "ThreadUpdated", 13) == 0 ||
                   strncmp(text, "Warning \"The thread", 19) == 0;
        if (!own) memcpy(out, text, len);
        if (!own) out += len;
        text += len;
    }
    *out = '\0';
}

/* What was told since the last time, but for what only a stored one tells. */
static void same_stories(story *s) {
    uint64_t answers[TWINS];
    size_t i;
    for (i = 0; i < TWINS; i++) {
        const char *told = rig_story(s->at[i].r);
        char *text = (char *)malloc(strlen(told) + 1);
        if (text == NULL) abort();
        drop_lines(told, text);
        answers[i] = talk_mix_str(1, phi_str_of(text));
        free(text);
        rig_forget(s->at[i].r);
    }
    same(s, "what happened", answers);
    for (i = 0; i < TWINS; i++) answers[i] = s->at[i].told;
    same(s, "events as JSON", answers);
}

/* Events as JSON: those of a turn and of a run have messages in them that may be away by then. */
static void watch(void *user_data, const phi_event *event) {
    twin *t = (twin *)user_data;
    talk_scratch scratch;
    phi_str text = {"", 0};
    if (event->kind == PHI_EV_THREAD_UPDATED || event->kind == PHI_EV_WARNING) return;
    talk_open(&scratch);
    CHECK_EQ_INT(phi_event_to_json(event, &scratch.arena, &text), PHI_OK);
    t->told = talk_mix_str(t->told, text);
    talk_close(&scratch);
}

/* ---- picking ---- */

static void look_at(story *s, const char *lane, shown *v) {
    talk_open(&v->scratch);
    v->items = NULL;
    v->count = 0;
    CHECK_EQ_INT(
        phi_thread_view(plain(s), lane, UINT64_MAX, &v->scratch.arena, &v->items, &v->count),
        PHI_OK);
}

static void pick_lane(story *s, char out[64]) {
    phi_str name = phi_str_of(
        phi_thread_lane_at(plain(s), pick(s, (uint32_t)phi_thread_get_info(plain(s)).lane_count)));
    (void)snprintf(out, 64, "%.*s", (int)name.len, name.at);
}

/* A tool result that is shown; else an entry that is none. */
static uint64_t pick_step(story *s) {
    shown v;
    uint64_t step = 3;
    size_t i;
    look_at(s, NULL, &v);
    for (i = 0; i < v.count && v.items[i].message->role != PHI_ROLE_TOOL_RESULT; i++) {}
    for (; i < v.count && chance(s, 80); i++)
        if (v.items[i].message->role == PHI_ROLE_TOOL_RESULT) step = v.items[i].from;
    talk_close(&v.scratch);
    return step;
}

/* ---- a tool that takes its time, and looks at its arguments when it is done ---- */

typedef struct ambling {
    phi_str arguments;
    uint32_t steps;
} ambling;

static phi_flow amble_start(void *user_data, phi_call call, phi_str arguments) {
    ambling *a = (ambling *)phi_call_state(call, sizeof *a);
    (void)user_data;
    if (!CHECK(a != NULL)) return PHI_DONE;
    a->arguments = arguments;
    a->steps = (uint32_t)arguments.len % 7;
    return PHI_PENDING;
}

static phi_flow amble_step(void *user_data, phi_call call) {
    ambling *a = (ambling *)phi_call_state(call, sizeof *a);
    return a->steps-- > 0 ? PHI_PENDING : talk_look(user_data, call, a->arguments);
}

/* ---- running ---- */

/* All take the same steps, and end at the same one. */
static void step_all(story *s) {
    uint64_t runs[TWINS];
    size_t i;
    for (i = 0; i < TWINS; i++) runs[i] = (uint64_t)rig_run(s->at[i].r, 1);
    same(s, "how many runs go on", runs);
}

static void run_all(story *s, int most) {
    while (most-- > 0 && !s->failed && phi_agent_get_info(s->at[0].agent).running) step_all(s);
}

static void hold(story *s, bool held) {
    size_t i;
    s->held = held;
    for (i = 0; i < TWINS; i++) rig_silent(s->at[i].r, held);
}

/* One answer, with calls; the same for all. */
static void script_turn(story *s, bool last) {
    char lines[3][120];
    const char *calls[3];
    uint32_t n = last ? 0 : 1 + pick(s, 2), i;
    size_t text = chance(s, 80) || n == 0 ? 40 + pick(s, 700) : 0, k;
    unsigned number = s->turns++;
    for (i = 0; i < n; i++) {
        calls[i] = lines[i];
        if (i == 0 && chance(s, 12))
            (void)snprintf(lines[i], sizeof lines[i], "prun {\"tokens\":%u}", 1 + pick(s, 900));
        else if (i == 0 && chance(s, 8))
            (void)snprintf(lines[i], sizeof lines[i],
                           "prun_with_memo {\"tokens\":%u,\"memo\":\"m%u\"}", 1 + pick(s, 900),
                           number);
        else if (i == 0 && chance(s, 12))
            (void)snprintf(lines[i], sizeof lines[i],
                           "revert_to_state {\"category\":\"failure\",\"step\":\"n%u\"}",
                           (unsigned)pick_step(s));
        else
            (void)snprintf(lines[i], sizeof lines[i], "%s {\"n\":%u,\"bytes\":%u}",
                           chance(s, 20) ? "amble" : "look", number,
                           (unsigned)(chance(s, 10) ? 9000 : 200 + pick(s, 2500)));
    }
    for (k = 0; k < TWINS; k++) talk_calls(s->at[k].r, number, text, calls, n);
}

static void script_break(story *s) {
    size_t k;
    for (k = 0; k < TWINS; k++)
        rig_breaks(s->at[k].r, rig_stream_of("half an answer"), PHI_NETWORK, "the line is dead");
}

static void script(story *s) {
    uint32_t n = pick(s, 6);
    size_t i;
    for (i = 0; i < TWINS; i++) rig_drop_answers(s->at[i].r);
    while (n-- > 0) script_turn(s, false);
    if (chance(s, 10)) script_break(s);
    script_turn(s, true);
}

static void rewrite_later(story *s);

/* While it goes on: readings, a word, a rewrite for later, the end. */
static void in_between(story *s) {
    size_t i;
    uint32_t what = pick(s, 6);
    if (what == 4) rewrite_later(s);
    for (i = 0; i < TWINS; i++) {
        twin *t = &s->at[i];
        if (what == 0) (void)phi_abort(t->agent);
        if (what == 1) (void)phi_stop(t->agent);
        if (what == 2) (void)phi_steer(t->agent, "this way");
        if (what == 3) (void)phi_thread_note(t->thread, "mark", phi_str_of("[1, 2]"), NULL);
    }
    if (what == 5) ask_something(s);
    same_faces(s);
}

static void go_on(story *s) {
    int left = 3;
    while (left-- > 0 && chance(s, 25) && !s->failed) {
        run_all(s, 1 + (int)pick(s, 9));
        in_between(s);
    }
    run_all(s, s->held ? 150 : PATIENCE);
    if (s->held && chance(s, 60)) hold(s, false);
    run_all(s, PATIENCE);
    hold(s, s->held && !phi_agent_get_info(s->at[0].agent).running);
    run_all(s, PATIENCE);
    CHECK(!phi_agent_get_info(s->at[0].agent).running);
}

/* ---- actions ---- */

static void each_status(story *s, const phi_status got[TWINS]) {
    uint64_t answers[TWINS];
    size_t i;
    for (i = 0; i < TWINS; i++) answers[i] = status_of(got[i]);
    same(s, "whether it could be done", answers);
}

/* What is undone may bring back an answer whose question is gone: no provider takes that. */
static bool user_first(story *s) {
    shown v;
    bool is;
    look_at(s, NULL, &v);
    is = v.count == 0 || v.items[0].message->role == PHI_ROLE_USER;
    talk_close(&v.scratch);
    return is;
}

static void prompt(story *s) {
    static char text[TALK_MOST + 1];
    phi_status got[TWINS];
    size_t i;
    bool again = chance(s, 15);
    if (!user_first(s)) return;
    script(s);
    (void)talk_words(text, 20 + pick(s, 900), s->turns, false);
    for (i = 0; i < TWINS; i++)
        got[i] = again ? phi_continue(s->at[i].agent, PHI_CONTINUATION_DEFAULT)
                       : phi_prompt(s->at[i].agent, text);
    each_status(s, got);
    go_on(s);
}

static void compact(story *s) {
    phi_status got[TWINS];
    size_t i;
    for (i = 0; i < TWINS; i++) got[i] = phi_compact(s->at[i].agent);
    each_status(s, got);
    go_on(s);
}

static void sum_up(story *s) {
    phi_status got[TWINS];
    uint64_t from = 0, to = 0;
    shown v;
    size_t i;
    look_at(s, NULL, &v);
    if (v.count > 0) {
        size_t at = pick(s, (uint32_t)v.count), last = at + pick(s, 8);
        from = v.items[at].from;
        to = v.items[last < v.count ? last : v.count - 1].to;
    }
    talk_close(&v.scratch);
    for (i = 0; i < TWINS; i++) rig_drop_answers(s->at[i].r);
    script_turn(s, true);
    for (i = 0; i < TWINS; i++) got[i] = phi_summarize(s->at[i].agent, from, to);
    each_status(s, got);
    for (i = 0; i < 30; i++) step_all(s);
}

static void note(story *s) {
    phi_status got[TWINS];
    size_t i;
    for (i = 0; i < TWINS; i++)
        got[i] = phi_thread_note(s->at[i].thread, "mark", phi_str_of("{\"at\": [1, 2]}"), NULL);
    each_status(s, got);
}

static void append(story *s) {
    static char text[TALK_MOST + 1];
    phi_content content;
    phi_message m;
    shown v;
    phi_status got[TWINS];
    uint32_t flags;
    size_t i;
    memset(&content, 0, sizeof content);
    memset(&m, 0, sizeof m);
    content.kind = PHI_CONTENT_TEXT;
    content.text = phi_str_of(talk_words(text, 10 + pick(s, 3000), s->turns++, true));
    look_at(s, NULL, &v);
    m.role = v.count == 0 || chance(s, 70) ? PHI_ROLE_USER : PHI_ROLE_ASSISTANT;
    talk_close(&v.scratch);
    flags = m.role == PHI_ROLE_USER && chance(s, 40) ? (uint32_t)PHI_ENTRY_DURABLE : 0;
    m.stop_reason = m.role == PHI_ROLE_USER ? PHI_STOP_REASON_NONE : PHI_STOP_REASON_STOP;
    m.content = &content;
    m.content_count = 1;
    for (i = 0; i < TWINS; i++) got[i] = append_with(s->at[i].thread, &m, 1, flags);
    each_status(s, got);
}

static void fork_lane(story *s) {
    char name[16], parent[64];
    uint64_t at = chance(s, 40) ? UINT64_MAX : pick(s, (uint32_t)phi_thread_count(plain(s)) + 1);
    bool own = chance(s, 50);
    phi_status got[TWINS];
    size_t i;
    if (phi_thread_get_info(plain(s)).lane_count >= LANES) return;
    (void)snprintf(name, sizeof name, "way %u", s->names++);
    pick_lane(s, parent);
    for (i = 0; i < TWINS; i++)
        got[i] = phi_thread_fork_lane(s->at[i].thread, name, own ? NULL : parent, at);
    each_status(s, got);
}

static void change_lane(story *s) {
    char name[64];
    phi_status got[TWINS];
    bool fresh = chance(s, 15) && phi_thread_get_info(plain(s)).lane_count < LANES;
    size_t i;
    pick_lane(s, name);
    for (i = 0; i < TWINS; i++)
        got[i] = fresh ? phi_thread_switch(s->at[i].thread, NULL)
                       : phi_thread_switch(s->at[i].thread, name);
    each_status(s, got);
}

/* Told to each thread, or to the agent for later; what is said about it counts too. */
static void tell_rewrite(story *s, const phi_rewrite *r, bool later) {
    uint64_t answers[TWINS];
    size_t i;
    for (i = 0; i < TWINS; i++) {
        char words[200] = "";
        bool duplicate = false;
        phi_status got =
            later ? phi_agent_rewrite(s->at[i].agent, r)
                  : phi_thread_rewrite(s->at[i].thread, r, &duplicate, words, sizeof words);
        answers[i] = talk_mix(talk_mix_text(status_of(got), words), duplicate ? 1 : 0);
    }
    same(s, "a rewrite", answers);
}

/* A lane that is there, or a new one. */
static const char *somewhere(story *s, char name[64]) {
    pick_lane(s, name);
    if (chance(s, 30) && phi_thread_get_info(plain(s)).lane_count < LANES)
        (void)snprintf(name, 64, "way %u", s->names++);
    return name;
}

/* Over one or two spans of what a lane shows: by a message, or nothing. */
static void rewrite_spans(story *s, const char *lane, bool later) {
    static char text[TALK_MOST + 1];
    static const phi_rewrite_reason reasons[] = {PHI_REWRITE_MANUAL, PHI_REWRITE_COMPACTION,
                                                 PHI_REWRITE_PRUNE, PHI_REWRITE_SYSTEM};
    phi_content content;
    phi_message m;
    phi_span spans[2];
    phi_rewrite r;
    shown v;
    char op_id[16], to[64];
    size_t at = 0;
    look_at(s, lane, &v);
    memset(&content, 0, sizeof content);
    memset(&m, 0, sizeof m);
    memset(spans, 0, sizeof spans);
    memset(&r, 0, sizeof r);
    content.kind = PHI_CONTENT_TEXT;
    content.text = phi_str_of(talk_words(text, 10 + pick(s, 400), s->turns++, false));
    m.role = PHI_ROLE_USER;
    m.content = &content;
    m.content_count = 1;
    while (r.span_count < 2 && at < v.count && (r.span_count == 0 || chance(s, 30))) {
        phi_span *span = &spans[r.span_count];
        size_t first = at + pick(s, (uint32_t)(v.count - at)), last = first + pick(s, 6);
        if (last >= v.count || chance(s, 10)) last = v.count - 1;
        span->from = v.items[first].from;
        span->to = v.items[last].to;
        span->messages = &m;
        span->message_count = first == 0 || chance(s, 60) ? 1 : 0; /* the user speaks first */
        span->summary = chance(s, 50);
        r.span_count++;
        at = last + 1;
    }
    (void)snprintf(op_id, sizeof op_id, "op-%u",
                   s->ops > 0 && chance(s, 10) ? pick(s, s->ops) : s->ops++);
    r.op_id = op_id;
    r.lane = lane;
    r.reason = reasons[pick(s, 4)];
    r.spans = spans;
    if (chance(s, 20)) r.meta = "{\"why\":3}";
    if (chance(s, later ? 40 : 15)) r.switch_to = somewhere(s, to);
    if (r.switch_to != NULL && chance(s, 40)) r.span_count = 0;
    tell_rewrite(s, &r, later);
    talk_close(&v.scratch);
}

static void rewrite(story *s) {
    char lane[64];
    pick_lane(s, lane);
    rewrite_spans(s, chance(s, 60) ? NULL : lane, false);
}

static void rewrite_later(story *s) { rewrite_spans(s, NULL, true); }

static void revoke(story *s) {
    phi_rewrite r;
    char op_id[16];
    memset(&r, 0, sizeof r);
    (void)snprintf(op_id, sizeof op_id, "op-%u",
                   s->ops > 3 && chance(s, 60) ? s->ops - 1 - pick(s, 3) : pick(s, s->ops + 1));
    r.revoke = op_id;
    tell_rewrite(s, &r, chance(s, 20));
}

static void prune(story *s) {
    phi_prune how;
    phi_rewrite r;
    phi_pruned pruned;
    shown v;
    memset(&how, 0, sizeof how);
    how.tokens = 1 + pick(s, 1500);
    if (chance(s, 50)) how.memo = phi_str_of("what it was");
    look_at(s, NULL, &v);
    CHECK_EQ_INT(phi__prune_plan(v.items, v.count, &how, NULL, &v.scratch.arena, &r, &pruned),
                 PHI_OK);
    if (r.span_count > 0) tell_rewrite(s, &r, false);
    talk_close(&v.scratch);
}

/* Each plans for itself. */
static void revert(story *s) {
    phi_revert how;
    uint64_t answers[TWINS];
    size_t i;
    memset(&how, 0, sizeof how);
    how.category = PHI_REVERT_TANGENT;
    how.step = pick_step(s);
    how.summary = phi_str_of("it led nowhere");
    for (i = 0; i < TWINS; i++) {
        talk_scratch scratch;
        phi_rewrite r;
        phi_reverted reverted;
        talk_open(&scratch);
        answers[i] =
            status_of(phi__revert_plan(s->at[i].thread, &how, &scratch.arena, &r, &reverted));
        answers[i] = talk_mix_rewrite(talk_mix_str(answers[i], reverted.reason), &r);
        if (r.span_count > 0)
            answers[i] = talk_mix(
                answers[i], status_of(phi_thread_rewrite(s->at[i].thread, &r, NULL, NULL, 0)));
        talk_close(&scratch);
    }
    same(s, "a revert", answers);
}

static void other_policy(story *s) {
    phi_policy policy;
    bool any = chance(s, 60);
    size_t i;
    memset(&policy, 0, sizeof policy);
    policy.max_input_tokens = 2000 + pick(s, 3000);
    policy.reserve_output_tokens = 200;
    policy.keep_last_turns = pick(s, 3);
    for (i = 0; i < TWINS; i++)
        CHECK_EQ_INT(set_policy(s->at[i].agent, any ? &policy : NULL), PHI_OK);
}

/* For a while nothing can be written to the store in memory: then nothing of its twin may leave. */
static void trouble(story *s) { store_mem_room(s->store, chance(s, 50) ? 0 : SIZE_MAX); }

static void act(story *s) {
    static const struct {
        const char *name;
        void (*act)(story *s);
        uint32_t weight;
    } actions[] = {
        {"prompt", prompt, 30},      {"compact", compact, 4}, {"sum up", sum_up, 4},
        {"note", note, 3},           {"append", append, 5},   {"fork", fork_lane, 6},
        {"switch", change_lane, 10}, {"rewrite", rewrite, 9}, {"revoke", revoke, 8},
        {"prune", prune, 4},         {"revert", revert, 4},   {"policy", other_policy, 2},
        {"trouble", trouble, 3}};
    uint32_t all = 0, chosen, i;
    for (i = 0; i < PHI__COUNT(actions); i++) all += actions[i].weight;
    chosen = pick(s, all);
    for (i = 0; chosen >= actions[i].weight; i++) chosen -= actions[i].weight;
    s->doing = actions[i].name;
    actions[i].act(s);
}

/* ---- a story ---- */

static phi_compactor no_compactor(void) {
    phi_compactor none;
    memset(&none, 0, sizeof none);
    return none;
}

static void make_twins(story *s) {
    static const phi_summary_desc writer = {NULL, NULL, 400, 600};
    phi_agent_desc desc;
    phi_compactor compactor = chance(s, 20) ? phi_compactor_model(&writer) : no_compactor();
    size_t i, chunk = chance(s, 50) ? 300 + pick(s, 2000) : 0;
    bool steps = chance(s, 50), keeps_none = chance(s, 30), captures = chance(s, 30),
         watches = chance(s, 40);
    for (i = 0; i < TWINS; i++) {
        twin *t = &s->at[i];
        t->r = rig_new();
        rig_chunk(t->r, chunk);
        desc = talk_desc(s->tools, steps ? 5 : 4, 5000);
        desc.compaction.keep_first_turns = 1;
        desc.compaction.keep_recent_turns = 3;
        desc.compaction.max_summary_tokens = 300;
        desc.compactor = compactor;
        desc.keep = keeps_none ? PHI_KEEP_NONE : PHI_KEEP_COMPLETE;
        desc.memory.event_queue_bytes = (size_t)64 << 20; /* a stored one has more to tell */
        desc.options.capture_requests = captures;
        if (watches) rig_watch(t->r, watch, t);
        desc.store = i == 0 ? NULL : i == 1 ? store_mem_store(s->store) : &s->files;
        desc.thread_id = i == 0 ? NULL : s->id;
        t->agent = rig_agent(t->r, &desc);
        t->thread = phi_agent_thread(t->agent);
        if (!CHECK(t->agent.rt != NULL)) s->failed = true;
    }
}

static void begin(story *s, uint32_t seed, const char *directory) {
    phi_file_store_desc files;
    memset(s, 0, sizeof *s);
    memset(&files, 0, sizeof files);
    s->seed = seed;
    s->state = seed * 2654435761u + 1;
    s->doing = "the beginning";
    s->tools[0] = s->tools[1] = talk_tool();
    s->tools[1].name = "amble";
    s->tools[1].start = amble_start;
    s->tools[1].step = amble_step;
    CHECK_EQ_INT(tools_prun(&s->tools[2]), PHI_OK); /* and [3] */
    CHECK_EQ_INT(tools_revert(&s->tools[4]), PHI_OK);
    (void)snprintf(s->id, sizeof s->id, "s%u", (unsigned)seed);
    s->store = store_mem_new();
    files.directory = directory;
    CHECK_EQ_INT(phi_file_store_open(&files, &s->files), PHI_OK);
    make_twins(s);
}

/* Every entry, and every lane: at all of its states in some stories, else at some. */
static void all_is_the_same(story *s) {
    uint64_t seq, count = phi_thread_count(plain(s)), stride = pick(s, 10) == 0 ? 1 : 1 + count / 8;
    size_t lane;
    s->doing = "the end";
    for (seq = 0; seq < count && !s->failed; seq++) same_entry(s, seq);
    for (lane = 0; lane < phi_thread_get_info(plain(s)).lane_count && !s->failed; lane++)
        for (seq = 0; seq < count && !s->failed; seq += stride) same_view(s, lane, seq);
}

/* What the stores have is the log; and so is what is read from them anew. */
static void stores_have_it(story *s) {
    talk_scratch scratch;
    phi_thread *again = phi_thread_new(rig_runtime(s->at[0].r), 0);
    uint64_t want = talk_log(plain(s), NULL);
    phi_str text = {"\n", 1};
    char words[200];
    talk_open(&scratch);
    CHECK_EQ_INT(phi_thread_to_json(plain(s), &scratch.arena, &text), PHI_OK);
    store_mem_room(s->store, SIZE_MAX);
    phi_agent_free(s->at[1].agent);
    phi_agent_free(s->at[2].agent);
    CHECK(strcmp(strchr(text.at, '\n') + 1, store_mem_text(s->store, s->id)) == 0);
    CHECK_EQ_INT(phi_thread_attach(again, &s->files, s->id, NULL, words, sizeof words), PHI_OK);
    CHECK(talk_log(again, NULL) == want);
    phi_thread_free(again);
    talk_close(&scratch);
}

/* Whether the file's twin has let go of much. */
static bool is_small(story *s) {
    size_t all = phi_agent_get_info(s->at[0].agent).memory_used;
    return phi_agent_get_info(s->at[2].agent).memory_used < all - all / 4;
}

static bool tell(uint32_t seed, const char *directory, bool *small) {
    story s;
    size_t i;
    int before = test_failures(), n;
    begin(&s, seed, directory);
    *small = false;
    for (n = 0; n < ACTIONS && !s.failed; n++) {
        act(&s);
        if (chance(&s, 20)) hold(&s, !s.held);
        for (i = pick(&s, 4); i > 0 && !s.failed; i--) step_all(&s);
        same_faces(&s);
        if (!s.held) same_stories(&s);
        *small = *small || is_small(&s);
        if (chance(&s, 30)) ask_something(&s);
    }
    hold(&s, false);
    if (!s.failed) run_all(&s, PATIENCE);
    if (!s.failed) all_is_the_same(&s);
    if (!s.failed) stores_have_it(&s);
    for (i = 0; i < TWINS; i++) rig_free(s.at[i].r);
    phi_file_store_close(&s.files);
    store_mem_free(s.store);
    return test_failures() == before;
}

TEST(what_left_memory_makes_no_difference) {
    const char *chosen = getenv("PHI_SEED"); /* one story of a failure, alone */
    const char *more = getenv("PHI_SEEDS");  /* so many, for make soak */
    uint32_t seed, most = more != NULL ? (uint32_t)strtoul(more, NULL, 10) : (uint32_t)SEEDS;
    uint32_t first = chosen != NULL ? (uint32_t)strtoul(chosen, NULL, 10) : 1, smalls = 0;
    char directory[300];
    bool small;
    REQUIRE(test_temp_dir(directory, sizeof directory));
    if (chosen != NULL) most = first;
    for (seed = first; seed <= most; seed++) {
        if (!tell(seed, directory, &small)) {
            printf("  seed %u\n", (unsigned)seed);
            return;
        }
        smalls += small ? 1 : 0;
    }
    CHECK(chosen != NULL || smalls > most / 2); /* else it says nothing */
}

TEST_MAIN(TEST_ENTRY(what_left_memory_makes_no_difference))
