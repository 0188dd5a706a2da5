/* test_config_words.c - every fault of a configuration, word for word. */
#include "config/config_test.h"

TEST(a_value_of_the_wrong_type_is_named_with_what_is_expected) {
    static const config_case cases[] = {
        {"[agent]\nsystem_prompt = 5\n",
         "f:2:17: Invalid value for agent.system_prompt: 5 (expected a text): write it in quotes"},
        {"[agent.profile]\nmax_tokens = \"many\"\n",
         "f:2:14: Invalid value for agent.profile.max_tokens: \"many\" (expected an integer from 1 "
         "to 4294967295)"},
        {"[agent.profile]\nmax_tokens = \"4096\"\n",
         "f:2:14: Invalid value for agent.profile.max_tokens: \"4096\" (expected an integer from 1 "
         "to 4294967295): write the number without quotes"},
        {"[agent.profile]\nmax_tokens = 1.5\n",
         "f:2:14: Invalid value for agent.profile.max_tokens: 1.5 (expected an integer from 1 to "
         "4294967295)"},
        {"[agent.profile]\ntemperature = \"0.5\"\n",
         "f:2:15: Invalid value for agent.profile.temperature: \"0.5\" (expected a number from 0 "
         "to 2): write the number without quotes"},
        {"[provider]\nreasoning = \"true\"\n",
         "f:2:13: Invalid value for provider.reasoning: \"true\" (expected true or false): write "
         "it without quotes"},
        {"[provider]\nreasoning = 1\n",
         "f:2:13: Invalid value for provider.reasoning: 1 (expected true or false)"},
        {"[tools]\nenabled = \"bash\"\n",
         "f:2:11: Invalid value for tools.enabled: \"bash\" (expected an array of texts): write it "
         "in brackets, as [\"a\"]"},
        {"[tools]\nenabled = [\"bash\", 5, true]\n",
         "f:2:20: Invalid value for tools.enabled[1]: 5 (expected a text): write it in "
         "quotes\nf:2:23: Invalid value for tools.enabled[2]: true (expected a text): write it in "
         "quotes"},
        {"provider = \"openai\"\n",
         "f:1:12: Invalid value for provider: \"openai\" (expected a table, as [provider]): its "
         "fields are preset, model, api_key, api..."},
        {"[provider.instances]\nid = \"x\"\n",
         "f:1:1: Invalid value for provider.instances: a table (expected an array of tables, as "
         "[[provider.instances]]): write double brackets"},
        {"[[execution]]\nmax_turns = 5\n", "f:1:1: Invalid value for execution: an array (expected "
                                           "a table, as [execution]): write single brackets"},
        {"[provider]\nheaders = [\"a\"]\n",
         "f:2:11: Invalid value for provider.headers: an array (expected a table of texts)"},
        {"[provider.headers]\nX-A = 5\n", "f:2:7: Invalid value for provider.headers.X-A: \"****\" "
                                          "(expected a text): write it in quotes"},
        {"[agent]\nname_of_nothing = 1979-05-27\n[session]\nscope = 1979-05-27\n",
         "f:2:1: warning: Unknown field \"name_of_nothing\" in agent\nf:4:9: "
         "Invalid "
         "value for session.scope: \"1979-05-27\" (expected one of ephemeral, persistent)"},
        {"[[agent.instances]]\nname = \"a\"\nprofile = \"{{coder}}\"\n",
         "f:3:11: Invalid value for agent.instances[0].profile: \"{{coder}}\" (expected a table, "
         "as [agent.instances.profile]): a reference to a profile is written agent_profile = "
         "\"{{name}}\""}};
    config_cases(PHI_CONFIG_TOML, cases, PHI__COUNT(cases));
}

