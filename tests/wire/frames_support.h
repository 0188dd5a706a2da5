/* frames_support.h - frames made by hand. */
#ifndef PHI_TESTS_FRAMES_SUPPORT_H
#define PHI_TESTS_FRAMES_SUPPORT_H

#include "base/base_in.h"
#include "wire/wire_support.h"

typedef struct frame_bytes {
    char at[8192];
    size_t len;
} frame_bytes;

static inline void frame_u32(frame_bytes *f, uint32_t n) {
    int i;
    for (i = 24; i >= 0; i -= 8) f->at[f->len++] = (char)(unsigned char)(n >> i);
}

static inline void frame_header(frame_bytes *f, const char *name, const char *value) {
    size_t n = strlen(name), v = strlen(value);
    f->at[f->len++] = (char)n;
    memcpy(f->at + f->len, name, n);
    f->len += n;
    f->at[f->len++] = 7;
    f->at[f->len++] = (char)(v >> 8);
    f->at[f->len++] = (char)(v & 255);
    memcpy(f->at + f->len, value, v);
    f->len += v;
}

/* A frame of the headers in `headers` and a payload. */
static inline void frame_make(frame_bytes *f, const frame_bytes *headers, const char *payload) {
    size_t from = f->len, n = strlen(payload);
    frame_u32(f, (uint32_t)(16 + headers->len + n));
    frame_u32(f, (uint32_t)headers->len);
    frame_u32(f, phi__crc32(0, f->at + from, 8));
    memcpy(f->at + f->len, headers->at, headers->len);
    f->len += headers->len;
    memcpy(f->at + f->len, payload, n);
    f->len += n;
    frame_u32(f, phi__crc32(0, f->at + from, f->len - from));
}

/* kind: "event" or "exception" */
static inline void frame_add(frame_bytes *f, const char *kind, const char *type,
                             const char *payload) {
    frame_bytes headers;
    headers.len = 0;
    frame_header(&headers, strcmp(kind, "event") == 0 ? ":event-type" : ":exception-type", type);
    frame_header(&headers, ":content-type", "application/json");
    frame_header(&headers, ":message-type", kind);
    frame_make(f, &headers, payload);
}

#endif
