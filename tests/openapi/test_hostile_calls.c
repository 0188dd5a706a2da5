/* test_hostile_calls.c - servers and models that mean harm: what is shown, sent and kept of them. */
#include "asked.h"

#include "openapi/openapi_request_in.h"

#include <sys/stat.h>
#include <unistd.h>

#define OPEN                                                                                       \
    "{\"openapi\":\"3.0.3\",\"info\":{\"title\":\"t\",\"version\":\"1\"},\"servers\":[{\"url\":"   \
    "\"https://h.example/v1\"}],"
#define LINE "GET https://h.example/v1/x \xE2\x86\x92 200 OK\n\n"

static const char document[] = OPEN
    "\"components\":{\"securitySchemes\":{\"Q\":{\"type\":\"apiKey\",\"in\":\"query\",\"name\":"
    "\"key\"}}},\"paths\":{\"/x\":{\"get\":{\"operationId\":\"op\",\"security\":[{\"Q\":[]}],"
    "\"parameters\":[{\"in\":\"query\",\"name\":\"f\",\"style\":\"deepObject\",\"explode\":true,"
    "\"schema\":{}},{\"in\":\"query\",\"name\":\"e\",\"schema\":{}},{\"in\":\"header\",\"name\":"
    "\"Accept-Encoding\",\"schema\":{}},{\"in\":\"cookie\",\"name\":\"c\",\"schema\":{}}]},"
    "\"post\":{\"operationId\":\"form\",\"security\":[],\"requestBody\":{\"content\":{"
    "\"application/x-www-form-urlencoded\":{\"schema\":{}}}}}},"
    "\"/m{m}\":{\"get\":{\"operationId\":\"matrix\",\"security\":[],\"parameters\":[{\"in\":"
    "\"path\",\"name\":\"m\",\"style\":\"matrix\",\"explode\":true,\"schema\":{}}]}},"
    "\"/#Target=A/{id}\":{\"get\":{\"operationId\":\"fragment\",\"parameters\":[{\"in\":\"query\","
    "\"name\":\"q\"}]}},"
    "\"/caf\xC3\xA9 <b>/%41/{\xC3\xA9}\":{\"get\":{\"operationId\":\"accents\"}}}}";

typedef struct reply {
    const char *headers, *body;
    size_t len;
} reply;

static void serve_reply(asked *a, size_t n, size_t i) {
    const reply *r = (const reply *)a->more;
    (void)n;
    wires_reply_bytes(&a->w, i, 200, r->headers, r->body, r->len);
}

/* The result of an answer. */
static void answers(const char *headers, const char *body, size_t len, const char *want) {
    static const phi_openapi_pair keys[] = {{"Q", "query-secret-7"}};
    phi_openapi_desc desc = PHI_ZERO;
    reply r;
    asked a;
    r.headers = headers;
    r.body = body;
    r.len = len;
    desc.auth.keys = keys;
    desc.auth.key_count = 1;
    if (!asked_open(&a, &desc, document)) return;
    a.serve = serve_reply;
    a.more = &r;
    if (ask(&a, "op", "{}")) CHECK_EQ_STR(a.text[0], want);
    asked_close(&a);
}

#define ANSWERS(headers, body, want) answers(headers, body, sizeof body - 1, want)

TEST(a_compressed_answer_is_no_text) {
    ANSWERS("Content-Type: application/json\r\nContent-Encoding: gzip\r\n", "\x1F\x8B\x08\x00\x7F",
            LINE "[application/json in gzip, at least 5 bytes: not text]");
    ANSWERS("Content-Encoding: br\r\nContent-Length: 3\r\n", "\x01\x02\x03",
            LINE "[br, 3 bytes: not text]");
    ANSWERS("Content-Type: text/plain\r\nContent-Encoding: identity\r\n", "abc", LINE "abc");
    ANSWERS("Content-Type: text/plain\r\nContent-Encoding: \x1B[31m\r\n", "abc", LINE "abc");
}

TEST(a_text_with_a_nul_is_none) {
    ANSWERS("Content-Type: application/json; charset=utf-16\r\n", "\xFF\xFE{\0}\0",
            LINE "[application/json, 6 bytes: not text]");
    ANSWERS("Content-Type: text/html; charset=latin1\r\n", "\0",
            LINE "[text/html, 1 bytes: not text]");
}

TEST(a_secret_in_the_content_type_is_hidden) {
    ANSWERS("Content-Type: application/query-secret-7\r\n", "x",
            LINE "[application/**************, at least 1 bytes: not text]");
}

static void sends(const char *tool, const char *arguments, const char *want) {
    asked a;
    if (!asked_open(&a, NULL, document)) return;
    if (ask(&a, tool, arguments)) {
        if (a.sent_count > 0)
            CHECK_EQ_STR(asked_sent(&a, 0), want);
        else
            CHECK_EQ_STR(a.text[0], want);
    }
    asked_close(&a);
}

