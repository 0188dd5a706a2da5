/* test_call.c - what a model gets of answers, what is refused, credentials and their tokens, files, and
   calls that end early. */
#include "asked.h"

#include "agent/snapshot.h"
#include "text/json.h"

#include <sys/stat.h>
#include <unistd.h>

#define OPEN                                                                                       \
    "{\"openapi\":\"3.0.3\",\"info\":{\"title\":\"t\",\"version\":\"1\"},\"servers\":[{\"url\":"   \
    "\"https://h.example/v1\"}],"

static const char plain[] = OPEN
    "\"paths\":{\"/x\":{\"get\":{\"operationId\":\"op\",\"responses\":{}},\"post\":{"
    "\"operationId\":\"put_op\",\"responses\":{}}},\"/p/{id}\":{\"get\":{\"operationId\":\"by_id\","
    "\"parameters\":[{\"name\":\"id\",\"in\":\"path\",\"required\":true,\"schema\":{}},"
    "{\"name\":\"q\",\"in\":\"query\",\"schema\":{}},"
    "{\"name\":\"X-H\",\"in\":\"header\",\"schema\":{}}],\"responses\":{}}}}}";

/* ---- answers ---- */

typedef struct reply {
    int status;
    const char *headers, *body;
    size_t len;
} reply;

static void serve_reply(asked *a, size_t n, size_t i) {
    const reply *r = (const reply *)a->more;
    (void)n;
    wires_reply_bytes(&a->w, i, r->status, r->headers, r->body, r->len);
}

/* The one call's result for an answer. */
static bool answered(asked *a, const phi_openapi_desc *desc, int status, const char *headers,
                     const char *body, size_t len) {
    static reply r;
    r.status = status;
    r.headers = headers;
    r.body = body;
    r.len = len;
    if (!asked_open(a, desc, plain)) return false;
    a->serve = serve_reply;
    a->more = &r;
    return ask(a, "op", "{}");
}

static void answers(int status, const char *headers, const char *body, const char *want) {
    asked a;
    if (!answered(&a, NULL, status, headers, body, strlen(body))) return;
    CHECK_EQ_STR(a.text[0], want);
    CHECK_EQ_INT(a.is_error[0], false);
    asked_close(&a);
}

#define LINE "GET https://h.example/v1/x \xE2\x86\x92 "
#define JSON_TYPE "Content-Type: application/json; charset=utf-8\r\n"

TEST(an_answer_is_shown_with_its_status_whatever_it_is) {
    answers(200, JSON_TYPE, "{\"a\":1}", LINE "200 OK\n\n{\"a\":1}");
    answers(404, JSON_TYPE, "{\"no\":true}", LINE "404 Not Found\n\n{\"no\":true}");
    answers(503, "Content-Type: text/html\r\n", "<b>busy</b>",
            LINE "503 Service Unavailable\n\n<b>busy</b>");
    answers(204, "", "", LINE "204 No Content\n\n");
    answers(599, "", "odd", LINE "599\n\nodd");
    answers(302, "Location: http://127.0.0.1/\r\n", "", LINE "302 Found\n\n");
    answers(200, "Content-Type: text/plain; charset=ISO-8859-1\r\n", "caf\xE9",
            LINE "200 OK\n\ncaf\xC3\xA9");
    answers(200, "Content-Type: text/plain\r\n",
            "a\xFF"
            "b",
            LINE "200 OK\n\na\xEF\xBF\xBD"
                 "b");
    answers(200, "Content-Type: text/plain\r\n", "\xEF\xBB\xBFmark", LINE "200 OK\n\nmark");
    answers(200, "", "\xFF\xFE\xFD\xFC\xFB binary",
            LINE "200 OK\n\n[Binary data, 12 bytes: not text]");
    answers(200, "Content-Type: application/zip\r\nContent-Length: 7\r\n", "PK12345",
            LINE "200 OK\n\n[application/zip, 7 bytes: not text]");
    answers(200, "Content-Type: application/pdf\r\nContent-Length: 7\r\n", "no PDF.",
            LINE "200 OK\n\n[application/pdf, 7 bytes: not text]");
    answers(200, "Content-Type: audio/wav\r\n", "RIFF", /* the model is a Claude */
            LINE "200 OK\n\n[audio/wav, at least 4 bytes: not text]");
}

TEST(the_details_have_status_method_and_url_without_the_query) {
    asked a;
    if (!asked_open(&a, NULL, plain)) return;
    if (ask(&a, "by_id", "{\"id\":\"a b\",\"q\":\"secret\"}")) {
        CHECK_EQ_STR(a.details[0], "{\"status\":200,\"method\":\"GET\",\"url\":"
                                   "\"https://h.example/v1/p/a%20b\"}");
        CHECK_EQ_STR(a.text[0], "GET https://h.example/v1/p/a%20b \xE2\x86\x92 200 OK\n\n{}");
    }
    asked_close(&a);
}

TEST(an_image_is_shown_as_one) {
    static const char png[] = "\x89PNG\r\n\x1A\n\0\0";
    asked a;
    if (!answered(&a, NULL, 200, "Content-Type: image/png\r\n", png, sizeof png - 1)) return;
    CHECK_EQ_STR(a.text[0], LINE "200 OK\n\n");
    CHECK_EQ_STR(a.image[0], "iVBORw0KGgoAAA==");
    asked_close(&a);
}

TEST(a_pdf_is_a_document_for_a_model_that_takes_it) {
    asked a;
    if (!answered(&a, NULL, 200, "Content-Type: Application/PDF\r\n", "%PDF-1.7", 8)) return;
    CHECK_EQ_STR(a.text[0], LINE "200 OK\n\n");
    CHECK_EQ_STR(a.image[0], "JVBERi0xLjc=");
    CHECK_EQ_INT(a.kind[0], PHI_CONTENT_DOCUMENT);
    asked_close(&a);
}

TEST(a_long_text_is_cut_on_a_character) {
    phi_openapi_desc desc = PHI_ZERO;
    asked a;
    desc.max_response_bytes = 8;
    if (!answered(&a, &desc, 200, "Content-Type: text/plain\r\n", "1234567\xC3\xA9xyz", 12)) return;
    CHECK_EQ_STR(a.text[0], LINE "200 OK\n\n1234567\n... [truncated]");
    asked_close(&a);
}

/* 300 items of about 60 bytes each. */
static char *many_items(size_t count) {
    char *out = (char *)malloc(count * 100 + 100), *at = out;
    size_t i;
    if (out == NULL) abort();
    at += sprintf(at, "{\"total\":%u,\"items\":[", (unsigned)count);
    for (i = 0; i < count; i++)
        at += sprintf(at, "%s{\"id\":%u,\"name\":\"the item number %u\",\"tags\":[\"a\",\"b\"]}",
                      i > 0 ? "," : "", (unsigned)i, (unsigned)i);
    (void)sprintf(at, "],\"next\":\"token-1\"}");
    return out;
}

/* The JSON in a result: behind the blank line, before the mark. */
static phi_json *shown_json(const asked *a, phi_arena *arena) {
    const char *from = strstr(a->text[0], "\n\n"), *to = strstr(a->text[0], "\n... [truncated]");
    phi_json *root = NULL;
    if (!CHECK(from != NULL && to != NULL)) return NULL;
    CHECK_EQ_INT(phi_json_parse(arena, phi__str(from + 2, (size_t)(to - from) - 2), 0, &root, NULL),
                 PHI_OK);
    return root;
}

