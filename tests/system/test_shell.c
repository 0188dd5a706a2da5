/* test_shell.c - how a shell gets a line: bash as it is, bash of MSYS in numbers, PowerShell encoded. */
#include "system/system_in.h"
#include "support/test.h"

/* Signs that some shell or some reader of a command line changes. */
#define LINE                                                                                       \
    "printf '%s|' \"a\\\\b\" 'it''s' $((1+1)) \"$HOME\" * ~ {x,y} \xc3\xa4 @f '\"' \"'\" a\\ b;"   \
    "\nfalse || echo done # end"

typedef struct heard {
    char text[4096];
    size_t len;
    int exits, code;
} heard;

static bool on_output(void *ctx, int stream, const char *bytes, size_t len) {
    heard *h = (heard *)ctx;
    (void)stream;
    if (h->len + len < sizeof h->text) {
        memcpy(h->text + h->len, bytes, len);
        h->len += len;
    }
    return true;
}

static void on_exited(void *ctx, int code, int signal_number) {
    heard *h = (heard *)ctx;
    (void)signal_number;
    h->exits++;
    h->code = code;
}

/* Runs the line. False: there is no such shell. */
static bool run(const phi__shell_program *shell, const char *line, heard *h) {
    const char *argv[PHI__SHELL_ARGS];
    phi_allocator allocator = test_allocator();
    uint64_t end = phi__clock_us() + 10000000;
    char words[160];
    phi_memory memory;
    phi__io *io;
    phi__process_desc desc;
    phi__process *process = NULL;
    phi__buf text;
    phi_status status;
    memset(h, 0, sizeof *h);
    memset(&desc, 0, sizeof desc);
    phi_memory_init(&memory, &allocator, 0);
    phi__buf_init(&text, &memory);
    CHECK_EQ_INT(phi__io_new(&memory, NULL, &io), PHI_OK);
    CHECK_EQ_INT(phi__shell_argv(shell, line, &text, argv), PHI_OK);
    desc.argv = argv;
    desc.output = on_output;
    desc.exited = on_exited;
    desc.ctx = h;
    status = phi__process_new(io, &desc, &process, words, sizeof words);
    phi__buf_free(&text);
    while (status == PHI_OK && h->exits == 0 && phi__clock_us() < end) {
        phi__io_step_begin(io);
        (void)phi__io_wait(io, 20, 64);
        (void)phi__io_timers(io, 64);
    }
    phi__process_free(process);
    phi__io_free(io);
    return status == PHI_OK;
}

TEST(a_bash_that_needs_quotes_runs_the_same_line) {
    phi__shell_program shell;
    heard plain, quoted;
    memset(&shell, 0, sizeof shell);
    memcpy(shell.path, "bash", sizeof "bash");
    if (!run(&shell, LINE, &plain)) {
        test_skip("there is no bash");
        return;
    }
    CHECK_EQ_INT(plain.code, 0);
    CHECK(strstr(plain.text, "a\\b|its|2|") == plain.text);
    shell.quotes = true;
    CHECK(run(&shell, LINE, &quoted));
    CHECK_EQ_STR(quoted.text, plain.text);
    CHECK_EQ_INT(quoted.code, 0);
    CHECK(run(&shell, "exit 7", &quoted));
    CHECK_EQ_INT(quoted.code, 7);
}

TEST(a_line_in_quotes_has_no_sign_that_windows_or_msys_reads) {
    const char *argv[PHI__SHELL_ARGS];
    phi_allocator allocator = test_allocator();
    phi__shell_program shell;
    phi_memory memory;
    phi__buf text;
    phi_memory_init(&memory, &allocator, 0);
    phi__buf_init(&text, &memory);
    memset(&shell, 0, sizeof shell);
    memcpy(shell.path, "C:\\Git\\bin\\bash.exe", sizeof "C:\\Git\\bin\\bash.exe");
    shell.quotes = true;
    CHECK_EQ_INT(phi__shell_argv(&shell, "grep \"\\\\.\" *'\n\xff", &text, argv), PHI_OK);
    CHECK_EQ_STR(argv[0], "C:\\Git\\bin\\bash.exe");
    CHECK_EQ_STR(argv[1], "-c");
    CHECK_EQ_STR(argv[2], "eval $'grep \\x22\\x5c\\x5c.\\x22 \\x2a\\x27\\x0a\\xff'");
    CHECK(argv[3] == NULL);
    phi__buf_free(&text);
}

