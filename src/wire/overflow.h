/* overflow.h - whether an answer failed because the prompt is longer than the model's window. */
#ifndef PHI_WIRE_OVERFLOW_H
#define PHI_WIRE_OVERFLOW_H

#include "model/message.h"

#ifdef __cplusplus
extern "C" {
#endif

/* True for an assistant message that ended in an error whose text says so, of any provider: for
   histories that come from elsewhere. For a run's own failures, see phi_failure.kind. */
PHI_API bool phi_message_is_overflow(const phi_message *message);

#ifdef __cplusplus
}
#endif
#endif
