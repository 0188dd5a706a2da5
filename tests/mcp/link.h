/* link.h - a connection over a scripted link: a test reads what was sent and says what the server says.

       link_kit k;
       link_begin(&k, NULL);                       // a rig, and a runtime with a manual clock
       link_answers(&k, "2025-06-18", "{\"tools\":{}}"); // the handshake answers itself
       link_connect(&k, NULL, joins, count);       // a phi_mcp_desc or NULL; parts to join
       link_run(&k);                               // steps until nothing happens
       CHECK_EQ_STR(link_sent(&k), "...");         // lines, each read once; ids as they are
       link_says(&k, "{\"jsonrpc\":...}");         // delivered in the next step
       link_end(&k);

   What the connection reports is in k.story, a line an event. */
#ifndef PHI_TESTS_MCP_LINK_H
#define PHI_TESTS_MCP_LINK_H

#include "io/io_in.h"
#include "loop/state_in.h"
#include "mcp/mcp_requests_in.h"
#include "mcp/mcp_rpc_in.h"
#include "mcp/mcp_in.h"
#include "support/rig.h"

enum { LINK_ROOM = 262144, LINK_SAYS = 128 };

typedef struct link_kit link_kit;

/* Something that the link does in the next step. */
typedef struct link_deed {
    char kind; /* 'm'essage, 'u'p, 'd'own, 'l'ost, 'e'xpired, 'f'ree room */
    char *text;
    phi__out *out;
    phi_status status;
    int http_status;
    bool fatal;
} link_deed;

typedef struct link_scripted {
    phi__mcp_link link;
    link_kit *kit;
    phi__timer timer;
} link_scripted;

struct link_kit {
    rig *rig;
    phi_runtime *rt;
    phi_mcp *mcp;
    link_scripted *made; /* NULL: freed */
    char *sent, *story;
    size_t sent_len, story_len, sends, forgets, opens, closes;
    phi__out *last;                 /* the last request that was sent; while it is under way */
    bool full, silent;              /* silent: no story of events */
    bool hangs;                     /* open is not followed by anything */
    phi_status fails;               /* of each send */
    const char *era, *capabilities; /* answers the handshake; NULL: it does not */
    void (*on_send)(link_kit *k, const char *json); /* a server of the test's own */
    link_deed deeds[LINK_SAYS];
    size_t deed_count;
    bool free_in_event, close_in_event;
};

static link_kit *link_current; /* of the connection that is being made */

static inline void link_do(link_kit *k, link_deed deed) {
    if (!CHECK(k->deed_count < LINK_SAYS)) return;
    k->deeds[k->deed_count++] = deed;
    if (k->made != NULL)
        (void)phi__io_timer_set(k->rt->io, &k->made->timer, phi__io_now_us(k->rt->io));
}

static inline char *link_copy(const char *text) {
    char *copy = (char *)malloc(strlen(text) + 1);
    if (copy == NULL) abort();
    return strcpy(copy, text);
}

/* False: refused, agents have its tools. */
static inline bool link_freed(phi_mcp *mcp) {
    bool held = phi__parts_held(mcp);
    phi_mcp_free(mcp);
    return !held;
}

static inline void link_says(link_kit *k, const char *json) {
    link_deed deed = {'m', NULL, NULL, PHI_OK, 0, false};
    deed.text = link_copy(json);
    link_do(k, deed);
}

static inline void link_down(link_kit *k, phi_status status, bool fatal, const char *message) {
    link_deed deed = {'d', NULL, NULL, PHI_OK, 0, false};
    deed.text = link_copy(message);
    deed.status = status;
    deed.fatal = fatal;
    link_do(k, deed);
}

/* The last request gets this HTTP status (0: the network failed). */
static inline void link_lost(link_kit *k, int http_status, const char *body) {
    link_deed deed = {'l', NULL, NULL, PHI_NETWORK, 0, false};
    deed.text = link_copy(body);
    deed.out = k->last;
    deed.http_status = http_status;
    link_do(k, deed);
}

static inline void link_expired(link_kit *k) {
    link_deed deed = {'e', NULL, NULL, PHI_OK, 0, false};
    deed.out = k->last;
    link_do(k, deed);
}

static inline void link_room(link_kit *k) {
    link_deed deed = {'f', NULL, NULL, PHI_OK, 0, false};
    k->full = false;
    link_do(k, deed);
}

