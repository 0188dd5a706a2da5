/* regex.c - regular expressions: a machine whose states are computed when the text needs them.

   A state is a set of instructions. Each of them waits for a character, waits for a test, or says
   "match". A test is decided by the next symbol, so a match is found at most one symbol late. */
#include "tools/match_in.h"

#include "base/base_in.h"

#include <stdio.h>

typedef enum phi__re_op {
    PHI__RE_OP_SET,   /* reads a character of set x; goes on at the next instruction */
    PHI__RE_OP_SPLIT, /* go on at x and at y */
    PHI__RE_OP_JUMP,  /* go on at x */
    PHI__RE_OP_TEST,  /* tests the condition x (phi__re_kind); goes on at the next instruction */
    PHI__RE_OP_MATCH
} phi__re_op;

typedef struct phi__re_code {
    uint16_t op, x, y;
} phi__re_code;

typedef struct phi__re_set {
    uint32_t at, count;
} phi__re_set;

typedef struct phi__re_program {
    phi_memory *memory;
    phi__re_code *codes;
    size_t count, cap;
    phi__range *ranges; /* ranges of all sets, taken over from the tree */
    size_t range_cap;
    phi__re_set *sets;
    size_t set_cap;
    uint32_t *starts;  /* first character of each run, ascending; a run is one symbol */
    uint16_t *symbols; /* symbol of each run */
    size_t run_count, run_cap;
    uint32_t *samples; /* one character of each symbol */
    uint16_t symbol_count;
    uint16_t end, bad, high; /* symbols: end of line, invalid byte, byte above 0x7F */
    uint16_t bytes[256];     /* symbol of each byte */
    bool words; /* the pattern tests word boundaries, so symbols tell word characters apart */
} phi__re_program;

enum { PHI__RE_LAST_CODE = 0x10FFFF, PHI__RE_ENDLESS = 0xFFFF };

typedef enum phi__re_kind {
    PHI__RE_EMPTY,
    PHI__RE_SET,   /* a: index of the set */
    PHI__RE_CAT,   /* sequence; a: its first child */
    PHI__RE_ALT,   /* alternatives; a: the first child */
    PHI__RE_TIMES, /* repetition; a: the child; min and max times */
    PHI__RE_START, /* start of a line */
    PHI__RE_END,
    PHI__RE_WORD, /* word boundary */
    PHI__RE_NO_WORD
} phi__re_kind;

typedef struct phi__re_node {
    phi__re_kind kind;
    uint32_t a, next; /* next: the next sibling, or 0 */
    uint16_t min, max, depth;
} phi__re_node;

typedef struct phi__re_tree {
    phi_memory *memory;
    phi__re_node *nodes;
    size_t node_count, node_cap;
    phi__range *ranges; /* ranges of all sets, then of the set under construction */
    size_t range_count, range_cap;
    phi__re_set *sets;
    size_t set_count, set_cap;
    size_t open; /* index of the first range of the set under construction */
    uint32_t root;
    bool words; /* the pattern has word boundaries */
} phi__re_tree;

typedef struct phi__re_parser {
    phi__re_tree *tree;
    phi_str text;
    size_t at;
    uint32_t depth; /* number of open groups */
    bool fold;
    phi_status status; /* after an error, the parser reads no further */
    phi__regex_error *error;
} phi__re_parser;

/* Records the error, unless an earlier one is recorded. `at` is the offset of the byte at fault. */
static inline void phi__re_fail(phi__re_parser *p, size_t at, const char *message) {
    size_t n = phi__min(strlen(message), sizeof p->error->message - 1);
    if (p->status != PHI_OK) return;
    p->status = PHI_BAD_ARG;
    p->error->column = at + 1;
    memcpy(p->error->message, message, n);
    p->error->message[n] = '\0';
}

static inline bool phi__re_more(const phi__re_parser *p) {
    return p->status == PHI_OK && p->at < p->text.len;
}

/* Returns the byte `ahead` bytes after the current one, or 0 past the end. */
static inline char phi__re_peek(const phi__re_parser *p, size_t ahead) {
    return p->at + ahead < p->text.len ? p->text.at[p->at + ahead] : '\0';
}

static inline bool phi__re_is(const phi__re_parser *p, char c) {
    return phi__re_more(p) && p->text.at[p->at] == c;
}

enum {
    PHI__RE_PATTERN_BYTES = 4096,
    PHI__RE_DEPTH = 100,        /* deepest nesting of groups and repetitions */
    PHI__RE_REPEAT = 1000,      /* the greatest count in braces */
    PHI__RE_CODES = 16384,      /* max. instructions of a program */
    PHI__RE_RANGES = 65536,     /* max. ranges of all sets of a pattern */
    PHI__RE_CACHE = 1024 * 1024 /* bytes for computed states, approximately */
};

/* ---- sets of characters: united, folded, negated ----

   The set under construction has the ranges from tree->open on. After an error nothing is added. */

static void phi__re_set_add(phi__re_parser *p, uint32_t first, uint32_t last) {
    phi__re_tree *tree = p->tree;
    if (tree->range_count >= PHI__RE_RANGES) phi__re_fail(p, p->at, "the pattern is too large");
    if (p->status != PHI_OK) return;
    phi__range *ranges = (phi__range *)phi__grow(tree->memory, tree->ranges, &tree->range_cap,
                                                 tree->range_count + 1, sizeof *ranges);
    if (ranges == NULL) {
        p->status = PHI_NO_MEMORY;
        return;
    }
    tree->ranges = ranges;
    ranges[tree->range_count].first = first;
    ranges[tree->range_count++].last = last;
}

/* Adds the range from first to last. If `outside`, adds instead the characters between the previous
   range and this one. *from is the first character after the previous range. */
static void phi__re_set_put(phi__re_parser *p, bool outside, uint32_t first, uint32_t last,
                            uint32_t *from) {
    if (!outside)
        phi__re_set_add(p, first, last);
    else if (first > *from)
        phi__re_set_add(p, *from, first - 1);
    *from = last + 1;
}

/* Adds a class; letter is one of "dswDSW". */
static void phi__re_set_add_class(phi__re_parser *p, char letter) {
    size_t count;
    bool outside = letter < 'a';
    const phi__range *rows = letter == 'd' || letter == 'D'   ? phi__re_digit(&count)
                             : letter == 's' || letter == 'S' ? phi__re_space(&count)
                                                              : phi__re_word(&count);
    uint32_t from = 0;
    for (size_t i = 0; i < count; i++)
        phi__re_set_put(p, outside, rows[i].first, rows[i].last, &from);
    if (outside) phi__re_set_add(p, from, PHI__RE_LAST_CODE);
}

