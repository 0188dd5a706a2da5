/* conformance.h - what every phi_store does, as tests: included by the test of each store, which defines before

       STORE_SHARED        1: other processes can open the same store
       bool store_open(const char *directory, phi_store *out);    another handle on what lies in `directory`
       void store_close(phi_store *store);

   and puts CONFORMANCE_ENTRIES into its TEST_MAIN. */
#ifndef PHI_TESTS_STORES_CONFORMANCE_H
#define PHI_TESTS_STORES_CONFORMANCE_H

#include "base/base_in.h"
#include "support/test.h"
#include "persist/store.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static bool store_open(const char *directory, phi_store *out);
static void store_close(phi_store *store);

typedef struct store_rig {
    char dir[512];
    phi_store s;
    phi_memory memory;
    phi_arena arena;
    char words[256];
} store_rig;

static bool store_begin(store_rig *r) {
    phi_allocator allocator = test_allocator();
    memset(r, 0, sizeof *r);
    phi_memory_init(&r->memory, &allocator, 0);
    phi_arena_init(&r->arena, &r->memory, 0);
    return test_temp_dir(r->dir, sizeof r->dir) && store_open(r->dir, &r->s);
}

static void store_end(store_rig *r) {
    store_close(&r->s);
    phi_arena_free(&r->arena);
}

static void store_nap_ms(long ms) {
    struct timespec t;
    t.tv_sec = 0;
    t.tv_nsec = ms * 1000000;
    (void)nanosleep(&t, NULL);
}

#define W(r) (r)->words, sizeof(r)->words

static phi_status store_save(store_rig *r, const char *id, const char *agent, const char *text) {
    return r->s.save(r->s.user_data, id, agent, phi_str_of(text), W(r));
}

static phi_status store_add(store_rig *r, phi_store *s, const char *id, uint64_t expected,
                            const char *entry) {
    phi_str e = phi_str_of(entry);
    return s->append(s->user_data, id, expected, &e, 1, W(r));
}

/* What read gave: entries with a blank behind each, as far as there is room. */
typedef struct store_seen {
    uint64_t next, count;
    bool dense;
    char text[256];
    uint64_t stop_at;
    phi_status stop_with;
} store_seen;

static phi_status store_each(void *ctx, uint64_t seq, phi_str entry) {
    store_seen *seen = (store_seen *)ctx;
    size_t n = strlen(seen->text);
    if (seen->stop_with != PHI_OK && seq == seen->stop_at) return seen->stop_with;
    if (seq != seen->next) seen->dense = false;
    seen->next = seq + 1;
    seen->count++;
    if (n + entry.len + 2 <= sizeof seen->text) {
        memcpy(seen->text + n, entry.at, entry.len);
        memcpy(seen->text + n + entry.len, " ", 2);
    }
    return PHI_OK;
}

static phi_status store_read(store_rig *r, const char *id, uint64_t from, store_seen *seen) {
    uint64_t torn = 99;
    phi_status status;
    phi_status stop_with = seen->stop_with;
    uint64_t stop_at = seen->stop_at;
    memset(seen, 0, sizeof *seen);
    seen->next = from;
    seen->dense = true;
    seen->stop_with = stop_with;
    seen->stop_at = stop_at;
    status = r->s.read(r->s.user_data, id, from, store_each, seen, &torn, W(r));
    CHECK_EQ_INT(torn, 0);
    return status;
}

static void store_check_thread(store_rig *r, const char *id, const char *want) {
    store_seen seen = PHI_ZERO;
    CHECK_EQ_INT(store_read(r, id, 0, &seen), PHI_OK);
    CHECK_EQ_STR(seen.text, want);
    CHECK(seen.dense);
}

static void store_check_document(store_rig *r, const char *id, phi_str want) {
    phi_str got = {NULL, 0};
    CHECK_EQ_INT(r->s.load(r->s.user_data, id, &r->arena, &got, W(r)), PHI_OK);
    CHECK(got.len == want.len && (want.len == 0 || memcmp(got.at, want.at, want.len) == 0));
}

/* The ids of a list, with a blank behind each. */
static void store_check_ids(const phi_store_item *items, size_t count, const char *want) {
    char text[256] = "";
    size_t i, n = 0;
    for (i = 0; i < count && n + items[i].id.len + 2 < sizeof text; i++) {
        memcpy(text + n, items[i].id.at, items[i].id.len);
        n += items[i].id.len;
        text[n++] = ' ';
        text[n] = '\0';
    }
    CHECK_EQ_STR(text, want);
}

