/* fuzz_wire.h - a decoder under any bytes: whatever comes, the answer is valid UTF-8, its message
   can be written as JSON, calls that may run are there only where the stream ended well, and no
   byte of memory is left. The first byte says how the rest is cut, and how much memory there is. */
#ifndef PHI_TESTS_FUZZ_WIRE_H
#define PHI_TESTS_FUZZ_WIRE_H

#include "base/base_in.h"
#include "model/model.h"
#include "wire/wire_in.h"
#include "wire/codec_in.h"
#include "support/codec_of.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void fuzz_valid(phi_str s) {
    if (phi__utf8_valid(s) != s.len) abort();
}

static inline void fuzz_sink(void *ctx, phi__assembly *a, phi__part part, size_t block,
                             size_t from) {
    phi_str bytes;
    (void)ctx;
    if (part == PHI__PART_START) return;
    if (block >= a->count) abort();
    bytes = phi__buf_str(&a->drafts[block].bytes);
    if (part == PHI__PART_DELTA) {
        if (from >= bytes.len) abort();
        fuzz_valid(phi__str(bytes.at + from, bytes.len - from));
    }
}

static inline void fuzz_check(phi__assembly *a, phi_arena *arena) {
    phi_content *content = (phi_content *)phi_arena_alloc(arena, (a->count + 1) * sizeof *content);
    phi_message message;
    phi_str json;
    size_t i;
    if (content == NULL) return;
    phi__assembly_view(a, content, &message);
    for (i = 0; i < a->count; i++) {
        fuzz_valid(content[i].text);
        fuzz_valid(content[i].arguments);
        fuzz_valid(content[i].id);
        fuzz_valid(content[i].name);
        if (content[i].kind == PHI_CONTENT_TOOL_CALL && !content[i].incomplete &&
            content[i].id.len == 0 && !a->no_memory)
            abort();
    }
    fuzz_valid(a->failure.message);
    if (!a->terminal && a->failure.kind == PHI_FAILURE_NONE) abort();
    if (message.stop_reason == PHI_STOP_REASON_NONE) abort();
    (void)phi_message_to_json(&message, arena, &json);
}

static inline int fuzz_wire(const char *protocol, const uint8_t *data, size_t size) {
    static const phi__tool_view tool = {{"read", 4}, {NULL, 0}, {"{}", 2}, false,
                                        NULL,        false,     {NULL, 0}, false};
    const phi__codec *codec = codec_of(protocol);
    phi_memory memory;
    phi_arena arena;
    phi__assembly a;
    phi__reader reader;
    const char *at = (const char *)data + 1, *end = (const char *)data + size;
    void *state;
    size_t piece;
    if (size < 2) return 0;
    piece = data[0] % 32 == 0 ? SIZE_MAX : data[0] % 32;
    state = calloc(1, codec->state_bytes);
    phi_memory_init(&memory, NULL, data[0] >= 224 ? 4096 : 8u << 20);
    phi_arena_init(&arena, &memory, 0);
    phi__assembly_init(&a, &memory);
    a.sink = fuzz_sink;
    if ((data[0] & 64) != 0) { /* the model is small */
        a.quirks = ~(uint64_t)0;
        a.tools = &tool;
        a.tool_count = 1;
    }
    phi__reader_init(&reader, codec, state, &a, 65536);
    if (data[0] % 32 == 31) {
        codec->whole(state, &a, phi__str(at, (size_t)(end - at)));
        at = end;
    }
    while (at < end) {
        size_t n = phi__min(piece, (size_t)(end - at));
        phi__reader_feed(&reader, phi__str(at, n));
        at += n;
    }
    if (data[0] % 32 != 31) {
        phi__reader_finish(&reader, false);
        phi__reader_end(&reader);
    }
    phi__assembly_finish(&a);
    phi__repair_calls(&a);
    fuzz_check(&a, &arena);
    phi__reader_free(&reader);
    phi__assembly_free(&a);
    phi_arena_free(&arena);
    free(state);
    if (memory.used_bytes != 0) abort();
    return 0;
}

#endif
