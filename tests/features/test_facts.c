/* test_facts.c - world facts: who knows which, how a request tells them in each protocol
   (facts.txt), and that a request is the last one and what has changed. */
#include "features/facts.h"

#include "agent/snapshot.h"
#include "agent/summary.h"
#include "support/heard.h"
#include "codecs/presets.h"
#include "model/model.h"
#include "agent/agent_history.h"
#include "log/thread.h"
#include "loop/loop_in.h"

#define HEAD "[What you know now]"

static const char facts_path[] = "tests/features/facts.txt";

static phi_agent plain_agent(rig *r) {
    phi_agent_desc desc = rig_desc();
    return rig_agent(r, &desc);
}

static void set(phi_fact_scope scope, const char *key, const char *value) {
    CHECK_EQ_INT(phi_fact_set(scope, key, phi_str_of(value), NULL), PHI_OK);
}

/* What the agent knows, "key=value" and a blank each. */
static const char *known(phi_agent agent) {
    static char out[4000];
    phi_memory memory;
    phi_arena arena;
    phi_fact_scope scope = phi_fact_agent(agent);
    const phi_fact *list = NULL;
    size_t count = 0, i, n = 0;
    scope.known = true;
    out[0] = '\0';
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(phi_fact_list(scope, &arena, &list, &count), PHI_OK);
    for (i = 0; i < count && n < sizeof out; i++)
        n += (size_t)snprintf(out + n, sizeof out - n, "%.*s=%.*s ", (int)list[i].key.len,
                              list[i].key.at, (int)list[i].value.len, list[i].value.at);
    phi_arena_free(&arena);
    return out;
}

static const char *last_request(rig *r) { return rig_request(r, rig_requests(r) - 1); }

static const char *ask(rig *r, phi_agent agent) {
    rig_says(r, "Yes.");
    CHECK_EQ_INT(phi_prompt(agent, "Well?"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 40), 0);
    return last_request(r);
}

/* ---- one scope ---- */

TEST(a_fact_is_set_read_and_unset_and_its_version_counts_its_changes) {
    rig *r = rig_new();
    phi_runtime *rt = rig_runtime(r);
    phi_fact fact;
    uint64_t version = 0;
    phi_fact_scope scopes[3];
    phi_agent agent = plain_agent(r);
    size_t i;
    scopes[0] = phi_fact_all(rt);
    scopes[1] = phi_fact_group(rt, "guards");
    scopes[2] = phi_fact_agent(agent);
    for (i = 0; i < 3; i++) {
        CHECK_EQ_INT(phi_fact_get(scopes[i], "a", &fact), PHI_NOT_FOUND);
        CHECK_EQ_INT(phi_fact_set(scopes[i], "a", phi_str_of(NULL), NULL), PHI_NOT_FOUND);
        CHECK_EQ_INT(phi_fact_set(scopes[i], "a", phi_str_of("1"), &version), PHI_OK);
        CHECK_EQ_INT(version, 1);
        CHECK_EQ_INT(phi_fact_set(scopes[i], "a", phi_str_of("1"), &version), PHI_OK);
        CHECK_EQ_INT(version, 1);
        CHECK_EQ_INT(phi_fact_set(scopes[i], "a", phi_str_of("2"), &version), PHI_OK);
        CHECK_EQ_INT(version, 2);
        CHECK_EQ_INT(phi_fact_get(scopes[i], "a", &fact), PHI_OK);
        CHECK_STR(fact.value, "2");
        CHECK_STR(fact.group, i == 1 ? "guards" : "");
        CHECK_EQ_INT(fact.own, i == 2);
        CHECK_EQ_INT(fact.version, 2);
    }
    for (i = 0; i < 3; i++) {
        CHECK_EQ_INT(phi_fact_set(scopes[i], "a", phi_str_of(NULL), NULL), PHI_OK);
        CHECK_EQ_INT(phi_fact_get(scopes[i], "a", &fact), PHI_NOT_FOUND);
        CHECK_EQ_INT(phi_fact_set(scopes[i], "a", phi_str_of(""), &version), PHI_OK);
        CHECK_EQ_INT(version, 1);
    }
    phi_agent_free(agent);
    CHECK_EQ_INT(phi_fact_set(scopes[2], "a", phi_str_of("1"), NULL), PHI_STALE);
    CHECK_EQ_INT(phi_fact_get(scopes[2], "a", &fact), PHI_STALE);
    CHECK_EQ_INT(phi_fact_set(scopes[2], "a", phi_str_of(NULL), NULL), PHI_STALE);
    rig_free(r);
}

