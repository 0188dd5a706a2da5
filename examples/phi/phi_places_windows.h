/* phi_places_windows.h - the files of the command on Windows. phi_places_posix.h has the same functions. */
#ifndef PHI_PLACES_WINDOWS_H
#define PHI_PLACES_WINDOWS_H

#include "phi_text.h"
#include "../typed.h" /* windows.h */

#include <shellapi.h>
#include <wchar.h>

enum { PLACES_PATH = 4096 };

/* ---- UTF-16 ---- */

/* False: it does not fit, or is no UTF-8. */
static inline bool places_wide(const char *path, WCHAR *out, int size) {
    return MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, out, size) > 0;
}

static inline bool places_narrow(const WCHAR *wide, char *out, size_t size) {
    return WideCharToMultiByte(CP_UTF8, 0, wide, -1, out, (int)size, NULL, NULL) > 0;
}

/* The value of a variable; NULL: none, or it does not fit. */
static inline const char *places_variable(const WCHAR *name, char *out, size_t size) {
    const WCHAR *wide = _wgetenv(name);
    return wide != NULL && wide[0] != 0 && places_narrow(wide, out, size) ? out : NULL;
}

/* ---- public ---- */

/* The words of the command line, which the C library has in the code page of the system. They stay until the end. */
static inline char **places_words(int *count, char **words) {
    LPWSTR *wide = CommandLineToArgvW(GetCommandLineW(), count);
    char **out = wide != NULL ? (char **)calloc((size_t)*count + 1, sizeof *out) : NULL;
    int i, n;
    for (i = 0; out != NULL && i < *count; i++) {
        n = WideCharToMultiByte(CP_UTF8, 0, wide[i], -1, NULL, 0, NULL, NULL);
        out[i] = (char *)malloc((size_t)n + 1);
        if (out[i] == NULL) return words;
        (void)WideCharToMultiByte(CP_UTF8, 0, wide[i], -1, out[i], n, NULL, NULL);
    }
    if (wide != NULL) (void)LocalFree(wide);
    return out != NULL ? out : words;
}

/* A stream that was closed has no handle, and no file takes its place. */
static inline void places_streams(void) {}

/* The working directory. */
static inline bool places_here(char *out, size_t size) {
    WCHAR wide[PLACES_PATH];
    return _wgetcwd(wide, PLACES_PATH) != NULL && places_narrow(wide, out, size);
}

/* NULL: unknown. */
static inline const char *places_home(void) {
    static char home[PLACES_PATH];
    return places_variable(L"USERPROFILE", home, sizeof home);
}

static inline FILE *places_file(const char *path, const WCHAR *mode) {
    WCHAR wide[PLACES_PATH];
    if (places_wide(path, wide, PLACES_PATH)) return _wfopen(wide, mode);
    errno = ENOENT;
    return NULL;
}

/* To be read. NULL: errno says why. */
static inline FILE *places_open(const char *path) { return places_file(path, L"rbN"); }

/* New or emptied. Its directory says who may read it. */
static inline FILE *places_own(const char *path) { return places_file(path, L"wbN"); }

/* A whole file, or its first bytes, more than `most`; with `own`: no link. False: there is none. */
static inline bool places_read(const char *path, bool own, size_t most, text *out) {
    WCHAR wide[PLACES_PATH];
    BY_HANDLE_FILE_INFORMATION info;
    char part[4096];
    DWORD got = 0;
    HANDLE file = INVALID_HANDLE_VALUE;
    bool good;
    if (places_wide(path, wide, PLACES_PATH))
        file =
            CreateFileW(wide, GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                        NULL, OPEN_EXISTING, own ? FILE_FLAG_OPEN_REPARSE_POINT : 0, NULL);
    good = file != INVALID_HANDLE_VALUE && GetFileType(file) == FILE_TYPE_DISK &&
           GetFileInformationByHandle(file, &info) &&
           (info.dwFileAttributes & (own ? FILE_ATTRIBUTE_REPARSE_POINT : 0)) == 0;
    while (good && out->len <= most) {
        good = ReadFile(file, part, sizeof part, &got, NULL) != 0;
        if (!good || got == 0) break;
        text_add(out, part, got);
    }
    if (file != INVALID_HANDLE_VALUE) (void)CloseHandle(file);
    return good && got == 0;
}

