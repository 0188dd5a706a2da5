/* mcp_asks.c - answers the questions of a server. Roots are sent at once. Other questions are
   passed to the agent's host. */
#include "mcp/mcp_asks.h"
#include "mcp/mcp_requests_in.h"

#include "agent/agent_in.h"
#include "mcp/mcp_content_in.h"

#include <stdio.h>

typedef enum phi__asks_kind {
    PHI__ASKS_FORM = 1,
    PHI__ASKS_URL,
    PHI__ASKS_SAMPLING
} phi__asks_kind;

enum {
    PHI__ASKS_REFUSED = -1,  /* error code if the person rejects the request */
    PHI__ASKS_SHOWN = 500,   /* max. bytes of a prompt that a person sees */
    PHI__ASKS_FIELDS = 1000, /* max. properties of a form */
    PHI__ASKS_MEMORY = 4     /* max. memory of all questions, in units of max_message_bytes */
};

/* The state of this part. */
typedef struct phi__asks_all {
    phi_mcp *mcp;
    phi__list open;
    size_t bytes;    /* memory of the open questions' params */
    phi_arena arena; /* memory of roots from phi_mcp_set_roots */
    const phi_mcp_root *roots;
    size_t root_count;
} phi__asks_all;

/* A question to the host. Sampling may then ask a model. */
typedef struct phi__asks_one {
    phi__link link;
    phi__asks_all *of;
    uint64_t ask;
    phi__asks_kind kind;
    phi_agent agent;
    phi_arena arena;
    phi_json *params; /* params of the server's request */
    size_t bytes;     /* memory of params */
    phi__question *question;
    phi_agent child;       /* the agent that samples; rt is NULL if there is none */
    bool tools;            /* the request has tools, so the answer may be a list of blocks */
    phi_arena child_arena; /* memory of the child's tools and messages */
} phi__asks_one;

/* ---- forms ---- */

/* Writes the host's values for a form as an object. Missing members get the schema's defaults.
   PHI_PARSE: the values are not an object or do not fit the schema. PHI_TOO_BIG: checking the
   schema takes too long. In both cases, `error` has the message. */
static phi_status phi__forms_fill(phi_arena *arena, const phi_json *schema, phi_str values,
                                  phi__buf *out, phi_schema_error *error) {
    phi_parse_error parse;
    phi_json *root = NULL;
    if (values.len == 0) values = PHI__LIT("{}");
    phi_status status = phi_json_parse(arena, values, 0, &root, &parse);
    if (status != PHI_OK || !phi_json_is(root, PHI_JSON_OBJECT)) {
        (void)snprintf(error->message, sizeof error->message, "%s",
                       status == PHI_PARSE ? parse.message : "expected a JSON object");
        return status == PHI_NO_MEMORY ? status : PHI_PARSE;
    }
    const phi_json *properties = phi_json_get(schema, "properties");
    phi_json_iter it = phi_json_each(phi_json_is(properties, PHI_JSON_OBJECT) ? properties : NULL);
    while (status == PHI_OK && phi_json_next(&it) != NULL) {
        const phi_json *value = phi_json_get(it.at, "default");
        if (value == NULL || phi__json_get_n(root, it.key) != NULL) continue;
        phi_json *copy = phi_json_copy(arena, value);
        status = copy != NULL ? phi__json_edit_set(arena, root, it.key, copy) : PHI_NO_MEMORY;
    }
    if (status == PHI_OK) status = phi_schema_check(schema, root, "form", error);
    if (status == PHI_UNSUPPORTED) status = PHI_OK; /* builds without PHI_SCHEMA check nothing */
    if (status == PHI_OK) status = phi__json_write(out, root, 0);
    return status == PHI_OK && out->failed ? PHI_NO_MEMORY : status;
}

/* ---- sampling: a hidden agent makes one model call with the server's tools ---- */

enum { PHI__SAMPLING_MESSAGES = 4096 };

static void phi__asks_sampled(phi__asks_one *one, phi_status status, phi_str result);

typedef struct phi__sample_list {
    phi_arena *arena;
    phi_message *messages;
    size_t count, most;
    const char *fault; /* static text */
} phi__sample_list;

static phi_message *phi__sample_add(phi__sample_list *list, phi_role role) {
    if (PHI_NEVER(list->count == list->most)) return NULL; /* see phi__sample_most */
    phi_message *message = &list->messages[list->count++];
    memset(message, 0, sizeof *message);
    message->role = role;
    return message;
}

/* Returns the name of the tool that a result belongs to. */
static phi_str phi__sample_called(const phi__sample_list *list, phi_str id) {
    size_t i = list->count, j;
    while (i-- > 0)
        for (j = 0; j < list->messages[i].content_count; j++)
            if (list->messages[i].content[j].kind == PHI_CONTENT_TOOL_CALL &&
                phi_str_equal(list->messages[i].content[j].id, id))
                return list->messages[i].content[j].name;
    return PHI__LIT("tool");
}

