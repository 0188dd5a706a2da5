/* mcp_serve_request.c - messages to clients; requests that the host works on, with progress, log
   messages and questions. */
#include "mcp/mcp_serve_state_in.h"

#include <stdarg.h>
#include <stdio.h>

/* ---- results, errors, notifications, batches ---- */

static void phi__send_data(phi__buf *out, const char *type, const phi_content *block) {
    phi__records_str(out, "type", phi_str_of(type));
    phi__records_str(out, "data", block->data);
    phi__records_str(out, "mimeType", block->mime_type);
}

/* Appends a document as a resource such as "document:///Report.pdf". A document with a URL becomes
   a text. */
static void phi__send_document(phi__buf *out, const phi_content *block) {
    if (block->url.len > 0) {
        phi__records_str(out, "type", PHI__LIT("text"));
        phi__records_str(out, "text", block->url);
        return;
    }
    phi__buf uri = phi__buf_of(out->memory);
    phi__buf_text(&uri, "document:///");
    phi__url_escape(&uri, block->name.len > 0 ? block->name : PHI__LIT("document"));
    if (uri.failed) out->failed = true;
    phi__records_str(out, "type", PHI__LIT("resource"));
    phi__records_raw(out, "resource", "{");
    phi__records_str(out, "uri", phi__buf_str(&uri));
    if (block->data.len > 0) {
        phi__records_str(out, "mimeType", block->mime_type);
        phi__records_str(out, "blob", block->data);
    } else {
        phi__records_str(out, "mimeType", PHI__LIT("text/plain"));
        phi__records_str(out, "text", block->text);
    }
    phi__buf_char(out, '}');
    phi__buf_free(&uri);
}

PHI__FN void phi__send_block(phi__buf *out, const phi_content *block, const phi__era *era) {
    phi__buf_char(out, '{');
    if (block->kind == PHI_CONTENT_IMAGE)
        phi__send_data(out, "image", block);
    else if (block->kind == PHI_CONTENT_AUDIO && era->audio)
        phi__send_data(out, "audio", block);
    else if (block->kind == PHI_CONTENT_DOCUMENT)
        phi__send_document(out, block);
    else {
        phi__records_str(out, "type", PHI__LIT("text"));
        phi__records_str(out, "text",
                         block->kind == PHI_CONTENT_AUDIO ? PHI__LIT("[audio]") : block->text);
    }
    phi__buf_char(out, '}');
}

PHI__FN void phi__send_server_info(const phi_mcp_server *server, phi__buf *out,
                                   const phi__era *era) {
    const phi_mcp_server_desc *desc = &server->desc;
    phi__buf_char(out, '{');
    phi__records_str(out, "name", phi_str_of(desc->name));
    if (desc->title != NULL && era->titles) phi__records_str(out, "title", phi_str_of(desc->title));
    phi__records_str(out, "version", phi_str_of(desc->version));
    phi__buf_char(out, '}');
}

/* Sends the answer to a message; json may be empty. In a batch, the answers are collected, and the
   last call sends them. */
static void phi__send_text(phi__origin *origin, phi_str json, int http_status) {
    phi__batch *batch = origin->batch;
    phi__mcp_way *way = origin->way;
    phi_memory *memory = &origin->server->rt->memory; /* the origin may be freed with its way */
    origin->batch = NULL;
    if (batch == NULL) {
        if (way != NULL) (void)way->table->send(way, json, http_status, true);
        return;
    }
    phi__buf *out = &batch->out;
    if (json.len > 0) phi__buf_char(out, out->len > 0 ? ',' : '[');
    phi__buf_add_str(out, json);
    if (--batch->waiting > 0) return;
    if (out->len > 0) phi__buf_char(out, ']');
    http_status = out->failed ? 500 : out->len > 0 ? 200 : 202;
    if (batch->way != NULL)
        (void)batch->way->table->send(batch->way, out->failed ? phi__str("", 0) : phi__buf_str(out),
                                      http_status, true);
    phi__buf_free(out);
    phi__free(memory, batch, sizeof *batch);
}

static void phi__send_lost(phi__origin *origin) {
    char text[PHI__RPC_ID + 120]; /* there is no memory for a buffer */
    int n = snprintf(text, sizeof text,
                     "{\"jsonrpc\":\"2.0\",\"id\":%.*s,\"error\":{\"code\":%d,"
                     "\"message\":\"Out of memory\"}}",
                     (int)origin->id.len, origin->id.len > 0 ? origin->id.at : "",
                     (int)PHI__RPC_INTERNAL);
    if (origin->id.len == 0 || n < 0) n = 0;
    phi__send_text(origin, phi__str(text, (size_t)n), 500);
}

PHI__FN void phi__send_nothing(phi__origin *origin, int http_status) {
    phi__send_text(origin, phi__str("", 0), http_status);
}

PHI__FN void phi__send_open(const phi__origin *origin, phi__buf *out) {
    phi__buf_init(out, &origin->server->rt->memory);
    phi__rpc_open_result(out, origin->id);
    phi__buf_char(out, '{');
}

