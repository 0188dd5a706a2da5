/* glob.c - matching without recursion: only the last star, and the last double star, are ever
   retried, so that a match takes at most the pattern's length times the path's, for each double
   star. */
#include "tools/glob_in.h"

/* A bracket at `p`, which is '['; its end, or NULL where it does not close (then '[' is itself). */
static const char *phi__glob_bracket(const char *p, char c, bool *in) {
    bool not_in = p[1] == '!' || p[1] == '^';
    const char *at = p + (not_in ? 2 : 1), *first = at;
    *in = false;
    for (; *at != '\0' && (*at != ']' || at == first); at++) {
        unsigned char low = (unsigned char)*at, high = low;
        if (at[1] == '-' && at[2] != ']' && at[2] != '\0') {
            high = (unsigned char)at[2];
            at += 2;
        }
        if ((unsigned char)c >= low && (unsigned char)c <= high) *in = true;
    }
    *in = *in != not_in;
    return *at == ']' ? at + 1 : NULL;
}

/* One character of the pattern, no star: where the pattern goes on, or NULL: no match. */
static const char *phi__glob_one(const char *p, char c, bool slashes) {
    const char *end;
    bool in;
    if (*p == '\0') return NULL;
    if (*p == '?') return slashes && c == '/' ? NULL : p + 1;
    if (*p == '[') {
        end = phi__glob_bracket(p, c, &in);
        if (end != NULL) return in && !(slashes && c == '/') ? end : NULL;
    }
    if (*p == '\\' && p[1] != '\0') p++;
    return *p == c ? p + 1 : NULL;
}

/* slashes: a star stops at one. */
static bool phi__glob_run(const char *p, phi_str s, bool slashes) {
    const char *star = NULL, *deep = NULL, *next;
    size_t i = 0, star_at = 0, deep_at = 0;
    for (;;) {
        if (*p == '*') {
            if (slashes && p[1] == '*') {
                while (*p == '*') p++;
                if (*p == '/') p++;
                deep = p;
                deep_at = i;
                star = NULL;
            } else {
                while (*p == '*') p++;
                star = p;
                star_at = i;
            }
            continue;
        }
        if (i == s.len && *p == '\0') return true;
        next = i < s.len ? phi__glob_one(p, s.at[i], slashes) : NULL;
        if (next != NULL) {
            p = next;
            i++;
        } else if (star != NULL && star_at < s.len && !(slashes && s.at[star_at] == '/')) {
            p = star;
            i = ++star_at;
        } else if (deep != NULL && deep_at < s.len) {
            p = deep;
            i = ++deep_at;
            star = NULL;
        } else {
            return false;
        }
    }
}

PHI__FN bool phi__glob_match(const char *pattern, phi_str path) {
    size_t name = path.len;
    if (strchr(pattern, '/') != NULL) {
        if (pattern[0] == '.' && pattern[1] == '/') pattern += 2;
        return phi__glob_run(pattern, path, true);
    }
    while (name > 0 && path.at[name - 1] != '/') name--;
    return phi__glob_run(pattern, phi__str(path.at + name, path.len - name), false);
}
