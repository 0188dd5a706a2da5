/* fuzz_toml.c - any bytes through the reader and the writer of TOML.

   What must hold: slices give what the whole gives, errors included; what is read is written so
   that it reads back equal; nothing is left allocated. */
#include "text/json_in.h"
#include "text/text_in.h"
#include "formats/toml_in.h"

#include <math.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool held) {
    if (!held) abort();
}

static const phi_toml_desc deep = {PHI_JSON_MAX_DEPTH};

/* The same values of the same types, members in any order. */
static bool same(const phi_json *a, const phi_json *b) {
    phi_json_iter of_a = phi_json_each(a), of_b = phi_json_each(b);
    phi_toml_type type = phi_toml_type_of(a, NULL);
    double x = phi_json_num(a, 0), y = phi_json_num(b, 0);
    if (type != phi_toml_type_of(b, NULL)) return false;
    if (type == PHI_TOML_FLOAT) return memcmp(&x, &y, sizeof x) == 0 || (isnan(x) && isnan(y));
    if (type < PHI_TOML_ARRAY) return phi__json_get_equal(a, b);
    if (phi_json_count(a) != phi_json_count(b)) return false;
    while (phi_json_next(&of_a) != NULL) {
        const phi_json *other = phi_json_next(&of_b);
        if (type == PHI_TOML_TABLE && !phi_str_equal(of_a.key, of_b.key))
            other = phi__json_get_n(b, of_a.key);
        if (!same(of_a.at, other)) return false;
    }
    return true;
}

static void check_places(const phi_json *node, const phi__marks *marks) {
    phi_json_iter it = phi_json_each(node);
    uint32_t line, column;
    must(phi__marks_find(marks, node, &line, &column) && line > 0 && column > 0);
    while (phi_json_next(&it) != NULL) check_places(it.at, marks);
}

static phi_status read_sliced(phi_arena *arena, phi_str text, size_t units, phi_json **out,
                              phi_parse_error *error) {
    phi__toml_reader reader;
    phi__marks marks;
    phi_status status;
    phi__marks_init(&marks, arena);
    phi__toml_read_begin(&reader, arena, text, &deep);
    reader.marks = &marks;
    while (phi__toml_read_advance(&reader, units) == PHI_BUSY) continue;
    status = phi__toml_read_result(&reader, out, error);
    if (status == PHI_OK) check_places(*out, &marks);
    return status;
}

static void check_written(phi_arena *arena, const phi_json *root) {
    phi_json *again;
    phi_str out;
    must(phi_toml_write(arena, root, 0, &out) == PHI_OK);
    must(out.at[out.len] == '\0');
    must(phi_toml_parse(arena, out, &deep, &again, NULL) == PHI_OK);
    must(same(root, again));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    phi_memory memory;
    phi_arena arena;
    phi_json *whole, *sliced;
    phi_parse_error error, error_sliced;
    char *copy = (char *)malloc(size > 0 ? size : 1); /* its exact size, in bounds checked memory */
    phi_str text;
    phi_status status;
    if (copy == NULL) return 0;
    if (size > 0) memcpy(copy, data, size);
    text = phi__str(copy, size);
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    status = phi_toml_parse(&arena, text, &deep, &whole, &error);
    must(read_sliced(&arena, text, 1 + size % 5, &sliced, &error_sliced) == status);
    must(error.offset == error_sliced.offset && error.line == error_sliced.line &&
         error.column == error_sliced.column && strcmp(error.message, error_sliced.message) == 0);
    must(status == PHI_OK || (error.line > 0 && error.column > 0 && error.offset <= size));
    if (status == PHI_OK) {
        must(same(whole, sliced));
        check_written(&arena, whole);
    }
    phi_arena_free(&arena);
    must(memory.used_bytes == 0);
    free(copy);
    return 0;
}
