/* test_strategy_switch.c - one agent, one conversation, another strategy for each prompt. */
#include "think.h"
#include "codecs/presets.h"
#include "model/model.h"
#include "agent/agent_history.h"
#include "agent/agent_info.h"
#include "log/thread.h"
#include "support/set.h"

static void script_draft(rig *r) { rig_says(r, "10 - 4: 6\n#### (10 - 4) * 4"); }

TEST(an_agent_gets_another_strategy_in_mid_conversation_and_none_again) {
    think t;
    phi_agent agent;
    phi_strategy_desc draft;
    phi_provider drafts;
    memset(&draft, 0, sizeof draft);
    draft.strategy = phi_strategy_cot(PHI_COT_DRAFTS);
    drafts = phi_strategy_provider(&draft);
    think_begin(&t, rig_new(), phi_strategy_tot(), think_tot());
    think_script_tree(t.r);
    script_draft(t.r);
    rig_says(t.r, "Gladly.");
    think_script_tree(t.r);
    agent = think_agent(&t);
    CHECK_EQ_INT(phi_prompt(agent, "Make 24 of 4, 4 and 10."), PHI_OK);
    CHECK_EQ_INT(rig_run(t.r, 300), 0);
    CHECK_EQ_STR(think_answer(agent), "(10 - 4) * 4");
    CHECK_EQ_INT(set_provider(agent, &drafts), PHI_OK);
    CHECK_EQ_INT(phi_prompt(agent, "Why?"), PHI_OK);
    CHECK_EQ_INT(rig_run(t.r, 300), 0);
    CHECK_EQ_STR(think_result(&t, agent, "conclusion"), "(10 - 4) * 4");
    CHECK(strstr(rig_request(t.r, 4), "Make 24 of 4, 4 and 10.") != NULL); /* the conversation */
    CHECK_EQ_INT(set_provider(agent, NULL), PHI_OK);
    CHECK_EQ_INT(phi_prompt(agent, "Thanks."), PHI_OK);
    CHECK_EQ_INT(rig_run(t.r, 300), 0);
    CHECK_EQ_STR(think_answer(agent), "Gladly.");
    CHECK_EQ_STR(think_result(&t, agent, "conclusion"), "(none)"); /* of the last run alone */
    CHECK_EQ_INT(set_provider(agent, &t.provider), PHI_OK);
    CHECK_EQ_INT(phi_prompt(agent, "Once more."), PHI_OK);
    CHECK_EQ_INT(rig_run(t.r, 300), 0);
    CHECK_EQ_STR(think_result(&t, agent, "termination.reason"), "threshold");
    CHECK_EQ_INT(rig_requests(t.r), 10);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 8);
    think_end(&t);
}

TEST(a_provider_that_does_not_fit_is_refused_and_the_old_one_stays) {
    think t;
    phi_agent agent, none;
    phi_provider empty;
    memset(&empty, 0, sizeof empty);
    memset(&none, 0, sizeof none);
    think_begin(&t, rig_new(), phi_strategy_cot(PHI_COT_STEPS), NULL);
    t.agent_desc.model.protocol = "nobody's"; /* that of the provider */
    t.desc.provider = NULL;
    agent = think_agent(&t);
    CHECK_EQ_INT(set_provider(agent, &empty), PHI_BAD_ARG);
    CHECK_EQ_STR(words_of(t.r), "provider: protocol is missing");
    CHECK_EQ_INT(set_provider(agent, NULL), PHI_UNSUPPORTED);
    CHECK_EQ_STR(words_of(t.r),
                 "No provider registered for protocol: nobody's "
                 "(presets bring theirs; or set phi_runtime_desc.codecs = PHI_ALL_PROTOCOLS)");
    CHECK_EQ_INT(set_provider(none, NULL), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_prompt(agent, "24?"), PHI_OK);
    CHECK_EQ_INT(set_provider(agent, &t.provider), PHI_BUSY);
    CHECK_EQ_STR(words_of(t.r), "phi_agent_set: a run is going on");
    CHECK_EQ_INT(rig_run(t.r, 300), 0);
    CHECK_EQ_INT(t.h.status, PHI_UNSUPPORTED); /* the strategy's own call has no provider */
    phi_agent_free(agent);
    CHECK_EQ_INT(set_provider(agent, NULL), PHI_STALE);
    think_end(&t);
}