TEST(a_number_out_of_bounds_is_named_with_its_bounds) {
    static const config_case cases[] = {
        {"[agent.profile]\ntemperature = 2.5\n",
         "f:2:15: Invalid value for agent.profile.temperature: 2.5 (expected a number from 0 to "
         "2)"},
        {"[execution]\nmax_turns = 0\n",
         "f:2:13: Invalid value for execution.max_turns: 0 (expected an integer from 1 to "
         "4294967295, or \"unlimited\")"},
        {"[execution]\nmax_turns = 4294967296\n",
         "f:2:13: Invalid value for execution.max_turns: 4294967296 (expected an integer from 1 to "
         "4294967295, or \"unlimited\")"},
        {"[execution]\nmax_cost = -1\n",
         "f:2:1: warning: execution.max_cost has no effect: no provider has cost rates; add "
         "[provider.cost] with input_per_million and output_per_million\nf:2:12: Invalid value for "
         "execution.max_cost: -1 (expected a number above 0, at most 1000000000): leave it out "
         "where there is no limit"},
        {"[execution]\nmax_duration_secs = 99999999\n",
         "f:2:21: Invalid value for execution.max_duration_secs: 99999999 (expected a number of "
         "seconds from 0.001 to 4294967, or \"unlimited\")"},
        {"[execution]\nmax_turns = \"forever\"\n",
         "f:2:13: Invalid value for execution.max_turns: \"forever\" (expected an integer from 1 "
         "to 4294967295, or \"unlimited\")"},
        {"[execution.retry]\nmax_retries = -1\nbackoff_multiplier = 0.5\n",
         "f:2:15: Invalid value for execution.retry.max_retries: -1 (expected an integer from 0 to "
         "1000)\nf:3:22: Invalid value for execution.retry.backoff_multiplier: 0.5 (expected a "
         "number from 1 to 1000)"},
        {"[compaction]\nmax_context_tokens = 100000\ncompact_at_pct = 85\n",
         "f:3:18: Invalid value for compaction.compact_at_pct: 85 (expected a number from 0.01 to "
         "1)"},
        {"[provider]\ncontext_window = inf\n", "f:2:18: Invalid value for provider.context_window: "
                                               "inf (expected an integer from 1 to 4294967295)"},
        {"[tools]\nbatch_size = 0\ntool_strategy = \"batched\"\n",
         "f:2:14: Invalid value for tools.batch_size: 0 (expected an integer from 1 to 65536)"}};
    config_cases(PHI_CONFIG_TOML, cases, PHI__COUNT(cases));
}

TEST(a_choice_lists_what_may_be_chosen) {
    static const config_case cases[] = {
        {"[agent.profile]\nthinking_level = \"extreme\"\n",
         "f:2:18: Invalid value for agent.profile.thinking_level: \"extreme\" (expected one of "
         "off, minimal, low, medium, high, xhigh, max)"},
        {"[agent.profile]\nthinking_level = \"hihg\"\n",
         "f:2:18: Invalid value for agent.profile.thinking_level: \"hihg\" (expected one of off, "
         "minimal, low, medium, high, xhigh, max); did you mean \"high\"?"},
        {"[provider]\nmodel = \"x\"\napi = \"opnai\"\n",
         "f:3:7: Invalid value for provider.api: \"opnai\" (expected one of anthropic_messages, "
         "openai_completions, openai_responses, azure_openai_responses, google_generative_ai, "
         "google_vertex, google_interactions, bedrock_converse_stream); did you mean "
         "\"openai_completions\"?"},
        {"[tools]\ntool_strategy = \"serial\"\n",
         "f:2:17: Invalid value for tools.tool_strategy: \"serial\" (expected one of sequential, "
         "parallel, batched)"},
        {"[session]\nscope = \"persistant\"\n",
         "f:2:9: Invalid value for session.scope: \"persistant\" (expected one of ephemeral, "
         "persistent); did you mean \"persistent\"?"},
        {"[execution.cache]\nstrategy = \"always\"\n",
         "f:2:12: warning: Invalid value for execution.cache.strategy: \"always\" (expected one of "
         "auto, disabled, manual); \"auto\" is used"},
        {"[provider]\npreset = \"grok\"\n",
         "f:2:10: Invalid value for provider.preset: \"grok\" (expected one of anthropic, openai, "
         "openai_responses, azure, openrouter, xai, groq, cerebras, mistral, deepseek, together, "
         "qwen, moonshot, zai, google, vertex, interactions, bedrock, fireworks, minimax, ollama, "
         "llama_cpp, vllm, lm_studio, litellm, local); did you mean \"groq\"?"},
        {"[failover]\nmodels = [\"default\"]\non = [\"netwrok\", \"quota\"]\n",
         "f:3:7: Invalid value for failover.on[0]: \"netwrok\" (expected one of network, server, "
         "rate_limited, quota, auth, no_model, overflow, content_filter, invalid_request); did you "
         "mean "
         "\"network\"?"},
        {"[[strategy.instances]]\nid = \"s\"\ntype = \"tree\"\n",
         "f:3:8: Invalid value for strategy.instances[0].type: \"tree\" (expected one of cot, cod, "
         "aot, tot, got, trm, adaptive)"},
        {"[agent.profile]\nthinking_level = 3\n",
         "f:2:18: Invalid value for agent.profile.thinking_level: 3 (expected one of off, minimal, "
         "low, medium, high, xhigh, max)"}};
    config_cases(PHI_CONFIG_TOML, cases, PHI__COUNT(cases));
}

