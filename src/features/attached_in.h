/* attached_in.h - objects that rooms above the agent keep with it: sub-agents, an evaluation, a
   strategy.

   An object embeds a phi__attached and stays its room's own; the agent finds it by name, saves it
   with its snapshot, and reports its own end. What a restored snapshot holds of an object waits as
   JSON until the room claims it; another snapshot made before that contains it unchanged.
   Threads: the pumping thread. */
#ifndef PHI_FEATURES_ATTACHED_IN_H
#define PHI_FEATURES_ATTACHED_IN_H

#include "features/order_in.h"
#include "base/list_in.h"
#include "loop/feature_in.h"

typedef struct phi__attached phi__attached;
typedef struct phi__attached_ops {
    const char *name; /* of the object, and of its member in a snapshot: one an agent */
    /* Writes one JSON value; NULL: the object is not saved. Changes nothing. */
    void (*save)(const phi__attached *object, phi__buf *out, phi_arena *scratch);
    /* The agent's log is another one: a copy of its view, or empty. NULL: no matter. It may
       free the agent. */
    void (*renewed)(phi__attached *object, bool copied);
    /* The agent goes, and has forgotten the object: frees its memory. It may call the host. */
    void (*freed)(phi__attached *object);
} phi__attached_ops;

struct phi__attached {
    phi__link link;
    const phi__attached_ops *ops; /* static */
    phi__agent *agent;            /* NULL: not attached */
};

/* An object of that name must not be attached yet. It must not move while it is attached. */
PHI__FN void phi__attached_add(phi__agent *agent, phi__attached *object,
                               const phi__attached_ops *ops);
/* Without `freed`; not attached: harmless. */
PHI__FN void phi__attached_remove(phi__attached *object);
PHI__FN phi__attached *phi__attached_find(const phi__agent *agent, const char *name); /* or NULL */

/* The JSON that a restored snapshot holds for an object of that name, in the agent's memory until
   it is dropped or the agent freed; len 0: none. */
PHI__FN phi_str phi__attached_saved(const phi__agent *agent, const char *name);
PHI__FN void phi__attached_saved_drop(phi__agent *agent, const char *name); /* none: harmless */

PHI__FN const phi__feature *phi__attached_feature(void);

#endif
