/* fuzz_toml.c - any bytes through the reader, the writer and the editor of TOML.

   What must hold: slices give what the whole gives, errors included; what is read is written so
   that it reads back equal; an edit to the same tree changes no byte; an edit to another tree (of
   the text behind the first zero byte, and one with random changes) reads as that tree; nothing is
   left allocated. */
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

static void check_places(const phi_json *node, const phi__marks *marks, size_t size) {
    phi_json_iter it = phi_json_each(node);
    const phi__marks_entry *at = phi__marks_at(marks, node);
    must(at != NULL && at->line > 0 && at->column > 0 && at->from <= at->to && at->to <= size);
    while (phi_json_next(&it) != NULL) check_places(it.at, marks, size);
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
    if (status == PHI_OK) check_places(*out, &marks, text.len);
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

static void check_edit(phi_arena *arena, phi_str text, const phi_json *to, bool unchanged) {
    phi_json *again;
    phi_str out;
    must(phi_toml_edit(arena, text, to, 0, &out, NULL) == PHI_OK);
    if (unchanged) must(phi_str_equal(out, text));
    must(phi_toml_parse(arena, out, &deep, &again, NULL) == PHI_OK);
    must(same(to, again));
}

/* ---- random changes ---- */

static uint32_t random_of(uint32_t *state) {
    *state = *state * 1664525u + 1013904223u;
    return *state >> 16;
}

static phi_json *new_value(phi_arena *arena, uint32_t *state) {
    phi_json *object = phi_json_new_object(arena), *array = phi_json_new_array(arena);
    switch (random_of(state) % 7) {
    case 0: return phi_json_new_int(arena, 7);
    case 1: return phi__json_edit_text(arena, "new\ntext\"\\");
    case 2: return array;
    case 3: return object;
    case 4:
        must(phi_json_set(arena, object, "p q", phi_json_new_bool(arena, true)) == PHI_OK);
        return object;
    case 5:
        must(phi_json_set(arena, object, "r", phi_json_new_num(arena, 0.5)) == PHI_OK);
        must(phi_json_add(array, object) == PHI_OK);
        return array;
    default: return phi_toml_new_date(arena, PHI__LIT("2026-01-31"));
    }
}

static void change(phi_arena *arena, phi_json *node, uint32_t *state) {
    phi_json_iter it = phi_json_each(node);
    uint32_t at = 0, drop = UINT32_MAX;
    char key[16];
    while (phi_json_next(&it) != NULL) {
        change(arena, it.at, state);
        if (random_of(state) % 8 == 0) drop = at;
        at++;
    }
    if (phi_json_is(node, PHI_JSON_ARRAY)) {
        if (drop != UINT32_MAX) (void)phi__json_edit_remove_at(node, drop);
        if (random_of(state) % 6 == 0) must(phi_json_add(node, new_value(arena, state)) == PHI_OK);
    } else if (phi_json_is(node, PHI_JSON_OBJECT)) {
        it = phi_json_each(node);
        for (at = 0; drop != UINT32_MAX && at <= drop; at++) (void)phi_json_next(&it);
        if (drop != UINT32_MAX && memchr(it.key.at, '\0', it.key.len) == NULL)
            (void)phi_json_remove(node, it.key.at);
        key[0] = (char)('a' + random_of(state) % 8);
        key[1] = '\0';
        if (random_of(state) % 6 == 0)
            must(phi_json_set(arena, node, key, new_value(arena, state)) == PHI_OK);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    phi_memory memory;
    phi_arena arena;
    phi_json *whole, *sliced, *other;
    phi_parse_error error, error_sliced;
    const uint8_t *zero = size > 0 ? (const uint8_t *)memchr(data, 0, size) : NULL;
    size_t len = zero == NULL ? size : (size_t)(zero - data);
    uint32_t state = (uint32_t)size * 7919u + (size > 0 ? data[size / 2] : 0);
    char *copy = (char *)malloc(len > 0 ? len : 1); /* its exact size, in bounds checked memory */
    phi_str text;
    phi_status status;
    if (copy == NULL) return 0;
    if (len > 0) memcpy(copy, data, len);
    text = phi__str(copy, len);
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    status = phi_toml_parse(&arena, text, &deep, &whole, &error);
    must(read_sliced(&arena, text, 1 + size % 5, &sliced, &error_sliced) == status);
    must(error.offset == error_sliced.offset && error.line == error_sliced.line &&
         error.column == error_sliced.column && strcmp(error.message, error_sliced.message) == 0);
    must(status == PHI_OK || (error.line > 0 && error.column > 0 && error.offset <= len));
    if (status == PHI_OK) {
        must(same(whole, sliced));
        check_written(&arena, whole);
        check_edit(&arena, text, whole, true);
        if (zero != NULL && phi_toml_parse(&arena, phi__str((const char *)zero + 1, size - len - 1),
                                           &deep, &other, NULL) == PHI_OK)
            check_edit(&arena, text, other, false);
        change(&arena, sliced, &state);
        check_edit(&arena, text, sliced, false);
    }
    phi_arena_free(&arena);
    must(memory.used_bytes == 0);
    free(copy);
    return 0;
}
