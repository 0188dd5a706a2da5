/* facts_in.h - the facts of a runtime and of its agents. */
#ifndef PHI_FEATURES_FACTS_IN_H
#define PHI_FEATURES_FACTS_IN_H

#include "base/arena_in.h"
#include "features/facts.h"
#include "features/features.h"
#include "features/order_in.h"
#include "loop/feature_in.h"
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

typedef struct phi__fact_group {
    phi_str name; /* in memory of its own */
    phi__fact_list list;
} phi__fact_group;

/* Of a runtime. */
typedef struct phi__facts {
    phi__fact_list all;
    phi__fact_group *groups; /* by name; none without facts */
    size_t count, cap;
} phi__facts;

#endif
