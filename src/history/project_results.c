/* project_results.c - matches results and calls of the projected items. */
#include "history/projecting_in.h"

#include "model/texts_in.h"
#include "wire/hash_in.h"

static phi__found **phi__project_results_bucket(phi__projecting *p, phi_str id) {
    return &p->found[phi__hash(id, 0) % PHI__PROJECT_BUCKETS];
}

PHI__FN void phi__project_results_find(phi__projecting *p, size_t at) {
    phi__found **bucket =
        phi__project_results_bucket(p, phi__project_items_message(p->order, at)->tool_call_id);
    phi__found *found = (phi__found *)phi__arena_zero(p->arena, sizeof *found);
    if (found == NULL) {
        p->failed = true;
        return;
    }
    found->at = at;
    found->later = *bucket;
    *bucket = found;
}

/* The first result of a call, behind its answer; what else has its id is of no call. SIZE_MAX:
   none. */
static size_t phi__project_results_take(phi__projecting *p, phi_str id) {
    phi__found **bucket = phi__project_results_bucket(p, id), **link = bucket, *found;
    size_t at = SIZE_MAX;
    while ((found = *link) != NULL) {
        if (!phi_str_equal(phi__project_items_message(p->order, found->at)->tool_call_id, id) ||
            found->spent) {
            link = &found->later;
            continue;
        }
        if (at == SIZE_MAX) {
            at = found->at;
            *link = found->later;
            continue;
        }
        found->spent = true;
        link = &found->later;
    }
    return at;
}

static const phi_message *phi__project_results_missing(phi__projecting *p,
                                                       const phi_content *call) {
    phi_message *m = (phi_message *)phi__arena_zero(p->arena, sizeof *m);
    phi_content *c = (phi_content *)phi__arena_zero(p->arena, sizeof *c);
    if (m == NULL || c == NULL) {
        p->failed = true;
        return NULL;
    }
    c->kind = PHI_CONTENT_TEXT;
    c->text = phi_str_of(phi__texts_get(p->order->texts, PHI_TEXT_RESULT_MISSING));
    m->role = PHI_ROLE_TOOL_RESULT;
    m->is_error = true;
    m->content = c;
    m->content_count = 1;
    m->tool_call_id = call->id;
    m->tool_name = call->name;
    return m;
}

static void phi__project_results_join(phi__projecting *p, phi__group *g, const phi_content *call) {
    size_t at = phi__project_results_take(p, call->id), n = g->result_count++;
    g->places[n] = at;
    if (at != SIZE_MAX) {
        g->results[n] = phi__project_items_message(p->order, at);
        g->tokens = phi__projecting_sum(g->tokens, phi__project_items_tokens(p->order, at));
        return;
    }
    g->results[n] = phi__project_results_missing(p, call);
    g->made++;
    g->tokens =
        phi__projecting_sum(g->tokens, phi_tokens_of_message(p->order->counter, g->results[n]));
}

PHI__FN void phi__project_results(phi__projecting *p, phi__group *g, size_t calls) {
    const phi_message *m = g->message;
    size_t i;
    if (calls == 0) return;
    g->results =
        (const phi_message **)phi_arena_alloc(p->arena, phi__mul(calls, sizeof *g->results));
    g->places = (size_t *)phi_arena_alloc(p->arena, phi__mul(calls, sizeof *g->places));
    p->failed = p->failed || g->results == NULL || g->places == NULL;
    for (i = 0; i < m->content_count && !p->failed; i++)
        if (phi__project_items_is_call(&m->content[i]))
            phi__project_results_join(p, g, &m->content[i]);
}
