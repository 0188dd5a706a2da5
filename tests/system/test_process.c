/* test_process.c - child processes: what they say, how they end, and that nothing of them stays. */
#include "system/process_in.h"
#include "support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- a rig: an io, and what one child said ---- */

typedef struct rig {
    phi_memory memory;
    phi__io *io;
    phi__process *process;
    char *text[3]; /* by stream; what is beyond ROOM is only counted */
    size_t len[3];
    int exits, code, signal_number;
    size_t refuse_every; /* output says no each time so many bytes have come */
    size_t refused_at;
    int refusals;
    bool free_in_output, free_in_exit;
} rig;

enum { ROOM = 4 * 1024 * 1024 };

static bool on_output(void *ctx, int stream, const char *bytes, size_t len) {
    rig *r = (rig *)ctx;
    if (r->len[stream] + len < ROOM) memcpy(r->text[stream] + r->len[stream], bytes, len);
    r->len[stream] += len;
    if (r->len[stream] < ROOM) r->text[stream][r->len[stream]] = '\0';
    if (r->free_in_output) {
        phi__process_free(r->process);
        r->process = NULL;
        return true;
    }
    if (r->refuse_every != 0 && r->len[stream] - r->refused_at >= r->refuse_every) {
        r->refused_at = r->len[stream];
        r->refusals++;
        return false;
    }
    return true;
}

static void on_exit_of(void *ctx, int code, int signal_number) {
    rig *r = (rig *)ctx;
    r->exits++;
    r->code = code;
    r->signal_number = signal_number;
    if (r->free_in_exit) {
        phi__process_free(r->process);
        r->process = NULL;
    }
}

static void rig_open(rig *r) {
    phi_allocator allocator = test_allocator();
    phi__io_desc desc;
    int i;
    memset(r, 0, sizeof *r);
    memset(&desc, 0, sizeof desc);
    desc.max_starts_per_step = 4;
    phi_memory_init(&r->memory, &allocator, 0);
    for (i = 1; i < 3; i++) {
        r->text[i] = (char *)malloc(ROOM);
        r->text[i][0] = '\0';
    }
    CHECK_EQ_INT(phi__io_new(&r->memory, &desc, &r->io), PHI_OK);
}

static void turn(rig *r, int timeout_ms) {
    phi__io_step_begin(r->io);
    (void)phi__io_wait(r->io, timeout_ms, 64);
    (void)phi__io_timers(r->io, 64);
}

