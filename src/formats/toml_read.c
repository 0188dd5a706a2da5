/* toml_read.c - the reader of TOML, a state machine that walks the text once. */
#include "base/base_in.h"
#include "formats/toml_in.h"

#include <stdio.h>

enum {
    PHI__TOML_DEPTH = 512,           /* max. levels of nesting, by default */
    PHI__TOML_NAMES_FIRST = 64,      /* slots of the first hash table */
    PHI__TOML_FRACTION = 9,          /* max. digits of a fraction that are kept */
    PHI__TOML_SECTIONS = 0x1fffffff, /* max. headers: the limit of phi__toml_name.section */
    PHI__TOML_KEY_MOST = 0xffffff,   /* max. bytes of a key: the limit of a node's meta */
    PHI__TOML_NUMBER_MOST = 65536,   /* max. bytes of a number; bounds the work of one step */
    PHI__TOML_DATE_MOST = 36         /* bytes of a canonical date with its terminator */
};

enum phi__toml_state {
    PHI__TOML_LINE,         /* before a header, a key, a comment or the end of a line */
    PHI__TOML_KEY,          /* before a part of a key */
    PHI__TOML_BARE,         /* in a bare part */
    PHI__TOML_KEY_AFTER,    /* after a part of a key */
    PHI__TOML_VALUE,        /* before a value of a key */
    PHI__TOML_ITEM,         /* before an item of an array, or its end */
    PHI__TOML_ITEM_AFTER,   /* after an item */
    PHI__TOML_MEMBER,       /* before a key in braces */
    PHI__TOML_FIRST_MEMBER, /* before a key in braces, or the closing brace */
    PHI__TOML_MEMBER_AFTER, /* after a member */
    PHI__TOML_STRING_TEXT,
    PHI__TOML_STRING_JOIN, /* after a backslash at the end of a line: skips white space */
    PHI__TOML_REST,        /* only a comment may follow on the line */
    PHI__TOML_COMMENT      /* in a comment; `back` is the state after it */
};

enum phi__toml_style {
    PHI__TOML_BASIC = 1,
    PHI__TOML_LITERAL,
    PHI__TOML_MULTI_BASIC,
    PHI__TOML_MULTI_LITERAL
};

/* How a member was defined. */
enum phi__toml_how {
    PHI__TOML_FIXED,    /* a value, which later keys cannot change */
    PHI__TOML_IMPLICIT, /* a table that a header passes through */
    PHI__TOML_EXPLICIT, /* a table with its own header */
    PHI__TOML_DOTTED,   /* a table that a dotted key passes through */
    PHI__TOML_LIST      /* an array of headers in double brackets */
};

typedef struct phi__toml_frame {
    struct phi__toml_frame *up;
    phi_json *node;
    uint32_t depth;
} phi__toml_frame;

typedef struct phi__toml_name {
    const phi_json *table; /* NULL: a free slot */
    phi_json *node;        /* the node of this key */
    uint32_t hash;
    uint32_t section : 29; /* for PHI__TOML_DOTTED: the section that may add to the table */
    uint32_t how : 3;
} phi__toml_name;

static bool phi__toml_at_break(const phi__toml_reader *r, const char *at) {
    if (at >= r->end) return false;
    return *at == '\n' || (*at == '\r' && r->end - at > 1 && at[1] == '\n');
}

/* ---- errors ---- */

static uint32_t phi__toml_column(const phi__toml_reader *r, const char *at) {
    return (uint32_t)(at - r->line_at) + 1;
}

/* Records an error, unless there is one already. Returns false, as all functions for errors do. */
static bool phi__toml_fail(phi__toml_reader *r, const char *at, phi_status status,
                           const char *message) {
    if (r->status != PHI_BUSY) return false;
    r->status = r->error.status = status;
    r->error.line = r->line;
    r->error.column = at >= r->line_at ? phi__toml_column(r, at) : 1;
    r->error.offset = (size_t)(at - r->text);
    (void)snprintf(r->error.message, sizeof r->error.message, "%s", message);
    return false;
}

static bool phi__toml_expected(phi__toml_reader *r, const char *at, const char *what) {
    char message[sizeof r->error.message];
    if (r->end - at > 2 && memcmp(at, "\xE2\x80", 2) == 0 && (at[2] & 0xF8) == 0x98)
        (void)snprintf(message, sizeof message,
                       "expected %s, found a curly quote: write a straight one, \" or '", what);
    else
        phi__reader_found(message, sizeof message, what, at, r->end, phi__toml_at_break(r, at));
    return phi__toml_fail(r, at, PHI_PARSE, message);
}

static bool phi__toml_wrong(phi__toml_reader *r, const char *at, const char *what) {
    return phi__toml_fail(r, at, PHI_PARSE, what);
}

static void phi__toml_wrong_key(phi__toml_reader *r, const char *before, const char *behind) {
    char message[sizeof r->error.message];
    size_t n = strlen(before), most = phi__utf8_cut(r->key, 48);
    if (r->status != PHI_BUSY) return;
    memcpy(message, before, n);
    for (size_t i = 0; i < most; i++) {
        unsigned char c = (unsigned char)r->key.at[i];
        message[n++] = (char)(c < 0x20 || c == 0x7f ? '?' : c);
    }
    (void)snprintf(message + n, sizeof message - n, "%s%s", most < r->key.len ? "..." : "", behind);
    phi__toml_fail(r, r->places.key_at, PHI_PARSE, message);
    r->error.line = r->places.key_line;
    r->error.column = r->places.key_column;
}

static bool phi__toml_too_big(phi__toml_reader *r, const char *at, const char *what) {
    return phi__toml_fail(r, at, PHI_TOO_BIG, what);
}

static bool phi__toml_no_memory(phi__toml_reader *r) {
    return phi__toml_fail(r, r->at, PHI_NO_MEMORY, "no memory for the tree");
}

/* ---- characters ---- */

static size_t phi__toml_char(phi__toml_reader *r, const char *at) {
    unsigned char c = (unsigned char)*at;
    if (c == '\t' || (c >= 0x20 && c < 0x7f)) return 1;
    if (c == '\r') {
        phi__toml_wrong(r, at, "a carriage return without a line feed behind it");
        return 0;
    }
    if (c < 0x80) {
        phi__toml_wrong(
            r, at, "a control character, which must be an escape in a string in double quotes");
        return 0;
    }
    size_t n = phi__json_text_utf8(at, r->end);
    if (n == 0) phi__toml_wrong(r, at, "a byte that is not UTF-8");
    return n;
}

