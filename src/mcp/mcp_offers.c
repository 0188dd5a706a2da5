/* mcp_offers.c - resources and prompts of a server: requests, watched resources, notifications. */
#include "mcp/mcp_get.h"
#include "mcp/mcp_pages_in.h"
#include "mcp/mcp_requests_in.h"

#include "mcp/mcp_content_in.h"

typedef struct phi__mcp_watch {
    phi_mcp *mcp;
    phi__list all;
    size_t count;
    phi__req *stream, *level;
    phi__timer timer;
    bool up;
} phi__mcp_watch;

/* ---- watched resources ---- */

/* Older eras have a request for each watched resource. The era 2026-07-28 has one stream for all
   watched resources. If the set of these changes, a new stream is opened before the old one is
   closed. If the connection is lost or a stream ends, all watched resources are requested again. */

enum { PHI__WATCH_MOST = 256, PHI__WATCH_AGAIN_MS = 2000 };

/* The URI follows the struct in memory. */
typedef struct phi__watched {
    phi__link link;
    phi__mcp_watch *watch;
    phi_str uri;
    phi__req *request;    /* older eras: the subscription being requested */
    phi_mcp_done_fn done; /* NULL if already called, or not given */
    void *user_data;
} phi__watched;

static phi__watched *phi__watch_find(const phi__mcp_watch *watch, phi_str uri) {
    for (phi__link *link = watch->all.first; link != NULL; link = link->next) {
        phi__watched *w = PHI__OWNER(link, phi__watched, link);
        if (phi_str_equal(w->uri, uri)) return w;
    }
    return NULL;
}

static void phi__watch_drop(phi__watched *w) {
    phi__mcp_watch *watch = w->watch;
    phi__mcp_cancel(w->request, "not needed any more");
    phi__list_take(&watch->all, &w->link);
    watch->count--;
    phi__free(&watch->mcp->memory, w, sizeof *w + w->uri.len + 1);
}

/* Reports the server's answer. A refused resource is not watched any more. `done` may free the
   connection. */
static void phi__watch_said(phi__watched *w, phi_status status, phi_str message) {
    phi_mcp_done_fn done = w->done;
    void *user_data = w->user_data;
    w->done = NULL;
    if (status != PHI_OK && done != NULL) phi__watch_drop(w);
    if (done != NULL) done(user_data, status, message);
}

static phi_status phi__watch_ask(phi__mcp_watch *watch, const char *method, const char *key,
                                 phi_str value, void (*done)(void *ctx, const phi_mcp_reply *reply),
                                 void *ctx, phi__req **out) {
    phi__buf params;
    phi__rpc_open_params(&params, &watch->mcp->memory, key, value);
    phi__buf_char(&params, '}');
    phi__req_desc desc = PHI_ZERO;
    desc.method = method;
    desc.done = done;
    desc.ctx = ctx;
    return phi__mcp_send_buf(watch->mcp, &desc, &params, out);
}

static void phi__watch_answered(void *ctx, const phi_mcp_reply *reply) {
    phi__watched *w = (phi__watched *)ctx;
    w->request = NULL;
    /* The connection was lost; phi__watch_ready subscribes again. */
    if (reply->status == PHI_NETWORK || reply->status == PHI_CANCELLED) return;
    phi__watch_said(w, reply->status, reply->message);
}

static phi_status phi__watch_one(phi__watched *w) {
    phi_status status = phi__watch_ask(w->watch, "resources/subscribe", "uri", w->uri,
                                       phi__watch_answered, w, &w->request);
    if (status != PHI_OK) w->request = NULL;
    return status;
}

/* ---- the modern era ---- */

static void phi__watch_ended(void *ctx, const phi_mcp_reply *reply);

static void phi__watch_in(phi__mcp_watch *watch, uint32_t ms) {
    if (watch->timer.place == 0 || ms == 0)
        (void)phi__mcp_timer_in(watch->mcp->rt->io, &watch->timer, ms);
}

