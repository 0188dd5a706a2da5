/* test_strategy_contract.c - a machine of the host's own at the driver: calls beside each other, the
   settings of a call, the bill to the token, and machines that do not keep their contract. */
#include "support/outcome.h"
#include "think.h"

#include "agent/snapshot.h"
#include "text/json_in.h"
#include "agent/agent_history.h"
#include "agent/agent_info.h"
#include "log/thread.h"
#include "loop/hook.h"
#include "loop/run.h"

/* ---- a machine that asks several questions at once and joins the answers ---- */

typedef enum fault {
    FAULT_NONE,
    FAULT_DEAF,  /* does not end at STOP */
    FAULT_IDLE,  /* asks nothing and is not done */
    FAULT_BILL,  /* makes more calls than its bill says */
    FAULT_STATUS /* `on` fails */
} fault;

typedef struct chorus_options {
    uint32_t calls; /* at once (default 3) */
    phi_strategy_call call;
    fault fault;
    bool no_result;
} chorus_options;

typedef struct chorus {
    uint32_t asked, answered;
    char text[200];
} chorus;

static const chorus_options *options_of(const void *options) {
    static const chorus_options defaults = {
        0, {0, {NULL, 0}, {NULL, 0}, false, false, 0, 0, false, 0.0, 0}, FAULT_NONE, false};
    return options != NULL ? (const chorus_options *)options : &defaults;
}

static uint32_t calls_of(const void *options) {
    return options_of(options)->calls != 0 ? options_of(options)->calls : 3;
}

static void chorus_bill(const void *options, uint64_t prompt_tokens, uint64_t answer_tokens,
                        phi_strategy_bill *out) {
    (void)answer_tokens;
    out->calls = options_of(options)->fault == FAULT_BILL ? 1 : calls_of(options);
    out->input_tokens = out->calls * prompt_tokens;
}

static void chorus_ask(chorus *c, const phi_strategy_env *env, phi_strategy_commands *out) {
    static const char *const questions[] = {"Q1", "Q2", "Q3", "Q4", "Q5", "Q6"};
    phi_strategy_command *command = phi_strategy_add(out, PHI_STRATEGY_ASK);
    if (!CHECK(command != NULL)) return;
    command->call = options_of(env->options)->call;
    command->call.id = ++c->asked;
    command->call.prompt = phi_str_of(questions[(c->asked - 1) % 6]);
}

static phi_status chorus_end(const chorus *c, const phi_strategy_env *env,
                             phi_strategy_commands *out) {
    phi_strategy_command *command = phi_strategy_add(out, PHI_STRATEGY_DONE);
    command->text = phi_str_of(c->text);
    if (!options_of(env->options)->no_result) command->result = PHI__LIT("{\"good\":true}");
    return PHI_OK;
}

static phi_status chorus_on(void *state, const phi_strategy_event *event,
                            const phi_strategy_env *env, phi_strategy_commands *out) {
    chorus *c = (chorus *)state;
    const chorus_options *options = options_of(env->options);
    size_t len = strlen(c->text);
    uint32_t i;
    if (options->fault == FAULT_STATUS) return PHI_PARSE;
    if (options->fault == FAULT_IDLE) return PHI_OK;
    if (event->kind == PHI_STRATEGY_BEGIN) {
        CHECK(env->arena != NULL && env->scratch != NULL);
        for (i = 0; i < calls_of(options); i++) chorus_ask(c, env, out);
        return PHI_OK;
    }
    if (event->kind == PHI_STRATEGY_STOP)
        return options->fault == FAULT_DEAF ? PHI_OK : chorus_end(c, env, out);
    CHECK_EQ_INT(event->stop_reason,
                 event->kind == PHI_STRATEGY_ANSWER ? PHI_STOP_REASON_STOP : event->stop_reason);
    CHECK((event->usage.output > 0) == (event->kind == PHI_STRATEGY_ANSWER));
    (void)snprintf(c->text + len, sizeof c->text - len, "%s%u:%.*s", len > 0 ? " " : "",
                   (unsigned)event->call_id,
                   (int)(event->kind == PHI_STRATEGY_ANSWER ? event->text.len : event->message.len),
                   event->kind == PHI_STRATEGY_ANSWER ? event->text.at : event->message.at);
    return ++c->answered < calls_of(options) ? PHI_OK : chorus_end(c, env, out);
}

