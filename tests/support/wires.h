/* wires.h - a transport that records what it is asked to send, and answers when the test says so; with
   a manual clock. For requests of tools: the rig answers those of models. */
#ifndef PHI_TESTS_SUPPORT_WIRES_H
#define PHI_TESTS_SUPPORT_WIRES_H

#include "support/header.h"
#include "agent/runtime.h"
#include "support/test.h"
#include "base/base.h"
#include "codecs/presets.h"
#include "log/revert.h"
#include "io/transport.h"
#include "loop/loop_in.h"

enum { WIRES_MOST = 80 };

typedef struct wires_sent {
    phi_transfer transfer;
    char *text; /* "METHOD URL\nName: value\n...\n\nBODY"; malloc'ed */
    size_t len;
    bool live, refused; /* refused: a push was answered with PHI_FULL, and not resumed yet */
    size_t resumes;
    char *rest; /* of a reply, that was not taken yet; then its end */
    size_t rest_len, rest_at;
} wires_sent;

typedef struct wires {
    phi_transport transport;
    uint64_t now_us;
    wires_sent sent[WIRES_MOST];
    size_t count, cancels;
    phi_status refuses; /* what open says (default PHI_OK) */
    /* Called in phi_step for a request that was not answered yet; NULL: the test answers. */
    void (*answer)(struct wires *w, size_t i);
    bool answered[WIRES_MOST];
    void *user_data;
} wires;

static inline void wires_add(wires_sent *s, const char *at, size_t len) {
    s->text = (char *)realloc(s->text, s->len + len + 1);
    if (s->text == NULL) abort();
    if (len > 0) memcpy(s->text + s->len, at, len);
    s->len += len;
    s->text[s->len] = '\0';
}

static inline void wires_add_str(wires_sent *s, phi_str at, const char *behind) {
    wires_add(s, at.at, at.len);
    wires_add(s, behind, strlen(behind));
}

static inline phi_status wires_open(void *user_data, phi_transfer transfer,
                                    const phi_request *request) {
    wires *w = (wires *)user_data;
    wires_sent *s = &w->sent[w->count];
    phi_str name, value;
    uint64_t at = 0;
    char part[777];
    size_t i, n;
    if (w->refuses != PHI_OK) return w->refuses;
    if (w->count == WIRES_MOST) abort();
    memset(s, 0, sizeof *s);
    s->transfer = transfer;
    s->live = true;
    w->answered[w->count++] = false;
    wires_add_str(s, phi_request_get_info(request).method, " ");
    wires_add_str(s, phi_request_get_info(request).url, "\n");
    for (i = 0; header_at(request, i, &name, &value); i++) {
        wires_add_str(s, name, ": ");
        wires_add_str(s, value, "\n");
    }
    wires_add(s, "\n", 1);
    while ((n = phi_request_read(request, at, part, sizeof part)) > 0) {
        wires_add(s, part, n);
        at += n;
    }
    CHECK_EQ_INT(at, phi_request_get_info(request).length);
    return PHI_OK;
}

static inline wires_sent *wires_of(wires *w, phi_transfer transfer) {
    size_t i;
    for (i = w->count; i-- > 0;)
        if (w->sent[i].transfer.index == transfer.index && w->sent[i].transfer.gen == transfer.gen)
            return &w->sent[i];
    CHECK(false);
    return &w->sent[0];
}

static inline void wires_resume(void *user_data, phi_transfer transfer) {
    wires_sent *s = wires_of((wires *)user_data, transfer);
    s->refused = false;
    s->resumes++;
}

static inline void wires_cancel(void *user_data, phi_transfer transfer) {
    wires *w = (wires *)user_data;
    wires_of(w, transfer)->live = false;
    w->cancels++;
}

/* More of a reply, as far as it is taken. */
static inline void wires_more(wires_sent *s) {
    while (s->live && s->rest != NULL && !s->refused) {
        size_t n = phi__min(s->rest_len - s->rest_at, 30000);
        phi_status status =
            n > 0 ? phi_transfer_push(s->transfer, s->rest + s->rest_at, n) : PHI_OK;
        if (status == PHI_FULL) {
            s->refused = true;
            return;
        }
        s->rest_at += n;
        if (s->rest_at < s->rest_len && status == PHI_OK) continue;
        free(s->rest);
        s->rest = NULL;
        s->live = false;
        (void)phi_transfer_end(s->transfer, PHI_OK, NULL);
    }
}

static inline void wires_pump(void *user_data) {
    wires *w = (wires *)user_data;
    size_t i;
    for (i = 0; i < w->count; i++) {
        wires_more(&w->sent[i]);
        if (w->answer == NULL || w->answered[i] || !w->sent[i].live) continue;
        w->answered[i] = true;
        w->answer(w, i);
    }
}

static inline uint64_t wires_clock(void *user_data) { return ((wires *)user_data)->now_us; }

static inline void wires_init(wires *w) {
    memset(w, 0, sizeof *w);
    w->now_us = 1000000;
    w->transport.open = wires_open;
    w->transport.resume = wires_resume;
    w->transport.cancel = wires_cancel;
    w->transport.pump = wires_pump;
    w->transport.user_data = w;
}

static inline void wires_free(wires *w) {
    size_t i;
    for (i = 0; i < w->count; i++) {
        free(w->sent[i].text);
        free(w->sent[i].rest);
    }
    w->count = 0;
}

/* desc: NULL, or further fields. */
static inline phi_runtime *wires_runtime(wires *w, const phi_runtime_desc *given) {
    phi_runtime_desc desc;
    memset(&desc, 0, sizeof desc);
    if (given != NULL) desc = *given;
    desc.allocator = test_allocator();
    desc.transport = &w->transport;
    desc.clock_us_fn = wires_clock;
    desc.user_data = w;
    if (desc.codecs == NULL) desc.codecs = PHI_ALL_PROTOCOLS;
    if (desc.features == NULL) desc.features = PHI_ALL_FEATURES;
    return phi_runtime_new(&desc);
}

/* ---- answers ---- */

static inline void wires_head(wires *w, size_t i, int status, const char *headers) {
    (void)phi_transfer_head(w->sent[i].transfer, status, headers, strlen(headers));
}

static inline phi_status wires_push(wires *w, size_t i, const char *bytes, size_t len) {
    phi_status status = phi_transfer_push(w->sent[i].transfer, bytes, len);
    if (status == PHI_FULL) w->sent[i].refused = true;
    return status;
}

static inline void wires_end(wires *w, size_t i, phi_status status, const char *words) {
    w->sent[i].live = false;
    (void)phi_transfer_end(w->sent[i].transfer, status, words);
}

static inline void wires_reply_bytes(wires *w, size_t i, int status, const char *headers,
                                     const char *body, size_t len) {
    wires_sent *s = &w->sent[i];
    wires_head(w, i, status, headers);
    s->rest = (char *)malloc(len + 1);
    if (s->rest == NULL) abort();
    memcpy(s->rest, body, len);
    s->rest_len = len;
    s->rest_at = 0;
    wires_more(s);
}

static inline void wires_reply(wires *w, size_t i, int status, const char *headers,
                               const char *body) {
    wires_reply_bytes(w, i, status, headers, body, strlen(body));
}

#endif
