/* tokens.h - estimates the tokens of a text or a message: about four bytes of English a token.

   For deciding when a history grows too large and what a model call may cost at most, never for
   billing: the provider's report counts. */
#ifndef PHI_MODEL_TOKENS_H
#define PHI_MODEL_TOKENS_H

#include "model/message.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A counter of the host's own for text, a real tokenizer for instance; phi estimates images and the
   frame of a message itself. count_text NULL: the estimate. Called on the pumping thread, whenever
   a count is needed: it must not call phi, and must give the same count for the same text each
   time. */
typedef struct phi_token_counter {
    size_t (*count_text)(void *user_data, phi_str text);
    void *user_data;
} phi_token_counter;

/* counter NULL: the estimate, ceil(bytes / 4). Sums do not overflow: they stop at SIZE_MAX. */
PHI_API size_t phi_tokens_of_text(const phi_token_counter *counter, phi_str text);
PHI_API size_t phi_tokens_of_message(const phi_token_counter *counter, const phi_message *message);

#ifdef __cplusplus
}
#endif
#endif
