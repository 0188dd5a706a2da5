/* config_place.c - paths of a configuration: relative ones are relative to a directory. */
#include "config/config_section_in.h"

#include "system/files_in.h"

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

PHI__FN phi_status phi__config_place_absolute(phi__config_ground *ground, const phi_json *node,
                                              const char *field, const char *path,
                                              const char **out) {
#ifndef PHI_NO_FILES
    phi__resolve *r = (phi__resolve *)phi__alloc(ground->memory, sizeof *r);
    phi__words words = PHI_ZERO;
    phi_str copy = PHI__LIT("");
    phi_status status;
    *out = NULL;
    if (r == NULL) return PHI_NO_MEMORY;
    status = phi__path_resolve_begin(r, NULL, path, &words);
    if (status == PHI_OK) {
        size_t units = SIZE_MAX;
        status = phi__path_resolve_advance(r, &units, &words);
    }
    if (status == PHI_OK && !phi__arena_str(ground->arena, phi_str_of(r->out), &copy))
        status = PHI_NO_MEMORY;
    phi__free(ground->memory, r, sizeof *r);
    if (status == PHI_NO_MEMORY) return status;
    if (status == PHI_OK)
        *out = copy.at;
    else
        phi__config_words_error(ground, node, status, field, "%s \"%s\" cannot be resolved: %s",
                                field, path, words.text);
    return PHI_OK;
#else
    (void)ground;
    (void)node;
    (void)field;
    (void)path;
    *out = NULL;
    return PHI_UNSUPPORTED;
#endif
}