TEST(by_default_65536_bytes_of_an_answer_are_shown_and_no_character_is_cut) {
    static char body[70000];
    asked a;
    memset(body, 'x', sizeof body);
    memcpy(body + 65535, "\xC3\xA9", 2); /* a character across the limit */
    if (!answered(&a, NULL, 200, "Content-Type: text/plain\r\n", body, sizeof body)) return;
    CHECK_EQ_INT(strlen(a.text[0]),
                 strlen(LINE "200 OK\n\n") + 65535 + strlen("\n... [truncated]"));
    CHECK(strstr(a.text[0], "xx\n... [truncated]") != NULL);
    asked_close(&a);
}

TEST(long_json_loses_whole_items_and_stays_json) {
    static const size_t counts[] = {30, 300, 3000, 30000};
    size_t k;
    for (k = 0; k < PHI__COUNT(counts); k++) {
        phi_openapi_desc desc = PHI_ZERO;
        phi_allocator allocator = test_allocator();
        phi_memory memory;
        phi_arena arena;
        phi_json *root, *items, *last;
        char *body = many_items(counts[k]), left[80];
        asked a;
        size_t n;
        desc.max_response_bytes = 1000;
        phi_memory_init(&memory, &allocator, 0);
        phi_arena_init(&arena, &memory, 0);
        if (!answered(&a, &desc, 200, JSON_TYPE, body, strlen(body))) return;
        CHECK(a.len[0] < 1200 && a.len[0] > 700);
        root = shown_json(&a, &arena);
        items = phi_json_get(root, "items");
        n = phi_json_count(items);
        CHECK_EQ_INT(phi_json_int(phi_json_get(root, "total"), 0), counts[k]);
        CHECK(n > 5);
        if (k == 0) CHECK_STR(phi_json_str(phi_json_get(root, "next"), NULL), "token-1");
        last = phi_json_at(items, n - 1);
        if (k == 0) {
            (void)snprintf(left, sizeof left, "... %u more items", (unsigned)(counts[k] - n + 1));
            CHECK_STR(phi_json_str(last, NULL), left);
        } else
            CHECK(phi__str_starts(phi_json_str(last, NULL), "... "));
        CHECK_EQ_INT(phi_json_int(phi_json_get(phi_json_at(items, n - 2), "id"), -1), n - 2);
        free(body);
        phi_arena_free(&arena);
        asked_close(&a);
    }
}

TEST(json_is_shortened_in_its_depth) {
    static const struct {
        const char *body, *want;
        size_t most;
    } rows[] = {
        {"{\"a\":{\"b\":{\"c\":"
         "\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
         "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
         "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
         "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
         "\"}},"
         "\"d\":1}",
         NULL, 300},
        {"[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,"
         "33,34,"
         "35,36,37,38,39,40,41,42,43,44,45,46,47,48,49,50]",
         "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,\"... 35 more items\"]", 100},
        {"\"01234567890123456789012345678901234567890123456789012345678901234567890123456789"
         "012345678901234567890123456789\\u00e9\"",
         "\"0123456789012345678901234567890123456789012345678901... [64 more bytes]\"", 100},
    };
    size_t i;
    for (i = 0; i < PHI__COUNT(rows); i++) {
        phi_openapi_desc desc = PHI_ZERO;
        phi_allocator allocator = test_allocator();
        phi_memory memory;
        phi_arena arena;
        phi_json *root;
        char want[400];
        asked a;
        desc.max_response_bytes = (uint32_t)rows[i].most;
        phi_memory_init(&memory, &allocator, 0);
        phi_arena_init(&arena, &memory, 0);
        if (!answered(&a, &desc, 200, JSON_TYPE, rows[i].body, strlen(rows[i].body))) return;
        root = shown_json(&a, &arena);
        (void)snprintf(want, sizeof want, LINE "200 OK\n\n%s\n... [truncated]",
                       rows[i].want != NULL ? rows[i].want : "");
        if (rows[i].want != NULL)
            CHECK_EQ_STR(a.text[0], want);
        else {
            CHECK_EQ_INT(phi_json_int(phi_json_get(root, "d"), 0), 1);
            CHECK(phi__str_starts(phi_json_str(phi_json_path(root, "a.b.c"), NULL), "xxxxxx"));
        }
        phi_arena_free(&arena);
        asked_close(&a);
    }
}

TEST(broken_json_is_cut_as_text) {
    phi_openapi_desc desc = PHI_ZERO;
    asked a;
    desc.max_response_bytes = 20;
    if (!answered(&a, &desc, 200, JSON_TYPE, "{\"a\" 1, this is not JSON at all", 31)) return;
    CHECK_EQ_STR(a.text[0], LINE "200 OK\n\n{\"a\" 1, this is not \n... [truncated]");
    asked_close(&a);
}

TEST(any_cut_of_any_json_is_json_or_plain_text) {
    static const char alphabet[] = "{}[]\":,\\u0a1 tfn-eE.\xC3\xA9";
    phi_allocator allocator = test_allocator();
    uint32_t state = 7;
    int round;
    for (round = 0; round < 40; round++) {
        phi_openapi_desc desc = PHI_ZERO;
        char body[700];
        asked a;
        size_t i, n = 200 + test_random(&state) % 500;
        (void)allocator;
        for (i = 0; i < n; i++) body[i] = alphabet[test_random(&state) % (sizeof alphabet - 1)];
        if (round % 2 == 0) body[0] = '[';
        desc.max_response_bytes = 50 + test_random(&state) % 150;
        if (!answered(&a, &desc, 200, JSON_TYPE, body, n)) return;
        CHECK(a.len[0] < desc.max_response_bytes + 150);
        asked_close(&a);
    }
}

static void serve_endless(asked *a, size_t n, size_t i) {
    (void)n;
    wires_head(&a->w, i, 200, a->more != NULL ? (const char *)a->more : "");
}

TEST(an_endless_answer_ends_the_call_when_enough_has_come) {
    static char block[50000];
    phi_openapi_desc desc = PHI_ZERO;
    asked a;
    int pushes = 0;
    memset(block, 'x', sizeof block);
    if (!asked_open(&a, &desc, plain)) return;
    a.serve = serve_endless;
    asked_begin(&a, "op", "{}");
    while (asked_step(&a) > 0 && pushes < 100) {
        if (a.sent_count == 0) continue;
        if (a.w.sent[a.sent[0]].live) (void)wires_push(&a.w, a.sent[0], block, sizeof block);
        pushes++;
    }
    CHECK(pushes < 40);
    CHECK_EQ_INT(a.results, 1);
    if (a.results == 1) CHECK(strstr(a.text[0], "xxx\n... [truncated]") != NULL);
    CHECK_EQ_INT(a.w.cancels, 1);
    asked_close(&a);
}

