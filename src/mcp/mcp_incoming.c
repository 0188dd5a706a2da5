/* mcp_incoming.c - messages of the server. */
#include "mcp/mcp_incoming_in.h"

#include "loop/state_in.h"
#include "mcp/mcp_asked_in.h"
#include "mcp/mcp_parts_in.h"
#include "mcp/mcp_requests_in.h"
#include "mcp/mcp_rpc_in.h"
#include "mcp/mcp_slices_in.h"
#include "mcp/mcp_tasks_in.h"

#include "text/json_fields_in.h"

#include <stdio.h>

enum {
    PHI__MCP_INCOMING_LEAVES = 8 /* values of a message before its id */
};

/* A long answer on its way into a tree. */
struct phi__mcp_reading {
    phi__mcp_request *request;
    phi__mcp_slices slices;
};

/* ---- answers ---- */

static void phi__mcp_incoming_error(phi__mcp_request *r, const phi__mcp_rpc *rpc) {
    phi_mcp_reply reply;
    memset(&reply, 0, sizeof reply);
    reply.status = PHI_REFUSED;
    reply.code = rpc->code;
    reply.message = rpc->message;
    reply.data = rpc->data;
    phi__mcp_requests_off(r);
    phi__mcp_requests_finish(r, &reply);
}

static bool phi__mcp_incoming_may_ask(phi_str method) {
    return phi__str_is(method, "tools/call") || phi__str_is(method, "prompts/get") ||
           phi__str_is(method, "resources/read");
}

static void phi__mcp_incoming_result(phi__mcp_request *r, const phi_json *result) {
    const phi__mcp_era *era = r->mcp->agreed.era;
    phi_str type = phi_json_str(phi_json_get(result, "resultType"), "");
    phi_mcp_reply reply;
    char words[120];
    phi__mcp_requests_off(r);
    if (!phi_json_is(result, PHI_JSON_OBJECT)) {
        phi__mcp_requests_fail(r, PHI_PARSE, "the result is no object");
        return;
    }
    if (era != NULL && era->result_type && type.len > 0 && !phi__str_is(type, "complete")) {
        if (phi__str_is(type, "input_required") && phi__mcp_incoming_may_ask(r->item.out.method)) {
            (void)phi__mcp_asked_input(r, result);
            return;
        }
        if (phi__str_is(type, "task") && phi__str_is(r->item.out.method, "tools/call") &&
            phi__mcp_tasks_begin(r, result))
            return;
        (void)snprintf(words, sizeof words, "a result of the type \"%.*s\", which is unknown",
                       (int)phi__min(type.len, 60), type.at);
        phi__mcp_requests_fail(r, PHI_PARSE, words);
        return;
    }
    if (r->as_task && phi_json_get(result, "task") != NULL &&
        phi__mcp_tasks_begin(r, phi_json_get(result, "task")))
        return;
    memset(&reply, 0, sizeof reply);
    reply.result = result;
    phi__mcp_requests_finish(r, &reply);
}

static void phi__mcp_incoming_answer(phi_mcp *mcp, const phi__mcp_rpc *rpc) {
    phi__mcp_request *r = NULL;
    uint64_t id = 0;
    bool ours = phi__mcp_rpc_number(rpc->id, &id);
    if (ours) r = phi__mcp_requests_find(mcp, id);
    if (r == NULL) {
        if (ours && phi__mcp_requests_issued(mcp, id)) return; /* late, or twice */
        if (rpc->id.len == 0)
            (void)phi__mcp_parts_warn(mcp, "an error without an id: %.*s",
                                      (int)phi__min(rpc->message.len, 200), rpc->message.at);
        else
            (void)phi__mcp_parts_warn(mcp, "an answer to nothing: its id is %.*s",
                                      (int)phi__min(rpc->id.len, 60), rpc->id.at);
        return;
    }
    mcp->agreed.http_status = 0;
    if (rpc->kind == PHI__MCP_RPC_RESULT)
        phi__mcp_incoming_result(r, rpc->result);
    else
        phi__mcp_incoming_error(r, rpc);
}

