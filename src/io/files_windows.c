/* files_windows.c - files.c for Windows: creates and writes files, creates directories, and
   implements a store's disk. */
#include "io/io_in.h"
#include "io/os_in.h"

#if defined(PHI__OS_WINDOWS) && !defined(PHI_NO_FILES)

#include "io/windows_in.h"

/* after windows.h */
#include <winternl.h>
#include <stdio.h>

#if defined(_MSC_VER)
#pragma comment(lib, "advapi32.lib")
#endif

enum { PHI__SHARE_ALL = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE };

/* The messages of common errors are those of POSIX, so that a model reads the same text everywhere,
   and not in the language of the user's system. NULL: the system's own. */
static const char *phi__windows_message(int error) {
    if (error == PHI__EXACT_LINK) return "It has become a symbolic link since it was checked";
    if (error < 0) return phi__windows_fault(error);
    switch (error) {
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND:
    case ERROR_INVALID_DRIVE: return "No such file or directory";
    case ERROR_ACCESS_DENIED: return "Permission denied";
    case ERROR_NOT_ENOUGH_MEMORY:
    case ERROR_OUTOFMEMORY: return "Cannot allocate memory";
    case ERROR_FILENAME_EXCED_RANGE: return "File name too long";
    case ERROR_DISK_FULL:
    case ERROR_HANDLE_DISK_FULL: return "No space left on device";
    case ERROR_CANT_RESOLVE_FILENAME: return "Too many levels of symbolic links";
    default: return NULL;
    }
}

PHI__FN phi_status phi__files_refused(int error, phi__words *words) {
    if (error == PHI__FILES_NO_MEMORY) error = ERROR_NOT_ENOUGH_MEMORY;
    if (error == PHI__FILES_TOO_LONG) error = PHI__PATH_LONG;
    const char *message = phi__windows_message(error);
    if (words != NULL && message != NULL)
        (void)snprintf(words->text, sizeof words->text, "%s", message);
    else if (words != NULL)
        phi__os_words(error, words->text, sizeof words->text);
    switch (error) {
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND:
    case ERROR_INVALID_DRIVE: return PHI_NOT_FOUND;
    case ERROR_NOT_ENOUGH_MEMORY:
    case ERROR_OUTOFMEMORY: return PHI_NO_MEMORY;
    default: return PHI_IO;
    }
}

/* ---- paths ---- */

PHI__FN int phi__wide_resolved(const char *path, wchar_t out[PHI__WIDE_PATH]) {
    char normal[PHI__PATH_BYTES];
    bool share = path[0] == '/';
    const wchar_t *head = share ? L"\\\\?\\UNC" : L"\\\\?\\";
    size_t n = wcslen(head);
    int fault = phi__windows_path(NULL, phi_str_of(path), normal);
    if (fault != 0) return fault;
    if (strcmp(path, normal) != 0) return PHI__PATH_RELATIVE; /* not resolved */
    memcpy(out, head, n * sizeof *head);
    /* one slash of "//server" follows "UNC" */
    if (!phi__wide(phi_str_of(path + (share ? 1 : 0)), out + n, PHI__WIDE_PATH - n))
        return PHI__PATH_CHAR;
    for (; out[n] != L'\0'; n++)
        if (out[n] == L'/') out[n] = L'\\';
    return 0;
}

PHI__FN int phi__final_path(HANDLE file, char out[PHI__PATH_BYTES]) {
    wchar_t wide[PHI__WIDE_PATH];
    char text[PHI__PATH_BYTES];
    DWORD n = GetFinalPathNameByHandleW(file, wide, PHI__WIDE_PATH,
                                        FILE_NAME_NORMALIZED | VOLUME_NAME_DOS);
    if (n == 0) return (int)GetLastError();
    if (n >= PHI__WIDE_PATH) return PHI__PATH_LONG;
    size_t skip = 0;
    if (n > 8 && wcsncmp(wide, L"\\\\?\\UNC\\", 8) == 0) {
        skip = 6; /* "C\" becomes "\\" */
        wide[skip] = L'\\';
    } else if (n > 4 && wcsncmp(wide, L"\\\\?\\", 4) == 0)
        skip = 4;
    if (phi__narrow(wide + skip, n - skip, text, sizeof text) == SIZE_MAX) return PHI__PATH_LONG;
    return phi__windows_path(NULL, phi_str_of(text), out);
}

