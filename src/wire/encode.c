/* encode.c - the parts of a request for codecs: pieces, kept renderings, the address and its
   headers. */
#include "wire/render_in.h"

/* A bigger array of the same elements in the arena; the old one stays until the arena is reset. */
static void *phi__encode_grow(phi__encoder *e, void *old, size_t count, size_t *cap, size_t size) {
    size_t now = *cap == 0 ? 32 : *cap * 2;
    void *out;
    if (count < *cap) return old;
    out = e->failed ? NULL : phi_arena_alloc(e->arena, phi__mul(now, size));
    if (out == NULL) {
        e->failed = true;
        return NULL;
    }
    if (count > 0) memcpy(out, old, count * size);
    *cap = now;
    return out;
}

/* ---- pieces ---- */

PHI__FN void phi__encode_piece(phi__encoder *e, phi_str json) {
    phi__piece *piece;
    if (json.len == 0 || e->failed) return;
    if (e->count == e->cap) { /* asked here: this is done for each message of each request */
        void *grown = phi__encode_grow(e, e->pieces, e->count, &e->cap, sizeof *e->pieces);
        if (grown == NULL) return;
        e->pieces = (phi__piece *)grown;
    }
    piece = &e->pieces[e->count++];
    piece->at = json.at;
    piece->len = json.len;
    piece->start = 0;
}

PHI__FN void phi__encode_glue(phi__encoder *e, const char *literal) {
    phi__encode_piece(e, phi_str_of(literal));
}

PHI__FN void phi__encode_scratch(phi__encoder *e) {
    phi_str copy;
    if (e->scratch.failed || !phi__arena_str(e->arena, phi__buf_str(&e->scratch), &copy))
        e->failed = true;
    else
        phi__encode_piece(e, copy);
    phi__buf_clear(&e->scratch);
}

PHI__FN bool phi__encode_kept(phi__encoder *e, size_t item, uint32_t block, uint32_t form,
                              phi_str *json) {
    phi__rendered **list = e->spec->items[item].rendered;
    const phi__rendered *r = list != NULL ? *list : e->last_item == item ? &e->last : NULL;
    for (; r != NULL; r = r->next) {
        if (r->form != form || r->block != block) continue;
        *json = r->json;
        return true;
    }
    phi__buf_clear(&e->scratch);
    e->fill.count = 0;
    return false;
}

/* Beside its message, or, where that keeps none, until the next one. */
PHI__FN void phi__encode_store(phi__encoder *e, size_t item, uint32_t block, uint32_t form,
                               phi_str json) {
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
    r->block = block;
    r->json = json;
    r->next = NULL;
    e->last_item = item;
    if (kept->rendered == NULL) return;
    r->next = *kept->rendered;
    *kept->rendered = r;
}

PHI__FN bool phi__encode_keep(phi__encoder *e, size_t item, uint32_t block, uint32_t form,
                              phi_str *json) {
    const phi__item *kept = &e->spec->items[item];
    phi_arena *arena = kept->rendered != NULL ? kept->arena : e->arena;
    phi_arena_mark mark = phi_arena_save(arena);
    if (e->scratch.failed) e->failed = true;
    if (!e->failed && e->fill.count > 0) {
        phi__fill_begin(e, item, block, form);
        return false;
    }
    if (!e->failed && !phi__arena_str(arena, phi__buf_str(&e->scratch), json)) e->failed = true;
    phi__buf_clear(&e->scratch);
    if (!e->failed) phi__encode_store(e, item, block, form, *json);
    if (e->failed)
        phi_arena_reset(arena, mark);
    else
        e->fresh += json->len;
    return !e->failed;
}

PHI__FN void phi__encode_mark(phi__encoder *e, size_t back, const char *literal) {
    size_t at = e->mark_piece, i;
    phi__piece *pieces;
    phi_str end;
    if (at == SIZE_MAX || e->failed) return;
    end = phi__str(e->pieces[at].at + e->pieces[at].len - back, back);
    phi__encode_glue(e, literal);
    phi__encode_piece(e, end);
    if (e->failed) return;
    pieces = e->pieces;
    pieces[at].len -= back;
    for (i = e->count - 1; i > at + 2; i--) pieces[i] = pieces[i - 2];
    pieces[at + 1].at = literal;
    pieces[at + 1].len = strlen(literal);
    pieces[at + 2].at = end.at;
    pieces[at + 2].len = end.len;
}

