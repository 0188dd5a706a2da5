/* Compaction in a run: near the window, after a refusal, and when the host asks for it. */
#include "support/heard.h"

#include "agent/one_shot_run.h"
#include "agent/snapshot.h"
#include "log/thread.h"
#include "agent/agent_history.h"
#include "agent/agent_info.h"
#include "loop/hook.h"
#include "log/log_in.h"

#define TOO_LONG                                                                                   \
    "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\","                           \
    "\"message\":\"prompt is too long: 9 tokens > 8 maximum\"}}"

/* 60 tokens of arguments, which come back as the result: a turn is about 150 by estimate. */
#define LONG                                                                                       \
    "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz"               \
    "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz"               \
    "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz"

static phi_tool echo;

/* A window of 1,000 tokens, of which a request is to have 840; no numbers from the provider. */
static phi_agent_desc desc_of(rig *r) {
    phi_agent_desc desc = rig_desc();
    rig_mock(r);
    echo = rig_echo();
    desc.tools = &echo;
    desc.tool_count = 1;
    desc.limits.max_turns = PHI_UNLIMITED;
    desc.limits.max_tokens = UINT64_MAX;
    desc.tool_options.repeat_warn_after = desc.tool_options.repeat_stop_after = PHI_UNLIMITED;
    desc.compaction.max_context_tokens = 1000;
    desc.compaction.system_prompt_tokens = 10;
    desc.compaction.keep_first_turns = 1;
    desc.compaction.keep_recent_turns = 2;
    desc.compaction.max_summary_tokens = 200;
    return desc;
}

static void script(rig *r, int calls) {
    char arguments[400];
    int i;
    for (i = 0; i < calls; i++) {
        (void)snprintf(arguments, sizeof arguments, "{\"n\":%d,\"x\":\"" LONG "\"}", i);
        rig_call(r, "-", "echo", arguments);
    }
    rig_says(r, "Done.");
}

static const char *last_words(rig *r) {
    const char *words = NULL;
    words = phi_last_error(rig_runtime(r)).message;
    return words;
}

