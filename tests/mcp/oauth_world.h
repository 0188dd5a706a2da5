/* oauth_world.h - an MCP server and an authorization server as a table of pages, for requests of an
   authorization over the scripted transport. */
#ifndef PHI_TESTS_MCP_OAUTH_WORLD_H
#define PHI_TESTS_MCP_OAUTH_WORLD_H

#include "loop/loop_in.h"
#include "mcp/mcp_oauth_in.h"
#include "support/store_mem.h"
#include "support/wires.h"
#include "mcp/mcp_oauth_client_in.h"

/* An answer to "METHOD URL", `uses` times (0: always); the first that fits is taken. */
typedef struct world_page {
    const char *line;
    int status;
    const char *body;
    int uses;
} world_page;

enum { WORLD_PAGES = 32 };

typedef struct world {
    wires w;
    phi_runtime *rt;
    phi_mcp_oauth_desc desc;
    phi__oauth *oauth;
    store_mem *store;
    world_page pages[WORLD_PAGES];
    int used[WORLD_PAGES];
    size_t page_count;
    uint32_t random;
    int changed; /* how often it was called */
    phi_status status;
    char message[400];
    int opened; /* browsers */
    phi_status opens;
    char url[4096]; /* of the last */
    /* inside of the callbacks: */
    bool free_in_changed, free_in_browser, answer_in_browser;
    const char *nonce; /* DPoP-Nonce of every answer; NULL: none */
} world;

#define SERVER "https://mcp.example/api/mcp"
#define PRM "GET https://mcp.example/.well-known/oauth-protected-resource"
#define AS "https://auth.example"
#define META "GET " AS "/.well-known/oauth-authorization-server"

#define RESOURCE_DOC "{\"resource\":\"" SERVER "\",\"authorization_servers\":[\"" AS "\"]}"
#define SERVER_HEAD                                                                                \
    "{\"issuer\":\"" AS "\",\"authorization_endpoint\":\"" AS "/authorize\","                      \
    "\"token_endpoint\":\"" AS "/token\",\"code_challenge_methods_supported\":[\"S256\"]"
#define SERVER_DOC                                                                                 \
    SERVER_HEAD ",\"registration_endpoint\":\"" AS "/register\","                                  \
                "\"token_endpoint_auth_methods_supported\":[\"none\"]}"
#define TOKEN_1                                                                                    \
    "{\"access_token\":\"token-number-1\",\"token_type\":\"Bearer\",\"expires_in\":3600,"          \
    "\"refresh_token\":\"refresh-number-1\"}"

static inline void world_page_add(world *o, const char *line, int status, const char *body,
                                  int uses) {
    world_page *page = &o->pages[o->page_count++];
    page->line = line;
    page->status = status;
    page->body = body;
    page->uses = uses;
}

/* In front of those that are there. */
static inline void world_page_first(world *o, const char *line, int status, const char *body,
                                    int uses) {
    memmove(o->pages + 1, o->pages, o->page_count * sizeof o->pages[0]);
    memmove(o->used + 1, o->used, o->page_count * sizeof o->used[0]);
    o->used[0] = 0;
    o->page_count++;
    o->pages[0].line = line;
    o->pages[0].status = status;
    o->pages[0].body = body;
    o->pages[0].uses = uses;
}

static inline void world_answer(wires *w, size_t i) {
    world *o = (world *)w->user_data;
    const char *text = w->sent[i].text;
    size_t n = (size_t)(strchr(text, '\n') - text), k;
    char head[200];
    for (k = 0; k < o->page_count; k++) {
        world_page *page = &o->pages[k];
        if (strlen(page->line) != n || strncmp(page->line, text, n) != 0) continue;
        if (page->uses != 0 && o->used[k] == page->uses) continue;
        o->used[k]++;
        if (page->status < 0) {
            wires_end(w, i, (phi_status)page->status, "no way");
            return;
        }
        (void)snprintf(head, sizeof head, "Content-Type: application/json\r\n%s%s%s",
                       o->nonce != NULL ? "DPoP-Nonce: " : "", o->nonce != NULL ? o->nonce : "",
                       o->nonce != NULL ? "\r\n" : "");
        wires_reply(w, i, page->status, head, page->body);
        return;
    }
    wires_reply(w, i, 404, "", "nothing here");
}

static inline void world_random(void *user_data, void *out, size_t len) {
    world *o = (world *)user_data;
    size_t i;
    for (i = 0; i < len; i++)
        ((unsigned char *)out)[i] = (unsigned char)(test_random(&o->random) >> 8);
}

static inline void world_random_of_wires(void *user_data, void *out, size_t len) {
    world_random(((wires *)user_data)->user_data, out, len);
}

static inline void world_changed(void *ctx, phi_status status, const char *message) {
    world *o = (world *)ctx;
    o->changed++;
    o->status = status;
    (void)snprintf(o->message, sizeof o->message, "%s", message);
    if (!o->free_in_changed) return;
    phi__oauth_free(o->oauth);
    o->oauth = NULL;
}

