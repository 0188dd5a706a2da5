/* recorder_known.c - finds a recorder's sessions, open and completed, and its running or pending
   loops, by id. */
#include "record/recorder_in.h"
#include "wire/hash_in.h"

/* ---- sessions ---- */

PHI__FN void phi__recorder_known_put(phi_recorder *rec, phi__session_box *box, bool completed) {
    box->completed = completed;
    phi__list_push(completed ? &rec->completed : &rec->open, &box->link);
}

PHI__FN void phi__recorder_known_take(phi_recorder *rec, phi__session_box *box) {
    phi__list_take(box->completed ? &rec->completed : &rec->open, &box->link);
}

PHI__FN void phi__recorder_known_move(phi_recorder *rec, phi__session_box *box, bool completed) {
    if (box->completed == completed) return;
    phi__recorder_known_take(rec, box);
    phi__recorder_known_put(rec, box, completed);
}

PHI__FN phi__session_box *phi__recorder_known_each(const phi_recorder *rec,
                                                   const phi__session_box *last) {
    phi__link *link = last != NULL ? last->link.next : rec->completed.first;
    if (link == NULL && (last == NULL || last->completed)) link = rec->open.first;
    return link != NULL ? PHI__OWNER(link, phi__session_box, link) : NULL;
}

PHI__FN phi__session_box *phi__recorder_known_session(const phi_recorder *rec, phi_str session_id) {
    phi__session_box *box = NULL;
    while ((box = phi__recorder_known_each(rec, box)) != NULL)
        if (phi_str_equal(box->pub.session_id, session_id)) break;
    return box;
}

/* ---- loops ---- */

PHI__FN phi__loop_box *phi__recorder_known_open(const phi_recorder *rec, phi_str loop_id) {
    uint64_t hash = phi__hash(loop_id, 0);
    phi__loop_box *loop;
    size_t probe = 0;
    while ((loop = (phi__loop_box *)phi__map_each(&rec->loops, hash, &probe)) != NULL)
        if (phi_str_equal(loop->pub.loop_id, loop_id)) break;
    return loop;
}

PHI__FN phi__loop_box *phi__recorder_known_running(const phi_recorder *rec, phi_str loop_id) {
    phi__loop_box *loop = phi__recorder_known_open(rec, loop_id);
    return loop != NULL && loop->pub.status == PHI_LOOP_RUNNING ? loop : NULL;
}

PHI__FN void phi__recorder_known_enter(phi_recorder *rec, phi__loop_box *loop) {
    loop->hash = phi__hash(loop->pub.loop_id, 0);
    phi__map_add(&rec->loops, loop->hash, loop);
    loop->open = true;
    loop->box->open++;
}

PHI__FN void phi__recorder_known_leave(phi_recorder *rec, phi__loop_box *loop,
                                       phi_loop_status status) {
    phi__map_drop(&rec->loops, loop->hash, loop);
    loop->open = loop->in_turn = false;
    loop->box->open--;
    loop->pub.status = status;
}

PHI__FN void phi__recorder_known_abort(phi_recorder *rec, phi__session_box *box) {
    size_t i;
    for (i = 0; i < box->pub.loop_count; i++) {
        phi__loop_box *loop = phi__session_loop_of(box->pub.loops[i]);
        if (loop->open) phi__recorder_known_leave(rec, loop, PHI_LOOP_ABORTED);
    }
}
