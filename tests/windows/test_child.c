/* test_child.c - processes on Windows: each child is this program, in a part that its arguments
   name. Runs by `make windows` alone. */
#include "support/test.h"
#include "system/process_in.h"

#if defined(PHI__OS_WINDOWS)

#include "io/windows_in.h"

#include <fcntl.h>
#include <io.h>
#include <shellapi.h>

/* ---- the parts of a child ---- */

/* Writes each argument after the first two, in UTF-8, with its length. */
static int say_arguments(void) {
    int count;
    wchar_t **list = CommandLineToArgvW(GetCommandLineW(), &count);
    char text[4096];
    for (int i = 3; list != NULL && i < count; i++) {
        size_t n = phi__narrow(list[i], wcslen(list[i]), text, sizeof text);
        (void)printf("%zu:%s;", n, text);
    }
    (void)LocalFree(list);
    return 0;
}

static int copy_input(void) {
    char bytes[4096];
    size_t n;
    while ((n = fread(bytes, 1, sizeof bytes, stdin)) > 0) (void)fwrite(bytes, 1, n, stdout);
    return 0;
}

/* Starts a child of its own, which sleeps, says its number, and ends or sleeps itself. */
static int have_child(const char *self, bool stay) {
    STARTUPINFOA start;
    PROCESS_INFORMATION made;
    char line[1024];
    (void)snprintf(line, sizeof line, "\"%s\" --child sleep", self);
    memset(&start, 0, sizeof start);
    start.cb = (DWORD)sizeof start;
    if (!CreateProcessA(NULL, line, NULL, NULL, FALSE, 0, NULL, NULL, &start, &made)) return 9;
    (void)printf("%lu\n", (unsigned long)made.dwProcessId);
    (void)fflush(stdout);
    if (stay) Sleep(60000);
    return 0;
}

/* Writes no bytes, before and after each letter. */
static int write_nothing(void) {
    HANDLE out = GetStdHandle(STD_OUTPUT_HANDLE);
    DWORD wrote;
    for (const char *at = "abc"; *at != '\0'; at++) {
        for (int i = 0; i < 50; i++) (void)WriteFile(out, at, 0, &wrote, NULL);
        (void)WriteFile(out, at, 1, &wrote, NULL);
    }
    for (int i = 0; i < 50; i++) (void)WriteFile(out, "", 0, &wrote, NULL);
    return 0;
}

/* Writes the names of variables that have "_sorted" in them, in the order of the block. */
static int say_order(void) {
    wchar_t *block = GetEnvironmentStringsW();
    for (wchar_t *at = block; *at != L'\0'; at += wcslen(at) + 1)
        if (wcsstr(at, L"_sorted=") != NULL) (void)printf("%.*ls ", (int)wcscspn(at, L"="), at);
    (void)FreeEnvironmentStringsW(block);
    return 0;
}

static int play(int argc, char **argv) {
    const char *part = argv[2];
    (void)_setmode(0, _O_BINARY);
    (void)_setmode(1, _O_BINARY);
    if (strcmp(part, "arguments") == 0) return say_arguments();
    if (strcmp(part, "copy") == 0) return copy_input();
    if (strcmp(part, "tree") == 0) return have_child(argv[0], false);
    if (strcmp(part, "tree-stays") == 0) return have_child(argv[0], true);
    if (strcmp(part, "nothing") == 0) return write_nothing();
    if (strcmp(part, "order") == 0) return say_order();
    if (strcmp(part, "signal") == 0) /* a handle of the parent, if it is one here, too */
        return SetEvent((HANDLE)(uintptr_t)strtoull(argv[3], NULL, 10)) ? 1 : 0;
    if (strcmp(part, "lengths") == 0)
        for (int i = 3; i < argc; i++) (void)printf("%zu;", strlen(argv[i]));
    if (strcmp(part, "sleep") == 0) Sleep(60000);
    if (strcmp(part, "both") == 0) {
        (void)fputs("out", stdout);
        (void)fputs("err", stderr);
        return 7;
    }
    if (strcmp(part, "flood") == 0) {
        (void)setvbuf(stdout, NULL, _IOFBF, 4096); /* without: a call a line, of a millisecond */
        for (int i = 0; i < 200000; i++) (void)printf("%09d\n", i);
    }
    if (strcmp(part, "variable") == 0) {
        const char *value = argc > 3 ? getenv(argv[3]) : NULL;
        (void)printf("%s", value != NULL ? value : "none");
    }
    if (strcmp(part, "directory") == 0) {
        char path[1024];
        DWORD n = GetCurrentDirectoryA((DWORD)sizeof path, path);
        (void)printf("%.*s", (int)n, path);
    }
    return 0;
}

