/* regex.c - the machine: sets of instructions are its states, made when the text needs them.

   A state holds the instructions that wait for a character, for a test, or that say "match"; tests
   are decided by the symbol that comes next, so a match is noticed one symbol late at most. */
#include "match/regex_in.h"

#include "base/base_in.h"

#include <stdio.h>

typedef enum phi__regex_op {
    PHI__REGEX_OP_SET,   /* x: a set; then the next instruction */
    PHI__REGEX_OP_SPLIT, /* to x and to y */
    PHI__REGEX_OP_JUMP,  /* to x */
    PHI__REGEX_OP_TEST,  /* x: a phi__regex_kind; then the next instruction */
    PHI__REGEX_OP_MATCH
} phi__regex_op;

typedef struct phi__regex_code {
    uint16_t op, x, y;
} phi__regex_code;

typedef struct phi__regex_set {
    uint32_t at, count;
} phi__regex_set;

typedef struct phi__regex_program {
    phi_memory *memory;
    phi__regex_code *codes;
    size_t count, cap;
    phi__range *ranges; /* of the sets, taken from the tree */
    size_t range_cap;
    phi__regex_set *sets;
    size_t set_cap;
    uint32_t *starts;  /* where a run of characters of one symbol begins, in order */
    uint16_t *symbols; /* of each run */
    size_t run_count, run_cap;
    uint32_t *samples; /* a character of each symbol */
    uint16_t symbol_count;
    uint16_t end, bad, high; /* the three */
    uint16_t bytes[256];     /* a byte's symbol */
    bool words;              /* word boundaries are tested: symbols tell word characters apart */
} phi__regex_program;

enum { PHI__REGEX_LAST_CODE = 0x10FFFF, PHI__REGEX_ENDLESS = 0xFFFF };

typedef enum phi__regex_kind {
    PHI__REGEX_EMPTY,
    PHI__REGEX_SET,   /* a: the set */
    PHI__REGEX_CAT,   /* a: the first child */
    PHI__REGEX_ALT,   /* a: the first child */
    PHI__REGEX_TIMES, /* a: the child; min, max */
    PHI__REGEX_START, /* of a line */
    PHI__REGEX_END,
    PHI__REGEX_WORD, /* a word begins or ends */
    PHI__REGEX_NO_WORD
} phi__regex_kind;

typedef struct phi__regex_node {
    phi__regex_kind kind;
    uint32_t a, next; /* next: the sibling, or 0 */
    uint16_t min, max, depth;
} phi__regex_node;

typedef struct phi__regex_tree {
    phi_memory *memory;
    phi__regex_node *nodes;
    size_t node_count, node_cap;
    phi__range *ranges; /* of the sets, and behind them the one being made */
    size_t range_count, range_cap;
    phi__regex_set *sets;
    size_t set_count, set_cap;
    size_t open; /* where the set being made begins */
    uint32_t root;
    bool words; /* it has word boundaries */
} phi__regex_tree;

typedef struct phi__regex_parser {
    phi__regex_tree *tree;
    phi_str text;
    size_t at;
    uint32_t depth; /* groups that are open */
    bool fold;
    phi_status status; /* once it is not PHI_OK nothing is read any more */
    phi__regex_error *error;
} phi__regex_parser;

/* The first failure counts. `at`: the byte at fault. */
static inline void phi__regex_parse_fail(phi__regex_parser *p, size_t at, const char *message) {
    size_t n = phi__min(strlen(message), sizeof p->error->message - 1);
    if (p->status != PHI_OK) return;
    p->status = PHI_BAD_ARG;
    p->error->column = at + 1;
    memcpy(p->error->message, message, n);
    p->error->message[n] = '\0';
}

/* Notes what a set's function returned; false: not PHI_OK. */
static inline bool phi__regex_parse_did(phi__regex_parser *p, phi_status status) {
    if (status == PHI_FULL) phi__regex_parse_fail(p, p->at, "the pattern is too large");
    if (p->status == PHI_OK) p->status = status;
    return p->status == PHI_OK;
}

static inline bool phi__regex_parse_more(const phi__regex_parser *p) {
    return p->status == PHI_OK && p->at < p->text.len;
}

/* The byte so far ahead, or 0. */
static inline char phi__regex_parse_peek(const phi__regex_parser *p, size_t ahead) {
    return p->at + ahead < p->text.len ? p->text.at[p->at + ahead] : '\0';
}

static inline bool phi__regex_parse_is(const phi__regex_parser *p, char c) {
    return phi__regex_parse_more(p) && p->text.at[p->at] == c;
}

enum {
    PHI__REGEX_PATTERN_BYTES = 4096,
    PHI__REGEX_DEPTH = 100,        /* groups and repetitions inside each other */
    PHI__REGEX_REPEAT = 1000,      /* the greatest count in braces */
    PHI__REGEX_CODES = 16384,      /* instructions of a program */
    PHI__REGEX_RANGES = 65536,     /* ranges of characters of all its sets */
    PHI__REGEX_CACHE = 1024 * 1024 /* bytes of computed states, about */
};

static uint16_t phi__regex_program_symbol(const phi__regex_program *program, uint32_t code);

/* ======== Sets of characters: united, folded, negated. */

/* Making a set. Adding returns PHI_NO_MEMORY, or PHI_FULL: too many ranges. */
static void phi__regex_set_begin(phi__regex_tree *tree) { tree->open = tree->range_count; }

static phi_status phi__regex_set_add(phi__regex_tree *tree, uint32_t first, uint32_t last) {
    phi__range *ranges;
    if (tree->range_count >= PHI__REGEX_RANGES) return PHI_FULL;
    ranges = (phi__range *)phi__grow(tree->memory, tree->ranges, &tree->range_cap,
                                     tree->range_count + 1, sizeof *ranges);
    if (ranges == NULL) return PHI_NO_MEMORY;
    tree->ranges = ranges;
    ranges[tree->range_count].first = first;
    ranges[tree->range_count++].last = last;
    return PHI_OK;
}

/* of "dswDSW" */
static phi_status phi__regex_set_add_class(phi__regex_tree *tree, char letter) {
    size_t count;
    bool outside = letter < 'a';
    const phi__range *rows = letter == 'd' || letter == 'D'   ? phi__regex_tables_digit(&count)
                             : letter == 's' || letter == 'S' ? phi__regex_tables_space(&count)
                                                              : phi__regex_tables_word(&count);
    phi_status status = PHI_OK;
    uint32_t from = 0;
    for (size_t i = 0; i < count && status == PHI_OK; i++) {
        if (!outside)
            status = phi__regex_set_add(tree, rows[i].first, rows[i].last);
        else if (rows[i].first > from)
            status = phi__regex_set_add(tree, from, rows[i].first - 1);
        from = rows[i].last + 1;
    }
    if (outside && status == PHI_OK) status = phi__regex_set_add(tree, from, PHI__REGEX_LAST_CODE);
    return status;
}

/* Whether one of the characters is in a set of ranges in order and apart. */
static bool phi__regex_set_meets(const phi__range *ranges, size_t count, uint32_t first,
                                 uint32_t last) {
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (first > ranges[middle].last)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && ranges[low].first <= last;
}

/* Of ranges in order and apart. */
static bool phi__regex_set_has(const phi__range *ranges, size_t count, uint32_t code) {
    return phi__regex_set_meets(ranges, count, code, code);
}

static void phi__regex_set_sink(phi__range *rows, size_t at, size_t n) {
    phi__range row = rows[at];
    size_t child;
    while ((child = 2 * at + 1) < n) {
        if (child + 1 < n && rows[child].first < rows[child + 1].first) child++;
        if (rows[child].first <= row.first) break;
        rows[at] = rows[child];
        at = child;
    }
    rows[at] = row;
}

static void phi__regex_set_sort(phi__range *rows, size_t n) {
    for (size_t i = n / 2; i > 0; i--) phi__regex_set_sink(rows, i - 1, n);
    for (size_t i = n; i > 1; i--) {
        phi__range first = rows[0];
        rows[0] = rows[i - 1];
        rows[i - 1] = first;
        phi__regex_set_sink(rows, 0, i - 1);
    }
}

/* The ranges of the set being made: in order and apart. */
static void phi__regex_set_order(phi__regex_tree *tree) {
    phi__range *rows = tree->ranges + tree->open;
    size_t n = tree->range_count - tree->open, i, kept = 0;
    if (n < 2) return;
    for (i = 1; i < n && rows[i].first > rows[i - 1].last + 1; i++) continue;
    if (i == n) return;
    phi__regex_set_sort(rows, n);
    for (i = 1; i < n; i++) {
        if (rows[i].first > rows[kept].last + 1)
            rows[++kept] = rows[i];
        else if (rows[i].last > rows[kept].last)
            rows[kept].last = rows[i].last;
    }
    tree->range_count = tree->open + kept + 1;
}

/* With ASCII alone in it, only two characters beyond are concerned: the Kelvin sign and the long
   s. */
