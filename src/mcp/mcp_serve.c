/* mcp_serve.c - messages to our server: which era they are of, and who answers. */
#include "mcp/mcp_serve_state_in.h"

#include <stdio.h>

/* ---- what transports see ---- */

PHI__FN phi_runtime *phi__mcp_serve_runtime(const phi_mcp_server *server) { return server->rt; }

PHI__FN const phi_mcp_server_desc *phi__mcp_serve_desc(const phi_mcp_server *server) {
    return &server->desc;
}

PHI__FN void phi__mcp_serve_ended(phi_mcp_server *server, const char *why) {
    server->ended = true;
    (void)snprintf(server->fault, sizeof server->fault, "%s", why);
}

/* ---- sessions ---- */

PHI__FN bool phi__mcp_serve_listen(phi_mcp_server *server, phi__mcp_client *client,
                                   phi__mcp_way *way) {
    (void)server;
    if (client->own != NULL) return false;
    client->own = way;
    way->client = client;
    phi__mcp_serve_client_renew(client);
    return true;
}

PHI__FN void phi__mcp_serve_way_gone(phi_mcp_server *server, phi__mcp_way *way) {
    if (way->reading != NULL) phi__mcp_serve_long_end(way->reading);
    if (way->client != NULL) way->client->own = NULL;
    way->client = NULL;
    phi__mcp_serve_ask_enter(server);
    while (!server->retired && way->waiting.first != NULL) {
        phi__mcp_serving *serving = PHI__OWNER(way->waiting.first, phi__mcp_serving, at_way);
        if (serving->origin.batch != NULL) serving->origin.batch->way = NULL;
        if (serving->client != NULL && serving->origin.http) {
            phi__mcp_serve_request_detach(serving); /* the session may want what it does */
            continue;
        }
        phi__mcp_serve_request_detach(serving);
        phi__mcp_serve_request_drop(serving, false);
    }
    (void)phi__mcp_serve_ask_leave(server);
}

/* ---- methods of the protocol itself ---- */

static void phi__mcp_serve_ping(phi_mcp_server *server, phi__mcp_origin *origin,
                                phi__mcp_client *client, const phi_json *params) {
    (void)client;
    (void)params;
    phi__mcp_serve_send_empty(server, origin);
}

static void phi__mcp_serve_set_level(phi_mcp_server *server, phi__mcp_origin *origin,
                                     phi__mcp_client *client, const phi_json *params) {
    int level = phi__mcp_level_of(phi_json_str(phi_json_get(params, "level"), NULL));
    if (level < 0) {
        phi__mcp_serve_send_error(server, origin, PHI__MCP_RPC_BAD_PARAMS, 200,
                                  PHI__LIT("params.level: expected debug, info, notice, warning, "
                                           "error, critical, alert or emergency"),
                                  NULL);
        return;
    }
    client->log_level = level;
    phi__mcp_serve_send_empty(server, origin);
}

/* The era that a client proposed, or the newest of those with sessions. NULL: none. */
static const phi__mcp_era *phi__mcp_serve_agree(const phi_mcp_server *server, phi_str version) {
    const phi__mcp_era *era = server->only != NULL ? server->only : phi__mcp_eras_find(version);
    if (era != NULL && era->handshake) return era;
    return server->only == NULL ? phi__mcp_eras_legacy() : NULL;
}

static void phi__mcp_serve_unsupported(phi_mcp_server *server, phi__mcp_origin *origin,
                                       phi_str requested) {
    phi__buf data;
    phi__buf_init(&data, &server->rt->memory);
    phi__buf_text(&data, "{\"supported\":");
    phi__mcp_serve_list_versions(server, &data);
    phi__json_write_key(&data, PHI__LIT("requested"));
    phi__json_write_str(&data, phi__str(requested.at, phi__min(requested.len, 64)));
    phi__buf_add(&data, "}", 2);
    phi__mcp_serve_send_error(server, origin, PHI__MCP_RPC_VERSION, 400,
                              PHI__LIT("Unsupported protocol version"),
                              data.failed ? NULL : data.at);
    phi__buf_free(&data);
}