PHI__FN bool phi__same_path(const char *a, size_t a_len, const char *b, size_t b_len) {
    wchar_t wide[2][PHI__PATH_BYTES];
    return phi__wide(phi__str(a, a_len), wide[0], PHI__PATH_BYTES) &&
           phi__wide(phi__str(b, b_len), wide[1], PHI__PATH_BYTES) &&
           CompareStringOrdinal(wide[0], -1, wide[1], -1, TRUE) == CSTR_EQUAL;
}

/* ---- calls of the kernel ----

   ntdll.dll is a part of every process, but compilers do not link its import library by default. So
   the functions are looked up. */

enum {
    PHI__NT_DONT_REPARSE = 0x1000, /* OBJ_DONT_REPARSE, since Windows 10 */
    PHI__NT_RENAME = 10,           /* FileRenameInformation */
    PHI__NT_DELETE = 13,           /* FileDispositionInformation */
    PHI__NT_DELETE_NOW = 64,       /* FileDispositionInformationEx, Windows 10 1709 */
    PHI__NT_RENAME_NOW = 65        /* FileRenameInformationEx, Windows 10 1709 */
};

typedef NTSTATUS(NTAPI *phi__nt_create_fn)(HANDLE *, ACCESS_MASK, OBJECT_ATTRIBUTES *,
                                           IO_STATUS_BLOCK *, LARGE_INTEGER *, ULONG, ULONG, ULONG,
                                           ULONG, void *, ULONG);
typedef NTSTATUS(NTAPI *phi__nt_set_fn)(HANDLE, IO_STATUS_BLOCK *, void *, ULONG, int);
typedef ULONG(NTAPI *phi__nt_error_fn)(NTSTATUS);

typedef union phi__nt_fn {
    FARPROC any;
    phi__nt_create_fn create;
    phi__nt_set_fn set;
    phi__nt_error_fn error;
} phi__nt_fn;

static phi__nt_fn phi__nt(const char *name) {
    phi__nt_fn fn = PHI_ZERO;
    HMODULE module = GetModuleHandleW(L"ntdll.dll");
    if (module != NULL) fn.any = GetProcAddress(module, name);
    return fn;
}

static int phi__nt_error(NTSTATUS status) {
    phi__nt_fn fn = phi__nt("RtlNtStatusToDosError");
    switch ((uint32_t)status) {
    case 0: return 0;
    case 0xC000050B: return PHI__EXACT_LINK;        /* STATUS_REPARSE_POINT_ENCOUNTERED */
    case 0xC0000103: return PHI__PATH_NO_DIRECTORY; /* STATUS_NOT_A_DIRECTORY */
    case 0xC00000BA: return PHI__PATH_IS_DIRECTORY; /* STATUS_FILE_IS_A_DIRECTORY */
    default: return fn.any != NULL ? (int)fn.error(status) : ERROR_GEN_FAILURE;
    }
}

