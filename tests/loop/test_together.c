/* test_together.c - random stories of one agent that has everything at once: a policy, compaction with a tiny window, a
   compactor that takes its time, a store that fails now and then, tools that prune, revert and are told fields, answers
   of a format, hooks that wait, rewrites at any moment, lanes; and which is saved and loaded into another runtime, or
   freed and opened again from its store, at any moment. Whatever happens, every call has one result, what is sent is
   what a provider takes (the rig looks at each request), each run ends once, and what is shown is what the log says. */
#include "support/edits.h"
#include "agent/agent_in.h"
#include "agent/one_shot_run.h"
#include "agent/response.h"
#include "agent/snapshot.h"
#include "record/replay.h"
#include "support/context_tools.h"
#include "support/rig.h"
#include "support/set.h"
#include "support/store_mem.h"
#include "features/context_edits.h"
#include "log/revert.h"
#include "agent/agent_history.h"
#include "agent/agent_info.h"

enum { SEEDS = 70, STEPS = 220, ANSWERS = 120, PATIENCE = 3000, LANES = 4, TOOLS = 6 };

enum { TAPES = 64, MARK_EACH = 8, MARKS = STEPS / MARK_EACH + 2 };

typedef struct reel {
    char *at;
    size_t len;
} reel;

/* A story on tapes, one a runtime: recorded once, then played. */
typedef struct taping {
    reel reels[TAPES];
    uint64_t marks[MARKS]; /* hashes of the log, on the way and at the end */
    size_t count, mark;
    bool plays, plain; /* plain: without a store */
    uint32_t bytes;    /* step_budget_bytes; 0: as the story has it */
} taping;

typedef struct world {
    rig *r;
    taping *taping; /* NULL: there are no tapes */
    phi_tape *tape;
    store_mem *store;
    uint32_t state;
    phi_agent agent;
    phi_agent_desc desc;
    phi_tool tools[TOOLS];
    phi_policy policy;
    char thread_id[40];
    uint32_t asked, ended; /* runs that were begun; ends that were heard of */
    uint32_t ids, ops, threads;
    bool stored, starving, calm, failed, lost; /* lost: memory ended in a run of this log */
    bool job_open;
    uint32_t job_polls;
    phi_span span;
    phi_message summary;
    phi_content words;
} world;

#define HOLDS(w, condition)                                                                        \
    do {                                                                                           \
        if (!CHECK(condition)) (w)->failed = true;                                                 \
    } while (0)

static uint32_t pick(world *w, uint32_t n) { return test_random(&w->state) % n; }

static phi_thread *log_of(const world *w) { return phi_agent_thread(w->agent); }

/* ---- what must be true ---- */

/* Messages [i, n): every call has one result, in call order, and no result is without its call. */
static bool log_is_whole(phi_agent agent, size_t i, size_t n) {
    size_t k;
    while (i < n) {
        const phi_message *m = phi_thread_message_at(phi_agent_thread(agent), i++);
        if (m == NULL || m->role == PHI_ROLE_TOOL_RESULT) return false;
        if (m->role != PHI_ROLE_ASSISTANT || m->stop_reason == PHI_STOP_REASON_ERROR ||
            m->stop_reason == PHI_STOP_REASON_ABORTED)
            continue;
        for (k = 0; k < m->content_count; k++) {
            const phi_message *result;
            if (m->content[k].kind != PHI_CONTENT_TOOL_CALL) continue;
            result = i < n ? phi_thread_message_at(phi_agent_thread(agent), i++) : NULL;
            if (result == NULL || result->role != PHI_ROLE_TOOL_RESULT ||
                !phi_str_equal(result->tool_call_id, m->content[k].id))
                return false;
        }
    }
    return true;
}

static uint64_t mix(uint64_t h, phi_str s) {
    size_t i;
    for (i = 0; i < s.len; i++) h = (h ^ (unsigned char)s.at[i]) * UINT64_C(1099511628211);
    return (h ^ 0xff) * UINT64_C(1099511628211);
}

static uint64_t digest_message(uint64_t h, const phi_message *m) {
    size_t i;
    h = mix(h * 31 + (uint64_t)m->role, m->tool_call_id);
    for (i = 0; i < m->content_count; i++) {
        h = mix(h, m->content[i].text);
        h = mix(h, m->content[i].id);
        h = mix(h, m->content[i].arguments);
    }
    return h;
}

/* Of all that is in the log and of what each lane shows. */
static uint64_t digest(world *w, const phi_thread *thread) {
    uint64_t h = mix(phi_thread_count(thread), phi_thread_get_info(thread).lane);
    phi_memory memory;
    phi_arena arena;
    size_t i, k, count;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    for (i = 0; i < phi_thread_get_info(thread).lane_count; i++) {
        const phi_view_item *items = NULL;
        HOLDS(w, phi_thread_view(thread, phi_thread_lane_at(thread, i), UINT64_MAX, &arena, &items,
                                 &count) == PHI_OK);
        for (k = 0; k < count; k++) {
            h = digest_message(h, items[k].message) + items[k].from * 7 + items[k].to * 13;
            h = h * 31 + items[k].flags;
        }
    }
    phi_arena_free(&arena);
    return h;
}

