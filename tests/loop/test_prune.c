/* prun and prun_with_memo in a whole run: recorded in a turn, applied at its end, seen by the next. */
#include "support/edits.h"
#include "support/context_tools.h"
#include "support/rig.h"
#include "record/event_json.h"

#include "agent/snapshot.h"
#include "log/prune.h"
#include "features/context_edits.h"
#include "agent/agent_history.h"
#include "loop/hook.h"
#include "log/log_in.h"

typedef struct world {
    rig *r;
    phi_tool tools[4];
    phi_agent agent;
} world;

static bool open_world(world *w) {
    phi_agent_desc desc = rig_desc();
    memset(w, 0, sizeof *w);
    w->r = rig_new();
    if (w->r == NULL) return false;
    (void)tools_prun(w->tools);
    w->tools[2] = rig_echo();
    w->tools[3] = rig_wait(w->r);
    desc.tools = w->tools;
    desc.tool_count = 4;
    w->agent = rig_agent(w->r, &desc);
    return w->agent.rt != NULL;
}

static void begin(world *w) {
    bool open = open_world(w);
    if (!CHECK(open)) abort();
}

static void ask(world *w, const char *text) {
    CHECK_EQ_INT(phi_prompt(w->agent, text), PHI_OK);
    CHECK_EQ_INT(rig_run(w->r, 200), 0);
}

static void check_has(const char *text, const char *what) {
    if (!CHECK(strstr(text, what) != NULL)) printf("no %s\nin\n%s\n", what, text);
}

static void check_lacks(const char *text, const char *what) {
    if (!CHECK(strstr(text, what) == NULL)) printf("%s\nin\n%s\n", what, text);
}

/* The n-th request's messages. */
static const char *sent(world *w, size_t n) {
    const char *body = rig_request(w->r, n);
    const char *at = body != NULL ? strstr(body, "\"messages\":") : NULL;
    return at != NULL ? at : "";
}

#define OLD "{\"text\":\"a long and winding list of all the houses in the village\"}"

static void two_turns(world *w, const char *name, const char *arguments) {
    begin(w);
    rig_call(w->r, "c1", "echo", OLD);
    rig_call(w->r, "c2", name, arguments);
    rig_says(w->r, "Done.");
    ask(w, "Count the houses.");
}

TEST(a_prune_shows_in_the_turn_that_follows_and_spares_its_own) {
    world w;
    two_turns(&w, "prun", "{\"tokens\":10}");
    check_has(sent(&w, 1), "winding list");
    check_lacks(sent(&w, 2), "winding list");
    check_has(sent(&w, 2), "Count the houses.");
    check_has(sent(&w, 2), "Prun request recorded: 10 tokens will be removed before next turn.");
    check_has(rig_story(w.r), "PrunApplied 2 messages, 56 tokens\nTurnEnd");
    rig_free(w.r);
}

TEST(a_memo_stands_as_the_users_in_its_place) {
    world w;
    two_turns(&w, "prun_with_memo", "{\"tokens\":10,\"memo\":\"nine houses\"}");
    check_lacks(sent(&w, 2), "winding list");
    check_has(sent(&w, 2), "\"text\":\"[Pruned context summary: nine houses]\"");
    check_has(rig_story(w.r), "PrunApplied 2 messages, 56 tokens for \"nine houses\"\n");
    CHECK(strstr(sent(&w, 2), "Count the houses.") < strstr(sent(&w, 2), "nine houses"));
    rig_free(w.r);
}

TEST(the_log_keeps_what_was_pruned_and_what_it_takes_to_do_it_again) {
    world w;
    const phi_thread *thread;
    phi_entry entry;
    uint64_t seq, messages = 0, rewrites = 0;
    two_turns(&w, "prun_with_memo", "{\"tokens\":10,\"memo\":\"nine houses\"}");
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(w.agent)), 6);
    thread = phi_agent_thread(w.agent);
    for (seq = 0; seq < phi_thread_count(thread); seq++) {
        CHECK_EQ_INT(phi_thread_entry(thread, seq, &entry), PHI_OK);
        messages += entry.kind == PHI_ENTRY_MESSAGE;
        if (entry.kind != PHI_ENTRY_REWRITE) continue;
        rewrites++;
        CHECK_EQ_INT(entry.rewrite->reason, PHI_REWRITE_PRUNE);
        CHECK_EQ_INT(entry.turn_index, 1);
        CHECK_STR(entry.loop_id, "session.anthropic.test-model.1");
        check_has(entry.rewrite->meta, "{\"tokens_removed\":56,\"messages_removed\":2,"
                                       "\"memo\":\"nine houses\",\"pruned_timestamps\":[");
    }
    CHECK_EQ_INT(messages, 6);
    CHECK_EQ_INT(rewrites, 1);
    rig_free(w.r);
}