static uint64_t seen_tokens(phi_agent agent) {
    const phi_view_item *items = NULL;
    size_t count = 0, i;
    uint64_t sum = 0;
    phi_memory memory;
    phi_arena arena;
    phi_allocator a = test_allocator();
    phi_memory_init(&memory, &a, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(phi_thread_view(phi_agent_thread(agent), NULL, UINT64_MAX, &arena, &items, &count),
                 PHI_OK);
    for (i = 0; i < count; i++) sum += items[i].tokens;
    phi_arena_free(&arena);
    return sum;
}

/* The run that item i of what is seen is of; in the thread. */
static phi_str seen_loop(phi_agent agent, size_t i) {
    const phi_view_item *items = NULL;
    size_t count = 0;
    phi_str loop = {"", 0};
    phi_memory memory;
    phi_arena arena;
    phi_allocator a = test_allocator();
    phi_memory_init(&memory, &a, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(phi_thread_view(phi_agent_thread(agent), NULL, UINT64_MAX, &arena, &items, &count),
                 PHI_OK);
    if (CHECK(i < count)) loop = items[i].message->loop_id;
    phi_arena_free(&arena);
    return loop;
}

/* ---- near the window ---- */

/* Runs of an agent that keeps nothing of those that fail: one that ends well, and one of nine calls that is compacted on
   its way and then refused. */
static phi_agent agent_that_failed(rig *r, phi_agent_desc *desc, uint64_t *tokens) {
    phi_agent agent;
    char arguments[400];
    int i;
    desc->keep = PHI_KEEP_NONE;
    agent = rig_agent(r, desc);
    script(r, 2);
    CHECK_EQ_INT(phi_prompt(agent, "Count"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 100), 0);
    *tokens = seen_tokens(agent);
    for (i = 0; i < 9; i++) {
        (void)snprintf(arguments, sizeof arguments, "{\"n\":%d,\"x\":\"" LONG "\"}", i);
        rig_call(r, "-", "echo", arguments);
    }
    rig_replies(r, 400, "", "{\"error\":{\"message\":\"no\"}}");
    CHECK_EQ_INT(phi_prompt(agent, "Count on"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 200), 0);
    CHECK(count_of(rig_story(r), "CompactionEnded") > 0);
    return agent;
}

TEST(a_run_that_keeps_nothing_gives_back_what_it_compacted) {
    rig *r = rig_new();
    phi_agent_desc desc = desc_of(r);
    uint64_t tokens;
    phi_agent agent = agent_that_failed(r, &desc, &tokens);
    CHECK_EQ_INT(seen_tokens(agent), tokens);
    script(r, 0);
    CHECK_EQ_INT(phi_prompt(agent, "And now?"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 100), 0);
    CHECK(strstr(rig_request(r, rig_requests(r) - 1), "Count on") == NULL);
    CHECK(strstr(rig_request(r, rig_requests(r) - 1), "\"Count\"") != NULL);
    rig_free(r);
}

static phi_verdict memory_ends_with_the_error(void *user_data, phi_hook *hook) {
    uint64_t *tokens = (uint64_t *)user_data;
    if (hook->point == PHI_HOOK_BEFORE_LOOP) *tokens = seen_tokens(hook->agent);
    if (hook->point == PHI_HOOK_ON_ERROR) test_alloc_fail_from(0);
    return PHI_ALLOW;
}

/* It forgets at its beginning and is compacted on its way. What was in view before comes back
   without memory: a copy of it was kept. */
TEST(a_run_that_keeps_nothing_needs_no_memory_to_give_back_what_it_compacted) {
    rig *r = rig_new();
    phi_agent_desc desc = desc_of(r);
    phi_agent agent;
    uint64_t tokens = 0;
    int i;
    desc.keep = PHI_KEEP_NONE;
    desc.memory.limit_bytes = 131072;
    desc.memory.at_limit = PHI_AT_MEMORY_LIMIT_FORGET;
    desc.hook_fn = memory_ends_with_the_error;
    desc.hook_points = PHI_HOOK_BEFORE_LOOP | PHI_HOOK_ON_ERROR;
    desc.user_data = &tokens;
    agent = rig_agent(r, &desc);
    for (i = 0; i < 110; i++) {
        phi_content block;
        phi_message m = text_message(i % 2 == 0 ? PHI_ROLE_USER : PHI_ROLE_ASSISTANT, &block, LONG);
        CHECK_EQ_INT(phi_thread_append(phi_agent_thread(agent), &m, 1, NULL), PHI_OK);
    }
    for (i = 0; i < 9; i++) rig_call(r, "-", "echo", i % 2 == 0 ? "{\"x\":\"" LONG "\"}" : "{}");
    rig_replies(r, 400, "", "{\"error\":{\"message\":\"no\"}}");
    CHECK_EQ_INT(phi_prompt(agent, "Count on"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 200), 0);
    test_alloc_fail_from(-1);
    CHECK(count_of(rig_story(r), "Forgotten") > 0);
    CHECK(count_of(rig_story(r), "CompactionEnded") > 0);
    CHECK(tokens > 0);
    CHECK_EQ_INT(seen_tokens(agent), tokens);
    rig_free(r);
}

TEST(what_a_rolled_back_run_left_is_read_as_it_was) {
    rig *r = rig_new();
    phi_agent_desc desc = desc_of(r);
    uint64_t tokens;
    phi_agent agent = agent_that_failed(r, &desc, &tokens), again;
    phi_memory memory;
    phi_arena arena;
    phi_str saved;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(phi_agent_snapshot(agent, &arena, &saved), PHI_OK);
    again = phi_agent_restore(rig_runtime(r), &desc, saved, PHI_RESTORE_RESUME);
    phi_arena_free(&arena);
    REQUIRE(again.rt != NULL);
    CHECK_EQ_INT(seen_tokens(again), tokens);
    rig_free(r);
}

TEST(a_limit_that_ends_a_run_is_no_failure_for_what_is_kept) {
    rig *r = rig_new();
    phi_agent_desc desc = desc_of(r);
    phi_agent agent;
    desc.keep = PHI_KEEP_NONE;
    desc.limits.max_turns = 2;
    agent = rig_agent(r, &desc);
    script(r, 5);
    CHECK_EQ_INT(phi_prompt(agent, "Count"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 100), 0);
    CHECK(strstr(rig_story(r), "AgentEnd a limit of the run was reached") != NULL);
    CHECK(seen_tokens(agent) > 200);
    rig_free(r);
}

TEST(a_view_that_nears_the_window_is_compacted_before_the_request_is_made) {
    rig *r = rig_new();
    phi_agent_desc desc = desc_of(r);
    phi_agent agent;
    const char *at;
    rig_hooks(r, &desc, PHI_HOOK_BEFORE_COMPACTION | PHI_HOOK_AFTER_COMPACTION);
    agent = rig_agent(r, &desc);
    script(r, 6);
    CHECK_EQ_INT(phi_prompt(agent, "Count"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 100), 0);
    CHECK_EQ_INT(count_of(rig_story(r), "CompactionStarted"), 1);
    at = strstr(rig_story(r), "TurnStart 6\n-> before_compaction ");
    at = at != NULL ? strstr(at, "\nCompactionStarted ") : NULL;
    at = at != NULL ? strstr(at, "\nCompactionEnded 13 -> 8 messages, ") : NULL;
    at = at != NULL ? strstr(at, ", 1 loops\n-> after_compaction 13 -> 8 messages, ") : NULL;
    at = at != NULL ? strstr(at, "\nMessageStart assistant\n") : NULL;
    CHECK(at != NULL);
    REQUIRE(rig_requests(r) == 7);
    CHECK(strstr(rig_request(r, 5), "[Assistant used 1 tool(s)]") == NULL);
    CHECK(strstr(rig_request(r, 6), "[Assistant used 1 tool(s)]\\n[Assistant used 1 tool(s)]\\n"
                                    "[Assistant used 1 tool(s)]") != NULL);
    CHECK(strstr(rig_request(r, 6), "Count") != NULL);
    CHECK(strlen(rig_request(r, 6)) < strlen(rig_request(r, 4)));
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 14); /* the history is whole */
    rig_free(r);
}

TEST(what_is_small_enough_is_left_alone_and_so_is_all_when_it_is_disabled) {
    rig *r = rig_new();
    phi_agent_desc desc = desc_of(r);
    phi_agent agent = rig_agent(r, &desc);
    script(r, 4);
    CHECK_EQ_INT(phi_prompt(agent, "Count"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 100), 0);
    CHECK_EQ_INT(count_of(rig_story(r), "Compaction"), 0);
    desc.compaction.disable = true;
    agent = rig_agent(r, &desc);
    script(r, 12);
    CHECK_EQ_INT(phi_prompt(agent, "Count"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 100), 0);
    CHECK_EQ_INT(count_of(rig_story(r), "Compaction"), 0);
    CHECK_EQ_INT(count_of(rig_story(r), "AgentEnd ok"), 2);
    rig_free(r);
}

/* The system prompt takes its part of the window where nobody said how much it takes. */
TEST(what_the_prompt_takes_is_estimated) {
    rig *r = rig_new();
    phi_agent_desc desc = desc_of(r);
    char prompt[2401];
    memset(prompt, 'p', sizeof prompt - 1);
    prompt[sizeof prompt - 1] = '\0';
    desc.system_prompt = prompt; /* 600 tokens */
    desc.compaction.system_prompt_tokens = 0;
    script(r, 4);
    CHECK_EQ_INT(phi_prompt(rig_agent(r, &desc), "Count"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 100), 0);
    CHECK(count_of(rig_story(r), "CompactionStarted") >= 1);
    rig_free(r);
}

/* Fewer recent turns are kept where those asked for are too many. */
TEST(recent_turns_give_way_when_they_are_too_large) {
    rig *r = rig_new();
    phi_agent_desc desc = desc_of(r);
    phi_agent agent;
    desc.compaction.keep_recent_turns = 8;
    agent = rig_agent(r, &desc);
    script(r, 7);
    CHECK_EQ_INT(phi_prompt(agent, "Count"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 100), 0);
    CHECK(count_of(rig_story(r), "CompactionStarted") >= 1);
    CHECK(seen_tokens(agent) < 840);
    rig_free(r);
}

TEST(earlier_runs_are_summed_up_and_the_oldest_go) {
    rig *r = rig_new();
    phi_agent_desc desc = desc_of(r);
    phi_agent agent;
    const char *last;
    int i;
    desc.compaction.scope_runs = 1;
    agent = rig_agent(r, &desc);
    for (i = 0; i < 3; i++) {
        char text[40];
        (void)snprintf(text, sizeof text, "Question %d", i);
        script(r, 2);
        CHECK_EQ_INT(phi_prompt(agent, text), PHI_OK);
        CHECK_EQ_INT(rig_run(r, 100), 0);
    }
    CHECK_EQ_INT(count_of(rig_story(r), "CompactionStarted"), 1);
    CHECK(strstr(rig_story(r), ", 2 loops\n") != NULL);
    last = rig_request(r, rig_requests(r) - 1);
    CHECK(strstr(last, "Question 0") == NULL);
    CHECK(strstr(last, "[User] Question 1\\n[Assistant used 1 tool(s)]\\n"
                       "[Assistant used 1 tool(s)]\\n[Summary] Done.") != NULL);
    CHECK(strstr(last, "Question 2") != NULL);
    rig_free(r);
}

/* Nothing may be done about it: it is found out once, and not told of. */
TEST(what_cannot_be_made_smaller_is_not_told_of) {
    rig *r = rig_new();
    phi_agent_desc desc = desc_of(r);
    char text[6001];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    desc.compaction.keep_first_turns = 4;
    script(r, 3);
    CHECK_EQ_INT(phi_prompt(rig_agent(r, &desc), text), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 100), 0);
    CHECK_EQ_INT(count_of(rig_story(r), "Compaction"), 0);
    CHECK_EQ_INT(count_of(rig_story(r), "AgentEnd ok"), 1);
    rig_free(r);
}

