/* test_registry.c - the set of built-in tools, and the registry of tools by name. */
#include "support/context_tools.h"
#include "support/test.h"
#include "text/json.h"
#include "tools/tools_in.h"

static phi_flow nothing(void *user_data, phi_call call, phi_str arguments) {
    (void)user_data;
    (void)call;
    (void)arguments;
    return PHI_DONE;
}

static phi_tool plain_tool(const char *name) {
    phi_tool tool;
    memset(&tool, 0, sizeof tool);
    tool.name = name;
    tool.start = nothing;
    return tool;
}

TEST(the_six_tools_have_names_labels_and_schemas_that_are_json) {
    static const char *const names[] = {"bash",      "read_file",  "write_file",
                                        "edit_file", "list_files", "search"};
    static const char *const labels[] = {"Execute Command", "Read File",  "Write File",
                                         "Edit File",       "List Files", "Search Files"};
    static const char *const required[] = {"[\"command\"]",
                                           "[\"path\"]",
                                           "[\"path\",\"content\"]",
                                           "[\"path\",\"old_text\",\"new_text\"]",
                                           "null",
                                           "[\"pattern\"]"};
    phi_toolset set;
    phi_memory memory;
    phi_arena arena;
    size_t i;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(phi_tools_init(&set, NULL), PHI_OK);
    REQUIRE(CHECK_EQ_INT(set.count, 6));
    for (i = 0; i < 6; i++) {
        phi_json *schema = NULL;
        phi_str text;
        CHECK_EQ_STR(set.tools[i].name, names[i]);
        CHECK_EQ_STR(set.tools[i].label, labels[i]);
        CHECK(set.tools[i].description != NULL && set.tools[i].description[0] != '\0');
        CHECK(set.tools[i].checks_arguments);
        CHECK_EQ_INT(phi_json_parse(&arena, phi_str_of(set.tools[i].schema), 0, &schema, NULL),
                     PHI_OK);
        CHECK_STR(phi_json_str(phi_json_get(schema, "type"), NULL), "object");
        CHECK_EQ_INT(phi_json_write(&arena, phi_json_get(schema, "required"), 0, &text), PHI_OK);
        CHECK_STR(text, required[i]);
    }
    CHECK(set.tools[2].not_concurrent && set.tools[3].not_concurrent);
    CHECK(!set.tools[0].not_concurrent && !set.tools[1].not_concurrent);
    phi_arena_free(&arena);
}

TEST(defaults_are_what_the_book_says) {
    phi_toolset set;
    CHECK_EQ_INT(phi_tools_init(&set, NULL), PHI_OK);
    CHECK_EQ_INT(set.desc.bash_timeout_ms, 120000);
    CHECK_EQ_INT(set.desc.list_timeout_ms, 10000);
    CHECK_EQ_INT(set.desc.search_timeout_ms, 30000);
    CHECK_EQ_INT(set.desc.max_output_bytes, 262144);
    CHECK_EQ_INT(set.desc.max_bash_result_bytes, 32768);
    CHECK_EQ_INT(set.tools[0].max_result_bytes, 32768);
    CHECK_EQ_INT(set.tools[1].max_result_bytes, 0);
    CHECK_EQ_INT(set.desc.max_read_bytes, 1048576);
    CHECK_EQ_INT(set.desc.max_files, 200);
    CHECK_EQ_INT(set.desc.max_matches, 50);
    CHECK_EQ_STR(set.desc.deny_patterns[0], "rm -rf /");
    CHECK_EQ_STR(set.desc.deny_patterns[1], "rm -rf /*");
    CHECK_EQ_STR(set.desc.deny_patterns[2], "mkfs");
    CHECK_EQ_STR(set.desc.deny_patterns[3], "dd if=");
    CHECK_EQ_STR(set.desc.deny_patterns[4], ":(){:|:&};:");
    CHECK(set.desc.deny_patterns[5] == NULL);
    CHECK_EQ_INT(phi_tools_init(NULL, NULL), PHI_BAD_ARG);
}

