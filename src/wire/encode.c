/* encode.c - the parts of a request: pieces, kept renderings, URL and headers. */

#include "wire/codec_in.h"

#include <stdio.h>

static void *phi__encode_grow(phi__encoder *e, void *old, size_t count, size_t *cap, size_t size) {
    void *out = e->failed ? NULL : phi__arena_grow(e->arena, old, count, cap, size);
    if (out == NULL) e->failed = true;
    return out;
}

/* ---- pieces ---- */

PHI__FN void phi__encode_piece(phi__encoder *e, phi_str json) {
    if (json.len == 0 || e->failed) return;
    if (e->count ==
        e->cap) { /* tested here first, because this runs for each message of each request */
        void *grown = phi__encode_grow(e, e->pieces, e->count, &e->cap, sizeof *e->pieces);
        if (grown == NULL) return;
        e->pieces = (phi__piece *)grown;
    }
    phi__piece *piece = &e->pieces[e->count++];
    piece->at = json.at;
    piece->len = json.len;
    piece->start = 0;
}

PHI__FN void phi__encode_glue(phi__encoder *e, const char *literal) {
    phi__encode_piece(e, phi_str_of(literal));
}

PHI__FN bool phi__encode_copy(phi__encoder *e, phi_str *out) {
    if (e->scratch.failed || !phi__arena_str(e->arena, phi__buf_str(&e->scratch), out))
        e->failed = true;
    phi__buf_clear(&e->scratch);
    return !e->failed;
}

PHI__FN void phi__encode_scratch(phi__encoder *e) {
    phi_str copy;
    if (phi__encode_copy(e, &copy)) phi__encode_piece(e, copy);
}

PHI__FN void phi__encode_insert(phi__encoder *e, phi_str json) {
    phi__encode_scratch(e);
    phi__encode_piece(e, json);
}

/* Keeps a rendering with its message. If the message keeps none, e->last keeps it. */
PHI__FN void phi__encode_store(phi__encoder *e, size_t item, uint32_t form, phi_str json) {
    const phi__item *kept = &e->spec->items[item];
    phi__rendered *r = &e->last;
    if (kept->rendered != NULL) {
        r = (phi__rendered *)phi_arena_alloc(kept->arena, sizeof *r);
        if (r == NULL) {
            e->failed = true;
            return;
        }
    }
    r->form = form;
    r->json = json;
    r->next = NULL;
    e->last_item = item;
    if (kept->rendered == NULL) return;
    r->next = *kept->rendered;
    *kept->rendered = r;
}

PHI__FN void phi__encode_role(phi__encoder *e, phi_role role, phi_str begin, phi_str json) {
    if (e->open_role == role)
        begin = PHI__LIT(",");
    else if (e->open_role == (phi_role)0)
        begin = phi__str_from(begin, sizeof "]}," - 1);
    e->open_role = role;
    phi__encode_piece(e, begin);
    phi__encode_piece(e, json);
}

PHI__FN void phi__encode_append(phi__encoder *e, const phi_message *m, size_t at, uint32_t form,
                                phi_str items) {
    (void)at;
    (void)form;
    if (items.len == 0) return;
    if (e->last_role != (phi_role)0) phi__encode_glue(e, ",");
    e->last_role = m->role;
    phi__encode_piece(e, items);
}

PHI__FN void phi__encode_mark(phi__encoder *e, size_t back, const char *literal) {
    size_t at = e->mark_piece;
    if (at == SIZE_MAX || e->failed) return;
    phi_str end = phi__str(e->pieces[at].at + e->pieces[at].len - back, back);
    phi__encode_glue(e, literal);
    phi__encode_piece(e, end);
    if (e->failed) return;
    phi__piece *pieces = e->pieces;
    pieces[at].len -= back;
    for (size_t i = e->count - 1; i > at + 2; i--) pieces[i] = pieces[i - 2];
    pieces[at + 1].at = literal;
    pieces[at + 1].len = strlen(literal);
    pieces[at + 2].at = end.at;
    pieces[at + 2].len = end.len;
}

PHI__FN bool phi__encode_says(const phi_message *message) {
    for (size_t i = 0; i < message->content_count; i++) {
        const phi_content *c = &message->content[i];
        if (c->kind == PHI_CONTENT_THINKING || c->incomplete) continue;
        if (c->kind != PHI_CONTENT_TEXT || !phi__render_blank(c->text)) return true;
    }
    return false;
}