/* What grew with the log is what is folded out of it anew. */
static void fold_is_fresh(world *w) {
    const phi__agent *agent = phi__find_agent(w->agent);
    const phi_thread *thread;
    phi__fold fresh;
    phi_status status;
    size_t i;
    if (agent == NULL) return;
    thread = agent->thread;
    test_alloc_fail_at(-1);
    status = phi__recall(thread);
    if (status == PHI_OK)
        status = phi__fold_lane(thread, thread->lanes.active, UINT64_MAX - 1, &fresh);
    if (status != PHI_OK) { /* a store that fails now does not give back what has left memory */
        HOLDS(w, w->stored && thread->log.held < thread->log.count);
        return;
    }
    HOLDS(w, fresh.count == thread->fold.count && fresh.tokens == thread->fold.tokens);
    for (i = 0; i < fresh.count && i < thread->fold.count; i++) {
        HOLDS(w, fresh.items[i].message == thread->fold.items[i].message);
        HOLDS(w, fresh.items[i].from == thread->fold.items[i].from &&
                     fresh.items[i].to == thread->fold.items[i].to);
    }
    phi__fold_free(thread->log.memory, &fresh);
}

/* The store, read again, gives what the agent has. */
static void store_has_it(world *w) {
    phi_store unlocked = *store_mem_store(w->store);
    phi_thread *copy;
    char words[200];
    if (!w->stored || !phi_agent_alive(w->agent)) return;
    test_alloc_fail_at(-1);
    store_mem_fail_at(w->store, -1, PHI_IO);
    (void)phi_thread_sync(log_of(w), words, sizeof words); /* it may still have a lie to tell */
    if (!CHECK(phi_thread_sync(log_of(w), words, sizeof words) == PHI_OK)) {
        printf("  %s\n", words);
        w->failed = true;
        return;
    }
    unlocked.lock = NULL;
    unlocked.unlock = NULL;
    copy = phi_thread_new(rig_runtime(w->r), 0);
    if (!CHECK(phi_thread_attach(copy, &unlocked, w->thread_id, NULL, words, sizeof words) ==
               PHI_OK))
        printf("  %s\n", words);
    HOLDS(w, phi_thread_count(copy) == phi_thread_count(log_of(w)));
    HOLDS(w, digest(w, copy) == digest(w, log_of(w)));
    phi_thread_free(copy);
}

static void hear(void *user_data, const phi_event *e) {
    world *w = (world *)user_data;
    HOLDS(w, phi_agent_alive(e->agent));
    if (e->kind == PHI_EV_ERROR && e->status == PHI_NO_MEMORY) w->lost = true;
    if (e->kind != PHI_EV_AGENT_END) return;
    w->ended++;
    HOLDS(w, w->ended == w->asked);
    if (e->status == PHI_NO_MEMORY) w->lost = true;
    if (w->stored) { /* what has left memory is read back */
        test_alloc_fail_at(-1);
        store_mem_fail_at(w->store, -1, PHI_IO);
    }
    if (!w->lost)
        HOLDS(w, log_is_whole(e->agent, e->first_message, e->first_message + e->message_count));
}

/* ---- what a host does ---- */

static void rewrite(world *w) {
    phi_content words = PHI_ZERO;
    phi_memory memory;
    phi_arena arena;
    const phi_view_item *items = NULL;
    phi_rewrite r = PHI_ZERO;
    phi_span span = PHI_ZERO;
    phi_message said = PHI_ZERO;
    char id[16], undone[16];
    size_t count = 0, i;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    if (phi_agent_alive(w->agent))
        (void)phi_thread_view(log_of(w), NULL, UINT64_MAX, &arena, &items, &count);
    (void)snprintf(id, sizeof id, "h%u", (unsigned)(pick(w, 6) == 0 ? w->ops : ++w->ops));
    (void)snprintf(undone, sizeof undone, "h%u", (unsigned)pick(w, w->ops + 1));
    words.kind = PHI_CONTENT_TEXT;
    words.text = PHI__LIT("as it was");
    said.role = PHI_ROLE_USER;
    said.content = &words;
    said.content_count = 1;
    if (pick(w, 5) != 0) r.op_id = id;
    if (pick(w, 4) == 0)
        r.revoke = undone;
    else if (count > 0) {
        i = pick(w, (uint32_t)count);
        span.from = items[i].from;
        span.to = items[phi__min(count - 1, i + pick(w, 4))].to;
        if (span.from == items[0].from || phi_agent_get_info(w->agent).running || pick(w, 2) == 0) {
            /* what is sent begins with the user, also where it is put off */
            span.messages = &said;
            span.message_count = 1;
            span.summary = pick(w, 2) == 0;
        }
        r.spans = &span;
        r.span_count = 1;
    }
    (void)phi_agent_rewrite(w->agent, &r);
    phi_arena_free(&arena);
}

