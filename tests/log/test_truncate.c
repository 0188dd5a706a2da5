/* test_truncate.c - what it costs to find the marker of an earlier truncation, counted in rewrites
   that are looked at. */
#include "support/test.h"

#include "log/log_in.h"
#include "persist/persist_in.h"

static size_t looked;

#include "log/thread_in.h"
#define PHI_REWRITE_COMPACTION (looked++, PHI_REWRITE_COMPACTION)
#include "log/prune.c"
#undef PHI_REWRITE_COMPACTION

enum { MESSAGES = 1000 };

static phi_memory memory;
static phi_thread thread;
static phi_content said, cut;
static phi_message question, shorter;

static void setup(void) {
    phi_allocator a = test_allocator();
    phi_memory_init(&memory, &a, 0);
    phi__thread_init(&thread, &memory, NULL);
    memset(&question, 0, sizeof question);
    said.kind = cut.kind = PHI_CONTENT_TEXT;
    said.text = PHI__LIT("are we there yet, and where is there");
    cut.text = PHI__LIT("are we");
    question.role = PHI_ROLE_USER;
    question.content = &said;
    question.content_count = 1;
    shorter = question;
    shorter.content = &cut;
}

static void append(size_t messages) {
    size_t i;
    for (i = 0; i < messages; i++)
        CHECK_EQ_INT(phi_thread_append(&thread, &question, 1, NULL), PHI_OK);
}

/* One rewrite shortens each message. */
static void shorten(size_t messages) {
    phi_rewrite r;
    phi_span span;
    size_t i;
    memset(&r, 0, sizeof r);
    memset(&span, 0, sizeof span);
    r.reason = PHI_REWRITE_COMPACTION;
    r.spans = &span;
    r.span_count = 1;
    span.messages = &shorter;
    span.message_count = 1;
    for (i = 0; i < messages; i++) {
        span.from = span.to = i;
        CHECK_EQ_INT(phi_thread_rewrite(&thread, &r, NULL, NULL, 0), PHI_OK);
    }
}

static size_t truncate_to(uint64_t tokens) {
    size_t removed = 0;
    CHECK(phi__truncate(&thread, tokens, NULL, NULL, PHI__LIT("l"), 0, &removed));
    return removed;
}

static const char *marker(size_t at) { return thread.fold.items[at].message->content[0].text.at; }

TEST(a_truncation_looks_at_each_earlier_rewrite_once) {
    uint64_t tokens;
    setup();
    append(MESSAGES);
    shorten(MESSAGES);
    tokens = thread.fold.tokens;
    looked = 0;
    CHECK(truncate_to(tokens / 2) > 0);
    CHECK(looked <= MESSAGES + 1);
    CHECK(thread.fold.tokens <= tokens / 2);
    phi__journal_free_thread(&thread);
    CHECK_EQ_INT(test_alloc_live_bytes(), 0);
}

TEST(the_marker_of_the_last_truncation_is_found_among_later_rewrites) {
    size_t first, second, i, markers = 0;
    char words[96];
    setup();
    append(100);
    first = truncate_to(thread.fold.tokens / 2);
    append(100);
    second = truncate_to(thread.fold.tokens / 2);
    CHECK(first > 10 && second > 10);
    (void)snprintf(words, sizeof words,
                   "[Context compacted: %u messages removed to fit context window]",
                   (unsigned)(first + second));
    for (i = 0; i < thread.fold.count; i++)
        markers += strstr(marker(i), "[Context compacted") != NULL;
    CHECK_EQ_INT(markers, 1);
    CHECK_EQ_STR(marker(1), words);
    phi__journal_free_thread(&thread);
    CHECK_EQ_INT(test_alloc_live_bytes(), 0);
}

TEST_MAIN(TEST_ENTRY(a_truncation_looks_at_each_earlier_rewrite_once),
          TEST_ENTRY(the_marker_of_the_last_truncation_is_found_among_later_rewrites))
