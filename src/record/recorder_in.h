/* recorder_in.h - structs and functions that the files of the recorder share.

   Each session is in one of two lists, open or completed; loops that run or are pending are in a
   table by id. */
#ifndef PHI_RECORD_RECORDER_IN_H
#define PHI_RECORD_RECORDER_IN_H

#include "base/base_in.h"
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

/* ---- recorder.c ---- */

/* All sessions, completed ones first; NULL is before the first, and after the last. */
PHI__FN phi__session_box *phi__known_each(const phi_recorder *rec, const phi__session_box *last);

#endif
