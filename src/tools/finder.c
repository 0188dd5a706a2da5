/* finder.c - the search, resumable at every byte. */
#include "tools/finder_in.h"

PHI__FN bool phi__finder_begin(phi__finder *finder, phi_memory *memory, phi_str needle,
                               phi_str text, size_t most) {
    phi__finder_end(finder);
    if (needle.len == 0 || needle.len >= UINT32_MAX / sizeof(uint32_t)) return false;
    finder->memory = memory;
    finder->needle = needle;
    finder->text = text;
    finder->most = most;
    if (needle.len > text.len) { /* nothing to build a table for */
        finder->built = needle.len;
        finder->at = text.len;
        return true;
    }
    finder->back = (uint32_t *)phi__realloc(memory, NULL, 0, needle.len * sizeof(uint32_t));
    if (finder->back == NULL) return false;
    finder->back[0] = 0;
    finder->built = 1;
    return true;
}

/* How far the needle still matches when `c` comes after `matched` bytes of it. */
static size_t phi__finder_next(const phi__finder *finder, size_t matched, char c) {
    while (matched > 0 && finder->needle.at[matched] != c) matched = finder->back[matched - 1];
    return finder->needle.at[matched] == c ? matched + 1 : 0;
}

static void phi__finder_build(phi__finder *finder, size_t units) {
    for (; units > 0 && finder->built < finder->needle.len; units--) {
        finder->matched =
            phi__finder_next(finder, finder->matched, finder->needle.at[finder->built]);
        finder->back[finder->built++] = (uint32_t)finder->matched;
    }
    if (finder->built == finder->needle.len) finder->matched = 0;
}

PHI__FN bool phi__finder_advance(phi__finder *finder, size_t units) {
    size_t end;
    if (finder->built < finder->needle.len) {
        phi__finder_build(finder, units);
        return false;
    }
    end = finder->text.len - finder->at > units ? finder->at + units : finder->text.len;
    while (finder->at < end && finder->found < finder->most) {
        if (finder->matched == 0) { /* the common case: nothing begun, skip to what may begin */
            const void *next =
                memchr(finder->text.at + finder->at, finder->needle.at[0], end - finder->at);
            if (next == NULL) {
                finder->at = end;
                break;
            }
            finder->at = (size_t)((const char *)next - finder->text.at);
        }
        finder->matched = phi__finder_next(finder, finder->matched, finder->text.at[finder->at++]);
        if (finder->matched < finder->needle.len) continue;
        if (finder->found++ == 0) finder->first = finder->at - finder->needle.len;
        finder->matched = 0;
    }
    return finder->at == finder->text.len || finder->found == finder->most;
}

PHI__FN void phi__finder_end(phi__finder *finder) {
    if (finder->back != NULL)
        phi__free(finder->memory, finder->back, finder->needle.len * sizeof(uint32_t));
    memset(finder, 0, sizeof *finder);
}