static phi_status phi__watch_open(phi__mcp_watch *watch) {
    phi__req *before = watch->stream, *now = NULL;
    phi_status status = PHI_OK;
    phi__buf params = phi__buf_of(&watch->mcp->memory);
    phi__buf_text(&params, "{\"notifications\":{\"resourceSubscriptions\":[");
    for (const phi__link *link = watch->all.first; link != NULL; link = link->next) {
        phi__json_write_comma(&params);
        phi__json_write_str(&params, PHI__OWNER(link, phi__watched, link)->uri);
    }
    phi__buf_text(&params, "]}}");
    phi__req_desc desc = PHI_ZERO;
    desc.method = "subscriptions/listen";
    desc.params = phi__buf_str(&params);
    desc.stream = true;
    desc.done = phi__watch_ended;
    desc.ctx = watch;
    if (params.failed)
        status = PHI_NO_MEMORY;
    else if (watch->count > 0)
        status = phi__mcp_send(watch->mcp, &desc, &now);
    phi__buf_free(&params);
    if (status != PHI_OK) return status;
    watch->stream = now;
    phi__mcp_cancel(before, "another one takes its place");
    return PHI_OK;
}

static void phi__watch_ended(void *ctx, const phi_mcp_reply *reply) {
    phi__mcp_watch *watch = (phi__mcp_watch *)ctx;
    phi_mcp *mcp = watch->mcp;
    watch->stream = NULL;
    if (reply->status == PHI_NETWORK || reply->status == PHI_CANCELLED) {
        if (watch->up && reply->status == PHI_NETWORK) phi__watch_in(watch, PHI__WATCH_AGAIN_MS);
        return;
    }
    if (reply->status == PHI_OK) {
        phi__watch_in(watch, PHI__WATCH_AGAIN_MS);
        return;
    }
    while (watch->all.first != NULL) { /* refused: report this to all watches that still wait */
        phi__link *link = watch->all.first;
        while (link != NULL && PHI__OWNER(link, phi__watched, link)->done == NULL)
            link = link->next;
        if (link == NULL) break;
        phi__watch_said(PHI__OWNER(link, phi__watched, link), reply->status, reply->message);
        if (phi_mcp_get_info(mcp).state != PHI_MCP_READY)
            return; /* the host has closed or freed the connection */
    }
    /* PHI_DENIED: a person refused. Do not ask again until another resource is watched. */
    if (watch->count > 0 && reply->status != PHI_DENIED)
        phi__watch_in(watch, PHI__WATCH_AGAIN_MS * 15);
}

static void phi__watch_fire(phi__timer *timer) {
    phi__mcp_watch *watch = PHI__OWNER(timer, phi__mcp_watch, timer);
    if (watch->up && phi__watch_open(watch) != PHI_OK) phi__watch_in(watch, PHI__WATCH_AGAIN_MS);
}

static void phi__watch_agreed(phi__mcp_watch *watch, const phi_json *params) {
    const phi_json *list =
        phi__mcp_array(phi_json_get(params, "notifications"), "resourceSubscriptions");
    phi_mcp *mcp = watch->mcp;
    phi_json_iter it = phi_json_each(list);
    while (phi_json_next(&it) != NULL) {
        phi__watched *w = phi__watch_find(watch, phi__json_text_of(it.at));
        if (w == NULL || w->done == NULL) continue;
        phi__watch_said(w, PHI_OK, phi__str("", 0));
        if (phi_mcp_get_info(mcp).state != PHI_MCP_READY) return;
    }
}

static void phi__watch_down(phi__mcp_watch *watch) {
    watch->up = false;
    phi__io_timer_clear(watch->mcp->rt->io, &watch->timer);
    phi__mcp_cancel(watch->stream, "not needed any more");
    phi__mcp_cancel(watch->level, "not needed any more");
    watch->stream = watch->level = NULL;
    for (phi__link *link = watch->all.first; link != NULL; link = link->next) {
        phi__watched *w = PHI__OWNER(link, phi__watched, link);
        phi__mcp_cancel(w->request, "not needed any more");
        w->request = NULL;
    }
}

