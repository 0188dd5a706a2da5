/* mcp_server.c - the public functions that make, change and free a server. */
#include "mcp/mcp_serve_state_in.h"

enum { PHI__MCP_MESSAGE = 4194304, PHI__QUEUE = 16777216 }; /* defaults, in bytes */

static const phi__mcp_standard phi__server_standards[] = {
    {offsetof(phi_mcp_server_desc, tool_timeout_ms), 120000},
    {offsetof(phi_mcp_server_desc, decision_timeout_ms), 300000},
    {offsetof(phi_mcp_server_desc, ask_timeout_ms), 600000},
    {offsetof(phi_mcp_server_desc, task_ttl_ms), 600000},
    {offsetof(phi_mcp_server_desc, page), 100},
    {offsetof(phi_mcp_server_desc, max_sessions), 16},
    {offsetof(phi_mcp_server_desc, max_calls), 64},
    {offsetof(phi_mcp_server_desc, max_subscriptions), 64},
    {offsetof(phi_mcp_server_desc, session_idle_ms), 1800000},
    {offsetof(phi_mcp_server_desc, max_connections), 64},
    {offsetof(phi_mcp_server_desc, close_ms), 2000}};

/* ---- checks of a desc ---- */

static phi_status phi__server_json(phi_runtime *rt, const char *what, const char *name,
                                   const char *json) {
    phi_json *root = NULL;
    if (json == NULL) return PHI_OK;
    phi_arena arena = phi__arena_of(&rt->memory, 0);
    phi_status status = phi_json_parse(&arena, phi_str_of(json), PHI_JSON_BORROW, &root, NULL);
    bool good = status == PHI_OK && phi_json_is(root, PHI_JSON_OBJECT);
    phi_arena_free(&arena);
    if (good) return PHI_OK;
    return phi__error(rt, status == PHI_NO_MEMORY ? status : PHI_BAD_ARG,
                      "%s of \"%s\": expected a JSON object", what, name);
}

static phi_status phi__server_name(phi_runtime *rt, const char *what, const char *name) {
    if (name != NULL && name[0] != '\0' && strlen(name) <= PHI__NAME_BYTES) return PHI_OK;
    return phi__error(rt, PHI_BAD_ARG, "%s: expected 1 to %d bytes", what, PHI__NAME_BYTES);
}

/* Checks the tools of desc before a client calls one. own: the server's desc. */
static phi_status phi__server_tools(phi_runtime *rt, const phi_mcp_server_desc *own,
                                    const phi_mcp_server_desc *desc) {
    phi_status status = PHI_OK;
    phi__tool_rules rules;
    rules.codec = NULL;
    rules.can_approve =
        own->hook_fn != NULL && (own->hook_points & (uint32_t)PHI_HOOK_BEFORE_TOOL) != 0;
    if (desc->tool_count > 0 && desc->tools == NULL)
        return phi__error(rt, PHI_BAD_ARG, "tools: missing");
    for (size_t i = 0; i < desc->tool_count && status == PHI_OK; i++) {
        const phi_mcp_serve_tool *info = desc->tool_infos != NULL ? &desc->tool_infos[i] : NULL;
        const char *name = desc->tools[i].name;
        status = phi__server_name(rt, "tools: name", name);
        for (size_t j = 0; j < i && status == PHI_OK; j++)
            if (strcmp(desc->tools[j].name, name) == 0)
                status = phi__error(rt, PHI_BAD_ARG, "tool \"%s\": there are two", name);
        if (status == PHI_OK) status = phi__tool_check_one(rt, &rules, &desc->tools[i]);
        if (status != PHI_OK || info == NULL) continue;
        if (!own->tasks && (info->task || (info->needs & (uint32_t)PHI_MCP_CAN_TASKS) != 0))
            return phi__error(rt, PHI_BAD_ARG,
                              "tool \"%s\": it wants tasks, which phi_mcp_server_desc.tasks does "
                              "not offer",
                              name);
        status = phi__server_json(rt, "output_schema", name, info->output_schema);
        if (status == PHI_OK) status = phi__server_json(rt, "annotations", name, info->annotations);
    }
    return status;
}

static phi_status phi__server_resources(phi_runtime *rt, const phi_mcp_server_desc *desc) {
    phi_status status = PHI_OK;
    if ((desc->resource_count > 0 && desc->resources == NULL) ||
        (desc->template_count > 0 && desc->templates == NULL))
        return phi__error(rt, PHI_BAD_ARG, "resources, templates: missing");
    for (size_t i = 0; i < desc->resource_count && status == PHI_OK; i++) {
        const phi_mcp_serve_resource *one = &desc->resources[i];
        status = phi__server_name(rt, "resources: uri", one->uri);
        if (status == PHI_OK && one->text == NULL && one->bytes == NULL && one->read == NULL)
            status = phi__error(rt, PHI_BAD_ARG, "resource \"%s\": expected text, bytes or read",
                                one->uri);
        if (status == PHI_OK)
            status = phi__server_json(rt, "annotations", one->uri, one->annotations);
    }
    for (size_t i = 0; i < desc->template_count && status == PHI_OK; i++) {
        const phi_mcp_serve_template *one = &desc->templates[i];
        status = phi__server_name(rt, "templates: uri", one->uri);
        if (status == PHI_OK && one->read == NULL)
            status = phi__error(rt, PHI_BAD_ARG, "template \"%s\": read is missing", one->uri);
        if (status == PHI_OK)
            status = phi__server_json(rt, "annotations", one->uri, one->annotations);
    }
    return status;
}

