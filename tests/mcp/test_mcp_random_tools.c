/* test_mcp_random_tools.c - lists of tools by chance, in which every member may hold anything: each tool
   becomes one that all providers and phi take, or is left out with a message; and results by chance,
   which end every call. PHI_SEEDS says how many, PHI_SEED picks one. */
#include "support/preflight.h"
#include "mcp/tools.h"
#include "text/text_in.h"
#include "codecs/presets.h"
#include "model/model.h"

enum { SEEDS = 120, NAMES = 4 };

typedef struct maker {
    uint32_t random;
    char *at, *end;
} maker;

static char built[1 << 18];
static size_t offered, left_out, results;

static uint32_t pick(maker *m, uint32_t below) { return test_random(&m->random) % below; }

static void put(maker *m, const char *text) {
    size_t n = strlen(text);
    if ((size_t)(m->end - m->at) <= n) abort();
    memcpy(m->at, text, n + 1);
    m->at += n;
}

static void put_ref(maker *m) {
    static const char *const forms[] = {"\"#/$defs/%c\"",
                                        "\"#/$defs/%c\"",
                                        "\"#/$defs/%c\"",
                                        "\"#/properties/%c\"",
                                        "\"#/$defs/%c/items\"",
                                        "\"#\"",
                                        "\"#%c\"",
                                        "\"other.json#/%c\"",
                                        "\"#/$defs/%c/anyOf/0\"",
                                        "7"};
    char text[60];
    (void)snprintf(text, sizeof text, forms[pick(m, PHI__COUNT(forms))],
                   (int)('A' + pick(m, NAMES + 1)));
    put(m, text);
}

static void put_any(maker *m, int depth);

static void put_members(maker *m, int depth, bool named) {
    static const char *const keys[] = {"type",        "properties",
                                       "items",       "allOf",
                                       "anyOf",       "oneOf",
                                       "$ref",        "required",
                                       "enum",        "default",
                                       "nullable",    "minimum",
                                       "format",      "additionalProperties",
                                       "not",         "pattern",
                                       "description", "exclusiveMinimum",
                                       "$anchor",     "$id",
                                       "$defs",       "const",
                                       "title",       "prefixItems",
                                       "if",          "minItems",
                                       "definitions", "$dynamicRef",
                                       "uniqueItems", "maxLength",
                                       "x-mcp-header"};
    uint32_t count = pick(m, depth > 5 ? 2 : 5), i;
    put(m, "{");
    for (i = 0; i < count; i++) {
        char name[8] = "\"A\":";
        if (i > 0) put(m, ",");
        name[1] = (char)(name[1] + (char)pick(m, NAMES));
        if (named) {
            put(m, name);
        } else {
            put(m, "\"");
            put(m, keys[pick(m, PHI__COUNT(keys))]);
            put(m, "\":");
        }
        put_any(m, depth + 1);
    }
    put(m, "}");
}

static void put_any(maker *m, int depth) {
    static const char *const plain[] = {"true",
                                        "false",
                                        "null",
                                        "0",
                                        "-1",
                                        "1e300",
                                        "\"string\"",
                                        "\"object\"",
                                        "\"array\"",
                                        "\"integer\"",
                                        "\"A\"",
                                        "\"\"",
                                        "[\"A\",\"B\"]",
                                        "[\"string\",\"null\"]",
                                        "[]",
                                        "{}",
                                        "[1,\"a\",null]",
                                        "\"caf\\u00e9\\u0000\\u202e\"",
                                        "[[]]"};
    uint32_t kind = pick(m, depth > 6 ? 8 : 14), i;
    if (kind < 6) {
        put(m, plain[pick(m, PHI__COUNT(plain))]);
    } else if (kind < 8) {
        put(m, "{\"$ref\":");
        put_ref(m);
        put(m, "}");
    } else if (kind < 10) {
        put_members(m, depth, true);
    } else if (kind < 11) {
        put(m, "[");
        for (i = pick(m, 3) + 1; i > 0; i--) {
            put_any(m, depth + 1);
            if (i > 1) put(m, ",");
        }
        put(m, "]");
    } else
        put_members(m, depth, false);
}

/* A schema with a good chance of being one. */
static void put_schema(maker *m) {
    if (pick(m, 6) == 0) {
        put_any(m, 0);
        return;
    }
    put(m, "{\"type\":\"object\",\"properties\":");
    put_members(m, 1, true);
    put(m, ",\"required\":");
    put(m, pick(m, 2) > 0 ? "[\"A\",\"B\"]" : "[]");
    put(m, ",\"$defs\":{\"A\":");
    put_any(m, 1);
    put(m, ",\"B\":");
    put_any(m, 1);
    put(m, "}}");
}

static void put_tool(maker *m) {
    static const char *const names[] = {
        "\"a\"", "\"a.b\"", "\"a_b\"", "\"\"", "7", "\"\\u001b[0m\\u0000\"", "\"\\u65e5\\u672c\""};
    if (pick(m, 10) == 0) {
        put_any(m, 3);
        return;
    }
    put(m, "{\"name\":");
    put(m, names[pick(m, PHI__COUNT(names))]);
    put(m, ",\"description\":");
    put_any(m, 7);
    put(m, ",\"title\":");
    put_any(m, 7);
    put(m, ",\"inputSchema\":");
    put_schema(m);
    if (pick(m, 2) > 0) {
        put(m, ",\"outputSchema\":");
        put_schema(m);
    }
    put(m, ",\"annotations\":");
    put_any(m, 6);
    put(m, "}");
}

