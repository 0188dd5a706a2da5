/* mcp_oauth_find.c - from a challenge to the metadata of an authorization server. */
#include "mcp/mcp_oauth_state_in.h"

enum { PHI__MCP_OAUTH_FIND_SHOWN = 120 }; /* bytes of an address in a message */

/* Without a query, which may be a secret. */
static int phi__mcp_oauth_find_shown(phi_str url) {
    size_t n = 0;
    while (n < url.len && n < PHI__MCP_OAUTH_FIND_SHOWN && url.at[n] != '?' && url.at[n] != '#')
        n++;
    return (int)n;
}

/* An address that a document or a header names. */
static phi_status phi__mcp_oauth_find_check(phi__mcp_oauth *o, const char *what, phi_str url) {
    const char *fault = phi__mcp_oauth_url_fault(&o->url, url, o->desc->allow_private);
    if (fault == NULL) return PHI_OK;
    return phi__mcp_oauth_state_fail(o, PHI_REFUSED, "%s %s: %.*s", what, fault,
                                     phi__mcp_oauth_find_shown(url), url.at);
}

/* ---- the authorization server ---- */

/* An issuer that named nothing at all: the paths of 2025-03-26 are taken. */
static phi_status phi__mcp_oauth_find_defaults(phi__mcp_oauth *o) {
    static const char *const paths[] = {"/authorize", "/token", "/register"};
    phi_str *const out[] = {&o->found.server.authorize, &o->found.server.token,
                            &o->found.server.registration};
    phi_str origin = o->url.origin;
    size_t i;
    memset(&o->found.server, 0, sizeof o->found.server);
    o->found.server.issuer = origin;
    o->found.server.s256 = true;
    for (i = 0; i < PHI__COUNT(paths); i++) {
        size_t n = strlen(paths[i]);
        char *at = phi__arena_bytes(&o->arena, origin.len + n);
        if (at == NULL) return PHI_NO_MEMORY;
        memcpy(at, origin.at, origin.len);
        memcpy(at + origin.len, paths[i], n);
        *out[i] = phi__str(at, origin.len + n);
    }
    return PHI_OK;
}

static phi_status phi__mcp_oauth_find_try(phi__mcp_oauth *o, const char *what) {
    phi_str url = o->found.try_at[o->found.tried++];
    phi_status status = phi__mcp_oauth_find_check(o, what, url);
    return status != PHI_OK ? status : phi__mcp_oauth_state_get(o, url, what);
}

static phi_status phi__mcp_oauth_find_issuer(phi__mcp_oauth *o, phi_str issuer) {
    phi__mcp_oauth_url url;
    phi_status status = phi__mcp_oauth_find_check(o, "the issuer", issuer);
    if (status != PHI_OK) return status;
    if (!phi__mcp_oauth_url_read(issuer, &url) || url.query.len > 0)
        return phi__mcp_oauth_state_fail(o, PHI_REFUSED,
                                         "the issuer is no address without a query");
    o->found.resource.issuer = issuer;
    o->found.tried = 0;
    o->found.tries = phi__mcp_oauth_url_servers(&o->arena, &url, o->found.try_at);
    if (o->found.tries == 0) return PHI_NO_MEMORY;
    o->step = PHI__MCP_OAUTH_SERVER;
    return phi__mcp_oauth_find_try(o, "the authorization server's metadata");
}

/* RFC 8414, 3.3: the very issuer that was asked for. Servers of 2025-03-26 are asked at the MCP
   server's origin, whose last slash is a matter of taste. */
static bool phi__mcp_oauth_find_same_issuer(const phi__mcp_oauth *o) {
    phi_str got = o->found.server.issuer, asked = o->found.resource.issuer;
    if (o->found.legacy && got.len > 0 && got.at[got.len - 1] == '/') got.len--;
    return phi_str_equal(got, asked);
}

static phi_status phi__mcp_oauth_find_check_server(phi__mcp_oauth *o) {
    const phi__mcp_oauth_server *server = &o->found.server;
    bool person = phi__mcp_oauth_state_person(o);
    phi_status status = PHI_OK;
    if (!phi__mcp_oauth_find_same_issuer(o))
        return phi__mcp_oauth_state_fail(
            o, PHI_REFUSED, "the metadata of %.*s are of another issuer: %.*s",
            phi__mcp_oauth_find_shown(o->found.resource.issuer), o->found.resource.issuer.at,
            phi__mcp_oauth_find_shown(server->issuer), server->issuer.at);
    if (!server->s256 && person)
        return phi__mcp_oauth_state_fail(
            o, PHI_REFUSED,
            "%.*s does not support PKCE with S256: code_challenge_methods_supported",
            phi__mcp_oauth_find_shown(server->issuer), server->issuer.at);
    if (person) status = phi__mcp_oauth_find_check(o, "authorization_endpoint", server->authorize);
    if (status == PHI_OK) status = phi__mcp_oauth_find_check(o, "token_endpoint", server->token);
    if (status == PHI_OK && server->registration.len > 0)
        status = phi__mcp_oauth_find_check(o, "registration_endpoint", server->registration);
    return status;
}

/* The answer's text, which the tree borrows from, in the arena. */
static bool phi__mcp_oauth_find_text(phi__mcp_oauth *o, phi_str *out) {
    bool fine = phi__arena_str(&o->arena, phi__buf_str(&o->sent.answer), out);
    phi__buf_free(&o->sent.answer);
    return fine;
}

