/* test_config_guide.c - each part of the book's guide to configurations, in files of our own: it
   loads, makes its agents, and they run. */
#include "sections/sections.h"
#include "support/made.h"
#include "formats/yaml.h"

#define FULL "tests/config/fixtures/full.toml"
#define PLACE "tests/config/fixtures/agent.toml"
#define P "[provider]\nmodel = \"claude-sonnet-4-5\"\napi_key = \"${MADE_KEY}\"\n"

typedef struct snippet {
    const char *text;
    const char *agent;   /* that is prompted */
    const char *request; /* a text of its request */
} snippet;

static const snippet snippets[] = {
    {P, NULL, "\"claude-sonnet-4-5\""},
    {"{\"provider\": {\"model\": \"gpt-4.1\", \"api_key\": \"k\", \"api\": \"openai\"}}", NULL,
     "\"gpt-4.1\""},
    {"[agent]\nsystem_prompt = \"In ${MADE_STAGE:-trial} mode.\"\n" P, NULL, "In trial mode."},
    {"[agent]\nsystem_prompt = \"Costs $${X}, ${} and ${open\"\n" P, NULL,
     "Costs ${X}, ${} and ${open"},
    {"[agent.profile]\nname = \"smith\"\ndescription = \"d\"\nsystem_prompt = \"You forge.\"\n"
     "thinking_level = \"HIGH\"\ntemperature = 0.5\nmax_tokens = 2000\nconfig_id = \"s\"\n" P,
     NULL, "You forge."},
    {"[agent]\nworkspace = \"workspace\"\n[agent.profile]\nsystem_prompt = "
     "\"file:identity.md\"\n" P,
     NULL, "You mend clocks."},
    {"[[system_prompt_strategy.instances]]\nid = \"{{plan}}\"\n"
     "[[system_prompt_strategy.instances.blocks]]\nname = \"who\"\norder = 0\nmax_length = 200\n"
     "[[system_prompt_strategy.instances.blocks]]\nname = \"how\"\norder = 1\n"
     "[[system_prompt.instances]]\nid = \"{{mender}}\"\n"
     "type = \"{{system_prompt_strategy.plan}}\"\nhow = \"Slowly.\"\nwho = \"file:identity.md\"\n"
     "[agent]\nsystem_prompt = \"{{system_prompt.mender}}\"\nworkspace = \"workspace\"\n" P,
     NULL, "You mend clocks.\\n\\nSlowly."},
    {"[agent.profile]\nsystem_prompt = \"BASE\"\n[[agent.profile.instances]]\n"
     "id = \"{{%maker%}}\"\nsystem_prompt = \"MAKER\"\n[[agent.instances]]\nname = \"m\"\n"
     "agent_profile = \"{{agent_profile.maker}}\"\n[[agent.instances]]\nname = \"g\"\n" P,
     "g", "BASE"},
    {P "api = \"anthropic_messages\"\nprovider = \"anthropic\"\nname = \"S\"\nreasoning = true\n"
       "context_window = 100000\nmax_tokens = 4000\n[provider.cost]\ninput_per_million = 1.0\n"
       "[provider.headers]\n\"X-Team\" = \"Bearer ${MADE_KEY}\"\n",
     NULL, "4000"},
    {P "[[provider.instances]]\nid = \"{{%near%}}\"\nmodel = \"llama3\"\n"
       "api = \"openai_completions\"\nurl = \"http://localhost:11434/v1\"\nprovider = \"ollama\"\n"
       "[[agent.instances]]\nname = \"n\"\nprovider = \"{{near}}\"\n",
     "n", "\"llama3\""},
    {P "[session]\nscope = \"ephemeral\"\n", NULL, "hello"},
    {P "[tools]\nenabled = [\"bash\", \"file_read\", \"file_write\", \"search\"]\n"
       "tool_strategy = \"sequential\"\n",
     NULL, "\"write_file\""},
    {P "[tools]\nenabled = [\"bash\", \"prun\"]\n", NULL, "\"prun_with_memo\""},
    {P "[compaction]\nmax_context_tokens = 90000\nfocus_message = \"Keep names.\"\n"
       "[[compaction.instances]]\nid = \"{{%c%}}\"\nkeep_recent_turns = 3\n"
       "[agent.profile]\ncompaction = \"{{compaction.c}}\"\n",
     NULL, "hello"},
    {P "[provider.cost]\ninput_per_million = 2.0\noutput_per_million = 9.0\n[execution]\n"
       "max_turns = 9\nmax_total_tokens = 90000\nmax_duration_secs = 60\nmax_cost = 1.0\n"
       "[execution.retry]\nmax_retries = 1\ninitial_delay_ms = 5\nbackoff_multiplier = 2.0\n"
       "max_delay_ms = 50\n[execution.cache]\nenabled = true\nstrategy = \"disabled\"\n",
     NULL, "hello"},
    {P "[[sub_agents.instances]]\nname = \"scout\"\ndescription = \"Looks ahead\"\n"
       "system_prompt = \"Look.\"\nmodel = \"claude-haiku-4-5\"\nmax_turns = 4\n"
       "tools = [\"bash\", \"file_write\"]\n",
     NULL, "Looks ahead"},
    {P "[[provider.instances]]\nname = \"quick\"\nmodel = \"claude-haiku-4-5\"\napi_key = \"k\"\n"
       "[[agent.instances]]\nname = \"p\"\nsystem_prompt = \"Plan.\"\nprovider = \"quick\"\n"
       "[[agent.instances]]\nname = \"w\"\nsystem_prompt = \"Work.\"\n",
     "p", "\"claude-haiku-4-5\""},
    {"default_workspace = \"workspace\"\n[agent.profile]\nsystem_prompt = \"file:identity.md\"\n" P,
     NULL, "You mend clocks."},
};