static void store_check_list(store_rig *r, const char *agent, const char *want) {
    const phi_store_item *items;
    size_t count = 99;
    CHECK_EQ_INT(r->s.list(r->s.user_data, agent, &r->arena, &items, &count, W(r)), PHI_OK);
    store_check_ids(items, count, want);
}

static void store_check_threads(store_rig *r, const char *want) {
    const phi_store_item *items;
    size_t count = 99;
    CHECK_EQ_INT(r->s.list_threads(r->s.user_data, &r->arena, &items, &count, W(r)), PHI_OK);
    store_check_ids(items, count, want);
}

/* ---- documents ---- */

TEST(what_is_not_there_is_not_found) {
    store_rig r;
    store_seen seen = PHI_ZERO;
    phi_str out;
    REQUIRE(store_begin(&r));
    CHECK_EQ_INT(r.s.load(r.s.user_data, "a", &r.arena, &out, W(&r)), PHI_NOT_FOUND);
    CHECK_EQ_STR(r.words, "Session not found: a");
    r.words[0] = '\0';
    CHECK_EQ_INT(r.s.remove(r.s.user_data, "a", W(&r)), PHI_NOT_FOUND);
    CHECK_EQ_STR(r.words, "Session not found: a");
    CHECK_EQ_INT(store_read(&r, "a", 0, &seen), PHI_NOT_FOUND);
    CHECK_EQ_STR(r.words, "Thread not found: a");
    r.words[0] = '\0';
    CHECK_EQ_INT(r.s.remove_thread(r.s.user_data, "a", W(&r)), PHI_NOT_FOUND);
    CHECK_EQ_STR(r.words, "Thread not found: a");
    store_check_list(&r, NULL, "");
    store_check_list(&r, "smith", "");
    store_check_threads(&r, "");
    r.s.unlock(r.s.user_data, "a");
    store_end(&r);
}

TEST(a_document_comes_back_as_it_was_given) {
    static const char *const texts[] = {"",
                                        "{}",
                                        "{\"agent_id\":\"smith\",\"n\":1}",
                                        "{\"agent_id\":\"other\"}",
                                        "{\"phi_agent_id\":\"x\"}\n{}",
                                        "{\"phi_agent_id\":",
                                        "not JSON at all\n\n"};
    static const char *const agents[] = {"smith", "", NULL, "a \"quoted\"\nname"};
    store_rig r;
    size_t i, k;
    REQUIRE(store_begin(&r));
    for (i = 0; i < PHI__COUNT(texts); i++)
        for (k = 0; k < PHI__COUNT(agents); k++) {
            const phi_store_item *items;
            size_t count = 0;
            CHECK_EQ_INT(store_save(&r, "doc", agents[k], texts[i]), PHI_OK);
            store_check_document(&r, "doc", phi_str_of(texts[i]));
            CHECK_EQ_INT(r.s.list(r.s.user_data, NULL, &r.arena, &items, &count, W(&r)), PHI_OK);
            if (!CHECK_EQ_INT(count, 1)) continue;
            CHECK_STR(items[0].agent_id, agents[k] == NULL ? "" : agents[k]);
            CHECK_EQ_INT(items[0].bytes, strlen(texts[i]));
        }
    store_end(&r);
}

TEST(a_document_of_a_megabyte_and_of_any_bytes_comes_back) {
    store_rig r;
    size_t n = 1000000, i;
    char *bytes = (char *)malloc(n);
    uint32_t random = 7;
    REQUIRE(bytes != NULL);
    if (CHECK(store_begin(&r))) {
        for (i = 0; i < n; i++) bytes[i] = (char)test_random(&random);
        CHECK_EQ_INT(r.s.save(r.s.user_data, "big", "smith", phi__str(bytes, n), W(&r)), PHI_OK);
        store_check_document(&r, "big", phi__str(bytes, n));
        store_check_list(&r, "smith", "big ");
    }
    store_end(&r);
    free(bytes);
}

