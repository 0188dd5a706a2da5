/* Servers as child processes: real ones, of the mock, in each era and with each misbehaviour. */
#include "agent/runtime.h"
#include "mcp/mcp.h"
#include "support/mcp_mock.h"
#include "support/test.h"
#include "loop/loop_in.h"
#include "mcp/mcp_requests_in.h"

#include <errno.h>
#include <signal.h>
#include <time.h>

enum { STORY = 8192 };

typedef struct kit {
    phi_runtime *rt;
    phi_mcp *mcp;
    char story[STORY];
    size_t story_len, warnings;
} kit;

typedef struct got {
    int times;
    phi_status status;
    char text[300];
    size_t len;
} got;

static void on_event(void *user_data, const phi_mcp_event *e) {
    kit *k = (kit *)user_data;
    if (e->kind == PHI_MCP_EV_WARNING) k->warnings++;
    if (e->kind != PHI_MCP_EV_STATE || k->story_len + 300 > STORY) return;
    k->story_len += (size_t)snprintf(k->story + k->story_len, 300, "%d %.*s\n",
                                     (int)phi_mcp_get_info(e->mcp).state,
                                     (int)phi__min(e->text.len, 280), e->text.at);
}

static void begin(kit *k) {
    phi_runtime_desc desc = PHI_ZERO;
    memset(k, 0, sizeof *k);
    desc.allocator = test_allocator();
    k->rt = phi_runtime_new(&desc);
}

