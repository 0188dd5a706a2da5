/* test_failover.c - the models that a run goes through when one fails for good: which failures, in
   which order, what the host, the log and a snapshot see of it, and what it may cost. */
#include "features/failover.h"
#include "record/event_json.h"

#include "agent/snapshot.h"
#include "record/session.h"
#include "orchestrate/subagents.h"
#include "support/heard.h"
#include "support/set.h"
#include "support/store_mem.h"
#include "codecs/presets.h"
#include "model/model.h"
#include "agent/agent_history.h"
#include "agent/agent_info.h"
#include "loop/hook.h"
#include "loop/run.h"
#include "log/log_in.h"

#define SSE "Content-Type: text/event-stream\r\n"
#define HALF                                                                                       \
    "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\","       \
    "\"model\":\"m\",\"content\":[],\"usage\":{\"input_tokens\":10,\"output_tokens\":1}}}\n\n"     \
    "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,"             \
    "\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n"                                     \
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":"   \
    "{\"type\":\"text_delta\",\"text\":\"Half\"}}\n\n"
#define CHAT(delta, reason)                                                                        \
    "data: {\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"model\":\"m\",\"choices\":[{"     \
    "\"index\":0,\"delta\":{" delta "},\"finish_reason\":" reason "}]}\n\n"
#define CHAT_SAYS                                                                                  \
    CHAT("\"role\":\"assistant\",\"content\":\"From chat.\"", "null")                              \
    CHAT("", "\"stop\"")                                                                           \
    "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":3}}\n\n"           \
    "data: [DONE]\n\n"

static phi_failover_model to_model(phi_model model) {
    phi_failover_model out;
    memset(&out, 0, sizeof out);
    out.model = model;
    return out;
}

typedef struct set {
    phi_failover failover;
    phi_failover_model models[3];
} set;

/* The agent of the rig, with two models more: m2 and m3. */
static phi_agent_desc desc_of(set *s) {
    phi_agent_desc desc = rig_desc();
    memset(s, 0, sizeof *s);
    s->models[0] = to_model(phi_model_anthropic("m2", "key-2"));
    s->models[1] = to_model(phi_model_anthropic("m3", "key-3"));
    s->failover.models = s->models;
    s->failover.model_count = 2;
    desc.failover = &s->failover;
    return desc;
}

static void breaks(rig *r, size_t times) {
    while (times-- > 0) rig_replies(r, 500, HEARD_JSON, HEARD_BOOM);
}

static bool has(rig *r, size_t i, const char *text) {
    const char *request = rig_request(r, i);
    return request != NULL && strstr(request, text) != NULL;
}

static const char *run(rig *r, phi_agent agent) {
    rig_forget(r);
    CHECK_EQ_INT(phi_prompt(agent, "Hi"), PHI_OK);
    CHECK_EQ_INT(rig_run_until(r, 600000), 0);
    return rig_story(r);
}

static void ended(rig *r, const char *with) {
    if (!CHECK(strstr(rig_story(r), with) != NULL)) printf("%s\n", rig_story(r));
}

/* ---- the switch ---- */

TEST(the_second_model_answers_where_the_retries_of_the_first_are_used) {
    rig *r = rig_new();
    set s;
    phi_agent_desc desc = desc_of(&s);
    phi_agent agent;
    desc.retry.disable = false;
    desc.retry.max_retries = 1;
    agent = rig_agent(r, &desc);
    breaks(r, 2);
    rig_says(r, "Here.");
    (void)run(r, agent);
    ended(r, "Retry 1/2");
    ended(r, "Failover \"anthropic/test-model\" to \"anthropic/m2\" 1/2\n"
             "MessageStart assistant\n"
             "TextDelta \"Here.\" of \"Here.\"\n"
             "MessageEnd assistant \"Here.\" stop\n"
             "TurnEnd assistant \"Here.\" stop\n"
             "AgentEnd ok, 2 messages\n");
    CHECK_EQ_INT(rig_requests(r), 3);
    CHECK(has(r, 0, "\"test-model\"") && has(r, 1, "\"test-model\"") && has(r, 2, "\"m2\""));
    CHECK_EQ_STR(rig_key(r, 2), "key-2");
    CHECK_STR(last_of(agent)->model, "m2");
    rig_free(r);
}

TEST(the_next_run_begins_with_the_agents_own_model) {
    rig *r = rig_new();
    set s;
    phi_agent_desc desc = desc_of(&s), now;
    phi_agent agent = rig_agent(r, &desc);
    breaks(r, 1);
    rig_says(r, "Here.");
    rig_says(r, "Again.");
    (void)run(r, agent);
    CHECK_STR(phi_agent_get_info(agent).model_id, "test-model");
    (void)run(r, agent);
    CHECK(has(r, 2, "\"test-model\""));
    CHECK_EQ_INT(phi_agent_get_desc(agent, &now), PHI_OK);
    CHECK_EQ_STR(now.model.id, "test-model");
    REQUIRE(now.failover != NULL && now.failover->model_count == 2);
    CHECK_EQ_STR(now.failover->models[1].model.id, "m3");
    CHECK_EQ_INT(now.failover->max_switches, 2);
    CHECK_EQ_INT(now.failover->stay_ms, 300000);
    CHECK(now.failover->on == 127);
    rig_free(r);
}

