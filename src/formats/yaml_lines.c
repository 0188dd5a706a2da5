/* yaml_lines.c - block content: what a line begins, continues and closes. */
#include "formats/yaml_in.h"

/* ---- closing ---- */

/* What the frame on top still waits for is null, or empty text where a tag says so. */
static void phi__yaml_lines_fill(phi__yaml_reader *r) {
    phi__yaml_frame *frame = r->top;
    if (frame->want == PHI__YAML_WANT_EXPLICIT_KEY) {
        phi__yaml_tree_empty(r);
        phi__yaml_tree_value(r);
    }
    if (frame->want == PHI__YAML_WANT_COLON) frame->want = PHI__YAML_WANT_VALUE;
    if (frame->want == PHI__YAML_WANT_VALUE) {
        phi__yaml_tree_empty(r);
        phi__yaml_tree_value(r);
    }
}

static void phi__yaml_lines_close(phi__yaml_reader *r) {
    phi__yaml_lines_fill(r);
    if (r->status != PHI_BUSY) return;
    phi__yaml_tree_close(r);
    phi__yaml_tree_value(r);
}

/* The document ends: everything closes. */
static void phi__yaml_lines_close_all(phi__yaml_reader *r) {
    while (r->status == PHI_BUSY && r->top->kind != PHI__YAML_DOC) phi__yaml_lines_close(r);
    if (r->status == PHI_BUSY && r->doc == PHI__YAML_OPEN) phi__yaml_lines_fill(r);
}

static void phi__yaml_lines_finish(phi__yaml_reader *r) {
    if (r->doc == PHI__YAML_DIRECTIVES)
        phi__yaml_text_expected(r, r->at, "'---' after the directives");
    phi__yaml_lines_close_all(r);
    if (r->status != PHI_BUSY) return;
    if (r->root == NULL) r->root = phi__yaml_tree_node(r, PHI__JSON_NULL);
    if (r->root != NULL) r->status = PHI_OK;
}

/* ---- documents ---- */

static void phi__yaml_lines_second(phi__yaml_reader *r) {
    phi__yaml_text_wrong(r, r->at, "a second document: only one is read");
}

static void phi__yaml_lines_marker(phi__yaml_reader *r) {
    bool start = *r->at == '-';
    if (r->doc >= PHI__YAML_OPEN) phi__yaml_lines_close_all(r);
    if (r->status != PHI_BUSY) return;
    if (start && r->doc >= PHI__YAML_OPEN) {
        phi__yaml_lines_second(r);
        return;
    }
    if (!start && r->doc == PHI__YAML_DIRECTIVES) {
        phi__yaml_text_expected(r, r->at, "'---' after the directives");
        return;
    }
    r->at += 3;
    r->tab = false;
    if (start) {
        r->doc = PHI__YAML_OPEN;
        r->may_block = false;
        r->need = 0;
        r->state = PHI__YAML_GAP;
    } else {
        if (r->doc != PHI__YAML_START) r->doc = PHI__YAML_ENDED;
        r->state = PHI__YAML_REST;
    }
}

/* The line's text belongs to no collection. True: it may begin the document's node. */
static bool phi__yaml_lines_outside(phi__yaml_reader *r) {
    switch (r->doc) {
    case PHI__YAML_START:
        if (*r->at == '%' && phi__yaml_column(r, r->at) == 0) break;
        r->doc = PHI__YAML_OPEN;
        return true;
    case PHI__YAML_DIRECTIVES:
        if (*r->at == '%' && phi__yaml_column(r, r->at) == 0) break;
        phi__yaml_text_expected(r, r->at, "'---' after the directives");
        return false;
    case PHI__YAML_OPEN: return true;
    case PHI__YAML_COMPLETE:
        phi__yaml_text_expected(r, r->at, "the end of the document");
        return false;
    default: phi__yaml_lines_second(r); return false;
    }
    r->doc = PHI__YAML_DIRECTIVES;
    r->state = PHI__YAML_REST;
    phi__yaml_props_directive(r);
    return false;
}

/* ---- collections ---- */

static void phi__yaml_lines_tab(phi__yaml_reader *r) {
    phi__yaml_text_wrong(r, r->at, "a tab before this: block collections are indented by spaces");
}

/* Behind "-", "?" or ":": a block collection may follow on the same line. */
static void phi__yaml_lines_indicator(phi__yaml_reader *r) {
    r->at++;
    r->tab = false;
    r->may_block = true;
    r->need = r->top->indent + 1;
    r->state = PHI__YAML_GAP;
}

/* A block collection begins here. */
static void phi__yaml_lines_open(phi__yaml_reader *r, uint8_t kind, const char *at, uint8_t want) {
    if (r->tab)
        phi__yaml_lines_tab(r);
    else if (r->top->want == PHI__YAML_WANT_EXPLICIT_KEY)
        phi__yaml_text_wrong(r, r->at, "a key that is a collection is not supported");
    else
        phi__yaml_tree_open(r, kind, (int32_t)phi__yaml_column(r, at), want);
}

