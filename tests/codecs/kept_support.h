/* kept_support.h - what the tests of kept JSON share: JSON in single quotes, streams cut at every
   byte, and an answer that goes through the interchange JSON into the next request. */
#ifndef PHI_TESTS_KEPT_SUPPORT_H
#define PHI_TESTS_KEPT_SUPPORT_H

#include "wire/wire_support.h"

/* The text with double quotes for single ones; one of eight buffers, in turn. */
static inline const char *q(const char *text) {
    static char rooms[8][8192];
    static unsigned next;
    char *out = rooms[next++ % 8];
    size_t i, n = strlen(text);
    if (!CHECK(n < sizeof rooms[0])) return "";
    for (i = 0; i <= n; i++) out[i] = text[i] == '\'' ? '"' : text[i];
    return out;
}

static inline void kept_begin(stream *s, const char *protocol) {
    stream_begin(s, protocol);
    s->assembly.protocol = phi_str_of(protocol);
}

static inline void kept_event(stream *s, const char *json) {
    stream_text(s, "data: ");
    stream_text(s, json);
    stream_text(s, "\n\n");
}

/* All of the answer as its interchange JSON, with its stop; freed by the caller. */
static inline char *kept_told(stream *s) {
    phi_str json = {NULL, 0};
    char *out;
    CHECK_EQ_INT(phi_message_to_json(&s->message, &s->arena, &json), PHI_OK);
    out = (char *)calloc(1, json.len + 64);
    snprintf(out, json.len + 64, "%.*s %d %d", (int)json.len, json.at, (int)s->message.stop_reason,
             (int)s->assembly.unknown_stop);
    return out;
}

/* A stream whole, byte by byte, and cut once at each byte: one answer. */
static inline void kept_cut_everywhere(const char *protocol, const char *text) {
    size_t cut, i, len = strlen(text);
    char *want = NULL;
    for (cut = 0; cut <= len + 1; cut++) {
        stream s;
        char *told;
        kept_begin(&s, protocol);
        if (cut <= len) {
            stream_feed(&s, text, cut);
            stream_feed(&s, text + cut, len - cut);
        } else
            for (i = 0; i < len; i++) stream_feed(&s, text + i, 1);
        stream_end(&s);
        told = kept_told(&s);
        if (want == NULL)
            want = told;
        else {
            CHECK_EQ_STR(told, want);
            free(told);
        }
        stream_free(&s);
    }
    free(want);
}

/* The answer of a stream as a message that `maker` made, through JSON, and a request of `model`
   with it: "hi", the answer, "go on". */
static inline void kept_send(conversation *t, stream *s, phi_model maker, phi_model model) {
    phi_message made = s->message, *m;
    phi_str json;
    made.model = phi_str_of(maker.id);
    made.provider = phi_str_of(maker.provider);
    made.protocol = phi_str_of(maker.protocol);
    talk_begin(t, model);
    talk_user(t, "hi");
    m = talk_message(t, PHI_ROLE_ASSISTANT);
    CHECK_EQ_INT(phi_message_to_json(&made, &t->kept, &json), PHI_OK);
    CHECK_EQ_INT(phi_message_from_json(json, &t->kept, m, NULL), PHI_OK);
    talk_user(t, "go on");
    talk_render_ok(t);
}

static inline bool kept_says(const conversation *t, const char *json) {
    return t->body != NULL && strstr(t->body, json) != NULL;
}

#endif
