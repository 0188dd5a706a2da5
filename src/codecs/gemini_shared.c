/* gemini_shared.c - the parts that Google's protocols share, generateContent and Interactions:
   model versions, tool names, results, schemas and headers. */
#include "codecs/gemini_in.h"

#include "wire/render_in.h"

#ifdef PHI__GEMINI_SHARED

PHI__FN int phi__gemini_version(const phi_model *model) {
    phi_str id = phi_str_of(model->id);
    size_t at = phi__str_find(id, 0, "gemini-");
    int version;
    if (at == SIZE_MAX) return 0;
    at += 7;
    if (at >= id.len || id.at[at] < '0' || id.at[at] > '9') return 90; /* gemini-flash-latest */
    version = (id.at[at] - '0') * 10;
    if (at + 2 < id.len && id.at[at + 1] == '.' && id.at[at + 2] >= '0' && id.at[at + 2] <= '9')
        version += id.at[at + 2] - '0';
    return version;
}

PHI__FN bool phi__gemini_has(const phi_model *model, const char *word) {
    return phi__str_find(phi_str_of(model->id), 0, word) != SIZE_MAX;
}

PHI__FN void phi__gemini_name(phi__buf *out, phi_str name) {
    bool starts = name.len > 0 && name.at[0] != '-' && (name.at[0] < '0' || name.at[0] > '9');
    size_t at = out->len;
    phi__render_name(out, name, 64);
    if (!starts && !out->failed && out->at[at + 1] != '_') out->at[at + 1] = '_';
}

PHI__FN phi_str phi__gemini_result_name(const phi__encoder *e, const phi_message *m) {
    const phi_message *calls;
    size_t i;
    if (m->tool_name.len > 0 || e->calls_item == SIZE_MAX) return m->tool_name;
    calls = e->spec->items[e->calls_item].message;
    for (i = 0; i < calls->content_count; i++)
        if (calls->content[i].kind == PHI_CONTENT_TOOL_CALL &&
            phi_str_equal(calls->content[i].id, m->tool_call_id))
            return calls->content[i].name;
    return m->tool_name;
}

PHI__FN void phi__gemini_result_text(phi__encoder *e, const phi_message *m) {
    bool any = false;
    size_t i;
    for (i = 0; i < m->content_count; i++) {
        const phi_content *c = &m->content[i];
        phi_str line = phi__render_stand_in(e, m, i);
        bool words = phi__render_way_to(e, c) == PHI__RENDER_WORDS ||
                     (c->kind == PHI_CONTENT_TEXT && c->text.len > 0);
        if (!words && line.len == 0) continue;
        if (any) phi__buf_text(&e->scratch, "\\n");
        if (line.len > 0)
            phi__render_text(e, line);
        else
            phi__render_said(e, c);
        any = true;
    }
    if (!any && phi__render_sends_media(e, m)) {
        phi__buf_text(&e->scratch, "(see the attached ");
        phi__buf_text(&e->scratch, phi__render_media_word(e, m));
        phi__buf_char(&e->scratch, ')');
    } else if (!any && m->is_error)
        phi__buf_text(&e->scratch, "(no output)");
}

PHI__FN phi_str phi__gemini_schema(phi__encoder *e, phi_str schema) {
    char words[8];
    phi__buf out;
    if (phi__render_blank(schema)) return PHI__LIT("{\"type\":\"object\",\"properties\":{}}");
    phi__buf_init(&out, e->arena->memory);
    if (phi__gemini_schema_adapt(&out, schema, words, sizeof words)) {
        if (!phi__arena_str(e->arena, phi__buf_str(&out), &schema)) e->failed = true;
    } else if (out.failed)
        e->failed = true;
    phi__buf_free(&out);
    return schema;
}

PHI__FN void phi__gemini_headers(phi__encoder *e, bool bearer) {
    phi_str key = phi__str_trim(phi_str_of(e->spec->model->api_key));
    phi__encode_header(e, "content-type", PHI__LIT("application/json"));
    phi__encode_header(e, "accept", PHI__LIT("text/event-stream"));
    if (key.len > 0 && bearer) {
        phi__buf_clear(&e->scratch);
        phi__buf_text(&e->scratch, "Bearer ");
        phi__buf_add_str(&e->scratch, key);
        phi__encode_header(e, "authorization", phi__buf_str(&e->scratch));
        phi__buf_clear(&e->scratch);
    } else if (key.len > 0)
        phi__encode_header(e, "x-goog-api-key", key);
    phi__encode_model_headers(e);
}

PHI__FN phi__strict_form phi__gemini_strict_form(const phi_model *model) {
    (void)model;
    return PHI__STRICT_BY_CODEC;
}

PHI__FN phi__format_way phi__gemini_format_way(const phi__request_spec *spec) {
    return spec->tool_count > 0 && phi__gemini_version(spec->model) < 30 ? PHI__FORMAT_BY_TOOL
                                                                         : PHI__FORMAT_NATIVE;
}

#endif
