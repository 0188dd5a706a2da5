/* mcp_serve_task.c - tool calls that became tasks: their client has a name of each, and comes back
   for its state (the extension io.modelcontextprotocol/tasks of 2026-07-28). */
#include "mcp/mcp_serve_state_in.h"

#include "base/date_in.h"
#include "text/records_in.h"

enum { PHI__MCP_TASKED_POLL_MS = 1000 }; /* a client should not come back sooner */

static int64_t phi__mcp_serve_task_now_ms(const phi_mcp_server *server) {
    return phi__io_wall_ms(server->rt->io);
}

/* ---- its state ---- */

static void phi__mcp_serve_task_date(phi__buf *out, const char *key, int64_t ms) {
    char text[PHI__DATE_BYTES];
    size_t n = phi__date_put(ms, text);
    phi__records_str(out, key, phi__str(text, n));
}

/* Members that each state has. A task that works has no end yet. */
static void phi__mcp_serve_task_members(const phi__mcp_serving *serving, phi__buf *out) {
    const phi__mcp_tasked *task = serving->task;
    bool ended = serving->kind == PHI__MCP_SERVING_TASK;
    bool asks = !ended && serving->asks.first != NULL;
    int64_t ttl_ms = task->updated_ms - task->created_ms;
    phi__records_str(out, "taskId", phi_str_of(task->id));
    phi__records_str(out, "status", phi_str_of(asks ? "input_required" : task->status));
    if (task->words[0] != '\0') phi__records_str(out, "statusMessage", phi_str_of(task->words));
    phi__mcp_serve_task_date(out, "createdAt", task->created_ms);
    phi__mcp_serve_task_date(out, "lastUpdatedAt", task->updated_ms);
    if (ended)
        phi__records_i64(out, "ttlMs",
                         (ttl_ms > 0 ? ttl_ms : 0) + serving->server->desc.task_ttl_ms);
    else
        phi__records_raw(out, "ttlMs", "null");
    phi__records_u64(out, "pollIntervalMs", PHI__MCP_TASKED_POLL_MS);
}

/* ---- its life ---- */

static void phi__mcp_serve_task_fire(phi__timer *timer) {
    phi__mcp_serve_request_free(PHI__OWNER(timer, phi__mcp_serving, timer));
}

/* The client gets the name of the task as its answer. */
static void phi__mcp_serve_task_created(phi__mcp_serving *serving) {
    phi_mcp_server *server = serving->server;
    phi__mcp_origin origin = serving->origin;
    phi__buf out;
    phi__mcp_serve_send_open(server, &origin, &out);
    phi__records_str(&out, "resultType", PHI__LIT("task"));
    phi__mcp_serve_task_members(serving, &out);
    phi__mcp_serve_request_detach(serving);
    serving->origin.batch = NULL;
    phi__mcp_serve_send_close(server, &origin, &out);
}

PHI__FN phi_status phi__mcp_serve_task_begin(phi__mcp_serving *serving) {
    phi_mcp_server *server = serving->server;
    phi__mcp_tasked *task;
    phi__link *link;
    if ((serving->can & (uint32_t)PHI_MCP_CAN_TASKS) == 0) return PHI_UNSUPPORTED;
    if (serving->parked) return PHI_BUSY;
    task = (phi__mcp_tasked *)phi__alloc(&server->rt->memory, sizeof *task);
    if (task == NULL) return PHI_NO_MEMORY;
    /* its place for the end: later it may find no memory */
    if (phi__io_timer_set(server->rt->io, &serving->timer, UINT64_MAX) != PHI_OK) {
        phi__free(&server->rt->memory, task, sizeof *task);
        return PHI_NO_MEMORY;
    }
    serving->timer.fire = phi__mcp_serve_task_fire;
    serving->round++; /* no requestState is its name */
    phi__mcp_serve_ask_state(serving, task->id);
    task->status = "working";
    task->created_ms = task->updated_ms = phi__mcp_serve_task_now_ms(server);
    phi__buf_init(&task->outcome, &server->rt->memory);
    serving->task = task;
    for (link = serving->asks.first; link != NULL; link = link->next)
        (void)phi__mcp_serve_ask_wait(PHI__OWNER(link, phi__mcp_question, link));
    phi__mcp_serve_task_created(serving);
    return PHI_OK;
}

