/* mcp_serve.c - messages to the server: eras, sessions, subscriptions, and the table of methods. */

#include "mcp/mcp_headers_in.h"
#include "mcp/mcp_serve_state_in.h"

#include <stdio.h>

/* ---- checks that headers of a request of 2026-07-28 repeat its body ---- */

/* Decodes "=?base64?...?="; keeps other values. False: malformed, or no memory. */
static bool phi__heads_plain(phi_arena *arena, phi_str header, phi_str *out) {
    *out = header;
    if (header.len < 11 || !phi__str_starts(header, "=?base64?") || !phi__str_ends(header, "?="))
        return true;
    phi__buf plain = phi__buf_of(arena->memory);
    bool good = phi__base64_decode(&plain, phi__str(header.at + 9, header.len - 11)) &&
                phi__arena_str(arena, phi__buf_str(&plain), out);
    phi__buf_free(&plain);
    return good;
}

/* True if a parameter's header has the argument's value. As a number, 42.0 equals 42. */
static bool phi__heads_param(const phi__heads *heads, const phi_mcp_pair *pair, phi_arena *arena) {
    phi_str header = heads->get(heads->ctx, pair->name), got, want;
    phi_json *a = NULL, *b = NULL;
    if (header.at == NULL || !phi__heads_plain(arena, phi_str_of(pair->value), &want)) return false;
    if (phi__heads_plain(arena, header, &got) && phi_str_equal(got, want)) return true;
    return phi_json_parse(arena, header, PHI_JSON_BORROW, &a, NULL) == PHI_OK &&
           phi_json_parse(arena, want, PHI_JSON_BORROW, &b, NULL) == PHI_OK &&
           phi_json_is(a, PHI_JSON_NUMBER) && phi__json_get_equal(a, b);
}

/* Checks the headers of marked parameters. A schema without marks is not parsed. */
static bool phi__heads_params(const phi__heads *heads, const char *schema,
                              const phi_json *arguments, phi_arena *arena) {
    phi_mcp_pair *pairs = NULL;
    phi_json *root = NULL;
    size_t count = 0;
    if (schema == NULL || heads->get == NULL || strstr(schema, "x-mcp-header") == NULL) return true;
    if (phi_json_parse(arena, phi_str_of(schema), PHI_JSON_BORROW, &root, NULL) != PHI_OK ||
        phi__xhead_of(root, arguments, arena, &pairs, &count) != PHI_OK)
        return false;
    for (size_t i = 0; i < count; i++)
        if (!phi__heads_param(heads, &pairs[i], arena)) return false;
    return true;
}

/* Returns the fault of the headers, or NULL. */
static const char *phi__heads_check(phi_mcp_server *server, const phi__heads *heads, phi_str method,
                                    const phi_json *params) {
    static const char *const named[][2] = {{"tools/call", "name"},     {"prompts/get", "name"},
                                           {"resources/read", "uri"},  {"tasks/get", "taskId"},
                                           {"tasks/update", "taskId"}, {"tasks/cancel", "taskId"}};
    const char *fault = NULL;
    phi_str name = PHI__LIT(""), got;
    if (!phi_str_equal(heads->method, method))
        return "Header mismatch: Mcp-Method is not the method of the body";
    for (size_t i = 0; i < (server->desc.tasks ? PHI__COUNT(named) : 3); i++)
        if (phi__str_is(method, named[i][0])) name = phi__records_get_str(params, named[i][1]);
    phi_arena arena = phi__arena_of(&server->rt->memory, 0);
    if (name.len > 0 && (!phi__heads_plain(&arena, heads->name, &got) || !phi_str_equal(got, name)))
        fault = "Header mismatch: Mcp-Name is not the name in the body";
    for (size_t i = 0; fault == NULL && i < server->desc.tool_count; i++)
        if (phi__str_is(method, "tools/call") && phi__str_is(name, server->desc.tools[i].name) &&
            !phi__heads_params(heads, server->desc.tools[i].schema,
                               phi_json_get(params, "arguments"), &arena))
            fault = "Header mismatch: an Mcp-Param header is missing, or is not the argument";
    phi_arena_free(&arena);
    return fault;
}

/* ---- list changes, updated resources, log messages, and their subscribers ---- */

static phi__subscribed *phi__notify_find(const phi__client *client, phi_str uri) {
    for (phi__link *link = client->uris.first; link != NULL; link = link->next) {
        phi__subscribed *one = PHI__OWNER(link, phi__subscribed, link);
        if (phi_str_equal(one->uri, uri)) return one;
    }
    return NULL;
}

static void phi__notify_forget(phi__client *client, phi__subscribed *one) {
    phi__list_take(&client->uris, &one->link);
    client->uri_count--;
    phi__free(&client->server->rt->memory, one, one->bytes);
}

static bool phi__notify_keep(phi__client *client, phi_str uri) {
    size_t bytes = sizeof(phi__subscribed) + uri.len + 1;
    phi__subscribed *one = (phi__subscribed *)phi__alloc(&client->server->rt->memory, bytes);
    if (one == NULL) return false;
    char *at = (char *)(one + 1);
    one->bytes = bytes;
    one->uri = phi__mcp_put(&at, uri);
    phi__list_push(&client->uris, &one->link);
    client->uri_count++;
    return true;
}

static bool phi__notify_subscribe(phi__origin *origin, const phi_json *params) {
    phi__client *client = origin->client;
    phi_str uri = phi__records_get_str(params, "uri");
    if (!phi__data_known(origin->server, uri)) return phi__data_unknown(origin, uri);
    if (phi__notify_find(client, uri) != NULL) return phi__send_empty(origin);
    if (client->uri_count >= origin->server->desc.max_subscriptions)
        return phi__refuse(origin, PHI__RPC_INTERNAL, 200, "Too many subscriptions");
    return phi__notify_keep(client, uri) ? phi__send_empty(origin) : phi__refuse_memory(origin);
}

