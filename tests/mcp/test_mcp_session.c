/* A connection over a scripted link: the handshake of each era, requests, and how they end. */
#include "mcp/link.h"

typedef struct got {
    int times;
    phi_status status;
    int code;
    char text[256];
    bool free_mcp;
    link_kit *kit;
} got;

static void got_done(void *user_data, const phi_mcp_reply *reply) {
    got *g = (got *)user_data;
    g->times++;
    g->status = reply->status;
    g->code = reply->code;
    if (reply->result != NULL) {
        phi_arena arena;
        phi_str text;
        phi_memory memory;
        phi_memory_init(&memory, NULL, 0);
        phi_arena_init(&arena, &memory, 0);
        CHECK_EQ_INT(phi_json_write(&arena, reply->result, 0, &text), PHI_OK);
        (void)snprintf(g->text, sizeof g->text, "%s", text.at);
        phi_arena_free(&arena);
    } else
        (void)snprintf(g->text, sizeof g->text, "%.*s", (int)reply->message.len, reply->message.at);
    if (g->free_mcp) {
        phi_mcp_free(g->kit->mcp);
        g->kit->mcp = NULL;
    }
}

static void got_progress(void *user_data, double progress, double total, phi_str message) {
    got *g = (got *)user_data;
    (void)snprintf(g->text, sizeof g->text, "%g/%g %.*s", progress, total, (int)message.len,
                   message.at);
}

static phi_status ask(link_kit *k, got *g, const char *method, const char *params, uint64_t *id) {
    phi_mcp_send_desc request;
    memset(g, 0, sizeof *g);
    memset(&request, 0, sizeof request);
    g->kit = k;
    request.method = method;
    request.params = phi_str_of(params);
    request.done_fn = got_done;
    request.user_data = g;
    return phi_mcp_send(k->mcp, &request, id);
}

/* A connection that is ready in that era. */
static void ready(link_kit *k, const char *era) {
    link_begin(k, NULL);
    link_answers(k, era, "{}");
    CHECK_EQ_INT(link_connect(k, NULL, NULL, 0), PHI_OK);
    CHECK_EQ_INT(phi_mcp_get_info(k->mcp).state, PHI_MCP_CONNECTING);
    link_run(k);
    CHECK_EQ_INT(phi_mcp_get_info(k->mcp).state, PHI_MCP_READY);
    CHECK_STR(phi_mcp_get_info(k->mcp).era, era);
    (void)link_sent(k);
    (void)link_story(k);
}

#define META                                                                                       \
    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","                       \
    "\"io.modelcontextprotocol/clientInfo\":{\"name\":\"phi\",\"version\":\"0.1.0\"},"             \
    "\"io.modelcontextprotocol/clientCapabilities\":{\"extensions\":{\"io.modelcontextprotocol/"   \
    "tasks\":{}}}}"

TEST(a_server_without_a_handshake_is_ready_after_its_discovery) {
    link_kit k;
    phi_mcp_info info;
    link_begin(&k, NULL);
    link_answers(&k, "2026-07-28", "{\"tools\":{}}");
    CHECK_EQ_INT(link_connect(&k, NULL, NULL, 0), PHI_OK);
    link_run(&k);
    CHECK_EQ_STR(link_sent(&k), "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"server/discover\","
                                "\"params\":{" META "}}\n");
    CHECK_EQ_STR(link_story(&k), "state: 2 2026-07-28\n");
    info = phi_mcp_get_info(k.mcp);
    CHECK_STR(info.name, "scripted");
    CHECK_STR(info.instructions, "Be kind.");
    CHECK_STR(info.capabilities, "{\"tools\":{}}");
    link_end(&k);
}

