/* test_strategy_seams.c - strategies beside what else an agent can do: requests with tools of their
   own, evaluations whose branches think. */
#include "orchestrate/evaluate.h"
#include "think.h"

#include "agent/response.h"
#include "support/store_mem.h"
#include "agent/agent_history.h"
#include "agent/agent_info.h"

static bool offers(rig *r, size_t i, const char *tool) {
    char name[60];
    (void)snprintf(name, sizeof name, "\"name\":\"%s\"", tool);
    return rig_request(r, i) != NULL && strstr(rig_request(r, i), name) != NULL;
}

/* The tools of one request, asked for with `desc`. */
static void thinks_with(const phi_prompt_desc *desc, bool echo, bool own) {
    think t;
    phi_agent agent;
    phi_tool tool = rig_echo();
    phi_tot_options options;
    phi_response response;
    options = *think_tot();
    options.tools = true;
    think_begin(&t, rig_new(), phi_strategy_tot(), &options);
    t.agent_desc.tools = &tool;
    t.agent_desc.tool_count = 1;
    rig_call(t.r, "c1", own ? "own" : "echo", "{\"n\":1}");
    think_script_tree(t.r);
    agent = think_agent(&t);
    CHECK_EQ_INT(phi_prompt_with(agent, desc, &response), PHI_OK);
    CHECK_EQ_INT(rig_run(t.r, 200), 0);
    CHECK_EQ_INT(offers(t.r, 0, "echo"), echo);
    CHECK_EQ_INT(offers(t.r, 0, "own"), own);
    CHECK_EQ_STR(think_answer(agent), "(10 - 4) * 4");
    think_end(&t);
}

static phi_prompt_desc ask_desc(void) {
    phi_prompt_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.text = "24?";
    return desc;
}

TEST(thoughts_have_the_tools_of_the_request) {
    static const char *const none[] = {"echo"};
    phi_prompt_desc desc = ask_desc();
    phi_tool own = rig_echo();
    own.name = "own";
    thinks_with(&desc, true, false);
    desc.no_tools = true;
    thinks_with(&desc, false, false);
    desc = ask_desc();
    desc.allowed_tools = none;
    desc.allowed_count = 1;
    thinks_with(&desc, true, false);
    desc = ask_desc();
    desc.tools = &own;
    desc.tool_count = 1;
    thinks_with(&desc, false, true);
}

/* ---- evaluations ---- */

/* An evaluation of two branches, of which the second thinks. */
static void evaluated(phi_evaluate_by by, const char *answer) {
    think t;
    phi_agent agent;
    phi_agent_desc configs[2];
    phi_evaluate_desc desc;
    think_begin(&t, rig_new(), phi_strategy_cot(PHI_COT_STEPS), NULL);
    configs[0] = t.agent_desc;
    configs[0].provider = NULL;
    configs[1] = t.agent_desc;
    t.agent_desc.provider = NULL;
    agent = think_agent(&t);
    memset(&desc, 0, sizeof desc);
    desc.configs = configs;
    desc.config_count = 2;
    desc.prompt = "24?";
    desc.by = by;
    rig_says(t.r, "short");
    rig_says(t.r, "Thoughts.\nAnswer: 24");
    rig_says(t.r, "more");
    CHECK_EQ_INT(phi_evaluate(agent, &desc), PHI_OK);
    CHECK_EQ_INT(rig_run(t.r, 200), 0);
    CHECK_EQ_STR(think_result(&t, agent, "answer"), answer);
    think_end(&t);
}

TEST(after_an_evaluation_the_result_is_the_selected_branchs) {
    evaluated(PHI_EVALUATE_FIRST, "(none)");
    evaluated(PHI_EVALUATE_ELABORATE, "24");
}

/* ---- threads that are opened again ---- */

/* Reopens the agent's thread in another runtime; its session and its last run are as they were. */
static void reopened(bool evaluates) {
    store_mem *store = store_mem_new();
    char session[64] = "", loop[160] = "";
    int round;
    for (round = 0; round < 2; round++) {
        think t;
        phi_agent agent;
        think_begin(&t, rig_new(), phi_strategy_cot(PHI_COT_STEPS), NULL);
        t.agent_desc.store = store_mem_store(store);
        t.agent_desc.thread_id = "t";
        rig_says(t.r, "Thoughts.\nAnswer: 24");
        rig_says(t.r, "more");
        rig_says(t.r, "last");
        agent = think_agent(&t);
        if (round == 0) {
            phi_agent_desc configs[2];
            phi_evaluate_desc desc;
            memset(&desc, 0, sizeof desc);
            configs[0] = configs[1] = rig_desc();
            configs[1].provider = &t.provider;
            desc.configs = configs;
            desc.config_count = 2;
            desc.prompt = "24?";
            if (evaluates)
                CHECK_EQ_INT(phi_evaluate(agent, &desc), PHI_OK);
            else
                CHECK_EQ_INT(phi_prompt(agent, "24?"), PHI_OK);
            CHECK_EQ_INT(rig_run(t.r, 200), 0);
            heard_copy(session, sizeof session, phi_agent_get_info(agent).session_id);
            heard_copy(loop, sizeof loop, phi_agent_get_info(agent).loop_id);
            CHECK(loop[0] != '\0');
        }
        CHECK_STR(phi_agent_get_info(agent).session_id, session);
        CHECK_STR(phi_agent_get_info(agent).loop_id, loop);
        think_end(&t);
    }
    store_mem_free(store);
}

TEST(a_thread_that_is_opened_again_continues_its_own_run_not_a_strategys_call) { reopened(false); }
TEST(a_thread_that_is_opened_again_continues_the_selected_branch) { reopened(true); }

/* ---- forgetting ---- */

/* Scratch work goes with the oldest turns: its lanes would fill the memory in the end. */
TEST(an_agent_that_thinks_stays_within_its_memory_limit_for_ever) {
    think t;
    phi_agent agent;
    int i;
    think_begin(&t, rig_new(), phi_strategy_cot(PHI_COT_STEPS), NULL);
    t.agent_desc.memory.limit_bytes = 150000;
    t.agent_desc.memory.at_limit = PHI_AT_MEMORY_LIMIT_FORGET;
    agent = think_agent(&t);
    for (i = 0; i < 120 && test_failures() == 0; i++) {
        rig_rewind(t.r);
        rig_says(t.r, "Thoughts.\nAnswer: 24");
        CHECK_EQ_INT(phi_prompt(agent, "24?"), PHI_OK);
        CHECK_EQ_INT(rig_run(t.r, 200), 0);
        CHECK_EQ_INT(t.h.status, PHI_OK);
        rig_forget(t.r);
    }
    CHECK(phi_thread_get_info(phi_agent_thread(agent)).lane_count < 40);
    CHECK_EQ_STR(think_result(&t, agent, "answer"), "24");
    think_end(&t);
}

TEST_MAIN(TEST_ENTRY(an_agent_that_thinks_stays_within_its_memory_limit_for_ever),
          TEST_ENTRY(thoughts_have_the_tools_of_the_request),
          TEST_ENTRY(a_thread_that_is_opened_again_continues_its_own_run_not_a_strategys_call),
          TEST_ENTRY(a_thread_that_is_opened_again_continues_the_selected_branch),
          TEST_ENTRY(after_an_evaluation_the_result_is_the_selected_branchs))