/* False: the link is gone. */
static inline bool link_deliver(link_kit *k, link_scripted *s, const link_deed *deed) {
    phi_mcp *mcp = s->link.mcp;
    switch (deed->kind) {
    case 'u': phi__mcp_up(mcp); break;
    case 'f': phi__mcp_drained(mcp); break;
    case 'm': return phi__mcp_message(mcp, phi_str_of(deed->text), NULL);
    case 'd':
        k->last = NULL; /* all that was sent is lost */
        return phi__mcp_down(mcp, deed->status, deed->fatal, deed->text);
    default: break;
    }
    if (deed->kind == 'e' || deed->kind == 'l') {
        phi__out *out = deed->out != NULL && deed->out == k->last ? deed->out : NULL;
        if (out != NULL) out->of_link = NULL;
        k->last = NULL;
        if (deed->kind == 'e') return phi__mcp_expired(mcp, out);
        if (out != NULL)
            return phi__mcp_lost(mcp, out, deed->status, deed->http_status, phi_str_of(deed->text),
                                 "lost");
    }
    return k->made == s;
}

static inline void link_fire(phi__timer *timer) {
    link_scripted *s = PHI__OWNER(timer, link_scripted, timer);
    link_kit *k = s->kit;
    size_t count = k->deed_count, i;
    link_deed deeds[LINK_SAYS];
    bool alive = true;
    memcpy(deeds, k->deeds, sizeof deeds);
    k->deed_count = 0;
    for (i = 0; i < count; i++) {
        if (alive) alive = link_deliver(k, s, &deeds[i]);
        free(deeds[i].text);
    }
}

/* ---- the table ---- */

static inline link_scripted *link_of(const phi__mcp_link *link) {
    return PHI__OWNER((char *)(uintptr_t)link, link_scripted, link);
}

static inline phi_status link_open(phi__mcp_link *link) {
    link_kit *k = link_of(link)->kit;
    link_deed deed = {'u', NULL, NULL, PHI_OK, 0, false};
    k->opens++;
    if (!k->hangs) link_do(k, deed);
    return PHI_OK;
}

/* What a server of that era says to the handshake. False: it is no handshake. */
static inline bool link_handshake(link_kit *k, phi_str json, phi_str method) {
    const phi__era *era = phi__eras_find(phi_str_of(k->era));
    bool discover = phi__str_is(method, "server/discover");
    char text[2048];
    phi__json_found id;
    if (!discover && !phi__str_is(method, "initialize")) return false;
    if (phi__json_cursor_find(json, "id", &id) != PHI_OK) return false;
    if (discover == era->handshake)
        (void)snprintf(text, sizeof text,
                       "{\"jsonrpc\":\"2.0\",\"id\":%.*s,\"error\":{\"code\":-32601,\"message\":"
                       "\"Method not found\"}}",
                       (int)id.raw.len, id.raw.at);
    else
        (void)snprintf(text, sizeof text,
                       "{\"jsonrpc\":\"2.0\",\"id\":%.*s,\"result\":{\"%s\":%s\"%s\"%s,"
                       "\"capabilities\":%s,\"serverInfo\":{\"name\":\"scripted\",\"version\":"
                       "\"1\"},\"instructions\":\"Be kind.\"}}",
                       (int)id.raw.len, id.raw.at,
                       discover ? "supportedVersions" : "protocolVersion", discover ? "[" : "",
                       k->era, discover ? "]" : "", k->capabilities);
    link_says(k, text);
    return true;
}

static inline phi_status link_send(phi__mcp_link *link, phi__out *out) {
    link_kit *k = link_of(link)->kit;
    char *json;
    if (k->full) return PHI_FULL;
    if (k->fails != PHI_OK) return k->fails;
    k->sends++;
    if (out->request) {
        out->of_link = k;
        k->last = out;
    }
    if (k->sent_len + out->json.len + 2 < LINK_ROOM) {
        memcpy(k->sent + k->sent_len, out->json.at, out->json.len);
        k->sent_len += out->json.len;
        k->sent[k->sent_len++] = '\n';
        k->sent[k->sent_len] = '\0';
    }
    if (k->era != NULL && link_handshake(k, out->json, out->method)) return PHI_OK;
    if (k->on_send == NULL) return PHI_OK;
    json = (char *)malloc(out->json.len + 1);
    if (json == NULL) abort();
    memcpy(json, out->json.at, out->json.len);
    json[out->json.len] = '\0';
    k->on_send(k, json);
    free(json);
    return PHI_OK;
}

static inline void link_forget(phi__mcp_link *link, phi__out *out) {
    link_kit *k = link_of(link)->kit;
    CHECK(out->of_link == k);
    out->of_link = NULL;
    k->forgets++;
    if (k->last == out) k->last = NULL;
}

static inline void link_agreed(phi__mcp_link *link, const char *version, bool modern) {
    (void)link;
    CHECK(version == NULL || modern == (strcmp(version, "2026-07-28") >= 0));
}

static inline void link_listen(phi__mcp_link *link) { (void)link; }

static inline void link_close(phi__mcp_link *link) {
    link_kit *k = link_of(link)->kit;
    k->closes++;
    link_down(k, PHI_OK, false, "closed");
}

