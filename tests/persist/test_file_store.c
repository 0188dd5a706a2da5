/* test_file_store.c - the store of files: what every store does, and what its files look like. */
#include "persist/file_store.h"
#include "persist/failing_disk.h"

#define STORE_SHARED 1
#include "persist/conformance.h"

#include "persist/persist_in.h"

#include <dirent.h>
#include <pthread.h>
#include <sys/stat.h>

static bool store_open(const char *directory, phi_store *out) {
    char path[600];
    phi_file_store_desc desc = PHI_ZERO;
    (void)snprintf(path, sizeof path, "%s/not/yet/", directory);
    desc.directory = path;
    desc.allocator = test_allocator();
    return phi_file_store_open(&desc, out) == PHI_OK;
}

static void store_close(phi_store *store) { phi_file_store_close(store); }

static const char *file_in(store_rig *r, const char *name) {
    static char path[700];
    (void)snprintf(path, sizeof path, "%s/not/yet/%s", r->dir, name);
    return path;
}

static void file_put(const char *path, const char *bytes, size_t n) {
    FILE *f = fopen(path, "wb");
    if (!CHECK(f != NULL)) return;
    CHECK(fwrite(bytes, 1, n, f) == n);
    (void)fclose(f);
}

static void file_check(store_rig *r, const char *name, const char *want) {
    char *text = test_read_file(file_in(r, name), NULL);
    if (text != NULL) CHECK_EQ_STR(text, want);
    free(text);
}

/* How many names there are in the store's directory. */
static int file_count(store_rig *r) {
    DIR *dir = opendir(file_in(r, ""));
    const struct dirent *entry;
    int n = 0;
    if (dir == NULL) return -1;
    while ((entry = readdir(dir)) != NULL)
        n += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    (void)closedir(dir);
    return n;
}

TEST(a_thread_is_a_header_and_an_entry_a_line_each_with_its_check_value) {
    phi_str two[2];
    store_rig r;
    REQUIRE(store_begin(&r));
    two[0] = PHI__LIT("{\"b\":1}");
    two[1] = PHI__LIT("{\"b\":2}");
    CHECK_EQ_INT(store_add(&r, &r.s, "t", 0, "{\"a\":\"x\"}"), PHI_OK);
    CHECK_EQ_INT(r.s.append(r.s.user_data, "t", 1, two, 2, W(&r)), PHI_OK);
    file_check(&r, "t.jsonl",
               "{\"crc\":\"5c64baa6\",\"phi_thread\":1}\n"
               "{\"crc\":\"41a0f168\",\"seq\":0,\"e\":{\"a\":\"x\"}}\n"
               "{\"crc\":\"dd1e460f\",\"seq\":1,\"of\":[1,2],\"e\":{\"b\":1}}\n"
               "{\"crc\":\"eab54e05\",\"seq\":2,\"of\":[1,2],\"e\":{\"b\":2}}\n");
    store_end(&r);
}

TEST(a_document_is_a_file_of_its_own_bytes_where_they_tell_the_agent) {
    struct stat info;
    store_rig r;
    REQUIRE(store_begin(&r));
    CHECK_EQ_INT(store_save(&r, "a", "smith", "{\"n\":{\"agent_id\":1},\"agent_id\":\"smith\"}"),
                 PHI_OK);
    file_check(&r, "a.json", "{\"n\":{\"agent_id\":1},\"agent_id\":\"smith\"}");
    CHECK_EQ_INT(store_save(&r, "b", "smith", "{\"n\":1}"), PHI_OK);
    file_check(&r, "b.json", "{\"phi_agent_id\":\"smith\"}\n{\"n\":1}");
    CHECK_EQ_INT(store_save(&r, "c", NULL, "{\"n\":1}"), PHI_OK);
    file_check(&r, "c.json", "{\"n\":1}");
    CHECK(stat(file_in(&r, "c.json"), &info) == 0 && (info.st_mode & 0777) == TEST_OWNER_MODE);
    CHECK_EQ_INT(file_count(&r), 6); /* with their locks; no temporary file */
    store_end(&r);
}