TEST(a_workspace_that_is_no_directory_is_not_found) {
    phi_toolset set;
    phi_tools_desc desc = PHI_ZERO;
    desc.workspace = "tests/no such directory";
    CHECK_EQ_INT(phi_tools_init(&set, &desc), PHI_NOT_FOUND);
    CHECK_EQ_INT(set.count, 6); /* which work when the directory is there */
    desc.workspace = "tests/tools/test_registry.c";
    CHECK_EQ_INT(phi_tools_init(&set, &desc), PHI_NOT_FOUND);
    desc.workspace = "tests";
    CHECK_EQ_INT(phi_tools_init(&set, &desc), PHI_OK);
}

TEST(a_registry_holds_the_six_and_what_is_added) {
    phi_allocator allocator = test_allocator();
    phi__registry *registry = phi__reg_with_defaults(&allocator, NULL);
    phi_tool mine = plain_tool("mine"), other = plain_tool("bash");
    REQUIRE(registry != NULL);
    CHECK_EQ_INT(phi__reg_count(registry), 6);
    CHECK(phi__reg_named(registry, "search") != NULL);
    CHECK(phi__reg_named(registry, "mine") == NULL);
    CHECK_EQ_INT(phi__reg_add(registry, &mine), PHI_OK);
    CHECK(phi__reg_named(registry, "mine") != NULL);
    CHECK_EQ_STR(phi__reg_at(registry, 6)->name, "mine");
    CHECK(phi__reg_at(registry, 7) == NULL);
    CHECK_EQ_INT(phi__reg_add(registry, &other), PHI_OK); /* replaces */
    CHECK_EQ_INT(phi__reg_count(registry), 7);
    CHECK(phi__reg_at(registry, 0)->start == nothing);
    phi__reg_free(registry);
}

TEST(names_are_resolved_in_order_and_unknown_ones_reported) {
    static const char *const names[] = {"search", "prune", "bash", "search", "nope"};
    phi_allocator allocator = test_allocator();
    phi__registry *registry = phi__reg_with_defaults(&allocator, NULL);
    phi_tool out[6];
    const char *unknown[5];
    size_t missing = 9;
    REQUIRE(registry != NULL);
    REQUIRE(CHECK_EQ_INT(phi__reg_resolve(registry, names, 5, out, unknown, &missing), 2));
    CHECK_EQ_STR(out[0].name, "search");
    CHECK_EQ_STR(out[1].name, "bash");
    REQUIRE(CHECK_EQ_INT(missing, 2));
    CHECK_EQ_STR(unknown[0], "prune");
    CHECK_EQ_STR(unknown[1], "nope");
    CHECK_EQ_INT(phi__reg_resolve(registry, names, 5, out, NULL, NULL), 2);
    phi__reg_free(registry);
}

TEST(prun_brings_both_of_its_tools_and_is_had_by_name_only) {
    static const char *const names[] = {"prun"}, *const all[] = {"prun_with_memo", "prun",
                                                                 "revert_to_state"};
    phi_allocator allocator = test_allocator();
    phi__registry *registry = phi__reg_with_defaults(&allocator, NULL), *empty;
    phi_tool out[4], mine = plain_tool("prun");
    size_t missing = 9;
    REQUIRE(registry != NULL);
    CHECK_EQ_INT(phi__reg_count(registry), 6);
    CHECK(phi__reg_named(registry, "prun") != NULL);
    CHECK(phi__reg_named(registry, "revert_to_state") != NULL);
    REQUIRE(CHECK_EQ_INT(phi__reg_resolve(registry, names, 1, out, NULL, &missing), 2));
    CHECK_EQ_INT(missing, 0);
    CHECK_EQ_STR(out[0].name, "prun");
    CHECK_EQ_STR(out[1].name, "prun_with_memo");
    REQUIRE(CHECK_EQ_INT(phi__reg_resolve(registry, all, 3, out, NULL, NULL), 3));
    CHECK_EQ_STR(out[0].name, "prun_with_memo");
    CHECK_EQ_STR(out[1].name, "prun");
    CHECK_EQ_STR(out[2].name, "revert_to_state");
    CHECK(out[2].names_steps && !out[0].names_steps && !out[1].names_steps);
    CHECK_EQ_INT(phi__reg_add(registry, &mine), PHI_OK); /* the host's own comes first */
    REQUIRE(CHECK_EQ_INT(phi__reg_resolve(registry, names, 1, out, NULL, NULL), 2));
    CHECK(out[0].start == nothing);
    empty = phi__reg_new(&allocator);
    REQUIRE(empty != NULL);
    CHECK(phi__reg_named(empty, "prun") == NULL);
    CHECK_EQ_INT(phi__reg_resolve(empty, names, 1, out, NULL, &missing), 0);
    CHECK_EQ_INT(missing, 1);
    phi__reg_free(empty);
    phi__reg_free(registry);
}

