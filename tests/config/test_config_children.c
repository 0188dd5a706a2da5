/* test_config_children.c - sub-agents of a configuration: servers, keys and what knows them. */
#include "orchestrate/subagents.h"
#include "support/made.h"
#include "codecs/presets.h"
#include "model/model.h"
#include "loop/hook.h"
#include "loop/run.h"

#define PROVIDER "[provider]\nmodel = \"claude-sonnet-4\"\napi_key = \"k\"\n"
#define GROQ                                                                                       \
    "[[provider.instances]]\nname = \"groq\"\nmodel = \"m\"\napi_key = \"q\"\npreset = \"groq\"\n"
#define HELPER "[[sub_agents.instances]]\nname = \"helper\"\n"

static const char servers[] =
    PROVIDER "base_url = \"https://proxy.example/anthropic\"\n[provider.headers]\nx-team = \"t\"\n"
             "[[provider.instances]]\nname = \"groq\"\nmodel = \"m\"\napi_key = \"q\"\n"
             "preset = \"groq\"\n"
             "[[sub_agents.instances]]\nname = \"same\"\nmodel = \"claude-haiku-4-5\"\n"
             "[[sub_agents.instances]]\nname = \"path\"\napi = \"openai\"\n"
             "base_url = \"https://proxy.example/openai\"\n"
             "[[sub_agents.instances]]\nname = \"spoken\"\nprovider = \"groq\"\n"
             "api = \"openai\"\n"
             "[[sub_agents.instances]]\nname = \"own\"\nmodel = \"gpt-4o\"\napi = \"openai\"\n"
             "api_key = \"o\"\n"
             "[[sub_agents.instances]]\nname = \"other\"\nmodel = \"gpt-4o\"\napi = \"openai\"\n"
             "[[sub_agents.instances]]\nname = \"host\"\nbase_url = \"https://proxy.example:8/\"\n";

TEST(a_sub_agent_has_the_key_and_headers_of_its_provider_for_the_same_server_alone) {
    static const struct {
        const char *url, *key;
        int headers;
    } wants[] = {
        {"https://proxy.example/anthropic", "k", 1}, {"https://proxy.example/openai", "k", 1},
        {"https://api.groq.com/openai/v1", "q", 0},  {"https://api.openai.com/v1", "o", 0},
        {"https://api.openai.com/v1", NULL, 0},      {"https://proxy.example:8/", NULL, 0}};
    rig *r = rig_new();
    phi_agent_desc d;
    made m;
    size_t i;
    REQUIRE(made_load(&m, r, servers, "a.toml", NULL, NULL));
    CHECK_EQ_INT(m.status, PHI_OK);
    CHECK_EQ_STR(
        made_problems(&m),
        "a.toml:23:1: warning: sub-agent \"own\" talks to another server than its provider, "
        "whose headers it does not get: give it a provider of [[provider.instances]] with "
        "what it needs\n"
        "a.toml:28:1: warning: sub-agent \"other\" talks to another server than its "
        "provider, whose api_key and headers it does not get: give it a provider of "
        "[[provider.instances]] with what it needs\n"
        "a.toml:32:1: warning: sub-agent \"host\" talks to another server than its "
        "provider, whose api_key and headers it does not get: give it a provider of "
        "[[provider.instances]] with what it needs\n");
    d = made_desc(&m, NULL);
    REQUIRE(CHECK_EQ_INT(d.tool_count, 6));
    for (i = 0; i < 6; i++) {
        const phi_model *model = &((phi_subagent_desc *)d.tools[i].user_data)->agent->model;
        CHECK_EQ_STR(model->base_url, wants[i].url);
        CHECK_EQ_STR(model->api_key != NULL ? model->api_key : "-",
                     wants[i].key != NULL ? wants[i].key : "-");
        CHECK_EQ_INT(model->header_count, wants[i].headers);
    }
    made_free(&m);
    rig_free(r);
}

