/* test_mcp_http_random.c - the link over HTTP, with a server, an authorization and a session that do
   anything, at random, with failing allocations: each request is answered or lost once, streams are
   not opened without a pause, and nothing is left behind. PHI_SEEDS says how many runs, PHI_SEED picks one. */
#include "mcp/http_session.h"

#include <stdlib.h>

enum { MOVES = 200 };

static wires w;
static session_fake m;
static uint32_t seed_now;
static phi_mcp_oauth_desc oauth;

static uint32_t dice(uint32_t sides) { return test_random(&seed_now) % sides; }

/* ---- the server ---- */

static void serve_some(wires *unused, size_t i) {
    static const int codes[] = {200, 200, 200, 200, 202, 204, 301, 307, 308,
                                400, 401, 401, 403, 404, 405, 429, 500, 503};
    static const char *const heads[] = {SESSION_JSON,
                                        SESSION_SSE,
                                        SESSION_SSE,
                                        SESSION_JSON "Mcp-Session-Id: s-2\r\n",
                                        "Location: /mcp/there\r\n" SESSION_JSON,
                                        "Location: https://evil.example/\r\n",
                                        "Content-Type: text/html\r\n",
                                        ""};
    static const char *const bodies[] = {
        SESSION_ANSWER,
        "",
        "data: " SESSION_ANSWER "\n\n",
        "id: 1\nretry: 0\ndata: {\"a\":1}\n\n",
        "id: 2\nretry: 99999999999\ndata:\n\nid: 3\ndata: {\"b",
        "event: endpoint\ndata: /mcp/old\n\n",
        "event: endpoint\ndata: http://evil.example/\n\ndata: {}\n\n",
        "{\"error\":{\"code\":-32020,\"message\":\"no token-000001\"}}",
        ": comment\n\nid: \xff\x01\n\ndata: " SESSION_ANSWER "\nid: 9\n\n"};
    (void)unused;
    switch (dice(10)) {
    case 0: wires_end(&w, i, PHI_NETWORK, "broken"); break;
    case 1: break; /* never */
    case 2:        /* cut, or open for ever */
        wires_head(&w, i, 200, SESSION_SSE);
        (void)wires_push(&w, i, bodies[3], dice((uint32_t)strlen(bodies[3])) + 1);
        if (dice(2) == 0) wires_end(&w, i, PHI_NETWORK, "cut");
        break;
    case 3:
    case 4: wires_reply(&w, i, 200, SESSION_JSON, SESSION_ANSWER); break;
    case 5:
    case 6: /* resumed, perhaps, and answered then */
        wires_reply(&w, i, 200, SESSION_SSE, bodies[2 + dice(3)]);
        break;
    default:
        wires_reply(&w, i, codes[dice(PHI__COUNT(codes))], heads[dice(PHI__COUNT(heads))],
                    bodies[dice(PHI__COUNT(bodies))]);
    }
}

/* ---- the session ---- */

static void change(void) {
    static const phi_status says[] = {PHI_OK, PHI_BUSY, PHI_BUSY, PHI_NOT_FOUND, PHI_REFUSED};
    static const char *const eras[] = {"2025-11-25", "2025-06-18", "2024-11-05", "2026-07-28"};
    static const phi_status ends[] = {PHI_OK, PHI_OK, PHI_DENIED, PHI_NETWORK, PHI_TIMEOUT};
    const phi__mcp_link_table *table = m.mcp.link->table;
    phi__out *out;
    size_t i;
    uint32_t move = dice(16);
    m.len = 0;
    for (i = 0; i < m.out_count && m.outs[i].of_link == NULL;) i++;
    if (i == m.out_count) m.out_count = 0; /* all have ended */
    m.header = says[dice(PHI__COUNT(says))];
    m.challenge = says[dice(PHI__COUNT(says))];
    (void)snprintf(m.token, sizeof m.token, "Bearer token-00000%u", (unsigned)dice(9));
    switch (move) {
    case 0:
    case 1:
    case 2: /* a request */
        if (m.out_count + 1 >= SESSION_OUTS) break;
        out = session_out(&m, dice(3) == 0 ? "initialize" : "tools/call", "{\"id\":1}");
        out->stream = dice(5) == 0;
        (void)table->send(m.mcp.link, out);
        break;
    case 3: /* a notification */
        if (m.out_count + 1 >= SESSION_OUTS) break;
        out = session_out(&m, dice(2) == 0 ? "notifications/initialized" : "", "{}");
        out->request = false;
        (void)table->send(m.mcp.link, out);
        CHECK(out->of_link == NULL);
        break;
    case 4:
        i = dice(SESSION_OUTS);
        if (i < m.out_count && m.outs[i].of_link != NULL) table->forget(m.mcp.link, &m.outs[i]);
        break;
    case 5: table->listen(m.mcp.link); break;
    case 6:
        i = dice(PHI__COUNT(eras));
        table->agreed(m.mcp.link, dice(8) == 0 ? NULL : eras[i], i == 3);
        break;
    case 7:
        if (dice(20) == 0) table->close(m.mcp.link);
        break;
    case 8:
        if (dice(6) > 0) break;
        for (i = 0; i < m.out_count; i++) /* as the session does before it opens again */
            if (m.outs[i].of_link != NULL) table->forget(m.mcp.link, &m.outs[i]);
        if (dice(3) == 0) (void)table->open(m.mcp.link);
        break;
    case 9:
        if (m.mcp.desc.oauth == NULL) break;
        m.listener.changed(m.listener.ctx, ends[dice(PHI__COUNT(ends))], "no");
        break;
    case 10: session_later(&m, &w, dice(4) == 0 ? 40000 : dice(3000)); break;
    case 11:
        if (dice(10) == 0) test_alloc_fail_at((int)dice(60));
        break;
    case 12: m.closes_inside = dice(16) == 0; break;
    case 13:
        if (dice(20) == 0) m.frees_after = 1 + (int)dice(3);
        break;
    default: session_step(&m, 1 + (int)dice(5));
    }
}

static void play(uint32_t seed) {
    int i;
    memset(&m, 0, sizeof m);
    seed_now = seed;
    memset(&oauth, 0, sizeof oauth);
    if (dice(2) == 0) m.mcp.desc.oauth = &oauth;
    session_open(&m, &w);
    w.answer = serve_some;
    CHECK_EQ_INT(phi__mhttp_new(&m.mcp, &m.mcp.link), PHI_OK);
    CHECK_EQ_INT(m.mcp.link->table->open(m.mcp.link), PHI_OK);
    for (i = 0; i < MOVES && !m.gone && w.count < WIRES_MOST - 12; i++) change();
    test_alloc_fail_at(-1);
    m.len = 0;
    session_end(&m, &w);
}

TEST(a_link_survives_everything) {
    const char *chosen = getenv("PHI_SEED"), *more = getenv("PHI_SEEDS");
    uint32_t seed, count = more != NULL ? (uint32_t)atoi(more) : 300;
    if (chosen != NULL) {
        play((uint32_t)atoi(chosen));
        return;
    }
    for (seed = 1; seed <= count && test_failures() == 0; seed++) {
        play(seed);
        if (test_failures() > 0) printf("    PHI_SEED=%u\n", (unsigned)seed);
    }
}

TEST_MAIN(TEST_ENTRY(a_link_survives_everything))
