/* yaml_in.h - what the files of the YAML reader share.

   The reader walks the caller's text once and never changes it. A node is read before it is known
   to be a key or a value. It stays in `scalar` until the byte after it decides; then
   phi__yaml_value() or phi__yaml_key() takes it. Open collections are frames. A block collection
   closes when a line begins further left, and a flow collection closes at its bracket. Every
   function leaves its result in the reader's status, which is PHI_BUSY while there is more to
   read. */
#ifndef PHI_FORMATS_YAML_IN_H
#define PHI_FORMATS_YAML_IN_H

#include "formats/formats_in.h"
#include "formats/reader_in.h"
#include "formats/yaml.h"
#include "text/text_in.h"

enum phi__yaml_state {
    PHI__YAML_LINE,    /* before the text of a line of block content */
    PHI__YAML_GAP,     /* after an indicator, before a node on the same line */
    PHI__YAML_AFTER,   /* after a node that may be a key */
    PHI__YAML_REST,    /* only a comment may follow on the line */
    PHI__YAML_FLOW,    /* between the tokens of flow content */
    PHI__YAML_COMMENT, /* in a comment */
    PHI__YAML_PLAIN,
    PHI__YAML_PLAIN_BREAK,
    PHI__YAML_SINGLE,
    PHI__YAML_DOUBLE,
    PHI__YAML_QUOTED_BREAK,
    PHI__YAML_BLOCK_LINE, /* in a block scalar, before the text of a line */
    PHI__YAML_BLOCK_TEXT,
    PHI__YAML_COPY /* copies the node of an alias */
};

enum phi__yaml_doc {
    PHI__YAML_START,      /* no document yet */
    PHI__YAML_DIRECTIVES, /* directives were read, and "---" must follow */
    PHI__YAML_OPEN,
    PHI__YAML_COMPLETE,
    PHI__YAML_ENDED /* ended by "..." */
};

enum phi__yaml_style {
    PHI__YAML_NO_NODE,
    PHI__YAML_STYLE_PLAIN,
    PHI__YAML_STYLE_SINGLE,
    PHI__YAML_STYLE_DOUBLE,
    PHI__YAML_STYLE_LITERAL,
    PHI__YAML_STYLE_FOLDED,
    PHI__YAML_STYLE_NODE /* a collection, or an alias */
};

enum phi__yaml_tag {
    PHI__YAML_TAG_NONE,
    PHI__YAML_TAG_TEXT, /* "!": a plain scalar is a string */
    PHI__YAML_TAG_STR,
    PHI__YAML_TAG_INT,
    PHI__YAML_TAG_FLOAT,
    PHI__YAML_TAG_BOOL,
    PHI__YAML_TAG_NULL,
    PHI__YAML_TAG_SEQ,
    PHI__YAML_TAG_MAP
};

enum phi__yaml_kind {
    PHI__YAML_DOC,
    PHI__YAML_SEQ,
    PHI__YAML_MAP,
    PHI__YAML_FLOW_SEQ,
    PHI__YAML_FLOW_MAP,
    PHI__YAML_FLOW_PAIR, /* a mapping of one key without braces, in a flow sequence */
    PHI__YAML_ALIAS      /* the copy of an alias */
};

/* What a frame waits for. */
enum phi__yaml_want {
    PHI__YAML_WANT_KEY,          /* block: a key at its column; flow: a key or an end */
    PHI__YAML_WANT_EXPLICIT_KEY, /* the key after "?" */
    PHI__YAML_WANT_COLON,        /* a ":" after a key; without ":" the value is null */
    PHI__YAML_WANT_VALUE,        /* a value or an item */
    PHI__YAML_WANT_NEXT          /* what follows a value or an item */
};

typedef struct phi__yaml_frame {
    struct phi__yaml_frame *up;
    phi_json *node;
    const phi_json *source;        /* PHI__YAML_ALIAS: the next child to copy */
    phi_str key;                   /* key of the next value */
    uint32_t left;                 /* PHI__YAML_ALIAS: number of children left to copy */
    uint32_t line;                 /* line where the collection begins */
    uint32_t keys;                 /* number of names in the mappings around the collection */
    uint32_t key_line, key_column; /* place of the key; column: from 0 */
    int32_t indent;                /* column; for a flow collection, the column of its block */
    uint8_t kind, want;
} phi__yaml_frame;

