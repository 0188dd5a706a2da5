/* wire_support.h - what the codec tests share: a stream through reader and decoder, a request as a
   tree, a conversation. */
#ifndef PHI_TESTS_WIRE_SUPPORT_H
#define PHI_TESTS_WIRE_SUPPORT_H

#include "support/header.h"
#include "model/model.h"
#include "support/test.h"
#include "text/json_in.h"
#include "wire/codec_in.h"
#include "support/codec_of.h"

/* ---- streams ---- */

typedef struct stream {
    phi_memory memory;
    phi__reader reader;
    phi__assembly assembly;
    const phi__codec *codec;
    void *state;
    phi_content content[64];
    phi_message message;
    phi_arena arena; /* for the test's own use */
} stream;

static inline void stream_begin(stream *s, const char *protocol) {
    phi_allocator allocator = test_allocator();
    memset(s, 0, sizeof *s);
    phi_memory_init(&s->memory, &allocator, 0);
    phi_arena_init(&s->arena, &s->memory, 0);
    s->codec = codec_of(protocol);
    s->state = calloc(1, s->codec->state_bytes);
    phi__assembly_init(&s->assembly, &s->memory);
    phi__reader_init(&s->reader, s->codec, s->state, &s->assembly, 0);
    s->assembly.id_salt = 7;
    s->assembly.protocol = phi_str_of(s->codec->names[0]);
}

static inline void stream_feed(stream *s, const char *bytes, size_t len) {
    phi__reader_feed(&s->reader, phi__str(bytes, len));
}

static inline void stream_text(stream *s, const char *text) { stream_feed(s, text, strlen(text)); }

static inline void stream_view(stream *s) {
    if (s->assembly.count <= sizeof s->content / sizeof s->content[0])
        phi__assembly_view(&s->assembly, s->content, &s->message);
}

static inline void stream_end(stream *s) {
    phi__reader_finish(&s->reader, false);
    phi__reader_end(&s->reader);
    phi__assembly_finish(&s->assembly);
    stream_view(s);
}

static inline void stream_whole(stream *s, const char *body) {
    s->codec->whole(s->state, &s->assembly, phi_str_of(body));
    phi__assembly_finish(&s->assembly);
    stream_view(s);
}

static inline void stream_free(stream *s) {
    phi__reader_free(&s->reader);
    phi__assembly_free(&s->assembly);
    phi_arena_free(&s->arena);
    free(s->state);
}

/* The whole of a text as a stream. */
static inline void stream_of(stream *s, const char *protocol, const char *text) {
    stream_begin(s, protocol);
    stream_text(s, text);
    stream_end(s);
}

/* ---- requests ---- */

#define MESSAGES_MOST 64

typedef struct conversation {
    phi_memory memory;
    phi_arena kept, turn; /* renderings; one request */
    phi_model model;
    phi__request_spec spec;
    phi_message messages[MESSAGES_MOST];
    phi_content blocks[MESSAGES_MOST][8];
    phi__rendered *rendered[MESSAGES_MOST];
    phi__item items[MESSAGES_MOST];
    size_t count;
    phi__encoder encoder;
    char *body; /* of the last request, terminated */
    phi_json *tree;
} conversation;

static inline void talk_begin(conversation *t, phi_model model) {
    phi_allocator allocator = test_allocator();
    memset(t, 0, sizeof *t);
    phi_memory_init(&t->memory, &allocator, 0);
    phi_arena_init(&t->kept, &t->memory, 0);
    phi_arena_init(&t->turn, &t->memory, 0);
    t->model = model;
    t->spec.model = &t->model;
    t->spec.temperature = -1;
    t->spec.items = t->items;
}

static inline void talk_free(conversation *t) {
    phi__encoder_free(&t->encoder);
    phi_arena_free(&t->kept);
    phi_arena_free(&t->turn);
    free(t->body);
}

static inline phi_message *talk_message(conversation *t, phi_role role) {
    size_t i = t->count++;
    phi_message *m = &t->messages[i];
    m->role = role;
    m->content = t->blocks[i];
    t->items[i].message = m;
    t->items[i].rendered = &t->rendered[i];
    t->items[i].arena = &t->kept;
    t->spec.item_count = t->count;
    return m;
}

