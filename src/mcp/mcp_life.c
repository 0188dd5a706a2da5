/* mcp_life.c - the state machine of a connection. */
#include "mcp/mcp_life_in.h"

#include "base/words_in.h"
#include "loop/state_in.h"
#include "mcp/mcp_asked_in.h"
#include "mcp/mcp_handshake_in.h"
#include "mcp/mcp_listen_in.h"
#include "mcp/mcp_parts_in.h"
#include "mcp/mcp_post_in.h"
#include "mcp/mcp_requests_in.h"

#include <stdio.h>

enum {
    PHI__MCP_LIFE_DELAY_MOST_MS = 30000,
    PHI__MCP_LIFE_STEADY_US = 60000000, /* a start that lasted so long does not count */
    PHI__MCP_LIFE_EXPIRY_US = 10000000  /* sessions that are forgotten sooner are no use */
};

static void phi__mcp_life_fire(phi__timer *timer);

PHI__FN phi_mcp_state phi__mcp_life_state(const phi_mcp *mcp) {
    switch (mcp->phase) {
    case PHI__MCP_SHUT: return PHI_MCP_CLOSED;
    case PHI__MCP_LIVE: return PHI_MCP_READY;
    case PHI__MCP_ENDING: return PHI_MCP_CLOSING;
    case PHI__MCP_BROKEN: return PHI_MCP_FAILED;
    default: return PHI_MCP_CONNECTING;
    }
}

/* Reports the state where it has changed; a repeated start, too. False: freed. */
static bool phi__mcp_life_tell(phi_mcp *mcp, const char *why) {
    phi_mcp_state state = phi__mcp_life_state(mcp);
    if (state == mcp->life.told) return true;
    mcp->life.told = state;
    return phi__mcp_parts_tell(mcp, PHI_MCP_EV_STATE, phi__str("", 0), phi__str("", 0),
                               phi_str_of(why));
}

static void phi__mcp_life_at(phi_mcp *mcp, uint64_t at_us) {
    mcp->life.timer.fire = phi__mcp_life_fire;
    (void)phi__io_timer_set(mcp->rt->io, &mcp->life.timer, at_us); /* its place is kept */
}

static void phi__mcp_life_in(phi_mcp *mcp, uint32_t ms) {
    phi__mcp_life_at(mcp, phi__mcp_core_after_ms(phi__io_now_us(mcp->rt->io), ms));
}

static void phi__mcp_life_limit(phi_mcp *mcp) {
    uint64_t after_us = phi__mcp_core_after_ms(0, mcp->desc.connect_timeout_ms);
    mcp->life.timer.fire = phi__mcp_life_fire;
    (void)phi__io_deadline_set(mcp->rt->io, &mcp->life.timer, after_us);
}

/* A server's bytes may stand in a message. */
static void phi__mcp_life_words(char *words, size_t size, const char *message) {
    (void)snprintf(words, size, "%s", message);
    words[phi__words_clean_line(words, strlen(words))] = '\0';
}

static void phi__mcp_life_error(phi_mcp *mcp, const char *message) {
    if (message != mcp->life.error)
        (void)snprintf(mcp->life.error, sizeof mcp->life.error, "%s", message);
}

/* ---- ends ---- */

/* Nothing is agreed upon any more: requests, questions and parts learn it. False: freed. */
static bool phi__mcp_life_cut(phi_mcp *mcp, phi_status status, const char *message) {
    mcp->life.holds = 0;
    mcp->life.waits = false;
    phi__mcp_listen_end(mcp);
    if (!phi__mcp_requests_fail_all(mcp, status, message, false)) return false;
    phi__mcp_asked_drop(mcp);
    phi__mcp_post_clear(mcp);
    if (mcp->dead || !phi__mcp_parts_down(mcp)) return false;
    phi__mcp_handshake_forget(mcp);
    return true;
}

/* For good. The link, where it is open still, is closed behind the scenes. */
static void phi__mcp_life_break(phi_mcp *mcp, phi_status status, const char *message) {
    char words[sizeof mcp->life.error];
    phi__mcp_life_words(words, sizeof words, message);
    phi__mcp_life_error(mcp, words);
    mcp->phase = PHI__MCP_BROKEN;
    phi__mcp_life_at(mcp, UINT64_MAX);
    if (!phi__mcp_life_cut(mcp, status, words) || mcp->phase != PHI__MCP_BROKEN) return;
    if (mcp->life.link_open) mcp->link->table->close(mcp->link);
    (void)phi__mcp_life_tell(mcp, words);
}

static void phi__mcp_life_shut(phi_mcp *mcp) {
    mcp->phase = PHI__MCP_SHUT;
    phi__mcp_life_at(mcp, UINT64_MAX);
    (void)phi__mcp_life_tell(mcp, "closed");
}

