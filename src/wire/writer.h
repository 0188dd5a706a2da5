/* writer.h - an answer as a host's own model or codec writes it. */
#ifndef PHI_WIRE_WRITER_H
#define PHI_WIRE_WRITER_H

#include "model/failure.h"
#include "model/message.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An answer under way, handed to a phi_provider's functions and valid until they return. Everything
   is copied. Want of memory is kept and ends the call by itself. What comes after phi_answer_stop
   or phi_answer_fail counts for nothing. */
typedef struct phi_answer phi_answer;

/* More text, more thinking: of the block that is open, or of a new one where that is of another
   kind. */
PHI_API void phi_answer_text(phi_answer *answer, phi_str bytes);
PHI_API void phi_answer_thinking(phi_answer *answer, phi_str bytes);

/* The token that the thinking under way is to be sent back with. */
PHI_API void phi_answer_signature(phi_answer *answer, phi_str token);

/* Begins a call of a tool (id empty: one is made), more JSON text of its arguments (none at all:
   {}), and its end. A call that is not ended, by this or by what comes next, is never run. */
PHI_API void phi_answer_call(phi_answer *answer, phi_str id, phi_str name);
PHI_API void phi_answer_arguments(phi_answer *answer, phi_str bytes);
PHI_API void phi_answer_call_end(phi_answer *answer);

/* Tokens so far, in place of earlier counts; total_tokens 0: it is computed. */
PHI_API void phi_answer_usage(phi_answer *answer, const phi_usage *usage);

/* The answer is whole: STOP, LENGTH, TOOL_USE or GUARD_RAIL; anything else counts as STOP. With
   calls in it, STOP is TOOL_USE. */
PHI_API void phi_answer_stop(phi_answer *answer, phi_stop_reason reason);

/* It has failed. `retryable`: it is asked for again, as phi_retry says. */
PHI_API void phi_answer_fail(phi_answer *answer, phi_failure_kind kind, bool retryable,
                             const char *words);

#ifdef __cplusplus
}
#endif
#endif
