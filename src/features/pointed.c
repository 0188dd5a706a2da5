/* pointed.c - features that want no point of a run: the loop reaches them by a pointer, which is
   NULL in a runtime that does not name them. */
#include "features/features.h"
#include "features/order_in.h"
#include "loop/deferral_in.h"
#include "loop/feature_in.h"
#include "loop/state_in.h"
#include "loop/tool_sources_in.h"

static void phi__pointed_deferral(phi_runtime *rt) {
    rt->features.deferral = phi__deferral_tools_ops();
}

PHI_API const phi__feature *phi_feature_deferral(void) {
    static const phi__feature feature = {
        0, 0, 0, NULL, NULL, PHI__FEATURE_AT_DEFERRAL, phi__pointed_deferral, NULL};
    return &feature;
}

static void phi__pointed_sources(phi_runtime *rt) {
    rt->features.sources = phi__tool_sources_ops();
}

PHI_API const phi__feature *phi_feature_tool_sources(void) {
    static const phi__feature feature = {
        0, 0, 0, NULL, NULL, PHI__FEATURE_AT_SOURCES, phi__pointed_sources, NULL};
    return &feature;
}
