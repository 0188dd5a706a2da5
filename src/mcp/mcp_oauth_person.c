/* mcp_oauth_person.c - a person's consent: the browser, the redirect, the code. */
#include "mcp/mcp_oauth_state_in.h"

#ifndef PHI_NO_LISTEN
#include "mcp/mcp_redirect_in.h"

#include <stdio.h>

static const char phi__mcp_oauth_person_path[] = "/callback";
#endif

/* ---- the redirect ---- */

PHI__FN phi_status phi__mcp_oauth_person_redirected(phi__mcp_oauth *o, phi_str url) {
    size_t from = 0, to;
    phi_arena_mark mark = phi_arena_save(&o->arena);
    phi_status status;
    phi_str state;
    bool ours;
    if (o->step != PHI__MCP_OAUTH_PERSON || o->redirected.len > 0)
        return phi__error(o->rt, PHI_MISUSE, "authorization: none waits for a redirect");
    while (from < url.len && url.at[from] != '?') from++;
    for (to = from; to < url.len && url.at[to] != '#';) to++;
    if (to - from < 2 || to - from > PHI__MCP_OAUTH_ANSWER)
        return phi__error(o->rt, PHI_BAD_ARG, "authorization: the URL of a redirect has a query");
    url = phi__str(url.at + from + 1, to - from - 1);
    status = phi__mcp_oauth_url_get(&o->arena, url, "state", &state);
    ours = status == PHI_OK && phi__str_equal_secret(state, o->ask.state);
    phi_arena_reset(&o->arena, mark); /* any page can send the browser here, again and again */
    if (status == PHI_NO_MEMORY) return phi__error(o->rt, status, "authorization: no memory");
    if (!ours)
        return phi__error(o->rt, PHI_REFUSED, "authorization: the redirect belongs to another one");
    phi__buf_add_str(&o->redirected, url);
    if (o->redirected.failed) {
        phi__buf_free(&o->redirected);
        return phi__error(o->rt, PHI_NO_MEMORY, "authorization: no memory");
    }
    phi__mcp_oauth_state_wake(o);
    return PHI_OK;
}

PHI__FN void phi__mcp_oauth_person_unlisten(phi__mcp_oauth *o) {
#ifndef PHI_NO_LISTEN
    phi__mcp_redirect_free(o->receiver);
#endif
    o->receiver = NULL;
}

#ifndef PHI_NO_LISTEN
static phi_status phi__mcp_oauth_person_got(void *ctx, phi_str query) {
    phi__mcp_oauth *o = (phi__mcp_oauth *)ctx;
    phi_status status;
    phi__buf url;
    phi__buf_init(&url, &o->memory);
    phi__buf_char(&url, '?');
    phi__buf_add_str(&url, query);
    status = url.failed ? PHI_NO_MEMORY : phi__mcp_oauth_person_redirected(o, phi__buf_str(&url));
    phi__buf_free(&url);
    return status;
}

static phi_status phi__mcp_oauth_person_listen(phi__mcp_oauth *o) {
    uint16_t port = (uint16_t)o->desc->redirect_port;
    char words[160], uri[64];
    phi_status status = PHI_REFUSED;
    words[0] = '\0';
    if (port == 0) port = phi__mcp_oauth_client_port(o);
    status = phi__mcp_redirect_new(o->rt->io, port, phi__mcp_oauth_person_path,
                                   phi__mcp_oauth_person_got, o, &o->receiver, words, sizeof words);
    if (status == PHI_REFUSED && port != 0 && o->desc->redirect_port == 0)
        status =
            phi__mcp_redirect_new(o->rt->io, 0, phi__mcp_oauth_person_path,
                                  phi__mcp_oauth_person_got, o, &o->receiver, words, sizeof words);
    if (status != PHI_OK)
        return phi__mcp_oauth_state_fail(o, status, "the redirect's port: %s", words);
    (void)snprintf(uri, sizeof uri, "http://127.0.0.1:%u%s",
                   (unsigned)phi__mcp_redirect_port(o->receiver), phi__mcp_oauth_person_path);
    return phi__arena_str(&o->arena, phi_str_of(uri), &o->ask.redirect) ? PHI_OK : PHI_NO_MEMORY;
}
#endif

static phi_status phi__mcp_oauth_person_redirect(phi__mcp_oauth *o) {
#ifndef PHI_NO_LISTEN
    if (o->desc->redirect_port >= 0)
        return o->receiver != NULL ? PHI_OK : phi__mcp_oauth_person_listen(o);
#endif
    o->ask.redirect = phi_str_of(o->desc->redirect_uri);
    return PHI_OK;
}

/* The scopes: those of the challenge or else of the resource, the host's own, those that were asked
   for before at this issuer, and what a refresh token needs. */
static phi_status phi__mcp_oauth_person_scope(phi__mcp_oauth *o) {
    const phi__mcp_oauth_found *found = &o->found;
    phi_status status = PHI_OK;
    phi__buf set;
    phi__buf_init(&set, &o->memory);
    if (phi_str_equal(o->grant.issuer, found->server.issuer))
        phi__mcp_oauth_words_join(&set, o->grant.scope);
    phi__mcp_oauth_words_join(&set, found->dare.scope);
    phi__mcp_oauth_words_join(&set, phi_str_of(o->desc->scope));
    if (found->dare.scope.len == 0 && o->desc->scope == NULL)
        phi__mcp_oauth_words_join(&set, found->resource.scopes);
    if (found->server.offline && !o->desc->no_offline_access && phi__mcp_oauth_state_person(o))
        phi__mcp_oauth_words_join(&set, PHI__LIT("offline_access"));
    if (set.failed || !phi__arena_str(&o->arena, phi__buf_str(&set), &o->ask.scope))
        status = PHI_NO_MEMORY;
    phi__buf_free(&set);
    return status;
}

