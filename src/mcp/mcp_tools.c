/* mcp_tools.c - the tools of a connection: listed when it is ready and when they change, compared
   with earlier definitions, and handed to agents.

   The host's event function is called last of all: it may free the connection. */
#include "mcp/mcp_tools_in.h"

#include "base/map_in.h"
#include "loop/error_in.h"
#include "loop/loop_in.h"
#include "mcp/mcp_calls_in.h"
#include "mcp/mcp_known_in.h"
#include "mcp/mcp_news_in.h"
#include "mcp/mcp_pages_in.h"
#include "mcp/mcp_toolbox_in.h"
#include "text/json_in.h"
#include "wire/hash_in.h"

#include <stdio.h>

enum {
    PHI__MCP_TOOLS_PAUSE_MS =
        200,                     /* between a list and the next: a server may report changes fast */
    PHI__MCP_TOOLS_TTL_MS = 5000 /* at least so old is a list that is asked for again by itself */
};

typedef struct phi__mcp_tools {
    phi_mcp *mcp;
    phi_tool_source source;
    phi_tool functions;
    phi__mcp_toolbox *now; /* NULL: none yet */
    phi__list old;         /* boxes that agents still use */
    size_t users;          /* takes that were not released */
    uint64_t version;
    phi__mcp_known known;
    phi__mcp_news news;
    /* the list under way */
    phi__mcp_pages pages;
    phi_arena arena; /* of the definitions */
    phi__mcp_definition *definitions;
    size_t count, cap;
    phi__map names; /* of definitions, by index + 1 */
    bool listing, again, holds;
    phi__timer timer; /* lists again */
    uint64_t listed_us, stale_us;
} phi__mcp_tools;

static const phi__mcp_part *phi__mcp_tools_table(void);

static phi__mcp_tools *phi__mcp_tools_of(const phi_mcp *mcp) {
    return (phi__mcp_tools *)phi__mcp_session_part(mcp, phi__mcp_tools_table());
}

static phi__io *phi__mcp_tools_io(const phi__mcp_tools *t) {
    return phi__mcp_session_runtime(t->mcp)->io;
}

static void phi__mcp_tools_warn(void *ctx, phi_str original, const char *message) {
    phi__mcp_tools *t = (phi__mcp_tools *)ctx;
    phi_str none = phi__str("", 0);
    char words[500];
    (void)snprintf(words, sizeof words, "tool \"%.*s\" is left out: %s",
                   (int)phi__min(original.len, 80), original.at, message);
    phi__mcp_news_add(t->mcp, &t->news, PHI_MCP_EV_WARNING, none, none, phi_str_of(words));
}

static void phi__mcp_tools_say(phi__mcp_tools *t, const char *message) {
    phi_str none = phi__str("", 0);
    phi__mcp_news_add(t->mcp, &t->news, PHI_MCP_EV_WARNING, none, none, phi_str_of(message));
}

/* ---- boxes ---- */

static void phi__mcp_tools_leave(phi__mcp_tools *t, phi__mcp_toolbox *box) {
    if (--box->users > 0) return;
    if (box != t->now) phi__list_take(&t->old, &box->link);
    phi__mcp_toolbox_free(t->mcp, box);
}

static const phi__mcp_tool *phi__mcp_tools_find(const phi__map *map, phi_str name) {
    size_t probe = 0;
    const phi__mcp_tool *item;
    while ((item = (const phi__mcp_tool *)phi__map_each(map, phi__hash(name, 0), &probe)) != NULL)
        if (phi_str_equal(item->shown.name, name)) return item;
    return NULL;
}

static bool phi__mcp_tools_index(phi__mcp_tools *t, phi__map *map, phi__mcp_toolbox *box) {
    size_t i;
    phi__map_init(map, phi__mcp_session_memory(t->mcp));
    if (!phi__map_reserve(map, box->count)) return false;
    for (i = 0; i < box->count; i++)
        phi__map_add(map, phi__hash(box->items[i].shown.name, 0), &box->items[i]);
    return true;
}

static void phi__mcp_tools_diff_put(phi__buf *words, char sign, phi_str name) {
    if (words->len > 0) phi__buf_char(words, ' ');
    phi__buf_char(words, sign);
    phi__buf_add_str(words, name);
}

