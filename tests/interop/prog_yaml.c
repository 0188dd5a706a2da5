/* prog_yaml.c - YAML for the checks of scripts/interop.py yaml.

       prog_yaml read | any < paths     a line of JSON a file: its tree, or {"refused": where and why}
       prog_yaml write < paths          reads JSON, writes PATH.yaml
       prog_yaml time < paths           a line a file: bytes, milliseconds, peak bytes */
#include "text/json_in.h"
#include "formats/yaml.h"
#include "formats/reader_in.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static char *read_all(const char *path, size_t *len) {
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    long size;
    if (file == NULL || fseek(file, 0, SEEK_END) != 0 || (size = ftell(file)) < 0) {
        fprintf(stderr, "prog_yaml: cannot read %s\n", path);
        exit(1);
    }
    rewind(file);
    text = (char *)malloc((size_t)size + 1);
    if (text == NULL) exit(1);
    *len = fread(text, 1, (size_t)size, file);
    fclose(file);
    return text;
}

static void print_refused(const phi_parse_error *error) {
    phi_memory memory;
    phi__buf out;
    phi_memory_init(&memory, NULL, 0);
    phi__buf_init(&out, &memory);
    phi__buf_printf(&out, "{\"refused\":\"%u:%u: ", error->line, error->column);
    phi__json_write_part(&out, phi_str_of(error->message));
    phi__buf_text(&out, "\"}\n");
    fwrite(out.at, 1, out.len, stdout);
    phi__buf_free(&out);
}

/* Reads it in slices, as a program with a frame rate would. */
static void read_one(phi_arena *arena, phi_str text, uint32_t flags) {
    phi_yaml_desc options = PHI_ZERO;
    phi_reader *reader;
    phi_parse_error error;
    phi_json *root;
    phi_str out;
    options.flags = flags;
    reader = phi_yaml_reader_new(arena, text, &options);
    while (phi_reader_advance(reader, 7) == PHI_BUSY) continue;
    if (phi_reader_result(reader, &root, &error) != PHI_OK)
        print_refused(&error);
    else if (phi_json_write(arena, root, 0, &out) == PHI_OK) {
        fwrite(out.at, 1, out.len, stdout);
        putchar('\n');
    }
}

static void write_one(phi_arena *arena, phi_str text, const char *path) {
    phi_json *root;
    phi_str out;
    char name[4096];
    FILE *file;
    snprintf(name, sizeof name, "%s.yaml", path);
    file = fopen(name, "wb");
    if (file == NULL || phi_json_parse(arena, text, 0, &root, NULL) != PHI_OK ||
        phi_yaml_write(arena, root, 0, &out) != PHI_OK)
        exit(1);
    fwrite(out.at, 1, out.len, file);
    fclose(file);
}

static void time_one(phi_arena *arena, phi_str text, const char *path) {
    clock_t begin = clock();
    phi_parse_error error;
    phi_json *root;
    phi_status status = phi_yaml_parse(arena, text, NULL, &root, &error);
    double ms = (double)(clock() - begin) * 1e3 / CLOCKS_PER_SEC;
    printf("%s: %zu bytes, %.1f ms, %zu bytes of memory%s\n", path, text.len, ms,
           arena->memory->peak_bytes, status == PHI_OK ? "" : ", REFUSED");
}

int main(int argc, char **argv) {
    char path[4096];
    if (argc != 2) return 2;
    while (fgets(path, sizeof path, stdin) != NULL) {
        phi_memory memory;
        phi_arena arena;
        char *text;
        size_t len;
        path[strcspn(path, "\n")] = '\0';
        text = read_all(path, &len);
        phi_memory_init(&memory, NULL, 0);
        phi_arena_init(&arena, &memory, 0);
        if (strcmp(argv[1], "write") == 0)
            write_one(&arena, phi__str(text, len), path);
        else if (strcmp(argv[1], "time") == 0)
            time_one(&arena, phi__str(text, len), path);
        else
            read_one(&arena, phi__str(text, len),
                     strcmp(argv[1], "any") == 0 ? PHI_YAML_ANY_TAG : 0);
        phi_arena_free(&arena);
        free(text);
    }
    return 0;
}
