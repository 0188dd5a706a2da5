/* test_request_model.c - a model for one request: its run has it, and nothing after it. */
#include "agent/response.h"
#include "agent/snapshot.h"
#include "features/failover.h"
#include "orchestrate/adaptive.h"
#include "orchestrate/strategy.h"
#include "support/rig.h"
#include "codecs/presets.h"
#include "model/model.h"
#include "support/request.h"
#include "agent/agent_history.h"
#include "agent/agent_info.h"

static phi_prompt_desc by(const phi_model *model) {
    phi_prompt_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.text = "How much gold?";
    desc.model = model;
    return desc;
}

/* The n-th request is of that model. */
static bool is_of(rig *r, size_t n, const char *id) {
    char what[60];
    (void)snprintf(what, sizeof what, "\"model\":\"%s\"", id);
    return n < rig_requests(r) && strstr(rig_request(r, n), what) != NULL;
}

static const char *own_id(phi_agent agent) {
    static phi_agent_desc desc;
    CHECK_EQ_INT(phi_agent_get_desc(agent, &desc), PHI_OK);
    return desc.model.id;
}

TEST(a_request_has_a_model_of_its_own_and_the_next_has_not) {
    rig *r = rig_new();
    phi_agent_desc agent_desc = rig_desc();
    phi_tool tool = rig_echo();
    phi_agent agent;
    phi_response response;
    char id[] = "other-model";
    phi_model other = phi_model_anthropic(id, "other-key");
    phi_prompt_desc desc = by(&other);
    agent_desc.tools = &tool;
    agent_desc.tool_count = 1;
    agent = rig_agent(r, &agent_desc);
    rig_call(r, "c1", "echo", "{}");
    rig_says(r, "Three.");
    rig_says(r, "Three, I say.");
    CHECK_EQ_INT(phi_prompt_with(agent, &desc, &response), PHI_OK);
    id[0] = 'X'; /* it was copied */
    (void)rig_step(r);
    CHECK_EQ_STR(own_id(agent), "test-model");
    CHECK_EQ_INT(rig_run(r, 60), 0);
    CHECK(is_of(r, 0, "other-model") && is_of(r, 1, "other-model"));
    CHECK(strstr(rig_key(r, 0), "other-key") != NULL);
    CHECK_EQ_INT(prompt_for(agent, "Really?", &response), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 60), 0);
    CHECK(is_of(r, 2, "test-model"));
    CHECK(strstr(rig_key(r, 2), "test-key") != NULL);
    rig_free(r);
}

TEST(a_run_that_is_aborted_fails_or_is_freed_takes_its_model_along) {
    int how;
    for (how = 0; how < 3; how++) {
        rig *r = rig_new();
        phi_agent agent = rig_agent(r, NULL);
        phi_response response;
        phi_model other = phi_model_anthropic("other-model", "key");
        phi_prompt_desc desc = by(&other);
        if (how == 1)
            rig_replies(r, 400, "", "no");
        else
            rig_hangs(r, "");
        CHECK_EQ_INT(phi_prompt_with(agent, &desc, &response), PHI_OK);
        (void)rig_run(r, 20);
        CHECK(is_of(r, 0, "other-model"));
        if (how == 2) {
            phi_agent_free(agent);
            (void)rig_run(r, 5);
            rig_free(r);
            continue;
        }
        if (how == 0) CHECK_EQ_INT(phi_abort(agent), PHI_OK);
        CHECK_EQ_INT(rig_run(r, 60), 0);
        CHECK_EQ_STR(own_id(agent), "test-model");
        rig_says(r, "Three.");
        CHECK_EQ_INT(prompt_for(agent, "Again", &response), PHI_OK);
        CHECK_EQ_INT(rig_run(r, 60), 0);
        CHECK(is_of(r, 1, "test-model"));
        rig_free(r);
    }
}

