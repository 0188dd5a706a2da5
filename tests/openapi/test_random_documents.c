/* test_random_documents.c - documents of chance, in which every keyword may hold anything and refer to
   anything: each operation becomes a tool that all providers take, or is skipped with a message.
   PHI_SEEDS says how many, PHI_SEED picks one. */
#include "openapi/opened.h"
#include "support/preflight.h"
#include "spec.h"
#include "text/text_in.h"
#include "codecs/presets.h"
#include "model/model.h"

enum { SEEDS = 150, NAMES = 5 };

typedef struct maker {
    uint32_t random;
    char *at, *end;
} maker;

static char built[1 << 18];
static size_t tools, skipped;

static uint32_t pick(maker *m, uint32_t below) { return test_random(&m->random) % below; }

static void put(maker *m, const char *text) {
    size_t n = strlen(text);
    if ((size_t)(m->end - m->at) <= n) abort();
    memcpy(m->at, text, n + 1);
    m->at += n;
}

static void put_ref(maker *m) {
    static const char *const forms[] = {"#/components/schemas/%s",
                                        "#/components/schemas/%s/properties/%s",
                                        "#/components/schemas/%s/allOf/0",
                                        "#/components/schemas/%s/items",
                                        "#/components/parameters/%s/schema",
                                        "#/components/parameters/%s",
                                        "#/components/requestBodies/%s",
                                        "#/components/pathItems/%s",
                                        "#/paths/~1%s/get/responses/200",
                                        "#/paths/~1%s",
                                        "#%s",
                                        "other.json#/%s",
                                        "#/components/schemas/%s/%%"};
    char name[2] = "A", second[2] = "A", text[100];
    uint32_t form = pick(m, 30);
    name[0] = (char)(name[0] + (char)pick(m, NAMES + 1));
    second[0] = (char)(second[0] + (char)pick(m, NAMES));
    form = form < PHI__COUNT(forms) ? form : 0;
    if (form == 1)
        (void)snprintf(text, sizeof text, forms[1], name, second);
    else
        (void)snprintf(text, sizeof text, forms[form], name);
    put(m, "\"");
    put(m, text);
    put(m, "\"");
}

static void put_any(maker *m, int depth);

static void put_members(maker *m, int depth, bool named) {
    static const char *const keys[] = {"type",
                                       "properties",
                                       "items",
                                       "allOf",
                                       "anyOf",
                                       "oneOf",
                                       "$ref",
                                       "required",
                                       "enum",
                                       "default",
                                       "nullable",
                                       "readOnly",
                                       "additionalProperties",
                                       "discriminator",
                                       "minimum",
                                       "exclusiveMinimum",
                                       "format",
                                       "not",
                                       "pattern",
                                       "example",
                                       "examples",
                                       "description",
                                       "propertyName",
                                       "mapping",
                                       "$anchor",
                                       "$dynamicRef",
                                       "$id",
                                       "$defs",
                                       "const",
                                       "title",
                                       "contentMediaType",
                                       "maxLength",
                                       "deprecated",
                                       "prefixItems",
                                       "if"};
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

/* A schema, or what may stand for one. */
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
                                        "\"binary\"",
                                        "\"caf\\u00e9\\u0000\"",
                                        "[[]]"};
    uint32_t kind = pick(m, depth > 6 ? 8 : 14);
    if (kind < 6) {
        put(m, plain[pick(m, PHI__COUNT(plain))]);
    } else if (kind < 8) {
        put(m, "{\"$ref\":");
        put_ref(m);
        put(m, pick(m, 3) > 0 ? "}" : ",\"nullable\":true}");
    } else if (kind < 10) {
        put(m, "[");
        put_any(m, depth + 1);
        put(m, ",");
        put_any(m, depth + 1);
        put(m, "]");
    } else if (kind < 12) {
        put(m, "{\"type\":\"object\",\"properties\":");
        put_members(m, depth + 1, true);
        put(m, ",\"required\":[\"A\",\"B\"]}");
    } else
        put_members(m, depth + 1, kind == 12);
}

