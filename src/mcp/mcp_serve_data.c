/* mcp_serve_data.c - resources that clients read, prompts that they get, arguments that they
   complete; and the functions by which the host answers. */
#include "mcp/mcp_serve_state_in.h"

#include "base/base64_in.h"
#include "text/records_in.h"

#include <stdio.h>

/* A string of a client's, terminated, in the request's memory; too long, or with a NUL in it: NULL,
   as without memory. */
static const char *phi__mcp_serve_data_text(phi__mcp_serving *serving, phi_str text) {
    phi_str copy;
    if (text.len > PHI__MCP_NAME_BYTES || (text.len > 0 && memchr(text.at, 0, text.len) != NULL) ||
        !phi__arena_str(&serving->arena, text, &copy))
        return NULL;
    return copy.at;
}

static void phi__mcp_serve_data_refuse(phi_mcp_server *server, phi__mcp_origin *origin,
                                       const char *format, phi_str name) {
    char message[200];
    (void)snprintf(message, sizeof message, format, (int)phi__min(name.len, 120),
                   name.len > 0 ? name.at : "");
    phi__mcp_serve_send_error(server, origin, PHI__MCP_RPC_BAD_PARAMS, 200, phi_str_of(message),
                              NULL);
}

/* Calls one of the host's functions about a request. */
static void phi__mcp_serve_data_lost(phi__mcp_serving *serving) {
    phi__mcp_serve_send_error(serving->server, &serving->origin, PHI__MCP_RPC_INTERNAL, 500,
                              PHI__LIT("Out of memory"), NULL);
    phi__mcp_serve_request_drop(serving, true);
}

/* ---- resources ---- */

static void phi__mcp_serve_data_contents(phi_mcp_server *server, phi__mcp_origin *origin,
                                         phi_str uri, const char *mime_type, phi_str content,
                                         bool is_text) {
    phi__buf out;
    phi__mcp_serve_send_open(server, origin, &out);
    phi__mcp_serve_send_complete(server, origin, &out);
    phi__mcp_serve_send_cache(server, origin, &out);
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
    phi__mcp_serve_send_close(server, origin, &out);
}

static const phi_mcp_serve_resource *phi__mcp_serve_data_resource(const phi_mcp_server *server,
                                                                  phi_str uri) {
    size_t i;
    for (i = 0; i < server->desc.resource_count; i++)
        if (phi__str_is(uri, server->desc.resources[i].uri)) return &server->desc.resources[i];
    return NULL;
}

static const phi_mcp_serve_template *phi__mcp_serve_data_template(const phi_mcp_server *server,
                                                                  phi_str uri) {
    size_t i;
    for (i = 0; i < server->desc.template_count; i++)
        if (phi__mcp_serve_uri_match(server->desc.templates[i].uri, uri, NULL))
            return &server->desc.templates[i];
    return NULL;
}

PHI__FN bool phi__mcp_serve_data_known(const phi_mcp_server *server, phi_str uri) {
    return uri.len > 0 && uri.len <= PHI__MCP_NAME_BYTES &&
           (phi__mcp_serve_data_resource(server, uri) != NULL ||
            phi__mcp_serve_data_template(server, uri) != NULL);
}

PHI__FN void phi__mcp_serve_data_unknown(phi_mcp_server *server, phi__mcp_origin *origin,
                                         phi_str uri) {
    phi__buf data;
    phi__buf_init(&data, &server->rt->memory);
    phi__buf_char(&data, '{');
    phi__records_str(&data, "uri", phi__str(uri.at, phi__min(uri.len, PHI__MCP_NAME_BYTES)));
    phi__buf_add(&data, "}", 2);
    phi__mcp_serve_send_error(
        server, origin, origin->era->handshake ? PHI__MCP_RPC_NO_RESOURCE : PHI__MCP_RPC_BAD_PARAMS,
        200, PHI__LIT("Resource not found"), data.failed ? NULL : data.at);
    phi__buf_free(&data);
}