static void chorus_best(const void *state, phi_strategy_best *out) {
    out->text = phi_str_of(((const chorus *)state)->text);
}

static phi_json *chorus_save(const void *state, phi_arena *arena) {
    const chorus *c = (const chorus *)state;
    phi_json *root = phi_json_new_object(arena);
    return phi_json_set(arena, root, "text", phi__json_edit_text(arena, c->text)) == PHI_OK &&
                   phi_json_set(arena, root, "answered", phi__json_edit_uint(arena, c->answered)) ==
                       PHI_OK
               ? root
               : NULL;
}

static phi_status chorus_load(void *state, const phi_json *saved, const phi_strategy_env *env,
                              phi_strategy_commands *out) {
    chorus *c = (chorus *)state;
    phi_str text = phi_json_str(phi_json_get(saved, "text"), "");
    c->answered = c->asked = (uint32_t)phi__json_get_uint(phi_json_get(saved, "answered"), 0);
    (void)snprintf(c->text, sizeof c->text, "%.*s", (int)text.len, text.at);
    while (c->asked < calls_of(env->options)) chorus_ask(c, env, out);
    return PHI_OK;
}

static const phi_strategy chorus_machine = {"chorus",    sizeof(chorus), chorus_bill, chorus_on,
                                            chorus_best, chorus_save,    chorus_load, NULL};

/* ---- calls ---- */

TEST(calls_run_beside_each_other_and_their_answers_come_in_order) {
    think t;
    phi_agent agent;
    think_begin(&t, rig_new(), &chorus_machine, NULL);
    rig_chunk(t.r, 40);
    rig_says(t.r, "a rather long answer that takes many pieces until it is over at last");
    rig_says(t.r, "b");
    rig_says(t.r, "c");
    agent = think_agent(&t);
    CHECK_EQ_INT(phi_prompt(agent, "Sing"), PHI_OK);
    (void)rig_step(t.r);
    (void)rig_step(t.r);
    CHECK_EQ_INT(rig_open_transfers(t.r), 3);
    CHECK_EQ_INT(rig_run(t.r, 400), 0);
    CHECK_EQ_STR(think_answer(agent),
                 "1:a rather long answer that takes many pieces until it is over at last 2:b 3:c");
    CHECK_EQ_STR(think_result(&t, agent, "good"), "true");
    think_end(&t);
}

TEST(a_failed_call_is_an_event_for_the_machine_alone) {
    think t;
    phi_agent agent;
    think_begin(&t, rig_new(), &chorus_machine, NULL);
    rig_says(t.r, "a");
    rig_replies(t.r, 500, HEARD_JSON, HEARD_BOOM);
    rig_says(t.r, "c");
    agent = think_agent(&t);
    CHECK_EQ_INT(phi_prompt(agent, "Sing"), PHI_OK);
    CHECK_EQ_INT(rig_run(t.r, 400), 0);
    CHECK_EQ_INT(t.h.status, PHI_OK);
    CHECK_EQ_STR(think_answer(agent), "1:a 2:boom 3:c");
    think_end(&t);
}

TEST(a_call_whose_agent_cannot_be_made_fails_with_the_reason) {
    think t;
    phi_agent agent;
    phi_provider bad;
    chorus_options options;
    memset(&options, 0, sizeof options);
    memset(&bad, 0, sizeof bad);
    bad.protocol = "bad";
    options.calls = 1;
    think_begin(&t, rig_new(), &chorus_machine, &options);
    t.desc.provider = &bad;
    agent = think_agent(&t);
    CHECK_EQ_INT(phi_prompt(agent, "Sing"), PHI_OK);
    CHECK_EQ_INT(rig_run(t.r, 100), 0);
    CHECK(strstr(think_answer(agent), "expected open, poll and close") != NULL);
    CHECK_EQ_INT(rig_requests(t.r), 0);
    think_end(&t);
}

