/* mcp_oauth.c - the steps of an authorization, and the functions that the link calls. */

#include "mcp/mcp_oauth_client_in.h"
#include "mcp/mcp_rpc_in.h"
#include "serve/serve_in.h"

#include <stdio.h>

/* ---- the loopback page that receives the redirect (RFC 8252, section 7.3) ---- */

#ifndef PHI_NO_LISTEN

enum { PHI__REDIRECT_CONNECTIONS = 8 };

struct phi__redirect {
    phi_memory *memory;
    phi__serve *serve;
    const char *path;
    phi_status (*got)(void *ctx, phi_str query);
    void *ctx;
};

/* True if the Host header names this address. Other sites may have names that resolve to
   127.0.0.1. */
static bool phi__redirect_is_ours(const phi__redirect *r, phi_str host) {
    static const char *const names[] = {"127.0.0.1", "localhost"};
    char want[32];
    for (size_t i = 0; i < PHI__COUNT(names); i++) {
        (void)snprintf(want, sizeof want, "%s:%u", names[i], (unsigned)phi__serve_port(r->serve));
        if (phi__str_is_nocase(host, want)) return true;
    }
    return false;
}

static void phi__redirect_page(phi__serve_exchange *exchange, int http_status, const char *text) {
    static const char *const lines[][2] = {
        {"Content-Type", "text/html; charset=utf-8"},
        {"Cache-Control", "no-store"},
        {"Referrer-Policy", "no-referrer"}, /* the query contains the code */
        {"X-Content-Type-Options", "nosniff"},
        {"Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"}};
    phi__header headers[PHI__COUNT(lines)];
    char page[256];
    int n = snprintf(page, sizeof page,
                     "<!DOCTYPE html><html><head><title>Authorization</title></head>"
                     "<body><p>%s</p></body></html>\n",
                     text);
    for (size_t i = 0; i < PHI__COUNT(lines); i++) {
        headers[i].name = phi_str_of(lines[i][0]);
        headers[i].value = phi_str_of(lines[i][1]);
    }
    (void)phi__serve_reply(exchange, http_status, headers, PHI__COUNT(lines),
                           phi__str(page, n > 0 ? (size_t)n : 0));
}

static void phi__redirect_on_request(void *ctx, phi__serve_exchange *exchange,
                                     const phi__http_head *head) {
    phi__redirect *r = (phi__redirect *)ctx;
    if (!phi__redirect_is_ours(r, head->authority))
        phi__serve_refuse(exchange, 421, "this address has another name");
    else if (!phi__str_is(head->path, r->path))
        phi__serve_refuse(exchange, 404, NULL);
    else if (!phi__str_is(head->method, "GET"))
        phi__serve_refuse(exchange, 405, NULL);
    else if (r->got(r->ctx, head->query) == PHI_OK)
        phi__redirect_page(exchange, 200,
                           "The authorization has arrived. You can close this page.");
    else
        phi__redirect_page(exchange, 400, "This does not belong to an authorization that waits.");
}

PHI__FN phi_status phi__redirect_new(phi__io *io, uint16_t port, const char *path,
                                     phi_status (*got)(void *ctx, phi_str query), void *ctx,
                                     phi__redirect **out, char *message, size_t message_size) {
    phi__redirect *r = (phi__redirect *)phi__alloc(phi__io_memory(io), sizeof *r);
    *out = NULL;
    if (message_size > 0) message[0] = '\0';
    if (r == NULL) return PHI_NO_MEMORY;
    r->memory = phi__io_memory(io);
    r->path = path;
    r->got = got;
    r->ctx = ctx;
    phi__serve_desc desc = PHI_ZERO;
    desc.port = port;
    desc.max_connections = PHI__REDIRECT_CONNECTIONS;
    desc.max_body_bytes = 1; /* no body is wanted; 0 would mean the default */
    desc.request = phi__redirect_on_request;
    desc.ctx = r;
    phi_status status = phi__serve_new(io, &desc, &r->serve, message, message_size);
    if (status == PHI_OK)
        *out = r;
    else
        phi__free(r->memory, r, sizeof *r);
    return status;
}

PHI__FN uint16_t phi__redirect_port(const phi__redirect *redirect) {
    return phi__serve_port(redirect->serve);
}

PHI__FN void phi__redirect_free(phi__redirect *redirect) {
    if (redirect == NULL) return;
    phi__serve_free(redirect->serve);
    phi__free(redirect->memory, redirect, sizeof *redirect);
}

#endif

/* ---- finding the authorization server: from a challenge to its metadata ---- */

enum { PHI__OAUTH_FIND_SHOWN = 120 }; /* max. bytes of a URL in a message */

/* Returns how much of a URL a message may show. The query may be a secret and is left out. */
static int phi__oaf_shown(phi_str url) {
    return (int)phi__min(phi__url_bare(url).len, PHI__OAUTH_FIND_SHOWN);
}

/* Checks a URL that a document or a header names. */
static phi_status phi__oaf_check(phi__oauth *o, const char *what, phi_str url) {
    const char *fault = phi__url_fault(&o->url, url, o->desc->allow_private);
    if (fault == NULL) return PHI_OK;
    return phi__oauth_fail(o, PHI_REFUSED, "%s %s: %.*s", what, fault, phi__oaf_shown(url), url.at);
}

/* Sets the default paths of 2025-03-26 for an issuer without metadata. */
static phi_status phi__oaf_defaults(phi__oauth *o) {
    phi__oauth_server *server = &o->found.server;
    phi_str origin = o->url.origin, none = phi__str("", 0);
    memset(server, 0, sizeof *server);
    server->issuer = origin;
    server->s256 = true;
    return phi__url_join(&o->arena, origin, "/authorize", none, &server->authorize) &&
                   phi__url_join(&o->arena, origin, "/token", none, &server->token) &&
                   phi__url_join(&o->arena, origin, "/register", none, &server->registration)
               ? PHI_OK
               : PHI_NO_MEMORY;
}

static phi_status phi__oaf_try(phi__oauth *o, const char *what) {
    phi_str url = o->found.try_at[o->found.tried++];
    phi_status status = phi__oaf_check(o, what, url);
    return status != PHI_OK ? status : phi__oauth_get(o, url, what);
}

static phi_status phi__oaf_issuer(phi__oauth *o, phi_str issuer) {
    phi__oauth_url url;
    phi_status status = phi__oaf_check(o, "the issuer", issuer);
    if (status != PHI_OK) return status;
    if (!phi__url_read(issuer, &url) || url.query.len > 0)
        return phi__oauth_fail(o, PHI_REFUSED, "the issuer is no address without a query");
    o->found.resource.issuer = issuer;
    o->found.tried = 0;
    o->found.tries = phi__url_servers(&o->arena, &url, o->found.try_at);
    if (o->found.tries == 0) return PHI_NO_MEMORY;
    o->step = PHI__OAUTH_SERVER;
    return phi__oaf_try(o, "the authorization server's metadata");
}

