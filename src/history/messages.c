/* messages.c - the MESSAGE entries of a thread's active lane, in order. */
#include "history/messages_in.h"

PHI__FN bool phi__messages_room(phi_memory *memory, phi__messages *messages, size_t n) {
    void *grown = phi__grow(memory, messages->at, &messages->cap, phi__add(messages->held, n),
                            sizeof *messages->at);
    if (grown != NULL) messages->at = (phi__entry **)grown;
    return grown != NULL;
}

PHI__FN void phi__messages_add(phi__messages *messages, phi__entry *entry) {
    entry->ordinal = messages->count++;
    messages->at[messages->held++] = entry;
    if (entry->message->role == PHI_ROLE_USER && !entry->message->is_update)
        messages->last_user = entry->seq + 1;
}

PHI__FN void phi__messages_replace(phi_memory *memory, phi__messages *messages, phi__entry **list,
                                   size_t count, size_t cap) {
    size_t i;
    phi__messages_free(memory, messages);
    messages->at = list;
    messages->count = messages->held = count;
    messages->cap = cap;
    for (i = count; i > 0 && messages->last_user == 0; i--)
        if (list[i - 1]->message->role == PHI_ROLE_USER && !list[i - 1]->message->is_update)
            messages->last_user = list[i - 1]->seq + 1;
}

PHI__FN void phi__messages_clear(phi__messages *messages) {
    messages->count = messages->held = 0;
    messages->last_user = 0;
}

PHI__FN void phi__messages_evict(phi__messages *messages) {
    messages->held = phi__log_keep_live(messages->at, messages->held);
}

PHI__FN void phi__messages_shrink(phi_memory *memory, phi__messages *messages) {
    messages->at = phi__log_shrink_list(memory, messages->at, messages->held, &messages->cap);
}

PHI__FN void phi__messages_free(phi_memory *memory, phi__messages *messages) {
    phi__free(memory, messages->at, messages->cap * sizeof *messages->at);
    memset(messages, 0, sizeof *messages);
}