/* ---- notifications ---- */

static void phi__mcp_incoming_cancelled(phi_mcp *mcp, phi_arena *arena, const phi_json *params) {
    const phi_json *node = phi_json_get(params, "requestId");
    phi__mcp_request *r = NULL;
    uint64_t id;
    phi_str text;
    if (node == NULL || phi_json_write(arena, node, 0, &text) != PHI_OK) return;
    if (mcp->agreed.era == NULL || mcp->agreed.era->asks) {
        phi__mcp_asked_cancelled(mcp, text);
        return;
    }
    /* The server ends a stream of ours. */
    if (phi__mcp_rpc_number(text, &id)) r = phi__mcp_requests_find(mcp, id);
    if (r == NULL || !r->desc.stream) return;
    phi__mcp_requests_off(r);
    phi__mcp_requests_fail(r, PHI_NETWORK, "the server has ended the stream");
}

static void phi__mcp_incoming_notification(phi_mcp *mcp, phi_arena *arena,
                                           const phi__mcp_rpc *rpc) {
    if (phi__str_is(rpc->method, "notifications/progress"))
        phi__mcp_requests_progress(mcp, rpc->params);
    else if (phi__str_is(rpc->method, "notifications/cancelled"))
        phi__mcp_incoming_cancelled(mcp, arena, rpc->params);
    else
        (void)phi__mcp_parts_notified(mcp, rpc->method, rpc->params);
}

/* ---- all ---- */

/* The request whose answer it was meant to be need not wait for its deadline. */
static void phi__mcp_incoming_invalid(phi_mcp *mcp, const phi__mcp_rpc *rpc) {
    phi__mcp_request *r = NULL;
    uint64_t id;
    char words[120];
    if (rpc->method.len == 0 && phi__mcp_rpc_number(rpc->id, &id))
        r = phi__mcp_requests_find(mcp, id);
    if (r == NULL) {
        (void)phi__mcp_parts_warn(mcp, "a message that is none: %s", rpc->fault);
        return;
    }
    (void)snprintf(words, sizeof words, "the answer is no message: %s", rpc->fault);
    phi__mcp_requests_fail(r, PHI_PARSE, words);
}

static void phi__mcp_incoming_one(phi_mcp *mcp, phi_arena *arena, const phi_json *node,
                                  phi__mcp_out *from) {
    phi__mcp_rpc rpc;
    if (!phi__mcp_rpc_read(arena, node, &rpc)) {
        (void)phi__mcp_parts_warn(mcp, "no memory for a message");
        return;
    }
    switch (rpc.kind) {
    case PHI__MCP_RPC_RESULT:
    case PHI__MCP_RPC_ERROR: phi__mcp_incoming_answer(mcp, &rpc); return;
    case PHI__MCP_RPC_REQUEST:
        (void)phi__mcp_asked_request(mcp, &rpc, phi__mcp_requests_of(from));
        return;
    case PHI__MCP_RPC_NOTIFICATION: phi__mcp_incoming_notification(mcp, arena, &rpc); return;
    case PHI__MCP_RPC_INVALID: phi__mcp_incoming_invalid(mcp, &rpc); return;
    }
}

/* The request that a long text answers: by an id among its first values. A request of the server's
   may have the same id. */
static phi__mcp_request *phi__mcp_incoming_whose(phi_mcp *mcp, phi_str text) {
    phi__mcp_request *r = NULL;
    phi__json_fields fields;
    phi_str path, value;
    uint64_t id;
    int leaves = 0;
    phi__json_fields_init(&fields, &mcp->memory);
    while (leaves++ < PHI__MCP_INCOMING_LEAVES &&
           phi__json_fields_next(&fields, text, &path, &value) > 0) {
        if (phi__str_is(path, "/id") && phi__mcp_rpc_number(value, &id))
            r = phi__mcp_requests_find(mcp, id);
        else if (phi__str_is(path, "/method") || phi__str_starts(path, "/params")) {
            r = NULL;
            break;
        } else if (r != NULL)
            break;
    }
    phi__json_fields_free(&fields);
    return r;
}

