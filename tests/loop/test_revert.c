/* revert_to_state in a whole run: steps have names, and what followed one goes when the turn is over. */
#include "support/edits.h"
#include "support/context_tools.h"
#include "support/rig.h"
#include "record/event_json.h"

#include "agent/snapshot.h"
#include "features/context_edits.h"
#include "log/revert.h"
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
    (void)tools_revert(w->tools);
    w->tools[1] = rig_echo();
    (void)tools_prun(w->tools + 2);
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

static size_t rewrites(const world *w) {
    const phi_thread *thread = phi_agent_thread(w->agent);
    phi_entry entry;
    uint64_t seq;
    size_t n = 0;
    for (seq = 0; phi_thread_entry(thread, seq, &entry) == PHI_OK; seq++)
        n += entry.kind == PHI_ENTRY_REWRITE;
    return n;
}

/* 0 LOOP_START 1 user 2 TURN_START 3 call 4 result 5 TURN_END 6 TURN_START 7 call 8 result 9 TURN_END
   10 TURN_START 11 revert */
static void cellar(world *w, const char *arguments) {
    begin(w);
    rig_call(w->r, "c1", "echo", "{\"at\":\"square\"}");
    rig_call(w->r, "c2", "echo", "{\"at\":\"cellar\"}");
    rig_call(w->r, "c3", "revert_to_state", arguments);
    rig_says(w->r, "The square, then.");
    ask(w, "Find the key.");
}

#define BACK "{\"category\":\"failure\",\"step\":\"n4\",\"summary\":\"the cellar is empty\"}"

TEST(results_end_with_the_name_of_their_step) {
    world w;
    cellar(&w, BACK);
    check_has(sent(&w, 1), "square\\\"}\"},{\"type\":\"text\",\"text\":\"[step n4]\"");
    check_has(sent(&w, 2), "cellar\\\"}\"},{\"type\":\"text\",\"text\":\"[step n8]\"");
    rig_free(w.r);
}

TEST(a_name_does_not_change_once_it_was_sent) {
    world w;
    const char *first, *again;
    cellar(&w, BACK);
    first = strstr(sent(&w, 1), "\"tool_result\"");
    again = strstr(sent(&w, 2), "\"tool_result\"");
    REQUIRE(first != NULL && again != NULL);
    CHECK(memcmp(first, again, (size_t)(strstr(first, "[step n4]") - first) + 9) == 0);
    rig_free(w.r);
}

TEST(what_followed_the_step_goes_and_a_tag_stands_there) {
    phi_entry entry;
    world w;
    cellar(&w, BACK);
    check_has(sent(&w, 2), "cellar");
    check_has(sent(&w, 3), "square");
    check_has(sent(&w, 3), "\"text\":\"[Reverted to step n4 (failure): the cellar is empty]\"");
    check_lacks(sent(&w, 3), "revert_to_state");
    check_lacks(sent(&w, 3), "{\\\"at\\\":\\\"cellar");
    check_has(rig_story(w.r), "RevertApplied failure to n4, 4 abandoned\nTurnEnd");
    CHECK_EQ_INT(rewrites(&w), 1);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(w.agent)),
                 8); /* the log has all of it */
    CHECK_EQ_INT(phi_thread_entry(phi_agent_thread(w.agent), 13, &entry), PHI_OK);
    REQUIRE(CHECK_EQ_INT(entry.kind, PHI_ENTRY_REWRITE));
    CHECK_EQ_INT(entry.rewrite->reason, PHI_REWRITE_REVERT);
    CHECK_EQ_STR(entry.rewrite->meta, "{\"category\":\"failure\",\"target\":4,\"abandoned_node_"
                                      "ids\":[7,8,11,12],\"summary\":\"the cellar is empty\"}");
    rig_free(w.r);
}

TEST(the_step_is_named_with_or_without_its_letter) {
    world w;
    cellar(&w, "{\"category\":\"tangent\",\"step\":\"4\"}");
    check_has(sent(&w, 3), "\"text\":\"[Reverted to step n4 (tangent)]\"");
    check_lacks(sent(&w, 3), "cellar");
    rig_free(w.r);
}

