/* phi_trust.h - the phi.toml of a directory: it may be a stranger's, so a person sees what it says before it is used.

   It is shown and asked about once: a "yes" is kept by its path and hash in phi/trusted of the user's configuration
   directory. Trusted or not, variables reach only what the user has named: a model's api_key where every address in the
   file is a preset's, PHI_BASE_URL's, or a line of phi/servers of that directory. Copy what you need of it. */
#ifndef PHI_TRUST_H
#define PHI_TRUST_H

#include "phi_tools.h"

#include "phi_keys.h"
#include "phi_marked.h"
#include "phi_trusted.h"

#include <ctype.h>

/* ---- what it says ---- */

static inline void trust_refuse(trust *t, const char *name, size_t n) {
    char *to;
    if (t->refused_count == TRUST_NAMES || n >= sizeof t->refused[0]) {
        t->unknown_address = true; /* then none is given */
        return;
    }
    to = t->refused[t->refused_count++];
    memcpy(to, name, n);
    to[n] = '\0';
}

/* A variable at the beginning of an address, whose value is one, names a server for the user. The length of "${NAME}"; 0: it is
   none. */
static inline size_t trust_leads(phi_str value, const char **address) {
    char name[64];
    const char *end = value.len > 3 ? (const char *)memchr(value.at, '}', value.len) : NULL;
    size_t n = end != NULL && memcmp(value.at, "${", 2) == 0 ? (size_t)(end - value.at) - 2 : 0;
    if (n == 0 || n >= sizeof name) return 0;
    memcpy(name, value.at + 2, n);
    name[n] = '\0';
    *address = pick_env(name);
    if (*address == NULL || trust_origin(phi_str_of(*address)).len == 0) return 0;
    return n + 3;
}

static inline void trust_variables(trust *t, const char *place, phi_str value, size_t from) {
    static const char *const plain[] = {"HOME", "USER", "PWD"};
    size_t i, n, p;
    for (i = from; i + 1 < value.len; i++) {
        const char *name = value.at + i + 2;
        if (memcmp(value.at + i, "${", 2) != 0) continue;
        for (n = 0; i + 2 + n < value.len && strchr(":}", name[n]) == NULL; n++) {}
        for (p = 0; p < 3; p++)
            if (strlen(plain[p]) == n && memcmp(plain[p], name, n) == 0) break;
        if (p == 3 && !trust_takes_key(place)) trust_refuse(t, name, n);
    }
}

static inline void trust_value(trust *t, phi_str key, const char *place, phi_str value) {
    static const char *const prose[] = {"system_prompt", "prompt", "description", "reason"};
    const char *address = NULL;
    bool names = phi_str_is(key, "base_url") || phi_str_is(key, "url");
    size_t lead = names ? trust_leads(value, &address) : 0,
           i; /* elsewhere it may have a password */
    text whole = {NULL, 0, 0};
    for (i = 0; i < sizeof prose / sizeof *prose; i++)
        if (phi_str_equal(key, phi_str_of(prose[i]))) break;
    if (lead > 0) {
        text_say(&whole, address);
        text_add(&whole, value.at + lead, value.len - lead);
        if (!trust_same(trust_origin(text_str(&whole)), address)) t->unknown_address = true;
    } else if (i == sizeof prose / sizeof *prose && (names || trust_origin(value).len > 0))
        t->unknown_address |= !trust_knows(t, trust_origin(value));
    trust_variables(t, place, value, lead);
    free(whole.at);
}

/* A key as the file may have it: no key looks like the keys of two tables, or like two lines. */
static inline void trust_key(text *out, phi_str key) {
    size_t i;
    bool bare = key.len > 0;
    for (i = 0; i < key.len && bare; i++)
        bare = strchr("-_", key.at[i]) != NULL || isalnum((unsigned char)key.at[i]) != 0;
    if (bare) {
        text_add(out, key.at, key.len);
        return;
    }
    text_say(out, "\"");
    for (i = 0; i < key.len; i++)
        if ((unsigned char)key.at[i] < 32 || key.at[i] == '"' || key.at[i] == '\\')
            text_print(out, "\\u%04X", (unsigned)(unsigned char)key.at[i]);
        else
            text_add(out, key.at + i, 1);
    text_say(out, "\"");
}

