/* test_mcp_oauth_enemy.c - servers and hosts that strain an authorization: connections freed in the
   midst of it, floods, tokens that end at once, connections that share a store. */
#include "mcp/oauth_world.h"
#include "mcp/mcp_requests_in.h"

/* ---- whole connections ---- */

typedef struct visit {
    world o; /* its oauth is not used */
    phi_mcp *mcp;
    bool free_in_browser, free_in_event, modern;
    bool plain;  /* without an authorization */
    bool scarce; /* memory may be: the redirect may find none */
    char events[4000];
} visit;

/* The MCP server wants a token, and refuses each message that has one. */
static void visit_answer(wires *w, size_t i) {
    const char *text = w->sent[i].text;
    if (strncmp(text, "POST " SERVER "\n", strlen("POST " SERVER "\n")) != 0)
        world_answer(w, i);
    else if (strstr(text, "Authorization: Bearer ") == NULL)
        wires_reply(w, i, 401, "WWW-Authenticate: Bearer\r\n", "");
    else
        wires_reply(w, i, 500, "", "");
}

static phi_status visit_browser(void *user_data, const char *url) {
    visit *v = (visit *)user_data;
    v->o.opened++;
    (void)snprintf(v->o.url, sizeof v->o.url, "%s", url);
    if (v->free_in_browser) {
        phi_mcp_free(v->mcp);
        v->mcp = NULL;
    }
    return v->o.opens;
}

static void visit_event(void *user_data, const phi_mcp_event *event) {
    visit *v = (visit *)user_data;
    size_t n = strlen(v->events);
    (void)snprintf(v->events + n, sizeof v->events - n, "%.*s\n", (int)event->text.len,
                   event->text.at);
    if (!v->free_in_event || v->mcp == NULL) return;
    phi_mcp_free(v->mcp);
    v->mcp = NULL;
}

static void visit_init(visit *v) {
    memset(v, 0, sizeof *v);
    world_init(&v->o);
    v->o.w.answer = visit_answer;
    v->o.desc.open_browser_fn = visit_browser;
    v->o.desc.user_data = v;
}

static bool visit_begin(visit *v) {
    phi_mcp_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.url = SERVER;
    desc.oauth = v->plain ? NULL : &v->o.desc;
    desc.era = v->modern ? "2026-07-28" : "2025-11-25";
    desc.event_fn = visit_event;
    desc.user_data = v;
    if (v->o.rt == NULL) v->o.rt = wires_runtime(&v->o.w, NULL);
    if (v->o.rt != NULL) v->mcp = phi_mcp_connect(v->o.rt, &desc);
    return v->mcp != NULL;
}

static void visit_end(visit *v) {
    if (v->mcp != NULL) phi_mcp_free(v->mcp);
    world_end(&v->o);
    CHECK_EQ_INT(test_alloc_live_bytes(), 0);
}

/* ---- a server of 2026-07-28 that refuses the token of its stream alone ---- */

static void modern_answer(wires *w, size_t i) {
    const char *text = w->sent[i].text, *id = strstr(text, "\"id\":"), *result = "{}";
    char body[500];
    if (strncmp(text, "POST " SERVER "\n", strlen("POST " SERVER "\n")) != 0) {
        world_answer(w, i);
        return;
    }
    if (strstr(text, "Authorization: Bearer ") == NULL || strstr(text, "subscriptions/listen")) {
        wires_reply(w, i, 401, "WWW-Authenticate: Bearer\r\n", "");
        return;
    }
    if (strstr(text, "server/discover") != NULL)
        result = "{\"resultType\":\"complete\",\"supportedVersions\":[\"2026-07-28\"],"
                 "\"capabilities\":{\"tools\":{\"listChanged\":true}},"
                 "\"serverInfo\":{\"name\":\"s\",\"version\":\"1\"},\"ttlMs\":0,"
                 "\"cacheScope\":\"private\"}";
    if (strstr(text, "tools/list") != NULL) result = "{\"resultType\":\"complete\",\"tools\":[]}";
    (void)snprintf(body, sizeof body, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":%s}",
                   id != NULL ? atoi(id + 5) : 0, result);
    wires_reply(w, i, 200, "Content-Type: application/json\r\n", body);
}