TEST(a_partial_answer_is_retracted_before_the_next_model_answers) {
    rig *r = rig_new();
    set s;
    phi_agent_desc desc = desc_of(&s);
    phi_agent agent = rig_agent(r, &desc);
    rig_breaks(r, HALF, PHI_NETWORK, "the cable was cut");
    rig_says(r, "Whole.");
    CHECK_EQ_STR(run(r, agent), "AgentStart\n"
                                "TurnStart 0\n"
                                "MessageStart user \"Hi\"\n"
                                "MessageEnd user \"Hi\"\n"
                                "MessageStart assistant\n"
                                "TextDelta \"Half\" of \"Half\"\n"
                                "Retract assistant \"Half\"\n"
                                "Failover \"anthropic/test-model\" to \"anthropic/m2\" 1/2\n"
                                "MessageStart assistant\n"
                                "TextDelta \"Whole.\" of \"Whole.\"\n"
                                "MessageEnd assistant \"Whole.\" stop\n"
                                "TurnEnd assistant \"Whole.\" stop\n"
                                "AgentEnd ok, 2 messages\n");
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 2);
    CHECK_EQ_INT(phi_agent_get_info(agent).run_usage.input,
                 20); /* the broken one was charged, too */
    rig_free(r);
}

TEST(when_all_fail_the_last_failure_names_the_others) {
    rig *r = rig_new();
    set s;
    phi_agent_desc desc = desc_of(&s);
    phi_agent agent = rig_agent(r, &desc);
    breaks(r, 1);
    rig_replies(r, 401, HEARD_JSON, "");
    rig_breaks(r, "", PHI_NETWORK, "the cable was cut");
    (void)run(r, agent);
    ended(r, "Failover \"anthropic/m2\" to \"anthropic/m3\" 2/2\n");
    ended(r, "Error network \"the cable was cut (other models: anthropic/test-model: boom; "
             "anthropic/m2: HTTP 401 without a body)\"");
    CHECK_EQ_INT(count_of(rig_story(r), "Error "), 1);
    CHECK_EQ_INT(rig_requests(r), 3);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 2);
    rig_says(r, "Back."); /* and the agent goes on */
    (void)run(r, agent);
    ended(r, "AgentEnd ok");
    rig_free(r);
}

/* ---- which failures ---- */

typedef struct row {
    int status;
    const char *body;
    uint32_t on;
    bool goes;
} row;

TEST(the_class_of_a_failure_decides) {
    static const char refused[] =
        "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"no\"}}";
    static const char missing[] =
        "{\"type\":\"error\",\"error\":{\"type\":\"not_found_error\",\"message\":\"model: m\"}}";
    static const char quota[] =
        "{\"type\":\"error\",\"error\":{\"type\":\"billing_error\",\"message\":\"no credit\"}}";
    static const char filtered[] = "{\"error\":{\"message\":\"x\",\"code\":\"content_filter\"}}";
    static const row rows[] = {{400, filtered, 0, false},
                               {400, filtered, PHI_FAILOVER_CONTENT_FILTER, true},
                               {500, HEARD_BOOM, 0, true},
                               {529, HEARD_BOOM, 0, true},
                               {401, "", 0, true},
                               {429, "", 0, true},
                               {404, missing, 0, true},
                               {402, quota, 0, true},
                               {400, refused, 0, false},
                               {400, refused, PHI_FAILOVER_INVALID_REQUEST, true},
                               {404, missing, PHI_FAILOVER_INVALID_REQUEST, false},
                               {400, refused, PHI_FAILOVER_INVALID_REQUEST - 1, false},
                               {500, HEARD_BOOM, PHI_FAILOVER_AUTH, false},
                               {401, "", PHI_FAILOVER_AUTH, true},
                               {404, missing, PHI_FAILOVER_AUTH, false},
                               {404, missing, PHI_FAILOVER_NO_MODEL, true},
                               {429, "", PHI_FAILOVER_SERVER, false},
                               {402, quota, PHI_FAILOVER_QUOTA, true}};
    size_t i;
    for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        rig *r = rig_new();
        set s;
        phi_agent_desc desc = desc_of(&s);
        phi_agent agent;
        s.failover.on = rows[i].on;
        agent = rig_agent(r, &desc);
        rig_replies(r, rows[i].status, HEARD_JSON, rows[i].body);
        rig_says(r, "Here.");
        (void)run(r, agent);
        if (!CHECK_EQ_INT(rig_requests(r), rows[i].goes ? 2 : 1)) printf("row %u\n", (unsigned)i);
        rig_free(r);
    }
}

TEST(a_prompt_that_is_too_long_goes_to_a_larger_window_alone) {
    static const char too_long[] =
        "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\","
        "\"message\":\"prompt is too long: 9 tokens > 8 maximum\"}}";
    rig *r = rig_new();
    set s;
    phi_agent_desc desc = desc_of(&s);
    phi_agent agent;
    desc.compaction.disable = true;
    desc.model.context_window = 1000;
    s.models[0].model.context_window = 1000;
    s.models[1].model.context_window = 1001;
    agent = rig_agent(r, &desc);
    rig_replies(r, 400, HEARD_JSON, too_long); /* nothing can be cut of the one message */
    rig_says(r, "Here.");
    (void)run(r, agent);
    CHECK(has(r, rig_requests(r) - 1, "\"m3\""));
    ended(r, "Failover \"anthropic/test-model\" to \"anthropic/m3\" 1/2\n");
    ended(r, "AgentEnd ok");
    rig_free(r);
}