static phi_status phi__oaf_check_server(phi__oauth *o) {
    const phi__oauth_server *server = &o->found.server;
    phi_str got = server->issuer, asked = o->found.resource.issuer;
    bool person = phi__oauth_person(o);
    phi_status status = PHI_OK;
    /* RFC 8414, 3.3: the issuer must be the one that was asked for. For servers of 2025-03-26, the
       issuer is the MCP server's origin, and a last slash does not matter. */
    if (o->found.legacy && got.len > 0 && got.at[got.len - 1] == '/') got.len--;
    if (!phi_str_equal(got, asked))
        return phi__oauth_fail(o, PHI_REFUSED, "the metadata of %.*s are of another issuer: %.*s",
                               phi__oaf_shown(asked), asked.at, phi__oaf_shown(server->issuer),
                               server->issuer.at);
    if (!server->s256 && person)
        return phi__oauth_fail(
            o, PHI_REFUSED,
            "%.*s does not support PKCE with S256: code_challenge_methods_supported",
            phi__oaf_shown(server->issuer), server->issuer.at);
    if (person) status = phi__oaf_check(o, "authorization_endpoint", server->authorize);
    if (status == PHI_OK) status = phi__oaf_check(o, "token_endpoint", server->token);
    if (status == PHI_OK && server->registration.len > 0)
        status = phi__oaf_check(o, "registration_endpoint", server->registration);
    return status;
}

/* Moves the answer's text to the arena, because the tree borrows from it. */
static phi_status phi__oaf_text(phi__oauth *o, phi_str *out) {
    return phi__mcp_keep(&o->sent.answer, &o->arena, out) ? PHI_OK : PHI_NO_MEMORY;
}

static phi_status phi__oaf_server(phi__oauth *o) {
    static const char what[] = "the authorization server's metadata";
    bool more = o->found.tried < o->found.tries;
    phi_str issuer = o->found.resource.issuer, text;
    int http_status = o->sent.http_status;
    const char *fault = "";
    phi_status status = phi__oauth_answered(o);
    if (status != PHI_OK) return status;
    if (http_status != 200) {
        if (more && http_status < 500) return phi__oaf_try(o, what);
        if (o->found.legacy && http_status < 500) return phi__oaf_defaults(o);
        if (o->found.fault != NULL)
            return phi__oauth_fail(o, PHI_REFUSED, "%s %s", what, o->found.fault);
        return phi__oauth_fail(o, PHI_REFUSED, "%.*s has no metadata: HTTP status %d",
                               phi__oaf_shown(issuer), issuer.at, http_status);
    }
    status = phi__oaf_text(o, &text);
    if (status == PHI_OK)
        status = phi__oaw_server(&o->arena, text, phi__oauth_person(o), &o->found.server, &fault);
    if (status == PHI_OK) return phi__oaf_check_server(o);
    if (status == PHI_NO_MEMORY) return status;
    if (!more) return phi__oauth_fail(o, PHI_REFUSED, "%s %s", what, fault);
    /* The answer may be an unrelated page, so the fault is reported only if no URL works. */
    o->found.fault = fault;
    return phi__oaf_try(o, what);
}

static phi_status phi__oaf_resource(phi__oauth *o) {
    static const char what[] = "the server's metadata";
    phi_str preferred = o->desc->issuer != NULL ? phi_str_of(o->desc->issuer) : o->grant.issuer;
    phi__oauth_resource *resource = &o->found.resource;
    bool more = o->found.tried < o->found.tries;
    int http_status = o->sent.http_status;
    const char *fault = "";
    phi_str text;
    phi_status status = phi__oauth_answered(o);
    if (status != PHI_OK) return status;
    if (http_status >= 500)
        return phi__oauth_fail(o, PHI_REFUSED, "%s: HTTP status %d", what, http_status);
    if (http_status != 200 && more) return phi__oaf_try(o, what);
    if (http_status != 200) { /* a server of 2025-03-26 is its own authorization server */
        if (o->desc->no_legacy)
            return phi__oauth_fail(o, PHI_REFUSED, "the server names no authorization server");
        o->found.legacy = true;
        resource->resource = o->resource;
        return phi__oaf_issuer(o, o->url.origin);
    }
    status = phi__oaf_text(o, &text);
    if (status == PHI_OK) status = phi__oaw_resource(&o->arena, text, preferred, resource, &fault);
    if (status == PHI_NO_MEMORY) return status;
    if (status != PHI_OK)
        return more ? phi__oaf_try(o, what) : phi__oauth_fail(o, PHI_REFUSED, "%s %s", what, fault);
    if (!phi__url_covers(resource->resource, &o->url))
        return phi__oauth_fail(o, PHI_REFUSED, "%s are of another resource: %.*s", what,
                               phi__oaf_shown(resource->resource), resource->resource.at);
    return phi__oaf_issuer(o, resource->issuer);
}

static phi_status phi__oaf_begin(phi__oauth *o) {
    phi_str named = o->found.dare.resource_metadata, known[PHI__OAUTH_KNOWN];
    size_t n = phi__url_resources(&o->arena, &o->url, known);
    phi__oauth_url url;
    if (n == 0) return PHI_NO_MEMORY;
    o->found.tries = o->found.tried = 0;
    if (named.len > 0) {
        phi_status status = phi__oaf_check(o, "resource_metadata", named);
        if (status != PHI_OK) return status;
        if (!phi__url_read(named, &url) || !phi__url_same_host(&url, &o->url))
            return phi__oauth_fail(o, PHI_REFUSED,
                                   "resource_metadata is of another host: "
                                   "%.*s",
                                   phi__oaf_shown(named), named.at);
        o->found.try_at[o->found.tries++] = named;
    }
    for (size_t i = 0; i < n; i++)
        if (!phi_str_equal(known[i], named)) o->found.try_at[o->found.tries++] = known[i];
    o->step = PHI__OAUTH_RESOURCE;
    return phi__oaf_try(o, "the server's metadata");
}

/* ---- tokens: received, stored, refreshed ---- */

enum {
    PHI__OAUTH_EARLY_MS = 60000, /* a token is refreshed this long before it ends */
    PHI__OAUTH_RETRY_MS = 30000, /* pause after a refresh that failed in the network */
    PHI__OAUTH_AGAIN_MS = 1000   /* pause after a new token, even if it has already ended */
};

static void phi__grant_save(phi__oauth *o) {
    phi_status status = phi__keep_save(o->desc->store, o->resource, &o->grant);
    o->unkept = status != PHI_OK;
    if (o->unkept)
        (void)phi__error(o->rt, status, "authorization: the store does not keep the token: %s",
                         phi_status_text(status));
}

/* Joins the requested scopes and those that the server has granted. */
static bool phi__grant_scopes(phi__oauth *o, phi_arena *arena, phi_str asked, phi_str granted,
                              phi_str *out) {
    phi__buf set = phi__buf_of(&o->memory);
    phi__oauth_join(&set, asked);
    phi__oauth_join(&set, granted);
    return phi__mcp_keep(&set, arena, out);
}

static void phi__grant_rest(phi__oauth *o, uint32_t ms) {
    o->retry_us = phi__io_now_us(o->rt->io) + ms * (uint64_t)1000;
}