/* ---- a rig ---- */

enum { ROOM = 4 << 20 };
static char self[1024];

typedef struct rig {
    phi_memory memory;
    phi__io *io;
    phi__process *process;
    char *text[3];
    size_t len[3];
    int exits, code, signal_number;
    size_t refuse_every, refused_at;
    int refusals;
} rig;

static bool on_output(void *ctx, int stream, const char *bytes, size_t len) {
    rig *r = (rig *)ctx;
    if (r->len[stream] + len < ROOM) memcpy(r->text[stream] + r->len[stream], bytes, len);
    r->len[stream] += len;
    if (r->len[stream] < ROOM) r->text[stream][r->len[stream]] = '\0';
    if (r->refuse_every == 0 || r->len[stream] - r->refused_at < r->refuse_every) return true;
    r->refused_at = r->len[stream];
    r->refusals++;
    return false;
}

static void on_exit_of(void *ctx, int code, int signal_number) {
    rig *r = (rig *)ctx;
    r->exits++;
    r->code = code;
    r->signal_number = signal_number;
}

static void rig_open(rig *r) {
    phi_allocator allocator = test_allocator();
    memset(r, 0, sizeof *r);
    phi_memory_init(&r->memory, &allocator, 0);
    for (int i = 1; i < 3; i++) {
        r->text[i] = (char *)malloc(ROOM);
        r->text[i][0] = '\0';
    }
    CHECK_EQ_INT(phi__io_new(&r->memory, NULL, &r->io), PHI_OK);
}

static void turn(rig *r, int timeout_ms) {
    phi__io_step_begin(r->io);
    (void)phi__io_wait(r->io, timeout_ms, 64);
    (void)phi__io_timers(r->io, 64);
}

static void rig_close(rig *r) {
    phi__process_free(r->process);
    phi__io_free(r->io);
    free(r->text[1]);
    free(r->text[2]);
}

static phi_status begin_desc(rig *r, phi__process_desc *desc, char *words, size_t size) {
    desc->output = on_output;
    desc->exited = on_exit_of;
    desc->ctx = r;
    phi__io_step_begin(r->io);
    return phi__process_new(r->io, desc, &r->process, words, size);
}

static bool begin(rig *r, phi__process_desc *desc, const char *part, const char *argument) {
    const char *argv[5] = {self, "--child", NULL, NULL, NULL};
    char words[160];
    argv[2] = part;
    argv[3] = argument;
    desc->argv = argv;
    return CHECK_EQ_INT(begin_desc(r, desc, words, sizeof words), PHI_OK);
}

static bool finish(rig *r) {
    ULONGLONG end = GetTickCount64() + 240000; /* only a guard: Wine is slow */
    while (r->exits == 0 && GetTickCount64() < end) {
        turn(r, 20);
        if (r->refusals > 0) phi__process_resume(r->process);
    }
    return CHECK_EQ_INT(r->exits, 1);
}

static void a_child_says_on_both_streams_and_ends_with_its_code(void) {
    rig r;
    phi__process_desc desc = PHI_ZERO;
    rig_open(&r);
    if (begin(&r, &desc, "both", NULL) && finish(&r)) {
        CHECK_EQ_STR(r.text[1], "out");
        CHECK_EQ_STR(r.text[2], "err");
        CHECK_EQ_INT(r.code, 7);
        CHECK_EQ_INT(r.signal_number, 0);
    }
    rig_close(&r);
}

