/* context_edits_in.h - prunes and reverts by tools, applied when their turn is over. */
#ifndef PHI_FEATURES_CONTEXT_EDITS_IN_H
#define PHI_FEATURES_CONTEXT_EDITS_IN_H

#include "features/order_in.h"
#include "features/features.h"
#include "loop/feature_in.h"

#endif