static void talk(world *w) {
    switch (pick(w, 7)) {
    case 0: (void)phi_steer(w->agent, "left a bit"); break;
    case 1: (void)phi_follow_up(w->agent, "one more thing"); break;
    case 2: (void)phi_inject(w->agent, "by the way", NULL); break;
    case 3:
        if (pick(w, 4) == 0) (void)phi_abort(w->agent);
        break;
    case 4:
        if (pick(w, 4) == 0) (void)phi_stop(w->agent);
        break;
    case 5: (void)phi_thread_note(log_of(w), "mark", PHI__LIT("{\"a\":1}"), NULL); break;
    default: rewrite(w); break;
    }
}

static void leave(world *w) {
    if (w->taping != NULL) return; /* without a store it would forget all */
    if (phi_agent_alive(w->agent)) w->ended = w->asked;
    phi_agent_free(w->agent);
}

static void note_thread(world *w) {
    if (!w->stored || !phi_agent_alive(w->agent)) return;
    (void)snprintf(w->thread_id, sizeof w->thread_id, "%s",
                   phi_agent_get_info(w->agent).thread_id.at);
    if (w->thread_id[0] == 't' && (uint32_t)atoi(w->thread_id + 1) > w->threads)
        w->threads = (uint32_t)atoi(w->thread_id + 1);
}

/* With a policy of its own, in another thread, or both. */
static phi_status ask_with(world *w) {
    phi_prompt_desc asked = PHI_ZERO;
    phi_policy policy = PHI_ZERO;
    phi_content words = PHI_ZERO;
    phi_response response;
    phi_status status;
    char id[24];
    words.kind = PHI_CONTENT_TEXT;
    words.text = PHI__LIT("and what of the grapes?");
    asked.content = &words;
    asked.content_count = 1;
    policy.max_input_tokens = 80 + pick(w, 500);
    policy.no_reserve = true;
    policy.keep_last_turns = pick(w, 3);
    policy.summaries = (phi_summaries)pick(w, 3);
    if (pick(w, 3) != 0) asked.policy = &policy;
    (void)snprintf(id, sizeof id, "t%u", (unsigned)(1 + pick(w, w->threads + 1)));
    switch (w->taping == NULL ? pick(w, 8) : 7) {
    case 0: asked.thread_id = id; break;
    case 1: asked.new_thread = true; break;
    default: break;
    }
    status = phi_prompt_with(w->agent, &asked, &response);
    note_thread(w);
    if (status == PHI_OK && pick(w, 2) == 0) phi_response_free(response);
    return status;
}

static void ask(world *w) {
    phi_status status;
    bool ran = phi_agent_get_info(w->agent).running;
    switch (pick(w, 9)) {
    case 3:
    case 4: status = ask_with(w); break;
    case 0: status = phi_continue(w->agent, (phi_continuation)(1 + pick(w, 3))); break;
    case 1: status = phi_send(w->agent, "and then?"); break;
    case 2: status = phi_compact(w->agent); break;
    default:
        status = phi_prompt(w->agent, "go on with the story of the fox and the many grapes");
        break;
    }
    if (status == PHI_OK && !ran && phi_agent_get_info(w->agent).running) w->asked++;
}

/* Calls and decisions that wait, by what phi_pending says. */
static void answer_some(world *w) {
    phi_pending_item items[16];
    size_t n = phi_pending(rig_runtime(w->r), items, 16), i;
    if (n == 0) return;
    i = pick(w, (uint32_t)phi__min(n, 16));
    if (items[i].kind == PHI_WAITING_CALL)
        (void)(pick(w, 4) == 0 ? phi_call_fail(items[i].call, "from outside")
                               : phi_call_reply(items[i].call, "from outside"));
    if (items[i].kind == PHI_WAITING_DECISION)
        (void)phi_decide(items[i].ticket, (phi_verdict)pick(w, 2), NULL);
}

/* ---- hooks, tools, the compactor ---- */

static phi_verdict any_hook(void *user_data, phi_hook *hook) {
    world *w = (world *)user_data;
    HOLDS(w, phi_agent_alive(hook->agent));
    if (w->calm) return PHI_ALLOW;
    switch (pick(w, 30)) {
    case 0:
    case 1:
    case 2: hook->timeout_ms = 1 + pick(w, 40); return PHI_WAIT;
    case 3: return pick(w, 3) == 0 ? PHI_DENY : PHI_ALLOW;
    case 4:
    case 5:
    case 6: talk(w); break;
    case 7:
        if (pick(w, 20) == 0) leave(w);
        break;
    default: break;
    }
    return PHI_ALLOW;
}

