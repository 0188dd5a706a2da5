/* test_config_requirements.c - requirements of the specification on configuration that no other test
   is about. */
#include "support/problems.h"
#include "support/made.h"
#include "agent/agent_info.h"

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
    REQUIRE(CHECK_EQ_INT(agents_count(m.agents), 4));
    CHECK_EQ_STR(made_desc(&m, "a").system_prompt, "I");
    CHECK_EQ_STR(made_desc(&m, "b").system_prompt, "FROM A FILE");
    CHECK_EQ_STR(made_desc(&m, "c").system_prompt, "OF ALL");
    CHECK_EQ_STR(made_desc(&m, "d").system_prompt, "PLAIN");
    made_free(&m);
    rig_free(r);
}

/* The guide's table of protocols, with each alias; no case and no hyphen makes a difference. */
TEST(every_name_of_a_protocol_is_known_and_brings_its_address) {
    static const struct {
        const char *name, *protocol, *url;
    } names[] = {
        {"anthropic_messages", "anthropic_messages", "https://api.anthropic.com"},
        {"Anthropic", "anthropic_messages", "https://api.anthropic.com"},
        {"ANTHROPIC-Messages", "anthropic_messages", "https://api.anthropic.com"},
        {"openai_completions", "openai_completions", "https://api.openai.com/v1"},
        {"OpenAI", "openai_completions", "https://api.openai.com/v1"},
        {"openai-responses", "openai_responses", "https://api.openai.com/v1"},
        {"azure_openai_responses", "azure_openai_responses", NULL},
        {"Azure", "azure_openai_responses", NULL},
        {"google_generative_ai", "google_generative_ai",
         "https://generativelanguage.googleapis.com/v1beta"},
        {"google", "google_generative_ai", "https://generativelanguage.googleapis.com/v1beta"},
        {"GEMINI", "google_generative_ai", "https://generativelanguage.googleapis.com/v1beta"},
        {"google_interactions", "google_interactions",
         "https://generativelanguage.googleapis.com/v1beta"},
        {"google-vertex", "google_vertex", NULL},
        {"vertex", "google_vertex", NULL},
        {"bedrock_converse_stream", "bedrock_converse_stream", NULL},
        {"Bedrock", "bedrock_converse_stream", NULL},
    };
    size_t i;
    for (i = 0; i < PHI__COUNT(names); i++) {
        rig *r = rig_new();
        char text[300];
        phi_model model;
        made m;
        (void)snprintf(text, sizeof text,
                       "[provider]\nmodel = \"x-1\"\napi_key = \"k\"\napi = \"%s\"\n"
                       "url = \"%s\"\n",
                       names[i].name, names[i].url == NULL ? "https://example.org" : "");
        REQUIRE(made_load(&m, r, text, NULL, NULL, NULL));
        CHECK_EQ_STR(made_problems(&m), "");
        if (CHECK_EQ_INT(phi_agents_model(m.agents, "default", &model), PHI_OK)) {
            CHECK_EQ_STR(model.protocol, names[i].protocol);
            CHECK_EQ_STR(model.base_url,
                         names[i].url == NULL ? "https://example.org" : names[i].url);
            CHECK(model.name == NULL); /* its id */
        }
        made_free(&m);
        rig_free(r);
    }
}

/* "Local Model" is the preset's name for a server of one's own. */
TEST(a_model_of_another_server_is_named_by_its_id) {
    rig *r = rig_new();
    phi_model model;
    made m;
    REQUIRE(made_load(&m, r,
                      "[provider]\nmodel = \"x-1\"\napi = \"openai\"\n"
                      "url = \"http://localhost:1/v1\"\n[[provider.instances]]\nname = \"X\"\n"
                      "model = \"x-2\"\napi = \"openai\"\nurl = \"http://localhost:2/v1\"\n",
                      NULL, NULL, NULL));
    CHECK_EQ_STR(made_problems(&m), "");
    if (CHECK_EQ_INT(phi_agents_model(m.agents, "default", &model), PHI_OK)) {
        CHECK(model.name == NULL);
        CHECK_EQ_INT(model.context_window, 128000); /* the preset's */
        CHECK_EQ_INT(model.max_tokens, 4096);
    }
    if (CHECK_EQ_INT(phi_agents_model(m.agents, "X", &model), PHI_OK))
        CHECK_EQ_STR(model.name, "X");
    made_free(&m);
    rig_free(r);
}

