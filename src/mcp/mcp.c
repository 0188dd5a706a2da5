/* mcp.c - the public functions of a connection. */

#include "mcp/mcp_in.h"

#include "loop/loop_in.h"
#include "mcp/mcp_requests_in.h"
#include "mcp/mcp_oauth_in.h"
#include "mcp/mcp_rpc_in.h"
#include "text/text_in.h"
#include "mcp/mcp_oauth_client_in.h"

/* ---- checks and copies a desc ---- */

enum {
    PHI__DESC_MESSAGE = 16777216,
    PHI__DESC_MESSAGE_LEAST = 4096,
    PHI__DESC_PREFIX = 32 /* max. bytes of a prefix; a tool's whole name has at most 64 */
};

static const phi__mcp_standard phi__desc_standards[] = {
    {offsetof(phi_mcp_desc, max_restarts), 3},
    {offsetof(phi_mcp_desc, restart_delay_ms), 500},
    {offsetof(phi_mcp_desc, close_ms), 2000},
    {offsetof(phi_mcp_desc, connect_timeout_ms), 30000},
    {offsetof(phi_mcp_desc, timeout_ms), 30000},
    {offsetof(phi_mcp_desc, max_timeout_ms), 600000},
    {offsetof(phi_mcp_desc, max_list), 2000}};

static bool phi__desc_is_prefix(const char *prefix) {
    size_t i;
    for (i = 0; prefix[i] != '\0'; i++)
        if (!phi__is_alnum(prefix[i]) && prefix[i] != '_' && prefix[i] != '-') return false;
    return i > 0 && i <= PHI__DESC_PREFIX;
}

static const char *phi__desc_refuse_url(const phi_mcp_desc *desc) {
    phi_str url = phi_str_of(desc->url);
    if (!phi__str_starts(url, "http://") && !phi__str_starts(url, "https://"))
        return "url: expected http:// or https://";
    if (desc->header_count > 0 && desc->headers == NULL) return "headers are missing";
    for (size_t i = 0; i < desc->header_count; i++) {
        const phi_mcp_pair *p = &desc->headers[i];
        if (p->name == NULL || p->value == NULL) return "headers: a name or a value is missing";
        if (!phi__fetch_name_fits(phi_str_of(p->name))) return "headers: a name is no token";
        if (!phi__fetch_value_fits(phi_str_of(p->value)))
            return "headers: a control character in a value";
    }
    return desc->oauth != NULL ? phi__oauth_refuse(desc->oauth) : NULL;
}

/* Returns the first fault of the desc, a static text. NULL: none. */
static const char *phi__desc_refuse(const phi_mcp_desc *desc) {
    size_t i;
    if ((desc->argv == NULL) == (desc->url == NULL)) return "expected either argv or url";
    if (desc->argv != NULL && (desc->argv[0] == NULL || desc->argv[0][0] == '\0'))
        return "argv[0] is empty";
#ifdef PHI_NO_PROCESS
    if (desc->argv != NULL) return "argv: left out by PHI_NO_PROCESS";
#endif
    if (desc->era != NULL && phi__eras_find(phi_str_of(desc->era)) == NULL)
        return "era: expected 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25 or 2026-07-28";
    if (desc->name_prefix != NULL && !phi__desc_is_prefix(desc->name_prefix))
        return "name_prefix: expected 1 to 32 letters, digits, _ or -";
    if (desc->log_level != NULL && phi__level_of(phi_str_of(desc->log_level)) < 0)
        return "log_level: expected debug, info, notice, warning, error, critical, alert or "
               "emergency";
    if (desc->max_message_bytes > 0 && desc->max_message_bytes < PHI__DESC_MESSAGE_LEAST)
        return "max_message_bytes: expected at least 4,096";
    if (desc->root_count > 0 && desc->roots == NULL) return "roots are missing";
    for (i = 0; i < desc->root_count; i++)
        if (desc->roots[i].uri == NULL || !phi__str_starts(phi_str_of(desc->roots[i].uri), "file:"))
            return "roots: each needs a uri that begins with file:";
    return desc->url != NULL ? phi__desc_refuse_url(desc) : NULL;
}

static bool phi__desc_list(phi_arena *arena, const char *const **list) {
    const char **copy;
    size_t count = 0;
    if (*list == NULL) return true;
    while ((*list)[count] != NULL) count++;
    copy = (const char **)phi__arena_zero(arena, (count + 1) * sizeof *copy);
    if (copy == NULL) return false;
    for (size_t i = 0; i < count; i++) {
        copy[i] = (*list)[i];
        if (!phi__keep_text(arena, &copy[i])) return false;
    }
    *list = copy;
    return true;
}

static bool phi__desc_roots(phi_arena *arena, phi_mcp_desc *desc) {
    size_t bytes = phi__mul(desc->root_count, sizeof(phi_mcp_root));
    if (desc->root_count == 0) return true;
    phi_mcp_root *copy = (phi_mcp_root *)phi_arena_alloc(arena, bytes);
    if (copy == NULL) return false;
    memcpy(copy, desc->roots, bytes);
    desc->roots = copy;
    for (size_t i = 0; i < desc->root_count; i++)
        if (!phi__keep_text(arena, &copy[i].uri) || !phi__keep_text(arena, &copy[i].name))
            return false;
    return true;
}

