/* test_schema.c - tool arguments against a JSON Schema, and what is said when they do not fit. */
#include "support/test.h"
#include "text/text_in.h"

static phi_memory memory;
static phi_arena arena;

static void setup(void) {
    phi_allocator allocator = test_allocator();
    phi_memory_init(&memory, &allocator, 0);
    phi_arena_init(&arena, &memory, 0);
}

static phi_json *tree(const char *text) {
    phi_json *root = NULL;
    phi_parse_error error;
    if (!CHECK(phi_json_parse(&arena, phi_str_of(text), 0, &root, &error) == PHI_OK))
        fprintf(stderr, "%s: %s\n", text, error.message);
    return root;
}

/* `words` is "" when it fits. */
static void check(const char *schema, const char *value, const char *words) {
    phi_schema_error error;
    phi_status status;
    setup();
    status = phi_schema_check(tree(schema), tree(value), NULL, &error);
    CHECK_EQ_STR(error.message, words);
    CHECK_EQ_INT(status, words[0] == '\0' ? PHI_OK : PHI_PARSE);
    CHECK_EQ_INT(phi_schema_check(tree(schema), tree(value), "x", NULL), status);
    phi_arena_free(&arena);
}

static void check_valid(const char *schema, phi_status want, const char *words) {
    phi_schema_error error;
    setup();
    CHECK_EQ_INT(phi__schema_valid(tree(schema), &error), want);
    CHECK_EQ_STR(error.message, words);
    CHECK_EQ_INT(phi__schema_valid(tree(schema), NULL), want);
    phi_arena_free(&arena);
}

TEST(types_are_checked) {
    check("{\"type\":\"string\"}", "\"a\"", "");
    check("{\"type\":\"string\"}", "1", "arguments: expected string, got number");
    check("{\"type\":\"integer\"}", "1", "");
    check("{\"type\":\"integer\"}", "1.0", "");
    check("{\"type\":\"integer\"}", "1.5", "arguments: expected integer, got number");
    check("{\"type\":\"integer\"}", "18446744073709551615", "");
    check("{\"type\":\"number\"}", "1", "");
    check("{\"type\":\"boolean\"}", "true", "");
    check("{\"type\":\"boolean\"}", "null", "arguments: expected boolean, got null");
    check("{\"type\":\"null\"}", "null", "");
    check("{\"type\":\"array\"}", "{}", "arguments: expected array, got object");
    check("{\"type\":\"object\"}", "[]", "arguments: expected object, got array");
    check("{\"type\":[\"string\",\"null\"]}", "null", "");
    check("{\"type\":[\"string\",\"integer\",\"null\"]}", "false",
          "arguments: expected string, integer or null, got boolean");
    check("{\"type\":\"string\",\"nullable\":true}", "null", "");
    check("{}", "[1,{}]", "");
    check("true", "1", "");
    check("false", "1", "arguments: nothing is allowed here");
}

#define READ_FILE                                                                                  \
    "{\"type\":\"object\",\"properties\":{\"path\":{\"type\":\"string\"},\"limit\":{\"type\":"     \
    "\"integer\",\"minimum\":1,\"maximum\":10}},\"required\":[\"path\"],"                          \
    "\"additionalProperties\":false}"

TEST(properties_are_checked_and_named) {
    check(READ_FILE, "{\"path\":\"a\"}", "");
    check(READ_FILE, "{\"path\":\"a\",\"limit\":10}", "");
    check(READ_FILE, "{\"path\":5}", "arguments.path: expected string, got number");
    check(READ_FILE, "{}", "arguments: missing required property \"path\"");
    check(READ_FILE, "{\"path\":\"a\",\"limit\":0}", "arguments.limit: expected at least 1, got 0");
    check(READ_FILE, "{\"path\":\"a\",\"limit\":11}",
          "arguments.limit: expected at most 10, got 11");
    check(READ_FILE, "{\"path\":\"a\",\"file\":1}",
          "arguments: unknown property \"file\"; there are \"path\", \"limit\"");
    check("{\"additionalProperties\":{\"type\":\"string\"}}", "{\"a\":\"x\",\"b\":[]}",
          "arguments.b: expected string, got array");
    check("{\"additionalProperties\":true}", "{\"a\":1}", "");
    check("{\"properties\":{\"a\":{\"properties\":{\"b\":{\"items\":{\"type\":\"null\"}}}}}}",
          "{\"a\":{\"b\":[null,null,3]}}", "arguments.a.b[2]: expected null, got number");
    check("{\"additionalProperties\":false}", "{\"a\":1}", "arguments: unknown property \"a\"");
    check("{\"required\":[\"a\"]}", "[]", "");
}