TEST(facts_of_a_scope_are_listed_by_key) {
    rig *r = rig_new();
    phi_fact_scope scope = phi_fact_group(rig_runtime(r), "g");
    phi_memory memory;
    phi_arena arena;
    const phi_fact *list;
    size_t count;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(phi_fact_list(scope, &arena, &list, &count), PHI_OK);
    CHECK_EQ_INT(count, 0);
    set(scope, "b", "2");
    set(scope, "ab", "3");
    set(scope, "a", "1");
    CHECK_EQ_INT(phi_fact_list(scope, &arena, &list, &count), PHI_OK);
    CHECK_EQ_INT(count, 3);
    CHECK_STR(list[0].key, "a");
    CHECK_STR(list[1].key, "ab");
    CHECK_STR(list[2].key, "b");
    CHECK_STR(list[2].value, "2");
    CHECK_STR(list[2].group, "g");
    CHECK_EQ_INT(phi_fact_list(phi_fact_all(NULL), &arena, &list, &count), PHI_BAD_ARG);
    phi_arena_free(&arena);
    rig_free(r);
}

TEST(what_is_no_fact_is_refused_with_words) {
    rig *r = rig_new();
    phi_fact_scope all = phi_fact_all(rig_runtime(r));
    static char long_key[200], long_value[5000];
    memset(long_key, 'k', sizeof long_key - 1);
    memset(long_value, 'v', sizeof long_value - 1);
    CHECK_EQ_INT(phi_fact_set(all, "", phi_str_of("x"), NULL), PHI_BAD_ARG);
    CHECK_EQ_STR(words_of(r), "phi_fact_set: key: expected 1 to 128 bytes of UTF-8 without control "
                              "characters");
    CHECK_EQ_INT(phi_fact_set(all, NULL, phi_str_of("x"), NULL), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_fact_set(all, "a\nb", phi_str_of("x"), NULL), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_fact_set(all, "a\xff", phi_str_of("x"), NULL), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_fact_set(all, long_key, phi_str_of("x"), NULL), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_fact_set(all, "a", phi_str_of("\xff"), NULL), PHI_BAD_ARG);
    CHECK_EQ_STR(words_of(r), "phi_fact_set: value of \"a\": expected at most 4096 bytes of UTF-8");
    CHECK_EQ_INT(phi_fact_set(all, "a", phi_str_of(long_value), NULL), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_fact_set(phi_fact_group(rig_runtime(r), ""), "a", phi_str_of("x"), NULL),
                 PHI_BAD_ARG);
    CHECK_EQ_STR(words_of(r), "phi_fact: no name for a group");
    CHECK_EQ_INT(phi_fact_set(phi_fact_group(rig_runtime(r), NULL), "a", phi_str_of("x"), NULL),
                 PHI_BAD_ARG);
    CHECK_EQ_INT(phi_fact_set(phi_fact_all(NULL), "a", phi_str_of("x"), NULL), PHI_BAD_ARG);
    rig_free(r);
}

TEST(a_scope_is_bounded_in_number_and_bytes) {
    rig *r = rig_new();
    phi_fact_scope all = phi_fact_all(rig_runtime(r)), group = phi_fact_group(all.rt, "g");
    static char value[4001];
    char name[32];
    phi_agent agent = plain_agent(r);
    int i;
    for (i = 0; i < PHI_FACT_SCOPE_COUNT; i++) {
        (void)snprintf(name, sizeof name, "key%d", i);
        set(all, name, "x");
    }
    CHECK_EQ_INT(phi_fact_set(all, "one more", phi_str_of("x"), NULL), PHI_FULL);
    CHECK_EQ_STR(words_of(r), "phi_fact_set: \"one more\": the scope is full");
    set(all, "key7", "y");
    memset(value, 'v', 4000);
    for (i = 0; i < 4; i++) {
        (void)snprintf(name, sizeof name, "key%d", i);
        set(group, name, value);
    }
    CHECK_EQ_INT(phi_fact_set(group, "key4", phi_str_of(value), NULL), PHI_FULL);
    set(group, "key3", "small");
    set(group, "key4", value);
    for (i = 0; i < PHI_FACT_MEMBERSHIPS; i++) {
        (void)snprintf(name, sizeof name, "g%d", i);
        CHECK_EQ_INT(phi_fact_join(agent, name, true), PHI_OK);
    }
    CHECK_EQ_INT(phi_fact_join(agent, "g0", true), PHI_OK);
    CHECK_EQ_INT(phi_fact_join(agent, "more", true), PHI_FULL);
    CHECK_EQ_INT(phi_fact_join(agent, "g3", false), PHI_OK);
    CHECK_EQ_INT(phi_fact_join(agent, "g3", false), PHI_OK);
    CHECK_EQ_INT(phi_fact_join(agent, "more", true), PHI_OK);
    CHECK_EQ_INT(phi_fact_join(agent, "", true), PHI_BAD_ARG);
    for (i = 1; i < PHI_FACT_GROUPS; i++) {
        (void)snprintf(name, sizeof name, "group%d", i);
        set(phi_fact_group(all.rt, name), "a", "x");
    }
    CHECK_EQ_INT(phi_fact_set(phi_fact_group(all.rt, "last"), "a", phi_str_of("x"), NULL),
                 PHI_FULL);
    CHECK_EQ_INT(phi_fact_set(phi_fact_group(all.rt, "group5"), "a", phi_str_of(NULL), NULL),
                 PHI_OK);
    set(phi_fact_group(all.rt, "last"), "a", "x");
    rig_free(r);
}