static phi_status phi__server_prompts(phi_runtime *rt, const phi_mcp_server_desc *desc) {
    phi_status status = PHI_OK;
    if (desc->prompt_count > 0 && desc->prompts == NULL)
        return phi__error(rt, PHI_BAD_ARG, "prompts: missing");
    for (size_t i = 0; i < desc->prompt_count && status == PHI_OK; i++) {
        const phi_mcp_serve_prompt *one = &desc->prompts[i];
        status = phi__server_name(rt, "prompts: name", one->name);
        if (status == PHI_OK && one->text == NULL && one->get == NULL)
            status = phi__error(rt, PHI_BAD_ARG, "prompt \"%s\": expected text or get", one->name);
        for (size_t j = 0; j < one->argument_count && status == PHI_OK; j++)
            status = phi__server_name(rt, "prompts: an argument's name", one->arguments[j].name);
    }
    return status;
}

/* Checks the lists of desc that the bits `lists` name. */
static phi_status phi__server_lists(phi_runtime *rt, const phi_mcp_server_desc *own,
                                    const phi_mcp_server_desc *desc, uint32_t lists) {
    phi_status status = PHI_OK;
    if ((lists & PHI_MCP_SERVE_TOOLS) != 0) status = phi__server_tools(rt, own, desc);
    if (status == PHI_OK && (lists & PHI_MCP_SERVE_RESOURCES) != 0)
        status = phi__server_resources(rt, desc);
    if (status == PHI_OK && (lists & PHI_MCP_SERVE_PROMPTS) != 0)
        status = phi__server_prompts(rt, desc);
    return status;
}

static phi_status phi__server_check(phi_runtime *rt, const phi_mcp_server_desc *desc) {
    phi_status status = phi__server_name(rt, "phi_mcp_serve: name", desc->name);
    if (status != PHI_OK) return status;
    if (desc->era != NULL && phi__eras_find(phi_str_of(desc->era)) == NULL)
        return phi__error(rt, PHI_BAD_ARG,
                          "phi_mcp_serve: era \"%s\": expected 2026-07-28, 2025-11-25, "
                          "2025-06-18, 2025-03-26 or 2024-11-05",
                          desc->era);
    if (desc->stdio == desc->http)
        return phi__error(rt, PHI_BAD_ARG, "phi_mcp_serve: expected either stdio or http");
    if ((desc->hook_fn == NULL) != (desc->hook_points == 0))
        return phi__error(rt, PHI_BAD_ARG, "phi_mcp_serve: expected hook_fn and hook_points");
    return phi__server_lists(rt, desc, desc, UINT32_MAX);
}

static void phi__server_free(phi_mcp_server *server) {
    phi_runtime *rt = server->rt;
    phi__slots_free(&server->slots);
    memset(server->key, 0, sizeof server->key);
    phi__free(&rt->memory, server, sizeof *server);
}

static phi_status phi__server_open(phi_mcp_server *server) {
    phi_status status = PHI_UNSUPPORTED;
    if (server->desc.stdio) {
#ifndef PHI_NO_PROCESS
        phi__serve_stdio *stdio = NULL;
        status = phi__sio_new(server, &stdio);
        server->stdio = stdio;
#else
        (void)phi__error(server->rt, status, "phi_mcp_serve: stdio: built with PHI_NO_PROCESS");
#endif
    } else {
#ifndef PHI_NO_LISTEN
        phi__serve_http *http = NULL;
        status = phi__web_new(server, &http);
        server->http = http;
#else
        (void)phi__error(server->rt, status, "phi_mcp_serve: http: built with PHI_NO_LISTEN");
#endif
    }
    return status;
}

/* ---- public ---- */

