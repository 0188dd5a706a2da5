/* mcp_serve_request.c - requests that the host works on: made, found by their handles, ended; their
   progress and log messages. */
#include "mcp/mcp_serve_state_in.h"

#include "base/utf8_in.h"
#include "text/records_in.h"

/* ---- handles ---- */

PHI__FN phi__mcp_serving *phi__mcp_serve_request_find(phi_mcp_incoming incoming) {
    phi__slot *slot;
    if (incoming.server == NULL) return NULL;
    phi__mcp_serving *serving;
    slot = phi__slots_find(&incoming.server->slots, incoming.index, incoming.gen);
    serving = slot != NULL ? (phi__mcp_serving *)slot->object : NULL;
    /* for the host, a task that has ended was answered */
    return serving != NULL && serving->kind != PHI__MCP_SERVING_TASK ? serving : NULL;
}

PHI__FN phi_mcp_incoming phi__mcp_serve_request_handle(const phi__mcp_serving *serving) {
    phi_mcp_incoming out;
    out.server = serving->server;
    out.index = serving->index;
    out.gen = serving->gen;
    out.can = serving->can;
    return out;
}

/* ---- the way of its answer ---- */

PHI__FN void phi__mcp_serve_request_detach(phi__mcp_serving *serving) {
    if (serving->origin.way != NULL)
        phi__list_take(&serving->origin.way->waiting, &serving->at_way);
    serving->origin.way = NULL;
}

PHI__FN void phi__mcp_serve_request_attach(phi__mcp_serving *serving,
                                           const phi__mcp_origin *origin) {
    phi__mcp_serve_request_detach(serving);
    serving->origin = *origin;
    if (origin->way != NULL) phi__list_push(&origin->way->waiting, &serving->at_way);
}

PHI__FN phi__mcp_way *phi__mcp_serve_request_stream(const phi__mcp_serving *serving) {
    if (serving->origin.way != NULL) return serving->origin.way;
    return serving->client != NULL ? serving->client->own : NULL;
}

/* ---- from its beginning to its end ---- */

PHI__FN uint32_t phi__mcp_serve_request_can(const phi_mcp_server *server, const phi_json *params) {
    const phi_json *can =
        phi_json_get(phi_json_get(params, "_meta"), "io.modelcontextprotocol/clientCapabilities");
    uint32_t out = 0;
    if (phi_json_get(can, "sampling") != NULL) out |= (uint32_t)PHI_MCP_CAN_SAMPLE;
    if (phi_json_get(can, "elicitation") != NULL) out |= (uint32_t)PHI_MCP_CAN_ELICIT;
    if (phi_json_get(can, "roots") != NULL) out |= (uint32_t)PHI_MCP_CAN_ROOTS;
    if (server->desc.tasks &&
        phi_json_get(phi_json_get(can, "extensions"), "io.modelcontextprotocol/tasks") != NULL)
        out |= (uint32_t)PHI_MCP_CAN_TASKS;
    return out;
}

PHI__FN void phi__mcp_serve_request_needs(phi_mcp_server *server, phi__mcp_origin *origin,
                                          uint32_t missing) {
    bool asks = origin->era->asks;
    phi__buf data;
    phi__buf_init(&data, &server->rt->memory);
    phi__buf_text(&data, "{\"requiredCapabilities\":{");
    if ((missing & (uint32_t)PHI_MCP_CAN_SAMPLE) != 0) phi__records_raw(&data, "sampling", "{}");
    if ((missing & (uint32_t)PHI_MCP_CAN_ELICIT) != 0) phi__records_raw(&data, "elicitation", "{}");
    if ((missing & (uint32_t)PHI_MCP_CAN_ROOTS) != 0) phi__records_raw(&data, "roots", "{}");
    if ((missing & (uint32_t)PHI_MCP_CAN_TASKS) != 0)
        phi__records_raw(&data, "extensions", "{\"io.modelcontextprotocol/tasks\":{}}");
    phi__buf_add(&data, "}}", 3); /* and its end */
    phi__mcp_serve_send_error(
        server, origin, asks ? PHI__MCP_RPC_BAD_PARAMS : PHI__MCP_RPC_CAPABILITY, asks ? 200 : 400,
        PHI__LIT("The request needs a capability that the client has not "
                 "declared"),
        data.failed ? NULL : data.at);
    phi__buf_free(&data);
}

