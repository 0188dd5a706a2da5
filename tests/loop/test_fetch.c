/* test_fetch.c - requests of the rooms above the loop: what is sent, what comes back in which parts,
   deadlines, pauses, and everything closed at odd moments. */
#include "io/loopback.h"
#include "loop/loop_in.h"
#include "record/replay.h"
#include "support/rig.h"
#include "support/wires.h"
#include "agent/agent_history.h"
#include "loop/inner_in.h"

#include <unistd.h>

enum { GOT_MOST = 1 << 20 };

typedef struct got {
    phi__fetch *fetch;
    phi_runtime *rt;
    int heads, ends, http_status;
    char headers[300], message[400];
    phi_status status;
    char *body;
    size_t len, calls;
    size_t takes;       /* a call at most (0: all) */
    bool pauses;        /* takes nothing */
    int closes_in;      /* 1: head, 2: body, 3: end */
    struct got *closes; /* which one; NULL: itself */
    bool opens_in_end;
} got;

static phi_memory memory_of_test;

static void got_open(got *g, phi_runtime *rt, const char *url);

static void got_close(got *g, int where) {
    got *other = g->closes != NULL ? g->closes : g;
    if (g->closes_in != where) return;
    phi__fetch_close(other->fetch);
    other->fetch = NULL;
}

static void got_head(void *user_data, int http_status, phi_str headers) {
    got *g = (got *)user_data;
    g->heads++;
    g->http_status = http_status;
    (void)snprintf(g->headers, sizeof g->headers, "%.*s", (int)headers.len, headers.at);
    got_close(g, 1);
}

static size_t got_body(void *user_data, phi_str bytes) {
    got *g = (got *)user_data;
    size_t n = g->takes > 0 && g->takes < bytes.len ? g->takes : bytes.len;
    g->calls++;
    CHECK(bytes.len > 0 && bytes.len <= 16384);
    CHECK_EQ_INT(phi_step(g->rt, 0), PHI_MISUSE);
    if (g->pauses) return 0;
    g->body = (char *)realloc(g->body, g->len + n + 1);
    if (g->body == NULL) abort();
    memcpy(g->body + g->len, bytes.at, n);
    g->len += n;
    g->body[g->len] = '\0';
    if (n < bytes.len) phi__fetch_resume(g->fetch);
    got_close(g, 2);
    return n;
}

static void got_end(void *user_data, phi_status status, const char *message) {
    got *g = (got *)user_data;
    g->ends++;
    g->status = status;
    (void)snprintf(g->message, sizeof g->message, "%s", message);
    got_close(g, 3);
    g->fetch = NULL;
    if (g->opens_in_end) got_open(g, g->rt, "http://h/again");
}

static phi__fetch_desc got_desc(got *g, phi_runtime *rt, const char *url) {
    phi__fetch_desc desc;
    memset(&desc, 0, sizeof desc);
    g->rt = rt;
    desc.memory = &memory_of_test;
    desc.method = phi_str_of("GET");
    desc.url = phi_str_of(url);
    desc.on_head = got_head;
    desc.on_body = got_body;
    desc.on_end = got_end;
    desc.user_data = g;
    return desc;
}

static void got_open(got *g, phi_runtime *rt, const char *url) {
    phi__fetch_desc desc = got_desc(g, rt, url);
    (void)phi__fetch_open(rt, &desc, &g->fetch);
}

static void got_free(got *g) {
    free(g->body);
    memset(g, 0, sizeof *g);
}

static phi_runtime *start(wires *w) {
    phi_allocator allocator = test_allocator();
    wires_init(w);
    phi_memory_init(&memory_of_test, &allocator, 0);
    return wires_runtime(w, NULL);
}

static void finish(wires *w, phi_runtime *rt) {
    phi_runtime_free(rt);
    wires_free(w);
    CHECK_EQ_INT(memory_of_test.used_bytes, 0);
}

static void steps(phi_runtime *rt, wires *w, int n) {
    while (n-- > 0) {
        (void)phi_step(rt, 0);
        w->now_us += 1000;
    }
}