TEST(without_anything_to_prune_nothing_is_told) {
    world w;
    begin(&w);
    rig_call(w.r, "c1", "prun", "{\"tokens\":1000}");
    rig_says(w.r, "Done.");
    ask(&w, "Count the houses.");
    check_has(sent(&w, 1), "Prun request recorded: 1000 tokens");
    check_lacks(rig_story(w.r), "PrunApplied");
    rig_free(w.r);
}

TEST(no_tokens_are_an_error_that_the_model_reads) {
    static const char *const bad[] = {"{}", "{\"tokens\":0}"};
    size_t i;
    for (i = 0; i < 2; i++) {
        world w;
        two_turns(&w, "prun", bad[i]);
        check_has(sent(&w, 2), "Invalid arguments: tokens must be > 0");
        check_has(sent(&w, 2), "winding list");
        check_lacks(rig_story(w.r), "PrunApplied");
        rig_free(w.r);
    }
}

TEST(other_bad_arguments_are_told_too) {
    world w;
    two_turns(&w, "prun", "{\"tokens\":-5}");
    check_has(sent(&w, 2), "Invalid arguments: 'tokens' must be a whole number, 0 or more");
    rig_free(w.r);
    two_turns(&w, "prun_with_memo", "{\"tokens\":5}");
    check_has(sent(&w, 2), "Invalid arguments: missing 'memo' parameter");
    check_lacks(rig_story(w.r), "PrunApplied");
    rig_free(w.r);
}

TEST(wishes_of_one_turn_are_added_up) {
    static const char *const calls[] = {"c3 prun_with_memo {\"tokens\":50,\"memo\":\"one\"}",
                                        "c4 prun {\"tokens\":10}",
                                        "c5 prun_with_memo {\"tokens\":10,\"memo\":\"two\"}"};
    world w;
    begin(&w);
    rig_call(w.r, "c1", "echo", OLD); /* 56 tokens with its result */
    rig_call(w.r, "c2", "echo", OLD);
    rig_calls(w.r, calls, 3);
    rig_says(w.r, "Done.");
    ask(&w, "Count the houses.");
    check_has(rig_story(w.r), "PrunApplied 4 messages, 112 tokens for \"one\ntwo\"\n");
    check_has(sent(&w, 3), "[Pruned context summary: one\\ntwo]");
    check_lacks(sent(&w, 3), "winding list");
    rig_free(w.r);
}

TEST(a_wish_is_for_its_own_turn_only) {
    world w;
    begin(&w);
    rig_call(w.r, "c1", "prun", "{\"tokens\":10}"); /* nothing is there yet */
    rig_call(w.r, "c2", "echo", OLD);
    rig_says(w.r, "Done.");
    ask(&w, "Count the houses.");
    check_has(sent(&w, 2), "winding list");
    rig_free(w.r);
}

TEST(earlier_runs_are_pruned_first_and_their_users_stay) {
    world w;
    begin(&w);
    rig_says(w.r, "Good day to you, traveller, and welcome to our village.");
    ask(&w, "Hello.");
    rig_call(w.r, "c1", "echo", OLD);
    rig_call(w.r, "c2", "prun", "{\"tokens\":1}");
    rig_says(w.r, "Done.");
    ask(&w, "Count the houses.");
    check_lacks(sent(&w, 3), "Good day");
    check_has(sent(&w, 3), "Hello.");
    check_has(sent(&w, 3), "winding list");
    rig_free(w.r);
}

TEST(a_turn_that_was_aborted_still_prunes) {
    static const char *const calls[] = {"c2 prun {\"tokens\":10}", "c3 wait {}"};
    world w;
    begin(&w);
    rig_call(w.r, "c1", "echo", OLD);
    rig_calls(w.r, calls, 2);
    rig_says(w.r, "Later.");
    CHECK_EQ_INT(phi_prompt(w.agent, "Count the houses."), PHI_OK);
    CHECK_EQ_INT(rig_run(w.r, 40), 1);
    CHECK_EQ_INT(phi_abort(w.agent), PHI_OK);
    CHECK_EQ_INT(rig_run(w.r, 40), 0);
    check_has(rig_story(w.r), "PrunApplied 2 messages, 56 tokens\nTurnEnd");
    ask(&w, "And now?");
    check_lacks(sent(&w, 2), "winding list");
    check_has(sent(&w, 2), "Cancelled");
    rig_free(w.r);
}