PHI__FN void phi__send_open_complete(const phi__origin *origin, phi__buf *out) {
    phi__send_open(origin, out);
    if (!origin->era->result_type) return;
    phi__records_str(out, "resultType", PHI__LIT("complete"));
    phi__records_raw(out, "_meta", "{\"io.modelcontextprotocol/serverInfo\":");
    phi__send_server_info(origin->server, out, origin->era);
    phi__buf_char(out, '}');
}

PHI__FN void phi__send_error(phi__origin *origin, int code, int http_status, phi_str message,
                             phi__buf *data) {
    phi__buf out = phi__buf_of(&origin->server->rt->memory);
    phi__rpc_error(&out, origin->id, code, message,
                   data != NULL && !data->failed ? phi__buf_str(data) : phi__str("", 0));
    if (data != NULL) phi__buf_free(data);
    if (out.failed)
        phi__send_lost(origin);
    else
        phi__send_text(origin, phi__buf_str(&out), http_status);
    phi__buf_free(&out);
}

PHI__FN bool phi__refuse(phi__origin *origin, int code, int http_status, const char *message) {
    phi__send_error(origin, code, http_status, phi_str_of(message), NULL);
    return false;
}

PHI__FN bool phi__refuse_bad(phi__origin *origin, const char *format, ...) {
    char message[200];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(message, sizeof message, format, args);
    va_end(args);
    return phi__refuse(origin, PHI__RPC_BAD_PARAMS, 200, message);
}

PHI__FN bool phi__refuse_memory(phi__origin *origin) {
    return phi__refuse(origin, PHI__RPC_INTERNAL, 500, "Out of memory");
}

PHI__FN bool phi__send_close(phi__origin *origin, phi__buf *out) {
    size_t most = origin->server->desc.max_queue_bytes;
    size_t before = origin->batch != NULL ? phi__min(origin->batch->out.len, most) : 0;
    phi__buf_text(out, "}}");
    bool good = !out->failed && out->len < most - before;
    if (good)
        phi__send_text(origin, phi__buf_str(out), 200);
    else if (out->failed)
        phi__send_lost(origin);
    else { /* Too large for any queue: the client gets an error, but is not dropped. */
        char message[80];
        (void)snprintf(message, sizeof message, "The answer has more than %lu bytes",
                       (unsigned long)most);
        (void)phi__refuse(origin, PHI__RPC_INTERNAL, 200, message);
    }
    phi__buf_free(out);
    return good;
}

PHI__FN void phi__send_cache(const phi__origin *origin, phi__buf *out) {
    if (!origin->era->result_type) return;
    phi__records_u64(out, "ttlMs", origin->server->desc.ttl_ms);
    phi__records_str(out, "cacheScope", PHI__LIT("private"));
}

PHI__FN bool phi__send_empty(phi__origin *origin) {
    phi__buf out;
    phi__send_open_complete(origin, &out);
    return phi__send_close(origin, &out);
}

PHI__FN void phi__send_note(phi_mcp_server *server, phi__buf *out, const char *method) {
    phi__buf_init(out, &server->rt->memory);
    phi__rpc_open_notification(out, method);
    phi__buf_char(out, '{');
}

PHI__FN bool phi__send_noted(phi__mcp_way *way, phi__buf *out) {
    phi__buf_text(out, "}}");
    bool sent = !out->failed && way->table->send(way, phi__buf_str(out), 200, false);
    phi__buf_free(out);
    return sent;
}

PHI__FN phi__serving *phi__sv_find(phi_mcp_incoming incoming) {
    if (incoming.server == NULL) return NULL;
    phi__slot *slot = phi__slots_find(&incoming.server->slots, incoming.index, incoming.gen);
    phi__serving *serving = slot != NULL ? (phi__serving *)slot->object : NULL;
    /* the host can do nothing more for a task that has ended */
    return serving != NULL && serving->kind != PHI__SERVING_TASK ? serving : NULL;
}

PHI__FN phi_mcp_incoming phi__sv_handle(const phi__serving *serving) {
    phi_mcp_incoming out;
    out.server = serving->server;
    out.index = serving->index;
    out.gen = serving->gen;
    out.can = serving->can;
    return out;
}

PHI__FN void phi__sv_detach(phi__serving *serving) {
    if (serving->origin.way != NULL)
        phi__list_take(&serving->origin.way->waiting, &serving->at_way);
    serving->origin.way = NULL;
}

static void phi__sv_attach(phi__serving *serving, const phi__origin *origin) {
    phi__sv_detach(serving);
    serving->origin = *origin;
    if (origin->way != NULL) phi__list_push(&origin->way->waiting, &serving->at_way);
}

PHI__FN phi__mcp_way *phi__sv_stream(const phi__serving *serving) {
    if (serving->origin.way != NULL) return serving->origin.way;
    return serving->client != NULL ? serving->client->own : NULL;
}

