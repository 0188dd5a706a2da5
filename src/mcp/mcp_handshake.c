/* mcp_handshake.c - server/discover, initialize, and the settings that their answers give. */
#include "mcp/mcp_handshake_in.h"

#include "mcp/mcp_parts_in.h"
#include "mcp/mcp_post_in.h"
#include "mcp/mcp_requests_in.h"
#include "mcp/mcp_rpc_in.h"
#include "text/json_in.h"

#include <stdio.h>

enum { PHI__MCP_HANDSHAKE_PROBE_MS = 3000 };

static void phi__mcp_handshake_initialize(phi_mcp *mcp);
static void phi__mcp_handshake_probe(phi_mcp *mcp, const phi__mcp_era *era);

/* ---- ends ---- */

static void phi__mcp_handshake_fail(phi_mcp *mcp, phi_status status, const char *message) {
    mcp->agreed.era = NULL;
    mcp->agreed.ended(mcp, status, message);
}

PHI__FN void phi__mcp_handshake_forget(phi_mcp *mcp) {
    phi__mcp_agreed *g = &mcp->agreed;
    phi_str none = phi__str("", 0);
    g->era = NULL;
    g->capabilities = NULL;
    g->capabilities_text = g->name = g->title = g->version = g->instructions = g->meta = none;
    phi_arena_free(&g->arena);
}

/* ---- what a server says of itself ---- */

static bool phi__mcp_handshake_copy(phi_arena *arena, const phi_json *node, phi_str *out) {
    return phi__arena_str(arena, phi_json_str(node, ""), out);
}

static bool phi__mcp_handshake_read(phi_mcp *mcp, const phi_json *result) {
    phi__mcp_agreed *g = &mcp->agreed;
    const phi_json *caps = phi_json_get(result, "capabilities");
    const phi_json *info = phi_json_get(result, "serverInfo");
    if (info == NULL)
        info = phi_json_get(phi_json_get(result, "_meta"), "io.modelcontextprotocol/serverInfo");
    g->capabilities = phi_json_is(caps, PHI_JSON_OBJECT) ? phi_json_copy(&g->arena, caps)
                                                         : phi_json_new_object(&g->arena);
    return g->capabilities != NULL &&
           phi_json_write(&g->arena, g->capabilities, 0, &g->capabilities_text) == PHI_OK &&
           phi__mcp_handshake_copy(&g->arena, phi_json_get(info, "name"), &g->name) &&
           phi__mcp_handshake_copy(&g->arena, phi_json_get(info, "title"), &g->title) &&
           phi__mcp_handshake_copy(&g->arena, phi_json_get(info, "version"), &g->version) &&
           phi__mcp_handshake_copy(&g->arena, phi_json_get(result, "instructions"),
                                   &g->instructions);
}

static void phi__mcp_handshake_agree(phi_mcp *mcp, const phi__mcp_era *era,
                                     const phi_json *result) {
    mcp->agreed.era = era;
    if (!phi__mcp_handshake_read(mcp, result)) {
        phi__mcp_handshake_fail(mcp, PHI_NO_MEMORY, "no memory");
        return;
    }
    mcp->agreed.legacy = era->handshake;
    mcp->link->table->agreed(mcp->link, era->version, !era->handshake);
    if (era->handshake) {
        phi_status status =
            phi__mcp_post_notification(mcp, "notifications/initialized", phi__str("", 0), true);
        if (status != PHI_OK) {
            phi__mcp_handshake_fail(mcp, status, "notifications/initialized could not be sent");
            return;
        }
        mcp->link->table->listen(mcp->link);
    }
    mcp->agreed.ended(mcp, PHI_OK, "");
}

/* ---- who we are ---- */

static void phi__mcp_handshake_put_client(phi_mcp *mcp, phi__buf *buf) {
    phi__buf_text(buf, "{\"name\":");
    phi__json_write_str(buf, phi_str_of(mcp->desc.client_name));
    phi__buf_text(buf, ",\"version\":");
    phi__json_write_str(buf, phi_str_of(mcp->desc.client_version));
    phi__buf_char(buf, '}');
}

/* The members of _meta that each request of the modern era carries. */
static phi_status phi__mcp_handshake_meta(phi_mcp *mcp, const phi__mcp_era *era) {
    phi__mcp_agreed *g = &mcp->agreed;
    phi_str caps;
    phi_status status = phi__mcp_parts_capabilities(mcp, &g->arena, &caps);
    phi__buf buf;
    if (status != PHI_OK) return status;
    phi__buf_init(&buf, &mcp->memory);
    phi__buf_printf(&buf, "\"io.modelcontextprotocol/protocolVersion\":\"%s\"", era->version);
    phi__buf_text(&buf, ",\"io.modelcontextprotocol/clientInfo\":");
    phi__mcp_handshake_put_client(mcp, &buf);
    phi__buf_text(&buf, ",\"io.modelcontextprotocol/clientCapabilities\":");
    phi__buf_add_str(&buf, caps);
    if (mcp->desc.log_level != NULL) {
        phi__buf_text(&buf, ",\"io.modelcontextprotocol/logLevel\":");
        phi__json_write_str(&buf, phi_str_of(mcp->desc.log_level));
    }
    if (buf.failed || !phi__arena_str(&g->arena, phi__buf_str(&buf), &g->meta))
        status = PHI_NO_MEMORY;
    phi__buf_free(&buf);
    return status;
}

