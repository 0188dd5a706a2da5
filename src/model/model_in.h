/* model_in.h - which server a model is at. */
#ifndef PHI_MODEL_MODEL_IN_H
#define PHI_MODEL_MODEL_IN_H

#include "base/base_in.h"
#include "model/model.h"

/* True where two addresses have the same scheme, host and port, letter for letter; NULL and "" are
   none, which both may be. */
PHI__FN bool phi__model_same_server(const char *a, const char *b);
PHI__FN bool phi__model_is_at(const phi_model *model, const char *address);

#endif