static bool phi__notify_unsubscribe(phi__origin *origin, const phi_json *params) {
    phi__subscribed *one = phi__notify_find(origin->client, phi__records_get_str(params, "uri"));
    if (one != NULL) phi__notify_forget(origin->client, one);
    return phi__send_empty(origin);
}

/* ---- subscriptions/listen ---- */

/* Reads the URIs that the client subscribes to. False: no memory. */
static bool phi__notify_uris(phi__serving *serving, const phi_json *list) {
    phi__wanted *wanted = &serving->wanted;
    phi_json_iter it = phi_json_each(list);
    size_t most = phi__min(phi_json_count(list), serving->server->desc.max_subscriptions);
    if (!phi_json_is(list, PHI_JSON_ARRAY) || most == 0) return true;
    phi_str *uris = (phi_str *)phi_arena_alloc(&serving->arena, phi__mul(most, sizeof *uris));
    if (uris == NULL) return false;
    wanted->uris = uris;
    while (phi_json_next(&it) != NULL && wanted->uri_count < most) {
        phi_str uri = phi_json_str(it.at, NULL);
        if (!phi__data_known(serving->server, uri)) continue;
        if (!phi__arena_str(&serving->arena, uri, &uris[wanted->uri_count])) return false;
        wanted->uri_count++;
    }
    return true;
}

/* For each phi__mcp_list: the member of the filter, and the notification. */
static const char *const phi__notify_lists[PHI__MCP_LISTS][2] = {
    {"toolsListChanged", "notifications/tools/list_changed"},
    {"promptsListChanged", "notifications/prompts/list_changed"},
    {"resourcesListChanged", "notifications/resources/list_changed"}};

/* Appends the id of the subscription to a notification's params. */
static void phi__notify_tag(const phi__serving *serving, phi__buf *out) {
    phi__records_raw(out, "_meta", "{\"io.modelcontextprotocol/subscriptionId\":");
    phi__buf_add_str(out, serving->origin.id);
    phi__buf_char(out, '}');
}

static bool phi__notify_listen(phi__origin *origin, const phi_json *params) {
    const phi_json *filter = phi_json_get(params, "notifications");
    phi_mcp_server *server = origin->server;
    if (!phi_json_is(filter, PHI_JSON_OBJECT))
        return phi__refuse_bad(origin, "params.notifications: expected an object");
    if (server->desc.tasks && phi_json_get(filter, "taskIds") != NULL &&
        (phi__sv_can(server, params) & (uint32_t)PHI_MCP_CAN_TASKS) == 0)
        return phi__sv_needs(origin, (uint32_t)PHI_MCP_CAN_TASKS);
    phi__serving *serving = phi__sv_new(origin, PHI__SERVING_LISTEN, params);
    if (serving == NULL) return false;
    phi__wanted *wanted = &serving->wanted;
    if (!phi__notify_uris(serving, phi_json_get(filter, "resourceSubscriptions"))) {
        (void)phi__refuse_memory(&serving->origin);
        phi__sv_drop(serving, true);
        return false;
    }
    phi__buf out;
    phi__send_note(server, &out, "notifications/subscriptions/acknowledged");
    phi__notify_tag(serving, &out);
    phi__records_raw(&out, "notifications", "{");
    for (size_t i = 0; i < PHI__MCP_LISTS; i++) {
        wanted->lists[i] = server->has[i] && phi__records_get_bool(filter, phi__notify_lists[i][0]);
        phi__records_true(&out, phi__notify_lists[i][0], wanted->lists[i]);
    }
    if (wanted->uri_count > 0) {
        phi__records_raw(&out, "resourceSubscriptions", "[");
        for (size_t i = 0; i < wanted->uri_count; i++) {
            phi__json_write_comma(&out);
            phi__json_write_str(&out, wanted->uris[i]);
        }
        phi__buf_char(&out, ']');
    }
    phi__buf_char(&out, '}');
    return phi__send_noted(serving->origin.way, &out);
}

static bool phi__notify_wants(const phi__wanted *wanted, phi__mcp_list list, phi_str uri) {
    if (uri.at == NULL) return wanted->lists[list];
    for (size_t i = 0; i < wanted->uri_count; i++)
        if (phi_str_equal(wanted->uris[i], uri)) return true;
    return false;
}

PHI__FN void phi__notify_changed(phi_mcp_server *server, phi__mcp_list list, phi_str uri) {
    const char *method =
        uri.at != NULL ? "notifications/resources/updated" : phi__notify_lists[list][1];
    phi__buf out;
    for (phi__link *link = server->clients.first; link != NULL; link = link->next) {
        const phi__client *client = PHI__OWNER(link, phi__client, link);
        if (client->own == NULL) continue;
        if (uri.at != NULL && phi__notify_find(client, uri) == NULL) continue;
        phi__send_note(server, &out, method);
        if (uri.at != NULL) phi__records_str(&out, "uri", uri);
        (void)phi__send_noted(client->own, &out);
    }
    for (phi__link *link = server->serving.first; link != NULL; link = link->next) {
        const phi__serving *serving = PHI__OWNER(link, phi__serving, link);
        if (serving->kind != PHI__SERVING_LISTEN || serving->origin.way == NULL) continue;
        if (!phi__notify_wants(&serving->wanted, list, uri)) continue;
        phi__send_note(server, &out, method);
        phi__notify_tag(serving, &out);
        if (uri.at != NULL) phi__records_str(&out, "uri", uri);
        (void)phi__send_noted(serving->origin.way, &out);
    }
}

