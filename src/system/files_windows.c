/* files_windows.c - files.c for Windows: resolves paths, reads and replaces files. */
#include "system/files_in.h"
#include "io/io_in.h"
#include "io/os_in.h"

#if defined(PHI__OS_WINDOWS) && !defined(PHI_NO_FILES)

#include "io/windows_in.h"

/* after windows.h */
#include <winternl.h>
#include <stdio.h>

enum { PHI__SYSTEM_SHARE = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE };

static phi_status phi__files_said(int error, phi__words *words) {
    return error == 0 ? PHI_OK : phi__files_refused(error, words);
}

/* ---- resolving ----

   The system reports the final path of the longest part of the path that exists: long names in the
   case of the disk, without links, junctions and drives that stand for directories. The rest is
   appended as given. In phi__resolve, `rest` holds the whole path, and its first `at` bytes are
   tried next.

   A path on a share is sent over the network, and the user's name and a proof of the password with
   it. So a path on another share than `base` is not looked up: it is its own result. If it lies in
   an allowed path, opening it proves that no part of it is a link. */

enum { PHI__RESOLVE_AS_TEXT = 1 /* in phi__resolve.links */ };

static bool phi__path_begins(const char *path, const char *with, size_t n) {
    return strlen(path) >= n && phi__same_path(path, n, with, n);
}

/* Writes a path of the host as a resolved path is written. */
static int phi__path_here(const char *path, char out[PHI__PATH_BYTES]) {
    wchar_t wide[PHI__PATH_BYTES];
    char text[PHI__PATH_BYTES], here[PHI__PATH_BYTES];
    int error = phi__windows_path(NULL, phi_str_of(path), out);
    if (error != PHI__PATH_RELATIVE) return error;
    DWORD n = GetCurrentDirectoryW(PHI__PATH_BYTES, wide);
    if (n == 0) return (int)GetLastError();
    if (n >= PHI__PATH_BYTES || phi__narrow(wide, n, text, sizeof text) == SIZE_MAX)
        return PHI__PATH_LONG;
    error = phi__windows_path(NULL, phi_str_of(text), here);
    return error == 0 ? phi__windows_path(here, phi_str_of(path), out) : error;
}

PHI__FN phi_status phi__path_resolve_begin(phi__resolve *r, const char *base, const char *path,
                                           phi__words *words) {
    r->len = r->at = 0;
    r->links = 0;
    if (path[0] == '\0') return phi__files_refused(ERROR_PATH_NOT_FOUND, words);
    /* until the path is resolved, `out` holds the base */
    int error = phi__path_here(base != NULL ? base : path, base != NULL ? r->out : r->rest);
    if (error == 0 && base != NULL) error = phi__windows_path(r->out, phi_str_of(path), r->rest);
    if (error != 0) return phi__files_refused(error, words);
    size_t root = phi__windows_root(r->rest);
    if (base != NULL && r->rest[0] == '/' &&
        (!phi__path_begins(r->out, r->rest, root) || (r->out[root] != '\0' && r->out[root] != '/')))
        r->links = PHI__RESOLVE_AS_TEXT;
    r->out[0] = '\0';
    r->at = strlen(r->rest);
    return PHI_OK;
}

/* Opens the first `at` bytes of the path, for their attributes alone. */
static int phi__path_try(const phi__resolve *r, bool follow, HANDLE *out) {
    wchar_t wide[PHI__WIDE_PATH];
    char part[PHI__PATH_BYTES];
    memcpy(part, r->rest, r->at);
    part[r->at] = '\0';
    *out = INVALID_HANDLE_VALUE;
    int error = phi__wide_resolved(part, wide);
    if (error != 0) return error;
    *out =
        CreateFileW(wide, FILE_READ_ATTRIBUTES, PHI__SYSTEM_SHARE, NULL, OPEN_EXISTING,
                    FILE_FLAG_BACKUP_SEMANTICS | (follow ? 0 : FILE_FLAG_OPEN_REPARSE_POINT), NULL);
    return *out != INVALID_HANDLE_VALUE ? 0 : (int)GetLastError();
}

