/* mcp_serve_call.c - tool calls, resources, prompts and completions for clients.

   Each tool call runs on its own hidden agent. The agent's provider is in this file; its only
   answer is the call, and the run ends with the call's result. So schema checks, hooks, deadlines,
   limits and sub-agents work as in any run. */
#include "agent/agent_in.h"
#include "mcp/mcp_serve_state_in.h"

#include <stdio.h>

/* ---- calls that became tasks (io.modelcontextprotocol/tasks of 2026-07-28) ---- */

/* the shortest interval that clients are asked to keep between polls */
enum { PHI__TASKED_POLL_MS = 1000 };

/* Writes the members that every report of a task's status has. A running task has no ttlMs yet. */
static void phi__tasked_members(const phi__serving *serving, phi__buf *out) {
    const phi__tasked *task = serving->task;
    bool ended = serving->kind == PHI__SERVING_TASK;
    bool asks = !ended && serving->asks.first != NULL;
    int64_t ttl_ms = task->updated_ms - task->created_ms;
    phi__records_str(out, "taskId", phi_str_of(task->id));
    phi__records_str(out, "status", phi_str_of(asks ? "input_required" : task->status));
    phi__records_some(out, "statusMessage", phi_str_of(task->words));
    phi__records_time(out, "createdAt", task->created_ms);
    phi__records_time(out, "lastUpdatedAt", task->updated_ms);
    if (ended)
        phi__records_i64(out, "ttlMs",
                         (ttl_ms > 0 ? ttl_ms : 0) + serving->server->desc.task_ttl_ms);
    else
        phi__records_raw(out, "ttlMs", "null");
    phi__records_u64(out, "pollIntervalMs", PHI__TASKED_POLL_MS);
}

static void phi__tasked_fire(phi__timer *timer) {
    phi__sv_free(PHI__OWNER(timer, phi__serving, timer));
}

static phi_status phi__tasked_begin(phi__serving *serving) {
    phi_mcp_server *server = serving->server;
    if ((serving->can & (uint32_t)PHI_MCP_CAN_TASKS) == 0) return PHI_UNSUPPORTED;
    if (serving->parked) return PHI_BUSY;
    phi__tasked *task = (phi__tasked *)phi__alloc(&server->rt->memory, sizeof *task);
    if (task == NULL) return PHI_NO_MEMORY;
    /* Gives the timer a place in the heap now, because there may be no memory at the end. */
    if (phi__io_timer_set(server->rt->io, &serving->timer, UINT64_MAX) != PHI_OK) {
        phi__free(&server->rt->memory, task, sizeof *task);
        return PHI_NO_MEMORY;
    }
    serving->timer.fire = phi__tasked_fire;
    serving->round++; /* so that the task's id differs from every requestState */
    phi__sask_state(serving, task->id);
    task->status = "working";
    task->created_ms = task->updated_ms = phi__io_wall_ms(server->rt->io);
    phi__buf_init(&task->outcome, &server->rt->memory);
    serving->task = task;
    for (phi__link *link = serving->asks.first; link != NULL; link = link->next)
        (void)phi__sask_wait(PHI__OWNER(link, phi__mcp_question, link));
    phi__origin origin = serving->origin;
    phi__buf out;
    phi__send_open(&origin, &out);
    phi__records_str(&out, "resultType", PHI__LIT("task"));
    phi__tasked_members(serving, &out);
    phi__sv_detach(serving);
    serving->origin.batch = NULL;
    phi__send_close(&origin, &out);
    return PHI_OK;
}

static void phi__tasked_end(phi__serving *serving, const char *status, const char *key,
                            phi__buf *outcome) {
    phi_mcp_server *server = serving->server;
    phi__tasked *task = serving->task;
    phi__sv_free_questions(serving);
    task->updated_ms = phi__io_wall_ms(server->rt->io);
    task->status = status;
    if (outcome != NULL) {
        phi__buf_free(&task->outcome);
        task->outcome = *outcome;
        task->key = key;
    }
    /* PHI_UNLIMITED means 49 days, as mcp_serve.h says. */
    (void)phi__io_timer_set(server->rt->io, &serving->timer,
                            phi__io_now_us(server->rt->io) +
                                (uint64_t)server->desc.task_ttl_ms * 1000);
    phi__sv_keep(serving);
}

/* Finds the task of a request. NULL: an error was sent. */
static phi__serving *phi__tasked_of(phi__origin *origin, const phi_json *params) {
    phi__serving *serving = phi__sask_named(origin->server, phi__records_get_str(params, "taskId"));
    if ((phi__sv_can(origin->server, params) & (uint32_t)PHI_MCP_CAN_TASKS) == 0)
        (void)phi__sv_needs(origin, (uint32_t)PHI_MCP_CAN_TASKS);
    else if (serving != NULL && serving->task != NULL)
        return serving;
    else
        (void)phi__refuse_bad(origin, "params.taskId: there is no such task, or not any more");
    return NULL;
}

