/* compactor_in.h - the job of a host's compactor, which runs beside the run. */
#ifndef PHI_FEATURES_COMPACTOR_IN_H
#define PHI_FEATURES_COMPACTOR_IN_H

#include "loop/compactor.h"
#include "loop/types_in.h"

struct phi__compacted;
typedef struct phi__compactor_job phi__compactor_job;

/* Begins a job, for a view of `target` tokens, where none is at work. PHI_OK: one is at work;
   PHI_NOT_FOUND: the host wants none; PHI_STALE: the agent is gone.
   *job: the job of the agent's compactor; NULL: none. */
PHI__FN phi_status phi__compactor_start(phi__agent *agent, phi__compactor_job **job,
                                        const phi_compaction_config *config, uint64_t target,
                                        bool at_memory_limit);
/* Looks for the result of a job. PHI_OK: its rewrite is *plan, in the arena; PHI_BUSY: it is at
   work; PHI_NOT_FOUND: nothing comes of it; PHI_STALE: the agent is gone; PHI_NO_MEMORY. */
PHI__FN phi_status phi__compactor_poll(phi__agent *agent, phi__compactor_job **job,
                                       phi_arena *arena, struct phi__compacted **plan);
/* Ends a job that is not needed any more; it may call the host. */
PHI__FN void phi__compactor_forget(phi__agent *agent, phi__compactor_job **job);

#endif
