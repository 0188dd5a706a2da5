/* test_journal.c - a thread in a store: what is appended gets there, and comes back. */
#include "support/store_mem.h"
#include "persist/journal_in.h"
#include "log/random_log.h"

static phi_memory memory;
static phi_thread thread, again;
static phi_arena arena;
static store_mem *store;
static phi__grown grown;

static void setup(void) {
    phi_allocator a = test_allocator();
    phi_memory_init(&memory, &a, 0);
    phi__thread_init(&thread, &memory, NULL);
    phi__thread_init(&again, &memory, NULL);
    memset(&grown, 0, sizeof grown);
    thread.log.grown = again.log.grown = &grown;
    phi_arena_init(&arena, &memory, 0);
    store = store_mem_new();
}

static void teardown(void) {
    phi__journal_free_thread(&thread);
    phi__journal_free_thread(&again);
    phi_arena_free(&arena);
    store_mem_free(store);
    CHECK(grown.of[PHI__DIRTY_GREW].first == NULL);
    CHECK_EQ_INT(memory.used_bytes, 0);
}

static phi_thread *of(phi_thread *log) { return log; }

static bool say(phi_thread *log, const char *text) {
    phi_content c = PHI_ZERO;
    phi_message m = PHI_ZERO;
    c.kind = PHI_CONTENT_TEXT;
    c.text = phi_str_of(text);
    m.role = PHI_ROLE_USER;
    m.content = &c;
    m.content_count = 1;
    return phi_thread_append(of(log), &m, 1, NULL) == PHI_OK;
}

static phi_status attach(phi_thread *log, const char *id, char words[200]) {
    return phi_thread_attach(of(log), store_mem_store(store), id, NULL, words, 200);
}

/* Without the header. */
static phi_str text_of(phi_thread *log) {
    phi_str text = {"", 0};
    CHECK_EQ_INT(phi_thread_to_json(of(log), &arena, &text), PHI_OK);
    return phi_str_of(strchr(text.at, '\n') + 1);
}

/* What the store has. */
static bool stored_is(phi_thread *log, const char *id) {
    return strcmp(text_of(log).at, store_mem_text(store, id)) == 0;
}

TEST(what_a_thread_has_is_written_when_it_is_attached) {
    char words[200];
    setup();
    CHECK(say(&thread, "one") && say(&thread, "two"));
    CHECK_EQ_INT(phi_thread_get_info(of(&thread)).stored, 0);
    CHECK_EQ_INT(attach(&thread, "t", words), PHI_OK);
    CHECK_EQ_STR(words, "");
    CHECK_EQ_INT(phi_thread_get_info(of(&thread)).stored, 2);
    CHECK(stored_is(&thread, "t"));
    CHECK(store_mem_locked(store, "t"));
    teardown();
}

TEST(what_is_appended_is_written_by_a_sync) {
    char words[200];
    setup();
    CHECK_EQ_INT(attach(&thread, "t", words), PHI_OK);
    CHECK_EQ_INT(store_mem_count(store, "t"), 0);
    CHECK(say(&thread, "one"));
    CHECK(grown.of[PHI__DIRTY_GREW].first == &thread.journal->dirty.links[PHI__DIRTY_GREW]);
    CHECK(say(&thread, "two"));
    CHECK_EQ_INT(store_mem_count(store, "t"), 0);
    CHECK_EQ_INT(phi_thread_sync(of(&thread), words, sizeof words), PHI_OK);
    CHECK_EQ_INT(store_mem_count(store, "t"), 2);
    CHECK_EQ_INT(phi_thread_sync(of(&thread), words, sizeof words), PHI_OK);
    CHECK_EQ_INT(store_mem_appends(store, NULL, NULL), 1); /* there was nothing more to do */
    teardown();
}

TEST(a_thread_comes_back_with_all_it_had) {
    uint32_t seed;
    char words[200];
    for (seed = 1; seed <= 50; seed++) {
        random_log g;
        setup();
        memset(&g, 0, sizeof g);
        g.thread = &thread;
        g.state = seed;
        CHECK_EQ_INT(attach(&thread, "t", words), PHI_OK);
        while (thread.log.count < 30) {
            CHECK(log_grow(&g, 1 + seed % 5));
            CHECK_EQ_INT(phi_thread_sync(of(&thread), words, sizeof words), PHI_OK);
        }
        CHECK(stored_is(&thread, "t"));
        CHECK_EQ_INT(phi_thread_attach(of(&thread), NULL, NULL, NULL, NULL, 0), PHI_OK);
        CHECK_EQ_INT(attach(&again, "t", words), PHI_OK);
        CHECK_EQ_INT(phi_thread_get_info(of(&again)).stored, thread.log.count);
        if (!CHECK(phi_str_equal(text_of(&thread), text_of(&again)))) seed = 1000;
        teardown();
    }
}

