/* test_crash.c - threads of the file store when the process dies, the disk is full, or the file is cut. */
#include "persist/file_store.h"
#include "persist/failing_disk.h"
#include "persist/store.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { KILLS = 1000 };

/* Memory that was freed would be kept by the address sanitizer, and copied by each of a thousand forks. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "quarantine_size_mb=1"; }

typedef struct crash_rig {
    char dir[512], path[600];
    phi_store s;
    char words[256];
} crash_rig;

static bool crash_open(const char *dir, const phi__disk *disk, phi_store *out) {
    phi_file_store_desc desc = PHI_ZERO;
    desc.directory = dir;
    desc.allocator = test_allocator();
    return phi__store_open_on(&desc, disk, out) == PHI_OK;
}

static bool crash_begin(crash_rig *r, const phi__disk *disk) {
    memset(r, 0, sizeof *r);
    if (!test_temp_dir(r->dir, sizeof r->dir)) return false;
    (void)snprintf(r->path, sizeof r->path, "%s/t.jsonl", r->dir);
    return crash_open(r->dir, disk, &r->s);
}

#define W(r) (r)->words, sizeof(r)->words

/* Entry n: a text that says n, and is of a length of its own. The bytes are valid until the next call. */
static phi_str entry_of(uint64_t n) {
    static char text[4096];
    size_t len = (size_t)(n * 7919 % (n < 16 ? 150 : 3000)) + 30;
    memset(text, 'a' + (int)(n % 26), len);
    (void)snprintf(text, 24, "\"%llu", (unsigned long long)n);
    text[strlen(text)] = ' ';
    text[len - 1] = '"';
    return phi__str(text, len);
}

typedef struct crash_seen {
    uint64_t count, wrong;
} crash_seen;

static phi_status crash_each(void *ctx, uint64_t seq, phi_str entry) {
    crash_seen *seen = (crash_seen *)ctx;
    if (seq != seen->count || !phi_str_equal(entry, entry_of(seq))) seen->wrong++;
    seen->count++;
    return PHI_OK;
}

/* The entries that are there, each checked; *torn bytes behind them. */
static uint64_t crash_read(crash_rig *r, uint64_t *torn) {
    crash_seen seen = PHI_ZERO;
    phi_status status = r->s.read(r->s.user_data, "t", 0, crash_each, &seen, torn, W(r));
    if (!CHECK(status == PHI_OK || (status == PHI_NOT_FOUND && seen.count == 0)))
        printf("%d: %s\n", (int)status, r->words);
    CHECK_EQ_INT(seen.wrong, 0);
    return seen.count;
}

/* ---- killed ---- */

/* Appends one entry, or three at once, until it is killed; says each acknowledged number of entries through the
   pipe. */
static void appending_child(const char *dir, int out, uint64_t has) {
    phi_store s;
    char words[200];
    if (!crash_open(dir, phi__disk_system(), &s)) _exit(1);
    if (s.lock(s.user_data, "t", words, sizeof words) != PHI_OK) _exit(2);
    for (;;) {
        static char rooms[3][4096];
        phi_str entries[3];
        size_t count = has % 4 == 0 ? 3 : 1, i;
        for (i = 0; i < count; i++) {
            phi_str e = entry_of(has + i);
            memcpy(rooms[i], e.at, e.len);
            entries[i] = phi__str(rooms[i], e.len);
        }
        if (s.append(s.user_data, "t", has, entries, count, words, sizeof words) != PHI_OK)
            _exit(3);
        has += count;
        if (write(out, &has, sizeof has) != (ssize_t)sizeof has) _exit(4);
    }
}

/* Starts a child, lets it be for some microseconds after its first word, and kills it. Returns what it acknowledged
   last, or `has`. */
static uint64_t kill_one(crash_rig *r, uint64_t has, long us) {
    int fds[2], code = 0;
    struct pollfd wait_for;
    struct timespec nap;
    uint64_t said;
    pid_t child;
    if (!CHECK(pipe(fds) == 0)) return has;
    child = fork();
    if (child == 0) {
        (void)close(fds[0]);
        appending_child(r->dir, fds[1], has);
    }
    (void)close(fds[1]);
    wait_for.fd = fds[0];
    wait_for.events = POLLIN;
    if (us % 8 != 0) (void)poll(&wait_for, 1, 5000); /* an eighth is killed while it starts */
    nap.tv_sec = 0;
    nap.tv_nsec = us * 1000;
    (void)nanosleep(&nap, NULL);
    (void)kill(child, SIGKILL);
    (void)waitpid(child, &code, 0);
    CHECK(WIFSIGNALED(code) && WTERMSIG(code) == SIGKILL);
    while (read(fds[0], &said, sizeof said) == (ssize_t)sizeof said) has = said;
    (void)close(fds[0]);
    return has;
}

