/* test_strategy_limits.c - time limits of a strategy's calls, and what reaches the host of their ends:
   stop reasons, statuses, classes of failures. */
#include "think.h"
#include "agent/agent_history.h"
#include "log/thread.h"

/* A model in the process: answers in order, then silence. */
typedef struct line {
    const char *text;
    phi_stop_reason reason;
} line;

typedef struct parrot {
    const line *lines;
    size_t count, at, closed;
    phi_status opens; /* PHI_OK, or why it does not open */
} parrot;

static phi_status parrot_open(void *user_data, const phi_model_request *request, void **call) {
    parrot *p = (parrot *)user_data;
    (void)request;
    *call = p;
    return p->opens;
}

static phi_poll parrot_poll(void *user_data, void *call, phi_answer *answer) {
    parrot *p = (parrot *)user_data;
    (void)call;
    if (p->at == p->count) return PHI_POLL_AGAIN;
    phi_answer_text(answer, phi_str_of(p->lines[p->at].text));
    phi_answer_stop(answer, p->lines[p->at++].reason);
    return PHI_POLL_DONE;
}

static void parrot_close(void *user_data, void *call) {
    (void)call;
    ((parrot *)user_data)->closed++;
}

static phi_provider parrot_provider(parrot *p, const line *lines, size_t count) {
    phi_provider provider;
    memset(&provider, 0, sizeof provider);
    memset(p, 0, sizeof *p);
    p->lines = lines;
    p->count = count;
    provider.protocol = "parrot";
    provider.user_data = p;
    provider.open = parrot_open;
    provider.poll = parrot_poll;
    provider.close = parrot_close;
    return provider;
}

/* The failure of the last ERROR. */
typedef struct failed {
    heard *h;
    phi_failure_kind kind;
    char message[200];
} failed;

static void failed_watch(void *user_data, const phi_event *e) {
    failed *f = (failed *)user_data;
    heard_event(f->h, e);
    if (e->kind != PHI_EV_ERROR || e->failure == NULL) return;
    f->kind = e->failure->kind;
    heard_copy(f->message, sizeof f->message, e->failure->message);
}

/* ---- time ---- */

TEST(a_call_whose_tool_hangs_ends_at_its_timeout) {
    think t;
    failed f;
    phi_agent agent;
    phi_tool wait;
    phi_adaptive_options options;
    memset(&options, 0, sizeof options);
    memset(&f, 0, sizeof f);
    options.strategy = "react";
    think_begin(&t, rig_new(), phi_strategy_adaptive(), &options);
    t.desc.call_timeout_ms = 300;
    wait = rig_wait(t.r);
    t.agent_desc.tools = &wait;
    t.agent_desc.tool_count = 1;
    rig_call(t.r, "c1", wait.name, "{}");
    agent = think_agent(&t);
    f.h = &t.h;
    rig_watch(t.r, failed_watch, &f);
    CHECK_EQ_INT(phi_prompt(agent, "Search."), PHI_OK);
    CHECK(rig_run_until(t.r, 299) > 0);
    CHECK_EQ_INT(rig_run_until(t.r, 30), 0);
    CHECK_EQ_INT(t.h.status, PHI_TIMEOUT);
    CHECK_EQ_INT(f.kind, PHI_FAILURE_TIMEOUT);
    CHECK_EQ_STR(f.message, "a model call of the strategy took longer than 300 ms");
    CHECK_EQ_INT(rig_cancelled(t.r), 1);
    CHECK_EQ_STR(think_result(&t, agent, "result.termination.status"), "error");
    think_end(&t);
}

TEST(hours_of_a_pause_end_no_call_and_no_search) {
    think t;
    parrot p;
    phi_provider model = parrot_provider(&p, NULL, 0);
    phi_tot_options options = *think_tot();
    phi_agent agent;
    options.max_duration_ms = 60000;
    think_begin(&t, rig_new(), phi_strategy_tot(), &options);
    t.desc.provider = &model;
    agent = think_agent(&t);
    CHECK_EQ_INT(phi_prompt(agent, "24?"), PHI_OK);
    CHECK_EQ_INT(rig_run(t.r, 20), 2); /* the agent's, and its call's */
    rig_pass_ms(t.r, 7200000);
    CHECK_EQ_INT(rig_run(t.r, 20), 2);
    CHECK_EQ_INT(p.closed, 0);
    CHECK(rig_run_until(t.r, 58800) > 0); /* a second of the pause counts */
    CHECK_EQ_INT(p.closed, 0);
    CHECK_EQ_INT(rig_run_until(t.r, 300), 0);
    CHECK_EQ_INT(p.closed, 1);
    think_end(&t);
}

