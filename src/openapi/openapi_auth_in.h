/* openapi_auth_in.h - what of the host's credentials a request carries.

   The first alternative of the operation's security whose schemes can all be met is used. Where the
   document asks for nothing, a bearer token, else user and password, are sent if they are given. A
   host without any credential here (one whose headers hold them) sends none. */
#ifndef PHI_OPENAPI_OPENAPI_AUTH_IN_H
#define PHI_OPENAPI_OPENAPI_AUTH_IN_H

#include "base/base_in.h"
#include "io/io_in.h"
#include "openapi/api_in.h"
#include "openapi/openapi_request_in.h"

typedef struct phi__openapi_token phi__openapi_token;

/* Waits for a token; lives in its owner, zeroed at first. */
typedef struct phi__openapi_wait {
    phi__link link;
    phi__openapi_token *token; /* NULL: it does not wait */
    /* PHI_OK: ask for the token again. Else the message says why there is none. It waits no
       longer. Called in phi_step; it may leave other waits and free agents. */
    void (*done)(struct phi__openapi_wait *wait, phi_status status, const char *message);
} phi__openapi_wait;

PHI__FN void phi__token_leave(phi__openapi_wait *wait); /* it does not wait: harmless */
PHI__FN void phi__token_free_all(phi_openapi *api);

typedef struct phi__openapi_auth {
    phi__openapi_request *r;            /* borrowed */
    const phi__operation_scheme *oauth; /* that wants a token of client credentials; NULL: none */
    phi_str token;                      /* that was used last; in the arena */
    phi__secrets secrets;               /* all that the request carries */
    phi__openapi_wait wait;
    bool refreshed;
} phi__openapi_auth;

/* Chooses, and puts what needs no token into the request. PHI_BAD_ARG: refused, with the request's
   message; PHI_NO_MEMORY. */
PHI__FN phi_status phi__opauth_begin(phi__openapi_auth *a, phi__openapi_request *r);

/* Puts the token into the request, if one is needed. PHI_BUSY: wait.done will be called. */
PHI__FN phi_status phi__opauth_token(phi__openapi_auth *a);

/* The server has answered 401. True: with a new token it is worth another try; once. */
PHI__FN bool phi__opauth_again(phi__openapi_auth *a, int http_status);

#endif