TEST(a_long_answer_is_whole_in_a_file_where_there_is_a_directory) {
    static const size_t sizes[] = {2000, 5000, 400000};
    size_t k;
    for (k = 0; k < PHI__COUNT(sizes); k++) {
        phi_openapi_desc desc = PHI_ZERO;
        char dir[512], *body = (char *)malloc(sizes[k] + 1), *whole, *path, *end;
        struct stat info;
        asked a;
        size_t i, len = 0;
        if (body == NULL) abort();
        if (!test_temp_dir(dir, sizeof dir)) return;
        for (i = 0; i < sizes[k]; i++) body[i] = (char)('a' + i % 23);
        desc.max_response_bytes = 1000;
        desc.response_directory = dir;
        if (!answered(&a, &desc, 200, "Content-Type: text/csv\r\n", body, sizes[k])) return;
        path = strstr(a.text[0], " bytes: ");
        if (CHECK(path != NULL)) {
            CHECK(strstr(a.text[0], "\n... [truncated]\n[The whole answer, ") != NULL);
            path += 8;
            end = strchr(path, ']');
            if (end != NULL) *end = '\0';
            CHECK(strstr(path, ".csv") != NULL);
            CHECK(stat(path, &info) == 0 &&
                  (info.st_mode & 0777) == TEST_OWNER_MODE); /* its owner's alone */
            whole = test_read_file(path, &len);
            CHECK_EQ_INT(len, sizes[k]);
            CHECK(whole != NULL && memcmp(whole, body, sizes[k]) == 0);
            free(whole);
        }
        free(body);
        asked_close(&a);
    }
}

/* One read of the socket brings more than is kept. */
TEST(a_model_sees_the_beginning_of_an_answer_that_is_in_a_file) {
    phi_openapi_desc desc = PHI_ZERO;
    char dir[512], body[6000];
    asked a;
    size_t i;
    if (!test_temp_dir(dir, sizeof dir)) return;
    memset(body, ' ', sizeof body);
    for (i = 0; i < sizeof body / 10; i++) memcpy(body + 10 * i, "\"12345678", 9);
    for (i = 0; i < sizeof body / 10; i++) memcpy(body + 10 * i + 8, "\",", 2);
    body[0] = '[';
    memcpy(body + 1, "\"234567\"", 8);
    body[sizeof body - 1] = ']';
    desc.max_response_bytes = 200;
    desc.response_directory = dir;
    if (!answered(&a, &desc, 200, "Content-Type: application/json\r\n", body, sizeof body)) return;
    CHECK(strstr(a.text[0], "\n\n[\"234567\",\"1234567\",\"1234567\"") != NULL);
    CHECK(strstr(a.text[0], " more items\"]\n... [truncated]\n[The whole answer, 6000 bytes: ") !=
          NULL);
    asked_close(&a);
    if (!answered(&a, &desc, 200, "Content-Type: text/plain\r\n", body, sizeof body)) return;
    CHECK(strstr(a.text[0], "\n\n[\"234567\",\"1234567\",") != NULL);
    asked_close(&a);
}

TEST(a_directory_that_is_not_there_is_said) {
    phi_openapi_desc desc = PHI_ZERO;
    asked a;
    desc.max_response_bytes = 4;
    desc.response_directory = "/nonexistent/dir";
    if (!answered(&a, &desc, 200, "Content-Type: text/plain\r\n", "123456", 6)) return;
    CHECK(strstr(a.text[0],
                 "1234\n... [truncated]\n[The whole answer could not be saved: No such") != NULL);
    asked_close(&a);
}

/* ---- what is refused ---- */

static void refuses(const char *tool, const char *arguments, const char *want) {
    asked a;
    if (!asked_open(&a, NULL, plain)) return;
    if (ask(&a, tool, arguments)) {
        CHECK_EQ_STR(a.text[0], want);
        CHECK_EQ_INT(a.is_error[0], true);
        CHECK_EQ_INT(a.sent_count, 0);
    }
    asked_close(&a);
}

TEST(arguments_that_would_leave_their_place_are_refused) {
    refuses("by_id", "{\"id\":\"..\"}", "Error: A path parameter makes a segment '..' of /p/{id}");
    refuses("by_id", "{\"id\":\".\"}", "Error: A path parameter makes a segment '.' of /p/{id}");
    refuses("by_id", "{\"id\":\"\"}", "Error: Path parameter 'id' is empty");
    refuses("by_id", "{\"id\":[]}", "Error: Path parameter 'id' is empty");
    refuses("by_id", "{\"id\":null}", "Error: Missing required path parameter 'id' for /p/{id}");
    refuses("by_id", "{\"id\":1,\"X-H\":\"a\\r\\nB: c\"}",
            "Error: Header parameter 'X-H' cannot hold control characters");
    refuses("by_id", "{\"id\":1,\"X-H\":\"a\\u0000b\"}",
            "Error: Header parameter 'X-H' cannot hold control characters");
}

/* A host's tool that hands its calls to an operation. */
static phi_flow wrapped_start(void *user_data, phi_call call, phi_str arguments) {
    const phi_tool *inner = (const phi_tool *)user_data;
    (void)arguments;
    return inner->start(inner->user_data, call, phi_str_of("\"text\""));
}

TEST(arguments_that_are_no_object_are_refused) {
    phi_agent_desc desc = rig_desc();
    phi_tool outer = PHI_ZERO;
    asked a;
    if (!asked_open(&a, NULL, plain)) return;
    phi_agent_free(a.agent);
    outer.name = "outer";
    outer.description = "d";
    outer.start = wrapped_start;
    outer.user_data = &a.tools.tools[0];
    desc.tools = &outer;
    desc.tool_count = 1;
    a.agent = phi_agent_new(a.rt, &desc);
    if (ask(&a, "outer", "{}"))
        CHECK_EQ_STR(a.text[0], "Error: Expected object parameters, got string");
    asked_close(&a);
}

static void serve_broken(asked *a, size_t n, size_t i) {
    (void)n;
    wires_end(&a->w, i, PHI_NETWORK, "the connection was closed");
}

static void serve_silent(asked *a, size_t n, size_t i) {
    (void)a;
    (void)n;
    (void)i;
}

TEST(a_request_without_an_answer_is_an_error_result) {
    asked a;
    if (!asked_open(&a, NULL, plain)) return;
    a.serve = serve_broken;
    if (ask(&a, "op", "{}")) {
        CHECK_EQ_STR(a.text[0], "Error: HTTP request failed: the connection was closed");
        CHECK_EQ_INT(a.is_error[0], true);
    }
    asked_close(&a);
}

TEST(a_slow_server_is_left_after_the_timeout) {
    phi_openapi_desc desc = PHI_ZERO;
    asked a;
    desc.timeout_ms = 200;
    if (!asked_open(&a, &desc, plain)) return;
    a.serve = serve_silent;
    if (ask(&a, "op", "{}"))
        CHECK_EQ_STR(a.text[0],
                     "Error: HTTP request failed: the answer was not whole after 200 ms");
    CHECK_EQ_INT(a.w.cancels, 1);
    asked_close(&a);
}

TEST(by_default_a_slow_server_is_left_after_thirty_seconds) {
    asked a;
    if (!asked_open(&a, NULL, plain)) return;
    a.serve = serve_silent;
    asked_begin(&a, "op", "{}");
    CHECK_EQ_INT(asked_run(&a, 29000), 1); /* a step is a millisecond */
    CHECK_EQ_INT(a.w.cancels, 0);
    CHECK_EQ_INT(asked_run(&a, 2000), 0);
    CHECK_EQ_STR(a.text[0], "Error: HTTP request failed: the answer was not whole after 30000 ms");
    CHECK_EQ_INT(a.w.cancels, 1);
    asked_close(&a);
}

/* ---- servers ---- */

