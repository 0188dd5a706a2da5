/* openai_responses_usage.c - the tokens of an answer of the Responses API. */
#include "codecs/openai_responses_in.h"

#if !defined(PHI_NO_OPENAI_RESPONSES) || !defined(PHI_NO_AZURE)

static const phi__json_member phi__openai_responses_details_list[] = {
    PHI__MEMBER(phi_usage, cache_read, "cached_tokens", PHI__MEMBER_U64),
    PHI__MEMBER(phi_usage, cache_write, "cache_write_tokens", PHI__MEMBER_U64),
    PHI__MEMBER(phi_usage, reasoning, "reasoning_tokens", PHI__MEMBER_U64)};
static const phi__json_members phi__openai_responses_details_members = {
    phi__openai_responses_details_list, PHI__COUNT(phi__openai_responses_details_list)};

static const phi__json_member phi__openai_responses_usage_list[] = {
    PHI__MEMBER(phi_usage, input, "input_tokens", PHI__MEMBER_U64),
    PHI__MEMBER_INSIDE("input_tokens_details", &phi__openai_responses_details_members),
    PHI__MEMBER(phi_usage, output, "output_tokens", PHI__MEMBER_U64),
    PHI__MEMBER_INSIDE("output_tokens_details", &phi__openai_responses_details_members)};
static const phi__json_members phi__openai_responses_usage_members = {
    phi__openai_responses_usage_list, PHI__COUNT(phi__openai_responses_usage_list)};

/* The wire's input includes the tokens read from and written to the cache. */
PHI__FN void phi__openai_responses_usage(phi__assembly *a, phi_str raw) {
    phi__json_cursor c;
    phi_usage u;
    phi__json_cursor_init(&c, raw);
    if (raw.len == 0 || phi__json_cursor_peek(&c) != PHI_JSON_OBJECT) return;
    memset(&u, 0, sizeof u);
    (void)phi__json_members_take(&c, &phi__openai_responses_usage_members, &u);
    if (u.cache_read > u.input) u.cache_read = u.input;
    u.input -= u.cache_read;
    if (u.cache_write > u.input) u.cache_write = u.input;
    u.input -= u.cache_write;
    a->usage = u;
}

#endif