/* A prompt of so many bytes. */
static void prompts(rig *r, phi_agent agent, size_t bytes) {
    static char text[8001];
    memset(text, 'x', bytes);
    text[bytes] = '\0';
    CHECK_EQ_INT(phi_prompt(agent, text), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 100), 0);
}

/* A request is to have 590 tokens, and what is larger may grow by 300. */
static phi_agent_desc desc_with_headroom(rig *r) {
    phi_agent_desc desc = desc_of(r);
    desc.compaction.keep_recent_turns = 1;
    desc.compaction.budget_threshold_pct = 0.3;
    return desc;
}

/* A prompt that is too large by itself: each turn could be summed up when it is over, and the next
   request would be too large all the same. */
TEST(what_stays_too_large_is_compacted_again_when_it_has_grown_and_not_each_turn) {
    rig *r = rig_new();
    phi_agent_desc desc = desc_with_headroom(r);
    phi_agent agent = rig_agent(r, &desc);
    script(r, 9);
    prompts(r, agent, 3600);
    CHECK_EQ_INT(count_of(rig_story(r), "CompactionEnded"), 3);
    CHECK_EQ_INT(phi_agent_new_session(agent, false), PHI_OK);
    rig_forget(r);
    script(r, 0);
    prompts(r, agent, 10); /* the same history in another log */
    CHECK_EQ_INT(count_of(rig_story(r), "CompactionEnded"), 0);
    rig_free(r);
}

TEST(another_history_is_compacted_whatever_the_last_one_had_come_to) {
    rig *r = rig_new();
    phi_agent_desc desc = desc_with_headroom(r);
    phi_agent agent = rig_agent(r, &desc);
    script(r, 4);
    prompts(r, agent, 3600);
    CHECK_EQ_INT(count_of(rig_story(r), "CompactionEnded"), 1);
    CHECK_EQ_INT(phi_agent_replace_messages(agent, NULL, 0), PHI_OK);
    script(r, 2);
    prompts(r, agent, 10);
    rig_forget(r);
    script(r, 0);
    prompts(r, agent, 3600);
    CHECK_EQ_INT(count_of(rig_story(r), "CompactionEnded"), 1);
    rig_free(r);
}

/* What it compacted came back; so must the compaction. */
TEST(after_a_run_that_kept_nothing_the_next_one_is_compacted_as_it_was) {
    rig *r = rig_new();
    phi_agent_desc desc = desc_with_headroom(r);
    phi_agent agent;
    desc.keep = PHI_KEEP_NONE;
    agent = rig_agent(r, &desc);
    script(r, 2);
    prompts(r, agent, 10);
    CHECK_EQ_INT(count_of(rig_story(r), "CompactionEnded"), 0);
    rig_replies(r, 400, "", "{\"error\":{\"message\":\"no\"}}");
    prompts(r, agent, 3600);
    CHECK_EQ_INT(count_of(rig_story(r), "CompactionEnded"), 1);
    rig_forget(r);
    script(r, 0);
    prompts(r, agent, 3600);
    CHECK_EQ_INT(count_of(rig_story(r), "CompactionEnded"), 1);
    rig_free(r);
}

/* A compaction comes at 85 % of 2,250 tokens; what is left after forgetting was never compacted. */
TEST(an_agent_that_forgets_is_compacted_whatever_was_left_before) {
    rig *r = rig_new();
    phi_agent_desc desc = desc_with_headroom(r);
    phi_agent agent;
    int i;
    desc.compaction.max_context_tokens = 2250;
    desc.memory.limit_bytes = 65536;
    desc.memory.at_limit = PHI_AT_MEMORY_LIMIT_FORGET;
    agent = rig_agent(r, &desc);
    for (i = 0; i < 20; i++) {
        script(r, 1);
        prompts(r, agent, 2000);
        CHECK(seen_tokens(agent) <= 1912);
    }
    CHECK(count_of(rig_story(r), "CompactionEnded") > 2);
    CHECK(count_of(rig_story(r), "Forgot") > 2);
    rig_free(r);
}

TEST(over_a_thousand_turns_what_is_sent_does_not_grow) {
    rig *r = rig_new();
    phi_agent_desc desc = desc_of(r);
    phi_agent agent = rig_agent(r, &desc);
    size_t i, early = 0, late = 0;
    desc.limits.max_duration_ms = PHI_UNLIMITED;
    script(r, 1000);
    CHECK_EQ_INT(phi_prompt(agent, "Count"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20000), 0);
    REQUIRE(rig_requests(r) == 1001);
    for (i = 0; i <= 1000; i++) {
        size_t n = strlen(rig_request(r, i));
        if (i < 200 && n > early) early = n;
        if (i >= 200 && n > late) late = n;
    }
    CHECK(late <= early + early / 20);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 2002);
    CHECK(strstr(rig_request(r, 1000), " earlier lines left out ...]") != NULL);
    rig_free(r);
}

/* ---- hooks ---- */

/* Messages of a request: each has a role. */
static size_t messages_of(const char *request) { return count_of(request, "\"role\":"); }

