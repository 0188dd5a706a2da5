/* openai_responses_read.c - reads events of the Responses API, their items, the response and its
   usage, into views of their text. */
#include "codecs/openai_responses_in.h"

#include "wire/classify_in.h"

static const phi__json_member phi__openai_responses_event_list[] = {
    PHI__MEMBER(phi__openai_responses_event, type, "type", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__openai_responses_event, item_id, "item_id", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__openai_responses_event, index, "output_index", PHI__MEMBER_I64),
    PHI__MEMBER(phi__openai_responses_event, delta, "delta", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__openai_responses_event, item, "item", PHI__MEMBER_OBJECT),
    PHI__MEMBER(phi__openai_responses_event, arguments, "arguments", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__openai_responses_event, response, "response", PHI__MEMBER_OBJECT),
    PHI__MEMBER_TAKE(phi__openai_responses_event, has_error, "error", phi__classify_take_flag),
    PHI__MEMBER(phi__openai_responses_event, annotation, "annotation", PHI__MEMBER_OBJECT)};
static const phi__json_members phi__openai_responses_event_members = {
    phi__openai_responses_event_list, PHI__COUNT(phi__openai_responses_event_list)};

PHI__FN bool phi__openai_responses_read_event(phi__openai_responses_event *ev, phi_str data) {
    memset(ev, 0, sizeof *ev);
    ev->index = -1;
    return phi__json_members_read(data, &phi__openai_responses_event_members, ev, NULL);
}

static const phi__json_member phi__openai_responses_item_list[] = {
    PHI__MEMBER(phi__openai_responses_output_item, id, "id", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__openai_responses_output_item, type, "type", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__openai_responses_output_item, status, "status", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__openai_responses_output_item, arguments, "arguments", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__openai_responses_output_item, call_id, "call_id", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__openai_responses_output_item, name, "name", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__openai_responses_output_item, content, "content", PHI__MEMBER_ARRAY),
    PHI__MEMBER(phi__openai_responses_output_item, phase, "phase", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__openai_responses_output_item, summary, "summary", PHI__MEMBER_ARRAY)};
static const phi__json_members phi__openai_responses_item_members = {
    phi__openai_responses_item_list, PHI__COUNT(phi__openai_responses_item_list)};

PHI__FN void phi__openai_responses_read_item(phi__openai_responses_output_item *item, phi_str raw) {
    memset(item, 0, sizeof *item);
    item->raw = raw;
    (void)phi__json_members_read(raw, &phi__openai_responses_item_members, item, NULL);
}

static const phi__json_member phi__openai_responses_reason_list[] = {
    PHI__MEMBER(phi__openai_responses_response, reason, "reason", PHI__MEMBER_TEXT)};
static const phi__json_members phi__openai_responses_reason_members = {
    phi__openai_responses_reason_list, PHI__COUNT(phi__openai_responses_reason_list)};

static const phi__json_member phi__openai_responses_response_list[] = {
    PHI__MEMBER(phi__openai_responses_response, id, "id", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__openai_responses_response, status, "status", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__openai_responses_response, error, "error", PHI__MEMBER_OBJECT),
    PHI__MEMBER_INSIDE("incomplete_details", &phi__openai_responses_reason_members),
    PHI__MEMBER(phi__openai_responses_response, model, "model", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__openai_responses_response, output, "output", PHI__MEMBER_ARRAY),
    PHI__MEMBER(phi__openai_responses_response, usage, "usage", PHI__MEMBER_OBJECT)};
static const phi__json_members phi__openai_responses_response_members = {
    phi__openai_responses_response_list, PHI__COUNT(phi__openai_responses_response_list)};

PHI__FN bool phi__openai_responses_read_response(phi__openai_responses_response *r, phi_str raw) {
    memset(r, 0, sizeof *r);
    return phi__json_members_read(raw, &phi__openai_responses_response_members, r, NULL);
}

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
PHI__FN void phi__openai_responses_read_usage(phi__assembly *a, phi_str raw) {
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