/* The value of a name in the browser's URL, still encoded; static. */
static inline const char *world_value(world *o, const char *name) {
    static char out[1024];
    char find[64];
    const char *at;
    size_t n;
    out[0] = '\0';
    (void)snprintf(find, sizeof find, "&%s=", name);
    at = strstr(o->url, find);
    if (at == NULL) {
        find[0] = '?';
        at = strstr(o->url, find);
    }
    if (at == NULL) return out;
    at += strlen(find);
    n = strcspn(at, "&");
    (void)snprintf(out, sizeof out, "%.*s", (int)n, at);
    return out;
}

/* The browser comes back with these parameters, in front of the state. */
static inline phi_status world_back(world *o, const char *parameters) {
    char url[2048];
    (void)snprintf(url, sizeof url, "https://app.example/back?%s&state=%s#x", parameters,
                   world_value(o, "state"));
    return phi__oauth_redirected(o->oauth, phi_str_of(url));
}

static inline phi_status world_browser(void *user_data, const char *url) {
    world *o = (world *)user_data;
    o->opened++;
    (void)snprintf(o->url, sizeof o->url, "%s", url);
    if (o->answer_in_browser) (void)world_back(o, "code=code-number-1");
    if (o->free_in_browser) {
        phi__oauth_free(o->oauth);
        o->oauth = NULL;
    }
    return o->opens;
}

static inline void world_init(world *o) {
    memset(o, 0, sizeof *o);
    wires_init(&o->w);
    o->w.now_us = (uint64_t)1700000000 * 1000000;
    o->w.answer = world_answer;
    o->w.user_data = o;
    o->random = 7;
    o->desc.open_browser_fn = world_browser;
    o->desc.user_data = o;
    o->desc.redirect_port = -1;
    o->desc.redirect_uri = "https://app.example/back";
    o->desc.timeout_ms = 300000;
    o->desc.client_name = "A game";
    world_page_add(o, PRM "/api/mcp", 200, RESOURCE_DOC, 0);
    world_page_add(o, META, 200, SERVER_DOC, 0);
    world_page_add(o, "POST " AS "/register", 201, "{\"client_id\":\"client-number-1\"}", 0);
    world_page_add(o, "POST " AS "/token", 200, TOKEN_1, 0);
}

static inline bool world_make(world *o, const char *server) {
    phi__oauth_listener listener;
    listener.changed = world_changed;
    listener.ctx = o;
    return phi__oauth_new(o->rt, &o->rt->memory, &o->desc, phi_str_of(server), "phi", &listener,
                          &o->oauth) == PHI_OK;
}

static inline bool world_begin(world *o, const char *server) {
    phi_runtime_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.random_fn = world_random_of_wires;
    o->rt = wires_runtime(&o->w, &desc);
    return o->rt != NULL && world_make(o, server);
}

static inline void world_step(world *o, int n) {
    while (n-- > 0) {
        (void)phi_step(o->rt, 0);
        o->w.now_us += 1000;
    }
}

static inline void world_pass_s(world *o, uint64_t s) { o->w.now_us += s * 1000000; }

/* The same of a host that steps each second: deadlines count all of it. */
static inline void world_pass_stepping_s(world *o, uint64_t s) {
    while (s-- > 0) {
        world_pass_s(o, 1);
        (void)phi_step(o->rt, 0);
    }
}

static inline phi_status world_401(world *o, const char *headers, const char *sent) {
    return phi__oauth_challenge(o->oauth, 401, phi_str_of(headers), phi_str_of(sent));
}

/* The value that a request would carry; "": none; static. */
static inline const char *world_header(world *o) {
    static char out[200];
    phi_str value;
    phi_status status = phi__oauth_header(o->oauth, &value);
    out[0] = '\0';
    if (status == PHI_OK) (void)snprintf(out, sizeof out, "%.*s", (int)value.len, value.at);
    if (status == PHI_BUSY) (void)snprintf(out, sizeof out, "busy");
    return out;
}

static inline const char *world_error(world *o) {
    const char *words = "";
    words = phi_last_error(o->rt).message;
    return words;
}

/* From nothing to a token. */
static inline void world_authorize(world *o) {
    CHECK_EQ_INT(world_401(o, "", ""), PHI_BUSY);
    world_step(o, 20);
    if (!CHECK_EQ_INT(o->opened, 1)) return;
    CHECK_EQ_INT(world_back(o, "code=code-number-1"), PHI_OK);
    world_step(o, 10);
}

static inline void world_end(world *o) {
    phi__oauth_free(o->oauth);
    o->oauth = NULL;
    phi_runtime_free(o->rt);
    wires_free(&o->w);
    if (o->store != NULL) store_mem_free(o->store);
}

#endif
