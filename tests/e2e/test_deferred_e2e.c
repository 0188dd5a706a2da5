/* test_deferred_e2e.c - deferred tools over loopback HTTP: a model calls a tool that its provider's
   search has found, or that it has loaded by phi's tools, before and after a restore. The strict mock
   shows a model no tool that it has not found or loaded, and checks the prefix of thinking. */
#include "agent/snapshot.h"
#include "e2e/e2e.h"
#include "base/arena.h"
#include "support/set.h"

typedef struct protocol {
    const char *protocol, *provider, *id, *base; /* base: behind the scenario */
    bool thinks;
} protocol;

typedef struct talk {
    crowd *c;
    seen *s;
    phi_agent_desc desc;
    phi_tool tools[3];
    char url[400];
} talk;

/* "never", and the deferred "double" and "other". */
static void talk_desc(talk *t, const protocol *p, const char *path) {
    memset(t, 0, sizeof *t);
    t->desc = e2e_desc(E2E_ANTHROPIC, "");
    (void)snprintf(t->url, sizeof t->url, "%s%s", mock_url(path), p->base);
    memset(&t->desc.model, 0, sizeof t->desc.model);
    t->desc.model.protocol = p->protocol;
    t->desc.model.provider = p->provider;
    t->desc.model.id = p->id;
    t->desc.model.base_url = t->url;
    t->desc.model.api_key = "a-key";
    t->desc.model.reasoning = p->thinks;
    t->desc.thinking = p->thinks ? PHI_THINKING_LOW : PHI_THINKING_OFF;
    t->tools[0] = e2e_tools()[1];
    t->tools[1] = t->tools[2] = e2e_tools()[0];
    t->tools[2].name = "other";
    t->tools[1].deferred = t->tools[2].deferred = true;
    t->desc.tools = t->tools;
    t->desc.tool_count = 3;
}

static bool talk_begin(talk *t, const protocol *p, const char *path) {
    talk_desc(t, p, path);
    e2e_forget();
    t->c = crowd_new(NULL);
    if (t->c == NULL) return false;
    t->s = crowd_add(t->c, &t->desc, p->id);
    return t->s != NULL;
}

static bool says(talk *t, const char *want) {
    bool good = CHECK(crowd_ask(t->s, "Well?")) && CHECK_EQ_INT(t->s->status, PHI_OK) &&
                CHECK_EQ_STR(t->s->text, want) && CHECK(crowd_history_holds(t->s));
    char *log = good ? NULL : mock_ask("GET", "/_log?last=1");
    if (!good) printf("  %s: %s\n%.3000s\n", t->s->name, t->s->failure_text, log);
    free(log);
    return good;
}

/* The agent again, out of its snapshot. */
static bool restored(talk *t) {
    phi_memory memory;
    phi_arena arena;
    phi_str text = {NULL, 0};
    phi_agent_desc desc = t->desc;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    if (CHECK_EQ_INT(phi_agent_snapshot(t->s->agent, &arena, &text), PHI_OK)) {
        phi_agent_free(t->s->agent);
        desc.user_data = t->s;
        t->s->agent = phi_agent_restore(crowd_runtime(t->c), &desc, text, PHI_RESTORE_RESUME);
    }
    phi_arena_free(&arena);
    return CHECK(t->s->agent.rt != NULL);
}

/* ---- by the provider ---- */

static const protocol searching[] = {
    {PHI_PROTOCOL_ANTHROPIC, "anthropic", "claude-sonnet-4-5", "", false},
    {PHI_PROTOCOL_ANTHROPIC, "anthropic", "claude-opus-5-5", "", true},
    {PHI_PROTOCOL_OPENAI_RESPONSES, "openai", "gpt-5.4", "/v1", true},
    {PHI_PROTOCOL_AZURE_RESPONSES, "azure_openai", "gpt-5.4-mini", "/openai/v1", true}};

