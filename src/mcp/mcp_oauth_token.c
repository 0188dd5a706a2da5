/* mcp_oauth_token.c - tokens: taken, kept, refreshed. */
#include "mcp/mcp_oauth_state_in.h"

#ifndef PHI_NO_MCP

enum {
    PHI__MCP_OAUTH_EARLY_MS = 60000, /* a token is refreshed so long before its end */
    PHI__MCP_OAUTH_RETRY_MS = 30000, /* after a refresh that failed in the network */
    PHI__MCP_OAUTH_AGAIN_MS = 1000   /* after one that gave a token, which may have ended already */
};

static bool phi__mcp_oauth_token_fits(phi_str token) {
    size_t i;
    for (i = 0; i < token.len; i++)
        if (token.at[i] <= ' ' || token.at[i] > '~') return false;
    return token.len > 0;
}

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

static bool phi__mcp_oauth_token_bearer(phi_arena *arena, phi_str token, phi_str *out) {
    char *at = phi__arena_bytes(arena, token.len + 8);
    if (at == NULL) return false;
    memcpy(at, "Bearer ", 7);
    memcpy(at + 7, token.at, token.len);
    at[token.len + 7] = '\0';
    *out = phi__str(at, token.len + 7);
    return true;
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
PHI__FN phi_status phi__mcp_oauth_token_take(phi__mcp_oauth *o, const phi__mcp_oauth_reply *reply,
                                             bool refreshed) {
    phi__mcp_oauth_grant next;
    const phi__mcp_oauth_grant *old = &o->grant;
    phi_arena *arena = &next.arena;
    phi_str refresh = reply->refresh;
    bool fine;
    phi__mcp_oauth_keep_init(&next, &o->memory);
    if (refresh.len == 0 && refreshed) refresh = old->refresh;
    fine =
        phi__mcp_oauth_token_bearer(arena, reply->token, &next.bearer) &&
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
    next.refreshed = refreshed;
    phi__mcp_oauth_token_times(o, &next, reply->lifetime_s);
    phi__mcp_oauth_token_rest(o, PHI__MCP_OAUTH_AGAIN_MS);
    phi__mcp_oauth_keep_move(&o->grant, &next);
    phi__mcp_oauth_token_save(o);
    return PHI_OK;
}

/* The stored grant; one that is not ours or not well formed counts as none. */
static bool phi__mcp_oauth_token_stored(phi__mcp_oauth *o, phi__mcp_oauth_grant *g) {
    const char *id = o->desc->client_id;
    if (phi__mcp_oauth_keep_load(o->desc->store, o->resource, g) != PHI_OK) return false;
    if (g->bearer.len > 0 &&
        (!phi__str_starts(g->bearer, "Bearer ") ||
         !phi__mcp_oauth_token_fits(phi__str(g->bearer.at + 7, g->bearer.len - 7))))
        g->bearer = phi__str("", 0);
    if ((id != NULL && !phi__str_is(g->client_id, id)) ||
        (o->desc->issuer != NULL && id != NULL && !phi__str_is(g->issuer, o->desc->issuer)))
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

PHI__FN phi_status phi__mcp_oauth_token_ask(phi__mcp_oauth *o, phi_str endpoint,
                                            const phi__buf *body) {
    phi_status status = PHI_NO_MEMORY;
    phi__buf basic;
    phi__buf_init(&basic, &o->memory);
    phi__mcp_oauth_form_basic(&basic, &o->client);
    if (!basic.failed && !body->failed)
        status = phi__mcp_oauth_state_post(o, endpoint, "application/x-www-form-urlencoded",
                                           phi__buf_str(&basic), phi__buf_str(body),
                                           "the token endpoint");
    phi__buf_free(&basic);
    return status;
}

PHI__FN phi_status phi__mcp_oauth_token_refused(phi__mcp_oauth *o,
                                                const phi__mcp_oauth_reply *reply) {
    if (reply->other_type)
        return phi__mcp_oauth_state_fail(o, PHI_REFUSED,
                                         "the token endpoint gave a token that is no bearer token");
    return phi__mcp_oauth_state_fail(
        o, PHI_REFUSED, "the token endpoint: HTTP status %d%s%s%s%s", o->sent.http_status,
        reply->error.len > 0 ? ": " : ", no token", phi__mcp_oauth_state_shown(o, reply->error, 60),
        reply->description.len > 0 ? ": " : "",
        phi__mcp_oauth_state_shown(o, reply->description, 120));
}

PHI__FN bool phi__mcp_oauth_token_given(const phi__mcp_oauth *o,
                                        const phi__mcp_oauth_reply *reply) {
    return o->sent.http_status >= 200 && o->sent.http_status < 300 && !reply->other_type &&
           phi__mcp_oauth_token_fits(reply->token);
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
    return o->renewing ? PHI_BUSY : PHI_OK; /* PHI_OK: the server will say what it wants */
}

#endif
