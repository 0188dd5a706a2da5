/* test_config_agents_more.c - agents out of a configuration: prompts out of files, sub-agents,
   stores, and the ends: twice, in the midst, without memory. */
#include "orchestrate/subagents.h"
#include "support/problems.h"
#include "support/made.h"
#include "support/store_mem.h"
#include "agent/agent_history.h"
#include "agent/agent_info.h"
#include "features/failover.h"
#include "loop/hook.h"

#include <sys/stat.h>

#define PROVIDER "[provider]\nmodel = \"claude-sonnet-4\"\napi_key = \"k\"\n"

static const char *in(const char *dir, const char *name) {
    static char paths[4][1024];
    static unsigned next;
    char *path = paths[next++ % 4];
    (void)snprintf(path, sizeof paths[0], "%s/%s", dir, name);
    return path;
}

static void put(const char *dir, const char *name, const char *text) {
    FILE *f = fopen(in(dir, name), "wb");
    if (!CHECK(f != NULL)) return;
    (void)fwrite(text, 1, strlen(text), f);
    (void)fclose(f);
}

static const char places[] = PROVIDER
    "[agent.profile]\nname = \"base\"\n"
    "[[agent.profile.instances]]\nid = \"{{writer}}\"\nsystem_prompt = \"file:prompt.md\"\n"
    "[[agent.instances]]\nname = \"alpha\"\nagent_profile = \"{{agent_profile.writer}}\"\n"
    "workspace = \"a\"\n"
    "[[agent.instances]]\nname = \"beta\"\nagent_profile = \"{{agent_profile.writer}}\"\n"
    "workspace = \"b\"\n"
    "[[agent.instances]]\nname = \"gamma\"\nagent_profile = \"{{agent_profile.writer}}\"\n";

TEST(one_file_reference_is_another_file_in_each_workspace) {
    rig *r = rig_new();
    char dir[512];
    made m;
    REQUIRE(test_temp_dir(dir, sizeof dir));
    CHECK(mkdir(in(dir, "a"), 0777) == 0 && mkdir(in(dir, "b"), 0777) == 0);
    put(dir, "a/prompt.md", "ALPHA\n\n");
    put(dir, "b/prompt.md", "BETA");
    put(dir, "prompt.md", "BESIDE");
    REQUIRE(made_load(&m, r, places, in(dir, "agent.toml"), NULL, NULL));
    CHECK_EQ_STR(made_problems(&m), "");
    REQUIRE(CHECK_EQ_INT(agents_count(m.agents), 3));
    CHECK_EQ_STR(made_desc(&m, "alpha").system_prompt, "ALPHA");
    CHECK_EQ_STR(made_desc(&m, "alpha").workspace, in(dir, "a"));
    CHECK_EQ_STR(made_desc(&m, "beta").system_prompt, "BETA");
    CHECK_EQ_STR(made_desc(&m, "gamma").system_prompt, "BESIDE"); /* the directory of the file */
    CHECK_EQ_STR(made_desc(&m, "gamma").workspace, ".");
    made_free(&m);
    CHECK(remove(in(dir, "b/prompt.md")) == 0);
    REQUIRE(made_load(&m, r, places, in(dir, "agent.toml"), NULL, NULL));
    CHECK_EQ_INT(m.status, PHI_NOT_FOUND);
    CHECK(strstr(made_problems(&m), "b/prompt.md\": No such file or directory") != NULL);
    CHECK_EQ_INT(agents_count(m.agents), 0);
    made_free(&m);
    rig_free(r);
}

static const char blocks[] = PROVIDER
    "[[system_prompt_strategy.instances]]\nid = \"{{coding}}\"\n"
    "[[system_prompt_strategy.instances.blocks]]\nname = \"rules\"\norder = 2\nmax_length = 5\n"
    "[[system_prompt_strategy.instances.blocks]]\nname = \"who\"\norder = 0\n"
    "[[system_prompt.instances]]\nid = \"{{smith}}\"\n"
    "type = \"{{system_prompt_strategy.coding}}\"\nrules = \"Never lie.\"\nwho = \"A smith.\"\n"
    "[[system_prompt.instances]]\nid = \"{{small}}\"\ntype = \"minimal\"\ntask = \"T\"\n"
    "identity = \"I\"\n"
    "[agent]\nsystem_prompt = \"{{system_prompt.smith}}\"\n"
    "[[agent.instances]]\nname = \"a\"\n"
    "[[agent.instances]]\nname = \"b\"\nsystem_prompt = \"{{small}}\"\n";

