/* mcp_offers.c - operations of the host's on a server's resources and prompts, and what the server
   reports of them. */
#include "mcp/mcp_offers_in.h"

#include "loop/error_in.h"
#include "loop/loop_in.h"
#include "mcp/mcp_core_in.h"
#include "mcp/mcp_watch_in.h"

/* Marks the ids of operations: those of requests are numbers of their connection. */
#define PHI__MCP_OFFERS_ID ((uint64_t)1 << 63)

typedef struct phi__mcp_offers {
    phi__list open;
    uint64_t next_id;
    phi__mcp_watch watch;
} phi__mcp_offers;

static const phi__mcp_part *phi__mcp_offers_table(void);

static phi__mcp_offers *phi__mcp_offers_of(const phi_mcp *mcp) {
    return (phi__mcp_offers *)phi__mcp_session_part(mcp, phi__mcp_offers_table());
}

/* ---- operations ---- */

static void phi__mcp_offers_destroy(phi__mcp_offer *offer) {
    phi_memory *memory = phi__mcp_session_memory(offer->mcp);
    phi__mcp_pages_stop(&offer->pages);
    phi__mcp_session_cancel(offer->request, "not needed any more");
    phi__free(memory, offer->items, offer->cap * sizeof *offer->items);
    phi_arena_free(&offer->arena);
    phi__free(memory, offer, sizeof *offer);
}

/* The host may free the connection inside of it; its memory is there until the session returns. */
static void phi__mcp_offers_end(phi__mcp_offer *offer, const phi_mcp_reply *reply) {
    phi__mcp_offers *o = phi__mcp_offers_of(offer->mcp);
    offer->request = NULL;
    if (o != NULL) phi__list_take(&o->open, &offer->link);
    if (!offer->mcp->dead) offer->done(offer, reply);
    phi__mcp_offers_destroy(offer);
}

static void phi__mcp_offers_answered(void *ctx, const phi_mcp_reply *reply) {
    phi__mcp_offers_end((phi__mcp_offer *)ctx, reply);
}

static void phi__mcp_offers_listed(phi__mcp_pages *pages, const phi_mcp_reply *reply) {
    phi__mcp_offers_end(PHI__OWNER(pages, phi__mcp_offer, pages), reply);
}

static bool phi__mcp_offers_item(phi__mcp_pages *pages, const phi_json *item) {
    phi__mcp_offer *offer = PHI__OWNER(pages, phi__mcp_offer, pages);
    if (offer->count == offer->cap) {
        void *grown = phi__grow(phi__mcp_session_memory(offer->mcp), (void *)offer->items,
                                &offer->cap, offer->count + 1, sizeof *offer->items);
        if (grown == NULL) return false;
        offer->items = (const phi_json **)grown;
    }
    offer->items[offer->count] = phi_json_copy(&offer->arena, item);
    return offer->items[offer->count++] != NULL;
}

PHI__FN phi_status phi__mcp_offers_check(phi_mcp *mcp, const char *function,
                                         const char *capability) {
    phi_runtime *rt;
    if (mcp == NULL) return PHI_BAD_ARG;
    rt = phi__mcp_session_runtime(mcp);
    if (phi_mcp_get_info(mcp).state != PHI_MCP_READY)
        return phi__error(rt, PHI_MISUSE, "%s: the server is not ready", function);
    if (capability != NULL && phi_json_get(phi__mcp_session_capabilities(mcp), capability) == NULL)
        return phi__error(rt, PHI_UNSUPPORTED, "%s: the server does not offer \"%s\"", function,
                          capability);
    return PHI_OK;
}

static phi__mcp_offer *phi__mcp_offers_new(phi_mcp *mcp, phi__mcp_offer_fn done,
                                           const phi_mcp_get_desc *desc) {
    phi_memory *memory = phi__mcp_session_memory(mcp);
    phi__mcp_offer *offer = (phi__mcp_offer *)phi__alloc(memory, sizeof *offer);
    if (offer == NULL) return NULL;
    offer->mcp = mcp;
    offer->id = PHI__MCP_OFFERS_ID | ++phi__mcp_offers_of(mcp)->next_id;
    phi_arena_init(&offer->arena, memory, 0);
    phi__buf_init(&offer->pages.cursor, memory);
    offer->done = done;
    offer->what = desc->what;
    offer->fn = desc->done_fn;
    offer->user_data = desc->user_data;
    return offer;
}

