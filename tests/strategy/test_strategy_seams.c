/* test_strategy_seams.c - strategies beside what else an agent can do: requests with tools of their
   own, evaluations whose branches think. */
#include "think.h"

#include "agent/response.h"

static bool offers(rig *r, size_t i, const char *tool) {
    char name[60];
    (void)snprintf(name, sizeof name, "\"name\":\"%s\"", tool);
    return rig_request(r, i) != NULL && strstr(rig_request(r, i), name) != NULL;
}

/* The tools of one request, asked for with `desc`. */
static void thinks_with(const phi_ask_desc *desc, bool echo, bool own) {
    think t;
    phi_agent agent;
    phi_tool tool = rig_echo();
    phi_tot_options options;
    phi_response response;
    memset(&options, 0, sizeof options);
    options.tools = true;
    think_begin(&t, rig_new(), phi_strategy_tot(), &options);
    t.agent_desc.tools = &tool;
    t.agent_desc.tool_count = 1;
    rig_call(t.r, "c1", own ? "own" : "echo", "{\"n\":1}");
    think_script_tree(t.r);
    agent = think_agent(&t);
    CHECK_EQ_INT(phi_ask_with(agent, desc, &response), PHI_OK);
    CHECK_EQ_INT(rig_run(t.r, 200), 0);
    CHECK_EQ_INT(offers(t.r, 0, "echo"), echo);
    CHECK_EQ_INT(offers(t.r, 0, "own"), own);
    CHECK_EQ_STR(think_answer(agent), "(10 - 4) * 4");
    think_end(&t);
}

static phi_ask_desc ask_desc(void) {
    phi_ask_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.text = "24?";
    return desc;
}

TEST(thoughts_have_the_tools_of_the_request) {
    static const char *const none[] = {"echo"};
    phi_ask_desc desc = ask_desc();
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

TEST_MAIN(TEST_ENTRY(thoughts_have_the_tools_of_the_request))