TEST(a_prompt_of_blocks_is_put_together) {
    rig *r = rig_new();
    made m;
    REQUIRE(made_load(&m, r, blocks, NULL, NULL, NULL));
    CHECK_EQ_STR(made_problems(&m), "");
    REQUIRE(CHECK_EQ_INT(agents_count(m.agents), 2));
    CHECK_EQ_STR(made_desc(&m, "a").system_prompt, "A smith.\n\nNever");
    CHECK_EQ_STR(made_desc(&m, "b").system_prompt, "I\n\nT");
    made_free(&m);
    rig_free(r);
}

static const char family[] = PROVIDER
    "[[provider.instances]]\nname = \"small\"\nmodel = \"claude-haiku-4-5\"\napi_key = \"s\"\n"
    "[[sub_agents.instances]]\nname = \"reader\"\nsystem_prompt = \"READ\"\nprovider = \"small\"\n"
    "max_turns = 3\ntools = [\"echo\"]\n"
    "[[sub_agents.instances]]\nid = \"{{%boss%}}\"\nname = \"boss\"\nmodel = \"claude-opus-4-5\"\n"
    "max_depth = 2\nsub_agents = [\"{{sub_agent.reader}}\"]\n"
    "[[agent.instances]]\nname = \"all\"\n"
    "[[agent.instances]]\nname = \"one\"\nsub_agents = [\"{{%boss%}}\"]\n"
    "[[agent.instances]]\nname = \"two\"\nsub_agents = [\"{{%boss%}}\"]\n"
    "[[agent.instances]]\nname = \"fresh\"\nsub_agents = [\"{{boss}}\"]\n"
    "[[agent.instances]]\nname = \"none\"\nsub_agents = []\n";

TEST(sub_agents_are_tools_with_their_own_models_and_shared_by_percent) {
    rig *r = rig_new();
    phi_agents_desc with = PHI_ZERO;
    phi_tool tool = rig_echo();
    made m;
    with.tools = &tool;
    with.tool_count = 1;
    REQUIRE(made_load(&m, r, family, NULL, NULL, &with));
    CHECK_EQ_STR(made_problems(&m), "");
    REQUIRE(CHECK_EQ_INT(agents_count(m.agents), 5));
    CHECK_EQ_INT(made_desc(&m, "all").tool_count, 2);
    CHECK_EQ_INT(made_desc(&m, "none").tool_count, 0);
    CHECK(made_desc(&m, "one").tools[0].user_data == made_desc(&m, "two").tools[0].user_data);
    CHECK(made_desc(&m, "one").tools[0].user_data != made_desc(&m, "fresh").tools[0].user_data);
    rig_call(r, "c1", "boss", "{\"task\":\"ask\"}");
    rig_call(r, "c2", "reader", "{\"task\":\"look\"}");
    rig_says(r, "seen");
    rig_says(r, "reported");
    rig_says(r, "thanks");
    CHECK_EQ_INT(phi_prompt(phi_agents_get(m.agents, "one"), "go"), PHI_OK);
    (void)rig_run(r, 1000);
    REQUIRE(CHECK_EQ_INT(rig_requests(r), 5));
    CHECK(strstr(rig_request(r, 1), "\"claude-opus-4-5\"") != NULL);
    CHECK(strstr(rig_request(r, 2), "\"claude-haiku-4-5\"") != NULL);
    CHECK(strstr(rig_request(r, 2), "READ") != NULL);
    CHECK(strstr(rig_request(r, 2), "\"echo\"") != NULL);
    CHECK_EQ_STR(rig_key(r, 2), "s");
    made_free(&m);
    rig_free(r);
}

