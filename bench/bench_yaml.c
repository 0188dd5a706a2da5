/* bench_yaml.c - a large OpenAPI document as YAML: phi beside libyaml, where it is installed.

       gcc -O2 -Ibuild/include bench/bench_yaml.c -DBENCH_LIBYAML -lyaml -lm

   The document is made here: some 13 MB of paths with parameters, descriptions over several lines and
   schemas, in block style with some flow sequences. Both build their tree and drop it; phi has its
   memory from an arena that is freed each time, libyaml from malloc. CPU time, the best of the turns.
   Lines: name value unit. */
#define PHI_IMPLEMENTATION
#include "phi_json.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#ifdef BENCH_LIBYAML
#include <yaml.h>
#endif

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void broken(const char *what) {
    fprintf(stderr, "bench_yaml: %s failed\n", what);
    exit(1);
}

static char *make_document(size_t *len) {
    size_t cap = 16u << 20, n;
    char *text = (char *)malloc(cap);
    int i;
    if (text == NULL) broken("malloc");
    n = (size_t)snprintf(text, cap, "openapi: 3.0.3\ninfo: {title: made, version: '1'}\npaths:\n");
    for (i = 0; n + 2000 < cap && n < 13000000; i++)
        n += (size_t)snprintf(text + n, cap - n,
                              "  /orgs/{org}/things%d/{thing_id}:\n"
                              "    get:\n"
                              "      summary: Get thing %d\n"
                              "      description: |-\n"
                              "        Gets a thing by its number, if you may see it.\n"
                              "\n"
                              "        OAuth tokens need the `repo` scope for this.\n"
                              "      operationId: things/get-%d\n"
                              "      tags: [things, orgs]\n"
                              "      parameters:\n"
                              "      - name: org\n"
                              "        in: path\n"
                              "        required: true\n"
                              "        schema:\n"
                              "          type: string\n"
                              "      - name: per_page\n"
                              "        in: query\n"
                              "        description: \"The number of results (max %d).\"\n"
                              "        schema:\n"
                              "          type: integer\n"
                              "          default: 30\n"
                              "      responses:\n"
                              "        '200':\n"
                              "          description: Response\n"
                              "          content:\n"
                              "            application/json:\n"
                              "              schema:\n"
                              "                $ref: '#/components/schemas/thing-%d'\n"
                              "        '404':\n"
                              "          $ref: '#/components/responses/not_found'\n",
                              i, i, i, i, i);
    *len = n;
    return text;
}

static size_t tree_bytes;

static phi_json *read_yaml(phi_arena *arena, phi_str text) {
    phi_json *root;
    phi_parse_error error;
    if (phi_yaml_parse(arena, text, NULL, &root, &error) != PHI_OK) broken(error.message);
    return root;
}

static void run_phi(phi_memory *memory, phi_str text) {
    phi_arena arena;
    phi_arena_init(&arena, memory, 0);
    (void)read_yaml(&arena, text);
    tree_bytes = memory->used_bytes;
    phi_arena_free(&arena);
}

static void run_json(phi_memory *memory, phi_str text) {
    phi_arena arena;
    phi_json *root;
    phi_arena_init(&arena, memory, 0);
    if (phi_json_parse(&arena, text, 0, &root, NULL) != PHI_OK) broken("phi_json_parse");
    phi_arena_free(&arena);
}

#ifdef BENCH_LIBYAML
static void run_libyaml(phi_memory *memory, phi_str text) {
    yaml_parser_t parser;
    yaml_document_t document;
    (void)memory;
    if (!yaml_parser_initialize(&parser)) broken("yaml_parser_initialize");
    yaml_parser_set_input_string(&parser, (const unsigned char *)text.at, text.len);
    if (!yaml_parser_load(&parser, &document)) broken("yaml_parser_load");
    yaml_document_delete(&document);
    yaml_parser_delete(&parser);
}
#endif

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

int main(void) {
    phi_memory memory;
    phi_arena arena;
    phi_str text, json;
    double phi, tree;
    char *document;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    document = make_document(&text.len);
    text.at = document;
    phi = best_of(7, run_phi, &memory, text);
    printf("yaml_read_phi %.1f MB/s\n", (double)text.len / phi / 1e6);
    printf("yaml_read_phi_13mb %.1f ms\n", phi * 1e3);
    printf("yaml_tree_bytes %.2f bytes/byte\n", (double)tree_bytes / (double)text.len);
    if (phi_json_write(&arena, read_yaml(&arena, text), 0, &json) != PHI_OK)
        broken("phi_json_write");
    tree = best_of(7, run_json, &memory, json);
    printf("yaml_read_over_json_of_the_same %.2f times\n", phi / tree);
#ifdef BENCH_LIBYAML
    {
        double peer = best_of(3, run_libyaml, &memory, text);
        printf("yaml_read_libyaml %.1f MB/s\n", (double)text.len / peer / 1e6);
        printf("yaml_read_over_libyaml %.2f times\n", peer / phi);
    }
#endif
    phi_arena_free(&arena);
    free(document);
    return 0;
}
