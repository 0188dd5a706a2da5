/* mcp_serve_long.c - long messages to our server: read in slices, one message after another, so
   that one tree stands at a time. */
#include "mcp/mcp_serve_state_in.h"

static void phi__mcp_serve_long_next(phi_mcp_server *server) {
    if (server->longs.first != NULL)
        phi__mcp_slices_go(&PHI__OWNER(server->longs.first, phi__mcp_long, link)->slices);
}

PHI__FN phi_status phi__mcp_serve_long_begin(phi_mcp_server *server, const phi__mcp_long *message,
                                             phi_str json) {
    phi_memory *memory = &server->rt->memory;
    phi__mcp_long *one = (phi__mcp_long *)phi__alloc(memory, sizeof *one);
    if (one == NULL) return PHI_NO_MEMORY;
    *one = *message;
    one->server = server;
    if (phi__mcp_slices_begin(&one->slices, server->rt, memory, json, false) != PHI_OK) {
        phi__free(memory, one, sizeof *one);
        return PHI_NO_MEMORY;
    }
    one->way->reading = one;
    phi__list_push(&server->longs, &one->link);
    if (server->longs.first == &one->link) phi__mcp_serve_long_next(server);
    return PHI_OK;
}

PHI__FN void phi__mcp_serve_long_end(phi__mcp_long *one) {
    phi_mcp_server *server = one->server;
    one->way->reading = NULL;
    phi__list_take(&server->longs, &one->link);
    phi__mcp_slices_end(&one->slices);
    phi__free(&server->rt->memory, one, sizeof *one);
    phi__mcp_serve_long_next(server);
}

PHI__FN void phi__mcp_serve_long_end_all(phi_mcp_server *server) {
    while (server->longs.first != NULL)
        phi__mcp_serve_long_end(PHI__OWNER(server->longs.first, phi__mcp_long, link));
}

PHI__FN void phi__mcp_serve_long_without(phi_mcp_server *server, const phi__mcp_client *client) {
    phi__link *link;
    for (link = server->longs.first; link != NULL; link = link->next) {
        phi__mcp_long *one = PHI__OWNER(link, phi__mcp_long, link);
        if (one->client == client) one->client = NULL;
    }
}
