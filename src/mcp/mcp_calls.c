/* mcp_calls.c - a call of a server's tool: a request, and its answer as the call's result.

   A call ends once: by its result, or when it is cancelled, finished by somebody else or freed with
   its agent; the server is then told that nobody wants the answer. While the connection is being
   made again, a call waits for it. */
#include "mcp/mcp_calls_in.h"

#include "loop/loop_in.h"
#include "mcp/mcp_content_in.h"
#include "mcp/mcp_headers_in.h"
#include "text/json_in.h"
#include "text/schema_in.h"
#include "wire/strict_in.h"

#include <stdio.h>

enum { PHI__MCP_CALLS_WAIT_MS = 50 }; /* between two looks at a connection that is being made */

typedef struct phi__mcp_call {
    phi_call call;
    const phi__mcp_tool *tool;
    phi_memory *memory; /* the agent's */
    phi__mcp_request *request;
    phi__timer timer; /* it waits for a connection */
    uint64_t until_us;
    phi_str arguments; /* borrowed until the call is finished */
    bool open;
} phi__mcp_call;

static phi__io *phi__mcp_calls_io(const phi__mcp_call *c) {
    return phi__mcp_session_runtime(c->tool->mcp)->io;
}

/* ---- its end ---- */

static void phi__mcp_calls_end(phi__mcp_call *c) {
    if (!c->open) return;
    c->open = false;
    phi__io_timer_clear(phi__mcp_calls_io(c), &c->timer);
    phi__mcp_session_cancel(c->request, "the call was cancelled");
    c->request = NULL;
}

static void phi__mcp_calls_give(phi__mcp_call *c, const phi_content *content, size_t count,
                                const char *details, bool is_error) {
    phi_tool_result result;
    memset(&result, 0, sizeof result);
    result.content = content;
    result.content_count = count;
    result.details = details;
    result.is_error = is_error;
    (void)phi_call_result(c->call, &result);
    phi__mcp_calls_end(c);
}

static void phi__mcp_calls_fail_str(phi__mcp_call *c, phi_str words) {
    phi_content content;
    memset(&content, 0, sizeof content);
    content.kind = PHI_CONTENT_TEXT;
    content.text = words;
    phi__mcp_calls_give(c, &content, 1, NULL, true);
}

/* "MCP call failed: JSON-RPC error -32602: unknown tool"; code 0: no error of the server's. */
static void phi__mcp_calls_fail(phi__mcp_call *c, int code, phi_str message) {
    phi__buf words;
    phi__buf_init(&words, c->memory);
    phi__buf_text(&words, "MCP call failed: ");
    if (code != 0) phi__buf_printf(&words, "JSON-RPC error %d: ", code);
    phi__buf_add_str(&words, message);
    phi__mcp_calls_fail_str(c, words.failed ? PHI__LIT("Out of memory") : phi__buf_str(&words));
    phi__buf_free(&words);
}

static void phi__mcp_calls_refuse(phi__mcp_call *c, phi_status status, const char *message) {
    if (status == PHI_NO_MEMORY)
        phi__mcp_calls_fail_str(c, PHI__LIT("Out of memory"));
    else
        phi__mcp_calls_fail(c, 0, phi_str_of(message));
}

/* ---- the result ---- */

typedef struct phi__mcp_outcome {
    phi_arena arena;
    phi_content *content;
    size_t count;
    phi__buf details; /* terminated; empty: none */
    bool is_error;
} phi__mcp_outcome;

/* A result that does not keep the output schema is an error: the model must not take it for what
   the tool promises. False: no memory. */
static bool phi__mcp_calls_check(const phi__mcp_call *c, const phi_json *structured,
                                 phi__mcp_outcome *out) {
    phi_schema_error error;
    phi_status status;
    phi__buf words;
    bool fine;
    if (c->tool->output == NULL || out->is_error) return true;
    if (structured == NULL)
        (void)snprintf(error.message, sizeof error.message,
                       "the tool promises structured content, and there is none");
    else {
        status = phi__schema_check(out->arena.memory, c->tool->output, structured,
                                   "structuredContent", &error);
        if (status != PHI_PARSE) return true; /* it fits, or cannot be checked */
    }
    phi__buf_init(&words, out->arena.memory);
    phi__buf_text(&words, "MCP call failed: the result does not fit the tool's output schema: ");
    phi__buf_text(&words, error.message);
    out->content = (phi_content *)phi__arena_zero(&out->arena, sizeof *out->content);
    fine = out->content != NULL && !words.failed &&
           phi__arena_str(&out->arena, phi__buf_str(&words), &out->content->text);
    phi__buf_free(&words);
    if (!fine) return false;
    out->content->kind = PHI_CONTENT_TEXT;
    out->count = 1;
    out->is_error = true;
    return true;
}

