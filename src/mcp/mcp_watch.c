/* mcp_watch.c - the resources that a host watches. */
#include "mcp/mcp_watch_in.h"

#include "loop/loop_in.h"
#include "text/json_in.h"

enum { PHI__MCP_WATCH_MOST = 256, PHI__MCP_WATCH_AGAIN_MS = 2000 };

/* Its uri stands behind it. */
typedef struct phi__mcp_watched {
    phi__link link;
    phi__mcp_watch *watch;
    phi_str uri;
    phi__mcp_request *request; /* older eras: the subscription under way */
    phi_mcp_done_fn done;      /* NULL: called, or none */
    void *user_data;
} phi__mcp_watched;

static phi__mcp_watched *phi__mcp_watch_find(const phi__mcp_watch *watch, phi_str uri) {
    phi__link *link;
    for (link = watch->all.first; link != NULL; link = link->next) {
        phi__mcp_watched *w = PHI__OWNER(link, phi__mcp_watched, link);
        if (phi_str_equal(w->uri, uri)) return w;
    }
    return NULL;
}

static void phi__mcp_watch_drop(phi__mcp_watched *w) {
    phi__mcp_watch *watch = w->watch;
    phi__mcp_session_cancel(w->request, "not needed any more");
    phi__list_take(&watch->all, &w->link);
    watch->count--;
    phi__free(phi__mcp_session_memory(watch->mcp), w, sizeof *w + w->uri.len + 1);
}

/* The server has agreed, or not: then it is not watched. The host may free the connection. */
static void phi__mcp_watch_said(phi__mcp_watched *w, phi_status status, phi_str message) {
    phi_mcp_done_fn done = w->done;
    void *user_data = w->user_data;
    w->done = NULL;
    if (status != PHI_OK && done != NULL) phi__mcp_watch_drop(w);
    if (done != NULL) done(user_data, status, message);
}

/* ---- older eras ---- */

static phi_status phi__mcp_watch_ask(phi__mcp_watch *watch, const char *method, phi_str uri,
                                     void (*done)(void *ctx, const phi_mcp_reply *reply), void *ctx,
                                     phi__mcp_request **out) {
    phi__mcp_request_desc desc;
    phi_status status;
    phi__buf params;
    phi__buf_init(&params, phi__mcp_session_memory(watch->mcp));
    phi__buf_text(&params, "{\"uri\":");
    phi__json_write_str(&params, uri);
    phi__buf_char(&params, '}');
    memset(&desc, 0, sizeof desc);
    desc.method = method;
    desc.params = phi__buf_str(&params);
    desc.done = done;
    desc.ctx = ctx;
    status = params.failed ? PHI_NO_MEMORY : phi__mcp_session_send(watch->mcp, &desc, out);
    phi__buf_free(&params);
    return status;
}

static void phi__mcp_watch_answered(void *ctx, const phi_mcp_reply *reply) {
    phi__mcp_watched *w = (phi__mcp_watched *)ctx;
    w->request = NULL;
    /* a connection that was lost: `ready` subscribes again */
    if (reply->status == PHI_NETWORK || reply->status == PHI_CANCELLED) return;
    phi__mcp_watch_said(w, reply->status, reply->message);
}

static phi_status phi__mcp_watch_one(phi__mcp_watched *w) {
    phi_status status = phi__mcp_watch_ask(w->watch, "resources/subscribe", w->uri,
                                           phi__mcp_watch_answered, w, &w->request);
    if (status != PHI_OK) w->request = NULL;
    return status;
}

static void phi__mcp_watch_ignored(void *ctx, const phi_mcp_reply *reply) {
    (void)ctx, (void)reply;
}

/* ---- the modern era ---- */

static void phi__mcp_watch_ended(void *ctx, const phi_mcp_reply *reply);

static void phi__mcp_watch_in(phi__mcp_watch *watch, uint32_t ms) {
    phi__io *io = phi__mcp_session_runtime(watch->mcp)->io;
    if (watch->timer.place == 0 || ms == 0)
        (void)phi__io_timer_set(io, &watch->timer, phi__io_now_us(io) + (uint64_t)ms * 1000);
}

static void phi__mcp_watch_params(const phi__mcp_watch *watch, phi__buf *params) {
    const phi__link *link;
    phi__buf_text(params, "{\"notifications\":{\"resourceSubscriptions\":[");
    for (link = watch->all.first; link != NULL; link = link->next) {
        phi__json_write_comma(params);
        phi__json_write_str(params, PHI__OWNER(link, phi__mcp_watched, link)->uri);
    }
    phi__buf_text(params, "]}}");
}