TEST(a_call_of_a_model_in_the_process_ends_at_its_timeout) {
    think t;
    parrot p;
    phi_provider model = parrot_provider(&p, NULL, 0);
    phi_agent agent;
    think_begin(&t, rig_new(), phi_strategy_cot(PHI_COT_STEPS), NULL);
    t.desc.provider = &model;
    t.desc.call_timeout_ms = 300;
    agent = think_agent(&t);
    CHECK_EQ_INT(phi_prompt(agent, "24?"), PHI_OK);
    CHECK(rig_run_until(t.r, 299) > 0);
    CHECK_EQ_INT(rig_run_until(t.r, 30), 0);
    CHECK_EQ_INT(t.h.status, PHI_TIMEOUT);
    CHECK_EQ_INT(p.closed, 1);
    think_end(&t);
}

TEST(a_search_whose_call_hangs_ends_with_the_best_at_max_duration) {
    static const line lines[] = {{"{\"thoughts\":[\"10 - 4\"]}", PHI_STOP_REASON_STOP},
                                 {"{\"scores\":{\"t1\":0.5}}", PHI_STOP_REASON_STOP}};
    think t;
    parrot p;
    phi_provider model = parrot_provider(&p, lines, PHI__COUNT(lines));
    phi_tot_options options = *think_tot();
    phi_agent agent;
    options.max_duration_ms = 500;
    think_begin(&t, rig_new(), phi_strategy_tot(), &options);
    t.desc.provider = &model;
    agent = think_agent(&t);
    CHECK_EQ_INT(phi_prompt(agent, "24?"), PHI_OK);
    CHECK_EQ_INT(rig_run_until(t.r, 600), 0);
    CHECK_EQ_INT(t.h.status, PHI_OK);
    CHECK_EQ_STR(think_answer(agent), "10 - 4");
    CHECK_EQ_STR(think_result(&t, agent, "termination.reason"), "max_duration");
    CHECK_EQ_STR(think_result(&t, agent, "termination.status"), "unfinished");
    think_end(&t);
}

/* ---- what became of the answer ---- */

enum { LINES = 6 };

typedef struct cut_row {
    const phi_strategy *(*strategy)(void);
    const void *options;
    line lines[LINES]; /* up to one without a text */
    const char *answer;
    phi_stop_reason reason;
} cut_row;

