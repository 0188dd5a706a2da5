/* toml_in.h - the reader of TOML inside: who calls whom, and what they share.

   The reader walks the caller's text once and never changes it. Headers and dotted keys walk down
   from the root or from the section's table, part by part; a table of names says for each member
   how it came to be, which decides what may still be added to it. Values join their table or array
   as soon as they begin, so a container that is open needs no more than a frame.
   Files, each using those before it alone: text, names, date, number, tree, string, read, write,
   change, array, edit, set. Every function of the reader leaves its verdict in the status:
   PHI_BUSY, while there is more to read. */
#ifndef PHI_FORMATS_TOML_IN_H
#define PHI_FORMATS_TOML_IN_H

#include "formats/formats_in.h"
#include "formats/reader_in.h"
#include "formats/toml.h"
#include "text/text_in.h"

enum {
    PHI__TOML_SECTIONS = 0x1fffffff, /* headers at most; what a name can hold */
    PHI__TOML_KEY_MOST = 0xffffff,   /* bytes; what a node's meta can hold */
    PHI__TOML_NUMBER_MOST = 65536,   /* bytes; keeps the work of one step bounded */
    PHI__TOML_DATE_MOST = 36         /* bytes of a canonical date, terminated */
};

enum phi__toml_state {
    PHI__TOML_LINE,         /* before a header, a key, a comment or the end of a line */
    PHI__TOML_KEY,          /* before a part of a key */
    PHI__TOML_BARE,         /* in a bare part */
    PHI__TOML_KEY_AFTER,    /* behind a part */
    PHI__TOML_VALUE,        /* before a value of a key */
    PHI__TOML_ITEM,         /* before an item of an array, or its end */
    PHI__TOML_ITEM_AFTER,   /* behind an item */
    PHI__TOML_MEMBER,       /* before a key in braces */
    PHI__TOML_FIRST_MEMBER, /* or the closing brace */
    PHI__TOML_MEMBER_AFTER, /* behind a member */
    PHI__TOML_STRING_TEXT,
    PHI__TOML_STRING_JOIN, /* behind a backslash at the end of a line: white space is skipped */
    PHI__TOML_REST,        /* nothing but a comment may follow on the line */
    PHI__TOML_COMMENT,     /* back to LINE, ITEM or ITEM_AFTER behind it */
    PHI__TOML_DONE
};

enum phi__toml_style {
    PHI__TOML_BASIC = 1,
    PHI__TOML_LITERAL,
    PHI__TOML_MULTI_BASIC,
    PHI__TOML_MULTI_LITERAL
};

/* How a member came to be. */
enum phi__toml_how {
    PHI__TOML_FIXED,    /* a value; its inside is complete once it ends */
    PHI__TOML_IMPLICIT, /* a table on the way of a header */
    PHI__TOML_EXPLICIT, /* a table with a header of its own */
    PHI__TOML_DOTTED,   /* a table on the way of a dotted key */
    PHI__TOML_LIST      /* an array of headers in double brackets */
};

/* ---- toml_read.c: errors, characters, lines, room ---- */
PHI__FN void phi__toml_text_expected(phi__toml_reader *r, const char *at, const char *what);
PHI__FN void phi__toml_text_wrong(phi__toml_reader *r, const char *at, const char *what);

/* At the part of a key that was read last, which stands between the two in the message. */
PHI__FN void phi__toml_text_wrong_key(phi__toml_reader *r, const char *before, const char *behind);
PHI__FN void phi__toml_text_too_big(phi__toml_reader *r, const char *at, const char *what);
PHI__FN void phi__toml_text_no_memory(phi__toml_reader *r);

/* Bytes of the character at `at`, which is before the end. 0: it is none that comments and strings
   may have, and the error is set. Line breaks are none. */
PHI__FN size_t phi__toml_text_char(phi__toml_reader *r, const char *at);

/* Skips spaces and tabs. True: something else, or the end of the text. */
PHI__FN bool phi__toml_text_space(phi__toml_reader *r, const char *stop);

/* Whether a line break is at `at`. */
PHI__FN bool phi__toml_text_at_break(const phi__toml_reader *r, const char *at);

/* Past the line break at r->at. */
PHI__FN void phi__toml_text_newline(phi__toml_reader *r);