PHI__FN bool phi__tasked_get(phi__origin *origin, const phi_json *params) {
    const phi__serving *serving = phi__tasked_of(origin, params);
    phi__buf out;
    if (serving == NULL) return false;
    const phi__tasked *task = serving->task;
    phi__send_open_complete(origin, &out);
    phi__tasked_members(serving, &out);
    if (serving->asks.first != NULL) {
        phi__records_raw(&out, "inputRequests", "");
        phi__sask_write(serving, &out);
    }
    if (task->key != NULL) {
        phi__records_raw(&out, task->key, "");
        phi__buf_add_str(&out, phi__buf_str(&task->outcome));
        if (task->outcome.failed) out.failed = true;
    }
    return phi__send_close(origin, &out);
}

PHI__FN bool phi__tasked_update(phi__origin *origin, const phi_json *params) {
    phi__serving *serving = phi__tasked_of(origin, params);
    if (serving == NULL || !phi__sask_inputs(origin, params)) return false;
    serving->task->updated_ms = phi__io_wall_ms(origin->server->rt->io);
    (void)phi__send_empty(origin);
    phi__sask_take(serving, phi_json_get(params, "inputResponses"));
    return true;
}

/* Calls the tool's cancel function last, because it may free the server. */
PHI__FN bool phi__tasked_cancel(phi__origin *origin, const phi_json *params) {
    phi__serving *serving = phi__tasked_of(origin, params);
    if (serving == NULL) return false;
    (void)phi__send_empty(origin);
    if (serving->kind == PHI__SERVING_TASK) return true;
    phi__tasked_end(serving, "cancelled", NULL, NULL);
    if (serving->drop != NULL) serving->drop(serving);
    return true;
}

/* ---- the provider of the hidden agent ---- */

static const phi__child_watch *phi__srun_watch(void);

static phi__serving *phi__srun_of(const phi__agent *agent) {
    if (agent == NULL || agent->tree.watch != phi__srun_watch()) return NULL;
    return (phi__serving *)agent->tree.watched;
}

static phi_status phi__srun_open(void *user_data, const phi_model_request *request, void **call) {
    phi__serving *serving = phi__srun_of(phi__find_agent(request->agent));
    (void)user_data;
    *call = serving;
    if (serving != NULL) return PHI_OK;
    return phi__error(request->agent.rt, PHI_UNSUPPORTED,
                      "an agent below a client's call needs a model of its own");
}

static phi_poll phi__srun_poll(void *user_data, void *call, phi_answer *answer) {
    const phi__serving *serving = (const phi__serving *)call;
    (void)user_data;
    phi_answer_call(answer, PHI__LIT("call"), serving->name);
    phi_answer_arguments(answer, serving->arguments, true);
    phi_answer_stop(answer, PHI_STOP_REASON_TOOL_USE);
    return PHI_POLL_DONE;
}

static void phi__srun_close(void *user_data, void *call) { (void)user_data, (void)call; }

/* ---- the result ---- */

/* Returns the structured content of a result if the tool has an output schema: the details, or else
   the text, as JSON. NULL: there is none. If the schema is violated, error->message tells why. */
static const phi_json *phi__srun_structured(phi__serving *serving, const phi_message *result,
                                            phi_schema_error *error) {
    phi_arena *arena = &serving->arena;
    phi_json *value = NULL, *schema = NULL;
    phi_str text = result->details;
    error->message[0] = '\0';
    if (serving->output_schema == NULL || result->is_error || !serving->origin.era->structured)
        return NULL;
    if (text.len == 0) text = phi_message_text(result, "", arena, NULL);
    if (phi_json_parse(arena, text, 0, &value, NULL) != PHI_OK ||
        (!phi_json_is(value, PHI_JSON_OBJECT) && !serving->origin.era->any_output)) {
        (void)snprintf(error->message, sizeof error->message,
                       "The tool's result is not the JSON that its output schema promises");
        return NULL;
    }
    if (phi_json_parse(arena, phi_str_of(serving->output_schema), 0, &schema, NULL) == PHI_OK &&
        phi__schema_check(arena->memory, schema, value, "result", error) == PHI_PARSE)
        return NULL;
    error->message[0] = '\0';
    return value;
}

/* Writes the members of a call's result. */
static void phi__srun_members(phi__serving *serving, const phi_message *result, phi__buf *out) {
    phi_schema_error error;
    const phi_json *structured = phi__srun_structured(serving, result, &error);
    bool broken = error.message[0] != '\0', more = serving->content.len > 0, alone = more;
    phi__records_raw(out, "content", "[");
    if (broken) {
        phi_content block = PHI_ZERO;
        block.text = phi_str_of(error.message);
        phi__send_block(out, &block, serving->origin.era);
        more = false;
    }
    /* If a result has only protocol blocks, its one text is empty and is left out. */
    for (size_t i = 0; i < result->content_count; i++)
        alone = alone && result->content[i].kind == PHI_CONTENT_TEXT &&
                result->content[i].text.len == 0;
    for (size_t i = 0; i < result->content_count && !alone && !broken; i++) {
        phi__json_write_comma(out);
        phi__send_block(out, &result->content[i], serving->origin.era);
    }
    if (more) {
        phi__json_write_comma(out);
        phi__buf_add(out, serving->content.at + 1, serving->content.len - 2);
    }
    phi__buf_char(out, ']');
    if (structured != NULL) {
        phi__records_raw(out, "structuredContent", "");
        (void)phi__json_write(out, structured, 0);
    }
    phi__records_bool(out, "isError", result->is_error || broken);
}