static void phi__mcp_serve_data_template_read(phi__mcp_serving *serving,
                                              const phi_mcp_serve_template *of, const char *uri) {
    phi_mcp_server *server = serving->server;
    phi__buf values;
    phi__buf_init(&values, &server->rt->memory);
    if (!phi__mcp_serve_uri_match(of->uri, phi_str_of(uri), &values))
        phi__mcp_serve_data_unknown(server, &serving->origin, phi_str_of(uri));
    else if (!values.failed) {
        phi__mcp_serve_ask_enter(server);
        of->read(of->user_data, phi__mcp_serve_request_handle(serving), uri, phi__buf_str(&values));
        phi__buf_free(&values);
        (void)phi__mcp_serve_ask_leave(server);
        return;
    } else
        phi__mcp_serve_send_error(server, &serving->origin, PHI__MCP_RPC_INTERNAL, 500,
                                  PHI__LIT("Out of memory"), NULL);
    phi__buf_free(&values);
    phi__mcp_serve_request_drop(serving, true);
}

/* Keeps the type: the host may replace the list before it answers. False: no memory. */
static bool phi__mcp_serve_data_type(phi__mcp_serving *serving, const char *type) {
    phi_str own;
    if (type == NULL) return true;
    if (!phi__arena_str(&serving->arena, phi_str_of(type), &own)) return false;
    serving->mime_type = own.at;
    return true;
}

PHI__FN void phi__mcp_serve_data_read(phi_mcp_server *server, phi__mcp_origin *origin,
                                      phi__mcp_client *client, const phi_json *params) {
    phi_str uri = phi_json_str(phi_json_get(params, "uri"), NULL);
    const phi_mcp_serve_resource *resource;
    const phi_mcp_serve_template *of;
    phi__mcp_serving *serving;
    const char *own;
    if (!phi__mcp_serve_data_known(server, uri)) {
        phi__mcp_serve_data_unknown(server, origin, uri);
        return;
    }
    resource = phi__mcp_serve_data_resource(server, uri);
    if (resource != NULL && resource->read == NULL) {
        bool is_text = resource->text != NULL;
        phi_str content = is_text ? phi_str_of(resource->text)
                                  : phi__str((const char *)resource->bytes, resource->byte_count);
        phi__mcp_serve_data_contents(server, origin, uri, resource->mime_type, content, is_text);
        return;
    }
    serving = phi__mcp_serve_request_new(server, origin, client, PHI__MCP_SERVING_READ, params);
    if (serving == NULL) return;
    of = resource == NULL ? phi__mcp_serve_data_template(server, uri) : NULL;
    own = phi__mcp_serve_data_text(serving, uri);
    if (own == NULL || !phi__mcp_serve_ask_keep(serving, PHI__LIT("resources/read"), params) ||
        !phi__mcp_serve_data_type(serving, of != NULL ? of->mime_type : resource->mime_type)) {
        phi__mcp_serve_data_lost(serving);
        return;
    }
    serving->name = phi_str_of(own);
    if (of == NULL) {
        phi__mcp_serve_ask_enter(server);
        resource->read(resource->user_data, phi__mcp_serve_request_handle(serving), own);
        (void)phi__mcp_serve_ask_leave(server);
    } else
        phi__mcp_serve_data_template_read(serving, of, own);
}

/* ---- prompts ---- */

static const phi_mcp_serve_prompt *phi__mcp_serve_data_prompt_of(const phi_mcp_server *server,
                                                                 phi_str name) {
    size_t i;
    for (i = 0; i < server->desc.prompt_count; i++)
        if (phi__str_is(name, server->desc.prompts[i].name)) return &server->desc.prompts[i];
    return NULL;
}

/* Whether the arguments are strings, and none is missing; else it was refused, and answered so. */
static bool phi__mcp_serve_data_arguments(phi_mcp_server *server, phi__mcp_origin *origin,
                                          const phi_mcp_serve_prompt *prompt,
                                          const phi_json *arguments) {
    phi_json_iter it = phi_json_each(arguments);
    const phi_json *child;
    size_t i;
    if (arguments != NULL && !phi_json_is(arguments, PHI_JSON_OBJECT)) {
        phi__mcp_serve_data_refuse(server, origin, "params.arguments: expected an object%.*s",
                                   phi__str("", 0));
        return false;
    }
    while ((child = phi_json_next(&it)) != NULL) {
        if (phi_json_is(child, PHI_JSON_STRING)) continue;
        phi__mcp_serve_data_refuse(server, origin, "params.arguments.%.*s: expected a string",
                                   it.key);
        return false;
    }
    for (i = 0; i < prompt->argument_count; i++) {
        const char *name = prompt->arguments[i].name;
        if (!prompt->arguments[i].required || phi_json_get(arguments, name) != NULL) continue;
        phi__mcp_serve_data_refuse(server, origin, "params.arguments.%.*s: missing",
                                   phi_str_of(name));
        return false;
    }
    return true;
}

