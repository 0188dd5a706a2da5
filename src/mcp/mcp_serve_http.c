/* mcp_serve_http.c - our server over HTTP. */
#include "mcp/mcp_serve_state_in.h"

#if !defined(PHI_NO_MCP) && !defined(PHI_NO_LISTEN)

PHI__FN phi_status phi__mcp_serve_http_new(phi_mcp_server *server, phi__mcp_serve_http **out) {
    *out = NULL;
    return phi__error(server->rt, PHI_UNSUPPORTED, "phi_mcp_serve: http");
}

PHI__FN uint16_t phi__mcp_serve_http_port(const phi__mcp_serve_http *http) {
    (void)http;
    return 0;
}

PHI__FN void phi__mcp_serve_http_free(phi__mcp_serve_http *http) { (void)http; }

#endif
