/* mcp_serve_call.c - tools that clients call.

   A call runs on an agent of its own, which is hidden: its model is a provider in here, whose one
   answer is that call, and the run ends when its result is in. So the schema check, hooks,
   deadlines, retries, caps and sub-agents are those of any run. */
#include "mcp/mcp_serve_state_in.h"

#include "agent/agent_in.h"
#include "text/records_in.h"
#include "text/schema_in.h"

#include <stdio.h>

/* ---- the model ---- */

static const phi__child_watch *phi__mcp_serve_call_watch(void);

static phi__mcp_serving *phi__mcp_serve_call_of(const phi__agent *agent) {
    if (agent == NULL || agent->tree.watch != phi__mcp_serve_call_watch()) return NULL;
    return (phi__mcp_serving *)agent->tree.watched;
}

static phi_status phi__mcp_serve_call_open(void *user_data, const phi_model_request *request,
                                           void **call) {
    phi__mcp_serving *serving = phi__mcp_serve_call_of(phi__find_agent(request->agent));
    (void)user_data;
    *call = serving;
    if (serving != NULL) return PHI_OK;
    return phi__error(request->agent.rt, PHI_UNSUPPORTED,
                      "an agent below a client's call needs a model of its own");
}

static phi_poll phi__mcp_serve_call_poll(void *user_data, void *call, phi_answer *answer) {
    const phi__mcp_serving *serving = (const phi__mcp_serving *)call;
    (void)user_data;
    phi_answer_call(answer, PHI__LIT("call"), serving->name);
    phi_answer_arguments(answer, serving->arguments, true);
    phi_answer_stop(answer, PHI_STOP_REASON_TOOL_USE);
    return PHI_POLL_DONE;
}

static void phi__mcp_serve_call_close(void *user_data, void *call) {
    (void)user_data;
    (void)call;
}

static phi_provider phi__mcp_serve_call_provider(void) {
    phi_provider provider;
    memset(&provider, 0, sizeof provider);
    provider.protocol = "mcp-call";
    provider.open = phi__mcp_serve_call_open;
    provider.poll = phi__mcp_serve_call_poll;
    provider.close = phi__mcp_serve_call_close;
    return provider;
}

/* ---- the result ---- */

static void phi__mcp_serve_call_content(const phi__mcp_serving *serving, const phi_message *result,
                                        phi__buf *out) {
    bool more = serving->content.len > 0, alone = more;
    size_t i;
    phi__records_raw(out, "content", "[");
    /* a result of blocks of the protocol alone has an empty text */
    for (i = 0; i < result->content_count; i++)
        alone = alone && result->content[i].kind == PHI_CONTENT_TEXT &&
                result->content[i].text.len == 0;
    for (i = 0; i < result->content_count && !alone; i++) {
        phi__json_write_comma(out);
        phi__mcp_serve_send_block(out, &result->content[i], serving->origin.era);
    }
    if (more) {
        phi__json_write_comma(out);
        phi__buf_add(out, serving->content.at + 1, serving->content.len - 2);
    }
    phi__buf_char(out, ']');
}

/* The structured content of a result: its details, or else its text, where the tool has an output
   schema. NULL: none; *message says why, where there should be one. */
