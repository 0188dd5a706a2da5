/* test_sqlite_store.c - the store in a database: what every store does, and SQLite's own ways. */
#define STORE_SHARED 1
#include "persist/conformance.h"

#define PHI_STORE_SQLITE_IMPLEMENTATION
#include "../../extras/phi_store_sqlite.h"

#include <sys/stat.h>

static bool store_open(const char *directory, phi_store *out) {
    char path[600], words[200];
    phi_sqlite_store_desc desc = PHI_ZERO;
    phi_status status;
    int tries;
    (void)snprintf(path, sizeof path, "%s/phi.db", directory);
    desc.path = path;
    for (tries = 0; tries < 5000; tries++) { /* eight open it at once */
        status = phi_sqlite_store_open(&desc, out, words, sizeof words);
        if (status != PHI_BUSY) break;
        store_nap_ms(1);
    }
    if (status != PHI_OK) printf("%s\n", words);
    return status == PHI_OK;
}

static void store_close(phi_store *store) { phi_sqlite_store_close(store); }

static sqlite3 *database(store_rig *r) { return ((phi__sql *)r->s.user_data)->db; }

static void run_sql(store_rig *r, const char *text) {
    CHECK_EQ_INT(sqlite3_exec(database(r), text, NULL, NULL, NULL), SQLITE_OK);
}

TEST(what_cannot_be_opened_is_said_in_words) {
    static char longer[4000];
    phi_sqlite_store_desc desc = PHI_ZERO;
    char dir[512], path[600], words[300], want[700];
    FILE *f;
    phi_store s;
    CHECK_EQ_INT(phi_sqlite_store_open(&desc, &s, words, sizeof words), PHI_BAD_ARG);
    CHECK_EQ_STR(words, "A database needs a path, of at most 3900 bytes");
    CHECK_EQ_INT(phi_sqlite_store_open(NULL, &s, NULL, 0), PHI_BAD_ARG);
    memset(longer, 'x', sizeof longer - 1);
    desc.path = longer;
    CHECK_EQ_INT(phi_sqlite_store_open(&desc, &s, words, sizeof words), PHI_BAD_ARG);
    REQUIRE(test_temp_dir(dir, sizeof dir));
    (void)snprintf(path, sizeof path, "%s/none/phi.db", dir);
    desc.path = path;
    CHECK_EQ_INT(phi_sqlite_store_open(&desc, &s, words, sizeof words), PHI_IO);
    (void)snprintf(want, sizeof want, "Cannot open %s: unable to open database file", path);
    CHECK_EQ_STR(words, want);
    CHECK(s.user_data == NULL && s.save == NULL);
    (void)snprintf(path, sizeof path, "%s/text", dir);
    f = fopen(path, "wb");
    REQUIRE(f != NULL);
    (void)fputs("This is no database, and long enough to be seen as none, surely, with its hundred "
                "bytes and more of plain text in it.",
                f);
    (void)fclose(f);
    CHECK_EQ_INT(phi_sqlite_store_open(&desc, &s, words, sizeof words), PHI_PARSE);
    (void)snprintf(want, sizeof want, "Cannot open %s: file is not a database", path);
    CHECK_EQ_STR(words, want);
    phi_sqlite_store_close(&s);
    phi_sqlite_store_close(NULL);
}

TEST(a_full_database_refuses_and_keeps_what_it_has) {
    size_t n = 1000000;
    char *bytes = (char *)malloc(n);
    phi_str two[2];
    store_rig r;
    REQUIRE(bytes != NULL);
    memset(bytes, 'x', n);
    REQUIRE(store_begin(&r));
    CHECK_EQ_INT(store_save(&r, "d", NULL, "{}"), PHI_OK);
    CHECK_EQ_INT(store_add(&r, &r.s, "t", 0, "a"), PHI_OK);
    run_sql(&r, "PRAGMA max_page_count=30");
    two[0] = PHI__LIT("b");
    two[1] = phi__str(bytes, n);
    CHECK_EQ_INT(r.s.append(r.s.user_data, "t", 1, two, 2, W(&r)), PHI_FULL);
    CHECK_EQ_STR(r.words, "Cannot append to t: database or disk is full");
    CHECK_EQ_INT(r.s.save(r.s.user_data, "d", NULL, two[1], W(&r)), PHI_FULL);
    CHECK_EQ_STR(r.words, "Cannot save d: database or disk is full");
    store_check_document(&r, "d", PHI__LIT("{}"));
    store_check_thread(&r, "t", "a ");
    CHECK_EQ_INT(store_add(&r, &r.s, "t", 1, "b"), PHI_OK);
    run_sql(&r, "PRAGMA max_page_count=100000");
    CHECK_EQ_INT(r.s.append(r.s.user_data, "t", 2, two, 2, W(&r)), PHI_OK);
    free(bytes);
    store_end(&r);
}

TEST(another_transaction_makes_writers_busy_and_readers_not) {
    phi_store other;
    store_rig r;
    REQUIRE(store_begin(&r));
    REQUIRE(CHECK(store_open(r.dir, &other)));
    CHECK_EQ_INT(store_save(&r, "d", NULL, "{}"), PHI_OK);
    CHECK_EQ_INT(store_add(&r, &r.s, "t", 0, "a"), PHI_OK);
    CHECK_EQ_INT(
        sqlite3_exec(((phi__sql *)other.user_data)->db, "BEGIN IMMEDIATE", NULL, NULL, NULL),
        SQLITE_OK);
    CHECK_EQ_INT(store_save(&r, "d", NULL, "{\"x\":1}"), PHI_BUSY);
    CHECK_EQ_STR(r.words, "Session d is locked by another writer");
    CHECK_EQ_INT(store_add(&r, &r.s, "t", 1, "b"), PHI_BUSY);
    CHECK_EQ_STR(r.words, "Cannot append to t: database is locked");
    CHECK_EQ_INT(r.s.remove(r.s.user_data, "d", W(&r)), PHI_BUSY);
    CHECK_EQ_INT(r.s.remove_thread(r.s.user_data, "t", W(&r)), PHI_BUSY);
    store_check_document(&r, "d", PHI__LIT("{}"));
    store_check_thread(&r, "t", "a ");
    store_close(&other);
    CHECK_EQ_INT(store_add(&r, &r.s, "t", 1, "b"), PHI_OK);
    store_end(&r);
}

