/* format.c - decides how a target produces structured output, for all protocols. A codec only
   states its abilities (phi__codec_rules) and writes its own field. If the target has no structured
   output or does not accept the schema, the model delivers the output as the call of a tool. */

#include "wire/codec_in.h"
#include "wire/structured.h"

#include <stdio.h>

#define PHI__FORMAT_TOOL_WORDS                                                                     \
    "Gives your final answer: the arguments are the answer. Call it once, when nothing else is "   \
    "left to do."
#define PHI__FORMAT_TOOL_LINE                                                                      \
    "Give your final answer by calling the tool " PHI_RESPOND_TOOL                                 \
    ", once and as the last thing you do; the arguments are the answer."

/* ---- structured output by a tool ---- */

PHI__FN bool phi__format_say(phi__request_spec *spec, phi_arena *arena, const char *line) {
    phi__buf text;
    phi__buf_init(&text, arena->memory);
    if (!phi__render_blank(spec->system_prompt)) {
        phi__buf_add_str(&text, spec->system_prompt);
        phi__buf_text(&text, "\n\n");
    }
    phi__buf_text(&text, line);
    bool done = !text.failed && phi__arena_str(arena, phi__buf_str(&text), &spec->system_prompt);
    phi__buf_free(&text);
    return done;
}

/* Puts the schema into the target's form. PHI_BAD_ARG: the schema has no such form, and `words` say
   why. */
static phi_status phi__format_schema(const phi__codec *codec, phi__request_spec *spec,
                                     phi_arena *arena, char *words, size_t words_size) {
    phi__strict_form form = phi__strict_form_of(codec, spec->model);
    phi__format_schema_rule rule = codec->rules->format_schema;
    struct phi__adapted made;
    if (spec->format.kind != PHI_FORMAT_JSON_SCHEMA) return PHI_OK;
    if (rule == PHI__SCHEMA_IF_STRICT && !spec->format.strict) return PHI_OK;
    if (form == PHI__STRICT_NONE) form = PHI__STRICT_PLAIN; /* every server accepts this form */
    if (!phi__strict_make(codec, phi__format_ops(), phi_str_of(spec->format.schema), form, arena,
                          &made))
        return PHI_NO_MEMORY;
    if (made.refused.len == 0) spec->format.schema = made.schema.at;
    if (made.refused.len == 0 || rule == PHI__SCHEMA_TRIED) return PHI_OK;
    (void)snprintf(words, words_size, "SchemaMismatch: format.schema: %s", made.refused.at);
    return PHI_BAD_ARG;
}

PHI__FN phi_status phi__format_apply(const phi__codec *codec, phi__request_spec *spec,
                                     phi_arena *arena, char *words, size_t words_size) {
    phi_status status = PHI_OK;
    if (words_size > 0) words[0] = '\0';
    if (spec->format.kind == PHI_FORMAT_TEXT) return PHI_OK;
    phi__format_way way =
        codec->rules->format_way != NULL ? codec->rules->format_way(spec) : PHI__FORMAT_NATIVE;
    if (way == PHI__FORMAT_REFUSED) {
        (void)snprintf(words, words_size,
                       "SchemaMismatch: structured output is not available for the model %.200s",
                       spec->model->id);
        return PHI_BAD_ARG;
    }
    if (spec->format.name == NULL || spec->format.name[0] == '\0') spec->format.name = "response";
    if (way == PHI__FORMAT_NATIVE)
        status = phi__format_schema(codec, spec, arena, words, words_size);
    if (status == PHI_BAD_ARG && !spec->format.strict) {
        if (words_size > 0) words[0] = '\0';
        way = PHI__FORMAT_BY_TOOL;
    } else if (status != PHI_OK)
        return status;
    if (way == PHI__FORMAT_BY_TOOL) {
        size_t n = spec->tool_choice == PHI_TOOL_CHOICE_NONE ? 0 : spec->tool_count;
        bool forced = codec->rules->unforced == NULL || !codec->rules->unforced(spec);
        phi__tool_view *tools =
            (phi__tool_view *)phi_arena_alloc(arena, phi__mul(phi__add(n, 1), sizeof *tools));
        if (tools == NULL) return PHI_NO_MEMORY;
        if (n > 0) memcpy(tools, spec->tools, n * sizeof *tools);
        memset(&tools[n], 0, sizeof tools[n]);
        tools[n].name = PHI__LIT(PHI_RESPOND_TOOL);
        tools[n].description = PHI__LIT(PHI__FORMAT_TOOL_WORDS);
        tools[n].schema = spec->format.kind == PHI_FORMAT_JSON_SCHEMA
                              ? phi_str_of(spec->format.schema)
                              : PHI__LIT("{\"type\":\"object\"}");
        if (spec->format.strict && spec->format.kind == PHI_FORMAT_JSON_SCHEMA)
            tools[n].strict = phi__format_ops();
        spec->tools = tools;
        spec->tool_count = n + 1;
        spec->tool_choice = forced ? PHI_TOOL_CHOICE_REQUIRED : PHI_TOOL_CHOICE_AUTO;
        spec->respond = true;
        spec->respond_only = forced && n == 0;
        memset(&spec->format, 0, sizeof spec->format);
        if (spec->respond_only || phi__format_say(spec, arena, PHI__FORMAT_TOOL_LINE))
            return PHI_OK;
        return PHI_NO_MEMORY;
    }
    return codec->rules->format_fit != NULL ? codec->rules->format_fit(spec, arena) : PHI_OK;
}

