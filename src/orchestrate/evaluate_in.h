/* evaluate_in.h - the parts of an evaluation that need no model: selection, the judge's prompt, and
   the judge's verdict. Pure functions, for tests. */
#ifndef PHI_ORCHESTRATE_EVALUATE_IN_H
#define PHI_ORCHESTRATE_EVALUATE_IN_H

#include "base/base_in.h"
#include "orchestrate/evaluate.h"
#include "model/message.h"
#include "model/model_in.h"
#include "model/tokens.h"

/* Returns the winning branch by position or tokens; `by` is neither JUDGE nor CUSTOM.
   phi__select_first returns the first branch that may win. */
PHI__FN size_t phi__select_by(phi_evaluate_by by, const phi_branch *branches, size_t count);
PHI__FN size_t phi__select_first(const phi_branch *branches, size_t count);

/* The texts that the judge compares. Shortening them does not change the branches' texts. */
typedef struct phi__judge_case {
    phi_str context; /* transcript of the conversation before the query; may be blank */
    phi_str query;
    phi_str *responses; /* one for each candidate */
    size_t count;
    const phi_texts *texts; /* NULL: phi's own texts */
} phi__judge_case;

/* Appends a message to a transcript on a new line, as "User: ...", "Assistant: ..." or "Tool
   [name]: ...". Writes only text, and skips a message without text. */
PHI__FN void phi__judge_transcribe(phi__buf *out, const phi_message *message);

/* Shortens the case until context and responses fit into four fifths of max_tokens (0: no limit).
   Shortens the context first, in three tiers, then the responses. Shortened texts are in the arena.
   PHI_LIMIT: the texts are still too long after the last tier, and stay shortened. PHI_NO_MEMORY:
   the case is partly shortened. */
PHI__FN phi_status phi__judge_fit(phi__judge_case *c, uint64_t max_tokens,
                                  const phi_token_counter *counter, phi_arena *arena);

/* Writes the judge's prompt. Check out->failed. */
PHI__FN void phi__judge_prompt(phi__buf *out, const phi__judge_case *c);

/* Returns the candidate (from 0) that the reply names. The first word whose digits form a number
   from 1 to count names it. Returns 0 if there is no such word. */
PHI__FN size_t phi__judge_verdict(phi_str reply, size_t count);

#endif
