/* openai.c - shared by Chat Completions and Responses. */
#include "codecs/openai_in.h"

#define PHI__OPENAI_KEY_MOST 64      /* max. bytes of prompt_cache_key */
#define PHI__OPENAI_DESCRIPTION 1024 /* max. bytes of a tool's description; OpenAI, November 2026 */

/* A block that the model does not accept also counts: a line of text replaces it. */
PHI__FN bool phi__openai_join_text(phi__encoder *e, const phi_message *m, bool blank) {
    bool any = false;
    for (size_t i = 0; i < m->content_count; i++) {
        const phi_content *c = &m->content[i];
        phi_str line = phi__render_stand_in(e, m, i);
        bool says = phi__render_way_to(e, c) == PHI__RENDER_WORDS ||
                    (blank && c->kind == PHI_CONTENT_TEXT && c->text.len > 0);
        if (!says && line.len == 0) continue;
        if (any) phi__buf_text(&e->scratch, "\\n");
        if (line.len > 0)
            phi__render_text(e, line);
        else
            phi__render_said(e, c);
        any = true;
    }
    return any;
}

PHI__FN bool phi__openai_says(const phi__encoder *e, const phi_message *m) {
    for (size_t i = 0; i < m->content_count; i++)
        if (phi__render_way_to(e, &m->content[i]) != PHI__RENDER_SKIP) return true;
    return false;
}

PHI__FN void phi__openai_data_url(phi__encoder *e, const phi_content *c) {
    phi__buf_text(&e->scratch, "\"data:");
    phi__json_write_part(&e->scratch, c->mime_type);
    phi__render_base64(e, ";base64,", c->data, "\"");
}

/* ---- thinking ---- */

/* The words for levels of OpenAI's models. The first matching prefix is used. A model that cannot
   turn thinking off gets its lowest level. A model that only the last row matches may not support
   the field, so nothing is sent if thinking is off. */
static const struct phi__openai_effort {
    const char *prefix, *off, *minimal;
    phi_thinking highest;
} phi__openai_efforts[] = {
    {"gpt-5-pro", "high", "high", PHI_THINKING_HIGH},
    {"gpt-5.1-codex-max", "none", "low", PHI_THINKING_XHIGH},
    {"gpt-5.1", "none", "low", PHI_THINKING_HIGH},
    {"gpt-5.6", "none", "low", PHI_THINKING_MAX},
    {"gpt-5.", "none", "low", PHI_THINKING_XHIGH},
    {"gpt-5", "minimal", "minimal", PHI_THINKING_HIGH},
    {"gpt-6-astra", "low", "low", PHI_THINKING_MAX},
    {"gpt-6.1-sol", "low", "low", PHI_THINKING_MAX},
    {"gpt-6", "none", "low", PHI_THINKING_MAX},
    {"gpt-oss", "low", "low", PHI_THINKING_HIGH},
    {"o1", "low", "low", PHI_THINKING_HIGH},
    {"o3", "low", "low", PHI_THINKING_HIGH},
    {"o4", "low", "low", PHI_THINKING_HIGH},
    {"", NULL, "low", PHI_THINKING_HIGH},
};

static const struct phi__openai_effort *phi__openai_effort_of(const phi_model *model) {
    phi_str id = phi_str_of(model->id);
    size_t i = 0;
    while (!phi__str_starts(id, phi__openai_efforts[i].prefix)) i++;
    return &phi__openai_efforts[i];
}

/* Besides OpenAI, only OpenRouter accepts a word above high. It maps the word itself. */
PHI__FN phi_thinking phi__openai_level(const phi_model *model, phi_thinking wanted, bool openai) {
    phi_thinking highest = openai ? phi__openai_effort_of(model)->highest
                           : phi__str_is(phi_str_of(model->provider), "openrouter")
                               ? PHI_THINKING_XHIGH
                               : PHI_THINKING_HIGH;
    return (unsigned)wanted > (unsigned)highest ? highest : wanted;
}

PHI__FN const char *phi__openai_effort_name(const phi__encoder *e, bool openai) {
    const phi_model *model = e->spec->model;
    const struct phi__openai_effort *row = phi__openai_effort_of(model);
    bool pro = openai && phi__str_starts(phi_str_of(model->id), "gpt-5-pro");
    switch (phi__openai_level(model, e->spec->thinking, openai)) {
    case PHI_THINKING_MAX: return "max";
    case PHI_THINKING_XHIGH: return "xhigh";
    case PHI_THINKING_HIGH: return "high";
    case PHI_THINKING_MEDIUM: return pro ? "high" : "medium";
    case PHI_THINKING_LOW: return pro ? "high" : "low";
    case PHI_THINKING_MINIMAL: return openai ? row->minimal : "low";
    case PHI_THINKING_OFF: break;
    }
    return openai ? row->off : NULL;
}