static void phi__mcp_serve_initialize(phi_mcp_server *server, phi__mcp_origin *origin,
                                      phi__mcp_client *client, const phi_json *params) {
    const phi_json *can = phi_json_get(params, "capabilities");
    phi_str version = phi_json_str(phi_json_get(params, "protocolVersion"), NULL);
    const phi__mcp_era *era = phi__mcp_serve_agree(server, version);
    if (era == NULL) {
        phi__mcp_serve_unsupported(server, origin, version);
        return;
    }
    if (version.len == 0) {
        phi__mcp_serve_send_error(server, origin, PHI__MCP_RPC_BAD_PARAMS, 400,
                                  PHI__LIT("params.protocolVersion: expected a string"), NULL);
        return;
    }
    if (client == NULL && phi__mcp_serve_client_room(server))
        client = phi__mcp_serve_client_new(server, origin);
    if (client == NULL) {
        phi__mcp_serve_send_error(server, origin, PHI__MCP_RPC_INTERNAL, 503,
                                  PHI__LIT("Too many sessions"), NULL);
        return;
    }
    client->era = origin->era = era;
    client->log_level = PHI__MCP_LEVEL_INFO;
    client->can = 0;
    if (phi_json_is(phi_json_get(can, "sampling"), PHI_JSON_OBJECT))
        client->can |= (uint32_t)PHI_MCP_CAN_SAMPLE;
    if (phi_json_is(phi_json_get(can, "elicitation"), PHI_JSON_OBJECT))
        client->can |= (uint32_t)PHI_MCP_CAN_ELICIT;
    if (phi_json_is(phi_json_get(can, "roots"), PHI_JSON_OBJECT))
        client->can |= (uint32_t)PHI_MCP_CAN_ROOTS;
    phi__mcp_serve_list_initialized(server, origin);
}

/* ---- the table of methods ---- */

enum { PHI__MCP_FOR_LEGACY = 1, PHI__MCP_FOR_MODERN = 2, PHI__MCP_FOR_BOTH = 3 };

typedef enum phi__mcp_offered {
    PHI__MCP_ALWAYS = 0,
    PHI__MCP_TOOLS,
    PHI__MCP_RESOURCES,
    PHI__MCP_PROMPTED,
    PHI__MCP_COMPLETING,
    PHI__MCP_TASKED
} phi__mcp_offered;

typedef struct phi__mcp_method {
    const char *name;
    void (*answer)(phi_mcp_server *server, phi__mcp_origin *origin, phi__mcp_client *client,
                   const phi_json *params);
    uint8_t eras, offered;
    bool inputs; /* may be repeated with answers */
} phi__mcp_method;

static const phi__mcp_method *phi__mcp_serve_method(phi_str name) {
    static const phi__mcp_method methods[] = {
        {"ping", phi__mcp_serve_ping, PHI__MCP_FOR_LEGACY, PHI__MCP_ALWAYS, false},
        {"tools/list", phi__mcp_serve_list_tools, PHI__MCP_FOR_BOTH, PHI__MCP_TOOLS, false},
        {"tools/call", phi__mcp_serve_call_begin, PHI__MCP_FOR_BOTH, PHI__MCP_TOOLS, true},
        {"resources/list", phi__mcp_serve_list_resources, PHI__MCP_FOR_BOTH, PHI__MCP_RESOURCES,
         false},
        {"resources/templates/list", phi__mcp_serve_list_templates, PHI__MCP_FOR_BOTH,
         PHI__MCP_RESOURCES, false},
        {"resources/read", phi__mcp_serve_data_read, PHI__MCP_FOR_BOTH, PHI__MCP_RESOURCES, true},
        {"resources/subscribe", phi__mcp_serve_notify_subscribe, PHI__MCP_FOR_LEGACY,
         PHI__MCP_RESOURCES, false},
        {"resources/unsubscribe", phi__mcp_serve_notify_unsubscribe, PHI__MCP_FOR_LEGACY,
         PHI__MCP_RESOURCES, false},
        {"prompts/list", phi__mcp_serve_list_prompts, PHI__MCP_FOR_BOTH, PHI__MCP_PROMPTED, false},
        {"prompts/get", phi__mcp_serve_data_prompt, PHI__MCP_FOR_BOTH, PHI__MCP_PROMPTED, true},
        {"completion/complete", phi__mcp_serve_data_complete, PHI__MCP_FOR_BOTH,
         PHI__MCP_COMPLETING, false},
        {"tasks/get", phi__mcp_serve_task_get, PHI__MCP_FOR_MODERN, PHI__MCP_TASKED, false},
        {"tasks/update", phi__mcp_serve_task_update, PHI__MCP_FOR_MODERN, PHI__MCP_TASKED, false},
        {"tasks/cancel", phi__mcp_serve_task_cancel, PHI__MCP_FOR_MODERN, PHI__MCP_TASKED, false},
        {"logging/setLevel", phi__mcp_serve_set_level, PHI__MCP_FOR_LEGACY, PHI__MCP_ALWAYS, false},
        {"server/discover", phi__mcp_serve_list_discover, PHI__MCP_FOR_MODERN, PHI__MCP_ALWAYS,
         false},
        {"subscriptions/listen", phi__mcp_serve_notify_listen, PHI__MCP_FOR_MODERN, PHI__MCP_ALWAYS,
         false}};
    size_t i;
    for (i = 0; i < PHI__COUNT(methods); i++)
        if (phi__str_is(name, methods[i].name)) return &methods[i];
    return NULL;
}