TEST(a_strategy_is_the_provider_of_an_agent) {
    rig *r = rig_new();
    made m;
    REQUIRE(made_load(&m, r,
                      PROVIDER "[[strategy.instances]]\nid = \"{{steps}}\"\ntype = \"cot\"\n"
                               "[strategy.instances.cot]\nsystem_prompt = \"COUNT STEPS\"\n"
                               "[[agent.instances]]\nname = \"a\"\nstrategy = \"{{steps}}\"\n"
                               "[[agent.instances]]\nname = \"b\"\nstrategy = \"cod\"\n",
                      NULL, NULL, NULL));
    CHECK_EQ_STR(made_problems(&m), "");
    REQUIRE(CHECK_EQ_INT(m.status, PHI_OK));
    rig_says(r, "1. x\nConclusion: 4");
    CHECK_EQ_INT(phi_prompt(phi_agents_get(m.agents, "a"), "2+2"), PHI_OK);
    (void)rig_run(r, 300);
    REQUIRE(CHECK_EQ_INT(rig_requests(r), 1));
    CHECK(strstr(rig_request(r, 0), "COUNT STEPS") != NULL);
    CHECK(made_desc(&m, "b").provider != NULL);
    made_free(&m);
    rig_free(r);
}

/* The first system prompt of a run with that strategy, in a static buffer. */
static const char *strategy_prompt(const char *name) {
    static char prompt[2000];
    char text[512];
    rig *r = rig_new();
    made m;
    (void)snprintf(text, sizeof text, PROVIDER "[agent]\nstrategy = \"%s\"\n", name);
    prompt[0] = '\0';
    if (CHECK(made_load(&m, r, text, NULL, NULL, NULL)) && CHECK_EQ_STR(made_problems(&m), "")) {
        rig_says(r, "1. x\nConclusion: 4");
        CHECK_EQ_INT(phi_prompt(phi_agents_get(m.agents, NULL), "2+2"), PHI_OK);
        (void)rig_run(r, 300);
        if (CHECK(rig_requests(r) > 0))
            (void)snprintf(prompt, sizeof prompt, "%s", rig_request(r, 0));
    }
    made_free(&m);
    rig_free(r);
    return prompt;
}

TEST(each_name_is_another_strategy) {
    static const char *const names[] = {"cot", "cod", "aot",
                                        "tot", "got", "trm"}; /* adaptive begins as one of them */
    char said[6][300];
    for (size_t i = 0; i < 6; i++) {
        (void)snprintf(said[i], sizeof said[i], "%s", strategy_prompt(names[i]));
        CHECK(said[i][0] != '\0');
        for (size_t k = 0; k < i; k++) {
            if (strcmp(said[i], said[k]) == 0) printf("%s is as %s\n", names[i], names[k]);
            CHECK(strcmp(said[i], said[k]) != 0);
        }
    }
}

TEST(each_way_to_name_a_strategy_means_the_same) {
    static const char *const ways[] = {" cot ", "{{cot}}", "{{#cot#}}", "{{strategy.cot}}",
                                       "{{ #cot# }}"};
    char want[2000];
    size_t i;
    (void)snprintf(want, sizeof want, "%s", strategy_prompt("cot"));
    CHECK(strcmp(want, strategy_prompt("adaptive")) != 0);
    for (i = 0; i < sizeof ways / sizeof ways[0]; i++) CHECK_EQ_STR(strategy_prompt(ways[i]), want);
}

TEST(other_models_continue_where_one_fails) {
    rig *r = rig_new();
    made m;
    phi_agent_desc d;
    REQUIRE(made_load(&m, r,
                      PROVIDER "[[provider.instances]]\nname = \"spare\"\nmodel = \"spare-1\"\n"
                               "api_key = \"s\"\n[failover]\nmodels = [\"spare\"]\n"
                               "on = [\"server\"]\n[execution.retry]\nmax_retries = 0\n",
                      NULL, NULL, NULL));
    CHECK_EQ_STR(made_problems(&m), "");
    d = made_desc(&m, NULL);
    REQUIRE(CHECK(d.failover != NULL));
    CHECK_EQ_INT(d.failover->on, PHI_FAILOVER_SERVER);
    rig_replies(r, 500, "content-type: application/json\r\n", "{}");
    rig_says(r, "here");
    CHECK_EQ_INT(phi_prompt(phi_agents_get(m.agents, NULL), "go"), PHI_OK);
    (void)rig_run(r, 300);
    REQUIRE(CHECK_EQ_INT(rig_requests(r), 2));
    CHECK(strstr(rig_request(r, 1), "\"spare-1\"") != NULL);
    made_free(&m);
    rig_free(r);
}

