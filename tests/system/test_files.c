/* test_files.c - reading, replacing, resolving and walking, on a real disk. */
#include "system/files_in.h"
#include "support/os.h"
#include "support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct rig {
    phi_memory memory;
    char dir[512];
    char path[1024];
    phi__words words;
} rig;

static bool rig_open(rig *r) {
    phi_allocator allocator = test_allocator();
    memset(r, 0, sizeof *r);
    phi_memory_init(&r->memory, &allocator, 0);
    return test_temp_dir(r->dir, sizeof r->dir);
}

/* A path in the rig's directory; valid until the next call. */
static const char *in(rig *r, const char *name) {
    (void)snprintf(r->path, sizeof r->path, "%s/%s", r->dir, name);
    return r->path;
}

static void put(const char *path, const char *text) {
    FILE *f = fopen(path, "wb");
    if (!CHECK(f != NULL)) return;
    (void)fputs(text, f);
    (void)fclose(f);
}

static void check_content(const char *path, const char *want) {
    char *text = test_read_file(path, NULL);
    if (text != NULL) CHECK_EQ_STR(text, want);
    free(text);
}

static int count_names(const char *dir) {
    phi_memory memory;
    phi__walk *walk;
    phi__walk_entry entry;
    phi_status status;
    int n = 0;
    phi_memory_init(&memory, NULL, 0);
    if (!CHECK(phi__walk_new(&memory, dir, PHI__LINKS_FOLLOW, &walk, NULL) == PHI_OK)) return -1;
    while ((status = phi__walk_next(walk, &entry)) != PHI_NOT_FOUND) n += status == PHI_OK;
    phi__walk_free(walk);
    return n;
}

/* ---- reading ---- */

TEST(a_file_is_read_in_slices) {
    phi__file *file;
    char bytes[4];
    size_t got;
    rig r;
    REQUIRE(rig_open(&r));
    put(in(&r, "a"), "abcdefg");
    REQUIRE(CHECK_EQ_INT(
        phi__files_open_read(&r.memory, in(&r, "a"), PHI__LINKS_FOLLOW, &file, &r.words), PHI_OK));
    CHECK_EQ_INT(phi__files_read(file, bytes, 4, &got, &r.words), PHI_OK);
    CHECK_STR(phi__str(bytes, got), "abcd");
    CHECK_EQ_INT(phi__files_read(file, bytes, 4, &got, &r.words), PHI_OK);
    CHECK_STR(phi__str(bytes, got), "efg");
    CHECK_EQ_INT(phi__files_read(file, bytes, 4, &got, &r.words), PHI_OK);
    CHECK_EQ_INT(got, 0);
    phi__files_close(file);
}

TEST(what_cannot_be_read_is_refused_in_the_systems_words) {
    phi__file *file;
    rig r;
    REQUIRE(rig_open(&r));
    CHECK_EQ_INT(
        phi__files_open_read(&r.memory, in(&r, "none"), PHI__LINKS_FOLLOW, &file, &r.words),
        PHI_NOT_FOUND);
    CHECK_EQ_STR(r.words.text, "No such file or directory");
    CHECK_EQ_INT(phi__files_open_read(&r.memory, r.dir, PHI__LINKS_FOLLOW, &file, &r.words),
                 PHI_IO);
    CHECK_EQ_STR(r.words.text, "Is a directory");
#if !defined(_WIN32)
    CHECK(mkfifo(in(&r, "pipe"), 0600) == 0);
    CHECK_EQ_INT(phi__files_open_read(&r.memory, r.path, PHI__LINKS_FOLLOW, &file, &r.words),
                 PHI_IO); /* and at once */
    CHECK_EQ_STR(r.words.text, "Not a regular file");
#endif
    put(in(&r, "locked"), "x");
    (void)chmod(r.path, 0);
    if (geteuid() != 0) {
        CHECK_EQ_INT(phi__files_open_read(&r.memory, r.path, PHI__LINKS_FOLLOW, &file, &r.words),
                     PHI_IO);
        CHECK_EQ_STR(r.words.text, "Permission denied");
    }
    CHECK_EQ_INT(phi__files_open_read(&r.memory, r.path, PHI__LINKS_FOLLOW, &file, NULL) == PHI_OK,
                 geteuid() == 0);
    phi__files_close(file);
}

