/* mcp_oauth_machine.c - authorizations without a person: the program's own credentials, or a signed
   token of the host's. */
#include "mcp/mcp_oauth_state_in.h"

static phi_status phi__mcp_oauth_machine_want(phi__mcp_oauth *o) {
    phi_mcp_assertion wanted;
    phi_status status;
    if (!phi__arena_str(&o->arena, o->found.server.issuer, &wanted.issuer) ||
        !phi__arena_str(&o->arena, o->ask.resource, &wanted.resource) ||
        !phi__arena_str(&o->arena, o->ask.scope, &wanted.scope))
        return PHI_NO_MEMORY;
    o->step = PHI__MCP_OAUTH_ASSERT;
    phi__buf_free(&o->redirected);
    o->calling = true;
    status = o->desc->want_assertion_fn(o->desc->user_data, &wanted);
    o->calling = false;
    if (status == PHI_OK || o->gone) return PHI_BUSY; /* gone: the desc is no longer there */
    return phi__mcp_oauth_state_fail(o, status, "the assertion: %s", phi_status_text(status));
}

PHI__FN phi_status phi__mcp_oauth_machine_go(phi__mcp_oauth *o) {
    if (o->desc->grant == PHI_MCP_GRANT_ASSERTION) return phi__mcp_oauth_machine_want(o);
    return phi__mcp_oauth_token_exchange(o);
}

PHI__FN phi_status phi__mcp_oauth_machine_asserted(phi__mcp_oauth *o, phi_str token) {
    if (o->step != PHI__MCP_OAUTH_ASSERT || o->redirected.len > 0)
        return phi__error(o->rt, PHI_MISUSE, "authorization: none waits for an assertion");
    if (!phi__mcp_oauth_words_printable(token) || token.len > PHI__MCP_OAUTH_ANSWER)
        return phi__error(o->rt, PHI_BAD_ARG,
                          "authorization: an assertion has 1 to %d printable characters",
                          PHI__MCP_OAUTH_ANSWER);
    phi__buf_add_str(&o->redirected, token);
    if (o->redirected.failed) {
        phi__buf_free(&o->redirected);
        return phi__error(o->rt, PHI_NO_MEMORY, "authorization: no memory");
    }
    phi__mcp_oauth_state_wake(o);
    return PHI_OK;
}