TEST(a_step_that_is_not_there_is_refused_and_nothing_changes) {
    static const char *const steps[] = {
        "{\"category\":\"failure\",\"step\":\"n99\"}", /* past the end */
        "{\"category\":\"failure\",\"step\":\"n3\"}",  /* an answer has no name */
        "{\"category\":\"failure\",\"step\":\"n1\"}",  /* nor has the user's message */
        "{\"category\":\"failure\",\"step\":\"n12\"}"  /* it is this very call's */
    };
    size_t i;
    for (i = 0; i < 4; i++) {
        world w;
        cellar(&w, steps[i]);
        check_has(sent(&w, 3), "Revert rejected: step n");
        check_has(sent(&w, 3), "was not found");
        check_has(sent(&w, 3), "cellar");
        check_has(rig_story(w.r), " abandoned: step n");
        CHECK_EQ_INT(rewrites(&w), 0);
        rig_free(w.r);
    }
}

TEST(nobody_goes_back_over_a_users_message) {
    world w;
    begin(&w);
    rig_call(w.r, "c1", "echo", "{\"at\":\"square\"}");
    rig_says(w.r, "Nothing there.");
    ask(&w, "Find the key.");
    rig_forget(w.r);
    rig_call(w.r, "c2", "revert_to_state", "{\"category\":\"tangent\",\"step\":\"n4\"}");
    rig_says(w.r, "Well.");
    ask(&w, "Look in the cellar.");
    check_has(sent(&w, 3), "Revert rejected: a user message stands behind step n4");
    check_has(sent(&w, 3), "Nothing there.");
    check_has(rig_story(w.r),
              "RevertApplied tangent to n4, 0 abandoned: a user message stands behind step n4\n");
    CHECK_EQ_INT(rewrites(&w), 0);
    rig_free(w.r);
}

TEST(bad_arguments_are_told) {
    static const char *const bad[][2] = {
        {"{\"step\":\"n4\"}", "Invalid arguments: missing 'category' parameter"},
        {"{\"category\":\"failure\"}", "Invalid arguments: missing 'step' parameter"},
        {"{\"category\":\"bored\",\"step\":\"n4\"}",
         "Invalid arguments: category must be failure, tangent, completion or step-summary"},
        {"{\"category\":\"failure\",\"step\":\"four\"}",
         "Invalid arguments: step must be one that is shown, such as n12"}};
    size_t i;
    for (i = 0; i < 4; i++) {
        world w;
        cellar(&w, bad[i][0]);
        check_has(sent(&w, 3), bad[i][1]);
        check_lacks(rig_story(w.r), "RevertApplied");
        CHECK_EQ_INT(rewrites(&w), 0);
        rig_free(w.r);
    }
}

TEST(results_of_one_answer_are_one_step) {
    static const char *const calls[] = {"c1 echo {\"at\":\"square\"}", "c2 echo {\"at\":\"inn\"}"};
    world w;
    begin(&w);
    rig_calls(w.r, calls, 2);                           /* results 4, 5 */
    rig_call(w.r, "c3", "echo", "{\"at\":\"cellar\"}"); /* result 9 */
    rig_call(w.r, "c4", "revert_to_state",
             "{\"category\":\"step-summary\",\"step\":\"n4\",\"summary\":\"no key\"}");
    rig_says(w.r, "Well.");
    ask(&w, "Find the key.");
    check_has(sent(&w, 3), "inn");
    check_lacks(sent(&w, 3), "cellar");
    check_has(sent(&w, 3), "[Reverted to step n4 (step-summary): no key]");
    rig_free(w.r);
}

