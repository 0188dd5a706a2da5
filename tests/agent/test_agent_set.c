/* test_agent_set.c - settings of an agent that there is: each shows its effect in the next request
   or run, a bad one changes none of them, and neither does want of memory. */
#include "agent/snapshot.h"
#include "loop/loop_in.h"
#include "loop/tries.h"
#include "loop/tool.h"
#include "support/heard.h"
#include "support/set.h"
#include "record/event_json.h"

#include "agent/one_shot_run.h"
#include "codecs/presets.h"
#include "model/model.h"
#include "agent/agent_info.h"
#include "features/failover.h"

static bool has(rig *r, size_t i, const char *text) {
    const char *request = rig_request(r, i);
    return request != NULL && strstr(request, text) != NULL;
}

static const char *run(rig *r, phi_agent agent) {
    rig_forget(r);
    CHECK_EQ_INT(phi_prompt(agent, "Hi"), PHI_OK);
    CHECK_EQ_INT(rig_run_until(r, 6000000), 0);
    return rig_story(r);
}

static phi_agent_desc now_of(phi_agent agent) {
    phi_agent_desc desc;
    memset(&desc, 0, sizeof desc);
    CHECK_EQ_INT(phi_agent_get_desc(agent, &desc), PHI_OK);
    return desc;
}

#define LONG "A long answer, of which not every word is needed for ever and a day. "

static void set(phi_agent agent, const phi_agent_desc *to, uint32_t fields) {
    CHECK_EQ_INT(phi_agent_set(agent, to, fields), PHI_OK);
}

/* ---- the next request ---- */

TEST(thinking_tokens_and_temperature_are_in_the_next_request_and_its_loop_id) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc(), to;
    phi_agent agent;
    desc.model.reasoning = true;
    agent = rig_agent(r, &desc);
    memset(&to, 0, sizeof to);
    to.thinking = PHI_THINKING_HIGH;
    to.max_tokens = 8000;
    to.options.has_temperature = true;
    to.options.temperature = 0.25;
    rig_says(r, "One.");
    rig_says(r, "Two.");
    rig_says(r, "Three.");
    (void)run(r, agent);
    CHECK(!has(r, 0, "\"thinking\"") && !has(r, 0, "8000"));
    set(agent, &to, PHI_SET_THINKING | PHI_SET_MAX_TOKENS);
    (void)run(r, agent);
    CHECK(has(r, 1, "\"thinking\"") && has(r, 1, "\"max_tokens\":24384"));
    CHECK(strstr(phi_agent_get_info(agent).loop_id.at, ".test-model.thinking.") != NULL);
    to.thinking = PHI_THINKING_OFF;
    set(agent, &to, PHI_SET_THINKING | PHI_SET_OPTIONS);
    (void)run(r, agent);
    CHECK(!has(r, 2, "\"thinking\":{") && has(r, 2, "\"temperature\":0.25"));
    CHECK(strstr(phi_agent_get_info(agent).loop_id.at, ".thinking.") == NULL);
    CHECK_EQ_INT(now_of(agent).max_tokens, 8000);
    CHECK(now_of(agent).options.has_temperature);
    CHECK_EQ_INT(now_of(agent).thinking, PHI_THINKING_OFF);
    rig_free(r);
}

TEST(cache_marks_and_the_choice_of_tools_are_in_the_next_request) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc(), to;
    phi_tool tool = rig_echo();
    phi_agent agent = agent_with(r, &desc, &tool);
    memset(&to, 0, sizeof to);
    to.cache.mode = PHI_CACHE_DISABLED;
    to.tool_options.choice = PHI_TOOL_CHOICE_REQUIRED;
    rig_says(r, "One.");
    rig_says(r, "Two.");
    (void)run(r, agent);
    CHECK(has(r, 0, "cache_control") && !has(r, 0, "\"type\":\"any\""));
    set(agent, &to, PHI_SET_CACHE | PHI_SET_TOOL_CHOICE);
    (void)run(r, agent);
    CHECK(!has(r, 1, "cache_control") && has(r, 1, "\"type\":\"any\""));
    rig_free(r);
}

/* ---- the next run ---- */

TEST(retries_are_those_that_were_set) {
    rig *r = rig_new();
    phi_agent_desc to;
    phi_agent agent = rig_agent(r, NULL); /* tries once */
    memset(&to, 0, sizeof to);
    to.retry.max_retries = 1;
    to.retry.initial_delay_ms = 10;
    rig_replies(r, 529, HEARD_JSON, OVERLOADED);
    CHECK_EQ_INT(count_of(run(r, agent), "Retry"), 0);
    set(agent, &to, PHI_SET_RETRY);
    rig_replies(r, 529, HEARD_JSON, OVERLOADED);
    rig_says(r, "Here.");
    CHECK(strstr(run(r, agent), "Retry 1/2 ") != NULL);
    CHECK_EQ_INT(now_of(agent).retry.max_delay_ms, 30000); /* zero is the default here, too */
    rig_free(r);
}