static void say(made *m, const char *name, const char *prompt, const char *answer) {
    rig_rewind(m->r);
    rig_says(m->r, answer);
    CHECK_EQ_INT(phi_prompt(phi_agents_get(m->agents, name), prompt), PHI_OK);
    (void)rig_run(m->r, 300);
}

TEST(persistent_agents_go_on_where_they_were) {
    static const char text[] =
        PROVIDER "[session]\nscope = \"persistent\"\ndirectory = \"kept\"\n"
                 "[[agent.instances]]\nname = \"ada\"\n[[agent.instances]]\nname = \"bob 2\"\n";
    char dir[512];
    int i;
    REQUIRE(test_temp_dir(dir, sizeof dir));
    for (i = 0; i < 2; i++) {
        rig *r = rig_new();
        made m;
        REQUIRE(made_load(&m, r, text, in(dir, "agent.toml"), NULL, NULL));
        CHECK_EQ_STR(made_problems(&m), "");
        REQUIRE(CHECK_EQ_INT(m.status, PHI_OK));
        CHECK_STR(phi_agent_get_info(phi_agents_get(m.agents, "bob 2")).thread_id, "bob_2");
        CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(phi_agents_get(m.agents, "ada"))),
                     2 * i);
        say(&m, "ada", "hello", "hi");
        made_free(&m);
        rig_free(r);
    }
}

TEST(a_persistent_session_without_a_place_is_an_error_and_a_file_is_a_place) {
    static const char text[] = PROVIDER "[session]\nscope = \"persistent\"\n";
    phi_agents_desc with = PHI_ZERO;
    char dir[512], file[600];
    rig *r = rig_new();
    made m;
    int i;
    REQUIRE(test_temp_dir(dir, sizeof dir));
    REQUIRE(made_load(&m, r, text, "a.toml", NULL, NULL));
    CHECK_EQ_INT(m.status, PHI_BAD_ARG);
    CHECK(strstr(made_problems(&m), "needs a place: write directory = \"sessions\"") != NULL);
    made_free(&m);
    (void)snprintf(file, sizeof file, "%s/talk.jsonl", dir);
    with.session_file = file;
    for (i = 0; i < 2; i++) {
        REQUIRE(made_load(&m, r, PROVIDER, "a.toml", NULL, &with));
        CHECK_EQ_STR(made_problems(&m), "");
        CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(phi_agents_get(m.agents, NULL))),
                     2 * i);
        say(&m, NULL, "hello", "hi");
        made_free(&m);
    }
    rig_free(r);
}

