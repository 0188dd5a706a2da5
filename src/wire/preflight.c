/* preflight.c - finds the faults for which a provider would refuse a transcript, before it is sent.

   It checks the transcript as given. The encoder repairs some of these faults in the request, so
   the messages are for the transcript's maker. */
#include "wire/codec_in.h"

#include <stdarg.h>
#include <stdio.h>

enum {
    PHI__PREFLIGHT_NAME_MOST = 64
}; /* max. bytes of a tool's name; every provider accepts this many */

PHI__FN const char *phi__preflight_name(const phi__codec *codec, phi_str name) {
    bool plain = name.len > 0 && name.len <= PHI__PREFLIGHT_NAME_MOST;
    for (size_t i = 0; plain && i < name.len; i++) plain = phi__render_word(name.at[i]);
    if (!plain) return "expected 1 to 64 of a-z A-Z 0-9 _ -";
    if (codec != NULL && (codec->rules->bits & PHI__RULE_LETTER_FIRST) != 0 &&
        (name.at[0] == '-' || phi__is_digit(name.at[0])))
        return "expected a letter or _ at first";
    return NULL;
}

typedef struct phi__preflight_check {
    const phi__codec *codec;
    const phi__request_spec *spec;
    char *words;
    size_t words_size;
} phi__preflight_check;

static phi_status phi__preflight_no(phi__preflight_check *p, const char *format, ...)
    PHI_PRINTF(2, 3);

static phi_status phi__preflight_no(phi__preflight_check *p, const char *format, ...) {
    va_list args;
    va_start(args, format);
    if (p->words_size > 0) (void)vsnprintf(p->words, p->words_size, format, args);
    va_end(args);
    return PHI_BAD_ARG;
}

/* Returns the length for "%.*s": at most 80 bytes, without a cut character. */
static int phi__preflight_len(phi_str s) { return (int)phi__utf8_cut(s, 80); }

/* ---- tools ---- */

/* True if a schema has type:object and nothing at its root that providers refuse there. */
static bool phi__preflight_schema(phi_str schema, const char **why) {
    static const char *const roots[] = {"anyOf", "oneOf", "allOf"};
    phi__json_found found;
    *why = "must be a JSON object with type \"object\"";
    if (phi__json_cursor_find(schema, "type", &found) != PHI_OK || found.type != PHI_JSON_STRING ||
        !phi__str_is(found.raw, "object"))
        return false;
    for (size_t i = 0; i < PHI__COUNT(roots); i++) {
        *why = "may not have anyOf, oneOf or allOf at its root";
        if (phi__json_cursor_find(schema, roots[i], &found) == PHI_OK) return false;
    }
    return true;
}

static phi_status phi__preflight_tools(phi__preflight_check *p) {
    const phi__request_spec *spec = p->spec;
    const char *why;
    size_t j;
    for (size_t i = 0; i < spec->tool_count; i++) {
        phi_str name = spec->tools[i].name;
        if (spec->tools[i].is_raw && name.len == 0) continue;
        why = phi__preflight_name(p->codec, name);
        if (why != NULL)
            return phi__preflight_no(p, "tools[%zu]: name \"%.*s\": %s", i,
                                     phi__preflight_len(name), name.at, why);
        for (j = 0; j < i; j++)
            if (phi_str_equal(spec->tools[j].name, name))
                return phi__preflight_no(p, "tools[%zu]: name \"%.*s\" is taken by tools[%zu]", i,
                                         phi__preflight_len(name), name.at, j);
        if (!phi__render_blank(spec->tools[i].schema) &&
            !phi__preflight_schema(spec->tools[i].schema, &why))
            return phi__preflight_no(p, "tools[%zu]: schema of \"%.*s\" %s", i,
                                     phi__preflight_len(name), name.at, why);
    }
    return PHI_OK;
}

/* ---- messages ---- */

/* Checks an image, document or audio block. An image may have any type: if the target does not
   accept the type, a line of text replaces the image. */
