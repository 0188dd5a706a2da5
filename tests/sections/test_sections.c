/* test_sections.c - the sections of a configuration that need phi_tools.h. */
#include "permissions/permit.h"
#include "permissions/permissions.h"
#include "sections/sections.h"
#include "orchestrate/subagents.h"
#include "support/problems.h"
#include "support/made.h"
#include "agent/agent_info.h"
#include "agent/profile.h"

#include <unistd.h>

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

TEST(tool_settings_say_how_much_of_a_command_the_model_sees) {
    static const char *const lines[] = {"", "[tool_settings]\nmax_bash_result_bytes = 100\n",
                                        "[tool_settings]\nmax_bash_result_bytes = \"unlimited\"\n"};
    static const uint32_t want[] = {32768, 100, PHI_UNLIMITED};
    char text[300];
    size_t i;
    for (i = 0; i < 3; i++) {
        rig *r = rig_new();
        phi_agent_desc d;
        made m;
        (void)snprintf(text, sizeof text, PROVIDER "[tools]\nenabled = [\"bash\"]\n%s", lines[i]);
        REQUIRE(load(&m, r, text, NULL, NULL));
        CHECK_EQ_STR(made_problems(&m), "");
        d = made_desc(&m, NULL);
        REQUIRE(CHECK_EQ_INT(d.tool_count, 1));
        CHECK_EQ_INT(d.tools[0].max_result_bytes, want[i]);
        made_free(&m);
        rig_free(r);
    }
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
    CHECK_EQ_INT(agents_count(m.agents), 0);
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
        {"[agent]\nworkspace = \"" FULL "/x\"\n[permissions]\n[[permissions.rules]]\n"
         "path = \"./**\"\nverdict = \"deny\"\n",
         "workspace \"" FULL "/x\" cannot be resolved: Not a directory"},
        {"[[mcp.instances]]\nname = \"a\"\ncommand = \"/none/a\"\nroots = [\"" FULL "/x\"]\n",
         "mcp.instances.roots \"" FULL "/x\" cannot be resolved: Not a directory"},
        {"[[mcp.instances]]\nname = \"a\"\ncommand = \"/none/a\"\nroots = [\"${EXTRA:-}\"]\n",
         "roots: expected directories, found an empty text"},
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
        CHECK_EQ_INT(agents_count(m.agents), 0);
        made_free(&m);
        rig_free(r);
    }
}

TEST(a_workspace_that_cannot_be_resolved_is_reported_where_it_is_named) {
#define BAD "workspace = \"" FULL "/x\"\n"
#define RULES "[permissions]\nmode = \"plan\"\n"
    static const struct {
        const char *text, *place;
    } rows[] = {{RULES PROVIDER "[agent]\n" BAD, "7:13: "},
                {RULES PROVIDER "[agent.profile]\n" BAD, "7:13: "},
                {"default_" BAD RULES PROVIDER, "1:21: "},
                {RULES PROVIDER "[agent]\n" BAD "[[agent.instances]]\nname = \"a\"\n", "7:13: "},
                {RULES PROVIDER "[[agent.instances]]\nname = \"a\"\n" BAD, "8:13: "},
                {RULES PROVIDER "[[agent.profile.instances]]\nid = \"p\"\n" BAD
                                "[agent]\nagent_profile = \"p\"\n",
                 "8:13: "},
                {RULES PROVIDER "[[sub_agents.instances]]\nname = \"s\"\n" BAD, "8:13: "}};
#undef BAD
#undef RULES
    size_t i;
    for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char want[200];
        rig *r = rig_new();
        made m;
        (void)snprintf(want, sizeof want,
                       "%sworkspace \"%s\" cannot be resolved: Not a directory\n", rows[i].place,
                       FULL "/x");
        REQUIRE(load(&m, r, rows[i].text, NULL, NULL));
        CHECK_EQ_STR(made_problems(&m), want);
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
        "[[mcp.instances]]\nname = \"a\"\ncommand = [\"/none/a\"]\n"
        "roots = [\"" FULL "/${MADE_PLACE}\"]\n",
        "[permissions]\nmode = \"plan\"\n[agent]\nworkspace = \"" FULL "/${MADE_PLACE}\"\n",
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
    CHECK(strstr(made_problems(&m),
                 "after_task belongs to a session recorder "
                 "(phi_recorder_desc.after_task_fn): it is ignored here; ") != NULL);
    CHECK(strstr(made_problems(&m), "transform_context changes messages") != NULL);
    made_free(&m);
    rig_free(r);
}

