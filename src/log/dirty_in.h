/* dirty_in.h - lists of the logs that a step must sync or evict.

   A log in a store puts itself into one list when it grows, and into another when an entry of it
   goes out of view: so a step need not check all logs. A log in no store costs the test of a
   pointer. */
#ifndef PHI_LOG_DIRTY_IN_H
#define PHI_LOG_DIRTY_IN_H

#include "base/list_in.h"

/* Why a step must handle a log. */
typedef enum phi__dirty_why {
    PHI__DIRTY_GREW = 0, /* it has entries which its store has not been given */
    PHI__DIRTY_LEAVES,   /* entries outside of its view may be evicted */
    PHI__DIRTY_WHYS
} phi__dirty_why;

/* A log's place in the lists; it is a part of the journal. */
typedef struct phi__dirty {
    phi__link links[PHI__DIRTY_WHYS];
    bool listed[PHI__DIRTY_WHYS];
} phi__dirty;

/* Logs of a runtime, a list for each reason. */
typedef struct phi__grown {
    phi__list of[PHI__DIRTY_WHYS];
} phi__grown;

/* Puts it into a list, if it is not in it and there are lists. NULL is harmless for each. */
PHI__FN void phi__dirty_add(phi__grown *grown, phi__dirty *dirty, phi__dirty_why why);
PHI__FN void phi__dirty_remove(phi__grown *grown, phi__dirty *dirty, phi__dirty_why why);
/* Removes and returns the oldest of the list; NULL: none. */
PHI__FN phi__dirty *phi__dirty_next(phi__grown *grown, phi__dirty_why why);

#endif