TEST(a_batch_is_of_three_calls_and_an_unknown_cache_strategy_is_auto) {
    rig *r = rig_new();
    made m;
    REQUIRE(made_load(&m, r,
                      PROVIDER "[tools]\ntool_strategy = \"batched\"\n"
                               "[execution.cache]\nstrategy = \"clever\"\n",
                      "a.toml", NULL, NULL));
    CHECK_EQ_STR(made_problems(&m),
                 "a.toml:7:12: warning: Invalid value for execution.cache.strategy: \"clever\" "
                 "(expected one of auto, disabled, manual); \"auto\" is used\n");
    if (CHECK_EQ_INT(m.status, PHI_OK)) {
        phi_agent_desc d = made_desc(&m, NULL);
        CHECK_EQ_INT(d.tool_options.mode, PHI_TOOLS_BATCHED);
        CHECK_EQ_INT(d.tool_options.batch, 3);
        CHECK_EQ_INT(d.cache.mode, PHI_CACHE_AUTO);
    }
    made_free(&m);
    rig_free(r);
}

/* An instance's workspace, else that of [agent], else default_workspace, else the working
   directory. */
TEST(a_workspace_is_the_instances_then_the_agents_then_the_default) {
    static const char *const texts[] = {
        "default_workspace = \"/d\"\n" PROVIDER
        "[agent]\nworkspace = \"/w\"\n[[agent.instances]]\nname = \"a\"\nworkspace = \"/i\"\n",
        "default_workspace = \"/d\"\n" PROVIDER
        "[agent]\nworkspace = \"/w\"\n[[agent.instances]]\nname = \"a\"\n",
        "default_workspace = \"/d\"\n" PROVIDER "[[agent.instances]]\nname = \"a\"\n",
        PROVIDER "[[agent.instances]]\nname = \"a\"\n"};
    static const char *const places[] = {"/i", "/w", "/d", "."};
    size_t i;
    for (i = 0; i < PHI__COUNT(texts); i++) {
        rig *r = rig_new();
        made m;
        REQUIRE(made_load(&m, r, texts[i], NULL, NULL, NULL));
        CHECK_EQ_STR(made_problems(&m), "");
        if (CHECK_EQ_INT(m.status, PHI_OK)) CHECK_EQ_STR(made_desc(&m, "a").workspace, places[i]);
        made_free(&m);
        rig_free(r);
    }
}

static const char all_of_agent[] =
    PROVIDER "[tools]\nenabled = [\"echo\"]\ntool_strategy = \"sequential\"\ntimeout_secs = 9\n"
             "[agent]\nagent_id = \"ai\"\nsession_id = \"si\"\nresult_directory = \"/results\"\n"
             "keep = \"none\"\nsteering_mode = \"all\"\nfollow_up_mode = \"all\"\nqueue_limit = 7\n"
             "repeat_warn_after = 2\nrepeat_stop_after = 9\ndecision_timeout_secs = 1.5\n"
             "memory_limit_bytes = 1000000\nat_memory_limit = \"stop\"\nevent_queue_bytes = 2048\n"
             "max_event_bytes = 4096\nmax_response_bytes = 8192\nmax_result_bytes = 100\n"
             "max_result_image_bytes = 200\ncapture_requests = true\ntools = []\n"
             "[agent.format]\ntype = \"json_schema\"\nname = \"verdict\"\nstrict = true\n"
             "[agent.format.schema]\ntype = \"object\"\n"
             "[[agent.instances]]\nname = \"a\"\n"
             "[[agent.instances]]\nname = \"b\"\nqueue_limit = 8\ntools = [\"echo\"]\n";

