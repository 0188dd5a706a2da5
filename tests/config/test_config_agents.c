/* test_config_agents.c - agents out of a configuration: models, profiles, prompts, limits. */
#include "support/problems.h"
#include "support/made.h"
#include "agent/profile.h"
#include "log/policy.h"
#include "agent/agent_in.h"

#define PROVIDER "[provider]\nmodel = \"claude-sonnet-4\"\napi_key = \"k\"\n"

static void run(made *m, const char *name, const char *prompt) {
    rig_says(m->r, "fine");
    CHECK_EQ_INT(phi_prompt(phi_agents_get(m->agents, name), prompt), PHI_OK);
    (void)rig_run(m->r, 200);
}

TEST(a_provider_is_enough_for_one_agent_named_default) {
    rig *r = rig_new();
    made m;
    REQUIRE(made_load(&m, r, "[provider]\nmodel = \"claude-sonnet-4\"\napi_key = \"${MADE_KEY}\"\n",
                      NULL, NULL, NULL));
    CHECK_EQ_STR(made_problems(&m), "");
    CHECK_EQ_INT(m.status, PHI_OK);
    CHECK_EQ_INT(agents_count(m.agents), 1);
    CHECK_STR(agents_name(m.agents, 0), "default");
    CHECK(phi_agents_get(m.agents, NULL).rt != NULL);
    CHECK(phi_agents_get(m.agents, "default").rt != NULL);
    CHECK(phi_agents_get(m.agents, "other").rt == NULL);
    CHECK(agents_at(m.agents, 1).rt == NULL);
    run(&m, "default", "hello");
    CHECK_EQ_STR(rig_key(r, 0), "secret-key-of-the-test");
    CHECK(strstr(rig_request(r, 0), "\"claude-sonnet-4\"") != NULL);
    {
        phi_agent_desc d = made_desc(&m, NULL);
        CHECK_EQ_STR(d.model.protocol, "anthropic_messages");
        CHECK_EQ_STR(d.model.provider, "anthropic");
        CHECK_EQ_STR(d.model.base_url, "https://api.anthropic.com");
        CHECK_EQ_INT(d.model.context_window, 200000);
        CHECK_EQ_INT(d.model.max_tokens, 8192);
        CHECK(d.compaction.disable); /* off without max_context_tokens */
        CHECK_EQ_INT(d.limits.max_turns, 50);
        CHECK_EQ_INT(d.limits.max_tokens, 1000000);
        CHECK_EQ_INT(d.limits.max_duration_ms, 600000);
    }
    made_free(&m);
    rig_free(r);
}

TEST(a_model_that_is_missing_is_a_warning_and_unknown) {
    rig *r = rig_new();
    made m;
    REQUIRE(made_load(&m, r, "[agent]\nsystem_prompt = \"x\"\n", "a.toml", NULL, NULL));
    CHECK_EQ_INT(m.status, PHI_OK);
    CHECK(strstr(made_problems(&m), "provider.model is missing") != NULL);
    CHECK_EQ_STR(made_desc(&m, NULL).model.id, "unknown");
    made_free(&m);
    rig_free(r);
}

static const char providers[] = PROVIDER
    "[provider.cost]\ninput_per_million = 3.0\noutput_per_million = 15.0\n"
    "[[provider.instances]]\nid = \"{{%openai%}}\"\nname = \"GPT-4o\"\nmodel = \"gpt-4o\"\n"
    "api_key = \"o\"\napi = \"openai_completions\"\nurl = \"https://api.openai.com/v1\"\n"
    "[[provider.instances]]\nid = \"{{%router%}}\"\nmodel = \"anthropic/claude-sonnet-4\"\n"
    "api_key = \"r\"\napi = \"openai-completions\"\nurl = \"https://openrouter.ai/api/v1\"\n"
    "provider = \"openrouter\"\ncontext_window = 1234\nmax_tokens = 55\nreasoning = true\n"
    "[provider.instances.headers]\n\"X-Title\" = \"phi\"\n"
    "[provider.instances.cost]\ncache_read_per_million = 0.5\n"
    "[[provider.instances]]\nid = \"{{%gemini%}}\"\nmodel = \"gemini-2.5-flash\"\napi_key = \"g\"\n"
    "api = \"gemini\"\n"
    "[[provider.instances]]\nid = \"{{%local%}}\"\nmodel = \"llama3.2\"\napi = \"openai\"\n"
    "url = \"http://localhost:11434/v1\"\nprovider = \"ollama\"\n"
    "[[provider.instances]]\nid = \"{{%groq%}}\"\nmodel = \"llama-3.3-70b\"\npreset = \"groq\"\n"
    "api_key = \"q\"\n"
    "[[agent.instances]]\nname = \"a\"\nprovider = \"{{provider.openai}}\"\n"
    "[[agent.instances]]\nname = \"b\"\nprovider = \"{{router}}\"\n"
    "[[agent.instances]]\nname = \"c\"\nprovider = \"{{%gemini%}}\"\n"
    "[[agent.instances]]\nname = \"d\"\nprovider = \"local\"\n"
    "[[agent.instances]]\nname = \"e\"\nprovider = \"groq\"\n"
    "[[agent.instances]]\nname = \"f\"\n";

