/* phi_acp_wire.h - JSON-RPC messages of the command, a line each, over stdin and stdout. Copy what you need of it.

   Nothing else may write to stdout. What the editor has not read yet waits in the runtime; at ACP_FULL bytes the command
   takes no more requests and no more events, until the editor has read some. */
#ifndef PHI_ACP_WIRE_H
#define PHI_ACP_WIRE_H

#include "phi_text.h"

enum {
    ACP_FULL = 1 << 20,
    ACP_QUEUE = 64 << 20, /* for one message of that size, such as an image that a tool has read */
    ACP_ID = 1024,        /* bytes of an id */
    ACP_PARSE = -32700,
    ACP_REQUEST = -32600,
    ACP_METHOD = -32601,
    ACP_PARAMS = -32602,
    ACP_INTERNAL = -32603,
    ACP_NOT_FOUND = -32002,
    ACP_CANCELLED = -32800
};

typedef struct acp_wire {
    phi_lines *lines;
    phi_arena arena;   /* of one message */
    text out;          /* of one message */
    uint64_t requests; /* the last id of a request of ours */
} acp_wire;

/* ---- objects ---- */

static inline phi_json *acp_object(acp_wire *w) { return phi_json_new_object(&w->arena); }

static inline void acp_put(acp_wire *w, phi_json *object, const char *key, phi_json *value) {
    (void)phi_json_set(&w->arena, object, key, value);
}

static inline void acp_str(acp_wire *w, phi_json *object, const char *key, phi_str value) {
    acp_put(w, object, key, phi_json_new_str(&w->arena, value));
}

static inline void acp_say(acp_wire *w, phi_json *object, const char *key, const char *value) {
    acp_str(w, object, key, phi_str_of(value));
}

static inline void acp_bool(acp_wire *w, phi_json *object, const char *key, bool value) {
    acp_put(w, object, key, phi_json_new_bool(&w->arena, value));
}

/* Adds an empty object, or an empty array. */
static inline phi_json *acp_in(acp_wire *w, phi_json *object, const char *key, bool is_array) {
    phi_json *inner = is_array ? phi_json_new_array(&w->arena) : acp_object(w);
    acp_put(w, object, key, inner);
    return inner;
}

static inline phi_json *acp_add(acp_wire *w, phi_json *array) {
    phi_json *object = acp_object(w);
    (void)phi_json_add(array, object);
    return object;
}

/* A value as JSON text; NULL: "{}". */
static inline phi_str acp_json(acp_wire *w, const phi_json *value) {
    phi_str json = phi_str_of("{}");
    if (value != NULL && phi_json_write(&w->arena, value, 0, &json) != PHI_OK)
        json = phi_str_of("null");
    return json;
}

/* A text that was kept: of a session, of a question. */
static inline void acp_keep(text *to, phi_str from) {
    to->len = 0;
    (void)text_add(to, from.at, from.len);
}

/* ---- sending ---- */

static inline bool acp_full(const acp_wire *w) { return phi_lines_waiting(w->lines) >= ACP_FULL; }

/* False: the editor is gone, or the message is larger than a message may be. */
static inline bool acp_send(acp_wire *w) {
    phi_status status = phi_lines_write(w->lines, text_str(&w->out));
    if (status != PHI_OK && status != PHI_STALE)
        (void)fprintf(stderr, "phi: a message of %lu bytes is not sent: %s\n",
                      (unsigned long)w->out.len, phi_status_text(status));
    if (w->out.room > ACP_FULL) free(w->out.at), w->out.at = NULL, w->out.room = 0;
    w->out.len = 0;
    return status == PHI_OK;
}

static inline void acp_error(acp_wire *w, phi_str id, int code, phi_str message) {
    phi_str words;
    phi_arena_mark mark = phi_arena_save(&w->arena);
    while (message.len > 0 && message.at[message.len - 1] == '\n') message.len--;
    words = acp_json(w, phi_json_new_str(&w->arena, message));
    text_print(&w->out, "{\"jsonrpc\":\"2.0\",\"id\":%.*s,\"error\":{\"code\":%d,\"message\":",
               id.len > 0 ? (int)id.len : 4, id.len > 0 ? id.at : "null", code);
    text_add(&w->out, words.at, words.len);
    text_say(&w->out, "}}");
    phi_arena_reset(&w->arena, mark);
    (void)acp_send(w);
}

static inline void acp_fail(acp_wire *w, phi_str id, int code, const char *message) {
    acp_error(w, id, code, phi_str_of(message));
}

static inline void acp_result(acp_wire *w, phi_str id, const phi_json *result) {
    phi_str json = acp_json(w, result);
    text_print(&w->out, "{\"jsonrpc\":\"2.0\",\"id\":%.*s,\"result\":", PHI_ARG(id));
    text_add(&w->out, json.at, json.len);
    text_say(&w->out, "}");
    if (!acp_send(w)) acp_fail(w, id, ACP_INTERNAL, "the answer is too large");
}

/* A notification, or a request of ours, which gets an id. False: it is not sent. */
static inline bool acp_call(acp_wire *w, const char *method, const phi_json *params, uint64_t *id) {
    phi_str json = acp_json(w, params);
    text_say(&w->out, "{\"jsonrpc\":\"2.0\",");
    if (id != NULL) text_print(&w->out, "\"id\":%llu,", (unsigned long long)(*id = ++w->requests));
    text_print(&w->out, "\"method\":\"%s\",\"params\":", method);
    text_add(&w->out, json.at, json.len);
    text_say(&w->out, "}");
    return acp_send(w);
}

/* ---- receiving ---- */

typedef struct acp_message {
    phi_str id;     /* as JSON text; empty: a notification */
    phi_str method; /* empty: an answer */
    const phi_json *params, *result, *error;
} acp_message;

/* Reads a line into the arena. False: it is no message, and the editor was told. */
static inline bool acp_read(acp_wire *w, phi_str line, acp_message *m) {
    phi_json *root, *id;
    phi_status status = phi_json_parse(&w->arena, line, PHI_JSON_REPLACE_BAD_UTF8, &root, NULL);
    phi_str none = PHI_ZERO;
    size_t blank = 0;
    memset(m, 0, sizeof *m);
    while (blank < line.len && (line.at[blank] == ' ' || line.at[blank] == '\t')) blank++;
    if (blank == line.len) return false;
    if (status != PHI_OK) {
        acp_fail(w, none, status == PHI_PARSE ? ACP_PARSE : ACP_REQUEST,
                 status == PHI_PARSE ? "this line is no JSON" : "this line is too large");
        return false;
    }
    id = phi_json_get(root, "id");
    if (phi_json_is(id, PHI_JSON_STRING) || phi_json_is(id, PHI_JSON_INTEGER))
        m->id = acp_json(w, id);
    m->method = phi_json_str(phi_json_get(root, "method"), "");
    m->params = phi_json_get(root, "params");
    m->result = phi_json_get(root, "result");
    m->error = phi_json_get(root, "error");
    if (m->id.len <= ACP_ID && (m->id.len > 0 || id == NULL) &&
        phi_json_is(root, PHI_JSON_OBJECT) &&
        (m->method.len > 0 || (m->id.len > 0 && (m->result != NULL || m->error != NULL))))
        return true;
    if (m->method.len > 0 || (m->result == NULL && m->error == NULL))
        acp_fail(w, m->id.len <= ACP_ID ? m->id : none, ACP_REQUEST, "this is no JSON-RPC request");
    return false;
}

static inline void acp_wire_free(acp_wire *w) {
    phi_lines_free(w->lines);
    phi_arena_free(&w->arena);
    free(w->out.at);
}

#endif
