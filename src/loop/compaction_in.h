/* compaction_in.h - making smaller what a model sees: the states COMPACT and COMPACTED, and what
   leads to them. */
#ifndef PHI_LOOP_COMPACTION_IN_H
#define PHI_LOOP_COMPACTION_IN_H

#include "loop/types_in.h"
#include "model/failure.h"
#include "history/compact.h"

struct phi__compacted;

typedef struct phi__compactions {
    uint32_t count, idle; /* of this turn; those that gained nothing */
    /* What made the last one, in the thread; NULL: the view's size did. */
    const phi_failure *overflow;
    struct phi__compacted *plan; /* of the next one, in the turn's arena; NULL: none */
    struct phi_compaction *told; /* the one that is under way, in the thread */
} phi__compactions;

PHI__FN phi__state phi__run_compact(phi__run *run, bool *wait);
PHI__FN phi__state phi__run_compacted(phi__run *run, bool *wait);
/* Where a turn that has begun goes on: COMPACT where its view nears the window, else TRANSFORM. And
   where a run of phi_compact does. */
PHI__FN phi__state phi__run_fit(phi__run *run);
PHI__FN phi__state phi__run_shrink(phi__run *run);
/* Whether a compaction now would do anything. PHI_NO_MEMORY. */
PHI__FN phi_status phi__compaction_gains(const phi__agent *agent, bool *gains);
/* Compacts what the agent shows now, without hooks or events; a summary has so many tokens at most,
   or as many as the agent's are to have. *did: something was gained. */
PHI__FN phi_status phi__compaction_now(phi__agent *agent, uint64_t summary_tokens, bool *did);
/* What the last one left says nothing about what is shown now. */
PHI__FN void phi__compaction_forget(phi__agent *agent);
PHI__FN void phi__compaction_clear(phi__run *run); /* a turn begins */
/* What was asked does not fit, a provider says. failure: in the thread; then COMPACT follows. */
PHI__FN void phi__compaction_overflow(phi__run *run, const phi_failure *failure);
PHI__FN bool phi__compaction_overflowed(const phi__run *run);

#endif
