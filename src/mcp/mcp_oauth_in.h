/* mcp_oauth_in.h - the authorization of one MCP server, for the link over HTTP.

       status = phi__oauth_header(oauth, &value);
       // PHI_OK: send it as Authorization. PHI_NOT_FOUND: send without. PHI_BUSY: wait for changed.
       // the answer is 401 or 403:
       status = phi__oauth_challenge(oauth, http_status, headers, value_that_was_sent);
       // PHI_OK: send again, with another token. PHI_BUSY: wait for changed, then send again.
       // Otherwise the server refuses, and phi_last_error has the message.

   mcp_oauth.c has the steps, mcp_oauth_words.c reads URLs, headers and documents of servers, and
   mcp_oauth_client.c has requests, the store and signed texts. Ownership: all memory is allocated
   from the given budget; secrets are wiped before they are freed. The desc is borrowed.
   Threads: the pumping thread. */
#ifndef PHI_MCP_MCP_OAUTH_IN_H
#define PHI_MCP_MCP_OAUTH_IN_H

#include "mcp/mcp_in.h"
#include "base/base_in.h"
#include "io/io_in.h"
#include "mcp/mcp_oauth.h"

#ifndef PHI_NO_LISTEN
typedef struct phi__redirect phi__redirect;
#endif

typedef struct phi__oauth phi__oauth;
#ifndef PHI_NO_LISTEN
/* Listens on 127.0.0.1; port 0 means any port. path is borrowed until phi__redirect_free. `got` is
   called with the query of each GET of the path, without '?', borrowed during the call. If `got`
   returns PHI_OK, the browser shows that the page can be closed. Otherwise it shows that no
   authorization waits for the redirect. Fails as phi__serve_new does. */
PHI__FN phi_status phi__redirect_new(phi__io *io, uint16_t port, const char *path,
                                     phi_status (*got)(void *ctx, phi_str query), void *ctx,
                                     phi__redirect **out, char *message, size_t message_size);
PHI__FN uint16_t phi__redirect_port(const phi__redirect *redirect);

/* Must not be called inside `got`. A page that was not sent yet is lost. NULL is harmless. */
PHI__FN void phi__redirect_free(phi__redirect *redirect);
#endif

/* Copies a desc into an arena and fills in defaults. False: no memory. */
PHI__FN bool phi__oauth_copy(phi_arena *arena, const phi_mcp_oauth_desc *from,
                             const phi_mcp_oauth_desc **out);

/* Returns the desc's first fault, a static text. NULL: none. */
PHI__FN const char *phi__oauth_refuse(const phi_mcp_oauth_desc *desc);

/* `changed` is called once after phi__oauth_header or phi__oauth_challenge has returned PHI_BUSY.
   The call comes in phi_step, never inside the functions below. If the status is PHI_OK, call
   phi__oauth_header again; a message that is not empty is then a warning. Any other status means
   that the authorization has failed, and the message tells why; a later challenge tries again. The
   message is valid during the call. `changed` may free the object. */
typedef struct phi__oauth_listener {
    void (*changed)(void *ctx, phi_status status, const char *message);
    void *ctx;
} phi__oauth_listener;

/* Makes the object; sends nothing. `memory` must stay valid until a callback that frees the object
   has returned. url: the MCP server. desc and client_name are borrowed until phi__oauth_free;
   client_name is used if the desc has none. PHI_BAD_ARG: the url is unusable. */
PHI__FN phi_status phi__oauth_new(phi_runtime *rt, phi_memory *memory,
                                  const phi_mcp_oauth_desc *desc, phi_str url,
                                  const char *client_name, const phi__oauth_listener *listener,
                                  phi__oauth **out);

/* Frees the object and ends its authorization without `changed`. May be called inside `changed` and
   open_browser_fn. NULL is harmless. */
PHI__FN void phi__oauth_free(phi__oauth *oauth);

/* Gets the value of Authorization, "Bearer ..." or "DPoP ...", valid until the next call of this
   file or phi_step. */
PHI__FN phi_status phi__oauth_header(phi__oauth *oauth, phi_str *value);

/* Appends the value of the header DPoP, signed by the host's key, if the token is bound to that
   key. After a failure, phi_last_error has the message. */
PHI__FN phi_status phi__oauth_proof(phi__oauth *oauth, const char *method, phi_str url,
                                    phi__buf *out);

/* Takes the nonce for the next proof from the headers of any answer. */
PHI__FN void phi__oauth_heard(phi__oauth *oauth, phi_str headers);

/* Handles an answer with status 401 or 403. headers: "Name: value\r\n" each. sent: the request's
   value of Authorization; may be empty. PHI_REFUSED: no new token would help, for example because a
   403 asks for no more scopes. */
PHI__FN phi_status phi__oauth_challenge(phi__oauth *oauth, int http_status, phi_str headers,
                                        phi_str sent);

/* These do what phi_mcp_authorize does with a URL, a token and NULL. */
PHI__FN phi_status phi__oauth_redirected(phi__oauth *oauth, phi_str url);
PHI__FN phi_status phi__oauth_asserted(phi__oauth *oauth, phi_str token);
PHI__FN void phi__sign_out(phi__oauth *oauth);

#endif
