/* trace_link.c - runs that a tool call began, or that stand inside of another run: finds the run
   above them; and tells runs with the same ids apart, as copies of a thread have. */
#include "base/sha256_in.h"
#include "trace/trace_in.h"
#include "wire/hash_in.h"

PHI__FN const phi__trace_link *phi__trace_link_find(const phi_trace *t, phi_str loop_id) {
    size_t probe = 0;
    const phi__trace_link *link;
    while ((link = (const phi__trace_link *)phi__map_each(&t->spans.links, phi__hash(loop_id, 0),
                                                          &probe)) != NULL)
        if (phi_str_equal(link->child, loop_id)) return link;
    return NULL;
}

/* Whether that run is `child`, or stands somewhere below it. The links so far make no circle. */
static bool phi__trace_link_below(const phi_trace *t, phi_str loop, phi_str child) {
    const phi__trace_link *link;
    while (!phi_str_equal(loop, child)) {
        link = phi__trace_link_find(t, loop);
        if (link == NULL) return false;
        loop = link->above.loop;
    }
    return true;
}

PHI__FN void phi__trace_link_join(phi_trace *t, phi_str child, const phi__trace_name *above,
                                  phi_str call, phi_str tool) {
    phi__trace_link *link;
    if (child.len == 0 || phi__trace_link_find(t, child) != NULL ||
        phi__trace_link_below(t, above->loop, child))
        return;
    link = (phi__trace_link *)phi__arena_zero(&t->arena, sizeof *link);
    if (link == NULL || !phi__map_room(&t->spans.links) ||
        !phi__arena_str(&t->arena, child, &link->child) ||
        !phi__arena_str(&t->arena, above->session, &link->above.session) ||
        !phi__arena_str(&t->arena, above->loop, &link->above.loop) ||
        !phi__arena_str(&t->arena, call, &link->call) ||
        !phi__arena_str(&t->arena, tool, &link->tool)) {
        t->text.failed = true;
        return;
    }
    link->above.twin = above->twin;
    phi__map_add(&t->spans.links, phi__hash(child, 0), link);
}

/* ---- runs with the same ids ---- */

typedef struct phi__trace_twins {
    unsigned char ids[32]; /* a hash of them */
    uint32_t count;
} phi__trace_twins;

static void phi__trace_link_ids(phi_str session, phi_str loop, unsigned char out[32]) {
    phi__sha256 sha;
    phi__sha256_begin(&sha);
    phi__sha256_add(&sha, session.at, session.len);
    phi__sha256_add(&sha, "", 1);
    phi__sha256_add(&sha, loop.at, loop.len);
    phi__sha256_end(&sha, out);
}

PHI__FN uint32_t phi__trace_link_twin(phi_trace *t, phi_str session, phi_str loop) {
    unsigned char ids[32];
    phi__trace_twins *twins;
    uint64_t hash = phi__hash(loop, 0);
    size_t probe = 0;
    phi__trace_link_ids(session, loop, ids);
    while ((twins = (phi__trace_twins *)phi__map_each(&t->spans.twins, hash, &probe)) != NULL)
        if (memcmp(twins->ids, ids, sizeof ids) == 0) return twins->count++;
    twins = (phi__trace_twins *)phi__arena_zero(&t->arena, sizeof *twins);
    if (twins == NULL || !phi__map_room(&t->spans.twins)) {
        t->text.failed = true;
        return 0;
    }
    memcpy(twins->ids, ids, sizeof ids);
    twins->count = 1;
    phi__map_add(&t->spans.twins, hash, twins);
    return 0;
}
