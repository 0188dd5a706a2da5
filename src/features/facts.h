/* facts.h - world facts: short texts with keys. phi tells a model the facts that are new or have
   changed.

   A fact belongs to a scope: all agents of a runtime, a named group of agents, or one agent. Before
   a model call phi adds an update message (phi_message.is_update) with facts that the agent may
   know: at first all of them, later only the changes. The update enters the log and stays in the
   view, so each request is the previous one with new messages at the end.

       [What you know now]
       king: is ill
       weather: rain

   The facts are in the order of their keys, each key once. If several scopes have a fact with the
   same key, the agent's own fact is sent, or else a group's fact (of the group whose name sorts
   last), or else the fact for all agents. Further lines of a value are indented. If the view has
   lost an update, and after 64 updates, the next update tells all facts. An agent that phi makes
   for another agent knows the facts of that agent; models that write summaries see no facts.

   Without phi_feature_facts in the runtime, these functions return PHI_UNSUPPORTED, except
   phi_facts_save, which then writes no facts.

   Threads: the pumping thread. The functions may be called inside a callback; the next model call
   shows the change. */
#ifndef PHI_FEATURES_FACTS_H
#define PHI_FEATURES_FACTS_H

#include "base/arena.h"
#include "model/event.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    PHI_FACT_KEY_BYTES = 128,     /* bytes of a key or of a group's name */
    PHI_FACT_VALUE_BYTES = 4096,  /* bytes of a value */
    PHI_FACT_SCOPE_COUNT = 256,   /* facts of a scope */
    PHI_FACT_SCOPE_BYTES = 16384, /* bytes of all keys and values of a scope */
    PHI_FACT_GROUPS = 1024,       /* groups with facts in a runtime */
    PHI_FACT_MEMBERSHIPS = 16,    /* groups of an agent */
    /* bytes of the facts that a request shows. If there are more facts, those of broader scopes are
       left out first, and a last line says so */
    PHI_FACT_SHOWN_BYTES = 65536
};

/* A scope of facts, made by one of the three functions below. */
typedef struct phi_fact_scope {
    phi_runtime *rt;
    const char *group; /* borrowed until the call that gets the scope returns; NULL: no group */
    phi_agent agent;   /* rt NULL: no agent */
    bool known;        /* for phi_fact_list: all facts that the agent knows */
} phi_fact_scope;

/* A fact. phi owns the strings, which are valid until the fact is set or removed. */
typedef struct phi_fact {
    phi_str group; /* the group that has the fact; empty: all agents or one agent */
    bool own;      /* true: the fact belongs to one agent */
    phi_str key, value;
    uint64_t version; /* begins at 1; each change of the value adds 1 */
} phi_fact;

/* Return the scope of all agents of a runtime, of a group, or of one agent. The group's name is
   borrowed until the call that takes the scope returns. */
PHI_API phi_fact_scope phi_fact_all(phi_runtime *rt);
PHI_API phi_fact_scope phi_fact_group(phi_runtime *rt, const char *name);
PHI_API phi_fact_scope phi_fact_agent(phi_agent agent);

/* Sets a fact; if value.at is NULL, removes the fact (PHI_NOT_FOUND: there is no such fact). Key
   and value are copied; an equal value changes nothing. If version is not NULL, *version gets the
   fact's version. PHI_BAD_ARG: the key is empty, too long, not UTF-8 or has a control character,
   the value is not UTF-8 or too long, or there is no scope; phi_last_error has a message. PHI_FULL:
   the scope is full; PHI_STALE, PHI_NO_MEMORY. After any of these nothing changed. */
PHI_API phi_status phi_fact_set(phi_fact_scope scope, const char *key, phi_str value,
                                uint64_t *version);
/* Gets a fact of exactly this scope. PHI_NOT_FOUND: there is no such fact. PHI_STALE: the agent is
   gone. PHI_BAD_ARG: out is NULL, or there is no scope. */
PHI_API phi_status phi_fact_get(phi_fact_scope scope, const char *key, phi_fact *out);
/* Lists all facts of a scope, sorted by key, in the arena. If scope.known is set, lists the facts
   that the scope's agent knows, as the agent's next request would show them. PHI_STALE: the agent
   is gone; PHI_BAD_ARG: a pointer is NULL, or there is no scope; PHI_NO_MEMORY. */
PHI_API phi_status phi_fact_list(phi_fact_scope scope, phi_arena *arena, const phi_fact **out,
                                 size_t *count);

/* Makes an agent join a group, which need not have facts, or leave the group (join false). Calling
   it twice is harmless. An agent's snapshot has its groups and its own facts. PHI_BAD_ARG: the name
   is not valid; the rules are those for a key. PHI_FULL, PHI_STALE, PHI_NO_MEMORY. */
PHI_API phi_status phi_fact_join(phi_agent agent, const char *group, bool join);

/* phi_facts_save writes the facts of all agents and of the groups as JSON text into the arena.
   phi_facts_load reads such a text, and replaces all facts of these scopes in the runtime.
   PHI_BAD_ARG: an argument is missing. PHI_PARSE, PHI_FULL (only phi_facts_load): phi_last_error
   has a message. PHI_NO_MEMORY. After any of these nothing changed. */
PHI_API phi_status phi_facts_save(phi_runtime *rt, phi_arena *arena, phi_str *out);
PHI_API phi_status phi_facts_load(phi_runtime *rt, phi_str json);

#ifdef __cplusplus
}
#endif
#endif