/* Adds to the copy under way. */
PHI__FN bool phi__toml_text_add(phi__toml_reader *r, const char *at, size_t len);

/* Ends the copy of all up to `at`: terminated. */
PHI__FN phi_str phi__toml_text_end(phi__toml_reader *r, const char *at);

/* The text ended last is not needed. */
PHI__FN void phi__toml_text_drop(phi__toml_reader *r, phi_str text);

static inline bool phi__toml_is_bare(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
}

static inline uint32_t phi__toml_column(const phi__toml_reader *r, const char *at) {
    return (uint32_t)(at - r->line_at) + 1;
}

/* ---- toml_read.c ---- */

/* The member of that table, or NULL. */
PHI__FN phi__toml_name *phi__toml_names_find(const phi__toml_reader *r, const phi_json *table,
                                             phi_str key);

/* A member that is not in there; its key is in the node. False: no memory. */
PHI__FN bool phi__toml_names_add(phi__toml_reader *r, const phi_json *table, phi_json *node,
                                 uint8_t how);

/* ---- toml_read.c ---- */

/* Whether a text begins like a date or a time. */
PHI__FN bool phi__toml_date_begins(phi_str text);

/* Reads all of a text; false: it is no date, or one that does not exist. */
PHI__FN bool phi__toml_date_read(phi_str text, phi_toml_date *out);

/* Its canonical text, terminated; returns the length. */
PHI__FN size_t phi__toml_date_put(phi_str text, char out[PHI__TOML_DATE_MOST]);

/* ---- toml_read.c ---- */

/* What a bare value is: a kind of json_in.h with *value, or 0 and *what, why it is none. `room` has
   room for as many bytes as the text and a terminator. */
PHI__FN uint32_t phi__toml_number_read(phi_str text, char *room, phi__json_value *value,
                                       const char **what);

/* ---- toml_read.c: tables, keys, values ---- */

/* The root; false: no memory. */
PHI__FN bool phi__toml_tree_begin(phi__toml_reader *r);

/* "[" or "[[" was read: parts of the key follow. */
PHI__FN void phi__toml_tree_header(phi__toml_reader *r);

/* A key of the section, or of the inline table on top, begins. */
PHI__FN void phi__toml_tree_key(phi__toml_reader *r);

/* A dot is behind the part that was read. */
PHI__FN void phi__toml_tree_descend(phi__toml_reader *r);

/* The part that was read was the header's last. */
PHI__FN void phi__toml_tree_section(phi__toml_reader *r);

/* The part that was read was the key's last: its value may come. */
PHI__FN void phi__toml_tree_assign(phi__toml_reader *r);

/* A value begins here: remembers the place. */
PHI__FN void phi__toml_tree_value(phi__toml_reader *r);

/* A scalar of that kind and form that ends at `at`: joins its table or array. NULL: an error was
   set. */
PHI__FN phi_json *phi__toml_tree_scalar(phi__toml_reader *r, uint32_t meta, const char *at);

/* "[" or "{" of a value. */
PHI__FN void phi__toml_tree_open(phi__toml_reader *r, bool table);

/* Its closing bracket at r->at. */
PHI__FN void phi__toml_tree_close(phi__toml_reader *r);

/* The state behind a value. */
PHI__FN uint8_t phi__toml_tree_after(const phi__toml_reader *r);

/* ---- toml_read.c ---- */

/* A quote at r->at, of a value or of a key. */
PHI__FN void phi__toml_string_begin(phi__toml_reader *r, bool is_key);
PHI__FN void phi__toml_string_text(phi__toml_reader *r, const char *stop);
PHI__FN void phi__toml_string_join(phi__toml_reader *r, const char *stop);

/* ---- toml_write.c ---- */

typedef struct phi__toml_writer {
    phi__buf *out;
    phi__buf path; /* of the table being written, as headers have it */
    uint32_t flags;
    bool apart; /* an empty line before the first header, too */
    phi_status status;
} phi__toml_writer;

PHI__FN void phi__toml_write_init(phi__toml_writer *w, phi__buf *out, uint32_t flags);
PHI__FN void phi__toml_write_free(phi__toml_writer *w);

/* PHI_OK, what a value was refused for, or PHI_NO_MEMORY. */
PHI__FN phi_status phi__toml_write_status(const phi__toml_writer *w);