TEST(over_a_thousand_turns_the_model_is_shown_a_bounded_number_of_messages) {
    rig *r = rig_new();
    phi_agent_desc desc = desc_of(r);
    phi_agent agent;
    size_t i, early = 0, late = 0, kept;
    desc.limits.max_duration_ms = PHI_UNLIMITED;
    agent = rig_agent(r, &desc);
    script(r, 1000);
    CHECK_EQ_INT(phi_prompt(agent, "Count"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20000), 0);
    REQUIRE(rig_requests(r) == 1001);
    for (i = 0; i <= 1000; i++) {
        size_t n = messages_of(rig_request(r, i));
        if (i < 100 && n > early) early = n;
        if (i >= 100 && n > late) late = n;
    }
    CHECK(late <= early);
    /* The first turns and the recent ones have two messages each; the prompt, the summary, and what
       fits until the next compaction are the rest. */
    kept = 2 * (desc.compaction.keep_first_turns + desc.compaction.keep_recent_turns);
    CHECK(late >= kept && late <= kept + 16);
    CHECK(strstr(rig_request(r, 1000), "\"n\":0,") != NULL);   /* the first turn */
    CHECK(strstr(rig_request(r, 1000), "\"n\":998,") != NULL); /* the recent ones */
    CHECK(strstr(rig_request(r, 1000), "\"n\":999,") != NULL);
    CHECK(count_of(rig_story(r), "CompactionEnded") > 50);
    rig_free(r);
}

TEST(a_compaction_that_is_denied_is_asked_for_again_at_the_next_turn) {
    rig *r = rig_new();
    phi_agent_desc desc = desc_of(r);
    phi_agent agent;
    rig_hooks(r, &desc, PHI_HOOK_BEFORE_COMPACTION);
    rig_answers(r, PHI_HOOK_BEFORE_COMPACTION, PHI_DENY, NULL);
    agent = rig_agent(r, &desc);
    script(r, 7);
    CHECK_EQ_INT(phi_prompt(agent, "Count"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 100), 0);
    CHECK_EQ_INT(count_of(rig_story(r), "-> before_compaction "), 2);
    CHECK_EQ_INT(count_of(rig_story(r), "CompactionStarted"), 1);
    CHECK(strstr(rig_story(r), "AgentEnd ok, 16 messages\n") != NULL);
    rig_free(r);
}

TEST(a_hook_may_wait_and_the_compaction_is_done_when_it_has_decided) {
    rig *r = rig_new();
    phi_agent_desc desc = desc_of(r);
    phi_agent agent;
    rig_hooks(r, &desc, PHI_HOOK_BEFORE_COMPACTION | PHI_HOOK_AFTER_COMPACTION);
    rig_answers(r, PHI_HOOK_BEFORE_COMPACTION, PHI_WAIT, NULL);
    rig_answers(r, PHI_HOOK_AFTER_COMPACTION, PHI_WAIT, NULL);
    agent = rig_agent(r, &desc);
    script(r, 6);
    CHECK_EQ_INT(phi_prompt(agent, "Count"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 100), 1);
    CHECK_EQ_INT(count_of(rig_story(r), "CompactionStarted"), 0);
    CHECK_EQ_INT(phi_decide(rig_ticket(r, 0), PHI_ALLOW, NULL), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 100), 1);
    CHECK_EQ_INT(count_of(rig_story(r), "CompactionEnded"), 1);
    CHECK_EQ_INT(phi_decide(rig_ticket(r, 1), PHI_ALLOW, NULL), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 100), 0);
    CHECK(strstr(rig_story(r), "AgentEnd ok, 14 messages\n") != NULL);
    rig_free(r);
}

TEST(an_abort_at_any_step_leaves_an_agent_that_goes_on) {
    int at;
    for (at = 0; at < 40; at++) {
        rig *r = rig_new();
        phi_agent_desc desc = desc_of(r);
        phi_agent agent;
        rig_hooks(r, &desc, PHI_HOOK_BEFORE_COMPACTION | PHI_HOOK_AFTER_COMPACTION);
        rig_answers(r, PHI_HOOK_BEFORE_COMPACTION, PHI_WAIT, NULL);
        agent = rig_agent(r, &desc);
        script(r, 7);
        CHECK_EQ_INT(phi_prompt(agent, "Count"), PHI_OK);
        (void)rig_run(r, at);
        CHECK_EQ_INT(phi_abort(agent), PHI_OK);
        CHECK_EQ_INT(rig_run(r, 10), 0);
        CHECK_EQ_INT(count_of(rig_story(r), "CompactionStarted"),
                     count_of(rig_story(r), "CompactionEnded"));
        CHECK_EQ_INT(count_of(rig_story(r), "AgentEnd"), 1);
        rig_hook_with(r, NULL, NULL);
        rig_drop_answers(r);
        rig_says(r, "Yes.");
        CHECK_EQ_INT(phi_prompt(agent, "Still there?"), PHI_OK);
        if (rig_run(r, 40) != 0) { /* the hook waits in this run */
            CHECK_EQ_INT(phi_decide(rig_ticket(r, 0), PHI_ALLOW, NULL), PHI_OK);
            CHECK_EQ_INT(rig_run(r, 40), 0);
        }
        CHECK(strstr(rig_story(r), "MessageEnd assistant \"Yes.\" stop\n") != NULL);
        rig_free(r);
    }
}

/* ---- when the provider says so ---- */

TEST(what_a_provider_refuses_is_summed_up_before_anything_is_cut_off) {
    rig *r = rig_new();
    phi_agent_desc desc = desc_of(r);
    phi_agent agent;
    int i;
    desc.compaction.max_context_tokens = 100000;
    agent = rig_agent(r, &desc);
    for (i = 0; i < 6; i++) rig_call(r, "-", "echo", "{\"x\":\"" LONG "\"}");
    rig_replies(r, 400, HEARD_JSON, TOO_LONG);
    rig_says(r, "It fits.");
    CHECK_EQ_INT(phi_prompt(agent, "Count"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 100), 0);
    CHECK(strstr(rig_story(r), "CompactionEnded 13 -> 8 messages, ") != NULL);
    CHECK(strstr(rig_story(r), "MessageEnd assistant \"It fits.\" stop\n") != NULL);
    REQUIRE(rig_requests(r) == 8);
    CHECK(strstr(rig_request(r, 7), "[Assistant used 1 tool(s)]") != NULL);
    CHECK(strstr(rig_request(r, 7), "messages removed") == NULL);
    rig_free(r);
}

TEST(what_is_refused_again_is_cut_off) {
    rig *r = rig_new();
    phi_agent_desc desc = desc_of(r);
    phi_agent agent;
    int i;
    desc.compaction.max_context_tokens = 100000;
    agent = rig_agent(r, &desc);
    for (i = 0; i < 6; i++) rig_call(r, "-", "echo", "{\"x\":\"" LONG "\"}");
    rig_replies(r, 400, HEARD_JSON, TOO_LONG);
    rig_replies(r, 400, HEARD_JSON, TOO_LONG);
    rig_says(r, "It fits.");
    CHECK_EQ_INT(phi_prompt(agent, "Count"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 100), 0);
    CHECK_EQ_INT(count_of(rig_story(r), "CompactionStarted"), 2);
    REQUIRE(rig_requests(r) == 9);
    CHECK(strstr(rig_request(r, 8), "messages removed to fit context window]") != NULL);
    CHECK(strstr(rig_story(r), "AgentEnd ok, ") != NULL);
    rig_free(r);
}