static void put_section(maker *m, const char *name, const char *before, const char *after) {
    uint32_t i;
    put(m, name);
    for (i = 0; i < NAMES; i++) {
        char key[8] = "\"A\":";
        key[1] = (char)(key[1] + (char)i);
        if (i > 0) put(m, ",");
        put(m, key);
        if (pick(m, 8) > 0) put(m, before);
        put_any(m, 0);
        put(m, after);
    }
    put(m, "}");
}

static void put_operation(maker *m, const char *type) {
    put(m, "{\"parameters\":[{\"name\":\"a\",\"in\":\"query\",\"schema\":");
    put_any(m, 0);
    put(m, "},{\"$ref\":");
    put_ref(m);
    put(m, "},");
    put_any(m, 2);
    put(m, "],\"requestBody\":");
    if (pick(m, 4) == 0)
        put_any(m, 0);
    else {
        put(m, "{\"content\":{\"");
        put(m, type);
        put(m, "\":{\"schema\":");
        put_any(m, 0);
        put(m, ",\"encoding\":");
        put_any(m, 2);
        put(m, "}}}");
    }
    put(m, ",\"security\":");
    put_any(m, 3);
    put(m, ",\"servers\":");
    put_any(m, 3);
    put(m, ",\"responses\":{\"200\":");
    put_any(m, 2);
    put(m, "}}");
}

static void put_document(maker *m) {
    static const char *const types[] = {"application/json", "multipart/form-data",
                                        "application/x-www-form-urlencoded", "text/*", "*/*"};
    static const char *const versions[] = {"3.0.3", "3.1.0"};
    uint32_t i;
    put(m, "{\"openapi\":\"");
    put(m, versions[pick(m, 2)]);
    put(m, "\",\"components\":{");
    put_section(m, "\"schemas\":{", "", "");
    put(m, ",");
    put_section(m, "\"parameters\":{", "", "");
    put(m, ",");
    put_section(m, "\"requestBodies\":{", "", "");
    put(m, ",");
    put_section(m, "\"pathItems\":{", "", "");
    put(m, "},\"paths\":{");
    for (i = 0; i < NAMES; i++) {
        char key[8] = "\"/A\":";
        key[2] = (char)(key[2] + (char)i);
        if (i > 0) put(m, ",");
        put(m, key);
        if (pick(m, 4) == 0) {
            put(m, "{\"$ref\":");
            put_ref(m);
            put(m, ",\"get\":");
        } else
            put(m, "{\"post\":");
        put_operation(m, types[pick(m, PHI__COUNT(types))]);
        put(m, "}");
    }
    put(m, "},\"servers\":");
    put_any(m, 2);
    put(m, "}");
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

static bool tell(uint32_t seed) {
    int before = test_failures();
    phi_openapi_desc desc = PHI_ZERO;
    maker m;
    spec s;
    size_t i;
    m.random = seed * 2654435761u + 1;
    m.at = built;
    m.end = built + sizeof built;
    put_document(&m);
    desc.max_schema_bytes = pick(&m, 2) > 0 ? 300 : 0;
    spec_open(&s, &desc, built);
    CHECK_EQ_STR(open_error(s.api)->message, "");
    tools += s.tools.count;
    skipped += s.tools.skip_count;
    CHECK_EQ_INT(s.tools.count + s.tools.skip_count, open_count(s.api));
    for (i = 0; i < s.tools.count; i++) check_accepted(&s.tools.tools[i]);
    for (i = 0; i < s.tools.skip_count; i++) CHECK(s.tools.skipped[i].message[0] != '\0');
    spec_close(&s);
    return test_failures() == before;
}

TEST(every_operation_becomes_a_tool_or_is_skipped_with_a_message) {
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
    CHECK(chosen != NULL || (tools > most && skipped > most / 2)); /* else it says nothing */
}

TEST_MAIN(TEST_ENTRY(every_operation_becomes_a_tool_or_is_skipped_with_a_message))