static phi_status phi__preflight_media(phi__preflight_check *p, size_t at, size_t block) {
    const phi_message *m = p->spec->items[at].message;
    const phi_content *c = &m->content[block];
    const char *kinds = c->kind == PHI_CONTENT_IMAGE      ? "images"
                        : c->kind == PHI_CONTENT_DOCUMENT ? "documents"
                                                          : "audio";
    phi_str type = c->mime_type;
    if (m->role == PHI_ROLE_ASSISTANT)
        return phi__preflight_no(p, "messages[%zu]: an assistant message may not hold %s", at,
                                 kinds);
    if (c->kind == PHI_CONTENT_IMAGE)
        return c->data.len > 0 ? PHI_OK
                               : phi__preflight_no(p, "messages[%zu]: an image has no data", at);
    if (c->data.len == 0 && c->url.len == 0 && c->text.len == 0)
        return phi__preflight_no(p, "messages[%zu].content[%zu]: %s without data", at, block,
                                 c->kind == PHI_CONTENT_AUDIO ? "audio" : "a document");
    if (phi__render_way_of(p->codec, p->spec->model, c) != PHI__RENDER_OMIT) return PHI_OK;
    if (type.len == 0) type = PHI__LIT("by its address");
    return phi__preflight_no(p, "messages[%zu].content[%zu]: this model takes no %s (%.*s%s)", at,
                             block, c->kind == PHI_CONTENT_AUDIO ? "audio" : "document",
                             phi__preflight_len(type), type.at,
                             c->url.len > 0 && c->mime_type.len > 0 ? " by its address" : "");
}

/* Checks that an opaque block is an object: it is sent byte for byte and could break the body. */
static phi_status phi__preflight_opaque(phi__preflight_check *p, size_t at, const phi_content *c) {
    phi__json_cursor cursor;
    if (!phi__render_is_opaque(p->codec, c)) return PHI_OK;
    phi__json_cursor_init(&cursor, c->replay);
    if (phi__json_cursor_peek(&cursor) == PHI_JSON_OBJECT && phi__json_cursor_skip(&cursor) &&
        phi__json_cursor_done(&cursor))
        return PHI_OK;
    return phi__preflight_no(p, "messages[%zu]: the JSON of an opaque block is no object", at);
}

/* Returns the index of the result of a call; SIZE_MAX if there is none. The result must be in the
   row of results that begins at `from`. */
static size_t phi__preflight_result(const phi__request_spec *spec, size_t from, phi_str id) {
    for (size_t i = from; i < spec->item_count; i++) {
        const phi_message *m = spec->items[i].message;
        if (m->role == PHI_ROLE_EXTENSION) continue;
        if (m->role != PHI_ROLE_TOOL_RESULT) return SIZE_MAX;
        if (phi_str_equal(m->tool_call_id, id)) return i;
    }
    return SIZE_MAX;
}

/* Returns the index of an earlier message with a call of this id; SIZE_MAX if there is none. */
static size_t phi__preflight_id_taken(const phi__request_spec *spec, size_t before, phi_str id) {
    size_t j;
    for (size_t i = 0; i < before; i++) {
        const phi_message *m = spec->items[i].message;
        if (m->role != PHI_ROLE_ASSISTANT) continue;
        for (j = 0; j < m->content_count; j++)
            if (phi__codec_is_call(&m->content[j]) && phi_str_equal(m->content[j].id, id)) return i;
    }
    return SIZE_MAX;
}

static phi_status phi__preflight_calls(phi__preflight_check *p, size_t at) {
    const phi_message *m = p->spec->items[at].message;
    size_t j, other;
    for (size_t i = 0; i < m->content_count; i++) {
        const phi_content *c = &m->content[i];
        phi_str id = c->id;
        if (!phi__codec_is_call(c)) continue;
        if (id.len == 0) return phi__preflight_no(p, "messages[%zu]: a tool call has no id", at);
        for (j = 0; j < i; j++)
            if (phi__codec_is_call(&m->content[j]) && phi_str_equal(m->content[j].id, id))
                return phi__preflight_no(p, "messages[%zu]: two tool calls have the id \"%.*s\"",
                                         at, phi__preflight_len(id), id.at);
        other = phi__preflight_id_taken(p->spec, at, id);
        if (other != SIZE_MAX)
            return phi__preflight_no(
                p, "messages[%zu]: the id \"%.*s\" of a tool call is used in messages[%zu] too", at,
                phi__preflight_len(id), id.at, other);
        if (phi__preflight_result(p->spec, at + 1, id) == SIZE_MAX)
            return phi__preflight_no(p, "messages[%zu]: tool call \"%.*s\" has no result", at,
                                     phi__preflight_len(id), id.at);
    }
    return PHI_OK;
}