TEST(no_acknowledged_entry_is_lost_when_the_process_is_killed) {
    crash_rig r;
    uint32_t random = 20;
    uint64_t torn, has = 0, ahead = 0, tears = 0;
    int i;
    REQUIRE(crash_begin(&r, phi__disk_system()));
    for (i = 0; i < KILLS; i++) {
        uint64_t said = kill_one(&r, has, (long)(test_random(&random) % 600));
        uint64_t found = crash_read(&r, &torn);
        /* What was written and not yet acknowledged may be there: at most one append. */
        if (!CHECK(found >= said && found <= said + 3)) {
            printf("kill %d: %d acknowledged, %d found\n", i, (int)said, (int)found);
            break;
        }
        ahead += found > said;
        tears += torn > 0;
        has = found;
        if (has > 200 && r.s.remove_thread(r.s.user_data, "t", W(&r)) == PHI_OK) has = 0;
    }
    printf("%d kills: %d with an entry more than acknowledged, %d torn\n", i, (int)ahead,
           (int)tears);
    phi_file_store_close(&r.s);
}

/* ---- damaged ---- */

/* The end that an append looks for and the end that a read finds are the same. */
TEST(a_bad_line_before_a_whole_group_is_damage) {
    static const char bad[] = "{\"crc\":\"00000000\",\"seq\":0,\"e\":1}\n";
    crash_rig r;
    crash_seen seen = PHI_ZERO;
    phi_str e = entry_of(0);
    size_t n, header;
    uint64_t torn;
    REQUIRE(crash_begin(&r, phi__disk_system()));
    CHECK_EQ_INT(r.s.append(r.s.user_data, "t", 0, &e, 1, W(&r)), PHI_OK);
    char *bytes = test_read_file(r.path, &n);
    REQUIRE(bytes != NULL);
    header = (size_t)(strchr(bytes, '\n') - bytes) + 1;
    FILE *f = fopen(r.path, "wb");
    REQUIRE(f != NULL);
    CHECK_EQ_INT(fwrite(bytes, 1, header, f), header);
    CHECK_EQ_INT(fwrite(bad, 1, sizeof bad - 1, f), sizeof bad - 1);
    CHECK_EQ_INT(fwrite(bytes + header, 1, n - header, f), n - header);
    CHECK_EQ_INT(fclose(f), 0);
    free(bytes);
    CHECK_EQ_INT(r.s.read(r.s.user_data, "t", 0, crash_each, &seen, &torn, W(&r)), PHI_PARSE);
    CHECK_EQ_STR(r.words, "t.jsonl: line 2 is damaged: its check value is not that of its bytes");
    CHECK_EQ_INT(seen.count, 0);
    phi_file_store_close(&r.s);
}

/* ---- cut ---- */

static char *crash_fill(crash_rig *r, size_t *n) {
    static char rooms[3][4096];
    phi_str entries[3];
    uint64_t has = 0;
    size_t i;
    while (has < 8) {
        size_t count = has == 3 ? 3 : 1;
        for (i = 0; i < count; i++) {
            phi_str e = entry_of(has + i);
            memcpy(rooms[i], e.at, e.len);
            entries[i] = phi__str(rooms[i], e.len);
        }
        CHECK_EQ_INT(r->s.append(r->s.user_data, "t", has, entries, count, W(r)), PHI_OK);
        has += count;
    }
    return test_read_file(r->path, n);
}

static void crash_put(const char *path, const char *bytes, size_t n) {
    FILE *f = fopen(path, "wb");
    if (!CHECK(f != NULL)) return;
    CHECK(fwrite(bytes, 1, n, f) == n);
    (void)fclose(f);
}

