/* test_http.c - a server that attacks the pump itself, below the protocols: raw bytes over
   loopback to a real runtime, as its host would see them. */
#include "e2e/errors_page.h"
#include "io/loopback.h"
#include "support/rig.h"
#include "loop/events.h"
#include "codecs/presets.h"
#include "model/model.h"
#include "loop/loop_in.h"

#include <poll.h>

/* ---- a server of raw bytes, and a run that meets it ---- */
static struct {
    loopback server;
    const char *start;      /* sent once */
    const char *again;      /* then this, for ever; NULL: nothing, and it closes */
    size_t again_len, most; /* most: bytes of `again` in all */
} raw;

static void raw_answer(loopback *server, loopback_connection *c) {
    (void)server;
    loopback_text(c, raw.start);
    c->close_after = raw.again == NULL;
}

static void raw_more(void) {
    loopback_connection *c = &raw.server.connections[0];
    while (raw.again != NULL && c->fd >= 0 && c->requests > 0 && c->out_len < 65536 &&
           raw.most >= raw.again_len) {
        loopback_send(c, raw.again, raw.again_len);
        raw.most -= raw.again_len;
    }
}

typedef struct met {
    seen seen;
    size_t peak_bytes;
    bool ended;
    char text[200]; /* of the answer that stands in the history */
} met;

static void met_hear(met *m, phi_runtime *rt) {
    phi_event ev;
    while (phi_next_event(rt, &ev)) {
        if (ev.kind == PHI_EV_ERROR) {
            m->seen.failure = *ev.failure;
            m->seen.error_status = ev.status;
            (void)snprintf(m->seen.failure_text, sizeof m->seen.failure_text, "%.*s",
                           (int)ev.text.len, ev.text.at);
        }
        if (ev.kind == PHI_EV_MESSAGE_END && ev.message->role == PHI_ROLE_ASSISTANT &&
            ev.message->content_count > 0)
            (void)snprintf(m->text, sizeof m->text, "%.*s", (int)ev.message->content[0].text.len,
                           ev.message->content[0].text.at);
        if (ev.kind != PHI_EV_AGENT_END) continue;
        m->seen.status = ev.status;
        m->ended = true;
    }
}

static bool meet(met *m) {
    phi_runtime_desc rd;
    phi_agent_desc desc;
    phi_runtime *rt;
    phi_agent agent;
    char url[64];
    uint64_t steps = 0;
    memset(m, 0, sizeof *m);
    memset(&rd, 0, sizeof rd);
    memset(&desc, 0, sizeof desc);
    if (!CHECK(loopback_open(&raw.server, raw_answer))) return false;
    (void)snprintf(url, sizeof url, "http://127.0.0.1:%d", raw.server.port);
    rd.allocator = test_allocator();
    rd.memory_limit_bytes = 4 << 20;
    rt = phi_runtime_new(&rd);
    desc.model = phi_model_anthropic("claude-x", "key");
    desc.model.base_url = url;
    desc.retry.disable = true;
    agent = phi_agent_new(rt, &desc);
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    while (!m->ended && steps++ < 200000) {
        (void)phi_step(rt, 0);
        met_hear(m, rt);
        loopback_step(&raw.server);
        raw_more();
    }
    (void)phi_memory_used(rt, &m->peak_bytes);
    phi_runtime_free(rt);
    loopback_close(&raw.server);
    return CHECK(m->ended);
}

static void attack(const char *start, const char *again, size_t again_len, size_t most) {
    raw.start = start;
    raw.again = again;
    raw.again_len = again_len;
    raw.most = most;
}

/* Long lines: libcurl 8.22 reads 5,000 lines of any length. */
#define MORE                                                                                       \
    "X-More: and more and more and more and more and more and more and more and more and more "    \
    "and more\r\n"
#define EVENTS "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"

/* ---- what is refused ---- */

/* Empty stored blocks of deflate: 5 bytes each, and a thousandth of it when packed once more. */
TEST(a_coding_that_nobody_asked_for_is_refused_before_it_is_undone) {
    met m;
    attack(EVENTS "Transfer-Encoding: gzip, gzip, gzip\r\n\r\n"
                  "\037\213\010",
           "\0\0\0\0\0\0\377\0\0\0\377\377\0\0\0\377\377\0\0\0\377\377", 22, 300000);
    if (!meet(&m)) return;
    (void)errors_page_failure("a_coding_that_nobody_asked_for_is_refused_before_it_is_undone",
                              &m.seen);
    CHECK(m.peak_bytes < 400000);
}

TEST(header_lines_without_end_are_refused) {
    met m;
    attack(EVENTS, MORE, sizeof MORE - 1, 1 << 20);
    if (!meet(&m)) return;
    (void)errors_page_failure("header_lines_without_end_are_refused", &m.seen);
    CHECK(m.peak_bytes < 400000);
}

TEST(interim_answers_without_end_are_refused) {
    static const char hint[] = "HTTP/1.1 103 Early Hints\r\n" MORE "\r\n";
    met m;
    attack("HTTP/1.1 100 Continue\r\n\r\n", hint, sizeof hint - 1, 1 << 20);
    if (!meet(&m)) return;
    (void)errors_page_failure("header_lines_without_end_are_refused", &m.seen);
}

TEST(trailers_without_end_are_refused) {
    met m;
    attack(EVENTS "Transfer-Encoding: chunked\r\n\r\n0\r\n", MORE, sizeof MORE - 1, 1 << 20);
    if (!meet(&m)) return;
    (void)errors_page_failure("trailers_without_end_are_refused", &m.seen);
    CHECK(m.peak_bytes < 400000);
}

