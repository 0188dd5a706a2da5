/* gemini_shared.c - the parts that Google's protocols, generateContent and Interactions, share. */
#include "codecs/gemini_in.h"
#include "codecs/openai_in.h"

PHI__FN int phi__gemini_version(const phi_model *model) {
    phi_str id = phi_str_of(model->id);
    size_t at = phi__str_find(id, 0, "gemini-");
    if (at == SIZE_MAX) return 0;
    at += 7;
    if (at >= id.len || !phi__is_digit(id.at[at])) return 90; /* such as gemini-flash-latest */
    int version = (id.at[at] - '0') * 10;
    if (at + 2 < id.len && id.at[at + 1] == '.' && phi__is_digit(id.at[at + 2]))
        version += id.at[at + 2] - '0';
    return version;
}

PHI__FN bool phi__gemini_has(const phi_model *model, const char *word) {
    return phi__str_find(phi_str_of(model->id), 0, word) != SIZE_MAX;
}

PHI__FN void phi__gemini_name(phi__buf *out, const char *before, phi_str name) {
    bool starts = name.len > 0 && name.at[0] != '-' && !phi__is_digit(name.at[0]);
    size_t at = out->len + strlen(before);
    phi__render_name(out, before, name, 64);
    if (!starts && !out->failed && out->at[at + 1] != '_') out->at[at + 1] = '_';
}

PHI__FN phi_str phi__gemini_result_name(const phi__encoder *e, const phi_message *m) {
    if (m->tool_name.len > 0 || e->calls_item == SIZE_MAX) return m->tool_name;
    const phi_message *calls = e->spec->items[e->calls_item].message;
    for (size_t i = 0; i < calls->content_count; i++)
        if (calls->content[i].kind == PHI_CONTENT_TOOL_CALL &&
            phi_str_equal(calls->content[i].id, m->tool_call_id))
            return calls->content[i].name;
    return m->tool_name;
}

PHI__FN void phi__gemini_result_text(phi__encoder *e, const phi_message *m) {
    if (phi__openai_join_text(e, m, true)) return;
    if (phi__render_any(e, m, PHI__RENDER_BLOCK))
        phi__buf_wrap(&e->scratch, "(see the attached ", phi_str_of(phi__render_media_word(e, m)),
                      ")");
    else if (m->is_error)
        phi__buf_text(&e->scratch, "(no output)");
}

PHI__FN void phi__gemini_headers(phi__encoder *e, bool bearer) {
    phi__encode_accept(e, "text/event-stream");
    phi__encode_key(e, bearer ? NULL : "x-goog-api-key");
}

PHI__FN phi__strict_form phi__gemini_strict_form(const phi_model *model) {
    (void)model;
    return PHI__STRICT_GEMINI;
}

PHI__FN phi__format_way phi__gemini_format_way(const phi__request_spec *spec) {
    return spec->tool_count > 0 && phi__gemini_version(spec->model) < 30 ? PHI__FORMAT_BY_TOOL
                                                                         : PHI__FORMAT_NATIVE;
}