/* "+a -b ~c"; empty: the same. False: no memory. */
static bool phi__mcp_tools_diff(phi__mcp_tools *t, phi__mcp_toolbox *was, phi__mcp_toolbox *box,
                                phi__buf *words) {
    phi__map before, after;
    bool fine = phi__mcp_tools_index(t, &before, was);
    size_t i;
    fine = phi__mcp_tools_index(t, &after, box) && fine;
    for (i = 0; fine && i < box->count; i++) {
        const phi__mcp_tool *item = &box->items[i];
        const phi__mcp_tool *old = phi__mcp_tools_find(&before, item->shown.name);
        if (old == NULL)
            phi__mcp_tools_diff_put(words, '+', item->shown.name);
        else if (!phi_str_equal(old->definition, item->definition) ||
                 old->shown.held != item->shown.held)
            phi__mcp_tools_diff_put(words, '~', item->shown.name);
    }
    for (i = 0; fine && i < was->count; i++)
        if (phi__mcp_tools_find(&after, was->items[i].shown.name) == NULL)
            phi__mcp_tools_diff_put(words, '-', was->items[i].shown.name);
    phi__map_free(&before);
    phi__map_free(&after);
    return fine && !words->failed;
}

/* The new list, unless it is the one that is there. */
static void phi__mcp_tools_install(phi__mcp_tools *t, phi__mcp_toolbox *box) {
    phi__mcp_toolbox *was = t->now;
    phi_str none = phi__str("", 0);
    phi__buf words;
    phi__buf_init(&words, phi__mcp_session_memory(t->mcp));
    if (was != NULL && phi__mcp_tools_diff(t, was, box, &words) && words.len == 0) {
        phi__mcp_toolbox_free(t->mcp, box);
        return;
    }
    box->version = ++t->version;
    t->now = box;
    if (was != NULL) {
        phi__mcp_news_add(t->mcp, &t->news, PHI_MCP_EV_TOOLS, none, none, phi__buf_str(&words));
        phi__list_push(&t->old, &was->link);
        phi__mcp_tools_leave(t, was);
    }
    phi__buf_free(&words);
}

/* Over HTTP the modern era mirrors parameters into headers. */
static bool phi__mcp_tools_marks(const phi__mcp_tools *t) {
    return phi__mcp_session_desc(t->mcp)->url != NULL && phi__mcp_session_modern(t->mcp);
}

/* ---- a list arrives ---- */

static void phi__mcp_tools_drop_list(phi__mcp_tools *t) {
    phi_memory *memory = phi__mcp_session_memory(t->mcp);
    phi__mcp_pages_stop(&t->pages);
    phi_arena_free(&t->arena);
    phi__free(memory, t->definitions, t->cap * sizeof *t->definitions);
    t->definitions = NULL;
    t->count = t->cap = 0;
    phi__map_free(&t->names);
    t->listing = false;
}

static bool phi__mcp_tools_twice(const phi__mcp_tools *t, phi_str name) {
    size_t probe = 0;
    const void *at;
    while ((at = phi__map_each(&t->names, phi__hash(name, 0), &probe)) != NULL)
        if (phi_str_equal(t->definitions[(uintptr_t)at - 1].original, name)) return true;
    return false;
}

static bool phi__mcp_tools_item(phi__mcp_pages *pages, const phi_json *tool) {
    phi__mcp_tools *t = PHI__OWNER(pages, phi__mcp_tools, pages);
    phi_str name = phi__json_text_of(phi_json_get(tool, "name"));
    phi__mcp_definition *to;
    if (name.len == 0 || phi__mcp_tools_twice(t, name)) {
        phi__mcp_tools_warn(t, name, name.len == 0 ? "it has no name" : "it is listed twice");
        return true;
    }
    if (t->count == t->cap) {
        void *grown = phi__grow(phi__mcp_session_memory(t->mcp), t->definitions, &t->cap,
                                t->count + 1, sizeof *t->definitions);
        if (grown == NULL) return false;
        t->definitions = (phi__mcp_definition *)grown;
    }
    to = &t->definitions[t->count];
    to->held = false;
    if (!phi__map_room(&t->names) || !phi__arena_str(&t->arena, name, &to->original) ||
        !phi__mcp_toolbox_define(tool, &t->arena, &to->definition))
        return false;
    phi__map_add(&t->names, phi__hash(name, 0), (void *)(uintptr_t)(++t->count));
    return true;
}

/* Compares with an earlier definition. False: no memory. */
static bool phi__mcp_tools_compare(phi__mcp_tools *t, phi__mcp_definition *definition) {
    bool hold = phi__mcp_session_desc(t->mcp)->hold_changed_tools;
    phi_str before;
    phi__mcp_known_tool *known =
        phi__mcp_known_offer(&t->known, definition->original, definition->definition, &before);
    if (known == NULL) return false;
    if (before.len > 0)
        phi__mcp_news_add(t->mcp, &t->news, PHI_MCP_EV_TOOL_CHANGED, definition->original, before,
                          definition->definition);
    if (!hold) phi__mcp_known_accept(&t->known, known);
    definition->held = known->waiting.at != NULL;
    definition->definition = known->definition;
    return true;
}

