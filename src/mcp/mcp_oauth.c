/* mcp_oauth.c - the steps of an authorization, and what the link calls. */
#include "mcp/mcp_oauth_state_in.h"

#include <stdio.h>

enum {
    PHI__MCP_OAUTH_TIMEOUT_MS = 300000,
    /* refused so soon after a refresh: another refresh is vain */
    PHI__MCP_OAUTH_YOUNG_MS = 60000
};

/* ---- the desc ---- */

/* https, http on this machine, or a scheme of a program's own, which has a dot (RFC 8252, 7.1). */
static bool phi__mcp_oauth_redirect_fits(const char *uri) {
    phi_str text = phi_str_of(uri);
    phi__mcp_oauth_url url;
    size_t i, colon = phi__str_find(text, 0, ":");
    if (phi__mcp_oauth_url_read(text, &url))
        return url.https || url.reach == PHI__MCP_OAUTH_LOOPBACK;
    if (colon == SIZE_MAX || memchr(text.at, '.', colon) == NULL) return false;
    for (i = 0; i < text.len; i++)
        if (text.at[i] <= ' ' || text.at[i] > '~' || text.at[i] == '#') return false;
    return text.len <= PHI__MCP_OAUTH_URL;
}

/* A private member of a key that is shown to servers. */
static bool phi__mcp_oauth_private(const phi_mcp_key *key) {
    phi__json_found found;
    return phi__json_cursor_find(phi_str_of(key->jwk), "d", &found) == PHI_OK ||
           phi__json_cursor_find(phi_str_of(key->jwk), "k", &found) == PHI_OK;
}

/* What the host's keys lack. */
static const char *phi__mcp_oauth_refuse_keys(const phi_mcp_oauth_desc *desc) {
    const phi_mcp_key *client = desc->client_key, *dpop = desc->dpop_key;
    phi__json_found found;
    if (client != NULL && (client->algorithm == NULL || client->sign == NULL))
        return "oauth: client_key: algorithm and sign are needed";
    if (client != NULL && desc->client_id == NULL) return "oauth: client_key: client_id is needed";
    if (dpop == NULL) return NULL;
    if (dpop->algorithm == NULL || dpop->sign == NULL)
        return "oauth: dpop_key: algorithm and sign are needed";
    if (phi__json_cursor_find(phi_str_of(dpop->jwk), "kty", &found) != PHI_OK)
        return "oauth: dpop_key: jwk: expected a public key as a JSON object";
    return phi__mcp_oauth_private(dpop) ? "oauth: dpop_key: jwk: it holds a private key" : NULL;
}

/* What a grant lacks. */
static const char *phi__mcp_oauth_refuse_grant(const phi_mcp_oauth_desc *desc) {
    bool proof = desc->client_key != NULL || desc->client_secret != NULL;
    switch (desc->grant) {
    case PHI_MCP_GRANT_PERSON: return NULL;
    case PHI_MCP_GRANT_CLIENT:
        return desc->client_id != NULL && proof
                   ? NULL
                   : "oauth: grant: client_id, and client_secret or client_key, are needed";
    case PHI_MCP_GRANT_ASSERTION:
        return desc->want_assertion_fn != NULL ? NULL : "oauth: grant: want_assertion_fn is needed";
    }
    return "oauth: grant: expected PHI_MCP_GRANT_PERSON, _CLIENT or _ASSERTION";
}

/* What client_auth lacks. A client that is registered gets its secret from the server. */
static const char *phi__mcp_oauth_refuse_auth(const phi_mcp_oauth_desc *desc) {
    bool secret = desc->client_auth == PHI_MCP_CLIENT_AUTH_BASIC ||
                  desc->client_auth == PHI_MCP_CLIENT_AUTH_POST;
    if (desc->client_auth == PHI_MCP_CLIENT_AUTH_KEY && desc->client_key == NULL)
        return "oauth: client_auth: client_key is needed";
    return secret && desc->client_id != NULL && desc->client_secret == NULL
               ? "oauth: client_auth: client_secret is needed"
               : NULL;
}