TEST(stat_tells_kind_and_size_and_follows_or_refuses_links) {
    phi__file_info info;
    rig r;
    REQUIRE(rig_open(&r));
    put(in(&r, "a"), "12345");
    CHECK_EQ_INT(phi__files_stat(r.path, PHI__LINKS_FOLLOW, &info, NULL), PHI_OK);
    CHECK(info.kind == PHI__FILE_REGULAR && info.bytes == 5);
    CHECK(symlink("a", in(&r, "l")) == 0);
    CHECK_EQ_INT(phi__files_stat(r.path, PHI__LINKS_REFUSE, &info, &r.words), PHI_IO);
    CHECK_EQ_STR(r.words.text, "It has become a symbolic link since it was checked");
    CHECK_EQ_INT(phi__files_stat(r.path, PHI__LINKS_FOLLOW, &info, NULL), PHI_OK);
    CHECK(info.kind == PHI__FILE_REGULAR && info.bytes == 5);
    CHECK_EQ_INT(phi__files_stat(r.dir, PHI__LINKS_FOLLOW, &info, NULL), PHI_OK);
    CHECK(info.kind == PHI__FILE_DIRECTORY);
#if !defined(_WIN32)
    CHECK_EQ_INT(phi__files_stat("/dev/null", PHI__LINKS_FOLLOW, &info, NULL), PHI_OK);
    CHECK(info.kind == PHI__FILE_OTHER);
#endif
    CHECK_EQ_INT(phi__files_stat(in(&r, "none"), PHI__LINKS_FOLLOW, &info, &r.words),
                 PHI_NOT_FOUND);
    CHECK(info.kind == PHI__FILE_NONE);
    CHECK_EQ_STR(r.words.text, "No such file or directory");
}

/* A path without links, at once. */
static phi_status resolve(const char *base, const char *path, char *out, size_t size,
                          phi__words *words) {
    phi__resolve r;
    size_t units = SIZE_MAX;
    phi_status status = phi__path_resolve_begin(&r, base, path, words);
    if (status == PHI_OK) status = phi__path_resolve_advance(&r, &units, words);
    if (status == PHI_OK) (void)snprintf(out, size, "%s", r.out);
    return status;
}

/* ---- replacing ---- */

static phi_status replace(rig *r, const char *path, const char *text, size_t len) {
    char real[PHI__PATH_BYTES];
    phi__file *file;
    phi_status status = resolve(NULL, path, real, sizeof real, &r->words);
    if (status == PHI_OK) status = phi__files_open_replace(&r->memory, real, &file, &r->words);
    if (status != PHI_OK) return status;
    status = phi__files_write(file, text, len, &r->words);
    if (status == PHI_OK) status = phi__files_commit(file, &r->words);
    phi__files_close(file);
    return status;
}

/* Windows has no modes. */
#if defined(_WIN32)
#define NO_MODES 0666
#else
#define NO_MODES -1
#endif
#define MODE(info) (int)((info).st_mode & 07777)

TEST(a_new_file_gets_the_mode_the_umask_leaves) {
    mode_t before = umask(027);
    struct stat info;
    rig r;
    REQUIRE(rig_open(&r));
    CHECK_EQ_INT(replace(&r, in(&r, "new"), "text", 4), PHI_OK);
    (void)umask(before);
    check_content(r.path, "text");
    CHECK(stat(r.path, &info) == 0);
    CHECK(MODE(info) == 0640 || MODE(info) == NO_MODES);
    CHECK_EQ_INT(count_names(r.dir), 1);
}

TEST(the_old_file_stays_until_the_commit_and_its_mode_after_it) {
    phi__file *file;
    struct stat info;
    rig r;
    REQUIRE(rig_open(&r));
    put(in(&r, "a"), "old");
    (void)chmod(r.path, 0751);
    REQUIRE(CHECK_EQ_INT(phi__files_open_replace(&r.memory, r.path, &file, &r.words), PHI_OK));
    CHECK_EQ_INT(phi__files_write(file, "new", 3, &r.words), PHI_OK);
    check_content(r.path, "old");
    CHECK_EQ_INT(phi__files_write(file, "er", 2, &r.words), PHI_OK);
    CHECK_EQ_INT(phi__files_commit(file, &r.words), PHI_OK);
    phi__files_close(file);
    check_content(r.path, "newer");
    CHECK(stat(r.path, &info) == 0);
    CHECK(MODE(info) == 0751 || MODE(info) == NO_MODES);
    CHECK_EQ_INT(count_names(r.dir), 1);
}