static void phi__yaml_lines_item(phi__yaml_reader *r) {
    phi__yaml_lines_open(r, PHI__YAML_SEQ, r->at, PHI__YAML_WANT_VALUE);
    phi__yaml_lines_indicator(r);
}

/* A line at the column of the mapping on top. */
static void phi__yaml_lines_member(phi__yaml_reader *r) {
    phi__yaml_frame *frame = r->top;
    char c = *r->at;
    bool indicator = phi__yaml_is_blank(r, r->at + 1);
    if (r->tab) {
        phi__yaml_lines_tab(r);
    } else if (c == '-' && indicator && frame->want != PHI__YAML_WANT_KEY &&
               frame->want != PHI__YAML_WANT_COLON) {
        phi__yaml_lines_item(r); /* a sequence needs no more spaces than its key */
    } else if (c == ':' && indicator && frame->want == PHI__YAML_WANT_COLON) {
        frame->want = PHI__YAML_WANT_VALUE;
        phi__yaml_lines_indicator(r);
    } else {
        phi__yaml_lines_fill(r);
        if (r->status != PHI_BUSY) return;
        r->may_block = true;
        r->need = frame->indent + 1;
        r->state = PHI__YAML_GAP;
    }
}

/* A line at the column of the sequence on top. */
static void phi__yaml_lines_next_item(phi__yaml_reader *r) {
    if (r->tab)
        phi__yaml_lines_tab(r);
    else
        phi__yaml_lines_fill(r);
    r->top->want = PHI__YAML_WANT_VALUE;
    phi__yaml_lines_indicator(r);
}

/* Closes what the line's column leaves. False: an error was set. */
static bool phi__yaml_lines_dedent(phi__yaml_reader *r) {
    bool item = *r->at == '-' && phi__yaml_is_blank(r, r->at + 1);
    while (r->status == PHI_BUSY && r->top->kind != PHI__YAML_DOC) {
        phi__yaml_frame *frame = r->top;
        if (frame->indent < r->indent) break;
        if (frame->indent == r->indent && (frame->kind == PHI__YAML_MAP || item)) break;
        if (frame->indent == r->indent && frame->up->indent != r->indent) {
            phi__yaml_text_expected(r, r->at, "'- ' and the next item");
            break;
        }
        phi__yaml_lines_close(r);
    }
    return r->status == PHI_BUSY;
}

static void phi__yaml_lines_text(phi__yaml_reader *r) {
    phi__yaml_frame *frame;
    if (r->at == r->line_at && phi__yaml_text_marker(r, r->at)) {
        phi__yaml_lines_marker(r);
        return;
    }
    if (!phi__yaml_lines_dedent(r)) return;
    frame = r->top;
    if (frame->kind == PHI__YAML_DOC) {
        if (!phi__yaml_lines_outside(r)) return;
    } else if (frame->indent == r->indent) {
        if (frame->kind == PHI__YAML_MAP)
            phi__yaml_lines_member(r);
        else
            phi__yaml_lines_next_item(r);
        return;
    } else if (frame->want != PHI__YAML_WANT_VALUE && frame->want != PHI__YAML_WANT_EXPLICIT_KEY) {
        phi__yaml_text_wrong(r, r->at,
                             frame->kind == PHI__YAML_MAP
                                 ? "the indentation of this line fits none of the keys above"
                                 : "the indentation of this line fits none of the items above");
        return;
    }
    r->may_block = true;
    r->need = frame->indent + 1;
    r->state = PHI__YAML_GAP;
}

PHI__FN void phi__yaml_lines_line(phi__yaml_reader *r, const char *stop) {
    if (!phi__yaml_text_space(r, stop)) return;
    if (r->at == r->end)
        phi__yaml_lines_finish(r);
    else if (phi__yaml_is_break(*r->at))
        phi__yaml_text_newline(r);
    else if (*r->at == '#')
        r->state = PHI__YAML_COMMENT;
    else
        phi__yaml_lines_text(r);
}

/* ---- nodes ---- */

static bool phi__yaml_lines_wants_key(const phi__yaml_reader *r) {
    return r->top->kind == PHI__YAML_MAP && r->top->want == PHI__YAML_WANT_KEY;
}

/* "-", "?" or ":" before a blank. */
static void phi__yaml_lines_structure(phi__yaml_reader *r) {
    char c = *r->at;
    bool key = phi__yaml_lines_wants_key(r);
    if (c == ':') { /* behind nothing: an empty key */
        if (!r->may_block) phi__yaml_text_expected(r, r->at, "a value");
        phi__yaml_tree_empty(r);
        if (r->inner.at != NULL) {
            r->scalar.at = r->inner.at;
            r->scalar.line = r->inner.line;
        }
        r->state = PHI__YAML_AFTER;
    } else if (!r->may_block || r->inner.at != NULL)
        phi__yaml_text_wrong(r, r->at,
                             c == '-' ? "a block sequence must begin on a line of its own"
                                      : "a block mapping must begin on a line of its own");
    else if (c == '-' && key)
        phi__yaml_text_expected(r, r->at, "a key");
    else if (c == '-')
        phi__yaml_lines_item(r);
    else {
        if (!key) phi__yaml_lines_open(r, PHI__YAML_MAP, r->at, PHI__YAML_WANT_KEY);
        if (r->status != PHI_BUSY) return;
        r->top->want = PHI__YAML_WANT_EXPLICIT_KEY;
        phi__yaml_lines_indicator(r);
    }
}

