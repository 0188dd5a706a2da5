/* protected.c - the files that a configuration runs or heeds. */
#include "sections/sections.h"

#include "base/arena_in.h"
#include "config/config_in.h"
#include "system/files_in.h"

enum {
    PHI__PROTECTED_DEPTH = 16, /* of the tree: tables of a configuration are less deep */
    PHI__PROTECTED_MOST = 500  /* paths */
};

typedef struct phi__protected {
    phi_arena *arena;
    phi_str directory; /* of the file, with a slash behind; empty: it has none */
    const char **list;
    size_t count;
    bool full;
} phi__protected;

static bool phi__protected_keep(phi__protected *p, phi_str path) {
    phi_str copy;
    size_t i;
    for (i = 0; i < p->count; i++)
        if (phi__str_is(path, p->list[i])) return true;
    p->full = p->count == PHI__PROTECTED_MOST;
    if (p->full || !phi__arena_str(p->arena, path, &copy)) return false;
    p->list[p->count++] = copy.at;
    return true;
}

/* Absolute, without links; as it is where that cannot be found out. */
static bool phi__protected_resolved(phi__protected *p, phi_str path) {
#ifndef PHI_NO_FILES
    phi__resolve *r = (phi__resolve *)phi__alloc(p->arena->memory, sizeof *r);
    phi__words words = PHI_ZERO;
    size_t units = SIZE_MAX;
    phi_str copy;
    bool good = r != NULL && phi__arena_str(p->arena, path, &copy);
    if (good && phi__path_resolve_begin(r, NULL, copy.at, &words) == PHI_OK &&
        phi__path_resolve_advance(r, &units, &words) == PHI_OK)
        good = phi__protected_keep(p, phi_str_of(r->out));
    if (r != NULL) phi__free(p->arena->memory, r, sizeof *r);
    if (!good) return false;
#endif
    return phi__protected_keep(p, path);
}

/* A word of a command: relative to the workspace, or to the file's directory. */
static bool phi__protected_word(phi__protected *p, phi_str word) {
    phi__buf joined;
    bool good;
    if (word.len == 0 || word.at[0] == '-' || phi__str_find(word, 0, "://") != SIZE_MAX)
        return true;
    if (memchr(word.at, '/', word.len) == NULL && memchr(word.at, '.', word.len) == NULL)
        return true; /* a program of the PATH, or no file */
    if (word.at[0] == '/') return phi__protected_resolved(p, word);
    if (!phi__protected_keep(p, word)) return false;
    if (word.at[0] == '~') return true;
    phi__buf_init(&joined, p->arena->memory);
    phi__buf_add_str(&joined, p->directory);
    phi__buf_add_str(&joined, word);
    good = !joined.failed && phi__protected_resolved(p, phi__buf_str(&joined));
    phi__buf_free(&joined);
    return good;
}

static bool phi__protected_command(phi__protected *p, phi_str text) {
    size_t i = 0, from;
    while (i < text.len) {
        from = i;
        while (i < text.len && text.at[i] != '\0' &&
               strchr(" \t\n'\"`;|&()<>=,", text.at[i]) == NULL)
            i++;
        if (!phi__protected_word(p, phi__str(text.at + from, i - from))) return false;
        i++;
    }
    return true;
}

/* Texts under keys that name commands; `all`: each text. */
static bool phi__protected_tree(phi__protected *p, const phi_json *node, bool all, unsigned depth) {
    static const char *const keys[] = {"command", "args", "callbacks", "hooks"};
    phi_json_iter it = phi_json_each(node);
    const phi_json *member;
    size_t i;
    if (all && phi_json_is(node, PHI_JSON_STRING))
        return phi__protected_command(p, phi_json_str(node, ""));
    if (depth == PHI__PROTECTED_DEPTH ||
        (!phi_json_is(node, PHI_JSON_OBJECT) && !phi_json_is(node, PHI_JSON_ARRAY)))
        return true;
    while ((member = phi_json_next(&it)) != NULL) {
        bool named = all;
        if (depth == 0 && phi__str_is(it.key, "permissions")) continue; /* patterns, no commands */
        for (i = 0; i < PHI__COUNT(keys); i++) named = named || phi__str_is(it.key, keys[i]);
        if (!phi__protected_tree(p, member, named, depth + 1)) return false;
    }
    return true;
}

/* ---- public ---- */

PHI_API phi_status phi_config_protected_paths(const phi_config *config, phi_arena *arena,
                                              const char *const **out) {
    phi__protected p;
    phi_str path;
    size_t n;
    if (config == NULL || arena == NULL || out == NULL) return PHI_BAD_ARG;
    *out = NULL;
    memset(&p, 0, sizeof p);
    p.arena = arena;
    p.list = (const char **)phi__arena_zero(arena, (PHI__PROTECTED_MOST + 1) * sizeof *p.list);
    if (p.list == NULL) return PHI_NO_MEMORY;
    path = phi_str_of(phi__config_load_path(config));
    for (n = path.len; n > 0 && path.at[n - 1] != '/';) n--;
    p.directory = phi__str(path.at, n);
    if ((path.len > 0 && !phi__protected_resolved(&p, path)) ||
        !phi__protected_tree(&p, phi_config_tree(config), false, 0))
        return p.full ? PHI_TOO_BIG : PHI_NO_MEMORY;
    *out = p.list;
    return PHI_OK;
}