static bool phi__mcp_tools_build(phi__mcp_tools *t) {
    const phi_mcp_desc *desc = phi__mcp_session_desc(t->mcp);
    phi__mcp_toolbox *box = NULL;
    size_t i;
    for (i = 0; i < t->count; i++)
        if (!phi__mcp_tools_compare(t, &t->definitions[i])) return false;
    if (phi__mcp_toolbox_new(t->mcp, t->definitions, t->count, phi__mcp_tools_marks(t),
                             &t->functions, phi__mcp_tools_warn, t, &box) != PHI_OK)
        return false;
    phi__mcp_tools_install(t, box);
    phi__mcp_known_round(&t->known, (size_t)desc->max_list * 2,
                         phi__mul(desc->max_message_bytes, 2));
    return true;
}

static uint64_t phi__mcp_tools_now_us(const phi__mcp_tools *t) {
    return phi__io_now_us(phi__mcp_tools_io(t));
}

/* When the list is too old, by the server's own word. */
static uint64_t phi__mcp_tools_stale_us(const phi__mcp_tools *t) {
    const phi_json *tools = phi_json_get(phi__mcp_session_capabilities(t->mcp), "tools");
    uint64_t ttl_ms = t->pages.ttl_ms;
    if (!t->pages.has_ttl) return UINT64_MAX;
    if (ttl_ms == 0 && phi_json_bool(phi_json_get(tools, "listChanged"), false)) return UINT64_MAX;
    if (ttl_ms < PHI__MCP_TOOLS_TTL_MS) ttl_ms = PHI__MCP_TOOLS_TTL_MS;
    return ttl_ms > UINT64_MAX / 2000 ? UINT64_MAX : t->listed_us + ttl_ms * 1000;
}

static void phi__mcp_tools_settle(phi__mcp_tools *t) {
    if (!t->holds) return;
    t->holds = false;
    phi__mcp_session_settle(t->mcp);
}

static void phi__mcp_tools_later(phi__mcp_tools *t) {
    uint64_t at_us = t->listed_us + (uint64_t)PHI__MCP_TOOLS_PAUSE_MS * 1000;
    uint64_t now_us = phi__mcp_tools_now_us(t);
    if (t->timer.place != 0) return;
    if (at_us < now_us || t->now == NULL) at_us = now_us;
    (void)phi__io_timer_set(phi__mcp_tools_io(t), &t->timer, at_us);
}

static void phi__mcp_tools_listed(phi__mcp_pages *pages, const phi_mcp_reply *reply) {
    phi__mcp_tools *t = PHI__OWNER(pages, phi__mcp_tools, pages);
    bool lost = reply->status == PHI_NETWORK || reply->status == PHI_CANCELLED, again;
    phi_mcp *mcp = t->mcp;
    char words[400];
    t->listed_us = phi__mcp_tools_now_us(t);
    t->stale_us = UINT64_MAX;
    if (reply->status == PHI_OK) {
        if (pages->cut)
            phi__mcp_tools_say(t, "its list of tools is too long, the rest is left out");
        if (phi__mcp_tools_build(t))
            t->stale_us = phi__mcp_tools_stale_us(t);
        else
            phi__mcp_tools_say(t, "its list of tools found no memory");
    } else if (!lost) {
        (void)snprintf(words, sizeof words, "tools/list: %.*s",
                       (int)phi__min(reply->message.len, 300), reply->message.at);
        phi__mcp_tools_say(t, words);
    }
    again = t->again && !lost;
    phi__mcp_tools_drop_list(t);
    t->again = false;
    if (again) phi__mcp_tools_later(t);
    if (reply->status == PHI_CANCELLED) return;                      /* it goes */
    if (phi__mcp_news_tell(mcp, &t->news)) phi__mcp_tools_settle(t); /* which reports it, too */
}

static phi_status phi__mcp_tools_list(phi__mcp_tools *t) {
    phi_status status;
    if (t->listing) {
        t->again = true;
        return PHI_OK;
    }
    phi__io_timer_clear(phi__mcp_tools_io(t), &t->timer);
    t->listing = true;
    t->pages.mcp = t->mcp;
    t->pages.method = "tools/list";
    t->pages.key = "tools";
    t->pages.item = phi__mcp_tools_item;
    t->pages.done = phi__mcp_tools_listed;
    status = phi__mcp_pages_begin(&t->pages);
    if (status != PHI_OK) phi__mcp_tools_drop_list(t);
    return status;
}