TEST(what_the_host_refuses_or_aborts_stays_refused) {
    rig *r = rig_new();
    set s;
    phi_agent_desc desc = desc_of(&s);
    phi_agent agent;
    rig_hooks(r, &desc, PHI_HOOK_CREDENTIAL);
    rig_answers(r, PHI_HOOK_CREDENTIAL, PHI_DENY, "locked");
    agent = rig_agent(r, &desc);
    (void)run(r, agent);
    CHECK_EQ_INT(rig_requests(r), 0);
    CHECK_EQ_INT(count_of(rig_story(r), "Failover"), 0);
    rig_free(r);
    r = rig_new();
    desc = desc_of(&s);
    agent = rig_agent(r, &desc);
    rig_hangs(r, HALF);
    CHECK_EQ_INT(phi_prompt(agent, "Hi"), PHI_OK);
    (void)rig_run(r, 5);
    CHECK_EQ_INT(phi_abort(agent), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_INT(count_of(rig_story(r), "Failover"), 0);
    rig_free(r);
}

TEST(the_hosts_key_is_taken_for_each_model_and_a_refused_one_anew) {
    rig *r = rig_new();
    set s;
    phi_agent_desc desc = desc_of(&s);
    phi_agent agent;
    rig_hooks(r, &desc, PHI_HOOK_CREDENTIAL);
    rig_answers(r, PHI_HOOK_CREDENTIAL, PHI_ALLOW, "one");
    rig_answers(r, PHI_HOOK_CREDENTIAL, PHI_ALLOW, "one anew");
    rig_answers(r, PHI_HOOK_CREDENTIAL, PHI_ALLOW, "two");
    agent = rig_agent(r, &desc);
    rig_replies(r, 401, HEARD_JSON, "{}");
    rig_replies(r, 401, HEARD_JSON, "{}");
    rig_says(r, "From m2.");
    (void)run(r, agent);
    if (CHECK_EQ_INT(rig_requests(r), 3)) {
        CHECK_EQ_STR(rig_key(r, 0), "one");
        CHECK_EQ_STR(rig_key(r, 1), "one anew");
        CHECK_EQ_STR(rig_key(r, 2), "two");
        CHECK(has(r, 1, "test-model") && has(r, 2, "\"m2\""));
    }
    CHECK_EQ_INT(count_of(rig_story(r), "Failover"), 1);
    ended(r, "AgentEnd ok");
    rig_free(r);
}

static phi_verdict by_server(void *user_data, phi_hook *hook) {
    (void)user_data;
    hook->reply = phi_str_of(strcmp(hook->model->id, "m2") == 0 ? "second server's" : "first's");
    return PHI_ALLOW;
}

TEST(the_hook_at_credential_hears_which_model_its_key_is_for) {
    rig *r = rig_new();
    set s;
    phi_agent_desc desc = desc_of(&s);
    phi_agent agent;
    desc.hook_fn = by_server;
    desc.hook_points = PHI_HOOK_CREDENTIAL;
    desc.retry.disable = true;
    agent = rig_agent(r, &desc);
    breaks(r, 1);
    rig_says(r, "From m2.");
    (void)run(r, agent);
    if (CHECK_EQ_INT(rig_requests(r), 2)) {
        CHECK_EQ_STR(rig_key(r, 0), "first's");
        CHECK_EQ_STR(rig_key(r, 1), "second server's");
    }
    rig_free(r);
}

TEST(a_model_that_cannot_give_the_format_is_passed_over) {
    rig *r = rig_new();
    set s;
    phi_agent_desc desc = desc_of(&s);
    phi_agent agent;
    desc.retry.disable = true;
    desc.format.kind = PHI_FORMAT_JSON_SCHEMA;
    desc.format.schema = "{\"type\":\"object\"}";
    s.models[0] = to_model(phi_model_bedrock(NULL, "meta.llama3-70b-instruct-v1:0", "k"));
    agent = rig_agent(r, &desc);
    breaks(r, 1);
    rig_says(r, "{}");
    (void)run(r, agent);
    if (CHECK_EQ_INT(rig_requests(r), 2)) CHECK(has(r, 1, "\"m3\""));
    ended(r, "AgentEnd ok");
    rig_free(r);
}

/* ---- how long it stays ---- */

TEST(an_agent_stays_with_the_model_that_worked_as_long_as_it_was_told) {
    static const struct {
        phi_failover_stay stay;
        uint32_t passes_ms;
        const char *second;
    } rows[] = {{PHI_FAILOVER_STAY_RUN, 0, "\"test-model\""},
                {PHI_FAILOVER_STAY_FOR, 500, "\"m2\""},
                {PHI_FAILOVER_STAY_FOR, 1500, "\"test-model\""},
                {PHI_FAILOVER_STAY_EVER, 100000000, "\"m2\""}};
    size_t i;
    for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        rig *r = rig_new();
        set s;
        phi_agent_desc desc = desc_of(&s), now;
        phi_agent agent;
        s.failover.stay = rows[i].stay;
        s.failover.stay_ms = 1000;
        agent = rig_agent(r, &desc);
        breaks(r, 1);
        rig_says(r, "Here.");
        rig_says(r, "Again.");
        (void)run(r, agent);
        rig_pass_ms(r, rows[i].passes_ms);
        (void)run(r, agent);
        if (!CHECK(has(r, 2, rows[i].second))) printf("row %u\n", (unsigned)i);
        CHECK_EQ_INT(phi_agent_get_desc(agent, &now), PHI_OK);
        CHECK_EQ_STR(now.model.id, "test-model");
        rig_free(r);
    }
}

TEST(from_where_it_stays_it_goes_on_in_a_ring) {
    rig *r = rig_new();
    set s;
    phi_agent_desc desc = desc_of(&s);
    phi_agent agent;
    s.failover.stay = PHI_FAILOVER_STAY_EVER;
    agent = rig_agent(r, &desc);
    breaks(r, 2);
    rig_says(r, "Here.");
    (void)run(r, agent);
    CHECK_STR(phi_agent_get_info(agent).model_id, "m3");
    breaks(r, 1);
    rig_says(r, "Again.");
    (void)run(r, agent);
    ended(r, "Failover \"anthropic/m3\" to \"anthropic/test-model\" 1/2\n");
    CHECK_STR(phi_agent_get_info(agent).model_id, "test-model");
    rig_free(r);
}