static void phi__watch_ready(phi__mcp_watch *watch) {
    watch->up = true;
    if (watch->count == 0) return;
    if (phi__mcp_modern(watch->mcp)) {
        phi__watch_in(watch, 0);
        return;
    }
    for (phi__link *link = watch->all.first; link != NULL; link = link->next)
        (void)phi__watch_one(PHI__OWNER(link, phi__watched, link));
}

static phi_status phi__watch_add(phi__mcp_watch *watch, phi_str uri, phi_mcp_done_fn done,
                                 void *user_data) {
    phi__watched *w = phi__watch_find(watch, uri);
    phi_status status = PHI_OK;
    if (w != NULL) return PHI_OK;
    if (watch->count == PHI__WATCH_MOST) return PHI_FULL;
    w = (phi__watched *)phi__alloc(&watch->mcp->memory, sizeof *w + uri.len + 1);
    if (w == NULL) return PHI_NO_MEMORY;
    char *at = (char *)(w + 1);
    w->uri = phi__mcp_put(&at, uri);
    w->watch = watch;
    w->done = done;
    w->user_data = user_data;
    phi__list_push(&watch->all, &w->link);
    watch->count++;
    if (phi__mcp_modern(watch->mcp))
        phi__watch_in(watch, 0);
    else
        status = phi__watch_one(w);
    if (status != PHI_OK) phi__watch_drop(w);
    return status;
}

static phi_status phi__watch_remove(phi__mcp_watch *watch, phi_str uri) {
    phi__watched *w = phi__watch_find(watch, uri);
    phi__req *request = NULL;
    if (w == NULL) return PHI_NOT_FOUND;
    if (watch->up && phi__mcp_modern(watch->mcp))
        phi__watch_in(watch, 0);
    else if (watch->up)
        (void)phi__watch_ask(watch, "resources/unsubscribe", "uri", uri, NULL, NULL, &request);
    phi__watch_drop(w);
    return PHI_OK;
}

static void phi__watch_leveled(void *ctx, const phi_mcp_reply *reply) {
    (void)reply;
    ((phi__mcp_watch *)ctx)->level = NULL;
}

/* ---- the functions of the session's part ---- */

/* A call of phi_mcp_get: one request, or a list of pages. */
typedef struct phi__offer {
    phi__link link;
    uint64_t id;
    phi_mcp *mcp;
    phi__req *request;
    phi__pages pages;
    phi_arena arena;
    const phi_json **items; /* items of a list */
    size_t count, cap;
    void (*done)(struct phi__offer *offer, const phi_mcp_reply *reply); /* reads the answer */
    phi_mcp_what what;
    void (*fn)(void *user_data, const phi_mcp_got *got); /* the host's callback */
    void *user_data;
} phi__offer;

/* Marks ids of phi_mcp_get. Ids of phi_mcp_send do not have this bit. */
#define PHI__OFFERS_ID ((uint64_t)1 << 63)

typedef struct phi__offers {
    phi__list open;
    uint64_t next_id;
    phi__mcp_watch watch;
} phi__offers;

static const phi__mcp_part *phi__offers_table(void);

static phi__offers *phi__offers_of(const phi_mcp *mcp) {
    return (phi__offers *)phi__mcp_session_part(mcp, phi__offers_table());
}

static void phi__offers_destroy(phi__offer *offer) {
    phi_memory *memory = &offer->mcp->memory;
    phi__pages_stop(&offer->pages);
    phi__mcp_cancel(offer->request, "not needed any more");
    phi__free(memory, offer->items, offer->cap * sizeof *offer->items);
    phi_arena_free(&offer->arena);
    phi__free(memory, offer, sizeof *offer);
}

/* Ends an operation. Its callback may free the connection, but the session keeps the connection's
   struct and memory until this function has returned. */
static void phi__offers_end(phi__offer *offer, const phi_mcp_reply *reply) {
    phi__offers *o = phi__offers_of(offer->mcp);
    offer->request = NULL;
    if (!PHI_NEVER(o == NULL)) phi__list_take(&o->open, &offer->link);
    if (!offer->mcp->dead) offer->done(offer, reply);
    phi__offers_destroy(offer);
}

