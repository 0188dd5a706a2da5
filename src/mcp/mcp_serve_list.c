/* mcp_serve_list.c - what our server says about itself: its capabilities, and its lists, a page
   at a time. */
#include "mcp/mcp_serve_state_in.h"

#include "text/records_in.h"

/* ---- capabilities ---- */

static void phi__mcp_serve_list_capability(phi__buf *out, bool has, const char *name,
                                           const char *json) {
    if (has) phi__records_raw(out, name, json);
}

static void phi__mcp_serve_list_capabilities(const phi_mcp_server *server, phi__buf *out,
                                             const phi__mcp_era *era) {
    phi__records_raw(out, "capabilities", "{");
    phi__mcp_serve_list_capability(out, server->has_tools, "tools", "{\"listChanged\":true}");
    phi__mcp_serve_list_capability(out, server->has_resources, "resources",
                                   "{\"subscribe\":true,\"listChanged\":true}");
    phi__mcp_serve_list_capability(out, server->has_prompts, "prompts", "{\"listChanged\":true}");
    phi__mcp_serve_list_capability(out, server->desc.complete_fn != NULL && era->completions,
                                   "completions", "{}");
    phi__mcp_serve_list_capability(out, server->desc.tasks && era->result_type, "extensions",
                                   "{\"io.modelcontextprotocol/tasks\":{}}");
    phi__records_raw(out, "logging", "{}}");
}

static void phi__mcp_serve_list_instructions(const phi_mcp_server *server, phi__buf *out) {
    if (server->desc.instructions != NULL)
        phi__records_str(out, "instructions", phi_str_of(server->desc.instructions));
}

PHI__FN void phi__mcp_serve_list_initialized(phi_mcp_server *server, phi__mcp_origin *origin) {
    phi__buf out;
    phi__mcp_serve_send_open(server, origin, &out);
    phi__records_str(&out, "protocolVersion", phi_str_of(origin->era->version));
    phi__mcp_serve_list_capabilities(server, &out, origin->era);
    phi__records_raw(&out, "serverInfo", "");
    phi__mcp_serve_send_server_info(server, &out, origin->era);
    phi__mcp_serve_list_instructions(server, &out);
    phi__mcp_serve_send_close(server, origin, &out);
}

PHI__FN void phi__mcp_serve_list_versions(const phi_mcp_server *server, phi__buf *out) {
    size_t i;
    phi__buf_char(out, '[');
    for (i = 0; i < PHI__MCP_ERAS; i++) {
        const phi__mcp_era *era = phi__mcp_eras_at(i);
        if (server->only != NULL && server->only != era) continue;
        phi__json_write_comma(out);
        phi__json_write_str(out, phi_str_of(era->version));
    }
    phi__buf_char(out, ']');
}

PHI__FN void phi__mcp_serve_list_discover(phi_mcp_server *server, phi__mcp_origin *origin,
                                          phi__mcp_client *client, const phi_json *params) {
    phi__buf out;
    (void)client;
    (void)params;
    phi__mcp_serve_send_open(server, origin, &out);
    phi__mcp_serve_send_complete(server, origin, &out);
    phi__records_raw(&out, "supportedVersions", "");
    phi__mcp_serve_list_versions(server, &out);
    phi__mcp_serve_list_capabilities(server, &out, origin->era);
    phi__mcp_serve_list_instructions(server, &out);
    phi__mcp_serve_send_cache(server, origin, &out);
    phi__mcp_serve_send_close(server, origin, &out);
}

/* ---- items ---- */

static void phi__mcp_serve_list_some(phi__buf *out, const char *key, const char *text) {
    if (text != NULL) phi__records_str(out, key, phi_str_of(text));
}

static void phi__mcp_serve_list_json(phi__buf *out, const char *key, const char *json) {
    if (json == NULL) return;
    phi__records_raw(out, key, "");
    phi__mcp_rpc_line(out, phi_str_of(json));
}

/* The protocol wants "type":"object" in each schema of arguments. */
static void phi__mcp_serve_list_schema(phi__buf *out, const char *schema) {
    phi_str text = phi__str_trim(phi_str_of(schema));
    phi__json_found type;
    phi__records_raw(out, "inputSchema", "");
    if (text.len == 0) {
        phi__buf_text(out, "{\"type\":\"object\"}");
        return;
    }
    if (phi__json_cursor_find(text, "type", &type) == PHI_OK) {
        phi__mcp_rpc_line(out, text);
        return;
    }
    phi__buf_text(out, "{\"type\":\"object\"");
    text = phi__str_trim(phi__str(text.at + 1, text.len - 1));
    if (text.at[0] != '}') phi__buf_char(out, ',');
    phi__mcp_rpc_line(out, text);
}

static void phi__mcp_serve_list_tool(const phi_mcp_server *server, const phi__mcp_era *era,
                                     size_t i, phi__buf *out) {
    const phi_tool *tool = &server->desc.tools[i];
    const phi_mcp_serve_tool *info =
        server->desc.tool_infos != NULL ? &server->desc.tool_infos[i] : NULL;
    const char *title = info != NULL && info->title != NULL ? info->title : tool->label;
    phi__records_str(out, "name", phi_str_of(tool->name));
    if (era->titles) phi__mcp_serve_list_some(out, "title", title);
    phi__mcp_serve_list_some(out, "description", tool->description);
    phi__mcp_serve_list_schema(out, tool->schema);
    if (info == NULL) return;
    if (era->structured) phi__mcp_serve_list_json(out, "outputSchema", info->output_schema);
    if (era->annotations) phi__mcp_serve_list_json(out, "annotations", info->annotations);
}

