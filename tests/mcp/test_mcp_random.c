/* A connection and a server that does anything, at random: each request that was taken ends once, or
   was cancelled, or went with its connection; nothing is left behind. PHI_SEEDS: how many runs. */
#include "mcp/link.h"

enum { ASKS = 256, STEPS = 150 };

typedef struct asked {
    struct world *w;
    uint64_t id;
    int ends;
    bool taken, cancelled, dropped;
} asked;

typedef struct world {
    link_kit k;
    uint32_t seed;
    asked asks[ASKS];
    size_t count;
    uint64_t part_asks[64];
    size_t part_count;
    bool depth; /* a callback may do something */
} world;

static world *world_current;

static uint32_t dice(world *w, uint32_t sides) { return test_random(&w->seed) % sides; }

static void act(world *w);

static void drop(world *w) {
    size_t i;
    if (w->k.mcp == NULL) return;
    phi_mcp_free(w->k.mcp);
    w->k.mcp = NULL;
    for (i = 0; i < w->count; i++)
        if (w->asks[i].ends == 0) w->asks[i].dropped = true;
}

/* What a host does inside of a callback. */
static void inside(world *w) {
    if (w->depth || w->k.mcp == NULL) return;
    w->depth = true;
    if (dice(w, 40) == 0)
        drop(w);
    else if (dice(w, 30) == 0)
        phi_mcp_close(w->k.mcp);
    else if (dice(w, 4) == 0)
        act(w);
    w->depth = false;
}

static void on_done(void *user_data, const phi_mcp_reply *reply) {
    asked *a = (asked *)user_data;
    a->ends++;
    CHECK(!a->cancelled);
    CHECK(!a->dropped);
    CHECK((reply->status == PHI_OK) == (reply->result != NULL));
    inside(a->w);
}

static void on_progress(void *user_data, double progress, double total, phi_str message) {
    asked *a = (asked *)user_data;
    (void)progress;
    (void)total;
    (void)message;
    CHECK_EQ_INT(a->ends, 0);
}

static void on_event(void *user_data, const phi_mcp_event *e) {
    (void)e;
    inside((world *)user_data);
}

static bool part_asked(phi_mcp *mcp, void *part, phi_str method, const phi_json *params,
                       phi_call call, phi_agent agent, uint64_t ask) {
    world *w = (world *)part;
    (void)params;
    (void)call;
    (void)agent;
    if (!phi__str_is(method, "x")) return false;
    if (dice(w, 2) == 0)
        phi__mcp_answer(mcp, ask, phi_str_of("{}"), (int)dice(w, 3) - 1, "no");
    else
        w->part_asks[w->part_count++ % 64] = ask;
    return true;
}

static phi_status part_join(phi_mcp *mcp) {
    static const phi__mcp_part table = {NULL, NULL, NULL, part_asked, NULL, NULL, NULL, NULL};
    phi__mcp_join(mcp, &table, world_current);
    return PHI_OK;
}

static void send(world *w) {
    static const char *const methods[] = {"tools/call", "prompts/get", "tools/list", "a"};
    phi_mcp_send_desc request;
    asked *a;
    if (w->count == ASKS || w->k.mcp == NULL) return;
    a = &w->asks[w->count];
    memset(&request, 0, sizeof request);
    a->w = w;
    request.method = methods[dice(w, 4)];
    request.params = phi_str_of(dice(w, 2) ? "{\"a\":1}" : "");
    request.done_fn = on_done;
    request.progress_fn = dice(w, 2) ? on_progress : NULL;
    request.user_data = a;
    if (phi_mcp_send(w->k.mcp, &request, &a->id) != PHI_OK) return;
    a->taken = true;
    w->count++;
}

static void cancel(world *w) {
    asked *a;
    if (w->count == 0 || w->k.mcp == NULL) return;
    a = &w->asks[dice(w, (uint32_t)w->count)];
    if (a->ends == 0 && !a->dropped) a->cancelled = true;
    phi_mcp_cancel(w->k.mcp, a->id);
}

static void say(world *w) {
    static const char *const texts[] = {
        "{\"jsonrpc\":\"2.0\",\"id\":%u,\"result\":{}}",
        "{\"jsonrpc\":\"2.0\",\"id\":\"%u\",\"result\":{\"resultType\":\"complete\"}}",
        "{\"jsonrpc\":\"2.0\",\"id\":%u,\"error\":{\"code\":1,\"message\":\"m\"}}",
        "{\"jsonrpc\":\"2.0\",\"id\":%u}",
        "{\"jsonrpc\":\"2.0\",\"id\":%u,\"result\":{\"resultType\":\"input_required\"}}",
        "{\"jsonrpc\":\"2.0\",\"id\":%u,\"result\":{\"resultType\":\"input_required\","
        "\"inputRequests\":{\"a\":{\"method\":\"x\"},\"b\":{\"method\":\"x\"}},"
        "\"requestState\":{\"q\":1}}}",
        "{\"jsonrpc\":\"2.0\",\"id\":%u,\"result\":{\"resultType\":\"input_required\","
        "\"inputRequests\":{\"a\":{\"method\":\"y\"}}}}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{"
        "\"progressToken\":%u,\"progress\":1}}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{"
        "\"requestId\":%u}}",
        "{\"jsonrpc\":\"2.0\",\"id\":%u,\"method\":\"x\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":%u,\"method\":\"ping\"}",
        "garbage %u",
        "[{\"jsonrpc\":\"2.0\",\"id\":%u,\"result\":{}},{\"jsonrpc\":\"2.0\",\"id\":\"b\","
        "\"method\":\"x\"},[]]",
        "{\"jsonrpc\":\"2.0\",\"id\":%u,\"result\":{\"resultType\":\"task\",\"taskId\":"
        "\"t\",\"status\":\"working\",\"pollIntervalMs\":50}}",
        "{\"jsonrpc\":\"2.0\",\"id\":%u,\"result\":{\"status\":\"completed\",\"result\":{}}}",
        "{\"jsonrpc\":\"2.0\",\"id\":%u,\"result\":{\"status\":\"input_required\","
        "\"inputRequests\":{\"c\":{\"method\":\"x\"}}}}",
        "{\"jsonrpc\":\"2.0\",\"id\":%u,\"result\":{\"protocolVersion\":\"2025-06-18\"}}",
        "{\"jsonrpc\":\"2.0\",\"id\":%u,\"result\":{\"supportedVersions\":[\"2026-07-28\"],"
        "\"capabilities\":{\"tools\":{\"listChanged\":true}}}}"};
    char text[512];
    uint32_t id = 1 + dice(w, (uint32_t)w->count * 2 + 6);
    if (w->k.made == NULL || w->k.deed_count > LINK_SAYS - 4) return;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    (void)snprintf(text, sizeof text, texts[dice(w, sizeof texts / sizeof texts[0])], (unsigned)id);
#pragma GCC diagnostic pop
    link_says(&w->k, text);
}