static uint64_t now_ms(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* Until the state is another one, or 10 s have passed. */
static phi_mcp_state leave(kit *k, phi_mcp_state state) {
    uint64_t end = now_ms() + 10000;
    while (phi_mcp_get_info(k->mcp).state == state && now_ms() < end) (void)phi_step(k->rt, 20);
    return phi_mcp_get_info(k->mcp).state;
}

static bool connect_desc(kit *k, phi_mcp_desc *desc) {
    desc->event_fn = on_event;
    desc->user_data = k;
    k->mcp = phi_mcp_connect(k->rt, desc);
    if (!CHECK(k->mcp != NULL)) return false;
    return leave(k, PHI_MCP_CONNECTING) == PHI_MCP_READY;
}

static bool connect_to(kit *k, const char *eras, const char *behaviour, const char *log) {
    phi_mcp_desc desc = PHI_ZERO;
    desc.argv = mcp_mock_argv(eras, behaviour, log);
    desc.restart_delay_ms = 10;
    desc.max_message_bytes = 65536;
    return connect_desc(k, &desc);
}

static void end(kit *k) {
    phi_mcp_free(k->mcp);
    phi_runtime_free(k->rt);
}

static void done(void *user_data, const phi_mcp_reply *reply) {
    got *g = (got *)user_data;
    phi_str text = reply->message;
    g->times++;
    g->status = reply->status;
    if (reply->result != NULL)
        text = phi_json_str(phi_json_path(reply->result, "content[0].text"), "?");
    g->len = text.len;
    (void)snprintf(g->text, sizeof g->text, "%.*s", (int)phi__min(text.len, 290), text.at);
}

static void call_begin(kit *k, got *g, const char *tool, const char *arguments) {
    static char params[400];
    phi_mcp_send_desc request;
    memset(g, 0, sizeof *g);
    memset(&request, 0, sizeof request);
    (void)snprintf(params, sizeof params, "{\"name\":\"%s\",\"arguments\":%s}", tool, arguments);
    request.method = "tools/call";
    request.params = phi_str_of(params);
    request.done_fn = done;
    request.user_data = g;
    CHECK_EQ_INT(phi_mcp_send(k->mcp, &request, NULL), PHI_OK);
}

static const char *call(kit *k, got *g, const char *tool, const char *arguments) {
    uint64_t end_ms = now_ms() + 10000;
    call_begin(k, g, tool, arguments);
    while (g->times == 0 && now_ms() < end_ms) (void)phi_step(k->rt, 20);
    CHECK_EQ_INT(g->times, 1);
    return g->text;
}

TEST(a_tool_is_called_in_each_era) {
    static const char *const eras[] = {"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25",
                                       "2026-07-28"};
    char dir[200], log[260];
    size_t i;
    REQUIRE(test_temp_dir(dir, sizeof dir));
    for (i = 0; i < 5; i++) {
        kit k;
        got g;
        begin(&k);
        (void)snprintf(log, sizeof log, "%s/%s", dir, eras[i]);
        if (CHECK(connect_to(&k, eras[i], NULL, log))) {
            CHECK_STR(phi_mcp_get_info(k.mcp).era, eras[i]);
            CHECK(phi_mcp_get_info(k.mcp).process_id > 0);
            CHECK_EQ_STR(call(&k, &g, "echo", "{\"text\":\"h\\u00e9\\n\"}"), "h\xc3\xa9\n");
            CHECK_EQ_INT(g.status, PHI_OK);
        }
        phi_mcp_close(k.mcp);
        CHECK_EQ_INT(leave(&k, PHI_MCP_CLOSING), PHI_MCP_CLOSED);
        end(&k);
        CHECK_EQ_INT(mcp_mock_log_problems(log), 0);
    }
}

TEST(the_ways_in_which_a_stream_may_look_odd_change_nothing) {
    static const char *const ways[] = {"crlf",  "escaped", "noise",  "batch",
                                       "twice", "chatty",  "bytes=0"};
    size_t i;
    for (i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        kit k;
        got g;
        begin(&k);
        if (CHECK(connect_to(&k, "2025-06-18,2026-07-28", ways[i], NULL)))
            CHECK_EQ_STR(call(&k, &g, "echo", "{\"text\":\"here\"}"), "here");
        end(&k);
    }
}

TEST(a_call_that_the_server_makes_a_task_of_ends_as_any_other) {
    char dir[200], log[260];
    kit k;
    got g;
    REQUIRE(test_temp_dir(dir, sizeof dir));
    (void)snprintf(log, sizeof log, "%s/log", dir);
    begin(&k);
    if (CHECK(connect_to(&k, "2026-07-28", NULL, log))) {
        CHECK_EQ_STR(call(&k, &g, "slow", "{\"steps\":3,\"ms\":30}"), "slow is done");
        CHECK_EQ_INT(g.status, PHI_OK);
    }
    end(&k);
    CHECK_EQ_INT(mcp_mock_log_problems(log), 0);
}

TEST(a_misbehaving_server_breaks_no_session) {
    static const struct {
        const char *tool, *arguments, *want;
        phi_status status;
    } rows[] = {
        {"garbage", "{\"lines\":16}", "after garbage", PHI_OK},
        {"flood", "{\"mb\":3}", "after the flood", PHI_OK},
        {"strange_notes", "{}", "after strange notes", PHI_OK},
        {"stray", "{}", "after strays", PHI_OK},
        {"twice", "{}", "first", PHI_OK},
        {"id_as_text", "{}", "t", PHI_OK},
        {"huge_id", "{\"bytes\":40000}", "after the id", PHI_OK},
        {"huge_id", "{\"bytes\":100000}", "after the id", PHI_OK},
        {"deep", "{\"depth\":20000}", "after the depth", PHI_OK},
        {"odd_request", "{}", "the client says: Method not found", PHI_OK},
        {"stderr_flood", "{}", "after stderr", PHI_OK},
        {"huge", "{\"mb\":1}", "a message of more than 65536 bytes is left out", PHI_TOO_BIG},
        {"wrong_envelope", "{\"which\":0}",
         "the answer is no message: it has neither a method, nor a result, nor an error",
         PHI_PARSE},
        {"wrong_envelope", "{\"which\":1}", "the answer is no message: its jsonrpc is not \"2.0\"",
         PHI_PARSE},
        {"wrong_envelope", "{\"which\":2}", "the result is no object", PHI_PARSE},
        {"wrong_envelope", "{\"which\":3}", "the result is no object", PHI_PARSE},
        {"wrong_envelope", "{\"which\":4}", "the answer is no message: its error is no object",
         PHI_PARSE},
        {"wrong_envelope", "{\"which\":5}", "", PHI_REFUSED},
        {"wrong_envelope", "{\"which\":6}",
         "the answer is no message: it has a result and an error", PHI_PARSE},
        {"wrong_envelope", "{\"which\":7}", "in a batch", PHI_OK},
        {"echo", "{\"text\":\"still here\"}", "still here", PHI_OK}};
    kit k;
    size_t i;
    begin(&k);
    if (CHECK(connect_to(&k, "2025-06-18", "bad", NULL)))
        for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
            got g;
            CHECK_EQ_STR(call(&k, &g, rows[i].tool, rows[i].arguments), rows[i].want);
            CHECK_EQ_INT(g.status, rows[i].status);
        }
    CHECK(k.warnings > 0);
    CHECK_EQ_STR(k.story, "2 2025-06-18\n");
    CHECK_EQ_INT(phi_mcp_get_info(k.mcp).restarts, 0);
    CHECK_EQ_INT(phi_mcp_get_info(k.mcp).stderr_text.len, 65536);
    CHECK(phi__str_find(phi_mcp_get_info(k.mcp).stderr_text, 0, "the last words") != SIZE_MAX);
    end(&k);
}