PHI__FN void phi__mcp_serve_task_end(phi__mcp_serving *serving, const char *status, const char *key,
                                     phi__buf *outcome) {
    phi_mcp_server *server = serving->server;
    phi__mcp_tasked *task = serving->task;
    phi__mcp_serve_request_free_questions(serving);
    task->updated_ms = phi__mcp_serve_task_now_ms(server);
    task->status = status;
    if (outcome != NULL) {
        phi__buf_free(&task->outcome);
        task->outcome = *outcome;
        task->key = key;
    }
    (void)phi__io_timer_set(server->rt->io, &serving->timer,
                            phi__io_now_us(server->rt->io) +
                                (uint64_t)server->desc.task_ttl_ms * 1000);
    phi__mcp_serve_request_keep(serving);
}

/* ---- requests about it ---- */

/* NULL: refused, and answered so. */
static phi__mcp_serving *phi__mcp_serve_task_of(phi_mcp_server *server, phi__mcp_origin *origin,
                                                const phi_json *params) {
    phi_str id = phi_json_str(phi_json_get(params, "taskId"), NULL);
    phi__mcp_serving *serving;
    if ((phi__mcp_serve_request_can(server, params) & (uint32_t)PHI_MCP_CAN_TASKS) == 0) {
        phi__mcp_serve_request_needs(server, origin, (uint32_t)PHI_MCP_CAN_TASKS);
        return NULL;
    }
    serving = phi__mcp_serve_ask_named(server, id);
    if (serving != NULL && serving->task != NULL) return serving;
    phi__mcp_serve_send_error(server, origin, PHI__MCP_RPC_BAD_PARAMS, 200,
                              PHI__LIT("params.taskId: there is no such task, or not any more"),
                              NULL);
    return NULL;
}

PHI__FN void phi__mcp_serve_task_get(phi_mcp_server *server, phi__mcp_origin *origin,
                                     phi__mcp_client *client, const phi_json *params) {
    const phi__mcp_serving *serving = phi__mcp_serve_task_of(server, origin, params);
    const phi__mcp_tasked *task;
    phi__buf out;
    (void)client;
    if (serving == NULL) return;
    task = serving->task;
    phi__mcp_serve_send_open(server, origin, &out);
    phi__mcp_serve_send_complete(server, origin, &out);
    phi__mcp_serve_task_members(serving, &out);
    if (serving->asks.first != NULL) {
        phi__records_raw(&out, "inputRequests", "");
        phi__mcp_serve_ask_write(serving, &out);
    }
    if (task->key != NULL) {
        phi__records_raw(&out, task->key, "");
        phi__buf_add_str(&out, phi__buf_str(&task->outcome));
        if (task->outcome.failed) out.failed = true;
    }
    phi__mcp_serve_send_close(server, origin, &out);
}

PHI__FN void phi__mcp_serve_task_update(phi_mcp_server *server, phi__mcp_origin *origin,
                                        phi__mcp_client *client, const phi_json *params) {
    phi__mcp_serving *serving = phi__mcp_serve_task_of(server, origin, params);
    const phi_json *inputs = phi_json_get(params, "inputResponses");
    (void)client;
    if (serving == NULL || !phi__mcp_serve_ask_inputs(server, origin, params)) return;
    serving->task->updated_ms = phi__mcp_serve_task_now_ms(server);
    phi__mcp_serve_send_empty(server, origin);
    phi__mcp_serve_ask_take(serving, inputs);
}

/* The tool's cancel function may free the server: it is called last. */
PHI__FN void phi__mcp_serve_task_cancel(phi_mcp_server *server, phi__mcp_origin *origin,
                                        phi__mcp_client *client, const phi_json *params) {
    phi__mcp_serving *serving = phi__mcp_serve_task_of(server, origin, params);
    (void)client;
    if (serving == NULL) return;
    phi__mcp_serve_send_empty(server, origin);
    if (serving->kind == PHI__MCP_SERVING_TASK) return;
    phi__mcp_serve_task_end(serving, "cancelled", NULL, NULL);
    if (serving->drop != NULL) serving->drop(serving);
}