/* ---- life of a request ---- */

static const struct phi__sv_able {
    uint32_t bit; /* PHI_MCP_CAN_... */
    const char *capability, *method;
} phi__sv_ables[] = {{PHI_MCP_CAN_SAMPLE, "sampling", "sampling/createMessage"},
                     {PHI_MCP_CAN_ELICIT, "elicitation", "elicitation/create"},
                     {PHI_MCP_CAN_ROOTS, "roots", "roots/list"}};

PHI__FN uint32_t phi__sv_session_can(const phi_json *capabilities) {
    uint32_t can = 0;
    for (size_t i = 0; i < PHI__COUNT(phi__sv_ables); i++)
        if (phi_json_is(phi_json_get(capabilities, phi__sv_ables[i].capability), PHI_JSON_OBJECT))
            can |= phi__sv_ables[i].bit;
    return can;
}

PHI__FN uint32_t phi__sv_can(const phi_mcp_server *server, const phi_json *params) {
    const phi_json *declared =
        phi_json_get(phi_json_get(params, "_meta"), "io.modelcontextprotocol/clientCapabilities");
    const phi_json *extensions = phi_json_get(declared, "extensions");
    uint32_t can = 0;
    for (size_t i = 0; i < PHI__COUNT(phi__sv_ables); i++)
        if (phi_json_get(declared, phi__sv_ables[i].capability) != NULL)
            can |= phi__sv_ables[i].bit;
    if (server->desc.tasks && phi_json_get(extensions, "io.modelcontextprotocol/tasks") != NULL)
        can |= (uint32_t)PHI_MCP_CAN_TASKS;
    return can;
}

PHI__FN bool phi__sv_needs(phi__origin *origin, uint32_t missing) {
    bool asks = origin->era->asks;
    phi__buf data = phi__buf_of(&origin->server->rt->memory);
    phi__buf_text(&data, "{\"requiredCapabilities\":{");
    for (size_t i = 0; i < PHI__COUNT(phi__sv_ables); i++)
        if ((missing & phi__sv_ables[i].bit) != 0)
            phi__records_raw(&data, phi__sv_ables[i].capability, "{}");
    if ((missing & (uint32_t)PHI_MCP_CAN_TASKS) != 0)
        phi__records_raw(&data, "extensions", "{\"io.modelcontextprotocol/tasks\":{}}");
    phi__buf_text(&data, "}}");
    phi__send_error(origin, asks ? PHI__RPC_BAD_PARAMS : PHI__RPC_CAPABILITY, asks ? 200 : 400,
                    PHI__LIT("The request needs a capability that the client has not declared"),
                    &data);
    return false;
}

/* Reads _meta of a request. The abilities and the log level of a client with a session come from
   the session. */
static void phi__sv_meta(phi__serving *serving, const phi_json *params) {
    const phi_json *meta = phi_json_get(params, "_meta");
    serving->log_level = PHI__LEVEL_NONE;
    serving->token = phi__str("", 0);
    if (serving->client != NULL) {
        serving->can = serving->client->can;
        serving->log_level = serving->client->log_level;
    } else {
        serving->can = phi__sv_can(serving->server, params);
        phi_str level = phi__records_get_str(meta, "io.modelcontextprotocol/logLevel");
        if (phi__level_of(level) >= 0) serving->log_level = phi__level_of(level);
    }
    const phi_json *token = phi_json_get(meta, "progressToken");
    if (phi_json_is(token, PHI_JSON_NUMBER) ||
        (phi_json_is(token, PHI_JSON_STRING) && phi_json_str(token, NULL).len <= PHI__RPC_ID))
        (void)phi_json_write(&serving->arena, token, 0, &serving->token);
}

static uint32_t *phi__sv_count(phi_mcp_server *server, phi__sv_kind kind) {
    if (kind == PHI__SERVING_TASK) return &server->task_count;
    return kind == PHI__SERVING_LISTEN ? &server->listen_count : &server->serving_count;
}

/* Keeps a quarter of the connections free for requests, because a stream can last for days. */
PHI__FN bool phi__sv_crowded(const phi_mcp_server *server) {
    uint32_t most = server->desc.max_connections, count = server->listen_count;
    for (phi__link *link = server->clients.first; link != NULL; link = link->next)
        count += PHI__OWNER(link, phi__client, link)->own != NULL;
    return count >= most - most / 4;
}