static bool listed(const char *const *paths, const char *name) {
    for (; *paths != NULL; paths++)
        if (strcmp(*paths, name) == 0) return true;
    return false;
}

#define GUARDED                                                                                    \
    PROVIDER                                                                                       \
    "[permissions]\nmode = \"accept_edits\"\n[[permissions.rules]]\nverdict = \"allow\"\n"         \
    "command = \"cat ./notes.txt\"\n[callbacks]\n"                                                 \
    "before_tool_execution = \"python3 tools/guard.py --strict\"\n"                                \
    "after_turn = { command = \"cd x && ./log.sh 'a b'\", shell = true }\n"                        \
    "[[mcp.instances]]\nname = \"a\"\ncommand = \"node server.js\"\nargs = [\"-x\", "              \
    "\"/none/data\"]\nurl_x = \"https://example.com/x\"\n"

TEST(what_a_configuration_runs_and_the_configuration_are_protected) {
    rig *r = rig_new();
    const char *const *paths;
    phi_memory memory;
    phi_arena arena;
    made m;
    REQUIRE(load(&m, r, GUARDED, "tests/config/fixtures/phi.toml", NULL));
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    REQUIRE(CHECK_EQ_INT(phi_config_protected_paths(m.config, &arena, &paths), PHI_OK));
    CHECK(listed(paths, "tests/config/fixtures/phi.toml"));
    CHECK(listed(paths, "tools/guard.py"));
    CHECK(listed(paths, "tests/config/fixtures/tools/guard.py"));
    CHECK(listed(paths, "./log.sh"));
    CHECK(listed(paths, "server.js"));
    CHECK(listed(paths, "/none/data"));
    CHECK(!listed(paths, "./notes.txt")); /* a rule's pattern is no command */
    CHECK(!listed(paths, "python3") && !listed(paths, "--strict") &&
          !listed(paths, "https://example.com/x"));
    CHECK_EQ_INT(phi_config_protected_paths(NULL, &arena, &paths), PHI_BAD_ARG);
    phi_arena_free(&arena);
    made_free(&m);
    rig_free(r);
}

/* Hypothesis: the 501st is not protected, without a word. */
TEST(more_files_than_can_be_protected_are_refused) {
    static char text[16000];
    rig *r = rig_new();
    size_t len = (size_t)snprintf(text, sizeof text,
                                  PROVIDER "[permissions]\nmode = \"accept_edits\"\n"
                                           "[[mcp.instances]]\nname = \"a\"\ncommand = \"c\"\n"
                                           "args = [");
    const char *const *paths;
    phi_memory memory;
    phi_arena arena;
    made m;
    int i;
    for (i = 0; i < 500; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, "\"/none/%d\", ", i);
    (void)snprintf(text + len, sizeof text - len, "]\n");
    (void)load(&m, r, text, "/none/phi.toml", NULL);
    CHECK(m.status != PHI_OK);
    CHECK(strstr(made_problems(&m),
                 "permissions: the commands of the file name more than 500 files") != NULL);
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(phi_config_protected_paths(m.config, &arena, &paths), PHI_TOO_BIG);
    phi_arena_free(&arena);
    made_free(&m);
    rig_free(r);
}

TEST(the_rules_of_a_file_ask_before_a_program_of_it_is_written) {
    rig *r = rig_new();
    phi_permissions *permissions;
    phi_agent_desc d;
    made m;
    REQUIRE(load(&m, r,
                 PROVIDER "[permissions]\nmode = \"accept_edits\"\n[[mcp.instances]]\n"
                          "name = \"a\"\ncommand = \"/none/node server.js\"\n",
                 NULL, NULL));
    d = made_desc(&m, "default");
    REQUIRE(CHECK(d.hook_fn == phi_permissions_hook));
    permissions = (phi_permissions *)d.hook_user_data;
    CHECK_EQ_INT(permit_check(permissions, phi_str_of("write_file"),
                              phi_str_of("{\"path\":\"server.js\"}"), NULL),
                 PHI_PERMISSION_ASK);
    CHECK_EQ_INT(permit_check(permissions, phi_str_of("write_file"),
                              phi_str_of("{\"path\":\"other.js\"}"), NULL),
                 PHI_PERMISSION_ALLOW);
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
    while (phi_agent_get_info(phi_agents_get(m.agents, NULL)).running && left-- > 0)
        (void)phi_step(rig_runtime(r), 10);
    CHECK_EQ_INT(rig_requests(r), 0);
    made_free(&m);
    rig_free(r);
}