TEST(saving_again_replaces_all_of_it) {
    store_rig r;
    REQUIRE(store_begin(&r));
    CHECK_EQ_INT(store_save(&r, "a", "smith", "{\"long\":\"much longer than the next\"}"), PHI_OK);
    CHECK_EQ_INT(store_save(&r, "a", "miller", "{}"), PHI_OK);
    store_check_document(&r, "a", PHI__LIT("{}"));
    store_check_list(&r, "smith", "");
    store_check_list(&r, "miller", "a ");
    store_end(&r);
}

TEST(a_removed_document_is_gone_and_can_come_back) {
    store_rig r;
    REQUIRE(store_begin(&r));
    CHECK_EQ_INT(store_save(&r, "a", NULL, "1"), PHI_OK);
    CHECK_EQ_INT(store_save(&r, "b", NULL, "2"), PHI_OK);
    CHECK_EQ_INT(r.s.remove(r.s.user_data, "a", W(&r)), PHI_OK);
    CHECK_EQ_INT(r.s.remove(r.s.user_data, "a", W(&r)), PHI_NOT_FOUND);
    store_check_list(&r, NULL, "b ");
    CHECK_EQ_INT(store_save(&r, "a", NULL, "3"), PHI_OK);
    store_check_document(&r, "a", PHI__LIT("3"));
    store_end(&r);
}

TEST(lists_have_the_latest_change_first_and_one_agents_only) {
    const phi_store_item *items;
    size_t count;
    int64_t now = (int64_t)time(NULL) * 1000;
    store_rig r;
    REQUIRE(store_begin(&r));
    CHECK_EQ_INT(store_save(&r, "one", "smith", "{\"agent_id\":\"smith\"}"), PHI_OK);
    store_nap_ms(20);
    CHECK_EQ_INT(store_save(&r, "two", "miller", "{}"), PHI_OK);
    store_nap_ms(20);
    CHECK_EQ_INT(store_save(&r, "three", "smith", "{}"), PHI_OK);
    store_check_list(&r, NULL, "three two one ");
    store_check_list(&r, "smith", "three one ");
    store_check_list(&r, "", "");
    store_nap_ms(20);
    CHECK_EQ_INT(store_save(&r, "one", "smith", "{\"agent_id\":\"smith\",\"more\":1}"), PHI_OK);
    store_check_list(&r, "smith", "one three ");
    CHECK_EQ_INT(r.s.list(r.s.user_data, "miller", &r.arena, &items, &count, W(&r)), PHI_OK);
    if (CHECK_EQ_INT(count, 1)) {
        CHECK(items[0].changed_ms > now - 2000 && items[0].changed_ms < now + 60000);
        CHECK_EQ_INT(items[0].bytes, 2);
    }
    CHECK_EQ_INT(store_add(&r, &r.s, "t1", 0, "{}"), PHI_OK);
    store_nap_ms(20);
    CHECK_EQ_INT(store_add(&r, &r.s, "t2", 0, "{}"), PHI_OK);
    store_nap_ms(20);
    store_check_threads(&r, "t2 t1 ");
    CHECK_EQ_INT(store_add(&r, &r.s, "t1", 1, "{}"), PHI_OK);
    store_check_threads(&r, "t1 t2 ");
    store_check_list(&r, NULL, "one three two ");
    store_end(&r);
}

