/* tool_round_in.h - the calls of a turn, in the turn's memory: in the order of the answer, and
   logged in that order. What becomes of them is in run_tools.c. */
#ifndef PHI_LOOP_TOOL_ROUND_IN_H
#define PHI_LOOP_TOOL_ROUND_IN_H

#include "loop/types_in.h"

struct phi__repeat_guard;

typedef struct phi__round {
    phi__toolcall *calls; /* in the turn's arena */
    size_t count, next, emitted, running;
    size_t polled; /* calls after which steering was looked for */
    bool skipping; /* steering was found: what has not begun is skipped */
    bool answered; /* PHI_RESPOND_TOOL was called: no call is run, and no turn follows for them */
    bool repeated; /* a call repeated itself too often */
    struct phi__repeat_guard *repeat_guard; /* of the run; NULL: no tool has been called yet */
} phi__round;

PHI__FN void phi__round_clear(phi__run *run);  /* a turn begins */
PHI__FN void phi__round_forget(phi__run *run); /* there was none */
PHI__FN void phi__round_free(phi__run *run);   /* the run goes */
PHI__FN bool phi__round_doomed(const phi__run *run);
PHI__FN bool phi__round_follows(const phi__run *run); /* another turn, for its results */
/* Calls that have begun and whose results are not in the log. */
PHI__FN const phi__toolcall *phi__round_open(const phi__run *run, size_t *count);
/* The calls of the reply, none begun; nobody hears of it. False: no memory. */
PHI__FN bool phi__run_lay_calls(phi__run *run);
PHI__FN void phi__run_detach_tools(phi__run *run); /* tells them; frees nothing */
PHI__FN void phi__run_drop_tools(phi__run *run);

#endif
