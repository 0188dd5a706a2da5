/* fields_in.h - reports values of arguments to tools (on_field) while they arrive. */
#ifndef PHI_FEATURES_FIELDS_IN_H
#define PHI_FEATURES_FIELDS_IN_H

#include "loop/feature_in.h"

PHI__FN const phi__feature *phi__fields_feature(void);

#endif