PHI__FN void phi__notify_log(phi_mcp_server *server, const char *level, const char *logger,
                             const char *data) {
    int severity = phi__level_of(phi_str_of(level));
    for (phi__link *link = server->clients.first; link != NULL; link = link->next) {
        const phi__client *client = PHI__OWNER(link, phi__client, link);
        if (client->own != NULL && severity >= client->log_level)
            (void)phi__sv_log(server, client->own, level, logger, data);
    }
}

/* ---- long messages: read in slices, one after another ---- */

static void phi__long_next(phi_mcp_server *server) {
    if (server->longs.first != NULL)
        phi__slices_go(&PHI__OWNER(server->longs.first, phi__long, link)->slices);
}

static phi_status phi__long_begin(phi_mcp_server *server, const phi__long *message, phi_str json) {
    phi_memory *memory = &server->rt->memory;
    phi__long *one = (phi__long *)phi__alloc(memory, sizeof *one);
    if (one == NULL) return PHI_NO_MEMORY;
    *one = *message;
    one->server = server;
    if (phi__slices_begin(&one->slices, server->rt, memory, json, false) != PHI_OK) {
        phi__free(memory, one, sizeof *one);
        return PHI_NO_MEMORY;
    }
    one->way->reading = one;
    phi__list_push(&server->longs, &one->link);
    if (server->longs.first == &one->link) phi__long_next(server);
    return PHI_OK;
}

static void phi__long_end(phi__long *one) {
    phi_mcp_server *server = one->server;
    one->way->reading = NULL;
    phi__list_take(&server->longs, &one->link);
    phi__slices_end(&one->slices);
    phi__free(&server->rt->memory, one, sizeof *one);
    phi__long_next(server);
}

PHI__FN void phi__long_end_all(phi_mcp_server *server) {
    while (server->longs.first != NULL)
        phi__long_end(PHI__OWNER(server->longs.first, phi__long, link));
}

PHI__FN const char *phi__client_id(const phi__client *client) { return client->id; }

PHI__FN phi__client *phi__client_find(phi_mcp_server *server, phi_str id) {
    for (phi__link *link = server->clients.first; link != NULL; link = link->next) {
        phi__client *client = PHI__OWNER(link, phi__client, link);
        if (client->http && phi__str_is(id, client->id)) return client;
    }
    return NULL;
}

static phi__serving *phi__client_serving(const phi_mcp_server *server, const phi__client *client) {
    for (phi__link *link = server->serving.first; link != NULL; link = link->next) {
        phi__serving *serving = PHI__OWNER(link, phi__serving, link);
        if (serving->client == client) return serving;
    }
    return NULL;
}

PHI__FN void phi__client_end(phi__client *client) {
    phi_mcp_server *server = client->server;
    phi_memory *memory = &server->rt->memory;
    phi__mcp_way *own = client->own;
    phi__serving *serving;
    while (client->uris.first != NULL)
        phi__notify_forget(client, PHI__OWNER(client->uris.first, phi__subscribed, link));
    for (phi__link *link = server->longs.first; link != NULL; link = link->next) {
        phi__long *one = PHI__OWNER(link, phi__long, link);
        if (one->client == client) one->client = NULL;
    }
    phi__io_timer_clear(server->rt->io, &client->timer);
    phi__list_take(&server->clients, &client->link);
    server->client_count--;
    client->own = NULL;
    if (own != NULL) {
        own->client = NULL;
        (void)own->table->send(own, phi__str("", 0), 200, true);
    }
    phi__sask_enter(server);
    while ((serving = phi__client_serving(server, client)) != NULL) phi__sv_drop(serving, false);
    phi__free(memory, client, sizeof *client);
    (void)phi__sask_leave(server);
}

static void phi__client_renew(phi__client *client) {
    phi_mcp_server *server = client->server;
    uint32_t ms = server->desc.session_idle_ms;
    if (!client->http || ms == PHI_UNLIMITED) return;
    (void)phi__mcp_timer_in(server->rt->io, &client->timer, ms);
}

static void phi__client_idle(phi__timer *timer) {
    phi__client *client = PHI__OWNER(timer, phi__client, timer);
    if (client->own != NULL || phi__client_serving(client->server, client) != NULL)
        phi__client_renew(client);
    else
        phi__client_end(client);
}

PHI__FN void phi__client_secret(const phi_mcp_server *server, void *out, size_t len) {
    if (server->rt->tape == NULL)
        phi__io_random(server->rt->io, out, len);
    else
        phi__clock_random(out, len);
}

static bool phi__client_room(phi_mcp_server *server) {
    if (server->client_count < server->desc.max_sessions) return true;
    for (phi__link *link = server->clients.first; link != NULL; link = link->next) {
        phi__client *client = PHI__OWNER(link, phi__client, link);
        if (!client->http || client->own != NULL || phi__client_serving(server, client) != NULL)
            continue;
        phi__client_end(client);
        return true;
    }
    return false;
}

static phi__client *phi__client_new(const phi__origin *origin) {
    phi__client *client = (phi__client *)phi__alloc(&origin->server->rt->memory, sizeof *client);
    if (client == NULL) return NULL;
    client->server = origin->server;
    client->http = origin->http;
    client->timer.fire = phi__client_idle;
    static const char digits[] = "0123456789abcdef";
    unsigned char random[16];
    phi__client_secret(client->server, random, sizeof random);
    for (int i = 0; i < 16; i++) {
        client->id[2 * i] = digits[random[i] >> 4];
        client->id[2 * i + 1] = digits[random[i] & 15];
    }
    phi__list_push(&origin->server->clients, &client->link);
    origin->server->client_count++;
    phi__client_renew(client);
    if (origin->way->table->session != NULL) origin->way->table->session(origin->way, client);
    return client;
}

