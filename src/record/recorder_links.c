/* recorder_links.c - links loops of different sessions: children that tools ran, and their
   parents. */
#include "record/recorder_in.h"

PHI__FN phi__loop_box *phi__recorder_links_anywhere(const phi_recorder *rec, phi_str loop_id) {
    phi__loop_box *loop = phi__recorder_known_open(rec, loop_id);
    phi__session_box *box =
        loop == NULL ? phi__recorder_known_session(rec, phi__session_id_of(loop_id)) : NULL;
    const phi_loop_record *record = NULL;
    if (loop != NULL) return loop;
    if (box != NULL) record = phi__session_get_loop(&box->pub, loop_id);
    for (box = NULL; record == NULL && (box = phi__recorder_known_each(rec, box)) != NULL;)
        record = phi__session_get_loop(&box->pub, loop_id);
    return record != NULL ? phi__session_loop_of((phi_loop_record *)(uintptr_t)record) : NULL;
}

/* Fills fields that are not known yet. */
static bool phi__recorder_links_spawned_by(phi__session_box *child, phi_str session_id,
                                           phi_str loop_id, const phi_child_ref *ref) {
    phi_spawn_ref *parent = &child->parent;
    bool ok = true;
    if (child->pub.parent == NULL)
        ok = phi__session_keep(child, session_id, &parent->parent_session_id) &&
             phi__session_keep(child, loop_id, &parent->parent_loop_id);
    else if (!phi_str_equal(parent->parent_loop_id, loop_id))
        return true;
    if (ok) child->pub.parent = parent;
    if (!ok || ref == NULL || parent->tool_call_id.len > 0 || parent->tool_name.len > 0) return ok;
    return phi__session_keep(child, ref->tool_name, &parent->tool_name) &&
           phi__session_keep(child, ref->tool_call_id, &parent->tool_call_id);
}

/* Of a call whose end came before the child's beginning: one of `loop` that names the child. */
static const phi_child_ref *phi__recorder_links_ref(const phi_loop_record *loop,
                                                    const phi__loop_box *child, bool session_too) {
    size_t i;
    for (i = 0; i < loop->spawned_count; i++)
        if (phi_str_equal(loop->spawned[i].child_loop_id, child->pub.loop_id) ||
            (session_too &&
             phi_str_equal(loop->spawned[i].child_session_id, child->box->pub.session_id)))
            return &loop->spawned[i];
    return NULL;
}

/* A new session's first loop: whether an ended call names it as its own run. */
static bool phi__recorder_links_claimed(phi_recorder *rec, phi__loop_box *child) {
    phi__session_box *box = NULL;
    size_t i;
    while ((box = phi__recorder_known_each(rec, box)) != NULL)
        for (i = 0; box != child->box && i < box->pub.loop_count; i++) {
            const phi_loop_record *loop = box->pub.loops[i];
            const phi_child_ref *ref = phi__recorder_links_ref(loop, child, true);
            if (ref != NULL)
                return phi__recorder_links_spawned_by(child->box, loop->session_id, loop->loop_id,
                                                      ref);
        }
    return true;
}

PHI__FN bool phi__recorder_links_parent(phi_recorder *rec, phi__loop_box *loop, bool is_first) {
    phi_str id = loop->pub.parent_loop_id, session_id;
    phi__loop_box *parent;
    if (id.len == 0) return !is_first || phi__recorder_links_claimed(rec, loop);
    if (phi_str_equal(id, loop->pub.loop_id) || phi__session_get_loop(&loop->box->pub, id) != NULL)
        return true;
    parent = phi__recorder_links_anywhere(rec, id);
    session_id = parent != NULL ? parent->pub.session_id : phi__session_id_of(id);
    if (phi_str_equal(session_id, loop->pub.session_id)) return true;
    return phi__recorder_links_spawned_by(
        loop->box, session_id, id,
        parent != NULL ? phi__recorder_links_ref(&parent->pub, loop, true) : NULL);
}

PHI__FN bool phi__recorder_links_spawn(phi_recorder *rec, phi__loop_box *loop,
                                       const phi_event *ev) {
    phi__loop_box *child = phi__recorder_links_anywhere(rec, ev->child_loop_id);
    phi__session_box *to = loop->box, *of;
    phi_child_ref *refs, *ref;
    phi_str session_id =
        child != NULL ? child->pub.session_id : phi__session_id_of(ev->child_loop_id);
    size_t i, n = loop->pub.spawned_count;
    for (i = 0; i < n; i++)
        if (phi_str_equal(loop->pub.spawned[i].tool_call_id, ev->tool_call_id) &&
            phi_str_equal(loop->pub.spawned[i].child_loop_id, ev->child_loop_id))
            return true;
    refs = (phi_child_ref *)phi__session_room_for(to, loop->pub.spawned, n, &loop->spawned_cap,
                                                  n + 1, sizeof *refs);
    if (refs == NULL) return false;
    loop->pub.spawned = refs;
    ref = &refs[n];
    if (!phi__session_keep(to, ev->tool_call_id, &ref->tool_call_id) ||
        !phi__session_keep(to, ev->tool_name, &ref->tool_name) ||
        !phi__session_keep(to, ev->child_loop_id, &ref->child_loop_id) ||
        !phi__session_keep(to, session_id, &ref->child_session_id))
        return false;
    loop->pub.spawned_count++;
    of = child != NULL ? child->box : phi__recorder_known_session(rec, session_id);
    if (of == NULL || of == to) return true;
    return phi__recorder_links_spawned_by(of, loop->pub.session_id, loop->pub.loop_id, ref);
}
