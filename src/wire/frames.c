/* frames.c - reads frames of application/vnd.amazon.eventstream, and JSON objects in sequence.

   A frame, big-endian:
       u32 total | u32 headers | u32 check of these 8 bytes | headers | payload | u32 check of all

   A frame that lies whole in the fed bytes is read in place. Other frames are collected as their
   bytes come, so that a false length allocates no memory. */
#include "wire/codec_in.h"

enum {
    PHI__FRAMES_HEAD = 12,
    PHI__FRAMES_LEAST = 16,             /* size of an empty frame */
    PHI__FRAMES_HEADERS_MOST = 1 << 17, /* AWS's limit for the bytes of headers */
    PHI__FRAMES_KEEP = 4096             /* largest buffer that is kept between frames */
};
#define PHI__FRAMES_MOST ((24u << 20) + (1u << 17) + 16u) /* AWS's limit for the bytes of a frame */

static uint32_t phi__frames_u32(const char *at) {
    const unsigned char *u = (const unsigned char *)at;
    return (uint32_t)u[0] << 24 | (uint32_t)u[1] << 16 | (uint32_t)u[2] << 8 | u[3];
}

static int phi__frames_fail(phi__frames *f, phi_status status) {
    f->status = status;
    phi__buf_free(&f->held);
    phi__buf_free(&f->name);
    f->drop = 0;
    f->at = f->end;
    return status;
}

/* ---- the contents of a frame ---- */

/* The values of the headers that phi reads. */
typedef struct phi__frames_words {
    phi_str message_type, event_type, exception_type, error_code, error_message;
} phi__frames_words;

/* Returns the size of a header's value after its type, or SIZE_MAX for an unknown type. */
static size_t phi__frames_value(const unsigned char *at, size_t left, unsigned type) {
    static const uint8_t sizes[10] = {0, 0, 1, 2, 4, 8, 0, 0, 8, 16};
    if (type > 9) return SIZE_MAX;
    if (type != 6 && type != 7) return sizes[type];
    return left < 2 ? SIZE_MAX : 2 + ((size_t)at[0] << 8 | at[1]);
}

static bool phi__frames_headers(phi__frames_words *words, const char *at, size_t len) {
    const char *end = at + len;
    memset(words, 0, sizeof *words);
    while (at < end) {
        size_t name_len = (unsigned char)*at++;
        if ((size_t)(end - at) <= name_len) return false;
        phi_str name = phi__str(at, name_len);
        at += name_len;
        unsigned type = (unsigned char)*at++;
        size_t size = phi__frames_value((const unsigned char *)at, (size_t)(end - at), type);
        if (size > (size_t)(end - at)) return false;
        if (type == 7) {
            phi_str value = phi__str(at + 2, size - 2);
            if (phi__str_is(name, ":message-type"))
                words->message_type = value;
            else if (phi__str_is(name, ":event-type"))
                words->event_type = value;
            else if (phi__str_is(name, ":exception-type"))
                words->exception_type = value;
            else if (phi__str_is(name, ":error-code"))
                words->error_code = value;
            else if (phi__str_is(name, ":error-message"))
                words->error_message = value;
        }
        at += size;
    }
    return true;
}

static int phi__frames_trouble(phi__frames *f, phi__frame *out, phi_str type, phi_str payload) {
    phi__buf_clear(&f->name);
    phi__buf_wrap(&f->name, "!", type, "");
    if (f->name.failed) return phi__frames_fail(f, PHI_NO_MEMORY);
    out->name = phi__buf_str(&f->name);
    out->payload = payload;
    return 1;
}

/* Reads a frame whose lengths were checked. 0: a frame of an unknown kind, to be skipped. */
static int phi__frames_read(phi__frames *f, const char *at, size_t total, phi__frame *out) {
    size_t headers = phi__frames_u32(at + 4);
    phi__frames_words words;
    if (phi__crc32(0, at, total - 4) != phi__frames_u32(at + total - 4) ||
        !phi__frames_headers(&words, at + PHI__FRAMES_HEAD, headers))
        return phi__frames_fail(f, PHI_PARSE);
    phi_str payload =
        phi__str(at + PHI__FRAMES_HEAD + headers, total - PHI__FRAMES_LEAST - headers);
    if (phi__str_is(words.message_type, "exception"))
        return phi__frames_trouble(f, out, words.exception_type, payload);
    if (phi__str_is(words.message_type, "error"))
        return phi__frames_trouble(f, out, words.error_code, words.error_message);
    if (!phi__str_is(words.message_type, "event") || words.event_type.len == 0) return 0;
    out->name = words.event_type;
    out->payload = payload;
    return 1;
}

/* ---- where a frame ends ---- */

static phi_status phi__frames_head(const phi__frames *f, const char *at, size_t *total) {
    size_t headers = phi__frames_u32(at + 4);
    *total = phi__frames_u32(at);
    if (phi__crc32(0, at, 8) != phi__frames_u32(at + 8)) return PHI_PARSE;
    if (*total < PHI__FRAMES_LEAST || headers > *total - PHI__FRAMES_LEAST ||
        headers > PHI__FRAMES_HEADERS_MOST)
        return PHI_PARSE;
    return *total > f->max_bytes ? PHI_TOO_BIG : PHI_OK;
}

