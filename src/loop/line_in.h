/* line_in.h - how an agent's runs are named and follow each other: its session, the last run, and
   the segment of loop ids. */
#ifndef PHI_LOOP_LINE_IN_H
#define PHI_LOOP_LINE_IN_H

#include "loop/session_in.h"
#include "loop/types_in.h"

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