TEST(a_request_is_sent_as_given_and_its_answer_comes_in_order) {
    static const phi__header headers[] = {{{"X-One", 5}, {"a b", 3}}, {{"Empty", 5}, {"", 0}}};
    phi_str pieces[3];
    wires w;
    got g;
    phi_runtime *rt = start(&w);
    phi__fetch_desc desc;
    memset(&g, 0, sizeof g);
    desc = got_desc(&g, rt, "https://h.example/p?q=1");
    desc.method = phi_str_of("PUT");
    desc.headers = headers;
    desc.header_count = 2;
    desc.body = phi_str_of("one,");
    pieces[0] = phi_str_of("two,");
    pieces[1] = phi_str_of("");
    pieces[2] = phi_str_of("three");
    desc.pieces = pieces;
    desc.piece_count = 3;
    CHECK_EQ_INT(phi__fetch_open(rt, &desc, &g.fetch), PHI_OK);
    CHECK_EQ_INT(w.count, 1);
    CHECK_EQ_STR(w.sent[0].text,
                 "PUT https://h.example/p?q=1\nX-One: a b\nEmpty: \n\none,two,three");
    CHECK_EQ_INT(phi_next_timeout(rt) > 0, true);
    wires_head(&w, 0, 201, "A: b\r\n");
    CHECK_EQ_INT(g.heads, 0); /* never inside a call of the transport */
    CHECK_EQ_INT(phi_next_timeout(rt), 0);
    (void)wires_push(&w, 0, "he", 2);
    steps(rt, &w, 1);
    CHECK_EQ_INT(g.heads, 1);
    CHECK_EQ_INT(g.http_status, 201);
    CHECK_EQ_STR(g.headers, "A: b\r\n");
    CHECK_EQ_STR(g.body, "he");
    (void)wires_push(&w, 0, "llo", 3);
    wires_end(&w, 0, PHI_OK, NULL);
    steps(rt, &w, 2);
    CHECK_EQ_STR(g.body, "hello");
    CHECK_EQ_INT(g.ends, 1);
    CHECK_EQ_INT(g.status, PHI_OK);
    CHECK_EQ_STR(g.message, "");
    CHECK_EQ_INT(w.cancels, 0);
    got_free(&g);
    finish(&w, rt);
}

TEST(an_answer_may_come_byte_by_byte_and_be_taken_so) {
    wires w;
    got g;
    size_t i;
    phi_runtime *rt = start(&w);
    memset(&g, 0, sizeof g);
    g.takes = 1;
    got_open(&g, rt, "http://h/");
    wires_head(&w, 0, 200, "");
    for (i = 0; i < 300; i++) {
        char c = (char)('a' + i % 26);
        CHECK_EQ_INT(wires_push(&w, 0, &c, 1), PHI_OK);
        if (i % 7 == 0) steps(rt, &w, 1);
    }
    wires_end(&w, 0, PHI_OK, NULL);
    steps(rt, &w, 3);
    CHECK_EQ_INT(g.len, 300);
    CHECK_EQ_INT(g.calls, 300);
    for (i = 0; i < g.len; i++)
        if (g.body[i] != (char)('a' + i % 26)) break;
    CHECK_EQ_INT(i, 300);
    CHECK_EQ_INT(g.ends, 1);
    got_free(&g);
    finish(&w, rt);
}

TEST(a_body_that_is_not_taken_holds_up_the_server_and_no_deadline_passes) {
    static char block[40000];
    wires w;
    got g;
    int i;
    phi_runtime *rt = start(&w);
    memset(&g, 0, sizeof g);
    memset(block, 'x', sizeof block);
    g.pauses = true;
    got_open(&g, rt, "http://h/");
    wires_head(&w, 0, 200, "");
    CHECK_EQ_INT(wires_push(&w, 0, block, sizeof block), PHI_OK);
    CHECK_EQ_INT(wires_push(&w, 0, block, sizeof block), PHI_OK);
    CHECK_EQ_INT(wires_push(&w, 0, block, sizeof block), PHI_FULL);
    for (i = 0; i < 1000; i++) {
        w.now_us += 1000000; /* 1000 s: more than any default */
        (void)phi_step(rt, 0);
    }
    CHECK_EQ_INT(g.calls, 1);
    CHECK_EQ_INT(g.ends, 0);
    g.pauses = false;
    phi__fetch_resume(g.fetch);
    phi__fetch_resume(g.fetch);
    steps(rt, &w, 4);
    CHECK_EQ_INT(g.len, 80000);
    CHECK_EQ_INT(w.sent[0].resumes, 1);
    wires_end(&w, 0, PHI_OK, NULL);
    steps(rt, &w, 1);
    CHECK_EQ_INT(g.ends, 1);
    got_free(&g);
    finish(&w, rt);
}

TEST(a_step_takes_a_bounded_part_of_each_fetch) {
    static char block[60000];
    wires w;
    got g[4];
    size_t i, sum = 0;
    phi_runtime *rt = start(&w);
    memset(g, 0, sizeof g);
    for (i = 0; i < 4; i++) {
        got_open(&g[i], rt, "http://h/");
        wires_head(&w, i, 200, "");
        (void)wires_push(&w, i, block, sizeof block);
        wires_end(&w, i, PHI_OK, NULL);
    }
    steps(rt, &w, 1);
    for (i = 0; i < 4; i++) {
        CHECK(g[i].len <= 32768 + 16384);
        sum += g[i].len;
    }
    CHECK(sum <= 65536 + 32768);
    CHECK(g[3].len == 0);
    steps(rt, &w, 1);
    CHECK(g[3].len > 0); /* those that had nothing come first */
    steps(rt, &w, 8);
    for (i = 0; i < 4; i++) {
        CHECK_EQ_INT(g[i].len, 60000);
        CHECK_EQ_INT(g[i].ends, 1);
        got_free(&g[i]);
    }
    finish(&w, rt);
}

