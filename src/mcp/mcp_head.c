/* mcp_head.c - headers of requests to a server and of its answers. */
#include "mcp/mcp_head_in.h"

#include "io/secret_in.h"
#include "mcp/mcp_headers_in.h"
#include "text/json_in.h"
#include "wire/headers_in.h"

#include <stdio.h>

/* ---- of a request ---- */

enum { PHI__MCP_HEAD_OWN = 10 }; /* headers of ours, at most */

typedef struct phi__mcp_head_list {
    phi__header *at;
    size_t count, own;
} phi__mcp_head_list;

static void phi__mcp_head_add(phi__mcp_head_list *list, const char *name, phi_str value) {
    list->at[list->count].name = phi_str_of(name);
    list->at[list->count++].value = value;
}

/* Those of the host's desc, but for names that are in the list already. */
static void phi__mcp_head_add_host(phi__mcp_head_list *list, const phi_mcp_desc *desc) {
    size_t i, j, own = list->count;
    for (i = 0; i < desc->header_count; i++) {
        bool taken = false;
        for (j = 0; j < own && !taken; j++)
            taken = phi__str_is_nocase(list->at[j].name, desc->headers[i].name);
        if (!taken)
            phi__mcp_head_add(list, desc->headers[i].name, phi_str_of(desc->headers[i].value));
    }
}

/* The era of 2026-07-28: what the message says is said in headers, too. */
static bool phi__mcp_head_add_message(phi__mcp_head_list *list, const phi__mcp_out *out,
                                      phi_arena *arena) {
    phi_str name;
    size_t i;
    if (out->method.len > 0) phi__mcp_head_add(list, "Mcp-Method", out->method);
    if (out->name.len > 0) {
        if (!phi__mcp_headers_encode(arena, out->name, &name)) return false;
        phi__mcp_head_add(list, "Mcp-Name", name);
    }
    for (i = 0; i < out->header_count; i++)
        phi__mcp_head_add(list, out->headers[i].name, phi_str_of(out->headers[i].value));
    return true;
}

PHI__FN bool phi__mcp_head_make(const phi__mcp_exchange *e, phi_str proof, phi_arena *arena,
                                phi__header **out, size_t *count) {
    const phi__mcp_wire *wire = e->wire;
    const phi__mcp_era *era = wire->era;
    size_t more = phi__add(wire->desc->header_count, e->out != NULL ? e->out->header_count : 0);
    phi__mcp_head_list list;
    memset(&list, 0, sizeof list);
    list.at = (phi__header *)phi__arena_zero(
        arena, phi__mul(phi__add(more, PHI__MCP_HEAD_OWN), sizeof *list.at));
    if (list.at == NULL) return false;
    if (e->kind->accept != NULL) phi__mcp_head_add(&list, "Accept", phi_str_of(e->kind->accept));
    if (strcmp(e->kind->method, "POST") == 0)
        phi__mcp_head_add(&list, "Content-Type", PHI__LIT("application/json"));
    if (wire->version[0] != '\0' && era != NULL && era->version_header)
        phi__mcp_head_add(&list, "MCP-Protocol-Version", phi_str_of(wire->version));
    if (wire->session.len > 0)
        phi__mcp_head_add(&list, "Mcp-Session-Id", phi__buf_str(&wire->session));
    if (e->resume.id.len > 0 && strcmp(e->kind->method, "GET") == 0)
        phi__mcp_head_add(&list, "Last-Event-ID", phi__buf_str(&e->resume.id));
    if (e->sent.len > 0) phi__mcp_head_add(&list, "Authorization", phi__buf_str(&e->sent));
    if (proof.len > 0) phi__mcp_head_add(&list, "DPoP", proof);
    if (era != NULL && era->message_headers && e->out != NULL &&
        !phi__mcp_head_add_message(&list, e->out, arena))
        return false;
    phi__mcp_head_add_host(&list, wire->desc);
    *out = list.at;
    *count = list.count;
    return true;
}

/* ---- of an answer ---- */

PHI__FN bool phi__mcp_head_redirects(int status) { return status == 307 || status == 308; }

static phi__mcp_shape phi__mcp_head_refuse(phi__mcp_exchange *e, const char *why) {
    (void)snprintf(e->words, sizeof e->words, "HTTP %d from server: %s", e->http_status, why);
    return PHI__MCP_SHAPE_FAULT;
}

/* "text/html; charset=utf-8" > "text/html" */
static phi_str phi__mcp_head_type(phi_str headers) {
    phi_str value = phi__headers_value(headers, "content-type");
    size_t end = phi__str_find(value, 0, ";");
    return phi__str_trim(phi__str(value.at, end == SIZE_MAX ? value.len : end));
}

static bool phi__mcp_head_is_json(phi_str type) {
    size_t n = type.len;
    return phi__str_is_nocase(type, "application/json") || phi__str_is_nocase(type, "text/json") ||
           (n > 5 && phi__str_is_nocase(phi__str(type.at + n - 5, 5), "+json"));
}

/* Bytes that a message can show. */
static void phi__mcp_head_show(char *out, size_t size, phi_str text) {
    size_t i, n = 0;
    for (i = 0; i < text.len && n + 1 < size; i++)
        out[n++] = text.at[i] >= 0x20 && text.at[i] <= 0x7e ? text.at[i] : '?';
    out[n] = '\0';
}

