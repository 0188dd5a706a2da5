/* mcp_session.c - what parts and links see of a connection. */
#include "mcp/mcp_core_in.h"

#include "loop/state_in.h"
#include "mcp/mcp_asked_in.h"
#include "mcp/mcp_incoming_in.h"
#include "mcp/mcp_life_in.h"
#include "mcp/mcp_parts_in.h"
#include "mcp/mcp_post_in.h"
#include "mcp/mcp_requests_in.h"

/* ---- parts ---- */

PHI__FN void phi__mcp_session_join(phi_mcp *mcp, const phi__mcp_part *table, void *part) {
    phi__mcp_joined *p = &mcp->parts[mcp->part_count];
    PHI_ASSERT(mcp->part_count < PHI__MCP_PARTS);
    p->table = table;
    p->part = part;
    mcp->part_count++;
}

PHI__FN void *phi__mcp_session_part(const phi_mcp *mcp, const phi__mcp_part *table) {
    size_t i;
    for (i = 0; i < mcp->part_count; i++)
        if (mcp->parts[i].table == table) return mcp->parts[i].part;
    return NULL;
}

PHI__FN phi_runtime *phi__mcp_session_runtime(const phi_mcp *mcp) { return mcp->rt; }

PHI__FN phi_memory *phi__mcp_session_memory(phi_mcp *mcp) { return &mcp->memory; }

PHI__FN const phi_mcp_desc *phi__mcp_session_desc(const phi_mcp *mcp) { return &mcp->desc; }

PHI__FN phi__mcp_link *phi__mcp_session_link(const phi_mcp *mcp) { return mcp->link; }

PHI__FN const char *phi__mcp_session_era(const phi_mcp *mcp) {
    return mcp->agreed.era != NULL ? mcp->agreed.era->version : NULL;
}

PHI__FN bool phi__mcp_session_modern(const phi_mcp *mcp) {
    return mcp->agreed.era != NULL && !mcp->agreed.era->handshake;
}

PHI__FN const phi_json *phi__mcp_session_capabilities(const phi_mcp *mcp) {
    return mcp->agreed.capabilities;
}

PHI__FN phi_str phi__mcp_session_name(const phi_mcp *mcp) {
    if (mcp->desc.name != NULL) return phi_str_of(mcp->desc.name);
    if (mcp->agreed.name.len > 0) return mcp->agreed.name;
    return phi_str_of(mcp->desc.url != NULL ? mcp->desc.url : mcp->desc.argv[0]);
}

PHI__FN void phi__mcp_session_hold(phi_mcp *mcp) {
    if (mcp->phase == PHI__MCP_SETTLING) mcp->life.holds++;
}

PHI__FN void phi__mcp_session_settle(phi_mcp *mcp) { phi__mcp_life_settle(mcp); }

PHI__FN bool phi__mcp_session_tell(phi_mcp *mcp, phi_mcp_event_kind kind, phi_str name,
                                   phi_str before, phi_str text) {
    phi__mcp_core_enter(mcp); /* a link may tell outside of anything that holds mcp */
    (void)phi__mcp_parts_tell(mcp, kind, name, before, text);
    return phi__mcp_core_leave(mcp);
}

/* ---- requests ---- */

PHI__FN phi_status phi__mcp_session_send(phi_mcp *mcp, const phi__mcp_request_desc *desc,
                                         phi__mcp_request **out) {
    if (mcp->phase != PHI__MCP_LIVE && mcp->phase != PHI__MCP_SETTLING) return PHI_MISUSE;
    return phi__mcp_requests_new(mcp, desc, false, out);
}

PHI__FN void phi__mcp_session_cancel(phi__mcp_request *request, const char *reason) {
    if (request != NULL) phi__mcp_requests_cancel(request, reason);
}

PHI__FN phi_status phi__mcp_session_notify(phi_mcp *mcp, const char *method, phi_str params) {
    if (mcp->phase != PHI__MCP_LIVE && mcp->phase != PHI__MCP_SETTLING) return PHI_MISUSE;
    return phi__mcp_post_notification(mcp, method, params, false);
}

PHI__FN void phi__mcp_session_answer(phi_mcp *mcp, uint64_t ask, phi_str result, int code,
                                     const char *message) {
    phi__mcp_asked_answer(mcp, ask, result, code, message);
}

/* ---- links ---- */

PHI__FN void phi__mcp_session_up(phi_mcp *mcp) {
    phi__mcp_core_enter(mcp);
    phi__mcp_life_up(mcp);
    (void)phi__mcp_core_leave(mcp);
}

PHI__FN void phi__mcp_session_drained(phi_mcp *mcp) {
    bool agreed = mcp->phase == PHI__MCP_LIVE || mcp->phase == PHI__MCP_SETTLING;
    phi__mcp_core_enter(mcp);
    (void)phi__mcp_requests_flush(mcp, agreed);
    (void)phi__mcp_core_leave(mcp);
}

PHI__FN bool phi__mcp_session_message(phi_mcp *mcp, phi_str json, phi__mcp_out *from) {
    phi__mcp_core_enter(mcp);
    phi__mcp_incoming_text(mcp, json, from);
    return phi__mcp_core_leave(mcp);
}

PHI__FN bool phi__mcp_session_warn(phi_mcp *mcp, const char *message) {
    phi__mcp_core_enter(mcp);
    (void)phi__mcp_parts_warn(mcp, "%s", message);
    return phi__mcp_core_leave(mcp);
}

PHI__FN bool phi__mcp_session_cut(phi_mcp *mcp, phi_str beginning) {
    phi__mcp_core_enter(mcp);
    phi__mcp_incoming_cut(mcp, beginning);
    return phi__mcp_core_leave(mcp);
}

PHI__FN bool phi__mcp_session_lost(phi_mcp *mcp, phi__mcp_out *out, phi_status status,
                                   int http_status, phi_str body, const char *message) {
    phi__mcp_request *r = phi__mcp_requests_of(out);
    if (r == NULL) return true;
    phi__mcp_core_enter(mcp);
    phi__mcp_incoming_lost(mcp, r, status, http_status, body, message);
    return phi__mcp_core_leave(mcp);
}

PHI__FN bool phi__mcp_session_down(phi_mcp *mcp, phi_status status, bool fatal,
                                   const char *message) {
    phi__mcp_core_enter(mcp);
    phi__mcp_life_down(mcp, status, fatal, message);
    return phi__mcp_core_leave(mcp);
}

PHI__FN bool phi__mcp_session_expired(phi_mcp *mcp, phi__mcp_out *out) {
    phi__mcp_core_enter(mcp);
    phi__mcp_life_expired(mcp, phi__mcp_requests_of(out));
    return phi__mcp_core_leave(mcp);
}

PHI__FN void phi__mcp_session_wait(phi_mcp *mcp, bool waits) { phi__mcp_life_wait(mcp, waits); }
