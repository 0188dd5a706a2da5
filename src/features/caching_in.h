/* caching_in.h - counts hits and misses of prompt caching. */
#ifndef PHI_FEATURES_CACHING_IN_H
#define PHI_FEATURES_CACHING_IN_H

#include "features/order_in.h"
#include "features/features.h"
#include "features/caching.h"
#include "loop/feature_in.h"

#endif