TEST(a_file_cut_at_any_byte_is_a_prefix_and_can_be_appended_to) {
    crash_rig r;
    size_t n, cut, line = 0, whole = 0;
    uint64_t torn, found, count = 0;
    char *bytes;
    REQUIRE(crash_begin(&r, phi__disk_system()));
    bytes = crash_fill(&r, &n);
    REQUIRE(bytes != NULL);
    for (cut = 0; cut <= n; cut++) {
        if (cut > 0 && bytes[cut - 1] == '\n' && ++line >= 2) {
            count = line - 1;                        /* entries whose lines are whole */
            if (count == 4 || count == 5) count = 3; /* a group of three, 3 to 5 */
            if (count == line - 1) whole = cut;
        }
        crash_put(r.path, bytes, cut);
        found = crash_read(&r, &torn);
        CHECK_EQ_INT(found, count);
        if (!CHECK_EQ_INT(torn, cut - whole)) break;
        if (cut % 16 != 0 && bytes[cut == 0 ? 0 : cut - 1] != '\n') continue;
        {
            phi_str e = entry_of(found);
            CHECK_EQ_INT(r.s.append(r.s.user_data, "t", found, &e, 1, W(&r)), PHI_OK);
            CHECK_EQ_INT(crash_read(&r, &torn), found + 1);
            CHECK_EQ_INT(torn, 0);
        }
    }
    CHECK_EQ_INT(count, 8);
    free(bytes);
    phi_file_store_close(&r.s);
}

TEST(what_a_loss_of_power_leaves_behind_the_end_is_torn) {
    static const char zeros[5000] = {0};
    crash_rig r;
    size_t n;
    uint64_t torn;
    char *bytes, *file;
    REQUIRE(crash_begin(&r, phi__disk_system()));
    bytes = crash_fill(&r, &n);
    REQUIRE(bytes != NULL);
    file = (char *)malloc(n + sizeof zeros);
    memcpy(file, bytes, n);
    memcpy(file + n, zeros, sizeof zeros);
    crash_put(r.path, file, n + sizeof zeros);
    CHECK_EQ_INT(crash_read(&r, &torn), 8);
    CHECK_EQ_INT(torn, 5000);
    memset(file + n, 'x', 100);
    file[n + 50] = '\n'; /* lines that do not check */
    file[n + 99] = '\n';
    crash_put(r.path, file, n + 100);
    CHECK_EQ_INT(crash_read(&r, &torn), 8);
    CHECK_EQ_INT(torn, 100);
    crash_put(r.path, zeros, 4096); /* not even the header */
    CHECK_EQ_INT(crash_read(&r, &torn), 0);
    CHECK_EQ_INT(torn, 4096);
    {
        phi_str e = entry_of(0);
        CHECK_EQ_INT(r.s.append(r.s.user_data, "t", 0, &e, 1, W(&r)), PHI_OK);
        CHECK_EQ_INT(crash_read(&r, &torn), 1);
    }
    free(file);
    free(bytes);
    phi_file_store_close(&r.s);
}

TEST(a_hole_in_the_last_group_of_lines_is_torn_and_in_an_earlier_one_is_damage) {
    crash_rig r;
    size_t n, at[12], lines = 0, i;
    uint64_t torn;
    crash_seen seen = PHI_ZERO;
    char *bytes;
    REQUIRE(crash_begin(&r, phi__disk_system()));
    bytes = crash_fill(&r, &n);
    REQUIRE(bytes != NULL);
    at[0] = 0;
    for (i = 0; i < n && lines < 11; i++)
        if (bytes[i] == '\n') at[++lines] = i + 1;
    memset(bytes + at[5] + 4, 0, 20); /* entry 4, the second of 3 to 5 */
    crash_put(r.path, bytes, at[7]);
    CHECK_EQ_INT(crash_read(&r, &torn), 3);
    CHECK_EQ_INT(torn, at[7] - at[4]);
    crash_put(r.path, bytes, at[8]);
    CHECK_EQ_INT(r.s.read(r.s.user_data, "t", 0, crash_each, &seen, &torn, W(&r)), PHI_PARSE);
    CHECK_EQ_STR(r.words, "t.jsonl: line 6 is damaged: its check value is not that of its bytes");
    CHECK_EQ_INT(seen.count, 3);
    free(bytes);
    phi_file_store_close(&r.s);
}

/* ---- full ---- */

/* Appends until it has ten entries, with the disk's n-th call failing; what was acknowledged must be there after each
   failure, and the next append must work. Returns whether the disk was made to fail. */
