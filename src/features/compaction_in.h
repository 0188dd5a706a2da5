/* compaction_in.h - compacts the view: before a request that nears the window, after one that did
   not fit, and at the host's request. */
#ifndef PHI_FEATURES_COMPACTION_IN_H
#define PHI_FEATURES_COMPACTION_IN_H

#include "features/order_in.h"
#include "loop/compactor.h"
#include "loop/feature_in.h"
#include "loop/types_in.h"

struct phi__compacted;
PHI__FN const phi__feature *phi__compaction_feature(void);

/* Ends the job of the agent's compactor, if there is one; it may call the host. */
PHI__FN void phi__compaction_forget(phi__agent *agent);

/* Whether a compaction now would do anything. PHI_NO_MEMORY; PHI_UNSUPPORTED. */
PHI__FN phi_status phi__compaction_gains(const phi__agent *agent, bool *gains);

#endif
