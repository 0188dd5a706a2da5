/* test_mcp_headers.c - parameters that are mirrored into headers of HTTP. */
#include "mcp/mcp_headers_in.h"
#include "support/test.h"
#include "text/text_in.h"

static phi_memory memory;
static phi_arena arena;

static void begin(void) {
    phi_allocator allocator = test_allocator();
    phi_memory_init(&memory, &allocator, 0);
    phi_arena_init(&arena, &memory, 0);
}

static void end(void) { phi_arena_free(&arena); }

static phi_json *read(const char *text) {
    phi_json *root = NULL;
    CHECK_EQ_INT(phi_json_parse(&arena, phi_str_of(text), 0, &root, NULL), PHI_OK);
    return root;
}

static void check_valid(const char *schema, const char *want) {
    char message[200];
    begin();
    CHECK_EQ_INT(phi__xhead_valid(read(schema), message, sizeof message), want[0] == '\0');
    CHECK_EQ_STR(message, want);
    end();
}

/* One property with the members given. */
static void check_property(const char *members, const char *want) {
    char text[1000];
    (void)snprintf(text, sizeof text, "{\"type\":\"object\",\"properties\":{\"a\":{%s}}}", members);
    check_valid(text, want);
}

static void marks_on_primitive_parameters_are_valid(void) {
    check_valid("{}", "");
    check_valid("true", "");
    check_property("\"type\":\"string\"", "");
    check_property("\"type\":\"string\",\"x-mcp-header\":\"Region\"", "");
    check_property("\"type\":\"integer\",\"x-mcp-header\":\"R_1.x~\"", "");
    check_property("\"type\":\"boolean\",\"x-mcp-header\":\"R\"", "");
    check_property("\"type\":[\"string\",\"null\"],\"x-mcp-header\":\"R\"", "");
    check_valid("{\"properties\":{\"a\":{\"properties\":{\"b\":{\"type\":\"string\","
                "\"x-mcp-header\":\"B\"}}}}}",
                "");
}

static void marks_that_are_no_token_are_refused(void) {
    check_property("\"type\":\"string\",\"x-mcp-header\":\"\"",
                   "x-mcp-header \"\": expected a token of HTTP, as Region");
    check_property("\"type\":\"string\",\"x-mcp-header\":\"My Region\"",
                   "x-mcp-header \"My Region\": expected a token of HTTP, as Region");
    check_property("\"type\":\"string\",\"x-mcp-header\":\"A:b\"",
                   "x-mcp-header \"A:b\": expected a token of HTTP, as Region");
    check_property("\"type\":\"string\",\"x-mcp-header\":\"R\\u00e9gion\"",
                   "x-mcp-header \"R\xC3\xA9gion\": expected a token of HTTP, as Region");
    check_property("\"type\":\"string\",\"x-mcp-header\":\"R\\r\\nX: 1\"",
                   "x-mcp-header \"R\r\nX: 1\": expected a token of HTTP, as Region");
    check_property("\"type\":\"string\",\"x-mcp-header\":\"R\\u0000\"",
                   "x-mcp-header \"R\": expected a token of HTTP, as Region");
    check_property("\"type\":\"string\",\"x-mcp-header\":7", "x-mcp-header \"\": it is no string");
    check_property("\"type\":\"string\",\"x-mcp-header\":null",
                   "x-mcp-header \"\": it is no string");
}

static void marks_on_other_types_are_refused(void) {
    static const char *const types[] = {"\"object\"", "\"array\"",
                                        "\"null\"",   "\"number\"",
                                        "[\"null\"]", "[\"string\",\"number\"]",
                                        "[]",         "[\"string\",\"integer\"]",
                                        "7",          "{}"};
    size_t i;
    for (i = 0; i < sizeof types / sizeof *types; i++) {
        char text[200];
        (void)snprintf(text, sizeof text, "\"type\":%s,\"x-mcp-header\":\"R\"", types[i]);
        check_property(text, "x-mcp-header \"R\": expected a string, an integer or a boolean");
    }
    check_property("\"x-mcp-header\":\"R\"",
                   "x-mcp-header \"R\": expected a string, an integer or a boolean");
}