static phi_status phi__mcp_watch_open(phi__mcp_watch *watch) {
    phi__mcp_request *before = watch->stream, *now = NULL;
    phi__mcp_request_desc desc;
    phi_status status = PHI_OK;
    phi__buf params;
    phi__buf_init(&params, phi__mcp_session_memory(watch->mcp));
    phi__mcp_watch_params(watch, &params);
    memset(&desc, 0, sizeof desc);
    desc.method = "subscriptions/listen";
    desc.params = phi__buf_str(&params);
    desc.stream = true;
    desc.done = phi__mcp_watch_ended;
    desc.ctx = watch;
    if (params.failed)
        status = PHI_NO_MEMORY;
    else if (watch->count > 0)
        status = phi__mcp_session_send(watch->mcp, &desc, &now);
    phi__buf_free(&params);
    if (status != PHI_OK) return status;
    watch->stream = now;
    phi__mcp_session_cancel(before, "another one takes its place");
    return PHI_OK;
}

static void phi__mcp_watch_ended(void *ctx, const phi_mcp_reply *reply) {
    phi__mcp_watch *watch = (phi__mcp_watch *)ctx;
    phi_mcp *mcp = watch->mcp;
    watch->stream = NULL;
    if (reply->status == PHI_NETWORK || reply->status == PHI_CANCELLED) {
        if (watch->up && reply->status == PHI_NETWORK)
            phi__mcp_watch_in(watch, PHI__MCP_WATCH_AGAIN_MS);
        return;
    }
    if (reply->status == PHI_OK) {
        phi__mcp_watch_in(watch, PHI__MCP_WATCH_AGAIN_MS);
        return;
    }
    while (watch->all.first != NULL) { /* refused: those that still wait for a word get it */
        phi__link *link = watch->all.first;
        while (link != NULL && PHI__OWNER(link, phi__mcp_watched, link)->done == NULL)
            link = link->next;
        if (link == NULL) break;
        phi__mcp_watch_said(PHI__OWNER(link, phi__mcp_watched, link), reply->status,
                            reply->message);
        if (phi_mcp_get_info(mcp).state != PHI_MCP_READY)
            return; /* the host has closed or freed it */
    }
    /* denied: a person is not asked again, but for another subscription */
    if (watch->count > 0 && reply->status != PHI_DENIED)
        phi__mcp_watch_in(watch, PHI__MCP_WATCH_AGAIN_MS * 15);
}

static void phi__mcp_watch_fire(phi__timer *timer) {
    phi__mcp_watch *watch = PHI__OWNER(timer, phi__mcp_watch, timer);
    if (watch->up && phi__mcp_watch_open(watch) != PHI_OK)
        phi__mcp_watch_in(watch, PHI__MCP_WATCH_AGAIN_MS);
}

static void phi__mcp_watch_agreed(phi__mcp_watch *watch, const phi_json *params) {
    const phi_json *list =
        phi_json_get(phi_json_get(params, "notifications"), "resourceSubscriptions");
    phi_mcp *mcp = watch->mcp;
    phi_json_iter it = phi_json_each(phi_json_is(list, PHI_JSON_ARRAY) ? list : NULL);
    while (phi_json_next(&it) != NULL) {
        phi__mcp_watched *w = phi__mcp_watch_find(watch, phi__json_text_of(it.at));
        if (w == NULL || w->done == NULL) continue;
        phi__mcp_watch_said(w, PHI_OK, phi__str("", 0));
        if (phi_mcp_get_info(mcp).state != PHI_MCP_READY) return;
    }
}

/* ---- for the part ---- */

PHI__FN void phi__mcp_watch_init(phi__mcp_watch *watch, phi_mcp *mcp) {
    memset(watch, 0, sizeof *watch);
    watch->mcp = mcp;
    watch->timer.fire = phi__mcp_watch_fire;
}

PHI__FN void phi__mcp_watch_down(phi__mcp_watch *watch) {
    phi__link *link;
    watch->up = false;
    phi__io_timer_clear(phi__mcp_session_runtime(watch->mcp)->io, &watch->timer);
    phi__mcp_session_cancel(watch->stream, "not needed any more");
    phi__mcp_session_cancel(watch->level, "not needed any more");
    watch->stream = watch->level = NULL;
    for (link = watch->all.first; link != NULL; link = link->next) {
        phi__mcp_watched *w = PHI__OWNER(link, phi__mcp_watched, link);
        phi__mcp_session_cancel(w->request, "not needed any more");
        w->request = NULL;
    }
}

