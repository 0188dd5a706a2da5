/* bench_toml.c - a text of TOML of 5 MB: its tree and the text of the tree; and the longest
   slice while a table gets 100,000 keys.

       gcc -O2 -Ibuild/include bench/bench_toml.c -lm

   The text is made here: tables of a lock file, with strings, integers, dates and arrays. Memory is
   an arena's that is freed each time. CPU time, the best of the turns. Lines: name value unit. */
#define PHI_IMPLEMENTATION
#include "phi_json.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void broken(const char *what) {
    fprintf(stderr, "bench_toml: %s failed\n", what);
    exit(1);
}

static phi_str str_of(const char *at, size_t len) {
    phi_str text;
    text.at = at;
    text.len = len;
    return text;
}

static phi_str make_tables(void) {
    size_t cap = 6u << 20, n = 0;
    char *text = (char *)malloc(cap);
    int i;
    if (text == NULL) broken("malloc");
    for (i = 0; n < 5000000; i++)
        n += (size_t)snprintf(
            text + n, cap - n,
            "# package %d\n"
            "[packages.\"name-%d\"]\n"
            "version = \"1.%d.0\"\n"
            "size = %d\n"
            "built = 2026-11-%02dT07:32:00Z\n"
            "needs = [\"core >= 1.0\", \"text\", \"net\"]\n"
            "digest = \"d2a84f4b8b650937ec8f73cd8be2c74add5a911ba64df274%08x\"\n\n",
            i, i, i, i * 7, i % 28 + 1, (unsigned)i);
    return str_of(text, n);
}

static phi_str make_keys(void) {
    size_t cap = 2u << 20, n = 0;
    char *text = (char *)malloc(cap);
    int i;
    if (text == NULL) broken("malloc");
    for (i = 0; i < 100000; i++) n += (size_t)snprintf(text + n, cap - n, "k%d = 1\n", i);
    return str_of(text, n);
}

static size_t tree_bytes;

static phi_json *tree_of(phi_arena *arena, phi_str text) {
    phi_json *root;
    phi_parse_error error;
    if (phi_toml_parse(arena, text, NULL, &root, &error) != PHI_OK) broken(error.message);
    return root;
}

static void run_read(phi_memory *memory, phi_str text) {
    phi_arena arena;
    phi_arena_init(&arena, memory, 0);
    (void)tree_of(&arena, text);
    tree_bytes = memory->used_bytes;
    phi_arena_free(&arena);
}

static double best_of(int turns, void (*run)(phi_memory *, phi_str), phi_memory *memory,
                      phi_str text) {
    double best = 1e9;
    int i;
    for (i = 0; i < turns; i++) {
        double start = now();
        run(memory, text);
        start = now() - start;
        if (start < best) best = start;
    }
    return best;
}

/* The longest slice of 1,000 units; the best of the turns. */
static double longest_slice(phi_memory *memory, phi_str text) {
    double best = 1e9;
    int turn;
    for (turn = 0; turn < 7; turn++) {
        phi_arena arena;
        phi_reader *reader;
        double most = 0;
        phi_status status;
        phi_arena_init(&arena, memory, 0);
        reader = phi_toml_reader_new(&arena, text, NULL);
        do {
            double start = now();
            status = phi_reader_advance(reader, 1000);
            start = now() - start;
            if (start > most) most = start;
        } while (status == PHI_BUSY);
        if (status != PHI_OK) broken("phi_reader_advance");
        if (most < best) best = most;
        phi_arena_free(&arena);
    }
    return best;
}

int main(void) {
    phi_memory memory;
    phi_arena arena;
    phi_str tables = make_tables(), keys = make_keys(), out;
    phi_json *root;
    double start;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    printf("toml_read_5mb %.1f ms\n", best_of(7, run_read, &memory, tables) * 1e3);
    printf("toml_tree_bytes %.2f bytes/byte\n", (double)tree_bytes / (double)tables.len);
    root = tree_of(&arena, tables);
    start = now();
    if (phi_toml_write(&arena, root, 0, &out) != PHI_OK) broken("phi_toml_write");
    printf("toml_write_5mb %.1f ms\n", (now() - start) * 1e3);
    printf("toml_longest_slice_100000_keys %.2f ms\n", longest_slice(&memory, keys) * 1e3);
    phi_arena_free(&arena);
    free((void *)(uintptr_t)tables.at);
    free((void *)(uintptr_t)keys.at);
    return 0;
}