/* ---- beginnings ---- */

static void phi__mcp_life_start(phi_mcp *mcp) {
    phi_status status;
    mcp->phase = PHI__MCP_OPENING;
    mcp->life.reopen = false;
    mcp->life.opened_us = phi__io_now_us(mcp->rt->io);
    phi__mcp_life_limit(mcp);
    mcp->life.link_open = true;
    status = mcp->link->table->open(mcp->link);
    if (status == PHI_OK) return;
    mcp->life.link_open = false;
    phi__mcp_life_break(mcp, status, phi_status_text(status));
}

PHI__FN phi_status phi__mcp_life_open(phi_mcp *mcp) {
    phi_status status;
    mcp->life.timer.fire = phi__mcp_life_fire;
    status = phi__io_timer_set(mcp->rt->io, &mcp->life.timer, phi__io_now_us(mcp->rt->io));
    if (status != PHI_OK) return status;
    mcp->phase = PHI__MCP_OPENING;
    mcp->life.told = PHI_MCP_CONNECTING;
    mcp->life.reopen = true;
    mcp->life.close = false;
    mcp->life.in_row = 0;
    mcp->life.error[0] = '\0';
    return PHI_OK;
}

static void phi__mcp_life_live(phi_mcp *mcp) {
    mcp->phase = PHI__MCP_LIVE;
    phi__mcp_life_at(mcp, UINT64_MAX);
    phi__mcp_listen_begin(mcp);
    (void)phi__mcp_life_tell(mcp, mcp->agreed.era->version);
}

static void phi__mcp_life_agreed(phi_mcp *mcp, phi_status status, const char *message) {
    if (status != PHI_OK) {
        phi__mcp_life_break(mcp, status, message);
        return;
    }
    mcp->phase = PHI__MCP_SETTLING;
    mcp->life.holds = 1; /* ours: parts may settle at once */
    if (!phi__mcp_requests_flush(mcp, true) || !phi__mcp_parts_ready(mcp)) return;
    phi__mcp_life_settle(mcp);
}

PHI__FN void phi__mcp_life_settle(phi_mcp *mcp) {
    if (mcp->phase != PHI__MCP_SETTLING || mcp->life.holds == 0) return;
    if (--mcp->life.holds == 0) phi__mcp_life_live(mcp);
}

PHI__FN void phi__mcp_life_up(phi_mcp *mcp) {
    if (mcp->phase == PHI__MCP_OPENING) phi__mcp_handshake_begin(mcp, phi__mcp_life_agreed);
}

PHI__FN void phi__mcp_life_wait(phi_mcp *mcp, bool waits) {
    if (mcp->life.waits && !waits && phi__mcp_life_state(mcp) == PHI_MCP_CONNECTING)
        phi__mcp_life_limit(mcp);
    mcp->life.waits = waits;
}

/* ---- losses ---- */

static bool phi__mcp_life_may_restart(phi_mcp *mcp, bool fatal) {
    uint64_t lasted_us = phi__io_now_us(mcp->rt->io) - mcp->life.opened_us;
    if (lasted_us >= PHI__MCP_LIFE_STEADY_US) mcp->life.in_row = 0;
    return !fatal && !mcp->desc.no_restart &&
           (mcp->desc.max_restarts == PHI_UNLIMITED || mcp->life.in_row < mcp->desc.max_restarts);
}

static void phi__mcp_life_rest(phi_mcp *mcp) {
    uint64_t ms = mcp->desc.restart_delay_ms;
    uint32_t i;
    for (i = 0; i < mcp->life.in_row && ms < PHI__MCP_LIFE_DELAY_MOST_MS; i++) ms *= 2;
    mcp->life.in_row++;
    mcp->life.restarts++;
    phi__mcp_life_in(mcp, (uint32_t)phi__min((size_t)ms, PHI__MCP_LIFE_DELAY_MOST_MS));
}

PHI__FN void phi__mcp_life_down(phi_mcp *mcp, phi_status status, bool fatal, const char *message) {
    phi__mcp_phase phase = mcp->phase;
    char words[sizeof mcp->life.error];
    if (!mcp->life.link_open) return;
    mcp->life.link_open = false;
    if (phase == PHI__MCP_ENDING) {
        if (!mcp->life.close) phi__mcp_life_shut(mcp); /* else the timer does all */
        return;
    }
    if (mcp->life.reopen) phi__mcp_life_in(mcp, 0); /* phi_mcp_reconnect did not have to wait */
    if (phase == PHI__MCP_BROKEN || mcp->life.reopen) return;
    phi__mcp_life_words(words, sizeof words, message);
    phi__mcp_life_error(mcp, words);
    if (!phi__mcp_life_may_restart(mcp, fatal)) {
        phi__mcp_life_break(mcp, status, words);
        return;
    }
    mcp->phase = PHI__MCP_RESTING;
    /* Some servers end when their first message is not initialize: they get that the next time. */
    if (phase == PHI__MCP_PROBING && mcp->desc.era == NULL) mcp->agreed.legacy = true;
    phi__mcp_life_rest(mcp);
    if (phi__mcp_life_cut(mcp, status, words)) (void)phi__mcp_life_tell(mcp, words);
}

