/* test_recall.c - what needs a log that has left memory reads it back first, and what does not leaves it away. */
#include "persist/persist_in.h"
#include "support/store_mem.h"

static phi_memory memory;
static phi_thread thread;
static phi_arena arena;
static store_mem *store;

static phi_content block;

static phi_message said(const char *text) {
    phi_message m = PHI_ZERO;
    memset(&block, 0, sizeof block);
    block.kind = PHI_CONTENT_TEXT;
    block.text = phi_str_of(text);
    m.role = PHI_ROLE_USER;
    m.content = &block;
    m.content_count = 1;
    return m;
}

static phi_rewrite summary(phi_span *span, phi_message *m, uint64_t from, uint64_t to) {
    phi_rewrite r = PHI_ZERO;
    *m = said("what was said before");
    memset(span, 0, sizeof *span);
    span->from = from;
    span->to = to;
    span->messages = m;
    span->message_count = 1;
    r.spans = span;
    r.span_count = 1;
    return r;
}

/* Forty messages in a store; the first thirty stand behind a summary, of the id "first", and have left memory. */
static void setup(void) {
    static char text[1500];
    phi_allocator a = test_allocator();
    phi_message m;
    phi_rewrite r;
    phi_span span;
    size_t i;
    phi_memory_init(&memory, &a, 0);
    phi__thread_init(&thread, &memory, NULL);
    phi_arena_init(&arena, &memory, 0);
    store = store_mem_new();
    memset(text, 'x', sizeof text - 1);
    CHECK_EQ_INT(phi_thread_attach(&thread, store_mem_store(store), "t", NULL, NULL, 0), PHI_OK);
    m = said(text);
    for (i = 0; i < 40; i++) CHECK_EQ_INT(phi_thread_append(&thread, &m, 1, NULL), PHI_OK);
    r = summary(&span, &m, 0, 29);
    r.op_id = "first";
    CHECK_EQ_INT(phi_thread_rewrite(&thread, &r, NULL, NULL, 0), PHI_OK);
    CHECK_EQ_INT(phi_thread_sync(&thread, NULL, 0), PHI_OK);
    if (CHECK(phi__evict_begin(&thread))) phi__evict_end(&thread);
    CHECK(!phi__thread_whole(&thread));
}

static void teardown(void) {
    phi_arena_free(&arena);
    phi__journal_free_thread(&thread);
    CHECK_EQ_INT(memory.used_bytes, 0);
    store_mem_free(store);
}

TEST(what_the_active_lane_shows_needs_nothing_that_is_away) {
    const phi_view_item *items;
    phi_message m;
    phi_rewrite r;
    phi_span span;
    size_t count;
    setup();
    CHECK_EQ_INT(phi_thread_view(&thread, NULL, UINT64_MAX, &arena, &items, &count), PHI_OK);
    CHECK_EQ_INT(count, 11);
    r = summary(&span, &m, 30, 33);
    CHECK(!phi__rewrite_needs(&thread, &r));
    CHECK_EQ_INT(phi_thread_rewrite(&thread, &r, NULL, NULL, 0), PHI_OK);
    CHECK_EQ_INT(phi_thread_fork_lane(&thread, "fork", NULL, UINT64_MAX), PHI_OK);
    CHECK(!phi__thread_whole(&thread));
    teardown();
}

TEST(an_earlier_view_a_revocation_and_another_lane_read_the_log_back) {
    const phi_view_item *items;
    phi_rewrite r = PHI_ZERO;
    size_t count;
    setup();
    CHECK_EQ_INT(phi_thread_view(&thread, NULL, 9, &arena, &items, &count), PHI_OK);
    CHECK_EQ_INT(count, 10);
    CHECK(phi__thread_whole(&thread));
    teardown();
    setup();
    r.revoke = "first";
    CHECK(phi__rewrite_needs(&thread, &r));
    CHECK_EQ_INT(phi_thread_rewrite(&thread, &r, NULL, NULL, 0), PHI_OK);
    CHECK_EQ_INT(thread.fold.count, 40);
    teardown();
    setup();
    CHECK_EQ_INT(phi_thread_fork_lane(&thread, "fork", NULL, UINT64_MAX), PHI_OK);
    CHECK_EQ_INT(phi_thread_switch(&thread, "fork"), PHI_OK);
    CHECK(phi__thread_whole(&thread));
    CHECK_EQ_INT(thread.fold.count, 11);
    teardown();
}

TEST(a_rewrite_that_switches_reads_the_log_back_where_the_lane_is_another) {
    phi_message m;
    phi_rewrite r;
    phi_span span;
    setup();
    r = summary(&span, &m, 30, 33);
    r.switch_to = PHI_LANE_DEFAULT; /* which is active */
    CHECK_EQ_INT(phi_thread_rewrite(&thread, &r, NULL, NULL, 0), PHI_OK);
    CHECK_EQ_INT(thread.fold.count, 8);
    CHECK(!phi__thread_whole(&thread));
    CHECK_EQ_INT(phi_thread_fork_lane(&thread, "fork", NULL, UINT64_MAX), PHI_OK);
    r = summary(&span, &m, 34, 36);
    r.switch_to = "fork";
    CHECK_EQ_INT(phi_thread_rewrite(&thread, &r, NULL, NULL, 0), PHI_OK);
    CHECK_STR(phi_thread_get_info(&thread).lane, "fork");
    CHECK_EQ_INT(thread.fold.count, 8); /* what was shown where it was forked */
    CHECK(phi__thread_whole(&thread));
    teardown();
}