static void base(const char *servers, const char *base_url, const char *want) {
    char document[800];
    phi_openapi_desc desc = PHI_ZERO;
    asked a;
    (void)snprintf(
        document, sizeof document,
        "{\"openapi\":\"3.1.0\",\"info\":{\"title\":\"t\",\"version\":\"1\"},%s\"paths\":{"
        "\"/x\":{\"get\":{\"operationId\":\"op\",\"responses\":{}}}}}",
        servers);
    desc.base_url = base_url;
    if (!asked_open(&a, &desc, document)) return;
    if (ask(&a, "op", "{}")) {
        if (a.sent_count > 0)
            CHECK_EQ_STR(asked_sent(&a, 0), want);
        else
            CHECK_EQ_STR(a.text[0], want);
    }
    asked_close(&a);
}

TEST(the_base_is_the_hosts_or_the_first_server) {
    base("\"servers\":[{\"url\":\"https://{a}.h/{v}//"
         "\",\"variables\":{\"a\":{\"default\":\"b\"},\"v\":"
         "{\"default\":\"v2\"}}},{\"url\":\"https://other\"}],",
         NULL, "GET https://b.h/v2/x\n\n");
    base("\"servers\":[{\"url\":\"https://a.h\"}],", "http://mine.h:8080/base/",
         "GET http://mine.h:8080/base/x\n\n");
    base("\"servers\":[{\"url\":\"/v1\"}],", NULL,
         "Error: No base URL: the document names no server, or a relative one");
    base("", NULL, "Error: No base URL: the document names no server, or a relative one");
    base("\"servers\":[{\"url\":\"localhost:8080/v1\"}],", NULL,
         "Error: No base URL: the document names no server, or a relative one");
    base("\"servers\":[{\"url\":\"ftp://h\"}],", NULL,
         "Error: The server's URL is not http or https");
    base("\"servers\":[{\"url\":\"https://h?a=b\"}],", NULL,
         "Error: The server's URL has a query or a fragment");
    base("\"servers\":[{\"url\":\"https://me:pw@h/\"}],", NULL,
         "Error: The server's URL has a user: set up user and password instead");
}

/* ---- credentials ---- */

#define SCHEMES                                                                                    \
    "\"components\":{\"securitySchemes\":{\"K\":{\"type\":\"apiKey\",\"in\":\"header\",\"name\":"  \
    "\"X-Key\"},\"Q\":{\"type\":\"apiKey\",\"in\":\"query\",\"name\":\"key\"},\"C\":{\"type\":"    \
    "\"apiKey\","                                                                                  \
    "\"in\":\"cookie\",\"name\":\"sid\"},\"B\":{\"type\":\"http\",\"scheme\":\"basic\"},\"T\":{"   \
    "\"type\":"                                                                                    \
    "\"http\",\"scheme\":\"bearer\"},\"D\":{\"type\":\"http\",\"scheme\":\"digest\"},\"O\":{"      \
    "\"type\":"                                                                                    \
    "\"oauth2\",\"flows\":{\"clientCredentials\":{\"tokenUrl\":\"https://t.example/"               \
    "token\",\"scopes\":{"                                                                         \
    "\"read\":\"r\",\"write\":\"w\"}}}}}},"

static const char secured_form[] = OPEN SCHEMES
    "\"paths\":{\"/x\":{\"get\":{\"operationId\":\"op\",\"security\":%s,\"parameters\":[{"
    "\"name\":\"a\",\"in\":\"query\",\"schema\":{}}],\"responses\":{}},\"post\":{"
    "\"operationId\":\"op2\",\"security\":%s,\"responses\":{}}}}}";

static bool secured(asked *a, const char *security, const phi_openapi_auth *auth) {
    static char document[2400];
    phi_openapi_desc desc = PHI_ZERO;
    (void)snprintf(document, sizeof document, secured_form, security, security);
    desc.auth = *auth;
    return asked_open(a, &desc, document);
}

static void carries(const char *security, const phi_openapi_auth *auth, const char *want) {
    asked a;
    if (!secured(&a, security, auth)) return;
    if (ask(&a, "op", "{\"a\":1}")) {
        if (a.sent_count > 0)
            CHECK_EQ_STR(asked_sent(&a, 0), want);
        else
            CHECK_EQ_STR(a.text[0], want);
    }
    asked_close(&a);
}

TEST(the_first_alternative_that_can_be_met_is_used) {
    static const phi_openapi_pair keys[] = {
        {"K", "k-secret-1"}, {"Q", "q&secret"}, {"C", "c secret"}};
    phi_openapi_auth auth = PHI_ZERO;
    auth.keys = keys;
    auth.key_count = 3;
    carries("[{\"T\":[]},{\"K\":[]}]", &auth,
            "GET https://h.example/v1/x?a=1\nX-Key: k-secret-1\n\n");
    carries("[{\"K\":[],\"Q\":[],\"C\":[]}]", &auth,
            "GET https://h.example/v1/x?a=1&key=q%26secret\nX-Key: k-secret-1\nCookie: "
            "sid=c%20secret\n\n");
    carries("[{\"B\":[]},{}]", &auth, "GET https://h.example/v1/x?a=1\n\n");
    carries("[{\"B\":[]}]", &auth,
            "Error: This operation needs credentials that were not set up: B (basic)");
    carries("[{\"D\":[]}]", &auth,
            "Error: This operation needs credentials that were not set up: D (another kind)");
    auth.user = "me";
    auth.password = "p:w";
    carries("[{\"T\":[]},{\"B\":[]}]", &auth,
            "GET https://h.example/v1/x?a=1\nAuthorization: Basic bWU6cDp3\n\n");
    auth.bearer_token = "tok-1";
    carries("[{\"T\":[]},{\"B\":[]}]", &auth,
            "GET https://h.example/v1/x?a=1\nAuthorization: Bearer tok-1\n\n");
    carries("[{\"O\":[\"read\"]}]", &auth,
            "GET https://h.example/v1/x?a=1\nAuthorization: Bearer tok-1\n\n");
    carries("[]", &auth, "GET https://h.example/v1/x?a=1\nAuthorization: Bearer tok-1\n\n");
    memset(&auth, 0, sizeof auth);
    carries("[{\"B\":[]}]", &auth, "GET https://h.example/v1/x?a=1\n\n");
}

TEST(headers_of_the_host_are_sent_and_win) {
    static const phi_openapi_pair headers[] = {{"X-H", "mine"}, {"User-Agent", "game/1"}};
    phi_openapi_desc desc = PHI_ZERO;
    asked a;
    desc.headers = headers;
    desc.header_count = 2;
    if (!asked_open(&a, &desc, plain)) return;
    if (ask(&a, "by_id", "{\"id\":1,\"X-H\":\"the model's\"}"))
        CHECK_EQ_STR(asked_sent(&a, 0),
                     "GET https://h.example/v1/p/1\nX-H: mine\nUser-Agent: game/1\n\n");
    asked_close(&a);
}

static void serve_echo(asked *a, size_t n, size_t i) {
    (void)n;
    wires_reply(&a->w, i, 200, "Content-Type: text/plain\r\n", a->w.sent[i].text);
}