static void arguments_arrive_as_they_are(void) {
    const char *argv[] = {self,
                          "--child",
                          "arguments",
                          "",
                          "a b",
                          "\"",
                          "\\",
                          "a\\\"b",
                          "a\\\\ b\\\\",
                          "tab\there",
                          "C:\\x y\\",
                          "%PATH%",
                          "a & b | c > d",
                          "^\"&calc\"",
                          "*.c",
                          "\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80",
                          "line\nline",
                          NULL};
    char want[4096];
    size_t at = 0;
    rig r;
    phi__process_desc desc = PHI_ZERO;
    rig_open(&r);
    for (int i = 3; argv[i] != NULL; i++)
        at += (size_t)snprintf(want + at, sizeof want - at, "%zu:%s;", strlen(argv[i]), argv[i]);
    desc.argv = argv;
    if (CHECK_EQ_INT(begin_desc(&r, &desc, NULL, 0), PHI_OK) && finish(&r))
        CHECK_EQ_STR(r.text[1], want);
    rig_close(&r);
}

static void a_long_input_comes_back(void) {
    enum { BYTES = 300000 };
    char *input = (char *)malloc(BYTES + 1);
    rig r;
    phi__process_desc desc = PHI_ZERO;
    rig_open(&r);
    for (int i = 0; i < BYTES; i++) input[i] = (char)('a' + i % 23);
    input[BYTES] = '\0';
    desc.input = phi_str_of(input);
    if (begin(&r, &desc, "copy", NULL) && finish(&r)) CHECK_EQ_STR(r.text[1], input);
    free(input);
    rig_close(&r);
}

static void input_is_written_while_the_child_runs(void) {
    size_t taken;
    rig r;
    phi__process_desc desc = PHI_ZERO;
    rig_open(&r);
    desc.keep_input = true;
    if (begin(&r, &desc, "copy", NULL)) {
        CHECK_EQ_INT(phi__process_write(r.process, "one ", 4, &taken), PHI_OK);
        for (int i = 0; i < 20; i++) turn(&r, 5);
        CHECK_EQ_INT(phi__process_write(r.process, "two", 3, &taken), PHI_OK);
        CHECK_EQ_INT(taken, 3);
        phi__process_end_input(r.process);
        if (finish(&r)) CHECK_EQ_STR(r.text[1], "one two");
    }
    rig_close(&r);
}

static void a_flood_waits_for_a_reader_that_stops(void) {
    rig r;
    phi__process_desc desc = PHI_ZERO;
    rig_open(&r);
    r.refuse_every = 50000;
    if (begin(&r, &desc, "flood", NULL) && finish(&r)) {
        CHECK_EQ_INT(r.len[1], 2000000);
        CHECK(r.refusals > 10);
        CHECK_EQ_STR(r.text[1] + 1999990, "000199999\n");
    }
    rig_close(&r);
}

static void a_child_gets_the_variables_it_should(void) {
    static const char *const env[] = {"PHI_ADDED=\xC3\xA4 b", "path=nowhere", NULL};
    static const struct {
        const char *name, *want;
        bool hide, only;
    } rows[] = {{"PHI_ADDED", "", false, false},      {"PHI_HOST", "host", false, false},
                {"PHI_HOST", "none", false, true},    {"PHI_API_KEY", "secret", false, false},
                {"PHI_API_KEY", "none", true, false}, {"PATH", "nowhere", false, false}};
    (void)_putenv("PHI_HOST=host");
    (void)_putenv("PHI_API_KEY=secret");
    (void)SetEnvironmentVariableA("PHI_HOST", "host");
    (void)SetEnvironmentVariableA("PHI_API_KEY", "secret");
    for (size_t i = 0; i < PHI__COUNT(rows); i++) {
        rig r;
        phi__process_desc desc = PHI_ZERO;
        rig_open(&r);
        desc.env = env;
        desc.hide_keys = rows[i].hide;
        desc.env_only = rows[i].only;
        if (begin(&r, &desc, "variable", rows[i].name) && finish(&r)) {
            if (i == 0)
                CHECK(strcmp(r.text[1], "none") != 0);
            else
                CHECK_EQ_STR(r.text[1], rows[i].want);
        }
        rig_close(&r);
    }
}

