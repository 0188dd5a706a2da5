/* run_in.h - makes, begins, detaches and destroys runs; and fails them, with one error event, also
   when memory ran out. */
#ifndef PHI_LOOP_RUN_IN_H
#define PHI_LOOP_RUN_IN_H

#include "loop/loop_in.h"
#include "history/history_in.h"
#include "history/policy.h"
#include "loop/run.h"
#include "loop/tool.h"
#include "model/event.h"
#include "model/failure.h"

/* Moves a run that has not begun, and its prompts, into the agent's new log; its entries in the old
   log stay there. False: no memory, and the run is unchanged. */
PHI__FN bool phi__draft_rehome(phi__run *run, const phi_thread *before);

/* AGENT_START, unless it is out: before the run, or a snapshot of it, failed or went on. False: the
   reserve was used, and the run must end. */
PHI__FN bool phi__run_emit_start(phi__run *run);

/* The run was refused: its end is its only event from here on. */
PHI__FN void phi__run_silence(phi__run *run);

/* failure: in the thread, or static. */
PHI__FN phi__state phi__run_fail(phi__run *run, const phi_failure *failure, phi_status status);

/* Handles PHI__RUN_LOST: releases everything that the run holds of its turn. */
PHI__FN phi__state phi__run_no_memory(phi__run *run);

/* Copies a text of the request's into *at, run->own.extra or run->own.context; empty: none. False:
   no memory. */
PHI__FN bool phi__run_take_text(phi__run *run, phi_str text, phi_str *at);

/* The same of its format; NULL: none of its own. */
PHI__FN bool phi__run_take_format(phi__run *run, const phi_format *format);

/* For phi__run_load: a run that began with an entry of its agent's thread; the agent's, from
   phi__run_take on. NULL: no memory. */
PHI__FN phi__run *phi__run_make_for(phi__agent *agent, const phi__entry *start);
PHI__FN void phi__run_take(phi__run *run);
PHI__FN void phi__run_unmake(phi__run *run);

#endif