PHI__FN void phi__mcp_life_expired(phi_mcp *mcp, phi__mcp_request *refused) {
    static const char words[] = "the server has forgotten the session";
    uint64_t now_us = phi__io_now_us(mcp->rt->io), last_us = mcp->life.expired_us;
    bool soon = last_us != 0 && now_us - last_us < PHI__MCP_LIFE_EXPIRY_US;
    if ((mcp->phase != PHI__MCP_LIVE && mcp->phase != PHI__MCP_SETTLING) || soon) {
        if (refused != NULL) phi__mcp_requests_fail(refused, PHI_NETWORK, words);
        return;
    }
    mcp->life.expired_us = now_us;
    mcp->phase = PHI__MCP_INITIALIZING; /* so that nothing new is sent */
    mcp->life.holds = 0;
    phi__mcp_listen_end(mcp);
    if (refused != NULL) phi__mcp_requests_again(refused); /* it is as if it had not been sent */
    if (!phi__mcp_requests_fail_all(mcp, PHI_NETWORK, words, true)) return;
    phi__mcp_asked_drop(mcp);
    if (mcp->dead || mcp->phase != PHI__MCP_INITIALIZING) return;
    phi__mcp_life_limit(mcp);
    phi__mcp_handshake_begin(mcp, phi__mcp_life_agreed);
    if (!mcp->dead) (void)phi__mcp_life_tell(mcp, words);
}

/* ---- closing ---- */

PHI__FN void phi__mcp_life_close(phi_mcp *mcp) {
    phi_mcp_state state = phi__mcp_life_state(mcp);
    if (state != PHI_MCP_CONNECTING && state != PHI_MCP_READY) return;
    mcp->phase = PHI__MCP_ENDING;
    mcp->life.close = true;
    phi__mcp_life_in(mcp, 0);
}

static void phi__mcp_life_closing(phi_mcp *mcp) {
    mcp->life.close = false;
    phi__mcp_life_at(mcp, UINT64_MAX);
    if (!phi__mcp_life_tell(mcp, "closing") ||
        !phi__mcp_life_cut(mcp, PHI_CANCELLED, "the connection was closed"))
        return;
    if (mcp->life.link_open)
        mcp->link->table->close(mcp->link);
    else
        phi__mcp_life_shut(mcp);
}

static void phi__mcp_life_fire(phi__timer *timer) {
    phi_mcp *mcp = PHI__OWNER(timer, phi_mcp, life.timer);
    char words[64];
    phi__mcp_core_enter(mcp);
    phi__mcp_life_at(mcp, UINT64_MAX); /* keeps its place */
    if (mcp->life.close)
        phi__mcp_life_closing(mcp);
    else if (mcp->life.reopen || mcp->phase == PHI__MCP_RESTING) {
        if (!mcp->life.link_open) phi__mcp_life_start(mcp); /* else once that has ended */
    } else if (mcp->life.waits)
        phi__mcp_life_limit(mcp);
    else if (phi__mcp_life_state(mcp) == PHI_MCP_CONNECTING) {
        (void)snprintf(words, sizeof words, "not ready within %u ms",
                       (unsigned)mcp->desc.connect_timeout_ms);
        phi__mcp_life_break(mcp, PHI_TIMEOUT, words);
    }
    (void)phi__mcp_core_leave(mcp);
}

PHI__FN void phi__mcp_life_end(phi_mcp *mcp) {
    mcp->dead = true;
    mcp->phase = PHI__MCP_SHUT;
    while (mcp->requests.open.first != NULL)
        phi__mcp_requests_fail(PHI__OWNER(mcp->requests.open.first, phi__mcp_request, open),
                               PHI_CANCELLED, "the connection was freed");
    phi__mcp_asked_drop(mcp);
    phi__mcp_post_clear(mcp);
    (void)phi__mcp_parts_down(mcp);
    phi__mcp_parts_free(mcp);
    phi__io_timer_clear(mcp->rt->io, &mcp->life.timer);
    phi__io_timer_clear(mcp->rt->io, &mcp->listening.timer);
    if (mcp->link != NULL) mcp->link->table->free(mcp->link);
    mcp->link = NULL;
    phi__map_free(&mcp->requests.by_id);
    phi_arena_free(&mcp->agreed.arena);
    phi_arena_free(&mcp->arena);
}