static void the_variables_of_a_child_are_sorted(void) {
    static const char *const env[] = {"z_sorted=1", "",           "PHI_sorted=2",
                                      "a_sorted=3", "B_sorted=4", NULL};
    rig r;
    phi__process_desc desc = PHI_ZERO;
    CHECK(SetEnvironmentVariableA("m_sorted", "5"));
    rig_open(&r);
    desc.env = env;
    if (begin(&r, &desc, "order", NULL) && finish(&r))
        CHECK_EQ_STR(r.text[1], "a_sorted B_sorted m_sorted PHI_sorted z_sorted ");
    rig_close(&r);
}

static void a_child_gets_no_handle_but_its_three(void) {
    SECURITY_ATTRIBUTES inherited = {sizeof inherited, NULL, TRUE};
    HANDLE event = CreateEventA(&inherited, TRUE, FALSE, NULL);
    char number[32];
    rig r;
    phi__process_desc desc = PHI_ZERO;
    (void)snprintf(number, sizeof number, "%llu", (unsigned long long)(uintptr_t)event);
    rig_open(&r);
    if (begin(&r, &desc, "signal", number) && finish(&r)) CHECK_EQ_INT(r.code, 0);
    CHECK_EQ_INT(WaitForSingleObject(event, 0), WAIT_TIMEOUT);
    rig_close(&r);
    (void)CloseHandle(event);
}

/* A write of no bytes is no end of a stream. */
static void a_child_that_writes_nothing_goes_on(void) {
    rig r;
    phi__process_desc desc = PHI_ZERO;
    rig_open(&r);
    if (begin(&r, &desc, "nothing", NULL) && finish(&r)) {
        CHECK_EQ_STR(r.text[1], "abc");
        CHECK_EQ_INT(r.code, 0);
    }
    rig_close(&r);
}

/* A command line has at most 32,766 units. */
static void the_longest_command_line_arrives(void) {
    char *argument = (char *)malloc(40000), want[16];
    const char *argv[] = {self, "--child", "lengths", argument, NULL};
    bool quoted = strchr(self, ' ') != NULL;
    size_t most = 32766 - strlen(self) - (quoted ? 2 : 0) - strlen(" --child lengths ");
    rig r;
    phi__process_desc desc = PHI_ZERO;
    memset(argument, 'x', 40000);
    desc.argv = argv;
    argument[most] = '\0';
    rig_open(&r);
    (void)snprintf(want, sizeof want, "%zu;", most);
    if (CHECK_EQ_INT(begin_desc(&r, &desc, NULL, 0), PHI_OK) && finish(&r))
        CHECK_EQ_STR(r.text[1], want);
    rig_close(&r);
    argument[most] = 'x';
    argument[most + 1] = '\0';
    rig_open(&r);
    CHECK_EQ_INT(begin_desc(&r, &desc, NULL, 0), PHI_IO);
    rig_close(&r);
    free(argument);
}

typedef struct starting {
    rig *r;
    phi__process_desc *desc;
} starting;

static DWORD WINAPI begin_there(void *ctx) {
    starting *s = (starting *)ctx;
    bool begun = begin(s->r, s->desc, "copy", NULL);
    for (int i = 0; i < 5; i++) turn(s->r, 5);
    return begun;
}

static void a_child_goes_on_though_the_thread_that_started_it_has_ended(void) {
    size_t taken;
    rig r;
    phi__process_desc desc = PHI_ZERO;
    starting s = {&r, &desc};
    rig_open(&r);
    desc.keep_input = true;
    HANDLE thread = CreateThread(NULL, 0, begin_there, &s, 0, NULL);
    CHECK_EQ_INT(WaitForSingleObject(thread, 60000), WAIT_OBJECT_0);
    (void)CloseHandle(thread);
    for (int i = 0; i < 5; i++) turn(&r, 5);
    CHECK_EQ_INT(r.exits, 0);
    CHECK_EQ_INT(phi__process_write(r.process, "later", 5, &taken), PHI_OK);
    phi__process_end_input(r.process);
    if (finish(&r)) CHECK_EQ_STR(r.text[1], "later");
    rig_close(&r);
}