/* Calls and time before a snapshot count after it. */
TEST(a_restored_run_has_no_more_calls_or_time_than_before) {
    int which;
    for (which = 0; which < 2; which++) {
        think t, u;
        phi_agent agent, other;
        phi_str text;
        phi_tot_options options;
        options = *think_tot();
        if (which == 1) options.max_duration_ms = 1000;
        think_begin(&t, rig_new(), phi_strategy_tot(), &options);
        if (which == 0) t.desc.max_calls = 3;
        rig_says(t.r, "1. a\n2. b");
        rig_says(t.r, "1. 0.3\n2. 0.6");
        rig_hangs(t.r, "");
        agent = think_agent(&t);
        CHECK_EQ_INT(phi_prompt(agent, "24?"), PHI_OK);
        CHECK(rig_run(t.r, 40) > 0);
        CHECK_EQ_INT(rig_requests(t.r), 3);
        rig_pass_ms(t.r, 900);
        CHECK_EQ_INT(phi_agent_snapshot(agent, &t.arena, &text), PHI_OK);
        think_begin(&u, rig_new(), phi_strategy_tot(), &options);
        u.desc.max_calls = t.desc.max_calls;
        u.provider = phi_strategy_provider(&u.desc);
        rig_says(u.r, "1. c\n2. d");
        rig_hangs(u.r, "");
        other = phi_agent_restore(rig_runtime(u.r), &u.agent_desc, text, PHI_RESTORE_RESUME);
        CHECK(other.rt != NULL);
        CHECK(rig_run_until(u.r, which == 0 ? 100 : 300) == 0);
        CHECK_EQ_INT(rig_requests(u.r), which == 0 ? 1 : 2);
        CHECK_EQ_STR(think_answer(other), "b");
        CHECK_EQ_STR(think_result(&u, other, "termination.reason"),
                     which == 0 ? "max_calls" : "max_duration");
        CHECK(phi_agent_snapshot(other, &u.arena, &text) == PHI_OK &&
              phi__str_find(text, 0, "attached") == SIZE_MAX);
        think_end(&u);
        think_end(&t);
    }
}

static bool drop_a(void *user_data, const phi_strategy_node *node) {
    ++*(int *)user_data;
    return phi__str_is(node->content, "a");
}

TEST(messages_that_wait_together_are_one_problem_and_the_hosts_prune_is_asked) {
    think t;
    phi_agent agent;
    phi_content block;
    phi_message message;
    int asked = 0;
    think_begin(&t, rig_new(), phi_strategy_tot(), think_tot());
    t.desc.prune_fn = drop_a;
    t.desc.user_data = &asked;
    rig_says(t.r, "1. a\n2. b");
    rig_says(t.r, "1. 1.0");
    rig_says(t.r, "1. c");
    rig_says(t.r, "1. 1.0");
    agent = think_agent(&t);
    message = text_message(PHI_ROLE_USER, &block, "Numbers 4, 4 and 10.");
    CHECK_EQ_INT(phi_thread_append(phi_agent_thread(agent), &message, 1, NULL), PHI_OK);
    CHECK_EQ_INT(phi_prompt(agent, "Make 24."), PHI_OK);
    CHECK_EQ_INT(rig_run(t.r, 200), 0);
    CHECK(strstr(rig_request(t.r, 0), "Problem: Numbers 4, 4 and 10.\\n\\nMake 24.\\n") != NULL);
    CHECK(strstr(rig_request(t.r, 1), "1. t1: b") != NULL);
    CHECK_EQ_STR(think_answer(agent), "c");
    CHECK_EQ_INT(asked, 3);
    think_end(&t);
}

