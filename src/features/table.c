/* table.c - the features, in the order in which they are called at each point. Facts come after
   caching, so that caching sees the part of a request that is to be cached, and before capture. The
   model of a request comes after failover, because failover goes back to it first.

   A new one is a line in PHI__TABLE, and a pair of files: name_in.h declares phi__name_feature, and
   name.c has it. A feature that a macro leaves out has no line. */
#include "features/table_in.h"

#ifdef PHI_NO_ARGUMENT_STREAM
#define PHI__TABLE_FIELDS(X)
#else
#define PHI__TABLE_FIELDS(X) X(phi__fields_feature)
#endif

#ifdef PHI_NO_CACHE_STATS
#define PHI__TABLE_CACHING(X)
#else
#define PHI__TABLE_CACHING(X) X(phi__caching_feature)
#endif

#ifdef PHI_NO_CAPTURE
#define PHI__TABLE_CAPTURE(X)
#else
#define PHI__TABLE_CAPTURE(X) X(phi__capture_feature)
#endif

#ifdef PHI_NO_CONTEXT_EDITS
#define PHI__TABLE_CONTEXT_EDITS(X)
#else
#define PHI__TABLE_CONTEXT_EDITS(X) X(phi__context_edits_feature)
#endif

#ifdef PHI_NO_DEFERRED
#define PHI__TABLE_DEFERRED(X)
#else
#define PHI__TABLE_DEFERRED(X) X(phi__deferred_feature)
#endif

#ifdef PHI_NO_COMPACTION
#define PHI__TABLE_COMPACTION(X)
#else
#define PHI__TABLE_COMPACTION(X) X(phi__compaction_feature)
#endif

#ifdef PHI__NO_ATTACHED
#define PHI__TABLE_ATTACHED(X)
#else
#define PHI__TABLE_ATTACHED(X) X(phi__attached_feature)
#endif

#ifdef PHI_NO_FACTS
#define PHI__TABLE_FACTS(X)
#else
#define PHI__TABLE_FACTS(X) X(phi__facts_feature)
#endif

#ifdef PHI_NO_TOOL_STATE
#define PHI__TABLE_EFFECTS(X)
#else
#define PHI__TABLE_EFFECTS(X) X(phi__effects_feature)
#endif

#ifdef PHI_NO_FAILOVER
#define PHI__TABLE_FAILOVER(X)
#else
#define PHI__TABLE_FAILOVER(X) X(phi__failover_feature)
#endif

/* clang-format off */
#define PHI__TABLE(X) \
    PHI__TABLE_FIELDS(X) \
    PHI__TABLE_CACHING(X) \
    PHI__TABLE_FACTS(X) \
    PHI__TABLE_CAPTURE(X) \
    PHI__TABLE_EFFECTS(X) \
    PHI__TABLE_CONTEXT_EDITS(X) \
    PHI__TABLE_DEFERRED(X) \
    PHI__TABLE_FAILOVER(X) \
    X(phi__ask_model_feature) \
    PHI__TABLE_COMPACTION(X) \
    PHI__TABLE_ATTACHED(X)
/* clang-format on */

#define PHI__TABLE_DECLARE(feature) PHI__FN const phi__feature *feature(void);
#define PHI__TABLE_LINE(feature) feature,

PHI__TABLE(PHI__TABLE_DECLARE)

PHI__FN const phi__feature_fn *phi__table_features(void) {
    static const phi__feature_fn table[] = {PHI__TABLE(PHI__TABLE_LINE) NULL};
    /* Each has a place in phi__features. */
    typedef char fits[PHI__COUNT(table) - 1 <= (size_t)PHI__FEATURE_MOST ? 1 : -1];
    (void)sizeof(fits);
    return table;
}
