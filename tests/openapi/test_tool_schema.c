/* test_tool_schema.c - schemas, parameters, bodies and names, one rule a test. */
#include "support/preflight.h"
#include "openapi/spec.h"
#include "text/text_in.h"
#include "codecs/presets.h"
#include "model/model.h"

static char built[1 << 16];

/* A document whose one operation has a JSON body of that schema. */
static const char *document_of(const char *version, const char *schema, const char *components) {
    (void)snprintf(built, sizeof built,
                   "{\"openapi\":\"%s\",\"paths\":{\"/a\":{\"post\":{\"operationId\":\"a\","
                   "\"requestBody\":{\"content\":{\"application/json\":{\"schema\":%s}}}}}},"
                   "\"components\":{\"schemas\":{%s}}}",
                   version, schema, components);
    return built;
}

static void check_accepted(const phi_tool *tool);

/* The whole schema of that operation's tool, but for its frame: BODY or BODY,"$defs":{...}. */
static void becomes_with(const phi_openapi_desc *desc, const char *version, const char *schema,
                         const char *components, const char *want) {
    static const char before[] = "{\"type\":\"object\",\"properties\":{\"body\":";
    char expected[8192];
    const char *defs = strstr(want, ",\"$defs\":");
    size_t body = defs != NULL ? (size_t)(defs - want) : strlen(want);
    spec s;
    (void)snprintf(expected, sizeof expected, "%s%.*s}%s}", before, (int)body, want,
                   defs != NULL ? defs : "");
    spec_open(&s, desc, document_of(version, schema, components));
    CHECK_EQ_INT(s.status, PHI_OK);
    CHECK_EQ_STR(spec_schema(&s, "a"), expected);
    if (s.tools.count == 1) check_accepted(&s.tools.tools[0]);
    spec_close(&s);
}

static void becomes(const char *schema, const char *want) {
    becomes_with(NULL, "3.0.0", schema, "", want);
}

