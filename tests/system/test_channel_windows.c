/* test_channel_windows.c - channels on Windows: pipes, files, NUL and a console as descriptors of
   the C runtime. Standard handles have no poller, so these tests also prove that nothing blocks. */
#include "io/os_in.h"
#include "support/test.h"

#if defined(PHI__OS_WINDOWS)

#include "system/system_in.h"

#include <fcntl.h>
#include <io.h>
#include <windows.h>

enum { ROOM = 4 * 1024 * 1024 };

typedef struct rig {
    phi_memory memory;
    phi__io *io;
    phi__channel *channel;
    HANDLE far_in, far_out; /* the other ends; NULL: none */
    char *text;
    size_t len;
    int inputs, rooms, ends;
    phi_status status;
    char message[128];
} rig;

static bool on_input(void *ctx, const char *bytes, size_t len) {
    rig *r = (rig *)ctx;
    if (r->len + len < ROOM) memcpy(r->text + r->len, bytes, len);
    r->len += len;
    r->text[r->len < ROOM ? r->len : 0] = '\0';
    r->inputs++;
    return true;
}

static void on_room(void *ctx) { ((rig *)ctx)->rooms++; }

static void on_ended(void *ctx, phi_status status, const char *message) {
    rig *r = (rig *)ctx;
    r->ends++;
    r->status = status;
    (void)snprintf(r->message, sizeof r->message, "%s", message);
}

static void rig_open(rig *r) {
    phi_allocator allocator = test_allocator();
    memset(r, 0, sizeof *r);
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
    HANDLE in[2], out[2];
    if (!CHECK(CreatePipe(&in[0], &in[1], NULL, 4096) && CreatePipe(&out[0], &out[1], NULL, 4096)))
        return false;
    fds[0] = _open_osfhandle((intptr_t)in[0], _O_RDONLY);
    fds[1] = _open_osfhandle((intptr_t)out[1], 0);
    r->far_in = in[1];
    r->far_out = out[0];
    return CHECK_EQ_INT(rig_begin(r, fds[0], fds[1], most), PHI_OK);
}

static void shut(HANDLE *end) {
    if (*end != NULL) (void)CloseHandle(*end);
    *end = NULL;
}

static void rig_close(rig *r, const int fds[2]) {
    phi__channel_free(r->channel);
    phi__io_free(r->io);
    shut(&r->far_in);
    shut(&r->far_out);
    for (int i = 0; fds != NULL && i < 2; i++)
        if (fds[i] >= 0) (void)_close(fds[i]);
    free(r->text);
}

static void turn(rig *r, int timeout_ms) {
    phi__io_step_begin(r->io);
    (void)phi__io_wait(r->io, timeout_ms, 64);
    (void)phi__io_timers(r->io, 64);
}

static void turns(rig *r, int ms) {
    uint64_t end = phi__clock_us() + (uint64_t)ms * 1000;
    while (phi__clock_us() < end) turn(r, 2);
}

static void until_end(rig *r) {
    uint64_t end = phi__clock_us() + 10000000;
    while (r->ends == 0 && phi__clock_us() < end) turn(r, 50);
    CHECK_EQ_INT(r->ends, 1);
}

static void say(rig *r, const char *text) {
    DWORD n;
    CHECK(WriteFile(r->far_in, text, (DWORD)strlen(text), &n, NULL) && n == strlen(text));
}

static size_t hear(rig *r, char *out, size_t cap) {
    DWORD waits = 0, n = 0;
    if (!PeekNamedPipe(r->far_out, NULL, 0, NULL, &waits, NULL) || waits == 0) return 0;
    return ReadFile(r->far_out, out, (DWORD)cap, &n, NULL) ? n : 0;
}

static void put(rig *r, const char *text) {
    size_t taken = 0;
    CHECK_EQ_INT(phi__channel_write(r->channel, text, strlen(text), &taken), PHI_OK);
    CHECK_EQ_INT(taken, strlen(text));
}