TEST(a_thread_has_one_agent_and_an_id_that_a_store_takes) {
    static const char kept[] = PROVIDER "[session]\nscope = \"persistent\"\ndirectory = \"kept\"\n";
    static const struct {
        const char *file, *text, *said;
    } rows[] = {
        {"my chat.jsonl", "", "session_file \"my chat.jsonl\": expected a name of letters, digits"},
        {"notes.txt", "", "session_file \"notes.txt\": expected a name of letters, digits"},
        {"dir/.jsonl", "", "session_file \"dir/.jsonl\": expected a name of letters, digits"},
        {NULL, "thread = \"last week\"\n",
         "a.toml:7:10: session.thread \"last week\": expected at most 128 letters, digits, \"-\", "
         "\"_\" and \".\", and no \".\" first\n"},
        {NULL, "[[agent.instances]]\nname = \"a b\"\n[[agent.instances]]\nname = \"a_b\"\n",
         "a.toml:9:1: agents \"a b\" and \"a_b\" would both keep the thread \"a_b\": give them "
         "names of letters, digits, \"-\" and \"_\" that differ\n"},
        {NULL, "[[agent.instances]]\nworkspace = \"a\"\n[[agent.instances]]\nworkspace = \"b\"\n",
         "agents \"unnamed\" and \"unnamed\" would both keep the thread \"unnamed\""},
        {NULL,
         "thread = \"m\"\n[[agent.instances]]\nname = \"m-x\"\n[[agent.instances]]\n"
         "name = \"x\"\n[[sub_agents.instances]]\nname = \"x\"\n",
         NULL}};
    size_t i, check;
    for (i = 0; i < 2 * sizeof rows / sizeof rows[0]; i++) {
        phi_agents_desc with = PHI_ZERO;
        char text[512];
        rig *r = rig_new();
        made m;
        check = i / 2;
        with.session_file = rows[check].file;
        with.check_only = i % 2 == 0;
        (void)snprintf(text, sizeof text, "%s%s", kept, rows[check].text);
        REQUIRE(made_load(&m, r, text, "a.toml", NULL, &with));
        if (rows[check].said == NULL)
            CHECK_EQ_STR(made_problems(&m), "");
        else if (!CHECK(m.status == PHI_BAD_ARG &&
                        strstr(made_problems(&m), rows[check].said) != NULL))
            fprintf(stderr, "%s", made_problems(&m));
        made_free(&m);
        rig_free(r);
    }
}

TEST(threads_in_the_store_of_base_are_one_for_each_agent) {
#define TWO "[[agent.instances]]\nname = \"a\"\n[[agent.instances]]\nname = \"b\"\n"
#define KEPT PROVIDER "[session]\nscope = \"persistent\"\n"
    static const struct {
        const char *text, *id, *first, *second, *said;
    } rows[] = {{KEPT "thread = \"monday\"\n" TWO, "t", "monday-a", "monday-b", ""},
                {KEPT TWO, "t", "t-a", "t-b", ""},
                {KEPT TWO, NULL, "a", "b", ""},
                {PROVIDER TWO, "t", "t-a", "t-b", ""},
                {PROVIDER, "t", "t", NULL, ""},
                {KEPT "[[agent.instances]]\nname = \"a b\"\n[[agent.instances]]\nname = \"a_b\"\n",
                 "t", NULL, NULL,
                 "8:1: agents \"a b\" and \"a_b\" would both keep the thread \"t-a_b\": give them "
                 "names of letters, digits, \"-\" and \"_\" that differ\n"},
                {PROVIDER TWO, "last week", NULL, NULL,
                 "base.thread_id \"last week\": expected at most 128 letters, digits, \"-\", \"_\" "
                 "and \".\", and no \".\" first\n"}};
#undef TWO
#undef KEPT
    size_t i;
    for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        rig *r = rig_new();
        store_mem *kept = store_mem_new();
        phi_agents_desc with = PHI_ZERO;
        phi_agent_desc base = PHI_ZERO;
        made m;
        base.store = store_mem_store(kept);
        base.thread_id = rows[i].id;
        with.base = &base;
        REQUIRE(made_load(&m, r, rows[i].text, NULL, NULL, &with));
        CHECK_EQ_STR(made_problems(&m), rows[i].said);
        CHECK_EQ_INT(m.status, rows[i].first != NULL ? PHI_OK : PHI_BAD_ARG);
        if (rows[i].first != NULL)
            CHECK_STR(phi_agent_get_info(agents_at(m.agents, 0)).thread_id, rows[i].first);
        if (rows[i].second != NULL)
            CHECK_STR(phi_agent_get_info(agents_at(m.agents, 1)).thread_id, rows[i].second);
        made_free(&m);
        rig_free(r);
        store_mem_free(kept);
    }
}