static bool phi__preflight_says(const phi__codec *codec, const phi_message *m) {
    for (size_t i = 0; i < m->content_count; i++) {
        const phi_content *c = &m->content[i];
        if (phi__codec_is_text(c)) return true;
        if (c->kind == PHI_CONTENT_DOCUMENT || c->kind == PHI_CONTENT_AUDIO) return true;
        if (phi__render_is_image(c) || phi__codec_is_call(c)) return true;
        if (phi__render_is_opaque(codec, c)) return true;
    }
    return false;
}

static phi_status phi__preflight_message(phi__preflight_check *p, size_t at) {
    const phi_message *m = p->spec->items[at].message;
    phi_status status;
    for (size_t i = 0; i < m->content_count; i++) {
        status = phi__preflight_opaque(p, at, &m->content[i]);
        if (status != PHI_OK) return status;
        if (m->content[i].kind != PHI_CONTENT_IMAGE && m->content[i].kind != PHI_CONTENT_DOCUMENT &&
            m->content[i].kind != PHI_CONTENT_AUDIO)
            continue;
        status = phi__preflight_media(p, at, i);
        if (status != PHI_OK) return status;
    }
    if (m->role == PHI_ROLE_TOOL_RESULT) {
        /* A call has one result at most. Only other results may come between the call and its
           result. */
        phi_str id = m->tool_call_id;
        size_t j;
        for (size_t i = at; i > 0; i--) {
            const phi_message *before = p->spec->items[i - 1].message;
            if (before->role == PHI_ROLE_EXTENSION) continue;
            if (before->role == PHI_ROLE_USER) break;
            if (before->role == PHI_ROLE_TOOL_RESULT) {
                if (phi_str_equal(before->tool_call_id, id))
                    return phi__preflight_no(p,
                                             "messages[%zu]: a second result of tool call \"%.*s\"",
                                             at, phi__preflight_len(id), id.at);
                continue;
            }
            for (j = 0; j < before->content_count; j++)
                /* an incomplete call is left out together with its result */
                if (before->content[j].kind == PHI_CONTENT_TOOL_CALL &&
                    phi_str_equal(before->content[j].id, id))
                    return PHI_OK;
            break;
        }
        return phi__preflight_no(p,
                                 "messages[%zu]: a result of tool call \"%.*s\", which the message "
                                 "before it did not make",
                                 at, phi__preflight_len(id), id.at);
    }
    if (m->role == PHI_ROLE_USER && !phi__preflight_says(p->codec, m))
        return phi__preflight_no(p, "messages[%zu]: a user message with nothing in it", at);
    return m->role == PHI_ROLE_ASSISTANT ? phi__preflight_calls(p, at) : PHI_OK;
}

/* ---- for the loop and the tests ---- */

PHI__FN phi_status phi__preflight(const phi__codec *codec, const phi__request_spec *spec,
                                  char *words, size_t words_size) {
    const phi__codec_rules *rules = codec->rules;
    phi__preflight_check p;
    const phi_message *first = NULL, *last = NULL;
    p.codec = codec;
    p.spec = spec;
    p.words = words;
    p.words_size = words_size;
    if (words_size > 0) words[0] = '\0';
    phi_status status = phi__preflight_tools(&p);
    for (size_t i = 0; i < spec->item_count && status == PHI_OK; i++) {
        const phi_message *m = spec->items[i].message;
        if (m->role == PHI_ROLE_EXTENSION) continue;
        if (first == NULL) first = m;
        last = m;
        status = phi__preflight_message(&p, i);
    }
    if (status != PHI_OK) return status;
    if (first == NULL) return phi__preflight_no(&p, "messages: there is none to send");
    if ((rules->bits & PHI__RULE_USER_FIRST) != 0 && first->role != PHI_ROLE_USER)
        return phi__preflight_no(&p, "messages: the first must be the user's");
    if (last->role != PHI_ROLE_ASSISTANT) return PHI_OK;
    if (phi__codec_paused(spec) &&
        (last->protocol.len == 0 || phi__codec_is(codec->names, last->protocol)))
        return PHI_OK;
    if ((rules->bits & PHI__RULE_USER_LAST) != 0)
        return phi__preflight_no(&p, "messages: the last may not be the assistant's");
    if (rules->user_last != NULL && rules->user_last(spec->model))
        return phi__preflight_no(&p, "messages: the last may not be the assistant's for %s",
                                 spec->model->id);
    return PHI_OK;
}