TEST(a_prompt_after_a_failed_run_is_a_problem_of_its_own) {
    think t;
    phi_agent agent;
    think_begin(&t, rig_new(), phi_strategy_trm(), NULL);
    rig_replies(t.r, 401, HEARD_JSON, HEARD_BOOM);
    rig_says(t.r, "Answer: b");
    rig_says(t.r, "SCORE: 1.0");
    agent = think_agent(&t);
    CHECK_EQ_INT(phi_prompt(agent, "The first riddle."), PHI_OK);
    CHECK_EQ_INT(rig_run(t.r, 200), 0);
    CHECK_EQ_INT(t.h.status, PHI_REFUSED);
    CHECK_EQ_INT(phi_prompt(agent, "The second riddle."), PHI_OK);
    CHECK_EQ_INT(rig_run(t.r, 200), 0);
    CHECK(strstr(rig_request(t.r, 1), "Problem: The second riddle.") != NULL);
    CHECK(strstr(rig_request(t.r, 1), "The first riddle.") == NULL);
    CHECK_EQ_STR(think_answer(agent), "b");
    think_end(&t);
}

TEST(in_a_conversation_a_prompt_that_was_not_answered_stands_before_the_next) {
    think t;
    phi_agent agent;
    const char *first, *second;
    think_begin(&t, rig_new(), phi_strategy_cot(PHI_COT_STEPS), NULL);
    rig_replies(t.r, 401, HEARD_JSON, HEARD_BOOM);
    rig_says(t.r, "#### b");
    agent = think_agent(&t);
    CHECK_EQ_INT(phi_prompt(agent, "The first riddle."), PHI_OK);
    CHECK_EQ_INT(rig_run(t.r, 200), 0);
    CHECK_EQ_INT(phi_prompt(agent, "The second riddle."), PHI_OK);
    CHECK_EQ_INT(rig_run(t.r, 200), 0);
    first = strstr(rig_request(t.r, 1), "The first riddle.");
    second = strstr(rig_request(t.r, 1), "The second riddle.");
    CHECK(first != NULL && second != NULL && first < second);
    think_end(&t);
}

TEST(a_call_that_is_tried_again_counts_once_and_has_the_last_text) {
    think t;
    phi_agent agent;
    chorus_options options;
    char broken[2000];
    const char *whole = rig_stream_of("lost");
    memset(&options, 0, sizeof options);
    options.calls = 1;
    (void)snprintf(broken, sizeof broken, "%.*s",
                   (int)(strstr(whole, "event: content_block_stop") - whole), whole);
    think_begin(&t, rig_new(), &chorus_machine, &options);
    t.agent_desc.retry.disable = false;
    rig_breaks(t.r, broken, PHI_NETWORK, "the connection was cut");
    rig_says(t.r, "kept");
    agent = think_agent(&t);
    CHECK_EQ_INT(phi_prompt(agent, "Sing"), PHI_OK);
    CHECK_EQ_INT(rig_run_until(t.r, 10000), 0);
    CHECK_EQ_STR(think_answer(agent), "1:kept");
    CHECK_EQ_INT(rig_requests(t.r), 2);
    think_end(&t);
}

TEST(a_call_has_its_own_settings_or_the_agents) {
    think t;
    phi_agent agent;
    chorus_options options;
    memset(&options, 0, sizeof options);
    options.calls = 1;
    think_begin(&t, rig_new(), &chorus_machine, &options);
    t.agent_desc.system_prompt = "The agent's.";
    t.agent_desc.options.has_temperature = true;
    t.agent_desc.options.temperature = 0.5;
    rig_says(t.r, "a");
    rig_says(t.r, "b");
    agent = think_agent(&t);
    CHECK_EQ_INT(phi_prompt(agent, "Sing"), PHI_OK);
    CHECK_EQ_INT(rig_run(t.r, 100), 0);
    CHECK(strstr(rig_request(t.r, 0), "The agent's.") != NULL);
    CHECK(strstr(rig_request(t.r, 0), "\"temperature\":0.5") != NULL);
    CHECK(strstr(rig_request(t.r, 0), "\"max_tokens\":100,") != NULL);
    options.call.system_prompt = PHI__LIT("The call's.");
    options.call.has_temperature = true;
    options.call.temperature = 0.25;
    options.call.max_tokens = 7;
    CHECK_EQ_INT(phi_prompt(agent, "Sing"), PHI_OK);
    CHECK_EQ_INT(rig_run(t.r, 100), 0);
    CHECK(strstr(rig_request(t.r, 1), "The agent's.\\n\\nThe call's.") != NULL);
    CHECK(strstr(rig_request(t.r, 1), "\"temperature\":0.25") != NULL);
    CHECK(strstr(rig_request(t.r, 1), "\"max_tokens\":7,") != NULL);
    think_end(&t);
}

