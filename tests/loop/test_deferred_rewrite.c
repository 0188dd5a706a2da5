/* test_deferred_rewrite.c - rewrites of an agent's history while it is idle and while it runs, its thread as the host sees it,
   forks of it, and the entry of a call that ran another agent. */
#include "loop/loop_in.h"
#include "support/rig.h"
#include "record/event_json.h"

#include "agent/one_shot_run.h"
#include "agent/response.h"
#include "support/append.h"
#include "support/request.h"
#include "support/freed.h"
#include "agent/agent_history.h"
#include "agent/agent_info.h"
#include "log/thread.h"
#include "loop/hook.h"
#include "loop/run.h"

/* ---- helpers ---- */

static phi_span take_out(uint64_t from, uint64_t to) {
    phi_span s = PHI_ZERO;
    s.from = from;
    s.to = to;
    return s;
}

static phi_rewrite rewrite_of(const char *op_id, const phi_span *span) {
    phi_rewrite r = PHI_ZERO;
    r.op_id = op_id;
    r.spans = span;
    r.span_count = span != NULL ? 1 : 0;
    return r;
}

static size_t shown(const phi_thread *thread) {
    const phi_view_item *items;
    phi_memory memory;
    phi_arena arena;
    size_t count = 999;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(phi_thread_view(thread, NULL, UINT64_MAX, &arena, &items, &count), PHI_OK);
    phi_arena_free(&arena);
    return count;
}

static phi_entry_kind last_kind(const phi_thread *thread) {
    phi_entry e;
    CHECK_EQ_INT(phi_thread_entry(thread, phi_thread_count(thread) - 1, &e), PHI_OK);
    return e.kind;
}

/* The events of rewrites, as "id status words" lines; and whether AGENT_END came. */
typedef struct heard {
    char lines[600];
    bool ended;
} heard;

static void hear(void *user_data, const phi_event *e) {
    heard *h = (heard *)user_data;
    size_t n = strlen(h->lines);
    if (e->kind == PHI_EV_AGENT_END) h->ended = true;
    if (e->kind != PHI_EV_REWRITE) return;
    (void)snprintf(h->lines + n, sizeof h->lines - n, "%.*s %s %.*s\n", (int)e->text.len,
                   e->text.at, phi_status_text(e->status), (int)e->source.len, e->source.at);
}