TEST(a_snapshot_keeps_a_wish) {
    static const char *const calls[] = {"c2 prun_with_memo {\"tokens\":10,\"memo\":\"nine\"}",
                                        "c3 wait {}"};
    phi_agent_desc desc = rig_desc();
    phi_pending_item item;
    phi_memory memory;
    phi_arena arena;
    phi_str saved;
    world w, again;
    begin(&w);
    rig_call(w.r, "c1", "echo", OLD);
    rig_calls(w.r, calls, 2);
    CHECK_EQ_INT(phi_prompt(w.agent, "Count the houses."), PHI_OK);
    CHECK_EQ_INT(rig_run(w.r, 40), 1);
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    REQUIRE(CHECK_EQ_INT(phi_agent_snapshot(w.agent, &arena, &saved), PHI_OK));
    rig_free(w.r);
    begin(&again);
    phi_agent_free(again.agent);
    desc.tools = again.tools;
    desc.tool_count = 4;
    again.agent = phi_agent_restore(rig_runtime(again.r), &desc, saved, PHI_RESTORE_RESUME);
    phi_arena_free(&arena);
    REQUIRE(again.agent.rt != NULL);
    rig_says(again.r, "Done.");
    CHECK_EQ_INT(rig_run(again.r, 5), 1);
    REQUIRE(CHECK_EQ_INT(phi_pending(rig_runtime(again.r), &item, 1), 1));
    CHECK_EQ_INT(phi_call_reply(item.call, "there"), PHI_OK);
    CHECK_EQ_INT(rig_run(again.r, 40), 0);
    check_has(rig_story(again.r), "PrunApplied 2 messages, 56 tokens for \"nine\"\n");
    check_has(sent(&again, 0), "[Pruned context summary: nine]");
    check_lacks(sent(&again, 0), "winding list");
    rig_free(again.r);
}

/* ---- a host's own tool ---- */

static phi_status said[4];

static phi_flow forget_start(void *user_data, phi_call call, phi_str arguments) {
    (void)user_data;
    (void)arguments;
    said[0] = call_prune(call, 0, phi_str_of(NULL));
    said[1] = call_prune(call, 1, phi_str_of(""));
    (void)phi_call_reply(call, "forgotten");
    return PHI_PENDING;
}

TEST(a_host_makes_a_tool_of_its_own) {
    phi_agent_desc desc = rig_desc();
    phi_tool tools[2];
    world w;
    phi_call none = PHI_ZERO;
    memset(&w, 0, sizeof w);
    w.r = rig_new();
    memset(tools, 0, sizeof tools);
    tools[0].name = "forget";
    tools[0].description = "Forgets";
    tools[0].start = forget_start;
    tools[1] = rig_echo();
    desc.tools = tools;
    desc.tool_count = 2;
    w.agent = rig_agent(w.r, &desc);
    rig_call(w.r, "c1", "echo", OLD);
    rig_call(w.r, "c2", "forget", "{}");
    rig_says(w.r, "Done.");
    ask(&w, "Count the houses.");
    CHECK_EQ_INT(said[0], PHI_BAD_ARG);
    CHECK_EQ_INT(said[1], PHI_OK);
    check_has(rig_story(w.r), "PrunApplied 2 messages, 56 tokens\n");
    CHECK_EQ_INT(call_prune(none, 1, phi_str_of(NULL)), PHI_BAD_ARG);
    none.rt = rig_runtime(w.r);
    CHECK_EQ_INT(call_prune(none, 1, phi_str_of(NULL)), PHI_STALE);
    rig_free(w.r);
}

/* A note, one for which there is no memory, and another note. */
static phi_flow note_start(void *user_data, phi_call call, phi_str arguments) {
    static char large[100000];
    (void)user_data;
    (void)arguments;
    memset(large, 'x', sizeof large);
    said[0] = call_prune(call, 1, phi_str_of("nine houses"));
    test_alloc_fail_from(0);
    said[1] = call_prune(call, 1, phi__str(large, sizeof large));
    test_alloc_fail_from(-1);
    said[2] = call_prune(call, 1, phi_str_of("one well"));
    (void)phi_call_reply(call, "noted");
    return PHI_PENDING;
}

