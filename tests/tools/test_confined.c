/* test_confined.c - the tools that work on files, while another process swaps a directory of the
   workspace and a link that leads out of it; and places that are no regular files. */
#include "calls.h"
#include "loop/events.h"
#include "agent/agent_history.h"
#include "support/os.h"

#include <fcntl.h>
#include <signal.h>
#if defined(__linux__)
#include <sys/syscall.h>
#endif
#include <sys/wait.h>

/* The workspace "work" has the directory "d" and, beside it, a link to the directory "out", which
   lies outside. */
static bool open_work(calls *c, const phi_tools_desc *given) {
    if (!calls_open(c, given)) return false;
    calls_mkdir(c, "work");
    calls_mkdir(c, "work/d");
    calls_mkdir(c, "out");
    calls_put(c, "work/d/f", "inside\n");
    calls_put(c, "out/f", "outside\n");
    calls_put(c, "out/secret", "outside\n");
    c->set.desc.workspace = calls_copy(phi_str_of(calls_path(c, "work")));
    return CHECK(symlink("../out", calls_path(c, "work/link")) == 0);
}

static void close_work(calls *c) {
    free((char *)(uintptr_t)c->set.desc.workspace);
    calls_close(c);
}

#if defined(_WIN32)
enum { CALLS = 900 }; /* Wine is slow */

/* A program outside of Wine, which renames a link's target in place of the link. */
static int swap_to, swap_from;

static pid_t swap(const calls *c) {
    static const char script[] =
        "import os,select,sys\nos.chdir(sys.argv[1])\nprint(1,flush=True)\n"
        "while not select.select([0],[],[],0)[0]:\n"
        "  for a,b in ('d','aside'),('link','d'),('d','link'),('aside','d'):\n"
        "    try: os.rename(a,b)\n"
        "    except OSError: pass\n";
    const char *argv[] = {getenv("PYTHON"), "-c", script, c->set.desc.workspace, NULL};
    char byte;
    return test_os_spawn(argv, &swap_to, &swap_from) && test_os_read(swap_from, &byte, 1) == 1;
}

static void swap_end(pid_t pid) {
    char bytes[8];
    (void)pid;
    test_os_finish(swap_to);
    while (test_os_read(swap_from, bytes, sizeof bytes) > 0) continue;
    test_os_close(swap_from);
}
#else
enum { CALLS = 3000 };

/* A child that makes "d" a directory and a link, in turns. */
static pid_t swap(const calls *c) {
    pid_t pid;
    (void)fflush(NULL);
    pid = fork();
    if (pid != 0) return pid;
    if (chdir(c->set.desc.workspace) != 0) _exit(1);
#if defined(SYS_renameat2)
    while (syscall(SYS_renameat2, AT_FDCWD, "d", AT_FDCWD, "link", 2 /* exchange */) == 0) continue;
#endif
    for (;;) { /* a tool may make "d" while there is none */
        (void)rename("d", "aside");
        (void)rename("link", "d");
        (void)rename("d", "link");
        (void)rename("aside", "d");
    }
}

static void swap_end(pid_t pid) {
    int status;
    CHECK(waitpid(pid, &status, WNOHANG) == 0); /* it swapped to the end */
    (void)kill(pid, SIGKILL);
    (void)waitpid(pid, &status, 0);
}
#endif

static void call_at_once(calls *c, const char *tool, const char *arguments) {
    phi_event event;
    int runs = 1;
    rig_rewind(c->r);
    CHECK_EQ_INT(phi_agent_replace_messages(c->agent, NULL, 0), PHI_OK);
    calls_begin(c, tool, arguments);
    while (runs > 0) {
        runs = rig_step(c->r);
        while (phi_next_event(rig_runtime(c->r), &event)) calls_event(c, &event);
        rig_pass_ms(c->r, 1);
    }
    CHECK_EQ_INT(c->results, 1);
}

TEST(a_swap_of_directory_and_link_never_leads_a_tool_outside) {
    static const char *const asked[][2] = {
        {"read_file", "{\"path\":\"d/f\"}"},
        {"write_file", "{\"path\":\"d/f\",\"content\":\"inside\\n\"}"},
        {"write_file", "{\"path\":\"d/new/g\",\"content\":\"inside\\n\"}"},
        {"edit_file", "{\"path\":\"d/f\",\"old_text\":\"inside\",\"new_text\":\"inside!\"}"},
        {"list_files", "{\"path\":\"d\"}"},
        {"search", "{\"pattern\":\"outside\",\"path\":\"d\"}"}};
    int i, good = 0;
    pid_t pid;
    calls c;
#ifdef _WIN32
    if (getenv("PHI_LAUNCHER") != NULL) {
        test_skip("Wine gives a handle the path by which it was opened, also through a link");
        return;
    }
#endif
    REQUIRE(open_work(&c, NULL));
    pid = swap(&c);
    REQUIRE(CHECK(pid > 0));
    for (i = 0; i < CALLS; i++) {
        size_t k = (size_t)i % PHI__COUNT(asked);
        call_at_once(&c, asked[k][0], asked[k][1]);
        CHECK(strstr(c.text, "outside\n") == NULL && strstr(c.text, "secret") == NULL);
        good += !c.is_error;
    }
    swap_end(pid);
    check_file(&c, "out/f", "outside\n");
    check_file(&c, "out/secret", "outside\n");
    CHECK(access(calls_path(&c, "out/new"), F_OK) != 0);
    CHECK(unlink(calls_path(&c, "out/f")) == 0 && unlink(calls_path(&c, "out/secret")) == 0);
    CHECK(rmdir(calls_path(&c, "out")) == 0); /* nothing else was in it */
    printf("of %d calls %d found their file\n", CALLS, good);
    close_work(&c);
}

