/* event_parts.h - what events point to: a run's identity, and the figures of what happened. */
#ifndef PHI_MODEL_EVENT_PARTS_H
#define PHI_MODEL_EVENT_PARTS_H

#include "model/event.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A run's identity. */
typedef struct phi_loop_info {
    phi_str agent_id, session_id, loop_id;
    phi_str parent_loop_id; /* the run that it continues; empty: none */
    phi_continuation continuation;
    phi_str tag;      /* of RERUN and BRANCH: when, RFC 3339 */
    phi_str metadata; /* JSON text; empty: null */
    phi_str config;   /* of an event read from JSON: its config_snapshot, JSON text; else empty */
    /* A run in a thread has its agent's system prompt where it differs from the run before
       (has_system_prompt); else the nearest run before that has one says it. */
    phi_str system_prompt;
    bool has_system_prompt;
} phi_loop_info;

/* The figures of a compaction, planned or done. */
typedef struct phi_compaction {
    uint64_t estimated_tokens; /* of the view */
    size_t message_count;
    size_t messages_before, messages_after;
    uint64_t tokens_before, tokens_after; /* estimates */
    size_t loops_compacted;
} phi_compaction;

/* The messages that a prune took out. */
typedef struct phi_pruned {
    uint64_t tokens_removed; /* by estimate */
    size_t messages_removed;
    phi_str memo;              /* the message in their place; empty: none */
    const int64_t *timestamps; /* of the messages, oldest first */
    size_t timestamp_count;
} phi_pruned;

/* A revert. Steps are named "n12": entry 12 of the thread. JSON has only their numbers, as the
   original. */
typedef struct phi_reverted {
    phi_str category; /* "failure", "tangent", "completion", "step-summary" */
    phi_str target;
    const phi_str *abandoned; /* the messages taken out of the view */
    size_t abandoned_count;
    phi_str summary; /* empty: none was given */
    bool applied;
    phi_str reason; /* why it was not applied */
} phi_reverted;

/* How near a model call's request is to its limit. */
typedef struct phi_context {
    /* by estimate, with system prompt and tools; the policy's, or the model's window */
    uint64_t tokens, limit;
    size_t messages, shown; /* of the view; how many of them are sent */
    /* SUMMARY_NEEDED: the entries that need a summary, both included */
    uint64_t need_from, need_to;
} phi_context;

/* Entries that an agent at its memory limit forgot. The messages still in its lanes' views come
   again, as copies, after the log's FORGOTTEN entry; phi_thread_message_at counts from there. */
typedef struct phi_forgotten {
    uint64_t from, to; /* entries of the log: from `from` to before `to` */
    size_t messages;   /* messages among them that no model sees any more */
    size_t bytes;      /* of the agent's memory that were given back */
    bool compacted;    /* the view was compacted first */
    int64_t made_ms;   /* Unix time: when the thread was made; 0: not known */
} phi_forgotten;

/* A group of parallel runs; record/session.h has its record. */
typedef struct phi_parallel {
    phi_str session_id;
    const phi_str *loop_ids; /* PARALLEL_START */
    size_t loop_count;
    phi_str selected_loop_id; /* PARALLEL_END: this and the rest */
    size_t selected_index;
    phi_usage evaluation_usage; /* of the judge */
} phi_parallel;

/* How far a reasoning strategy has come. */
typedef struct phi_strategy_progress {
    phi_str name, phase;        /* "tot"; "generating"... */
    uint64_t calls, most_calls; /* model calls made; how many there may be, tool rounds included */
    uint32_t nodes;             /* thoughts so far */
    bool has_score;
    double score; /* of the best, 0 to 1 */
} phi_strategy_progress;

#ifdef __cplusplus
}
#endif
#endif
