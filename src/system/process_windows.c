/* process_windows.c - the Windows calls of processes: CreateProcessW, a job for each child, pipes.

   A job holds a child and everything that the child starts, and ends with its last handle: nothing
   of it outlives this process. Windows has no signal that asks a program without a window to end,
   so phi__child_terminate kills, too. */
#include "system/process_in.h"

#include "base/base_in.h"
#include "io/io_in.h"

#if defined(PHI__OS_WINDOWS) && !defined(PHI_NO_PROCESS)

#include "io/windows_in.h"

enum {
    PHI__SPAWN_LINE = 32767,       /* max. units of a command line or a variable, with its end */
    PHI__SPAWN_TERMINATED = 0xF00F /* the exit code of a child that phi__child_terminate killed */
};

/* ---- texts for CreateProcessW ---- */

/* A text in UTF-16 that grows. After an error nothing is appended any more. */
typedef struct phi__wide_buf {
    phi_memory *memory;
    wchar_t *at; /* not terminated */
    size_t len, cap;
    int error;
} phi__wide_buf;

/* Returns room for `more` units and a terminator; NULL after an error. */
static wchar_t *phi__wide_room(phi__wide_buf *buf, size_t more) {
    wchar_t *at;
    if (buf->error != 0) return NULL;
    at = (wchar_t *)phi__grow(buf->memory, buf->at, &buf->cap, buf->len + more + 1, sizeof *at);
    if (at == NULL) {
        buf->error = ERROR_NOT_ENOUGH_MEMORY;
        return NULL;
    }
    buf->at = at;
    return at + buf->len;
}

static void phi__wide_add(phi__wide_buf *buf, wchar_t c, size_t times) {
    wchar_t *at = phi__wide_room(buf, times);
    for (size_t i = 0; at != NULL && i < times; i++) at[i] = c;
    if (at != NULL) buf->len += times;
}

static void phi__wide_text(phi__wide_buf *buf, const wchar_t *text) {
    size_t n = wcslen(text);
    wchar_t *at = phi__wide_room(buf, n);
    if (at == NULL) return;
    memcpy(at, text, n * sizeof *at);
    buf->len += n;
}

/* Appends UTF-8. UTF-16 has no more units than UTF-8 has bytes. */
static void phi__wide_utf8(phi__wide_buf *buf, const char *text) {
    size_t n = strlen(text);
    wchar_t *at = phi__wide_room(buf, n);
    if (at == NULL) return;
    if (phi__wide(phi__str(text, n), at, n + 1))
        buf->len += wcslen(at);
    else
        buf->error = ERROR_NO_UNICODE_TRANSLATION;
}

/* Terminates the text; NULL after an error. */
static wchar_t *phi__wide_end(phi__wide_buf *buf) {
    wchar_t *at = phi__wide_room(buf, 0);
    if (at != NULL) *at = L'\0';
    return at != NULL ? buf->at : NULL;
}

static void phi__wide_free(phi__wide_buf *buf) {
    phi__free(buf->memory, buf->at, buf->cap * sizeof *buf->at);
}

/* Appends an argument for the C runtime's start-up code: a backslash means itself, but before a
   quote each must be doubled. Without `always` a word that needs no quotes gets none. */
static void phi__spawn_quote(phi__wide_buf *line, const wchar_t *arg, bool always) {
    size_t slashes = 0;
    if (!always && arg[0] != L'\0' && wcspbrk(arg, L" \t\n\v\"") == NULL) {
        phi__wide_text(line, arg);
        return;
    }
    phi__wide_add(line, L'"', 1);
    for (; *arg != L'\0'; arg++) {
        if (*arg == L'"') phi__wide_add(line, L'\\', slashes + 1);
        slashes = *arg == L'\\' ? slashes + 1 : 0;
        phi__wide_add(line, *arg, 1);
    }
    phi__wide_add(line, L'\\', slashes);
    phi__wide_add(line, L'"', 1);
}

/* ---- the program ---- */

/* Ends the next directory of PATH and advances *at past it. Quotes are removed: a semicolon within
   them ends nothing. NULL: there are no more. */