TEST(named_providers_have_every_field_and_agents_choose_them) {
    rig *r = rig_new();
    made m;
    phi_agent_desc d;
    phi_model model;
    REQUIRE(made_load(&m, r, providers, NULL, NULL, NULL));
    CHECK_EQ_STR(made_problems(&m), "");
    REQUIRE(CHECK_EQ_INT(agents_count(m.agents), 6));
    d = made_desc(&m, "a");
    CHECK_EQ_STR(d.model.protocol, "openai_completions");
    CHECK_EQ_STR(d.model.id, "gpt-4o");
    CHECK_EQ_STR(d.model.name, "GPT-4o");
    CHECK((d.model.quirks & PHI_QUIRK_MAX_COMPLETION_TOKENS) != 0);
    d = made_desc(&m, "b");
    CHECK_EQ_STR(d.model.provider, "openrouter");
    CHECK_EQ_STR(d.model.base_url, "https://openrouter.ai/api/v1");
    CHECK_EQ_INT(d.model.context_window, 1234);
    CHECK_EQ_INT(d.model.max_tokens, 55);
    CHECK(d.model.reasoning && (d.model.quirks & PHI_QUIRK_REASONING_OBJECT) != 0);
    CHECK_EQ_INT(d.model.header_count, 1);
    CHECK_EQ_STR(d.model.headers[0].value, "phi");
    CHECK(d.model.cost.cache_read > 0.49 && d.model.cost.input < 0.1);
    d = made_desc(&m, "c");
    CHECK_EQ_STR(d.model.protocol, "google_generative_ai");
    CHECK(strstr(d.model.base_url, "https://generativelanguage.googleapis.com") ==
          d.model.base_url);
    d = made_desc(&m, "d");
    CHECK((d.model.quirks & PHI_QUIRK_OPEN_KEY) != 0);
    CHECK_EQ_STR(d.model.base_url, "http://localhost:11434/v1");
    d = made_desc(&m, "e");
    CHECK_EQ_STR(d.model.base_url, "https://api.groq.com/openai/v1");
    d = made_desc(&m, "f");
    CHECK_EQ_STR(d.model.id, "claude-sonnet-4");
    CHECK(d.model.cost.output > 14.9);
    CHECK_EQ_INT(phi_agents_model(m.agents, "{{provider.gemini}}", &model), PHI_OK);
    CHECK_EQ_STR(model.id, "gemini-2.5-flash");
    CHECK_EQ_INT(phi_agents_model(m.agents, "nothing", &model), PHI_NOT_FOUND);
    CHECK_EQ_INT(phi_agents_model(NULL, "x", &model), PHI_BAD_ARG);
    made_free(&m);
    rig_free(r);
}

static const char chain[] = PROVIDER
    "[agent.profile]\nname = \"base\"\nsystem_prompt = \"BASE\"\nthinking_level = \"High\"\n"
    "temperature = 0.2\nmax_tokens = 100\n"
    "[[agent.profile.instances]]\nid = \"{{coder}}\"\nsystem_prompt = \"CODER\"\n"
    "thinking_level = \"low\"\ntemperature = 0.0\nconfig_id = \"coder\"\n"
    "[[agent.profile.instances]]\nid = \"{{%quiet%}}\"\nthinking_level = \"off\"\n"
    "[[agent.instances]]\nname = \"a\"\nagent_profile = \"{{agent_profile.coder}}\"\n"
    "[[agent.instances]]\nname = \"b\"\nagent_profile = \"{{agent_profile.coder}}\"\n"
    "system_prompt = \"OWN\"\n"
    "[[agent.instances]]\nname = \"c\"\n"
    "[[agent.instances]]\nagent_profile = \"{{quiet}}\"\n"
    "[agent.instances.profile]\nmax_tokens = 7\n";

