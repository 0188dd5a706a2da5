/* load_in.h - the state of a thread while entries are read into it.

   Between phi__load_begin and phi__load_end the thread is of use to its reader alone. After an
   error it is to be freed. */
#ifndef PHI_HISTORY_LOAD_IN_H
#define PHI_HISTORY_LOAD_IN_H

#include "history/history_in.h"
#include "history/fold_in.h"

PHI__FN phi_status phi__load_view(phi_thread *thread, uint32_t lane, phi__fold **out);

/* False: no memory; after true, entering a lane that there is cannot fail. */
PHI__FN bool phi__load_may_enter(phi_thread *thread);
PHI__FN void phi__load_enter(phi_thread *thread, uint32_t lane);

/* Whether a rewrite is known to cut nothing and to part no group; false: it needs the full
   check. */
PHI__FN bool phi__load_fits(const phi__fold *fold, const phi_rewrite *rewrite);

/* Whether no later rewrite is known to touch one; false: look more closely. */
PHI__FN bool phi__load_untouched(const phi_thread *thread, const phi__op *op);

/* A rewrite comes into its lane's view, which is known; and goes again. After an error the thread
   is to be freed. */
PHI__FN bool phi__load_apply(phi_thread *thread, phi__op *op);
PHI__FN phi_status phi__load_unapply(phi_thread *thread, phi__op *op);

#endif