TEST(the_last_wish_of_a_turn_counts) {
    static const char *const calls[] = {
        "c3 revert_to_state {\"category\":\"failure\",\"step\":\"n4\"}",
        "c4 revert_to_state {\"category\":\"completion\",\"step\":\"n8\"}"};
    world w;
    begin(&w);
    rig_call(w.r, "c1", "echo", "{\"at\":\"square\"}");
    rig_call(w.r, "c2", "echo", "{\"at\":\"cellar\"}");
    rig_calls(w.r, calls, 2);
    rig_says(w.r, "Well.");
    ask(&w, "Find the key.");
    check_has(sent(&w, 3), "cellar");
    check_has(sent(&w, 3), "[Reverted to step n8 (completion)]");
    check_has(rig_story(w.r), "RevertApplied failure to n4, 0 abandoned: a later one of the same "
                              "turn took its place\n");
    check_has(rig_story(w.r), "RevertApplied completion to n8, 3 abandoned\n");
    CHECK_EQ_INT(rewrites(&w), 1);
    rig_free(w.r);
}

TEST(a_tag_of_an_earlier_revert_goes_with_what_is_reverted_again) {
    world w;
    begin(&w);
    rig_call(w.r, "c1", "echo", "{\"at\":\"square\"}");
    rig_call(w.r, "c2", "echo", "{\"at\":\"cellar\"}");
    rig_call(w.r, "c3", "revert_to_state", BACK);
    rig_call(w.r, "c4", "echo", "{\"at\":\"attic\"}");
    rig_call(w.r, "c5", "revert_to_state",
             "{\"category\":\"tangent\",\"step\":\"n4\",\"summary\":\"nor the attic\"}");
    rig_says(w.r, "Well.");
    ask(&w, "Find the key.");
    check_has(sent(&w, 5), "[Reverted to step n4 (tangent): nor the attic]");
    check_lacks(sent(&w, 5), "the cellar is empty");
    check_lacks(sent(&w, 5), "{\\\"at\\\":\\\"attic");
    check_has(rig_story(w.r), "RevertApplied tangent to n4, 4 abandoned\n");
    rig_free(w.r);
}

/* Goes `count` times from the last step to a place and back again. Each turn of walking names another
   step: what is behind the line of the last revert. */
static void dead_ends(world *w, const char *category, const char *place, int count) {
    char arguments[200];
    int i;
    for (i = 0; i < count; i++) {
        const phi_thread *thread = phi_agent_thread(w->agent);
        (void)snprintf(arguments, sizeof arguments, "{\"at\":\"%s %d\"}", place, i);
        rig_call(w->r, "c1", "echo", arguments);
        /* LOOP_START, the user, TURN_START, the call: the result is the fifth entry. */
        (void)snprintf(arguments, sizeof arguments,
                       "{\"category\":\"%s\",\"step\":\"n%u\",\"summary\":\"%s %d is empty\"}",
                       category, (unsigned)phi_thread_count(thread) + 4, place, i);
        rig_call(w->r, "c2", "echo", "{\"at\":\"deeper\"}");
        rig_call(w->r, "c3", "revert_to_state", arguments);
        rig_says(w->r, "Back.");
        ask(w, "Go on.");
        check_has(rig_story(w->r), "RevertApplied");
    }
}

TEST(lines_of_failures_and_tangents_age_and_those_of_what_was_done_stay) {
    world w;
    const char *view;
    begin(&w);
    dead_ends(&w, "failure", "cellar", 3);
    dead_ends(&w, "completion", "attic", 5);
    dead_ends(&w, "tangent", "garden", 1);
    rig_says(w.r, "Here.");
    ask(&w, "What is there?");
    view = sent(&w, rig_requests(w.r) - 1);
    check_has(view, "cellar 0 is empty"); /* old, but one of three */
    check_has(view, "attic 0 is empty");
    dead_ends(&w, "failure", "shed", 2);
    rig_says(w.r, "Here.");
    ask(&w, "What is there?");
    view = sent(&w, rig_requests(w.r) - 1);
    check_lacks(view, "cellar 0 is empty");
    check_lacks(view, "cellar 1 is empty");
    check_has(view, "cellar 2 is empty");
    check_has(view, "shed 0 is empty");
    check_has(view, "shed 1 is empty");
    check_has(view, "attic 0 is empty"); /* what was done stays, however much of it */
    check_has(view, "attic 4 is empty");
    check_has(view, "garden 0 is empty");
    rig_free(w.r);
}