/* Returns the tool's result from the agent's log, or NULL. */
static const phi_message *phi__srun_result(const phi__agent *agent) {
    size_t i = agent->thread->messages.count;
    while (i-- > 0) {
        const phi__entry *entry = phi__lane_message(agent->thread, i);
        if (entry != NULL && entry->message->role == PHI_ROLE_TOOL_RESULT) return entry->message;
    }
    return NULL;
}

/* Sends the result, or the failure if result is NULL. Frees the request unless it is a task. */
static void phi__srun_end(phi__serving *serving, const phi_message *result, phi_status status,
                          const phi_failure *failure) {
    bool task = serving->task != NULL;
    phi_str message = phi_str_of(phi_status_text(status));
    if (failure != NULL && failure->message.len > 0) message = failure->message;
    phi__buf out;
    serving->agent = NULL;
    serving->drop = NULL;
    if (result == NULL && !task)
        phi__send_error(&serving->origin, PHI__RPC_INTERNAL, 500, message, NULL);
    else if (!task) {
        phi__send_open_complete(&serving->origin, &out);
        phi__srun_members(serving, result, &out);
        (void)phi__send_close(&serving->origin, &out);
    } else {
        phi__buf_init(&out, &serving->server->rt->memory);
        phi__buf_char(&out, '{');
        if (result != NULL)
            phi__srun_members(serving, result, &out);
        else {
            phi__records_i64(&out, "code", PHI__RPC_INTERNAL);
            phi__records_str(&out, "message", message);
        }
        phi__buf_char(&out, '}');
        phi__tasked_end(serving, result != NULL ? "completed" : "failed",
                        result != NULL ? "result" : "error", &out);
        return;
    }
    phi__sv_free(serving);
}

static bool phi__srun_event(phi__agent *agent, const phi_event *event) {
    phi__serving *serving = phi__srun_of(agent);
    if (serving != NULL &&
        (event->kind == PHI_EV_TOOL_PROGRESS || event->kind == PHI_EV_TOOL_UPDATE))
        phi__sv_progress(serving, serving->progress + 1, 0, event->text);
    return false;
}

static void phi__srun_over(phi__agent *agent, phi_status status, const phi_failure *failure,
                           bool stopping) {
    phi__serving *serving = phi__srun_of(agent);
    (void)stopping;
    if (serving == NULL) return;
    agent->tree.watched = NULL;
    phi__srun_end(serving, phi__srun_result(agent), status, failure);
    phi__end_drop(agent);
}

/* Called when the host has freed the hidden agent. Hooks give the host the agent's handle. */
static void phi__srun_gone(phi__agent *agent) {
    phi__serving *serving = phi__srun_of(agent);
    if (serving == NULL) return;
    agent->tree.watched = NULL;
    phi__srun_end(serving, NULL, PHI_CANCELLED, NULL);
}

static const phi__child_watch *phi__srun_watch(void) {
    static const phi__child_watch watch = {true, false,          phi__srun_event,
                                           NULL, phi__srun_over, phi__srun_gone};
    return &watch;
}

static void phi__srun_drop(phi__serving *serving) {
    phi__agent *agent = serving->agent;
    serving->agent = NULL;
    if (agent == NULL) return;
    agent->tree.watched = NULL;
    phi__end_drop(agent);
}

/* ---- beginning a call ---- */

static bool phi__srun_take(phi__serving *serving, const phi_json *params,
                           const phi_mcp_serve_tool *info) {
    const phi_json *arguments = phi_json_get(params, "arguments");
    phi_str schema = phi_str_of(info != NULL ? info->output_schema : NULL);
    if (schema.at != NULL) { /* copied, because the host may replace the list */
        if (!phi__arena_str(&serving->arena, schema, &schema)) return false;
        serving->output_schema = schema.at;
    }
    serving->arguments = PHI__LIT("{}");
    if (arguments != NULL &&
        phi_json_write(&serving->arena, arguments, 0, &serving->arguments) != PHI_OK)
        return false;
    return phi__arena_str(&serving->arena, phi__records_get_str(params, "name"), &serving->name) &&
           phi__sask_keep(serving, PHI__LIT("tools/call"), params);
}