TEST(bytes_go_both_ways_over_pipes_whose_modes_stay) {
    int fds[2] = {-1, -1};
    char got[32] = "";
    DWORD mode = 0;
    rig r;
    rig_open(&r);
    if (rig_pipes(&r, fds, 0)) {
        turns(&r, 30);
        CHECK_EQ_INT(r.inputs, 0);
        say(&r, "hello");
        turns(&r, 60);
        CHECK_EQ_STR(r.text, "hello");
        put(&r, "answer");
        CHECK_EQ_INT(phi__channel_waiting(r.channel), 6);
        turns(&r, 60);
        CHECK_EQ_INT(phi__channel_waiting(r.channel), 0);
        CHECK_EQ_INT(hear(&r, got, sizeof got), 6);
        CHECK_EQ_STR(got, "answer");
        CHECK(GetNamedPipeHandleStateW((HANDLE)_get_osfhandle(fds[1]), &mode, NULL, NULL, NULL,
                                       NULL, 0));
        CHECK_EQ_INT(mode & PIPE_NOWAIT, 0);
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
        turns(&r, 60);
        CHECK_EQ_INT(hear(&r, got, sizeof got), 3);
        CHECK_EQ_INT(r.ends, 1);
    }
    rig_close(&r, fds);
}

TEST(a_reader_that_has_gone_ends_the_channel) {
    int fds[2] = {-1, -1};
    size_t taken;
    rig r;
    rig_open(&r);
    if (rig_pipes(&r, fds, 0)) {
        shut(&r.far_out);
        put(&r, "x");
        until_end(&r);
        CHECK_EQ_INT(r.status, PHI_STALE);
        CHECK(r.message[0] != '\0');
        CHECK_EQ_INT(phi__channel_write(r.channel, "x", 1, &taken), PHI_STALE);
        CHECK_EQ_INT(taken, 0);
    }
    rig_close(&r, fds);
}

/* One thread writes and reads, so a write that waits for room would never return. */
TEST(a_megabyte_leaves_through_a_small_queue_and_a_full_pipe_without_a_wait) {
    enum { ALL = 1000000, QUEUE = 100000 };
    int fds[2] = {-1, -1}, waits = 0;
    char *bytes = (char *)malloc(ALL), *got = (char *)malloc(ALL);
    size_t sent = 0, have = 0, taken, i;
    rig r;
    for (i = 0; i < ALL; i++) bytes[i] = (char)('a' + i % 23);
    rig_open(&r);
    if (rig_pipes(&r, fds, QUEUE)) {
        uint64_t end = phi__clock_us() + 30000000;
        while (have < ALL && phi__clock_us() < end) {
            if (sent < ALL && r.rooms == waits) {
                CHECK_EQ_INT(phi__channel_write(r.channel, bytes + sent, ALL - sent, &taken),
                             PHI_OK);
                sent += taken;
                CHECK(taken <= QUEUE);
                if (sent < ALL) waits++;
            }
            turn(&r, 2); /* a pipe that is full for a while must not hold it up */
            if (have % 3 != 0) turn(&r, 2);
            have += hear(&r, got + have, ALL - have < 30001 ? ALL - have : 30001);
        }
        CHECK_EQ_INT(have, ALL);
        CHECK(memcmp(bytes, got, ALL) == 0);
        CHECK_EQ_INT(r.rooms, waits);
    }
    free(bytes);
    free(got);
    rig_close(&r, fds);
}

TEST(a_file_is_read_and_another_is_written) {
    char dir[512], from[600], to[600], *got;
    int fds[2];
    size_t len, i;
    FILE *f;
    rig r;
    REQUIRE(test_temp_dir(dir, sizeof dir));
    (void)snprintf(from, sizeof from, "%s/from", dir);
    (void)snprintf(to, sizeof to, "%s/to", dir);
    f = fopen(from, "wb");
    for (i = 0; i < 20000; i++) (void)fputs("12345", f);
    (void)fclose(f);
    rig_open(&r);
    fds[0] = _open(from, _O_RDONLY | _O_BINARY);
    fds[1] = _open(to, _O_WRONLY | _O_CREAT | _O_BINARY, 0600);
    if (CHECK_EQ_INT(rig_begin(&r, fds[0], fds[1], 0), PHI_OK)) {
        put(&r, "written");
        until_end(&r);
        CHECK_EQ_INT(r.len, 100000);
        CHECK(r.inputs >= 7);
        turns(&r, 20);
        got = test_read_file(to, &len);
        CHECK_EQ_STR(got, "written");
        free(got);
    }
    rig_close(&r, fds);
}

TEST(nul_ends_at_once_and_swallows) {
    int fds[2];
    rig r;
    rig_open(&r);
    fds[0] = _open("NUL", _O_RDONLY | _O_BINARY);
    fds[1] = _open("NUL", _O_WRONLY | _O_BINARY);
    if (CHECK_EQ_INT(rig_begin(&r, fds[0], fds[1], 0), PHI_OK)) {
        put(&r, "gone");
        until_end(&r);
        turns(&r, 20);
        CHECK_EQ_INT(phi__channel_waiting(r.channel), 0);
        CHECK_EQ_INT(r.status, PHI_OK);
    }
    rig_close(&r, fds);
}

