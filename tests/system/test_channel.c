/* test_channel.c - two descriptors as a conversation: pipes, files, devices, and peers that leave. */
#include "system/system_in.h"
#include "support/test.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { ROOM = 4 * 1024 * 1024 };

typedef struct rig {
    phi_memory memory;
    phi__io *io;
    phi__channel *channel;
    int far_in, far_out; /* the other ends: written and read by the test; -1: none */
    char *text;
    size_t len;
    int inputs, rooms, ends;
    phi_status status;
    char message[128];
    bool refuse, free_in_input, free_in_end, free_in_room;
} rig;

static void leave(rig *r, bool now) {
    if (!now) return;
    phi__channel_free(r->channel);
    r->channel = NULL;
}

static bool on_input(void *ctx, const char *bytes, size_t len) {
    rig *r = (rig *)ctx;
    if (r->len + len < ROOM) memcpy(r->text + r->len, bytes, len);
    r->len += len;
    r->text[r->len < ROOM ? r->len : 0] = '\0';
    r->inputs++;
    leave(r, r->free_in_input);
    return !r->refuse;
}

static void on_room(void *ctx) {
    rig *r = (rig *)ctx;
    r->rooms++;
    leave(r, r->free_in_room);
}

static void on_ended(void *ctx, phi_status status, const char *message) {
    rig *r = (rig *)ctx;
    r->ends++;
    r->status = status;
    (void)snprintf(r->message, sizeof r->message, "%s", message);
    leave(r, r->free_in_end);
}

static void rig_open(rig *r) {
    phi_allocator allocator = test_allocator();
    memset(r, 0, sizeof *r);
    r->far_in = r->far_out = -1;
    r->text = (char *)calloc(1, ROOM + 1);
    phi_memory_init(&r->memory, &allocator, 0);
    CHECK_EQ_INT(phi__io_new(&r->memory, NULL, &r->io), PHI_OK);
}

static phi_status rig_begin(rig *r, int in_fd, int out_fd, size_t most) {
    phi__channel_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.in_fd = in_fd;
    desc.out_fd = out_fd;
    desc.max_out_bytes = most;
    desc.input = on_input;
    desc.room = on_room;
    desc.ended = on_ended;
    desc.ctx = r;
    return phi__channel_new(r->io, &desc, &r->channel);
}

/* Ours are fds[0] for reading and fds[1] for writing. They block, as those of a shell do. */
static bool rig_pipes(rig *r, int fds[2], size_t most) {
    int in[2], out[2];
    if (!CHECK(pipe(in) == 0 && pipe(out) == 0)) return false;
    fds[0] = in[0];
    fds[1] = out[1];
    r->far_in = in[1];
    r->far_out = out[0];
    return CHECK_EQ_INT(rig_begin(r, fds[0], fds[1], most), PHI_OK);
}

static void shut(int *fd) {
    if (*fd >= 0) (void)close(*fd);
    *fd = -1;
}