/* ---- lines ---- */

static bool phi__toml_space(phi__toml_reader *r, const char *stop) {
    while (r->at < stop && (*r->at == ' ' || *r->at == '\t')) r->at++;
    return r->at < stop || r->at == r->end;
}

static void phi__toml_newline(phi__toml_reader *r) {
    r->at += *r->at == '\r' ? 2 : 1;
    r->line++;
    r->line_at = r->at;
}

/* ---- room ---- */

/* Adds to the text's copy, which has room for a terminator. A value is never longer than its source
   text. */
static bool phi__toml_add(phi__toml_reader *r, const char *at, size_t len) {
    if (!phi__pool_room(&r->pool, r->arena, &r->string, &r->to, len, (size_t)(r->end - r->at)))
        return phi__toml_no_memory(r);
    if (len > 0) memcpy(r->to, at, len);
    r->to += len;
    return true;
}

static phi_str phi__toml_end(phi__toml_reader *r, const char *at) {
    phi_str text = phi__str("", 0);
    if (!phi__toml_add(r, r->mark, (size_t)(at - r->mark))) return text;
    *r->to = '\0';
    text = phi__str(r->string, (size_t)(r->to - r->string));
    r->pool.text = r->to + 1;
    r->string = r->to = NULL;
    return text;
}

static void phi__toml_drop(phi__toml_reader *r, phi_str text) {
    if (text.at + text.len + 1 == r->pool.text) r->pool.text -= text.len + 1;
}

/* ======== A hash table of the members of all tables, by table and key, at most three quarters
   full. Members stay until the end of the text, because a later header may add to any table. */

static uint32_t phi__toml_name_hash(const phi_json *table, phi_str key) {
    uint64_t seed = (uint64_t)(uintptr_t)table * UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)phi__map_hash(seed, key);
}

/* Returns the slot of this member, or the free slot where it belongs. At least one slot is free. */
static phi__toml_name *phi__toml_name_slot(const phi__toml_reader *r, const phi_json *table,
                                           phi_str key, uint32_t hash) {
    size_t mask = r->name_cap - 1, i = hash & mask;
    for (;; i = (i + 1) & mask) {
        phi__toml_name *name = &r->names[i];
        if (name->table == NULL) return name;
        if (name->hash == hash && name->table == table &&
            phi__json_key_len(name->node) == key.len &&
            memcmp(name->node->key, key.at, key.len) == 0)
            return name;
    }
}

static bool phi__toml_name_grow(phi__toml_reader *r) {
    phi__toml_name *old = r->names, *names;
    size_t cap = r->name_cap;
    size_t grown = phi__max(phi__mul(cap, 2), PHI__TOML_NAMES_FIRST);
    names = (phi__toml_name *)phi__arena_zero(r->arena, phi__mul(grown, sizeof *names));
    if (names == NULL) return false;
    r->names = names;
    r->name_cap = grown;
    for (size_t i = 0; i < cap; i++) {
        size_t at = old[i].hash & (grown - 1);
        if (old[i].table == NULL) continue;
        while (names[at].table != NULL) at = (at + 1) & (grown - 1);
        names[at] = old[i];
    }
    return true;
}

static phi__toml_name *phi__toml_name_find(const phi__toml_reader *r, const phi_json *table,
                                           phi_str key) {
    if (r->name_cap == 0) return NULL;
    phi__toml_name *name = phi__toml_name_slot(r, table, key, phi__toml_name_hash(table, key));
    return name->table == NULL ? NULL : name;
}

static bool phi__toml_name_add(phi__toml_reader *r, const phi_json *table, phi_json *node,
                               uint8_t how) {
    uint32_t hash = phi__toml_name_hash(table, phi__toml_key_of(node));
    if (r->name_count >= r->name_cap / 4 * 3 && !phi__toml_name_grow(r))
        return phi__toml_no_memory(r);
    phi__toml_name *name = phi__toml_name_slot(r, table, phi__toml_key_of(node), hash);
    name->table = table;
    name->node = node;
    name->hash = hash;
    name->section = r->section_number & PHI__TOML_SECTIONS;
    name->how = how & 7u;
    r->name_count++;
    return true;
}

/* ---- tables, the walk of headers and dotted keys, and values that join them ---- */

static phi_json *phi__toml_node(phi__toml_reader *r, uint32_t meta) {
    phi_json *node = phi__pool_node(&r->pool, r->arena, (size_t)(r->end - r->at), meta);
    if (node == NULL) (void)phi__toml_no_memory(r);
    return node;
}

/* Records the place of a value or of a header. */
static void phi__toml_mark(phi__toml_reader *r, const phi_json *node) {
    if (r->marks == NULL) return;
    phi__marks_add(r->marks, node, r->places.value_line, r->places.value_column);
}

/* ---- tables ---- */

static void phi__toml_key(phi__toml_reader *r) {
    r->in_header = false;
    r->table = r->top != NULL ? r->top->node : r->section;
    r->table_depth = r->top != NULL ? r->top->depth : r->section_depth;
    r->state = PHI__TOML_KEY;
}

static bool phi__toml_deeper(phi__toml_reader *r, uint32_t depth) {
    if (depth <= r->max_depth) return true;
    return phi__toml_too_big(r, r->at, "tables and arrays are nested too deeply");
}

/* Adds a member to r->table under the key in r->key. NULL if an error was recorded. */
static phi_json *phi__toml_member(phi__toml_reader *r, uint32_t meta, uint8_t how) {
    phi_json *node = phi__toml_node(r, meta);
    if (node == NULL) return NULL;
    node->key = r->key.at;
    node->meta |= (uint32_t)r->key.len << 8;
    if (!phi__toml_name_add(r, r->table, node, how)) return NULL;
    phi__json_append(r->table, node);
    if (r->marks != NULL)
        phi__marks_add_key(r->marks, node, r->places.key_line, r->places.key_column);
    return node;
}

static void phi__toml_enter(phi__toml_reader *r, phi_json *table, uint32_t deeper) {
    r->table = table;
    r->table_depth += deeper;
    (void)phi__toml_deeper(r, r->table_depth);
}

/* Follows a header into an existing member. */
static void phi__toml_pass(phi__toml_reader *r, const phi__toml_name *name) {
    if (name->how == PHI__TOML_FIXED)
        phi__toml_wrong_key(r, "the key \"",
                            phi__json_kind_of(name->node) == PHI__JSON_OBJECT
                                ? "\" is an inline table, which is complete"
                                : "\" is a value already, and no table");
    else if (name->how == PHI__TOML_LIST)
        phi__toml_enter(r, name->node->v.last, 2);
    else
        phi__toml_enter(r, name->node, 1);
}

