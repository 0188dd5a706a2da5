/* mcp_offers_in.h - what a server offers to hosts, besides tools: the operations under way, the
   resources that are watched, and the notifications of all of it. */
#ifndef PHI_MCP_MCP_OFFERS_IN_H
#define PHI_MCP_MCP_OFFERS_IN_H

#include "base/arena_in.h"
#include "mcp/mcp_get.h"
#include "mcp/mcp_in.h"
#include "mcp/mcp_pages_in.h"
#include "text/json_in.h"

typedef struct phi__mcp_offer phi__mcp_offer;

/* Reports an operation that has ended; `offer` is gone when it returns. */
typedef void (*phi__mcp_offer_fn)(phi__mcp_offer *offer, const phi_mcp_reply *reply);

/* An operation of the host's: one request, or a list of pages. */
struct phi__mcp_offer {
    phi__link link;
    uint64_t id;
    phi_mcp *mcp;
    phi__mcp_request *request;
    phi__mcp_pages pages;
    phi_arena arena;
    const phi_json **items; /* of a list */
    size_t count, cap;
    phi__mcp_offer_fn done;
    phi_mcp_what what;
    void (*fn)(void *user_data, const phi_mcp_got *got); /* the host's */
    void *user_data;
};

PHI__FN phi_status phi__mcp_offers_join(phi_mcp *mcp);
/* PHI_MISUSE: not ready; PHI_UNSUPPORTED: the server lacks this capability (NULL: any); each with a
   message that begins with `function`. */
PHI__FN phi_status phi__mcp_offers_check(phi_mcp *mcp, const char *function,
                                         const char *capability);
/* Begins an operation. params: copied. name: for a header. Of desc: what, done and user_data. *id
   may be NULL. */
PHI__FN phi_status phi__mcp_offers_ask(phi_mcp *mcp, const char *method, phi_str params,
                                       phi_str name, phi__mcp_offer_fn done,
                                       const phi_mcp_get_desc *desc, uint64_t *id);
PHI__FN phi_status phi__mcp_offers_list(phi_mcp *mcp, const char *method, const char *key,
                                        phi__mcp_offer_fn done, const phi_mcp_get_desc *desc,
                                        uint64_t *id);
/* Hands the host what it asked for. */
PHI__FN void phi__mcp_offers_tell(const phi__mcp_offer *offer, phi_mcp_got *got);

#endif