/* In one run: an answer stands between two lines, and two more are given up with each revert. */
TEST(fresh_lines_stay_though_there_are_three_newer_ones) {
    char arguments[100], place[40];
    world w;
    int i;
    begin(&w);
    for (i = 0; i < 5; i++) {
        (void)snprintf(arguments, sizeof arguments,
                       "{\"category\":\"failure\",\"step\":\"n%d\",\"summary\":\"end %d\"}",
                       4 + 13 * i, i);
        (void)snprintf(place, sizeof place, "{\"at\":\"square %d\"}", i);
        rig_call(w.r, "c1", "echo", place);
        (void)snprintf(place, sizeof place, "{\"at\":\"deeper %d\"}", i);
        rig_call(w.r, "c2", "echo", place);
        rig_call(w.r, "c3", "revert_to_state", arguments);
    }
    rig_says(w.r, "Here.");
    ask(&w, "Find the key.");
    check_has(sent(&w, 12), "end 0]");
    check_has(sent(&w, 12), "end 3]");
    check_lacks(sent(&w, 15), "end 0]"); /* six turns are behind it, and four newer lines */
    check_has(sent(&w, 15), "end 1]");   /* five, and three */
    check_has(sent(&w, 15), "end 4]");
    rig_free(w.r);
}

TEST(lines_that_were_carried_over_into_a_new_session_age_as_well) {
    world w;
    const char *view;
    begin(&w);
    dead_ends(&w, "failure", "cellar", 3);
    CHECK_EQ_INT(phi_agent_new_session(w.agent, false), PHI_OK);
    rig_says(w.r, "Here.");
    ask(&w, "What is there?");
    check_has(sent(&w, rig_requests(w.r) - 1), "cellar 0 is empty");
    dead_ends(&w, "failure", "shed", 2);
    rig_says(w.r, "Here.");
    ask(&w, "What is there?");
    view = sent(&w, rig_requests(w.r) - 1);
    check_lacks(view, "cellar 1 is empty");
    check_has(view, "cellar 2 is empty");
    check_has(view, "shed 1 is empty");
    rig_free(w.r);
}

TEST(what_was_reverted_is_no_step_any_more) {
    world w;
    begin(&w);
    rig_call(w.r, "c1", "echo", "{\"at\":\"square\"}");
    rig_call(w.r, "c2", "echo", "{\"at\":\"cellar\"}");
    rig_call(w.r, "c3", "revert_to_state", BACK);
    rig_call(w.r, "c4", "revert_to_state", "{\"category\":\"tangent\",\"step\":\"n8\"}");
    rig_says(w.r, "Well.");
    ask(&w, "Find the key.");
    check_has(sent(&w, 4), "Revert rejected: step n8 was not found");
    rig_free(w.r);
}

TEST(a_prune_of_the_same_turn_comes_after_it) {
    static const char *const calls[] = {
        "c4 prun {\"tokens\":1}",
        "c5 revert_to_state {\"category\":\"completion\",\"step\":\"n8\"}"};
    world w;
    begin(&w);
    rig_call(w.r, "c1", "echo", "{\"at\":\"square\"}");
    rig_call(w.r, "c2", "echo", "{\"at\":\"cellar\"}");
    rig_call(w.r, "c3", "echo", "{\"at\":\"attic\"}");
    rig_calls(w.r, calls, 2);
    rig_says(w.r, "Well.");
    ask(&w, "Find the key.");
    check_lacks(sent(&w, 4), "square");
    check_has(sent(&w, 4), "cellar");
    check_lacks(sent(&w, 4), "attic");
    check_has(rig_story(w.r), "RevertApplied completion to n8, 5 abandoned\nPrunApplied 2 mess");
    rig_free(w.r);
}