TEST(limits_and_budgets_are_those_that_were_set) {
    rig *r = rig_new();
    phi_agent_desc to;
    phi_agent agent;
    phi_agent_desc desc = rig_desc();
    phi_tool tool = rig_echo();
    agent = agent_with(r, &desc, &tool);
    memset(&to, 0, sizeof to);
    to.limits.max_turns = 1;
    set(agent, &to, PHI_SET_LIMITS);
    rig_call(r, "toolu_1", "echo", "{}");
    CHECK(strstr(run(r, agent), "[Agent stopped: Max turns reached (1/1)]") != NULL);
    to.limits.max_turns = 0;
    to.budget.max_requests = 2;
    set(agent, &to, PHI_SET_LIMITS | PHI_SET_BUDGET);
    CHECK_EQ_INT(now_of(agent).limits.max_turns, 50);
    CHECK_EQ_INT(now_of(agent).budget.max_requests, 2);
    rig_call(r, "toolu_2", "echo", "{}");
    rig_call(r, "toolu_3", "echo", "{}");
    CHECK(strstr(run(r, agent), "Request budget reached (2/2)") != NULL);
    rig_free(r);
}

TEST(deadlines_are_those_that_were_set) {
    rig *r = rig_new();
    phi_agent_desc to;
    phi_agent agent = rig_agent(r, NULL);
    memset(&to, 0, sizeof to);
    to.deadlines.idle_ms = 77;
    set(agent, &to, PHI_SET_DEADLINES);
    rig_hangs(r, HALF);
    if (!CHECK(strstr(run(r, agent), "Error timeout") != NULL)) printf("%s", rig_story(r));
    CHECK(strstr(rig_story(r), "77 ms") != NULL);
    rig_free(r);
}

TEST(calls_run_in_the_order_that_was_set_with_the_deadline_that_was_set) {
    static const char *const calls[] = {"c1 wait {}", "c2 wait {}"};
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc(), to;
    phi_tool tool = rig_wait(r);
    phi_agent agent = agent_with(r, &desc, &tool);
    memset(&to, 0, sizeof to);
    to.tool_options.mode = PHI_TOOLS_SEQUENTIAL;
    to.tool_options.timeout_ms = 50;
    set(agent, &to, PHI_SET_TOOL_MODE | PHI_SET_TOOL_TIMEOUT);
    rig_calls(r, calls, 2);
    rig_says(r, "Done.");
    CHECK_EQ_INT(phi_prompt(agent, "Hi"), PHI_OK);
    (void)rig_run(r, 10);
    CHECK_EQ_INT(rig_started(r), 1);
    CHECK_EQ_INT(rig_run_until(r, 10000), 0);
    CHECK_EQ_INT(count_of(rig_story(r), "Tool exceeded timeout of 50ms"), 6); /* END and messages */
    CHECK_EQ_INT(now_of(agent).tool_options.batch, 4);
    rig_free(r);
}

TEST(compaction_is_that_which_was_set) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc(), to;
    phi_agent agent;
    char focus[] = "Mind the river.";
    int i;
    desc.compaction.disable = true;
    rig_mock(r); /* whose answers have no usage: the estimate counts */
    agent = rig_agent(r, &desc);
    for (i = 0; i < 8; i++) {
        rig_says(r, LONG LONG LONG LONG LONG LONG);
        CHECK_EQ_INT(count_of(run(r, agent), "CompactionStarted"), 0);
    }
    memset(&to, 0, sizeof to);
    to.compaction.max_context_tokens = 400;
    to.compaction.system_prompt_tokens = 1;
    to.compaction.focus_message = focus;
    set(agent, &to, PHI_SET_COMPACTION);
    focus[0] = '!'; /* it was copied */
    rig_says(r, "Yes.");
    CHECK(strstr(run(r, agent), "CompactionStarted") != NULL);
    CHECK_EQ_STR(now_of(agent).compaction.focus_message, "Mind the river.");
    for (i = 0; i < 3; i++) { /* what the agent has itself can be given */
        to = now_of(agent);
        set(agent, &to, PHI_SET_COMPACTION);
    }
    CHECK_EQ_STR(now_of(agent).compaction.focus_message, "Mind the river.");
    rig_free(r);
}