TEST(a_replacement_without_commit_leaves_no_trace) {
    phi__file *file;
    rig r;
    REQUIRE(rig_open(&r));
    put(in(&r, "a"), "old");
    REQUIRE(CHECK_EQ_INT(phi__files_open_replace(&r.memory, r.path, &file, &r.words), PHI_OK));
    CHECK_EQ_INT(phi__files_write(file, "new", 3, &r.words), PHI_OK);
    phi__files_close(file);
    check_content(r.path, "old");
    CHECK_EQ_INT(count_names(r.dir), 1);
}

TEST(a_link_is_kept_and_its_target_replaced) {
    struct stat info;
    rig r;
    REQUIRE(rig_open(&r));
    (void)mkdir(in(&r, "sub"), 0777);
    put(in(&r, "sub/a"), "old");
    CHECK(symlink("sub/a", in(&r, "l")) == 0);
    CHECK_EQ_INT(replace(&r, r.path, "new", 3), PHI_OK);
    CHECK(lstat(r.path, &info) == 0 && S_ISLNK(info.st_mode));
    check_content(in(&r, "sub/a"), "new");
    CHECK(symlink("sub/b", in(&r, "dangling")) == 0);
    CHECK_EQ_INT(replace(&r, r.path, "made", 4), PHI_OK);
    check_content(in(&r, "sub/b"), "made");
}

TEST(what_cannot_be_replaced_is_refused_and_nothing_changes) {
    rig r;
    REQUIRE(rig_open(&r));
    CHECK_EQ_INT(replace(&r, r.dir, "x", 1), PHI_IO);
    CHECK_EQ_STR(r.words.text, "Is a directory");
    CHECK_EQ_INT(replace(&r, in(&r, "no/such"), "x", 1), PHI_NOT_FOUND);
    CHECK_EQ_STR(r.words.text, "No such file or directory");
    put(in(&r, "a"), "old");
    CHECK_EQ_INT(replace(&r, in(&r, "a/b"), "x", 1), PHI_IO);
    CHECK_EQ_STR(r.words.text, "Not a directory");
    (void)chmod(in(&r, "a"), 0444);
    if (geteuid() != 0) {
        CHECK_EQ_INT(replace(&r, r.path, "x", 1), PHI_IO);
        CHECK_EQ_STR(r.words.text, "Permission denied");
        check_content(r.path, "old");
    }
    CHECK_EQ_INT(count_names(r.dir), 1);
}

TEST(a_pipe_is_not_written_to) {
    rig r;
    REQUIRE(rig_open(&r));
    CHECK(mkfifo(in(&r, "pipe"), 0600) == 0);
    CHECK_EQ_INT(replace(&r, r.path, "x", 1), PHI_IO);
    CHECK_EQ_STR(r.words.text, "Not a regular file");
}

TEST(a_device_is_not_written_to) {
    rig r;
    REQUIRE(rig_open(&r));
    CHECK_EQ_INT(replace(&r, "/dev/null", "x", 1), PHI_IO);
    CHECK_EQ_STR(r.words.text, "Not a regular file");
}

TEST(a_file_size_limit_is_an_error_and_no_signal_and_the_old_file_stays) {
    struct rlimit before, small;
    struct sigaction action;
    sigset_t pending;
    char *big = (char *)calloc(1, 100000);
    phi__file *file = NULL;
    rig r;
    REQUIRE(rig_open(&r));
    put(in(&r, "a"), "old");
    (void)fflush(NULL);
    (void)getrlimit(RLIMIT_FSIZE, &before);
    small = before;
    small.rlim_cur = 50000;
    (void)setrlimit(RLIMIT_FSIZE, &small);
    CHECK_EQ_INT(replace(&r, r.path, big, 100000), PHI_IO);
    (void)phi__files_open_replace(&r.memory, r.path, &file, NULL);
    if (file != NULL) {
        CHECK_EQ_INT(phi__files_write(file, big, 100000, NULL), PHI_IO);
        CHECK_EQ_INT(phi__files_write(file, "x", 1, NULL), PHI_IO);
        CHECK_EQ_INT(phi__files_commit(file, NULL), PHI_IO); /* half a file replaces nothing */
        phi__files_close(file);
    }
    (void)setrlimit(RLIMIT_FSIZE, &before);
    CHECK_EQ_STR(r.words.text, "File too large");
    check_content(r.path, "old");
    CHECK_EQ_INT(count_names(r.dir), 1);
    (void)sigaction(SIGXFSZ, NULL, &action);
    CHECK(action.sa_handler == SIG_DFL);
    (void)sigpending(&pending);
    CHECK_EQ_INT(sigismember(&pending, SIGXFSZ), 0);
    free(big);
}