static void rig_close(rig *r, int fds[2]) {
    phi__channel_free(r->channel);
    phi__io_free(r->io);
    shut(&r->far_in);
    shut(&r->far_out);
    if (fds != NULL) {
        shut(&fds[0]);
        shut(&fds[1]);
    }
    free(r->text);
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

static void turns(rig *r, int ms) {
    long long end = now_ms() + ms;
    while (now_ms() < end) turn(r, 2);
}

static void until_end(rig *r) {
    long long end = now_ms() + 10000;
    while (r->ends == 0 && now_ms() < end) turn(r, 50);
    CHECK_EQ_INT(r->ends, 1);
}

static void say(rig *r, const char *text) {
    CHECK(write(r->far_in, text, strlen(text)) == (ssize_t)strlen(text));
}

static void put(rig *r, const char *text) {
    size_t taken = 0;
    CHECK_EQ_INT(phi__channel_write(r->channel, text, strlen(text), &taken), PHI_OK);
    CHECK_EQ_INT(taken, strlen(text));
}

TEST(bytes_go_both_ways_over_pipes_and_their_flags_stay) {
    int fds[2] = {-1, -1}, flags[2];
    char got[32] = "";
    rig r;
    rig_open(&r);
    if (rig_pipes(&r, fds, 0)) {
        flags[0] = fcntl(fds[0], F_GETFL);
        flags[1] = fcntl(fds[1], F_GETFL);
        turns(&r, 10);
        CHECK_EQ_INT(r.inputs, 0);
        say(&r, "hello");
        turns(&r, 20);
        CHECK_EQ_STR(r.text, "hello");
        put(&r, "answer");
        CHECK_EQ_INT(phi__channel_waiting(r.channel), 6);
        turns(&r, 20);
        CHECK_EQ_INT(phi__channel_waiting(r.channel), 0);
        CHECK_EQ_INT(read(r.far_out, got, sizeof got), 6);
        CHECK_EQ_STR(got, "answer");
        CHECK_EQ_INT(fcntl(fds[0], F_GETFL), flags[0]);
        CHECK_EQ_INT(fcntl(fds[1], F_GETFL), flags[1]);
        CHECK_EQ_INT(flags[0] & O_NONBLOCK, 0);
    }
    rig_close(&r, fds);
}

TEST(the_end_of_the_input_is_told_once_and_writes_go_on) {
    int fds[2] = {-1, -1};
    char got[32] = "";
    rig r;
    rig_open(&r);
    if (rig_pipes(&r, fds, 0)) {
        say(&r, "last");
        shut(&r.far_in);
        until_end(&r);
        CHECK_EQ_STR(r.text, "last");
        CHECK_EQ_INT(r.status, PHI_OK);
        put(&r, "bye");
        turns(&r, 20);
        CHECK_EQ_INT(read(r.far_out, got, sizeof got), 3);
        CHECK_EQ_INT(r.ends, 1);
    }
    rig_close(&r, fds);
}

TEST(a_reader_that_has_gone_ends_the_channel_without_a_signal) {
    int fds[2] = {-1, -1};
    size_t taken;
    rig r;
    rig_open(&r);
    if (rig_pipes(&r, fds, 0)) {
        shut(&r.far_out);
        put(&r, "x");
        until_end(&r);
        CHECK_EQ_INT(r.status, PHI_STALE);
        CHECK_EQ_STR(r.message, "Broken pipe");
        CHECK_EQ_INT(phi__channel_write(r.channel, "x", 1, &taken), PHI_STALE);
        CHECK_EQ_INT(taken, 0);
    }
    rig_close(&r, fds);
}

TEST(three_megabytes_leave_through_a_small_queue_and_a_blocking_pipe_without_a_wait) {
    enum { ALL = 3000000, QUEUE = 100000 };
    int fds[2] = {-1, -1}, waits = 0;
    char *bytes = (char *)malloc(ALL), *got = (char *)malloc(ALL);
    size_t sent = 0, have = 0, taken, i;
    rig r;
    for (i = 0; i < ALL; i++) bytes[i] = (char)('a' + i % 23);
    rig_open(&r);
    if (rig_pipes(&r, fds, QUEUE)) {
        long long end = now_ms() + 20000;
        (void)fcntl(r.far_out, F_SETFL, O_NONBLOCK);
        while (have < ALL && now_ms() < end) {
            ssize_t n;
            if (sent < ALL && r.rooms == waits) {
                CHECK_EQ_INT(phi__channel_write(r.channel, bytes + sent, ALL - sent, &taken),
                             PHI_OK);
                sent += taken;
                CHECK(taken <= QUEUE);
                if (sent < ALL) waits++;
            }
            turn(&r, 0); /* a pipe that is full for a while must not hold it up */
            if (have % 3 != 0) turn(&r, 0);
            n = read(r.far_out, got + have, ALL - have < 30001 ? ALL - have : 30001);
            if (n > 0) have += (size_t)n;
        }
        CHECK_EQ_INT(have, ALL);
        CHECK(memcmp(bytes, got, ALL) == 0);
        CHECK_EQ_INT(r.rooms, waits);
        CHECK(r.memory.peak_bytes < 3 * QUEUE + 65536);
    }
    free(bytes);
    free(got);
    rig_close(&r, fds);
}

TEST(a_stopped_reader_gets_nothing_until_it_resumes) {
    int fds[2] = {-1, -1};
    rig r;
    rig_open(&r);
    r.refuse = true;
    if (rig_pipes(&r, fds, 0)) {
        say(&r, "one");
        turns(&r, 20);
        say(&r, "two");
        shut(&r.far_in);
        turns(&r, 20);
        CHECK_EQ_STR(r.text, "one");
        CHECK_EQ_INT(r.ends, 0);
        r.refuse = false;
        phi__channel_resume(r.channel);
        until_end(&r);
        CHECK_EQ_STR(r.text, "onetwo");
    }
    rig_close(&r, fds);
}

TEST(a_file_is_read_and_another_is_written_though_no_poller_takes_them) {
    char dir[512], from[600], to[600], *got;
    int fds[2];
    size_t len, i;
    FILE *f;
    rig r;
    REQUIRE(test_temp_dir(dir, sizeof dir));
    (void)snprintf(from, sizeof from, "%s/from", dir);
    (void)snprintf(to, sizeof to, "%s/to", dir);
    f = fopen(from, "w");
    for (i = 0; i < 20000; i++) (void)fputs("12345", f);
    (void)fclose(f);
    rig_open(&r);
    fds[0] = open(from, O_RDONLY);
    fds[1] = open(to, O_WRONLY | O_CREAT, 0600);
    if (CHECK_EQ_INT(rig_begin(&r, fds[0], fds[1], 0), PHI_OK)) {
        put(&r, "written");
        until_end(&r);
        CHECK_EQ_INT(r.len, 100000);
        CHECK(r.inputs >= 7);
        turns(&r, 10);
        got = test_read_file(to, &len);
        CHECK_EQ_STR(got, "written");
        free(got);
    }
    rig_close(&r, fds);
}

#if defined(_WIN32)
#define NOTHING "NUL"
#else
#define NOTHING "/dev/null"
#endif

TEST(dev_null_ends_at_once_and_swallows) {
    int fds[2];
    rig r;
    rig_open(&r);
    fds[0] = open(NOTHING, O_RDONLY);
    fds[1] = open(NOTHING, O_WRONLY);
    if (CHECK_EQ_INT(rig_begin(&r, fds[0], fds[1], 0), PHI_OK)) {
        put(&r, "gone");
        until_end(&r);
        turns(&r, 10);
        CHECK_EQ_INT(phi__channel_waiting(r.channel), 0);
        CHECK_EQ_INT(r.status, PHI_OK);
    }
    rig_close(&r, fds);
}

TEST(descriptors_that_are_not_open_or_the_same_are_refused) {
    int fds[2];
    rig r;
    rig_open(&r);
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0);
    CHECK_EQ_INT(rig_begin(&r, 900, fds[1], 0), PHI_BAD_ARG);
    CHECK_EQ_INT(rig_begin(&r, fds[0], 901, 0), PHI_BAD_ARG);
    CHECK_EQ_INT(rig_begin(&r, fds[0], fds[0], 0), PHI_BAD_ARG);
    CHECK(r.channel == NULL);
    rig_close(&r, fds);
}