/* The first authorization is allowed, all others are not. */
static phi_status modern_browser(void *user_data, const char *url) {
    visit *v = (visit *)user_data;
    char back[2048];
    v->o.opened++;
    (void)snprintf(v->o.url, sizeof v->o.url, "%s", url);
    (void)snprintf(back, sizeof back, "https://app.example/back?%s&state=%s",
                   v->o.opened == 1 ? "code=code-number-1" : "error=access_denied",
                   world_value(&v->o, "state"));
    CHECK(phi_mcp_authorize(v->mcp, back) == PHI_OK || v->scarce);
    return PHI_OK;
}

TEST(a_stream_in_the_background_asks_a_person_once) {
    visit v;
    int i;
    visit_init(&v);
    v.o.w.answer = modern_answer;
    v.o.desc.open_browser_fn = modern_browser;
    v.modern = true;
    REQUIRE(CHECK(visit_begin(&v)));
    world_step(&v.o, 60);
    CHECK_EQ_INT(phi_mcp_get_info(v.mcp).state, PHI_MCP_READY);
    for (i = 0; i < 20; i++) {
        world_pass_s(&v.o, 60);
        world_step(&v.o, 20);
    }
    CHECK_EQ_INT(v.o.opened, 2);
    CHECK_EQ_INT(phi_mcp_get_info(v.mcp).state, PHI_MCP_READY);
    visit_end(&v);
}

/* A connection that authorizes itself, gets its tools, and is refused the token of its stream. */
TEST(every_allocation_of_a_connection_with_an_authorization_may_fail) {
    bool tripped = true;
    int n, ready = 0;
    for (n = 0; tripped && test_failures() == 0; n++) {
        visit v;
        visit_init(&v);
        v.o.w.answer = modern_answer;
        v.o.desc.open_browser_fn = modern_browser;
        v.o.store = store_mem_new();
        v.o.desc.store = store_mem_store(v.o.store);
        v.modern = v.scarce = true;
        v.o.rt = wires_runtime(&v.o.w, NULL);
        REQUIRE(CHECK(v.o.rt != NULL));
        test_alloc_fail_at(n);
        if (visit_begin(&v)) world_step(&v.o, 80);
        if (v.mcp != NULL && phi_mcp_get_info(v.mcp).state == PHI_MCP_READY) ready++;
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        if (!tripped) CHECK_EQ_INT(v.o.opened, 2); /* the whole story */
        if (v.mcp != NULL) world_step(&v.o, 10);
        visit_end(&v);
    }
    CHECK(n > 150);
    CHECK(ready > 0);
}

TEST(a_connection_can_be_freed_while_it_is_authorized) {
    int i;
    for (i = 0; i < 4; i++) {
        visit v;
        visit_init(&v);
        v.free_in_browser = i < 2;
        v.free_in_event = i >= 2;
        v.o.opens = i % 2 == 0 ? PHI_OK : PHI_DENIED;
        REQUIRE(CHECK(visit_begin(&v)));
        world_step(&v.o, 40);
        CHECK_EQ_INT(v.o.opened, 1);
        if (i == 2) { /* nobody comes: the connection fails */
            world_pass_stepping_s(&v.o, 301);
            world_step(&v.o, 10);
        }
        CHECK(v.mcp == NULL);
        visit_end(&v);
    }
}

/* ---- tokens ---- */

static int world_sent(const world *o, const char *line) {
    size_t i, n = strlen(line);
    int count = 0;
    for (i = 0; i < o->w.count; i++)
        if (strncmp(o->w.sent[i].text, line, n) == 0) count++;
    return count;
}

/* A link sends its request as soon as there is a token: one that has ended already must not be
   refreshed for ever. */