TEST(a_missing_entry_is_damage) {
    store_seen seen = PHI_ZERO;
    store_rig r;
    REQUIRE(store_begin(&r));
    CHECK_EQ_INT(store_add(&r, &r.s, "t", 0, "a"), PHI_OK);
    CHECK_EQ_INT(store_add(&r, &r.s, "t", 1, "b"), PHI_OK);
    CHECK_EQ_INT(store_add(&r, &r.s, "t", 2, "c"), PHI_OK);
    run_sql(&r, "DELETE FROM phi_entry WHERE seq = 1");
    CHECK_EQ_INT(store_read(&r, "t", 0, &seen), PHI_PARSE);
    CHECK_EQ_STR(r.words, "t: entry 2 is there where 1 was to come");
    CHECK_EQ_STR(seen.text, "a ");
    store_end(&r);
}

TEST(a_database_in_memory_is_a_store_too) {
    phi_sqlite_store_desc desc = PHI_ZERO;
    store_rig r;
    memset(&r, 0, sizeof r);
    desc.path = ":memory:";
    desc.sync = true;
    REQUIRE(CHECK_EQ_INT(phi_sqlite_store_open(&desc, &r.s, W(&r)), PHI_OK));
    CHECK_EQ_INT(r.s.lock(r.s.user_data, "t", W(&r)), PHI_OK);
    CHECK_EQ_INT(r.s.lock(r.s.user_data, "t", W(&r)), PHI_BUSY);
    CHECK_EQ_INT(store_add(&r, &r.s, "t", 0, "a"), PHI_OK);
    CHECK_EQ_INT(store_add(&r, &r.s, "u", 0, "b"), PHI_OK);
    store_check_thread(&r, "t", "a ");
    CHECK(access(":memory:", F_OK) != 0 && access(":memory:-lock-t", F_OK) != 0);
    phi_sqlite_store_close(&r.s);
}

TEST(what_an_arena_has_no_room_for_is_no_memory) {
    store_rig r;
    phi_memory memory;
    phi_arena arena;
    const phi_store_item *items;
    phi_str out;
    size_t count;
    REQUIRE(store_begin(&r));
    CHECK_EQ_INT(store_save(&r, "d", NULL, "{}"), PHI_OK);
    phi_memory_init(&memory, NULL, 1);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(r.s.load(r.s.user_data, "d", &arena, &out, W(&r)), PHI_NO_MEMORY);
    CHECK_EQ_STR(r.words, "Cannot load d: no memory");
    CHECK_EQ_INT(r.s.list(r.s.user_data, NULL, &arena, &items, &count, W(&r)), PHI_NO_MEMORY);
    CHECK_EQ_INT(count, 0);
    CHECK_EQ_INT(store_save(&r, "d", NULL, "{\"x\":1}"), PHI_OK);
    phi_arena_free(&arena);
    store_end(&r);
}

TEST(no_acknowledged_entry_is_lost_when_the_process_is_killed) {
    store_rig r;
    store_seen seen = PHI_ZERO;
    uint32_t random = 3;
    uint64_t has = 0;
    int i;
    REQUIRE(store_begin(&r));
    for (i = 0; i < 40; i++) {
        uint64_t said;
        int fds[2];
        pid_t child;
        if (!CHECK(pipe(fds) == 0)) break;
        child = fork();
        if (child == 0) {
            phi_store s;
            if (!store_open(r.dir, &s)) _exit(1);
            for (;;) {
                phi_str e = PHI__LIT("{\"some\":\"entry\"}");
                if (s.append(s.user_data, "t", has, &e, 1, NULL, 0) == PHI_OK) has++;
                if (write(fds[1], &has, sizeof has) != (ssize_t)sizeof has) _exit(2);
            }
        }
        (void)close(fds[1]);
        if (read(fds[0], &said, sizeof said) == (ssize_t)sizeof said) has = said;
        store_nap_ms((long)(test_random(&random) % 6));
        (void)kill(child, SIGKILL);
        (void)waitpid(child, NULL, 0);
        while (read(fds[0], &said, sizeof said) == (ssize_t)sizeof said) has = said;
        (void)close(fds[0]);
        CHECK_EQ_INT(store_read(&r, "t", 0, &seen), PHI_OK);
        CHECK(seen.dense && seen.count >= has && seen.count <= has + 1);
        has = seen.count;
    }
    store_end(&r);
}

TEST_MAIN(CONFORMANCE_ENTRIES, TEST_ENTRY(what_cannot_be_opened_is_said_in_words),
          TEST_ENTRY(a_full_database_refuses_and_keeps_what_it_has),
          TEST_ENTRY(another_transaction_makes_writers_busy_and_readers_not),
          TEST_ENTRY(a_missing_entry_is_damage), TEST_ENTRY(a_database_in_memory_is_a_store_too),
          TEST_ENTRY(what_an_arena_has_no_room_for_is_no_memory),
          TEST_ENTRY(no_acknowledged_entry_is_lost_when_the_process_is_killed))
