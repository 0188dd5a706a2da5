/* fuzz_json.c - any bytes through the reader, the writer, the cursor and the schema check.

   What must hold: slices give what the whole gives; what is read is written so that it reads back
   equal; a text that is read is walked by the cursor as well; nothing is left allocated. */
#include "text/json_in.h"
#include "text/text_in.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool held) {
    if (!held) abort();
}

static phi_status read_sliced(phi_arena *arena, phi_str text, uint32_t flags, size_t units,
                              phi_json **out, phi_parse_error *error) {
    phi__json_reader reader;
    phi__json_read_begin(&reader, arena, text, flags, 0);
    while (phi__json_read_advance(&reader, units) == PHI_BUSY) continue;
    return phi__json_read_result(&reader, out, error);
}

static bool walk(phi__json_cursor *c, unsigned depth) {
    phi__json_text text;
    int64_t i;
    double d;
    switch (phi__json_cursor_peek(c)) {
    case PHI_JSON_OBJECT:
        if (depth > 0 && phi__json_cursor_enter_object(c))
            while (phi__json_cursor_next_key(c, &text)) walk(c, depth - 1);
        else
            phi__json_cursor_skip(c);
        break;
    case PHI_JSON_ARRAY:
        if (depth > 0 && phi__json_cursor_enter_array(c))
            while (phi__json_cursor_next_item(c)) walk(c, depth - 1);
        else
            phi__json_cursor_skip(c);
        break;
    case PHI_JSON_STRING: phi__json_cursor_take_text(c, &text); break;
    case PHI_JSON_NUMBER:
        if (depth % 2)
            phi__json_cursor_take_i64(c, &i);
        else
            phi__json_cursor_take_num(c, &d);
        break;
    default: phi__json_cursor_skip(c); break;
    }
    return !c->bad;
}

static void check_tree(phi_arena *arena, phi_json *root) {
    static const uint32_t flags[] = {0, PHI_JSON_PRETTY, PHI_JSON_ASCII};
    phi_schema_error words;
    phi_json *copy = phi_json_copy(arena, root), *again;
    size_t i;
    must(phi__json_get_equal(root, copy));
    for (i = 0; i < 3; i++) {
        phi_str out;
        phi__buf sliced;
        phi__json_writer writer;
        must(phi_json_write(arena, root, flags[i], &out) == PHI_OK);
        must(phi_json_parse(arena, out, 0, &again, NULL) == PHI_OK);
        must(phi__json_get_equal(root, again));
        phi__buf_init(&sliced, arena->memory);
        phi__json_write_writer_begin(&writer, &sliced, root, flags[i]);
        while (phi__json_write_writer_advance(&writer, 3) == PHI_BUSY) continue;
        phi__json_write_writer_end(&writer);
        must(phi_str_equal(phi__buf_str(&sliced), out));
        phi__buf_free(&sliced);
    }
    (void)phi__schema_valid(root, &words);
    (void)phi_schema_check(root, copy, NULL, &words);
    (void)phi_schema_check(phi_json_at(root, 0), phi_json_at(root, 1), NULL, &words);
    (void)phi_schema_check(phi_json_get(root, "s"), phi_json_get(root, "v"), NULL, &words);
}

static void check_strings(phi_memory *memory, phi_arena *arena, phi_str text) {
    phi__json_text raw;
    phi__buf out;
    phi_str copy;
    phi_json *root;
    raw.at = text.at;
    raw.len = text.len;
    raw.escaped = true;
    phi__buf_init(&out, memory);
    phi__json_cursor_unescape(&out, raw);
    must(phi__json_cursor_unescape_arena(arena, raw, &copy));
    must(phi_str_equal(copy, phi__buf_str(&out)));
    must(phi__json_cursor_text_same(raw, copy));
    phi__buf_clear(&out);
    phi__json_write_str(&out, text); /* any bytes make a string that is read */
    must(phi_json_parse(arena, phi__buf_str(&out), 0, &root, NULL) == PHI_OK);
    phi__buf_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    phi_memory memory;
    phi_arena arena;
    phi_json *whole, *sliced, *repaired;
    phi_parse_error error, error_sliced;
    phi__json_found found;
    phi__json_cursor cursor;
    char *copy = (char *)malloc(size > 0 ? size : 1); /* its exact size, in bounds checked memory */
    phi_str text;
    phi_status status;
    if (copy == NULL) return 0;
    if (size > 0) memcpy(copy, data, size);
    text = phi__str(copy, size);
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    status = phi_json_parse(&arena, text, 0, &whole, &error);
    must(read_sliced(&arena, text, PHI_JSON_BORROW, 1 + size % 7, &sliced, &error_sliced) ==
         status);
    must(error.offset == error_sliced.offset && strcmp(error.message, error_sliced.message) == 0);
    if (status == PHI_OK) {
        must(phi__json_get_equal(whole, sliced));
        phi__json_cursor_init(&cursor, text);
        must(phi__json_cursor_skip(&cursor) && phi__json_cursor_done(&cursor));
        check_tree(&arena, whole);
    }
    phi__json_cursor_init(&cursor, text);
    if (!walk(&cursor, 300)) must(status != PHI_OK);
    if (read_sliced(&arena, text, PHI_JSON_REPLACE_BAD_UTF8, 1 + size % 5, &repaired, NULL) ==
        PHI_OK)
        check_tree(&arena, repaired);
    (void)phi__json_cursor_find(text, "a[1].b", &found);
    (void)phi__json_cursor_find(text, "", &found);
    check_strings(&memory, &arena, text);
    phi_arena_free(&arena);
    must(memory.used_bytes == 0);
    free(copy);
    return 0;
}