TEST(names_of_a_restored_history_are_not_taken_for_its_entries) {
    world w, other;
    phi_memory memory;
    phi_arena arena;
    phi_str saved;
    cellar(&w, BACK);
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(phi_agent_messages_to_json(w.agent, &arena, &saved), PHI_OK);
    begin(&other);
    REQUIRE(CHECK_EQ_INT(phi_agent_messages_from_json(other.agent, saved, NULL), PHI_OK));
    rig_call(other.r, "d1", "echo", "{\"at\":\"attic\"}");
    rig_call(other.r, "d2", "revert_to_state", "{\"category\":\"failure\",\"step\":\"n4\"}");
    rig_says(other.r, "Well.");
    ask(&other, "And now?");
    check_has(sent(&other, 2), "Revert rejected: step n4 was not found");
    phi_arena_free(&arena);
    rig_free(other.r);
    rig_free(w.r);
}

TEST(without_the_tool_no_step_is_named_and_it_is_not_offered) {
    phi_agent_desc desc = rig_desc();
    phi_tool echo = rig_echo();
    world w;
    memset(&w, 0, sizeof w);
    w.r = rig_new();
    desc.tools = &echo;
    desc.tool_count = 1;
    w.agent = rig_agent(w.r, &desc);
    rig_call(w.r, "c1", "echo", "{\"at\":\"square\"}");
    rig_says(w.r, "Well.");
    ask(&w, "Find the key.");
    check_lacks(rig_request(w.r, 1), "[step");
    check_lacks(rig_request(w.r, 1), "revert_to_state");
    rig_free(w.r);
}

TEST(a_snapshot_keeps_a_wish) {
    static const char *const calls[] = {
        "c3 revert_to_state {\"category\":\"failure\",\"step\":\"n4\",\"summary\":\"no\"}",
        "c4 wait {}"};
    phi_agent_desc desc = rig_desc();
    phi_pending_item item;
    phi_memory memory;
    phi_arena arena;
    phi_str saved;
    phi_tool tools[3];
    rig *r = rig_new(), *again = rig_new();
    phi_agent agent;
    (void)tools_revert(tools);
    tools[1] = rig_echo();
    tools[2] = rig_wait(r);
    desc.tools = tools;
    desc.tool_count = 3;
    agent = rig_agent(r, &desc);
    rig_call(r, "c1", "echo", "{\"at\":\"square\"}");
    rig_calls(r, calls, 2);
    CHECK_EQ_INT(phi_prompt(agent, "Find the key."), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 40), 1);
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    REQUIRE(CHECK_EQ_INT(phi_agent_snapshot(agent, &arena, &saved), PHI_OK));
    tools[2] = rig_wait(again);
    agent = phi_agent_restore(rig_runtime(again), &desc, saved, PHI_RESTORE_RESUME);
    phi_arena_free(&arena);
    REQUIRE(agent.rt != NULL);
    rig_says(again, "Done.");
    CHECK_EQ_INT(rig_run(again, 5), 1);
    REQUIRE(CHECK_EQ_INT(phi_pending(rig_runtime(again), &item, 1), 1));
    CHECK_EQ_INT(phi_call_reply(item.call, "there"), PHI_OK);
    CHECK_EQ_INT(rig_run(again, 40), 0);
    check_has(rig_story(again), "RevertApplied failure to n4, 3 abandoned\n");
    check_has(rig_request(again, 0), "[Reverted to step n4 (failure): no]");
    check_has(rig_request(again, 0), "[step n4]");
    rig_free(again);
    rig_free(r);
}

/* ---- a host's own tool ---- */

static phi_status said[4];
static char words[80];

static phi_flow back_start(void *user_data, phi_call call, phi_str arguments) {
    (void)user_data;
    (void)arguments;
    said[0] = call_revert(call, (phi_revert_category)0, 4, phi_str_of(NULL), words, 80);
    said[1] = call_revert(call, PHI_REVERT_FAILURE, 77, phi_str_of(NULL), words, sizeof words);
    said[2] = call_revert(call, PHI_REVERT_FAILURE, 77, phi_str_of(NULL), NULL, 0);
    said[3] = call_revert(call, PHI_REVERT_FAILURE, 4, phi_str_of("nothing"), NULL, 0);
    return PHI_DONE;
}

