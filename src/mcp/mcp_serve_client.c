/* mcp_serve_client.c - sessions of our server's clients. */
#include "mcp/mcp_serve_state_in.h"

#include "io/clock_in.h"

PHI__FN const char *phi__mcp_serve_client_id(const phi__mcp_client *client) { return client->id; }

PHI__FN phi__mcp_client *phi__mcp_serve_client_find(phi_mcp_server *server, phi_str id) {
    phi__link *link;
    for (link = server->clients.first; link != NULL; link = link->next) {
        phi__mcp_client *client = PHI__OWNER(link, phi__mcp_client, link);
        if (client->http && phi__str_is(id, client->id)) return client;
    }
    return NULL;
}

static phi__mcp_serving *phi__mcp_serve_client_serving(const phi_mcp_server *server,
                                                       const phi__mcp_client *client) {
    phi__link *link;
    for (link = server->serving.first; link != NULL; link = link->next) {
        phi__mcp_serving *serving = PHI__OWNER(link, phi__mcp_serving, link);
        if (serving->client == client) return serving;
    }
    return NULL;
}

PHI__FN void phi__mcp_serve_client_end(phi__mcp_client *client) {
    phi_mcp_server *server = client->server;
    phi_memory *memory = &server->rt->memory;
    phi__mcp_way *own = client->own;
    phi__mcp_serving *serving;
    phi__mcp_serve_notify_end(client);
    phi__mcp_serve_long_without(server, client);
    phi__io_timer_clear(server->rt->io, &client->timer);
    phi__list_take(&server->clients, &client->link);
    server->client_count--;
    client->own = NULL;
    if (own != NULL) {
        own->client = NULL;
        (void)own->table->send(own, phi__str("", 0), 200, true);
    }
    phi__mcp_serve_ask_enter(server);
    while ((serving = phi__mcp_serve_client_serving(server, client)) != NULL)
        phi__mcp_serve_request_drop(serving, false);
    phi__free(memory, client, sizeof *client);
    (void)phi__mcp_serve_ask_leave(server);
}

PHI__FN void phi__mcp_serve_client_renew(phi__mcp_client *client) {
    phi_mcp_server *server = client->server;
    uint32_t ms = server->desc.session_idle_ms;
    if (!client->http || ms == PHI_UNLIMITED) return;
    (void)phi__io_timer_set(server->rt->io, &client->timer,
                            phi__io_now_us(server->rt->io) + (uint64_t)ms * 1000);
}

static void phi__mcp_serve_client_idle(phi__timer *timer) {
    phi__mcp_client *client = PHI__OWNER(timer, phi__mcp_client, timer);
    if (client->own != NULL || phi__mcp_serve_client_serving(client->server, client) != NULL)
        phi__mcp_serve_client_renew(client);
    else
        phi__mcp_serve_client_end(client);
}

PHI__FN void phi__mcp_serve_client_secret(const phi_mcp_server *server, void *out, size_t len) {
    if (server->rt->tape == NULL)
        phi__io_random(server->rt->io, out, len);
    else
        phi__clock_random(out, len);
}

static void phi__mcp_serve_client_name(phi__mcp_client *client) {
    static const char digits[] = "0123456789abcdef";
    unsigned char random[16];
    int i;
    phi__mcp_serve_client_secret(client->server, random, sizeof random);
    for (i = 0; i < 16; i++) {
        client->id[2 * i] = digits[random[i] >> 4];
        client->id[2 * i + 1] = digits[random[i] & 15];
    }
}

PHI__FN bool phi__mcp_serve_client_room(phi_mcp_server *server) {
    phi__link *link;
    if (server->client_count < server->desc.max_sessions) return true;
    for (link = server->clients.first; link != NULL; link = link->next) {
        phi__mcp_client *client = PHI__OWNER(link, phi__mcp_client, link);
        if (!client->http || client->own != NULL ||
            phi__mcp_serve_client_serving(server, client) != NULL)
            continue;
        phi__mcp_serve_client_end(client);
        return true;
    }
    return false;
}

PHI__FN phi__mcp_client *phi__mcp_serve_client_new(phi_mcp_server *server,
                                                   const phi__mcp_origin *origin) {
    phi__mcp_client *client = (phi__mcp_client *)phi__alloc(&server->rt->memory, sizeof *client);
    if (client == NULL) return NULL;
    client->server = server;
    client->http = origin->http;
    client->timer.fire = phi__mcp_serve_client_idle;
    phi__mcp_serve_client_name(client);
    phi__list_push(&server->clients, &client->link);
    server->client_count++;
    phi__mcp_serve_client_renew(client);
    if (origin->way->table->session != NULL) origin->way->table->session(origin->way, client);
    return client;
}
