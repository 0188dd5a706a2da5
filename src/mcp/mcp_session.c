/* mcp_session.c - the session: handshake, state, messages, and functions for parts and links. */
#include "mcp/mcp_requests_in.h"

#include <stdarg.h>
#include <stdio.h>

/* ---- subscriptions/listen: the modern era's stream of changes ---- */

enum {
    PHI__MCP_LISTEN_DELAY_MS = 1000,
    PHI__MCP_LISTEN_DELAY_MOST_MS = 30000,
    PHI__MCP_LISTEN_STEADY_US = 60000000 /* a stream that lasted this long did not fail */
};

static void phi__mcp_listen_open(phi_mcp *mcp);

static void phi__mcp_listen_again(phi__timer *timer) {
    phi_mcp *mcp = PHI__OWNER(timer, phi_mcp, listening.timer);
    if (mcp->phase == PHI__LIVE && mcp->listening.request == NULL) phi__mcp_listen_open(mcp);
}

static void phi__mcp_listen_later(phi_mcp *mcp) {
    uint32_t tries = mcp->listening.tries++;
    uint64_t ms = PHI__MCP_LISTEN_DELAY_MOST_MS;
    if (tries < 5) ms = (uint64_t)PHI__MCP_LISTEN_DELAY_MS << tries;
    mcp->listening.timer.fire = phi__mcp_listen_again;
    (void)phi__mcp_timer_in(mcp->rt->io, &mcp->listening.timer, ms);
}

static void phi__mcp_listen_done(void *ctx, const phi_mcp_reply *reply) {
    phi_mcp *mcp = (phi_mcp *)ctx;
    uint64_t now_us = phi__io_now_us(mcp->rt->io);
    mcp->listening.request = NULL;
    if (mcp->dead || mcp->phase != PHI__LIVE) return;
    /* The server lacks the method, or a person refused. Do not ask that person again. */
    if (reply->status == PHI_REFUSED || reply->status == PHI_DENIED) return;
    if (now_us - mcp->listening.opened_us >= PHI__MCP_LISTEN_STEADY_US) mcp->listening.tries = 0;
    phi__mcp_listen_later(mcp);
}

static void phi__mcp_listen_open(phi_mcp *mcp) {
    static const char *const lists[][2] = {{"tools", "toolsListChanged"},
                                           {"prompts", "promptsListChanged"},
                                           {"resources", "resourcesListChanged"}};
    phi__req_desc desc = PHI_ZERO;
    phi_status status = PHI_NO_MEMORY;
    bool any = false;
    phi__buf params = phi__buf_of(&mcp->memory);
    phi__buf_text(&params, "{\"notifications\":{");
    for (size_t i = 0; i < PHI__COUNT(lists); i++) { /* ask for lists that may change */
        const phi_json *list = phi_json_get(mcp->agreed.capabilities, lists[i][0]);
        bool changes = phi__records_get_bool(list, "listChanged");
        phi__records_true(&params, lists[i][1], changes);
        any = any || changes;
    }
    phi__buf_text(&params, "}}");
    desc.method = "subscriptions/listen";
    desc.params = phi__buf_str(&params);
    desc.stream = true;
    desc.done = phi__mcp_listen_done;
    desc.ctx = mcp;
    mcp->listening.opened_us = phi__io_now_us(mcp->rt->io);
    if (any && !params.failed) status = phi__req_new(mcp, &desc, false, &mcp->listening.request);
    phi__buf_free(&params);
    if (any && status != PHI_OK) phi__mcp_listen_later(mcp);
}

/* ---- the handshake: server/discover, or initialize if the server does not know it ---- */

enum { PHI__HANDSHAKE_PROBE_MS = 3000 };

static void phi__hs_initialize(phi_mcp *mcp);
static void phi__hs_probe(phi_mcp *mcp, const phi__era *era);

static void phi__hs_fail(phi_mcp *mcp, phi_status status, const char *format, ...) PHI_PRINTF(3, 4);

static void phi__hs_fail(phi_mcp *mcp, phi_status status, const char *format, ...) {
    char words[200];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(words, sizeof words, format, args);
    va_end(args);
    mcp->agreed.era = NULL;
    mcp->agreed.ended(mcp, status, words);
}

/* Forgets everything that was agreed upon, except `legacy`. */
static void phi__hs_forget(phi_mcp *mcp) {
    phi__agreed *g = &mcp->agreed;
    phi_str none = phi__str("", 0);
    g->era = NULL;
    g->capabilities = NULL;
    g->capabilities_text = g->name = g->title = g->version = g->instructions = g->meta = none;
    phi_arena_free(&g->arena);
}

static void phi__hs_agree(phi_mcp *mcp, const phi__era *era, const phi_json *result) {
    phi__agreed *g = &mcp->agreed;
    const phi_json *caps = phi_json_get(result, "capabilities");
    const phi_json *info = phi_json_get(result, "serverInfo");
    if (info == NULL)
        info = phi_json_get(phi_json_get(result, "_meta"), "io.modelcontextprotocol/serverInfo");
    g->era = era;
    g->capabilities = phi_json_is(caps, PHI_JSON_OBJECT) ? phi_json_copy(&g->arena, caps)
                                                         : phi_json_new_object(&g->arena);
    if (g->capabilities == NULL ||
        phi_json_write(&g->arena, g->capabilities, 0, &g->capabilities_text) != PHI_OK ||
        !phi__arena_str(&g->arena, phi__records_get_str(info, "name"), &g->name) ||
        !phi__arena_str(&g->arena, phi__records_get_str(info, "title"), &g->title) ||
        !phi__arena_str(&g->arena, phi__records_get_str(info, "version"), &g->version) ||
        !phi__arena_str(&g->arena, phi__records_get_str(result, "instructions"),
                        &g->instructions)) {
        phi__hs_fail(mcp, PHI_NO_MEMORY, "no memory");
        return;
    }
    g->legacy = era->handshake;
    mcp->link->table->agreed(mcp->link, era->version, !era->handshake);
    if (era->handshake) {
        phi_status status =
            phi__post_notification(mcp, "notifications/initialized", phi__str("", 0), true);
        if (status != PHI_OK) {
            phi__hs_fail(mcp, status, "notifications/initialized could not be sent");
            return;
        }
        mcp->link->table->listen(mcp->link);
    }
    g->ended(mcp, PHI_OK, "");
}

