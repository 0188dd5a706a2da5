/* JSON-RPC messages: what is one, what is none, and the bounds. */
#include "mcp/mcp_rpc_in.h"
#include "support/test.h"

typedef struct kit {
    phi_memory memory;
    phi_arena arena;
    phi__buf buf;
    phi__rpc m;
} kit;

static void begin(kit *k) {
    phi_allocator allocator = test_allocator();
    memset(k, 0, sizeof *k);
    phi_memory_init(&k->memory, &allocator, 0);
    phi_arena_init(&k->arena, &k->memory, 0);
    phi__buf_init(&k->buf, &k->memory);
}

static void end(kit *k) {
    phi_arena_free(&k->arena);
    phi__buf_free(&k->buf);
}

static bool read_one(kit *k, const char *text) {
    phi_json *root;
    if (phi__rpc_parse(&k->arena, phi_str_of(text), &root) != PHI_OK) return false;
    return phi__rpc_read(&k->arena, root, &k->m);
}

typedef struct row {
    const char *text;
    phi__rpc_kind kind;
    const char *id, *method, *fault;
} row;

TEST(each_shape_of_a_message_is_told_from_the_others) {
    static const row rows[] = {
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\"}", PHI__RPC_REQUEST, "1", "a", NULL},
        {"{\"jsonrpc\":\"2.0\",\"id\":\"x\\n\",\"method\":\"a\",\"params\":{}}", PHI__RPC_REQUEST,
         "\"x\\n\"", "a", NULL},
        {"{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"a\",\"params\":null}", PHI__RPC_REQUEST, "0",
         "a", NULL},
        {"{\"jsonrpc\":\"2.0\",\"method\":\"n\"}", PHI__RPC_NOTIFICATION, "", "n", NULL},
        {"{\"jsonrpc\":\"2.0\",\"id\":-3,\"result\":{}}", PHI__RPC_RESULT, "-3", "", NULL},
        {"{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":7,\"error\":null}", PHI__RPC_RESULT, "3", "",
         NULL},
        {"{\"jsonrpc\":\"2.0\",\"id\":3,\"error\":{\"code\":-1,\"message\":\"m\"}}", PHI__RPC_ERROR,
         "3", "", NULL},
        {"{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-1,\"message\":\"m\"}}",
         PHI__RPC_ERROR, "", "", NULL},
        {"[]", PHI__RPC_INVALID, "", "", "it is no object"},
        {"7", PHI__RPC_INVALID, "", "", "it is no object"},
        {"{\"id\":1,\"method\":\"a\"}", PHI__RPC_INVALID, "1", "a", "its jsonrpc is not \"2.0\""},
        {"{\"jsonrpc\":\"2.0\",\"id\":[1],\"method\":\"a\"}", PHI__RPC_INVALID, "", "a",
         "its id is neither a string nor a number"},
        {"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"a\"}", PHI__RPC_INVALID, "", "a",
         "its id is null"},
        {"{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":5}", PHI__RPC_INVALID, "4", "",
         "its method is no string"},
        {"{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"\"}", PHI__RPC_INVALID, "4", "",
         "its method is empty or longer than 256 bytes"},
        {"{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"a\",\"params\":[1]}", PHI__RPC_INVALID, "4",
         "a", "its params are no object"},
        {"{\"jsonrpc\":\"2.0\",\"id\":4,\"result\":{},\"error\":{}}", PHI__RPC_INVALID, "4", "",
         "it has a result and an error"},
        {"{\"jsonrpc\":\"2.0\",\"id\":4,\"error\":\"no\"}", PHI__RPC_INVALID, "4", "",
         "its error is no object"},
        {"{\"jsonrpc\":\"2.0\",\"id\":4}", PHI__RPC_INVALID, "4", "",
         "it has neither a method, nor a result, nor an error"},
        {"{\"jsonrpc\":\"2.0\",\"result\":{}}", PHI__RPC_INVALID, "", "",
         "a result without an id"}};
    size_t i;
    kit k;
    begin(&k);
    for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (!CHECK(read_one(&k, rows[i].text))) continue;
        CHECK_EQ_INT(k.m.kind, rows[i].kind);
        CHECK_STR(k.m.id, rows[i].id);
        CHECK_STR(k.m.method, rows[i].method);
        CHECK_EQ_STR(k.m.fault, rows[i].fault);
    }
    end(&k);
}

TEST(an_error_keeps_its_code_message_and_data) {
    kit k;
    begin(&k);
    CHECK(read_one(&k, "{\"jsonrpc\":\"2.0\",\"id\":3,\"error\":{\"code\":-32022,\"message\":\"m\","
                       "\"data\":{\"supported\":[]}}}"));
    CHECK_EQ_INT(k.m.code, -32022);
    CHECK_STR(k.m.message, "m");
    CHECK(phi_json_is(k.m.data, PHI_JSON_OBJECT));
    CHECK(read_one(&k, "{\"jsonrpc\":\"2.0\",\"id\":3,\"error\":{\"code\":1e30}}"));
    CHECK_EQ_INT(k.m.code, 0);
    CHECK_STR(k.m.message, "");
    end(&k);
}