/* ---- yaml_tree.c: errors, bytes, room ---- */

/* These functions record an error, unless there is one already. They return false. */
PHI__FN bool phi__yaml_expected(phi__yaml_reader *r, const char *at, const char *what);
PHI__FN bool phi__yaml_wrong(phi__yaml_reader *r, const char *at, const char *what);

PHI__FN bool phi__yaml_too_big(phi__yaml_reader *r, const char *what);

/* Returns the length in bytes of the printable character at `at`, which is before the end. 0: the
   character is not printable, and an error was recorded. Line breaks are not printable. */
PHI__FN size_t phi__yaml_char(phi__yaml_reader *r, const char *at, bool quoted);

/* Makes room for `more` bytes of the scalar's text and a terminator. */
PHI__FN bool phi__yaml_room(phi__yaml_reader *r, size_t more);
PHI__FN bool phi__yaml_add(phi__yaml_reader *r, const char *at, size_t len);

static inline bool phi__yaml_is_break(char c) { return c == '\n' || c == '\r'; }

static inline bool phi__yaml_is_space(char c) { return c == ' ' || c == '\t'; }

static inline bool phi__yaml_is_bracket(char c) {
    return c == ',' || c == '[' || c == ']' || c == '{' || c == '}';
}

/* True at white space, a line break, or the end of the text. */
static inline bool phi__yaml_is_blank(const phi__yaml_reader *r, const char *at) {
    return at >= r->end || phi__yaml_is_space(*at) || phi__yaml_is_break(*at);
}

/* True if an indicator may end at `at`: before a blank or, in flow content, before a bracket. */
static inline bool phi__yaml_is_over(const phi__yaml_reader *r, const char *at) {
    return phi__yaml_is_blank(r, at) || (r->flow_depth > 0 && phi__yaml_is_bracket(*at));
}

static inline uint32_t phi__yaml_column(const phi__yaml_reader *r, const char *at) {
    return (uint32_t)(at - r->line_at);
}

/* ---- yaml_tree.c: frames, values, keys, anchors, aliases ---- */
PHI__FN phi_json *phi__yaml_node(phi__yaml_reader *r, uint32_t kind);

/* Opens the outermost frame. False if there is no memory. */
PHI__FN bool phi__yaml_begin(phi__yaml_reader *r);

/* Opens a collection, which takes the properties read before it. */
PHI__FN void phi__yaml_open(phi__yaml_reader *r, uint8_t kind, int32_t indent, uint8_t want);

/* Opens a pair in a flow sequence. A pair has no properties. */
PHI__FN void phi__yaml_open_pair(phi__yaml_reader *r, uint8_t want);

/* Closes the collection on top, which becomes the scalar's node. */
PHI__FN void phi__yaml_close(phi__yaml_reader *r);

/* Takes the node just read as a value of the frame on top, or as its explicit key. */
PHI__FN void phi__yaml_value(phi__yaml_reader *r);

/* Takes the node just read as the key of the frame on top. */
PHI__FN void phi__yaml_key(phi__yaml_reader *r);

/* Copies about `units` nodes. True if the alias is complete. */
PHI__FN bool phi__yaml_copy(phi__yaml_reader *r, size_t units);

/* ---- yaml_tree.c: anchors, tags, directives ---- */

/* Reads an anchor or a tag at r->at. */
PHI__FN void phi__yaml_prop_read(phi__yaml_reader *r);

/* Keeps this line's properties for a node on a later line. */
PHI__FN void phi__yaml_prop_keep(phi__yaml_reader *r);

/* Reads "*name" at r->at. */
PHI__FN void phi__yaml_prop_alias(phi__yaml_reader *r);

/* Reads a directive at r->at. Only a comment may be left on its line. */
PHI__FN void phi__yaml_prop_directive(phi__yaml_reader *r);

#endif