static void phi__offers_answered(void *ctx, const phi_mcp_reply *reply) {
    phi__offers_end((phi__offer *)ctx, reply);
}

static void phi__offers_listed(phi__pages *pages, const phi_mcp_reply *reply) {
    phi__offers_end(PHI__OWNER(pages, phi__offer, pages), reply);
}

static bool phi__offers_item(phi__pages *pages, const phi_json *item) {
    phi__offer *offer = PHI__OWNER(pages, phi__offer, pages);
    if (offer->count == offer->cap) {
        void *grown = phi__grow(&offer->mcp->memory, (void *)offer->items, &offer->cap,
                                offer->count + 1, sizeof *offer->items);
        if (grown == NULL) return false;
        offer->items = (const phi_json **)grown;
    }
    offer->items[offer->count] = phi_json_copy(&offer->arena, item);
    return offer->items[offer->count++] != NULL;
}

/* Checks that the server is ready and, if `capability` is not NULL, that the server has it.
   Messages begin with `function`. PHI_UNSUPPORTED: the capability is missing. */
static phi_status phi__offers_check(phi_mcp *mcp, const char *function, const char *capability) {
    phi_runtime *rt = mcp->rt;
    if (phi_mcp_get_info(mcp).state != PHI_MCP_READY)
        return phi__error(rt, PHI_MISUSE, "%s: the server is not ready", function);
    if (capability != NULL && phi_json_get(mcp->agreed.capabilities, capability) == NULL)
        return phi__error(rt, PHI_UNSUPPORTED, "%s: the server does not offer \"%s\"", function,
                          capability);
    return PHI_OK;
}

static void phi__offers_ready(phi_mcp *mcp, void *part) {
    phi__offers *o = (phi__offers *)part;
    const char *level = mcp->desc.log_level;
    phi__watch_ready(&o->watch);
    if (level == NULL || phi__mcp_modern(mcp)) return;
    if (phi_json_get(mcp->agreed.capabilities, "logging") == NULL) return;
    if (phi__watch_ask(&o->watch, "logging/setLevel", "level", phi_str_of(level),
                       phi__watch_leveled, &o->watch, &o->watch.level) != PHI_OK)
        o->watch.level = NULL;
}

static void phi__offers_down(phi_mcp *mcp, void *part) {
    (void)mcp;
    phi__watch_down(&((phi__offers *)part)->watch);
}

static bool phi__offers_notified(phi_mcp *mcp, void *part, phi_str method, const phi_json *params) {
    phi__mcp_watch *watch = &((phi__offers *)part)->watch;
    phi_str none = phi__str("", 0), uri = phi__records_get_str(params, "uri");
    phi__buf text;
    if (phi__str_is(method, "notifications/subscriptions/acknowledged")) {
        phi__watch_agreed(watch, params);
        return false; /* the session reads this, too, for its own stream */
    }
    if (phi__str_is(method, "notifications/resources/list_changed"))
        (void)phi__mcp_tell(mcp, PHI_MCP_EV_RESOURCES, none, none, none);
    else if (phi__str_is(method, "notifications/prompts/list_changed"))
        (void)phi__mcp_tell(mcp, PHI_MCP_EV_PROMPTS, none, none, none);
    else if (phi__str_is(method, "notifications/resources/updated"))
        (void)phi__mcp_tell(mcp, PHI_MCP_EV_RESOURCE_UPDATED, uri, none, none);
    else if (phi__str_is(method, "notifications/message")) {
        phi__buf_init(&text, &mcp->memory);
        if (phi__json_write(&text, params, 0) == PHI_OK && !text.failed)
            (void)phi__mcp_tell(mcp, PHI_MCP_EV_LOG, phi__records_get_str(params, "level"), none,
                                phi__buf_str(&text));
        phi__buf_free(&text); /* the session's memory is still valid here */
    } else
        return false;
    return true;
}