TEST(other_files_in_the_directory_are_left_alone) {
    store_rig r;
    REQUIRE(store_begin(&r));
    CHECK_EQ_INT(store_save(&r, "a", NULL, "{}"), PHI_OK);
    file_put(file_in(&r, "notes.txt"), "x", 1);
    file_put(file_in(&r, ".hidden.json"), "x", 1);
    file_put(file_in(&r, "a b.json"), "x", 1);
    file_put(file_in(&r, "a.json.lock"), "x", 1);
    file_put(file_in(&r, "empty.jsonl"), "", 0);
    CHECK(mkdir(file_in(&r, "dir.json"), 0777) == 0);
    store_check_list(&r, NULL, "a ");
    store_check_threads(&r, "");
    CHECK_EQ_INT(store_save(&r, "dir", NULL, "{}"), PHI_IO);
#ifdef _WIN32
    CHECK_EQ_STR(r.words, "Cannot save dir.json: Permission denied");
#else
    CHECK_EQ_STR(r.words, "Cannot save dir.json: Is a directory");
#endif
    CHECK_EQ_INT(store_save(&r, "a", NULL, "{\"b\":1}"), PHI_OK);
    store_end(&r);
}

TEST(a_file_that_is_no_thread_is_damaged_and_never_cut) {
    static const char *const files[] = {"{\"mine\":1}\n", "mine, without an end",
                                        "{\"crc\":\"00000000\",\"phi_thread\":1}\n", "\n"};
    store_seen seen = PHI_ZERO;
    store_rig r;
    size_t i;
    REQUIRE(store_begin(&r));
    CHECK_EQ_INT(store_save(&r, "a", NULL, "{}"), PHI_OK);
    for (i = 0; i < PHI__COUNT(files); i++) {
        file_put(file_in(&r, "t.jsonl"), files[i], strlen(files[i]));
        CHECK_EQ_INT(store_read(&r, "t", 0, &seen), PHI_PARSE);
        CHECK_EQ_STR(r.words, "t.jsonl: line 1 is damaged: it is not a thread's header");
        CHECK_EQ_INT(store_add(&r, &r.s, "t", 0, "{}"), PHI_PARSE);
        CHECK_EQ_STR(r.words, "t.jsonl: line 1 is damaged: it is not a thread's header");
        file_check(&r, "t.jsonl", files[i]);
    }
    file_put(file_in(&r, "t.jsonl"), "{\"crc\":\"7749e965\",\"phi_thread\":2}\n", 34);
    CHECK_EQ_INT(store_read(&r, "t", 0, &seen), PHI_PARSE);
    CHECK_EQ_STR(r.words, "t.jsonl: line 1 is the header of another version");
    store_end(&r);
}

/* The store's thread "t" of six entries, three of them appended at once; its bytes. */
static char *file_six(store_rig *r, size_t *n) {
    phi_str three[3];
    three[0] = PHI__LIT("1");
    three[1] = PHI__LIT("\"two\"");
    three[2] = PHI__LIT("{\"three\":3}");
    CHECK_EQ_INT(store_add(r, &r->s, "t", 0, "0"), PHI_OK);
    CHECK_EQ_INT(r->s.append(r->s.user_data, "t", 1, three, 3, W(r)), PHI_OK);
    CHECK_EQ_INT(store_add(r, &r->s, "t", 4, "4"), PHI_OK);
    CHECK_EQ_INT(store_add(r, &r->s, "t", 5, "5"), PHI_OK);
    return test_read_file(file_in(r, "t.jsonl"), n);
}

TEST(a_damaged_line_inside_is_named_and_a_damaged_last_line_is_torn) {
    store_seen seen = PHI_ZERO;
    store_rig r;
    size_t n, i, line = 1;
    char *bytes;
    REQUIRE(store_begin(&r));
    bytes = file_six(&r, &n);
    for (i = 0; bytes != NULL && i < n; i++) {
        char was = bytes[i], want[100], words[256];
        uint64_t torn = 0;
        phi_status status;
        bytes[i] = was == '#' ? '!' : '#';
        file_put(file_in(&r, "t.jsonl"), bytes, n);
        bytes[i] = was;
        memset(&seen, 0, sizeof seen);
        seen.dense = true;
        status = r.s.read(r.s.user_data, "t", 0, store_each, &seen, &torn, words, sizeof words);
        if (line == 6 && was == '\n') { /* two lines are one, and it is the last */
            CHECK_EQ_INT(status, PHI_OK);
            CHECK_EQ_STR(seen.text, "0 1 \"two\" {\"three\":3} ");
        } else if (line < 7) {
            CHECK_EQ_INT(status, PHI_PARSE);
            (void)snprintf(want, sizeof want, "t.jsonl: line %d is damaged: ", (int)line);
            if (!CHECK(strncmp(words, want, strlen(want)) == 0))
                printf("byte %d: %s\n", (int)i, words);
        } else {
            CHECK_EQ_INT(status, PHI_OK);
            CHECK_EQ_STR(seen.text, "0 1 \"two\" {\"three\":3} 4 ");
            CHECK(torn > 0);
        }
        CHECK(seen.dense);
        if (was == '\n') line++;
    }
    CHECK_EQ_INT(line, 8);
    free(bytes);
    store_end(&r);
}

