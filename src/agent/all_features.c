/* all_features.c - the list of all features: a program that names it links them all. */
#include "agent/runtime.h"
#include "agent/summary.h"
#include "features/features.h"

PHI_API const phi_feature_fn *phi_features_all(void) {
    static const phi_feature_fn all[] = {phi_feature_facts,
                                         phi_feature_tool_state,
                                         phi_feature_failover,
                                         phi_feature_context_edits,
                                         phi_feature_deferred_rewrites,
                                         phi_feature_capture,
                                         phi_feature_argument_stream,
                                         phi_feature_cache_stats,
                                         phi_feature_formats,
                                         phi_feature_deferral,
                                         phi_feature_tool_sources,
                                         phi_feature_summaries,
                                         NULL};
    return all;
}