/* Follows a dotted key into an existing member. The member must be a table made by dotted keys of
   this section, or a table without a definition. */
static void phi__toml_pass_dotted(phi__toml_reader *r, phi__toml_name *name) {
    bool own = name->how == PHI__TOML_DOTTED && name->section == r->section_number;
    if (name->how == PHI__TOML_FIXED) {
        phi__toml_pass(r, name);
        return;
    }
    if (!own && name->how != PHI__TOML_IMPLICIT) {
        phi__toml_wrong_key(r, "the table \"",
                            "\" is defined already: a dotted key cannot add to it");
        return;
    }
    name->how = PHI__TOML_DOTTED;
    name->section = r->section_number & PHI__TOML_SECTIONS;
    phi__toml_enter(r, name->node, 1);
}

static void phi__toml_descend(phi__toml_reader *r) {
    phi__toml_name *name = phi__toml_name_find(r, r->table, r->key);
    if (name == NULL) {
        phi_json *node = phi__toml_member(r, PHI__JSON_OBJECT,
                                          r->in_header ? PHI__TOML_IMPLICIT : PHI__TOML_DOTTED);
        if (node == NULL) return;
        if (!r->in_header) {
            r->places.value_line = r->places.key_line;
            r->places.value_column = r->places.key_column;
        }
        phi__toml_mark(r, node);
        phi__toml_enter(r, node, 1);
        return;
    }
    if (r->in_header)
        phi__toml_pass(r, name);
    else
        phi__toml_pass_dotted(r, name);
    if (r->status == PHI_BUSY) phi__toml_drop(r, r->key);
}

static void phi__toml_list(phi__toml_reader *r, phi__toml_name *name) {
    phi_json *list =
        name == NULL
            ? phi__toml_member(r, PHI__JSON_ARRAY | (uint32_t)PHI__JSON_TABLES << 4, PHI__TOML_LIST)
            : name->node;
    if (list == NULL) return;
    if (name == NULL)
        phi__toml_mark(r, list);
    else if (name->how == PHI__TOML_LIST)
        phi__toml_drop(r, r->key);
    else if (name->how == PHI__TOML_FIXED)
        phi__toml_wrong_key(r, "the key \"",
                            phi__json_kind_of(list) == PHI__JSON_ARRAY
                                ? "\" is an array in brackets, which is complete"
                                : "\" is a value already, and no array of tables");
    else
        phi__toml_wrong_key(r, "the key \"", "\" is a table already, and no array of tables");
    phi_json *node = r->status == PHI_BUSY ? phi__toml_node(r, PHI__JSON_OBJECT) : NULL;
    if (node == NULL) return;
    phi__json_append(list, node); /* adds a table at the end */
    phi__toml_enter(r, node, 2);
}

static void phi__toml_table(phi__toml_reader *r, phi__toml_name *name) {
    phi_json *node;
    if (name == NULL) {
        node = phi__toml_member(r, PHI__JSON_OBJECT, PHI__TOML_EXPLICIT);
    } else {
        node = name->node;
        if (name->how == PHI__TOML_LIST)
            phi__toml_wrong_key(r, "the key \"", "\" is an array of tables already");
        else if (name->how == PHI__TOML_FIXED)
            phi__toml_wrong_key(r, "the key \"", "\" has a value already");
        else if (name->how != PHI__TOML_IMPLICIT)
            phi__toml_wrong_key(r, "the table \"",
                                "\" is defined already: put all its keys under one header");
        name->how = PHI__TOML_EXPLICIT;
        if (r->status == PHI_BUSY) {
            if (r->marks != NULL)
                phi__marks_add_key(r->marks, node, r->places.key_line, r->places.key_column);
            phi__toml_drop(r, r->key);
        }
    }
    if (node != NULL && r->status == PHI_BUSY) phi__toml_enter(r, node, 1);
}

static void phi__toml_section(phi__toml_reader *r) {
    phi__toml_name *name = phi__toml_name_find(r, r->table, r->key);
    if (r->tables_header)
        phi__toml_list(r, name);
    else
        phi__toml_table(r, name);
    if (r->status != PHI_BUSY) return;
    phi__toml_mark(r, r->table);
    r->section = r->table;
    r->section_depth = r->table_depth;
    if (r->section_number == PHI__TOML_SECTIONS) phi__toml_too_big(r, r->at, "2^29 headers");
    r->section_number++;
    r->state = PHI__TOML_REST;
}

/* ---- values ---- */

static void phi__toml_value(phi__toml_reader *r) {
    r->places.value_line = r->line;
    r->places.value_column = phi__toml_column(r, r->at);
}

static bool phi__toml_in_array(const phi__toml_reader *r) {
    return r->top != NULL && phi__json_kind_of(r->top->node) == PHI__JSON_ARRAY;
}

static phi_json *phi__toml_join(phi__toml_reader *r, uint32_t meta) {
    if (!phi__toml_in_array(r)) return phi__toml_member(r, meta, PHI__TOML_FIXED);
    phi_json *node = phi__toml_node(r, meta);
    if (node != NULL) phi__json_append(r->top->node, node);
    return node;
}

static uint8_t phi__toml_after(const phi__toml_reader *r) {
    if (r->top == NULL) return PHI__TOML_REST;
    return phi__toml_in_array(r) ? PHI__TOML_ITEM_AFTER : PHI__TOML_MEMBER_AFTER;
}

static phi_json *phi__toml_scalar(phi__toml_reader *r, uint32_t meta) {
    phi_json *node = phi__toml_join(r, meta);
    if (node == NULL) return NULL;
    phi__toml_mark(r, node);
    r->state = phi__toml_after(r);
    return node;
}

static void phi__toml_open(phi__toml_reader *r, bool table) {
    uint32_t depth = 1 + (phi__toml_in_array(r) ? r->top->depth : r->table_depth);
    uint32_t meta =
        table ? PHI__JSON_OBJECT | (uint32_t)PHI__JSON_INLINE << 4 : (uint32_t)PHI__JSON_ARRAY;
    phi__toml_frame *frame = r->unused;
    if (!phi__toml_deeper(r, depth)) return;
    phi_json *node = phi__toml_join(r, meta);
    if (node == NULL) return;
    phi__toml_mark(r, node);
    if (frame != NULL)
        r->unused = frame->up;
    else
        frame = (phi__toml_frame *)phi_arena_alloc(r->arena, sizeof *frame);
    if (frame == NULL) {
        phi__toml_no_memory(r);
        return;
    }
    frame->up = r->top;
    frame->node = node;
    frame->depth = depth;
    r->top = frame;
    r->at++;
    r->state = table ? PHI__TOML_FIRST_MEMBER : PHI__TOML_ITEM;
}

