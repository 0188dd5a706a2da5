/* fact_list.c - the facts of one scope. */
#include "features/fact_list_in.h"

#include "base/utf8_in.h"
#include "text/records_in.h"

/* ---- facts that fit ---- */

PHI__FN bool phi__fact_list_key_fits(phi_str key) {
    size_t i;
    for (i = 0; i < key.len; i++)
        if ((unsigned char)key.at[i] < 0x20 || key.at[i] == 0x7f) return false;
    return key.len > 0 && key.len <= PHI_FACT_KEY_BYTES && phi__utf8_valid(key) == key.len;
}

PHI__FN bool phi__fact_list_value_fits(phi_str value) {
    return value.len <= PHI_FACT_VALUE_BYTES && phi__utf8_valid(value) == value.len &&
           (value.len == 0 || memchr(value.at, '\0', value.len) == NULL);
}

PHI__FN int phi__fact_list_compare(phi_str a, phi_str b) {
    size_t n = phi__min(a.len, b.len);
    int order = n > 0 ? memcmp(a.at, b.at, n) : 0;
    if (order != 0) return order;
    return a.len < b.len ? -1 : a.len > b.len;
}

/* ---- the list ---- */

PHI__FN size_t phi__fact_list_find(const phi__fact_list *list, phi_str key, bool *found) {
    size_t from = 0, to = list->count;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (phi__fact_list_compare(list->at[middle].key, key) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    *found = from < list->count && phi_str_equal(list->at[from].key, key);
    return from;
}

static size_t phi__fact_list_cost(const phi__fact *fact) { return fact->key.len + fact->value.len; }

static void phi__fact_list_drop(phi__fact *fact, phi_memory *memory) {
    phi__free(memory, (void *)(uintptr_t)fact->key.at, phi__fact_list_cost(fact) + 2);
}

static bool phi__fact_list_copy(phi__fact *fact, phi_memory *memory, phi_str key, phi_str value) {
    char *block = (char *)phi__alloc(memory, key.len + value.len + 2); /* zeroed: both end */
    if (block == NULL) return false;
    memcpy(block, key.at, key.len);
    if (value.len > 0) memcpy(block + key.len + 1, value.at, value.len);
    fact->key = phi__str(block, key.len);
    fact->value = phi__str(block + key.len + 1, value.len);
    return true;
}

static bool phi__fact_list_room(phi__fact_list *list, phi_memory *memory) {
    void *grown =
        phi__grow(memory, list->at, &list->cap, phi__add(list->count, 1), sizeof *list->at);
    if (grown != NULL) list->at = (phi__fact *)grown;
    return grown != NULL;
}

PHI__FN phi_status phi__fact_list_set(phi__fact_list *list, phi_memory *memory, phi_str key,
                                      phi_str value, uint64_t version) {
    bool found;
    size_t at = phi__fact_list_find(list, key, &found), bytes = list->bytes, i;
    phi__fact made;
    if (found) {
        if (version == 0 && phi_str_equal(list->at[at].value, value)) return PHI_OK;
        bytes -= phi__fact_list_cost(&list->at[at]);
        if (version == 0) version = list->at[at].version + 1;
    }
    if (bytes + key.len + value.len > PHI_FACT_SCOPE_BYTES ||
        (!found && list->count >= PHI_FACT_SCOPE_COUNT))
        return PHI_FULL;
    if ((!found && !phi__fact_list_room(list, memory)) ||
        !phi__fact_list_copy(&made, memory, key, value))
        return PHI_NO_MEMORY;
    made.version = version != 0 ? version : 1;
    if (found) {
        phi__fact_list_drop(&list->at[at], memory);
    } else {
        for (i = list->count; i > at; i--) list->at[i] = list->at[i - 1];
        list->count++;
    }
    list->at[at] = made;
    list->bytes = bytes + phi__fact_list_cost(&made);
    return PHI_OK;
}

PHI__FN void phi__fact_list_unset(phi__fact_list *list, phi_memory *memory, size_t at) {
    list->bytes -= phi__fact_list_cost(&list->at[at]);
    phi__fact_list_drop(&list->at[at], memory);
    for (list->count--; at < list->count; at++) list->at[at] = list->at[at + 1];
}

PHI__FN void phi__fact_list_free(phi__fact_list *list, phi_memory *memory) {
    while (list->count > 0) phi__fact_list_drop(&list->at[--list->count], memory);
    phi__free(memory, list->at, list->cap * sizeof *list->at);
    memset(list, 0, sizeof *list);
}

/* ---- as JSON ---- */

PHI__FN void phi__fact_list_put(phi__buf *out, const phi__fact_list *list) {
    size_t i;
    phi__buf_char(out, '{');
    for (i = 0; i < list->count; i++) {
        phi__json_write_key(out, list->at[i].key);
        phi__buf_char(out, '{');
        phi__records_str(out, "value", list->at[i].value);
        phi__records_u64(out, "version", list->at[i].version);
        phi__buf_char(out, '}');
    }
    phi__buf_char(out, '}');
}

PHI__FN phi_status phi__fact_list_get(phi__fact_list *list, phi_memory *memory,
                                      const phi_json *node) {
    phi_json_iter it = phi_json_each(node);
    phi_status status = PHI_OK;
    const phi_json *each;
    if (node != NULL && !phi_json_is(node, PHI_JSON_OBJECT)) return PHI_PARSE;
    while (status == PHI_OK && (each = phi_json_next(&it)) != NULL) {
        phi_str value = phi__records_get_str(each, "value");
        if (!phi_json_is(phi_json_get(each, "value"), PHI_JSON_STRING) ||
            !phi__fact_list_key_fits(it.key) || !phi__fact_list_value_fits(value))
            return PHI_PARSE;
        status = phi__fact_list_set(list, memory, it.key, value,
                                    phi__max(phi__records_get_size(each, "version"), 1));
    }
    return status;
}
