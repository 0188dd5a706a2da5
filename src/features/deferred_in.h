/* deferred_in.h - a host's rewrites, deferred until the active run has ended. */
#ifndef PHI_FEATURES_DEFERRED_IN_H
#define PHI_FEATURES_DEFERRED_IN_H

#include "features/features.h"
#include "features/order_in.h"
#include "loop/feature_in.h"

/* deferred.c: as phi_agent_rewrite. must_gain: PHI_REFUSED, when it is done, where no less would be
   in view. */
PHI__FN phi_status phi__deferred_rewrite(phi__agent *agent, const phi_rewrite *rewrite,
                                         bool must_gain);

/* PHI_NOT_FOUND: none is deferred; PHI_NO_MEMORY: nothing changed. */
PHI__FN phi_status phi__deferred_withdraw(phi__agent *agent);

#endif
