/* mcp_sampling.c - an answer of an agent's model for a server.

   The server's messages become the history of a hidden agent, which makes one model call. Tools are
   the server's: a call of one is part of the answer, and nothing is run here. */
#include "mcp/mcp_sampling_in.h"

#include "agent/agent_in.h"
#include "mcp/mcp_content_in.h"
#include "text/json_in.h"

enum { PHI__MCP_SAMPLING_MESSAGES = 4096 };

/* ---- messages ---- */

typedef struct phi__mcp_sampling_list {
    phi_arena *arena;
    phi_message *messages;
    size_t count, most;
    const char *fault; /* static */
} phi__mcp_sampling_list;

static phi_message *phi__mcp_sampling_add(phi__mcp_sampling_list *list, phi_role role) {
    phi_message *message;
    if (list->count == list->most) return NULL;
    message = &list->messages[list->count++];
    memset(message, 0, sizeof *message);
    message->role = role;
    return message;
}

/* The name of the call that a result is for. */
static phi_str phi__mcp_sampling_called(const phi__mcp_sampling_list *list, phi_str id) {
    size_t i = list->count, j;
    while (i-- > 0)
        for (j = 0; j < list->messages[i].content_count; j++)
            if (list->messages[i].content[j].kind == PHI_CONTENT_TOOL_CALL &&
                phi_str_equal(list->messages[i].content[j].id, id))
                return list->messages[i].content[j].name;
    return PHI__LIT("tool");
}

static bool phi__mcp_sampling_is(const phi_json *block, const char *type) {
    return phi__str_is(phi_json_str(phi_json_get(block, "type"), ""), type);
}

/* Each result is a message of its own. False: no memory. */
static bool phi__mcp_sampling_result(phi__mcp_sampling_list *list, const phi_json *block) {
    phi_message *m = phi__mcp_sampling_add(list, PHI_ROLE_TOOL_RESULT);
    phi_content *content = NULL;
    if (m == NULL) return false;
    m->tool_call_id = phi_json_str(phi_json_get(block, "toolUseId"), "");
    m->tool_name = phi__mcp_sampling_called(list, m->tool_call_id);
    m->is_error = phi_json_bool(phi_json_get(block, "isError"), false);
    if (!phi__mcp_content_read(phi_json_get(block, "content"), list->arena, &content,
                               &m->content_count))
        return false;
    m->content = content;
    return true;
}

static bool phi__mcp_sampling_block(phi_arena *arena, const phi_json *block, phi_content *out) {
    if (!phi__mcp_sampling_is(block, "tool_use")) return phi__mcp_content_block(block, arena, out);
    memset(out, 0, sizeof *out);
    out->kind = PHI_CONTENT_TOOL_CALL;
    out->id = phi_json_str(phi_json_get(block, "id"), "");
    out->name = phi_json_str(phi_json_get(block, "name"), "");
    out->arguments = PHI__LIT("{}");
    return !phi_json_is(phi_json_get(block, "input"), PHI_JSON_OBJECT) ||
           phi_json_write(arena, phi_json_get(block, "input"), 0, &out->arguments) == PHI_OK;
}

/* A message whose content is an array, or one block. */
static bool phi__mcp_sampling_message(phi__mcp_sampling_list *list, const phi_json *node) {
    const phi_json *content = phi_json_get(node, "content"), *block;
    bool assistant = phi__str_is(phi_json_str(phi_json_get(node, "role"), ""), "assistant");
    size_t most = phi_json_is(content, PHI_JSON_ARRAY) ? phi_json_count(content) : 1, n = 0, i;
    phi_content *out =
        (phi_content *)phi_arena_alloc(list->arena, phi__mul(phi__max(most, 1), sizeof *out));
    phi_message *m;
    if (out == NULL) return false;
    for (i = 0; i < most; i++) {
        block = phi_json_is(content, PHI_JSON_ARRAY) ? phi_json_at(content, i) : content;
        if (!phi_json_is(block, PHI_JSON_OBJECT)) {
            list->fault = "messages: a block of content is no object";
            return true;
        }
        if (phi__mcp_sampling_is(block, "tool_result")) {
            if (!phi__mcp_sampling_result(list, block)) return false;
        } else if (!phi__mcp_sampling_block(list->arena, block, &out[n++]))
            return false;
    }
    if (n == 0) return true;
    m = phi__mcp_sampling_add(list, assistant ? PHI_ROLE_ASSISTANT : PHI_ROLE_USER);
    if (m == NULL) return false;
    m->content = out;
    m->content_count = n;
    if (assistant) {
        phi__mcp_content_of_assistant(out, n);
        m->stop_reason = PHI_STOP_REASON_STOP;
    }
    return true;
}

