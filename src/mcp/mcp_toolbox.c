/* mcp_toolbox.c - one list of a server's tools. */
#include "mcp/mcp_toolbox_in.h"

#include "base/sha256_in.h"
#include "base/utf8_in.h"
#include "match/tool_name_in.h"
#include "mcp/mcp_eras_in.h"
#include "mcp/mcp_headers_in.h"
#include "mcp/mcp_schema_in.h"
#include "text/json_in.h"

#include <stdio.h>

enum {
    PHI__MCP_TOOLBOX_LABEL = 200,        /* bytes of a title */
    PHI__MCP_TOOLBOX_DESCRIPTION = 16384 /* bytes of a description */
};

typedef struct phi__mcp_toolbox_maker {
    phi_mcp *mcp;
    phi__mcp_toolbox *box;
    phi__tool_names names;
    phi__mcp_toolbox_warn_fn warn;
    void *ctx;
    const phi_tool *functions;
    bool marks, structured, no_memory; /* structured: the era has output schemas */
} phi__mcp_toolbox_maker;

/* ---- definitions ---- */

PHI__FN bool phi__mcp_toolbox_define(const phi_json *tool, phi_arena *arena, phi_str *out) {
    static const char *const keys[] = {"name",         "title",       "description", "inputSchema",
                                       "outputSchema", "annotations", "execution"};
    phi__buf text;
    bool fine;
    size_t i;
    phi__buf_init(&text, arena->memory);
    phi__buf_char(&text, '{');
    for (i = 0; i < PHI__COUNT(keys); i++) {
        const phi_json *value = phi_json_get(tool, keys[i]);
        if (value == NULL) continue;
        phi__json_write_key(&text, phi_str_of(keys[i]));
        if (phi__json_write(&text, value, 0) != PHI_OK) text.failed = true;
    }
    phi__buf_char(&text, '}');
    fine = !text.failed && phi__arena_str(arena, phi__buf_str(&text), out);
    phi__buf_free(&text);
    return fine;
}

static void phi__mcp_toolbox_hash(phi_str text, unsigned char hash[PHI__SHA256_BYTES],
                                  char hex[65]) {
    phi__sha256_of(text, hash);
    phi__sha256_hex(hash, hex);
    hex[PHI__SHA256_HEX] = '\0';
}

/* ---- texts ---- */

/* Characters that people do not see, or that turn a line around: controls, zero-width characters,
   marks of direction, tags. `at` is the start of a valid sequence of len bytes. */
static bool phi__mcp_toolbox_unseen(const char *at, size_t len) {
    unsigned char a = (unsigned char)at[0], b, c;
    if (len == 1) return a < 0x20 || a == 0x7f;
    b = (unsigned char)at[1];
    if (len == 2) return (a == 0xc2 && b < 0xa0) || (a == 0xd8 && b == 0x9c);
    c = (unsigned char)at[2];
    if (len == 4) return a == 0xf3 && b == 0xa0;
    if (a == 0xef) return b == 0xbb && c == 0xbf;
    if (a != 0xe2) return false;
    return (b == 0x80 && ((c >= 0x8b && c <= 0x8f) || (c >= 0xa8 && c <= 0xae))) ||
           (b == 0x81 && c >= 0xa0 && c <= 0xaf);
}

/* A text for people, on one line. */
static bool phi__mcp_toolbox_label(phi__mcp_toolbox_maker *m, phi_str from, phi_str *out) {
    char text[PHI__MCP_TOOLBOX_LABEL];
    size_t at = 0, len = 0;
    while (at < from.len) {
        size_t size = phi__json_text_utf8(from.at + at, from.at + from.len);
        if (size == 0) break; /* the tree has valid UTF-8 only */
        if (!phi__mcp_toolbox_unseen(from.at + at, size)) {
            if (len + size > sizeof text) break;
            memcpy(text + len, from.at + at, size);
            len += size;
        }
        at += size;
    }
    return phi__arena_str(&m->box->arena, phi__str(text, len), out);
}