TEST(what_is_no_id_is_refused_by_every_function) {
    static const char *const bad[] = {
        "",
        ".",
        "..",
        ".hidden",
        "a/b",
        "../a",
        "a\\b",
        "a b",
        "a\n",
        "\xC3\xA9",
        "a:b",
        "a*",
        "123456789-123456789-123456789-123456789-123456789-123456789-"
        "123456789-123456789-123456789-123456789-123456789-123456789-123456789"};
    static const char *const good[] = {
        "a",
        "A.b_c-9",
        "-",
        "_",
        "a..b",
        "x.json",
        "x.jsonl",
        "x.jsonl.lock",
        "123456789-123456789-123456789-123456789-123456789-123456789-"
        "123456789-123456789-123456789-123456789-123456789-123456789-12345678"};
    store_rig r;
    size_t i;
    REQUIRE(store_begin(&r));
    for (i = 0; i <= PHI__COUNT(bad); i++) {
        const char *id = i < PHI__COUNT(bad) ? bad[i] : NULL;
        store_seen seen = PHI_ZERO;
        phi_str out;
        CHECK_EQ_INT(store_save(&r, id, "x", "{}"), PHI_BAD_ARG);
        CHECK(strstr(r.words, "is no id: 1 to 128 letters, digits, '.', '_' and '-'") != NULL);
        CHECK_EQ_INT(r.s.load(r.s.user_data, id, &r.arena, &out, W(&r)), PHI_BAD_ARG);
        CHECK_EQ_INT(r.s.remove(r.s.user_data, id, W(&r)), PHI_BAD_ARG);
        CHECK_EQ_INT(store_add(&r, &r.s, id, 0, "{}"), PHI_BAD_ARG);
        CHECK_EQ_INT(store_read(&r, id, 0, &seen), PHI_BAD_ARG);
        CHECK_EQ_INT(r.s.remove_thread(r.s.user_data, id, W(&r)), PHI_BAD_ARG);
        CHECK_EQ_INT(r.s.lock(r.s.user_data, id, W(&r)), PHI_BAD_ARG);
        r.s.unlock(r.s.user_data, id);
    }
    store_check_list(&r, NULL, "");
    store_check_threads(&r, "");
    for (i = 0; i < PHI__COUNT(good); i++) {
        CHECK_EQ_INT(store_save(&r, good[i], "x", good[i]), PHI_OK);
        CHECK_EQ_INT(store_add(&r, &r.s, good[i], 0, good[i]), PHI_OK);
        CHECK_EQ_INT(r.s.lock(r.s.user_data, good[i], W(&r)), PHI_OK);
    }
    for (i = 0; i < PHI__COUNT(good); i++) {
        char want[160];
        (void)snprintf(want, sizeof want, "%s ", good[i]);
        store_check_document(&r, good[i], phi_str_of(good[i]));
        store_check_thread(&r, good[i], want);
    }
    store_end(&r);
}

TEST(words_may_be_without_room) {
    store_rig r;
    char one[1] = {'x'};
    phi_str out;
    REQUIRE(store_begin(&r));
    CHECK_EQ_INT(r.s.load(r.s.user_data, "a", &r.arena, &out, NULL, 0), PHI_NOT_FOUND);
    CHECK_EQ_INT(r.s.load(r.s.user_data, "a", &r.arena, &out, one, 0), PHI_NOT_FOUND);
    CHECK(one[0] == 'x');
    CHECK_EQ_INT(r.s.load(r.s.user_data, "a", &r.arena, &out, one, 1), PHI_NOT_FOUND);
    CHECK(one[0] == '\0');
    CHECK_EQ_INT(r.s.remove_thread(r.s.user_data, "a", NULL, 0), PHI_NOT_FOUND);
    store_end(&r);
}

/* ---- threads ---- */

TEST(entries_come_back_in_order_and_from_any_on) {
    phi_str three[3];
    store_rig r;
    store_seen seen = PHI_ZERO;
    REQUIRE(store_begin(&r));
    three[0] = PHI__LIT("{\"a\":1}");
    three[1] = PHI__LIT("{\"b\":\"\xC3\xA9\"}");
    three[2] = PHI__LIT("[3]");
    CHECK_EQ_INT(store_add(&r, &r.s, "t", 0, "0"), PHI_OK);
    CHECK_EQ_INT(r.s.append(r.s.user_data, "t", 1, three, 3, W(&r)), PHI_OK);
    CHECK_EQ_INT(store_add(&r, &r.s, "t", 4, "\"}\""), PHI_OK);
    store_check_thread(&r, "t", "0 {\"a\":1} {\"b\":\"\xC3\xA9\"} [3] \"}\" ");
    CHECK_EQ_INT(store_read(&r, "t", 2, &seen), PHI_OK);
    CHECK_EQ_STR(seen.text, "{\"b\":\"\xC3\xA9\"} [3] \"}\" ");
    CHECK(seen.dense);
    CHECK_EQ_INT(store_read(&r, "t", 5, &seen), PHI_OK);
    CHECK_EQ_INT(seen.count, 0);
    CHECK_EQ_INT(store_read(&r, "t", UINT64_MAX, &seen), PHI_OK);
    CHECK_EQ_INT(seen.count, 0);
    store_end(&r);
}