TEST(an_answer_that_repeats_a_secret_is_shown_without_it) {
    static const phi_openapi_pair keys[] = {{"Q", "query-secret-7"}};
    phi_openapi_auth auth = PHI_ZERO;
    asked a;
    auth.keys = keys;
    auth.key_count = 1;
    auth.bearer_token = "bearer-secret-42";
    if (!secured(&a, "[{\"T\":[],\"Q\":[]}]", &auth)) return;
    a.serve = serve_echo;
    if (ask(&a, "op", "{\"a\":\"an ordinary value\"}")) {
        CHECK(strstr(a.text[0], "secret") == NULL);
        CHECK(strstr(a.text[0], "Authorization: Bearer ****************\n") != NULL);
        CHECK(strstr(a.text[0], "a=an%20ordinary%20value&key=**************") != NULL);
    }
    asked_close(&a);
}

/* ---- tokens ---- */

static struct {
    int tokens, refusals, status; /* refusals: of the API, with 401 */
    const char *answer;           /* of the token server; NULL: a token */
    const char *expires;
    char request[600];
} oauth;

static void serve_oauth(asked *a, size_t n, size_t i) {
    char body[200];
    (void)n;
    if (strstr(a->w.sent[i].text, "t.example") == NULL) {
        if (oauth.refusals > 0) {
            oauth.refusals--;
            wires_reply(&a->w, i, 401, "", "who are you");
        } else
            wires_reply(&a->w, i, 200, "", a->w.sent[i].text);
        return;
    }
    (void)snprintf(oauth.request, sizeof oauth.request, "%s", a->w.sent[i].text);
    (void)snprintf(body, sizeof body,
                   "{\"access_token\":\"token-number-%d\",\"token_type\":\"bearer\"%s}",
                   ++oauth.tokens, oauth.expires);
    wires_reply(&a->w, i, oauth.status, JSON_TYPE, oauth.answer != NULL ? oauth.answer : body);
}

static bool oauth_open(asked *a) {
    phi_openapi_auth auth = PHI_ZERO;
    memset(&oauth, 0, sizeof oauth);
    oauth.status = 200;
    oauth.expires = ",\"expires_in\":3600";
    auth.client_id = "id 1";
    auth.client_secret = "client/secret";
    if (!secured(a, "[{\"O\":[\"read\",\"write\"]}]", &auth)) return false;
    a->serve = serve_oauth;
    return true;
}

TEST(a_token_is_requested_once_and_kept) {
    asked a;
    if (!oauth_open(&a)) return;
    if (ask(&a, "op", "{}")) {
        CHECK_EQ_STR(oauth.request,
                     "POST https://t.example/token\n"
                     "Authorization: Basic aWQlMjAxOmNsaWVudCUyRnNlY3JldA==\n"
                     "Content-Type: application/x-www-form-urlencoded\nAccept: application/json\n\n"
                     "grant_type=client_credentials&scope=read%20write");
        CHECK_EQ_STR(asked_sent(&a, 1),
                     "GET https://h.example/v1/x\nAuthorization: Bearer token-number-1\n\n");
        CHECK(strstr(a.text[0], "token-number") == NULL);
    }
    (void)ask(&a, "op", "{\"a\":2}");
    CHECK_EQ_INT(oauth.tokens, 1);
    a.w.now_us += 3571u * 1000000u; /* half a minute before it expires */
    (void)ask(&a, "op", "{\"a\":3}");
    CHECK_EQ_INT(oauth.tokens, 2);
    CHECK_EQ_STR(asked_sent(&a, 4),
                 "GET https://h.example/v1/x?a=3\nAuthorization: Bearer token-number-2\n\n");
    asked_close(&a);
}

TEST(a_tokens_lifetime_may_be_a_text) {
    asked a;
    if (!oauth_open(&a)) return;
    oauth.expires = ",\"expires_in\":\"100\"";
    (void)ask(&a, "op", "{}");
    a.w.now_us += 69u * 1000000u;
    (void)ask(&a, "op", "{}");
    CHECK_EQ_INT(oauth.tokens, 1);
    a.w.now_us += 2u * 1000000u;
    (void)ask(&a, "op", "{}");
    CHECK_EQ_INT(oauth.tokens, 2);
    asked_close(&a);
}

TEST(two_calls_at_once_share_a_token_request) {
    asked a;
    if (!oauth_open(&a)) return;
    a.name[0] = a.name[1] = a.name[2] = "op";
    a.arguments[0] = "{\"a\":1}";
    a.arguments[1] = "{\"a\":2}";
    a.arguments[2] = "{\"a\":3}";
    a.call_count = 3;
    CHECK_EQ_INT(phi_prompt(a.agent, "go"), PHI_OK);
    CHECK_EQ_INT(asked_run(&a, 100), 0);
    CHECK_EQ_INT(a.results, 3);
    CHECK_EQ_INT(oauth.tokens, 1);
    CHECK_EQ_INT(a.sent_count, 4);
    asked_close(&a);
}

TEST(agents_share_a_token_and_one_may_be_freed_while_both_wait) {
    int frees;
    for (frees = 0; frees < 2; frees++) {
        phi_agent other;
        asked a;
        if (!oauth_open(&a)) return;
        other = asked_agent(&a);
        a.serve = serve_silent;
        asked_begin(&a, "op", "{}");
        CHECK_EQ_INT(phi_prompt(other, "go"), PHI_OK);
        (void)asked_run(&a, 5);
        CHECK_EQ_INT(a.sent_count, 1); /* the token's */
        if (frees) phi_agent_free(other);
        a.serve = serve_oauth;
        serve_oauth(&a, 0, a.sent[0]);
        CHECK_EQ_INT(asked_run(&a, 50), 0);
        CHECK_EQ_INT(a.results, frees ? 1 : 2);
        CHECK_EQ_INT(oauth.tokens, 1);
        phi_agent_free(other);
        asked_close(&a);
    }
}

TEST(a_401_renews_the_token_once) {
    asked a;
    if (!oauth_open(&a)) return;
    oauth.refusals = 1;
    if (ask(&a, "op", "{}")) CHECK(strstr(a.text[0], "200 OK") != NULL);
    CHECK_EQ_INT(oauth.tokens, 2);
    CHECK_EQ_STR(asked_sent(&a, 3),
                 "GET https://h.example/v1/x\nAuthorization: Bearer token-number-2\n\n");
    oauth.refusals = 2;
    if (ask(&a, "op", "{}")) CHECK_EQ_STR(a.text[0], LINE "401 Unauthorized\n\nwho are you");
    CHECK_EQ_INT(oauth.tokens, 3);
    asked_close(&a);
}

TEST(a_401_after_a_token_that_does_not_live_long_makes_no_loop) {
    asked a;
    if (!oauth_open(&a)) return;
    oauth.expires = ",\"expires_in\":0";
    oauth.refusals = 100;
    if (ask(&a, "op", "{}")) CHECK_EQ_STR(a.text[0], LINE "401 Unauthorized\n\nwho are you");
    CHECK_EQ_INT(oauth.tokens, 2);
    asked_close(&a);
}