TEST(a_model_does_not_ask_for_compression) {
    sends("op", "{\"Accept-Encoding\":\"gzip\"}", "GET https://h.example/v1/x\n\n");
}

TEST(a_path_is_made_fit_for_a_url) {
    sends("fragment", "{\"id\":\"1\",\"q\":\"2\"}", "GET https://h.example/v1/?q=2\n\n");
    sends("accents", "{\"__\":\"\xC3\xA9/..\"}",
          "GET https://h.example/v1/caf%C3%A9%20%3Cb%3E/%41/%C3%A9%2F..\n\n");
}

/* {"key": {"aaa...": [1, 1, ...]}} or {"key": [1, ...]} */
static char *product(const char *key, size_t name, size_t items) {
    char *out = (char *)malloc(name + 2 * items + 100), *at = out;
    if (out == NULL) abort();
    at += sprintf(at, "{\"%s\":", key);
    if (name > 0) {
        at += sprintf(at, "{\"");
        memset(at, 'a', name);
        at += name;
        at += sprintf(at, "\":");
    }
    *at++ = '[';
    for (; items > 0; items--) {
        *at++ = '1';
        if (items > 1) *at++ = ',';
    }
    (void)sprintf(at, "]%s}", name > 0 ? "}" : "");
    return out;
}

static void too_long(const char *tool, char *arguments, const char *want) {
    asked a;
    if (asked_open(&a, NULL, document)) {
        if (ask(&a, tool, arguments)) CHECK_EQ_STR(a.text[0], want);
        CHECK_EQ_INT(a.sent_count, 0);
        asked_close(&a);
    }
    free(arguments);
}

TEST(a_name_that_is_repeated_makes_no_request_of_gigabytes) {
    static const char url[] =
        "Error: The arguments are too long for a URL or a header: at most 1048576 bytes";
    too_long("op", product("f", 100000, 50000), url);
    too_long("op", product("e", 0, 300000), url);
    too_long("op", product("c", 0, 300000), url);
    too_long("matrix", product("m", 0, 300000), url);
    too_long("form", product("body", 100000, 50000),
             "Error: 'body' is larger than 16777216 bytes as a form");
}

/* ---- files ---- */

static const char upload[] =
    OPEN "\"paths\":{\"/raw\":{\"put\":{\"operationId\":\"raw\",\"requestBody\":{\"content\":{"
         "\"application/octet-stream\":{}}}}}}}";

static void refuses_file(const char *path, const char *const *roots, const char *why) {
    char arguments[700], want[900];
    phi_openapi_desc desc = PHI_ZERO;
    asked a;
    desc.upload_roots = roots;
    (void)snprintf(arguments, sizeof arguments, "{\"body\":{\"path\":\"%s\"}}", path);
    (void)snprintf(want, sizeof want, "Error: Cannot send file '%.150s': %s", path, why);
    if (!asked_open(&a, &desc, upload)) return;
    if (ask(&a, "raw", arguments)) CHECK_EQ_STR(a.text[0], want);
    CHECK_EQ_INT(a.sent_count, 0);
    asked_close(&a);
}

TEST(only_regular_files_are_sent) {
    const char *roots[2] = {NULL, NULL};
    char dir[512], path[700];
    if (!test_temp_dir(dir, sizeof dir)) return;
    roots[0] = dir;
    (void)snprintf(path, sizeof path, "%s/pipe", dir);
    CHECK(mkfifo(path, 0600) == 0);
    refuses_file("pipe", roots, "Not a regular file");
    (void)snprintf(path, sizeof path, "%s/zero", dir);
    CHECK(symlink("/dev/zero", path) == 0);
    refuses_file("zero", roots, "it is outside the directories to send from");
    (void)snprintf(path, sizeof path, "%s/loop", dir);
    CHECK(symlink("loop", path) == 0);
    refuses_file("loop", roots, "Too many levels of symbolic links");
    refuses_file("", roots, "its path is empty, or holds a NUL");
    roots[0] = "/dev";
    refuses_file("/dev/zero", roots, "Not a regular file");
}

TEST(a_file_of_an_answer_is_for_its_owner_alone_and_its_beginning_is_shown) {
    static const char body[] = "0123456789 0123456789 0123456789 0123456789 and more";
    phi_openapi_desc desc = PHI_ZERO;
    char dir[512], *path;
    struct stat info;
    reply r = {"Content-Type: text/plain\r\n", body, sizeof body - 1};
    asked a;
    if (!test_temp_dir(dir, sizeof dir)) return;
    desc.max_response_bytes = 10; /* four times this is less than what comes at once */
    desc.response_directory = dir;
    if (!asked_open(&a, &desc, document)) return;
    a.serve = serve_reply;
    a.more = &r;
    if (ask(&a, "op", "{}")) {
        CHECK(strstr(a.text[0], "\n\n0123456789\n... [truncated]\n[The whole answer") != NULL);
        path = strstr(a.text[0], " bytes: ");
        if (CHECK(path != NULL)) {
            path[strlen(path) - 1] = '\0';
            CHECK(stat(path + 8, &info) == 0);
            CHECK_EQ_INT(info.st_mode & 0777, TEST_OWNER_MODE);
            CHECK_EQ_INT(info.st_size, sizeof body - 1);
        }
    }
    asked_close(&a);
}

