/* mcp_oauth_url_in.h - addresses of an authorization: their parts, where they lead, and the forms
   in requests and redirects. Pure functions of text. */
#ifndef PHI_MCP_MCP_OAUTH_URL_IN_H
#define PHI_MCP_MCP_OAUTH_URL_IN_H

#include "base/arena_in.h"
#include "base/buf_in.h"

enum { PHI__MCP_OAUTH_URL = 2048 }; /* bytes of an address */

/* How far an address leads into the network that we are in: an address that another one names must
   not lead further. By the host's text alone, no name is looked up. */
typedef enum phi__mcp_oauth_reach {
    PHI__MCP_OAUTH_PUBLIC,
    PHI__MCP_OAUTH_PRIVATE, /* private, link-local and reserved addresses; names without a dot */
    PHI__MCP_OAUTH_LOOPBACK
} phi__mcp_oauth_reach;

/* Parts of an http or https address, borrowed from its text. */
typedef struct phi__mcp_oauth_url {
    phi_str text, origin, host;
    phi_str path;  /* with its slash; may be empty */
    phi_str query; /* without "?"; may be empty */
    uint32_t port;
    bool https;
    phi__mcp_oauth_reach reach;
} phi__mcp_oauth_url;

/* False: another scheme, user info, a fragment, a character that no address has, a host that
   ends as an IPv4 address and is none, or more than PHI__MCP_OAUTH_URL bytes. */
PHI__FN bool phi__mcp_oauth_url_read(phi_str text, phi__mcp_oauth_url *out);
/* Whether an MCP server may send us there: NULL, or its fault; static. */
PHI__FN const char *phi__mcp_oauth_url_fault(const phi__mcp_oauth_url *server, phi_str text,
                                             bool allow_private);
PHI__FN bool phi__mcp_oauth_url_same_origin(const phi__mcp_oauth_url *a,
                                            const phi__mcp_oauth_url *b);
PHI__FN bool phi__mcp_oauth_url_same_host(const phi__mcp_oauth_url *a, const phi__mcp_oauth_url *b);
/* Whether `resource` is that address or one above it (RFC 8707: the path of a server may be part of
   a larger resource). */
PHI__FN bool phi__mcp_oauth_url_covers(phi_str resource, const phi__mcp_oauth_url *server);
/* Appends it as a resource: scheme and host in lower case, without a fragment or a last slash. */
PHI__FN void phi__mcp_oauth_url_put_resource(phi__buf *out, const phi__mcp_oauth_url *url);

/* The well-known addresses in their order, in the arena; the count, 0: no memory. */
enum { PHI__MCP_OAUTH_KNOWN = 3 };
PHI__FN size_t phi__mcp_oauth_url_resources(phi_arena *arena, const phi__mcp_oauth_url *server,
                                            phi_str out[PHI__MCP_OAUTH_KNOWN]);
PHI__FN size_t phi__mcp_oauth_url_servers(phi_arena *arena, const phi__mcp_oauth_url *issuer,
                                          phi_str out[PHI__MCP_OAUTH_KNOWN]);

/* Appends "&name=value", encoded; the "&" unless it is the first of a form or a query. */
PHI__FN void phi__mcp_oauth_url_put(phi__buf *out, const char *name, phi_str value);
PHI__FN void phi__mcp_oauth_url_escape(phi__buf *out, phi_str text); /* all but A-Za-z0-9-._~ */
/* The value of a name in a query or form, decoded into the arena. PHI_NOT_FOUND; PHI_PARSE: it is
   there twice, or is broken; PHI_NO_MEMORY. */
PHI__FN phi_status phi__mcp_oauth_url_get(phi_arena *arena, phi_str query, const char *name,
                                          phi_str *out);

#endif