TEST(without_a_token_the_call_is_an_error_without_secrets) {
    static const struct {
        int status;
        const char *answer, *want;
    } rows[] = {
        {401, "{\"error\":\"invalid_client\"}",
         "Error: HTTP request failed: the token server answered 401: invalid_client"},
        {400, "client/secret is wrong",
         "Error: HTTP request failed: the token server answered 400 without a token"},
        {200, "{\"access_token\":\"\"}",
         "Error: HTTP request failed: the token server answered 200 without a token"},
        {200, "[]", "Error: HTTP request failed: the token server answered 200 without a token"},
        {403, "{\"error\":\"client/secret\\n\\u001b[31m\"}",
         "Error: HTTP request failed: the token server answered 403: *************??[31m"},
        {200, "{\"access_token\":\"a\\r\\nb: c\"}",
         "Error: HTTP request failed: request: header Authorization: a control character in its "
         "value"},
    };
    size_t i;
    for (i = 0; i < PHI__COUNT(rows); i++) {
        asked a;
        if (!oauth_open(&a)) return;
        oauth.status = rows[i].status;
        oauth.answer = rows[i].answer;
        if (ask(&a, "op", "{}")) CHECK_EQ_STR(a.text[0], rows[i].want);
        CHECK_EQ_INT(a.sent_count, 1);
        asked_close(&a);
    }
}

TEST(a_secret_that_memory_is_missing_to_look_for_is_not_shown) {
    int n = 0;
    bool tripped;
    do {
        asked a;
        if (!oauth_open(&a)) return;
        oauth.status = 400;
        oauth.answer = "{\"error\":\"client/secret is wrong\"}";
        test_alloc_fail_at(n++);
        (void)phi_prompt(a.agent, "go");
        asked_forget(&a);
        a.name[0] = "op";
        a.arguments[0] = "{}";
        a.call_count = 1;
        CHECK_EQ_INT(asked_run(&a, 3000), 0);
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        if (a.results == 1) CHECK(strstr(a.text[0], "client/secret") == NULL);
        asked_close(&a);
    } while (tripped && n < 2000);
}

TEST(a_call_that_ends_while_it_waits_for_a_token_leaves_nothing) {
    int how;
    for (how = 0; how < 3; how++) {
        asked a;
        if (!oauth_open(&a)) return;
        a.serve = serve_silent;
        asked_begin(&a, "op", "{}");
        (void)asked_run(&a, 5);
        CHECK_EQ_INT(a.sent_count, 1);
        phi_openapi_free(a.api); /* refused: a call is under way */
        CHECK_EQ_INT(phi_last_error(a.rt).status, PHI_MISUSE);
        if (how == 0) (void)phi_abort(a.agent);
        if (how == 1) phi_agent_free(a.agent);
        if (how == 2) CHECK_EQ_INT(phi_runtime_close(a.rt), PHI_BUSY);
        CHECK_EQ_INT(asked_run(&a, 20), 0);
        asked_close(&a);
    }
}

/* ---- files ---- */

static const char upload[] = OPEN
    "\"paths\":{\"/up\":{\"post\":{\"operationId\":\"up\",\"requestBody\":{\"required\":true,"
    "\"content\":{\"multipart/form-data\":{\"schema\":{\"type\":\"object\",\"properties\":{"
    "\"note\":{\"type\":\"string\"},\"n\":{\"type\":\"integer\"},\"meta\":{\"type\":\"object\"},"
    "\"tags\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},"
    "\"file\":{\"type\":\"string\",\"format\":\"binary\"},"
    "\"pic\":{\"type\":\"string\",\"format\":\"byte\"}}},"
    "\"encoding\":{\"pic\":{\"contentType\":\"image/png\"}}}}},\"responses\":{}}},"
    "\"/raw\":{\"put\":{\"operationId\":\"raw\",\"requestBody\":{\"content\":{"
    "\"application/octet-stream\":{\"schema\":{\"type\":\"string\",\"format\":\"binary\"}}}},"
    "\"responses\":{}}}}}";

/* The sent request with the boundary as "BOUNDARY". */
static char *sent_form(const asked *a) {
    const char *sent = asked_sent(a, 0), *at = strstr(sent, "boundary=");
    char *out = (char *)calloc(1, strlen(sent) * 2 + 1), boundary[64] = "none";
    if (out == NULL) abort();
    if (CHECK(at != NULL)) (void)sscanf(at + 9, "%60[^\n]", boundary);
    CHECK_EQ_INT(strlen(boundary), 28);
    while (*sent != '\0') {
        if (strncmp(sent, boundary, strlen(boundary)) == 0) {
            strcat(out, "BOUNDARY");
            sent += strlen(boundary);
        } else
            strncat(out, sent++, 1);
    }
    return out;
}

static bool upload_open(asked *a, char *dir, size_t size, const char *const **roots) {
    static const char *list[2];
    phi_openapi_desc desc = PHI_ZERO;
    if (!test_temp_dir(dir, size)) return false;
    list[0] = dir;
    *roots = list;
    desc.upload_roots = list;
    return asked_open(a, &desc, upload);
}

static void put_file(const char *dir, const char *name, const char *text, size_t len) {
    char path[700];
    FILE *f;
    (void)snprintf(path, sizeof path, "%s/%s", dir, name);
    f = fopen(path, "wb");
    if (!CHECK(f != NULL)) return;
    CHECK(fwrite(text, 1, len, f) == len);
    (void)fclose(f);
}

#ifdef _WIN32 /* no name of a file has quotation marks there */
#define QUOTED_FILE "a 'b'.txt"
#define QUOTED_JSON QUOTED_FILE
#define QUOTED_SENT QUOTED_FILE
#else
#define QUOTED_FILE "a \"b\".txt"
#define QUOTED_JSON "a \\\"b\\\".txt"
#define QUOTED_SENT "a %22b%22.txt"
#endif

TEST(multipart_has_a_part_for_each_value) {
    const char *const *roots;
    char dir[512], *form;
    asked a;
    if (!upload_open(&a, dir, sizeof dir, &roots)) return;
    put_file(dir, QUOTED_FILE, "file\r\ncontent", 13);
    if (ask(&a, "up",
            "{\"body\":{\"note\":\"hello\",\"n\":3,\"meta\":{\"a\":1},\"tags\":[\"x\",\"y\"],"
            "\"file\":{\"path\":\"" QUOTED_JSON "\"},\"pic\":\"AAEC/w==\"}}")) {
        form = sent_form(&a);
        CHECK(strstr(form, "POST https://h.example/v1/up\nContent-Type: multipart/form-data; "
                           "boundary=BOUNDARY\n\n") == form);
        CHECK(strstr(form,
                     "--BOUNDARY\r\nContent-Disposition: form-data; name=\"note\"\r\n\r\nhello\r\n"
                     "--BOUNDARY\r\nContent-Disposition: form-data; name=\"n\"\r\n\r\n3\r\n"
                     "--BOUNDARY\r\nContent-Disposition: form-data; name=\"meta\"\r\n"
                     "Content-Type: application/json\r\n\r\n{\"a\":1}\r\n"
                     "--BOUNDARY\r\nContent-Disposition: form-data; name=\"tags\"\r\n\r\nx\r\n"
                     "--BOUNDARY\r\nContent-Disposition: form-data; name=\"tags\"\r\n\r\ny\r\n"
                     "--BOUNDARY\r\nContent-Disposition: form-data; name=\"file\"; "
                     "filename=\"" QUOTED_SENT
                     "\"\r\nContent-Type: application/octet-stream\r\n\r\n"
                     "file\r\ncontent\r\n"
                     "--BOUNDARY\r\nContent-Disposition: form-data; name=\"pic\"; "
                     "filename=\"pic\"\r\nContent-Type: image/png\r\n\r\n") != NULL);
        free(form);
    }
    asked_close(&a);
}

