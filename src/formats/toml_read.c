/* toml_read.c - the reader: its states in turn. */
#include "formats/toml_in.h"

enum { PHI__TOML_DEPTH = 512 }; /* by default */

/* ---- keys ---- */

static void phi__toml_read_key(phi__toml_reader *r, const char *stop) {
    if (!phi__toml_text_space(r, stop)) return;
    r->places.key_at = r->at;
    r->places.key_line = r->line;
    r->places.key_column = phi__toml_column(r, r->at);
    if (r->at < r->end && (*r->at == '"' || *r->at == '\''))
        phi__toml_string_begin(r, true);
    else if (r->at < r->end && phi__toml_is_bare(*r->at)) {
        r->mark = r->at;
        r->state = PHI__TOML_BARE;
    } else if (r->at < r->end && *r->at == '{')
        phi__toml_text_wrong(r, r->at,
                             "expected a key, found '{': this is read as TOML, not as JSON");
    else
        phi__toml_text_expected(r, r->at, "a key");
}

static void phi__toml_read_bare(phi__toml_reader *r, const char *stop) {
    const char *at = r->at;
    while (at < stop && phi__toml_is_bare(*at)) at++;
    r->at = at;
    if (at == stop && at < r->end) return;
    if ((size_t)(at - r->mark) > PHI__TOML_KEY_MOST) {
        phi__toml_text_too_big(r, r->mark, "a key of more than 16 MiB");
        return;
    }
    r->key = phi__toml_text_end(r, at);
    r->state = PHI__TOML_KEY_AFTER;
}

static void phi__toml_read_header_end(phi__toml_reader *r) {
    if (r->tables_header && (r->end - r->at < 2 || r->at[1] != ']')) {
        phi__toml_text_expected(r, r->at + 1, "']' right behind the first one");
        return;
    }
    r->at += r->tables_header ? 2 : 1;
    phi__toml_tree_section(r);
}

static void phi__toml_read_key_after(phi__toml_reader *r, const char *stop) {
    char c;
    if (!phi__toml_text_space(r, stop)) return;
    c = r->at < r->end ? *r->at : '\0';
    if (c == '.') {
        r->at++;
        r->state = PHI__TOML_KEY;
        phi__toml_tree_descend(r);
    } else if (c == '=' && !r->in_header) {
        r->at++;
        phi__toml_tree_assign(r);
    } else if (c == ']' && r->in_header)
        phi__toml_read_header_end(r);
    else if (c == ':' && !r->in_header)
        phi__toml_text_wrong(r, r->at,
                             "expected '.' or '=', found ':': TOML has '=' behind a key, not ':' "
                             "as YAML and JSON have");
    else
        phi__toml_text_expected(r, r->at, r->in_header ? "'.' or ']'" : "'.' or '='");
}

/* ---- values ---- */

static bool phi__toml_read_is_token(char c) {
    return phi__toml_is_bare(c) || c == '+' || c == '.' || c == ':';
}

/* The bare value at r->at, at most one byte more than a number may have. A space may be between a
   date and its time. */
static phi_str phi__toml_read_token(const phi__toml_reader *r) {
    size_t most = phi__min((size_t)(r->end - r->at), PHI__TOML_NUMBER_MOST + 1), n = 0;
    while (n < most && phi__toml_read_is_token(r->at[n])) n++;
    if (n == 10 && phi__toml_date_begins(phi__str(r->at, n)) && n + 1 < most && r->at[n] == ' ' &&
        r->at[n + 1] >= '0' && r->at[n + 1] <= '9') {
        n++;
        while (n < most && phi__toml_read_is_token(r->at[n])) n++;
    }
    return phi__str(r->at, n);
}

