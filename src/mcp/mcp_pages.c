/* mcp_pages.c - reads a list that a server sends in pages. */
#include "mcp/mcp_pages_in.h"

#include "mcp/mcp_requests_in.h"

enum {
    PHI__PAGES_MOST = 1000,
    PHI__PAGES_CURSOR = 65536, /* max. bytes of a cursor */
    PHI__PAGES_MEMORY = 4      /* a tree takes about four times the bytes of its message */
};

static void phi__pages_done(void *ctx, const phi_mcp_reply *reply);

static phi_status phi__pages_send(phi__pages *pages) {
    phi__buf params = phi__buf_of(&pages->mcp->memory);
    phi__req_desc desc = PHI_ZERO;
    if (pages->cursor.len > 0) {
        phi__buf_text(&params, "{\"cursor\":");
        phi__json_write_str(&params, phi__buf_str(&pages->cursor));
        phi__buf_char(&params, '}');
    }
    desc.method = pages->method;
    desc.done = phi__pages_done;
    desc.ctx = pages;
    return phi__mcp_send_buf(pages->mcp, &desc, &params, &pages->request);
}

static void phi__pages_end(phi__pages *pages, const phi_mcp_reply *reply) {
    phi__buf_free(&pages->cursor);
    pages->done(pages, reply);
}

static void phi__pages_fail(phi__pages *pages, phi_status status, const char *message) {
    phi_mcp_reply reply = PHI_ZERO;
    reply.status = status;
    reply.message = phi_str_of(message);
    phi__pages_end(pages, &reply);
}

/* True if there is a next page. The page's cursor is then kept. */
static bool phi__pages_next(phi__pages *pages, const phi_json *result) {
    phi_str cursor = phi__records_get_str(result, "nextCursor");
    if (cursor.len == 0) return false;
    if (++pages->page >= PHI__PAGES_MOST || cursor.len > PHI__PAGES_CURSOR ||
        phi_str_equal(cursor, phi__buf_str(&pages->cursor)))
        pages->cut = true;
    if (pages->cut) return false;
    phi__buf_clear(&pages->cursor);
    phi__buf_add_str(&pages->cursor, cursor);
    return true;
}

static void phi__pages_done(void *ctx, const phi_mcp_reply *reply) {
    phi__pages *pages = (phi__pages *)ctx;
    const phi_json *ttl = phi_json_get(reply->result, "ttlMs");
    const phi_json *list = phi__mcp_array(reply->result, pages->key);
    phi_json_iter it = phi_json_each(list);
    phi_status status = PHI_OK;
    pages->request = NULL;
    if (reply->status == PHI_OK && list == NULL) {
        phi__pages_fail(pages, PHI_PARSE, "the result has no list");
        return;
    }
    const phi_mcp_desc *desc = &pages->mcp->desc;
    const phi_memory *memory = &pages->mcp->memory;
    size_t most_bytes = phi__mul(desc->max_message_bytes, PHI__PAGES_MEMORY);
    while (status == PHI_OK && !pages->cut && phi_json_next(&it) != NULL) {
        size_t before = memory->used_bytes;
        pages->cut = pages->count >= desc->max_list || pages->bytes > most_bytes;
        if (pages->cut || !phi_json_is(it.at, PHI_JSON_OBJECT)) continue;
        pages->count++;
        if (!pages->item(pages, it.at)) status = PHI_NO_MEMORY;
        if (memory->used_bytes > before) pages->bytes += memory->used_bytes - before;
    }
    pages->has_ttl = phi_json_is(ttl, PHI_JSON_INTEGER);
    pages->ttl_ms = phi__json_get_uint(ttl, 0);
    if (status == PHI_OK && reply->status == PHI_OK && !pages->cut &&
        phi__pages_next(pages, reply->result)) {
        status = pages->cursor.failed ? PHI_NO_MEMORY : phi__pages_send(pages);
        if (status == PHI_OK) return;
    }
    if (status != PHI_OK)
        phi__pages_fail(pages, status, phi_status_text(status));
    else
        phi__pages_end(pages, reply);
}

PHI__FN phi_status phi__pages_begin(phi__pages *pages) {
    phi__buf_init(&pages->cursor, &pages->mcp->memory);
    pages->count = pages->page = pages->bytes = 0;
    pages->cut = false;
    return phi__pages_send(pages);
}

PHI__FN void phi__pages_stop(phi__pages *pages) {
    phi__mcp_cancel(pages->request, "not needed any more");
    pages->request = NULL;
    phi__buf_free(&pages->cursor);
}
