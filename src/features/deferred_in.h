/* deferred_in.h - a host's rewrites, deferred until the active run has ended. */
#ifndef PHI_FEATURES_DEFERRED_IN_H
#define PHI_FEATURES_DEFERRED_IN_H

#include "features/order_in.h"
#include "features/features.h"
#include "loop/feature_in.h"

/* deferred.c: as phi_agent_rewrite. must_gain: PHI_REFUSED, when it is done, where no less would be
   in view. */
PHI__FN phi_status phi__deferred_rewrite(phi__agent *agent, const phi_rewrite *rewrite,
                                         bool must_gain);
/* PHI_NOT_FOUND: none is deferred; PHI_NO_MEMORY: nothing changed. */
PHI__FN phi_status phi__deferred_withdraw(phi__agent *agent);

/* deferred_note.c: such a rewrite as an object; and back, passed to `take`. PHI_PARSE,
   PHI_NO_MEMORY; of any other status of `take` the host has got an event. */
PHI__FN void phi__deferred_note_put(phi__buf *out, const phi_rewrite *rewrite, bool must_gain,
                                    phi_arena *scratch);
PHI__FN phi_status phi__deferred_note_get(phi__agent *agent, const phi_json *node,
                                          phi_status (*take)(phi__agent *agent,
                                                             const phi_rewrite *rewrite,
                                                             bool must_gain));
/* Notes in the log that this one waits; and that none does. PHI_NO_MEMORY: nothing changed. */
PHI__FN phi_status phi__deferred_note(phi__agent *agent, const phi_rewrite *rewrite,
                                      bool must_gain);
PHI__FN phi_status phi__deferred_note_over(phi__agent *agent);
/* Of the log's entries in memory, the last note about a rewrite that waits; NULL: none, or nothing
   waits. */
PHI__FN const phi__note *phi__deferred_note_last(const phi_thread *thread);

#endif