/* ---- initialize ---- */

static void phi__mcp_handshake_initialized(void *ctx, const phi_mcp_reply *reply) {
    phi_mcp *mcp = (phi_mcp *)ctx;
    phi_str version = phi_json_str(phi_json_get(reply->result, "protocolVersion"), "");
    const phi__mcp_era *era = phi__mcp_eras_find(version);
    char words[200];
    if (mcp->dead || mcp->phase != PHI__MCP_INITIALIZING) return;
    if (reply->status == PHI_REFUSED && (mcp->agreed.legacy || mcp->agreed.silent) &&
        mcp->desc.era == NULL && !mcp->agreed.second_try) {
        mcp->agreed.legacy = false; /* that was wrong, or is so no more */
        mcp->agreed.second_try = true;
        phi__mcp_handshake_probe(mcp, phi__mcp_eras_modern());
        return;
    }
    if (reply->status != PHI_OK)
        (void)snprintf(words, sizeof words, "initialize: %.*s",
                       (int)phi__min(reply->message.len, 160), reply->message.at);
    else if (era == NULL || !era->handshake)
        (void)snprintf(words, sizeof words,
                       "initialize: the server speaks version \"%.*s\": expected 2024-11-05, "
                       "2025-03-26, 2025-06-18 or 2025-11-25",
                       (int)phi__min(version.len, 40), version.at);
    else if (mcp->desc.era != NULL && !phi__str_is(version, mcp->desc.era))
        (void)snprintf(words, sizeof words, "initialize: the server speaks %s, and not %s",
                       era->version, mcp->desc.era);
    else {
        phi__mcp_handshake_agree(mcp, era, reply->result);
        return;
    }
    phi__mcp_handshake_fail(mcp, reply->status != PHI_OK ? reply->status : PHI_UNSUPPORTED, words);
}

static phi_status phi__mcp_handshake_hello(phi_mcp *mcp, const char *version, phi__buf *params) {
    phi_arena arena;
    phi_str caps;
    phi_status status;
    phi_arena_init(&arena, &mcp->memory, 256);
    status = phi__mcp_parts_capabilities(mcp, &arena, &caps);
    if (status == PHI_OK) {
        phi__buf_printf(params, "{\"protocolVersion\":\"%s\",\"capabilities\":", version);
        phi__buf_add_str(params, caps);
        phi__buf_text(params, ",\"clientInfo\":");
        phi__mcp_handshake_put_client(mcp, params);
        phi__buf_char(params, '}');
        if (params->failed) status = PHI_NO_MEMORY;
    }
    phi_arena_free(&arena);
    return status;
}

static void phi__mcp_handshake_initialize(phi_mcp *mcp) {
    const phi__mcp_era *pinned = mcp->desc.era != NULL
                                     ? phi__mcp_eras_find(phi_str_of(mcp->desc.era))
                                     : phi__mcp_eras_legacy();
    phi__mcp_request_desc desc;
    phi__buf params;
    phi_status status;
    phi__mcp_handshake_forget(mcp);
    mcp->link->table->agreed(mcp->link, NULL, false);
    mcp->phase = PHI__MCP_INITIALIZING;
    mcp->agreed.era = pinned; /* capabilities are those of this era */
    phi__buf_init(&params, &mcp->memory);
    status = phi__mcp_handshake_hello(mcp, pinned->version, &params);
    mcp->agreed.era = NULL;
    memset(&desc, 0, sizeof desc);
    desc.method = "initialize";
    desc.params = phi__buf_str(&params);
    desc.done = phi__mcp_handshake_initialized;
    desc.ctx = mcp;
    if (status == PHI_OK) status = phi__mcp_requests_new(mcp, &desc, true, NULL);
    phi__buf_free(&params);
    if (status != PHI_OK)
        phi__mcp_handshake_fail(mcp, status, "initialize: the request could not be sent");
}

/* ---- server/discover ---- */

/* The newest version of ours in the list; NULL: none. */
static const phi__mcp_era *phi__mcp_handshake_common(const phi_json *versions) {
    const phi__mcp_era *best = NULL;
    phi_json_iter it = phi_json_each(phi_json_is(versions, PHI_JSON_ARRAY) ? versions : NULL);
    const phi_json *node;
    while ((node = phi_json_next(&it)) != NULL) {
        const phi__mcp_era *era = phi__mcp_eras_find(phi_json_str(node, ""));
        if (era != NULL && (best == NULL || strcmp(era->version, best->version) > 0)) best = era;
    }
    return best;
}