TEST(a_new_model_of_the_agents_own_is_sat_at_and_a_bad_one_changes_nothing) {
    rig *r = rig_new();
    set s;
    phi_agent_desc desc = desc_of(&s), now;
    phi_model model = phi_model_anthropic("own", "key-9"), none = phi_model_anthropic("", "k");
    phi_agent agent;
    s.failover.stay = PHI_FAILOVER_STAY_EVER;
    agent = rig_agent(r, &desc);
    breaks(r, 1);
    rig_says(r, "Here.");
    (void)run(r, agent);
    CHECK_EQ_INT(set_model(agent, &none), PHI_BAD_ARG);
    CHECK_STR(phi_agent_get_info(agent).model_id, "m2");
    CHECK_EQ_INT(set_model(agent, &model), PHI_OK);
    CHECK_STR(phi_agent_get_info(agent).model_id, "own");
    CHECK_EQ_INT(phi_agent_get_desc(agent, &now), PHI_OK);
    CHECK_EQ_STR(now.model.id, "own");
    breaks(r, 1);
    rig_says(r, "Here.");
    (void)run(r, agent);
    CHECK(has(r, 2, "\"own\"") && has(r, 3, "\"m2\""));
    rig_free(r);
}

/* ---- settings of each model ---- */

TEST(each_model_brings_its_own_settings) {
    rig *r = rig_new();
    set s;
    phi_agent_desc desc = desc_of(&s), now;
    phi_agent agent;
    desc.max_tokens = 100;
    s.models[0].max_tokens = 77;
    s.models[1].has_thinking = true;
    s.models[1].thinking = PHI_THINKING_LOW;
    s.models[1].model.reasoning = true;
    agent = rig_agent(r, &desc);
    breaks(r, 2);
    rig_says(r, "Here.");
    (void)run(r, agent);
    CHECK(has(r, 0, "\"max_tokens\":100") && has(r, 1, "\"max_tokens\":77"));
    CHECK(!has(r, 1, "\"thinking\"") && has(r, 2, "\"thinking\""));
    CHECK_EQ_INT(phi_agent_get_desc(agent, &now), PHI_OK);
    CHECK_EQ_INT(now.max_tokens, 100);
    CHECK_EQ_INT(now.thinking, PHI_THINKING_OFF);
    rig_free(r);
}

TEST(another_protocol_gets_a_history_with_tools_in_its_own_form) {
    rig *r = rig_new();
    phi_agent_desc desc;
    phi_tool tool = rig_echo();
    phi_agent agent;
    set s;
    desc = desc_of(&s);
    s.models[0] = to_model(phi_model_openai("gpt-4.1-mini", "key-2"));
    s.failover.model_count = 1;
    desc.tools = &tool;
    desc.tool_count = 1;
    agent = rig_agent(r, &desc);
    rig_call(r, "toolu_1", "echo", "{\"a\":1}");
    breaks(r, 1); /* the second turn goes to the other one */
    rig_replies(r, 200, SSE, CHAT_SAYS);
    rig_says(r, "Own again.");
    (void)run(r, agent);
    ended(r, "Failover \"anthropic/test-model\" to \"openai/gpt-4.1-mini\" 1/1\n");
    ended(r, "AgentEnd ok, 4 messages\n");
    REQUIRE(rig_requests(r) == 3);
    CHECK(has(r, 2, "\"tool_calls\":[{") && has(r, 2, "\"role\":\"tool\""));
    CHECK(has(r, 2, "\"type\":\"function\"") && !has(r, 2, "tool_use"));
    CHECK_STR(last_of(agent)->provider, "openai");
    (void)run(r, agent); /* and back */
    CHECK(has(r, 3, "\"tool_use\"") && has(r, 3, "From chat."));
    rig_free(r);
}

/* ---- what it may cost ---- */

TEST(the_model_that_answered_is_charged_by_its_own_rates_and_budgets_hold_the_sum) {
    rig *r = rig_new();
    set s;
    phi_agent_desc desc = desc_of(&s);
    phi_agent agent;
    double cost;
    desc.model.cost.input = 1;
    desc.model.cost.output = 0;
    s.models[0].model.cost.input = 100000;
    s.models[0].model.cost.output = 0;
    agent = rig_agent(r, &desc);
    rig_breaks(r, HALF, PHI_NETWORK, "the cable was cut"); /* 10 tokens */
    rig_says(r, "Here.");                                  /* 10 tokens */
    (void)run(r, agent);
    cost = phi_agent_get_info(agent).cost;
    CHECK(cost > 1.00000999 && cost < 1.00001001); /* ten at a millionth, ten at a tenth */
    CHECK(phi_agent_get_info(agent).spending.cost == cost);
    CHECK(phi_agent_get_info(agent).spending.reserved_cost == 0);
    rig_free(r);
}

TEST(a_model_for_which_the_budget_has_no_room_is_passed_over) {
    size_t i;
    for (i = 0; i < 2; i++) { /* with a cheaper one behind it, and without */
        rig *r = rig_new();
        set s;
        phi_agent_desc desc = desc_of(&s);
        phi_agent agent;
        desc.max_tokens = 20;
        desc.budget.max_cost = 1;
        desc.model.cost.output = 1;
        s.models[0].model.cost.output = 1000000;
        s.models[1].model.cost.output = i == 0 ? 1 : 1000000;
        agent = rig_agent(r, &desc);
        breaks(r, 1);
        rig_says(r, "Here.");
        (void)run(r, agent);
        CHECK(phi_agent_get_info(agent).spending.reserved_cost == 0);
        CHECK_EQ_INT(rig_requests(r), i == 0 ? 2 : 1);
        if (i == 0) {
            ended(r, "Failover \"anthropic/test-model\" to \"anthropic/m3\" 1/2\n");
            ended(r, "AgentEnd ok");
        } else {
            ended(r, "Error server \"boom (other models: anthropic/m2: Cost budget reached "
                     "($0.0000/$1.0000, the next call may take $20.0000); anthropic/m3: Cost "
                     "budget reached ($0.0000/$1.0000, the next call may take $20.0000))\"");
            CHECK_STR(phi_agent_get_info(agent).model_id, "test-model");
        }
        rig_free(r);
    }
}

