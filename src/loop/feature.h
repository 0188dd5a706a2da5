/* feature.h - a feature by its name. */
#ifndef PHI_LOOP_FEATURE_H
#define PHI_LOOP_FEATURE_H

/* A feature beyond the plain loop, for phi_runtime_desc.features. */
typedef const struct phi__feature *(*phi_feature_fn)(void);

#endif