static phi_status phi__regex_set_fold_ascii(phi__regex_tree *tree, size_t end) {
    phi_status status = PHI_OK;
    for (size_t i = tree->open; i < end && status == PHI_OK; i++) {
        uint32_t code = tree->ranges[i].first, last = tree->ranges[i].last;
        for (; code <= last && status == PHI_OK; code++) {
            uint32_t small = code | 0x20;
            if (small < 'a' || small > 'z') continue;
            status = phi__regex_set_add(tree, code ^ 0x20, code ^ 0x20);
            if (small == 'k' && status == PHI_OK) status = phi__regex_set_add(tree, 0x212A, 0x212A);
            if (small == 's' && status == PHI_OK) status = phi__regex_set_add(tree, 0x17F, 0x17F);
        }
    }
    return status;
}

/* up: adds the characters whose representative is in the set; else the representatives. */
static phi_status phi__regex_set_fold_way(phi__regex_tree *tree, bool up) {
    size_t count, n = tree->range_count - tree->open;
    const phi__regex_fold *folds = phi__regex_tables_folds(&count);
    phi_status status = PHI_OK;
    for (size_t i = 0; i < count && status == PHI_OK; i++) {
        uint32_t code = folds[i].first, shift = up ? folds[i].down : 0;
        if (!phi__regex_set_meets(tree->ranges + tree->open, n, code - shift,
                                  folds[i].last - shift))
            continue;
        for (; code <= folds[i].last && status == PHI_OK; code += folds[i].step) {
            uint32_t from = up ? code - folds[i].down : code;
            uint32_t to = up ? code : code - folds[i].down;
            if (phi__regex_set_has(tree->ranges + tree->open, n, from))
                status = phi__regex_set_add(tree, to, to);
        }
    }
    phi__regex_set_order(tree);
    return status;
}

static phi_status phi__regex_set_fold(phi__regex_tree *tree) {
    phi_status status;
    phi__regex_set_order(tree);
    if (tree->range_count == tree->open) return PHI_OK;
    if (tree->ranges[tree->range_count - 1].last < 0x80) {
        status = phi__regex_set_fold_ascii(tree, tree->range_count);
        phi__regex_set_order(tree);
        return status;
    }
    status = phi__regex_set_fold_way(tree, false);
    return status == PHI_OK ? phi__regex_set_fold_way(tree, true) : status;
}

static phi_status phi__regex_set_negate(phi__regex_tree *tree) {
    phi_status status = PHI_OK;
    uint32_t from = 0;
    phi__regex_set_order(tree);
    size_t n = tree->range_count - tree->open;
    for (size_t i = 0; i < n && status == PHI_OK; i++) {
        phi__range row = tree->ranges[tree->open + i];
        if (row.first > from) status = phi__regex_set_add(tree, from, row.first - 1);
        from = row.last + 1;
    }
    if (from <= PHI__REGEX_LAST_CODE && status == PHI_OK)
        status = phi__regex_set_add(tree, from, PHI__REGEX_LAST_CODE);
    if (status != PHI_OK) return status;
    tree->range_count -= n;
    if (n > 0)
        memmove(tree->ranges + tree->open, tree->ranges + tree->open + n,
                (tree->range_count - tree->open) * sizeof *tree->ranges);
    return PHI_OK;
}

static phi_status phi__regex_set_drop_newline(phi__regex_tree *tree) {
    phi__range *row;
    for (size_t i = tree->open; i < tree->range_count; i++) {
        row = &tree->ranges[i];
        if (row->first > '\n' || row->last < '\n') continue;
        if (row->first == '\n' && row->last == '\n') {
            memmove(row, row + 1, (tree->range_count - i - 1) * sizeof *row);
            tree->range_count--;
        } else if (row->first == '\n')
            row->first++;
        else if (row->last == '\n')
            row->last--;
        else {
            uint32_t last = row->last;
            phi_status status = phi__regex_set_add(tree, '\n' + 1, last);
            if (status != PHI_OK) return status;
            tree->ranges[i].last = '\n' - 1;
            phi__regex_set_sort(tree->ranges + tree->open, tree->range_count - tree->open);
        }
        break;
    }
    return PHI_OK;
}

/* Without the newline; *out: its index. */
static phi_status phi__regex_set_end(phi__regex_tree *tree, uint32_t *out) {
    phi__regex_set *sets;
    phi__regex_set_order(tree);
    phi_status status = phi__regex_set_drop_newline(tree);
    if (status != PHI_OK) return status;
    size_t n = tree->range_count - tree->open;
    for (size_t i = 0; i < tree->set_count; i++) {
        const phi__regex_set *set = &tree->sets[i];
        if (set->count != n || (n > 0 && memcmp(tree->ranges + set->at, tree->ranges + tree->open,
                                                n * sizeof *tree->ranges) != 0))
            continue;
        tree->range_count = tree->open;
        *out = (uint32_t)i;
        return PHI_OK;
    }
    sets = (phi__regex_set *)phi__grow(tree->memory, tree->sets, &tree->set_cap,
                                       tree->set_count + 1, sizeof *sets);
    if (sets == NULL) return PHI_NO_MEMORY;
    tree->sets = sets;
    sets[tree->set_count].at = (uint32_t)tree->open;
    sets[tree->set_count].count = (uint32_t)n;
    *out = (uint32_t)tree->set_count++;
    return PHI_OK;
}

/* ======== The parts of a pattern that stand for one character: escapes and sets. */

/* A character as it stands. */
static uint32_t phi__regex_letter_plain(phi__regex_parser *p) {
    const unsigned char *s = (const unsigned char *)p->text.at + p->at;
    size_t n = s[0] < 0x80 ? 1 : s[0] < 0xE0 ? 2 : s[0] < 0xF0 ? 3 : 4;
    uint32_t code = s[0];
    if (n > p->text.len - p->at || phi__utf8_valid(phi__str(p->text.at + p->at, n)) != n) {
        phi__regex_parse_fail(p, p->at, "the pattern is not UTF-8");
        return 0;
    }
    if (n > 1) code &= 0xFFu >> (n + 1);
    for (size_t i = 1; i < n; i++) code = code << 6 | (s[i] & 0x3Fu);
    p->at += n;
    return code;
}

/* ---- escapes ---- */

static int phi__regex_letter_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f') return (c | 0x20) - 'a' + 10;
    return -1;
}

/* Behind \x, \u or \U: so many digits, or any number of them in braces. */
static uint32_t phi__regex_letter_hex(phi__regex_parser *p, size_t digits) {
    size_t begin = p->at, n = 0;
    bool braces = phi__regex_parse_is(p, '{');
    uint32_t code = 0;
    if (braces) p->at++;
    while (phi__regex_parse_more(p) && (braces || n < digits)) {
        int digit = phi__regex_letter_digit(p->text.at[p->at]);
        if (digit < 0) break;
        code = phi__min(code << 4 | (uint32_t)digit, PHI__REGEX_LAST_CODE + 1u) & 0xFFFFFFFFu;
        p->at++;
        n++;
    }
    if (n == 0 || (!braces && n < digits) || (braces && !phi__regex_parse_is(p, '}')))
        phi__regex_parse_fail(p, begin, "expected hexadecimal digits");
    else if (code > PHI__REGEX_LAST_CODE || (code >= 0xD800 && code < 0xE000))
        phi__regex_parse_fail(p, begin, "there is no such character");
    if (braces) p->at++;
    return code;
}

static void phi__regex_letter_unknown(phi__regex_parser *p, char c) {
    size_t at = p->at - 2;
    if (c >= '0' && c <= '9')
        phi__regex_parse_fail(p, at, "back references are not supported");
    else if (c == 'p' || c == 'P')
        phi__regex_parse_fail(p, at, "classes by \\p{...} are not supported");
    else if (c == 'A' || c == 'z' || c == 'Z' || c == 'G')
        phi__regex_parse_fail(p, at, "anchors of the whole text are not supported: use ^ and $");
    else if (c == '<' || c == '>')
        phi__regex_parse_fail(p, at, "anchors of one side of a word are not supported: use \\b");
    else if (c == 'b' || c == 'B')
        phi__regex_parse_fail(p, at, "a word boundary cannot be in a set");
    else
        phi__regex_parse_fail(p, at, "unknown escape sequence");
}

static bool phi__regex_letter_is_mark(char c) {
    return c > ' ' && c < 0x7F && phi__regex_letter_digit(c) < 0 &&
           ((c | 0x20) < 'a' || (c | 0x20) > 'z') && c != '<' && c != '>';
}

/* An escape, whose backslash is at p->at. True: a class of "dswDSW", in *letter; else a character,
   in *code. */