/* ---- who knows what ---- */

TEST(one_agent_cannot_tell_what_only_another_knows) {
    rig *r = rig_new();
    phi_runtime *rt = rig_runtime(r);
    phi_agent knight = plain_agent(r), thief = plain_agent(r);
    const char *body;
    set(phi_fact_all(rt), "weather", "rain");
    set(phi_fact_group(rt, "guards"), "password", "swordfish");
    set(phi_fact_agent(thief), "loot", "under the oak");
    CHECK_EQ_INT(phi_fact_join(knight, "guards", true), PHI_OK);
    CHECK_EQ_STR(known(knight), "password=swordfish weather=rain ");
    CHECK_EQ_STR(known(thief), "loot=under the oak weather=rain ");
    body = ask(r, knight);
    CHECK(strstr(body, HEAD "\\npassword: swordfish\\nweather: rain\"") != NULL);
    CHECK(strstr(body, "oak") == NULL);
    body = ask(r, thief);
    CHECK(strstr(body, HEAD "\\nloot: under the oak\\nweather: rain\"") != NULL);
    CHECK(strstr(body, "swordfish") == NULL);
    CHECK_EQ_INT(phi_fact_join(knight, "guards", false), PHI_OK);
    CHECK(strstr(ask(r, knight), "{\"type\":\"text\",\"text\":\"[No longer known]\\npassword\"") !=
          NULL);
    rig_free(r);
}

TEST(the_narrower_scope_goes_first_where_both_have_a_key) {
    rig *r = rig_new();
    phi_runtime *rt = rig_runtime(r);
    phi_agent agent = plain_agent(r);
    CHECK_EQ_INT(phi_fact_join(agent, "b", true), PHI_OK);
    CHECK_EQ_INT(phi_fact_join(agent, "a", true), PHI_OK);
    set(phi_fact_all(rt), "k", "all");
    set(phi_fact_all(rt), "z", "all");
    CHECK_EQ_STR(known(agent), "k=all z=all ");
    set(phi_fact_group(rt, "b"), "k", "b");
    set(phi_fact_group(rt, "c"), "k", "c");
    CHECK_EQ_STR(known(agent), "k=b z=all ");
    set(phi_fact_group(rt, "a"), "k", "a");
    set(phi_fact_group(rt, "a"), "m", "a");
    CHECK_EQ_STR(known(agent), "k=b m=a z=all ");
    set(phi_fact_agent(agent), "k", "own");
    set(phi_fact_agent(agent), "a", "own");
    CHECK_EQ_STR(known(agent), "a=own k=own m=a z=all ");
    rig_free(r);
}

TEST(a_value_of_several_lines_cannot_pass_for_another_fact) {
    rig *r = rig_new();
    phi_agent agent = plain_agent(r);
    set(phi_fact_all(agent.rt), "note", "one\nking: dead\r\ntwo\rthree");
    CHECK(strstr(ask(r, agent), HEAD "\\nnote: one\\n  king: dead\\n  two\\n  three\"") != NULL);
    rig_free(r);
}

TEST(without_facts_or_where_they_are_disabled_nothing_is_shown) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    CHECK(strstr(ask(r, plain_agent(r)), HEAD) == NULL);
    desc.options.disable_facts = true;
    agent = rig_agent(r, &desc);
    set(phi_fact_all(agent.rt), "a", "b");
    CHECK(strstr(ask(r, agent), HEAD) == NULL);
    CHECK(strstr(ask(r, plain_agent(r)), HEAD) != NULL);
    rig_free(r);
}

static phi_flow set_start(void *user_data, phi_call call, phi_str arguments) {
    phi_tool_result result;
    (void)user_data;
    (void)arguments;
    memset(&result, 0, sizeof result);
    set(phi_fact_agent(phi_call_get_info(call).agent), "door", "open");
    (void)phi_call_result(call, &result);
    return PHI_DONE;
}

TEST(a_fact_that_a_tool_sets_is_told_with_the_next_call_as_an_update_of_the_log) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tool;
    phi_agent agent;
    size_t i;
    memset(&tool, 0, sizeof tool);
    tool.name = "open";
    tool.description = "Opens";
    tool.start = set_start;
    desc.options.capture_requests = true;
    agent = agent_with(r, &desc, &tool);
    rig_call(r, "c1", "open", "{}");
    rig_says(r, "Open.");
    CHECK_EQ_INT(phi_prompt(agent, "Open it"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 40), 0);
    CHECK(strstr(rig_request(r, 0), HEAD) == NULL);
    CHECK(strstr(rig_request(r, 1), HEAD "\\ndoor: open\"") != NULL);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 5);
    for (i = 0; i < 5; i++) {
        CHECK_EQ_INT(phi_thread_message_at(phi_agent_thread(agent), i)->is_update, i == 3);
        CHECK_EQ_INT(strstr(text_at(agent, i, 0), HEAD) != NULL, i == 3);
    }
    rig_free(r);
}