TEST(the_thread_of_base_is_that_of_any_store) {
    rig *r = rig_new();
    store_mem *kept = store_mem_new();
    phi_agents_desc with = PHI_ZERO;
    phi_agent_desc base = PHI_ZERO;
    made m;
    base.thread_id = "t";
    with.base = &base;
    REQUIRE(made_load(&m, r, PROVIDER, NULL, NULL, &with));
    CHECK_EQ_STR(made_problems(&m),
                 "base.thread_id is \"t\", and there is no store: set phi_agents_desc.store\n");
    made_free(&m);
    with.store = store_mem_store(kept);
    REQUIRE(made_load(&m, r, PROVIDER "[session]\nscope = \"persistent\"\n", NULL, NULL, &with));
    CHECK_EQ_STR(made_problems(&m), "");
    CHECK_STR(phi_agent_get_info(phi_agents_get(m.agents, NULL)).thread_id, "t");
    made_free(&m);
    REQUIRE(made_load(&m, r, PROVIDER, NULL, NULL, &with));
    CHECK_EQ_STR(made_problems(&m), "");
    CHECK_STR(phi_agent_get_info(phi_agents_get(m.agents, NULL)).thread_id, "t");
    made_free(&m);
    rig_free(r);
    store_mem_free(kept);
}

/* The desc may change as soon as phi_agents_from_config has returned. */
TEST(the_store_and_the_tools_of_the_host_are_copied) {
    static const char text[] = PROVIDER "[session]\nscope = \"persistent\"\n"
                                        "[tools]\nenabled = [\"echo\"]\n";
    rig *r = rig_new();
    store_mem *kept = store_mem_new();
    phi_agents_desc with = PHI_ZERO;
    phi_config_desc desc = PHI_ZERO;
    phi_tool tools[1];
    phi_store store = *store_mem_store(kept);
    made m;
    memset(&m, 0, sizeof m);
    m.r = r;
    tools[0] = rig_echo();
    with.tools = tools;
    with.tool_count = 1;
    with.store = &store;
    desc.allocator = test_allocator();
    desc.text = phi_str_of(text);
    m.config = phi_config_load(&desc);
    m.agents = phi_agents_from_config(rig_runtime(r), m.config, &with);
    memset(&with, 0, sizeof with);
    memset(&store, 0, sizeof store);
    memset(tools, 0, sizeof tools);
    while ((m.status = phi_agents_step(m.agents)) == PHI_BUSY) continue;
    CHECK_EQ_STR(made_problems(&m), "");
    REQUIRE(CHECK_EQ_INT(m.status, PHI_OK));
    CHECK_EQ_INT(made_desc(&m, NULL).tool_count, 1);
    CHECK_STR(phi_agent_get_info(phi_agents_get(m.agents, NULL)).thread_id, "default");
    made_free(&m);
    rig_free(r);
    store_mem_free(kept);
}

TEST(agents_that_the_host_has_freed_are_stale_and_the_rest_is_freed_later) {
    rig *r = rig_new();
    made m;
    phi_agent agent;
    REQUIRE(made_load(&m, r, family, NULL, NULL, NULL));
    CHECK(m.status != PHI_OK); /* echo is nobody's tool */
    made_free(&m);
    REQUIRE(made_load(&m, r, PROVIDER, NULL, NULL, NULL));
    agent = phi_agents_get(m.agents, NULL);
    phi_agent_free(agent);
    CHECK(!phi_agent_alive(phi_agents_get(m.agents, NULL)));
    CHECK_EQ_INT(phi_agents_step(m.agents), PHI_OK);
    made_free(&m);
    rig_free(r);
}