static phi_verdict denies(void *user_data, phi_hook *hook) {
    ++*(int *)user_data;
    return hook->point == PHI_HOOK_BEFORE_LOOP ? PHI_DENY : PHI_ALLOW;
}

static phi_verdict filters_out(void *user_data, phi_hook *hook) {
    ++*(int *)user_data;
    hook->reply = phi_str_of("not here");
    return PHI_DENY;
}

TEST(hooks_and_filters_are_those_that_were_set) {
    rig *r = rig_new();
    phi_agent_desc to;
    phi_agent agent = rig_agent(r, NULL);
    phi_filter filter;
    int hooked = 0, filtered = 0;
    memset(&to, 0, sizeof to);
    to.hook_fn = denies;
    to.hook_points = PHI_HOOK_BEFORE_LOOP;
    to.hook_user_data = &hooked;
    set(agent, &to, PHI_SET_HOOKS);
    (void)run(r, agent);
    CHECK_EQ_INT(rig_requests(r), 0);
    CHECK_EQ_INT(hooked, 1);
    memset(&to, 0, sizeof to);
    filter.fn = filters_out;
    filter.user_data = &filtered;
    to.input.filters = &filter;
    to.input.filter_count = 1;
    set(agent, &to, PHI_SET_HOOKS | PHI_SET_FILTERS);
    filter.fn = NULL; /* copied */
    CHECK(strstr(run(r, agent), "not here") != NULL);
    CHECK_EQ_INT(hooked, 1);
    CHECK_EQ_INT(filtered, 1);
    to = now_of(agent);
    REQUIRE(to.input.filter_count == 1);
    set(agent, &to, PHI_SET_FILTERS);
    to.input.filter_count = 0;
    set(agent, &to, PHI_SET_FILTERS);
    rig_says(r, "Here.");
    (void)run(r, agent);
    CHECK_EQ_INT(filtered, 1);
    CHECK_EQ_INT(rig_requests(r), 1);
    rig_free(r);
}

TEST(the_rest_is_shown_by_the_desc_and_the_repeat_guard_counts_by_it) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc(), to, is;
    phi_tool tool = rig_echo();
    phi_agent agent = agent_with(r, &desc, &tool);
    memset(&to, 0, sizeof to);
    to.tool_options.repeat_warn_after = PHI_UNLIMITED;
    to.tool_options.repeat_stop_after = 2;
    to.keep = PHI_KEEP_NONE;
    to.deadlines.decision_ms = 9;
    to.input.steering_mode = to.input.follow_up_mode = PHI_QUEUE_ALL;
    to.input.queue_limit = 3;
    to.tool_options.max_result_bytes = 1000;
    to.tool_options.max_result_image_bytes = 2000;
    to.options.capture_requests = true;
    to.tool_options.effects.mode = PHI_EFFECTS_DENY_ALL;
    set(agent, &to,
        PHI_SET_REPEAT | PHI_SET_KEEP | PHI_SET_DEADLINES | PHI_SET_QUEUES | PHI_SET_RESULTS |
            PHI_SET_OPTIONS | PHI_SET_EFFECTS);
    is = now_of(agent);
    CHECK_EQ_INT(is.tool_options.repeat_stop_after, 2);
    CHECK_EQ_INT(is.keep, PHI_KEEP_NONE);
    CHECK_EQ_INT(is.deadlines.decision_ms, 9);
    CHECK(is.input.steering_mode == PHI_QUEUE_ALL && is.input.follow_up_mode == PHI_QUEUE_ALL);
    CHECK_EQ_INT(is.input.queue_limit, 3);
    CHECK_EQ_INT(is.tool_options.max_result_bytes, 1000);
    CHECK_EQ_INT(is.tool_options.max_result_image_bytes, 2000);
    CHECK(is.tool_options.effects.mode == PHI_EFFECTS_DENY_ALL);
    rig_call(r, "toolu_1", "echo", "{}");
    rig_call(r, "toolu_2", "echo", "{}");
    CHECK(strstr(run(r, agent), "[Agent stopped: Repeated tool call (2/2)]") != NULL);
    CHECK(strstr(rig_story(r), "TurnRequest") != NULL);
    rig_free(r);
}

static void keep_start(void *user_data, const phi_event *event) {
    phi_memory memory;
    phi_arena arena;
    phi_str json = {NULL, 0};
    if (event->kind != PHI_EV_AGENT_START) return;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(phi_event_to_json(event, &arena, &json), PHI_OK);
    heard_copy((char *)user_data, 1500, json);
    phi_arena_free(&arena);
}