static void phi__toml_close(phi__toml_reader *r) {
    phi__toml_frame *frame = r->top;
    r->at++;
    r->top = frame->up;
    frame->up = r->unused;
    r->unused = frame;
    r->state = phi__toml_after(r);
}

/* ---- values that are neither strings nor dates: booleans, integers, floats ---- */

static const char phi__toml_no_value[] = "expected a value: text must be in quotes";
static const char phi__toml_bad_number[] =
    "expected a number, a date, true or false: a number has no unit, and text must be in quotes";

/* Returns the message for a word that is no value in TOML. */
static const char *phi__toml_num_word(phi_str text) {
    static const char *const nulls[] = {"null", "nil", "none"};
    if (phi__str_is_nocase(text, "true") || phi__str_is_nocase(text, "false"))
        return "true and false are written in small letters";
    for (size_t i = 0; i < PHI__COUNT(nulls); i++)
        if (phi__str_is_nocase(text, nulls[i])) return "TOML has no null: leave the key out";
    return phi__toml_no_value;
}

/* Copies a number without its underscores. False if an underscore is not between two digits. */
static bool phi__toml_num_strip(phi_str text, bool hex, char *to, size_t *len) {
    size_t n = 0;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.at[i];
        if (c == '_') {
            char a = i > 0 ? text.at[i - 1] : '_', b = i + 1 < text.len ? text.at[i + 1] : '_';
            bool good = a >= '0' && a <= '9' && b >= '0' && b <= '9';
            if (hex) good = a != '_' && b != '_';
            if (!good) return false;
            continue;
        }
        to[n++] = c;
    }
    to[n] = '\0';
    *len = n;
    return true;
}

/* Reads the digits after 0x, 0o or 0b. */
static uint32_t phi__toml_num_based(const char *at, size_t len, unsigned base,
                                    phi__json_value *value, const char **what) {
    uint64_t n = 0;
    if (len == 0) *what = "expected digits behind the prefix of the number";
    for (size_t i = 0; i < len && *what == NULL; i++) {
        unsigned digit = phi__reader_digit(at[i]);
        if (digit >= base)
            *what = base == 16  ? "a digit that is not hexadecimal"
                    : base == 8 ? "a digit that is not octal"
                                : "a digit that is not binary";
        else if (n > ((uint64_t)INT64_MAX - digit) / base)
            *what = "the integer is too large for 64 bits";
        else
            n = n * base + digit;
    }
    value->i = (int64_t)n;
    return *what == NULL ? (uint32_t)PHI__JSON_INT : 0;
}

static uint32_t phi__toml_num_decimal(const char *at, size_t len, phi__json_value *value,
                                      const char **what) {
    phi__json_number number;
    const char *bad, *after = phi__json_number_read(at, at + len, &number, &bad);
    bool whole = strcspn(at, ".eE") == len;
    if (after == NULL && bad == at) {
        *what = *at >= '0' && *at <= '9' ? "the number is too large for a double"
                                         : phi__toml_bad_number;
        if (*at == '-')
            *what = phi__reader_digit(at[1]) > 9 ? phi__toml_bad_number
                                                 : "the number is too large for a double";
    } else if (after == NULL)
        *what = "expected a digit in the number";
    else if (after != at + len)
        *what = *at == '0' || (*at == '-' && at[1] == '0') ? "a number must not begin with a zero"
                                                           : phi__toml_bad_number;
    else if (whole && number.kind == PHI__JSON_DOUBLE && number.v.u << 1 == 0) { /* -0 is 0 */
        number.kind = PHI__JSON_INT;
        number.v.i = 0;
    } else if (whole && number.kind != PHI__JSON_INT)
        *what = "the integer is too large for 64 bits";
    if (*what != NULL) return 0;
    *value = number.v;
    return number.kind;
}

static uint32_t phi__toml_num_read(phi_str text, char *room, phi__json_value *value,
                                   const char **what) {
    bool sign = text.len > 0 && (*text.at == '+' || *text.at == '-');
    phi_str rest = sign ? phi__str(text.at + 1, text.len - 1) : text;
    size_t len;
    *what = NULL;
    if (phi__str_is(text, "true")) return PHI__JSON_TRUE;
    if (phi__str_is(text, "false")) return PHI__JSON_FALSE;
    if (phi__str_is(rest, "inf") || phi__str_is(rest, "nan")) {
        value->u = *rest.at == 'n' ? UINT64_C(0x7ff8000000000000) : UINT64_C(0x7ff0000000000000);
        if (*text.at == '-') value->u |= UINT64_C(1) << 63;
        return PHI__JSON_DOUBLE;
    }
    if (rest.len == 0 || phi__reader_digit(*rest.at) > 9) {
        *what = sign || (rest.len > 0 && *rest.at == '.') ? "expected a digit in the number"
                                                          : phi__toml_num_word(text);
        return 0;
    }
    char base = rest.len > 1 && *rest.at == '0' ? rest.at[1] : '\0';
    bool hex = base == 'x' || base == 'o' || base == 'b';
    if (hex && sign) {
        *what = "a number with a prefix has no sign";
        return 0;
    }
    if (hex) rest = phi__str(rest.at + 2, rest.len - 2);
    if (!phi__toml_num_strip(*text.at == '-' ? text : rest, hex, room, &len)) {
        *what = "an underscore must be between two digits";
        return 0;
    }
    if (hex)
        return phi__toml_num_based(room, len, base == 'x' ? 16 : base == 'o' ? 8 : 2, value, what);
    return phi__toml_num_decimal(room, len, value, what);
}

/* ---- dates and times of RFC 3339 as TOML has them ---- */

/* True if a text begins with this shape. In "dddd-dd", each d is any digit. */
static bool phi__toml_date_shaped(phi_str s, const char *shape) {
    for (size_t i = 0; shape[i] != '\0'; i++)
        if (i == s.len || (shape[i] == 'd' ? s.at[i] < '0' || s.at[i] > '9' : s.at[i] != shape[i]))
            return false;
    return true;
}

