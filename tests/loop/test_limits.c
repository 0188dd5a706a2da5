/* test_limits.c - the limits of a run: their defaults, their words, and where they stop it. */
#include "support/ask.h"
#include "support/heard.h"
#include "agent/agent_history.h"
#include "agent/agent_info.h"
#include "log/thread.h"
#include "loop/hook.h"
#include "loop/input.h"

/* Turns of 15 tokens each that call a tool; each takes `turn_ms`. What the run's last message says. */
static void stops_with(const phi_limits *limits, const phi_cost *cost, uint32_t turn_ms,
                       size_t turns, const char *want) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tool = rig_wait(r);
    phi_agent agent;
    heard h;
    char call[256];
    size_t i;
    heard_begin(&h, r);
    tool.timeout_ms = PHI_UNLIMITED;
    desc.limits = *limits;
    if (cost != NULL) desc.model.cost = *cost;
    agent = agent_with(r, &desc, &tool);
    for (i = 0; i < 3; i++) {
        (void)snprintf(call, sizeof call, "{\"n\":%u}", (unsigned)i);
        rig_call(r, i == 0 ? "c1" : i == 1 ? "c2" : "c3", "wait", call);
    }
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    for (i = 0; rig_run(r, 10) > 0 && i < 3; i++) {
        if (rig_started(r) == i) break;
        rig_pass_stepping_ms(r, turn_ms);
        rig_finish(r, i, "ok");
    }
    CHECK_EQ_INT(h.turns, turns);
    CHECK_EQ_STR(text_at(agent, phi_thread_message_count(phi_agent_thread(agent)) - 1, 0), want);
    CHECK_EQ_INT(phi_thread_message_at(phi_agent_thread(agent),
                                       phi_thread_message_count(phi_agent_thread(agent)) - 1)
                     ->role,
                 turns == 4 ? PHI_ROLE_ASSISTANT : PHI_ROLE_USER);
    CHECK_EQ_INT(h.status, turns == 4 ? PHI_OK : PHI_LIMIT);
    (void)snprintf(call, sizeof call, "[Agent stopped: %s]", h.reason);
    CHECK_EQ_STR(turns == 4 ? h.reason : call,
                 turns == 4 ? "" : want); /* the event names it, too */
    /* it is told once, as every message is */
    CHECK_EQ_INT(count_of(rig_story(r), "MessageEnd user \"[Agent stopped: "), turns == 4 ? 0 : 1);
    CHECK_EQ_INT(h.message_count, phi_thread_message_count(phi_agent_thread(agent)));
    rig_free(r);
}

TEST(each_limit_that_is_reached_ends_the_run_in_its_own_words) {
    phi_limits limits;
    phi_cost cost;
    memset(&limits, 0, sizeof limits);
    memset(&cost, 0, sizeof cost);
    limits.max_turns = 2;
    stops_with(&limits, NULL, 0, 2, "[Agent stopped: Max turns reached (2/2)]");
    limits.max_turns = 0;
    limits.max_tokens = 30; /* reached, not exceeded */
    stops_with(&limits, NULL, 0, 2, "[Agent stopped: Max tokens reached (30/30)]");
    limits.max_tokens = 16;
    stops_with(&limits, NULL, 0, 2, "[Agent stopped: Max tokens reached (30/16)]");
    limits.max_tokens = 0;
    limits.max_duration_ms = 600000;
    stops_with(&limits, NULL, 601100, 1, "[Agent stopped: Max duration reached (601s/600s)]");
    limits.max_duration_ms = 1;
    stops_with(&limits, NULL, 2, 1, "[Agent stopped: Max duration reached (0s/0s)]");
    limits.max_duration_ms = 0;
    limits.max_cost = 0.5;
    cost.input = 100000.0; /* dollars a million: ten tokens are a dollar */
    stops_with(&limits, &cost, 0, 1, "[Agent stopped: Max cost reached ($1.0000/$0.5000)]");
}