/* A text that cannot be read; where it is an answer, its request need not wait for the deadline. */
static void phi__mcp_incoming_bad(phi_mcp *mcp, phi_str json, phi_status status) {
    phi__mcp_request *r = status != PHI_PARSE ? phi__mcp_incoming_whose(mcp, json) : NULL;
    if (r != NULL)
        phi__mcp_requests_fail(r, status,
                               status == PHI_NO_MEMORY ? "no memory for the answer"
                                                       : "the answer is nested too deeply");
    else
        (void)phi__mcp_parts_warn(mcp, "a message that is no JSON (%s): %.*s",
                                  phi_status_text(status), (int)phi__min(json.len, 80), json.at);
}

/* ---- long answers ---- */

static void phi__mcp_incoming_drop(phi__mcp_request *r) {
    struct phi__mcp_reading *reading = r->reading;
    phi_mcp *mcp = r->mcp;
    r->reading = NULL;
    phi__mcp_slices_end(&reading->slices);
    phi__free(&mcp->memory, reading, sizeof *reading);
}

/* It is read: the answer of its request, which keeps the memory until it has ended. */
static void phi__mcp_incoming_read(phi__mcp_request *r, phi_status status, const phi_json *root) {
    phi_mcp *mcp = r->mcp;
    phi_arena arena = r->reading->slices.arena;
    phi__mcp_rpc rpc;
    phi_arena_init(&r->reading->slices.arena, &mcp->memory, 0); /* the tree is ours */
    phi__mcp_incoming_drop(r);
    mcp->agreed.http_status = 0;
    if (status != PHI_OK)
        phi__mcp_requests_fail(r, status, "the answer cannot be read");
    else if (!phi__mcp_rpc_read(&arena, root, &rpc))
        phi__mcp_requests_fail(r, PHI_NO_MEMORY, "no memory for the answer");
    else if (rpc.kind == PHI__MCP_RPC_RESULT)
        phi__mcp_incoming_result(r, rpc.result);
    else if (rpc.kind == PHI__MCP_RPC_ERROR)
        phi__mcp_incoming_error(r, &rpc);
    else
        phi__mcp_requests_fail(r, PHI_PARSE, "the answer is no message");
    phi_arena_free(&arena);
}

static void phi__mcp_incoming_sliced(phi__mcp_slices *slices, phi_status status, phi_json *root) {
    phi__mcp_request *r = PHI__OWNER(slices, struct phi__mcp_reading, slices)->request;
    phi_mcp *mcp = r->mcp;
    phi__mcp_core_enter(mcp);
    if (status == PHI_BUSY && phi__mcp_requests_renew(r, false) != PHI_OK) status = PHI_NO_MEMORY;
    if (status != PHI_BUSY) phi__mcp_incoming_read(r, status, root);
    (void)phi__mcp_core_leave(mcp);
}

/* Reads a long answer from the next step on. False: no memory. */
static bool phi__mcp_incoming_begin(phi__mcp_request *r, phi_str json) {
    phi_mcp *mcp = r->mcp;
    struct phi__mcp_reading *reading =
        (struct phi__mcp_reading *)phi__alloc(&mcp->memory, sizeof *reading);
    if (reading == NULL) return false;
    reading->request = r;
    reading->slices.sliced = phi__mcp_incoming_sliced;
    if (phi__mcp_slices_begin(&reading->slices, mcp->rt, &mcp->memory, json, true) != PHI_OK) {
        phi__free(&mcp->memory, reading, sizeof *reading);
        return false;
    }
    r->reading = reading;
    if (phi__mcp_requests_renew(r, false) != PHI_OK) {
        phi__mcp_incoming_drop(r);
        return false;
    }
    phi__mcp_slices_go(&reading->slices);
    phi__mcp_requests_off(r);
    return true;
}

