/* yaml_read.c - the reader of YAML, a state machine that walks the text once. */
#include "base/base_in.h"
#include "formats/yaml_in.h"

/* ---- lines ---- */

/* Returns where the line's characters end, `stop` at the latest. NULL: a character is wrong. */
static const char *phi__yaml_line(phi__yaml_reader *r, const char *stop) {
    const char *at = r->at;
    while (at < stop) {
        while (at < stop && ((unsigned char)*at - 0x20u < 0x5fu || *at == '\t'))
            at++; /* ASCII text needs no check */
        if (at == stop || phi__yaml_is_break(*at)) break;
        size_t n = phi__yaml_char(r, at, false);
        if (n == 0) return NULL;
        at += n;
    }
    return at;
}

/* Skips white space within the line, and updates `indent` and `tab`. True if text, a line break or
   the end of the text follows; false at `stop`. */
static bool phi__yaml_space(phi__yaml_reader *r, const char *stop) {
    const char *at = r->at;
    for (; at < stop; at++) {
        if (*at == ' ') continue;
        if (*at != '\t') break;
        if (!r->tab) r->indent = (int32_t)phi__yaml_column(r, at);
        r->tab = true;
    }
    r->at = at;
    if (!r->tab) r->indent = (int32_t)phi__yaml_column(r, at);
    return at < stop || at == r->end;
}

/* Advances past the line break at r->at. */
static void phi__yaml_newline(phi__yaml_reader *r) {
    if (*r->at == '\r' && r->at + 1 < r->end && r->at[1] == '\n') r->at++;
    r->at++;
    r->line++;
    r->line_at = r->at;
    r->tab = false;
    r->fresh = true;
}

/* True if `at`, the start of a line, is "---" or "..." before a blank. */
static bool phi__yaml_marker(const phi__yaml_reader *r, const char *at) {
    return r->end - at >= 3 && (*at == '-' || *at == '.') && at[1] == *at && at[2] == *at &&
           phi__yaml_is_blank(r, at + 3);
}

/* True if `at` begins its line, or follows white space. */
static bool phi__yaml_is_apart(const phi__yaml_reader *r, const char *at) {
    return at == r->line_at || phi__yaml_is_space(at[-1]);
}

/* ======== Plain and quoted scalars, line by line.

   The text begins at `mark`. It is not copied before its first line break or escape. */

static void phi__yaml_scalar_begin(phi__yaml_reader *r, uint8_t style) {
    phi__yaml_scalar *s = &r->scalar;
    memset(s, 0, sizeof *s);
    s->at = r->inner.at != NULL ? r->inner.at : r->at;
    s->line_at = r->line_at;
    s->line = r->inner.at != NULL ? r->inner.line : r->line;
    s->mark = s->last = r->at;
    s->style = style;
}

/* Makes an empty scalar at r->at. */
static void phi__yaml_empty(phi__yaml_reader *r) {
    phi__yaml_scalar *s = &r->scalar;
    memset(s, 0, sizeof *s);
    s->at = s->mark = s->last = r->at;
    s->line_at = r->line_at;
    s->line = r->line;
    s->style = PHI__YAML_STYLE_PLAIN;
}

/* Copies the bytes from the mark to `at`. */
static bool phi__yaml_scalar_flush(phi__yaml_reader *r, const char *at) {
    bool good = phi__yaml_add(r, r->scalar.mark, (size_t)(at - r->scalar.mark));
    r->scalar.mark = at;
    return good;
}

static void phi__yaml_scalar_put_breaks(phi__yaml_reader *r, size_t breaks) {
    if (breaks == 0 || !phi__yaml_room(r, breaks)) return;
    memset(r->scalar.to, '\n', breaks);
    r->scalar.to += breaks;
}

/* Folds the line breaks between two lines: one becomes a space, and of several one is dropped. */
static void phi__yaml_scalar_fold(phi__yaml_reader *r) {
    if (r->scalar.breaks == 1)
        (void)phi__yaml_add(r, " ", 1);
    else
        phi__yaml_scalar_put_breaks(r, r->scalar.breaks - 1);
}

/* Skips line breaks and white space, and counts the breaks. False at `stop`: more may follow. */
static bool phi__yaml_scalar_breaks(phi__yaml_reader *r, const char *stop) {
    while (r->at < stop && phi__yaml_space(r, stop)) {
        if (r->at == r->end || !phi__yaml_is_break(*r->at)) break;
        phi__yaml_newline(r);
        r->scalar.breaks++;
    }
    return r->at < stop || stop == r->end;
}

static uint8_t phi__yaml_scalar_after(const phi__yaml_reader *r) {
    return r->flow_depth > 0 ? PHI__YAML_FLOW : PHI__YAML_AFTER;
}

/* ---- plain ---- */

static void phi__yaml_plain_begin(phi__yaml_reader *r) {
    const char *at = r->at;
    static const char never[] = ",[]{}#&*!|>'\"%@`";
    bool indicator = *at == '-' || *at == '?' || *at == ':';
    if (*at == '@' || *at == '`')
        phi__yaml_wrong(r, at, "text that begins with '@' or '`' must be quoted");
    else if (*at == '%')
        phi__yaml_wrong(r, at, "text that begins with '%' must be quoted");
    else if ((indicator && phi__yaml_is_over(r, at + 1)) ||
             memchr(never, *at, sizeof never - 1) != NULL)
        phi__yaml_expected(r, at, "a value");
    phi__yaml_scalar_begin(r, PHI__YAML_STYLE_PLAIN);
    r->state = PHI__YAML_PLAIN;
    if (indicator) r->at++;
}

/* Ends the text of this line at `at`, without the white space before it. */
static void phi__yaml_plain_trim(phi__yaml_reader *r, const char *at) {
    while (at > r->scalar.mark && phi__yaml_is_space(at[-1])) at--;
    r->scalar.last = at;
    if (r->scalar.text != NULL) (void)phi__yaml_scalar_flush(r, at);
}

/* Returns the next character that may end a plain scalar or that needs a check. */
static const char *phi__yaml_plain_run(const char *at, const char *stop, bool flow) {
    for (; at < stop; at++) {
        unsigned char c = (unsigned char)*at;
        if (c == ':' || c == '#' || c < 0x20 || c >= 0x7f) {
            if (c == '\t') continue;
            break;
        }
        if (flow && (c == ',' || c == '[' || c == ']' || c == '{' || c == '}')) break;
    }
    return at;
}

