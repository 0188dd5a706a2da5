/* fact_list_in.h - the facts of one scope: sorted by key, bounded in number and bytes. */
#ifndef PHI_FEATURES_FACT_LIST_IN_H
#define PHI_FEATURES_FACT_LIST_IN_H

#include "base/buf_in.h"
#include "features/facts.h"
#include "text/json.h"

/* Key and value stand in one block, each with an end. */
typedef struct phi__fact {
    phi_str key, value;
    uint64_t version;
} phi__fact;

typedef struct phi__fact_list {
    phi__fact *at;
    size_t count, cap;
    size_t bytes; /* of keys and values */
} phi__fact_list;

/* The place of a key; where it is missing, *found is false and it belongs there. */
PHI__FN size_t phi__fact_list_find(const phi__fact_list *list, phi_str key, bool *found);
/* version 0: the next one. PHI_FULL, PHI_NO_MEMORY: nothing changed. */
PHI__FN phi_status phi__fact_list_set(phi__fact_list *list, phi_memory *memory, phi_str key,
                                      phi_str value, uint64_t version);
PHI__FN void phi__fact_list_unset(phi__fact_list *list, phi_memory *memory, size_t at);
PHI__FN void phi__fact_list_free(phi__fact_list *list, phi_memory *memory);

/* Whether a text can be a key, or the name of a group; and a value. */
PHI__FN bool phi__fact_list_key_fits(phi_str key);
PHI__FN bool phi__fact_list_value_fits(phi_str value);
/* Which of two texts comes first: negative, 0, positive. */
PHI__FN int phi__fact_list_compare(phi_str a, phi_str b);

/* A list as a JSON object; and back, into an empty list. PHI_PARSE, PHI_FULL, PHI_NO_MEMORY: the
   list is to be freed. */
PHI__FN void phi__fact_list_put(phi__buf *out, const phi__fact_list *list);
PHI__FN phi_status phi__fact_list_get(phi__fact_list *list, phi_memory *memory,
                                      const phi_json *node);

#endif