/* {"structuredContent":...,"_meta":...} for the host */
static bool phi__mcp_calls_details(const phi_json *result, phi__mcp_outcome *out) {
    static const char *const keys[] = {"structuredContent", "_meta"};
    size_t i;
    for (i = 0; i < PHI__COUNT(keys); i++) {
        const phi_json *value = phi_json_get(result, keys[i]);
        if (value == NULL) continue;
        if (out->details.len == 0) phi__buf_char(&out->details, '{');
        phi__json_write_key(&out->details, phi_str_of(keys[i]));
        if (phi__json_write(&out->details, value, 0) != PHI_OK) return false;
    }
    if (out->details.len == 0) return true;
    phi__buf_text(&out->details, "}");
    phi__buf_char(&out->details, '\0');
    return !out->details.failed;
}

/* Texts of an error become one, joined by line breaks; images stay behind it. */
static bool phi__mcp_calls_join(phi__mcp_outcome *out) {
    size_t i, kept = 0, texts = 0;
    phi__buf words;
    bool fine;
    phi__buf_init(&words, out->arena.memory);
    for (i = 0; i < out->count; i++) {
        if (out->content[i].kind != PHI_CONTENT_TEXT) continue;
        if (texts++ > 0) phi__buf_char(&words, '\n');
        phi__buf_add_str(&words, out->content[i].text);
    }
    if (texts > 1) {
        phi_content all;
        memset(&all, 0, sizeof all);
        all.kind = PHI_CONTENT_TEXT;
        fine = !words.failed && phi__arena_str(&out->arena, phi__buf_str(&words), &all.text);
        for (i = 0; fine && i < out->count; i++)
            if (out->content[i].kind != PHI_CONTENT_TEXT) out->content[kept++] = out->content[i];
        memmove(out->content + 1, out->content, kept * sizeof *out->content);
        out->content[0] = all;
        out->count = kept + 1;
    } else
        fine = !words.failed;
    phi__buf_free(&words);
    return fine;
}

static bool phi__mcp_calls_read(const phi__mcp_call *c, const phi_json *result,
                                phi__mcp_outcome *out) {
    const phi_json *structured = phi_json_get(result, "structuredContent");
    out->is_error = phi_json_bool(phi_json_get(result, "isError"), false);
    if (!phi__mcp_content_read(phi_json_get(result, "content"), &out->arena, &out->content,
                               &out->count))
        return false;
    if (out->count == 0 && structured != NULL) {
        out->content = (phi_content *)phi__arena_zero(&out->arena, sizeof *out->content);
        if (out->content == NULL ||
            phi_json_write(&out->arena, structured, 0, &out->content->text) != PHI_OK)
            return false;
        out->content->kind = PHI_CONTENT_TEXT;
        out->count = 1;
    }
    if (out->is_error && !phi__mcp_calls_join(out)) return false;
    return phi__mcp_calls_check(c, structured, out) && phi__mcp_calls_details(result, out);
}

static void phi__mcp_calls_answered(phi__mcp_call *c, const phi_json *result) {
    phi__mcp_outcome out;
    memset(&out, 0, sizeof out);
    phi_arena_init(&out.arena, c->memory, 0);
    phi__buf_init(&out.details, c->memory);
    if (!phi_json_is(result, PHI_JSON_OBJECT))
        phi__mcp_calls_fail(c, 0, PHI__LIT("the result is no object"));
    else if (phi__mcp_calls_read(c, result, &out))
        phi__mcp_calls_give(c, out.content, out.count, out.details.at, out.is_error);
    else
        phi__mcp_calls_fail_str(c, PHI__LIT("Out of memory"));
    phi__buf_free(&out.details);
    phi_arena_free(&out.arena);
}