static bool phi__toml_date_begins(phi_str text) {
    return phi__toml_date_shaped(text, "dddd-") || phi__toml_date_shaped(text, "dd:");
}

static int32_t phi__toml_date_number(const char *at, int digits) {
    int32_t n = 0;
    while (digits-- > 0) n = n * 10 + (*at++ - '0');
    return n;
}

static int32_t phi__toml_date_days(int32_t year, int32_t month) {
    static const uint8_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return month == 2 && leap ? 29 : days[month - 1];
}

/* Reads the date at the start of *s, and advances *s past it. False if there is no valid date. */
static bool phi__toml_date_day(phi_str *s, phi_toml_date *out) {
    if (!phi__toml_date_shaped(*s, "dddd-dd-dd")) return false;
    out->year = phi__toml_date_number(s->at, 4);
    out->month = phi__toml_date_number(s->at + 5, 2);
    out->day = phi__toml_date_number(s->at + 8, 2);
    *s = phi__str(s->at + 10, s->len - 10);
    return out->month >= 1 && out->month <= 12 && out->day >= 1 &&
           out->day <= phi__toml_date_days(out->year, out->month);
}

static bool phi__toml_date_time(phi_str *s, phi_toml_date *out) {
    int32_t unit = 100000000;
    size_t i = 8;
    if (!phi__toml_date_shaped(*s, "dd:dd:dd")) return false;
    out->hour = phi__toml_date_number(s->at, 2);
    out->minute = phi__toml_date_number(s->at + 3, 2);
    out->second = phi__toml_date_number(s->at + 6, 2);
    if (phi__toml_date_shaped(phi__str(s->at + 8, s->len - 8), ".d"))
        for (i = 9; i < s->len && s->at[i] >= '0' && s->at[i] <= '9'; i++, unit /= 10)
            out->nanosecond += (s->at[i] - '0') * unit;
    *s = phi__str(s->at + i, s->len - i);
    return out->hour <= 23 && out->minute <= 59 && out->second <= 60;
}

/* Reads an offset. It must be all that is left of the text. */
static bool phi__toml_date_offset(phi_str s, phi_toml_date *out) {
    if (s.len == 1 && (*s.at == 'Z' || *s.at == 'z')) return true;
    if (s.len != 6 || (*s.at != '+' && *s.at != '-')) return false;
    if (!phi__toml_date_shaped(phi__str(s.at + 1, 5), "dd:dd")) return false;
    int32_t hours = phi__toml_date_number(s.at + 1, 2);
    int32_t minutes = phi__toml_date_number(s.at + 4, 2);
    out->offset_minutes = (*s.at == '-' ? -1 : 1) * (hours * 60 + minutes);
    return hours <= 23 && minutes <= 59;
}

static bool phi__toml_date_read(phi_str s, phi_toml_date *out) {
    phi_toml_date date = PHI_ZERO;
    date.type = PHI_TOML_LOCAL_TIME;
    if (phi__toml_date_shaped(s, "dddd-")) {
        if (!phi__toml_date_day(&s, &date)) return false;
        date.type = s.len == 0 ? PHI_TOML_LOCAL_DATE : PHI_TOML_LOCAL_DATETIME;
        if (s.len > 0) {
            if (*s.at != 'T' && *s.at != 't' && *s.at != ' ') return false;
            s = phi__str(s.at + 1, s.len - 1);
        }
    }
    if (date.type != PHI_TOML_LOCAL_DATE && !phi__toml_date_time(&s, &date)) return false;
    if (date.type == PHI_TOML_LOCAL_DATETIME && s.len > 0) {
        if (!phi__toml_date_offset(s, &date)) return false;
        date.type = PHI_TOML_OFFSET_DATETIME;
        s.len = 0;
    }
    if (s.len > 0) return false;
    *out = date;
    return true;
}

static size_t phi__toml_date_put(phi_str text, char out[PHI__TOML_DATE_MOST]) {
    size_t n = 0, digits = 0;
    bool fraction = false;
    for (size_t i = 0; i < text.len && n + 1 < PHI__TOML_DATE_MOST; i++) {
        char c = text.at[i];
        fraction = c == '.' || (fraction && c >= '0' && c <= '9');
        if (fraction && digits++ > PHI__TOML_FRACTION) continue;
        out[n++] = (char)(c == 't' || c == ' ' ? 'T' : c == 'z' ? 'Z' : c);
    }
    out[n] = '\0';
    return n;
}

static phi_toml_type phi__toml_date_type(const phi_json *node) {
    switch (phi_json_type_of(node)) {
    case PHI_JSON_BOOL: return PHI_TOML_BOOL;
    case PHI_JSON_NUMBER:
        return phi__json_kind_of(node) == PHI__JSON_DOUBLE ? PHI_TOML_FLOAT : PHI_TOML_INTEGER;
    case PHI_JSON_STRING: break;
    case PHI_JSON_ARRAY: return PHI_TOML_ARRAY;
    case PHI_JSON_OBJECT: return PHI_TOML_TABLE;
    default: return PHI_TOML_NONE;
    }
    switch (phi__json_form_of(node)) {
    case PHI__JSON_OFFSET_DATETIME: return PHI_TOML_OFFSET_DATETIME;
    case PHI__JSON_LOCAL_DATETIME: return PHI_TOML_LOCAL_DATETIME;
    case PHI__JSON_LOCAL_DATE: return PHI_TOML_LOCAL_DATE;
    case PHI__JSON_LOCAL_TIME: return PHI_TOML_LOCAL_TIME;
    default: return PHI_TOML_STRING;
    }
}

/* ---- public ---- */

PHI_API phi_toml_type phi_toml_type_of(const phi_json *node, phi_toml_date *date) {
    phi_toml_type type = phi__toml_date_type(node);
    if (date != NULL && type >= PHI_TOML_OFFSET_DATETIME && type <= PHI_TOML_LOCAL_TIME)
        (void)phi__toml_date_read(phi__json_text_of(node), date);
    return type;
}

PHI_API phi_json *phi_toml_new_date(phi_arena *arena, phi_str text) {
    char canonical[PHI__TOML_DATE_MOST];
    phi_toml_date date;
    if (arena == NULL || !phi__toml_date_read(text, &date)) return NULL;
    phi_json *node =
        phi_json_new_str(arena, phi__str(canonical, phi__toml_date_put(text, canonical)));
    if (node != NULL)
        node->meta |= (uint32_t)(date.type - PHI_TOML_OFFSET_DATETIME + PHI__JSON_OFFSET_DATETIME)
                      << 4;
    return node;
}

