/* test_sections.c - the sections of a configuration that need phi_tools.h. */
#include "sections/sections.h"
#include "support/made.h"

#define PROVIDER "[provider]\nmodel = \"claude-sonnet-4\"\napi_key = \"k\"\n"
#define FULL "tests/config/fixtures/full.toml"

static bool load(made *m, rig *r, const char *text, const char *path, const phi_agents_desc *with) {
    return made_load(m, r, text, path, phi_config_sections(), with);
}

static bool has_tool(const phi_agent_desc *d, const char *name) {
    size_t i;
    for (i = 0; i < d->tool_count; i++)
        if (strcmp(d->tools[i].name, name) == 0) return true;
    return false;
}

TEST(a_file_with_every_section_makes_an_agent_that_runs) {
    rig *r = rig_new();
    char *text = test_read_file(FULL, NULL);
    phi_agent_desc d;
    made m;
    REQUIRE(text != NULL && load(&m, r, text, FULL, NULL));
    CHECK_EQ_STR(made_problems(&m), "");
    REQUIRE(CHECK_EQ_INT(m.status, PHI_OK));
    d = made_desc(&m, "default");
    CHECK_EQ_STR(d.model.id, "claude-sonnet-4-5");
    CHECK_EQ_STR(d.workspace, "tests/config/fixtures/workspace");
    CHECK_EQ_INT(d.thinking, PHI_THINKING_HIGH);
    CHECK_EQ_INT(d.tool_count, 9); /* six, prun_with_memo, read_skill, librarian */
    CHECK(has_tool(&d, "read_file") && has_tool(&d, "write_file"));
    CHECK(has_tool(&d, "prun") && has_tool(&d, "prun_with_memo"));
    CHECK(has_tool(&d, "read_skill") && has_tool(&d, "librarian"));
    CHECK(strstr(d.system_prompt, "You repair programs") == d.system_prompt);
    CHECK(strstr(d.system_prompt, "review-notes") != NULL);
    CHECK((d.hook_points & PHI_HOOK_BEFORE_TOOL) != 0);
    rig_call(r, "c1", "read_file", "{\"path\":\"identity.md\"}");
    rig_call(r, "c2", "bash", "{\"command\":\"git push origin\"}");
    rig_call(r, "c3", "librarian", "{\"task\":\"where?\"}");
    rig_says(r, "On page 3.");
    rig_says(r, "Done.");
    CHECK_EQ_INT(phi_prompt(phi_agents_get(m.agents, NULL), "go"), PHI_OK);
    (void)rig_run(r, 3000);
    REQUIRE(CHECK_EQ_INT(rig_requests(r), 5));
    CHECK(strstr(rig_request(r, 1), "You mend clocks.") != NULL);
    CHECK(strstr(rig_request(r, 2), "A person pushes.") != NULL);
    CHECK(strstr(rig_request(r, 3), "\"claude-haiku-4-5\"") != NULL);
    CHECK(strstr(rig_request(r, 3), "Find the passage.") != NULL);
    CHECK(strstr(rig_request(r, 4), "On page 3.") != NULL);
    made_free(&m);
    free(text);
    rig_free(r);
}

TEST(check_only_finds_the_same_and_makes_nothing) {
    rig *r = rig_new();
    char *text = test_read_file(FULL, NULL);
    phi_agents_desc with = PHI_ZERO;
    made m;
    with.check_only = true;
    REQUIRE(text != NULL && load(&m, r, text, FULL, &with));
    CHECK_EQ_STR(made_problems(&m), "");
    CHECK_EQ_INT(m.status, PHI_OK);
    CHECK_EQ_INT(phi_agents_count(m.agents), 0);
    made_free(&m);
    REQUIRE(load(&m, r,
                 PROVIDER "[tools]\nenabled = [\"read_fil\"]\n[[mcp.instances]]\nname = \"a\"\n"
                          "command = \"/nowhere/program\"\n[[openapi.instances]]\nname = \"b\"\n"
                          "file = \"none.json\"\n",
                 NULL, &with));
    CHECK_EQ_INT(m.status, PHI_OK); /* the document may bring the tool */
    made_free(&m);
    free(text);
    rig_free(r);
}

TEST(mistakes_of_sections_have_words) {
    static const struct {
        const char *text, *want;
    } rows[] = {
        {"[tools]\nenabled = [\"read_fil\"]\n",
         "\"read_fil\": there is no such tool; did you mean \"read_file\"?"},
        {"[agent.profile]\nskills = [\"x\"]\n", "names skills, but nothing says where they are"},
        {"[skills]\ndirectories = [\"nowhere\"]\n", "\"nowhere\" is no directory"},
        {"[skills]\ndirectories = [\"tests/config/fixtures/skills\"]\n[agent.profile]\n"
         "skills = [\"review-note\"]\n",
         "there is no skill \"review-note\" in skills.directories; did you mean \"review-notes\"?"},
        {"[[mcp.instances]]\nname = \"fs\"\n",
         "MCP server \"fs\" has neither command nor url: add command"},
        {"[[mcp.instances]]\nname = \"fs\"\ncommand = \"a 'b\"\n",
         "command: a quote is not closed"},
        {"[[openapi.instances]]\nname = \"pets\"\n", "OpenAPI document \"pets\" has "},
        {"[[openapi.instances]]\nname = \"pets\"\nfile = \"nowhere.json\"\n",
         "OpenAPI document \"pets\": "},
        {"[callbacks]\nbefore_tool_execution = \"./check\\u0000.sh\"\n",
         "(expected a text without the character U+0000)"},
        {"[callbacks]\nbefore_loop = 5\n", "before_loop: expected a command"},
    };
    size_t i;
    for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[512];
        rig *r = rig_new();
        made m;
        (void)snprintf(text, sizeof text, "%s%s", PROVIDER, rows[i].text);
        REQUIRE(load(&m, r, text, NULL, NULL));
        if (!CHECK(m.status != PHI_OK && strstr(made_problems(&m), rows[i].want) != NULL))
            fprintf(stderr, "want: %s\ngot: %s", rows[i].want, made_problems(&m));
        CHECK_EQ_INT(phi_agents_count(m.agents), 0);
        made_free(&m);
        rig_free(r);
    }
}

