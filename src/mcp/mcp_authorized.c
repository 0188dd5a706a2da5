/* mcp_authorized.c - what a host says about an authorization: the redirect it got, and the end. */
#include "mcp/mcp_http_in.h"
#include "mcp/mcp_in.h"
#include "mcp/mcp_oauth_in.h"

#include "loop/error_in.h"

/* NULL: the connection has none. */
static phi__mcp_oauth *phi__mcp_authorized_of(phi_mcp *mcp) {
    phi__mcp_link *link;
    if (phi__mcp_session_desc(mcp)->url == NULL) return NULL;
    link = phi__mcp_session_link(mcp);
    return link != NULL ? phi__mcp_http_oauth(link) : NULL;
}

static phi_status phi__mcp_authorized_none(phi_mcp *mcp, const char *function) {
    return phi__error(phi__mcp_session_runtime(mcp), PHI_MISUSE, "%s: the connection has no oauth",
                      function);
}

PHI_API phi_status phi_mcp_authorize(phi_mcp *mcp, const char *given) {
    phi__mcp_oauth *oauth;
    if (mcp == NULL) return PHI_BAD_ARG;
    oauth = phi__mcp_authorized_of(mcp);
    if (oauth == NULL) return phi__mcp_authorized_none(mcp, "phi_mcp_authorize");
    if (given == NULL) {
        phi__mcp_oauth_sign_out(oauth);
        return PHI_OK;
    }
    if (phi__mcp_session_desc(mcp)->oauth->grant == PHI_MCP_GRANT_ASSERTION)
        return phi__mcp_oauth_asserted(oauth, phi_str_of(given));
    return phi__mcp_oauth_redirected(oauth, phi_str_of(given));
}
