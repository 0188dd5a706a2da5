/* yaml_block.c - literal and folded scalars. */
#include "formats/yaml_in.h"

enum phi__yaml_chomp { PHI__YAML_CLIP, PHI__YAML_STRIP, PHI__YAML_KEEP };

/* The header behind "|" or ">". */
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
        phi__yaml_text_expected(r, r->at,
                                "an indentation from 1 to 9, '+', '-' or the end of the line");
    s->indent = digit == 0 ? -1 : (r->need > 0 ? r->need - 1 : 0) + digit;
}

PHI__FN void phi__yaml_block_begin(phi__yaml_reader *r) {
    phi__yaml_scalar_begin(r, *r->at == '|' ? PHI__YAML_STYLE_LITERAL : PHI__YAML_STYLE_FOLDED);
    r->at++;
    phi__yaml_block_header(r);
    r->scalar.text = NULL;
    (void)phi__yaml_text_room(r, 0);
    r->fresh = false;
    r->state = PHI__YAML_REST; /* and then, since a scalar is under way, BLOCK_LINE */
}

static void phi__yaml_block_breaks(phi__yaml_reader *r, size_t breaks) {
    if (breaks == 0 || !phi__yaml_text_room(r, breaks)) return;
    memset(r->scalar.to, '\n', breaks);
    r->scalar.to += breaks;
}

/* The scalar is complete: back to the start of the line behind it. */
static void phi__yaml_block_end(phi__yaml_reader *r) {
    phi__yaml_scalar *s = &r->scalar;
    if (s->chomp == PHI__YAML_KEEP)
        phi__yaml_block_breaks(r, s->breaks);
    else if (s->chomp == PHI__YAML_CLIP && s->started && s->breaks > 0)
        phi__yaml_block_breaks(r, 1);
    if (r->at < r->end) r->at = r->line_at;
    r->tab = false;
    r->state = PHI__YAML_LINE;
    phi__yaml_tree_value(r);
}

/* The breaks before a line of text. Folded: one between two lines that begin with text is a space,
   the first of several is dropped. */
static void phi__yaml_block_join(phi__yaml_reader *r) {
    phi__yaml_scalar *s = &r->scalar;
    bool more = phi__yaml_is_space(*r->at), fold = s->style == PHI__YAML_STYLE_FOLDED;
    if (!s->started || !fold || more || s->more_indented)
        phi__yaml_block_breaks(r, s->breaks);
    else if (s->breaks == 1)
        (void)phi__yaml_text_add(r, " ", 1);
    else
        phi__yaml_block_breaks(r, s->breaks - 1);
    s->more_indented = more;
    s->started = true;
    s->breaks = 0;
    s->mark = r->at;
    r->fresh = false;
    r->state = PHI__YAML_BLOCK_TEXT;
}

/* The first line with text says how far the text is indented. */
static void phi__yaml_block_detect(phi__yaml_reader *r, int32_t spaces) {
    phi__yaml_scalar *s = &r->scalar;
    if (spaces < r->need) return;
    s->indent = spaces;
    if (s->blanks > spaces)
        phi__yaml_text_wrong(r, r->at, "a blank line before this text has more spaces than it");
}

/* The spaces before a line of text, as far as is known. */
static int32_t phi__yaml_block_least(const phi__yaml_reader *r) {
    return r->scalar.indent >= 0 ? r->scalar.indent : r->need;
}

PHI__FN void phi__yaml_block_line(phi__yaml_reader *r, const char *stop) {
    phi__yaml_scalar *s = &r->scalar;
    int32_t spaces;
    while (r->at < stop && *r->at == ' ' &&
           (s->indent < 0 || (int32_t)phi__yaml_column(r, r->at) < s->indent))
        r->at++;
    if (r->at >= stop && stop < r->end) return;
    spaces = (int32_t)phi__yaml_column(r, r->at);
    if (r->at < r->end && phi__yaml_is_break(*r->at)) {
        if (s->indent < 0 && spaces > s->blanks) s->blanks = spaces;
        phi__yaml_text_newline(r);
        s->breaks++;
        return;
    }
    if (r->at == r->end) {
        if (spaces > 0 && r->fresh) s->breaks++; /* as in phi__yaml_block_text */
        phi__yaml_block_end(r);
        return;
    }
    if (*r->at == '\t' && spaces < phi__yaml_block_least(r)) {
        phi__yaml_text_wrong(r, r->at, "a tab where the text of this scalar is indented by spaces");
        return;
    }
    if (s->indent < 0) phi__yaml_block_detect(r, spaces);
    if (s->indent < 0 || spaces < s->indent || (spaces == 0 && phi__yaml_text_marker(r, r->at)))
        phi__yaml_block_end(r);
    else
        phi__yaml_block_join(r);
}

static bool phi__yaml_block_is_white(const phi__yaml_reader *r, const char *at) {
    while (at > r->line_at && phi__yaml_is_space(at[-1])) at--;
    return at == r->line_at;
}

PHI__FN void phi__yaml_block_text(phi__yaml_reader *r, const char *stop) {
    const char *at = phi__yaml_text_line(r, stop);
    if (at == NULL) return;
    (void)phi__yaml_text_add(r, r->scalar.mark, (size_t)(at - r->scalar.mark));
    r->scalar.mark = r->at = at;
    if (at < r->end && !phi__yaml_is_break(*at)) return;
    if (at < r->end) phi__yaml_text_newline(r);
    /* the last line of a text may lack its break; one of white space counts as if it had one */
    r->scalar.breaks = at < r->end || phi__yaml_block_is_white(r, at) ? 1 : 0;
    r->state = PHI__YAML_BLOCK_LINE;
}