/* Six requests; all thinking of before goes with each. */
static void finds(const protocol *p, const char *path) {
    bool claude = strcmp(p->protocol, PHI_PROTOCOL_ANTHROPIC) == 0;
    talk t;
    if (!talk_begin(&t, p, path)) return;
    if (says(&t, claude ? "42 of tool_search_tool_bm25, never, double." : "42 of never, double.") &&
        restored(&t) &&
        says(&t, claude ? "8 of tool_search_tool_bm25, never, double." : "8 of never, double."))
        (void)says(&t, claude ? "10 of tool_search_tool_bm25, never, double, other."
                              : "10 of never, double, other.");
    CHECK_EQ_INT(e2e_stat("refused"), 0);
    if (strcmp(p->id, "claude-opus-5-5") == 0) {
        CHECK_EQ_INT(e2e_stat("thinking_sent"), 0 + 1 + 2 + 3 + 4 + 5);
        CHECK_EQ_INT(e2e_stat("thinking_dropped"), 0);
    }
    crowd_free(t.c);
}

TEST(what_a_provider_found_stays_found_after_a_restore) {
    size_t i;
    for (i = 0; i < sizeof searching / sizeof searching[0]; i++) {
        finds(&searching[i], "/s/found");
        finds(&searching[i], "/m/bytes/s/found");
    }
}

/* ---- by phi's tools ---- */

static const protocol loading[] = {
    {PHI_PROTOCOL_OPENAI_CHAT, "openai", "gpt-4.1-mini", "/v1", false},
    {PHI_PROTOCOL_OPENAI_RESPONSES, "openai", "gpt-5-mini", "/v1", true},
    {PHI_PROTOCOL_GOOGLE, "google", "gemini-2.5-flash", "/v1beta", false},
    {PHI_PROTOCOL_INTERACTIONS, "google", "gemini-2.5-flash", "/v1beta", false},
    {PHI_PROTOCOL_BEDROCK, "bedrock", "us.anthropic.claude-sonnet-4-5-20250929-v1:0", "", false}};

static void loads(const protocol *p, const char *path) {
    talk t;
    if (!talk_begin(&t, p, path)) return;
    if (says(&t, "42 of never, search_tools, load_tools, double.") && restored(&t) &&
        says(&t, "8 of never, search_tools, load_tools, double."))
        (void)says(&t, "10 of never, search_tools, load_tools, double, other.");
    CHECK_EQ_INT(e2e_stat("refused"), 0);
    crowd_free(t.c);
}

TEST(what_a_model_loaded_stays_loaded_after_a_restore) {
    size_t i;
    for (i = 0; i < sizeof loading / sizeof loading[0]; i++) {
        loads(&loading[i], "/s/loaded");
        loads(&loading[i], "/m/bytes/s/loaded");
    }
}

/* ---- thinking that is bound to its prefix ---- */

static const protocol opus = {PHI_PROTOCOL_ANTHROPIC, "anthropic", "claude-opus-5-5", "", true};
static const protocol bedrock = {PHI_PROTOCOL_BEDROCK, "bedrock",
                                 "us.anthropic.claude-opus-5-5-v1:0", "", true};
static const protocol chat = {PHI_PROTOCOL_OPENAI_CHAT, "openai", "gpt-4.1-mini", "/v1", false};

/* Another model from now on. */
static void use(talk *t, const protocol *p, const char *path) {
    talk other;
    talk_desc(&other, p, path);
    CHECK_EQ_INT(set_model(t->s->agent, &other.desc.model), PHI_OK);
}

static void end(talk *t, int sent) {
    CHECK_EQ_INT(e2e_stat("refused"), 0);
    CHECK_EQ_INT(e2e_stat("thinking_dropped"), 0);
    CHECK_EQ_INT(e2e_stat("thinking_sent"), sent);
    crowd_free(t->c);
}