static const char *given(void *user_data, const char *name) {
    (void)user_data;
    return strcmp(name, "API_KEY") == 0 ? "given" : NULL;
}

/* Elsewhere: the file has no path. */
TEST(what_is_written_of_a_file_with_every_section_makes_an_agent) {
    static const char *const tools[] = {"bash",      "read_file", "write_file",    "search",
                                        "edit_file", "prun",      "prun_with_memo"};
    rig *r = rig_new();
    char *text = test_read_file(FULL, NULL);
    phi_allocator allocator = test_allocator();
    phi_config_desc from = PHI_ZERO;
    phi_memory memory;
    phi_arena arena;
    phi_agent_desc d;
    phi_str out;
    made m, again;
    size_t i;
    phi_memory_init(&memory, &allocator, 0);
    phi_arena_init(&arena, &memory, 0);
    REQUIRE(text != NULL && load(&m, r, text, FULL, NULL));
    REQUIRE(CHECK_EQ_INT(
        phi_config_write(phi_agents_get(m.agents, NULL), PHI_CONFIG_TOML, &arena, &out), PHI_OK));
    memset(&again, 0, sizeof again);
    again.r = r;
    from.allocator = allocator;
    from.text = out;
    from.format = PHI_CONFIG_TOML;
    from.variable_fn = given;
    from.sections = phi_config_sections();
    again.config = phi_config_load(&from);
    again.agents = phi_agents_from_config(rig_runtime(r), again.config, NULL);
    while ((again.status = phi_agents_step(again.agents)) == PHI_BUSY) continue;
    CHECK_EQ_STR(made_problems(&again), "");
    if (CHECK_EQ_INT(again.status, PHI_OK)) {
        d = made_desc(&again, NULL);
        CHECK_EQ_INT(d.tool_count, 7);
        for (i = 0; i < 7; i++) CHECK(has_tool(&d, tools[i]));
        CHECK(d.workspace[0] == '/' || d.workspace[1] == ':');
        CHECK(strstr(d.workspace, "/tests/config/fixtures/workspace") != NULL);
    }
    made_free(&again);
    made_free(&m);
    phi_arena_free(&arena);
    free(text);
    rig_free(r);
}

static const char guarded[] =
    PROVIDER "[callbacks.before_tool_execution]\ncommand = \"echo guarded >&2; exit 3\"\n"
             "shell = true\ntool = \"echo\"\n"
             "[callbacks.credential]\ncommand = \"echo '{\\\"reply\\\":\\\"fresh\\\"}'\"\n"
             "shell = true\n"
             "[callbacks.before_loop]\ncommand = \"test $PHI_AGENT_ID = top\"\nshell = true\n"
             "[agent]\nagent_id = \"top\"\n"
             "[[sub_agents.instances]]\nname = \"near\"\ntools = [\"echo\"]\n"
             "[[sub_agents.instances]]\nname = \"far\"\napi_key = \"own\"\n";

TEST(scripts_that_guard_tools_or_know_the_key_are_those_of_sub_agents_too) {
    rig *r = rig_new();
    phi_agents_desc with = PHI_ZERO;
    phi_tool tool = rig_echo();
    made m;
    int left = 20000;
    with.tools = &tool;
    with.tool_count = 1;
    REQUIRE(load(&m, r, guarded, NULL, &with));
    CHECK_EQ_STR(made_problems(&m), "");
    REQUIRE(CHECK_EQ_INT(m.status, PHI_OK));
    rig_call(r, "c1", "near", "{\"task\":\"go\"}");
    rig_call(r, "c2", "echo", "{\"text\":\"x\"}");
    rig_says(r, "It was denied.");
    rig_call(r, "c3", "far", "{\"task\":\"go\"}");
    rig_says(r, "Far away.");
    rig_says(r, "Done.");
    CHECK_EQ_INT(phi_prompt(phi_agents_get(m.agents, NULL), "go"), PHI_OK);
    while (phi_agent_get_info(phi_agents_get(m.agents, NULL)).running && left-- > 0) {
        (void)rig_step(r);
        (void)usleep(1000);
    }
    REQUIRE(CHECK_EQ_INT(rig_requests(r), 6));
    CHECK(strstr(rig_request(r, 2), "guarded") != NULL);
    CHECK_EQ_STR(rig_key(r, 1), "fresh");
    CHECK_EQ_STR(rig_key(r, 4), "own");
    CHECK_EQ_STR(rig_key(r, 5), "fresh");
    made_free(&m);
    rig_free(r);
}