TEST(it_may_be_closed_in_each_of_its_callbacks_and_by_another_one) {
    int where, other;
    for (other = 0; other < 2; other++)
        for (where = 0; where <= 3; where++) {
            wires w;
            got a, b;
            phi_runtime *rt = start(&w);
            memset(&a, 0, sizeof a);
            memset(&b, 0, sizeof b);
            a.closes_in = where;
            a.closes = other ? &b : NULL;
            got_open(&a, rt, "http://h/a");
            got_open(&b, rt, "http://h/b");
            wires_reply(&w, 0, 200, "", "for a");
            wires_reply(&w, 1, 200, "", "for b");
            steps(rt, &w, 3);
            CHECK_EQ_INT(a.heads, 1);
            CHECK_EQ_INT(a.calls, other || where != 1);
            CHECK_EQ_INT(a.ends, other || where == 0 || where == 3);
            CHECK_EQ_INT(b.ends, !other || where == 0);
            if (where == 0) CHECK(a.fetch == NULL && b.fetch == NULL);
            got_free(&a);
            got_free(&b);
            finish(&w, rt);
        }
}

TEST(closing_before_the_answer_cancels_at_the_transport) {
    wires w;
    got g;
    phi_runtime *rt = start(&w);
    memset(&g, 0, sizeof g);
    got_open(&g, rt, "http://h/");
    steps(rt, &w, 2);
    phi__fetch_close(g.fetch);
    phi__fetch_close(NULL);
    CHECK_EQ_INT(w.cancels, 1);
    CHECK_EQ_INT(phi_transfer_push(w.sent[0].transfer, "x", 1), PHI_STALE);
    steps(rt, &w, 2);
    CHECK_EQ_INT(g.ends, 0);
    finish(&w, rt);
}

TEST(a_fetch_that_opens_the_next_one_in_its_end_does_not_hold_the_step) {
    wires w;
    got g;
    phi_runtime *rt = start(&w);
    memset(&g, 0, sizeof g);
    g.opens_in_end = true;
    w.refuses = PHI_NETWORK; /* each is refused at once */
    got_open(&g, rt, "http://h/");
    steps(rt, &w, 5);
    CHECK_EQ_INT(g.ends, 5);
    CHECK_EQ_INT(g.status, PHI_NETWORK);
    CHECK_EQ_STR(g.message, "the network failed");
    g.opens_in_end = false;
    steps(rt, &w, 2);
    finish(&w, rt);
}

TEST(each_deadline_ends_it_with_words) {
    static const struct {
        phi_deadlines deadlines;
        int answers; /* 0: nothing, 1: its head, 2: a byte */
        const char *message;
    } rows[] = {
        {{0, 50, 0, 0, 0}, 0, "no answer within 50 ms"},
        {{0, 60, 0, 0, 0}, 1, "no answer within 60 ms"},
        {{0, 0, 70, 0, 0}, 2, "the answer was silent for 70 ms"},
        {{0, 0, 0, 80, 0}, 2, "the answer was not whole after 80 ms"},
    };
    size_t i;
    for (i = 0; i < PHI__COUNT(rows); i++) {
        wires w;
        got g;
        phi_runtime *rt = start(&w);
        phi__fetch_desc desc;
        memset(&g, 0, sizeof g);
        desc = got_desc(&g, rt, "http://h/");
        desc.deadlines = rows[i].deadlines;
        CHECK_EQ_INT(phi__fetch_open(rt, &desc, &g.fetch), PHI_OK);
        if (rows[i].answers > 0) wires_head(&w, 0, 200, "");
        if (rows[i].answers > 1) (void)wires_push(&w, 0, "x", 1);
        steps(rt, &w, 40);
        CHECK_EQ_INT(g.ends, 0);
        steps(rt, &w, 60);
        CHECK_EQ_INT(g.ends, 1);
        CHECK_EQ_INT(g.status, PHI_TIMEOUT);
        CHECK_EQ_STR(g.message, rows[i].message);
        CHECK_EQ_INT(w.cancels, 1);
        got_free(&g);
        finish(&w, rt);
    }
}