/* What a request says about itself in _meta, and of a session what that agreed upon. */
PHI__FN void phi__mcp_serve_request_meta(phi__mcp_serving *serving, const phi_json *params) {
    const phi_json *meta = phi_json_get(params, "_meta"), *token;
    phi_str level;
    serving->log_level = PHI__MCP_LEVEL_NONE;
    serving->token = phi__str("", 0);
    if (serving->client != NULL) {
        serving->can = serving->client->can;
        serving->log_level = serving->client->log_level;
    } else {
        serving->can = phi__mcp_serve_request_can(serving->server, params);
        level = phi_json_str(phi_json_get(meta, "io.modelcontextprotocol/logLevel"), NULL);
        if (phi__mcp_level_of(level) >= 0) serving->log_level = phi__mcp_level_of(level);
    }
    token = phi_json_get(meta, "progressToken");
    if (phi_json_is(token, PHI_JSON_NUMBER) ||
        (phi_json_is(token, PHI_JSON_STRING) && phi_json_str(token, NULL).len <= PHI__MCP_RPC_ID))
        (void)phi_json_write(&serving->arena, token, 0, &serving->token);
}

static uint32_t *phi__mcp_serve_request_count(phi_mcp_server *server, phi__mcp_serving_kind kind) {
    if (kind == PHI__MCP_SERVING_TASK) return &server->task_count;
    return kind == PHI__MCP_SERVING_LISTEN ? &server->listen_count : &server->serving_count;
}

static phi__mcp_serving *phi__mcp_serve_request_make(phi_mcp_server *server,
                                                     phi__mcp_serving_kind kind) {
    phi_memory *memory = &server->rt->memory;
    phi__mcp_serving *serving = (phi__mcp_serving *)phi__alloc(memory, sizeof *serving);
    if (serving == NULL) return NULL;
    serving->slot = phi__slots_take(&server->slots, 1, serving);
    if (serving->slot == NULL) {
        phi__free(memory, serving, sizeof *serving);
        return NULL;
    }
    serving->server = server;
    serving->index = serving->slot->index;
    serving->gen = phi__slots_gen_of(PHI__LOAD(&serving->slot->word));
    serving->progress = -1;
    phi_arena_init(&serving->arena, memory, 0);
    phi__list_push(&server->serving, &serving->link);
    serving->kind = kind;
    ++*phi__mcp_serve_request_count(server, kind);
    return serving;
}

/* A quarter of the connections stays for requests: a stream can stand for days. */
PHI__FN bool phi__mcp_serve_request_crowded(const phi_mcp_server *server) {
    uint32_t most = server->desc.max_connections, count = server->listen_count;
    phi__link *link;
    for (link = server->clients.first; link != NULL; link = link->next)
        count += PHI__OWNER(link, phi__mcp_client, link)->own != NULL;
    return count >= most - most / 4;
}

PHI__FN phi__mcp_serving *phi__mcp_serve_request_new(phi_mcp_server *server,
                                                     const phi__mcp_origin *origin,
                                                     phi__mcp_client *client,
                                                     phi__mcp_serving_kind kind,
                                                     const phi_json *params) {
    phi__mcp_serving *serving = NULL;
    phi__mcp_origin refused = *origin;
    uint32_t most =
        kind == PHI__MCP_SERVING_LISTEN ? server->desc.max_subscriptions : server->desc.max_calls;
    phi_str id;
    if (*phi__mcp_serve_request_count(server, kind) >= most ||
        (kind == PHI__MCP_SERVING_LISTEN && origin->http &&
         phi__mcp_serve_request_crowded(server))) {
        phi__mcp_serve_send_error(server, &refused, PHI__MCP_RPC_INTERNAL, 503,
                                  PHI__LIT("Too many requests are under way"), NULL);
        return NULL;
    }
    serving = phi__mcp_serve_request_make(server, kind);
    if (serving != NULL && phi__arena_str(&serving->arena, origin->id, &id)) {
        serving->client = client;
        phi__mcp_serve_request_attach(serving, origin);
        serving->origin.id = id;
        phi__mcp_serve_request_meta(serving, params);
        return serving;
    }
    if (serving != NULL) phi__mcp_serve_request_free(serving);
    phi__mcp_serve_send_error(server, &refused, PHI__MCP_RPC_INTERNAL, 500,
                              PHI__LIT("Out of memory"), NULL);
    return NULL;
}

PHI__FN void phi__mcp_serve_request_free_question(phi__mcp_question *ask) {
    phi__mcp_serving *serving = ask->of;
    phi__list_take(&serving->asks, &ask->link);
    serving->ask_count--;
    phi__io_timer_clear(serving->server->rt->io, &ask->timer);
    phi__free(&serving->server->rt->memory, ask, ask->bytes);
}

PHI__FN void phi__mcp_serve_request_free_questions(phi__mcp_serving *serving) {
    while (serving->asks.first != NULL)
        phi__mcp_serve_request_free_question(
            PHI__OWNER(serving->asks.first, phi__mcp_question, link));
}

/* Nobody finds it any more; its memory stays. */
static void phi__mcp_serve_request_leave(phi__mcp_serving *serving) {
    phi_mcp_server *server = serving->server;
    phi__mcp_serve_request_free_questions(serving);
    phi__io_timer_clear(server->rt->io, &serving->timer);
    phi__mcp_serve_request_detach(serving);
    phi__list_take(&server->serving, &serving->link);
    --*phi__mcp_serve_request_count(server, serving->kind);
    phi__slots_release(&server->slots, serving->slot);
}

