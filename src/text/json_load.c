/* json_load.c - a whole JSON text into an arena, or into a document that owns its memory. */
#include "text/json_in.h"

#include <errno.h>
#include <stdio.h>

typedef struct phi__json_load_document {
    phi_memory own;     /* where the caller gave none */
    phi_memory *memory; /* own, or the caller's */
    phi_arena arena;
    phi_json root; /* what the caller holds */
} phi__json_load_document;

static bool phi__json_load_is(const phi_json *node) {
    return node != NULL && phi__json_form_of(node) == PHI__JSON_DOCUMENT;
}

static phi__json_load_document *phi__json_load_of(phi_json *root) {
    return PHI__OWNER(root, phi__json_load_document, root);
}

static phi_json *phi__json_load_fail(phi_parse_error *error, phi_status status, const char *what,
                                     const char *name) {
    if (error == NULL) return NULL;
    memset(error, 0, sizeof *error);
    error->status = status;
    (void)snprintf(error->message, sizeof error->message, "%s%.100s", what, name);
    return NULL;
}

/* An empty document. It is not moved while it lives. */
static phi__json_load_document *phi__json_load_new(phi_memory *memory) {
    phi__json_load_document *d;
    phi_memory own;
    phi_memory_init(&own, NULL, 0);
    d = (phi__json_load_document *)phi__alloc(memory != NULL ? memory : &own, sizeof *d);
    if (d == NULL) return NULL;
    d->own = own;
    d->memory = memory != NULL ? memory : &d->own;
    phi_arena_init(&d->arena, d->memory, 0);
    return d;
}

static void phi__json_load_free(phi__json_load_document *d) {
    phi_memory own;
    phi_arena_free(&d->arena);
    own = d->own;
    phi__free(d->memory == &d->own ? &own : d->memory, d, sizeof *d);
}

#ifndef PHI_NO_FILES

/* Why the file was not read. */
static phi_json *phi__json_load_trouble(phi_parse_error *error, const char *path, int code) {
    if (code == ENOENT) return phi__json_load_fail(error, PHI_NOT_FOUND, "there is no file ", path);
    if (code == EISDIR) return phi__json_load_fail(error, PHI_IO, "a directory: ", path);
    if (code == EACCES) return phi__json_load_fail(error, PHI_IO, "no permission to read ", path);
    return phi__json_load_fail(error, PHI_IO, "the file cannot be read: ", path);
}

/* A file to its end. False: *error says why. */
static bool phi__json_load_read(FILE *file, const char *path, phi__buf *text,
                                phi_parse_error *error) {
    for (;;) {
        size_t left = (size_t)PHI_JSON_MAX_FILE_BYTES + 1 - text->len;
        size_t room = phi__min(phi__max(text->len, 4096), left), got;
        char *to = phi__buf_reserve(text, room);
        if (to == NULL) {
            (void)phi__json_load_fail(error, PHI_NO_MEMORY, "no memory for the file ", path);
            return false;
        }
        errno = 0;
        got = fread(to, 1, room, file);
        phi__buf_add_len(text, got);
        if (got < room && ferror(file) == 0) return true;
        if (got < room) (void)phi__json_load_trouble(error, path, errno);
        if (got == room && got < left) continue;
        if (got == room)
            (void)phi__json_load_fail(error, PHI_TOO_BIG, "a file of more than 64 MiB: ", path);
        return false;
    }
}

#endif

/* ---- public ---- */

PHI_API phi_status phi_json_parse(phi_arena *arena, phi_str text, uint32_t flags, phi_json **out,
                                  phi_parse_error *error) {
    phi__json_reader reader;
    phi_arena_mark mark;
    phi_status status;
    if (arena == NULL || out == NULL) return PHI_BAD_ARG;
    mark = phi_arena_save(arena);
    phi__json_read_begin(&reader, arena, text, flags, 0);
    while ((status = phi__json_read_advance(&reader, SIZE_MAX)) == PHI_BUSY) continue;
    (void)phi__json_read_result(&reader, out, error);
    if (status != PHI_OK) phi_arena_reset(arena, mark);
    return status;
}

PHI_API phi_json *phi_json_load(phi_str text, uint32_t flags, phi_memory *memory,
                                phi_parse_error *error) {
    phi__json_load_document *d = phi__json_load_new(memory);
    phi_json *root;
    if (d == NULL) return phi__json_load_fail(error, PHI_NO_MEMORY, "no memory for the tree", "");
    if (phi_json_parse(&d->arena, text, flags, &root, error) != PHI_OK) {
        phi__json_load_free(d);
        return NULL;
    }
    d->root = *root;
    d->root.meta |= (uint32_t)PHI__JSON_DOCUMENT << 4;
    return &d->root;
}

PHI_API phi_json *phi_json_load_file(const char *path, uint32_t flags, phi_memory *memory,
                                     phi_parse_error *error) {
#ifdef PHI_NO_FILES
    (void)path;
    (void)flags;
    (void)memory;
    return phi__json_load_fail(error, PHI_UNSUPPORTED, "built with PHI_NO_FILES", "");
#else
    phi_json *root = NULL;
    phi_memory own;
    phi__buf text;
    FILE *file;
    if (path == NULL) return phi__json_load_fail(error, PHI_BAD_ARG, "the path is NULL", "");
    errno = 0;
    file = fopen(path, "rb");
    if (file == NULL) return phi__json_load_trouble(error, path, errno);
    phi_memory_init(&own, NULL, 0);
    phi__buf_init(&text, memory != NULL ? memory : &own);
    if (phi__json_load_read(file, path, &text, error))
        root =
            phi_json_load(phi__buf_str(&text), flags & ~(uint32_t)PHI_JSON_BORROW, memory, error);
    phi__buf_free(&text);
    (void)fclose(file);
    return root;
#endif
}

PHI_API void phi_json_unload(phi_json *root) {
    if (phi__json_load_is(root)) phi__json_load_free(phi__json_load_of(root));
}

PHI_API phi_arena *phi_json_arena(phi_json *root) {
    return phi__json_load_is(root) ? &phi__json_load_of(root)->arena : NULL;
}