static void phi__shelf_some(phi__buf *out, const char *key, const char *text) {
    if (text != NULL) phi__records_str(out, key, phi_str_of(text));
}

static void phi__shelf_capabilities(const phi_mcp_server *server, phi__buf *out,
                                    const phi__era *era) {
    phi__records_raw(out, "capabilities", "{");
    if (server->has[PHI__MCP_LIST_TOOLS]) phi__records_raw(out, "tools", "{\"listChanged\":true}");
    if (server->has[PHI__MCP_LIST_RESOURCES])
        phi__records_raw(out, "resources", "{\"subscribe\":true,\"listChanged\":true}");
    if (server->has[PHI__MCP_LIST_PROMPTS])
        phi__records_raw(out, "prompts", "{\"listChanged\":true}");
    if (server->desc.complete_fn != NULL && era->completions)
        phi__records_raw(out, "completions", "{}");
    if (server->desc.tasks && era->result_type)
        phi__records_raw(out, "extensions", "{\"io.modelcontextprotocol/tasks\":{}}");
    phi__records_raw(out, "logging", "{}}");
}

static void phi__shelf_versions(const phi_mcp_server *server, phi__buf *out) {
    phi__buf_char(out, '[');
    for (size_t i = 0; i < PHI__ERAS; i++) {
        const phi__era *era = phi__eras_at(i);
        if (server->only != NULL && server->only != era) continue;
        phi__json_write_comma(out);
        phi__json_write_str(out, phi_str_of(era->version));
    }
    phi__buf_char(out, ']');
}

static bool phi__shelf_discover(phi__origin *origin, const phi_json *params) {
    phi__buf out;
    (void)params;
    phi__send_open_complete(origin, &out);
    phi__records_raw(&out, "supportedVersions", "");
    phi__shelf_versions(origin->server, &out);
    phi__shelf_capabilities(origin->server, &out, origin->era);
    phi__shelf_some(&out, "instructions", origin->server->desc.instructions);
    phi__send_cache(origin, &out);
    return phi__send_close(origin, &out);
}

static void phi__shelf_json(phi__buf *out, const char *key, const char *json) {
    if (json == NULL) return;
    phi__records_raw(out, key, "");
    phi__rpc_line(out, phi_str_of(json));
}

/* The protocol requires "type":"object" in the schema of arguments, so it is added if missing. */
static void phi__shelf_schema(phi__buf *out, const char *schema) {
    phi_str text = phi__str_trim(phi_str_of(schema));
    phi__json_found type;
    phi__records_raw(out, "inputSchema", "");
    if (text.len == 0) {
        phi__buf_text(out, "{\"type\":\"object\"}");
        return;
    }
    if (phi__json_cursor_find(text, "type", &type) == PHI_OK) {
        phi__rpc_line(out, text);
        return;
    }
    phi__buf_text(out, "{\"type\":\"object\"");
    text = phi__str_trim(phi__str(text.at + 1, text.len - 1));
    if (text.at[0] != '}') phi__buf_char(out, ',');
    phi__rpc_line(out, text);
}

static void phi__shelf_tool(const phi_mcp_server *server, const phi__era *era, size_t i,
                            phi__buf *out) {
    const phi_tool *tool = &server->desc.tools[i];
    const phi_mcp_serve_tool *info =
        server->desc.tool_infos != NULL ? &server->desc.tool_infos[i] : NULL;
    const char *title = info != NULL && info->title != NULL ? info->title : tool->label;
    phi__records_str(out, "name", phi_str_of(tool->name));
    if (era->titles) phi__shelf_some(out, "title", title);
    phi__shelf_some(out, "description", tool->description);
    phi__shelf_schema(out, tool->schema);
    if (info == NULL) return;
    if (era->structured) phi__shelf_json(out, "outputSchema", info->output_schema);
    if (era->annotations) phi__shelf_json(out, "annotations", info->annotations);
}

static void phi__shelf_place(phi__buf *out, const phi__era *era, const char *uri, const char *name,
                             const char *title, const char *description, const char *mime_type,
                             const char *annotations) {
    phi__records_str(out, "name", phi_str_of(name != NULL ? name : uri));
    if (era->titles) phi__shelf_some(out, "title", title);
    phi__shelf_some(out, "description", description);
    phi__shelf_some(out, "mimeType", mime_type);
    phi__shelf_json(out, "annotations", annotations);
}

static void phi__shelf_resource(const phi_mcp_server *server, const phi__era *era, size_t i,
                                phi__buf *out) {
    const phi_mcp_serve_resource *item = &server->desc.resources[i];
    phi__records_str(out, "uri", phi_str_of(item->uri));
    phi__shelf_place(out, era, item->uri, item->name, item->title, item->description,
                     item->mime_type, item->annotations);
}

static void phi__shelf_template(const phi_mcp_server *server, const phi__era *era, size_t i,
                                phi__buf *out) {
    const phi_mcp_serve_template *item = &server->desc.templates[i];
    phi__records_str(out, "uriTemplate", phi_str_of(item->uri));
    phi__shelf_place(out, era, item->uri, item->name, item->title, item->description,
                     item->mime_type, item->annotations);
}

