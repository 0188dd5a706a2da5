/* render.c - adapts ids, names and texts to the rules of a target. */
#include "wire/codec_in.h"

static bool phi__render_id_fits(phi_str id, phi__id_rule rule) {
    if (rule == PHI__ID_ANY) return true;
    if (id.len == 0) return false;
    if (rule == PHI__ID_40) return id.len <= 40;
    if (rule == PHI__ID_9 ? id.len != 9 : id.len > 64) return false;
    if (rule == PHI__ID_RESPONSES && id.at[id.len - 1] == '_') return false;
    for (size_t i = 0; i < id.len; i++)
        if (!(rule == PHI__ID_9 ? phi__is_alnum(id.at[i]) : phi__render_word(id.at[i])))
            return false;
    return true;
}

PHI__FN phi__id_rule phi__render_id_rule(const phi__codec *codec, const phi_model *model) {
    if (codec == NULL) return PHI__ID_ANY;
    return codec->rules->id_rule != NULL ? codec->rules->id_rule(model) : PHI__ID_ANTHROPIC;
}

PHI__FN phi_str phi__render_map_id(phi_str id, phi__id_rule rule, char room[PHI__ID_ROOM]) {
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    if (phi__render_id_fits(id, rule)) return id;
    uint64_t n = phi__hash(id, 1);
    if (rule == PHI__ID_9) {
        for (size_t i = 0; i < 9; i++, n /= 62) room[i] = digits[n % 62];
        return phi__str(room, 9);
    }
    memcpy(room, "call_", 5);
    phi__hash_hex(n, room + 5);
    phi__hash_hex(phi__hash(id, 2), room + 21);
    return phi__str(room, 37);
}

PHI__FN void phi__render_id(phi__buf *out, const char *before, phi_str id, phi__id_rule rule) {
    char room[PHI__ID_ROOM];
    phi__buf_text(out, before);
    phi__json_write_str(out, phi__render_map_id(id, rule, room));
}

PHI__FN void phi__render_name(phi__buf *out, const char *before, phi_str name, size_t most) {
    size_t n = phi__min(name.len, most);
    phi__buf_wrap(out, before, PHI__LIT("\""), "");
    char *to = phi__buf_reserve(out, n);
    for (size_t i = 0; to != NULL && i < n; i++)
        to[i] = phi__render_word(name.at[i]) ? name.at[i] : '_';
    if (to != NULL) phi__buf_add_len(out, n);
    if (n == 0) phi__buf_char(out, '_');
    phi__buf_char(out, '"');
}

PHI__FN bool phi__render_blank(phi_str text) { return phi__str_trim(text).len == 0; }

PHI__FN phi_str phi__render_trim_end(phi_str text) {
    phi_str trimmed = phi__str_trim(text);
    return trimmed.len == 0 ? trimmed
                            : phi__str(text.at, (size_t)(trimmed.at + trimmed.len - text.at));
}

PHI__FN void phi__render_text(phi__encoder *e, phi_str text) {
    if (!phi__fill_hole(e, text, false)) phi__json_write_part(&e->scratch, text);
}

PHI__FN void phi__render_text_member(phi__encoder *e, const char *key, phi_str text) {
    phi__records_raw(&e->scratch, key, "\"");
    phi__render_text(e, text);
    phi__buf_char(&e->scratch, '"');
}

PHI__FN phi_str phi__render_arguments(phi__encoder *e, phi_str arguments) {
    phi_arena_mark mark = phi_arena_save(e->arena);
    phi_json *root = NULL;
    if (arguments.len == 2 && arguments.at[0] == '{') return PHI__LIT("{}");
    phi_status status = phi_json_parse(e->arena, arguments, PHI_JSON_BORROW, &root, NULL);
    bool is_object = status == PHI_OK && phi_json_is(root, PHI_JSON_OBJECT);
    if (status == PHI_NO_MEMORY) e->failed = true;
    phi_arena_reset(e->arena, mark);
    return is_object ? phi__str_trim(arguments) : PHI__LIT("{}");
}

PHI__FN bool phi__render_same_origin(const phi__encoder *e, size_t item) {
    const phi_message *message = e->spec->items[item].message;
    const phi_model *model = e->spec->model;
    uint64_t origin = e->spec->items[item].origin;
    if (origin != 0) return phi__codec_origin_among(e->origins, origin);
    return message->model.len > 0 && phi__str_is(message->model, model->id) &&
           model->provider != NULL && phi__str_is(message->provider, model->provider) &&
           (message->protocol.len == 0 || phi__codec_is(e->codec->names, message->protocol));
}

