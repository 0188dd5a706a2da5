/* message_in.h - for our own writers of JSON: messages and their parts, appended to a buffer.

   `scratch` is for checking text that should be JSON; what they take from it is given back. */
#ifndef PHI_MODEL_MESSAGE_IN_H
#define PHI_MODEL_MESSAGE_IN_H

#include "base/arena_in.h"
#include "base/buf_in.h"
#include "model/message.h"

PHI__FN void phi__message_put(phi__buf *out, const phi_message *message, phi_arena *scratch);
/* The members "usage" and "content", with the comma before them where one is needed. */
PHI__FN void phi__message_put_usage(phi__buf *out, const phi_usage *usage);
PHI__FN void phi__message_put_blocks(phi__buf *out, const phi_message *message, phi_arena *scratch);
/* JSON text as it is; what is none as a string. */
PHI__FN void phi__message_put_value(phi__buf *out, phi_str text, phi_arena *scratch);

#endif