PHI__FN int phi__nt_open(HANDLE dir, phi_str name, const phi__nt_how *how, HANDLE *out) {
    wchar_t wide[256];
    UNICODE_STRING text;
    OBJECT_ATTRIBUTES object;
    IO_STATUS_BLOCK done;
    phi__nt_fn fn = phi__nt("NtCreateFile");
    enum { SYNCHRONOUS = 0x20, REPARSE_POINT = 0x200000 };
    ULONG options = how->options | SYNCHRONOUS | (how->follow ? 0 : REPARSE_POINT);
    *out = INVALID_HANDLE_VALUE;
    if (fn.any == NULL) return ERROR_PROC_NOT_FOUND;
    int fault = name.len > 0 ? phi__windows_part(name) : 0;
    if (fault != 0) return fault;
    if (!phi__wide(name, wide, PHI__COUNT(wide))) return PHI__PATH_CHAR;
    memset(&object, 0, sizeof object);
    memset(&done, 0, sizeof done);
    text.Buffer = wide;
    text.Length = text.MaximumLength = (USHORT)(wcslen(wide) * sizeof *wide);
    object.Length = sizeof object;
    object.RootDirectory = dir;
    object.ObjectName = &text;
    object.Attributes = OBJ_CASE_INSENSITIVE | (how->follow ? 0 : PHI__NT_DONT_REPARSE);
    object.SecurityDescriptor = how->security;
    return phi__nt_error(fn.create(out, how->access | SYNCHRONIZE, &object, &done, NULL,
                                   how->attributes, PHI__SHARE_ALL, how->disposition, options, NULL,
                                   0));
}

/* Sets information of two kinds: `now` on systems that know it, else `plain`. */
static int phi__nt_set(HANDLE file, void *info, size_t bytes, ULONG flags, int now, int plain) {
    IO_STATUS_BLOCK done;
    phi__nt_fn fn = phi__nt("NtSetInformationFile");
    if (fn.any == NULL) return ERROR_PROC_NOT_FOUND;
    memset(&done, 0, sizeof done);
    memcpy(info, &flags, sizeof flags);
    NTSTATUS status = fn.set(file, &done, info, (ULONG)bytes, now);
    switch ((uint32_t)status) {
    case 0xC0000002: /* STATUS_NOT_IMPLEMENTED */
    case 0xC0000003: /* STATUS_INVALID_INFO_CLASS */
    case 0xC000000D: /* STATUS_INVALID_PARAMETER: the file system does not know it */
    case 0xC0000010: /* STATUS_INVALID_DEVICE_REQUEST */
    case 0xC00000BB: /* STATUS_NOT_SUPPORTED */
        flags = 1;   /* TRUE in the first byte: replace, or delete */
        memcpy(info, &flags, sizeof flags);
        status = fn.set(file, &done, info, (ULONG)bytes, plain);
        break;
    default: break;
    }
    return phi__nt_error(status);
}

PHI__FN int phi__nt_rename(HANDLE file, HANDLE dir, const wchar_t *name) {
    struct {
        ULONG flags;
        HANDLE dir;
        ULONG bytes;
        wchar_t name[PHI__WIDE_PATH];
    } info;
    enum { REPLACE = 1, POSIX = 2 };
    size_t n = wcslen(name);
    if (n >= PHI__WIDE_PATH) return PHI__PATH_LONG;
    memset(&info, 0, sizeof info);
    info.dir = dir;
    info.bytes = (ULONG)(n * sizeof *name);
    memcpy(info.name, name, info.bytes);
    if (dir == NULL) info.name[1] = L'?'; /* "\\?\" is "\??\" for the kernel */
    size_t bytes = (size_t)((char *)info.name - (char *)&info) + info.bytes;
    return phi__nt_set(file, &info, phi__max(bytes, 24), REPLACE | POSIX, PHI__NT_RENAME_NOW,
                       PHI__NT_RENAME);
}

PHI__FN int phi__nt_delete(HANDLE file) {
    ULONG flags = 0;
    enum { DELETE_IT = 1, POSIX = 2 };
    return phi__nt_set(file, &flags, sizeof flags, DELETE_IT | POSIX, PHI__NT_DELETE_NOW,
                       PHI__NT_DELETE);
}