static phi_status phi__mcp_offers_begun(phi__mcp_offer *offer, phi_status status, uint64_t *id) {
    phi_mcp *mcp = offer->mcp;
    if (status != PHI_OK) {
        offer->request = NULL;
        phi__mcp_offers_destroy(offer);
        return phi__error(phi__mcp_session_runtime(mcp), status, "phi_mcp: a request: %s",
                          phi_status_text(status));
    }
    phi__list_push(&phi__mcp_offers_of(mcp)->open, &offer->link);
    if (id != NULL) *id = offer->id;
    return PHI_OK;
}

PHI__FN phi_status phi__mcp_offers_ask(phi_mcp *mcp, const char *method, phi_str params,
                                       phi_str name, phi__mcp_offer_fn done,
                                       const phi_mcp_get_desc *get, uint64_t *id) {
    phi__mcp_offer *offer = phi__mcp_offers_new(mcp, done, get);
    phi__mcp_request_desc desc;
    if (offer == NULL) return PHI_NO_MEMORY;
    memset(&desc, 0, sizeof desc);
    desc.method = method;
    desc.params = params;
    desc.name = name;
    desc.done = phi__mcp_offers_answered;
    desc.ctx = offer;
    return phi__mcp_offers_begun(offer, phi__mcp_session_send(mcp, &desc, &offer->request), id);
}

PHI__FN phi_status phi__mcp_offers_list(phi_mcp *mcp, const char *method, const char *key,
                                        phi__mcp_offer_fn done, const phi_mcp_get_desc *desc,
                                        uint64_t *id) {
    phi__mcp_offer *offer = phi__mcp_offers_new(mcp, done, desc);
    if (offer == NULL) return PHI_NO_MEMORY;
    offer->pages.mcp = mcp;
    offer->pages.method = method;
    offer->pages.key = key;
    offer->pages.item = phi__mcp_offers_item;
    offer->pages.done = phi__mcp_offers_listed;
    return phi__mcp_offers_begun(offer, phi__mcp_pages_begin(&offer->pages), id);
}

PHI__FN void phi__mcp_offers_tell(const phi__mcp_offer *offer, phi_mcp_got *got) {
    got->what = offer->what;
    offer->fn(offer->user_data, got);
}

/* ---- the part ---- */

static void phi__mcp_offers_ready(phi_mcp *mcp, void *part) {
    phi__mcp_offers *o = (phi__mcp_offers *)part;
    const char *level = phi__mcp_session_desc(mcp)->log_level;
    phi__mcp_watch_ready(&o->watch);
    if (level == NULL || phi__mcp_session_modern(mcp)) return;
    if (phi_json_get(phi__mcp_session_capabilities(mcp), "logging") == NULL) return;
    phi__mcp_watch_level(&o->watch, level);
}

static void phi__mcp_offers_down(phi_mcp *mcp, void *part) {
    (void)mcp;
    phi__mcp_watch_down(&((phi__mcp_offers *)part)->watch);
}

static void phi__mcp_offers_log(phi_mcp *mcp, const phi_json *params) {
    phi__buf text;
    phi__buf_init(&text, phi__mcp_session_memory(mcp));
    if (phi__json_write(&text, params, 0) == PHI_OK && !text.failed)
        (void)phi__mcp_session_tell(mcp, PHI_MCP_EV_LOG,
                                    phi__json_text_of(phi_json_get(params, "level")),
                                    phi__str("", 0), phi__buf_str(&text));
    phi__buf_free(&text); /* the session's memory, there until it returns */
}

