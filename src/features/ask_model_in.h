/* ask_model_in.h - the model that a request names for its run. */
#ifndef PHI_FEATURES_ASK_MODEL_IN_H
#define PHI_FEATURES_ASK_MODEL_IN_H

#include "features/order_in.h"
#include "loop/agent_desc.h"
#include "loop/feature_in.h"

typedef struct phi__ask_model phi__ask_model;

PHI__FN const phi__feature *phi__ask_model_feature(void);

/* Gives an idle agent the model, checked before, for the run that begins now. NULL: no memory, and
   nothing changed. */
PHI__FN phi__ask_model *phi__ask_model_begin(phi__agent *agent, const phi_model *model);
/* The agent's run has begun with it: its end gives the agent its own model back. */
PHI__FN void phi__ask_model_keep(phi__agent *agent, phi__ask_model *ask);
/* No run has begun. */
PHI__FN void phi__ask_model_drop(phi__agent *agent, phi__ask_model *ask);
/* Puts the agent's own model in place of that of its run. */
PHI__FN void phi__ask_model_own(const phi__agent *agent, phi_agent_desc *out);

#endif
