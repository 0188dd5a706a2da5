/* yaml_read.c - the reader: its states in turn. */
#include "formats/yaml_in.h"

#define PHI__YAML_DEPTH 512u          /* by default */
#define PHI__YAML_ALIAS_NODES 262144u /* by default: 8 MiB of nodes */
#define PHI__YAML_ALIAS_BYTES 16777216u

/* Up to the end of the line, which is left for the state behind. */
static void phi__yaml_read_comment(phi__yaml_reader *r, const char *stop) {
    const char *at = phi__yaml_text_line(r, stop);
    bool block =
        r->scalar.style == PHI__YAML_STYLE_LITERAL || r->scalar.style == PHI__YAML_STYLE_FOLDED;
    if (at == NULL) return;
    r->at = at;
    if (at < r->end && !phi__yaml_is_break(*at)) return;
    r->state = r->flow_depth > 0 ? PHI__YAML_FLOW : block ? PHI__YAML_REST : PHI__YAML_LINE;
}

static void phi__yaml_read_copy(phi__yaml_reader *r, size_t units) {
    if (!phi__yaml_tree_copy(r, units)) return;
    r->state = r->flow_depth > 0 ? PHI__YAML_FLOW : PHI__YAML_AFTER;
}

static void phi__yaml_read_state(phi__yaml_reader *r, const char *stop) {
    switch (r->state) {
    case PHI__YAML_LINE: phi__yaml_lines_line(r, stop); break;
    case PHI__YAML_GAP: phi__yaml_lines_gap(r, stop); break;
    case PHI__YAML_AFTER: phi__yaml_lines_after(r, stop); break;
    case PHI__YAML_REST: phi__yaml_lines_rest(r, stop); break;
    case PHI__YAML_FLOW: phi__yaml_flow(r, stop); break;
    case PHI__YAML_COMMENT: phi__yaml_read_comment(r, stop); break;
    case PHI__YAML_PLAIN: phi__yaml_scalar_plain(r, stop); break;
    case PHI__YAML_PLAIN_BREAK: phi__yaml_scalar_plain_break(r, stop); break;
    case PHI__YAML_SINGLE: phi__yaml_scalar_single(r, stop); break;
    case PHI__YAML_DOUBLE: phi__yaml_scalar_double(r, stop); break;
    case PHI__YAML_QUOTED_BREAK: phi__yaml_scalar_quoted_break(r, stop); break;
    case PHI__YAML_BLOCK_LINE: phi__yaml_block_line(r, stop); break;
    default: phi__yaml_block_text(r, stop); break;
    }
}

/* Gives room back that nothing took, if nothing was taken from the arena after it. */
static void phi__yaml_read_slack(phi__yaml_reader *r) {
    if (r->spare != r->spare_end && (char *)r->spare_end == r->arena->at)
        r->arena->at = (char *)r->spare;
    r->spare = r->spare_end = NULL;
}

/* A text that is not UTF-8 from its first bytes on; a byte order mark is skipped. */
static void phi__yaml_read_encoding(phi__yaml_reader *r) {
    const unsigned char *p = (const unsigned char *)r->text;
    size_t len = (size_t)(r->end - r->text);
    if (len >= 2 && ((p[0] == 0xfe && p[1] == 0xff) || (p[0] == 0xff && p[1] == 0xfe) ||
                     p[0] == 0 || p[1] == 0))
        phi__yaml_text_wrong(r, r->at, "a text in UTF-16 or UTF-32: only UTF-8 is read");
    else if (len >= 3 && memcmp(p, "\xEF\xBB\xBF", 3) == 0)
        r->at = r->line_at = r->text + 3;
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
        phi__yaml_text_too_big(r, "a text of 4 GiB or more");
    else
        phi__yaml_read_encoding(r);
}

PHI__FN phi_status phi__yaml_read_advance(phi__yaml_reader *r, size_t units) {
    const char *stop;
    if (r->status != PHI_BUSY) return r->status;
    if (units == 0) units = 1;
    if (r->top == NULL && !phi__yaml_tree_begin(r)) return r->status;
    stop = (size_t)(r->end - r->at) > units ? r->at + units : r->end;
    while (r->status == PHI_BUSY && (r->at < stop || stop == r->end)) {
        if (r->state != PHI__YAML_COPY) {
            phi__yaml_read_state(r, stop);
            continue;
        }
        phi__yaml_read_copy(r, units);
        if (r->state == PHI__YAML_COPY) break;
    }
    if (r->status != PHI_BUSY) phi__yaml_read_slack(r);
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
    phi_arena_mark mark;
    phi_status status;
    if (arena == NULL || out == NULL) return PHI_BAD_ARG;
    mark = phi_arena_save(arena);
    phi__yaml_read_begin(&reader, arena, text, options);
    while ((status = phi__yaml_read_advance(&reader, SIZE_MAX)) == PHI_BUSY) continue;
    (void)phi__yaml_read_result(&reader, out, error);
    if (status != PHI_OK) phi_arena_reset(arena, mark);
    return status;
}

typedef struct phi__yaml_slices {
    phi_reader head;
    phi__yaml_reader reader;
} phi__yaml_slices;

static phi_status phi__yaml_read_slice(phi_reader *reader, size_t units) {
    return phi__yaml_read_advance(&((phi__yaml_slices *)reader)->reader, units);
}

static phi_status phi__yaml_read_slices_result(const phi_reader *reader, phi_json **out,
                                               phi_parse_error *error) {
    return phi__yaml_read_result(&((const phi__yaml_slices *)reader)->reader, out, error);
}

PHI_API phi_reader *phi_yaml_reader_new(phi_arena *arena, phi_str text,
                                        const phi_yaml_desc *options) {
    phi__yaml_slices *r = (phi__yaml_slices *)phi_arena_alloc(arena, sizeof *r);
    if (r == NULL) return NULL;
    r->head.advance = phi__yaml_read_slice;
    r->head.result = phi__yaml_read_slices_result;
    phi__yaml_read_begin(&r->reader, arena, text, options);
    return &r->head;
}