TEST(enums_and_constants_are_checked) {
    check("{\"enum\":[\"c\",\"f\",3,null]}", "3.0", "");
    check("{\"enum\":[\"c\",\"f\",3,null,[],{},true]}", "\"k\"",
          "arguments: got \"k\", expected one of \"c\", \"f\", 3, null, an array, an object, true");
    check("{\"const\":{\"a\":[1]}}", "{\"a\":[1.0]}", "");
    check("{\"const\":1.5}", "2", "arguments: expected 1.5, got 2");
    check("{\"const\":18446744073709551615}", "-9223372036854775808",
          "arguments: expected 18446744073709551615, got -9223372036854775808");
}

TEST(numbers_and_lengths_are_checked) {
    check("{\"exclusiveMinimum\":1}", "1", "arguments: expected a number above 1, got 1");
    check("{\"exclusiveMinimum\":1}", "1.5", "");
    check("{\"exclusiveMaximum\":2.5}", "2.5", "arguments: expected a number below 2.5, got 2.5");
    check("{\"minimum\":1,\"exclusiveMinimum\":true}", "1",
          "arguments: expected a number above 1, got 1");
    check("{\"maximum\":1,\"exclusiveMaximum\":true}", "1",
          "arguments: expected a number below 1, got 1");
    check("{\"minimum\":1,\"exclusiveMinimum\":false}", "1", "");
    check("{\"maximum\":9007199254740992}", "9007199254740993",
          "arguments: expected at most 9007199254740992, got 9007199254740993");
    check("{\"minimum\":5}", "\"a\"", "");
    check("{\"minLength\":2,\"maxLength\":3}", "\"\xc3\xa9\xc3\xa9\xf0\x9f\x98\x80\"", "");
    check("{\"minLength\":2}", "\"\xf0\x9f\x98\x80\"",
          "arguments: expected at least 2 characters, got 1");
    check("{\"maxLength\":3}", "\"abcd\"", "arguments: expected at most 3 characters, got 4");
    check("{\"minItems\":1}", "[]", "arguments: expected at least 1 items, got 0");
    check("{\"maxItems\":1}", "[1,2]", "arguments: expected at most 1 items, got 2");
}

TEST(schemas_combine) {
    check("{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"null\"}]}", "null", "");
    check("{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"null\"}]}", "5",
          "arguments: expected string or null that fits its schema, got 5");
    check("{\"anyOf\":[{\"minimum\":5},{\"type\":\"null\"}]}", "1",
          "arguments: fits none of the schemas in anyOf");
    check("{\"oneOf\":[{\"minimum\":5},{\"maximum\":10}]}", "20", "");
    check("{\"oneOf\":[{\"minimum\":5},{\"maximum\":10}]}", "7",
          "arguments: fits more than one of the schemas in oneOf");
    check("{\"oneOf\":[{\"const\":1},{\"const\":2}]}", "7",
          "arguments: fits none of the schemas in oneOf");
    check("{\"allOf\":[{\"minimum\":5},{\"maximum\":10}]}", "7", "");
    check("{\"allOf\":[{\"minimum\":5},{\"maximum\":10}]}", "12",
          "arguments: expected at most 10, got 12");
    check("{\"anyOf\":[{\"anyOf\":[{\"type\":\"string\"}]},{\"required\":[\"a\"],\"type\":"
          "\"object\"}]}",
          "{\"b\":1}", "arguments: fits none of the schemas in anyOf");
}