TEST(where_nothing_can_be_cut_off_a_refusal_is_an_error_after_two_tries) {
    rig *r = rig_new();
    phi_agent_desc desc = desc_of(r);
    rig_replies(r, 400, HEARD_JSON, TOO_LONG);
    CHECK_EQ_INT(phi_prompt(rig_agent(r, &desc), "Hello"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 100), 0);
    CHECK_EQ_INT(count_of(rig_story(r), "CompactionStarted"), 2);
    CHECK_EQ_INT(count_of(rig_story(r), "CompactionEnded 1 -> 1 messages"), 2);
    CHECK_EQ_INT(count_of(rig_story(r), "AgentEnd ok"), 0);
    CHECK_EQ_INT((int)rig_requests(r), 1);
    rig_free(r);
}

/* ---- when the host asks for it ---- */

TEST(a_compaction_that_the_host_asks_for_is_a_run_of_its_own) {
    rig *r = rig_new();
    phi_agent_desc desc = desc_of(r);
    phi_agent agent;
    phi_entry entry;
    char before[200];
    uint64_t tokens;
    desc.compaction.max_context_tokens = 100000;
    agent = rig_agent(r, &desc);
    script(r, 6);
    CHECK_EQ_INT(phi_prompt(agent, "Count"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 100), 0);
    (void)snprintf(before, sizeof before, "%s", phi_agent_get_info(agent).loop_id.at);
    tokens = seen_tokens(agent);
    rig_forget(r);
    CHECK_EQ_INT(phi_compact(agent), PHI_OK);
    CHECK_EQ_INT(phi_compact(agent), PHI_BUSY);
    CHECK(phi_agent_get_info(agent).running);
    CHECK_EQ_INT(rig_run(r, 10), 0);
    CHECK(strncmp(rig_story(r), "AgentStart\nCompactionStarted ", 29) == 0);
    CHECK(strstr(rig_story(r), "\nCompactionEnded 14 -> 7 messages, ") != NULL);
    CHECK(strstr(rig_story(r), ", 1 loops\nAgentEnd ok, 0 messages\n") != NULL);
    CHECK(seen_tokens(agent) < tokens);
    CHECK(strcmp(phi_agent_get_info(agent).loop_id.at, before) != 0);
    CHECK_EQ_INT(phi_thread_entry(phi_agent_thread(agent),
                                  phi_thread_count(phi_agent_thread(agent)) - 3, &entry),
                 PHI_OK);
    REQUIRE(entry.kind == PHI_ENTRY_LOOP_START);
    CHECK_EQ_INT(entry.loop->continuation, PHI_CONTINUATION_COMPACTION);
    CHECK_STR(entry.loop->parent_loop_id, before);
    rig_forget(r);
    CHECK_EQ_INT(phi_compact(agent), PHI_OK); /* there is nothing to do any more */
    CHECK(!phi_agent_get_info(agent).running);
    CHECK_EQ_STR(rig_story(r), "");
    rig_says(r, "Here.");
    CHECK_EQ_INT(phi_prompt(agent, "Still there?"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 0);
    CHECK(strstr(rig_story(r), "AgentEnd ok, 2 messages\n") != NULL);
    rig_free(r);
}

TEST(a_compaction_that_the_host_asks_for_can_be_denied_and_aborted) {
    rig *r = rig_new();
    phi_agent_desc desc = desc_of(r);
    phi_agent agent;
    desc.compaction.max_context_tokens = 100000;
    rig_hooks(r, &desc, PHI_HOOK_BEFORE_COMPACTION);
    rig_answers(r, PHI_HOOK_BEFORE_COMPACTION, PHI_DENY, NULL);
    rig_answers(r, PHI_HOOK_BEFORE_COMPACTION, PHI_WAIT, NULL);
    agent = rig_agent(r, &desc);
    script(r, 6);
    CHECK_EQ_INT(phi_prompt(agent, "Count"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 100), 0);
    rig_forget(r);
    CHECK_EQ_INT(phi_compact(agent), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 0);
    CHECK(strstr(rig_story(r), "Compaction") == NULL);
    CHECK(strstr(rig_story(r), "AgentEnd ok, 0 messages\n") != NULL);
    rig_forget(r);
    CHECK_EQ_INT(phi_compact(agent), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 1);
    CHECK_EQ_INT(phi_abort(agent), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 0);
    CHECK(strstr(rig_story(r), "AgentEnd cancelled, 0 messages\n") != NULL);
    CHECK(strstr(rig_story(r), "CompactionStarted") == NULL);
    rig_free(r);
}

TEST(an_agent_without_a_history_has_nothing_to_compact) {
    rig *r = rig_new();
    phi_agent_desc desc = desc_of(r);
    phi_agent agent = rig_agent(r, &desc), none = PHI_ZERO;
    CHECK_EQ_INT(phi_compact(agent), PHI_OK);
    CHECK(!phi_agent_get_info(agent).running);
    CHECK_EQ_INT(phi_compact(none), PHI_BAD_ARG);
    phi_agent_free(agent);
    CHECK_EQ_INT(phi_compact(agent), PHI_STALE);
    CHECK_EQ_STR(last_words(r), "phi_compact: the agent is gone");
    rig_free(r);
}

/* ---- a way of the host's own ---- */

typedef struct worker {
    int starts, polls, ends, busy; /* busy: polls that are answered with PHI_BUSY */
    phi_status refuses, fails;     /* what start says, and the last poll */
    size_t from, to;               /* items that it sums up */
    uint64_t seen, target;
    phi_span span;
    phi_message message;
    phi_content block;
    bool torn;       /* it says that there are messages, and gives none */
    bool drops;      /* it gives nothing for what it takes */
    phi_agent frees; /* by `end` */
    bool empty;      /* it takes all there is from there on, and gives nothing */
} worker;

static phi_status work_start(void *user_data, const phi_compaction_request *request, void **job) {
    worker *w = (worker *)user_data;
    w->starts++;
    w->seen = request->item_count;
    w->target = request->target_tokens;
    CHECK(phi_agent_get_info(request->agent).running);
    CHECK_EQ_INT(request->config.keep_first_turns, 1);
    w->block.kind = PHI_CONTENT_TEXT;
    w->block.text = phi_str_of("They counted for a while.");
    w->message.role = PHI_ROLE_USER;
    w->message.content = &w->block;
    w->message.content_count = 1;
    w->message.loop_id = phi_str_of("another.run.1");
    w->span.from = request->items[w->from].from;
    w->span.to = request->items[w->to].to;
    w->span.messages = w->torn ? NULL : &w->message;
    w->span.message_count = 1;
    w->span.summary = true;
    if (w->drops || w->empty) w->span.message_count = 0;
    if (w->empty) w->span.to = request->items[request->item_count - 1].to;
    *job = w;
    return w->refuses;
}

static phi_status work_poll(void *user_data, void *job, phi_rewrite *out) {
    worker *w = (worker *)user_data;
    CHECK(job == w);
    if (w->polls++ < w->busy) return PHI_BUSY;
    out->spans = &w->span;
    out->span_count = 1;
    return w->fails;
}

static void work_end(void *user_data, void *job) {
    worker *w = (worker *)user_data;
    CHECK(job == w);
    w->ends++;
    if (w->frees.rt != NULL) phi_agent_free(w->frees); /* or it is gone already */
}

/* Items 1 to 4 are the first two turns' calls and results. */
static phi_agent_desc desc_with(rig *r, worker *w) {
    phi_agent_desc desc = desc_of(r);
    memset(w, 0, sizeof *w);
    w->from = 1;
    w->to = 4;
    desc.compactor.start = work_start;
    desc.compactor.poll = work_poll;
    desc.compactor.end = work_end;
    desc.compactor.user_data = w;
    return desc;
}

static void work_run(rig *r, phi_agent agent, int calls) {
    script(r, calls);
    CHECK_EQ_INT(phi_prompt(agent, "Count"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 200), 0);
    CHECK_EQ_INT(count_of(rig_story(r), "AgentEnd ok"), 1);
}

#define OURS "[Assistant used 1 tool(s)]"
#define THEIRS "They counted for a while."

TEST(a_host_s_own_compaction_is_made_while_the_run_goes_on) {
    rig *r = rig_new();
    worker w;
    phi_agent_desc desc = desc_with(r, &w);
    phi_agent agent;
    desc.compaction.budget_threshold_pct = 0.3; /* it begins at 590, and there is room up to 890 */
    w.busy = 1;
    agent = rig_agent(r, &desc);
    work_run(r, agent, 6);
    CHECK_EQ_INT(w.starts, 1);
    CHECK_EQ_INT(w.polls, 2);
    CHECK_EQ_INT(w.ends, 1);
    CHECK_EQ_INT(w.seen, 11);
    CHECK_EQ_INT(w.target, 590);
    CHECK_STR(seen_loop(agent, 1), phi_agent_get_info(agent).loop_id.at);
    CHECK_EQ_INT(count_of(rig_story(r), "CompactionStarted"), 1);
    CHECK(strstr(rig_story(r), "CompactionEnded 13 -> 10 messages, ") != NULL);
    CHECK(strstr(rig_story(r), ", 1 loops\n") != NULL);
    REQUIRE(rig_requests(r) == 7);
    CHECK(strstr(rig_request(r, 5), THEIRS) == NULL); /* it was begun, and the run went on */
    CHECK(strstr(rig_request(r, 6), THEIRS) != NULL);
    CHECK(strstr(rig_request(r, 6), OURS) == NULL);
    CHECK(strstr(rig_request(r, 6), "\"n\":5") != NULL); /* what came meanwhile is there */
    rig_free(r);
}

static void ours_is_made(rig *r, const worker *w, int ends) {
    CHECK_EQ_INT(w->ends, ends);
    CHECK_EQ_INT(count_of(rig_story(r), "CompactionStarted"), 1);
    REQUIRE(rig_requests(r) == 7);
    CHECK(strstr(rig_request(r, 6), OURS) != NULL);
    CHECK(strstr(rig_request(r, 6), THEIRS) == NULL);
}

TEST(where_it_cannot_be_begun_the_plan_is_ours) {
    rig *r = rig_new();
    worker w;
    phi_agent_desc desc = desc_with(r, &w);
    w.refuses = PHI_REFUSED;
    work_run(r, rig_agent(r, &desc), 6);
    CHECK_EQ_INT(w.polls, 0);
    ours_is_made(r, &w, 0);
    rig_free(r);
}

TEST(where_it_fails_the_plan_is_ours) {
    rig *r = rig_new();
    worker w;
    phi_agent_desc desc = desc_with(r, &w);
    w.fails = PHI_NETWORK;
    work_run(r, rig_agent(r, &desc), 6);
    ours_is_made(r, &w, 1);
    rig_free(r);
}

TEST(where_it_makes_no_sense_the_plan_is_ours) {
    int how;
    for (how = 0; how < 3; how++) {
        rig *r = rig_new();
        worker w;
        phi_agent_desc desc = desc_with(r, &w);
        if (how == 0) w.to = 3; /* a call without its result */
        if (how == 1) w.torn = true;
        if (how == 2) w.from = w.to = 0; /* "Count", which is shorter than its summary */
        work_run(r, rig_agent(r, &desc), 6);
        ours_is_made(r, &w, 1);
        rig_free(r);
    }
}

TEST(where_it_leaves_nothing_words_say_so_and_the_plan_is_ours) {
    rig *r = rig_new();
    worker w;
    phi_agent_desc desc = desc_with(r, &w);
    w.empty = true;
    w.from = 0;
    work_run(r, rig_agent(r, &desc), 6);
    ours_is_made(r, &w, 1);
    CHECK(strstr(rig_story(r),
                 "Warning \"The compactor's rewrite is refused: it would leave nothing "
                 "to be sent\"\nCompactionStarted") != NULL);
    rig_free(r);
}

TEST(an_extension_is_nothing_to_be_sent) {
    rig *r = rig_new();
    worker w;
    phi_agent_desc desc = desc_with(r, &w);
    phi_agent agent = rig_agent(r, &desc);
    phi_message note;
    memset(&note, 0, sizeof note);
    note.role = PHI_ROLE_EXTENSION;
    note.extension_kind = phi_str_of("note");
    note.extension_data = phi_str_of("{}");
    CHECK_EQ_INT(phi_thread_append(phi_agent_thread(agent), &note, 1, NULL), PHI_OK);
    w.empty = true; /* but for the note, which is item 0 */
    work_run(r, agent, 6);
    ours_is_made(r, &w, 1);
    rig_free(r);
}

TEST(it_may_drop_turns_without_a_word) {
    rig *r = rig_new();
    worker w;
    phi_agent_desc desc = desc_with(r, &w);
    w.drops = true;
    work_run(r, rig_agent(r, &desc), 6);
    CHECK_EQ_INT(count_of(rig_story(r), "CompactionEnded 13 -> 9 messages, "), 1);
    REQUIRE(rig_requests(r) == 7);
    CHECK(strstr(rig_request(r, 6), "\"n\":1") == NULL);
    CHECK(strstr(rig_request(r, 6), "\"n\":2") != NULL);
    CHECK(strstr(rig_request(r, 6), OURS) == NULL);
    rig_free(r);
}

TEST(where_there_is_no_room_left_before_it_is_done_the_plan_is_ours) {
    rig *r = rig_new();
    worker w;
    phi_agent_desc desc = desc_with(r, &w);
    w.busy = 1000;
    work_run(r, rig_agent(r, &desc), 7);
    CHECK_EQ_INT(w.ends, w.starts);
    CHECK(strstr(rig_request(r, rig_requests(r) - 1), OURS) != NULL);
    rig_free(r);
}

TEST(it_is_ended_when_nobody_wants_it_any_more) {
    int how;
    for (how = 0; how < 4; how++) {
        rig *r = rig_new();
        worker w;
        phi_agent_desc desc = desc_with(r, &w);
        phi_agent agent;
        desc.compaction.budget_threshold_pct = 0.3;
        w.busy = 1000;
        agent = rig_agent(r, &desc);
        work_run(r, agent, 5);
        CHECK_EQ_INT(w.starts, 1);
        CHECK_EQ_INT(w.ends, 0); /* it is at work between runs */
        if (how == 0) CHECK_EQ_INT(phi_agent_reset(agent), PHI_OK);
        if (how == 1) CHECK_EQ_INT(phi_agent_replace_messages(agent, NULL, 0), PHI_OK);
        if (how == 2) phi_agent_free(agent);
        if (how == 3) {
            CHECK_EQ_INT(phi_compact(agent), PHI_OK);
            CHECK_EQ_INT(rig_run(r, 10), 0);
        }
        CHECK_EQ_INT(w.ends, 1);
        rig_free(r);
        CHECK_EQ_INT(w.ends, 1);
    }
}

/* ---- what it is told ---- */

static void refused(phi_agent_desc *desc, rig *r, const char *words) {
    phi_agent agent = phi_agent_new(rig_runtime(r), desc);
    CHECK(agent.rt == NULL);
    CHECK_EQ_STR(last_words(r), words);
}

TEST(a_config_that_makes_no_sense_is_refused_in_words) {
    rig *r = rig_new();
    phi_agent_desc desc = desc_of(r);
    desc.compaction.compact_at_pct = 90;
    refused(&desc, r, "compaction.compact_at_pct is 90: expected 0 to 1");
    desc.compaction.compact_at_pct = 0;
    desc.compaction.budget_threshold_pct = -1;
    refused(&desc, r, "compaction.budget_threshold_pct is -1: expected 0 to 1");
    desc.compaction.budget_threshold_pct = 0;
    desc.compaction.scope = (phi_compaction_scope)1;
    CHECK(phi_agent_new(rig_runtime(r), &desc).rt != NULL);
    memset(&desc.compaction.scope, 0x7f, sizeof desc.compaction.scope);
    refused(&desc, r, "compaction.scope is 2139062143: expected runs or tokens");
    memset(&desc.compaction.scope, 0, sizeof desc.compaction.scope);
    desc.compactor.start = work_start;
    refused(&desc, r, "compactor.poll is missing");
    desc.compactor.poll = work_poll;
    refused(&desc, r, "compactor.end is missing");
    rig_free(r);
}

TEST(an_agent_says_how_it_compacts) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc(), got;
    char focus[] = "Keep paths.";
    phi_agent agent;
    desc.compaction.focus_message = focus;
    desc.model.context_window = 5000;
    agent = rig_agent(r, &desc);
    focus[0] = '?'; /* it was copied */
    CHECK_EQ_INT(phi_agent_get_desc(agent, &got), PHI_OK);
    CHECK_EQ_INT(got.compaction.max_context_tokens, 5000);
    CHECK_EQ_INT(got.compaction.system_prompt_tokens, 0);
    CHECK_EQ_INT(got.compaction.keep_recent_turns, 10);
    CHECK_EQ_STR(got.compaction.focus_message, "Keep paths.");
    rig_free(r);
}

