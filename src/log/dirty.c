/* dirty.c - lists of the logs that a step must sync or evict. */
#include "log/dirty_in.h"

PHI__FN void phi__dirty_add(phi__grown *grown, phi__dirty *dirty, phi__dirty_why why) {
    if (dirty == NULL || grown == NULL || dirty->listed[why]) return;
    dirty->listed[why] = true;
    dirty->next[why] = NULL;
    dirty->prev[why] = grown->tail[why];
    if (grown->tail[why] != NULL)
        grown->tail[why]->next[why] = dirty;
    else
        grown->head[why] = dirty;
    grown->tail[why] = dirty;
}

PHI__FN void phi__dirty_remove(phi__grown *grown, phi__dirty *dirty, phi__dirty_why why) {
    if (dirty == NULL || grown == NULL || !dirty->listed[why]) return;
    dirty->listed[why] = false;
    if (dirty->prev[why] != NULL)
        dirty->prev[why]->next[why] = dirty->next[why];
    else
        grown->head[why] = dirty->next[why];
    if (dirty->next[why] != NULL)
        dirty->next[why]->prev[why] = dirty->prev[why];
    else
        grown->tail[why] = dirty->prev[why];
}

PHI__FN phi__dirty *phi__dirty_next(phi__grown *grown, phi__dirty_why why) {
    phi__dirty *dirty = grown->head[why];
    if (dirty != NULL) phi__dirty_remove(grown, dirty, why);
    return dirty;
}
