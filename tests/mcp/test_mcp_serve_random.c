/* test_mcp_serve_random.c - our server over HTTP under whatever peers do, by chance: messages of both
   eras, whole, cut, changed and ahead of their answers; connections that are cut, half closed, reset
   and not read; sessions, streams, questions and states that are used again or by others; a host that
   answers late, never, or frees the server in a callback; memory that fails.

   Whatever happens, nothing is left behind and memory stays under its cap. PHI_SEEDS says how many
   worlds there are. */
#include "mcp/answers.h"
#include "mcp/mcp_serve.h"
#include "support/rig.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PEERS = 6, GOT = 16384, OUT = 196608, LONG = 140000, LEARNT = 4, HELD = 16 };

typedef struct peer {
    int fd; /* -1: not connected */
    bool deaf;
    char got[GOT + 1], out[OUT];
    size_t len, out_len;
} peer;

typedef struct world {
    uint32_t seed;
    rig *r;
    phi_mcp_server *server;
    uint16_t port;
    phi_tool tools[4];
    phi_mcp_serve_tool infos[4];
    phi_mcp_serve_resource resources[2];
    peer peers[PEERS];
    char sessions[LEARNT][40], events[LEARNT][40], states[LEARNT][160], tasks[LEARNT][160];
    phi_call calls[HELD];
    phi_mcp_incoming reads[HELD];
    uint32_t call_count, read_count;
    uint32_t frees_after; /* callbacks; 0: never */
    uint32_t answered, asked;
} world;

static uint32_t dice(world *w, uint32_t sides) { return test_random(&w->seed) % sides; }

/* ---- the host ---- */

static void host_called(world *w) {
    if (w->frees_after == 0 || --w->frees_after > 0) return;
    phi_mcp_server_free(w->server);
    w->server = NULL;
}

static phi_flow host_start(void *user_data, phi_call call, phi_str arguments) {
    world *w = (world *)user_data;
    (void)arguments;
    w->calls[w->call_count++ % HELD] = call;
    host_called(w);
    return PHI_PENDING;
}

static void host_cancel(void *user_data, phi_call call) {
    (void)call;
    host_called((world *)user_data);
}

static phi_flow host_big(void *user_data, phi_call call, phi_str arguments) {
    static char text[30000];
    (void)user_data;
    (void)arguments;
    memset(text, 'b', sizeof text);
    (void)phi_call_replyf(call, "%.*s", (int)sizeof text, text);
    return PHI_PENDING;
}

static void host_answered(void *user_data, phi_status status, const phi_json *result,
                          phi_str message) {
    world *w = (world *)user_data;
    (void)status;
    (void)result;
    (void)message;
    w->answered++;
    host_called(w);
}

static void host_asks(world *w, phi_call call) {
    phi_mcp_ask_desc ask;
    memset(&ask, 0, sizeof ask);
    ask.method = dice(w, 4) > 0 ? "elicitation/create" : "roots/list";
    ask.params = "{\"message\":\"?\"}";
    ask.done_fn = host_answered;
    ask.user_data = w;
    if (phi_mcp_ask(phi_mcp_incoming_of(call), &ask) == PHI_OK) w->asked++;
}

static phi_flow host_ask(void *user_data, phi_call call, phi_str arguments) {
    phi_flow flow = host_start(user_data, call, arguments);
    world *w = (world *)user_data;
    if (w->server != NULL) host_asks(w, call);
    return flow;
}

static void host_read(void *user_data, phi_mcp_incoming incoming, const char *uri) {
    world *w = (world *)user_data;
    (void)uri;
    w->reads[w->read_count++ % HELD] = incoming;
    host_called(w);
}

static phi_tool host_tool(world *w, const char *name,
                          phi_flow (*start)(void *, phi_call, phi_str)) {
    phi_tool tool;
    memset(&tool, 0, sizeof tool);
    tool.name = name;
    tool.start = start;
    tool.cancel = host_cancel;
    tool.user_data = w;
    return tool;
}

static void host_serve(world *w) {
    phi_mcp_server_desc desc;
    memset(&desc, 0, sizeof desc);
    w->tools[0] = rig_echo();
    w->tools[1] = host_tool(w, "wait", host_start);
    w->tools[2] = host_tool(w, "ask", host_ask);
    w->tools[3] = host_tool(w, "big", host_big);
    memset(w->resources, 0, sizeof w->resources);
    w->resources[0].uri = "a:text";
    w->resources[0].text = "text";
    w->resources[1].uri = "a:late";
    w->resources[1].read = host_read;
    w->resources[1].user_data = w;
    desc.name = "world";
    desc.http = true;
    desc.tools = w->tools;
    desc.tool_count = 4;
    memset(w->infos, 0, sizeof w->infos);
    w->infos[1].task = dice(w, 2) == 0;
    w->infos[2].task = dice(w, 2) == 0;
    desc.tool_infos = w->infos;
    desc.tasks = true;
    desc.task_ttl_ms = 50;
    desc.resources = w->resources;
    desc.resource_count = 2;
    desc.max_connections = 4;
    desc.max_sessions = 3;
    desc.max_calls = 6;
    desc.max_subscriptions = 2;
    desc.max_message_bytes = 150000;
    desc.max_queue_bytes = 65536;
    w->server = phi_mcp_serve(rig_runtime(w->r), &desc);
    w->port = phi_mcp_server_get_info(w->server).port;
}