TEST(an_unlimited_silence_is_allowed) {
    wires w;
    got g;
    int i;
    phi_runtime *rt = start(&w);
    phi__fetch_desc desc;
    memset(&g, 0, sizeof g);
    desc = got_desc(&g, rt, "http://h/");
    desc.deadlines.idle_ms = PHI_UNLIMITED;
    CHECK_EQ_INT(phi__fetch_open(rt, &desc, &g.fetch), PHI_OK);
    wires_head(&w, 0, 200, "");
    (void)wires_push(&w, 0, "x", 1);
    for (i = 0; i < 7200; i++) {
        w.now_us += 1000000;
        (void)phi_step(rt, 0);
    }
    CHECK_EQ_INT(g.ends, 0);
    phi__fetch_close(g.fetch);
    got_free(&g);
    finish(&w, rt);
}

TEST(an_answer_that_is_too_large_ends_it) {
    wires w;
    got g;
    phi_runtime *rt = start(&w);
    phi__fetch_desc desc;
    memset(&g, 0, sizeof g);
    desc = got_desc(&g, rt, "http://h/");
    desc.max_bytes = 5;
    CHECK_EQ_INT(phi__fetch_open(rt, &desc, &g.fetch), PHI_OK);
    wires_head(&w, 0, 200, "");
    (void)wires_push(&w, 0, "12345", 5);
    steps(rt, &w, 1);
    CHECK_EQ_STR(g.body, "12345");
    (void)wires_push(&w, 0, "6", 1);
    steps(rt, &w, 1);
    CHECK_EQ_INT(g.status, PHI_TOO_BIG);
    CHECK_EQ_STR(g.message, "the answer is larger than 5 bytes");
    CHECK_EQ_INT(w.cancels, 1);
    got_free(&g);
    finish(&w, rt);
}

TEST(what_cannot_be_sent_is_refused_with_words) {
    static const struct {
        const char *method, *url, *name, *value, *message;
    } rows[] = {
        {"G T", "http://h/", "A", "b", "request: method: expected a token"},
        {"", "http://h/", "A", "b", "request: method: expected a token"},
        {"GET", "ftp://h/", "A", "b",
         "request: url: expected http:// or https:// without spaces or control characters"},
        {"GET", "file:///etc/passwd", "A", "b",
         "request: url: expected http:// or https:// without spaces or control characters"},
        {"GET", "http://", "A", "b",
         "request: url: expected http:// or https:// without spaces or control characters"},
        {"GET", "http:///x", "A", "b",
         "request: url: expected http:// or https:// without spaces or control characters"},
        {"GET", "http://h/\r\nX: y", "A", "b",
         "request: url: expected http:// or https:// without spaces or control characters"},
        {"GET", "http://h/", "A\r\nB", "b", "request: headers[0]: its name is no token"},
        {"GET", "http://h/", "", "b", "request: headers[0]: its name is no token"},
        {"GET", "http://h/", "A:", "b", "request: headers[0]: its name is no token"},
        {"GET", "http://h/", "A", "b\r\nC: d",
         "request: header A: a control character in its value"},
        {"GET", "http://h/", "A", "b\nC: d", "request: header A: a control character in its value"},
    };
    const char *words = NULL;
    wires w;
    got g;
    size_t i;
    phi_runtime *rt = start(&w);
    for (i = 0; i < PHI__COUNT(rows); i++) {
        phi__fetch_desc desc;
        phi__header header;
        memset(&g, 0, sizeof g);
        header.name = phi_str_of(rows[i].name);
        header.value = phi_str_of(rows[i].value);
        desc = got_desc(&g, rt, rows[i].url);
        desc.method = phi_str_of(rows[i].method);
        desc.headers = &header;
        desc.header_count = 1;
        CHECK_EQ_INT(phi__fetch_open(rt, &desc, &g.fetch), PHI_BAD_ARG);
        CHECK(g.fetch == NULL);
        words = phi_last_error(rt).message;
        CHECK_EQ_STR(words, rows[i].message);
    }
    CHECK_EQ_INT(w.count, 0);
    finish(&w, rt);
}

TEST(a_nul_in_a_header_is_refused) {
    phi__header header;
    wires w;
    got g;
    phi_runtime *rt = start(&w);
    phi__fetch_desc desc;
    memset(&g, 0, sizeof g);
    header.name = phi_str_of("A");
    header.value = phi__str("b\0c", 3);
    desc = got_desc(&g, rt, "http://h/");
    desc.headers = &header;
    desc.header_count = 1;
    CHECK_EQ_INT(phi__fetch_open(rt, &desc, &g.fetch), PHI_BAD_ARG);
    finish(&w, rt);
}