/* ---- memory ---- */

static void a_story_of_all(rig *r, bool own) {
    worker w;
    phi_agent_desc desc = desc_with(r, &w);
    phi_agent agent;
    if (!own) memset(&desc.compactor, 0, sizeof desc.compactor);
    desc.compaction.focus_message = "Keep paths.";
    agent = phi_agent_new(rig_runtime(r), &desc);
    if (agent.rt == NULL) return;
    script(r, 7);
    rig_replies(r, 400, HEARD_JSON, TOO_LONG);
    rig_says(r, "It fits.");
    (void)phi_prompt(agent, "Count");
    (void)rig_run(r, 200);
    (void)phi_prompt(agent, "And again");
    (void)rig_run(r, 100);
    (void)phi_compact(agent);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_INT(count_of(rig_story(r), "AgentStart"), count_of(rig_story(r), "AgentEnd"));
    phi_agent_free(agent);
    CHECK_EQ_INT(w.ends, w.starts);
}

static void fail_each(bool own) {
    int n = 0;
    do {
        rig *r;
        test_alloc_fail_at(-1);
        r = rig_new();
        test_alloc_fail_at(n);
        a_story_of_all(r, own);
        n++;
        rig_free(r);
    } while (test_alloc_tripped() && n < 5000);
    test_alloc_fail_at(-1);
    CHECK(n > 100 && n < 5000);
}