static void host_acts(world *w) {
    phi_call call = w->calls[dice(w, HELD)];
    phi_mcp_incoming of = phi_mcp_incoming_of(call);
    phi_mcp_incoming read = w->reads[dice(w, HELD)];
    if (w->server == NULL) return;
    switch (dice(w, 10)) {
    case 0:
    case 1:
        (void)(dice(w, 4) == 0 ? phi_call_fail(call, "done") : phi_call_reply(call, "done"));
        break;
    case 2: (void)phi_call_progress(call, "half"); break;
    case 3: host_asks(w, call); break;
    case 4: phi_mcp_server_updated(w->server, "a:text"); break;
    case 5: (void)phi_mcp_server_log(w->server, NULL, "error", NULL, "words"); break;
    case 6: (void)serve_tools(w->server, w->tools, dice(w, 2) ? w->infos : NULL, 4); break;
    case 8: (void)phi_mcp_task(phi_mcp_incoming_of(call)); break;
    case 7:
        if (read.server == w->server) (void)answer_text(read, PHI__LIT("later"));
        break;
    default: (void)phi_mcp_server_log(w->server, &of, "error", NULL, "\"words\""); break;
    }
}

/* ---- peers ---- */

static void peer_close(peer *p, bool reset) {
    struct linger now;
    now.l_onoff = 1;
    now.l_linger = 0;
    if (p->fd < 0) return;
    if (reset) (void)setsockopt(p->fd, SOL_SOCKET, SO_LINGER, &now, (socklen_t)sizeof now);
    (void)close(p->fd);
    p->fd = -1;
    p->len = p->out_len = 0;
    p->got[0] = '\0';
}