static bool phi__srun_run(phi__serving *serving, bool task) {
    const phi_mcp_server_desc *from = &serving->server->desc;
    phi_provider provider = PHI_ZERO;
    provider.protocol = "mcp-call";
    provider.open = phi__srun_open;
    provider.poll = phi__srun_poll;
    provider.close = phi__srun_close;
    phi_agent_desc desc = PHI_ZERO;
    desc.model.protocol = provider.protocol;
    desc.model.id = "client";
    desc.provider = &provider;
    desc.tools = serving->tool;
    desc.tool_count = 1;
    desc.tool_options.timeout_ms = from->tool_timeout_ms;
    desc.deadlines.decision_ms = from->decision_timeout_ms;
    desc.limits.max_turns = 1;
    desc.limits.max_duration_ms = PHI_UNLIMITED;
    desc.compaction.disable = true;
    desc.options.disable_facts = true;
    desc.retry.disable = true;
    desc.hook_fn = from->hook_fn;
    desc.hook_points = from->hook_fn != NULL ? from->hook_points : 0;
    desc.user_data = from->user_data;
    desc.ids.config_id = "mcp";
    phi__agent *agent = phi__agent_make(serving->server->rt, &desc, NULL);
    const char *why = "";
    if (agent != NULL) {
        serving->agent = agent;
        serving->drop = phi__srun_drop;
        agent->tree.watch = phi__srun_watch();
        agent->tree.watched = serving;
        phi_status status = phi_prompt(agent->handle, serving->name.at);
        if (status == PHI_OK && task) (void)phi__tasked_begin(serving);
        if (status == PHI_OK) return true;
    }
    (void)phi__error_last(serving->server->rt, &why);
    (void)phi__refuse(&serving->origin, PHI__RPC_INTERNAL, 500, why);
    phi__sv_drop(serving, true);
    return false;
}

PHI__FN bool phi__srun_begin(phi__origin *origin, const phi_json *params) {
    const phi_mcp_server_desc *desc = &origin->server->desc;
    const phi_json *arguments = phi_json_get(params, "arguments");
    phi_str name = phi__records_get_str(params, "name");
    size_t i = 0;
    while (i < desc->tool_count && !phi__str_is(name, desc->tools[i].name)) i++;
    if (i == desc->tool_count)
        return phi__refuse_bad(origin, "Unknown tool: %.*s", (int)phi__min(name.len, 100),
                               name.len > 0 ? name.at : "");
    if (arguments != NULL && !phi_json_is(arguments, PHI_JSON_OBJECT))
        return phi__refuse_bad(origin, "params.arguments: expected an object");
    const phi_mcp_serve_tool *info = desc->tool_infos != NULL ? &desc->tool_infos[i] : NULL;
    phi__serving *serving = phi__sv_new(origin, PHI__SERVING_CALL, params);
    if (serving == NULL) return false;
    serving->tool = &desc->tools[i];
    if (info != NULL && (info->needs & ~serving->can) != 0)
        (void)phi__sv_needs(&serving->origin, info->needs & ~serving->can);
    else if (phi__srun_take(serving, params, info))
        return phi__srun_run(serving, info != NULL && info->task);
    else
        phi__send_error(&serving->origin, PHI__RPC_INTERNAL, 500,
                        phi_str_of(phi_status_text(PHI_NO_MEMORY)), NULL);
    phi__sv_drop(serving, true);
    return false;
}

/* ---- public ---- */

PHI_API phi_mcp_incoming phi_mcp_incoming_of(phi_call call) {
    const phi__toolcall *c = phi__call_find(call);
    const phi__agent *agent = c != NULL ? c->run->agent : NULL;
    phi_mcp_incoming none = PHI_ZERO;
    for (; agent != NULL; agent = agent->tree.parent) {
        const phi__serving *serving = phi__srun_of(agent);
        if (serving != NULL) return phi__sv_handle(serving);
    }
    return none;
}

PHI_API phi_status phi_mcp_task(phi_mcp_incoming incoming) {
    phi__serving *serving = phi__sv_find(incoming);
    if (incoming.server == NULL) return PHI_BAD_ARG;
    if (serving == NULL) return PHI_STALE;
    if (serving->kind != PHI__SERVING_CALL) return PHI_BAD_ARG;
    return serving->task != NULL ? PHI_OK : phi__tasked_begin(serving);
}

PHI_API phi_status phi_mcp_progress(phi_mcp_incoming incoming, double progress, double total,
                                    const char *message) {
    phi__serving *serving = phi__sv_find(incoming);
    if (serving == NULL) return incoming.server == NULL ? PHI_BAD_ARG : PHI_STALE;
    phi__sv_progress(serving, progress, total, phi_str_of(message));
    return PHI_OK;
}

/* ---- URIs of a template (RFC 6570, level 1) ---- */

