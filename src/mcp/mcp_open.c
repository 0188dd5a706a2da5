/* mcp_open.c - the object of a connection: made from settings, a link and parts. */
#include "mcp/mcp_open_in.h"

#include "loop/state_in.h"
#include "mcp/mcp_asked_in.h"
#include "mcp/mcp_core_in.h"
#include "mcp/mcp_incoming_in.h"
#include "mcp/mcp_life_in.h"
#include "mcp/mcp_requests_in.h"
#include "mcp/mcp_settings_in.h"
#include "mcp/mcp_tasks_in.h"

static phi_status phi__mcp_open_fill(phi_mcp *mcp, const phi_mcp_desc *desc,
                                     phi__mcp_open_link link, const phi__mcp_open_join *joins,
                                     size_t count) {
    phi_status status = PHI_OK;
    size_t i;
    if (!phi__mcp_settings_copy(&mcp->arena, desc, &mcp->desc)) return PHI_NO_MEMORY;
    for (i = 0; i < count && status == PHI_OK; i++) status = joins[i](mcp);
    if (status == PHI_OK) status = link(mcp, &mcp->link);
    return status == PHI_OK ? phi__mcp_life_open(mcp) : status;
}

PHI__FN phi_status phi__mcp_open_new(phi_runtime *rt, const phi_mcp_desc *desc,
                                     phi__mcp_open_link link, const phi__mcp_open_join *joins,
                                     size_t count, phi_mcp **out) {
    const char *fault = phi__mcp_settings_refuse(desc);
    phi_status status;
    phi_mcp *mcp;
    *out = NULL;
    if (fault == NULL && desc->agent.rt != NULL && desc->agent.rt != rt)
        fault = "agent: it belongs to another runtime";
    if (fault != NULL) return phi__error(rt, PHI_BAD_ARG, "phi_mcp_connect: %s", fault);
    mcp = (phi_mcp *)phi__alloc(&rt->memory, sizeof *mcp);
    if (mcp == NULL) return phi__error(rt, PHI_NO_MEMORY, "phi_mcp_connect: no memory");
    mcp->rt = rt;
    mcp->memory.parent = NULL;
    phi_memory_init(&mcp->memory, &rt->memory.allocator, 0);
    mcp->memory.parent = &rt->memory;
    phi_arena_init(&mcp->arena, &mcp->memory, 512);
    phi_arena_init(&mcp->agreed.arena, &mcp->memory, 512);
    phi__mcp_requests_init(mcp);
    phi__mcp_asked_init(mcp);
    phi__mcp_tasks_init(mcp);
    phi__mcp_incoming_init(mcp);
    status = phi__mcp_open_fill(mcp, desc, link, joins, count);
    if (status == PHI_OK) {
        *out = mcp;
        return PHI_OK;
    }
    mcp->depth = 1; /* the struct is freed by the leave */
    phi__mcp_life_end(mcp);
    (void)phi__mcp_core_leave(mcp);
    return phi__error(rt, status, "phi_mcp_connect: %s", phi_status_text(status));
}