TEST(tools_about_the_context_have_labels_and_schemas) {
    static const char *const labels[] = {"Prun", "Prun with Memo", "Revert to State"};
    static const char *const required[] = {"[\"tokens\"]", "[\"tokens\",\"memo\"]",
                                           "[\"category\",\"step\"]"};
    phi_tool tools[3];
    phi_memory memory;
    phi_arena arena;
    size_t i;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(tools_prun(tools), PHI_OK);
    CHECK_EQ_INT(tools_revert(tools + 2), PHI_OK);
    CHECK_EQ_INT(phi_tools_context(NULL), PHI_BAD_ARG);
    for (i = 0; i < 3; i++) {
        phi_json *schema = NULL;
        phi_str text;
        CHECK_EQ_STR(tools[i].label, labels[i]);
        CHECK(tools[i].description[0] != '\0');
        CHECK_EQ_INT(phi_json_parse(&arena, phi_str_of(tools[i].schema), 0, &schema, NULL), PHI_OK);
        CHECK_EQ_INT(phi_json_write(&arena, phi_json_get(schema, "required"), 0, &text), PHI_OK);
        CHECK_STR(text, required[i]);
    }
    phi_arena_free(&arena);
}

TEST(misuse_is_a_status) {
    phi_allocator allocator = test_allocator();
    phi__registry *registry = phi__reg_new(&allocator);
    phi_tool nameless = plain_tool(""), startless = plain_tool("x");
    startless.start = NULL;
    REQUIRE(registry != NULL);
    CHECK_EQ_INT(phi__reg_count(registry), 0);
    CHECK_EQ_INT(phi__reg_add(registry, &nameless), PHI_BAD_ARG);
    CHECK_EQ_INT(phi__reg_add(registry, &startless), PHI_BAD_ARG);
    CHECK_EQ_INT(phi__reg_add(registry, NULL), PHI_BAD_ARG);
    CHECK_EQ_INT(phi__reg_add(NULL, &nameless), PHI_BAD_ARG);
    CHECK(phi__reg_named(NULL, "x") == NULL);
    CHECK(phi__reg_named(registry, NULL) == NULL);
    phi__reg_free(registry);
    phi__reg_free(NULL);
}

TEST(a_registry_survives_every_failed_allocation) {
    phi_allocator allocator = test_allocator();
    int n = 0;
    do {
        phi__registry *registry;
        test_alloc_fail_at(n++);
        registry = phi__reg_with_defaults(&allocator, NULL);
        CHECK((registry == NULL) == test_alloc_tripped());
        phi__reg_free(registry);
        CHECK_EQ_INT(test_alloc_live_bytes(), 0);
    } while (test_alloc_tripped() && n < 50);
    test_alloc_fail_at(-1);
    CHECK(n > 1 && n < 50);
}

TEST_MAIN(TEST_ENTRY(the_six_tools_have_names_labels_and_schemas_that_are_json),
          TEST_ENTRY(defaults_are_what_the_book_says),
          TEST_ENTRY(a_workspace_that_is_no_directory_is_not_found),
          TEST_ENTRY(a_registry_holds_the_six_and_what_is_added),
          TEST_ENTRY(names_are_resolved_in_order_and_unknown_ones_reported),
          TEST_ENTRY(prun_brings_both_of_its_tools_and_is_had_by_name_only),
          TEST_ENTRY(tools_about_the_context_have_labels_and_schemas),
          TEST_ENTRY(misuse_is_a_status), TEST_ENTRY(a_registry_survives_every_failed_allocation))
