/* groups.c - finds the answer whose call a result belongs to, in a lane's view: the two stay or go
   together. */
#include "history/fold_in.h"

#include "wire/hash_in.h"

/* Messages of a list whose elements begin, `stride` bytes apart, with the message. */
typedef struct phi__groups_list {
    const void *at;
    size_t stride, count;
} phi__groups_list;

static const phi_message *phi__groups_message(const phi__groups_list *list, size_t i) {
    const void *element = (const char *)list->at + i * list->stride;
    return *(const phi_message *const *)element;
}

static size_t phi__groups_count(const phi__groups_list *list) {
    size_t i, j, n = 0;
    for (i = 0; i < list->count; i++) {
        const phi_message *m = phi__groups_message(list, i);
        for (j = 0; m->role == PHI_ROLE_ASSISTANT && j < m->content_count; j++)
            n += m->content[j].kind == PHI_CONTENT_TOOL_CALL;
    }
    return n;
}

/* ---- ids ---- */

PHI__FN bool phi__groups_ids_make(phi_memory *memory, phi__ids *ids, size_t n) {
    ids->cap = 4;
    while (ids->cap / 2 < n && ids->cap <= SIZE_MAX / 4) ids->cap *= 2;
    ids->at = (phi__id *)phi__alloc(memory, phi__mul(ids->cap, sizeof *ids->at));
    return ids->at != NULL;
}

PHI__FN void phi__groups_ids_free(phi_memory *memory, phi__ids *ids) {
    phi__free(memory, ids->at, ids->at != NULL ? ids->cap * sizeof *ids->at : 0);
    ids->at = NULL;
}

static phi__id *phi__groups_place(const phi__ids *ids, phi_str id, uint64_t hash) {
    size_t at = (size_t)hash & (ids->cap - 1);
    while (ids->at[at].item != 0 &&
           (ids->at[at].hash != hash || !phi_str_equal(ids->at[at].id, id)))
        at = (at + 1) & (ids->cap - 1);
    return &ids->at[at];
}

PHI__FN void phi__groups_ids_put(phi__ids *ids, phi_str id, size_t item) {
    uint64_t hash = phi__hash(id, 0);
    phi__id *place = phi__groups_place(ids, id, hash);
    place->hash = hash;
    place->id = id;
    place->item = item + 1;
}

PHI__FN size_t phi__groups_ids_get(const phi__ids *ids, phi_str id) {
    return phi__groups_place(ids, id, phi__hash(id, 0))->item - 1;
}

/* ---- groups ---- */

static void phi__groups_put(phi__ids *calls, const phi_message *m, size_t at) {
    size_t i;
    for (i = 0; m->role == PHI_ROLE_ASSISTANT && i < m->content_count; i++)
        if (m->content[i].kind == PHI_CONTENT_TOOL_CALL)
            phi__groups_ids_put(calls, m->content[i].id, at);
}

PHI__FN size_t *phi__groups_find(phi_memory *memory, const void *at, size_t stride, size_t count) {
    size_t *callers = (size_t *)phi__alloc(memory, phi__mul(phi__max(count, 1), sizeof *callers));
    phi__groups_list list;
    phi__ids calls;
    size_t i;
    list.at = at;
    list.stride = stride;
    list.count = count;
    if (!phi__groups_ids_make(memory, &calls, phi__groups_count(&list)) || callers == NULL) {
        phi__groups_free(memory, count, callers);
        phi__groups_ids_free(memory, &calls);
        return NULL;
    }
    for (i = 0; i < count; i++) {
        const phi_message *m = phi__groups_message(&list, i);
        callers[i] = SIZE_MAX;
        if (m->role == PHI_ROLE_TOOL_RESULT)
            callers[i] = phi__groups_ids_get(&calls, m->tool_call_id);
        else
            phi__groups_put(&calls, m, i);
    }
    phi__groups_ids_free(memory, &calls);
    return callers;
}

PHI__FN size_t *phi__groups_make(phi_memory *memory, const phi__fold *fold) {
    return phi__groups_find(memory, fold->items, sizeof *fold->items, fold->count);
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
