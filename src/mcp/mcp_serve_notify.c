/* mcp_serve_notify.c - what our server tells without being asked: lists that have changed,
   resources that were updated, log messages; and who wants to hear of it. */
#include "mcp/mcp_serve_state_in.h"

#include "text/records_in.h"

/* ---- subscriptions of a session ---- */

static phi__mcp_subscribed *phi__mcp_serve_notify_find(const phi__mcp_client *client, phi_str uri) {
    phi__link *link;
    for (link = client->uris.first; link != NULL; link = link->next) {
        phi__mcp_subscribed *one = PHI__OWNER(link, phi__mcp_subscribed, link);
        if (phi_str_equal(one->uri, uri)) return one;
    }
    return NULL;
}

static void phi__mcp_serve_notify_forget(phi__mcp_client *client, phi__mcp_subscribed *one) {
    phi__list_take(&client->uris, &one->link);
    client->uri_count--;
    phi__free(&client->server->rt->memory, one, one->bytes);
}

PHI__FN void phi__mcp_serve_notify_end(phi__mcp_client *client) {
    while (client->uris.first != NULL)
        phi__mcp_serve_notify_forget(client,
                                     PHI__OWNER(client->uris.first, phi__mcp_subscribed, link));
}

static bool phi__mcp_serve_notify_keep(phi__mcp_client *client, phi_str uri) {
    size_t bytes = sizeof(phi__mcp_subscribed) + uri.len;
    phi__mcp_subscribed *one =
        (phi__mcp_subscribed *)phi__alloc(&client->server->rt->memory, bytes);
    if (one == NULL) return false;
    one->bytes = bytes;
    one->uri = phi__str((const char *)(one + 1), uri.len);
    memcpy(one + 1, uri.at, uri.len);
    phi__list_push(&client->uris, &one->link);
    client->uri_count++;
    return true;
}

PHI__FN void phi__mcp_serve_notify_subscribe(phi_mcp_server *server, phi__mcp_origin *origin,
                                             phi__mcp_client *client, const phi_json *params) {
    phi_str uri = phi_json_str(phi_json_get(params, "uri"), NULL);
    if (!phi__mcp_serve_data_known(server, uri)) {
        phi__mcp_serve_data_unknown(server, origin, uri);
    } else if (phi__mcp_serve_notify_find(client, uri) != NULL) {
        phi__mcp_serve_send_empty(server, origin);
    } else if (client->uri_count >= server->desc.max_subscriptions) {
        phi__mcp_serve_send_error(server, origin, PHI__MCP_RPC_INTERNAL, 200,
                                  PHI__LIT("Too many subscriptions"), NULL);
    } else if (phi__mcp_serve_notify_keep(client, uri)) {
        phi__mcp_serve_send_empty(server, origin);
    } else
        phi__mcp_serve_send_error(server, origin, PHI__MCP_RPC_INTERNAL, 500,
                                  PHI__LIT("Out of memory"), NULL);
}

PHI__FN void phi__mcp_serve_notify_unsubscribe(phi_mcp_server *server, phi__mcp_origin *origin,
                                               phi__mcp_client *client, const phi_json *params) {
    phi__mcp_subscribed *one =
        phi__mcp_serve_notify_find(client, phi_json_str(phi_json_get(params, "uri"), NULL));
    if (one != NULL) phi__mcp_serve_notify_forget(client, one);
    phi__mcp_serve_send_empty(server, origin);
}

/* ---- subscriptions/listen ---- */

