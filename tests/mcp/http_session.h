/* http_session.h - a session and an authorization that only take notes, for tests of the link over
   HTTP; the transport is scripted (support/wires.h). What is noted is compared as text. */
#ifndef PHI_TESTS_MCP_HTTP_SESSION_H
#define PHI_TESTS_MCP_HTTP_SESSION_H

#include "io/io_in.h"
#include "loop/loop_in.h"
#include "mcp/mcp_oauth_in.h"
#include "mcp/mcp_requests_in.h"
#include "mcp/mcp_rpc_in.h"
#include "mcp/mcp_in.h"
#include "support/wires.h"

#include <stdarg.h>

enum { SESSION_OUTS = 32 };

typedef struct session_fake {
    phi_mcp mcp; /* its rt, memory, desc and link alone; first */
    phi__out outs[SESSION_OUTS];
    char ids[SESSION_OUTS][8];
    size_t out_count;
    char notes[16384];
    size_t len;
    size_t messages, message_bytes;
    bool quiet;      /* messages are counted alone */
    int frees_after; /* callbacks, then the link is freed inside of one; 0: never */
    bool gone;
    bool closes_inside; /* a message closes the connection */
    /* of the authorization */
    phi__oauth_listener listener;
    phi_status header, challenge; /* what they answer */
    char token[40];
    int challenges, proofs;
    phi_status proof; /* of a token "DPoP ..." */
} session_fake;

static session_fake *session_now;                /* for the fake authorization */
static const phi_runtime_desc *session_settings; /* NULL: defaults */

static inline void session_note(session_fake *m, const char *format, ...) PHI_PRINTF(2, 3);
static inline void session_note(session_fake *m, const char *format, ...) {
    va_list args;
    int n;
    va_start(args, format);
    n = vsnprintf(m->notes + m->len, sizeof m->notes - m->len, format, args);
    va_end(args);
    if (n > 0) m->len += phi__min((size_t)n, sizeof m->notes - m->len - 1);
}

static inline const char *session_id(session_fake *m, const phi__out *out) {
    return out == NULL ? "-" : m->ids[out - m->outs];
}

static inline bool session_stays(session_fake *m) {
    if (m->gone) return false;
    if (m->frees_after == 0 || --m->frees_after > 0) return true;
    m->gone = true;
    m->mcp.link->table->free(m->mcp.link);
    m->mcp.link = NULL;
    return false;
}

/* ---- what the link calls ---- */

static inline session_fake *session_of(phi_mcp *mcp) { return (session_fake *)(void *)mcp; }

void phi__mcp_up(phi_mcp *mcp) { session_note(session_of(mcp), "up\n"); }
void phi__mcp_drained(phi_mcp *mcp) { session_note(session_of(mcp), "drained\n"); }
void phi__mcp_wait(phi_mcp *mcp, bool waits) { session_note(session_of(mcp), "wait %d\n", waits); }

bool phi__mcp_message(phi_mcp *mcp, phi_str json, phi__out *from) {
    session_fake *m = session_of(mcp);
    CHECK(!m->gone);
    m->messages++;
    m->message_bytes += json.len;
    if (!m->quiet)
        session_note(m, "message %s %.*s\n", session_id(m, from), (int)json.len, json.at);
    /* an answer, as these tests write them */
    if (from != NULL && phi__str_find(json, 0, "\"result\"") != SIZE_MAX && from->of_link != NULL) {
        m->mcp.link->table->forget(m->mcp.link, from);
        CHECK(from->of_link == NULL);
    }
    if (m->closes_inside) m->mcp.link->table->close(m->mcp.link);
    return session_stays(m);
}

bool phi__mcp_lost(phi_mcp *mcp, phi__out *out, phi_status status, int http_status, phi_str body,
                   const char *message) {
    session_fake *m = session_of(mcp);
    CHECK(!m->gone);
    CHECK(out->of_link == NULL);
    session_note(m, "lost %s %d %d %s [%.*s]\n", session_id(m, out), (int)status, http_status,
                 message, (int)body.len, body.len > 0 ? body.at : "");
    return session_stays(m);
}

bool phi__mcp_down(phi_mcp *mcp, phi_status status, bool fatal, const char *message) {
    session_fake *m = session_of(mcp);
    session_note(m, "down %d %d %s\n", (int)status, fatal, message);
    return session_stays(m);
}

bool phi__mcp_expired(phi_mcp *mcp, phi__out *out) {
    session_fake *m = session_of(mcp);
    session_note(m, "expired %s\n", session_id(m, out));
    if (out != NULL) CHECK(out->of_link == NULL);
    return session_stays(m);
}

bool phi__mcp_warn(phi_mcp *mcp, const char *message) {
    session_fake *m = session_of(mcp);
    session_note(m, "warn %s\n", message);
    return session_stays(m);
}

/* ---- an authorization ---- */

phi_status phi__oauth_new(phi_runtime *rt, phi_memory *memory, const phi_mcp_oauth_desc *desc,
                          phi_str url, const char *client_name, const phi__oauth_listener *listener,
                          phi__oauth **out) {
    (void)rt;
    (void)memory;
    (void)desc;
    (void)url;
    (void)client_name;
    session_now->listener = *listener;
    *out = (phi__oauth *)(void *)session_now;
    return PHI_OK;
}

void phi__oauth_free(phi__oauth *oauth) { (void)oauth; }