static void phi__offers_free(phi_mcp *mcp, void *part) {
    phi__offers *o = (phi__offers *)part;
    while (o->open.first != NULL) {
        phi__offer *offer = PHI__OWNER(o->open.first, phi__offer, link);
        phi__list_take(&o->open, &offer->link);
        phi__offers_destroy(offer);
    }
    phi__mcp_watch *watch = &o->watch;
    phi__watch_down(watch);
    while (watch->all.first != NULL)
        phi__watch_drop(PHI__OWNER(watch->all.first, phi__watched, link));
    phi__free(&mcp->memory, o, sizeof *o);
}

static const phi__mcp_part *phi__offers_table(void) {
    static const phi__mcp_part table = {
        phi__offers_ready, phi__offers_down, phi__offers_notified, NULL, NULL, NULL, NULL,
        phi__offers_free};
    return &table;
}

PHI__FN phi_status phi__offers_join(phi_mcp *mcp) {
    phi__offers *o = (phi__offers *)phi__alloc(&mcp->memory, sizeof *o);
    if (o == NULL) return PHI_NO_MEMORY;
    memset(&o->watch, 0, sizeof o->watch);
    o->watch.mcp = mcp;
    o->watch.timer.fire = phi__watch_fire;
    phi__mcp_join(mcp, phi__offers_table(), o);
    return PHI_OK;
}

/* ---- public: phi_mcp_cancel, phi_mcp_watch ---- */

PHI_API void phi_mcp_cancel(phi_mcp *mcp, uint64_t id) {
    phi__offers *o = mcp != NULL ? phi__offers_of(mcp) : NULL;
    phi__link *link = o != NULL ? o->open.first : NULL;
    if (mcp != NULL && (id & PHI__OFFERS_ID) == 0) phi__asking_cancel(mcp, id);
    for (; link != NULL; link = link->next) {
        phi__offer *offer = PHI__OWNER(link, phi__offer, link);
        if (offer->id != id) continue;
        phi__list_take(&o->open, &offer->link);
        phi__offers_destroy(offer);
        return;
    }
}

PHI_API phi_status phi_mcp_watch(phi_mcp *mcp, const char *uri, bool on, phi_mcp_done_fn done,
                                 void *user_data) {
    phi__offers *o = mcp != NULL ? phi__offers_of(mcp) : NULL;
    phi_status status = PHI_OK;
    if (o == NULL) return PHI_BAD_ARG;
    if (on) status = phi__offers_check(mcp, "phi_mcp_watch", "resources");
    if (status != PHI_OK) return status;
    if (uri == NULL || (on && uri[0] == '\0'))
        return phi__error(mcp->rt, PHI_BAD_ARG, "phi_mcp_watch: uri is missing");
    if (!on)
        status = phi__watch_remove(&o->watch, phi_str_of(uri));
    else {
        const phi_json *resources = phi_json_get(mcp->agreed.capabilities, "resources");
        if (!phi__records_get_bool(resources, "subscribe"))
            return phi__error(mcp->rt, PHI_UNSUPPORTED,
                              "phi_mcp_watch: the server offers no subscriptions");
        status = phi__watch_add(&o->watch, phi_str_of(uri), done, user_data);
    }
    if (status == PHI_OK) return status;
    return phi__error(mcp->rt, status, "phi_mcp_watch: %s", phi_status_text(status));
}

/* ---- resources and templates ---- */

enum { PHI__RESOURCES_CONTENTS = 1000 }; /* max. contents of one resource */

/* Begins the report of an answer. made: the array of items, or NULL if there was no memory. */
static phi_mcp_got phi__offers_got(const phi__offer *offer, const phi_mcp_reply *reply,
                                   const void *made) {
    phi_mcp_got got = PHI_ZERO;
    got.what = offer->what;
    got.status = made != NULL ? reply->status : PHI_NO_MEMORY;
    got.message = reply->message;
    got.code = reply->code;
    got.more = offer->pages.cut;
    return got;
}