/* Whether flags leave the member out. */
PHI__FN bool phi__toml_write_skips(const phi__toml_writer *w, const phi_json *node);

/* Whether a member is written under a header, or under several. */
PHI__FN bool phi__toml_write_has_header(const phi_json *node);

/* In quotes where it must be. */
PHI__FN void phi__toml_write_key(phi__buf *out, phi_str key);

/* The path one key longer; returns its length before, for pop. */
PHI__FN size_t phi__toml_write_push(phi__toml_writer *w, phi_str key);
PHI__FN void phi__toml_write_pop(phi__toml_writer *w, size_t len);

/* A value behind "key = "; `lines`: it may take several. */
PHI__FN void phi__toml_write_value(phi__toml_writer *w, const phi_json *node, uint32_t depth,
                                   bool lines);

/* A header line with the path. */
PHI__FN void phi__toml_write_header(phi__toml_writer *w, bool list);

/* A table of an array of tables, with its header; the path is that of the array. */
PHI__FN void phi__toml_write_item(phi__toml_writer *w, const phi_json *node, uint32_t depth);

/* A member with its header or headers, the path being that of the table around it. */
PHI__FN void phi__toml_write_member(phi__toml_writer *w, const phi_json *node, uint32_t depth);

/* ---- toml_edit.c: places in a text, and pieces of it that are replaced ---- */

/* A piece of the text, and the new bytes for it in `texts`. */
typedef struct phi__toml_piece {
    size_t from, to, at, len;
    size_t order; /* of pieces at one place */
} phi__toml_piece;

typedef struct phi__toml_change {
    phi_str text;
    phi__buf texts;
    phi__toml_piece *pieces;
    size_t count, cap;
    bool crlf, failed;
} phi__toml_change;

PHI__FN void phi__toml_change_init(phi__toml_change *c, phi_memory *memory, phi_str text);
PHI__FN void phi__toml_change_free(phi__toml_change *c);

/* The bytes [from, to) become the bytes of `texts` from `at` on. Where one place gets several
   new texts, they come in the order of these calls. */
PHI__FN void phi__toml_change_add(phi__toml_change *c, size_t from, size_t to, size_t at);

/* The bytes of `texts` from `at` on come before the byte `to`, behind all other new texts. */
PHI__FN void phi__toml_change_before(phi__toml_change *c, size_t to, size_t at);

/* The whole lines from that of `from` to that of `to`; `blank`: empty lines before them, too. */
PHI__FN void phi__toml_change_drop(phi__toml_change *c, size_t from, size_t to, bool blank);

/* Where the line of an offset begins, and where the next one does. */
PHI__FN size_t phi__toml_change_line(const phi__toml_change *c, size_t at);
PHI__FN size_t phi__toml_change_next(const phi__toml_change *c, size_t at);

/* Begins a text for `at`, behind a line that may have no line break. */
PHI__FN void phi__toml_change_fresh(phi__toml_change *c, size_t at);

/* The white space that the line of an offset begins with. */
PHI__FN phi_str phi__toml_change_indent(const phi__toml_change *c, size_t at);

/* The line of an offset, or that of the first of the comments right above it; they begin behind
   `floor`. */
PHI__FN size_t phi__toml_change_above(const phi__toml_change *c, size_t at, size_t floor);

/* The changed text. False: no memory. */
PHI__FN bool phi__toml_change_apply(phi__toml_change *c, phi__buf *out);

/* ---- toml_edit.c: items of an array in brackets ---- */

/* New items behind one at [last_from, last_to); written by `w` into c->texts. */
PHI__FN void phi__toml_array_append(phi__toml_change *c, phi__toml_writer *w, size_t last_from,
                                    size_t last_to, const phi_json *first, size_t count,
                                    uint32_t depth);

/* The same before the first item, which begins at `at`; `open`: the array's bracket. */
PHI__FN void phi__toml_array_prepend(phi__toml_change *c, phi__toml_writer *w, size_t open,
                                     size_t at, const phi_json *first, size_t count,
                                     uint32_t depth);

/* The `count` items behind `before` go, each with its comma, and with its lines and the comments
   on them where they hold nothing else. `first`: they are the first ones, and `before` the last. */
PHI__FN void phi__toml_array_drop(phi__toml_change *c, const phi__marks *marks,
                                  const phi_json *before, size_t count, bool first);

#endif