/* Writes a value, with each %XX decoded, as a JSON string. False: malformed. */
static bool phi__serve_uri_value(phi_str value, phi__buf *out) {
    bool good = true;
    phi__buf plain = phi__buf_of(out->memory);
    for (size_t i = 0; good && i < value.len; i++) {
        uint32_t code = (unsigned char)value.at[i];
        if (code == '%') {
            code = phi__json_text_hex(value.at + i + 1, value.at + value.len, 2);
            good = code != UINT32_MAX;
            i += 2;
        }
        if (good) phi__buf_char(&plain, (char)code);
    }
    if (plain.failed) out->failed = true;
    phi__json_write_str(out, phi__buf_str(&plain));
    phi__buf_free(&plain);
    return good;
}

static bool phi__serve_uri_match(const char *pattern, phi_str uri, phi__buf *out) {
    size_t at = 0;
    bool good = true;
    if (out != NULL) phi__buf_char(out, '{');
    while (good && *pattern != '\0') {
        const char *close = *pattern == '{' ? strchr(pattern, '}') : NULL;
        if (close == NULL) {
            good = at < uri.len && uri.at[at++] == *pattern++;
            continue;
        }
        size_t end = at; /* a value has no '/' and ends before the next literal */
        while (end < uri.len && uri.at[end] != '/' && uri.at[end] != close[1]) end++;
        good = end > at;
        if (good && out != NULL) {
            phi__json_write_key(out, phi__str(pattern + 1, (size_t)(close - pattern) - 1));
            good = phi__serve_uri_value(phi__str(uri.at + at, end - at), out);
        }
        at = end;
        pattern = close + 1;
    }
    if (out != NULL) phi__buf_char(out, '}');
    return good && at == uri.len;
}

/* ---- resources, prompts, completion, and the host's answers ---- */

/* Copies a client's string, terminated. NULL: too long, contains a NUL, or no memory. */
static const char *phi__data_text(phi__serving *serving, phi_str text) {
    phi_str copy;
    if (text.len > PHI__NAME_BYTES || (text.len > 0 && memchr(text.at, 0, text.len) != NULL) ||
        !phi__arena_str(&serving->arena, text, &copy))
        return NULL;
    return copy.at;
}

static bool phi__data_lost(phi__serving *serving) {
    (void)phi__refuse_memory(&serving->origin);
    phi__sv_drop(serving, true);
    return false;
}

/* ---- resources ---- */

static bool phi__data_contents(phi__origin *origin, phi_str uri, const char *mime_type,
                               phi_str content, bool is_text) {
    phi__buf out;
    phi__send_open_complete(origin, &out);
    phi__send_cache(origin, &out);
    phi__records_raw(&out, "contents", "[{");
    phi__records_str(&out, "uri", uri);
    if (mime_type != NULL) phi__records_str(&out, "mimeType", phi_str_of(mime_type));
    if (is_text)
        phi__records_str(&out, "text", content);
    else {
        phi__records_raw(&out, "blob", "\"");
        phi__base64_encode(&out, content.at, content.len);
        phi__buf_char(&out, '"');
    }
    phi__buf_text(&out, "}]");
    return phi__send_close(origin, &out);
}

static const phi_mcp_serve_resource *phi__data_resource(const phi_mcp_server *server, phi_str uri) {
    for (size_t i = 0; i < server->desc.resource_count; i++)
        if (phi__str_is(uri, server->desc.resources[i].uri)) return &server->desc.resources[i];
    return NULL;
}

static const phi_mcp_serve_template *phi__data_template(const phi_mcp_server *server, phi_str uri) {
    for (size_t i = 0; i < server->desc.template_count; i++)
        if (phi__serve_uri_match(server->desc.templates[i].uri, uri, NULL))
            return &server->desc.templates[i];
    return NULL;
}

PHI__FN bool phi__data_known(const phi_mcp_server *server, phi_str uri) {
    return uri.len > 0 && uri.len <= PHI__NAME_BYTES &&
           (phi__data_resource(server, uri) != NULL || phi__data_template(server, uri) != NULL);
}

PHI__FN bool phi__data_unknown(phi__origin *origin, phi_str uri) {
    phi__buf data = phi__buf_of(&origin->server->rt->memory);
    phi__buf_char(&data, '{');
    phi__records_str(&data, "uri", phi__str(uri.at, phi__min(uri.len, PHI__NAME_BYTES)));
    phi__buf_char(&data, '}');
    phi__send_error(origin, origin->era->handshake ? PHI__RPC_NO_RESOURCE : PHI__RPC_BAD_PARAMS,
                    200, PHI__LIT("Resource not found"), &data);
    return false;
}

static bool phi__data_template_read(phi__serving *serving, const phi_mcp_serve_template *of,
                                    const char *uri) {
    phi_mcp_server *server = serving->server;
    phi__buf values = phi__buf_of(&server->rt->memory);
    bool matches = phi__serve_uri_match(of->uri, phi_str_of(uri), &values);
    if (matches && !values.failed) {
        phi__sask_enter(server);
        of->read(of->user_data, phi__sv_handle(serving), uri, phi__buf_str(&values));
        phi__buf_free(&values);
        (void)phi__sask_leave(server);
        return true;
    }
    phi__buf_free(&values);
    if (matches) return phi__data_lost(serving);
    (void)phi__data_unknown(&serving->origin, phi_str_of(uri));
    phi__sv_drop(serving, true);
    return false;
}

