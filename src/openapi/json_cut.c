/* json_cut.c - a JSON text, shortened. It is read by brackets and quotes alone, several times for
   each level that is opened; the levels are few. What comes out is checked by the JSON reader. */
#include "openapi/json_cut_in.h"

#include "base/utf8_in.h"
#include "text/json_in.h"

enum {
    PHI__JSON_CUT_DEPTH = 8,    /* levels that are opened */
    PHI__JSON_CUT_NOTE = 48,    /* bytes of a note, with its quotes and commas */
    PHI__JSON_CUT_MEMBERS = 64, /* of an object, that share its room by their sizes */
    PHI__JSON_CUT_ROUNDS = 8
};

typedef struct phi__json_cut_value {
    phi_str key; /* with its quotes; empty in an array */
    const char *at, *end;
    bool whole;
} phi__json_cut_value;

/* Items of a container, one after another. */
typedef struct phi__json_cut_scan {
    const char *at, *end;
    bool keys, whole, bad; /* whole: the closing bracket was seen */
} phi__json_cut_scan;

static const char *phi__json_cut_blank(const char *at, const char *end) {
    while (at < end && strchr(" \t\r\n", *at) != NULL && *at != '\0') at++;
    return at;
}

/* Behind the closing quote; NULL: the text ends before it. */
static const char *phi__json_cut_string(const char *at, const char *end) {
    bool escaped;
    const char *quote = phi__json_text_quote(at + 1, end, &escaped);
    return quote != NULL && quote < end ? quote + 1 : NULL;
}

/* Behind a value; NULL: the text ends before it does. */
static const char *phi__json_cut_skip(const char *at, const char *end) {
    size_t depth = 0;
    while (at != NULL && at < end) {
        char c = *at;
        if (c == '"') {
            at = phi__json_cut_string(at, end);
            if (depth == 0) return at;
            continue;
        }
        if (c == '[' || c == '{') depth++;
        if (depth == 0 && c != '\0' && strchr(",]} \t\r\n", c) != NULL) return at;
        at++;
        if ((c == ']' || c == '}') && --depth == 0) return at;
    }
    return NULL;
}

static phi__json_cut_scan phi__json_cut_scan_of(const phi__json_cut_value *value) {
    phi__json_cut_scan scan;
    memset(&scan, 0, sizeof scan);
    scan.keys = *value->at == '{';
    scan.at = value->at + 1;
    scan.end = value->end;
    return scan;
}

/* The next item; false: there is none, or the text is broken. */
static bool phi__json_cut_next(phi__json_cut_scan *scan, phi__json_cut_value *out) {
    const char *at = phi__json_cut_blank(scan->at, scan->end), *behind;
    if (at < scan->end && *at == ',') at = phi__json_cut_blank(at + 1, scan->end);
    out->key = phi__str(NULL, 0);
    scan->whole = at < scan->end && (*at == ']' || *at == '}');
    if (at == scan->end || scan->whole) return false;
    if (scan->keys) {
        scan->bad = *at != '"';
        behind = scan->bad ? NULL : phi__json_cut_string(at, scan->end);
        if (behind == NULL) return false;
        out->key = phi__str(at, (size_t)(behind - at));
        at = phi__json_cut_blank(behind, scan->end);
        if (at == scan->end) return false;
        scan->bad = *at != ':';
        at = phi__json_cut_blank(at + 1, scan->end);
        if (scan->bad || at == scan->end) return false;
    }
    behind = phi__json_cut_skip(at, scan->end);
    out->at = at;
    out->whole = behind != NULL;
    out->end = scan->at = behind != NULL ? behind : scan->end;
    return true;
}

static size_t phi__json_cut_size(const phi__json_cut_value *value) {
    return value->key.len + 2 + (size_t)(value->end - value->at);
}

/* ---- writing ---- */

static void phi__json_cut_put(phi__buf *out, const phi__json_cut_value *value, size_t most,
                              int depth);

/* Also of a number that breaks off. */
static void phi__json_cut_put_note(phi__buf *out, const char *what, size_t count, bool whole) {
    phi__buf_printf(out, "\"... %s%llu more %s\"", whole ? "" : "at least ",
                    (unsigned long long)count, what);
}

/* Where a text may be cut: neither inside of a character nor of an escape. */
static size_t phi__json_cut_string_at(phi_str text, size_t most) {
    size_t i = 0, last = 0;
    most = phi__utf8_cut(text, phi__min(most, text.len));
    while (i < most) {
        size_t n = text.at[i] != '\\' ? 1 : i + 1 < text.len && text.at[i + 1] == 'u' ? 6 : 2;
        /* the halves of a pair stay together */
        if (n == 6 && i + 2 < text.len && (text.at[i + 2] == 'd' || text.at[i + 2] == 'D')) n = 12;
        last = i;
        i += n;
    }
    return i <= most ? i : last;
}

static void phi__json_cut_put_string(phi__buf *out, const phi__json_cut_value *value, size_t most) {
    size_t len = (size_t)(value->end - value->at) - 1;
    phi_str text = phi__str(value->at + 1, len);
    size_t keep = most > PHI__JSON_CUT_NOTE ? most - PHI__JSON_CUT_NOTE : 0;
    if (value->whole) text.len--;
    keep = phi__json_cut_string_at(text, keep);
    phi__buf_char(out, '"');
    phi__buf_add(out, text.at, keep);
    phi__buf_printf(out, "... [%s%llu more bytes]\"", value->whole ? "" : "at least ",
                    (unsigned long long)(text.len - keep));
}