TEST(a_line_that_is_missing_or_there_twice_is_named) {
    store_seen seen = PHI_ZERO;
    store_rig r;
    size_t n, at[9], lines = 0, i;
    char *bytes, *file;
    REQUIRE(store_begin(&r));
    bytes = file_six(&r, &n);
    REQUIRE(bytes != NULL);
    at[0] = 0;
    for (i = 0; i < n; i++)
        if (bytes[i] == '\n') at[++lines] = i + 1;
    REQUIRE(CHECK_EQ_INT(lines, 7));
    file = (char *)malloc(2 * n);
    memcpy(file, bytes, at[5]);
    memcpy(file + at[5], bytes + at[6], at[7] - at[6]); /* without line 6, entry 4 */
    file_put(file_in(&r, "t.jsonl"), file, n - (at[6] - at[5]));
    CHECK_EQ_INT(store_read(&r, "t", 0, &seen), PHI_PARSE);
    CHECK_EQ_STR(r.words, "t.jsonl: line 6 has entry 5 where 4 was to come");
    memcpy(file, bytes, at[6]);
    memcpy(file + at[6], bytes + at[5], n - at[5]); /* line 6 twice */
    file_put(file_in(&r, "t.jsonl"), file, n + at[6] - at[5]);
    CHECK_EQ_INT(store_read(&r, "t", 0, &seen), PHI_PARSE);
    CHECK_EQ_STR(r.words, "t.jsonl: line 7 has entry 4 where 5 was to come");
    memcpy(file, bytes, at[3]);
    memcpy(file + at[3], bytes + at[4], n - at[4]); /* without a line of the group */
    file_put(file_in(&r, "t.jsonl"), file, n - (at[4] - at[3]));
    CHECK_EQ_INT(store_read(&r, "t", 0, &seen), PHI_PARSE);
    CHECK_EQ_STR(r.words, "t.jsonl: line 4 has entry 3 where 2 was to come");
    CHECK_EQ_STR(seen.text, "0 ");
    free(file);
    free(bytes);
    store_end(&r);
}

TEST(a_document_that_is_being_written_is_locked_and_can_be_read) {
    intptr_t file;
    store_rig r;
    const phi__disk *disk = phi__disk_system();
    REQUIRE(store_begin(&r));
    CHECK_EQ_INT(store_save(&r, "a", NULL, "{}"), PHI_OK);
    REQUIRE(CHECK_EQ_INT(
        disk->open(NULL, file_in(&r, "a.json.lock"), PHI__DISK_CREATE, &file, NULL), PHI_OK));
    CHECK_EQ_INT(disk->lock(NULL, file, NULL), PHI_OK);
    CHECK_EQ_INT(store_save(&r, "a", NULL, "{\"x\":1}"), PHI_BUSY);
    CHECK_EQ_STR(r.words, "Session a is locked by another writer");
    CHECK_EQ_INT(r.s.remove(r.s.user_data, "a", W(&r)), PHI_BUSY);
    store_check_document(&r, "a", PHI__LIT("{}"));
    (void)disk->close(NULL, file, NULL);
    CHECK_EQ_INT(store_save(&r, "a", NULL, "{\"x\":1}"), PHI_OK);
    store_end(&r);
}

