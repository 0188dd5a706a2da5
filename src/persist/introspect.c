/* introspect.c - a lane's figures, computed from a view, and its newest message. */
#include "persist/introspect_in.h"

#include "history/history_in.h"
#include "wire/hash_in.h"

static bool phi__introspect_is_call(const phi_content *c) {
    return c->kind == PHI_CONTENT_TOOL_CALL && !c->incomplete;
}

/* ---- calls without a result ---- */

/* A result that stands further on, while the view is walked from its end. */
typedef struct phi__introspect_id {
    phi_str id;
    bool used, waits; /* waits: no call was met that it answers */
} phi__introspect_id;

typedef struct phi__introspect_walk {
    phi__introspect_id *ids; /* an open table, half empty */
    size_t cap;
    phi__open_call *calls;
    size_t count, all;
} phi__introspect_walk;

static phi__introspect_id *phi__introspect_place(const phi__introspect_walk *walk, phi_str id) {
    size_t at = (size_t)phi__hash(id, 0) & (walk->cap - 1);
    while (walk->ids[at].used && !phi_str_equal(walk->ids[at].id, id))
        at = (at + 1) & (walk->cap - 1);
    return &walk->ids[at];
}

static void phi__introspect_answer(phi__introspect_walk *walk, const phi_view_item *item) {
    size_t i;
    for (i = item->message->content_count; i > 0; i--) {
        const phi_content *c = &item->message->content[i - 1];
        phi__introspect_id *place;
        if (!phi__introspect_is_call(c)) continue;
        place = phi__introspect_place(walk, c->id);
        if (!place->waits) {
            walk->calls[walk->count].seq = item->from;
            walk->calls[walk->count++].block = i - 1;
        }
        place->waits = false;
    }
}

static void phi__introspect_result(phi__introspect_walk *walk, const phi_message *m) {
    phi__introspect_id *place = phi__introspect_place(walk, m->tool_call_id);
    place->id = m->tool_call_id;
    place->used = place->waits = true;
}

static bool phi__introspect_room(phi__introspect_walk *walk, const phi_view_item *items,
                                 size_t count, phi_arena *arena) {
    size_t results = 0, i, j;
    memset(walk, 0, sizeof *walk);
    for (i = 0; i < count; i++) {
        const phi_message *m = items[i].message;
        results += m->role == PHI_ROLE_TOOL_RESULT;
        for (j = 0; m->role == PHI_ROLE_ASSISTANT && j < m->content_count; j++)
            walk->all += phi__introspect_is_call(&m->content[j]);
    }
    for (walk->cap = 4; walk->cap / 2 < results && walk->cap <= SIZE_MAX / 4;) walk->cap *= 2;
    walk->ids =
        (phi__introspect_id *)phi__arena_zero(arena, phi__mul(walk->cap, sizeof *walk->ids));
    walk->calls =
        (phi__open_call *)phi_arena_alloc(arena, phi__mul(walk->all, sizeof *walk->calls));
    return walk->ids != NULL && walk->calls != NULL;
}

/* A result answers the nearest call of its id before it. */
PHI__FN bool phi__introspect_open_calls_find(const phi_view_item *items, size_t count,
                                             phi_arena *arena, phi__open_calls *out) {
    phi__introspect_walk walk;
    size_t i;
    if (!phi__introspect_room(&walk, items, count, arena)) return false;
    for (i = count; i > 0; i--) {
        const phi_message *m = items[i - 1].message;
        if (m->role == PHI_ROLE_TOOL_RESULT) phi__introspect_result(&walk, m);
        if (m->role == PHI_ROLE_ASSISTANT) phi__introspect_answer(&walk, &items[i - 1]);
    }
    out->calls = walk.calls;
    out->count = walk.count;
    out->all = walk.all;
    return true;
}

/* ---- figures ---- */

static void phi__introspect_count(phi_lane_figures *out, const phi_view_item *item) {
    const phi_message *m = item->message;
    size_t i;
    out->user += m->role == PHI_ROLE_USER;
    out->answers += m->role == PHI_ROLE_ASSISTANT;
    out->results += m->role == PHI_ROLE_TOOL_RESULT;
    out->extensions += m->role == PHI_ROLE_EXTENSION;
    out->made += (item->flags & PHI_ITEM_SYNTHETIC) != 0;
    out->summaries += (item->flags & PHI_ITEM_SUMMARY) != 0;
    out->tokens += item->tokens;
    for (i = 0; i < m->content_count; i++)
        if (m->content[i].kind == PHI_CONTENT_TEXT) out->text_bytes += m->content[i].text.len;
}

PHI__FN phi_lane_figures phi__introspect_figures_of(const phi_view_item *items, size_t count,
                                                    const phi__open_calls *open) {
    phi_lane_figures out;
    size_t i;
    memset(&out, 0, sizeof out);
    out.messages = count;
    out.calls = open->all;
    out.open_calls = open->count;
    for (i = 0; i < count; i++) phi__introspect_count(&out, &items[i]);
    return out;
}

static bool phi__introspect_has_text(const phi_message *m) {
    size_t i;
    for (i = 0; i < m->content_count; i++)
        if (m->content[i].kind == PHI_CONTENT_TEXT && m->content[i].text.len > 0) return true;
    return false;
}

/* ---- public ---- */

PHI_API const phi_message *phi_thread_last(const phi_thread *thread, phi_role role,
                                           bool with_text) {
    size_t i = thread != NULL ? thread->fold.count : 0;
    for (; i > 0; i--) {
        const phi_message *m = thread->fold.items[i - 1].message;
        if ((role == 0 || m->role == role) && (!with_text || phi__introspect_has_text(m))) return m;
    }
    return NULL;
}