TEST(a_reader_that_says_stop_is_obeyed_and_its_status_returned) {
    static const phi_status says[] = {PHI_CANCELLED, PHI_NOT_FOUND, PHI_PARSE};
    store_rig r;
    size_t i;
    REQUIRE(store_begin(&r));
    CHECK_EQ_INT(store_add(&r, &r.s, "t", 0, "0"), PHI_OK);
    CHECK_EQ_INT(store_add(&r, &r.s, "t", 1, "1"), PHI_OK);
    CHECK_EQ_INT(store_add(&r, &r.s, "t", 2, "2"), PHI_OK);
    for (i = 0; i < PHI__COUNT(says); i++) {
        store_seen seen = PHI_ZERO;
        seen.stop_with = says[i];
        seen.stop_at = 1;
        CHECK_EQ_INT(store_read(&r, "t", 0, &seen), says[i]);
        CHECK_EQ_STR(seen.text, "0 ");
    }
    CHECK_EQ_INT(store_add(&r, &r.s, "t", 3, "3"), PHI_OK);
    store_end(&r);
}

TEST(an_append_behind_another_number_of_entries_is_stale) {
    store_rig r;
    REQUIRE(store_begin(&r));
    CHECK_EQ_INT(store_add(&r, &r.s, "t", 1, "x"), PHI_STALE);
    CHECK_EQ_STR(r.words, "Thread t has 0 entries, not 1");
    CHECK_EQ_INT(store_add(&r, &r.s, "t", 0, "a"), PHI_OK);
    CHECK_EQ_STR(r.words, "");
    CHECK_EQ_INT(store_add(&r, &r.s, "t", 0, "x"), PHI_STALE);
    CHECK_EQ_STR(r.words, "Thread t has 1 entries, not 0");
    CHECK_EQ_INT(store_add(&r, &r.s, "t", 2, "x"), PHI_STALE);
    CHECK_EQ_INT(r.s.append(r.s.user_data, "t", 1, NULL, 0, W(&r)), PHI_OK);
    CHECK_EQ_INT(r.s.append(r.s.user_data, "t", 0, NULL, 0, W(&r)), PHI_STALE);
    CHECK_EQ_INT(r.s.append(r.s.user_data, "none", 0, NULL, 0, W(&r)), PHI_OK);
    store_check_threads(&r, "t ");
    store_check_thread(&r, "t", "a ");
    store_end(&r);
}

TEST(an_entry_that_is_no_line_is_refused_and_nothing_is_appended) {
    phi_str two[2];
    store_rig r;
    REQUIRE(store_begin(&r));
    two[0] = PHI__LIT("{}");
    two[1] = PHI__LIT("{\n}");
    CHECK_EQ_INT(r.s.append(r.s.user_data, "t", 0, two, 2, W(&r)), PHI_BAD_ARG);
    CHECK_EQ_STR(r.words, "Entry 1 of those to append is empty or has a line break");
    two[1] = PHI__LIT("");
    CHECK_EQ_INT(r.s.append(r.s.user_data, "t", 0, two, 2, W(&r)), PHI_BAD_ARG);
    store_check_threads(&r, "");
    store_end(&r);
}

TEST(large_entries_and_many_come_back) {
    size_t n = 3000000, i;
    char *bytes = (char *)malloc(n);
    phi_str entries[200];
    store_rig r;
    store_seen seen = PHI_ZERO;
    REQUIRE(bytes != NULL);
    memset(bytes, 'x', n);
    bytes[0] = bytes[n - 1] = '"';
    for (i = 0; i < 200; i++) entries[i] = phi__str(bytes, i % 5 == 0 ? 100000 : 20);
    if (CHECK(store_begin(&r))) {
        phi_str big = phi__str(bytes, n);
        CHECK_EQ_INT(r.s.append(r.s.user_data, "t", 0, &big, 1, W(&r)), PHI_OK);
        CHECK_EQ_INT(r.s.append(r.s.user_data, "t", 1, entries, 200, W(&r)), PHI_OK);
        CHECK_EQ_INT(r.s.append(r.s.user_data, "t", 201, &big, 1, W(&r)), PHI_OK);
        CHECK_EQ_INT(store_read(&r, "t", 0, &seen), PHI_OK);
        CHECK_EQ_INT(seen.count, 202);
        CHECK(seen.dense);
    }
    store_end(&r);
    free(bytes);
}

