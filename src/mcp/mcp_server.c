/* mcp_server.c - our server as the host has it: made, changed, freed. */
#include "mcp/mcp_serve_state_in.h"

enum {
    PHI__MCP_TOOL_MS = 120000, /* the defaults of phi_mcp_server_desc */
    PHI__MCP_DECISION_MS = 300000,
    PHI__MCP_ASK_MS = 600000,
    PHI__TASKED_MS = 600000,
    PHI__PAGE = 100,
    PHI__MCP_SESSIONS = 16,
    PHI__CALLS = 64,
    PHI__SUBSCRIPTIONS = 64,
    PHI__IDLE_MS = 1800000,
    PHI__MCP_MESSAGE = 4194304,
    PHI__QUEUE = 16777216,
    PHI__CONNECTIONS = 64,
    PHI__CLOSE_MS = 2000
};

/* ---- checks ---- */

static phi_status phi__server_json(phi_runtime *rt, const char *what, const char *name,
                                   const char *json) {
    phi_json *root = NULL;
    phi_arena arena;
    if (json == NULL) return PHI_OK;
    phi_arena_init(&arena, &rt->memory, 0);
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

/* A fault of a tool is found here, and not by the first client that calls it. */
static phi_status phi__server_tools(phi_runtime *rt, const phi_mcp_server_desc *desc,
                                    const phi_tool *tools, const phi_mcp_serve_tool *infos,
                                    size_t count) {
    phi_status status = PHI_OK;
    phi__tool_rules rules;
    size_t j;
    rules.codec = NULL;
    rules.can_approve =
        desc->hook_fn != NULL && (desc->hook_points & (uint32_t)PHI_HOOK_BEFORE_TOOL) != 0;
    if (count > 0 && tools == NULL) return phi__error(rt, PHI_BAD_ARG, "tools: missing");
    for (size_t i = 0; i < count && status == PHI_OK; i++) {
        const char *name = tools[i].name;
        status = phi__server_name(rt, "tools: name", name);
        for (j = 0; j < i && status == PHI_OK; j++)
            if (strcmp(tools[j].name, name) == 0)
                status = phi__error(rt, PHI_BAD_ARG, "tool \"%s\": there are two", name);
        if (status == PHI_OK) status = phi__tool_check_one(rt, &rules, &tools[i]);
        if (status != PHI_OK || infos == NULL) continue;
        if (!desc->tasks && (infos[i].task || (infos[i].needs & (uint32_t)PHI_MCP_CAN_TASKS) != 0))
            status = phi__error(rt, PHI_BAD_ARG,
                                "tool \"%s\": it wants tasks, which phi_mcp_server_desc.tasks "
                                "does not offer",
                                name);
        if (status != PHI_OK) continue;
        status = phi__server_json(rt, "output_schema", name, infos[i].output_schema);
        if (status == PHI_OK)
            status = phi__server_json(rt, "annotations", name, infos[i].annotations);
    }
    return status;
}

static phi_status phi__server_resources(phi_runtime *rt, const phi_mcp_serve_resource *resources,
                                        size_t count, const phi_mcp_serve_template *templates,
                                        size_t template_count) {
    phi_status status = PHI_OK;
    if ((count > 0 && resources == NULL) || (template_count > 0 && templates == NULL))
        return phi__error(rt, PHI_BAD_ARG, "resources, templates: missing");
    for (size_t i = 0; i < count && status == PHI_OK; i++) {
        const phi_mcp_serve_resource *one = &resources[i];
        status = phi__server_name(rt, "resources: uri", one->uri);
        if (status == PHI_OK && one->text == NULL && one->bytes == NULL && one->read == NULL)
            status = phi__error(rt, PHI_BAD_ARG, "resource \"%s\": expected text, bytes or read",
                                one->uri);
        if (status == PHI_OK)
            status = phi__server_json(rt, "annotations", one->uri, one->annotations);
    }
    for (size_t i = 0; i < template_count && status == PHI_OK; i++) {
        status = phi__server_name(rt, "templates: uri", templates[i].uri);
        if (status == PHI_OK && templates[i].read == NULL)
            status =
                phi__error(rt, PHI_BAD_ARG, "template \"%s\": read is missing", templates[i].uri);
        if (status == PHI_OK)
            status =
                phi__server_json(rt, "annotations", templates[i].uri, templates[i].annotations);
    }
    return status;
}

static phi_status phi__server_prompts(phi_runtime *rt, const phi_mcp_serve_prompt *prompts,
                                      size_t count) {
    phi_status status = PHI_OK;
    size_t j;
    if (count > 0 && prompts == NULL) return phi__error(rt, PHI_BAD_ARG, "prompts: missing");
    for (size_t i = 0; i < count && status == PHI_OK; i++) {
        status = phi__server_name(rt, "prompts: name", prompts[i].name);
        if (status == PHI_OK && prompts[i].text == NULL && prompts[i].get == NULL)
            status =
                phi__error(rt, PHI_BAD_ARG, "prompt \"%s\": expected text or get", prompts[i].name);
        for (j = 0; j < prompts[i].argument_count && status == PHI_OK; j++)
            status =
                phi__server_name(rt, "prompts: an argument's name", prompts[i].arguments[j].name);
    }
    return status;
}

static phi_status phi__server_check(phi_runtime *rt, const phi_mcp_server_desc *desc) {
    phi_status status = phi__server_name(rt, "phi_mcp_serve: name", desc->name);
    if (status == PHI_OK && desc->era != NULL && phi__eras_find(phi_str_of(desc->era)) == NULL)
        status = phi__error(rt, PHI_BAD_ARG,
                            "phi_mcp_serve: era \"%s\": expected 2026-07-28, "
                            "2025-11-25, 2025-06-18, 2025-03-26 or 2024-11-05",
                            desc->era);
    if (status == PHI_OK && desc->stdio == desc->http)
        status = phi__error(rt, PHI_BAD_ARG, "phi_mcp_serve: expected either stdio or http");
    if (status == PHI_OK && (desc->hook_fn == NULL) != (desc->hook_points == 0))
        status = phi__error(rt, PHI_BAD_ARG, "phi_mcp_serve: expected hook_fn and hook_points");
    if (status == PHI_OK)
        status = phi__server_tools(rt, desc, desc->tools, desc->tool_infos, desc->tool_count);
    if (status == PHI_OK)
        status = phi__server_resources(rt, desc->resources, desc->resource_count, desc->templates,
                                       desc->template_count);
    return status == PHI_OK ? phi__server_prompts(rt, desc->prompts, desc->prompt_count) : status;
}

/* ---- defaults ---- */

static void phi__server_u32(uint32_t *value, uint32_t standard) {
    if (*value == 0) *value = standard;
}

/* ---- the transports ---- */

static phi_status phi__server_open_stdio(phi_mcp_server *server) {
#ifndef PHI_NO_PROCESS
    phi__serve_stdio *stdio = NULL;
    phi_status status = phi__sio_new(server, &stdio);
    server->stdio = stdio;
    return status;
#else
    return phi__error(server->rt, PHI_UNSUPPORTED,
                      "phi_mcp_serve: stdio: built with "
                      "PHI_NO_PROCESS");
#endif
}

static phi_status phi__server_open_http(phi_mcp_server *server) {
#ifndef PHI_NO_LISTEN
    phi__serve_http *http = NULL;
    phi_status status = phi__web_new(server, &http);
    server->http = http;
    return status;
#else
    return phi__error(server->rt, PHI_UNSUPPORTED,
                      "phi_mcp_serve: http: built with "
                      "PHI_NO_LISTEN");
#endif
}

/* ---- public ---- */

static void phi__server_free(phi_mcp_server *server) {
    phi_runtime *rt = server->rt;
    phi__slots_free(&server->slots);
    memset(server->key, 0, sizeof server->key);
    phi__free(&rt->memory, server, sizeof *server);
}

PHI_API phi_mcp_server *phi_mcp_serve(phi_runtime *rt, const phi_mcp_server_desc *desc) {
    phi_mcp_server *server;
    if (rt == NULL || desc == NULL || phi__server_check(rt, desc) != PHI_OK) return NULL;
    server = (phi_mcp_server *)phi__alloc(&rt->memory, sizeof *server);
    if (server == NULL) {
        (void)phi__error(rt, PHI_NO_MEMORY, "phi_mcp_serve: out of memory");
        return NULL;
    }
    server->rt = rt;
    server->desc = *desc;
    if (desc->era != NULL) server->only = phi__eras_find(phi_str_of(desc->era));
    server->free_fn = phi__server_free;
    server->has_tools = desc->tools != NULL;
    server->has_resources = desc->resources != NULL || desc->templates != NULL;
    server->has_prompts = desc->prompts != NULL;
    if (server->desc.version == NULL) server->desc.version = "0";
    if (server->desc.address == NULL) server->desc.address = "127.0.0.1";
    if (server->desc.path == NULL) server->desc.path = "/mcp";
    phi__server_u32(&server->desc.tool_timeout_ms, PHI__MCP_TOOL_MS);
    phi__server_u32(&server->desc.decision_timeout_ms, PHI__MCP_DECISION_MS);
    phi__server_u32(&server->desc.ask_timeout_ms, PHI__MCP_ASK_MS);
    phi__server_u32(&server->desc.task_ttl_ms, PHI__TASKED_MS);
    phi__server_u32(&server->desc.page, PHI__PAGE);
    phi__server_u32(&server->desc.max_sessions, PHI__MCP_SESSIONS);
    phi__server_u32(&server->desc.max_calls, PHI__CALLS);
    phi__server_u32(&server->desc.max_subscriptions, PHI__SUBSCRIPTIONS);
    phi__server_u32(&server->desc.session_idle_ms, PHI__IDLE_MS);
    phi__server_u32(&server->desc.max_connections, PHI__CONNECTIONS);
    phi__server_u32(&server->desc.close_ms, PHI__CLOSE_MS);
    if (server->desc.max_message_bytes == 0) server->desc.max_message_bytes = PHI__MCP_MESSAGE;
    if (server->desc.max_queue_bytes == 0) server->desc.max_queue_bytes = PHI__QUEUE;
    phi__client_secret(server, server->key, sizeof server->key);
    phi__slots_init(&server->slots, &rt->memory);
    phi_status status =
        desc->stdio ? phi__server_open_stdio(server) : phi__server_open_http(server);
    if (status == PHI_OK) return server;
    phi_mcp_server_free(server);
    return NULL;
}

static bool phi__server_ended(const phi_mcp_server *server) {
    if (!server->ended) return false;
#ifndef PHI_NO_PROCESS
    if (server->stdio != NULL) return phi__sio_sent((const phi__serve_stdio *)server->stdio);
#endif
    return true;
}

PHI_API phi_mcp_server_info phi_mcp_server_get_info(const phi_mcp_server *server) {
    phi_mcp_server_info info = PHI_ZERO;
    info.message = server != NULL ? server->fault : "";
    info.ended = server == NULL || phi__server_ended(server);
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

static phi_status phi__server_set_check(const phi_mcp_server *server,
                                        const phi_mcp_server_desc *desc, uint32_t lists) {
    phi_status status = PHI_OK;
    if ((lists & PHI_MCP_SERVE_TOOLS) != 0)
        status = phi__server_tools(server->rt, &server->desc, desc->tools, desc->tool_infos,
                                   desc->tool_count);
    if (status == PHI_OK && (lists & PHI_MCP_SERVE_RESOURCES) != 0)
        status = phi__server_resources(server->rt, desc->resources, desc->resource_count,
                                       desc->templates, desc->template_count);
    if (status == PHI_OK && (lists & PHI_MCP_SERVE_PROMPTS) != 0)
        status = phi__server_prompts(server->rt, desc->prompts, desc->prompt_count);
    return status;
}

PHI_API phi_status phi_mcp_server_set(phi_mcp_server *server, const phi_mcp_server_desc *desc,
                                      uint32_t lists) {
    phi_str none = phi__str(NULL, 0);
    if (server == NULL || desc == NULL) return PHI_BAD_ARG;
    phi_status status = phi__server_set_check(server, desc, lists);
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