static size_t phi__mcp_sampling_most(const phi_json *messages) {
    const phi_json *node;
    phi_json_iter it = phi_json_each(messages);
    size_t most = 0;
    while ((node = phi_json_next(&it)) != NULL) {
        const phi_json *content = phi_json_get(node, "content");
        most += 1 + (phi_json_is(content, PHI_JSON_ARRAY) ? phi_json_count(content) : 1);
    }
    return most;
}

static phi_status phi__mcp_sampling_read(phi__mcp_sampling_list *list, const phi_json *params) {
    const phi_json *messages = phi_json_get(params, "messages"), *node;
    phi_json_iter it = phi_json_each(phi_json_is(messages, PHI_JSON_ARRAY) ? messages : NULL);
    list->most = phi_json_is(messages, PHI_JSON_ARRAY) ? phi__mcp_sampling_most(messages) : 0;
    if (list->most == 0) list->fault = "messages are missing";
    if (list->most > PHI__MCP_SAMPLING_MESSAGES) list->fault = "too many messages";
    if (list->fault != NULL) return PHI_BAD_ARG;
    list->messages =
        (phi_message *)phi_arena_alloc(list->arena, phi__mul(list->most, sizeof *list->messages));
    if (list->messages == NULL) return PHI_NO_MEMORY;
    while (list->fault == NULL && (node = phi_json_next(&it)) != NULL)
        if (!phi__mcp_sampling_message(list, node)) return PHI_NO_MEMORY;
    if (list->fault == NULL &&
        (list->count == 0 || list->messages[list->count - 1].role == PHI_ROLE_ASSISTANT))
        list->fault = "messages: the last one is not the user's";
    return list->fault == NULL ? PHI_OK : PHI_BAD_ARG;
}

/* ---- the agent ---- */

/* A call of the server's tool ends the run's one turn. */
static phi_flow phi__mcp_sampling_call(void *user_data, phi_call call, phi_str arguments) {
    (void)user_data;
    (void)call;
    (void)arguments;
    return PHI_DONE;
}

static bool phi__mcp_sampling_text(phi_arena *arena, phi_str text, const char **out) {
    phi_str copy;
    *out = NULL;
    if (!phi__arena_str(arena, text, &copy)) return false;
    *out = copy.at; /* terminated */
    return true;
}

/* False: no memory. */
static bool phi__mcp_sampling_tools(phi_arena *arena, const phi_json *params, phi_agent_desc *d) {
    const phi_json *list = phi_json_get(params, "tools"), *node;
    phi_str mode = phi_json_str(phi_json_path(params, "toolChoice.mode"), "auto");
    phi_json_iter it = phi_json_each(phi_json_is(list, PHI_JSON_ARRAY) ? list : NULL);
    phi_tool *tools;
    if (!phi_json_is(list, PHI_JSON_ARRAY) || phi_json_count(list) == 0) return true;
    tools = (phi_tool *)phi__arena_zero(arena, phi__mul(phi_json_count(list), sizeof *tools));
    if (tools == NULL) return false;
    d->tools = tools;
    d->tool_options.choice = phi__str_is(mode, "required") ? PHI_TOOL_CHOICE_REQUIRED
                             : phi__str_is(mode, "none")   ? PHI_TOOL_CHOICE_NONE
                                                           : PHI_TOOL_CHOICE_AUTO;
    while ((node = phi_json_next(&it)) != NULL) {
        phi_tool *tool = &tools[d->tool_count++];
        const phi_json *schema = phi_json_get(node, "inputSchema");
        phi_str text = phi__str(NULL, 0);
        if (schema != NULL && phi_json_write(arena, schema, 0, &text) != PHI_OK) return false;
        if (!phi__mcp_sampling_text(arena, phi_json_str(phi_json_get(node, "name"), ""),
                                    &tool->name) ||
            !phi__mcp_sampling_text(arena, phi_json_str(phi_json_get(node, "description"), ""),
                                    &tool->description))
            return false;
        tool->schema = text.len > 0 ? text.at : NULL;
        tool->start = phi__mcp_sampling_call;
        tool->checks_arguments = true;
    }
    return true;
}