TEST(references_within_the_schema_are_followed) {
    check("{\"$ref\":\"#/$defs/n\",\"$defs\":{\"n\":{\"type\":\"number\"}}}", "\"a\"",
          "arguments: expected number, got string");
    check("{\"$ref\":\"#/definitions/a~1b~0c\",\"definitions\":{\"a/b~c\":{\"type\":\"number\"}}}",
          "\"a\"", "arguments: expected number, got string");
    check("{\"properties\":{\"next\":{\"$ref\":\"#\"},\"v\":{\"type\":\"integer\"}}}",
          "{\"v\":1,\"next\":{\"v\":2,\"next\":{\"v\":\"x\"}}}",
          "arguments.next.next.v: expected integer, got string");
    check("{\"$ref\":\"#/oneOf/0\",\"oneOf\":[{\"type\":\"string\"}]}", "\"a\"", "");
    check("{\"$ref\":\"#/nowhere\"}", "1", "");
    check("{\"$ref\":\"http://example.com/x\"}", "1", "");
}

TEST(what_is_malformed_or_not_understood_restricts_nothing_in_a_check) {
    check("{\"type\":5,\"enum\":{},\"properties\":[],\"required\":\"a\",\"items\":[false],"
          "\"minimum\":\"a\",\"anyOf\":{},\"pattern\":\"^a\",\"format\":\"date\",\"$ref\":5}",
          "{\"a\":[1]}", "");
    check("{\"patternProperties\":{\"^x\":{}},\"additionalProperties\":false}", "{\"xa\":1}", "");
}

TEST(long_words_are_cut_at_a_character) {
    phi_schema_error error;
    char value[2000];
    size_t i;
    setup();
    memset(value, 0, sizeof value);
    strcpy(value, "{\"");
    for (i = 0; i < 200; i++) strcat(value, "\xe2\x82\xac");
    strcat(value, "\":\"");
    for (i = 0; i < 200; i++) strcat(value, "\xe2\x82\xac");
    strcat(value, "\"}");
    CHECK_EQ_INT(phi_schema_check(tree("{\"additionalProperties\":{\"const\":1}}"), tree(value),
                                  "a", &error),
                 PHI_PARSE);
    CHECK(strlen(error.message) < sizeof error.message);
    CHECK(strstr(error.message, "\xe2\x82\xac: expected 1, got \"\xe2\x82\xac") != NULL);
    CHECK(strcmp(error.message + strlen(error.message) - 7, "\xe2\x82\xac...\"") == 0);
    phi_arena_free(&arena);
}

TEST(hostile_schemas_are_bounded) {
    static const char *const schemas[] = {
        "{\"$ref\":\"#\"}",
        "{\"allOf\":[{\"$ref\":\"#\"}]}",
        "{\"anyOf\":[{\"$ref\":\"#\"},{\"$ref\":\"#\"}]}",
        "{\"$ref\":\"#/$defs/a\",\"$defs\":{\"a\":{\"$ref\":\"#/$defs/b\"},\"b\":{\"$ref\":\"#/"
        "$defs/a\"}}}",
    };
    size_t i;
    for (i = 0; i < PHI__COUNT(schemas); i++) {
        phi_schema_error error;
        setup();
        CHECK_EQ_INT(phi_schema_check(tree(schemas[i]), tree("1"), NULL, &error), PHI_TOO_BIG);
        CHECK_EQ_STR(error.message, "arguments: nested too deeply to be checked");
        CHECK_EQ_INT(phi__schema_valid(tree(schemas[i]), &error), PHI_OK);
        phi_arena_free(&arena);
    }
}

/* 30 levels, each of which checks the next one four times: each pair of schema and value is
   checked once. */
TEST(a_schema_that_multiplies_its_work_is_checked_without_doing_it_again) {
    char schema[8000], part[200];
    phi_schema_error error;
    int i;
    setup();
    strcpy(schema, "{\"$ref\":\"#/$defs/d0\",\"$defs\":{\"d30\":{\"const\":0}");
    for (i = 0; i < 30; i++) {
        snprintf(part, sizeof part,
                 ",\"d%d\":{\"anyOf\":[{\"$ref\":\"#/$defs/d%d\"},{\"$ref\":\"#/$defs/d%d\"},"
                 "{\"$ref\":\"#/$defs/d%d\"},{\"$ref\":\"#/$defs/d%d\"}]}",
                 i, i + 1, i + 1, i + 1, i + 1);
        strcat(schema, part);
    }
    strcat(schema, "}}");
    CHECK_EQ_INT(phi_schema_check(tree(schema), tree("1"), NULL, &error), PHI_PARSE);
    CHECK_EQ_STR(error.message, "arguments: fits none of the schemas in anyOf");
    CHECK_EQ_INT(phi_schema_check(tree(schema), tree("0"), NULL, &error), PHI_OK);
    phi_arena_free(&arena);
}