static void phi__mcp_tools_fire(phi__timer *timer) {
    phi__mcp_tools *t = PHI__OWNER(timer, phi__mcp_tools, timer);
    if (phi_mcp_get_info(t->mcp).state == PHI_MCP_READY) (void)phi__mcp_tools_list(t);
}

/* ---- the source ---- */

static uint64_t phi__mcp_tools_version(void *user_data) {
    phi__mcp_tools *t = (phi__mcp_tools *)user_data;
    if (t->stale_us != UINT64_MAX && phi__mcp_tools_now_us(t) >= t->stale_us) {
        t->stale_us = UINT64_MAX;
        phi__mcp_tools_later(t);
    }
    return t->version;
}

static phi_status phi__mcp_tools_take(void *user_data, const phi_tool **tools, size_t *count) {
    phi__mcp_tools *t = (phi__mcp_tools *)user_data;
    if (t->now == NULL && phi__mcp_toolbox_new(t->mcp, NULL, 0, false, &t->functions,
                                               phi__mcp_tools_warn, t, &t->now) != PHI_OK)
        return PHI_NO_MEMORY;
    t->now->users++;
    t->users++;
    *tools = t->now->tools;
    *count = t->now->count;
    return PHI_OK;
}

static void phi__mcp_tools_release(void *user_data, const phi_tool *tools) {
    phi__mcp_tools *t = (phi__mcp_tools *)user_data;
    phi__link *link;
    t->users--;
    if (t->now != NULL && t->now->tools == tools) {
        phi__mcp_tools_leave(t, t->now);
        return;
    }
    for (link = t->old.first; link != NULL; link = link->next) {
        phi__mcp_toolbox *box = PHI__OWNER(link, phi__mcp_toolbox, link);
        if (box->tools != tools) continue;
        phi__mcp_tools_leave(t, box);
        return;
    }
}

/* ---- the part ---- */

static void phi__mcp_tools_ready(phi_mcp *mcp, void *part) {
    phi__mcp_tools *t = (phi__mcp_tools *)part;
    t->again = false;
    if (phi_json_get(phi__mcp_session_capabilities(mcp), "tools") == NULL) {
        t->count = 0;
        if (t->now != NULL) (void)phi__mcp_tools_build(t);
        (void)phi__mcp_news_tell(mcp, &t->news);
        return;
    }
    phi__mcp_session_hold(mcp);
    t->holds = true;
    if (phi__mcp_tools_list(t) != PHI_OK) phi__mcp_tools_settle(t);
}

static void phi__mcp_tools_down(phi_mcp *mcp, void *part) {
    phi__mcp_tools *t = (phi__mcp_tools *)part;
    (void)mcp;
    t->holds = false;
    t->stale_us = UINT64_MAX;
    phi__io_timer_clear(phi__mcp_tools_io(t), &t->timer);
    phi__mcp_tools_drop_list(t);
}

static bool phi__mcp_tools_notified(phi_mcp *mcp, void *part, phi_str method,
                                    const phi_json *params) {
    phi__mcp_tools *t = (phi__mcp_tools *)part;
    (void)mcp, (void)params;
    if (!phi__str_is(method, "notifications/tools/list_changed")) return false;
    if (t->listing)
        t->again = true;
    else
        phi__mcp_tools_later(t);
    return true;
}

static bool phi__mcp_tools_held(const phi_mcp *mcp, const void *part) {
    (void)mcp;
    return ((const phi__mcp_tools *)part)->users > 0;
}

static void phi__mcp_tools_free(phi_mcp *mcp, void *part) {
    phi__mcp_tools *t = (phi__mcp_tools *)part;
    phi__io_timer_clear(phi__mcp_tools_io(t), &t->timer);
    phi__mcp_tools_drop_list(t);
    while (t->old.first != NULL) {
        phi__mcp_toolbox *box = PHI__OWNER(t->old.first, phi__mcp_toolbox, link);
        phi__list_take(&t->old, &box->link);
        phi__mcp_toolbox_free(mcp, box);
    }
    if (t->now != NULL) phi__mcp_toolbox_free(mcp, t->now);
    phi__mcp_known_free(&t->known);
    phi__mcp_news_free(mcp, &t->news);
    phi__free(phi__mcp_session_memory(mcp), t, sizeof *t);
}