/* 0: none. */
static uint32_t phi__mcp_sampling_least(uint32_t a, uint32_t b) {
    return a == 0 || (b != 0 && b < a) ? b : a;
}

/* As the agent is, without what makes it one: its prompt, history, tools and facts. */
static phi_agent_desc phi__mcp_sampling_desc(const phi__agent *agent, const phi_json *params) {
    uint64_t most = phi__json_get_uint(phi_json_get(params, "maxTokens"), 0);
    phi_agent_desc d;
    memset(&d, 0, sizeof d);
    d.model = agent->desc.model;
    d.provider = agent->desc.provider;
    d.max_tokens = phi__mcp_sampling_least(
        most > UINT32_MAX ? 0 : (uint32_t)most,
        phi__mcp_sampling_least(agent->desc.max_tokens, agent->desc.model.max_tokens));
    d.options.has_temperature = phi_json_is(phi_json_get(params, "temperature"), PHI_JSON_NUMBER);
    d.options.temperature = phi_json_num(phi_json_get(params, "temperature"), 0);
    if (!(d.options.temperature >= 0.0 && d.options.temperature <= 100.0))
        d.options.has_temperature = false;
    d.cache = agent->desc.cache;
    d.compaction.disable = true;
    d.limits.max_turns = 1;
    d.limits.max_tokens = UINT64_MAX;
    d.deadlines = agent->desc.deadlines;
    d.retry = agent->desc.retry;
    d.parent = agent->handle;
    d.ids.config_id = "sampling";
    d.hook_points = agent->desc.hook_points & (uint32_t)PHI_HOOK_CREDENTIAL;
    if (d.hook_points != 0) d.hook_fn = agent->desc.hook_fn;
    d.memory.limit_bytes = agent->desc.memory.limit_bytes;
    d.memory.at_limit = PHI_AT_MEMORY_LIMIT_STOP;
    d.memory.max_event_bytes = agent->desc.memory.max_event_bytes;
    d.memory.max_response_bytes = agent->desc.memory.max_response_bytes;
    d.translate_fn = agent->desc.translate_fn;
    d.user_data = agent->desc.user_data;
    d.hook_user_data = agent->desc.hook_user_data;
    d.options.disable_facts = true;
    return d;
}

/* ---- its answer ---- */

static const char *phi__mcp_sampling_stop(phi_stop_reason reason) {
    return reason == PHI_STOP_REASON_TOOL_USE ? "toolUse"
           : reason == PHI_STOP_REASON_LENGTH ? "maxTokens"
                                              : "endTurn";
}

static void phi__mcp_sampling_end(phi__buf *out, phi_str model, const char *stop) {
    phi__json_write_key(out, PHI__LIT("model"));
    phi__json_write_str(out, model);
    phi__json_write_key(out, PHI__LIT("stopReason"));
    phi__json_write_str(out, phi_str_of(stop));
    phi__buf_char(out, '}');
}

static void phi__mcp_sampling_put_call(phi__buf *out, const phi_content *block) {
    phi__buf_text(out, "{\"type\":\"tool_use\",\"id\":");
    phi__json_write_str(out, block->id);
    phi__json_write_key(out, PHI__LIT("name"));
    phi__json_write_str(out, block->name);
    phi__json_write_key(out, PHI__LIT("input"));
    phi__buf_add_str(out, block->arguments.len > 0 ? block->arguments : PHI__LIT("{}"));
    phi__buf_char(out, '}');
}

static void phi__mcp_sampling_put_text(phi__buf *out, phi_str text) {
    phi__buf_text(out, "{\"type\":\"text\",\"text\":");
    phi__json_write_str(out, text);
    phi__buf_char(out, '}');
}