TEST(a_call_in_flight_when_the_server_dies_ends_once_and_the_next_one_works) {
    static const struct {
        const char *tool, *arguments, *want;
    } rows[] = {
        {"die", "{}", "the server's program has ended with code 3"},
#if defined(_WIN32) /* TerminateProcess gives a code */
        {"die", "{\"signal\":9}", "the server's program has ended with code 9"},
#else
        {"die", "{\"signal\":9}", "the server's program was ended by signal 9"},
#endif
        {"die_midway", "{}", "the server's program has ended with code 4"}
    };
    kit k;
    size_t i;
    begin(&k);
    if (CHECK(connect_to(&k, "2025-06-18,2026-07-28", "bad", NULL)))
        for (i = 0; i < 3; i++) {
            got g, other;
            call_begin(&k, &other, "hang", "{}");
            CHECK_EQ_STR(call(&k, &g, rows[i].tool, rows[i].arguments), rows[i].want);
            CHECK_EQ_INT(g.status, PHI_NETWORK);
            CHECK_EQ_INT(other.times, 1);
            CHECK_EQ_STR(phi_mcp_get_info(k.mcp).message, rows[i].want);
            CHECK_EQ_INT(leave(&k, PHI_MCP_CONNECTING), PHI_MCP_READY);
            CHECK_EQ_STR(call(&k, &g, "echo", "{\"text\":\"again\"}"), "again");
        }
    CHECK_EQ_INT(phi_mcp_get_info(k.mcp).restarts, 3);
    end(&k);
}

TEST(a_program_that_ends_at_once_is_given_up_after_its_restarts) {
    phi_mcp_desc desc = PHI_ZERO;
    kit k;
    begin(&k);
    desc.argv = mcp_mock_argv("2025-06-18", "no-start=7", NULL);
    desc.restart_delay_ms = 1;
    desc.max_restarts = 2;
    CHECK(!connect_desc(&k, &desc));
    CHECK_EQ_INT(phi_mcp_get_info(k.mcp).state, PHI_MCP_FAILED);
    CHECK_EQ_STR(phi_mcp_get_info(k.mcp).message, "the server's program has ended with code 7");
    CHECK_EQ_INT(phi_mcp_get_info(k.mcp).restarts, 2);
    CHECK(phi_mcp_get_info(k.mcp).stderr_text.len > 0);
    end(&k);
}

/* Its stdin is closed before it says why it ends: that message is lost, not the reason. */
TEST(a_program_that_stops_reading_and_ends_gives_its_own_reason) {
    static const char script[] =
        "read -r line; exec 0<&-; echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32601,"
        "\"message\":\"no\"}}'; sleep 0.1; echo 'no key file' >&2; exit 3";
    const char *const argv[] = {MCP_MOCK_SH, "-c", script, NULL};
    phi_mcp_desc desc = PHI_ZERO;
    kit k;
    desc.argv = argv;
    desc.no_restart = true;
    begin(&k);
    CHECK(!connect_desc(&k, &desc));
    CHECK_EQ_STR(phi_mcp_get_info(k.mcp).message, "the server's program has ended with code 3");
    CHECK(phi_str_equal(phi_mcp_get_info(k.mcp).stderr_text, phi_str_of("no key file\n")));
    end(&k);
}

TEST(a_program_that_stops_reading_and_stays_is_ended) {
    static const char script[] = "read -r line; exec 0<&-; echo '{\"jsonrpc\":\"2.0\",\"id\":1,"
                                 "\"error\":{\"code\":-32601,\"message\":\"no\"}}'; exec sleep 60";
    const char *const argv[] = {MCP_MOCK_SH, "-c", script, NULL};
    phi_mcp_desc desc = PHI_ZERO;
    kit k;
    desc.argv = argv;
    desc.no_restart = true;
    desc.close_ms = 50;
    begin(&k);
    CHECK(!connect_desc(&k, &desc));
    CHECK_EQ_STR(phi_mcp_get_info(k.mcp).message, "the server's program does not read any more");
    CHECK_EQ_INT(phi_mcp_get_info(k.mcp).process_id, 0);
    end(&k);
}

