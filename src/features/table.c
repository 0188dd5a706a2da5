/* table.c - the features, in the order in which they are called at each point. Facts come after
   caching, so that caching sees the part of a request that is to be cached, and before capture. The
   model of a request comes after failover, because failover goes back to it first.

   A new one is a line in PHI__TABLE, and a pair of files: name_in.h declares phi__name_feature, and
   name.c has it. A feature that a macro leaves out has no line. */
#include "features/table_in.h"

#define PHI__TABLE_FIELDS(X) X(phi__fields_feature)

#define PHI__TABLE_CACHING(X) X(phi__caching_feature)

#define PHI__TABLE_CAPTURE(X) X(phi__capture_feature)

#define PHI__TABLE_CONTEXT_EDITS(X) X(phi__context_edits_feature)

#define PHI__TABLE_DEFERRED(X) X(phi__deferred_feature)

#define PHI__TABLE_COMPACTION(X) X(phi__compaction_feature)

#define PHI__TABLE_ATTACHED(X) X(phi__attached_feature)

#define PHI__TABLE_FACTS(X) X(phi__facts_feature)

#define PHI__TABLE_EFFECTS(X) X(phi__effects_feature)

#define PHI__TABLE_FAILOVER(X) X(phi__failover_feature)

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
