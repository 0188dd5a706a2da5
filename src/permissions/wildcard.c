/* wildcard.c - patterns with wildcards. */
#include "permissions/wildcard_in.h"

#ifndef PHI_NO_PERMISSIONS

/* Behind the set that begins at `at`; a bracket that is not closed is a plain character: at. */
static size_t phi__wildcard_set_end(phi_str pattern, size_t at) {
    size_t i = at + 1;
    if (i < pattern.len && pattern.at[i] == '!') i++;
    if (i < pattern.len) i++; /* a bracket at first is a member */
    while (i < pattern.len && pattern.at[i] != ']') i++;
    return i < pattern.len ? i + 1 : at;
}

/* `set`: between the brackets. */
static bool phi__wildcard_in_set(phi_str set, char c) {
    bool negative = set.len > 0 && set.at[0] == '!', found = false;
    size_t i = negative ? 1 : 0;
    while (i < set.len) {
        unsigned char low = (unsigned char)set.at[i], high = low;
        if (i + 2 < set.len && set.at[i + 1] == '-') {
            high = (unsigned char)set.at[i + 2];
            i += 2;
        }
        if ((unsigned char)c >= low && (unsigned char)c <= high) found = true;
        i++;
    }
    return found != negative;
}

/* One character at *at of the pattern, not a star, which moves behind it. */
static bool phi__wildcard_one(phi_str pattern, size_t *at, char c, bool path) {
    char p = pattern.at[*at];
    size_t end;
    if (p == '?') {
        (*at)++;
        return !path || c != '/';
    }
    end = p == '[' ? phi__wildcard_set_end(pattern, *at) : *at;
    if (end == *at) {
        (*at)++;
        return p == c;
    }
    p = phi__wildcard_in_set(phi__str(pattern.at + *at + 1, end - *at - 2), c) ? 1 : 0;
    *at = end;
    return p != 0 && (!path || c != '/');
}

/* Where to continue when a character does not match: the last star of each kind. */
typedef struct phi__wildcard_star {
    bool set;
    size_t pattern, text;
} phi__wildcard_star;

static bool phi__wildcard_all(phi_str pattern, phi_str text, bool path) {
    phi__wildcard_star one = {false, 0, 0}, two = {false, 0, 0};
    size_t p = 0, t = 0;
    for (;;) {
        if (p < pattern.len && pattern.at[p] == '*') {
            bool wide = !path || (p + 1 < pattern.len && pattern.at[p + 1] == '*');
            phi__wildcard_star *star = wide ? &two : &one;
            while (p < pattern.len && pattern.at[p] == '*') p++;
            star->set = true;
            star->pattern = p;
            star->text = t;
            if (wide) one.set = false;
            continue;
        }
        if (p == pattern.len && t == text.len) return true;
        if (p < pattern.len && t < text.len && phi__wildcard_one(pattern, &p, text.at[t], path)) {
            t++;
            continue;
        }
        if (one.set && one.text < text.len && text.at[one.text] != '/') {
            t = ++one.text;
            p = one.pattern;
        } else if (two.set && two.text < text.len) {
            one.set = false;
            t = ++two.text;
            p = two.pattern;
        } else
            return false;
    }
}

static bool phi__wildcard_matches(phi_str pattern, phi_str text, bool path) {
    if (phi__wildcard_all(pattern, text, path)) return true;
    return path && pattern.len > 3 && memcmp(pattern.at + pattern.len - 3, "/**", 3) == 0 &&
           phi__wildcard_all(phi__str(pattern.at, pattern.len - 3), text, path);
}

/* ---- for other files ---- */

PHI__FN bool phi__wildcard_next(phi_str *rest, phi_str *alternative) {
    size_t i = 0;
    if (rest->at == NULL) return false;
    while (i < rest->len && rest->at[i] != '|') {
        size_t end = rest->at[i] == '[' ? phi__wildcard_set_end(*rest, i) : i;
        i = end > i ? end : i + 1;
    }
    *alternative = phi__str(rest->at, i);
    *rest = i < rest->len ? phi__str(rest->at + i + 1, rest->len - i - 1) : phi__str(NULL, 0);
    return true;
}

PHI__FN bool phi__wildcard_word(phi_str *rest, phi_str *word) {
    size_t i = 0, end;
    while (i < rest->len && rest->at[i] == ' ') i++;
    end = i;
    while (end < rest->len && rest->at[end] != ' ') {
        size_t set = rest->at[end] == '[' ? phi__wildcard_set_end(*rest, end) : end;
        end = set > end ? set : end + 1;
    }
    *word = phi__str(rest->at + i, end - i);
    *rest = phi__str(rest->at + end, rest->len - end);
    return word->len > 0;
}

PHI__FN bool phi__wildcard_any(phi_str pattern, phi_str text, bool path) {
    phi_str one;
    while (phi__wildcard_next(&pattern, &one))
        if (phi__wildcard_matches(one, text, path)) return true;
    return false;
}

PHI__FN void phi__wildcard_quote(phi__buf *out, phi_str text) {
    size_t i;
    for (i = 0; i < text.len; i++) {
        bool special = strchr("*?[| ", text.at[i]) != NULL;
        if (special) phi__buf_char(out, '[');
        phi__buf_char(out, text.at[i]);
        if (special) phi__buf_char(out, ']');
    }
}

#endif