static bool phi__regex_letter_escape(phi__regex_parser *p, char *letter, uint32_t *code) {
    static const char names[] = "nrtfva", codes[] = "\n\r\t\f\v\a";
    *code = 0;
    if (++p->at >= p->text.len) {
        phi__regex_parse_fail(p, p->at - 1, "a backslash at the end");
        return false;
    }
    char c = p->text.at[p->at++];
    *letter = c;
    if (c != '\0' && strchr("dswDSW", c) != NULL) return true;
    const char *found = c != '\0' ? strchr(names, c) : NULL;
    if (found != NULL)
        *code = (uint32_t)codes[found - names];
    else if (c == 'x' || c == 'u' || c == 'U')
        *code = phi__regex_letter_hex(p, c == 'x' ? 2 : c == 'u' ? 4 : 8);
    else if (phi__regex_letter_is_mark(c))
        *code = (unsigned char)c;
    else
        phi__regex_letter_unknown(p, c);
    return false;
}

/* ---- sets ---- */

/* Pairs of first and last. */
static const char *phi__regex_letter_posix_rows(phi_str name) {
    static const struct {
        const char *name, *rows;
    } classes[] = {{"alnum", "09AZaz"},
                   {"alpha", "AZaz"},
                   {"ascii", "\1\177"},
                   {"blank", "\t\t  "},
                   {"cntrl", "\1\037\177\177"},
                   {"digit", "09"},
                   {"graph", "!~"},
                   {"lower", "az"},
                   {"print", " ~"},
                   {"punct", "!/:@[`{~"},
                   {"space", "\t\r  "},
                   {"upper", "AZ"},
                   {"word", "09AZ__az"},
                   {"xdigit", "09AFaf"}};
    for (size_t i = 0; i < PHI__COUNT(classes); i++)
        if (phi__str_is(name, classes[i].name)) return classes[i].rows;
    return NULL;
}

static void phi__regex_letter_add(phi__regex_parser *p, uint32_t first, uint32_t last) {
    if (p->status == PHI_OK)
        (void)phi__regex_parse_did(p, phi__regex_set_add(p->tree, first, last));
}

/* [:name:] or [:^name:] at p->at. */
static void phi__regex_letter_posix(phi__regex_parser *p) {
    size_t begin = p->at, end = phi__str_find(p->text, p->at + 2, ":]");
    bool outside = phi__regex_parse_peek(p, 2) == '^';
    size_t from = begin + (outside ? 3 : 2);
    const char *rows = NULL;
    /* The strings of the table have no NUL: it is added to the two classes that begin with it. */
    uint32_t next = 0;
    if (end != SIZE_MAX && end >= from)
        rows = phi__regex_letter_posix_rows(phi__str(p->text.at + from, end - from));
    if (rows == NULL) {
        phi__regex_parse_fail(p, begin,
                              "unknown class of characters, or a set inside a set: write \\[");
        return;
    }
    p->at = end + 2;
    bool nul = rows[0] == '\1';
    for (; *rows != '\0'; rows += 2) {
        uint32_t first = nul && rows[0] == '\1' ? 0 : (unsigned char)rows[0];
        if (!outside)
            phi__regex_letter_add(p, first, (unsigned char)rows[1]);
        else if (first > next)
            phi__regex_letter_add(p, next, first - 1);
        next = (unsigned char)rows[1] + 1u;
    }
    if (outside) phi__regex_letter_add(p, next, PHI__REGEX_LAST_CODE);
}

/* One end of a range, or a class, which is added. False: a class. */
static bool phi__regex_letter_end(phi__regex_parser *p, uint32_t *code) {
    char letter;
    if (!phi__regex_parse_is(p, '\\')) {
        *code = phi__regex_letter_plain(p);
        return true;
    }
    if (!phi__regex_letter_escape(p, &letter, code)) return true;
    (void)phi__regex_parse_did(p, phi__regex_set_add_class(p->tree, letter));
    return false;
}

static void phi__regex_letter_item(phi__regex_parser *p) {
    char c = phi__regex_parse_peek(p, 0), next = phi__regex_parse_peek(p, 1);
    size_t begin = p->at;
    uint32_t first;
    if (c == '[' && next == ':') {
        phi__regex_letter_posix(p);
        return;
    }
    if (c == '[') phi__regex_parse_fail(p, p->at, "a set inside a set is not supported: write \\[");
    if ((c == '&' || c == '-' || c == '~') && next == c)
        phi__regex_parse_fail(p, p->at, "operations on sets are not supported");
    if (p->status != PHI_OK || !phi__regex_letter_end(p, &first)) return;
    uint32_t last = first;
    next = phi__regex_parse_peek(p, 1);
    if (phi__regex_parse_is(p, '-') && next != ']' && next != '-' && p->at + 1 < p->text.len) {
        p->at++;
        if (phi__regex_parse_is(p, '['))
            phi__regex_parse_fail(p, p->at, "a set inside a set is not supported: write \\[");
        else if (!phi__regex_letter_end(p, &last))
            phi__regex_parse_fail(p, begin, "a range cannot end with a class");
        else if (last < first)
            phi__regex_parse_fail(p, begin, "a range whose end is before its beginning");
    }
    phi__regex_letter_add(p, first, last);
}

/* A set in brackets, at p->at; its index. */
static uint32_t phi__regex_letter_set(phi__regex_parser *p) {
    size_t begin = p->at++;
    bool outside = phi__regex_parse_is(p, '^');
    uint32_t set = 0;
    if (outside) p->at++;
    size_t first = p->at;
    phi__regex_set_begin(p->tree);
    while (phi__regex_parse_more(p) && (p->at == first || !phi__regex_parse_is(p, ']'))) {
        if (p->at == first && phi__regex_parse_is(p, ']')) {
            phi__regex_letter_add(p, ']', ']');
            p->at++;
        } else
            phi__regex_letter_item(p);
    }
    if (p->status == PHI_OK && !phi__regex_parse_is(p, ']'))
        phi__regex_parse_fail(p, begin, "a set without its closing bracket");
    p->at++;
    if (p->status == PHI_OK && p->fold) (void)phi__regex_parse_did(p, phi__regex_set_fold(p->tree));
    if (p->status == PHI_OK && outside)
        (void)phi__regex_parse_did(p, phi__regex_set_negate(p->tree));
    if (p->status == PHI_OK) (void)phi__regex_parse_did(p, phi__regex_set_end(p->tree, &set));
    return set;
}

/* ======== Shared by the two halves of the parser: where it stands, and its failures. */

enum { PHI__REGEX_NODE_DEPTH = 3 * PHI__REGEX_DEPTH };

static uint32_t phi__regex_parse_choice(phi__regex_parser *p);

static uint32_t phi__regex_parse_node(phi__regex_parser *p, phi__regex_kind kind, uint32_t a) {
    phi__regex_tree *tree = p->tree;
    phi__regex_node *nodes;
    if (p->status != PHI_OK) return 0;
    nodes = (phi__regex_node *)phi__grow(tree->memory, tree->nodes, &tree->node_cap,
                                         tree->node_count + 1, sizeof *nodes);
    if (nodes == NULL) {
        p->status = PHI_NO_MEMORY;
        return 0;
    }
    tree->nodes = nodes;
    memset(&nodes[tree->node_count], 0, sizeof *nodes);
    nodes[tree->node_count].kind = kind;
    nodes[tree->node_count].a = a;
    return (uint32_t)tree->node_count++;
}

/* The node around children: one deeper. */
static uint32_t phi__regex_parse_above(phi__regex_parser *p, phi__regex_kind kind, uint32_t child,
                                       uint16_t depth) {
    uint32_t node = phi__regex_parse_node(p, kind, child);
    if (p->status != PHI_OK) return 0;
    if (depth >= PHI__REGEX_NODE_DEPTH)
        phi__regex_parse_fail(p, p->at - 1, "the pattern is nested too deeply");
    p->tree->nodes[node].depth = (uint16_t)(depth + 1);
    return node;
}

/* ---- one character ---- */

static uint32_t phi__regex_parse_letter(phi__regex_parser *p, uint32_t code) {
    uint32_t set = 0;
    if (p->status != PHI_OK) return 0;
    phi__regex_set_begin(p->tree);
    if (phi__regex_parse_did(p, phi__regex_set_add(p->tree, code, code)) && p->fold)
        (void)phi__regex_parse_did(p, phi__regex_set_fold(p->tree));
    if (p->status == PHI_OK) (void)phi__regex_parse_did(p, phi__regex_set_end(p->tree, &set));
    return phi__regex_parse_node(p, PHI__REGEX_SET, set);
}

static uint32_t phi__regex_parse_any(phi__regex_parser *p) {
    uint32_t set = 0;
    p->at++;
    phi__regex_set_begin(p->tree);
    if (phi__regex_parse_did(p, phi__regex_set_add(p->tree, 0, PHI__REGEX_LAST_CODE)))
        (void)phi__regex_parse_did(p, phi__regex_set_end(p->tree, &set));
    return phi__regex_parse_node(p, PHI__REGEX_SET, set);
}

