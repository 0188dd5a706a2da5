/* fill.c - fills holes in two passes: the first measures the contents, the second writes them. */
#include "wire/codec_in.h"

static bool phi__fill_is_base64(char c) {
    return phi__is_alnum(c) || c == '+' || c == '/' || c == '=' || c == '-' || c == '_';
}

PHI__FN void phi__fill_base64(phi__buf *out, phi_str data) {
    char *to = phi__buf_reserve(out, data.len);
    size_t n = 0;
    if (to == NULL) return;
    for (size_t i = 0; i < data.len; i++)
        if (phi__fill_is_base64(data.at[i])) to[n++] = data.at[i];
    phi__buf_add_len(out, n);
}

PHI__FN bool phi__fill_hole(phi__encoder *e, phi_str source, bool base64) {
    phi__fill *f = &e->fill;
    if (f->refuses || source.len <= PHI__FILL_LONG || f->count == PHI__FILL_HOLES) return false;
    f->holes[f->count].offset = e->scratch.len;
    f->holes[f->count].source = source;
    f->holes[f->count].base64 = base64;
    f->count++;
    return true;
}

PHI__FN void phi__fill_begin(phi__encoder *e, size_t item, uint32_t form) {
    phi__fill *f = &e->fill;
    const phi__item *kept = &e->spec->items[item];
    f->going = true;
    f->measured = false;
    f->item = item;
    f->form = form;
    f->hole = f->done = f->len = 0;
    f->total = e->scratch.len;
    f->out = NULL;
    f->arena = kept->rendered != NULL ? kept->arena : e->arena;
}

/* Renders the next slice into f->slice. */
static bool phi__fill_slice(phi__encoder *e) {
    phi__fill *f = &e->fill;
    const phi__hole *hole = &f->holes[f->hole];
    phi_str rest = phi__str_from(hole->source, f->done);
    size_t n =
        hole->base64 ? phi__min(rest.len, PHI__FILL_SLICE) : phi__utf8_cut(rest, PHI__FILL_SLICE);
    phi__buf_clear(&f->slice);
    if (hole->base64)
        phi__fill_base64(&f->slice, phi__str(rest.at, n));
    else
        phi__json_write_part(&f->slice, phi__str(rest.at, n));
    f->done += n;
    if (f->slice.failed) e->failed = true;
    return !e->failed;
}

/* Allocates the memory of the whole rendering, whose length is known now. */
static bool phi__fill_take(phi__encoder *e) {
    phi__fill *f = &e->fill;
    f->measured = true;
    f->hole = f->done = 0;
    f->mark = phi_arena_save(f->arena);
    f->out = phi__arena_bytes(f->arena, f->total);
    if (f->out == NULL) e->failed = true;
    return f->out != NULL;
}

static void phi__fill_write(phi__fill *f, const char *at, size_t len) {
    if (len > 0) memcpy(f->out + f->len, at, len);
    f->len += len;
}

static phi_str phi__fill_end(phi__encoder *e) {
    phi__fill *f = &e->fill;
    phi_str json = phi__str(f->out, f->len);
    PHI_ASSERT(f->len == f->total);
    f->out = NULL; /* the rendering now belongs to the message */
    f->going = false;
    f->count = 0;
    phi__buf_clear(&e->scratch);
    return json;
}

PHI__FN bool phi__fill_advance(phi__encoder *e, size_t *units, phi_str *json) {
    phi__fill *f = &e->fill;
    *json = phi__str(NULL, 0);
    while (!e->failed) {
        if (f->hole == f->count && !f->measured && !phi__fill_take(e)) break;
        if (f->measured && f->done == 0) {
            /* First write the codec's bytes between the previous hole and this one. */
            size_t from = f->hole > 0 ? f->holes[f->hole - 1].offset : 0;
            size_t to = f->hole < f->count ? f->holes[f->hole].offset : e->scratch.len;
            phi__fill_write(f, e->scratch.at + from, to - from);
        }
        if (f->hole == f->count) {
            *json = phi__fill_end(e);
            break;
        }
        if (!phi__fill_slice(e)) break;
        if (f->measured)
            phi__fill_write(f, f->slice.at, f->slice.len);
        else
            f->total = phi__add(f->total, f->slice.len);
        /* Continue with the next hole. */
        if (f->done >= f->holes[f->hole].source.len) {
            f->hole++;
            f->done = 0;
        }
        *units -= phi__min(*units, PHI__FILL_SLICE / 1024);
        if (*units == 0) return false;
    }
    return true;
}

PHI__FN void phi__fill_drop(phi__encoder *e) {
    phi__fill *f = &e->fill;
    if (f->out != NULL) phi_arena_reset(f->arena, f->mark);
    phi__buf_free(&f->slice);
    f->out = NULL;
    f->going = false;
    f->count = 0;
}