static bool phi__sample_is(const phi_json *block, const char *type) {
    return phi__str_is(phi__records_get_str(block, "type"), type);
}

/* Adds a tool result as a separate message. False: no memory. */
static bool phi__sample_result(phi__sample_list *list, const phi_json *block) {
    phi_message *m = phi__sample_add(list, PHI_ROLE_TOOL_RESULT);
    phi_content *content = NULL;
    if (PHI_NEVER(m == NULL)) return false;
    m->tool_call_id = phi__records_get_str(block, "toolUseId");
    m->tool_name = phi__sample_called(list, m->tool_call_id);
    m->is_error = phi__records_get_bool(block, "isError");
    if (!phi__content_read(phi_json_get(block, "content"), list->arena, &content,
                           &m->content_count))
        return false;
    m->content = content;
    return true;
}

static bool phi__sample_block(phi_arena *arena, const phi_json *block, phi_content *out) {
    if (!phi__sample_is(block, "tool_use")) return phi__content_block(block, arena, out);
    memset(out, 0, sizeof *out);
    out->kind = PHI_CONTENT_TOOL_CALL;
    out->id = phi__records_get_str(block, "id");
    out->name = phi__records_get_str(block, "name");
    out->arguments = PHI__LIT("{}");
    return !phi_json_is(phi_json_get(block, "input"), PHI_JSON_OBJECT) ||
           phi_json_write(arena, phi_json_get(block, "input"), 0, &out->arguments) == PHI_OK;
}

/* Adds a message. Its content is an array of blocks or one block. False: no memory. */
static bool phi__sample_message(phi__sample_list *list, const phi_json *node) {
    const phi_json *content = phi_json_get(node, "content");
    const phi_json *blocks = phi__mcp_array(node, "content");
    phi_json_iter it = phi_json_each(blocks);
    bool assistant = phi__str_is(phi__records_get_str(node, "role"), "assistant");
    size_t most = blocks != NULL ? phi_json_count(blocks) : 1, n = 0;
    phi_content *out =
        (phi_content *)phi_arena_alloc(list->arena, phi__mul(phi__max(most, 1), sizeof *out));
    if (out == NULL) return false;
    for (size_t i = 0; i < most; i++) {
        const phi_json *block = blocks != NULL ? phi_json_next(&it) : content;
        if (!phi_json_is(block, PHI_JSON_OBJECT)) {
            list->fault = "messages: a block of content is no object";
            return true;
        }
        if (phi__sample_is(block, "tool_result")) {
            if (!phi__sample_result(list, block)) return false;
        } else if (!phi__sample_block(list->arena, block, &out[n++]))
            return false;
    }
    if (n == 0) return true;
    phi_message *m = phi__sample_add(list, assistant ? PHI_ROLE_ASSISTANT : PHI_ROLE_USER);
    if (PHI_NEVER(m == NULL)) return false;
    m->content = out;
    m->content_count = n;
    if (assistant) {
        phi__content_of_assistant(out, n);
        m->stop_reason = PHI_STOP_REASON_STOP;
    }
    return true;
}

/* Returns the largest possible number of messages: each tool result becomes a separate message. */
static size_t phi__sample_most(const phi_json *messages) {
    phi_json_iter it = phi_json_each(messages);
    size_t most = 0;
    while (phi_json_next(&it) != NULL) {
        const phi_json *blocks = phi__mcp_array(it.at, "content");
        most += 1 + (blocks != NULL ? phi_json_count(blocks) : 1);
    }
    return most;
}

static phi_status phi__sample_read(phi__sample_list *list, const phi_json *params) {
    const phi_json *messages = phi__mcp_array(params, "messages");
    phi_json_iter it = phi_json_each(messages);
    list->most = phi__sample_most(messages);
    if (list->most == 0) list->fault = "messages are missing";
    if (list->most > PHI__SAMPLING_MESSAGES) list->fault = "too many messages";
    if (list->fault != NULL) return PHI_BAD_ARG;
    list->messages =
        (phi_message *)phi_arena_alloc(list->arena, phi__mul(list->most, sizeof *list->messages));
    if (list->messages == NULL) return PHI_NO_MEMORY;
    while (list->fault == NULL && phi_json_next(&it) != NULL)
        if (!phi__sample_message(list, it.at)) return PHI_NO_MEMORY;
    if (list->fault == NULL &&
        (list->count == 0 || list->messages[list->count - 1].role == PHI_ROLE_ASSISTANT))
        list->fault = "messages: the last one is not the user's";
    return list->fault == NULL ? PHI_OK : PHI_BAD_ARG;
}

/* Ends the run without running the server's tool: the model's answer already contains the call. */
static phi_flow phi__sample_call(void *user_data, phi_call call, phi_str arguments) {
    (void)user_data, (void)call, (void)arguments;
    return PHI_DONE;
}

