/* openapi_token_in.h - access tokens of OAuth2 client credentials (RFC 6749, 4.4).

   A token is of the document's object, by its token URL and scopes: all agents share it, and calls
   that need it at once share one request. It is kept until shortly before it expires, or until a
   server has refused it. */
#ifndef PHI_OPENAPI_OPENAPI_TOKEN_IN_H
#define PHI_OPENAPI_OPENAPI_TOKEN_IN_H

#include "base/list_in.h"
#include "openapi/api_in.h"

typedef struct phi__openapi_token phi__openapi_token;

/* Waits for a token; lives in its owner, zeroed at first. */
typedef struct phi__openapi_wait {
    phi__link link;
    phi__openapi_token *token; /* NULL: it does not wait */
    /* PHI_OK: ask for the token again. Else the message says why there is none. It waits no
       longer. Called in phi_step; it may leave other waits and free agents. */
    void (*done)(struct phi__openapi_wait *wait, phi_status status, const char *message);
} phi__openapi_wait;

/* PHI_OK: *out is the token's text, borrowed until the next step. PHI_BUSY: it was requested, and
   `wait` is called. All else: it cannot be requested, and phi_last_error has the message. */
PHI__FN phi_status phi__openapi_token_get(phi_openapi *api, phi_str url, const phi_str *scopes,
                                          size_t scope_count, phi__openapi_wait *wait,
                                          phi_str *out);
PHI__FN void phi__openapi_token_leave(phi__openapi_wait *wait); /* it does not wait: harmless */
/* A server refused it: it is requested anew, unless that was done meanwhile. */
PHI__FN void phi__openapi_token_refused(phi_openapi *api, phi_str text);
PHI__FN void phi__openapi_token_free_all(phi_openapi *api);

#endif
