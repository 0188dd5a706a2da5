/* fuzz_yaml.c - any bytes through the reader and the writer of YAML.

   What must hold: slices give what the whole gives, errors included; what is read is written so
   that it reads back equal; JSON without duplicate keys reads as JSON does; nothing is left
   allocated, and the copies of aliases stay within their limits. */
#include "text/json_in.h"
#include "formats/yaml.h"
#include "formats/reader_in.h"

#include <math.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool held) {
    if (!held) abort();
}

static phi_status read_sliced(phi_arena *arena, phi_str text, const phi_yaml_desc *options,
                              size_t units, phi_json **out, phi_parse_error *error) {
    phi_reader *reader;
    reader = phi_yaml_reader_new(arena, text, options);
    while (phi_reader_advance(reader, units) == PHI_BUSY) continue;
    return phi_reader_result(reader, out, error);
}

/* As phi__json_get_equal, and NaN equals NaN. */
static bool same(const phi_json *a, const phi_json *b) {
    phi_json_iter of_a = phi_json_each(a), of_b = phi_json_each(b);
    phi_json *child;
    if (phi_json_type_of(a) != phi_json_type_of(b)) return false;
    if (phi_json_is(a, PHI_JSON_NUMBER) && isnan(phi_json_num(a, 0)))
        return isnan(phi_json_num(b, 0));
    if (phi_json_type_of(a) < PHI_JSON_ARRAY) return phi__json_get_equal(a, b);
    if (phi_json_count(a) != phi_json_count(b)) return false;
    while ((child = phi_json_next(&of_a)) != NULL) {
        if (!same(child, phi_json_next(&of_b))) return false;
        if (!phi_str_equal(of_a.key, of_b.key)) return false;
    }
    return true;
}

static void check_written(phi_arena *arena, const phi_json *root) {
    phi_yaml_desc options = PHI_ZERO;
    phi_json *again;
    phi_str out;
    options.max_depth = PHI_JSON_MAX_DEPTH;
    must(phi_yaml_write(arena, root, 0, &out) == PHI_OK);
    must(out.at[out.len] == '\0');
    must(phi_yaml_parse(arena, out, &options, &again, NULL) == PHI_OK);
    must(same(root, again));
}

/* YAML holds all of JSON, but for duplicate keys and a key that is a lone surrogate. */
static void check_json(phi_arena *arena, phi_str text, phi_status status, const phi_json *root) {
    phi_json *json;
    if (phi_json_parse(arena, text, 0, &json, NULL) != PHI_OK) return;
    if (status == PHI_OK) must(same(root, json));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    phi_memory memory;
    phi_arena arena;
    phi_json *whole, *sliced;
    phi_parse_error error, error_sliced;
    phi_yaml_desc options = PHI_ZERO;
    char *copy = (char *)malloc(size > 0 ? size : 1); /* its exact size, in bounds checked memory */
    phi_str text;
    phi_status status;
    if (copy == NULL) return 0;
    if (size > 0) memcpy(copy, data, size);
    text = phi__str(copy, size);
    options.flags = size % 2 == 0 ? PHI_YAML_ANY_TAG : 0;
    options.max_depth = 64;
    options.max_alias_nodes = 1000;
    options.max_alias_bytes = 10000;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    status = phi_yaml_parse(&arena, text, &options, &whole, &error);
    must(read_sliced(&arena, text, &options, 1 + size % 5, &sliced, &error_sliced) == status);
    must(error.offset == error_sliced.offset && error.line == error_sliced.line &&
         error.column == error_sliced.column && strcmp(error.message, error_sliced.message) == 0);
    must(status == PHI_OK || (error.line > 0 && error.column > 0 && error.offset <= size));
    if (status == PHI_OK) {
        must(same(whole, sliced));
        check_written(&arena, whole);
    }
    check_json(&arena, text, status, whole);
    must(memory.used_bytes < 400 * size + 200000);
    phi_arena_free(&arena);
    must(memory.used_bytes == 0);
    free(copy);
    return 0;
}