TEST(an_unknown_field_is_a_warning_with_the_nearest_name) {
    static const config_case cases[] = {
        {"max_turns = 5\n",
         "f:1:1: warning: Unknown field \"max_turns\": it belongs to [execution]"},
        {"[agent]\nthinking_level = \"high\"\n", "f:2:1: warning: Unknown field \"thinking_level\" "
                                                 "in agent: it belongs to [agent.profile]"},
        {"[agent]\nmax_turns = 5\n",
         "f:2:1: warning: Unknown field \"max_turns\" in agent: it belongs to [execution]"},
        {"[agent.profile]\ntemprature = 1\n", "f:2:1: warning: Unknown field \"temprature\" in "
                                              "agent.profile; did you mean \"temperature\"?"},
        {"[agent]\ntemprature = 1\n", "f:2:1: warning: Unknown field \"temprature\" in agent; did "
                                      "you mean \"temperature\" of [agent.profile]?"},
        {"[provider]\napiKey = \"x\"\n",
         "f:2:1: warning: Unknown field \"apiKey\" in provider; did you mean \"api_key\"?"},
        {"[provider]\nkey = \"x\"\n",
         "f:2:1: warning: Unknown field \"key\" in provider; did you mean \"api_key\"?"},
        {"[provider]\nbase-url = \"http://x\"\n",
         "f:2:1: warning: Unknown field \"base-url\" in provider; did you mean \"base_url\"?"},
        {"[agnet]\nsystem_prompt = \"x\"\n",
         "f:1:2: warning: Unknown field \"agnet\"; did you mean \"agent\"?"},
        {"[cost]\ninput_per_million = 1\n",
         "f:1:2: warning: Unknown field \"cost\": it belongs to [provider.cost]"},
        {"[execution]\nmax_retries = 1\n", "f:2:1: warning: Unknown field \"max_retries\" in "
                                           "execution: it belongs to [execution.retry]"},
        {"[session]\ncolour = \"red\"\n", "f:2:1: warning: Unknown field \"colour\" in session; "
                                          "known are scope, directory, thread, sync"},
        {"[[provider.instances]]\nid = \"a\"\nmodel_name = \"x\"\n",
         "f:3:1: warning: Unknown field \"model_name\" in provider.instances[0]; did you mean "
         "\"model\"?"},
        {"[agent]\n\"evil\\u001b[31m\" = 1\n",
         "f:2:1: warning: Unknown field \"evil?[31m\" in agent"}};
    config_cases(PHI_CONFIG_TOML, cases, PHI__COUNT(cases));
}

