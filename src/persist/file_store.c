/* file_store.c - opening and closing the file store, its words and its locks.

   A lock is a flock on a file beside the data, never on the data: a document is replaced by a rename, and a lock on
   the old file would say nothing about the new one. A document's lock file stays: the Rust
   original, which shares it, opens the file and then waits for the lock, and would go on with a
   file that has no name any more beside a writer that made a new one. A thread's, which only phi
   uses, is removed while it is still locked, so that nothing is left lying about; a writer that
   gets a lock therefore checks that the name still means the file it locked. */
#include "persist/file_store_in.h"

#ifndef PHI_NO_FILES

#include <stdarg.h>
#include <stdio.h>

enum {
    PHI__FS_DIRECTORY = 3900, /* bytes of a directory: a name fits behind it */
    PHI__FS_LOCK_TRIES = 64   /* each lost to another who locked and unlocked in between */
};

PHI__FN phi__fs_to phi__fs_to_of(char *words, size_t size) {
    phi__fs_to to;
    to.words = size > 0 ? words : NULL;
    to.size = size;
    if (to.words != NULL) to.words[0] = '\0';
    return to;
}

PHI__FN void phi__fs_say(phi__fs_to to, const char *format, ...) {
    va_list args;
    if (to.words == NULL) return;
    va_start(args, format);
    (void)vsnprintf(to.words, to.size, format, args);
    va_end(args);
}

PHI__FN phi_status phi__fs_refuse(phi__fs_to to, phi_status status, const char *what,
                                  const char *id, const char *suffix, const phi__words *words) {
    phi__fs_say(to, "Cannot %s %s%s: %s", what, id, suffix, words->text);
    return status;
}

PHI__FN phi_status phi__fs_no_memory(phi__fs_to to) {
    phi__fs_say(to, "The store has no memory");
    return PHI_NO_MEMORY;
}

static bool phi__fs_id_byte(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
}

PHI__FN phi_status phi__fs_check_id(const char *id, phi__fs_to to) {
    size_t n = 0;
    if (id != NULL && id[0] != '.')
        while (n <= PHI__FS_ID && phi__fs_id_byte(id[n])) n++;
    if (n > 0 && n <= PHI__FS_ID && id[n] == '\0') return PHI_OK;
    phi__fs_say(to,
                "\"%.80s\" is no id: 1 to 128 letters, digits, '.', '_' and '-', the first no '.'",
                id == NULL ? "" : id);
    return PHI_BAD_ARG;
}

PHI__FN void phi__fs_path_of(const phi__fs *fs, phi__fs_path *out, const char *prefix,
                             const char *id, const char *suffix) {
    (void)snprintf(out->text, sizeof out->text, "%s/%s%s%s", fs->directory, prefix, id, suffix);
}

PHI__FN const char *phi__fs_kind(const char *suffix) {
    return strcmp(suffix, ".json") == 0 ? "Session" : "Thread";
}

/* ---- locks ---- */

