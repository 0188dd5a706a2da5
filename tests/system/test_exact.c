/* test_exact.c - checked paths, while another process swaps directories and links: by one system
   call, and by the walk that stands for it elsewhere. */
#include "system/files_in.h"
#include "support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#if defined(__linux__)
#include <sys/syscall.h>
#endif
#include <sys/wait.h>
#include <unistd.h>

typedef int (*open_fn)(const char *path, int flags, int *out);
static const open_fn ways[] = {phi__exact_open, phi__exact_walk};

typedef struct rig {
    char dir[PHI__PATH_BYTES]; /* resolved */
    char path[PHI__PATH_BYTES + 64];
} rig;

static bool rig_open(rig *r) {
    char dir[512];
    phi__resolve resolve;
    size_t units = SIZE_MAX;
    memset(r, 0, sizeof *r);
    if (!test_temp_dir(dir, sizeof dir)) return false;
    if (!CHECK(phi__path_resolve_begin(&resolve, NULL, dir, NULL) == PHI_OK) ||
        !CHECK(phi__path_resolve_advance(&resolve, &units, NULL) == PHI_OK))
        return false;
    (void)snprintf(r->dir, sizeof r->dir, "%s", resolve.out);
    return true;
}

static const char *in(rig *r, const char *name) {
    (void)snprintf(r->path, sizeof r->path, "%s/%s", r->dir, name);
    return r->path;
}

static void put(rig *r, const char *name, const char *text) {
    FILE *f = fopen(in(r, name), "wb");
    if (!CHECK(f != NULL)) return;
    (void)fputs(text, f);
    (void)fclose(f);
}

/* What a file says that is opened in one way; 0: it was refused. */
static char first_byte(open_fn way, const char *path, int *error) {
    char c = 0;
    int fd;
    *error = way(path, O_RDONLY, &fd);
    if (*error != 0) return 0;
    CHECK(read(fd, &c, 1) == 1);
    (void)close(fd);
    return c;
}

TEST(a_link_at_any_part_is_refused_in_both_ways) {
    size_t i;
    int error;
    rig r;
    REQUIRE(rig_open(&r));
    CHECK(mkdir(in(&r, "a"), 0777) == 0 && mkdir(in(&r, "a/b"), 0777) == 0);
    put(&r, "a/b/f", "i");
    CHECK(symlink("a", in(&r, "l")) == 0 && symlink("b", in(&r, "a/l")) == 0);
    CHECK(symlink("f", in(&r, "a/b/l")) == 0 && symlink("none", in(&r, "a/b/n")) == 0);
    for (i = 0; i < PHI__COUNT(ways); i++) {
        CHECK_EQ_INT(first_byte(ways[i], in(&r, "a/b/f"), &error), 'i');
        CHECK_EQ_INT(first_byte(ways[i], in(&r, "l/b/f"), &error), 0);
        CHECK_EQ_INT(error, PHI__EXACT_LINK);
        CHECK_EQ_INT(first_byte(ways[i], in(&r, "a/l/f"), &error), 0);
        CHECK_EQ_INT(error, PHI__EXACT_LINK);
        CHECK_EQ_INT(first_byte(ways[i], in(&r, "a/b/l"), &error), 0);
        CHECK_EQ_INT(error, PHI__EXACT_LINK);
        CHECK_EQ_INT(first_byte(ways[i], in(&r, "a/b/n"), &error), 0);
        CHECK_EQ_INT(error, PHI__EXACT_LINK);
        CHECK_EQ_INT(first_byte(ways[i], in(&r, "a/b/f/g"), &error), 0);
        CHECK_EQ_INT(error, ENOTDIR);
        CHECK_EQ_INT(first_byte(ways[i], in(&r, "a/none/f"), &error), 0);
        CHECK_EQ_INT(error, ENOENT);
    }
}