static void phi__mcp_calls_done(void *ctx, const phi_mcp_reply *reply) {
    phi__mcp_call *c = (phi__mcp_call *)ctx;
    c->request = NULL;
    if (reply->status == PHI_OK)
        phi__mcp_calls_answered(c, reply->result);
    else if (reply->status == PHI_NO_MEMORY)
        phi__mcp_calls_fail_str(c, PHI__LIT("Out of memory"));
    else
        phi__mcp_calls_fail(c, reply->code, reply->message);
}

/* "half done", or "3 of 10" */
static void phi__mcp_calls_progress(void *ctx, double progress, double total, phi_str message) {
    phi__mcp_call *c = (phi__mcp_call *)ctx;
    char words[100];
    if (message.len == 0) {
        if (total > 0)
            (void)snprintf(words, sizeof words, "%.6g of %.6g", progress, total);
        else
            (void)snprintf(words, sizeof words, "%.6g", progress);
        message = phi_str_of(words);
    }
    (void)phi__update_progress(c->call, message);
}

/* ---- the request ---- */

static phi_status phi__mcp_calls_headers(phi__mcp_call *c, phi_arena *arena,
                                         phi__mcp_request_desc *desc) {
    phi_json *arguments = NULL;
    phi_mcp_pair *pairs = NULL;
    phi_status status;
    if (c->tool->marked == NULL) return PHI_OK;
    status = phi_json_parse(arena, c->arguments, 0, &arguments, NULL);
    if (status != PHI_OK) return status;
    status = phi__mcp_headers_of(c->tool->marked, arguments, arena, &pairs, &desc->header_count);
    desc->headers = pairs;
    return status;
}

static phi_status phi__mcp_calls_send(phi__mcp_call *c) {
    phi__mcp_request_desc desc;
    phi_status status;
    phi_arena arena;
    phi__buf params;
    memset(&desc, 0, sizeof desc);
    phi_arena_init(&arena, c->memory, 0);
    phi__buf_init(&params, c->memory);
    phi__buf_text(&params, "{\"name\":");
    phi__json_write_str(&params, c->tool->shown.original);
    phi__buf_text(&params, ",\"arguments\":");
    phi__buf_add_str(&params, c->arguments);
    phi__buf_char(&params, '}');
    desc.method = "tools/call";
    desc.params = phi__buf_str(&params);
    desc.name = c->tool->shown.original;
    desc.call = c->call;
    desc.task = c->tool->task;
    desc.progress = phi__mcp_calls_progress;
    desc.done = phi__mcp_calls_done;
    desc.ctx = c;
    status = params.failed ? PHI_NO_MEMORY : phi__mcp_calls_headers(c, &arena, &desc);
    if (status == PHI_OK) status = phi__mcp_session_send(c->tool->mcp, &desc, &c->request);
    phi__buf_free(&params);
    phi_arena_free(&arena);
    return status;
}

static void phi__mcp_calls_unconnected(phi__mcp_call *c) {
    const char *why = phi_mcp_get_info(c->tool->mcp).message;
    char words[400];
    (void)snprintf(words, sizeof words, "the server is not connected%s%s",
                   why[0] != '\0' ? ": " : "", why);
    phi__mcp_calls_fail(c, 0, phi_str_of(words));
}

/* Sends, or waits for the connection, or fails. */
static void phi__mcp_calls_go(phi__mcp_call *c) {
    phi__io *io = phi__mcp_calls_io(c);
    phi_mcp_state state = phi_mcp_get_info(c->tool->mcp).state;
    phi_status status;
    if (state == PHI_MCP_CONNECTING && phi__io_counted_us(io) < c->until_us) {
        status = phi__io_deadline_set(io, &c->timer, (uint64_t)PHI__MCP_CALLS_WAIT_MS * 1000);
        if (status != PHI_OK) phi__mcp_calls_refuse(c, status, "");
        return;
    }
    if (state != PHI_MCP_READY) {
        phi__mcp_calls_unconnected(c);
        return;
    }
    status = phi__mcp_calls_send(c);
    if (status == PHI_BAD_ARG)
        phi__mcp_calls_refuse(c, status, "an argument does not fit into a header");
    else if (status != PHI_OK)
        phi__mcp_calls_refuse(c, status, phi_status_text(status));
}

static void phi__mcp_calls_timer(phi__timer *timer) {
    phi__mcp_calls_go(PHI__OWNER(timer, phi__mcp_call, timer));
}

/* ---- the arguments ---- */

