/* journal_none.c - with PHI_NO_STORES: no thread is in a store. */
#include "persist/journal_in.h"

#ifdef PHI_NO_STORES

#include <stdio.h>

PHI__FN phi_status phi__journal_open(phi_thread *thread, const phi_store *store, const char *id,
                                     uint64_t *torn, char *words, size_t words_size) {
    (void)thread;
    (void)store;
    (void)id;
    if (torn != NULL) *torn = 0;
    if (words != NULL && words_size > 0)
        (void)snprintf(words, words_size, "%s", PHI__STORES_LEFT_OUT);
    return PHI_UNSUPPORTED;
}

PHI__FN phi_status phi__journal_sync(phi_thread *thread, char *words, size_t words_size) {
    (void)thread;
    if (words != NULL && words_size > 0) words[0] = '\0';
    return PHI_OK;
}

PHI__FN void phi__journal_close(phi_thread *thread) { (void)thread; }

PHI__FN void phi__journal_skip(phi_thread *thread) { (void)thread; }

PHI__FN void phi__journal_free_thread(phi_thread *thread) { phi__thread_destroy(thread); }

/* ---- public ---- */

PHI_API phi_status phi_thread_attach(phi_thread *thread, const phi_store *store, const char *id,
                                     uint64_t *torn, char *words, size_t words_size) {
    if (thread == NULL) return PHI_BAD_ARG;
    return phi__journal_open(thread, store, id, torn, words, words_size);
}

PHI_API phi_status phi_thread_sync(phi_thread *thread, char *words, size_t words_size) {
    return phi_thread_attach(thread, NULL, NULL, NULL, words, words_size);
}

PHI_API phi_status phi_thread_detach(phi_thread *thread) {
    return thread != NULL ? PHI_OK : PHI_BAD_ARG;
}

PHI_API uint64_t phi_thread_stored(const phi_thread *thread) {
    (void)thread;
    return 0;
}

#endif