static void phi__hs_put_client(phi_mcp *mcp, phi__buf *buf, const char *key) {
    phi__records_raw(buf, key, "{");
    phi__records_str(buf, "name", phi_str_of(mcp->desc.client_name));
    phi__records_str(buf, "version", phi_str_of(mcp->desc.client_version));
    phi__buf_char(buf, '}');
}

/* Makes the members of _meta that each request of the modern era carries. */
static phi_status phi__hs_meta(phi_mcp *mcp, const phi__era *era) {
    phi__agreed *g = &mcp->agreed;
    phi_str caps;
    phi_status status = phi__parts_capabilities(mcp, &g->arena, &caps);
    if (status != PHI_OK) return status;
    phi__buf buf = phi__buf_of(&mcp->memory);
    phi__records_str(&buf, "io.modelcontextprotocol/protocolVersion", phi_str_of(era->version));
    phi__hs_put_client(mcp, &buf, "io.modelcontextprotocol/clientInfo");
    phi__records_raw(&buf, "io.modelcontextprotocol/clientCapabilities", "");
    phi__buf_add_str(&buf, caps);
    if (mcp->desc.log_level != NULL)
        phi__records_str(&buf, "io.modelcontextprotocol/logLevel", phi_str_of(mcp->desc.log_level));
    if (buf.failed || !phi__arena_str(&g->arena, phi__buf_str(&buf), &g->meta))
        status = PHI_NO_MEMORY;
    phi__buf_free(&buf);
    return status;
}

static void phi__hs_initialized(void *ctx, const phi_mcp_reply *reply) {
    phi_mcp *mcp = (phi_mcp *)ctx;
    phi__agreed *g = &mcp->agreed;
    const char *pinned = mcp->desc.era;
    phi_str version = phi__records_get_str(reply->result, "protocolVersion");
    const phi__era *era = phi__eras_find(version);
    if (mcp->dead || mcp->phase != PHI__INITIALIZING) return;
    if (reply->status == PHI_REFUSED && (g->legacy || g->silent) && pinned == NULL &&
        !g->second_try) {
        g->legacy = false; /* `legacy` was wrongly assumed, or the server has changed */
        g->second_try = true;
        phi__hs_probe(mcp, phi__eras_modern());
    } else if (reply->status != PHI_OK)
        phi__hs_fail(mcp, reply->status, "initialize: %.*s", (int)phi__min(reply->message.len, 160),
                     reply->message.at);
    else if (era == NULL || !era->handshake)
        phi__hs_fail(mcp, PHI_UNSUPPORTED,
                     "initialize: the server speaks version \"%.*s\": expected 2024-11-05, "
                     "2025-03-26, 2025-06-18 or 2025-11-25",
                     (int)phi__min(version.len, 40), version.at);
    else if (pinned != NULL && strcmp(era->version, pinned) != 0)
        phi__hs_fail(mcp, PHI_UNSUPPORTED, "initialize: the server speaks %s, and not %s",
                     era->version, pinned);
    else
        phi__hs_agree(mcp, era, reply->result);
}

static void phi__hs_initialize(phi_mcp *mcp) {
    const phi__era *pinned =
        mcp->desc.era != NULL ? phi__eras_find(phi_str_of(mcp->desc.era)) : phi__eras_legacy();
    phi_str caps = phi__str("", 0);
    phi__buf params;
    phi__hs_forget(mcp);
    mcp->link->table->agreed(mcp->link, NULL, false);
    mcp->phase = PHI__INITIALIZING;
    mcp->agreed.era = pinned; /* capabilities depend on the era */
    phi_arena arena = phi__arena_of(&mcp->memory, 256);
    phi_status status = phi__parts_capabilities(mcp, &arena, &caps);
    mcp->agreed.era = NULL;
    phi__rpc_open_params(&params, &mcp->memory, "protocolVersion", phi_str_of(pinned->version));
    phi__records_raw(&params, "capabilities", "");
    if (status == PHI_OK) phi__buf_add_str(&params, caps);
    phi__hs_put_client(mcp, &params, "clientInfo");
    phi__buf_char(&params, '}');
    phi_arena_free(&arena);
    phi__req_desc desc = PHI_ZERO;
    desc.method = "initialize";
    desc.done = phi__hs_initialized;
    desc.ctx = mcp;
    if (status != PHI_OK) params.failed = true;
    status = phi__req_new_buf(mcp, &desc, &params, true, NULL);
    if (status != PHI_OK) phi__hs_fail(mcp, status, "initialize: the request could not be sent");
}

/* Picks the newest of the server's versions that this library supports. result: the server's
   answer; NULL: the server refused the version of the probe. */
