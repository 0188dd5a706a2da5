/* kept.c - JSON that is kept verbatim: its check, citations, and members without a meaning here. */
#include "codecs/kept_in.h"

static bool phi__kept_is(phi_arena *arena, phi_str text, bool object, bool *no_memory) {
    phi_arena_mark mark = phi_arena_save(arena);
    phi_json *root = NULL;
    phi_status status =
        phi_json_parse(arena, text, PHI_JSON_BORROW | PHI_JSON_REPLACE_BAD_UTF8, &root, NULL);
    bool good = status == PHI_OK && (!object || phi_json_is(root, PHI_JSON_OBJECT));
    if (status == PHI_NO_MEMORY) *no_memory = true;
    phi_arena_reset(arena, mark);
    return good;
}

PHI__FN bool phi__kept_is_json(phi_arena *arena, phi_str text, bool *no_memory) {
    return phi__kept_is(arena, text, false, no_memory);
}

PHI__FN bool phi__kept_is_object(phi_arena *arena, phi_str text, bool *no_memory) {
    return phi__kept_is(arena, text, true, no_memory);
}

PHI__FN phi_json *phi__kept_tree(phi__encoder *e, phi_str text) {
    phi_json *root = NULL;
    phi_status status = phi_json_parse(e->arena, text, PHI_JSON_BORROW, &root, NULL);
    if (status == PHI_NO_MEMORY) e->failed = true;
    return status == PHI_OK && phi_json_is(root, PHI_JSON_OBJECT) ? root : NULL;
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