TEST(a_host_makes_a_revert_tool_of_its_own) {
    phi_agent_desc desc = rig_desc();
    phi_tool tools[2];
    phi_call none = PHI_ZERO;
    world w;
    memset(&w, 0, sizeof w);
    w.r = rig_new();
    memset(tools, 0, sizeof tools);
    tools[0].name = "back";
    tools[0].description = "Goes back";
    tools[0].start = back_start;
    tools[0].names_steps = true;
    tools[1] = rig_echo();
    desc.tools = tools;
    desc.tool_count = 2;
    w.agent = rig_agent(w.r, &desc);
    rig_call(w.r, "c1", "echo", "{\"at\":\"square\"}");
    rig_call(w.r, "c2", "back", "{}");
    rig_says(w.r, "Well.");
    ask(&w, "Find the key.");
    CHECK_EQ_INT(said[0], PHI_BAD_ARG);
    CHECK_EQ_INT(said[1], PHI_REJECTED);
    CHECK_EQ_STR(words, "step n77 was not found");
    CHECK_EQ_INT(said[2], PHI_REJECTED);
    CHECK_EQ_INT(said[3], PHI_OK);
    check_has(sent(&w, 2), "[Reverted to step n4 (failure): nothing]");
    CHECK_EQ_INT(call_revert(none, PHI_REVERT_FAILURE, 4, phi_str_of(NULL), NULL, 0), PHI_BAD_ARG);
    none.rt = rig_runtime(w.r);
    CHECK_EQ_INT(call_revert(none, PHI_REVERT_FAILURE, 4, phi_str_of(NULL), NULL, 0), PHI_STALE);
    rig_free(w.r);
}

TEST(misuse_of_the_plan_is_a_status) {
    phi_revert revert = PHI_ZERO;
    phi_rewrite rewrite;
    phi_reverted reverted;
    phi_memory memory;
    phi_arena arena;
    world w;
    const phi_thread *thread;
    begin(&w);
    thread = phi_agent_thread(w.agent);
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(phi__revert_plan(thread, &revert, &arena, &rewrite, &reverted), PHI_BAD_ARG);
    revert.category = PHI_REVERT_FAILURE;
    CHECK_EQ_INT(phi__revert_plan(NULL, &revert, &arena, &rewrite, &reverted), PHI_BAD_ARG);
    CHECK_EQ_INT(phi__revert_plan(thread, NULL, &arena, &rewrite, &reverted), PHI_BAD_ARG);
    CHECK_EQ_INT(phi__revert_plan(thread, &revert, NULL, &rewrite, &reverted), PHI_BAD_ARG);
    CHECK_EQ_INT(phi__revert_plan(thread, &revert, &arena, NULL, &reverted), PHI_BAD_ARG);
    CHECK_EQ_INT(phi__revert_plan(thread, &revert, &arena, &rewrite, NULL), PHI_BAD_ARG);
    CHECK_EQ_INT(phi__revert_plan(thread, &revert, &arena, &rewrite, &reverted), PHI_OK);
    CHECK(!reverted.applied);
    CHECK_STR(reverted.reason, "step n0 was not found");
    CHECK_EQ_STR(phi__revert_word((phi_revert_category)9), "");
    phi_arena_free(&arena);
    rig_free(w.r);
}

/* ---- events ---- */

static char json[2][600];
static size_t json_count;

static void keep_json(void *user_data, const phi_event *event) {
    phi_memory memory;
    phi_arena arena;
    phi_str text, again;
    phi_event back;
    (void)user_data;
    if (event->kind != PHI_EV_REVERTED || json_count == 2) return;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(phi_event_to_json(event, &arena, &text), PHI_OK);
    (void)snprintf(json[json_count], sizeof json[0], "%.*s", (int)text.len, text.at);
    CHECK_EQ_INT(phi_event_from_json(text, &arena, &back, NULL), PHI_OK);
    CHECK_EQ_INT(phi_event_to_json(&back, &arena, &again), PHI_OK);
    CHECK_STR(again, json[json_count++]);
    phi_arena_free(&arena);
}

