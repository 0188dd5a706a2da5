/* writer.h - functions with which a host's own model or codec writes an answer. */
#ifndef PHI_WIRE_WRITER_H
#define PHI_WIRE_WRITER_H

#include "model/failure.h"
#include "model/message.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An answer under construction. The functions of a phi_provider get it; it is valid until they
   return. Everything written is copied. If memory runs out, the model call fails by itself. Writes
   after phi_answer_stop or phi_answer_fail have no effect. */
typedef struct phi_answer phi_answer;

/* Append text or thinking to the open block, or to a new block if the open one is of another kind.
   signature: the provider's token, which must be sent back with this thinking. The signature ends
   the block; an empty one does not. */
PHI_API void phi_answer_text(phi_answer *answer, phi_str bytes);
PHI_API void phi_answer_thinking(phi_answer *answer, phi_str bytes, phi_str signature);

/* phi_answer_call begins a tool call (id empty: phi makes an id). phi_answer_arguments appends a
   part of the JSON text of the arguments (no text at all means {}). The call ends when `last` is
   true, when another block begins, or when the answer ends. A call that was cut
   off (PHI_STOP_REASON_LENGTH) never runs. */
PHI_API void phi_answer_call(phi_answer *answer, phi_str id, phi_str name);
PHI_API void phi_answer_arguments(phi_answer *answer, phi_str bytes, bool last);

/* Sets the tokens so far, replacing earlier numbers. phi computes total_tokens itself. */
PHI_API void phi_answer_usage(phi_answer *answer, const phi_usage *usage);

/* Completes the answer. reason: STOP, LENGTH, TOOL_USE or GUARD_RAIL; any other value counts as
   STOP. If the answer has calls, STOP counts as TOOL_USE. */
PHI_API void phi_answer_stop(phi_answer *answer, phi_stop_reason reason);

/* Ends the answer with a failure. retryable: phi tries again, as phi_retry says. */
PHI_API void phi_answer_fail(phi_answer *answer, phi_failure_kind kind, bool retryable,
                             const char *message);

#ifdef __cplusplus
}
#endif
#endif
