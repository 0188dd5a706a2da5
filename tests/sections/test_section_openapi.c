/* test_section_openapi.c - OpenAPI documents of a configuration; and every section without memory,
   or freed in the midst. */
#include "sections/sections.h"
#include "support/problems.h"
#include "support/made.h"
#include "loop/hook.h"

#define PROVIDER "[provider]\nmodel = \"claude-sonnet-4\"\napi_key = \"k\"\n"
#define PETS                                                                                       \
    "[[openapi.instances]]\nid = \"{{pets}}\"\nfile = \"petstore_3.0.json\"\n"                     \
    "bearer_token = \"${MADE_KEY}\"\nname_prefix = \"pets\"\nbase_url = \"http://localhost:1\"\n"
#define PLACE "tests/fixtures/openapi/agent.toml"

static const void *pet(const made *m, const char *name, size_t *count) {
    phi_agent_desc d = made_desc(m, name);
    *count = d.tool_count;
    return d.tool_count > 0 ? d.tools[0].user_data : NULL;
}

TEST(documents_are_shared_by_percent_and_selected_by_lists) {
    static const char text[] =
        PROVIDER PETS "methods = [\"get\"]\n"
                      "[[agent.instances]]\nname = \"a\"\nopenapi = [\"{{%pets%}}\"]\n"
                      "[[agent.instances]]\nname = \"b\"\nopenapi = [\"{{%openapi.pets%}}\"]\n"
                      "[[agent.instances]]\nname = \"c\"\nopenapi = [\"{{pets}}\"]\n"
                      "[[agent.instances]]\nname = \"d\"\nopenapi = []\n";
    rig *r = rig_new();
    made m;
    size_t a, b, c, d;
    phi_agent_desc desc;
    REQUIRE(made_load(&m, r, text, PLACE, phi_config_sections(), NULL));
    CHECK_EQ_STR(made_problems(&m), "");
    REQUIRE(CHECK_EQ_INT(m.status, PHI_OK));
    CHECK(pet(&m, "a", &a) == pet(&m, "b", &b));
    CHECK(pet(&m, "a", &a) != pet(&m, "c", &c));
    CHECK(pet(&m, "d", &d) == NULL);
    CHECK(a > 0 && a == b && a == c && d == 0);
    desc = made_desc(&m, "a");
    CHECK(strncmp(desc.tools[0].name, "pets__", 6) == 0);
    made_free(&m);
    rig_free(r);
}

TEST(a_document_that_cannot_be_read_is_an_error_with_its_name) {
    rig *r = rig_new();
    made m;
    REQUIRE(made_load(&m, r,
                      PROVIDER "[[openapi.instances]]\nname = \"docs\"\nfile = \"agent.toml\"\n",
                      "tests/config/fixtures/full.toml", phi_config_sections(), NULL));
    CHECK(m.status != PHI_OK);
    CHECK(strstr(made_problems(&m), "full.toml:4:1: OpenAPI document \"docs\": ") != NULL);
    made_free(&m);
    rig_free(r);
}

/* Everything that needs no process. */
static const char all[] = PROVIDER PETS
    "[tools]\nenabled = [\"read_file\", \"prun\"]\n[skills]\ndirectories = "
    "[\"../../config/fixtures/skills\"]\n[agent.profile]\nskills = [\"review-notes\"]\n"
    "[permissions]\nmode = \"plan\"\n[[permissions.rules]]\nverdict = \"allow\"\ntool = \"bash\"\n"
    "[callbacks]\nafter_turn = \"./x.sh\"\n";

static phi_config *read_all(void) {
    phi_config_desc desc = PHI_ZERO;
    desc.allocator = test_allocator();
    desc.text = phi_str_of(all);
    desc.path = PLACE;
    desc.format = PHI_CONFIG_TOML;
    desc.variable_fn = made_variable;
    desc.sections = phi_config_sections();
    return phi_config_load(&desc);
}