TEST(a_large_file_is_read_in_slices_and_sent_whole) {
    enum { BIG = 3 << 20 };
    const char *const *roots;
    char dir[512], *big = (char *)malloc(BIG), *body;
    asked a;
    size_t i;
    if (big == NULL) abort();
    for (i = 0; i < BIG; i++) big[i] = (char)('a' + (i * 7 + i / 1000) % 26);
    if (!upload_open(&a, dir, sizeof dir, &roots)) return;
    put_file(dir, "big", big, BIG);
    if (ask(&a, "raw", "{\"body\":{\"path\":\"big\"}}")) {
        body = strstr(a.w.sent[a.sent[0]].text, "\n\n") + 2;
        CHECK_EQ_INT(strlen(body), BIG);
        CHECK(strlen(body) == BIG && memcmp(body, big, BIG) == 0);
    }
    asked_begin(&a, "raw", "{\"body\":{\"path\":\"big\"}}");
    (void)asked_run(&a, 6); /* in the midst of reading */
    CHECK_EQ_INT(a.sent_count, 1);
    (void)phi_abort(a.agent);
    CHECK_EQ_INT(asked_run(&a, 20), 0);
    free(big);
    asked_close(&a);
}

TEST(files_outside_of_the_directories_are_refused) {
    const char *const *roots;
    char dir[512], path[700], arguments[900], want[900];
    asked a;
    if (!upload_open(&a, dir, sizeof dir, &roots)) return;
    (void)snprintf(path, sizeof path, "%s/link", dir);
#ifndef _WIN32 /* links need a right there, and Wine has none */
    CHECK(symlink("/etc/passwd", path) == 0);
#endif
    {
        static const char *const rows[][2] = {
            {"/etc/passwd", "it is outside the directories to send from"},
            {"../../../../../../../../../../etc/passwd",
             "it is outside the directories to send from"},
#ifndef _WIN32
            {"link", "it is outside the directories to send from"},
#endif
            {"missing", "No such file or directory"},
            {".", NULL},
        };
        size_t i;
        for (i = 0; i < PHI__COUNT(rows); i++) {
            (void)snprintf(arguments, sizeof arguments, "{\"body\":{\"file\":{\"path\":\"%s\"}}}",
                           rows[i][0]);
            (void)snprintf(want, sizeof want, "Error: Cannot send file '%s': %s", rows[i][0],
                           rows[i][1] != NULL ? rows[i][1] : "");
            if (!ask(&a, "up", arguments)) continue;
            CHECK(a.is_error[0]);
            if (rows[i][1] != NULL)
                CHECK_EQ_STR(a.text[0], want);
            else
                CHECK(strncmp(a.text[0], want, strlen(want)) == 0);
        }
    }
    CHECK_EQ_INT(a.sent_count, 0);
    asked_close(&a);
}

TEST(without_directories_no_file_is_sent) {
    asked a;
    if (!asked_open(&a, NULL, upload)) return;
    if (ask(&a, "up", "{\"body\":{\"file\":{\"path\":\"/etc/passwd\"}}}"))
        CHECK_EQ_STR(a.text[0],
                     "Error: Cannot send file '/etc/passwd': no directory is set up to send "
                     "files from");
    if (ask(&a, "up", "{\"body\":{\"pic\":\"not base64\"}}"))
        CHECK_EQ_STR(a.text[0], "Error: 'pic' is not base64");
    CHECK_EQ_INT(a.sent_count, 0);
    asked_close(&a);
}

/* ---- calls that end early ---- */

TEST(an_abort_and_the_agents_end_cancel_the_request) {
    int how;
    for (how = 0; how < 3; how++) {
        asked a;
        if (!asked_open(&a, NULL, plain)) return;
        a.serve = serve_endless;
        asked_begin(&a, "op", "{}");
        (void)asked_run(&a, 5);
        CHECK_EQ_INT(a.sent_count, 1);
        (void)wires_push(&a.w, a.sent[0], "half", 4);
        if (how == 0) (void)phi_abort(a.agent);
        if (how == 1) phi_agent_free(a.agent);
        if (how == 2) CHECK_EQ_INT(phi_runtime_close(a.rt), PHI_BUSY);
        CHECK_EQ_INT(asked_run(&a, 20), 0);
        CHECK_EQ_INT(a.w.cancels, 1);
        if (how == 0 && CHECK_EQ_INT(a.results, 1)) CHECK_EQ_STR(a.text[0], "Cancelled");
        asked_close(&a);
    }
}

TEST(the_runtime_may_be_freed_in_the_midst) {
    asked a;
    if (!asked_open(&a, NULL, plain)) return;
    a.serve = serve_endless;
    asked_begin(&a, "op", "{}");
    (void)asked_run(&a, 5);
    phi_agent_free(a.agent);
    phi_openapi_free(a.api);
    phi_runtime_free(a.rt);
    wires_free(&a.w);
}

static void snapshot(const char *name, const char *want, size_t requests) {
    phi_allocator allocator = test_allocator();
    phi_agent_desc desc = rig_desc();
    phi_memory memory;
    phi_arena arena;
    phi_str saved;
    asked a;
    if (!asked_open(&a, NULL, plain)) return;
    phi_memory_init(&memory, &allocator, 0);
    phi_arena_init(&arena, &memory, 0);
    a.serve = serve_endless;
    asked_begin(&a, name, "{}");
    (void)asked_run(&a, 5);
    CHECK_EQ_INT(a.sent_count, 1);
    CHECK_EQ_INT(phi_agent_snapshot(a.agent, &arena, &saved), PHI_OK);
    phi_agent_free(a.agent);
    (void)asked_run(&a, 2);
    desc.tools = a.tools.tools;
    desc.tool_count = a.tools.count;
    a.agent = phi_agent_restore(a.rt, &desc, saved, PHI_RESTORE_RESUME);
    CHECK(phi_agent_alive(a.agent));
    a.serve = NULL;
    CHECK_EQ_INT(asked_run(&a, 50), 0);
    if (CHECK_EQ_INT(a.results, 1)) CHECK_EQ_STR(a.text[0], want);
    CHECK_EQ_INT(a.sent_count, requests);
    phi_arena_free(&arena);
    asked_close(&a);
}

TEST(out_of_a_snapshot_reading_requests_are_made_again_and_others_are_not) {
    snapshot("op", LINE "200 OK\n\n{}", 2);
    snapshot(
        "put_op",
        "Interrupted: the program was started anew while this request was under way; whether the "
        "server has served it is not known",
        1);
}

/* ---- memory ---- */

static void survives(bool with_token) {
    int n = 0;
    bool tripped;
    do {
        phi_status status;
        asked a;
        const char *const *roots;
        char dir[512];
        if (with_token ? !oauth_open(&a) : !upload_open(&a, dir, sizeof dir, &roots)) return;
        if (!with_token) put_file(dir, "f", "content", 7);
        a.name[0] = with_token ? "op" : "up";
        a.arguments[0] =
            with_token ? "{\"a\":[1,2]}" : "{\"body\":{\"note\":\"n\",\"file\":{\"path\":\"f\"}}}";
        a.call_count = 1;
        test_alloc_fail_at(n++);
        status = phi_prompt(a.agent, "go");
        CHECK(status == PHI_OK || status == PHI_NO_MEMORY);
        CHECK_EQ_INT(asked_run(&a, 3000), 0);
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        if (!tripped) CHECK(a.results == 1 && !a.is_error[0]);
        asked_begin(&a, a.name[0], a.arguments[0]); /* it can be used again */
        CHECK_EQ_INT(asked_run(&a, 3000), 0);
        if (a.results == 1) CHECK(!a.is_error[0]);
        asked_close(&a);
    } while (tripped && n < 2000);
    CHECK(n > 60);
}