static void phi__mcp_serve_list_resource(const phi_mcp_server *server, const phi__mcp_era *era,
                                         size_t i, phi__buf *out) {
    const phi_mcp_serve_resource *item = &server->desc.resources[i];
    phi__records_str(out, "uri", phi_str_of(item->uri));
    phi__records_str(out, "name", phi_str_of(item->name != NULL ? item->name : item->uri));
    if (era->titles) phi__mcp_serve_list_some(out, "title", item->title);
    phi__mcp_serve_list_some(out, "description", item->description);
    phi__mcp_serve_list_some(out, "mimeType", item->mime_type);
    phi__mcp_serve_list_json(out, "annotations", item->annotations);
}

static void phi__mcp_serve_list_template(const phi_mcp_server *server, const phi__mcp_era *era,
                                         size_t i, phi__buf *out) {
    const phi_mcp_serve_template *item = &server->desc.templates[i];
    phi__records_str(out, "uriTemplate", phi_str_of(item->uri));
    phi__records_str(out, "name", phi_str_of(item->name != NULL ? item->name : item->uri));
    if (era->titles) phi__mcp_serve_list_some(out, "title", item->title);
    phi__mcp_serve_list_some(out, "description", item->description);
    phi__mcp_serve_list_some(out, "mimeType", item->mime_type);
    phi__mcp_serve_list_json(out, "annotations", item->annotations);
}

static void phi__mcp_serve_list_prompt(const phi_mcp_server *server, const phi__mcp_era *era,
                                       size_t i, phi__buf *out) {
    const phi_mcp_serve_prompt *item = &server->desc.prompts[i];
    bool titles = era->titles;
    size_t j;
    phi__records_str(out, "name", phi_str_of(item->name));
    if (titles) phi__mcp_serve_list_some(out, "title", item->title);
    phi__mcp_serve_list_some(out, "description", item->description);
    if (item->argument_count == 0) return;
    phi__records_raw(out, "arguments", "[");
    for (j = 0; j < item->argument_count; j++) {
        const phi_mcp_serve_argument *argument = &item->arguments[j];
        phi__json_write_comma(out);
        phi__buf_char(out, '{');
        phi__records_str(out, "name", phi_str_of(argument->name));
        if (titles) phi__mcp_serve_list_some(out, "title", argument->title);
        phi__mcp_serve_list_some(out, "description", argument->description);
        phi__records_bool(out, "required", argument->required);
        phi__buf_char(out, '}');
    }
    phi__buf_char(out, ']');
}

/* ---- pages ---- */

typedef void (*phi__mcp_serve_list_fn)(const phi_mcp_server *server, const phi__mcp_era *era,
                                       size_t i, phi__buf *out);

/* A cursor is the number of the first item. */
static bool phi__mcp_serve_list_cursor(const phi_json *params, size_t count, size_t *from) {
    const phi_json *cursor = phi_json_get(params, "cursor");
    uint64_t n = 0;
    *from = 0;
    if (cursor == NULL) return true;
    if (!phi__str_to_u64(phi_json_str(cursor, NULL), &n) || n > count) return false;
    *from = (size_t)n;
    return true;
}

static void phi__mcp_serve_list_page(phi_mcp_server *server, phi__mcp_origin *origin,
                                     const phi_json *params, const char *key, size_t count,
                                     phi__mcp_serve_list_fn item) {
    phi__buf out;
    size_t i, to;
    if (!phi__mcp_serve_list_cursor(params, count, &i)) {
        phi__mcp_serve_send_error(server, origin, PHI__MCP_RPC_BAD_PARAMS, 200,
                                  PHI__LIT("params.cursor: not one of this list"), NULL);
        return;
    }
    to = count - i > server->desc.page ? i + server->desc.page : count;
    phi__mcp_serve_send_open(server, origin, &out);
    phi__mcp_serve_send_complete(server, origin, &out);
    phi__records_raw(&out, key, "[");
    for (; i < to; i++) {
        phi__json_write_comma(&out);
        phi__buf_char(&out, '{');
        item(server, origin->era, i, &out);
        phi__buf_char(&out, '}');
    }
    phi__buf_char(&out, ']');
    if (to < count) {
        phi__records_raw(&out, "nextCursor", "\"");
        phi__buf_u64(&out, to);
        phi__buf_char(&out, '"');
    }
    phi__mcp_serve_send_cache(server, origin, &out);
    phi__mcp_serve_send_close(server, origin, &out);
}

PHI__FN void phi__mcp_serve_list_tools(phi_mcp_server *server, phi__mcp_origin *origin,
                                       phi__mcp_client *client, const phi_json *params) {
    (void)client;
    phi__mcp_serve_list_page(server, origin, params, "tools", server->desc.tool_count,
                             phi__mcp_serve_list_tool);
}

PHI__FN void phi__mcp_serve_list_resources(phi_mcp_server *server, phi__mcp_origin *origin,
                                           phi__mcp_client *client, const phi_json *params) {
    (void)client;
    phi__mcp_serve_list_page(server, origin, params, "resources", server->desc.resource_count,
                             phi__mcp_serve_list_resource);
}

PHI__FN void phi__mcp_serve_list_templates(phi_mcp_server *server, phi__mcp_origin *origin,
                                           phi__mcp_client *client, const phi_json *params) {
    (void)client;
    phi__mcp_serve_list_page(server, origin, params, "resourceTemplates",
                             server->desc.template_count, phi__mcp_serve_list_template);
}

PHI__FN void phi__mcp_serve_list_prompts(phi_mcp_server *server, phi__mcp_origin *origin,
                                         phi__mcp_client *client, const phi_json *params) {
    (void)client;
    phi__mcp_serve_list_page(server, origin, params, "prompts", server->desc.prompt_count,
                             phi__mcp_serve_list_prompt);
}