static const wchar_t *phi__spawn_directory(wchar_t **at) {
    wchar_t *begin = *at, *end = begin;
    bool quoted = false;
    if (*begin == L'\0') return NULL;
    for (; **at != L'\0' && (quoted || **at != L';'); ++*at) {
        if (**at == L'"')
            quoted = !quoted;
        else
            *end++ = **at;
    }
    if (**at != L'\0') ++*at;
    *end = L'\0';
    return begin;
}

/* Adds the first ending with which the file at a path of n units exists, if its name has no dot.
   Returns the length of the path; 0: there is no such file. */
static size_t phi__spawn_complete(wchar_t *path, size_t n) {
    static const wchar_t *const endings[] = {L".com", L".exe", L".bat", L".cmd"};
    const wchar_t *last = wcsrchr(path, L'\\');
    bool bare = last != NULL && wcschr(last, L'.') == NULL;
    for (size_t i = 0; i < (bare ? PHI__COUNT(endings) : 1); i++) {
        if (bare) wcscpy(path + n, endings[i]);
        DWORD how = GetFileAttributesW(path);
        if (how != INVALID_FILE_ATTRIBUTES && (how & FILE_ATTRIBUTE_DIRECTORY) == 0)
            return wcslen(path);
    }
    path[n] = L'\0';
    return 0;
}

/* Searches PATH as the system does: each directory with each ending, in this order. A directory
   that is not a full path, such as an empty one, would mean the working directory. Returns the
   length of the path; 0: not found. */
static size_t phi__spawn_search(wchar_t *list, const wchar_t *name, wchar_t *found) {
    const wchar_t *directory;
    size_t n = 0, name_len = wcslen(name);
    while (n == 0 && (directory = phi__spawn_directory(&list)) != NULL) {
        size_t len = wcslen(directory);
        bool full = (directory[0] == L'\\' && directory[1] == L'\\') ||
                    (len > 2 && directory[1] == L':' && wcschr(L"\\/", directory[2]) != NULL);
        if (!full || len + name_len + 6 > PHI__SPAWN_LINE) continue;
        wcscpy(found, directory);
        found[len] = L'\\';
        wcscpy(found + len + 1, name);
        n = phi__spawn_complete(found, len + 1 + name_len);
    }
    return n;
}

/* Finds argv[0]: a path as it is, another name in the directories of PATH, never in the working
   directory. Each name without an extension is tried with those of programs. */
static int phi__spawn_find(phi_memory *memory, const char *name, phi__wide_buf *out) {
    phi__wide_buf path = PHI_ZERO, word = PHI_ZERO;
    bool has_place = strpbrk(name, "/\\:") != NULL;
    size_t n = 0;
    path.memory = word.memory = memory;
    phi__wide_utf8(&word, name);
    const wchar_t *wide = phi__wide_end(&word);
    wchar_t *list = has_place ? NULL : phi__wide_room(&path, PHI__SPAWN_LINE);
    wchar_t *found = phi__wide_room(out, PHI__SPAWN_LINE);
    if (wide == NULL || found == NULL || (!has_place && list == NULL)) {
        out->error = word.error != 0 ? word.error : ERROR_NOT_ENOUGH_MEMORY;
    } else if (has_place) {
        n = GetFullPathNameW(wide, PHI__SPAWN_LINE, found, NULL);
        if (n >= PHI__SPAWN_LINE - 4) n = 0;
        if (n > 0) n = phi__max(n, phi__spawn_complete(found, n));
    } else if (GetEnvironmentVariableW(L"PATH", list, PHI__SPAWN_LINE) - 1 < PHI__SPAWN_LINE - 1) {
        n = phi__spawn_search(list, wide, found);
    }
    if (out->error == 0 && n == 0) out->error = ERROR_FILE_NOT_FOUND;
    if (out->error == 0) out->len += n;
    phi__wide_free(&word);
    phi__wide_free(&path);
    return out->error;
}

/* Windows ignores dots and blanks at the end of a name. */
static bool phi__spawn_is_script(const phi__wide_buf *program) {
    size_t len = program->len;
    while (len > 0 && (program->at[len - 1] == L'.' || program->at[len - 1] == L' ')) len--;
    if (len < 4) return false;
    const wchar_t *end = program->at + len - 4;
    return CompareStringOrdinal(end, 4, L".bat", 4, TRUE) == CSTR_EQUAL ||
           CompareStringOrdinal(end, 4, L".cmd", 4, TRUE) == CSTR_EQUAL;
}