static void phi__mcp_serve_request_release(phi__mcp_serving *serving, phi_memory *memory) {
    if (serving->task != NULL) {
        phi__buf_free(&serving->task->outcome);
        phi__free(memory, serving->task, sizeof *serving->task);
    }
    phi_arena_free(&serving->arena);
    phi__free(memory, serving, sizeof *serving);
}

PHI__FN void phi__mcp_serve_request_free(phi__mcp_serving *serving) {
    phi_memory *memory = &serving->server->rt->memory;
    phi__mcp_serve_request_leave(serving);
    phi__mcp_serve_request_release(serving, memory);
}

/* The tool's cancel function may free the server, and the way with it: it is called last. */
PHI__FN void phi__mcp_serve_request_drop(phi__mcp_serving *serving, bool answered) {
    phi_memory *memory = &serving->server->rt->memory;
    phi__mcp_origin origin = serving->origin;
    phi__mcp_serve_request_leave(serving);
    if (!answered) phi__mcp_serve_send_nothing(serving->server, &origin, 200);
    if (serving->drop != NULL) serving->drop(serving);
    phi__mcp_serve_request_release(serving, memory);
}

/* The oldest of too many tasks that have ended makes room. */
static void phi__mcp_serve_request_crop(phi_mcp_server *server) {
    phi__link *link = server->serving.first;
    while (server->task_count > server->desc.max_calls && link != NULL) {
        phi__mcp_serving *serving = PHI__OWNER(link, phi__mcp_serving, link);
        link = link->next;
        if (serving->kind == PHI__MCP_SERVING_TASK) phi__mcp_serve_request_free(serving);
    }
}

PHI__FN void phi__mcp_serve_request_keep(phi__mcp_serving *serving) {
    phi_mcp_server *server = serving->server;
    phi__list_take(&server->serving, &serving->link);
    phi__list_push(&server->serving, &serving->link); /* by the time of their ends */
    --*phi__mcp_serve_request_count(server, serving->kind);
    serving->kind = PHI__MCP_SERVING_TASK;
    server->task_count++;
    phi__mcp_serve_request_crop(server);
}

/* ---- what it says meanwhile ---- */

static void phi__mcp_serve_request_words(phi__mcp_serving *serving, phi_str message) {
    phi__mcp_tasked *task = serving->task;
    size_t n = phi__utf8_cut(message, sizeof task->words - 1);
    task->updated_ms = phi__io_wall_ms(serving->server->rt->io);
    if (n > 0) memcpy(task->words, message.at, n);
    task->words[n] = '\0';
}

PHI__FN void phi__mcp_serve_request_progress(phi__mcp_serving *serving, double progress,
                                             double total, phi_str message) {
    phi__mcp_way *way = serving->origin.way;
    phi__buf out;
    if (serving->task != NULL && message.len > 0) phi__mcp_serve_request_words(serving, message);
    if (serving->token.len == 0 || way == NULL || !(progress > serving->progress)) return;
    serving->progress = progress;
    phi__mcp_serve_send_note(serving->server, &out, "notifications/progress");
    phi__records_raw(&out, "progressToken", "");
    phi__buf_add_str(&out, serving->token);
    phi__records_double(&out, "progress", progress);
    if (total > 0) phi__records_double(&out, "total", total);
    if (message.len > 0 && serving->origin.era->progress_message)
        phi__records_str(&out, "message", message);
    (void)phi__mcp_serve_send_noted(way, &out);
}

PHI__FN phi_status phi__mcp_serve_request_log(phi_mcp_server *server, phi__mcp_way *way,
                                              const char *level, const char *logger,
                                              const char *data) {
    phi_arena arena;
    phi_json *value = NULL;
    phi__buf out;
    phi_status status;
    if (data == NULL) data = "null";
    phi_arena_init(&arena, &server->rt->memory, 0);
    status = phi_json_parse(&arena, phi_str_of(data), PHI_JSON_BORROW, &value, NULL);
    phi__mcp_serve_send_note(server, &out, "notifications/message");
    phi__records_str(&out, "level", phi_str_of(level));
    if (logger != NULL) phi__records_str(&out, "logger", phi_str_of(logger));
    phi__records_raw(&out, "data", "");
    if (status == PHI_OK)
        (void)phi__json_write(&out, value, 0);
    else
        phi__json_write_str(&out, phi_str_of(data));
    phi_arena_free(&arena);
    status = out.failed ? PHI_NO_MEMORY : PHI_OK;
    return phi__mcp_serve_send_noted(way, &out) ? PHI_OK : status == PHI_OK ? PHI_FULL : status;
}