TEST(a_name_of_255_bytes_can_be_replaced) {
    char name[256];
    rig r;
    REQUIRE(rig_open(&r));
    memset(name, 'n', 255);
    name[255] = '\0';
    CHECK_EQ_INT(replace(&r, in(&r, name), "one", 3), PHI_OK);
    if (!CHECK_EQ_INT(replace(&r, r.path, "two", 3), PHI_OK)) printf("  %s\n", r.words.text);
    check_content(r.path, "two");
}

TEST(directories_are_made_down_to_the_last) {
    struct stat info;
    rig r;
    REQUIRE(rig_open(&r));
    CHECK_EQ_INT(phi__files_make_directories(in(&r, "a/b//c/"), &r.words), PHI_OK);
    CHECK(stat(in(&r, "a/b/c"), &info) == 0 && S_ISDIR(info.st_mode));
    CHECK_EQ_INT(phi__files_make_directories(r.path, &r.words), PHI_OK); /* there already */
    CHECK_EQ_INT(phi__files_make_directories("/", &r.words), PHI_OK);
    put(in(&r, "f"), "x");
    CHECK_EQ_INT(phi__files_make_directories(in(&r, "f/g"), &r.words), PHI_IO);
    CHECK_EQ_STR(r.words.text, "Not a directory");
    CHECK_EQ_INT(phi__files_make_directories("", &r.words), PHI_NOT_FOUND);
}

/* ---- resolving ---- */

/* What `path` resolves to, without the rig's directory (itself resolved); or the words. */
static const char *resolved(rig *r, const char *path) {
    static char out[PHI__PATH_BYTES];
    char root[PHI__PATH_BYTES];
    if (realpath(r->dir, root) == NULL) return "no root";
    if (resolve(r->dir, path, out, sizeof out, &r->words) != PHI_OK) return r->words.text;
    return strncmp(out, root, strlen(root)) == 0 ? out + strlen(root) : out;
}

TEST(paths_lose_dots_and_doubled_slashes) {
    rig r;
    REQUIRE(rig_open(&r));
    (void)mkdir(in(&r, "sub"), 0777);
    CHECK_EQ_STR(resolved(&r, "."), "");
    CHECK_EQ_STR(resolved(&r, "sub//./x.txt"), "/sub/x.txt");
    CHECK_EQ_STR(resolved(&r, "sub/../sub/"), "/sub");
    CHECK_EQ_STR(resolved(&r, "none/deeper/x"), "/none/deeper/x");
    CHECK_EQ_STR(resolved(&r, "none/../sub/x"), "/sub/x");
    CHECK_EQ_STR(resolved(&r, ""), "No such file or directory");
    put(in(&r, "f"), "x");
    CHECK_EQ_STR(resolved(&r, "f/x"), "Not a directory");
#if !defined(_WIN32) /* test_paths_windows.c has what Windows makes of the like */
    CHECK_EQ_STR(resolved(&r, "f/../x"), "Not a directory");
    CHECK_EQ_STR(resolved(&r, "/"), "/");
    CHECK_EQ_STR(resolved(&r, "/../../.."), "/");
    CHECK_EQ_STR(resolved(&r, "/no-such-top/x"), "/no-such-top/x");
    CHECK_EQ_STR(resolved(&r, "name\nwith\nlines"), "/name\nwith\nlines");
#endif
}