TEST(a_provider_of_no_strategy_is_refused_with_the_agent) {
    think t;
    phi_strategy_desc nothing;
    memset(&nothing, 0, sizeof nothing);
    think_begin(&t, rig_new(), phi_strategy_cot(PHI_COT_STEPS), NULL);
    t.provider = phi_strategy_provider(NULL);
    CHECK(phi_agent_new(rig_runtime(t.r), &t.agent_desc).rt == NULL);
    CHECK_EQ_STR(words_of(t.r),
                 "provider: expected open, poll and close, or encode, event and end");
    t.provider = phi_strategy_provider(&nothing);
    CHECK(phi_agent_new(rig_runtime(t.r), &t.agent_desc).rt == NULL);
    CHECK_EQ_STR(words_of(t.r),
                 "provider: expected open, poll and close, or encode, event and end");
    think_end(&t);
}

TEST(a_model_change_keeps_the_strategy) {
    think t;
    phi_agent agent;
    phi_model model = phi_model_anthropic("other-model", "key");
    int i;
    think_begin(&t, rig_new(), phi_strategy_cot(PHI_COT_DRAFTS), NULL);
    agent = think_agent(&t);
    for (i = 0; i < 3; i++) CHECK_EQ_INT(set_model(agent, &model), PHI_OK);
    script_draft(t.r);
    CHECK_EQ_INT(phi_prompt(agent, "24?"), PHI_OK);
    CHECK_EQ_INT(rig_run(t.r, 300), 0);
    CHECK_EQ_STR(think_result(&t, agent, "conclusion"), "(10 - 4) * 4");
    CHECK(strstr(rig_request(t.r, 0), "\"other-model\"") != NULL);
    think_end(&t);
}

TEST(a_strategy_change_without_memory_changes_nothing) {
    int n;
    bool tripped = true;
    for (n = 0; tripped && n < 60; n++) {
        think t;
        phi_agent agent;
        phi_status status;
        think_begin(&t, rig_new(), phi_strategy_cot(PHI_COT_DRAFTS), NULL);
        agent = think_agent(&t);
        test_alloc_fail_at(n);
        status = set_provider(agent, NULL);
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        CHECK_EQ_INT(status, tripped ? PHI_NO_MEMORY : PHI_OK);
        script_draft(t.r);
        CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
        CHECK_EQ_INT(rig_run(t.r, 100), 0);
        CHECK_EQ_STR(think_result(&t, agent, "conclusion"), tripped ? "(10 - 4) * 4" : "(none)");
        think_end(&t);
    }
    CHECK(!tripped && n > 2);
}

TEST(changing_strategies_for_ever_takes_no_more_memory) {
    think t;
    phi_agent agent;
    size_t before;
    int i;
    think_begin(&t, rig_new(), phi_strategy_cot(PHI_COT_DRAFTS), NULL);
    agent = think_agent(&t);
    CHECK_EQ_INT(set_provider(agent, &t.provider), PHI_OK);
    before = phi_agent_get_info(agent).memory_used;
    for (i = 0; i < 100; i++) CHECK_EQ_INT(set_provider(agent, &t.provider), PHI_OK);
    CHECK_EQ_INT(phi_agent_get_info(agent).memory_used, before);
    think_end(&t);
}

TEST_MAIN(TEST_ENTRY(an_agent_gets_another_strategy_in_mid_conversation_and_none_again),
          TEST_ENTRY(a_provider_that_does_not_fit_is_refused_and_the_old_one_stays),
          TEST_ENTRY(a_provider_of_no_strategy_is_refused_with_the_agent),
          TEST_ENTRY(a_model_change_keeps_the_strategy),
          TEST_ENTRY(a_strategy_change_without_memory_changes_nothing),
          TEST_ENTRY(changing_strategies_for_ever_takes_no_more_memory))