TEST(each_part_of_the_guide_loads_and_runs) {
    size_t i;
    for (i = 0; i < sizeof snippets / sizeof snippets[0]; i++) {
        const snippet *s = &snippets[i];
        rig *r = rig_new();
        made m;
        REQUIRE(made_load(&m, r, s->text, PLACE, phi_config_sections(), NULL));
        if (!CHECK_EQ_INT(m.status, PHI_OK)) fprintf(stderr, "%s", made_problems(&m));
        rig_careless(r);
        rig_says(r, "fine");
        CHECK_EQ_INT(phi_prompt(phi_agents_get(m.agents, s->agent), "hello"), PHI_OK);
        (void)rig_run(r, 100);
        if (!CHECK(rig_request(r, 0) != NULL && strstr(rig_request(r, 0), s->request) != NULL))
            fprintf(stderr, "%s\n%s\n", s->text, rig_request(r, 0));
        made_free(&m);
        rig_free(r);
    }
}

/* Loads a tree in another format; the prompt and the tools of its agent, in `out`. */
static void describe(rig *r, phi_str text, phi_config_format format, char *out, size_t size) {
    phi_config_desc desc = PHI_ZERO;
    phi_agent_desc d = PHI_ZERO;
    made m;
    size_t n, i;
    memset(&m, 0, sizeof m);
    desc.allocator = test_allocator();
    desc.text = text;
    desc.path = FULL;
    desc.format = format;
    desc.variable_fn = made_variable;
    desc.sections = phi_config_sections();
    m.config = phi_config_load(&desc);
    m.agents = phi_agents_from_config(rig_runtime(r), m.config, NULL);
    while ((m.status = phi_agents_step(m.agents)) == PHI_BUSY) continue;
    CHECK_EQ_STR(made_problems(&m), "");
    CHECK_EQ_INT(phi_agent_get_desc(phi_agents_get(m.agents, NULL), &d), PHI_OK);
    n = (size_t)snprintf(out, size, "%s %s %u %u %d", d.model.id, d.workspace,
                         (unsigned)d.limits.max_turns, (unsigned)d.compaction.keep_recent_turns,
                         (int)d.thinking);
    for (i = 0; i < d.tool_count && n < size; i++)
        n += (size_t)snprintf(out + n, size - n, " %s", d.tools[i].name);
    made_free(&m);
}

TEST(the_whole_file_makes_the_same_agent_as_toml_json_and_yaml) {
    rig *r = rig_new();
    char *text = test_read_file(FULL, NULL);
    char toml[1024], other[1024];
    phi_allocator allocator = test_allocator();
    phi_memory memory;
    phi_arena arena;
    phi_config_desc desc = PHI_ZERO;
    phi_config *config;
    phi_str out;
    phi_memory_init(&memory, &allocator, 0);
    phi_arena_init(&arena, &memory, 0);
    describe(r, phi_str_of(text), PHI_CONFIG_TOML, toml, sizeof toml);
    CHECK(strstr(toml, "claude-sonnet-4-5 tests/config/fixtures/workspace 80 5 4 ") == toml);
    desc.allocator = allocator;
    desc.text = phi_str_of(text);
    desc.format = PHI_CONFIG_TOML;
    desc.sections = phi_config_sections();
    desc.variable_fn = made_variable;
    config = phi_config_load(&desc);
    CHECK_EQ_INT(phi_json_write(&arena, phi_config_tree(config), 0, &out), PHI_OK);
    describe(r, out, PHI_CONFIG_JSON, other, sizeof other);
    CHECK_EQ_STR(other, toml);
    CHECK_EQ_INT(phi_yaml_write(&arena, phi_config_tree(config), 0, &out), PHI_OK);
    describe(r, out, PHI_CONFIG_YAML, other, sizeof other);
    CHECK_EQ_STR(other, toml);
    phi_config_free(config);
    phi_arena_free(&arena);
    free(text);
    rig_free(r);
}

TEST_MAIN(TEST_ENTRY(each_part_of_the_guide_loads_and_runs),
          TEST_ENTRY(the_whole_file_makes_the_same_agent_as_toml_json_and_yaml))