/* Takes the grant from an answer. Missing values come from the earlier grant or the request. */
static phi_status phi__grant_take(phi__oauth *o, const phi__oauth_reply *reply, bool refreshed) {
    phi__oauth_grant next;
    const phi__oauth_grant *old = &o->grant;
    phi_arena *arena = &next.arena;
    phi_str refresh = reply->refresh;
    phi__keep_init(&next, &o->memory);
    if (refresh.len == 0 && refreshed) refresh = old->refresh;
    bool fine =
        phi__url_join(arena, reply->dpop ? PHI__LIT("DPoP ") : PHI__LIT("Bearer "), "",
                      reply->token, &next.bearer) &&
        phi__arena_str(arena, refresh, &next.refresh) &&
        phi__grant_scopes(o, arena, refreshed ? old->scope : o->ask.scope, reply->scope,
                          &next.scope) &&
        phi__arena_str(arena, refreshed ? old->issuer : o->found.server.issuer, &next.issuer) &&
        phi__arena_str(arena, refreshed ? old->endpoint : o->found.server.token, &next.endpoint) &&
        phi__arena_str(arena, refreshed ? old->resource : o->ask.resource, &next.resource) &&
        phi__arena_str(arena, o->client.id, &next.client_id);
    if (!fine) {
        phi__keep_clear(&next);
        return PHI_NO_MEMORY;
    }
    next.method = o->client.method;
    next.dpop = reply->dpop;
    next.kind = (uint32_t)o->desc->grant;
    next.refreshed = refreshed;
    next.since_ms = phi__io_wall_ms(o->rt->io);
    next.until_ms = next.renew_ms = INT64_MAX;
    if (reply->lifetime_s <= INT64_MAX / 4000) {
        int64_t ms = reply->lifetime_s * 1000;
        int64_t early = ms / 2 < PHI__OAUTH_EARLY_MS ? ms / 2 : (int64_t)PHI__OAUTH_EARLY_MS;
        next.until_ms = next.since_ms + ms;
        next.renew_ms = next.until_ms - early;
    }
    phi__grant_rest(o, PHI__OAUTH_AGAIN_MS);
    phi__keep_move(&o->grant, &next);
    phi__buf_clear(&o->bound);
    /* If there is no memory for the issuer, the next token sets o->bound. */
    phi__buf_add_str(&o->bound, o->grant.issuer);
    phi__grant_save(o);
    return PHI_OK;
}

/* Loads the stored grant. A grant that is malformed or does not fit the desc is emptied. False: no
   grant is stored. */
static bool phi__grant_stored(phi__oauth *o, phi__oauth_grant *g) {
    const char *id = o->desc->client_id;
    if (phi__keep_load(o->desc->store, o->resource, g) != PHI_OK) return false;
    if (!phi__str_starts(g->bearer, g->dpop ? "DPoP " : "Bearer ") ||
        !phi__oauth_printable(phi__oauth_token_of(g->bearer)))
        g->bearer = phi__str("", 0);
    if ((g->dpop && o->desc->dpop_key == NULL) || g->kind != (uint32_t)o->desc->grant)
        phi__keep_clear(g);
    if ((id != NULL && !phi__str_is(g->client_id, id)) ||
        (o->desc->issuer != NULL && (id != NULL || !phi__oauth_person(o)) &&
         !phi__str_is(g->issuer, o->desc->issuer)))
        phi__keep_clear(g);
    if (phi__url_fault(&o->url, g->endpoint, o->desc->allow_private) != NULL)
        g->refresh = phi__str("", 0);
    return true;
}

static void phi__grant_load(phi__oauth *o) {
    if (o->loaded) return;
    o->loaded = true;
    (void)phi__grant_stored(o, &o->grant);
}

/* If the stored grant has another token, and that token need not be refreshed yet, takes the stored
   grant and returns true. If `refresh` is set, compares the refresh tokens instead. */
static bool phi__grant_newer(phi__oauth *o, bool refresh) {
    phi__oauth_grant next;
    if (o->desc->store == NULL) return false;
    phi__keep_init(&next, &o->memory);
    bool fine = phi__grant_stored(o, &next) && next.bearer.len > 0 &&
                !phi_str_equal(refresh ? next.refresh : next.bearer,
                               refresh ? o->grant.refresh : o->grant.bearer) &&
                next.renew_ms > phi__io_wall_ms(o->rt->io);
    if (fine)
        phi__keep_move(&o->grant, &next);
    else
        phi__keep_clear(&next);
    return fine;
}

/* True if tokens are bound to the host's key, or will be. */
static bool phi__grant_proves(const phi__oauth *o) {
    const phi_mcp_key *key = o->desc->dpop_key;
    if (key == NULL) return false;
    if (o->step == PHI__OAUTH_REFRESH) return o->grant.dpop;
    return phi__oauth_has(o->found.server.dpop, phi_str_of(key->algorithm));
}

/* Sends a form with the client's credentials and, if needed, a proof. */
static phi_status phi__grant_ask(phi__oauth *o, phi_str endpoint, phi__buf *body) {
    phi_str none = phi__str("", 0);
    phi_status status = PHI_OK;
    phi__buf basic = phi__buf_of(&o->memory);
    phi__buf proof = phi__buf_of(&o->memory);
    phi__form_basic(&basic, &o->client);
    if (o->client.method == PHI__OAUTH_KEY) status = phi__sign_client(o, body);
    if (status == PHI_OK && phi__grant_proves(o))
        status = phi__sign_proof(o, PHI__LIT("POST"), endpoint, none, &proof);
    if (status == PHI_OK && (basic.failed || body->failed)) status = PHI_NO_MEMORY;
    if (status == PHI_OK)
        status =
            phi__oauth_post(o, endpoint, "application/x-www-form-urlencoded", phi__buf_str(&basic),
                            phi__buf_str(&proof), phi__buf_str(body), "the token endpoint");
    phi__buf_free(&basic);
    phi__buf_free(&proof);
    return status;
}

/* True if the request must be repeated because the endpoint wants its nonce in the proof (RFC 9449,
   8). A request is repeated for this reason only once. */
static bool phi__grant_again(phi__oauth *o, const phi__oauth_reply *reply) {
    if (!phi__str_is(reply->error, "use_dpop_nonce") || !phi__grant_proves(o)) return false;
    if (o->nonced || o->nonces[0].len == 0) return false;
    o->nonced = true;
    return true;
}

static phi_status phi__grant_refused(phi__oauth *o, const phi__oauth_reply *reply) {
    if (reply->other_type || (reply->dpop && reply->token.len > 0))
        return phi__oauth_fail(o, PHI_REFUSED,
                               "the token endpoint gave a token that is no bearer token");
    return phi__oauth_fail(
        o, PHI_REFUSED, "the token endpoint: HTTP status %d%s%s%s%s", o->sent.http_status,
        reply->error.len > 0 ? ": " : ", no token", phi__oauth_shown(o, reply->error, 60),
        reply->description.len > 0 ? ": " : "", phi__oauth_shown(o, reply->description, 120));
}

static bool phi__grant_given(const phi__oauth *o, const phi__oauth_reply *reply) {
    return o->sent.http_status >= 200 && o->sent.http_status < 300 && !reply->other_type &&
           (!reply->dpop || phi__grant_proves(o)) && phi__oauth_printable(reply->token);
}