static void phi__resources_listed(phi__offer *offer, const phi_mcp_reply *reply) {
    phi_mcp_resource *made = (phi_mcp_resource *)phi__arena_zero(
        &offer->arena, (offer->count + 1) * sizeof(phi_mcp_resource));
    phi_mcp_got list = phi__offers_got(offer, reply, made);
    for (size_t i = 0; made != NULL && i < offer->count; i++) {
        const phi_json *item = offer->items[i];
        phi_mcp_resource *out = &made[list.count];
        out->uri = phi__records_get_str(item, "uri");
        if (out->uri.len == 0) out->uri = phi__records_get_str(item, "uriTemplate");
        out->name = phi__records_get_str(item, "name");
        out->title = phi__records_get_str(item, "title");
        out->description = phi__records_get_str(item, "description");
        out->mime_type = phi__records_get_str(item, "mimeType");
        out->size = phi__json_get_uint(phi_json_get(item, "size"), 0);
        out->json = item;
        if (out->uri.len > 0) list.count++;
    }
    list.resources = made;
    offer->fn(offer->user_data, &list);
}

static void phi__resources_read(phi__offer *offer, const phi_mcp_reply *reply) {
    const phi_json *contents = phi__mcp_array(reply->result, "contents");
    bool many = phi_json_count(contents) > PHI__RESOURCES_CONTENTS;
    if (many) contents = NULL;
    size_t count = phi_json_count(contents);
    phi_json_iter it = phi_json_each(contents);
    phi_mcp_contents *made =
        (phi_mcp_contents *)phi__arena_zero(&offer->arena, (count + 1) * sizeof(phi_mcp_contents));
    phi_mcp_got reading = phi__offers_got(offer, reply, made);
    if (many && made != NULL) {
        reading.status = PHI_TOO_BIG;
        reading.message = PHI__LIT("The resource has more than 1,000 contents");
    }
    while (made != NULL && phi_json_next(&it) != NULL) {
        phi_mcp_contents *to = &made[reading.count++];
        to->uri = phi__records_get_str(it.at, "uri");
        to->mime_type = phi__records_get_str(it.at, "mimeType");
        to->text = phi__records_get_str(it.at, "text");
        to->blob = phi__records_get_str(it.at, "blob");
    }
    reading.contents = made;
    offer->fn(offer->user_data, &reading);
}

/* ---- prompts and completion ---- */

enum {
    PHI__PROMPTS_MESSAGES = 1000,
    PHI__PROMPTS_ARGUMENTS = 100, /* max. arguments of one prompt */
    PHI__PROMPTS_VALUES = 100
};

static bool phi__prompts_one(const phi_json *item, phi_arena *arena, phi_mcp_prompt *out) {
    const phi_json *list = phi__mcp_array(item, "arguments");
    size_t count = phi__min(phi_json_count(list), PHI__PROMPTS_ARGUMENTS);
    phi_json_iter it = phi_json_each(list);
    phi_mcp_prompt_argument *made = (phi_mcp_prompt_argument *)phi__arena_zero(
        arena, (count + 1) * sizeof(phi_mcp_prompt_argument));
    if (made == NULL) return false;
    out->name = phi__records_get_str(item, "name");
    out->title = phi__records_get_str(item, "title");
    out->description = phi__records_get_str(item, "description");
    out->arguments = made;
    out->argument_count = 0;
    while (out->argument_count < count && phi_json_next(&it) != NULL) {
        phi_mcp_prompt_argument *to = &made[out->argument_count++];
        to->name = phi__records_get_str(it.at, "name");
        to->title = phi__records_get_str(it.at, "title");
        to->description = phi__records_get_str(it.at, "description");
        to->required = phi__records_get_bool(it.at, "required");
    }
    return true;
}

static void phi__prompts_listed(phi__offer *offer, const phi_mcp_reply *reply) {
    phi_mcp_prompt *made = (phi_mcp_prompt *)phi__arena_zero(
        &offer->arena, (offer->count + 1) * sizeof(phi_mcp_prompt));
    phi_mcp_got list = phi__offers_got(offer, reply, made);
    for (size_t i = 0; made != NULL && i < offer->count; i++) {
        if (!phi__prompts_one(offer->items[i], &offer->arena, &made[list.count])) {
            list.status = PHI_NO_MEMORY;
            break;
        }
        if (made[list.count].name.len > 0) list.count++;
    }
    list.prompts = made;
    offer->fn(offer->user_data, &list);
}