static const phi__mcp_part *phi__mcp_tools_table(void) {
    static const phi__mcp_part table = {
        phi__mcp_tools_ready, phi__mcp_tools_down, phi__mcp_tools_notified, NULL, NULL, NULL,
        phi__mcp_tools_held,  phi__mcp_tools_free};
    return &table;
}

PHI__FN phi_status phi__mcp_tools_join(phi_mcp *mcp) {
    phi_memory *memory = phi__mcp_session_memory(mcp);
    phi__mcp_tools *t = (phi__mcp_tools *)phi__alloc(memory, sizeof *t);
    if (t == NULL) return PHI_NO_MEMORY;
    t->mcp = mcp;
    t->version = 1;
    t->stale_us = UINT64_MAX;
    t->timer.fire = phi__mcp_tools_fire;
    t->source.user_data = t;
    t->source.version = phi__mcp_tools_version;
    t->source.take = phi__mcp_tools_take;
    t->source.release = phi__mcp_tools_release;
    phi__mcp_calls_fill(&t->functions);
    phi_arena_init(&t->arena, memory, 0);
    phi__map_init(&t->names, memory);
    phi__mcp_known_init(&t->known, memory);
    phi__mcp_session_join(mcp, phi__mcp_tools_table(), t);
    return PHI_OK;
}

/* ---- public ---- */

PHI_API const phi_tool_source *phi_mcp_tools(phi_mcp *mcp) {
    return mcp != NULL ? &phi__mcp_tools_of(mcp)->source : NULL;
}

static size_t phi__mcp_tools_count(const phi__mcp_tools *t) {
    return t != NULL && t->now != NULL ? t->now->count : 0;
}

PHI_API const phi_mcp_tool *phi_mcp_tool_at(const phi_mcp *mcp, size_t index) {
    const phi__mcp_tools *t = mcp != NULL ? phi__mcp_tools_of(mcp) : NULL;
    const phi__mcp_known_tool *known;
    phi_mcp_tool *shown;
    if (index >= phi__mcp_tools_count(t)) return NULL;
    shown = &t->now->items[index].shown;
    known = shown->held ? phi__mcp_known_find(&t->known, shown->original) : NULL;
    shown->new_hash = known != NULL ? known->waiting_hash : NULL;
    return shown;
}

static void phi__mcp_tools_quiet(void *ctx, phi_str original, const char *message) {
    (void)ctx, (void)original, (void)message;
}

/* The list as it is, with one definition that was accepted. */
static phi_status phi__mcp_tools_again(phi__mcp_tools *t, phi_str accepted) {
    phi_memory *memory = phi__mcp_session_memory(t->mcp);
    size_t count = t->now->count, i;
    size_t bytes = count * sizeof(phi__mcp_definition);
    phi__mcp_definition *all = (phi__mcp_definition *)phi__alloc(memory, bytes);
    phi__mcp_toolbox *box = NULL;
    phi_status status;
    if (all == NULL) return PHI_NO_MEMORY;
    for (i = 0; i < count; i++) {
        const phi__mcp_tool *item = &t->now->items[i];
        const phi__mcp_known_tool *known = phi__mcp_known_find(&t->known, item->shown.original);
        bool this_one = phi_str_equal(item->shown.original, accepted);
        all[i].original = item->shown.original;
        all[i].definition = this_one && known != NULL ? known->waiting : item->definition;
        all[i].held = item->shown.held && !this_one;
    }
    status = phi__mcp_toolbox_new(t->mcp, all, count, phi__mcp_tools_marks(t), &t->functions,
                                  phi__mcp_tools_quiet, t, &box);
    phi__free(memory, all, bytes);
    if (status == PHI_OK) phi__mcp_tools_install(t, box);
    return status;
}

PHI_API phi_status phi_mcp_accept_tool(phi_mcp *mcp, const char *name) {
    phi__mcp_tools *t = mcp != NULL ? phi__mcp_tools_of(mcp) : NULL;
    size_t count = phi__mcp_tools_count(t), i;
    for (i = 0; name != NULL && i < count; i++) {
        const phi_mcp_tool *shown = &t->now->items[i].shown;
        phi__mcp_known_tool *known;
        phi_status status;
        if (!phi__str_is(shown->name, name)) continue;
        known = shown->held ? phi__mcp_known_find(&t->known, shown->original) : NULL;
        if (known == NULL) return PHI_OK;
        status = phi__mcp_tools_again(t, known->name);
        if (status == PHI_OK) phi__mcp_known_accept(&t->known, known);
        return status;
    }
    return PHI_NOT_FOUND;
}