static uint32_t phi__regex_parse_escape(phi__regex_parser *p) {
    char next = phi__regex_parse_peek(p, 1), letter = 0;
    size_t begin = p->at;
    uint32_t code, set = 0;
    if (next == 'b' || next == 'B') {
        p->at += 2;
        if (phi__regex_parse_is(p, '{') && next == 'b' && phi__regex_parse_peek(p, 1) > '9')
            phi__regex_parse_fail(p, begin, "boundaries by name are not supported: use \\b");
        p->tree->words = true;
        return phi__regex_parse_node(p, next == 'b' ? PHI__REGEX_WORD : PHI__REGEX_NO_WORD, 0);
    }
    if (!phi__regex_letter_escape(p, &letter, &code)) {
        if (code == '\n') phi__regex_parse_fail(p, begin, "a match cannot contain a newline");
        return phi__regex_parse_letter(p, code);
    }
    phi__regex_set_begin(p->tree);
    if (phi__regex_parse_did(p, phi__regex_set_add_class(p->tree, letter)))
        (void)phi__regex_parse_did(p, phi__regex_set_end(p->tree, &set));
    return phi__regex_parse_node(p, PHI__REGEX_SET, set);
}

/* ---- groups ---- */

/* Behind "(?": letters up to ')' or ':'. */
static void phi__regex_parse_flags(phi__regex_parser *p) {
    bool on = true;
    size_t begin = p->at;
    while (phi__regex_parse_more(p) && !phi__regex_parse_is(p, ')') &&
           !phi__regex_parse_is(p, ':')) {
        char c = p->text.at[p->at++];
        if (c == '-' && on)
            on = false;
        else if (c == 'i')
            p->fold = on;
        else if (c == 's' || c == 'U' || ((c == 'm' || c == 'u') && on) || (c == 'x' && !on))
            continue; /* they change nothing about whether a line matches */
        else if (c == 'm' || c == 'u' || c == 'x')
            phi__regex_parse_fail(p, p->at - 1, "this flag is not supported");
        else
            phi__regex_parse_fail(p, p->at - 1, "unknown kind of group");
    }
    if (p->status == PHI_OK && p->at == begin && phi__regex_parse_is(p, ')'))
        phi__regex_parse_fail(p, begin, "a group without flags");
    if (p->status == PHI_OK && p->at >= p->text.len)
        phi__regex_parse_fail(p, begin - 2, "a group without its closing parenthesis");
}

