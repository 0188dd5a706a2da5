/* test_mcp_oauth_enemy.c - servers and hosts that strain an authorization: connections freed in the
   midst of it, floods, tokens that end at once, connections that share a store. */
#include "mcp/oauth_world.h"

/* ---- whole connections ---- */

typedef struct visit {
    world o; /* its oauth is not used */
    phi_mcp *mcp;
    bool free_in_browser, free_in_event;
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
        CHECK_EQ_INT(phi_mcp_free(v->mcp), PHI_OK);
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
    CHECK_EQ_INT(phi_mcp_free(v->mcp), PHI_OK);
    v->mcp = NULL;
}

static void visit_init(visit *v) {
    memset(v, 0, sizeof *v);
    world_init(&v->o);
    v->o.w.answer = visit_answer;
    v->o.desc.open_browser = visit_browser;
    v->o.desc.user_data = v;
}

static bool visit_begin(visit *v) {
    phi_mcp_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.url = SERVER;
    desc.oauth = &v->o.desc;
    desc.era = "2025-11-25";
    desc.event_fn = visit_event;
    desc.user_data = v;
    v->o.rt = wires_runtime(&v->o.w, NULL);
    if (v->o.rt != NULL) v->mcp = phi_mcp_connect(v->o.rt, &desc);
    return v->mcp != NULL;
}

static void visit_end(visit *v) {
    if (v->mcp != NULL) CHECK_EQ_INT(phi_mcp_free(v->mcp), PHI_OK);
    world_end(&v->o);
    CHECK_EQ_INT(test_alloc_live_bytes(), 0);
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
            world_pass_s(&v.o, 301);
            world_step(&v.o, 10);
        }
        CHECK(v.mcp == NULL);
        visit_end(&v);
    }
}

TEST_MAIN(TEST_ENTRY(a_connection_can_be_freed_while_it_is_authorized))
