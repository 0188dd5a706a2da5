/* test_config_schema_file.c - docs/phi.schema.json is what make schema writes now. */
#include "sections/sections.h"
#include "support/test.h"
#include "text/json_in.h"

TEST(the_schema_in_docs_is_fresh) {
    phi_memory memory;
    phi_arena arena;
    phi_json *now = NULL, *kept = NULL;
    phi_str text;
    size_t len = 0;
    char *file = test_read_file("docs/phi.schema.json", &len);
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    if (file != NULL &&
        CHECK_EQ_INT(phi_config_schema(phi_config_sections(), &arena, &text), PHI_OK)) {
        CHECK_EQ_INT(phi_json_parse(&arena, text, 0, &now, NULL), PHI_OK);
        CHECK_EQ_INT(phi_json_parse(&arena, phi__str(file, len), 0, &kept, NULL), PHI_OK);
        if (!CHECK(phi__json_get_equal(now, kept)))
            printf("docs/phi.schema.json is stale: make schema\n");
    }
    free(file);
    phi_arena_free(&arena);
}

TEST_MAIN(TEST_ENTRY(the_schema_in_docs_is_fresh))
