/* mcp_oauth_client.c - the client that the program is to an authorization server: given, named by a
   document's address, registered before, or registered now. */
#include "mcp/mcp_oauth_state_in.h"

static void phi__mcp_oauth_client_clear(phi__mcp_oauth *o) {
    phi_arena_free(&o->client_arena);
    memset(&o->client, 0, sizeof o->client);
}

/* The registration at an issuer, in memory or in the store. */
static bool phi__mcp_oauth_client_find(phi__mcp_oauth *o, phi_str issuer) {
    if (o->client.registered && phi_str_equal(o->client.issuer, issuer)) return true;
    phi__mcp_oauth_client_clear(o);
    if (phi__mcp_oauth_keep_load_client(o->desc->store, &o->client_arena, issuer, &o->client) ==
        PHI_OK)
        return true;
    phi__mcp_oauth_client_clear(o);
    return false;
}

static bool phi__mcp_oauth_client_copy(phi__mcp_oauth *o, phi_str text, phi_str *out) {
    return phi__arena_str(&o->client_arena, text, out);
}

/* What the client of the desc can prove itself with. */
static uint32_t phi__mcp_oauth_client_has(const phi_mcp_oauth_desc *desc) {
    uint32_t has = desc->client_key != NULL ? PHI__MCP_OAUTH_KEY : 0;
    if (desc->client_secret != NULL && desc->client_secret[0] != '\0') has |= PHI__MCP_OAUTH_BASIC;
    return has;
}

static const char *phi__mcp_oauth_client_methods(const phi_mcp_oauth_desc *desc) {
    return desc->client_key != NULL
               ? "the token endpoint takes no method that phi has: none, client_secret_basic, "
                 "client_secret_post or private_key_jwt"
               : "the token endpoint takes no method that phi has: none, client_secret_basic or "
                 "client_secret_post";
}

/* A client_id and an assertion are for one issuer: the desc's, else that of the token so far. */
static phi_status phi__mcp_oauth_client_bound(phi__mcp_oauth *o) {
    const phi_mcp_oauth_desc *desc = o->desc;
    phi_str issuer = o->found.server.issuer, bound = phi_str_of(desc->issuer);
    if (desc->client_id == NULL && phi__mcp_oauth_state_person(o)) return PHI_OK;
    if (bound.len == 0 &&
        (desc->client_id == NULL || phi__str_is(o->grant.client_id, desc->client_id)))
        bound = o->grant.issuer;
    if (bound.len == 0) bound = phi__buf_str(&o->bound);
    if (bound.len == 0 || phi_str_equal(bound, issuer)) return PHI_OK;
    return phi__mcp_oauth_state_fail(
        o, PHI_REFUSED, "%s to another issuer than %.*s: %.*s",
        desc->client_id != NULL ? "client_id belongs" : "the assertion goes",
        (int)phi__min(issuer.len, 100), issuer.at, (int)phi__min(bound.len, 100), bound.at);
}

/* The client of the desc. */
static phi_status phi__mcp_oauth_client_given(phi__mcp_oauth *o) {
    const phi__mcp_oauth_server *server = &o->found.server;
    const phi_mcp_oauth_desc *desc = o->desc;
    uint32_t has = phi__mcp_oauth_client_has(desc);
    phi__mcp_oauth_client_clear(o);
    if (!phi__mcp_oauth_client_copy(o, server->issuer, &o->client.issuer)) return PHI_NO_MEMORY;
    o->client.id = phi_str_of(desc->client_id);
    o->client.secret = phi_str_of(desc->client_secret);
    o->client.method = phi__mcp_oauth_form_method(server, has, desc->client_auth);
    if (o->client.method == 0 && has == 0) o->client.method = PHI__MCP_OAUTH_NONE;
    if (o->client.method != 0) return PHI_OK;
    return phi__mcp_oauth_state_fail(o, PHI_REFUSED, "%s", phi__mcp_oauth_client_methods(desc));
}