PHI__FN phi__serving *phi__sv_new(const phi__origin *origin, phi__sv_kind kind,
                                  const phi_json *params) {
    phi_mcp_server *server = origin->server;
    phi_memory *memory = &server->rt->memory;
    phi__origin refused = *origin;
    uint32_t most =
        kind == PHI__SERVING_LISTEN ? server->desc.max_subscriptions : server->desc.max_calls;
    phi_str id;
    if (*phi__sv_count(server, kind) >= most ||
        (kind == PHI__SERVING_LISTEN && origin->http && phi__sv_crowded(server))) {
        (void)phi__refuse(&refused, PHI__RPC_INTERNAL, 503, "Too many requests are under way");
        return NULL;
    }
    phi__serving *serving = (phi__serving *)phi__alloc(memory, sizeof *serving);
    if (serving != NULL) serving->slot = phi__slots_take(&server->slots, 1, serving);
    if (serving == NULL || serving->slot == NULL) {
        phi__free(memory, serving, serving != NULL ? sizeof *serving : 0);
        (void)phi__refuse_memory(&refused);
        return NULL;
    }
    serving->server = server;
    serving->index = serving->slot->index;
    serving->gen = phi__slots_gen_of(PHI__LOAD(&serving->slot->word));
    serving->progress = -1;
    phi_arena_init(&serving->arena, memory, 0);
    phi__list_push(&server->serving, &serving->link);
    serving->kind = kind;
    ++*phi__sv_count(server, kind);
    if (!phi__arena_str(&serving->arena, origin->id, &id)) {
        phi__sv_free(serving);
        (void)phi__refuse_memory(&refused);
        return NULL;
    }
    serving->client = origin->client;
    phi__sv_attach(serving, origin);
    serving->origin.id = id;
    phi__sv_meta(serving, params);
    return serving;
}

static void phi__sv_free_question(phi__mcp_question *ask) {
    phi__serving *serving = ask->of;
    phi__list_take(&serving->asks, &ask->link);
    serving->ask_count--;
    phi__io_timer_clear(serving->server->rt->io, &ask->timer);
    phi__free(&serving->server->rt->memory, ask, ask->bytes);
}

PHI__FN void phi__sv_free_questions(phi__serving *serving) {
    while (serving->asks.first != NULL)
        phi__sv_free_question(PHI__OWNER(serving->asks.first, phi__mcp_question, link));
}

/* Removes the request from all lists. Its memory stays. */
static void phi__sv_leave(phi__serving *serving) {
    phi_mcp_server *server = serving->server;
    phi__sv_free_questions(serving);
    phi__io_timer_clear(server->rt->io, &serving->timer);
    phi__sv_detach(serving);
    phi__list_take(&server->serving, &serving->link);
    --*phi__sv_count(server, serving->kind);
    phi__slots_release(&server->slots, serving->slot);
}

static void phi__sv_release(phi__serving *serving, phi_memory *memory) {
    if (serving->task != NULL) {
        phi__buf_free(&serving->task->outcome);
        phi__free(memory, serving->task, sizeof *serving->task);
    }
    phi_arena_free(&serving->arena);
    phi__free(memory, serving, sizeof *serving);
}

PHI__FN void phi__sv_free(phi__serving *serving) {
    phi_memory *memory = &serving->server->rt->memory;
    phi__sv_leave(serving);
    phi__sv_release(serving, memory);
}

/* Calls the tool's cancel function last, because it may free the server and the way. */
PHI__FN void phi__sv_drop(phi__serving *serving, bool answered) {
    phi_memory *memory = &serving->server->rt->memory;
    phi__origin origin = serving->origin;
    phi__sv_leave(serving);
    if (!answered) phi__send_nothing(&origin, 200);
    if (serving->drop != NULL) serving->drop(serving);
    phi__sv_release(serving, memory);
}

PHI__FN void phi__sv_keep(phi__serving *serving) {
    phi_mcp_server *server = serving->server;
    phi__list_take(&server->serving, &serving->link);
    phi__list_push(&server->serving, &serving->link); /* ordered by the times when tasks ended */
    --*phi__sv_count(server, serving->kind);
    serving->kind = PHI__SERVING_TASK;
    server->task_count++;
    /* Too many ended tasks: frees the oldest. */
    phi__link *link = server->serving.first;
    while (server->task_count > server->desc.max_calls && link != NULL) {
        phi__serving *oldest = PHI__OWNER(link, phi__serving, link);
        link = link->next;
        if (oldest->kind == PHI__SERVING_TASK) phi__sv_free(oldest);
    }
}

/* ---- progress and log messages ---- */

PHI__FN void phi__sv_progress(phi__serving *serving, double progress, double total,
                              phi_str message) {
    phi__mcp_way *way = serving->origin.way;
    phi__buf out;
    if (serving->task != NULL && message.len > 0) {
        phi__tasked *task = serving->task;
        size_t n = phi__utf8_cut(message, sizeof task->words - 1);
        task->updated_ms = phi__io_wall_ms(serving->server->rt->io);
        if (n > 0) memcpy(task->words, message.at, n);
        task->words[n] = '\0';
    }
    if (serving->token.len == 0 || way == NULL || !(progress > serving->progress)) return;
    serving->progress = progress;
    phi__send_note(serving->server, &out, "notifications/progress");
    phi__records_raw(&out, "progressToken", "");
    phi__buf_add_str(&out, serving->token);
    phi__records_double(&out, "progress", progress);
    if (total > 0) phi__records_double(&out, "total", total);
    if (message.len > 0 && serving->origin.era->progress_message)
        phi__records_str(&out, "message", message);
    (void)phi__send_noted(way, &out);
}