static phi_agent agent_with_a_turn(rig *r) {
    phi_agent_desc desc = rig_desc();
    phi_agent agent = rig_agent(r, &desc);
    rig_says(r, "one");
    CHECK_EQ_INT(phi_prompt(agent, "first"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    return agent;
}

/* Its log so far: LOOP_START, user 1, TURN_START, answer, TURN_END, LOOP_END. */
static uint64_t answer_seq(phi_agent agent) {
    const phi_thread *t = phi_agent_thread(agent);
    phi_entry e;
    uint64_t i, at = 0;
    for (i = 0; i < phi_thread_count(t); i++)
        if (phi_thread_entry(t, i, &e) == PHI_OK && e.kind == PHI_ENTRY_MESSAGE) at = i;
    return at;
}

/* ---- rewrites ---- */

TEST(an_idle_agent_is_rewritten_at_once) {
    rig *r = rig_new();
    phi_agent agent = agent_with_a_turn(r);
    phi_span s = take_out(answer_seq(agent), answer_seq(agent));
    phi_rewrite w = rewrite_of("x", &s);
    heard h = PHI_ZERO;
    rig_watch(r, hear, &h);
    CHECK_EQ_INT(shown(phi_agent_thread(agent)), 2);
    CHECK_EQ_INT(phi_agent_rewrite(agent, &w), PHI_OK);
    CHECK_EQ_INT(shown(phi_agent_thread(agent)), 1);
    CHECK(last_kind(phi_agent_thread(agent)) == PHI_ENTRY_REWRITE);
    w.op_id = NULL;
    w.span_count = 0;
    CHECK_EQ_INT(phi_agent_rewrite(agent, &w), PHI_OK);
    s = take_out(0, 999);
    w = rewrite_of("y", &s);
    CHECK_EQ_INT(phi_agent_rewrite(agent, &w), PHI_BAD_ARG);
    (void)rig_run(r, 2);
    CHECK_EQ_STR(h.lines,
                 "x ok \n"
                 "op-7 ok \n"
                 "y an argument is missing or out of range spans[0]: 0 to 999, expected up "
                 "to base_seq 7\n");
    CHECK_EQ_INT(phi_agent_rewrite(agent, NULL), PHI_NOT_FOUND);
    rig_free(r);
}

TEST(a_duplicate_a_deferred_one_and_one_that_was_done_are_told_apart) {
    rig *r = rig_new();
    phi_agent agent = agent_with_a_turn(r);
    phi_span s = take_out(answer_seq(agent), answer_seq(agent));
    phi_rewrite w = rewrite_of("x", &s);
    heard h = PHI_ZERO;
    rig_watch(r, hear, &h);
    CHECK_EQ_INT(phi_agent_rewrite(agent, &w), PHI_OK);
    CHECK(phi_agent_get_info(agent).deferred_op_id.len == 0);
    CHECK_EQ_INT(phi_agent_rewrite(agent, &w), PHI_OK);
    w.op_id = "";
    w.span_count = 0;
    CHECK_EQ_INT(phi_agent_rewrite(agent, &w), PHI_OK);
    w.op_id = "op-6";
    CHECK_EQ_INT(phi_agent_rewrite(agent, &w), PHI_BAD_ARG);
    (void)rig_run(r, 2);
    CHECK_EQ_STR(h.lines,
                 "x ok \n"
                 "x ok nothing was done: a rewrite of this op_id is there\n"
                 "op-7 ok \n"
                 "op-6 an argument is missing or out of range op_id \"op-6\": ids of the form "
                 "op-NUMBER are phi's own\n");
    h.lines[0] = '\0';
    rig_says(r, "two");
    CHECK_EQ_INT(phi_prompt(agent, "second"), PHI_OK);
    w.op_id = "x";
    CHECK_EQ_INT(phi_agent_rewrite(agent, &w), PHI_OK);
    CHECK(phi_agent_get_info(agent).deferred_op_id.len > 0);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK(phi_agent_get_info(agent).deferred_op_id.len == 0);
    CHECK_EQ_STR(h.lines, "x ok nothing was done: a rewrite of this op_id is there\n");
    rig_free(r);
}

TEST(during_a_run_it_waits_for_the_end_and_comes_behind_the_last_entry) {
    rig *r = rig_new();
    phi_agent agent = agent_with_a_turn(r);
    const phi_thread *thread = phi_agent_thread(agent);
    phi_span s = take_out(answer_seq(agent), answer_seq(agent));
    phi_rewrite w = rewrite_of("x", &s);
    heard h = PHI_ZERO;
    phi_entry e;
    char id[4] = "x";
    rig_watch(r, hear, &h);
    rig_says(r, "two");
    CHECK_EQ_INT(phi_prompt(agent, "second"), PHI_OK);
    w.op_id = id;
    CHECK_EQ_INT(phi_agent_rewrite(agent, &w), PHI_OK);
    id[0] = '?'; /* it was copied */
    memset(&s, 0xff, sizeof s);
    CHECK_EQ_INT(phi_thread_rewrite(phi_agent_thread(agent), &w, NULL, NULL, 0), PHI_BUSY);
    CHECK_EQ_INT(shown(thread), 2);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK(h.ended);
    CHECK_EQ_STR(h.lines, "x ok \n");
    CHECK(strstr(rig_request(r, 1), "\"one\"") != NULL); /* the run saw what was there */
    CHECK(last_kind(thread) == PHI_ENTRY_REWRITE);
    CHECK_EQ_INT(phi_thread_entry(thread, phi_thread_count(thread) - 2, &e), PHI_OK);
    CHECK(e.kind == PHI_ENTRY_LOOP_END);
    CHECK_EQ_INT(shown(thread), 3);
    rig_free(r);
}

TEST(the_latest_wins_and_the_loser_is_told) {
    rig *r = rig_new();
    phi_agent agent = agent_with_a_turn(r);
    uint64_t at = answer_seq(agent);
    phi_span s = take_out(at, at), none = take_out(0, 999);
    phi_rewrite w = rewrite_of("x", &none);
    heard h = PHI_ZERO;
    rig_watch(r, hear, &h);
    rig_says(r, "two");
    CHECK_EQ_INT(phi_prompt(agent, "second"), PHI_OK);
    CHECK_EQ_INT(phi_agent_rewrite(agent, &w), PHI_OK);
    w = rewrite_of("y", &s);
    CHECK_EQ_INT(phi_agent_rewrite(agent, &w), PHI_OK);
    w = rewrite_of("z", &none);
    CHECK_EQ_INT(phi_agent_rewrite(agent, &w), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_STR(h.lines,
                 "x cancelled a newer rewrite took its place\n"
                 "y cancelled a newer rewrite took its place\n"
                 "z an argument is missing or out of range spans[0]: 0 to 999, expected up "
                 "to base_seq 14\n");
    CHECK_EQ_INT(shown(phi_agent_thread(agent)), 4);
    rig_free(r);
}

typedef struct late {
    phi_agent agent;
    uint64_t at;
} late;

static phi_verdict rewrite_at_the_end(void *user_data, phi_hook *hook) {
    late *l = (late *)user_data;
    phi_span s = take_out(l->at, l->at);
    phi_rewrite w = rewrite_of("late", &s);
    if (hook->point == PHI_HOOK_AFTER_LOOP) CHECK_EQ_INT(phi_agent_rewrite(l->agent, &w), PHI_OK);
    return PHI_ALLOW;
}

TEST(what_the_last_hook_asks_for_is_done_too) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    heard h = PHI_ZERO;
    late l;
    rig_hooks(r, &desc, PHI_HOOK_AFTER_LOOP);
    rig_hook_with(r, rewrite_at_the_end, &l);
    l.agent = rig_agent(r, &desc);
    l.at = 3;
    rig_watch(r, hear, &h);
    rig_says(r, "one");
    CHECK_EQ_INT(phi_prompt(l.agent, "first"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    (void)rig_run(r, 2);
    CHECK_EQ_STR(h.lines, "late ok \n");
    CHECK_EQ_INT(shown(phi_agent_thread(l.agent)), 1);
    rig_free(r);
}

TEST(a_rewrite_that_could_never_be_valid_is_refused_at_once) {
    rig *r = rig_new();
    phi_agent agent = agent_with_a_turn(r);
    phi_span s = take_out(0, 0);
    phi_message m = PHI_ZERO;
    phi_rewrite w = rewrite_of("x", NULL), good = rewrite_of("good", NULL);
    heard h = PHI_ZERO;
    rig_watch(r, hear, &h);
    rig_says(r, "two");
    CHECK_EQ_INT(phi_prompt(agent, "second"), PHI_OK);
    CHECK_EQ_INT(phi_agent_rewrite(agent, &good), PHI_OK);
    w.span_count = 1;
    CHECK_EQ_INT(phi_agent_rewrite(agent, &w), PHI_BAD_ARG);
    w.spans = &s;
    s.message_count = 1;
    CHECK_EQ_INT(phi_agent_rewrite(agent, &w), PHI_BAD_ARG);
    m.role = (phi_role)9;
    s.messages = &m;
    CHECK_EQ_INT(phi_agent_rewrite(agent, &w), PHI_BAD_ARG);
    w = rewrite_of("y", NULL);
    w.switch_to = "";
    CHECK_EQ_INT(phi_agent_rewrite(agent, &w), PHI_BAD_ARG);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_STR(h.lines,
                 "x an argument is missing or out of range spans is missing\n"
                 "x an argument is missing or out of range spans[0].messages is missing\n"
                 "x an argument is missing or out of range spans[0].messages[0]: no role a "
                 "model has\n"
                 "y an argument is missing or out of range switch_to is empty\n"
                 "good ok \n"); /* what waited went on waiting */
    rig_free(r);
}

/* ---- another lane when the run has ended ---- */

/* What a host has of a run whose end came with a switch: its events as JSON, and what the last hook was told. */
typedef struct parting {
    char turn[2000], end[4000];
    size_t of_run;
    heard h;
} parting;

static void part(void *user_data, const phi_event *e) {
    parting *p = (parting *)user_data;
    phi_memory memory;
    phi_arena arena;
    phi_str json = phi_str_of("");
    hear(&p->h, e);
    if ((e->kind != PHI_EV_TURN_END && e->kind != PHI_EV_AGENT_END) || p->end[0] != '\0') return;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(phi_event_to_json(e, &arena, &json), PHI_OK);
    if (e->kind == PHI_EV_TURN_END && p->turn[0] == '\0')
        (void)snprintf(p->turn, sizeof p->turn, "%.*s", (int)json.len, json.at);
    if (e->kind == PHI_EV_AGENT_END) {
        (void)snprintf(p->end, sizeof p->end, "%.*s", (int)json.len, json.at);
        CHECK_EQ_INT(e->message_count, 4);
        CHECK(e->message != NULL && phi_str_equal(e->message->content[0].text, PHI__LIT("done")));
    }
    phi_arena_free(&arena);
}

static phi_verdict count_the_run(void *user_data, phi_hook *hook) {
    parting *p = (parting *)user_data;
    if (hook->point == PHI_HOOK_AFTER_LOOP) p->of_run = hook->message_count;
    return PHI_ALLOW;
}

static void switched_at_the_end(const char *to, bool fork) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tool = rig_echo();
    phi_rewrite w = rewrite_of("go", NULL);
    phi_response response;
    phi_response_info info;
    parting p = PHI_ZERO;
    phi_agent agent;
    phi_thread *thread;
    desc.tools = &tool;
    desc.tool_count = 1;
    rig_hooks(r, &desc, PHI_HOOK_AFTER_LOOP);
    rig_hook_with(r, count_the_run, &p);
    agent = rig_agent(r, &desc);
    thread = phi_agent_thread(agent);
    rig_says(r, "one");
    CHECK_EQ_INT(phi_prompt(agent, "first"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    if (fork) CHECK_EQ_INT(phi_thread_fork_lane(thread, to, NULL, UINT64_MAX), PHI_OK);
    rig_call(r, "c1", "echo", "{\"a\":7}");
    rig_says(r, "done");
    CHECK_EQ_INT(prompt_for(agent, "second", &response), PHI_OK);
    w.switch_to = to;
    rig_silent(r, true); /* the host comes late: all has happened when it looks */
    CHECK_EQ_INT(phi_agent_rewrite(agent, &w), PHI_OK);
    CHECK_STR(phi_thread_get_info(thread).lane, "default");
    CHECK_EQ_INT(rig_run(r, 30), 0);
    CHECK_STR(phi_thread_get_info(thread).lane, to);
    CHECK_EQ_INT(shown(thread), fork ? 2 : 0);
    CHECK_EQ_INT(response_get(response, &info), PHI_OK);
    CHECK_STR(info.text, "done");
    rig_watch(r, part, &p);
    rig_silent(r, false);
    (void)rig_run(r, 2);
    CHECK_EQ_STR(p.h.lines, "go ok \n");
    CHECK_EQ_INT(p.of_run, 4);
    CHECK(strstr(p.turn, "\"tool_results\":[{\"role\":\"toolResult\"") != NULL);
    CHECK(strstr(p.end, "\"second\"") != NULL && strstr(p.end, "\"done\"") != NULL);
    CHECK(strstr(p.end, "\"first\"") == NULL);
    rig_says(r, "here");
    CHECK_EQ_INT(phi_prompt(agent, "third"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK((strstr(rig_request(r, 3), "\"first\"") != NULL) == fork);
    CHECK(strstr(rig_request(r, 3), "\"second\"") == NULL);
    CHECK_EQ_INT(shown(thread), fork ? 4 : 2);
    rig_free(r);
}

TEST(a_run_that_ends_with_a_switch_is_told_as_it_was) { switched_at_the_end("side", true); }
TEST(a_run_that_ends_with_a_new_lane_is_told_as_it_was) { switched_at_the_end("fresh", false); }

TEST(an_idle_agent_switches_at_once) {
    rig *r = rig_new();
    phi_agent agent = agent_with_a_turn(r);
    phi_rewrite w = rewrite_of("go", NULL);
    w.switch_to = "side";
    CHECK_EQ_INT(phi_agent_rewrite(agent, &w), PHI_OK);
    CHECK_STR(phi_thread_get_info(phi_agent_thread(agent)).lane, "side");
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 0);
    CHECK_EQ_INT(phi_agent_rewrite(agent, &w), PHI_OK); /* once is enough */
    CHECK_EQ_INT(phi_thread_count(phi_agent_thread(agent)), 8);
    rig_free(r);
}

TEST(an_agent_may_go_while_a_rewrite_waits) {
    rig *r = rig_new();
    phi_agent agent = agent_with_a_turn(r);
    phi_span s = take_out(1, 1);
    phi_rewrite w = rewrite_of("x", &s);
    heard h = PHI_ZERO;
    rig_watch(r, hear, &h);
    rig_hangs(r, "");
    CHECK_EQ_INT(phi_prompt(agent, "second"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 3), 1);
    CHECK_EQ_INT(phi_agent_rewrite(agent, &w), PHI_OK);
    CHECK_EQ_INT(phi_agent_reset(agent), PHI_BUSY);
    phi_agent_free(agent);
    CHECK_EQ_INT(phi_agent_rewrite(agent, &w), PHI_STALE);
    CHECK(phi_agent_thread(agent) == NULL);
    (void)rig_run(r, 3);
    CHECK_EQ_STR(h.lines, "");
    rig_free(r);
}

TEST(a_cancelled_run_does_what_waited_and_a_reset_forgets_it_all) {
    rig *r = rig_new();
    phi_agent agent = agent_with_a_turn(r);
    phi_span s = take_out(1, 1);
    phi_rewrite w = rewrite_of("x", &s);
    heard h = PHI_ZERO;
    rig_watch(r, hear, &h);
    rig_hangs(r, "");
    CHECK_EQ_INT(phi_prompt(agent, "second"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 3), 1);
    CHECK_EQ_INT(phi_agent_rewrite(agent, &w), PHI_OK);
    CHECK_EQ_INT(phi_abort(agent), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_STR(h.lines, "x ok \n");
    CHECK_EQ_INT(phi_agent_reset(agent), PHI_OK);
    CHECK_EQ_INT(phi_thread_count(phi_agent_thread(agent)), 0);
    rig_free(r);
}

TEST(a_rewrite_that_finds_no_memory_changes_nothing) {
    int n;
    for (n = 0; n < 100; n++) {
        rig *r = rig_new();
        phi_agent agent = agent_with_a_turn(r);
        phi_span s = take_out(1, 1);
        phi_rewrite w = rewrite_of("x", &s);
        phi_status status;
        bool tripped;
        test_alloc_fail_at(n);
        status = phi_agent_rewrite(agent, &w);
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        CHECK(status == PHI_OK || (tripped && status == PHI_NO_MEMORY));
        CHECK_EQ_INT(shown(phi_agent_thread(agent)), status == PHI_OK ? 1 : 2);
        rig_free(r);
        if (!tripped) break;
    }
    CHECK(n > 0 && n < 100);
    for (n = 0; n < 100; n++) { /* and one that is put off */
        rig *r = rig_new();
        phi_agent agent = agent_with_a_turn(r);
        phi_span s = take_out(1, 1);
        phi_rewrite w = rewrite_of("x", &s), v = rewrite_of("y", &s);
        phi_status status;
        bool tripped;
        w.meta = v.meta = "{}";
        w.switch_to = v.switch_to = PHI_LANE_DEFAULT;
        rig_says(r, "two");
        CHECK_EQ_INT(phi_prompt(agent, "second"), PHI_OK);
        CHECK_EQ_INT(phi_agent_rewrite(agent, &w), PHI_OK);
        test_alloc_fail_at(n);
        status = phi_agent_rewrite(agent, &v);
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        CHECK(tripped ? status == PHI_NO_MEMORY : status == PHI_OK);
        CHECK_EQ_INT(rig_run(r, 20), 0);
        CHECK_EQ_INT(shown(phi_agent_thread(agent)), 3); /* one of the two was done */
        rig_free(r);
        if (!tripped) break;
    }
    CHECK(n > 1 && n < 100);
}

/* ---- threads ---- */

TEST(an_agents_own_thread_is_its_own) {
    rig *r = rig_new();
    phi_agent agent = agent_with_a_turn(r);
    phi_thread *thread = phi_agent_thread(agent);
    phi_agent_desc desc = rig_desc();
    phi_run_desc run = PHI_ZERO;
    phi_content c = PHI_ZERO;
    phi_message m = PHI_ZERO;
    c.kind = PHI_CONTENT_TEXT;
    c.text = PHI__LIT("x");
    m.role = PHI_ROLE_USER;
    m.content = &c;
    m.content_count = 1;
    run.agent = &desc;
    run.thread = thread;
    run.prompts = &m;
    run.prompt_count = 1;
    CHECK_EQ_INT(thread_freed(thread), PHI_MISUSE);
    CHECK(phi_run(rig_runtime(r), &run).rt == NULL);
    CHECK_EQ_INT(phi_thread_append(thread, &m, 1, NULL), PHI_OK);
    CHECK_EQ_INT(phi_thread_fork_lane(thread, "side", NULL, 1), PHI_OK);
    CHECK_EQ_INT(phi_thread_switch(thread, "side"), PHI_OK);
    rig_says(r, "on the side");
    CHECK_EQ_INT(phi_prompt(agent, "second"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK(strstr(rig_request(r, 1), "\"one\"") == NULL);
    CHECK(strstr(rig_request(r, 1), "\"first\"") != NULL);
    CHECK_EQ_INT(shown(thread), 3);
    CHECK_EQ_INT(phi_thread_get_info(thread).usage.input, phi_agent_get_info(agent).usage.input);
    rig_free(r);
}

TEST(the_agent_of_a_bare_run_shows_the_thread_that_was_lent) {
    rig *r = rig_new();
    phi_thread *thread = phi_thread_new(rig_runtime(r), 0);
    phi_agent_desc desc = rig_desc();
    phi_run_desc run = PHI_ZERO;
    phi_span s = take_out(2, 2); /* 1 is the note of what waits */
    phi_rewrite w = rewrite_of("x", &s);
    phi_content c = PHI_ZERO;
    phi_message m = PHI_ZERO;
    phi_agent first, second;
    c.kind = PHI_CONTENT_TEXT;
    c.text = PHI__LIT("x");
    m.role = PHI_ROLE_USER;
    m.content = &c;
    m.content_count = 1;
    run.agent = &desc;
    run.thread = thread;
    run.prompts = &m;
    run.prompt_count = 1;
    rig_silent(r, true);
    rig_says(r, "one");
    first = phi_run(rig_runtime(r), &run);
    REQUIRE(first.rt != NULL);
    CHECK(phi_agent_thread(first) == thread);
    CHECK_EQ_INT(phi_agent_rewrite(first, &w), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_INT(shown(thread), 1);
    rig_hangs(r, "");
    second = phi_run(rig_runtime(r), &run);
    REQUIRE(second.rt != NULL);
    w.op_id = "y";
    if (phi_agent_alive(
            first)) /* over, and its events were not popped: the thread is another's now */
        CHECK_EQ_INT(phi_agent_rewrite(first, &w), PHI_BUSY);
    CHECK_EQ_INT(thread_freed(thread), PHI_BUSY);
    rig_free(r);
}

TEST(notes_during_a_run_leave_room_for_its_prompts) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    const phi_thread *log;
    phi_agent agent;
    phi_thread *thread;
    rig_hooks(r, &desc, PHI_HOOK_BEFORE_LOOP);
    agent = rig_agent(r, &desc);
    thread = phi_agent_thread(agent);
    log = thread;
    rig_says(r, "yes");
    rig_answers(r, PHI_HOOK_BEFORE_LOOP, PHI_WAIT, NULL);
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 2), 1);
    do /* until they have what was kept for the prompt */
        CHECK_EQ_INT(phi_thread_note(thread, "n", PHI__LIT("1"), NULL), PHI_OK);
    while (log->log.count < log->log.cap);
    CHECK_EQ_INT(phi_decide(rig_ticket(r, 0), PHI_ALLOW, NULL), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_INT(shown(thread), 2);
    rig_free(r);
}

TEST(a_fork_is_a_thread_of_its_own) {
    rig *r = rig_new();
    phi_agent agent = agent_with_a_turn(r);
    phi_thread *own = phi_agent_thread(agent), *fork, *early;
    phi_content c = PHI_ZERO;
    phi_message m = PHI_ZERO;
    phi_span s = take_out(1, 1);
    phi_rewrite w = rewrite_of("x", &s);
    phi_entry e;
    c.kind = PHI_CONTENT_TEXT;
    c.text = PHI__LIT("instead");
    m.role = PHI_ROLE_USER;
    m.content = &c;
    m.content_count = 1;
    s.messages = &m;
    s.message_count = 1;
    CHECK_EQ_INT(append_with(own, &m, 1, PHI_ENTRY_DURABLE), PHI_OK);
    CHECK_EQ_INT(phi_agent_rewrite(agent, &w), PHI_OK);
    fork = phi_thread_fork(own, UINT64_MAX);
    early = phi_thread_fork(own, 1);
    REQUIRE(fork != NULL && early != NULL);
    CHECK_EQ_INT(phi_thread_count(fork), 4); /* the last one says where it came from */
    CHECK_EQ_INT(phi_thread_message_count(early), 1);
    CHECK_STR(phi_thread_message_at(early, 0)->content[0].text, "first");
    CHECK(phi_thread_fork(NULL, 0) == NULL);
    phi_agent_free(agent); /* it shares nothing */
    (void)rig_run(r, 2);
    CHECK_STR(phi_thread_message_at(fork, 0)->content[0].text, "instead");
    CHECK_STR(phi_thread_message_at(fork, 1)->content[0].text, "one");
    CHECK_EQ_INT(phi_thread_entry(fork, 2, &e), PHI_OK);
    CHECK_EQ_INT(e.flags, PHI_ENTRY_DURABLE);
    phi_thread_free(early);
    early = phi_thread_fork(fork, 0);
    REQUIRE(early != NULL);
    CHECK_EQ_INT(phi_thread_count(early), 2);
    rig_free(r); /* and the runtime frees what is left */
}

TEST(a_fork_past_the_end_takes_all) {
    rig *r = rig_new();
    phi_agent agent = agent_with_a_turn(r);
    phi_thread *own = phi_agent_thread(agent), *fork;
    uint64_t count = phi_thread_count(own);
    fork = phi_thread_fork(own, count);
    REQUIRE(fork != NULL);
    CHECK_EQ_INT(phi_thread_count(fork), 3);
    CHECK_EQ_INT(phi_thread_fork_lane(own, "side", NULL, count), PHI_OK);
    CHECK_EQ_INT(phi_thread_switch(own, "side"), PHI_OK);
    CHECK_EQ_INT(shown(own), 2);
    rig_free(r);
}

TEST(a_fork_that_finds_no_memory_is_none) {
    rig *r = rig_new();
    phi_agent agent = agent_with_a_turn(r);
    phi_thread *fork = NULL;
    int n;
    CHECK(phi_thread_id(phi_agent_thread(agent)).len > 0); /* it is made */
    for (n = 0; n < 100 && fork == NULL; n++) {
        size_t live = test_alloc_live_bytes();
        test_alloc_fail_at(n);
        fork = phi_thread_fork(phi_agent_thread(agent), UINT64_MAX);
        CHECK((fork != NULL) != test_alloc_tripped());
        test_alloc_fail_at(-1);
        if (fork == NULL) CHECK_EQ_INT(test_alloc_live_bytes(), live);
    }
    CHECK(n > 4 && fork != NULL);
    rig_free(r);
}

/* ---- calls that run other agents ---- */

static phi_flow ask_a_child(void *user_data, phi_call call, phi_str arguments) {
    phi_tool_result result = PHI_ZERO;
    (void)arguments;
    result.child_loop_id = (const char *)user_data;
    CHECK_EQ_INT(phi_call_result(call, &result), PHI_OK);
    return PHI_DONE;
}

static void spawn(const char *loop_id, const char *session_id) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tool = rig_echo();
    phi_thread *thread;
    phi_agent agent;
    phi_entry e, before;
    uint64_t i;
    size_t seen = 0;
    char copy[32];
    (void)snprintf(copy, sizeof copy, "%s", loop_id);
    tool.start = ask_a_child;
    tool.user_data = copy;
    desc.tools = &tool;
    desc.tool_count = 1;
    agent = rig_agent(r, &desc);
    thread = phi_agent_thread(agent);
    rig_call(r, "c1", "echo", "{}");
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    copy[0] = '?';
    for (i = 1; i < phi_thread_count(thread); i++) {
        CHECK_EQ_INT(phi_thread_entry(thread, i, &e), PHI_OK);
        if (e.kind != PHI_ENTRY_SPAWN) continue;
        seen++;
        CHECK_STR(e.tool_call_id, "c1");
        CHECK_STR(e.child_loop_id, loop_id);
        CHECK_STR(e.child_session_id, session_id);
        CHECK(e.loop_id.len > 0);
        CHECK_EQ_INT(phi_thread_entry(thread, i - 1, &before), PHI_OK);
        CHECK(before.kind == PHI_ENTRY_MESSAGE && before.message->role == PHI_ROLE_TOOL_RESULT);
    }
    CHECK_EQ_INT(seen, loop_id[0] != '\0' ? 1 : 0);
    rig_free(r);
}

TEST(a_call_that_ran_another_agent_is_entered) { spawn("child-7.cfg.2", "child-7"); }
TEST(a_loop_id_of_the_hosts_own_names_no_session) { spawn("mine", ""); }
TEST(a_call_that_ran_nobody_is_not) { spawn("", ""); }

TEST_MAIN(TEST_ENTRY(an_idle_agent_is_rewritten_at_once),
          TEST_ENTRY(a_duplicate_a_deferred_one_and_one_that_was_done_are_told_apart),
          TEST_ENTRY(during_a_run_it_waits_for_the_end_and_comes_behind_the_last_entry),
          TEST_ENTRY(the_latest_wins_and_the_loser_is_told),
          TEST_ENTRY(what_the_last_hook_asks_for_is_done_too),
          TEST_ENTRY(a_rewrite_that_could_never_be_valid_is_refused_at_once),
          TEST_ENTRY(a_run_that_ends_with_a_switch_is_told_as_it_was),
          TEST_ENTRY(a_run_that_ends_with_a_new_lane_is_told_as_it_was),
          TEST_ENTRY(an_idle_agent_switches_at_once),
          TEST_ENTRY(an_agent_may_go_while_a_rewrite_waits),
          TEST_ENTRY(a_cancelled_run_does_what_waited_and_a_reset_forgets_it_all),
          TEST_ENTRY(a_rewrite_that_finds_no_memory_changes_nothing),
          TEST_ENTRY(an_agents_own_thread_is_its_own),
          TEST_ENTRY(the_agent_of_a_bare_run_shows_the_thread_that_was_lent),
          TEST_ENTRY(notes_during_a_run_leave_room_for_its_prompts),
          TEST_ENTRY(a_fork_is_a_thread_of_its_own), TEST_ENTRY(a_fork_past_the_end_takes_all),
          TEST_ENTRY(a_fork_that_finds_no_memory_is_none),
          TEST_ENTRY(a_call_that_ran_another_agent_is_entered),
          TEST_ENTRY(a_loop_id_of_the_hosts_own_names_no_session),
          TEST_ENTRY(a_call_that_ran_nobody_is_not))