static long long now_ms(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (long long)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Pumps for so long. */
static void turns(rig *r, int ms) {
    long long end = now_ms() + ms;
    while (now_ms() < end) turn(r, 5);
}

static bool children_left(void) {
    siginfo_t info;
    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

static void rig_close(rig *r) {
    long long end = now_ms() + 10000;
    phi__process_free(r->process);
    while (children_left() && now_ms() < end) turn(r, 5);
    phi__io_free(r->io);
    free(r->text[1]);
    free(r->text[2]);
}

static void desc_init(rig *r, phi__process_desc *desc, const char *const *argv) {
    memset(desc, 0, sizeof *desc);
    desc->argv = argv;
    desc->output = on_output;
    desc->exited = on_exit_of;
    desc->ctx = r;
}

static bool begin(rig *r, const phi__process_desc *desc) {
    char words[160] = "";
    phi__io_step_begin(r->io);
    phi_status status = phi__process_new(r->io, desc, &r->process, words, sizeof words);
    return CHECK_EQ_STR(words, "") && CHECK_EQ_INT(status, PHI_OK);
}

static bool begin_shell(rig *r, const char *script) {
    const char *argv[4] = {"sh", "-c", NULL, NULL};
    phi__process_desc desc;
    argv[2] = script;
    desc_init(r, &desc, argv);
    return begin(r, &desc);
}

/* Pumps to the exit; false after 20 seconds. */
static bool finish(rig *r) {
    long long end = now_ms() + 20000;
    while (r->exits == 0 && now_ms() < end) {
        turn(r, 100);
        if (r->process != NULL && r->refusals > 0) phi__process_resume(r->process);
    }
    return CHECK_EQ_INT(r->exits, 1);
}

static bool shell(rig *r, const char *script) { return begin_shell(r, script) && finish(r); }

/* ---- what it says ---- */

TEST(output_of_both_streams_arrives_apart_and_in_order) {
    rig r;
    rig_open(&r);
    if (shell(&r, "echo one; echo two >&2; echo three; echo four >&2")) {
        CHECK_EQ_STR(r.text[1], "one\nthree\n");
        CHECK_EQ_STR(r.text[2], "two\nfour\n");
        CHECK_EQ_INT(r.code, 0);
        CHECK_EQ_INT(r.signal_number, 0);
    }
    rig_close(&r);
}

TEST(output_arrives_while_the_child_runs) {
    rig r;
    rig_open(&r);
    if (begin_shell(&r, "echo early; sleep 30")) {
        long long end = now_ms() + 10000;
        while (r.len[1] == 0 && now_ms() < end) turn(&r, 100);
        CHECK_EQ_STR(r.text[1], "early\n");
        CHECK_EQ_INT(r.exits, 0);
    }
    rig_close(&r);
}

TEST(exit_codes_are_told) {
    rig r;
    rig_open(&r);
    if (shell(&r, "exit 7")) CHECK_EQ_INT(r.code, 7);
    CHECK_EQ_INT(r.signal_number, 0);
    rig_close(&r);
}

TEST(a_signal_is_told_and_the_code_is_then_minus_one) {
    rig r;
    rig_open(&r);
    if (shell(&r, "kill -TERM $$")) {
        CHECK_EQ_INT(r.code, -1);
        CHECK_EQ_INT(r.signal_number, SIGTERM);
    }
    rig_close(&r);
}

TEST(ten_megabytes_arrive_whole_though_the_reader_keeps_saying_no) {
    rig r;
    rig_open(&r);
    r.refuse_every = 262144;
    if (shell(&r, "head -c 10485760 /dev/zero")) {
        CHECK_EQ_INT(r.len[1], 10485760);
        CHECK(r.refusals >= 30);
    }
    rig_close(&r);
}

TEST(what_a_stopped_stream_holds_is_not_lost_when_the_child_exits) {
    rig r;
    rig_open(&r);
    r.refuse_every = 1;
    if (begin_shell(&r, "head -c 60000 /dev/zero")) {
        turns(&r, 400);
        CHECK_EQ_INT(r.exits, 0);
        CHECK_EQ_INT(r.refusals, 1);
        CHECK(r.len[1] <= 16384);
        if (finish(&r)) CHECK_EQ_INT(r.len[1], 60000);
    }
    rig_close(&r);
}

/* ---- stdin, directory, environment ---- */

TEST(a_megabyte_of_input_comes_back_from_cat) {
    const char *argv[] = {"cat", NULL};
    size_t n = 1048576, i;
    char *input = (char *)malloc(n);
    phi__process_desc desc;
    rig r;
    for (i = 0; i < n; i++) input[i] = (char)('a' + i % 23);
    rig_open(&r);
    desc_init(&r, &desc, argv);
    desc.input = phi__str(input, n);
    if (begin(&r, &desc)) {
        memset(input, '!', n); /* it was copied */
        if (finish(&r) && CHECK_EQ_INT(r.len[1], n)) {
            bool same = true;
            for (i = 0; i < n; i++) same = same && r.text[1][i] == (char)('a' + i % 23);
            CHECK(same);
        }
    }
    free(input);
    rig_close(&r);
}

TEST(input_can_be_read_by_name) {
    const char *argv[] = {"cat", "/dev/stdin", NULL};
    phi__process_desc desc;
    rig r;
    rig_open(&r);
    desc_init(&r, &desc, argv);
    desc.input = phi_str_of("named\n");
    if (begin(&r, &desc) && finish(&r)) CHECK_EQ_STR(r.text[1], "named\n");
    rig_close(&r);
}

TEST(without_input_stdin_is_empty) {
    rig r;
    rig_open(&r);
    if (shell(&r, "cat; echo end")) CHECK_EQ_STR(r.text[1], "end\n");
    rig_close(&r);
}

TEST(a_child_that_closes_its_input_raises_no_signal_here) {
    const char *argv[] = {"sh", "-c", "exec <&-; sleep 0.3; echo done", NULL};
    char *input = (char *)calloc(1, 500000);
    struct sigaction before, after;
    sigset_t mask_before, mask_after, pending;
    phi__process_desc desc;
    rig r;
    (void)sigaction(SIGPIPE, NULL, &before);
    (void)sigprocmask(SIG_BLOCK, NULL, &mask_before);
    CHECK(before.sa_handler == SIG_DFL); /* one SIGPIPE would end this program */
    rig_open(&r);
    desc_init(&r, &desc, argv);
    desc.input = phi__str(input, 500000);
    if (begin(&r, &desc) && finish(&r)) CHECK_EQ_STR(r.text[1], "done\n");
    (void)sigaction(SIGPIPE, NULL, &after);
    (void)sigprocmask(SIG_BLOCK, NULL, &mask_after);
    (void)sigpending(&pending);
    CHECK(after.sa_handler == SIG_DFL);
    CHECK_EQ_INT(sigismember(&mask_before, SIGPIPE), 0);
    CHECK_EQ_INT(sigismember(&mask_after, SIGPIPE), 0);
    CHECK_EQ_INT(sigismember(&mask_after, SIGXFSZ), 0);
    CHECK_EQ_INT(sigismember(&pending, SIGPIPE), 0);
    free(input);
    rig_close(&r);
}

TEST(the_directory_and_the_environment_are_the_ones_given) {
    const char *argv[] = {"sh", "-c", "basename \"$PWD\"; echo \"$PHI_ONE-$PHI_TWO-$PHI_THREE\"",
                          NULL};
    const char *env[] = {"PHI_TWO=new", "PHI_THREE=c", NULL};
    phi__process_desc desc;
    rig r;
    (void)setenv("PHI_ONE", "host", 1);
    (void)setenv("PHI_TWO", "old", 1);
    rig_open(&r);
    desc_init(&r, &desc, argv);
    desc.cwd = "tests/system";
    desc.env = env;
    if (begin(&r, &desc) && finish(&r)) CHECK_EQ_STR(r.text[1], "system\nhost-new-c\n");
    rig_close(&r);
}

#if defined(__linux__) && !defined(PHI__SPAWN_PLAIN)
#define SESSION_ENTRY TEST_ENTRY(a_child_has_a_session_of_its_own_and_no_terminal),
/* The sixth field of its stat is its session. */
TEST(a_child_has_a_session_of_its_own_and_no_terminal) {
    const char *argv[] = {"sh", "-c",
                          "read -r a b c d e session rest < /proc/self/stat\n"
                          "test $$ = $session && echo its own\n"
                          "(: > /dev/tty) 2> /dev/null || echo none",
                          NULL};
    phi__process_desc desc;
    rig r;
    rig_open(&r);
    desc_init(&r, &desc, argv);
    if (begin(&r, &desc) && finish(&r)) CHECK_EQ_STR(r.text[1], "its own\nnone\n");
    rig_close(&r);
}
#else
#define SESSION_ENTRY
#endif

TEST(a_child_has_default_signals_and_none_blocked) {
    struct sigaction ignore, before;
    unsigned long long blocked = 1, ignored = 1;
    sigset_t hold, mask;
    rig r;
    memset(&ignore, 0, sizeof ignore);
    ignore.sa_handler = SIG_IGN;
    (void)sigaction(SIGUSR1, &ignore, &before);
    (void)sigemptyset(&hold);
    (void)sigaddset(&hold, SIGUSR2);
    (void)sigprocmask(SIG_BLOCK, &hold, &mask);
    rig_open(&r);
    if (access("/proc/self/status", R_OK) != 0)
        test_skip("no /proc here");
    else if (shell(&r, "grep -E 'Sig(Blk|Ign)' /proc/self/status"))
        CHECK(sscanf(r.text[1], "SigBlk: %llx SigIgn: %llx", &blocked, &ignored) == 2);
    CHECK_EQ_INT(blocked, 0);
    CHECK_EQ_INT(ignored & 0x7fffffff, 0); /* 32 and 33 are the C library's own */
    (void)sigprocmask(SIG_SETMASK, &mask, NULL);
    (void)sigaction(SIGUSR1, &before, NULL);
    rig_close(&r);
}

TEST(no_descriptor_of_the_host_is_open_in_a_child) {
    int fd = open("/dev/null", O_RDONLY);
    rig r;
    rig_open(&r);
#if defined(PHI__SPAWN_PLAIN)
    test_skip("this system cannot close them");
#else
    if (access("/proc/self/fd", R_OK) != 0)
        test_skip("no /proc here");
    else if (shell(&r, "ls /proc/self/fd | wc -l")) /* ls holds the directory as the fourth */
        CHECK_EQ_STR(r.text[1], "4\n");
#endif
    (void)close(fd);
    rig_close(&r);
}

TEST(a_host_without_standard_streams_can_still_spawn) {
    const char *argv[] = {"sh", "-c", "cat; echo out; echo err >&2", NULL};
    int saved[3], i;
    phi__process_desc desc;
    rig r;
    rig_open(&r);
    (void)fflush(stdout);
    for (i = 0; i < 3; i++) {
        saved[i] = fcntl(i, F_DUPFD_CLOEXEC, 100);
        (void)close(i);
    }
    desc_init(&r, &desc, argv);
    desc.input = phi_str_of("in\n");
    if (begin(&r, &desc)) (void)finish(&r);
    phi__process_free(r.process);
    r.process = NULL;
    for (i = 0; i < 3; i++) {
        (void)dup2(saved[i], i);
        (void)close(saved[i]);
    }
    CHECK_EQ_STR(r.text[1], "in\nout\n");
    CHECK_EQ_STR(r.text[2], "err\n");
    rig_close(&r);
}

/* ---- a conversation ---- */

static int rooms;
static void on_room(void *ctx) {
    (void)ctx;
    rooms++;
}

static void on_room_free(void *ctx) {
    rig *r = (rig *)ctx;
    rooms++;
    phi__process_free(r->process);
    r->process = NULL;
}

static bool begin_talk(rig *r, const char *const *argv, size_t most) {
    phi__process_desc desc;
    desc_init(r, &desc, argv);
    desc.keep_input = true;
    desc.max_input_bytes = most;
    desc.room = on_room;
    rooms = 0;
    return begin(r, &desc);
}

static bool until_len(rig *r, size_t len) {
    long long end = now_ms() + 20000;
    while (r->len[1] < len && r->exits == 0 && now_ms() < end) turn(r, 100);
    return CHECK(r->len[1] >= len);
}

TEST(a_child_that_is_talked_to_answers_each_line_and_ends_with_its_input) {
    const char *argv[] = {"sh", "-c", "while read l; do echo \"<$l>\"; done; echo bye; exit 3",
                          NULL};
    size_t taken = 0;
    rig r;
    rig_open(&r);
    if (begin_talk(&r, argv, 0)) {
        CHECK_EQ_INT(phi__process_write(r.process, "one\n", 4, &taken), PHI_OK);
        CHECK_EQ_INT(taken, 4);
        if (until_len(&r, 6)) CHECK_EQ_STR(r.text[1], "<one>\n");
        CHECK_EQ_INT(phi__process_write(r.process, "", 0, &taken), PHI_OK);
        CHECK_EQ_INT(phi__process_write(r.process, "two\n", 4, &taken), PHI_OK);
        if (until_len(&r, 12)) CHECK_EQ_STR(r.text[1], "<one>\n<two>\n");
        phi__process_end_input(r.process);
        phi__process_end_input(r.process);
        CHECK_EQ_INT(phi__process_write(r.process, "x", 1, &taken), PHI_STALE);
        if (finish(&r)) CHECK_EQ_INT(r.code, 3);
        CHECK_EQ_STR(r.text[1], "<one>\n<two>\nbye\n");
        CHECK_EQ_INT(phi__process_write(r.process, "x", 1, &taken), PHI_STALE);
        CHECK_EQ_INT(taken, 0);
        phi__process_end_input(r.process);
        phi__process_terminate(r.process);
    }
    CHECK_EQ_INT(rooms, 0);
    rig_close(&r);
}

TEST(input_beyond_the_queue_is_left_and_room_is_told_once_it_drains) {
    const char *argv[] = {"cat", NULL};
    enum { ALL = 3000000, QUEUE = 100000 };
    char *input = (char *)malloc(ALL);
    size_t sent = 0, taken, i;
    int waits = 0;
    rig r;
    for (i = 0; i < ALL; i++) input[i] = (char)('a' + i % 23);
    rig_open(&r);
    if (begin_talk(&r, argv, QUEUE)) {
        long long end = now_ms() + 20000;
        while (r.len[1] < ALL && now_ms() < end) {
            int before = rooms;
            if (sent < ALL && before == waits) {
                CHECK_EQ_INT(phi__process_write(r.process, input + sent, ALL - sent, &taken),
                             PHI_OK);
                CHECK(taken <= QUEUE);
                sent += taken;
                if (sent < ALL) waits++;
            }
            turn(&r, 100);
        }
        CHECK_EQ_INT(r.len[1], ALL);
        CHECK(memcmp(r.text[1], input, ALL) == 0);
        CHECK_EQ_INT(rooms, waits);
        CHECK(r.memory.peak_bytes < 3 * QUEUE + 65536);
        phi__process_end_input(r.process);
        if (finish(&r)) CHECK_EQ_INT(r.code, 0);
    }
    free(input);
    rig_close(&r);
}

TEST(a_queue_that_fits_into_the_pipe_tells_of_room_as_well) {
    const char *argv[] = {"cat", NULL};
    size_t taken;
    rig r;
    rig_open(&r);
    if (begin_talk(&r, argv, 4)) {
        CHECK_EQ_INT(phi__process_write(r.process, "abcdef", 6, &taken), PHI_OK);
        CHECK_EQ_INT(taken, 4);
        (void)until_len(&r, 4);
        turns(&r, 50);
        CHECK_EQ_INT(rooms, 1);
        CHECK_EQ_STR(r.text[1], "abcd");
    }
    rig_close(&r);
}

TEST(a_talk_may_be_freed_inside_of_room) {
    const char *argv[] = {"sh", "-c", "sleep 0.1; exec cat", NULL};
    char *input = (char *)calloc(1, 500000);
    phi__process_desc desc;
    long long end = now_ms() + 10000;
    size_t taken;
    rig r;
    rig_open(&r);
    rooms = 0;
    desc_init(&r, &desc, argv);
    desc.keep_input = true;
    desc.max_input_bytes = 200000;
    desc.room = on_room_free;
    if (begin(&r, &desc)) {
        CHECK_EQ_INT(phi__process_write(r.process, input, 500000, &taken), PHI_OK);
        CHECK_EQ_INT(taken, 200000);
        while (r.process != NULL && now_ms() < end) turn(&r, 100);
        CHECK_EQ_INT(rooms, 1);
        CHECK(r.process == NULL);
    }
    free(input);
    rig_close(&r);
}

TEST(a_write_to_a_child_that_closed_its_input_is_stale_and_no_signal) {
    const char *argv[] = {"sh", "-c", "exec <&-; echo closed; sleep 60", NULL};
    size_t taken;
    rig r;
    rig_open(&r);
    if (begin_talk(&r, argv, 0) && until_len(&r, 7)) {
        CHECK_EQ_INT(phi__process_write(r.process, "x", 1, &taken), PHI_STALE);
        CHECK_EQ_INT(phi__process_write(r.process, "x", 1, &taken), PHI_STALE);
        CHECK_EQ_INT(r.exits, 0);
        phi__process_terminate(r.process);
        if (finish(&r)) CHECK_EQ_INT(r.signal_number, SIGTERM);
    }
    rig_close(&r);
}

TEST(terminate_reaches_the_group_and_may_be_ignored) {
    const char *argv[] = {"sh", "-c", "trap 'echo no' TERM; echo up; while :; do sleep 0.05; done",
                          NULL};
    rig r;
    rig_open(&r);
    if (begin_talk(&r, argv, 0) && until_len(&r, 3)) {
        phi__process_terminate(r.process);
        if (until_len(&r, 6)) CHECK_EQ_STR(r.text[1], "up\nno\n");
        turns(&r, 30);
        CHECK_EQ_INT(r.exits, 0);
    }
    rig_close(&r);
}

TEST(a_first_input_comes_before_what_is_written_later) {
    const char *argv[] = {"cat", NULL};
    phi__process_desc desc;
    size_t taken;
    rig r;
    rig_open(&r);
    desc_init(&r, &desc, argv);
    desc.input = phi_str_of("first ");
    desc.keep_input = true;
    if (begin(&r, &desc)) {
        CHECK_EQ_INT(phi__process_write(r.process, "later", 5, &taken), PHI_OK);
        phi__process_end_input(r.process);
        if (finish(&r)) CHECK_EQ_STR(r.text[1], "first later");
    }
    rig_close(&r);
}

TEST(a_write_without_memory_takes_nothing_and_can_be_repeated) {
    const char *argv[] = {"cat", NULL};
    size_t taken;
    rig r;
    rig_open(&r);
    if (begin_talk(&r, argv, 0)) {
        test_alloc_fail_at(0);
        CHECK_EQ_INT(phi__process_write(r.process, "abc", 3, &taken), PHI_NO_MEMORY);
        CHECK_EQ_INT(taken, 0);
        test_alloc_fail_at(-1);
        CHECK_EQ_INT(phi__process_write(r.process, "abc", 3, &taken), PHI_OK);
        phi__process_end_input(r.process);
        if (finish(&r)) CHECK_EQ_STR(r.text[1], "abc");
    }
    rig_close(&r);
}

TEST(a_child_with_an_environment_of_its_own_has_nothing_of_the_hosts) {
    const char *argv[] = {"env", NULL};
    const char *env[] = {"ONLY=this", NULL};
    phi__process_desc desc;
    rig r;
    (void)setenv("PHI_ONE", "host", 1);
    rig_open(&r);
    desc_init(&r, &desc, argv);
    desc.env = env;
    desc.env_only = true;
    if (begin(&r, &desc) && finish(&r)) CHECK_EQ_STR(r.text[1], "ONLY=this\n");
    rig_close(&r);
}

/* ---- ends ---- */

static bool gone(long pid) {
    long long end = now_ms() + 5000;
    char path[64];
    FILE *f;
    char state = 'X';
    for (;;) {
#if defined(_WIN32) /* the shell's numbers are not those of Windows */
        (void)snprintf(path, sizeof path, "kill -0 %ld 2>/dev/null", pid);
        if (system(path) != 0) return true;
#else
        if (kill((pid_t)pid, 0) != 0 && errno == ESRCH) return true;
#endif
        (void)snprintf(path, sizeof path, "/proc/%ld/stat", pid); /* dead, but its parent is slow */
        f = fopen(path, "r");
        if (f != NULL) {
            if (fscanf(f, "%*d %*s %c", &state) == 1 && state == 'Z') {
                (void)fclose(f);
                return true;
            }
            (void)fclose(f);
        }
        if (now_ms() > end) return false;
        (void)usleep(2000);
    }
}

TEST(free_ends_the_whole_group) {
    long pids[2] = {0, 0};
    rig r;
    rig_open(&r);
    if (begin_shell(&r, "sleep 60 & echo $!; (sleep 60 & echo $!; wait); wait")) {
        long long end = now_ms() + 10000;
        while (sscanf(r.text[1], "%ld\n%ld\n", &pids[0], &pids[1]) < 2 && now_ms() < end)
            turn(&r, 100);
        phi__process_free(r.process);
        r.process = NULL;
        CHECK(pids[0] > 0 && gone(pids[0]));
        CHECK(pids[1] > 0 && gone(pids[1]));
    }
    rig_close(&r);
}

TEST(a_grandchild_that_holds_the_pipe_delays_the_end_by_a_tenth_of_a_second_and_is_killed) {
    long long began = now_ms();
    long pid = 0;
    rig r;
    rig_open(&r);
    if (shell(&r, "sleep 60 & echo $!")) {
        CHECK_EQ_INT(r.code, 0);
        CHECK(now_ms() - began < 10000);
        CHECK(sscanf(r.text[1], "%ld", &pid) == 1 && pid > 0 && gone(pid));
    }
    rig_close(&r);
}

TEST(what_a_grandchild_writes_within_a_tenth_of_a_second_is_kept) {
    bool kept = false;
    int tries;
    for (tries = 0; tries < 20 && !kept; tries++) { /* a busy machine may be too slow for it */
        rig r;
        rig_open(&r);
        if (shell(&r, "{ sleep 0.03; echo late; } & echo now"))
            kept = strcmp(r.text[1], "now\nlate\n") == 0;
        rig_close(&r);
    }
    CHECK(kept);
}

/* A grandchild in a session of its own writes its number, says that it is there, and does `then`; its
   parent exits with 3. It is ended here. */
static void escape_and(const char *then) {
    char dir[512], script[2048];
    long pid = 0;
    rig r;
    REQUIRE(test_temp_dir(dir, sizeof dir));
    (void)snprintf(script, sizeof script,
                   "setsid sh -c 'echo $$; : > %s/up; exec %s' & "
                   "while [ ! -e %s/up ]; do sleep 0.01; done; exit 3",
                   dir, then, dir);
    rig_open(&r);
    if (shell(&r, script)) {
        CHECK_EQ_INT(r.code, 3);
        CHECK(sscanf(r.text[1], "%ld", &pid) == 1 && pid > 0);
        if (pid > 0) (void)kill((pid_t)pid, SIGKILL);
    }
    rig_close(&r);
}

TEST(a_grandchild_that_left_the_group_cannot_hold_the_end_up) { escape_and("sleep 60"); }

TEST(a_grandchild_that_left_the_group_and_never_stops_writing_cannot_either) {
    escape_and("cat /dev/zero");
}

TEST(two_hundred_children_one_after_another_leave_nothing) {
    int i;
    rig r;
    rig_open(&r);
    for (i = 0; i < 200; i++) {
        r.exits = 0;
        r.len[1] = 0;
        if (!shell(&r, "echo hi")) break;
        CHECK_EQ_STR(r.text[1], "hi\n");
        phi__process_free(r.process);
        r.process = NULL;
        CHECK(!children_left());
    }
    rig_close(&r);
}

TEST(free_of_a_running_child_kills_and_reaps_it) {
    int i;
    rig r;
    rig_open(&r);
    for (i = 0; i < 20; i++) {
        if (begin_shell(&r, "sleep 60 & sleep 60")) turns(&r, i % 3 * 10);
        phi__process_free(r.process);
        r.process = NULL;
    }
    CHECK_EQ_INT(r.exits, 0);
    rig_close(&r);
    CHECK(!children_left());
}

TEST(free_is_allowed_inside_the_callbacks) {
    rig r;
    rig_open(&r);
    r.free_in_output = true;
    if (begin_shell(&r, "echo one; sleep 60")) {
        long long end = now_ms() + 10000;
        while (r.process != NULL && now_ms() < end) turn(&r, 100);
        CHECK(r.process == NULL);
        CHECK_EQ_INT(r.exits, 0);
    }
    r.free_in_output = false;
    r.free_in_exit = true;
    if (shell(&r, "exit 5")) CHECK_EQ_INT(r.code, 5);
    CHECK(r.process == NULL);
    rig_close(&r);
}

TEST(an_orphan_that_is_still_dying_is_reaped_when_the_io_ends) {
    rig r;
    rig_open(&r);
    CHECK(!phi__io_pending(r.io));
    (void)begin_shell(&r, "sleep 60 & sleep 60");
    phi__process_free(r.process);
    CHECK(phi__io_pending(r.io) || !children_left());
    phi__io_free(r.io);
    CHECK(!children_left());
    free(r.text[1]);
    free(r.text[2]);
}

TEST(a_host_that_ignores_sigchld_gets_code_minus_one_without_a_signal) {
    struct sigaction ignore, before;
    rig r;
    memset(&ignore, 0, sizeof ignore);
    ignore.sa_handler = SIG_IGN;
    (void)sigaction(SIGCHLD, &ignore, &before);
    rig_open(&r);
    if (shell(&r, "echo said; exit 3")) {
        CHECK_EQ_STR(r.text[1], "said\n");
        CHECK_EQ_INT(r.code, -1);
        CHECK_EQ_INT(r.signal_number, 0);
    }
    phi__process_free(r.process);
    r.process = NULL;
    if (begin_shell(&r, "sleep 60")) phi__process_free(r.process);
    r.process = NULL;
    turns(&r, 200);
    rig_close(&r);
    (void)sigaction(SIGCHLD, &before, NULL);
}

/* ---- refusals ---- */

/* Under Valgrind a spawn cannot tell that the program did not start: the child exits with 127. */
static bool spawn_tells(void) {
    char *const argv[] = {(char *)"no-such-program-here", NULL};
    siginfo_t info;
    pid_t pid;
    if (posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ) != 0) return true;
    (void)waitid(P_PID, (id_t)pid, &info, WEXITED);
    test_skip("posix_spawn does not tell of a failed start here");
    return false;
}

TEST(a_missing_program_is_not_found) {
    const char *argv[] = {"no-such-program-here", NULL};
    phi__process_desc desc;
    char words[160];
    rig r;
    if (!spawn_tells()) return;
    rig_open(&r);
    desc_init(&r, &desc, argv);
    phi__io_step_begin(r.io);
    CHECK_EQ_INT(phi__process_new(r.io, &desc, &r.process, words, sizeof words), PHI_NOT_FOUND);
    CHECK_EQ_STR(words, "No such file or directory");
    CHECK(r.process == NULL);
    rig_close(&r);
}

TEST(a_file_that_is_no_program_is_refused_in_the_systems_words) {
    const char *argv[] = {"docs/errors.md", NULL};
    phi__process_desc desc;
    char words[160];
    rig r;
    if (!spawn_tells()) return;
    rig_open(&r);
    desc_init(&r, &desc, argv);
    phi__io_step_begin(r.io);
    CHECK_EQ_INT(phi__process_new(r.io, &desc, &r.process, words, sizeof words), PHI_IO);
#if !defined(_WIN32)
    CHECK_EQ_STR(words, "Permission denied");
#endif
    rig_close(&r);
}

TEST(a_missing_directory_is_refused_in_the_systems_words) {
    const char *argv[] = {"true", NULL};
    phi__process_desc desc;
    char words[160];
    phi_status status;
    rig r;
    if (!spawn_tells()) return;
    rig_open(&r);
    desc_init(&r, &desc, argv);
    desc.cwd = "/no/such/directory";
    phi__io_step_begin(r.io);
    status = phi__process_new(r.io, &desc, &r.process, words, sizeof words);
#if defined(PHI__SPAWN_PLAIN)
    CHECK_EQ_INT(status, PHI_OK); /* a shell finds it out, and says so itself */
    if (finish(&r)) CHECK(r.code != 0 && strstr(r.text[2], "/no/such/directory") != NULL);
#else
    CHECK_EQ_INT(status, PHI_IO);
    CHECK_EQ_STR(words, "No such file or directory");
#endif
    rig_close(&r);
}

TEST(an_empty_argv_is_a_bad_argument) {
    const char *argv[] = {NULL};
    phi__process_desc desc;
    rig r;
    rig_open(&r);
    desc_init(&r, &desc, argv);
    phi__io_step_begin(r.io);
    CHECK_EQ_INT(phi__process_new(r.io, &desc, &r.process, NULL, 0), PHI_BAD_ARG);
    rig_close(&r);
}

TEST(the_fifth_start_of_a_step_has_to_wait) {
    const char *argv[] = {"true", NULL};
    phi__process *started[4];
    phi__process_desc desc;
    int i;
    rig r;
    rig_open(&r);
    desc_init(&r, &desc, argv);
    phi__io_step_begin(r.io);
    for (i = 0; i < 4; i++)
        CHECK_EQ_INT(phi__process_new(r.io, &desc, &started[i], NULL, 0), PHI_OK);
    CHECK_EQ_INT(phi__process_new(r.io, &desc, &r.process, NULL, 0), PHI_BUSY);
    turn(&r, 0);
    phi__io_step_begin(r.io);
    CHECK_EQ_INT(phi__process_new(r.io, &desc, &r.process, NULL, 0), PHI_OK);
    for (i = 0; i < 4; i++) phi__process_free(started[i]);
    rig_close(&r);
}

TEST(every_failed_allocation_leaves_no_child_and_no_descriptor) {
    const char *argv[] = {"cat", NULL};
    phi__process_desc desc;
    int n = 0;
    rig r;
    do {
        phi_status status;
        rig_open(&r);
        desc_init(&r, &desc, argv);
        desc.input = phi_str_of("some input");
        desc.cwd = "/";
        phi__io_step_begin(r.io);
        test_alloc_fail_at(n++);
        status = phi__process_new(r.io, &desc, &r.process, NULL, 0);
        CHECK(status == PHI_OK || status == PHI_NO_MEMORY);
        if (status == PHI_OK && finish(&r)) CHECK_EQ_STR(r.text[1], "some input");
        if (status != PHI_OK) CHECK(!children_left());
        if (!test_alloc_tripped()) n = -1;
        test_alloc_fail_at(-1);
        rig_close(&r);
    } while (n > 0 && n < 100);
    CHECK_EQ_INT(n, -1);
}

TEST_MAIN(SESSION_ENTRY TEST_ENTRY(output_of_both_streams_arrives_apart_and_in_order),
          TEST_ENTRY(output_arrives_while_the_child_runs), TEST_ENTRY(exit_codes_are_told),
          TEST_ENTRY(a_signal_is_told_and_the_code_is_then_minus_one),
          TEST_ENTRY(ten_megabytes_arrive_whole_though_the_reader_keeps_saying_no),
          TEST_ENTRY(what_a_stopped_stream_holds_is_not_lost_when_the_child_exits),
          TEST_ENTRY(a_megabyte_of_input_comes_back_from_cat),
          TEST_ENTRY(input_can_be_read_by_name), TEST_ENTRY(without_input_stdin_is_empty),

          TEST_ENTRY(a_child_that_closes_its_input_raises_no_signal_here),
          TEST_ENTRY(the_directory_and_the_environment_are_the_ones_given),
          TEST_ENTRY(a_child_has_default_signals_and_none_blocked),
          TEST_ENTRY(no_descriptor_of_the_host_is_open_in_a_child),
          TEST_ENTRY(a_missing_directory_is_refused_in_the_systems_words),
          TEST_ENTRY(a_host_without_standard_streams_can_still_spawn),
          TEST_ENTRY(a_child_that_is_talked_to_answers_each_line_and_ends_with_its_input),
          TEST_ENTRY(input_beyond_the_queue_is_left_and_room_is_told_once_it_drains),
          TEST_ENTRY(a_queue_that_fits_into_the_pipe_tells_of_room_as_well),
          TEST_ENTRY(a_talk_may_be_freed_inside_of_room),
          TEST_ENTRY(a_write_to_a_child_that_closed_its_input_is_stale_and_no_signal),
          TEST_ENTRY(terminate_reaches_the_group_and_may_be_ignored),
          TEST_ENTRY(a_first_input_comes_before_what_is_written_later),
          TEST_ENTRY(a_write_without_memory_takes_nothing_and_can_be_repeated),
          TEST_ENTRY(a_child_with_an_environment_of_its_own_has_nothing_of_the_hosts),
          TEST_ENTRY(free_ends_the_whole_group),
          TEST_ENTRY(
              a_grandchild_that_holds_the_pipe_delays_the_end_by_a_tenth_of_a_second_and_is_killed),
          TEST_ENTRY(what_a_grandchild_writes_within_a_tenth_of_a_second_is_kept),
          TEST_ENTRY(a_grandchild_that_left_the_group_cannot_hold_the_end_up),
          TEST_ENTRY(a_grandchild_that_left_the_group_and_never_stops_writing_cannot_either),
          TEST_ENTRY(two_hundred_children_one_after_another_leave_nothing),
          TEST_ENTRY(free_of_a_running_child_kills_and_reaps_it),
          TEST_ENTRY(free_is_allowed_inside_the_callbacks),
          TEST_ENTRY(an_orphan_that_is_still_dying_is_reaped_when_the_io_ends),
          TEST_ENTRY(a_host_that_ignores_sigchld_gets_code_minus_one_without_a_signal),
          TEST_ENTRY(a_missing_program_is_not_found),
          TEST_ENTRY(a_file_that_is_no_program_is_refused_in_the_systems_words),
          TEST_ENTRY(an_empty_argv_is_a_bad_argument),
          TEST_ENTRY(the_fifth_start_of_a_step_has_to_wait),
          TEST_ENTRY(every_failed_allocation_leaves_no_child_and_no_descriptor))
