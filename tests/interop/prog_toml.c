/* prog_toml.c - TOML for the checks of scripts/interop.py toml.

       prog_toml read < paths     a line of JSON a file: its tree, each scalar as toml-test tags it
                                  ({"type": "integer", "value": "1"}), or {"refused": where and why}
       prog_toml write < paths    a line of JSON a file: its tree, written as TOML, in quotes */
#include "text/json_in.h"
#include "formats/toml.h"
#include "formats/reader_in.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *read_all(const char *path, size_t *len) {
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    long size;
    if (file == NULL || fseek(file, 0, SEEK_END) != 0 || (size = ftell(file)) < 0) {
        fprintf(stderr, "prog_toml: cannot read %s\n", path);
        exit(1);
    }
    rewind(file);
    text = (char *)malloc((size_t)size + 1);
    if (text == NULL) exit(1);
    *len = fread(text, 1, (size_t)size, file);
    fclose(file);
    return text;
}

static void put_refused(phi__buf *out, const phi_parse_error *error) {
    phi__buf_printf(out, "{\"refused\":\"%u:%u: ", error->line, error->column);
    phi__json_write_part(out, phi_str_of(error->message));
    phi__buf_text(out, "\"}");
}

static void put_scalar(phi__buf *out, const phi_json *node) {
    static const char *const names[] = {"none",       "string",   "integer",        "float",
                                        "bool",       "datetime", "datetime-local", "date-local",
                                        "time-local", "array",    "table"};
    phi_toml_type type = phi_toml_type_of(node, NULL);
    double d = phi_json_num(node, 0);
    phi__buf_printf(out, "{\"type\":\"%s\",\"value\":\"", names[type]);
    if (type == PHI_TOML_INTEGER)
        phi__json_number_put_i64(out, phi_json_int(node, 0));
    else if (type == PHI_TOML_FLOAT && !(d - d == 0))
        phi__buf_text(out, d > 0 ? "inf" : d < 0 ? "-inf" : "nan");
    else if (type == PHI_TOML_FLOAT)
        phi__json_number_put_double(out, d);
    else if (type == PHI_TOML_BOOL)
        phi__json_write_bool(out, phi_json_bool(node, false));
    else
        phi__json_write_part(out, phi_json_str(node, NULL));
    phi__buf_text(out, "\"}");
}

/* Trees of the suite are not deep. */
static void put_tagged(phi__buf *out, const phi_json *node) {
    bool object = phi_json_is(node, PHI_JSON_OBJECT);
    phi_json_iter it = phi_json_each(node);
    if (!object && !phi_json_is(node, PHI_JSON_ARRAY)) {
        put_scalar(out, node);
        return;
    }
    phi__buf_char(out, object ? '{' : '[');
    while (phi_json_next(&it) != NULL) {
        if (object)
            phi__json_write_key(out, it.key);
        else
            phi__json_write_comma(out);
        put_tagged(out, it.at);
    }
    phi__buf_char(out, object ? '}' : ']');
}

/* Reads it in slices, as a program with a frame rate would. */
static phi_status read_sliced(phi_arena *arena, phi_str text, phi_json **root,
                              phi_parse_error *error) {
    phi_reader *reader;
    reader = phi_toml_reader_new(arena, text, NULL);
    while (phi_reader_advance(reader, 7) == PHI_BUSY) continue;
    return phi_reader_result(reader, root, error);
}

static void put_text(phi__buf *out, phi_status status, phi_str text) {
    if (status == PHI_OK)
        phi__json_write_str(out, text);
    else
        phi__buf_printf(out, "{\"refused\":\"%s\"}", phi_status_text(status));
}

static void one(const char *mode, phi_arena *arena, phi_str text, phi__buf *out) {
    phi_parse_error error;
    phi_json *root;
    phi_str made = phi__str("", 0);
    phi_status status = read_sliced(arena, text, &root, &error);
    if (status != PHI_OK)
        put_refused(out, &error);
    else if (strcmp(mode, "write") == 0) {
        status = phi_toml_write(arena, root, 0, &made);
        put_text(out, status, made);
    } else
        put_tagged(out, root);
    phi__buf_char(out, '\n');
}

int main(int argc, char **argv) {
    char path[4096];
    phi_memory memory;
    phi_arena arena;
    phi__buf out;
    if (argc != 2) return 2;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    while (fgets(path, sizeof path, stdin) != NULL) {
        char *text;
        size_t len;
        path[strcspn(path, "\n")] = '\0';
        text = read_all(path, &len);
        phi__buf_init(&out, &memory);
        one(argv[1], &arena, phi__str(text, len), &out);
        fwrite(out.at, 1, out.len, stdout);
        phi__buf_free(&out);
        free(text);
    }
    phi_arena_free(&arena);
    return 0;
}