TEST(a_game_table_and_x_names_are_the_hosts_own) {
    static const config_case cases[] = {
        {"x_build = 7\n[game]\nvillage = \"Oakham\"\n[[game.npcs]]\nid = \"ada\"\nx = [1, 2]\n",
         ""},
        {"[agent]\nx_mood = \"grim\"\n[agent.x_face]\nfile = \"ada.png\"\n[agent.profile]\nx_1 = "
         "1\n",
         ""},
        {"[execution]\nx_ = 1\n[tools]\nx_speed = {walk = 2}\n", ""},
        {"[agent]\ngame = 1\nX_mood = 1\n",
         "f:2:1: warning: Unknown field \"game\" in agent; did you mean \"name\" of "
         "[agent.profile]?\n"
         "f:3:1: warning: Unknown field \"X_mood\" in agent"}};
    config_cases(PHI_CONFIG_TOML, cases, PHI__COUNT(cases));
}

TEST(what_is_given_twice_or_missing_is_an_error) {
    static const config_case cases[] = {
        {"[provider]\nurl = \"http://a\"\nbase_url = \"http://b\"\n",
         "f:3:1: provider.base_url is given twice: base_url and url mean the same; keep one of the "
         "two"},
        {"[[agent.profile.instances]]\ntemperature = 1\n",
         "f:1:1: agent.profile.instances[0] has no id: add id = \"{{name}}\""},
        {"[[sub_agents.instances]]\ndescription = \"x\"\n",
         "f:1:1: sub_agents.instances[0] has no name: add name = \"...\""},
        {"[[strategy.instances]]\nid = \"a\"\n",
         "f:1:1: strategy.instances[0] has no type: add type = \"cot\""},
        {"[failover]\nmax_switches = 2\n",
         "f:1:2: failover has no models: add models = [\"{{provider.name}}\"], with ids of "
         "[[provider.instances]]"},
        {"[[system_prompt.instances]]\nid = \"a\"\n",
         "f:1:1: system_prompt.instances[0] has no type: add type = \"agent\", or \"minimal\""},
        {"[[provider.instances]]\nid = \"{{a}}\"\n[[provider.instances]]\nid = "
         "\"{{%provider.a%}}\"\n",
         "f:4:6: There are two providers named \"a\": provider.instances[0] in line 1 has that "
         "name, too; give this one another"},
        {"[[agent.instances]]\nname = \"a\"\n[[agent.instances]]\nname = \"a\"\n",
         "f:4:8: There are two agents named \"a\": agent.instances[0] in line 1 has that name, "
         "too; give this one another"},
        {"[[provider.instances]]\nid = \"\"\n",
         "f:2:6: Invalid value for provider.instances[0].id: \"\" (expected a name)"},
        {"[[provider.instances]]\nid = \"{{}}\"\n",
         "f:2:6: Invalid value for provider.instances[0].id: \"{{}}\" (expected a name, as "
         "\"{{name}}\")"}};
    config_cases(PHI_CONFIG_TOML, cases, PHI__COUNT(cases));
}