static inline phi_content *talk_block(conversation *t, phi_content_kind kind) {
    phi_message *m = &t->messages[t->count - 1];
    phi_content *c = &t->blocks[t->count - 1][m->content_count++];
    c->kind = kind;
    return c;
}

static inline void talk_text(conversation *t, const char *text) {
    talk_block(t, PHI_CONTENT_TEXT)->text = phi_str_of(text);
}

static inline void talk_image(conversation *t, const char *data) {
    phi_content *c = talk_block(t, PHI_CONTENT_IMAGE);
    c->data = phi_str_of(data);
    c->mime_type = phi_str_of("image/png");
}

static inline void talk_thinking(conversation *t, const char *text, const char *signature) {
    phi_content *c = talk_block(t, PHI_CONTENT_THINKING);
    c->text = phi_str_of(text);
    c->signature = phi_str_of(signature);
}

static inline void talk_call(conversation *t, const char *id, const char *name,
                             const char *arguments) {
    phi_content *c = talk_block(t, PHI_CONTENT_TOOL_CALL);
    c->id = phi_str_of(id);
    c->name = phi_str_of(name);
    c->arguments = phi_str_of(arguments);
}

static inline void talk_user(conversation *t, const char *text) {
    talk_message(t, PHI_ROLE_USER);
    talk_text(t, text);
}

/* An assistant message of the conversation's own model. */
static inline phi_message *talk_assistant(conversation *t) {
    phi_message *m = talk_message(t, PHI_ROLE_ASSISTANT);
    m->model = phi_str_of(t->model.id);
    m->provider = phi_str_of(t->model.provider);
    m->stop_reason = PHI_STOP_REASON_STOP;
    return m;
}

static inline phi_message *talk_result(conversation *t, const char *id, const char *name,
                                       const char *text) {
    phi_message *m = talk_message(t, PHI_ROLE_TOOL_RESULT);
    m->tool_call_id = phi_str_of(id);
    m->tool_name = phi_str_of(name);
    if (text != NULL) talk_text(t, text);
    return m;
}

/* Renders the request, `units` messages a call (0: all at once), and reads its body back; resets
   what the turn before took. */
static inline phi_status talk_render(conversation *t, size_t units) {
    const phi__codec *codec = codec_of(t->model.protocol);
    phi_arena_mark none;
    phi_status status;
    memset(&none, 0, sizeof none);
    free(t->body);
    t->body = NULL;
    t->tree = NULL;
    phi__encoder_free(&t->encoder);
    phi_arena_reset(&t->turn, none);
    phi__encoder_begin(&t->encoder, codec, &t->spec, &t->turn);
    do status = phi__encoder_advance(&t->encoder, units == 0 ? 1000000 : units);
    while (status == PHI_BUSY);
    if (status != PHI_OK) return status;
    t->body = (char *)calloc(1, (size_t)phi_request_get_info(&t->encoder.request).length + 1);
    if (phi_request_read(&t->encoder.request, 0, t->body,
                         (size_t)phi_request_get_info(&t->encoder.request).length) !=
        phi_request_get_info(&t->encoder.request).length)
        return PHI_IO;
    return phi_json_parse(&t->turn, phi_str_of(t->body), 0, &t->tree, NULL);
}

static inline void talk_render_ok(conversation *t) {
    CHECK_EQ_INT(talk_render(t, 0), PHI_OK);
    if (t->tree == NULL) fprintf(stderr, "body: %s\n", t->body != NULL ? t->body : "none");
}

/* The value at a path of the body, as JSON text; "" where there is none. Valid until talk_free or
   the next rendering. */
static inline const char *talk_at(conversation *t, const char *path) {
    const phi_json *node = phi_json_path(t->tree, path);
    phi_str out = phi_str_of("");
    if (node != NULL) (void)phi_json_write(&t->turn, node, 0, &out);
    return out.at;
}

static inline const char *talk_header(conversation *t, const char *name) {
    phi_str n, v;
    size_t i;
    for (i = 0; header_at(&t->encoder.request, i, &n, &v); i++)
        if (phi__str_is_nocase(n, name)) return v.at;
    return "";
}

#endif
