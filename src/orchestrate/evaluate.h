/* evaluate.h - parallel evaluation: the same prompt under several configurations at once, of which
   one answer is selected and the conversation continues with it.

   Each configuration is a *branch*: an agent below the evaluated one, in its session, over a copy
   of its view. Branches run at the same time, and their events reach the host as any agent's do.
   When all have ended, an evaluation selects one: by its place, by its tokens, by a judge (a model
   that compares the answers), or by a function of the host's. Then every branch becomes a lane of
   the agent's thread; the lane of the selected one becomes the active lane, and the others can be
   read as any lane (phi_thread_view). The agent itself has no run meanwhile, and is busy: it takes
   no prompt and no change (PHI_BUSY).

   A branch whose run failed is not selected unless all have failed. phi_abort of the agent ends the
   branches, the judge and the evaluation, and the agent keeps the lane that it had; phi_abort of a
   branch ends that branch alone. phi_stop of the agent lets each branch end its turn; branches that
   were stopped count as failed. phi_agent_free of the agent frees its branches; a branch that the
   host frees counts as cancelled, and has no lane.
   Threads: the pumping thread. */
#ifndef PHI_ORCHESTRATE_EVALUATE_H
#define PHI_ORCHESTRATE_EVALUATE_H

#include "agent/agent.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { PHI_EVALUATE_MOST = 64 }; /* branches of one evaluation */

typedef enum phi_evaluate_by {
    PHI_EVALUATE_FIRST = 0,
    PHI_EVALUATE_TRANSPARENT,     /* one configuration, and no choice */
    PHI_EVALUATE_TOKEN_EFFICIENT, /* the fewest tokens; of equals the first */
    PHI_EVALUATE_ELABORATE,       /* the most tokens; of equals the last */
    PHI_EVALUATE_JUDGE,           /* phi_evaluate_desc.judge compares the answers */
    PHI_EVALUATE_CUSTOM           /* phi_evaluate_desc.evaluate_fn selects */
} phi_evaluate_by;

/* A branch and its outcome. */
typedef struct phi_branch {
    phi_agent agent;   /* its events have this handle; stale once they were popped */
    phi_str loop_id;   /* of its run */
    phi_str lane;      /* of the agent's thread; empty until the evaluation is over */
    phi_status status; /* of its run; PHI_BUSY: it is active */
    phi_str text;      /* its last answer that has text; empty: there is none */
    phi_usage usage;   /* this and cost: of its run */
    double cost;
    size_t original_count; /* messages in its view when its run began */
} phi_branch;

/* An evaluation, active or over. Strings and arrays are the agent's, valid until the agent is freed
   or the next evaluation of it begins. */
typedef struct phi_evaluation {
    phi_status status; /* PHI_BUSY: active; PHI_CANCELLED, PHI_NO_MEMORY: nothing was selected */
    phi_str query;     /* text of the prompt, or of the user message that the branches answer */
    const phi_branch *branches; /* in the order of their configurations */
    size_t branch_count;
    size_t selected;            /* index of the selected branch; SIZE_MAX: none */
    phi_usage evaluation_usage; /* this and the next: of the judge, or as evaluate_fn says */
    double evaluation_cost;
    phi_usage total_usage; /* this and the next: of all branches and the evaluation */
    double total_cost;
    phi_str judge_loop_id; /* of the judge's run; empty: there was none */
} phi_evaluation;

/* Selects a branch. Called in phi_step once all branches have ended, and again in each step while
   it returns PHI_BUSY. PHI_OK: *selected is the branch's index (too large: the last branch), and
   *usage, zero before, what the evaluation has used. Any other status is a failure, as of a judge.
   Callbacks: it may call every phi_ function but phi_step, phi_runtime_close and
   phi_runtime_free. */
typedef phi_status (*phi_evaluate_fn)(void *user_data, const phi_evaluation *evaluation,
                                      size_t *selected, phi_usage *usage);

/* Zero means default. Borrowed until phi_evaluate returns; pointers in the configurations as in
   phi_agent_new. */
typedef struct phi_evaluate_desc {
    /* One a branch. Default of system_prompt and tools: the agent's. Set by the evaluation: parent,
       agent_id and session_id. store and thread_id must be NULL: the agent's thread has it all. */
    const phi_agent_desc *configs;
    size_t config_count; /* 1 to PHI_EVALUATE_MOST; 1 for PHI_EVALUATE_TRANSPARENT */
    /* The prompt, a text or content (not both); copied (default: the branches continue the history
       as it is, under the conditions of phi_continue) */
    const char *prompt;
    const phi_content *content;
    size_t content_count;
    phi_evaluate_by by;
    /* For PHI_EVALUATE_JUDGE: the judging agent, with an empty history and without tools; its
       compaction.max_context_tokens is the window for the prompt (default: any length). Default of
       system_prompt: phi's own. The rest as for configs. A judge that fails, or names no response,
       selects the first branch that has not failed; if one branch alone has not failed, the judge
       is not called. */
    const phi_agent_desc *judge;
    phi_evaluate_fn evaluate_fn; /* of PHI_EVALUATE_CUSTOM */
    void *user_data;             /* comes back in evaluate_fn */
    /* Continues the evaluation that was active when the agent's snapshot was made, after
       phi_agent_restore: with the same configurations, in the same order, and the same way to
       evaluate; the prompt is not looked at. Until then the agent is not busy; a new evaluation
       drops the old one (default: a new one begins) */
    bool resume;
} phi_evaluate_desc;

/* Starts an evaluation. The events: PHI_EV_PARALLEL_START of the agent, with the loop ids of all
   branches; those of the branches and of the judge; PHI_EV_PARALLEL_END of the agent, with the
   selection. Loop ids are session.config.N with one count for all branches; the judge has the next
   number.

   Where the agent or one above it has a budget, the most that the first model call of each branch
   and of the judge may cost is reserved in it now. PHI_LIMIT: there is no room for that.
   PHI_BUSY, PHI_MISUSE: as phi_prompt or phi_continue; PHI_BAD_ARG, PHI_UNSUPPORTED:
   phi_last_error names the field; PHI_STALE, PHI_NO_MEMORY. Then nothing was called, and nothing
   changed. With desc->resume also PHI_NOT_FOUND: no evaluation waits; PHI_MISUSE: the history has
   changed since, or inside a callback; PHI_BAD_ARG: another number of configurations; PHI_PARSE:
   the snapshot does not fit together. Then it waits still. */
PHI_API phi_status phi_evaluate(phi_agent agent, const phi_evaluate_desc *desc);

/* The active evaluation, or the last one. PHI_NOT_FOUND: there was none; PHI_STALE, PHI_BAD_ARG. */
PHI_API phi_status phi_evaluation_result(phi_agent agent, phi_evaluation *out);

#ifdef __cplusplus
}
inline phi_status phi_evaluate(phi_agent agent, const phi_evaluate_desc &desc) {
    return phi_evaluate(agent, &desc);
}
#endif
#endif