TEST(a_closed_descriptor_is_refused) {
    int fd = _open("NUL", _O_RDONLY);
    rig r;
    rig_open(&r);
    (void)_close(fd);
    CHECK_EQ_INT(rig_begin(&r, fd, 1, 0), PHI_BAD_ARG);
    CHECK(r.channel == NULL);
    rig_close(&r, NULL);
}

/* ---- a console ---- */

static void type(HANDLE console, const wchar_t *keys) {
    for (; *keys != L'\0'; keys++) {
        INPUT_RECORD events[2];
        DWORD n;
        memset(events, 0, sizeof events);
        events[0].EventType = events[1].EventType = KEY_EVENT;
        events[0].Event.KeyEvent.bKeyDown = TRUE;
        events[0].Event.KeyEvent.wRepeatCount = events[1].Event.KeyEvent.wRepeatCount = 1;
        events[0].Event.KeyEvent.uChar.UnicodeChar = *keys;
        events[1].Event.KeyEvent.uChar.UnicodeChar = *keys;
        CHECK(WriteConsoleInputW(console, events, 2, &n));
    }
}

/* Opens the console for the channel. False: there is none, and none can be made. */
static bool rig_console(rig *r, int fds[2], HANDLE *keys) {
    *keys = CreateFileA("CONIN$", GENERIC_READ | GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_WRITE,
                        NULL, OPEN_EXISTING, 0, NULL);
    if (*keys == INVALID_HANDLE_VALUE) return false;
    fds[0] = _open_osfhandle((intptr_t)*keys, _O_RDONLY);
    fds[1] = _open("CONOUT$", _O_RDWR);
    if (fds[1] < 0) return false;
    (void)FlushConsoleInputBuffer(*keys);
    return CHECK_EQ_INT(rig_begin(r, fds[0], fds[1], 0), PHI_OK);
}

TEST(a_console_gives_whole_lines_as_utf8_which_a_person_can_correct) {
    int fds[2] = {-1, -1};
    HANDLE keys;
    DWORD mode = 0;
    bool made = GetConsoleWindow() == NULL && AllocConsole();
    rig r;
    rig_open(&r);
    if (rig_console(&r, fds, &keys)) {
        CHECK(GetConsoleMode(keys, &mode));
        CHECK(SetConsoleMode(keys, ENABLE_LINE_INPUT | ENABLE_ECHO_INPUT | ENABLE_PROCESSED_INPUT));
        type(keys, L"h\x00e4x");
        turns(&r, 40);
        CHECK_EQ_INT(r.inputs, 0);
        type(keys, L"\bllo \xd83d\xde00\r");
        turns(&r, 40);
        CHECK_EQ_STR(r.text, "h\xc3\xa4llo \xf0\x9f\x98\x80\n");
        put(&r, "gr\xc3\xbc\xc3");
        turns(&r, 40);
        CHECK_EQ_INT(phi__channel_waiting(r.channel), 0);
        put(&r, "\x9f"
                "e\n");
        turns(&r, 40);
        CHECK_EQ_INT(r.ends, 0);
        CHECK(SetConsoleMode(keys, 0));
        type(keys, L"k");
        turns(&r, 40);
        CHECK_EQ_STR(r.text + r.len - 1, "k");
        CHECK(SetConsoleMode(keys, ENABLE_LINE_INPUT));
        type(keys, L"\x1a");
        until_end(&r);
        CHECK_EQ_INT(r.status, PHI_OK);
        (void)SetConsoleMode(keys, mode);
    } else
        test_skip("there is no console");
    rig_close(&r, fds);
    if (made) (void)FreeConsole();
}

TEST_MAIN(TEST_ENTRY(bytes_go_both_ways_over_pipes_whose_modes_stay),
          TEST_ENTRY(the_end_of_the_input_is_told_once_and_writes_go_on),
          TEST_ENTRY(a_reader_that_has_gone_ends_the_channel),
          TEST_ENTRY(a_megabyte_leaves_through_a_small_queue_and_a_full_pipe_without_a_wait),
          TEST_ENTRY(a_file_is_read_and_another_is_written),
          TEST_ENTRY(nul_ends_at_once_and_swallows), TEST_ENTRY(a_closed_descriptor_is_refused),
          TEST_ENTRY(a_console_gives_whole_lines_as_utf8_which_a_person_can_correct))

#else

TEST(channels_of_windows) { test_skip("this system is not Windows"); }

TEST_MAIN(TEST_ENTRY(channels_of_windows))

#endif
