/* test_config_write.c - an agent as a configuration: it reads back into an equal agent. */
#include "support/problems.h"
#include "support/made.h"
#include "log/policy.h"

static phi_memory memory;
static phi_arena arena;

static void begin(void) {
    phi_allocator allocator = test_allocator();
    phi_memory_init(&memory, &allocator, 0);
    phi_arena_init(&arena, &memory, 0);
}

static const char text[] =
    "[agent]\nsystem_prompt = \"You mend clocks.\\nAnd \\\"bells\\\".\"\nworkspace = \"/tmp/w\"\n"
    "keep = \"none\"\nsteering_mode = \"all\"\nrepeat_warn_after = \"unlimited\"\nqueue_limit = 3\n"
    "capture_requests = true\n[agent.policy]\nmax_input_tokens = 5000\nkeep_last_turns = 0\n"
    "include = [\"messages\"]\n[agent.effects]\nmode = \"allow_list\"\nallow = [\"merge\"]\n"
    "[agent.format]\ntype = \"json_schema\"\nname = \"f\"\n"
    "schema = '{\"type\":\"object\"}'\n"
    "[agent.options]\ntop_p = 0.5\ntop_k = 3\nstop = [\"END\", \"$${X}\"]\nseed = 0\n"
    "service_tier = \"flex\"\nserial_calls = true\n"
    "[agent.extra]\nmin_p = 0.1\nlogit_bias = { \"1\" = 2 }\n"
    "[[agent.raw_tools]]\nprotocol = \"anthropic\"\njson = '{\"type\": \"x\", \"n\": null}'\n"
    "[[agent.raw_tools]]\nprotocol = \"openai_responses\"\njson = { type = \"web_search\" }\n"
    "[agent.profile]\nname = \"n\"\nthinking_level = \"xhigh\"\ntemperature = 0.0\n"
    "max_tokens = 77\nconfig_id = \"c\"\n"
    "[provider]\nmodel = \"m\"\napi_key = \"${MADE_KEY}\"\napi = \"openai\"\n"
    "base_url = \"http://localhost:9/v1\"\nprovider = \"mine\"\nname = \"N\"\nreasoning = true\n"
    "context_window = 5555\nmax_tokens = 66\napi_version = \"2026-10-21\"\n"
    "extra = '{\"verbosity\":\"low\",\"a\":null}'\n"
    "[provider.cost]\noutput_per_million = 2.5\n[provider.headers]\n\"x-team\" = \"secret-team\"\n"
    "[provider.compat]\nquirks = [\"reasoning_effort\"]\nwithout = [\"format_alone\"]\n"
    "[tools]\nenabled = [\"echo\"]\ntool_strategy = \"batched\"\nbatch_size = 2\n"
    "timeout_secs = 4\nchoice = \"required\"\n"
    "[compaction]\nmax_context_tokens = 5000\nkeep_first_turns = 0\nfocus_message = \"F\"\n"
    "[execution]\nmax_turns = \"unlimited\"\nmax_duration_secs = 2.5\nmax_cost = 1.5\n"
    "[execution.retry]\nmax_retries = 0\n[execution.cache]\nstrategy = \"manual\"\nsystem = true\n"
    "one_hour = true\n"
    "[execution.budget]\nmax_tokens = 9\n[execution.deadlines]\ntotal_secs = 60\n";

