/* yaml_flow.c - flow collections, token by token. */
#include "formats/yaml_in.h"

PHI__FN void phi__yaml_flow_open(phi__yaml_reader *r) {
    bool map = *r->at == '{';
    int32_t indent = r->top->indent;
    phi__yaml_tree_open(r, map ? PHI__YAML_FLOW_MAP : PHI__YAML_FLOW_SEQ, indent,
                        map ? PHI__YAML_WANT_KEY : PHI__YAML_WANT_VALUE);
    r->at++;
    r->state = PHI__YAML_FLOW;
    r->fresh = false;
}

static void phi__yaml_flow_close(phi__yaml_reader *r) {
    r->at++;
    phi__yaml_tree_close(r);
    r->state = r->flow_depth > 0 ? PHI__YAML_FLOW : PHI__YAML_AFTER;
}

/* What a frame wants once the node that begins now was read. */
static void phi__yaml_flow_expect(phi__yaml_reader *r) {
    phi__yaml_frame *frame = r->top;
    if (frame->want == PHI__YAML_WANT_KEY || frame->want == PHI__YAML_WANT_EXPLICIT_KEY)
        frame->want = PHI__YAML_WANT_COLON;
    else
        frame->want = PHI__YAML_WANT_NEXT;
}

/* A node, or properties of one, begins here. */
static void phi__yaml_flow_node(phi__yaml_reader *r) {
    switch (*r->at) {
    case '&':
    case '!': phi__yaml_props_read(r); return;
    case '*':
        phi__yaml_scalar_begin(r, PHI__YAML_STYLE_NODE);
        phi__yaml_flow_expect(r);
        phi__yaml_props_alias(r);
        if (r->top->kind == PHI__YAML_ALIAS) r->state = PHI__YAML_COPY;
        return;
    case '[':
    case '{':
        phi__yaml_flow_expect(r);
        phi__yaml_flow_open(r);
        return;
    case '"':
    case '\'':
        phi__yaml_flow_expect(r);
        phi__yaml_scalar_quoted_begin(r);
        return;
    case '|':
    case '>': phi__yaml_text_wrong(r, r->at, "a block scalar inside of brackets"); return;
    case '-':
        if (phi__yaml_is_over(r, r->at + 1)) {
            phi__yaml_text_wrong(r, r->at, "an item of a block sequence inside of brackets");
            return;
        }
        break;
    default: break;
    }
    phi__yaml_flow_expect(r);
    phi__yaml_scalar_plain_begin(r);
}

/* ---- the tokens ---- */

/* A colon that ends a key: behind quotes and brackets a blank need not follow. */
static bool phi__yaml_flow_is_colon(const phi__yaml_reader *r) {
    const phi__yaml_scalar *s = &r->scalar;
    if (*r->at != ':') return false;
    if (phi__yaml_is_over(r, r->at + 1)) return true;
    return s->style == PHI__YAML_STYLE_SINGLE || s->style == PHI__YAML_STYLE_DOUBLE ||
           (s->style == PHI__YAML_STYLE_NODE && !s->is_alias);
}

/* "?" or ":" where an item may begin: a pair without braces. */
static void phi__yaml_flow_pair(phi__yaml_reader *r) {
    bool explicit_key = *r->at == '?';
    if (!explicit_key) phi__yaml_tree_empty(r);
    r->top->want = PHI__YAML_WANT_NEXT;
    phi__yaml_tree_open_pair(r, PHI__YAML_WANT_EXPLICIT_KEY);
    if (!explicit_key) phi__yaml_tree_key(r);
    r->at++;
}

/* Behind an item of a sequence. */
static void phi__yaml_flow_after_item(phi__yaml_reader *r) {
    if (*r->at == ',' || *r->at == ']') {
        phi__yaml_tree_value(r);
        if (*r->at == ']') {
            phi__yaml_flow_close(r);
            return;
        }
        r->top->want = PHI__YAML_WANT_VALUE;
        r->at++;
        return;
    }
    if (!phi__yaml_flow_is_colon(r)) {
        phi__yaml_text_expected(r, r->at, "',' or ']'");
        return;
    }
    if (r->scalar.line != r->line) {
        phi__yaml_text_wrong(r, r->at, "a key inside of '[' and ']' must be on one line");
        return;
    }
    phi__yaml_tree_open_pair(r, PHI__YAML_WANT_KEY);
    phi__yaml_tree_key(r);
    r->at++;
}

static void phi__yaml_flow_seq(phi__yaml_reader *r) {
    if (r->top->want == PHI__YAML_WANT_NEXT) {
        phi__yaml_flow_after_item(r);
        return;
    }
    if ((*r->at == ']' || *r->at == ',') && r->inner.at != NULL) { /* a tag alone is an item */
        phi__yaml_tree_empty(r);
        phi__yaml_flow_expect(r);
    } else if (*r->at == ']')
        phi__yaml_flow_close(r);
    else if (*r->at == ',')
        phi__yaml_text_expected(r, r->at, "an item");
    else if ((*r->at == ':' || (*r->at == '?' && r->inner.at == NULL)) &&
             phi__yaml_is_over(r, r->at + 1))
        phi__yaml_flow_pair(r);
    else
        phi__yaml_flow_node(r);
}