/* The text of a prompt with its arguments in it: "{name}". */
static void phi__mcp_serve_data_fill(const phi_mcp_serve_prompt *prompt, const phi_json *arguments,
                                     phi__buf *out) {
    const char *at = prompt->text;
    while (*at != '\0') {
        size_t i;
        for (i = 0; *at == '{' && i < prompt->argument_count; i++) {
            const char *name = prompt->arguments[i].name;
            size_t n = strlen(name);
            if (strncmp(at + 1, name, n) != 0 || at[n + 1] != '}') continue;
            phi__buf_add_str(out, phi_json_str(phi_json_get(arguments, name), NULL));
            at += n + 2;
            break;
        }
        if (*at != '{' || i == prompt->argument_count) {
            if (*at != '\0') phi__buf_char(out, *at++);
        }
    }
}

static void phi__mcp_serve_data_messages(phi_mcp_server *server, phi__mcp_origin *origin,
                                         const phi_mcp_serve_prompt *prompt,
                                         const phi_message *messages, size_t count) {
    phi__buf out;
    size_t i, j;
    phi__mcp_serve_send_open(server, origin, &out);
    phi__mcp_serve_send_complete(server, origin, &out);
    if (prompt != NULL && prompt->description != NULL)
        phi__records_str(&out, "description", phi_str_of(prompt->description));
    phi__records_raw(&out, "messages", "[");
    for (i = 0; i < count; i++)
        for (j = 0; j < messages[i].content_count; j++) {
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
            phi__mcp_serve_send_block(&out, block, origin->era);
            phi__buf_char(&out, '}');
        }
    phi__buf_char(&out, ']');
    phi__mcp_serve_send_close(server, origin, &out);
}

static void phi__mcp_serve_data_said(phi_mcp_server *server, phi__mcp_origin *origin,
                                     const phi_mcp_serve_prompt *prompt, phi_str text) {
    phi_content block;
    phi_message message;
    memset(&block, 0, sizeof block);
    memset(&message, 0, sizeof message);
    block.kind = PHI_CONTENT_TEXT;
    block.text = text;
    message.role = PHI_ROLE_USER;
    message.content = &block;
    message.content_count = 1;
    phi__mcp_serve_data_messages(server, origin, prompt, &message, 1);
}

static void phi__mcp_serve_data_static(phi_mcp_server *server, phi__mcp_origin *origin,
                                       const phi_mcp_serve_prompt *prompt,
                                       const phi_json *arguments) {
    phi__buf text;
    phi__buf_init(&text, &server->rt->memory);
    phi__mcp_serve_data_fill(prompt, arguments, &text);
    if (text.failed)
        phi__mcp_serve_send_error(server, origin, PHI__MCP_RPC_INTERNAL, 500,
                                  PHI__LIT("Out of memory"), NULL);
    else
        phi__mcp_serve_data_said(server, origin, prompt, phi__buf_str(&text));
    phi__buf_free(&text);
}