/* Appends the parts that do not exist to the final path of those that do. */
static int phi__path_append(phi__resolve *r) {
    const char *rest = r->rest + r->at;
    if (rest[0] == '/') rest++;
    if (rest[0] == '\0') return 0;
    size_t n = strlen(rest), len = strlen(r->out);
    bool slash = r->out[len - 1] != '/';
    if (len + n + 2 > sizeof r->out) return PHI__PATH_LONG;
    if (slash) r->out[len++] = '/';
    memcpy(r->out + len, rest, n + 1);
    return 0;
}

static int phi__path_found(phi__resolve *r, HANDLE file) {
    BY_HANDLE_FILE_INFORMATION info;
    int error = phi__final_path(file, r->out);
    if (error != 0 || r->rest[r->at] == '\0') return error;
    if (!GetFileInformationByHandle(file, &info)) return (int)GetLastError();
    if ((info.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) == 0) return PHI__PATH_NO_DIRECTORY;
    return phi__path_append(r);
}

/* Removes the last part of those that are tried, after the system did not find them. Returns
   PHI__PATH_DANGLING if that part is a link. */
static int phi__path_shorten(phi__resolve *r) {
    HANDLE link;
    size_t root = phi__windows_root(r->rest);
    if (r->at <= root) { /* no such drive or share */
        r->links = PHI__RESOLVE_AS_TEXT;
        return 0;
    }
    if (phi__path_try(r, false, &link) == 0) {
        (void)CloseHandle(link);
        return PHI__PATH_DANGLING;
    }
    while (r->at > root && r->rest[r->at - 1] != '/') r->at--;
    if (r->at > root) r->at--;
    return 0;
}

PHI__FN phi_status phi__path_resolve_advance(phi__resolve *r, size_t *units, phi__words *words) {
    for (;;) {
        HANDLE file;
        if (r->links == PHI__RESOLVE_AS_TEXT) {
            memcpy(r->out, r->rest, sizeof r->out);
            return PHI_OK;
        }
        if (*units == 0) return PHI_BUSY;
        *units -= phi__min(*units, 1 + r->at / 64);
        int error = phi__path_try(r, true, &file);
        if (error == 0) {
            error = phi__path_found(r, file);
            (void)CloseHandle(file);
            return phi__files_said(error, words);
        }
        if (error != ERROR_FILE_NOT_FOUND && error != ERROR_PATH_NOT_FOUND &&
            error != ERROR_INVALID_DRIVE)
            return phi__files_refused(error, words);
        error = phi__path_shorten(r);
        if (error != 0) return phi__files_refused(error, words);
    }
}

/* Case is ignored, as it is by the disks of Windows: unit by unit, without regard to a language. */
PHI__FN bool phi__path_inside(const char *directory, const char *path) {
    wchar_t wide[2][PHI__PATH_BYTES];
    if (!phi__wide(phi_str_of(directory), wide[0], PHI__PATH_BYTES) ||
        !phi__wide(phi_str_of(path), wide[1], PHI__PATH_BYTES))
        return false;
    size_t n = wcslen(wide[0]);
    if (n == 0 || wcslen(wide[1]) < n ||
        CompareStringOrdinal(wide[0], (int)n, wide[1], (int)n, TRUE) != CSTR_EQUAL)
        return false;
    return wide[0][n - 1] == L'/' || wide[1][n] == L'\0' || wide[1][n] == L'/';
}

/* ---- opening a checked path ----

   The path is resolved, so no part of it is a link. The directory above its last part is opened by
   its path, and its final path is compared: if they differ, a part has become a link since the
   check. The last part is opened in that directory by its name, and is refused if it is a link. So
   a directory that is swapped for a link leads nowhere else, and nothing is made in its target. */

