/* evaluate.h - parallel evaluation: runs the same prompt under several configurations at once,
   selects one answer, and continues the conversation with it.

   Each configuration is a *branch*: a child of the evaluated agent, in the same session, with a
   copy of its view. Branches run at the same time, and the host receives their events as those of
   any agent. When all branches have ended, the evaluation selects one: by its position, by its
   tokens, by a judge (a model that compares the answers), or by a function of the host. Then every
   branch becomes a lane of the agent's thread. The lane of the selected branch becomes the active
   lane, and the other lanes can be read with phi_thread_view. Meanwhile the agent itself has no
   run, but is busy: prompts and changes return PHI_BUSY.

   A branch whose run failed is selected only if all have failed. phi_abort of the agent ends the
   branches, the judge and the evaluation, and the active lane stays the same. phi_abort of a branch
   ends only that branch. phi_stop of the agent lets each branch end its turn, and branches that
   were stopped count as failed. phi_agent_free of the agent frees its branches. A branch that the
   host frees counts as cancelled, and gets no lane.
   Threads: the pumping thread. */
#ifndef PHI_ORCHESTRATE_EVALUATE_H
#define PHI_ORCHESTRATE_EVALUATE_H

#include "agent/agent.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { PHI_EVALUATE_MOST = 64 }; /* branches in one evaluation */

typedef enum phi_evaluate_by {
    PHI_EVALUATE_FIRST = 0,
    PHI_EVALUATE_TRANSPARENT,     /* one configuration; nothing to select */
    PHI_EVALUATE_TOKEN_EFFICIENT, /* fewest tokens; if equal, the first */
    PHI_EVALUATE_ELABORATE,       /* most tokens; if equal, the last */
    PHI_EVALUATE_JUDGE,           /* phi_evaluate_desc.judge compares the answers */
    PHI_EVALUATE_CUSTOM           /* phi_evaluate_desc.evaluate_fn selects */
} phi_evaluate_by;

/* A branch and its outcome. */
typedef struct phi_branch {
    phi_agent agent;   /* the agent of the branch's events; stale after all are popped */
    phi_str loop_id;   /* loop id of its run */
    phi_str lane;      /* its lane in the agent's thread; empty until the evaluation is over */
    phi_status status; /* status of its run; PHI_BUSY while it is active */
    phi_str text;      /* its last answer with text; empty if none */
    phi_usage usage;   /* usage and cost are those of its run */
    double cost;
    size_t original_count; /* messages in its view when its run began */
} phi_branch;

/* An active or finished evaluation. Strings and arrays belong to the agent. They are valid until
   the agent is freed or its next evaluation begins. */
typedef struct phi_evaluation {
    phi_status status; /* PHI_BUSY: active; PHI_CANCELLED, PHI_NO_MEMORY: nothing was selected */
    phi_str query;     /* text of the prompt, or of the user message that the branches answer */
    const phi_branch *branches; /* in the order of their configurations */
    size_t branch_count;
    size_t selected;            /* index of the selected branch; SIZE_MAX if none */
    phi_usage evaluation_usage; /* usage and cost of the judge; evaluate_fn reports only usage */
    double evaluation_cost;
    phi_usage total_usage; /* sums of all branches and the evaluation */
    double total_cost;
    phi_str judge_loop_id; /* loop id of the judge's run; empty if none */
} phi_evaluation;

/* Selects a branch. Called in phi_step once all branches have ended, and again in each step while
   it returns PHI_BUSY. To select, set *selected to the index of a branch and return PHI_OK. An
   index that is too large selects the last branch. *usage is zero before the call; set it to the
   usage of the evaluation. Any other status, or PHI_BUSY after deadlines.decision_ms, selects the
   first branch that has not failed.
   Callbacks: evaluate_fn may call every phi_ function except phi_step, phi_runtime_close and
   phi_runtime_free. */
typedef phi_status (*phi_evaluate_fn)(void *user_data, const phi_evaluation *evaluation,
                                      size_t *selected, phi_usage *usage);

/* Zero means default. phi_evaluate borrows the desc until it returns. Pointers in the
   configurations follow the rules of phi_agent_new. */
typedef struct phi_evaluate_desc {
    /* One configuration for each branch. system_prompt and tools default to the agent's. The
       evaluation sets parent, agent_id and session_id. store and thread_id must be NULL. */
    const phi_agent_desc *configs;
    size_t config_count; /* 1 to PHI_EVALUATE_MOST; 1 for PHI_EVALUATE_TRANSPARENT */
    /* The prompt, as a text or as content but not both; copied (default: the branches continue the
       history, under the conditions of phi_continue) */
    const char *prompt;
    const phi_content *content;
    size_t content_count;
    phi_evaluate_by by;
    /* For PHI_EVALUATE_JUDGE: the judging agent, which has an empty history and no tools. Its
       compaction.max_context_tokens is the window for the prompt (default: any length), and its
       system_prompt defaults to phi's own. Other fields follow the rules of configs. If the judge
       fails or names no response, the first branch that has not failed is selected. If only one
       branch has not failed, the judge is not called. */
    const phi_agent_desc *judge;
    phi_evaluate_fn evaluate_fn; /* for PHI_EVALUATE_CUSTOM */
    void *user_data;             /* passed to evaluate_fn */
    /* After phi_agent_restore: continues the evaluation in the snapshot, with the same
       configurations in the same order and the same `by`; ignores the prompt. After the restore,
       the agent is not busy until the evaluation continues. A new evaluation drops the saved one
       (default: begins a new evaluation) */
    bool resume;
} phi_evaluate_desc;

/* Starts an evaluation. Its events are PHI_EV_PARALLEL_START of the agent with the loop ids of all
   branches, the events of the branches and the judge, and PHI_EV_PARALLEL_END of the agent with the
   selection. Loop ids have the form session.config.N. All branches share one count for N, and the
   judge gets the next number.

   If the agent or one of its ancestors has a budget, phi_evaluate reserves the most that the first
   model call of each branch and of the judge may cost. PHI_LIMIT: a budget has no room for it.
   PHI_BUSY, PHI_MISUSE: as in phi_prompt or phi_continue. PHI_BAD_ARG, PHI_UNSUPPORTED:
   phi_last_error names the field. Also PHI_STALE, PHI_NO_MEMORY, and the store's status if the
   thread cannot be read. After any of these errors nothing was called and nothing changed, except
   that PHI_NO_MEMORY may leave new results in the log, for tool calls that had no result.

   With desc->resume also: PHI_NOT_FOUND (no evaluation waits), PHI_MISUSE (the history has changed
   since the snapshot, or the call came from a callback), PHI_BAD_ARG (config_count differs),
   PHI_PARSE (the snapshot is inconsistent). After these errors the saved evaluation still waits. */
PHI_API phi_status phi_evaluate(phi_agent agent, const phi_evaluate_desc *desc);

/* Returns the active evaluation, or else the last one. PHI_NOT_FOUND: there is none. PHI_STALE: the
   agent was freed. PHI_BAD_ARG: agent.rt or out is NULL. */
PHI_API phi_status phi_evaluation_result(phi_agent agent, phi_evaluation *out);

#ifdef __cplusplus
}
inline phi_status phi_evaluate(phi_agent agent, const phi_evaluate_desc &desc) {
    return phi_evaluate(agent, &desc);
}
#endif
#endif
