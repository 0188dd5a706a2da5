/* fuzz_wire_strict.c - a schema out of any bytes in every form that a provider takes: never a crash, never
   unbounded work; what comes out is JSON that is adapted to itself, or words. Behind a first zero byte stands
   a value, from which nulls are taken. */
#include "base/base_in.h"
#include "wire/codec_in.h"

#include <stdlib.h>

static bool make(phi__buf *out, phi_str schema, phi__strict_form form, char *words, size_t size) {
    return form == PHI__STRICT_GEMINI ? phi__strict_gemini(out, schema, words, size)
                                      : phi__strict_schema(out, schema, form, words, size);
}

static void check(phi_memory *memory, phi_str schema, phi__strict_form form) {
    char words[200];
    phi__buf out;
    phi_arena arena;
    phi_json *tree = NULL;
    phi_arena_init(&arena, memory, 0);
    phi__buf_init(&out, memory);
    if (!make(&out, schema, form, words, sizeof words)) {
        phi_str said = phi_str_of(words);
        if (said.len == 0 || phi__utf8_valid(said) != said.len) abort();
    } else if (form != PHI__STRICT_GEMINI || out.len != schema.len) {
        if (phi_json_parse(&arena, phi__buf_str(&out), 0, &tree, NULL) != PHI_OK) abort();
    }
    phi__buf_free(&out);
    phi_arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const char *text = (const char *)data;
    const char *cut = size > 0 ? (const char *)memchr(text, 0, size) : NULL;
    size_t first = cut != NULL ? (size_t)(cut - text) : size;
    phi_memory memory;
    phi_arena arena;
    phi_json *schema = NULL, *value = NULL;
    int form;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    for (form = PHI__STRICT_OPENAI; form < PHI__STRICT_FORMS; form++)
        check(&memory, phi__str(text, first), (phi__strict_form)form);
    if (cut != NULL && phi_json_parse(&arena, phi__str(text, first), 0, &schema, NULL) == PHI_OK &&
        phi_json_parse(&arena, phi__str(cut + 1, size - first - 1), 0, &value, NULL) == PHI_OK)
        (void)phi__strict_nulls(schema, value);
    phi_arena_free(&arena);
    if (memory.used_bytes != 0) abort();
    return 0;
}
