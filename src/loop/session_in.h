/* session_in.h - session ids, and how many runs each has had: the N of "session.config.N".

   Agents of one runtime that are given the same session id share one object, so that their runs,
   also simultaneous ones, never get the same loop id. Counted per segment (config), from 1. Objects
   live in the runtime's memory, in a hash table that grows, and are freed with their last user.
   Threads: the pumping thread. */
#ifndef PHI_LOOP_SESSION_IN_H
#define PHI_LOOP_SESSION_IN_H

#include "loop/loop_in.h"
#include "base/base_in.h"
#include "history/history_in.h"

/* The next number of a segment; 0: no memory, and nothing changed. */
PHI__FN uint32_t phi__session_next(phi__sessions *sessions, phi__session *session, phi_str segment);

/* Gives the last number back: a run that could not begin. */
PHI__FN void phi__session_undo(phi__session *session, phi_str segment);

/* Exchanges *session for one of another id (a UUID), whose counts are empty. A session without
   other users is renamed, which needs no memory. False: no memory, and nothing changed. */
PHI__FN bool phi__session_renew(phi__sessions *sessions, phi__session **session, phi_str id);

/* A run of that id begins. False: no memory, and nothing changed. */
PHI__FN bool phi__line_begin_run(phi__agent *agent, phi_str loop_id);

#endif