TEST(the_first_fact_is_shown_by_every_run_that_is_under_way) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tool = rig_wait(r);
    phi_agent one = agent_with(r, &desc, &tool), other = agent_with(r, &desc, &tool);
    rig_call(r, "c1", "wait", "{}");
    rig_call(r, "c2", "wait", "{}");
    rig_says(r, "Yes.");
    rig_says(r, "Yes.");
    CHECK_EQ_INT(phi_prompt(one, "Well?"), PHI_OK);
    CHECK_EQ_INT(phi_prompt(other, "Well?"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 2);
    REQUIRE(rig_started(r) == 2);
    CHECK(strstr(last_request(r), HEAD) == NULL);
    set(phi_fact_all(one.rt), "weather", "rain");
    rig_finish(r, 0, "done");
    rig_finish(r, 1, "done");
    CHECK_EQ_INT(rig_run(r, 40), 0);
    REQUIRE(rig_requests(r) == 4);
    CHECK(strstr(rig_request(r, 2), HEAD "\\nweather: rain\"") != NULL);
    CHECK(strstr(rig_request(r, 3), HEAD "\\nweather: rain\"") != NULL);
    rig_free(r);
}

TEST(a_writer_of_summaries_sees_no_facts) {
    rig *r = rig_new();
    phi_agent agent = plain_agent(r);
    int i;
    set(phi_fact_all(agent.rt), "secret", "swordfish");
    for (i = 0; i < 4; i++) (void)ask(r, agent);
    rig_says(r, "A summary.");
    CHECK_EQ_INT(phi_summarize(agent, 0, phi_thread_count(phi_agent_thread(agent)) - 1), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 60), 0);
    CHECK_EQ_INT(rig_requests(r), 5);
    CHECK(strstr(last_request(r), "Well?") != NULL);
    CHECK(strstr(last_request(r), "swordfish") == NULL);
    rig_free(r);
}

TEST(more_facts_than_a_request_shows_leave_out_the_broader_ones) {
    rig *r = rig_new();
    phi_agent agent = plain_agent(r);
    static char value[4001];
    char name[32], key[32];
    const char *body;
    int g, i;
    memset(value, 'v', 4000);
    for (g = 0; g < 5; g++) {
        phi_fact_scope group;
        (void)snprintf(name, sizeof name, "g%d", g);
        group = phi_fact_group(agent.rt, name);
        CHECK_EQ_INT(phi_fact_join(agent, name, true), PHI_OK);
        for (i = 0; i < 4; i++) {
            (void)snprintf(key, sizeof key, "k%d%d", g, i);
            set(group, key, value);
        }
    }
    set(phi_fact_all(agent.rt), "a long one of all", value);
    set(phi_fact_all(agent.rt), "of all", "short");
    set(phi_fact_agent(agent), "z", "own");
    body = ask(r, agent);
    CHECK(strstr(body, "\\nz: own") != NULL);
    CHECK(strstr(body, "a long one of all") == NULL);
    CHECK(strstr(body, "\\nof all: short") != NULL); /* there is room */
    CHECK(strstr(body, "\\n[5 more are left out]\"") != NULL);
    rig_free(r);
}

/* ---- each protocol ---- */

typedef struct target {
    const char *name;
    phi_model model;
} target;

enum { TARGETS = 8 };

static void targets(target out[TARGETS]) {
    size_t i = 0;
    out[i].name = "anthropic";
    out[i++].model = phi_model_anthropic("claude-sonnet-4-5", "k");
    out[i].name = "openai-chat";
    out[i++].model = phi_model_openai("gpt-4.1", "k");
    out[i].name = "openai-chat, a local server";
    out[i++].model = phi_model_preset("llama_cpp", "local", NULL);
    out[i].name = "openai-responses";
    out[i++].model = phi_model_openai_responses("gpt-5", "k");
    out[i].name = "azure";
    out[i++].model = phi_model_azure("https://x.openai.azure.com", "gpt-5", "k");
    out[i].name = "gemini";
    out[i++].model = phi_model_google("gemini-2.5-pro", "k");
    out[i].name = "vertex";
    out[i++].model = phi_model_vertex("https://aiplatform.googleapis.com/v1/projects/p/locations/l",
                                      "gemini-2.5-pro", "t");
    out[i].name = "bedrock";
    out[i++].model = phi_model_bedrock(NULL, "us.anthropic.claude-sonnet-4-5-20250929-v1:0", "k");
    CHECK_EQ_INT(i, TARGETS);
}