/* A line for each value, and what its addresses and variables mean. */
static inline void trust_walk(trust *t, const phi_json *node, phi_str key, const char *place,
                              phi_arena *arena, int deep) {
    phi_json_iter it = phi_json_each(node);
    bool inner = phi_json_is(node, PHI_JSON_OBJECT) || phi_json_is(node, PHI_JSON_ARRAY),
         is_array = phi_json_is(node, PHI_JSON_ARRAY);
    phi_json *each;
    text name = {NULL, 0, 0};
    phi_str value = PHI_ZERO;
    unsigned index = 0;
    if (deep > TRUST_DEEP) t->why = "its tables are too deep to be shown";
    while (inner && t->why == NULL && (each = phi_json_next(&it)) != NULL) {
        name.len = 0;
        if (is_array)
            text_print(&name, "%s[%u]", place, index++);
        else {
            text_print(&name, "%s%s", place, place[0] != '\0' ? "." : "");
            trust_key(&name, it.key);
        }
        trust_walk(t, each, is_array ? key : it.key, name.at, arena, deep + 1);
    }
    free(name.at);
    if ((inner && (phi_json_count(node) > 0 || place[0] == '\0')) || t->why != NULL) return;
    if (phi_json_is(node, PHI_JSON_STRING)) trust_value(t, key, place, phi_json_str(node, ""));
    if (phi_json_write(arena, node, 0, &value) != PHI_OK) t->why = "there is no memory to show it";
    if (value.len > TRUST_VALUE || strlen(place) > TRUST_VALUE)
        t->why = "a value is too long to be shown";
    if (t->shown.len > 0) text_say(&t->shown, "\n");
    text_strict(&t->shown, phi_str_of(place));
    text_say(&t->shown, " = ");
    text_strict(&t->shown, value);
    if (marked_count(&t->shown) > TRUST_LINES) t->why = "it is too long to be shown";
}

/* For phi_config_desc.variable_fn. */
static inline const char *trust_variable(void *user_data, const char *name) {
    static const char *const plain[] = {"HOME", "USER", "PWD"};
    const trust *t = (const trust *)user_data;
    size_t i;
    for (i = 0; i < 3; i++)
        if (strcmp(name, plain[i]) == 0) return getenv(name);
    for (i = 0; i < t->refused_count; i++)
        if (strcmp(name, t->refused[i]) == 0) return NULL;
    return t->unknown_address ? NULL : getenv(name);
}

/* Reads it. False: it cannot be shown, and t->why says why. */
static inline bool trust_open(trust *t, const char *path, phi_arena *arena) {
    text place = {NULL, 0, 0};
    phi_json *root = NULL;
    const char *c;
    if (!places_read(path, false, TRUST_BYTES, &t->file) || !places_whole(path, t->path))
        t->why = "it cannot be read";
    else if (t->file.len > TRUST_BYTES)
        t->why = "it is too long to be shown";
    for (c = t->path; *c != '\0'; c++)
        if ((unsigned char)*c < 32) t->why = "its path cannot be shown";
    if (trust_place("servers", &place)) (void)places_read(place.at, true, TRUST_BYTES, &t->servers);
    free(place.at);
    if (t->why != NULL) return false;
    hash_text(text_str(&t->file), t->hash);
    if (phi_toml_parse(arena, text_str(&t->file), NULL, &root, NULL) != PHI_OK)
        t->why = "it is not TOML";
    else
        trust_walk(t, root, phi_str_of(""), "", arena, 0);
    return t->why == NULL;
}

/* Shows it on stderr, and reads a word and Enter: 1: "yes"; 0: something else; -1: it is to be shown again. */
static inline int trust_ask(const trust *t, int columns, int window, typed *in) {
    text rows = {NULL, 0, 0};
    char word[64] = "";
    int got = 0;
    marked_wrap(&rows, &t->shown, columns);
    (void)fprintf(stderr, "./phi.toml is used for the first time as it is now. It says:\n%s\n",
                  rows.at);
    if (marked_count(&rows) > window - 4)
        (void)fprintf(stderr, "These are %d rows: scroll back to the first.\n",
                      marked_count(&rows));
    if (t->unknown_address)
        (void)fputs("It gets no keys: you have not named that server.\n", stderr);
    (void)fputs("It may start programs, allow calls and send what you type. ", stderr);
    keys_forget(); /* typed before it was shown */
    (void)fputs("Trust it? yes or no: ", stderr);
    while (got == 0 && !keys_signal && !keys_resized) {
        (void)keys_waits(200);
        if (!keys_resized) got = typed_line(in, word, sizeof word);
    }
    free(rows.at);
    if (got == 0 && keys_resized && !keys_signal) return (void)fputs("\n", stderr), -1;
    return got > 0 && !keys_signal && strcmp(word, "yes") == 0 ? 1 : 0;
}

static inline void trust_free(trust *t) {
    free(t->file.at);
    free(t->shown.at);
    free(t->servers.at);
}

#endif
