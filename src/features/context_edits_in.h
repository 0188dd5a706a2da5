/* context_edits_in.h - prunes and reverts by tools, applied when their turn is over. */
#ifndef PHI_FEATURES_CONTEXT_EDITS_IN_H
#define PHI_FEATURES_CONTEXT_EDITS_IN_H

#include "loop/feature_in.h"

#ifndef PHI_NO_CONTEXT_EDITS
PHI__FN const phi__feature *phi__context_edits_feature(void);
#endif

#endif