/* An instance has the settings of [agent], and its own over them. */
TEST(every_setting_of_agent_reaches_each_instance) {
    rig *r = rig_new();
    phi_agents_desc with = PHI_ZERO;
    phi_tool tool = rig_echo();
    phi_agent_desc d;
    made m;
    with.tools = &tool;
    with.tool_count = 1;
    REQUIRE(made_load(&m, r, all_of_agent, NULL, NULL, &with));
    CHECK_EQ_STR(made_problems(&m), "");
    REQUIRE(CHECK_EQ_INT(m.status, PHI_OK));
    d = made_desc(&m, "a");
    CHECK_EQ_STR(d.ids.agent_id, "ai");
    CHECK_EQ_STR(d.ids.session_id, "si");
    CHECK_EQ_STR(d.tool_options.result_directory, "/results");
    CHECK_EQ_INT(d.keep, PHI_KEEP_NONE);
    CHECK_EQ_INT(d.input.steering_mode, PHI_QUEUE_ALL);
    CHECK_EQ_INT(d.input.follow_up_mode, PHI_QUEUE_ALL);
    CHECK_EQ_INT(d.input.queue_limit, 7);
    CHECK_EQ_INT(d.tool_options.repeat_warn_after, 2);
    CHECK_EQ_INT(d.tool_options.repeat_stop_after, 9);
    CHECK_EQ_INT(d.deadlines.decision_ms, 1500);
    CHECK_EQ_INT(d.memory.limit_bytes, 1000000);
    CHECK_EQ_INT(d.memory.at_limit, PHI_AT_MEMORY_LIMIT_STOP);
    CHECK_EQ_INT(d.memory.event_queue_bytes, 2048);
    CHECK_EQ_INT(d.memory.max_event_bytes, 4096);
    CHECK_EQ_INT(d.memory.max_response_bytes, 8192);
    CHECK_EQ_INT(d.tool_options.max_result_bytes, 100);
    CHECK_EQ_INT(d.tool_options.max_result_image_bytes, 200);
    CHECK(d.options.capture_requests);
    CHECK_EQ_INT(d.format.kind, PHI_FORMAT_JSON_SCHEMA);
    CHECK_EQ_STR(d.format.name, "verdict");
    CHECK_EQ_STR(d.format.schema, "{\"type\":\"object\"}");
    CHECK(d.format.strict);
    CHECK_EQ_INT(d.tool_options.mode, PHI_TOOLS_SEQUENTIAL);
    CHECK_EQ_INT(d.tool_options.timeout_ms, 9000);
    CHECK_EQ_INT(d.tool_count, 0); /* [agent] tools come before [tools] enabled */
    d = made_desc(&m, "b");
    CHECK_EQ_INT(d.input.queue_limit, 8);
    CHECK_EQ_INT(d.tool_count, 1);
    made_free(&m);
    rig_free(r);
}

static void check_threads(const char *agents, const char *a, const char *b) {
    char dir[512], name[600], text[900];
    rig *r = rig_new();
    made m;
    REQUIRE(test_temp_dir(dir, sizeof dir));
    (void)snprintf(name, sizeof name, "%s/agent.toml", dir);
    (void)snprintf(text, sizeof text,
                   PROVIDER "[session]\nscope = \"persistent\"\ndirectory = \"kept\"\n"
                            "thread = \"talk\"\n%s",
                   agents);
    REQUIRE(made_load(&m, r, text, name, NULL, NULL));
    CHECK_EQ_STR(made_problems(&m), "");
    REQUIRE(CHECK_EQ_INT(m.status, PHI_OK));
    CHECK_STR(phi_agent_get_info(agents_at(m.agents, 0)).thread_id, a);
    if (b != NULL) CHECK_STR(phi_agent_get_info(agents_at(m.agents, 1)).thread_id, b);
    made_free(&m);
    rig_free(r);
}

TEST(a_session_may_name_its_thread) {
    check_threads("", "talk", NULL);
    check_threads("[[agent.instances]]\nname = \"a\"\n[[agent.instances]]\nname = \"b\"\n",
                  "talk-a", "talk-b");
}

TEST_MAIN(TEST_ENTRY(compaction_has_one_of_two_tables),
          TEST_ENTRY(an_agents_own_prompt_may_be_a_reference_or_a_file),
          TEST_ENTRY(every_name_of_a_protocol_is_known_and_brings_its_address),
          TEST_ENTRY(a_model_of_another_server_is_named_by_its_id),
          TEST_ENTRY(a_batch_is_of_three_calls_and_an_unknown_cache_strategy_is_auto),
          TEST_ENTRY(a_workspace_is_the_instances_then_the_agents_then_the_default),
          TEST_ENTRY(every_setting_of_agent_reaches_each_instance),
          TEST_ENTRY(a_session_may_name_its_thread))
