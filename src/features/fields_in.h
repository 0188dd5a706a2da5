/* fields_in.h - reports values of arguments to tools (on_field) while they arrive. */
#ifndef PHI_FEATURES_FIELDS_IN_H
#define PHI_FEATURES_FIELDS_IN_H

#include "features/order_in.h"
#include "features/features.h"
#include "loop/feature_in.h"

#endif
