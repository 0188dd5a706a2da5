/* mcp_oauth_token.c - tokens: taken, kept, refreshed. */
#include "mcp/mcp_oauth_state_in.h"

enum {
    PHI__MCP_OAUTH_EARLY_MS = 60000, /* a token is refreshed so long before its end */
    PHI__MCP_OAUTH_RETRY_MS = 30000, /* after a refresh that failed in the network */
    PHI__MCP_OAUTH_AGAIN_MS = 1000   /* after one that gave a token, which may have ended already */
};

PHI__FN void phi__mcp_oauth_token_save(phi__mcp_oauth *o) {
    phi_status status = phi__mcp_oauth_keep_save(o->desc->store, o->resource, &o->grant);
    o->unkept = status != PHI_OK;
    if (o->unkept)
        (void)phi__error(o->rt, status, "authorization: the store does not keep the token: %s",
                         phi_status_text(status));
}

/* The scopes that were asked for, and those that the server says it has granted. */
static bool phi__mcp_oauth_token_scopes(phi__mcp_oauth *o, phi_arena *arena, phi_str asked,
                                        phi_str granted, phi_str *out) {
    phi__buf set;
    bool fine;
    phi__buf_init(&set, &o->memory);
    phi__mcp_oauth_words_join(&set, asked);
    phi__mcp_oauth_words_join(&set, granted);
    fine = !set.failed && phi__arena_str(arena, phi__buf_str(&set), out);
    phi__buf_free(&set);
    return fine;
}

static bool phi__mcp_oauth_token_bearer(phi_arena *arena, bool dpop, phi_str token, phi_str *out) {
    phi_str scheme = dpop ? PHI__LIT("DPoP ") : PHI__LIT("Bearer ");
    char *at = phi__arena_bytes(arena, scheme.len + token.len + 1);
    if (at == NULL) return false;
    memcpy(at, scheme.at, scheme.len);
    memcpy(at + scheme.len, token.at, token.len);
    at[scheme.len + token.len] = '\0';
    *out = phi__str(at, scheme.len + token.len);
    return true;
}

/* The token of a value that we send. */
static phi_str phi__mcp_oauth_token_of(phi_str bearer) {
    size_t at = phi__str_find(bearer, 0, " ");
    return at == SIZE_MAX ? phi__str("", 0) : phi__str(bearer.at + at + 1, bearer.len - at - 1);
}

static void phi__mcp_oauth_token_rest(phi__mcp_oauth *o, uint32_t ms) {
    o->retry_us = phi__io_now_us(o->rt->io) + ms * (uint64_t)1000;
}

static void phi__mcp_oauth_token_times(phi__mcp_oauth *o, phi__mcp_oauth_grant *g,
                                       int64_t lifetime_s) {
    int64_t ms, early;
    g->since_ms = phi__io_wall_ms(o->rt->io);
    g->until_ms = g->renew_ms = INT64_MAX;
    if (lifetime_s > INT64_MAX / 4000) return;
    ms = lifetime_s * 1000;
    early = ms / 2 < PHI__MCP_OAUTH_EARLY_MS ? ms / 2 : (int64_t)PHI__MCP_OAUTH_EARLY_MS;
    g->until_ms = g->since_ms + ms;
    g->renew_ms = g->until_ms - early;
}

/* A grant of an answer; what it does not say is as before, or as it was asked for. */
static phi_status phi__mcp_oauth_token_take(phi__mcp_oauth *o, const phi__mcp_oauth_reply *reply,
                                            bool refreshed) {
    phi__mcp_oauth_grant next;
    const phi__mcp_oauth_grant *old = &o->grant;
    phi_arena *arena = &next.arena;
    phi_str refresh = reply->refresh;
    bool fine;
    phi__mcp_oauth_keep_init(&next, &o->memory);
    if (refresh.len == 0 && refreshed) refresh = old->refresh;
    fine =
        phi__mcp_oauth_token_bearer(arena, reply->dpop, reply->token, &next.bearer) &&
        phi__arena_str(arena, refresh, &next.refresh) &&
        phi__mcp_oauth_token_scopes(o, arena, refreshed ? old->scope : o->ask.scope, reply->scope,
                                    &next.scope) &&
        phi__arena_str(arena, refreshed ? old->issuer : o->found.server.issuer, &next.issuer) &&
        phi__arena_str(arena, refreshed ? old->endpoint : o->found.server.token, &next.endpoint) &&
        phi__arena_str(arena, refreshed ? old->resource : o->ask.resource, &next.resource) &&
        phi__arena_str(arena, o->client.id, &next.client_id);
    if (!fine) {
        phi__mcp_oauth_keep_clear(&next);
        return PHI_NO_MEMORY;
    }
    next.method = o->client.method;
    next.dpop = reply->dpop;
    next.kind = (uint32_t)o->desc->grant;
    next.refreshed = refreshed;
    phi__mcp_oauth_token_times(o, &next, reply->lifetime_s);
    phi__mcp_oauth_token_rest(o, PHI__MCP_OAUTH_AGAIN_MS);
    phi__mcp_oauth_keep_move(&o->grant, &next);
    phi__buf_clear(&o->bound);
    phi__buf_add_str(&o->bound, o->grant.issuer); /* without memory the next one binds */
    phi__mcp_oauth_token_save(o);
    return PHI_OK;
}

