/* session_in.h - session ids, and how many runs each has had: the N of "session.config.N".

   Agents of one runtime that are given the same session id share one object, so that their runs,
   also simultaneous ones, never get the same loop id. Counted per segment (config), from 1. Objects
   live in the runtime's memory, in a hash table that grows, and are freed with their last user.
   Threads: the pumping thread. */
#ifndef PHI_LOOP_SESSION_IN_H
#define PHI_LOOP_SESSION_IN_H

#include "base/map_in.h"
#include "history/thread_in.h"
#include "loop/types_in.h"

/* One segment's count. */
typedef struct phi__session_count {
    struct phi__session_count *next;
    uint32_t runs;
    uint32_t len; /* of the name, which stands behind this */
} phi__session_count;

typedef struct phi__session {
    uint32_t refs;
    uint64_t hash;
    uint64_t number; /* from 1; another one whenever its counts begin anew */
    phi_str id;      /* in memory of the object's own, with room for a UUID at least; terminated */
    size_t id_room;
    phi__session_count *counts;
} phi__session;

typedef struct phi__sessions {
    phi_memory *memory;
    phi__map map;     /* by id */
    uint64_t numbers; /* given so far */
} phi__sessions;

PHI__FN void phi__session_init(phi__sessions *sessions, phi_memory *memory);

/* every session must have been dropped */
PHI__FN void phi__session_free_all(phi__sessions *sessions);

/* The session of an id, made where there is none, with one more user. NULL: no memory. */
PHI__FN phi__session *phi__session_take(phi__sessions *sessions, phi_str id);
PHI__FN void phi__session_drop(phi__sessions *sessions, phi__session *session); /* NULL: harmless */

/* The next number of a segment; 0: no memory, and nothing changed. */
PHI__FN uint32_t phi__session_next(phi__sessions *sessions, phi__session *session, phi_str segment);

/* How many numbers of a segment were given; and that at least so many were (more than 2^31 are not
   believed). False: no memory. */
PHI__FN uint32_t phi__session_count_so_far(phi__session *session, phi_str segment);
PHI__FN bool phi__session_go_on(phi__sessions *sessions, phi__session *session, phi_str segment,
                                uint64_t runs);

/* The N of "session.segment.N", and the segment; 0: the id is not of this session. And that such a
   run was: numbers count on from it. False: no memory. */
PHI__FN uint64_t phi__session_number(const phi__session *session, phi_str loop_id,
                                     phi_str *segment);
PHI__FN bool phi__session_saw(phi__sessions *sessions, phi__session *session, phi_str loop_id);

/* The same of every loop id that a log in memory names, in view or not. Entries are read once.
   False: no memory. */
PHI__FN bool phi__session_read(phi__sessions *sessions, phi__session *session, phi_thread *thread);

/* Gives the last number back: a run that could not begin. */
PHI__FN void phi__session_undo(phi__session *session, phi_str segment);

/* Exchanges *session for one of another id (a UUID), whose counts are empty. A session without
   other users is renamed, which needs no memory. False: no memory, and nothing changed. */
PHI__FN bool phi__session_renew(phi__sessions *sessions, phi__session **session, phi_str id);

typedef struct phi__line {
    phi__session *session;   /* shared by the agents of one session id */
    phi_str last_loop_id;    /* in memory of its own; empty: none in this session */
    uint64_t last_active_us; /* when the last run began; 0: none in this session */
    uint32_t loops;          /* runs so far, in all sessions */
    phi_str segment;         /* of loop ids: provider.model[.thinking] */
    bool segment_given;      /* by the desc: it stays when the model changes */
} phi__line;

/* Of a new agent. False: no memory. */
PHI__FN bool phi__line_join(phi__agent *agent, phi_str session_id);
PHI__FN void phi__line_free(phi__agent *agent); /* of one without a session, too */

/* Replaces the session by another, with one more user. */
PHI__FN void phi__line_move(phi__agent *agent, phi__session *session);

/* As phi__session_renew. */
PHI__FN bool phi__line_renew(phi__agent *agent, phi_str session_id);

/* The agent's last run is of another session: this one has had none. */
PHI__FN void phi__line_restart(phi__agent *agent);

/* The parent of the next run: copied; or, in memory of the agent's, taken. False: no memory. */
PHI__FN bool phi__line_remember(phi__agent *agent, phi_str loop_id);
PHI__FN void phi__line_take_last(phi__agent *agent, phi_str loop_id);

/* A run of that id begins. False: no memory, and nothing changed. */
PHI__FN bool phi__line_begin_run(phi__agent *agent, phi_str loop_id);
PHI__FN void phi__line_active(phi__agent *agent); /* a run goes on, after a snapshot */

/* So many runs were before, at least. */
PHI__FN void phi__line_count(phi__agent *agent, uint32_t loops);

/* segment: in the memory of the agent's model. */
PHI__FN void phi__line_set_segment(phi__agent *agent, phi_str segment);
PHI__FN void phi__line_keep_segment(phi__agent *agent); /* whatever the model is */

#endif