TEST(the_records_of_the_next_run_show_the_new_values) {
    rig *r = rig_new();
    phi_agent_desc to;
    phi_agent agent = rig_agent(r, NULL);
    char start[1500] = "";
    memset(&to, 0, sizeof to);
    to.thinking = PHI_THINKING_LOW;
    to.max_tokens = 1234;
    to.options.has_temperature = true;
    to.options.temperature = 0.5;
    set(agent, &to, PHI_SET_THINKING | PHI_SET_MAX_TOKENS | PHI_SET_OPTIONS);
    rig_watch(r, keep_start, start);
    rig_says(r, "Here.");
    (void)run(r, agent);
    CHECK(strstr(start, "\"max_tokens\":1234,\"thinking_level\":\"low\",\"temperature\":0.5") !=
          NULL);
    rig_free(r);
}

/* ---- when ---- */

TEST(some_settings_count_during_a_run_and_the_others_wait_for_its_end) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc(), to;
    phi_tool tool = rig_wait(r);
    phi_agent agent = agent_with(r, &desc, &tool);
    memset(&to, 0, sizeof to);
    to.max_tokens = 4321;
    to.limits.max_turns = 1;
    rig_call(r, "toolu_1", "wait", "{}");
    rig_says(r, "Done.");
    CHECK_EQ_INT(phi_prompt(agent, "Hi"), PHI_OK);
    (void)rig_run(r, 10);
    CHECK_EQ_INT(phi_agent_set(agent, &to, PHI_SET_LIMITS | PHI_SET_MAX_TOKENS), PHI_BUSY);
    CHECK_EQ_INT(now_of(agent).max_tokens, 0);
    CHECK_EQ_INT(phi_agent_set(agent, &to, PHI_SET_MAX_TOKENS), PHI_OK);
    rig_finish(r, 0, "done");
    CHECK_EQ_INT(rig_run(r, 30), 0);
    CHECK(has(r, 1, "\"max_tokens\":4321"));
    CHECK_EQ_INT(phi_agent_set(agent, &to, PHI_SET_LIMITS), PHI_OK);
    rig_free(r);
}

TEST(a_run_that_was_saved_goes_on_with_the_settings_that_its_agent_had) {
    rig *r = rig_new(), *other = rig_new();
    phi_agent_desc desc = rig_desc(), to, saved_desc;
    phi_tool tool = rig_echo(), waits = rig_wait(r);
    phi_memory memory;
    phi_arena arena;
    phi_str saved = {NULL, 0};
    phi_agent agent = agent_with(r, &desc, &waits), again;
    (void)tool;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    memset(&to, 0, sizeof to);
    to.max_tokens = 99;
    to.limits.max_turns = 2;
    set(agent, &to, PHI_SET_MAX_TOKENS | PHI_SET_LIMITS);
    rig_call(r, "toolu_1", "wait", "{}");
    CHECK_EQ_INT(phi_prompt(agent, "Hi"), PHI_OK);
    (void)rig_run(r, 10);
    CHECK_EQ_INT(phi_agent_snapshot(agent, &arena, &saved), PHI_OK);
    saved_desc = now_of(agent);
    saved_desc.tools = &tool; /* what is under way is answered by the other's tool */
    tool.name = "wait";
    again = phi_agent_restore(rig_runtime(other), &saved_desc, saved, PHI_RESTORE_INTERRUPT);
    REQUIRE(again.rt != NULL);
    CHECK_EQ_INT(rig_run(other, 30), 0);
    CHECK_EQ_INT(now_of(again).max_tokens, 99);
    CHECK_EQ_INT(now_of(again).limits.max_turns, 2);
    rig_says(other, "Here.");
    (void)run(other, again);
    CHECK(has(other, 0, "\"max_tokens\":99"));
    phi_arena_free(&arena);
    rig_free(other);
    rig_free(r);
}

/* ---- what is refused ---- */

static void refused(phi_agent agent, const phi_agent_desc *to, uint32_t fields, phi_status status,
                    const char *words) {
    const char *said = "";
    CHECK_EQ_INT(phi_agent_set(agent, to, fields | PHI_SET_MAX_TOKENS), status);
    said = phi_last_error(agent.rt).message;
    CHECK_EQ_STR(said, words);
    CHECK_EQ_INT(now_of(agent).max_tokens, 0); /* all or nothing */
}