/* The original opens the lock's file, and tries again and again until it has the lock. */
TEST(a_writer_that_waits_for_a_document_s_lock_gets_the_one_that_others_see) {
    phi__disk_info waits, named;
    intptr_t file;
    store_rig r;
    const phi__disk *disk = phi__disk_system();
    REQUIRE(store_begin(&r));
    CHECK_EQ_INT(store_save(&r, "a", NULL, "{}"), PHI_OK);
    REQUIRE(CHECK_EQ_INT(
        disk->open(NULL, file_in(&r, "a.json.lock"), PHI__DISK_CREATE, &file, NULL), PHI_OK));
    CHECK_EQ_INT(store_save(&r, "a", NULL, "{\"x\":1}"), PHI_OK);
    CHECK_EQ_INT(r.s.remove(r.s.user_data, "a", W(&r)), PHI_OK);
    CHECK_EQ_INT(disk->lock(NULL, file, NULL), PHI_OK);
    REQUIRE(CHECK_EQ_INT(disk->info(NULL, file, &waits, NULL), PHI_OK));
    REQUIRE(CHECK_EQ_INT(disk->info_of(NULL, file_in(&r, "a.json.lock"), &named, NULL), PHI_OK));
    CHECK(named.file == waits.file && named.device == waits.device);
    CHECK_EQ_INT(store_save(&r, "a", NULL, "{}"), PHI_BUSY);
    (void)disk->close(NULL, file, NULL);
    store_end(&r);
}

/* ---- eight writers at once ---- */

typedef struct writer {
    const phi_store *store;
    int number, busy;
    phi_status last;
} writer;

static void *writer_runs(void *arg) {
    writer *w = (writer *)arg;
    char words[120], bytes[64];
    int i;
    for (i = 0; i < 20; i++) {
        (void)snprintf(bytes, sizeof bytes, "{\"writer\":%d,\"save\":%d}", w->number, i);
        while ((w->last = w->store->save(w->store->user_data, "shared", NULL, phi_str_of(bytes),
                                         words, sizeof words)) == PHI_BUSY)
            w->busy++;
        if (w->last != PHI_OK) break;
    }
    return NULL;
}

TEST(eight_writers_of_one_document_all_succeed_in_the_end_and_leave_no_temporary_file) {
    enum { WRITERS = 8 };
    writer writers[WRITERS];
    phi_store stores[WRITERS];
    pthread_t threads[WRITERS];
    store_rig r;
    char *text;
    int i;
    REQUIRE(store_begin(&r));
    CHECK_EQ_INT(store_save(&r, "shared", NULL, "{}"), PHI_OK);
    for (i = 0; i < WRITERS; i++) { /* a store is of one thread: each writer has its own */
        phi_file_store_desc desc = PHI_ZERO;
        char path[700];
        (void)snprintf(path, sizeof path, "%s", file_in(&r, ""));
        desc.directory = path;
        CHECK_EQ_INT(phi_file_store_open(&desc, &stores[i]), PHI_OK);
        memset(&writers[i], 0, sizeof writers[i]);
        writers[i].store = &stores[i];
        writers[i].number = i;
    }
    for (i = 0; i < WRITERS; i++)
        REQUIRE(pthread_create(&threads[i], NULL, writer_runs, &writers[i]) == 0);
    for (i = 0; i < WRITERS; i++) {
        (void)pthread_join(threads[i], NULL);
        CHECK_EQ_INT(writers[i].last, PHI_OK);
        phi_file_store_close(&stores[i]);
    }
    text = test_read_file(file_in(&r, "shared.json"), NULL);
    CHECK(text != NULL && strncmp(text, "{\"writer\":", 10) == 0 &&
          strstr(text, "\"save\":19}") != NULL);
    free(text);
    CHECK_EQ_INT(file_count(&r), 2); /* the document and its lock */
    store_end(&r);
}

