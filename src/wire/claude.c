/* claude.c - the table of Claude models; wire.md part 2, as of November 2026. */
#include "wire/claude_in.h"

typedef struct phi__claude_row {
    const char *family; /* "" for all */
    uint32_t from, to;  /* versions, both included */
    phi__claude is;     /* version is filled in */
} phi__claude_row;

/* The first row that fits decides. */
static const phi__claude_row phi__claude_rows[] = {
    {"fable", 500, 999, {0, true, true, true, PHI__CLAUDE_OFF_CANNOT, 128000}},
    {"opus", 505, 505, {0, true, true, true, PHI__CLAUDE_OFF_CANNOT, 128000}},
    {"sonnet", 505, 505, {0, true, true, false, PHI__CLAUDE_OFF_BETWEEN, 128000}},
    {"", 500, 9999, {0, true, true, false, PHI__CLAUDE_OFF_DISABLED, 128000}},
    {"", 407, 499, {0, true, true, false, PHI__CLAUDE_OFF_OMIT, 128000}},
    {"", 406, 406, {0, true, false, false, PHI__CLAUDE_OFF_OMIT, 128000}},
    {"opus", 400, 401, {0, false, false, false, PHI__CLAUDE_OFF_OMIT, 32000}},
    {"", 307, 405, {0, false, false, false, PHI__CLAUDE_OFF_OMIT, 64000}},
    {"", 305, 306, {0, false, false, false, PHI__CLAUDE_OFF_OMIT, 8192}},
    {"", 1, 304, {0, false, false, false, PHI__CLAUDE_OFF_OMIT, 4096}},
};

static bool phi__claude_digit(phi_str s, size_t at) {
    return at < s.len && s.at[at] >= '0' && s.at[at] <= '9';
}

/* A number of one or two digits at *at, which moves on; a longer one is a date and no version. */
static bool phi__claude_number(phi_str s, size_t *at, uint32_t *out) {
    size_t i = *at;
    uint32_t n = 0;
    while (phi__claude_digit(s, i) && i - *at < 3) n = n * 10 + (uint32_t)(s.at[i++] - '0');
    if (i == *at || i - *at > 2) return false;
    *at = i;
    *out = n;
    return true;
}

/* The version in "4-6-20260101", "3-7-sonnet", "4.5" or "4". */
static uint32_t phi__claude_version(phi_str s) {
    uint32_t major = 0, minor = 0;
    size_t at = 0;
    if (!phi__claude_number(s, &at, &major)) return 0;
    if (at < s.len && (s.at[at] == '-' || s.at[at] == '.')) {
        at++;
        if (!phi__claude_number(s, &at, &minor)) minor = 0;
    }
    return major * 100 + minor;
}

PHI__FN phi__claude phi__claude_of(phi_str id) {
    phi__claude out;
    phi_str rest, family;
    size_t at = phi__str_find(id, 0, "claude-"), i;
    uint32_t version;
    memset(&out, 0, sizeof out);
    if (at == SIZE_MAX) return out;
    rest = phi__str(id.at + at + 7, id.len - at - 7);
    family = rest;
    if (phi__claude_digit(rest, 0)) { /* the old order: claude-3-7-sonnet */
        version = phi__claude_version(rest);
        family.len = 0;
    } else {
        size_t dash = phi__str_find(rest, 0, "-");
        if (dash == SIZE_MAX) return out;
        family.len = dash;
        version = phi__claude_version(phi__str(rest.at + dash + 1, rest.len - dash - 1));
    }
    for (i = 0; version != 0 && i < PHI__COUNT(phi__claude_rows); i++) {
        const phi__claude_row *row = &phi__claude_rows[i];
        if (row->family[0] != '\0' && !phi__str_is(family, row->family)) continue;
        if (version < row->from || version > row->to) continue;
        out = row->is;
        out.version = version;
        return out;
    }
    return out;
}