/* The end of a mapping, or of a pair at the sequence's comma or bracket. */
static void phi__yaml_flow_end(phi__yaml_reader *r) {
    if (r->top->kind == PHI__YAML_FLOW_MAP) {
        phi__yaml_flow_close(r);
        return;
    }
    phi__yaml_tree_close(r);
}

/* Behind a value, or a key without one: a comma or the end, which was seen. */
static void phi__yaml_flow_next_key(phi__yaml_reader *r) {
    bool pair = r->top->kind == PHI__YAML_FLOW_PAIR;
    if (*r->at == ',' && !pair) {
        r->top->want = PHI__YAML_WANT_KEY;
        r->at++;
    } else
        phi__yaml_flow_end(r);
}

/* At ",", "}" or, of a pair, "]": the part that is under way ends. */
static void phi__yaml_flow_stop(phi__yaml_reader *r) {
    phi__yaml_frame *frame = r->top;
    bool pending = r->inner.at != NULL;
    if (frame->want == PHI__YAML_WANT_KEY && !pending) {
        if (*r->at == ',')
            phi__yaml_text_expected(r, r->at, "a key");
        else
            phi__yaml_flow_end(r);
        return;
    }
    if (frame->want == PHI__YAML_WANT_KEY || frame->want == PHI__YAML_WANT_EXPLICIT_KEY) {
        phi__yaml_tree_empty(r);
        frame->want = PHI__YAML_WANT_COLON;
    }
    if (frame->want == PHI__YAML_WANT_COLON) phi__yaml_tree_key(r);
    if (frame->want == PHI__YAML_WANT_VALUE) phi__yaml_tree_empty(r);
    phi__yaml_tree_value(r);
    if (r->status == PHI_BUSY) phi__yaml_flow_next_key(r);
}

/* In a mapping, or a pair. */
static void phi__yaml_flow_map(phi__yaml_reader *r) {
    phi__yaml_frame *frame = r->top;
    bool pair = frame->kind == PHI__YAML_FLOW_PAIR;
    if (*r->at == ',' || *r->at == (pair ? ']' : '}')) {
        phi__yaml_flow_stop(r);
        return;
    }
    if (frame->want == PHI__YAML_WANT_COLON || frame->want == PHI__YAML_WANT_NEXT) {
        if (frame->want == PHI__YAML_WANT_COLON && phi__yaml_flow_is_colon(r)) {
            phi__yaml_tree_key(r);
            r->at++;
        } else if (pair)
            phi__yaml_text_expected(r, r->at, "',' or ']'");
        else
            phi__yaml_text_expected(
                r, r->at, frame->want == PHI__YAML_WANT_NEXT ? "',' or '}'" : "':', ',' or '}'");
        return;
    }
    if (frame->want != PHI__YAML_WANT_VALUE && *r->at == ':' && phi__yaml_is_over(r, r->at + 1)) {
        phi__yaml_tree_empty(r);
        phi__yaml_tree_key(r);
        r->at++;
    } else if (frame->want == PHI__YAML_WANT_KEY && *r->at == '?' &&
               phi__yaml_is_over(r, r->at + 1) && r->inner.at == NULL) {
        frame->want = PHI__YAML_WANT_EXPLICIT_KEY;
        r->at++;
    } else
        phi__yaml_flow_node(r);
}

/* The first text of a line. */
static void phi__yaml_flow_line(phi__yaml_reader *r) {
    r->fresh = false;
    if (phi__yaml_column(r, r->at) == 0 && phi__yaml_text_marker(r, r->at))
        phi__yaml_text_wrong(r, r->at, "a line that ends the document, inside of brackets");
    else if (r->indent < r->need)
        phi__yaml_text_wrong(
            r, r->at, "a line inside of brackets must be indented more than the block around them");
}

PHI__FN void phi__yaml_flow(phi__yaml_reader *r, const char *stop) {
    if (!phi__yaml_text_space(r, stop)) return;
    if (r->at == r->end) {
        phi__yaml_text_expected(r, r->at, r->top->kind == PHI__YAML_FLOW_MAP ? "'}'" : "']'");
        return;
    }
    if (phi__yaml_is_break(*r->at)) {
        phi__yaml_text_newline(r);
        return;
    }
    if (*r->at == '#' && phi__yaml_is_apart(r, r->at)) {
        r->state = PHI__YAML_COMMENT;
        return;
    }
    if (*r->at == '#') {
        phi__yaml_text_expected(r, r->at, "white space before a comment");
        return;
    }
    if (r->fresh) phi__yaml_flow_line(r);
    if (r->status != PHI_BUSY) return;
    if (r->top->kind == PHI__YAML_FLOW_SEQ)
        phi__yaml_flow_seq(r);
    else
        phi__yaml_flow_map(r);
}