/* Appends the whole command line. A batch file gets its arguments through cmd.exe, in quotes. An
   argument that could end its quotes, or that cmd.exe changes within them, is refused. */
static int phi__spawn_line(phi_memory *memory, const phi__spawn *spawn,
                           const phi__wide_buf *program, phi__wide_buf *line) {
    bool script = phi__spawn_is_script(program);
    phi__wide_buf word = PHI_ZERO;
    word.memory = memory;
    if (script) phi__wide_text(line, L"cmd.exe /d /e:on /v:off /s /c \"");
    phi__spawn_quote(line, program->at, script);
    for (size_t i = 1; spawn->argv[i] != NULL && line->error == 0; i++) {
        word.len = 0;
        phi__wide_utf8(&word, spawn->argv[i]);
        const wchar_t *arg = phi__wide_end(&word);
        if (arg == NULL) {
            line->error = word.error;
            break;
        }
        if (script && wcspbrk(arg, L"\"%\r\n") != NULL) line->error = ERROR_BAD_ARGUMENTS;
        phi__wide_add(line, L' ', 1);
        phi__spawn_quote(line, arg, script);
    }
    if (script) phi__wide_add(line, L'"', 1);
    if (line->error == 0 && line->len >= PHI__SPAWN_LINE) line->error = ERROR_FILENAME_EXCED_RANGE;
    phi__wide_free(&word);
    return line->error;
}

/* ---- the environment ---- */

/* Without these many programs do not start, so that a child with env_only has them, too. */
static bool phi__spawn_needed(const char *variable) {
    return phi__spawn_same_name(variable, "SYSTEMROOT=") ||
           phi__spawn_same_name(variable, "SYSTEMDRIVE=");
}

/* Compares the names of two variables. The name of "=C:=C:\dir" is "=C:". */
static int phi__spawn_order(const wchar_t *a, const wchar_t *b) {
    size_t a_len = a[0] != L'\0' ? wcscspn(a + 1, L"=") + 1 : 0;
    size_t b_len = b[0] != L'\0' ? wcscspn(b + 1, L"=") + 1 : 0;
    return CompareStringOrdinal(a, (int)a_len, b, (int)b_len, TRUE) - CSTR_EQUAL;
}

/* Inserts a variable: the block of a process is sorted by names, without regard to case. */
static void phi__spawn_variable(phi__wide_buf *block, const wchar_t *text) {
    size_t n = wcslen(text) + 1, at = 0;
    if (n == 1 || phi__wide_room(block, n) == NULL) return;
    while (at < block->len && phi__spawn_order(block->at + at, text) <= 0)
        at += wcslen(block->at + at) + 1;
    memmove(block->at + at + n, block->at + at, (block->len - at) * sizeof *text);
    memcpy(block->at + at, text, n * sizeof *text);
    block->len += n;
}

/* Inserts one of the host's variables, unless the child does not get it. `utf8` is a buffer. */
static void phi__spawn_host_variable(phi__wide_buf *block, const phi__spawn *spawn,
                                     const wchar_t *wide, phi__buf *utf8) {
    size_t n = wcslen(wide);
    phi__buf_clear(utf8);
    char *text = phi__buf_reserve(utf8, n * 3 + 1);
    if (text == NULL) {
        block->error = ERROR_NOT_ENOUGH_MEMORY;
        return;
    }
    if (phi__narrow(wide, n, text, n * 3 + 1) == SIZE_MAX) return;
    /* "=C:=C:\dir" is the working directory of a drive */
    if (spawn->env_only && !phi__spawn_needed(text)) return;
    if (spawn->hide_keys && phi__spawn_is_key(text, spawn->keep_keys)) return;
    for (size_t i = 0; spawn->env != NULL && spawn->env[i] != NULL; i++)
        if (phi__spawn_same_name(spawn->env[i], text)) return;
    phi__spawn_variable(block, wide);
}

