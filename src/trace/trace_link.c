/* trace_link.c - runs that a tool call began, or that stand inside of another run: finds the run
   above them. */
#include "trace/trace_in.h"
#include "wire/hash_in.h"

#ifndef PHI_NO_TRACE

PHI__FN const phi__trace_link *phi__trace_link_find(const phi_trace *t, phi_str loop_id) {
    size_t probe = 0;
    const phi__trace_link *link;
    while ((link = (const phi__trace_link *)phi__map_each(&t->spans.links, phi__hash(loop_id, 0),
                                                          &probe)) != NULL)
        if (phi_str_equal(link->child, loop_id)) return link;
    return NULL;
}

PHI__FN void phi__trace_link_join(phi_trace *t, phi_str child, phi_str session, phi_str parent,
                                  phi_str call, phi_str tool) {
    phi__trace_link *link;
    if (child.len == 0 || phi_str_equal(child, parent) || phi__trace_link_find(t, child) != NULL)
        return;
    link = (phi__trace_link *)phi__arena_zero(&t->arena, sizeof *link);
    if (link == NULL || !phi__map_room(&t->spans.links) ||
        !phi__arena_str(&t->arena, child, &link->child) ||
        !phi__arena_str(&t->arena, session, &link->session) ||
        !phi__arena_str(&t->arena, parent, &link->parent) ||
        !phi__arena_str(&t->arena, call, &link->call) ||
        !phi__arena_str(&t->arena, tool, &link->tool)) {
        t->text.failed = true;
        return;
    }
    phi__map_add(&t->spans.links, phi__hash(child, 0), link);
}

#endif