TEST(a_bad_value_changes_nothing_and_is_named) {
    rig *r = rig_new();
    phi_tool tool = rig_echo();
    phi_agent_desc desc = rig_desc(), to;
    phi_failover failover;
    phi_agent agent;
    rig_hooks(r, &desc, PHI_HOOK_BEFORE_TOOL);
    tool.needs_approval = true;
    agent = agent_with(r, &desc, &tool);
    memset(&to, 0, sizeof to);
    memset(&failover, 0, sizeof failover);
    to.max_tokens = 7;
    to.options.has_temperature = true;
    to.options.temperature = -1;
    refused(agent, &to, PHI_SET_OPTIONS, PHI_BAD_ARG,
            "options.temperature is -1: expected 0 or more");
    to.compaction.compact_at_pct = 2;
    refused(agent, &to, PHI_SET_COMPACTION, PHI_BAD_ARG,
            "compaction.compact_at_pct is 2: expected 0 to 1");
    refused(agent, &to, PHI_SET_HOOKS, PHI_BAD_ARG,
            "tool \"echo\": needs_approval, and nothing can approve: set hook_fn, and "
            "PHI_HOOK_BEFORE_TOOL in hook_points");
    to.hook_points = 1;
    refused(agent, &to, PHI_SET_HOOKS, PHI_BAD_ARG, "hook_fn is missing, hook_points is 0x1");
    to.input.filter_count = 2;
    refused(agent, &to, PHI_SET_FILTERS, PHI_BAD_ARG,
            "input.filters is missing, filter_count is 2");
    to.failover = &failover;
    refused(agent, &to, PHI_SET_FAILOVER, PHI_BAD_ARG,
            "failover.model_count is 0: expected 1 to 16");
    to.tool_options.mode = (phi_tool_mode)9;
    refused(agent, &to, PHI_SET_TOOL_MODE, PHI_BAD_ARG,
            "thinking, tool_options.choice or mode, input.steering_mode, follow_up_mode or "
            "first_turn_trigger, keep or memory.at_limit is none of its values");
    refused(agent, &to, 1u << 30, PHI_BAD_ARG,
            "phi_agent_set: fields is 0x40040000: expected PHI_SET_ bits");
    CHECK_EQ_INT(phi_agent_set(agent, &to, 0), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_agent_set(agent, NULL, PHI_SET_KEEP), PHI_BAD_ARG);
    phi_agent_free(agent);
    CHECK_EQ_INT(phi_agent_set(agent, &to, PHI_SET_KEEP), PHI_STALE);
    rig_free(r);
}

TEST(want_of_memory_changes_nothing) {
    bool tripped = true;
    int n;
    for (n = 0; tripped && n < 400; n++) {
        rig *r = rig_new();
        phi_agent_desc to;
        phi_failover failover;
        phi_failover_model model;
        phi_filter filter;
        phi_agent agent = rig_agent(r, NULL);
        phi_status status;
        char line[200];
        int calls = 0;
        memset(&to, 0, sizeof to);
        memset(&failover, 0, sizeof failover);
        memset(&model, 0, sizeof model);
        model.model = phi_model_anthropic("m2", "k");
        failover.models = &model;
        failover.model_count = 1;
        filter.fn = filters_out;
        filter.user_data = &calls;
        to.thinking = PHI_THINKING_LOW;
        to.compaction.focus_message = "Mind the river.";
        to.input.filters = &filter;
        to.input.filter_count = 1;
        to.failover = &failover;
        test_alloc_fail_at(n);
        status = phi_agent_set(
            agent, &to, PHI_SET_THINKING | PHI_SET_COMPACTION | PHI_SET_FILTERS | PHI_SET_FAILOVER);
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        CHECK_EQ_INT(status, tripped ? PHI_NO_MEMORY : PHI_OK);
        (void)snprintf(line, sizeof line, "%d %d %d %d", (int)now_of(agent).thinking,
                       (int)now_of(agent).input.filter_count, now_of(agent).failover != NULL,
                       now_of(agent).compaction.focus_message != NULL);
        CHECK_EQ_STR(line, tripped ? "0 0 0 0" : "2 1 1 1");
        if (tripped) {
            rig_says(r, "Here.");
            CHECK(strstr(run(r, agent), "AgentEnd ok") != NULL);
            CHECK(strstr(phi_agent_get_info(agent).loop_id.at, ".thinking.") == NULL);
        }
        rig_free(r);
        if (!CHECK_EQ_INT(test_alloc_live_bytes(), 0)) return;
    }
    CHECK(n > 5 && !tripped);
}

/* ---- several at once ---- */

typedef struct changes {
    phi_agent_desc to;
    phi_tool tool;
    phi_policy policy;
} changes;