static void phi__yaml_plain(phi__yaml_reader *r, const char *stop) {
    const char *at = r->at;
    bool flow = r->flow_depth > 0;
    while (at < stop) {
        size_t n = 1;
        at = phi__yaml_plain_run(at, stop, flow);
        if (at == stop) break;
        if (phi__yaml_is_break(*at)) {
            r->at = at;
            phi__yaml_plain_trim(r, at);
            r->scalar.breaks = 0;
            r->state = PHI__YAML_PLAIN_BREAK;
            return;
        }
        if ((*at == ':' && phi__yaml_is_over(r, at + 1)) ||
            (*at == '#' && phi__yaml_is_space(at[-1])) || (flow && phi__yaml_is_bracket(*at))) {
            r->at = at;
            phi__yaml_plain_trim(r, at);
            r->state = phi__yaml_scalar_after(r);
            return;
        }
        if ((unsigned char)*at >= 0x7f || (unsigned char)*at < 0x20)
            n = phi__yaml_char(r, at, false);
        if (n == 0) return;
        at += n;
    }
    r->at = at;
    if (at < r->end) return;
    phi__yaml_plain_trim(r, at);
    r->state = phi__yaml_scalar_after(r);
}

/* True if the text at r->at, which begins a line, continues the plain scalar. */
static bool phi__yaml_scalar_goes_on(const phi__yaml_reader *r) {
    const char *at = r->at;
    if (at == r->end || *at == '#' || r->indent < r->need) return false;
    if (phi__yaml_column(r, at) == 0 && phi__yaml_marker(r, at)) return false;
    if (r->flow_depth == 0) return true;
    return !phi__yaml_is_bracket(*at) && !(*at == ':' && phi__yaml_is_over(r, at + 1));
}

static void phi__yaml_plain_break(phi__yaml_reader *r, const char *stop) {
    phi__yaml_scalar *s = &r->scalar;
    bool is_key = r->top->kind == PHI__YAML_MAP && r->top->want == PHI__YAML_WANT_KEY;
    if (is_key && s->breaks == 0) { /* a key ends with its line */
        r->state = PHI__YAML_AFTER;
        return;
    }
    if (!phi__yaml_scalar_breaks(r, stop)) return;
    if (!phi__yaml_scalar_goes_on(r)) {
        r->state = r->flow_depth > 0 ? PHI__YAML_FLOW : PHI__YAML_LINE;
        if (r->flow_depth == 0) phi__yaml_value(r);
        return;
    }
    if (s->text == NULL && !phi__yaml_scalar_flush(r, s->last)) return;
    phi__yaml_scalar_fold(r);
    s->mark = r->at;
    r->fresh = false;
    r->state = PHI__YAML_PLAIN;
}

/* ---- quoted ---- */

static void phi__yaml_quoted_begin(phi__yaml_reader *r) {
    bool single = *r->at == '\'';
    phi__yaml_scalar_begin(r, single ? PHI__YAML_STYLE_SINGLE : PHI__YAML_STYLE_DOUBLE);
    r->at++;
    r->scalar.mark = r->at;
    r->state = single ? PHI__YAML_SINGLE : PHI__YAML_DOUBLE;
}

static void phi__yaml_scalar_close(phi__yaml_reader *r, const char *at) {
    r->scalar.last = at;
    r->at = at + 1;
    if (r->scalar.text != NULL) (void)phi__yaml_scalar_flush(r, at);
    r->state = phi__yaml_scalar_after(r);
}

/* Ends a line of a quoted scalar at `at`, without the white space before it. White space from
   escapes stays, because it is copied already. */
static void phi__yaml_scalar_line_end(phi__yaml_reader *r, const char *at) {
    phi__yaml_scalar *s = &r->scalar;
    const char *last = at;
    while (last > s->mark && phi__yaml_is_space(last[-1])) last--;
    if (!phi__yaml_scalar_flush(r, last)) return;
    s->breaks = 0;
    s->started = true;
    r->at = at;
    r->state = PHI__YAML_QUOTED_BREAK;
}

static void phi__yaml_single(phi__yaml_reader *r, const char *stop) {
    const char *at = r->at;
    while (at < stop && r->status == PHI_BUSY) {
        while (at < stop && *at != '\'' && (unsigned char)*at - 0x20u < 0x5fu) at++;
        if (at == stop) break;
        if (phi__yaml_is_break(*at)) {
            phi__yaml_scalar_line_end(r, at);
            return;
        }
        if (*at == '\'') {
            if (at + 1 == r->end || at[1] != '\'') {
                phi__yaml_scalar_close(r, at);
                return;
            }
            if (!phi__yaml_scalar_flush(r, at + 1)) return;
            r->scalar.mark = at + 2;
            at += 2;
        } else
            at += phi__yaml_char(r, at, true);
    }
    r->at = at;
    if (at >= r->end) phi__yaml_expected(r, at, "the closing quote of a string");
}

/* ---- escapes ---- */

/* Reads \xXX, \uXXXX or \UXXXXXXXX at a backslash, or two escapes that make a surrogate pair.
   Returns the number of bytes read; 0: an error was recorded. */
static size_t phi__yaml_scalar_code(phi__yaml_reader *r, const char *at, uint32_t *code) {
    size_t digits = at[1] == 'x' ? 2 : at[1] == 'u' ? 4 : 8;
    *code = phi__json_text_hex(at + 2, r->end, digits);
    if (*code > 0x10ffff) {
        phi__yaml_wrong(r, at,
                        digits == 2   ? "\\x takes two hexadecimal digits"
                        : digits == 4 ? "\\u takes four hexadecimal digits"
                                      : "\\U takes eight hexadecimal digits, at most 0010FFFF");
        return 0;
    }
    if (*code < 0xd800 || *code > 0xdfff) return 2 + digits;
    uint32_t low =
        digits == 4 && *code < 0xdc00 && r->end - at >= 8 && at[6] == '\\' && at[7] == 'u'
            ? phi__json_text_hex(at + 8, r->end, 4)
            : UINT32_MAX;
    if (low < 0xdc00 || low > 0xdfff) {
        phi__yaml_wrong(r, at, "half of a surrogate pair");
        return 0;
    }
    *code = 0x10000 + ((*code - 0xd800) << 10) + (low - 0xdc00);
    return 12;
}