TEST(a_symbolic_link_is_not_followed_wherever_it_leads) {
    static const char *const names[] = {"t.jsonl", "t.json", ".t.json.tmp", ".t.jsonl.lock"};
    static const char line[] = "precious\n";
    char outside[600];
    struct stat info;
    size_t i;
    store_rig r;
    REQUIRE(store_begin(&r));
    (void)snprintf(outside, sizeof outside, "%s/outside", r.dir);
    CHECK_EQ_INT(store_save(&r, "here", NULL, "{}"), PHI_OK); /* makes the directory */
    for (i = 0; i < sizeof names / sizeof names[0]; i++) {
        store_seen seen;
        bool dangling;
        memset(&seen, 0, sizeof seen);
        for (dangling = false;; dangling = true) {
            phi_str text;
            (void)unlink(outside);
            if (!dangling) file_put(outside, line, sizeof line - 1);
            CHECK(symlink(outside, file_in(&r, names[i])) == 0);
            (void)store_add(&r, &r.s, "t", 0, "{\"a\":1}");
            (void)r.s.read(r.s.user_data, "t", 0, store_each, &seen, NULL, W(&r));
            (void)store_save(&r, "t", NULL, "{\"b\":1}");
            (void)r.s.load(r.s.user_data, "t", &r.arena, &text, W(&r));
            if (dangling)
                CHECK(lstat(outside, &info) != 0); /* it was not made */
            else {
                char *now = test_read_file(outside, NULL);
                if (now != NULL) CHECK_EQ_STR(now, line);
                free(now);
            }
            (void)r.s.remove_thread(r.s.user_data, "t", W(&r));
            (void)r.s.remove(r.s.user_data, "t", W(&r));
            (void)unlink(file_in(&r, names[i]));
            if (dangling) break;
        }
    }
    (void)unlink(outside);
    CHECK(symlink(outside, file_in(&r, "t.jsonl")) == 0);
    CHECK_EQ_INT(store_add(&r, &r.s, "t", 0, "{\"a\":1}"), PHI_IO);
    CHECK_EQ_STR(r.words, "Cannot append to t.jsonl: It is a symbolic link, which is not followed");
    CHECK(unlink(file_in(&r, "t.jsonl")) == 0);
    CHECK_EQ_INT(store_add(&r, &r.s, "t", 0, "{\"a\":1}"), PHI_OK);
    store_end(&r);
}

TEST(a_temporary_file_of_a_killed_process_is_overwritten_and_goes) {
    store_rig r;
    REQUIRE(store_begin(&r));
    CHECK_EQ_INT(store_save(&r, "a", NULL, "{}"), PHI_OK);
    file_put(file_in(&r, ".a.json.tmp"), "half a docu", 11);
    store_check_list(&r, NULL, "a ");
    CHECK_EQ_INT(store_save(&r, "a", NULL, "{\"x\":1}"), PHI_OK);
    CHECK_EQ_INT(file_count(&r), 2); /* and the lock */
    file_put(file_in(&r, ".a.json.tmp"), "half a docu", 11);
    CHECK_EQ_INT(r.s.remove(r.s.user_data, "a", W(&r)), PHI_OK);
    CHECK_EQ_INT(file_count(&r), 1);
    store_end(&r);
}

TEST(a_thread_whose_file_was_taken_away_is_stale_and_not_written_into_the_void) {
    store_rig r;
    REQUIRE(store_begin(&r));
    CHECK_EQ_INT(r.s.lock(r.s.user_data, "t", W(&r)), PHI_OK);
    CHECK_EQ_INT(store_add(&r, &r.s, "t", 0, "a"), PHI_OK);
    CHECK(unlink(file_in(&r, "t.jsonl")) == 0);
    CHECK_EQ_INT(store_add(&r, &r.s, "t", 1, "b"), PHI_STALE);
    CHECK_EQ_STR(r.words, "Thread t has 0 entries, not 1");
    store_end(&r);
}