static phi_status phi__grant_exchange(phi__oauth *o) {
    phi_str token = phi__str("", 0);
    phi__buf body = phi__buf_of(&o->memory);
    if (o->desc->grant == PHI_MCP_GRANT_ASSERTION) token = phi__buf_str(&o->redirected);
    if (phi__oauth_person(o))
        phi__form_code(&body, &o->client, &o->ask);
    else
        phi__form_machine(&body, &o->client, &o->ask, token);
    o->step = PHI__OAUTH_EXCHANGE;
    phi_status status = phi__grant_ask(o, o->found.server.token, &body);
    phi__buf_free(&body);
    return status;
}

static phi_status phi__grant_renew(phi__oauth *o) {
    if (!o->renewing && phi__grant_newer(o, false)) return PHI_OK;
    if (!phi__oac_recall(o)) {
        phi__keep_spend(&o->grant.refresh, &o->grant.spent[1]);
        o->step = PHI__OAUTH_BEGIN;
        return o->renewing ? PHI_BUSY : PHI_OK;
    }
    phi__buf body = phi__buf_of(&o->memory);
    phi__form_refresh(&body, &o->client, o->grant.refresh, o->grant.resource);
    o->step = PHI__OAUTH_REFRESH;
    phi_status status = phi__grant_ask(o, o->grant.endpoint, &body);
    phi__buf_free(&body);
    return status;
}

static phi_status phi__grant_refreshed(phi__oauth *o) {
    phi__oauth_reply reply;
    phi_status status = phi__oauth_answered(o);
    if (status == PHI_OK && !phi__form_reply(&o->arena, phi__buf_str(&o->sent.answer), &reply))
        return PHI_NO_MEMORY;
    if (status == PHI_OK && phi__grant_given(o, &reply)) return phi__grant_take(o, &reply, true);
    if (status == PHI_OK && phi__grant_again(o, &reply)) return phi__grant_renew(o);
    if (status == PHI_OK) status = phi__grant_refused(o, &reply);
    if (o->sent.status != PHI_OK || o->sent.http_status >= 500 || o->sent.http_status == 429) {
        phi__grant_rest(o, PHI__OAUTH_RETRY_MS);
        return o->grant.bearer.len > 0 ? PHI_OK : status; /* the token may still work */
    }
    /* If refresh tokens can be used only once, another connection may have stored a newer one. */
    if (phi__grant_newer(o, true)) return PHI_OK;
    if (phi__str_is(reply.error, "invalid_client")) phi__oac_forget(o);
    phi__keep_spend(&o->grant.refresh, &o->grant.spent[1]);
    phi__grant_save(o);
    o->step = PHI__OAUTH_BEGIN;
    o->nonced = false;                      /* the new authorization may use another endpoint */
    return o->renewing ? PHI_BUSY : PHI_OK; /* PHI_OK: send the request without a token */
}

/* ---- consent: the browser, the redirect and the code, or an assertion of the host ---- */

/* Keeps the query of the redirect, or the assertion, for the next step. */
static phi_status phi__oauth_received(phi__oauth *o, phi_str text) {
    phi__buf_add_str(&o->redirected, text);
    if (o->redirected.failed) {
        phi__buf_free(&o->redirected);
        return phi__error(o->rt, PHI_NO_MEMORY, "authorization: no memory");
    }
    phi__oauth_wake(o);
    return PHI_OK;
}

PHI__FN phi_status phi__oauth_redirected(phi__oauth *o, phi_str url) {
    size_t from = 0, to;
    phi_arena_mark mark = phi_arena_save(&o->arena);
    phi_str state;
    if (o->step != PHI__OAUTH_PERSON || o->redirected.len > 0)
        return phi__error(o->rt, PHI_MISUSE, "authorization: none waits for a redirect");
    while (from < url.len && url.at[from] != '?') from++;
    for (to = from; to < url.len && url.at[to] != '#';) to++;
    if (to - from < 2 || to - from > PHI__OAUTH_ANSWER)
        return phi__error(o->rt, PHI_BAD_ARG, "authorization: the URL of a redirect has a query");
    url = phi__str(url.at + from + 1, to - from - 1);
    phi_status status = phi__url_get(&o->arena, url, "state", &state);
    bool ours = status == PHI_OK && phi__str_equal_secret(state, o->ask.state);
    phi_arena_reset(&o->arena, mark); /* any page can send the browser here repeatedly */
    if (status == PHI_NO_MEMORY) return phi__error(o->rt, status, "authorization: no memory");
    if (!ours)
        return phi__error(o->rt, PHI_REFUSED, "authorization: the redirect belongs to another one");
    return phi__oauth_received(o, url);
}

#ifndef PHI_NO_LISTEN
static const char phi__person_path[] = "/callback";

static phi_status phi__person_got(void *ctx, phi_str query) {
    phi__oauth *o = (phi__oauth *)ctx;
    phi__buf url = phi__buf_of(&o->memory);
    phi__buf_char(&url, '?');
    phi__buf_add_str(&url, query);
    phi_status status = url.failed ? PHI_NO_MEMORY : phi__oauth_redirected(o, phi__buf_str(&url));
    phi__buf_free(&url);
    return status;
}

#endif

/* Sets the redirect URI to the URI of the loopback page, or to the host's URI. */
static phi_status phi__person_redirect(phi__oauth *o) {
#ifndef PHI_NO_LISTEN
    if (o->desc->redirect_port >= 0) {
        uint16_t port = (uint16_t)o->desc->redirect_port;
        phi_status status = PHI_REFUSED;
        char words[160] = "", uri[64];
        if (o->receiver != NULL) return PHI_OK;
        if (port == 0) port = phi__oac_port(o);
        for (int tries = 0; tries < 2 && status == PHI_REFUSED; tries++) {
            status = phi__redirect_new(o->rt->io, port, phi__person_path, phi__person_got, o,
                                       &o->receiver, words, sizeof words);
            if (port == 0 || o->desc->redirect_port != 0) break;
            port = 0; /* the port of the last registration is in use */
        }
        if (status != PHI_OK) return phi__oauth_fail(o, status, "the redirect's port: %s", words);
        (void)snprintf(uri, sizeof uri, "http://127.0.0.1:%u%s",
                       (unsigned)phi__redirect_port(o->receiver), phi__person_path);
        return phi__arena_str(&o->arena, phi_str_of(uri), &o->ask.redirect) ? PHI_OK
                                                                            : PHI_NO_MEMORY;
    }
#endif
    o->ask.redirect = phi_str_of(o->desc->redirect_uri);
    return PHI_OK;
}

/* Joins the scopes to ask for: the scopes of the last token of this issuer, of the challenge and of
   the desc, and offline_access for a refresh token. The resource's scopes are used only if
   challenge and desc have none. */
static phi_status phi__person_scope(phi__oauth *o) {
    const phi__oauth_found *found = &o->found;
    phi__buf set = phi__buf_of(&o->memory);
    if (phi_str_equal(o->grant.issuer, found->server.issuer)) phi__oauth_join(&set, o->grant.scope);
    phi__oauth_join(&set, found->dare.scope);
    phi__oauth_join(&set, phi_str_of(o->desc->scope));
    if (found->dare.scope.len == 0 && o->desc->scope == NULL)
        phi__oauth_join(&set, found->resource.scopes);
    if (found->server.offline && !o->desc->no_offline_access && phi__oauth_person(o))
        phi__oauth_join(&set, PHI__LIT("offline_access"));
    return phi__mcp_keep(&set, &o->arena, &o->ask.scope) ? PHI_OK : PHI_NO_MEMORY;
}