static void check_equal(const phi_agent_desc *a, const phi_agent_desc *b) {
    CHECK_EQ_STR(a->system_prompt, b->system_prompt);
    CHECK_EQ_STR(a->workspace, b->workspace);
    CHECK_EQ_STR(a->model.protocol, b->model.protocol);
    CHECK_EQ_STR(a->model.id, b->model.id);
    CHECK_EQ_STR(a->model.name, b->model.name);
    CHECK_EQ_STR(a->model.provider, b->model.provider);
    CHECK_EQ_STR(a->model.base_url, b->model.base_url);
    CHECK_EQ_INT(a->model.quirks, b->model.quirks);
    CHECK_EQ_INT(a->model.context_window, b->model.context_window);
    CHECK_EQ_INT(a->model.max_tokens, b->model.max_tokens);
    CHECK_EQ_INT(a->model.reasoning, b->model.reasoning);
    CHECK_EQ_INT(a->model.header_count, b->model.header_count);
    CHECK_EQ_STR(a->model.api_version, "2026-10-21");
    CHECK_EQ_STR(b->model.api_version, "2026-10-21");
    CHECK(memcmp(&a->model.cost, &b->model.cost, sizeof a->model.cost) == 0);
    CHECK_EQ_INT(a->keep, b->keep);
    CHECK_EQ_INT(a->input.steering_mode, b->input.steering_mode);
    CHECK_EQ_INT(a->tool_options.repeat_warn_after, b->tool_options.repeat_warn_after);
    CHECK_EQ_INT(a->tool_options.repeat_stop_after, b->tool_options.repeat_stop_after);
    CHECK_EQ_INT(a->input.queue_limit, b->input.queue_limit);
    CHECK_EQ_INT(a->options.capture_requests, b->options.capture_requests);
    CHECK_EQ_INT(a->thinking, b->thinking);
    CHECK_EQ_INT(a->options.has_temperature, b->options.has_temperature);
    CHECK_EQ_INT(a->max_tokens, b->max_tokens);
    CHECK_EQ_STR(a->ids.config_id, b->ids.config_id);
    CHECK_EQ_INT(a->tool_options.mode, b->tool_options.mode);
    CHECK_EQ_INT(a->tool_options.batch, b->tool_options.batch);
    CHECK_EQ_INT(a->tool_options.timeout_ms, b->tool_options.timeout_ms);
    CHECK_EQ_INT(a->tool_options.choice, b->tool_options.choice);
    CHECK_EQ_INT(a->tool_count, b->tool_count);
    CHECK_EQ_INT(a->compaction.disable, b->compaction.disable);
    CHECK_EQ_INT(a->compaction.max_context_tokens, b->compaction.max_context_tokens);
    CHECK_EQ_INT(a->compaction.keep_no_first, b->compaction.keep_no_first);
    CHECK_EQ_INT(a->compaction.keep_recent_turns, b->compaction.keep_recent_turns);
    CHECK_EQ_INT(a->limits.max_turns, b->limits.max_turns);
    CHECK_EQ_INT(a->limits.max_tokens, b->limits.max_tokens);
    CHECK_EQ_INT(a->limits.max_duration_ms, b->limits.max_duration_ms);
    CHECK(a->limits.max_cost >= b->limits.max_cost && a->limits.max_cost <= b->limits.max_cost);
    CHECK_EQ_INT(a->retry.disable, b->retry.disable);
    CHECK_EQ_INT(a->cache.mode, b->cache.mode);
    CHECK_EQ_INT(a->cache.system, b->cache.system);
    CHECK(a->cache.one_hour && b->cache.one_hour);
    CHECK_EQ_INT(a->budget.max_tokens, b->budget.max_tokens);
    CHECK_EQ_INT(a->deadlines.total_ms, b->deadlines.total_ms);
    CHECK_EQ_INT(a->tool_options.effects.mode, b->tool_options.effects.mode);
    CHECK_EQ_INT(a->tool_options.effects.allow, b->tool_options.effects.allow);
    CHECK_EQ_INT(a->format.kind, b->format.kind);
    CHECK_EQ_STR(a->format.schema, b->format.schema);
    CHECK_EQ_STR(a->format.name, b->format.name);
    CHECK_EQ_INT(a->thinking, PHI_THINKING_XHIGH);
    CHECK_EQ_STR(b->model.extra, "{\"verbosity\":\"low\",\"a\":null}");
    CHECK_EQ_STR(b->options.extra, "{\"min_p\":0.1,\"logit_bias\":{\"1\":2}}");
    CHECK(b->options.top_p > 0.49 && b->options.top_p < 0.51);
    CHECK_EQ_INT(b->options.top_k, 3);
    CHECK(b->options.has_seed && b->options.seed == 0 && b->options.serial_calls);
    CHECK_EQ_STR(b->options.service_tier, "flex");
    if (CHECK_EQ_INT(b->options.stop_count, 2)) CHECK_EQ_STR(b->options.stop[1], "${X}");
    if (CHECK_EQ_INT(b->tool_options.raw_tool_count, 2)) {
        CHECK_EQ_STR(b->tool_options.raw_tools[0].protocol, "anthropic");
        CHECK_EQ_STR(b->tool_options.raw_tools[0].json, "{\"type\": \"x\", \"n\": null}");
        CHECK_EQ_STR(b->tool_options.raw_tools[1].json, "{\"type\":\"web_search\"}");
    }
    CHECK_EQ_INT(a->policy != NULL, b->policy != NULL);
    if (a->policy == NULL || b->policy == NULL) return;
    CHECK_EQ_INT(a->policy->max_input_tokens, b->policy->max_input_tokens);
    CHECK_EQ_INT(a->policy->keep_no_turns, b->policy->keep_no_turns);
    CHECK_EQ_INT(a->policy->include, b->policy->include);
}

static const char *write_variable(void *user_data, const char *name) {
    (void)user_data;
    return strcmp(name, "API_KEY") == 0 || strcmp(name, "X_TEAM") == 0 ? "given" : NULL;
}