TEST(a_removed_thread_is_gone_and_can_begin_again) {
    store_rig r;
    REQUIRE(store_begin(&r));
    CHECK_EQ_INT(store_add(&r, &r.s, "t", 0, "a"), PHI_OK);
    CHECK_EQ_INT(r.s.remove_thread(r.s.user_data, "t", W(&r)), PHI_OK);
    CHECK_EQ_INT(r.s.remove_thread(r.s.user_data, "t", W(&r)), PHI_NOT_FOUND);
    CHECK_EQ_INT(r.s.lock(r.s.user_data, "t", W(&r)), PHI_OK);
    CHECK_EQ_INT(store_add(&r, &r.s, "t", 0, "b"), PHI_OK);
    CHECK_EQ_INT(store_add(&r, &r.s, "t", 1, "c"), PHI_OK);
    CHECK_EQ_INT(r.s.remove_thread(r.s.user_data, "t", W(&r)), PHI_OK);
    CHECK_EQ_INT(store_add(&r, &r.s, "t", 2, "x"), PHI_STALE);
    CHECK_EQ_INT(store_add(&r, &r.s, "t", 0, "d"), PHI_OK);
    store_check_thread(&r, "t", "d ");
    store_end(&r);
}

TEST(a_closed_store_leaves_everything_to_the_next) {
    store_rig r;
    REQUIRE(store_begin(&r));
    CHECK_EQ_INT(store_save(&r, "a", "smith", "{}"), PHI_OK);
    CHECK_EQ_INT(store_add(&r, &r.s, "t", 0, "0"), PHI_OK);
    CHECK_EQ_INT(r.s.lock(r.s.user_data, "t", W(&r)), PHI_OK);
    store_close(&r.s);
    store_close(&r.s);
    if (CHECK(store_open(r.dir, &r.s))) {
        store_check_list(&r, "smith", "a ");
        CHECK_EQ_INT(store_add(&r, &r.s, "t", 1, "1"), PHI_OK);
        store_check_thread(&r, "t", "0 1 ");
    }
    store_end(&r);
}

/* ---- locks ---- */

TEST(a_locked_thread_is_written_by_its_holder_only) {
    static const char locked[] = "Thread t is locked by another writer";
    phi_store other;
    store_rig r;
    REQUIRE(store_begin(&r));
    REQUIRE(CHECK(store_open(r.dir, &other)));
    CHECK_EQ_INT(r.s.lock(r.s.user_data, "t", W(&r)), PHI_OK);
    CHECK_EQ_INT(r.s.lock(r.s.user_data, "t", W(&r)), PHI_BUSY);
    CHECK_EQ_STR(r.words, "Thread t is locked by this store already");
    CHECK_EQ_INT(store_add(&r, &r.s, "t", 0, "a"), PHI_OK);
    CHECK_EQ_INT(other.lock(other.user_data, "t", W(&r)), PHI_BUSY);
    CHECK_EQ_STR(r.words, locked);
    r.words[0] = '\0';
    CHECK_EQ_INT(store_add(&r, &other, "t", 1, "x"), PHI_BUSY);
    CHECK_EQ_STR(r.words, locked);
    CHECK_EQ_INT(other.remove_thread(other.user_data, "t", W(&r)), PHI_BUSY);
    other.unlock(other.user_data, "t"); /* not its own */
    CHECK_EQ_INT(other.lock(other.user_data, "t", W(&r)), PHI_BUSY);
    CHECK_EQ_INT(store_add(&r, &other, "u", 0, "u"), PHI_OK);
    CHECK_EQ_INT(store_add(&r, &r.s, "t", 1, "b"), PHI_OK);
    r.s.unlock(r.s.user_data, "t");
    r.s.unlock(r.s.user_data, "t");
    CHECK_EQ_INT(other.lock(other.user_data, "t", W(&r)), PHI_OK);
    CHECK_EQ_INT(store_add(&r, &other, "t", 2, "c"), PHI_OK);
    CHECK_EQ_INT(store_add(&r, &r.s, "t", 3, "x"), PHI_BUSY);
    store_check_thread(&r, "t", "a b c ");
    store_close(&other);
    CHECK_EQ_INT(store_add(&r, &r.s, "t", 3, "d"), PHI_OK);
    store_check_thread(&r, "t", "a b c d ");
    store_end(&r);
}

#if STORE_SHARED

/* A child's end. An exit would have valgrind look for leaks in what it has of its parent. */
static void store_child_ends(int code) {
    if (code == 0) (void)kill(getpid(), SIGKILL);
    _exit(code);
}

