/* test_dry_run.c - phi_preflight: what a provider would refuse, found by a host before anything is sent. */
#include "support/preflight.h"
#include "support/test.h"
#include "codecs/presets.h"
#include "model/model.h"

#include <string.h>

typedef struct bench {
    phi_memory memory;
    phi_arena arena;
    phi_model model;
    char words[200];
} bench;

static void begin(bench *b) {
    phi_allocator allocator = test_allocator();
    memset(b, 0, sizeof *b);
    phi_memory_init(&b->memory, &allocator, 0);
    phi_arena_init(&b->arena, &b->memory, 0);
    b->model = phi_model_anthropic("claude-sonnet-4-5", "key");
}

static phi_status look(bench *b, const phi_message *messages, size_t n, const phi_tool *tools,
                       size_t tool_count) {
    return preflight(&b->model, messages, n, tools, tool_count, &b->arena, b->words,
                     sizeof b->words);
}

static phi_message said(phi_role role, phi_content *block, const char *text) {
    phi_message message;
    memset(&message, 0, sizeof message);
    memset(block, 0, sizeof *block);
    block->kind = PHI_CONTENT_TEXT;
    block->text = phi_str_of(text);
    message.role = role;
    message.content = block;
    message.content_count = 1;
    return message;
}

static phi_message called(phi_content *block, const char *id) {
    phi_message message = said(PHI_ROLE_ASSISTANT, block, "");
    block->kind = PHI_CONTENT_TOOL_CALL;
    block->id = phi_str_of(id);
    block->name = phi_str_of("look");
    block->arguments = phi_str_of("{}");
    return message;
}

static phi_flow never(void *user_data, phi_call call, phi_str arguments) {
    (void)user_data;
    (void)call;
    (void)arguments;
    return PHI_DONE;
}

TEST(a_transcript_that_is_whole_is_taken) {
    bench b;
    phi_content blocks[4];
    phi_message list[4];
    phi_tool tool;
    begin(&b);
    memset(&tool, 0, sizeof tool);
    tool.name = "look";
    tool.description = "Looks";
    tool.start = never;
    list[0] = said(PHI_ROLE_USER, &blocks[0], "Look");
    list[1] = called(&blocks[1], "toolu_1");
    list[2] = said(PHI_ROLE_TOOL_RESULT, &blocks[2], "a well");
    list[2].tool_call_id = phi_str_of("toolu_1");
    list[2].tool_name = phi_str_of("look");
    list[3] = said(PHI_ROLE_USER, &blocks[3], "And?");
    CHECK_EQ_INT(look(&b, list, 4, &tool, 1), PHI_OK);
    CHECK_EQ_STR(b.words, "");
    phi_arena_free(&b.arena);
}

TEST(a_call_without_its_result_is_named_with_its_place) {
    bench b;
    phi_content blocks[3];
    phi_message list[3];
    begin(&b);
    list[0] = said(PHI_ROLE_USER, &blocks[0], "Look");
    list[1] = called(&blocks[1], "toolu_1");
    list[2] = said(PHI_ROLE_USER, &blocks[2], "And?");
    CHECK_EQ_INT(look(&b, list, 3, NULL, 0), PHI_BAD_ARG);
    CHECK_EQ_STR(b.words, "messages[1]: tool call \"toolu_1\" has no result");
    phi_arena_free(&b.arena);
}

TEST(a_tool_whose_schema_is_no_object_is_named) {
    bench b;
    phi_content block;
    phi_message one;
    phi_tool tool;
    begin(&b);
    memset(&tool, 0, sizeof tool);
    tool.name = "look";
    tool.start = never;
    tool.schema = "{\"type\":\"string\"}";
    one = said(PHI_ROLE_USER, &block, "Look");
    CHECK_EQ_INT(look(&b, &one, 1, &tool, 1), PHI_BAD_ARG);
    CHECK(strstr(b.words, "look") != NULL);
    phi_arena_free(&b.arena);
}

TEST(what_is_missing_or_unknown_is_said_and_nothing_is_kept) {
    bench b;
    phi_content block;
    phi_message one;
    size_t used;
    begin(&b);
    one = said(PHI_ROLE_USER, &block, "Look");
    used = b.memory.used_bytes;
    CHECK_EQ_INT(look(&b, NULL, 0, NULL, 0), PHI_BAD_ARG);
    CHECK_EQ_STR(b.words, "messages: there is none to send");
    CHECK_EQ_INT(look(&b, NULL, 2, NULL, 0), PHI_BAD_ARG);
    CHECK_EQ_INT(look(&b, &one, 1, NULL, 3), PHI_BAD_ARG);
    one.content = NULL;
    CHECK_EQ_INT(look(&b, &one, 1, NULL, 0), PHI_BAD_ARG);
    CHECK_EQ_STR(b.words, "messages[0]: content is missing");
    b.model.protocol = "smoke_signals";
    CHECK_EQ_INT(look(&b, &one, 0, NULL, 0), PHI_UNSUPPORTED);
    CHECK_EQ_STR(b.words, "No provider registered for protocol: smoke_signals");
    b.model.protocol = NULL;
    CHECK_EQ_INT(look(&b, &one, 0, NULL, 0), PHI_BAD_ARG);
    CHECK_EQ_INT(b.memory.used_bytes, used);
    phi_arena_free(&b.arena);
}

TEST(without_memory_it_says_so) {
    bench b;
    phi_content block;
    phi_message one;
    begin(&b);
    one = said(PHI_ROLE_USER, &block, "Look");
    test_alloc_fail_at(0);
    CHECK_EQ_INT(look(&b, &one, 1, NULL, 0), PHI_NO_MEMORY);
    test_alloc_fail_at(-1);
    CHECK_EQ_INT(look(&b, &one, 1, NULL, 0), PHI_OK);
    phi_arena_free(&b.arena);
}

TEST_MAIN(TEST_ENTRY(a_transcript_that_is_whole_is_taken),
          TEST_ENTRY(a_call_without_its_result_is_named_with_its_place),
          TEST_ENTRY(a_tool_whose_schema_is_no_object_is_named),
          TEST_ENTRY(what_is_missing_or_unknown_is_said_and_nothing_is_kept),
          TEST_ENTRY(without_memory_it_says_so))