/* ======== The four styles of strings, in slices.

   The text begins at `mark`. It is not copied before an escape or a line break of two bytes. */

static bool phi__toml_str_is_multi(const phi__toml_reader *r) {
    return r->style >= PHI__TOML_MULTI_BASIC;
}

static void phi__toml_str_begin(phi__toml_reader *r, bool is_key) {
    char quote = *r->at;
    bool multi = r->end - r->at > 2 && r->at[1] == quote && r->at[2] == quote;
    if (is_key && multi) {
        phi__toml_wrong(r, r->at, "a key cannot be a string of several lines");
        return;
    }
    r->style = quote == '"' ? PHI__TOML_BASIC : PHI__TOML_LITERAL;
    if (multi) r->style = quote == '"' ? PHI__TOML_MULTI_BASIC : PHI__TOML_MULTI_LITERAL;
    r->at += multi ? 3 : 1;
    if (multi && phi__toml_at_break(r, r->at)) phi__toml_newline(r);
    r->mark = r->at;
    r->is_key = is_key;
    r->state = PHI__TOML_STRING_TEXT;
}

/* Ends a string whose text ends at `at`, and whose closing quotes end at `behind`. */
static void phi__toml_str_done(phi__toml_reader *r, const char *at, const char *behind) {
    phi_str text = phi__toml_end(r, at);
    if (r->status != PHI_BUSY) return;
    r->at = behind;
    if (r->is_key) {
        r->key = text;
        r->state = PHI__TOML_KEY_AFTER;
        if (text.len > PHI__TOML_KEY_MOST) phi__toml_too_big(r, at, "a key of more than 16 MiB");
        return;
    }
    phi_json *node = phi__toml_scalar(r, PHI__JSON_STRING);
    if (node == NULL) return;
    node->v.str = text.at;
    node->len = (uint32_t)text.len;
}

/* Reads the quotes at r->at. They end the string or belong to its text. In a string of several
   lines, up to two quotes before the closing three belong to the text. */
static void phi__toml_str_quotes(phi__toml_reader *r) {
    const char *at = r->at;
    size_t n = 0, left = (size_t)(r->end - at);
    if (!phi__toml_str_is_multi(r)) {
        phi__toml_str_done(r, at, at + 1);
        return;
    }
    while (n < 5 && n < left && at[n] == *at) n++;
    if (n >= 3)
        phi__toml_str_done(r, at + n - 3, at + n);
    else
        r->at += n;
}

static void phi__toml_str_break(phi__toml_reader *r) {
    if (!phi__toml_str_is_multi(r)) {
        phi__toml_wrong(r, r->at,
                        r->is_key ? "a key must end on its line"
                                  : "a string must end on its line, unless it is in three quotes");
        return;
    }
    if (*r->at == '\r') {
        if (!phi__toml_add(r, r->mark, (size_t)(r->at - r->mark))) return;
        r->mark = r->at + 1;
    }
    phi__toml_newline(r);
}

/* ---- escapes ---- */

/* Reads \uXXXX or \UXXXXXXXX at r->at, with this many digits. UINT32_MAX: an error was recorded. */
static uint32_t phi__toml_str_code(phi__toml_reader *r, size_t digits) {
    uint32_t code = phi__json_text_hex(r->at + 2, r->end, digits);
    if (code == UINT32_MAX)
        phi__toml_wrong(r, r->at,
                        digits == 4 ? "\\u takes four hexadecimal digits"
                                    : "\\U takes eight hexadecimal digits, at most 0010FFFF");
    else if (code > 0x10ffff)
        phi__toml_wrong(r, r->at, "\\U takes eight hexadecimal digits, at most 0010FFFF");
    else if (code >= 0xd800 && code <= 0xdfff)
        phi__toml_wrong(r, r->at, "an escape of half of a surrogate pair");
    return r->status == PHI_BUSY ? code : UINT32_MAX;
}

static void phi__toml_str_escape(phi__toml_reader *r) {
    char c = r->end - r->at > 1 ? r->at[1] : '\0', bytes[4];
    size_t digits = c == 'u' ? 4 : c == 'U' ? 8 : 0;
    if (!phi__toml_add(r, r->mark, (size_t)(r->at - r->mark))) return;
    if (phi__toml_str_is_multi(r) && (c == ' ' || c == '\t' || phi__toml_at_break(r, r->at + 1))) {
        r->at++;
        r->joined = false;
        r->state = PHI__TOML_STRING_JOIN;
        return;
    }
    static const char letters[] = "btnfr\"\\", codes[] = "\b\t\n\f\r\"\\";
    const char *found = c == '\0' ? NULL : (const char *)memchr(letters, c, sizeof letters - 1);
    uint32_t code = digits > 0      ? phi__toml_str_code(r, digits)
                    : found != NULL ? (uint32_t)(unsigned char)codes[found - letters]
                                    : UINT32_MAX;
    if (r->status != PHI_BUSY) return;
    if (code == UINT32_MAX) {
        phi__toml_expected(r, r->at + 1, "one of \"\\bfnrtuU after the backslash");
        return;
    }
    if (!phi__toml_add(r, bytes, phi__utf8_put(bytes, code))) return;
    r->at += 2 + digits;
    r->mark = r->at;
}

static void phi__toml_str_join(phi__toml_reader *r, const char *stop) {
    if (!phi__toml_space(r, stop)) return;
    if (phi__toml_at_break(r, r->at)) {
        phi__toml_newline(r);
        r->joined = true;
    } else if (!r->joined)
        phi__toml_expected(r, r->at, "the end of the line after the backslash");
    else {
        r->mark = r->at;
        r->state = PHI__TOML_STRING_TEXT;
    }
}

/* ---- text ---- */

static void phi__toml_str_text(phi__toml_reader *r, const char *stop) {
    char quote = r->style == PHI__TOML_BASIC || r->style == PHI__TOML_MULTI_BASIC ? '"' : '\'';
    while (r->status == PHI_BUSY && r->state == PHI__TOML_STRING_TEXT && r->at < stop) {
        /* Skip the characters that need no check. */
        const char *at = r->at;
        char escape = quote == '"' ? '\\' : quote;
        while (at < stop && (unsigned char)*at - 0x20u < 0x5fu && *at != quote && *at != escape)
            at++;
        r->at = at;
        if (r->at == stop) break;
        if (*r->at == quote)
            phi__toml_str_quotes(r);
        else if (*r->at == '\\' && quote == '"')
            phi__toml_str_escape(r);
        else if (phi__toml_at_break(r, r->at))
            phi__toml_str_break(r);
        else
            r->at += phi__toml_char(r, r->at);
    }
    if (r->at >= r->end && r->state == PHI__TOML_STRING_TEXT)
        phi__toml_expected(r, r->at, "the closing quote of a string");
}

