/* mcp_redirect.c - mcp_redirect_in.h. */
#include "mcp/mcp_redirect_in.h"

#ifndef PHI_NO_LISTEN

#include "serve/serve_in.h"

#include <stdio.h>

enum { PHI__MCP_REDIRECT_CONNECTIONS = 8 };

struct phi__mcp_redirect {
    phi_memory *memory;
    phi__serve *serve;
    const char *path;
    phi_status (*got)(void *ctx, phi_str query);
    void *ctx;
};

/* A page of another site must not reach this one by a name that it resolves to 127.0.0.1. */
static bool phi__mcp_redirect_is_ours(const phi__mcp_redirect *r, phi_str host) {
    static const char *const names[] = {"127.0.0.1", "localhost"};
    char want[32];
    size_t i;
    for (i = 0; i < PHI__COUNT(names); i++) {
        (void)snprintf(want, sizeof want, "%s:%u", names[i], (unsigned)phi__serve_port(r->serve));
        if (phi__str_is_nocase(host, want)) return true;
    }
    return false;
}

static void phi__mcp_redirect_page(phi__serve_exchange *exchange, int http_status,
                                   const char *text) {
    static const char *const lines[][2] = {
        {"Content-Type", "text/html; charset=utf-8"},
        {"Cache-Control", "no-store"},
        {"Referrer-Policy", "no-referrer"}, /* the query has the code */
        {"X-Content-Type-Options", "nosniff"},
        {"Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"}};
    phi__header headers[PHI__COUNT(lines)];
    char page[256];
    size_t i;
    int n = snprintf(page, sizeof page,
                     "<!DOCTYPE html><html><head><title>Authorization</title></head>"
                     "<body><p>%s</p></body></html>\n",
                     text);
    for (i = 0; i < PHI__COUNT(lines); i++) {
        headers[i].name = phi_str_of(lines[i][0]);
        headers[i].value = phi_str_of(lines[i][1]);
    }
    (void)phi__serve_reply(exchange, http_status, headers, PHI__COUNT(lines),
                           phi__str(page, n > 0 ? (size_t)n : 0));
}

static void phi__mcp_redirect_on_request(void *ctx, phi__serve_exchange *exchange,
                                         const phi__http_head *head) {
    phi__mcp_redirect *r = (phi__mcp_redirect *)ctx;
    if (!phi__mcp_redirect_is_ours(r, head->authority))
        phi__serve_refuse(exchange, 421, "this address has another name");
    else if (!phi__str_is(head->path, r->path))
        phi__serve_refuse(exchange, 404, NULL);
    else if (!phi__str_is(head->method, "GET"))
        phi__serve_refuse(exchange, 405, NULL);
    else if (r->got(r->ctx, head->query) == PHI_OK)
        phi__mcp_redirect_page(exchange, 200,
                               "The authorization has arrived. You can close this page.");
    else
        phi__mcp_redirect_page(exchange, 400,
                               "This does not belong to an authorization that waits.");
}

/* ---- for other files ---- */

PHI__FN phi_status phi__mcp_redirect_new(phi__io *io, uint16_t port, const char *path,
                                         phi_status (*got)(void *ctx, phi_str query), void *ctx,
                                         phi__mcp_redirect **out, char *message,
                                         size_t message_size) {
    phi__mcp_redirect *r = (phi__mcp_redirect *)phi__alloc(phi__io_memory(io), sizeof *r);
    phi__serve_desc desc;
    phi_status status;
    *out = NULL;
    if (message_size > 0) message[0] = '\0';
    if (r == NULL) return PHI_NO_MEMORY;
    r->memory = phi__io_memory(io);
    r->path = path;
    r->got = got;
    r->ctx = ctx;
    memset(&desc, 0, sizeof desc);
    desc.port = port;
    desc.max_connections = PHI__MCP_REDIRECT_CONNECTIONS;
    desc.max_body_bytes = 1; /* none is wanted */
    desc.request = phi__mcp_redirect_on_request;
    desc.ctx = r;
    status = phi__serve_new(io, &desc, &r->serve, message, message_size);
    if (status == PHI_OK)
        *out = r;
    else
        phi__free(r->memory, r, sizeof *r);
    return status;
}

PHI__FN uint16_t phi__mcp_redirect_port(const phi__mcp_redirect *redirect) {
    return phi__serve_port(redirect->serve);
}

PHI__FN void phi__mcp_redirect_free(phi__mcp_redirect *redirect) {
    if (redirect == NULL) return;
    phi__serve_free(redirect->serve);
    phi__free(redirect->memory, redirect, sizeof *redirect);
}

#endif