static bool phi__mcp_serve_offers(const phi_mcp_server *server, phi__mcp_offered what) {
    switch (what) {
    case PHI__MCP_TOOLS: return server->has_tools;
    case PHI__MCP_RESOURCES: return server->has_resources;
    case PHI__MCP_PROMPTED: return server->has_prompts;
    case PHI__MCP_COMPLETING: return server->desc.complete_fn != NULL;
    case PHI__MCP_TASKED: return server->desc.tasks;
    default: return true;
    }
}

/* ---- one message ---- */

typedef struct phi__mcp_incoming_message {
    phi_mcp_server *server;
    phi__mcp_client *client;
    const phi__mcp_heads *heads;
    phi_arena *arena; /* of the message */
    const phi_json *root, *params;
    phi_str method;
    phi__mcp_origin origin;
} phi__mcp_incoming_message;

static void phi__mcp_serve_refuse(phi__mcp_incoming_message *m, int code, int http_status,
                                  const char *message) {
    phi__mcp_serve_send_error(m->server, &m->origin, code, http_status, phi_str_of(message), NULL);
}

/* A request of 2026-07-28 has all that it needs; false: it was refused. */
static bool phi__mcp_serve_modern(phi__mcp_incoming_message *m) {
    const phi_json *meta = phi_json_get(m->params, "_meta");
    const phi_json *version = phi_json_get(meta, "io.modelcontextprotocol/protocolVersion");
    const char *fault = NULL;
    m->origin.era = phi__mcp_eras_modern();
    if (!phi_json_is(version, PHI_JSON_STRING) ||
        !phi_json_is(phi_json_get(meta, "io.modelcontextprotocol/clientCapabilities"),
                     PHI_JSON_OBJECT)) {
        phi__mcp_serve_refuse(m, PHI__MCP_RPC_BAD_PARAMS, 400,
                              "params._meta: expected io.modelcontextprotocol/protocolVersion and "
                              "io.modelcontextprotocol/clientCapabilities");
        return false;
    }
    if (m->heads != NULL && !phi_str_equal(m->heads->version, phi_json_str(version, NULL)))
        fault = "Header mismatch: MCP-Protocol-Version is not the version of the body";
    if (fault == NULL && phi__mcp_eras_find(phi_json_str(version, NULL)) != m->origin.era) {
        phi__mcp_serve_unsupported(m->server, &m->origin, phi_json_str(version, NULL));
        return false;
    }
    if (fault == NULL && m->heads != NULL)
        fault = phi__mcp_serve_heads_check(m->server, m->heads, m->method, m->params);
    if (fault != NULL) phi__mcp_serve_refuse(m, PHI__MCP_RPC_HEADERS, 400, fault);
    return fault == NULL;
}

