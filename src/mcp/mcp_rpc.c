/* mcp_rpc.c - JSON-RPC messages. */
#include "mcp/mcp_rpc_in.h"

/* ---- levels of log messages ---- */

PHI__FN int phi__level_of(phi_str name) {
    static const char *const levels[] = {"debug", "info",     "notice", "warning",
                                         "error", "critical", "alert",  "emergency"};
    for (int i = 0; i < (int)PHI__COUNT(levels); i++)
        if (phi__str_is(name, levels[i])) return i;
    return -1;
}

/* ---- copies of a desc's texts ---- */

PHI__FN bool phi__mcp_own_all(phi_arena *arena, const char **const *texts, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (!phi__keep_text(arena, texts[i])) return false;
    return true;
}

PHI__FN bool phi__mcp_own_pairs(phi_arena *arena, const phi_mcp_pair **pairs, size_t count) {
    if (count == 0) return true;
    phi_mcp_pair *copy = (phi_mcp_pair *)phi_arena_alloc(arena, phi__mul(count, sizeof *copy));
    if (copy == NULL) return false;
    for (size_t i = 0; i < count; i++) {
        copy[i] = (*pairs)[i];
        if (!phi__keep_text(arena, &copy[i].name) || !phi__keep_text(arena, &copy[i].value))
            return false;
    }
    *pairs = copy;
    return true;
}

PHI__FN phi_str phi__mcp_put(char **at, phi_str text) {
    phi_str copy = phi__str(*at, text.len);
    if (text.len > 0) memcpy(*at, text.at, text.len);
    (*at)[text.len] = '\0';
    *at += text.len + 1;
    return copy;
}

/* ---- reading messages ---- */

enum { PHI__RPC_FLAGS = PHI_JSON_BORROW | PHI_JSON_REPLACE_BAD_UTF8 };

PHI__FN phi_status phi__rpc_parse_as(phi_arena *arena, phi_str text, uint32_t flags, uint32_t depth,
                                     phi_json **root) {
    phi__json_reader reader;
    *root = NULL;
    phi__json_read_begin(&reader, arena, text, flags, depth);
    while (phi__json_read_advance(&reader, SIZE_MAX) == PHI_BUSY) continue;
    return phi__json_read_result(&reader, root, NULL);
}

PHI__FN phi_status phi__rpc_parse(phi_arena *arena, phi_str text, phi_json **root) {
    return phi__rpc_parse_as(arena, text, PHI__RPC_FLAGS, PHI__RPC_DEPTH, root);
}

PHI__FN bool phi__mcp_keep(phi__buf *buf, phi_arena *arena, phi_str *out) {
    bool fine = !buf->failed && phi__arena_str(arena, phi__buf_str(buf), out);
    phi__buf_free(buf);
    return fine;
}

/* Reads an id (string or number) as JSON text. A missing or null id stays empty. False: no
   memory. */
static bool phi__rpc_read_id(phi_arena *arena, const phi_json *node, phi__rpc *out) {
    if (node == NULL || phi_json_is(node, PHI_JSON_NULL)) return true;
    if (!phi_json_is(node, PHI_JSON_STRING) && !phi_json_is(node, PHI_JSON_NUMBER)) {
        out->fault = "its id is neither a string nor a number";
        return true;
    }
    if (phi_json_str(node, "").len <= PHI__RPC_ID &&
        phi_json_write(arena, node, 0, &out->id) != PHI_OK)
        return false;
    if (out->id.len > 0 && out->id.len <= PHI__RPC_ID) return true;
    out->id = phi__str("", 0);
    out->fault = "its id is longer than 1,024 bytes";
    return true;
}