PHI__FN bool phi__render_same_protocol(const phi__encoder *e, size_t item) {
    phi_str protocol = e->spec->items[item].message->protocol;
    if (phi__codec_origin_among(e->origins, e->spec->items[item].origin)) return true;
    return protocol.len > 0 ? phi__codec_is(e->codec->names, protocol)
                            : phi__render_same_origin(e, item);
}

/* ---- opaque blocks ---- */

PHI__FN bool phi__render_is_opaque(const phi__codec *codec, const phi_content *c) {
    return c->kind == PHI_CONTENT_OPAQUE && !c->incomplete && c->replay.len > 0 &&
           phi__codec_is(codec->names, c->protocol);
}

PHI__FN bool phi__render_any_opaque(const phi__encoder *e, const phi_message *message,
                                    bool (*is)(phi_str name)) {
    for (size_t i = 0; i < message->content_count; i++) {
        const phi_content *c = &message->content[i];
        if (phi__render_is_opaque(e->codec, c) && (is == NULL || is(c->name))) return true;
    }
    return false;
}

PHI__FN bool phi__render_goes(phi__encoder *e, phi_str json) {
    return phi__opaque_is_json(e->arena, json, PHI_JSON_BORROW, &e->failed);
}

PHI__FN void phi__render_opaque(phi__encoder *e, const phi_content *c) {
    phi_str json = phi__str_trim(c->replay);
    if (json.len == 0 || json.at[0] != '{' || !phi__render_goes(e, json)) return;
    phi__json_write_comma(&e->scratch);
    phi__buf_add_str(&e->scratch, json);
}

PHI__FN void phi__render_rest(phi__encoder *e, phi_str object) {
    if (object.len <= 2 || object.at[0] != '{' || !phi__render_goes(e, object)) return;
    phi_str inside = phi__str_trim(object);
    inside = phi__str_trim(phi__str(inside.at + 1, inside.len - 2));
    if (inside.len == 0) return;
    phi__buf_wrap(&e->scratch, ",", inside, "");
}

PHI__FN bool phi__render_user_follows(const phi__encoder *e, size_t item) {
    for (size_t i = item + 1; i < e->spec->item_count; i++) {
        phi_role role = e->spec->items[i].message->role;
        if (role == PHI_ROLE_USER) return true;
        if (role == PHI_ROLE_ASSISTANT) return false;
    }
    return false;
}

PHI__FN bool phi__render_is_answered(const phi_message *message, size_t block, const char *id,
                                     const char *const *refs) {
    phi__json_found call, result;
    size_t r;
    if (phi__json_cursor_find(message->content[block].replay, id, &call) != PHI_OK) return false;
    for (size_t i = block + 1; i < message->content_count; i++) {
        const phi_content *c = &message->content[i];
        if (c->kind != PHI_CONTENT_OPAQUE || c->incomplete) continue;
        for (r = 0; refs[r] != NULL; r++)
            if (phi__json_cursor_find(c->replay, refs[r], &result) == PHI_OK &&
                phi_str_equal(call.raw, result.raw))
                return true;
    }
    return false;
}

/* ---- images ---- */

PHI__FN bool phi__render_is_image(const phi_content *c) {
    return c->kind == PHI_CONTENT_IMAGE && c->data.len > 0;
}

PHI__FN bool phi__render_takes(const phi__codec *codec, const phi_model *model, phi_str type) {
    static const char *const all[] = {"image/png", "image/jpeg", "image/webp", NULL};
    if ((model->quirks & PHI_QUIRK_NO_IMAGES) != 0) return false;
    if (phi__codec_among(type, all)) return true;
    if (codec == NULL) return true;
    if ((codec->rules->bits & PHI__RULE_HEIF) != 0)
        return phi__str_is(type, "image/heic") || phi__str_is(type, "image/heif") ||
               ((codec->rules->bits & PHI__RULE_GIF) != 0 && phi__str_is(type, "image/gif"));
    return phi__str_is(type, "image/gif") && !phi__str_is(phi_str_of(model->provider), "ollama");
}

/* ---- documents and audio ---- */

static const struct phi__render_type {
    const char *mime_type, *ending;
    uint32_t media;
} phi__render_types[] = {
    {"application/pdf", "pdf", PHI__MEDIA_PDF},
    {"text/plain", "txt", PHI__MEDIA_TEXT_FILE},
    {"text/csv", "csv", PHI__MEDIA_TEXT_FILE},
    {"text/html", "html", PHI__MEDIA_TEXT_FILE},
    {"text/markdown", "md", PHI__MEDIA_TEXT_FILE},
    {"application/msword", "doc", PHI__MEDIA_OFFICE},
    {"application/vnd.openxmlformats-officedocument.wordprocessingml.document", "docx",
     PHI__MEDIA_OFFICE},
    {"application/vnd.ms-excel", "xls", PHI__MEDIA_OFFICE},
    {"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xlsx",
     PHI__MEDIA_OFFICE},
    {"audio/wav", "wav", PHI__MEDIA_SOUND},
    {"audio/x-wav", "wav", PHI__MEDIA_SOUND},
    {"audio/mpeg", "mp3", PHI__MEDIA_SOUND},
    {"audio/mp3", "mp3", PHI__MEDIA_SOUND},
    {"audio/aac", "aac", PHI__MEDIA_MORE_SOUND},
    {"audio/flac", "flac", PHI__MEDIA_MORE_SOUND},
    {"audio/ogg", "ogg", PHI__MEDIA_MORE_SOUND},
};