static bool full_at(const char *dir, int n, bool half, bool stays, bool locked, bool sync) {
    failing_disk disk;
    phi_file_store_desc desc = PHI_ZERO;
    crash_rig r;
    uint64_t has = 0, torn;
    int tries;
    memset(&r, 0, sizeof r);
    failing_disk_init(&disk);
    desc.directory = dir;
    desc.allocator = test_allocator();
    desc.sync = sync;
    if (!CHECK(phi__store_open_on(&desc, &disk.disk, &r.s) == PHI_OK)) return false;
    (void)r.s.remove_thread(r.s.user_data, "t", W(&r));
    if (locked) CHECK_EQ_INT(r.s.lock(r.s.user_data, "t", W(&r)), PHI_OK);
    disk.fail_at = n;
    disk.half = half;
    disk.stays = stays;
    for (tries = 0; has < 6 && tries < 20; tries++) {
        phi_str e = entry_of(has);
        phi_status status = r.s.append(r.s.user_data, "t", has, &e, 1, W(&r));
        if (status == PHI_OK) {
            has++;
            continue;
        }
        CHECK_EQ_INT(status, PHI_FULL);
        CHECK(strcmp(r.words, "Cannot append to t.jsonl: made to fail") == 0 ||
              strcmp(r.words, "Cannot lock t.jsonl: made to fail") == 0);
        disk.fail_at = -1; /* there is room again */
        CHECK_EQ_INT(crash_read(&r, &torn), has);
        CHECK_EQ_INT(torn, 0);
    }
    CHECK_EQ_INT(has, 6);
    CHECK_EQ_INT(crash_read(&r, &torn), 6);
    phi_file_store_close(&r.s);
    return disk.tripped > 0;
}

TEST(a_full_disk_at_any_call_loses_nothing_and_leaves_nothing) {
    crash_rig r;
    int mode, n;
    REQUIRE(crash_begin(&r, phi__disk_system()));
    for (mode = 0; mode < 16; mode++) {
        for (n = 0; n < 500; n++)
            if (!full_at(r.dir, n, mode & 1, mode & 2, mode & 4, mode & 8)) break;
        CHECK(n > 10 && n < 500);
    }
    phi_file_store_close(&r.s);
}

TEST(a_full_disk_while_a_document_is_saved_leaves_the_old_one) {
    failing_disk disk;
    phi_memory memory;
    phi_arena arena;
    crash_rig r;
    phi_str old = PHI__LIT("{\"old\":1}"), out;
    int n, tripped;
    failing_disk_init(&disk);
    REQUIRE(crash_begin(&r, &disk.disk));
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(r.s.save(r.s.user_data, "d", "smith", old, W(&r)), PHI_OK);
    for (n = 0; n < 100; n++) {
        phi_status status;
        disk.tripped = 0;
        disk.fail_at = n;
        disk.half = n % 2 == 0;
        status = r.s.save(r.s.user_data, "d", "smith", PHI__LIT("{\"new\":2}"), W(&r));
        tripped = disk.tripped;
        disk.fail_at = -1;
        if (!tripped) break;
        CHECK_EQ_INT(status, PHI_FULL);
        CHECK(strcmp(r.words, "Cannot save d.json: made to fail") == 0 ||
              strcmp(r.words, "Cannot lock d.json: made to fail") == 0);
        CHECK_EQ_INT(r.s.load(r.s.user_data, "d", &arena, &out, W(&r)), PHI_OK);
        CHECK_STR(out, "{\"old\":1}");
        (void)snprintf(r.path, sizeof r.path, "%s/.d.json.tmp", r.dir);
        CHECK(access(r.path, F_OK) != 0);
    }
    CHECK(n > 5);
    CHECK_EQ_INT(r.s.load(r.s.user_data, "d", &arena, &out, W(&r)), PHI_OK);
    CHECK_STR(out, "{\"new\":2}");
    phi_arena_free(&arena);
    phi_file_store_close(&r.s);
}