static bool phi__mcp_serve_notify_uris(phi__mcp_serving *serving, const phi_json *list) {
    phi_json_iter it = phi_json_each(list);
    const phi_json *child;
    size_t most = phi__min(phi_json_count(list), serving->server->desc.max_subscriptions);
    phi_str *uris;
    if (!phi_json_is(list, PHI_JSON_ARRAY) || most == 0) return true;
    uris = (phi_str *)phi_arena_alloc(&serving->arena, phi__mul(most, sizeof *uris));
    if (uris == NULL) return false;
    serving->wanted.uris = uris;
    while ((child = phi_json_next(&it)) != NULL && serving->wanted.uri_count < most) {
        phi_str uri = phi_json_str(child, NULL);
        if (!phi__mcp_serve_data_known(serving->server, uri)) continue;
        if (!phi__arena_str(&serving->arena, uri, &uris[serving->wanted.uri_count])) return false;
        serving->wanted.uri_count++;
    }
    return true;
}

/* params of a notification on a stream: whose they are. */
static void phi__mcp_serve_notify_tag(const phi__mcp_serving *serving, phi__buf *out) {
    phi__records_raw(out, "_meta", "{\"io.modelcontextprotocol/subscriptionId\":");
    phi__buf_add_str(out, serving->origin.id);
    phi__buf_char(out, '}');
}

static void phi__mcp_serve_notify_acknowledge(const phi__mcp_serving *serving) {
    const phi__mcp_wanted *wanted = &serving->wanted;
    phi__buf out;
    size_t i;
    phi__mcp_serve_send_note(serving->server, &out, "notifications/subscriptions/acknowledged");
    phi__mcp_serve_notify_tag(serving, &out);
    phi__records_raw(&out, "notifications", "{");
    phi__records_true(&out, "toolsListChanged", wanted->tools);
    phi__records_true(&out, "promptsListChanged", wanted->prompts);
    phi__records_true(&out, "resourcesListChanged", wanted->resources);
    if (wanted->uri_count > 0) {
        phi__records_raw(&out, "resourceSubscriptions", "[");
        for (i = 0; i < wanted->uri_count; i++) {
            phi__json_write_comma(&out);
            phi__json_write_str(&out, wanted->uris[i]);
        }
        phi__buf_char(&out, ']');
    }
    phi__buf_char(&out, '}');
    (void)phi__mcp_serve_send_noted(serving->origin.way, &out);
}

PHI__FN void phi__mcp_serve_notify_listen(phi_mcp_server *server, phi__mcp_origin *origin,
                                          phi__mcp_client *client, const phi_json *params) {
    const phi_json *filter = phi_json_get(params, "notifications");
    phi__mcp_serving *serving;
    if (!phi_json_is(filter, PHI_JSON_OBJECT)) {
        phi__mcp_serve_send_error(server, origin, PHI__MCP_RPC_BAD_PARAMS, 200,
                                  PHI__LIT("params.notifications: expected an object"), NULL);
        return;
    }
    if (server->desc.tasks && phi_json_get(filter, "taskIds") != NULL &&
        (phi__mcp_serve_request_can(server, params) & (uint32_t)PHI_MCP_CAN_TASKS) == 0) {
        phi__mcp_serve_request_needs(server, origin, (uint32_t)PHI_MCP_CAN_TASKS);
        return;
    }
    serving = phi__mcp_serve_request_new(server, origin, client, PHI__MCP_SERVING_LISTEN, params);
    if (serving == NULL) return;
    serving->wanted.tools =
        server->has_tools && phi_json_bool(phi_json_get(filter, "toolsListChanged"), false);
    serving->wanted.prompts =
        server->has_prompts && phi_json_bool(phi_json_get(filter, "promptsListChanged"), false);
    serving->wanted.resources =
        server->has_resources && phi_json_bool(phi_json_get(filter, "resourcesListChanged"), false);
    if (phi__mcp_serve_notify_uris(serving, phi_json_get(filter, "resourceSubscriptions"))) {
        phi__mcp_serve_notify_acknowledge(serving);
        return;
    }
    phi__mcp_serve_send_error(server, &serving->origin, PHI__MCP_RPC_INTERNAL, 500,
                              PHI__LIT("Out of memory"), NULL);
    phi__mcp_serve_request_drop(serving, true);
}

