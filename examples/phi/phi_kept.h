/* phi_kept.h - rules that the answer "always" has added, for later runs: phi/allowed next to phi/trusted. Each line has
   the directory where the answer was given, a tab, and the rules as JSON. Copy what you need of it. */
#ifndef PHI_KEPT_H
#define PHI_KEPT_H

#include "phi_tools.h"

#include "phi_calls.h"
#include "phi_trusted.h"

enum { KEPT_TOLD = 32 };

/* Zero to begin with; until kept_open nothing is kept. */
typedef struct kept {
    char here[PLACES_PATH];
    phi_permissions *told[KEPT_TOLD]; /* have the rules already */
    size_t told_count;
} kept;

/* directory NULL: the working directory. One whose name cannot be in a line keeps nothing. */
static inline void kept_open(kept *k, const char *directory) {
    const char *c = k->here;
    if (directory != NULL)
        (void)snprintf(k->here, sizeof k->here, "%s", directory);
    else if (!places_here(k->here, sizeof k->here))
        k->here[0] = '\0';
    while (*c != '\0' && (unsigned char)*c >= 32) c++;
    if (*c != '\0') k->here[0] = '\0';
}

/* The next line from *at on, whole in *line. True: it is of this directory, and *json has its rules. */
static inline bool kept_line(const kept *k, const text *all, size_t *at, phi_str *line,
                             phi_str *json) {
    size_t from = *at, n = strlen(k->here);
    while (*at < all->len && all->at[*at] != '\n') ++*at;
    if (*at < all->len) ++*at;
    line->at = all->at + from, line->len = *at - from;
    if (n == 0 || line->len < n + 3 || memcmp(line->at, k->here, n) != 0 || line->at[n] != '\t')
        return false;
    json->at = line->at + n + 1, json->len = line->len - n - 2;
    return line->at[line->len - 1] == '\n';
}

/* Reads the rules of a line. False: they are no rules, or rules of another kind than "always" adds. */
static inline bool kept_rules(phi_str json, phi_arena *arena, phi_permission_rules *out) {
    size_t i;
    if (phi_permissions_from_json(json, arena, out, NULL) != PHI_OK) return false;
    for (i = 0; i < out->count; i++)
        if (out->rules[i].verdict != PHI_PERMISSION_ALLOW) return false;
    return out->count > 0;
}

/* Gives permissions the rules that are kept, once. Rules that deny what they do not name stay as they are. */
static inline void kept_into(kept *k, phi_permissions *permissions, phi_arena *arena) {
    text place = {NULL, 0, 0}, all = {NULL, 0, 0};
    phi_arena_mark mark = phi_arena_save(arena);
    phi_permission_rules rules;
    phi_str line, json;
    size_t i, at = 0;
    for (i = 0; i < k->told_count; i++)
        if (k->told[i] == permissions) return;
    if (permissions == NULL || k->here[0] == '\0' || k->told_count == KEPT_TOLD) return;
    k->told[k->told_count++] = permissions;
    if (phi_permissions_rules(permissions)->otherwise != PHI_PERMISSION_ASK) return;
    (void)trust_read("allowed", &place, &all);
    while (at < all.len)
        if (kept_line(k, &all, &at, &line, &json) && kept_rules(json, arena, &rules))
            (void)phi_permissions_add(permissions, rules.rules, rules.count);
    phi_arena_reset(arena, mark);
    free(place.at);
    free(all.at);
}

/* The rules as JSON in one line. */
static inline bool kept_json(const phi_permission_rules *rules, phi_arena *arena, phi_str *out) {
    phi_json *tree;
    return phi_permissions_to_json(rules, arena, out) == PHI_OK &&
           phi_json_parse(arena, *out, 0, &tree, NULL) == PHI_OK &&
           phi_json_write(arena, tree, 0, out) == PHI_OK;
}

