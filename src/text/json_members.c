/* json_members.c - members of an object into a struct, by a table. */
#include "text/json_members_in.h"

static void phi__json_members_raw(phi__json_cursor *c, bool wanted, phi_str *out) {
    if (!wanted)
        (void)phi__json_cursor_skip(c);
    else if (!phi__json_cursor_take_raw(c, out))
        out->len = 0;
}

static void phi__json_members_first(phi__json_cursor *c, const phi__json_members *members,
                                    void *to) {
    bool first = true;
    if (!phi__json_cursor_enter_array(c)) return;
    while (phi__json_cursor_next_item(c)) {
        if (first)
            (void)phi__json_members_take(c, members, to);
        else
            (void)phi__json_cursor_skip(c);
        first = false;
    }
}

static void phi__json_members_value(phi__json_cursor *c, const phi__json_member *m, void *to) {
    void *at = (char *)to + m->offset;
    switch (m->kind) {
    case PHI__MEMBER_TEXT: (void)phi__json_cursor_take_text(c, (phi__json_text *)at); break;
    case PHI__MEMBER_I64: (void)phi__json_cursor_take_i64(c, (int64_t *)at); break;
    case PHI__MEMBER_U64: (void)phi__json_cursor_take_u64(c, (uint64_t *)at); break;
    case PHI__MEMBER_BOOL: (void)phi__json_cursor_take_bool(c, (bool *)at); break;
    case PHI__MEMBER_RAW: phi__json_members_raw(c, true, (phi_str *)at); break;
    case PHI__MEMBER_SOME:
        phi__json_members_raw(c, phi__json_cursor_peek(c) != PHI_JSON_NULL, (phi_str *)at);
        break;
    case PHI__MEMBER_OBJECT:
        phi__json_members_raw(c, phi__json_cursor_peek(c) == PHI_JSON_OBJECT, (phi_str *)at);
        break;
    case PHI__MEMBER_ARRAY:
        phi__json_members_raw(c, phi__json_cursor_peek(c) == PHI_JSON_ARRAY, (phi_str *)at);
        break;
    case PHI__MEMBER_IN: (void)phi__json_members_take(c, m->inner, at); break;
    case PHI__MEMBER_FIRST: phi__json_members_first(c, m->inner, at); break;
    default: m->take(c, at); break;
    }
}

/* Names are short: a few loads, where memcmp would be a call. */
static inline bool phi__json_members_same(const char *a, const char *b, size_t n) {
    uint32_t x[2], y[2];
    if (n > 8) return memcmp(a, b, n) == 0;
    if (n < 4) {
        while (n > 0 && a[n - 1] == b[n - 1]) n--;
        return n == 0;
    }
    memcpy(&x[0], a, 4);
    memcpy(&y[0], b, 4);
    memcpy(&x[1], a + n - 4, 4);
    memcpy(&y[1], b + n - 4, 4);
    return x[0] == y[0] && x[1] == y[1];
}

static inline bool phi__json_members_is(const phi__json_member *m, const phi__json_text *key) {
    return m->len == key->len && phi__json_members_same(m->name, key->at, m->len);
}

/* The member of that name in [at, end); `end`: there is none. */
static const phi__json_member *phi__json_members_look(const phi__json_member *at,
                                                      const phi__json_member *end,
                                                      const phi__json_text *key) {
    if (key->escaped)
        while (at < end && !phi__json_cursor_text_same(*key, phi__str(at->name, at->len))) at++;
    else
        while (at < end && !phi__json_members_is(at, key)) at++;
    return at;
}

PHI__FN uint32_t phi__json_members_take(phi__json_cursor *c, const phi__json_members *members,
                                        void *to) {
    const phi__json_member *first = members->at, *end = first + members->count;
    const phi__json_member *next = first, *m; /* mostly they come in the table's order */
    phi__json_text key;
    uint32_t seen = 0;
    if (!phi__json_cursor_enter_object(c)) return 0;
    while (phi__json_cursor_next_key(c, &key)) {
        m = next;
        if (m == end || key.escaped || !phi__json_members_is(m, &key)) {
            m = phi__json_members_look(next, end, &key);
            if (m == end) {
                m = phi__json_members_look(first, next, &key);
                if (m == next) {
                    (void)phi__json_cursor_skip(c);
                    continue;
                }
            }
        }
        next = m + 1;
        seen |= (uint32_t)1 << (m - first);
        phi__json_members_value(c, m, to);
    }
    return seen;
}

PHI__FN bool phi__json_members_read(phi_str text, const phi__json_members *members, void *to,
                                    uint32_t *seen) {
    phi__json_cursor c;
    uint32_t found;
    if (text.len == 0) return false;
    phi__json_cursor_init(&c, text);
    if (phi__json_cursor_peek(&c) != PHI_JSON_OBJECT) return false;
    found = phi__json_members_take(&c, members, to);
    if (seen != NULL) *seen = found;
    return phi__json_cursor_done(&c);
}