/* Whether it is a long answer: it is read in slices. */
static bool phi__mcp_incoming_long(phi_mcp *mcp, phi_str json) {
    phi__mcp_request *r = NULL;
    if (json.len > PHI__MCP_SLICES_WHOLE) r = phi__mcp_incoming_whose(mcp, json);
    if (r == NULL) return false;
    if (!phi__mcp_incoming_begin(r, json))
        phi__mcp_requests_fail(r, PHI_NO_MEMORY, "no memory for the answer");
    return true;
}

PHI__FN void phi__mcp_incoming_init(phi_mcp *mcp) {
    mcp->requests.drop_reading = phi__mcp_incoming_drop;
}

/* ---- all texts ---- */

/* A batch of older eras. An answer in it ends the request on whose stream it came. */
static void phi__mcp_incoming_batch(phi_mcp *mcp, phi_arena *arena, const phi_json *list,
                                    phi__mcp_out *from) {
    const phi__mcp_request *r = phi__mcp_requests_of(from);
    uint64_t id = r != NULL ? r->id : 0;
    phi_json_iter it = phi_json_each(list);
    const phi_json *node;
    while (!mcp->dead && (node = phi_json_next(&it)) != NULL) {
        if (from != NULL && phi__mcp_requests_find(mcp, id) != r) from = NULL;
        phi__mcp_incoming_one(mcp, arena, node, from);
    }
}

PHI__FN void phi__mcp_incoming_text(phi_mcp *mcp, phi_str json, phi__mcp_out *from) {
    phi_arena arena;
    phi_json *root;
    phi_status status;
    if (phi__mcp_incoming_long(mcp, json)) return;
    phi_arena_init(&arena, &mcp->memory, 0);
    status = phi__mcp_rpc_parse(&arena, json, &root);
    if (status != PHI_OK)
        phi__mcp_incoming_bad(mcp, json, status);
    else if (!phi_json_is(root, PHI_JSON_ARRAY))
        phi__mcp_incoming_one(mcp, &arena, root, from);
    else
        phi__mcp_incoming_batch(mcp, &arena, root, from);
    phi_arena_free(&arena);
}

PHI__FN void phi__mcp_incoming_cut(phi_mcp *mcp, phi_str beginning) {
    unsigned long long most = mcp->desc.max_message_bytes;
    phi__mcp_request *r = phi__mcp_incoming_whose(mcp, beginning);
    char words[96];
    (void)snprintf(words, sizeof words, "a message of more than %llu bytes is left out", most);
    if (r == NULL)
        (void)phi__mcp_parts_warn(mcp, "%s", words);
    else
        phi__mcp_requests_fail(r, PHI_TOO_BIG, words);
}

PHI__FN void phi__mcp_incoming_lost(phi_mcp *mcp, phi__mcp_request *r, phi_status status,
                                    int http_status, phi_str body, const char *message) {
    phi_arena arena;
    phi_json *root = NULL;
    phi__mcp_rpc rpc;
    phi_arena_init(&arena, &mcp->memory, 0);
    memset(&rpc, 0, sizeof rpc);
    mcp->agreed.http_status = http_status;
    if (body.len > 0 && phi__mcp_rpc_parse(&arena, body, &root) == PHI_OK)
        (void)phi__mcp_rpc_read(&arena, root, &rpc);
    r->item.sent = false;
    if (rpc.kind == PHI__MCP_RPC_ERROR)
        phi__mcp_incoming_error(r, &rpc);
    else
        phi__mcp_requests_fail(r, status != PHI_OK ? status : PHI_NETWORK, message);
    phi_arena_free(&arena);
}