/* A list of blocks where the request has tools and there is more than one; else one block. */
static void phi__mcp_sampling_content(phi__buf *out, const phi_message *m, bool lists,
                                      phi_arena *arena) {
    size_t i, shown = 0;
    bool failed = false;
    for (i = 0; i < m->content_count; i++)
        shown +=
            m->content[i].kind == PHI_CONTENT_TEXT || m->content[i].kind == PHI_CONTENT_TOOL_CALL;
    if (!lists || (shown <= 1 && m->stop_reason != PHI_STOP_REASON_TOOL_USE)) {
        phi__mcp_sampling_put_text(out, phi_message_text(m, "\n", arena, &failed));
        out->failed = out->failed || failed;
        return;
    }
    phi__buf_char(out, '[');
    for (i = 0; i < m->content_count; i++) {
        const phi_content *block = &m->content[i];
        if (block->kind != PHI_CONTENT_TEXT && block->kind != PHI_CONTENT_TOOL_CALL) continue;
        phi__json_write_comma(out);
        if (block->kind == PHI_CONTENT_TOOL_CALL)
            phi__mcp_sampling_put_call(out, block);
        else
            phi__mcp_sampling_put_text(out, block->text);
    }
    phi__buf_char(out, ']');
}

/* The answer of the one turn; NULL: there is none. */
static const phi_message *phi__mcp_sampling_reply(const phi__agent *child) {
    const phi_thread *thread = child->thread;
    const phi_message *m;
    size_t i = thread->messages.count;
    while (i-- > 0) {
        m = phi__lane_message(thread, i)->message;
        if (m->role == PHI_ROLE_ASSISTANT && m->loop_id.len > 0)
            return m->stop_reason != PHI_STOP_REASON_ERROR &&
                           m->stop_reason != PHI_STOP_REASON_ABORTED
                       ? m
                       : NULL;
    }
    return NULL;
}

static void phi__mcp_sampling_free(phi__mcp_sampling *s, phi__agent *child) {
    s->child.rt = NULL;
    child->tree.watch = NULL; /* `gone` is not for us */
    phi_agent_free(child->handle);
    phi_arena_free(&s->arena);
}

static void phi__mcp_sampling_over(phi__agent *child, phi_status status, const phi_failure *failure,
                                   bool stopping) {
    phi__mcp_sampling *s = (phi__mcp_sampling *)child->tree.watched;
    const phi_message *reply = phi__mcp_sampling_reply(child);
    phi_arena scratch;
    phi__buf out;
    (void)stopping;
    phi__buf_init(&out, &child->rt->memory); /* `done` may free the connection */
    phi_arena_init(&scratch, s->memory, 0);
    if (reply != NULL && (status == PHI_OK || status == PHI_LIMIT)) {
        phi__buf_text(&out, "{\"role\":\"assistant\",\"content\":");
        phi__mcp_sampling_content(&out, reply, s->tools, &scratch);
        phi__mcp_sampling_end(
            &out, reply->model.len > 0 ? reply->model : phi_str_of(child->desc.model.id),
            phi__mcp_sampling_stop(s->tools || reply->stop_reason != PHI_STOP_REASON_TOOL_USE
                                       ? reply->stop_reason
                                       : PHI_STOP_REASON_STOP));
        status = out.failed ? PHI_NO_MEMORY : PHI_OK;
    } else if (status == PHI_OK)
        status = PHI_LIMIT;
    if (status != PHI_OK) {
        phi__buf_clear(&out);
        phi__buf_text(&out, "the model gave no answer: ");
        phi__buf_text(&out, failure != NULL ? phi_failure_kind_text(failure->kind)
                                            : phi_status_text(status));
    }
    phi_arena_free(&scratch);
    phi__mcp_sampling_free(s, child);
    s->done(s->ctx, status, out.failed ? PHI__LIT("no memory") : phi__buf_str(&out));
    phi__buf_free(&out);
}