TEST(each_section_without_memory_leaves_no_agent) {
    rig *r = rig_new();
    phi_config *config = read_all();
    bool tripped = true;
    int n = 0, rounds = 0;
    CHECK_EQ_STR(config_message(config), "");
    while (tripped && n < 20000) {
        phi_agents *agents;
        phi_status status = PHI_NO_MEMORY;
        test_alloc_fail_at(n);
        n += n < 80 ? 1 : 5;
        rounds++;
        agents = phi_agents_from_config(rig_runtime(r), config, NULL);
        if (agents != NULL)
            while ((status = phi_agents_step(agents)) == PHI_BUSY) continue;
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        if (!tripped) CHECK_EQ_INT(status, PHI_OK);
        CHECK_EQ_INT(agents_count(agents), status == PHI_OK ? 1 : 0);
        phi_agents_free(agents);
    }
    CHECK(!tripped && rounds > 50);
    phi_config_free(config);
    rig_free(r);
}

TEST(sections_may_be_freed_in_the_midst) {
    rig *r = rig_new();
    phi_config *config = read_all();
    bool busy = true;
    int n;
    for (n = 0; busy && n < 300; n++) {
        phi_agents *agents = phi_agents_from_config(rig_runtime(r), config, NULL);
        int i;
        busy = true;
        for (i = 0; busy && i < n; i++) busy = phi_agents_step(agents) == PHI_BUSY;
        phi_agents_free(agents);
    }
    CHECK(!busy);
    phi_config_free(config);
    rig_free(r);
}

static phi_verdict ask_person(void *user_data, phi_hook *hook) {
    ++*(int *)user_data;
    CHECK_STR(hook->tool_name, "echo");
    return PHI_ALLOW;
}

TEST(calls_to_ask_about_go_to_the_hosts_function) {
    rig *r = rig_new();
    phi_agents_desc with = PHI_ZERO;
    phi_tool tool = rig_echo();
    int asked = 0;
    made m;
    with.tools = &tool;
    with.tool_count = 1;
    with.ask_fn = ask_person;
    with.ask_user_data = &asked;
    REQUIRE(made_load(&m, r, PROVIDER "[tools]\nenabled = [\"echo\"]\n[permissions]\n", NULL,
                      phi_config_sections(), &with));
    CHECK_EQ_STR(made_problems(&m), "");
    rig_call(r, "c1", "echo", "{}");
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(phi_agents_get(m.agents, NULL), "go"), PHI_OK);
    (void)rig_run(r, 300);
    CHECK_EQ_INT(asked, 1);
    CHECK_EQ_INT(rig_requests(r), 2);
    made_free(&m);
    rig_free(r);
}

/* One rule that denies, and what the model reads of a call of the tool "run". */
static void check_rule(const char *rule, const char *arguments, bool denied) {
    char text[1024];
    rig *r = rig_new();
    phi_agents_desc with = PHI_ZERO;
    phi_tool tool = rig_echo();
    made m;
    tool.name = "run";
    with.tools = &tool;
    with.tool_count = 1;
    (void)snprintf(text, sizeof text,
                   PROVIDER "[tools]\nenabled = [\"run\"]\n[permissions]\notherwise = \"allow\"\n"
                            "shell_tools = \"run\"\n[[permissions.rules]]\nverdict = \"deny\"\n"
                            "reason = \"OF THE FILE\"\n%s\n",
                   rule);
    REQUIRE(made_load(&m, r, text, NULL, phi_config_sections(), &with));
    CHECK_EQ_STR(made_problems(&m), "");
    rig_call(r, "c1", "run", arguments);
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(phi_agents_get(m.agents, NULL), "go"), PHI_OK);
    (void)rig_run(r, 300);
    if (CHECK_EQ_INT(rig_requests(r), 2) &&
        !CHECK((strstr(rig_request(r, 1), "OF THE FILE") != NULL) == denied))
        (void)printf("  %s, %s\n", rule, arguments);
    made_free(&m);
    rig_free(r);
}