static void phi__hs_pick(phi_mcp *mcp, const phi_json *versions, const phi_json *result) {
    const phi__era *era = NULL;
    phi_json_iter it = phi_json_each(versions);
    while (phi_json_next(&it) != NULL) {
        const phi__era *one = phi__eras_find(phi__json_text_of(it.at));
        if (one != NULL && (era == NULL || strcmp(one->version, era->version) > 0)) era = one;
    }
    if (era != NULL && mcp->desc.era != NULL && strcmp(era->version, mcp->desc.era) != 0)
        era = NULL;
    if (era == NULL)
        phi__hs_fail(mcp, PHI_UNSUPPORTED, "server/discover: no version that both sides speak");
    else if (era->handshake)
        phi__hs_initialize(mcp);
    else if (result != NULL)
        phi__hs_agree(mcp, era, result);
    else if (!mcp->agreed.second_try) {
        mcp->agreed.second_try = true;
        phi__hs_probe(mcp, era);
    } else
        phi__hs_fail(mcp, PHI_UNSUPPORTED,
                     "server/discover: the server refuses a version that it names");
}

static void phi__hs_probed(void *ctx, const phi_mcp_reply *reply) {
    phi_mcp *mcp = (phi_mcp *)ctx;
    const phi_json *versions = phi__mcp_array(reply->result, "supportedVersions");
    int http_status = mcp->agreed.http_status;
    phi_status status = reply->status;
    if (mcp->dead || mcp->phase != PHI__PROBING) return;
    if (status == PHI_OK && versions != NULL) {
        phi__hs_pick(mcp, versions, reply->result);
        return;
    }
    if (reply->code == PHI__RPC_VERSION) {
        phi__hs_pick(mcp, phi__mcp_array(reply->data, "supported"), NULL);
        return;
    }
    /* The network failed or a token is missing. Another handshake would not help. */
    bool lost = (status != PHI_OK && status != PHI_REFUSED && status != PHI_TIMEOUT &&
                 status != PHI_PARSE && http_status < 400) ||
                http_status == 401 || http_status == 403;
    if (!lost && mcp->desc.era == NULL && reply->code != PHI__RPC_CAPABILITY &&
        reply->code != PHI__RPC_HEADERS) {
        mcp->agreed.silent = status == PHI_TIMEOUT;
        phi__hs_initialize(mcp);
    } else if (status == PHI_OK)
        phi__hs_fail(mcp, PHI_UNSUPPORTED, "server/discover: the result names no versions");
    else
        phi__hs_fail(mcp, status, "server/discover: %.*s", (int)phi__min(reply->message.len, 160),
                     reply->message.at);
}

static void phi__hs_probe(phi_mcp *mcp, const phi__era *era) {
    phi__hs_forget(mcp);
    mcp->phase = PHI__PROBING;
    mcp->link->table->agreed(mcp->link, era->version, true);
    mcp->agreed.era = era; /* capabilities depend on the era */
    phi_status status = phi__hs_meta(mcp, era);
    mcp->agreed.era = NULL;
    phi__req_desc desc = PHI_ZERO;
    desc.method = "server/discover";
    desc.timeout_ms = mcp->desc.argv != NULL && mcp->desc.era == NULL ? PHI__HANDSHAKE_PROBE_MS : 0;
    desc.done = phi__hs_probed;
    desc.ctx = mcp;
    if (status == PHI_OK) status = phi__req_new(mcp, &desc, true, NULL);
    if (status != PHI_OK)
        phi__hs_fail(mcp, status, "server/discover: the request could not be sent");
}

/* Begins the handshake. `ended` is called once, unless other code changes the phase first. PHI_OK:
   agreed.era is set. */
static void phi__hs_begin(phi_mcp *mcp,
                          void (*ended)(phi_mcp *mcp, phi_status status, const char *message)) {
    const phi__era *era =
        mcp->desc.era != NULL ? phi__eras_find(phi_str_of(mcp->desc.era)) : phi__eras_modern();
    mcp->agreed.ended = ended;
    mcp->agreed.second_try = false;
    mcp->agreed.silent = false;
    mcp->agreed.http_status = 0;
    if (era->handshake || (mcp->agreed.legacy && mcp->desc.era == NULL))
        phi__hs_initialize(mcp);
    else
        phi__hs_probe(mcp, era);
}

/* ---- the phases of a connection; each change of phi_mcp_state is reported once ---- */

enum {
    PHI__LIFE_DELAY_MOST_MS = 30000,
    PHI__LIFE_STEADY_US = 60000000, /* a connection this long resets the count of restarts */
    PHI__LIFE_EXPIRY_US = 10000000  /* least time between two handshakes for forgotten sessions */
};

static void phi__life_fire(phi__timer *timer);

PHI__FN phi_mcp_state phi__life_state(const phi_mcp *mcp) {
    switch (mcp->phase) {
    case PHI__SHUT: return PHI_MCP_CLOSED;
    case PHI__LIVE: return PHI_MCP_READY;
    case PHI__MCP_ENDING: return PHI_MCP_CLOSING;
    case PHI__BROKEN: return PHI_MCP_FAILED;
    default: return PHI_MCP_CONNECTING;
    }
}

/* Reports the state if it has changed. False: the connection was freed. */
static bool phi__life_tell(phi_mcp *mcp, const char *why) {
    phi_mcp_state state = phi__life_state(mcp);
    if (state == mcp->life.told) return true;
    mcp->life.told = state;
    return phi__parts_tell(mcp, PHI_MCP_EV_STATE, phi__str("", 0), phi__str("", 0),
                           phi_str_of(why));
}

