/* capture_in.h - what a turn is about to send, told once a turn to a host that wants it written
   down. */
#ifndef PHI_FEATURES_CAPTURE_IN_H
#define PHI_FEATURES_CAPTURE_IN_H

#include "loop/feature_in.h"

#ifndef PHI_NO_CAPTURE
PHI__FN const phi__feature *phi__capture_feature(void);
#endif

#endif