/* Called after a function of the host. If that function has succeeded, its answer comes later, so
   PHI_BUSY is returned. PHI_BUSY is also returned if o->gone is set: the desc may then be freed. */
static phi_status phi__person_wait(phi__oauth *o, phi_status status, const char *what) {
    o->calling = false;
    if (status == PHI_OK || o->gone) return PHI_BUSY;
    return phi__oauth_fail(o, status, "the %s: %s", what, phi_status_text(status));
}

/* Opens the browser. The client is known by now. */
static phi_status phi__person_open(phi__oauth *o) {
    phi_status status = PHI_NO_MEMORY;
    /* With a tape, the system makes the secrets: the runtime's bytes follow from the tape's
       seed. */
    if (!phi__form_secrets(o->rt->tape == NULL ? o->rt->io : NULL, &o->arena, &o->ask))
        return PHI_NO_MEMORY;
    phi__buf url = phi__buf_of(&o->memory);
    phi__form_authorize(&url, o->found.server.authorize, &o->client, &o->ask);
    phi__buf_char(&url, '\0');
    o->step = PHI__OAUTH_PERSON;
    phi__buf_free(&o->redirected);
    o->calling = true;
    if (!url.failed) status = o->desc->open_browser_fn(o->desc->user_data, url.at);
    phi__buf_free(&url);
    return phi__person_wait(o, status, "browser");
}

static phi_status phi__person_assert(phi__oauth *o) {
    phi_mcp_assertion wanted;
    if (!phi__arena_str(&o->arena, o->found.server.issuer, &wanted.issuer) ||
        !phi__arena_str(&o->arena, o->ask.resource, &wanted.resource) ||
        !phi__arena_str(&o->arena, o->ask.scope, &wanted.scope))
        return PHI_NO_MEMORY;
    o->step = PHI__OAUTH_ASSERT;
    phi__buf_free(&o->redirected);
    o->calling = true;
    phi_status status = o->desc->want_assertion_fn(o->desc->user_data, &wanted);
    return phi__person_wait(o, status, "assertion");
}

/* Continues after the metadata: chooses scopes, redirect and client. */
static phi_status phi__person_go(phi__oauth *o) {
    o->ask.resource = o->found.resource.resource;
    phi_status status = phi__person_scope(o);
    if (status == PHI_OK && phi__oauth_person(o)) status = phi__person_redirect(o);
    if (status == PHI_OK) status = phi__oac_choose(o);
    if (status != PHI_OK) return status;
    if (phi__oauth_person(o)) return phi__person_open(o);
    return o->desc->grant == PHI_MCP_GRANT_ASSERTION ? phi__person_assert(o)
                                                     : phi__grant_exchange(o);
}

/* True if the server does not know the client. The client is then registered again, at most
   once. */
static bool phi__person_again(phi__oauth *o, phi_str error) {
    if (o->registered || !o->client.registered) return false;
    if (!phi__str_is(error, "invalid_client") && !phi__str_is(error, "unauthorized_client"))
        return false;
    o->registered = true;
    phi__oac_forget(o);
    return true;
}

/* Checks which issuer sent the redirect (RFC 9207). */
static phi_status phi__person_issuer(phi__oauth *o, phi_str query) {
    phi_str iss;
    phi_status status = phi__url_get(&o->arena, query, "iss", &iss);
    if (status == PHI_NO_MEMORY) return status;
    if (status == PHI_NOT_FOUND && !o->found.server.names_itself) return PHI_OK;
    if (status == PHI_OK && phi_str_equal(iss, o->found.server.issuer)) return PHI_OK;
    return phi__oauth_fail(o, PHI_REFUSED,
                           status == PHI_NOT_FOUND ? "the redirect does not name its issuer"
                                                   : "the redirect comes from another issuer");
}

/* Handles the redirect. */
static phi_status phi__person_answered(phi__oauth *o) {
    phi_str query = phi__buf_str(&o->redirected), error, code, words;
    phi_status status = phi__person_issuer(o, query);
    if (status != PHI_OK) return status;
    if (phi__url_get(&o->arena, query, "error", &error) == PHI_OK) {
        if (phi__person_again(o, error)) return phi__person_go(o);
        if (phi__url_get(&o->arena, query, "error_description", &words) != PHI_OK)
            words = phi__str("", 0);
        status = phi__str_is(error, "access_denied") ? PHI_DENIED : PHI_REFUSED;
        return phi__oauth_fail(o, status, "%s%s%s", phi__oauth_shown(o, error, 60),
                               words.len > 0 ? ": " : "", phi__oauth_shown(o, words, 160));
    }
    status = phi__url_get(&o->arena, query, "code", &code);
    if (status == PHI_NO_MEMORY) return status;
    if (status != PHI_OK || code.len == 0)
        return phi__oauth_fail(o, PHI_REFUSED, "the redirect has no code");
    o->ask.code = code;
    return phi__grant_exchange(o);
}

static phi_status phi__person_exchanged(phi__oauth *o) {
    phi__oauth_reply reply;
    phi_status status = phi__oauth_answered(o);
    if (status != PHI_OK) return status;
    if (!phi__form_reply(&o->arena, phi__buf_str(&o->sent.answer), &reply)) return PHI_NO_MEMORY;
    if (phi__grant_given(o, &reply)) return phi__grant_take(o, &reply, false);
    if (phi__grant_again(o, &reply)) return phi__grant_exchange(o);
    status = phi__grant_refused(o, &reply);
    return phi__person_again(o, reply.error) ? phi__person_go(o) : status;
}

/* ---- the steps, and the functions for the link ---- */

enum {
    PHI__OAUTH_TIMEOUT_MS = 300000,
    /* a refreshed token that the server refuses within this time is not refreshed again */
    PHI__OAUTH_YOUNG_MS = 60000
};

/* True for https, http on this machine, and a program's own scheme with a dot (RFC 8252, 7.1). */
static bool phi__oauth_redirect_fits(const char *uri) {
    phi_str text = phi_str_of(uri);
    phi__oauth_url url;
    size_t colon = phi__str_find(text, 0, ":");
    if (phi__url_read(text, &url)) return url.https || url.reach == PHI__OAUTH_LOOPBACK;
    if (colon == SIZE_MAX || memchr(text.at, '.', colon) == NULL) return false;
    for (size_t i = 0; i < text.len; i++)
        if (text.at[i] <= ' ' || text.at[i] > '~' || text.at[i] == '#') return false;
    return text.len <= PHI__OAUTH_URL;
}

