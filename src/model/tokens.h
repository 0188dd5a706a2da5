/* tokens.h - estimates how many tokens a text or a message has. In English a token has about four
   bytes.

   The estimate shows when a history becomes too large and what a model call may cost at most. Never
   use it for billing; use the provider's reported usage. */
#ifndef PHI_MODEL_TOKENS_H
#define PHI_MODEL_TOKENS_H

#include "model/message.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A host's own token counter for text, for example a real tokenizer. phi itself estimates images
   and the frame of a message. If count_text is NULL, the estimate is used. count_text is called on
   the pumping thread whenever a count is needed. It must not call phi, and must always return the
   same count for the same text. */
typedef struct phi_token_counter {
    size_t (*count_text)(void *user_data, phi_str text);
    void *user_data;
} phi_token_counter;

/* Return the number of tokens of a text or a message. If counter is NULL, the functions estimate
   ceil(bytes / 4). Sums do not overflow but stop at SIZE_MAX. */
PHI_API size_t phi_tokens_of_text(const phi_token_counter *counter, phi_str text);
PHI_API size_t phi_tokens_of_message(const phi_token_counter *counter, const phi_message *message);

#ifdef __cplusplus
}
#endif
#endif
