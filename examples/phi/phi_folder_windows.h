/* phi_folder_windows.h - directories on Windows. phi_folder_posix.h has the same functions. */
#ifndef PHI_FOLDER_WINDOWS_H
#define PHI_FOLDER_WINDOWS_H

#include "phi_places.h"

/* Zero to begin with. */
typedef struct folder {
    HANDLE at; /* NULL: none */
    WIN32_FIND_DATAW found;
    bool more; /* `found` has a name */
} folder;

static inline void folder_close(folder *f) {
    if (f->at != NULL) (void)FindClose(f->at);
    f->at = NULL;
    f->more = false;
}

/* path: "" is the working directory. */
static inline bool folder_open(folder *f, const char *path) {
    WCHAR wide[PLACES_PATH];
    text all = {NULL, 0, 0};
    bool fits;
    folder_close(f);
    text_print(&all, "%s/*", path[0] != '\0' ? path : ".");
    fits = all.at != NULL && places_wide(all.at, wide, PLACES_PATH);
    free(all.at);
    if (!fits) return false;
    f->at = FindFirstFileW(wide, &f->found);
    if (f->at == INVALID_HANDLE_VALUE) f->at = NULL;
    return f->more = f->at != NULL;
}

/* The next name, and if it is a directory; with `links` also one to which a link leads. False: there is none. */
static inline bool folder_next(folder *f, bool links, text *name, bool *is_directory) {
    DWORD kind = f->found.dwFileAttributes;
    char narrow[PLACES_PATH];
    if (!f->more) return false;
    name->len = 0;
    if (places_narrow(f->found.cFileName, narrow, sizeof narrow)) text_say(name, narrow);
    *is_directory = (kind & FILE_ATTRIBUTE_DIRECTORY) != 0 &&
                    (links || (kind & FILE_ATTRIBUTE_REPARSE_POINT) == 0);
    f->more = FindNextFileW(f->at, &f->found) != 0;
    return true;
}

/* Bytes of a file; 0: there is none. */
static inline uint64_t folder_size(const char *path) {
    WCHAR wide[PLACES_PATH];
    WIN32_FILE_ATTRIBUTE_DATA info;
    if (!places_wide(path, wide, PLACES_PATH) ||
        !GetFileAttributesExW(wide, GetFileExInfoStandard, &info))
        return 0;
    return (uint64_t)info.nFileSizeHigh << 32 | info.nFileSizeLow;
}

/* Gives a file the name of another one, which is gone then. */
static inline bool folder_rename(const char *from, const char *to) {
    WCHAR wide[PLACES_PATH], other[PLACES_PATH];
    return places_wide(from, wide, PLACES_PATH) && places_wide(to, other, PLACES_PATH) &&
           MoveFileExW(wide, other, MOVEFILE_REPLACE_EXISTING);
}

#endif