static phi__mcp_shape phi__mcp_head_typed(phi__mcp_exchange *e, phi_str headers) {
    phi_str type = phi__mcp_head_type(headers);
    bool get = strcmp(e->kind->method, "GET") == 0;
    char shown[100], why[240];
    if (phi__str_is_nocase(type, "text/event-stream")) return PHI__MCP_SHAPE_SSE;
    if (!get && (type.len == 0 || phi__mcp_head_is_json(type))) return PHI__MCP_SHAPE_JSON;
    phi__mcp_head_show(shown, sizeof shown, type);
    (void)snprintf(why, sizeof why, "content type \"%s\", expected %stext/event-stream", shown,
                   get ? "" : "application/json or ");
    return phi__mcp_head_refuse(e, why);
}

PHI__FN phi__mcp_shape phi__mcp_head_shape(phi__mcp_exchange *e, phi_str headers) {
    phi_str encoding = phi__str_trim(phi__headers_value(headers, "content-encoding"));
    if (e->http_status / 100 != 2) {
        const char *more = e->http_status / 100 == 3 ? ": a redirect that is not followed" : "";
        if (e->http_status == 401 && e->wire->oauth == NULL)
            more = " (phi_mcp_desc.oauth is not set)";
        (void)snprintf(e->words, sizeof e->words, "HTTP %d from server%s", e->http_status, more);
        return PHI__MCP_SHAPE_FAULT;
    }
    if (e->kind->skips) return PHI__MCP_SHAPE_SKIP;
    if (encoding.len > 0 && !phi__str_is_nocase(encoding, "identity"))
        return phi__mcp_head_refuse(e, "the answer is compressed, which was not asked for");
    if (e->out == NULL && strcmp(e->kind->method, "POST") == 0) return PHI__MCP_SHAPE_SKIP;
    if (e->http_status == 202 || e->http_status == 204)
        return phi__mcp_head_refuse(e, "no answer to a request");
    return phi__mcp_head_typed(e, headers);
}

PHI__FN bool phi__mcp_head_session(phi__mcp_exchange *e, phi_str headers) {
    phi_str id = phi__headers_value(headers, "mcp-session-id");
    phi__buf *own = &e->wire->session;
    size_t i;
    for (i = 0; i < id.len; i++)
        if (id.at[i] < 0x21 || id.at[i] > 0x7e) {
            (void)phi__mcp_head_refuse(e, "a session id with characters that are not visible "
                                          "ASCII");
            return false;
        }
    phi__buf_clear(own);
    phi__buf_add_str(own, id);
    if (!own->failed) return true;
    phi__buf_free(own);
    (void)phi__mcp_head_refuse(e, "no memory for its session id");
    return false;
}

/* ---- messages ---- */

static void phi__mcp_head_secrets(const phi__mcp_exchange *e, phi__secrets *set) {
    const phi_mcp_desc *desc = e->wire->desc;
    size_t i;
    for (i = 0; i < desc->header_count; i++)
        phi__secret_add_key(set, phi_str_of(desc->headers[i].value));
    if (e->sent.len > 0)
        (void)phi__secret_add_header(set, PHI__LIT("Authorization"), phi__buf_str(&e->sent));
    for (i = 0; i < desc->header_count; i++)
        (void)phi__secret_add_header(set, phi_str_of(desc->headers[i].name),
                                     phi_str_of(desc->headers[i].value));
    phi__secret_add_url(set, e->wire->url);
    if (e->wire->session.len > 0) phi__secret_add(set, phi__buf_str(&e->wire->session));
}

PHI__FN bool phi__mcp_head_hide_in(const phi__mcp_exchange *e, char *at, size_t len,
                                   phi__secret_text kind) {
    phi_arena arena;
    phi__secrets set;
    bool fine;
    phi_arena_init(&arena, e->wire->memory, 0);
    phi__secret_init(&set, &arena);
    phi__mcp_head_secrets(e, &set);
    fine = !set.failed;
    if (fine && len > 0) (void)phi__secret_hide(&set, at, len, kind);
    phi_arena_free(&arena);
    return fine;
}

PHI__FN void phi__mcp_head_hide(phi__mcp_exchange *e) {
    if (phi__mcp_head_hide_in(e, e->words, strlen(e->words), PHI__SECRET_WORDS) &&
        phi__mcp_head_hide_in(e, e->body.at, e->body.len, PHI__SECRET_JSON))
        return;
    (void)snprintf(e->words, sizeof e->words, "HTTP %d from server", e->http_status);
    phi__buf_clear(&e->body);
}

PHI__FN void phi__mcp_head_fault(phi__mcp_exchange *e) {
    phi__json_found found;
    phi_arena arena;
    phi_str text;
    size_t n = strlen(e->words);
    phi__mcp_head_hide(e);
    if (e->body.len == 0 || e->http_status / 100 == 2) return;
    if (phi__json_cursor_find(phi__buf_str(&e->body), "error.message", &found) != PHI_OK) return;
    phi_arena_init(&arena, e->wire->memory, 0);
    if (phi__json_cursor_found_str(&arena, &found, &text) && text.len > 0 &&
        n + 3 < sizeof e->words) {
        memcpy(e->words + n, ": ", 2);
        phi__mcp_head_show(e->words + n + 2, sizeof e->words - n - 2, text);
    }
    phi_arena_free(&arena);
}