/* Converse has no definitions in messages: each load makes the tools anew, and what was thought
   before it stays at home. */
TEST(loading_at_bedrock_costs_the_thinking_before_it_and_is_not_refused) {
    talk t;
    if (!talk_begin(&t, &bedrock, "/s/loaded")) return;
    if (says(&t, "42 of never, search_tools, load_tools, double.") && restored(&t) &&
        says(&t, "8 of never, search_tools, load_tools, double."))
        (void)says(&t, "10 of never, search_tools, load_tools, double, other.");
    /* loads with requests 1 and 6, counted from 0 */
    end(&t, (0 + 1) + (0 + 1 + 2 + 3 + 4) + (0 + 1));
}

TEST(what_another_model_loads_costs_claude_no_thinking) {
    talk t;
    if (!talk_begin(&t, &chat, "/s/load_double")) return;
    if (says(&t, "double: loaded.")) {
        use(&t, &opus, "/s/calls_double");
        (void)says(&t, "42");
        use(&t, &chat, "/s/load_other");
        (void)says(&t, "other: loaded.");
        use(&t, &opus, "/s/calls_double");
        (void)says(&t, "42");
        if (restored(&t)) {
            use(&t, &opus, "/s/calls_double");
            (void)says(&t, "42");
        }
    }
    end(&t, 0 + 1 + 2 + 3 + 4 + 5);
}

TEST(a_tool_that_claude_found_and_another_model_loaded_stays_where_claude_found_it) {
    talk t;
    if (!talk_begin(&t, &opus, "/s/find_double")) return;
    if (says(&t, "42")) {
        use(&t, &chat, "/s/load_double");
        (void)says(&t, "double: loaded.");
        use(&t, &opus, "/s/calls_double");
        (void)says(&t, "42");
        (void)says(&t, "42");
    }
    end(&t, 0 + 1 + 2 + 3 + 4 + 5);
}

TEST(a_tool_that_becomes_deferred_or_is_no_longer_costs_claude_no_thinking) {
    talk t;
    int i;
    if (!talk_begin(&t, &opus, "/s/calls_double")) return;
    CHECK_EQ_INT(set_tools(t.s->agent, t.tools, 1), PHI_OK);
    t.tools[1].deferred = t.tools[2].deferred = false;
    for (i = 0; i < 4; i++) {
        CHECK_EQ_INT(set_tools(t.s->agent, t.tools, 3), PHI_OK);
        (void)says(&t, "42");
        t.tools[1].deferred = t.tools[2].deferred = i % 2 == 0;
    }
    end(&t, 0 + 1 + 2 + 3 + 4 + 5 + 6 + 7);
}

TEST(a_tool_that_claude_found_and_that_is_no_longer_deferred_costs_no_thinking) {
    talk t;
    int i;
    if (!talk_begin(&t, &opus, "/s/find_double")) return;
    if (says(&t, "42")) {
        use(&t, &opus, "/s/calls_double");
        for (i = 0; i < 3; i++) {
            t.tools[1].deferred = t.tools[2].deferred = i % 2 != 0;
            CHECK_EQ_INT(set_tools(t.s->agent, t.tools, 3), PHI_OK);
            (void)says(&t, "42");
        }
    }
    end(&t, 0 + 1 + 2 + 3 + 4 + 5 + 6 + 7);
}

/* A change of tools that went over one wire says nothing over the other. */
TEST(a_tool_that_came_in_mid_conversation_is_there_at_bedrock_as_well) {
    talk t;
    if (!talk_begin(&t, &opus, "/s/calls_double")) return;
    t.tools[1].deferred = t.tools[2].deferred = false;
    CHECK_EQ_INT(set_tools(t.s->agent, t.tools, 2), PHI_OK);
    if (says(&t, "42")) {
        CHECK_EQ_INT(set_tools(t.s->agent, t.tools, 3), PHI_OK);
        (void)says(&t, "42");
        use(&t, &bedrock, "/s/tools");
        (void)says(&t, "Tools: never, double, other. System: You are a test.");
        use(&t, &opus, "/s/tools");
        (void)says(&t, "Tools: never, double, other. System: You are a test.");
    }
    CHECK_EQ_INT(e2e_stat("refused"), 0);
    CHECK_EQ_INT(e2e_stat("thinking_dropped"), 0);
    crowd_free(t.c);
}