static void phi__toml_read_date(phi__toml_reader *r, phi_str token) {
    char canonical[PHI__TOML_DATE_MOST];
    phi_toml_date date;
    phi_str text;
    phi_json *node;
    uint32_t form;
    if (!phi__toml_date_read(token, &date)) {
        phi__toml_text_wrong(r, r->at,
                             "no date or time that exists: they are written as 1979-05-27, "
                             "07:32:00, 1979-05-27T07:32:00 or 1979-05-27T07:32:00Z");
        return;
    }
    r->mark = r->at;
    if (!phi__toml_text_add(r, canonical, phi__toml_date_put(token, canonical))) return;
    text = phi__toml_text_end(r, r->at);
    if (r->status != PHI_BUSY) return;
    form = (uint32_t)(date.type - PHI_TOML_OFFSET_DATETIME + PHI__JSON_OFFSET_DATETIME);
    r->at += token.len;
    node = phi__toml_tree_scalar(r, form << 4 | PHI__JSON_STRING, r->at);
    if (node == NULL) return;
    node->v.str = text.at;
    node->len = (uint32_t)text.len;
}

/* The number without its underscores is in the room for text only until it is read. */
static void phi__toml_read_number(phi__toml_reader *r, phi_str token) {
    phi__json_value value;
    const char *what;
    uint32_t kind;
    phi_json *node;
    r->mark = r->at;
    if (!phi__toml_text_add(r, token.at, token.len)) return;
    value.u = 0;
    kind = phi__toml_number_read(token, r->string, &value, &what);
    r->string = r->to = NULL;
    if (kind == 0) {
        phi__toml_text_wrong(r, r->at, what);
        return;
    }
    r->at += token.len;
    node = phi__toml_tree_scalar(r, kind, r->at);
    if (node != NULL) node->v = value;
}

static void phi__toml_read_value(phi__toml_reader *r) {
    phi_str token;
    char c = r->at < r->end ? *r->at : '\0';
    phi__toml_tree_value(r);
    if (c == '"' || c == '\'') {
        phi__toml_string_begin(r, false);
        return;
    }
    if (c == '[' || c == '{') {
        phi__toml_tree_open(r, c == '{');
        return;
    }
    token = phi__toml_read_token(r);
    if (token.len == 0)
        phi__toml_text_expected(r, r->at,
                                r->state == PHI__TOML_ITEM ? "a value or ']'" : "a value");
    else if (token.len > PHI__TOML_NUMBER_MOST)
        phi__toml_text_too_big(r, r->at, "a number of 64 KiB or more");
    else if (phi__toml_date_begins(token))
        phi__toml_read_date(r, token);
    else
        phi__toml_read_number(r, token);
}

/* ---- containers ---- */

static void phi__toml_read_comment_begin(phi__toml_reader *r) {
    r->back = r->state;
    r->state = PHI__TOML_COMMENT;
}

/* White space, line breaks and comments. True: something else, which is at r->at. */
static bool phi__toml_read_skip(phi__toml_reader *r, const char *stop) {
    if (!phi__toml_text_space(r, stop)) return false;
    if (r->at == r->end) {
        phi__toml_text_expected(r, r->at,
                                r->state == PHI__TOML_ITEM ? "a value or ']'" : "',' or ']'");
        return false;
    }
    if (*r->at == '#')
        phi__toml_read_comment_begin(r);
    else if (phi__toml_text_at_break(r, r->at))
        phi__toml_text_newline(r);
    else
        return true;
    return false;
}

static void phi__toml_read_item(phi__toml_reader *r, const char *stop) {
    if (!phi__toml_read_skip(r, stop)) return;
    if (*r->at == ']')
        phi__toml_tree_close(r);
    else
        phi__toml_read_value(r);
}

static void phi__toml_read_item_after(phi__toml_reader *r, const char *stop) {
    if (!phi__toml_read_skip(r, stop)) return;
    if (*r->at == ']')
        phi__toml_tree_close(r);
    else if (*r->at == ',') {
        r->at++;
        r->state = PHI__TOML_ITEM;
    } else
        phi__toml_text_expected(r, r->at, "',' or ']'");
}

