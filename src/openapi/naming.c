/* naming.c - names for operations. */
#include "openapi/naming_in.h"

#ifndef PHI_NO_OPENAPI

#include "base/sha256_in.h"
#include "wire/hash_in.h"

enum { PHI__NAMING_TAIL = 8 }; /* hex digits behind a name that was cut or taken */

typedef struct phi__naming_name {
    char at[PHI__NAMING_MOST];
    size_t len;
    bool cut, exact; /* exact: the id stands there as it is */
} phi__naming_name;

/* The operations that would have the same name. */
typedef struct phi__naming_group {
    phi_str name;
    size_t count, exact;
} phi__naming_group;

static bool phi__naming_plain(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
}

static void phi__naming_put(phi__naming_name *name, char c) {
    if (name->len == sizeof name->at) {
        name->cut = true;
        return;
    }
    if (!phi__naming_plain(c)) {
        name->exact = false;
        c = '_';
    }
    name->at[name->len++] = c;
}

static void phi__naming_text(phi__naming_name *name, phi_str text) {
    size_t i;
    for (i = 0; i < text.len; i++) phi__naming_put(name, text.at[i]);
}

/* "get_pets_petId" of GET /pets/{petId}. */
static void phi__naming_path(phi__naming_name *name, const phi_openapi_operation *op) {
    bool gap = true;
    size_t i;
    name->exact = false;
    for (i = 0; i < op->method.len; i++)
        phi__naming_put(name, (char)(op->method.at[i] | 0x20)); /* in lower case */
    for (i = 0; i < op->path.len; i++) {
        char c = op->path.at[i];
        if (!phi__naming_plain(c)) {
            gap = true;
            continue;
        }
        if (gap) phi__naming_put(name, '_');
        gap = false;
        phi__naming_put(name, c);
    }
}

static phi__naming_name phi__naming_of(const phi_openapi_operation *op, const char *prefix) {
    phi_str id = op->operation_id;
    phi__naming_name name;
    char first;
    memset(&name, 0, sizeof name);
    name.exact = true;
    if (prefix != NULL) {
        phi__naming_text(&name, phi_str_of(prefix));
        phi__naming_text(&name, PHI__LIT("__"));
        name.exact = true; /* the prefix is the same for all */
    }
    first = name.len > 0 ? name.at[0] : id.len > 0 ? id.at[0] : 'a';
    if (first == '-' || (first >= '0' && first <= '9')) { /* Gemini wants a letter or _ there */
        memmove(name.at + 1, name.at, phi__min(name.len, sizeof name.at - 1));
        name.len = phi__min(name.len + 1, sizeof name.at);
        name.at[0] = '_';
        name.exact = false;
    }
    if (id.len > 0)
        phi__naming_text(&name, id);
    else
        phi__naming_path(&name, op);
    return name;
}

/* Cuts a name so that the tail fits, and adds it. */
static void phi__naming_tail(phi__naming_name *name, const phi_openapi_operation *op,
                             size_t window) {
    unsigned char hash[PHI__SHA256_BYTES];
    char hex[PHI__SHA256_HEX];
    phi__sha256 sha;
    phi__sha256_begin(&sha);
    phi__sha256_add(&sha, op->method.at, op->method.len);
    phi__sha256_add(&sha, " ", 1);
    phi__sha256_add(&sha, op->path.at, op->path.len);
    phi__sha256_end(&sha, hash);
    phi__sha256_hex(hash, hex);
    name->len = phi__min(name->len, (size_t)PHI__NAMING_MOST - (size_t)PHI__NAMING_TAIL - 1);
    name->at[name->len++] = '_';
    memcpy(name->at + name->len, hex + window * PHI__NAMING_TAIL, PHI__NAMING_TAIL);
    name->len += PHI__NAMING_TAIL;
}

static phi__naming_group *phi__naming_find(const phi__map *map, phi_str name) {
    size_t probe = 0;
    phi__naming_group *group;
    while ((group = (phi__naming_group *)phi__map_each(map, phi__hash(name, 0), &probe)) != NULL)
        if (phi_str_equal(group->name, name)) return group;
    return NULL;
}

static phi__naming_group *phi__naming_add(phi__map *map, phi_arena *arena, phi_str name) {
    phi__naming_group *group = phi__naming_find(map, name);
    if (group != NULL) return group;
    if (!phi__map_room(map)) return NULL;
    group = (phi__naming_group *)phi__arena_zero(arena, sizeof *group);
    if (group == NULL || !phi__arena_str(arena, name, &group->name)) return NULL;
    phi__map_add(map, phi__hash(name, 0), group);
    return group;
}

/* Counts who would have which name: one operation. */
static bool phi__naming_count(phi__naming *n, const phi__document_operation *op,
                              const char *prefix) {
    phi__naming_name name = phi__naming_of(&op->shown, prefix);
    phi__naming_group *group;
    if (name.cut) return true;
    group = phi__naming_add(&n->map, &n->scratch, phi__str(name.at, name.len));
    if (group == NULL) return false;
    group->count++;
    group->exact += name.exact;
    return true;
}

/* The name of one operation; a tail that is taken, which takes a document made for it, moves on. */
static bool phi__naming_one(phi__document *doc, phi__document_operation *op, const char *prefix,
                            phi__map *map, phi_arena *scratch) {
    phi__naming_name plain = phi__naming_of(&op->shown, prefix), name = plain;
    phi__naming_group *group =
        plain.cut ? NULL : phi__naming_find(map, phi__str(plain.at, plain.len));
    bool mine = group != NULL && (group->count == 1 || (group->exact == 1 && plain.exact));
    size_t window;
    for (window = 0; !mine && window < (size_t)PHI__SHA256_HEX / (size_t)PHI__NAMING_TAIL;
         window++) {
        name = plain;
        phi__naming_tail(&name, &op->shown, window);
        group = phi__naming_add(map, scratch, phi__str(name.at, name.len));
        if (group == NULL) return false;
        mine = group->count++ == 0;
    }
    if (!mine) op->skip = "its name is taken";
    return phi__arena_str(&doc->arena, phi__str(name.at, name.len), &op->shown.name);
}

static bool phi__naming_begin(phi__naming *n, const phi__document *doc) {
    if (n->begun) return true;
    n->begun = true;
    phi_arena_init(&n->scratch, doc->memory, 0);
    phi__map_init(&n->map, doc->memory);
    return phi__map_reserve(&n->map, doc->count);
}

PHI__FN phi_status phi__naming_advance(phi__naming *n, phi__document *doc, const char *prefix,
                                       bool skip_unnamed, size_t count) {
    if (!phi__naming_begin(n, doc)) return PHI_NO_MEMORY;
    for (; count > 0 && n->at < doc->count; count--, n->at++) {
        phi__document_operation *op = &doc->operations[n->at];
        bool fine;
        if (!n->counted)
            fine = phi__naming_count(n, op, prefix);
        else {
            if (skip_unnamed && op->shown.operation_id.len == 0 && op->skip == NULL)
                op->skip = "it has no operationId";
            fine = phi__naming_one(doc, op, prefix, &n->map, &n->scratch);
        }
        if (!fine) return PHI_NO_MEMORY;
    }
    if (n->at < doc->count) return PHI_BUSY;
    if (n->counted) return PHI_OK;
    n->counted = true;
    n->at = 0;
    return PHI_BUSY;
}

PHI__FN void phi__naming_end(phi__naming *n) {
    if (!n->begun) return;
    phi__map_free(&n->map);
    phi_arena_free(&n->scratch);
    n->begun = false;
}

#endif