TEST(the_key_that_the_host_gives_is_that_of_the_calls) {
    think t;
    phi_agent agent;
    chorus_options options;
    memset(&options, 0, sizeof options);
    options.calls = 1;
    think_begin(&t, rig_new(), &chorus_machine, &options);
    rig_hooks(t.r, &t.agent_desc, PHI_HOOK_CREDENTIAL);
    rig_answers(t.r, PHI_HOOK_CREDENTIAL, PHI_ALLOW,
                "outer-key-0001"); /* of the agent's own call */
    rig_answers(t.r, PHI_HOOK_CREDENTIAL, PHI_ALLOW, "inner-key-0002");
    rig_says(t.r, "a");
    agent = think_agent(&t);
    CHECK_EQ_INT(phi_prompt(agent, "Sing"), PHI_OK);
    CHECK_EQ_INT(rig_run(t.r, 100), 0);
    CHECK_EQ_STR(think_answer(agent), "1:a");
    CHECK(strstr(rig_key(t.r, 0), "key-000") != NULL);
    think_end(&t);
}

/* ---- the bill ---- */

/* Returns whether a run with that budget is allowed to begin. */
static bool fits(const phi_budget *budget, const phi_cost *cost, const phi_strategy *strategy) {
    think t;
    phi_agent agent;
    bool good;
    think_begin(&t, rig_new(), strategy, NULL);
    t.agent_desc.budget = *budget;
    t.agent_desc.model.cost = *cost;
    rig_says(t.r, "a");
    rig_says(t.r, "b");
    rig_says(t.r, "c");
    agent = think_agent(&t);
    CHECK_EQ_INT(phi_prompt(agent, "Sing it again, all of you"), PHI_OK);
    CHECK_EQ_INT(rig_run(t.r, 100), 0);
    good = rig_requests(t.r) > 0;
    CHECK_EQ_INT(t.h.status, good ? PHI_OK : PHI_REFUSED);
    CHECK_EQ_INT(phi_agent_get_info(agent).spending.reserved_tokens, 0);
    CHECK(!(phi_agent_get_info(agent).spending.reserved_cost > 0));
    think_end(&t);
    return good;
}

TEST(the_worst_case_must_fit_to_the_token) {
    phi_budget budget;
    phi_cost cost;
    phi_strategy_desc desc;
    phi_strategy_bill bill;
    uint64_t tokens = phi_tokens_of_text(NULL, PHI__LIT("Sing it again, all of you")), need;
    memset(&budget, 0, sizeof budget);
    memset(&cost, 0, sizeof cost);
    memset(&desc, 0, sizeof desc);
    desc.strategy = &chorus_machine;
    CHECK_EQ_INT(strategy_worst(&desc, tokens, 100, &bill), PHI_OK);
    CHECK_EQ_INT(bill.calls, 3);
    CHECK_EQ_INT(bill.output_tokens, 300);
    need = bill.input_tokens + bill.output_tokens;
    budget.max_tokens = need;
    CHECK(fits(&budget, &cost, &chorus_machine));
    budget.max_tokens = need - 1;
    CHECK(!fits(&budget, &cost, &chorus_machine));
    memset(&budget, 0, sizeof budget);
    budget.max_requests = 3;
    CHECK(fits(&budget, &cost, &chorus_machine));
    budget.max_requests = 2;
    CHECK(!fits(&budget, &cost, &chorus_machine));
    memset(&budget, 0, sizeof budget);
    cost.input = 1000.0;
    cost.output = 2000.0;
    budget.max_cost = (double)bill.input_tokens / 1e6 * 1000.0 + 300.0 / 1e6 * 2000.0 + 1e-9;
    CHECK(fits(&budget, &cost, &chorus_machine));
    budget.max_cost -= 0.001;
    CHECK(!fits(&budget, &cost, &chorus_machine));
}

