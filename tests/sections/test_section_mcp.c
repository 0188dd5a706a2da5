/* test_section_mcp.c - MCP servers of a configuration: shared, or one for each reference. */
#include "mcp/mcp_tools.h"
#include "sections/sections.h"
#include "support/problems.h"
#include "support/made.h"
#include "support/mcp_mock.h"
#include "support/wires.h"
#include "agent/agent_info.h"
#include "loop/loop_in.h"

/* A runtime with a clock and processes of this machine. */
static phi_runtime *real(void) {
    phi_runtime_desc desc = PHI_ZERO;
    desc.features = PHI_ALL_FEATURES;
    desc.allocator = test_allocator();
    return phi_runtime_new(&desc);
}

typedef struct built {
    phi_runtime *rt;
    phi_config *config;
    phi_agents *agents;
    phi_status status;
} built;

static void build_with(built *b, const char *agents, const char *more,
                       const phi_agents_desc *with) {
    char text[2048];
    phi_config_desc desc = PHI_ZERO;
    const char *const *argv = mcp_mock_argv(NULL, NULL, NULL);
    size_t n = 0, i;
    int left = 3000;
    n += (size_t)snprintf(text, sizeof text,
                          "[provider]\nmodel = \"m\"\napi_key = \"k\"\n%s"
                          "[[mcp.instances]]\nid = \"{{%%mock%%}}\"\n%scommand = [",
                          agents, more);
    for (i = 0; argv[i] != NULL; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s'%s'", i > 0 ? ", " : "", argv[i]);
    (void)snprintf(text + n, sizeof text - n, "]\n");
    memset(b, 0, sizeof *b);
    b->rt = real();
    desc.allocator = test_allocator();
    desc.text = phi_str_of(text);
    desc.format = PHI_CONFIG_TOML;
    desc.sections = phi_config_sections();
    b->config = phi_config_load(&desc);
    if (!CHECK_EQ_STR(config_message(b->config), "")) fprintf(stderr, "%s", text);
    b->agents = phi_agents_from_config(b->rt, b->config, with);
    while ((b->status = phi_agents_step(b->agents)) == PHI_BUSY && left-- > 0)
        (void)phi_step(b->rt, 10);
}

static void build(built *b, const char *agents, const char *more) {
    build_with(b, agents, more, NULL);
}

static void end(built *b) {
    phi_agents_free(b->agents);
    phi_config_free(b->config);
    phi_runtime_free(b->rt);
}

static const phi_tool_source *source(const built *b, const char *name) {
    phi_agent_desc d = PHI_ZERO;
    CHECK_EQ_INT(phi_agent_get_desc(phi_agents_get(b->agents, name), &d), PHI_OK);
    return d.tool_options.source_count == 1 ? d.tool_options.sources[0] : NULL;
}

TEST(agents_share_a_server_by_percent_and_have_their_own_without) {
    built b;
    build(&b,
          "[[agent.instances]]\nname = \"a\"\nmcp = [\"{{%mcp.mock%}}\"]\n"
          "[[agent.instances]]\nname = \"b\"\nmcp = [\"{{%mock%}}\"]\n"
          "[[agent.instances]]\nname = \"c\"\nmcp = [\"{{mcp.mock}}\"]\n"
          "[[agent.instances]]\nname = \"d\"\nmcp = [\"{{mcp.mock}}\"]\n"
          "[[agent.instances]]\nname = \"e\"\n"
          "[[agent.instances]]\nname = \"f\"\nmcp = []\n",
          "");
    REQUIRE(CHECK_EQ_INT(b.status, PHI_OK));
    CHECK(source(&b, "a") != NULL && source(&b, "a") == source(&b, "b"));
    CHECK(source(&b, "c") != NULL && source(&b, "c") != source(&b, "a"));
    CHECK(source(&b, "d") != NULL && source(&b, "d") != source(&b, "c"));
    CHECK(source(&b, "e") == source(&b, "a")); /* without a list: all, shared */
    CHECK(source(&b, "f") == NULL);
    end(&b);
}

TEST(agents_wait_for_a_server_that_is_required_and_no_other) {
    built b;
    build(&b, "", "required = true\n");
    CHECK_EQ_INT(b.status, PHI_OK);
    CHECK_EQ_INT(agents_count(b.agents), 1);
    end(&b);
}

/* How many tools the servers of an agent have now. */
static size_t offered(const built *b, const char *name) {
    phi_agent_desc d = PHI_ZERO;
    size_t n = 0, i;
    CHECK_EQ_INT(phi_agent_get_desc(phi_agents_get(b->agents, name), &d), PHI_OK);
    for (i = 0; i < d.tool_options.source_count; i++) {
        const phi_tool_source *from = d.tool_options.sources[i];
        const phi_tool *tools;
        size_t count = 0;
        if (!CHECK_EQ_INT(from->take(from->user_data, &tools, &count), PHI_OK)) continue;
        from->release(from->user_data, tools);
        n += count;
    }
    return n;
}

TEST(agents_wait_for_all_servers_if_the_host_wishes) {
    static const char agents[] =
        "[[agent.instances]]\nname = \"a\"\n"
        "[[agent.instances]]\nname = \"own\"\nmcp = [\"{{mcp.mock}}\", \"{{mcp.mock}}\"]\n";
    phi_agents_desc with = PHI_ZERO;
    built b;
    with.wait_for_servers = true;
    build_with(&b, agents, "", &with);
    REQUIRE(CHECK_EQ_INT(b.status, PHI_OK));
    CHECK_EQ_INT(agents_problem_count(b.agents), 0);
    CHECK(offered(&b, "a") > 5);
    CHECK_EQ_INT(offered(&b, "own"), 2 * offered(&b, "a"));
    end(&b);
}

static void missing(const char *more, bool waits, phi_status want) {
    static const char head[] = "[provider]\nmodel = \"m\"\napi_key = \"k\"\n[[mcp.instances]]\n"
                               "name = \"gone\"\ncommand = \"/nowhere/program\"\n";
    char text[512];
    built b;
    phi_config_desc desc = PHI_ZERO;
    phi_config_problem p;
    phi_agents_desc with = PHI_ZERO;
    int left = 3000;
    memset(&b, 0, sizeof b);
    with.wait_for_servers = waits;
    (void)snprintf(text, sizeof text, "%s%s", head, more);
    b.rt = real();
    desc.allocator = test_allocator();
    desc.text = phi_str_of(text);
    desc.format = PHI_CONFIG_TOML;
    desc.sections = phi_config_sections();
    b.config = phi_config_load(&desc);
    b.agents = phi_agents_from_config(b.rt, b.config, &with);
    while ((b.status = phi_agents_step(b.agents)) == PHI_BUSY && left-- > 0)
        (void)phi_step(b.rt, 10);
    CHECK_EQ_INT(b.status, want);
    CHECK_EQ_INT(agents_count(b.agents), want != PHI_OK ? 0 : waits ? 2 : 1);
    if (want != PHI_OK && CHECK(agents_problem(b.agents, 0, &p)))
        CHECK(strstr(p.message.at, "MCP server \"gone\", which is required: ") != NULL);
    CHECK_EQ_INT(agents_problem_count(b.agents), want != PHI_OK || waits ? 1 : 0);
    if (want == PHI_OK && waits && CHECK(agents_problem(b.agents, 0, &p))) {
        CHECK(p.is_warning);
        CHECK(strstr(p.message.at, "MCP server \"gone\": ") != NULL);
        CHECK(strstr(p.message.at, "its tools are missing") != NULL);
    }
    end(&b);
}

TEST(a_server_that_cannot_start_is_no_fault_of_the_file_unless_it_is_required) {
    missing("", false, PHI_OK);
    missing("required = true\nno_restart = true\n", false, PHI_REFUSED);
    missing("no_restart = true\n"
            "[[agent.instances]]\nname = \"a\"\n[[agent.instances]]\nname = \"b\"\n",
            true, PHI_OK);
}

static const char by_address[] =
    "[provider]\nmodel = \"m\"\napi_key = \"k\"\n"
    "[[mcp.instances]]\nname = \"far\"\nurl = \"https://h.example/mcp\"\n"
    "[mcp.instances.headers]\nX-Team = \"blue\"\n";

TEST(a_server_is_reached_by_its_address_with_its_headers) {
    phi_config_desc desc = PHI_ZERO;
    wires w;
    built b;
    int left = 200;
    wires_init(&w);
    memset(&b, 0, sizeof b);
    b.rt = wires_runtime(&w, NULL);
    desc.allocator = test_allocator();
    desc.text = phi_str_of(by_address);
    desc.format = PHI_CONFIG_TOML;
    desc.sections = phi_config_sections();
    b.config = phi_config_load(&desc);
    CHECK_EQ_STR(config_message(b.config), "");
    b.agents = phi_agents_from_config(b.rt, b.config, NULL);
    while ((b.status = phi_agents_step(b.agents)) == PHI_BUSY && left-- > 0)
        (void)phi_step(b.rt, 0);
    CHECK_EQ_INT(b.status, PHI_OK); /* it is not required: the agent does not wait for it */
    for (left = 200; w.count == 0 && left > 0; left--) (void)phi_step(b.rt, 0);
    if (CHECK(w.count > 0)) {
        CHECK(strncmp(w.sent[0].text, "POST https://h.example/mcp\n", 27) == 0);
        CHECK(strstr(w.sent[0].text, "X-Team: blue\n") != NULL);
    }
    phi_agents_free(b.agents);
    phi_config_free(b.config);
    phi_runtime_free(b.rt);
    wires_free(&w);
}

static void check_refused(const char *server, const char *want) {
    char text[512];
    phi_config_desc desc = PHI_ZERO;
    phi_config_problem p = PHI_ZERO;
    built b;
    memset(&b, 0, sizeof b);
    (void)snprintf(
        text, sizeof text,
        "[provider]\nmodel = \"m\"\napi_key = \"k\"\n[[mcp.instances]]\nname = \"x\"\n%s", server);
    b.rt = real();
    desc.allocator = test_allocator();
    desc.text = phi_str_of(text);
    desc.format = PHI_CONFIG_TOML;
    desc.sections = phi_config_sections();
    b.config = phi_config_load(&desc);
    b.agents = phi_agents_from_config(b.rt, b.config, NULL);
    while ((b.status = phi_agents_step(b.agents)) == PHI_BUSY) (void)phi_step(b.rt, 0);
    CHECK(b.status == PHI_BAD_ARG || b.status == PHI_PARSE);
    if (CHECK(agents_problem(b.agents, 0, &p)) && !CHECK(strstr(p.message.at, want) != NULL))
        (void)printf("  %s\n", p.message.at);
    end(&b);
}

TEST(a_command_is_a_program_and_an_address_is_one) {
    check_refused("command = []\n", "command: expected a program, as \"my-server --stdio\"");
    check_refused("command = \"\"\n", "command: the command is empty");
    check_refused("command = [1]\n", "command: expected texts in the list");
    check_refused("url = \"h.example\"\n", "expected an address that begins with http://");
    check_refused("", "has neither command nor url");
}

/* The text of a file with the mock as a server; in a static buffer. */
static const char *with_mock(const char *more) {
    static char text[4096];
    const char *const *argv = mcp_mock_argv(NULL, NULL, NULL);
    size_t n = 0, i;
    n += (size_t)snprintf(text, sizeof text,
                          "[provider]\nmodel = \"claude-sonnet-4\"\napi_key = \"k\"\n"
                          "context_window = 40000\n"
                          "[[mcp.instances]]\nname = \"mock\"\nrequired = true\ncommand = [");
    for (i = 0; argv[i] != NULL; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s'%s'", i > 0 ? ", " : "", argv[i]);
    (void)snprintf(text + n, sizeof text - n, "]\n%s", more);
    return text;
}

/* Prompts the agent of a file, whose answers are scripted. */
static bool go(made *m, rig *r, const char *text, const char *path) {
    int left = 3000;
    if (!CHECK(made_load(m, r, text, path, phi_config_sections(), NULL))) return false;
    while ((m->status = phi_agents_step(m->agents)) == PHI_BUSY && left-- > 0)
        (void)phi_step(rig_runtime(r), 10);
    CHECK_EQ_STR(made_problems(m), "");
    if (!CHECK_EQ_INT(m->status, PHI_OK)) return false;
    CHECK_EQ_INT(phi_prompt(phi_agents_get(m->agents, NULL), "go"), PHI_OK);
    for (left = 3000; phi_agent_get_info(phi_agents_get(m->agents, NULL)).running && left > 0;
         left--) {
        (void)phi_step(rig_runtime(r), 10);
        (void)rig_step(r);
    }
    return true;
}

/* A server of 2025-03-26 that wants a token. */
static void wants_a_token(wires *w, size_t i) {
    bool mcp = strncmp(w->sent[i].text, "POST https://h.example/mcp\n", 27) == 0;
    bool token = strncmp(w->sent[i].text, "POST https://h.example/token\n", 29) == 0;
    wires_reply(w, i,
                token ? 200
                : mcp ? 401
                      : 404,
                "Content-Type: application/json\r\n",
                token ? "{\"access_token\":\"token-1\",\"token_type\":\"Bearer\"}" : "{}");
}

TEST(a_file_authorizes_a_person_or_its_client) {
    static const char file[] =
        "[provider]\nmodel = \"m\"\napi_key = \"k\"\n"
        "[[mcp.instances]]\nname = \"far\"\nurl = \"https://h.example/mcp\"\n"
        "[mcp.instances.oauth]\ngrant = \"client\"\nclient_id = \"robot\"\n"
        "client_secret = \"s3cret-word\"\n";
    phi_config_desc desc = PHI_ZERO;
    wires w;
    built b;
    int left = 400;
    size_t i, asked = 0, shown = 0;
    wires_init(&w);
    w.answer = wants_a_token;
    memset(&b, 0, sizeof b);
    b.rt = wires_runtime(&w, NULL);
    desc.allocator = test_allocator();
    desc.text = phi_str_of(file);
    desc.format = PHI_CONFIG_TOML;
    desc.sections = phi_config_sections();
    b.config = phi_config_load(&desc);
    b.agents = phi_agents_from_config(b.rt, b.config, NULL);
    while (phi_agents_step(b.agents) == PHI_BUSY && left-- > 0) (void)phi_step(b.rt, 0);
    for (left = 60; left > 0; left--) (void)phi_step(b.rt, 0);
    for (i = 0; i < w.count; i++) {
        if (strstr(w.sent[i].text, "\n\ngrant_type=client_credentials&resource=") != NULL) asked++;
        if (strstr(w.sent[i].text, "\nAuthorization: Bearer token-1\n") != NULL) shown++;
    }
    CHECK_EQ_INT(asked, 1);
    CHECK(shown > 0);
    phi_agents_free(b.agents);
    phi_config_free(b.config);
    phi_runtime_free(b.rt);
    wires_free(&w);
    check_refused("url = \"https://h.example/mcp\"\n[mcp.instances.oauth]\ngrant = \"robot\"\n",
                  "(expected one of person, client)");
    check_refused("url = \"https://h.example/mcp\"\n[mcp.instances.oauth]\ngrant = \"client\"\n"
                  "client_id = \"a\"\n",
                  "oauth: grant: client_id, and client_secret or client_key, are needed");
}

/* A question mark, which no name of Windows has. */
#if defined(_WIN32)
#define MARK ""
#define MARK_URI ""
#else
#define MARK "?"
#define MARK_URI "%%3F"
#endif

TEST(roots_that_are_paths_reach_the_server_as_uris) {
    char dir[512], path[600], want[600];
    rig *r = rig_new();
    made m;
    REQUIRE(test_temp_dir(dir, sizeof dir));
    (void)snprintf(path, sizeof path, "%s/agent.toml", dir);
    rig_call(r, "c1", "roots", "{}");
    rig_says(r, "Done.");
    REQUIRE(go(&m, r, with_mock("roots = [\"a b#c%" MARK "\", \"file:///x%20y\"]\n"), path));
    REQUIRE(CHECK_EQ_INT(rig_requests(r), 2));
    (void)snprintf(want, sizeof want, "file://%s%s/a%%20b%%23c%%25" MARK_URI,
                   dir[0] == '/' ? "" : "/", dir);
    CHECK(strstr(rig_request(r, 1), want) != NULL);
    CHECK(strstr(rig_request(r, 1), "file:///x%20y") != NULL);
    made_free(&m);
    rig_free(r);
}

/* The model has to load the tools of the server. */
static bool is_deferred(const char *more) {
    rig *r = rig_new();
    bool deferred = false;
    made m;
    rig_says(r, "Done.");
    if (go(&m, r, with_mock(more), NULL) && CHECK_EQ_INT(rig_requests(r), 1)) {
        deferred = strstr(rig_request(r, 0), "\"name\":\"load_tools\"") != NULL;
        CHECK_EQ_INT(strstr(rig_request(r, 0), "\"name\":\"echo\",\"desc") != NULL, !deferred);
    }
    made_free(&m);
    rig_free(r);
    return deferred;
}

TEST(a_file_says_which_servers_are_deferred_and_above_which_part_of_the_window) {
    CHECK(!is_deferred(""));
    CHECK(is_deferred("deferred = true\n"));
    CHECK(is_deferred("[tools]\ndefer_percent = 1\n"));
    CHECK(!is_deferred("never_deferred = true\n[tools]\ndefer_percent = 1\n"));
    CHECK(!is_deferred("[tools]\ndefer_percent = \"unlimited\"\n"));
}

TEST_MAIN(TEST_ENTRY(agents_share_a_server_by_percent_and_have_their_own_without),
          TEST_ENTRY(agents_wait_for_a_server_that_is_required_and_no_other),
          TEST_ENTRY(agents_wait_for_all_servers_if_the_host_wishes),
          TEST_ENTRY(a_server_that_cannot_start_is_no_fault_of_the_file_unless_it_is_required),
          TEST_ENTRY(a_server_is_reached_by_its_address_with_its_headers),
          TEST_ENTRY(a_command_is_a_program_and_an_address_is_one),
          TEST_ENTRY(a_file_authorizes_a_person_or_its_client),
          TEST_ENTRY(roots_that_are_paths_reach_the_server_as_uris),
          TEST_ENTRY(a_file_says_which_servers_are_deferred_and_above_which_part_of_the_window))