TEST(any_other_error_to_the_probe_is_followed_by_initialize) {
    static const char *const eras[] = {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"};
    size_t i;
    for (i = 0; i < 4; i++) {
        char story[64];
        link_kit k;
        link_begin(&k, NULL);
        link_answers(&k, eras[i], "{}");
        CHECK_EQ_INT(link_connect(&k, NULL, NULL, 0), PHI_OK);
        link_run(&k);
        CHECK_EQ_STR(
            link_sent(&k),
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"server/discover\",\"params\":{" META "}}\n"
            "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"initialize\",\"params\":{"
            "\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},"
            "\"clientInfo\":{\"name\":\"phi\",\"version\":\"0.1.0\"}}}\n"
            "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n");
        (void)snprintf(story, sizeof story, "state: 2 %s\n", eras[i]);
        CHECK_EQ_STR(link_story(&k), story);
        link_end(&k);
    }
}

TEST(silence_to_the_probe_is_followed_by_initialize) {
    link_kit k;
    link_begin(&k, NULL);
    CHECK_EQ_INT(link_connect(&k, NULL, NULL, 0), PHI_OK);
    link_run(&k);
    (void)link_sent(&k);
    link_answers(&k, "2025-06-18", "{}");
    link_pass(&k, 4000);
    CHECK_EQ_INT(phi_mcp_get_info(k.mcp).state, PHI_MCP_READY);
    CHECK(strstr(link_sent(&k), "cancelled") == NULL);
    link_end(&k);
}

TEST(a_modern_server_that_was_slow_to_start_is_probed_once_more) {
    link_kit k;
    link_begin(&k, NULL);
    CHECK_EQ_INT(link_connect(&k, NULL, NULL, 0), PHI_OK);
    link_run(&k);
    (void)link_sent(&k);
    link_answers(&k, "2026-07-28", "{}");
    link_pass(&k, 4000);
    CHECK_EQ_INT(phi_mcp_get_info(k.mcp).state, PHI_MCP_READY);
    CHECK_STR(phi_mcp_get_info(k.mcp).era, "2026-07-28");
    CHECK(strstr(link_sent(&k), "\"initialize\"") != NULL);
    link_end(&k);
}

TEST(a_pinned_era_is_the_only_one_that_is_tried) {
    phi_mcp_desc desc = PHI_ZERO;
    link_kit k;
    link_begin(&k, NULL);
    desc.era = "2025-06-18";
    link_answers(&k, "2025-06-18", "{}");
    CHECK_EQ_INT(link_connect(&k, &desc, NULL, 0), PHI_OK);
    link_run(&k);
    CHECK(strstr(link_sent(&k), "\"id\":1,\"method\":\"initialize\",\"params\":{"
                                "\"protocolVersion\":\"2025-06-18\"") != NULL);
    CHECK_EQ_INT(phi_mcp_get_info(k.mcp).state, PHI_MCP_READY);
    link_end(&k);
    link_begin(&k, NULL);
    link_answers(&k, "2025-03-26", "{}");
    CHECK_EQ_INT(link_connect(&k, &desc, NULL, 0), PHI_OK);
    link_run(&k);
    CHECK_EQ_STR(link_story(&k),
                 "state: 5 initialize: the server speaks 2025-03-26, and not 2025-06-18\n");
    CHECK_EQ_STR(phi_mcp_get_info(k.mcp).message,
                 "initialize: the server speaks 2025-03-26, and not 2025-06-18");
    link_end(&k);
}

TEST(a_pinned_modern_era_is_refused_with_words) {
    static const char *const answers[] = {
        "\"result\":{}", "\"result\":{\"supportedVersions\":[\"2025-06-18\"]}",
        "\"error\":{\"code\":-32601,\"message\":\"Method not found\"}"};
    static const char *const want[] = {
        "state: 5 server/discover: the result names no versions\n",
        "state: 5 server/discover: no version that both sides speak\n",
        "state: 5 server/discover: Method not found\n"};
    size_t i;
    for (i = 0; i < 3; i++) {
        phi_mcp_desc desc = PHI_ZERO;
        char text[200];
        link_kit k;
        link_begin(&k, NULL);
        desc.era = "2026-07-28";
        CHECK_EQ_INT(link_connect(&k, &desc, NULL, 0), PHI_OK);
        link_run(&k);
        (void)snprintf(text, sizeof text, "{\"jsonrpc\":\"2.0\",\"id\":1,%s}", answers[i]);
        link_says(&k, text);
        link_run(&k);
        CHECK_EQ_STR(link_story(&k), want[i]);
        link_end(&k);
    }
}

/* What the server says to the probe (%s), and what follows. */
static void probe_answered(const char *tail, const char *want_story, const char *want_sent) {
    char text[400];
    link_kit k;
    link_begin(&k, NULL);
    CHECK_EQ_INT(link_connect(&k, NULL, NULL, 0), PHI_OK);
    link_run(&k);
    (void)link_sent(&k);
    (void)snprintf(text, sizeof text, "{\"jsonrpc\":\"2.0\",\"id\":1,%s}", tail);
    link_says(&k, text);
    link_run(&k);
    CHECK_EQ_STR(link_story(&k), want_story);
    CHECK(strstr(link_sent(&k), want_sent) != NULL);
    link_end(&k);
}

TEST(a_version_that_is_refused_is_chosen_anew_from_those_that_the_server_names) {
    probe_answered("\"error\":{\"code\":-32022,\"message\":\"no\",\"data\":{\"supported\":"
                   "[\"2025-03-26\",\"1900-01-01\",\"2025-06-18\"]}}",
                   "", "\"initialize\"");
    probe_answered("\"error\":{\"code\":-32022,\"message\":\"no\",\"data\":{\"supported\":"
                   "[\"2026-07-28\"]}}",
                   "", "\"server/discover\"");
    probe_answered("\"error\":{\"code\":-32022,\"message\":\"no\",\"data\":{\"supported\":"
                   "[\"2199-01-01\"]}}",
                   "state: 5 server/discover: no version that both sides speak\n", "");
    probe_answered("\"error\":{\"code\":-32021,\"message\":\"sampling is missing\"}",
                   "state: 5 server/discover: sampling is missing\n", "");
    probe_answered("\"result\":{}", "", "\"initialize\"");
    probe_answered("\"result\":[]", "", "\"initialize\"");
}

TEST(an_unknown_version_of_a_handshake_is_refused) {
    link_kit k;
    link_begin(&k, NULL);
    CHECK_EQ_INT(link_connect(&k, NULL, NULL, 0), PHI_OK);
    link_run(&k);
    link_says(&k, "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32601,\"message\":\"?\"}}");
    link_run(&k);
    link_says(&k, "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"protocolVersion\":\"2030-01-01\"}}");
    link_run(&k);
    CHECK_EQ_STR(link_story(&k),
                 "state: 5 initialize: the server speaks version \"2030-01-01\": expected "
                 "2024-11-05, 2025-03-26, 2025-06-18 or 2025-11-25\n");
    CHECK_EQ_INT(k.closes, 1);
    link_end(&k);
}

TEST(over_http_a_refused_probe_is_followed_by_initialize_and_a_dead_network_is_not) {
    phi_mcp_desc desc = PHI_ZERO;
    link_kit k;
    int http;
    desc.url = "http://127.0.0.1:1/mcp";
    for (http = 400; http <= 405; http++) {
        link_begin(&k, NULL);
        CHECK_EQ_INT(link_connect(&k, &desc, NULL, 0), PHI_OK);
        link_run(&k);
        (void)link_sent(&k);
        link_lost(&k, http, "Bad Request");
        link_run(&k);
        if (http == 401 || http == 403)
            CHECK_EQ_STR(link_story(&k), "state: 5 server/discover: lost\n");
        else
            CHECK(strstr(link_sent(&k), "\"initialize\"") != NULL);
        link_end(&k);
    }
    link_begin(&k, NULL);
    CHECK_EQ_INT(link_connect(&k, &desc, NULL, 0), PHI_OK);
    link_run(&k);
    link_lost(&k, 0, "");
    link_run(&k);
    CHECK_EQ_STR(link_story(&k), "state: 5 server/discover: lost\n");
    link_end(&k);
    link_begin(&k, NULL);
    CHECK_EQ_INT(link_connect(&k, &desc, NULL, 0), PHI_OK);
    link_run(&k);
    link_lost(
        &k, 400,
        "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32020,\"message\":\"header\"}}");
    link_run(&k);
    CHECK_EQ_STR(link_story(&k), "state: 5 server/discover: header\n");
    link_end(&k);
}

TEST(requests_are_answered_by_id_whatever_comes_between) {
    got a, b;
    link_kit k;
    uint64_t id = 0;
    ready(&k, "2025-06-18");
    CHECK_EQ_INT(ask(&k, &a, "tools/list", "", &id), PHI_OK);
    CHECK_EQ_INT(id, 3);
    CHECK_EQ_INT(
        ask(&k, &b, "x/y", "{\"a\": [1,\n2], \"_meta\":{\"k\":1,\"progressToken\":9}}", NULL),
        PHI_OK);
    link_run(&k);
    CHECK_EQ_STR(link_sent(&k),
                 "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/list\",\"params\":{}}\n"
                 "{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"x/y\",\"params\":{\"a\":[1,2],"
                 "\"_meta\":{\"k\":1}}}\n");
    link_says(&k, "Server listening on stdio");
    link_says(&k, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/unknown\"}");
    link_says(&k, "{\"jsonrpc\":\"2.0\",\"id\":99,\"result\":{}}");
    link_says(&k,
              "[{\"jsonrpc\":\"2.0\",\"id\":\"4\",\"result\":{\"b\":2}},"
              "{\"jsonrpc\":\"2.0\",\"id\":3,\"error\":{\"code\":-32602,\"message\":\"bad\"}}]");
    link_says(&k, "{\"jsonrpc\":\"2.0\",\"id\":4,\"result\":{\"b\":3}}");
    link_run(&k);
    CHECK_EQ_INT(a.times, 1);
    CHECK_EQ_INT(a.status, PHI_REFUSED);
    CHECK_EQ_INT(a.code, -32602);
    CHECK_EQ_STR(a.text, "bad");
    CHECK_EQ_INT(b.times, 1);
    CHECK_EQ_STR(b.text, "{\"b\":2}");
    CHECK_EQ_STR(link_story(&k), "warning: 2 a message that is no JSON (the text is not what its "
                                 "format allows): Server listening on stdio\n");
    link_end(&k);
}

TEST(an_answer_that_is_nested_too_deeply_ends_its_request) {
    static char text[2000];
    got g;
    link_kit k;
    int n;
    ready(&k, "2025-06-18");
    CHECK_EQ_INT(ask(&k, &g, "a", "", NULL), PHI_OK);
    n = snprintf(text, sizeof text, "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"a\":");
    memset(text + n, '[', 400);
    memset(text + n + 400, ']', 400);
    memcpy(text + n + 800, "}}", 3);
    link_says(&k, text);
    link_run(&k);
    CHECK_EQ_INT(g.times, 1);
    CHECK_EQ_STR(g.text, "the answer is nested too deeply");
    link_end(&k);
}

/* A message of 600,000 bytes: head, a string, tail. */
static void long_message(link_kit *k, const char *head, const char *tail) {
    static char text[600400];
    size_t n = (size_t)snprintf(text, 200, "%s", head);
    memset(text + n, 'y', 600000);
    memcpy(text + n + 600000, tail, strlen(tail) + 1);
    link_says(k, text);
}

#define HEAD "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"a\":\""

TEST(a_long_answer_is_read_in_slices) {
    int when;
    for (when = 0; when < 4; when++) {
        got g;
        link_kit k;
        uint64_t id = 0;
        ready(&k, "2025-06-18");
        CHECK_EQ_INT(ask(&k, &g, "a", "", &id), PHI_OK);
        long_message(&k, HEAD, "\"}}");
        link_says(&k, "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{}}"); /* twice: of no interest */
        link_steps(&k, 4);
        CHECK_EQ_INT(g.times, 0);
        rig_pass_ms(k.rig, 100000); /* a host that steps seldom */
        if (when == 1) phi_mcp_cancel(k.mcp, id);
        if (when == 2) link_down(&k, PHI_NETWORK, false, "died");
        if (when == 3) {
            phi_mcp_free(k.mcp);
            k.mcp = NULL;
        }
        link_steps(&k, 30);
        CHECK_EQ_INT(g.times, when == 0 || when == 2);
        if (when == 0) CHECK_EQ_INT(g.status, PHI_OK);
        if (when == 2) CHECK_EQ_INT(g.status, PHI_NETWORK);
        link_end(&k);
    }
}

TEST(a_long_text_that_is_no_good_answer_ends_its_request_or_none) {
    got g;
    link_kit k;
    ready(&k, "2025-06-18");
    CHECK_EQ_INT(ask(&k, &g, "a", "", NULL), PHI_OK);
    long_message(&k, "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"ping\",\"params\":{\"a\":\"",
                 "\"}}");
    link_run(&k);
    CHECK_EQ_INT(g.times, 0);
    CHECK(strstr(link_sent(&k), "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{}}") != NULL);
    long_message(&k, HEAD, "\"}");
    link_steps(&k, 30);
    CHECK_EQ_INT(g.times, 1);
    CHECK_EQ_INT(g.status, PHI_PARSE);
    CHECK_EQ_INT(ask(&k, &g, "a", "", NULL), PHI_OK);
    long_message(&k, "{\"jsonrpc\":\"2.0\",\"id\":4,\"error\":{\"code\":5,\"message\":\"", "\"}}");
    link_steps(&k, 30);
    CHECK_EQ_INT(g.times, 1);
    CHECK_EQ_INT(g.code, 5);
    link_end(&k);
}

TEST(every_failed_allocation_of_a_long_answer_ends_its_request) {
    int n = 0;
    bool tripped;
    do {
        got g;
        link_kit k;
        ready(&k, "2025-06-18");
        CHECK_EQ_INT(ask(&k, &g, "a", "", NULL), PHI_OK);
        long_message(&k, HEAD, "\"}}");
        test_alloc_fail_at(n++);
        link_steps(&k, 30);
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        link_steps(&k, 30);
        CHECK_EQ_INT(g.times, 1);
        link_end(&k);
    } while (tripped && n < 50);
    CHECK(n > 3);
}

TEST(arguments_of_a_request_are_checked) {
    got g;
    link_kit k;
    const char *words = NULL;
    ready(&k, "2025-06-18");
    CHECK_EQ_INT(ask(&k, &g, "", "", NULL), PHI_BAD_ARG);
    CHECK_EQ_INT(ask(&k, &g, "a", "[1]", NULL), PHI_BAD_ARG);
    words = phi_last_error(k.rt).message;
    CHECK_EQ_INT(phi_last_error(k.rt).status, PHI_BAD_ARG);
    CHECK_EQ_STR(words, "phi_mcp_send: params: expected a JSON object");
    CHECK_EQ_INT(ask(&k, &g, "a", "{", NULL), PHI_BAD_ARG);
    phi_mcp_close(k.mcp);
    CHECK_EQ_INT(ask(&k, &g, "a", "", NULL), PHI_MISUSE);
    CHECK_EQ_INT(phi_mcp_send(NULL, NULL, NULL), PHI_BAD_ARG);
    phi_mcp_cancel(NULL, 1);
    phi_mcp_cancel(k.mcp, 1234);
    link_end(&k);
}

TEST(a_request_times_out_and_progress_renews_it_up_to_a_bound) {
    phi_mcp_desc desc = PHI_ZERO;
    phi_mcp_send_desc request;
    got g;
    link_kit k;
    int i;
    memset(&g, 0, sizeof g);
    memset(&request, 0, sizeof request);
    link_begin(&k, NULL);
    link_answers(&k, "2025-06-18", "{}");
    desc.timeout_ms = 1000;
    desc.max_timeout_ms = 3000;
    CHECK_EQ_INT(link_connect(&k, &desc, NULL, 0), PHI_OK);
    link_run(&k);
    (void)link_sent(&k);
    request.method = "slow";
    request.done_fn = got_done;
    request.progress_fn = got_progress;
    request.user_data = &g;
    CHECK_EQ_INT(phi_mcp_send(k.mcp, &request, NULL), PHI_OK);
    CHECK_EQ_STR(link_sent(&k), "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"slow\",\"params\":{"
                                "\"_meta\":{\"progressToken\":3}}}\n");
    for (i = 1; i <= 3; i++) {
        link_pass(&k, 800);
        CHECK_EQ_INT(g.times, 0);
        link_says(&k, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{"
                      "\"progressToken\":\"3\",\"progress\":1,\"total\":4,\"message\":\"on\"}}");
        link_run(&k);
        CHECK_EQ_STR(g.text, "1/4 on");
    }
    link_pass(&k, 800);
    CHECK_EQ_INT(g.times, 1);
    CHECK_EQ_INT(g.status, PHI_TIMEOUT);
    CHECK(strstr(g.text, "no answer within 3") == g.text);
    CHECK_EQ_STR(link_sent(&k), "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
                                "\"params\":{\"requestId\":3,\"reason\":\"timed out\"}}\n");
    link_says(&k, "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{}}"); /* too late: no warning */
    link_run(&k);
    CHECK_EQ_STR(link_story(&k), "state: 2 2025-06-18\n");
    link_end(&k);
}

TEST(hours_of_a_pause_end_no_request) {
    got g;
    link_kit k;
    ready(&k, "2025-06-18");
    CHECK_EQ_INT(ask(&k, &g, "slow", "", NULL), PHI_OK);
    link_run(&k);
    rig_pass_ms(k.rig, 7200000);
    link_run(&k);
    CHECK_EQ_INT(g.times, 0);
    rig_pass_stepping_ms(k.rig, 28500); /* a second of the pause counts */
    link_run(&k);
    CHECK_EQ_INT(g.times, 0);
    rig_pass_ms(k.rig, 600);
    link_run(&k);
    CHECK_EQ_INT(g.times, 1);
    CHECK_EQ_INT(g.status, PHI_TIMEOUT);
    link_end(&k);
}

TEST(a_cancelled_request_is_told_to_the_server_and_not_reported) {
    static const char *const eras[] = {"2025-06-18", "2026-07-28"};
    size_t i;
    for (i = 0; i < 2; i++) {
        got g;
        link_kit k;
        uint64_t id = 0;
        ready(&k, eras[i]);
        CHECK_EQ_INT(ask(&k, &g, "slow", "", &id), PHI_OK);
        (void)link_sent(&k);
        phi_mcp_cancel(k.mcp, id);
        phi_mcp_cancel(k.mcp, id);
        link_run(&k);
        CHECK(strstr(link_sent(&k), "cancelled by the host") != NULL);
        CHECK_EQ_INT(g.times, 0);
        link_end(&k);
    }
}

TEST(over_http_the_modern_era_cancels_by_forgetting) {
    phi_mcp_desc desc = PHI_ZERO;
    got g;
    link_kit k;
    uint64_t id = 0;
    size_t forgets;
    desc.url = "http://127.0.0.1:1/mcp";
    link_begin(&k, NULL);
    link_answers(&k, "2026-07-28", "{}");
    CHECK_EQ_INT(link_connect(&k, &desc, NULL, 0), PHI_OK);
    link_run(&k);
    CHECK_EQ_INT(ask(&k, &g, "slow", "", &id), PHI_OK);
    (void)link_sent(&k);
    forgets = k.forgets;
    phi_mcp_cancel(k.mcp, id);
    CHECK_EQ_STR(link_sent(&k), "");
    CHECK_EQ_INT(k.forgets, forgets + 1);
    link_end(&k);
}

TEST(a_ping_is_answered_and_unknown_requests_are_refused) {
    link_kit k;
    ready(&k, "2025-06-18");
    link_says(&k, "{\"jsonrpc\":\"2.0\",\"id\":\"p\",\"method\":\"ping\"}");
    link_says(&k, "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"roots/list\"}");
    link_run(&k);
    CHECK_EQ_STR(link_sent(&k), "{\"jsonrpc\":\"2.0\",\"id\":\"p\",\"result\":{}}\n"
                                "{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{\"code\":-32601,"
                                "\"message\":\"Method not found\"}}\n");
    link_end(&k);
    ready(&k, "2026-07-28");
    link_says(&k, "{\"jsonrpc\":\"2.0\",\"id\":\"p\",\"method\":\"ping\"}");
    link_run(&k);
    CHECK_EQ_STR(link_sent(&k), "");
    CHECK_EQ_STR(link_story(&k),
                 "warning: 2 a request of the server's, which this era does not have\n");
    link_end(&k);
}

TEST(requests_wait_while_the_link_is_full_and_keep_their_order) {
    got a, b;
    link_kit k;
    ready(&k, "2025-06-18");
    k.full = true;
    CHECK_EQ_INT(ask(&k, &a, "one", "", NULL), PHI_OK);
    CHECK_EQ_INT(ask(&k, &b, "two", "", NULL), PHI_OK);
    link_says(&k, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}");
    link_run(&k);
    CHECK_EQ_STR(link_sent(&k), "");
    link_room(&k);
    link_run(&k);
    CHECK_EQ_STR(link_sent(&k), "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"one\",\"params\":{}}\n"
                                "{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"two\",\"params\":{}}\n"
                                "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n");
    link_end(&k);
}

TEST(at_most_4096_requests_are_under_way) {
    static got all[4097];
    link_kit k;
    size_t i;
    ready(&k, "2025-06-18");
    for (i = 0; i < 4096; i++)
        if (!CHECK_EQ_INT(ask(&k, &all[i], "m", "", NULL), PHI_OK)) break;
    CHECK_EQ_INT(ask(&k, &all[4096], "m", "", NULL), PHI_FULL);
    link_down(&k, PHI_NETWORK, false, "it died");
    link_run(&k);
    for (i = 0; i < 4096; i++)
        if (all[i].times != 1 || all[i].status != PHI_NETWORK) break;
    CHECK_EQ_INT(i, 4096);
    CHECK_EQ_STR(all[0].text, "it died");
    link_end(&k);
}

TEST(a_lost_connection_is_opened_again_with_growing_delays_and_given_up_at_last) {
    got g;
    link_kit k;
    ready(&k, "2025-06-18");
    CHECK_EQ_INT(ask(&k, &g, "m", "", NULL), PHI_OK);
    link_down(&k, PHI_NETWORK, false, "it died");
    link_run(&k);
    CHECK_EQ_INT(g.times, 1);
    CHECK_EQ_STR(link_story(&k), "state: 1 it died\n");
    CHECK_EQ_INT(k.opens, 1);
    link_pass(&k, 400);
    CHECK_EQ_INT(k.opens, 1);
    link_pass(&k, 200);
    CHECK_EQ_INT(k.opens, 2);
    CHECK_EQ_STR(link_story(&k), "state: 2 2025-06-18\n");
    CHECK_EQ_INT(phi_mcp_get_info(k.mcp).restarts, 1);
    CHECK(strstr(link_sent(&k), "discover") == NULL); /* the era is known by now */
    link_down(&k, PHI_NETWORK, false, "again");
    link_pass(&k, 900);
    CHECK_EQ_INT(k.opens, 2);
    link_pass(&k, 200);
    CHECK_EQ_INT(k.opens, 3);
    link_down(&k, PHI_NETWORK, false, "again");
    link_pass(&k, 3000);
    CHECK_EQ_INT(k.opens, 4);
    link_down(&k, PHI_NETWORK, false, "for good");
    link_run(&k);
    CHECK_EQ_INT(phi_mcp_get_info(k.mcp).state, PHI_MCP_FAILED);
    CHECK_EQ_STR(phi_mcp_get_info(k.mcp).message, "for good");
    CHECK_EQ_INT(phi_mcp_reconnect(k.mcp), PHI_OK);
    CHECK_EQ_INT(phi_mcp_reconnect(k.mcp), PHI_MISUSE);
    link_run(&k);
    CHECK_EQ_INT(phi_mcp_get_info(k.mcp).state, PHI_MCP_READY);
    link_pass(&k, 61000);
    link_down(&k, PHI_NETWORK, false, "after a minute");
    link_pass(&k, 600);
    CHECK_EQ_INT(phi_mcp_get_info(k.mcp).state, PHI_MCP_READY);
    link_end(&k);
}

TEST(a_server_that_ends_at_the_probe_gets_initialize_the_next_time) {
    link_kit k;
    link_begin(&k, NULL);
    CHECK_EQ_INT(link_connect(&k, NULL, NULL, 0), PHI_OK);
    link_run(&k);
    link_answers(&k, "2024-11-05", "{}");
    link_down(&k, PHI_NETWORK, false, "ended");
    link_pass(&k, 600);
    CHECK_EQ_INT(phi_mcp_get_info(k.mcp).state, PHI_MCP_READY);
    link_end(&k);
}

TEST(a_modern_server_that_ended_at_the_probe_is_probed_once_more) {
    link_kit k;
    link_begin(&k, NULL);
    CHECK_EQ_INT(link_connect(&k, NULL, NULL, 0), PHI_OK);
    link_run(&k);
    link_answers(&k, "2026-07-28", "{}");
    link_down(&k, PHI_NETWORK, false, "ended");
    link_pass(&k, 600);
    CHECK_EQ_INT(phi_mcp_get_info(k.mcp).state, PHI_MCP_READY);
    CHECK_STR(phi_mcp_get_info(k.mcp).era, "2026-07-28");
    link_end(&k);
}

TEST(what_cannot_be_started_fails_for_good) {
    link_kit k;
    link_begin(&k, NULL);
    k.hangs = true;
    CHECK_EQ_INT(link_connect(&k, NULL, NULL, 0), PHI_OK);
    link_run(&k);
    link_down(&k, PHI_NOT_FOUND, true, "no such program");
    link_run(&k);
    CHECK_EQ_STR(link_story(&k), "state: 5 no such program\n");
    link_end(&k);
}

TEST(a_connection_that_does_not_become_ready_fails) {
    link_kit k;
    link_begin(&k, NULL);
    k.hangs = true;
    CHECK_EQ_INT(link_connect(&k, NULL, NULL, 0), PHI_OK);
    link_run(&k);
    link_pass(&k, 29000);
    CHECK_EQ_INT(phi_mcp_get_info(k.mcp).state, PHI_MCP_CONNECTING);
    link_pass(&k, 2000);
    CHECK_EQ_STR(link_story(&k), "state: 5 not ready within 30000 ms\n");
    link_end(&k);
}

TEST(hours_of_a_pause_end_no_beginning) {
    link_kit k;
    link_begin(&k, NULL);
    k.hangs = true;
    CHECK_EQ_INT(link_connect(&k, NULL, NULL, 0), PHI_OK);
    link_run(&k);
    rig_pass_ms(k.rig, 7200000);
    link_run(&k);
    CHECK_EQ_INT(phi_mcp_get_info(k.mcp).state, PHI_MCP_CONNECTING);
    link_pass(&k, 31000);
    CHECK_EQ_STR(link_story(&k), "state: 5 not ready within 30000 ms\n");
    link_end(&k);
}

TEST(deadlines_stand_still_while_a_person_is_waited_for) {
    link_kit k;
    got g;
    ready(&k, "2025-06-18");
    CHECK_EQ_INT(ask(&k, &g, "m", "", NULL), PHI_OK);
    phi__mcp_wait(k.mcp, true);
    link_pass(&k, 900000);
    CHECK_EQ_INT(g.times, 0);
    phi__mcp_wait(k.mcp, false);
    link_pass(&k, 40000);
    CHECK_EQ_INT(g.times, 1);
    link_end(&k);
}

TEST(a_forgotten_session_is_agreed_upon_again_and_what_was_refused_is_sent_again) {
    phi_mcp_desc desc = PHI_ZERO;
    got a, b;
    link_kit k;
    desc.url = "http://127.0.0.1:1/mcp";
    link_begin(&k, NULL);
    link_answers(&k, "2025-06-18", "{}");
    CHECK_EQ_INT(link_connect(&k, &desc, NULL, 0), PHI_OK);
    link_run(&k);
    CHECK_EQ_INT(ask(&k, &a, "one", "", NULL), PHI_OK);
    CHECK_EQ_INT(ask(&k, &b, "two", "", NULL), PHI_OK);
    (void)link_sent(&k);
    link_expired(&k);
    link_run(&k);
    CHECK_EQ_INT(a.times, 1);
    CHECK_EQ_STR(a.text, "the server has forgotten the session");
    CHECK_EQ_INT(b.times, 0);
    CHECK_EQ_STR(link_sent(&k),
                 "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"initialize\",\"params\":{"
                 "\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},"
                 "\"clientInfo\":{\"name\":\"phi\",\"version\":\"0.1.0\"}}}\n"
                 "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n"
                 "{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"two\",\"params\":{}}\n");
    link_says(&k, "{\"jsonrpc\":\"2.0\",\"id\":4,\"result\":{}}");
    link_run(&k);
    CHECK_EQ_INT(b.times, 1);
    CHECK_EQ_INT(b.status, PHI_OK);
    CHECK_EQ_INT(phi_mcp_get_info(k.mcp).state, PHI_MCP_READY);
    link_end(&k);
}

TEST(closing_ends_requests_and_reports_each_state) {
    got g;
    link_kit k;
    ready(&k, "2025-06-18");
    CHECK_EQ_INT(ask(&k, &g, "m", "", NULL), PHI_OK);
    phi_mcp_close(k.mcp);
    phi_mcp_close(k.mcp);
    CHECK_EQ_INT(g.times, 0);
    CHECK_EQ_INT(phi_mcp_get_info(k.mcp).state, PHI_MCP_CLOSING);
    link_run(&k);
    CHECK_EQ_INT(g.times, 1);
    CHECK_EQ_INT(g.status, PHI_CANCELLED);
    CHECK_EQ_STR(link_story(&k), "state: 3 closing\nstate: 4 closed\n");
    CHECK_EQ_INT(phi_mcp_reconnect(k.mcp), PHI_OK);
    link_run(&k);
    CHECK_EQ_INT(phi_mcp_get_info(k.mcp).state, PHI_MCP_READY);
    link_end(&k);
    phi_mcp_close(NULL);
    phi_mcp_free(NULL);
    CHECK_EQ_INT(phi_mcp_reconnect(NULL), PHI_BAD_ARG);
}

/* A connection that has ended keeps its timer's place, and there is no room for another timer. */
TEST(a_reconnection_needs_no_memory) {
    static phi__timer others[4096];
    for (int way = 0; way < 2; way++) {
        phi_status status = PHI_OK;
        size_t n = 0;
        link_kit k;
        ready(&k, "2025-06-18");
        if (way == 0)
            phi_mcp_close(k.mcp);
        else
            link_down(&k, PHI_NETWORK, true, "for good");
        link_run(&k);
        memset(others, 0, sizeof others);
        test_alloc_fail_from(0);
        while (status == PHI_OK && n < PHI__COUNT(others))
            status = phi__io_timer_set(k.rt->io, &others[n++], UINT64_MAX);
        CHECK_EQ_INT(status, PHI_NO_MEMORY);
        CHECK_EQ_INT(phi_mcp_reconnect(k.mcp), PHI_OK);
        test_alloc_fail_from(-1);
        while (n > 0) phi__io_timer_clear(k.rt->io, &others[--n]);
        link_run(&k);
        CHECK_EQ_INT(phi_mcp_get_info(k.mcp).state, PHI_MCP_READY);
        link_end(&k);
    }
}

TEST(freeing_inside_of_callbacks_is_allowed) {
    got a, b;
    link_kit k;
    ready(&k, "2025-06-18");
    CHECK_EQ_INT(ask(&k, &a, "one", "", NULL), PHI_OK);
    CHECK_EQ_INT(ask(&k, &b, "two", "", NULL), PHI_OK);
    a.free_mcp = true;
    link_says(&k, "[{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{}},"
                  "{\"jsonrpc\":\"2.0\",\"id\":4,\"result\":{}}]");
    link_run(&k);
    CHECK_EQ_INT(a.times, 1);
    CHECK_EQ_INT(b.times, 0);
    CHECK(k.mcp == NULL);
    link_end(&k);
    ready(&k, "2025-06-18");
    k.free_in_event = true;
    link_says(&k, "garbage");
    link_says(&k, "garbage");
    link_run(&k);
    CHECK(k.mcp == NULL);
    link_end(&k);
    ready(&k, "2025-06-18");
    CHECK_EQ_INT(ask(&k, &a, "one", "", NULL), PHI_OK);
    a.free_mcp = true;
    link_down(&k, PHI_NETWORK, false, "died");
    link_run(&k);
    CHECK(k.mcp == NULL);
    link_end(&k);
}

TEST(settings_are_checked_with_words) {
    static const char *const argv[] = {"x", NULL}, *const none[] = {"", NULL};
    static const phi_mcp_pair pairs[] = {{"a b", "c"}}, broken[] = {{"a", "c\r\nd"}};
    static const phi_mcp_root roots[] = {{"http://x", NULL}};
    phi_mcp_desc d[12];
    const char *want[12];
    size_t n = 0, i;
    rig *r = rig_new();
    memset(d, 0, sizeof d);
    want[n++] = "expected either argv or url";
    d[n].argv = argv;
    d[n].url = "http://x";
    want[n++] = "expected either argv or url";
    d[n].argv = none;
    want[n++] = "argv[0] is empty";
    d[n].argv = argv;
    d[n].era = "2025-01-01";
    want[n++] = "era: expected 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25 or 2026-07-28";
    d[n].argv = argv;
    d[n].name_prefix = "a.b";
    want[n++] = "name_prefix: expected 1 to 32 letters, digits, _ or -";
    d[n].argv = argv;
    d[n].log_level = "loud";
    want[n++] = "log_level: expected debug, info, notice, warning, error, critical, alert or "
                "emergency";
    d[n].argv = argv;
    d[n].max_message_bytes = 100;
    want[n++] = "max_message_bytes: expected at least 4,096";
    d[n].argv = argv;
    d[n].roots = roots;
    d[n].root_count = 1;
    want[n++] = "roots: each needs a uri that begins with file:";
    d[n].url = "ftp://x";
    want[n++] = "url: expected http:// or https://";
    d[n].url = "http://x";
    d[n].headers = pairs;
    d[n].header_count = 1;
    want[n++] = "headers: a name is no token";
    d[n].url = "http://x";
    d[n].headers = broken;
    d[n].header_count = 1;
    want[n++] = "headers: a control character in a value";
    for (i = 0; i < n; i++) {
        const char *words = "";
        char text[200];
        CHECK(phi_mcp_connect(rig_runtime(r), &d[i]) == NULL);
        words = phi_last_error(rig_runtime(r)).message;
        CHECK_EQ_INT(phi_last_error(rig_runtime(r)).status, PHI_BAD_ARG);
        (void)snprintf(text, sizeof text, "phi_mcp_connect: %s", want[i]);
        CHECK_EQ_STR(words, text);
    }
    CHECK(phi_mcp_connect(rig_runtime(r), NULL) == NULL);
    CHECK(phi_mcp_connect(NULL, &d[0]) == NULL);
    rig_free(r);
}

TEST_MAIN(TEST_ENTRY(a_server_without_a_handshake_is_ready_after_its_discovery),
          TEST_ENTRY(any_other_error_to_the_probe_is_followed_by_initialize),
          TEST_ENTRY(silence_to_the_probe_is_followed_by_initialize),
          TEST_ENTRY(a_modern_server_that_was_slow_to_start_is_probed_once_more),
          TEST_ENTRY(a_pinned_era_is_the_only_one_that_is_tried),
          TEST_ENTRY(a_pinned_modern_era_is_refused_with_words),
          TEST_ENTRY(a_version_that_is_refused_is_chosen_anew_from_those_that_the_server_names),
          TEST_ENTRY(an_unknown_version_of_a_handshake_is_refused),
          TEST_ENTRY(over_http_a_refused_probe_is_followed_by_initialize_and_a_dead_network_is_not),
          TEST_ENTRY(requests_are_answered_by_id_whatever_comes_between),
          TEST_ENTRY(an_answer_that_is_nested_too_deeply_ends_its_request),
          TEST_ENTRY(a_long_answer_is_read_in_slices),
          TEST_ENTRY(a_long_text_that_is_no_good_answer_ends_its_request_or_none),
          TEST_ENTRY(every_failed_allocation_of_a_long_answer_ends_its_request),
          TEST_ENTRY(arguments_of_a_request_are_checked),
          TEST_ENTRY(a_request_times_out_and_progress_renews_it_up_to_a_bound),
          TEST_ENTRY(hours_of_a_pause_end_no_request),
          TEST_ENTRY(a_cancelled_request_is_told_to_the_server_and_not_reported),
          TEST_ENTRY(over_http_the_modern_era_cancels_by_forgetting),
          TEST_ENTRY(a_ping_is_answered_and_unknown_requests_are_refused),
          TEST_ENTRY(requests_wait_while_the_link_is_full_and_keep_their_order),
          TEST_ENTRY(at_most_4096_requests_are_under_way),
          TEST_ENTRY(a_lost_connection_is_opened_again_with_growing_delays_and_given_up_at_last),
          TEST_ENTRY(a_server_that_ends_at_the_probe_gets_initialize_the_next_time),
          TEST_ENTRY(a_modern_server_that_ended_at_the_probe_is_probed_once_more),
          TEST_ENTRY(what_cannot_be_started_fails_for_good),
          TEST_ENTRY(a_connection_that_does_not_become_ready_fails),
          TEST_ENTRY(hours_of_a_pause_end_no_beginning),
          TEST_ENTRY(deadlines_stand_still_while_a_person_is_waited_for),
          TEST_ENTRY(a_forgotten_session_is_agreed_upon_again_and_what_was_refused_is_sent_again),
          TEST_ENTRY(closing_ends_requests_and_reports_each_state),
          TEST_ENTRY(a_reconnection_needs_no_memory),
          TEST_ENTRY(freeing_inside_of_callbacks_is_allowed),
          TEST_ENTRY(settings_are_checked_with_words))