/* Returns the character of a short escape such as \t or \e; UINT32_MAX if there is none. */
static uint32_t phi__yaml_scalar_short(char c) {
    static const char names[] = "0abtnvfre \"/\\\tN_LP";
    static const uint16_t codes[] = {0,   7,   8,   9,    10, 11,   12,   13,     27,
                                     ' ', '"', '/', '\\', 9,  0x85, 0xa0, 0x2028, 0x2029};
    const char *found = c == '\0' ? NULL : (const char *)memchr(names, c, sizeof names - 1);
    return found == NULL ? UINT32_MAX : codes[found - names];
}

/* Reads the escape at `at`. *next is the position after it. False if there is an error, or a line
   break follows. */
static bool phi__yaml_scalar_escape(phi__yaml_reader *r, const char *at, const char **next) {
    phi__yaml_scalar *s = &r->scalar;
    size_t n = 2;
    char bytes[4];
    if (!phi__yaml_scalar_flush(r, at)) return false;
    if (at + 1 == r->end) return phi__yaml_expected(r, at + 1, "an escape after the backslash");
    if (phi__yaml_is_break(at[1])) { /* joins the lines, and keeps white space before it */
        s->mark = at + 1;
        s->breaks = 0;
        s->started = false;
        r->at = at + 1;
        r->state = PHI__YAML_QUOTED_BREAK;
        return false;
    }
    uint32_t code = phi__yaml_scalar_short(at[1]);
    if (code == UINT32_MAX && (at[1] == 'x' || at[1] == 'u' || at[1] == 'U')) {
        n = phi__yaml_scalar_code(r, at, &code);
        if (n == 0) return false;
    }
    if (code == UINT32_MAX) return phi__yaml_expected(r, at + 1, "an escape after the backslash");
    if (!phi__yaml_add(r, bytes, phi__utf8_put(bytes, code))) return false;
    *next = s->mark = at + n;
    return true;
}

static void phi__yaml_double(phi__yaml_reader *r, const char *stop) {
    const char *at = r->at;
    while (at < stop && r->status == PHI_BUSY) {
        at = phi__json_text_plain_end(at, stop);
        if (at == stop) break;
        if (*at == '"') {
            phi__yaml_scalar_close(r, at);
            return;
        }
        if (*at == '\\') {
            if (!phi__yaml_scalar_escape(r, at, &at)) return;
        } else if (phi__yaml_is_break(*at)) {
            phi__yaml_scalar_line_end(r, at);
            return;
        } else
            at += phi__yaml_char(r, at, true);
    }
    r->at = at;
    if (at >= r->end) phi__yaml_expected(r, at, "the closing quote of a string");
}

/* Reads the line breaks between two lines of a quoted scalar. */
static void phi__yaml_quoted_break(phi__yaml_reader *r, const char *stop) {
    phi__yaml_scalar *s = &r->scalar;
    if (!phi__yaml_scalar_breaks(r, stop)) return;
    if (r->at == r->end)
        phi__yaml_expected(r, r->at, "the closing quote of a string");
    else if (phi__yaml_column(r, r->at) == 0 && phi__yaml_marker(r, r->at))
        phi__yaml_wrong(r, r->at, "a line that ends the document, inside of a string");
    else if (r->indent < r->need)
        phi__yaml_wrong(r, r->at,
                        "a line of a string must be indented more than the block around it");
    if (r->status != PHI_BUSY) return;
    if (s->started)
        phi__yaml_scalar_fold(r);
    else /* after an escaped break, each further break stays */
        phi__yaml_scalar_put_breaks(r, s->breaks - 1);
    s->mark = r->at;
    r->fresh = false;
    r->state = s->style == PHI__YAML_STYLE_SINGLE ? PHI__YAML_SINGLE : PHI__YAML_DOUBLE;
}

/* ---- literal and folded scalars ---- */

enum phi__yaml_chomp { PHI__YAML_CLIP, PHI__YAML_STRIP, PHI__YAML_KEEP };

/* Reads the header after "|" or ">". */
static void phi__yaml_block_header(phi__yaml_reader *r) {
    phi__yaml_scalar *s = &r->scalar;
    int32_t digit = 0;
    bool chomped = false;
    while (r->at < r->end) {
        char c = *r->at;
        if ((c == '+' || c == '-') && !chomped) {
            s->chomp = c == '+' ? PHI__YAML_KEEP : PHI__YAML_STRIP;
            chomped = true;
        } else if (c >= '1' && c <= '9' && digit == 0)
            digit = c - '0';
        else
            break;
        r->at++;
    }
    if (!phi__yaml_is_blank(r, r->at))
        phi__yaml_expected(r, r->at, "an indentation from 1 to 9, '+', '-' or the end of the line");
    s->indent = digit == 0 ? -1 : (r->need > 0 ? r->need - 1 : 0) + digit;
}

static void phi__yaml_block_begin(phi__yaml_reader *r) {
    phi__yaml_scalar_begin(r, *r->at == '|' ? PHI__YAML_STYLE_LITERAL : PHI__YAML_STYLE_FOLDED);
    r->at++;
    phi__yaml_block_header(r);
    r->scalar.text = NULL;
    (void)phi__yaml_room(r, 0);
    r->fresh = false;
    r->state = PHI__YAML_REST; /* after it, the state is PHI__YAML_BLOCK_LINE */
}

/* Ends a block scalar, and returns to the start of the line after it. */
static void phi__yaml_block_end(phi__yaml_reader *r) {
    phi__yaml_scalar *s = &r->scalar;
    if (s->chomp == PHI__YAML_KEEP)
        phi__yaml_scalar_put_breaks(r, s->breaks);
    else if (s->chomp == PHI__YAML_CLIP && s->started && s->breaks > 0)
        phi__yaml_scalar_put_breaks(r, 1);
    if (r->at < r->end) r->at = r->line_at;
    r->tab = false;
    r->state = PHI__YAML_LINE;
    phi__yaml_value(r);
}

/* Writes the line breaks before a line of text. In a folded scalar, folds the breaks if neither
   this line nor the line before begins with white space. */