PHI__FN int phi__exact_directory(const char *path, unsigned long access, phi__fd *out) {
    wchar_t wide[PHI__WIDE_PATH];
    char final[PHI__PATH_BYTES];
    bool plain;
    *out = -1;
    int error = phi__wide_resolved(path, wide);
    if (error != 0) return error;
    HANDLE file = CreateFileW(wide, (DWORD)access | FILE_READ_ATTRIBUTES | SYNCHRONIZE,
                              PHI__SYSTEM_SHARE, NULL, OPEN_EXISTING,
                              FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT, NULL);
    if (file == INVALID_HANDLE_VALUE) return (int)GetLastError();
    error = phi__nt_check(file, true, &plain);
    if (error == 0) error = phi__final_path(file, final);
    if (error == 0 && !phi__same_path(final, strlen(final), path, strlen(path)))
        error = PHI__EXACT_LINK;
    if (error == 0)
        *out = (phi__fd)file;
    else
        (void)CloseHandle(file);
    return error;
}

/* Opens the directory above the last part of a resolved path. *name is that part, or "". */
static int phi__exact_parent(const char *path, phi__fd *out, const char **name) {
    char parent[PHI__PATH_BYTES];
    size_t n = strlen(path), root = phi__windows_root(path);
    *out = -1;
    if (n < 3 || n >= sizeof parent || n < root) return PHI__PATH_RELATIVE;
    *name = path + n;
    while (*name > path + root && (*name)[-1] != '/') (*name)--;
    n = (size_t)(*name - path);
    if (n > root) n--; /* the slash */
    memcpy(parent, path, n);
    parent[n] = '\0';
    return phi__exact_directory(parent, 0, out);
}

static bool phi__exact_same(HANDLE a, HANDLE b) {
    BY_HANDLE_FILE_INFORMATION one, other;
    return GetFileInformationByHandle(a, &one) && GetFileInformationByHandle(b, &other) &&
           one.dwVolumeSerialNumber == other.dwVolumeSerialNumber &&
           one.nFileIndexHigh == other.nFileIndexHigh && one.nFileIndexLow == other.nFileIndexLow;
}

/* Opens a name in a directory, and refuses a link. A file that is stored elsewhere, though it is no
   link, is opened again so that the system brings its content; it must be the same file then. */
static int phi__exact_part(phi__fd dir, phi_str name, const phi__nt_how *given, HANDLE *out) {
    phi__nt_how how = *given;
    HANDLE again;
    bool plain;
    int error = phi__nt_open(phi__handle(dir), name, &how, out);
    if (error != 0) return error;
    if (phi__nt_check(*out, false, &plain) == PHI__EXACT_LINK) error = PHI__EXACT_LINK;
    if (error == 0 && !plain) {
        how.follow = true;
        how.disposition = FILE_OPEN;
        error = phi__nt_open(phi__handle(dir), name, &how, &again);
        if (error == 0 && !phi__exact_same(*out, again)) {
            (void)CloseHandle(again);
            error = PHI__EXACT_LINK;
        }
        if (error == 0) {
            (void)CloseHandle(*out);
            *out = again;
        }
    }
    if (error == 0) return 0;
    (void)CloseHandle(*out);
    *out = INVALID_HANDLE_VALUE;
    return error;
}

/* ---- reading and replacing files in slices ---- */

enum { PHI__FILE_TEMP_TRIES = 100, PHI__FILE_TEMP_BYTES = 40 /* ".phi-", two numbers, ".tmp" */ };

/* Tells the kind of an open file and its size. */
static int phi__files_kind(HANDLE file, phi__file_info *out) {
    BY_HANDLE_FILE_INFORMATION info;
    bool plain;
    if (!GetFileInformationByHandle(file, &info)) return (int)GetLastError();
    switch (phi__nt_check(file, false, &plain)) {
    case 0: out->kind = PHI__FILE_REGULAR; break;
    case PHI__PATH_IS_DIRECTORY: out->kind = PHI__FILE_DIRECTORY; break;
    case PHI__EXACT_LINK: out->kind = PHI__FILE_LINK; break;
    default: out->kind = PHI__FILE_OTHER; break;
    }
    if (out->kind == PHI__FILE_REGULAR)
        out->bytes = ((uint64_t)info.nFileSizeHigh << 32) | info.nFileSizeLow;
    return 0;
}

/* Opens a path of the host, following links. */
static int phi__files_open_host(const char *path, DWORD access, HANDLE *out) {
    wchar_t wide[PHI__WIDE_PATH];
    *out = INVALID_HANDLE_VALUE;
    int error = phi__wide_path(path, wide);
    if (error != 0) return error;
    *out = CreateFileW(wide, access | FILE_READ_ATTRIBUTES | SYNCHRONIZE, PHI__SYSTEM_SHARE, NULL,
                       OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, NULL);
    return *out != INVALID_HANDLE_VALUE ? 0 : (int)GetLastError();
}

