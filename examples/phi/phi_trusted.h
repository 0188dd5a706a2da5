/* phi_trusted.h - what the user's configuration directory says of found files: phi/trusted, their paths and hashes, and
   phi/servers, which may get keys. Copy what you need of it. */
#ifndef PHI_TRUSTED_H
#define PHI_TRUSTED_H

#include "phi_hash.h"
#include "phi_places.h"
#include "../pick_model.h"

enum {
    TRUST_BYTES = 1 << 20,
    TRUST_LINES = 200,
    TRUST_VALUE = 2000,
    TRUST_NAMES = 32,
    TRUST_DEEP = 16
};

/* Zero to begin with. */
typedef struct trust {
    text file;    /* its bytes: what was shown is what is used */
    text shown;   /* what it says, a line for each value */
    text servers; /* lines of phi/servers */
    char hash[65], path[PLACES_PATH];
    const char *why;               /* it cannot be shown; NULL: it can */
    bool unknown_address;          /* the file has an address that the user has not named */
    char refused[TRUST_NAMES][64]; /* variables that stand where none may */
    size_t refused_count;
} trust;

/* True if a value is the key of a model: that of an environment, a request or an OpenAPI document is none. */
static inline bool trust_takes_key(const char *place) {
    static const char *const tables[] = {"provider.", "provider.instances[",
                                         "sub_agents.instances["};
    size_t i, n;
    for (i = 0; i < sizeof tables / sizeof *tables; i++) {
        n = strlen(tables[i]);
        if (strncmp(place, tables[i], n) != 0) continue;
        if (i > 0) n += strspn(place + n, "0123456789");
        if (strcmp(place + n, i > 0 ? "].api_key" : "api_key") == 0) return true;
    }
    return false;
}

/* ---- addresses ---- */

/* "https://host:port" of an address; empty: it is none. */
static inline phi_str trust_origin(phi_str address) {
    size_t i = 0, n;
    while (i + 2 < address.len && memcmp(address.at + i, "://", 3) != 0) i++;
    for (n = i + 3; n < address.len && strchr("/?# \t\r\n", address.at[n]) == NULL; n++) {}
    address.len = i + 2 < address.len && n > i + 3 ? n : 0;
    return address;
}

static inline bool trust_same(phi_str origin, const char *address) {
    return address != NULL && origin.len > 0 &&
           phi_str_equal(origin, trust_origin(phi_str_of(address)));
}

static inline bool trust_knows(const trust *t, phi_str origin) {
    size_t i, from = 0;
    if (trust_same(origin, pick_env("PHI_BASE_URL"))) return true;
    for (i = 0; i < PICK_PRESETS; i++)
        if (trust_same(origin, pick_make(&pick_presets[i], "x", "x").base_url)) return true;
    for (i = 0; i <= t->servers.len; i++) {
        phi_str line = {t->servers.at + from, i - from};
        if (i < t->servers.len && t->servers.at[i] != '\n') continue;
        if (line.len > 0 && phi_str_equal(origin, trust_origin(line))) return true;
        from = i + 1;
    }
    return false;
}

/* ---- who is trusted ---- */

/* phi/NAME of the user's configuration directory; makes the directory. */
static inline bool trust_place(const char *name, text *out) {
    out->len = 0;
    if (!places_settings(out)) return false;
    text_print(out, "/%s", name);
    return true;
}

/* Reads phi/NAME; there may be none. False: there is one that cannot be read, or that others can write, or a link: it must
   not be replaced. */
static inline bool trust_read(const char *name, text *place, text *all) {
    if (!trust_place(name, place)) return false;
    if (places_read(place->at, true, TRUST_BYTES, all)) return true;
    all->len = 0;
    return !places_is_file(place->at, false);
}

/* True if its path and hash are kept; with `keeps`: writes them, instead of an older hash of that path. */
static inline bool trust_kept(const trust *t, bool keeps) {
    text place = {NULL, 0, 0}, old = {NULL, 0, 0}, line = {NULL, 0, 0}, all = {NULL, 0, 0};
    size_t i, from = 0;
    bool found = false, done = false, good = trust_read("trusted", &place, &old);
    text_print(&line, "%s %s\n", t->hash, t->path);
    for (i = 0; i < old.len; i++) {
        if (old.at[i] != '\n') continue;
        if (i + 1 - from == line.len && memcmp(old.at + from, line.at, line.len) == 0)
            found = true;
        else if (i + 1 - from != line.len ||
                 memcmp(old.at + from + 64, line.at + 64, line.len - 64) != 0)
            text_add(&all, old.at + from, i + 1 - from);
        from = i + 1;
    }
    if (keeps && !found && good) {
        text_add(&all, line.at, line.len);
        done = places_write(place.at, &all);
    }
    free(place.at);
    free(old.at);
    free(line.at);
    free(all.at);
    return found || done;
}

#endif