static void phi__toml_read_member(phi__toml_reader *r, const char *stop) {
    bool first = r->state == PHI__TOML_FIRST_MEMBER;
    if (!phi__toml_text_space(r, stop)) return;
    if (phi__toml_text_at_break(r, r->at))
        phi__toml_text_wrong(r, r->at, "a table in braces must be on one line");
    else if (r->at < r->end && *r->at == '}' && first)
        phi__toml_tree_close(r);
    else if (r->at < r->end && *r->at == '}')
        phi__toml_text_wrong(r, r->at, "a comma before '}', which TOML 1.0 does not allow");
    else
        phi__toml_tree_key(r);
}

static void phi__toml_read_member_after(phi__toml_reader *r, const char *stop) {
    char c;
    if (!phi__toml_text_space(r, stop)) return;
    c = r->at < r->end ? *r->at : '\0';
    if (phi__toml_text_at_break(r, r->at))
        phi__toml_text_wrong(r, r->at, "a table in braces must be on one line");
    else if (c == '}')
        phi__toml_tree_close(r);
    else if (c == ',') {
        r->at++;
        r->state = PHI__TOML_MEMBER;
    } else
        phi__toml_text_expected(r, r->at, "',' or '}'");
}

/* ---- lines ---- */

static void phi__toml_read_line(phi__toml_reader *r, const char *stop) {
    if (!phi__toml_text_space(r, stop)) return;
    if (r->at == r->end)
        r->status = PHI_OK;
    else if (phi__toml_text_at_break(r, r->at))
        phi__toml_text_newline(r);
    else if (*r->at == '#')
        phi__toml_read_comment_begin(r);
    else if (*r->at == '[') {
        phi__toml_tree_value(r);
        r->tables_header = r->end - r->at > 1 && r->at[1] == '[';
        r->at += r->tables_header ? 2 : 1;
        phi__toml_tree_header(r);
    } else
        phi__toml_tree_key(r);
}

static void phi__toml_read_rest(phi__toml_reader *r, const char *stop) {
    if (!phi__toml_text_space(r, stop)) return;
    if (r->at < r->end && *r->at == '#')
        phi__toml_read_comment_begin(r);
    else if (r->at == r->end || phi__toml_text_at_break(r, r->at))
        r->state = PHI__TOML_LINE;
    else if (*r->at == ',')
        phi__toml_text_wrong(r, r->at,
                             "expected the end of the line, found ',': no comma is behind a value, "
                             "and none in a number");
    else
        phi__toml_text_expected(r, r->at, "the end of the line");
}

/* Up to the end of the line, which is left for the state behind. */
static void phi__toml_read_comment(phi__toml_reader *r, const char *stop) {
    while (r->at < stop && r->status == PHI_BUSY) {
        while (r->at < stop && (unsigned char)*r->at - 0x20u < 0x5fu) r->at++;
        if (r->at == stop || phi__toml_text_at_break(r, r->at)) break;
        r->at += phi__toml_text_char(r, r->at);
    }
    if (r->at == r->end || phi__toml_text_at_break(r, r->at)) r->state = r->back;
}

static void phi__toml_read_state(phi__toml_reader *r, const char *stop) {
    switch (r->state) {
    case PHI__TOML_LINE: phi__toml_read_line(r, stop); break;
    case PHI__TOML_KEY: phi__toml_read_key(r, stop); break;
    case PHI__TOML_BARE: phi__toml_read_bare(r, stop); break;
    case PHI__TOML_KEY_AFTER: phi__toml_read_key_after(r, stop); break;
    case PHI__TOML_VALUE:
        if (phi__toml_text_space(r, stop)) phi__toml_read_value(r);
        break;
    case PHI__TOML_ITEM: phi__toml_read_item(r, stop); break;
    case PHI__TOML_ITEM_AFTER: phi__toml_read_item_after(r, stop); break;
    case PHI__TOML_MEMBER:
    case PHI__TOML_FIRST_MEMBER: phi__toml_read_member(r, stop); break;
    case PHI__TOML_MEMBER_AFTER: phi__toml_read_member_after(r, stop); break;
    case PHI__TOML_STRING_TEXT: phi__toml_string_text(r, stop); break;
    case PHI__TOML_STRING_JOIN: phi__toml_string_join(r, stop); break;
    case PHI__TOML_REST: phi__toml_read_rest(r, stop); break;
    default: phi__toml_read_comment(r, stop); break;
    }
}

