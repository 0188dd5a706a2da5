/* tool_name.c - names of tools within the rules of every provider. */
#include "tools/match_in.h"

#include "base/base_in.h"
#include "wire/wire_in.h"

enum { PHI__TOOL_NAME_TAIL = 8 }; /* hex digits at the end of a name that was cut or is shared */

/* The tools that ask for the same name. */
typedef struct phi__tool_name_group {
    phi_str name;
    size_t count, exact;
} phi__tool_name_group;

PHI__FN bool phi__tool_name_plain(char c) { return phi__is_alnum(c) || c == '_' || c == '-'; }

PHI__FN void phi__tool_name_put(phi__tool_name *name, char c) {
    if (name->len == sizeof name->at) {
        name->cut = true;
        return;
    }
    if (!phi__tool_name_plain(c)) {
        name->exact = false;
        c = '_';
    }
    name->at[name->len++] = c;
}

PHI__FN void phi__tool_name_text(phi__tool_name *name, phi_str text) {
    for (size_t i = 0; i < text.len; i++) phi__tool_name_put(name, text.at[i]);
}

PHI__FN void phi__tool_name_begin(phi__tool_name *name, const char *prefix, char first) {
    memset(name, 0, sizeof *name);
    if (prefix != NULL) {
        phi__tool_name_text(name, phi_str_of(prefix));
        phi__tool_name_text(name, PHI__LIT("__"));
    }
    name->exact = true; /* the prefix does not matter: all tools have it */
    if (name->len > 0) first = name->at[0];
    if (first == '-' || phi__is_digit(first)) { /* Gemini needs a letter or "_" first */
        memmove(name->at + 1, name->at, phi__min(name->len, sizeof name->at - 1));
        name->len = phi__min(name->len + 1, sizeof name->at);
        name->at[0] = '_';
        name->exact = false;
    }
}

static phi__tool_name_group *phi__tool_name_find(const phi__map *map, phi_str name) {
    size_t probe = 0;
    phi__tool_name_group *group;
    while ((group = (phi__tool_name_group *)phi__map_each(map, phi__hash(name, 0), &probe)) != NULL)
        if (phi_str_equal(group->name, name)) return group;
    return NULL;
}

static phi__tool_name_group *phi__tool_name_group_of(phi__tool_names *names, phi_str name) {
    phi__tool_name_group *group = phi__tool_name_find(&names->map, name);
    if (group != NULL) return group;
    if (!phi__map_room(&names->map)) return NULL;
    group = (phi__tool_name_group *)phi__arena_zero(&names->scratch, sizeof *group);
    if (group == NULL || !phi__arena_str(&names->scratch, name, &group->name)) return NULL;
    phi__map_add(&names->map, phi__hash(name, 0), group);
    return group;
}

PHI__FN bool phi__tool_name_count(phi__tool_names *names, const phi__tool_name *name) {
    if (name->cut) return true;
    phi__tool_name_group *group = phi__tool_name_group_of(names, phi__str(name->at, name->len));
    if (group == NULL) return false;
    group->count++;
    group->exact += name->exact;
    return true;
}

PHI__FN phi_status phi__tool_name_claim(phi__tool_names *names, phi__tool_name *name,
                                        const unsigned char hash[32]) {
    phi__tool_name plain = *name;
    phi__tool_name_group *group =
        plain.cut ? NULL : phi__tool_name_find(&names->map, phi__str(plain.at, plain.len));
    char hex[PHI__SHA256_HEX];
    if (group != NULL && (group->count == 1 || (group->exact == 1 && plain.exact))) return PHI_OK;
    phi__sha256_hex(hash, hex);
    for (size_t window = 0; window < (size_t)PHI__SHA256_HEX / (size_t)PHI__TOOL_NAME_TAIL;
         window++) {
        *name = plain;
        /* Cut the name so that the digits fit, and append them. */
        name->len =
            phi__min(name->len, (size_t)PHI__TOOL_NAME_MOST - (size_t)PHI__TOOL_NAME_TAIL - 1);
        name->at[name->len++] = '_';
        memcpy(name->at + name->len, hex + window * PHI__TOOL_NAME_TAIL, PHI__TOOL_NAME_TAIL);
        name->len += PHI__TOOL_NAME_TAIL;
        group = phi__tool_name_group_of(names, phi__str(name->at, name->len));
        if (group == NULL) return PHI_NO_MEMORY;
        if (group->count++ == 0) return PHI_OK;
    }
    return PHI_FULL;
}

PHI__FN bool phi__tool_name_reserve(phi__tool_names *names, size_t count) {
    return phi__map_reserve(&names->map, count);
}

PHI__FN void phi__tool_name_init(phi__tool_names *names, phi_memory *memory) {
    phi_arena_init(&names->scratch, memory, 0);
    phi__map_init(&names->map, memory);
}

PHI__FN void phi__tool_name_free(phi__tool_names *names) {
    phi__map_free(&names->map);
    phi_arena_free(&names->scratch);
}