TEST(a_thread_is_attached_once_and_locked_meanwhile) {
    char words[200];
    setup();
    CHECK_EQ_INT(attach(&thread, "t", words), PHI_OK);
    CHECK_EQ_INT(attach(&thread, "u", words), PHI_MISUSE);
    CHECK_EQ_STR(words, "the thread is attached already");
    CHECK_EQ_INT(attach(&again, "t", words), PHI_BUSY);
    CHECK_EQ_STR(words, "locked");
    CHECK(store_mem_locked(store, "t")); /* by the one that has it */
    CHECK_EQ_INT(phi_thread_attach(of(&thread), NULL, NULL, NULL, NULL, 0), PHI_OK);
    CHECK_EQ_INT(phi_thread_attach(of(&thread), NULL, NULL, NULL, NULL, 0), PHI_OK);
    CHECK(!store_mem_locked(store, "t"));
    CHECK_EQ_INT(attach(&again, "t", words), PHI_OK);
    teardown();
}

TEST(a_thread_and_a_store_that_both_have_entries_do_not_meet) {
    char words[200];
    setup();
    CHECK(say(&thread, "one"));
    CHECK_EQ_INT(attach(&thread, "t", words), PHI_OK);
    CHECK_EQ_INT(phi_thread_attach(of(&thread), NULL, NULL, NULL, NULL, 0), PHI_OK);
    CHECK(say(&again, "other"));
    CHECK_EQ_INT(attach(&again, "t", words), PHI_MISUSE);
    CHECK_EQ_STR(words, "the thread and the store both have entries");
    CHECK_EQ_INT(again.log.count, 1);
    CHECK(!store_mem_locked(store, "t"));
    teardown();
}

TEST(what_is_no_store_or_no_id_is_refused) {
    static const char *const bad[] = {"", ".hidden", "a/b", "a b", "\xc3\xa9", NULL};
    char words[200], longest[130];
    phi_store half;
    size_t i;
    setup();
    for (i = 0; i < PHI__COUNT(bad); i++) {
        CHECK_EQ_INT(attach(&thread, bad[i], words), PHI_BAD_ARG);
        CHECK_EQ_STR(words, "thread id: expected 1 to 128 of A-Z a-z 0-9 . _ -, no dot in front");
    }
    memset(longest, 'x', sizeof longest);
    longest[129] = '\0';
    CHECK_EQ_INT(attach(&thread, longest, words), PHI_BAD_ARG);
    longest[128] = '\0';
    CHECK_EQ_INT(attach(&thread, longest, words), PHI_OK);
    half = *store_mem_store(store);
    half.append = NULL;
    CHECK_EQ_INT(phi_thread_attach(of(&again), &half, "t", NULL, words, sizeof words), PHI_BAD_ARG);
    CHECK_EQ_STR(words, "store: append or read is missing");
    CHECK_EQ_INT(phi_thread_sync(of(&again), words, sizeof words), PHI_MISUSE);
    CHECK_EQ_STR(words, "the thread is in no store");
    teardown();
}

TEST(what_a_store_refuses_goes_with_the_next) {
    char words[200];
    setup();
    CHECK_EQ_INT(attach(&thread, "t", words), PHI_OK);
    CHECK(say(&thread, "one"));
    store_mem_room(store, 0);
    CHECK_EQ_INT(phi_thread_sync(of(&thread), words, sizeof words), PHI_FULL);
    CHECK_EQ_STR(words, "no space left");
    CHECK_EQ_INT(phi_thread_get_info(of(&thread)).stored, 0);
    CHECK(say(&thread, "two"));
    store_mem_room(store, SIZE_MAX);
    CHECK_EQ_INT(phi_thread_sync(of(&thread), words, sizeof words), PHI_OK);
    CHECK(stored_is(&thread, "t"));
    teardown();
}

TEST(a_store_that_fails_when_it_is_attached_leaves_all_as_it_was) {
    static const char *const when[] = {"lock", "read", "append", "none"};
    size_t i;
    char words[200];
    for (i = 0; i < PHI__COUNT(when); i++) {
        setup();
        CHECK(say(&thread, "one"));
        store_mem_fail_at(store, (int)i, PHI_IO);
        CHECK_EQ_INT(attach(&thread, "t", words), i < 3 ? PHI_IO : PHI_OK);
        CHECK_EQ_STR(words, i < 3 ? "the store failed on demand" : "");
        CHECK_EQ_INT(thread.log.count, 1);
        CHECK((thread.journal != NULL) == (i == 3));
        CHECK(store_mem_locked(store, "t") == (i == 3));
        teardown();
    }
}