/* Writes a file, whole or not at all. */
static inline bool places_write(const char *path, const text *all) {
    WCHAR wide[PLACES_PATH], other[PLACES_PATH];
    DWORD wrote = 0;
    HANDLE file;
    bool done;
    text temp = {NULL, 0, 0};
    text_print(&temp, "%s.%lu", path, (unsigned long)GetCurrentProcessId());
    done = places_wide(path, wide, PLACES_PATH) && temp.at != NULL &&
           places_wide(temp.at, other, PLACES_PATH);
    free(temp.at);
    if (!done) return false;
    file = CreateFileW(other, GENERIC_WRITE, 0, NULL, CREATE_ALWAYS, FILE_ATTRIBUTE_NORMAL, NULL);
    if (file == INVALID_HANDLE_VALUE) return false;
    done = WriteFile(file, all->at, (DWORD)all->len, &wrote, NULL) && wrote == all->len &&
           FlushFileBuffers(file);
    (void)CloseHandle(file);
    done = done && MoveFileExW(other, wide, MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH);
    if (!done) (void)DeleteFileW(other);
    return done;
}

/* Where a file is. `out` has PLACES_PATH bytes. */
static inline bool places_whole(const char *path, char *out) {
    WCHAR wide[PLACES_PATH], whole[PLACES_PATH];
    DWORD n =
        places_wide(path, wide, PLACES_PATH) ? GetFullPathNameW(wide, PLACES_PATH, whole, NULL) : 0;
    return n > 0 && n < PLACES_PATH && places_narrow(whole, out, PLACES_PATH);
}

/* The command's directory in the user's configuration directory, which nobody else can write to; it is made. */
static inline bool places_settings(text *out) {
    char base[PLACES_PATH];
    WCHAR wide[PLACES_PATH];
    if (places_variable(L"APPDATA", base, sizeof base) == NULL) return false;
    text_print(out, "%s\\phi", base);
    if (!places_wide(out->at, wide, PLACES_PATH)) return false;
    (void)CreateDirectoryW(wide, NULL);
    return true;
}

/* True if the path is a file and no directory. With `plain`: no link either. */
static inline bool places_is_file(const char *path, bool plain) {
    WCHAR wide[PLACES_PATH];
    DWORD found =
        places_wide(path, wide, PLACES_PATH) ? GetFileAttributesW(wide) : INVALID_FILE_ATTRIBUTES;
    DWORD never = FILE_ATTRIBUTE_DIRECTORY | (plain ? FILE_ATTRIBUTE_REPARSE_POINT : 0);
    return found != INVALID_FILE_ATTRIBUTES && (found & never) == 0;
}

/* True if a path begins with a drive or a server. */
static inline bool places_is_absolute(const char *path) {
    return (path[0] != '\0' && path[1] == ':' && (path[2] == '\\' || path[2] == '/')) ||
           strncmp(path, "\\\\", 2) == 0;
}

/* True if it is the absolute path of a directory. */
static inline bool places_is_directory(const char *path) {
    WCHAR wide[PLACES_PATH];
    DWORD found = places_is_absolute(path) && places_wide(path, wide, PLACES_PATH)
                      ? GetFileAttributesW(wide)
                      : INVALID_FILE_ATTRIBUTES;
    return found != INVALID_FILE_ATTRIBUTES && (found & FILE_ATTRIBUTE_DIRECTORY) != 0;
}

/* The last part of a path. */
static inline const char *places_name(const char *path) {
    const char *at = path + strlen(path);
    while (at > path && strchr("/\\:", at[-1]) == NULL) at--;
    return at;
}

static inline void places_directory(const char *path) {
    WCHAR wide[PLACES_PATH];
    if (places_wide(path, wide, PLACES_PATH)) (void)CreateDirectoryW(wide, NULL);
}

/* The directory of the conversations that were begun in a directory, by its name and its hash; it is made. */
static inline bool places_state(text *out, const char *name, const char *hash) {
    char base[PLACES_PATH];
    if (places_variable(L"LOCALAPPDATA", base, sizeof base) == NULL) return false;
    text_print(out, "%s/phi", base);
    places_directory(out->at);
    text_say(out, "/sessions");
    places_directory(out->at);
    text_print(out, "/%s-%.16s", name, hash);
    places_directory(out->at);
    return places_is_directory(out->at);
}

/* Adds to the end of a file. */
static inline bool places_append(const char *path, const text *words) {
    FILE *file = places_file(path, L"abN");
    bool done = file != NULL && fwrite(words->at, 1, words->len, file) == words->len;
    return file != NULL && fclose(file) == 0 && done;
}

static inline void places_system(text *out) { text_say(out, "Windows"); }

static inline unsigned long places_process(void) { return GetCurrentProcessId(); }

#endif