static void phi__mcp_sampling_gone(phi__agent *child) {
    phi__mcp_sampling *s = (phi__mcp_sampling *)child->tree.watched;
    s->child.rt = NULL;
    phi_arena_free(&s->arena);
    s->done(s->ctx, PHI_CANCELLED, PHI__LIT("the agent was freed"));
}

static const phi__child_watch phi__mcp_sampling_watch = {
    true, false, NULL, NULL, phi__mcp_sampling_over, phi__mcp_sampling_gone};

/* ---- starting ---- */

static phi_status phi__mcp_sampling_run(phi__agent *child, const phi__mcp_sampling_list *list) {
    phi__run_order order;
    phi_status status = PHI_OK;
    size_t before = list->count, i;
    while (before > 0 && list->messages[before - 1].role == PHI_ROLE_USER) before--;
    for (i = 0; i < before && status == PHI_OK; i++)
        status = phi_thread_append(child->thread, &list->messages[i], 1, NULL);
    if (status != PHI_OK) return status;
    memset(&order, 0, sizeof order);
    order.prompts = &list->messages[before];
    order.prompt_count = list->count - before;
    if (order.prompt_count == 0) order.continuation = PHI_CONTINUATION_DEFAULT;
    return phi__run_new(child, &order);
}

static phi_status phi__mcp_sampling_begin(phi__mcp_sampling *s, phi__agent *agent,
                                          const phi_json *params,
                                          const phi__mcp_sampling_list *list) {
    phi_agent_desc d = phi__mcp_sampling_desc(agent, params);
    const phi_json *system = phi_json_get(params, "systemPrompt");
    phi__agent *child;
    phi_status status;
    if (system != NULL &&
        !phi__mcp_sampling_text(list->arena, phi_json_str(system, ""), &d.system_prompt))
        return PHI_NO_MEMORY;
    if (s->tools && !phi__mcp_sampling_tools(list->arena, params, &d)) return PHI_NO_MEMORY;
    child = phi__agent_make(agent->rt, &d, NULL);
    if (child == NULL) return phi__error_last(agent->rt, NULL);
    child->tree.watch = &phi__mcp_sampling_watch;
    child->tree.watched = s;
    status = phi__mcp_sampling_run(child, list);
    if (status == PHI_OK)
        s->child = child->handle;
    else
        phi__mcp_sampling_free(s, child);
    return status;
}

PHI__FN phi_status phi__mcp_sampling_start(phi__mcp_sampling *s, phi__agent *agent,
                                           const phi_json *params, const char **words) {
    phi__mcp_sampling_list list;
    phi_status status;
    memset(&list, 0, sizeof list);
    phi_arena_init(&s->arena, s->memory, 0);
    list.arena = &s->arena;
    *words = "no memory";
    status = phi__mcp_sampling_read(&list, params);
    if (list.fault != NULL)
        *words = list.fault;
    else if (status == PHI_OK) {
        status = phi__mcp_sampling_begin(s, agent, params, &list);
        if (status != PHI_OK && status != PHI_NO_MEMORY) (void)phi__error_last(agent->rt, words);
    }
    if (status != PHI_OK) phi_arena_free(&s->arena);
    return status;
}

PHI__FN void phi__mcp_sampling_drop(phi__mcp_sampling *s) {
    phi__agent *child = s->child.rt != NULL ? phi__find_agent(s->child) : NULL;
    s->child.rt = NULL;
    if (child != NULL) phi__mcp_sampling_free(s, child);
}

PHI__FN bool phi__mcp_sampling_own(const phi__agent *agent, phi_arena *arena, phi_str reply,
                                   phi__buf *out) {
    phi_json *root = NULL;
    const phi_json *content = NULL;
    if (phi_json_parse(arena, reply, 0, &root, NULL) == PHI_OK &&
        phi_json_is(root, PHI_JSON_OBJECT))
        content = phi_json_get(root, "content");
    phi__buf_text(out, "{\"role\":\"assistant\",\"content\":");
    if (content != NULL)
        (void)phi__json_write(out, content, 0);
    else
        phi__mcp_sampling_put_text(out, reply);
    phi__mcp_sampling_end(out, phi_json_str(phi_json_get(root, "model"), agent->desc.model.id),
                          "endTurn");
    return !out->failed;
}