PHI__FN phi_status phi__sv_log(phi_mcp_server *server, phi__mcp_way *way, const char *level,
                               const char *logger, const char *data) {
    phi_json *value = NULL;
    phi__buf out;
    if (data == NULL) data = "null";
    phi_arena arena = phi__arena_of(&server->rt->memory, 0);
    phi_status status = phi_json_parse(&arena, phi_str_of(data), PHI_JSON_BORROW, &value, NULL);
    phi__send_note(server, &out, "notifications/message");
    phi__records_str(&out, "level", phi_str_of(level));
    if (logger != NULL) phi__records_str(&out, "logger", phi_str_of(logger));
    phi__records_raw(&out, "data", "");
    if (status == PHI_OK)
        (void)phi__json_write(&out, value, 0);
    else
        phi__json_write_str(&out, phi_str_of(data));
    phi_arena_free(&arena);
    status = out.failed ? PHI_NO_MEMORY : PHI_OK;
    return phi__send_noted(way, &out) ? PHI_OK : status == PHI_OK ? PHI_FULL : status;
}

/* ---- questions to a client during its request ---- */

/* A session gets questions as requests on its own stream. A client of 2026-07-28 gets them as the
   result of its request (input_required). The request is then parked, and the client repeats it
   with the answers and requestState. This state holds the handle of the parked request, the number
   of its rounds, and a keyed hash. The hash covers the handle, the number, the method and the
   parameters. So a state is valid for one repetition of one request, and only until the request
   ends. */

PHI__FN void phi__sask_enter(phi_mcp_server *server) { server->depth++; }

PHI__FN bool phi__sask_leave(phi_mcp_server *server) {
    bool retired = server->retired;
    if (--server->depth == 0 && retired) server->free_fn(server);
    return !retired;
}

/* ---- one question ---- */

static void phi__sask_give(phi__mcp_question *ask, phi_status status, const phi_json *result,
                           phi_str message) {
    phi_mcp_ask_desc desc = ask->desc;
    phi__sv_free_question(ask);
    if (desc.done_fn != NULL) desc.done_fn(desc.user_data, status, result, message);
}

static bool phi__sask_has(const phi__serving *serving, phi_str key) {
    for (const phi__link *link = serving->asks.first; link != NULL; link = link->next)
        if (phi_str_equal(PHI__OWNER(link, const phi__mcp_question, link)->key, key)) return true;
    return false;
}

/* Returns a key that no other question has: the question's number, or the next free number. Tasks
   get only such keys and never keys of the host, because a key must not occur twice in a task. */
static phi_str phi__sask_number(const phi__serving *serving, char out[16]) {
    const char *format = serving->task != NULL ? "task-%u" : "%u";
    unsigned number = serving->asked;
    do (void)snprintf(out, 16, format, ++number);
    while (phi__sask_has(serving, phi_str_of(out)));
    return phi_str_of(out);
}

static phi__mcp_question *phi__sask_make(phi__serving *serving, const phi_mcp_ask_desc *desc,
                                         phi_str params) {
    phi_mcp_server *server = serving->server;
    phi_str method = phi_str_of(desc->method);
    char number[16];
    bool named = desc->key != NULL && serving->task == NULL;
    phi_str key = named ? phi_str_of(desc->key) : phi__sask_number(serving, number);
    phi__mcp_question *ask;
    size_t bytes = phi__add(sizeof *ask + 3, phi__add(key.len, phi__add(method.len, params.len)));
    ask = (phi__mcp_question *)phi__alloc(&server->rt->memory, bytes);
    if (ask == NULL) return NULL;
    char *at = (char *)(ask + 1);
    ask->of = serving;
    ask->bytes = bytes;
    ask->desc = *desc;
    ask->key = phi__mcp_put(&at, key);
    ask->method = phi__mcp_put(&at, method);
    ask->params = phi__mcp_put(&at, params);
    ask->number = ++server->asked;
    serving->asked++;
    serving->ask_count++;
    phi__list_push(&serving->asks, &ask->link);
    return ask;
}

static void phi__sask_late(phi__timer *timer) {
    phi__mcp_question *ask = PHI__OWNER(timer, phi__mcp_question, timer);
    phi_mcp_server *server = ask->of->server;
    phi__sask_enter(server);
    phi__sask_give(ask, PHI_TIMEOUT, NULL, PHI__LIT("The client did not answer in time"));
    (void)phi__sask_leave(server);
}

/* Sets a timer to the deadline of a question. */
static phi_status phi__sask_until(const phi_mcp_server *server, phi__timer *timer) {
    return phi__mcp_timer_in(server->rt->io, timer, server->desc.ask_timeout_ms);
}

PHI__FN phi_status phi__sask_wait(phi__mcp_question *ask) {
    ask->timer.fire = phi__sask_late;
    return phi__sask_until(ask->of->server, &ask->timer);
}