static void marks_are_unique_without_regard_to_case(void) {
    check_valid("{\"properties\":{\"a\":{\"type\":\"string\",\"x-mcp-header\":\"MyField\"},"
                "\"b\":{\"type\":\"string\",\"x-mcp-header\":\"myfield\"}}}",
                "x-mcp-header \"myfield\": two parameters have it");
    check_valid("{\"properties\":{\"a\":{\"type\":\"string\",\"x-mcp-header\":\"R1\"},"
                "\"b\":{\"type\":\"string\",\"x-mcp-header\":\"r2\"}}}",
                "");
}

static void marks_that_properties_alone_do_not_reach_are_refused(void) {
    static const char *const around[] = {
        "{\"items\":%s}",
        "{\"properties\":{\"l\":{\"type\":\"array\",\"items\":{\"properties\":{\"a\":%s}}}}}",
        "{\"oneOf\":[{\"properties\":{\"a\":%s}}]}",
        "{\"anyOf\":[{},%s]}",
        "{\"allOf\":[%s]}",
        "{\"not\":%s}",
        "{\"if\":{\"properties\":{\"a\":%s}}}",
        "{\"then\":%s}",
        "{\"$defs\":{\"a\":%s}}",
        "{\"patternProperties\":{\"a\":%s}}",
        "{\"additionalProperties\":%s}",
        "{\"prefixItems\":[%s]}",
        "%s"};
    size_t i;
    for (i = 0; i < sizeof around / sizeof *around; i++) {
        char text[400];
        char *at = text;
        const char *hole = strstr(around[i], "%s");
        at += snprintf(at, 200, "%.*s{\"type\":\"string\",\"x-mcp-header\":\"R\"}",
                       (int)(hole - around[i]), around[i]);
        (void)snprintf(at, 100, "%s", hole + 2);
        check_valid(text, "x-mcp-header \"R\": its parameter is not reached by properties alone");
    }
}

static void data_inside_of_schemas_is_no_mark(void) {
    check_property("\"type\":\"object\",\"default\":{\"x-mcp-header\":\"no token\"}", "");
    check_property("\"enum\":[{\"x-mcp-header\":\"\"}],\"const\":{\"x-mcp-header\":3}", "");
    check_valid("{\"properties\":{\"x-mcp-header\":{\"type\":\"string\"}}}", "");
}

static void hostile_schemas_end(void) {
    char *text = (char *)malloc(1 << 20);
    char message[100];
    size_t i, n = 0;
    begin();
    for (i = 0; i < 400; i++) n += (size_t)sprintf(text + n, "{\"not\":");
    n += (size_t)sprintf(text + n, "true");
    for (i = 0; i < 400; i++) text[n++] = '}';
    text[n] = '\0';
    CHECK(phi__xhead_valid(read(text), message, sizeof message));
    n = (size_t)sprintf(text, "{\"properties\":{");
    for (i = 0; i < 65; i++)
        n += (size_t)sprintf(text + n, "%s\"a%u\":{\"type\":\"string\",\"x-mcp-header\":\"A%u\"}",
                             i > 0 ? "," : "", (unsigned)i, (unsigned)i);
    (void)sprintf(text + n, "}}");
    CHECK(!phi__xhead_valid(read(text), message, sizeof message));
    CHECK_EQ_STR(message, "x-mcp-header \"A64\": more than 64 parameters have one");
    end();
    free(text);
}

/* ---- values ---- */

static const char *const shapes =
    "{\"properties\":{\"s\":{\"type\":\"string\",\"x-mcp-header\":\"Text\"},"
    "\"i\":{\"type\":\"integer\",\"x-mcp-header\":\"Count\"},"
    "\"b\":{\"type\":\"boolean\",\"x-mcp-header\":\"Flag\"},\"q\":{\"type\":\"string\"},"
    "\"o\":{\"properties\":{\"in\":{\"type\":\"string\",\"x-mcp-header\":\"Inner\"}}}}}";

/* All headers, "Name: value" a line. */
static void check_call(const char *arguments, const char *want) {
    char got[2000];
    size_t i, count = 7, n = 0;
    phi_mcp_pair *pairs = NULL;
    begin();
    CHECK_EQ_INT(phi__xhead_of(read(shapes), read(arguments), &arena, &pairs, &count), PHI_OK);
    got[0] = '\0';
    for (i = 0; i < count; i++)
        n += (size_t)snprintf(got + n, sizeof got - n, "%s: %s\n", pairs[i].name, pairs[i].value);
    CHECK_EQ_STR(got, want);
    end();
}