TEST(a_script_at_credential_gives_its_key_to_the_agents_server_alone) {
    static const char text[] =
        PROVIDER "[[provider.instances]]\nname = \"groq\"\nmodel = \"m\"\npreset = \"groq\"\n"
                 "[agent]\nprovider = \"groq\"\n[callbacks.credential]\nshell = true\n"
                 "command = \"echo '{\\\"reply\\\":\\\"groq-key\\\"}'\"\n"
                 "[[sub_agents.instances]]\nname = \"helper\"\n";
    rig *r = rig_new();
    phi_agent_desc d;
    made m;
    REQUIRE(load(&m, r, text, NULL, NULL));
    CHECK_EQ_STR(made_problems(&m), "");
    REQUIRE(CHECK_EQ_INT(m.status, PHI_OK));
    d = made_desc(&m, NULL);
    CHECK((d.hook_points & PHI_HOOK_CREDENTIAL) != 0);
    CHECK_EQ_INT(((phi_subagent_desc *)d.tools[0].user_data)->agent->hook_points, 0);
    made_free(&m);
    rig_free(r);
}

static void run_scripts(made *m, const char *prompt) {
    phi_agent agent = phi_agents_get(m->agents, NULL);
    int left = 20000;
    CHECK_EQ_INT(phi_prompt(agent, prompt), PHI_OK);
    while (phi_agent_get_info(agent).running && left-- > 0) {
        (void)rig_step(m->r);
        (void)usleep(1000);
    }
}

/* The sub-agent works in a place that is not there. */
TEST(scripts_start_where_the_agent_works_and_keys_do_not_follow_a_failover) {
    static const char text[] =
        PROVIDER "[[provider.instances]]\nid = \"other\"\nbase_url = \"https://other.example\"\n"
                 "model = \"claude-haiku-4-5\"\napi_key = \"other's\"\n[failover]\nmodels = "
                 "[\"other\"]\n[execution.retry]\nmax_retries = 0\n"
                 "[callbacks.credential]\nshell = true\n"
                 "command = \"echo '{\\\"reply\\\":\\\"mine\\\"}'\"\n"
                 "[callbacks.before_tool_execution]\ncommand = \"test ! -e test_sections.c\"\n"
                 "shell = true\ntool = \"echo\"\n"
                 "[agent]\nworkspace = \"tests/sections\"\n"
                 "[[sub_agents.instances]]\nname = \"helper\"\ntools = [\"echo\"]\n"
                 "workspace = \"tests/sections/gone\"\n";
    rig *r = rig_new();
    phi_agents_desc with = PHI_ZERO;
    phi_tool tool = rig_echo();
    made m;
    with.tools = &tool;
    with.tool_count = 1;
    REQUIRE(load(&m, r, text, NULL, &with));
    CHECK_EQ_STR(made_problems(&m), "");
    REQUIRE(CHECK_EQ_INT(m.status, PHI_OK));
    rig_call(r, "c1", "helper", "{\"task\":\"go\"}");
    rig_call(r, "c2", "echo", "{\"text\":\"x\"}");
    rig_says(r, "It was denied.");
    rig_says(r, "Done.");
    run_scripts(&m, "go");
    REQUIRE(CHECK_EQ_INT(rig_requests(r), 4));
    CHECK(strstr(rig_request(r, 2), "exited with code 1") != NULL);
    rig_replies(r, 529, "", "{\"error\":{\"message\":\"Overloaded\"}}");
    rig_says(r, "Hello.");
    run_scripts(&m, "on");
    REQUIRE(CHECK_EQ_INT(rig_requests(r), 6));
    CHECK_EQ_STR(rig_key(r, 4), "mine");
    CHECK_EQ_STR(rig_key(r, 5), "other's");
    made_free(&m);
    rig_free(r);
}

