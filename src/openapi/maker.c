/* maker.c - one operation, and its tool. */
#include "openapi/maker_in.h"

#include "base/utf8_in.h"
#include "openapi/openapi_call_in.h"
#include "openapi/parameters_in.h"
#include "openapi/request_body_in.h"
#include "openapi/security_in.h"

#include <stdio.h>

enum {
    PHI__MAKER_DESCRIPTION = 16384, /* bytes of a tool's description: a $ref may repeat it */
    PHI__MAKER_LABEL = 120
};

/* ---- the schema ---- */

/* A content parameter's schema is that of its content. */
static const phi_json *phi__maker_schema_of(const phi_json *parameter) {
    const phi_json *schema = phi_json_get(parameter, "schema");
    phi_json_iter it = phi_json_each(phi_json_get(parameter, "content"));
    if (schema != NULL || !phi_json_is(phi_json_get(parameter, "content"), PHI_JSON_OBJECT))
        return schema;
    return phi_json_next(&it) != NULL ? phi_json_get(it.at, "schema") : NULL;
}

static void phi__maker_put_parameter(phi__making *m, size_t index) {
    const phi_json *given = m->given[index], *schema = phi__maker_schema_of(given);
    phi__tool_schema *s = &m->schema;
    phi__json_write_key(&s->out, m->op->parameters[index].argument);
    if (schema == NULL && m->op->parameters[index].content_type.len == 0)
        phi__buf_text(&s->out, "{\"type\":\"string\"}");
    else
        phi__tool_schema_put(s, schema, phi__json_text_of(phi_json_get(given, "description")));
}

static void phi__maker_put_body(phi__making *m) {
    const phi__operation_body *body = &m->op->body;
    phi__tool_schema *s = &m->schema;
    phi__json_write_key(&s->out, body->argument);
    s->files = body->kind == PHI__BODY_MULTIPART;
    if (body->kind == PHI__BODY_JSON || body->kind == PHI__BODY_FORM ||
        body->kind == PHI__BODY_MULTIPART) {
        phi__tool_schema_put(s, m->body_schema, m->body_note);
        return;
    }
    if (body->kind == PHI__BODY_TEXT) {
        phi__buf_text(&s->out, "{\"type\":\"string\"}");
        return;
    }
    phi__tool_schema_put_file(s, NULL, m->body_note);
}

static void phi__maker_put_required(phi__making *m) {
    phi__buf *out = &m->schema.out;
    bool any = m->op->body.kind != PHI__BODY_NONE && m->op->body.required;
    size_t i;
    for (i = 0; i < m->op->parameter_count; i++) any = any || m->op->parameters[i].required;
    if (!any) return;
    phi__json_write_key(out, PHI__LIT("required"));
    phi__buf_char(out, '[');
    for (i = 0; i < m->op->parameter_count; i++) {
        if (!m->op->parameters[i].required) continue;
        phi__json_write_comma(out);
        phi__json_write_str(out, m->op->parameters[i].argument);
    }
    if (m->op->body.kind != PHI__BODY_NONE && m->op->body.required) {
        phi__json_write_comma(out);
        phi__json_write_str(out, m->op->body.argument);
    }
    phi__buf_char(out, ']');
}

static bool phi__maker_put_schema(phi__making *m) {
    phi__tool_schema *s = &m->schema;
    size_t i;
    do {
        phi__buf_text(&s->out, "{\"type\":\"object\",\"properties\":{");
        for (i = 0; i < m->op->parameter_count && !s->failed; i++) phi__maker_put_parameter(m, i);
        if (m->op->body.kind != PHI__BODY_NONE && !s->failed) phi__maker_put_body(m);
        phi__buf_char(&s->out, '}');
        phi__maker_put_required(m);
        phi__tool_schema_put_defs(s);
        phi__buf_char(&s->out, '}');
    } while (phi__tool_schema_again(s));
    if (s->out.failed) m->view.no_memory = true;
    return s->failed || m->view.no_memory ? phi__making_lost(m, "schema") : true;
}

/* ---- the tool ---- */

