/* table_in.h - the table of all features, for the runtime. */
#ifndef PHI_FEATURES_TABLE_IN_H
#define PHI_FEATURES_TABLE_IN_H

#include "loop/feature_in.h"

/* In the order in which they are called; ends with NULL. */
PHI__FN const phi__feature_fn *phi__table_features(void);

#endif