TEST(a_sub_agent_has_the_version_of_the_api_for_the_same_server_alone) {
    static const char text[] =
        PROVIDER "api_version = \"2026-10-21\"\n" HELPER "model = \"claude-haiku-4-5\"\n"
                 "[[sub_agents.instances]]\nname = \"away\"\nmodel = \"m\"\napi_key = \"\"\n"
                 "base_url = \"https://proxy.example\"\n";
    rig *r = rig_new();
    phi_agent_desc d;
    made m;
    REQUIRE(made_load(&m, r, text, "a.toml", NULL, NULL));
    CHECK_EQ_INT(m.status, PHI_OK);
    d = made_desc(&m, NULL);
    CHECK_EQ_STR(d.model.api_version, "2026-10-21");
    REQUIRE(CHECK_EQ_INT(d.tool_count, 2));
    CHECK_EQ_STR(((phi_subagent_desc *)d.tools[0].user_data)->agent->model.api_version,
                 "2026-10-21");
    CHECK(((phi_subagent_desc *)d.tools[1].user_data)->agent->model.api_version == NULL);
    made_free(&m);
    rig_free(r);
}

TEST(a_key_that_a_sub_agent_does_not_get_is_a_warning) {
    static const char text[] = PROVIDER HELPER "base_url = \"https://proxy.example\"\n";
    rig *r = rig_new();
    made m;
    REQUIRE(made_load(&m, r, text, "a.toml", NULL, NULL));
    CHECK_EQ_STR(made_problems(&m),
                 "a.toml:4:1: warning: sub-agent \"helper\" talks to another server than its "
                 "provider, whose api_key it does not get: write its own api_key (\"\": it needs "
                 "none)\n");
    made_free(&m);
    rig_free(r);
}

static phi_verdict know_key(void *user_data, phi_hook *hook) {
    (void)user_data;
    if (hook->point != PHI_HOOK_CREDENTIAL) return PHI_ALLOW;
    hook->reply = phi_str_of("host's");
    return PHI_ALLOW;
}

TEST(the_hosts_hook_at_credential_knows_the_key_of_sub_agents_with_the_agents_key) {
    rig *r = rig_new();
    phi_agents_desc with = PHI_ZERO;
    phi_agent_desc base = PHI_ZERO;
    phi_agent_desc d;
    made m;
    size_t i;
    base.hook_fn = know_key;
    base.hook_points = PHI_HOOK_CREDENTIAL | PHI_HOOK_BEFORE_TOOL;
    with.base = &base;
    REQUIRE(made_load(&m, r, servers, NULL, NULL, &with));
    d = made_desc(&m, NULL);
    for (i = 0; i < 6; i++) { /* same and path */
        const phi_agent_desc *child = ((phi_subagent_desc *)d.tools[i].user_data)->agent;
        CHECK_EQ_INT(child->hook_points, PHI_HOOK_BEFORE_TOOL | (i < 2 ? PHI_HOOK_CREDENTIAL : 0));
    }
    rig_call(r, "c1", "same", "{\"task\":\"go\"}");
    rig_says(r, "a");
    rig_says(r, "b");
    CHECK_EQ_INT(phi_prompt(phi_agents_get(m.agents, NULL), "go"), PHI_OK);
    (void)rig_run(r, 300);
    REQUIRE(CHECK_EQ_INT(rig_requests(r), 3));
    CHECK_EQ_STR(rig_key(r, 1), "host's");
    made_free(&m);
    rig_free(r);
}

static const phi_agent_desc *child_of(const phi_agent_desc *desc) {
    return ((phi_subagent_desc *)desc->tools[0].user_data)->agent;
}

TEST(the_hook_at_credential_is_that_of_a_sub_agent_at_the_agents_server_alone) {
    static const struct {
        const char *text;
        bool host, has;
    } rows[] = {{PROVIDER HELPER, false, true},
                {PROVIDER GROQ "[agent]\nprovider = \"groq\"\n" HELPER, false, false},
                {GROQ "[agent]\nprovider = \"groq\"\n" HELPER, false, true}, /* the agent's model */
                {GROQ HELPER, true, true},
                {HELPER, true, true},
                {HELPER "model = \"claude-haiku-4-5\"\napi = \"anthropic\"\n", true, false},
                {PROVIDER GROQ "[agent]\nprovider = \"groq\"\n" HELPER
                               "base_url = \"https://api.groq.com/v1\"\napi = \"openai\"\n",
                 false, true}};
    size_t i;
    for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        rig *r = rig_new();
        phi_agents_desc with = PHI_ZERO;
        phi_agent_desc base = PHI_ZERO, d;
        made m;
        base.hook_fn = know_key;
        base.hook_points = PHI_HOOK_CREDENTIAL;
        if (rows[i].host) base.model = phi_model_preset("groq", "m", "q");
        with.base = &base;
        REQUIRE(made_load(&m, r, rows[i].text, NULL, NULL, &with));
        REQUIRE(CHECK_EQ_INT(m.status, PHI_OK));
        d = made_desc(&m, NULL);
        if (!CHECK_EQ_INT(child_of(&d)->hook_points, rows[i].has ? PHI_HOOK_CREDENTIAL : 0))
            printf("row %u\n", (unsigned)i);
        made_free(&m);
        rig_free(r);
    }
}