TEST(batches_are_bounded_by_count_and_by_size) {
    static char large[300001];
    size_t entries = 0, bytes = 0, i;
    char words[200];
    setup();
    CHECK_EQ_INT(attach(&thread, "t", words), PHI_OK);
    for (i = 0; i < 600; i++) CHECK(say(&thread, "x"));
    CHECK_EQ_INT(phi_thread_sync(of(&thread), words, sizeof words), PHI_OK);
    CHECK_EQ_INT(store_mem_appends(store, &entries, NULL), 3);
    CHECK_EQ_INT(entries, 256);
    memset(large, 'x', sizeof large - 1);
    for (i = 0; i < 7; i++) CHECK(say(&thread, large));
    CHECK_EQ_INT(phi_thread_sync(of(&thread), words, sizeof words), PHI_OK);
    CHECK_EQ_INT(store_mem_appends(store, NULL, &bytes), 6);
    CHECK(bytes > 900000 && bytes <= 1048576 + 256);
    CHECK(stored_is(&thread, "t"));
    teardown();
}

TEST(a_torn_end_is_cut_off_and_told) {
    char words[200];
    uint64_t torn = 9;
    const char *text;
    char half[400];
    setup();
    CHECK(say(&thread, "one") && say(&thread, "two"));
    CHECK_EQ_INT(attach(&thread, "t", words), PHI_OK);
    text = store_mem_text(store, "t");
    (void)snprintf(half, sizeof half, "%.*s", (int)strlen(text) - 5, text);
    store_mem_set(store, "u", half, strlen(half));
    CHECK_EQ_INT(
        phi_thread_attach(of(&again), store_mem_store(store), "u", &torn, words, sizeof words),
        PHI_OK);
    CHECK_EQ_INT(again.log.count, 1);
    CHECK_EQ_INT(torn, strlen(half) - (size_t)(strchr(half, '\n') - half) - 1);
    CHECK(say(&again, "two again"));
    CHECK_EQ_INT(phi_thread_sync(of(&again), words, sizeof words), PHI_OK);
    CHECK(stored_is(&again, "u"));
    teardown();
}

TEST(cut_at_any_byte_a_valid_beginning_comes_back) {
    random_log g;
    char *text, words[200];
    size_t len, cut;
    setup();
    memset(&g, 0, sizeof g);
    g.thread = &thread;
    g.state = 21;
    CHECK_EQ_INT(attach(&thread, "t", words), PHI_OK);
    CHECK(log_grow(&g, 15));
    CHECK_EQ_INT(phi_thread_sync(of(&thread), words, sizeof words), PHI_OK);
    len = strlen(store_mem_text(store, "t"));
    text = (char *)malloc(len + 1);
    if (text == NULL) abort();
    memcpy(text, store_mem_text(store, "t"), len + 1);
    for (cut = 0; cut <= len; cut++) {
        store_mem_set(store, "u", text, cut);
        if (!CHECK_EQ_INT(attach(&again, "u", words), PHI_OK)) break;
        if (!CHECK(strncmp(text, store_mem_text(store, "u"), strlen(store_mem_text(store, "u"))) ==
                   0) ||
            !CHECK(stored_is(&again, "u")))
            break;
        phi__journal_free_thread(&again);
    }
    free(text);
    teardown();
}

TEST(damage_in_the_midst_names_the_entry_and_leaves_the_thread_empty) {
    static const char text[] =
        "{\"seq\":0,\"kind\":\"turn_start\"}\n{\"seq\":0,\"kind\":\"turn_end\"}\n";
    char words[200];
    setup();
    store_mem_set(store, "t", text, sizeof text - 1);
    CHECK_EQ_INT(attach(&thread, "t", words), PHI_PARSE);
    CHECK_EQ_STR(words, "entry 1: seq: expected 1");
    CHECK_EQ_INT(thread.log.count, 0);
    CHECK(!store_mem_locked(store, "t"));
    teardown();
}

TEST(freeing_a_thread_writes_the_rest_and_unlocks_it) {
    char words[200];
    setup();
    CHECK_EQ_INT(attach(&thread, "t", words), PHI_OK);
    CHECK(say(&thread, "last"));
    phi__journal_free_thread(&thread);
    CHECK_EQ_INT(store_mem_count(store, "t"), 1);
    CHECK(!store_mem_locked(store, "t"));
    CHECK(grown.of[PHI__DIRTY_GREW].first == NULL);
    teardown();
}