static void phi__yaml_lines_node(phi__yaml_reader *r) {
    char c = *r->at;
    if ((c == '-' || c == '?' || c == ':') && phi__yaml_is_blank(r, r->at + 1)) {
        phi__yaml_lines_structure(r);
        return;
    }
    switch (c) {
    case '&':
    case '!': phi__yaml_props_read(r); return;
    case '*':
        phi__yaml_scalar_begin(r, PHI__YAML_STYLE_NODE);
        r->state = PHI__YAML_AFTER;
        phi__yaml_props_alias(r);
        if (r->top->kind == PHI__YAML_ALIAS) r->state = PHI__YAML_COPY;
        return;
    case '[':
    case '{': phi__yaml_flow_open(r); return;
    case '"':
    case '\'': phi__yaml_scalar_quoted_begin(r); return;
    case '|':
    case '>':
        if (phi__yaml_lines_wants_key(r))
            phi__yaml_text_expected(r, r->at, "a key");
        else
            phi__yaml_block_begin(r);
        return;
    default: phi__yaml_scalar_plain_begin(r); return;
    }
}

PHI__FN void phi__yaml_lines_gap(phi__yaml_reader *r, const char *stop) {
    bool tab = r->tab, there = phi__yaml_text_space(r, stop);
    if (r->inner.at != NULL) r->tab = tab; /* a tab behind properties indents nothing */
    if (!there) return;
    if (r->at == r->end || phi__yaml_is_break(*r->at) ||
        (*r->at == '#' && phi__yaml_is_apart(r, r->at))) {
        if (phi__yaml_lines_wants_key(r)) {
            phi__yaml_text_expected(r, r->at, "a key");
            return;
        }
        phi__yaml_props_keep(r);
        r->state = PHI__YAML_REST;
        r->scalar.style = PHI__YAML_NO_NODE;
        return;
    }
    phi__yaml_lines_node(r);
}

/* ---- behind a node ---- */

/* ":" behind a node: it is a key. */
static void phi__yaml_lines_key(phi__yaml_reader *r) {
    const phi__yaml_scalar *s = &r->scalar;
    if (s->line != r->line) {
        phi__yaml_text_wrong(r, r->at, "a key must be on one line: is this line indented too far?");
        return;
    }
    if (!phi__yaml_lines_wants_key(r)) {
        if (!r->may_block)
            phi__yaml_text_wrong(r, r->at,
                                 "': ' inside of a value: quote the value, or begin the mapping on "
                                 "a line of its own");
        else
            phi__yaml_lines_open(r, PHI__YAML_MAP, s->at, PHI__YAML_WANT_KEY);
    }
    phi__yaml_tree_key(r);
    if (r->status != PHI_BUSY) return;
    r->at++;
    r->tab = false;
    r->may_block = false;
    r->need = r->top->indent + 1;
    r->state = PHI__YAML_GAP;
}

PHI__FN void phi__yaml_lines_after(phi__yaml_reader *r, const char *stop) {
    bool tab = r->tab, there = phi__yaml_text_space(r, stop);
    r->tab = tab; /* white space behind a node indents nothing */
    if (!there) return;
    if (r->at < r->end && *r->at == ':' && phi__yaml_is_blank(r, r->at + 1)) {
        phi__yaml_lines_key(r);
        return;
    }
    if (phi__yaml_lines_wants_key(r)) {
        phi__yaml_text_expected(r, r->at, "':' and a value after the key");
        return;
    }
    phi__yaml_tree_value(r);
    r->state = PHI__YAML_REST;
}

PHI__FN void phi__yaml_lines_rest(phi__yaml_reader *r, const char *stop) {
    if (!phi__yaml_text_space(r, stop)) return;
    if (r->at < r->end && *r->at == '#' && phi__yaml_is_apart(r, r->at)) {
        r->state = PHI__YAML_COMMENT;
        return;
    }
    if (r->at < r->end && !phi__yaml_is_break(*r->at)) {
        phi__yaml_text_expected(r, r->at, "the end of the line");
        return;
    }
    if (r->at < r->end) phi__yaml_text_newline(r);
    r->state = r->scalar.style >= PHI__YAML_STYLE_LITERAL && r->scalar.style != PHI__YAML_STYLE_NODE
                   ? PHI__YAML_BLOCK_LINE
                   : PHI__YAML_LINE;
}
