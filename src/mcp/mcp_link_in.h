/* mcp_link_in.h - how messages reach a server: one interface, with a link for child processes
   (mcp_stdio.c) and one for HTTP (mcp_http.c).

   The session (mcp_session.c) calls the link by its table; the link calls phi__mcp_up and
   its like. No function of the table calls the session before it returns: a result known at once
   is reported in the next phi_step (a timer at now).
   A link keeps its own state behind `link`. Lifetime: from the table's `free` on it is gone. */
#ifndef PHI_MCP_MCP_LINK_IN_H
#define PHI_MCP_MCP_LINK_IN_H

#include "mcp/mcp_in.h"
#include "base/base_in.h"
#include "mcp/mcp.h"

/* ---- the session's side ---- */
PHI__FN void phi__mcp_up(phi_mcp *mcp);
PHI__FN void phi__mcp_drained(phi_mcp *mcp);

/* A message of the server's: a JSON text, borrowed until it returns. from: the request on whose
   answer it came, or NULL. The session may free itself with the link inside of it: false; then the
   link touches nothing of its own. */
PHI__FN bool phi__mcp_message(phi_mcp *mcp, phi_str json, phi__out *from);

/* PHI_MCP_EV_WARNING, one a second at most. False as above. */
PHI__FN bool phi__mcp_warn(phi_mcp *mcp, const char *message);

/* A message that is longer than max_message_bytes and left out: its beginning, in which the id of
   the request is looked for that it answers. False as above. */
PHI__FN bool phi__mcp_cut(phi_mcp *mcp, phi_str beginning);

/* This request gets no answer over the link: HTTP refused it, or its stream ended without one.
   body: of an HTTP answer, may be empty. As _message: false when the session is gone. */
PHI__FN bool phi__mcp_lost(phi_mcp *mcp, phi__out *out, phi_status status, int http_status,
                           phi_str body, const char *message);

/* PHI_OK: after close. Else the connection is lost, and every request under way with it: the
   session may open it again. fatal: it will not work when it is opened again. False as above. */
PHI__FN bool phi__mcp_down(phi_mcp *mcp, phi_status status, bool fatal, const char *message);

/* The server has forgotten the session (HTTP 404): all is to be agreed upon again (`agreed` with
   NULL, then initialize). out: the request that was refused for it, to be sent again afterwards, or
   NULL; the link forgets it. Other requests that were sent are lost. False as above. */
PHI__FN bool phi__mcp_expired(phi_mcp *mcp, phi__out *out);

/* A person is waited for (an authorization): deadlines stand still until it is false again. */
PHI__FN void phi__mcp_wait(phi_mcp *mcp, bool waits);

/* ---- the makers ---- */
#ifndef PHI_NO_PROCESS
PHI__FN phi_status phi__stdio_new(phi_mcp *mcp, phi__mcp_link **out);
#endif
PHI__FN phi_status phi__mcp_http_new(phi_mcp *mcp, phi__mcp_link **out);

#endif