static void make_link(const calls *c) {
    char from[700];
    (void)snprintf(from, sizeof from, "%s/work/d", c->dir);
    CHECK(rename(from, calls_path(c, "work/aside")) == 0);
    CHECK(symlink("../out", from) == 0);
}

/* While write_file makes the directories of its path, "d" becomes a link: all that is made lies where
   "d" lay, and the file is not written. */
TEST(a_link_that_comes_between_check_and_use_is_refused_in_words) {
    char path[800], arguments[900], want[900];
    int i, n = 0, left = 1000;
    calls c;
    REQUIRE(open_work(&c, NULL));
    for (i = 0; i < 300; i++) n += snprintf(path + n, sizeof path - (size_t)n, "d/");
    (void)snprintf(arguments, sizeof arguments, "{\"path\":\"%sf\",\"content\":\"x\"}", path);
    (void)snprintf(want, sizeof want,
                   "Cannot write %sf: It has become a symbolic link since it was checked", path);
    calls_begin(&c, "write_file", arguments);
    while (access(calls_path(&c, "work/d/d"), F_OK) != 0 && left-- > 0) (void)calls_step(&c);
    CHECK(!c.ended);
    make_link(&c);
    while (calls_step(&c) > 0) continue;
    CHECK_EQ_STR(c.text, want);
    CHECK(c.is_error);
    CHECK(access(calls_path(&c, "out/d"), F_OK) != 0);
    CHECK(access(calls_path(&c, "work/aside/d/d/d"), F_OK) == 0);
    close_work(&c);
}

TEST(a_device_is_not_written_to_and_a_pipe_not_waited_for) {
    static const phi_search_with with[] = {PHI_SEARCH_OWN, PHI_SEARCH_RG, PHI_SEARCH_GREP};
    size_t i;
    calls c;
    REQUIRE(open_work(&c, NULL));
    if (mkfifo(calls_path(&c, "work/pipe"), 0600) != 0) { /* nobody will ever write */
        test_skip("no pipe can be made here");
        close_work(&c);
        return;
    }
    check_call(&c, "read_file", "{\"path\":\"pipe\"}", true, "Cannot read pipe: Not a regular file",
               "");
    check_call(&c, "edit_file", "{\"path\":\"pipe\",\"old_text\":\"a\",\"new_text\":\"b\"}", true,
               "Cannot read pipe: Not a regular file. Use write_file to create new files.", "");
    check_call(&c, "write_file", "{\"path\":\"pipe\",\"content\":\"x\"}", true,
               "Cannot write pipe: Not a regular file", "");
    for (i = 0; i < PHI__COUNT(with); i++) {
        c.set.desc.search_with = with[i];
        check_call(&c, "search", "{\"pattern\":\"x\",\"path\":\"pipe\"}", true,
                   "Search error: pipe: Not a regular file", "");
    }
    c.set.desc.unconfined = true;
    check_call(&c, "write_file", "{\"path\":\"/dev/null\",\"content\":\"x\"}", true,
               "Cannot write /dev/null: Not a regular file", "");
    close_work(&c);
}

/* A directory and a file beside the workspace, one of them reached by a link of the host's. */
TEST(allowed_paths_are_used_as_before) {
    const char *allowed[4] = {"../out", "../file", "../linked", NULL};
    phi_tools_desc desc = PHI_ZERO;
    calls c;
    desc.allowed_paths = allowed;
    desc.workspace = ".";
    REQUIRE(open_work(&c, &desc));
    calls_mkdir(&c, "real");
    CHECK(symlink("real", calls_path(&c, "linked")) == 0);
    check_call(&c, "read_file", "{\"path\":\"link/f\"}", false, "[1 lines]\n   1 | outside", NULL);
    check_call(&c, "write_file", "{\"path\":\"../file\",\"content\":\"x\"}", false,
               "Wrote 1 bytes to ../file", NULL);
    check_call(&c, "write_file", "{\"path\":\"../linked/sub/g\",\"content\":\"y\"}", false,
               "Wrote 1 bytes to ../linked/sub/g", NULL);
    check_file(&c, "file", "x");
    check_file(&c, "real/sub/g", "y");
    check_call(&c, "list_files", "{\"path\":\"../linked\"}", false, "../linked/sub/g\n\n(1 files)",
               NULL);
    check_call(&c, "search", "{\"pattern\":\"y\",\"path\":\"../linked\"}", false,
               "../linked/sub/g:1:y\n(1 matches)", NULL);
    check_call(&c, "write_file", "{\"path\":\"../other\",\"content\":\"x\"}", true,
               "Cannot access ../other: it is outside the allowed paths", "");
    close_work(&c);
}

TEST_MAIN(TEST_ENTRY(a_swap_of_directory_and_link_never_leads_a_tool_outside),
          TEST_ENTRY(a_link_that_comes_between_check_and_use_is_refused_in_words),
          TEST_ENTRY(a_device_is_not_written_to_and_a_pipe_not_waited_for),
          TEST_ENTRY(allowed_paths_are_used_as_before))
