/* openai.c - shared by Chat Completions and Responses. */
#include "codecs/openai_in.h"

#include "wire/hash_in.h"
#include "wire/render_in.h"

#if !defined(PHI_NO_OPENAI_CHAT) || !defined(PHI_NO_OPENAI_RESPONSES) || !defined(PHI_NO_AZURE)

#define PHI__OPENAI_KEY_MOST 64 /* bytes of prompt_cache_key; wire.md part 3 */

/* ---- text ---- */

PHI__FN bool phi__openai_is_text(const phi_content *c) {
    return c->kind == PHI_CONTENT_TEXT && !phi__render_blank(c->text);
}

/* What the model does not take is a line as well. */
PHI__FN bool phi__openai_join_text(phi__encoder *e, const phi_message *m) {
    bool any = false;
    size_t i;
    for (i = 0; i < m->content_count; i++) {
        phi_str line = phi__render_stand_in(e, m, i);
        if (phi__render_way_to(e, &m->content[i]) != PHI__RENDER_WORDS && line.len == 0) continue;
        if (any) phi__buf_text(&e->scratch, "\\n");
        if (line.len > 0)
            phi__render_text(e, line);
        else
            phi__render_said(e, &m->content[i]);
        any = true;
    }
    return any;
}

PHI__FN bool phi__openai_says(const phi__encoder *e, const phi_message *m) {
    size_t i;
    for (i = 0; i < m->content_count; i++)
        if (phi__render_way_to(e, &m->content[i]) != PHI__RENDER_SKIP) return true;
    return false;
}

PHI__FN void phi__openai_data_url(phi__encoder *e, const phi_content *c) {
    phi__buf_text(&e->scratch, "\"data:");
    phi__json_write_part(&e->scratch, c->mime_type);
    phi__buf_text(&e->scratch, ";base64,");
    phi__render_base64(e, c->data);
    phi__buf_char(&e->scratch, '"');
}

/* ---- thinking ---- */

/* What OpenAI's models call their levels; the first prefix that fits decides. Some cannot be kept
   from thinking: they get their least. A model that no row names may know no such field at all, so
   nothing is sent where it is not to think. wire.md part 3. */
static const struct phi__openai_effort {
    const char *prefix, *off, *minimal;
} phi__openai_efforts[] = {
    {"gpt-5-pro", "high", "high"}, {"gpt-5.", "none", "low"}, {"gpt-5", "minimal", "minimal"},
    {"gpt-oss", "low", "low"},     {"o1", "low", "low"},      {"o3", "low", "low"},
    {"o4", "low", "low"},          {"", NULL, "low"},
};

PHI__FN const char *phi__openai_effort_name(const phi__encoder *e, bool openai) {
    phi_str id = phi_str_of(e->spec->model->id);
    bool pro = openai && phi__str_starts(id, "gpt-5-pro");
    size_t i = 0;
    switch (e->spec->thinking) {
    case PHI_THINKING_HIGH: return "high";
    case PHI_THINKING_MEDIUM: return pro ? "high" : "medium";
    case PHI_THINKING_LOW: return pro ? "high" : "low";
    case PHI_THINKING_OFF:
    case PHI_THINKING_MINIMAL: break;
    }
    if (!openai) return e->spec->thinking == PHI_THINKING_OFF ? NULL : "low";
    while (!phi__str_starts(id, phi__openai_efforts[i].prefix)) i++;
    return e->spec->thinking == PHI_THINKING_OFF ? phi__openai_efforts[i].off
                                                 : phi__openai_efforts[i].minimal;
}

/* ---- the rest ---- */

/* Servers take at most 64 bytes: a longer id is replaced by a hash of it. */
PHI__FN void phi__openai_put_cache_key(phi__encoder *e) {
    phi_str id = e->spec->session_id;
    char hash[17];
    if (id.len == 0 || e->spec->cache.mode == PHI_CACHE_DISABLED) return;
    if (id.len > PHI__OPENAI_KEY_MOST) {
        phi__hash_hex(phi__hash(id, 3), hash);
        id = phi__str(hash, 16);
    }
    phi__render_member(&e->scratch, "prompt_cache_key", id);
}

PHI__FN void phi__openai_put_schema(phi__encoder *e) {
    const phi_format *format = &e->spec->format;
    phi__render_member(&e->scratch, "name", phi_str_of(format->name));
    phi__buf_text(&e->scratch, format->strict ? ",\"strict\":true,\"schema\":"
                                              : ",\"strict\":false,\"schema\":");
    phi__encode_scratch(e);
    phi__encode_piece(e, phi_str_of(format->schema));
}

/* Models tuned at OpenAI ("ft:...") have no keywords that narrow. */
PHI__FN phi__strict_form phi__openai_strict_form(const phi_model *model) {
    if (phi__str_find(phi_str_of(model->base_url), 0, "//api.openai.com/") == SIZE_MAX &&
        phi__str_find(phi_str_of(model->base_url), 0, "//eu.api.openai.com/") == SIZE_MAX)
        return PHI__STRICT_PLAIN;
    return phi__str_starts(phi_str_of(model->id), "ft:") ? PHI__STRICT_PLAIN : PHI__STRICT_OPENAI;
}

#endif