TEST(a_run_makes_no_more_switches_than_it_may) {
    rig *r = rig_new();
    set s;
    phi_agent_desc desc = desc_of(&s);
    phi_agent agent;
    s.failover.max_switches = 1;
    agent = rig_agent(r, &desc);
    breaks(r, 3);
    (void)run(r, agent);
    CHECK_EQ_INT(rig_requests(r), 2);
    ended(r, "Error server \"boom (other models: anthropic/test-model: boom)\"");
    rig_free(r);
}

TEST(a_run_that_has_reached_a_limit_goes_to_no_other_model) {
    int before;
    for (before = 0; before < 2; before++) { /* models that failed for other reasons */
        rig *r = rig_new();
        set s;
        phi_agent_desc desc = desc_of(&s);
        phi_agent agent;
        desc.limits.max_tokens = 5;
        agent = rig_agent(r, &desc);
        breaks(r, (size_t)before);
        rig_breaks(r, HALF, PHI_NETWORK, "the cable was cut"); /* costs 11 */
        rig_says(r, "Here.");
        (void)run(r, agent);
        CHECK_EQ_INT(rig_requests(r), before + 1);
        ended(r,
              before == 0
                  ? "Error network \"the cable was cut; no other model: Max tokens reached (11/5)\""
                  : "Error network \"the cable was cut (other models: anthropic/test-model: boom); "
                    "no other model: Max tokens reached (11/5)\"");
        rig_free(r);
    }
}

/* ---- what is refused ---- */

static void refused(phi_agent_desc *desc, const char *words) {
    rig *r = rig_new();
    phi_agent agent = phi_agent_new(rig_runtime(r), desc);
    CHECK(agent.rt == NULL);
    CHECK_EQ_STR(words_of(r), words);
    rig_free(r);
}

TEST(a_list_that_is_no_good_is_refused_with_words) {
    set s;
    phi_agent_desc desc = desc_of(&s);
    s.failover.model_count = 0;
    refused(&desc, "failover.model_count is 0: expected 1 to 16");
    s.failover.model_count = 17;
    refused(&desc, "failover.model_count is 17: expected 1 to 16");
    s.failover.model_count = 2;
    s.failover.models = NULL;
    refused(&desc, "failover.models is missing, model_count is 2");
    desc = desc_of(&s);
    s.failover.on = 512;
    refused(&desc, "failover.on is 0x200: expected PHI_FAILOVER_ bits");
    desc = desc_of(&s);
    s.failover.stay = (phi_failover_stay)3;
    refused(&desc, "failover.stay is none of its values");
    desc = desc_of(&s);
    s.models[1].model.id = NULL;
    refused(&desc, "failover.models[1]: model.id is missing");
    desc = desc_of(&s);
    s.models[0].model.protocol = "smoke_signals";
    refused(&desc, "failover.models[0]: No provider registered for protocol: smoke_signals "
                   "(presets bring theirs; or set phi_runtime_desc.codecs = PHI_ALL_PROTOCOLS)");
    desc = desc_of(&s);
    s.models[0].thinking = (phi_thinking)9;
    refused(&desc, "failover.models[0]: thinking is none of its values");
}

TEST(tools_must_have_names_that_every_model_takes) {
    rig *r = rig_new();
    set s;
    phi_agent_desc desc = desc_of(&s);
    phi_tool tool = rig_echo();
    phi_agent agent;
    tool.name = "7up"; /* which one provider alone refuses */
    s.models[0].model = phi_model_google("gemini-2.5-pro", "k");
    s.failover.model_count = 1;
    desc.tools = &tool;
    desc.tool_count = 1;
    agent = phi_agent_new(rig_runtime(r), &desc);
    CHECK(agent.rt == NULL);
    CHECK_EQ_STR(words_of(r),
                 "failover.models[0]: tools[0].name \"7up\": expected a letter or _ at "
                 "first");
    desc.tool_count = 0;
    agent = phi_agent_new(rig_runtime(r), &desc);
    REQUIRE(agent.rt != NULL);
    CHECK_EQ_INT(set_tools(agent, &tool, 1), PHI_BAD_ARG);
    CHECK_EQ_STR(words_of(r),
                 "failover.models[0]: tools[0].name \"7up\": expected a letter or _ at "
                 "first");
    rig_free(r);
}

/* ---- records ---- */

static void note_of(phi_agent agent, char *out, size_t size) {
    const phi_thread *thread = phi_agent_thread(agent);
    phi_entry e;
    uint64_t seq;
    out[0] = '\0';
    for (seq = 0; phi_thread_entry(thread, seq, &e) == PHI_OK; seq++)
        if (e.kind == PHI_ENTRY_NOTE && phi__str_is(e.note_kind, PHI_NOTE_FAILOVER))
            heard_copy(out, size, e.note);
}

static void both_ways(void *user_data, const phi_event *event) {
    size_t *count = (size_t *)user_data;
    phi_memory memory;
    phi_arena arena;
    phi_event back;
    phi_str first = {NULL, 0}, second = {NULL, 0};
    if (event->kind != PHI_EV_FAILOVER) return;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(phi_event_to_json(event, &arena, &first), PHI_OK);
    CHECK_EQ_INT(phi_event_from_json(first, &arena, &back, NULL), PHI_OK);
    CHECK_EQ_INT(back.kind, PHI_EV_FAILOVER);
    CHECK_STR(back.source, "anthropic/test-model");
    CHECK_STR(back.text, "anthropic/m2");
    CHECK_EQ_INT(back.attempt, 1);
    CHECK_EQ_INT(back.attempts, 2);
    CHECK_EQ_INT(back.status, PHI_REFUSED);
    REQUIRE(back.failure != NULL);
    CHECK_EQ_INT(back.failure->kind, PHI_FAILURE_SERVER);
    CHECK_STR(back.failure->message, "boom");
    CHECK_EQ_INT(phi_event_to_json(&back, &arena, &second), PHI_OK);
    CHECK(phi_str_equal(first, second));
    (*count)++;
    phi_arena_free(&arena);
}