static const struct phi__render_type *phi__render_type_of(phi_str mime_type) {
    for (size_t i = 0; i < PHI__COUNT(phi__render_types); i++)
        if (phi__str_is(mime_type, phi__render_types[i].mime_type)) return &phi__render_types[i];
    return NULL;
}

PHI__FN const char *phi__render_ending(phi_str mime_type) {
    const struct phi__render_type *type = phi__render_type_of(mime_type);
    return type != NULL ? type->ending : NULL;
}

PHI__FN void phi__render_file_name(phi__buf *out, const phi_content *c) {
    const char *ending = c->mime_type.len > 0 ? phi__render_ending(c->mime_type) : "pdf";
    phi_str name = c->name.len > 0 ? c->name : PHI__LIT("document");
    size_t n = ending != NULL ? strlen(ending) : 0;
    bool has = n > 0 && name.len > n + 1 && name.at[name.len - n - 1] == '.' &&
               phi__str_is_nocase(phi__str(name.at + name.len - n, n), ending);
    phi__buf_char(out, '"');
    phi__json_write_part(out, name);
    if (n > 0 && !has) {
        phi__buf_char(out, '.');
        phi__buf_text(out, ending);
    }
    phi__buf_char(out, '"');
}

/* A model that accepts no images accepts no documents with pages either. */
PHI__FN uint32_t phi__render_media(const phi__codec *codec, const phi_model *model) {
    uint32_t pages = PHI__MEDIA_PDF | PHI__MEDIA_URL | PHI__MEDIA_OFFICE;
    uint32_t media = codec == NULL                 ? (uint32_t)PHI__MEDIA_ALL
                     : codec->rules->media != NULL ? codec->rules->media(model)
                                                   : 0;
    return (model->quirks & PHI_QUIRK_NO_IMAGES) != 0 ? media & ~pages : media;
}

/* A URL without a media type counts as a PDF. */
static bool phi__render_takes_file(uint32_t media, const phi_content *c) {
    const struct phi__render_type *type = phi__render_type_of(c->mime_type);
    bool sound = type != NULL && phi__str_starts(c->mime_type, "audio/");
    if (sound != (c->kind == PHI_CONTENT_AUDIO)) return false;
    if (c->url.len > 0 && (media & PHI__MEDIA_URL) == 0) return false;
    return type != NULL ? (media & type->media) != 0 : c->url.len > 0 && c->mime_type.len == 0;
}

PHI__FN phi__render_way phi__render_way_of(const phi__codec *codec, const phi_model *model,
                                           const phi_content *c) {
    switch (c->kind) {
    case PHI_CONTENT_TEXT: return phi__render_blank(c->text) ? PHI__RENDER_SKIP : PHI__RENDER_WORDS;
    case PHI_CONTENT_IMAGE:
        if (c->data.len == 0) return PHI__RENDER_SKIP;
        return phi__render_takes(codec, model, c->mime_type) ? PHI__RENDER_BLOCK : PHI__RENDER_OMIT;
    case PHI_CONTENT_DOCUMENT:
    case PHI_CONTENT_AUDIO: break;
    default: return PHI__RENDER_SKIP;
    }
    if (c->data.len == 0 && c->url.len == 0 && phi__render_blank(c->text)) return PHI__RENDER_SKIP;
    uint32_t media = phi__render_media(codec, model);
    if (c->data.len > 0 || c->url.len > 0)
        return phi__render_takes_file(media, c) ? PHI__RENDER_BLOCK : PHI__RENDER_OMIT;
    return (media & PHI__MEDIA_TEXT) != 0 ? PHI__RENDER_BLOCK : PHI__RENDER_WORDS;
}

PHI__FN phi__render_way phi__render_way_to(const phi__encoder *e, const phi_content *c) {
    return phi__render_way_of(e->codec, e->spec->model, c);
}

PHI__FN bool phi__render_omits(const phi__encoder *e, const phi_content *c) {
    return phi__render_way_to(e, c) == PHI__RENDER_OMIT;
}