/* Builds a block of "NAME=value" texts, each terminated, with an empty one at its end. */
static int phi__spawn_environment(phi_memory *memory, const phi__spawn *spawn,
                                  phi__wide_buf *block) {
    wchar_t *host = GetEnvironmentStringsW();
    phi__wide_buf word = PHI_ZERO;
    phi__buf utf8;
    if (host == NULL) return (int)GetLastError();
    word.memory = memory;
    phi__buf_init(&utf8, memory);
    for (const wchar_t *at = host; *at != L'\0' && block->error == 0; at += wcslen(at) + 1)
        phi__spawn_host_variable(block, spawn, at, &utf8);
    for (size_t i = 0; spawn->env != NULL && spawn->env[i] != NULL && block->error == 0; i++) {
        word.len = 0;
        phi__wide_utf8(&word, spawn->env[i]);
        const wchar_t *text = phi__wide_end(&word);
        block->error = word.error;
        if (text != NULL) phi__spawn_variable(block, text);
    }
    if (block->len == 0) phi__wide_add(block, L'\0', 1);
    (void)phi__wide_end(block);
    phi__wide_free(&word);
    phi__buf_free(&utf8);
    (void)FreeEnvironmentStringsW(host);
    return block->error;
}

/* ---- starting ---- */

/* What CreateProcessW takes for a child, and what must be given back. */
typedef struct phi__launch {
    phi__wide_buf program, line, block, cwd;
    STARTUPINFOEXW info;
    LPPROC_THREAD_ATTRIBUTE_LIST attributes;
    size_t attribute_bytes;
    HANDLE ends[3];
    HANDLE null_device;
} phi__launch;

/* The child gets no handle but its three. */
static int phi__launch_handles(phi__launch *launch, phi_memory *memory, const phi__spawn *spawn) {
    SECURITY_ATTRIBUTES inherited = PHI_ZERO;
    SIZE_T bytes = 0;
    inherited.nLength = (DWORD)sizeof inherited;
    inherited.bInheritHandle = TRUE;
    launch->null_device =
        CreateFileW(L"NUL", GENERIC_READ | GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_WRITE,
                    &inherited, OPEN_EXISTING, 0, NULL);
    if (launch->null_device == INVALID_HANDLE_VALUE) return (int)GetLastError();
    size_t n = 0; /* a list must not name a handle twice */
    for (int i = 0; i < 3; i++)
        if (spawn->fds[i] >= 0) launch->ends[n++] = phi__handle(spawn->fds[i]);
    if (n < 3) launch->ends[n++] = launch->null_device;
    (void)InitializeProcThreadAttributeList(NULL, 1, 0, &bytes);
    launch->attributes = (LPPROC_THREAD_ATTRIBUTE_LIST)phi__alloc(memory, bytes);
    if (launch->attributes == NULL) return ERROR_NOT_ENOUGH_MEMORY;
    launch->attribute_bytes = bytes;
    if (!InitializeProcThreadAttributeList(launch->attributes, 1, 0, &bytes) ||
        !UpdateProcThreadAttribute(launch->attributes, 0, PROC_THREAD_ATTRIBUTE_HANDLE_LIST,
                                   launch->ends, n * sizeof launch->ends[0], NULL, NULL))
        return (int)GetLastError();
    STARTUPINFOW *start = &launch->info.StartupInfo;
    start->cb = (DWORD)sizeof launch->info;
    start->dwFlags = STARTF_USESTDHANDLES | STARTF_USESHOWWINDOW;
    start->wShowWindow = SW_HIDE;
    start->hStdInput = spawn->fds[0] >= 0 ? phi__handle(spawn->fds[0]) : launch->null_device;
    start->hStdOutput = spawn->fds[1] >= 0 ? phi__handle(spawn->fds[1]) : launch->null_device;
    start->hStdError = spawn->fds[2] >= 0 ? phi__handle(spawn->fds[2]) : launch->null_device;
    launch->info.lpAttributeList = launch->attributes;
    return 0;
}