static void phi__yaml_block_join(phi__yaml_reader *r) {
    phi__yaml_scalar *s = &r->scalar;
    bool more = phi__yaml_is_space(*r->at), fold = s->style == PHI__YAML_STYLE_FOLDED;
    if (!s->started || !fold || more || s->more_indented)
        phi__yaml_scalar_put_breaks(r, s->breaks);
    else
        phi__yaml_scalar_fold(r);
    s->more_indented = more;
    s->started = true;
    s->breaks = 0;
    s->mark = r->at;
    r->fresh = false;
    r->state = PHI__YAML_BLOCK_TEXT;
}

/* Takes the indentation of the scalar from its first line with text. */
static void phi__yaml_block_detect(phi__yaml_reader *r, int32_t spaces) {
    phi__yaml_scalar *s = &r->scalar;
    if (spaces < r->need) return;
    s->indent = spaces;
    if (s->blanks > spaces)
        phi__yaml_wrong(r, r->at, "a blank line before this text has more spaces than it");
}

static void phi__yaml_block_line(phi__yaml_reader *r, const char *stop) {
    phi__yaml_scalar *s = &r->scalar;
    while (r->at < stop && *r->at == ' ' &&
           (s->indent < 0 || (int32_t)phi__yaml_column(r, r->at) < s->indent))
        r->at++;
    if (r->at >= stop && stop < r->end) return;
    int32_t spaces = (int32_t)phi__yaml_column(r, r->at);
    if (r->at < r->end && phi__yaml_is_break(*r->at)) {
        if (s->indent < 0 && spaces > s->blanks) s->blanks = spaces;
        phi__yaml_newline(r);
        s->breaks++;
        return;
    }
    if (r->at == r->end) {
        if (spaces > 0 && r->fresh) s->breaks++; /* see phi__yaml_block_text() */
        phi__yaml_block_end(r);
        return;
    }
    if (*r->at == '\t' && spaces < (s->indent >= 0 ? s->indent : r->need)) {
        phi__yaml_wrong(r, r->at, "a tab where the text of this scalar is indented by spaces");
        return;
    }
    if (s->indent < 0) phi__yaml_block_detect(r, spaces);
    if (s->indent < 0 || spaces < s->indent || (spaces == 0 && phi__yaml_marker(r, r->at)))
        phi__yaml_block_end(r);
    else
        phi__yaml_block_join(r);
}

static void phi__yaml_block_text(phi__yaml_reader *r, const char *stop) {
    const char *at = phi__yaml_line(r, stop), *text = at;
    if (at == NULL) return;
    (void)phi__yaml_scalar_flush(r, at);
    r->at = at;
    if (at < r->end && !phi__yaml_is_break(*at)) return;
    /* The last line may lack a line break. If it is only white space, a break is counted
       nevertheless. */
    while (text > r->line_at && phi__yaml_is_space(text[-1])) text--;
    r->scalar.breaks = at < r->end || text == r->line_at ? 1 : 0;
    if (at < r->end) phi__yaml_newline(r);
    r->state = PHI__YAML_BLOCK_LINE;
}

/* ---- flow collections, token by token ---- */

static void phi__yaml_flow_open(phi__yaml_reader *r) {
    bool map = *r->at == '{';
    int32_t indent = r->top->indent;
    phi__yaml_open(r, map ? PHI__YAML_FLOW_MAP : PHI__YAML_FLOW_SEQ, indent,
                   map ? PHI__YAML_WANT_KEY : PHI__YAML_WANT_VALUE);
    r->at++;
    r->state = PHI__YAML_FLOW;
    r->fresh = false;
}

static void phi__yaml_flow_close(phi__yaml_reader *r) {
    r->at++;
    phi__yaml_close(r);
    r->state = phi__yaml_scalar_after(r);
}

/* Sets what the frame on top wants after the node that begins now. */
static void phi__yaml_flow_expect(phi__yaml_reader *r) {
    phi__yaml_frame *frame = r->top;
    if (frame->want == PHI__YAML_WANT_KEY || frame->want == PHI__YAML_WANT_EXPLICIT_KEY)
        frame->want = PHI__YAML_WANT_COLON;
    else
        frame->want = PHI__YAML_WANT_NEXT;
}

/* Reads a node, or the properties of one, in flow content. */
static void phi__yaml_flow_node(phi__yaml_reader *r) {
    switch (*r->at) {
    case '&':
    case '!': phi__yaml_prop_read(r); return;
    case '*':
        phi__yaml_scalar_begin(r, PHI__YAML_STYLE_NODE);
        phi__yaml_flow_expect(r);
        phi__yaml_prop_alias(r);
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
        phi__yaml_quoted_begin(r);
        return;
    case '|':
    case '>': phi__yaml_wrong(r, r->at, "a block scalar inside of brackets"); return;
    case '-':
        if (phi__yaml_is_over(r, r->at + 1)) {
            phi__yaml_wrong(r, r->at, "an item of a block sequence inside of brackets");
            return;
        }
        break;
    default: break;
    }
    phi__yaml_flow_expect(r);
    phi__yaml_plain_begin(r);
}

/* ---- the tokens ---- */

/* True at a colon that ends a key. After quotes and brackets, no blank need follow the colon. */
static bool phi__yaml_flow_is_colon(const phi__yaml_reader *r) {
    const phi__yaml_scalar *s = &r->scalar;
    if (*r->at != ':') return false;
    if (phi__yaml_is_over(r, r->at + 1)) return true;
    return s->style == PHI__YAML_STYLE_SINGLE || s->style == PHI__YAML_STYLE_DOUBLE ||
           (s->style == PHI__YAML_STYLE_NODE && !s->is_alias);
}

/* Reads what follows an item of a flow sequence. */
static void phi__yaml_flow_after_item(phi__yaml_reader *r) {
    if (*r->at == ',' || *r->at == ']') {
        phi__yaml_value(r);
        if (*r->at == ']') {
            phi__yaml_flow_close(r);
            return;
        }
        r->top->want = PHI__YAML_WANT_VALUE;
        r->at++;
        return;
    }
    if (!phi__yaml_flow_is_colon(r))
        phi__yaml_expected(r, r->at, "',' or ']'");
    else if (r->scalar.line != r->line)
        phi__yaml_wrong(r, r->at, "a key inside of '[' and ']' must be on one line");
    if (r->status != PHI_BUSY) return;
    phi__yaml_open_pair(r, PHI__YAML_WANT_KEY);
    phi__yaml_key(r);
    r->at++;
}