TEST(powershell_gets_utf16_in_base64) {
    static const char line[] = "Write-Output \"\xc3\xa4\xf0\x9f\x98\x80\"\xff";
    /* the same in UTF-16, with U+FFFD for the byte that is no UTF-8 */
    static const char wide[] =
        "W\0r\0i\0t\0e\0-\0O\0u\0t\0p\0u\0t\0 \0\"\0\xe4\0\x3d\xd8\x00\xde\"\0"
        "\xfd\xff\n\0\n\0i\0f\0";
    static const char *const options[] = {"-NoLogo",       "-NoProfile", "-NonInteractive",
                                          "-OutputFormat", "Text",       "-EncodedCommand"};
    const char *argv[PHI__SHELL_ARGS];
    phi_allocator allocator = test_allocator();
    phi__shell_program shell;
    phi_memory memory;
    phi__buf text, script;
    bool found = false;
    phi_memory_init(&memory, &allocator, 0);
    phi__buf_init(&text, &memory);
    phi__buf_init(&script, &memory);
    memset(&shell, 0, sizeof shell);
    memcpy(shell.path, "pwsh.exe", sizeof "pwsh.exe");
    shell.powershell = true;
    if (CHECK_EQ_INT(phi__shell_argv(&shell, line, &text, argv), PHI_OK)) {
        CHECK_EQ_STR(argv[0], "pwsh.exe");
        for (size_t i = 0; i < PHI__COUNT(options); i++) CHECK_EQ_STR(argv[i + 1], options[i]);
        CHECK(phi__base64_decode(&script, phi_str_of(argv[7])));
        CHECK(argv[8] == NULL);
        for (size_t i = 0; i + sizeof wide - 1 <= script.len && !found; i += 2)
            found = memcmp(script.at + i, wide, sizeof wide - 1) == 0;
        CHECK(found);
    }
    phi__buf_free(&script);
    phi__buf_free(&text);
}

TEST(every_failed_allocation_is_told) {
    const char *argv[PHI__SHELL_ARGS];
    phi_allocator allocator = test_allocator();
    phi__shell_program shell;
    phi_memory memory;
    memset(&shell, 0, sizeof shell);
    phi_memory_init(&memory, &allocator, 0);
    for (int way = 0; way < 2; way++) {
        bool tripped = true;
        shell.powershell = way == 0;
        shell.quotes = way == 1;
        for (int n = 0; tripped && n < 100; n++) {
            phi__buf text;
            phi__buf_init(&text, &memory);
            test_alloc_fail_at(n);
            phi_status status = phi__shell_argv(&shell, "echo *", &text, argv);
            tripped = test_alloc_tripped();
            test_alloc_fail_at(-1);
            CHECK_EQ_INT(status, tripped ? PHI_NO_MEMORY : PHI_OK);
            phi__buf_free(&text);
        }
        CHECK(!tripped);
    }
}

TEST(the_shell_that_is_found_is_bash_but_on_windows_perhaps_powershell) {
    phi__shell_program shell;
    phi__shell_find(&shell);
#if defined(PHI__OS_POSIX)
    CHECK_EQ_STR(shell.path, "bash");
    CHECK(!shell.powershell && !shell.quotes);
#else
    CHECK(strstr(shell.path, ".exe") != NULL);
    CHECK(strchr(shell.path, ':') != NULL);
    CHECK(shell.powershell != shell.quotes);
#endif
}

#if defined(PHI__OS_WINDOWS)
#include <stdlib.h>
#include <windows.h>

static void touch(const char *dir, const char *name) {
    char path[700];
    FILE *f;
    (void)snprintf(path, sizeof path, "%s\\%s", dir, name);
    f = fopen(path, "wb");
    if (CHECK(f != NULL)) (void)fclose(f);
}