TEST(a_socket_that_blocks_and_sleeps_does_not_hold_the_pump) {
    int pair[2], other = -1, fds[2];
    char *bytes = (char *)calloc(1, 900000);
    long long began;
    size_t taken;
    rig r;
    rig_open(&r);
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
    other = fcntl(pair[0], F_DUPFD_CLOEXEC, 3);
    fds[0] = pair[0];
    fds[1] = other;
    r.far_in = pair[1];
    if (CHECK_EQ_INT(rig_begin(&r, fds[0], fds[1], 0), PHI_OK)) {
        began = now_ms();
        CHECK_EQ_INT(phi__channel_write(r.channel, bytes, 900000, &taken), PHI_OK);
        turns(&r, 50); /* nobody reads */
        CHECK(now_ms() - began < 5000);
        CHECK(phi__channel_waiting(r.channel) > 0);
        say(&r, "still heard");
        turns(&r, 20);
        CHECK_EQ_STR(r.text, "still heard");
    }
    free(bytes);
    rig_close(&r, fds);
}

TEST(a_channel_may_be_freed_in_each_callback) {
    int i;
    for (i = 0; i < 3; i++) {
        int fds[2] = {-1, -1};
        long long end = now_ms() + 5000;
        size_t taken;
        rig r;
        rig_open(&r);
        r.free_in_input = i == 0;
        r.free_in_room = i == 1;
        r.free_in_end = i == 2;
        if (rig_pipes(&r, fds, 10)) {
            if (i == 0) say(&r, "x");
            if (i == 1)
                CHECK_EQ_INT(phi__channel_write(r.channel, "123456789012", 12, &taken), PHI_OK);
            if (i == 2) shut(&r.far_in);
            while (r.channel != NULL && now_ms() < end) turn(&r, 20);
            CHECK(r.channel == NULL);
        }
        rig_close(&r, fds);
    }
}

TEST(a_conversation_survives_every_failed_allocation) {
    int n;
    bool tripped = true;
    for (n = 0; tripped && n < 100; n++) {
        int in[2], out[2];
        phi_status status;
        size_t taken;
        char got[8];
        rig r;
        rig_open(&r);
        REQUIRE(pipe(in) == 0 && pipe(out) == 0);
        r.far_in = in[1];
        r.far_out = out[0];
        test_alloc_fail_at(n);
        status = rig_begin(&r, in[0], out[1], 0);
        CHECK(status == PHI_OK || status == PHI_NO_MEMORY);
        if (status == PHI_OK) {
            while ((status = phi__channel_write(r.channel, "abc", 3, &taken)) == PHI_NO_MEMORY)
                continue;
            say(&r, "x");
            shut(&r.far_in);
            until_end(&r);
            turns(&r, 15);
            CHECK_EQ_STR(r.text, "x");
            CHECK_EQ_INT(read(r.far_out, got, sizeof got), 3);
        }
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        in[1] = out[1];
        rig_close(&r, in);
    }
    CHECK(n >= 3);
}

TEST_MAIN(
    TEST_ENTRY(bytes_go_both_ways_over_pipes_and_their_flags_stay),
    TEST_ENTRY(the_end_of_the_input_is_told_once_and_writes_go_on),
    TEST_ENTRY(a_reader_that_has_gone_ends_the_channel_without_a_signal),
    TEST_ENTRY(three_megabytes_leave_through_a_small_queue_and_a_blocking_pipe_without_a_wait),
    TEST_ENTRY(a_stopped_reader_gets_nothing_until_it_resumes),
    TEST_ENTRY(a_file_is_read_and_another_is_written_though_no_poller_takes_them),
    TEST_ENTRY(dev_null_ends_at_once_and_swallows),
    TEST_ENTRY(descriptors_that_are_not_open_or_the_same_are_refused),
    TEST_ENTRY(a_socket_that_blocks_and_sleeps_does_not_hold_the_pump),
    TEST_ENTRY(a_channel_may_be_freed_in_each_callback),
    TEST_ENTRY(a_conversation_survives_every_failed_allocation))