/* Levels of {"n":...} around a value. */
static phi_json *nested(int levels, const char *value) {
    char text[1000] = "";
    int i;
    for (i = 0; i < levels; i++) strcat(text, "{\"n\":");
    strcat(text, value);
    for (i = 0; i < levels; i++) strcat(text, "}");
    return tree(text);
}

TEST(a_schema_that_refers_to_itself_twice_costs_each_level_once) {
    static const char twice[] =
        "{\"anyOf\":[{\"type\":\"integer\"},{\"type\":\"object\",\"properties\":{"
        "\"n\":{\"oneOf\":[{\"$ref\":\"#\",\"type\":\"string\"},"
        "{\"$ref\":\"#\"}]}},\"required\":[\"n\"]}]}";
    phi_schema_error error;
    setup();
    CHECK_EQ_INT(phi_schema_check(tree(twice), nested(40, "1"), NULL, &error), PHI_OK);
    CHECK_EQ_INT(phi_schema_check(tree(twice), nested(40, "[]"), NULL, &error), PHI_PARSE);
    CHECK_EQ_STR(error.message,
                 "arguments: expected integer or object that fits its schema, got an object");
    phi_arena_free(&arena);
}

enum { NAMES = 5000, TEXT = NAMES * 40 };

/* An object of NAMES members k0, k1, ... or in reverse order, each with the same value, or a list
   of their names. */
static void names(char *text, bool reverse, const char *value) {
    size_t i, len = 0;
    for (i = 0; i < NAMES; i++)
        len += (size_t)sprintf(text + len, "%s\"k%u\"%s", i > 0 ? "," : "",
                               (unsigned)(reverse ? NAMES - 1 - i : i), value);
}

/* A schema with NAMES properties, all required, and an object that has them. */
static void large(phi_json **schema, phi_json **value, bool reverse) {
    char *inner = (char *)malloc(TEXT), *list = (char *)malloc(TEXT),
         *whole = (char *)malloc(2 * TEXT + 200);
    REQUIRE(inner != NULL && list != NULL && whole != NULL);
    names(inner, false, ":{\"type\":\"integer\"}");
    names(list, false, "");
    (void)sprintf(whole, "{\"properties\":{%s},\"required\":[%s],\"additionalProperties\":false}",
                  inner, list);
    *schema = tree(whole);
    names(inner, reverse, ":1");
    (void)sprintf(whole, "{%s}", inner);
    *value = tree(whole);
    free(inner);
    free(list);
    free(whole);
}

TEST(five_thousand_members_are_looked_up_in_a_table) {
    phi_schema_error error;
    phi_json *schema, *value, *one;
    int i;
    for (i = 0; i < 2; i++) {
        setup();
        large(&schema, &value, i == 1);
        CHECK_EQ_INT(phi__schema_check(&memory, schema, value, NULL, &error), PHI_OK);
        one = tree("{\"k\":1}");
        CHECK_EQ_INT(phi_json_set(&arena, value, "more", one), PHI_OK);
        CHECK_EQ_INT(phi__schema_check(&memory, schema, value, NULL, NULL), PHI_PARSE);
        CHECK(phi_json_remove(value, "more"));
        CHECK(phi_json_remove(value, "k4321"));
        CHECK_EQ_INT(phi__schema_check(&memory, schema, value, NULL, &error), PHI_PARSE);
        CHECK_EQ_STR(error.message, "arguments: missing required property \"k4321\"");
        phi_arena_free(&arena);
        CHECK_EQ_INT(test_alloc_live_bytes(), 0);
    }
}

/* The limit that docs/limits.md names: without memory each of 5,000 names is looked for among
   5,000. */