static void phi__prompts_got(phi__offer *offer, const phi_mcp_reply *reply) {
    const phi_json *list = phi__mcp_array(reply->result, "messages");
    size_t count = phi__min(phi_json_count(list), PHI__PROMPTS_MESSAGES);
    phi_json_iter it = phi_json_each(list);
    phi_message *made =
        (phi_message *)phi__arena_zero(&offer->arena, (count + 1) * sizeof(phi_message));
    phi_mcp_got got = phi__offers_got(offer, reply, made);
    got.description = phi__records_get_str(reply->result, "description");
    got.messages = made;
    while (made != NULL && got.count < count && phi_json_next(&it) != NULL) {
        phi_message *to = &made[got.count];
        phi_content *content;
        if (!phi__content_read(phi_json_get(it.at, "content"), &offer->arena, &content,
                               &to->content_count)) {
            got.status = PHI_NO_MEMORY;
            got.count = 0;
            break;
        }
        if (to->content_count == 0) continue; /* a message without content is left out */
        got.count++;
        to->content = content;
        to->role = PHI_ROLE_USER;
        if (!phi__str_is(phi__records_get_str(it.at, "role"), "assistant")) continue;
        to->role = PHI_ROLE_ASSISTANT;
        to->stop_reason = PHI_STOP_REASON_STOP;
        phi__content_of_assistant(content, to->content_count);
    }
    offer->fn(offer->user_data, &got);
}

static void phi__prompts_completed(phi__offer *offer, const phi_mcp_reply *reply) {
    const phi_json *from = phi_json_get(reply->result, "completion");
    phi_json_iter it = phi_json_each(phi__mcp_array(from, "values"));
    phi_str texts[PHI__PROMPTS_VALUES];
    phi_mcp_got out = phi__offers_got(offer, reply, offer);
    while (out.count < PHI__COUNT(texts) && phi_json_next(&it) != NULL)
        if (phi_json_is(it.at, PHI_JSON_STRING)) texts[out.count++] = phi__json_text_of(it.at);
    out.values = texts;
    out.total = phi__json_get_uint(phi_json_get(from, "total"), 0);
    out.more = it.left > 0 || phi__records_get_bool(from, "hasMore");
    offer->fn(offer->user_data, &out);
}

/* Writes an object such as {"a":"1"}. Pairs without a name or a value are left out. */
static void phi__prompts_pairs(phi__buf *out, const phi_mcp_pair *pairs, size_t count) {
    phi__buf_char(out, '{');
    for (size_t i = 0; i < count; i++) {
        if (pairs[i].name == NULL || pairs[i].value == NULL) continue;
        phi__json_write_key(out, phi_str_of(pairs[i].name));
        phi__json_write_str(out, phi_str_of(pairs[i].value));
    }
    phi__buf_char(out, '}');
}

/* Writes params and sets the name for the header. False: a needed field of desc is missing. */
static bool phi__offers_params(phi__buf *params, const phi_mcp_get_desc *desc, phi_str *name) {
    bool resource = desc->what == PHI_MCP_GET_RESOURCE;
    const char *text = resource ? desc->uri : desc->name;
    phi__buf_char(params, '{');
    if (desc->what != PHI_MCP_GET_COMPLETION) {
        if (text == NULL || text[0] == '\0') return false;
        *name = phi_str_of(text);
        phi__records_str(params, resource ? "uri" : "name", *name);
        if (!resource && desc->argument_count > 0) {
            phi__records_raw(params, "arguments", "");
            phi__prompts_pairs(params, desc->arguments, desc->argument_count);
        }
        phi__buf_char(params, '}');
        return true;
    }
    if (desc->argument == NULL || (desc->name == NULL) == (desc->uri == NULL)) return false;
    phi__records_raw(params, "ref", "{");
    phi__records_str(params, "type",
                     phi_str_of(desc->name != NULL ? "ref/prompt" : "ref/resource"));
    phi__records_str(params, desc->name != NULL ? "name" : "uri",
                     phi_str_of(desc->name != NULL ? desc->name : desc->uri));
    phi__buf_text(params, "},\"argument\":{");
    phi__records_str(params, "name", phi_str_of(desc->argument));
    phi__records_str(params, "value", phi_str_of(desc->value));
    phi__buf_char(params, '}');
    if (desc->argument_count > 0) {
        phi__records_raw(params, "context", "{\"arguments\":");
        phi__prompts_pairs(params, desc->arguments, desc->argument_count);
        phi__buf_char(params, '}');
    }
    phi__buf_char(params, '}');
    return true;
}