PHI__FN const phi__formats *phi__format_ops(void) {
    static const phi__formats all = {phi__strict_schema, phi__strict_nulls, phi__format_apply};
    return &all;
}

/* ---- reads an answer's text as JSON and checks it against a schema ---- */

static phi_status phi__structured_no(char *words, size_t size, phi_status status,
                                     const char *text) {
    if (size > 0) (void)snprintf(words, size, "%s", text);
    return status;
}

/* Finds the call of PHI_RESPOND_TOOL, or the text that replaced it. */
static const phi_content *phi__structured_answer(const phi_message *message) {
    for (size_t i = 0; i < message->content_count; i++) {
        const phi_content *c = &message->content[i];
        if ((c->kind == PHI_CONTENT_TOOL_CALL || c->kind == PHI_CONTENT_TEXT) && !c->incomplete &&
            phi__str_is(c->name, PHI_RESPOND_TOOL))
            return c;
    }
    return NULL;
}

/* Finds the text between "```json" and "```". False if the text is not one fenced block. */
static bool phi__structured_unfence(phi_str text, phi_str *out) {
    size_t line = phi__str_find(text, 0, "\n");
    if (text.len < 6 || memcmp(text.at, "```", 3) != 0 || line == SIZE_MAX) return false;
    if (line > text.len - 3 || memcmp(text.at + text.len - 3, "```", 3) != 0) return false;
    *out = phi__str_trim(phi__str(text.at + line, text.len - 3 - line));
    return true;
}

/* Checks a value against the format. PHI_OK, or `words` say why not. Resets the arena. */
static phi_status phi__structured_check(const phi_format *format, phi_json *value, phi_arena *arena,
                                        char *words, size_t words_size) {
    phi_json *schema = NULL;
    phi_schema_error error;
    phi_parse_error parse;
    if (format->kind == PHI_FORMAT_TEXT) return PHI_OK;
    if (!phi_json_is(value, PHI_JSON_OBJECT))
        return phi__structured_no(words, words_size, PHI_PARSE, "answer: expected object");
    if (format->kind == PHI_FORMAT_JSON_OBJECT) return PHI_OK;
    phi_arena_mark mark = phi_arena_save(arena);
    phi_status status =
        phi_json_parse(arena, phi_str_of(format->schema), PHI_JSON_BORROW, &schema, &parse);
    if (status == PHI_OK && format->strict) (void)phi__strict_nulls(schema, value);
    if (status != PHI_OK)
        (void)phi__structured_no(words, words_size, status,
                                 status == PHI_PARSE ? "the schema is not valid JSON"
                                                     : phi_status_text(status));
    else if ((status = phi__schema_check(arena->memory, schema, value, "answer", &error)) != PHI_OK)
        (void)phi__structured_no(words, words_size, status, error.message);
    phi_arena_reset(arena, mark);
    return status;
}

/* ---- public ---- */

PHI_API phi_status phi_message_json(const phi_message *message, const phi_format *format,
                                    phi_arena *arena, phi_json **out, char *words,
                                    size_t words_size) {
    phi_str text;
    phi_parse_error error;
    bool failed = false;
    if (words_size > 0 && words != NULL) words[0] = '\0';
    if (out != NULL) *out = NULL;
    if (arena == NULL || out == NULL || (words == NULL && words_size > 0)) return PHI_BAD_ARG;
    if (message == NULL || message->role != PHI_ROLE_ASSISTANT)
        return phi__structured_no(words, words_size, PHI_BAD_ARG,
                                  "expected a message of the role Assistant");
    const phi_content *answer = phi__structured_answer(message);
    if (answer != NULL)
        text = answer->kind == PHI_CONTENT_TEXT ? answer->text : answer->arguments;
    else
        text = phi_message_text(message, "", arena, &failed);
    if (failed) return phi__structured_no(words, words_size, PHI_NO_MEMORY, "out of memory");
    text = phi__str_trim(text);
    if (text.len == 0)
        return phi__structured_no(words, words_size, PHI_BAD_ARG,
                                  "SchemaMismatch: the answer is empty");
    phi_str inside;
    phi_status status = phi_json_parse(arena, text, 0, out, &error);
    if (status == PHI_PARSE && phi__structured_unfence(text, &inside))
        status = phi_json_parse(arena, inside, 0, out, &error);
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