TEST(our_ids_are_understood_as_numbers_and_as_strings) {
    uint64_t n = 0;
    CHECK(phi__rpc_number(phi_str_of("17"), &n));
    CHECK_EQ_INT(n, 17);
    CHECK(phi__rpc_number(phi_str_of("\"18\""), &n));
    CHECK_EQ_INT(n, 18);
    CHECK(!phi__rpc_number(phi_str_of("-1"), &n));
    CHECK(!phi__rpc_number(phi_str_of("1.5"), &n));
    CHECK(!phi__rpc_number(phi_str_of("\"x\""), &n));
    CHECK(!phi__rpc_number(phi_str_of(""), &n));
    CHECK(!phi__rpc_number(phi_str_of("99999999999999999999"), &n));
}

TEST(ids_methods_and_nesting_are_bounded) {
    static char text[2400];
    phi_json *root;
    size_t i;
    kit k;
    begin(&k);
    (void)snprintf(text, sizeof text, "{\"jsonrpc\":\"2.0\",\"id\":\"%01025d\",\"method\":\"a\"}",
                   0);
    CHECK(read_one(&k, text));
    CHECK_EQ_STR(k.m.fault, "its id is longer than 1,024 bytes");
    CHECK_STR(k.m.id, "");
    (void)snprintf(text, sizeof text, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"%0257d\"}", 0);
    CHECK(read_one(&k, text));
    CHECK_EQ_INT(k.m.kind, PHI__RPC_INVALID);
    for (i = 0; i < 300; i++) text[i] = '[';
    CHECK_EQ_INT(phi__rpc_parse(&k.arena, phi__str(text, 300), &root), PHI_TOO_BIG);
    CHECK_EQ_INT(phi__rpc_parse(&k.arena, phi_str_of(""), &root), PHI_PARSE);
    CHECK_EQ_INT(phi__rpc_parse(&k.arena, phi_str_of("Server ready"), &root), PHI_PARSE);
    CHECK(root == NULL);
    end(&k);
}

TEST(messages_are_written_as_one_line) {
    kit k;
    begin(&k);
    phi__rpc_notification(&k.buf, "n", phi_str_of("{\n\"a\":\r\n1}"));
    CHECK_STR(phi__buf_str(&k.buf),
              "{\"jsonrpc\":\"2.0\",\"method\":\"n\",\"params\":{ \"a\":  1}}");
    phi__buf_clear(&k.buf);
    phi__rpc_notification(&k.buf, "notifications/initialized", phi_str_of(""));
    CHECK_STR(phi__buf_str(&k.buf),
              "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
    phi__buf_clear(&k.buf);
    phi__rpc_result(&k.buf, phi_str_of("\"a\""), phi_str_of(""));
    CHECK_STR(phi__buf_str(&k.buf), "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"result\":{}}");
    phi__buf_clear(&k.buf);
    phi__rpc_error(&k.buf, phi_str_of(""), -32700, phi_str_of("no \"JSON\""), phi_str_of("[1]"));
    CHECK_STR(phi__buf_str(&k.buf), "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,"
                                    "\"message\":\"no \\\"JSON\\\"\",\"data\":[1]}}");
    end(&k);
}

TEST(members_of_an_object_are_its_text_between_the_brackets) {
    phi_str s;
    CHECK(phi__rpc_members(phi_str_of(" { \"a\":1 } "), &s));
    CHECK_STR(s, "\"a\":1");
    CHECK(phi__rpc_members(phi_str_of("{}"), &s));
    CHECK_STR(s, "");
    CHECK(phi__rpc_members(phi_str_of(""), &s));
    CHECK(!phi__rpc_members(phi_str_of("[1]"), &s));
    CHECK(!phi__rpc_members(phi_str_of("{"), &s));
}

static void scenario(void) {
    kit k;
    begin(&k);
    (void)read_one(&k,
                   "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"m\",\"params\":{\"b\":[1]}}");
    phi__rpc_notification(&k.buf, "tools/list", phi_str_of("{}"));
    end(&k);
}

TEST(every_failed_allocation_is_reported) {
    int n = 0;
    bool tripped;
    do {
        test_alloc_fail_at(n++);
        scenario();
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        CHECK_EQ_INT(test_alloc_live_bytes(), 0);
    } while (tripped && n < 100);
}

TEST_MAIN(TEST_ENTRY(each_shape_of_a_message_is_told_from_the_others),
          TEST_ENTRY(an_error_keeps_its_code_message_and_data),
          TEST_ENTRY(our_ids_are_understood_as_numbers_and_as_strings),
          TEST_ENTRY(ids_methods_and_nesting_are_bounded),
          TEST_ENTRY(messages_are_written_as_one_line),
          TEST_ENTRY(members_of_an_object_are_its_text_between_the_brackets),
          TEST_ENTRY(every_failed_allocation_is_reported))
