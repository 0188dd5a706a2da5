/* openai_responses_kept.c - what items of the Responses API say beyond text and calls: members and
   content parts that phi does not read, and annotations. */
#include "codecs/kept_in.h"
#include "codecs/openai_responses_in.h"

/* ---- content parts ---- */

typedef struct phi__openai_responses_part {
    phi__json_text type;
    phi_str annotations; /* raw JSON of an array, or empty */
    bool odd;            /* it has a member that is not read */
} phi__openai_responses_part;

static void phi__openai_responses_kept_part(phi__json_cursor *c, phi__openai_responses_part *part) {
    phi__json_text key;
    memset(part, 0, sizeof *part);
    while (phi__json_cursor_next_key(c, &key)) {
        if (PHI__OPENAI_RESPONSES_IS(key, "type"))
            (void)phi__json_cursor_take_text(c, &part->type);
        else if (PHI__OPENAI_RESPONSES_IS(key, "annotations") &&
                 phi__json_cursor_peek(c) == PHI_JSON_ARRAY)
            (void)phi__json_cursor_take_raw(c, &part->annotations);
        else {
            part->odd = part->odd || (!PHI__OPENAI_RESPONSES_IS(key, "text") &&
                                      !PHI__OPENAI_RESPONSES_IS(key, "refusal") &&
                                      !PHI__OPENAI_RESPONSES_IS(key, "logprobs") &&
                                      !PHI__OPENAI_RESPONSES_IS(key, "annotations"));
            (void)phi__json_cursor_skip(c);
        }
    }
    part->odd =
        part->odd || (part->type.len > 0 && !PHI__OPENAI_RESPONSES_IS(part->type, "output_text") &&
                      !PHI__OPENAI_RESPONSES_IS(part->type, "refusal"));
}

/* True if the parts say more than the text and its citations: a part is of another kind, or the
   citations of several parts each count from the start of their part. */
static bool phi__openai_responses_kept_is_more(phi_str content) {
    phi__openai_responses_part part;
    phi__json_cursor c;
    size_t count = 0;
    bool cited = false, odd = false;
    phi__json_cursor_init(&c, content);
    if (content.len == 0 || !phi__json_cursor_enter_array(&c)) return false;
    while (phi__json_cursor_next_item(&c)) {
        if (!phi__json_cursor_enter_object(&c)) continue;
        phi__openai_responses_kept_part(&c, &part);
        count++;
        cited = cited || part.annotations.len > 2;
        odd = odd || part.odd;
    }
    return odd || (cited && count > 1);
}

PHI__FN void phi__openai_responses_kept_citations(phi__assembly *a, size_t block, phi_str content) {
    phi__openai_responses_part part;
    phi__json_cursor c, inner;
    phi_str raw;
    bool any = false;
    phi__json_cursor_init(&c, content);
    if (content.len == 0 || !phi__json_cursor_enter_array(&c)) return;
    while (phi__json_cursor_next_item(&c)) {
        if (!phi__json_cursor_enter_object(&c)) continue;
        phi__openai_responses_kept_part(&c, &part);
        if (part.annotations.len == 0) continue;
        phi__json_cursor_init(&inner, part.annotations);
        if (!phi__json_cursor_enter_array(&inner)) continue;
        while (phi__json_cursor_next_item(&inner)) {
            bool object = phi__json_cursor_peek(&inner) == PHI_JSON_OBJECT;
            if (!phi__json_cursor_take_raw(&inner, &raw) || !object) continue;
            if (!any) phi__buf_clear(&a->drafts[block].citations);
            any = true;
            phi__assembly_cite(a, block, raw);
        }
    }
}

/* ---- the item ---- */

static const char *const phi__openai_responses_said_members[] = {
    "id", "type", "status", "role", "content", "phase", NULL};
static const char *const phi__openai_responses_call_members[] = {
    "id", "type", "status", "call_id", "name", "arguments", NULL};

static void phi__openai_responses_kept_text(phi__assembly *a, phi__buf *out, const char *key,
                                            phi__json_text text) {
    phi__buf plain;
    if (text.len == 0) return;
    phi__buf_init(&plain, a->memory);
    phi__json_cursor_unescape(&plain, text);
    if (out->len == 0) phi__buf_char(out, '{');
    phi__json_write_key(out, phi_str_of(key));
    phi__json_write_str(out, phi__buf_str(&plain));
    if (plain.failed) a->no_memory = true;
    phi__buf_free(&plain);
}

static void phi__openai_responses_kept_json(phi__buf *out, const char *key, phi_str json) {
    if (json.len == 0) return;
    if (out->len == 0) phi__buf_char(out, '{');
    phi__json_write_key(out, phi_str_of(key));
    phi__json_write_str(out, json);
}

PHI__FN void phi__openai_responses_kept_item(phi__assembly *a, size_t block,
                                             const phi__openai_responses_output_item *item) {
    phi__draft *d = &a->drafts[block];
    phi__buf *out = &d->replay;
    phi__buf more;
    bool said = d->kind == PHI_CONTENT_TEXT, parts;
    phi__buf_init(&more, a->memory);
    phi__opaque_members(&more, item->raw,
                        said ? phi__openai_responses_said_members
                             : phi__openai_responses_call_members);
    parts = said && phi__openai_responses_kept_is_more(item->content);
    phi__buf_clear(out);
    phi__openai_responses_kept_text(a, out, "id", item->id);
    if (said) phi__openai_responses_kept_text(a, out, "phase", item->phase);
    if ((more.len > 0 || parts) && phi__kept_is_object(&a->scratch, item->raw, &a->no_memory)) {
        phi__openai_responses_kept_json(out, "more", phi__buf_str(&more));
        if (parts) phi__openai_responses_kept_json(out, "parts", item->content);
    }
    if (out->len > 0) phi__buf_char(out, '}');
    if (out->failed || more.failed) a->no_memory = true;
    phi__buf_free(&more);
}