static void serve_late(asked *a, size_t n, size_t i) {
    (void)n;
    *(size_t *)a->more = i;
}

TEST(a_call_that_somebody_else_finishes_leaves_no_request) {
    size_t place = SIZE_MAX;
    phi_event event;
    phi_call call = PHI_ZERO;
    asked a;
    int i;
    if (!asked_open(&a, NULL, document)) return;
    a.serve = serve_late;
    a.more = &place;
    asked_begin(&a, "op", "{}");
    for (i = 0; i < 6; i++) {
        (void)phi_step(a.rt, 0);
        a.w.now_us += 1000;
        while (phi_next_event(a.rt, &event))
            if (event.kind == PHI_EV_TOOL_START) call = event.call;
    }
    CHECK(place != SIZE_MAX && phi_call_get_info(call).pending);
    CHECK_EQ_INT(phi_call_reply(call, "mine"), PHI_OK);
    CHECK_EQ_INT(asked_run(&a, 20), 0);
    if (CHECK_EQ_INT(a.results, 1)) CHECK_EQ_STR(a.text[0], "mine");
    CHECK_EQ_INT(a.w.cancels, 1);
    if (place != SIZE_MAX) {
        wires_head(&a.w, place, 200, "");
        (void)wires_push(&a.w, place, "late", 4);
        wires_end(&a.w, place, PHI_OK, "");
    }
    CHECK_EQ_INT(asked_run(&a, 20), 0);
    asked_close(&a);
}

/* An allocator that looks for a secret in what is given back. */
static struct {
    phi_allocator inner;
    size_t found;
} looking;

static void *looking_realloc(void *user_data, void *ptr, size_t old, size_t now) {
    (void)user_data;
    if (now < old && ptr != NULL && old < 4096) /* not the blocks of the documents' text */
        looking.found +=
            phi__str_find(phi__str((const char *)ptr, old), 0, "header-secret-1") != SIZE_MAX;
    return looking.inner.realloc_fn(looking.inner.user_data, ptr, old, now);
}

TEST(keys_are_not_left_in_memory_that_is_given_back) {
    phi_allocator allocator = {looking_realloc, NULL};
    phi_memory memory;
    phi_arena arena;
    phi__openapi_request r;
    looking.inner = test_allocator();
    looking.found = 0;
    phi_memory_init(&memory, &allocator, 0);
    phi_arena_init(&arena, &memory, 256);
    phi__opreq_init(&r, &arena, &memory, NULL, NULL);
    CHECK_EQ_INT(phi__opreq_add(&r, phi_str_of("A"), phi_str_of("header-secret-1"), true), PHI_OK);
    CHECK_EQ_INT(phi__opreq_add(&r, phi_str_of("a"), phi_str_of("other"), true), PHI_OK);
    CHECK_EQ_INT(phi__opreq_add(&r, phi_str_of("B"), phi_str_of("header-secret-1"), true), PHI_OK);
    phi__buf_text(&r.query, "key=header-secret-1");
    phi__buf_text(&r.cookie, "key=header-secret-1");
    phi__opreq_free(&r);
    phi__opreq_free(&r);
    phi_arena_free(&arena);
    CHECK_EQ_INT(looking.found, 0);
}

TEST(a_tool_of_another_runtime_is_refused) {
    phi_agent_desc desc = rig_desc();
    asked a, b;
    if (!asked_open(&a, NULL, document) || !asked_open(&b, NULL, document)) return;
    phi_agent_free(b.agent);
    desc.tools = a.tools.tools;
    desc.tool_count = a.tools.count;
    b.agent = phi_agent_new(b.rt, &desc);
    if (ask(&b, "op", "{}"))
        CHECK_EQ_STR(b.text[0], "Error: This tool belongs to a document of another runtime");
    CHECK_EQ_INT(a.sent_count + b.sent_count, 0);
    asked_close(&b);
    asked_close(&a);
}

TEST_MAIN(TEST_ENTRY(a_compressed_answer_is_no_text), TEST_ENTRY(a_text_with_a_nul_is_none),
          TEST_ENTRY(a_secret_in_the_content_type_is_hidden),
          TEST_ENTRY(a_model_does_not_ask_for_compression),
          TEST_ENTRY(a_path_is_made_fit_for_a_url),
          TEST_ENTRY(a_name_that_is_repeated_makes_no_request_of_gigabytes),
          TEST_ENTRY(only_regular_files_are_sent),
          TEST_ENTRY(a_file_of_an_answer_is_for_its_owner_alone_and_its_beginning_is_shown),
          TEST_ENTRY(a_call_that_somebody_else_finishes_leaves_no_request),
          TEST_ENTRY(keys_are_not_left_in_memory_that_is_given_back),
          TEST_ENTRY(a_tool_of_another_runtime_is_refused))