/* What the setters of their own once changed. */
static const uint32_t WHO = PHI_SET_MODEL | PHI_SET_SYSTEM_PROMPT | PHI_SET_TOOLS | PHI_SET_FORMAT |
                            PHI_SET_POLICY | PHI_SET_TOOL_TIMEOUT | PHI_SET_OPTIONS;

static void changes_make(changes *c) {
    memset(c, 0, sizeof *c);
    c->tool = rig_echo();
    c->tool.name = "other";
    c->policy.max_input_tokens = 9000;
    c->to.model = phi_model_anthropic("m2", "k");
    c->to.system_prompt = "Be brief.";
    c->to.tools = &c->tool;
    c->to.tool_count = 1;
    c->to.tool_options.timeout_ms = 70;
    c->to.format.kind = PHI_FORMAT_JSON_SCHEMA;
    c->to.format.schema = "{\"type\":\"object\"}";
    c->to.format.name = "answer";
    c->to.policy = &c->policy;
    c->to.options.extra = "{\"metadata\":{\"user_id\":\"u\"}}";
}

static void changes_are(phi_agent agent, bool there) {
    phi_agent_desc is = now_of(agent);
    char line[200];
    (void)snprintf(line, sizeof line, "%s %s %d %s %s %d %d %s", is.model.id,
                   is.system_prompt != NULL ? is.system_prompt : "-", (int)is.tool_count,
                   is.tool_count > 0 ? is.tools[0].name : "-",
                   is.format.name != NULL ? is.format.name : "-",
                   is.policy != NULL ? (int)is.policy->max_input_tokens : 0,
                   is.tool_count > 0 ? (int)is.tools[0].timeout_ms : 0,
                   is.options.extra != NULL ? is.options.extra : "-");
    CHECK_EQ_STR(line, there ? "m2 Be brief. 1 other answer 9000 70 "
                               "{\"metadata\":{\"user_id\":\"u\"}}"
                             : "test-model - 1 echo - 0 120000 -");
}

TEST(a_model_a_prompt_tools_a_format_and_a_policy_change_together_or_not_at_all) {
    bool tripped = true;
    int n;
    for (n = 0; tripped && n < 400; n++) {
        rig *r = rig_new();
        phi_agent_desc desc = rig_desc();
        phi_tool tool = rig_echo();
        phi_agent agent = agent_with(r, &desc, &tool);
        phi_status status;
        changes c;
        changes_make(&c);
        test_alloc_fail_at(n);
        status = phi_agent_set(agent, &c.to, WHO);
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        CHECK_EQ_INT(status, tripped ? PHI_NO_MEMORY : PHI_OK);
        changes_are(agent, !tripped);
        rig_says(r, "{}");
        CHECK(strstr(run(r, agent), "AgentEnd ok") != NULL);
        CHECK(has(r, 0, tripped ? "\"echo\"" : "\"other\""));
        CHECK(has(r, 0, "Be brief.") == !tripped && has(r, 0, PHI_RESPOND_TOOL) == !tripped);
        CHECK((strstr(phi_agent_get_info(agent).loop_id.at, ".m2.") != NULL) == !tripped);
        rig_free(r);
        if (!CHECK_EQ_INT(test_alloc_live_bytes(), 0)) return;
    }
    CHECK(n > 10 && !tripped);
}

TEST(one_bad_field_leaves_all_others_as_they_are) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tool = rig_echo();
    phi_agent agent = agent_with(r, &desc, &tool);
    phi_provider none;
    changes c;
    changes_make(&c);
    memset(&none, 0, sizeof none);
    c.tool.schema = "{\"type\":\"string\"}";
    refused(agent, &c.to, WHO, PHI_BAD_ARG,
            "tool \"other\": schema: expected an object with \"type\":\"object\"");
    c.tool = rig_echo();
    c.tool.name = PHI_RESPOND_TOOL;
    CHECK_EQ_INT(phi_agent_set(agent, &c.to, WHO), PHI_BAD_ARG); /* the format's own */
    c.tool.name = "other";
    c.policy.include = 1u << 30;
    refused(agent, &c.to, WHO, PHI_BAD_ARG, "policy.include: expected PHI_INCLUDE_ bits");
    c.policy.include = 0;
    c.to.model.id = NULL;
    CHECK_EQ_INT(phi_agent_set(agent, &c.to, WHO), PHI_BAD_ARG);
    c.to.model.id = "m2";
    c.to.options.extra = "{\"messages\":[]}";
    refused(agent, &c.to, WHO, PHI_BAD_ARG, "options.extra: phi writes \"messages\" itself");
    c.to.provider = &none;
    CHECK_EQ_INT(phi_agent_set(agent, &c.to, WHO | PHI_SET_PROVIDER), PHI_BAD_ARG);
    changes_are(agent, false);
    rig_free(r);
}