TEST(each_condition_of_a_rule_counts) {
    check_rule("tool = \"run\"", "{}", true);
    check_rule("tool = \"walk\"", "{}", false);
    check_rule("command = \"git push *\"", "{\"command\":\"git push origin\"}", true);
    check_rule("command = \"git push *\"", "{\"command\":\"git pull\"}", false);
    check_rule("command = \"git *\"\nwith = \"--force\"", "{\"command\":\"git push --force\"}",
               true);
    check_rule("command = \"git *\"\nwith = \"--force\"", "{\"command\":\"git push\"}", false);
    check_rule("command = \"git *\"\nwithout = \"--dry-run\"",
               "{\"command\":\"git push --dry-run\"}", false);
    check_rule("command = \"git *\"\nwithout = \"--dry-run\"", "{\"command\":\"git push\"}", true);
    check_rule("command = \"wc *\"\npiped = \"git\"", "{\"command\":\"git log | wc\"}", true);
    check_rule("command = \"wc *\"\npiped = \"git\"", "{\"command\":\"ls | wc\"}", false);
    check_rule("argument = \"level\"\nmatches = \"h*\"", "{\"level\":\"high\"}", true);
    check_rule("argument = \"level\"\nmatches = \"h*\"", "{\"level\":\"low\"}", false);
    check_rule("argument = \"path\"\npath = \"secret/**\"", "{\"path\":\"secret/x\"}", true);
    check_rule("argument = \"path\"\npath = \"secret/**\"", "{\"path\":\"open/x\"}", false);
    check_rule("argument = \"url\"\nhost = \"*.evil.org\"", "{\"url\":\"https://a.evil.org/\"}",
               true);
    check_rule("argument = \"url\"\nhost = \"*.evil.org\"", "{\"url\":\"https://good.org/\"}",
               false);
}

/* The request of an agent that has the document. */
static bool request_has(const char *instance, const char *tools, const char *text) {
    char words[1024];
    rig *r = rig_new();
    bool has = false;
    made m;
    (void)snprintf(words, sizeof words, "%s%s%s%s", PROVIDER "context_window = 20000\n", PETS,
                   instance, tools);
    if (CHECK(made_load(&m, r, words, PLACE, phi_config_sections(), NULL)) &&
        CHECK_EQ_STR(made_problems(&m), "") && CHECK_EQ_INT(m.status, PHI_OK)) {
        rig_says(r, "done");
        CHECK_EQ_INT(phi_prompt(phi_agents_get(m.agents, NULL), "go"), PHI_OK);
        CHECK_EQ_INT(rig_run(r, 300), 0);
        has = CHECK_EQ_INT(rig_requests(r), 1) && strstr(rig_request(r, 0), text) != NULL;
    }
    made_free(&m);
    rig_free(r);
    return has;
}

#define DEFINED "\"name\":\"pets__listPets\",\"description\""
#define NAMED "Their names: pets__"

TEST(a_file_says_which_documents_are_deferred_and_above_which_part_of_the_window) {
    CHECK(request_has("", "", DEFINED));
    CHECK(!request_has("", "", NAMED));
    CHECK(request_has("deferred = true\n", "", NAMED));
    CHECK(!request_has("deferred = true\n", "", DEFINED));
    CHECK(request_has("", "[tools]\ndefer_percent = 1\n", NAMED));
    CHECK(!request_has("", "[tools]\ndefer_percent = 1\n", DEFINED));
    CHECK(request_has("never_deferred = true\n", "[tools]\ndefer_percent = 1\n", DEFINED));
    CHECK(request_has("", "[tools]\ndefer_percent = \"unlimited\"\n", DEFINED));
}

TEST_MAIN(TEST_ENTRY(documents_are_shared_by_percent_and_selected_by_lists),
          TEST_ENTRY(a_document_that_cannot_be_read_is_an_error_with_its_name),
          TEST_ENTRY(each_section_without_memory_leaves_no_agent),
          TEST_ENTRY(sections_may_be_freed_in_the_midst),
          TEST_ENTRY(each_condition_of_a_rule_counts),
          TEST_ENTRY(calls_to_ask_about_go_to_the_hosts_function),
          TEST_ENTRY(a_file_says_which_documents_are_deferred_and_above_which_part_of_the_window))