/* True if a character from first to last is in the set, whose ranges ascend without overlap. */
static bool phi__re_set_meets(const phi__range *ranges, size_t count, uint32_t first,
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

static bool phi__re_set_has(const phi__range *ranges, size_t count, uint32_t code) {
    return phi__re_set_meets(ranges, count, code, code);
}

static bool phi__re_greater(const void *a, const void *b, const void *ctx) {
    (void)ctx;
    return *(const uint32_t *)a > *(const uint32_t *)b;
}

/* Sorts items by the number that each of them begins with. */
static void phi__re_sort(void *items, size_t size, size_t count) {
    const phi__heap heap = {size, phi__re_greater, NULL};
    phi__heap_sort(&heap, items, count);
}

/* Sorts the ranges of the set under construction and merges those that overlap or touch. */
static void phi__re_set_order(phi__re_tree *tree) {
    size_t n = tree->range_count - tree->open, i, kept = 0;
    if (n < 2) return;
    phi__range *rows = tree->ranges + tree->open;
    for (i = 1; i < n && rows[i].first > rows[i - 1].last + 1; i++) continue;
    if (i == n) return;
    phi__re_sort(rows, sizeof *rows, n);
    for (i = 1; i < n; i++) {
        if (rows[i].first > rows[kept].last + 1)
            rows[++kept] = rows[i];
        else if (rows[i].last > rows[kept].last)
            rows[kept].last = rows[i].last;
    }
    tree->range_count = tree->open + kept + 1;
}

/* If up, adds the characters whose case-fold representative is in the set. Else adds the
   representatives of the set's characters. */
static void phi__re_set_fold_way(phi__re_parser *p, bool up) {
    phi__re_tree *tree = p->tree;
    size_t count, n = tree->range_count - tree->open;
    const phi__re_fold *folds = phi__re_folds(&count);
    for (size_t i = 0; i < count && p->status == PHI_OK; i++) {
        uint32_t code = folds[i].first, shift = up ? folds[i].down : 0;
        if (!phi__re_set_meets(tree->ranges + tree->open, n, code - shift, folds[i].last - shift))
            continue;
        for (; code <= folds[i].last; code += folds[i].step) {
            uint32_t from = up ? code - folds[i].down : code;
            uint32_t to = up ? code : code - folds[i].down;
            if (phi__re_set_has(tree->ranges + tree->open, n, from)) phi__re_set_add(p, to, to);
        }
    }
    phi__re_set_order(tree);
}

static void phi__re_set_fold(phi__re_parser *p) {
    phi__re_tree *tree = p->tree;
    phi__re_set_order(tree);
    if (p->status != PHI_OK || tree->range_count == tree->open) return;
    if (tree->ranges[tree->range_count - 1].last < 0x80) {
        /* An ASCII set gains only two characters above ASCII: the Kelvin sign and the long s. */
        const size_t end = tree->range_count;
        for (size_t i = tree->open; i < end; i++) {
            uint32_t code = tree->ranges[i].first, last = tree->ranges[i].last;
            for (; code <= last; code++) {
                uint32_t lower = code | 0x20;
                if (lower < 'a' || lower > 'z') continue;
                phi__re_set_add(p, code ^ 0x20, code ^ 0x20);
                if (lower == 'k') phi__re_set_add(p, 0x212A, 0x212A);
                if (lower == 's') phi__re_set_add(p, 0x17F, 0x17F);
            }
        }
        phi__re_set_order(tree);
    } else {
        phi__re_set_fold_way(p, false);
        phi__re_set_fold_way(p, true);
    }
}

static void phi__re_set_negate(phi__re_parser *p) {
    phi__re_tree *tree = p->tree;
    uint32_t from = 0;
    phi__re_set_order(tree);
    size_t n = tree->range_count - tree->open;
    for (size_t i = 0; i < n; i++) {
        phi__range row = tree->ranges[tree->open + i];
        phi__re_set_put(p, true, row.first, row.last, &from);
    }
    if (from <= PHI__RE_LAST_CODE) phi__re_set_add(p, from, PHI__RE_LAST_CODE);
    if (p->status != PHI_OK || n == 0) return;
    tree->range_count -= n;
    memmove(tree->ranges + tree->open, tree->ranges + tree->open + n,
            (tree->range_count - tree->open) * sizeof *tree->ranges);
}

/* Ends the set under construction and removes the newline from it, because no match contains a
   newline. Returns the set's index. */
static uint32_t phi__re_set_end(phi__re_parser *p) {
    phi__re_tree *tree = p->tree;
    phi__re_set_order(tree);
    for (size_t i = tree->open; i < tree->range_count; i++) {
        phi__range *row = &tree->ranges[i], old = *row;
        if (old.first > '\n' || old.last < '\n') continue;
        memmove(row, row + 1, (tree->range_count - i - 1) * sizeof *row);
        tree->range_count--;
        if (old.first < '\n') phi__re_set_add(p, old.first, '\n' - 1);
        if (old.last > '\n') phi__re_set_add(p, '\n' + 1, old.last);
        phi__re_set_order(tree);
        break;
    }
    if (p->status != PHI_OK) return 0;
    size_t n = tree->range_count - tree->open;
    for (size_t i = 0; i < tree->set_count; i++) {
        const phi__re_set *set = &tree->sets[i];
        if (set->count != n || (n > 0 && memcmp(tree->ranges + set->at, tree->ranges + tree->open,
                                                n * sizeof *tree->ranges) != 0))
            continue;
        tree->range_count = tree->open;
        return (uint32_t)i;
    }
    phi__re_set *sets = (phi__re_set *)phi__grow(tree->memory, tree->sets, &tree->set_cap,
                                                 tree->set_count + 1, sizeof *sets);
    if (sets == NULL) {
        p->status = PHI_NO_MEMORY;
        return 0;
    }
    tree->sets = sets;
    sets[tree->set_count].at = (uint32_t)tree->open;
    sets[tree->set_count].count = (uint32_t)n;
    return (uint32_t)tree->set_count++;
}

/* ---- the parts of a pattern that are one character: escapes and sets ---- */

PHI__FN uint32_t phi__regex_next(phi_str text, size_t *at) {
    unsigned char c = (unsigned char)text.at[(*at)++];
    uint32_t code = c < 0x80 ? c : c < 0xE0 ? c & 0x1Fu : c < 0xF0 ? c & 0x0Fu : c & 0x07u;
    while (*at < text.len && ((unsigned char)text.at[*at] & 0xC0) == 0x80)
        code = code << 6 | ((unsigned char)text.at[(*at)++] & 0x3Fu);
    return code;
}

/* Returns the bytes of a UTF-8 character that begins with this byte. */
static size_t phi__re_bytes(char lead) {
    unsigned char c = (unsigned char)lead;
    return c < 0x80 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
}

/* Reads a literal character. */
static uint32_t phi__re_plain(phi__re_parser *p) {
    size_t n = phi__re_bytes(p->text.at[p->at]);
    if (n > p->text.len - p->at || phi__utf8_valid(phi__str(p->text.at + p->at, n)) != n) {
        phi__re_fail(p, p->at, "the pattern is not UTF-8");
        return 0;
    }
    return phi__regex_next(phi__str(p->text.at, p->at + n), &p->at);
}

static int phi__re_hex_digit(char c) {
    if (phi__is_digit(c)) return c - '0';
    if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f') return (c | 0x20) - 'a' + 10;
    return -1;
}

/* Reads the number after \x, \u or \U: `digits` hexadecimal digits, or any number in braces. */
static uint32_t phi__re_hex(phi__re_parser *p, size_t digits) {
    size_t begin = p->at, n = 0;
    bool braces = phi__re_is(p, '{');
    uint32_t code = 0;
    if (braces) p->at++;
    while (phi__re_more(p) && (braces || n < digits)) {
        int digit = phi__re_hex_digit(p->text.at[p->at]);
        if (digit < 0) break;
        code = phi__min(code << 4 | (uint32_t)digit, PHI__RE_LAST_CODE + 1u) & 0xFFFFFFFFu;
        p->at++;
        n++;
    }
    if (n == 0 || (!braces && n < digits) || (braces && !phi__re_is(p, '}')))
        phi__re_fail(p, begin, "expected hexadecimal digits");
    else if (code > PHI__RE_LAST_CODE || (code >= 0xD800 && code < 0xE000))
        phi__re_fail(p, begin, "there is no such character");
    if (braces) p->at++;
    return code;
}

/* Reads an escape whose backslash is at p->at. Returns true for a class and sets *letter to one of
   "dswDSW". Returns false for a character and sets *code. */
static bool phi__re_escaped(phi__re_parser *p, char *letter, uint32_t *code) {
    static const char names[] = "nrtfva", codes[] = "\n\r\t\f\v\a";
    static const char *const others[][2] = {
        {"0123456789", "back references are not supported"},
        {"pP", "classes by \\p{...} are not supported"},
        {"AzZG", "anchors of the whole text are not supported: use ^ and $"},
        {"<>", "anchors of one side of a word are not supported: use \\b"},
        {"bB", "a word boundary cannot be in a set"}};
    const char *message = "unknown escape sequence";
    *code = 0;
    if (++p->at >= p->text.len) {
        phi__re_fail(p, p->at - 1, "a backslash at the end");
        return false;
    }
    char c = p->text.at[p->at++];
    *letter = c;
    if (c != '\0' && strchr("dswDSW", c) != NULL) return true;
    const char *found = c != '\0' ? strchr(names, c) : NULL;
    if (found != NULL)
        *code = (uint32_t)codes[found - names];
    else if (c == 'x' || c == 'u' || c == 'U')
        *code = phi__re_hex(p, c == 'x' ? 2 : c == 'u' ? 4 : 8);
    else if (c > ' ' && c < 0x7F && !phi__is_alnum(c) && c != '<' && c != '>')
        *code = (unsigned char)c;
    else {
        for (size_t i = 0; i < PHI__COUNT(others) && c != '\0'; i++)
            if (strchr(others[i][0], c) != NULL) message = others[i][1];
        phi__re_fail(p, p->at - 2, message);
    }
    return false;
}

/* Reads [:name:] or [:^name:] at p->at. */
static void phi__re_posix(phi__re_parser *p) {
    /* rows: pairs of the first and the last character of a range. */
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
    size_t begin = p->at, end = phi__str_find(p->text, p->at + 2, ":]");
    bool outside = phi__re_peek(p, 2) == '^';
    size_t from = begin + (outside ? 3 : 2);
    const char *rows = NULL;
    /* The strings of the table cannot hold NUL, so a class that begins with \1 begins with NUL. */
    uint32_t next = 0;
    for (size_t i = 0; end != SIZE_MAX && end >= from && i < PHI__COUNT(classes); i++)
        if (phi__str_is(phi__str(p->text.at + from, end - from), classes[i].name))
            rows = classes[i].rows;
    if (rows == NULL) {
        phi__re_fail(p, begin, "unknown class of characters, or a set inside a set: write \\[");
        return;
    }
    p->at = end + 2;
    bool nul = rows[0] == '\1';
    for (; *rows != '\0'; rows += 2) {
        uint32_t first = nul && rows[0] == '\1' ? 0 : (unsigned char)rows[0];
        phi__re_set_put(p, outside, first, (unsigned char)rows[1], &next);
    }
    if (outside) phi__re_set_add(p, next, PHI__RE_LAST_CODE);
}

/* Reads one end of a range into *code and returns true; or adds a class and returns false. */
static bool phi__re_end(phi__re_parser *p, uint32_t *code) {
    char letter;
    if (!phi__re_is(p, '\\')) {
        *code = phi__re_plain(p);
        return true;
    }
    if (!phi__re_escaped(p, &letter, code)) return true;
    phi__re_set_add_class(p, letter);
    return false;
}

static void phi__re_item(phi__re_parser *p) {
    char c = phi__re_peek(p, 0), next = phi__re_peek(p, 1);
    size_t begin = p->at;
    uint32_t first;
    if (c == '[' && next == ':') {
        phi__re_posix(p);
        return;
    }
    if (c == '[') phi__re_fail(p, p->at, "a set inside a set is not supported: write \\[");
    if ((c == '&' || c == '-' || c == '~') && next == c)
        phi__re_fail(p, p->at, "operations on sets are not supported");
    if (p->status != PHI_OK || !phi__re_end(p, &first)) return;
    uint32_t last = first;
    next = phi__re_peek(p, 1);
    if (phi__re_is(p, '-') && next != ']' && next != '-' && p->at + 1 < p->text.len) {
        p->at++;
        if (phi__re_is(p, '['))
            phi__re_fail(p, p->at, "a set inside a set is not supported: write \\[");
        else if (!phi__re_end(p, &last))
            phi__re_fail(p, begin, "a range cannot end with a class");
        else if (last < first)
            phi__re_fail(p, begin, "a range whose end is before its beginning");
    }
    phi__re_set_add(p, first, last);
}

/* Reads a set in brackets, at p->at. */
static void phi__re_brackets(phi__re_parser *p) {
    size_t begin = p->at++;
    bool outside = phi__re_is(p, '^');
    if (outside) p->at++;
    size_t first = p->at;
    p->tree->open = p->tree->range_count;
    while (phi__re_more(p) && (p->at == first || !phi__re_is(p, ']'))) {
        if (p->at == first && phi__re_is(p, ']')) {
            phi__re_set_add(p, ']', ']');
            p->at++;
        } else
            phi__re_item(p);
    }
    if (p->status == PHI_OK && !phi__re_is(p, ']'))
        phi__re_fail(p, begin, "a set without its closing bracket");
    p->at++;
    if (p->fold) phi__re_set_fold(p);
    if (outside) phi__re_set_negate(p);
}

/* ---- the tree ---- */

enum { PHI__RE_NODE_DEPTH = 3 * PHI__RE_DEPTH };

static uint32_t phi__re_choice(phi__re_parser *p);

static uint32_t phi__re_node_add(phi__re_parser *p, phi__re_kind kind, uint32_t a) {
    phi__re_tree *tree = p->tree;
    phi__re_node *nodes;
    if (p->status != PHI_OK) return 0;
    nodes = (phi__re_node *)phi__grow(tree->memory, tree->nodes, &tree->node_cap,
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

/* Adds a node above `child`. depth is the greatest depth of the children. */
static uint32_t phi__re_above(phi__re_parser *p, phi__re_kind kind, uint32_t child,
                              uint16_t depth) {
    uint32_t node = phi__re_node_add(p, kind, child);
    if (p->status != PHI_OK) return 0;
    if (depth >= PHI__RE_NODE_DEPTH) phi__re_fail(p, p->at - 1, "the pattern is nested too deeply");
    p->tree->nodes[node].depth = (uint16_t)(depth + 1);
    return node;
}

/* Ends the set under construction and adds a node for it. */
static uint32_t phi__re_set_node(phi__re_parser *p) {
    return phi__re_node_add(p, PHI__RE_SET, phi__re_set_end(p));
}

static uint32_t phi__re_letter(phi__re_parser *p, uint32_t code) {
    p->tree->open = p->tree->range_count;
    phi__re_set_add(p, code, code);
    if (p->fold) phi__re_set_fold(p);
    return phi__re_set_node(p);
}

static uint32_t phi__re_escape(phi__re_parser *p) {
    char next = phi__re_peek(p, 1), letter = 0;
    size_t begin = p->at;
    uint32_t code;
    if (next == 'b' || next == 'B') {
        p->at += 2;
        if (phi__re_is(p, '{') && next == 'b' && phi__re_peek(p, 1) > '9')
            phi__re_fail(p, begin, "boundaries by name are not supported: use \\b");
        p->tree->words = true;
        return phi__re_node_add(p, next == 'b' ? PHI__RE_WORD : PHI__RE_NO_WORD, 0);
    }
    if (!phi__re_escaped(p, &letter, &code)) {
        if (code == '\n') phi__re_fail(p, begin, "a match cannot contain a newline");
        return phi__re_letter(p, code);
    }
    p->tree->open = p->tree->range_count;
    phi__re_set_add_class(p, letter);
    return phi__re_set_node(p);
}

/* Reads the flags after "(?", up to ')' or ':'. */
static void phi__re_flags(phi__re_parser *p) {
    bool on = true;
    size_t begin = p->at;
    while (phi__re_more(p) && !phi__re_is(p, ')') && !phi__re_is(p, ':')) {
        char c = p->text.at[p->at++];
        if (c == '-' && on)
            on = false;
        else if (c == 'i')
            p->fold = on;
        else if (c == 's' || c == 'U' || ((c == 'm' || c == 'u') && on) || (c == 'x' && !on))
            continue; /* these flags do not change which lines match */
        else if (c == 'm' || c == 'u' || c == 'x')
            phi__re_fail(p, p->at - 1, "this flag is not supported");
        else
            phi__re_fail(p, p->at - 1, "unknown kind of group");
    }
    if (p->status == PHI_OK && p->at == begin && phi__re_is(p, ')'))
        phi__re_fail(p, begin, "a group without flags");
    if (p->status == PHI_OK && p->at >= p->text.len)
        phi__re_fail(p, begin - 2, "a group without its closing parenthesis");
}

/* Reads the name of a group, in (?P<name>...) or (?<name>...), and the ">". */
static void phi__re_name(phi__re_parser *p) {
    size_t begin = p->at;
    char c;
    while ((c = phi__re_peek(p, 0)) != '\0' && c != '>') {
        bool letter = (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
        if (!letter && c != '_' && (p->at == begin || !phi__is_digit(c))) break;
        p->at++;
    }
    if (c != '>' || p->at == begin)
        phi__re_fail(p, p->at, "the name of a group has letters, digits and underscores");
    p->at++;
}

/* Reads the part between "(?" and the group's pattern. False if the group has only flags:
   "(?i)". */
static bool phi__re_head(phi__re_parser *p) {
    char c = phi__re_peek(p, 0), next = phi__re_peek(p, 1);
    if (c == '=' || c == '!' || (c == '<' && (next == '=' || next == '!')))
        phi__re_fail(p, p->at - 2, "look-around is not supported");
    else if (c == 'P' && next == '=')
        phi__re_fail(p, p->at - 2, "back references are not supported");
    else if (c == '<' || (c == 'P' && next == '<')) {
        p->at += c == 'P' ? 2 : 1;
        phi__re_name(p);
    } else {
        phi__re_flags(p);
        if (p->status == PHI_OK && p->text.at[p->at++] == ')') return false;
    }
    return true;
}

/* Reads a group at "(". *alone is set if the group has only flags, as in "(?i)"; they apply to the
   rest of the outer group. */
static uint32_t phi__re_group(phi__re_parser *p, bool *alone) {
    size_t begin = p->at++;
    bool fold = p->fold;
    *alone = false;
    if (phi__re_is(p, '?')) {
        p->at++;
        *alone = !phi__re_head(p);
        if (*alone) return 0;
    }
    if (p->depth >= PHI__RE_DEPTH) phi__re_fail(p, begin, "the pattern is nested too deeply");
    if (p->status != PHI_OK) return 0;
    p->depth++;
    uint32_t node = phi__re_choice(p);
    p->depth--;
    p->fold = fold;
    if (p->status == PHI_OK && !phi__re_is(p, ')'))
        phi__re_fail(p, begin, "a group without its closing parenthesis");
    p->at++;
    return node;
}

/* Reads a count in braces. False if there are no digits. */
static bool phi__re_count(phi__re_parser *p, uint16_t *out) {
    size_t begin = p->at;
    uint32_t n = 0;
    while (phi__re_more(p) && phi__is_digit(p->text.at[p->at])) {
        n = n * 10 + (uint32_t)(p->text.at[p->at++] - '0');
        if (n > PHI__RE_REPEAT) phi__re_fail(p, begin, "a count of more than 1,000");
    }
    *out = (uint16_t)n;
    return p->at > begin;
}

static void phi__re_braces(phi__re_parser *p, uint16_t *min, uint16_t *max) {
    size_t begin = p->at++;
    bool good = phi__re_count(p, min);
    *max = *min;
    if (good && phi__re_is(p, ',')) {
        p->at++;
        if (!phi__re_count(p, max)) *max = PHI__RE_ENDLESS;
    }
    if (!good || !phi__re_is(p, '}'))
        phi__re_fail(p, begin, "expected a count such as {2}, {2,} or {2,5}: write \\{");
    else if (*max < *min)
        phi__re_fail(p, begin, "a count whose end is before its beginning");
    p->at++;
}

static uint32_t phi__re_times(phi__re_parser *p, uint32_t node) {
    while (phi__re_more(p) && strchr("*+?{", p->text.at[p->at]) != NULL &&
           p->text.at[p->at] != '\0') {
        char c = p->text.at[p->at];
        uint16_t min = c == '+' ? 1 : 0, max = c == '?' ? 1 : PHI__RE_ENDLESS;
        if (c == '{')
            phi__re_braces(p, &min, &max);
        else
            p->at++;
        if (phi__re_is(p, '?')) p->at++; /* lazy repetition matches the same lines */
        if (p->status != PHI_OK) return 0;
        if (min == 1 && max == 1) continue;
        node = phi__re_above(p, PHI__RE_TIMES, node, p->tree->nodes[node].depth);
        if (p->status != PHI_OK) return 0;
        p->tree->nodes[node].min = min;
        p->tree->nodes[node].max = max;
    }
    return node;
}

static uint32_t phi__re_atom(phi__re_parser *p, bool *alone) {
    char c = p->text.at[p->at];
    *alone = false;
    switch (c) {
    case '.':
        p->at++;
        p->tree->open = p->tree->range_count;
        phi__re_set_add(p, 0, PHI__RE_LAST_CODE);
        return phi__re_set_node(p);
    case '(': return phi__re_group(p, alone);
    case '\\': return phi__re_escape(p);
    case '[': phi__re_brackets(p); return phi__re_set_node(p);
    case '^':
    case '$': p->at++; return phi__re_node_add(p, c == '^' ? PHI__RE_START : PHI__RE_END, 0);
    case '*':
    case '+':
    case '?':
    case '{': phi__re_fail(p, p->at, "there is nothing to repeat"); return 0;
    case '\n': phi__re_fail(p, p->at, "a match cannot contain a newline"); return 0;
    default: return phi__re_letter(p, phi__re_plain(p));
    }
}

/* A list of sibling nodes. */
typedef struct phi__re_row {
    uint32_t first, last, count;
    uint16_t depth;
} phi__re_row;

static void phi__re_append(phi__re_parser *p, phi__re_row *row, uint32_t node) {
    phi__re_node *nodes = p->tree->nodes;
    if (p->status != PHI_OK) return;
    if (row->count++ == 0)
        row->first = node;
    else
        nodes[row->last].next = node;
    row->last = node;
    if (nodes[node].depth > row->depth) row->depth = nodes[node].depth;
}

/* Returns the node for the list: an empty node, the only node, or a node of `kind` above all. */
static uint32_t phi__re_row_end(phi__re_parser *p, const phi__re_row *row, phi__re_kind kind) {
    if (row->count == 1) return row->first;
    if (row->count == 0) return phi__re_node_add(p, PHI__RE_EMPTY, 0);
    return phi__re_above(p, kind, row->first, row->depth);
}

static uint32_t phi__re_sequence(phi__re_parser *p) {
    phi__re_row row = PHI_ZERO;
    while (phi__re_more(p) && !phi__re_is(p, '|') && !phi__re_is(p, ')')) {
        bool alone;
        uint32_t node = phi__re_atom(p, &alone);
        if (alone && phi__re_more(p) && strchr("*+?{", p->text.at[p->at]) != NULL)
            phi__re_fail(p, p->at, "there is nothing to repeat");
        if (alone) continue;
        node = phi__re_times(p, node);
        phi__re_append(p, &row, node);
    }
    return phi__re_row_end(p, &row, PHI__RE_CAT);
}

static uint32_t phi__re_choice(phi__re_parser *p) {
    phi__re_row row = PHI_ZERO;
    phi__re_append(p, &row, phi__re_sequence(p));
    while (phi__re_is(p, '|')) {
        p->at++;
        phi__re_append(p, &row, phi__re_sequence(p));
    }
    return phi__re_row_end(p, &row, PHI__RE_ALT);
}

/* Parses a pattern into a tree, which the caller always frees. PHI_BAD_ARG: *error names the
   fault. */
static phi_status phi__re_parse(phi__re_tree *tree, phi_memory *memory, phi_str pattern,
                                bool ignore_case, phi__regex_error *error) {
    memset(tree, 0, sizeof *tree);
    tree->memory = memory;
    phi__re_parser p = PHI_ZERO;
    p.tree = tree;
    p.text = pattern;
    p.fold = ignore_case;
    p.error = error;
    if (pattern.len > PHI__RE_PATTERN_BYTES)
        phi__re_fail(&p, PHI__RE_PATTERN_BYTES, "the pattern is longer than 4,096 bytes");
    (void)phi__re_node_add(&p, PHI__RE_EMPTY, 0); /* takes index 0, which means "no node" */
    tree->root = phi__re_choice(&p);
    if (p.status == PHI_OK && p.at < pattern.len)
        phi__re_fail(&p, p.at, "a closing parenthesis without a group");
    return p.status;
}

/* ---- a pattern's program: instructions over symbols ----

   Characters that no set of the pattern tells apart are one symbol, so a text becomes a row of few
   different symbols. Three more symbols are the end of a line, an invalid byte, and a byte above
   0x7F, which must be decoded first. */

typedef struct phi__re_emitter {
    phi__re_program *program;
    const phi__re_tree *tree;
    phi_status status;
    size_t visits; /* nodes visited; bounds repetitions of empty patterns, which emit no code */
} phi__re_emitter;

static size_t phi__re_code_add(phi__re_emitter *e, phi__re_op op, size_t x, size_t y) {
    phi__re_program *program = e->program;
    phi__re_code *codes;
    if (e->status != PHI_OK) return 0;
    if (program->count >= PHI__RE_CODES) {
        e->status = PHI_FULL;
        return 0;
    }
    codes = (phi__re_code *)phi__grow(program->memory, program->codes, &program->cap,
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

static void phi__re_emit(phi__re_emitter *e, uint32_t index);

/* In each instruction of `chain`, sets the target y to the instruction that is emitted next. If
   `jumps`, also sets the target x. The chain is linked through y, which holds index + 1. */
static void phi__re_land(phi__re_emitter *e, size_t chain, bool jumps) {
    phi__re_code *codes = e->program->codes;
    while (chain != 0 && e->status == PHI_OK) {
        size_t next = codes[chain - 1].y;
        codes[chain - 1].y = (uint16_t)e->program->count;
        if (jumps) codes[chain - 1].x = (uint16_t)e->program->count;
        chain = next;
    }
}

static void phi__re_emit_choice(phi__re_emitter *e, uint32_t child) {
    size_t ends = 0;
    for (; child != 0 && e->status == PHI_OK; child = e->tree->nodes[child].next) {
        size_t split = 0;
        bool more = e->tree->nodes[child].next != 0;
        if (more) split = phi__re_code_add(e, PHI__RE_OP_SPLIT, e->program->count + 1, 0);
        phi__re_emit(e, child);
        if (!more) break;
        ends = phi__re_code_add(e, PHI__RE_OP_JUMP, 0, ends) + 1;
        if (e->status == PHI_OK) e->program->codes[split].y = (uint16_t)e->program->count;
    }
    phi__re_land(e, ends, true);
}

static void phi__re_emit_times(phi__re_emitter *e, const phi__re_node *node) {
    size_t begin = 0, ends = 0;
    uint16_t i;
    for (i = 0; i < node->min && e->status == PHI_OK; i++) {
        begin = e->program->count;
        phi__re_emit(e, node->a);
    }
    if (node->max == PHI__RE_ENDLESS && node->min > 0) {
        (void)phi__re_code_add(e, PHI__RE_OP_SPLIT, begin, e->program->count + 1);
    } else if (node->max == PHI__RE_ENDLESS) {
        begin = phi__re_code_add(e, PHI__RE_OP_SPLIT, e->program->count + 1, 0);
        phi__re_emit(e, node->a);
        (void)phi__re_code_add(e, PHI__RE_OP_JUMP, begin, 0);
        if (e->status == PHI_OK) e->program->codes[begin].y = (uint16_t)e->program->count;
    } else {
        for (; i < node->max && e->status == PHI_OK; i++) {
            ends = phi__re_code_add(e, PHI__RE_OP_SPLIT, e->program->count + 1, ends) + 1;
            phi__re_emit(e, node->a);
        }
        phi__re_land(e, ends, false);
    }
}

/* Recursive. The depth of the tree is bounded by PHI__RE_NODE_DEPTH. */
static void phi__re_emit(phi__re_emitter *e, uint32_t index) {
    const phi__re_node *node = &e->tree->nodes[index];
    uint32_t child;
    if (e->status != PHI_OK) return;
    if (++e->visits > 4 * PHI__RE_CODES) e->status = PHI_FULL;
    switch (node->kind) {
    case PHI__RE_EMPTY: break;
    case PHI__RE_SET: (void)phi__re_code_add(e, PHI__RE_OP_SET, node->a, 0); break;
    case PHI__RE_CAT:
        for (child = node->a; child != 0; child = e->tree->nodes[child].next)
            phi__re_emit(e, child);
        break;
    case PHI__RE_ALT: phi__re_emit_choice(e, node->a); break;
    case PHI__RE_TIMES: phi__re_emit_times(e, node); break;
    default: (void)phi__re_code_add(e, PHI__RE_OP_TEST, (size_t)node->kind, 0); break;
    }
}

/* ---- the alphabet ---- */

/* Cuts the alphabet into runs: at 0x80 and wherever a set begins or ends. */
static phi_status phi__re_cut(phi__re_program *program, const phi__range *ranges, size_t count,
                              const phi__range *words, size_t word_count) {
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
        if (row->last < PHI__RE_LAST_CODE) program->starts[n++] = row->last + 1;
    }
    /* Sort and remove duplicates. */
    uint32_t *rows = program->starts;
    size_t kept = 0;
    phi__re_sort(rows, sizeof *rows, n);
    for (size_t i = 1; i < n; i++)
        if (rows[i] != rows[kept]) rows[++kept] = rows[i];
    program->run_count = kept + 1;
    return PHI_OK;
}

static size_t phi__re_run_of(const phi__re_program *program, uint32_t code) {
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

/* Separates the runs inside a set from those outside. A symbol with runs of both kinds is split.
   renamed holds, for each symbol, the last round that renamed the symbol, and its new number. */
static void phi__re_refine(phi__re_program *program, const phi__range *rows, size_t n,
                           uint32_t *renamed, uint32_t round, uint32_t *next) {
    for (size_t i = 0; i < n; i++) {
        size_t run = phi__re_run_of(program, rows[i].first);
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

/* Renumbers the symbols from 0 in the order of their runs. */
static void phi__re_number(phi__re_program *program, uint32_t *renamed, uint32_t round) {
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

static phi_status phi__re_alphabet(phi__re_program *program, const phi__re_tree *tree) {
    size_t word_count = 0;
    const phi__range *words = phi__re_word(&word_count);
    uint32_t next = 1, round = 1;
    if (!tree->words) word_count = 0;
    phi_status status = phi__re_cut(program, tree->ranges, tree->range_count, words, word_count);
    if (status != PHI_OK) return status;
    if (program->run_count > UINT16_MAX / 2) return PHI_FULL;
    /* A round adds at most run_count symbols, and then the symbols are renumbered. */
    size_t most = 2 * program->run_count + 2;
    uint32_t *renamed = (uint32_t *)phi__alloc(program->memory, 2 * most * sizeof(uint32_t));
    if (renamed == NULL) return PHI_NO_MEMORY;
    for (size_t i = 0; i <= tree->set_count; i++) {
        const phi__range *rows = i < tree->set_count ? tree->ranges + tree->sets[i].at : words;
        size_t n = i < tree->set_count ? tree->sets[i].count : word_count;
        phi__re_refine(program, rows, n, renamed, round++, &next);
        if (next <= program->run_count) continue;
        phi__re_number(program, renamed, round++);
        next = program->symbol_count;
    }
    phi__re_number(program, renamed, round);
    phi__free(program->memory, renamed, 2 * most * sizeof(uint32_t));
    return PHI_OK;
}

static uint16_t phi__re_symbol(const phi__re_program *program, uint32_t code) {
    return program->symbols[phi__re_run_of(program, code)];
}

static bool phi__re_in_set(const phi__re_program *program, uint16_t set, uint16_t symbol) {
    const phi__re_set *s = &program->sets[set];
    return symbol < program->symbol_count &&
           phi__re_set_has(program->ranges + s->at, s->count, program->samples[symbol]);
}

static bool phi__re_is_word(const phi__re_program *program, uint16_t symbol) {
    size_t count;
    const phi__range *words = phi__re_word(&count);
    return symbol < program->symbol_count &&
           phi__re_set_has(words, count, program->samples[symbol]);
}

/* Compiles the tree and takes over its sets. PHI_BAD_ARG: the program would be too large. */
static phi_status phi__re_make(phi__re_program *program, phi__re_tree *tree,
                               phi__regex_error *error) {
    memset(program, 0, sizeof *program);
    program->memory = tree->memory;
    program->words = tree->words;
    phi__re_emitter e = PHI_ZERO;
    e.program = program;
    e.tree = tree;
    phi__re_emit(&e, tree->root);
    (void)phi__re_code_add(&e, PHI__RE_OP_MATCH, 0, 0);
    if (e.status == PHI_OK) e.status = phi__re_alphabet(program, tree);
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
                                            : phi__re_symbol(program, c);
    }
    if (e.status != PHI_FULL) return e.status;
    error->column = 1;
    (void)snprintf(error->message, sizeof error->message, "the pattern is too large");
    return PHI_BAD_ARG;
}

/* ---- the machine ---- */

enum {
    PHI__RE_UNKNOWN, /* table entry: not computed yet */
    PHI__RE_MATCHED, /* table entry: the line matches */
    PHI__RE_FIRST,   /* number of the first state */
    PHI__RE_STATES = 4096,
    PHI__RE_POOL = 262144 /* max. instructions of all states together */
};

/* The kind of character before the current position. Only states with tests depend on it. */
typedef enum phi__re_before {
    PHI__RE_BEFORE_ANY,
    PHI__RE_BEFORE_LINE,
    PHI__RE_BEFORE_WORD,
    PHI__RE_BEFORE_OTHER
} phi__re_before;

typedef struct phi__re_state {
    uint32_t at; /* index of the state's first instruction in the pool */
    uint16_t count, before;
} phi__re_state;

struct phi__regex {
    phi_memory *memory;
    phi__re_program program;
    unsigned shift; /* a row of the table has 1 << shift entries */
    uint16_t *table;
    size_t table_cap;
    phi__re_state *states;
    size_t state_count, state_cap, most_states; /* counts include UNKNOWN and MATCHED */
    uint16_t *pool;
    size_t pool_count, pool_cap;
    uint16_t *hash; /* finds a state by its instructions */
    size_t hash_size;
    uint64_t *next, *seen; /* sets of instructions, one bit each */
    uint16_t *stack;
    size_t words;          /* 64-bit words of a set */
    bool matched;          /* a "match" instruction was reached */
    bool flushed;          /* the cache of states was emptied */
    uint16_t state, start; /* PHI__RE_UNKNOWN: not computed yet */
    /* The only bytes that leave the start state. If lead_count is 0, the search skips nothing. */
    char leads[2];
    size_t lead_count;
    uint64_t work;
};

/* ---- sets of instructions ---- */

static bool phi__re_mark(uint64_t *set, size_t pc) {
    uint64_t bit = (uint64_t)1 << (pc & 63);
    if (set[pc >> 6] & bit) return false;
    set[pc >> 6] |= bit;
    return true;
}

static size_t phi__re_push(const phi__regex *regex, uint64_t *set, size_t depth, size_t pc) {
    if (phi__re_mark(set, pc)) regex->stack[depth++] = (uint16_t)pc;
    return depth;
}

static bool phi__re_test(const phi__regex *regex, uint16_t kind, uint16_t before, uint16_t symbol) {
    if (kind == PHI__RE_START) return before == PHI__RE_BEFORE_LINE;
    if (kind == PHI__RE_END) return symbol == regex->program.end;
    bool edge = (before == PHI__RE_BEFORE_WORD) != phi__re_is_word(&regex->program, symbol);
    return edge == (kind == PHI__RE_WORD);
}

/* Adds to `set` the instructions that are reached from those on the stack without reading a
   character. If state is not NULL, the symbol decides the state's tests, and `next` gets the
   instructions after the characters that the symbol matches. */
static void phi__re_close(phi__regex *regex, uint64_t *set, size_t depth,
                          const phi__re_state *state, uint16_t symbol) {
    while (depth > 0) {
        size_t pc = regex->stack[--depth];
        const phi__re_code *code = &regex->program.codes[pc];
        regex->work++;
        if (code->op == PHI__RE_OP_SPLIT) depth = phi__re_push(regex, set, depth, code->y);
        if (code->op == PHI__RE_OP_SPLIT || code->op == PHI__RE_OP_JUMP)
            depth = phi__re_push(regex, set, depth, code->x);
        if (code->op == PHI__RE_OP_MATCH) regex->matched = true;
        if (state == NULL) continue;
        if (code->op == PHI__RE_OP_TEST && phi__re_test(regex, code->x, state->before, symbol))
            depth = phi__re_push(regex, set, depth, pc + 1);
        if (code->op == PHI__RE_OP_SET && phi__re_in_set(&regex->program, code->x, symbol))
            (void)phi__re_mark(regex->next, pc + 1);
    }
}

/* Adds instruction pc and those reached from pc without a character or a test. */
static void phi__re_reach(phi__regex *regex, uint64_t *set, size_t pc) {
    phi__re_close(regex, set, phi__re_push(regex, set, 0, pc), NULL, 0);
}

/* ---- states ---- */

static void phi__re_flush(phi__regex *regex) {
    regex->state_count = PHI__RE_FIRST;
    regex->pool_count = 0;
    regex->start = PHI__RE_UNKNOWN;
    regex->flushed = true;
    memset(regex->hash, 0, regex->hash_size * sizeof *regex->hash);
}

/* Appends to the pool, in order, the instructions in `next` that are not jumps. Sets *tests if any
   of them is a test. False: no memory. */
static bool phi__re_list(phi__regex *regex, phi__re_state *state, bool *tests) {
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
            if ((word & 1) == 0) continue;
            uint16_t op = regex->program.codes[pc].op;
            if (op == PHI__RE_OP_JUMP || op == PHI__RE_OP_SPLIT) continue;
            if (op == PHI__RE_OP_TEST) *tests = true;
            pool[regex->pool_count + n++] = (uint16_t)pc;
        }
    }
    regex->work += regex->words + n;
    state->at = (uint32_t)regex->pool_count;
    state->count = (uint16_t)n;
    return true;
}

/* Returns the state for the instructions in `next`, or PHI__RE_UNKNOWN without memory. */
static uint16_t phi__re_intern(phi__regex *regex, uint16_t before) {
    phi__re_state state;
    bool tests;
    if (regex->state_count >= regex->most_states ||
        regex->pool_count + regex->program.count > PHI__RE_POOL)
        phi__re_flush(regex);
    if (!phi__re_list(regex, &state, &tests)) return PHI__RE_UNKNOWN;
    state.before = tests ? before : (uint16_t)PHI__RE_BEFORE_ANY;
    uint32_t hash = 2166136261u + state.before;
    for (size_t i = 0; i < state.count; i++) hash = (hash ^ regex->pool[state.at + i]) * 16777619u;
    size_t at = (hash ^ hash >> 15) & (regex->hash_size - 1);
    for (; regex->hash[at] != 0; at = (at + 1) & (regex->hash_size - 1)) {
        const phi__re_state *old = &regex->states[regex->hash[at]];
        if (old->count == state.count && old->before == state.before &&
            memcmp(regex->pool + old->at, regex->pool + state.at,
                   state.count * sizeof *regex->pool) == 0)
            return regex->hash[at];
    }
    /* Add a new state, with its row of the table. */
    size_t row = (size_t)1 << regex->shift;
    phi__re_state *states = (phi__re_state *)phi__grow(
        regex->memory, regex->states, &regex->state_cap, regex->state_count + 1, sizeof *states);
    uint16_t *table;
    if (states == NULL) return PHI__RE_UNKNOWN;
    regex->states = states;
    table = (uint16_t *)phi__grow(regex->memory, regex->table, &regex->table_cap,
                                  (regex->state_count + 1) * row, sizeof *table);
    if (table == NULL) return PHI__RE_UNKNOWN;
    regex->table = table;
    memset(table + regex->state_count * row, 0, row * sizeof *table);
    regex->hash[at] = (uint16_t)regex->state_count;
    regex->pool_count += state.count;
    regex->states[regex->state_count] = state;
    return (uint16_t)regex->state_count++;
}

/* Returns the state at the beginning of a line. PHI__RE_UNKNOWN: no memory. */
static uint16_t phi__re_starting(phi__regex *regex) {
    if (regex->start != PHI__RE_UNKNOWN) return regex->start;
    memset(regex->next, 0, regex->words * sizeof *regex->next);
    phi__re_reach(regex, regex->next, 0);
    regex->matched = false; /* the next symbol's step finds the match */
    regex->start = phi__re_intern(regex, PHI__RE_BEFORE_LINE);
    return regex->start;
}

/* Computes the state after a symbol. PHI__RE_UNKNOWN: no memory. */
static uint16_t phi__re_step(phi__regex *regex, uint16_t symbol) {
    phi__re_state state = regex->states[regex->state];
    regex->matched = false;
    memset(regex->next, 0, regex->words * sizeof *regex->next);
    size_t depth = 0; /* First, follow the state's instructions with the symbol. */
    memset(regex->seen, 0, regex->words * sizeof *regex->seen);
    for (size_t i = 0; i < state.count; i++)
        depth = phi__re_push(regex, regex->seen, depth, regex->pool[state.at + i]);
    phi__re_close(regex, regex->seen, depth, &state, symbol);
    if (regex->matched) return PHI__RE_MATCHED;
    if (symbol == regex->program.end) return phi__re_starting(regex);
    (void)phi__re_mark(regex->next, 0); /* a match may also begin here */
    /* Then add the instructions that are reached from those in `next`. */
    memset(regex->seen, 0, regex->words * sizeof *regex->seen);
    for (size_t i = 0; i < regex->words; i++) {
        uint64_t word = regex->next[i];
        size_t pc = i * 64;
        for (; word != 0; word >>= 1, pc++)
            if (word & 1) phi__re_reach(regex, regex->seen, pc);
    }
    memcpy(regex->next, regex->seen, regex->words * sizeof *regex->next);
    if (regex->matched) return PHI__RE_MATCHED;
    bool word = regex->program.words && phi__re_is_word(&regex->program, symbol);
    return phi__re_intern(regex, (uint16_t)(word ? PHI__RE_BEFORE_WORD : PHI__RE_BEFORE_OTHER));
}

/* Returns the state after a symbol, from the table. If the table lacks it, computes and stores
   it. */
static uint16_t phi__re_go(phi__regex *regex, uint16_t symbol, size_t *units) {
    size_t place = ((size_t)regex->state << regex->shift) + symbol;
    uint16_t to = regex->table[place];
    uint64_t before = regex->work;
    if (to != PHI__RE_UNKNOWN) return to;
    regex->flushed = false;
    to = phi__re_step(regex, symbol);
    if (!regex->flushed) regex->table[place] = to;
    *units -= phi__min(*units, (size_t)(regex->work - before));
    return to;
}

/* ---- text ---- */

/* Returns the symbol of the character at the start of text. *n is set to the character's bytes, or
   to 0 if more text is needed. */
static uint16_t phi__re_decode(const phi__regex *regex, phi_str text, bool last, size_t *n) {
    size_t want = phi__re_bytes(text.at[0]), have = phi__min(want, text.len);
    unsigned char lead = (unsigned char)text.at[0];
    *n = 0;
    if (phi__utf8_valid(phi__str(text.at, have)) == want)
        return phi__re_symbol(&regex->program, phi__regex_next(phi__str(text.at, want), n));
    /* The text may end within a character. */
    *n = !last && have < want && phi__utf8_bad(text.at, text.at + have) == have ? 0 : 1;
    if (*n == 0 && (lead < 0xC2 || lead > 0xF4)) *n = 1;
    return regex->program.bad;
}

/* Returns the place of the next lead byte from `at` on, or end. next[i] caches the next place of
   leads[i]. */
static size_t phi__re_skip(const phi__regex *regex, const char *text, size_t at, size_t end,
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

/* Follows the table. Stops at an entry not computed yet, at a match, and at a byte above ASCII. */
static size_t phi__re_run(phi__regex *regex, const char *text, size_t at, size_t end) {
    const uint16_t *table = regex->table, *bytes = regex->program.bytes;
    unsigned shift = regex->shift;
    uint16_t state = regex->state, idle = PHI__RE_UNKNOWN;
    size_t next[2] = {0, 0};
    if (regex->lead_count > 0) {
        idle = regex->start;
        if (state == idle) at = phi__re_skip(regex, text, at, end, next);
    }
    for (; at < end; at++) {
        uint16_t to = table[((size_t)state << shift) + bytes[(unsigned char)text[at]]];
        if (to < PHI__RE_FIRST) break;
        state = to;
        /* minus 1, because the loop adds 1 */
        if (to == idle) at = phi__re_skip(regex, text, at + 1, end, next) - 1;
    }
    regex->state = state;
    return at;
}

/* Sets the leads to the bytes that leave the start state. Sets none if the state has tests, or if
   more than two bytes, or a byte above ASCII, would leave it. */
static void phi__re_find_leads(phi__regex *regex) {
    const phi__re_program *program = &regex->program;
    uint16_t c;
    size_t pc, run, n = 0;
    memset(regex->next, 0, regex->words * sizeof *regex->next);
    phi__re_reach(regex, regex->next, 0);
    for (uint16_t symbol = 0; symbol < program->symbol_count; symbol++) {
        bool leads = regex->matched;
        for (pc = 0; pc < program->count && !leads; pc++)
            if ((regex->next[pc >> 6] >> (pc & 63) & 1) != 0)
                leads = program->codes[pc].op == PHI__RE_OP_TEST ||
                        (program->codes[pc].op == PHI__RE_OP_SET &&
                         phi__re_in_set(program, program->codes[pc].x, symbol));
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

static bool phi__re_ready(phi__regex *regex) {
    if (regex->state == PHI__RE_UNKNOWN) regex->state = phi__re_starting(regex);
    return regex->state != PHI__RE_UNKNOWN;
}

static bool phi__re_prepare(phi__regex *regex) {
    size_t row = 1;
    while (row < (size_t)regex->program.high + 1) {
        row *= 2;
        regex->shift++;
    }
    regex->words = (regex->program.count + 63) / 64;
    regex->most_states =
        phi__max(phi__min(PHI__RE_CACHE / (row * sizeof(uint16_t)), PHI__RE_STATES), 16);
    regex->hash_size = 2 * PHI__RE_STATES;
    while (regex->hash_size >= 4 * regex->most_states) regex->hash_size /= 2;
    regex->hash = (uint16_t *)phi__alloc(regex->memory, regex->hash_size * sizeof *regex->hash);
    regex->next = (uint64_t *)phi__alloc(regex->memory, regex->words * sizeof *regex->next);
    regex->seen = (uint64_t *)phi__alloc(regex->memory, regex->words * sizeof *regex->seen);
    regex->stack =
        (uint16_t *)phi__alloc(regex->memory, regex->program.count * sizeof *regex->stack);
    if (regex->hash == NULL || regex->next == NULL || regex->seen == NULL || regex->stack == NULL)
        return false;
    phi__re_flush(regex);
    phi__re_find_leads(regex);
    regex->matched = false;
    return true;
}

PHI__FN phi_status phi__regex_new(phi_memory *memory, phi_str pattern, bool ignore_case,
                                  phi__regex **out, phi__regex_error *error) {
    phi__regex *regex = (phi__regex *)phi__alloc(memory, sizeof *regex);
    phi__re_tree tree;
    *out = NULL;
    memset(error, 0, sizeof *error);
    if (regex == NULL) return PHI_NO_MEMORY;
    regex->memory = memory;
    regex->program.memory = memory;
    phi_status status = phi__re_parse(&tree, memory, pattern, ignore_case, error);
    if (status == PHI_OK) status = phi__re_make(&regex->program, &tree, error);
    phi__free(tree.memory, tree.nodes, tree.node_cap * sizeof *tree.nodes);
    phi__free(tree.memory, tree.ranges, tree.range_cap * sizeof *tree.ranges);
    phi__free(tree.memory, tree.sets, tree.set_cap * sizeof *tree.sets);
    memset(&tree, 0, sizeof tree);
    if (status == PHI_OK && !phi__re_prepare(regex)) status = PHI_NO_MEMORY;
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
    phi__re_program *program = &regex->program;
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
        if (!phi__re_ready(regex)) return PHI__REGEX_NO_MEMORY;
        *at = phi__re_run(regex, text.at, begin, begin + phi__min(text.len - begin, *units));
        *units -= *at - begin;
        regex->work += *at - begin;
        if (*units == 0 || *at == text.len) continue;
        uint16_t symbol = regex->program.bytes[(unsigned char)text.at[*at]];
        if (symbol == regex->program.high)
            symbol = phi__re_decode(regex, phi__str(text.at + *at, text.len - *at), last, &n);
        if (n == 0) return PHI__REGEX_NONE;
        uint16_t to = phi__re_go(regex, symbol, units);
        if (to == PHI__RE_UNKNOWN) return PHI__REGEX_NO_MEMORY;
        if (to == PHI__RE_MATCHED) return PHI__REGEX_MATCH;
        regex->state = to;
        *at += n;
        *units -= phi__min(*units, n);
    }
    return PHI__REGEX_NONE;
}

PHI__FN phi__regex_found phi__regex_finish(phi__regex *regex) {
    size_t units = SIZE_MAX;
    if (!phi__re_ready(regex)) return PHI__REGEX_NO_MEMORY;
    uint16_t to = phi__re_go(regex, regex->program.end, &units);
    if (to == PHI__RE_UNKNOWN) return PHI__REGEX_NO_MEMORY;
    return to == PHI__RE_MATCHED ? PHI__REGEX_MATCH : PHI__REGEX_NONE;
}
