/* test_config_requirements.c - requirements of the specification on configuration that no other test
   is about. */
#include "support/made.h"

#define PROVIDER "[provider]\nmodel = \"claude-sonnet-4\"\napi_key = \"k\"\n"

static uint64_t window_of(const char *text) {
    rig *r = rig_new();
    made m;
    uint64_t window = 0;
    if (CHECK(made_load(&m, r, text, NULL, NULL, NULL))) {
        CHECK_EQ_STR(made_problems(&m), "");
        if (CHECK_EQ_INT(m.status, PHI_OK)) {
            phi_agent_desc d = made_desc(&m, NULL);
            CHECK(!d.compaction.disable);
            CHECK_EQ_INT(d.compaction.keep_recent_turns, 7);
            window = d.compaction.max_context_tokens;
        }
        made_free(&m);
    }
    rig_free(r);
    return window;
}

TEST(compaction_has_one_of_two_tables) {
    CHECK_EQ_INT(
        window_of(PROVIDER "[compaction]\nmax_context_tokens = 50000\nkeep_recent_turns = 7\n"),
        50000);
    CHECK_EQ_INT(window_of(PROVIDER "[context.compaction]\nmax_context_tokens = 60000\n"
                                    "keep_recent_turns = 7\n"),
                 60000);
    CHECK_EQ_INT(window_of(PROVIDER "[context]\n[context.compaction]\nmax_context_tokens = 70000\n"
                                    "keep_recent_turns = 7\n"),
                 70000);
}

/* The prompt of an agent's own is resolved as those of profiles are. */
TEST(an_agents_own_prompt_may_be_a_reference_or_a_file) {
    char dir[512], path[600], name[600];
    rig *r = rig_new();
    made m;
    FILE *f;
    REQUIRE(test_temp_dir(dir, sizeof dir));
    (void)snprintf(path, sizeof path, "%s/own.md", dir);
    (void)snprintf(name, sizeof name, "%s/agent.toml", dir);
    f = fopen(path, "wb");
    REQUIRE(f != NULL);
    (void)fputs("FROM A FILE\n", f);
    (void)fclose(f);
    REQUIRE(made_load(&m, r,
                      PROVIDER "[[system_prompt.instances]]\nid = \"{{small}}\"\n"
                               "type = \"minimal\"\nidentity = \"I\"\n"
                               "[agent]\nsystem_prompt = \"OF ALL\"\n"
                               "[[agent.instances]]\nname = \"a\"\nsystem_prompt = \"{{small}}\"\n"
                               "[[agent.instances]]\nname = \"b\"\n"
                               "system_prompt = \"file:own.md\"\n"
                               "[[agent.instances]]\nname = \"c\"\n"
                               "[[agent.instances]]\nname = \"d\"\nsystem_prompt = \"PLAIN\"\n",
                      name, NULL, NULL));
    CHECK_EQ_STR(made_problems(&m), "");
    REQUIRE(CHECK_EQ_INT(phi_agents_count(m.agents), 4));
    CHECK_EQ_STR(made_desc(&m, "a").system_prompt, "I");
    CHECK_EQ_STR(made_desc(&m, "b").system_prompt, "FROM A FILE");
    CHECK_EQ_STR(made_desc(&m, "c").system_prompt, "OF ALL");
    CHECK_EQ_STR(made_desc(&m, "d").system_prompt, "PLAIN");
    made_free(&m);
    rig_free(r);
}

TEST_MAIN(TEST_ENTRY(compaction_has_one_of_two_tables),
          TEST_ENTRY(an_agents_own_prompt_may_be_a_reference_or_a_file))
