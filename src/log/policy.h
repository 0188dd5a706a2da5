/* policy.h - policies: which part of a view is sent to the model.

   A group is either a user message, or an answer with its results, wherever in the view the results
   are. A group is sent whole or not at all. A turn is a user message and everything up to the next
   user message; a message that was steered into a run belongs to the turn of that run. The newest
   turn is always sent; if it does not fit, its results are cut to their heads and tails. The rest
   of the budget is used for the summaries of older messages and then for older groups, the newest
   first, until a group does not fit. The list begins with a user message or a summary. A larger
   budget never sends less. */
#ifndef PHI_LOG_POLICY_H
#define PHI_LOG_POLICY_H

#include "model/model.h"
#include "model/tokens.h"
#include "log/thread.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum phi_summaries {
    PHI_SUMMARIES_USE = 0, /* summaries in the view are sent */
    PHI_SUMMARIES_NONE,    /* summaries are left out */
    /* need_from and need_to of phi_projection_meta name the entries that do not fit; for an agent's
       runs PHI_EV_SUMMARY_NEEDED names them. The host makes a summary, then projects again */
    PHI_SUMMARIES_REQUEST,
    /* like PHI_SUMMARIES_REQUEST, but the agent itself starts the summary (phi_summarize) */
    PHI_SUMMARIES_WRITE
} phi_summaries;

enum {
    PHI_INCLUDE_MESSAGES = 1 << 0,
    PHI_INCLUDE_TOOLS = 1 << 1, /* calls together with their results */
    PHI_INCLUDE_SUMMARIES = 1 << 2,
    PHI_INCLUDE_ALL = 7
};

/* Zero means default for every field. */
typedef struct phi_policy {
    uint64_t max_input_tokens; /* (default 8,000; PHI_POLICY_UNLIMITED) */
    /* the part of max_input_tokens that is kept free for the answer (default 2,000) */
    uint64_t reserve_output_tokens;
    bool no_reserve; /* reserve nothing */
    /* the most messages to send; this limit applies after max_turns and never cuts the newest turn
       (default: no limit) */
    uint32_t max_messages;
    uint32_t max_turns; /* the most turns to send, the newest ones (default: no limit) */
    /* number of newest turns that the budget cannot leave out; max_turns and max_messages can
       (default 3) */
    uint32_t keep_last_turns;
    bool keep_no_turns; /* only the newest turn is protected, whatever keep_last_turns says */
    phi_summaries summaries;
    /* the role of a summary: PHI_ROLE_USER (the default) or _ASSISTANT */
    phi_role summary_role;
    uint32_t include; /* PHI_INCLUDE_ bits (default: all) */
} phi_policy;

#define PHI_POLICY_UNLIMITED UINT64_MAX

typedef enum phi_policy_kind {
    PHI_POLICY_DEFAULT = 0,   /* all fields have their defaults */
    PHI_POLICY_SHORT_CONTEXT, /* 6,000 tokens, 2 turns */
    PHI_POLICY_LONG_CONTEXT,  /* 100,000 tokens, 10 turns */
    PHI_POLICY_TOOL_FOCUSED,  /* 5 turns, no summaries */
    /* max_input_tokens is the window of `model`; the reserve is the model's max_tokens, but at most
       half of the window */
    PHI_POLICY_FOR_MODEL
} phi_policy_kind;

/* Returns a policy to begin with. model is needed for PHI_POLICY_FOR_MODEL, else it may be NULL. */
PHI_API phi_policy phi_policy_of(phi_policy_kind kind, const phi_model *model);

/* What a projection sends and leaves out, and why. */
typedef struct phi_projection_meta {
    uint64_t estimated_tokens; /* tokens of the whole request, including system prompt and tools */
    uint64_t budget_tokens;    /* the budget for messages */
    uint64_t system_tokens, tools_tokens;
    size_t messages_included; /* including results that phi made */
    size_t messages_total;    /* messages of the view */
    size_t groups_dropped;    /* groups that were left out, not counting summaries */
    bool summary_used;
    bool window_truncated; /* max_turns or max_messages left out messages */
    /* the budget left out groups or summaries, or cut results of the newest turn */
    bool budget_truncated;
    bool protected_over; /* the protected turns exceed the budget */
    bool overflow;       /* not even the newest turn fits, although its results were cut */
    /* results that phi made for calls without one, plus results that were left out because they
       have no call */
    size_t orphans_repaired;
    /* the entries that are sent, not counting older summaries; from_seq > to_seq: none */
    uint64_t from_seq, to_seq;
    /* with PHI_SUMMARIES_REQUEST or _WRITE: the entries need_from to need_to need a summary; they
       may include earlier summaries */
    bool need_summary;
    uint64_t need_from, need_to;
} phi_projection_meta;

/* Chooses the messages of a view to send. Pure: the result depends only on the arguments. The
   messages in *out are those of the view, or copies in the arena; extensions are left out. counter
   NULL: the estimates in phi_view_item.tokens are used; otherwise `counter` counts each message
   that is considered. tool_schema_tokens: the tokens of the tools. policy NULL: the default policy;
   meta NULL: not wanted. Returns PHI_OK, PHI_NO_MEMORY or PHI_BAD_ARG (a pointer is missing, or the
   policy is not valid). */
PHI_API phi_status phi_project(const phi_view_item *items, size_t count, const phi_policy *policy,
                               const phi_token_counter *counter, phi_str system_prompt,
                               uint64_t tool_schema_tokens, phi_arena *arena,
                               const phi_message *const **out, size_t *out_count,
                               phi_projection_meta *meta);

#ifdef __cplusplus
}
#endif
#endif
