/* tokens.h - how many tokens a text or a message is, by estimate: about four bytes of English a
   token.

   For deciding when a history grows too large and what a call may cost at most, never for billing:
   what a provider reports is the truth. */
#ifndef PHI_MODEL_TOKENS_H
#define PHI_MODEL_TOKENS_H

#include "model/message.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A counter of the host's own for text, a real tokenizer for instance; what images and the frame of
   a message cost stays ours. count_text NULL: the estimate. Called on the pumping thread, at any
   time that a count is needed: it must not call phi, and must give the same count for the same text
   each time. */
typedef struct phi_token_counter {
    size_t (*count_text)(void *user_data, phi_str text);
    void *user_data;
} phi_token_counter;

/* counter NULL: the estimate, ceil(bytes / 4). Sums do not overflow: they stop at SIZE_MAX. */
PHI_API size_t phi_tokens_of_text(const phi_token_counter *counter, phi_str text);
PHI_API size_t phi_tokens_of_content(const phi_token_counter *counter, const phi_content *content);
PHI_API size_t phi_tokens_of_message(const phi_token_counter *counter, const phi_message *message);

/* The part of the input that came from the cache: read / (input + read + write); 0 where there was
   none. */
PHI_API double phi_cache_hit_rate(const phi_usage *usage);

#ifdef __cplusplus
}
#endif
#endif