static bool phi__mcp_serve_is_modern(const phi__mcp_incoming_message *m) {
    const phi_json *meta = phi_json_get(m->params, "_meta");
    if (m->server->only != NULL) return !m->server->only->handshake;
    return phi_json_get(meta, "io.modelcontextprotocol/protocolVersion") != NULL ||
           phi_json_get(meta, "io.modelcontextprotocol/clientCapabilities") != NULL ||
           (m->heads != NULL && phi__mcp_eras_find(m->heads->version) == phi__mcp_eras_modern()) ||
           phi__str_is(m->method, "server/discover") ||
           phi__str_is(m->method, "subscriptions/listen");
}

/* A request of a session; false: it was answered. */
static bool phi__mcp_serve_legacy(phi__mcp_incoming_message *m) {
    if (phi__str_is(m->method, "initialize") && m->origin.batch != NULL) {
        phi__mcp_serve_refuse(m, PHI__MCP_RPC_BAD_REQUEST, 400, "initialize: not in a batch");
        return false;
    }
    if (phi__str_is(m->method, "initialize")) {
        phi__mcp_serve_initialize(m->server, &m->origin, m->client, m->params);
        return false;
    }
    if (m->heads != NULL && m->heads->version.len > 0 &&
        phi__mcp_eras_find(m->heads->version) == NULL) {
        phi__mcp_serve_refuse(m, PHI__MCP_RPC_BAD_REQUEST, 400,
                              "MCP-Protocol-Version: not a version of the protocol");
        return false;
    }
    if (m->client != NULL) {
        m->origin.era = m->client->era;
        phi__mcp_serve_client_renew(m->client);
        return true;
    }
    if (phi__str_is(m->method, "ping"))
        phi__mcp_serve_send_empty(m->server, &m->origin);
    else
        phi__mcp_serve_refuse(m, PHI__MCP_RPC_BAD_REQUEST, 400,
                              "There is no session: initialize comes first");
    return false;
}

/* Whether it has the id of a request that is under way. */
static bool phi__mcp_serve_twice(const phi__mcp_incoming_message *m) {
    const phi__mcp_client *client = m->origin.era->handshake ? m->client : NULL;
    phi__link *link;
    for (link = m->server->serving.first; link != NULL; link = link->next) {
        const phi__mcp_serving *serving = PHI__OWNER(link, phi__mcp_serving, link);
        if (serving->client != client || serving->parked) continue;
        if (client == NULL && serving->origin.way != m->origin.way) continue;
        if (phi_str_equal(serving->origin.id, m->origin.id)) return true;
    }
    return false;
}

static void phi__mcp_serve_request(phi__mcp_incoming_message *m) {
    bool modern = phi__mcp_serve_is_modern(m);
    const phi__mcp_method *method = phi__mcp_serve_method(m->method);
    phi__mcp_client *client = modern ? NULL : m->client;
    if (m->server->only != NULL && modern && phi__str_is(m->method, "initialize")) {
        phi__mcp_serve_unsupported(m->server, &m->origin,
                                   phi_json_str(phi_json_get(m->params, "protocolVersion"), NULL));
        return;
    }
    if (modern ? !phi__mcp_serve_modern(m) : !phi__mcp_serve_legacy(m)) return;
    if (method == NULL ||
        (method->eras & (modern ? PHI__MCP_FOR_MODERN : PHI__MCP_FOR_LEGACY)) == 0 ||
        !phi__mcp_serve_offers(m->server, (phi__mcp_offered)method->offered)) {
        phi__mcp_serve_refuse(m, PHI__MCP_RPC_NO_METHOD, modern ? 404 : 200, "Method not found");
        return;
    }
    if (phi__mcp_serve_twice(m)) {
        phi__mcp_serve_refuse(m, PHI__MCP_RPC_BAD_REQUEST, 400,
                              "id: a request of that id is under way");
        return;
    }
    if (modern && method->inputs) {
        if (!phi__mcp_serve_ask_inputs(m->server, &m->origin, m->params)) return;
        if (phi__mcp_serve_ask_repeated(m->server, &m->origin, m->method, m->params)) return;
    }
    method->answer(m->server, &m->origin, client, m->params);
}

/* ---- notifications ---- */

