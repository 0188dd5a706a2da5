/* test_config_children.c - sub-agents of a configuration: servers, keys and what knows them. */
#include "subagents/subagents.h"
#include "support/made.h"

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
        const phi_model *model = &((phi_subagent *)d.tools[i].user_data)->agent->model;
        CHECK_EQ_STR(model->base_url, wants[i].url);
        CHECK_EQ_STR(model->api_key != NULL ? model->api_key : "-",
                     wants[i].key != NULL ? wants[i].key : "-");
        CHECK_EQ_INT(model->header_count, wants[i].headers);
    }
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
        const phi_agent_desc *child = ((phi_subagent *)d.tools[i].user_data)->agent;
        CHECK_EQ_INT(child->hook_points, i < 2 ? PHI_HOOK_CREDENTIAL : 0);
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
    return ((phi_subagent *)desc->tools[0].user_data)->agent;
}

TEST(the_hook_at_credential_is_that_of_a_sub_agent_at_the_agents_server_alone) {
    static const struct {
        const char *text;
        bool host, has;
    } rows[] = {
        {PROVIDER HELPER, false, true},
        {PROVIDER GROQ "[agent]\nprovider = \"groq\"\n" HELPER, false, false},
        {GROQ "[agent]\nprovider = \"groq\"\n" HELPER, false, false}, /* Anthropic's preset */
        {HELPER, true, true},                                         /* the agent's model */
        {HELPER "model = \"claude-haiku-4-5\"\n", true, false},
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
        if (rows[i].host) base.model = phi_model_groq("m", "q");
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

TEST_MAIN(TEST_ENTRY(a_sub_agent_has_the_key_and_headers_of_its_provider_for_the_same_server_alone),
          TEST_ENTRY(a_key_that_a_sub_agent_does_not_get_is_a_warning),
          TEST_ENTRY(the_hosts_hook_at_credential_knows_the_key_of_sub_agents_with_the_agents_key),
          TEST_ENTRY(the_hook_at_credential_is_that_of_a_sub_agent_at_the_agents_server_alone),
          TEST_ENTRY(the_hook_at_credential_is_the_agents_however_deep_a_sub_agent_is))