static void check_round(const made *m, rig *r, phi_config_format format,
                        const phi_agents_desc *with) {
    phi_agent_desc a = made_desc(m, NULL);
    phi_config_desc desc = PHI_ZERO;
    phi_str out;
    made again;
    begin();
    CHECK_EQ_INT(phi_config_write(phi_agents_get(m->agents, NULL), format, &arena, &out), PHI_OK);
    CHECK(strstr(out.at, "secret") == NULL); /* neither the key nor the header */
    CHECK(strstr(out.at, "${API_KEY}") != NULL && strstr(out.at, "${X_TEAM}") != NULL);
    desc.allocator = test_allocator();
    desc.text = out;
    desc.format = format;
    desc.variable_fn = write_variable;
    memset(&again, 0, sizeof again);
    again.r = r;
    again.config = phi_config_load(&desc);
    again.agents = phi_agents_from_config(rig_runtime(r), again.config, with);
    while ((again.status = phi_agents_step(again.agents)) == PHI_BUSY) continue;
    if (CHECK_EQ_INT(again.status, PHI_OK)) {
        phi_agent_desc b = made_desc(&again, NULL);
        check_equal(&a, &b);
        CHECK_EQ_STR(b.model.api_key, "given");
    } else
        fprintf(stderr, "%s\n%s", made_problems(&again), out.at);
    CHECK_EQ_STR(made_problems(&again), "");
    made_free(&again);
    phi_arena_free(&arena);
}

TEST(what_is_written_reads_back_into_an_equal_agent_and_holds_no_secret) {
    rig *r = rig_new();
    phi_tool tool = rig_echo();
    phi_agents_desc with = PHI_ZERO;
    made m;
    with.tools = &tool;
    with.tool_count = 1;
    REQUIRE(made_load(&m, r, text, NULL, NULL, &with));
    CHECK_EQ_STR(made_problems(&m), "");
    REQUIRE(CHECK_EQ_INT(m.status, PHI_OK));
    check_round(&m, r, PHI_CONFIG_TOML, &with);
    check_round(&m, r, PHI_CONFIG_JSON, &with);
    check_round(&m, r, PHI_CONFIG_YAML, &with);
    made_free(&m);
    rig_free(r);
}

TEST(a_query_of_an_address_is_a_variable) {
    static const struct {
        const char *url, *want;
    } rows[] = {
        {"https://h.example/v1?token=hidden-4711", "https://h.example/v1?${API_QUERY}"},
        {"https://me:pass@h.example/v1?token=hidden-4711&b=c#hidden-part",
         "https://${API_LOGIN}@h.example/v1?${API_QUERY}"},
        {"https://h.example?hidden-4711", "https://h.example?${API_QUERY}"},
        {"https://h.example/a?", "https://h.example/a?"},
        {"https://me:pass@h.example/a?api-version=2026-01-01",
         "https://${API_LOGIN}@h.example/a?api-version=2026-01-01"},
        {"https://h.example/v1?x=a@hidden", "https://h.example/v1?${API_QUERY}"},
    };
    size_t i;
    for (i = 0; i < PHI__COUNT(rows); i++) {
        rig *r = rig_new();
        char file[400], line[200];
        phi_str out;
        made m;
        begin();
        (void)snprintf(file, sizeof file,
                       "[agent]\n[provider]\nmodel = \"claude-x\"\napi_key = \"k\"\n"
                       "base_url = \"%s\"\n",
                       rows[i].url);
        (void)snprintf(line, sizeof line, "base_url = \"%s\"\n", rows[i].want);
        REQUIRE(made_load(&m, r, file, NULL, NULL, NULL));
        REQUIRE(CHECK_EQ_INT(m.status, PHI_OK));
        REQUIRE(CHECK_EQ_INT(
            phi_config_write(phi_agents_get(m.agents, NULL), PHI_CONFIG_TOML, &arena, &out),
            PHI_OK));
        if (!CHECK(strstr(out.at, line) != NULL)) printf("%s\n", out.at);
        CHECK(strstr(out.at, "hidden") == NULL);
        made_free(&m);
        phi_arena_free(&arena);
        rig_free(r);
    }
}