TEST(the_agents_system_prompt_is_on_the_bill_once_a_call) {
    phi_strategy_desc desc;
    phi_strategy_bill bill;
    uint64_t tokens = phi_tokens_of_text(NULL, PHI__LIT("Sing it again, all of you"));
    int more;
    memset(&desc, 0, sizeof desc);
    desc.strategy = &chorus_machine;
    CHECK_EQ_INT(strategy_worst(&desc, tokens, 100, &bill), PHI_OK);
    for (more = 0; more < 2; more++) {
        think t;
        phi_agent agent;
        think_begin(&t, rig_new(), &chorus_machine, NULL);
        t.agent_desc.system_prompt = "twelve bytes"; /* 3 tokens, in 3 calls */
        t.agent_desc.budget.max_tokens =
            bill.input_tokens + bill.output_tokens + 9 - (more == 0 ? 0 : 1);
        rig_says(t.r, "a");
        rig_says(t.r, "b");
        rig_says(t.r, "c");
        agent = think_agent(&t);
        CHECK_EQ_INT(phi_prompt(agent, "Sing it again, all of you"), PHI_OK);
        CHECK_EQ_INT(rig_run(t.r, 100), 0);
        CHECK_EQ_INT(t.h.status, more == 0 ? PHI_OK : PHI_REFUSED);
        think_end(&t);
    }
}

TEST(a_conversation_is_part_of_the_bill) {
    think t;
    phi_agent agent;
    think_begin(&t, rig_new(), phi_strategy_cot(PHI_COT_STEPS), NULL);
    t.agent_desc.budget.max_tokens = 700;
    rig_says(t.r, "Answer: 1");
    agent = think_agent(&t);
    CHECK_EQ_INT(phi_prompt(agent, "Short"), PHI_OK);
    CHECK_EQ_INT(rig_run(t.r, 100), 0);
    CHECK_EQ_INT(t.h.status, PHI_OK);
    {
        static char lots[2400];
        phi_content block;
        phi_message message;
        memset(lots, 'x', sizeof lots - 1);
        message = text_message(PHI_ROLE_USER, &block, lots);
        CHECK_EQ_INT(phi_thread_append(phi_agent_thread(agent), &message, 1, NULL), PHI_OK);
        message = text_message(PHI_ROLE_ASSISTANT, &block, "Yes.");
        CHECK_EQ_INT(phi_thread_append(phi_agent_thread(agent), &message, 1, NULL), PHI_OK);
    }
    CHECK_EQ_INT(phi_prompt(agent, "Short"), PHI_OK);
    CHECK_EQ_INT(rig_run(t.r, 100), 0);
    CHECK(t.h.status != PHI_OK);
    CHECK_EQ_INT(rig_requests(t.r), 1);
    think_end(&t);
}

TEST(fewer_calls_make_a_smaller_bill) {
    phi_strategy_desc desc;
    phi_strategy_bill all, some;
    memset(&desc, 0, sizeof desc);
    desc.strategy = phi_strategy_tot();
    desc.options = think_tot();
    CHECK_EQ_INT(strategy_worst(&desc, 100, 100, &all), PHI_OK);
    CHECK_EQ_INT(all.output_tokens, 5200);
    desc.max_calls = 26;
    CHECK_EQ_INT(strategy_worst(&desc, 100, 100, &some), PHI_OK);
    CHECK_EQ_INT(some.calls, 26);
    CHECK_EQ_INT(some.input_tokens, all.input_tokens / 2);
    CHECK_EQ_INT(some.output_tokens, 2600);
    desc.max_calls = 1000;
    CHECK_EQ_INT(strategy_worst(&desc, 100, 100, &some), PHI_OK);
    CHECK_EQ_INT(some.calls, 52);
}