phi_status phi__oauth_header(phi__oauth *oauth, phi_str *value) {
    session_fake *m = (session_fake *)(void *)oauth;
    *value = phi_str_of(m->token);
    return m->header;
}

phi_status phi__oauth_proof(phi__oauth *oauth, const char *method, phi_str url, phi__buf *out) {
    session_fake *m = (session_fake *)(void *)oauth;
    char text[200];
    if (!phi__str_starts(phi_str_of(m->token), "DPoP ")) return PHI_OK;
    if (m->proof != PHI_OK) return phi__error(m->mcp.rt, m->proof, "the key is away");
    (void)snprintf(text, sizeof text, "%d %s %.*s", ++m->proofs, method, (int)url.len, url.at);
    phi__buf_text(out, text);
    return PHI_OK;
}

void phi__oauth_heard(phi__oauth *oauth, phi_str headers) {
    session_fake *m = (session_fake *)(void *)oauth;
    if (phi__str_find(headers, 0, "DPoP-Nonce") != SIZE_MAX) session_note(m, "nonce\n");
}

phi_status phi__oauth_challenge(phi__oauth *oauth, int http_status, phi_str headers, phi_str sent) {
    session_fake *m = (session_fake *)(void *)oauth;
    session_note(m, "challenge %d %.*s sent \"%.*s\"\n", http_status,
                 (int)phi__min(headers.len, 30), headers.at, (int)sent.len,
                 sent.len > 0 ? sent.at : "");
    m->challenges++;
    if (m->challenge != PHI_OK && m->challenge != PHI_BUSY)
        return phi__error(m->mcp.rt, m->challenge, "the person said no");
    return m->challenge;
}

/* ---- a session over wires ---- */

static inline void session_open(session_fake *m, wires *w) {
    phi_allocator allocator = test_allocator();
    phi_mcp_desc desc = m->mcp.desc;
    memset(m, 0, sizeof *m);
    m->mcp.desc = desc;
    session_now = m;
    wires_init(w);
    m->mcp.rt = wires_runtime(w, session_settings);
    REQUIRE(CHECK(m->mcp.rt != NULL));
    phi_memory_init(&m->mcp.memory, &allocator, 0);
    if (m->mcp.desc.url == NULL) m->mcp.desc.url = "http://h:1/mcp";
    if (m->mcp.desc.max_message_bytes == 0) m->mcp.desc.max_message_bytes = 100000;
    m->mcp.desc.timeout_ms = 30000;
    m->mcp.desc.close_ms = 2000;
    m->header = PHI_NOT_FOUND;
}

static inline void session_step(session_fake *m, int times) {
    while (times-- > 0) (void)phi_step(m->mcp.rt, 0);
}

/* Time passes, without a gap, and what is due is done. */
static inline void session_later(session_fake *m, wires *w, uint64_t ms) {
    for (; ms > 1000; ms -= 1000) {
        w->now_us += 1000000;
        session_step(m, 1);
    }
    w->now_us += ms * 1000;
    session_step(m, 3);
}

static inline void session_begin(session_fake *m, wires *w) {
    session_open(m, w);
    CHECK_EQ_INT(phi__mhttp_new(&m->mcp, &m->mcp.link), PHI_OK);
    CHECK_EQ_INT(m->mcp.link->table->open(m->mcp.link), PHI_OK);
    session_step(m, 2);
}

static inline void session_end(session_fake *m, wires *w) {
    phi_mcp_desc none = PHI_ZERO;
    if (m->mcp.link != NULL) m->mcp.link->table->free(m->mcp.link);
    phi_runtime_free(m->mcp.rt);
    wires_free(w);
    CHECK_EQ_INT(test_alloc_live_bytes(), 0);
    m->mcp.desc = none;
}

/* The next of outs, with an id of its own. */
static inline phi__out *session_out(session_fake *m, const char *method, const char *json) {
    phi__out *out = &m->outs[m->out_count];
    (void)snprintf(m->ids[m->out_count], sizeof m->ids[0], "#%u", (unsigned)m->out_count + 1);
    if (!CHECK(++m->out_count <= SESSION_OUTS)) abort();
    memset(out, 0, sizeof *out);
    out->method = phi_str_of(method);
    out->json = phi_str_of(json);
    out->request = true;
    return out;
}

static inline phi__out *session_send(session_fake *m, const char *method, const char *json) {
    phi__out *out = session_out(m, method, json);
    CHECK_EQ_INT(m->mcp.link->table->send(m->mcp.link, out), PHI_OK);
    session_step(m, 1);
    return out;
}

static inline void session_tell(session_fake *m, const char *method, const char *json) {
    phi__out *out = session_out(m, method, json);
    out->request = false;
    CHECK_EQ_INT(m->mcp.link->table->send(m->mcp.link, out), PHI_OK);
    CHECK(out->of_link == NULL);
    session_step(m, 1);
}

static inline void session_check(session_fake *m, const char *want) {
    CHECK_EQ_STR(m->notes, want);
    m->len = 0;
    m->notes[0] = '\0';
}

/* Answers the request that was sent last. */
static inline void session_reply(session_fake *m, wires *w, int status, const char *headers,
                                 const char *body) {
    wires_reply(w, w->count - 1, status, headers, body);
    session_step(m, 3 + (int)(strlen(body) / 20000));
}

#define SESSION_JSON "Content-Type: application/json\r\n"
#define SESSION_SSE "Content-Type: text/event-stream\r\n"
#define SESSION_ANSWER "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}"

#endif
