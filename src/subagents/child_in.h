/* child_in.h - the children of an agent: made, begun, followed, and freed.

   A phi__children is attached to the calling agent and lives in its memory, as do its phi__child.
   A child is `frozen` while it is JSON out of a snapshot, and an agent otherwise. It belongs to a
   call, or to the host (phi_spawn), or has finished and is kept.
   Callbacks into the host may free the calling agent: its phi__children stays until the step ends,
   but its phi__child may be gone. */
#ifndef PHI_SUBAGENTS_CHILD_IN_H
#define PHI_SUBAGENTS_CHILD_IN_H

#include "agent/agent_in.h"
#include "features/attached_in.h"
#include "subagents/subagents.h"

typedef struct phi__children {
    phi__attached attached; /* "subagents" */
    phi__agent *parent;
    phi__list list; /* phi__child, oldest first */
    /* The next child of a sweep. Callbacks of the host may drop any child and begin another sweep,
       which then ends the outer one: it has swept all. */
    phi__link *next;
    uint64_t made;
    /* of every tool that delegates */
    phi_flow (*start)(void *user_data, phi_call call, phi_str arguments);
} phi__children;

typedef struct phi__child {
    phi__link link;
    phi__children *of;
    phi_subagent_desc *desc; /* NULL: frozen */
    phi__agent *agent;       /* NULL: frozen */
    phi_call call;           /* rt NULL: none waits for it */
    bool spawned;            /* the host waits for it */
    bool running;
    bool over;         /* of show_events: to be freed when its events were popped */
    uint32_t depth;    /* levels below the agent at the top */
    uint64_t number;   /* of its id */
    phi__buf heard;    /* forward.c: parts to be forwarded */
    size_t last_heard; /* the place of its last part; SIZE_MAX: there is none */
    /* Of a run that is over, until the host knows: its status, and where it came to nothing, why
       (static): it has no agent any more. */
    phi_status status;
    const char *fault;
    /* frozen: in one block */
    phi_str name, call_id, snapshot;
    char *block;
    size_t block_bytes;
} phi__child;

enum { PHI__CHILD_ID = 32 }; /* bytes of an id */
/* ---- child.c: one ---- */

PHI__FN void phi__child_id(const phi__child *child, char out[PHI__CHILD_ID]);
PHI__FN phi__child *phi__child_of_call(const phi__children *all, phi_call call); /* or NULL */
/* One that has finished and is kept, by its id, of a desc of that name; NULL: none. */
PHI__FN phi__child *phi__child_kept(const phi__children *all, const phi_subagent_desc *desc,
                                    phi_str id);
/* An empty one, in the list; NULL: no memory. */
PHI__FN phi__child *phi__child_make(phi__children *all);
/* The desc of an agent for it, its tools in the arena. False: no memory. */
PHI__FN bool phi__child_desc(const phi__child *child, phi_subagent_desc *desc, phi_arena *scratch,
                             phi_agent_desc *out);
/* Its run is over, and its result was given: it is kept, or freed, now or when its events were
   popped. */
PHI__FN void phi__child_settle(phi__child *child, bool keep);
/* Frees it when its events were popped. */
PHI__FN void phi__child_leave(phi__child *child);
/* Frees it, and its agent; or its agent alone. */
PHI__FN void phi__child_drop(phi__child *child);
PHI__FN void phi__child_drop_agent(phi__child *child);
PHI__FN void phi__child_free_block(phi__child *child);

/* ---- forward.c ---- */

/* Notes an event of it. True: phi__forward_all is due. */
PHI__FN bool phi__forward_note(phi__child *child, const phi_event *event);
/* Hands the noted parts to its call. The child may be gone afterwards. */
PHI__FN void phi__forward_all(phi__child *child);

/* ---- result.c ---- */

/* Hands the result of a run to its call, or to the host, and settles the child, which may be gone
   afterwards. */
PHI__FN void phi__result_give(phi__child *child, phi_status status, const phi_failure *failure);
/* An error in its place; words: static. The child is freed, or, without memory for the host's
   event, stays without its agent until a sweep. */
PHI__FN void phi__result_fail(phi__child *child, phi_status status, const char *words);
/* A call that has no child: its error. */
PHI__FN void phi__result_error(phi_call call, const char *words);

/* ---- follow.c ---- */

/* Follows its agent from now on. */
PHI__FN void phi__follow_begin(phi__child *child, phi_subagent_desc *desc, phi__agent *agent);
/* Levels of sub-agents above an agent and itself; 0: it is none. */
PHI__FN uint32_t phi__follow_depth(const phi__agent *agent);

/* ---- child_save.c ---- */

/* Makes the agent of a frozen child. PHI_OK, or phi_last_error has words. */
PHI__FN phi_status phi__child_save_thaw(phi__child *child, phi_subagent_desc *desc);
/* Fills the list with the children in a snapshot of the parent. False: no memory. */
PHI__FN bool phi__child_save_claim(phi__children *all);
PHI__FN void phi__child_save_all(const phi__attached *attached, phi__buf *out, phi_arena *scratch);

/* ---- children.c: all of an agent's ---- */

/* Made at the first use; NULL: no memory. find: NULL where there are none. */
PHI__FN phi__children *phi__children_all(phi__agent *parent);
PHI__FN phi__children *phi__children_find(const phi__agent *parent);
/* The oldest child with a number up to `last` that has not failed. NULL: there is none. A walk that
   fails or starts each one looks again after each: callbacks of the host may drop any. */
PHI__FN phi__child *phi__children_first(const phi__children *all, uint64_t last, bool frozen,
                                        const char *name);
/* Frees those whose events were popped, and tells the host what it does not know yet. */
PHI__FN void phi__children_sweep(phi__children *all);
/* A child, and its agent; NULL: phi_last_error says why. */
PHI__FN phi__child *phi__children_new(phi__children *all, phi_subagent_desc *desc);
/* Begins a run of it. PHI_OK, or phi_last_error has words. */
PHI__FN phi_status phi__children_begin(phi__child *child, phi_str task);

#endif
