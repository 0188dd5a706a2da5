/* yaml_in.h - the reader of YAML inside: who calls whom, and what they share.

   The reader walks the caller's text once and never changes it. A node is read before it is known
   to be a key or a value: it stays in `scalar` until the byte after it decides (phi__yaml_value
   or phi__yaml_key). Open collections are frames; a block collection closes when a line begins
   further left, a flow collection at its bracket.
   Every function leaves its verdict in the reader's status: PHI_BUSY, while there is more. */
#ifndef PHI_FORMATS_YAML_IN_H
#define PHI_FORMATS_YAML_IN_H

#include "formats/formats_in.h"
#include "formats/reader_in.h"
#include "formats/yaml.h"
#include "text/text_in.h"

enum phi__yaml_state {
    PHI__YAML_LINE,    /* before the text of a line of block content */
    PHI__YAML_GAP,     /* behind an indicator, before a node on its line */
    PHI__YAML_AFTER,   /* behind a node that may be a key */
    PHI__YAML_REST,    /* nothing but a comment may follow on the line */
    PHI__YAML_FLOW,    /* between the tokens of flow content */
    PHI__YAML_COMMENT, /* of block or flow content */
    PHI__YAML_PLAIN,
    PHI__YAML_PLAIN_BREAK,
    PHI__YAML_SINGLE,
    PHI__YAML_DOUBLE,
    PHI__YAML_QUOTED_BREAK,
    PHI__YAML_BLOCK_LINE, /* a block scalar: before the text of a line */
    PHI__YAML_BLOCK_TEXT,
    PHI__YAML_COPY /* an alias */
};

enum phi__yaml_doc {
    PHI__YAML_START,      /* no document yet */
    PHI__YAML_DIRECTIVES, /* which "---" must follow */
    PHI__YAML_OPEN,
    PHI__YAML_COMPLETE,
    PHI__YAML_ENDED /* by "..." */
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
    PHI__YAML_ALIAS      /* a copy under way */
};

/* What a frame waits for. */
enum phi__yaml_want {
    PHI__YAML_WANT_KEY,          /* block: a key at its column; flow: a key or an end */
    PHI__YAML_WANT_EXPLICIT_KEY, /* behind "?" */
    PHI__YAML_WANT_COLON,        /* behind a key: the value's indicator, or null it is */
    PHI__YAML_WANT_VALUE,        /* or an item */
    PHI__YAML_WANT_NEXT          /* behind a value or an item */
};

/* ---- yaml_tree.c: errors, bytes, lines, room ---- */

/* Errors, all of which return false. The first one counts. */
PHI__FN bool phi__yaml_expected(phi__yaml_reader *r, const char *at, const char *what);
PHI__FN bool phi__yaml_wrong(phi__yaml_reader *r, const char *at, const char *what);

PHI__FN bool phi__yaml_too_big(phi__yaml_reader *r, const char *what);

/* Bytes of the printable character at `at`, which is before the end. 0: it is none, and the error
   is set. Line breaks are none. */
PHI__FN size_t phi__yaml_char(phi__yaml_reader *r, const char *at, bool quoted);

/* Where the characters of the line end, at `stop` at the latest; NULL: one is wrong. */
PHI__FN const char *phi__yaml_line(phi__yaml_reader *r, const char *stop);

/* Skips white space within the line, keeping `indent` and `tab`. True: text, a break or the end. */
PHI__FN bool phi__yaml_space(phi__yaml_reader *r, const char *stop);

/* The line break at r->at. */
PHI__FN void phi__yaml_newline(phi__yaml_reader *r);

/* "---" or "..." at the start of a line. */
PHI__FN bool phi__yaml_marker(const phi__yaml_reader *r, const char *at);

/* Room for `more` bytes of the scalar's text and a terminator. */
PHI__FN bool phi__yaml_room(phi__yaml_reader *r, size_t more);
PHI__FN bool phi__yaml_add(phi__yaml_reader *r, const char *at, size_t len);

static inline bool phi__yaml_is_break(char c) { return c == '\n' || c == '\r'; }

static inline bool phi__yaml_is_space(char c) { return c == ' ' || c == '\t'; }

static inline bool phi__yaml_is_bracket(char c) {
    return c == ',' || c == '[' || c == ']' || c == '{' || c == '}';
}

/* White space, a line break or the end. */
static inline bool phi__yaml_is_blank(const phi__yaml_reader *r, const char *at) {
    return at >= r->end || phi__yaml_is_space(*at) || phi__yaml_is_break(*at);
}

/* Where an indicator ends: before a blank, and in flow content before a bracket. */
static inline bool phi__yaml_is_over(const phi__yaml_reader *r, const char *at) {
    return phi__yaml_is_blank(r, at) || (r->flow_depth > 0 && phi__yaml_is_bracket(*at));
}

/* True if `at` begins its line, or follows white space. */
static inline bool phi__yaml_is_apart(const phi__yaml_reader *r, const char *at) {
    return at == r->line_at || phi__yaml_is_space(at[-1]);
}

static inline uint32_t phi__yaml_column(const phi__yaml_reader *r, const char *at) {
    return (uint32_t)(at - r->line_at);
}

/* ---- yaml_tree.c: frames, values, keys, anchors, aliases ---- */
PHI__FN phi_json *phi__yaml_node(phi__yaml_reader *r, uint32_t kind);

/* The frame around all. False: no memory. */
PHI__FN bool phi__yaml_begin(phi__yaml_reader *r);

/* Opens a collection, which takes the properties that wait for it. */
PHI__FN void phi__yaml_open(phi__yaml_reader *r, uint8_t kind, int32_t indent, uint8_t want);

/* A pair in a flow sequence, without its own properties. */
PHI__FN void phi__yaml_open_pair(phi__yaml_reader *r, uint8_t want);

/* The collection on top is complete: it becomes the scalar's node. */
PHI__FN void phi__yaml_close(phi__yaml_reader *r);

/* A scalar without text begins and ends here. */
PHI__FN void phi__yaml_empty(phi__yaml_reader *r);

/* The node read is a value of the frame on top, or its explicit key. */
PHI__FN void phi__yaml_value(phi__yaml_reader *r);

/* The node read is the key of the frame on top. */
PHI__FN void phi__yaml_key(phi__yaml_reader *r);

/* Copies about `units` nodes. True: the alias is complete. */
PHI__FN bool phi__yaml_copy(phi__yaml_reader *r, size_t units);

/* ---- yaml_tree.c: anchors, tags, directives ---- */

/* An anchor or a tag at r->at. */
PHI__FN void phi__yaml_prop_read(phi__yaml_reader *r);

/* Those of this line belong to a node on a later one. */
PHI__FN void phi__yaml_prop_keep(phi__yaml_reader *r);

/* "*name" at r->at. */
PHI__FN void phi__yaml_prop_alias(phi__yaml_reader *r);

/* A directive at r->at; a comment, or nothing, is left of its line. */
PHI__FN void phi__yaml_prop_directive(phi__yaml_reader *r);

#endif
