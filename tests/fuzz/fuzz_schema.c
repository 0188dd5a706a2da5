/* fuzz_schema.c - a schema and a value, both out of any bytes: never a crash, never unbounded work, and
   words that are terminated UTF-8. The first zero byte parts the two. */
#include "base/base_in.h"
#include "text/text_in.h"

#include <stdlib.h>

static void check_words(const phi_schema_error *error) {
    phi_str words = phi_str_of(error->message);
    if (words.len >= sizeof error->message || phi__utf8_valid(words) != words.len) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const char *text = (const char *)data;
    const char *cut = size > 0 ? (const char *)memchr(text, 0, size) : NULL;
    size_t first = cut != NULL ? (size_t)(cut - text) : size;
    phi_str value_text =
        phi__str(cut != NULL ? cut + 1 : text, cut != NULL ? size - first - 1 : size);
    phi_memory memory;
    phi_arena arena;
    phi_json *schema = NULL, *value = NULL;
    phi_schema_error error;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    memset(&error, 0, sizeof error);
    if (phi_json_parse(&arena, phi__str(text, first), 0, &schema, NULL) == PHI_OK &&
        phi_json_parse(&arena, value_text, 0, &value, NULL) == PHI_OK) {
        if (phi__schema_valid(schema, &error) != PHI_OK) check_words(&error);
        if (phi_schema_check(schema, value, NULL, &error) != PHI_OK) check_words(&error);
    }
    phi_arena_free(&arena);
    if (memory.used_bytes != 0) abort();
    return 0;
}