static void phi__shelf_prompt(const phi_mcp_server *server, const phi__era *era, size_t i,
                              phi__buf *out) {
    const phi_mcp_serve_prompt *item = &server->desc.prompts[i];
    bool titles = era->titles;
    phi__records_str(out, "name", phi_str_of(item->name));
    if (titles) phi__shelf_some(out, "title", item->title);
    phi__shelf_some(out, "description", item->description);
    if (item->argument_count == 0) return;
    phi__records_raw(out, "arguments", "[");
    for (size_t j = 0; j < item->argument_count; j++) {
        const phi_mcp_serve_argument *argument = &item->arguments[j];
        phi__json_write_comma(out);
        phi__buf_char(out, '{');
        phi__records_str(out, "name", phi_str_of(argument->name));
        if (titles) phi__shelf_some(out, "title", argument->title);
        phi__shelf_some(out, "description", argument->description);
        phi__records_bool(out, "required", argument->required);
        phi__buf_char(out, '}');
    }
    phi__buf_char(out, ']');
}

typedef void (*phi__shelf_fn)(const phi_mcp_server *server, const phi__era *era, size_t i,
                              phi__buf *out);

/* Sends a page of a list. A cursor is the index of the first item. */
static bool phi__shelf_page(phi__origin *origin, const phi_json *params, const char *key,
                            size_t count, phi__shelf_fn item) {
    const phi_json *cursor = phi_json_get(params, "cursor");
    uint64_t from = 0;
    phi__buf out;
    if (cursor != NULL && (!phi__str_to_u64(phi_json_str(cursor, NULL), &from) || from > count))
        return phi__refuse_bad(origin, "params.cursor: not one of this list");
    size_t i = (size_t)from, to = i + phi__min(count - i, origin->server->desc.page);
    phi__send_open_complete(origin, &out);
    phi__records_raw(&out, key, "[");
    for (; i < to; i++) {
        phi__json_write_comma(&out);
        phi__buf_char(&out, '{');
        item(origin->server, origin->era, i, &out);
        phi__buf_char(&out, '}');
    }
    phi__buf_char(&out, ']');
    if (to < count) {
        phi__records_raw(&out, "nextCursor", "\"");
        phi__buf_u64(&out, to);
        phi__buf_char(&out, '"');
    }
    phi__send_cache(origin, &out);
    return phi__send_close(origin, &out);
}

static bool phi__shelf_tools(phi__origin *origin, const phi_json *params) {
    return phi__shelf_page(origin, params, "tools", origin->server->desc.tool_count,
                           phi__shelf_tool);
}

static bool phi__shelf_resources(phi__origin *origin, const phi_json *params) {
    return phi__shelf_page(origin, params, "resources", origin->server->desc.resource_count,
                           phi__shelf_resource);
}

static bool phi__shelf_templates(phi__origin *origin, const phi_json *params) {
    return phi__shelf_page(origin, params, "resourceTemplates", origin->server->desc.template_count,
                           phi__shelf_template);
}

static bool phi__shelf_prompts(phi__origin *origin, const phi_json *params) {
    return phi__shelf_page(origin, params, "prompts", origin->server->desc.prompt_count,
                           phi__shelf_prompt);
}

PHI__FN void phi__mcp_serve_ended(phi_mcp_server *server, const char *why) {
    server->ended = true;
    (void)snprintf(server->fault, sizeof server->fault, "%s", why);
}

PHI__FN bool phi__serve_listen(phi_mcp_server *server, phi__client *client, phi__mcp_way *way) {
    (void)server;
    if (client->own != NULL) return false;
    client->own = way;
    way->client = client;
    phi__client_renew(client);
    return true;
}

PHI__FN void phi__serve_way_gone(phi_mcp_server *server, phi__mcp_way *way) {
    if (way->reading != NULL) phi__long_end(way->reading);
    if (way->client != NULL) way->client->own = NULL;
    way->client = NULL;
    phi__sask_enter(server);
    while (!server->retired && way->waiting.first != NULL) {
        phi__serving *serving = PHI__OWNER(way->waiting.first, phi__serving, at_way);
        if (serving->origin.batch != NULL) serving->origin.batch->way = NULL;
        if (serving->client != NULL && serving->origin.http) {
            phi__sv_detach(serving); /* the call runs on: the session may still want its effect */
            continue;
        }
        phi__sv_detach(serving);
        phi__sv_drop(serving, false);
    }
    (void)phi__sask_leave(server);
}

/* ---- methods of the session ---- */

static bool phi__serve_ping(phi__origin *origin, const phi_json *params) {
    (void)params;
    return phi__send_empty(origin);
}

static bool phi__serve_set_level(phi__origin *origin, const phi_json *params) {
    int level = phi__level_of(phi__records_get_str(params, "level"));
    if (level < 0)
        return phi__refuse_bad(origin, "params.level: expected debug, info, notice, warning, "
                                       "error, critical, alert or emergency");
    origin->client->log_level = level;
    return phi__send_empty(origin);
}

/* Returns the era of a new session: desc.era, or the era that the client asks for, or else the
   newest era with sessions. NULL: desc.era has no sessions. */
static const phi__era *phi__serve_agree(const phi_mcp_server *server, phi_str version) {
    const phi__era *era = server->only != NULL ? server->only : phi__eras_find(version);
    if (era != NULL && era->handshake) return era;
    return server->only == NULL ? phi__eras_legacy() : NULL;
}

static bool phi__serve_unsupported(phi__origin *origin, phi_str requested) {
    phi__buf data = phi__buf_of(&origin->server->rt->memory);
    phi__buf_text(&data, "{\"supported\":");
    phi__shelf_versions(origin->server, &data);
    phi__json_write_key(&data, PHI__LIT("requested"));
    phi__json_write_str(&data, phi__str(requested.at, phi__min(requested.len, 64)));
    phi__buf_char(&data, '}');
    phi__send_error(origin, PHI__RPC_VERSION, 400, PHI__LIT("Unsupported protocol version"), &data);
    return false;
}

