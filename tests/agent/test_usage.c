/* test_usage.c - what was used and what it cost: of an answer, a run, an agent. */
#include "support/ask.h"
#include "support/heard.h"
#include "model/model_in.h"
#include "codecs/presets.h"
#include "model/model.h"
#include "agent/agent_info.h"

TEST(cost_is_tokens_by_rates_over_input_output_and_cache_and_reasoning_is_not_charged_again) {
    phi_cost rates;
    phi_usage usage;
    rates.input = 3.0;
    rates.output = 15.0;
    rates.cache_read = 0.5;
    rates.cache_write = 4.0;
    memset(&usage, 0, sizeof usage);
    usage.input = 1000000;
    CHECK(near_to(phi_cost_of(&rates, &usage), 3.0));
    usage.output = 100000;
    usage.reasoning = 90000;
    CHECK(near_to(phi_cost_of(&rates, &usage), 4.5));
    usage.cache_read = 2000000;
    usage.cache_write = 500000;
    CHECK(near_to(phi_cost_of(&rates, &usage), 7.5));
}

TEST(usages_are_summed_in_all_six_fields) {
    phi_usage sum, more;
    sum.input = 1, sum.output = 2, sum.reasoning = 3;
    sum.cache_read = 4, sum.cache_write = 5, sum.total_tokens = 6;
    more.input = 10, more.output = 20, more.reasoning = 30;
    more.cache_read = 40, more.cache_write = 50, more.total_tokens = 60;
    phi__message_add_usage(&sum, &more);
    CHECK_EQ_INT(sum.input, 11);
    CHECK_EQ_INT(sum.output, 22);
    CHECK_EQ_INT(sum.reasoning, 33);
    CHECK_EQ_INT(sum.cache_read, 44);
    CHECK_EQ_INT(sum.cache_write, 55);
    CHECK_EQ_INT(sum.total_tokens, 66);
}

#define CHAT_USAGE                                                                                 \
    "data: {\"id\":\"x\",\"choices\":[],\"usage\":{\"prompt_tokens\":10,"                          \
    "\"completion_tokens\":7,\"total_tokens\":17,\"completion_tokens_details\":"                   \
    "{\"reasoning_tokens\":4}}}\n\n"                                                               \
    "data: [DONE]\n\n"

#define CHAT_CALL                                                                                  \
    "data: {\"id\":\"x\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\","             \
    "\"tool_calls\":[{\"index\":0,\"id\":\"c1\",\"type\":\"function\",\"function\":"               \
    "{\"name\":\"echo\",\"arguments\":\"{}\"}}]}}]}\n\n"                                           \
    "data: {\"id\":\"x\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":"                \
    "\"tool_calls\"}]}\n\n" CHAT_USAGE

#define CHAT_TEXT                                                                                  \
    "data: {\"id\":\"x\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\","             \
    "\"content\":\"done\"}}]}\n\n"                                                                 \
    "data: {\"id\":\"x\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":"                \
    "\"stop\"}]}\n\n" CHAT_USAGE

TEST(the_usage_of_a_run_is_the_sum_of_its_turns_reasoning_too_and_the_agent_s_that_of_its_runs) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tool = rig_echo();
    phi_agent agent;
    heard h;
    heard_begin(&h, r);
    desc.model = phi_model_openai("gpt-test", "key");
    desc.model.cost.input = 100000.0; /* dollars a million: ten tokens are a dollar */
    desc.model.cost.output = 0.0;
    desc.tools = &tool;
    desc.tool_count = 1;
    agent = rig_agent(r, &desc);
    rig_replies(r, 200, SSE, CHAT_CALL);
    rig_replies(r, 200, SSE, CHAT_TEXT);
    rig_replies(r, 200, SSE, CHAT_TEXT);
    ask(r, agent, "go");
    CHECK_EQ_INT(h.usage.input, 20);
    CHECK_EQ_INT(h.usage.output, 14);
    CHECK_EQ_INT(h.usage.reasoning, 8);
    CHECK_EQ_INT(h.usage.total_tokens, 34);
    CHECK(near_to(phi_agent_get_info(agent).run_cost, 2.0));
    ask(r, agent, "again");
    CHECK_EQ_INT(h.usage.input, 10);
    CHECK_EQ_INT(phi_agent_get_info(agent).run_usage.reasoning, 4);
    CHECK_EQ_INT(phi_agent_get_info(agent).usage.input, 30);
    CHECK_EQ_INT(phi_agent_get_info(agent).usage.reasoning, 12);
    CHECK(near_to(phi_agent_get_info(agent).run_cost, 1.0));
    CHECK(near_to(phi_agent_get_info(agent).cost, 3.0));
    rig_free(r);
}

#define CHAT_CACHED                                                                                \
    "data: {\"id\":\"x\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\","             \
    "\"content\":\"done\"},\"finish_reason\":\"stop\"}]}\n\n"                                      \
    "data: {\"id\":\"x\",\"choices\":[],\"usage\":{\"prompt_tokens\":10,"                          \
    "\"completion_tokens\":7,\"total_tokens\":17,\"prompt_tokens_details\":"                       \
    "{\"cached_tokens\":6}}}\n\ndata: [DONE]\n\n"

TEST(the_hit_rate_is_what_was_read_of_all_that_was_shown) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    desc.model = phi_model_openai("gpt-test", "key");
    agent = rig_agent(r, &desc);
    CHECK(phi_agent_get_info(agent).cache_hit_rate == 0.0);
    rig_replies(r, 200, SSE, CHAT_CACHED);
    rig_replies(r, 200, SSE, CHAT_TEXT);
    ask(r, agent, "go");
    CHECK_EQ_INT(phi_agent_get_info(agent).usage.cache_read, 6);
    CHECK(near_to(phi_agent_get_info(agent).cache_hit_rate, 0.6));
    ask(r, agent, "again"); /* none of its 10 tokens is read */
    CHECK(near_to(phi_agent_get_info(agent).cache_hit_rate, 0.3));
    rig_free(r);
}

TEST_MAIN(
    TEST_ENTRY(
        cost_is_tokens_by_rates_over_input_output_and_cache_and_reasoning_is_not_charged_again),
    TEST_ENTRY(usages_are_summed_in_all_six_fields),
    TEST_ENTRY(
        the_usage_of_a_run_is_the_sum_of_its_turns_reasoning_too_and_the_agent_s_that_of_its_runs),
    TEST_ENTRY(the_hit_rate_is_what_was_read_of_all_that_was_shown))