TEST(tokens_that_end_at_once_are_not_refreshed_without_end) {
    static const char *const lives[] = {"0", "1e-3", "\"0\"", "1"};
    size_t k;
    for (k = 0; k < PHI__COUNT(lives); k++) {
        char token[200];
        int i, sends = 0;
        world o;
        world_init(&o);
        (void)snprintf(token, sizeof token,
                       "{\"access_token\":\"token-number-1\",\"expires_in\":%s,"
                       "\"refresh_token\":\"refresh-number-1\"}",
                       lives[k]);
        world_page_first(&o, "POST " AS "/token", 200, token, 0);
        REQUIRE(CHECK(world_begin(&o, SERVER)));
        world_authorize(&o);
        for (i = 0; i < 40; i++) {
            if (strcmp(world_header(&o), "Bearer token-number-1") == 0) sends++;
            world_step(&o, 3);
        }
        CHECK_EQ_INT(world_sent(&o, "POST " AS "/token"), 1);
        CHECK(sends == 40);
        world_pass_s(&o, 10);
        (void)world_header(&o);
        world_step(&o, 6);
        CHECK_EQ_INT(world_sent(&o, "POST " AS "/token"), 2);
        world_end(&o);
    }
}

/* Both use the refresh token at once, and the server takes it once: the second finds the fresh token
   in the store, and leaves it there. */
TEST(of_two_connections_that_refresh_at_once_the_second_takes_the_token_of_the_first) {
    phi__oauth_listener listener;
    phi__oauth *other;
    phi_str value;
    int i;
    for (i = 0; i < 2; i++) { /* before its end, or after it was refused */
        world o;
        world_init(&o);
        o.store = store_mem_new();
        o.desc.store = store_mem_store(o.store);
        listener.changed = world_changed;
        listener.ctx = &o;
        REQUIRE(CHECK(world_begin(&o, SERVER)));
        world_authorize(&o);
        CHECK_EQ_INT(phi__oauth_new(o.rt, &o.rt->memory, &o.desc, phi_str_of(SERVER), "phi",
                                    &listener, &other),
                     PHI_OK);
        CHECK_EQ_INT(phi__oauth_header(other, &value), PHI_OK);
        world_page_first(&o, "POST " AS "/token", 400, "{\"error\":\"invalid_grant\"}", 0);
        world_page_first(&o, "POST " AS "/token", 200,
                         "{\"access_token\":\"token-number-2\",\"refresh_token\":"
                         "\"refresh-number-2\",\"expires_in\":3600}",
                         1);
        if (i == 0) world_pass_s(&o, 3550);
        if (i == 0) {
            CHECK_EQ_STR(world_header(&o), "busy");
            CHECK_EQ_INT(phi__oauth_header(other, &value), PHI_BUSY);
        } else {
            CHECK_EQ_INT(world_401(&o, "", "Bearer token-number-1"), PHI_BUSY);
            CHECK_EQ_INT(phi__oauth_challenge(other, 401, phi_str_of(""),
                                              phi_str_of("Bearer token-number-1")),
                         PHI_BUSY);
        }
        world_step(&o, 20);
        CHECK_EQ_INT(o.opened, 1);
        CHECK_EQ_STR(world_header(&o), "Bearer token-number-2");
        CHECK_EQ_INT(phi__oauth_header(other, &value), PHI_OK);
        CHECK_STR(value, "Bearer token-number-2");
        phi__oauth_free(other);
        phi__oauth_free(o.oauth);
        REQUIRE(CHECK(world_make(&o, SERVER)));
        CHECK_EQ_STR(world_header(&o), "Bearer token-number-2"); /* as the store has it */
        world_end(&o);
    }
}

/* ---- floods ---- */

TEST(redirects_of_others_take_no_memory) {
    char url[8000];
    size_t before, i;
    world o;
    world_init(&o);
    REQUIRE(CHECK(world_begin(&o, SERVER)));
    CHECK_EQ_INT(world_401(&o, "", ""), PHI_BUSY);
    world_step(&o, 20);
    REQUIRE(CHECK_EQ_INT(o.opened, 1));
    memset(url, 'a', sizeof url);
    memcpy(url, "x:/?state=", 10);
    before = test_alloc_live_bytes();
    for (i = 0; i < 1000; i++)
        CHECK_EQ_INT(phi__oauth_redirected(o.oauth, phi__str(url, sizeof url)), PHI_REFUSED);
    CHECK(test_alloc_live_bytes() < before + 20000);
    CHECK_EQ_INT(world_back(&o, "code=code-number-1"), PHI_OK);
    world_step(&o, 10);
    CHECK_EQ_STR(world_header(&o), "Bearer token-number-1");
    world_end(&o);
}