/* Gives room back that nothing took, if nothing was taken from the arena after it. */
static void phi__toml_read_slack(phi__toml_reader *r) {
    if (r->spare != r->spare_end && (char *)r->spare_end == r->arena->at)
        r->arena->at = (char *)r->spare;
    r->spare = r->spare_end = NULL;
}

/* ---- public ---- */

PHI__FN void phi__toml_read_begin(phi__toml_reader *r, phi_arena *arena, phi_str text,
                                  const phi_toml_desc *options) {
    uint32_t depth = options == NULL ? 0 : options->max_depth;
    memset(r, 0, sizeof *r);
    if (text.at == NULL) text = phi__str("", 0);
    r->arena = arena;
    r->text = r->at = r->line_at = text.at;
    r->end = text.at + text.len;
    r->max_depth =
        depth == 0 ? (uint32_t)PHI__TOML_DEPTH : (uint32_t)phi__min(depth, PHI_JSON_MAX_DEPTH);
    r->line = 1;
    r->status = PHI_BUSY;
    r->state = PHI__TOML_LINE;
    if (text.len >= UINT32_MAX)
        phi__toml_text_too_big(r, r->at, "a text of 4 GiB or more");
    else if (text.len >= 3 && memcmp(text.at, "\xEF\xBB\xBF", 3) == 0)
        r->at = r->line_at = text.at + 3;
}

PHI__FN phi_status phi__toml_read_advance(phi__toml_reader *r, size_t units) {
    const char *stop;
    if (r->status != PHI_BUSY) return r->status;
    if (units == 0) units = 1;
    if (r->root == NULL && !phi__toml_tree_begin(r)) return r->status;
    stop = (size_t)(r->end - r->at) > units ? r->at + units : r->end;
    while (r->status == PHI_BUSY && (r->at < stop || stop == r->end)) phi__toml_read_state(r, stop);
    if (r->status != PHI_BUSY) phi__toml_read_slack(r);
    return r->status;
}

PHI__FN phi_status phi__toml_read_result(const phi__toml_reader *r, phi_json **out,
                                         phi_parse_error *error) {
    if (out != NULL) *out = r->status == PHI_OK ? r->root : NULL;
    if (error != NULL) *error = r->error;
    return r->status;
}

PHI_API phi_status phi_toml_parse(phi_arena *arena, phi_str text, const phi_toml_desc *options,
                                  phi_json **out, phi_parse_error *error) {
    phi__toml_reader reader;
    phi_arena_mark mark;
    phi_status status;
    if (arena == NULL || out == NULL) return PHI_BAD_ARG;
    mark = phi_arena_save(arena);
    phi__toml_read_begin(&reader, arena, text, options);
    while ((status = phi__toml_read_advance(&reader, SIZE_MAX)) == PHI_BUSY) continue;
    (void)phi__toml_read_result(&reader, out, error);
    if (status != PHI_OK) phi_arena_reset(arena, mark);
    return status;
}

typedef struct phi__toml_slices {
    phi_reader head;
    phi__toml_reader reader;
} phi__toml_slices;

static phi_status phi__toml_read_slice(phi_reader *reader, size_t units) {
    return phi__toml_read_advance(&((phi__toml_slices *)reader)->reader, units);
}

static phi_status phi__toml_read_slices_result(const phi_reader *reader, phi_json **out,
                                               phi_parse_error *error) {
    return phi__toml_read_result(&((const phi__toml_slices *)reader)->reader, out, error);
}

PHI_API phi_reader *phi_toml_reader_new(phi_arena *arena, phi_str text,
                                        const phi_toml_desc *options) {
    phi__toml_slices *r = (phi__toml_slices *)phi_arena_alloc(arena, sizeof *r);
    if (r == NULL) return NULL;
    r->head.advance = phi__toml_read_slice;
    r->head.result = phi__toml_read_slices_result;
    phi__toml_read_begin(&r->reader, arena, text, options);
    return &r->head;
}