TEST(the_log_the_event_and_the_session_say_which_model_answered) {
    rig *r = rig_new();
    set s;
    phi_agent_desc desc = desc_of(&s);
    phi_agent agent = rig_agent(r, &desc);
    phi_session *session = NULL;
    char note[300];
    size_t count = 0;
    rig_watch(r, both_ways, &count);
    breaks(r, 1);
    rig_says(r, "Here.");
    (void)run(r, agent);
    CHECK_EQ_INT(count, 1);
    note_of(agent, note, sizeof note);
    CHECK_EQ_STR(note, "{\"from\":\"anthropic/test-model\",\"to\":\"anthropic/m2\","
                       "\"failure\":\"server\",\"message\":\"boom\"}");
    CHECK_EQ_INT(phi_session_of_thread(phi_agent_thread(agent), NULL, &session), PHI_OK);
    REQUIRE(session != NULL && session->loop_count == 1);
    CHECK_EQ_INT(session->loops[0]->turn_count, 1);
    CHECK_STR(session->loops[0]->turns[0].output->model, "m2");
    phi_session_free(session);
    rig_free(r);
}

/* ---- snapshots, and what is below ---- */

/* A run saved after each step of a switch, and loaded into another runtime: each of them ends with
   the second model's answer. */
TEST(a_snapshot_in_the_midst_of_a_switch_goes_on_with_the_model_where_it_stood) {
    int steps, most = 30, switched = 0;
    for (steps = 0; steps < most; steps++) {
        rig *r = rig_new(), *other = rig_new();
        phi_memory memory;
        phi_arena arena;
        phi_str saved = {NULL, 0};
        set s;
        phi_agent_desc desc = desc_of(&s);
        phi_agent agent, again;
        int i;
        bool at_second, over;
        phi_memory_init(&memory, NULL, 0);
        phi_arena_init(&arena, &memory, 0);
        s.failover.stay = PHI_FAILOVER_STAY_EVER;
        agent = rig_agent(r, &desc);
        rig_chunk(r, 100);
        rig_chunk(other, 100);
        rig_breaks(r, HALF, PHI_NETWORK, "the cable was cut");
        rig_says(r, "Here.");
        CHECK_EQ_INT(phi_prompt(agent, "Hi"), PHI_OK);
        for (i = 0; i < steps; i++) {
            (void)rig_step(r);
            rig_pass_ms(r, 1);
        }
        over = !phi_agent_get_info(agent).running;
        at_second = phi__str_is(phi_agent_get_info(agent).model_id, "m2");
        switched += at_second && !over;
        CHECK_EQ_INT(phi_agent_snapshot(agent, &arena, &saved), PHI_OK);
        again = phi_agent_restore(rig_runtime(other), &desc, saved, PHI_RESTORE_RESUME);
        REQUIRE(again.rt != NULL);
        CHECK_EQ_INT(phi__str_is(phi_agent_get_info(again).model_id, "m2"), at_second);
        if (!at_second) rig_replies(other, 500, HEARD_JSON, HEARD_BOOM);
        rig_says(other, "There.");
        CHECK_EQ_INT(rig_run_until(other, 600000), 0);
        CHECK_STR(last_of(again)->model, "m2");
        CHECK_EQ_STR(text_at(again, 1, 0), over ? "Here." : "There.");
        phi_arena_free(&arena);
        rig_free(other);
        rig_free(r);
    }
    CHECK(switched > 3);
}

static phi_agent_desc child_desc; /* all defaults */

TEST(a_restored_agent_whose_list_is_another_sits_at_its_own_model) {
    static const char *const second[] = {NULL, "m3", "m2"}; /* NULL: no list */
    rig *r = rig_new();
    phi_memory memory;
    phi_arena arena;
    phi_str saved = {NULL, 0};
    set s;
    phi_agent_desc desc = desc_of(&s);
    phi_agent agent;
    size_t i;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    s.failover.stay = PHI_FAILOVER_STAY_EVER;
    agent = rig_agent(r, &desc);
    breaks(r, 2);
    rig_says(r, "Here.");
    (void)run(r, agent);
    CHECK_STR(phi_agent_get_info(agent).model_id, "m3");
    CHECK_EQ_INT(phi_agent_snapshot(agent, &arena, &saved), PHI_OK);
    rig_free(r);
    for (i = 0; i < sizeof second / sizeof second[0]; i++) {
        phi_agent again;
        r = rig_new();
        s.models[0] = to_model(phi_model_anthropic(i == 2 ? "m3" : "m4", "k"));
        s.models[1] = to_model(phi_model_anthropic(i == 0 ? "m5" : second[i], "k"));
        s.failover.model_count = i == 1 ? 1 : 2; /* of one model alone; of others in its place */
        desc.failover = second[i] == NULL ? NULL : &s.failover;
        again = phi_agent_restore(rig_runtime(r), &desc, saved, PHI_RESTORE_RESUME);
        REQUIRE(again.rt != NULL);
        CHECK_STR(phi_agent_get_info(again).model_id, "test-model");
        rig_says(r, "Again.");
        (void)run(r, again);
        CHECK(has(r, 0, "\"test-model\""));
        rig_free(r);
    }
    phi_arena_free(&arena);
}