static void phi__life_at(phi_mcp *mcp, uint64_t at_us) {
    mcp->life.timer.fire = phi__life_fire;
    /* cannot fail: the timer has a place in the heap */
    (void)phi__io_timer_set(mcp->rt->io, &mcp->life.timer, at_us);
}

static void phi__life_in(phi_mcp *mcp, uint32_t ms) {
    mcp->life.timer.fire = phi__life_fire;
    (void)phi__mcp_timer_in(mcp->rt->io, &mcp->life.timer, ms);
}

static void phi__life_limit(phi_mcp *mcp) {
    uint64_t after_us = phi__core_after_ms(0, mcp->desc.connect_timeout_ms);
    mcp->life.timer.fire = phi__life_fire;
    (void)phi__io_deadline_set(mcp->rt->io, &mcp->life.timer, after_us);
}

/* Keeps a message as one clean line, because it may contain bytes from the server. Also copies the
   line to `words`: a callback may open the connection again, which clears the kept line. */
static void phi__life_error(phi_mcp *mcp, const char *message,
                            char words[sizeof(((phi_mcp *)0)->life.error)]) {
    (void)snprintf(words, sizeof mcp->life.error, "%s", message);
    words[phi__words_clean_line(words, strlen(words))] = '\0';
    (void)snprintf(mcp->life.error, sizeof mcp->life.error, "%s", words);
}

/* Ends all requests and questions, and tells the parts. False: the connection was freed. */
static bool phi__life_cut(phi_mcp *mcp, phi_status status, const char *message) {
    mcp->life.holds = 0;
    mcp->life.waits = false;
    phi__io_timer_clear(mcp->rt->io, &mcp->listening.timer);
    if (!phi__req_fail_all(mcp, status, message, false)) return false;
    phi__asked_unask_of(mcp, NULL);
    phi__post_clear(mcp);
    if (mcp->dead || !phi__parts_down(mcp)) return false;
    phi__hs_forget(mcp);
    return true;
}

/* Ends the connection with a failure. The link is closed, too, if it is still open. */
static void phi__life_break(phi_mcp *mcp, phi_status status, const char *message) {
    char words[sizeof mcp->life.error];
    phi__life_error(mcp, message, words);
    mcp->phase = PHI__BROKEN;
    phi__life_at(mcp, UINT64_MAX);
    if (!phi__life_cut(mcp, status, words) || mcp->phase != PHI__BROKEN) return;
    if (mcp->life.link_open) mcp->link->table->close(mcp->link);
    (void)phi__life_tell(mcp, words);
}

static void phi__life_shut(phi_mcp *mcp) {
    mcp->phase = PHI__SHUT;
    phi__life_at(mcp, UINT64_MAX);
    (void)phi__life_tell(mcp, "closed");
}

PHI__FN phi_status phi__life_open(phi_mcp *mcp) {
    mcp->life.timer.fire = phi__life_fire;
    phi_status status = phi__mcp_timer_in(mcp->rt->io, &mcp->life.timer, 0);
    if (status != PHI_OK) return status;
    mcp->phase = PHI__OPENING;
    mcp->life.told = PHI_MCP_CONNECTING;
    mcp->life.reopen = true;
    mcp->life.close = false;
    mcp->life.in_row = 0;
    mcp->life.error[0] = '\0';
    return PHI_OK;
}

static void phi__life_agreed(phi_mcp *mcp, phi_status status, const char *message) {
    if (status != PHI_OK) {
        phi__life_break(mcp, status, message);
        return;
    }
    mcp->phase = PHI__SETTLING;
    mcp->life.holds = 1; /* this function's own hold: parts may call phi__mcp_settle now */
    if (!phi__req_flush(mcp, true) || !phi__parts_ready(mcp)) return;
    phi__mcp_settle(mcp);
}

PHI__FN void phi__mcp_settle(phi_mcp *mcp) {
    if (mcp->phase != PHI__SETTLING || mcp->life.holds == 0) return;
    if (--mcp->life.holds > 0) return;
    mcp->phase = PHI__LIVE;
    phi__life_at(mcp, UINT64_MAX);
    mcp->listening.tries = 0;
    if (mcp->agreed.era->listen) phi__mcp_listen_open(mcp);
    (void)phi__life_tell(mcp, mcp->agreed.era->version);
}

PHI__FN bool phi__mcp_down(phi_mcp *mcp, phi_status status, bool fatal, const char *message) {
    phi__core_enter(mcp);
    phi__phase phase = mcp->phase;
    char words[sizeof mcp->life.error];
    if (!mcp->life.link_open) return phi__core_leave(mcp);
    mcp->life.link_open = false;
    if (phase == PHI__MCP_ENDING) {
        if (!mcp->life.close) phi__life_shut(mcp); /* else the timer ends the connection */
        return phi__core_leave(mcp);
    }
    if (mcp->life.reopen) phi__life_in(mcp, 0); /* phi_mcp_reconnect waited until now */
    if (phase == PHI__BROKEN || mcp->life.reopen) return phi__core_leave(mcp);
    phi__life_error(mcp, message, words);
    uint64_t lasted_us = phi__io_now_us(mcp->rt->io) - mcp->life.opened_us;
    if (lasted_us >= PHI__LIFE_STEADY_US) mcp->life.in_row = 0;
    if (fatal || mcp->desc.no_restart ||
        (mcp->desc.max_restarts != PHI_UNLIMITED && mcp->life.in_row >= mcp->desc.max_restarts)) {
        phi__life_break(mcp, status, words);
        return phi__core_leave(mcp);
    }
    mcp->phase = PHI__RESTING;
    /* Some servers exit if the first message is not initialize. Such a server gets initialize the
       next time. */
    if (phase == PHI__PROBING && mcp->desc.era == NULL) mcp->agreed.legacy = true;
    uint64_t ms = mcp->desc.restart_delay_ms;
    for (uint32_t i = 0; i < mcp->life.in_row && ms < PHI__LIFE_DELAY_MOST_MS; i++) ms *= 2;
    mcp->life.in_row++;
    mcp->life.restarts++;
    phi__life_in(mcp, (uint32_t)phi__min((size_t)ms, PHI__LIFE_DELAY_MOST_MS));
    if (phi__life_cut(mcp, status, words)) (void)phi__life_tell(mcp, words);
    return phi__core_leave(mcp);
}