static phi_status phi__sask_send(phi__mcp_question *ask) {
    phi_mcp_server *server = ask->of->server;
    phi__mcp_way *way = phi__sv_stream(ask->of);
    if (way == NULL) return PHI_STALE;
    if (phi__sask_wait(ask) != PHI_OK) return PHI_NO_MEMORY;
    phi__buf out = phi__buf_of(&server->rt->memory);
    phi__rpc_open_request(&out, ask->number, ask->method);
    phi__buf_add_str(&out, ask->params);
    phi__buf_char(&out, '}');
    phi_status status = PHI_OK;
    if (out.failed)
        status = PHI_NO_MEMORY;
    else if (out.len >= server->desc.max_queue_bytes || /* sending it would end the connection */
             !way->table->send(way, phi__buf_str(&out), 200, false))
        status = PHI_FULL;
    phi__buf_free(&out);
    return status;
}

static phi__mcp_question *phi__sask_find(phi_mcp_server *server, const phi__client *client,
                                         uint64_t number) {
    phi__link *link;
    for (phi__link *at = server->serving.first; at != NULL; at = at->next) {
        phi__serving *serving = PHI__OWNER(at, phi__serving, link);
        if (serving->client != client) continue;
        for (link = serving->asks.first; link != NULL; link = link->next)
            if (PHI__OWNER(link, phi__mcp_question, link)->number == number)
                return PHI__OWNER(link, phi__mcp_question, link);
    }
    return NULL;
}

PHI__FN void phi__sask_answered(phi_mcp_server *server, const phi__client *client,
                                const phi__rpc *answer) {
    uint64_t number = 0;
    phi__mcp_question *ask = NULL;
    if (phi__rpc_number(answer->id, &number)) ask = phi__sask_find(server, client, number);
    if (ask == NULL) return;
    if (answer->kind == PHI__RPC_RESULT && phi_json_is(answer->result, PHI_JSON_OBJECT))
        phi__sask_give(ask, PHI_OK, answer->result, phi__str("", 0));
    else
        phi__sask_give(ask, PHI_REFUSED, NULL,
                       answer->message.len > 0 ? answer->message
                                               : PHI__LIT("The client's answer has no result"));
}

/* ---- 2026-07-28: requestState ---- */

static bool phi__sask_digest(phi_mcp_server *server, phi_str method, const phi_json *params,
                             unsigned char out[PHI__SHA256_BYTES]) {
    phi_json_iter it = phi_json_each(params);
    const phi_json *child;
    phi__buf text = phi__buf_of(&server->rt->memory);
    phi__buf_add_str(&text, method);
    while ((child = phi_json_next(&it)) != NULL) {
        if (phi__str_is(it.key, "_meta") || phi__str_is(it.key, "inputResponses") ||
            phi__str_is(it.key, "requestState"))
            continue;
        phi__json_write_key(&text, it.key);
        (void)phi__json_write(&text, child, 0);
    }
    phi__sha256_of(phi__buf_str(&text), out);
    phi__buf_free(&text);
    return !text.failed;
}

PHI__FN void phi__sask_state(const phi__serving *serving, char out[PHI__MCP_STATE]) {
    unsigned char hash[PHI__SHA256_BYTES];
    char text[40 + PHI__SHA256_BYTES];
    int n = snprintf(out, 40, "%lx.%lx.%lx.", (unsigned long)serving->index,
                     (unsigned long)serving->gen, (unsigned long)serving->round);
    memcpy(text, out, (size_t)n);
    memcpy(text + n, serving->digest, PHI__SHA256_BYTES);
    phi__sha256_hmac(phi__str((const char *)serving->server->key, sizeof serving->server->key),
                     phi__str(text, (size_t)n + PHI__SHA256_BYTES), hash);
    phi__sha256_hex(hash, out + n);
    out[n + PHI__SHA256_HEX] = '\0';
}

PHI__FN phi__serving *phi__sask_named(phi_mcp_server *server, phi_str state) {
    char good[PHI__MCP_STATE];
    unsigned long numbers[2];
    size_t part = 0, digits = 0;
    numbers[0] = numbers[1] = 0;
    for (size_t i = 0; i < state.len && part < 2; i++) {
        char c = state.at[i];
        int value = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
        if (c == '.' && digits > 0) {
            part++;
            digits = 0;
        } else if (value < 0 || ++digits > 8)
            return NULL;
        else
            numbers[part] = numbers[part] * 16 + (unsigned long)value;
    }
    if (part != 2) return NULL;
    phi__slot *slot = phi__slots_find(&server->slots, (uint32_t)numbers[0], (uint32_t)numbers[1]);
    if (slot == NULL) return NULL;
    phi__serving *serving = (phi__serving *)slot->object;
    phi__sask_state(serving, good);
    return phi__str_equal_secret(state, phi_str_of(good)) ? serving : NULL;
}

/* ---- 2026-07-28: questions and repetitions ---- */