TEST(texts_like_variables_read_back_as_they_are_and_logins_are_variables) {
    static const char odd[] = "[agent]\nsystem_prompt = \"$${MADE_KEY} $$${ $${\"\n"
                              "[provider]\nmodel = \"claude-$${X}\"\napi_key = \"k\"\n"
                              "base_url = \"https://me:${MADE_KEY}@h.example/a@b\"\n";
    rig *r = rig_new();
    phi_str out;
    made m, again;
    begin();
    REQUIRE(made_load(&m, r, odd, NULL, NULL, NULL));
    REQUIRE(CHECK_EQ_INT(m.status, PHI_OK));
    CHECK_EQ_STR(made_desc(&m, NULL).system_prompt, "${MADE_KEY} $${ ${");
    REQUIRE(CHECK_EQ_INT(
        phi_config_write(phi_agents_get(m.agents, NULL), PHI_CONFIG_TOML, &arena, &out), PHI_OK));
    CHECK(strstr(out.at, "secret") == NULL);
    CHECK(strstr(out.at, "base_url = \"https://${API_LOGIN}@h.example/a@b\"\n") != NULL);
    REQUIRE(made_load(&again, r, out.at, NULL, NULL, NULL));
    CHECK_EQ_INT(config_error_count(again.config), 2); /* API_KEY, API_LOGIN */
    CHECK_STR(phi_json_str(phi_json_path(phi_config_tree(again.config), "agent.system_prompt"), ""),
              "${MADE_KEY} $${ ${");
    CHECK_STR(phi_json_str(phi_json_path(phi_config_tree(again.config), "provider.model"), ""),
              "claude-${X}");
    made_free(&again);
    made_free(&m);
    phi_arena_free(&arena);
    rig_free(r);
}

/* What is switched off is written as 0, whatever number stands beside the switch. */
TEST(what_is_switched_off_is_written_as_0) {
    static const char *const paths[] = {
        "agent.policy.reserve_output_tokens", "agent.policy.keep_last_turns",
        "compaction.keep_first_turns", "execution.retry.max_retries"};
    for (int off = 0; off < 2; off++) {
        rig *r = rig_new();
        phi_agent_desc desc = rig_desc();
        phi_policy policy = PHI_ZERO;
        phi_json *tree = NULL;
        phi_agent agent;
        phi_str out;
        policy.reserve_output_tokens = 2222;
        policy.keep_last_turns = 5;
        policy.no_reserve = policy.keep_no_turns = off > 0;
        desc.policy = &policy;
        desc.compaction.max_context_tokens = 5000;
        desc.compaction.keep_first_turns = 5;
        desc.compaction.keep_no_first = off > 0;
        desc.retry.max_retries = 5;
        desc.retry.disable = off > 0;
        agent = rig_agent(r, &desc);
        begin();
        CHECK_EQ_INT(phi_config_write(agent, PHI_CONFIG_JSON, &arena, &out), PHI_OK);
        CHECK_EQ_INT(phi_json_parse(&arena, out, 0, &tree, NULL), PHI_OK);
        for (size_t i = 0; i < PHI__COUNT(paths); i++)
            CHECK_EQ_INT(phi_json_int(phi_json_path(tree, paths[i]), -1), off > 0  ? 0
                                                                          : i == 0 ? 2222
                                                                                   : 5);
        phi_arena_free(&arena);
        rig_free(r);
    }
}

TEST(writing_refuses_what_it_cannot_do_and_needs_its_memory) {
    rig *r = rig_new();
    phi_tool tool = rig_echo();
    phi_agents_desc with = PHI_ZERO;
    made m;
    phi_str out;
    phi_agent agent;
    bool tripped = true;
    int n = 0;
    with.tools = &tool;
    with.tool_count = 1;
    REQUIRE(made_load(&m, r, text, NULL, NULL, &with));
    agent = phi_agents_get(m.agents, NULL);
    begin();
    CHECK_EQ_INT(phi_config_write(agent, (phi_config_format)9, &arena, &out), PHI_UNSUPPORTED);
    CHECK_EQ_INT(phi_config_write(agent, PHI_CONFIG_TOML, NULL, &out), PHI_BAD_ARG);
    phi_arena_free(&arena);
    while (tripped && n < 500) {
        phi_status status;
        begin();
        test_alloc_fail_at(n++);
        status = phi_config_write(agent, PHI_CONFIG_TOML, &arena, &out);
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        CHECK_EQ_INT(status, tripped ? PHI_NO_MEMORY : PHI_OK);
        phi_arena_free(&arena);
    }
    CHECK(!tripped);
    phi_agent_free(agent);
    begin();
    CHECK_EQ_INT(phi_config_write(agent, PHI_CONFIG_TOML, &arena, &out), PHI_STALE);
    phi_arena_free(&arena);
    made_free(&m);
    rig_free(r);
}

TEST_MAIN(TEST_ENTRY(what_is_written_reads_back_into_an_equal_agent_and_holds_no_secret),
          TEST_ENTRY(a_query_of_an_address_is_a_variable),
          TEST_ENTRY(texts_like_variables_read_back_as_they_are_and_logins_are_variables),
          TEST_ENTRY(what_is_switched_off_is_written_as_0),
          TEST_ENTRY(writing_refuses_what_it_cannot_do_and_needs_its_memory))
