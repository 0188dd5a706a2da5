/* groups.c - finds the answer whose call a result belongs to, in a lane's view: the two stay or go
   together. */
#include "history/fold_in.h"

#include "wire/hash_in.h"

/* The last answer so far that made a call of this id. */
typedef struct phi__group_call {
    uint64_t hash;
    size_t item; /* and 1; 0: the place is free */
} phi__group_call;

PHI__FN bool phi__groups_calls(const phi_message *m, phi_str id) {
    size_t i;
    for (i = 0; m->role == PHI_ROLE_ASSISTANT && i < m->content_count; i++)
        if (m->content[i].kind == PHI_CONTENT_TOOL_CALL && phi_str_equal(m->content[i].id, id))
            return true;
    return false;
}

static size_t phi__groups_count(const phi__fold *fold) {
    size_t i, j, n = 0;
    for (i = 0; i < fold->count; i++) {
        const phi_message *m = fold->items[i].message;
        for (j = 0; m->role == PHI_ROLE_ASSISTANT && j < m->content_count; j++)
            n += m->content[j].kind == PHI_CONTENT_TOOL_CALL;
    }
    return n;
}

static phi__group_call *phi__groups_place(phi__group_call *calls, size_t cap, uint64_t hash) {
    size_t at = (size_t)hash & (cap - 1);
    while (calls[at].item != 0 && calls[at].hash != hash) at = (at + 1) & (cap - 1);
    return &calls[at];
}

static void phi__groups_put(phi__group_call *calls, size_t cap, const phi__fold *fold, size_t at) {
    const phi_message *m = fold->items[at].message;
    size_t i;
    for (i = 0; m->role == PHI_ROLE_ASSISTANT && i < m->content_count; i++) {
        phi__group_call *place;
        if (m->content[i].kind != PHI_CONTENT_TOOL_CALL) continue;
        place = phi__groups_place(calls, cap, phi__hash(m->content[i].id, 0));
        place->hash = phi__hash(m->content[i].id, 0);
        place->item = at + 1;
    }
}

static size_t phi__groups_caller(phi__group_call *calls, size_t cap, const phi__fold *fold,
                                 size_t at) {
    const phi_message *m = fold->items[at].message;
    size_t item = phi__groups_place(calls, cap, phi__hash(m->tool_call_id, 0))->item;
    if (item == 0) return SIZE_MAX;
    while (!phi__groups_calls(fold->items[item - 1].message, m->tool_call_id))
        if (--item == 0) return SIZE_MAX; /* two ids of one hash: look one by one */
    return item - 1;
}

PHI__FN size_t *phi__groups_make(phi_memory *memory, const phi__fold *fold) {
    size_t n = phi__groups_count(fold), cap = 4, i;
    size_t *callers =
        (size_t *)phi__alloc(memory, phi__mul(phi__max(fold->count, 1), sizeof *callers));
    phi__group_call *calls;
    while (cap / 2 < n && cap <= SIZE_MAX / 4) cap *= 2;
    calls = (phi__group_call *)phi__alloc(memory, phi__mul(cap, sizeof *calls));
    if (callers == NULL || calls == NULL) {
        phi__groups_free(memory, fold->count, callers);
        phi__free(memory, calls, calls != NULL ? cap * sizeof *calls : 0);
        return NULL;
    }
    for (i = 0; i < fold->count; i++) {
        callers[i] = SIZE_MAX;
        if (fold->items[i].message->role == PHI_ROLE_TOOL_RESULT)
            callers[i] = phi__groups_caller(calls, cap, fold, i);
        else
            phi__groups_put(calls, cap, fold, i);
    }
    phi__free(memory, calls, cap * sizeof *calls);
    return callers;
}

PHI__FN void phi__groups_free(phi_memory *memory, size_t count, size_t *callers) {
    phi__free(memory, callers, callers != NULL ? phi__max(count, 1) * sizeof *callers : 0);
}

PHI__FN bool phi__groups_durable(phi_memory *memory, const phi__fold *fold, uint8_t **durable) {
    size_t *callers, i = 0;
    *durable = NULL;
    while (i < fold->count && (fold->items[i].flags & PHI_ENTRY_DURABLE) == 0) i++;
    if (i == fold->count) return true;
    callers = phi__groups_make(memory, fold);
    *durable = callers != NULL ? (uint8_t *)phi__alloc(memory, fold->count) : NULL;
    for (i = 0; *durable != NULL && i < fold->count; i++) {
        if ((fold->items[i].flags & PHI_ENTRY_DURABLE) == 0) continue;
        (*durable)[i] = 1;
        if (callers[i] != SIZE_MAX) (*durable)[callers[i]] = 1;
    }
    for (i = 0; *durable != NULL && i < fold->count; i++)
        if (callers[i] != SIZE_MAX && (*durable)[callers[i]] != 0) (*durable)[i] = 1;
    phi__groups_free(memory, fold->count, callers);
    return *durable != NULL;
}

PHI__FN bool phi__groups_same_ids(const phi_message *was, const phi_message *now) {
    size_t i, j = 0;
    if (was->role != now->role) return false;
    if (was->role == PHI_ROLE_TOOL_RESULT)
        return phi_str_equal(was->tool_call_id, now->tool_call_id);
    for (i = 0; i < was->content_count; i++) {
        if (was->content[i].kind != PHI_CONTENT_TOOL_CALL) continue;
        while (j < now->content_count && now->content[j].kind != PHI_CONTENT_TOOL_CALL) j++;
        if (j == now->content_count || !phi_str_equal(was->content[i].id, now->content[j].id))
            return false;
        j++;
    }
    return true;
}