TEST(links_are_resolved_at_every_level) {
    rig r;
    REQUIRE(rig_open(&r));
    (void)mkdir(in(&r, "sub"), 0777);
    (void)mkdir(in(&r, "sub/deep"), 0777);
    CHECK(symlink("sub/deep", in(&r, "to_deep")) == 0);
    CHECK(symlink("to_deep", in(&r, "twice")) == 0);
    CHECK_EQ_STR(resolved(&r, "to_deep/x"), "/sub/deep/x");
    CHECK_EQ_STR(resolved(&r, "twice/x"), "/sub/deep/x");
    CHECK(symlink("loop_b", in(&r, "loop_a")) == 0);
    CHECK(symlink("loop_a", in(&r, "loop_b")) == 0);
    CHECK_EQ_STR(resolved(&r, "loop_a/x"), "Too many levels of symbolic links");
    CHECK(symlink("self/self", in(&r, "self")) == 0);
    CHECK_EQ_STR(resolved(&r, "self"), "Too many levels of symbolic links");
#if !defined(_WIN32) /* where ".." is a matter of text, and Wine shows no link to nothing */
    CHECK_EQ_STR(resolved(&r, "to_deep/../x"), "/sub/x"); /* not what the text says */
    CHECK(symlink("/usr", in(&r, "to_usr")) == 0);
    CHECK(symlink("nowhere/at/all", in(&r, "dangling")) == 0);
    CHECK_EQ_STR(resolved(&r, "to_usr/none/x"), "/usr/none/x");
    CHECK_EQ_STR(resolved(&r, "dangling"), "/nowhere/at/all");
#endif
}

TEST(a_relative_base_and_none_start_at_the_working_directory) {
    char here[PHI__PATH_BYTES], there[PHI__PATH_BYTES], out[PHI__PATH_BYTES];
    phi__words words;
    REQUIRE(test_os_here(here, sizeof here));
    (void)snprintf(there, sizeof there, "%.2000s/a/b", here);
    CHECK_EQ_INT(resolve(NULL, "a/b", out, sizeof out, &words), PHI_OK);
    CHECK_EQ_STR(out, there);
    CHECK_EQ_INT(resolve("a", "b", out, sizeof out, &words), PHI_OK);
    CHECK_EQ_STR(out, there);
}

TEST(paths_that_are_too_long_are_refused) {
    char longer[6000], out[PHI__PATH_BYTES];
    phi__words words;
    memset(longer, 'x', sizeof longer);
    longer[sizeof longer - 1] = '\0';
    CHECK_EQ_INT(resolve(NULL, longer, out, sizeof out, &words), PHI_IO);
    CHECK_EQ_STR(words.text, "File name too long");
}

/* Directories "d" in each other, and in the deepest one links of which each leads to the next by a path of all of them; the
   last is a file. */
static bool put_chain(rig *r, int depth, int links, char *deepest, size_t size) {
    char target[2048], path[2048];
    int i, n = snprintf(deepest, size, "%s", r->dir);
    bool good = true;
    for (i = 0; i < depth && good; i++) {
        n += snprintf(deepest + n, size - (size_t)n, "/d");
        good = mkdir(deepest, 0777) == 0;
    }
    for (i = 0; i < links && good; i++) {
        (void)snprintf(path, sizeof path, "%s/l%d", deepest, i);
        (void)snprintf(target, sizeof target, "%s/%s%d", deepest, i + 1 < links ? "l" : "f", i + 1);
        good = symlink(target, path) == 0;
    }
    (void)snprintf(path, sizeof path, "%s/f%d", deepest, links);
    put(path, "found");
    return CHECK(good);
}

TEST(a_chain_of_links_is_resolved_a_part_at_a_time) {
    char deepest[1024], path[1100], want[1100];
    phi__resolve resolve;
    phi_status status;
    int calls = 0;
    rig r;
    REQUIRE(rig_open(&r) && put_chain(&r, 30, 39, deepest, sizeof deepest));
    (void)snprintf(path, sizeof path, "%s/l0", deepest);
    (void)snprintf(want, sizeof want, "%s/f39", deepest);
    CHECK_EQ_INT(phi__path_resolve_begin(&resolve, NULL, path, &r.words), PHI_OK);
    do {
        size_t units = 1;
        status = phi__path_resolve_advance(&resolve, &units, &r.words);
        CHECK_EQ_INT(units, 0);
        calls++;
    } while (status == PHI_BUSY && calls < 100000);
    CHECK_EQ_INT(status, PHI_OK);
    CHECK_EQ_STR(resolve.out, want);
#if !defined(_WIN32)        /* which resolves a path in one call */
    CHECK(calls > 39 * 30); /* a call looks at one part */
#endif
}

