/* writer.h - functions by which a host's own model or codec writes its answer. */
#ifndef PHI_WIRE_WRITER_H
#define PHI_WIRE_WRITER_H

#include "model/failure.h"
#include "model/message.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An answer under way, handed to a phi_provider's functions and valid until they return. Everything
   is copied. When memory runs out, the model call fails by itself. Writes after phi_answer_stop or
   phi_answer_fail have no effect. */
typedef struct phi_answer phi_answer;

/* Appends text or thinking: to the open block, or to a new one where that is of another kind.
   signature: that with which the block of thinking must be sent back (empty: none, or it comes
   later); it ends the block. */
PHI_API void phi_answer_text(phi_answer *answer, phi_str bytes);
PHI_API void phi_answer_thinking(phi_answer *answer, phi_str bytes, phi_str signature);

/* Begins a call of a tool (id empty: one is made); then come the parts of the JSON text of its
   arguments (nothing at all: {}). `last` ends the call; so do the next block and the answer's end.
   A call that was cut off (PHI_STOP_REASON_LENGTH) never runs. */
PHI_API void phi_answer_call(phi_answer *answer, phi_str id, phi_str name);
PHI_API void phi_answer_arguments(phi_answer *answer, phi_str bytes, bool last);

/* Tokens so far, in place of earlier counts; total_tokens 0: it is computed. */
PHI_API void phi_answer_usage(phi_answer *answer, const phi_usage *usage);

/* The answer is complete: STOP, LENGTH, TOOL_USE or GUARD_RAIL; anything else counts as STOP. With
   calls in it, STOP is TOOL_USE. */
PHI_API void phi_answer_stop(phi_answer *answer, phi_stop_reason reason);

/* The answer has failed. `retryable`: phi tries again, as phi_retry says. */
PHI_API void phi_answer_fail(phi_answer *answer, phi_failure_kind kind, bool retryable,
                             const char *message);

#ifdef __cplusplus
}
#endif
#endif