TEST(it_may_be_freed_in_the_midst_and_a_config_with_errors_gives_its_problems) {
    rig *r = rig_new();
    phi_config_desc desc = PHI_ZERO;
    phi_config *config;
    phi_agents *agents;
    phi_config_problem p;
    size_t i;
    desc.allocator = test_allocator();
    desc.text = phi_str_of(blocks);
    config = phi_config_load(&desc);
    for (i = 0; i < 8; i++) {
        size_t n;
        agents = phi_agents_from_config(rig_runtime(r), config, NULL);
        for (n = 0; n < i; n++) (void)phi_agents_step(agents);
        phi_agents_free(agents);
    }
    phi_config_free(config);
    desc.text = phi_str_of("[agent]\nthinking_level = 5\n[provider]\napi = \"none\"\n");
    config = phi_config_load(&desc);
    agents = phi_agents_from_config(rig_runtime(r), config, NULL);
    CHECK_EQ_INT(phi_agents_step(agents), config_status(config));
    CHECK_EQ_INT(agents_problem_count(agents), config_problem_count(config));
    CHECK(agents_problem(agents, 0, &p));
    phi_agents_free(agents);
    phi_agents_free(NULL);
    CHECK(phi_agents_from_config(NULL, config, NULL) == NULL);
    CHECK(phi_agents_from_config(rig_runtime(r), NULL, NULL) == NULL);
    CHECK_EQ_INT(phi_agents_step(NULL), PHI_BAD_ARG);
    phi_config_free(config);
    rig_free(r);
}

static phi_agents *inside;

static phi_verdict free_inside(void *user_data, phi_hook *hook) {
    (void)user_data;
    phi_agents_free(inside);
    CHECK_EQ_INT(phi_last_error(hook->agent.rt).status, PHI_MISUSE);
    return PHI_ALLOW;
}

TEST(inside_a_callback_nothing_is_freed) {
    rig *r = rig_new();
    phi_agents_desc with = PHI_ZERO;
    phi_agent_desc base = PHI_ZERO;
    made m;
    base.hook_fn = free_inside;
    base.hook_points = PHI_HOOK_BEFORE_TURN;
    with.base = &base;
    REQUIRE(made_load(&m, r, PROVIDER, NULL, NULL, &with));
    inside = m.agents;
    say(&m, NULL, "hello", "hi");
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(phi_agents_get(m.agents, NULL))), 2);
    made_free(&m);
    rig_free(r);
}

TEST(each_failed_allocation_leaves_no_agent_or_all) {
    rig *r = rig_new();
    phi_agents_desc with = PHI_ZERO;
    phi_config_desc desc = PHI_ZERO;
    phi_config *config;
    phi_tool tool = rig_echo();
    bool tripped = true;
    int n = 0;
    with.tools = &tool;
    with.tool_count = 1;
    desc.allocator = test_allocator();
    desc.text = phi_str_of(family);
    config = phi_config_load(&desc);
    REQUIRE(CHECK_EQ_INT(config_status(config), PHI_OK));
    while (tripped && n < 3000) {
        phi_agents *agents;
        phi_status status = PHI_NO_MEMORY;
        test_alloc_fail_at(n++);
        agents = phi_agents_from_config(rig_runtime(r), config, &with);
        if (agents != NULL)
            while ((status = phi_agents_step(agents)) == PHI_BUSY) continue;
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        CHECK(status == PHI_OK || status == PHI_NO_MEMORY);
        CHECK_EQ_INT(agents_count(agents), status == PHI_OK ? 5 : 0);
        phi_agents_free(agents);
    }
    CHECK(!tripped && n > 50);
    phi_config_free(config);
    rig_free(r);
}

#define CHILD(name, more)                                                                          \
    "[[sub_agents.instances]]\nname = \"" name "\"\ndescription = \"d\"\n"                         \
    "system_prompt = \"x\"\n" more

/* A head, and `count` items in a list, or with item NULL `count` agents. The caller frees it. */
static char *crowd_text(const char *head, const char *item, unsigned count) {
    size_t most = strlen(head) + count * (size_t)40 + 100, n;
    char *text = (char *)malloc(most);
    unsigned i;
    if (text == NULL) abort();
    n = (size_t)snprintf(text, most, "%s%s", head, item != NULL ? "sub_agents = [" : "");
    for (i = 0; i < count && item != NULL; i++)
        n += (size_t)snprintf(text + n, most - n, "%s,", item);
    for (i = 0; i < count && item == NULL; i++)
        n += (size_t)snprintf(text + n, most - n, "[[agent.instances]]\nname = \"a%u\"\n", i);
    (void)snprintf(text + n, most - n, "%s", item != NULL ? "]\n" : "");
    return text;
}