TEST(it_survives_every_failed_allocation) {
    fail_each(false);
    fail_each(true);
}

static phi_agent run_over(rig *r, phi_agent_desc *desc, phi_thread *thread) {
    phi_run_desc how;
    phi_content block;
    phi_message prompt = text_message(PHI_ROLE_USER, &block, "Count");
    phi_agent agent;
    memset(&how, 0, sizeof how);
    how.agent = desc;
    how.thread = thread;
    how.prompts = &prompt;
    how.prompt_count = 1;
    agent = phi_run(rig_runtime(r), &how);
    CHECK(agent.rt != NULL);
    CHECK_EQ_INT(rig_run(r, 200), 0);
    return agent;
}

TEST(a_thread_is_freed_whose_last_runs_a_compactor_frees_meanwhile) {
    rig *r = rig_new();
    worker w;
    phi_agent_desc desc = desc_with(r, &w);
    phi_thread *thread = phi_thread_new(rig_runtime(r), 0);
    phi_agent other;
    desc.compaction.budget_threshold_pct = 0.3;
    w.busy = 100000;
    rig_silent(r, true); /* events wait: the agents stay */
    script(r, 5);
    (void)run_over(r, &desc, thread);
    CHECK(w.starts == 1 && w.ends == 0);
    memset(&desc.compactor, 0, sizeof desc.compactor);
    script(r, 0);
    other = run_over(r, &desc, thread);
    CHECK(phi_agent_alive(other));
    w.frees = other;
    phi_thread_free(thread);
    CHECK_EQ_INT(w.ends, 1);
    rig_free(r);
}