/* ---- updates ---- */

PHI__FN bool phi__encode_says(const phi_message *message) {
    size_t i;
    for (i = 0; i < message->content_count; i++) {
        const phi_content *c = &message->content[i];
        if (c->kind == PHI_CONTENT_THINKING || c->incomplete) continue;
        if (c->kind != PHI_CONTENT_TEXT || !phi__render_blank(c->text)) return true;
    }
    return false;
}

PHI__FN bool phi__encode_is_system(const phi__encoder *e, size_t item) {
    const phi__request_spec *spec = e->spec;
    const phi__codec_rules *rules = e->codec->rules;
    size_t i;
    if (!spec->items[item].message->is_update || rules->takes_updates == NULL ||
        !rules->takes_updates(spec->model))
        return false;
    if (e->open_role != PHI_ROLE_USER && e->open_role != PHI__ROLE_SYSTEM) return false;
    for (i = item + 1; i < spec->item_count; i++) {
        const phi_message *next = spec->items[i].message;
        if (next->role == PHI_ROLE_EXTENSION || next->is_update || !phi__encode_says(next))
            continue;
        return next->role == PHI_ROLE_ASSISTANT;
    }
    return true;
}

/* ---- addresses ---- */

/* Without control characters and blanks at the ends: a line break would end a header. */
static bool phi__encode_clean(phi__encoder *e, phi_str from, phi_str *out) {
    char *to = phi__arena_bytes(e->arena, phi__add(from.len, 1));
    size_t i, n = 0;
    if (to == NULL) return false;
    from = phi__str_trim(from);
    for (i = 0; i < from.len; i++)
        if ((unsigned char)from.at[i] >= 0x20 && from.at[i] != 0x7f) to[n++] = from.at[i];
    to[n] = '\0';
    *out = phi__str(to, n);
    return true;
}

static bool phi__encode_ends(phi_str s, const char *end) {
    size_t n = strlen(end);
    return s.len >= n && memcmp(s.at + s.len - n, end, n) == 0;
}

/* Whether a url is scheme and host only. */
static bool phi__encode_bare(phi_str url) {
    size_t at = phi__str_find(url, 0, "://");
    return phi__str_find(url, at == SIZE_MAX ? 0 : at + 3, "/") == SIZE_MAX;
}

PHI__FN void phi__encode_header(phi__encoder *e, const char *name, phi_str value) {
    phi__header header, *headers;
    size_t i;
    if (e->failed) return;
    if (!phi__encode_clean(e, phi_str_of(name), &header.name) ||
        !phi__encode_clean(e, value, &header.value)) {
        e->failed = true;
        return;
    }
    if (header.name.len == 0) return;
    for (i = 0; i < e->header_count; i++)
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
    size_t i;
    for (i = 0; i < model->header_count; i++)
        if (model->headers[i].name != NULL)
            phi__encode_header(e, model->headers[i].name, phi_str_of(model->headers[i].value));
}

PHI__FN void phi__encode_url(phi__encoder *e, const char *version, bool only_bare,
                             const char *path) {
    phi_str base = phi__str_trim(phi_str_of(e->spec->model->base_url)), query = {NULL, 0};
    size_t at = phi__str_find(base, 0, "?");
    phi__buf *out = &e->scratch;
    if (at != SIZE_MAX) {
        query = phi__str(base.at + at, base.len - at);
        base.len = at;
    }
    while (base.len > 0 && base.at[base.len - 1] == '/') base.len--;
    phi__buf_clear(out);
    phi__buf_add_str(out, base);
    if (!phi__encode_ends(base, path)) {
        if (only_bare ? phi__encode_bare(base) : !phi__encode_ends(base, version))
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