TEST(an_instance_of_a_profile_wins_over_the_profile_and_an_agents_own_over_both) {
    rig *r = rig_new();
    made m;
    phi_agent_desc d;
    REQUIRE(made_load(&m, r, chain, NULL, NULL, NULL));
    CHECK_EQ_STR(made_problems(&m), "");
    REQUIRE(CHECK_EQ_INT(agents_count(m.agents), 4));
    d = made_desc(&m, "a");
    CHECK_EQ_STR(d.system_prompt, "CODER");
    CHECK_EQ_INT(d.thinking, PHI_THINKING_LOW);
    CHECK(d.options.has_temperature && d.options.temperature < 0.01);
    CHECK_EQ_INT(d.max_tokens, 100);
    CHECK_EQ_STR(d.ids.config_id, "coder");
    CHECK_EQ_STR(phi__make_profile(phi_agents_get(m.agents, "a"))->name, "base");
    CHECK_EQ_STR(made_desc(&m, "b").system_prompt, "OWN");
    d = made_desc(&m, "c");
    CHECK_EQ_STR(d.system_prompt, "BASE");
    CHECK_EQ_INT(d.thinking, PHI_THINKING_HIGH);
    CHECK(d.options.temperature > 0.19);
    CHECK_STR(agents_name(m.agents, 3), "unnamed");
    d = made_desc(&m, "unnamed");
    CHECK_EQ_INT(d.thinking, PHI_THINKING_OFF);
    CHECK_EQ_INT(d.max_tokens, 7);
    CHECK_EQ_STR(d.system_prompt, "BASE");
    made_free(&m);
    rig_free(r);
}

TEST(the_prompt_of_agent_wins_over_all_profiles) {
    rig *r = rig_new();
    made m;
    REQUIRE(made_load(&m, r,
                      PROVIDER "[agent]\nsystem_prompt = \"TOP\"\n[agent.profile]\n"
                               "system_prompt = \"BASE\"\n",
                      NULL, NULL, NULL));
    CHECK_EQ_STR(made_problems(&m), "");
    CHECK_EQ_STR(made_desc(&m, NULL).system_prompt, "TOP");
    made_free(&m);
    rig_free(r);
}

static const char execution[] =
    PROVIDER "[tools]\ntool_strategy = \"batched\"\nbatch_size = 5\n"
             "[compaction]\nmax_context_tokens = 150000\nsystem_prompt_tokens = 3000\n"
             "compact_at_pct = 0.85\ncompact_budget_threshold_pct = 0.04\nkeep_first_turns = 0\n"
             "keep_recent_turns = 4\nmax_summary_tokens = 900\ntool_output_max_lines = 20\n"
             "focus_message = \"Keep decisions.\"\n"
             "[[compaction.instances]]\nid = \"{{%coding%}}\"\nkeep_recent_turns = 6\n"
             "focus_message = \"Keep paths.\"\nmax_context_tokens = 90000\n"
             "[execution]\nmax_turns = 12\nmax_total_tokens = 5000\nmax_duration_secs = 1.5\n"
             "max_cost = 5.0\n[provider.cost]\ninput_per_million = 1.0\n"
             "[execution.retry]\nmax_retries = 0\ninitial_delay_ms = 10\nbackoff_multiplier = 1.5\n"
             "max_delay_ms = 500\n"
             "[execution.cache]\nenabled = false\n"
             "[execution.budget]\nmax_requests = 9\n"
             "[execution.deadlines]\nidle_secs = 7\n"
             "[[agent.instances]]\nname = \"plain\"\n"
             "[[agent.instances]]\nname = \"coder\"\n[agent.instances.profile]\n"
             "compaction = \"{{compaction.coding}}\"\n";

