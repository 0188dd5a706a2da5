/* capture_in.h - emits the request of each turn for hosts that want it (PHI_EV_TURN_REQUEST). */
#ifndef PHI_FEATURES_CAPTURE_IN_H
#define PHI_FEATURES_CAPTURE_IN_H

#include "features/order_in.h"
#include "features/features.h"
#include "loop/feature_in.h"

#endif
