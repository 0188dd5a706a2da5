/* render.c - makes ids, names and text fit for a target. */
#include "wire/render_in.h"

#include "wire/hash_in.h"

static bool phi__render_alnum(char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

static bool phi__render_word(char c) { return phi__render_alnum(c) || c == '_' || c == '-'; }

static bool phi__render_id_fits(phi_str id, phi__id_rule rule) {
    size_t i;
    if (rule == PHI__ID_ANY) return true;
    if (id.len == 0) return false;
    if (rule == PHI__ID_40) return id.len <= 40;
    if (rule == PHI__ID_9 ? id.len != 9 : id.len > 64) return false;
    if (rule == PHI__ID_RESPONSES && id.at[id.len - 1] == '_') return false;
    for (i = 0; i < id.len; i++)
        if (!(rule == PHI__ID_9 ? phi__render_alnum(id.at[i]) : phi__render_word(id.at[i])))
            return false;
    return true;
}

PHI__FN phi__id_rule phi__render_id_rule(const phi__codec *codec, const phi_model *model) {
    if (codec == NULL) return PHI__ID_ANY;
    return codec->rules->id_rule != NULL ? codec->rules->id_rule(model) : PHI__ID_ANTHROPIC;
}

PHI__FN phi_str phi__render_map_id(phi_str id, phi__id_rule rule, char room[PHI__ID_ROOM]) {
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    uint64_t n;
    size_t i;
    if (phi__render_id_fits(id, rule)) return id;
    n = phi__hash(id, 1);
    if (rule == PHI__ID_9) {
        for (i = 0; i < 9; i++, n /= 62) room[i] = digits[n % 62];
        return phi__str(room, 9);
    }
    memcpy(room, "call_", 5);
    phi__hash_hex(n, room + 5);
    phi__hash_hex(phi__hash(id, 2), room + 21);
    return phi__str(room, 37);
}

PHI__FN void phi__render_id(phi__buf *out, phi_str id, phi__id_rule rule) {
    char room[PHI__ID_ROOM];
    phi__json_write_str(out, phi__render_map_id(id, rule, room));
}

PHI__FN void phi__render_name(phi__buf *out, phi_str name, size_t most) {
    char *to;
    size_t i, n = phi__min(name.len, most);
    phi__buf_char(out, '"');
    to = phi__buf_reserve(out, n);
    for (i = 0; to != NULL && i < n; i++) to[i] = phi__render_word(name.at[i]) ? name.at[i] : '_';
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

PHI__FN void phi__render_member(phi__buf *out, const char *key, phi_str text) {
    phi__json_write_key(out, phi_str_of(key));
    phi__json_write_str(out, text);
}

PHI__FN void phi__render_text(phi__encoder *e, phi_str text) {
    if (!phi__fill_hole(e, text, false)) phi__json_write_part(&e->scratch, text);
}

PHI__FN void phi__render_text_member(phi__encoder *e, const char *key, phi_str text) {
    phi__json_write_key(&e->scratch, phi_str_of(key));
    phi__buf_char(&e->scratch, '"');
    phi__render_text(e, text);
    phi__buf_char(&e->scratch, '"');
}

PHI__FN phi_str phi__render_arguments(phi__encoder *e, phi_str arguments) {
    phi_arena_mark mark = phi_arena_save(e->arena);
    phi_json *root = NULL;
    phi_status status;
    bool is_object;
    if (arguments.len == 2 && arguments.at[0] == '{') return PHI__LIT("{}");
    status = phi_json_parse(e->arena, arguments, PHI_JSON_BORROW, &root, NULL);
    is_object = status == PHI_OK && phi_json_is_object(root);
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

PHI__FN bool phi__render_is_image(const phi_content *c) {
    return c->kind == PHI_CONTENT_IMAGE && c->data.len > 0;
}

/* wire.md parts 2, 3 and 8. */
PHI__FN bool phi__render_takes(const phi__codec *codec, const phi_model *model, phi_str type) {
    static const char *const all[] = {"image/png", "image/jpeg", "image/webp"};
    size_t i;
    if ((model->quirks & PHI_QUIRK_NO_IMAGES) != 0) return false;
    for (i = 0; i < PHI__COUNT(all); i++)
        if (phi__str_is(type, all[i])) return true;
    if ((codec->rules->bits & PHI__RULE_HEIF) != 0)
        return phi__str_is(type, "image/heic") || phi__str_is(type, "image/heif");
    return phi__str_is(type, "image/gif") && !phi__str_is(phi_str_of(model->provider), "ollama");
}

PHI__FN bool phi__render_omits(const phi__encoder *e, const phi_content *c) {
    return phi__render_is_image(c) && !phi__render_takes(e->codec, e->spec->model, c->mime_type);
}

PHI__FN bool phi__render_omits_any(const phi__encoder *e, const phi_message *message) {
    size_t i;
    for (i = 0; i < message->content_count; i++)
        if (phi__render_omits(e, &message->content[i])) return true;
    return false;
}

PHI__FN bool phi__render_sends_image(const phi__encoder *e, const phi_message *message) {
    size_t i;
    for (i = 0; i < message->content_count; i++)
        if (phi__render_is_image(&message->content[i]) &&
            !phi__render_omits(e, &message->content[i]))
            return true;
    return false;
}

PHI__FN void phi__render_base64(phi__encoder *e, phi_str data) {
    if (!phi__fill_hole(e, data, true)) phi__fill_base64(&e->scratch, data);
}

/* wire.md part 2: never below 1024 */
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

PHI__FN void phi__render_parts(phi__encoder *e, const phi_message *message, bool images,
                               void (*text)(phi__encoder *e, phi_str text),
                               void (*image)(phi__encoder *e, const phi_content *c)) {
    bool omitted = false;
    size_t i;
    for (i = 0; i < message->content_count; i++) {
        const phi_content *c = &message->content[i];
        bool is_image = phi__render_is_image(c);
        if (phi__render_omits(e, c)) {
            if (!omitted) text(e, PHI__LIT(PHI__RENDER_NO_IMAGE));
        } else if (is_image && images)
            image(e, c);
        else if (c->kind == PHI_CONTENT_TEXT && !phi__render_blank(c->text))
            text(e, c->text);
        omitted = is_image;
    }
}
