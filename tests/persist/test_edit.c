/* test_edit.c - what it costs a host to append results one by one, counted in messages that are
   looked at. */
#include "support/test.h"

#include "log/thread_in.h"
#include "persist/persist_in.h"
#include "persist/journal_in.h"

static size_t looked;

#define PHI_ROLE_TOOL_RESULT (looked++, PHI_ROLE_TOOL_RESULT)
#include "persist/views.c"
#undef PHI_ROLE_TOOL_RESULT

enum { CALLS = 1000 };

static char ids[CALLS][16];
static phi_content calls[CALLS], said;

TEST(results_that_are_appended_one_by_one_do_not_look_at_those_before_them) {
    phi_allocator a = test_allocator();
    phi_message answer, result, question;
    phi_memory memory;
    phi_thread thread;
    size_t i;
    phi_memory_init(&memory, &a, 0);
    phi__thread_init(&thread, &memory, NULL);
    memset(&answer, 0, sizeof answer);
    said.kind = PHI_CONTENT_TEXT;
    said.text = PHI__LIT("done");
    for (i = 0; i < CALLS; i++) {
        (void)snprintf(ids[i], sizeof ids[i], "call_%u", (unsigned)i);
        calls[i].kind = PHI_CONTENT_TOOL_CALL;
        calls[i].id = phi_str_of(ids[i]);
        calls[i].name = PHI__LIT("look");
        calls[i].arguments = PHI__LIT("{}");
    }
    answer.role = PHI_ROLE_ASSISTANT;
    answer.stop_reason = PHI_STOP_REASON_TOOL_USE;
    answer.loop_id = PHI__LIT("a.b.1"); /* of a run, whose open calls are answered */
    answer.content = calls;
    answer.content_count = CALLS;
    memset(&result, 0, sizeof result);
    result.role = PHI_ROLE_TOOL_RESULT;
    result.tool_name = PHI__LIT("look");
    result.content = &said;
    result.content_count = 1;
    question = result;
    question.role = PHI_ROLE_USER;
    question.tool_name = phi__str("", 0);
    CHECK_EQ_INT(phi_thread_append(&thread, &answer, 1, NULL), PHI_OK);
    looked = 0;
    for (i = 0; i + 1 < CALLS; i++) {
        result.tool_call_id = calls[i].id;
        CHECK_EQ_INT(phi_thread_append(&thread, &result, 1, NULL), PHI_OK);
    }
    CHECK(looked <= CALLS);
    /* the last call has none, and gets one before the question */
    CHECK_EQ_INT(phi_thread_append(&thread, &question, 1, NULL), PHI_OK);
    REQUIRE(thread.fold.count == CALLS + 2);
    CHECK(thread.fold.items[CALLS].message->is_error);
    CHECK_STR(thread.fold.items[CALLS].message->tool_call_id, "call_999");
    phi__journal_free_thread(&thread);
    CHECK_EQ_INT(test_alloc_live_bytes(), 0);
}

TEST_MAIN(TEST_ENTRY(results_that_are_appended_one_by_one_do_not_look_at_those_before_them))