PHI_API phi_mcp_server *phi_mcp_serve(phi_runtime *rt, const phi_mcp_server_desc *desc) {
    if (rt == NULL || desc == NULL || phi__server_check(rt, desc) != PHI_OK) return NULL;
    phi_mcp_server *server = (phi_mcp_server *)phi__alloc(&rt->memory, sizeof *server);
    if (server == NULL) {
        (void)phi__error(rt, PHI_NO_MEMORY, "phi_mcp_serve: out of memory");
        return NULL;
    }
    phi_mcp_server_desc *own = &server->desc;
    server->rt = rt;
    *own = *desc;
    if (desc->era != NULL) server->only = phi__eras_find(phi_str_of(desc->era));
    server->free_fn = phi__server_free;
    server->has[PHI__MCP_LIST_TOOLS] = desc->tools != NULL;
    server->has[PHI__MCP_LIST_RESOURCES] = desc->resources != NULL || desc->templates != NULL;
    server->has[PHI__MCP_LIST_PROMPTS] = desc->prompts != NULL;
    if (own->version == NULL) own->version = "0";
    if (own->address == NULL) own->address = "127.0.0.1";
    if (own->path == NULL) own->path = "/mcp";
    phi__mcp_standards(own, phi__server_standards, PHI__COUNT(phi__server_standards));
    if (own->max_message_bytes == 0) own->max_message_bytes = PHI__MCP_MESSAGE;
    if (own->max_queue_bytes == 0) own->max_queue_bytes = PHI__QUEUE;
    phi__client_secret(server, server->key, sizeof server->key);
    phi__slots_init(&server->slots, &rt->memory);
    if (phi__server_open(server) == PHI_OK) return server;
    phi_mcp_server_free(server);
    return NULL;
}

PHI_API phi_mcp_server_info phi_mcp_server_get_info(const phi_mcp_server *server) {
    phi_mcp_server_info info = PHI_ZERO;
    info.message = server != NULL ? server->fault : "";
    info.ended = server == NULL || server->ended;
#ifndef PHI_NO_PROCESS
    if (info.ended && server != NULL && server->stdio != NULL)
        info.ended = phi__sio_sent((const phi__serve_stdio *)server->stdio);
#endif
#ifndef PHI_NO_LISTEN
    if (server != NULL && server->http != NULL)
        info.port = phi__web_port((const phi__serve_http *)server->http);
#endif
    return info;
}

PHI_API void phi_mcp_server_free(phi_mcp_server *server) {
    if (server == NULL || server->retired) return;
    server->depth++;
    server->retired = true;
    phi__long_end_all(server);
    while (server->serving.first != NULL) {
        phi__serving *serving = PHI__OWNER(server->serving.first, phi__serving, link);
        phi__sv_drop(serving, false);
    }
    while (server->clients.first != NULL)
        phi__client_end(PHI__OWNER(server->clients.first, phi__client, link));
#ifndef PHI_NO_PROCESS
    phi__sio_free((phi__serve_stdio *)server->stdio);
#endif
#ifndef PHI_NO_LISTEN
    phi__web_free((phi__serve_http *)server->http);
#endif
    server->stdio = server->http = NULL;
    (void)phi__sask_leave(server);
}

PHI_API phi_status phi_mcp_server_set(phi_mcp_server *server, const phi_mcp_server_desc *desc,
                                      uint32_t lists) {
    phi_str none = phi__str(NULL, 0);
    if (server == NULL || desc == NULL) return PHI_BAD_ARG;
    phi_status status = phi__server_lists(server->rt, &server->desc, desc, lists);
    if (status != PHI_OK) return status;
    if ((lists & PHI_MCP_SERVE_TOOLS) != 0) {
        server->desc.tools = desc->tools;
        server->desc.tool_infos = desc->tool_infos;
        server->desc.tool_count = desc->tool_count;
        phi__notify_changed(server, PHI__MCP_LIST_TOOLS, none);
    }
    if ((lists & PHI_MCP_SERVE_RESOURCES) != 0) {
        server->desc.resources = desc->resources;
        server->desc.resource_count = desc->resource_count;
        server->desc.templates = desc->templates;
        server->desc.template_count = desc->template_count;
        phi__notify_changed(server, PHI__MCP_LIST_RESOURCES, none);
    }
    if ((lists & PHI_MCP_SERVE_PROMPTS) != 0) {
        server->desc.prompts = desc->prompts;
        server->desc.prompt_count = desc->prompt_count;
        phi__notify_changed(server, PHI__MCP_LIST_PROMPTS, none);
    }
    return PHI_OK;
}

PHI_API void phi_mcp_server_updated(phi_mcp_server *server, const char *uri) {
    if (server != NULL && uri != NULL)
        phi__notify_changed(server, PHI__MCP_LIST_RESOURCES, phi_str_of(uri));
}

PHI_API phi_status phi_mcp_server_log(phi_mcp_server *server, const phi_mcp_incoming *incoming,
                                      const char *level, const char *logger, const char *data) {
    int severity = level != NULL ? phi__level_of(phi_str_of(level)) : -1;
    if (server == NULL || severity < 0 || (incoming != NULL && incoming->server != server))
        return PHI_BAD_ARG;
    if (incoming == NULL) {
        phi__notify_log(server, level, logger, data);
        return PHI_OK;
    }
    const phi__serving *serving = phi__sv_find(*incoming);
    if (serving == NULL) return PHI_STALE;
    phi__mcp_way *way = phi__sv_stream(serving);
    if (severity < serving->log_level || way == NULL) return PHI_OK;
    return phi__sv_log(server, way, level, logger, data);
}
