/* recorder_in.h - structs and functions that the files of the recorder share.

   Sessions stand in one of two lists, of open and of completed ones; loops that run or are pending
   in a table by id. */
#ifndef PHI_RECORD_RECORDER_IN_H
#define PHI_RECORD_RECORDER_IN_H

#include "base/list_in.h"
#include "base/map_in.h"
#include "record/recorder.h"
#include "record/session_in.h"

struct phi_recorder {
    phi_memory memory;
    phi_recorder_desc desc;
    phi_arena scratch; /* of one event */
    phi__list completed, open;
    phi__map loops;
    bool busy; /* inside of a callback */
};

/* ---- recorder_known.c ---- */

/* last */
PHI__FN void phi__recorder_known_put(phi_recorder *rec, phi__session_box *box, bool completed);
/* out of its list */
PHI__FN void phi__recorder_known_take(phi_recorder *rec, phi__session_box *box);
/* Where it is not there already. */
PHI__FN void phi__recorder_known_move(phi_recorder *rec, phi__session_box *box, bool completed);
/* All sessions, completed ones first; NULL is before the first, and after the last. */
PHI__FN phi__session_box *phi__recorder_known_each(const phi_recorder *rec,
                                                   const phi__session_box *last);
PHI__FN phi__session_box *phi__recorder_known_session(const phi_recorder *rec, phi_str session_id);

PHI__FN phi__loop_box *phi__recorder_known_open(const phi_recorder *rec, phi_str loop_id);
PHI__FN phi__loop_box *phi__recorder_known_running(const phi_recorder *rec, phi_str loop_id);
/* After phi__map_room. */
PHI__FN void phi__recorder_known_enter(phi_recorder *rec, phi__loop_box *loop);
PHI__FN void phi__recorder_known_leave(phi_recorder *rec, phi__loop_box *loop,
                                       phi_loop_status status);
/* All that is open of a session. */
PHI__FN void phi__recorder_known_abort(phi_recorder *rec, phi__session_box *box);

/* ---- recorder_links.c ---- */

/* A loop in any session; NULL: it is not known. */
PHI__FN phi__loop_box *phi__recorder_links_anywhere(const phi_recorder *rec, phi_str loop_id);
/* A loop whose parent is in another session makes its session that one's child. */
PHI__FN bool phi__recorder_links_parent(phi_recorder *rec, phi__loop_box *loop, bool is_first);
/* The end of a call that ran another agent. */
PHI__FN bool phi__recorder_links_spawn(phi_recorder *rec, phi__loop_box *loop, const phi_event *ev);

#endif