PHI__FN const char *phi__mcp_oauth_refuse(const phi_mcp_oauth_desc *desc) {
    phi__mcp_oauth_url url;
    const char *fault = phi__mcp_oauth_refuse_grant(desc);
    bool person = desc->open_browser_fn != NULL && desc->grant == PHI_MCP_GRANT_PERSON;
    if (fault == NULL) fault = phi__mcp_oauth_refuse_keys(desc);
    if (fault == NULL) fault = phi__mcp_oauth_refuse_auth(desc);
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
    if (desc->redirect_uri != NULL && !phi__mcp_oauth_redirect_fits(desc->redirect_uri))
        return "oauth: redirect_uri: expected https, http on this machine, or a scheme with a dot";
    if (desc->client_metadata_url != NULL &&
        (!phi__mcp_oauth_url_read(phi_str_of(desc->client_metadata_url), &url) || !url.https ||
         url.path.len < 2))
        return "oauth: client_metadata_url: expected https with a path";
    if (desc->client_id != NULL && desc->client_id[0] == '\0') return "oauth: client_id is empty";
    if (desc->store != NULL && (desc->store->load == NULL || desc->store->save == NULL))
        return "oauth: store: load and save are needed";
    return NULL;
}

static bool phi__mcp_oauth_copy_text(phi_arena *arena, const char **text) {
    phi_str copy;
    if (*text == NULL) return true;
    if (!phi__arena_str(arena, phi_str_of(*text), &copy)) return false;
    *text = copy.at;
    return true;
}

static bool phi__mcp_oauth_copy_key(phi_arena *arena, const phi_mcp_key **key) {
    phi_mcp_key *copy;
    if (*key == NULL) return true;
    copy = (phi_mcp_key *)phi_arena_alloc(arena, sizeof *copy);
    if (copy == NULL) return false;
    *copy = **key;
    *key = copy;
    return phi__mcp_oauth_copy_text(arena, &copy->algorithm) &&
           phi__mcp_oauth_copy_text(arena, &copy->id) &&
           phi__mcp_oauth_copy_text(arena, &copy->jwk);
}

PHI__FN bool phi__mcp_oauth_copy(phi_arena *arena, const phi_mcp_oauth_desc *from,
                                 const phi_mcp_oauth_desc **out) {
    phi_mcp_oauth_desc *to = (phi_mcp_oauth_desc *)phi_arena_alloc(arena, sizeof *to);
    phi_store *store;
    if (to == NULL) return false;
    *to = *from;
    if (to->timeout_ms == 0) to->timeout_ms = PHI__MCP_OAUTH_TIMEOUT_MS;
    if (from->store != NULL) {
        store = (phi_store *)phi_arena_alloc(arena, sizeof *store);
        if (store == NULL) return false;
        *store = *from->store;
        to->store = store;
    }
    *out = to;
    return phi__mcp_oauth_copy_key(arena, &to->client_key) &&
           phi__mcp_oauth_copy_key(arena, &to->dpop_key) &&
           phi__mcp_oauth_copy_text(arena, &to->client_id) &&
           phi__mcp_oauth_copy_text(arena, &to->client_secret) &&
           phi__mcp_oauth_copy_text(arena, &to->issuer) &&
           phi__mcp_oauth_copy_text(arena, &to->client_metadata_url) &&
           phi__mcp_oauth_copy_text(arena, &to->client_name) &&
           phi__mcp_oauth_copy_text(arena, &to->client_uri) &&
           phi__mcp_oauth_copy_text(arena, &to->scope) &&
           phi__mcp_oauth_copy_text(arena, &to->redirect_uri);
}

/* ---- memory ---- */