TEST(of_several_limits_turns_come_first_then_tokens_duration_and_cost) {
    phi_limits limits;
    phi_cost cost;
    memset(&limits, 0, sizeof limits);
    memset(&cost, 0, sizeof cost);
    cost.input = 100000.0;
    limits.max_turns = 1;
    limits.max_tokens = 1;
    limits.max_duration_ms = 1000;
    limits.max_cost = 0.25;
    stops_with(&limits, &cost, 5000, 1, "[Agent stopped: Max turns reached (1/1)]");
    limits.max_turns = 0;
    stops_with(&limits, &cost, 5000, 1, "[Agent stopped: Max tokens reached (15/1)]");
    limits.max_tokens = 0;
    stops_with(&limits, &cost, 5000, 1, "[Agent stopped: Max duration reached (5s/1s)]");
    limits.max_duration_ms = 0;
    stops_with(&limits, &cost, 5000, 1, "[Agent stopped: Max cost reached ($1.0000/$0.2500)]");
}

TEST(a_model_without_rates_has_no_cost_to_limit) {
    phi_limits limits;
    memset(&limits, 0, sizeof limits);
    limits.max_cost = 0.000001;
    stops_with(&limits, NULL, 0, 4, "done");
}

#define CACHED_CALL(id)                                                                            \
    "data: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":10,"               \
    "\"cache_read_input_tokens\":1000,\"cache_creation_input_tokens\":100,"                        \
    "\"output_tokens\":1}}}\n\n"                                                                   \
    "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":"             \
    "\"tool_use\",\"id\":\"" id "\",\"name\":\"echo\",\"input\":{}}}\n\n"                          \
    "data: {\"type\":\"content_block_stop\",\"index\":0}\n\n"                                      \
    "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"},"                  \
    "\"usage\":{\"output_tokens\":5}}\n\n"                                                         \
    "data: {\"type\":\"message_stop\"}\n\n"

TEST(tokens_of_a_limit_are_input_and_output_and_cost_is_also_of_the_cache) {
    int i;
    for (i = 0; i < 2; i++) {
        rig *r = rig_new();
        phi_agent_desc desc = rig_desc();
        phi_tool tool = rig_echo();
        phi_agent agent;
        desc.tool_options.repeat_warn_after = PHI_UNLIMITED;
        if (i == 0) {
            desc.limits.max_tokens = 30;
        } else {
            desc.limits.max_cost = 3.5;
            desc.model.cost.cache_read = 1000.0;  /* 1000 tokens: a dollar */
            desc.model.cost.cache_write = 5000.0; /* 100 tokens: half a dollar */
        }
        agent = agent_with(r, &desc, &tool);
        rig_replies(r, 200, "Content-Type: text/event-stream\r\n", CACHED_CALL("c1"));
        rig_replies(r, 200, "Content-Type: text/event-stream\r\n", CACHED_CALL("c2"));
        if (i == 1) rig_replies(r, 200, "Content-Type: text/event-stream\r\n", CACHED_CALL("c3"));
        CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
        CHECK_EQ_INT(rig_run(r, 40), 0);
        CHECK_EQ_STR(text_at(agent, phi_thread_message_count(phi_agent_thread(agent)) - 1, 0),
                     i == 0 ? "[Agent stopped: Max tokens reached (30/30)]"
                            : "[Agent stopped: Max cost reached ($4.5000/$3.5000)]");
        rig_free(r);
    }
}