/* In a child: files may have `limit` bytes, then more. Exit code 0: as it should be. */
static int beyond_a_limit(const char *dir, rlim_t limit) {
    struct rlimit now;
    crash_rig r;
    uint64_t has = 0, torn;
    phi_status status = PHI_OK;
    memset(&r, 0, sizeof r);
    if (!crash_open(dir, phi__disk_system(), &r.s) || getrlimit(RLIMIT_FSIZE, &now) != 0) return 1;
    (void)r.s.remove_thread(r.s.user_data, "t", W(&r));
    now.rlim_cur = limit;
    if (setrlimit(RLIMIT_FSIZE, &now) != 0) return 2;
    while (status == PHI_OK && has < 100) {
        phi_str e = entry_of(has);
        status = r.s.append(r.s.user_data, "t", has, &e, 1, W(&r));
        has += status == PHI_OK;
    }
    if (status != PHI_FULL) return 3;
    if (strcmp(r.words, "Cannot append to t.jsonl: File too large") != 0) return 4;
    if (crash_read(&r, &torn) != has || torn != 0) return 5;
    now.rlim_cur = now.rlim_max;
    if (setrlimit(RLIMIT_FSIZE, &now) != 0) return 6;
    {
        phi_str e = entry_of(has);
        if (r.s.append(r.s.user_data, "t", has, &e, 1, W(&r)) != PHI_OK) return 7;
    }
    if (crash_read(&r, &torn) != has + 1) return 8;
    phi_file_store_close(&r.s);
    return 0;
}

TEST(a_file_that_may_not_grow_keeps_what_was_acknowledged_and_no_signal_comes) {
    crash_rig r;
    rlim_t limit;
    REQUIRE(crash_begin(&r, phi__disk_system()));
    for (limit = 1; limit < 60000; limit += 1997) {
        int code = -1;
        pid_t child = fork();
        if (child == 0) _exit(beyond_a_limit(r.dir, limit));
        (void)waitpid(child, &code, 0);
        if (!CHECK_EQ_INT(code, 0)) printf("at %d bytes\n", (int)limit);
    }
    phi_file_store_close(&r.s);
}

/* ---- raced ---- */

/* Both append entries 0 to 399, and whoever is told that one is there already goes on with the next. Returns how many
   were its own; negative: another status. */
static int racing(phi_store *s) {
    uint64_t n = 0;
    int mine = 0;
    while (n < 400) {
        phi_str e = entry_of(n);
        phi_status status = s->append(s->user_data, "t", n, &e, 1, NULL, 0);
        mine += status == PHI_OK;
        if (status == PHI_OK || status == PHI_STALE)
            n++;
        else if (status != PHI_BUSY)
            return (int)status;
    }
    return mine;
}

TEST(of_two_writers_that_race_one_is_told_so_and_no_line_is_mixed) {
    phi_store other;
    crash_rig r;
    uint64_t torn;
    pid_t child;
    int fds[2], mine, theirs = -1, code = -1;
    REQUIRE(crash_begin(&r, phi__disk_system()));
    REQUIRE(CHECK(pipe(fds) == 0));
    child = fork();
    if (child == 0) {
        int got;
        if (!crash_open(r.dir, phi__disk_system(), &other)) _exit(1);
        got = racing(&other);
        phi_file_store_close(&other);
        _exit(write(fds[1], &got, sizeof got) == (ssize_t)sizeof got ? 0 : 2);
    }
    mine = racing(&r.s);
    CHECK(read(fds[0], &theirs, sizeof theirs) == (ssize_t)sizeof theirs);
    (void)waitpid(child, &code, 0);
    CHECK_EQ_INT(code, 0);
    CHECK(mine >= 0 && theirs >= 0);
    CHECK_EQ_INT(mine + theirs, 400);
    CHECK_EQ_INT(crash_read(&r, &torn), 400);
    CHECK_EQ_INT(torn, 0);
    (void)close(fds[0]);
    (void)close(fds[1]);
    phi_file_store_close(&r.s);
}

TEST_MAIN(TEST_ENTRY(no_acknowledged_entry_is_lost_when_the_process_is_killed),
          TEST_ENTRY(a_bad_line_before_a_whole_group_is_damage),
          TEST_ENTRY(a_file_cut_at_any_byte_is_a_prefix_and_can_be_appended_to),
          TEST_ENTRY(what_a_loss_of_power_leaves_behind_the_end_is_torn),
          TEST_ENTRY(a_hole_in_the_last_group_of_lines_is_torn_and_in_an_earlier_one_is_damage),
          TEST_ENTRY(a_full_disk_at_any_call_loses_nothing_and_leaves_nothing),
          TEST_ENTRY(a_full_disk_while_a_document_is_saved_leaves_the_old_one),
          TEST_ENTRY(a_file_that_may_not_grow_keeps_what_was_acknowledged_and_no_signal_comes),
          TEST_ENTRY(of_two_writers_that_race_one_is_told_so_and_no_line_is_mixed))