TEST(without_memory_a_check_of_five_thousand_members_is_too_much_work) {
    phi_schema_error error;
    phi_json *schema, *value;
    setup();
    large(&schema, &value, false);
    CHECK_EQ_INT(phi_schema_check(schema, value, NULL, &error), PHI_TOO_BIG);
    CHECK_EQ_STR(error.message, "arguments: checking this takes too much work");
    test_alloc_fail_from(0); /* and where there is none left */
    CHECK_EQ_INT(phi__schema_check(&memory, schema, value, NULL, &error), PHI_TOO_BIG);
    test_alloc_fail_at(-1);
    phi_arena_free(&arena);
}

/* As in a small object the last of equal names counts, in schema and value. */
TEST(of_equal_names_of_a_large_object_the_last_one_counts) {
    static const char schema[] =
        "{\"properties\":{\"a\":{\"type\":\"string\"},\"b\":true,\"c\":true,\"d\":true,\"e\":true,"
        "\"f\":true,"
        "\"g\":true,\"h\":true,\"i\":true,\"j\":true,\"k\":true,\"l\":true,\"m\":true,\"n\":true,"
        "\"o\":true,"
        "\"p\":true,\"q\":true,\"a\":{\"type\":\"integer\"}},\"required\":[\"a\"]}";
    phi_schema_error error;
    setup();
    CHECK_EQ_INT(phi__schema_check(&memory, tree(schema), tree("{\"a\":1}"), NULL, &error), PHI_OK);
    CHECK_EQ_INT(phi__schema_check(&memory, tree(schema), tree("{\"a\":\"x\"}"), NULL, &error),
                 PHI_PARSE);
    CHECK_EQ_STR(error.message, "arguments.a: expected integer, got string");
    CHECK_EQ_INT(phi__schema_check(&memory, tree("{\"required\":[\"\"]}"),
                                   tree("{\"a\":1,\"b\":1,\"c\":1,\"d\":1,\"e\":1,\"f\":1,\"g\":1,"
                                        "\"h\":1,\"i\":1,\"j\":1,\"k\":1,\"l\":1,\"m\":1,\"n\":1,"
                                        "\"o\":1,\"p\":1,\"q\":1}"),
                                   NULL, &error),
                 PHI_PARSE);
    CHECK_EQ_STR(error.message, "arguments: missing required property \"\"");
    phi_arena_free(&arena);
    CHECK_EQ_INT(test_alloc_live_bytes(), 0);
}

/* 2,000 items under a reference among 5,000 definitions: it is followed once. */
TEST(a_reference_is_followed_once) {
    char *inner = (char *)malloc(TEXT), *whole = (char *)malloc(TEXT + 200);
    phi_json *schema, *value;
    size_t i;
    REQUIRE(inner != NULL && whole != NULL);
    setup();
    names(inner, false, ":{\"type\":\"integer\"}");
    (void)sprintf(whole, "{\"items\":{\"$ref\":\"#/$defs/k4999\"},\"$defs\":{%s}}", inner);
    schema = tree(whole);
    value = tree("[]");
    for (i = 0; i < NAMES; i++) CHECK_EQ_INT(phi_json_add(value, tree("7")), PHI_OK);
    CHECK_EQ_INT(phi_schema_check(schema, value, NULL, NULL), PHI_OK);
    free(inner);
    free(whole);
    phi_arena_free(&arena);
}

