/* file_store.c - opens and closes the file store, and keeps the list of its locked threads. */
#include "persist/file_store_in.h"

#ifndef PHI_NO_FILES

enum { PHI__FILE_STORE_DIRECTORY = 3900 }; /* bytes of a directory: a name fits behind it */

static phi_status phi__file_store_lock(void *user_data, const char *thread_id, char *words,
                                       size_t words_size) {
    phi__file_store *fs = (phi__file_store *)user_data;
    phi__file_store_to to = phi__file_store_to_of(words, words_size);
    phi_status status = phi__file_store_check_id(thread_id, to);
    phi__file_store_held *held;
    void *grown;
    intptr_t lock;
    if (status != PHI_OK) return status;
    if (phi__file_store_find(fs, thread_id) != NULL) {
        phi__file_store_say(to, "Thread %s is locked by this store already", thread_id);
        return PHI_BUSY;
    }
    grown = phi__grow(&fs->memory, fs->held, &fs->held_cap, fs->held_count + 1, sizeof *fs->held);
    if (grown == NULL) return phi__file_store_no_memory(to);
    fs->held = (phi__file_store_held *)grown;
    status = phi__file_store_lock_take(fs, thread_id, ".jsonl", &lock, to);
    if (status != PHI_OK) return status;
    held = &fs->held[fs->held_count++];
    memset(held, 0, sizeof *held);
    memcpy(held->id, thread_id, strlen(thread_id) + 1);
    held->lock = lock;
    return PHI_OK;
}

static void phi__file_store_unlock(void *user_data, const char *thread_id) {
    phi__file_store *fs = (phi__file_store *)user_data;
    phi__file_store_held *held = thread_id == NULL ? NULL : phi__file_store_find(fs, thread_id);
    if (held == NULL) return;
    phi__file_store_lock_drop(fs, thread_id, ".jsonl", held->lock);
    *held = fs->held[--fs->held_count];
}

/* ---- for other modules ---- */

PHI__FN phi_status phi__file_store_open_on(const phi_file_store_desc *desc, const phi__disk *disk,
                                           phi_store *out) {
    phi_memory memory;
    phi__file_store *fs;
    size_t n;
    memset(out, 0, sizeof *out);
    if (desc == NULL || desc->directory == NULL) return PHI_BAD_ARG;
    n = strlen(desc->directory);
    if (n == 0 || n > PHI__FILE_STORE_DIRECTORY) return PHI_BAD_ARG;
    phi_memory_init(&memory, &desc->allocator, desc->memory_limit_bytes);
    fs = (phi__file_store *)phi__alloc(&memory, sizeof *fs);
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
    out->save = phi__file_documents_save;
    out->load = phi__file_documents_load;
    out->remove = phi__file_documents_remove;
    out->list = phi__file_documents_list;
    out->append = phi__file_threads_store_append;
    out->read = phi__file_threads_store_read;
    out->remove_thread = phi__file_threads_store_remove;
    out->list_threads = phi__file_documents_list_threads;
    out->lock = phi__file_store_lock;
    out->unlock = phi__file_store_unlock;
    out->journal = phi_store_journal();
    return PHI_OK;
}

/* ---- public ---- */

PHI_API phi_status phi_file_store_open(const phi_file_store_desc *desc, phi_store *out) {
    return phi__file_store_open_on(desc, phi__disk_system(), out);
}

PHI_API void phi_file_store_close(phi_store *store) {
    phi__file_store *fs = store == NULL ? NULL : (phi__file_store *)store->user_data;
    phi_memory memory;
    if (fs == NULL) return;
    while (fs->held_count > 0) phi__file_store_unlock(fs, fs->held[fs->held_count - 1].id);
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
