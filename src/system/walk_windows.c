/* walk_windows.c - walk_posix.c for Windows: opens and reads single directories, for walk.c. */
#include "system/system_in.h"
#include "io/io_in.h"
#include "io/os_in.h"
#include "system/files_in.h"

#if defined(PHI__OS_WINDOWS) && !defined(PHI_NO_FILES)

#include "io/windows_in.h"

/* after windows.h */
#include <winternl.h>

enum { PHI__DIR_BYTES = 16384, PHI__DIR_NAME = 3 * 255 + 1 };

struct phi__dir {
    phi_memory *memory;
    phi__fd fd;
    size_t at; /* offset of the next entry in `entries`; SIZE_MAX: read more */
    char name[PHI__DIR_NAME];
    union {
        FILE_ID_BOTH_DIR_INFO align;
        char bytes[PHI__DIR_BYTES];
    } entries;
};

PHI__FN int phi__dir_open_path(const char *path, phi__links links, phi__fd *out) {
    wchar_t wide[PHI__WIDE_PATH];
    bool plain;
    *out = -1;
    if (links == PHI__LINKS_REFUSE) return phi__exact_directory(path, FILE_LIST_DIRECTORY, out);
    int error = phi__wide_path(path, wide);
    if (error != 0) return error;
    HANDLE dir = CreateFileW(wide, FILE_LIST_DIRECTORY | FILE_READ_ATTRIBUTES | SYNCHRONIZE,
                             FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
                             OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, NULL);
    if (dir == INVALID_HANDLE_VALUE) return (int)GetLastError();
    error = phi__nt_check(dir, true, &plain);
    if (error == 0)
        *out = (phi__fd)dir;
    else
        (void)CloseHandle(dir);
    return error;
}

PHI__FN int phi__dir_open(phi__fd dir, phi_str name, phi__fd *out) {
    phi__nt_how how = PHI_ZERO;
    HANDLE made;
    bool plain;
    *out = -1;
    how.access = FILE_LIST_DIRECTORY | FILE_READ_ATTRIBUTES;
    how.disposition = FILE_OPEN;
    if (phi__str_is(name, ".")) name.len = 0;
    int error = phi__nt_open(phi__handle(dir), name, &how, &made);
    if (error != 0) return error;
    error = phi__nt_check(made, true, &plain);
    if (error == 0)
        *out = (phi__fd)made;
    else
        (void)CloseHandle(made);
    return error;
}

PHI__FN phi__dir *phi__dir_new(phi_memory *memory, phi__fd fd) {
    phi__dir *dir = (phi__dir *)phi__alloc(memory, sizeof *dir);
    if (dir == NULL) return NULL;
    dir->memory = memory;
    dir->fd = fd;
    dir->at = SIZE_MAX;
    return dir;
}

PHI__FN phi__fd phi__dir_fd(const phi__dir *dir) { return dir->fd; }

static phi__file_kind phi__dir_kind(const FILE_ID_BOTH_DIR_INFO *entry) {
    enum { SURROGATE = 0x20000000 }; /* bit of the tags that lead to another name */
    if ((entry->FileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0) {
        /* EaSize holds the tag; Wine leaves it 0 for a link */
        if (entry->EaSize == 0 || (entry->EaSize & SURROGATE) != 0) return PHI__FILE_LINK;
    }
    if ((entry->FileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0) return PHI__FILE_DIRECTORY;
    if ((entry->FileAttributes & FILE_ATTRIBUTE_DEVICE) != 0) return PHI__FILE_OTHER;
    return PHI__FILE_REGULAR;
}

/* Entries whose names have no form in UTF-8 could not be opened by it, and are left out. */
PHI__FN const char *phi__dir_next(phi__dir *dir, phi__file_kind *kind) {
    for (;;) {
        if (dir->at == SIZE_MAX) {
            if (!GetFileInformationByHandleEx(phi__handle(dir->fd), FileIdBothDirectoryInfo,
                                              &dir->entries, sizeof dir->entries))
                return NULL;
            dir->at = 0;
        }
        const FILE_ID_BOTH_DIR_INFO *entry =
            (const FILE_ID_BOTH_DIR_INFO *)(const void *)(dir->entries.bytes + dir->at);
        dir->at = entry->NextEntryOffset != 0 ? dir->at + entry->NextEntryOffset : SIZE_MAX;
        size_t n = phi__narrow(entry->FileName, entry->FileNameLength / sizeof(wchar_t), dir->name,
                               sizeof dir->name);
        if (n == SIZE_MAX || n == 0) continue;
        if (strcmp(dir->name, ".") == 0 || strcmp(dir->name, "..") == 0) continue;
        *kind = phi__dir_kind(entry);
        return dir->name;
    }
}

PHI__FN void phi__dir_free(phi__dir *dir) {
    if (dir == NULL) return;
    (void)CloseHandle(phi__handle(dir->fd));
    phi__free(dir->memory, dir, sizeof *dir);
}

PHI__FN void phi__walk_close(phi__fd dir) { (void)CloseHandle(phi__handle(dir)); }

PHI__FN bool phi__walk_has(phi__fd dir, const char *name, bool *directory) {
    phi__nt_how how = PHI_ZERO;
    HANDLE found;
    bool plain;
    how.access = FILE_READ_ATTRIBUTES;
    how.disposition = FILE_OPEN;
    how.follow = true;
    if (phi__nt_open(phi__handle(dir), phi_str_of(name), &how, &found) != 0) return false;
    *directory = phi__nt_check(found, true, &plain) == 0;
    (void)CloseHandle(found);
    return true;
}

#endif
