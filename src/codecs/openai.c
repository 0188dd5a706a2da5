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

/* Images that the model does not take are a line as well. */
PHI__FN bool phi__openai_join_text(phi__encoder *e, const phi_message *m) {
    bool any = false, omitted = false;
    size_t i;
    for (i = 0; i < m->content_count; i++) {
        const phi_content *c = &m->content[i];
        bool stand_in = phi__render_omits(e, c);
        if (phi__openai_is_text(c) || (stand_in && !omitted)) {
            if (any) phi__buf_text(&e->scratch, "\\n");
            phi__render_text(e, stand_in ? PHI__LIT(PHI__RENDER_NO_IMAGE) : c->text);
            any = true;
        }
        omitted = stand_in;
    }
    return any;
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