TEST(where_the_store_fails_nothing_changed) {
    phi_rewrite r = PHI_ZERO;
    uint64_t count;
    setup();
    count = phi_thread_count(&thread);
    r.revoke = "first";
    store_mem_fail_at(store, 0, PHI_IO);
    CHECK_EQ_INT(phi_thread_rewrite(&thread, &r, NULL, NULL, 0), PHI_IO);
    CHECK_EQ_INT(phi_thread_count(&thread), count);
    CHECK_EQ_INT(thread.fold.count, 11);
    CHECK_EQ_INT(phi_thread_rewrite(&thread, &r, NULL, NULL, 0), PHI_OK);
    teardown();
}

/* A run that was not known to keep nothing has no copy of what was shown before it. */
TEST(an_end_that_rolls_back_what_has_no_copy_reads_the_log_back) {
    phi__entry start, end;
    phi_message m;
    phi_rewrite r;
    phi_span span;
    setup();
    memset(&start, 0, sizeof start);
    memset(&end, 0, sizeof end);
    start.kind = PHI_ENTRY_LOOP_START;
    end.kind = PHI_ENTRY_LOOP_END;
    start.loop_id = end.loop_id = phi_str_of("s.m.1");
    CHECK(phi__append(&thread, &start, 1));
    CHECK_EQ_INT(phi__recall_end(&thread, &end), PHI_OK);
    CHECK(!phi__thread_whole(&thread)); /* it keeps what was said */
    r = summary(&span, &m, 30, 38);
    CHECK_EQ_INT(phi_thread_rewrite(&thread, &r, NULL, NULL, 0), PHI_OK);
    CHECK_EQ_INT(thread.fold.count, 3);
    end.keep = PHI_KEEP_NONE;
    CHECK(phi__runs_end_folds(&thread, &end));
    CHECK_EQ_INT(phi__recall_end(&thread, &end), PHI_OK);
    CHECK(phi__thread_whole(&thread));
    CHECK(phi__append(&thread, &end, 1));
    CHECK_EQ_INT(thread.fold.count, 11);
    teardown();
}

static phi_span nothing(uint64_t from, uint64_t to) {
    phi_span s = PHI_ZERO;
    s.from = from;
    s.to = to;
    return s;
}

/* It keeps nothing, and its rewrites have left memory before it ends: the second takes out what was
   said before it, too. The store does not have its end. */
TEST(a_run_that_was_rolled_back_is_read_back_as_that) {
    static char text[1500];
    const phi_view_item *items;
    phi__entry start, end;
    phi_message m;
    uint64_t ended;
    size_t count, i, round;
    setup();
    memset(text, 'y', sizeof text - 1);
    memset(&start, 0, sizeof start);
    memset(&end, 0, sizeof end);
    start.kind = PHI_ENTRY_LOOP_START;
    end.kind = PHI_ENTRY_LOOP_END;
    start.loop_id = end.loop_id = phi_str_of("s.m.1");
    end.keep = PHI_KEEP_NONE;
    thread.loops.keeps_none = true;
    CHECK(phi__append(&thread, &start, 1));
    for (round = 0; round < 3; round++) {
        uint64_t from = phi_thread_count(&thread);
        phi_span spans[2];
        phi_rewrite r = PHI_ZERO;
        m = said(text);
        for (i = 0; i < 40; i++) CHECK_EQ_INT(phi_thread_append(&thread, &m, 1, NULL), PHI_OK);
        spans[0] = nothing(30, 38);
        spans[1] = nothing(from, from + 39);
        r.spans = round == 1 ? spans : spans + 1;
        r.span_count = round == 1 ? 2 : 1;
        CHECK_EQ_INT(phi_thread_rewrite(&thread, &r, NULL, NULL, 0), PHI_OK);
        CHECK_EQ_INT(thread.fold.count, round == 0 ? 11 : 2);
    }
    CHECK_EQ_INT(phi_thread_sync(&thread, NULL, 0), PHI_OK);
    if (CHECK(phi__evict_begin(&thread))) phi__evict_end(&thread);
    ended = phi_thread_count(&thread);
    CHECK(phi__append(&thread, &end, 1));
    CHECK_EQ_INT(thread.fold.count, 11);
    CHECK(!phi__thread_whole(&thread));
    CHECK_EQ_INT(phi_thread_view(&thread, NULL, ended - 1, &arena, &items, &count), PHI_OK);
    CHECK_EQ_INT(count, 2);
    m = said("again");
    CHECK_EQ_INT(phi_thread_append(&thread, &m, 1, NULL), PHI_OK);
    CHECK_EQ_INT(phi_thread_view(&thread, NULL, ended, &arena, &items, &count), PHI_OK);
    CHECK_EQ_INT(count, 11);
    teardown();
}

TEST_MAIN(TEST_ENTRY(what_the_active_lane_shows_needs_nothing_that_is_away),
          TEST_ENTRY(an_earlier_view_a_revocation_and_another_lane_read_the_log_back),
          TEST_ENTRY(a_rewrite_that_switches_reads_the_log_back_where_the_lane_is_another),
          TEST_ENTRY(where_the_store_fails_nothing_changed),
          TEST_ENTRY(an_end_that_rolls_back_what_has_no_copy_reads_the_log_back),
          TEST_ENTRY(a_run_that_was_rolled_back_is_read_back_as_that))
