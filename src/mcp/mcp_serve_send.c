/* mcp_serve_send.c - messages of our server: results, errors, notifications, batches. */
#include "mcp/mcp_serve_state_in.h"

#include "mcp/mcp_oauth_url_in.h"
#include "text/records_in.h"

#include <stdio.h>

/* ---- pieces ---- */

static void phi__mcp_serve_send_data(phi__buf *out, const char *type, const phi_content *block) {
    phi__records_str(out, "type", phi_str_of(type));
    phi__records_str(out, "data", block->data);
    phi__records_str(out, "mimeType", block->mime_type);
}

/* A document as a resource inside of the result, "document:///Report.pdf"; one by its address as
   that address in a text. */
static void phi__mcp_serve_send_document(phi__buf *out, const phi_content *block) {
    phi__buf uri;
    if (block->url.len > 0) {
        phi__records_str(out, "type", PHI__LIT("text"));
        phi__records_str(out, "text", block->url);
        return;
    }
    phi__buf_init(&uri, out->memory);
    phi__buf_text(&uri, "document:///");
    phi__mcp_oauth_url_escape(&uri, block->name.len > 0 ? block->name : PHI__LIT("document"));
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

PHI__FN void phi__mcp_serve_send_block(phi__buf *out, const phi_content *block,
                                       const phi__mcp_era *era) {
    phi__buf_char(out, '{');
    if (block->kind == PHI_CONTENT_IMAGE)
        phi__mcp_serve_send_data(out, "image", block);
    else if (block->kind == PHI_CONTENT_AUDIO && era->audio)
        phi__mcp_serve_send_data(out, "audio", block);
    else if (block->kind == PHI_CONTENT_DOCUMENT)
        phi__mcp_serve_send_document(out, block);
    else {
        phi__records_str(out, "type", PHI__LIT("text"));
        phi__records_str(out, "text",
                         block->kind == PHI_CONTENT_AUDIO ? PHI__LIT("[audio]") : block->text);
    }
    phi__buf_char(out, '}');
}

PHI__FN void phi__mcp_serve_send_server_info(const phi_mcp_server *server, phi__buf *out,
                                             const phi__mcp_era *era) {
    const phi_mcp_server_desc *desc = &server->desc;
    phi__buf_char(out, '{');
    phi__records_str(out, "name", phi_str_of(desc->name));
    if (desc->title != NULL && era->titles) phi__records_str(out, "title", phi_str_of(desc->title));
    phi__records_str(out, "version", phi_str_of(desc->version));
    phi__buf_char(out, '}');
}

/* ---- out ---- */

static void phi__mcp_serve_send_batch(phi_mcp_server *server, phi__mcp_batch *batch) {
    phi__buf *out = &batch->out;
    if (--batch->waiting > 0) return;
    if (out->len > 0) phi__buf_char(out, ']');
    if (batch->way != NULL && !out->failed)
        (void)batch->way->table->send(batch->way, phi__buf_str(out), out->len > 0 ? 200 : 202,
                                      true);
    else if (batch->way != NULL)
        (void)batch->way->table->send(batch->way, phi__str("", 0), 500, true);
    phi__buf_free(out);
    phi__free(&server->rt->memory, batch, sizeof *batch);
}

/* The answer to a message; json empty: none. */
static void phi__mcp_serve_send_text(phi_mcp_server *server, phi__mcp_origin *origin, phi_str json,
                                     int http_status) {
    phi__mcp_batch *batch = origin->batch;
    phi__mcp_way *way = origin->way;
    origin->batch = NULL;
    if (batch != NULL) {
        if (json.len > 0) phi__buf_char(&batch->out, batch->out.len > 0 ? ',' : '[');
        phi__buf_add_str(&batch->out, json);
        phi__mcp_serve_send_batch(server, batch);
    } else if (way != NULL)
        (void)way->table->send(way, json, http_status, true);
}

static void phi__mcp_serve_send_lost(phi_mcp_server *server, phi__mcp_origin *origin) {
    char text[PHI__MCP_RPC_ID + 120]; /* there is no memory for a buffer */
    int n = snprintf(text, sizeof text,
                     "{\"jsonrpc\":\"2.0\",\"id\":%.*s,\"error\":{\"code\":%d,"
                     "\"message\":\"Out of memory\"}}",
                     (int)origin->id.len, origin->id.len > 0 ? origin->id.at : "",
                     (int)PHI__MCP_RPC_INTERNAL);
    if (origin->id.len == 0 || n < 0) n = 0;
    phi__mcp_serve_send_text(server, origin, phi__str(text, (size_t)n), 500);
}

PHI__FN void phi__mcp_serve_send_nothing(phi_mcp_server *server, phi__mcp_origin *origin,
                                         int http_status) {
    phi__mcp_serve_send_text(server, origin, phi__str("", 0), http_status);
}

PHI__FN void phi__mcp_serve_send_open(phi_mcp_server *server, const phi__mcp_origin *origin,
                                      phi__buf *out) {
    phi__buf_init(out, &server->rt->memory);
    phi__mcp_rpc_open_result(out, origin->id);
    phi__buf_char(out, '{');
}

PHI__FN void phi__mcp_serve_send_error(phi_mcp_server *server, phi__mcp_origin *origin, int code,
                                       int http_status, phi_str message, const char *data) {
    phi__buf out;
    phi__buf_init(&out, &server->rt->memory);
    phi__mcp_rpc_error(&out, origin->id, code, message, phi_str_of(data));
    if (out.failed)
        phi__mcp_serve_send_lost(server, origin);
    else
        phi__mcp_serve_send_text(server, origin, phi__buf_str(&out), http_status);
    phi__buf_free(&out);
}

/* No queue would hold it: the client gets an error, and is not dropped for it. */
static void phi__mcp_serve_send_too_long(phi_mcp_server *server, phi__mcp_origin *origin) {
    char message[80];
    (void)snprintf(message, sizeof message, "The answer has more than %lu bytes",
                   (unsigned long)server->desc.max_queue_bytes);
    phi__mcp_serve_send_error(server, origin, PHI__MCP_RPC_INTERNAL, 200, phi_str_of(message),
                              NULL);
}

PHI__FN void phi__mcp_serve_send_close(phi_mcp_server *server, phi__mcp_origin *origin,
                                       phi__buf *out) {
    size_t most = server->desc.max_queue_bytes, before;
    before = origin->batch != NULL ? phi__min(origin->batch->out.len, most) : 0;
    phi__buf_text(out, "}}");
    if (out->failed)
        phi__mcp_serve_send_lost(server, origin);
    else if (out->len >= most - before)
        phi__mcp_serve_send_too_long(server, origin);
    else
        phi__mcp_serve_send_text(server, origin, phi__buf_str(out), 200);
    phi__buf_free(out);
}

PHI__FN void phi__mcp_serve_send_complete(const phi_mcp_server *server,
                                          const phi__mcp_origin *origin, phi__buf *out) {
    if (!origin->era->result_type) return;
    phi__records_str(out, "resultType", PHI__LIT("complete"));
    phi__records_raw(out, "_meta", "{\"io.modelcontextprotocol/serverInfo\":");
    phi__mcp_serve_send_server_info(server, out, origin->era);
    phi__buf_char(out, '}');
}

PHI__FN void phi__mcp_serve_send_cache(const phi_mcp_server *server, const phi__mcp_origin *origin,
                                       phi__buf *out) {
    if (!origin->era->result_type) return;
    phi__records_u64(out, "ttlMs", server->desc.ttl_ms);
    phi__records_str(out, "cacheScope", PHI__LIT("private"));
}

PHI__FN void phi__mcp_serve_send_empty(phi_mcp_server *server, phi__mcp_origin *origin) {
    phi__buf out;
    phi__mcp_serve_send_open(server, origin, &out);
    phi__mcp_serve_send_complete(server, origin, &out);
    phi__mcp_serve_send_close(server, origin, &out);
}

/* ---- notifications ---- */

PHI__FN void phi__mcp_serve_send_note(phi_mcp_server *server, phi__buf *out, const char *method) {
    phi__buf_init(out, &server->rt->memory);
    phi__mcp_rpc_open_notification(out, method);
    phi__buf_char(out, '{');
}

PHI__FN bool phi__mcp_serve_send_noted(phi__mcp_way *way, phi__buf *out) {
    bool sent;
    phi__buf_text(out, "}}");
    sent = !out->failed && way->table->send(way, phi__buf_str(out), 200, false);
    phi__buf_free(out);
    return sent;
}