TEST(a_program_that_is_not_there_fails_with_words) {
    static const char *const argv[] = {"no-such-program-anywhere", NULL};
    static const char *const there[] = {"/bin/true", NULL};
    phi_mcp_desc desc = PHI_ZERO;
    kit k;
    begin(&k);
    desc.argv = argv;
    CHECK(!connect_desc(&k, &desc));
    CHECK_EQ_INT(phi_mcp_get_info(k.mcp).state, PHI_MCP_FAILED);
    CHECK(strstr(phi_mcp_get_info(k.mcp).message, "no-such-program-anywhere cannot be started: ") ==
          phi_mcp_get_info(k.mcp).message);
    end(&k);
    begin(&k); /* the directory is at fault, and named */
    desc.argv = there;
    desc.cwd = "/no-such-directory";
    CHECK(!connect_desc(&k, &desc));
    CHECK(strstr(phi_mcp_get_info(k.mcp).message,
                 "/bin/true cannot be started in /no-such-directory: ") ==
          phi_mcp_get_info(k.mcp).message);
    end(&k);
}

TEST(a_program_that_ignores_everything_is_killed_in_the_end) {
    phi_mcp_desc desc = PHI_ZERO;
    kit k;
    int pid;
    begin(&k);
    desc.argv = mcp_mock_argv("2025-06-18", "stay", NULL);
    desc.era = "2025-06-18";
    desc.close_ms = 50;
    CHECK(connect_desc(&k, &desc));
    pid = phi_mcp_get_info(k.mcp).process_id;
    phi_mcp_close(k.mcp);
    CHECK_EQ_INT(leave(&k, PHI_MCP_CLOSING), PHI_MCP_CLOSED);
    CHECK_EQ_STR(k.story, "2 2025-06-18\n3 closing\n4 closed\n");
    CHECK_EQ_INT(phi_mcp_get_info(k.mcp).process_id, 0);
    end(&k);
    CHECK(kill(pid, 0) != 0 && errno == ESRCH);
}

TEST(large_messages_wait_for_a_server_that_does_not_read) {
    enum { BYTES = 6000000, CALLS = 2 };
    phi_mcp_desc desc = PHI_ZERO;
    phi_mcp_send_desc request;
    got frozen, g[CALLS];
    char *params = (char *)malloc(BYTES + 100);
    uint64_t end_ms;
    size_t i, head;
    kit k;
    REQUIRE(params != NULL);
    begin(&k);
    desc.argv = mcp_mock_argv("2025-06-18", "bad", NULL);
    desc.era = "2025-06-18";
    if (CHECK(connect_desc(&k, &desc))) {
        memset(&request, 0, sizeof request);
        memset(g, 0, sizeof g);
        head = (size_t)snprintf(params, 100, "{\"name\":\"echo\",\"arguments\":{\"text\":\"");
        memset(params + head, 'z', BYTES);
        memcpy(params + head + BYTES, "\"}}", 4);
        request.method = "tools/call";
        request.params = phi_str_of(params);
        request.done_fn = done;
        call_begin(&k, &frozen, "freeze", "{\"ms\":300}");
        for (i = 0; i < CALLS; i++) {
            request.user_data = &g[i];
            CHECK_EQ_INT(phi_mcp_send(k.mcp, &request, NULL), PHI_OK);
        }
        end_ms = now_ms() + 20000;
        while (g[CALLS - 1].times == 0 && now_ms() < end_ms) (void)phi_step(k.rt, 20);
        for (i = 0; i < CALLS; i++) {
            CHECK_EQ_INT(g[i].times, 1);
            CHECK_EQ_INT(g[i].len, BYTES);
        }
    }
    free(params);
    end(&k);
}

TEST_MAIN(TEST_ENTRY(a_tool_is_called_in_each_era),
          TEST_ENTRY(the_ways_in_which_a_stream_may_look_odd_change_nothing),
          TEST_ENTRY(a_call_that_the_server_makes_a_task_of_ends_as_any_other),
          TEST_ENTRY(a_misbehaving_server_breaks_no_session),
          TEST_ENTRY(a_call_in_flight_when_the_server_dies_ends_once_and_the_next_one_works),
          TEST_ENTRY(a_program_that_ends_at_once_is_given_up_after_its_restarts),
          TEST_ENTRY(a_program_that_stops_reading_and_ends_gives_its_own_reason),
          TEST_ENTRY(a_program_that_stops_reading_and_stays_is_ended),
          TEST_ENTRY(a_program_that_is_not_there_fails_with_words),
          TEST_ENTRY(a_program_that_ignores_everything_is_killed_in_the_end),
          TEST_ENTRY(large_messages_wait_for_a_server_that_does_not_read))