PHI__FN bool phi__rpc_read(phi_arena *arena, const phi_json *node, phi__rpc *out) {
    memset(out, 0, sizeof *out);
    if (!phi_json_is(node, PHI_JSON_OBJECT)) {
        out->fault = "it is no object";
        return true;
    }
    out->method = phi__records_get_str(node, "method");
    if (!phi__rpc_read_id(arena, phi_json_get(node, "id"), out)) return false;
    if (out->fault != NULL) return true;
    if (!phi__str_is(phi__records_get_str(node, "jsonrpc"), "2.0"))
        out->fault = "its jsonrpc is not \"2.0\"";
    else if (phi_json_get(node, "method") != NULL) {
        const phi_json *method = phi_json_get(node, "method"), *id = phi_json_get(node, "id");
        out->params = phi_json_get(node, "params");
        if (phi_json_is(out->params, PHI_JSON_NULL)) out->params = NULL;
        if (!phi_json_is(method, PHI_JSON_STRING))
            out->fault = "its method is no string";
        else if (out->method.len == 0 || out->method.len > PHI__RPC_METHOD)
            out->fault = "its method is empty or longer than 256 bytes";
        else if (out->params != NULL && !phi_json_is(out->params, PHI_JSON_OBJECT))
            out->fault = "its params are no object";
        else if (phi_json_is(id, PHI_JSON_NULL))
            out->fault = "its id is null";
        else
            out->kind = id != NULL ? PHI__RPC_REQUEST : PHI__RPC_NOTIFICATION;
        if (out->fault != NULL) out->params = NULL;
    } else {
        const phi_json *error = phi_json_get(node, "error");
        out->result = phi_json_get(node, "result");
        if (phi_json_is(error, PHI_JSON_NULL)) error = NULL;
        if (error != NULL && out->result != NULL && !phi_json_is(out->result, PHI_JSON_NULL))
            out->fault = "it has a result and an error";
        else if (error != NULL && !phi_json_is(error, PHI_JSON_OBJECT))
            out->fault = "its error is no object";
        else if (error == NULL && out->result == NULL)
            out->fault = "it has neither a method, nor a result, nor an error";
        else if (error == NULL && out->id.len == 0)
            out->fault = "a result without an id";
        else
            out->kind = error != NULL ? PHI__RPC_ERROR : PHI__RPC_RESULT;
        if (out->kind != PHI__RPC_RESULT) out->result = NULL;
        if (out->kind == PHI__RPC_ERROR) {
            int64_t code = phi_json_int(phi_json_get(error, "code"), 0);
            out->code = code > INT32_MAX || code < INT32_MIN ? 0 : (int)code;
            out->message = phi__records_get_str(error, "message");
            out->data = phi_json_get(error, "data");
        }
    }
    return true;
}

PHI__FN bool phi__rpc_number(phi_str id, uint64_t *out) {
    if (id.len >= 2 && id.at[0] == '"') id = phi__str(id.at + 1, id.len - 2);
    return phi__str_to_u64(id, out);
}

/* ---- writing ---- */

PHI__FN void phi__rpc_line(phi__buf *buf, phi_str json) {
    char *to = phi__buf_reserve(buf, json.len);
    if (to == NULL) return;
    for (size_t i = 0; i < json.len; i++)
        to[i] = json.at[i] == '\n' || json.at[i] == '\r' ? ' ' : json.at[i];
    phi__buf_add_len(buf, json.len);
}

static void phi__rpc_begin(phi__buf *buf) { phi__buf_text(buf, "{\"jsonrpc\":\"2.0\""); }

static void phi__rpc_put_id(phi__buf *buf, phi_str id) {
    phi__buf_text(buf, ",\"id\":");
    phi__buf_add_str(buf, id.len > 0 ? id : PHI__LIT("null"));
}

PHI__FN void phi__rpc_open_result(phi__buf *buf, phi_str id) {
    phi__rpc_begin(buf);
    phi__rpc_put_id(buf, id);
    phi__buf_text(buf, ",\"result\":");
}

static void phi__rpc_put_method(phi__buf *buf, phi_str method) {
    phi__buf_text(buf, ",\"method\":");
    phi__json_write_str(buf, method);
}

PHI__FN void phi__rpc_open_notification(phi__buf *buf, const char *method) {
    phi__rpc_begin(buf);
    phi__rpc_put_method(buf, phi_str_of(method));
    phi__buf_text(buf, ",\"params\":");
}

PHI__FN void phi__rpc_open_params(phi__buf *buf, phi_memory *memory, const char *key,
                                  phi_str value) {
    phi__buf_init(buf, memory);
    phi__buf_char(buf, '{');
    phi__records_str(buf, key, value);
}

PHI__FN void phi__rpc_open_request(phi__buf *buf, uint64_t id, phi_str method) {
    phi__rpc_begin(buf);
    phi__buf_printf(buf, ",\"id\":%llu", (unsigned long long)id);
    phi__rpc_put_method(buf, method);
    phi__buf_text(buf, ",\"params\":");
}

PHI__FN void phi__rpc_notification(phi__buf *buf, const char *method, phi_str params) {
    if (params.len > 0) {
        phi__rpc_open_notification(buf, method);
        phi__rpc_line(buf, params);
    } else {
        phi__rpc_begin(buf);
        phi__rpc_put_method(buf, phi_str_of(method));
    }
    phi__buf_char(buf, '}');
}

PHI__FN void phi__rpc_result(phi__buf *buf, phi_str id, phi_str result) {
    phi__rpc_open_result(buf, id);
    phi__rpc_line(buf, result.len > 0 ? result : PHI__LIT("{}"));
    phi__buf_char(buf, '}');
}

PHI__FN void phi__rpc_error(phi__buf *buf, phi_str id, int code, phi_str message, phi_str data) {
    phi__rpc_begin(buf);
    phi__rpc_put_id(buf, id);
    phi__buf_printf(buf, ",\"error\":{\"code\":%d,\"message\":", code);
    phi__json_write_str(buf, message);
    if (data.len > 0) {
        phi__buf_text(buf, ",\"data\":");
        phi__rpc_line(buf, data);
    }
    phi__buf_text(buf, "}}");
}