/* A history that ends with a tool's result. */
static void history(phi_agent agent) {
    phi_content block;
    phi_message m = text_message(PHI_ROLE_USER, &block, "Who is there?");
    CHECK_EQ_INT(phi_thread_append(phi_agent_thread(agent), &m, 1, NULL), PHI_OK);
    memset(&block, 0, sizeof block);
    block.kind = PHI_CONTENT_TOOL_CALL;
    block.id = phi_str_of("call_1");
    block.name = phi_str_of("look");
    block.arguments = phi_str_of("{}");
    m.role = PHI_ROLE_ASSISTANT;
    m.stop_reason = PHI_STOP_REASON_TOOL_USE;
    CHECK_EQ_INT(phi_thread_append(phi_agent_thread(agent), &m, 1, NULL), PHI_OK);
    m = text_message(PHI_ROLE_TOOL_RESULT, &block, "A guard.");
    m.tool_call_id = phi_str_of("call_1");
    m.tool_name = phi_str_of("look");
    CHECK_EQ_INT(phi_thread_append(phi_agent_thread(agent), &m, 1, NULL), PHI_OK);
}

static phi_agent target_agent(rig *r, const target *t, const phi_tool *tool) {
    phi_agent_desc desc = rig_desc();
    desc.model = t->model;
    desc.system_prompt = "You stand at the gate.";
    desc.ids.session_id = "s";
    desc.ids.agent_id = t->name;
    return agent_with(r, &desc, tool);
}

/* The body of a call that continues the agent's history; its answer is of no interest. */
static const char *continued(rig *r, phi_agent agent) {
    rig_replies(r, 400, HEARD_JSON, HEARD_BOOM);
    CHECK_EQ_INT(phi_continue(agent, PHI_CONTINUATION_DEFAULT), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 40), 0);
    return last_request(r);
}

static char *golden(const char *text, size_t len) {
    const char *write = getenv("PHI_WRITE_FACTS");
    FILE *file = write != NULL && write[0] == '1' ? fopen(facts_path, "wb") : NULL;
    if (file != NULL) {
        CHECK(fwrite(text, 1, len, file) == len);
        CHECK(fclose(file) == 0);
    }
    return test_read_file(facts_path, NULL);
}

TEST(requests_of_two_agents_show_in_each_protocol_what_each_may_know) {
    static char text[40000];
    target all[TARGETS];
    size_t i, a, n = 0;
    char *want;
    rig *r = rig_new();
    phi_tool tool = rig_echo();
    phi_runtime *rt = rig_runtime(r);
    tool.name = "look";
    targets(all);
    set(phi_fact_all(rt), "weather", "rain, \"cats\" and dogs");
    set(phi_fact_group(rt, "guards"), "password", "swordfish");
    for (i = 0; i < TARGETS; i++)
        for (a = 0; a < 2; a++) {
            phi_agent agent = target_agent(r, &all[i], &tool);
            const char *body;
            if (a == 0) CHECK_EQ_INT(phi_fact_join(agent, "guards", true), PHI_OK);
            if (a == 1) set(phi_fact_agent(agent), "loot", "under the oak");
            history(agent);
            body = continued(r, agent);
            CHECK((strstr(body, "swordfish") != NULL) == (a == 0));
            CHECK((strstr(body, "oak") != NULL) == (a == 1));
            n += (size_t)snprintf(text + n, sizeof text - n, "== %s, %s\n%s\n", all[i].name,
                                  a == 0 ? "a guard" : "a thief", body);
            phi_agent_free(agent);
        }
    want = golden(text, n);
    CHECK_EQ_STR(text, want);
    free(want);
    rig_free(r);
}

/* Bytes that two bodies have in common at their beginning. */
static size_t common(const char *a, const char *b) {
    size_t n = 0;
    while (a[n] != '\0' && a[n] == b[n]) n++;
    return n;
}

/* But for cache marks, which move. */
static char *unmarked(const char *body) {
    static const char *const marks[] = {",\"cache_control\":{\"type\":\"ephemeral\"}",
                                        ",{\"cachePoint\":{\"type\":\"default\"}}"};
    char *out = strdup(body), *at;
    size_t i;
    for (i = 0; out != NULL && i < 2; i++)
        while ((at = strstr(out, marks[i])) != NULL)
            memmove(at, at + strlen(marks[i]), strlen(at + strlen(marks[i])) + 1);
    return out;
}