static void becomes_31(const char *schema, const char *want) {
    becomes_with(NULL, "3.1.0", schema, "", want);
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

TEST(types_and_nulls) {
    becomes("{\"type\":\"string\"}", "{\"type\":\"string\"}");
    becomes("{\"type\":\"string\",\"nullable\":true}", "{\"type\":[\"string\",\"null\"]}");
    becomes("{\"type\":\"file\"}", "{}");
    becomes("{\"type\":[]}", "{}");
    becomes("{\"type\":[\"string\",\"odd\"]}", "{\"type\":[\"string\"]}");
    becomes("true", "{}");
    becomes("false", "{\"description\":\"(not allowed)\"}");
    becomes("7", "{}");
    becomes("{\"type\":\"array\"}", "{\"type\":\"array\",\"items\":{}}");
    becomes("{\"type\":\"array\",\"items\":[{}]}", "{\"type\":\"array\",\"items\":{}}");
    becomes_31("{\"type\":[\"array\",\"null\"]}", "{\"type\":[\"array\",\"null\"],\"items\":{}}");
    becomes("{\"nullable\":true,\"anyOf\":[{\"type\":\"string\"}]}",
            "{\"anyOf\":[{\"anyOf\":[{\"type\":\"string\"}]},{\"type\":\"null\"}]}");
}

TEST(bounds_of_both_versions) {
    becomes("{\"type\":\"number\",\"minimum\":1,\"exclusiveMinimum\":true,\"maximum\":2,"
            "\"exclusiveMaximum\":false}",
            "{\"type\":\"number\",\"exclusiveMinimum\":1,\"maximum\":2}");
    becomes_31("{\"type\":\"number\",\"minimum\":1,\"exclusiveMinimum\":0}",
               "{\"type\":\"number\",\"minimum\":1,\"exclusiveMinimum\":0}");
    becomes("{\"minLength\":-1,\"maxLength\":3,\"minimum\":\"1\"}", "{\"maxLength\":3}");
}

TEST(keywords_that_phi_does_not_check_move_into_the_description) {
    becomes("{\"type\":\"string\",\"description\":\"A name.\",\"pattern\":\"^a\\\"$\"}",
            "{\"description\":\"A name. (pattern: ^a\\\"$)\",\"type\":\"string\"}");
    becomes("{\"type\":\"array\",\"items\":{},\"uniqueItems\":true}",
            "{\"description\":\"(uniqueItems: true)\",\"type\":\"array\",\"items\":{}}");
    becomes("{\"not\":{\"type\":\"null\"},\"multipleOf\":0.5}",
            "{\"description\":\"(not: {\\\"type\\\":\\\"null\\\"}) (multipleOf: 0.5)\"}");
    becomes("{\"deprecated\":true,\"xml\":{\"name\":\"x\"},\"x-a\":1,\"externalDocs\":{}}",
            "{\"description\":\"(deprecated)\"}");
    becomes("{\"$dynamicRef\":\"#x\",\"$id\":\"y\",\"$comment\":\"z\"}", "{}");
}

TEST(malformed_keywords_are_left_out) {
    becomes("{\"required\":true,\"properties\":[],\"enum\":[],\"anyOf\":{},\"items\":3,"
            "\"additionalProperties\":\"no\",\"description\":7}",
            "{}");
    becomes("{\"required\":[1,\"a\",null]}", "{\"required\":[\"a\"]}");
    becomes("{\"required\":[1]}", "{}");
}

TEST(properties_that_are_only_read_are_left_out) {
    becomes_with(NULL, "3.0.0",
                 "{\"type\":\"object\",\"required\":[\"id\",\"at\"],\"properties\":{\"id\":{"
                 "\"readOnly\":true},\"at\":{\"$ref\":\"#/components/schemas/At\"},\"w\":{"
                 "\"writeOnly\":true}}}",
                 "\"At\":{\"readOnly\":true}", "{\"type\":\"object\",\"properties\":{\"w\":{}}}");
}

TEST(examples_and_defaults_go_on_when_they_are_short) {
    char schema[1000], long_text[400];
    memset(long_text, 'x', sizeof long_text - 1);
    long_text[sizeof long_text - 1] = '\0';
    becomes("{\"type\":\"string\",\"example\":\"a\",\"default\":\"b\",\"title\":\"T\"}",
            "{\"type\":\"string\",\"default\":\"b\",\"title\":\"T\",\"examples\":[\"a\"]}");
    (void)snprintf(schema, sizeof schema,
                   "{\"type\":\"string\",\"example\":\"%s\",\"default\":\"%s\"}", long_text,
                   long_text);
    becomes(schema, "{\"type\":\"string\"}");
}

TEST(descriptions_are_cut_at_a_character) {
    char schema[2400], want[800];
    size_t i;
    (void)snprintf(schema, sizeof schema, "{\"description\":\"");
    for (i = 0; i < 600; i++) (void)strcat(schema, "\xc3\xa4");
    (void)strcat(schema, "\"}");
    (void)snprintf(want, sizeof want, "{\"description\":\"");
    for (i = 0; i < 256; i++) (void)strcat(want, "\xc3\xa4");
    (void)strcat(want, "...\"}");
    becomes(schema, want);
}

/* The tool's description for one of so many 'w' in the document. */
static void describes(const char *deprecated, size_t bytes, const char *before, size_t kept,
                      const char *after) {
    static char words[20000], want[20000];
    spec s;
    memset(words, 'w', bytes);
    words[bytes] = '\0';
    (void)snprintf(want, sizeof want, "%s%.*s%s", before, (int)kept, words, after);
    (void)snprintf(built, sizeof built,
                   "{\"openapi\":\"3.0.0\",\"paths\":{\"/a\":{\"get\":{\"operationId\":\"a\","
                   "%s\"description\":\"%s\",\"responses\":{}}}}}",
                   deprecated, words);
    spec_open(&s, NULL, built);
    REQUIRE(CHECK_EQ_INT(s.tools.count, 1));
    CHECK(strcmp(s.tools.tools[0].description, want) == 0);
    spec_close(&s);
}

TEST(a_tools_description_is_whole_up_to_16384_bytes) {
    describes("", 1499, "", 1499, "");
    describes("\"deprecated\":true,", 1499, "(deprecated) ", 1499, "");
    describes("", 16384, "", 16384, "");
    describes("\"deprecated\":true,", 16385, "(deprecated) ", 16384, "...");
}

/* ---- references ---- */

TEST(references_become_definitions) {
    becomes_with(NULL, "3.0.0", "{\"$ref\":\"#/components/schemas/A\",\"type\":\"string\"}",
                 "\"A\":{\"$ref\":\"#/components/schemas/B~1%43\"},\"B/C\":{\"type\":\"string\"}",
                 "{\"$ref\":\"#/$defs/A\"},\"$defs\":{\"A\":{\"$ref\":\"#/$defs/B_1_43\"},"
                 "\"B_1_43\":{\"type\":\"string\"}}");
    /* into a schema, and the same name twice */
    becomes_with(NULL, "3.0.0",
                 "{\"anyOf\":[{\"$ref\":\"#/components/schemas/A/properties/x\"},{\"$ref\":"
                 "\"#/components/schemas/A/properties/y/allOf/0/properties/x\"}]}",
                 "\"A\":{\"properties\":{\"x\":{\"type\":\"string\"},\"y\":{\"allOf\":[{"
                 "\"properties\":{\"x\":{\"type\":\"null\"}}}]}}}",
                 "{\"anyOf\":[{\"$ref\":\"#/$defs/x\"},{\"$ref\":\"#/$defs/x_2\"}]},\"$defs\":{"
                 "\"x\":{\"type\":\"string\"},\"x_2\":{\"type\":\"null\"}}");
}

TEST(a_reference_with_keywords_beside_it_joins_allof_in_3_1) {
    becomes_with(NULL, "3.1.0",
                 "{\"$ref\":\"#/components/schemas/A\",\"description\":\"d\",\"minLength\":1}",
                 "\"A\":{\"type\":\"string\"}",
                 "{\"description\":\"d\",\"minLength\":1,\"allOf\":[{\"$ref\":\"#/$defs/A\"}]},"
                 "\"$defs\":{\"A\":{\"type\":\"string\"}}");
    becomes_with(NULL, "3.1.0", "{\"$ref\":\"#/components/schemas/A\",\"description\":\"d\"}",
                 "\"A\":{\"type\":\"string\"}",
                 "{\"description\":\"d\",\"$ref\":\"#/$defs/A\"},\"$defs\":{\"A\":{\"type\":"
                 "\"string\"}}");
}

TEST(circles_that_every_value_must_go_round_are_cut) {
    /* through an optional property they stay */
    becomes_with(NULL, "3.0.0", "{\"$ref\":\"#/components/schemas/A\"}",
                 "\"A\":{\"properties\":{\"a\":{\"type\":\"array\",\"items\":{\"$ref\":"
                 "\"#/components/schemas/A\"}}}}",
                 "{\"$ref\":\"#/$defs/A\"},\"$defs\":{\"A\":{\"properties\":{\"a\":{\"type\":"
                 "\"array\",\"items\":{\"$ref\":\"#/$defs/A\"}}}}}");
    becomes_with(
        NULL, "3.0.0", "{\"$ref\":\"#/components/schemas/A\"}",
        "\"A\":{\"required\":[\"b\"],\"properties\":{\"b\":{\"$ref\":"
        "\"#/components/schemas/B\"}}},\"B\":{\"items\":{\"$ref\":"
        "\"#/components/schemas/A\"}}",
        "{\"$ref\":\"#/$defs/A\"},\"$defs\":{\"A\":{\"required\":[\"b\"],\"properties\":{"
        "\"b\":{\"$ref\":\"#/$defs/B\"}}},\"B\":{\"items\":{\"description\":\"(again A, in "
        "which this is)\"}}}");
    becomes_with(NULL, "3.0.0", "{\"$ref\":\"#/components/schemas/A\"}",
                 "\"A\":{\"$ref\":\"#/components/schemas/A\"}",
                 "{\"$ref\":\"#/$defs/A\"},\"$defs\":{\"A\":{\"description\":\"(again A, in which "
                 "this is)\"}}");
}

static void skipped(const char *version, const char *schema, const char *components,
                    const char *message) {
    spec s;
    spec_open(&s, NULL, document_of(version, schema, components));
    CHECK_EQ_INT(s.status, PHI_OK);
    CHECK_EQ_INT(s.tools.count, 0);
    if (CHECK_EQ_INT(s.tools.skip_count, 1)) {
        CHECK_EQ_INT(s.tools.skipped[0].operation, 0);
        CHECK_EQ_STR(s.tools.skipped[0].message, message);
    }
    spec_close(&s);
}

TEST(references_that_cannot_be_followed_skip_the_operation) {
    skipped("3.0.0", "{\"$ref\":\"pet.json#/a\"}", "",
            "schema: \"$ref\" pet.json#/a leads to another document, and such references are not "
            "followed");
    skipped("3.0.0", "{\"$ref\":\"https://a.example/pet.json\"}", "",
            "schema: \"$ref\" https://a.example/pet.json leads to another document, and such "
            "references are not followed");
    skipped("3.0.0", "{\"items\":{\"$ref\":\"#/components/schemas/None\"}}", "",
            "schema: \"$ref\" #/components/schemas/None leads nowhere");
    skipped("3.0.0", "{\"items\":{\"$ref\":\"#/components/schemas/A/b\"}}", "\"A\":{}",
            "schema: \"$ref\" #/components/schemas/A/b leads nowhere");
    skipped("3.0.0", "{\"$ref\":\"#pet\"}", "",
            "schema: \"$ref\" #pet is no JSON Pointer, and other references are not followed");
    skipped("3.0.0", "{\"$ref\":\"#/components/examples/a\"}", "",
            "schema: \"$ref\" #/components/examples/a leads to a part that is not kept");
}

TEST(large_schemas_are_left_open_where_they_exceed_the_limit) {
    phi_openapi_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.max_schema_bytes = 150;
    becomes_with(&desc, "3.0.0",
                 "{\"properties\":{\"a\":{\"$ref\":\"#/components/schemas/A\"},\"b\":{\"$ref\":"
                 "\"#/components/schemas/B\"}}}",
                 "\"A\":{\"type\":\"string\",\"description\":\"first of the two\"},\"B\":{\"type\":"
                 "\"array\",\"items\":{\"type\":\"string\"},\"description\":\"second\"}",
                 "{\"properties\":{\"a\":{\"$ref\":\"#/$defs/A\"},\"b\":{\"$ref\":\"#/$defs/B\"}}},"
                 "\"$defs\":{\"A\":{\"description\":\"first of the two\",\"type\":\"string\"},"
                 "\"B\":{\"type\":\"array\",\"items\":{},\"description\":\"second (its schema is "
                 "too large to be shown)\"}}");
}

/* A chain of ten thousand, one of which contains the next: bounded work, bounded text. */
TEST(deep_and_wide_documents_end) {
    size_t cap = 1 << 20, len = 0, i;
    char *components = (char *)malloc(cap), *text = (char *)malloc(2 * cap);
    spec s;
    if (!CHECK(components != NULL && text != NULL)) return;
    for (i = 0; i < 10000; i++)
        len += (size_t)snprintf(components + len, cap - len,
                                "%s\"S%zu\":{\"items\":{\"$ref\":\"#/components/schemas/S%zu\"}}",
                                i > 0 ? "," : "", i, (i + 1) % 10000);
    (void)snprintf(text, 2 * cap,
                   "{\"openapi\":\"3.0.0\",\"paths\":{\"/a\":{\"post\":{\"operationId\":\"a\","
                   "\"requestBody\":{\"content\":{\"application/json\":{\"schema\":{\"$ref\":"
                   "\"#/components/schemas/S0\"}}}}}}},\"components\":{\"schemas\":{%s}}}",
                   components);
    spec_open(&s, NULL, text);
    CHECK_EQ_INT(s.status, PHI_OK);
    CHECK_EQ_INT(s.tools.count, 1);
    CHECK(strlen(spec_schema(&s, "a")) < 70000);
    spec_close(&s);
    free(components);
    free(text);
}

/* ---- operations ---- */

/* The tools of paths, in one document. */
static void open_paths(spec *s, const phi_openapi_desc *desc, const char *paths,
                       const char *components) {
    (void)snprintf(built, sizeof built,
                   "{\"openapi\":\"3.0.0\",\"paths\":{%s},\"components\":{%s}}", paths, components);
    spec_open(s, desc, built);
    CHECK_EQ_INT(s->status, PHI_OK);
}

TEST(arguments_have_keys_that_providers_take) {
    const phi__operation *op;
    spec s;
    open_paths(
        &s, NULL,
        "\"/a/{id}\":{\"get\":{\"operationId\":\"a\",\"parameters\":[{\"name\":\"id\",\"in\":"
        "\"path\"},{\"name\":\"id\",\"in\":\"query\"},{\"name\":\"f[x]\",\"in\":\"query\"},{"
        "\"name\":\"f(x)\",\"in\":\"query\"},{\"name\":\"body\",\"in\":\"query\"}],"
        "\"requestBody\":{\"content\":{\"application/json\":{}}}}}",
        "");
    op = spec_operation(&s, "a");
    REQUIRE(CHECK_EQ_INT(op->parameter_count, 5));
    CHECK_STR(op->parameters[0].argument, "id");
    CHECK_STR(op->parameters[1].argument, "id_query");
    CHECK_STR(op->parameters[2].argument, "f_x_");
    CHECK_STR(op->parameters[2].name, "f[x]");
    CHECK_STR(op->parameters[3].argument, "f_x__query");
    CHECK_STR(op->parameters[4].argument, "body");
    CHECK_STR(op->body.argument, "_request_body");
    CHECK_EQ_STR(spec_schema(&s, "a"),
                 "{\"type\":\"object\",\"properties\":{\"id\":{\"type\":\"string\"},\"id_query\":{"
                 "\"type\":\"string\"},\"f_x_\":{\"type\":\"string\"},\"f_x__query\":{\"type\":"
                 "\"string\"},\"body\":{\"type\":\"string\"},\"_request_body\":{}},\"required\":["
                 "\"id\"]}");
    spec_close(&s);
}

static phi__operation_body_kind body_of(const char *types, const char *want) {
    phi__operation_body_kind kind = PHI__BODY_NONE;
    char paths[1000];
    spec s;
    (void)snprintf(paths, sizeof paths,
                   "\"/a\":{\"put\":{\"operationId\":\"a\",\"requestBody\":{\"content\":{%s}}}}",
                   types);
    open_paths(&s, NULL, paths, "");
    if (CHECK(spec_operation(&s, "a") != NULL)) {
        kind = spec_operation(&s, "a")->body.kind;
        CHECK_STR(spec_operation(&s, "a")->body.content_type, want);
    }
    spec_close(&s);
    return kind;
}

TEST(the_content_type_that_suits_best_is_sent) {
    CHECK_EQ_INT(body_of("\"text/plain\":{},\"application/json; charset=utf-8\":{}",
                         "application/json; charset=utf-8"),
                 PHI__BODY_JSON);
    CHECK_EQ_INT(body_of("\"application/json-patch+json\":{},\"application/merge-patch+json\":{}",
                         "application/merge-patch+json"),
                 PHI__BODY_JSON);
    CHECK_EQ_INT(body_of("\"*/*\":{}", "application/json"), PHI__BODY_JSON);
    CHECK_EQ_INT(
        body_of("\"+json\":{},\"/json\":{},\"text/plain\":{}", "text/plain"), /* a suffix alone */
        PHI__BODY_TEXT);
    CHECK_EQ_INT(body_of("\"multipart/form-data\":{},\"application/x-www-form-urlencoded\":{}",
                         "application/x-www-form-urlencoded"),
                 PHI__BODY_FORM);
    CHECK_EQ_INT(body_of("\"text/*\":{}", "text/plain"), PHI__BODY_TEXT);
    CHECK_EQ_INT(body_of("\"image/*\":{}", "application/octet-stream"), PHI__BODY_BYTES);
    CHECK_EQ_INT(body_of("\"application/xml\":{}", "application/xml"), PHI__BODY_BYTES);
    CHECK_EQ_INT(body_of("", ""), PHI__BODY_NONE);
}

TEST(path_items_are_shared_by_reference) {
    spec s;
    open_paths(&s, NULL,
               "\"/a/{x}\":{\"$ref\":\"#/components/pathItems/I\",\"put\":{\"operationId\":\"p\"}},"
               "\"/b/{x}\":{\"$ref\":\"#/paths/~1a~1%7Bx%7D\"},\"/c\":{\"$ref\":\"c.json\"},\"/d\":"
               "{\"$ref\":\"#/paths/~1d\"},\"x-e\":{\"get\":{}}",
               "\"pathItems\":{\"I\":{\"get\":{\"operationId\":\"g\"},\"put\":{\"operationId\":"
               "\"other\"}}}");
    CHECK_EQ_INT(open_count(s.api), 6);
    CHECK_EQ_INT(s.tools.count, 4); /* two have the id "g" */
    CHECK(spec_tool(&s, "p") != NULL && spec_tool(&s, "other") != NULL);
    REQUIRE(CHECK_EQ_INT(s.tools.skip_count, 2));
    CHECK_EQ_STR(
        s.tools.skipped[0].message,
        "the path item: \"$ref\" c.json leads to another document, and such references are "
        "not followed");
    CHECK_EQ_STR(s.tools.skipped[1].message,
                 "the path item: \"$ref\" #/paths/~1d leads in a circle");
    spec_close(&s);
}

TEST(references_into_responses_are_followed) {
    spec s;
    open_paths(
        &s, NULL,
        "\"/a\":{\"get\":{\"operationId\":\"g\",\"responses\":{\"200\":{\"content\":{\"a/b\":{"
        "\"schema\":{\"type\":\"string\"}}}}}},\"put\":{\"operationId\":\"p\",\"requestBody\":"
        "{\"content\":{\"application/json\":{\"schema\":{\"anyOf\":[{\"$ref\":"
        "\"#/paths/~1a/get/responses/200/content/a~1b/schema\"},{\"$ref\":"
        "\"#/components/responses/R/content/a~1b/schema\"}]}}}}}}",
        "\"responses\":{\"R\":{\"content\":{\"a/b\":{\"schema\":{\"type\":\"null\"}}}}}");
    CHECK_EQ_STR(spec_schema(&s, "p"),
                 "{\"type\":\"object\",\"properties\":{\"body\":{\"anyOf\":[{\"$ref\":"
                 "\"#/$defs/schema\"},{\"$ref\":\"#/$defs/schema_2\"}]}},\"$defs\":{\"schema\":{"
                 "\"type\":\"string\"},\"schema_2\":{\"type\":\"null\"}}}");
    spec_close(&s);
}

TEST(odd_operations_are_skipped_with_a_message) {
    spec s;
    open_paths(
        &s, NULL,
        "\"/a/{x\":{\"get\":{\"operationId\":\"a\"}},\"/b\":{\"get\":3,\"put\":{\"operationId\""
        ":\"b\",\"parameters\":[{\"in\":\"query\"},{\"name\":\"x\",\"in\":\"body\",\"required\":"
        "true}]}},\"/c\":{\"get\":{\"operationId\":\"c\",\"parameters\":[{\"$ref\":"
        "\"#/components/parameters/P\"}]}}",
        "");
    CHECK_EQ_INT(s.tools.count, 0);
    REQUIRE(CHECK_EQ_INT(s.tools.skip_count, 4));
    CHECK_EQ_STR(s.tools.skipped[0].message, "its path: a \"{\" without its \"}\"");
    CHECK_EQ_STR(s.tools.skipped[1].message, "expected an object that describes the operation");
    CHECK_EQ_STR(s.tools.skipped[2].message,
                 "parameters[1]: expected a name, and path, query, header or cookie");
    CHECK_EQ_STR(s.tools.skipped[3].message,
                 "parameters[0]: \"$ref\" #/components/parameters/P leads nowhere");
    spec_close(&s);
}

/* ---- names ---- */

TEST(names_fit_every_provider_and_are_unique) {
    phi_openapi_operation op;
    size_t i, j;
    spec s;
    open_paths(&s, NULL,
               "\"/a\":{\"get\":{},\"put\":{\"operationId\":\"a/b\"},\"post\":{\"operationId\":"
               "\"a_b\"},\"head\":{\"operationId\":\"1st\"}},\"/t\":{\"get\":{\"operationId\":"
               "\"twice\"},\"put\":{\"operationId\":\"twice\"}},"
               "\"/l\":{\"get\":{\"operationId\":"
               "\"a-very-long-name-that-goes-on-and-on-and-on-until-it-has-more-than-sixty-four\"},"
               "\"put\":{\"operationId\":\"caf\xc3\xa9\"}}",
               "");
    REQUIRE(CHECK_EQ_INT(open_count(s.api), 8));
    for (i = 0; i < 8; i++) {
        CHECK(open_at(s.api, i, &op));
        CHECK(op.name.len > 0 && op.name.len <= 64);
        for (j = 0; j < i; j++) {
            phi_openapi_operation other;
            CHECK(open_at(s.api, j, &other));
            CHECK(!phi_str_equal(op.name, other.name));
        }
        if (i == 0) CHECK_STR(op.name, "get_a");
        if (i == 7) CHECK_STR(op.name, "caf__");
        if (i == 1) CHECK(op.name.len == 12 && memcmp(op.name.at, "a_b_", 4) == 0);
        if (i == 4 || i == 5) CHECK(op.name.len == 14 && memcmp(op.name.at, "twice_", 6) == 0);
        if (i == 6) CHECK_EQ_INT(op.name.len, 64);
    }
    CHECK(spec_tool(&s, "a_b") != NULL && spec_tool(&s, "_1st") != NULL);
    spec_close(&s);
}

TEST(names_have_a_prefix_and_operations_without_id_can_be_skipped) {
    phi_openapi_desc desc;
    spec s;
    memset(&desc, 0, sizeof desc);
    desc.name_prefix = "shop";
    desc.skip_unnamed = true;
    open_paths(&s, &desc, "\"/a/{b}/c.d\":{\"get\":{},\"put\":{\"operationId\":\"x\"}}", "");
    CHECK(spec_tool(&s, "shop__x") != NULL);
    REQUIRE(CHECK_EQ_INT(s.tools.skip_count, 1));
    CHECK_EQ_STR(s.tools.skipped[0].message, "it has no operationId");
    spec_close(&s);
    desc.skip_unnamed = false;
    open_paths(&s, &desc, "\"/a/{b}/c.d\":{\"get\":{},\"put\":{\"operationId\":\"x\"}}", "");
    CHECK(spec_tool(&s, "shop__get_a_b_c_d") != NULL);
    spec_close(&s);
}

TEST_MAIN(TEST_ENTRY(types_and_nulls), TEST_ENTRY(bounds_of_both_versions),
          TEST_ENTRY(keywords_that_phi_does_not_check_move_into_the_description),
          TEST_ENTRY(malformed_keywords_are_left_out),
          TEST_ENTRY(properties_that_are_only_read_are_left_out),
          TEST_ENTRY(examples_and_defaults_go_on_when_they_are_short),
          TEST_ENTRY(descriptions_are_cut_at_a_character),
          TEST_ENTRY(a_tools_description_is_whole_up_to_16384_bytes),
          TEST_ENTRY(references_become_definitions),
          TEST_ENTRY(a_reference_with_keywords_beside_it_joins_allof_in_3_1),
          TEST_ENTRY(circles_that_every_value_must_go_round_are_cut),
          TEST_ENTRY(references_that_cannot_be_followed_skip_the_operation),
          TEST_ENTRY(large_schemas_are_left_open_where_they_exceed_the_limit),
          TEST_ENTRY(deep_and_wide_documents_end),
          TEST_ENTRY(arguments_have_keys_that_providers_take),
          TEST_ENTRY(the_content_type_that_suits_best_is_sent),
          TEST_ENTRY(path_items_are_shared_by_reference),
          TEST_ENTRY(references_into_responses_are_followed),
          TEST_ENTRY(odd_operations_are_skipped_with_a_message),
          TEST_ENTRY(names_fit_every_provider_and_are_unique),
          TEST_ENTRY(names_have_a_prefix_and_operations_without_id_can_be_skipped))