TEST(limits_retries_caching_and_compaction_are_those_of_the_file) {
    rig *r = rig_new();
    made m;
    phi_agent_desc d;
    REQUIRE(made_load(&m, r, execution, NULL, NULL, NULL));
    CHECK_EQ_STR(made_problems(&m), "");
    REQUIRE(CHECK_EQ_INT(m.status, PHI_OK));
    d = made_desc(&m, "plain");
    CHECK_EQ_INT(d.tool_options.mode, PHI_TOOLS_BATCHED);
    CHECK_EQ_INT(d.tool_options.batch, 5);
    CHECK(!d.compaction.disable && d.compaction.keep_no_first);
    CHECK_EQ_INT(d.compaction.max_context_tokens, 150000);
    CHECK_EQ_INT(d.compaction.keep_recent_turns, 4);
    CHECK_EQ_INT(d.compaction.max_summary_tokens, 900);
    CHECK_EQ_STR(d.compaction.focus_message, "Keep decisions.");
    CHECK_EQ_INT(d.limits.max_turns, 12);
    CHECK_EQ_INT(d.limits.max_tokens, 5000);
    CHECK_EQ_INT(d.limits.max_duration_ms, 1500);
    CHECK(d.limits.max_cost > 4.9);
    CHECK(d.retry.disable);
    CHECK_EQ_INT(d.retry.initial_delay_ms, 10);
    CHECK_EQ_INT(d.cache.mode, PHI_CACHE_DISABLED);
    CHECK_EQ_INT(d.budget.max_requests, 9);
    CHECK_EQ_INT(d.deadlines.idle_ms, 7000);
    d = made_desc(&m, "coder");
    CHECK_EQ_INT(d.compaction.max_context_tokens, 90000);
    CHECK_EQ_INT(d.compaction.keep_recent_turns, 6);
    CHECK_EQ_STR(d.compaction.focus_message, "Keep paths.");
    CHECK_EQ_INT(d.compaction.max_summary_tokens, 900);
    made_free(&m);
    rig_free(r);
}

/* What the host says, where the file says something else beside it. */
static phi_agent_desc host_desc(const phi_policy *policy) {
    phi_agent_desc d = PHI_ZERO;
    d.limits.max_cost = 1;
    d.limits.max_turns = 7;
    d.limits.disable = true;
    d.budget.max_cost = 2;
    d.budget.max_requests = 100;
    d.deadlines.total_ms = 5000;
    d.retry.disable = true;
    d.retry.max_delay_ms = 70;
    d.cache.mode = PHI_CACHE_MANUAL;
    d.cache.tools = true;
    d.compaction.max_context_tokens = 90000;
    d.compaction.keep_no_first = true;
    d.tool_options.mode = PHI_TOOLS_BATCHED;
    d.tool_options.batch = 6;
    d.tool_options.choice = PHI_TOOL_CHOICE_REQUIRED;
    d.input.steering_mode = PHI_QUEUE_ALL;
    d.input.follow_up_mode = PHI_QUEUE_ALL;
    d.options.capture_requests = true;
    d.options.disable_facts = true;
    d.input.queue_limit = 9;
    d.tool_options.effects.deny = PHI_EFFECT_EMIT;
    d.tool_options.effects.max_state_bytes = 77;
    d.policy = policy;
    d.model.cost.input = 1;
    return d;
}