TEST(a_message_of_the_transport_shows_no_secret_of_the_request) {
    phi__header header;
    wires w;
    got g;
    phi_runtime *rt = start(&w);
    phi__fetch_desc desc;
    memset(&g, 0, sizeof g);
    header.name = phi_str_of("Authorization");
    header.value = phi_str_of("Bearer geheimnis-12345");
    desc = got_desc(&g, rt, "http://h/?key=topsecret-9999");
    desc.headers = &header;
    desc.header_count = 1;
    CHECK_EQ_INT(phi__fetch_open(rt, &desc, &g.fetch), PHI_OK);
    wires_end(&w, 0, PHI_NETWORK, "lost geheimnis-12345 and topsecret-9999");
    steps(rt, &w, 1);
    CHECK_EQ_INT(g.status, PHI_NETWORK);
    CHECK_EQ_STR(g.message, "lost *************** and **************");
    finish(&w, rt);
}

TEST(closing_the_runtime_ends_them_and_freeing_it_does_at_once) {
    const char *words = NULL;
    int closes;
    for (closes = 0; closes < 2; closes++) {
        wires w;
        got a, b;
        phi_runtime *rt = start(&w);
        memset(&a, 0, sizeof a);
        memset(&b, 0, sizeof b);
        b.opens_in_end = true; /* which is refused then */
        b.pauses = true;
        got_open(&a, rt, "http://h/a");
        got_open(&b, rt, "http://h/b");
        wires_head(&w, 1, 200, "");
        (void)wires_push(&w, 1, "x", 1);
        steps(rt, &w, 1);
        if (closes) {
            CHECK_EQ_INT(phi_runtime_close(rt), PHI_BUSY);
            CHECK_EQ_INT(phi_runtime_close(rt), PHI_BUSY);
            CHECK_EQ_INT(a.ends, 0);
            steps(rt, &w, 1);
            CHECK_EQ_INT(phi_runtime_close(rt), PHI_OK);
            CHECK_EQ_INT(a.status, PHI_CANCELLED);
            words = phi_last_error(rt).message;
            CHECK_EQ_STR(words, "request: the runtime is closing");
        }
        finish(&w, rt);
        CHECK_EQ_INT(a.ends, 1);
        CHECK_EQ_INT(b.ends, 1);
        CHECK_EQ_INT(w.cancels, 2);
        CHECK_EQ_STR(a.message, "cancelled");
        got_free(&a);
        got_free(&b);
    }
}

/* ---- a tool that fetches ---- */

static struct {
    wires *w;
    got got;
    phi_call call;
    phi_agent free_in_end;
    size_t cancels;
} tool;

static void tool_end(void *user_data, phi_status status, const char *message) {
    (void)user_data;
    tool.got.ends++;
    tool.got.status = status;
    tool.got.fetch = NULL;
    if (status != PHI_OK)
        (void)phi_call_fail(tool.call, message);
    else
        (void)phi_call_replyf(tool.call, "%.*s", (int)tool.got.len, tool.got.body);
    if (tool.free_in_end.rt != NULL) phi_agent_free(tool.free_in_end);
}

static phi_flow tool_start(void *user_data, phi_call call, phi_str arguments) {
    const char *words = NULL;
    phi__fetch_desc desc = got_desc(&tool.got, call.rt, "http://tool.example/x");
    (void)user_data, (void)arguments;
    tool.call = call;
    desc.on_end = tool_end;
    if (phi__fetch_open(call.rt, &desc, &tool.got.fetch) == PHI_OK) return PHI_PENDING;
    words = phi_last_error(call.rt).message;
    (void)phi_call_fail(call, words);
    return PHI_DONE;
}

static void tool_cancel(void *user_data, phi_call call) {
    (void)user_data, (void)call;
    tool.cancels++;
    phi__fetch_close(tool.got.fetch);
    tool.got.fetch = NULL;
}

static phi_tool tool_make(void) {
    phi_tool t;
    memset(&t, 0, sizeof t);
    memset(&tool, 0, sizeof tool);
    t.name = "get";
    t.description = "gets";
    t.start = tool_start;
    t.cancel = tool_cancel;
    return t;
}

static const char call_answer[] =
    "event: message_start\ndata: "
    "{\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"model\":\"m\","
    "\"content\":[],\"usage\":{\"input_tokens\":1,\"output_tokens\":1}}}\n\n"
    "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,"
    "\"content_block\":{\"type\":\"tool_use\",\"id\":\"c1\",\"name\":\"get\",\"input\":{}}}\n\n"
    "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n"
    "event: message_delta\ndata: "
    "{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"},"
    "\"usage\":{\"output_tokens\":1}}\n\n"
    "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";

static bool tool_hangs;

/* The model calls the tool, the tool's server answers, the model is done. */
static void tool_answer(wires *w, size_t i) {
    static const char type[] = "Content-Type: text/event-stream\r\n";
    if (strstr(w->sent[i].text, "tool.example") != NULL) {
        if (!tool_hangs) wires_reply(w, i, 200, "", "sunny");
    } else if (strstr(w->sent[i].text, "\"tool_result\"") != NULL)
        wires_reply(w, i, 200, type, rig_stream_of("it is sunny"));
    else
        wires_reply(w, i, 200, type, call_answer);
}