static void phi__yaml_flow_seq(phi__yaml_reader *r) {
    if (r->top->want == PHI__YAML_WANT_NEXT) {
        phi__yaml_flow_after_item(r);
        return;
    }
    if ((*r->at == ']' || *r->at == ',') && r->inner.at != NULL) { /* a tag alone is an item */
        phi__yaml_empty(r);
        phi__yaml_flow_expect(r);
    } else if (*r->at == ']')
        phi__yaml_flow_close(r);
    else if (*r->at == ',')
        phi__yaml_expected(r, r->at, "an item");
    else if ((*r->at == ':' || (*r->at == '?' && r->inner.at == NULL)) &&
             phi__yaml_is_over(r, r->at + 1)) {
        /* A "?" or ":" at the start of an item begins a pair without braces. */
        bool explicit_key = *r->at == '?';
        if (!explicit_key) phi__yaml_empty(r);
        r->top->want = PHI__YAML_WANT_NEXT;
        phi__yaml_open_pair(r, PHI__YAML_WANT_EXPLICIT_KEY);
        if (!explicit_key) phi__yaml_key(r);
        r->at++;
    } else
        phi__yaml_flow_node(r);
}

/* Ends a mapping, or a pair at the comma or bracket of its sequence. */
static void phi__yaml_flow_end(phi__yaml_reader *r) {
    if (r->top->kind == PHI__YAML_FLOW_MAP)
        phi__yaml_flow_close(r);
    else
        phi__yaml_close(r);
}

/* At ",", "}" or, in a pair, "]": ends the current key or value. */
static void phi__yaml_flow_stop(phi__yaml_reader *r) {
    phi__yaml_frame *frame = r->top;
    bool pending = r->inner.at != NULL;
    if (frame->want == PHI__YAML_WANT_KEY && !pending) {
        if (*r->at == ',')
            phi__yaml_expected(r, r->at, "a key");
        else
            phi__yaml_flow_end(r);
        return;
    }
    if (frame->want == PHI__YAML_WANT_KEY || frame->want == PHI__YAML_WANT_EXPLICIT_KEY) {
        phi__yaml_empty(r);
        frame->want = PHI__YAML_WANT_COLON;
    }
    if (frame->want == PHI__YAML_WANT_COLON) phi__yaml_key(r);
    if (frame->want == PHI__YAML_WANT_VALUE) phi__yaml_empty(r);
    phi__yaml_value(r);
    if (r->status == PHI_BUSY) {
        /* A comma continues a mapping. Anything else ends the mapping or the pair. */
        bool pair = r->top->kind == PHI__YAML_FLOW_PAIR;
        if (*r->at == ',' && !pair) {
            r->top->want = PHI__YAML_WANT_KEY;
            r->at++;
        } else
            phi__yaml_flow_end(r);
    }
}

/* Reads one token of a flow mapping or of a pair. */
static void phi__yaml_flow_map(phi__yaml_reader *r) {
    phi__yaml_frame *frame = r->top;
    bool pair = frame->kind == PHI__YAML_FLOW_PAIR;
    if (*r->at == ',' || *r->at == (pair ? ']' : '}')) {
        phi__yaml_flow_stop(r);
        return;
    }
    if (frame->want == PHI__YAML_WANT_COLON || frame->want == PHI__YAML_WANT_NEXT) {
        if (frame->want == PHI__YAML_WANT_COLON && phi__yaml_flow_is_colon(r)) {
            phi__yaml_key(r);
            r->at++;
        } else if (pair)
            phi__yaml_expected(r, r->at, "',' or ']'");
        else
            phi__yaml_expected(
                r, r->at, frame->want == PHI__YAML_WANT_NEXT ? "',' or '}'" : "':', ',' or '}'");
        return;
    }
    if (frame->want != PHI__YAML_WANT_VALUE && *r->at == ':' && phi__yaml_is_over(r, r->at + 1)) {
        phi__yaml_empty(r);
        phi__yaml_key(r);
        r->at++;
    } else if (frame->want == PHI__YAML_WANT_KEY && *r->at == '?' &&
               phi__yaml_is_over(r, r->at + 1) && r->inner.at == NULL) {
        frame->want = PHI__YAML_WANT_EXPLICIT_KEY;
        r->at++;
    } else
        phi__yaml_flow_node(r);
}

/* Reads one token of flow content. */
static void phi__yaml_flow(phi__yaml_reader *r, const char *stop) {
    if (!phi__yaml_space(r, stop)) return;
    if (r->at == r->end) {
        phi__yaml_expected(r, r->at, r->top->kind == PHI__YAML_FLOW_MAP ? "'}'" : "']'");
        return;
    }
    if (phi__yaml_is_break(*r->at)) {
        phi__yaml_newline(r);
        return;
    }
    if (*r->at == '#') {
        r->state = PHI__YAML_COMMENT;
        if (!phi__yaml_is_apart(r, r->at))
            phi__yaml_expected(r, r->at, "white space before a comment");
        return;
    }
    if (r->fresh) {
        /* This is the first text of a line. */
        r->fresh = false;
        if (phi__yaml_column(r, r->at) == 0 && phi__yaml_marker(r, r->at))
            phi__yaml_wrong(r, r->at, "a line that ends the document, inside of brackets");
        else if (r->indent < r->need)
            phi__yaml_wrong(
                r, r->at,
                "a line inside of brackets must be indented more than the block around them");
    }
    if (r->status != PHI_BUSY) return;
    if (r->top->kind == PHI__YAML_FLOW_SEQ)
        phi__yaml_flow_seq(r);
    else
        phi__yaml_flow_map(r);
}

/* ---- closing ---- */

/* Adds the value that the frame on top still waits for: null, or empty text if a tag says so. */
static void phi__yaml_line_fill(phi__yaml_reader *r) {
    phi__yaml_frame *frame = r->top;
    if (frame->want == PHI__YAML_WANT_EXPLICIT_KEY) {
        phi__yaml_empty(r);
        phi__yaml_value(r);
    }
    if (frame->want == PHI__YAML_WANT_COLON) frame->want = PHI__YAML_WANT_VALUE;
    if (frame->want == PHI__YAML_WANT_VALUE) {
        phi__yaml_empty(r);
        phi__yaml_value(r);
    }
}