/* If more than half of max_calls is parked, the oldest parked request times out: clients that never
   come back must not block others. */
static void phi__sask_crowded(phi_mcp_server *server) {
    phi__serving *oldest = NULL;
    uint32_t count = 0;
    for (phi__link *link = server->serving.first; link != NULL; link = link->next) {
        phi__serving *serving = PHI__OWNER(link, phi__serving, link);
        if (!serving->parked || serving->asks.first == NULL) continue;
        if (oldest == NULL) oldest = serving;
        count++;
    }
    if (count > (server->desc.max_calls + 1) / 2)
        (void)phi__mcp_timer_in(server->rt->io, &oldest->timer, 0);
}

PHI__FN void phi__sask_write(const phi__serving *serving, phi__buf *out) {
    phi__buf_char(out, '{');
    for (const phi__link *link = serving->asks.first; link != NULL; link = link->next) {
        const phi__mcp_question *ask = PHI__OWNER(link, const phi__mcp_question, link);
        phi__json_write_key(out, ask->key);
        phi__buf_char(out, '{');
        phi__records_str(out, "method", ask->method);
        phi__records_raw(out, "params", "");
        phi__buf_add_str(out, ask->params);
        phi__buf_char(out, '}');
    }
    phi__buf_char(out, '}');
}

static void phi__sask_required(phi__serving *serving) {
    phi_mcp_server *server = serving->server;
    phi__origin origin = serving->origin;
    char state[PHI__MCP_STATE];
    phi__buf out;
    serving->round++;
    phi__sask_state(serving, state);
    phi__send_open(&origin, &out);
    phi__records_str(&out, "resultType", PHI__LIT("input_required"));
    phi__records_raw(&out, "inputRequests", "");
    phi__sask_write(serving, &out);
    phi__records_str(&out, "requestState", phi_str_of(state));
    phi__sv_detach(serving);
    serving->origin.batch = NULL;
    serving->parked = true;
    phi__send_close(&origin, &out);
    (void)phi__sask_until(server, &serving->timer);
    phi__sask_crowded(server);
}

/* Ends the first question that has an answer or, if `late`, the first of all. False: no question
   was ended. */
static bool phi__sask_settle(phi__serving *serving, const phi_json *inputs, bool late) {
    for (phi__link *link = serving->asks.first; link != NULL; link = link->next) {
        phi__mcp_question *ask = PHI__OWNER(link, phi__mcp_question, link);
        const phi_json *answer = phi__json_get_n(inputs, ask->key);
        if (answer != NULL)
            phi__sask_give(ask, PHI_OK, answer, phi__str("", 0));
        else if (late)
            phi__sask_give(ask, PHI_TIMEOUT, NULL,
                           PHI__LIT("The client did not repeat its request in time"));
        else
            continue;
        return true;
    }
    return false;
}

/* Calls phi__sask_settle for all questions. NULL: the request has ended. */
static phi__serving *phi__sask_settle_all(phi__serving *serving, const phi_json *inputs,
                                          bool late) {
    phi_mcp_server *server = serving->server;
    phi_mcp_incoming handle = phi__sv_handle(serving);
    uint32_t most = serving->ask_count;
    phi__sask_enter(server);
    while (serving != NULL && !server->retired && most-- > 0 &&
           phi__sask_settle(serving, inputs, late))
        serving = phi__sv_find(handle);
    (void)phi__sask_leave(server);
    return serving;
}

PHI__FN void phi__sask_take(phi__serving *serving, const phi_json *inputs) {
    (void)phi__sask_settle_all(serving, inputs, false);
}

/* Called after questions or answers have arrived, or a parked request has waited too long. */
static void phi__sask_due(phi__timer *timer) {
    phi__serving *serving = PHI__OWNER(timer, phi__serving, timer);
    phi_mcp_server *server = serving->server;
    bool late = serving->parked;
    phi__sask_enter(server);
    serving = phi__sask_settle_all(serving, serving->inputs, late);
    if (serving != NULL && !server->retired && serving->asks.first != NULL) {
        if (!late)
            phi__sask_required(serving);
        else /* new questions get a new deadline */
            (void)phi__sask_until(server, &serving->timer);
    }
    (void)phi__sask_leave(server);
}

static phi_status phi__sask_soon(phi__serving *serving) {
    serving->timer.fire = phi__sask_due;
    return phi__mcp_timer_in(serving->server->rt->io, &serving->timer, 0);
}

PHI__FN bool phi__sask_inputs(phi__origin *origin, const phi_json *params) {
    const phi_json *inputs = phi_json_get(params, "inputResponses");
    phi_json_iter it = phi_json_each(inputs);
    bool good = inputs == NULL || phi_json_is(inputs, PHI_JSON_OBJECT);
    while (good && phi_json_next(&it) != NULL) good = phi_json_is(it.at, PHI_JSON_OBJECT);
    return good || phi__refuse_bad(origin, "params.inputResponses: expected an object of objects");
}

