/* facts.h - world facts: short texts under keys that reach models as they change.

   A fact belongs to a scope: all agents of a runtime, a named group of agents, or one agent. Before
   a model call, an update (phi_message.is_update) tells the agent's model the facts that it may
   know and was not told yet, and no others: all of them first, then the changes. It enters the
   log and stays in the view, so that a request is the last one and the new messages.

       [What you know now]
       king: is ill
       weather: rain

   In the order of the keys, each key once: the agent's own fact goes before a group's, that of the
   group whose name sorts last before another's, and a group's before one of all. Further lines of a
   value are indented. Where the view has lost an update, and after 64 of them, the next one tells
   everything. Agents that phi itself makes for another agent know what that one knows; writers of
   summaries see no facts.

   Threads: the pumping thread. Callbacks: safe inside one; the next model call shows the change. */
#ifndef PHI_FEATURES_FACTS_H
#define PHI_FEATURES_FACTS_H

#include "base/arena.h"
#include "model/event.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    PHI_FACT_KEY_BYTES = 128,     /* of a key or a group's name */
    PHI_FACT_VALUE_BYTES = 4096,  /* of a value */
    PHI_FACT_SCOPE_COUNT = 256,   /* facts of a scope */
    PHI_FACT_SCOPE_BYTES = 16384, /* of their keys and values */
    PHI_FACT_GROUPS = 1024,       /* groups with facts, of a runtime */
    PHI_FACT_MEMBERSHIPS = 16,    /* groups of an agent */
    /* of facts that a request shows: broader scopes are left out first, and a last line says so */
    PHI_FACT_SHOWN_BYTES = 65536
};

/* Whose facts. Made by one of the three functions below. */
typedef struct phi_fact_scope {
    phi_runtime *rt;
    const char *group; /* borrowed until the call that gets the scope returns; NULL: no group */
    phi_agent agent;   /* rt NULL: no agent */
    bool known;        /* for phi_fact_list: all that the agent knows */
} phi_fact_scope;

/* A fact. Its strings are phi's, valid until the fact is set or removed. */
typedef struct phi_fact {
    phi_str group; /* of a group; empty: of all, or of an agent */
    bool own;      /* of an agent */
    phi_str key, value;
    uint64_t version; /* 1, and one more each time its value became another */
} phi_fact;

/* Who knows a fact: every agent of the runtime, those of a group (the name is borrowed until the
   call that takes the scope returns), or one agent. */
PHI_API phi_fact_scope phi_fact_all(phi_runtime *rt);
PHI_API phi_fact_scope phi_fact_group(phi_runtime *rt, const char *name);
PHI_API phi_fact_scope phi_fact_agent(phi_agent agent);

/* Sets a fact; a value at NULL removes it (PHI_NOT_FOUND: there is none). Both texts are copied; an
   equal value changes nothing. *version, where given: the
   fact's. PHI_BAD_ARG, with words: a key that is empty, too long, not UTF-8 or holds a control
   character; a value that is not UTF-8 or too long; no scope. PHI_FULL: the scope is; PHI_STALE,
   PHI_NO_MEMORY. Then nothing changed. */
PHI_API phi_status phi_fact_set(phi_fact_scope scope, const char *key, phi_str value,
                                uint64_t *version);
/* One fact of just this scope. PHI_NOT_FOUND: there is none; PHI_STALE, PHI_BAD_ARG. */
PHI_API phi_status phi_fact_get(phi_fact_scope scope, const char *key, phi_fact *out);
/* All facts of a scope, by key, as a list in the arena; with scope.known the facts that its agent
   knows, as its next request shows them. PHI_STALE, PHI_BAD_ARG, PHI_NO_MEMORY. */
PHI_API phi_status phi_fact_list(phi_fact_scope scope, phi_arena *arena, const phi_fact **out,
                                 size_t *count);

/* An agent joins a group, which need not have facts, or leaves it (join false); twice is harmless.
   Its groups and its own facts are part of its snapshot. PHI_BAD_ARG: no name for a group (as a
   key); PHI_FULL, PHI_STALE, PHI_NO_MEMORY. */
PHI_API phi_status phi_fact_join(phi_agent agent, const char *group, bool join);

/* The facts of all and of the groups as JSON text, in the arena; and back: they replace all such
   facts of the runtime. PHI_BAD_ARG, PHI_NO_MEMORY; of a load also PHI_PARSE and PHI_FULL, with
   words in phi_last_error. Then nothing changed. */
PHI_API phi_status phi_facts_save(phi_runtime *rt, phi_arena *arena, phi_str *out);
PHI_API phi_status phi_facts_load(phi_runtime *rt, phi_str json);

#ifdef __cplusplus
}
#endif
#endif