static phi_flow any_start(void *user_data, phi_call call, phi_str arguments) {
    world *w = (world *)user_data;
    HOLDS(w, arguments.len > 0 && phi_call_get_info(call).pending);
    if (w->calm) return PHI_DONE;
    switch (pick(w, 8)) {
    case 0:
        (void)phi_call_reply(call, "a result of some length, so that it counts");
        return PHI_DONE;
    case 1: (void)call_prune(call, 1 + pick(w, 80), PHI__LIT("grapes")); return PHI_DONE;
    case 2: talk(w); return PHI_DONE;
    case 3:
        if (pick(w, 10) == 0) leave(w);
        return PHI_PENDING;
    case 4:
        (void)call_revert(call, PHI_REVERT_TANGENT, pick(w, 60), PHI__LIT("sour"), NULL, 0);
        return PHI_DONE;
    default: return PHI_PENDING;
    }
}

static phi_flow any_step(void *user_data, phi_call call) {
    world *w = (world *)user_data;
    if (!w->calm && pick(w, 6) == 0)
        (void)phi_thread_note(log_of(w), "walked", PHI__LIT("{\"far\":true}"), NULL);
    if (!w->calm && pick(w, 3) != 0) return PHI_PENDING;
    (void)phi_call_reply(call, "walked");
    return PHI_DONE;
}

static void any_field(void *user_data, const phi_field *field) {
    world *w = (world *)user_data;
    HOLDS(w, phi_agent_alive(field->agent));
    if (w->calm) return;
    if (pick(w, 12) == 0) talk(w);
    if (pick(w, 150) == 0) leave(w);
}

static phi_status job_start(void *user_data, const phi_compaction_request *request, void **job) {
    world *w = (world *)user_data;
    HOLDS(w, !w->job_open && request->item_count > 0);
    if (pick(w, 4) == 0) return PHI_UNSUPPORTED;
    w->words.kind = PHI_CONTENT_TEXT;
    w->words.text = PHI__LIT("so far");
    w->summary.role = PHI_ROLE_USER;
    w->summary.content = &w->words;
    w->summary.content_count = 1;
    memset(&w->span, 0, sizeof w->span);
    w->span.from = request->items[0].from;
    w->span.to = request->items[pick(w, (uint32_t)request->item_count)].to;
    w->span.messages = &w->summary;
    w->span.message_count = 1;
    w->span.summary = true;
    w->job_polls = pick(w, 4);
    w->job_open = true;
    *job = w;
    return PHI_OK;
}

static phi_status job_poll(void *user_data, void *job, phi_rewrite *out) {
    world *w = (world *)user_data;
    HOLDS(w, w->job_open && job == w);
    if (!w->calm && pick(w, 60) == 0) leave(w);
    if (w->job_polls-- > 0) return PHI_BUSY;
    w->job_polls = 0;
    out->spans = &w->span;
    out->span_count = 1;
    return pick(w, 6) == 0 ? PHI_NETWORK : PHI_OK;
}

static void job_end(void *user_data, void *job) {
    world *w = (world *)user_data;
    HOLDS(w, w->job_open && job == w);
    w->job_open = false;
}

/* ---- the agent ---- */

static void make_tools(world *w) {
    static const char *const names[] = {"slow", "polled", "telling"};
    size_t i;
    memset(w->tools, 0, sizeof w->tools);
    for (i = 0; i < 3; i++) {
        w->tools[i].name = names[i];
        w->tools[i].start = any_start;
        w->tools[i].user_data = w;
        w->tools[i].timeout_ms = 1 + pick(w, 60);
        w->tools[i].retries = pick(w, 3);
        w->tools[i].retry_delay_ms = pick(w, 20);
        w->tools[i].may_repeat = true;
    }
    w->tools[1].step = any_step;
    if (pick(w, 2) == 0) w->tools[1].resume = any_start;
    w->tools[2].on_field = any_field;
    (void)tools_prun(&w->tools[3]);
    (void)tools_revert(&w->tools[5]);
}