TEST(all_fields_may_be_set_to_what_they_are) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc(), is;
    phi_tool tool = rig_echo();
    phi_agent agent = agent_with(r, &desc, &tool);
    changes c;
    int i;
    changes_make(&c);
    set(agent, &c.to, WHO);
    for (i = 0; i < 2; i++) {
        is = now_of(agent);
        set(agent, &is, (PHI_SET_TEXTS << 1) - 1);
        changes_are(agent, true);
    }
    rig_says(r, "{}");
    CHECK(strstr(run(r, agent), "AgentEnd ok") != NULL);
    CHECK(has(r, 0, "\"model\":\"m2\"") && has(r, 0, "\"other\""));
    rig_free(r);
}

/* ---- with a list of models ---- */

TEST(a_list_of_models_is_set_and_taken_away_and_settings_are_the_agents_own) {
    rig *r = rig_new();
    phi_agent_desc to;
    phi_failover failover;
    phi_failover_model model;
    phi_agent agent = rig_agent(r, NULL);
    memset(&to, 0, sizeof to);
    memset(&failover, 0, sizeof failover);
    memset(&model, 0, sizeof model);
    model.model = phi_model_anthropic("m2", "k");
    model.max_tokens = 22;
    failover.models = &model;
    failover.model_count = 1;
    failover.stay = PHI_FAILOVER_STAY_EVER;
    to.failover = &failover;
    set(agent, &to, PHI_SET_FAILOVER);
    rig_replies(r, 500, HEARD_JSON, HEARD_BOOM);
    rig_says(r, "Here.");
    (void)run(r, agent);
    CHECK_STR(phi_agent_get_info(agent).model_id, "m2");
    to.max_tokens = 11; /* of the agent's own model */
    set(agent, &to, PHI_SET_MAX_TOKENS);
    CHECK_STR(phi_agent_get_info(agent).model_id, "m2");
    CHECK_EQ_INT(now_of(agent).max_tokens, 11);
    rig_says(r, "Here.");
    (void)run(r, agent);
    CHECK(has(r, 2, "\"max_tokens\":22"));
    to.failover = NULL;
    set(agent, &to, PHI_SET_FAILOVER);
    CHECK_STR(phi_agent_get_info(agent).model_id, "test-model");
    CHECK(now_of(agent).failover == NULL);
    rig_replies(r, 500, HEARD_JSON, HEARD_BOOM);
    CHECK(strstr(run(r, agent), "Failover") == NULL);
    CHECK(has(r, 3, "\"max_tokens\":11"));
    rig_free(r);
}

TEST(an_agent_of_one_run_keeps_its_settings) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_run_desc run_desc;
    phi_content block;
    phi_message prompt = text_message(PHI_ROLE_USER, &block, "Hi");
    phi_agent agent;
    memset(&run_desc, 0, sizeof run_desc);
    run_desc.agent = &desc;
    run_desc.thread = phi_thread_new(rig_runtime(r), 0);
    run_desc.prompts = &prompt;
    run_desc.prompt_count = 1;
    rig_says(r, "Here.");
    agent = phi_run(rig_runtime(r), &run_desc);
    REQUIRE(agent.rt != NULL);
    CHECK_EQ_INT(phi_agent_set(agent, &desc, PHI_SET_MAX_TOKENS), PHI_MISUSE);
    CHECK_EQ_STR(words_of(r), "phi_agent_set: an agent of phi_run is for that one run");
    CHECK_EQ_INT(rig_run(r, 20), 0);
    rig_free(r);
}

static bool takes(phi_agent agent, phi_model model, phi_content_kind kind, const char *type) {
    if (!CHECK_EQ_INT(set_model(agent, &model), PHI_OK)) return false;
    return phi_agent_takes(agent, kind, phi_str_of(type));
}