PHI__FN void phi__mcp_serve_data_prompt(phi_mcp_server *server, phi__mcp_origin *origin,
                                        phi__mcp_client *client, const phi_json *params) {
    phi_str name = phi_json_str(phi_json_get(params, "name"), NULL), text = PHI__LIT("{}");
    const phi_json *arguments = phi_json_get(params, "arguments");
    const phi_mcp_serve_prompt *prompt = phi__mcp_serve_data_prompt_of(server, name);
    phi__mcp_serving *serving;
    if (prompt == NULL) {
        phi__mcp_serve_data_refuse(server, origin, "Unknown prompt: %.*s", name);
        return;
    }
    if (!phi__mcp_serve_data_arguments(server, origin, prompt, arguments)) return;
    if (prompt->get == NULL) {
        phi__mcp_serve_data_static(server, origin, prompt, arguments);
        return;
    }
    serving = phi__mcp_serve_request_new(server, origin, client, PHI__MCP_SERVING_PROMPT, params);
    if (serving == NULL) return;
    if ((arguments != NULL && phi_json_write(&serving->arena, arguments, 0, &text) != PHI_OK) ||
        !phi__arena_str(&serving->arena, name, &serving->name) ||
        !phi__mcp_serve_ask_keep(serving, PHI__LIT("prompts/get"), params)) {
        phi__mcp_serve_data_lost(serving);
        return;
    }
    phi__mcp_serve_ask_enter(server);
    prompt->get(prompt->user_data, phi__mcp_serve_request_handle(serving), text);
    (void)phi__mcp_serve_ask_leave(server);
}

/* ---- completion ---- */

static bool phi__mcp_serve_data_completed(phi_mcp_server *server, const phi_json *ref) {
    phi_str type = phi_json_str(phi_json_get(ref, "type"), NULL);
    phi_str uri = phi_json_str(phi_json_get(ref, "uri"), NULL);
    size_t i;
    if (phi__str_is(type, "ref/prompt"))
        return phi__mcp_serve_data_prompt_of(server,
                                             phi_json_str(phi_json_get(ref, "name"), NULL)) != NULL;
    if (!phi__str_is(type, "ref/resource")) return false;
    for (i = 0; i < server->desc.template_count; i++)
        if (phi__str_is(uri, server->desc.templates[i].uri)) return true;
    return phi__mcp_serve_data_known(server, uri);
}

PHI__FN void phi__mcp_serve_data_complete(phi_mcp_server *server, phi__mcp_origin *origin,
                                          phi__mcp_client *client, const phi_json *params) {
    const phi_json *ref = phi_json_get(params, "ref"), *argument = phi_json_get(params, "argument");
    const phi_json *known = phi_json_path(params, "context.arguments");
    phi_mcp_serve_completion what;
    phi__mcp_serving *serving;
    if (!phi__mcp_serve_data_completed(server, ref) ||
        !phi_json_is(phi_json_get(argument, "name"), PHI_JSON_STRING) ||
        !phi_json_is(phi_json_get(argument, "value"), PHI_JSON_STRING)) {
        phi__mcp_serve_data_refuse(server, origin,
                                   "params: expected a ref that is known, and argument.name and "
                                   "argument.value%.*s",
                                   phi__str("", 0));
        return;
    }
    serving = phi__mcp_serve_request_new(server, origin, client, PHI__MCP_SERVING_COMPLETE, params);
    if (serving == NULL) return;
    memset(&what, 0, sizeof what);
    what.known = PHI__LIT("{}");
    what.argument =
        phi__mcp_serve_data_text(serving, phi_json_str(phi_json_get(argument, "name"), NULL));
    what.value =
        phi__mcp_serve_data_text(serving, phi_json_str(phi_json_get(argument, "value"), NULL));
    if (phi_json_get(ref, "name") != NULL)
        what.prompt =
            phi__mcp_serve_data_text(serving, phi_json_str(phi_json_get(ref, "name"), NULL));
    else
        what.uri = phi__mcp_serve_data_text(serving, phi_json_str(phi_json_get(ref, "uri"), NULL));
    if (what.argument == NULL || what.value == NULL ||
        (phi_json_is(known, PHI_JSON_OBJECT) &&
         phi_json_write(&serving->arena, known, 0, &what.known) != PHI_OK)) {
        phi__mcp_serve_data_lost(serving);
        return;
    }
    phi__mcp_serve_ask_enter(server);
    server->desc.complete_fn(server->desc.user_data, phi__mcp_serve_request_handle(serving), &what);
    (void)phi__mcp_serve_ask_leave(server);
}

/* ---- public: answers ---- */

static phi__mcp_serving *phi__mcp_serve_data_open(phi_mcp_incoming incoming, uint32_t kinds,
                                                  phi_status *status) {
    phi__mcp_serving *serving = phi__mcp_serve_request_find(incoming);
    *status = serving == NULL ? PHI_STALE : PHI_OK;
    if (incoming.server == NULL ||
        (serving != NULL && ((uint32_t)1 << (uint32_t)serving->kind & kinds) == 0))
        *status = PHI_BAD_ARG;
    return *status == PHI_OK ? serving : NULL;
}