/* ---- telling ---- */

static const char *phi__mcp_serve_notify_method(phi__mcp_list list) {
    if (list == PHI__MCP_LIST_TOOLS) return "notifications/tools/list_changed";
    return list == PHI__MCP_LIST_PROMPTS ? "notifications/prompts/list_changed"
                                         : "notifications/resources/list_changed";
}

static bool phi__mcp_serve_notify_wants(const phi__mcp_wanted *wanted, phi__mcp_list list) {
    if (list == PHI__MCP_LIST_TOOLS) return wanted->tools;
    return list == PHI__MCP_LIST_PROMPTS ? wanted->prompts : wanted->resources;
}

PHI__FN void phi__mcp_serve_notify_changed(phi_mcp_server *server, phi__mcp_list list) {
    const char *method = phi__mcp_serve_notify_method(list);
    phi__link *link;
    phi__buf out;
    for (link = server->clients.first; link != NULL; link = link->next) {
        const phi__mcp_client *client = PHI__OWNER(link, phi__mcp_client, link);
        if (client->own == NULL) continue;
        phi__mcp_serve_send_note(server, &out, method);
        (void)phi__mcp_serve_send_noted(client->own, &out);
    }
    for (link = server->serving.first; link != NULL; link = link->next) {
        const phi__mcp_serving *serving = PHI__OWNER(link, phi__mcp_serving, link);
        if (serving->kind != PHI__MCP_SERVING_LISTEN || serving->origin.way == NULL) continue;
        if (!phi__mcp_serve_notify_wants(&serving->wanted, list)) continue;
        phi__mcp_serve_send_note(server, &out, method);
        phi__mcp_serve_notify_tag(serving, &out);
        (void)phi__mcp_serve_send_noted(serving->origin.way, &out);
    }
}

static bool phi__mcp_serve_notify_wants_uri(const phi__mcp_wanted *wanted, phi_str uri) {
    size_t i;
    for (i = 0; i < wanted->uri_count; i++)
        if (phi_str_equal(wanted->uris[i], uri)) return true;
    return false;
}

PHI__FN void phi__mcp_serve_notify_updated(phi_mcp_server *server, phi_str uri) {
    phi__link *link;
    phi__buf out;
    for (link = server->clients.first; link != NULL; link = link->next) {
        const phi__mcp_client *client = PHI__OWNER(link, phi__mcp_client, link);
        if (client->own == NULL || phi__mcp_serve_notify_find(client, uri) == NULL) continue;
        phi__mcp_serve_send_note(server, &out, "notifications/resources/updated");
        phi__records_str(&out, "uri", uri);
        (void)phi__mcp_serve_send_noted(client->own, &out);
    }
    for (link = server->serving.first; link != NULL; link = link->next) {
        const phi__mcp_serving *serving = PHI__OWNER(link, phi__mcp_serving, link);
        if (serving->kind != PHI__MCP_SERVING_LISTEN || serving->origin.way == NULL) continue;
        if (!phi__mcp_serve_notify_wants_uri(&serving->wanted, uri)) continue;
        phi__mcp_serve_send_note(server, &out, "notifications/resources/updated");
        phi__mcp_serve_notify_tag(serving, &out);
        phi__records_str(&out, "uri", uri);
        (void)phi__mcp_serve_send_noted(serving->origin.way, &out);
    }
}

PHI__FN void phi__mcp_serve_notify_log(phi_mcp_server *server, const char *level,
                                       const char *logger, const char *data) {
    int severity = phi__mcp_level_of(phi_str_of(level));
    phi__link *link;
    for (link = server->clients.first; link != NULL; link = link->next) {
        const phi__mcp_client *client = PHI__OWNER(link, phi__mcp_client, link);
        if (client->own != NULL && severity >= client->log_level)
            (void)phi__mcp_serve_request_log(server, client->own, level, logger, data);
    }
}