static void make_desc(world *w) {
    static const phi_format format = {
        PHI_FORMAT_JSON_SCHEMA,
        "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"integer\"}}}", NULL, false};
    w->desc = rig_desc();
    make_tools(w);
    w->desc.tools = w->tools;
    w->desc.tool_count = pick(w, 3) == 0 ? 5 : TOOLS;
    w->desc.tool_options.mode = (phi_tool_mode)pick(w, 3);
    w->desc.model.context_window = 100 + pick(w, 500);
    w->desc.limits.max_turns = 1 + pick(w, 8);
    w->desc.compaction.system_prompt_tokens = 10;
    w->desc.compaction.disable = pick(w, 6) == 0;
    if (pick(w, 2) == 0) w->desc.compaction.keep_recent_turns = 1 + pick(w, 3);
    if (pick(w, 3) == 0) w->desc.compaction.focus_message = "Mind the fox.";
    if (pick(w, 3) == 0) {
        w->desc.compactor.start = job_start;
        w->desc.compactor.poll = job_poll;
        w->desc.compactor.end = job_end;
        w->desc.compactor.user_data = w;
    }
    if (pick(w, 2) == 0) {
        w->policy.max_input_tokens = 100 + pick(w, 600);
        w->policy.no_reserve = true;
        w->policy.keep_last_turns = pick(w, 3);
        w->policy.summaries = (phi_summaries)pick(w, 3);
        w->desc.policy = &w->policy;
    }
    if (pick(w, 4) == 0) w->desc.format = format;
    w->desc.options.capture_requests = pick(w, 3) == 0;
    if (pick(w, 3) != 0) {
        w->desc.hook_fn = any_hook;
        w->desc.hook_points = test_random(&w->state) & 0xffff;
    }
    w->desc.user_data = w;
    w->desc.deadlines.decision_ms = 1 + pick(w, 80);
    w->desc.deadlines.first_event_ms = w->desc.deadlines.idle_ms = 1 + pick(w, 60);
    w->desc.retry.disable = pick(w, 2) == 0;
    w->desc.retry.initial_delay_ms = 1 + pick(w, 20);
    w->desc.retry.max_retries = 1 + pick(w, 3);
}

static void fresh_id(world *w) {
    (void)snprintf(w->thread_id, sizeof w->thread_id, "t%u", (unsigned)++w->threads);
    w->desc.thread_id = w->thread_id;
    w->desc.store = store_mem_store(w->store);
}

static bool sit(world *w) {
    const char *words = "";
    test_alloc_fail_at(-1);
    store_mem_fail_at(w->store, -1, PHI_IO);
    w->agent = rig_agent(w->r, &w->desc);
    if (CHECK(w->agent.rt != NULL)) return true;
    words = phi_last_error(rig_runtime(w->r)).message;
    printf("  %s\n", words);
    w->failed = true;
    return false;
}

/* ---- answers ---- */

static void answer_calls(world *w) {
    static const char *const lines[] = {"slow {}",
                                        "polled {}",
                                        "telling {\"a\":[1,2,{\"b\":\"c\"}],\"d\":true}",
                                        "telling {\"a\":tru",
                                        "nobody {}",
                                        "prun {\"tokens\":40}",
                                        "prun_with_memo {\"tokens\":30,\"memo\":\"grapes\"}",
                                        "slow {\"grapes\":\"many of them and all of them sour\"}"};
    char text[4][128];
    const char *calls[4];
    uint32_t n = 1 + pick(w, 3), i;
    for (i = 0; i < n; i++) {
        if (pick(w, 7) == 0)
            (void)snprintf(text[i], sizeof text[i],
                           "c%u revert_to_state {\"category\":\"failure\",\"step\":\"n%u\"}",
                           (unsigned)w->ids++, (unsigned)pick(w, 120));
        else
            (void)snprintf(text[i], sizeof text[i], "c%u %s", (unsigned)w->ids++,
                           lines[pick(w, 8)]);
        calls[i] = text[i];
    }
    rig_calls(w->r, calls, n);
}

static void answer(world *w) {
    switch (pick(w, 14)) {
    case 0: rig_says(w->r, "{\"a\":1}"); break;
    case 1:
    case 2:
        rig_says(w->r, "A fox saw grapes, and they hung high, and so the story goes on and on.");
        break;
    case 3: rig_breaks(w->r, rig_stream_of("cut"), PHI_NETWORK, "the line is dead"); break;
    case 4: rig_replies(w->r, 500, "", "oh dear"); break;
    case 5:
        rig_replies(w->r, 400, "Content-Type: application/json\r\n",
                    "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\","
                    "\"message\":\"prompt is too long: 200001 tokens > 200000 maximum\"}}");
        break;
    case 6: rig_call(w->r, "r", "respond_json", "{\"a\":2}"); break;
    case 7: rig_hangs(w->r, rig_stream_of("and then")); break;
    default: answer_calls(w); break;
    }
}

static phi_status write_tape(void *user_data, const char *bytes, size_t len) {
    reel *on = (reel *)user_data;
    on->at = (char *)realloc(on->at, on->len + len);
    if (on->at == NULL) abort();
    memcpy(on->at + on->len, bytes, len);
    on->len += len;
    return PHI_OK;
}

static bool run_again(void *user_data, phi_str tool) {
    (void)user_data;
    (void)tool;
    return true;
}

