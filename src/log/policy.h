/* policy.h - chooses how much of a view is sent to the model.

   A group is an answer and its results, wherever they are, or a user's message; it is sent whole or
   not at all. A turn is a user's message and all up to the next one; a message steered into a run
   belongs to the turn of that run. The newest turn is always sent, its results cut at head and tail
   where it does not fit. Then, as far as the budget goes: the summaries of older messages, and
   older groups, the newest first, until one does not fit. The list begins with a user's message or
   a summary. A larger budget never sends less. */
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
    PHI_SUMMARIES_NONE,    /* they are left out */
    /* meta.need_* names the entries that do not fit; for an agent's runs PHI_EV_SUMMARY_NEEDED
       does: make a summary, then project again */
    PHI_SUMMARIES_REQUEST,
    /* the same, and the agent has it written, as by phi_summarize of these entries */
    PHI_SUMMARIES_WRITE
} phi_summaries;

enum {
    PHI_INCLUDE_MESSAGES = 1 << 0,
    PHI_INCLUDE_TOOLS = 1 << 1, /* calls and their results: both, or neither */
    PHI_INCLUDE_SUMMARIES = 1 << 2,
    PHI_INCLUDE_ALL = 7
};

/* Zero means default for every field. */
typedef struct phi_policy {
    uint64_t max_input_tokens;      /* (default 8,000; PHI_POLICY_UNLIMITED) */
    uint64_t reserve_output_tokens; /* of these, for the answer (default 2,000) */
    bool no_reserve;                /* reserve nothing */
    uint32_t max_messages;    /* after turns were cut; never into the newest (default: no limit) */
    uint32_t max_turns;       /* the newest ones only (default: no limit) */
    uint32_t keep_last_turns; /* these are sent whatever the budget (default 3) */
    bool keep_no_turns;       /* none but the newest, whatever keep_last_turns says */
    phi_summaries summaries;
    /* the role of a summary: PHI_ROLE_USER (the default) or _ASSISTANT */
    phi_role summary_role;
    uint32_t include; /* PHI_INCLUDE_ bits (default: all) */
} phi_policy;

#define PHI_POLICY_UNLIMITED UINT64_MAX

typedef enum phi_policy_kind {
    PHI_POLICY_DEFAULT = 0,   /* every field as it is when zero */
    PHI_POLICY_SHORT_CONTEXT, /* 6,000 tokens, 2 turns */
    PHI_POLICY_LONG_CONTEXT,  /* 100,000 tokens, 10 turns */
    PHI_POLICY_TOOL_FOCUSED,  /* 5 turns, no summaries */
    PHI_POLICY_FOR_MODEL      /* the window of `model`, less its output: half at most */
} phi_policy_kind;

/* A policy to begin with; model: for PHI_POLICY_FOR_MODEL, else it may be NULL. */
PHI_API phi_policy phi_policy_of(phi_policy_kind kind, const phi_model *model);

/* Which messages were left out, and why. */
typedef struct phi_projection_meta {
    uint64_t estimated_tokens; /* of the whole request, system prompt and tools too */
    uint64_t budget_tokens;    /* the budget for messages */
    uint64_t system_tokens, tools_tokens;
    size_t messages_included; /* made results too */
    size_t messages_total;    /* of the view */
    size_t groups_dropped;    /* left out; without summaries */
    bool summary_used;
    bool window_truncated; /* max_turns or max_messages cut */
    bool budget_truncated; /* the budget cut: groups, summaries, or results of the newest turn */
    bool protected_over;   /* protected turns go beyond the budget */
    bool overflow;         /* not even the newest turn fits, its tool results cut short included */
    /* results made for calls without, and results without a call that were left out */
    size_t orphans_repaired;
    uint64_t from_seq, to_seq; /* entries sent, without older summaries; from_seq > to_seq: none */
    /* with PHI_SUMMARIES_REQUEST or _WRITE: of these entries, earlier summaries of them included */
    bool need_summary;
    uint64_t need_from, need_to;
} phi_projection_meta;

/* The messages to send of a view; pure: the result depends on nothing but the arguments. Messages
   are those of the view, or copies in the arena; extensions are left out. counter NULL: the
   estimate, as phi_view_item.tokens has it; else it counts each message considered.
   tool_schema_tokens: the tokens of the tools. policy NULL: the default; meta NULL: not wanted.
   PHI_NO_MEMORY, PHI_BAD_ARG. */
PHI_API phi_status phi_project(const phi_view_item *items, size_t count, const phi_policy *policy,
                               const phi_token_counter *counter, phi_str system_prompt,
                               uint64_t tool_schema_tokens, phi_arena *arena,
                               const phi_message *const **out, size_t *out_count,
                               phi_projection_meta *meta);

#ifdef __cplusplus
}
#endif
#endif