/* Returns the first fault in the grant, the keys or client_auth; NULL: none. */
static const char *phi__oauth_refuse_client(const phi_mcp_oauth_desc *desc) {
    const phi_mcp_key *client = desc->client_key, *dpop = desc->dpop_key;
    phi_str jwk = phi_str_of(dpop != NULL ? dpop->jwk : NULL);
    phi__json_found found;
    if (desc->grant == PHI_MCP_GRANT_CLIENT &&
        (desc->client_id == NULL || (client == NULL && desc->client_secret == NULL)))
        return "oauth: grant: client_id, and client_secret or client_key, are needed";
    if (desc->grant == PHI_MCP_GRANT_ASSERTION && desc->want_assertion_fn == NULL)
        return "oauth: grant: want_assertion_fn is needed";
    if (desc->grant != PHI_MCP_GRANT_PERSON && desc->grant != PHI_MCP_GRANT_CLIENT &&
        desc->grant != PHI_MCP_GRANT_ASSERTION)
        return "oauth: grant: expected PHI_MCP_GRANT_PERSON, _CLIENT or _ASSERTION";
    if (client != NULL && (client->algorithm == NULL || client->sign == NULL))
        return "oauth: client_key: algorithm and sign are needed";
    if (client != NULL && desc->client_id == NULL) return "oauth: client_key: client_id is needed";
    if (dpop != NULL && (dpop->algorithm == NULL || dpop->sign == NULL))
        return "oauth: dpop_key: algorithm and sign are needed";
    if (dpop != NULL && phi__json_cursor_find(jwk, "kty", &found) != PHI_OK)
        return "oauth: dpop_key: jwk: expected a public key as a JSON object";
    if (dpop != NULL && (phi__json_cursor_find(jwk, "d", &found) == PHI_OK ||
                         phi__json_cursor_find(jwk, "k", &found) == PHI_OK))
        return "oauth: dpop_key: jwk: it holds a private key";
    if (desc->client_auth == PHI_MCP_CLIENT_AUTH_KEY && client == NULL)
        return "oauth: client_auth: client_key is needed";
    /* a client without client_id is registered and gets a secret */
    if ((desc->client_auth == PHI_MCP_CLIENT_AUTH_BASIC ||
         desc->client_auth == PHI_MCP_CLIENT_AUTH_POST) &&
        desc->client_id != NULL && desc->client_secret == NULL)
        return "oauth: client_auth: client_secret is needed";
    return NULL;
}

PHI__FN const char *phi__oauth_refuse(const phi_mcp_oauth_desc *desc) {
    phi__oauth_url url;
    const char *fault = phi__oauth_refuse_client(desc);
    bool person = desc->open_browser_fn != NULL && desc->grant == PHI_MCP_GRANT_PERSON;
    if (fault != NULL) return fault;
    if (desc->redirect_port < -1 || desc->redirect_port > 65535)
        return "oauth: redirect_port: expected -1 to 65535";
    if (desc->redirect_port == -1 && person && desc->redirect_uri == NULL)
        return "oauth: redirect_uri: needed where redirect_port is -1";
#ifdef PHI_NO_LISTEN
    if (desc->redirect_port != -1 && person)
        return "oauth: redirect_port: expected -1, since listening is left out of this program: "
               "PHI_NO_LISTEN";
#endif
    if (desc->redirect_uri != NULL && !phi__oauth_redirect_fits(desc->redirect_uri))
        return "oauth: redirect_uri: expected https, http on this machine, or a scheme with a dot";
    if (desc->client_metadata_url != NULL &&
        (!phi__url_read(phi_str_of(desc->client_metadata_url), &url) || !url.https ||
         url.path.len < 2))
        return "oauth: client_metadata_url: expected https with a path";
    if (desc->client_id != NULL && desc->client_id[0] == '\0') return "oauth: client_id is empty";
    if (desc->store != NULL && (desc->store->load == NULL || desc->store->save == NULL))
        return "oauth: store: load and save are needed";
    return NULL;
}

static bool phi__oauth_copy_key(phi_arena *arena, const phi_mcp_key **key) {
    if (*key == NULL) return true;
    phi_mcp_key *copy = (phi_mcp_key *)phi_arena_alloc(arena, sizeof *copy);
    if (copy == NULL) return false;
    *copy = **key;
    *key = copy;
    return phi__keep_text(arena, &copy->algorithm) && phi__keep_text(arena, &copy->id) &&
           phi__keep_text(arena, &copy->jwk);
}

PHI__FN bool phi__oauth_copy(phi_arena *arena, const phi_mcp_oauth_desc *from,
                             const phi_mcp_oauth_desc **out) {
    phi_mcp_oauth_desc *to = (phi_mcp_oauth_desc *)phi_arena_alloc(arena, sizeof *to);
    if (to == NULL) return false;
    const char **texts[] = {
        &to->client_id,   &to->client_secret, &to->issuer, &to->client_metadata_url,
        &to->client_name, &to->client_uri,    &to->scope,  &to->redirect_uri};
    *to = *from;
    if (to->timeout_ms == 0) to->timeout_ms = PHI__OAUTH_TIMEOUT_MS;
    if (from->store != NULL) {
        phi_store *store = (phi_store *)phi_arena_alloc(arena, sizeof *store);
        if (store == NULL) return false;
        *store = *from->store;
        to->store = store;
    }
    *out = to;
    return phi__oauth_copy_key(arena, &to->client_key) &&
           phi__oauth_copy_key(arena, &to->dpop_key) &&
           phi__mcp_own_all(arena, texts, PHI__COUNT(texts));
}

/* Allocates from the caller's budget, and wipes blocks before freeing. No block grows in place. */
static void *phi__oauth_realloc(void *user_data, void *ptr, size_t old_bytes, size_t new_bytes) {
    phi_memory *parent = (phi_memory *)user_data;
    void *out = NULL;
    if (new_bytes > 0) {
        out = phi__realloc(parent, NULL, 0, new_bytes);
        if (out == NULL) return NULL;
        if (ptr != NULL) memcpy(out, ptr, phi__min(old_bytes, new_bytes));
    }
    if (ptr != NULL) {
        memset(ptr, 0, old_bytes);
        phi__free(parent, ptr, old_bytes);
    }
    return out;
}

/* ---- the end of an authorization ---- */

/* Ends the authorization under way and frees its data. */
static void phi__oauth_rest(phi__oauth *o) {
    phi__fetch_close(o->sent.fetch);
    o->sent.fetch = NULL;
    o->step = PHI__OAUTH_IDLE;
    o->renewing = o->registered = o->cancelled = o->nonced = false;
#ifndef PHI_NO_LISTEN
    phi__redirect_free(o->receiver);
#endif
    o->receiver = NULL;
    phi__buf_free(&o->sent.answer);
    phi__buf_free(&o->redirected);
    memset(&o->found, 0, sizeof o->found);
    memset(&o->ask, 0, sizeof o->ask);
    phi_arena_free(&o->arena);
    (void)phi__io_timer_set(o->rt->io, &o->timer, UINT64_MAX);
}

static void phi__oauth_destroy(phi__oauth *o) {
    phi_memory *parent = o->parent;
    phi__oauth_rest(o);
    phi__io_timer_clear(o->rt->io, &o->timer);
    phi__buf_free(&o->bound);
    phi__buf_free(&o->nonces[0]);
    phi__buf_free(&o->nonces[1]);
    phi_arena_free(&o->grant.arena);
    phi_arena_free(&o->client_arena);
    phi_arena_free(&o->base);
    memset(o, 0, sizeof *o);
    phi__free(parent, o, sizeof *o);
}

/* Called after a function of the host or the link. False: that function freed the object. */
static bool phi__oauth_still(phi__oauth *o) {
    o->calling = false;
    if (!o->gone) return true;
    phi__oauth_destroy(o);
    return false;
}