/* Keeps rules. False: that did not work. */
static inline bool kept_add(const kept *k, const phi_permission_rules *rules, phi_arena *arena) {
    text place = {NULL, 0, 0}, all = {NULL, 0, 0}, added = {NULL, 0, 0};
    phi_arena_mark mark = phi_arena_save(arena);
    phi_str json = PHI_ZERO, line, old;
    size_t at = 0;
    bool done = false;
    if (k->here[0] != '\0' && kept_json(rules, arena, &json) &&
        trust_read("allowed", &place, &all)) {
        text_print(&added, "%s\t%.*s\n", k->here, PHI_ARG(json));
        while (at < all.len && !done)
            done = kept_line(k, &all, &at, &line, &old) && phi_str_equal(line, text_str(&added));
        if (!done && all.len > 0 && all.len < TRUST_BYTES && all.at[all.len - 1] == '\n') {
            done = places_append(place.at, &added); /* another phi may add one, too */
        } else if (!done && all.len < TRUST_BYTES) {
            if (all.len > 0) text_say(&all, "\n"); /* its last line is torn */
            text_add(&all, added.at, added.len);
            done = places_write(place.at, &all);
        }
    }
    phi_arena_reset(arena, mark);
    free(place.at);
    free(all.at);
    free(added.at);
    return done;
}

/* Adds a row for each answer that is kept here, with its number. How many. */
static inline int kept_list(const kept *k, phi_arena *arena, text *out) {
    text place = {NULL, 0, 0}, all = {NULL, 0, 0}, row = {NULL, 0, 0};
    phi_permission_rules rules;
    phi_str line, json;
    size_t at = 0, i;
    int count = 0;
    (void)trust_read("allowed", &place, &all);
    while (at < all.len) {
        if (!kept_line(k, &all, &at, &line, &json) || !kept_rules(json, arena, &rules)) continue;
        row.len = 0;
        for (i = 0; i < rules.count; i++) {
            if (i > 0) text_say(&row, "; ");
            calls_rule(&row, &rules.rules[i]);
        }
        text_print(out, "%s%d. ", count > 0 ? "\n" : "", count + 1);
        text_fit(out, text_str(&row), 200);
        count++;
    }
    free(place.at);
    free(all.at);
    free(row.at);
    return count;
}

static inline bool kept_same(const phi_permission_rule *a, const phi_permission_rule *b,
                             phi_arena *arena) {
    phi_permission_rules one = {a, 1, PHI_PERMISSION_ASK}, other = {b, 1, PHI_PERMISSION_ASK};
    phi_str first, second;
    return phi_permissions_to_json(&one, arena, &first) == PHI_OK &&
           phi_permissions_to_json(&other, arena, &second) == PHI_OK &&
           phi_str_equal(first, second);
}

/* Takes rules out of permissions. */
static inline void kept_take(phi_permissions *permissions, const phi_permission_rules *gone,
                             phi_arena *arena) {
    const phi_permission_rules *now = phi_permissions_rules(permissions);
    phi_permission_rules left = *now;
    phi_permission_rule *rules =
        (phi_permission_rule *)phi_arena_alloc(arena, now->count * sizeof *rules + 1);
    size_t i, g;
    left.rules = rules, left.count = 0;
    for (i = 0; rules != NULL && i < now->count; i++) {
        for (g = 0; g < gone->count; g++)
            if (kept_same(&now->rules[i], &gone->rules[g], arena)) break;
        if (g == gone->count) rules[left.count++] = now->rules[i];
    }
    if (rules != NULL) (void)phi_permissions_set(permissions, &left);
}

/* Takes back the answer with that number, from 1, also from the permissions that have its rules. False: there is none, or
   the file cannot be written. */
static inline bool kept_forget(const kept *k, int number, phi_arena *arena) {
    text place = {NULL, 0, 0}, all = {NULL, 0, 0}, left = {NULL, 0, 0};
    phi_permission_rules rules, gone = PHI_ZERO;
    phi_str line, json;
    size_t at = 0, i;
    bool done;
    (void)trust_read("allowed", &place, &all);
    while (at < all.len) {
        bool mine = kept_line(k, &all, &at, &line, &json) && kept_rules(json, arena, &rules);
        if (mine && --number == 0)
            gone = rules;
        else
            text_add(&left, line.at, line.len);
    }
    if (left.at == NULL) text_say(&left, "");
    done = gone.count > 0 && places_write(place.at, &left);
    for (i = 0; done && i < k->told_count; i++) kept_take(k->told[i], &gone, arena);
    free(place.at);
    free(all.at);
    free(left.at);
    return done;
}

#endif