PHI__FN bool phi__data_read(phi__origin *origin, const phi_json *params) {
    phi_mcp_server *server = origin->server;
    phi_str uri = phi__records_get_str(params, "uri"), type;
    if (!phi__data_known(server, uri)) return phi__data_unknown(origin, uri);
    const phi_mcp_serve_resource *resource = phi__data_resource(server, uri);
    if (resource != NULL && resource->read == NULL) {
        bool is_text = resource->text != NULL;
        phi_str content = is_text ? phi_str_of(resource->text)
                                  : phi__str((const char *)resource->bytes, resource->byte_count);
        return phi__data_contents(origin, uri, resource->mime_type, content, is_text);
    }
    phi__serving *serving = phi__sv_new(origin, PHI__SERVING_READ, params);
    if (serving == NULL) return false;
    const phi_mcp_serve_template *of = resource == NULL ? phi__data_template(server, uri) : NULL;
    const char *own = phi__data_text(serving, uri);
    const char *mime_type = of != NULL ? of->mime_type : resource->mime_type;
    /* The type is copied, because the host may replace the list before it answers. */
    if (own == NULL || !phi__sask_keep(serving, PHI__LIT("resources/read"), params) ||
        !phi__arena_str(&serving->arena, phi_str_of(mime_type), &type))
        return phi__data_lost(serving);
    if (mime_type != NULL) serving->mime_type = type.at;
    serving->name = phi_str_of(own);
    if (of != NULL) return phi__data_template_read(serving, of, own);
    phi__sask_enter(server);
    resource->read(resource->user_data, phi__sv_handle(serving), own);
    (void)phi__sask_leave(server);
    return true;
}

/* ---- prompts ---- */

static const phi_mcp_serve_prompt *phi__data_prompt_of(const phi_mcp_server *server, phi_str name) {
    for (size_t i = 0; i < server->desc.prompt_count; i++)
        if (phi__str_is(name, server->desc.prompts[i].name)) return &server->desc.prompts[i];
    return NULL;
}

/* True if all arguments are strings and no required one is missing. Otherwise an error was sent. */
static bool phi__data_arguments(phi__origin *origin, const phi_mcp_serve_prompt *prompt,
                                const phi_json *arguments) {
    phi_json_iter it = phi_json_each(arguments);
    const phi_json *child;
    if (arguments != NULL && !phi_json_is(arguments, PHI_JSON_OBJECT))
        return phi__refuse_bad(origin, "params.arguments: expected an object");
    while ((child = phi_json_next(&it)) != NULL)
        if (!phi_json_is(child, PHI_JSON_STRING))
            return phi__refuse_bad(origin, "params.arguments.%.*s: expected a string",
                                   (int)phi__min(it.key.len, 120), it.key.at);
    for (size_t i = 0; i < prompt->argument_count; i++) {
        const char *name = prompt->arguments[i].name;
        if (prompt->arguments[i].required && phi_json_get(arguments, name) == NULL)
            return phi__refuse_bad(origin, "params.arguments.%.120s: missing", name);
    }
    return true;
}

static bool phi__data_messages(phi__origin *origin, const phi_mcp_serve_prompt *prompt,
                               const phi_message *messages, size_t count) {
    phi__buf out;
    phi__send_open_complete(origin, &out);
    if (prompt != NULL && prompt->description != NULL)
        phi__records_str(&out, "description", phi_str_of(prompt->description));
    phi__records_raw(&out, "messages", "[");
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < messages[i].content_count; j++) {
            const phi_content *block = &messages[i].content[j];
            if (block->kind != PHI_CONTENT_TEXT && block->kind != PHI_CONTENT_IMAGE &&
                block->kind != PHI_CONTENT_DOCUMENT && block->kind != PHI_CONTENT_AUDIO)
                continue;
            phi__json_write_comma(&out);
            phi__buf_char(&out, '{');
            phi__records_str(&out, "role",
                             messages[i].role == PHI_ROLE_ASSISTANT ? PHI__LIT("assistant")
                                                                    : PHI__LIT("user"));
            phi__records_raw(&out, "content", "");
            phi__send_block(&out, block, origin->era);
            phi__buf_char(&out, '}');
        }
    phi__buf_char(&out, ']');
    return phi__send_close(origin, &out);
}

static bool phi__data_said(phi__origin *origin, const phi_mcp_serve_prompt *prompt, phi_str text) {
    phi_content block = PHI_ZERO;
    phi_message message = PHI_ZERO;
    block.kind = PHI_CONTENT_TEXT;
    block.text = text;
    message.role = PHI_ROLE_USER;
    message.content = &block;
    message.content_count = 1;
    return phi__data_messages(origin, prompt, &message, 1);
}