PHI__FN bool phi__encode_is_system(const phi__encoder *e, size_t item) {
    const phi__request_spec *spec = e->spec;
    const phi__codec_rules *rules = e->codec->rules;
    if (!spec->items[item].message->is_update || rules->takes_updates == NULL ||
        !rules->takes_updates(spec->model))
        return false;
    if (e->open_role != PHI_ROLE_USER && e->open_role != PHI__ROLE_SYSTEM) return false;
    for (size_t i = item + 1; i < spec->item_count; i++) {
        const phi_message *next = spec->items[i].message;
        if (next->role == PHI_ROLE_EXTENSION || next->is_update || !phi__encode_says(next))
            continue;
        return next->role == PHI_ROLE_ASSISTANT;
    }
    return true;
}

/* ---- addresses ---- */

/* Copies a text without control characters, which would end a header, and without outer blanks. */
static bool phi__encode_clean(phi__encoder *e, phi_str from, phi_str *out) {
    char *to = phi__arena_bytes(e->arena, phi__add(from.len, 1));
    size_t n = 0;
    if (to == NULL) return false;
    from = phi__str_trim(from);
    for (size_t i = 0; i < from.len; i++)
        if ((unsigned char)from.at[i] >= 0x20 && from.at[i] != 0x7f) to[n++] = from.at[i];
    to[n] = '\0';
    *out = phi__str(to, n);
    return true;
}

/* True if a URL has no path. */
static bool phi__encode_bare(phi_str url) {
    size_t at = phi__str_find(url, 0, "://");
    return phi__str_find(url, at == SIZE_MAX ? 0 : at + 3, "/") == SIZE_MAX;
}

PHI__FN void phi__encode_header(phi__encoder *e, const char *name, phi_str value) {
    phi__header header, *headers;
    if (e->failed) return;
    if (!phi__encode_clean(e, phi_str_of(name), &header.name) ||
        !phi__encode_clean(e, value, &header.value)) {
        e->failed = true;
        return;
    }
    if (header.name.len == 0) return;
    for (size_t i = 0; i < e->header_count; i++)
        if (phi__str_is_nocase(e->headers[i].name, header.name.at)) {
            e->headers[i] = header;
            return;
        }
    headers = (phi__header *)phi__encode_grow(e, e->headers, e->header_count, &e->header_cap,
                                              sizeof *headers);
    if (headers == NULL) return;
    e->headers = headers;
    headers[e->header_count++] = header;
}

PHI__FN void phi__encode_model_headers(phi__encoder *e) {
    const phi_model *model = e->spec->model;
    for (size_t i = 0; i < model->header_count; i++)
        if (model->headers[i].name != NULL)
            phi__encode_header(e, model->headers[i].name, phi_str_of(model->headers[i].value));
}

PHI__FN void phi__encode_accept(phi__encoder *e, const char *accept) {
    phi__encode_header(e, "content-type", PHI__LIT("application/json"));
    phi__encode_header(e, "accept", phi_str_of(accept));
}

PHI__FN void phi__encode_key(phi__encoder *e, const char *header) {
    phi_str key = phi__str_trim(phi_str_of(e->spec->model->api_key));
    phi__buf_clear(&e->scratch);
    phi__buf_wrap(&e->scratch, header == NULL ? "Bearer " : "", key, "");
    if (e->scratch.failed) e->failed = true;
    if (key.len > 0)
        phi__encode_header(e, header == NULL ? "authorization" : header, phi__buf_str(&e->scratch));
    phi__buf_clear(&e->scratch);
    phi__encode_model_headers(e);
}

PHI__FN void phi__encode_url(phi__encoder *e, const char *version, bool only_bare,
                             const char *path) {
    phi_str base = phi__str_trim(phi_str_of(e->spec->model->base_url)), query = {NULL, 0};
    size_t at = phi__str_find(base, 0, "?");
    phi__buf *out = &e->scratch;
    if (at != SIZE_MAX) {
        query = phi__str_from(base, at);
        base.len = at;
    }
    while (base.len > 0 && base.at[base.len - 1] == '/') base.len--;
    phi__buf_clear(out);
    phi__buf_add_str(out, base);
    if (!phi__str_ends(base, path)) {
        if (only_bare ? phi__encode_bare(base) : !phi__str_ends(base, version))
            phi__buf_text(out, version);
        phi__buf_text(out, path);
    }
    phi__buf_add_str(out, query);
    if (out->failed || !phi__encode_clean(e, phi__buf_str(out), &e->request.url)) e->failed = true;
    phi__buf_clear(out);
}