/* As write_file makes them: PHI_OK, and the units that were left of `units` a step. */
static phi_status make_way(rig *r, const char *path, size_t units, int *calls) {
    phi__way way;
    phi_status status;
    memset(&way, 0, sizeof way);
    way.path = path;
    *calls = 0;
    do {
        size_t left = units;
        status = phi__files_make_way(&way, &left, &r->words);
        CHECK(left < units);
        (*calls)++;
    } while (status == PHI_BUSY && *calls < 1000);
    phi__files_leave(&way);
    phi__files_leave(&way);
    return status;
}

TEST(directories_are_made_one_at_a_time) {
    char path[1024];
    struct stat info;
    int i, n, calls;
    rig r;
    REQUIRE(rig_open(&r));
    REQUIRE(CHECK_EQ_INT(resolve(NULL, r.dir, path, sizeof path, &r.words), PHI_OK));
    n = (int)strlen(path);
    for (i = 0; i < 60; i++) n += snprintf(path + n, sizeof path - (size_t)n, "/d");
    (void)snprintf(path + n, sizeof path - (size_t)n, "/f");
    CHECK_EQ_INT(make_way(&r, path, 1, &calls), PHI_OK);
    CHECK(calls >= 60);
    CHECK(access(path, F_OK) != 0); /* the last part is the file's */
    put(path, "");
    path[n] = '\0';
    CHECK(stat(path, &info) == 0 && S_ISDIR(info.st_mode));
    CHECK_EQ_INT(make_way(&r, path, 100000, &calls), PHI_OK);
    CHECK_EQ_INT(calls, 1);
    (void)snprintf(path + n, sizeof path - (size_t)n, "/f/g");
    CHECK_EQ_INT(make_way(&r, path, 100000, &calls), PHI_IO);
    CHECK_EQ_STR(r.words.text, "Not a directory");
}

TEST(inside_compares_whole_parts) {
    CHECK(phi__path_inside("/a/b", "/a/b"));
    CHECK(phi__path_inside("/a/b", "/a/b/c"));
    CHECK(!phi__path_inside("/a/b", "/a/bc"));
    CHECK(!phi__path_inside("/a/b", "/a"));
    CHECK(phi__path_inside("/", "/anything"));
}

/* ---- walking ---- */

typedef struct listing {
    char text[4096];
    int calls, entries;
} listing;

static int in_order(const void *a, const void *b) {
    return strcmp((const char *)a, (const char *)b);
}

/* What a walk returns, sorted. */
static phi_status list(rig *r, const char *skip, listing *out) {
    static char names[1000][32];
    int i;
    phi__walk *walk;
    phi__walk_entry entry;
    phi_status status = phi__walk_new(&r->memory, r->dir, PHI__LINKS_FOLLOW, &walk, &r->words);
    memset(out, 0, sizeof *out);
    if (status != PHI_OK) return status;
    do {
        status = phi__walk_next(walk, &entry);
        out->calls++;
        if (status != PHI_OK) continue;
        (void)snprintf(names[out->entries++ % 1000], sizeof names[0], "%.*s%s%u ",
                       (int)entry.path.len, entry.path.at,
                       entry.kind == PHI__FILE_DIRECTORY ? "/"
                       : entry.kind == PHI__FILE_LINK    ? "@"
                       : entry.kind == PHI__FILE_OTHER   ? "?"
                                                         : ":",
                       (unsigned)entry.depth);
        if (skip != NULL && phi__str_is(entry.path, skip)) phi__walk_skip(walk);
    } while (status == PHI_OK || status == PHI_BUSY);
    phi__walk_free(walk);
    qsort(names, (size_t)out->entries, sizeof names[0], in_order);
    for (i = 0; i < out->entries && strlen(out->text) + 40 < sizeof out->text; i++)
        (void)snprintf(out->text + strlen(out->text), 40, "%s", names[i]);
    return status;
}