/* Makes a deep copy with defaults. False: no memory. */
static bool phi__desc_copy(phi_arena *arena, const phi_mcp_desc *from, phi_mcp_desc *out) {
    const char **texts[] = {&out->name,        &out->url,           &out->cwd,
                            &out->era,         &out->name_prefix,   &out->log_level,
                            &out->client_name, &out->client_version};
    *out = *from;
    phi__mcp_standards(out, phi__desc_standards, PHI__COUNT(phi__desc_standards));
    if (out->max_timeout_ms < out->timeout_ms) out->max_timeout_ms = out->timeout_ms;
    if (out->max_message_bytes == 0) out->max_message_bytes = PHI__DESC_MESSAGE;
    if (out->client_name == NULL) out->client_name = "phi";
    if (out->client_version == NULL) out->client_version = PHI_VERSION;
    return phi__mcp_own_all(arena, texts, PHI__COUNT(texts)) && phi__desc_list(arena, &out->argv) &&
           phi__desc_list(arena, &out->env) &&
           phi__mcp_own_pairs(arena, &out->headers, out->header_count) &&
           phi__desc_roots(arena, out) &&
           (out->oauth == NULL || phi__oauth_copy(arena, out->oauth, &out->oauth));
}

/* ---- a connection over any link ---- */

PHI__FN phi_status phi__mcp_open_new(phi_runtime *rt, const phi_mcp_desc *desc,
                                     phi__mcp_open_link link, const phi__mcp_open_join *joins,
                                     size_t count, phi_mcp **out) {
    const char *fault = phi__desc_refuse(desc);
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
    phi__map_init(&mcp->requests.by_id, &mcp->memory);
    mcp->requests.next_id = 1;
    phi_status status = phi__desc_copy(&mcp->arena, desc, &mcp->desc) ? PHI_OK : PHI_NO_MEMORY;
    for (size_t i = 0; i < count && status == PHI_OK; i++) status = joins[i](mcp);
    if (status == PHI_OK) status = link(mcp, &mcp->link);
    if (status == PHI_OK) status = phi__life_open(mcp);
    if (status == PHI_OK) {
        *out = mcp;
        return PHI_OK;
    }
    mcp->depth = 1; /* makes phi__core_leave free the struct */
    phi__life_end(mcp);
    (void)phi__core_leave(mcp);
    return phi__error(rt, status, "phi_mcp_connect: %s", phi_status_text(status));
}

/* ---- authorizations ---- */

PHI_API phi_status phi_mcp_authorize(phi_mcp *mcp, const char *given) {
    if (mcp == NULL) return PHI_BAD_ARG;
    phi__oauth *oauth =
        mcp->desc.url != NULL && mcp->link != NULL ? phi__mhttp_oauth(mcp->link) : NULL;
    if (oauth == NULL)
        return phi__error(mcp->rt, PHI_MISUSE, "phi_mcp_authorize: the connection has no oauth");
    if (given == NULL) {
        phi__sign_out(oauth);
        return PHI_OK;
    }
    if (mcp->desc.oauth->grant == PHI_MCP_GRANT_ASSERTION)
        return phi__oauth_asserted(oauth, phi_str_of(given));
    return phi__oauth_redirected(oauth, phi_str_of(given));
}

PHI_API void phi_mcp_close(phi_mcp *mcp) {
    if (mcp != NULL) phi__life_close(mcp);
}

PHI_API phi_status phi_mcp_reconnect(phi_mcp *mcp) {
    if (mcp == NULL) return PHI_BAD_ARG;
    if (mcp->phase != PHI__SHUT && mcp->phase != PHI__BROKEN)
        return phi__error(mcp->rt, PHI_MISUSE,
                          "phi_mcp_reconnect: it is connected, or about to be");
    return phi__life_open(mcp); /* cannot fail: the timer's slot is kept */
}

PHI_API void phi_mcp_free(phi_mcp *mcp) {
    if (mcp == NULL || mcp->dead) return;
    if (phi__parts_held(mcp)) {
        (void)phi__error(mcp->rt, PHI_MISUSE,
                         "phi_mcp_free: agents have its tools: free them first");
        return;
    }
    phi__core_enter(mcp);
    phi__life_end(mcp);
    (void)phi__core_leave(mcp);
}

