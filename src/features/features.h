/* features.h - what agents can do beyond the plain loop. A program links only the features that it
   names in phi_runtime_desc.features. docs/embedding.md has the size of each. */
#ifndef PHI_FEATURES_FEATURES_H
#define PHI_FEATURES_FEATURES_H

#include "base/base.h"
#include "loop/feature.h"

#ifdef __cplusplus
extern "C" {
#endif

PHI_API const struct phi__feature *phi_feature_facts(void);             /* features/facts.h */
PHI_API const struct phi__feature *phi_feature_tool_state(void);        /* features/effects.h */
PHI_API const struct phi__feature *phi_feature_failover(void);          /* features/failover.h */
PHI_API const struct phi__feature *phi_feature_context_edits(void);     /* phi_call_edit */
PHI_API const struct phi__feature *phi_feature_deferred_rewrites(void); /* phi_agent_rewrite */
PHI_API const struct phi__feature *phi_feature_capture(void);         /* options.capture_requests */
PHI_API const struct phi__feature *phi_feature_argument_stream(void); /* phi_tool.on_field */
PHI_API const struct phi__feature *phi_feature_cache_stats(void);     /* phi_agent_info.cache */

/* formats of answers (such as phi_agent_desc.format), and phi_tool.strict */
PHI_API const struct phi__feature *phi_feature_formats(void);
PHI_API const struct phi__feature *phi_feature_deferral(void); /* phi_tool.deferred, may_defer */
PHI_API const struct phi__feature *phi_feature_tool_sources(void); /* tool_options.sources */

#ifdef __cplusplus
}
#endif
#endif