TEST(a_limit_stops_outside_of_any_turn_and_what_waited_goes_back_to_its_queue) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tool = rig_wait(r);
    phi_agent agent;
    desc.limits.max_turns = 1;
    rig_hooks(r, &desc, PHI_HOOK_BEFORE_TURN | PHI_HOOK_AFTER_LOOP);
    agent = agent_with(r, &desc, &tool);
    rig_call(r, "c1", "wait", "{}");
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 1);
    rig_forget(r);
    CHECK_EQ_INT(phi_steer(agent, "first"), PHI_OK);
    CHECK_EQ_INT(phi_steer(agent, "second"), PHI_OK);
    CHECK_EQ_INT(phi_inject(agent, "it rains", NULL), PHI_OK);
    rig_finish(r, 0, "ok");
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK(begins(rig_story(r), "ToolExecutionEnd toolResult c1 \"ok\"\n"
                               "MessageStart toolResult c1 \"ok\"\n"
                               "MessageEnd toolResult c1 \"ok\"\n"
                               "TurnEnd assistant wait({}) toolUse\n"
                               "MessageStart user \"[Agent stopped: Max turns reached (1/1)]\"\n"
                               "MessageEnd user \"[Agent stopped: Max turns reached (1/1)]\"\n"));
    CHECK_EQ_INT(count_of(rig_story(r), "InputDropped injected \"it rains\": "), 1);
    CHECK(strstr(rig_story(r), "AgentEnd a limit of the run was reached, 4 messages\n"
                               "-> after_loop (4 messages)\n") != NULL);
    CHECK_EQ_INT(phi_agent_get_info(agent).steering, 2);
    CHECK_EQ_INT(phi_prompt(agent, "on"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_STR(text_at(agent, 5, 0), "first"); /* before the second, as it was said */
    rig_free(r);
}

TEST(limits_are_50_turns_a_million_tokens_600_seconds_and_no_cost_by_default) {
    rig *r = rig_new();
    phi_agent_desc desc = plain_desc(), got;
    phi_agent agent = rig_agent(r, &desc);
    CHECK_EQ_INT(phi_agent_get_desc(agent, &got), PHI_OK);
    CHECK_EQ_INT(got.limits.max_turns, 50);
    CHECK_EQ_INT(got.limits.max_tokens, 1000000);
    CHECK_EQ_INT(got.limits.max_duration_ms, 600000);
    CHECK(got.limits.max_cost <= 0.0);
    rig_free(r);
}

static phi_status ends_after_60_turns(phi_limits limits, size_t turns) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tool = rig_echo();
    phi_agent agent;
    phi_status status = PHI_BUSY;
    const char *at;
    size_t n = 0;
    int i;
    desc.tools = &tool;
    desc.tool_count = 1;
    desc.limits = limits;
    agent = rig_agent(r, &desc);
    for (i = 0; i < 59; i++) {
        char id[16], arguments[32];
        (void)snprintf(id, sizeof id, "c%d", i);
        (void)snprintf(arguments, sizeof arguments, "{\"n\":%d}", i);
        rig_call(r, id, "echo", arguments);
    }
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 500), 0);
    for (at = rig_story(r); (at = strstr(at, "TurnStart")) != NULL; at++) n++;
    CHECK_EQ_INT(n, turns);
    if (strstr(rig_story(r), "AgentEnd ok") != NULL) status = PHI_OK;
    if (strstr(rig_story(r), "\"[Agent stopped: Max turns reached (50/50)]\"") != NULL)
        status = PHI_LIMIT;
    rig_free(r);
    return status;
}

TEST(a_run_may_be_without_any_limit) {
    phi_limits limits = PHI_ZERO;
    CHECK_EQ_INT(ends_after_60_turns(limits, 50), PHI_LIMIT);
    limits.max_turns = limits.max_duration_ms = PHI_UNLIMITED;
    limits.max_tokens = UINT64_MAX;
    CHECK_EQ_INT(ends_after_60_turns(limits, 60), PHI_OK);
}

TEST(one_switch_turns_all_limits_off_and_one_set_later_counts) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc(), now = PHI_ZERO;
    phi_agent agent;
    phi_limits limits = PHI_ZERO;
    limits.disable = true;
    limits.max_turns = 3;
    limits.max_cost = 0.0001;
    CHECK_EQ_INT(ends_after_60_turns(limits, 60), PHI_OK);
    desc.limits = limits;
    agent = rig_agent(r, &desc);
    CHECK_EQ_INT(phi_agent_get_desc(agent, &now), PHI_OK);
    CHECK(now.limits.max_turns == PHI_UNLIMITED && now.limits.max_tokens == UINT64_MAX);
    CHECK(now.limits.max_duration_ms == PHI_UNLIMITED && !(now.limits.max_cost > 0));
    CHECK(!now.limits.disable);
    now.limits.max_turns = 1;
    CHECK_EQ_INT(phi_agent_set(agent, &now, PHI_SET_LIMITS), PHI_OK);
    CHECK_EQ_INT(phi_agent_get_desc(agent, &now), PHI_OK);
    CHECK_EQ_INT(now.limits.max_turns, 1);
    now.limits.disable = true;
    CHECK_EQ_INT(phi_agent_set(agent, &now, PHI_SET_LIMITS), PHI_OK);
    CHECK_EQ_INT(phi_agent_get_desc(agent, &now), PHI_OK);
    CHECK(now.limits.max_turns == PHI_UNLIMITED && !now.limits.disable);
    rig_free(r);
}

