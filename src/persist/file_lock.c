/* file_lock.c - the messages, paths and locks of the file store.

   A lock is a flock on a file beside the data, never on the data: a document is replaced by a
   rename, and a lock on the old file would say nothing about the new one. A document's lock file
   stays: the Rust
   original, which shares it, opens the file and then waits for the lock, and would continue with a
   file that has no name any more beside a writer that made a new one. A thread's, which only phi
   uses, is removed while it is still locked, so that nothing is left lying about; a writer that
   gets a lock therefore checks that the name still means the file it locked. */
#include "persist/file_store_in.h"

#ifndef PHI_NO_FILES

#include <stdarg.h>
#include <stdio.h>

enum {
    PHI__FILE_STORE_LOCK_TRIES = 64
}; /* each lost to another who locked and unlocked in between */

PHI__FN phi__file_store_to phi__file_store_to_of(char *words, size_t size) {
    phi__file_store_to to;
    to.words = size > 0 ? words : NULL;
    to.size = size;
    if (to.words != NULL) to.words[0] = '\0';
    return to;
}

PHI__FN void phi__file_store_say(phi__file_store_to to, const char *format, ...) {
    va_list args;
    if (to.words == NULL) return;
    va_start(args, format);
    (void)vsnprintf(to.words, to.size, format, args);
    va_end(args);
}

PHI__FN phi_status phi__file_store_refuse(phi__file_store_to to, phi_status status,
                                          const char *what, const char *id, const char *suffix,
                                          const phi__words *words) {
    phi__file_store_say(to, "Cannot %s %s%s: %s", what, id, suffix, words->text);
    return status;
}

PHI__FN phi_status phi__file_store_no_memory(phi__file_store_to to) {
    phi__file_store_say(to, "The store has no memory");
    return PHI_NO_MEMORY;
}

static bool phi__file_store_id_byte(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
}

PHI__FN phi_status phi__file_store_check_id(const char *id, phi__file_store_to to) {
    size_t n = 0;
    if (id != NULL && id[0] != '.')
        while (n <= PHI__FILE_STORE_ID && phi__file_store_id_byte(id[n])) n++;
    if (n > 0 && n <= PHI__FILE_STORE_ID && id[n] == '\0') return PHI_OK;
    phi__file_store_say(
        to, "\"%.80s\" is no id: 1 to 128 letters, digits, '.', '_' and '-', the first no '.'",
        id == NULL ? "" : id);
    return PHI_BAD_ARG;
}

PHI__FN void phi__file_store_path_of(const phi__file_store *fs, phi__file_store_path *out,
                                     const char *prefix, const char *id, const char *suffix) {
    (void)snprintf(out->text, sizeof out->text, "%s/%s%s%s", fs->directory, prefix, id, suffix);
}

PHI__FN const char *phi__file_store_kind(const char *suffix) {
    return strcmp(suffix, ".json") == 0 ? "Session" : "Thread";
}

/* ---- locks ---- */

/* Makes the directory, and every name in it that is new with it. */
static phi_status phi__file_store_make_room(phi__file_store *fs, phi__words *words) {
    const phi__disk *disk = &fs->disk;
    phi_status status = disk->make_directories(disk->user_data, fs->directory, words);
    phi__file_store_path path;
    size_t i;
    if (!fs->sync) return status;
    (void)snprintf(path.text, sizeof path.text, "%s", fs->directory);
    for (i = strlen(path.text); status == PHI_OK && i > 1; i--) {
        if (path.text[i] != '/') continue;
        path.text[i] = '\0';
        /* Others' directories above it may not be ours to open. */
        (void)disk->sync_directory(disk->user_data, path.text, words);
    }
    return status;
}

/* PHI_STALE: the file is no longer what its name means. */
static phi_status phi__file_store_lock_once(phi__file_store *fs, const char *path, intptr_t *out,
                                            phi__words *words) {
    const phi__disk *disk = &fs->disk;
    phi__disk_info mine, named;
    intptr_t file;
    phi_status status = disk->open(disk->user_data, path, PHI__DISK_CREATE, &file, words);
    if (status != PHI_OK) return status;
    status = disk->lock(disk->user_data, file, words);
    if (status == PHI_OK) status = disk->info(disk->user_data, file, &mine, words);
    if (status == PHI_OK) {
        status = disk->info_of(disk->user_data, path, &named, words);
        if (status == PHI_NOT_FOUND ||
            (status == PHI_OK && (named.device != mine.device || named.file != mine.file)))
            status = PHI_STALE;
    }
    if (status == PHI_OK)
        *out = file;
    else
        (void)disk->close(disk->user_data, file, NULL);
    return status;
}

PHI__FN phi_status phi__file_store_lock_take(phi__file_store *fs, const char *id,
                                             const char *suffix, intptr_t *out,
                                             phi__file_store_to to) {
    phi__file_store_path path;
    phi__words words;
    phi_status status = PHI_STALE;
    bool made = false;
    int i;
    char name[PHI__FILE_STORE_NAME];
    (void)snprintf(name, sizeof name, "%s.lock", suffix);
    phi__file_store_path_of(fs, &path, "", id, name);
    for (i = 0; i < PHI__FILE_STORE_LOCK_TRIES && status == PHI_STALE; i++) {
        status = phi__file_store_lock_once(fs, path.text, out, &words);
        if (status != PHI_NOT_FOUND || made) continue;
        made = true;
        status = phi__file_store_make_room(fs, &words);
        if (status == PHI_OK) status = PHI_STALE;
    }
    if (status == PHI_OK) return PHI_OK;
    if (status != PHI_BUSY && status != PHI_STALE)
        return phi__file_store_refuse(to, status, "lock", id, suffix, &words);
    phi__file_store_say(to, "%s %s is locked by another writer", phi__file_store_kind(suffix), id);
    return PHI_BUSY;
}

static bool phi__file_store_shares_lock(const char *suffix) { return strcmp(suffix, ".json") == 0; }

PHI__FN void phi__file_store_lock_drop(phi__file_store *fs, const char *id, const char *suffix,
                                       intptr_t lock) {
    phi__file_store_path path;
    char name[PHI__FILE_STORE_NAME];
    (void)snprintf(name, sizeof name, "%s.lock", suffix);
    phi__file_store_path_of(fs, &path, "", id, name);
    if (!phi__file_store_shares_lock(suffix))
        (void)fs->disk.remove(fs->disk.user_data, path.text, NULL);
    (void)fs->disk.close(fs->disk.user_data, lock, NULL);
}

PHI__FN phi__file_store_held *phi__file_store_find(const phi__file_store *fs,
                                                   const char *thread_id) {
    size_t i;
    for (i = 0; i < fs->held_count; i++)
        if (strcmp(fs->held[i].id, thread_id) == 0) return &fs->held[i];
    return NULL;
}

PHI__FN phi_status phi__file_store_write(phi__file_store *fs, intptr_t file, uint64_t at,
                                         phi_str bytes, phi__words *words) {
    phi_status status = PHI_OK;
    size_t done = 0, wrote;
    while (status == PHI_OK && done < bytes.len) {
        status = fs->disk.write(fs->disk.user_data, file, at + done, bytes.at + done,
                                bytes.len - done, &wrote, words);
        done += wrote;
    }
    return status;
}

#endif
