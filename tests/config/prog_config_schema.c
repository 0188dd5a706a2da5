/* prog_config_schema.c - prints the JSON Schema of a configuration with all sections, for make schema. */
#include "sections/sections.h"
#include "text/text_in.h"

#include <stdio.h>

int main(void) {
    phi_memory memory;
    phi_arena arena;
    phi_json *tree;
    phi_str text;
    phi_status status;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    status = phi_config_schema(phi_config_sections(), &arena, &text);
    if (status == PHI_OK) status = phi_json_parse(&arena, text, 0, &tree, NULL);
    if (status == PHI_OK) status = phi_json_write(&arena, tree, PHI_JSON_PRETTY, &text);
    if (status == PHI_OK) printf("%.*s\n", (int)text.len, text.at);
    phi_arena_free(&arena);
    return status == PHI_OK ? 0 : 1;
}