/* A text for the model: cut, and without the zero bytes that would end it. */
static bool phi__mcp_toolbox_text(phi__mcp_toolbox_maker *m, phi_str from, phi_str *out) {
    size_t len = phi__utf8_cut(from, PHI__MCP_TOOLBOX_DESCRIPTION), i;
    char *text = phi__arena_bytes(&m->box->arena, len + 1);
    if (text == NULL) return false;
    for (i = 0; i < len; i++) text[i] = from.at[i] != '\0' ? from.at[i] : ' ';
    text[len] = '\0';
    *out = phi__str(text, len);
    return true;
}

static bool phi__mcp_toolbox_json(phi__mcp_toolbox_maker *m, const phi_json *node, phi_str *out) {
    return node == NULL || phi_json_write(&m->box->arena, node, 0, out) == PHI_OK;
}

/* ---- one tool ---- */

static void phi__mcp_toolbox_hints(phi_mcp_tool *shown, const phi_json *hints) {
    shown->read_only = phi_json_bool(phi_json_get(hints, "readOnlyHint"), false);
    shown->destructive =
        !shown->read_only && phi_json_bool(phi_json_get(hints, "destructiveHint"), true);
    shown->idempotent =
        shown->read_only || phi_json_bool(phi_json_get(hints, "idempotentHint"), false);
    shown->open_world = phi_json_bool(phi_json_get(hints, "openWorldHint"), true);
}

/* The name that models use. False: no memory, or (then *left_out) none is left. */
static bool phi__mcp_toolbox_name(phi__mcp_toolbox_maker *m, phi__mcp_tool *item, bool *left_out) {
    const char *prefix = phi__mcp_session_desc(m->mcp)->name_prefix;
    phi_str original = item->shown.original;
    unsigned char hash[PHI__SHA256_BYTES];
    phi__tool_name name;
    phi_status status;
    phi__tool_name_begin(&name, prefix, original.at[0]);
    phi__tool_name_text(&name, original);
    phi__sha256_of(original, hash);
    status = phi__tool_name_claim(&m->names, &name, hash);
    *left_out = status == PHI_FULL;
    return status == PHI_OK &&
           phi__arena_str(&m->box->arena, phi__str(name.at, name.len), &item->shown.name);
}

static bool phi__mcp_toolbox_texts(phi__mcp_toolbox_maker *m, phi__mcp_tool *item,
                                   const phi_json *tool) {
    const phi_json *hints = phi_json_get(tool, "annotations");
    phi_str title = phi__json_text_of(phi_json_get(tool, "title"));
    phi_mcp_tool *shown = &item->shown;
    phi_str support = phi__json_text_of(phi_json_path(tool, "execution.taskSupport"));
    item->task = phi__str_is(support, "required");
    if (title.len == 0) title = phi__json_text_of(phi_json_get(hints, "title"));
    if (title.len == 0) title = shown->original;
    if (phi_json_is(hints, PHI_JSON_OBJECT)) {
        phi__mcp_toolbox_hints(shown, hints);
        if (!phi__mcp_toolbox_json(m, hints, &shown->annotations)) return false;
    } else
        phi__mcp_toolbox_hints(shown, NULL);
    if (!phi__mcp_toolbox_label(m, title, &shown->title)) return false;
    if (shown->title.len == 0) shown->title = shown->name; /* nothing of it can be seen */
    return phi__mcp_toolbox_text(m, phi__json_text_of(phi_json_get(tool, "description")),
                                 &shown->description);
}