TEST(what_the_host_says_stays_beside_what_the_file_says) {
    static const char text[] =
        PROVIDER "[provider.cost]\ninput_per_million = 1.0\n[execution]\nmax_turns = 40\n"
                 "[execution.budget]\nmax_requests = 9\n[execution.deadlines]\nidle_secs = 7\n"
                 "[execution.retry]\ninitial_delay_ms = 10\n[execution.cache]\nsystem = true\n"
                 "[compaction]\nkeep_recent_turns = 4\n[tools]\nchoice = \"auto\"\n"
                 "[agent]\nsteering_mode = \"one_at_a_time\"\ncapture_requests = false\n"
                 "[agent.effects]\nmode = \"deny_all\"\n[agent.policy]\nmax_messages = 5\n";
    phi_policy policy = PHI_ZERO;
    phi_agent_desc base, d;
    phi_agents_desc with = PHI_ZERO;
    rig *r = rig_new();
    made m;
    policy.keep_no_turns = true;
    policy.max_turns = 3;
    base = host_desc(&policy);
    with.base = &base;
    REQUIRE(made_load(&m, r, text, NULL, NULL, &with));
    REQUIRE(CHECK_EQ_INT(m.status, PHI_OK)); /* with warnings: the reader does not see the host */
    d = made_desc(&m, NULL);
    CHECK_EQ_INT(d.limits.max_turns, 40);
    CHECK(d.limits.max_cost > 0.9 && d.limits.max_cost < 1.1);
    CHECK_EQ_INT(d.limits.max_tokens, 1000000); /* the switch for all has yielded */
    CHECK_EQ_INT(d.budget.max_requests, 9);
    CHECK(d.budget.max_cost > 1.9);
    CHECK_EQ_INT(d.deadlines.idle_ms, 7000);
    CHECK_EQ_INT(d.deadlines.total_ms, 5000);
    CHECK(d.retry.disable);
    CHECK_EQ_INT(d.retry.max_delay_ms, 70);
    CHECK(d.cache.mode == PHI_CACHE_MANUAL && d.cache.tools && d.cache.system);
    CHECK(!d.compaction.disable && d.compaction.keep_no_first);
    CHECK_EQ_INT(d.compaction.max_context_tokens, 90000);
    CHECK_EQ_INT(d.compaction.keep_recent_turns, 4);
    CHECK_EQ_INT(d.tool_options.mode, PHI_TOOLS_BATCHED);
    CHECK_EQ_INT(d.tool_options.batch, 6);
    CHECK_EQ_INT(d.tool_options.choice, PHI_TOOL_CHOICE_AUTO);
    CHECK_EQ_INT(d.input.steering_mode, PHI_QUEUE_ONE_AT_A_TIME);
    CHECK_EQ_INT(d.input.follow_up_mode, PHI_QUEUE_ALL);
    CHECK(!d.options.capture_requests && d.options.disable_facts);
    CHECK_EQ_INT(d.input.queue_limit, 9);
    CHECK_EQ_INT(d.tool_options.effects.mode, PHI_EFFECTS_DENY_ALL);
    CHECK_EQ_INT(d.tool_options.effects.deny, PHI_EFFECT_EMIT);
    CHECK_EQ_INT(d.tool_options.effects.max_state_bytes, 77);
    REQUIRE(CHECK(d.policy != NULL));
    CHECK(d.policy->keep_no_turns && d.policy->max_turns == 3 && d.policy->max_messages == 5);
    made_free(&m);
    REQUIRE(made_load(&m, r, PROVIDER, NULL, NULL, &with)); /* the file says nothing of it */
    d = made_desc(&m, NULL);
    CHECK_EQ_INT(d.compaction.max_context_tokens, 90000);
    CHECK(!d.compaction.disable);
    CHECK_EQ_INT(d.limits.max_turns, PHI_UNLIMITED);
    made_free(&m);
    rig_free(r);
}

static phi_profile host_profile(void) {
    static const char *const skills[] = {"review-notes"};
    phi_profile p = PHI_ZERO;
    p.name = "host";
    p.system_prompt = "The host's prompt.";
    p.workspace = "/tmp";
    p.thinking = PHI_THINKING_HIGH;
    p.max_tokens = 77;
    p.has_temperature = true;
    p.temperature = 0.5;
    p.config_id = "cfg";
    p.skills = skills;
    p.skill_count = 1;
    return p;
}

TEST(the_hosts_profile_fills_what_the_file_does_not_set) {
    phi_profile profile = host_profile();
    phi_agent_desc base = PHI_ZERO, d;
    phi_agents_desc with = PHI_ZERO;
    const phi_profile *p;
    rig *r = rig_new();
    made m;
    base.profile = &profile;
    with.base = &base;
    REQUIRE(made_load(&m, r, PROVIDER, NULL, NULL, &with));
    REQUIRE(CHECK_EQ_INT(m.status, PHI_OK));
    d = made_desc(&m, NULL);
    CHECK_EQ_STR(d.system_prompt, "The host's prompt.");
    CHECK_EQ_STR(d.workspace, "/tmp");
    CHECK_EQ_INT(d.thinking, PHI_THINKING_HIGH);
    CHECK_EQ_INT(d.max_tokens, 77);
    CHECK(d.options.has_temperature && d.options.temperature > 0.4 && d.options.temperature < 0.6);
    p = phi__make_profile(phi_agents_get(m.agents, NULL));
    REQUIRE(CHECK(p != NULL));
    CHECK_EQ_STR(p->name, "host");
    CHECK_EQ_STR(p->config_id, "cfg");
    if (CHECK_EQ_INT(p->skill_count, 1)) CHECK_EQ_STR(p->skills[0], "review-notes");
    made_free(&m);
    rig_free(r);
}