PHI__FN bool phi__mcp_expired(phi_mcp *mcp, phi__out *out) {
    phi__req *refused = phi__req_of(out);
    phi__core_enter(mcp);
    static const char words[] = "the server has forgotten the session";
    uint64_t now_us = phi__io_now_us(mcp->rt->io), last_us = mcp->life.expired_us;
    bool soon = last_us != 0 && now_us - last_us < PHI__LIFE_EXPIRY_US;
    if (!phi__core_agreed(mcp) || soon) {
        if (refused != NULL) phi__req_fail(refused, PHI_NETWORK, "%s", words);
        return phi__core_leave(mcp);
    }
    mcp->life.expired_us = now_us;
    mcp->phase = PHI__INITIALIZING; /* nothing new is sent in this phase */
    mcp->life.holds = 0;
    phi__io_timer_clear(mcp->rt->io, &mcp->listening.timer);
    if (refused != NULL) phi__req_again(refused); /* queued as if it had never been sent */
    if (!phi__req_fail_all(mcp, PHI_NETWORK, words, true)) return phi__core_leave(mcp);
    phi__asked_unask_of(mcp, NULL);
    if (mcp->dead || mcp->phase != PHI__INITIALIZING) return phi__core_leave(mcp);
    phi__life_limit(mcp);
    phi__hs_begin(mcp, phi__life_agreed);
    if (!mcp->dead) (void)phi__life_tell(mcp, words);
    return phi__core_leave(mcp);
}

PHI__FN void phi__life_close(phi_mcp *mcp) {
    phi_mcp_state state = phi__life_state(mcp);
    if (state != PHI_MCP_CONNECTING && state != PHI_MCP_READY) return;
    mcp->phase = PHI__MCP_ENDING;
    mcp->life.close = true;
    phi__life_in(mcp, 0);
}

static void phi__life_fire(phi__timer *timer) {
    phi_mcp *mcp = PHI__OWNER(timer, phi_mcp, life.timer);
    char words[64];
    phi__core_enter(mcp);
    phi__life_at(mcp, UINT64_MAX); /* keeps the timer's place in the heap */
    if (mcp->life.close) {
        mcp->life.close = false;
        if (phi__life_tell(mcp, "closing") &&
            phi__life_cut(mcp, PHI_CANCELLED, "the connection was closed")) {
            if (mcp->life.link_open)
                mcp->link->table->close(mcp->link);
            else
                phi__life_shut(mcp);
        }
    } else if (mcp->life.reopen || mcp->phase == PHI__RESTING) {
        if (!mcp->life.link_open) {
            mcp->phase = PHI__OPENING;
            mcp->life.reopen = false;
            mcp->life.opened_us = phi__io_now_us(mcp->rt->io);
            phi__life_limit(mcp);
            mcp->life.link_open = true;
            phi_status status = mcp->link->table->open(mcp->link);
            if (status != PHI_OK) {
                mcp->life.link_open = false;
                phi__life_break(mcp, status, phi_status_text(status));
            }
        } /* else phi__mcp_down sets the timer when the link has ended */
    } else if (mcp->life.waits)
        phi__life_limit(mcp);
    else if (phi__life_state(mcp) == PHI_MCP_CONNECTING) {
        (void)snprintf(words, sizeof words, "not ready within %u ms",
                       (unsigned)mcp->desc.connect_timeout_ms);
        phi__life_break(mcp, PHI_TIMEOUT, words);
    }
    (void)phi__core_leave(mcp);
}

PHI__FN void phi__life_end(phi_mcp *mcp) {
    mcp->dead = true;
    mcp->phase = PHI__SHUT;
    while (mcp->requests.open.first != NULL)
        phi__req_fail(PHI__OWNER(mcp->requests.open.first, phi__req, open), PHI_CANCELLED,
                      "the connection was freed");
    phi__asked_unask_of(mcp, NULL);
    phi__post_clear(mcp);
    (void)phi__parts_down(mcp);
    phi__parts_free(mcp);
    phi__io_timer_clear(mcp->rt->io, &mcp->life.timer);
    phi__io_timer_clear(mcp->rt->io, &mcp->listening.timer);
    if (mcp->link != NULL) mcp->link->table->free(mcp->link);
    mcp->link = NULL;
    phi__map_free(&mcp->requests.by_id);
    phi_arena_free(&mcp->agreed.arena);
    phi_arena_free(&mcp->arena);
}

enum {
    PHI__INCOMING_LEAVES = 8 /* values of a message that are searched for its id */
};