static bool store_child_was_fine(int status) {
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

TEST(the_lock_of_a_killed_process_is_free) {
    int pipe_fds[2];
    char byte;
    pid_t child;
    store_rig r;
    REQUIRE(store_begin(&r));
    CHECK_EQ_INT(store_add(&r, &r.s, "t", 0, "a"), PHI_OK);
    REQUIRE(CHECK(pipe(pipe_fds) == 0));
    child = fork();
    if (child == 0) {
        phi_store s;
        bool fine = store_open(r.dir, &s) && s.lock(s.user_data, "t", NULL, 0) == PHI_OK;
        if (write(pipe_fds[1], fine ? "y" : "n", 1) != 1) _exit(2);
        for (;;) (void)pause();
    }
    CHECK(read(pipe_fds[0], &byte, 1) == 1 && byte == 'y');
    CHECK_EQ_INT(store_add(&r, &r.s, "t", 1, "x"), PHI_BUSY);
    CHECK_EQ_INT(r.s.lock(r.s.user_data, "t", W(&r)), PHI_BUSY);
    (void)kill(child, SIGKILL);
    (void)waitpid(child, NULL, 0);
    CHECK_EQ_INT(r.s.lock(r.s.user_data, "t", W(&r)), PHI_OK);
    CHECK_EQ_INT(store_add(&r, &r.s, "t", 1, "b"), PHI_OK);
    store_check_thread(&r, "t", "a b ");
    (void)close(pipe_fds[0]);
    (void)close(pipe_fds[1]);
    store_end(&r);
}

/* One of the writers: `times` entries {who}:{n}, each where it finds the end. */
static int store_write_beside(const char *dir, int who, int times) {
    store_rig r;
    store_seen seen = PHI_ZERO;
    uint64_t expected = 0;
    int n = 0, tries;
    memset(&r, 0, sizeof r);
    if (!store_open(dir, &r.s)) return 1;
    for (tries = 0; n < times && tries < 200000; tries++) {
        char entry[32], name[16];
        phi_status status;
        (void)snprintf(entry, sizeof entry, "\"%d:%d\"", who, n);
        status = store_add(&r, &r.s, "t", expected, entry);
        if (status == PHI_OK) {
            n++;
            expected++;
            (void)snprintf(name, sizeof name, "%d", who);
            while ((status = store_save(&r, "shared", name, entry)) == PHI_BUSY) store_nap_ms(1);
            if (status != PHI_OK) return 2;
        } else if (status == PHI_STALE) {
            if (store_read(&r, "t", 0, &seen) == PHI_OK) expected = seen.count;
        } else if (status == PHI_BUSY) {
            store_nap_ms(1);
        } else {
            printf("writer %d: %d %s\n", who, (int)status, r.words);
            return 3;
        }
    }
    store_close(&r.s);
    return n == times ? 0 : 4;
}

typedef struct store_turns {
    int next[8];
    int wrong;
} store_turns;

static phi_status store_each_turn(void *ctx, uint64_t seq, phi_str entry) {
    store_turns *turns = (store_turns *)ctx;
    int who = -1, n = -1;
    char text[32] = "";
    (void)seq;
    memcpy(text, entry.at, phi__min(entry.len, sizeof text - 1));
    if (sscanf(text, "\"%d:%d\"", &who, &n) != 2 || who < 0 || who > 7 || n != turns->next[who]++)
        turns->wrong++;
    return PHI_OK;
}

TEST(eight_writers_at_once_lose_nothing_and_mix_nothing) {
    enum { TIMES = 15 };
    store_turns turns;
    store_seen seen = PHI_ZERO;
    store_rig r;
    phi_str out = {NULL, 0};
    pid_t children[8];
    int i, code;
    REQUIRE(store_begin(&r));
    for (i = 0; i < 8; i++) {
        children[i] = fork();
        if (children[i] == 0) store_child_ends(store_write_beside(r.dir, i, TIMES));
    }
    for (i = 0; i < 8; i++) {
        code = -1;
        (void)waitpid(children[i], &code, 0);
        CHECK(store_child_was_fine(code));
    }
    memset(&turns, 0, sizeof turns);
    CHECK_EQ_INT(store_read(&r, "t", 0, &seen), PHI_OK);
    CHECK_EQ_INT(seen.count, 8 * TIMES);
    CHECK(seen.dense);
    CHECK_EQ_INT(r.s.read(r.s.user_data, "t", 0, store_each_turn, &turns, NULL, W(&r)), PHI_OK);
    CHECK_EQ_INT(turns.wrong, 0);
    for (i = 0; i < 8; i++) CHECK_EQ_INT(turns.next[i], TIMES);
    CHECK_EQ_INT(r.s.load(r.s.user_data, "shared", &r.arena, &out, W(&r)), PHI_OK);
    CHECK(out.len >= 5 && out.at[0] == '"');
    store_end(&r);
}

TEST(a_reader_beside_a_writer_sees_more_and_more_whole_entries) {
    enum { ENTRIES = 300 };
    store_seen seen = PHI_ZERO;
    store_rig r;
    uint64_t before = 0, readings = 0;
    phi_status status;
    pid_t child;
    int code = -1;
    REQUIRE(store_begin(&r));
    CHECK_EQ_INT(store_add(&r, &r.s, "t", 0, "\"first\""), PHI_OK);
    child = fork();
    if (child == 0) {
        static char entry[3000];
        phi_str two[2];
        uint64_t i;
        phi_store s;
        memset(entry, 'x', sizeof entry);
        entry[0] = entry[sizeof entry - 1] = '"';
        two[0] = phi__str(entry, sizeof entry);
        two[1] = PHI__LIT("2");
        if (!store_open(r.dir, &s) || s.lock(s.user_data, "t", NULL, 0) != PHI_OK) _exit(1);
        for (i = 0; i < ENTRIES / 2; i++)
            while ((status = s.append(s.user_data, "t", 1 + 2 * i, two, 2, r.words,
                                      sizeof r.words)) != PHI_OK)
                if (status != PHI_BUSY) _exit(2);
        store_close(&s);
        store_child_ends(0);
    }
    while (waitpid(child, &code, WNOHANG) == 0) {
        uint64_t torn;
        memset(&seen, 0, sizeof seen);
        seen.dense = true;
        status = r.s.read(r.s.user_data, "t", 0, store_each, &seen, &torn, W(&r));
        if (!CHECK_EQ_INT(status, PHI_OK)) printf("%s\n", r.words);
        CHECK(seen.dense && seen.count >= before && seen.count % 2 == 1);
        before = seen.count;
        readings++;
    }
    CHECK(store_child_was_fine(code));
    CHECK(readings > 0);
    CHECK_EQ_INT(store_read(&r, "t", 0, &seen), PHI_OK);
    CHECK_EQ_INT(seen.count, 1 + ENTRIES);
    store_end(&r);
}

#define CONFORMANCE_SHARED                                                                         \
    , TEST_ENTRY(the_lock_of_a_killed_process_is_free),                                            \
        TEST_ENTRY(eight_writers_at_once_lose_nothing_and_mix_nothing),                            \
        TEST_ENTRY(a_reader_beside_a_writer_sees_more_and_more_whole_entries)
#else
#define CONFORMANCE_SHARED
#endif

#define CONFORMANCE_ENTRIES                                                                        \
    TEST_ENTRY(what_is_not_there_is_not_found), TEST_ENTRY(a_document_comes_back_as_it_was_given), \
        TEST_ENTRY(a_document_of_a_megabyte_and_of_any_bytes_comes_back),                          \
        TEST_ENTRY(saving_again_replaces_all_of_it),                                               \
        TEST_ENTRY(a_removed_document_is_gone_and_can_come_back),                                  \
        TEST_ENTRY(lists_have_the_latest_change_first_and_one_agents_only),                        \
        TEST_ENTRY(what_is_no_id_is_refused_by_every_function),                                    \
        TEST_ENTRY(words_may_be_without_room),                                                     \
        TEST_ENTRY(entries_come_back_in_order_and_from_any_on),                                    \
        TEST_ENTRY(a_reader_that_says_stop_is_obeyed_and_its_status_returned),                     \
        TEST_ENTRY(an_append_behind_another_number_of_entries_is_stale),                           \
        TEST_ENTRY(an_entry_that_is_no_line_is_refused_and_nothing_is_appended),                   \
        TEST_ENTRY(large_entries_and_many_come_back),                                              \
        TEST_ENTRY(a_removed_thread_is_gone_and_can_begin_again),                                  \
        TEST_ENTRY(a_closed_store_leaves_everything_to_the_next),                                  \
        TEST_ENTRY(a_locked_thread_is_written_by_its_holder_only) CONFORMANCE_SHARED

#endif