static phi_agent tool_agent(wires *w, phi_runtime *rt, phi_tool *t) {
    phi_agent_desc desc = rig_desc();
    *t = tool_make();
    w->answer = tool_answer;
    desc.tools = t;
    desc.tool_count = 1;
    return phi_agent_new(rt, &desc);
}

static int tool_run(phi_runtime *rt, wires *w, int most) {
    phi_event event;
    int runs = 1;
    while (most-- > 0 && runs > 0) {
        runs = phi_step(rt, 0);
        w->now_us += 1000;
        while (phi_next_event(rt, &event)) continue;
    }
    return runs;
}

TEST(a_tool_gives_its_result_in_the_end_of_its_fetch) {
    wires w;
    phi_tool t;
    phi_runtime *rt = start(&w);
    phi_agent agent = tool_agent(&w, rt, &t);
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(tool_run(rt, &w, 20), 0);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 4);
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 2)->content[0].text, "sunny");
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 3)->content[0].text, "it is sunny");
    got_free(&tool.got);
    finish(&w, rt);
}

TEST(an_abort_and_the_agents_end_close_the_fetch_of_its_tool) {
    int how;
    for (how = 0; how < 3; how++) {
        wires w;
        phi_tool t;
        phi_runtime *rt = start(&w);
        phi_agent agent = tool_agent(&w, rt, &t);
        tool_hangs = how < 2;
        if (how == 2) tool.free_in_end = agent;
        CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
        (void)tool_run(rt, &w, 5);
        if (how == 0) (void)phi_abort(agent);
        if (how == 1) phi_agent_free(agent);
        CHECK_EQ_INT(tool_run(rt, &w, 20), 0);
        CHECK_EQ_INT(tool.cancels, how < 2);
        CHECK_EQ_INT(tool.got.ends, how == 2);
        CHECK_EQ_INT(w.cancels, how < 2);
        tool_hangs = false;
        got_free(&tool.got);
        finish(&w, rt);
    }
}

TEST(a_run_with_a_fetch_survives_every_failed_allocation) {
    int n = 0;
    bool tripped;
    do {
        wires w;
        phi_tool t;
        phi_runtime *rt = start(&w);
        phi_agent agent = tool_agent(&w, rt, &t);
        phi_status status;
        test_alloc_fail_at(n++);
        status = phi_prompt(agent, "go");
        CHECK(status == PHI_OK || status == PHI_NO_MEMORY);
        CHECK_EQ_INT(tool_run(rt, &w, 50), 0);
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        CHECK(tool.got.fetch == NULL);
        got_free(&tool.got);
        finish(&w, rt);
    } while (tripped && n < 2000);
    CHECK(n > 40);
}

/* ---- tapes ---- */

static char tape_text[1 << 16];
static size_t tape_len;

static phi_status tape_write(void *user_data, const char *bytes, size_t len) {
    (void)user_data;
    if (tape_len + len >= sizeof tape_text) return PHI_FULL;
    memcpy(tape_text + tape_len, bytes, len);
    tape_len += len;
    tape_text[tape_len] = '\0';
    return PHI_OK;
}

/* A recorded or a played run; the texts of its messages. */
static void tape_run(wires *w, phi_tape *tape, char *story, size_t size) {
    phi_runtime_desc desc;
    phi_runtime *rt;
    phi_agent agent;
    phi_tool t;
    size_t i;
    memset(&desc, 0, sizeof desc);
    desc.tape = tape;
    wires_init(w);
    rt = wires_runtime(w, &desc);
    if (!CHECK(rt != NULL)) return;
    agent = tool_agent(w, rt, &t);
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(tool_run(rt, w, 50), 0);
    for (i = 2; i < phi_thread_message_count(phi_agent_thread(agent)); i++) {
        phi_str text = phi_thread_message_at(phi_agent_thread(agent), i)->content[0].text;
        (void)snprintf(story + strlen(story), size - strlen(story), "%.*s\n", (int)text.len,
                       text.at);
    }
    CHECK_EQ_INT(tape->plays, w->count == 0);
    got_free(&tool.got);
    phi_runtime_free(rt);
    wires_free(w);
}