static void crowd_check(char *text, const char *want) {
    rig *r = rig_new();
    phi_agents_desc with = PHI_ZERO;
    made m;
    with.check_only = true;
    REQUIRE(made_load(&m, r, text, NULL, NULL, &with));
    CHECK_EQ_INT(m.status, want[0] != '\0' ? PHI_TOO_BIG : PHI_OK);
    CHECK_EQ_INT(agents_problem_count(m.agents), want[0] != '\0' ? 1 : 0);
    CHECK_EQ_STR(made_problems(&m), want);
    made_free(&m);
    rig_free(r);
    free(text);
}

TEST(agents_and_sub_agents_are_at_most_4096_and_8_levels) {
#define MOST "agents and their sub-agents: at most 4096 in all, and 8 levels of sub-agents\n"
    static const char one[] = PROVIDER CHILD("a", "") "[[agent.instances]]\nname = \"x\"\n";
    char chain[2000];
    size_t n = 0;
    int i, levels;
    crowd_check(crowd_text(PROVIDER, NULL, 4096), "");
    crowd_check(crowd_text(PROVIDER, NULL, 5000), "8196:1: " MOST);
    crowd_check(crowd_text(one, "\"a\"", 4095), "");
    crowd_check(crowd_text(one, "\"a\"", 100000), "10:16395: " MOST);
    for (levels = 8; levels <= 9; levels++) {
        n = (size_t)snprintf(chain, sizeof chain, "%s[agent]\nsub_agents = [\"s1\"]\n", PROVIDER);
        for (i = 1; i < levels; i++)
            n += (size_t)snprintf(chain + n, sizeof chain - n,
                                  CHILD("s%d", "sub_agents = [\"s%d\"]\n"), i, i + 1);
        (void)snprintf(chain + n, sizeof chain - n, CHILD("s%d", ""), levels);
        crowd_check(crowd_text(chain, NULL, 0), levels == 8 ? "" : "45:15: " MOST);
    }
#undef MOST
}

/* In a time that grows with the list: a list of this length took minutes otherwise. */
TEST(a_long_list_of_one_shared_sub_agent_is_one_tool) {
    static const char head[] =
        PROVIDER "[[sub_agents.instances]]\nid = \"{{%a%}}\"\nname = \"a\"\n"
                 "description = \"d\"\nsystem_prompt = \"x\"\n[[agent.instances]]\nname = \"x\"\n";
    crowd_check(crowd_text(head, "\"{{%a%}}\"", 300000), "");
}

TEST_MAIN(TEST_ENTRY(one_file_reference_is_another_file_in_each_workspace),
          TEST_ENTRY(a_prompt_of_blocks_is_put_together),
          TEST_ENTRY(sub_agents_are_tools_with_their_own_models_and_shared_by_percent),
          TEST_ENTRY(a_strategy_is_the_provider_of_an_agent),
          TEST_ENTRY(each_name_is_another_strategy),
          TEST_ENTRY(each_way_to_name_a_strategy_means_the_same),
          TEST_ENTRY(other_models_continue_where_one_fails),
          TEST_ENTRY(persistent_agents_go_on_where_they_were),
          TEST_ENTRY(a_persistent_session_without_a_place_is_an_error_and_a_file_is_a_place),
          TEST_ENTRY(a_thread_has_one_agent_and_an_id_that_a_store_takes),
          TEST_ENTRY(threads_in_the_store_of_base_are_one_for_each_agent),
          TEST_ENTRY(the_thread_of_base_is_that_of_any_store),
          TEST_ENTRY(the_store_and_the_tools_of_the_host_are_copied),
          TEST_ENTRY(agents_that_the_host_has_freed_are_stale_and_the_rest_is_freed_later),
          TEST_ENTRY(it_may_be_freed_in_the_midst_and_a_config_with_errors_gives_its_problems),
          TEST_ENTRY(inside_a_callback_nothing_is_freed),
          TEST_ENTRY(agents_and_sub_agents_are_at_most_4096_and_8_levels),
          TEST_ENTRY(a_long_list_of_one_shared_sub_agent_is_one_tool),
          TEST_ENTRY(each_failed_allocation_leaves_no_agent_or_all))
