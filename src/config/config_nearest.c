/* config_nearest.c - how unlike two names are, for "did you mean". */
#include "config/config_in.h"

enum { PHI__CONFIG_NAME_BYTES = 48 };

/* Lower case, without - and _; the length. Names that are too long: 0. */
static size_t phi__config_nearest_fold(phi_str name, char *out) {
    size_t i, n = 0;
    if (name.len > PHI__CONFIG_NAME_BYTES) return 0;
    for (i = 0; i < name.len; i++) {
        char c = name.at[i];
        if (c == '-' || c == '_' || c == ' ') continue;
        out[n++] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
    }
    return n;
}

/* Letters that are added, missing, wrong or swapped with their neighbour. */
static unsigned phi__config_nearest_edits(const char *a, size_t m, const char *b, size_t n) {
    unsigned rows[3][PHI__CONFIG_NAME_BYTES + 1];
    size_t i, j;
    for (j = 0; j <= n; j++) rows[0][j] = (unsigned)j;
    for (i = 1; i <= m; i++) {
        const unsigned *last = rows[(i - 1) % 3], *before = rows[(i + 1) % 3];
        unsigned *row = rows[i % 3];
        row[0] = (unsigned)i;
        for (j = 1; j <= n; j++) {
            unsigned best = last[j - 1] + (a[i - 1] == b[j - 1] ? 0u : 1u);
            if (last[j] + 1 < best) best = last[j] + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                before[j - 2] + 1 < best)
                best = before[j - 2] + 1;
            row[j] = best;
        }
    }
    return rows[m % 3][n];
}

unsigned phi__config_nearest_distance(phi_str a, phi_str b) {
    char x[PHI__CONFIG_NAME_BYTES], y[PHI__CONFIG_NAME_BYTES];
    size_t m = phi__config_nearest_fold(a, x), n = phi__config_nearest_fold(b, y);
    size_t shorter = phi__min(m, n);
    unsigned edits;
    if (m == 0 || n == 0) return PHI__CONFIG_FAR + 1;
    if (phi__max(m, n) - shorter > PHI__CONFIG_FAR)
        /* the beginning of a longer name: temp, max_tok */
        return shorter >= 4 && memcmp(x, y, shorter) == 0 ? PHI__CONFIG_FAR : PHI__CONFIG_FAR + 1;
    edits = phi__config_nearest_edits(x, m, y, n);
    if (edits > (shorter + 1) / 3 && !(shorter >= 4 && memcmp(x, y, shorter) == 0))
        return PHI__CONFIG_FAR + 1;
    return edits;
}