static void phi__mcp_serve_cancelled(phi__mcp_incoming_message *m) {
    const phi_json *id = phi_json_get(m->params, "requestId");
    phi__link *link;
    phi__buf text;
    phi__buf_init(&text, &m->server->rt->memory);
    (void)phi__json_write(&text, id, 0);
    for (link = m->server->serving.first; link != NULL && !text.failed; link = link->next) {
        phi__mcp_serving *serving = PHI__OWNER(link, phi__mcp_serving, link);
        bool ours = serving->client != NULL ? serving->client == m->client
                                            : serving->origin.way == m->origin.way;
        if (!ours || !phi_str_equal(serving->origin.id, phi__buf_str(&text))) continue;
        phi__mcp_serve_request_drop(serving, false);
        break;
    }
    phi__buf_free(&text);
}

static void phi__mcp_serve_notification(phi__mcp_incoming_message *m) {
    if (m->client != NULL) phi__mcp_serve_client_renew(m->client);
    phi__mcp_serve_send_nothing(m->server, &m->origin, 202);
    if (phi__str_is(m->method, "notifications/cancelled")) phi__mcp_serve_cancelled(m);
}

/* ---- reading ---- */

/* Refuses an invalid message. One without a method may be meant as the answer to a question of
   ours, which need not wait for its deadline then. */
static void phi__mcp_serve_invalid(phi__mcp_incoming_message *m, phi__mcp_rpc *rpc) {
    char text[120];
    (void)snprintf(text, sizeof text, "Not a message: %s", rpc->fault);
    phi__mcp_serve_refuse(m, PHI__MCP_RPC_BAD_REQUEST, 400, text);
    rpc->message = phi_str_of(text);
    if (m->client != NULL && rpc->method.len == 0)
        phi__mcp_serve_ask_answered(m->server, m->client, rpc);
}

static void phi__mcp_serve_one(phi__mcp_incoming_message *m, const phi_json *node) {
    phi__mcp_rpc rpc;
    bool read = phi__mcp_rpc_read(m->arena, node, &rpc);
    m->origin.era = m->client != NULL ? m->client->era : phi__mcp_eras_legacy();
    m->origin.id = rpc.id;
    m->method = rpc.method;
    m->params = rpc.params;
    if (!read) {
        phi__mcp_serve_refuse(m, PHI__MCP_RPC_INTERNAL, 500, "Out of memory");
        return;
    }
    switch (rpc.kind) {
    case PHI__MCP_RPC_INVALID: phi__mcp_serve_invalid(m, &rpc); return;
    case PHI__MCP_RPC_REQUEST: phi__mcp_serve_request(m); return;
    case PHI__MCP_RPC_NOTIFICATION: phi__mcp_serve_notification(m); return;
    case PHI__MCP_RPC_RESULT:
    case PHI__MCP_RPC_ERROR:
        m->origin.id = phi__str("", 0);
        phi__mcp_serve_send_nothing(m->server, &m->origin, 202);
        if (m->client != NULL) phi__mcp_serve_ask_answered(m->server, m->client, &rpc);
        return;
    }
}

static phi__mcp_batch *phi__mcp_serve_batch(phi__mcp_incoming_message *m) {
    phi__mcp_batch *batch;
    size_t count = phi_json_count(m->root);
    const char *fault = NULL;
    if (m->client != NULL && !m->client->era->batches)
        fault = "Expected one message, not a batch";
    else if (count == 0 || count > PHI__MCP_BATCH_MOST)
        fault = "Expected a batch of 1 to 64 messages";
    batch =
        fault == NULL ? (phi__mcp_batch *)phi__alloc(&m->server->rt->memory, sizeof *batch) : NULL;
    if (batch == NULL) {
        phi__mcp_serve_refuse(m, fault != NULL ? PHI__MCP_RPC_BAD_REQUEST : PHI__MCP_RPC_INTERNAL,
                              fault != NULL ? 400 : 500, fault != NULL ? fault : "Out of memory");
        return NULL;
    }
    batch->way = m->origin.way;
    batch->waiting = count + 1; /* one more until all were read */
    phi__buf_init(&batch->out, &m->server->rt->memory);
    return batch;
}