/* ---- a contract that is not kept ---- */

typedef struct breach {
    fault fault;
    phi_status status;
    const char *words;
} breach;

TEST(a_machine_that_breaks_its_contract_fails_the_run_with_words) {
    static const breach breaches[] = {
        {FAULT_DEAF, PHI_REFUSED, "the strategy did not end when it had to"},
        {FAULT_IDLE, PHI_REFUSED, "the strategy waits for no call"},
        {FAULT_STATUS, PHI_REFUSED, "the text is not what its format allows"}};
    size_t i;
    for (i = 0; i < PHI__COUNT(breaches); i++) {
        think t;
        phi_agent agent;
        chorus_options options;
        memset(&options, 0, sizeof options);
        options.fault = breaches[i].fault;
        think_begin(&t, rig_new(), &chorus_machine, &options);
        t.desc.max_calls = 1; /* three are asked for: the machine is told to end */
        rig_says(t.r, "a");
        agent = think_agent(&t);
        CHECK_EQ_INT(phi_prompt(agent, "Sing"), PHI_OK);
        CHECK_EQ_INT(rig_run(t.r, 100), 0);
        CHECK_EQ_INT(t.h.status, breaches[i].status);
        CHECK(strstr(rig_story(t.r), breaches[i].words) != NULL);
        CHECK_EQ_INT(rig_open_transfers(t.r), 0);
        think_end(&t);
    }
}

TEST(calls_beyond_the_bill_end_the_machine) {
    think t;
    phi_agent agent;
    chorus_options options;
    memset(&options, 0, sizeof options);
    options.fault = FAULT_BILL;
    options.no_result = true;
    think_begin(&t, rig_new(), &chorus_machine, &options);
    rig_says(t.r, "a");
    agent = think_agent(&t);
    CHECK_EQ_INT(phi_prompt(agent, "Sing"), PHI_OK);
    CHECK_EQ_INT(rig_run(t.r, 100), 0);
    CHECK(rig_requests(t.r) <= 1);
    CHECK_EQ_STR(think_result(&t, agent, "good"), "(none)");
    think_end(&t);
}

TEST(more_commands_than_there_is_room_for_are_refused) {
    phi_strategy_commands commands;
    unsigned i;
    commands.count = 0;
    for (i = 0; i < PHI_STRATEGY_COMMANDS; i++)
        CHECK(phi_strategy_add(&commands, PHI_STRATEGY_EMIT) != NULL);
    CHECK(phi_strategy_add(&commands, PHI_STRATEGY_EMIT) == NULL);
    CHECK_EQ_INT(commands.count, PHI_STRATEGY_COMMANDS);
}

/* ---- handles ---- */

TEST(stale_handles_and_missing_arguments_are_told_apart) {
    think t;
    phi_agent agent, none;
    phi_str text;
    phi_strategy_best best;
    memset(&none, 0, sizeof none);
    think_begin(&t, rig_new(), &chorus_machine, NULL);
    agent = think_agent(&t);
    CHECK_EQ_INT(strategy_result(none, &t.arena, &text), PHI_BAD_ARG);
    CHECK_EQ_INT(strategy_best(none, &t.arena, &best), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_strategy_settle(none), PHI_BAD_ARG);
    CHECK_EQ_INT(strategy_result(agent, NULL, &text), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_strategy_result(agent, &t.arena, NULL), PHI_BAD_ARG);
    CHECK_EQ_INT(strategy_result(agent, &t.arena, &text), PHI_NOT_FOUND);
    phi_agent_free(agent);
    CHECK_EQ_INT(strategy_result(agent, &t.arena, &text), PHI_STALE);
    CHECK_EQ_INT(strategy_best(agent, &t.arena, &best), PHI_STALE);
    CHECK_EQ_INT(phi_strategy_settle(agent), PHI_STALE);
    think_end(&t);
}

