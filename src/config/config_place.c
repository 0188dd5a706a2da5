/* config_place.c - paths of a configuration: relative ones are relative to a directory. */
#include "config/config_section_in.h"

#ifndef PHI_NO_CONFIG

#include "io/files_in.h"

/* ---- for other modules ---- */

PHI__FN const char *phi__config_place_join(phi_arena *arena, const char *directory,
                                           const char *path) {
    size_t n = strlen(directory), m = strlen(path);
    char *at;
    if (path[0] == '/' || n == 0 || strcmp(directory, ".") == 0) n = 0;
    if (n > 0 && strcmp(path, ".") == 0) m = 0;
    at = phi__arena_bytes(arena, phi__add(phi__add(n, m), 2));
    if (at == NULL) return NULL;
    memcpy(at, directory, n);
    if (n > 0 && m > 0 && directory[n - 1] != '/') at[n++] = '/';
    memcpy(at + n, path, m);
    at[n + m] = '\0';
    return at;
}

PHI__FN const char *phi__config_place_absolute(phi_arena *arena, const char *path) {
#ifndef PHI_NO_FILES
    phi_arena_mark mark = phi_arena_save(arena);
    phi__resolve *r = (phi__resolve *)phi_arena_alloc(arena, sizeof *r);
    phi_status status = PHI_NO_MEMORY;
    phi_str out = PHI__LIT("");
    if (r != NULL) status = phi__path_resolve_begin(r, NULL, path, NULL);
    while (status == PHI_OK || status == PHI_BUSY) {
        size_t units = SIZE_MAX;
        status = phi__path_resolve_advance(r, &units, NULL);
        if (status == PHI_OK) break;
    }
    if (status == PHI_OK && phi__arena_str(arena, phi_str_of(r->out), &out)) return out.at;
    phi_arena_reset(arena, mark);
#else
    (void)arena;
    (void)path;
#endif
    return NULL;
}

#endif