static phi_tape *next_tape(world *w) {
    taping *t = w->taping;
    phi_tape_desc how = PHI_ZERO;
    reel *on;
    phi_str text;
    if (t == NULL) return NULL;
    if (t->count == TAPES) abort();
    on = &t->reels[t->count++];
    text.at = on->at;
    text.len = on->len;
    how.allocator = test_allocator();
    how.user_data = on;
    how.write_fn = write_tape;
    how.runs_fn = run_again;
    how.whole_bodies = true;
    return t->plays ? phi_tape_play(&how, text, NULL) : phi_tape_record(&how);
}

static void put_away(world *w, rig *r, phi_tape *tape) {
    phi_tape_divergence d;
    rig_free(r);
    if (w->taping == NULL) return;
    if (!CHECK(phi_tape_end(tape, &d) == PHI_OK)) {
        printf("  line %u: %.*s\n  recorded: %.*s\n  now: %.*s\n", (unsigned)d.line,
               (int)d.what.len, d.what.at, (int)d.recorded.len, d.recorded.at, (int)d.actual.len,
               d.actual.at);
        w->failed = true;
    }
    phi_tape_free(tape);
}

/* Each runtime has a chance of its own: ids of two never meet in one store. */
static void any_seed(void *user_data, void *out, size_t len) {
    world *w = (world *)user_data;
    uint32_t seed = 1 + pick(w, 1 << 30);
    memcpy(out, &seed, phi__min(len, sizeof seed));
}

static rig *new_rig(world *w) {
    phi_runtime_desc desc;
    uint32_t i;
    memset(&desc, 0, sizeof desc);
    if (pick(w, 2) == 0) desc.step_budget_bytes = 1 + pick(w, 400);
    if (w->taping != NULL && w->taping->bytes != 0) desc.step_budget_bytes = w->taping->bytes;
    test_alloc_fail_at(-1);
    w->tape = desc.tape = next_tape(w);
    desc.random_fn = any_seed;
    desc.user_data = w;
    w->r = rig_new_with(&desc);
    if (w->r == NULL) abort();
    rig_watch(w->r, hear, w);
    if (pick(w, 2) == 0) rig_mock(w->r); /* no usage is reported: estimates count */
    if (pick(w, 2) == 0) rig_chunk(w->r, 1 + pick(w, 300));
    for (i = 0; i < ANSWERS; i++) answer(w);
    return w->r;
}

/* ---- journeys ---- */

/* Saved, and loaded into another runtime; the story is the same. */
static void move(world *w) {
    phi_memory memory;
    phi_arena arena;
    phi_str text = {NULL, 0};
    rig *old = w->r;
    phi_tape *old_tape = w->tape;
    uint64_t before;
    const char *words = "";
    bool interrupt = pick(w, 5) == 0, waits;
    if (!phi_agent_alive(w->agent)) return;
    waits = phi_agent_get_info(w->agent).deferred_op_id.len > 0;
    test_alloc_fail_at(-1);
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    store_mem_fail_at(w->store, -1, PHI_IO);
    HOLDS(w, phi_agent_snapshot(w->agent, &arena, &text) == PHI_OK);
    before = digest(w, log_of(w));
    (void)new_rig(w);
    if (w->stored) fresh_id(w);
    w->agent = phi_agent_restore(rig_runtime(w->r), &w->desc, text,
                                 interrupt ? PHI_RESTORE_INTERRUPT : PHI_RESTORE_RESUME);
    if (!CHECK(w->agent.rt != NULL)) {
        words = phi_last_error(rig_runtime(w->r)).message;
        printf("  %s\n  %.*s\n", words, (int)phi__min(text.len, 4000), text.at);
        w->failed = true;
    } else {
        /* a rewrite that waits for a run which has ended is done at once */
        HOLDS(w,
              before == digest(w, log_of(w)) || (waits && !phi_agent_get_info(w->agent).running));
        HOLDS(w, w->asked == w->ended || phi_agent_get_info(w->agent).running);
    }
    phi_arena_free(&arena);
    put_away(w, old, old_tape);
    HOLDS(w, !w->job_open);
}

/* Freed, and opened again out of its store; what the store had refused is lost. */
static void reopen(world *w) {
    uint64_t before = 0;
    bool whole = pick(w, 2) == 0, waits;
    if (!w->stored || w->taping != NULL) return;
    if (whole) {
        store_has_it(w);
        if (phi_agent_alive(w->agent)) before = digest(w, log_of(w));
    } else
        store_mem_fail_at(w->store, 0, PHI_IO);
    whole = whole && phi_agent_alive(w->agent);
    waits = whole && phi_agent_get_info(w->agent).deferred_op_id.len >
                         0; /* it is done when the thread is opened */
    leave(w);
    if (pick(w, 2) == 0) {
        rig_free(w->r);
        (void)new_rig(w);
    }
    HOLDS(w, !w->job_open);
    if (!sit(w)) return;
    if (whole) HOLDS(w, before == digest(w, log_of(w)) || waits);
}