TEST(references_say_what_they_do_not_find) {
    static const config_case cases[] = {
        {"[agent]\nprovider = \"fast\"\n",
         "f:2:12: agent.provider: \"fast\" names no provider; there is none: write "
         "[[provider.instances]] with the id \"fast\" and its model"},
        {"[[provider.instances]]\nid = \"{{openai}}\"\n[agent]\nprovider = "
         "\"{{provider.opnai}}\"\n",
         "f:4:12: agent.provider: \"{{provider.opnai}}\" names no provider; did you mean "
         "\"{{provider.openai}}\"?"},
        {"[[provider.instances]]\nid = \"{{openai}}\"\n[agent]\nprovider = \"{{zebra}}\"\n",
         "f:4:12: agent.provider: \"{{zebra}}\" names no provider; there are openai"},
        {"[[provider.instances]]\nid = \"x\"\n[[agent.profile.instances]]\nid = "
         "\"x\"\n[agent]\nprovider = \"{{x}}\"\n",
         "f:6:12: agent.provider: \"{{x}}\" is ambiguous: agent_profile and provider both have "
         "that name; write \"{{provider.x}}\""},
        {"[[agent.profile.instances]]\nid = \"x\"\n[agent]\nprovider = \"{{x}}\"\n",
         "f:4:12: agent.provider: \"{{x}}\" means one of agent_profile, but this field wants one "
         "of provider; there is none: write [[provider.instances]] with the id \"x\" and its "
         "model"},
        {"[[agent.profile.instances]]\nid = \"x\"\n[agent]\nprovider = \"{{agent_profile.x}}\"\n",
         "f:4:12: agent.provider: \"{{agent_profile.x}}\" means one of agent_profile, but this "
         "field wants one of provider; there is none: write [[provider.instances]] with the id "
         "\"x\" and its model"},
        {"[agent]\nprovider = \"{{providers.x}}\"\n",
         "f:2:12: agent.provider: \"{{providers.x}}\" has an unknown namespace \"providers\"; "
         "write \"{{provider.x}}\""},
        {"[agent]\nprovider = \"{{#abc#}}\"\n",
         "f:2:12: agent.provider: \"{{#abc#}}\" names no provider; there is none: write "
         "[[provider.instances]] with the id \"abc\" and its model"},
        {"[agent]\nprovider = \"{{x}\"\n", "f:2:12: agent.provider: \"{{x}\" names no provider; a "
                                           "reference is written \"{{provider.name}}\""},
        {"[agent]\nprovider = \":fast\"\n",
         "f:2:12: agent.provider: \":fast\" is not an alias of [models]: write it in [models], as "
         "fast = \"{{provider.name}}\""},
        {"[models]\nfast = \"default\"\n[agent]\nprovider = \":fats\"\n",
         "f:4:12: agent.provider: \":fats\" is not an alias of [models]; did you mean \":fast\"?"},
        {"[models]\na = \":b\"\nb = \":a\"\n",
         "f:2:5: models.a: \":b\" is an alias of [models] that leads back to itself; write the id "
         "of a provider, or \"default\" for [provider]\nf:3:5: "
         "models.b: \":a\" is an alias of [models] that leads back to itself; write the id of a "
         "provider, or \"default\" for [provider]"},
        {"[agent]\nsystem_prompt = \"{{system_prompt.coder}}\"\n",
         "f:2:17: agent.system_prompt: \"{{system_prompt.coder}}\" names no system_prompt; there "
         "is none: write [[system_prompt.instances]] with the id \"coder\", the type \"agent\" and "
         "its blocks, as identity = \"...\""},
        {"[agent]\nstrategy = \"tott\"\n",
         "f:2:12: agent.strategy: \"tott\" names no strategy; did you mean \"tot\"?"},
        {"[agent]\nmcp = [\"files\"]\n", "f:2:8: agent.mcp[0]: \"mcp\" needs phi_tools.h: set "
                                         "phi_config_desc.sections to phi_config_sections()"},
        {"[agent]\nsub_agents = [\"writer\"]\n[[sub_agents.instances]]\nname = \"a\"\nsub_agents = "
         "[\"b\"]\n[[sub_agents.instances]]\nname = \"b\"\nsub_agents = [\"a\"]\n",
         "f:2:15: agent.sub_agents[0]: \"writer\" names no sub_agent; there are a, b\nf:8:15: "
         "sub_agents.instances[1] leads back to itself: a -> b -> a; remove one of these "
         "references"},
        {"[[sub_agents.instances]]\nname = \"a\"\nsub_agents = [\"a\"]\n",
         "f:3:15: sub_agents.instances[0] leads back to itself: a -> a; remove one of these "
         "references"}};
    config_cases(PHI_CONFIG_TOML, cases, PHI__COUNT(cases));
}