/* Sends a prompt's text with each "{name}" replaced by the argument. */
static bool phi__data_static(phi__origin *origin, const phi_mcp_serve_prompt *prompt,
                             const phi_json *arguments) {
    phi__buf text = phi__buf_of(&origin->server->rt->memory);
    for (const char *at = prompt->text; *at != '\0';) {
        size_t i = *at == '{' ? 0 : prompt->argument_count, n = 0;
        for (; i < prompt->argument_count; i++) {
            n = strlen(prompt->arguments[i].name);
            if (strncmp(at + 1, prompt->arguments[i].name, n) == 0 && at[n + 1] == '}') break;
        }
        if (i == prompt->argument_count) {
            phi__buf_char(&text, *at++);
            continue;
        }
        phi__buf_add_str(&text, phi__records_get_str(arguments, prompt->arguments[i].name));
        at += n + 2;
    }
    bool good = text.failed ? phi__refuse_memory(origin)
                            : phi__data_said(origin, prompt, phi__buf_str(&text));
    phi__buf_free(&text);
    return good;
}

PHI__FN bool phi__data_prompt(phi__origin *origin, const phi_json *params) {
    phi_str name = phi__records_get_str(params, "name"), text = PHI__LIT("{}");
    const phi_json *arguments = phi_json_get(params, "arguments");
    const phi_mcp_serve_prompt *prompt = phi__data_prompt_of(origin->server, name);
    if (prompt == NULL)
        return phi__refuse_bad(origin, "Unknown prompt: %.*s", (int)phi__min(name.len, 120),
                               name.len > 0 ? name.at : "");
    if (!phi__data_arguments(origin, prompt, arguments)) return false;
    if (prompt->get == NULL) return phi__data_static(origin, prompt, arguments);
    phi__serving *serving = phi__sv_new(origin, PHI__SERVING_PROMPT, params);
    if (serving == NULL) return false;
    if ((arguments != NULL && phi_json_write(&serving->arena, arguments, 0, &text) != PHI_OK) ||
        !phi__arena_str(&serving->arena, name, &serving->name) ||
        !phi__sask_keep(serving, PHI__LIT("prompts/get"), params))
        return phi__data_lost(serving);
    phi__sask_enter(origin->server);
    prompt->get(prompt->user_data, phi__sv_handle(serving), text);
    (void)phi__sask_leave(origin->server);
    return true;
}

static bool phi__data_completed(phi_mcp_server *server, const phi_json *ref) {
    phi_str type = phi__records_get_str(ref, "type");
    phi_str uri = phi__records_get_str(ref, "uri");
    if (phi__str_is(type, "ref/prompt"))
        return phi__data_prompt_of(server, phi__records_get_str(ref, "name")) != NULL;
    if (!phi__str_is(type, "ref/resource")) return false;
    for (size_t i = 0; i < server->desc.template_count; i++)
        if (phi__str_is(uri, server->desc.templates[i].uri)) return true;
    return phi__data_known(server, uri);
}

PHI__FN bool phi__data_complete(phi__origin *origin, const phi_json *params) {
    const phi_json *ref = phi_json_get(params, "ref"), *argument = phi_json_get(params, "argument");
    const phi_json *known = phi_json_path(params, "context.arguments");
    if (!phi__data_completed(origin->server, ref) ||
        !phi_json_is(phi_json_get(argument, "name"), PHI_JSON_STRING) ||
        !phi_json_is(phi_json_get(argument, "value"), PHI_JSON_STRING))
        return phi__refuse_bad(origin, "params: expected a ref that is known, and argument.name "
                                       "and argument.value");
    phi__serving *serving = phi__sv_new(origin, PHI__SERVING_COMPLETE, params);
    if (serving == NULL) return false;
    phi_mcp_serve_completion what = PHI_ZERO;
    what.known = PHI__LIT("{}");
    what.argument = phi__data_text(serving, phi__records_get_str(argument, "name"));
    what.value = phi__data_text(serving, phi__records_get_str(argument, "value"));
    if (phi_json_get(ref, "name") != NULL)
        what.prompt = phi__data_text(serving, phi__records_get_str(ref, "name"));
    else
        what.uri = phi__data_text(serving, phi__records_get_str(ref, "uri"));
    if (what.argument == NULL || what.value == NULL ||
        (phi_json_is(known, PHI_JSON_OBJECT) &&
         phi_json_write(&serving->arena, known, 0, &what.known) != PHI_OK))
        return phi__data_lost(serving);
    phi__sask_enter(origin->server);
    origin->server->desc.complete_fn(origin->server->desc.user_data, phi__sv_handle(serving),
                                     &what);
    (void)phi__sask_leave(origin->server);
    return true;
}

/* ---- public: answers ---- */