TEST(an_answer_that_was_cut_or_filtered_says_so) {
    static phi_tot_options one_step;
    static phi_got_options votes, composes;
    static phi_adaptive_options react;
    static const cut_row rows[] = {
        {strategy_steps,
         NULL,
         {{"Step 1: 10 -", PHI_STOP_REASON_LENGTH}},
         "Step 1: 10 -",
         PHI_STOP_REASON_LENGTH},
        {strategy_drafts,
         NULL,
         {{"#### 6", PHI_STOP_REASON_GUARD_RAIL}},
         "6",
         PHI_STOP_REASON_GUARD_RAIL},
        {strategy_steps, NULL, {{"#### 6", PHI_STOP_REASON_STOP}}, "6", PHI_STOP_REASON_STOP},
        {phi_strategy_aot,
         NULL,
         {{"answer: 6", PHI_STOP_REASON_LENGTH}},
         "6",
         PHI_STOP_REASON_LENGTH},
        {phi_strategy_adaptive,
         &react,
         {{"Half an", PHI_STOP_REASON_LENGTH}},
         "Half an",
         PHI_STOP_REASON_LENGTH},
        {phi_strategy_trm,
         NULL,
         {{"Answer: a", PHI_STOP_REASON_LENGTH}, {"SCORE: 1.0", PHI_STOP_REASON_STOP}},
         "a",
         PHI_STOP_REASON_LENGTH},
        {phi_strategy_trm,
         NULL,
         {{"Answer: a", PHI_STOP_REASON_LENGTH},
          {"SCORE: 0.2", PHI_STOP_REASON_STOP},
          {"notes", PHI_STOP_REASON_LENGTH},
          {"Answer: b", PHI_STOP_REASON_STOP},
          {"SCORE: 1.0", PHI_STOP_REASON_LENGTH}},
         "b",
         PHI_STOP_REASON_STOP},
        {phi_strategy_got,
         &composes,
         {{"1. a\n2. b", PHI_STOP_REASON_STOP},
          {"NONE", PHI_STOP_REASON_STOP},
          {"a and", PHI_STOP_REASON_LENGTH}},
         "a and",
         PHI_STOP_REASON_LENGTH},
        /* of a list that was cut, the last thought alone */
        {phi_strategy_got,
         &votes,
         {{"1. a\n2. b", PHI_STOP_REASON_LENGTH},
          {"NONE", PHI_STOP_REASON_STOP},
          {"VOTE: [2]", PHI_STOP_REASON_STOP}},
         "b",
         PHI_STOP_REASON_LENGTH},
        {phi_strategy_got,
         &votes,
         {{"1. a\n2. b", PHI_STOP_REASON_LENGTH},
          {"NONE", PHI_STOP_REASON_STOP},
          {"VOTE: [1]", PHI_STOP_REASON_STOP}},
         "a",
         PHI_STOP_REASON_STOP},
        {phi_strategy_tot,
         &one_step,
         {{"1. a\n2. b", PHI_STOP_REASON_LENGTH}, {"1. 0.5\n2. 1.0", PHI_STOP_REASON_STOP}},
         "b",
         PHI_STOP_REASON_LENGTH},
        {phi_strategy_tot,
         &one_step,
         {{"1. a\n2. b", PHI_STOP_REASON_LENGTH}, {"1. 1.0\n2. 0.5", PHI_STOP_REASON_STOP}},
         "a",
         PHI_STOP_REASON_STOP}};
    size_t i;
    one_step = *think_tot();
    one_step.max_depth = one_step.min_depth = 1;
    votes.aggregation = PHI_GOT_VOTING;
    votes.votes = votes.generations = composes.generations = 1;
    react.strategy = "react";
    for (i = 0; i < PHI__COUNT(rows); i++) {
        think t;
        parrot p;
        phi_provider model = parrot_provider(&p, rows[i].lines, 0);
        phi_agent agent;
        size_t last;
        while (p.count < LINES && rows[i].lines[p.count].text != NULL) p.count++;
        think_begin(&t, rig_new(), rows[i].strategy(), rows[i].options);
        t.desc.provider = &model;
        agent = think_agent(&t);
        CHECK_EQ_INT(phi_prompt(agent, "24?"), PHI_OK);
        CHECK_EQ_INT(rig_run(t.r, 300), 0);
        CHECK_EQ_INT(t.h.status, PHI_OK);
        CHECK_EQ_STR(think_answer(agent), rows[i].answer);
        last = phi_thread_message_count(phi_agent_thread(agent)) - 1;
        if (!CHECK_EQ_INT(phi_thread_message_at(phi_agent_thread(agent), last)->stop_reason,
                          rows[i].reason))
            printf("row %u\n", (unsigned)i);
        think_end(&t);
    }
}

/* ---- statuses ---- */

typedef struct fail_row {
    const phi_strategy *(*strategy)(void);
    const void *options;
    line lines[LINES];
    phi_status status;
    phi_failure_kind kind;
    const char *message;
} fail_row;

