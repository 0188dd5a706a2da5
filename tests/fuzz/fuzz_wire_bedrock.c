/* fuzz_wire_bedrock.c - any bytes as a stream of Bedrock's: raw, as lines, or (where the second byte is
   'F') as the payloads of frames whose checks are right, one a line, its type told by the first byte. */
#include "fuzz/fuzz_wire.h"

#include "base/base_in.h"

typedef struct fuzz_frames {
    uint8_t at[1 << 16];
    size_t len;
} fuzz_frames;

static void fuzz_u32(fuzz_frames *f, uint32_t n) {
    int i;
    for (i = 24; i >= 0; i -= 8) f->at[f->len++] = (uint8_t)(n >> i);
}

static void fuzz_header(fuzz_frames *f, const char *name, const char *value) {
    size_t n = strlen(name), v = strlen(value);
    f->at[f->len++] = (uint8_t)n;
    memcpy(f->at + f->len, name, n);
    f->len += n;
    f->at[f->len++] = 7;
    f->at[f->len++] = 0;
    f->at[f->len++] = (uint8_t)v;
    memcpy(f->at + f->len, value, v);
    f->len += v;
}

static void fuzz_frame(fuzz_frames *f, unsigned kind, const uint8_t *payload, size_t len) {
    static const char *const events[] = {"contentBlockDelta", "contentBlockStart",
                                         "contentBlockStop",  "messageStart",
                                         "messageStop",       "metadata"};
    static const char *const exceptions[] = {"throttlingException", "validationException"};
    fuzz_frames headers;
    size_t from = f->len;
    headers.len = 0;
    if (kind % 8 < 6)
        fuzz_header(&headers, ":event-type", events[kind % 8]);
    else
        fuzz_header(&headers, ":exception-type", exceptions[kind % 8 - 6]);
    fuzz_header(&headers, ":message-type", kind % 8 < 6 ? "event" : "exception");
    if (f->len + headers.len + len + 16 > sizeof f->at) return;
    fuzz_u32(f, (uint32_t)(headers.len + len + 16));
    fuzz_u32(f, (uint32_t)headers.len);
    fuzz_u32(f, phi__crc32(0, f->at + from, 8));
    memcpy(f->at + f->len, headers.at, headers.len);
    f->len += headers.len;
    if (len > 0) memcpy(f->at + f->len, payload, len);
    f->len += len;
    fuzz_u32(f, phi__crc32(0, f->at + from, f->len - from));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static fuzz_frames frames;
    size_t at = 2;
    if (size < 3 || data[1] != 'F') return fuzz_wire(PHI_PROTOCOL_BEDROCK, data, size);
    frames.at[0] = data[0];
    frames.len = 1;
    while (at < size) {
        const uint8_t *end = (const uint8_t *)memchr(data + at, '\n', size - at);
        size_t len = end != NULL ? (size_t)(end - data) - at : size - at;
        if (len > 0) fuzz_frame(&frames, data[at], data + at + 1, len - 1);
        at += len + 1;
    }
    return fuzz_wire(PHI_PROTOCOL_BEDROCK, frames.at, frames.len);
}