TEST(a_request_is_the_last_one_and_what_has_changed) {
    target all[TARGETS];
    size_t i;
    targets(all);
    for (i = 0; i < TARGETS; i++) {
        rig *r = rig_new();
        phi_tool tool = rig_echo();
        phi_agent agent;
        char *first, *second;
        const char *update;
        size_t same;
        tool.name = "look";
        agent = target_agent(r, &all[i], &tool);
        history(agent);
        set(phi_fact_all(rig_runtime(r)), "weather", "rain");
        set(phi_fact_all(rig_runtime(r)), "king", "is ill");
        first = unmarked(continued(r, agent));
        set(phi_fact_all(rig_runtime(r)), "weather", "sun");
        set(phi_fact_all(rig_runtime(r)), "an earlier key", "x");
        CHECK_EQ_INT(phi_fact_set(phi_fact_all(rig_runtime(r)), "king", phi_str_of(NULL), NULL),
                     PHI_OK);
        second = unmarked(continued(r, agent));
        REQUIRE(first != NULL && second != NULL && strstr(first, HEAD) != NULL);
        update = strstr(second, "[What has changed]\\nan earlier key: x\\nweather: sun\\n"
                                "[No longer known]\\nking\"");
        CHECK(update != NULL && strstr(update + 1, "[What") == NULL);
        CHECK_EQ_INT(count_of(second, HEAD "\\nking: is ill\\nweather: rain\""), 1);
        same = common(first, second);
        if (!CHECK(same > (size_t)(strstr(first, "weather: rain") - first))) {
            printf("%s\n%s\n", first, second);
        }
        free(first);
        free(second);
        rig_free(r);
    }
}

TEST(facts_that_stay_the_same_are_told_once) {
    rig *r = rig_new();
    phi_agent agent = plain_agent(r);
    int i;
    set(phi_fact_all(agent.rt), "weather", "rain");
    for (i = 0; i < 4; i++) CHECK_EQ_INT(count_of(ask(r, agent), "[What"), 1);
    set(phi_fact_all(agent.rt), "weather", "sun");
    set(phi_fact_all(agent.rt), "weather", "rain");
    CHECK_EQ_INT(count_of(ask(r, agent), "[What"), 1);
    CHECK_EQ_INT(phi_fact_set(phi_fact_all(agent.rt), "weather", phi_str_of(NULL), NULL), PHI_OK);
    CHECK_EQ_INT(count_of(ask(r, agent), "[No longer known]\\nweather\""), 1);
    CHECK_EQ_INT(count_of(ask(r, agent), "[No longer known]"), 1);
    rig_free(r);
}

TEST(facts_are_told_in_full_again_where_the_view_has_lost_them) {
    rig *r = rig_new();
    phi_agent agent = plain_agent(r);
    int i;
    set(phi_fact_all(agent.rt), "king", "is ill");
    set(phi_fact_all(agent.rt), "weather", "rain");
    (void)ask(r, agent);
    set(phi_fact_all(agent.rt), "weather", "sun");
    CHECK_EQ_INT(count_of(ask(r, agent), "[What has changed]\\nweather: sun\""), 1);
    CHECK_EQ_INT(phi_agent_replace_messages(agent, NULL, 0), PHI_OK);
    CHECK_EQ_INT(count_of(ask(r, agent), HEAD "\\nking: is ill\\nweather: sun\""), 1);
    for (i = 0; i < 70; i++) { /* after 64 changes as well: a request stays readable */
        set(phi_fact_all(agent.rt), "weather", i % 2 == 0 ? "rain" : "sun");
        (void)ask(r, agent);
    }
    CHECK_EQ_INT(count_of(last_request(r), HEAD), 2);
    CHECK_EQ_INT(count_of(last_request(r), "[What has changed]"), 69);
    rig_free(r);
}

TEST(an_update_is_a_system_message_where_the_model_takes_one) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    const char *body;
    desc.model.id = "claude-opus-5-5";
    desc.cache.mode = PHI_CACHE_DISABLED;
    agent = rig_agent(r, &desc);
    set(phi_fact_all(agent.rt), "weather", "rain");
    body = ask(r, agent);
    CHECK(strstr(body, "\"text\":\"Well?\"}]},{\"role\":\"system\",\"content\":[{\"type\":\"text\","
                       "\"text\":\"" HEAD "\\nweather: rain\"}]}]}") != NULL);
    body = ask(r, agent);
    CHECK(strstr(body, "weather: rain\"}]},{\"role\":\"assistant\",\"content\":[{\"type\":\"text\","
                       "\"text\":\"Yes.\"}]},{\"role\":\"user\"") != NULL);
    /* behind it no answer came: the user's message may not follow a system message */
    set(phi_fact_all(agent.rt), "weather", "sun");
    rig_replies(r, 400, HEARD_JSON, HEARD_BOOM);
    CHECK_EQ_INT(phi_prompt(agent, "Well?"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 40), 0);
    CHECK(strstr(last_request(r),
                 "{\"role\":\"system\",\"content\":[{\"type\":\"text\",\"text\":\"[What has "
                 "changed]") != NULL);
    body = ask(r, agent);
    CHECK(strstr(body,
                 "\"text\":\"[What has changed]\\nweather: sun\"},{\"type\":\"text\",\"text\":"
                 "\"Well?\"}]}") != NULL);
    rig_free(r);
}

