/* model.c - compares the servers of models, and computes costs and estimates of tokens. */
#include "model/model_in.h"

#include "model/tokens.h"

PHI__FN bool phi__model_same_server(const char *a, const char *b) {
    phi__url one, other;
    (void)phi__url_split(phi_str_of(a), &one);
    (void)phi__url_split(phi_str_of(b), &other);
    return phi_str_equal(one.origin, other.origin);
}

PHI__FN bool phi__model_is_at(const phi_model *model, const char *address) {
    return phi__model_same_server(model->base_url, address);
}

PHI_API double phi_cost_of(const phi_cost *rates, const phi_usage *usage) {
    return ((double)usage->input * rates->input + (double)usage->output * rates->output +
            (double)usage->cache_read * rates->cache_read +
            (double)usage->cache_write * rates->cache_write) /
           1e6;
}

/* ---- estimates of tokens ---- */

/* Tokens of the frame around a message and of content that is not text. */
enum {
    PHI__TOKENS_CALL = 8,    /* keys and id of a tool call */
    PHI__TOKENS_MESSAGE = 4, /* role and delimiters */
    PHI__TOKENS_RESULT = 8,  /* role, delimiters and the call's id */
    PHI__TOKENS_IMAGE_LEAST = 85,
    PHI__TOKENS_IMAGE_MOST = 16000,
    PHI__TOKENS_IMAGE_BYTES = 750, /* bytes of an image that count as one token */
    /* Base64 bytes for one token, roughly. A page of a PDF has about 2,000 tokens (Anthropic's
       guide) and 100 KB. A second of mp3 at 128 kbit/s has 32 tokens (Google's guide). */
    PHI__TOKENS_PDF_BYTES = 64,
    PHI__TOKENS_AUDIO_BYTES = 640
};

static size_t phi__tokens_image(size_t base64_bytes) {
    size_t most = (size_t)PHI__TOKENS_IMAGE_MOST * PHI__TOKENS_IMAGE_BYTES;
    if (base64_bytes / 4 >= most / 3) return PHI__TOKENS_IMAGE_MOST;
    return phi__max(base64_bytes * 3 / 4 / PHI__TOKENS_IMAGE_BYTES, PHI__TOKENS_IMAGE_LEAST);
}

/* ---- public ---- */

PHI_API size_t phi_tokens_of_text(const phi_token_counter *counter, phi_str text) {
    if (counter != NULL && counter->count_text != NULL)
        return counter->count_text(counter->user_data, text);
    return text.len / 4 + (text.len % 4 != 0);
}

static size_t phi__tokens_content(const phi_token_counter *counter, const phi_content *content) {
    if (content == NULL) return 0;
    switch (content->kind) {
    case PHI_CONTENT_TEXT:
    case PHI_CONTENT_THINKING: return phi_tokens_of_text(counter, content->text);
    case PHI_CONTENT_IMAGE: return phi__tokens_image(content->data.len);
    case PHI_CONTENT_OPAQUE: return phi_tokens_of_text(counter, content->replay);
    case PHI_CONTENT_DOCUMENT:
        return phi__add(phi__add(phi_tokens_of_text(counter, content->name),
                                 phi_tokens_of_text(counter, content->text)),
                        content->data.len / PHI__TOKENS_PDF_BYTES);
    case PHI_CONTENT_AUDIO: return content->data.len / PHI__TOKENS_AUDIO_BYTES;
    case PHI_CONTENT_TOOL_CALL:
        return phi__add(phi__add(phi_tokens_of_text(counter, content->name),
                                 phi_tokens_of_text(counter, content->arguments)),
                        PHI__TOKENS_CALL);
    default: return 0;
    }
}

PHI_API size_t phi_tokens_of_message(const phi_token_counter *counter, const phi_message *message) {
    size_t sum = PHI__TOKENS_MESSAGE;
    if (message == NULL) return 0;
    if (message->role == PHI_ROLE_EXTENSION)
        return phi__add(sum, phi_tokens_of_text(counter, message->extension_data));
    if (message->role == PHI_ROLE_TOOL_RESULT)
        sum = phi__add(PHI__TOKENS_RESULT, phi_tokens_of_text(counter, message->tool_name));
    for (size_t i = 0; i < message->content_count; i++)
        sum = phi__add(sum, phi__tokens_content(counter, &message->content[i]));
    return sum;
}