PHI__FN bool phi__render_any(const phi__encoder *e, const phi_message *message,
                             phi__render_way way) {
    for (size_t i = 0; i < message->content_count; i++)
        if (phi__render_way_to(e, &message->content[i]) == way) return true;
    return false;
}

PHI__FN const char *phi__render_media_word(const phi__encoder *e, const phi_message *message) {
    const char *word = NULL;
    for (size_t i = 0; i < message->content_count; i++) {
        const phi_content *c = &message->content[i];
        const char *own = c->kind == PHI_CONTENT_IMAGE      ? "image"
                          : c->kind == PHI_CONTENT_DOCUMENT ? "document"
                                                            : "audio";
        if (phi__render_way_to(e, c) != PHI__RENDER_BLOCK) continue;
        if (word != NULL && strcmp(word, own) != 0) return "files";
        word = own;
    }
    return word != NULL ? word : "files";
}

PHI__FN phi_str phi__render_omitted(const phi_texts *texts, phi_content_kind kind) {
    return phi_str_of(phi__texts_get(texts, kind == PHI_CONTENT_DOCUMENT ? PHI_TEXT_DOCUMENT_OMITTED
                                            : kind == PHI_CONTENT_AUDIO  ? PHI_TEXT_AUDIO_OMITTED
                                                                         : PHI_TEXT_IMAGE_OMITTED));
}

PHI__FN phi_str phi__render_stand_in(const phi__encoder *e, const phi_message *message, size_t i) {
    const phi_content *c = &message->content[i];
    if (!phi__render_omits(e, c) ||
        (i > 0 && c[-1].kind == c->kind && phi__render_omits(e, &c[-1])))
        return phi__str(NULL, 0);
    return phi__render_omitted(e->spec->texts, c->kind);
}

PHI__FN void phi__render_said(phi__encoder *e, const phi_content *c) {
    if (c->kind == PHI_CONTENT_DOCUMENT && c->name.len > 0) {
        phi__buf_text(&e->scratch, "Document: ");
        phi__json_write_part(&e->scratch, c->name);
        phi__buf_text(&e->scratch, "\\n");
    }
    phi__render_text(e, c->text);
}

PHI__FN void phi__render_said_part(phi__encoder *e, const phi_content *c) {
    phi__json_write_item(&e->scratch, "{\"type\":\"text\",\"text\":\"");
    phi__render_said(e, c);
    phi__buf_text(&e->scratch, "\"}");
}

PHI__FN void phi__render_text_part(phi__encoder *e, phi_str text) {
    phi__json_write_item(&e->scratch, "{\"type\":\"text\"");
    phi__render_text_member(e, "text", text);
    phi__buf_char(&e->scratch, '}');
}

PHI__FN void phi__render_base64(phi__encoder *e, const char *before, phi_str data,
                                const char *after) {
    phi__buf_text(&e->scratch, before);
    if (!phi__fill_hole(e, data, true)) phi__fill_base64(&e->scratch, data);
    phi__buf_text(&e->scratch, after);
}

/* Anthropic requires a budget of at least 1024 tokens. */
PHI__FN uint32_t phi__render_budget(phi_thinking level) {
    switch (level) {
    case PHI_THINKING_OFF: return 0;
    case PHI_THINKING_MINIMAL: return 1024;
    case PHI_THINKING_LOW: return 2048;
    case PHI_THINKING_MEDIUM: return 8192;
    case PHI_THINKING_HIGH: return 16384;
    case PHI_THINKING_XHIGH: return 32768;
    case PHI_THINKING_MAX: return 65536;
    }
    return 0;
}

PHI__FN void phi__render_parts(phi__encoder *e, const phi_message *message, bool media,
                               void (*said)(phi__encoder *e, const phi_content *c),
                               void (*block)(phi__encoder *e, const phi_content *c),
                               void (*opaque)(phi__encoder *e, const phi_content *c)) {
    phi_content line = PHI_ZERO;
    for (size_t i = 0; i < message->content_count; i++) {
        const phi_content *c = &message->content[i];
        phi__render_way way = phi__render_way_to(e, c);
        line.text = phi__render_stand_in(e, message, i);
        if (line.text.len > 0)
            said(e, &line);
        else if (way == PHI__RENDER_WORDS)
            said(e, c);
        else if (way == PHI__RENDER_BLOCK && media)
            block(e, c);
        else if (c->kind == PHI_CONTENT_OPAQUE && media && opaque != NULL)
            opaque(e, c);
    }
}

PHI__FN void phi__render_blocks(phi__encoder *e, const phi_message *message,
                                void (*block)(phi__encoder *e, const phi_content *c)) {
    for (size_t i = 0; i < message->content_count; i++)
        if (phi__render_way_to(e, &message->content[i]) == PHI__RENDER_BLOCK)
            block(e, &message->content[i]);
}