static bool phi__maker_describe(phi__making *m, phi_tool *tool) {
    static const char *const keys[] = {"description", "summary"};
    phi_str text = {NULL, 0}, label = phi__json_text_of(phi_json_get(m->node, "summary")), kept;
    const char *before = m->source->shown.deprecated ? "(deprecated) " : "", *after = "";
    size_t i, size;
    char *words;
    for (i = 0; i < 2 && text.len == 0; i++)
        text = phi__str_trim(phi__json_text_of(phi_json_get(m->node, keys[i])));
    if (text.len == 0) text = m->op->path;
    if (label.len == 0) label = m->source->shown.operation_id;
    if (label.len == 0) label = m->op->name;
    if (text.len > PHI__MAKER_DESCRIPTION) {
        text.len = phi__utf8_cut(text, PHI__MAKER_DESCRIPTION);
        after = "...";
    }
    size = strlen(before) + text.len + strlen(after) + 1;
    words = (char *)phi__making_zero(m, size, 1);
    if (words == NULL) return false;
    (void)snprintf(words, size, "%s%.*s%s", before, (int)text.len, text.at, after);
    tool->description = words;
    if (!phi__making_str(m, phi__tool_schema_cut(label, PHI__MAKER_LABEL), &kept)) return false;
    tool->label = kept.at;
    return true;
}

static bool phi__maker_tool(phi__making *m, phi_tool *tool) {
    const phi_openapi_desc *desc = &m->api->desc;
    phi_str schema;
    memset(tool, 0, sizeof *tool);
    if (!phi__maker_describe(m, tool) || !phi__making_str(m, phi__buf_str(&m->schema.out), &schema))
        return false;
    tool->name = m->op->name.at;
    tool->schema = schema.at;
    tool->user_data = m->op;
    tool->timeout_ms = PHI_UNLIMITED; /* the request has the deadline */
    tool->needs_approval = (desc->needs_approval && !m->op->read_only) ||
                           (desc->destructive_needs_approval && m->op->destructive);
    tool->deferred = desc->deferred;
    tool->may_defer = !desc->never_deferred;
    tool->source = "openapi";
    phi__openapi_call_fill(tool);
    return true;
}

static bool phi__maker_find(phi__making *m) {
    char method[16];
    size_t i;
    phi__document_part *root =
        phi__document_find(m->view.doc, PHI__SECTION_ROOT, phi__str(NULL, 0));
    m->item = phi__document_tree(&m->view, m->source->item);
    if (root != NULL) m->root = phi__document_tree(&m->view, root);
    if (m->view.no_memory) return phi__making_lost(m, "document");
    for (i = 0; i < m->source->shown.method.len && i + 1 < sizeof method; i++)
        method[i] = (char)(m->source->shown.method.at[i] | 0x20);
    method[i] = '\0';
    m->node = phi_json_get(m->item, method);
    if (m->node == NULL) return phi__making_skip(m, "operation", "it is not in its path item");
    m->op->api = m->api;
    m->op->index = (size_t)(m->source - m->api->document->operations);
    m->op->read_only = m->source->shown.read_only;
    m->op->destructive = m->source->shown.destructive;
    m->op->name = m->source->shown.name; /* the index outlives the selection */
    m->op->method = m->source->shown.method;
    m->op->path = m->source->shown.path;
    return true;
}

static bool phi__maker_all(phi__making *m, phi_tool *tool) {
    return phi__maker_find(m) && phi__parameters_make(m) && phi__request_body_make(m) &&
           phi__security_make(m) && phi__security_server(m) && phi__maker_put_schema(m) &&
           phi__maker_tool(m, tool);
}

PHI__FN bool phi__maker_make(phi_openapi *api, size_t index, phi_arena *arena, phi_tool *tool,
                             const char **skip, size_t *units) {
    phi__document *doc = api->document;
    phi_arena_mark mark = phi_arena_save(arena);
    phi__making m;
    phi_str text = {NULL, 0};
    bool made;
    memset(&m, 0, sizeof m);
    m.api = api;
    m.source = &doc->operations[index];
    m.arena = arena;
    *skip = m.source->skip;
    if (*skip != NULL) return true;
    phi_arena_init(&m.scratch, doc->memory, 4096);
    m.view.doc = doc;
    m.view.arena = &m.scratch;
    phi__tool_schema_init(&m.schema, &m.view, api->desc.max_schema_bytes);
    m.op = (phi__operation *)phi__making_zero(&m, 1, sizeof *m.op);
    made = m.op != NULL && phi__maker_all(&m, tool);
    *units += m.view.units + m.schema.out.len;
    phi__tool_schema_free(&m.schema);
    phi_arena_free(&m.scratch);
    if (made) return true;
    phi_arena_reset(arena, mark);
    if (m.no_memory || !phi__arena_str(arena, phi_str_of(m.message), &text)) return false;
    *skip = text.at;
    return true;
}