/* Passes on to the caller's budget, and wipes what it gives back: no block is grown in place. */
static void *phi__mcp_oauth_realloc(void *user_data, void *ptr, size_t old_bytes,
                                    size_t new_bytes) {
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

/* ---- the end ---- */

/* Nothing is under way any more. */
static void phi__mcp_oauth_rest(phi__mcp_oauth *o) {
    phi__fetch_close(o->sent.fetch);
    o->sent.fetch = NULL;
    o->step = PHI__MCP_OAUTH_IDLE;
    o->renewing = o->registered = o->cancelled = o->nonced = false;
    phi__mcp_oauth_person_unlisten(o);
    phi__buf_free(&o->sent.answer);
    phi__buf_free(&o->redirected);
    memset(&o->found, 0, sizeof o->found);
    memset(&o->ask, 0, sizeof o->ask);
    phi_arena_free(&o->arena);
    (void)phi__io_timer_set(o->rt->io, &o->timer, UINT64_MAX);
}

static void phi__mcp_oauth_destroy(phi__mcp_oauth *o) {
    phi_memory *parent = o->parent;
    phi__mcp_oauth_rest(o);
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

/* After a function of the host or the link: false: the object is gone. */
static bool phi__mcp_oauth_still(phi__mcp_oauth *o) {
    o->calling = false;
    if (!o->gone) return true;
    phi__mcp_oauth_destroy(o);
    return false;
}

/* Signs out, if a key of the host's wanted that while it signed. */
static void phi__mcp_oauth_leave(phi__mcp_oauth *o) {
    if (!o->signs_out) return;
    o->signs_out = false;
    phi__mcp_oauth_sign_out(o);
}

static void phi__mcp_oauth_finish(phi__mcp_oauth *o, phi_status status) {
    char message[PHI__MCP_OAUTH_MESSAGE];
    bool waiting = o->waiting;
    if (status == PHI_NO_MEMORY)
        (void)phi__mcp_oauth_state_fail(o, status, "%s", phi_status_text(status));
    (void)snprintf(message, sizeof message, "%s",
                   status != PHI_OK ? o->message
                   : o->unkept      ? "authorization: the store does not keep the token; a person "
                                      "will be asked again when the program has ended"
                                    : "");
    phi__mcp_oauth_rest(o);
    o->waiting = false;
    phi__mcp_oauth_leave(o);
    if (!waiting) return;
    o->unkept = false;
    o->calling = true;
    o->listener.changed(o->listener.ctx, status, message);
    (void)phi__mcp_oauth_still(o);
}

/* ---- steps ---- */

/* A server that is never content must not open one browser window after another. */
static phi_status phi__mcp_oauth_may_ask(phi__mcp_oauth *o) {
    uint64_t now = phi__io_now_us(o->rt->io), *last = &o->rounds[PHI__MCP_OAUTH_ROUNDS - 1];
    if (!phi__mcp_oauth_state_person(o)) return PHI_OK;
    if (o->desc->open_browser_fn == NULL)
        return phi__mcp_oauth_state_fail(
            o, PHI_REFUSED, "the server wants one, and there is no open_browser_fn for a person");
    if (*last != 0 && now - *last < PHI__MCP_OAUTH_ROUNDS_MS * (uint64_t)1000)
        return phi__mcp_oauth_state_fail(o, PHI_REFUSED,
                                         "the server has wanted %d within %d minutes",
                                         PHI__MCP_OAUTH_ROUNDS, PHI__MCP_OAUTH_ROUNDS_MS / 60000);
    memmove(o->rounds + 1, o->rounds, sizeof o->rounds - sizeof o->rounds[0]);
    o->rounds[0] = now == 0 ? 1 : now;
    return PHI_OK;
}

static phi_status phi__mcp_oauth_begin(phi__mcp_oauth *o) {
    phi_status status = phi__mcp_oauth_may_ask(o);
    o->renewing = false;
    o->deadline_us = phi__io_counted_us(o->rt->io) + o->desc->timeout_ms * (uint64_t)1000;
    return status == PHI_OK ? phi__mcp_oauth_find_begin(o) : status;
}

static phi_status phi__mcp_oauth_advance(phi__mcp_oauth *o) {
    phi_status status = PHI_BUSY;
    if (o->sent.fetch != NULL) return PHI_BUSY;
    switch (o->step) {
    case PHI__MCP_OAUTH_IDLE: return PHI_BUSY;
    case PHI__MCP_OAUTH_RENEW: status = phi__mcp_oauth_token_renew(o); break;
    case PHI__MCP_OAUTH_REFRESH: status = phi__mcp_oauth_token_refreshed(o); break;
    case PHI__MCP_OAUTH_BEGIN: break;
    case PHI__MCP_OAUTH_RESOURCE: return phi__mcp_oauth_find_resource(o);
    case PHI__MCP_OAUTH_SERVER:
        status = phi__mcp_oauth_find_server(o);
        return status == PHI_OK ? phi__mcp_oauth_person_go(o) : status;
    case PHI__MCP_OAUTH_REGISTER:
        status = phi__mcp_oauth_client_registered(o);
        return status == PHI_OK ? phi__mcp_oauth_person_open(o) : status;
    case PHI__MCP_OAUTH_PERSON:
        return o->redirected.len > 0 ? phi__mcp_oauth_person_answered(o) : PHI_BUSY;
    case PHI__MCP_OAUTH_ASSERT:
        return o->redirected.len > 0 ? phi__mcp_oauth_token_exchange(o) : PHI_BUSY;
    case PHI__MCP_OAUTH_EXCHANGE: return phi__mcp_oauth_person_exchanged(o);
    }
    if (status == PHI_BUSY && o->step == PHI__MCP_OAUTH_BEGIN) status = phi__mcp_oauth_begin(o);
    return status;
}

static void phi__mcp_oauth_fire(phi__timer *timer) {
    phi__mcp_oauth *o = PHI__OWNER(timer, phi__mcp_oauth, timer);
    phi_status status = PHI_BUSY;
    uint64_t now_us;
    /* first of all, its place for the next time: later it may find no memory */
    (void)phi__io_timer_set(o->rt->io, timer, UINT64_MAX);
    phi__mcp_oauth_leave(o);
    if (o->step == PHI__MCP_OAUTH_IDLE && !o->cancelled) return; /* it was woken to leave */
    if (o->cancelled)
        status = phi__mcp_oauth_state_fail(o, PHI_CANCELLED, "signed out");
    else if (o->step != PHI__MCP_OAUTH_IDLE)
        status = phi__mcp_oauth_advance(o);
    if (!phi__mcp_oauth_still(o)) return;
    now_us = phi__io_counted_us(o->rt->io);
    if (status == PHI_BUSY && now_us >= o->deadline_us) {
        /* a server that does not know the client any more shows the person an error, and us none */
        if (o->step == PHI__MCP_OAUTH_PERSON) phi__mcp_oauth_client_forget(o);
        status = phi__mcp_oauth_state_fail(o, PHI_TIMEOUT, "not completed within %u s",
                                           (unsigned)(o->desc->timeout_ms / 1000));
    }
    if (status != PHI_BUSY)
        phi__mcp_oauth_finish(o, status);
    else if (o->timer.at_us == UINT64_MAX)
        (void)phi__io_deadline_set(o->rt->io, timer, o->deadline_us - now_us);
}

/* Begins in the next step. */
static phi_status phi__mcp_oauth_start(phi__mcp_oauth *o, phi__mcp_oauth_step step) {
    o->step = step;
    o->waiting = true;
    o->deadline_us = phi__io_counted_us(o->rt->io) + o->desc->timeout_ms * (uint64_t)1000;
    phi__mcp_oauth_state_wake(o);
    return PHI_BUSY;
}

static phi_status phi__mcp_oauth_wait(phi__mcp_oauth *o) {
    o->waiting = true;
    return PHI_BUSY;
}

/* ---- for the link ---- */

PHI__FN phi_status phi__mcp_oauth_header(phi__mcp_oauth *o, phi_str *value) {
    phi__mcp_oauth_grant *g = &o->grant;
    int64_t now = phi__io_wall_ms(o->rt->io);
    bool may_renew;
    phi__mcp_oauth_token_load(o);
    *value = g->bearer;
    may_renew = g->refresh.len > 0 && phi__io_now_us(o->rt->io) >= o->retry_us;
    if (g->bearer.len > 0 && (now < g->renew_ms || !may_renew)) return PHI_OK;
    if (o->step != PHI__MCP_OAUTH_IDLE)
        return g->bearer.len > 0 && now < g->until_ms ? PHI_OK : phi__mcp_oauth_wait(o);
    if (may_renew) return phi__mcp_oauth_start(o, PHI__MCP_OAUTH_RENEW);
    return PHI_NOT_FOUND;
}

/* A new authorization is possible. */
static bool phi__mcp_oauth_able(const phi__mcp_oauth *o) {
    return !phi__mcp_oauth_state_person(o) || o->desc->open_browser_fn != NULL;
}

/* No person slows down a program that gets one token after another. */
static bool phi__mcp_oauth_vain(const phi__mcp_oauth *o) {
    const phi__mcp_oauth_grant *g = &o->grant;
    int64_t now = phi__io_wall_ms(o->rt->io);
    return !phi__mcp_oauth_state_person(o) && g->bearer.len > 0 && g->since_ms != 0 &&
           now < g->until_ms && now - g->since_ms < PHI__MCP_OAUTH_YOUNG_MS;
}

/* A refused token: by its refresh token, or by a new authorization. */
static phi_status phi__mcp_oauth_refused(phi__mcp_oauth *o) {
    phi__mcp_oauth_grant *g = &o->grant;
    bool young = g->refreshed && phi__io_wall_ms(o->rt->io) - g->since_ms < PHI__MCP_OAUTH_YOUNG_MS;
    bool had = g->bearer.len > 0, vain = phi__mcp_oauth_vain(o);
    phi_status status;
    phi__mcp_oauth_keep_spend_bearer(g);
    o->renewing = true;
    if (had && g->refresh.len > 0 && !young) return phi__mcp_oauth_start(o, PHI__MCP_OAUTH_RENEW);
    phi__mcp_oauth_keep_spend_refresh(g);
    if (had) phi__mcp_oauth_token_save(o);
    if (phi__mcp_oauth_able(o) && !vain) return phi__mcp_oauth_start(o, PHI__MCP_OAUTH_BEGIN);
    status = vain ? phi__mcp_oauth_state_fail(o, PHI_REFUSED, "the server refuses a new token")
                  : phi__mcp_oauth_may_ask(o);
    phi__mcp_oauth_rest(o);
    return phi__error(o->rt, status, "%s", o->message);
}

/* A token with too few scopes. */
static phi_status phi__mcp_oauth_step_up(phi__mcp_oauth *o) {
    const phi__mcp_oauth_dare *dare = &o->found.dare;
    const char *why = NULL;
    if (!dare->bearer || !phi__str_is(dare->error, "insufficient_scope"))
        why = "the server refuses the request (HTTP status 403)";
    else if (dare->scope.len == 0 || phi__mcp_oauth_words_has_all(o->grant.scope, dare->scope))
        why = "the server wants more scopes, and names none that was not asked for";
    else if (!phi__mcp_oauth_able(o))
        why = "the server wants more scopes, and there is no open_browser_fn for a person";
    if (why == NULL) return phi__mcp_oauth_start(o, PHI__MCP_OAUTH_BEGIN);
    phi__mcp_oauth_rest(o);
    return phi__error(o->rt, PHI_REFUSED, "authorization: %s", why);
}

PHI__FN phi_status phi__mcp_oauth_challenge(phi__mcp_oauth *o, int http_status, phi_str headers,
                                            phi_str sent) {
    phi_str text;
    phi__mcp_oauth_token_load(o);
    if (o->step != PHI__MCP_OAUTH_IDLE) return phi__mcp_oauth_wait(o);
    if (o->grant.bearer.len > 0 && !phi_str_equal(o->grant.bearer, sent)) return PHI_OK;
    if (phi__mcp_oauth_token_reload(o)) return PHI_OK;
    phi_arena_free(&o->arena);
    if (!phi__arena_str(&o->arena, headers, &text) ||
        !phi__mcp_oauth_words_challenge(&o->arena, text, &o->found.dare)) {
        phi__mcp_oauth_rest(o);
        return phi__error(o->rt, PHI_NO_MEMORY, "authorization: no memory");
    }
    if (http_status == 401 && o->grant.dpop && o->grant.bearer.len > 0 && o->nonces[1].len > 0 &&
        phi__str_is(o->found.dare.error, "use_dpop_nonce")) {
        phi__mcp_oauth_rest(o);
        return PHI_OK; /* the link bounds how often */
    }
    return http_status == 403 ? phi__mcp_oauth_step_up(o) : phi__mcp_oauth_refused(o);
}

PHI__FN phi_status phi__mcp_oauth_proof(phi__mcp_oauth *o, const char *method, phi_str url,
                                        phi__buf *out) {
    phi_str bearer = o->grant.bearer;
    size_t at = phi__str_find(bearer, 0, " ");
    phi_status status = PHI_OK;
    if (!o->grant.dpop || at == SIZE_MAX) return PHI_OK;
    bearer = phi__str(bearer.at + at + 1, bearer.len - at - 1);
    status = phi__mcp_oauth_sign_proof(o, phi_str_of(method), url, bearer, out);
    return status == PHI_OK ? PHI_OK : phi__error(o->rt, status, "%s", o->message);
}

PHI__FN void phi__mcp_oauth_heard(phi__mcp_oauth *o, phi_str headers) {
    if (o->grant.dpop) phi__mcp_oauth_state_nonce(&o->nonces[1], headers);
}

PHI__FN phi_status phi__mcp_oauth_redirected(phi__mcp_oauth *o, phi_str url) {
    return phi__mcp_oauth_person_redirected(o, url);
}

PHI__FN phi_status phi__mcp_oauth_asserted(phi__mcp_oauth *o, phi_str token) {
    return phi__mcp_oauth_machine_asserted(o, token);
}

static phi_status phi__mcp_oauth_make(phi__mcp_oauth *o, phi_str url) {
    phi_allocator wiping;
    phi_str copy;
    phi__buf resource;
    bool fine;
    wiping.realloc_fn = phi__mcp_oauth_realloc;
    wiping.user_data = o->parent;
    phi_memory_init(&o->memory, &wiping, 0);
    phi_arena_init(&o->base, &o->memory, 256);
    phi_arena_init(&o->arena, &o->memory, 1024);
    phi_arena_init(&o->client_arena, &o->memory, 512);
    phi__mcp_oauth_keep_init(&o->grant, &o->memory);
    phi__buf_init(&o->sent.answer, &o->memory);
    phi__buf_init(&o->redirected, &o->memory);
    phi__buf_init(&o->bound, &o->memory);
    phi__buf_init(&o->nonces[0], &o->memory);
    phi__buf_init(&o->nonces[1], &o->memory);
    if (!phi__arena_str(&o->base, url, &copy)) return PHI_NO_MEMORY;
    if (!phi__mcp_oauth_url_read(copy, &o->url) ||
        (!o->url.https && o->url.reach != PHI__MCP_OAUTH_LOOPBACK))
        return PHI_BAD_ARG;
    phi__buf_init(&resource, &o->memory);
    phi__mcp_oauth_url_put_resource(&resource, &o->url);
    fine = !resource.failed && phi__arena_str(&o->base, phi__buf_str(&resource), &o->resource);
    phi__buf_free(&resource);
    o->timer.fire = phi__mcp_oauth_fire;
    return fine ? phi__io_timer_set(o->rt->io, &o->timer, UINT64_MAX) : PHI_NO_MEMORY;
}

PHI__FN phi_status phi__mcp_oauth_new(phi_runtime *rt, phi_memory *memory,
                                      const phi_mcp_oauth_desc *desc, phi_str url,
                                      const char *client_name,
                                      const phi__mcp_oauth_listener *listener,
                                      phi__mcp_oauth **out) {
    phi__mcp_oauth *o = (phi__mcp_oauth *)phi__alloc(memory, sizeof *o);
    phi_status status;
    *out = NULL;
    if (o == NULL) return phi__error(rt, PHI_NO_MEMORY, "authorization: no memory");
    o->rt = rt;
    o->parent = memory;
    o->desc = desc;
    o->client_name = desc->client_name != NULL ? desc->client_name : client_name;
    o->listener = *listener;
    status = phi__mcp_oauth_make(o, url);
    if (status == PHI_OK) {
        *out = o;
        return PHI_OK;
    }
    phi__mcp_oauth_destroy(o);
    return phi__error(rt, status,
                      status == PHI_BAD_ARG ? "authorization: url: expected https, or http on this "
                                              "machine"
                                            : "authorization: no memory");
}

PHI__FN void phi__mcp_oauth_free(phi__mcp_oauth *o) {
    if (o == NULL || o->gone) return;
    if (!o->calling) {
        phi__mcp_oauth_destroy(o);
        return;
    }
    o->gone = true;
}

PHI__FN void phi__mcp_oauth_sign_out(phi__mcp_oauth *o) {
    if (o->signing) { /* the text under the key is of the grant: it goes in the next step */
        o->signs_out = true;
        phi__mcp_oauth_state_wake(o);
        return;
    }
    phi__mcp_oauth_token_load(o);
    phi__mcp_oauth_keep_clear(&o->grant);
    phi__mcp_oauth_keep_drop(o->desc->store, o->resource);
    if (o->step == PHI__MCP_OAUTH_IDLE) return;
    o->cancelled = true;
    phi__mcp_oauth_state_wake(o);
}
