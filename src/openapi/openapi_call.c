/* openapi_call.c - a call of an operation: its arguments are made into a request, a token is waited
   for where one is needed, the answer becomes the result.

   A timer drives the work in slices (files for the body); the fetch and the token drive the
   rest. A call ends once: by its result, or by cancel. */
#include "openapi/openapi_call_in.h"

#include "loop/loop_in.h"
#include "openapi/openapi_answer_in.h"
#include "openapi/openapi_auth_in.h"
#include "openapi/openapi_body_in.h"

#include <stdarg.h>
#include <stdio.h>

enum { PHI__OPENAPI_CALL_SLICES = 4 }; /* of the body's work, in one go */

typedef struct phi__openapi_call {
    phi_call call;
    const phi__operation *op;
    phi_memory *memory; /* the agent's */
    phi_arena arena;
    phi_json *arguments;
    phi__openapi_request request;
    phi__openapi_body body;
    phi__openapi_auth auth;
    phi__openapi_answer answer;
    phi__timer timer;
    phi__fetch *fetch;
    bool sent; /* the URL has its query, and the headers their cookies */
    bool ended;
    phi_str url;
} phi__openapi_call;

/* ---- its end ---- */

static void phi__openapi_call_end(phi__openapi_call *c) {
    if (c->ended) return;
    c->ended = true;
    phi__io_timer_clear(c->op->api->rt->io, &c->timer);
    phi__fetch_close(c->fetch);
    c->fetch = NULL;
    phi__openapi_token_leave(&c->auth.wait);
    phi__openapi_answer_free(&c->answer);
    phi__openapi_body_free(&c->body);
    phi__openapi_request_free(&c->request);
    if (c->url.len > 0)
        memset((char *)(uintptr_t)c->url.at, 0, c->url.len); /* a key may be in it */
    c->url.len = 0;
    phi_arena_free(&c->arena);
    c->op->api->calls_open--;
}

static void phi__openapi_call_give(phi__openapi_call *c, const phi_content *content, size_t count,
                                   const char *details, bool is_error) {
    phi_tool_result result;
    memset(&result, 0, sizeof result);
    result.content = content;
    result.content_count = count;
    result.details = details;
    result.is_error = is_error;
    (void)phi_call_result(c->call, &result);
    phi__openapi_call_end(c);
}

static void phi__openapi_call_fail(phi__openapi_call *c, const char *words) {
    phi_content content;
    memset(&content, 0, sizeof content);
    content.kind = PHI_CONTENT_TEXT;
    content.text = phi_str_of(words);
    phi__openapi_call_give(c, &content, 1, NULL, true);
}

/* What a part of the request could not do. */
static void phi__openapi_call_refuse(phi__openapi_call *c, phi_status status) {
    phi__openapi_call_fail(c, status == PHI_NO_MEMORY ? "Out of memory" : c->request.message);
}

static void phi__openapi_call_failed(phi__openapi_call *c, const char *message) {
    char words[500];
    (void)snprintf(words, sizeof words, "Error: HTTP request failed: %s", message);
    phi__openapi_call_fail(c, words);
}

/* ---- the result ---- */

static void phi__openapi_call_details(phi__openapi_call *c, phi__buf *out) {
    phi__buf_printf(out, "{\"status\":%d,\"method\":", c->answer.http_status);
    phi__json_write_str(out, c->op->method);
    phi__buf_text(out, ",\"url\":");
    phi__json_write_str(out, phi__buf_str(&c->request.url));
    phi__buf_char(out, '}');
    phi__buf_char(out, '\0');
}

static void phi__openapi_call_line(phi__openapi_call *c, phi__buf *out) {
    const char *reason = phi__openapi_answer_reason(c->answer.http_status);
    phi__buf_add_str(out, c->op->method);
    phi__buf_char(out, ' ');
    phi__buf_add_str(out, phi__buf_str(&c->request.url));
    phi__buf_printf(out, " \xE2\x86\x92 %d%s%s\n\n", c->answer.http_status,
                    reason[0] != '\0' ? " " : "", reason);
}