/* Most schemas reach the model as they are: then both share one text. */
static bool phi__mcp_toolbox_input(phi__mcp_toolbox_maker *m, phi_mcp_tool *shown,
                                   const phi_json *in) {
    phi_arena_mark mark = phi_arena_save(&m->box->arena);
    if (phi_json_is(in, PHI_JSON_NULL)) return true;
    if (!phi__mcp_toolbox_json(m, in, &shown->input)) return false;
    if (!phi_str_equal(shown->input, shown->schema)) return true;
    phi_arena_reset(&m->box->arena, mark);
    shown->input = shown->schema;
    return true;
}

/* The schemas. False: the tool is left out, with a message unless m->no_memory. */
static bool phi__mcp_toolbox_schemas(phi__mcp_toolbox_maker *m, phi__mcp_tool *item,
                                     const phi_json *tool, char *message, size_t size) {
    const phi_json *in = phi_json_get(tool, "inputSchema");
    const phi_json *result = phi_json_get(tool, "outputSchema");
    phi_arena *arena = &m->box->arena;
    phi_status status = phi__mcp_schema_adapt(in, arena, &item->shown.schema, message, size);
    if (status == PHI_OK && !phi__mcp_toolbox_input(m, &item->shown, in)) status = PHI_NO_MEMORY;
    if (status == PHI_OK && m->marks && phi_json_is(in, PHI_JSON_OBJECT)) {
        if (!phi__mcp_headers_valid(in, message, size)) return false;
        item->marked = phi_json_copy(arena, in);
        if (item->marked == NULL) status = PHI_NO_MEMORY;
    }
    if (status == PHI_OK && m->structured && phi_json_is(result, PHI_JSON_OBJECT)) {
        if (!phi__mcp_toolbox_json(m, result, &item->shown.output)) status = PHI_NO_MEMORY;
        if (item->shown.output.len <= PHI__MCP_SCHEMA_BYTES && status == PHI_OK) {
            item->output = phi_json_copy(arena, result);
            if (item->output == NULL) status = PHI_NO_MEMORY;
        }
    }
    if (status == PHI_NO_MEMORY) m->no_memory = true;
    return status == PHI_OK;
}

static void phi__mcp_toolbox_fill(phi__mcp_toolbox_maker *m, phi__mcp_tool *item, phi_tool *tool) {
    const phi_mcp_desc *desc = phi__mcp_session_desc(m->mcp);
    *tool = *m->functions;
    tool->name = item->shown.name.at;
    tool->description =
        item->shown.description.len > 0 ? item->shown.description.at : "MCP tool (no description)";
    tool->schema = item->shown.schema.at;
    tool->label = item->shown.title.at;
    tool->user_data = item;
    tool->needs_approval = desc->needs_approval && !item->shown.read_only;
    tool->deferred = desc->deferred;
    tool->may_defer = !desc->never_deferred;
    tool->source = desc->name != NULL && desc->name[0] != '\0' ? desc->name : "mcp";
    tool->timeout_ms = PHI_UNLIMITED; /* the request has deadlines, and may wait for a person */
    tool->checks_arguments = true;    /* mcp_calls.c takes nulls that stand for nothing */
}

/* False: no memory. */
static bool phi__mcp_toolbox_add(phi__mcp_toolbox_maker *m, const phi__mcp_definition *from,
                                 phi_json *tool) {
    phi__mcp_toolbox *box = m->box;
    phi__mcp_tool *item = &box->items[box->count];
    unsigned char hash[PHI__SHA256_BYTES];
    bool left_out = false;
    char message[300];
    memset(item, 0, sizeof *item);
    item->mcp = m->mcp;
    item->shown.held = from->held;
    item->shown.input = item->shown.output = item->shown.annotations = phi__str("", 0);
    if (!phi__arena_str(&box->arena, from->original, &item->shown.original) ||
        !phi__arena_str(&box->arena, from->definition, &item->definition))
        return false;
    phi__mcp_toolbox_hash(from->definition, hash, item->hash);
    item->shown.hash = item->hash;
    if (!phi__mcp_toolbox_name(m, item, &left_out)) {
        if (left_out) m->warn(m->ctx, from->original, "its name is taken");
        return left_out;
    }
    if (!phi__mcp_toolbox_texts(m, item, tool)) return false;
    if (!phi__mcp_toolbox_schemas(m, item, tool, message, sizeof message)) {
        if (!m->no_memory) m->warn(m->ctx, from->original, message);
        return !m->no_memory;
    }
    phi__mcp_toolbox_fill(m, item, &box->tools[box->count++]);
    return true;
}