TEST(a_header_line_without_end_is_refused) {
    met m;
    attack(EVENTS "X-Long: ", "and more and more and more ", 27, 1 << 20);
    if (!meet(&m)) return;
    (void)errors_page_failure("a_header_line_without_end_is_refused", &m.seen);
}

/* ---- what is not ---- */

static char whole[4000];

TEST(an_answer_whose_trailers_have_no_end_is_whole_all_the_same) {
    const char *stream =
        "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":"
        "\"m\",\"role\":\"assistant\",\"content\":[],\"model\":\"x\",\"usage\":"
        "{\"input_tokens\":1,\"output_tokens\":1}}}\n\n"
        "event: content_block_start\ndata: {\"type\":\"content_block_start\","
        "\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n"
        "event: content_block_delta\ndata: {\"type\":\"content_block_delta\","
        "\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"hello\"}}\n\n"
        "event: content_block_stop\ndata: {\"type\":\"content_block_stop\","
        "\"index\":0}\n\n"
        "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":"
        "{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":2}}\n\n"
        "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";
    met m;
    (void)snprintf(whole, sizeof whole,
                   EVENTS "Transfer-Encoding: identity, chunked\r\n\r\n%x\r\n%s\r\n0\r\n",
                   (unsigned)strlen(stream), stream);
    attack(whole, MORE, sizeof MORE - 1, 1 << 20);
    if (!meet(&m)) return;
    CHECK_EQ_INT(m.seen.status, PHI_OK);
    CHECK_EQ_STR(m.text, "hello");
}

/* ---- an event loop of the host's ---- */

static struct pollfd watched[32];
static size_t watched_count;

static void watch(void *user_data, intptr_t fd, int want) {
    size_t i = 0;
    (void)user_data;
    while (i < watched_count && watched[i].fd != (int)fd) i++;
    if (want == 0) {
        if (i < watched_count) watched[i] = watched[--watched_count];
        return;
    }
    REQUIRE(i < PHI__COUNT(watched));
    watched[i].fd = (int)fd;
    watched[i].events = (short)(((want & PHI_WATCH_READ) != 0 ? POLLIN : 0) |
                                ((want & PHI_WATCH_WRITE) != 0 ? POLLOUT : 0));
    if (i == watched_count) watched_count++;
}

/* Sleeps as the host would, and says what is ready. */
static void watch_once(phi_runtime *rt) {
    struct pollfd ready[PHI__COUNT(watched)];
    size_t count = watched_count, i;
    int timeout = phi_next_timeout(rt);
    memcpy(ready, watched, count * sizeof *ready);
    if (poll(ready, count, timeout < 0 || timeout > 2 ? 2 : timeout) <= 0) return;
    for (i = 0; i < count; i++)
        if (ready[i].revents != 0)
            phi_ready(rt, ready[i].fd,
                      ((ready[i].revents & ~POLLOUT) != 0 ? PHI_WATCH_READ : 0) |
                          ((ready[i].revents & POLLOUT) != 0 ? PHI_WATCH_WRITE : 0));
}

TEST(a_host_s_own_event_loop_brings_a_run_to_its_end) {
    static char answer[4000];
    met m;
    phi_runtime_desc rd;
    phi_agent_desc desc;
    phi_runtime *rt;
    char url[64];
    int steps = 0;
    (void)snprintf(answer, sizeof answer, EVENTS "\r\n%s", rig_stream_of("Here."));
    attack(answer, NULL, 0, 0);
    memset(&m, 0, sizeof m);
    memset(&rd, 0, sizeof rd);
    memset(&desc, 0, sizeof desc);
    REQUIRE(loopback_open(&raw.server, raw_answer));
    (void)snprintf(url, sizeof url, "http://127.0.0.1:%d", raw.server.port);
    watched_count = 0;
    rd.allocator = test_allocator();
    rd.watch_fn = watch;
    rt = phi_runtime_new(&rd);
    CHECK_EQ_INT(phi_runtime_fd(rt), -1);
    desc.model = phi_model_anthropic("claude-x", "key");
    desc.model.base_url = url;
    desc.retry.disable = true;
    CHECK_EQ_INT(phi_prompt(phi_agent_new(rt, &desc), "go"), PHI_OK);
    while (!m.ended && steps++ < 1500) {
        (void)phi_step(rt, 0);
        met_hear(&m, rt);
        loopback_step(&raw.server);
        watch_once(rt);
    }
    CHECK(m.ended);
    CHECK_EQ_INT(m.seen.status, PHI_OK);
    CHECK_EQ_STR(m.text, "Here.");
    phi_runtime_free(rt);
    CHECK_EQ_INT(watched_count, 0); /* all were given back */
    loopback_close(&raw.server);
}

TEST_MAIN(TEST_ENTRY(a_coding_that_nobody_asked_for_is_refused_before_it_is_undone),
          TEST_ENTRY(header_lines_without_end_are_refused),
          TEST_ENTRY(interim_answers_without_end_are_refused),
          TEST_ENTRY(trailers_without_end_are_refused),
          TEST_ENTRY(a_header_line_without_end_is_refused),
          TEST_ENTRY(an_answer_whose_trailers_have_no_end_is_whole_all_the_same),
          TEST_ENTRY(a_host_s_own_event_loop_brings_a_run_to_its_end))