/* A client id metadata document. */
static phi_status phi__mcp_oauth_client_document(phi__mcp_oauth *o) {
    phi__mcp_oauth_client_clear(o);
    if (!phi__mcp_oauth_client_copy(o, o->found.server.issuer, &o->client.issuer))
        return PHI_NO_MEMORY;
    o->client.id = phi_str_of(o->desc->client_metadata_url);
    o->client.method = PHI__MCP_OAUTH_NONE;
    return PHI_OK;
}

/* ---- registration ---- */

/* The method that the registration asks for: none, where the server allows that. */
static uint32_t phi__mcp_oauth_client_method(const phi__mcp_oauth_server *server) {
    if (!server->says_methods || (server->methods & PHI__MCP_OAUTH_NONE) != 0)
        return PHI__MCP_OAUTH_NONE;
    return (server->methods & PHI__MCP_OAUTH_BASIC) != 0 ? (uint32_t)PHI__MCP_OAUTH_BASIC
                                                         : server->methods & PHI__MCP_OAUTH_POST;
}

static phi_status phi__mcp_oauth_client_register(phi__mcp_oauth *o) {
    const phi__mcp_oauth_server *server = &o->found.server;
    uint32_t method = phi__mcp_oauth_client_method(server);
    phi_status status = PHI_NO_MEMORY;
    phi__buf body;
    if (server->registration.len == 0)
        return phi__mcp_oauth_state_fail(o, PHI_REFUSED, "%.*s registers no clients: set client_id",
                                         (int)phi__min(server->issuer.len, 100), server->issuer.at);
    if (method == 0)
        return phi__mcp_oauth_state_fail(o, PHI_REFUSED, "%s",
                                         phi__mcp_oauth_client_methods(o->desc));
    phi__mcp_oauth_client_clear(o);
    o->client.method = method;
    phi__buf_init(&body, &o->memory);
    phi__mcp_oauth_form_register(&body, o->desc, o->client_name, &o->ask, method);
    o->step = PHI__MCP_OAUTH_REGISTER;
    if (!body.failed)
        status =
            phi__mcp_oauth_state_post(o, server->registration, "application/json", phi__str("", 0),
                                      phi__str("", 0), phi__buf_str(&body), "registration");
    phi__buf_free(&body);
    return status;
}

PHI__FN phi_status phi__mcp_oauth_client_registered(phi__mcp_oauth *o) {
    phi_str text = phi__buf_str(&o->sent.answer);
    phi__mcp_oauth_client *client = &o->client;
    phi__mcp_oauth_reply reply;
    phi_status status = phi__mcp_oauth_state_answered(o);
    if (status != PHI_OK) return status;
    if (!phi__mcp_oauth_form_client(&o->client_arena, text, client) ||
        !phi__mcp_oauth_form_reply(&o->arena, text, &reply))
        return PHI_NO_MEMORY;
    if (o->sent.http_status < 200 || o->sent.http_status > 299 || client->id.len == 0) {
        int code = o->sent.http_status;
        phi__mcp_oauth_client_clear(o);
        return phi__mcp_oauth_state_fail(o, PHI_REFUSED, "registration: HTTP status %d%s%s%s%s",
                                         code, reply.error.len > 0 ? ": " : ", no client",
                                         phi__mcp_oauth_state_shown(o, reply.error, 60),
                                         reply.description.len > 0 ? ": " : "",
                                         phi__mcp_oauth_state_shown(o, reply.description, 120));
    }
    phi__buf_free(&o->sent.answer);
    client->registered = true;
    if (!phi__mcp_oauth_client_copy(o, o->found.server.issuer, &client->issuer) ||
        !phi__mcp_oauth_client_copy(o, o->ask.redirect, &client->redirect) ||
        !phi__mcp_oauth_client_copy(o, o->ask.scope, &client->scope)) {
        phi__mcp_oauth_client_clear(o);
        return PHI_NO_MEMORY;
    }
    /* not kept: the next program registers again */
    (void)phi__mcp_oauth_keep_save_client(o->desc->store, &o->memory, client);
    return PHI_OK;
}

/* Whether a registration serves this authorization. */
static bool phi__mcp_oauth_client_fits(const phi__mcp_oauth *o) {
    const phi__mcp_oauth_client *client = &o->client;
    return client->until_ms > phi__io_wall_ms(o->rt->io) &&
           phi_str_equal(client->redirect, o->ask.redirect) &&
           (client->scope.len == 0 || phi__mcp_oauth_words_has_all(client->scope, o->ask.scope));
}

