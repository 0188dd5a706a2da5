/* mcp_oauth_in.h - the authorization of one MCP server, for the link over HTTP.

       status = phi__oauth_header(oauth, &value);
       // PHI_OK: send it as Authorization. PHI_NOT_FOUND: send without. PHI_BUSY: wait for changed.
       // the answer is 401 or 403:
       status = phi__oauth_challenge(oauth, http_status, headers, value_that_was_sent);
       // PHI_OK: send again, there is another token. PHI_BUSY: wait for changed, send again then.
       // else: refused, phi_last_error has the message.

   mcp_oauth.c has the states; the rest is data: mcp_oauth_words.c (addresses, headers and documents
   of servers), mcp_oauth_client.c (requests to them, the store, texts that the host's keys sign).
   Ownership: memory of the budget given, wiped before it is freed where it held a secret. The desc
   is borrowed. Threads: the pumping thread. */
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
/* Listens on 127.0.0.1; port 0: any. path is borrowed until free. `got` gets the query of each GET
   of that path, without its '?', borrowed until it returns: PHI_OK: the browser shows that the
   page can be closed; anything else: that the redirect belongs to no authorization that waits.
   Fails as phi__serve_new does. */
PHI__FN phi_status phi__redirect_new(phi__io *io, uint16_t port, const char *path,
                                     phi_status (*got)(void *ctx, phi_str query), void *ctx,
                                     phi__redirect **out, char *message, size_t message_size);
PHI__FN uint16_t phi__redirect_port(const phi__redirect *redirect);

/* Not inside of `got`. A page that was not sent yet is lost. NULL is harmless. */
PHI__FN void phi__redirect_free(phi__redirect *redirect);
#endif

/* Copies a desc with its defaults into an arena. False: no memory. */
PHI__FN bool phi__oauth_copy(phi_arena *arena, const phi_mcp_oauth_desc *from,
                             const phi_mcp_oauth_desc **out);

/* The first fault of it; NULL: none. Static. */
PHI__FN const char *phi__oauth_refuse(const phi_mcp_oauth_desc *desc);

/* Calls `changed` in phi_step, never inside of the functions below, whenever header or challenge
   had answered PHI_BUSY, once for all of them. PHI_OK: ask phi__oauth_header again; a
   message that is not empty is a warning. Else it is hopeless, and the message (valid during the
   call) says why; a later challenge tries again. It may free the object. */
typedef struct phi__oauth_listener {
    void (*changed)(void *ctx, phi_status status, const char *message);
    void *ctx;
} phi__oauth_listener;

/* memory: outlives a callback that calls free. url: the MCP server's. desc: borrowed until free.
   client_name: borrowed; for a desc without one. PHI_BAD_ARG: the url; PHI_NO_MEMORY. Nothing is
   sent. */
PHI__FN phi_status phi__oauth_new(phi_runtime *rt, phi_memory *memory,
                                  const phi_mcp_oauth_desc *desc, phi_str url,
                                  const char *client_name, const phi__oauth_listener *listener,
                                  phi__oauth **out);

/* Ends the authorization under way; `changed` is not called. Allowed inside changed and
   open_browser_fn. NULL is harmless. */
PHI__FN void phi__oauth_free(phi__oauth *oauth);

/* PHI_OK: *value is "Bearer ..." or "DPoP ...", valid until the next call of this file or
   phi_step. */
PHI__FN phi_status phi__oauth_header(phi__oauth *oauth, phi_str *value);

/* For a value "DPoP ...": appends the header DPoP of a request with it, which the host's key signs.
   Not PHI_OK: phi_last_error has the message. */
PHI__FN phi_status phi__oauth_proof(phi__oauth *oauth, const char *method, phi_str url,
                                    phi__buf *out);

/* Takes what any answer says about the next proof. */
PHI__FN void phi__oauth_heard(phi__oauth *oauth, phi_str headers);

/* headers: of the answer, "Name: value\r\n" each. sent: the value that its request had carried;
   empty: none. A 403 without a challenge for more scopes is PHI_REFUSED. */
PHI__FN phi_status phi__oauth_challenge(phi__oauth *oauth, int http_status, phi_str headers,
                                        phi_str sent);

/* As phi_mcp_authorize: a URL, a token, NULL. */
PHI__FN phi_status phi__oauth_redirected(phi__oauth *oauth, phi_str url);
PHI__FN phi_status phi__oauth_asserted(phi__oauth *oauth, phi_str token);
PHI__FN void phi__sign_out(phi__oauth *oauth);

#endif