TEST(a_tape_has_the_result_of_the_tool_and_not_its_request) {
    phi_tape_desc desc;
    phi_tape *tape;
    phi_parse_error error;
    wires w;
    char first[200] = "", second[200] = "";
    phi_allocator allocator = test_allocator();
    phi_memory_init(&memory_of_test, &allocator, 0);
    memset(&desc, 0, sizeof desc);
    desc.allocator = test_allocator();
    desc.write_fn = tape_write;
    tape_len = 0;
    tape = phi_tape_record(&desc);
    tape_run(&w, tape, first, sizeof first);
    CHECK_EQ_INT(phi_tape_end(tape, NULL), PHI_OK);
    phi_tape_free(tape);
    CHECK_EQ_STR(first, "sunny\nit is sunny\n");
    CHECK(strstr(tape_text, "tool.example") == NULL);
    memset(&desc, 0, sizeof desc);
    desc.allocator = test_allocator();
    tape = phi_tape_play(&desc, phi__str(tape_text, tape_len), &error);
    if (!CHECK(tape != NULL)) return;
    tape_run(&w, tape, second, sizeof second);
    CHECK_EQ_INT(phi_tape_end(tape, NULL), PHI_OK);
    phi_tape_free(tape);
    CHECK_EQ_STR(second, first);
}

TEST(while_a_tape_is_played_a_fetch_is_refused_with_words) {
    phi_tape_desc desc;
    phi_runtime_desc rd;
    phi_parse_error error;
    phi_tape *tape;
    phi_runtime *rt;
    const char *words = NULL;
    wires w;
    got g;
    memset(&desc, 0, sizeof desc);
    memset(&rd, 0, sizeof rd);
    memset(&g, 0, sizeof g);
    wires_init(&w);
    desc.allocator = test_allocator();
    tape = phi_tape_play(&desc, phi__str(tape_text, tape_len), &error); /* of the test before */
    if (tape == NULL) {
        test_skip("needs the tape of the test before");
        return;
    }
    rd.tape = tape;
    rt = wires_runtime(&w, &rd);
    got_open(&g, rt, "http://h/");
    CHECK(g.fetch == NULL);
    words = phi_last_error(rt).message;
    CHECK_EQ_STR(words, "request: a tape is played, which has no requests of tools");
    phi_runtime_free(rt);
    phi_tape_free(tape);
}

/* ---- over loopback ---- */

static struct {
    loopback server;
    const char *status, *body;
    size_t body_len, promised;
    bool cuts;
    char head[400];
    uint32_t hash;
    uint64_t got;
} net;

static void net_answer(loopback *server, loopback_connection *c) {
    char head[200];
    (void)server;
    (void)snprintf(net.head, sizeof net.head, "%.300s", c->head);
    net.hash = c->body_hash;
    net.got = c->body_got;
    (void)snprintf(head, sizeof head, "HTTP/1.1 %s\r\nContent-Length: %zu\r\n\r\n", net.status,
                   net.promised);
    loopback_text(c, head);
    loopback_send(c, net.body, net.body_len);
    c->close_after = net.cuts;
}

static phi_runtime *net_start(const char *status, const char *body, size_t len, char url[64]) {
    phi_runtime_desc desc;
    phi_allocator allocator = test_allocator();
    memset(&net, 0, sizeof net);
    memset(&desc, 0, sizeof desc);
    phi_memory_init(&memory_of_test, &allocator, 0);
    net.status = status;
    net.body = body;
    net.body_len = net.promised = len;
    CHECK(loopback_open(&net.server, net_answer));
    (void)snprintf(url, 64, "http://127.0.0.1:%d/p", net.server.port);
    desc.allocator = allocator;
    phi_runtime *rt = phi_runtime_new(&desc);
    if (rt == NULL) loopback_close(&net.server);
    return rt;
}

static void net_run(phi_runtime *rt, const got *g) {
    int left = 20000;
    while (g->ends == 0 && left-- > 0) {
        loopback_step(&net.server);
        (void)phi_step(rt, 1);
    }
}

static void net_finish(phi_runtime *rt) {
    int left = 2000;
    while (phi_runtime_close(rt) == PHI_BUSY && left-- > 0) (void)phi_step(rt, 1);
    phi_runtime_free(rt);
    loopback_close(&net.server);
    CHECK_EQ_INT(memory_of_test.used_bytes, 0);
}

TEST(over_the_network_pieces_arrive_whole) {
    static char big[200000];
    char url[64];
    got g;
    size_t i;
    phi_str pieces[2];
    phi_runtime *rt = net_start("200 OK", "fine", 4, url);
    phi__fetch_desc desc;
    REQUIRE(rt != NULL);
    memset(&g, 0, sizeof g);
    for (i = 0; i < sizeof big; i++) big[i] = (char)(i * 7 + i / 255);
    desc = got_desc(&g, rt, url);
    desc.method = phi_str_of("PATCH");
    desc.body = phi_str_of("head:");
    pieces[0] = phi__str(big, 1000);
    pieces[1] = phi__str(big + 1000, sizeof big - 1000);
    desc.pieces = pieces;
    desc.piece_count = 2;
    CHECK_EQ_INT(phi__fetch_open(rt, &desc, &g.fetch), PHI_OK);
    net_run(rt, &g);
    CHECK_EQ_INT(g.status, PHI_OK);
    CHECK_EQ_STR(g.body, "fine");
    CHECK(strncmp(net.head, "PATCH /p HTTP/1.1\r\n", 19) == 0);
    CHECK(strstr(net.head, "Accept-Encoding") == NULL);
    CHECK_EQ_INT(net.got, sizeof big + 5);
    CHECK_EQ_INT(net.hash, loopback_hash(loopback_hash(2166136261u, "head:", 5), big, sizeof big));
    got_free(&g);
    net_finish(rt);
}