/* A host replaces an answer by its own summary, a compaction leaves out the question before it, and the host takes its
   summary back: now nothing comes before the answer. */
TEST(a_view_that_begins_with_an_answer_is_sent_after_a_users_message) {
    rig *r = rig_new();
    phi_agent_desc desc = desc_of(r);
    desc.compaction.scope_runs = PHI_COMPACTION_NO_RUNS;
    phi_agent agent = rig_agent(r, &desc);
    phi_content words = PHI_ZERO;
    phi_message said = PHI_ZERO;
    phi_span span = PHI_ZERO;
    phi_rewrite mine = PHI_ZERO, undo = PHI_ZERO;
    words.kind = PHI_CONTENT_TEXT;
    words.text = PHI__LIT("As it was.");
    said.role = PHI_ROLE_USER;
    said.content = &words;
    said.content_count = 1;
    rig_says(r, "At the church.");
    CHECK_EQ_INT(phi_prompt(agent, "Where is the well?"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 100), 0);
    span.from = span.to = 3; /* the answer */
    span.messages = &said;
    span.message_count = 1;
    span.summary = true;
    mine.op_id = "mine";
    mine.spans = &span;
    mine.span_count = 1;
    CHECK_EQ_INT(phi_agent_rewrite(agent, &mine), PHI_OK);
    rig_says(r, "No.");
    CHECK_EQ_INT(phi_prompt(agent, "Is it deep?"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 100), 0);
    CHECK_EQ_INT(phi_compact(agent), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 0);
    CHECK(strstr(rig_story(r), "\nCompactionEnded 4 -> 3 messages, ") != NULL);
    undo.revoke = "mine";
    CHECK_EQ_INT(phi_agent_rewrite(agent, &undo), PHI_OK);
    rig_says(r, "Yes.");
    CHECK_EQ_INT(phi_prompt(agent, "And safe?"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 100), 0);
    CHECK(strstr(rig_request(r, 2),
                 "\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\","
                 "\"text\":\"[The conversation so far]\"}]},"
                 "{\"role\":\"assistant\",\"content\":[{\"type\":\"text\","
                 "\"text\":\"At the church.\"}]},{\"role\":\"user\"") != NULL);
    rig_free(r);
}

TEST_MAIN(TEST_ENTRY(a_thread_is_freed_whose_last_runs_a_compactor_frees_meanwhile),
          TEST_ENTRY(a_run_that_keeps_nothing_gives_back_what_it_compacted),
          TEST_ENTRY(a_run_that_keeps_nothing_needs_no_memory_to_give_back_what_it_compacted),
          TEST_ENTRY(what_a_rolled_back_run_left_is_read_as_it_was),
          TEST_ENTRY(a_limit_that_ends_a_run_is_no_failure_for_what_is_kept),
          TEST_ENTRY(a_view_that_nears_the_window_is_compacted_before_the_request_is_made),
          TEST_ENTRY(what_is_small_enough_is_left_alone_and_so_is_all_when_it_is_disabled),
          TEST_ENTRY(what_the_prompt_takes_is_estimated),
          TEST_ENTRY(recent_turns_give_way_when_they_are_too_large),
          TEST_ENTRY(earlier_runs_are_summed_up_and_the_oldest_go),
          TEST_ENTRY(what_cannot_be_made_smaller_is_not_told_of),
          TEST_ENTRY(what_stays_too_large_is_compacted_again_when_it_has_grown_and_not_each_turn),
          TEST_ENTRY(another_history_is_compacted_whatever_the_last_one_had_come_to),
          TEST_ENTRY(after_a_run_that_kept_nothing_the_next_one_is_compacted_as_it_was),
          TEST_ENTRY(where_nothing_can_be_cut_off_a_refusal_is_an_error_after_two_tries),
          TEST_ENTRY(an_agent_that_forgets_is_compacted_whatever_was_left_before),
          TEST_ENTRY(over_a_thousand_turns_what_is_sent_does_not_grow),
          TEST_ENTRY(over_a_thousand_turns_the_model_is_shown_a_bounded_number_of_messages),
          TEST_ENTRY(a_compaction_that_is_denied_is_asked_for_again_at_the_next_turn),
          TEST_ENTRY(a_hook_may_wait_and_the_compaction_is_done_when_it_has_decided),
          TEST_ENTRY(an_abort_at_any_step_leaves_an_agent_that_goes_on),
          TEST_ENTRY(what_a_provider_refuses_is_summed_up_before_anything_is_cut_off),
          TEST_ENTRY(what_is_refused_again_is_cut_off),
          TEST_ENTRY(a_compaction_that_the_host_asks_for_is_a_run_of_its_own),
          TEST_ENTRY(a_compaction_that_the_host_asks_for_can_be_denied_and_aborted),
          TEST_ENTRY(a_view_that_begins_with_an_answer_is_sent_after_a_users_message),
          TEST_ENTRY(an_agent_without_a_history_has_nothing_to_compact),
          TEST_ENTRY(a_host_s_own_compaction_is_made_while_the_run_goes_on),
          TEST_ENTRY(where_it_cannot_be_begun_the_plan_is_ours),
          TEST_ENTRY(where_it_fails_the_plan_is_ours),
          TEST_ENTRY(where_it_makes_no_sense_the_plan_is_ours),
          TEST_ENTRY(where_it_leaves_nothing_words_say_so_and_the_plan_is_ours),
          TEST_ENTRY(an_extension_is_nothing_to_be_sent),
          TEST_ENTRY(it_may_drop_turns_without_a_word),
          TEST_ENTRY(where_there_is_no_room_left_before_it_is_done_the_plan_is_ours),
          TEST_ENTRY(it_is_ended_when_nobody_wants_it_any_more),
          TEST_ENTRY(a_config_that_makes_no_sense_is_refused_in_words),
          TEST_ENTRY(an_agent_says_how_it_compacts),
          TEST_ENTRY(it_survives_every_failed_allocation))