/* ---- keys ---- */

static void phi__toml_read_key(phi__toml_reader *r, const char *stop) {
    if (!phi__toml_space(r, stop)) return;
    r->places.key_at = r->at;
    r->places.key_line = r->line;
    r->places.key_column = phi__toml_column(r, r->at);
    if (r->at < r->end && (*r->at == '"' || *r->at == '\''))
        phi__toml_str_begin(r, true);
    else if (r->at < r->end && phi__toml_is_bare(*r->at)) {
        r->mark = r->at;
        r->state = PHI__TOML_BARE;
    } else if (r->at < r->end && *r->at == '{')
        phi__toml_wrong(r, r->at, "expected a key, found '{': this is read as TOML, not as JSON");
    else
        phi__toml_expected(r, r->at, "a key");
}

static void phi__toml_read_bare(phi__toml_reader *r, const char *stop) {
    const char *at = r->at;
    while (at < stop && phi__toml_is_bare(*at)) at++;
    r->at = at;
    if (at == stop && at < r->end) return;
    if ((size_t)(at - r->mark) > PHI__TOML_KEY_MOST) {
        phi__toml_too_big(r, r->mark, "a key of more than 16 MiB");
        return;
    }
    r->key = phi__toml_end(r, at);
    r->state = PHI__TOML_KEY_AFTER;
}

static void phi__toml_read_key_after(phi__toml_reader *r, const char *stop) {
    if (!phi__toml_space(r, stop)) return;
    char c = r->at < r->end ? *r->at : '\0';
    if (c == '.') {
        r->at++;
        r->state = PHI__TOML_KEY;
        phi__toml_descend(r);
    } else if (c == '=' && !r->in_header) {
        r->at++;
        if (phi__toml_name_find(r, r->table, r->key) != NULL)
            phi__toml_wrong_key(r, "the key \"",
                                "\" is in this table already: keep one of the two");
        r->state = PHI__TOML_VALUE;
    } else if (c == ']' && r->in_header) {
        if (r->tables_header && (r->end - r->at < 2 || r->at[1] != ']')) {
            phi__toml_expected(r, r->at + 1, "']' right behind the first one");
            return;
        }
        r->at += r->tables_header ? 2 : 1;
        phi__toml_section(r);
    } else if (c == ':' && !r->in_header)
        phi__toml_wrong(r, r->at,
                        "expected '.' or '=', found ':': TOML has '=' behind a key, not ':' as "
                        "YAML and JSON have");
    else
        phi__toml_expected(r, r->at, r->in_header ? "'.' or ']'" : "'.' or '='");
}

/* ---- values ---- */

static bool phi__toml_read_is_token(char c) {
    return phi__toml_is_bare(c) || c == '+' || c == '.' || c == ':';
}

static void phi__toml_read_date(phi__toml_reader *r, phi_str token) {
    char canonical[PHI__TOML_DATE_MOST];
    phi_toml_date date;
    if (!phi__toml_date_read(token, &date)) {
        phi__toml_wrong(r, r->at,
                        "no date or time that exists: they are written as 1979-05-27, 07:32:00, "
                        "1979-05-27T07:32:00 or 1979-05-27T07:32:00Z");
        return;
    }
    r->mark = r->at;
    if (!phi__toml_add(r, canonical, phi__toml_date_put(token, canonical))) return;
    phi_str text = phi__toml_end(r, r->at);
    if (r->status != PHI_BUSY) return;
    uint32_t form = (uint32_t)(date.type - PHI_TOML_OFFSET_DATETIME + PHI__JSON_OFFSET_DATETIME);
    r->at += token.len;
    phi_json *node = phi__toml_scalar(r, form << 4 | PHI__JSON_STRING);
    if (node == NULL) return;
    node->v.str = text.at;
    node->len = (uint32_t)text.len;
}

/* Reads a number. A copy without underscores takes room for text only while the number is read. */
static void phi__toml_read_number(phi__toml_reader *r, phi_str token) {
    phi__json_value value;
    const char *what;
    r->mark = r->at;
    if (!phi__toml_add(r, token.at, token.len)) return;
    value.u = 0;
    uint32_t kind = phi__toml_num_read(token, r->string, &value, &what);
    r->string = r->to = NULL;
    if (kind == 0) {
        phi__toml_wrong(r, r->at, what);
        return;
    }
    r->at += token.len;
    phi_json *node = phi__toml_scalar(r, kind);
    if (node != NULL) node->v = value;
}