static void a_child_runs_in_the_directory_it_is_given(void) {
    char here[1024];
    rig r;
    phi__process_desc desc = PHI_ZERO;
    rig_open(&r);
    (void)GetWindowsDirectoryA(here, (UINT)sizeof here);
    for (char *c = here; *c != '\0'; c++)
        if (*c == '\\') *c = '/';
    desc.cwd = here;
    if (begin(&r, &desc, "directory", NULL) && finish(&r)) {
        for (char *c = r.text[1]; *c != '\0'; c++)
            if (*c == '\\') *c = '/';
        CHECK(_stricmp(r.text[1], here) == 0);
    }
    rig_close(&r);
}

static void what_is_not_there_is_not_found(void) {
    const char *argv[] = {"phi-there-is-no-such-program", NULL};
    const char *place[] = {"C:/phi-no-such-place/x.exe", NULL};
    char words[160];
    rig r;
    phi__process_desc desc = PHI_ZERO;
    rig_open(&r);
    desc.argv = argv;
    CHECK_EQ_INT(begin_desc(&r, &desc, words, sizeof words), PHI_NOT_FOUND);
    CHECK(words[0] != '\0');
    desc.argv = place;
    CHECK_EQ_INT(begin_desc(&r, &desc, words, sizeof words), PHI_NOT_FOUND);
    rig_close(&r);
}

static void no_watch(void *user_data, intptr_t fd, int want) {
    (void)user_data;
    (void)fd;
    (void)want;
}

static void with_a_hosts_loop_no_process_is_started(void) {
    const char *argv[] = {self, "--child", "both", NULL};
    char words[160];
    rig r;
    phi__process_desc desc = PHI_ZERO;
    phi__io_desc io = PHI_ZERO;
    rig_open(&r);
    phi__io_free(r.io);
    io.watch_fn = no_watch;
    CHECK_EQ_INT(phi__io_new(&r.memory, &io, &r.io), PHI_OK);
    desc.argv = argv;
    CHECK_EQ_INT(begin_desc(&r, &desc, words, sizeof words), PHI_UNSUPPORTED);
    CHECK(r.process == NULL);
    rig_close(&r);
}

/* The search for a program leaves out the working directory, where anyone may have put one. */
static void a_program_beside_us_is_not_taken_for_one_in_the_path(void) {
    const char *argv[] = {"phi_planted", NULL};
    rig r;
    phi__process_desc desc = PHI_ZERO;
    rig_open(&r);
    CHECK(CopyFileA(self, "phi_planted.exe", FALSE));
    desc.argv = argv;
    CHECK_EQ_INT(begin_desc(&r, &desc, NULL, 0), PHI_NOT_FOUND);
    /* a path that is not full, such as an empty one, would mean the working directory */
    char path[4096] = "", more[4200];
    CHECK(GetEnvironmentVariableA("PATH", path, (DWORD)sizeof path) < sizeof path);
    (void)snprintf(more, sizeof more, ";.;;\"\";C:;%s;", path);
    CHECK(SetEnvironmentVariableA("PATH", more));
    CHECK_EQ_INT(begin_desc(&r, &desc, NULL, 0), PHI_NOT_FOUND);
    CHECK(DeleteFileA("phi_planted.exe"));
    rig_close(&r);
    CHECK(SetEnvironmentVariableA("PATH", path));
}