TEST(the_cache_mark_is_behind_the_facts_for_they_stay) {
    rig *r = rig_new();
    phi_agent agent = plain_agent(r);
    const char *body;
    set(phi_fact_all(agent.rt), "weather", "rain");
    body = ask(r, agent);
    CHECK(strstr(body,
                 "\"text\":\"Well?\"},{\"type\":\"text\",\"text\":\"" HEAD "\\nweather: rain\","
                 "\"cache_control\":{\"type\":\"ephemeral\"}}]}") != NULL);
    rig_free(r);
}

/* ---- saved ---- */

TEST(a_snapshot_has_the_agents_own_facts_and_its_groups) {
    rig *r = rig_new();
    phi_runtime *rt = rig_runtime(r);
    phi_agent_desc desc = rig_desc();
    phi_agent agent = rig_agent(r, &desc), again;
    phi_memory memory;
    phi_arena arena;
    phi_str text = {NULL, 0};
    phi_fact fact;
    CHECK_EQ_INT(phi_fact_join(agent, "guards", true), PHI_OK);
    set(phi_fact_agent(agent), "mood", "bad");
    set(phi_fact_agent(agent), "mood", "good");
    set(phi_fact_all(rt), "weather", "rain");
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(phi_agent_snapshot(agent, &arena, &text), PHI_OK);
    phi_agent_free(agent);
    again = phi_agent_restore(rt, &desc, text, PHI_RESTORE_RESUME);
    phi_arena_free(&arena);
    set(phi_fact_group(rt, "guards"), "password", "swordfish");
    CHECK_EQ_STR(known(again), "mood=good password=swordfish weather=rain ");
    CHECK_EQ_INT(phi_fact_get(phi_fact_agent(again), "mood", &fact), PHI_OK);
    CHECK_EQ_INT(fact.version, 2);
    rig_free(r);
}

TEST(another_runtime_shows_the_facts_that_it_was_given) {
    rig *r = rig_new(), *other = rig_new(), *third = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent = rig_agent(r, &desc), again;
    phi_memory memory;
    phi_arena arena;
    phi_str text = {NULL, 0};
    set(phi_fact_agent(agent), "mood", "good");
    set(phi_fact_all(agent.rt), "weather", "rain");
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(phi_agent_snapshot(agent, &arena, &text), PHI_OK);
    again = phi_agent_restore(rig_runtime(other), &desc, text, PHI_RESTORE_RESUME);
    REQUIRE(again.rt != NULL);
    CHECK(strstr(ask(other, again), HEAD "\\nmood: good\"") != NULL);
    CHECK_EQ_INT(phi_facts_save(agent.rt, &arena, &text), PHI_OK);
    CHECK_EQ_INT(phi_facts_load(rig_runtime(third), text), PHI_OK);
    CHECK(strstr(ask(third, plain_agent(third)), HEAD "\\nweather: rain\"") != NULL);
    phi_arena_free(&arena);
    rig_free(third);
    rig_free(other);
    rig_free(r);
}

TEST(facts_of_all_and_of_groups_are_saved_and_loaded_as_text) {
    rig *r = rig_new();
    phi_runtime *rt = rig_runtime(r);
    phi_memory memory;
    phi_arena arena;
    phi_str text = {NULL, 0}, back = {NULL, 0};
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(phi_facts_save(rt, &arena, &text), PHI_OK);
    CHECK_STR(text, "{\"phi_facts\":1,\"all\":{},\"groups\":{}}");
    set(phi_fact_all(rt), "a", "1\n2");
    set(phi_fact_group(rt, "h"), "x", "");
    set(phi_fact_group(rt, "g"), "c", "old");
    set(phi_fact_group(rt, "g"), "c", "new");
    CHECK_EQ_INT(phi_facts_save(rt, &arena, &text), PHI_OK);
    CHECK_STR(text, "{\"phi_facts\":1,\"all\":{\"a\":{\"value\":\"1\\n2\",\"version\":1}},"
                    "\"groups\":{\"g\":{\"c\":{\"value\":\"new\",\"version\":2}},"
                    "\"h\":{\"x\":{\"value\":\"\",\"version\":1}}}}");
    set(phi_fact_all(rt), "more", "x");
    CHECK_EQ_INT(phi_facts_load(rt, text), PHI_OK);
    CHECK_EQ_INT(phi_facts_save(rt, &arena, &back), PHI_OK);
    CHECK(phi_str_equal(text, back));
    phi_arena_free(&arena);
    rig_free(r);
}

