/* caching_in.h - counts hits and misses of prompt caching. */
#ifndef PHI_FEATURES_CACHING_IN_H
#define PHI_FEATURES_CACHING_IN_H

#include "features/caching.h"
#include "loop/feature_in.h"

PHI__FN const phi__feature *phi__caching_feature(void);

#endif
