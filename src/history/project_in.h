/* project_in.h - projects a fold, for the loop, and explains the projection.

   A fold remembers for each item where the newest summary up to it stands, and how many groups
   there are: so the walk skips the items left out, and the cost of a turn depends only on the items
   sent. */
#ifndef PHI_HISTORY_PROJECT_IN_H
#define PHI_HISTORY_PROJECT_IN_H

#include "base/base_in.h"
#include "history/history_in.h"
#include "history/policy.h"
#include "model/texts.h"
#include "model/tokens.h"

/* The items to project, and the policy and tokens to do it by. */
typedef struct phi__project_order {
    const phi_view_item *items; /* NULL: they are those of `fold` */
    const phi__fold *fold;      /* linked */
    size_t count;
    const phi_policy *policy;
    const phi_token_counter *counter; /* NULL: the estimate */
    phi_str system_prompt;
    uint64_t tools_tokens;
    const phi_texts *texts; /* NULL: phi's */
    bool extensions;        /* those of the window are in the list, too; they cost nothing */
    bool all;               /* groups holds the groups left out, too */
} phi__project_order;

typedef enum phi__verdict {
    PHI__VERDICT_SHOWN = 0,
    PHI__VERDICT_CUT,      /* sent, its results shortened */
    PHI__VERDICT_KIND,     /* the policy does not include it */
    PHI__VERDICT_TURNS,    /* max_turns */
    PHI__VERDICT_MESSAGES, /* max_messages */
    PHI__VERDICT_BUDGET,
    PHI__VERDICT_START /* no user message before it is sent */
} phi__verdict;

/* An answer and its results, or a message of another kind. */
typedef struct phi__group {
    struct phi__group *newer;
    size_t at; /* its item */
    const phi_message *message;
    const phi_message **results; /* in call order, all of them; made ones where there was none */
    size_t *places;              /* their items; SIZE_MAX: made */
    size_t result_count, made;
    uint64_t tokens;
    uint32_t turn; /* 1: the newest */
    bool is_summary, opens;
    bool starts; /* the list may begin with it */
    phi__verdict verdict;
} phi__group;

typedef struct phi__projection {
    const phi_message **messages;
    size_t *places; /* the item each is of, unchanged; SIZE_MAX: it is a copy, or made */
    size_t count;
    const phi__group *groups; /* oldest first */
    phi_projection_meta meta;
} phi__projection;

/* An order of a view. PHI_BAD_ARG. */
PHI__FN phi_status phi__project_of(phi__project_order *order, const phi_view_item *items,
                                   size_t count, const phi_policy *policy,
                                   const phi_token_counter *counter, phi_str system_prompt,
                                   uint64_t tools_tokens);

/* As phi_project. */
PHI__FN phi_status phi__project(const phi__project_order *order, phi_arena *arena,
                                phi__projection *out);
PHI__FN phi_status phi__explain(phi__project_order *order, phi_arena *arena, phi_str *out);

/* project.c: with every default in it; and words about a field that is none of its values, or NULL.
   Static. */
PHI__FN phi_policy phi__policy_filled(const phi_policy *policy);
PHI__FN const char *phi__policy_fault(const phi_policy *policy);

/* PHI_ZERO is a tracker that knows nothing. It owns nothing. */
typedef struct phi__tracker {
    uint64_t reported; /* tokens up to and with message `index`; 0: none are known */
    size_t index;
} phi__tracker;

/* Records the usage of the answer at messages[index]: input, output, cache reads and writes. A sum
   of 0 is ignored. */
PHI__FN void phi__tracker_record(phi__tracker *tracker, const phi_usage *usage, size_t index);

/* The known tokens of a list of `count` messages, and in *from the first message to estimate and
   add. Where nothing is known, or the list is too short to hold the recorded message: 0, and *from
   is 0. */
PHI__FN uint64_t phi__tracker_known(const phi__tracker *tracker, size_t count, size_t *from);

/* The whole sum. counter NULL: the estimate. */
PHI__FN uint64_t phi__tracker_tokens(const phi__tracker *tracker,
                                     const phi_message *const *messages, size_t count,
                                     const phi_token_counter *counter);

/* Forgets the last report, so that everything is estimated again. */
PHI__FN void phi__tracker_reset(phi__tracker *tracker);

#endif