/* The stored grant; one that is not ours or not well formed counts as none. */
static bool phi__mcp_oauth_token_stored(phi__mcp_oauth *o, phi__mcp_oauth_grant *g) {
    const char *id = o->desc->client_id;
    if (phi__mcp_oauth_keep_load(o->desc->store, o->resource, g) != PHI_OK) return false;
    if (!phi__str_starts(g->bearer, g->dpop ? "DPoP " : "Bearer ") ||
        !phi__mcp_oauth_words_printable(phi__mcp_oauth_token_of(g->bearer)))
        g->bearer = phi__str("", 0);
    if ((g->dpop && o->desc->dpop_key == NULL) || g->kind != (uint32_t)o->desc->grant)
        phi__mcp_oauth_keep_clear(g);
    if ((id != NULL && !phi__str_is(g->client_id, id)) ||
        (o->desc->issuer != NULL && (id != NULL || !phi__mcp_oauth_state_person(o)) &&
         !phi__str_is(g->issuer, o->desc->issuer)))
        phi__mcp_oauth_keep_clear(g);
    if (phi__mcp_oauth_url_fault(&o->url, g->endpoint, o->desc->allow_private) != NULL)
        g->refresh = phi__str("", 0);
    return true;
}

PHI__FN void phi__mcp_oauth_token_load(phi__mcp_oauth *o) {
    if (o->loaded) return;
    o->loaded = true;
    (void)phi__mcp_oauth_token_stored(o, &o->grant);
}

/* A stored grant whose token, or refresh token, is another one. */
static bool phi__mcp_oauth_token_newer(phi__mcp_oauth *o, bool refresh) {
    phi__mcp_oauth_grant next;
    bool fine;
    if (o->desc->store == NULL) return false;
    phi__mcp_oauth_keep_init(&next, &o->memory);
    fine = phi__mcp_oauth_token_stored(o, &next) && next.bearer.len > 0 &&
           !phi_str_equal(refresh ? next.refresh : next.bearer,
                          refresh ? o->grant.refresh : o->grant.bearer) &&
           next.renew_ms > phi__io_wall_ms(o->rt->io);
    if (fine)
        phi__mcp_oauth_keep_move(&o->grant, &next);
    else
        phi__mcp_oauth_keep_clear(&next);
    return fine;
}

PHI__FN bool phi__mcp_oauth_token_reload(phi__mcp_oauth *o) {
    return phi__mcp_oauth_token_newer(o, false);
}

/* The token is, or will be, bound to the host's key. */
static bool phi__mcp_oauth_token_proves(const phi__mcp_oauth *o) {
    const phi_mcp_key *key = o->desc->dpop_key;
    if (key == NULL) return false;
    if (o->step == PHI__MCP_OAUTH_REFRESH) return o->grant.dpop;
    return phi__mcp_oauth_words_has(o->found.server.dpop, phi_str_of(key->algorithm));
}

/* Sends a form with the client's proof. */
static phi_status phi__mcp_oauth_token_ask(phi__mcp_oauth *o, phi_str endpoint, phi__buf *body) {
    phi_str none = phi__str("", 0);
    phi_status status = PHI_OK;
    phi__buf basic, proof;
    phi__buf_init(&basic, &o->memory);
    phi__buf_init(&proof, &o->memory);
    phi__mcp_oauth_form_basic(&basic, &o->client);
    if (o->client.method == PHI__MCP_OAUTH_KEY) status = phi__mcp_oauth_sign_client(o, body);
    if (status == PHI_OK && phi__mcp_oauth_token_proves(o))
        status = phi__mcp_oauth_sign_proof(o, PHI__LIT("POST"), endpoint, none, &proof);
    if (status == PHI_OK && (basic.failed || body->failed)) status = PHI_NO_MEMORY;
    if (status == PHI_OK)
        status = phi__mcp_oauth_state_post(o, endpoint, "application/x-www-form-urlencoded",
                                           phi__buf_str(&basic), phi__buf_str(&proof),
                                           phi__buf_str(body), "the token endpoint");
    phi__buf_free(&basic);
    phi__buf_free(&proof);
    return status;
}

/* The endpoint wants its nonce in the proof: RFC 9449, 8. */
static bool phi__mcp_oauth_token_again(phi__mcp_oauth *o, const phi__mcp_oauth_reply *reply) {
    if (!phi__str_is(reply->error, "use_dpop_nonce") || !phi__mcp_oauth_token_proves(o))
        return false;
    if (o->nonced || o->nonces[0].len == 0) return false;
    o->nonced = true;
    return true;
}