/* Signs out if this was asked for while the host's key was signing. */
static void phi__oauth_leave(phi__oauth *o) {
    if (!o->signs_out) return;
    o->signs_out = false;
    phi__sign_out(o);
}

static void phi__oauth_finish(phi__oauth *o, phi_status status) {
    char message[PHI__OAUTH_MESSAGE];
    bool waiting = o->waiting;
    if (status == PHI_NO_MEMORY) (void)phi__oauth_fail(o, status, "%s", phi_status_text(status));
    (void)snprintf(message, sizeof message, "%s",
                   status != PHI_OK ? o->message
                   : o->unkept      ? "authorization: the store does not keep the token; a person "
                                      "will be asked again when the program has ended"
                                    : "");
    phi__oauth_rest(o);
    o->waiting = false;
    phi__oauth_leave(o);
    if (!waiting) return;
    o->unkept = false;
    o->calling = true;
    o->listener.changed(o->listener.ctx, status, message);
    (void)phi__oauth_still(o);
}

/* Fails if a person was asked too often: a server must not open window after window. */
static phi_status phi__oauth_may_ask(phi__oauth *o) {
    uint64_t now = phi__io_now_us(o->rt->io), *last = &o->rounds[PHI__OAUTH_ROUNDS - 1];
    if (!phi__oauth_person(o)) return PHI_OK;
    if (o->desc->open_browser_fn == NULL)
        return phi__oauth_fail(
            o, PHI_REFUSED, "the server wants one, and there is no open_browser_fn for a person");
    if (*last != 0 && now - *last < PHI__OAUTH_ROUNDS_MS * (uint64_t)1000)
        return phi__oauth_fail(o, PHI_REFUSED, "the server has wanted %d within %d minutes",
                               PHI__OAUTH_ROUNDS, PHI__OAUTH_ROUNDS_MS / 60000);
    memmove(o->rounds + 1, o->rounds, sizeof o->rounds - sizeof o->rounds[0]);
    o->rounds[0] = now == 0 ? 1 : now;
    return PHI_OK;
}

static phi_status phi__oauth_advance(phi__oauth *o) {
    phi_status status = PHI_BUSY;
    if (o->sent.fetch != NULL) return PHI_BUSY;
    switch (o->step) {
    case PHI__OAUTH_IDLE: return PHI_BUSY;
    case PHI__OAUTH_RENEW: status = phi__grant_renew(o); break;
    case PHI__OAUTH_REFRESH: status = phi__grant_refreshed(o); break;
    case PHI__OAUTH_BEGIN: break;
    case PHI__OAUTH_RESOURCE: return phi__oaf_resource(o);
    case PHI__OAUTH_SERVER:
        status = phi__oaf_server(o);
        return status == PHI_OK ? phi__person_go(o) : status;
    case PHI__OAUTH_REGISTER:
        status = phi__oac_registered(o);
        return status == PHI_OK ? phi__person_open(o) : status;
    case PHI__OAUTH_PERSON: return o->redirected.len > 0 ? phi__person_answered(o) : PHI_BUSY;
    case PHI__OAUTH_ASSERT: return o->redirected.len > 0 ? phi__grant_exchange(o) : PHI_BUSY;
    case PHI__OAUTH_EXCHANGE: return phi__person_exchanged(o);
    }
    if (status != PHI_BUSY || o->step != PHI__OAUTH_BEGIN) return status;
    o->renewing = false;
    o->deadline_us = phi__io_counted_us(o->rt->io) + o->desc->timeout_ms * (uint64_t)1000;
    status = phi__oauth_may_ask(o);
    return status == PHI_OK ? phi__oaf_begin(o) : status;
}

static void phi__oauth_fire(phi__timer *timer) {
    phi__oauth *o = PHI__OWNER(timer, phi__oauth, timer);
    phi_status status = PHI_BUSY;
    (void)phi__io_timer_set(o->rt->io, timer, UINT64_MAX); /* keeps the timer's place in the heap */
    phi__oauth_leave(o);
    if (o->step == PHI__OAUTH_IDLE && !o->cancelled) return; /* the timer fired only to sign out */
    if (o->cancelled)
        status = phi__oauth_fail(o, PHI_CANCELLED, "signed out");
    else if (o->step != PHI__OAUTH_IDLE)
        status = phi__oauth_advance(o);
    if (!phi__oauth_still(o)) return;
    uint64_t now_us = phi__io_counted_us(o->rt->io);
    if (status == PHI_BUSY && now_us >= o->deadline_us) {
        /* The server may have told only the person that it does not know the client. Register again
           next time. */
        if (o->step == PHI__OAUTH_PERSON) phi__oac_forget(o);
        status = phi__oauth_fail(o, PHI_TIMEOUT, "not completed within %u s",
                                 (unsigned)(o->desc->timeout_ms / 1000));
    }
    if (status != PHI_BUSY)
        phi__oauth_finish(o, status);
    else if (o->timer.at_us == UINT64_MAX)
        (void)phi__io_deadline_set(o->rt->io, timer, o->deadline_us - now_us);
}

/* Begins a step in the next phi_step. */
static phi_status phi__oauth_start(phi__oauth *o, phi__oauth_step step) {
    o->step = step;
    o->waiting = true;
    o->deadline_us = phi__io_counted_us(o->rt->io) + o->desc->timeout_ms * (uint64_t)1000;
    phi__oauth_wake(o);
    return PHI_BUSY;
}

static phi_status phi__oauth_wait(phi__oauth *o) {
    o->waiting = true;
    return PHI_BUSY;
}

/* ---- for the link ---- */

PHI__FN phi_status phi__oauth_header(phi__oauth *o, phi_str *value) {
    phi__oauth_grant *g = &o->grant;
    int64_t now = phi__io_wall_ms(o->rt->io);
    phi__grant_load(o);
    *value = g->bearer;
    bool may_renew = g->refresh.len > 0 && phi__io_now_us(o->rt->io) >= o->retry_us;
    if (g->bearer.len > 0 && (now < g->renew_ms || !may_renew)) return PHI_OK;
    if (o->step != PHI__OAUTH_IDLE)
        return g->bearer.len > 0 && now < g->until_ms ? PHI_OK : phi__oauth_wait(o);
    if (may_renew) return phi__oauth_start(o, PHI__OAUTH_RENEW);
    return PHI_NOT_FOUND;
}

/* True if the server refuses even a new token. Without a person, asking would never end. */
static bool phi__oauth_vain(const phi__oauth *o) {
    const phi__oauth_grant *g = &o->grant;
    int64_t now = phi__io_wall_ms(o->rt->io);
    return !phi__oauth_person(o) && g->bearer.len > 0 && g->since_ms != 0 && now < g->until_ms &&
           now - g->since_ms < PHI__OAUTH_YOUNG_MS;
}