static const phi_json *phi__mcp_serve_call_structured(phi__mcp_serving *serving,
                                                      const phi_message *result,
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

/* Members of the result. */
static void phi__mcp_serve_call_members(phi__mcp_serving *serving, const phi_message *result,
                                        phi__buf *out) {
    phi_schema_error error;
    const phi_json *structured = phi__mcp_serve_call_structured(serving, result, &error);
    bool failed = result->is_error || error.message[0] != '\0';
    phi_content block;
    if (error.message[0] != '\0') {
        memset(&block, 0, sizeof block);
        block.text = phi_str_of(error.message);
        phi__records_raw(out, "content", "[");
        phi__mcp_serve_send_block(out, &block, serving->origin.era);
        phi__buf_char(out, ']');
    } else
        phi__mcp_serve_call_content(serving, result, out);
    if (structured != NULL) {
        phi__records_raw(out, "structuredContent", "");
        (void)phi__json_write(out, structured, 0);
    }
    phi__records_bool(out, "isError", failed);
}

static void phi__mcp_serve_call_answer(phi__mcp_serving *serving, const phi_message *result) {
    phi_mcp_server *server = serving->server;
    phi__mcp_origin *origin = &serving->origin;
    phi__buf out;
    if (serving->task != NULL) {
        phi__buf_init(&out, &server->rt->memory);
        phi__buf_char(&out, '{');
        phi__mcp_serve_call_members(serving, result, &out);
        phi__buf_char(&out, '}');
        phi__mcp_serve_task_end(serving, "completed", "result", &out);
        return;
    }
    phi__mcp_serve_send_open(server, origin, &out);
    phi__mcp_serve_send_complete(server, origin, &out);
    phi__mcp_serve_call_members(serving, result, &out);
    phi__mcp_serve_send_close(server, origin, &out);
}

/* The result of its run, in its log; NULL: it has none. */
static const phi_message *phi__mcp_serve_call_result(const phi__agent *agent) {
    const phi_thread *thread = agent->thread;
    size_t i = thread->messages.count;
    while (i-- > 0) {
        const phi__entry *entry = phi__lane_message(thread, i);
        if (entry != NULL && entry->message->role == PHI_ROLE_TOOL_RESULT) return entry->message;
    }
    return NULL;
}

static void phi__mcp_serve_call_failed(phi__mcp_serving *serving, phi_status status,
                                       const phi_failure *failure) {
    phi_str message = phi_str_of(phi_status_text(status));
    if (failure != NULL && failure->message.len > 0) message = failure->message;
    if (serving->task != NULL) {
        phi__buf out;
        phi__buf_init(&out, &serving->server->rt->memory);
        phi__buf_char(&out, '{');
        phi__records_i64(&out, "code", PHI__MCP_RPC_INTERNAL);
        phi__records_str(&out, "message", message);
        phi__buf_char(&out, '}');
        phi__mcp_serve_task_end(serving, "failed", "error", &out);
        return;
    }
    phi__mcp_serve_send_error(serving->server, &serving->origin, PHI__MCP_RPC_INTERNAL, 500,
                              message, NULL);
}

/* ---- its agent ---- */

static bool phi__mcp_serve_call_event(phi__agent *agent, const phi_event *event) {
    phi__mcp_serving *serving = phi__mcp_serve_call_of(agent);
    if (serving != NULL &&
        (event->kind == PHI_EV_TOOL_PROGRESS || event->kind == PHI_EV_TOOL_UPDATE))
        phi__mcp_serve_request_progress(serving, serving->progress + 1, 0, event->text);
    return false;
}

static void phi__mcp_serve_call_over(phi__agent *agent, phi_status status,
                                     const phi_failure *failure, bool stopping) {
    phi__mcp_serving *serving = phi__mcp_serve_call_of(agent);
    const phi_message *result;
    (void)stopping;
    if (serving == NULL) return;
    result = phi__mcp_serve_call_result(agent);
    if (result != NULL)
        phi__mcp_serve_call_answer(serving, result);
    else
        phi__mcp_serve_call_failed(serving, status, failure);
    serving->agent = NULL;
    serving->drop = NULL;
    agent->tree.watched = NULL;
    if (serving->task == NULL) phi__mcp_serve_request_free(serving);
    phi__agent_end_drop(agent);
}

/* The host has freed it: a hook knows its handle. */
static void phi__mcp_serve_call_gone(phi__agent *agent) {
    phi__mcp_serving *serving = phi__mcp_serve_call_of(agent);
    if (serving == NULL) return;
    agent->tree.watched = NULL;
    serving->agent = NULL;
    serving->drop = NULL;
    phi__mcp_serve_call_failed(serving, PHI_CANCELLED, NULL);
    if (serving->task == NULL) phi__mcp_serve_request_free(serving);
}

static const phi__child_watch *phi__mcp_serve_call_watch(void) {
    static const phi__child_watch watch = {true,
                                           false,
                                           phi__mcp_serve_call_event,
                                           NULL,
                                           phi__mcp_serve_call_over,
                                           phi__mcp_serve_call_gone};
    return &watch;
}

static void phi__mcp_serve_call_drop(phi__mcp_serving *serving) {
    phi__agent *agent = serving->agent;
    serving->agent = NULL;
    if (agent == NULL) return;
    agent->tree.watched = NULL;
    phi__agent_end_drop(agent);
}

static phi__agent *phi__mcp_serve_call_agent(phi__mcp_serving *serving,
                                             const phi_provider *provider) {
    const phi_mcp_server_desc *from = &serving->server->desc;
    phi_agent_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.model.protocol = provider->protocol;
    desc.model.id = "client";
    desc.provider = provider;
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
    return phi__agent_make(serving->server->rt, &desc, NULL);
}

/* ---- beginning one ---- */

static const phi_tool *phi__mcp_serve_call_tool(const phi_mcp_server *server, phi_str name,
                                                const phi_mcp_serve_tool **info) {
    size_t i;
    for (i = 0; i < server->desc.tool_count; i++) {
        if (!phi__str_is(name, server->desc.tools[i].name)) continue;
        *info = server->desc.tool_infos != NULL ? &server->desc.tool_infos[i] : NULL;
        return &server->desc.tools[i];
    }
    return NULL;
}

static bool phi__mcp_serve_call_take(phi__mcp_serving *serving, const phi_json *params,
                                     const phi_mcp_serve_tool *info) {
    const phi_json *arguments = phi_json_get(params, "arguments");
    phi_str schema = phi_str_of(info != NULL ? info->output_schema : NULL);
    if (schema.at != NULL) { /* the host may replace the list meanwhile */
        if (!phi__arena_str(&serving->arena, schema, &schema)) return false;
        serving->output_schema = schema.at;
    }
    serving->arguments = PHI__LIT("{}");
    if (arguments != NULL &&
        phi_json_write(&serving->arena, arguments, 0, &serving->arguments) != PHI_OK)
        return false;
    return phi__arena_str(&serving->arena, phi_json_str(phi_json_get(params, "name"), NULL),
                          &serving->name) &&
           phi__mcp_serve_ask_keep(serving, PHI__LIT("tools/call"), params);
}

static void phi__mcp_serve_call_run(phi__mcp_serving *serving, bool task) {
    phi_provider provider = phi__mcp_serve_call_provider();
    phi__agent *agent = phi__mcp_serve_call_agent(serving, &provider);
    phi_status status = PHI_NO_MEMORY;
    const char *why = "";
    if (agent != NULL) {
        serving->agent = agent;
        serving->drop = phi__mcp_serve_call_drop;
        agent->tree.watch = phi__mcp_serve_call_watch();
        agent->tree.watched = serving;
        status = phi_prompt(agent->handle, serving->name.at);
        if (status == PHI_OK && task) (void)phi__mcp_serve_task_begin(serving);
        if (status == PHI_OK) return;
    }
    (void)phi__error_last(serving->server->rt, &why);
    phi__mcp_serve_send_error(serving->server, &serving->origin, PHI__MCP_RPC_INTERNAL, 500,
                              phi_str_of(why), NULL);
    phi__mcp_serve_request_drop(serving, true);
}

PHI__FN void phi__mcp_serve_call_begin(phi_mcp_server *server, phi__mcp_origin *origin,
                                       phi__mcp_client *client, const phi_json *params) {
    const phi_json *arguments = phi_json_get(params, "arguments");
    phi_str name = phi_json_str(phi_json_get(params, "name"), NULL);
    const phi_mcp_serve_tool *info = NULL;
    const phi_tool *tool = phi__mcp_serve_call_tool(server, name, &info);
    phi__mcp_serving *serving;
    char message[160];
    if (tool == NULL || (arguments != NULL && !phi_json_is(arguments, PHI_JSON_OBJECT))) {
        (void)snprintf(message, sizeof message,
                       tool != NULL ? "params.arguments: expected an object" : "Unknown tool: %.*s",
                       (int)phi__min(name.len, 100), name.len > 0 ? name.at : "");
        phi__mcp_serve_send_error(server, origin, PHI__MCP_RPC_BAD_PARAMS, 200, phi_str_of(message),
                                  NULL);
        return;
    }
    serving = phi__mcp_serve_request_new(server, origin, client, PHI__MCP_SERVING_CALL, params);
    if (serving == NULL) return;
    serving->tool = tool;
    if (info != NULL && (info->needs & ~serving->can) != 0) {
        phi__mcp_serve_request_needs(server, &serving->origin, info->needs & ~serving->can);
        phi__mcp_serve_request_drop(serving, true);
    } else if (phi__mcp_serve_call_take(serving, params, info))
        phi__mcp_serve_call_run(serving, info != NULL && info->task);
    else {
        phi__mcp_serve_call_failed(serving, PHI_NO_MEMORY, NULL);
        phi__mcp_serve_request_drop(serving, true);
    }
}

/* ---- public ---- */

PHI_API phi_mcp_incoming phi_mcp_incoming_of(phi_call call) {
    phi_mcp_incoming none;
    const phi__toolcall *c = phi__call_find(call);
    const phi__agent *agent = c != NULL ? c->run->agent : NULL;
    memset(&none, 0, sizeof none);
    for (; agent != NULL; agent = agent->tree.parent) {
        const phi__mcp_serving *serving = phi__mcp_serve_call_of(agent);
        if (serving != NULL) return phi__mcp_serve_request_handle(serving);
    }
    return none;
}

PHI_API phi_status phi_mcp_task(phi_mcp_incoming incoming) {
    phi__mcp_serving *serving = phi__mcp_serve_request_find(incoming);
    if (incoming.server == NULL) return PHI_BAD_ARG;
    if (serving == NULL) return PHI_STALE;
    if (serving->kind != PHI__MCP_SERVING_CALL) return PHI_BAD_ARG;
    return serving->task != NULL ? PHI_OK : phi__mcp_serve_task_begin(serving);
}

PHI_API phi_status phi_mcp_progress(phi_mcp_incoming incoming, double progress, double total,
                                    const char *message) {
    phi__mcp_serving *serving = phi__mcp_serve_request_find(incoming);
    if (serving == NULL) return incoming.server == NULL ? PHI_BAD_ARG : PHI_STALE;
    phi__mcp_serve_request_progress(serving, progress, total, phi_str_of(message));
    return PHI_OK;
}