TEST(sync_waits_for_the_disk_once_an_append_and_for_the_directory_when_a_file_is_new) {
    phi_file_store_desc desc = PHI_ZERO;
    failing_disk disk;
    store_rig r;
    int before;
    REQUIRE(store_begin(&r));
    store_close(&r.s);
    failing_disk_init(&disk);
    desc.directory = r.dir;
    desc.allocator = test_allocator();
    desc.sync = true;
    REQUIRE(CHECK_EQ_INT(phi__store_open_on(&desc, &disk.disk, &r.s), PHI_OK));
    CHECK_EQ_INT(store_add(&r, &r.s, "t", 0, "a"), PHI_OK);
    CHECK_EQ_INT(disk.syncs, 1);
    CHECK_EQ_INT(disk.directory_syncs, 1);
    CHECK_EQ_INT(disk.writes, 1);
    CHECK_EQ_INT(store_add(&r, &r.s, "t", 1, "b"), PHI_OK);
    CHECK_EQ_INT(disk.syncs, 2);
    CHECK_EQ_INT(disk.directory_syncs, 1);
    CHECK_EQ_INT(store_save(&r, "d", NULL, "{}"), PHI_OK);
    CHECK_EQ_INT(disk.syncs, 3);
    CHECK_EQ_INT(disk.directory_syncs, 2);
    phi_file_store_close(&r.s);
    desc.sync = false;
    REQUIRE(CHECK_EQ_INT(phi__store_open_on(&desc, &disk.disk, &r.s), PHI_OK));
    before = disk.syncs + disk.directory_syncs;
    CHECK_EQ_INT(store_add(&r, &r.s, "t", 2, "c"), PHI_OK);
    CHECK_EQ_INT(store_save(&r, "d", NULL, "{}"), PHI_OK);
    CHECK_EQ_INT(disk.syncs + disk.directory_syncs, before);
    store_end(&r);
}

static bool thread_say(phi_thread *log, const char *text) {
    phi_content c = PHI_ZERO;
    phi_message m = PHI_ZERO;
    c.kind = PHI_CONTENT_TEXT;
    c.text = phi_str_of(text);
    m.role = PHI_ROLE_USER;
    m.content = &c;
    m.content_count = 1;
    return phi_thread_append(log, &m, 1, NULL) == PHI_OK;
}

TEST(a_thread_goes_on_in_its_file_behind_a_torn_end) {
    phi_thread first, second;
    phi_str one, two;
    uint64_t torn = 99;
    store_rig r;
    FILE *f;
    REQUIRE(store_begin(&r));
    phi__thread_init(&first, &r.memory, NULL);
    phi__thread_init(&second, &r.memory, NULL);
    CHECK_EQ_INT(phi_thread_attach(&first, &r.s, "t", &torn, W(&r)), PHI_OK);
    CHECK(thread_say(&first, "one") && thread_say(&first, "two"));
    CHECK_EQ_INT(phi_thread_sync(&first, W(&r)), PHI_OK);
    CHECK_EQ_INT(phi_thread_attach(&second, &r.s, "t", &torn, W(&r)), PHI_BUSY);
    CHECK_EQ_STR(r.words, "Thread t is locked by this store already");
    CHECK_EQ_INT(phi_thread_attach(&first, NULL, NULL, NULL, NULL, 0), PHI_OK);
    f = fopen(file_in(&r, "t.jsonl"), "ab");
    REQUIRE(f != NULL);
    (void)fputs("{\"crc\":\"12", f);
    (void)fclose(f);
    CHECK_EQ_INT(phi_thread_attach(&second, &r.s, "t", &torn, W(&r)), PHI_OK);
    CHECK_EQ_INT(torn, 10);
    CHECK_EQ_INT(phi_thread_get_info(&second).stored, 2);
    CHECK(thread_say(&second, "three"));
    CHECK_EQ_INT(phi_thread_sync(&second, W(&r)), PHI_OK);
    CHECK_EQ_INT(phi_thread_attach(&second, NULL, NULL, NULL, NULL, 0), PHI_OK);
    phi__journal_free_thread(&first);
    phi__thread_init(&first, &r.memory, NULL);
    CHECK_EQ_INT(phi_thread_attach(&first, &r.s, "t", &torn, W(&r)), PHI_OK);
    CHECK_EQ_INT(torn, 0);
    CHECK_EQ_INT(phi_thread_count(&first), 3);
    CHECK_EQ_INT(phi_thread_attach(&first, NULL, NULL, NULL, NULL, 0), PHI_OK);
    if (CHECK(phi_thread_to_json(&first, &r.arena, &one) == PHI_OK) &&
        CHECK(phi_thread_to_json(&second, &r.arena, &two) == PHI_OK))
        CHECK(phi_str_equal(one, two));
    phi__journal_free_thread(&first);
    phi__journal_free_thread(&second);
    store_end(&r);
}

