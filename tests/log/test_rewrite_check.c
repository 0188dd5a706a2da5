/* test_rewrite_check.c - what it costs to check a rewrite, counted in items that are looked at. */
#include "support/test.h"

#include "log/thread_in.h"
#include "persist/persist_in.h"

static size_t looked;

#define PHI_ROLE_EXTENSION (looked++, PHI_ROLE_EXTENSION)
#include "log/rewrite.c"
#undef PHI_ROLE_EXTENSION

enum { NOTES = 2000 };

static phi_content said;
static phi_message own, question;
static phi_span spans[NOTES];

TEST(spans_over_a_row_of_the_hosts_own_messages_look_at_each_twice) {
    phi_allocator a = test_allocator();
    phi_memory memory;
    phi_thread thread;
    phi_rewrite r;
    size_t i;
    phi_memory_init(&memory, &a, 0);
    phi__thread_init(&thread, &memory, NULL);
    memset(&own, 0, sizeof own);
    memset(&r, 0, sizeof r);
    memset(spans, 0, sizeof spans);
    said.kind = PHI_CONTENT_TEXT;
    said.text = PHI__LIT("a word of the host");
    own.content = &said;
    own.content_count = 1;
    question = own;
    question.role = PHI_ROLE_USER;
    own.role = PHI_ROLE_EXTENSION;
    own.extension_kind = PHI__LIT("mark");
    for (i = 0; i < NOTES; i++) {
        CHECK_EQ_INT(phi_thread_append(&thread, &own, 1, NULL), PHI_OK);
        spans[i].from = spans[i].to = i;
        spans[i].messages = &question;
        spans[i].message_count = 1;
    }
    r.reason = PHI_REWRITE_COMPACTION;
    r.spans = spans;
    r.span_count = NOTES;
    looked = 0;
    CHECK_EQ_INT(phi_thread_rewrite(&thread, &r, NULL, NULL, 0), PHI_OK);
    CHECK(looked <= 2 * NOTES);
    CHECK_EQ_INT(thread.fold.count, NOTES);
    phi__journal_free_thread(&thread);
    CHECK_EQ_INT(test_alloc_live_bytes(), 0);
}

TEST_MAIN(TEST_ENTRY(spans_over_a_row_of_the_hosts_own_messages_look_at_each_twice))