/* Opens a resolved path. */
static int phi__files_open_exact(const char *path, DWORD access, HANDLE *out) {
    phi__nt_how how = PHI_ZERO;
    char final[PHI__PATH_BYTES];
    const char *name;
    phi__fd dir;
    *out = INVALID_HANDLE_VALUE;
    int error = phi__exact_parent(path, &dir, &name);
    if (error != 0) return error;
    how.access = access | FILE_READ_ATTRIBUTES;
    how.disposition = FILE_OPEN;
    error = phi__exact_part(dir, phi_str_of(name), &how, out);
    (void)CloseHandle(phi__handle(dir));
    if (error != 0) return error;
    /* the last part may be a short name by now */
    error = phi__final_path(*out, final);
    if (error == 0 && !phi__same_path(final, strlen(final), path, strlen(path)))
        error = PHI__EXACT_LINK;
    if (error == 0) return 0;
    (void)CloseHandle(*out);
    *out = INVALID_HANDLE_VALUE;
    return error;
}

PHI__FN phi_status phi__files_stat(const char *path, phi__links links, phi__file_info *out,
                                   phi__words *words) {
    HANDLE file;
    out->kind = PHI__FILE_NONE;
    out->bytes = 0;
    int error = links == PHI__LINKS_REFUSE ? phi__files_open_exact(path, 0, &file)
                                           : phi__files_open_host(path, 0, &file);
    if (error != 0) return phi__files_refused(error, words);
    error = phi__files_kind(file, out);
    (void)CloseHandle(file);
    return phi__files_said(error, words);
}

/* Makes a phi__file of an open file, which it takes. `error`: opening failed. */
static phi_status phi__files_begin_read(phi_memory *memory, HANDLE handle, int error,
                                        phi__file **out, phi__words *words) {
    phi__file *file = error == 0 ? phi__files_new(memory) : NULL;
    bool plain;
    *out = NULL;
    if (error == 0 && file == NULL) error = PHI__FILES_NO_MEMORY;
    if (error == 0) error = phi__nt_check(handle, false, &plain);
    if (error == 0) {
        file->fd = (phi__fd)handle;
        *out = file;
        return PHI_OK;
    }
    if (handle != INVALID_HANDLE_VALUE) (void)CloseHandle(handle);
    phi__files_close(file);
    return phi__files_refused(error, words);
}

PHI__FN phi_status phi__files_open_read(phi_memory *memory, const char *path, phi__links links,
                                        phi__file **out, phi__words *words) {
    HANDLE file;
    int error = links == PHI__LINKS_REFUSE ? phi__files_open_exact(path, FILE_READ_DATA, &file)
                                           : phi__files_open_host(path, FILE_READ_DATA, &file);
    return phi__files_begin_read(memory, file, error, out, words);
}

/* `name` may have several parts, none of which may be a link. */
PHI__FN phi_status phi__files_open_in(phi_memory *memory, phi__fd dir, const char *name,
                                      phi__file **out, phi__words *words) {
    phi__nt_how how = PHI_ZERO;
    HANDLE file = INVALID_HANDLE_VALUE, above = INVALID_HANDLE_VALUE;
    int error = dir == -1 ? ERROR_INVALID_HANDLE : 0;
    how.disposition = FILE_OPEN;
    for (const char *at = name; error == 0 && at != NULL;) {
        const char *slash = strchr(at, '/');
        size_t n = slash != NULL ? (size_t)(slash - at) : strlen(at);
        how.access = FILE_READ_ATTRIBUTES | (slash != NULL ? 0 : FILE_READ_DATA);
        error = phi__exact_part(above != INVALID_HANDLE_VALUE ? (phi__fd)above : dir,
                                phi__str(at, n), &how, &file);
        if (above != INVALID_HANDLE_VALUE) (void)CloseHandle(above);
        above = slash != NULL ? file : INVALID_HANDLE_VALUE;
        at = slash != NULL ? slash + 1 : NULL;
    }
    return phi__files_begin_read(memory, file, error, out, words);
}