enum {
    PHI__MCP_READS = 1 << PHI__MCP_SERVING_READ,
    PHI__MCP_PROMPTS = 1 << PHI__MCP_SERVING_PROMPT,
    PHI__MCP_COMPLETES = 1 << PHI__MCP_SERVING_COMPLETE
};

static phi_status phi__mcp_serve_data_text_answer(phi_mcp_incoming incoming, phi_str text,
                                                  const char *mime_type) {
    phi_status status;
    phi__mcp_serving *serving =
        phi__mcp_serve_data_open(incoming, PHI__MCP_READS | PHI__MCP_PROMPTS, &status);
    if (serving == NULL) return status;
    if (serving->kind == PHI__MCP_SERVING_READ)
        phi__mcp_serve_data_contents(serving->server, &serving->origin, serving->name,
                                     mime_type != NULL ? mime_type : serving->mime_type, text,
                                     true);
    else
        phi__mcp_serve_data_said(serving->server, &serving->origin,
                                 phi__mcp_serve_data_prompt_of(serving->server, serving->name),
                                 text);
    phi__mcp_serve_request_free(serving);
    return PHI_OK;
}

static phi_status phi__mcp_serve_data_bytes_answer(phi_mcp_incoming incoming, const void *bytes,
                                                   size_t count, const char *mime_type) {
    phi_status status;
    phi__mcp_serving *serving = phi__mcp_serve_data_open(incoming, PHI__MCP_READS, &status);
    if (serving == NULL) return status;
    phi__mcp_serve_data_contents(serving->server, &serving->origin, serving->name,
                                 mime_type != NULL ? mime_type : serving->mime_type,
                                 phi__str((const char *)bytes, count), false);
    phi__mcp_serve_request_free(serving);
    return PHI_OK;
}

static phi_status phi__mcp_serve_data_messages_answer(phi_mcp_incoming incoming,
                                                      const phi_message *messages, size_t count) {
    phi_status status;
    phi__mcp_serving *serving = phi__mcp_serve_data_open(incoming, PHI__MCP_PROMPTS, &status);
    if (serving == NULL) return status;
    phi__mcp_serve_data_messages(serving->server, &serving->origin,
                                 phi__mcp_serve_data_prompt_of(serving->server, serving->name),
                                 messages, count);
    phi__mcp_serve_request_free(serving);
    return PHI_OK;
}

static phi_status phi__mcp_serve_data_values_answer(phi_mcp_incoming incoming,
                                                    const char *const *values, size_t count,
                                                    size_t total) {
    enum { PHI__MOST = 100 }; /* the specification, completion */
    phi_status status;
    phi__mcp_serving *serving = phi__mcp_serve_data_open(incoming, PHI__MCP_COMPLETES, &status);
    phi__buf out;
    size_t i;
    if (serving == NULL) return status;
    phi__mcp_serve_send_open(serving->server, &serving->origin, &out);
    phi__mcp_serve_send_complete(serving->server, &serving->origin, &out);
    phi__records_raw(&out, "completion", "{");
    phi__records_raw(&out, "values", "[");
    for (i = 0; i < count && i < PHI__MOST; i++) {
        phi__json_write_comma(&out);
        phi__json_write_str(&out, phi_str_of(values[i]));
    }
    phi__buf_char(&out, ']');
    phi__records_u64(&out, "total", phi__max(total, count));
    phi__records_bool(&out, "hasMore", phi__max(total, count) > i);
    phi__buf_char(&out, '}');
    phi__mcp_serve_send_close(serving->server, &serving->origin, &out);
    phi__mcp_serve_request_free(serving);
    return PHI_OK;
}