static void phi__yaml_line_close(phi__yaml_reader *r) {
    phi__yaml_line_fill(r);
    if (r->status != PHI_BUSY) return;
    phi__yaml_close(r);
    phi__yaml_value(r);
}

/* Closes all collections at the end of the document. */
static void phi__yaml_line_close_all(phi__yaml_reader *r) {
    while (r->status == PHI_BUSY && r->top->kind != PHI__YAML_DOC) phi__yaml_line_close(r);
    if (r->status == PHI_BUSY && r->doc == PHI__YAML_OPEN) phi__yaml_line_fill(r);
}

static void phi__yaml_line_finish(phi__yaml_reader *r) {
    if (r->doc == PHI__YAML_DIRECTIVES) phi__yaml_expected(r, r->at, "'---' after the directives");
    phi__yaml_line_close_all(r);
    if (r->status != PHI_BUSY) return;
    if (r->root == NULL) r->root = phi__yaml_node(r, PHI__JSON_NULL);
    if (r->root != NULL) r->status = PHI_OK;
}

/* ---- documents ---- */

static void phi__yaml_line_second(phi__yaml_reader *r) {
    phi__yaml_wrong(r, r->at, "a second document: only one is read");
}

static void phi__yaml_line_marker(phi__yaml_reader *r) {
    bool start = *r->at == '-';
    if (r->doc >= PHI__YAML_OPEN) phi__yaml_line_close_all(r);
    if (r->status != PHI_BUSY) return;
    if (start && r->doc >= PHI__YAML_OPEN)
        phi__yaml_line_second(r);
    else if (!start && r->doc == PHI__YAML_DIRECTIVES)
        phi__yaml_expected(r, r->at, "'---' after the directives");
    if (r->status != PHI_BUSY) return;
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

/* Handles a line outside of all collections. True if it may begin the document's node. */
static bool phi__yaml_line_outside(phi__yaml_reader *r) {
    switch (r->doc) {
    case PHI__YAML_START:
        if (*r->at == '%' && phi__yaml_column(r, r->at) == 0) break;
        r->doc = PHI__YAML_OPEN;
        return true;
    case PHI__YAML_DIRECTIVES:
        if (*r->at == '%' && phi__yaml_column(r, r->at) == 0) break;
        return phi__yaml_expected(r, r->at, "'---' after the directives");
    case PHI__YAML_OPEN: return true;
    case PHI__YAML_COMPLETE: phi__yaml_expected(r, r->at, "the end of the document"); return false;
    default: phi__yaml_line_second(r); return false;
    }
    r->doc = PHI__YAML_DIRECTIVES;
    r->state = PHI__YAML_REST;
    phi__yaml_prop_directive(r);
    return false;
}

/* ---- collections ---- */

static void phi__yaml_line_tab(phi__yaml_reader *r) {
    phi__yaml_wrong(r, r->at, "a tab before this: block collections are indented by spaces");
}

/* Advances past a "-", "?" or ":". A block collection may follow on the same line. */
static void phi__yaml_line_indicator(phi__yaml_reader *r) {
    r->at++;
    r->tab = false;
    r->may_block = true;
    r->need = r->top->indent + 1;
    r->state = PHI__YAML_GAP;
}

/* Opens a block collection at the column of `at`. */
static void phi__yaml_line_open(phi__yaml_reader *r, uint8_t kind, const char *at, uint8_t want) {
    if (r->tab)
        phi__yaml_line_tab(r);
    else if (r->top->want == PHI__YAML_WANT_EXPLICIT_KEY)
        phi__yaml_wrong(r, r->at, "a key that is a collection is not supported");
    else
        phi__yaml_open(r, kind, (int32_t)phi__yaml_column(r, at), want);
}

static void phi__yaml_line_item(phi__yaml_reader *r) {
    phi__yaml_line_open(r, PHI__YAML_SEQ, r->at, PHI__YAML_WANT_VALUE);
    phi__yaml_line_indicator(r);
}

/* Reads a line at the column of the mapping on top. */
static void phi__yaml_line_member(phi__yaml_reader *r) {
    phi__yaml_frame *frame = r->top;
    char c = *r->at;
    bool indicator = phi__yaml_is_blank(r, r->at + 1);
    if (r->tab) {
        phi__yaml_line_tab(r);
    } else if (c == '-' && indicator && frame->want != PHI__YAML_WANT_KEY &&
               frame->want != PHI__YAML_WANT_COLON) {
        phi__yaml_line_item(r); /* a sequence may begin at the column of its key */
    } else if (c == ':' && indicator && frame->want == PHI__YAML_WANT_COLON) {
        frame->want = PHI__YAML_WANT_VALUE;
        phi__yaml_line_indicator(r);
    } else {
        phi__yaml_line_fill(r);
        if (r->status != PHI_BUSY) return;
        r->may_block = true;
        r->need = frame->indent + 1;
        r->state = PHI__YAML_GAP;
    }
}

static void phi__yaml_line_text(phi__yaml_reader *r) {
    if (r->at == r->line_at && phi__yaml_marker(r, r->at)) {
        phi__yaml_line_marker(r);
        return;
    }
    /* Close the collections that end before this line's column. */
    bool item = *r->at == '-' && phi__yaml_is_blank(r, r->at + 1);
    while (r->status == PHI_BUSY && r->top->kind != PHI__YAML_DOC) {
        phi__yaml_frame *frame = r->top;
        if (frame->indent < r->indent) break;
        if (frame->indent == r->indent && (frame->kind == PHI__YAML_MAP || item)) break;
        if (frame->indent == r->indent && frame->up->indent != r->indent) {
            phi__yaml_expected(r, r->at, "'- ' and the next item");
            break;
        }
        phi__yaml_line_close(r);
    }
    if (r->status != PHI_BUSY) return;
    phi__yaml_frame *frame = r->top;
    if (frame->kind == PHI__YAML_DOC) {
        if (!phi__yaml_line_outside(r)) return;
    } else if (frame->indent == r->indent) {
        if (frame->kind == PHI__YAML_MAP)
            phi__yaml_line_member(r);
        else {
            /* This line is at the column of the sequence on top. */
            if (r->tab)
                phi__yaml_line_tab(r);
            else
                phi__yaml_line_fill(r);
            r->top->want = PHI__YAML_WANT_VALUE;
            phi__yaml_line_indicator(r);
        }
        return;
    } else if (frame->want != PHI__YAML_WANT_VALUE && frame->want != PHI__YAML_WANT_EXPLICIT_KEY) {
        phi__yaml_wrong(r, r->at,
                        frame->kind == PHI__YAML_MAP
                            ? "the indentation of this line fits none of the keys above"
                            : "the indentation of this line fits none of the items above");
        return;
    }
    r->may_block = true;
    r->need = frame->indent + 1;
    r->state = PHI__YAML_GAP;
}

static void phi__yaml_line_line(phi__yaml_reader *r, const char *stop) {
    if (!phi__yaml_space(r, stop)) return;
    if (r->at == r->end)
        phi__yaml_line_finish(r);
    else if (phi__yaml_is_break(*r->at))
        phi__yaml_newline(r);
    else if (*r->at == '#')
        r->state = PHI__YAML_COMMENT;
    else
        phi__yaml_line_text(r);
}

/* ---- nodes ---- */

static bool phi__yaml_line_wants_key(const phi__yaml_reader *r) {
    return r->top->kind == PHI__YAML_MAP && r->top->want == PHI__YAML_WANT_KEY;
}

/* Reads a "-", "?" or ":" before a blank. */
static void phi__yaml_line_structure(phi__yaml_reader *r) {
    char c = *r->at;
    bool key = phi__yaml_line_wants_key(r);
    if (c == ':') { /* no key is before the colon: the key is empty */
        if (!r->may_block) phi__yaml_expected(r, r->at, "a value");
        phi__yaml_empty(r);
        if (r->inner.at != NULL) {
            r->scalar.at = r->inner.at;
            r->scalar.line = r->inner.line;
        }
        r->state = PHI__YAML_AFTER;
    } else if (!r->may_block || r->inner.at != NULL)
        phi__yaml_wrong(r, r->at,
                        c == '-' ? "a block sequence must begin on a line of its own"
                                 : "a block mapping must begin on a line of its own");
    else if (c == '-' && key)
        phi__yaml_expected(r, r->at, "a key");
    else if (c == '-')
        phi__yaml_line_item(r);
    else {
        if (!key) phi__yaml_line_open(r, PHI__YAML_MAP, r->at, PHI__YAML_WANT_KEY);
        if (r->status != PHI_BUSY) return;
        r->top->want = PHI__YAML_WANT_EXPLICIT_KEY;
        phi__yaml_line_indicator(r);
    }
}

static void phi__yaml_line_node(phi__yaml_reader *r) {
    char c = *r->at;
    if ((c == '-' || c == '?' || c == ':') && phi__yaml_is_blank(r, r->at + 1)) {
        phi__yaml_line_structure(r);
        return;
    }
    switch (c) {
    case '&':
    case '!': phi__yaml_prop_read(r); return;
    case '*':
        phi__yaml_scalar_begin(r, PHI__YAML_STYLE_NODE);
        r->state = PHI__YAML_AFTER;
        phi__yaml_prop_alias(r);
        if (r->top->kind == PHI__YAML_ALIAS) r->state = PHI__YAML_COPY;
        return;
    case '[':
    case '{': phi__yaml_flow_open(r); return;
    case '"':
    case '\'': phi__yaml_quoted_begin(r); return;
    case '|':
    case '>':
        if (phi__yaml_line_wants_key(r))
            phi__yaml_expected(r, r->at, "a key");
        else
            phi__yaml_block_begin(r);
        return;
    default: phi__yaml_plain_begin(r); return;
    }
}

static void phi__yaml_line_gap(phi__yaml_reader *r, const char *stop) {
    bool tab = r->tab, there = phi__yaml_space(r, stop);
    if (r->inner.at != NULL) r->tab = tab; /* a tab after properties is no indentation */
    if (!there) return;
    if (r->at == r->end || phi__yaml_is_break(*r->at) ||
        (*r->at == '#' && phi__yaml_is_apart(r, r->at))) {
        if (phi__yaml_line_wants_key(r)) {
            phi__yaml_expected(r, r->at, "a key");
            return;
        }
        phi__yaml_prop_keep(r);
        r->state = PHI__YAML_REST;
        r->scalar.style = PHI__YAML_NO_NODE;
        return;
    }
    phi__yaml_line_node(r);
}

/* ---- after a node ---- */

/* Reads the ":" after a node, which makes the node a key. */
static void phi__yaml_line_key(phi__yaml_reader *r) {
    const phi__yaml_scalar *s = &r->scalar;
    if (s->line != r->line) {
        phi__yaml_wrong(r, r->at, "a key must be on one line: is this line indented too far?");
        return;
    }
    if (!phi__yaml_line_wants_key(r)) {
        if (!r->may_block)
            phi__yaml_wrong(r, r->at,
                            "': ' inside of a value: quote the value, or begin the mapping on a "
                            "line of its own");
        else
            phi__yaml_line_open(r, PHI__YAML_MAP, s->at, PHI__YAML_WANT_KEY);
    }
    phi__yaml_key(r);
    if (r->status != PHI_BUSY) return;
    r->at++;
    r->tab = false;
    r->may_block = false;
    r->need = r->top->indent + 1;
    r->state = PHI__YAML_GAP;
}

static void phi__yaml_line_after(phi__yaml_reader *r, const char *stop) {
    bool tab = r->tab, there = phi__yaml_space(r, stop);
    r->tab = tab; /* white space after a node is no indentation */
    if (!there) return;
    if (r->at < r->end && *r->at == ':' && phi__yaml_is_blank(r, r->at + 1)) {
        phi__yaml_line_key(r);
        return;
    }
    if (phi__yaml_line_wants_key(r)) {
        phi__yaml_expected(r, r->at, "':' and a value after the key");
        return;
    }
    phi__yaml_value(r);
    r->state = PHI__YAML_REST;
}

static void phi__yaml_line_rest(phi__yaml_reader *r, const char *stop) {
    if (!phi__yaml_space(r, stop)) return;
    if (r->at < r->end && *r->at == '#' && phi__yaml_is_apart(r, r->at)) {
        r->state = PHI__YAML_COMMENT;
        return;
    }
    if (r->at < r->end && !phi__yaml_is_break(*r->at)) {
        phi__yaml_expected(r, r->at, "the end of the line");
        return;
    }
    if (r->at < r->end) phi__yaml_newline(r);
    r->state = r->scalar.style >= PHI__YAML_STYLE_LITERAL && r->scalar.style != PHI__YAML_STYLE_NODE
                   ? PHI__YAML_BLOCK_LINE
                   : PHI__YAML_LINE;
}

/* ---- the reader: its states in turn ---- */

#define PHI__YAML_DEPTH 512u          /* max. levels of nesting, by default */
#define PHI__YAML_ALIAS_NODES 262144u /* by default: 8 MiB of nodes */
#define PHI__YAML_ALIAS_BYTES 16777216u

/* Skips a comment up to the end of its line, which is left for the next state. */
static void phi__yaml_read_comment(phi__yaml_reader *r, const char *stop) {
    const char *at = phi__yaml_line(r, stop);
    bool block =
        r->scalar.style == PHI__YAML_STYLE_LITERAL || r->scalar.style == PHI__YAML_STYLE_FOLDED;
    if (at == NULL) return;
    r->at = at;
    if (at < r->end && !phi__yaml_is_break(*at)) return;
    r->state = r->flow_depth > 0 ? PHI__YAML_FLOW : block ? PHI__YAML_REST : PHI__YAML_LINE;
}

static void phi__yaml_read_state(phi__yaml_reader *r, const char *stop) {
    switch (r->state) {
    case PHI__YAML_LINE: phi__yaml_line_line(r, stop); break;
    case PHI__YAML_GAP: phi__yaml_line_gap(r, stop); break;
    case PHI__YAML_AFTER: phi__yaml_line_after(r, stop); break;
    case PHI__YAML_REST: phi__yaml_line_rest(r, stop); break;
    case PHI__YAML_FLOW: phi__yaml_flow(r, stop); break;
    case PHI__YAML_COMMENT: phi__yaml_read_comment(r, stop); break;
    case PHI__YAML_PLAIN: phi__yaml_plain(r, stop); break;
    case PHI__YAML_PLAIN_BREAK: phi__yaml_plain_break(r, stop); break;
    case PHI__YAML_SINGLE: phi__yaml_single(r, stop); break;
    case PHI__YAML_DOUBLE: phi__yaml_double(r, stop); break;
    case PHI__YAML_QUOTED_BREAK: phi__yaml_quoted_break(r, stop); break;
    case PHI__YAML_BLOCK_LINE: phi__yaml_block_line(r, stop); break;
    default: phi__yaml_block_text(r, stop); break;
    }
}

/* ---- public ---- */

PHI__FN void phi__yaml_read_begin(phi__yaml_reader *r, phi_arena *arena, phi_str text,
                                  const phi_yaml_desc *options) {
    phi_yaml_desc *o = &r->options;
    memset(r, 0, sizeof *r);
    if (text.at == NULL) text = phi__str("", 0);
    if (options != NULL) *o = *options;
    if (o->max_depth == 0) o->max_depth = PHI__YAML_DEPTH;
    if (o->max_depth > PHI_JSON_MAX_DEPTH) o->max_depth = PHI_JSON_MAX_DEPTH;
    if (o->max_alias_nodes == 0) o->max_alias_nodes = PHI__YAML_ALIAS_NODES;
    if (o->max_alias_bytes == 0) o->max_alias_bytes = PHI__YAML_ALIAS_BYTES;
    r->arena = arena;
    r->text = r->at = r->line_at = text.at;
    r->end = text.at + text.len;
    r->line = 1;
    r->status = PHI_BUSY;
    r->state = PHI__YAML_LINE;
    r->fresh = true;
    if (text.len >= UINT32_MAX)
        phi__yaml_too_big(r, "a text of 4 GiB or more");
    else {
        /* Refuses a text whose first bytes are not UTF-8, and skips a byte order mark. */
        const unsigned char *p = (const unsigned char *)r->text;
        size_t len = (size_t)(r->end - r->text);
        if (len >= 2 && ((p[0] == 0xfe && p[1] == 0xff) || (p[0] == 0xff && p[1] == 0xfe) ||
                         p[0] == 0 || p[1] == 0))
            phi__yaml_wrong(r, r->at, "a text in UTF-16 or UTF-32: only UTF-8 is read");
        else if (len >= 3 && memcmp(p, "\xEF\xBB\xBF", 3) == 0)
            r->at = r->line_at = r->text + 3;
    }
}

PHI__FN phi_status phi__yaml_read_advance(phi__yaml_reader *r, size_t units) {
    if (r->status != PHI_BUSY) return r->status;
    if (units == 0) units = 1;
    if (r->top == NULL && !phi__yaml_begin(r)) return r->status;
    const char *stop = (size_t)(r->end - r->at) > units ? r->at + units : r->end;
    while (r->status == PHI_BUSY && (r->at < stop || stop == r->end)) {
        if (r->state != PHI__YAML_COPY) {
            phi__yaml_read_state(r, stop);
            continue;
        }
        if (!phi__yaml_copy(r, units)) break;
        r->state = phi__yaml_scalar_after(r);
    }
    if (r->status != PHI_BUSY) phi__pool_end(&r->pool, r->arena);
    return r->status;
}

PHI__FN phi_status phi__yaml_read_result(const phi__yaml_reader *r, phi_json **out,
                                         phi_parse_error *error) {
    if (out != NULL) *out = r->status == PHI_OK ? r->root : NULL;
    if (error != NULL) *error = r->error;
    return r->status;
}

PHI_API phi_status phi_yaml_parse(phi_arena *arena, phi_str text, const phi_yaml_desc *options,
                                  phi_json **out, phi_parse_error *error) {
    phi__yaml_reader reader;
    phi_status status;
    if (arena == NULL || out == NULL) return PHI_BAD_ARG;
    phi_arena_mark mark = phi_arena_save(arena);
    phi__yaml_read_begin(&reader, arena, text, options);
    while ((status = phi__yaml_read_advance(&reader, SIZE_MAX)) == PHI_BUSY) continue;
    (void)phi__yaml_read_result(&reader, out, error);
    if (status != PHI_OK) phi_arena_reset(arena, mark);
    return status;
}