TEST(an_agent_says_what_its_model_takes) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent = rig_agent(r, &desc);
    phi_model claude = phi_model_anthropic("claude-sonnet-4-6", "K");
    phi_model gemini = phi_model_google("gemini-3-pro", "K"), blind = claude;
    phi_model llama = phi_model_preset("ollama", "llama3", NULL);
    blind.quirks |= PHI_QUIRK_NO_IMAGES;
    CHECK(takes(agent, claude, PHI_CONTENT_DOCUMENT, "application/pdf"));
    CHECK(!takes(agent, claude, PHI_CONTENT_DOCUMENT, "application/msword"));
    CHECK(!takes(agent, claude, PHI_CONTENT_AUDIO, "audio/wav"));
    CHECK(takes(agent, claude, PHI_CONTENT_IMAGE, "image/png"));
    CHECK(!takes(agent, claude, PHI_CONTENT_IMAGE, "image/bmp"));
    CHECK(!takes(agent, claude, PHI_CONTENT_OPAQUE, ""));
    CHECK(takes(agent, claude, PHI_CONTENT_TEXT, ""));
    CHECK(takes(agent, gemini, PHI_CONTENT_AUDIO, "audio/mpeg"));
    CHECK(!takes(agent, blind, PHI_CONTENT_IMAGE, "image/png"));
    CHECK(!takes(agent, blind, PHI_CONTENT_DOCUMENT, "application/pdf"));
    CHECK(!takes(agent, llama, PHI_CONTENT_DOCUMENT, "application/pdf"));
    CHECK(takes(agent, llama, PHI_CONTENT_DOCUMENT, "")); /* by its text */
    CHECK(!takes(agent, llama, PHI_CONTENT_AUDIO, ""));
    phi_agent_free(agent);
    CHECK(!phi_agent_takes(agent, PHI_CONTENT_TEXT, phi_str_of("")));
    rig_free(r);
}

/* ---- deferred tools ---- */

TEST(the_part_of_the_window_above_which_tools_are_deferred_counts_from_the_next_run_on) {
    static const uint32_t percent[] = {1, PHI_UNLIMITED, 0};
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc(), to;
    phi_tool tool = rig_echo();
    phi_agent agent;
    size_t i;
    tool.may_defer = true;
    desc.model.context_window = 400;
    agent = agent_with(r, &desc, &tool);
    for (i = 0; i < 4; i++) rig_says(r, "Here.");
    (void)run(r, agent);
    CHECK(has(r, 0, "\"name\":\"echo\""));
    memset(&to, 0, sizeof to);
    for (i = 0; i < 3; i++) {
        to.tool_options.defer_percent = percent[i];
        set(agent, &to, PHI_SET_DEFER_PERCENT);
        CHECK_EQ_INT(now_of(agent).tool_options.defer_percent, i == 2 ? 10 : percent[i]);
        (void)run(r, agent);
        CHECK_EQ_INT(has(r, i + 1, "\"name\":\"load_tools\""), i == 0);
        CHECK_EQ_INT(has(r, i + 1, "\"name\":\"echo\""), i != 0);
    }
    CHECK_EQ_INT(phi_prompt(agent, "Hi"), PHI_OK);
    CHECK_EQ_INT(phi_agent_set(agent, &to, PHI_SET_DEFER_PERCENT), PHI_BUSY);
    rig_free(r);
}

TEST_MAIN(
    TEST_ENTRY(thinking_tokens_and_temperature_are_in_the_next_request_and_its_loop_id),
    TEST_ENTRY(cache_marks_and_the_choice_of_tools_are_in_the_next_request),
    TEST_ENTRY(retries_are_those_that_were_set),
    TEST_ENTRY(limits_and_budgets_are_those_that_were_set),
    TEST_ENTRY(deadlines_are_those_that_were_set),
    TEST_ENTRY(calls_run_in_the_order_that_was_set_with_the_deadline_that_was_set),
    TEST_ENTRY(compaction_is_that_which_was_set),
    TEST_ENTRY(hooks_and_filters_are_those_that_were_set),
    TEST_ENTRY(the_rest_is_shown_by_the_desc_and_the_repeat_guard_counts_by_it),
    TEST_ENTRY(the_records_of_the_next_run_show_the_new_values),
    TEST_ENTRY(some_settings_count_during_a_run_and_the_others_wait_for_its_end),
    TEST_ENTRY(a_run_that_was_saved_goes_on_with_the_settings_that_its_agent_had),
    TEST_ENTRY(a_bad_value_changes_nothing_and_is_named),
    TEST_ENTRY(a_model_a_prompt_tools_a_format_and_a_policy_change_together_or_not_at_all),
    TEST_ENTRY(one_bad_field_leaves_all_others_as_they_are),
    TEST_ENTRY(all_fields_may_be_set_to_what_they_are), TEST_ENTRY(want_of_memory_changes_nothing),
    TEST_ENTRY(a_list_of_models_is_set_and_taken_away_and_settings_are_the_agents_own),
    TEST_ENTRY(an_agent_of_one_run_keeps_its_settings),
    TEST_ENTRY(an_agent_says_what_its_model_takes),
    TEST_ENTRY(the_part_of_the_window_above_which_tools_are_deferred_counts_from_the_next_run_on))