PHI__FN void phi__encode_seal(phi__encoder *e, phi_str method) {
    e->request.method = method;
    e->request.headers = e->headers;
    e->request.header_count = e->header_count;
    e->request.pieces = e->pieces;
    e->request.piece_count = e->count;
    phi__request_seal(&e->request);
}

PHI__FN void phi__encode_request(phi__encoder *e, phi_str method, phi_str url, phi_str body) {
    if (!phi__encode_clean(e, url, &e->request.url) || !phi__encode_clean(e, method, &method))
        e->failed = true;
    phi__encode_piece(e, body);
    if (!e->failed) phi__encode_seal(e, method);
}

/* ---- settings that not every target accepts ---- */

PHI__FN void phi__takes_put(phi__encoder *e, const phi__takes_keys *keys, uint32_t takes) {
    const phi_request_options *options = &e->spec->options;
    phi__buf *out = &e->scratch;
    if (keys->temperature != NULL && e->spec->temperature >= 0 &&
        (takes & PHI__TAKES_TEMPERATURE) != 0)
        phi__records_double(out, keys->temperature, e->spec->temperature);
    if (keys->top_p != NULL && options->top_p > 0 && (takes & PHI__TAKES_TOP_P) != 0)
        phi__records_double(out, keys->top_p, options->top_p);
    if (keys->top_k != NULL && options->top_k > 0 && (takes & PHI__TAKES_TOP_K) != 0)
        phi__records_u64(out, keys->top_k, options->top_k);
    if (keys->stop != NULL && options->stop_count > 0 && (takes & PHI__TAKES_STOP) != 0) {
        phi__records_raw(&e->scratch, keys->stop, "[");
        for (size_t i = 0; i < options->stop_count; i++) {
            phi__json_write_comma(&e->scratch);
            phi__json_write_str(&e->scratch, phi_str_of(options->stop[i]));
        }
        phi__buf_char(&e->scratch, ']');
    }
    if (keys->seed != NULL && options->has_seed && (takes & PHI__TAKES_SEED) != 0)
        phi__records_i64(out, keys->seed, options->seed);
    if (keys->tier != NULL && options->service_tier != NULL && (takes & PHI__TAKES_TIER) != 0)
        phi__records_str(out, keys->tier, phi_str_of(options->service_tier));
}

PHI__FN bool phi__takes_serial(const phi__request_spec *spec, uint32_t takes) {
    return spec->options.serial_calls && (takes & PHI__TAKES_SERIAL) != 0 && spec->tool_count > 0 &&
           spec->tool_choice != PHI_TOOL_CHOICE_NONE;
}

PHI__FN bool phi__takes_raw(phi__encoder *e, size_t tool) {
    if (tool > 0) phi__buf_char(&e->scratch, ',');
    if (!e->spec->tools[tool].is_raw) return false;
    phi__encode_insert(e, e->spec->tools[tool].raw);
    return true;
}

PHI__FN bool phi__takes_deferred(const phi__request_spec *spec) {
    for (size_t i = 0; i < spec->tool_count; i++)
        if (spec->tools[i].deferred) return true;
    return spec->searches;
}

PHI__FN bool phi__takes_reference(const phi_content *block, size_t *at, phi_str *name) {
    static const char key[] = "\"tool_name\"";
    phi_str text = block->replay;
    size_t from;
    if (block->kind != PHI_CONTENT_OPAQUE || !phi__str_is(block->name, "tool_search_tool_result"))
        return false;
    size_t i = phi__str_find(text, *at, key);
    if (i == SIZE_MAX) return false;
    for (i += sizeof key - 1; i < text.len && strchr(" \t\r\n:", text.at[i]) != NULL;) i++;
    if (i >= text.len || text.at[i] != '"') return false;
    for (from = ++i; i < text.len && text.at[i] != '"';) i++;
    *name = phi__str(text.at + from, i - from);
    *at = i;
    return true;
}