/* Handles a refused token: uses the refresh token, or begins a new authorization. */
static phi_status phi__oauth_refused(phi__oauth *o) {
    phi__oauth_grant *g = &o->grant;
    bool young = g->refreshed && phi__io_wall_ms(o->rt->io) - g->since_ms < PHI__OAUTH_YOUNG_MS;
    bool had = g->bearer.len > 0, vain = phi__oauth_vain(o);
    phi__keep_spend(&g->bearer, &g->spent[0]);
    o->renewing = true;
    if (had && g->refresh.len > 0 && !young) return phi__oauth_start(o, PHI__OAUTH_RENEW);
    phi__keep_spend(&g->refresh, &g->spent[1]);
    if (had) phi__grant_save(o);
    if ((!phi__oauth_person(o) || o->desc->open_browser_fn != NULL) && !vain)
        return phi__oauth_start(o, PHI__OAUTH_BEGIN);
    phi_status status = vain ? phi__oauth_fail(o, PHI_REFUSED, "the server refuses a new token")
                             : phi__oauth_may_ask(o);
    phi__oauth_rest(o);
    return phi__error(o->rt, status, "%s", o->message);
}

/* Handles a token with too few scopes. */
static phi_status phi__oauth_step_up(phi__oauth *o) {
    const phi__oauth_dare *dare = &o->found.dare;
    const char *why = NULL;
    if (!dare->bearer || !phi__str_is(dare->error, "insufficient_scope"))
        why = "the server refuses the request (HTTP status 403)";
    else if (dare->scope.len == 0 || phi__oauth_has_all(o->grant.scope, dare->scope))
        why = "the server wants more scopes, and names none that was not asked for";
    else if (phi__oauth_person(o) && o->desc->open_browser_fn == NULL)
        why = "the server wants more scopes, and there is no open_browser_fn for a person";
    if (why == NULL) return phi__oauth_start(o, PHI__OAUTH_BEGIN);
    phi__oauth_rest(o);
    return phi__error(o->rt, PHI_REFUSED, "authorization: %s", why);
}

PHI__FN phi_status phi__oauth_challenge(phi__oauth *o, int http_status, phi_str headers,
                                        phi_str sent) {
    phi_str text;
    phi__grant_load(o);
    if (o->step != PHI__OAUTH_IDLE) return phi__oauth_wait(o);
    if (o->grant.bearer.len > 0 && !phi_str_equal(o->grant.bearer, sent)) return PHI_OK;
    if (phi__grant_newer(o, false)) return PHI_OK;
    phi_arena_free(&o->arena);
    if (!phi__arena_str(&o->arena, headers, &text) ||
        !phi__oaw_challenge(&o->arena, text, &o->found.dare)) {
        phi__oauth_rest(o);
        return phi__error(o->rt, PHI_NO_MEMORY, "authorization: no memory");
    }
    if (http_status == 401 && o->grant.dpop && o->grant.bearer.len > 0 && o->nonces[1].len > 0 &&
        phi__str_is(o->found.dare.error, "use_dpop_nonce")) {
        phi__oauth_rest(o);
        return PHI_OK; /* the link limits the repetitions */
    }
    return http_status == 403 ? phi__oauth_step_up(o) : phi__oauth_refused(o);
}

PHI__FN phi_status phi__oauth_proof(phi__oauth *o, const char *method, phi_str url, phi__buf *out) {
    phi_str token = phi__oauth_token_of(o->grant.bearer);
    if (!o->grant.dpop || token.len == 0) return PHI_OK;
    phi_status status = phi__sign_proof(o, phi_str_of(method), url, token, out);
    return status == PHI_OK ? PHI_OK : phi__error(o->rt, status, "%s", o->message);
}

PHI__FN void phi__oauth_heard(phi__oauth *o, phi_str headers) {
    if (o->grant.dpop) phi__oauth_nonce(&o->nonces[1], headers);
}

PHI__FN phi_status phi__oauth_asserted(phi__oauth *o, phi_str token) {
    if (o->step != PHI__OAUTH_ASSERT || o->redirected.len > 0)
        return phi__error(o->rt, PHI_MISUSE, "authorization: none waits for an assertion");
    if (!phi__oauth_printable(token) || token.len > PHI__OAUTH_ANSWER)
        return phi__error(o->rt, PHI_BAD_ARG,
                          "authorization: an assertion has 1 to %d printable characters",
                          PHI__OAUTH_ANSWER);
    return phi__oauth_received(o, token);
}

static phi_status phi__oauth_make(phi__oauth *o, phi_str url) {
    phi_allocator wiping;
    phi_str copy;
    wiping.realloc_fn = phi__oauth_realloc;
    wiping.user_data = o->parent;
    phi_memory_init(&o->memory, &wiping, 0);
    phi_arena_init(&o->base, &o->memory, 256);
    phi_arena_init(&o->arena, &o->memory, 1024);
    phi_arena_init(&o->client_arena, &o->memory, 512);
    phi__keep_init(&o->grant, &o->memory);
    phi__buf_init(&o->sent.answer, &o->memory);
    phi__buf_init(&o->redirected, &o->memory);
    phi__buf_init(&o->bound, &o->memory);
    phi__buf_init(&o->nonces[0], &o->memory);
    phi__buf_init(&o->nonces[1], &o->memory);
    if (!phi__arena_str(&o->base, url, &copy)) return PHI_NO_MEMORY;
    if (!phi__url_read(copy, &o->url) || (!o->url.https && o->url.reach != PHI__OAUTH_LOOPBACK))
        return PHI_BAD_ARG;
    phi__buf resource = phi__buf_of(&o->memory);
    phi__url_put_resource(&resource, &o->url);
    bool fine = phi__mcp_keep(&resource, &o->base, &o->resource);
    o->timer.fire = phi__oauth_fire;
    return fine ? phi__io_timer_set(o->rt->io, &o->timer, UINT64_MAX) : PHI_NO_MEMORY;
}

PHI__FN phi_status phi__oauth_new(phi_runtime *rt, phi_memory *memory,
                                  const phi_mcp_oauth_desc *desc, phi_str url,
                                  const char *client_name, const phi__oauth_listener *listener,
                                  phi__oauth **out) {
    phi__oauth *o = (phi__oauth *)phi__alloc(memory, sizeof *o);
    *out = NULL;
    if (o == NULL) return phi__error(rt, PHI_NO_MEMORY, "authorization: no memory");
    o->rt = rt;
    o->parent = memory;
    o->desc = desc;
    o->client_name = desc->client_name != NULL ? desc->client_name : client_name;
    o->listener = *listener;
    phi_status status = phi__oauth_make(o, url);
    if (status == PHI_OK) {
        *out = o;
        return PHI_OK;
    }
    phi__oauth_destroy(o);
    return phi__error(rt, status,
                      status == PHI_BAD_ARG ? "authorization: url: expected https, or http on this "
                                              "machine"
                                            : "authorization: no memory");
}

PHI__FN void phi__oauth_free(phi__oauth *o) {
    if (o == NULL || o->gone) return;
    if (o->calling)
        o->gone = true;
    else
        phi__oauth_destroy(o);
}

PHI__FN void phi__sign_out(phi__oauth *o) {
    if (o->signing) { /* the key signs a text of the grant: sign out in the next step */
        o->signs_out = true;
        phi__oauth_wake(o);
        return;
    }
    phi__grant_load(o);
    phi__keep_clear(&o->grant);
    phi__keep_drop(o->desc->store, o->resource);
    if (o->step == PHI__OAUTH_IDLE) return;
    o->cancelled = true;
    phi__oauth_wake(o);
}