/* The client is known: the browser gets the URL. */
PHI__FN phi_status phi__mcp_oauth_person_open(phi__mcp_oauth *o) {
    phi_status status = PHI_NO_MEMORY;
    phi__buf url;
    /* the random bytes of a runtime with a tape follow from its seed, which is on the tape */
    if (!phi__mcp_oauth_form_secrets(o->rt->tape == NULL ? o->rt->io : NULL, &o->arena, &o->ask))
        return PHI_NO_MEMORY;
    phi__buf_init(&url, &o->memory);
    phi__mcp_oauth_form_authorize(&url, o->found.server.authorize, &o->client, &o->ask);
    phi__buf_char(&url, '\0');
    o->step = PHI__MCP_OAUTH_PERSON;
    phi__buf_free(&o->redirected);
    if (!url.failed) {
        o->calling = true;
        status = o->desc->open_browser_fn(o->desc->user_data, url.at);
        o->calling = false;
    }
    phi__buf_free(&url);
    if (status == PHI_OK || o->gone) return PHI_BUSY; /* gone: the desc is no longer there */
    return phi__mcp_oauth_state_fail(o, status, "the browser: %s", phi_status_text(status));
}

/* The metadata are known. */
PHI__FN phi_status phi__mcp_oauth_person_go(phi__mcp_oauth *o) {
    phi_status status;
    o->ask.resource = o->found.resource.resource;
    status = phi__mcp_oauth_person_scope(o);
    if (status == PHI_OK && phi__mcp_oauth_state_person(o))
        status = phi__mcp_oauth_person_redirect(o);
    if (status == PHI_OK) status = phi__mcp_oauth_client_choose(o);
    if (status != PHI_OK) return status;
    return phi__mcp_oauth_state_person(o) ? phi__mcp_oauth_person_open(o)
                                          : phi__mcp_oauth_machine_go(o);
}

/* The server does not know the client: once, it is registered anew. */
static bool phi__mcp_oauth_person_again(phi__mcp_oauth *o, phi_str error) {
    if (o->registered || !o->client.registered) return false;
    if (!phi__str_is(error, "invalid_client") && !phi__str_is(error, "unauthorized_client"))
        return false;
    o->registered = true;
    phi__mcp_oauth_client_forget(o);
    return true;
}

/* RFC 9207: who has answered. */
static phi_status phi__mcp_oauth_person_issuer(phi__mcp_oauth *o, phi_str query) {
    phi_str iss;
    phi_status status = phi__mcp_oauth_url_get(&o->arena, query, "iss", &iss);
    if (status == PHI_NO_MEMORY) return status;
    if (status == PHI_NOT_FOUND && !o->found.server.names_itself) return PHI_OK;
    if (status == PHI_OK && phi_str_equal(iss, o->found.server.issuer)) return PHI_OK;
    return phi__mcp_oauth_state_fail(o, PHI_REFUSED,
                                     status == PHI_NOT_FOUND
                                         ? "the redirect does not name its issuer"
                                         : "the redirect comes from another issuer");
}

/* The redirect has come. */
PHI__FN phi_status phi__mcp_oauth_person_answered(phi__mcp_oauth *o) {
    phi_str query = phi__buf_str(&o->redirected), error, code, words;
    phi_status status = phi__mcp_oauth_person_issuer(o, query);
    if (status != PHI_OK) return status;
    if (phi__mcp_oauth_url_get(&o->arena, query, "error", &error) == PHI_OK) {
        if (phi__mcp_oauth_person_again(o, error)) return phi__mcp_oauth_person_go(o);
        if (phi__mcp_oauth_url_get(&o->arena, query, "error_description", &words) != PHI_OK)
            words = phi__str("", 0);
        status = phi__str_is(error, "access_denied") ? PHI_DENIED : PHI_REFUSED;
        return phi__mcp_oauth_state_fail(
            o, status, "%s%s%s", phi__mcp_oauth_state_shown(o, error, 60),
            words.len > 0 ? ": " : "", phi__mcp_oauth_state_shown(o, words, 160));
    }
    status = phi__mcp_oauth_url_get(&o->arena, query, "code", &code);
    if (status == PHI_NO_MEMORY) return status;
    if (status != PHI_OK || code.len == 0)
        return phi__mcp_oauth_state_fail(o, PHI_REFUSED, "the redirect has no code");
    o->ask.code = code;
    return phi__mcp_oauth_token_exchange(o);
}

PHI__FN phi_status phi__mcp_oauth_person_exchanged(phi__mcp_oauth *o) {
    phi__mcp_oauth_reply reply;
    phi_status status = phi__mcp_oauth_token_exchanged(o, &reply);
    if (status == PHI_REFUSED && phi__mcp_oauth_person_again(o, reply.error))
        return phi__mcp_oauth_person_go(o);
    return status;
}