static inline void link_free(phi__mcp_link *link) {
    link_scripted *s = link_of(link);
    phi__io_timer_clear(s->kit->rt->io, &s->timer);
    s->kit->made = NULL;
    s->kit->last = NULL;
    phi__free(&link->mcp->memory, s, sizeof *s);
}

static inline phi_status link_make(phi_mcp *mcp, phi__mcp_link **out) {
    static const phi__mcp_link_table table = {link_open,   link_send,   link_forget,
                                              link_agreed, link_listen, link_close,
                                              link_free,   NULL,        NULL};
    link_scripted *s = (link_scripted *)phi__alloc(&mcp->memory, sizeof(link_scripted));
    *out = NULL;
    if (s == NULL) return PHI_NO_MEMORY;
    s->link.table = &table;
    s->link.mcp = mcp;
    s->kit = link_current;
    s->timer.fire = link_fire;
    s->kit->made = s;
    *out = &s->link;
    return PHI_OK;
}

/* ---- the kit ---- */

static inline void link_event(void *user_data, const phi_mcp_event *e) {
    static const char *const names[] = {"?",         "state",   "log",     "tools",  "tool",
                                        "resources", "updated", "prompts", "warning"};
    link_kit *k = (link_kit *)user_data;
    int n;
    if (!k->silent && k->story_len + e->text.len + e->name.len + 64 < LINK_ROOM) {
        n = snprintf(k->story + k->story_len, LINK_ROOM - k->story_len,
                     "%s%s%.*s: ", names[e->kind], e->name.len > 0 ? " " : "", (int)e->name.len,
                     e->name.at);
        k->story_len += (size_t)n;
        n = snprintf(k->story + k->story_len, LINK_ROOM - k->story_len, "%d%s%.*s\n",
                     (int)phi_mcp_get_info(e->mcp).state, e->text.len > 0 ? " " : "",
                     (int)e->text.len, e->text.at);
        k->story_len += (size_t)n;
    }
    if (k->free_in_event) {
        k->free_in_event = false;
        phi_mcp_free(e->mcp);
        k->mcp = NULL;
    } else if (k->close_in_event) {
        k->close_in_event = false;
        phi_mcp_close(e->mcp);
    }
}

static inline void link_begin(link_kit *k, const phi_runtime_desc *desc) {
    memset(k, 0, sizeof *k);
    k->rig = desc != NULL ? rig_new_with(desc) : rig_new();
    k->rt = k->rig != NULL ? rig_runtime(k->rig) : NULL;
    k->sent = (char *)calloc(1, LINK_ROOM);
    k->story = (char *)calloc(1, LINK_ROOM);
}

static inline void link_answers(link_kit *k, const char *era, const char *capabilities) {
    k->era = era;
    k->capabilities = capabilities;
}

/* phi_last_error has the reason where k->mcp is NULL. */
static inline phi_status link_connect(link_kit *k, const phi_mcp_desc *desc,
                                      const phi__mcp_open_join *joins, size_t count) {
    static const char *const argv[] = {"scripted", NULL};
    phi_mcp_desc own;
    memset(&own, 0, sizeof own);
    if (desc != NULL) own = *desc;
    if (own.argv == NULL && own.url == NULL) own.argv = argv;
    if (own.event_fn == NULL) {
        own.event_fn = link_event;
        own.user_data = k;
    }
    link_current = k;
    return phi__mcp_open_new(k->rt, &own, link_make, joins, count, &k->mcp);
}

static inline void link_steps(link_kit *k, int steps) {
    while (steps-- > 0) (void)rig_step(k->rig);
}

/* Until nothing happens by itself; the clock stands still. */
static inline void link_run(link_kit *k) { link_steps(k, 12); }

/* Time passes, in ten pieces or more: none is a gap. */
static inline void link_pass(link_kit *k, uint32_t ms) {
    uint32_t i, pieces = ms > 10000 ? (ms + 999) / 1000 : 10;
    for (i = 0; i < pieces; i++) {
        rig_pass_ms(k->rig, ms / pieces);
        link_steps(k, 4);
    }
}

static inline const char *link_take(char *text, size_t *len) {
    static char out[LINK_ROOM];
    memcpy(out, text, *len + 1);
    *len = 0;
    text[0] = '\0';
    return out;
}

static inline const char *link_sent(link_kit *k) { return link_take(k->sent, &k->sent_len); }
static inline const char *link_story(link_kit *k) { return link_take(k->story, &k->story_len); }

static inline void link_end(link_kit *k) {
    size_t i;
    if (k->mcp != NULL) phi_mcp_free(k->mcp);
    for (i = 0; i < k->deed_count; i++) free(k->deeds[i].text);
    if (k->rig != NULL) rig_free(k->rig);
    free(k->sent);
    free(k->story);
}

#endif