static void phi__openapi_call_result(phi__openapi_call *c) {
    phi__buf text, media, details;
    phi_content content[2];
    memset(content, 0, sizeof content);
    phi__buf_init(&text, c->memory);
    phi__buf_init(&media, c->memory);
    phi__buf_init(&details, c->memory);
    phi__openapi_call_line(c, &text);
    phi__openapi_call_details(c, &details);
    if (phi__openapi_answer_finish(&c->answer, &text, &media) != PHI_OK || details.failed) {
        phi__openapi_call_fail(c, "Out of memory");
    } else {
        content[0].kind = PHI_CONTENT_TEXT;
        content[0].text = phi__buf_str(&text);
        content[1].kind = phi__openapi_answer_kind(&c->answer);
        content[1].data = phi__buf_str(&media);
        content[1].mime_type = phi_str_of(c->answer.type);
        phi__openapi_call_give(c, content, media.len > 0 ? 2 : 1, details.at, false);
    }
    phi__buf_free(&text);
    phi__buf_free(&media);
    phi__buf_free(&details);
}

/* ---- the request under way ---- */

static void phi__openapi_call_authorize(phi__openapi_call *c);

static void phi__openapi_call_head(void *user_data, int http_status, phi_str headers) {
    phi__openapi_call *c = (phi__openapi_call *)user_data;
    if (!phi__openapi_auth_again(&c->auth, http_status)) {
        phi__openapi_answer_head(&c->answer, http_status, headers);
        return;
    }
    phi__fetch_close(c->fetch);
    c->fetch = NULL;
    phi__openapi_call_authorize(c);
}

static size_t phi__openapi_call_body(void *user_data, phi_str bytes) {
    phi__openapi_call *c = (phi__openapi_call *)user_data;
    if (phi__openapi_answer_body(&c->answer, bytes)) return bytes.len;
    phi__fetch_close(c->fetch);
    c->fetch = NULL;
    phi__openapi_call_result(c);
    return bytes.len;
}

static void phi__openapi_call_over(void *user_data, phi_status status, const char *message) {
    phi__openapi_call *c = (phi__openapi_call *)user_data;
    c->fetch = NULL;
    if (status == PHI_OK)
        phi__openapi_call_result(c);
    else if (status == PHI_NO_MEMORY)
        phi__openapi_call_fail(c, "Out of memory");
    else
        phi__openapi_call_failed(c, message);
}

/* ---- sending ---- */

/* The whole URL, and the cookies: a host's own before those of arguments. */
static phi_status phi__openapi_call_complete(phi__openapi_call *c) {
    phi__openapi_request *r = &c->request;
    phi_status status = PHI_OK;
    phi__buf whole;
    size_t i;
    if (c->sent) return PHI_OK;
    c->sent = true;
    phi__buf_init(&whole, c->memory);
    phi__buf_add_str(&whole, phi__buf_str(&r->url));
    if (r->query.len > 0) {
        phi__buf_char(&whole, phi__str_find(phi__buf_str(&r->url), 0, "?") == SIZE_MAX ? '?' : '&');
        phi__buf_add_str(&whole, phi__buf_str(&r->query));
    }
    if (whole.failed || !phi__arena_str(&c->arena, phi__buf_str(&whole), &c->url))
        status = PHI_NO_MEMORY;
    if (r->cookie.len > 0 && status == PHI_OK) {
        phi__buf_clear(&whole);
        for (i = 0; i < r->count; i++)
            if (phi__str_is_nocase(r->headers[i].name, "Cookie")) {
                phi__buf_add_str(&whole, r->headers[i].value);
                phi__buf_text(&whole, "; ");
            }
        phi__buf_add_str(&whole, phi__buf_str(&r->cookie));
        status = whole.failed
                     ? PHI_NO_MEMORY
                     : phi__openapi_request_add(r, PHI__LIT("Cookie"), phi__buf_str(&whole), true);
    }
    phi__buf_free(&whole);
    return status;
}