PHI__FN phi_status phi__files_read(phi__file *file, char *out, size_t n, size_t *got,
                                   phi__words *words) {
    DWORD done = 0;
    *got = 0;
    if (!ReadFile(phi__handle(file->fd), out, (DWORD)phi__min(n, 1u << 30), &done, NULL)) {
        int error = (int)GetLastError();
        return error == ERROR_HANDLE_EOF ? PHI_OK : phi__files_refused(error, words);
    }
    *got = done;
    return PHI_OK;
}

/* Makes a new file in file->dir, with a short name, which always fits. */
static int phi__files_open_temp(phi__file *file, phi__nt_how *how) {
    how->access = FILE_WRITE_DATA | FILE_READ_ATTRIBUTES | DELETE;
    how->disposition = FILE_CREATE;
    for (unsigned i = 0; i < PHI__FILE_TEMP_TRIES; i++) {
        HANDLE made;
        (void)snprintf(file->temp, PHI__FILE_TEMP_BYTES, ".phi-%08x%08x.tmp",
                       (unsigned)GetCurrentProcessId(), (unsigned)phi__clock_us() + i);
        int error = phi__nt_open(phi__handle(file->dir), phi_str_of(file->temp), how, &made);
        if (error == 0) {
            file->fd = (phi__fd)made;
            file->has_temp = true;
            return 0;
        }
        if (error != ERROR_FILE_EXISTS && error != ERROR_ALREADY_EXISTS) return error;
    }
    return ERROR_FILE_EXISTS;
}

/* Reads who may do what with the old file. *out stays NULL on disks without such rights. */
static int phi__files_rights(phi_memory *memory, HANDLE old, void **out, DWORD *bytes) {
    *out = NULL;
    *bytes = 0;
    for (int tries = 0; tries < 4; tries++) {
        DWORD need = 0;
        if (GetKernelObjectSecurity(old, DACL_SECURITY_INFORMATION, *out, *bytes, &need)) return 0;
        int error = (int)GetLastError();
        phi__free(memory, *out, *bytes);
        *out = NULL;
        *bytes = 0;
        if (error == ERROR_NOT_SUPPORTED || error == ERROR_INVALID_FUNCTION) return 0;
        if (error != ERROR_INSUFFICIENT_BUFFER) return error;
        *out = phi__alloc(memory, need);
        if (*out == NULL) return PHI__FILES_NO_MEMORY;
        *bytes = need;
    }
    phi__free(memory, *out, *bytes);
    *out = NULL;
    return ERROR_ACCESS_DENIED;
}

/* The new file gets the old one's own rights and attributes when it is made, and inherits from the
   directory what the old one inherits, so at no time it can be read by more users. The owner is the
   user of this process; streams other than the content are not copied. */
static int phi__files_begin_replace(phi__file *file) {
    phi__nt_how how = PHI_ZERO;
    FILE_BASIC_INFO info;
    void *rights = NULL;
    DWORD bytes = 0;
    HANDLE old;
    bool plain;
    how.access = FILE_WRITE_DATA | FILE_READ_ATTRIBUTES | READ_CONTROL;
    how.disposition = FILE_OPEN;
    int error = phi__exact_part(file->dir, phi_str_of(file->path), &how, &old);
    how.attributes = FILE_ATTRIBUTE_NORMAL;
    if (error == 0) {
        if (GetFileInformationByHandleEx(old, FileBasicInfo, &info, sizeof info))
            how.attributes =
                info.FileAttributes & (FILE_ATTRIBUTE_HIDDEN | FILE_ATTRIBUTE_SYSTEM |
                                       FILE_ATTRIBUTE_ARCHIVE | FILE_ATTRIBUTE_NOT_CONTENT_INDEXED);
        error = phi__nt_check(old, false, &plain);
        if (error == 0) error = phi__files_rights(file->memory, old, &rights, &bytes);
        (void)CloseHandle(old);
        how.security = rights;
    } else if (error == ERROR_FILE_NOT_FOUND)
        error = 0;
    if (error == 0) error = phi__files_open_temp(file, &how);
    phi__free(file->memory, rights, bytes);
    return error;
}