/* The earlier directory counts, and not the earlier ending. */
static void the_first_directory_of_the_path_counts(void) {
    const char *argv[] = {"phi_found", "--child", "arguments", "x", NULL};
    char here[1024], first[1200], second[1200], one[1300], two[1300], path[4096] = "", more[8000];
    rig r;
    phi__process_desc desc = PHI_ZERO;
    (void)GetCurrentDirectoryA((DWORD)sizeof here, here);
    (void)snprintf(first, sizeof first, "%s\\phi one;a", here);
    (void)snprintf(second, sizeof second, "%s\\phi_two", here);
    (void)CreateDirectoryA(first, NULL);
    (void)snprintf(one, sizeof one, "%s\\phi_found.cmd", first);
    FILE *file = fopen(one, "wb");
    if (CHECK(file != NULL)) {
        (void)fputs("@echo first\r\n", file);
        (void)fclose(file);
    }
    (void)CreateDirectoryA(second, NULL);
    (void)snprintf(two, sizeof two, "%s\\phi_found.com", second);
    CHECK(CopyFileA(self, two, FALSE));
    (void)GetEnvironmentVariableA("PATH", path, (DWORD)sizeof path);
    (void)snprintf(more, sizeof more, "\"%s\";%s;%s", first, second, path);
    CHECK(SetEnvironmentVariableA("PATH", more));
    rig_open(&r);
    desc.argv = argv;
    if (CHECK_EQ_INT(begin_desc(&r, &desc, NULL, 0), PHI_OK) && finish(&r))
        CHECK_EQ_STR(r.text[1], "first\r\n");
    rig_close(&r);
    CHECK(SetEnvironmentVariableA("PATH", path));
    CHECK(DeleteFileA(one));
    CHECK(DeleteFileA(two));
    CHECK(RemoveDirectoryA(first));
    CHECK(RemoveDirectoryA(second));
}

static void a_terminated_child_says_so(void) {
    rig r;
    phi__process_desc desc = PHI_ZERO;
    rig_open(&r);
    if (begin(&r, &desc, "sleep", NULL)) {
        for (int i = 0; i < 10; i++) turn(&r, 5);
        phi__process_terminate(r.process);
        if (finish(&r)) {
            CHECK_EQ_INT(r.code, -1);
            CHECK_EQ_INT(r.signal_number, 15);
        }
    }
    rig_close(&r);
}

/* True if no process of that number is left; waits for its end. */
static bool gone(DWORD id) {
    HANDLE process = OpenProcess(SYNCHRONIZE, FALSE, id);
    if (process == NULL) return true;
    bool ended = WaitForSingleObject(process, 5000) == WAIT_OBJECT_0;
    (void)CloseHandle(process);
    return ended;
}

/* Waits for the number of the grandchild. */
static DWORD grandchild(rig *r) {
    ULONGLONG end = GetTickCount64() + 20000;
    while (strchr(r->text[1], '\n') == NULL && GetTickCount64() < end) turn(r, 20);
    return (DWORD)strtoul(r->text[1], NULL, 10);
}

static void what_a_child_started_dies_with_it(void) {
    for (int i = 0; i < 100; i++) {
        rig r;
        phi__process_desc desc = PHI_ZERO;
        bool kill = i % 2 == 0;
        rig_open(&r);
        if (begin(&r, &desc, kill ? "tree-stays" : "tree", NULL)) {
            DWORD id = grandchild(&r);
            CHECK(id != 0);
            if (!kill) (void)finish(&r);
            phi__process_free(r.process);
            r.process = NULL;
            while (phi__io_pending(r.io)) turn(&r, 5);
            CHECK(gone(id));
        }
        rig_close(&r);
        if (test_failures() > 0) return;
    }
}

/* ---- batch files ---- */

static void write_batch(const char *name, const char *text) {
    FILE *file = fopen(name, "wb");
    if (!CHECK(file != NULL)) return;
    (void)fputs(text, file);
    (void)fclose(file);
}