/* Copies a string and terminates it; "" if the node is not a string. */
static bool phi__sample_text(phi_arena *arena, const phi_json *node, const char **out) {
    phi_str copy = PHI_ZERO;
    bool fine = phi__arena_str(arena, phi__json_text_of(node), &copy);
    *out = copy.at;
    return fine;
}

/* Sets the tools of the request in the desc. False: no memory. */
static bool phi__sample_tools(phi_arena *arena, const phi_json *params, phi_agent_desc *d) {
    const phi_json *list = phi__mcp_array(params, "tools");
    phi_str mode = phi_json_str(phi_json_path(params, "toolChoice.mode"), "auto");
    phi_json_iter it = phi_json_each(list);
    if (phi_json_count(list) == 0) return true;
    phi_tool *tools =
        (phi_tool *)phi__arena_zero(arena, phi__mul(phi_json_count(list), sizeof *tools));
    if (tools == NULL) return false;
    d->tools = tools;
    d->tool_options.choice = phi__str_is(mode, "required") ? PHI_TOOL_CHOICE_REQUIRED
                             : phi__str_is(mode, "none")   ? PHI_TOOL_CHOICE_NONE
                                                           : PHI_TOOL_CHOICE_AUTO;
    while (phi_json_next(&it) != NULL) {
        phi_tool *tool = &tools[d->tool_count++];
        const phi_json *schema = phi_json_get(it.at, "inputSchema");
        phi_str text = phi__str(NULL, 0);
        if (schema != NULL && phi_json_write(arena, schema, 0, &text) != PHI_OK) return false;
        if (!phi__sample_text(arena, phi_json_get(it.at, "name"), &tool->name) ||
            !phi__sample_text(arena, phi_json_get(it.at, "description"), &tool->description))
            return false;
        tool->schema = text.len > 0 ? text.at : NULL;
        tool->start = phi__sample_call;
        tool->checks_arguments = true;
    }
    return true;
}

/* Returns the smaller limit; 0 means no limit. */
static uint32_t phi__sample_least(uint32_t a, uint32_t b) {
    return a == 0 || (b != 0 && b < a) ? b : a;
}