/* The list is gone through from the request's model on; the agent then stays where the list says. */
TEST(a_failover_begins_at_the_requests_model_and_ends_at_the_agents_or_stays) {
    int stays;
    for (stays = 0; stays < 2; stays++) {
        rig *r = rig_new();
        phi_agent_desc agent_desc = rig_desc();
        phi_failover list;
        phi_failover_model spare;
        phi_agent agent;
        phi_response response;
        phi_model other = phi_model_anthropic("other-model", "key");
        phi_prompt_desc desc = by(&other);
        memset(&list, 0, sizeof list);
        memset(&spare, 0, sizeof spare);
        spare.model = phi_model_anthropic("spare-model", "key");
        list.models = &spare;
        list.model_count = 1;
        list.stay = stays != 0 ? PHI_FAILOVER_STAY_EVER : PHI_FAILOVER_STAY_RUN;
        agent_desc.failover = &list;
        agent_desc.retry.disable = true;
        agent = rig_agent(r, &agent_desc);
        rig_replies(r, 401, "", "no");
        rig_says(r, "Three.");
        rig_says(r, "Three, I say.");
        CHECK_EQ_INT(phi_prompt_with(agent, &desc, &response), PHI_OK);
        CHECK_EQ_INT(rig_run(r, 60), 0);
        CHECK(is_of(r, 0, "other-model") && is_of(r, 1, "spare-model"));
        CHECK_EQ_STR(own_id(agent), "test-model");
        CHECK_EQ_INT(prompt_for(agent, "Really?", &response), PHI_OK);
        CHECK_EQ_INT(rig_run(r, 60), 0);
        CHECK(is_of(r, 2, stays != 0 ? "spare-model" : "test-model"));
        rig_free(r);
    }
}

static phi_status polly_open(void *user_data, const phi_model_request *request, void **call) {
    (void)request;
    *call = user_data;
    return PHI_OK;
}

static phi_poll polly_poll(void *user_data, void *call, phi_answer *answer) {
    (void)user_data;
    (void)call;
    phi_answer_text(answer, phi_str_of("Polly."));
    return PHI_POLL_DONE;
}

static void polly_close(void *user_data, void *call) {
    (void)user_data;
    (void)call;
}

TEST(a_requests_model_is_checked_against_the_agents_provider_wherever_a_failover_has_put_it) {
    rig *r = rig_new();
    phi_agent_desc agent_desc = rig_desc();
    phi_failover list;
    phi_failover_model spare;
    phi_provider polly;
    phi_agent agent;
    phi_response response;
    phi_model other = phi_model_anthropic("other-model", "key");
    phi_prompt_desc desc = by(&other);
    memset(&list, 0, sizeof list);
    memset(&spare, 0, sizeof spare);
    memset(&polly, 0, sizeof polly);
    polly.protocol = spare.model.protocol = "polly";
    polly.user_data = &polly;
    polly.open = polly_open;
    polly.poll = polly_poll;
    polly.close = polly_close;
    spare.model.id = "polly";
    spare.provider = &polly;
    list.models = &spare;
    list.model_count = 1;
    list.stay = PHI_FAILOVER_STAY_EVER;
    agent_desc.failover = &list;
    agent_desc.retry.disable = true;
    agent = rig_agent(r, &agent_desc);
    rig_replies(r, 401, "", "no");
    CHECK_EQ_INT(phi_prompt(agent, "Hi"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 60), 0);
    CHECK_STR(phi_agent_get_info(agent).model_id, "polly");
    other.protocol = "smoke_signals";
    CHECK_EQ_INT(phi_prompt_with(agent, &desc, &response), PHI_UNSUPPORTED);
    other.protocol = phi_model_anthropic("x", "y").protocol;
    rig_says(r, "Three.");
    CHECK_EQ_INT(phi_prompt_with(agent, &desc, &response), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 60), 0);
    CHECK(is_of(r, 1, "other-model"));
    rig_free(r);
}

TEST(a_model_that_is_none_or_does_not_take_what_is_there_is_refused_and_nothing_changes) {
    rig *r = rig_new();
    phi_agent_desc agent_desc = rig_desc();
    phi_agent agent;
    phi_response response;
    phi_model other = phi_model_anthropic("other-model", "key");
    phi_prompt_desc desc = by(&other);
    const char *words;
    agent_desc.options.extra = "{\"contents\":[]}";
    agent = rig_agent(r, &agent_desc);
    other.id = NULL;
    CHECK_EQ_INT(phi_prompt_with(agent, &desc, &response), PHI_BAD_ARG);
    words = phi_last_error(rig_runtime(r)).message;
    CHECK(strstr(words, "model.id") != NULL);
    other = phi_model_google("gemini-x", "key");
    CHECK_EQ_INT(phi_prompt_with(agent, &desc, &response), PHI_BAD_ARG);
    words = phi_last_error(rig_runtime(r)).message;
    CHECK(strncmp(words, "options.extra: ", 15) == 0);
    CHECK_EQ_STR(own_id(agent), "test-model");
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 0);
    other = phi_model_anthropic("other-model", "key");
    rig_hangs(r, "");
    CHECK_EQ_INT(phi_prompt(agent, "Hi"), PHI_OK);
    CHECK_EQ_INT(phi_prompt_with(agent, &desc, &response), PHI_BUSY);
    (void)rig_run(r, 10);
    CHECK(is_of(r, 0, "test-model"));
    rig_free(r);
}