TEST(a_restored_run_names_the_models_that_failed_before_the_snapshot) {
    rig *r = rig_new(), *other = rig_new();
    phi_memory memory;
    phi_arena arena;
    phi_str saved = {NULL, 0};
    set s;
    phi_agent_desc desc = desc_of(&s);
    phi_agent agent;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    desc.retry.disable = true;
    agent = rig_agent(r, &desc);
    breaks(r, 1);
    rig_hangs(r, "");
    CHECK_EQ_INT(phi_prompt(agent, "Hi"), PHI_OK);
    (void)rig_run(r, 50);
    REQUIRE(CHECK_EQ_INT(rig_requests(r), 2));
    CHECK_EQ_INT(phi_agent_snapshot(agent, &arena, &saved), PHI_OK);
    REQUIRE(phi_agent_restore(rig_runtime(other), &desc, saved, PHI_RESTORE_RESUME).rt != NULL);
    breaks(other, 1);
    rig_breaks(other, "", PHI_NETWORK, "the cable was cut");
    CHECK_EQ_INT(rig_run_until(other, 600000), 0);
    CHECK_EQ_INT(rig_requests(other), 2); /* m2 again, and m3 */
    ended(other, "Error network \"the cable was cut (other models: anthropic/test-model: boom; "
                 "anthropic/m2: boom)\"");
    phi_arena_free(&arena);
    rig_free(other);
    rig_free(r);
}

TEST(a_sub_agent_begins_where_its_caller_stands_and_has_the_models_behind_that) {
    rig *r = rig_new();
    set s;
    phi_agent_desc desc = desc_of(&s);
    phi_subagent_desc worker;
    phi_tool tool;
    phi_agent agent;
    memset(&worker, 0, sizeof worker);
    memset(&child_desc, 0, sizeof child_desc);
    child_desc.retry.disable = true;
    worker.name = "worker";
    worker.agent = &child_desc;
    tool = phi_subagent_tool(&worker);
    desc.tools = &tool;
    desc.tool_count = 1;
    agent = rig_agent(r, &desc);
    breaks(r, 1);
    rig_call(r, "toolu_1", "worker", "{\"task\":\"dig\"}"); /* m2 */
    breaks(r, 1);                                           /* the child at m2 */
    rig_says(r, "Dug.");                                    /* and at m3 */
    rig_says(r, "Done.");
    (void)run(r, agent);
    ended(r, "AgentEnd ok");
    REQUIRE(rig_requests(r) == 5);
    CHECK(has(r, 2, "\"m2\"") && has(r, 2, "dig"));
    CHECK(has(r, 3, "\"m3\"") && has(r, 3, "dig"));
    CHECK(has(r, 4, "\"m2\"") && has(r, 4, "Dug."));
    rig_free(r);
}

/* ---- the end in the midst, and want of memory ---- */

typedef struct killer {
    phi_event_kind at;
    int how; /* 0: abort, 1: stop, 2: free, when the event was told */
    bool seen;
} killer;

static void kill_it(void *user_data, const phi_event *event) {
    killer *k = (killer *)user_data;
    if (event->kind != k->at) return;
    k->seen = true;
    if (k->how == 0) (void)phi_abort(event->agent);
    if (k->how == 1) (void)phi_stop(event->agent);
}

TEST(a_switch_can_be_aborted_stopped_and_its_agent_freed) {
    static const phi_event_kind kinds[] = {PHI_EV_RETRACT, PHI_EV_FAILOVER, PHI_EV_TEXT};
    killer k;
    size_t i;
    for (i = 0; i < 3; i++)
        for (k.how = 0; k.how < 3; k.how++) {
            rig *r = rig_new();
            set s;
            phi_agent_desc desc = desc_of(&s);
            phi_agent agent = rig_agent(r, &desc);
            k.at = kinds[i];
            k.seen = false;
            rig_watch(r, kill_it, &k);
            rig_breaks(r, HALF, PHI_NETWORK, "the cable was cut");
            rig_says(r, "Here.");
            CHECK_EQ_INT(phi_prompt(agent, "Hi"), PHI_OK);
            while (k.how == 2 && !k.seen) (void)rig_step(r);
            if (k.how == 2) phi_agent_free(agent);
            CHECK_EQ_INT(rig_run_until(r, 100000), 0);
            if (k.how < 2) {
                CHECK_EQ_INT(count_of(rig_story(r), "AgentEnd"), 1);
                CHECK_STR(phi_agent_get_info(agent).model_id, "test-model");
                rig_watch(r, NULL, NULL);
                rig_drop_answers(r);
                rig_says(r, "Again.");
                (void)run(r, agent);
                ended(r, "AgentEnd ok");
            } else {
                CHECK(!phi_agent_alive(agent));
            }
            rig_free(r);
        }
}

TEST(the_agent_survives_every_failed_allocation_of_a_switch) {
    bool tripped = true;
    int n;
    for (n = 0; tripped && n < 3000; n++) {
        rig *r = rig_new();
        set s;
        phi_agent_desc desc = desc_of(&s);
        phi_agent agent;
        rig_careless(r);
        rig_breaks(r, HALF, PHI_NETWORK, "the cable was cut");
        breaks(r, 1);
        rig_says(r, "Here.");
        test_alloc_fail_at(n);
        agent = phi_agent_new(rig_runtime(r), &desc);
        if (agent.rt != NULL && phi_prompt(agent, "Hi") == PHI_OK) {
            CHECK_EQ_INT(rig_run(r, 200), 0);
            CHECK_EQ_INT(count_of(rig_story(r), "AgentEnd"), 1);
            CHECK_STR(phi_agent_get_info(agent).model_id, "test-model");
        }
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        if (!tripped) ended(r, "AgentEnd ok, 2 messages");
        if (agent.rt != NULL) { /* usable again */
            rig_drop_answers(r);
            rig_says(r, "Again.");
            (void)run(r, agent);
            ended(r, "AgentEnd ok");
        }
        rig_free(r);
        if (!CHECK_EQ_INT(test_alloc_live_bytes(), 0)) return;
    }
    CHECK(n > 40);
    CHECK(!tripped);
}

/* ---- any sequence of answers ---- */

enum { SEEDS = 60, RUNS = 4 };