TEST(the_event_has_its_interchange_form) {
    static const char *const calls[] = {
        "c2 revert_to_state {\"category\":\"failure\",\"step\":\"n99\"}",
        "c3 revert_to_state {\"category\":\"failure\",\"step\":\"n4\",\"summary\":\"no\"}"};
    world w;
    json_count = 0;
    begin(&w);
    rig_watch(w.r, keep_json, NULL);
    rig_call(w.r, "c1", "echo", "{\"at\":\"square\"}");
    rig_calls(w.r, calls, 2);
    rig_says(w.r, "Well.");
    ask(&w, "Find the key.");
    CHECK_EQ_STR(json[0],
                 "{\"type\":\"RevertApplied\",\"loop_id\":\"session.anthropic.test-model.1\","
                 "\"category\":\"failure\",\"target\":99,\"abandoned_node_ids\":[],"
                 "\"summary\":null,\"applied\":false,\"reason\":\"step n99 was not found\","
                 "\"timestamp\":\"1970-01-01T00:16:40.002Z\"}");
    CHECK_EQ_STR(json[1],
                 "{\"type\":\"RevertApplied\",\"loop_id\":\"session.anthropic.test-model.1\","
                 "\"category\":\"failure\",\"target\":4,\"abandoned_node_ids\":"
                 "[7,8,9],\"summary\":\"no\",\"applied\":true,\"reason\":null,"
                 "\"timestamp\":\"1970-01-01T00:16:40.002Z\"}");
    rig_free(w.r);
}

/* ---- properties ---- */

static bool sound;
static size_t shown_users;

/* Each call that is sent has one result behind it, each result a call in front. */
static phi_verdict look(void *user_data, phi_hook *hook) {
    size_t i, j, k, found;
    (void)user_data;
    for (shown_users = 0, i = 0; i < hook->message_count; i++) {
        const phi_message *m = hook->messages[i];
        shown_users += m->role == PHI_ROLE_USER && m->content[0].text.at[0] != '[';
        for (k = 0; m->role == PHI_ROLE_ASSISTANT && k < m->content_count; k++) {
            if (m->content[k].kind != PHI_CONTENT_TOOL_CALL) continue;
            for (found = 0, j = i + 1; j < hook->message_count; j++)
                found += phi_str_equal(hook->messages[j]->tool_call_id, m->content[k].id);
            sound = sound && found == 1;
        }
        if (m->role != PHI_ROLE_TOOL_RESULT) continue;
        for (found = 0, j = 0; j < i; j++)
            for (k = 0; k < hook->messages[j]->content_count; k++)
                found += phi_str_equal(hook->messages[j]->content[k].id, m->tool_call_id);
        sound = sound && found == 1;
    }
    return PHI_ALLOW;
}

static const char *random_call(uint32_t *seed, unsigned number, unsigned entries) {
    static char lines[4][160];
    char *line = lines[number % 4];
    unsigned step = test_random(seed) % (entries + 1);
    switch (test_random(seed) % 5) {
    case 0:
        (void)snprintf(line, 160, "c%u prun {\"tokens\":%u}", number,
                       (unsigned)(test_random(seed) % 60));
        break;
    case 1:
        (void)snprintf(line, 160, "c%u prun_with_memo {\"tokens\":%u,\"memo\":\"m\"}", number,
                       (unsigned)(test_random(seed) % 60));
        break;
    case 2:
        (void)snprintf(line, 160, "c%u revert_to_state {\"category\":\"tangent\",\"step\":\"n%u\"}",
                       number, step);
        break;
    default:
        (void)snprintf(line, 160, "c%u echo {\"number\":%u}", number, (unsigned)test_random(seed));
        break;
    }
    return line;
}

static size_t reverted;

static void count_reverts(void *user_data, const phi_event *event) {
    (void)user_data;
    reverted += event->kind == PHI_EV_REVERTED && event->reverted->applied;
}

