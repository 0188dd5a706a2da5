/* phi_folder_posix.h - directories on POSIX. phi_folder_windows.h has the same functions. */
#ifndef PHI_FOLDER_POSIX_H
#define PHI_FOLDER_POSIX_H

#include "phi_places.h"

#include <dirent.h>

/* Zero to begin with. */
typedef struct folder {
    DIR *at;
    text path;
} folder;

static inline void folder_close(folder *f) {
    if (f->at != NULL) (void)closedir(f->at);
    f->at = NULL;
}

/* path: "" is the working directory. */
static inline bool folder_open(folder *f, const char *path) {
    folder_close(f);
    f->path.len = 0;
    text_say(&f->path, path[0] != '\0' ? path : ".");
    f->at = opendir(f->path.at);
    return f->at != NULL;
}

/* The next name, and if it is a directory; with `links` also one to which a link leads. False: there is none. */
static inline bool folder_next(folder *f, bool links, text *name, bool *is_directory) {
    const struct dirent *entry = f->at != NULL ? readdir(f->at) : NULL;
    text path = {NULL, 0, 0};
    struct stat info;
    if (entry == NULL) return false;
    name->len = 0;
    text_say(name, entry->d_name);
    text_print(&path, "%s/%s", f->path.at, entry->d_name);
    *is_directory = path.at != NULL &&
                    (links ? stat(path.at, &info) : lstat(path.at, &info)) == 0 &&
                    S_ISDIR(info.st_mode);
    free(path.at);
    return true;
}

/* Bytes of a file; 0: there is none. */
static inline uint64_t folder_size(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 ? (uint64_t)info.st_size : 0;
}

/* Gives a file the name of another one, which is gone then. */
static inline bool folder_rename(const char *from, const char *to) { return rename(from, to) == 0; }

#endif