PHI__FN phi_status phi__mcp_oauth_find_server(phi__mcp_oauth *o) {
    const char *fault = "";
    phi_str text;
    phi_status status = phi__mcp_oauth_state_answered(o);
    int http_status = o->sent.http_status;
    if (status != PHI_OK) return status;
    if (http_status != 200) {
        if (o->found.tried < o->found.tries && http_status < 500)
            return phi__mcp_oauth_find_try(o, "the authorization server's metadata");
        if (o->found.legacy && http_status < 500) return phi__mcp_oauth_find_defaults(o);
        if (o->found.fault != NULL)
            return phi__mcp_oauth_state_fail(
                o, PHI_REFUSED, "the authorization server's metadata %s", o->found.fault);
        return phi__mcp_oauth_state_fail(o, PHI_REFUSED, "%.*s has no metadata: HTTP status %d",
                                         phi__mcp_oauth_find_shown(o->found.resource.issuer),
                                         o->found.resource.issuer.at, http_status);
    }
    if (!phi__mcp_oauth_find_text(o, &text)) return PHI_NO_MEMORY;
    status = phi__mcp_oauth_words_server(&o->arena, text, phi__mcp_oauth_state_person(o),
                                         &o->found.server, &fault);
    if (status == PHI_NO_MEMORY) return status;
    if (status != PHI_OK && o->found.tried < o->found.tries) {
        o->found.fault = fault; /* some page, perhaps; else it is the reason in the end */
        return phi__mcp_oauth_find_try(o, "the authorization server's metadata");
    }
    if (status != PHI_OK)
        return phi__mcp_oauth_state_fail(o, PHI_REFUSED, "the authorization server's metadata %s",
                                         fault);
    return phi__mcp_oauth_find_check_server(o);
}

/* ---- the resource ---- */

/* A server of 2025-03-26 is its own authorization server. */
static phi_status phi__mcp_oauth_find_legacy(phi__mcp_oauth *o) {
    if (o->desc->no_legacy)
        return phi__mcp_oauth_state_fail(o, PHI_REFUSED,
                                         "the server names no authorization server");
    o->found.legacy = true;
    o->found.resource.resource = o->resource;
    return phi__mcp_oauth_find_issuer(o, o->url.origin);
}

PHI__FN phi_status phi__mcp_oauth_find_resource(phi__mcp_oauth *o) {
    phi_str preferred = o->desc->issuer != NULL ? phi_str_of(o->desc->issuer) : o->grant.issuer;
    phi__mcp_oauth_resource *resource = &o->found.resource;
    const char *fault = "";
    phi_str text;
    phi_status status = phi__mcp_oauth_state_answered(o);
    int http_status = o->sent.http_status;
    if (status != PHI_OK) return status;
    if (http_status >= 500)
        return phi__mcp_oauth_state_fail(o, PHI_REFUSED, "the server's metadata: HTTP status %d",
                                         http_status);
    if (http_status != 200)
        return o->found.tried < o->found.tries ? phi__mcp_oauth_find_try(o, "the server's metadata")
                                               : phi__mcp_oauth_find_legacy(o);
    if (!phi__mcp_oauth_find_text(o, &text)) return PHI_NO_MEMORY;
    status = phi__mcp_oauth_words_resource(&o->arena, text, preferred, resource, &fault);
    if (status == PHI_NO_MEMORY) return status;
    if (status != PHI_OK && o->found.tried < o->found.tries)
        return phi__mcp_oauth_find_try(o, "the server's metadata");
    if (status != PHI_OK)
        return phi__mcp_oauth_state_fail(o, PHI_REFUSED, "the server's metadata %s", fault);
    if (!phi__mcp_oauth_url_covers(resource->resource, &o->url))
        return phi__mcp_oauth_state_fail(
            o, PHI_REFUSED, "the server's metadata are of another resource: %.*s",
            phi__mcp_oauth_find_shown(resource->resource), resource->resource.at);
    return phi__mcp_oauth_find_issuer(o, resource->issuer);
}

PHI__FN phi_status phi__mcp_oauth_find_begin(phi__mcp_oauth *o) {
    phi_str named = o->found.dare.resource_metadata, known[PHI__MCP_OAUTH_KNOWN];
    size_t i, n = phi__mcp_oauth_url_resources(&o->arena, &o->url, known);
    phi__mcp_oauth_url url;
    if (n == 0) return PHI_NO_MEMORY;
    o->found.tries = o->found.tried = 0;
    if (named.len > 0) {
        phi_status status = phi__mcp_oauth_find_check(o, "resource_metadata", named);
        if (status != PHI_OK) return status;
        if (!phi__mcp_oauth_url_read(named, &url) || !phi__mcp_oauth_url_same_host(&url, &o->url))
            return phi__mcp_oauth_state_fail(o, PHI_REFUSED,
                                             "resource_metadata is of another host: "
                                             "%.*s",
                                             phi__mcp_oauth_find_shown(named), named.at);
        o->found.try_at[o->found.tries++] = named;
    }
    for (i = 0; i < n; i++)
        if (!phi_str_equal(known[i], named)) o->found.try_at[o->found.tries++] = known[i];
    o->step = PHI__MCP_OAUTH_RESOURCE;
    return phi__mcp_oauth_find_try(o, "the server's metadata");
}
