/* strict_tools.c - which form of a strict schema a model takes, and the forms of an agent's tools, each made
   once and kept with the tools. */
#include "wire/strict_in.h"

#include "base/utf8_in.h"
#include "wire/anthropic_in.h"
#include "wire/bedrock_in.h"
#include "wire/claude_in.h"
#include "wire/gemini_in.h"
#include "wire/openai_chat_in.h"
#include "wire/openai_responses_in.h"
#include "wire/render_in.h"

#include <stdio.h>

enum {
    PHI__STRICT_WORDS = 400, /* bytes of a refusal */
    PHI__STRICT_CLAUDE_FROM =
        405 /* the first Claude with strict tools; Anthropic's documentation */
};

/* Models tuned at OpenAI ("ft:...") have no keywords that narrow. */
static phi__strict_form phi__strict_openai(const phi_model *model) {
    if (phi__str_find(phi_str_of(model->base_url), 0, "//api.openai.com/") == SIZE_MAX &&
        phi__str_find(phi_str_of(model->base_url), 0, "//eu.api.openai.com/") == SIZE_MAX)
        return PHI__STRICT_PLAIN;
    return phi__str_starts(phi_str_of(model->id), "ft:") ? PHI__STRICT_PLAIN : PHI__STRICT_OPENAI;
}

PHI__FN phi__strict_form phi__strict_form_of(const phi__codec *codec, const phi_model *model) {
    if (codec == phi__anthropic_codec() || codec == phi__bedrock_codec())
        return phi__claude_of(phi_str_of(model->id)).version >= PHI__STRICT_CLAUDE_FROM
                   ? PHI__STRICT_ANTHROPIC
                   : PHI__STRICT_NONE;
    if (codec == phi__openai_chat_codec())
        return (model->quirks & PHI_QUIRK_STRICT_TOOLS) != 0 ? phi__strict_openai(model)
                                                             : PHI__STRICT_NONE;
    if (codec == phi__openai_responses_codec() || codec == phi__azure_responses_codec())
        return phi__strict_openai(model);
    if (codec == phi__gemini_codec() || codec == phi__vertex_codec()) return PHI__STRICT_GEMINI;
    return PHI__STRICT_NONE;
}

static bool phi__strict_wanted(const phi__tool_view *tool, phi__strict_form form) {
    return form != PHI__STRICT_NONE && (tool->strict || form == PHI__STRICT_GEMINI);
}

/* Makes one form of one schema into `arena`. False: no memory. */
static bool phi__strict_make(phi_str schema, phi__strict_form form, phi_arena *arena,
                             struct phi__adapted *out) {
    char words[PHI__STRICT_WORDS];
    phi__buf buf;
    bool made, kept;
    phi__buf_init(&buf, arena->memory);
    memset(out, 0, sizeof *out);
    if (phi__render_blank(schema)) schema = PHI__LIT("{\"type\":\"object\",\"properties\":{}}");
    made = form == PHI__STRICT_GEMINI ? phi__gemini_adapt(&buf, schema, words, sizeof words)
                                      : phi__strict_schema(&buf, schema, form, words, sizeof words);
    kept = true;
    if (made && phi_str_equal(phi__buf_str(&buf), schema))
        out->schema = schema; /* it lives as long as the tool */
    else if (made)
        kept = phi__arena_str(arena, phi__buf_str(&buf), &out->schema);
    else
        kept = !buf.failed && phi__arena_str(arena, phi_str_of(words), &out->refused);
    phi__buf_free(&buf);
    out->done = kept;
    return kept;
}

PHI__FN bool phi__strict_adapt(phi__tool_view *tools, size_t count, phi__strict_form form,
                               phi_arena *arena) {
    size_t i;
    for (i = 0; i < count; i++) {
        phi__tool_view *tool = &tools[i];
        if (!phi__strict_wanted(tool, form)) continue;
        if (tool->adapted == NULL)
            tool->adapted = (struct phi__adapted *)phi__arena_zero(
                arena, PHI__STRICT_FORMS * sizeof *tool->adapted);
        if (tool->adapted == NULL) return false;
        if (!tool->adapted[form].done &&
            !phi__strict_make(tool->schema, form, arena, &tool->adapted[form]))
            return false;
    }
    return true;
}

PHI__FN phi_status phi__strict_refused(const phi__codec *codec, const phi__ask *ask,
                                       phi_memory *scratch, char *words, size_t words_size) {
    phi__strict_form form = phi__strict_form_of(codec, ask->model);
    phi_status status = PHI_OK;
    size_t i;
    for (i = 0; i < ask->tool_count && status == PHI_OK; i++) {
        const phi__tool_view *tool = &ask->tools[i];
        struct phi__adapted made;
        phi_arena arena;
        if (!phi__strict_wanted(tool, form)) continue;
        phi_arena_init(&arena, scratch, 0);
        if (tool->adapted != NULL && tool->adapted[form].done)
            made = tool->adapted[form];
        else if (!phi__strict_make(tool->schema, form, &arena, &made))
            status = PHI_NO_MEMORY;
        if (status == PHI_OK && made.refused.len > 0) {
            (void)snprintf(words, words_size, "tools[%llu]: schema of \"%.*s\" %.*s",
                           (unsigned long long)i, tool->name.len > 80 ? 80 : (int)tool->name.len,
                           tool->name.at, (int)made.refused.len, made.refused.at);
            if (words_size > 0) words[phi__utf8_valid(phi_str_of(words))] = '\0';
            status = PHI_BAD_ARG;
        }
        phi_arena_free(&arena);
    }
    return status;
}

PHI__FN phi_str phi__strict_tool(phi__encoder *e, const phi__tool_view *tool, bool *strict) {
    phi__strict_form form = phi__strict_form_of(e->codec, e->ask->model);
    struct phi__adapted made;
    *strict = false;
    if (phi__strict_wanted(tool, form)) {
        if (tool->adapted != NULL && tool->adapted[form].done)
            made = tool->adapted[form];
        else if (!phi__strict_make(tool->schema, form, e->arena, &made))
            e->failed = true;
        *strict = made.schema.len > 0 && form != PHI__STRICT_GEMINI;
        if (made.schema.len > 0) return made.schema; /* what was refused is not sent by the loop */
    }
    return phi__render_blank(tool->schema) ? PHI__LIT("{\"type\":\"object\",\"properties\":{}}")
                                           : tool->schema;
}