static void phi__incoming_error(phi__req *r, const phi__rpc *rpc) {
    phi_mcp_reply reply = PHI_ZERO;
    reply.status = PHI_REFUSED;
    reply.code = rpc->code;
    reply.message = rpc->message;
    reply.data = rpc->data;
    phi__req_off(r);
    phi__req_finish(r, &reply);
}

static void phi__incoming_result(phi__req *r, const phi_json *result) {
    const phi__era *era = r->mcp->agreed.era;
    phi_str type = phi__records_get_str(result, "resultType");
    phi__req_off(r);
    if (!phi_json_is(result, PHI_JSON_OBJECT)) {
        phi__req_fail(r, PHI_PARSE, "the result is no object");
        return;
    }
    if (era != NULL && era->result_type && type.len > 0 && !phi__str_is(type, "complete")) {
        if (phi__str_is(type, "input_required") &&
            (phi__str_is(r->item.out.method, "tools/call") ||
             phi__str_is(r->item.out.method, "prompts/get") ||
             phi__str_is(r->item.out.method, "resources/read"))) {
            (void)phi__asked_input(r, result);
            return;
        }
        if (phi__str_is(type, "task") && phi__str_is(r->item.out.method, "tools/call") &&
            phi__tasks_begin(r, result))
            return;
        phi__req_fail(r, PHI_PARSE, "a result of the type \"%.*s\", which is unknown",
                      (int)phi__min(type.len, 60), type.at);
        return;
    }
    if (r->as_task && phi_json_get(result, "task") != NULL &&
        phi__tasks_begin(r, phi_json_get(result, "task")))
        return;
    phi_mcp_reply reply = PHI_ZERO;
    reply.result = result;
    phi__req_finish(r, &reply);
}

static void phi__incoming_answer(phi_mcp *mcp, const phi__rpc *rpc) {
    phi__req *r = NULL;
    uint64_t id = 0;
    bool ours = phi__rpc_number(rpc->id, &id);
    if (ours) r = phi__req_find(mcp, id);
    if (r == NULL) {
        if (ours && phi__req_issued(mcp, id)) return; /* the answer is late, or comes twice */
        if (rpc->id.len == 0)
            (void)phi__parts_warn(mcp, "an error without an id: %.*s",
                                  (int)phi__min(rpc->message.len, 200), rpc->message.at);
        else
            (void)phi__parts_warn(mcp, "an answer to nothing: its id is %.*s",
                                  (int)phi__min(rpc->id.len, 60), rpc->id.at);
        return;
    }
    mcp->agreed.http_status = 0;
    if (rpc->kind == PHI__RPC_RESULT)
        phi__incoming_result(r, rpc->result);
    else
        phi__incoming_error(r, rpc);
}

static void phi__incoming_cancelled(phi_mcp *mcp, phi_arena *arena, const phi_json *params) {
    const phi_json *node = phi_json_get(params, "requestId");
    phi__req *r = NULL;
    uint64_t id;
    phi_str text;
    if (node == NULL || phi_json_write(arena, node, 0, &text) != PHI_OK) return;
    if (mcp->agreed.era == NULL || mcp->agreed.era->asks) {
        for (phi__link *link = mcp->asks.open.first; link != NULL; link = link->next) {
            phi__mcp_ask *a = PHI__OWNER(link, phi__mcp_ask, link);
            if (a->input || !phi_str_equal(phi__str(a->id, a->id_len), text)) continue;
            phi__asked_unask(mcp, a);
            return;
        }
        return;
    }
    /* The server has cancelled one of our requests: it ends the stream that the request opened. */
    if (phi__rpc_number(text, &id)) r = phi__req_find(mcp, id);
    if (r == NULL || !r->desc.stream) return;
    phi__req_off(r);
    phi__req_fail(r, PHI_NETWORK, "the server has ended the stream");
}

static void phi__incoming_one(phi_mcp *mcp, phi_arena *arena, const phi_json *node,
                              phi__out *from) {
    phi__rpc rpc;
    if (!phi__rpc_read(arena, node, &rpc)) {
        (void)phi__parts_warn(mcp, "no memory for a message");
        return;
    }
    switch (rpc.kind) {
    case PHI__RPC_RESULT:
    case PHI__RPC_ERROR: phi__incoming_answer(mcp, &rpc); return;
    case PHI__RPC_REQUEST: (void)phi__asked_request(mcp, &rpc, phi__req_of(from)); return;
    case PHI__RPC_NOTIFICATION:
        if (phi__str_is(rpc.method, "notifications/progress"))
            phi__req_progress(mcp, rpc.params);
        else if (phi__str_is(rpc.method, "notifications/cancelled"))
            phi__incoming_cancelled(mcp, arena, rpc.params);
        else
            (void)phi__parts_notified(mcp, rpc.method, rpc.params);
        return;
    case PHI__RPC_INVALID: {
        /* The request that the message should answer fails now, not at its deadline. */
        phi__req *r = NULL;
        uint64_t id;
        if (rpc.method.len == 0 && phi__rpc_number(rpc.id, &id)) r = phi__req_find(mcp, id);
        if (r != NULL)
            phi__req_fail(r, PHI_PARSE, "the answer is no message: %s", rpc.fault);
        else
            (void)phi__parts_warn(mcp, "a message that is none: %s", rpc.fault);
        return;
    }
    }
}

/* Returns the request that a long text answers, found by an id among the first values. Returns NULL
   for a request of the server, whose id may be the same as one of ours. */