static bool random_run(uint32_t seed) {
    phi_agent_desc desc = rig_desc();
    unsigned number = 0, run, turn;
    world w;
    memset(&w, 0, sizeof w);
    w.r = rig_new();
    (void)tools_revert(w.tools);
    w.tools[1] = rig_echo();
    (void)tools_prun(w.tools + 2);
    desc.tools = w.tools;
    desc.tool_count = 4;
    rig_hooks(w.r, &desc, PHI_HOOK_TRANSFORM_CONTEXT);
    rig_hook_with(w.r, look, NULL);
    rig_watch(w.r, count_reverts, NULL);
    w.agent = rig_agent(w.r, &desc);
    for (sound = true, run = 1; run <= 3 && sound; run++) {
        for (turn = test_random(&seed) % 8; turn > 0; turn--) {
            const char *calls[2];
            unsigned entries = 5 * number + 5;
            calls[0] = random_call(&seed, number++, entries);
            calls[1] = random_call(&seed, number++, entries);
            rig_calls(w.r, calls, 1 + test_random(&seed) % 2);
        }
        rig_says(w.r, "Done.");
        ask(&w, "Find the key.");
        sound = sound && shown_users == run;
    }
    rig_free(w.r);
    return sound;
}

TEST(whatever_is_pruned_and_reverted_calls_keep_their_results_and_users_are_heard) {
    uint32_t seed;
    for (reverted = 0, seed = 1; seed <= 200; seed++)
        if (!CHECK(random_run(seed))) {
            printf("seed %u\n", (unsigned)seed);
            return;
        }
    CHECK(reverted > 20);
}

/* ---- without memory ---- */

static bool revert_without(int n, bool *tripped) {
    world w;
    bool open;
    test_alloc_fail_at(n);
    open = open_world(&w);
    *tripped = test_alloc_tripped();
    if (open) {
        rig_call(w.r, "c1", "echo", "{\"at\":\"square\"}");
        rig_call(w.r, "c2", "echo", "{\"at\":\"cellar\"}");
        rig_call(w.r, "c3", "revert_to_state", BACK);
        rig_says(w.r, "Done.");
        if (phi_prompt(w.agent, "Find the key.") == PHI_OK) (void)rig_run(w.r, 200);
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

TEST(a_revert_survives_every_failed_allocation) {
    bool tripped = true;
    int n;
    for (n = 0; tripped && n < 4000; n++) {
        if (!revert_without(n, &tripped)) {
            printf("at allocation %d\n", n);
            return;
        }
    }
    CHECK(n > 20 && n < 4000);
}

TEST_MAIN(TEST_ENTRY(results_end_with_the_name_of_their_step),
          TEST_ENTRY(a_name_does_not_change_once_it_was_sent),
          TEST_ENTRY(what_followed_the_step_goes_and_a_tag_stands_there),
          TEST_ENTRY(the_step_is_named_with_or_without_its_letter),
          TEST_ENTRY(a_step_that_is_not_there_is_refused_and_nothing_changes),
          TEST_ENTRY(nobody_goes_back_over_a_users_message), TEST_ENTRY(bad_arguments_are_told),
          TEST_ENTRY(results_of_one_answer_are_one_step),
          TEST_ENTRY(the_last_wish_of_a_turn_counts),
          TEST_ENTRY(a_tag_of_an_earlier_revert_goes_with_what_is_reverted_again),
          TEST_ENTRY(lines_of_failures_and_tangents_age_and_those_of_what_was_done_stay),
          TEST_ENTRY(fresh_lines_stay_though_there_are_three_newer_ones),
          TEST_ENTRY(lines_that_were_carried_over_into_a_new_session_age_as_well),
          TEST_ENTRY(what_was_reverted_is_no_step_any_more),
          TEST_ENTRY(a_prune_of_the_same_turn_comes_after_it),
          TEST_ENTRY(names_of_a_restored_history_are_not_taken_for_its_entries),
          TEST_ENTRY(without_the_tool_no_step_is_named_and_it_is_not_offered),
          TEST_ENTRY(a_snapshot_keeps_a_wish), TEST_ENTRY(a_host_makes_a_revert_tool_of_its_own),
          TEST_ENTRY(misuse_of_the_plan_is_a_status),
          TEST_ENTRY(the_event_has_its_interchange_form),
          TEST_ENTRY(whatever_is_pruned_and_reverted_calls_keep_their_results_and_users_are_heard),
          TEST_ENTRY(a_revert_survives_every_failed_allocation))
