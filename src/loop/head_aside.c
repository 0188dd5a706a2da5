/* head_aside.c - takes tools that are no part of a head out of a request, and gives them back. */
#include "loop/head_in.h"

#include "loop/loop_in.h"
#include "wire/hash_in.h"

/* True if a JSON string of the text is the name. */
static bool phi__head_aside_names(phi_str text, phi_str name) {
    size_t at;
    for (at = 0; at + name.len + 1 < text.len; at++)
        if (text.at[at] == '"' && text.at[at + 1 + name.len] == '"' &&
            memcmp(text.at + at + 1, name.at, name.len) == 0)
            return true;
    return false;
}

/* The head defines a tool of this name, or an update of it has, though it may be removed since. */
static bool phi__head_aside_knew(const phi__head *head, const phi__request_spec *spec,
                                 phi_str name) {
    char id[17];
    size_t i;
    for (i = 0; i < head->count; i++)
        if (phi_str_equal(head->tools[i].name, name)) return true;
    phi__hash_hex(head->id, id);
    for (i = 0; i < spec->item_count; i++) {
        const phi_message *m = spec->items[i].message;
        if (m->is_update && phi__str_find(m->details, 0, "{\"head\":") == 0 &&
            phi__head_aside_names(m->details, phi__str(id, 16)) &&
            phi__head_aside_names(m->details, name))
            return true;
    }
    return false;
}

/* Raw tools, and those of a provider's tool search; but a tool that the model knew already, or that
   the head defines, stays where it is. head: NULL where a new one is made. */
static bool phi__head_aside_is(const phi__head *head, const phi__request_spec *spec,
                               const phi__tool_view *tool) {
    if (tool->is_raw || !tool->deferred) return tool->is_raw;
    return head == NULL || !phi__head_aside_knew(head, spec, tool->name);
}

PHI__FN bool phi__head_aside_take(const phi__head *head, phi__request_spec *spec, phi_arena *arena,
                                  phi__head_aside *aside) {
    phi__tool_view *own;
    bool any = false;
    size_t i, n = 0;
    memset(aside, 0, sizeof *aside);
    for (i = 0; i < spec->tool_count; i++)
        any = any || spec->tools[i].is_raw || spec->tools[i].deferred;
    if (!any) return true;
    own = (phi__tool_view *)phi_arena_alloc(arena, phi__mul(2 * spec->tool_count, sizeof *own));
    if (own == NULL) return false;
    aside->tools = own + spec->tool_count;
    for (i = 0; i < spec->tool_count; i++)
        if (phi__head_aside_is(head, spec, &spec->tools[i])) {
            aside->deferred = aside->deferred || spec->tools[i].deferred;
            aside->tools[aside->count++] = spec->tools[i];
        } else {
            own[n] = spec->tools[i];
            own[n++].deferred = false;
        }
    spec->tools = own;
    spec->tool_count = n;
    return true;
}

PHI__FN bool phi__head_aside_give(const phi__agent *agent, phi__request_spec *spec,
                                  phi_arena *arena, const phi__head_aside *aside, bool searches) {
    phi__tool_view *all;
    spec->searches = searches && agent->codec->rules->defers != NULL &&
                     agent->codec->rules->defers(&agent->desc.model);
    if (aside->count == 0) return true;
    all = (phi__tool_view *)phi_arena_alloc(
        arena, phi__mul(phi__add(spec->tool_count, aside->count), sizeof *all));
    if (all == NULL) return false;
    if (spec->tool_count > 0) memcpy(all, spec->tools, spec->tool_count * sizeof *all);
    memcpy(all + spec->tool_count, aside->tools, aside->count * sizeof *all);
    spec->tools = all;
    spec->tool_count += aside->count;
    return true;
}