static phi__req *phi__incoming_whose(phi_mcp *mcp, phi_str text) {
    phi__req *r = NULL;
    phi__json_fields fields;
    phi_str path = PHI_ZERO, value = PHI_ZERO;
    uint64_t id;
    int leaves = 0;
    phi__json_fields_init(&fields, &mcp->memory);
    while (leaves++ < PHI__INCOMING_LEAVES &&
           phi__json_fields_next(&fields, text, &path, &value) > 0) {
        if (phi__str_is(path, "/id") && phi__rpc_number(value, &id))
            r = phi__req_find(mcp, id);
        else if (phi__str_is(path, "/method") || phi__str_starts(path, "/params")) {
            r = NULL;
            break;
        } else if (r != NULL)
            break;
    }
    phi__json_fields_free(&fields);
    return r;
}

/* ---- long answers ---- */

/* Ends the request with its answer, then frees the answer's memory. */
static void phi__incoming_read(phi__req *r, phi_status status, const phi_json *root) {
    phi_mcp *mcp = r->mcp;
    phi_arena arena = r->reading->slices.arena;
    phi__rpc rpc;
    /* the arena with the tree now belongs to this function */
    phi_arena_init(&r->reading->slices.arena, &mcp->memory, 0);
    phi__incoming_drop(r);
    mcp->agreed.http_status = 0;
    if (status != PHI_OK)
        phi__req_fail(r, status, "the answer cannot be read");
    else if (!phi__rpc_read(&arena, root, &rpc))
        phi__req_fail(r, PHI_NO_MEMORY, "no memory for the answer");
    else if (rpc.kind == PHI__RPC_RESULT)
        phi__incoming_result(r, rpc.result);
    else if (rpc.kind == PHI__RPC_ERROR)
        phi__incoming_error(r, &rpc);
    else
        phi__req_fail(r, PHI_PARSE, "the answer is no message");
    phi_arena_free(&arena);
}

static void phi__incoming_sliced(phi__slices *slices, phi_status status, phi_json *root) {
    phi__req *r = PHI__OWNER(slices, struct phi__mcp_reading, slices)->request;
    phi_mcp *mcp = r->mcp;
    phi__core_enter(mcp);
    if (status == PHI_BUSY && phi__req_renew(r, false) != PHI_OK) status = PHI_NO_MEMORY;
    if (status != PHI_BUSY) phi__incoming_read(r, status, root);
    (void)phi__core_leave(mcp);
}

/* True if json is a long answer: it is then read in slices from the next step on, or its request
   has failed. */
static bool phi__incoming_long(phi_mcp *mcp, phi_str json) {
    phi__req *r = json.len > PHI__SLICES_WHOLE ? phi__incoming_whose(mcp, json) : NULL;
    if (r == NULL) return false;
    struct phi__mcp_reading *reading =
        (struct phi__mcp_reading *)phi__alloc(&mcp->memory, sizeof *reading);
    bool fine = reading != NULL;
    if (fine) {
        reading->request = r;
        reading->slices.sliced = phi__incoming_sliced;
        fine = phi__slices_begin(&reading->slices, mcp->rt, &mcp->memory, json, true) == PHI_OK;
        if (!fine) phi__free(&mcp->memory, reading, sizeof *reading);
    }
    if (fine) {
        r->reading = reading;
        fine = phi__req_renew(r, false) == PHI_OK;
        if (!fine) phi__incoming_drop(r);
    }
    if (fine) {
        phi__slices_go(&reading->slices);
        phi__req_off(r);
    } else
        phi__req_fail(r, PHI_NO_MEMORY, "no memory for the answer");
    return true;
}

/* Handles a batch (older eras). After the request of `from` has ended, later messages have no
   `from`. */
static void phi__incoming_batch(phi_mcp *mcp, phi_arena *arena, const phi_json *list,
                                phi__out *from) {
    const phi__req *r = phi__req_of(from);
    uint64_t id = r != NULL ? r->id : 0;
    phi_json_iter it = phi_json_each(list);
    const phi_json *node;
    while (!mcp->dead && (node = phi_json_next(&it)) != NULL) {
        if (from != NULL && phi__req_find(mcp, id) != r) from = NULL;
        phi__incoming_one(mcp, arena, node, from);
    }
}

/* ---- functions for parts ---- */

PHI__FN void phi__mcp_join(phi_mcp *mcp, const phi__mcp_part *table, void *part) {
    phi__joined *p = &mcp->parts[mcp->part_count];
    PHI_ASSERT(mcp->part_count < PHI__PARTS);
    p->table = table;
    p->part = part;
    mcp->part_count++;
}

PHI__FN void *phi__mcp_session_part(const phi_mcp *mcp, const phi__mcp_part *table) {
    for (size_t i = 0; i < mcp->part_count; i++)
        if (mcp->parts[i].table == table) return mcp->parts[i].part;
    return NULL;
}

PHI__FN bool phi__mcp_modern(const phi_mcp *mcp) {
    return mcp->agreed.era != NULL && !mcp->agreed.era->handshake;
}

PHI__FN phi_str phi__mcp_name(const phi_mcp *mcp) {
    phi_str given = phi_str_of(mcp->desc.name);
    if (given.len > 0) return given;
    if (mcp->agreed.name.len > 0) return mcp->agreed.name;
    return phi_str_of(mcp->desc.url != NULL ? mcp->desc.url : mcp->desc.argv[0]);
}

PHI__FN void phi__mcp_hold(phi_mcp *mcp) {
    if (mcp->phase == PHI__SETTLING) mcp->life.holds++;
}