/* The middle one talks to the server of [provider], and the agent to another. */
TEST(the_hook_at_credential_is_the_agents_however_deep_a_sub_agent_is) {
    static const char text[] =
        PROVIDER GROQ "[[sub_agents.instances]]\nid = \"{{inner}}\"\nname = \"inner\"\n"
                      "[[sub_agents.instances]]\nid = \"{{outer}}\"\nname = \"outer\"\n"
                      "sub_agents = [\"{{sub_agent.inner}}\"]\n"
                      "[agent]\nprovider = \"groq\"\nsub_agents = [\"{{sub_agent.outer}}\"]\n";
    rig *r = rig_new();
    phi_agents_desc with = PHI_ZERO;
    phi_agent_desc base = PHI_ZERO, d;
    made m;
    base.hook_fn = know_key;
    base.hook_points = PHI_HOOK_CREDENTIAL;
    with.base = &base;
    REQUIRE(made_load(&m, r, text, NULL, NULL, &with));
    CHECK_EQ_STR(made_problems(&m), "");
    REQUIRE(CHECK_EQ_INT(m.status, PHI_OK));
    d = made_desc(&m, NULL);
    CHECK_EQ_INT(child_of(&d)->hook_points, 0);
    CHECK_EQ_INT(child_of(child_of(&d))->hook_points, 0);
    made_free(&m);
    rig_free(r);
}

/* The middle one talks to a stranger with a key of its own, and the inner one has its model. */
TEST(a_sub_agent_with_the_model_of_another_one_has_no_hook_for_its_server) {
    static const char text[] =
        "[[sub_agents.instances]]\nid = \"{{inner}}\"\nname = \"inner\"\n"
        "[[sub_agents.instances]]\nid = \"{{outer}}\"\nname = \"outer\"\nmodel = \"x\"\n"
        "api = \"openai\"\nbase_url = \"https://elsewhere.example/v1\"\napi_key = \"e\"\n"
        "max_depth = 2\nsub_agents = [\"{{sub_agent.inner}}\"]\n"
        "[agent]\nsub_agents = [\"{{sub_agent.outer}}\"]\n";
    rig *r = rig_new();
    phi_agents_desc with = PHI_ZERO;
    phi_agent_desc base = PHI_ZERO, d;
    made m;
    base.hook_fn = know_key;
    base.hook_points = PHI_HOOK_CREDENTIAL;
    base.model = phi_model_preset("groq", "m", "q");
    with.base = &base;
    REQUIRE(made_load(&m, r, text, NULL, NULL, &with));
    CHECK_EQ_STR(made_problems(&m), "");
    REQUIRE(CHECK_EQ_INT(m.status, PHI_OK));
    d = made_desc(&m, NULL);
    CHECK_EQ_INT(child_of(&d)->hook_points, 0);
    CHECK_EQ_INT(child_of(child_of(&d))->hook_points, 0);
    made_free(&m);
    rig_free(r);
}

