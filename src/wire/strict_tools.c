/* strict_tools.c - chooses the strict form for a model, and makes the forms of an agent's tools,
   each once, kept with the tools. */
#include "wire/strict_in.h"

#include "base/utf8_in.h"
#include "wire/render_in.h"

#include <stdio.h>

enum { PHI__STRICT_WORDS = 400 }; /* bytes of a refusal */

PHI__FN phi__strict_form phi__strict_tools_form_of(const phi__codec *codec,
                                                   const phi_model *model) {
    return codec->rules->strict_form != NULL ? codec->rules->strict_form(model) : PHI__STRICT_NONE;
}

static bool phi__strict_tools_wanted(const phi__tool_view *tool, phi__strict_form form) {
    if (tool->is_raw) return false;
    return form != PHI__STRICT_NONE && (tool->strict != NULL || form == PHI__STRICT_BY_CODEC);
}

static bool phi__strict_tools_is_made(const phi__tool_view *tool, const phi__codec *codec,
                                      phi__strict_form form) {
    return tool->adapted != NULL && tool->adapted[form].done &&
           (form != PHI__STRICT_BY_CODEC || tool->adapted[form].by == codec->rules->adapt);
}

/* Makes one form of one schema into `arena`. False: no memory. */
static bool phi__strict_tools_make(const phi__tool_view *tool, const phi__codec *codec,
                                   phi__strict_form form, phi_arena *arena,
                                   struct phi__adapted *out) {
    const phi__formats *by = tool->strict;
    phi_str schema = tool->schema;
    char words[PHI__STRICT_WORDS];
    phi__buf buf;
    bool made, kept;
    phi__buf_init(&buf, arena->memory);
    memset(out, 0, sizeof *out);
    if (phi__render_blank(schema)) schema = PHI__LIT("{\"type\":\"object\",\"properties\":{}}");
    if (form == PHI__STRICT_BY_CODEC) {
        out->by = codec->rules->adapt;
        made = out->by(&buf, schema, words, sizeof words);
    } else
        made = by->schema(&buf, schema, form, words, sizeof words);
    kept = true;
    /* it lives as long as the tool */
    if (made && phi_str_equal(phi__buf_str(&buf), schema))
        out->schema = schema;
    else if (made)
        kept = phi__arena_str(arena, phi__buf_str(&buf), &out->schema);
    else
        kept = !buf.failed && phi__arena_str(arena, phi_str_of(words), &out->refused);
    phi__buf_free(&buf);
    out->done = kept;
    return kept;
}

PHI__FN bool phi__strict_tools_adapt(phi__tool_view *tools, size_t count, const phi__codec *codec,
                                     const phi_model *model, phi_arena *arena) {
    phi__strict_form form = phi__strict_tools_form_of(codec, model);
    size_t i;
    for (i = 0; i < count; i++) {
        phi__tool_view *tool = &tools[i];
        if (!phi__strict_tools_wanted(tool, form)) continue;
        if (tool->adapted == NULL)
            tool->adapted = (struct phi__adapted *)phi__arena_zero(
                arena, PHI__STRICT_FORMS * sizeof *tool->adapted);
        if (tool->adapted == NULL) return false;
        if (!phi__strict_tools_is_made(tool, codec, form) &&
            !phi__strict_tools_make(tool, codec, form, arena, &tool->adapted[form]))
            return false;
    }
    return true;
}

PHI__FN phi_status phi__strict_tools_refused(const phi__codec *codec, const phi__request_spec *spec,
                                             phi_memory *scratch, char *words, size_t words_size) {
    phi__strict_form form = phi__strict_tools_form_of(codec, spec->model);
    phi_status status = PHI_OK;
    size_t i;
    for (i = 0; i < spec->tool_count && status == PHI_OK; i++) {
        const phi__tool_view *tool = &spec->tools[i];
        struct phi__adapted made;
        phi_arena arena;
        if (!phi__strict_tools_wanted(tool, form)) continue;
        phi_arena_init(&arena, scratch, 0);
        if (phi__strict_tools_is_made(tool, codec, form))
            made = tool->adapted[form];
        else if (!phi__strict_tools_make(tool, codec, form, &arena, &made))
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

static phi_str phi__strict_tools_put(phi__encoder *e, const phi__tool_view *tool, bool *strict) {
    phi__strict_form form = phi__strict_tools_form_of(e->codec, e->spec->model);
    struct phi__adapted made;
    *strict = false;
    if (phi__strict_tools_wanted(tool, form)) {
        if (phi__strict_tools_is_made(tool, e->codec, form))
            made = tool->adapted[form];
        else if (!phi__strict_tools_make(tool, e->codec, form, e->arena, &made))
            e->failed = true;
        *strict = made.schema.len > 0 && form != PHI__STRICT_BY_CODEC;
        if (made.schema.len > 0) return made.schema; /* the loop does not send refused tools */
    }
    return phi__render_blank(tool->schema) ? PHI__LIT("{\"type\":\"object\",\"properties\":{}}")
                                           : tool->schema;
}

PHI__FN bool phi__strict_tools_put_tool(phi__encoder *e, const phi__tool_view *tool,
                                        const char *schema) {
    phi__buf *out = &e->scratch;
    bool strict;
    phi__buf_text(out, "\"name\":");
    phi__json_write_str(out, tool->name);
    if (!phi__render_blank(tool->description))
        phi__render_member(out, "description", tool->description);
    phi__buf_text(out, schema);
    phi__encode_scratch(e);
    phi__encode_piece(e, phi__strict_tools_put(e, tool, &strict));
    return strict;
}