PHI__FN phi_thinking phi__takes_level(const phi__codec *codec, const phi__request_spec *spec) {
    const phi__codec_settings *settings = codec->rules->settings;
    return settings != NULL && settings->level != NULL
               ? settings->level(spec->model, spec->thinking)
               : spec->thinking;
}

PHI__FN bool phi__takes_copy(phi_arena *arena, const phi_request_options *from,
                             phi_request_options *out) {
    const char **stop = NULL;
    phi_str copy;
    *out = *from;
    if (!from->has_temperature) out->temperature = 0;
    out->stop = NULL;
    if (from->stop_count > 0) {
        stop = (const char **)phi_arena_alloc(arena, phi__mul(from->stop_count, sizeof *stop));
        if (stop == NULL) return false;
        out->stop = stop;
    }
    for (size_t i = 0; i < from->stop_count; i++) {
        if (!phi__arena_str(arena, phi_str_of(from->stop[i]), &copy)) return false;
        stop[i] = copy.at;
    }
    return phi__keep_text(arena, &out->service_tier) && phi__keep_text(arena, &out->extra);
}

PHI__FN const char *phi__takes_fault(const phi_request_options *options) {
    if (!(options->top_p >= 0 && options->top_p <= 1))
        return "options.top_p: expected above 0, to 1";
    if (options->stop_count > (size_t)PHI__TAKES_STOP_MOST)
        return "options.stop_count: expected at most 16";
    if (options->stop_count > 0 && options->stop == NULL) return "options.stop is missing";
    for (size_t i = 0; i < options->stop_count; i++)
        if (options->stop[i] == NULL || options->stop[i][0] == '\0')
            return "options.stop: a text is missing or empty";
    if (options->service_tier != NULL && options->service_tier[0] == '\0')
        return "options.service_tier is empty";
    return NULL;
}

/* Appends a part of a sentence, cut to the room left. */
static void phi__takes_say(char *words, size_t words_size, const char *what, const char *how) {
    size_t n = strlen(words);
    (void)snprintf(words + n, words_size - n, "%s%s %s", n > 0 ? "; " : "", what, how);
}

PHI__FN phi_status phi__takes_preflight(const phi__codec *codec, const phi__request_spec *spec,
                                        char *words, size_t words_size) {
    static const char *const levels[] = {"off", "minimal", "low", "medium", "high", "xhigh", "max"};
    static const char *const names[] = {"temperature", "top_p",        "top_k",       "stop",
                                        "seed",        "service_tier", "serial_calls"};
    const phi_request_options *options = &spec->options;
    const phi__codec_settings *settings = codec->rules->settings;
    uint32_t takes = settings != NULL ? settings->takes(spec) : (uint32_t)PHI__TAKES_ALL, set = 0;
    phi_thinking level = phi__takes_level(codec, spec);
    char how[40];
    if (words_size == 0) return PHI_BAD_ARG;
    words[0] = '\0';
    if (spec->temperature >= 0) set |= PHI__TAKES_TEMPERATURE;
    if (options->top_p > 0) set |= PHI__TAKES_TOP_P;
    if (options->top_k > 0) set |= PHI__TAKES_TOP_K;
    if (options->stop_count > 0) set |= PHI__TAKES_STOP;
    if (options->has_seed) set |= PHI__TAKES_SEED;
    if (options->service_tier != NULL) set |= PHI__TAKES_TIER;
    if (options->serial_calls) set |= PHI__TAKES_SERIAL;
    for (size_t i = 0; i < PHI__COUNT(names); i++)
        if ((set & ~takes & 1u << i) != 0)
            phi__takes_say(words, words_size, names[i], "is not sent");
    if (spec->thinking != PHI_THINKING_OFF && !spec->model->reasoning)
        phi__takes_say(words, words_size, "thinking", "is not sent");
    else if (level != spec->thinking && !PHI_NEVER((size_t)level >= PHI__COUNT(levels))) {
        (void)snprintf(how, sizeof how, "is lowered to %s", levels[level]);
        phi__takes_say(words, words_size, "thinking", how);
    }
    return words[0] == '\0' ? PHI_OK : PHI_UNSUPPORTED;
}