TEST(agents_at_other_servers_and_in_other_places_do_not_share_a_sub_agent) {
    static const struct {
        const char *a, *b;
        bool shared, has;
    } rows[] = {{"", "", true, true},
                {"", "provider = \"groq\"\n", false, false},
                {"workspace = \"x\"\n", "workspace = \"y\"\n", false, true}};
    size_t i;
    for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        rig *r = rig_new();
        phi_agents_desc with = PHI_ZERO;
        phi_agent_desc base = PHI_ZERO, a, b;
        char text[1024];
        made m;
        base.hook_fn = know_key;
        base.hook_points = PHI_HOOK_CREDENTIAL;
        with.base = &base;
        (void)snprintf(text, sizeof text,
                       PROVIDER GROQ HELPER
                       "id = \"h\"\n[agent]\nsub_agents = [\"{{%%sub_agent.h%%}}\"]\n"
                       "[[agent.instances]]\nname = \"a\"\n%s"
                       "[[agent.instances]]\nname = \"b\"\n%s",
                       rows[i].a, rows[i].b);
        REQUIRE(made_load(&m, r, text, NULL, NULL, &with));
        CHECK_EQ_STR(made_problems(&m), "");
        REQUIRE(CHECK_EQ_INT(m.status, PHI_OK));
        a = made_desc(&m, "a");
        b = made_desc(&m, "b");
        CHECK_EQ_INT(child_of(&a) == child_of(&b), rows[i].shared);
        CHECK_EQ_INT(child_of(&a)->hook_points, PHI_HOOK_CREDENTIAL);
        CHECK_EQ_INT(child_of(&b)->hook_points, rows[i].has ? PHI_HOOK_CREDENTIAL : 0);
        if (i == 2) CHECK_EQ_STR(child_of(&b)->workspace, "y");
        made_free(&m);
        rig_free(r);
    }
}

TEST(a_file_with_named_providers_alone_leaves_the_hosts_model) {
    static const char *const texts[] = {
        GROQ HELPER, GROQ HELPER "provider = \"default\"\n[agent]\nprovider = \"default\"\n",
        "{\"provider\":{\"model\":null,\"instances\":[{\"id\":\"g\",\"model\":\"m\"}]},"
        "\"sub_agents\":{\"instances\":[{\"name\":\"helper\"}]}}"};
    rig *r = rig_new();
    size_t i;
    phi_agents_desc with = PHI_ZERO;
    phi_agent_desc base = PHI_ZERO, d;
    made m;
    base.model = phi_model_openai("gpt-4.1", "k");
    with.base = &base;
    for (i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        REQUIRE(made_load(&m, r, texts[i], NULL, NULL, &with));
        CHECK_EQ_STR(made_problems(&m), "");
        REQUIRE(CHECK_EQ_INT(m.status, PHI_OK));
        d = made_desc(&m, NULL);
        CHECK_EQ_STR(d.model.id, "gpt-4.1");
        CHECK(child_of(&d)->model.protocol == NULL);
        made_free(&m);
    }
    rig_free(r);
}

TEST(what_a_sub_agent_says_of_a_server_without_a_model_is_an_error) {
    static const struct {
        const char *text, *said;
    } rows[] = {
        {HELPER "base_url = \"http://localhost:8080/v1\"\napi = \"openai\"\n",
         "1:1: sub-agent \"helper\" has no model, and there is no [provider]: its base_url would "
         "do nothing; write model = \"...\", too\n"},
        {HELPER "api_key = \"own\"\n",
         "1:1: sub-agent \"helper\" has no model, and there is no [provider]: its api_key would do "
         "nothing; write model = \"...\", too\n"},
        {HELPER "model = \"qwen3\"\n",
         "3:9: sub-agent \"helper\": nothing says which server has its model: add a [provider], "
         "or write its provider, api or base_url\n"},
        {HELPER "model = \"qwen3\"\nbase_url = \"\"\napi_key = \"q\"\n",
         "3:9: sub-agent \"helper\": nothing says which server has its model: add a [provider], "
         "or write its provider, api or base_url\n"},
        {HELPER "model = \"\"\nbase_url = \"\"\n", ""},
        {HELPER "model = \"qwen3\"\nbase_url = \"http://localhost:8080/v1\"\napi = \"openai\"\n",
         ""}};
    size_t i;
    for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        rig *r = rig_new();
        phi_agents_desc with = PHI_ZERO;
        phi_agent_desc base = PHI_ZERO;
        made m;
        base.model = phi_model_preset("groq", "m", "q");
        with.base = &base;
        REQUIRE(made_load(&m, r, rows[i].text, NULL, NULL, &with));
        CHECK_EQ_STR(made_problems(&m), rows[i].said);
        CHECK_EQ_INT(m.status, rows[i].said[0] == '\0' ? PHI_OK : PHI_BAD_ARG);
        made_free(&m);
        rig_free(r);
    }
}

