/* options.c - options of a command against those that a rule names. */
#include "permissions/rules_in.h"

#include "permissions/wildcard_in.h"

enum { PHI__OPTIONS_GLUED_MOST = 62 }; /* bytes of a value that is glued to its letter */

static bool phi__options_any(const char *options, phi_str text) {
    return phi__wildcard_any(phi_str_of(options), text, false);
}

/* "-xVALUE" by an alternative that ends in a star. */
static bool phi__options_valued(const char *options, phi_str text) {
    phi_str rest = phi_str_of(options), one;
    while (phi__wildcard_next(&rest, &one))
        if (one.len > 0 && one.at[one.len - 1] == '*' && phi__wildcard_any(one, text, false))
            return true;
    return false;
}

/* Several letters in one word, the last perhaps with its value. */
static bool phi__options_cluster(const char *options, phi_str text) {
    char word[PHI__OPTIONS_GLUED_MOST + 2];
    size_t i;
    if (text.len - 1 > PHI__OPTIONS_GLUED_MOST) return false;
    word[0] = '-';
    for (i = 1; i < text.len; i++) {
        memcpy(word + 1, text.at + i, text.len - i);
        if (phi__options_valued(options, phi__str(word, text.len - i + 1))) return true;
        if (!phi__options_any(options, phi__str(word, 2))) return false;
    }
    return true;
}

/* Whether the shell may make an option of a word that is not known, or several words. */
static bool phi__options_uncertain(phi_str text) {
    size_t i;
    if (text.len == 0 || strchr("-*?[", text.at[0]) != NULL) return true;
    if (phi__str_find(text, 0, "**") != SIZE_MAX) return true; /* the files of a find: anywhere */
    for (i = 0; i < text.len; i++)
        if (text.at[i] == '\0' || strchr("$`({<>", text.at[i]) != NULL) return true;
    return false;
}

PHI__FN bool phi__options_named(const phi__shell_command *c, const char *options) {
    size_t i;
    for (i = 1; i < c->count; i++) {
        phi_str text = c->words[i].text;
        if (!c->words[i].known && phi__options_uncertain(text)) return false;
        if (text.len < 2 || text.at[0] != '-' || phi__str_is(text, "--")) continue;
        if (phi__options_any(options, text)) continue;
        if (text.at[1] == '-' || !phi__options_cluster(options, text)) return false;
    }
    return true;
}

PHI__FN bool phi__options_valued_by(phi_str text, phi_str option) {
    return phi__str_starts(option, "--") && text.len > option.len && text.at[option.len] == '=' &&
           memcmp(text.at, option.at, option.len) == 0;
}

PHI__FN bool phi__options_short_for(phi_str text, phi_str option) {
    const char *value = text.len > 0 ? (const char *)memchr(text.at, '=', text.len) : NULL;
    size_t n = value != NULL ? (size_t)(value - text.at) : text.len;
    return n > 2 && n < option.len && memcmp(text.at, "--", 2) == 0 &&
           memcmp(text.at, option.at, n) == 0;
}