PHI_API phi_mcp_info phi_mcp_get_info(const phi_mcp *mcp) {
    phi_mcp_info info = PHI_ZERO;
    info.state = PHI_MCP_CLOSED;
    info.label = info.message = "";
    if (mcp == NULL) return info;
    info.state = phi__life_state(mcp);
    info.message = mcp->life.error;
    info.name = mcp->agreed.name;
    if (mcp->desc.name != NULL && mcp->desc.name[0] != '\0')
        info.label = mcp->desc.name;
    else if (info.name.len > 0)
        info.label = info.name.at;
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

/* A request of phi_mcp_send. */
typedef struct phi__asking {
    phi_mcp *mcp;
    phi_mcp_send_desc request;
} phi__asking;

static void phi__asking_progress(void *ctx, double progress, double total, phi_str message) {
    phi__asking *a = (phi__asking *)ctx;
    a->request.progress_fn(a->request.user_data, progress, total, message);
}

static void phi__asking_done(void *ctx, const phi_mcp_reply *reply) {
    phi__asking *a = (phi__asking *)ctx;
    phi_mcp *mcp = a->mcp;
    phi_mcp_send_desc request = a->request;
    phi__free(&mcp->memory, a, sizeof *a);
    if (!mcp->dead) request.done_fn(request.user_data, reply);
}

/* Returns the value of the header Mcp-Name; empty if the method has none. */
static phi_str phi__asking_name(const char *method, const phi_json *params) {
    if (strcmp(method, "resources/read") == 0) return phi__records_get_str(params, "uri");
    if (strcmp(method, "tools/call") == 0 || strcmp(method, "prompts/get") == 0)
        return phi__records_get_str(params, "name");
    return phi__str(NULL, 0);
}

/* Splits the params in `text`: sets desc->meta to the members of _meta, and desc->params to the
   other params, both as JSON text. Also sets desc->name. PHI_BAD_ARG: the text is not a JSON
   object. */
static phi_status phi__asking_params(phi_arena *arena, phi_str text, phi__req_desc *desc) {
    phi_json *root;
    if (phi__str_trim(text).len == 0) return PHI_OK;
    phi_status status = phi_json_parse(arena, text, 0, &root, NULL);
    if (status != PHI_OK) return status == PHI_NO_MEMORY ? status : PHI_BAD_ARG;
    if (!phi_json_is(root, PHI_JSON_OBJECT)) return PHI_BAD_ARG;
    desc->name = phi__asking_name(desc->method, root);
    phi_json *meta = phi_json_remove(root, "_meta");
    if (meta != NULL && phi_json_is(meta, PHI_JSON_OBJECT)) {
        (void)phi_json_remove(meta, "progressToken"); /* this library sets its own token */
        status = phi_json_write(arena, meta, 0, &desc->meta);
        if (status == PHI_OK) desc->meta = phi__str(desc->meta.at + 1, desc->meta.len - 2);
    }
    return status == PHI_OK ? phi_json_write(arena, root, 0, &desc->params) : status;
}

static phi_status phi__asking_send(phi_mcp *mcp, const phi_mcp_send_desc *request, phi_arena *arena,
                                   phi__req **out) {
    phi__asking *a;
    phi__req_desc desc = PHI_ZERO;
    desc.method = request->method;
    phi_status status = phi__asking_params(arena, request->params, &desc);
    if (status != PHI_OK) return status;
    a = (phi__asking *)phi__alloc(&mcp->memory, sizeof *a);
    if (a == NULL) return PHI_NO_MEMORY;
    a->mcp = mcp;
    a->request = *request;
    desc.timeout_ms = request->timeout_ms;
    desc.progress = request->progress_fn != NULL ? phi__asking_progress : NULL;
    desc.done = phi__asking_done;
    desc.ctx = a;
    status = phi__req_new(mcp, &desc, false, out);
    if (status != PHI_OK) phi__free(&mcp->memory, a, sizeof *a);
    return status;
}

PHI_API phi_status phi_mcp_send(phi_mcp *mcp, const phi_mcp_send_desc *request, uint64_t *id) {
    phi__req *r = NULL;
    if (mcp == NULL) return PHI_BAD_ARG;
    if (request == NULL || request->method == NULL || request->method[0] == '\0' ||
        request->done_fn == NULL)
        return phi__error(mcp->rt, PHI_BAD_ARG, "phi_mcp_send: method or done is missing");
    if (mcp->phase != PHI__LIVE)
        return phi__error(mcp->rt, PHI_MISUSE, "phi_mcp_send: the connection is not ready");
    phi_arena arena = phi__arena_of(&mcp->memory, 0);
    phi_status status = phi__asking_send(mcp, request, &arena, &r);
    phi_arena_free(&arena);
    if (status == PHI_BAD_ARG)
        return phi__error(mcp->rt, status, "phi_mcp_send: params: expected a JSON object");
    if (status != PHI_OK)
        return phi__error(mcp->rt, status, "phi_mcp_send: %s", phi_status_text(status));
    if (id != NULL) *id = r->first_id;
    return PHI_OK;
}

PHI__FN void phi__asking_cancel(phi_mcp *mcp, uint64_t id) {
    phi__req *r = phi__req_first(mcp, id);
    if (r == NULL || r->desc.done != phi__asking_done) return;
    phi__asking *a = (phi__asking *)r->desc.ctx;
    phi__req_cancel(r, "cancelled by the host");
    phi__free(&mcp->memory, a, sizeof *a);
}