TEST(the_root_and_what_lies_in_it_are_opened_in_both_ways) {
    const char *name;
    size_t i;
    int fd;
    for (i = 0; i < PHI__COUNT(ways); i++) {
        CHECK_EQ_INT(ways[i]("/", O_RDONLY | O_DIRECTORY, &fd), 0);
        (void)close(fd);
        CHECK_EQ_INT(ways[i]("/dev", O_RDONLY | O_DIRECTORY, &fd), 0);
        (void)close(fd);
    }
    CHECK_EQ_INT(phi__exact_parent("/", &fd, &name), 0);
    CHECK_EQ_STR(name, ".");
    (void)close(fd);
    CHECK_EQ_INT(phi__exact_parent("/dev", &fd, &name), 0);
    CHECK_EQ_STR(name, "dev");
    (void)close(fd);
}

TEST(directories_are_searched_and_need_not_be_read) {
    size_t i;
    int error;
    rig r;
    bool super = geteuid() == 0; /* who reads all directories: somebody else tries it */
    REQUIRE(rig_open(&r));
    CHECK(mkdir(in(&r, "a"), 0777) == 0);
    put(&r, "a/f", "i");
    CHECK(chmod(in(&r, "a/f"), 0644) == 0 && chmod(in(&r, "a"), 0111) == 0);
    CHECK(chmod(r.dir, 0711) == 0 && (!super || seteuid(65534) == 0));
    CHECK(open(in(&r, "a"), O_RDONLY | O_CLOEXEC) == -1);
    for (i = 0; i < PHI__COUNT(ways); i++)
        CHECK_EQ_INT(first_byte(ways[i], in(&r, "a/f"), &error), 'i');
    CHECK((!super || seteuid(0) == 0) && chmod(in(&r, "a"), 0700) == 0);
}

/* A child that makes "d" a directory and a link to "out", in turns. */
static pid_t swap(rig *r) {
    pid_t pid;
    (void)fflush(NULL);
    pid = fork();
    if (pid != 0) return pid;
    if (chdir(r->dir) != 0) _exit(1);
#if defined(SYS_renameat2)
    while (syscall(SYS_renameat2, AT_FDCWD, "d", AT_FDCWD, "link", 2 /* exchange */) == 0) continue;
#endif
    for (;;) {
        if (rename("d", "aside") != 0 || rename("link", "d") != 0) _exit(1);
        if (rename("d", "link") != 0 || rename("aside", "d") != 0) _exit(1);
    }
}

TEST(a_swap_of_directory_and_link_leads_nowhere_else) {
    int i, error, inside = 0, links = 0, status;
    pid_t pid;
    rig r;
    REQUIRE(rig_open(&r));
    CHECK(mkdir(in(&r, "d"), 0777) == 0 && mkdir(in(&r, "out"), 0777) == 0);
    put(&r, "d/f", "i");
    put(&r, "out/f", "o");
    CHECK(symlink("out", in(&r, "link")) == 0);
    pid = swap(&r);
    REQUIRE(CHECK(pid > 0));
    (void)in(&r, "d/f");
    for (i = 0; i < 3000; i++) {
        char c = first_byte(ways[i % 2], r.path, &error);
        CHECK(c == 'i' || c == 0);
        inside += c == 'i';
        if (c == 0) CHECK(error == ENOENT || error == PHI__EXACT_LINK);
        links += c == 0 && error == PHI__EXACT_LINK;
    }
    CHECK(waitpid(pid, &status, WNOHANG) == 0); /* it swapped to the end */
    (void)kill(pid, SIGKILL);
    (void)waitpid(pid, &status, 0);
    printf("of 3,000 opened %d, refused as a link %d\n", inside, links);
}

TEST_MAIN(TEST_ENTRY(a_link_at_any_part_is_refused_in_both_ways),
          TEST_ENTRY(the_root_and_what_lies_in_it_are_opened_in_both_ways),
          TEST_ENTRY(directories_are_searched_and_need_not_be_read),
          TEST_ENTRY(a_swap_of_directory_and_link_leads_nowhere_else))