TEST(a_later_writer_is_not_written_over) {
    char words[200];
    phi_store lockless;
    setup();
    lockless = *store_mem_store(store);
    lockless.lock = NULL;
    lockless.unlock = NULL;
    CHECK_EQ_INT(phi_thread_attach(of(&thread), &lockless, "t", NULL, words, sizeof words), PHI_OK);
    CHECK_EQ_INT(phi_thread_attach(of(&again), &lockless, "t", NULL, words, sizeof words), PHI_OK);
    CHECK(say(&thread, "first") && say(&again, "second"));
    CHECK_EQ_INT(phi_thread_sync(of(&thread), words, sizeof words), PHI_OK);
    CHECK_EQ_INT(phi_thread_sync(of(&again), words, sizeof words), PHI_STALE);
    CHECK_EQ_INT(store_mem_count(store, "t"), 1);
    CHECK(stored_is(&thread, "t"));
    teardown();
}

TEST(what_is_there_after_all_is_not_written_twice) {
    char words[200];
    setup();
    CHECK_EQ_INT(attach(&thread, "t", words), PHI_OK);
    CHECK(say(&thread, "one") && say(&thread, "two"));
    store_mem_lie(store);
    CHECK_EQ_INT(phi_thread_sync(of(&thread), words, sizeof words), PHI_IO);
    CHECK_EQ_STR(words, "the disk did not answer");
    CHECK(say(&thread, "three"));
    CHECK_EQ_INT(phi_thread_get_info(of(&thread)).stored, 0);
    CHECK_EQ_INT(phi_thread_sync(of(&thread), words, sizeof words), PHI_OK);
    CHECK(stored_is(&thread, "t"));
    store_mem_set(store, "t", "", 0); /* somebody has cut it */
    CHECK(say(&thread, "four"));
    CHECK_EQ_INT(phi_thread_sync(of(&thread), words, sizeof words), PHI_STALE);
    CHECK_EQ_INT(store_mem_count(store, "t"), 0);
    teardown();
}

TEST(without_memory_nothing_is_lost_and_nothing_half_read) {
    int n;
    phi_status status = PHI_NO_MEMORY;
    for (n = 0; n < 3000 && status != PHI_OK; n++) {
        random_log g;
        char words[200];
        setup();
        memset(&g, 0, sizeof g);
        g.thread = &thread;
        g.state = 5;
        CHECK(log_grow(&g, 20));
        test_alloc_fail_at(n);
        status = attach(&thread, "t", words);
        if (status == PHI_OK) status = phi_thread_attach(of(&thread), NULL, NULL, NULL, NULL, 0);
        if (status == PHI_OK) status = attach(&again, "t", words);
        CHECK_EQ_INT(status, test_alloc_tripped() ? PHI_NO_MEMORY : PHI_OK);
        test_alloc_fail_at(-1);
        if (status == PHI_OK) CHECK(phi_str_equal(text_of(&thread), text_of(&again)));
        if (status != PHI_OK) {
            CHECK(thread.journal == NULL && again.journal == NULL && again.log.count == 0);
            CHECK(!store_mem_locked(store, "t"));
            CHECK_EQ_STR(words, phi_status_text(PHI_NO_MEMORY));
        }
        teardown();
    }
    CHECK(n > 30 && n < 3000);
}

TEST_MAIN(TEST_ENTRY(what_a_thread_has_is_written_when_it_is_attached),
          TEST_ENTRY(what_is_appended_is_written_by_a_sync),
          TEST_ENTRY(a_thread_comes_back_with_all_it_had),
          TEST_ENTRY(a_thread_is_attached_once_and_locked_meanwhile),
          TEST_ENTRY(a_thread_and_a_store_that_both_have_entries_do_not_meet),
          TEST_ENTRY(what_is_no_store_or_no_id_is_refused),
          TEST_ENTRY(what_a_store_refuses_goes_with_the_next),
          TEST_ENTRY(a_store_that_fails_when_it_is_attached_leaves_all_as_it_was),
          TEST_ENTRY(batches_are_bounded_by_count_and_by_size),
          TEST_ENTRY(a_torn_end_is_cut_off_and_told),
          TEST_ENTRY(cut_at_any_byte_a_valid_beginning_comes_back),
          TEST_ENTRY(damage_in_the_midst_names_the_entry_and_leaves_the_thread_empty),
          TEST_ENTRY(freeing_a_thread_writes_the_rest_and_unlocks_it),
          TEST_ENTRY(a_later_writer_is_not_written_over),
          TEST_ENTRY(what_is_there_after_all_is_not_written_twice),
          TEST_ENTRY(without_memory_nothing_is_lost_and_nothing_half_read))