static void phi__openapi_call_send(phi__openapi_call *c) {
    const phi_openapi_desc *of = &c->op->api->desc;
    phi_runtime *rt = c->op->api->rt;
    const char *words = NULL;
    phi__fetch_desc desc;
    phi_status status = phi__openapi_call_complete(c);
    memset(&desc, 0, sizeof desc);
    desc.memory = c->memory;
    desc.method = c->op->method;
    desc.url = c->url;
    desc.headers = c->request.headers;
    desc.header_count = c->request.count;
    desc.pieces = c->body.pieces;
    desc.piece_count = c->body.count;
    desc.deadlines.first_event_ms = desc.deadlines.idle_ms = of->timeout_ms;
    desc.deadlines.total_ms = of->timeout_ms;
    desc.on_head = phi__openapi_call_head;
    desc.on_body = phi__openapi_call_body;
    desc.on_end = phi__openapi_call_over;
    desc.user_data = c;
    if (status == PHI_OK) status = phi__fetch_open(rt, &desc, &c->fetch);
    if (status == PHI_OK) return;
    (void)phi__error_last(rt, &words);
    if (status == PHI_NO_MEMORY)
        phi__openapi_call_fail(c, "Out of memory");
    else
        phi__openapi_call_failed(c, words);
}

static void phi__openapi_call_token_done(phi__openapi_wait *wait, phi_status status,
                                         const char *message) {
    phi__openapi_auth *auth = PHI__OWNER(wait, phi__openapi_auth, wait);
    phi__openapi_call *c = PHI__OWNER(auth, phi__openapi_call, auth);
    if (status == PHI_OK)
        phi__openapi_call_authorize(c);
    else if (status == PHI_NO_MEMORY)
        phi__openapi_call_fail(c, "Out of memory");
    else
        phi__openapi_call_failed(c, message);
}

static void phi__openapi_call_authorize(phi__openapi_call *c) {
    phi_status status;
    c->auth.wait.done = phi__openapi_call_token_done;
    status = phi__openapi_auth_token(&c->auth);
    if (status == PHI_BUSY) return;
    if (status == PHI_OK)
        phi__openapi_call_send(c);
    else
        phi__openapi_call_refuse(c, status);
}

/* ---- building ---- */

static void phi__openapi_call_go(phi__openapi_call *c) {
    phi__io *io = c->op->api->rt->io;
    phi_status status = PHI_BUSY;
    int slices;
    for (slices = 0; slices < PHI__OPENAPI_CALL_SLICES && status == PHI_BUSY; slices++)
        status = phi__openapi_body_advance(&c->body);
    if (status == PHI_BUSY)
        status = phi__io_timer_set(io, &c->timer, phi__io_now_us(io));
    else {
        if (status == PHI_OK) status = phi__openapi_auth_begin(&c->auth, &c->request);
        if (status == PHI_OK) {
            phi__openapi_answer_init(&c->answer, c->memory, c->op, c->call, &c->auth.secrets);
            phi__openapi_call_authorize(c);
            return;
        }
    }
    if (status != PHI_OK) phi__openapi_call_refuse(c, status);
}

static void phi__openapi_call_timer(phi__timer *timer) {
    phi__openapi_call_go(PHI__OWNER(timer, phi__openapi_call, timer));
}

static void phi__openapi_call_gone(void *state) {
    phi__openapi_call *c = (phi__openapi_call *)state;
    if (c->op != NULL) phi__openapi_call_end(c);
}