static void a_batch_file_gets_its_arguments_and_no_command(void) {
    static const char *const refused[] = {"%PATH%", "a\"b", "a\r\nb", NULL};
    const char *argv[] = {"./phi_batch.cmd", "a b", "c&echo bad", "d|more", "^e", NULL};
    rig r;
    phi__process_desc desc = PHI_ZERO;
    write_batch("phi_batch.cmd", "@echo off\r\necho [%1] [%2] [%3] [%4]\r\nexit /b 5\r\n");
    rig_open(&r);
    desc.argv = argv;
    if (CHECK_EQ_INT(begin_desc(&r, &desc, NULL, 0), PHI_OK) && finish(&r)) {
        CHECK_EQ_STR(r.text[1], "[\"a b\"] [\"c&echo bad\"] [\"d|more\"] [\"^e\"]\r\n");
        CHECK_EQ_INT(r.code, 5);
    }
    rig_close(&r);
    for (int i = 0; refused[i] != NULL; i++) {
        char words[160];
        rig_open(&r);
        argv[1] = refused[i];
        CHECK_EQ_INT(begin_desc(&r, &desc, words, sizeof words), PHI_IO);
        rig_close(&r);
    }
    /* Windows drops dots and blanks at the end of a name: still a batch file */
    argv[0] = "./phi_batch.cmd. ";
    argv[1] = "%PATH%";
    rig_open(&r);
    CHECK(begin_desc(&r, &desc, NULL, 0) != PHI_OK);
    rig_close(&r);
    /* a cmd.exe in the working directory is not the system's */
    argv[0] = "./phi_batch.cmd";
    argv[1] = "a b";
    CHECK(CopyFileA(self, "cmd.exe", FALSE));
    rig_open(&r);
    if (CHECK_EQ_INT(begin_desc(&r, &desc, NULL, 0), PHI_OK) && finish(&r)) CHECK_EQ_INT(r.code, 5);
    rig_close(&r);
    CHECK(DeleteFileA("cmd.exe"));
    CHECK(DeleteFileA("phi_batch.cmd"));
}

static void without_memory_no_child_is_left(void) {
    bool done = false;
    for (int n = 0; n < 200 && !done; n++) {
        rig r;
        phi__process_desc desc = PHI_ZERO;
        const char *argv[] = {self, "--child", "both", NULL};
        rig_open(&r);
        desc.argv = argv;
        test_alloc_fail_at(n);
        phi_status status = begin_desc(&r, &desc, NULL, 0);
        done = !test_alloc_tripped();
        test_alloc_fail_at(-1);
        CHECK_EQ_INT(status, done ? PHI_OK : PHI_NO_MEMORY);
        if (status == PHI_OK) (void)finish(&r);
        rig_close(&r);
    }
    CHECK(done);
}

int main(int argc, char **argv) {
    static const test_entry entries[] = {
        TEST_ENTRY(a_child_says_on_both_streams_and_ends_with_its_code),
        TEST_ENTRY(arguments_arrive_as_they_are),
        TEST_ENTRY(a_long_input_comes_back),
        TEST_ENTRY(input_is_written_while_the_child_runs),
        TEST_ENTRY(a_flood_waits_for_a_reader_that_stops),
        TEST_ENTRY(a_child_gets_the_variables_it_should),
        TEST_ENTRY(the_variables_of_a_child_are_sorted),
        TEST_ENTRY(a_child_gets_no_handle_but_its_three),
        TEST_ENTRY(a_child_that_writes_nothing_goes_on),
        TEST_ENTRY(the_longest_command_line_arrives),
        TEST_ENTRY(a_child_goes_on_though_the_thread_that_started_it_has_ended),
        TEST_ENTRY(a_child_runs_in_the_directory_it_is_given),
        TEST_ENTRY(what_is_not_there_is_not_found),
        TEST_ENTRY(with_a_hosts_loop_no_process_is_started),
        TEST_ENTRY(a_program_beside_us_is_not_taken_for_one_in_the_path),
        TEST_ENTRY(the_first_directory_of_the_path_counts),
        TEST_ENTRY(a_terminated_child_says_so),
        TEST_ENTRY(what_a_child_started_dies_with_it),
        TEST_ENTRY(a_batch_file_gets_its_arguments_and_no_command),
        TEST_ENTRY(without_memory_no_child_is_left)};
    if (argc > 2 && strcmp(argv[1], "--child") == 0) return play(argc, argv);
    (void)GetModuleFileNameA(NULL, self, (DWORD)sizeof self);
    return test_run(argc, argv, entries, PHI__COUNT(entries));
}

#else

int main(void) { return 0; }

#endif