static void phi__json_cut_put_member(phi__buf *out, const phi__json_cut_value *value, size_t most,
                                     int depth) {
    if (value->key.len > 0) {
        phi__buf_add_str(out, value->key);
        phi__buf_char(out, ':');
    }
    phi__json_cut_put(out, value, most - phi__min(most, value->key.len + 2), depth + 1);
}

/* In their order while they fit; one that does not fit is shortened where much room is left. */
static void phi__json_cut_put_first(phi__buf *out, const phi__json_cut_value *value, size_t most,
                                    int depth) {
    phi__json_cut_scan scan = phi__json_cut_scan_of(value);
    size_t left = most - phi__min(most, PHI__JSON_CUT_NOTE), given = 0, missing = 0;
    phi__json_cut_value item;
    bool full = false;
    while (phi__json_cut_next(&scan, &item)) {
        size_t size = phi__json_cut_size(&item);
        bool fits = item.whole && size <= left;
        if (!full && (fits || left >= most / 4)) {
            if (given++ > 0) phi__buf_char(out, ',');
            phi__json_cut_put_member(out, &item, left, depth);
            left -= phi__min(left, size);
        } else
            missing++;
        full = full || !fits;
    }
    if (scan.bad) out->failed = true; /* no JSON */
    if (missing == 0 && scan.whole) return;
    if (given > 0) phi__buf_char(out, ',');
    if (scan.keys) phi__buf_text(out, "\"...\":");
    phi__json_cut_put_note(out, scan.keys ? "members" : "items", missing, scan.whole);
}

/* What a member may take so that small ones stay whole and large ones share the rest. */
static size_t phi__json_cut_share(const size_t *sizes, size_t count, size_t room) {
    size_t share = room / count, i;
    int round;
    for (round = 0; round < PHI__JSON_CUT_ROUNDS; round++) {
        size_t small = 0, large = 0;
        for (i = 0; i < count; i++) {
            if (sizes[i] <= share)
                small += sizes[i];
            else
                large++;
        }
        if (large == 0 || small > room) return share;
        share = (room - small) / large;
    }
    return share;
}

/* False: it has too many members for that, or too little room. */
static bool phi__json_cut_put_shared(phi__buf *out, const phi__json_cut_value *value, size_t most,
                                     int depth) {
    phi__json_cut_scan scan = phi__json_cut_scan_of(value);
    phi__json_cut_value members[PHI__JSON_CUT_MEMBERS], more;
    size_t sizes[PHI__JSON_CUT_MEMBERS], count = 0, share, i;
    while (phi__json_cut_next(&scan, &more)) {
        if (count == PHI__JSON_CUT_MEMBERS) return false;
        members[count] = more;
        sizes[count++] = more.whole ? phi__json_cut_size(&more) : most;
    }
    if (count == 0) return false;
    share = phi__json_cut_share(sizes, count, most - phi__min(most, PHI__JSON_CUT_NOTE));
    if (share < (size_t)PHI__JSON_CUT_NOTE * 2) return false;
    if (scan.bad) out->failed = true; /* no JSON */
    for (i = 0; i < count; i++) {
        if (i > 0) phi__buf_char(out, ',');
        phi__json_cut_put_member(out, &members[i], phi__min(share, sizes[i]), depth);
    }
    if (scan.whole) return true;
    phi__buf_text(out, ",\"...\":");
    phi__json_cut_put_note(out, "members", 0, false);
    return true;
}

static void phi__json_cut_put(phi__buf *out, const phi__json_cut_value *value, size_t most,
                              int depth) {
    size_t len = (size_t)(value->end - value->at);
    char c = *value->at;
    if (value->whole && len <= most)
        phi__buf_add(out, value->at, len);
    else if (c == '"')
        phi__json_cut_put_string(out, value, most);
    else if ((c != '[' && c != '{') || depth >= PHI__JSON_CUT_DEPTH ||
             most < (size_t)PHI__JSON_CUT_NOTE * 2)
        phi__json_cut_put_note(out, "bytes", len, value->whole);
    else {
        phi__buf_char(out, c);
        if (c == '[' || !phi__json_cut_put_shared(out, value, most, depth))
            phi__json_cut_put_first(out, value, most, depth);
        phi__buf_char(out, c == '[' ? ']' : '}');
    }
}

static bool phi__json_cut_valid(phi_memory *memory, phi_str text) {
    phi_arena arena;
    phi_json *root;
    bool valid;
    phi_arena_init(&arena, memory, 4096);
    valid = phi_json_parse(&arena, text, PHI_JSON_BORROW | PHI_JSON_REPLACE_BAD_UTF8, &root,
                           NULL) == PHI_OK;
    phi_arena_free(&arena);
    return valid;
}

PHI__FN bool phi__json_cut(phi__buf *out, phi_str text, bool whole, size_t most) {
    phi__json_cut_value value;
    const char *end = text.at + text.len, *behind;
    phi__buf cut;
    bool done;
    memset(&value, 0, sizeof value);
    value.at = text.len > 0 ? phi__json_cut_blank(text.at, end) : end;
    if (value.at == end || most < (size_t)PHI__JSON_CUT_NOTE * 2) return false;
    behind = phi__json_cut_skip(value.at, end);
    value.end = behind != NULL ? behind : end;
    /* a number at the very end of a whole text */
    value.whole = behind != NULL || (whole && strchr("\"[{", *value.at) == NULL);
    phi__buf_init(&cut, out->memory);
    phi__json_cut_put(&cut, &value, most, 0);
    done = !cut.failed && phi__json_cut_valid(out->memory, phi__buf_str(&cut));
    if (done) phi__buf_add_str(out, phi__buf_str(&cut));
    phi__buf_free(&cut);
    return done && !out->failed;
}