TEST(skills_of_the_hosts_profile_need_no_section_and_choose_those_of_the_file) {
    static const char *const names[] = {"review-notes"}, *const odd[] = {"nothing"};
    static const char text[] = PROVIDER "[skills]\ndirectories = [\"skills\"]\n";
    rig *r = rig_new();
    phi_agents_desc with = PHI_ZERO;
    phi_agent_desc base = PHI_ZERO;
    phi_profile profile = PHI_ZERO;
    made m;
    profile.system_prompt = "The host's prompt.";
    profile.skills = names;
    profile.skill_count = 1;
    base.profile = &profile;
    with.base = &base;
    REQUIRE(load(&m, r, PROVIDER, FULL, &with));
    CHECK_EQ_STR(made_problems(&m), "");
    made_free(&m);
    REQUIRE(load(&m, r, text, FULL, &with));
    CHECK_EQ_STR(made_problems(&m), "");
    CHECK(strstr(made_desc(&m, NULL).system_prompt, "The host's prompt.") != NULL);
    CHECK(strstr(made_desc(&m, NULL).system_prompt, "review-notes") != NULL);
    made_free(&m);
    profile.skills = odd;
    REQUIRE(load(&m, r, text, FULL, &with));
    CHECK(strstr(made_problems(&m), "there is no skill \"nothing\"") != NULL);
    made_free(&m);
    rig_free(r);
}

/* The sweep stops at the first run that no allocation failed. */
static void refuse_without_memory(rig *r, const phi_config *config) {
    bool tripped = true;
    int n = 0;
    while (tripped && n < 3000) {
        phi_agents *agents;
        phi_status status = PHI_NO_MEMORY;
        int steps = 0;
        test_alloc_fail_at(n++);
        agents = phi_agents_from_config(rig_runtime(r), config, NULL);
        if (agents != NULL)
            while ((status = phi_agents_step(agents)) == PHI_BUSY && steps++ < 2000) {
                (void)rig_step(r);
                rig_pass_ms(r, 50);
            }
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        if (!CHECK(status != PHI_OK && status != PHI_BUSY) ||
            !CHECK_EQ_INT(agents_count(agents), 0))
            printf("allocation %d\n", n - 1);
        phi_agents_free(agents);
    }
    CHECK(!tripped && n > 5);
}

TEST(a_file_with_errors_makes_no_agent_whatever_allocation_fails) {
    static const char *const rows[] = {
        PROVIDER "[permissions]\nhome = \"~\"\n", PROVIDER "[tools]\nenabled = [\"bsh\"]\n",
        PROVIDER "[[mcp.instances]]\nname = \"a\"\ncommand = [\"/none/a\"]\nrequired = true\n"};
    size_t i;
    for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        phi_config_desc desc = PHI_ZERO;
        rig *r = rig_new();
        phi_config *config;
        desc.allocator = test_allocator();
        desc.text = phi_str_of(rows[i]);
        desc.format = PHI_CONFIG_TOML;
        desc.sections = phi_config_sections();
        config = phi_config_load(&desc);
        if (CHECK_EQ_INT(config_status(config), PHI_OK)) refuse_without_memory(r, config);
        phi_config_free(config);
        rig_free(r);
    }
}

TEST_MAIN(TEST_ENTRY(a_file_with_every_section_makes_an_agent_that_runs),
          TEST_ENTRY(tool_settings_say_how_much_of_a_command_the_model_sees),
          TEST_ENTRY(check_only_finds_the_same_and_makes_nothing),
          TEST_ENTRY(mistakes_of_sections_have_words),
          TEST_ENTRY(a_workspace_that_cannot_be_resolved_is_reported_where_it_is_named),
          TEST_ENTRY(problems_of_agents_show_variables_by_their_names),
          TEST_ENTRY(functions_of_plug_ins_and_callbacks_of_a_recorder_are_ignored_with_a_warning),
          TEST_ENTRY(what_a_configuration_runs_and_the_configuration_are_protected),
          TEST_ENTRY(more_files_than_can_be_protected_are_refused),
          TEST_ENTRY(the_rules_of_a_file_ask_before_a_program_of_it_is_written),
          TEST_ENTRY(a_script_of_callbacks_stops_a_run),
          TEST_ENTRY(what_is_written_of_a_file_with_every_section_makes_an_agent),
          TEST_ENTRY(scripts_that_guard_tools_or_know_the_key_are_those_of_sub_agents_too),
          TEST_ENTRY(a_script_at_credential_gives_its_key_to_the_agents_server_alone),
          TEST_ENTRY(scripts_start_where_the_agent_works_and_keys_do_not_follow_a_failover),
          TEST_ENTRY(skills_of_the_hosts_profile_need_no_section_and_choose_those_of_the_file),
          TEST_ENTRY(a_file_with_errors_makes_no_agent_whatever_allocation_fails))