static void answer(world *w) {
    if (w->part_count == 0 || w->k.mcp == NULL) return;
    phi__mcp_answer(w->k.mcp, w->part_asks[dice(w, 64)], phi_str_of("{\"r\":1}"),
                    (int)dice(w, 3) - 1, "no");
}

static void trouble(world *w) {
    if (w->k.made == NULL || w->k.deed_count > LINK_SAYS - 4) return;
    switch (dice(w, 5)) {
    case 0: link_down(&w->k, PHI_NETWORK, dice(w, 6) == 0, "died"); return;
    case 1: link_expired(&w->k); return;
    case 2: link_lost(&w->k, dice(w, 2) ? 404 : 0, ""); return;
    case 3: w->k.full = true; return;
    default: w->k.fails = dice(w, 2) ? PHI_NETWORK : PHI_OK; return;
    }
}

static void act(world *w) {
    switch (dice(w, 12)) {
    case 0:
    case 1:
    case 2: send(w); return;
    case 3: cancel(w); return;
    case 4:
    case 5:
    case 6:
    case 7: say(w); return;
    case 8: answer(w); return;
    case 9:
        if (dice(w, 3) == 0) trouble(w);
        return;
    case 10:
        if (w->k.full && w->k.made != NULL && w->k.deed_count < LINK_SAYS - 4) link_room(&w->k);
        return;
    default:
        if (w->k.mcp != NULL && dice(w, 4) == 0) (void)phi_mcp_reconnect(w->k.mcp);
        return;
    }
}

static void run(uint32_t seed, bool failing) {
    static const phi__mcp_open_join joins[] = {part_join};
    static const char *const eras[] = {"2026-07-28", "2025-06-18", "2025-03-26", NULL};
    static world w;
    phi_mcp_desc desc = PHI_ZERO;
    size_t i;
    memset(&w, 0, sizeof w);
    w.seed = seed * 2654435761u + 1;
    link_begin(&w.k, NULL);
    world_current = &w;
    link_answers(&w.k, eras[dice(&w, 4)], "{\"tools\":{\"listChanged\":true}}");
    if (dice(&w, 2)) desc.url = "http://127.0.0.1:1/";
    if (dice(&w, 4) == 0) desc.era = dice(&w, 2) ? "2026-07-28" : "2025-03-26";
    desc.event_fn = on_event;
    desc.user_data = &w;
    if (failing) test_alloc_fail_some(seed, 40);
    (void)link_connect(&w.k, &desc, joins, 1);
    for (i = 0; i < STEPS; i++) {
        act(&w);
        if (dice(&w, 3) == 0) link_steps(&w.k, 2);
        if (dice(&w, 12) == 0) rig_pass_stepping_ms(w.k.rig, dice(&w, 4000));
    }
    test_alloc_fail_some(0, 0);
    w.depth = true;
    if (w.k.mcp != NULL && dice(&w, 2) == 0) {
        phi_mcp_close(w.k.mcp);
        link_pass(&w.k, 100);
        CHECK(phi_mcp_get_info(w.k.mcp).state >= PHI_MCP_CLOSED);
        for (i = 0; i < w.count; i++)
            CHECK_EQ_INT(w.asks[i].ends + (w.asks[i].cancelled ? 1 : 0), 1);
    }
    drop(&w);
    for (i = 0; i < w.count; i++)
        CHECK_EQ_INT(
            w.asks[i].ends + (w.asks[i].cancelled ? 1 : 0) + (w.asks[i].dropped ? 1 : 0) > 0, 1);
    link_end(&w.k);
}

static uint32_t seeds(void) {
    const char *text = getenv("PHI_SEEDS");
    return text != NULL ? (uint32_t)atoi(text) : 150;
}

static void runs(bool failing) {
    uint32_t seed, most = seeds();
    for (seed = 1; seed <= most; seed++) {
        run(seed, failing);
        if (test_failures() == 0) continue;
        printf("seed %u\n", (unsigned)seed);
        return;
    }
}

TEST(each_request_ends_once_whatever_the_server_and_the_host_do) { runs(false); }

TEST(each_request_ends_once_also_when_memory_fails) { runs(true); }

TEST_MAIN(TEST_ENTRY(each_request_ends_once_whatever_the_server_and_the_host_do),
          TEST_ENTRY(each_request_ends_once_also_when_memory_fails))
