/* effects_in.h - applies the effects of tools on the state that they share. */
#ifndef PHI_FEATURES_EFFECTS_IN_H
#define PHI_FEATURES_EFFECTS_IN_H

#include "features/order_in.h"
#include "features/features.h"
#include "features/effects.h"
#include "loop/feature_in.h"

#endif