/* Each part that shows a name, a path or an address of the file. */
TEST(problems_of_agents_show_variables_by_their_names) {
    static const char *const rows[] = {
        "[agent]\nsystem_prompt = \"file:${MADE_PLACE}/p.md\"\nworkspace = \"${MADE_PLACE}\"\n",
        "[tools]\nenabled = [\"${MADE_PLACE}\"]\n",
        "[agent.profile]\nskills = [\"${MADE_PLACE}\"]\n[skills]\ndirectories = []\n",
        "[skills]\ndirectories = [\"${MADE_PLACE}\"]\n",
        "[[provider.instances]]\nid = \"p\"\nmodel = \"m\"\nbase_url = \"${MADE_PLACE}\"\n"
        "[[agent.instances]]\nname = \"x${MADE_PLACE}\"\nprovider = \"p\"\n",
        "[[mcp.instances]]\nname = \"a${MADE_PLACE}\"\ncommand = \"/none/a\"\nrequired = true\n",
        "[[mcp.instances]]\nname = \"a\"\ncommand = [\"/none/${MADE_PLACE}\"]\nrequired = true\n",
        "[[mcp.instances]]\nname = \"a\"\nurl = \"${MADE_PLACE}\"\n",
        "[[openapi.instances]]\nname = \"a${MADE_PLACE}\"\nfile = \"/none/a.json\"\n",
        "[[openapi.instances]]\nname = \"a\"\nurl = \"${MADE_PLACE}\"\n",
        "[session]\nscope = \"persistent\"\ndirectory = \"/proc/${MADE_PLACE}/x\"\n",
        "[callbacks]\nbefore_loop = \"x::${MADE_PLACE}\"\nafter_loop = \"a 'b\"\n"};
    size_t i;
    for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[512];
        rig *r = rig_new();
        made m;
        (void)snprintf(text, sizeof text, "%s%s", PROVIDER, rows[i]);
        REQUIRE(load(&m, r, text, NULL, NULL));
        if (!CHECK(m.status != PHI_OK && strstr(made_problems(&m), "hidden") == NULL))
            fprintf(stderr, "of: %s\ngot: %s", rows[i], made_problems(&m));
        made_free(&m);
        rig_free(r);
    }
}

TEST(functions_of_plug_ins_and_callbacks_of_a_recorder_are_ignored_with_a_warning) {
    rig *r = rig_new();
    made m;
    REQUIRE(load(&m, r,
                 PROVIDER "[callbacks]\nafter_turn = \"my_plugin::after\"\n"
                          "after_task = \"./x.sh\"\n[hooks]\ntransform_context = \"a.sh\"\n",
                 NULL, NULL));
    CHECK_EQ_INT(m.status, PHI_OK);
    CHECK(strstr(made_problems(&m), "names a function of a plug-in") != NULL);
    CHECK(strstr(made_problems(&m), "after_task belongs to a session recorder") != NULL);
    CHECK(strstr(made_problems(&m), "transform_context changes messages") != NULL);
    made_free(&m);
    rig_free(r);
}

TEST(a_script_of_callbacks_stops_a_run) {
    rig *r = rig_new();
    made m;
    int left = 3000;
    REQUIRE(load(&m, r,
                 PROVIDER "[callbacks.before_loop]\ncommand = \"echo closed >&2; exit 3\"\n"
                          "shell = true\n",
                 NULL, NULL));
    CHECK_EQ_STR(made_problems(&m), "");
    REQUIRE(CHECK_EQ_INT(m.status, PHI_OK));
    CHECK_EQ_INT(phi_prompt(phi_agents_get(m.agents, NULL), "go"), PHI_OK);
    while (phi_agent_running(phi_agents_get(m.agents, NULL)) && left-- > 0)
        (void)phi_step(rig_runtime(r), 10);
    CHECK_EQ_INT(rig_requests(r), 0);
    made_free(&m);
    rig_free(r);
}

TEST_MAIN(TEST_ENTRY(a_file_with_every_section_makes_an_agent_that_runs),
          TEST_ENTRY(check_only_finds_the_same_and_makes_nothing),
          TEST_ENTRY(mistakes_of_sections_have_words),
          TEST_ENTRY(problems_of_agents_show_variables_by_their_names),
          TEST_ENTRY(functions_of_plug_ins_and_callbacks_of_a_recorder_are_ignored_with_a_warning),
          TEST_ENTRY(a_script_of_callbacks_stops_a_run))