TEST(a_runtime_that_closes_ends_the_calls) {
    think t;
    phi_agent agent;
    think_begin(&t, rig_new(), &chorus_machine, NULL);
    rig_hangs(t.r, "");
    rig_hangs(t.r, "");
    rig_hangs(t.r, "");
    agent = think_agent(&t);
    CHECK_EQ_INT(phi_prompt(agent, "Sing"), PHI_OK);
    (void)rig_run(t.r, 10);
    CHECK_EQ_INT(rig_open_transfers(t.r), 3);
    CHECK_EQ_INT(phi_runtime_close(rig_runtime(t.r)), PHI_BUSY); /* there is work to end */
    CHECK_EQ_INT(rig_run(t.r, 50), 0);
    CHECK_EQ_INT(t.h.status, PHI_CANCELLED);
    CHECK_EQ_INT(phi_runtime_close(rig_runtime(t.r)), PHI_OK);
    CHECK_EQ_INT(rig_open_transfers(t.r), 0);
    think_end(&t);
}

TEST(a_swapped_strategy_does_not_take_the_machine_of_another) {
    think t, u;
    phi_agent agent, other;
    phi_str text;
    think_begin(&t, rig_new(), &chorus_machine, NULL);
    rig_hangs(t.r, "");
    rig_hangs(t.r, "");
    rig_hangs(t.r, "");
    agent = think_agent(&t);
    CHECK_EQ_INT(phi_prompt(agent, "Sing"), PHI_OK);
    (void)rig_run(t.r, 10);
    CHECK_EQ_INT(phi_agent_snapshot(agent, &t.arena, &text), PHI_OK);
    think_begin(&u, rig_new(), phi_strategy_cot(PHI_COT_STEPS), NULL);
    u.provider = phi_strategy_provider(&u.desc);
    rig_says(u.r, "Answer: solo");
    other = phi_agent_restore(rig_runtime(u.r), &u.agent_desc, text, PHI_RESTORE_RESUME);
    CHECK(other.rt != NULL);
    CHECK_EQ_INT(rig_run(u.r, 100), 0);
    CHECK_EQ_STR(think_answer(other), "solo");
    think_end(&u);
    think_end(&t);
}

TEST_MAIN(TEST_ENTRY(calls_run_beside_each_other_and_their_answers_come_in_order),
          TEST_ENTRY(a_failed_call_is_an_event_for_the_machine_alone),
          TEST_ENTRY(a_call_whose_agent_cannot_be_made_fails_with_the_reason),
          TEST_ENTRY(a_restored_run_has_no_more_calls_or_time_than_before),
          TEST_ENTRY(messages_that_wait_together_are_one_problem_and_the_hosts_prune_is_asked),
          TEST_ENTRY(a_prompt_after_a_failed_run_is_a_problem_of_its_own),
          TEST_ENTRY(in_a_conversation_a_prompt_that_was_not_answered_stands_before_the_next),
          TEST_ENTRY(a_call_that_is_tried_again_counts_once_and_has_the_last_text),
          TEST_ENTRY(a_call_has_its_own_settings_or_the_agents),
          TEST_ENTRY(the_key_that_the_host_gives_is_that_of_the_calls),
          TEST_ENTRY(the_worst_case_must_fit_to_the_token),
          TEST_ENTRY(the_agents_system_prompt_is_on_the_bill_once_a_call),
          TEST_ENTRY(a_conversation_is_part_of_the_bill),
          TEST_ENTRY(fewer_calls_make_a_smaller_bill),
          TEST_ENTRY(a_machine_that_breaks_its_contract_fails_the_run_with_words),
          TEST_ENTRY(calls_beyond_the_bill_end_the_machine),
          TEST_ENTRY(more_commands_than_there_is_room_for_are_refused),
          TEST_ENTRY(stale_handles_and_missing_arguments_are_told_apart),
          TEST_ENTRY(a_runtime_that_closes_ends_the_calls),
          TEST_ENTRY(a_swapped_strategy_does_not_take_the_machine_of_another))