TEST(common_mistakes_have_words_of_their_own) {
    static const config_case cases[] = {
        {"[provider]\nmodel = \"gpt-4o\"\napi_key = \"x\"\n",
         "f:2:9: provider.model \"gpt-4o\" needs api = \"openai\": without api the protocol is "
         "anthropic_messages, by which there is no such model"},
        {"[provider]\nmodel = \"gemini-2.5-flash\"\nbase_url = \"http://localhost:1\"\n",
         "f:2:9: warning: provider.model \"gemini-2.5-flash\" needs api = \"google\": without api "
         "the protocol is anthropic_messages, by which there is no such model"},
        {"[execution]\nmax_cost = 5.0\n",
         "f:2:1: warning: execution.max_cost has no effect: no provider has cost rates; add "
         "[provider.cost] with input_per_million and output_per_million"},
        {"[execution.budget]\nmax_cost = 5.0\n",
         "f:2:1: warning: execution.budget.max_cost has no effect: no provider has cost rates; add "
         "[provider.cost] with input_per_million and output_per_million"},
        {"[compaction]\nkeep_recent_turns = 4\n",
         "f:2:1: warning: compaction.keep_recent_turns has no effect: compaction is off until "
         "max_context_tokens is set"},
        {"[compaction]\nfocus_message = \"x\"\n[[compaction.instances]]\nid = "
         "\"a\"\nmax_context_tokens = 5000\n[[compaction.instances]]\nid = \"b\"\nkeep_first_turns "
         "= 1\n",
         "f:8:1: warning: compaction.instances[1].keep_first_turns has no effect: compaction is "
         "off until max_context_tokens is set"},
        {"[compaction]\nmax_context_tokens = 5000\n[context.compaction]\nmax_context_tokens = "
         "5000\n",
         "f:3:10: context.compaction and [compaction] mean the same; keep one of the two"},
        {"[tools]\nbatch_size = 3\n",
         "f:2:1: warning: tools.batch_size has no effect: add tool_strategy = \"batched\""},
        {"[session]\ndirectory = \"x\"\n",
         "f:2:1: warning: session.directory has no effect: add scope = \"persistent\""},
        {"[execution.cache]\nsystem = true\n",
         "f:2:1: warning: execution.cache.system has no effect: add strategy = \"manual\""},
        {"[provider]\nmodel = \"x\"\npreset = \"azure\"\n",
         "f:3:10: provider has no base_url: preset \"azure\" has no address of its own; add "
         "base_url = \"https://RESOURCE.openai.azure.com/openai/v1\""},
        {"[provider]\nmodel = \"x\"\napi = \"vertex\"\n",
         "f:3:7: provider has no base_url: api \"vertex\" has no address of its own; add base_url "
         "= \"https://REGION-aiplatform.googleapis.com/v1/projects/PROJECT/locations/REGION\""},
        {"[mcp]\nx = 1\n",
         "f:1:2: [mcp] needs phi_tools.h: set phi_config_desc.sections to phi_config_sections()"},
        {"[[strategy.instances]]\nid = \"s\"\ntype = \"tot\"\n[strategy.instances.got]\nvotes = "
         "2\n",
         "f:4:21: warning: strategy.instances[0].got has no effect: the type of this strategy is "
         "\"tot\""},
        {"[agent.format]\ntype = \"json_schema\"\n",
         "f:2:1: agent.format has no schema: type = \"json_schema\" needs one, as schema = "
         "\"file:answer.json\""},
        {"[[system_prompt.instances]]\nid = \"p\"\ntype = \"minimal\"\nidentiy = \"x\"\n",
         "f:4:1: warning: system_prompt.instances[0] has the block \"identiy\", which its template "
         "does not have; did you mean \"identity\"?"},
        {"[[system_prompt_strategy.instances]]\nid = "
         "\"t\"\n[[system_prompt_strategy.instances.blocks]]\nname = "
         "\"one\"\n[[system_prompt.instances]]\nid = \"p\"\ntype = \"{{t}}\"\ntwo = \"x\"\none = "
         "5\n",
         "f:8:1: warning: system_prompt.instances[0] has the block \"two\", which its template "
         "does not have; it has one\nf:9:7: Invalid value for system_prompt.instances[0].one: 5 "
         "(expected a text): write it in quotes"}};
    config_cases(PHI_CONFIG_TOML, cases, PHI__COUNT(cases));
}