TEST(a_memo_without_memory_leaves_the_others_as_they_are) {
    phi_agent_desc desc = rig_desc();
    phi_tool tools[2];
    world w;
    memset(&w, 0, sizeof w);
    w.r = rig_new();
    memset(tools, 0, sizeof tools);
    tools[0].name = "note";
    tools[0].description = "Notes";
    tools[0].start = note_start;
    tools[1] = rig_echo();
    desc.tools = tools;
    desc.tool_count = 2;
    w.agent = rig_agent(w.r, &desc);
    rig_call(w.r, "c1", "echo", OLD);
    rig_call(w.r, "c2", "note", "{}");
    rig_says(w.r, "Done.");
    ask(&w, "Count the houses.");
    CHECK_EQ_INT(said[0], PHI_OK);
    CHECK_EQ_INT(said[1], PHI_NO_MEMORY);
    CHECK_EQ_INT(said[2], PHI_OK);
    check_has(sent(&w, 2), "\"text\":\"[Pruned context summary: nine houses\\none well]\"");
    rig_free(w.r);
}

/* ---- events ---- */

static char json[600];

static void keep_json(void *user_data, const phi_event *event) {
    phi_memory memory;
    phi_arena arena;
    phi_str text, again;
    phi_event back;
    (void)user_data;
    if (event->kind != PHI_EV_PRUNED) return;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(phi_event_to_json(event, &arena, &text), PHI_OK);
    (void)snprintf(json, sizeof json, "%.*s", (int)text.len, text.at);
    CHECK_EQ_INT(phi_event_from_json(text, &arena, &back, NULL), PHI_OK);
    CHECK_EQ_INT(back.pruned->timestamp_count, 2);
    CHECK_EQ_INT(phi_event_to_json(&back, &arena, &again), PHI_OK);
    CHECK_STR(again, json);
    phi_arena_free(&arena);
}

TEST(the_event_has_its_interchange_form) {
    world w;
    begin(&w);
    rig_watch(w.r, keep_json, NULL);
    rig_call(w.r, "c1", "echo", OLD);
    rig_call(w.r, "c2", "prun", "{\"tokens\":10}");
    rig_says(w.r, "Done.");
    ask(&w, "Count the houses.");
    CHECK_EQ_STR(json, "{\"type\":\"PrunApplied\",\"loop_id\":\"session.anthropic.test-model.1\","
                       "\"tokens_removed\":56,\"messages_removed\":2,\"memo\":null,"
                       "\"pruned_timestamps\":[1000001,1000001],"
                       "\"timestamp\":\"1970-01-01T00:16:40.002Z\"}");
    rig_free(w.r);
}

/* ---- without memory ---- */

static bool prune_without(int n, bool *tripped) {
    world w;
    bool open;
    test_alloc_fail_at(n);
    open = open_world(&w);
    if (open) {
        rig_call(w.r, "c1", "echo", OLD);
        rig_call(w.r, "c2", "prun_with_memo", "{\"tokens\":10,\"memo\":\"nine\"}");
        rig_says(w.r, "Done.");
        if (phi_prompt(w.agent, "Count the houses.") == PHI_OK) (void)rig_run(w.r, 200);
        *tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        rig_drop_answers(w.r);
        rig_says(w.r, "Still here.");
        rig_forget(w.r);
        ask(&w, "And now?");
        check_has(rig_story(w.r), "AgentEnd ok");
    }
    test_alloc_fail_at(-1);
    rig_free(w.r);
    return CHECK_EQ_INT(test_alloc_live_bytes(), 0);
}

TEST(a_prune_survives_every_failed_allocation) {
    bool tripped = true;
    int n;
    for (n = 0; tripped && n < 4000; n++) {
        if (!prune_without(n, &tripped)) {
            printf("at allocation %d\n", n);
            return;
        }
    }
    CHECK(n > 20 && n < 4000);
}

TEST_MAIN(TEST_ENTRY(a_prune_shows_in_the_turn_that_follows_and_spares_its_own),
          TEST_ENTRY(a_memo_stands_as_the_users_in_its_place),
          TEST_ENTRY(the_log_keeps_what_was_pruned_and_what_it_takes_to_do_it_again),
          TEST_ENTRY(without_anything_to_prune_nothing_is_told),
          TEST_ENTRY(no_tokens_are_an_error_that_the_model_reads),
          TEST_ENTRY(other_bad_arguments_are_told_too), TEST_ENTRY(wishes_of_one_turn_are_added_up),
          TEST_ENTRY(a_wish_is_for_its_own_turn_only),
          TEST_ENTRY(earlier_runs_are_pruned_first_and_their_users_stay),
          TEST_ENTRY(a_turn_that_was_aborted_still_prunes), TEST_ENTRY(a_snapshot_keeps_a_wish),
          TEST_ENTRY(a_host_makes_a_tool_of_its_own),
          TEST_ENTRY(a_memo_without_memory_leaves_the_others_as_they_are),
          TEST_ENTRY(the_event_has_its_interchange_form),
          TEST_ENTRY(a_prune_survives_every_failed_allocation))
