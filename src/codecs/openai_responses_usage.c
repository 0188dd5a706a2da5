/* openai_responses_usage.c - the tokens of an answer of the Responses API. */
#include "codecs/openai_responses_in.h"

#if !defined(PHI_NO_OPENAI_RESPONSES) || !defined(PHI_NO_AZURE)

static void phi__responses_count(phi__json_cursor *c, phi_usage *usage) {
    phi__json_text key;
    if (!phi__json_enter_object(c)) return;
    while (phi__json_next_key(c, &key)) {
        if (PHI__RESP_IS(key, "cached_tokens"))
            phi__json_take_u64(c, &usage->cache_read);
        else if (PHI__RESP_IS(key, "cache_write_tokens"))
            phi__json_take_u64(c, &usage->cache_write);
        else if (PHI__RESP_IS(key, "reasoning_tokens"))
            phi__json_take_u64(c, &usage->reasoning);
        else
            phi__json_skip(c);
    }
}

/* The wire's input includes the tokens read from and written to the cache. */
PHI__FN void phi__responses_usage(phi__assembly *a, phi_str raw) {
    phi__json_cursor c;
    phi__json_text key;
    phi_usage u;
    if (raw.len == 0) return;
    memset(&u, 0, sizeof u);
    phi__json_cursor_init(&c, raw);
    if (!phi__json_enter_object(&c)) return;
    while (phi__json_next_key(&c, &key)) {
        if (PHI__RESP_IS(key, "input_tokens"))
            phi__json_take_u64(&c, &u.input);
        else if (PHI__RESP_IS(key, "output_tokens"))
            phi__json_take_u64(&c, &u.output);
        else if (PHI__RESP_IS(key, "input_tokens_details") ||
                 PHI__RESP_IS(key, "output_tokens_details"))
            phi__responses_count(&c, &u);
        else
            phi__json_skip(&c);
    }
    if (u.cache_read > u.input) u.cache_read = u.input;
    u.input -= u.cache_read;
    if (u.cache_write > u.input) u.cache_write = u.input;
    u.input -= u.cache_write;
    a->usage = u;
}

#endif