/* The server has named its versions. again: the version was refused before. */
static void phi__mcp_handshake_pick(phi_mcp *mcp, const phi_json *versions,
                                    const phi_json *result) {
    const phi__mcp_era *era = phi__mcp_handshake_common(versions);
    if (era != NULL && mcp->desc.era != NULL && strcmp(era->version, mcp->desc.era) != 0)
        era = NULL;
    if (era == NULL)
        phi__mcp_handshake_fail(mcp, PHI_UNSUPPORTED,
                                "server/discover: no version that both sides speak");
    else if (era->handshake)
        phi__mcp_handshake_initialize(mcp);
    else if (result != NULL)
        phi__mcp_handshake_agree(mcp, era, result);
    else if (!mcp->agreed.second_try) {
        mcp->agreed.second_try = true;
        phi__mcp_handshake_probe(mcp, era);
    } else
        phi__mcp_handshake_fail(mcp, PHI_UNSUPPORTED,
                                "server/discover: the server refuses a version that it names");
}

/* Whether an error is one of the modern era's own. */
static bool phi__mcp_handshake_is_modern(int code) {
    return code == PHI__MCP_RPC_VERSION || code == PHI__MCP_RPC_CAPABILITY ||
           code == PHI__MCP_RPC_HEADERS;
}

static void phi__mcp_handshake_refused(phi_mcp *mcp, const phi_mcp_reply *reply) {
    char words[200];
    if (reply->status == PHI_OK) {
        phi__mcp_handshake_fail(mcp, PHI_UNSUPPORTED,
                                "server/discover: the result names no versions");
        return;
    }
    (void)snprintf(words, sizeof words, "server/discover: %.*s",
                   (int)phi__min(reply->message.len, 160), reply->message.at);
    phi__mcp_handshake_fail(mcp, reply->status, words);
}

static void phi__mcp_handshake_probed(void *ctx, const phi_mcp_reply *reply) {
    phi_mcp *mcp = (phi_mcp *)ctx;
    const phi_json *versions = phi_json_get(reply->result, "supportedVersions");
    bool pinned = mcp->desc.era != NULL, lost;
    if (mcp->dead || mcp->phase != PHI__MCP_PROBING) return;
    /* of the network, or for want of a token: asking in another way would be no use */
    lost = reply->status != PHI_OK && reply->status != PHI_REFUSED &&
           reply->status != PHI_TIMEOUT && reply->status != PHI_PARSE &&
           mcp->agreed.http_status < 400;
    if (mcp->agreed.http_status == 401 || mcp->agreed.http_status == 403) lost = true;
    if (reply->status == PHI_OK && phi_json_is(versions, PHI_JSON_ARRAY))
        phi__mcp_handshake_pick(mcp, versions, reply->result);
    else if (reply->code == PHI__MCP_RPC_VERSION)
        phi__mcp_handshake_pick(mcp, phi_json_get(reply->data, "supported"), NULL);
    else if (lost || pinned || phi__mcp_handshake_is_modern(reply->code))
        phi__mcp_handshake_refused(mcp, reply);
    else {
        mcp->agreed.silent = reply->status == PHI_TIMEOUT;
        phi__mcp_handshake_initialize(mcp);
    }
}

static void phi__mcp_handshake_probe(phi_mcp *mcp, const phi__mcp_era *era) {
    phi__mcp_request_desc desc;
    phi_status status;
    phi__mcp_handshake_forget(mcp);
    mcp->phase = PHI__MCP_PROBING;
    mcp->link->table->agreed(mcp->link, era->version, true);
    mcp->agreed.era = era; /* capabilities are those of this era */
    status = phi__mcp_handshake_meta(mcp, era);
    mcp->agreed.era = NULL;
    memset(&desc, 0, sizeof desc);
    desc.method = "server/discover";
    desc.timeout_ms =
        mcp->desc.argv != NULL && mcp->desc.era == NULL ? PHI__MCP_HANDSHAKE_PROBE_MS : 0;
    desc.done = phi__mcp_handshake_probed;
    desc.ctx = mcp;
    if (status == PHI_OK) status = phi__mcp_requests_new(mcp, &desc, true, NULL);
    if (status != PHI_OK)
        phi__mcp_handshake_fail(mcp, status, "server/discover: the request could not be sent");
}

PHI__FN void phi__mcp_handshake_begin(phi_mcp *mcp, void (*ended)(phi_mcp *mcp, phi_status status,
                                                                  const char *message)) {
    const phi__mcp_era *era = mcp->desc.era != NULL ? phi__mcp_eras_find(phi_str_of(mcp->desc.era))
                                                    : phi__mcp_eras_modern();
    mcp->agreed.ended = ended;
    mcp->agreed.second_try = false;
    mcp->agreed.silent = false;
    mcp->agreed.http_status = 0;
    if (era->handshake || (mcp->agreed.legacy && mcp->desc.era == NULL))
        phi__mcp_handshake_initialize(mcp);
    else
        phi__mcp_handshake_probe(mcp, era);
}