static bool phi__serve_initialize(phi__origin *origin, phi__client *client,
                                  const phi_json *params) {
    phi_mcp_server *server = origin->server;
    phi_str version = phi__records_get_str(params, "protocolVersion");
    const phi__era *era = phi__serve_agree(server, version);
    phi__buf out;
    if (era == NULL) return phi__serve_unsupported(origin, version);
    if (version.len == 0)
        return phi__refuse(origin, PHI__RPC_BAD_PARAMS, 400,
                           "params.protocolVersion: expected a string");
    if (client == NULL && phi__client_room(server)) client = phi__client_new(origin);
    if (client == NULL) return phi__refuse(origin, PHI__RPC_INTERNAL, 503, "Too many sessions");
    client->era = origin->era = era;
    client->log_level = PHI__LEVEL_INFO;
    client->can = phi__sv_session_can(phi_json_get(params, "capabilities"));
    phi__send_open(origin, &out);
    phi__records_str(&out, "protocolVersion", phi_str_of(era->version));
    phi__shelf_capabilities(server, &out, era);
    phi__records_raw(&out, "serverInfo", "");
    phi__send_server_info(server, &out, era);
    phi__shelf_some(&out, "instructions", server->desc.instructions);
    return phi__send_close(origin, &out);
}

/* ---- the table of methods ---- */

enum { PHI__LEGACY = 1, PHI__MODERN = 2, PHI__BOTH = 3 };

/* Requirements of a method: a phi__mcp_list that is offered, or one of these. */
enum { PHI__COMPLETING = PHI__MCP_LISTS, PHI__TASKED, PHI__MCP_ALWAYS };

typedef struct phi__method {
    const char *name;
    bool (*answer)(phi__origin *origin, const phi_json *params); /* false: an error was sent */
    uint8_t eras, needs;
    bool inputs; /* a repetition may carry answers to questions */
} phi__method;

static const phi__method *phi__serve_method(phi_str name) {
    enum {
        PHI__TOOLS = PHI__MCP_LIST_TOOLS,
        PHI__RESOURCES = PHI__MCP_LIST_RESOURCES,
        PHI__PROMPTED = PHI__MCP_LIST_PROMPTS
    };
    static const phi__method methods[] = {
        {"ping", phi__serve_ping, PHI__LEGACY, PHI__MCP_ALWAYS, false},
        {"tools/list", phi__shelf_tools, PHI__BOTH, PHI__TOOLS, false},
        {"tools/call", phi__srun_begin, PHI__BOTH, PHI__TOOLS, true},
        {"resources/list", phi__shelf_resources, PHI__BOTH, PHI__RESOURCES, false},
        {"resources/templates/list", phi__shelf_templates, PHI__BOTH, PHI__RESOURCES, false},
        {"resources/read", phi__data_read, PHI__BOTH, PHI__RESOURCES, true},
        {"resources/subscribe", phi__notify_subscribe, PHI__LEGACY, PHI__RESOURCES, false},
        {"resources/unsubscribe", phi__notify_unsubscribe, PHI__LEGACY, PHI__RESOURCES, false},
        {"prompts/list", phi__shelf_prompts, PHI__BOTH, PHI__PROMPTED, false},
        {"prompts/get", phi__data_prompt, PHI__BOTH, PHI__PROMPTED, true},
        {"completion/complete", phi__data_complete, PHI__BOTH, PHI__COMPLETING, false},
        {"tasks/get", phi__tasked_get, PHI__MODERN, PHI__TASKED, false},
        {"tasks/update", phi__tasked_update, PHI__MODERN, PHI__TASKED, false},
        {"tasks/cancel", phi__tasked_cancel, PHI__MODERN, PHI__TASKED, false},
        {"logging/setLevel", phi__serve_set_level, PHI__LEGACY, PHI__MCP_ALWAYS, false},
        {"server/discover", phi__shelf_discover, PHI__MODERN, PHI__MCP_ALWAYS, false},
        {"subscriptions/listen", phi__notify_listen, PHI__MODERN, PHI__MCP_ALWAYS, false}};
    for (size_t i = 0; i < PHI__COUNT(methods); i++)
        if (phi__str_is(name, methods[i].name)) return &methods[i];
    return NULL;
}

static bool phi__serve_offers(const phi_mcp_server *server, uint8_t needs) {
    if (needs < PHI__MCP_LISTS) return server->has[needs];
    if (needs == PHI__COMPLETING) return server->desc.complete_fn != NULL;
    return needs != PHI__TASKED || server->desc.tasks;
}

/* ---- one message ---- */

typedef struct phi__incoming_message {
    phi__client *client;
    const phi__heads *heads;
    phi_arena *arena; /* memory of the message */
    const phi_json *root, *params;
    phi_str method;
    phi__origin origin;
} phi__incoming_message;