PHI__FN bool phi__rpc_members(phi_str object, phi_str *out) {
    phi_str text = phi__str_trim(object);
    *out = phi__str("", 0);
    if (text.len == 0) return true;
    if (text.len < 2 || text.at[0] != '{' || text.at[text.len - 1] != '}') return false;
    *out = phi__str_trim(phi__str(text.at + 1, text.len - 2));
    return true;
}

/* ---- long texts, read in slices ---- */

static void phi__slices_fire(phi__timer *timer) {
    phi__slices *slices = PHI__OWNER(timer, phi__slices, timer);
    phi_runtime *rt = slices->rt;
    phi_status status = phi__json_read_advance(&slices->reader, rt->slice.budget_bytes);
    phi_json *root = NULL;
    if (status == PHI_BUSY && phi__io_timer_set(rt->io, timer, phi__io_now_us(rt->io)) != PHI_OK)
        status = PHI_NO_MEMORY;
    if (status != PHI_BUSY) (void)phi__json_read_result(&slices->reader, &root, NULL);
    slices->sliced(slices, status, status == PHI_OK ? root : NULL);
}

PHI__FN phi_status phi__slices_begin(phi__slices *slices, phi_runtime *rt, phi_memory *memory,
                                     phi_str text, bool copy) {
    phi_str own = text;
    slices->rt = rt;
    slices->timer.fire = phi__slices_fire;
    phi_arena_init(&slices->arena, memory, 0);
    if ((copy && !phi__arena_str(&slices->arena, text, &own)) ||
        /* gives the timer a place in the heap */
        phi__io_timer_set(rt->io, &slices->timer, UINT64_MAX) != PHI_OK) {
        phi_arena_free(&slices->arena);
        return PHI_NO_MEMORY;
    }
    phi__json_read_begin(&slices->reader, &slices->arena, own, PHI__RPC_FLAGS, PHI__RPC_DEPTH);
    return PHI_OK;
}

PHI__FN void phi__slices_go(phi__slices *slices) {
    (void)phi__mcp_timer_in(slices->rt->io, &slices->timer, 0);
}

PHI__FN void phi__slices_end(phi__slices *slices) {
    phi__io_timer_clear(slices->rt->io, &slices->timer);
    phi_arena_free(&slices->arena);
}

/* ---- eras: one row each; other code asks for a property, never for a version ---- */

/* clang-format off */
static const phi__era phi__eras_rows[PHI__ERAS] = {
    /*                                    handshake
                                          |  batches
                                          |  |  version_header
                                          |  |  |  resumption
                                          |  |  |  |  primes
                                          |  |  |  |  |  message_headers
                                          |  |  |  |  |  |  asks, listen, cancel_by_stream */
    {"2026-07-28", PHI__TASKS_EXTENSION, 0, 0, 1, 0, 0, 1, 0, 1, 1,
     /* progress_message, annotations, audio, structured, any_output, titles, completions */
     1, 1, 1, 1, 1, 1, 1,
     /* forms, urls, sampling_tools, result_type */
     1, 1, 1, 1},
    {"2025-11-25", PHI__TASKS_ASKED,     1, 0, 1, 1, 1, 0, 1, 0, 0,
     1, 1, 1, 1, 0, 1, 1,  1, 1, 1, 0},
    {"2025-06-18", PHI__TASKS_NONE,      1, 0, 1, 1, 0, 0, 1, 0, 0,
     1, 1, 1, 1, 0, 1, 1,  1, 0, 0, 0},
    {"2025-03-26", PHI__TASKS_NONE,      1, 1, 0, 1, 0, 0, 1, 0, 0,
     1, 1, 1, 0, 0, 0, 1,  0, 0, 0, 0},
    {"2024-11-05", PHI__TASKS_NONE,      1, 0, 0, 0, 0, 0, 1, 0, 0,
     0, 0, 0, 0, 0, 0, 0,  0, 0, 0, 0},
};
/* clang-format on */

PHI__FN const phi__era *phi__eras_at(size_t i) { return &phi__eras_rows[i]; }

PHI__FN const phi__era *phi__eras_find(phi_str version) {
    for (size_t i = 0; i < PHI__ERAS; i++)
        if (phi__str_is(version, phi__eras_rows[i].version)) return &phi__eras_rows[i];
    return NULL;
}

PHI__FN const phi__era *phi__eras_legacy(void) {
    size_t i = 0;
    while (!phi__eras_rows[i].handshake) i++;
    return &phi__eras_rows[i];
}

PHI__FN const phi__era *phi__eras_modern(void) { return &phi__eras_rows[0]; }