TEST(a_call_with_a_token_survives_every_failed_allocation) { survives(true); }
TEST(a_call_with_a_file_survives_every_failed_allocation) { survives(false); }

/* ---- deferred ---- */

/* A request to the model with this text; the first one is number 0. */
static bool model_heard(const asked *a, size_t request, const char *text) {
    size_t i, n = 0;
    for (i = 0; i < a->w.count; i++)
        if (strstr(a->w.sent[i].text, "https://api.anthropic.com/") != NULL && n++ == request)
            return strstr(a->w.sent[i].text, text) != NULL;
    return CHECK(n > request);
}

static bool deferred_open(asked *a, const phi_openapi_desc *desc, uint32_t percent) {
    phi_agent_desc agent = rig_desc();
    if (!asked_open(a, desc, plain)) return false;
    agent.tools = a->tools.tools;
    agent.tool_count = a->tools.count;
    agent.model.context_window = 2000;
    agent.tool_options.defer_percent = percent;
    phi_agent_free(a->agent);
    a->agent = phi_agent_new(a->rt, &agent);
    return CHECK(phi_agent_alive(a->agent));
}

/* The model has to load the operations, which are between a hundredth and nine tenths of its
   window. */
static bool is_deferred(const phi_openapi_desc *desc, uint32_t percent) {
    asked a;
    bool deferred;
    if (!deferred_open(&a, desc, percent)) return false;
    CHECK(ask(&a, "nothing", "{}"));
    deferred = model_heard(&a, 0, "\"name\":\"load_tools\"");
    CHECK_EQ_INT(model_heard(&a, 0, "\"name\":\"by_id\""), !deferred);
    CHECK_EQ_INT(model_heard(&a, 0, "Their names: op, put_op, by_id\""), deferred);
    asked_close(&a);
    return deferred;
}

TEST(a_document_is_deferred_as_a_whole_or_where_it_has_much_to_say_or_never) {
    phi_openapi_desc desc = PHI_ZERO;
    CHECK(is_deferred(&desc, 1));
    CHECK(!is_deferred(&desc, 90));
    CHECK(!is_deferred(&desc, PHI_UNLIMITED));
    desc.never_deferred = true;
    CHECK(!is_deferred(&desc, 1));
    desc.deferred = true; /* wins */
    CHECK(is_deferred(&desc, 90));
    desc.never_deferred = false;
    CHECK(is_deferred(&desc, PHI_UNLIMITED));
}

TEST(a_model_loads_an_operation_and_calls_it) {
    phi_openapi_desc desc = PHI_ZERO;
    asked a;
    desc.deferred = true;
    if (!deferred_open(&a, &desc, 0)) return;
    CHECK(ask(&a, "load_tools", "{\"names\":[\"by_id\"]}"));
    CHECK_EQ_STR(a.text[0], "by_id: loaded.");
    CHECK_EQ_INT(a.sent_count, 0);
    CHECK(ask(&a, "by_id", "{\"id\":\"7\"}"));
    CHECK(!model_heard(&a, 0, "\"name\":\"by_id\",\"description\""));
    CHECK(model_heard(&a, 2, "\"name\":\"by_id\",\"description\""));
    CHECK(!model_heard(&a, 2, "\"name\":\"put_op\",\"description\""));
    CHECK_EQ_INT(a.sent_count, 1);
    CHECK(strstr(asked_sent(&a, 0), "GET https://h.example/v1/p/7") != NULL);
    asked_close(&a);
}

TEST_MAIN(TEST_ENTRY(an_answer_is_shown_with_its_status_whatever_it_is),
          TEST_ENTRY(the_details_have_status_method_and_url_without_the_query),
          TEST_ENTRY(an_image_is_shown_as_one), TEST_ENTRY(a_long_text_is_cut_on_a_character),
          TEST_ENTRY(by_default_65536_bytes_of_an_answer_are_shown_and_no_character_is_cut),
          TEST_ENTRY(long_json_loses_whole_items_and_stays_json),
          TEST_ENTRY(json_is_shortened_in_its_depth), TEST_ENTRY(broken_json_is_cut_as_text),
          TEST_ENTRY(any_cut_of_any_json_is_json_or_plain_text),
          TEST_ENTRY(an_endless_answer_ends_the_call_when_enough_has_come),
          TEST_ENTRY(a_long_answer_is_whole_in_a_file_where_there_is_a_directory),
          TEST_ENTRY(a_model_sees_the_beginning_of_an_answer_that_is_in_a_file),
          TEST_ENTRY(a_directory_that_is_not_there_is_said),
          TEST_ENTRY(arguments_that_would_leave_their_place_are_refused),
          TEST_ENTRY(arguments_that_are_no_object_are_refused),
          TEST_ENTRY(a_request_without_an_answer_is_an_error_result),
          TEST_ENTRY(a_slow_server_is_left_after_the_timeout),
          TEST_ENTRY(by_default_a_slow_server_is_left_after_thirty_seconds),
          TEST_ENTRY(the_base_is_the_hosts_or_the_first_server),
          TEST_ENTRY(the_first_alternative_that_can_be_met_is_used),
          TEST_ENTRY(headers_of_the_host_are_sent_and_win),
          TEST_ENTRY(an_answer_that_repeats_a_secret_is_shown_without_it),
          TEST_ENTRY(a_token_is_requested_once_and_kept),
          TEST_ENTRY(a_tokens_lifetime_may_be_a_text),
          TEST_ENTRY(two_calls_at_once_share_a_token_request),
          TEST_ENTRY(agents_share_a_token_and_one_may_be_freed_while_both_wait),
          TEST_ENTRY(a_401_renews_the_token_once),
          TEST_ENTRY(a_401_after_a_token_that_does_not_live_long_makes_no_loop),
          TEST_ENTRY(without_a_token_the_call_is_an_error_without_secrets),
          TEST_ENTRY(a_secret_that_memory_is_missing_to_look_for_is_not_shown),
          TEST_ENTRY(a_call_that_ends_while_it_waits_for_a_token_leaves_nothing),
          TEST_ENTRY(multipart_has_a_part_for_each_value),
          TEST_ENTRY(a_large_file_is_read_in_slices_and_sent_whole),
          TEST_ENTRY(files_outside_of_the_directories_are_refused),
          TEST_ENTRY(without_directories_no_file_is_sent),
          TEST_ENTRY(an_abort_and_the_agents_end_cancel_the_request),
          TEST_ENTRY(the_runtime_may_be_freed_in_the_midst),
          TEST_ENTRY(out_of_a_snapshot_reading_requests_are_made_again_and_others_are_not),
          TEST_ENTRY(a_call_with_a_token_survives_every_failed_allocation),
          TEST_ENTRY(a_call_with_a_file_survives_every_failed_allocation),
          TEST_ENTRY(a_pdf_is_a_document_for_a_model_that_takes_it),
          TEST_ENTRY(a_document_is_deferred_as_a_whole_or_where_it_has_much_to_say_or_never),
          TEST_ENTRY(a_model_loads_an_operation_and_calls_it))