static bool phi__mcp_offers_notified(phi_mcp *mcp, void *part, phi_str method,
                                     const phi_json *params) {
    phi_str none = phi__str("", 0);
    if (phi__str_is(method, "notifications/message"))
        phi__mcp_offers_log(mcp, params);
    else if (phi__str_is(method, "notifications/resources/list_changed"))
        (void)phi__mcp_session_tell(mcp, PHI_MCP_EV_RESOURCES, none, none, none);
    else if (phi__str_is(method, "notifications/prompts/list_changed"))
        (void)phi__mcp_session_tell(mcp, PHI_MCP_EV_PROMPTS, none, none, none);
    else
        return phi__mcp_watch_notified(&((phi__mcp_offers *)part)->watch, method, params);
    return true;
}

static void phi__mcp_offers_free(phi_mcp *mcp, void *part) {
    phi__mcp_offers *o = (phi__mcp_offers *)part;
    while (o->open.first != NULL) {
        phi__mcp_offer *offer = PHI__OWNER(o->open.first, phi__mcp_offer, link);
        phi__list_take(&o->open, &offer->link);
        phi__mcp_offers_destroy(offer);
    }
    phi__mcp_watch_free(&o->watch);
    phi__free(phi__mcp_session_memory(mcp), o, sizeof *o);
}

static const phi__mcp_part *phi__mcp_offers_table(void) {
    static const phi__mcp_part table = {phi__mcp_offers_ready,
                                        phi__mcp_offers_down,
                                        phi__mcp_offers_notified,
                                        NULL,
                                        NULL,
                                        NULL,
                                        NULL,
                                        phi__mcp_offers_free};
    return &table;
}

PHI__FN phi_status phi__mcp_offers_join(phi_mcp *mcp) {
    phi__mcp_offers *o = (phi__mcp_offers *)phi__alloc(phi__mcp_session_memory(mcp), sizeof *o);
    if (o == NULL) return PHI_NO_MEMORY;
    phi__mcp_watch_init(&o->watch, mcp);
    phi__mcp_session_join(mcp, phi__mcp_offers_table(), o);
    return PHI_OK;
}

/* ---- public ---- */

PHI_API void phi_mcp_cancel(phi_mcp *mcp, uint64_t id) {
    phi__mcp_offers *o = mcp != NULL ? phi__mcp_offers_of(mcp) : NULL;
    phi__link *link = o != NULL ? o->open.first : NULL;
    if (mcp != NULL && (id & PHI__MCP_OFFERS_ID) == 0) phi__mcp_asking_cancel(mcp, id);
    for (; link != NULL; link = link->next) {
        phi__mcp_offer *offer = PHI__OWNER(link, phi__mcp_offer, link);
        if (offer->id != id) continue;
        phi__list_take(&o->open, &offer->link);
        phi__mcp_offers_destroy(offer);
        return;
    }
}

static phi_status phi__mcp_offers_unwatch(phi_mcp *mcp, const char *uri) {
    phi__mcp_offers *o = mcp != NULL ? phi__mcp_offers_of(mcp) : NULL;
    if (o == NULL || uri == NULL) return PHI_BAD_ARG;
    return phi__mcp_watch_remove(&o->watch, phi_str_of(uri));
}

PHI_API phi_status phi_mcp_watch(phi_mcp *mcp, const char *uri, bool on, phi_mcp_done_fn done,
                                 void *user_data) {
    const phi_json *resources;
    phi_status status;
    if (!on) return phi__mcp_offers_unwatch(mcp, uri);
    status = phi__mcp_offers_check(mcp, "phi_mcp_watch", "resources");
    if (status != PHI_OK) return status;
    if (uri == NULL || uri[0] == '\0') return PHI_BAD_ARG;
    resources = phi_json_get(phi__mcp_session_capabilities(mcp), "resources");
    if (!phi_json_bool(phi_json_get(resources, "subscribe"), false))
        return phi__error(phi__mcp_session_runtime(mcp), PHI_UNSUPPORTED,
                          "phi_mcp_watch: the server offers no subscriptions");
    return phi__mcp_watch_add(&phi__mcp_offers_of(mcp)->watch, phi_str_of(uri), done, user_data);
}
