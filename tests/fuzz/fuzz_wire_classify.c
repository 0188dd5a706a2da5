/* fuzz_wire_classify.c - any bytes as the headers and body of an error: status, headers and body
   are apart by a NUL. */
#include "codecs/presets.h"
#include "base/base_in.h"
#include "wire/codec_in.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    phi_model model = phi_model_preset("cerebras", "m", "K");
    phi_memory memory;
    phi_arena arena;
    phi_failure failure;
    phi_str text = phi__str((const char *)data + 1, size - 1), body;
    size_t at;
    if (size < 2) return 0;
    at = 0;
    while (at < text.len && text.at[at] != '\0') at++;
    body = phi__str(text.at + at, text.len - at);
    if (body.len > 0) body = phi__str(body.at + 1, body.len - 1);
    text.len = at;
    phi_memory_init(&memory, NULL, 8u << 20);
    phi_arena_init(&arena, &memory, 0);
    phi__classify(&model, 400 + data[0] % 200, text, body, &arena, &failure);
    if (failure.kind == PHI_FAILURE_NONE || failure.message.len == 0) abort();
    (void)phi__utf8_valid(failure.message);
    (void)phi__classify_is_overflow_text(text);
    phi_arena_free(&arena);
    if (memory.used_bytes != 0) abort();
    return 0;
}