static phi_verdict guard(void *user_data, phi_hook *hook) {
    int *asked = (int *)user_data;
    if (hook->point != PHI_HOOK_BEFORE_TOOL) return PHI_ALLOW;
    (*asked)++;
    if (!phi_str_equal(hook->tool_name, phi_str_of("echo"))) return PHI_ALLOW;
    hook->reply = phi_str_of("The host says no.");
    return PHI_DENY;
}

TEST(what_guards_the_tools_of_an_agent_guards_those_of_its_sub_agents) {
    static const char text[] = PROVIDER HELPER
        "tools = [\"echo\"]\napi_key = \"own\"\n[agent]\ndecision_timeout_secs = 77\n";
    rig *r = rig_new();
    phi_agents_desc with = PHI_ZERO;
    phi_agent_desc base = PHI_ZERO, d;
    phi_tool tool = rig_echo();
    int asked = 0;
    made m;
    base.hook_fn = guard;
    base.hook_points = PHI_HOOK_BEFORE_TOOL;
    base.hook_user_data = &asked;
    with.base = &base;
    with.tools = &tool;
    with.tool_count = 1;
    REQUIRE(made_load(&m, r, text, NULL, NULL, &with));
    CHECK_EQ_STR(made_problems(&m), "");
    REQUIRE(CHECK_EQ_INT(m.status, PHI_OK));
    d = made_desc(&m, NULL);
    CHECK_EQ_INT(child_of(&d)->deadlines.decision_ms, 77000);
    rig_call(r, "c1", "helper", "{\"task\":\"go\"}");
    rig_call(r, "c2", "echo", "{\"text\":\"x\"}");
    rig_says(r, "It was denied.");
    rig_says(r, "Done.");
    CHECK_EQ_INT(phi_prompt(phi_agents_get(m.agents, NULL), "go"), PHI_OK);
    (void)rig_run(r, 300);
    REQUIRE(CHECK_EQ_INT(rig_requests(r), 4));
    CHECK(strstr(rig_request(r, 2), "The host says no.") != NULL);
    CHECK_EQ_INT(asked, 2);
    made_free(&m);
    rig_free(r);
}

TEST(a_fault_that_agents_share_is_said_once) {
    static const char text[] =
        PROVIDER HELPER "tools = [\"nope\"]\n"
                        "[[agent.instances]]\nname = \"a\"\n"
                        "[[agent.instances]]\nname = \"b\"\nworkspace = \"b\"\n";
    rig *r = rig_new();
    const char *at;
    made m;
    REQUIRE(made_load(&m, r, text, NULL, NULL, NULL));
    CHECK_EQ_INT(m.status, PHI_NOT_FOUND);
    at = strstr(made_problems(&m), "\"nope\"");
    CHECK(at != NULL && strstr(at + 1, "\"nope\"") == NULL);
    made_free(&m);
    rig_free(r);
}

TEST_MAIN(TEST_ENTRY(a_sub_agent_has_the_key_and_headers_of_its_provider_for_the_same_server_alone),
          TEST_ENTRY(a_sub_agent_has_the_version_of_the_api_for_the_same_server_alone),
          TEST_ENTRY(a_key_that_a_sub_agent_does_not_get_is_a_warning),
          TEST_ENTRY(the_hosts_hook_at_credential_knows_the_key_of_sub_agents_with_the_agents_key),
          TEST_ENTRY(the_hook_at_credential_is_that_of_a_sub_agent_at_the_agents_server_alone),
          TEST_ENTRY(the_hook_at_credential_is_the_agents_however_deep_a_sub_agent_is),
          TEST_ENTRY(a_sub_agent_with_the_model_of_another_one_has_no_hook_for_its_server),
          TEST_ENTRY(agents_at_other_servers_and_in_other_places_do_not_share_a_sub_agent),
          TEST_ENTRY(a_file_with_named_providers_alone_leaves_the_hosts_model),
          TEST_ENTRY(what_a_sub_agent_says_of_a_server_without_a_model_is_an_error),
          TEST_ENTRY(what_guards_the_tools_of_an_agent_guards_those_of_its_sub_agents),
          TEST_ENTRY(a_fault_that_agents_share_is_said_once))
