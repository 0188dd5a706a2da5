/* mcp_listen.c - subscriptions/listen: opened again when it ends. */
#include "mcp/mcp_listen_in.h"

#include "loop/state_in.h"
#include "mcp/mcp_requests_in.h"
#include "text/json_in.h"

enum {
    PHI__MCP_LISTEN_DELAY_MS = 1000,
    PHI__MCP_LISTEN_DELAY_MOST_MS = 30000,
    PHI__MCP_LISTEN_STEADY_US = 60000000 /* a stream that lasted so long was no failure */
};

static void phi__mcp_listen_open(phi_mcp *mcp);

static void phi__mcp_listen_again(phi__timer *timer) {
    phi_mcp *mcp = PHI__OWNER(timer, phi_mcp, listening.timer);
    if (mcp->phase == PHI__MCP_LIVE && mcp->listening.request == NULL) phi__mcp_listen_open(mcp);
}

static void phi__mcp_listen_later(phi_mcp *mcp) {
    uint32_t tries = mcp->listening.tries++;
    uint64_t ms = PHI__MCP_LISTEN_DELAY_MOST_MS;
    if (tries < 5) ms = (uint64_t)PHI__MCP_LISTEN_DELAY_MS << tries;
    mcp->listening.timer.fire = phi__mcp_listen_again;
    (void)phi__io_timer_set(mcp->rt->io, &mcp->listening.timer,
                            phi__io_now_us(mcp->rt->io) + ms * 1000);
}

static void phi__mcp_listen_done(void *ctx, const phi_mcp_reply *reply) {
    phi_mcp *mcp = (phi_mcp *)ctx;
    uint64_t now_us = phi__io_now_us(mcp->rt->io);
    mcp->listening.request = NULL;
    if (mcp->dead || mcp->phase != PHI__MCP_LIVE) return;
    /* the server does not have it; or a person has not allowed it, who is not to be asked again */
    if (reply->status == PHI_REFUSED || reply->status == PHI_DENIED) return;
    if (now_us - mcp->listening.opened_us >= PHI__MCP_LISTEN_STEADY_US) mcp->listening.tries = 0;
    phi__mcp_listen_later(mcp);
}

/* A list whose changes the server reports, as a member of the filter. */
static void phi__mcp_listen_want(const phi_mcp *mcp, phi__buf *buf, const char *capability,
                                 const char *member) {
    const phi_json *node = phi_json_get(mcp->agreed.capabilities, capability);
    if (!phi_json_bool(phi_json_get(node, "listChanged"), false)) return;
    phi__json_write_key(buf, phi_str_of(member));
    phi__buf_text(buf, "true");
}

static void phi__mcp_listen_open(phi_mcp *mcp) {
    phi__mcp_request_desc desc;
    phi__buf params;
    size_t empty;
    phi_status status = PHI_NO_MEMORY;
    phi__buf_init(&params, &mcp->memory);
    phi__buf_text(&params, "{\"notifications\":{");
    empty = params.len;
    phi__mcp_listen_want(mcp, &params, "tools", "toolsListChanged");
    phi__mcp_listen_want(mcp, &params, "prompts", "promptsListChanged");
    phi__mcp_listen_want(mcp, &params, "resources", "resourcesListChanged");
    if (!params.failed && params.len == empty) {
        phi__buf_free(&params);
        return;
    }
    phi__buf_text(&params, "}}");
    memset(&desc, 0, sizeof desc);
    desc.method = "subscriptions/listen";
    desc.params = phi__buf_str(&params);
    desc.stream = true;
    desc.done = phi__mcp_listen_done;
    desc.ctx = mcp;
    mcp->listening.opened_us = phi__io_now_us(mcp->rt->io);
    if (!params.failed) status = phi__mcp_requests_new(mcp, &desc, false, &mcp->listening.request);
    phi__buf_free(&params);
    if (status != PHI_OK) phi__mcp_listen_later(mcp);
}

PHI__FN void phi__mcp_listen_begin(phi_mcp *mcp) {
    mcp->listening.tries = 0;
    if (mcp->agreed.era->listen) phi__mcp_listen_open(mcp);
}

PHI__FN void phi__mcp_listen_end(phi_mcp *mcp) {
    phi__io_timer_clear(mcp->rt->io, &mcp->listening.timer);
}