TEST(a_store_without_a_directory_is_refused) {
    static char path[4001];
    phi_file_store_desc desc = PHI_ZERO;
    phi_store s;
    CHECK_EQ_INT(phi_file_store_open(NULL, &s), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_file_store_open(&desc, &s), PHI_BAD_ARG);
    CHECK(s.user_data == NULL && s.save == NULL);
    desc.directory = "";
    CHECK_EQ_INT(phi_file_store_open(&desc, &s), PHI_BAD_ARG);
    memset(path, 'x', sizeof path - 1);
    desc.directory = path;
    CHECK_EQ_INT(phi_file_store_open(&desc, &s), PHI_BAD_ARG);
    phi_file_store_close(&s);
    phi_file_store_close(NULL);
}

static void without_memory(const char *dir, phi_arena *arena) {
    phi_file_store_desc desc = PHI_ZERO;
    const phi_store_item *items;
    phi_str two[2], out;
    char words[100];
    size_t count;
    uint64_t has = 0;
    phi_store s;
    desc.directory = dir;
    desc.allocator = test_allocator();
    if (phi_file_store_open(&desc, &s) != PHI_OK) return;
    two[0] = PHI__LIT("{\"a\":1}");
    two[1] = PHI__LIT("{\"b\":2}");
    (void)s.lock(s.user_data, "t", words, sizeof words);
    if (s.append(s.user_data, "t", has, two, 2, words, sizeof words) == PHI_OK) has += 2;
    if (s.append(s.user_data, "t", has, two, 2, words, sizeof words) == PHI_OK) has += 2;
    {
        store_seen seen = PHI_ZERO;
        phi_status status =
            s.read(s.user_data, "t", 0, store_each, &seen, NULL, words, sizeof words);
        CHECK(status == PHI_NO_MEMORY || (status == PHI_NOT_FOUND && has == 0) ||
              (status == PHI_OK && seen.count == has));
        if (status == PHI_NO_MEMORY) CHECK_EQ_STR(words, "The store has no memory");
    }
    (void)s.save(s.user_data, "d", "smith", PHI__LIT("{}"), words, sizeof words);
    (void)s.list(s.user_data, NULL, arena, &items, &count, words, sizeof words);
    (void)s.list_threads(s.user_data, arena, &items, &count, words, sizeof words);
    (void)s.load(s.user_data, "d", arena, &out, words, sizeof words);
    (void)s.remove_thread(s.user_data, "t", words, sizeof words);
    phi_file_store_close(&s);
}

TEST(no_memory_anywhere_loses_nothing_and_leaves_nothing) {
    store_rig r;
    int n = 0;
    REQUIRE(store_begin(&r));
    do {
        test_alloc_fail_at(n++);
        without_memory(r.dir, &r.arena);
    } while (test_alloc_tripped());
    test_alloc_fail_at(-1);
    CHECK(n > 10);
    store_end(&r);
}

TEST_MAIN(
    CONFORMANCE_ENTRIES,
    TEST_ENTRY(a_thread_is_a_header_and_an_entry_a_line_each_with_its_check_value),
    TEST_ENTRY(a_document_is_a_file_of_its_own_bytes_where_they_tell_the_agent),
    TEST_ENTRY(other_files_in_the_directory_are_left_alone),
    TEST_ENTRY(a_file_that_is_no_thread_is_damaged_and_never_cut),
    TEST_ENTRY(a_damaged_line_inside_is_named_and_a_damaged_last_line_is_torn),
    TEST_ENTRY(a_line_that_is_missing_or_there_twice_is_named),
    TEST_ENTRY(a_document_that_is_being_written_is_locked_and_can_be_read),
    TEST_ENTRY(a_writer_that_waits_for_a_document_s_lock_gets_the_one_that_others_see),
    TEST_ENTRY(eight_writers_of_one_document_all_succeed_in_the_end_and_leave_no_temporary_file),
    TEST_ENTRY(a_symbolic_link_is_not_followed_wherever_it_leads),
    TEST_ENTRY(a_temporary_file_of_a_killed_process_is_overwritten_and_goes),
    TEST_ENTRY(a_thread_whose_file_was_taken_away_is_stale_and_not_written_into_the_void),
    TEST_ENTRY(sync_waits_for_the_disk_once_an_append_and_for_the_directory_when_a_file_is_new),
    TEST_ENTRY(a_thread_goes_on_in_its_file_behind_a_torn_end),
    TEST_ENTRY(a_store_without_a_directory_is_refused),
    TEST_ENTRY(no_memory_anywhere_loses_nothing_and_leaves_nothing))