TEST(variables_that_are_missing_are_all_named) {
    static const config_case cases[] = {
        {"[provider]\napi_key = \"${NOT_THERE}\"\nmodel = \"${ALSO}-${NOT_THERE}\"\n",
         "f:2:11: Missing environment variable: ${NOT_THERE}: set it, or write ${NOT_THERE:-text} "
         "with a text to use instead\nf:3:9: Missing environment variable: ${ALSO}: set it, or "
         "write ${ALSO:-text} with a text to use instead\nf:3:9: Missing environment variable: "
         "${NOT_THERE}: set it, or write ${NOT_THERE:-text} with a text to use instead"},
        {"[[provider.instances]]\nid = \"a\"\n[provider.instances.headers]\nAuthorization = "
         "\"Bearer ${TOKEN}\"\n",
         "f:4:17: Missing environment variable: ${TOKEN}: set it, or write ${TOKEN:-text} with a "
         "text to use instead"},
        {"[execution]\nmax_turns = \"${KEY}\"\n",
         "f:2:13: Invalid value for execution.max_turns: \"${KEY}\" (expected an integer from 1 to "
         "4294967295, or \"unlimited\")"},
        {"[provider]\napi = \"${KEY}\"\n",
         "f:2:7: Invalid value for provider.api: \"${KEY}\" (expected one of anthropic_messages, "
         "openai_completions, openai_responses, azure_openai_responses, google_generative_ai, "
         "google_vertex, google_interactions, bedrock_converse_stream)"},
        {"[agent]\nsystem_prompt = \"${a.b} and ${1X}\"\n",
         "f:2:17: warning: \"${\" is kept as it is, since the name of a variable has letters, "
         "digits and _ alone; write $${ where you mean the two characters"}};
    config_cases(PHI_CONFIG_TOML, cases, PHI__COUNT(cases));
}

TEST(syntax_errors_have_their_place) {
    static const config_case cases[] = {
        {"[provider\nmodel = \"x\"\n",
         "f:1:10: Config parse error: expected '.' or ']', found the end of the line"},
        {"[provider]\nmodel = \n",
         "f:2:9: Config parse error: expected a value, found the end of the line"},
        {"[provider]\nmodel = \"a\"\nmodel = \"b\"\n",
         "f:3:1: Config parse error: the key \"model\" is in this table already: "
         "keep one of the two"}};
    config_cases(PHI_CONFIG_TOML, cases, PHI__COUNT(cases));
}

TEST(yaml_has_places_and_words_of_its_own) {
    static const config_case cases[] = {
        {"provider:\n  model: gpt-4o\n  max_tokens: \"5\"\n",
         "f:2:10: provider.model \"gpt-4o\" needs api = \"openai\": without api the protocol is "
         "anthropic_messages, by which there is no such model\nf:3:15: Invalid value for "
         "provider.max_tokens: \"5\" (expected an integer from 1 to 4294967295): write the number "
         "without quotes"},
        {"agent:\n  instances:\n    name: a\n",
         "f:3:5: Invalid value for agent.instances: a table (expected an array of tables): put the "
         "table into an array"},
        {"agent:\n  instances:\n    - a\n",
         "f:3:7: Invalid value for agent.instances[0]: \"a\" (expected a table of fields)"},
        {"sub_agents:\n  instances:\n    - description: x\n",
         "f:3:7: sub_agents.instances[0] has no name: add name: \"...\""},
        {"- a\n", "f:1:1: Config parse error: expected a table of sections, found an array"},
        {"provider:\n	model: x\n",
         "f:2:2: Config parse error: a tab before this: block collections are indented by spaces"},
        {"provider: *x\n",
         "f:1:11: Config parse error: an alias to an anchor that is not defined before it"}};
    config_cases(PHI_CONFIG_YAML, cases, PHI__COUNT(cases));
}

