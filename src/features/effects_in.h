/* effects_in.h - applies the effects of tools on the state that they share. */
#ifndef PHI_FEATURES_EFFECTS_IN_H
#define PHI_FEATURES_EFFECTS_IN_H

#include "features/effects.h"
#include "loop/feature_in.h"

PHI__FN const phi__feature *phi__effects_feature(void);

#endif