static void peer_dial(world *w, peer *p) {
    struct sockaddr_in address;
    memset(&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(w->port);
    p->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    p->deaf = dice(w, 10) == 0;
    (void)connect(p->fd, (struct sockaddr *)&address, sizeof address);
}

/* The text behind `mark`, up to one of `ends`, into one of the places. */
static void peer_learns(world *w, const char *text, const char *mark, const char *ends, char *to,
                        size_t size) {
    const char *at = text, *next;
    size_t n;
    (void)w;
    while ((next = strstr(at, mark)) != NULL) at = next + strlen(mark);
    if (at == text) return;
    n = strcspn(at, ends);
    if (n == 0 || n >= size) return;
    memcpy(to, at, n);
    to[n] = '\0';
}

static void peer_hears(world *w, peer *p) {
    ssize_t n;
    if (p->fd < 0 || p->deaf) return;
    if (p->len >= GOT - 4096) p->len = 0;
    n = read(p->fd, p->got + p->len, GOT - p->len);
    if (n == 0) peer_close(p, false);
    if (n <= 0) return;
    p->len += (size_t)n;
    p->got[p->len] = '\0';
    peer_learns(w, p->got, "Mcp-Session-Id: ", "\r", w->sessions[dice(w, LEARNT)], 40);
    peer_learns(w, p->got, "\nid: ", "\n", w->events[dice(w, LEARNT)], 40);
    peer_learns(w, p->got, "\"requestState\":\"", "\"", w->states[dice(w, LEARNT)], 160);
    peer_learns(w, p->got, "\"taskId\":\"", "\"", w->tasks[dice(w, LEARNT)], 160);
}

#define META                                                                                       \
    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","                       \
    "\"io.modelcontextprotocol/clientCapabilities\":{\"elicitation\":{},\"roots\":{},"             \
    "\"extensions\":{\"io.modelcontextprotocol/tasks\":{}}},"                                      \
    "\"progressToken\":1}"

/* Messages of sessions alone. */
static void peer_session_body(world *w, uint32_t kind, unsigned id, const char *name, char *to,
                              size_t size) {
    static const char *const versions[] = {"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"};
    switch (kind) {
    case 6:
        (void)snprintf(to, size,
                       "{\"jsonrpc\":\"2.0\",\"id\":%u,\"method\":\"initialize\",\"params\":{"
                       "\"protocolVersion\":\"%s\",\"capabilities\":{\"elicitation\":{},"
                       "\"roots\":{}},\"clientInfo\":{\"name\":\"c\",\"version\":\"1\"}}}",
                       id, versions[dice(w, 4)]);
        break;
    case 7:
        (void)snprintf(to, size,
                       "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{"
                       "\"requestId\":%u}}",
                       id);
        break;
    case 8:
        (void)snprintf(to, size, "{\"jsonrpc\":\"2.0\",\"id\":%u,\"result\":{\"roots\":[]}}",
                       1 + dice(w, 2 + w->asked));
        break;
    default:
        (void)snprintf(to, size,
                       "[{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"},{\"jsonrpc\":\"2.0\","
                       "\"id\":%u,\"method\":\"tools/call\",\"params\":{\"name\":\"%s\"}},"
                       "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{"
                       "\"requestId\":%u}}]",
                       id, name, dice(w, 5));
        break;
    }
}

/* A request of the modern era, or a message of a session. */
static bool peer_body(world *w, char *to, size_t size, const char **method, const char **name) {
    static const char *const tools[] = {"echo", "wait", "ask", "big", "none"};
    static const char *const about[] = {"tasks/get", "tasks/update", "tasks/cancel"};
    bool modern = dice(w, 3) == 0;
    uint32_t kind = dice(w, modern ? 6 : 10);
    unsigned id = dice(w, 5);
    *name = tools[dice(w, 5)];
    *method = "tools/call";
    switch (kind) {
    default:
        (void)snprintf(to, size,
                       "{\"jsonrpc\":\"2.0\",\"id\":%u,\"method\":\"tools/call\",\"params\":{"
                       "\"name\":\"%s\",\"arguments\":{}%s}}",
                       id, *name, modern ? "," META : ",\"_meta\":{\"progressToken\":\"t\"}");
        break;
    case 1:
        *method = "resources/read";
        *name = dice(w, 2) ? "a:text" : "a:late";
        (void)snprintf(to, size,
                       "{\"jsonrpc\":\"2.0\",\"id\":%u,\"method\":\"resources/read\",\"params\":{"
                       "\"uri\":\"%s\"%s}}",
                       id, *name, modern ? "," META : "");
        break;
    case 2:
        *method = modern ? "subscriptions/listen" : "resources/subscribe";
        (void)snprintf(to, size,
                       "{\"jsonrpc\":\"2.0\",\"id\":%u,\"method\":\"%s\",\"params\":{\"uri\":"
                       "\"a:text\",\"notifications\":{\"toolsListChanged\":true,"
                       "\"resourceSubscriptions\":[\"a:text\"]}%s}}",
                       id, *method, modern ? "," META : "");
        break;
    case 3:
        *name = "ask";
        (void)snprintf(to, size,
                       "{\"jsonrpc\":\"2.0\",\"id\":%u,\"method\":\"tools/call\",\"params\":{"
                       "\"name\":\"ask\",\"arguments\":{},\"inputResponses\":{\"1\":{\"action\":"
                       "\"accept\"}},\"requestState\":\"%s\"%s}}",
                       id, w->states[dice(w, LEARNT)], modern ? "," META : "");
        break;
    case 5:
        *method = about[dice(w, 3)];
        *name = w->tasks[dice(w, LEARNT)];
        (void)snprintf(to, size,
                       "{\"jsonrpc\":\"2.0\",\"id\":%u,\"method\":\"%s\",\"params\":{\"taskId\":"
                       "\"%s\",\"inputResponses\":{\"task-1\":{},\"1\":{}}%s}}",
                       id, *method, *name, modern ? "," META : "");
        break;
    case 6:
    case 7:
    case 8:
    case 9: peer_session_body(w, kind, id, *name, to, size); break;
    }
    return modern;
}

static void peer_asks(world *w, peer *p) {
    static const char *const methods[] = {"GET", "DELETE", "HEAD", "OPTIONS"};
    char body[2048], text[4096], session[80] = "", event[80] = "";
    const char *method, *name;
    bool modern = peer_body(w, body, sizeof body, &method, &name);
    const char *known = w->sessions[dice(w, LEARNT)], *last = w->events[dice(w, LEARNT)];
    size_t len = strlen(body), n, i, more = dice(w, 60) == 0 ? LONG : 0; /* read in slices */
    if (!modern && known[0] != '\0' && dice(w, 12) > 0)
        (void)snprintf(session, sizeof session, "Mcp-Session-Id: %s\r\n", known);
    if (last[0] != '\0' && dice(w, 2) > 0)
        (void)snprintf(event, sizeof event, "Last-Event-ID: %s\r\n", last);
    if (!modern && dice(w, 4) == 0)
        (void)snprintf(text, sizeof text, "%s /mcp HTTP/1.1\r\nHost: localhost\r\n%s%s\r\n",
                       methods[dice(w, 5) % 4], session, event);
    else
        (void)snprintf(text, sizeof text,
                       "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                       "%s%s%s%s%s%s%sContent-Length: %u\r\n\r\n%s",
                       session, modern ? "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: " : "",
                       modern ? method : "", modern ? "\r\nMcp-Name: " : "", modern ? name : "",
                       modern ? "\r\n" : "", dice(w, 10) == 0 ? "Expect: 100-continue\r\n" : "",
                       (unsigned)(len + more + (dice(w, 16) == 0 ? dice(w, 5000) : 0)), body);
    n = strlen(text);
    for (i = dice(w, 10) == 0 ? 1 + dice(w, 3) : 0; i > 0; i--)
        text[dice(w, (uint32_t)n)] = (char)dice(w, 256);
    if (p->out_len + n + more > sizeof p->out) return;
    memcpy(p->out + p->out_len, text, n);
    memset(p->out + p->out_len + n, ' ', more);
    p->out_len += n + (memcmp(text, "POST", 4) == 0 ? more : 0);
}

static void peer_sends(world *w, peer *p) {
    size_t n = dice(w, 3) == 0 ? phi__min(p->out_len, 1 + dice(w, 300)) : p->out_len;
    ssize_t sent = p->fd >= 0 && n > 0 ? send(p->fd, p->out, n, MSG_NOSIGNAL) : -1;
    if (sent <= 0) return;
    memmove(p->out, p->out + sent, p->out_len - (size_t)sent);
    p->out_len -= (size_t)sent;
}

static void peer_acts(world *w, peer *p) {
    if (p->fd < 0) peer_dial(w, p);
    switch (dice(w, 14)) {
    case 0: peer_close(p, false); break;
    case 1: peer_close(p, true); break;
    case 2: (void)shutdown(p->fd, SHUT_WR); break;
    case 3: p->deaf = !p->deaf; break;
    case 4:
    case 5: break;
    default: peer_asks(w, p); break;
    }
    peer_sends(w, p);
}

/* ---- worlds ---- */

static void turn(world *w) {
    static const uint32_t spans[] = {1, 100, 1000, 16000, 61000, 700000};
    int i;
    peer_acts(w, &w->peers[dice(w, PEERS)]);
    if (dice(w, 3) == 0) host_acts(w);
    if (dice(w, 12) == 0) rig_pass_ms(w->r, spans[dice(w, 6)]);
    for (i = (int)dice(w, 4); i >= 0; i--) (void)phi_step(rig_runtime(w->r), 0);
    for (i = 0; i < PEERS; i++) peer_hears(w, &w->peers[i]);
}

static void run(uint32_t seed, bool failing) {
    world *w = (world *)calloc(1, sizeof *w);
    int i;
    if (w == NULL) abort();
    w->seed = seed * 2654435761u + 1;
    for (i = 0; i < PEERS; i++) w->peers[i].fd = -1;
    w->r = rig_new();
    rig_silent(w->r, true);
    host_serve(w);
    REQUIRE(w->server != NULL);
    if (dice(w, 2) == 0) w->frees_after = 1 + dice(w, 12);
    if (failing) test_alloc_fail_some(seed, 60);
    for (i = 0; i < 150 && w->server != NULL; i++) {
        turn(w);
        if (!CHECK(test_alloc_live_bytes() < 3000000)) break;
    }
    test_alloc_fail_at(-1);
    phi_mcp_server_free(w->server);
    for (i = 0; i < PEERS; i++) peer_close(&w->peers[i], false);
    rig_free(w->r);
    CHECK_EQ_INT(test_alloc_live_bytes(), 0);
    free(w);
}

static uint32_t seeds(void) {
    const char *text = getenv("PHI_SEEDS");
    return text != NULL ? (uint32_t)strtoul(text, NULL, 10) : 100;
}

static void worlds(bool failing) {
    const char *first = getenv("PHI_FIRST_SEED");
    uint32_t seed = first != NULL ? (uint32_t)strtoul(first, NULL, 10) : 1, most = seed + seeds();
    for (; seed < most; seed++) {
        int before = test_failures();
        run(seed, failing);
        if (test_failures() == before) continue;
        printf("seed %u\n", (unsigned)seed);
        return;
    }
}

TEST(whatever_peers_do_nothing_is_left_behind) { worlds(false); }
TEST(whatever_peers_do_without_memory_nothing_is_left_behind) { worlds(true); }

TEST_MAIN(TEST_ENTRY(whatever_peers_do_nothing_is_left_behind),
          TEST_ENTRY(whatever_peers_do_without_memory_nothing_is_left_behind))
