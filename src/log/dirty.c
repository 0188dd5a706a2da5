/* dirty.c - lists of the logs that a step must sync or evict. */
#include "log/dirty_in.h"

PHI__FN void phi__dirty_add(phi__grown *grown, phi__dirty *dirty, phi__dirty_why why) {
    if (dirty == NULL || grown == NULL || dirty->listed[why]) return;
    dirty->listed[why] = true;
    phi__list_push(&grown->of[why], &dirty->links[why]);
}

PHI__FN void phi__dirty_remove(phi__grown *grown, phi__dirty *dirty, phi__dirty_why why) {
    if (dirty == NULL || grown == NULL || !dirty->listed[why]) return;
    dirty->listed[why] = false;
    phi__list_take(&grown->of[why], &dirty->links[why]);
}

PHI__FN phi__dirty *phi__dirty_next(phi__grown *grown, phi__dirty_why why) {
    phi__link *first = grown->of[why].first;
    phi__dirty *dirty = first != NULL ? PHI__OWNER(first - why, phi__dirty, links) : NULL;
    phi__dirty_remove(grown, dirty, why);
    return dirty;
}
