/* evaluate_in.h - the part of an evaluation that needs no model: selection, the judge's prompt, its
   fitting into the judge's window, and the reading of its verdict. Pure functions, for tests. */
#ifndef PHI_ORCHESTRATE_EVALUATE_IN_H
#define PHI_ORCHESTRATE_EVALUATE_IN_H

#include "base/base_in.h"
#include "orchestrate/evaluate.h"
#include "model/message.h"
#include "model/model_in.h"
#include "model/tokens.h"

/* The branch that wins by `by`, which is neither JUDGE nor CUSTOM; and the first that may. */
PHI__FN size_t phi__select_by(phi_evaluate_by by, const phi_branch *branches, size_t count);
PHI__FN size_t phi__select_first(const phi_branch *branches, size_t count);

/* What the judge compares. Fitting shortens the texts; the branches keep theirs. */
typedef struct phi__judge_case {
    phi_str context; /* transcript of the conversation before the query; blank: none */
    phi_str query;
    phi_str *responses; /* one for each candidate */
    size_t count;
    const phi_texts *texts; /* NULL: phi's */
} phi__judge_case;

/* Appends a message to a transcript as "User: ...", "Assistant: ..." or "Tool [name]: ...", on its
   own line. Only text counts; a message without text is left out. */
PHI__FN void phi__judge_transcribe(phi__buf *out, const phi_message *message);

/* Shortens the case until context and responses have at most four fifths of max_tokens (0: no
   limit): first the context alone, in three tiers, then the responses too. Shortened texts are in
   the arena. PHI_LIMIT: even the last tier is too long, and the case has its texts; PHI_NO_MEMORY:
   the case is partly shortened. */
PHI__FN phi_status phi__judge_fit(phi__judge_case *c, uint64_t max_tokens,
                                  const phi_token_counter *counter, phi_arena *arena);

/* The prompt; check out->failed. */
PHI__FN void phi__judge_prompt(phi__buf *out, const phi__judge_case *c);

/* The candidate that the reply names, from 0: the first word whose digits are a number from 1 to
   count. 0 if there is none. */
PHI__FN size_t phi__judge_verdict(phi_str reply, size_t count);

#endif