/* Checks a request of 2026-07-28. False: an error was sent. */
static bool phi__serve_modern(phi__incoming_message *m) {
    const phi_json *meta = phi_json_get(m->params, "_meta");
    const phi_json *version = phi_json_get(meta, "io.modelcontextprotocol/protocolVersion");
    const phi_json *can = phi_json_get(meta, "io.modelcontextprotocol/clientCapabilities");
    phi_str text = phi_json_str(version, NULL);
    const char *fault = NULL;
    m->origin.era = phi__eras_modern();
    if (!phi_json_is(version, PHI_JSON_STRING) || !phi_json_is(can, PHI_JSON_OBJECT))
        return phi__refuse(&m->origin, PHI__RPC_BAD_PARAMS, 400,
                           "params._meta: expected io.modelcontextprotocol/protocolVersion and "
                           "io.modelcontextprotocol/clientCapabilities");
    if (m->heads != NULL && !phi_str_equal(m->heads->version, text))
        fault = "Header mismatch: MCP-Protocol-Version is not the version of the body";
    else if (phi__eras_find(text) != m->origin.era)
        return phi__serve_unsupported(&m->origin, text);
    else if (m->heads != NULL)
        fault = phi__heads_check(m->origin.server, m->heads, m->method, m->params);
    return fault == NULL || phi__refuse(&m->origin, PHI__RPC_HEADERS, 400, fault);
}

static bool phi__serve_is_modern(const phi__incoming_message *m) {
    const phi_json *meta = phi_json_get(m->params, "_meta");
    if (m->origin.server->only != NULL) return !m->origin.server->only->handshake;
    return phi_json_get(meta, "io.modelcontextprotocol/protocolVersion") != NULL ||
           phi_json_get(meta, "io.modelcontextprotocol/clientCapabilities") != NULL ||
           (m->heads != NULL && phi__eras_find(m->heads->version) == phi__eras_modern()) ||
           phi__str_is(m->method, "server/discover") ||
           phi__str_is(m->method, "subscriptions/listen");
}

/* Finds the session of a request. False: the request was answered. */
static bool phi__serve_legacy(phi__incoming_message *m) {
    phi__origin *origin = &m->origin;
    if (phi__str_is(m->method, "initialize")) {
        if (origin->batch != NULL)
            return phi__refuse(origin, PHI__RPC_BAD_REQUEST, 400, "initialize: not in a batch");
        (void)phi__serve_initialize(origin, m->client, m->params);
        return false;
    }
    if (m->heads != NULL && m->heads->version.len > 0 && phi__eras_find(m->heads->version) == NULL)
        return phi__refuse(origin, PHI__RPC_BAD_REQUEST, 400,
                           "MCP-Protocol-Version: not a version of the protocol");
    if (m->client != NULL) {
        origin->era = m->client->era;
        origin->client = m->client;
        phi__client_renew(m->client);
        return true;
    }
    if (!phi__str_is(m->method, "ping"))
        return phi__refuse(origin, PHI__RPC_BAD_REQUEST, 400,
                           "There is no session: initialize comes first");
    (void)phi__send_empty(origin);
    return false;
}

/* True if another request with this id is under way. */
static bool phi__serve_twice(const phi__incoming_message *m) {
    const phi__client *client = m->origin.era->handshake ? m->client : NULL;
    for (phi__link *link = m->origin.server->serving.first; link != NULL; link = link->next) {
        const phi__serving *serving = PHI__OWNER(link, phi__serving, link);
        if (serving->client != client || serving->parked) continue;
        if (client == NULL && serving->origin.way != m->origin.way) continue;
        if (phi_str_equal(serving->origin.id, m->origin.id)) return true;
    }
    return false;
}

static void phi__serve_request(phi__incoming_message *m) {
    phi__origin *origin = &m->origin;
    bool modern = phi__serve_is_modern(m);
    const phi__method *method = phi__serve_method(m->method);
    if (origin->server->only != NULL && modern && phi__str_is(m->method, "initialize"))
        (void)phi__serve_unsupported(origin, phi__records_get_str(m->params, "protocolVersion"));
    else if (modern ? !phi__serve_modern(m) : !phi__serve_legacy(m))
        return;
    else if (method == NULL || (method->eras & (modern ? PHI__MODERN : PHI__LEGACY)) == 0 ||
             !phi__serve_offers(origin->server, method->needs))
        (void)phi__refuse(origin, PHI__RPC_NO_METHOD, modern ? 404 : 200, "Method not found");
    else if (phi__serve_twice(m))
        (void)phi__refuse(origin, PHI__RPC_BAD_REQUEST, 400,
                          "id: a request of that id is under way");
    else if (!modern || !method->inputs ||
             (phi__sask_inputs(origin, m->params) &&
              !phi__sask_repeated(origin, m->method, m->params)))
        (void)method->answer(origin, m->params);
}

static void phi__serve_notification(phi__incoming_message *m) {
    if (m->client != NULL) phi__client_renew(m->client);
    phi__send_nothing(&m->origin, 202);
    if (phi__str_is(m->method, "notifications/cancelled")) {
        const phi_json *id = phi_json_get(m->params, "requestId");
        phi__buf text = phi__buf_of(&m->origin.server->rt->memory);
        (void)phi__json_write(&text, id, 0);
        for (phi__link *link = m->origin.server->serving.first; link != NULL && !text.failed;
             link = link->next) {
            phi__serving *serving = PHI__OWNER(link, phi__serving, link);
            bool ours = serving->client != NULL ? serving->client == m->client
                                                : serving->origin.way == m->origin.way;
            if (!ours || !phi_str_equal(serving->origin.id, phi__buf_str(&text))) continue;
            phi__sv_drop(serving, false);
            break;
        }
        phi__buf_free(&text);
    }
}