/* A null for a property that may be left out counts as left out: models write that. */
static phi_status phi__mcp_calls_look(phi_arena *arena, const phi__mcp_tool *tool, phi_str text,
                                      phi_schema_error *error) {
    phi_json *schema = NULL, *arguments = NULL;
    phi_status status = phi_json_parse(arena, tool->shown.schema, PHI_JSON_BORROW, &schema, NULL);
    if (status == PHI_OK) status = phi_json_parse(arena, text, PHI_JSON_BORROW, &arguments, NULL);
    if (status != PHI_OK) return status;
    (void)phi__strict_nulls(schema, arguments);
    return phi__schema_check(arena->memory, schema, arguments, "arguments", error);
}

/* Whether they fit the schema, as the loop checks it for other tools. */
static bool phi__mcp_calls_fit(const phi__mcp_call *c, char *words, size_t size) {
    phi_schema_error error;
    phi_arena scratch;
    phi_status status;
    error.message[0] = '\0';
    phi_arena_init(&scratch, c->memory, 0);
    status = phi__mcp_calls_look(&scratch, c->tool, c->arguments, &error);
    phi_arena_free(&scratch);
    if (status == PHI_OK || status == PHI_UNSUPPORTED) return true;
    if (status == PHI_NO_MEMORY)
        (void)snprintf(words, size, "Out of memory");
    else
        (void)snprintf(words, size, "Invalid arguments: %s", error.message);
    return false;
}

/* ---- the tool ---- */

static void phi__mcp_calls_gone(void *state) { phi__mcp_calls_end((phi__mcp_call *)state); }

static phi_flow phi__mcp_calls_start(void *user_data, phi_call call, phi_str arguments) {
    static const char foreign[] = "MCP call failed: this server belongs to another runtime";
    static const char changed[] = "MCP call failed: the server has changed the definition of this "
                                  "tool, and the change is not accepted";
    const phi__mcp_tool *tool = (const phi__mcp_tool *)user_data;
    const phi__toolcall *toolcall = phi__call_find(call);
    phi__mcp_call *c;
    const char *words = NULL;
    char fault[300];
    if (call.rt != phi__mcp_session_runtime(tool->mcp)) words = foreign;
    if (tool->shown.held) words = changed;
    c = words == NULL ? (phi__mcp_call *)phi_call_state(call, sizeof *c) : NULL;
    if (words == NULL && (c == NULL || toolcall == NULL)) words = "Out of memory";
    if (words != NULL) {
        (void)phi_call_fail(call, words);
        return PHI_DONE;
    }
    c->call = call;
    c->tool = tool;
    c->memory = &toolcall->run->agent->memory;
    c->arguments = phi__str_trim(arguments).len > 0 ? arguments : PHI__LIT("{}");
    c->timer.fire = phi__mcp_calls_timer;
    c->until_us = phi__io_counted_us(phi__mcp_calls_io(c)) +
                  (uint64_t)phi__mcp_session_desc(tool->mcp)->connect_timeout_ms * 1000;
    c->open = true;
    phi__call_on_gone(call, phi__mcp_calls_gone);
    if (phi__mcp_calls_fit(c, fault, sizeof fault))
        phi__mcp_calls_go(c);
    else
        phi__mcp_calls_fail_str(c, phi_str_of(fault));
    return PHI_PENDING; /* or it has its result */
}

static void phi__mcp_calls_cancel(void *user_data, phi_call call) {
    phi__mcp_call *c = (phi__mcp_call *)phi_call_state(call, 0);
    (void)user_data;
    if (c != NULL) phi__mcp_calls_end(c);
}

/* After a snapshot: a call that may be repeated is made again. */
static phi_flow phi__mcp_calls_resume(void *user_data, phi_call call, phi_str arguments) {
    static const char words[] = "MCP call failed: the program was started anew while this call was "
                                "under way; whether the server has done it is not known";
    if (((const phi__mcp_tool *)user_data)->shown.idempotent)
        return phi__mcp_calls_start(user_data, call, arguments);
    (void)phi_call_fail(call, words);
    return PHI_DONE;
}

PHI__FN void phi__mcp_calls_fill(phi_tool *tool) {
    tool->start = phi__mcp_calls_start;
    tool->cancel = phi__mcp_calls_cancel;
    tool->resume = phi__mcp_calls_resume;
}