/* Makes the child's desc: the agent's model and limits, but no prompt, history, tools or facts. */
static phi_agent_desc phi__sample_desc(const phi__agent *agent, const phi_json *params) {
    uint64_t most = phi__json_get_uint(phi_json_get(params, "maxTokens"), 0);
    phi_agent_desc d = PHI_ZERO;
    d.model = agent->desc.model;
    d.provider = agent->desc.provider;
    d.max_tokens =
        phi__sample_least(most > UINT32_MAX ? 0 : (uint32_t)most,
                          phi__sample_least(agent->desc.max_tokens, agent->desc.model.max_tokens));
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

/* ---- the answer of sampling ---- */

static void phi__sample_end(phi__buf *out, phi_str model, const char *stop) {
    phi__records_str(out, "model", model);
    phi__records_str(out, "stopReason", phi_str_of(stop));
    phi__buf_char(out, '}');
}

static void phi__sample_put_text(phi__buf *out, phi_str text) {
    phi__buf_text(out, "{\"type\":\"text\",\"text\":");
    phi__json_write_str(out, text);
    phi__buf_char(out, '}');
}

/* Writes the content: a list if the request has tools and the answer has several blocks or a call;
   otherwise one text. */
static void phi__sample_content(phi__buf *out, const phi_message *m, bool lists, phi_arena *arena) {
    size_t shown = 0;
    bool failed = false;
    for (size_t i = 0; i < m->content_count; i++)
        shown +=
            m->content[i].kind == PHI_CONTENT_TEXT || m->content[i].kind == PHI_CONTENT_TOOL_CALL;
    if (!lists || (shown <= 1 && m->stop_reason != PHI_STOP_REASON_TOOL_USE)) {
        phi__sample_put_text(out, phi_message_text(m, "\n", arena, &failed));
        out->failed = out->failed || failed;
        return;
    }
    phi__buf_char(out, '[');
    for (size_t i = 0; i < m->content_count; i++) {
        const phi_content *block = &m->content[i];
        if (block->kind != PHI_CONTENT_TEXT && block->kind != PHI_CONTENT_TOOL_CALL) continue;
        phi__json_write_comma(out);
        if (block->kind == PHI_CONTENT_TOOL_CALL) {
            phi__buf_text(out, "{\"type\":\"tool_use\"");
            phi__records_str(out, "id", block->id);
            phi__records_str(out, "name", block->name);
            phi__records_raw(out, "input", "");
            phi__buf_add_str(out, block->arguments.len > 0 ? block->arguments : PHI__LIT("{}"));
            phi__buf_char(out, '}');
        } else
            phi__sample_put_text(out, block->text);
    }
    phi__buf_char(out, ']');
}

/* Returns the answer in the child's log, or NULL. */
static const phi_message *phi__sample_reply(const phi__agent *child) {
    const phi_thread *thread = child->thread;
    size_t i = thread->messages.count;
    while (i-- > 0) {
        const phi_message *m = phi__lane_message(thread, i)->message;
        if (m->role == PHI_ROLE_ASSISTANT && m->loop_id.len > 0)
            return m->stop_reason != PHI_STOP_REASON_ERROR &&
                           m->stop_reason != PHI_STOP_REASON_ABORTED
                       ? m
                       : NULL;
    }
    return NULL;
}

static void phi__sample_free(phi__asks_one *one, phi__agent *child) {
    one->child.rt = NULL;
    child->tree.watch = NULL; /* do not call phi__sample_gone */
    phi_agent_free(child->handle);
    phi_arena_free(&one->child_arena);
}

static void phi__sample_over(phi__agent *child, phi_status status, const phi_failure *failure,
                             bool stopping) {
    phi__asks_one *one = (phi__asks_one *)child->tree.watched;
    const phi_message *reply = phi__sample_reply(child);
    phi__buf out;
    (void)stopping;
    phi__buf_init(&out, &child->rt->memory); /* phi__asks_sampled may free mcp */
    phi_arena scratch = phi__arena_of(&one->of->mcp->memory, 0);
    if (reply != NULL && (status == PHI_OK || status == PHI_LIMIT)) {
        phi__buf_text(&out, "{\"role\":\"assistant\",\"content\":");
        phi__sample_content(&out, reply, one->tools, &scratch);
        const char *stop = reply->stop_reason == PHI_STOP_REASON_LENGTH ? "maxTokens" : "endTurn";
        if (one->tools && reply->stop_reason == PHI_STOP_REASON_TOOL_USE) stop = "toolUse";
        phi__sample_end(
            &out, reply->model.len > 0 ? reply->model : phi_str_of(child->desc.model.id), stop);
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
    phi__sample_free(one, child);
    phi__asks_sampled(one, status, out.failed ? PHI__LIT("no memory") : phi__buf_str(&out));
    phi__buf_free(&out);
}

static void phi__sample_gone(phi__agent *child) {
    phi__asks_one *one = (phi__asks_one *)child->tree.watched;
    one->child.rt = NULL;
    phi_arena_free(&one->child_arena);
    phi__asks_sampled(one, PHI_CANCELLED, PHI__LIT("the agent was freed"));
}

static const phi__child_watch phi__sample_watch = {
    true, false, NULL, NULL, phi__sample_over, phi__sample_gone};

static phi_status phi__sample_run(phi__agent *child, const phi__sample_list *list) {
    phi_status status = PHI_OK;
    size_t before = list->count;
    while (before > 0 && list->messages[before - 1].role == PHI_ROLE_USER) before--;
    for (size_t i = 0; i < before && status == PHI_OK; i++)
        status = phi_thread_append(child->thread, &list->messages[i], 1, NULL);
    if (status != PHI_OK) return status;
    phi__run_order order = PHI_ZERO;
    order.prompts = &list->messages[before];
    order.prompt_count = list->count - before;
    if (order.prompt_count == 0) order.continuation = PHI_CONTINUATION_DEFAULT;
    return phi__run_new(child, &order);
}

/* Starts a model call with the params. PHI_OK: phi__asks_sampled is called later. On failure, that
   function is not called, and *words is the message: a static text or the text of
   phi_last_error. */
static phi_status phi__sample_begin(phi__asks_one *one, phi__agent *agent, const char **words) {
    phi_arena *arena = &one->child_arena;
    phi_agent_desc d = phi__sample_desc(agent, one->params);
    const phi_json *system = phi_json_get(one->params, "systemPrompt");
    phi__sample_list list = PHI_ZERO;
    phi__agent *child = NULL;
    phi_arena_init(arena, &one->of->mcp->memory, 0);
    list.arena = arena;
    *words = "no memory";
    phi_status status = phi__sample_read(&list, one->params);
    if (list.fault != NULL) *words = list.fault;
    if (status == PHI_OK &&
        ((system != NULL && !phi__sample_text(arena, system, &d.system_prompt)) ||
         (one->tools && !phi__sample_tools(arena, one->params, &d))))
        status = PHI_NO_MEMORY;
    if (status == PHI_OK) {
        child = phi__agent_make(agent->rt, &d, NULL);
        status = child != NULL ? PHI_OK : phi__error_last(agent->rt, NULL);
        if (child != NULL) {
            child->tree.watch = &phi__sample_watch;
            child->tree.watched = one;
            status = phi__sample_run(child, &list);
        }
        if (status != PHI_OK && status != PHI_NO_MEMORY) (void)phi__error_last(agent->rt, words);
    }
    if (status == PHI_OK)
        one->child = child->handle;
    else if (child != NULL)
        phi__sample_free(one, child);
    else
        phi_arena_free(arena);
    return status;
}

/* Writes the host's own answer, which is a text or {"content":..}. False: no memory. */
static bool phi__sample_own(const phi__agent *agent, phi_arena *arena, phi_str reply,
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
        phi__sample_put_text(out, reply);
    phi__sample_end(out, phi_json_str(phi_json_get(root, "model"), agent->desc.model.id),
                    "endTurn");
    return !out->failed;
}

/* ---- ends of questions ---- */

static void phi__asks_free(phi__asks_one *one) {
    phi_memory *memory = &one->of->mcp->memory;
    phi__question_close(one->question);
    phi__agent *child = one->child.rt != NULL ? phi__find_agent(one->child) : NULL;
    one->child.rt = NULL;
    if (child != NULL) phi__sample_free(one, child);
    phi__list_take(&one->of->open, &one->link);
    one->of->bytes -= one->bytes;
    phi_arena_free(&one->arena);
    phi__free(memory, one, sizeof *one);
}

static void phi__asks_end(phi__asks_one *one, phi_str result, int code, const char *message) {
    phi_mcp *mcp = one->of->mcp;
    uint64_t ask = one->ask;
    phi__asks_free(one);
    phi__mcp_answer(mcp, ask, result, code, message);
}

static void phi__asks_fail(phi__asks_one *one, int code, const char *message) {
    phi__asks_end(one, phi__str("", 0), code, message);
}

/* Refuses a question. If `denied`, the host refused it; otherwise nobody decided. */
static void phi__asks_refuse(phi__asks_one *one, bool denied) {
    if (one->kind != PHI__ASKS_SAMPLING)
        phi__asks_end(one,
                      denied ? PHI__LIT("{\"action\":\"decline\"}")
                             : PHI__LIT("{\"action\":\"cancel\"}"),
                      0, NULL);
    else if (denied)
        phi__asks_fail(one, PHI__ASKS_REFUSED, "The user rejected the sampling request");
    else
        phi__asks_fail(one, PHI__RPC_INTERNAL, "Nobody has decided");
}

static void phi__asks_filled(phi__asks_one *one, phi_str values) {
    phi_mcp *mcp = one->of->mcp;
    phi_schema_error error;
    error.message[0] = '\0';
    phi__buf out = phi__buf_of(&mcp->memory);
    phi__buf_text(&out, "{\"action\":\"accept\",\"content\":");
    phi_status status = phi__forms_fill(&one->arena, phi_json_get(one->params, "requestedSchema"),
                                        values, &out, &error);
    phi__buf_char(&out, '}');
    if (status == PHI_OK && !out.failed) {
        phi__asks_end(one, phi__buf_str(&out), 0, NULL);
    } else {
        phi__asks_refuse(one, false);
        (void)phi__parts_warn(mcp, "the reply to a form was not sent: %s",
                              error.message[0] != '\0' ? error.message : phi_status_text(status));
    }
    phi__buf_free(&out);
}

/* ---- answers of a model ---- */

/* Ends a question. `result` is the result of sampling, or a message if status is not PHI_OK. The
   child is already freed. */
static void phi__asks_sampled(phi__asks_one *one, phi_status status, phi_str result) {
    phi_mcp *mcp = one->of->mcp;
    char words[160];
    phi__core_enter(mcp);
    (void)snprintf(words, sizeof words, "%.*s",
                   (int)(status == PHI_OK ? 0 : phi__utf8_cut(result, 150)), result.at);
    phi__asks_end(one, result, status == PHI_OK ? 0 : PHI__RPC_INTERNAL, words);
    (void)phi__core_leave(mcp);
}

/* Starts sampling. The host's reply may contain other messages, or the answer itself. */
static void phi__asks_sample(phi__asks_one *one, phi__agent *agent, phi_str reply) {
    phi_mcp *mcp = one->of->mcp;
    phi_json *root = NULL, *messages = NULL;
    const char *words = "no memory";
    phi_status status = PHI_OK;
    if (reply.len > 0 && phi_json_parse(&one->arena, reply, 0, &root, NULL) == PHI_OK)
        messages = phi_json_remove(root, "messages");
    phi__buf own = phi__buf_of(&mcp->memory);
    if (messages != NULL)
        status = phi_json_set(&one->arena, one->params, "messages", messages);
    else if (reply.len > 0) {
        if (phi__sample_own(agent, &one->arena, reply, &own))
            phi__asks_end(one, phi__buf_str(&own), 0, NULL);
        else
            phi__asks_fail(one, PHI__RPC_INTERNAL, "no memory");
        phi__buf_free(&own);
        return;
    }
    if (status == PHI_OK) status = phi__sample_begin(one, agent, &words);
    if (status != PHI_OK)
        phi__asks_fail(one, status == PHI_NO_MEMORY ? PHI__RPC_INTERNAL : PHI__RPC_BAD_PARAMS,
                       words);
}

static void phi__asks_decided(void *ctx, phi_verdict verdict, phi_str reply) {
    phi__asks_one *one = (phi__asks_one *)ctx;
    phi_mcp *mcp = one->of->mcp;
    phi__agent *agent = phi__find_agent(one->agent);
    phi__core_enter(mcp);
    one->question = NULL;
    if (verdict == PHI_WAIT || agent == NULL ||
        (verdict == PHI_DENY && phi__str_is(reply, "cancel") && one->kind != PHI__ASKS_SAMPLING))
        phi__asks_refuse(one, false);
    else if (verdict == PHI_DENY)
        phi__asks_refuse(one, true);
    else if (one->kind == PHI__ASKS_FORM)
        phi__asks_filled(one, reply);
    else if (one->kind == PHI__ASKS_URL)
        phi__asks_end(one, PHI__LIT("{\"action\":\"accept\"}"), 0, NULL);
    else
        phi__asks_sample(one, agent, reply);
    (void)phi__core_leave(mcp);
}

/* Returns the text that a person sees before sampling: the last message, cut. */
static phi_str phi__asks_prompt(const phi_json *params) {
    const phi_json *messages = phi__mcp_array(params, "messages");
    size_t n = phi_json_count(messages);
    if (n == 0) return phi__str("", 0);
    const phi_json *content = phi_json_get(phi_json_at(messages, n - 1), "content");
    if (phi_json_is(content, PHI_JSON_ARRAY)) content = phi_json_at(content, 0);
    phi_str text = phi__records_get_str(content, "text");
    return phi__str(text.at, phi__utf8_cut(text, PHI__ASKS_SHOWN));
}

/* Writes the question's arguments for the host, as JSON text. */
static phi_status phi__asks_arguments(phi__asks_one *one, phi_str *out) {
    const phi_json *shown = one->params;
    phi_json *page;
    phi_status status = PHI_OK;
    if (one->kind == PHI__ASKS_FORM) shown = phi_json_get(one->params, "requestedSchema");
    if (one->kind == PHI__ASKS_URL) {
        static const char *const keys[] = {"url", "elicitationId"};
        shown = page = phi_json_new_object(&one->arena);
        if (page == NULL) return PHI_NO_MEMORY;
        for (size_t i = 0; i < PHI__COUNT(keys) && status == PHI_OK; i++)
            status = phi_json_set(
                &one->arena, page, keys[i],
                phi_json_new_str(&one->arena,
                                 phi_json_str(phi_json_get(one->params, keys[i]), "")));
    }
    return status == PHI_OK ? phi_json_write(&one->arena, shown, 0, out) : status;
}

static phi_status phi__asks_question(phi__asks_one *one, phi_call call) {
    static const char *const kinds[] = {"", "elicitation", "elicitation_url", "sampling"};
    phi__question_desc desc = PHI_ZERO;
    desc.call = call;
    desc.source = phi__mcp_name(one->of->mcp);
    desc.kind = phi_str_of(kinds[one->kind]);
    desc.text = one->kind == PHI__ASKS_SAMPLING ? phi__asks_prompt(one->params)
                                                : phi__records_get_str(one->params, "message");
    phi_status status = phi__asks_arguments(one, &desc.arguments);
    if (status != PHI_OK) return status;
    desc.decided = phi__asks_decided;
    desc.ctx = one;
    return phi__question_open(one->agent, &desc, &one->question);
}

/* ---- requests of the server ---- */

/* True for an http or https URL without spaces and control characters. */
static bool phi__asks_is_page(phi_str url) {
    for (size_t i = 0; i < url.len; i++)
        if ((unsigned char)url.at[i] <= ' ' || url.at[i] == 0x7f) return false;
    return phi__str_starts(url, "https://") || phi__str_starts(url, "http://");
}

/* Returns the fault of a request, or NULL. A question that was not offered is a fault. */
static const char *phi__asks_fault(const phi_mcp *mcp, const phi_json *params,
                                   phi__asks_kind kind) {
    uint32_t answers = mcp->desc.answers;
    const phi__era *era = mcp->agreed.era;
    if (kind == PHI__ASKS_FORM) {
        if ((answers & PHI_MCP_FORMS) == 0) return "forms are not offered";
        const phi_json *schema = phi_json_get(params, "requestedSchema");
        const phi_json *fields = phi_json_get(schema, "properties");
        if (!phi_json_is(schema, PHI_JSON_OBJECT)) return "requestedSchema: expected an object";
        return phi_json_is(fields, PHI_JSON_OBJECT) && phi_json_count(fields) > PHI__ASKS_FIELDS
                   ? "requestedSchema: expected at most 1,000 properties"
                   : NULL;
    }
    if (kind == PHI__ASKS_URL) {
        if ((answers & PHI_MCP_URLS) == 0 || (era != NULL && !era->urls))
            return "pages are not offered";
        return phi__asks_is_page(phi__records_get_str(params, "url"))
                   ? NULL
                   : "url: expected http:// or https://";
    }
    if (phi_json_count(phi__mcp_array(params, "tools")) > 0 && era != NULL && !era->sampling_tools)
        return "tools are not offered";
    return phi__mcp_array(params, "messages") != NULL ? NULL : "messages: expected an array";
}

static phi__asks_one *phi__asks_new(phi__asks_all *all, const phi_json *params, phi__asks_kind kind,
                                    phi_agent agent, uint64_t ask) {
    phi_memory *memory = &all->mcp->memory;
    phi__asks_one *one = (phi__asks_one *)phi__alloc(memory, sizeof *one);
    size_t before = memory->used_bytes;
    if (one == NULL) return NULL;
    phi_arena_init(&one->arena, memory, 0);
    one->of = all;
    one->ask = ask;
    one->kind = kind;
    one->agent = agent;
    one->tools = phi_json_count(phi__mcp_array(params, "tools")) > 0;
    phi__list_push(&all->open, &one->link);
    one->params = phi_json_copy(&one->arena, params);
    one->bytes = memory->used_bytes - before;
    all->bytes += one->bytes;
    if (one->params != NULL) return one;
    phi__asks_free(one);
    return NULL;
}

static void phi__asks_begin(phi__asks_all *all, const phi_json *params, phi__asks_kind kind,
                            phi_call call, phi_agent agent, uint64_t ask) {
    phi_str none = phi__str("", 0);
    const char *fault = phi__asks_fault(all->mcp, params, kind);
    if (fault != NULL) {
        phi__mcp_answer(all->mcp, ask, none, PHI__RPC_BAD_PARAMS, fault);
        return;
    }
    phi__asks_one *one = phi__asks_new(all, params, kind, agent, ask);
    if (one == NULL) {
        phi__mcp_answer(all->mcp, ask, none, PHI__RPC_INTERNAL, "no memory");
        return;
    }
    if (all->bytes > phi__mul(all->mcp->desc.max_message_bytes, PHI__ASKS_MEMORY)) {
        phi__asks_fail(one, PHI__RPC_INTERNAL, "too much is asked at once");
        return;
    }
    phi_status status = agent.rt != NULL ? phi__asks_question(one, call) : PHI_UNSUPPORTED;
    if (status == PHI_UNSUPPORTED)
        phi__asks_refuse(one, true); /* there is no host to ask */
    else if (status != PHI_OK)
        phi__asks_refuse(one, false);
}

/* ---- the functions of the session's part ---- */

static bool phi__asks_asked(phi_mcp *mcp, void *part, phi_str method, const phi_json *params,
                            phi_call call, phi_agent agent, uint64_t ask) {
    phi__asks_all *all = (phi__asks_all *)part;
    uint32_t answers = mcp->desc.answers;
    bool url = phi__str_is(phi__records_get_str(params, "mode"), "url");
    phi__buf out;
    if (phi__str_is(method, "sampling/createMessage") && (answers & PHI_MCP_SAMPLING) != 0)
        phi__asks_begin(all, params, PHI__ASKS_SAMPLING, call, agent, ask);
    else if (phi__str_is(method, "elicitation/create") &&
             (answers & ((uint32_t)PHI_MCP_FORMS | PHI_MCP_URLS)) != 0)
        phi__asks_begin(all, params, url ? PHI__ASKS_URL : PHI__ASKS_FORM, call, agent, ask);
    else if (phi__str_is(method, "roots/list") && mcp->desc.root_count > 0) {
        phi__buf_init(&out, &mcp->memory);
        phi__buf_text(&out, "{\"roots\":[");
        for (size_t i = 0; i < all->root_count; i++) {
            phi__json_write_comma(&out);
            phi__buf_char(&out, '{');
            phi__records_str(&out, "uri", phi_str_of(all->roots[i].uri));
            if (all->roots[i].name != NULL)
                phi__records_str(&out, "name", phi_str_of(all->roots[i].name));
            phi__buf_char(&out, '}');
        }
        phi__buf_text(&out, "]}");
        phi__mcp_answer(mcp, ask, phi__buf_str(&out), out.failed ? PHI__RPC_INTERNAL : 0,
                        out.failed ? "no memory" : NULL);
        phi__buf_free(&out);
    } else
        return false;
    return true;
}

static void phi__asks_unasked(phi_mcp *mcp, void *part, uint64_t ask) {
    phi__link *link = ((phi__asks_all *)part)->open.first;
    (void)mcp;
    for (; link != NULL; link = link->next) {
        phi__asks_one *one = PHI__OWNER(link, phi__asks_one, link);
        if (one->ask != ask) continue;
        phi__asks_free(one);
        return;
    }
}

/* Takes the notification that the person has finished a page, and ignores it. */
static bool phi__asks_notified(phi_mcp *mcp, void *part, phi_str method, const phi_json *params) {
    (void)mcp, (void)part, (void)params;
    return phi__str_is(method, "notifications/elicitation/complete");
}

/* Makes an object. If has_a is set, its member named `a` is an empty object; the same holds for
   has_b and `b`. NULL: no memory. */
static phi_json *phi__asks_object(phi_arena *arena, const char *a, bool has_a, const char *b,
                                  bool has_b) {
    phi_json *object = phi_json_new_object(arena);
    phi_status status = object != NULL ? PHI_OK : PHI_NO_MEMORY;
    if (status == PHI_OK && has_a)
        status = phi_json_set(arena, object, a, phi_json_new_object(arena));
    if (status == PHI_OK && has_b)
        status = phi_json_set(arena, object, b, phi_json_new_object(arena));
    return status == PHI_OK ? object : NULL;
}

static phi_status phi__asks_capabilities(phi_mcp *mcp, void *part, phi_json *into,
                                         phi_arena *arena) {
    const phi__era *era = mcp->agreed.era;
    uint32_t answers = mcp->desc.answers;
    bool forms = (answers & PHI_MCP_FORMS) != 0;
    bool pages = (answers & PHI_MCP_URLS) != 0 && (era == NULL || era->urls);
    phi_status status = PHI_OK;
    (void)part;
    if ((answers & PHI_MCP_SAMPLING) != 0)
        status = phi_json_set(
            arena, into, "sampling",
            phi__asks_object(arena, "tools", era == NULL || era->sampling_tools, "", false));
    if (status == PHI_OK && (forms || pages) && (era == NULL || era->forms))
        status = phi_json_set(
            arena, into, "elicitation",
            phi__asks_object(arena, "form", forms && (era == NULL || era->urls), "url", pages));
    if (status != PHI_OK || mcp->desc.root_count == 0) return status;
    phi_json *roots = phi_json_new_object(arena);
    if (roots != NULL && (era == NULL || era->handshake))
        status = phi_json_set(arena, roots, "listChanged", phi_json_new_bool(arena, true));
    return status == PHI_OK ? phi_json_set(arena, into, "roots", roots) : status;
}

static void phi__asks_freed(phi_mcp *mcp, void *part) {
    phi__asks_all *all = (phi__asks_all *)part;
    while (all->open.first != NULL)
        phi__asks_free(PHI__OWNER(all->open.first, phi__asks_one, link));
    phi_arena_free(&all->arena);
    phi__free(&mcp->memory, all, sizeof *all);
}

static const phi__mcp_part *phi__asks_table(void) {
    static const phi__mcp_part table = {NULL,
                                        NULL,
                                        phi__asks_notified,
                                        phi__asks_asked,
                                        phi__asks_unasked,
                                        phi__asks_capabilities,
                                        NULL,
                                        phi__asks_freed};
    return &table;
}

PHI__FN phi_status phi__asks_join(phi_mcp *mcp) {
    phi__asks_all *all = (phi__asks_all *)phi__alloc(&mcp->memory, sizeof *all);
    if (all == NULL) return PHI_NO_MEMORY;
    all->mcp = mcp;
    all->roots = mcp->desc.roots;
    all->root_count = mcp->desc.root_count;
    phi_arena_init(&all->arena, &mcp->memory, 0);
    phi__mcp_join(mcp, phi__asks_table(), all);
    return PHI_OK;
}

/* ---- public ---- */

static phi_status phi__asks_copy(phi__asks_all *all, const phi_mcp_root *roots, size_t count) {
    phi_arena arena = phi__arena_of(&all->mcp->memory, 0);
    phi_mcp_root *copy =
        (phi_mcp_root *)phi__arena_zero(&arena, phi__mul(phi__max(count, 1), sizeof *copy));
    bool fine = copy != NULL;
    for (size_t i = 0; fine && i < count; i++) {
        copy[i] = roots[i];
        fine = phi__keep_text(&arena, &copy[i].uri) && phi__keep_text(&arena, &copy[i].name);
    }
    if (!fine) {
        phi_arena_free(&arena);
        return PHI_NO_MEMORY;
    }
    phi_arena_free(&all->arena);
    all->arena = arena;
    all->roots = copy;
    all->root_count = count;
    return PHI_OK;
}

PHI_API phi_status phi_mcp_set_roots(phi_mcp *mcp, const phi_mcp_root *roots, size_t count) {
    if (mcp == NULL) return PHI_BAD_ARG;
    if (mcp->desc.root_count == 0)
        return phi__error(mcp->rt, PHI_MISUSE, "phi_mcp_set_roots: the connection offers none");
    for (size_t i = 0; i < count; i++)
        if (roots == NULL || roots[i].uri == NULL ||
            !phi__str_starts(phi_str_of(roots[i].uri), "file:"))
            return phi__error(mcp->rt, PHI_BAD_ARG,
                              "phi_mcp_set_roots: roots[%u].uri: expected file:", (unsigned)i);
    phi__asks_all *all = (phi__asks_all *)phi__mcp_session_part(mcp, phi__asks_table());
    phi_status status = phi__asks_copy(all, roots, count);
    if (status != PHI_OK) return phi__error(mcp->rt, status, "phi_mcp_set_roots: out of memory");
    if (mcp->agreed.era != NULL && mcp->agreed.era->handshake)
        (void)phi__mcp_notify(mcp, "notifications/roots/list_changed", phi__str("", 0));
    return PHI_OK;
}