/* One row for each phi_mcp_what: capability, method, key of a list, and reader of the answer. */
static const struct phi__offers_row {
    const char *capability, *method, *key;
    void (*done)(phi__offer *offer, const phi_mcp_reply *reply);
} phi__offers_rows[] = {
    {"resources", "resources/list", "resources", phi__resources_listed},
    {"resources", "resources/templates/list", "resourceTemplates", phi__resources_listed},
    {"resources", "resources/read", NULL, phi__resources_read},
    {"prompts", "prompts/list", "prompts", phi__prompts_listed},
    {"prompts", "prompts/get", NULL, phi__prompts_got},
    {"completions", "completion/complete", NULL, phi__prompts_completed}};

PHI_API phi_status phi_mcp_get(phi_mcp *mcp, const phi_mcp_get_desc *desc, uint64_t *id) {
    size_t at = desc != NULL ? (size_t)desc->what - PHI_MCP_GET_RESOURCES : SIZE_MAX;
    if (mcp == NULL) return PHI_BAD_ARG;
    if (at >= PHI__COUNT(phi__offers_rows))
        return phi__error(mcp->rt, PHI_BAD_ARG, "phi_mcp_get: what: unknown");
    const struct phi__offers_row *row = &phi__offers_rows[at];
    const phi__era *era = mcp->agreed.era;
    bool undeclared = desc->what == PHI_MCP_GET_COMPLETION && era != NULL && !era->completions;
    phi_status status = phi__offers_check(mcp, "phi_mcp_get", undeclared ? NULL : row->capability);
    if (status != PHI_OK) return status;
    if (desc->done_fn == NULL || (desc->argument_count > 0 && desc->arguments == NULL))
        return phi__error(mcp->rt, PHI_BAD_ARG, "phi_mcp_get: done_fn or arguments: missing");
    phi__req_desc request = PHI_ZERO;
    phi__buf params = phi__buf_of(&mcp->memory);
    if (row->key == NULL && !phi__offers_params(&params, desc, &request.name)) {
        phi__buf_free(&params);
        return phi__error(mcp->rt, PHI_BAD_ARG, "phi_mcp_get: uri, name or argument: missing");
    }
    phi__offer *offer = (phi__offer *)phi__alloc(&mcp->memory, sizeof *offer);
    if (offer == NULL) {
        phi__buf_free(&params);
        return phi__error(mcp->rt, PHI_NO_MEMORY, "phi_mcp_get: out of memory");
    }
    phi__offers *o = phi__offers_of(mcp);
    offer->mcp = offer->pages.mcp = mcp;
    offer->id = PHI__OFFERS_ID | ++o->next_id;
    phi_arena_init(&offer->arena, &mcp->memory, 0);
    phi__buf_init(&offer->pages.cursor, &mcp->memory);
    offer->done = row->done;
    offer->what = desc->what;
    offer->fn = desc->done_fn;
    offer->user_data = desc->user_data;
    if (row->key != NULL) {
        offer->pages.method = row->method;
        offer->pages.key = row->key;
        offer->pages.item = phi__offers_item;
        offer->pages.done = phi__offers_listed;
        status = phi__pages_begin(&offer->pages);
    } else {
        request.method = row->method;
        request.done = phi__offers_answered;
        request.ctx = offer;
        status = phi__mcp_send_buf(mcp, &request, &params, &offer->request);
    }
    if (status != PHI_OK) {
        offer->request = NULL;
        phi__offers_destroy(offer);
        return phi__error(mcp->rt, status, "phi_mcp: a request: %s", phi_status_text(status));
    }
    phi__list_push(&o->open, &offer->link);
    if (id != NULL) *id = offer->id;
    return PHI_OK;
}