static int seeds(void) {
    const char *given = getenv("PHI_SEEDS");
    return given != NULL ? atoi(given) : SEEDS;
}

static void anything(rig *r, uint32_t *state) {
    switch (test_random(state) % 7) {
    case 0: rig_breaks(r, HALF, PHI_NETWORK, "cut"); break;
    case 1: rig_replies(r, 401, HEARD_JSON, ""); break;
    case 2: rig_refuses(r, PHI_REFUSED); break;
    case 3: rig_call(r, "toolu_1", "echo", "{}"); break;
    case 4: rig_replies(r, 400, HEARD_JSON, "{}"); break;
    case 5: breaks(r, 1); break;
    default: rig_says(r, "Here."); break;
    }
}

typedef struct tally {
    unsigned ends, switches, most, errors;
} tally;

static void count_it(void *user_data, const phi_event *event) {
    tally *t = (tally *)user_data;
    if (event->kind == PHI_EV_AGENT_START) t->switches = 0;
    if (event->kind == PHI_EV_AGENT_END) t->ends++;
    if (event->kind == PHI_EV_ERROR) t->errors++;
    if (event->kind != PHI_EV_FAILOVER) return;
    t->switches++;
    CHECK_EQ_INT(event->attempt, t->switches);
    CHECK(t->switches <= t->most);
    CHECK(!phi_str_equal(event->source, event->text));
}

TEST(whatever_the_models_answer_every_run_ends_once_and_the_budget_holds) {
    int seed, n = seeds();
    for (seed = 1; seed <= n; seed++) {
        uint32_t state = (uint32_t)seed * 2654435761u;
        rig *r = rig_new();
        set s;
        phi_agent_desc desc = desc_of(&s);
        phi_tool tool = rig_echo();
        phi_agent agent;
        tally t;
        int i, j, before = test_failures();
        memset(&t, 0, sizeof t);
        desc.tools = &tool;
        desc.tool_count = 1;
        desc.retry.disable = test_random(&state) % 2 == 0;
        desc.retry.max_retries = 1;
        desc.limits.max_turns = 6;
        s.failover.max_switches = t.most = 1 + test_random(&state) % 4;
        s.failover.stay = (phi_failover_stay)(test_random(&state) % 3);
        desc.budget.max_tokens = 400000;
        agent = rig_agent(r, &desc);
        rig_watch(r, count_it, &t);
        rig_chunk(r, test_random(&state) % 200);
        for (i = 0; i < RUNS; i++) {
            rig_rewind(r);
            for (j = 0; j < 30; j++) anything(r, &state);
            t.errors = 0;
            CHECK_EQ_INT(phi_prompt(agent, "Hi"), PHI_OK);
            CHECK_EQ_INT(rig_run_until(r, 600000), 0);
            CHECK_EQ_INT(t.ends, i + 1);
            CHECK(t.errors <= 1);
            CHECK_EQ_INT(phi_agent_get_info(agent).spending.reserved_tokens, 0);
        }
        if (test_failures() != before) printf("seed %d\n%s\n", seed, rig_story(r));
        rig_free(r);
    }
}

TEST_MAIN(TEST_ENTRY(the_second_model_answers_where_the_retries_of_the_first_are_used),
          TEST_ENTRY(the_next_run_begins_with_the_agents_own_model),
          TEST_ENTRY(a_partial_answer_is_retracted_before_the_next_model_answers),
          TEST_ENTRY(when_all_fail_the_last_failure_names_the_others),
          TEST_ENTRY(the_class_of_a_failure_decides),
          TEST_ENTRY(a_prompt_that_is_too_long_goes_to_a_larger_window_alone),
          TEST_ENTRY(what_the_host_refuses_or_aborts_stays_refused),
          TEST_ENTRY(the_hosts_key_is_taken_for_each_model_and_a_refused_one_anew),
          TEST_ENTRY(the_hook_at_credential_hears_which_model_its_key_is_for),
          TEST_ENTRY(a_model_that_cannot_give_the_format_is_passed_over),
          TEST_ENTRY(an_agent_stays_with_the_model_that_worked_as_long_as_it_was_told),
          TEST_ENTRY(from_where_it_stays_it_goes_on_in_a_ring),
          TEST_ENTRY(a_new_model_of_the_agents_own_is_sat_at_and_a_bad_one_changes_nothing),
          TEST_ENTRY(each_model_brings_its_own_settings),
          TEST_ENTRY(another_protocol_gets_a_history_with_tools_in_its_own_form),
          TEST_ENTRY(the_model_that_answered_is_charged_by_its_own_rates_and_budgets_hold_the_sum),
          TEST_ENTRY(a_model_for_which_the_budget_has_no_room_is_passed_over),
          TEST_ENTRY(a_run_makes_no_more_switches_than_it_may),
          TEST_ENTRY(a_run_that_has_reached_a_limit_goes_to_no_other_model),
          TEST_ENTRY(a_list_that_is_no_good_is_refused_with_words),
          TEST_ENTRY(tools_must_have_names_that_every_model_takes),
          TEST_ENTRY(the_log_the_event_and_the_session_say_which_model_answered),
          TEST_ENTRY(a_snapshot_in_the_midst_of_a_switch_goes_on_with_the_model_where_it_stood),
          TEST_ENTRY(a_restored_agent_whose_list_is_another_sits_at_its_own_model),
          TEST_ENTRY(a_restored_run_names_the_models_that_failed_before_the_snapshot),
          TEST_ENTRY(a_sub_agent_begins_where_its_caller_stands_and_has_the_models_behind_that),
          TEST_ENTRY(a_switch_can_be_aborted_stopped_and_its_agent_freed),
          TEST_ENTRY(the_agent_survives_every_failed_allocation_of_a_switch),
          TEST_ENTRY(whatever_the_models_answer_every_run_ends_once_and_the_budget_holds))