/* False: the call is over. */
static bool phi__openapi_call_read(phi__openapi_call *c, phi_str arguments) {
    char words[200];
    phi_parse_error error;
    phi_status status;
    if (phi__str_trim(arguments).len == 0) arguments = PHI__LIT("{}");
    status = phi_json_parse(&c->arena, arguments, PHI_JSON_REPLACE_BAD_UTF8, &c->arguments, &error);
    if (status == PHI_OK && phi_json_is(c->arguments, PHI_JSON_NULL))
        c->arguments = phi_json_new_object(&c->arena);
    if (status == PHI_NO_MEMORY || (status == PHI_OK && c->arguments == NULL)) {
        phi__openapi_call_fail(c, "Out of memory");
        return false;
    }
    if (status == PHI_OK && phi_json_is(c->arguments, PHI_JSON_OBJECT)) return true;
    (void)snprintf(words, sizeof words, "Error: Expected object parameters, got %s",
                   status == PHI_OK ? phi__json_get_type_name(c->arguments)
                                    : "text that is not JSON");
    phi__openapi_call_fail(c, words);
    return false;
}

static phi_flow phi__openapi_call_start(void *user_data, phi_call call, phi_str arguments) {
    static const char foreign[] = "Error: This tool belongs to a document of another runtime";
    phi__openapi_call *c = (phi__openapi_call *)phi_call_state(call, sizeof *c);
    const phi__toolcall *toolcall = phi__call_find(call);
    phi_status status;
    if (call.rt != ((const phi__operation *)user_data)->api->rt) {
        (void)phi_call_fail(call, foreign);
        return PHI_DONE;
    }
    if (c == NULL || toolcall == NULL) {
        (void)phi_call_fail(call, "Out of memory");
        return PHI_DONE;
    }
    c->call = call;
    c->op = (const phi__operation *)user_data;
    c->memory = &toolcall->run->agent->memory;
    c->timer.fire = phi__openapi_call_timer;
    c->op->api->calls_open++;
    phi_arena_init(&c->arena, c->memory, 1024);
    phi__call_on_gone(call, phi__openapi_call_gone);
    if (!phi__openapi_call_read(c, arguments)) return PHI_PENDING;
    phi__openapi_request_init(&c->request, &c->arena, c->memory, c->op, c->arguments);
    status = phi__openapi_request_build(&c->request);
    if (status != PHI_OK) {
        phi__openapi_call_refuse(c, status);
        return PHI_PENDING;
    }
    phi__openapi_body_begin(&c->body, &c->request, c->call);
    phi__openapi_call_go(c);
    return PHI_PENDING; /* or it has its result */
}

static void phi__openapi_call_cancel(void *user_data, phi_call call) {
    phi__openapi_call *c = (phi__openapi_call *)phi_call_state(call, 0);
    (void)user_data;
    if (c != NULL && c->op != NULL) phi__openapi_call_end(c);
}

/* After a snapshot: a request that only reads is made again; another one may have been served. */
static phi_flow phi__openapi_call_resume(void *user_data, phi_call call, phi_str arguments) {
    static const char words[] = "Interrupted: the program was started anew while this request was "
                                "under way; whether the server has served it is not known";
    if (((const phi__operation *)user_data)->read_only)
        return phi__openapi_call_start(user_data, call, arguments);
    (void)phi_call_fail(call, words);
    return PHI_DONE;
}

/* ---- for the document's side ---- */

/* Long enough for a token, the request, a new token and the request again. */
static uint32_t phi__openapi_call_timeout(uint32_t ms) {
    return ms > UINT32_MAX / 8 ? PHI_UNLIMITED : ms * 4 + 5000;
}

PHI__FN void phi__openapi_call_fill(phi_tool *tool) {
    const phi__operation *op = (const phi__operation *)tool->user_data;
    tool->start = phi__openapi_call_start;
    tool->cancel = phi__openapi_call_cancel;
    tool->resume = phi__openapi_call_resume;
    tool->timeout_ms = phi__openapi_call_timeout(op->api->desc.timeout_ms);
    tool->unlisted = true;
}

PHI__FN void phi__openapi_call_free(phi_openapi *api) { phi__openapi_token_free_all(api); }