static void put_list(maker *m) {
    uint32_t count = pick(m, 6) + 1;
    put(m, "{\"tools\":[");
    while (count-- > 0) {
        put_tool(m);
        if (count > 0) put(m, ",");
    }
    put(m, "]}");
}

/* By every provider, and by phi itself. */
static void check_accepted(const phi_tool *tool) {
    phi_model models[3];
    phi_message message;
    phi_content text;
    phi_memory memory;
    phi_arena arena;
    phi_json *schema = NULL;
    phi_schema_error error;
    char words[300];
    size_t i;
    memset(&text, 0, sizeof text);
    memset(&message, 0, sizeof message);
    text.kind = PHI_CONTENT_TEXT;
    text.text = phi_str_of("Hello");
    message.role = PHI_ROLE_USER;
    message.content = &text;
    message.content_count = 1;
    models[0] = phi_model_anthropic("claude-sonnet-4-5", "k");
    models[1] = phi_model_openai("gpt-5", "k");
    models[2] = phi_model_google("gemini-3-pro", "k");
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    for (i = 0; i < 3; i++) {
        CHECK_EQ_INT(preflight(&models[i], &message, 1, tool, 1, &arena, words, sizeof words),
                     PHI_OK);
        CHECK_EQ_STR(words, "");
    }
    CHECK_EQ_INT(phi_json_parse(&arena, phi_str_of(tool->schema), 0, &schema, NULL), PHI_OK);
    CHECK_EQ_INT(phi__schema_valid(schema, &error), PHI_OK);
    phi_arena_free(&arena);
}

/* A result by chance: the call ends, and the agent goes on. */
static void check_call(tools_kit *t, maker *m, const char *name) {
    char *result = (char *)malloc(1 << 16);
    maker other = *m;
    if (result == NULL) abort();
    other.at = result;
    other.end = result + (1 << 16);
    put(&other, "{\"content\":");
    put_any(&other, 2);
    put(&other, ",\"structuredContent\":");
    put_any(&other, 4);
    put(&other, "}");
    m->random = other.random;
    t->result = result;
    rig_forget(t->k.rig);
    rig_drop_answers(t->k.rig);
    tools_call(t, name, "{\"A\":\"x\",\"B\":null}");
    if (CHECK(strstr(rig_story(t->k.rig), "AgentEnd ok") != NULL)) results++;
    t->result = NULL;
    free(result);
}

static bool tell(uint32_t seed) {
    static const char *const eras[] = {"2026-07-28", "2025-06-18"};
    const phi_tool *tools = NULL;
    size_t count = 0, i;
    int before = test_failures();
    phi_mcp_desc desc;
    maker m;
    tools_kit t;
    m.random = seed * 2654435761u + 1;
    m.at = built;
    m.end = built + sizeof built;
    memset(&desc, 0, sizeof desc);
    if (pick(&m, 2) > 0) desc.name_prefix = "p";
    if (pick(&m, 2) > 0) desc.url = "http://127.0.0.1:9/mcp"; /* marks for headers count */
    put_list(&m);
    tools_begin(&t, eras[pick(&m, 2)], NULL);
    t.list = built;
    if (CHECK(tools_ready(&t, &desc))) {
        const phi_tool_source *source = phi_mcp_tools(t.k.mcp);
        const char *story = link_story(&t.k);
        for (; (story = strstr(story, "is left out: ")) != NULL; story++) left_out++;
        CHECK_EQ_INT(source->take(source->user_data, &tools, &count), PHI_OK);
        offered += count;
        for (i = 0; i < count; i++) check_accepted(&tools[i]);
        tools_agent(&t);
        for (i = 0; i < count && t.agent.rt != NULL; i++) check_call(&t, &m, tools[i].name);
        source->release(source->user_data, tools);
    }
    tools_end(&t);
    return test_failures() == before;
}

TEST(every_tool_is_taken_by_all_providers_or_left_out_with_a_message) {
    const char *chosen = getenv("PHI_SEED"), *more = getenv("PHI_SEEDS");
    uint32_t most = more != NULL ? (uint32_t)strtoul(more, NULL, 10) : (uint32_t)SEEDS;
    uint32_t seed = chosen != NULL ? (uint32_t)strtoul(chosen, NULL, 10) : 1;
    if (chosen != NULL) most = seed;
    for (; seed <= most; seed++)
        if (!tell(seed)) {
            printf("  seed %u\n", (unsigned)seed);
            if (chosen != NULL) printf("%s\n", built);
            return;
        }
    CHECK(chosen != NULL || (offered > most && left_out > most / 2 && results > most));
}

TEST_MAIN(TEST_ENTRY(every_tool_is_taken_by_all_providers_or_left_out_with_a_message))
