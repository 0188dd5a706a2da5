/* event_parts.h - structs that events point to: a run's identity, and figures. */
#ifndef PHI_MODEL_EVENT_PARTS_H
#define PHI_MODEL_EVENT_PARTS_H

#include "model/event.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A run's identity. */
typedef struct phi_loop_info {
    phi_str agent_id, session_id, loop_id;
    phi_str parent_loop_id; /* the run that this run continues; empty: none */
    phi_continuation continuation;
    phi_str tag;      /* RERUN and BRANCH: the time, RFC 3339 */
    phi_str metadata; /* JSON text; empty means null */
    /* for an event read from JSON: the event's config_snapshot, JSON text; else empty */
    phi_str config;
    /* A run in a thread has its agent's system prompt here (has_system_prompt) if the prompt
       differs from the previous run's prompt. Otherwise the run has the same prompt as the nearest
       earlier run with has_system_prompt. */
    phi_str system_prompt;
    bool has_system_prompt;
} phi_loop_info;

/* The figures of a compaction, planned or done. */
typedef struct phi_compaction {
    uint64_t estimated_tokens; /* tokens of the view */
    size_t message_count;
    size_t messages_before, messages_after;
    uint64_t tokens_before, tokens_after; /* estimates */
    size_t loops_compacted;
} phi_compaction;

/* The messages that a prune removed. */
typedef struct phi_pruned {
    uint64_t tokens_removed; /* an estimate */
    size_t messages_removed;
    phi_str memo;              /* the message that takes their place; empty: none */
    const int64_t *timestamps; /* times of the removed messages, oldest first */
    size_t timestamp_count;
} phi_pruned;

/* A revert. A step has a name such as "n12", for entry 12 of the thread. The event's JSON has the
   number instead. */
typedef struct phi_reverted {
    phi_str category; /* "failure", "tangent", "completion", "step-summary" */
    phi_str target;
    const phi_str *abandoned; /* names of the messages removed from the view */
    size_t abandoned_count;
    phi_str summary; /* empty: none was given */
    bool applied;
    phi_str reason; /* why the revert was not applied */
} phi_reverted;

/* How near the request of a model call is to its limit. */
typedef struct phi_context {
    /* tokens: estimate of the request with prompt and tools; limit: the policy's limit, or the
       window */
    uint64_t tokens, limit;
    size_t messages, shown; /* messages in the view; how many of them are sent */
    /* SUMMARY_NEEDED: the entries that need a summary, both included */
    uint64_t need_from, need_to;
} phi_context;

/* Entries that an agent at its memory limit forgot. The log has a FORGOTTEN entry, followed by
   copies of the messages that are still in the views of lanes. phi_thread_message_at counts from
   these copies. */
typedef struct phi_forgotten {
    uint64_t from, to; /* entries of the log: `from` is the first, `to` is the one after the last */
    size_t messages;   /* the number of forgotten messages that no model sees any more */
    size_t bytes;      /* bytes of the agent's memory that were freed */
    bool compacted;    /* the view was compacted first */
    int64_t made_ms;   /* Unix time: when the thread was made; 0: not known */
} phi_forgotten;

/* A group of parallel runs; record/session.h has the record of a group. */
typedef struct phi_parallel {
    phi_str session_id;
    const phi_str *loop_ids; /* in PARALLEL_START */
    size_t loop_count;
    phi_str selected_loop_id; /* only PARALLEL_END has this and the fields below */
    size_t selected_index;
    phi_usage evaluation_usage; /* usage of the judge */
} phi_parallel;

/* How far a reasoning strategy has come. */
typedef struct phi_strategy_progress {
    phi_str name, phase; /* name such as "tot"; phase such as "generating" */
    /* model calls made so far, and the most that may be made, including tool rounds */
    uint64_t calls, most_calls;
    uint32_t nodes; /* thoughts so far */
    bool has_score;
    double score; /* score of the best thought, 0 to 1 */
} phi_strategy_progress;

#ifdef __cplusplus
}
#endif
#endif