TEST(challenges_take_as_much_memory_as_they_are_long) {
    char headers[16300];
    size_t before, i, n = 0;
    world o;
    world_init(&o);
    REQUIRE(CHECK(world_begin(&o, SERVER)));
    n = (size_t)snprintf(headers, sizeof headers, "WWW-Authenticate: Bearer ");
    while (n + 10 < sizeof headers) n += (size_t)snprintf(headers + n, 10, "a=\"\",");
    before = test_alloc_live_bytes();
    CHECK_EQ_INT(world_401(&o, headers, ""), PHI_BUSY);
    CHECK(test_alloc_live_bytes() < before + 100000);
    n = (size_t)snprintf(headers, sizeof headers, "WWW-Authenticate: Bearer ");
    world_step(&o, 20);
    CHECK_EQ_INT(o.opened, 1);
    for (i = 0; i < 3; i++) CHECK_EQ_INT(world_401(&o, headers, ""), PHI_BUSY);
    world_end(&o);
}

/* ---- a server that asks and asks, and takes no answer ---- */

static void asking_answer(wires *w, size_t i) {
    static const char ask[] = "data: {\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"}\n\n";
    const char *text = w->sent[i].text, *id = strstr(text, "\"id\":");
    size_t k, n = 0;
    char *body;
    if (strstr(text, "notifications/initialized") != NULL) {
        wires_reply(w, i, 202, "", "");
    } else if (strncmp(text, "GET ", 4) == 0) {
        wires_reply(w, i, 405, "", "");
    } else if (strstr(text, "\"initialize\"") != NULL) {
        wires_reply(w, i, 200, "Content-Type: application/json\r\n",
                    "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":\"2025-11-25\","
                    "\"capabilities\":{},\"serverInfo\":{\"name\":\"s\",\"version\":\"1\"}}}");
    } else if (strstr(text, "\"method\"") != NULL) {
        body = (char *)malloc(2000 * sizeof ask + 100);
        REQUIRE(body != NULL);
        for (k = 0; k < 2000; k++, n += sizeof ask - 1) memcpy(body + n, ask, sizeof ask - 1);
        (void)snprintf(body + n, 100, "data: {\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":{}}\n\n",
                       atoi(id + 5));
        wires_reply(w, i, 200, "Content-Type: text/event-stream\r\n", body);
        free(body);
    } /* answers to its questions are never taken */
}

static void asking_done(void *user_data, const phi_mcp_reply *reply) {
    *(int *)user_data = reply->status == PHI_OK ? 1 : 2;
}

TEST(a_server_that_asks_faster_than_it_listens_gets_64_answers_at_once) {
    phi_mcp_send_desc request;
    size_t before;
    int done = 0;
    visit v;
    visit_init(&v);
    v.o.w.answer = asking_answer;
    v.plain = true;
    REQUIRE(CHECK(visit_begin(&v)));
    world_step(&v.o, 20);
    REQUIRE(CHECK_EQ_INT(phi_mcp_get_info(v.mcp).state, PHI_MCP_READY));
    memset(&request, 0, sizeof request);
    request.method = "ping";
    request.done_fn = asking_done;
    request.user_data = &done;
    before = test_alloc_live_bytes();
    CHECK_EQ_INT(phi_mcp_send(v.mcp, &request, NULL), PHI_OK);
    world_step(&v.o, 40);
    CHECK_EQ_INT(done, 1);
    CHECK(v.o.w.count > 60 && v.o.w.count < 75);
    CHECK(test_alloc_live_bytes() < before + 1000000);
    visit_end(&v);
}

TEST_MAIN(
    TEST_ENTRY(a_server_that_asks_faster_than_it_listens_gets_64_answers_at_once),
    TEST_ENTRY(every_allocation_of_a_connection_with_an_authorization_may_fail),
    TEST_ENTRY(a_stream_in_the_background_asks_a_person_once),
    TEST_ENTRY(of_two_connections_that_refresh_at_once_the_second_takes_the_token_of_the_first),
    TEST_ENTRY(tokens_that_end_at_once_are_not_refreshed_without_end),
    TEST_ENTRY(redirects_of_others_take_no_memory),
    TEST_ENTRY(challenges_take_as_much_memory_as_they_are_long),
    TEST_ENTRY(a_connection_can_be_freed_while_it_is_authorized))