TEST(a_server_that_says_more_tokens_than_there_are_numbers_lifts_no_limit) {
    static const char huge[] =
        "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\","
        "\"model\":\"m\",\"content\":[],\"usage\":{\"input_tokens\":18446744073709551615,"
        "\"output_tokens\":5}}}\n\n"
        "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,"
        "\"content_block\":{\"type\":\"tool_use\",\"id\":\"t1\",\"name\":\"echo\",\"input\":{}}}"
        "\n\n"
        "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n"
        "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":"
        "\"tool_use\"},\"usage\":{\"output_tokens\":5}}\n\n"
        "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tool = rig_echo();
    phi_agent agent;
    int i;
    desc.limits.max_tokens = 1000;
    desc.budget.max_tokens = 1000000;
    desc.tools = &tool;
    desc.tool_count = 1;
    agent = rig_agent(r, &desc);
    for (i = 0; i < 4; i++) rig_replies(r, 200, "Content-Type: text/event-stream\r\n", huge);
    CHECK_EQ_INT(phi_prompt(agent, "Hi"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 100), 0);
    CHECK_EQ_INT(rig_requests(r), 1);
    CHECK(strstr(rig_story(r), "Max tokens reached") != NULL);
    CHECK(phi_agent_get_info(agent).spending.tokens == UINT64_MAX);
    CHECK_EQ_INT(phi_prompt(agent, "Hi"), PHI_OK); /* nor a budget */
    CHECK_EQ_INT(rig_run(r, 100), 0);
    CHECK_EQ_INT(rig_requests(r), 1);
    rig_free(r);
}

/* The end of a run whose limit is reached, with `warnings` events before it and no memory from the n-th
   request on, is read after the run was freed. */
static void end_without_memory(int warnings, int n) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tool = rig_wait(r);
    phi_agent agent;
    phi_event ev;
    desc.limits.max_turns = 1;
    agent = agent_with(r, &desc, &tool);
    rig_call(r, "c1", "wait", "{}");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 1);
    rig_silent(r, true);
    rig_finish(r, 0, "ok");
    for (int i = 0; i < warnings; i++)
        CHECK(phi__events_warn(phi__find_agent(agent), PHI__LIT("a warning that takes some room")));
    test_alloc_fail_from(n);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    test_alloc_fail_from(-1);
    while (phi_next_event(rig_runtime(r), &ev)) {
        if (ev.kind == PHI_EV_AGENT_END && ev.status == PHI_LIMIT && ev.text.len > 0)
            CHECK_STR(ev.text, "Max turns reached (1/1)");
    }
    rig_free(r);
}

TEST(the_words_of_a_limit_outlive_the_run_when_memory_ends_before_its_last_event) {
    for (int warnings = 0; warnings < 40; warnings++)
        for (int n = 0; n < 12; n++) end_without_memory(warnings, n);
}

TEST_MAIN(TEST_ENTRY(a_server_that_says_more_tokens_than_there_are_numbers_lifts_no_limit),
          TEST_ENTRY(each_limit_that_is_reached_ends_the_run_in_its_own_words),
          TEST_ENTRY(of_several_limits_turns_come_first_then_tokens_duration_and_cost),
          TEST_ENTRY(a_model_without_rates_has_no_cost_to_limit),
          TEST_ENTRY(tokens_of_a_limit_are_input_and_output_and_cost_is_also_of_the_cache),
          TEST_ENTRY(a_limit_stops_outside_of_any_turn_and_what_waited_goes_back_to_its_queue),
          TEST_ENTRY(limits_are_50_turns_a_million_tokens_600_seconds_and_no_cost_by_default),
          TEST_ENTRY(a_run_may_be_without_any_limit),
          TEST_ENTRY(the_words_of_a_limit_outlive_the_run_when_memory_ends_before_its_last_event),
          TEST_ENTRY(one_switch_turns_all_limits_off_and_one_set_later_counts))