static void phi__serve_one(phi__incoming_message *m, const phi_json *node) {
    phi__rpc rpc;
    bool read = phi__rpc_read(m->arena, node, &rpc);
    m->origin.era = m->client != NULL ? m->client->era : phi__eras_legacy();
    m->origin.id = rpc.id;
    m->method = rpc.method;
    m->params = rpc.params;
    char text[120];
    if (!read) {
        (void)phi__refuse_memory(&m->origin);
        return;
    }
    switch (rpc.kind) {
    case PHI__RPC_INVALID:
        (void)snprintf(text, sizeof text, "Not a message: %s", rpc.fault);
        (void)phi__refuse(&m->origin, PHI__RPC_BAD_REQUEST, 400, text);
        rpc.message = phi_str_of(text);
        if (m->client != NULL && rpc.method.len == 0)
            phi__sask_answered(m->origin.server, m->client, &rpc);
        return;
    case PHI__RPC_REQUEST: phi__serve_request(m); return;
    case PHI__RPC_NOTIFICATION: phi__serve_notification(m); return;
    case PHI__RPC_RESULT:
    case PHI__RPC_ERROR:
        m->origin.id = phi__str("", 0);
        phi__send_nothing(&m->origin, 202);
        if (m->client != NULL) phi__sask_answered(m->origin.server, m->client, &rpc);
        return;
    }
}

/* Makes a batch for the messages. NULL: an error was sent. */
static phi__batch *phi__serve_batch(phi__incoming_message *m) {
    size_t count = phi_json_count(m->root);
    const char *fault = NULL;
    if (m->client != NULL && !m->client->era->batches)
        fault = "Expected one message, not a batch";
    else if (count == 0 || count > PHI__BATCH_MOST)
        fault = "Expected a batch of 1 to 64 messages";
    if (fault != NULL) {
        (void)phi__refuse(&m->origin, PHI__RPC_BAD_REQUEST, 400, fault);
        return NULL;
    }
    phi__batch *batch = (phi__batch *)phi__alloc(&m->origin.server->rt->memory, sizeof *batch);
    if (batch == NULL) {
        (void)phi__refuse_memory(&m->origin);
        return NULL;
    }
    batch->way = m->origin.way;
    batch->waiting = count + 1; /* one for each message, one for phi__serve_all */
    phi__buf_init(&batch->out, &m->origin.server->rt->memory);
    return batch;
}

static void phi__serve_all(phi__incoming_message *m) {
    phi_json_iter it = phi_json_each(m->root);
    phi__origin origin = m->origin;
    if (!phi_json_is(m->root, PHI_JSON_ARRAY)) {
        phi__serve_one(m, m->root);
        return;
    }
    phi__batch *batch = phi__serve_batch(m);
    if (batch == NULL) return;
    origin.batch = batch;
    while (phi_json_next(&it) != NULL) {
        m->origin = origin;
        if (m->origin.server->retired) batch->way = NULL; /* the way was freed with the server */
        if (m->origin.server->retired)
            phi__send_nothing(&m->origin, 202);
        else
            phi__serve_one(m, it.at);
    }
    if (m->origin.server->retired) batch->way = NULL;
    phi__send_nothing(&origin, 202);
}

static void phi__serve_read(phi__incoming_message *m, phi_status status) {
    if (status == PHI_OK)
        phi__serve_all(m);
    else if (status == PHI_NO_MEMORY)
        (void)phi__refuse_memory(&m->origin);
    else if (status == PHI_TOO_BIG)
        (void)phi__refuse(&m->origin, PHI__RPC_BAD_REQUEST, 400,
                          "The message is too large, or too deep");
    else
        (void)phi__refuse(&m->origin, PHI__RPC_PARSE, 400, "The message is not JSON");
}

/* Prepares to read a message. Copies server, client, way and heads from *from. */
static void phi__mcp_serve_begin(phi__incoming_message *m, const phi__long *from,
                                 phi_arena *arena) {
    memset(m, 0, sizeof *m);
    m->client = from->client;
    m->heads = from->http ? &from->heads : NULL;
    m->arena = arena;
    m->origin.server = from->server;
    m->origin.way = from->way;
    m->origin.http = from->http;
    m->origin.era = phi__eras_legacy();
}

static void phi__serve_sliced(phi__slices *slices, phi_status status, phi_json *root) {
    phi__long *one = PHI__OWNER(slices, phi__long, slices), from = *one;
    phi_arena arena = slices->arena;
    phi__incoming_message m;
    if (status == PHI_BUSY) return;
    /* this function now owns the arena with the tree */
    phi_arena_init(&slices->arena, &one->server->rt->memory, 0);
    phi__sask_enter(from.server);
    phi__long_end(one);
    phi__mcp_serve_begin(&m, &from, &arena);
    m.root = root;
    phi__serve_read(&m, status);
    phi_arena_free(&arena);
    if (phi__sask_leave(from.server)) from.way->table->taken(from.way);
}

PHI__FN bool phi__serve_message(phi_mcp_server *server, phi__client *client, phi__mcp_way *way,
                                phi_str json, const phi__heads *heads) {
    phi__incoming_message m;
    phi_json *root = NULL;
    phi_status status = PHI_TOO_BIG;
    bool whole = json.len <= PHI__SLICES_WHOLE;
    phi__long from = PHI_ZERO;
    from.server = server;
    from.client = client;
    from.way = way;
    from.http = heads != NULL;
    if (heads != NULL) from.heads = *heads;
    from.slices.sliced = phi__serve_sliced;
    if (json.len <= server->desc.max_message_bytes && !whole) {
        status = phi__long_begin(server, &from, json);
        if (status == PHI_OK) return true;
    }
    phi__sask_enter(server);
    phi_arena arena = phi__arena_of(&server->rt->memory, 0);
    phi__mcp_serve_begin(&m, &from, &arena);
    if (json.len <= server->desc.max_message_bytes && whole)
        status = phi__rpc_parse(&arena, json, &root);
    m.root = root;
    phi__serve_read(&m, status);
    phi_arena_free(&arena);
    return phi__sask_leave(server);
}