/* Makes the directory, and every name in it that is new with it. */
static phi_status phi__fs_make_room(phi__fs *fs, phi__words *words) {
    const phi__disk *disk = &fs->disk;
    phi_status status = disk->make_directories(disk->user_data, fs->directory, words);
    phi__fs_path path;
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
static phi_status phi__fs_lock_once(phi__fs *fs, const char *path, intptr_t *out,
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

PHI__FN phi_status phi__fs_lock_take(phi__fs *fs, const char *id, const char *suffix, intptr_t *out,
                                     phi__fs_to to) {
    phi__fs_path path;
    phi__words words;
    phi_status status = PHI_STALE;
    bool made = false;
    int i;
    char name[PHI__FS_NAME];
    (void)snprintf(name, sizeof name, "%s.lock", suffix);
    phi__fs_path_of(fs, &path, "", id, name);
    for (i = 0; i < PHI__FS_LOCK_TRIES && status == PHI_STALE; i++) {
        status = phi__fs_lock_once(fs, path.text, out, &words);
        if (status != PHI_NOT_FOUND || made) continue;
        made = true;
        status = phi__fs_make_room(fs, &words);
        if (status == PHI_OK) status = PHI_STALE;
    }
    if (status == PHI_OK) return PHI_OK;
    if (status != PHI_BUSY && status != PHI_STALE)
        return phi__fs_refuse(to, status, "lock", id, suffix, &words);
    phi__fs_say(to, "%s %s is locked by another writer", phi__fs_kind(suffix), id);
    return PHI_BUSY;
}

static bool phi__fs_shares_lock(const char *suffix) { return strcmp(suffix, ".json") == 0; }

PHI__FN void phi__fs_lock_drop(phi__fs *fs, const char *id, const char *suffix, intptr_t lock) {
    phi__fs_path path;
    char name[PHI__FS_NAME];
    (void)snprintf(name, sizeof name, "%s.lock", suffix);
    phi__fs_path_of(fs, &path, "", id, name);
    if (!phi__fs_shares_lock(suffix)) (void)fs->disk.remove(fs->disk.user_data, path.text, NULL);
    (void)fs->disk.close(fs->disk.user_data, lock, NULL);
}

PHI__FN phi__fs_held *phi__fs_find(const phi__fs *fs, const char *thread_id) {
    size_t i;
    for (i = 0; i < fs->held_count; i++)
        if (strcmp(fs->held[i].id, thread_id) == 0) return &fs->held[i];
    return NULL;
}

static phi_status phi__fs_lock(void *user_data, const char *thread_id, char *words,
                               size_t words_size) {
    phi__fs *fs = (phi__fs *)user_data;
    phi__fs_to to = phi__fs_to_of(words, words_size);
    phi_status status = phi__fs_check_id(thread_id, to);
    phi__fs_held *held;
    void *grown;
    intptr_t lock;
    if (status != PHI_OK) return status;
    if (phi__fs_find(fs, thread_id) != NULL) {
        phi__fs_say(to, "Thread %s is locked by this store already", thread_id);
        return PHI_BUSY;
    }
    grown = phi__grow(&fs->memory, fs->held, &fs->held_cap, fs->held_count + 1, sizeof *fs->held);
    if (grown == NULL) return phi__fs_no_memory(to);
    fs->held = (phi__fs_held *)grown;
    status = phi__fs_lock_take(fs, thread_id, ".jsonl", &lock, to);
    if (status != PHI_OK) return status;
    held = &fs->held[fs->held_count++];
    memset(held, 0, sizeof *held);
    memcpy(held->id, thread_id, strlen(thread_id) + 1);
    held->lock = lock;
    return PHI_OK;
}

static void phi__fs_unlock(void *user_data, const char *thread_id) {
    phi__fs *fs = (phi__fs *)user_data;
    phi__fs_held *held = thread_id == NULL ? NULL : phi__fs_find(fs, thread_id);
    if (held == NULL) return;
    phi__fs_lock_drop(fs, thread_id, ".jsonl", held->lock);
    *held = fs->held[--fs->held_count];
}

PHI__FN phi_status phi__fs_write(phi__fs *fs, intptr_t file, uint64_t at, phi_str bytes,
                                 phi__words *words) {
    phi_status status = PHI_OK;
    size_t done = 0, wrote;
    while (status == PHI_OK && done < bytes.len) {
        status = fs->disk.write(fs->disk.user_data, file, at + done, bytes.at + done,
                                bytes.len - done, &wrote, words);
        done += wrote;
    }
    return status;
}

/* ---- for other modules ---- */

PHI__FN phi_status phi__file_store_open_on(const phi_file_store_desc *desc, const phi__disk *disk,
                                           phi_store *out) {
    phi_memory memory;
    phi__fs *fs;
    size_t n;
    memset(out, 0, sizeof *out);
    if (desc == NULL || desc->directory == NULL) return PHI_BAD_ARG;
    n = strlen(desc->directory);
    if (n == 0 || n > PHI__FS_DIRECTORY) return PHI_BAD_ARG;
    phi_memory_init(&memory, &desc->allocator, desc->memory_limit_bytes);
    fs = (phi__fs *)phi__alloc(&memory, sizeof *fs);
    if (fs == NULL) return PHI_NO_MEMORY;
    fs->memory = memory; /* counts the store itself */
    fs->disk = *disk;
    fs->sync = desc->sync;
    fs->directory_bytes = n + 1;
    fs->directory = (char *)phi__alloc(&fs->memory, n + 1);
    if (fs->directory == NULL) {
        memory = fs->memory;
        phi__free(&memory, fs, sizeof *fs);
        return PHI_NO_MEMORY;
    }
    memcpy(fs->directory, desc->directory, n + 1);
    while (n > 1 && fs->directory[n - 1] == '/') fs->directory[--n] = '\0';
    out->user_data = fs;
    out->save = phi__fs_save;
    out->load = phi__fs_load;
    out->remove = phi__fs_remove;
    out->list = phi__fs_list;
    out->append = phi__fs_append;
    out->read = phi__fs_read;
    out->remove_thread = phi__fs_remove_thread;
    out->list_threads = phi__fs_list_threads;
    out->lock = phi__fs_lock;
    out->unlock = phi__fs_unlock;
    return PHI_OK;
}

/* ---- public ---- */

PHI_API phi_status phi_file_store_open(const phi_file_store_desc *desc, phi_store *out) {
    return phi__file_store_open_on(desc, phi__disk_system(), out);
}

PHI_API void phi_file_store_close(phi_store *store) {
    phi__fs *fs = store == NULL ? NULL : (phi__fs *)store->user_data;
    phi_memory memory;
    if (fs == NULL) return;
    while (fs->held_count > 0) phi__fs_unlock(fs, fs->held[fs->held_count - 1].id);
    memory = fs->memory;
    phi__free(&memory, fs->held, fs->held_cap * sizeof *fs->held);
    phi__free(&memory, fs->directory, fs->directory_bytes);
    phi__free(&memory, fs, sizeof *fs);
    memset(store, 0, sizeof *store);
}

#else

PHI_API phi_status phi_file_store_open(const phi_file_store_desc *desc, phi_store *out) {
    (void)desc;
    memset(out, 0, sizeof *out);
    return PHI_UNSUPPORTED;
}

PHI_API void phi_file_store_close(phi_store *store) { (void)store; }

#endif