static phi_status phi__mcp_oauth_token_refused(phi__mcp_oauth *o,
                                               const phi__mcp_oauth_reply *reply) {
    if (reply->other_type || (reply->dpop && reply->token.len > 0))
        return phi__mcp_oauth_state_fail(o, PHI_REFUSED,
                                         "the token endpoint gave a token that is no bearer token");
    return phi__mcp_oauth_state_fail(
        o, PHI_REFUSED, "the token endpoint: HTTP status %d%s%s%s%s", o->sent.http_status,
        reply->error.len > 0 ? ": " : ", no token", phi__mcp_oauth_state_shown(o, reply->error, 60),
        reply->description.len > 0 ? ": " : "",
        phi__mcp_oauth_state_shown(o, reply->description, 120));
}

static bool phi__mcp_oauth_token_given(const phi__mcp_oauth *o, const phi__mcp_oauth_reply *reply) {
    return o->sent.http_status >= 200 && o->sent.http_status < 300 && !reply->other_type &&
           (!reply->dpop || phi__mcp_oauth_token_proves(o)) &&
           phi__mcp_oauth_words_printable(reply->token);
}

PHI__FN phi_status phi__mcp_oauth_token_exchange(phi__mcp_oauth *o) {
    phi_str token = phi__str("", 0);
    phi_status status;
    phi__buf body;
    phi__buf_init(&body, &o->memory);
    if (o->desc->grant == PHI_MCP_GRANT_ASSERTION) token = phi__buf_str(&o->redirected);
    if (phi__mcp_oauth_state_person(o))
        phi__mcp_oauth_form_code(&body, &o->client, &o->ask);
    else
        phi__mcp_oauth_form_machine(&body, &o->client, &o->ask, token);
    o->step = PHI__MCP_OAUTH_EXCHANGE;
    status = phi__mcp_oauth_token_ask(o, o->found.server.token, &body);
    phi__buf_free(&body);
    return status;
}

PHI__FN phi_status phi__mcp_oauth_token_exchanged(phi__mcp_oauth *o, phi__mcp_oauth_reply *reply) {
    phi_status status = phi__mcp_oauth_state_answered(o);
    memset(reply, 0, sizeof *reply);
    if (status != PHI_OK) return status;
    if (!phi__mcp_oauth_form_reply(&o->arena, phi__buf_str(&o->sent.answer), reply))
        return PHI_NO_MEMORY;
    if (phi__mcp_oauth_token_given(o, reply)) return phi__mcp_oauth_token_take(o, reply, false);
    if (phi__mcp_oauth_token_again(o, reply)) return phi__mcp_oauth_token_exchange(o);
    return phi__mcp_oauth_token_refused(o, reply);
}

/* ---- refresh ---- */

PHI__FN phi_status phi__mcp_oauth_token_renew(phi__mcp_oauth *o) {
    phi_status status;
    phi__buf body;
    if (!o->renewing && phi__mcp_oauth_token_reload(o)) return PHI_OK;
    if (!phi__mcp_oauth_client_recall(o)) {
        phi__mcp_oauth_keep_spend_refresh(&o->grant);
        o->step = PHI__MCP_OAUTH_BEGIN;
        return o->renewing ? PHI_BUSY : PHI_OK;
    }
    phi__buf_init(&body, &o->memory);
    phi__mcp_oauth_form_refresh(&body, &o->client, o->grant.refresh, o->grant.resource);
    o->step = PHI__MCP_OAUTH_REFRESH;
    status = phi__mcp_oauth_token_ask(o, o->grant.endpoint, &body);
    phi__buf_free(&body);
    return status;
}

PHI__FN phi_status phi__mcp_oauth_token_refreshed(phi__mcp_oauth *o) {
    phi__mcp_oauth_reply reply;
    phi_status status = phi__mcp_oauth_state_answered(o);
    if (status == PHI_OK &&
        !phi__mcp_oauth_form_reply(&o->arena, phi__buf_str(&o->sent.answer), &reply))
        return PHI_NO_MEMORY;
    if (status == PHI_OK && phi__mcp_oauth_token_given(o, &reply))
        return phi__mcp_oauth_token_take(o, &reply, true);
    if (status == PHI_OK && phi__mcp_oauth_token_again(o, &reply))
        return phi__mcp_oauth_token_renew(o);
    if (status == PHI_OK) status = phi__mcp_oauth_token_refused(o, &reply);
    if (o->sent.status != PHI_OK || o->sent.http_status >= 500 || o->sent.http_status == 429) {
        phi__mcp_oauth_token_rest(o, PHI__MCP_OAUTH_RETRY_MS);
        return o->grant.bearer.len > 0 ? PHI_OK : status; /* it may serve until its end */
    }
    /* refresh tokens that serve once: another connection was faster */
    if (phi__mcp_oauth_token_newer(o, true)) return PHI_OK;
    if (phi__str_is(reply.error, "invalid_client")) phi__mcp_oauth_client_forget(o);
    phi__mcp_oauth_keep_spend_refresh(&o->grant);
    phi__mcp_oauth_token_save(o);
    o->step = PHI__MCP_OAUTH_BEGIN;
    o->nonced = false;                      /* the new authorization may be of another endpoint */
    return o->renewing ? PHI_BUSY : PHI_OK; /* PHI_OK: the server will say what it wants */
}