PHI__FN void phi__mcp_watch_free(phi__mcp_watch *watch) {
    phi__mcp_watch_down(watch);
    while (watch->all.first != NULL)
        phi__mcp_watch_drop(PHI__OWNER(watch->all.first, phi__mcp_watched, link));
}

PHI__FN void phi__mcp_watch_ready(phi__mcp_watch *watch) {
    phi__link *link;
    watch->up = true;
    if (watch->count == 0) return;
    if (phi__mcp_session_modern(watch->mcp)) {
        phi__mcp_watch_in(watch, 0);
        return;
    }
    for (link = watch->all.first; link != NULL; link = link->next)
        (void)phi__mcp_watch_one(PHI__OWNER(link, phi__mcp_watched, link));
}

PHI__FN bool phi__mcp_watch_notified(phi__mcp_watch *watch, phi_str method,
                                     const phi_json *params) {
    phi_str uri = phi__json_text_of(phi_json_get(params, "uri"));
    phi_str none = phi__str("", 0);
    if (phi__str_is(method, "notifications/subscriptions/acknowledged")) {
        phi__mcp_watch_agreed(watch, params);
        return false; /* the session has streams of its own */
    }
    if (!phi__str_is(method, "notifications/resources/updated")) return false;
    (void)phi__mcp_session_tell(watch->mcp, PHI_MCP_EV_RESOURCE_UPDATED, uri, none, none);
    return true;
}

PHI__FN phi_status phi__mcp_watch_add(phi__mcp_watch *watch, phi_str uri, phi_mcp_done_fn done,
                                      void *user_data) {
    phi__mcp_watched *w = phi__mcp_watch_find(watch, uri);
    phi_status status = PHI_OK;
    char *text;
    if (w != NULL) return PHI_OK;
    if (watch->count == PHI__MCP_WATCH_MOST) return PHI_FULL;
    w = (phi__mcp_watched *)phi__alloc(phi__mcp_session_memory(watch->mcp),
                                       sizeof *w + uri.len + 1);
    if (w == NULL) return PHI_NO_MEMORY;
    text = (char *)(w + 1);
    memcpy(text, uri.at, uri.len);
    w->uri = phi__str(text, uri.len);
    w->watch = watch;
    w->done = done;
    w->user_data = user_data;
    phi__list_push(&watch->all, &w->link);
    watch->count++;
    if (phi__mcp_session_modern(watch->mcp))
        phi__mcp_watch_in(watch, 0);
    else
        status = phi__mcp_watch_one(w);
    if (status != PHI_OK) phi__mcp_watch_drop(w);
    return status;
}

PHI__FN phi_status phi__mcp_watch_remove(phi__mcp_watch *watch, phi_str uri) {
    phi__mcp_watched *w = phi__mcp_watch_find(watch, uri);
    phi__mcp_request *request = NULL;
    if (w == NULL) return PHI_NOT_FOUND;
    if (watch->up && phi__mcp_session_modern(watch->mcp))
        phi__mcp_watch_in(watch, 0);
    else if (watch->up)
        (void)phi__mcp_watch_ask(watch, "resources/unsubscribe", uri, phi__mcp_watch_ignored, NULL,
                                 &request);
    phi__mcp_watch_drop(w);
    return PHI_OK;
}

static void phi__mcp_watch_leveled(void *ctx, const phi_mcp_reply *reply) {
    (void)reply;
    ((phi__mcp_watch *)ctx)->level = NULL;
}

PHI__FN void phi__mcp_watch_level(phi__mcp_watch *watch, const char *level) {
    phi__mcp_request_desc desc;
    phi__buf params;
    phi__buf_init(&params, phi__mcp_session_memory(watch->mcp));
    phi__buf_text(&params, "{\"level\":");
    phi__json_write_str(&params, phi_str_of(level));
    phi__buf_char(&params, '}');
    memset(&desc, 0, sizeof desc);
    desc.method = "logging/setLevel";
    desc.params = phi__buf_str(&params);
    desc.done = phi__mcp_watch_leveled;
    desc.ctx = watch;
    if (params.failed || phi__mcp_session_send(watch->mcp, &desc, &watch->level) != PHI_OK)
        watch->level = NULL;
    phi__buf_free(&params);
}
