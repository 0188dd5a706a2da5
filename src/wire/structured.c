/* structured.c - reads an answer's text as JSON and checks it against a schema. */
#include "wire/structured.h"

#include "base/arena_in.h"
#include "base/buf_in.h"
#include "text/schema_in.h"
#include "wire/strict_in.h"

#include <stdio.h>

static phi_status phi__structured_no(char *words, size_t size, phi_status status,
                                     const char *text) {
    if (size > 0) (void)snprintf(words, size, "%s", text);
    return status;
}

/* A call, or the text that such a call became. */
static const phi_content *phi__structured_answer(const phi_message *message) {
    size_t i;
    for (i = 0; i < message->content_count; i++) {
        const phi_content *c = &message->content[i];
        if ((c->kind == PHI_CONTENT_TOOL_CALL || c->kind == PHI_CONTENT_TEXT) && !c->incomplete &&
            phi__str_is(c->name, PHI_RESPOND_TOOL))
            return c;
    }
    return NULL;
}

/* The text between "```json" and "```"; false: the text is not one fenced block. */
static bool phi__structured_unfence(phi_str text, phi_str *out) {
    size_t line = phi__str_find(text, 0, "\n");
    if (text.len < 6 || memcmp(text.at, "```", 3) != 0 || line == SIZE_MAX) return false;
    if (line > text.len - 3 || memcmp(text.at + text.len - 3, "```", 3) != 0) return false;
    *out = phi__str_trim(phi__str(text.at + line, text.len - 3 - line));
    return true;
}

static phi_status phi__structured_parse(phi_str text, phi_arena *arena, phi_json **out,
                                        phi_parse_error *error) {
    phi_str inside;
    phi_status status = phi_json_parse(arena, text, 0, out, error);
    if (status == PHI_PARSE && phi__structured_unfence(text, &inside))
        status = phi_json_parse(arena, inside, 0, out, error);
    return status;
}

/* PHI_OK: the value fits; else words say why not. The arena is given back as it was. */
static phi_status phi__structured_check(const phi_format *format, phi_json *value, phi_arena *arena,
                                        char *words, size_t words_size) {
    phi_arena_mark mark;
    phi_json *schema = NULL;
    phi_schema_error error;
    phi_parse_error parse;
    phi_status status;
    if (format->kind == PHI_FORMAT_TEXT) return PHI_OK;
    if (!phi_json_is(value, PHI_JSON_OBJECT))
        return phi__structured_no(words, words_size, PHI_PARSE, "answer: expected object");
    if (format->kind == PHI_FORMAT_JSON_OBJECT) return PHI_OK;
    mark = phi_arena_save(arena);
    status = phi_json_parse(arena, phi_str_of(format->schema), PHI_JSON_BORROW, &schema, &parse);
    if (status == PHI_OK && format->strict) (void)phi__strict_nulls(schema, value);
    if (status != PHI_OK)
        (void)phi__structured_no(words, words_size, status, "the schema is not valid JSON");
    else if ((status = phi__schema_check(arena->memory, schema, value, "answer", &error)) != PHI_OK)
        (void)phi__structured_no(words, words_size, status, error.message);
    phi_arena_reset(arena, mark);
    return status;
}

/* ---- public ---- */

PHI_API phi_status phi_message_json(const phi_message *message, const phi_format *format,
                                    phi_arena *arena, phi_json **out, char *words,
                                    size_t words_size) {
    const phi_content *answer;
    phi_str text;
    phi_parse_error error;
    phi_status status;
    bool failed = false;
    if (words_size > 0 && words != NULL) words[0] = '\0';
    if (out != NULL) *out = NULL;
    if (message == NULL || arena == NULL || out == NULL || (words == NULL && words_size > 0))
        return PHI_BAD_ARG;
    if (message->role != PHI_ROLE_ASSISTANT)
        return phi__structured_no(words, words_size, PHI_BAD_ARG,
                                  "expected a message of the role Assistant");
    answer = phi__structured_answer(message);
    if (answer != NULL)
        text = answer->kind == PHI_CONTENT_TEXT ? answer->text : answer->arguments;
    else
        text = phi_message_text(message, "", arena, &failed);
    if (failed) return phi__structured_no(words, words_size, PHI_NO_MEMORY, "out of memory");
    text = phi__str_trim(text);
    if (text.len == 0)
        return phi__structured_no(words, words_size, PHI_BAD_ARG,
                                  "SchemaMismatch: the answer is empty");
    status = phi__structured_parse(text, arena, out, &error);
    if (status == PHI_OK) {
        if (format != NULL) status = phi__structured_check(format, *out, arena, words, words_size);
        if (status != PHI_OK) *out = NULL;
        return status;
    }
    *out = NULL;
    if (status != PHI_PARSE)
        return phi__structured_no(words, words_size, status, phi_status_text(status));
    if (words_size > 0)
        (void)snprintf(words, words_size, "the answer is not valid JSON: %u:%u: %s",
                       (unsigned)error.line, (unsigned)error.column, error.message);
    return PHI_BAD_ARG;
}