PHI__FN bool phi__sask_keep(phi__serving *serving, phi_str method, const phi_json *params) {
    const phi_json *inputs = phi_json_get(params, "inputResponses");
    if (serving->client != NULL || serving->can == 0) return true; /* nothing can be asked */
    if (inputs != NULL) {
        serving->inputs = phi_json_copy(&serving->arena, inputs);
        if (serving->inputs == NULL) return false;
    }
    return phi__sask_digest(serving->server, method, params, serving->digest);
}

PHI__FN bool phi__sask_repeated(phi__origin *origin, phi_str method, const phi_json *params) {
    const phi_json *given = phi_json_get(params, "requestState");
    unsigned char digest[PHI__SHA256_BYTES];
    phi_str id;
    if (given == NULL) return false;
    phi__serving *serving = phi__sask_named(origin->server, phi_json_str(given, NULL));
    if (serving == NULL || !serving->parked ||
        !phi__sask_digest(origin->server, method, params, digest) ||
        memcmp(digest, serving->digest, sizeof digest) != 0)
        (void)phi__refuse_bad(origin,
                              "params.requestState: not valid for this request, or not any more");
    else if (!phi__arena_str(&serving->arena, origin->id, &id) ||
             !phi__sask_keep(serving, method, params))
        (void)phi__refuse_memory(origin);
    else {
        serving->parked = false;
        phi__sv_attach(serving, origin);
        serving->origin.id = id;
        phi__sv_meta(serving, params);
        (void)phi__sask_soon(serving); /* cannot fail: the timer has a place in the heap */
    }
    return true;
}

/* ---- public ---- */

static phi_status phi__sask_check(phi__serving *serving, const phi_mcp_ask_desc *desc) {
    phi_runtime *rt = serving->server->rt;
    uint32_t bit = 0;
    for (size_t i = 0; i < PHI__COUNT(phi__sv_ables); i++)
        if (strcmp(desc->method, phi__sv_ables[i].method) == 0) bit = phi__sv_ables[i].bit;
    if (bit == 0)
        return phi__error(rt, PHI_BAD_ARG,
                          "phi_mcp_ask: method: expected elicitation/create, "
                          "sampling/createMessage or roots/list");
    if ((serving->can & bit) == 0)
        return phi__error(rt, PHI_UNSUPPORTED,
                          "phi_mcp_ask: the client has not declared that it "
                          "answers %s",
                          desc->method);
    if (serving->ask_count >= PHI__ASKS_MOST)
        return phi__error(rt, PHI_FULL, "phi_mcp_ask: %d questions are open", PHI__ASKS_MOST);
    if (desc->key != NULL && serving->task == NULL && phi__sask_has(serving, phi_str_of(desc->key)))
        return phi__error(rt, PHI_BAD_ARG, "phi_mcp_ask: key: a question of that name is open");
    return PHI_OK;
}

static phi_status phi__sask_open(phi__serving *serving, const phi_mcp_ask_desc *desc,
                                 phi_str params) {
    phi__mcp_question *ask = phi__sask_make(serving, desc, params);
    phi_status status = PHI_NO_MEMORY;
    if (ask == NULL) return status;
    if (serving->client != NULL)
        status = phi__sask_send(ask);
    else if (serving->task != NULL)
        status = phi__sask_wait(ask);
    else if (serving->parked)
        status = PHI_OK; /* sent in the next round */
    else
        status = phi__sask_soon(serving);
    if (status != PHI_OK) phi__sv_free_question(ask);
    return status;
}

PHI_API phi_status phi_mcp_ask(phi_mcp_incoming incoming, const phi_mcp_ask_desc *desc) {
    phi__serving *serving = phi__sv_find(incoming);
    phi_json *params = NULL;
    if (incoming.server == NULL || desc == NULL || desc->method == NULL) return PHI_BAD_ARG;
    if (serving == NULL) return PHI_STALE;
    phi_status status = phi__sask_check(serving, desc);
    if (status != PHI_OK) return status;
    phi_arena arena = phi__arena_of(&incoming.server->rt->memory, 0);
    phi__buf text = phi__buf_of(&incoming.server->rt->memory);
    status = phi_json_parse(&arena, phi_str_of(desc->params != NULL ? desc->params : "{}"),
                            PHI_JSON_BORROW, &params, NULL);
    if (status == PHI_OK && !phi_json_is(params, PHI_JSON_OBJECT)) status = PHI_PARSE;
    if (status == PHI_OK) status = phi__json_write(&text, params, 0);
    if (status == PHI_OK && text.failed) status = PHI_NO_MEMORY;
    if (status == PHI_OK) status = phi__sask_open(serving, desc, phi__buf_str(&text));
    phi__buf_free(&text);
    phi_arena_free(&arena);
    if (status != PHI_PARSE && status != PHI_TOO_BIG) return status;
    return phi__error(incoming.server->rt, PHI_BAD_ARG,
                      "phi_mcp_ask: params: expected a JSON object");
}