TEST(a_text_that_holds_no_facts_is_refused_and_changes_nothing) {
    static const char *const texts[] = {"",
                                        "[]",
                                        "{",
                                        "{\"all\":1}",
                                        "{\"all\":{\"a\":1}}",
                                        "{\"all\":{\"a\":{\"version\":1}}}",
                                        "{\"all\":{\"\":{\"value\":\"x\"}}}",
                                        "{\"groups\":{\"\":{}}}",
                                        "{\"groups\":{\"g\":[]}}",
                                        "{\"groups\":{\"g\":{\"a\":{\"value\":\"x\\u0000\"}}}}"};
    rig *r = rig_new();
    phi_runtime *rt = rig_runtime(r);
    phi_fact fact;
    size_t i;
    set(phi_fact_all(rt), "a", "1");
    for (i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (!CHECK_EQ_INT(phi_facts_load(rt, phi_str_of(texts[i])), PHI_PARSE))
            printf("%s\n", texts[i]);
        CHECK_EQ_STR(words_of(r), "phi_facts_load: expected facts as phi_facts_save writes them");
        CHECK_EQ_INT(phi_fact_get(phi_fact_all(rt), "a", &fact), PHI_OK);
    }
    CHECK_EQ_INT(phi_facts_load(rt, phi_str_of("{}")), PHI_OK);
    CHECK_EQ_INT(phi_fact_get(phi_fact_all(rt), "a", &fact), PHI_NOT_FOUND);
    CHECK_EQ_INT(phi_facts_load(NULL, phi_str_of("{}")), PHI_BAD_ARG);
    rig_free(r);
}

/* ---- memory ---- */

TEST(facts_survive_every_failed_allocation) {
    bool tripped = true;
    int n;
    for (n = 0; tripped && n < 4000; n++) {
        rig *r = rig_new();
        phi_runtime *rt = rig_runtime(r);
        phi_agent agent = plain_agent(r);
        phi_memory memory;
        phi_arena arena;
        phi_str text = {NULL, 0};
        phi_fact fact;
        bool set_all;
        phi_memory_init(&memory, NULL, 0);
        phi_arena_init(&arena, &memory, 0);
        test_alloc_fail_at(n);
        set_all = phi_fact_set(phi_fact_all(rt), "a", phi_str_of("1"), NULL) == PHI_OK;
        (void)phi_fact_set(phi_fact_group(rt, "g"), "b", phi_str_of("2"), NULL);
        (void)phi_fact_set(phi_fact_agent(agent), "c", phi_str_of("3"), NULL);
        (void)phi_fact_join(agent, "g", true);
        if (phi_facts_save(rt, &arena, &text) == PHI_OK) (void)phi_facts_load(rt, text);
        rig_says(r, "Yes.");
        if (phi_prompt(agent, "Well?") == PHI_OK) CHECK_EQ_INT(rig_run(r, 100), 0);
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        CHECK_EQ_INT(phi_fact_get(phi_fact_all(rt), "a", &fact), set_all ? PHI_OK : PHI_NOT_FOUND);
        if (!tripped) CHECK_EQ_STR(known(agent), "a=1 b=2 c=3 ");
        phi_arena_free(&arena);
        rig_free(r);
        if (!CHECK_EQ_INT(test_alloc_live_bytes(), 0)) return;
    }
    CHECK(n > 20);
    CHECK(!tripped);
}

TEST_MAIN(TEST_ENTRY(a_fact_is_set_read_and_unset_and_its_version_counts_its_changes),
          TEST_ENTRY(facts_of_a_scope_are_listed_by_key),
          TEST_ENTRY(what_is_no_fact_is_refused_with_words),
          TEST_ENTRY(a_scope_is_bounded_in_number_and_bytes),
          TEST_ENTRY(one_agent_cannot_tell_what_only_another_knows),
          TEST_ENTRY(the_narrower_scope_goes_first_where_both_have_a_key),
          TEST_ENTRY(a_value_of_several_lines_cannot_pass_for_another_fact),
          TEST_ENTRY(without_facts_or_where_they_are_disabled_nothing_is_shown),
          TEST_ENTRY(a_fact_that_a_tool_sets_is_told_with_the_next_call_as_an_update_of_the_log),
          TEST_ENTRY(the_first_fact_is_shown_by_every_run_that_is_under_way),
          TEST_ENTRY(a_writer_of_summaries_sees_no_facts),
          TEST_ENTRY(more_facts_than_a_request_shows_leave_out_the_broader_ones),
          TEST_ENTRY(requests_of_two_agents_show_in_each_protocol_what_each_may_know),
          TEST_ENTRY(a_request_is_the_last_one_and_what_has_changed),
          TEST_ENTRY(facts_that_stay_the_same_are_told_once),
          TEST_ENTRY(facts_are_told_in_full_again_where_the_view_has_lost_them),
          TEST_ENTRY(an_update_is_a_system_message_where_the_model_takes_one),
          TEST_ENTRY(the_cache_mark_is_behind_the_facts_for_they_stay),
          TEST_ENTRY(a_snapshot_has_the_agents_own_facts_and_its_groups),
          TEST_ENTRY(another_runtime_shows_the_facts_that_it_was_given),
          TEST_ENTRY(facts_of_all_and_of_groups_are_saved_and_loaded_as_text),
          TEST_ENTRY(a_text_that_holds_no_facts_is_refused_and_changes_nothing),
          TEST_ENTRY(facts_survive_every_failed_allocation))