/* An assertion alone: RFC 7523, 3.1. */
static phi_status phi__mcp_oauth_client_none(phi__mcp_oauth *o) {
    phi__mcp_oauth_client_clear(o);
    o->client.method = PHI__MCP_OAUTH_NONE;
    return phi__mcp_oauth_client_copy(o, o->found.server.issuer, &o->client.issuer) ? PHI_OK
                                                                                    : PHI_NO_MEMORY;
}

PHI__FN phi_status phi__mcp_oauth_client_choose(phi__mcp_oauth *o) {
    phi_status status = phi__mcp_oauth_client_bound(o);
    if (status != PHI_OK) return status;
    if (o->desc->client_id != NULL) return phi__mcp_oauth_client_given(o);
    if (o->desc->client_metadata_url != NULL && o->found.server.documents)
        return phi__mcp_oauth_client_document(o);
    if (!phi__mcp_oauth_state_person(o)) return phi__mcp_oauth_client_none(o);
    if (phi__mcp_oauth_client_find(o, o->found.server.issuer) && phi__mcp_oauth_client_fits(o))
        return PHI_OK;
    return phi__mcp_oauth_client_register(o);
}

PHI__FN bool phi__mcp_oauth_client_recall(phi__mcp_oauth *o) {
    phi_str id = o->grant.client_id;
    if (phi_str_equal(o->client.issuer, o->grant.issuer) && phi_str_equal(o->client.id, id))
        return true;
    if (o->desc->client_id == NULL && o->desc->client_metadata_url != NULL &&
        phi__str_is(id, o->desc->client_metadata_url)) {
        phi__mcp_oauth_client_clear(o);
        o->client.id = phi_str_of(o->desc->client_metadata_url);
        o->client.method = PHI__MCP_OAUTH_NONE;
        return phi__mcp_oauth_client_copy(o, o->grant.issuer, &o->client.issuer);
    }
    if (o->desc->client_id != NULL && phi__str_is(id, o->desc->client_id)) {
        uint32_t has = phi__mcp_oauth_client_has(o->desc);
        if ((has & PHI__MCP_OAUTH_BASIC) != 0) has |= PHI__MCP_OAUTH_POST;
        phi__mcp_oauth_client_clear(o);
        o->client.id = phi_str_of(o->desc->client_id);
        o->client.secret = phi_str_of(o->desc->client_secret);
        o->client.method = o->grant.method & has;
        if (o->client.method == 0) o->client.method = PHI__MCP_OAUTH_NONE;
        return phi__mcp_oauth_client_copy(o, o->grant.issuer, &o->client.issuer);
    }
    if (!phi__mcp_oauth_state_person(o) && id.len == 0) {
        phi__mcp_oauth_client_clear(o);
        o->client.method = PHI__MCP_OAUTH_NONE;
        return phi__mcp_oauth_client_copy(o, o->grant.issuer, &o->client.issuer);
    }
    return phi__mcp_oauth_client_find(o, o->grant.issuer) && phi_str_equal(o->client.id, id);
}

PHI__FN void phi__mcp_oauth_client_forget(phi__mcp_oauth *o) {
    if (!o->client.registered) return;
    phi__mcp_oauth_keep_drop_client(o->desc->store, o->client.issuer);
    phi__mcp_oauth_client_clear(o);
}

PHI__FN uint16_t phi__mcp_oauth_client_port(phi__mcp_oauth *o) {
    static const char head[] = "http://127.0.0.1:";
    phi_str at;
    uint64_t port;
    size_t n = 0;
    if (!phi__mcp_oauth_client_find(o, o->found.server.issuer)) return 0;
    at = o->client.redirect;
    if (!phi__str_starts(at, head)) return 0;
    at = phi__str(at.at + sizeof head - 1, at.len - (sizeof head - 1));
    while (n < at.len && at.at[n] != '/') n++;
    return phi__str_to_u64(phi__str(at.at, n), &port) && port <= 65535 ? (uint16_t)port
                                                                       : (uint16_t)0;
}