static bool phi__mcp_toolbox_each(phi__mcp_toolbox_maker *m, const phi__mcp_definition *from) {
    phi_arena scratch;
    phi_json *tool = NULL;
    bool fine;
    phi_arena_init(&scratch, m->box->arena.memory, 0);
    fine = phi_json_parse(&scratch, from->definition, 0, &tool, NULL) == PHI_OK &&
           phi__mcp_toolbox_add(m, from, tool);
    phi_arena_free(&scratch);
    return fine;
}

/* ---- the box ---- */

static bool phi__mcp_toolbox_count(phi__mcp_toolbox_maker *m, const phi__mcp_definition *from) {
    phi__tool_name name;
    phi__tool_name_begin(&name, phi__mcp_session_desc(m->mcp)->name_prefix, from->original.at[0]);
    phi__tool_name_text(&name, from->original);
    return phi__tool_name_count(&m->names, &name);
}

static bool phi__mcp_toolbox_make(phi__mcp_toolbox_maker *m, const phi__mcp_definition *from,
                                  size_t count) {
    phi__mcp_toolbox *box = m->box;
    size_t i;
    box->tools = (phi_tool *)phi__arena_zero(&box->arena, phi__mul(count + 1, sizeof *box->tools));
    box->items =
        (phi__mcp_tool *)phi__arena_zero(&box->arena, phi__mul(count + 1, sizeof *box->items));
    if (box->tools == NULL || box->items == NULL) return false;
    for (i = 0; i < count; i++)
        if (!phi__mcp_toolbox_count(m, &from[i])) return false;
    for (i = 0; i < count; i++)
        if (!phi__mcp_toolbox_each(m, &from[i])) return false;
    return true;
}

PHI__FN phi_status phi__mcp_toolbox_new(phi_mcp *mcp, const phi__mcp_definition *definitions,
                                        size_t count, bool marks, const phi_tool *functions,
                                        phi__mcp_toolbox_warn_fn warn, void *ctx,
                                        phi__mcp_toolbox **out) {
    phi_memory *memory = phi__mcp_session_memory(mcp);
    const char *version = phi__mcp_session_era(mcp);
    const phi__mcp_era *era = version != NULL ? phi__mcp_eras_find(phi_str_of(version)) : NULL;
    phi__mcp_toolbox_maker m;
    bool fine;
    memset(&m, 0, sizeof m);
    m.mcp = mcp;
    m.functions = functions;
    m.warn = warn;
    m.ctx = ctx;
    m.marks = marks;
    m.structured = era != NULL && era->structured;
    m.box = (phi__mcp_toolbox *)phi__alloc(memory, sizeof *m.box);
    if (m.box == NULL) return PHI_NO_MEMORY;
    m.box->users = 1;
    phi_arena_init(&m.box->arena, memory, 0);
    phi__tool_name_init(&m.names, memory);
    fine = phi__tool_name_reserve(&m.names, count) && phi__mcp_toolbox_make(&m, definitions, count);
    phi__tool_name_free(&m.names);
    if (fine)
        *out = m.box;
    else
        phi__mcp_toolbox_free(mcp, m.box);
    return fine ? PHI_OK : PHI_NO_MEMORY;
}

PHI__FN void phi__mcp_toolbox_free(phi_mcp *mcp, phi__mcp_toolbox *box) {
    phi_arena_free(&box->arena);
    phi__free(phi__mcp_session_memory(mcp), box, sizeof *box);
}