static void phi__toml_read_value(phi__toml_reader *r) {
    char c = r->at < r->end ? *r->at : '\0';
    phi__toml_value(r);
    if (c == '"' || c == '\'') {
        phi__toml_str_begin(r, false);
        return;
    }
    if (c == '[' || c == '{') {
        phi__toml_open(r, c == '{');
        return;
    }
    /* Find the bare value at r->at, up to one byte more than allowed. A space may separate a date
       from its time. */
    size_t most = phi__min((size_t)(r->end - r->at), PHI__TOML_NUMBER_MOST + 1), n = 0;
    while (n < most && phi__toml_read_is_token(r->at[n])) n++;
    if (n == 10 && phi__toml_date_begins(phi__str(r->at, n)) && n + 1 < most && r->at[n] == ' ' &&
        r->at[n + 1] >= '0' && r->at[n + 1] <= '9') {
        n++;
        while (n < most && phi__toml_read_is_token(r->at[n])) n++;
    }
    phi_str token = phi__str(r->at, n);
    if (token.len == 0)
        phi__toml_expected(r, r->at, r->state == PHI__TOML_ITEM ? "a value or ']'" : "a value");
    else if (token.len > PHI__TOML_NUMBER_MOST)
        phi__toml_too_big(r, r->at, "a number of more than 64 KiB");
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

/* Skips white space, a line break, or the start of a comment. True if anything else is at r->at. */
static bool phi__toml_read_skip(phi__toml_reader *r, const char *stop) {
    if (!phi__toml_space(r, stop)) return false;
    if (r->at == r->end)
        return phi__toml_expected(r, r->at,
                                  r->state == PHI__TOML_ITEM ? "a value or ']'" : "',' or ']'");
    if (*r->at == '#')
        phi__toml_read_comment_begin(r);
    else if (phi__toml_at_break(r, r->at))
        phi__toml_newline(r);
    else
        return true;
    return false;
}

static void phi__toml_read_item(phi__toml_reader *r, const char *stop) {
    if (!phi__toml_read_skip(r, stop)) return;
    if (*r->at == ']')
        phi__toml_close(r);
    else if (r->state == PHI__TOML_ITEM)
        phi__toml_read_value(r);
    else if (*r->at == ',') {
        r->at++;
        r->state = PHI__TOML_ITEM;
    } else
        phi__toml_expected(r, r->at, "',' or ']'");
}

static void phi__toml_read_member(phi__toml_reader *r, const char *stop) {
    bool first = r->state == PHI__TOML_FIRST_MEMBER;
    if (!phi__toml_space(r, stop)) return;
    if (phi__toml_at_break(r, r->at))
        phi__toml_wrong(r, r->at, "a table in braces must be on one line");
    else if (r->at < r->end && *r->at == '}' && first)
        phi__toml_close(r);
    else if (r->at < r->end && *r->at == '}')
        phi__toml_wrong(r, r->at, "a comma before '}', which TOML 1.0 does not allow");
    else
        phi__toml_key(r);
}

static void phi__toml_read_member_after(phi__toml_reader *r, const char *stop) {
    if (!phi__toml_space(r, stop)) return;
    char c = r->at < r->end ? *r->at : '\0';
    if (phi__toml_at_break(r, r->at))
        phi__toml_wrong(r, r->at, "a table in braces must be on one line");
    else if (c == '}')
        phi__toml_close(r);
    else if (c == ',') {
        r->at++;
        r->state = PHI__TOML_MEMBER;
    } else
        phi__toml_expected(r, r->at, "',' or '}'");
}

/* ---- lines ---- */

static void phi__toml_read_line(phi__toml_reader *r, const char *stop) {
    if (!phi__toml_space(r, stop)) return;
    if (r->at == r->end)
        r->status = PHI_OK;
    else if (phi__toml_at_break(r, r->at))
        phi__toml_newline(r);
    else if (*r->at == '#')
        phi__toml_read_comment_begin(r);
    else if (*r->at == '[') {
        phi__toml_value(r);
        r->tables_header = r->end - r->at > 1 && r->at[1] == '[';
        r->at += r->tables_header ? 2 : 1;
        r->in_header = true;
        r->table = r->root;
        r->table_depth = 1;
        r->state = PHI__TOML_KEY;
    } else
        phi__toml_key(r);
}

static void phi__toml_read_rest(phi__toml_reader *r, const char *stop) {
    if (!phi__toml_space(r, stop)) return;
    if (r->at < r->end && *r->at == '#')
        phi__toml_read_comment_begin(r);
    else if (r->at == r->end || phi__toml_at_break(r, r->at))
        r->state = PHI__TOML_LINE;
    else if (*r->at == ',')
        phi__toml_wrong(r, r->at,
                        "expected the end of the line, found ',': no comma is behind a value, and "
                        "none in a number");
    else
        phi__toml_expected(r, r->at, "the end of the line");
}

/* Skips a comment up to the end of its line, which is left for the next state. */
static void phi__toml_read_comment(phi__toml_reader *r, const char *stop) {
    while (r->at < stop && r->status == PHI_BUSY) {
        while (r->at < stop && (unsigned char)*r->at - 0x20u < 0x5fu) r->at++;
        if (r->at == stop || phi__toml_at_break(r, r->at)) break;
        r->at += phi__toml_char(r, r->at);
    }
    if (r->at == r->end || phi__toml_at_break(r, r->at)) r->state = r->back;
}

static void phi__toml_read_state(phi__toml_reader *r, const char *stop) {
    switch (r->state) {
    case PHI__TOML_LINE: phi__toml_read_line(r, stop); break;
    case PHI__TOML_KEY: phi__toml_read_key(r, stop); break;
    case PHI__TOML_BARE: phi__toml_read_bare(r, stop); break;
    case PHI__TOML_KEY_AFTER: phi__toml_read_key_after(r, stop); break;
    case PHI__TOML_VALUE:
        if (phi__toml_space(r, stop)) phi__toml_read_value(r);
        break;
    case PHI__TOML_ITEM:
    case PHI__TOML_ITEM_AFTER: phi__toml_read_item(r, stop); break;
    case PHI__TOML_MEMBER:
    case PHI__TOML_FIRST_MEMBER: phi__toml_read_member(r, stop); break;
    case PHI__TOML_MEMBER_AFTER: phi__toml_read_member_after(r, stop); break;
    case PHI__TOML_STRING_TEXT: phi__toml_str_text(r, stop); break;
    case PHI__TOML_STRING_JOIN: phi__toml_str_join(r, stop); break;
    case PHI__TOML_REST: phi__toml_read_rest(r, stop); break;
    default: phi__toml_read_comment(r, stop); break;
    }
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
        phi__toml_too_big(r, r->at, "a text of 4 GiB or more");
    else if (text.len >= 3 && memcmp(text.at, "\xEF\xBB\xBF", 3) == 0)
        r->at = r->line_at = text.at + 3;
}

PHI__FN phi_status phi__toml_read_advance(phi__toml_reader *r, size_t units) {
    if (r->status != PHI_BUSY) return r->status;
    if (units == 0) units = 1;
    if (r->root == NULL) {
        r->root = r->section = r->table = phi__toml_node(r, PHI__JSON_OBJECT);
        if (r->root == NULL) return r->status;
        r->section_depth = r->table_depth = 1;
        r->places.value_line = r->places.value_column = 1;
        phi__toml_mark(r, r->root);
    }
    const char *stop = (size_t)(r->end - r->at) > units ? r->at + units : r->end;
    while (r->status == PHI_BUSY && (r->at < stop || stop == r->end)) phi__toml_read_state(r, stop);
    if (r->status != PHI_BUSY) phi__pool_end(&r->pool, r->arena);
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
    phi_status status;
    if (arena == NULL || out == NULL) return PHI_BAD_ARG;
    phi_arena_mark mark = phi_arena_save(arena);
    phi__toml_read_begin(&reader, arena, text, options);
    while ((status = phi__toml_read_advance(&reader, SIZE_MAX)) == PHI_BUSY) continue;
    (void)phi__toml_read_result(&reader, out, error);
    if (status != PHI_OK) phi_arena_reset(arena, mark);
    return status;
}
