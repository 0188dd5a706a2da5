/* test_config_said.c - options, extras and raw tools in files: what an agent of the file has, and
   the words about values that are no good. */
#include "support/made.h"

#define PROVIDER "[provider]\nmodel = \"claude-sonnet-4-6\"\napi_key = \"k\"\n"

TEST(an_instance_replaces_what_the_agents_have) {
    rig *r = rig_new();
    made m;
    phi_agent_desc d;
    REQUIRE(made_load(&m, r,
                      PROVIDER "[agent.options]\ntop_p = 0.5\nstop = [\"A\"]\n"
                               "[agent.extra]\na = 1\n"
                               "[[agent.raw_tools]]\nprotocol = \"anthropic\"\n"
                               "json = '{\"type\":\"x\"}'\n"
                               "[[agent.instances]]\nname = \"base\"\n"
                               "[[agent.instances]]\nname = \"own\"\nextra = '{\"b\":2}'\n"
                               "raw_tools = []\noptions = { top_k = 7 }\n",
                      NULL, NULL, NULL));
    CHECK_EQ_STR(made_problems(&m), "");
    d = made_desc(&m, "base");
    CHECK(d.options.top_p > 0.4 && d.options.stop_count == 1);
    CHECK_EQ_STR(d.options.extra, "{\"a\":1}");
    CHECK_EQ_INT(d.tool_options.raw_tool_count, 1);
    d = made_desc(&m, "own");
    CHECK_EQ_INT(d.options.top_k, 7);
    CHECK_EQ_INT(d.options.stop_count, 0);
    CHECK_EQ_STR(d.options.extra, "{\"b\":2}");
    CHECK_EQ_INT(d.tool_options.raw_tool_count, 0);
    made_free(&m);
    rig_free(r);
}

static void check_problem(const char *text, const char *want) {
    rig *r = rig_new();
    made m;
    if (CHECK(made_load(&m, r, text, NULL, NULL, NULL))) {
        CHECK(strstr(made_problems(&m), want) != NULL);
        if (strstr(made_problems(&m), want) == NULL)
            fprintf(stderr, "problems: %s\n", made_problems(&m));
        made_free(&m);
    }
    rig_free(r);
}

TEST(an_extra_that_is_no_object_is_a_problem_at_its_place) {
    check_problem(PROVIDER "[agent]\nextra = 7\n",
                  "agent.extra: expected a table, or JSON as a text");
    check_problem(PROVIDER "[agent]\nextra = \"[1]\"\n",
                  "agent.extra: expected a JSON object, got array");
    check_problem(PROVIDER "extra = '{\"a\":1,\"a\":2}'\n[agent]\nname = \"a\"\n",
                  "provider.extra: \"a\" is there twice");
    check_problem(PROVIDER "[[agent.raw_tools]]\nprotocol = \"anthropic\"\njson = \"{\"\n",
                  "agent.raw_tools.json:1:2: ");
}

TEST(an_extra_that_the_protocol_refuses_makes_no_agent) {
    check_problem(PROVIDER "[agent.extra]\nmessages = []\n",
                  "options.extra: phi writes \"messages\" itself");
}

TEST_MAIN(TEST_ENTRY(an_instance_replaces_what_the_agents_have),
          TEST_ENTRY(an_extra_that_is_no_object_is_a_problem_at_its_place),
          TEST_ENTRY(an_extra_that_the_protocol_refuses_makes_no_agent))