static void phi__mcp_serve_data_result(phi__mcp_serving *serving, const phi_json *root) {
    phi_json_iter it = phi_json_each(root);
    const phi_json *child;
    phi__buf out;
    phi__mcp_serve_send_open(serving->server, &serving->origin, &out);
    if (serving->origin.era->result_type && phi_json_get(root, "resultType") == NULL)
        phi__records_str(&out, "resultType", PHI__LIT("complete"));
    if (serving->kind == PHI__MCP_SERVING_READ && phi_json_get(root, "ttlMs") == NULL)
        phi__mcp_serve_send_cache(serving->server, &serving->origin, &out);
    while ((child = phi_json_next(&it)) != NULL) {
        phi__json_write_key(&out, it.key);
        (void)phi__json_write(&out, child, 0);
    }
    phi__mcp_serve_send_close(serving->server, &serving->origin, &out);
}

static phi_status phi__mcp_serve_data_json_answer(phi_mcp_incoming incoming, phi_str result) {
    phi_status status;
    phi__mcp_serving *serving = phi__mcp_serve_data_open(
        incoming, PHI__MCP_READS | PHI__MCP_PROMPTS | PHI__MCP_COMPLETES, &status);
    phi_json *root = NULL;
    if (serving == NULL) return status;
    status = phi_json_parse(&serving->arena, result, PHI_JSON_BORROW, &root, NULL);
    if (status == PHI_NO_MEMORY) return status;
    if (status != PHI_OK || !phi_json_is(root, PHI_JSON_OBJECT)) return PHI_BAD_ARG;
    phi__mcp_serve_data_result(serving, root);
    phi__mcp_serve_request_free(serving);
    return PHI_OK;
}

static phi_status phi__mcp_serve_data_error_answer(phi_mcp_incoming incoming, const char *message) {
    phi_status status;
    phi__mcp_serving *serving = phi__mcp_serve_data_open(
        incoming, PHI__MCP_READS | PHI__MCP_PROMPTS | PHI__MCP_COMPLETES, &status);
    if (serving == NULL) return status;
    phi__mcp_serve_send_error(serving->server, &serving->origin, PHI__MCP_RPC_INTERNAL, 200,
                              phi_str_of(message), NULL);
    phi__mcp_serve_request_free(serving);
    return PHI_OK;
}

static phi_status phi__mcp_serve_data_blocks_answer(phi_mcp_incoming incoming, const char *blocks) {
    phi__mcp_serving *serving = phi__mcp_serve_request_find(incoming);
    phi_json *list = NULL;
    phi_arena arena;
    phi_status status;
    if (incoming.server == NULL || blocks == NULL) return PHI_BAD_ARG;
    if (serving == NULL) return PHI_STALE;
    if (serving->kind != PHI__MCP_SERVING_CALL) return PHI_BAD_ARG;
    phi_arena_init(&arena, &incoming.server->rt->memory, 0);
    status = phi_json_parse(&arena, phi_str_of(blocks), PHI_JSON_BORROW, &list, NULL);
    if (status == PHI_OK && !phi_json_is(list, PHI_JSON_ARRAY)) status = PHI_PARSE;
    if (status == PHI_OK) status = phi_json_write(&serving->arena, list, 0, &serving->content);
    phi_arena_free(&arena);
    if (status == PHI_OK && phi__str_is(serving->content, "[]")) serving->content.len = 0;
    return status == PHI_PARSE || status == PHI_TOO_BIG ? PHI_BAD_ARG : status;
}

PHI_API phi_status phi_mcp_answer(phi_mcp_incoming incoming, const phi_mcp_answer_desc *answer) {
    if (answer == NULL) return PHI_BAD_ARG;
    if (answer->error != NULL) return phi__mcp_serve_data_error_answer(incoming, answer->error);
    if (answer->json.len > 0) return phi__mcp_serve_data_json_answer(incoming, answer->json);
    if (answer->text.at != NULL)
        return phi__mcp_serve_data_text_answer(incoming, answer->text, answer->mime_type);
    if (answer->bytes != NULL)
        return phi__mcp_serve_data_bytes_answer(incoming, answer->bytes, answer->byte_count,
                                                answer->mime_type);
    if (answer->messages != NULL)
        return phi__mcp_serve_data_messages_answer(incoming, answer->messages,
                                                   answer->message_count);
    if (answer->blocks != NULL) return phi__mcp_serve_data_blocks_answer(incoming, answer->blocks);
    return phi__mcp_serve_data_values_answer(incoming, answer->values, answer->value_count,
                                             answer->value_total);
}