static void phi__data_values(phi__serving *serving, const phi_mcp_answer_desc *answer) {
    enum { PHI__MOST = 100 }; /* limit of the specification */
    size_t total = phi__max(answer->value_total, answer->value_count), i;
    phi__buf out;
    phi__send_open_complete(&serving->origin, &out);
    phi__records_raw(&out, "completion", "{");
    phi__records_raw(&out, "values", "[");
    for (i = 0; i < answer->value_count && i < PHI__MOST; i++) {
        phi__json_write_comma(&out);
        phi__json_write_str(&out, phi_str_of(answer->values[i]));
    }
    phi__buf_char(&out, ']');
    phi__records_u64(&out, "total", total);
    phi__records_bool(&out, "hasMore", total > i);
    phi__buf_char(&out, '}');
    (void)phi__send_close(&serving->origin, &out);
}

static phi_status phi__data_json(phi__serving *serving, phi_str result) {
    phi_json *root = NULL;
    phi_status status = phi_json_parse(&serving->arena, result, PHI_JSON_BORROW, &root, NULL);
    if (status == PHI_NO_MEMORY) return status;
    if (status != PHI_OK || !phi_json_is(root, PHI_JSON_OBJECT)) return PHI_BAD_ARG;
    phi_json_iter it = phi_json_each(root);
    phi__buf out;
    phi__send_open(&serving->origin, &out);
    if (serving->origin.era->result_type && phi_json_get(root, "resultType") == NULL)
        phi__records_str(&out, "resultType", PHI__LIT("complete"));
    if (serving->kind == PHI__SERVING_READ && phi_json_get(root, "ttlMs") == NULL)
        phi__send_cache(&serving->origin, &out);
    while (phi_json_next(&it) != NULL) {
        phi__json_write_key(&out, it.key);
        (void)phi__json_write(&out, it.at, 0);
    }
    phi__send_close(&serving->origin, &out);
    return PHI_OK;
}

static phi_status phi__data_blocks(phi__serving *serving, const char *blocks) {
    phi_json *list = NULL;
    phi_arena arena = phi__arena_of(&serving->server->rt->memory, 0);
    phi_status status = phi_json_parse(&arena, phi_str_of(blocks), PHI_JSON_BORROW, &list, NULL);
    if (status == PHI_OK && !phi_json_is(list, PHI_JSON_ARRAY)) status = PHI_PARSE;
    if (status == PHI_OK) status = phi_json_write(&serving->arena, list, 0, &serving->content);
    phi_arena_free(&arena);
    if (status == PHI_OK && phi__str_is(serving->content, "[]")) serving->content.len = 0;
    return status == PHI_PARSE || status == PHI_TOO_BIG ? PHI_BAD_ARG : status;
}

PHI_API phi_status phi_mcp_answer(phi_mcp_incoming incoming, const phi_mcp_answer_desc *answer) {
    phi__serving *serving = phi__sv_find(incoming);
    if (answer == NULL || incoming.server == NULL) return PHI_BAD_ARG;
    if (serving == NULL) return PHI_STALE;
    phi__origin *origin = &serving->origin;
    bool read = serving->kind == PHI__SERVING_READ, prompt = serving->kind == PHI__SERVING_PROMPT;
    bool complete = serving->kind == PHI__SERVING_COMPLETE;
    const phi_mcp_serve_prompt *of =
        prompt ? phi__data_prompt_of(serving->server, serving->name) : NULL;
    const char *type = answer->mime_type != NULL ? answer->mime_type : serving->mime_type;
    phi_status status = PHI_OK;
    if (answer->error != NULL || answer->json.len > 0) {
        if (!read && !prompt && !complete) return PHI_BAD_ARG;
        if (answer->error != NULL)
            (void)phi__refuse(origin, PHI__RPC_INTERNAL, 200, answer->error);
        else
            status = phi__data_json(serving, answer->json);
    } else if (answer->text.at != NULL) {
        if (!read && !prompt) return PHI_BAD_ARG;
        if (read)
            (void)phi__data_contents(origin, serving->name, type, answer->text, true);
        else
            (void)phi__data_said(origin, of, answer->text);
    } else if (answer->bytes != NULL) {
        if (!read) return PHI_BAD_ARG;
        phi_str bytes = phi__str((const char *)answer->bytes, answer->byte_count);
        (void)phi__data_contents(origin, serving->name, type, bytes, false);
    } else if (answer->messages != NULL) {
        if (!prompt) return PHI_BAD_ARG;
        (void)phi__data_messages(origin, of, answer->messages, answer->message_count);
    } else if (answer->blocks != NULL)
        return serving->kind == PHI__SERVING_CALL ? phi__data_blocks(serving, answer->blocks)
                                                  : PHI_BAD_ARG;
    else if (!complete)
        return PHI_BAD_ARG;
    else
        phi__data_values(serving, answer);
    if (status == PHI_NO_MEMORY) (void)phi__refuse_memory(origin);
    if (status != PHI_BAD_ARG) phi__sv_free(serving);
    return status;
}