PHI__FN bool phi__mcp_tell(phi_mcp *mcp, phi_mcp_event_kind kind, phi_str name, phi_str before,
                           phi_str text) {
    phi__core_enter(mcp); /* a link may call this without phi__core_enter */
    (void)phi__parts_tell(mcp, kind, name, before, text);
    return phi__core_leave(mcp);
}

PHI__FN phi_status phi__mcp_send(phi_mcp *mcp, const phi__req_desc *desc, phi__req **out) {
    if (!phi__core_agreed(mcp)) return PHI_MISUSE;
    return phi__req_new(mcp, desc, false, out);
}

PHI__FN phi_status phi__mcp_send_buf(phi_mcp *mcp, phi__req_desc *desc, phi__buf *params,
                                     phi__req **out) {
    if (phi__core_agreed(mcp)) return phi__req_new_buf(mcp, desc, params, false, out);
    phi__buf_free(params);
    return PHI_MISUSE;
}

PHI__FN void phi__mcp_cancel(phi__req *request, const char *reason) {
    if (request != NULL) phi__req_cancel(request, reason);
}

PHI__FN phi_status phi__mcp_notify(phi_mcp *mcp, const char *method, phi_str params) {
    if (!phi__core_agreed(mcp)) return PHI_MISUSE;
    return phi__post_notification(mcp, method, params, false);
}

PHI__FN void phi__mcp_answer(phi_mcp *mcp, uint64_t ask, phi_str result, int code,
                             const char *message) {
    phi__mcp_ask *a = phi__asked_find(mcp, ask);
    if (a == NULL) return;
    if (a->input)
        phi__asked_got(a->request, a, result, code, message != NULL ? message : "refused");
    else
        phi__asked_reply(mcp, phi__str(a->id, a->id_len), result, code,
                         message != NULL ? message : "Refused");
    phi__asked_free(mcp, a);
}

/* ---- functions for links ---- */

PHI__FN void phi__mcp_up(phi_mcp *mcp) {
    phi__core_enter(mcp);
    if (mcp->phase == PHI__OPENING) phi__hs_begin(mcp, phi__life_agreed);
    (void)phi__core_leave(mcp);
}

PHI__FN void phi__mcp_drained(phi_mcp *mcp) {
    phi__core_enter(mcp);
    (void)phi__req_flush(mcp, phi__core_agreed(mcp));
    (void)phi__core_leave(mcp);
}

PHI__FN bool phi__mcp_message(phi_mcp *mcp, phi_str json, phi__out *from) {
    phi__core_enter(mcp);
    phi_arena arena;
    phi_json *root;
    if (!phi__incoming_long(mcp, json)) {
        phi_arena_init(&arena, &mcp->memory, 0);
        phi_status status = phi__rpc_parse(&arena, json, &root);
        if (status != PHI_OK) {
            /* The request that the message answers fails now, not at its deadline. */
            phi__req *r = status != PHI_PARSE ? phi__incoming_whose(mcp, json) : NULL;
            if (r != NULL)
                phi__req_fail(r, status,
                              status == PHI_NO_MEMORY ? "no memory for the answer"
                                                      : "the answer is nested too deeply");
            else
                (void)phi__parts_warn(mcp, "a message that is no JSON (%s): %.*s",
                                      phi_status_text(status), (int)phi__min(json.len, 80),
                                      json.at);
        } else if (!phi_json_is(root, PHI_JSON_ARRAY))
            phi__incoming_one(mcp, &arena, root, from);
        else
            phi__incoming_batch(mcp, &arena, root, from);
        phi_arena_free(&arena);
    }
    return phi__core_leave(mcp);
}

PHI__FN bool phi__mcp_warn(phi_mcp *mcp, const char *message) {
    phi__core_enter(mcp);
    (void)phi__parts_warn(mcp, "%s", message);
    return phi__core_leave(mcp);
}

PHI__FN bool phi__mcp_cut(phi_mcp *mcp, phi_str beginning) {
    static const char words[] = "a message of more than %llu bytes is left out";
    unsigned long long most = mcp->desc.max_message_bytes;
    phi__core_enter(mcp);
    phi__req *r = phi__incoming_whose(mcp, beginning);
    if (r == NULL)
        (void)phi__parts_warn(mcp, words, most);
    else
        phi__req_fail(r, PHI_TOO_BIG, words, most);
    return phi__core_leave(mcp);
}

PHI__FN bool phi__mcp_lost(phi_mcp *mcp, phi__out *out, phi_status status, int http_status,
                           phi_str body, const char *message) {
    phi__req *r = phi__req_of(out);
    if (r == NULL) return true;
    phi__core_enter(mcp);
    phi_json *root = NULL;
    phi_arena arena = phi__arena_of(&mcp->memory, 0);
    phi__rpc rpc = PHI_ZERO;
    mcp->agreed.http_status = http_status;
    if (body.len > 0 && phi__rpc_parse(&arena, body, &root) == PHI_OK)
        (void)phi__rpc_read(&arena, root, &rpc);
    r->item.sent = false;
    if (rpc.kind == PHI__RPC_ERROR)
        phi__incoming_error(r, &rpc);
    else
        phi__req_fail(r, status != PHI_OK ? status : PHI_NETWORK, "%s", message);
    phi_arena_free(&arena);
    return phi__core_leave(mcp);
}

PHI__FN void phi__mcp_wait(phi_mcp *mcp, bool waits) {
    if (mcp->life.waits && !waits && phi__life_state(mcp) == PHI_MCP_CONNECTING)
        phi__life_limit(mcp);
    mcp->life.waits = waits;
}