static void phi__mcp_serve_all(phi__mcp_incoming_message *m) {
    phi_json_iter it = phi_json_each(m->root);
    phi__mcp_origin origin = m->origin;
    const phi_json *child;
    phi__mcp_batch *batch;
    if (!phi_json_is(m->root, PHI_JSON_ARRAY)) {
        phi__mcp_serve_one(m, m->root);
        return;
    }
    batch = phi__mcp_serve_batch(m);
    if (batch == NULL) return;
    origin.batch = batch;
    while ((child = phi_json_next(&it)) != NULL) {
        m->origin = origin;
        if (m->server->retired) batch->way = NULL; /* it went with the server */
        if (m->server->retired)
            phi__mcp_serve_send_nothing(m->server, &m->origin, 202);
        else
            phi__mcp_serve_one(m, child);
    }
    if (m->server->retired) batch->way = NULL;
    phi__mcp_serve_send_nothing(m->server, &origin, 202);
}

static void phi__mcp_serve_unread(phi__mcp_incoming_message *m, phi_status status) {
    if (status == PHI_NO_MEMORY)
        phi__mcp_serve_refuse(m, PHI__MCP_RPC_INTERNAL, 500, "Out of memory");
    else if (status == PHI_TOO_BIG)
        phi__mcp_serve_refuse(m, PHI__MCP_RPC_BAD_REQUEST, 400,
                              "The message is too large, or too deep");
    else
        phi__mcp_serve_refuse(m, PHI__MCP_RPC_PARSE, 400, "The message is not JSON");
}

static void phi__mcp_serve_read(phi__mcp_incoming_message *m, phi_status status) {
    if (status == PHI_OK)
        phi__mcp_serve_all(m);
    else
        phi__mcp_serve_unread(m, status);
}

/* A message that nothing is known of yet; of *from, its server, client, way and heads are taken. */
static void phi__mcp_serve_begin(phi__mcp_incoming_message *m, const phi__mcp_long *from,
                                 phi_arena *arena) {
    memset(m, 0, sizeof *m);
    m->server = from->server;
    m->client = from->client;
    m->heads = from->http ? &from->heads : NULL;
    m->arena = arena;
    m->origin.way = from->way;
    m->origin.http = from->http;
    m->origin.era = phi__mcp_eras_legacy();
}

static void phi__mcp_serve_sliced(phi__mcp_slices *slices, phi_status status, phi_json *root) {
    phi__mcp_long *one = PHI__OWNER(slices, phi__mcp_long, slices), from = *one;
    phi_arena arena = slices->arena;
    phi__mcp_incoming_message m;
    if (status == PHI_BUSY) return;
    phi_arena_init(&slices->arena, &one->server->rt->memory, 0); /* the tree is ours */
    phi__mcp_serve_ask_enter(from.server);
    phi__mcp_serve_long_end(one);
    phi__mcp_serve_begin(&m, &from, &arena);
    m.root = root;
    phi__mcp_serve_read(&m, status);
    phi_arena_free(&arena);
    if (phi__mcp_serve_ask_leave(from.server)) from.way->table->taken(from.way);
}

PHI__FN bool phi__mcp_serve_message(phi_mcp_server *server, phi__mcp_client *client,
                                    phi__mcp_way *way, phi_str json, const phi__mcp_heads *heads) {
    phi__mcp_incoming_message m;
    phi__mcp_long from;
    phi_json *root = NULL;
    phi_arena arena;
    phi_status status = PHI_TOO_BIG;
    bool whole = json.len <= PHI__MCP_SLICES_WHOLE;
    memset(&from, 0, sizeof from);
    from.server = server;
    from.client = client;
    from.way = way;
    from.http = heads != NULL;
    if (heads != NULL) from.heads = *heads;
    from.slices.sliced = phi__mcp_serve_sliced;
    if (json.len <= server->desc.max_message_bytes && !whole) {
        status = phi__mcp_serve_long_begin(server, &from, json);
        if (status == PHI_OK) return true;
    }
    phi__mcp_serve_ask_enter(server);
    phi_arena_init(&arena, &server->rt->memory, 0);
    phi__mcp_serve_begin(&m, &from, &arena);
    if (json.len <= server->desc.max_message_bytes && whole)
        status = phi__mcp_rpc_parse(&arena, json, &root);
    m.root = root;
    phi__mcp_serve_read(&m, status);
    phi_arena_free(&arena);
    return phi__mcp_serve_ask_leave(server);
}
