/* messages_in.h - the MESSAGE entries of a thread's active lane. */
#ifndef PHI_HISTORY_MESSAGES_IN_H
#define PHI_HISTORY_MESSAGES_IN_H

#include "log/log_in.h"

typedef struct phi__messages {
    phi__entry **at;    /* those in memory, in order */
    size_t count, held; /* of all; of those in memory */
    size_t cap;
    uint64_t last_user; /* 1 and the seq of the last user message; 0: none */
} phi__messages;

/* Room for n more. False: no memory. */
PHI__FN bool phi__messages_room(phi_memory *memory, phi__messages *messages, size_t n);
/* One more, which gets its ordinal; there is room. */
PHI__FN void phi__messages_add(phi__messages *messages, phi__entry *entry);
/* Those of another lane, all in memory, in a list with room for `cap`, which is the struct's from
   now on. */
PHI__FN void phi__messages_replace(phi_memory *memory, phi__messages *messages, phi__entry **list,
                                   size_t count, size_t cap);
PHI__FN void phi__messages_clear(phi__messages *messages); /* their room stays */
/* As phi__log_evict and phi__log_shrink. */
PHI__FN void phi__messages_evict(phi__messages *messages);
PHI__FN void phi__messages_shrink(phi_memory *memory, phi__messages *messages);
PHI__FN void phi__messages_free(phi_memory *memory, phi__messages *messages);

#endif