TEST(what_the_file_says_wins_over_the_hosts_profile_though_it_is_zero) {
    phi_profile profile = host_profile();
    phi_agent_desc base = PHI_ZERO, d;
    phi_agents_desc with = PHI_ZERO;
    const phi_profile *p;
    rig *r = rig_new();
    made m;
    base.profile = &profile;
    with.base = &base;
    REQUIRE(made_load(&m, r,
                      PROVIDER "[agent.profile]\nname = \"file\"\nthinking_level = \"off\"\n"
                               "temperature = 0.0\nskills = []\n",
                      NULL, NULL, &with));
    REQUIRE(CHECK_EQ_INT(m.status, PHI_OK));
    d = made_desc(&m, NULL);
    CHECK_EQ_INT(d.thinking, PHI_THINKING_OFF);
    CHECK(d.options.has_temperature && d.options.temperature < 0.1);
    CHECK_EQ_INT(d.max_tokens, 77);
    p = phi__make_profile(phi_agents_get(m.agents, NULL));
    REQUIRE(CHECK(p != NULL));
    CHECK_EQ_STR(p->name, "file");
    CHECK_EQ_INT(p->skill_count, 0);
    made_free(&m);
    rig_free(r);
}

TEST(a_cache_is_on_where_the_file_says_so_and_names_no_other_strategy) {
    static const struct {
        const char *text;
        phi_cache_mode mode;
    } rows[] = {{"enabled = true\n", PHI_CACHE_AUTO},
                {"enabled = true\nstrategy = \"disabled\"\n", PHI_CACHE_DISABLED},
                {"enabled = false\nstrategy = \"auto\"\n", PHI_CACHE_DISABLED},
                {"tools = true\n", PHI_CACHE_DISABLED}};
    phi_agent_desc base = PHI_ZERO;
    phi_agents_desc with = PHI_ZERO;
    size_t i;
    base.cache.mode = PHI_CACHE_DISABLED;
    with.base = &base;
    for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[256];
        rig *r = rig_new();
        made m;
        (void)snprintf(text, sizeof text, "%s[execution.cache]\n%s", PROVIDER, rows[i].text);
        REQUIRE(made_load(&m, r, text, NULL, NULL, &with));
        CHECK_EQ_INT(made_desc(&m, NULL).cache.mode, rows[i].mode);
        made_free(&m);
        rig_free(r);
    }
}

TEST(names_of_tools_that_nobody_has_are_errors_with_the_nearest_name) {
    rig *r = rig_new();
    phi_agents_desc with = PHI_ZERO;
    phi_tool tool = rig_echo();
    made m;
    with.tools = &tool;
    with.tool_count = 1;
    REQUIRE(made_load(&m, r, PROVIDER "[tools]\nenabled = [\"ecko\", \"echo\"]\n", "a.toml", NULL,
                      &with));
    CHECK_EQ_STR(made_problems(&m), "a.toml:5:12: \"ecko\": there is no such tool; did you mean "
                                    "\"echo\"?\n");
    CHECK_EQ_INT(m.status, PHI_NOT_FOUND);
    CHECK_EQ_INT(agents_count(m.agents), 0);
    CHECK(phi_agents_get(m.agents, NULL).rt == NULL);
    made_free(&m);
    REQUIRE(made_load(&m, r, PROVIDER "[tools]\nenabled = [\"echo\"]\n", NULL, NULL, &with));
    CHECK_EQ_STR(made_problems(&m), "");
    CHECK_EQ_INT(made_desc(&m, NULL).tool_count, 1);
    made_free(&m);
    rig_free(r);
}

TEST_MAIN(TEST_ENTRY(a_provider_is_enough_for_one_agent_named_default),
          TEST_ENTRY(a_model_that_is_missing_is_a_warning_and_unknown),
          TEST_ENTRY(named_providers_have_every_field_and_agents_choose_them),
          TEST_ENTRY(an_instance_of_a_profile_wins_over_the_profile_and_an_agents_own_over_both),
          TEST_ENTRY(the_prompt_of_agent_wins_over_all_profiles),
          TEST_ENTRY(limits_retries_caching_and_compaction_are_those_of_the_file),
          TEST_ENTRY(what_the_host_says_stays_beside_what_the_file_says),
          TEST_ENTRY(the_hosts_profile_fills_what_the_file_does_not_set),
          TEST_ENTRY(what_the_file_says_wins_over_the_hosts_profile_though_it_is_zero),
          TEST_ENTRY(a_cache_is_on_where_the_file_says_so_and_names_no_other_strategy),
          TEST_ENTRY(names_of_tools_that_nobody_has_are_errors_with_the_nearest_name))