/* Servers accept at most 64 bytes, so a hash replaces a longer id. */
PHI__FN void phi__openai_put_cache_key(phi__encoder *e) {
    phi_str id = e->spec->session_id;
    char hash[17];
    if (id.len == 0 || e->spec->cache.mode == PHI_CACHE_DISABLED) return;
    if (id.len > PHI__OPENAI_KEY_MOST) {
        phi__hash_hex(phi__hash(id, 3), hash);
        id = phi__str(hash, 16);
    }
    phi__records_str(&e->scratch, "prompt_cache_key", id);
}

PHI__FN void phi__openai_put_schema(phi__encoder *e) {
    const phi_format *format = &e->spec->format;
    phi__records_str(&e->scratch, "name", phi_str_of(format->name));
    phi__buf_text(&e->scratch, format->strict ? ",\"strict\":true,\"schema\":"
                                              : ",\"strict\":false,\"schema\":");
    phi__encode_insert(e, phi_str_of(format->schema));
}

PHI__FN bool phi__openai_put_tool(phi__encoder *e, const phi__tool_view *tool) {
    char words[PHI__OPENAI_DESCRIPTION];
    phi__tool_view sent = *tool;
    if (tool->description.len > sizeof words) {
        size_t n = phi__utf8_cut(tool->description, sizeof words - 3);
        memcpy(words, tool->description.at, n);
        memcpy(words + n, "...", 3);
        sent.description = phi__str(words, n + 3);
    }
    return phi__strict_put_tool(e, &sent, ",\"parameters\":");
}

/* Fine-tuned models ("ft:...") do not support narrowing keywords. */
PHI__FN phi__strict_form phi__openai_strict_form(const phi_model *model) {
    if (!phi__url_is_at(phi_str_of(model->base_url), "api.openai.com")) return PHI__STRICT_PLAIN;
    return phi__str_starts(phi_str_of(model->id), "ft:") ? PHI__STRICT_PLAIN : PHI__STRICT_OPENAI;
}

/* ---- JSON that a decoder keeps without interpreting it, and an encoder sends back ----

   Kept JSON is the bytes of the wire. Scanning a stream does not check the grammar, and a
   transcript may come from a file. So both sides check it: broken JSON would make every request
   fail. */

PHI__FN bool phi__kept_is_json(phi__assembly *a, phi_str text) {
    phi_arena_mark mark = phi_arena_save(&a->scratch);
    phi_json *root = NULL;
    phi_status status =
        phi_json_parse(&a->scratch, text, PHI_JSON_BORROW | PHI_JSON_REPLACE_BAD_UTF8, &root, NULL);
    if (status == PHI_NO_MEMORY) a->no_memory = true;
    phi_arena_reset(&a->scratch, mark);
    return status == PHI_OK;
}

PHI__FN bool phi__kept_is_object(phi__assembly *a, phi_str text) {
    return phi__str_starts(phi__str_trim(text), "{") && phi__kept_is_json(a, text);
}

PHI__FN phi_json *phi__kept_tree(phi__encoder *e, phi_str text) {
    phi_json *root = NULL;
    phi_status status = phi_json_parse(e->arena, text, PHI_JSON_BORROW, &root, NULL);
    if (status == PHI_NO_MEMORY) e->failed = true;
    return status == PHI_OK && phi_json_is(root, PHI_JSON_OBJECT) ? root : NULL;
}

PHI__FN phi_status phi__kept_append(phi_arena *arena, phi__kept_grown *grown, phi_json *old,
                                    const phi_json *more) {
    phi_str a = phi_json_str(old, ""), b = phi_json_str(more, "");
    size_t len = phi__add(a.len, b.len);
    if (len >= UINT32_MAX / 2) return PHI_PARSE;
    if (grown->node != old || len >= grown->cap) {
        size_t cap = len * 2 + 64;
        char *at = phi__arena_bytes(arena, cap);
        if (at == NULL) return PHI_NO_MEMORY;
        if (a.len > 0) memcpy(at, a.at, a.len);
        grown->node = old;
        grown->at = at;
        grown->cap = cap;
    }
    if (b.len > 0) memcpy(grown->at + a.len, b.at, b.len);
    grown->at[len] = '\0';
    old->v.str = grown->at;
    old->len = (uint32_t)len;
    return PHI_OK;
}

PHI__FN size_t phi__kept_text(const phi__assembly *a) {
    size_t i = a->count;
    while (i > 0 && a->drafts[i - 1].kind != PHI_CONTENT_TEXT) i--;
    return i > 0 ? i - 1 : SIZE_MAX;
}

PHI__FN bool phi__kept_is_of(const phi_content *c, const char *const names[PHI__CODEC_NAMES],
                             const char *other) {
    return c->kind == PHI_CONTENT_OPAQUE && !c->incomplete &&
           (phi__codec_is(names, c->protocol) ||
            (other != NULL && phi__str_is_nocase(c->protocol, other)));
}