/* What the active lane shows, wherever it stands. */
static uint64_t shown(world *w) {
    const phi_view_item *items = NULL;
    phi_memory memory;
    phi_arena arena;
    size_t i, count = 0;
    uint64_t h = 0;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    HOLDS(w, phi_thread_view(log_of(w), NULL, UINT64_MAX, &arena, &items, &count) == PHI_OK);
    for (i = 0; i < count; i++)
        h = digest_message(h, items[i].message) * 31 +
            (items[i].flags & ~(uint32_t)PHI_ITEM_UNMEASURED);
    phi_arena_free(&arena);
    return h;
}

/* In another log, or nothing has changed. */
static void begin_session(world *w) {
    uint64_t before, view;
    bool empty = pick(w, 3) == 0;
    phi_status status;
    char session[64];
    test_alloc_fail_at(-1);
    store_mem_fail_at(w->store, -1, PHI_IO);
    before = digest(w, log_of(w));
    view = shown(w);
    (void)snprintf(session, sizeof session, "%s", phi_agent_get_info(w->agent).session_id.at);
    if (w->starving && pick(w, 2) == 0) test_alloc_fail_at((int)pick(w, 60));
    if (w->taping == NULL && pick(w, 3) == 0)
        store_mem_fail_at(w->store, (int)pick(w, 4), PHI_FULL);
    status = phi_agent_new_session(w->agent, empty);
    test_alloc_fail_at(-1);
    store_mem_fail_at(w->store, -1, PHI_IO);
    HOLDS(w, status != PHI_OK || phi_agent_get_info(w->agent).loop_id.len == 0);
    HOLDS(w, status == PHI_OK || (before == digest(w, log_of(w)) &&
                                  phi__str_is(phi_agent_get_info(w->agent).session_id, session)));
    HOLDS(w, status != PHI_OK || shown(w) == (empty ? 0 : view));
    note_thread(w);
}

static void while_idle(world *w) {
    char name[8];
    phi_policy small = PHI_ZERO;
    if (phi_agent_get_info(w->agent).running || !phi_agent_alive(w->agent)) return;
    (void)snprintf(name, sizeof name, "l%u", (unsigned)pick(w, LANES));
    switch (pick(w, 10)) {
    case 0:
        (void)phi_thread_fork_lane(log_of(w), name, NULL,
                                   pick(w, (uint32_t)phi_thread_count(log_of(w)) + 1));
        break;
    case 1: (void)phi_thread_switch(log_of(w), name); break;
    case 2: (void)phi_thread_switch(log_of(w), PHI_LANE_DEFAULT); break;
    case 3:
        if (pick(w, 4) != 0) break;
        if (w->taping != NULL) /* forgotten without a store, in one it is another lane */
            (void)phi_thread_switch(log_of(w), NULL);
        else
            (void)phi_agent_reset(w->agent);
        break;
    case 4:
        small.max_input_tokens = 80 + pick(w, 300);
        (void)set_policy(w->agent, pick(w, 3) == 0 ? NULL : &small);
        break;
    case 5:
        if (w->stored && w->taping == NULL && pick(w, 3) == 0) {
            char id[24];
            (void)snprintf(id, sizeof id, "t%u", (unsigned)(1 + pick(w, w->threads + 2)));
            (void)phi_agent_use_thread(w->agent, id);
            note_thread(w);
        }
        break;
    case 6: begin_session(w); break;
    default: store_has_it(w); break;
    }
    fold_is_fresh(w);
}

static void trouble(world *w) {
    switch (w->taping == NULL ? pick(w, 5) : 4) {
    case 0:
        store_mem_fail_at(w->store, (int)pick(w, 4), pick(w, 2) == 0 ? PHI_IO : PHI_FULL);
        break;
    case 1: store_mem_lie(w->store); break;
    case 2:
        if (w->starving) test_alloc_fail_at((int)pick(w, 80));
        break;
    default: rig_pass_ms(w->r, pick(w, 60)); break;
    }
}

static void act(world *w) {
    switch (pick(w, 30)) {
    case 0:
    case 1: move(w); break;
    case 2: reopen(w); break;
    case 3:
    case 4:
    case 5: trouble(w); break;
    case 6:
    case 7:
    case 8:
    case 9:
    case 10:
    case 11: answer_some(w); break;
    case 12:
    case 13: talk(w); break;
    case 14:
    case 15:
    case 16: while_idle(w); break;
    case 17: test_alloc_fail_at(-1); break;
    default:
        if (!phi_agent_get_info(w->agent).running) ask(w);
        break;
    }
}