/* (?P<name>...) and (?<name>...), at the name. */
static void phi__regex_parse_name(phi__regex_parser *p) {
    size_t begin = p->at;
    char c;
    while ((c = phi__regex_parse_peek(p, 0)) != '\0' && c != '>') {
        bool letter = (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
        if (!letter && c != '_' && (p->at == begin || c < '0' || c > '9')) break;
        p->at++;
    }
    if (c != '>' || p->at == begin)
        phi__regex_parse_fail(p, p->at, "the name of a group has letters, digits and underscores");
    p->at++;
}

/* The flags between "(?" and the group's own pattern. False: flags alone, nothing to repeat. */
static bool phi__regex_parse_head(phi__regex_parser *p) {
    char c = phi__regex_parse_peek(p, 0), next = phi__regex_parse_peek(p, 1);
    if (c == '=' || c == '!' || (c == '<' && (next == '=' || next == '!')))
        phi__regex_parse_fail(p, p->at - 2, "look-around is not supported");
    else if (c == 'P' && next == '=')
        phi__regex_parse_fail(p, p->at - 2, "back references are not supported");
    else if (c == '<' || (c == 'P' && next == '<')) {
        p->at += c == 'P' ? 2 : 1;
        phi__regex_parse_name(p);
    } else {
        phi__regex_parse_flags(p);
        if (p->status == PHI_OK && p->text.at[p->at++] == ')') return false;
    }
    return true;
}

/* At "(". *alone: flags for the rest of the group around it. */
static uint32_t phi__regex_parse_group(phi__regex_parser *p, bool *alone) {
    size_t begin = p->at++;
    bool fold = p->fold;
    *alone = false;
    if (phi__regex_parse_is(p, '?')) {
        p->at++;
        *alone = !phi__regex_parse_head(p);
        if (*alone) return 0;
    }
    if (p->depth >= PHI__REGEX_DEPTH)
        phi__regex_parse_fail(p, begin, "the pattern is nested too deeply");
    if (p->status != PHI_OK) return 0;
    p->depth++;
    uint32_t node = phi__regex_parse_choice(p);
    p->depth--;
    p->fold = fold;
    if (p->status == PHI_OK && !phi__regex_parse_is(p, ')'))
        phi__regex_parse_fail(p, begin, "a group without its closing parenthesis");
    p->at++;
    return node;
}

/* ---- repetition ---- */

/* A count in braces; false: there is none. */
static bool phi__regex_parse_count(phi__regex_parser *p, uint16_t *out) {
    size_t begin = p->at;
    uint32_t n = 0;
    while (phi__regex_parse_more(p) && p->text.at[p->at] >= '0' && p->text.at[p->at] <= '9') {
        n = n * 10 + (uint32_t)(p->text.at[p->at++] - '0');
        if (n > PHI__REGEX_REPEAT) phi__regex_parse_fail(p, begin, "a count of more than 1,000");
    }
    *out = (uint16_t)n;
    return p->at > begin;
}

static void phi__regex_parse_braces(phi__regex_parser *p, uint16_t *min, uint16_t *max) {
    size_t begin = p->at++;
    bool good = phi__regex_parse_count(p, min);
    *max = *min;
    if (good && phi__regex_parse_is(p, ',')) {
        p->at++;
        if (!phi__regex_parse_count(p, max)) *max = PHI__REGEX_ENDLESS;
    }
    if (!good || !phi__regex_parse_is(p, '}'))
        phi__regex_parse_fail(p, begin, "expected a count such as {2}, {2,} or {2,5}: write \\{");
    else if (*max < *min)
        phi__regex_parse_fail(p, begin, "a count whose end is before its beginning");
    p->at++;
}

static uint32_t phi__regex_parse_times(phi__regex_parser *p, uint32_t node) {
    while (phi__regex_parse_more(p) && strchr("*+?{", p->text.at[p->at]) != NULL &&
           p->text.at[p->at] != '\0') {
        char c = p->text.at[p->at];
        uint16_t min = c == '+' ? 1 : 0, max = c == '?' ? 1 : PHI__REGEX_ENDLESS;
        if (c == '{')
            phi__regex_parse_braces(p, &min, &max);
        else
            p->at++;
        if (phi__regex_parse_is(p, '?')) p->at++; /* lazy: the same lines */
        if (p->status != PHI_OK) return 0;
        if (min == 1 && max == 1) continue;
        node = phi__regex_parse_above(p, PHI__REGEX_TIMES, node, p->tree->nodes[node].depth);
        if (p->status != PHI_OK) return 0;
        p->tree->nodes[node].min = min;
        p->tree->nodes[node].max = max;
    }
    return node;
}

/* ---- together ---- */

static uint32_t phi__regex_parse_atom(phi__regex_parser *p, bool *alone) {
    char c = p->text.at[p->at];
    *alone = false;
    switch (c) {
    case '.': return phi__regex_parse_any(p);
    case '(': return phi__regex_parse_group(p, alone);
    case '\\': return phi__regex_parse_escape(p);
    case '[': {
        uint32_t set = phi__regex_letter_set(p);
        return phi__regex_parse_node(p, PHI__REGEX_SET, set);
    }
    case '^':
    case '$':
        p->at++;
        return phi__regex_parse_node(p, c == '^' ? PHI__REGEX_START : PHI__REGEX_END, 0);
    case '*':
    case '+':
    case '?':
    case '{': phi__regex_parse_fail(p, p->at, "there is nothing to repeat"); return 0;
    case '\n': phi__regex_parse_fail(p, p->at, "a match cannot contain a newline"); return 0;
    default: return phi__regex_parse_letter(p, phi__regex_letter_plain(p));
    }
}

/* A list of nodes: none, one, or many below one of `kind`. */
typedef struct phi__regex_row {
    uint32_t first, last, count;
    uint16_t depth;
} phi__regex_row;

static void phi__regex_parse_append(phi__regex_parser *p, phi__regex_row *row, uint32_t node) {
    phi__regex_node *nodes = p->tree->nodes;
    if (p->status != PHI_OK) return;
    if (row->count++ == 0)
        row->first = node;
    else
        nodes[row->last].next = node;
    row->last = node;
    if (nodes[node].depth > row->depth) row->depth = nodes[node].depth;
}

/* A node that is in two lists would join them: an appended node is in no other list. */
static uint32_t phi__regex_parse_row(phi__regex_parser *p, const phi__regex_row *row,
                                     phi__regex_kind kind) {
    if (row->count == 1) return row->first;
    if (row->count == 0) return phi__regex_parse_node(p, PHI__REGEX_EMPTY, 0);
    return phi__regex_parse_above(p, kind, row->first, row->depth);
}

static uint32_t phi__regex_parse_sequence(phi__regex_parser *p) {
    phi__regex_row row = PHI_ZERO;
    while (phi__regex_parse_more(p) && !phi__regex_parse_is(p, '|') &&
           !phi__regex_parse_is(p, ')')) {
        bool alone;
        uint32_t node = phi__regex_parse_atom(p, &alone);
        if (alone && phi__regex_parse_more(p) && strchr("*+?{", p->text.at[p->at]) != NULL)
            phi__regex_parse_fail(p, p->at, "there is nothing to repeat");
        if (alone) continue;
        node = phi__regex_parse_times(p, node);
        phi__regex_parse_append(p, &row, node);
    }
    return phi__regex_parse_row(p, &row, PHI__REGEX_CAT);
}

static uint32_t phi__regex_parse_choice(phi__regex_parser *p) {
    phi__regex_row row = PHI_ZERO;
    phi__regex_parse_append(p, &row, phi__regex_parse_sequence(p));
    while (phi__regex_parse_is(p, '|')) {
        p->at++;
        phi__regex_parse_append(p, &row, phi__regex_parse_sequence(p));
    }
    return phi__regex_parse_row(p, &row, PHI__REGEX_ALT);
}

/* ---- for other files ---- */

/* PHI_BAD_ARG: error says why. The tree is to be freed in any case. */
static phi_status phi__regex_parse(phi__regex_tree *tree, phi_memory *memory, phi_str pattern,
                                   bool ignore_case, phi__regex_error *error) {
    memset(tree, 0, sizeof *tree);
    tree->memory = memory;
    phi__regex_parser p = PHI_ZERO;
    p.tree = tree;
    p.text = pattern;
    p.fold = ignore_case;
    p.error = error;
    if (pattern.len > PHI__REGEX_PATTERN_BYTES)
        phi__regex_parse_fail(&p, PHI__REGEX_PATTERN_BYTES,
                              "the pattern is longer than 4,096 bytes");
    (void)phi__regex_parse_node(&p, PHI__REGEX_EMPTY, 0); /* index 0: no node */
    tree->root = phi__regex_parse_choice(&p);
    if (p.status == PHI_OK && p.at < pattern.len)
        phi__regex_parse_fail(&p, p.at, "a closing parenthesis without a group");
    return p.status;
}

/* ======== A pattern's program: instructions over symbols.

   Characters that no set of the pattern tells apart are one symbol, so that a text is a row of few
   symbols; three more stand for the end of a line, for a byte that is no character, and for a byte
   above 0x7F, which must be decoded first. */

/* ---- instructions ---- */

typedef struct phi__regex_emitter {
    phi__regex_program *program;
    const phi__regex_tree *tree;
    phi_status status;
    size_t visits; /* of nodes: a repetition of nothing emits nothing */
} phi__regex_emitter;

static size_t phi__regex_program_add(phi__regex_emitter *e, phi__regex_op op, size_t x, size_t y) {
    phi__regex_program *program = e->program;
    phi__regex_code *codes;
    if (e->status != PHI_OK) return 0;
    if (program->count >= PHI__REGEX_CODES) {
        e->status = PHI_FULL;
        return 0;
    }
    codes = (phi__regex_code *)phi__grow(program->memory, program->codes, &program->cap,
                                         program->count + 1, sizeof *codes);
    if (codes == NULL) {
        e->status = PHI_NO_MEMORY;
        return 0;
    }
    program->codes = codes;
    codes[program->count].op = (uint16_t)op;
    codes[program->count].x = (uint16_t)x;
    codes[program->count].y = (uint16_t)y;
    return program->count++;
}

static void phi__regex_program_emit(phi__regex_emitter *e, uint32_t index);

/* Instructions that jump to a place not known yet are a chain through y, by index + 1. */
static void phi__regex_program_land(phi__regex_emitter *e, size_t chain, bool jumps) {
    phi__regex_code *codes = e->program->codes;
    while (chain != 0 && e->status == PHI_OK) {
        size_t next = codes[chain - 1].y;
        codes[chain - 1].y = (uint16_t)e->program->count;
        if (jumps) codes[chain - 1].x = (uint16_t)e->program->count;
        chain = next;
    }
}

static void phi__regex_program_emit_choice(phi__regex_emitter *e, uint32_t child) {
    size_t ends = 0;
    for (; child != 0 && e->status == PHI_OK; child = e->tree->nodes[child].next) {
        size_t split = 0;
        bool more = e->tree->nodes[child].next != 0;
        if (more) split = phi__regex_program_add(e, PHI__REGEX_OP_SPLIT, e->program->count + 1, 0);
        phi__regex_program_emit(e, child);
        if (!more) break;
        ends = phi__regex_program_add(e, PHI__REGEX_OP_JUMP, 0, ends) + 1;
        if (e->status == PHI_OK) e->program->codes[split].y = (uint16_t)e->program->count;
    }
    phi__regex_program_land(e, ends, true);
}

static void phi__regex_program_emit_times(phi__regex_emitter *e, const phi__regex_node *node) {
    size_t begin = 0, ends = 0;
    uint16_t i;
    for (i = 0; i < node->min && e->status == PHI_OK; i++) {
        begin = e->program->count;
        phi__regex_program_emit(e, node->a);
    }
    if (node->max == PHI__REGEX_ENDLESS && node->min > 0) {
        (void)phi__regex_program_add(e, PHI__REGEX_OP_SPLIT, begin, e->program->count + 1);
    } else if (node->max == PHI__REGEX_ENDLESS) {
        begin = phi__regex_program_add(e, PHI__REGEX_OP_SPLIT, e->program->count + 1, 0);
        phi__regex_program_emit(e, node->a);
        (void)phi__regex_program_add(e, PHI__REGEX_OP_JUMP, begin, 0);
        if (e->status == PHI_OK) e->program->codes[begin].y = (uint16_t)e->program->count;
    } else {
        for (; i < node->max && e->status == PHI_OK; i++) {
            ends = phi__regex_program_add(e, PHI__REGEX_OP_SPLIT, e->program->count + 1, ends) + 1;
            phi__regex_program_emit(e, node->a);
        }
        phi__regex_program_land(e, ends, false);
    }
}

/* Recursion as deep as the tree, which is bounded. */
static void phi__regex_program_emit(phi__regex_emitter *e, uint32_t index) {
    const phi__regex_node *node = &e->tree->nodes[index];
    uint32_t child;
    if (e->status != PHI_OK) return;
    if (++e->visits > 4 * PHI__REGEX_CODES) e->status = PHI_FULL;
    switch (node->kind) {
    case PHI__REGEX_EMPTY: break;
    case PHI__REGEX_SET: (void)phi__regex_program_add(e, PHI__REGEX_OP_SET, node->a, 0); break;
    case PHI__REGEX_CAT:
        for (child = node->a; child != 0; child = e->tree->nodes[child].next)
            phi__regex_program_emit(e, child);
        break;
    case PHI__REGEX_ALT: phi__regex_program_emit_choice(e, node->a); break;
    case PHI__REGEX_TIMES: phi__regex_program_emit_times(e, node); break;
    default: (void)phi__regex_program_add(e, PHI__REGEX_OP_TEST, (size_t)node->kind, 0); break;
    }
}

/* ---- the alphabet ---- */

static void phi__regex_program_sink(uint32_t *rows, size_t at, size_t n) {
    uint32_t row = rows[at];
    size_t child;
    while ((child = 2 * at + 1) < n) {
        if (child + 1 < n && rows[child] < rows[child + 1]) child++;
        if (rows[child] <= row) break;
        rows[at] = rows[child];
        at = child;
    }
    rows[at] = row;
}

/* Every place at which a set begins or ends; and 0x80, so that ASCII stands alone. */
static phi_status phi__regex_program_cut(phi__regex_program *program, const phi__range *ranges,
                                         size_t count, const phi__range *words, size_t word_count) {
    size_t n = 0, most = 2 * (count + word_count) + 2;
    program->starts = (uint32_t *)phi__alloc(program->memory, most * sizeof(uint32_t));
    program->symbols = (uint16_t *)phi__alloc(program->memory, most * sizeof(uint16_t));
    program->samples = (uint32_t *)phi__alloc(program->memory, most * sizeof(uint32_t));
    program->run_cap = most;
    if (program->starts == NULL || program->symbols == NULL || program->samples == NULL)
        return PHI_NO_MEMORY;
    program->starts[n++] = 0;
    program->starts[n++] = 0x80;
    for (size_t i = 0; i < count + word_count; i++) {
        const phi__range *row = i < count ? &ranges[i] : &words[i - count];
        program->starts[n++] = row->first;
        if (row->last < PHI__REGEX_LAST_CODE) program->starts[n++] = row->last + 1;
    }
    /* In order, each once. */
    uint32_t *rows = program->starts;
    size_t kept = 0;
    for (size_t i = n / 2; i > 0; i--) phi__regex_program_sink(rows, i - 1, n);
    for (size_t i = n; i > 1; i--) {
        uint32_t first = rows[0];
        rows[0] = rows[i - 1];
        rows[i - 1] = first;
        phi__regex_program_sink(rows, 0, i - 1);
    }
    for (size_t i = 1; i < n; i++)
        if (rows[i] != rows[kept]) rows[++kept] = rows[i];
    program->run_count = n > 0 ? kept + 1 : 0;
    return PHI_OK;
}

static size_t phi__regex_program_run(const phi__regex_program *program, uint32_t code) {
    size_t low = 0, high = program->run_count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (program->starts[middle] <= code)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The runs inside a set become symbols apart from those outside: a symbol that has both is split.
   renamed: what became of each symbol in this round, and in which round. */
static void phi__regex_program_refine(phi__regex_program *program, const phi__range *rows, size_t n,
                                      uint32_t *renamed, uint32_t round, uint32_t *next) {
    for (size_t i = 0; i < n; i++) {
        size_t run = phi__regex_program_run(program, rows[i].first);
        for (; run < program->run_count && program->starts[run] <= rows[i].last; run++) {
            uint32_t old = program->symbols[run];
            if (renamed[2 * old] != round) {
                renamed[2 * old] = round;
                renamed[2 * old + 1] = (*next)++;
            }
            program->symbols[run] = (uint16_t)renamed[2 * old + 1];
        }
    }
}

/* Numbers the symbols anew, from 0 on, in the order of the runs. */
static void phi__regex_program_number(phi__regex_program *program, uint32_t *renamed,
                                      uint32_t round) {
    uint32_t n = 0;
    for (size_t i = 0; i < program->run_count; i++) {
        uint32_t old = program->symbols[i];
        if (renamed[2 * old] != round) {
            renamed[2 * old] = round;
            renamed[2 * old + 1] = n;
            program->samples[n++] = program->starts[i];
        }
        program->symbols[i] = (uint16_t)renamed[2 * old + 1];
    }
    program->symbol_count = (uint16_t)n;
}

static phi_status phi__regex_program_alphabet(phi__regex_program *program,
                                              const phi__regex_tree *tree) {
    size_t word_count = 0;
    const phi__range *words = phi__regex_tables_word(&word_count);
    uint32_t next = 1, round = 1;
    if (!tree->words) word_count = 0;
    phi_status status =
        phi__regex_program_cut(program, tree->ranges, tree->range_count, words, word_count);
    if (status != PHI_OK) return status;
    if (program->run_count > UINT16_MAX / 2) return PHI_FULL;
    /* A round makes at most as many symbols as there are runs, and then they are numbered anew. */
    size_t most = 2 * program->run_count + 2;
    uint32_t *renamed = (uint32_t *)phi__alloc(program->memory, 2 * most * sizeof(uint32_t));
    if (renamed == NULL) return PHI_NO_MEMORY;
    for (size_t i = 0; i <= tree->set_count; i++) {
        const phi__range *rows = i < tree->set_count ? tree->ranges + tree->sets[i].at : words;
        size_t n = i < tree->set_count ? tree->sets[i].count : word_count;
        phi__regex_program_refine(program, rows, n, renamed, round++, &next);
        if (next <= program->run_count) continue;
        phi__regex_program_number(program, renamed, round++);
        next = program->symbol_count;
    }
    phi__regex_program_number(program, renamed, round);
    phi__free(program->memory, renamed, 2 * most * sizeof(uint32_t));
    return PHI_OK;
}

/* ---- for other files ---- */

static uint16_t phi__regex_program_symbol(const phi__regex_program *program, uint32_t code) {
    return program->symbols[phi__regex_program_run(program, code)];
}

static bool phi__regex_program_in_set(const phi__regex_program *program, uint16_t set,
                                      uint16_t symbol) {
    const phi__regex_set *s = &program->sets[set];
    return symbol < program->symbol_count &&
           phi__regex_set_has(program->ranges + s->at, s->count, program->samples[symbol]);
}

static bool phi__regex_program_is_word(const phi__regex_program *program, uint16_t symbol) {
    size_t count;
    const phi__range *words = phi__regex_tables_word(&count);
    return symbol < program->symbol_count &&
           phi__regex_set_has(words, count, program->samples[symbol]);
}

/* Takes the tree's sets. PHI_BAD_ARG: the program would be too large. */
static phi_status phi__regex_program_make(phi__regex_program *program, phi__regex_tree *tree,
                                          phi__regex_error *error) {
    memset(program, 0, sizeof *program);
    program->memory = tree->memory;
    program->words = tree->words;
    phi__regex_emitter e = PHI_ZERO;
    e.program = program;
    e.tree = tree;
    phi__regex_program_emit(&e, tree->root);
    (void)phi__regex_program_add(&e, PHI__REGEX_OP_MATCH, 0, 0);
    if (e.status == PHI_OK) e.status = phi__regex_program_alphabet(program, tree);
    if (e.status == PHI_OK) {
        program->ranges = tree->ranges;
        program->range_cap = tree->range_cap;
        program->sets = tree->sets;
        program->set_cap = tree->set_cap;
        tree->ranges = NULL;
        tree->sets = NULL;
        tree->range_cap = tree->set_cap = 0;
        program->end = program->symbol_count;
        program->bad = (uint16_t)(program->symbol_count + 1);
        program->high = (uint16_t)(program->symbol_count + 2);
        for (uint32_t c = 0; c < 256; c++)
            program->bytes[c] = c >= 0x80   ? program->high
                                : c == '\n' ? program->end
                                            : phi__regex_program_symbol(program, c);
    }
    if (e.status != PHI_FULL) return e.status;
    error->column = 1;
    (void)snprintf(error->message, sizeof error->message, "the pattern is too large");
    return PHI_BAD_ARG;
}

/* ======== Regular expressions over text in lines, in time linear in the text.

   The syntax is a subset of that of ripgrep, with the same meaning; docs/tools.md has its table. A
   pattern becomes a program of at most PHI__REGEX_CODES instructions, and the program a machine of
   states that are computed when the text first needs them. They are kept in a bounded cache, which
   is emptied when it is full: so a byte of text costs at most one pass over the program, whatever
   the pattern. The only question is whether a line contains a match.

   Text is UTF-8. A byte that belongs to no valid character matches nothing, not even '.'. No match
   contains a newline. Threads: one at a time. */

enum {
    PHI__REGEX_UNKNOWN, /* in the table: not computed */
    PHI__REGEX_MATCHED, /* in the table: the line matches */
    PHI__REGEX_FIRST,   /* the first state */
    PHI__REGEX_STATES = 4096,
    PHI__REGEX_POOL = 262144 /* instructions of all states together */
};

/* What stood before a state's place; it matters to states with tests alone. */
typedef enum phi__regex_before {
    PHI__REGEX_BEFORE_ANY,
    PHI__REGEX_BEFORE_LINE,
    PHI__REGEX_BEFORE_WORD,
    PHI__REGEX_BEFORE_OTHER
} phi__regex_before;

typedef struct phi__regex_state {
    uint32_t at; /* in the pool */
    uint16_t count, before;
} phi__regex_state;

struct phi__regex {
    phi_memory *memory;
    phi__regex_program program;
    unsigned shift; /* a row of the table has 1 << shift places */
    uint16_t *table;
    size_t table_cap;
    phi__regex_state *states;
    size_t state_count, state_cap, most_states; /* with the two that are none */
    uint16_t *pool;
    size_t pool_count, pool_cap;
    uint16_t *hash; /* states by their instructions */
    size_t hash_size;
    uint64_t *next, *seen; /* sets of instructions, a bit each */
    uint16_t *stack;
    size_t words;          /* of such a set */
    bool matched;          /* an instruction that was reached says so */
    bool flushed;          /* the states were thrown away */
    uint16_t state, start; /* PHI__REGEX_UNKNOWN: to be made */
    /* The only bytes that lead on from the start state; none of them: it is not looked for. */
    char leads[2];
    size_t lead_count;
    uint64_t work;
};

/* ---- sets of instructions ---- */

static bool phi__regex_mark(uint64_t *set, size_t pc) {
    uint64_t bit = (uint64_t)1 << (pc & 63);
    if (set[pc >> 6] & bit) return false;
    set[pc >> 6] |= bit;
    return true;
}

static size_t phi__regex_push(const phi__regex *regex, uint64_t *set, size_t depth, size_t pc) {
    if (phi__regex_mark(set, pc)) regex->stack[depth++] = (uint16_t)pc;
    return depth;
}

/* Adds an instruction and those reached without a character or a test. */
static void phi__regex_reach(phi__regex *regex, uint64_t *set, size_t pc) {
    size_t depth = phi__regex_push(regex, set, 0, pc);
    while (depth > 0) {
        const phi__regex_code *code = &regex->program.codes[regex->stack[--depth]];
        regex->work++;
        if (code->op == PHI__REGEX_OP_SPLIT) depth = phi__regex_push(regex, set, depth, code->y);
        if (code->op == PHI__REGEX_OP_SPLIT || code->op == PHI__REGEX_OP_JUMP)
            depth = phi__regex_push(regex, set, depth, code->x);
        if (code->op == PHI__REGEX_OP_MATCH) regex->matched = true;
    }
}

static bool phi__regex_test(const phi__regex *regex, uint16_t kind, uint16_t before,
                            uint16_t symbol) {
    if (kind == PHI__REGEX_START) return before == PHI__REGEX_BEFORE_LINE;
    if (kind == PHI__REGEX_END) return symbol == regex->program.end;
    bool edge =
        (before == PHI__REGEX_BEFORE_WORD) != phi__regex_program_is_word(&regex->program, symbol);
    return edge == (kind == PHI__REGEX_WORD);
}

/* Puts into `next` where a state's instructions lead with a symbol. */
static void phi__regex_follow(phi__regex *regex, const phi__regex_state *state, uint16_t symbol) {
    size_t depth = 0;
    memset(regex->seen, 0, regex->words * sizeof *regex->seen);
    for (size_t i = 0; i < state->count; i++)
        depth = phi__regex_push(regex, regex->seen, depth, regex->pool[state->at + i]);
    while (depth > 0) {
        size_t pc = regex->stack[--depth];
        const phi__regex_code *code = &regex->program.codes[pc];
        regex->work++;
        if (code->op == PHI__REGEX_OP_SPLIT)
            depth = phi__regex_push(regex, regex->seen, depth, code->y);
        if (code->op == PHI__REGEX_OP_SPLIT || code->op == PHI__REGEX_OP_JUMP)
            depth = phi__regex_push(regex, regex->seen, depth, code->x);
        if (code->op == PHI__REGEX_OP_MATCH) regex->matched = true;
        if (code->op == PHI__REGEX_OP_TEST &&
            phi__regex_test(regex, code->x, state->before, symbol))
            depth = phi__regex_push(regex, regex->seen, depth, pc + 1);
        if (code->op == PHI__REGEX_OP_SET &&
            phi__regex_program_in_set(&regex->program, code->x, symbol))
            (void)phi__regex_mark(regex->next, pc + 1);
    }
}

/* ---- states ---- */

static void phi__regex_flush(phi__regex *regex) {
    regex->state_count = PHI__REGEX_FIRST;
    regex->pool_count = 0;
    regex->start = PHI__REGEX_UNKNOWN;
    regex->flushed = true;
    memset(regex->hash, 0, regex->hash_size * sizeof *regex->hash);
}

/* Appends the instructions in `next` that wait for something to the pool, in order. False: no
   memory. *tests: there are tests among them. */
static bool phi__regex_list(phi__regex *regex, phi__regex_state *state, bool *tests) {
    size_t n = 0;
    uint16_t *pool;
    *tests = false;
    pool = (uint16_t *)phi__grow(regex->memory, regex->pool, &regex->pool_cap,
                                 regex->pool_count + regex->program.count, sizeof *pool);
    if (pool == NULL) return false;
    regex->pool = pool;
    for (size_t i = 0; i < regex->words; i++) {
        uint64_t word = regex->next[i];
        size_t pc = i * 64;
        for (; word != 0; word >>= 1, pc++) {
            uint16_t op = regex->program.codes[phi__min(pc, regex->program.count - 1)].op;
            if ((word & 1) == 0 || op == PHI__REGEX_OP_JUMP || op == PHI__REGEX_OP_SPLIT) continue;
            if (op == PHI__REGEX_OP_TEST) *tests = true;
            pool[regex->pool_count + n++] = (uint16_t)pc;
        }
    }
    regex->work += regex->words + n;
    state->at = (uint32_t)regex->pool_count;
    state->count = (uint16_t)n;
    return true;
}

static bool phi__regex_same(const phi__regex *regex, const phi__regex_state *a,
                            const phi__regex_state *b) {
    return a->count == b->count && a->before == b->before &&
           memcmp(regex->pool + a->at, regex->pool + b->at, a->count * sizeof *regex->pool) == 0;
}

/* The state of the instructions in `next`; PHI__REGEX_UNKNOWN: no memory. */
static uint16_t phi__regex_intern(phi__regex *regex, uint16_t before) {
    phi__regex_state state;
    bool tests;
    if (regex->state_count >= regex->most_states ||
        regex->pool_count + regex->program.count > PHI__REGEX_POOL)
        phi__regex_flush(regex);
    if (!phi__regex_list(regex, &state, &tests)) return PHI__REGEX_UNKNOWN;
    state.before = tests ? before : (uint16_t)PHI__REGEX_BEFORE_ANY;
    uint32_t hash = 2166136261u + state.before;
    for (size_t i = 0; i < state.count; i++) hash = (hash ^ regex->pool[state.at + i]) * 16777619u;
    size_t at = (hash ^ hash >> 15) & (regex->hash_size - 1);
    for (; regex->hash[at] != 0; at = (at + 1) & (regex->hash_size - 1))
        if (phi__regex_same(regex, &state, &regex->states[regex->hash[at]])) return regex->hash[at];
    /* A row of the table for a new state. */
    size_t row = (size_t)1 << regex->shift;
    phi__regex_state *states = (phi__regex_state *)phi__grow(
        regex->memory, regex->states, &regex->state_cap, regex->state_count + 1, sizeof *states);
    uint16_t *table;
    if (states == NULL) return PHI__REGEX_UNKNOWN;
    regex->states = states;
    table = (uint16_t *)phi__grow(regex->memory, regex->table, &regex->table_cap,
                                  (regex->state_count + 1) * row, sizeof *table);
    if (table == NULL) return PHI__REGEX_UNKNOWN;
    regex->table = table;
    memset(table + regex->state_count * row, 0, row * sizeof *table);
    regex->hash[at] = (uint16_t)regex->state_count;
    regex->pool_count += state.count;
    regex->states[regex->state_count] = state;
    return (uint16_t)regex->state_count++;
}

/* The state at a line's beginning. */
static uint16_t phi__regex_starting(phi__regex *regex) {
    if (regex->start != PHI__REGEX_UNKNOWN) return regex->start;
    memset(regex->next, 0, regex->words * sizeof *regex->next);
    phi__regex_reach(regex, regex->next, 0);
    regex->matched = false; /* noticed at the next symbol */
    regex->start = phi__regex_intern(regex, PHI__REGEX_BEFORE_LINE);
    return regex->start;
}

/* Where a symbol leads; PHI__REGEX_UNKNOWN: no memory. */
static uint16_t phi__regex_step(phi__regex *regex, uint16_t symbol) {
    phi__regex_state state = regex->states[regex->state];
    regex->matched = false;
    memset(regex->next, 0, regex->words * sizeof *regex->next);
    phi__regex_follow(regex, &state, symbol);
    if (regex->matched) return PHI__REGEX_MATCHED;
    if (symbol == regex->program.end) return phi__regex_starting(regex);
    (void)phi__regex_mark(regex->next, 0); /* a match may begin here, too */
    /* `next` has single instructions: those reached from them are added. */
    memset(regex->seen, 0, regex->words * sizeof *regex->seen);
    for (size_t i = 0; i < regex->words; i++) {
        uint64_t word = regex->next[i];
        size_t pc = i * 64;
        for (; word != 0; word >>= 1, pc++)
            if (word & 1) phi__regex_reach(regex, regex->seen, pc);
    }
    memcpy(regex->next, regex->seen, regex->words * sizeof *regex->next);
    if (regex->matched) return PHI__REGEX_MATCHED;
    bool word = regex->program.words && phi__regex_program_is_word(&regex->program, symbol);
    return phi__regex_intern(regex,
                             (uint16_t)(word ? PHI__REGEX_BEFORE_WORD : PHI__REGEX_BEFORE_OTHER));
}

/* The same out of the table, where it is computed once. */
static uint16_t phi__regex_go(phi__regex *regex, uint16_t symbol, size_t *units) {
    size_t place = ((size_t)regex->state << regex->shift) + symbol;
    uint16_t to = regex->table[place];
    uint64_t before = regex->work;
    if (to != PHI__REGEX_UNKNOWN) return to;
    regex->flushed = false;
    to = phi__regex_step(regex, symbol);
    if (!regex->flushed) regex->table[place] = to;
    *units -= phi__min(*units, (size_t)(regex->work - before));
    return to;
}

/* ---- text ---- */

/* The symbol of a character above ASCII; *n its bytes, 0: more are needed. */
static uint16_t phi__regex_decode(const phi__regex *regex, phi_str text, bool last, size_t *n) {
    const unsigned char *s = (const unsigned char *)text.at;
    size_t want = s[0] < 0xE0 ? 2 : s[0] < 0xF0 ? 3 : 4, have = phi__min(want, text.len);
    uint32_t code = s[0] & (0xFFu >> (want + 1));
    if (phi__utf8_valid(phi__str(text.at, have)) == want) {
        for (size_t i = 1; i < want; i++) code = code << 6 | (s[i] & 0x3Fu);
        *n = want;
        return phi__regex_program_symbol(&regex->program, code);
    }
    /* The beginning of a character, up to the end of the text. */
    *n = !last && have < want && phi__utf8_bad(text.at, text.at + have) == have ? 0 : 1;
    if (*n == 0 && (s[0] < 0xC2 || s[0] > 0xF4)) *n = 1;
    return regex->program.bad;
}

/* Where one of the leading bytes stands, from `at` on. next: where each was seen last. */
static size_t phi__regex_skip(const phi__regex *regex, const char *text, size_t at, size_t end,
                              size_t *next) {
    size_t first = end;
    for (size_t i = 0; i < regex->lead_count; i++) {
        if (next[i] < at) {
            const void *found = memchr(text + at, regex->leads[i], end - at);
            next[i] = found != NULL ? (size_t)((const char *)found - text) : end;
        }
        first = phi__min(first, next[i]);
    }
    return first;
}

/* Follows the table; stops at a place not computed yet, at a match, and at a byte above ASCII. */
static size_t phi__regex_run(phi__regex *regex, const char *text, size_t at, size_t end) {
    const uint16_t *table = regex->table, *bytes = regex->program.bytes;
    unsigned shift = regex->shift;
    uint16_t state = regex->state, idle = PHI__REGEX_UNKNOWN;
    size_t next[2] = {0, 0};
    if (regex->lead_count > 0) {
        idle = regex->start;
        if (state == idle) at = phi__regex_skip(regex, text, at, end, next);
    }
    for (; at < end; at++) {
        uint16_t to = table[((size_t)state << shift) + bytes[(unsigned char)text[at]]];
        if (to < PHI__REGEX_FIRST) break;
        state = to;
        /* The loop's own step follows. */
        if (to == idle) at = phi__regex_skip(regex, text, at + 1, end, next) - 1;
    }
    regex->state = state;
    return at;
}

/* Whether the start state has no tests, and at most two ASCII bytes lead on from it. */
static void phi__regex_find_leads(phi__regex *regex) {
    const phi__regex_program *program = &regex->program;
    uint16_t c;
    size_t pc, run, n = 0;
    memset(regex->next, 0, regex->words * sizeof *regex->next);
    phi__regex_reach(regex, regex->next, 0);
    for (uint16_t symbol = 0; symbol < program->symbol_count; symbol++) {
        bool leads = regex->matched;
        for (pc = 0; pc < program->count && !leads; pc++)
            if ((regex->next[pc >> 6] >> (pc & 63) & 1) != 0)
                leads = program->codes[pc].op == PHI__REGEX_OP_TEST ||
                        (program->codes[pc].op == PHI__REGEX_OP_SET &&
                         phi__regex_program_in_set(program, program->codes[pc].x, symbol));
        if (!leads) continue;
        for (run = 0; run < program->run_count; run++)
            if (program->starts[run] >= 0x80 && program->symbols[run] == symbol) return;
        for (c = 0; c < 0x80; c++) {
            if (program->bytes[c] != symbol) continue;
            if (n == 2) return;
            regex->leads[n++] = (char)c;
        }
    }
    regex->lead_count = n;
}

static bool phi__regex_ready(phi__regex *regex) {
    if (regex->state == PHI__REGEX_UNKNOWN) regex->state = phi__regex_starting(regex);
    return regex->state != PHI__REGEX_UNKNOWN;
}

static bool phi__regex_prepare(phi__regex *regex) {
    size_t row = 1;
    while (row < (size_t)regex->program.high + 1) {
        row *= 2;
        regex->shift++;
    }
    regex->words = (regex->program.count + 63) / 64;
    regex->most_states =
        phi__max(phi__min(PHI__REGEX_CACHE / (row * sizeof(uint16_t)), PHI__REGEX_STATES), 16);
    regex->hash_size = 2 * PHI__REGEX_STATES;
    while (regex->hash_size >= 4 * regex->most_states) regex->hash_size /= 2;
    regex->hash = (uint16_t *)phi__alloc(regex->memory, regex->hash_size * sizeof *regex->hash);
    regex->next = (uint64_t *)phi__alloc(regex->memory, regex->words * sizeof *regex->next);
    regex->seen = (uint64_t *)phi__alloc(regex->memory, regex->words * sizeof *regex->seen);
    regex->stack =
        (uint16_t *)phi__alloc(regex->memory, regex->program.count * sizeof *regex->stack);
    if (regex->hash == NULL || regex->next == NULL || regex->seen == NULL || regex->stack == NULL)
        return false;
    phi__regex_flush(regex);
    phi__regex_find_leads(regex);
    regex->matched = false;
    return true;
}

/* ---- for other files ---- */

PHI__FN phi_status phi__regex_new(phi_memory *memory, phi_str pattern, bool ignore_case,
                                  phi__regex **out, phi__regex_error *error) {
    phi__regex *regex = (phi__regex *)phi__alloc(memory, sizeof *regex);
    phi__regex_tree tree;
    *out = NULL;
    memset(error, 0, sizeof *error);
    if (regex == NULL) return PHI_NO_MEMORY;
    regex->memory = memory;
    regex->program.memory = memory;
    phi_status status = phi__regex_parse(&tree, memory, pattern, ignore_case, error);
    if (status == PHI_OK) status = phi__regex_program_make(&regex->program, &tree, error);
    phi__free(tree.memory, tree.nodes, tree.node_cap * sizeof *tree.nodes);
    phi__free(tree.memory, tree.ranges, tree.range_cap * sizeof *tree.ranges);
    phi__free(tree.memory, tree.sets, tree.set_cap * sizeof *tree.sets);
    memset(&tree, 0, sizeof tree);
    if (status == PHI_OK && !phi__regex_prepare(regex)) status = PHI_NO_MEMORY;
    if (status == PHI_OK)
        *out = regex;
    else
        phi__regex_free(regex);
    return status;
}

PHI__FN void phi__regex_free(phi__regex *regex) {
    if (regex == NULL) return;
    phi_memory *memory = regex->memory;
    phi__free(memory, regex->table, regex->table_cap * sizeof *regex->table);
    phi__free(memory, regex->states, regex->state_cap * sizeof *regex->states);
    phi__free(memory, regex->pool, regex->pool_cap * sizeof *regex->pool);
    phi__free(memory, regex->hash, regex->hash_size * sizeof *regex->hash);
    phi__free(memory, regex->next, regex->words * sizeof *regex->next);
    phi__free(memory, regex->seen, regex->words * sizeof *regex->seen);
    phi__free(memory, regex->stack, regex->program.count * sizeof *regex->stack);
    phi__regex_program *program = &regex->program;
    phi__free(program->memory, program->codes, program->cap * sizeof *program->codes);
    phi__free(program->memory, program->ranges, program->range_cap * sizeof *program->ranges);
    phi__free(program->memory, program->sets, program->set_cap * sizeof *program->sets);
    phi__free(program->memory, program->starts, program->run_cap * sizeof *program->starts);
    phi__free(program->memory, program->symbols, program->run_cap * sizeof *program->symbols);
    phi__free(program->memory, program->samples, program->run_cap * sizeof *program->samples);
    phi__free(memory, regex, sizeof *regex);
}

PHI__FN void phi__regex_begin(phi__regex *regex) { regex->state = regex->start; }

PHI__FN phi__regex_found phi__regex_scan(phi__regex *regex, phi_str text, bool last, size_t *at,
                                         size_t *units) {
    while (*at < text.len) {
        size_t begin = *at, n = 1;
        if (*units == 0) return PHI__REGEX_BUSY;
        if (!phi__regex_ready(regex)) return PHI__REGEX_NO_MEMORY;
        *at = phi__regex_run(regex, text.at, begin, begin + phi__min(text.len - begin, *units));
        *units -= *at - begin;
        regex->work += *at - begin;
        if (*units == 0 || *at == text.len) continue;
        uint16_t symbol = regex->program.bytes[(unsigned char)text.at[*at]];
        if (symbol == regex->program.high)
            symbol = phi__regex_decode(regex, phi__str(text.at + *at, text.len - *at), last, &n);
        if (n == 0) return PHI__REGEX_NONE;
        uint16_t to = phi__regex_go(regex, symbol, units);
        if (to == PHI__REGEX_UNKNOWN) return PHI__REGEX_NO_MEMORY;
        if (to == PHI__REGEX_MATCHED) return PHI__REGEX_MATCH;
        regex->state = to;
        *at += n;
        *units -= phi__min(*units, n);
    }
    return PHI__REGEX_NONE;
}

PHI__FN phi__regex_found phi__regex_finish(phi__regex *regex) {
    size_t units = SIZE_MAX;
    if (!phi__regex_ready(regex)) return PHI__REGEX_NO_MEMORY;
    uint16_t to = phi__regex_go(regex, regex->program.end, &units);
    if (to == PHI__REGEX_UNKNOWN) return PHI__REGEX_NO_MEMORY;
    return to == PHI__REGEX_MATCHED ? PHI__REGEX_MATCH : PHI__REGEX_NONE;
}
