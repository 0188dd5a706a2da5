/* gemini_interactions_merge.c - steps of hosted tools, which a stream sends in parts: a start, and
   deltas whose members replace those of the start. They become one object, as a whole answer has
   them. */
#include "codecs/gemini_interactions_in.h"

enum { PHI__INTERACTIONS_MEMBERS_MOST = 64 }; /* of a step that comes in parts */

PHI__FN bool phi__interactions_merge_piece(phi_str arguments, phi__json_text *piece) {
    if (arguments.len < 2 || arguments.at[0] != '"') return false;
    piece->at = arguments.at + 1;
    piece->len = arguments.len - 2;
    piece->escaped = memchr(piece->at, '\\', piece->len) != NULL;
    return true;
}

typedef struct phi__interactions_member {
    phi_str key, value; /* the key without its quotes, as it stood */
} phi__interactions_member;

typedef struct phi__interactions_merging {
    phi__interactions_member list[PHI__INTERACTIONS_MEMBERS_MOST];
    size_t count;
    phi__buf arguments; /* joined, of a step whose arguments come in pieces */
    bool overfull;
} phi__interactions_merging;

static void phi__interactions_merge_set(phi__interactions_merging *m, phi_str key, phi_str value) {
    size_t i = 0;
    while (i < m->count && !phi_str_equal(m->list[i].key, key)) i++;
    if (i == PHI__INTERACTIONS_MEMBERS_MOST) {
        m->overfull = true;
        return;
    }
    m->list[i].key = key;
    m->list[i].value = value;
    if (i == m->count) m->count++;
}

/* The members of a part: of the start, or of a delta, whose type is not the step's. */
static void phi__interactions_merge_part(phi__interactions_merging *m, phi_str part, bool start) {
    phi__json_cursor c;
    phi__json_text key, piece;
    phi_str value;
    phi__json_cursor_init(&c, part);
    if (!phi__json_cursor_enter_object(&c)) return;
    while (phi__json_cursor_next_key(&c, &key)) {
        if (!phi__json_cursor_take_raw(&c, &value)) return;
        if (!start && PHI__INTERACTIONS_IS(key, "type")) continue;
        if (!start && PHI__INTERACTIONS_IS(key, "arguments") &&
            phi__interactions_merge_piece(value, &piece))
            phi__json_cursor_unescape(&m->arguments, piece);
        else
            phi__interactions_merge_set(m, phi__str(key.at, key.len), value);
    }
}

static bool phi__interactions_merge_has(const phi__interactions_merging *m, const char *key) {
    size_t i;
    for (i = 0; i < m->count; i++)
        if (phi__str_is(m->list[i].key, key)) return true;
    return false;
}

/* A signature without content is refused when it comes back, and so is a search without its type,
   which streams leave out. */
static void phi__interactions_merge_join(phi__buf *out, const phi__interactions_merging *m,
                                         bool search) {
    size_t i;
    phi__buf_char(out, '{');
    for (i = 0; i < m->count; i++) {
        if (phi__str_is(m->list[i].key, "signature") && phi__str_is(m->list[i].value, "\"\""))
            continue;
        phi__json_write_comma(out);
        phi__buf_char(out, '"');
        phi__buf_add_str(out, m->list[i].key);
        phi__buf_text(out, "\":");
        phi__buf_add_str(out, m->list[i].value);
    }
    if (search && !phi__interactions_merge_has(m, "search_type")) {
        phi__json_write_comma(out);
        phi__buf_text(out, "\"search_type\":\"web_search\"");
    }
    phi__buf_char(out, '}');
}

PHI__FN void phi__interactions_merge(phi__assembly *a, size_t block) {
    phi__draft *d = &a->drafts[block];
    bool search = phi__str_is(phi__buf_str(&d->name), "google_search_call");
    phi__interactions_merging m;
    phi__json_cursor c;
    phi_json *root = NULL;
    phi_str part, first = {NULL, 0};
    size_t parts = 0;
    phi__buf out;
    m.count = 0;
    m.overfull = false;
    phi__buf_init(&m.arguments, a->memory);
    phi__buf_init(&out, a->memory);
    phi__json_cursor_init(&c, phi__buf_str(&d->replay));
    while (phi__json_cursor_peek(&c) == PHI_JSON_OBJECT && phi__json_cursor_take_raw(&c, &part)) {
        if (parts++ == 0) first = part;
        phi__interactions_merge_part(&m, part, parts == 1);
    }
    if (m.arguments.len > 0) {
        phi_status status =
            phi_json_parse(&a->scratch, phi__buf_str(&m.arguments), PHI_JSON_BORROW, &root, NULL);
        if (status == PHI_NO_MEMORY) a->no_memory = true;
        if (status == PHI_OK)
            phi__interactions_merge_set(&m, PHI__LIT("arguments"), phi__buf_str(&m.arguments));
    }
    if (m.overfull)
        phi__buf_add_str(&out, first);
    else if (parts > 1 || (search && !phi__interactions_merge_has(&m, "search_type")))
        phi__interactions_merge_join(&out, &m, search);
    if (m.arguments.failed || out.failed)
        a->no_memory = true;
    else if (out.len > 0)
        phi__assembly_set(a, &d->replay, phi__buf_str(&out));
    d->replay_open = false;
    phi__buf_free(&m.arguments);
    phi__buf_free(&out);
}