static void folder(const char *dir, const char *name) {
    char path[700];
    (void)snprintf(path, sizeof path, "%s\\%s", dir, name);
    CHECK(CreateDirectoryA(path, NULL));
}

static bool found(const char *dir, const char *name, bool powershell) {
    phi__shell_program shell;
    char path[700];
    bool good;
    phi__shell_find(&shell);
    (void)snprintf(path, sizeof path, "%s\\%s", dir, name);
    for (char *at = path; *at != '\0'; at++)
        if (*at == '/') *at = '\\';
    for (char *at = shell.path; *at != '\0'; at++)
        if (*at == '/') *at = '\\';
    good = strcmp(shell.path, path) == 0 && shell.powershell == powershell;
    if (!good) printf("    found %s, not %s\n", shell.path, path);
    return good;
}

TEST(bash_of_git_is_preferred_then_that_of_msys_then_pwsh) {
    static const char *const names[] = {"ProgramFiles", "ProgramW6432", "ProgramFiles(x86)",
                                        "LocalAppData", "SystemDrive",  "PATH"};
    static char before[6][32768];
    char dir[512], path[2048], windows[MAX_PATH];
    size_t i;
    HKEY key;
    REQUIRE(test_temp_dir(dir, sizeof dir));
    if (RegOpenKeyA(HKEY_LOCAL_MACHINE, "SOFTWARE\\GitForWindows", &key) == ERROR_SUCCESS) {
        (void)RegCloseKey(key);
        test_skip("Git is installed");
        return;
    }
    for (i = 0; i < 6; i++) {
        if (GetEnvironmentVariableA(names[i], before[i], sizeof before[i]) == 0) *before[i] = '\0';
        (void)SetEnvironmentVariableA(names[i], dir);
    }
    folder(dir, "cmd");
    folder(dir, "bin");
    folder(dir, "msys");
    folder(dir, "WindowsApps");
    folder(dir, "Git");
    folder(dir, "Git\\bin");
    (void)GetWindowsDirectoryA(windows, sizeof windows);
    (void)snprintf(path, sizeof path, "cmd;.;%s\\system32;%s\\WindowsApps;%s\\msys;%s\\cmd",
                   windows, dir, dir, dir);
    (void)SetEnvironmentVariableA("PATH", path);
    touch(dir, "WindowsApps\\bash.exe"); /* WSL */
    {
        phi__shell_program shell;
        phi__shell_find(&shell);
        CHECK(shell.powershell);
    }
    touch(dir, "msys\\pwsh.exe");
    CHECK(found(dir, "msys\\pwsh.exe", true));
    touch(dir, "msys\\bash.exe");
    CHECK(found(dir, "msys\\bash.exe", false));
    touch(dir, "bin\\bash.exe");
    CHECK(found(dir, "msys\\bash.exe", false));
    touch(dir, "cmd\\git.exe");
    CHECK(found(dir, "bin\\bash.exe", false));
    touch(dir, "Git\\bin\\bash.exe");
    CHECK(found(dir, "Git\\bin\\bash.exe", false));
    for (i = 0; i < 6; i++)
        (void)SetEnvironmentVariableA(names[i], *before[i] != '\0' ? before[i] : NULL);
}
#else
TEST(bash_of_git_is_preferred_then_that_of_msys_then_pwsh) {
    test_skip("this system is not Windows");
}
#endif

TEST_MAIN(TEST_ENTRY(a_bash_that_needs_quotes_runs_the_same_line),
          TEST_ENTRY(a_line_in_quotes_has_no_sign_that_windows_or_msys_reads),
          TEST_ENTRY(powershell_gets_utf16_in_base64), TEST_ENTRY(every_failed_allocation_is_told),
          TEST_ENTRY(the_shell_that_is_found_is_bash_but_on_windows_perhaps_powershell),
          TEST_ENTRY(bash_of_git_is_preferred_then_that_of_msys_then_pwsh))