/* Makes a job that ends with its last handle. NULL: see GetLastError. */
static HANDLE phi__launch_job(void) {
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits = PHI_ZERO;
    HANDLE job = CreateJobObjectW(NULL, NULL);
    limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;
    if (job == NULL) return NULL;
    if (SetInformationJobObject(job, JobObjectExtendedLimitInformation, &limits,
                                (DWORD)sizeof limits))
        return job;
    (void)CloseHandle(job);
    return NULL;
}

/* Returns the program that CreateProcessW starts; NULL on failure. A batch file is run by the
   system's cmd.exe: CreateProcessW alone would look for one in the working directory first. */
static const wchar_t *phi__launch_program(const phi__launch *launch, wchar_t room[MAX_PATH]) {
    static const wchar_t name[] = L"\\cmd.exe";
    if (!phi__spawn_is_script(&launch->program)) return launch->program.at;
    UINT n = GetSystemDirectoryW(room, MAX_PATH);
    if (n == 0 || n + PHI__COUNT(name) > MAX_PATH) return NULL;
    memcpy(room + n, name, sizeof name);
    return room;
}

/* The child runs only after it is in its job, so that none of its children escapes. */
static int phi__launch_go(phi__launch *launch, phi__os_child *child) {
    DWORD flags = CREATE_SUSPENDED | CREATE_NO_WINDOW | CREATE_UNICODE_ENVIRONMENT |
                  EXTENDED_STARTUPINFO_PRESENT;
    PROCESS_INFORMATION made = PHI_ZERO;
    const wchar_t *cwd = launch->cwd.len > 0 ? launch->cwd.at : NULL;
    wchar_t room[MAX_PATH];
    const wchar_t *program = phi__launch_program(launch, room);
    if (program == NULL) return ERROR_FILE_NOT_FOUND;
    HANDLE job = phi__launch_job();
    if (job == NULL) return (int)GetLastError();
    if (!CreateProcessW(program, launch->line.at, NULL, NULL, TRUE, flags, launch->block.at, cwd,
                        &launch->info.StartupInfo, &made)) {
        int error = (int)GetLastError();
        if (error == ERROR_DIRECTORY && cwd != NULL && launch->cwd.len < MAX_PATH &&
            GetFileAttributesW(cwd) == INVALID_FILE_ATTRIBUTES)
            error = (int)GetLastError(); /* the directory does not exist */
        (void)CloseHandle(job);
        return error;
    }
    int error =
        AssignProcessToJobObject(job, made.hProcess) && ResumeThread(made.hThread) != (DWORD)-1
            ? 0
            : (int)GetLastError();
    (void)CloseHandle(made.hThread);
    if (error != 0) {
        (void)TerminateProcess(made.hProcess, 1);
        (void)CloseHandle(made.hProcess);
        (void)CloseHandle(job);
        return error;
    }
    child->id = (int)made.dwProcessId;
    child->process = (phi__fd)made.hProcess;
    child->job = (phi__fd)job;
    return 0;
}

/* CreateProcessW takes no long path as a working directory, so this is not phi__wide_path. */
static int phi__launch_cwd(phi__launch *launch, const char *cwd) {
    if (cwd == NULL) return 0;
    phi__wide_utf8(&launch->cwd, cwd);
    wchar_t *at = phi__wide_end(&launch->cwd);
    for (size_t i = 0; at != NULL && i < launch->cwd.len; i++)
        if (at[i] == L'/') at[i] = L'\\';
    return launch->cwd.error;
}

PHI__FN int phi__child_start(phi_memory *memory, const phi__spawn *spawn, phi__os_child *child) {
    phi__launch launch = PHI_ZERO;
    launch.program.memory = launch.line.memory = launch.block.memory = launch.cwd.memory = memory;
    launch.null_device = INVALID_HANDLE_VALUE;
    int error = phi__launch_cwd(&launch, spawn->cwd);
    if (error == 0) error = phi__spawn_find(memory, spawn->argv[0], &launch.program);
    if (error == 0) error = phi__spawn_line(memory, spawn, &launch.program, &launch.line);
    if (error == 0 && phi__wide_end(&launch.line) == NULL) error = ERROR_NOT_ENOUGH_MEMORY;
    if (error == 0) error = phi__spawn_environment(memory, spawn, &launch.block);
    if (error == 0) error = phi__launch_handles(&launch, memory, spawn);
    if (error == 0) error = phi__launch_go(&launch, child);
    if (launch.info.lpAttributeList != NULL) DeleteProcThreadAttributeList(launch.attributes);
    phi__free(memory, launch.attributes, launch.attribute_bytes);
    if (launch.null_device != INVALID_HANDLE_VALUE) (void)CloseHandle(launch.null_device);
    phi__wide_free(&launch.program);
    phi__wide_free(&launch.line);
    phi__wide_free(&launch.block);
    phi__wide_free(&launch.cwd);
    return error;
}