static void arguments_become_headers(void) {
    check_call("{}", "");
    check_call("null", "");
    check_call("{\"q\":\"SELECT 1\"}", "");
    check_call("{\"s\":\"us-west1\",\"i\":42,\"b\":false,\"q\":1}",
               "Mcp-Param-Text: us-west1\nMcp-Param-Count: 42\nMcp-Param-Flag: false\n");
    check_call("{\"s\":null,\"i\":-7,\"b\":true}", "Mcp-Param-Count: -7\nMcp-Param-Flag: true\n");
    check_call("{\"s\":\"\"}", "Mcp-Param-Text: \n");
    check_call("{\"o\":{\"in\":\"x\"}}", "Mcp-Param-Inner: x\n");
    check_call("{\"o\":null}", "");
    check_call("{\"o\":[1],\"s\":{\"a\":1}}", "");
    check_call("{\"i\":9007199254740991}", "Mcp-Param-Count: 9007199254740991\n");
    check_call("{\"i\":2.0}", "Mcp-Param-Count: 2\n");
}

static void values_that_are_not_plain_are_encoded(void) {
    check_call("{\"s\":\"us west 1\"}", "Mcp-Param-Text: us west 1\n");
    check_call("{\"s\":\"Hello, \\u4e16\\u754c\"}",
               "Mcp-Param-Text: =?base64?SGVsbG8sIOS4lueVjA==?=\n");
    check_call("{\"s\":\" padded \"}", "Mcp-Param-Text: =?base64?IHBhZGRlZCA=?=\n");
    check_call("{\"s\":\"line1\\nline2\"}", "Mcp-Param-Text: =?base64?bGluZTEKbGluZTI=?=\n");
    check_call("{\"s\":\"\\tindented\"}", "Mcp-Param-Text: =?base64?CWluZGVudGVk?=\n");
    check_call("{\"s\":\"a\\u0000b\"}", "Mcp-Param-Text: =?base64?YQBi?=\n");
    check_call("{\"s\":\"=?base64?literal?=\"}",
               "Mcp-Param-Text: =?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=\n");
    check_call("{\"s\":\"=?base64?open\"}", "Mcp-Param-Text: =?base64?open\n");
}

static void integers_beyond_a_double_are_refused(void) {
    static const char *const bad[] = {"9007199254740992", "-9007199254740992", "1.5",
                                      "18446744073709551615", "1e300"};
    size_t i;
    for (i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[100];
        size_t count = 7;
        phi_mcp_pair *pairs = NULL;
        begin();
        (void)snprintf(text, sizeof text, "{\"s\":\"a\",\"i\":%s}", bad[i]);
        CHECK_EQ_INT(phi__xhead_of(read(shapes), read(text), &arena, &pairs, &count), PHI_BAD_ARG);
        CHECK_EQ_INT(count, 0);
        end();
    }
}

static void no_memory_is_said(void) {
    int n = 0;
    phi_status status = PHI_NO_MEMORY;
    for (; status != PHI_OK; n++) {
        size_t count;
        phi_mcp_pair *pairs = NULL;
        phi_json *schema, *arguments;
        begin();
        schema = read(shapes);
        arguments = read("{\"s\":\" padded for long: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa \",\"i\":1}");
        test_alloc_fail_at(n);
        status = phi__xhead_of(schema, arguments, &arena, &pairs, &count);
        if (!test_alloc_tripped()) CHECK_EQ_INT(status, PHI_OK);
        test_alloc_fail_at(-1);
        CHECK(status == PHI_OK || status == PHI_NO_MEMORY);
        end();
        REQUIRE(CHECK(n < 100));
    }
    CHECK(n > 1);
}

TEST_MAIN(TEST_ENTRY(marks_on_primitive_parameters_are_valid),
          TEST_ENTRY(marks_that_are_no_token_are_refused),
          TEST_ENTRY(marks_on_other_types_are_refused),
          TEST_ENTRY(marks_are_unique_without_regard_to_case),
          TEST_ENTRY(marks_that_properties_alone_do_not_reach_are_refused),
          TEST_ENTRY(data_inside_of_schemas_is_no_mark), TEST_ENTRY(hostile_schemas_end),
          TEST_ENTRY(arguments_become_headers), TEST_ENTRY(values_that_are_not_plain_are_encoded),
          TEST_ENTRY(integers_beyond_a_double_are_refused), TEST_ENTRY(no_memory_is_said))