/* Whatever it went through, it answers. */
static void goes_on(world *w) {
    int most = PATIENCE;
    test_alloc_fail_at(-1);
    store_mem_fail_at(w->store, -1, PHI_IO);
    w->calm = true;
    if (!phi_agent_alive(w->agent) && !sit(w)) return;
    (void)phi_abort(w->agent);
    while (rig_run(w->r, 1) > 0 && most-- > 0) answer_some(w);
    HOLDS(w, most > 0 && !phi_agent_get_info(w->agent).running && w->asked == w->ended);
    fold_is_fresh(w);
    (void)phi_queue_clear(w->agent, PHI_INPUT_NONE);
    rig_drop_answers(w->r);
    rig_says(w->r, "here");
    HOLDS(w, phi_prompt(w->agent, "are you there?") == PHI_OK);
    w->asked++;
    while (rig_run(w->r, 1) > 0 && most-- > 0) answer_some(w);
    HOLDS(w, most > 0 && w->asked == w->ended);
    fold_is_fresh(w);
    store_has_it(w);
}

/* What was recorded, and is played, has the same log at the same time. */
static void mark(world *w) {
    taping *t = w->taping;
    uint64_t hash;
    if (t == NULL || !phi_agent_alive(w->agent)) return;
    if (t->mark == MARKS) abort();
    hash = phi_thread_hash(log_of(w));
    if (!t->plays) t->marks[t->mark] = hash;
    HOLDS(w, t->marks[t->mark++] == hash);
}

static bool story(uint32_t seed, taping *t) {
    static world w;
    int i;
    memset(&w, 0, sizeof w);
    w.state = seed;
    w.store = store_mem_new();
    w.starving = pick(&w, 4) == 0 && t == NULL;
    w.stored = pick(&w, 3) != 0;
    if (t != NULL) w.stored = !t->plain;
    w.taping = t;
    make_desc(&w);
    if (w.stored) fresh_id(&w);
    (void)new_rig(&w);
    (void)sit(&w);
    for (i = 0; i < STEPS && !w.failed; i++) {
        act(&w);
        if (!phi_agent_alive(w.agent) && !sit(&w)) break;
        (void)rig_run(w.r, 1);
        if (!phi_agent_alive(w.agent) && !sit(&w)) break;
        if (i % MARK_EACH == 0) {
            fold_is_fresh(&w);
            mark(&w);
        }
    }
    mark(&w);
    if (!w.failed && pick(&w, 8) != 0) goes_on(&w); /* else all is freed in mid-sentence */
    test_alloc_fail_at(-1);
    put_away(&w, w.r, w.tape);
    HOLDS(&w, !w.job_open);
    store_mem_free(w.store);
    HOLDS(&w, test_alloc_live_bytes() == 0);
    return !w.failed && test_failures() == 0; /* the rig checks, too */
}

TEST(everything_at_once_keeps_every_promise) {
    const char *chosen = getenv("PHI_SEED"); /* one story of a failure, alone */
    const char *more = getenv("PHI_SEEDS");  /* so many, for make soak */
    uint32_t seed, most = more != NULL ? (uint32_t)strtoul(more, NULL, 10) : (uint32_t)SEEDS;
    if (chosen != NULL) {
        (void)story((uint32_t)strtoul(chosen, NULL, 10), NULL);
        return;
    }
    for (seed = 1; seed <= most; seed++)
        if (!story(seed, NULL)) {
            printf("  seed %u\n", (unsigned)seed);
            return;
        }
}

static bool play(uint32_t seed, taping *t, bool plain, uint32_t bytes) {
    t->plays = true;
    t->count = t->mark = 0;
    t->plain = plain;
    t->bytes = bytes;
    if (story(seed, t)) return true;
    printf("  seed %u, played%s, %u bytes a step\n", (unsigned)seed,
           plain ? " without a store" : "", (unsigned)bytes);
    return false;
}

static bool taped_story(uint32_t seed) {
    taping *t = (taping *)calloc(1, sizeof *t);
    bool done;
    size_t i;
    if (t == NULL) abort();
    done = story(seed, t) && play(seed, t, false, 0) && play(seed, t, true, 1024) &&
           play(seed, t, false, 1);
    if (!done) printf("  seed %u\n", (unsigned)seed);
    for (i = 0; i < TAPES; i++) free(t->reels[i].at);
    free(t);
    return done;
}

TEST(a_story_on_tape_ends_in_the_same_log_with_or_without_a_store_and_in_steps_of_any_size) {
    const char *chosen = getenv("PHI_SEED");
    const char *more = getenv("PHI_SEEDS");
    uint32_t seed, most = more != NULL ? (uint32_t)strtoul(more, NULL, 10) : (uint32_t)SEEDS;
    if (chosen != NULL) {
        (void)taped_story((uint32_t)strtoul(chosen, NULL, 10));
        return;
    }
    for (seed = 1; seed <= most / 4; seed++)
        if (!taped_story(seed)) return;
}

TEST_MAIN(
    TEST_ENTRY(everything_at_once_keeps_every_promise),
    TEST_ENTRY(
        a_story_on_tape_ends_in_the_same_log_with_or_without_a_store_and_in_steps_of_any_size))