/* Collects bytes until `need` bytes are held. False: more bytes must come, or memory ran out. */
static bool phi__frames_gather(phi__frames *f, size_t need) {
    if (f->held.len >= need) return true;
    size_t n = phi__min(need - f->held.len, (size_t)(f->end - f->at));
    phi__buf_add(&f->held, f->at, n);
    f->at += n;
    return !f->held.failed && f->held.len >= need;
}

static int phi__frames_frame(phi__frames *f, phi__frame *out) {
    size_t left = (size_t)(f->end - f->at), total;
    phi_status status;
    if (f->held.len == 0 && left >= PHI__FRAMES_HEAD) {
        const char *at = f->at;
        status = phi__frames_head(f, at, &total);
        if (status != PHI_OK) return phi__frames_fail(f, status);
        if (left >= total) {
            f->at += total;
            return phi__frames_read(f, at, total, out);
        }
    }
    if (phi__frames_gather(f, PHI__FRAMES_HEAD)) {
        status = phi__frames_head(f, f->held.at, &total);
        if (status != PHI_OK) return phi__frames_fail(f, status);
        if (phi__frames_gather(f, total)) {
            f->drop = total;
            return phi__frames_read(f, f->held.at, total, out);
        }
    }
    return f->held.failed ? phi__frames_fail(f, PHI_NO_MEMORY) : 0;
}

/* ---- objects ---- */

/* Advances to the end of the open object. False if its last brace is not among the fed bytes. */
static bool phi__frames_object_end(phi__frames *f) {
    while (f->at < f->end) {
        char c = *f->at++;
        if (f->in_string) {
            if (f->escaped)
                f->escaped = false;
            else if (c == '\\')
                f->escaped = true;
            else if (c == '"')
                f->in_string = false;
        } else if (c == '"')
            f->in_string = true;
        else if (c == '{')
            f->depth++;
        else if (c == '}' && --f->depth == 0)
            return true;
    }
    return false;
}

/* Reads an object. It ends with its brace: the last line may lack a line feed. */
static int phi__frames_object(phi__frames *f, phi__frame *out) {
    if (f->depth == 0) {
        while (f->at < f->end && phi__json_white(*f->at)) f->at++;
        if (f->at == f->end) return 0;
        if (*f->at != '{') return phi__frames_fail(f, PHI_PARSE);
    }
    const char *from = f->at;
    bool whole = phi__frames_object_end(f);
    if (phi__add(f->held.len, (size_t)(f->at - from)) > f->max_bytes)
        return phi__frames_fail(f, PHI_TOO_BIG);
    out->name = phi__str(NULL, 0);
    out->payload = phi__str(from, (size_t)(f->at - from));
    if (whole && f->held.len == 0) return 1;
    phi__buf_add_str(&f->held, out->payload);
    if (f->held.failed) return phi__frames_fail(f, PHI_NO_MEMORY);
    if (!whole) return 0;
    out->payload = phi__buf_str(&f->held);
    f->drop = f->held.len;
    return 1;
}

static void phi__frames_init(phi__frames *frames, phi_memory *memory, size_t max_bytes) {
    memset(frames, 0, sizeof *frames);
    phi__buf_init(&frames->held, memory);
    phi__buf_init(&frames->name, memory);
    frames->max_bytes = max_bytes == 0 ? PHI__FRAMES_MOST : max_bytes;
}

static void phi__frames_free(phi__frames *frames) {
    phi__buf_free(&frames->held);
    phi__buf_free(&frames->name);
    phi__frames_init(frames, frames->held.memory, frames->max_bytes);
}

static void phi__frames_feed(phi__frames *frames, const char *bytes, size_t len) {
    PHI_ASSERT(frames->at == frames->end);
    if (len == 0) return;
    frames->at = bytes;
    frames->end = bytes + len;
    if (frames->status != PHI_OK) frames->at = frames->end;
}

static int phi__frames_next(phi__frames *frames, phi__frame *out) {
    int got = 0;
    if (frames->status != PHI_OK) return frames->status;
    do {
        if (frames->drop > 0) { /* only the returned bytes are held */
            if (frames->held.cap > PHI__FRAMES_KEEP)
                phi__buf_free(&frames->held);
            else
                phi__buf_clear(&frames->held);
            frames->drop = 0;
        }
        if (frames->at == frames->end) return 0;
        if (!frames->begun) {
            frames->begun = true;
            frames->lines = *frames->at == '{';
        }
        got = frames->lines ? phi__frames_object(frames, out) : phi__frames_frame(frames, out);
    } while (got == 0);
    return got;
}

static bool phi__frames_cut(const phi__frames *frames) {
    return frames->held.len > frames->drop || frames->at != frames->end;
}

PHI__FN const phi__framing *phi__frames_framing(void) {
    static const phi__framing framing = {phi__frames_init, phi__frames_free, phi__frames_feed,
                                         phi__frames_next, phi__frames_cut};
    return &framing;
}
