/* context_edits_in.h - prunes and reverts by tools, applied when their turn is over. */
#ifndef PHI_FEATURES_CONTEXT_EDITS_IN_H
#define PHI_FEATURES_CONTEXT_EDITS_IN_H

#include "loop/feature_in.h"

PHI__FN const phi__feature *phi__context_edits_feature(void);

#endif