PHI__FN phi_status phi__child_refusal(int error, const char *cwd) {
    bool has_cwd = cwd == NULL;
#if !defined(PHI_NO_FILES)
    wchar_t wide[PHI__WIDE_PATH];
    has_cwd = has_cwd || (phi__wide_path(cwd, wide) == 0 &&
                          GetFileAttributesW(wide) != INVALID_FILE_ATTRIBUTES);
#endif
    switch (error) {
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND: return has_cwd ? PHI_NOT_FOUND : PHI_IO;
    case ERROR_NOT_ENOUGH_MEMORY:
    case ERROR_OUTOFMEMORY:
    case ERROR_COMMITMENT_LIMIT: return PHI_NO_MEMORY;
    case ERROR_TOO_MANY_OPEN_FILES:
    case ERROR_NO_SYSTEM_RESOURCES:
    case ERROR_PIPE_BUSY: return PHI_BUSY;
    case ERROR_NOT_SUPPORTED: return PHI_UNSUPPORTED;
    default: return PHI_IO;
    }
}

/* ---- a running child ---- */

PHI__FN bool phi__child_look(phi__os_child *child) {
    DWORD code = 0;
    if (WaitForSingleObject(phi__handle(child->process), 0) == WAIT_TIMEOUT) return false;
    child->lost = !GetExitCodeProcess(phi__handle(child->process), &code);
    child->code = child->lost ? -1 : (int)code;
    child->signal_number = 0;
    if (child->terminated && code == PHI__SPAWN_TERMINATED) {
        child->code = -1;
        child->signal_number = 15; /* SIGTERM */
    }
    return true;
}

PHI__FN void phi__child_kill(const phi__os_child *child) {
    (void)TerminateJobObject(phi__handle(child->job), 1);
}

PHI__FN void phi__child_reap(phi__os_child *child) {
    phi__child_kill(child);
    (void)CloseHandle(phi__handle(child->job));
    (void)CloseHandle(phi__handle(child->process));
}

PHI__FN void phi__child_terminate(phi__os_child *child) {
    child->terminated = true;
    (void)TerminateJobObject(phi__handle(child->job), PHI__SPAWN_TERMINATED);
}

/* An exit is seen by the timer, which is quick after both streams have ended. */
PHI__FN phi__fd phi__child_exit_fd(const phi__os_child *child) {
    (void)child;
    return -1;
}

PHI__FN void phi__child_pause(void) { Sleep(1); }

/* ---- its pipes ---- */

PHI__FN int phi__child_pipe(phi__io *io, bool we_read, phi__fd *ours, phi__fd *childs) {
    HANDLE end = NULL;
    int error = phi__pipe_new(phi__io_poller(io), we_read, ours, &end);
    *childs = error == 0 ? (phi__fd)end : -1;
    return error;
}

PHI__FN void phi__child_end_close(phi__fd childs) { (void)CloseHandle(phi__handle(childs)); }

PHI__FN int phi__stream_read(phi__fd fd, char *out, size_t n, size_t *got) {
    int error = phi__pipe_read(fd, out, n, got);
    return error == ERROR_NO_DATA ? PHI__STREAM_LATER : error;
}

PHI__FN int phi__stream_write(phi__fd fd, const char *bytes, size_t n, size_t *wrote) {
    int error = phi__pipe_write(fd, bytes, n, wrote);
    return error == ERROR_NO_DATA ? PHI__STREAM_LATER : error;
}

PHI__FN void phi__stream_close(phi__fd fd) { phi__pipe_close(fd); }

#endif