TEST(a_failure_has_the_documented_status) {
    static phi_adaptive_options react;
    static const fail_row rows[] = {
        {phi_strategy_got,
         NULL,
         {{" ", PHI_STOP_REASON_STOP}, {" ", PHI_STOP_REASON_STOP}},
         PHI_PARSE,
         PHI_FAILURE_SERVER,
         "the model wrote no thought that could be used"},
        {phi_strategy_tot,
         NULL,
         {{"prose", PHI_STOP_REASON_STOP}, {"prose", PHI_STOP_REASON_STOP}},
         PHI_PARSE,
         PHI_FAILURE_SERVER,
         "the model's thoughts could not be read"},
        {phi_strategy_tot,
         NULL,
         {{"{\"thoughts\":[]}", PHI_STOP_REASON_STOP}},
         PHI_PARSE,
         PHI_FAILURE_SERVER,
         "the model wrote no thought that could be used"},
        {phi_strategy_trm,
         NULL,
         {{" ", PHI_STOP_REASON_STOP}},
         PHI_REFUSED,
         PHI_FAILURE_SERVER,
         "the model wrote no answer"},
        {phi_strategy_adaptive,
         &react,
         {{" ", PHI_STOP_REASON_GUARD_RAIL}},
         PHI_REFUSED,
         PHI_FAILURE_CONTENT_FILTER,
         "the model wrote no answer"},
        {strategy_steps,
         NULL,
         {{" ", PHI_STOP_REASON_GUARD_RAIL}},
         PHI_REFUSED,
         PHI_FAILURE_CONTENT_FILTER,
         "the model wrote no answer"},
        {phi_strategy_aot,
         NULL,
         {{"no idea", PHI_STOP_REASON_STOP}},
         PHI_REFUSED,
         PHI_FAILURE_SERVER,
         "the model found no solution"},
        /* settled before there is anything */
        {phi_strategy_got,
         NULL,
         {{NULL, PHI_STOP_REASON_NONE}},
         PHI_LIMIT,
         PHI_FAILURE_QUOTA,
         "ended before there was a thought"},
        {phi_strategy_trm,
         NULL,
         {{NULL, PHI_STOP_REASON_NONE}},
         PHI_LIMIT,
         PHI_FAILURE_QUOTA,
         "ended before there was an answer"}};
    size_t i;
    react.strategy = "react";
    for (i = 0; i < PHI__COUNT(rows); i++) {
        think t;
        parrot p;
        failed f;
        phi_provider model = parrot_provider(&p, rows[i].lines, 0);
        phi_agent agent;
        while (p.count < LINES && rows[i].lines[p.count].text != NULL) p.count++;
        memset(&f, 0, sizeof f);
        think_begin(&t, rig_new(), rows[i].strategy(), rows[i].options);
        t.desc.provider = &model;
        agent = think_agent(&t);
        f.h = &t.h;
        rig_watch(t.r, failed_watch, &f);
        CHECK_EQ_INT(phi_prompt(agent, "24?"), PHI_OK);
        (void)rig_run(t.r, 50);
        if (p.count == 0) CHECK_EQ_INT(phi_strategy_settle(agent), PHI_OK);
        CHECK_EQ_INT(rig_run(t.r, 300), 0);
        if (!CHECK_EQ_INT(t.h.status, rows[i].status) || !CHECK_EQ_INT(f.kind, rows[i].kind))
            printf("row %u\n", (unsigned)i);
        CHECK_EQ_STR(f.message, rows[i].message);
        think_end(&t);
    }
}

TEST(a_network_failure_as_a_model_opens_stays_one) {
    static const phi_status statuses[] = {PHI_NETWORK, PHI_TIMEOUT, PHI_IO};
    static const phi_failure_kind kinds[] = {PHI_FAILURE_NETWORK, PHI_FAILURE_TIMEOUT,
                                             PHI_FAILURE_SERVER};
    size_t i;
    int thinks;
    for (i = 0; i < PHI__COUNT(statuses); i++)
        for (thinks = 0; thinks < 2; thinks++) {
            think t;
            parrot p;
            failed f;
            phi_provider model = parrot_provider(&p, NULL, 0);
            phi_agent agent;
            p.opens = statuses[i];
            memset(&f, 0, sizeof f);
            think_begin(&t, rig_new(), phi_strategy_cot(PHI_COT_STEPS), NULL);
            t.desc.provider = &model;
            t.agent_desc.provider = thinks ? &t.provider : &model;
            agent = think_agent(&t);
            f.h = &t.h;
            rig_watch(t.r, failed_watch, &f);
            CHECK_EQ_INT(phi_prompt(agent, "24?"), PHI_OK);
            CHECK_EQ_INT(rig_run_until(t.r, 60000), 0);
            CHECK_EQ_INT(t.h.status, statuses[i]);
            CHECK_EQ_INT(f.kind, kinds[i]);
            CHECK_EQ_INT(p.closed, 0);
            think_end(&t);
        }
}

TEST_MAIN(TEST_ENTRY(a_call_whose_tool_hangs_ends_at_its_timeout),
          TEST_ENTRY(hours_of_a_pause_end_no_call_and_no_search),
          TEST_ENTRY(a_call_of_a_model_in_the_process_ends_at_its_timeout),
          TEST_ENTRY(a_search_whose_call_hangs_ends_with_the_best_at_max_duration),
          TEST_ENTRY(an_answer_that_was_cut_or_filtered_says_so),
          TEST_ENTRY(a_failure_has_the_documented_status),
          TEST_ENTRY(a_network_failure_as_a_model_opens_stays_one))
