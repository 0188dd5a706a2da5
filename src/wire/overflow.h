/* overflow.h - tells if an answer failed because the prompt is longer than the model's window. */
#ifndef PHI_WIRE_OVERFLOW_H
#define PHI_WIRE_OVERFLOW_H

#include "model/message.h"

#ifdef __cplusplus
extern "C" {
#endif

/* True if an assistant message ended in an error whose text says that the prompt is too long, in
   any provider's words. For histories from other programs; phi's own runs have phi_failure.kind. */
PHI_API bool phi_message_is_overflow(const phi_message *message);

#ifdef __cplusplus
}
#endif
#endif
