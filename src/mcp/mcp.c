/* mcp.c - the public face of a connection. */
#include "mcp/mcp.h"

#include "loop/state_in.h"
#include "mcp/mcp_core_in.h"
#include "mcp/mcp_life_in.h"
#include "mcp/mcp_parts_in.h"
#include "mcp/mcp_requests_in.h"
#include "text/json_in.h"

/* ---- connections ---- */

PHI_API void phi_mcp_close(phi_mcp *mcp) {
    if (mcp != NULL) phi__mcp_life_close(mcp);
}

PHI_API phi_status phi_mcp_reconnect(phi_mcp *mcp) {
    if (mcp == NULL) return PHI_BAD_ARG;
    if (mcp->phase != PHI__MCP_SHUT && mcp->phase != PHI__MCP_BROKEN)
        return phi__error(mcp->rt, PHI_MISUSE,
                          "phi_mcp_reconnect: it is connected, or about to be");
    return phi__mcp_life_open(mcp);
}

PHI_API void phi_mcp_free(phi_mcp *mcp) {
    if (mcp == NULL || mcp->dead) return;
    if (phi__mcp_parts_held(mcp)) {
        (void)phi__error(mcp->rt, PHI_MISUSE,
                         "phi_mcp_free: agents have its tools: free them first");
        return;
    }
    phi__mcp_core_enter(mcp);
    phi__mcp_life_end(mcp);
    (void)phi__mcp_core_leave(mcp);
}

PHI_API phi_mcp_info phi_mcp_get_info(const phi_mcp *mcp) {
    phi_mcp_info info;
    memset(&info, 0, sizeof info);
    info.state = PHI_MCP_CLOSED;
    info.message = "";
    if (mcp == NULL) return info;
    info.state = phi__mcp_life_state(mcp);
    info.message = mcp->life.error;
    info.name = mcp->agreed.name;
    info.title = mcp->agreed.title;
    info.version = mcp->agreed.version;
    info.instructions = mcp->agreed.instructions;
    info.capabilities = mcp->agreed.capabilities_text;
    if (mcp->agreed.era != NULL) info.era = phi_str_of(mcp->agreed.era->version);
    info.restarts = mcp->life.restarts;
    if (mcp->link == NULL) return info;
    if (mcp->link->table->info != NULL) mcp->link->table->info(mcp->link, &info);
    if (mcp->link->table->errors != NULL) info.stderr_text = mcp->link->table->errors(mcp->link);
    return info;
}

/* ---- requests ---- */

/* A request of the host's. */
typedef struct phi__mcp_asking {
    phi_mcp *mcp;
    phi_mcp_send_desc request;
} phi__mcp_asking;

static void phi__mcp_asking_progress(void *ctx, double progress, double total, phi_str message) {
    phi__mcp_asking *a = (phi__mcp_asking *)ctx;
    a->request.progress_fn(a->request.user_data, progress, total, message);
}

static void phi__mcp_asking_done(void *ctx, const phi_mcp_reply *reply) {
    phi__mcp_asking *a = (phi__mcp_asking *)ctx;
    phi_mcp *mcp = a->mcp;
    phi_mcp_send_desc request = a->request;
    phi__free(&mcp->memory, a, sizeof *a);
    if (!mcp->dead) request.done_fn(request.user_data, reply);
}

/* For the header Mcp-Name, of the methods that have it. */
static phi_str phi__mcp_asking_name(const char *method, const phi_json *params) {
    if (strcmp(method, "resources/read") == 0)
        return phi__json_text_of(phi_json_get(params, "uri"));
    if (strcmp(method, "tools/call") == 0 || strcmp(method, "prompts/get") == 0)
        return phi__json_text_of(phi_json_get(params, "name"));
    return phi__str(NULL, 0);
}

/* Takes _meta out of the params, which then are text again. */
static phi_status phi__mcp_asking_params(phi_arena *arena, phi_str text,
                                         phi__mcp_request_desc *desc) {
    phi_json *root, *meta;
    phi_status status;
    if (phi__str_trim(text).len == 0) return PHI_OK;
    status = phi_json_parse(arena, text, 0, &root, NULL);
    if (status != PHI_OK) return status == PHI_NO_MEMORY ? status : PHI_BAD_ARG;
    if (!phi_json_is(root, PHI_JSON_OBJECT)) return PHI_BAD_ARG;
    desc->name = phi__mcp_asking_name(desc->method, root);
    meta = phi_json_remove(root, "_meta");
    if (meta != NULL && phi_json_is(meta, PHI_JSON_OBJECT)) {
        (void)phi_json_remove(meta, "progressToken"); /* ours */
        status = phi_json_write(arena, meta, 0, &desc->meta);
        if (status == PHI_OK) desc->meta = phi__str(desc->meta.at + 1, desc->meta.len - 2);
    }
    return status == PHI_OK ? phi_json_write(arena, root, 0, &desc->params) : status;
}

static phi_status phi__mcp_asking_send(phi_mcp *mcp, const phi_mcp_send_desc *request,
                                       phi_arena *arena, phi__mcp_request **out) {
    phi__mcp_request_desc desc;
    phi__mcp_asking *a;
    phi_status status;
    memset(&desc, 0, sizeof desc);
    desc.method = request->method;
    status = phi__mcp_asking_params(arena, request->params, &desc);
    if (status != PHI_OK) return status;
    a = (phi__mcp_asking *)phi__alloc(&mcp->memory, sizeof *a);
    if (a == NULL) return PHI_NO_MEMORY;
    a->mcp = mcp;
    a->request = *request;
    desc.timeout_ms = request->timeout_ms;
    desc.progress = request->progress_fn != NULL ? phi__mcp_asking_progress : NULL;
    desc.done = phi__mcp_asking_done;
    desc.ctx = a;
    status = phi__mcp_requests_new(mcp, &desc, false, out);
    if (status != PHI_OK) phi__free(&mcp->memory, a, sizeof *a);
    return status;
}

PHI_API phi_status phi_mcp_send(phi_mcp *mcp, const phi_mcp_send_desc *request, uint64_t *id) {
    phi__mcp_request *r = NULL;
    phi_status status;
    phi_arena arena;
    if (mcp == NULL) return PHI_BAD_ARG;
    if (request == NULL || request->method == NULL || request->method[0] == '\0' ||
        request->done_fn == NULL)
        return phi__error(mcp->rt, PHI_BAD_ARG, "phi_mcp_send: method or done is missing");
    if (mcp->phase != PHI__MCP_LIVE)
        return phi__error(mcp->rt, PHI_MISUSE, "phi_mcp_send: the connection is not ready");
    phi_arena_init(&arena, &mcp->memory, 0);
    status = phi__mcp_asking_send(mcp, request, &arena, &r);
    phi_arena_free(&arena);
    if (status == PHI_BAD_ARG)
        return phi__error(mcp->rt, status, "phi_mcp_send: params: expected a JSON object");
    if (status != PHI_OK)
        return phi__error(mcp->rt, status, "phi_mcp_send: %s", phi_status_text(status));
    if (id != NULL) *id = r->first_id;
    return PHI_OK;
}

PHI__FN void phi__mcp_asking_cancel(phi_mcp *mcp, uint64_t id) {
    phi__mcp_request *r = phi__mcp_requests_first(mcp, id);
    phi__mcp_asking *a;
    if (r == NULL || r->desc.done != phi__mcp_asking_done) return;
    a = (phi__mcp_asking *)r->desc.ctx;
    phi__mcp_requests_cancel(r, "cancelled by the host");
    phi__free(&mcp->memory, a, sizeof *a);
}