/* ---- random lives ---- */

static uint32_t chance_state;
static uint32_t chance(uint32_t most) {
    chance_state ^= chance_state << 13;
    chance_state ^= chance_state >> 17;
    chance_state ^= chance_state << 5;
    return chance_state % most;
}

static void changed(talk *t) {
    static const protocol *const models[] = {&opus, &opus, &opus, &bedrock, &chat};
    static const char *const paths[] = {"/s/find_double", "/s/calls_double", "/s/load_double",
                                        "/s/load_other"};
    phi_tool tools[3];
    size_t i, n = 0;
    switch (chance(4)) {
    case 0:
        for (i = 0; i < 3; i++) {
            if (i > 0) t->tools[i].deferred = chance(2) == 0;
            if (i == 0 || chance(3) != 0) tools[n++] = t->tools[i];
        }
        CHECK_EQ_INT(set_tools(t->s->agent, tools, n), PHI_OK);
        break;
    case 1: (void)restored(t); break;
    default: use(t, models[chance(5)], paths[chance(4)]); break;
    }
}

static void live(uint32_t seed) {
    int i, before = test_failures();
    talk t;
    if (!talk_begin(&t, &opus, "/s/find_double")) return;
    chance_state = seed * 2654435761u + 1;
    for (i = 0; i < 14 && test_failures() == before; i++) {
        char words[20];
        /* No request is like another: the mock makes ids of calls out of them. */
        (void)snprintf(words, sizeof words, "Well, %d?", i);
        changed(&t);
        if (CHECK(crowd_ask(t.s, words)) && !CHECK_EQ_INT(t.s->status, PHI_OK))
            printf("  seed %u, prompt %d: %s\n", (unsigned)seed, i, t.s->failure_text);
    }
    CHECK_EQ_INT(e2e_stat("refused"), 0);
    CHECK_EQ_INT(e2e_stat("thinking_dropped"), 0);
    if (test_failures() != before) printf("  seed %u\n", (unsigned)seed);
    crowd_free(t.c);
}

TEST(no_life_with_deferred_tools_is_refused_or_loses_thinking_without_a_word) {
    const char *lives = getenv("PHI_LIVES"), *from = getenv("PHI_LIVES_FROM");
    uint32_t most = lives != NULL ? (uint32_t)atoi(lives) : 12;
    uint32_t first = from != NULL ? (uint32_t)atoi(from) : 1, i;
    for (i = first; i < first + most && test_failures() < 3; i++) live(i);
}

MOCK_MAIN(e2e_options, TEST_ENTRY(what_a_provider_found_stays_found_after_a_restore),
          TEST_ENTRY(what_a_model_loaded_stays_loaded_after_a_restore),
          TEST_ENTRY(loading_at_bedrock_costs_the_thinking_before_it_and_is_not_refused),
          TEST_ENTRY(what_another_model_loads_costs_claude_no_thinking),
          TEST_ENTRY(a_tool_that_claude_found_and_another_model_loaded_stays_where_claude_found_it),
          TEST_ENTRY(a_tool_that_becomes_deferred_or_is_no_longer_costs_claude_no_thinking),
          TEST_ENTRY(a_tool_that_claude_found_and_that_is_no_longer_deferred_costs_no_thinking),
          TEST_ENTRY(a_tool_that_came_in_mid_conversation_is_there_at_bedrock_as_well),
          TEST_ENTRY(no_life_with_deferred_tools_is_refused_or_loses_thinking_without_a_word))