TEST(a_walk_lists_all_paths_and_does_not_follow_links) {
    listing got;
    rig r;
    REQUIRE(rig_open(&r));
    (void)mkdir(in(&r, "b"), 0777);
    (void)mkdir(in(&r, "b/empty"), 0777);
    (void)mkdir(in(&r, "b/c"), 0777);
    put(in(&r, "b/c/z"), "");
    put(in(&r, "b-1"), "");
    put(in(&r, "b.txt"), "");
    put(in(&r, "b0"), "");
    put(in(&r, "A"), "");
    CHECK(symlink("..", in(&r, "b/up")) == 0);
    CHECK_EQ_INT(list(&r, NULL, &got), PHI_NOT_FOUND);
    CHECK_EQ_STR(got.text, "A:1 b-1:1 b.txt:1 b/1 b/c/2 b/c/z:3 b/empty/2 b/up@2 b0:1 ");
    CHECK_EQ_INT(list(&r, "b/c", &got), PHI_NOT_FOUND);
    CHECK_EQ_STR(got.text, "A:1 b-1:1 b.txt:1 b/1 b/c/2 b/empty/2 b/up@2 b0:1 ");
}

TEST(a_walk_says_what_is_no_file) {
    listing got;
    rig r;
    REQUIRE(rig_open(&r));
    CHECK(mkfifo(in(&r, "pipe"), 0600) == 0);
    CHECK_EQ_INT(list(&r, NULL, &got), PHI_NOT_FOUND);
    CHECK_EQ_STR(got.text, "pipe?1 ");
}

TEST(names_with_newlines_and_broken_utf8_are_names) {
    listing got;
    rig r;
    REQUIRE(rig_open(&r));
    put(in(&r, "a\nb"), "");
    put(in(&r, "\xff\xfe"), "");
    CHECK_EQ_INT(list(&r, NULL, &got), PHI_NOT_FOUND);
    CHECK_EQ_STR(got.text, "a\nb:1 \xff\xfe:1 ");
}

TEST(a_directory_of_a_thousand_files_takes_a_call_for_each) {
    listing got;
    char name[32];
    int i;
    rig r;
    REQUIRE(rig_open(&r));
    for (i = 0; i < 1000; i++) {
        (void)snprintf(name, sizeof name, "f%03d", (i * 617) % 1000);
        put(in(&r, name), "");
    }
    CHECK_EQ_INT(list(&r, NULL, &got), PHI_NOT_FOUND);
    CHECK_EQ_INT(got.entries, 1000);
    CHECK_EQ_INT(got.calls, 1004); /* opened, read to its end, left, and the end */
    CHECK(strncmp(got.text, "f000:1 f001:1 f002:1 f003:1 ", 28) == 0);
}

TEST(a_directory_that_cannot_be_read_is_returned_and_passed) {
    listing got;
    rig r;
    REQUIRE(rig_open(&r));
    (void)mkdir(in(&r, "locked"), 0777);
    put(in(&r, "locked/secret"), "");
    put(in(&r, "z"), "");
    (void)chmod(in(&r, "locked"), 0);
    if (geteuid() == 0)
        test_skip("root can read everything");
    else if (CHECK_EQ_INT(list(&r, NULL, &got), PHI_NOT_FOUND))
        CHECK_EQ_STR(got.text, "locked/1 z:1 ");
    (void)chmod(in(&r, "locked"), 0700);
}

TEST(a_walk_goes_64_directories_deep) {
    char path[1024] = "";
    listing got;
    int i;
    rig r;
    REQUIRE(rig_open(&r));
    for (i = 0; i < 70; i++) (void)snprintf(path + strlen(path), 4, "d/");
    CHECK_EQ_INT(phi__files_make_directories(in(&r, path), &r.words), PHI_OK);
    CHECK_EQ_INT(list(&r, NULL, &got), PHI_NOT_FOUND);
    CHECK_EQ_INT(got.entries, 64);
}

TEST(a_walk_of_what_is_no_directory_is_refused) {
    phi__walk *walk;
    rig r;
    REQUIRE(rig_open(&r));
    CHECK_EQ_INT(phi__walk_new(&r.memory, in(&r, "none"), PHI__LINKS_FOLLOW, &walk, &r.words),
                 PHI_NOT_FOUND);
    CHECK_EQ_STR(r.words.text, "No such file or directory");
    put(in(&r, "f"), "");
    CHECK_EQ_INT(phi__walk_new(&r.memory, r.path, PHI__LINKS_FOLLOW, &walk, &r.words), PHI_IO);
    CHECK_EQ_STR(r.words.text, "Not a directory");
}

