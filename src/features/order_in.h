/* order_in.h - the order in which features are called at each point.

   Facts come after caching, so that caching sees the part of a request that is to be cached, and
   before capture. The model of a request comes after failover, because failover goes back to it
   first. */
#ifndef PHI_FEATURES_ORDER_IN_H
#define PHI_FEATURES_ORDER_IN_H

enum {
    PHI__FEATURE_AT_FIELDS,
    PHI__FEATURE_AT_CACHING,
    PHI__FEATURE_AT_FACTS,
    PHI__FEATURE_AT_CAPTURE,
    PHI__FEATURE_AT_EFFECTS,
    PHI__FEATURE_AT_CONTEXT_EDITS,
    PHI__FEATURE_AT_DEFERRED,
    PHI__FEATURE_AT_FAILOVER,
    PHI__FEATURE_AT_ASK_MODEL,
    PHI__FEATURE_AT_COMPACTION,
    PHI__FEATURE_AT_ATTACHED,
    PHI__FEATURE_AT_SUMMARIES,
    /* these want no point: they are reached by a pointer in phi__features */
    PHI__FEATURE_AT_FORMATS,
    PHI__FEATURE_AT_DEFERRAL,
    PHI__FEATURE_AT_SOURCES
};

#endif