TEST(a_snapshot_of_the_run_continues_with_the_model_of_its_desc) {
    rig *r = rig_new(), *q = rig_new();
    phi_agent_desc agent_desc = rig_desc();
    phi_agent agent = rig_agent(r, &agent_desc);
    phi_response response;
    phi_memory memory;
    phi_arena arena;
    phi_str text;
    phi_model other = phi_model_anthropic("other-model", "key");
    phi_prompt_desc desc = by(&other);
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    rig_hangs(r, "");
    CHECK_EQ_INT(phi_prompt_with(agent, &desc, &response), PHI_OK);
    (void)rig_run(r, 10);
    CHECK_EQ_INT(phi_agent_snapshot(agent, &arena, &text), PHI_OK);
    rig_says(q, "Three.");
    agent = phi_agent_restore(rig_runtime(q), &agent_desc, text, PHI_RESTORE_RESUME);
    CHECK(agent.rt != NULL);
    CHECK_EQ_INT(rig_run(q, 60), 0);
    CHECK(is_of(q, 0, "test-model"));
    phi_arena_free(&arena);
    rig_free(q);
    rig_free(r);
}

TEST(a_strategys_calls_have_the_requests_model_and_react_its_format) {
    rig *r = rig_new();
    phi_agent_desc agent_desc = rig_desc();
    phi_strategy_desc thinks;
    phi_adaptive_options options;
    phi_provider provider;
    phi_agent agent;
    phi_response response;
    phi_format format;
    phi_model other = phi_model_anthropic("claude-sonnet-4-5", "key");
    phi_prompt_desc desc = by(&other);
    memset(&format, 0, sizeof format);
    format.kind = PHI_FORMAT_JSON_SCHEMA;
    format.schema = "{\"type\":\"object\",\"properties\":{\"gold\":{\"type\":\"integer\"}}}";
    desc.format = &format;
    memset(&thinks, 0, sizeof thinks);
    memset(&options, 0, sizeof options);
    options.strategy = "react";
    thinks.strategy = phi_strategy_adaptive();
    thinks.options = &options;
    provider = phi_strategy_provider(&thinks);
    agent_desc.provider = &provider;
    agent = rig_agent(r, &agent_desc);
    rig_says(r, "{\"gold\":3}");
    CHECK_EQ_INT(phi_prompt_with(agent, &desc, &response), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 100), 0);
    CHECK(is_of(r, 0, "claude-sonnet-4-5"));
    CHECK(strstr(rig_request(r, 0), "\"gold\"") != NULL);
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent),
                                    phi_thread_message_count(phi_agent_thread(agent)) - 1)
                  ->content[0]
                  .text,
              "{\"gold\":3}");
    rig_free(r);
}

static void scenario(void) {
    rig *r = rig_new_with(NULL);
    phi_agent agent;
    phi_response response;
    phi_model other = phi_model_anthropic("other-model", "key");
    phi_prompt_desc desc = by(&other);
    if (r == NULL) return;
    rig_says(r, "Three.");
    rig_says(r, "Three.");
    agent = rig_agent(r, NULL);
    if (agent.rt != NULL) {
        phi_agent_desc now;
        if (phi_prompt_with(agent, &desc, &response) == PHI_OK) CHECK_EQ_INT(rig_run(r, 100), 0);
        if (phi_agent_get_desc(agent, &now) == PHI_OK) CHECK_EQ_STR(now.model.id, "test-model");
    }
    rig_free(r);
}

TEST(each_allocation_may_fail_and_the_agent_has_its_model) {
    int n = 0;
    bool tripped;
    do {
        test_alloc_fail_at(n);
        scenario();
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
    } while (tripped && test_failures() == 0 && n++ < 2000);
    CHECK(n > 20);
}

TEST_MAIN(
    TEST_ENTRY(a_request_has_a_model_of_its_own_and_the_next_has_not),
    TEST_ENTRY(a_run_that_is_aborted_fails_or_is_freed_takes_its_model_along),
    TEST_ENTRY(a_failover_begins_at_the_requests_model_and_ends_at_the_agents_or_stays),
    TEST_ENTRY(
        a_requests_model_is_checked_against_the_agents_provider_wherever_a_failover_has_put_it),
    TEST_ENTRY(a_model_that_is_none_or_does_not_take_what_is_there_is_refused_and_nothing_changes),
    TEST_ENTRY(a_snapshot_of_the_run_continues_with_the_model_of_its_desc),
    TEST_ENTRY(a_strategys_calls_have_the_requests_model_and_react_its_format),
    TEST_ENTRY(each_allocation_may_fail_and_the_agent_has_its_model))