TEST(a_redirect_is_an_answer_and_is_not_followed) {
    char url[64];
    got g;
    phi_runtime *rt = net_start("302 Found\r\nLocation: http://127.0.0.1:1/other", "", 0, url);
    REQUIRE(rt != NULL);
    memset(&g, 0, sizeof g);
    got_open(&g, rt, url);
    net_run(rt, &g);
    CHECK_EQ_INT(g.status, PHI_OK);
    CHECK_EQ_INT(g.http_status, 302);
    CHECK(strstr(g.headers, "Location: http://127.0.0.1:1/other\r\n") != NULL);
    CHECK_EQ_INT(net.server.requests, 1);
    net_finish(rt);
}

TEST(an_answer_that_is_cut_is_no_whole_one) {
    char url[64];
    got g;
    phi_runtime *rt = net_start("200 OK", "half", 4, url);
    REQUIRE(rt != NULL);
    memset(&g, 0, sizeof g);
    net.promised = 8;
    net.cuts = true;
    got_open(&g, rt, url);
    net_run(rt, &g);
    CHECK_EQ_INT(g.status, PHI_NETWORK);
    CHECK_EQ_STR(g.body, "half");
    CHECK(strlen(g.message) > 5);
    got_free(&g);
    net_finish(rt);
}

TEST(eight_megabytes_pass_through_a_small_buffer) {
    enum { BIG = 8 << 20 };
    char url[64];
    char *big = (char *)malloc(BIG);
    got g;
    phi_runtime *rt;
    size_t i;
    if (big == NULL) abort();
    for (i = 0; i < BIG; i++) big[i] = (char)(i * 31 + i / 777);
    rt = net_start("200 OK", big, BIG, url);
    if (rt == NULL) free(big);
    REQUIRE(rt != NULL);
    memset(&g, 0, sizeof g);
    got_open(&g, rt, url);
    net_run(rt, &g);
    CHECK_EQ_INT(g.len, BIG);
    CHECK(g.len == BIG && memcmp(g.body, big, BIG) == 0);
    CHECK(memory_of_test.peak_bytes < 400000);
    free(big);
    got_free(&g);
    net_finish(rt);
}

TEST_MAIN(TEST_ENTRY(a_request_is_sent_as_given_and_its_answer_comes_in_order),
          TEST_ENTRY(an_answer_may_come_byte_by_byte_and_be_taken_so),
          TEST_ENTRY(a_body_that_is_not_taken_holds_up_the_server_and_no_deadline_passes),
          TEST_ENTRY(a_step_takes_a_bounded_part_of_each_fetch),
          TEST_ENTRY(it_may_be_closed_in_each_of_its_callbacks_and_by_another_one),
          TEST_ENTRY(closing_before_the_answer_cancels_at_the_transport),
          TEST_ENTRY(a_fetch_that_opens_the_next_one_in_its_end_does_not_hold_the_step),
          TEST_ENTRY(each_deadline_ends_it_with_words), TEST_ENTRY(an_unlimited_silence_is_allowed),
          TEST_ENTRY(an_answer_that_is_too_large_ends_it),
          TEST_ENTRY(what_cannot_be_sent_is_refused_with_words),
          TEST_ENTRY(a_nul_in_a_header_is_refused),
          TEST_ENTRY(a_message_of_the_transport_shows_no_secret_of_the_request),
          TEST_ENTRY(closing_the_runtime_ends_them_and_freeing_it_does_at_once),
          TEST_ENTRY(a_tool_gives_its_result_in_the_end_of_its_fetch),
          TEST_ENTRY(an_abort_and_the_agents_end_close_the_fetch_of_its_tool),
          TEST_ENTRY(a_run_with_a_fetch_survives_every_failed_allocation),
          TEST_ENTRY(a_tape_has_the_result_of_the_tool_and_not_its_request),
          TEST_ENTRY(while_a_tape_is_played_a_fetch_is_refused_with_words),
          TEST_ENTRY(over_the_network_pieces_arrive_whole),
          TEST_ENTRY(a_redirect_is_an_answer_and_is_not_followed),
          TEST_ENTRY(an_answer_that_is_cut_is_no_whole_one),
          TEST_ENTRY(eight_megabytes_pass_through_a_small_buffer))