TEST(a_walk_left_in_the_middle_frees_all) {
    phi__walk *walk;
    phi__walk_entry entry;
    int i;
    rig r;
    REQUIRE(rig_open(&r));
    CHECK_EQ_INT(phi__files_make_directories(in(&r, "a/b/c/d"), NULL), PHI_OK);
    put(in(&r, "a/x"), "");
    REQUIRE(phi__walk_new(&r.memory, r.dir, PHI__LINKS_FOLLOW, &walk, NULL) == PHI_OK);
    for (i = 0; i < 6; i++) (void)phi__walk_next(walk, &entry);
    phi__walk_free(walk);
}

/* ---- memory ---- */

TEST(every_failed_allocation_leaves_nothing_behind) {
    int n = 0;
    rig r;
    listing got;
    REQUIRE(rig_open(&r));
    CHECK_EQ_INT(phi__files_make_directories(in(&r, "a/b"), NULL), PHI_OK);
    put(in(&r, "a/b/x"), "");
    do {
        phi_status status;
        test_alloc_fail_at(n++);
        status = replace(&r, in(&r, "f"), "text", 4);
        CHECK(status == PHI_OK || status == PHI_NO_MEMORY);
        status = list(&r, NULL, &got);
        CHECK(status == PHI_NOT_FOUND || status == PHI_NO_MEMORY);
        CHECK_EQ_INT(test_alloc_live_bytes(), 0);
    } while (test_alloc_tripped() && n < 200);
    test_alloc_fail_at(-1);
    CHECK(n > 5 && n < 200);
    check_content(in(&r, "f"), "text");
}

TEST_MAIN(TEST_ENTRY(a_file_is_read_in_slices),
          TEST_ENTRY(what_cannot_be_read_is_refused_in_the_systems_words),
          TEST_ENTRY(stat_tells_kind_and_size_and_follows_or_refuses_links),
          TEST_ENTRY(a_new_file_gets_the_mode_the_umask_leaves),
          TEST_ENTRY(the_old_file_stays_until_the_commit_and_its_mode_after_it),
          TEST_ENTRY(a_replacement_without_commit_leaves_no_trace),
          TEST_ENTRY(a_link_is_kept_and_its_target_replaced),
          TEST_ENTRY(what_cannot_be_replaced_is_refused_and_nothing_changes),
          TEST_ENTRY(a_pipe_is_not_written_to), TEST_ENTRY(a_device_is_not_written_to),
          TEST_ENTRY(a_file_size_limit_is_an_error_and_no_signal_and_the_old_file_stays),
          TEST_ENTRY(a_name_of_255_bytes_can_be_replaced),
          TEST_ENTRY(directories_are_made_down_to_the_last),
          TEST_ENTRY(paths_lose_dots_and_doubled_slashes),
          TEST_ENTRY(links_are_resolved_at_every_level),
          TEST_ENTRY(a_relative_base_and_none_start_at_the_working_directory),
          TEST_ENTRY(paths_that_are_too_long_are_refused),
          TEST_ENTRY(a_chain_of_links_is_resolved_a_part_at_a_time),
          TEST_ENTRY(directories_are_made_one_at_a_time), TEST_ENTRY(inside_compares_whole_parts),
          TEST_ENTRY(a_walk_lists_all_paths_and_does_not_follow_links),
          TEST_ENTRY(a_walk_says_what_is_no_file),
          TEST_ENTRY(names_with_newlines_and_broken_utf8_are_names),
          TEST_ENTRY(a_directory_of_a_thousand_files_takes_a_call_for_each),
          TEST_ENTRY(a_directory_that_cannot_be_read_is_returned_and_passed),
          TEST_ENTRY(a_walk_goes_64_directories_deep),
          TEST_ENTRY(a_walk_of_what_is_no_directory_is_refused),
          TEST_ENTRY(a_walk_left_in_the_middle_frees_all),
          TEST_ENTRY(every_failed_allocation_leaves_nothing_behind))
