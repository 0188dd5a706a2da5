/* test_compact_levels.c - what it costs to compact a list, counted in messages that are looked at. */
#include "support/test.h"

#include "log/thread_in.h"

static size_t looked;

#include "base/base_in.h"
#include "log/log_in.h"
#define PHI_ROLE_TOOL_RESULT (looked++, PHI_ROLE_TOOL_RESULT)
#include "log/compact.c"
#undef PHI_ROLE_TOOL_RESULT

enum { MESSAGES = 2000 };

TEST(a_row_of_questions_is_looked_at_a_few_times_only) {
    static const phi_message *list[MESSAGES];
    phi_allocator a = test_allocator();
    phi_compaction_config config;
    phi_memory memory;
    phi_arena arena;
    phi_content said;
    phi_message question;
    const phi_message *const *out = NULL;
    size_t i, count = 0;
    phi_memory_init(&memory, &a, 0);
    phi_arena_init(&arena, &memory, 0);
    memset(&said, 0, sizeof said);
    memset(&question, 0, sizeof question);
    memset(&config, 0, sizeof config);
    said.kind = PHI_CONTENT_TEXT;
    said.text = PHI__LIT("are we there yet");
    question.role = PHI_ROLE_USER;
    question.content = &said;
    question.content_count = 1;
    for (i = 0; i < MESSAGES; i++) list[i] = &question;
    config.max_context_tokens = 100;
    config.system_prompt_tokens = 1;
    config.keep_recent_messages = MESSAGES - 10;
    looked = 0;
    CHECK_EQ_INT(phi_compact_messages(list, MESSAGES, &config, NULL, &arena, &out, &count), PHI_OK);
    CHECK(looked <= 6 * MESSAGES);
    CHECK(count > 1 && count < 20);
    phi_arena_free(&arena);
    CHECK_EQ_INT(test_alloc_live_bytes(), 0);
}

TEST_MAIN(TEST_ENTRY(a_row_of_questions_is_looked_at_a_few_times_only))