TEST(json_has_places_and_words_of_its_own) {
    static const config_case cases[] = {
        {"{\"provider\": {\"model\": \"x\", \"model\": \"y\"}}",
         "f:1:29: provider.model is given twice: keep one of the two"},
        {"{\"models\": {\"a\": \"default\", \"b\": \"default\", \"a\": \"default\"}}",
         "f:1:45: models.a is given twice: keep one of the two"},
        {"{\"//\": 1, \"//\": 2, \"provider\": {\"headers\": {\"A\\u0000B\": \"x\"}}}",
         "f:1:2: warning: Unknown field \"//\"; known are $schema, default_workspace, agent, "
         "provider, models, failover, session, tools, compaction, context, execution, sub_agents, "
         "strategy, system_prompt_strategy, system_prompt\n"
         "f:1:11: warning: Unknown field \"//\"; known are $schema, default_workspace, agent, "
         "provider, models, failover, session, tools, compaction, context, execution, sub_agents, "
         "strategy, system_prompt_strategy, system_prompt\n"
         "f:1:45: provider.headers.A: expected a name without the character U+0000"},
        {"{\"agent\": {\"format\": {\"type\": \"json_schema\", \"schema\": \"a\\u0000b\"}}}",
         "f:1:56: Invalid value for agent.format.schema: \"a?b\" (expected a text without the "
         "character U+0000)"},
        {"{\"agent\": {\"provider\": \"${NOT_THERE}\"}, \"execution\": {\"max_turns\": "
         "\"${NOT_THERE}\"}}",
         "f:1:24: Missing environment variable: ${NOT_THERE}: set it, or write ${NOT_THERE:-text} "
         "with a text to use instead\n"
         "f:1:68: Missing environment variable: ${NOT_THERE}: set it, or write ${NOT_THERE:-text} "
         "with a text to use instead"},
        {"{\"agent\": {\"instances\": {\"name\": \"a\"}}}",
         "f:1:25: Invalid value for agent.instances: a table (expected an array of tables): put "
         "the table into an array"},
        {"{\"sub_agents\": {\"instances\": [{\"description\": \"x\"}]}}",
         "f:1:31: sub_agents.instances[0] has no name: add \"name\": \"...\""},
        {"[1]", "f:1:1: Config parse error: expected a table of sections, found an array"},
        {"{\"a\": 1e400}", "f:1:7: Config parse error: the number is too large for a double"},
        {"{\"agent\": {\"system_prompt\": \"a\\u0000b\"}}",
         "f:1:29: Invalid value for agent.system_prompt: \"a?b\" (expected a text without the "
         "character U+0000)"},
        {"{\"provider\": {\"model\": \"x\",}}",
         "f:1:28: Config parse error: expected a key in quotes, found '}'"},
        {"\"x\"", "f:1:1: Config parse error: expected a table of sections, found a string"},
        {"", "f:1:1: Config parse error: expected a value, found the end of the text"}};
    config_cases(PHI_CONFIG_JSON, cases, PHI__COUNT(cases));
}

TEST_MAIN(TEST_ENTRY(a_value_of_the_wrong_type_is_named_with_what_is_expected),
          TEST_ENTRY(a_number_out_of_bounds_is_named_with_its_bounds),
          TEST_ENTRY(a_choice_lists_what_may_be_chosen),
          TEST_ENTRY(an_unknown_field_is_a_warning_with_the_nearest_name),
          TEST_ENTRY(a_game_table_and_x_names_are_the_hosts_own),
          TEST_ENTRY(what_is_given_twice_or_missing_is_an_error),
          TEST_ENTRY(references_say_what_they_do_not_find),
          TEST_ENTRY(common_mistakes_have_words_of_their_own),
          TEST_ENTRY(variables_that_are_missing_are_all_named),
          TEST_ENTRY(syntax_errors_have_their_place),
          TEST_ENTRY(yaml_has_places_and_words_of_its_own),
          TEST_ENTRY(json_has_places_and_words_of_its_own))