TEST(a_schema_is_told_to_be_valid_or_why_not) {
    check_valid(READ_FILE, PHI_OK, "");
    check_valid(
        "{\"type\":\"object\",\"title\":\"t\",\"description\":\"d\",\"default\":{},\"format\":"
        "\"x\",\"$schema\":\"s\",\"x-own\":1,\"examples\":[]}",
        PHI_OK, "");
    check_valid("{\"properties\":{\"path\":{\"pattern\":\"^a\"}}}", PHI_UNSUPPORTED,
                "schema.properties.path: \"pattern\" is not supported");
    check_valid("{\"not\":{}}", PHI_UNSUPPORTED, "schema: \"not\" is not supported");
    check_valid("{\"items\":{\"anyOf\":[{},{\"uniqueItems\":true}]}}", PHI_UNSUPPORTED,
                "schema.items.anyOf[1]: \"uniqueItems\" is not supported");
    check_valid("{\"items\":[{}]}", PHI_UNSUPPORTED,
                "schema: \"items\" as an array is not supported");
    check_valid("{\"$ref\":\"other.json\"}", PHI_UNSUPPORTED,
                "schema: \"$ref\" to another document is not supported");
    check_valid("{\"$ref\":\"#/x\"}", PHI_PARSE, "schema: \"$ref\" leads nowhere");
    check_valid("{\"$ref\":\"#x\"}", PHI_PARSE, "schema: \"$ref\" leads nowhere");
    check_valid("{\"$ref\":1}", PHI_PARSE, "schema: \"$ref\" must be a string");
    check_valid("5", PHI_PARSE, "schema: a schema must be an object, true or false");
    check_valid("{\"items\":5}", PHI_PARSE,
                "schema.items: a schema must be an object, true or false");
    check_valid("{\"type\":\"text\"}", PHI_PARSE, "schema: \"type\" must name a type, or several");
    check_valid("{\"type\":[]}", PHI_PARSE, "schema: \"type\" must name a type, or several");
    check_valid("{\"type\":[\"string\",1]}", PHI_PARSE,
                "schema: \"type\" must name a type, or several");
    check_valid("{\"enum\":[]}", PHI_PARSE, "schema: \"enum\" must be an array that is not empty");
    check_valid("{\"anyOf\":{}}", PHI_PARSE,
                "schema: \"anyOf\" must be an array that is not empty");
    check_valid("{\"required\":[1]}", PHI_PARSE,
                "schema: \"required\" must be an array of strings");
    check_valid("{\"properties\":[]}", PHI_PARSE, "schema: \"properties\" must be an object");
    check_valid("{\"minimum\":\"1\"}", PHI_PARSE, "schema: \"minimum\" must be a number");
    check_valid("{\"exclusiveMinimum\":\"1\"}", PHI_PARSE,
                "schema: \"exclusiveMinimum\" must be a number");
    check_valid("{\"minLength\":-1}", PHI_PARSE,
                "schema: \"minLength\" must be an integer that is not negative");
    check_valid("{\"nullable\":1}", PHI_PARSE, "schema: \"nullable\" must be true or false");
    check_valid("{\"properties\":{\"pattern\":{\"type\":\"string\"}}}", PHI_OK, "");
}

TEST(a_schema_that_is_nested_too_deeply_is_refused) {
    char schema[400 * 11];
    phi_schema_error error;
    int i;
    setup();
    schema[0] = '\0';
    for (i = 0; i < 300; i++) strcat(schema, "{\"items\":");
    strcat(schema, "1");
    for (i = 0; i < 300; i++) strcat(schema, "}");
    CHECK_EQ_INT(phi__schema_valid(tree(schema), &error), PHI_TOO_BIG);
    CHECK_EQ_INT(phi_schema_check(NULL, tree("1"), NULL, &error), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_schema_check(tree("{}"), NULL, NULL, &error), PHI_BAD_ARG);
    CHECK_EQ_INT(phi__schema_valid(NULL, &error), PHI_BAD_ARG);
    phi_arena_free(&arena);
}

TEST_MAIN(TEST_ENTRY(types_are_checked), TEST_ENTRY(properties_are_checked_and_named),
          TEST_ENTRY(enums_and_constants_are_checked), TEST_ENTRY(numbers_and_lengths_are_checked),
          TEST_ENTRY(schemas_combine), TEST_ENTRY(references_within_the_schema_are_followed),
          TEST_ENTRY(what_is_malformed_or_not_understood_restricts_nothing_in_a_check),
          TEST_ENTRY(long_words_are_cut_at_a_character), TEST_ENTRY(hostile_schemas_are_bounded),
          TEST_ENTRY(a_schema_that_multiplies_its_work_is_checked_without_doing_it_again),
          TEST_ENTRY(a_schema_that_refers_to_itself_twice_costs_each_level_once),
          TEST_ENTRY(five_thousand_members_are_looked_up_in_a_table),
          TEST_ENTRY(without_memory_a_check_of_five_thousand_members_is_too_much_work),
          TEST_ENTRY(of_equal_names_of_a_large_object_the_last_one_counts),
          TEST_ENTRY(a_reference_is_followed_once),
          TEST_ENTRY(a_schema_is_told_to_be_valid_or_why_not),
          TEST_ENTRY(a_schema_that_is_nested_too_deeply_is_refused))