PHI__FN int phi__nt_check(HANDLE file, bool directory, bool *plain) {
    FILE_ATTRIBUTE_TAG_INFO info;
    enum { SURROGATE = 0x20000000 }; /* bit of the tags that lead to another name */
    *plain = true;
    if (GetFileType(file) != FILE_TYPE_DISK) return PHI__PATH_NOT_REGULAR;
    if (!GetFileInformationByHandleEx(file, FileAttributeTagInfo, &info, sizeof info))
        return (int)GetLastError();
    if ((info.FileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0) {
        if ((info.ReparseTag & SURROGATE) != 0) return PHI__EXACT_LINK;
        *plain = false;
    }
    if ((info.FileAttributes & FILE_ATTRIBUTE_DEVICE) != 0) return PHI__PATH_NOT_REGULAR;
    bool is_directory = (info.FileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
    if (is_directory == directory) return 0;
    return is_directory ? PHI__PATH_IS_DIRECTORY : PHI__PATH_NO_DIRECTORY;
}

PHI__FN int phi__private_init(phi__private *out) {
    DWORD n = 0;
    HANDLE token;
    memset(out, 0, sizeof *out);
    if (!OpenThreadToken(GetCurrentThread(), TOKEN_QUERY, TRUE, &token) &&
        !OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &token))
        return (int)GetLastError();
    int error = 0;
    if (!GetTokenInformation(token, TokenUser, &out->owner, sizeof out->owner, &n) ||
        !InitializeAcl(&out->rights.list, sizeof out->rights, ACL_REVISION) ||
        !AddAccessAllowedAce(&out->rights.list, ACL_REVISION, FILE_ALL_ACCESS,
                             out->owner.user.User.Sid) ||
        !InitializeSecurityDescriptor(&out->descriptor, SECURITY_DESCRIPTOR_REVISION) ||
        !SetSecurityDescriptorDacl(&out->descriptor, TRUE, &out->rights.list, FALSE) ||
        !SetSecurityDescriptorControl(&out->descriptor, SE_DACL_PROTECTED, SE_DACL_PROTECTED))
        error = (int)GetLastError();
    (void)CloseHandle(token);
    return error;
}

/* ---- new files ---- */

/* Opens a path from the host. A link in its last part is opened itself. */
static int phi__windows_open(const char *path, DWORD access, DWORD disposition, DWORD flags,
                             phi__fd *out) {
    wchar_t wide[PHI__WIDE_PATH];
    phi__private mine;
    SECURITY_ATTRIBUTES security = PHI_ZERO;
    bool makes = disposition != OPEN_EXISTING;
    *out = -1;
    int error = phi__wide_path(path, wide);
    if (error == 0 && makes) error = phi__private_init(&mine);
    if (error != 0) return error;
    security.nLength = sizeof security;
    security.lpSecurityDescriptor = makes ? &mine.descriptor : NULL;
    HANDLE file = CreateFileW(wide, access, PHI__SHARE_ALL, &security, disposition,
                              FILE_ATTRIBUTE_NORMAL | FILE_FLAG_OPEN_REPARSE_POINT | flags, NULL);
    if (file != INVALID_HANDLE_VALUE) {
        *out = (phi__fd)file;
        return 0;
    }
    error = (int)GetLastError();
    if (error != ERROR_ACCESS_DENIED && error != ERROR_FILE_EXISTS) return error;
    DWORD attributes = GetFileAttributesW(wide);
    bool directory =
        attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
    return directory && disposition != CREATE_NEW ? (int)PHI__PATH_IS_DIRECTORY : error;
}

PHI__FN phi__file *phi__files_new(phi_memory *memory) {
    phi__file *file = (phi__file *)phi__alloc(memory, sizeof *file);
    if (file == NULL) return NULL;
    file->memory = memory;
    file->fd = file->dir = -1;
    return file;
}

PHI__FN phi_status phi__files_open_new(phi_memory *memory, const char *path, phi__file **out,
                                       phi__words *words) {
    phi__file *file = phi__files_new(memory);
    *out = NULL;
    if (file == NULL) return phi__files_refused(PHI__FILES_NO_MEMORY, words);
    int error = phi__windows_open(path, GENERIC_WRITE | DELETE, CREATE_NEW, 0, &file->fd);
    file->has_temp = error == 0; /* the file is removed unless it is committed */
    if (error == 0)
        *out = file;
    else
        phi__files_close(file);
    if (error == ERROR_FILE_EXISTS || error == ERROR_ALREADY_EXISTS) return PHI_BUSY;
    return error == 0 ? PHI_OK : phi__files_refused(error, words);
}

PHI__FN phi_status phi__files_write(phi__file *file, const char *bytes, size_t n,
                                    phi__words *words) {
    size_t at = 0;
    int error = file->failed ? ERROR_WRITE_FAULT : 0;
    while (error == 0 && at < n) {
        DWORD wrote = 0, part = (DWORD)phi__min(n - at, 1u << 30);
        if (!WriteFile(phi__handle(file->fd), bytes + at, part, &wrote, NULL))
            error = (int)GetLastError();
        else if (wrote == 0)
            error = ERROR_DISK_FULL;
        at += wrote;
    }
    if (error == 0) return PHI_OK;
    file->failed = true;
    return phi__files_refused(error, words);
}

PHI__FN phi_status phi__files_commit(phi__file *file, phi__words *words) {
    wchar_t name[256];
    if (file->failed) return phi__files_refused(ERROR_WRITE_FAULT, words);
    if (file->fd == -1) return PHI_OK;
    if (file->path != NULL) {
        int error = phi__wide(phi_str_of(file->path), name, PHI__COUNT(name))
                        ? phi__nt_rename(phi__handle(file->fd), phi__handle(file->dir), name)
                        : (int)PHI__PATH_CHAR;
        if (error != 0) return phi__files_refused(error, words);
    }
    file->has_temp = false;
    (void)CloseHandle(phi__handle(file->fd));
    file->fd = -1;
    return PHI_OK;
}

PHI__FN void phi__files_close(phi__file *file) {
    if (file == NULL) return;
    if (file->has_temp) (void)phi__nt_delete(phi__handle(file->fd));
    if (file->fd != -1) (void)CloseHandle(phi__handle(file->fd));
    if (file->dir != -1) (void)CloseHandle(phi__handle(file->dir));
    phi__free(file->memory, file->path, file->bytes);
    phi__free(file->memory, file, sizeof *file);
}

static int phi__files_make_directory(const wchar_t *path) {
    int error = CreateDirectoryW(path, NULL) ? 0 : (int)GetLastError();
    if (error == 0) return 0;
    /* other errors than ERROR_ALREADY_EXISTS come for a drive's root and for read-only disks */
    DWORD attributes = GetFileAttributesW(path);
    if (attributes == INVALID_FILE_ATTRIBUTES) return error;
    return (attributes & FILE_ATTRIBUTE_DIRECTORY) != 0 ? 0 : PHI__PATH_NO_DIRECTORY;
}

PHI__FN phi_status phi__files_make_directories(const char *path, phi__words *words) {
    wchar_t wide[PHI__WIDE_PATH];
    int error = phi__wide_path(path, wide);
    /* behind "\\?\C:\" or "\\?\UNC\server\share\" */
    size_t at = 7;
    if (error == 0 && wcsncmp(wide, L"\\\\?\\UNC\\", 8) == 0) {
        at = 8 + wcscspn(wide + 8, L"\\");
        if (wide[at] != L'\0') at += 1 + wcscspn(wide + at + 1, L"\\");
        if (wide[at] != L'\0') at++;
    }
    while (error == 0 && wide[at] != L'\0') {
        at += wcscspn(wide + at, L"\\");
        wchar_t kept = wide[at];
        wide[at] = L'\0';
        error = phi__files_make_directory(wide);
        wide[at] = kept;
        if (kept != L'\0') at++;
    }
    return error == 0 ? PHI_OK : phi__files_refused(error, words);
}

/* ---- the file system calls of a store; files.c has the contract ----

   A lock excludes other locks of one byte far behind the data, because a lock of Windows hinders
   reading and writing. Files are replaced and removed with the semantics of POSIX where the system
   has them (NTFS, since Windows 10 1709), so that open files do not hinder it. */

static phi_status phi__disk_refused(int error, phi__words *words) {
    phi_status status = phi__files_refused(error, words);
    switch (error) {
    case ERROR_DISK_FULL:
    case ERROR_HANDLE_DISK_FULL:
    case 1295: /* ERROR_DISK_QUOTA_EXCEEDED, which mingw lacks */
    case ERROR_FILE_TOO_LARGE: return PHI_FULL;
    default: return status;
    }
}

static phi_status phi__disk_said(int error, phi__words *words) {
    return error == 0 ? PHI_OK : phi__disk_refused(error, words);
}

static phi_status phi__disk_too_big(phi__words *words) {
    (void)phi__files_refused(ERROR_ARITHMETIC_OVERFLOW, words);
    return PHI_TOO_BIG;
}

static phi_status phi__disk_open(void *user_data, const char *path, phi__disk_how how,
                                 intptr_t *out, phi__words *words) {
    bool plain, makes = how == PHI__DISK_CREATE || how == PHI__DISK_FRESH;
    FILE_END_OF_FILE_INFO empty = PHI_ZERO;
    phi__fd fd;
    (void)user_data;
    *out = -1;
    int error = phi__windows_open(path, GENERIC_READ | (how == PHI__DISK_READ ? 0 : GENERIC_WRITE),
                                  makes ? OPEN_ALWAYS : OPEN_EXISTING, 0, &fd);
    if (error != 0) return phi__disk_refused(error, words);
    error = phi__nt_check(phi__handle(fd), false, &plain);
    if (error == 0 && how == PHI__DISK_FRESH &&
        !SetFileInformationByHandle(phi__handle(fd), FileEndOfFileInfo, &empty, sizeof empty))
        error = (int)GetLastError();
    if (error == 0) {
        *out = fd;
        return PHI_OK;
    }
    (void)CloseHandle(phi__handle(fd));
    phi_status status = phi__disk_refused(error, words);
    if (words != NULL && error == PHI__EXACT_LINK)
        (void)snprintf(words->text, sizeof words->text,
                       "It is a symbolic link, which is not followed");
    return status;
}

static phi_status phi__disk_close(void *user_data, intptr_t file, phi__words *words) {
    (void)user_data;
    return phi__disk_said(CloseHandle(phi__handle(file)) ? 0 : (int)GetLastError(), words);
}

static phi_status phi__disk_info_now(void *user_data, intptr_t file, phi__disk_info *out,
                                     phi__words *words) {
    BY_HANDLE_FILE_INFORMATION info;
    bool plain;
    (void)user_data;
    if (!GetFileInformationByHandle(phi__handle(file), &info))
        return phi__disk_refused((int)GetLastError(), words);
    uint64_t units = ((uint64_t)info.ftLastWriteTime.dwHighDateTime << 32) |
                     info.ftLastWriteTime.dwLowDateTime; /* of 100 ns, since 1601 */
    memset(out, 0, sizeof *out);
    out->bytes = ((uint64_t)info.nFileSizeHigh << 32) | info.nFileSizeLow;
    out->device = info.dwVolumeSerialNumber;
    out->file = ((uint64_t)info.nFileIndexHigh << 32) | info.nFileIndexLow;
    out->changed_ns = ((int64_t)units - 116444736000000000) * 100;
    out->regular = phi__nt_check(phi__handle(file), false, &plain) == 0;
    return PHI_OK;
}

static phi_status phi__disk_info_of(void *user_data, const char *path, phi__disk_info *out,
                                    phi__words *words) {
    phi__fd fd;
    int error = phi__windows_open(path, FILE_READ_ATTRIBUTES, OPEN_EXISTING,
                                  FILE_FLAG_BACKUP_SEMANTICS, &fd);
    if (error != 0) return phi__disk_refused(error, words);
    phi_status status = phi__disk_info_now(user_data, fd, out, words);
    (void)CloseHandle(phi__handle(fd));
    return status;
}

static OVERLAPPED phi__disk_at(uint64_t at) {
    OVERLAPPED place = PHI_ZERO;
    place.Offset = (DWORD)(at & 0xFFFFFFFF);
    place.OffsetHigh = (DWORD)(at >> 32);
    return place;
}

static phi_status phi__disk_read(void *user_data, intptr_t file, uint64_t at, char *out, size_t n,
                                 size_t *got, phi__words *words) {
    OVERLAPPED place = phi__disk_at(at);
    DWORD done = 0;
    (void)user_data;
    *got = 0;
    if (at > INT64_MAX) return phi__disk_too_big(words);
    if (!ReadFile(phi__handle(file), out, (DWORD)phi__min(n, 1u << 30), &done, &place)) {
        int error = (int)GetLastError();
        return error == ERROR_HANDLE_EOF ? PHI_OK : phi__disk_refused(error, words);
    }
    *got = done;
    return PHI_OK;
}

static phi_status phi__disk_write(void *user_data, intptr_t file, uint64_t at, const char *bytes,
                                  size_t n, size_t *wrote, phi__words *words) {
    OVERLAPPED place = phi__disk_at(at);
    DWORD done = 0;
    int error = 0;
    (void)user_data;
    *wrote = 0;
    if (at > INT64_MAX) return phi__disk_too_big(words);
    if (!WriteFile(phi__handle(file), bytes, (DWORD)phi__min(n, 1u << 30), &done, &place))
        error = (int)GetLastError();
    else if (done == 0 && n > 0)
        error = ERROR_DISK_FULL;
    *wrote = done;
    return phi__disk_said(error, words);
}

static phi_status phi__disk_cut(void *user_data, intptr_t file, uint64_t bytes, phi__words *words) {
    FILE_END_OF_FILE_INFO info;
    (void)user_data;
    if (bytes > INT64_MAX) return phi__disk_too_big(words);
    info.EndOfFile.QuadPart = (LONGLONG)bytes;
    bool good =
        SetFileInformationByHandle(phi__handle(file), FileEndOfFileInfo, &info, sizeof info) != 0;
    return phi__disk_said(good ? 0 : (int)GetLastError(), words);
}

static phi_status phi__disk_sync(void *user_data, intptr_t file, phi__words *words) {
    (void)user_data;
    return phi__disk_said(FlushFileBuffers(phi__handle(file)) ? 0 : (int)GetLastError(), words);
}

static phi_status phi__disk_lock(void *user_data, intptr_t file, phi__words *words) {
    OVERLAPPED place = phi__disk_at((uint64_t)INT64_MAX - 1);
    (void)user_data;
    if (LockFileEx(phi__handle(file), LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0,
                   &place))
        return PHI_OK;
    int error = (int)GetLastError();
    phi_status status = phi__disk_refused(error, words);
    bool taken = error == ERROR_LOCK_VIOLATION || error == ERROR_SHARING_VIOLATION ||
                 error == ERROR_IO_PENDING;
    return taken ? PHI_BUSY : status;
}

static phi_status phi__disk_rename(void *user_data, const char *from, const char *to,
                                   phi__words *words) {
    wchar_t wide[PHI__WIDE_PATH];
    phi__fd fd = -1;
    (void)user_data;
    int error = phi__wide_path(to, wide);
    if (error == 0)
        error = phi__windows_open(from, DELETE | FILE_READ_ATTRIBUTES, OPEN_EXISTING,
                                  FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_WRITE_THROUGH, &fd);
    if (error != 0) return phi__disk_refused(error, words);
    error = phi__nt_rename(phi__handle(fd), NULL, wide);
    (void)CloseHandle(phi__handle(fd));
    return phi__disk_said(error, words);
}

static phi_status phi__disk_remove(void *user_data, const char *path, phi__words *words) {
    phi__fd fd;
    (void)user_data;
    int error = phi__windows_open(path, DELETE | FILE_READ_ATTRIBUTES, OPEN_EXISTING, 0, &fd);
    if (error != 0) return phi__disk_refused(error, words);
    error = phi__nt_delete(phi__handle(fd));
    (void)CloseHandle(phi__handle(fd));
    return phi__disk_said(error, words);
}

static phi_status phi__disk_make_directories(void *user_data, const char *path, phi__words *words) {
    (void)user_data;
    return phi__files_make_directories(path, words);
}

/* File systems of Windows write names in a journal or at once, and a rename with
   FILE_FLAG_WRITE_THROUGH waits for it. Some also flush a directory; those that cannot say so. */
static phi_status phi__disk_sync_directory(void *user_data, const char *path, phi__words *words) {
    phi__fd fd;
    bool plain;
    (void)user_data;
    int error =
        phi__windows_open(path, GENERIC_WRITE, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, &fd);
    if (error != 0) return phi__disk_refused(error, words);
    error = phi__nt_check(phi__handle(fd), true, &plain);
    if (error == 0 && !FlushFileBuffers(phi__handle(fd))) error = (int)GetLastError();
    (void)CloseHandle(phi__handle(fd));
    switch (error) {
    case ERROR_ACCESS_DENIED:
    case ERROR_INVALID_FUNCTION:
    case ERROR_INVALID_HANDLE:
    case ERROR_INVALID_PARAMETER:
    case ERROR_NOT_SUPPORTED: return PHI_OK;
    default: return phi__disk_said(error, words);
    }
}

static phi_status phi__disk_list(void *user_data, const char *path,
                                 phi_status (*each)(void *ctx, const char *name), void *ctx,
                                 phi__words *words) {
    wchar_t wide[PHI__WIDE_PATH + 2];
    char name[3 * MAX_PATH + 1];
    WIN32_FIND_DATAW entry;
    phi_status status = PHI_OK;
    (void)user_data;
    int error = phi__wide_path(path, wide);
    if (error != 0) return phi__disk_refused(error, words);
    size_t n = wcslen(wide);
    if (wide[n - 1] != L'\\') wide[n++] = L'\\';
    wide[n++] = L'*';
    wide[n] = L'\0';
    HANDLE found = FindFirstFileW(wide, &entry);
    if (found == INVALID_HANDLE_VALUE) return phi__disk_refused((int)GetLastError(), words);
    for (;;) {
        if (phi__narrow(entry.cFileName, wcslen(entry.cFileName), name, sizeof name) != SIZE_MAX)
            status = each(ctx, name);
        if (status != PHI_OK) break;
        if (FindNextFileW(found, &entry)) continue;
        error = (int)GetLastError();
        if (error != ERROR_NO_MORE_FILES) status = phi__disk_refused(error, words);
        break;
    }
    (void)FindClose(found);
    return status;
}

PHI__FN const phi__disk *phi__disk_system(void) {
    static const phi__disk disk = {NULL,
                                   phi__disk_open,
                                   phi__disk_close,
                                   phi__disk_info_now,
                                   phi__disk_info_of,
                                   phi__disk_read,
                                   phi__disk_write,
                                   phi__disk_cut,
                                   phi__disk_sync,
                                   phi__disk_lock,
                                   phi__disk_rename,
                                   phi__disk_remove,
                                   phi__disk_make_directories,
                                   phi__disk_sync_directory,
                                   phi__disk_list};
    return &disk;
}

#endif