PHI__FN phi_status phi__files_open_replace(phi_memory *memory, const char *path, phi__file **out,
                                           phi__words *words) {
    phi__file *file = phi__files_new(memory);
    const char *name = "";
    *out = NULL;
    if (file == NULL) return phi__files_refused(PHI__FILES_NO_MEMORY, words);
    int error = phi__exact_parent(path, &file->dir, &name);
    if (error == 0 && name[0] == '\0') error = PHI__PATH_IS_DIRECTORY;
    size_t n = strlen(name) + 1;
    if (error == 0) {
        file->bytes = n + PHI__FILE_TEMP_BYTES;
        file->path = (char *)phi__alloc(memory, file->bytes);
        if (file->path == NULL) error = PHI__FILES_NO_MEMORY;
    }
    if (error == 0) {
        memcpy(file->path, name, n);
        file->temp = file->path + n;
        error = phi__files_begin_replace(file);
    }
    if (error == 0)
        *out = file;
    else
        phi__files_close(file);
    return phi__files_said(error, words);
}

PHI__FN void phi__files_private(phi__file *file) {
    phi__private mine;
    if (!file->has_temp || phi__private_init(&mine) != 0) return;
    HANDLE again = ReOpenFile(phi__handle(file->fd), WRITE_DAC, PHI__SYSTEM_SHARE,
                              FILE_FLAG_OPEN_REPARSE_POINT);
    if (again == INVALID_HANDLE_VALUE) return;
    (void)SetKernelObjectSecurity(
        again, DACL_SECURITY_INFORMATION | PROTECTED_DACL_SECURITY_INFORMATION, &mine.descriptor);
    (void)CloseHandle(again);
}

/* ---- making the directories above a file ---- */

enum { PHI__EXACT_UNITS = 2 /* units of phi__files_make_way for a part */ };

/* Replaces the way's directory by its subdirectory `name`, which is made if it is missing. */
static int phi__exact_way_enter(phi__way *way, phi_str name) {
    phi__nt_how how = PHI_ZERO;
    char final[PHI__PATH_BYTES];
    HANDLE next;
    how.access = FILE_READ_ATTRIBUTES;
    how.disposition = FILE_OPEN_IF;
    how.options = FILE_DIRECTORY_FILE;
    int error = phi__exact_part(way->dir, name, &how, &next);
    if (error != 0) return error;
    error = phi__final_path(next, final);
    if (error == 0 && !phi__same_path(final, strlen(final), way->path, way->at + name.len))
        error = PHI__EXACT_LINK;
    if (error != 0) {
        (void)CloseHandle(next);
        return error;
    }
    (void)CloseHandle(phi__handle(way->dir));
    way->dir = (phi__fd)next;
    return 0;
}

static int phi__way_root(phi__way *way) {
    char root[PHI__PATH_BYTES];
    size_t n = phi__windows_root(way->path);
    if (strlen(way->path) < n || n >= sizeof root) return PHI__PATH_RELATIVE;
    memcpy(root, way->path, n);
    root[n] = '\0';
    int error = phi__exact_directory(root, 0, &way->dir);
    if (error != 0) return error;
    way->open = true;
    way->at = way->path[n] == '/' ? n + 1 : n;
    return 0;
}

PHI__FN phi_status phi__files_make_way(phi__way *way, size_t *units, phi__words *words) {
    int error = way->open ? 0 : phi__way_root(way);
    while (error == 0) {
        const char *part = way->path + way->at, *slash = strchr(part, '/');
        if (slash == NULL) return PHI_OK;
        if (*units == 0) return PHI_BUSY;
        *units -= phi__min(*units, PHI__EXACT_UNITS);
        size_t n = (size_t)(slash - part);
        error = phi__exact_way_enter(way, phi__str(part, n));
        if (error == 0) way->at += n + 1;
    }
    return phi__files_refused(error, words);
}

PHI__FN void phi__files_leave(phi__way *way) {
    if (way->open) (void)CloseHandle(phi__handle(way->dir));
    way->open = false;
}

#endif
