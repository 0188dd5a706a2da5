/* journal.c - keeps a store up to date with a thread, and fills a thread from a store. */
#include "persist/journal_in.h"

#include <stdio.h>

/* ---- evicts entries from memory, and recalls them from the store ---- */

PHI__FN bool phi__evict_begin(phi_thread *thread) {
    if (!thread->log.left || thread->journal == NULL || thread->journal->stored < thread->log.count)
        return false;
    return thread->journal->store.journal->evict_begin(thread);
}

PHI__FN void phi__evict_end(phi_thread *thread) {
    thread->journal->store.journal->evict_end(thread);
}

/* A recall reads the store's log while the log in memory is in use. It happens once, at the start
   of a call by a host or a run. */

typedef struct phi__recalling {
    phi__entry_reader reader;
    uint64_t end;
} phi__recalling;

static phi_status phi__recall_each(void *ctx, uint64_t seq, phi_str entry) {
    phi__recalling *recalling = (phi__recalling *)ctx;
    return seq < recalling->end ? phi__entry_read(&recalling->reader, entry) : PHI_OK;
}

/* Reads the store's log into *whole. */
static phi_status phi__recall_read(const phi_thread *thread, phi_thread *whole) {
    const phi__journal *journal = thread->journal;
    phi__recalling recalling;
    phi__thread_init(whole, thread->log.memory, thread->log.io);
    recalling.end = journal->stored - thread->log.base;
    phi_status status = phi__load_begin(whole, true);
    if (status != PHI_OK) return status;
    phi__get_reader_init(&recalling.reader, whole);
    status = journal->store.read(journal->store.user_data, journal->id, 0, phi__recall_each,
                                 &recalling, NULL, NULL, 0);
    phi__get_reader_free(&recalling.reader);
    status = phi__load_end(whole, status);
    if (status == PHI_OK && whole->log.count != journal->stored) status = PHI_PARSE;
    return status;
}

/* The implementation of phi__recall for a thread with evicted entries; see phi__journal_ops. */
static phi_status phi__recall_all(phi_thread *thread) {
    phi_thread whole;
    phi_status status = phi__recall_read(thread, &whole);
    if (status == PHI_OK) status = phi__thread_rejoin(thread, &whole);
    phi__thread_destroy(&whole);
    return status;
}

PHI__FN phi_status phi__recall(const phi_thread *thread) {
    if (phi__thread_whole(thread)) return PHI_OK;
    return thread->journal->store.journal->recall((phi_thread *)(uintptr_t)thread);
}

PHI__FN phi_status phi__recall_view(const phi_thread *thread, uint32_t lane, uint64_t upto) {
    bool kept =
        lane == thread->lanes.active && (upto == UINT64_MAX || upto + 1 >= thread->log.count);
    return kept ? PHI_OK : phi__recall(thread);
}

PHI__FN phi_status phi__recall_end(const phi_thread *thread, const phi__entry *end) {
    return phi__runs_end_folds(thread, end) ? phi__recall(thread) : PHI_OK;
}

PHI__FN const phi_message *phi__recall_message(const phi_thread *thread, size_t i,
                                               phi_status *status) {
    *status = PHI_OK;
    if (i >= thread->messages.count) return NULL;
    if (phi__lane_message(thread, i) == NULL) *status = phi__recall(thread);
    return *status == PHI_OK ? phi__lane_message(thread, i)->message : NULL;
}

PHI__FN phi_status phi__recall_has_loop(const phi_thread *thread, phi_str loop_id, bool *had) {
    phi_status status = PHI_OK;
    *had = phi__loops_find(thread, loop_id) != NULL;
    if (*had || !thread->loops.away) return PHI_OK;
    status = phi__recall(thread);
    for (size_t i = 0; status == PHI_OK && !*had && i < thread->log.held; i++)
        *had = thread->log.entries[i]->kind == PHI_ENTRY_LOOP_START &&
               phi_str_equal(thread->log.entries[i]->loop_id, loop_id);
    return status;
}

/* ---- the journal: which entries of a thread the store has ---- */

enum { PHI__JOURNAL_BATCH = 256 }; /* entries in one call of the store's append */
#define PHI__JOURNAL_BATCH_BYTES                                                                   \
    ((size_t)1 << 20) /* bytes in one call; a longer entry is written alone */

enum { PHI__JOURNAL_LIMIT_PART = 32 }; /* a batch has at most 1/32 of a memory limit */

static void phi__journal_words(char *words, size_t size, const char *text) {
    if (words != NULL && size > 0) (void)snprintf(words, size, "%s", text);
}

/* If the store gave no message, uses the text of the status instead. */
static void phi__journal_explain(char *words, size_t size, phi_status status) {
    if (words != NULL && size > 0 && words[0] == '\0' && status != PHI_OK)
        (void)snprintf(words, size, "%s", phi_status_text(status));
}

PHI__FN bool phi__journal_id_fits(const char *id) {
    size_t n = 0;
    if (id == NULL || id[0] == '.') return false;
    for (; id[n] != '\0' && n <= 128; n++)
        if (!((id[n] >= '0' && id[n] <= '9') || (id[n] >= 'a' && id[n] <= 'z') ||
              (id[n] >= 'A' && id[n] <= 'Z') || id[n] == '.' || id[n] == '_' || id[n] == '-'))
            return false;
    return n >= 1 && n <= 128;
}

/* ---- lists of threads that need work ---- */

PHI__FN phi__journal *phi__journal_next(phi__grown *grown, phi__dirty_why why) {
    phi__dirty *dirty = phi__dirty_next(grown, why);
    return dirty != NULL ? PHI__OWNER(dirty, phi__journal, dirty) : NULL;
}

PHI__FN void phi__journal_list(phi_thread *thread, phi__dirty_why why) {
    phi__dirty_add(thread->log.grown, thread->log.dirty, why);
}

/* ---- writing ---- */

/* With a memory limit, a batch has at most a part of the limit. */
static size_t phi__journal_batch_bytes(const phi_thread *thread) {
    if (thread->log.segments.limit_bytes == 0) return PHI__JOURNAL_BATCH_BYTES;
    return phi__min(PHI__JOURNAL_BATCH_BYTES,
                    thread->log.segments.limit_bytes / PHI__JOURNAL_LIMIT_PART);
}

/* Returns the runtime's memory, from which the text of a batch is allocated. An agent at its memory
   limit has no room for the text: it gets room only after the entries are written. */
static phi_memory *phi__journal_memory(const phi_thread *thread) {
    return thread->log.memory->parent != NULL ? thread->log.memory->parent : thread->log.memory;
}

/* Writes the texts of the next entries one after the other, and sets lens to their lengths. */
static size_t phi__journal_texts(const phi_thread *thread, phi__buf *text, size_t *lens) {
    size_t from = (size_t)thread->journal->stored, n = 0, most = phi__journal_batch_bytes(thread);
    phi_arena scratch;
    phi_arena_init(&scratch, phi__journal_memory(thread), 0);
    while (n < PHI__JOURNAL_BATCH && from + n < thread->log.count && !text->failed &&
           text->len < most) {
        size_t before = text->len;
        phi__entry_json(text, thread, phi__thread_at(thread, from + n), &scratch);
        if (n > 0 && text->len > most) {
            text->len = before;
            break;
        }
        lens[n++] = text->len - before;
    }
    phi_arena_free(&scratch);
    return n;
}

typedef struct phi__journal_match {
    phi_thread *thread;
    phi_arena scratch;
    phi__buf text;
} phi__journal_match;

static phi_status phi__journal_same(void *ctx, uint64_t seq, phi_str entry) {
    phi__journal_match *match = (phi__journal_match *)ctx;
    phi_thread *thread = match->thread;
    seq += thread->log.base;
    if (seq != thread->journal->stored || seq >= thread->log.count) return PHI_STALE;
    phi__buf_clear(&match->text);
    phi__entry_json(&match->text, thread, phi__thread_at(thread, seq), &match->scratch);
    if (match->text.failed) return PHI_NO_MEMORY;
    if (!phi_str_equal(phi__buf_str(&match->text), entry)) return PHI_STALE;
    thread->journal->stored++;
    return PHI_OK;
}

/* Called if the store has more entries than it acknowledged, for example after an append that
   failed although it was stored. Stored entries that equal entries of the thread count as
   written. */
static phi_status phi__journal_catch_up(phi_thread *thread, char *words, size_t words_size) {
    phi__journal *journal = thread->journal;
    uint64_t before = journal->stored;
    phi__journal_match match;
    match.thread = thread;
    phi_arena_init(&match.scratch, phi__journal_memory(thread), 0);
    phi__buf_init(&match.text, phi__journal_memory(thread));
    phi_status status =
        journal->store.read(journal->store.user_data, journal->id, before - thread->log.base,
                            phi__journal_same, &match, NULL, words, words_size);
    phi__buf_free(&match.text);
    phi_arena_free(&match.scratch);
    /* the store has fewer entries than it acknowledged */
    if (status == PHI_OK && journal->stored == before) status = PHI_STALE;
    return status;
}

static phi_status phi__journal_write(phi_thread *thread, char *words, size_t words_size) {
    phi__journal *journal = thread->journal;
    size_t lens[PHI__JOURNAL_BATCH], at = 0;
    phi_str entries[PHI__JOURNAL_BATCH];
    phi_status status = PHI_NO_MEMORY;
    phi__buf text;
    if (words != NULL && words_size > 0) words[0] = '\0';
    if (journal == NULL || journal->stored == thread->log.count) return PHI_OK;
    phi__buf_init(&text, phi__journal_memory(thread));
    size_t n = phi__journal_texts(thread, &text, lens);
    if (!text.failed) {
        for (size_t i = 0; i < n; at += lens[i++]) entries[i] = phi__str(text.at + at, lens[i]);
        status = journal->store.append(journal->store.user_data, journal->id,
                                       journal->stored - thread->log.base, entries, n, words,
                                       words_size);
    }
    phi__buf_free(&text);
    if (status == PHI_OK) journal->stored += n;
    if (status == PHI_STALE) status = phi__journal_catch_up(thread, words, words_size);
    phi__journal_explain(words, words_size, status);
    return status;
}

static phi_status phi__journal_write_all(phi_thread *thread, char *words, size_t words_size) {
    phi_status status = PHI_OK;
    if (words != NULL && words_size > 0) words[0] = '\0';
    while (status == PHI_OK && thread->journal != NULL &&
           thread->journal->stored < thread->log.count)
        status = phi__journal_write(thread, words, words_size);
    return status;
}

/* ---- reading ---- */

typedef struct phi__journal_load {
    phi__entry_reader reader;
    bool was_empty;
    char words[PHI__ENTRY_WORDS + 32];
} phi__journal_load;

static phi_status phi__journal_each(void *ctx, uint64_t seq, phi_str entry) {
    phi__journal_load *load = (phi__journal_load *)ctx;
    if (!load->was_empty) {
        (void)snprintf(load->words, sizeof load->words,
                       "the thread and the store both have entries");
        return PHI_MISUSE;
    }
    phi_status status = phi__entry_read(&load->reader, entry);
    if (status == PHI_PARSE)
        (void)snprintf(load->words, sizeof load->words, "entry %llu: %s", (unsigned long long)seq,
                       load->reader.words);
    return status;
}

PHI__FN void phi__journal_skip(phi_thread *thread) {
    phi__journal *journal = thread->journal;
    if (journal != NULL && journal->stored < thread->log.base) journal->stored = thread->log.base;
}

static phi_status phi__journal_fill(phi_thread *thread, uint64_t *torn, char *words,
                                    size_t words_size) {
    phi__journal *journal = thread->journal;
    phi__journal_load load = PHI_ZERO;
    load.was_empty = thread->log.count == 0;
    if (load.was_empty && phi__load_begin(thread, false) != PHI_OK) return PHI_NO_MEMORY;
    phi__get_reader_init(&load.reader, thread);
    phi_status status = journal->store.read(journal->store.user_data, journal->id, 0,
                                            phi__journal_each, &load, torn, words, words_size);
    phi__get_reader_free(&load.reader);
    if (load.was_empty) status = phi__load_end(thread, status);
    if (status == PHI_NOT_FOUND) return PHI_OK; /* the store has no such thread yet */
    if (load.words[0] != '\0') phi__journal_words(words, words_size, load.words);
    if (!load.was_empty) return status;
    thread->loops.restored = thread->log.count > 0;
    if (status == PHI_OK) journal->stored = thread->log.count;
    return status;
}

/* ---- opening and closing ---- */

static phi__journal *phi__journal_new(phi_thread *thread, const phi_store *store, const char *id) {
    phi__journal *journal = (phi__journal *)phi__alloc(thread->log.memory, sizeof *journal);
    if (journal == NULL) return NULL;
    journal->store = *store;
    journal->store.journal = phi_store_journal();
    journal->thread = thread;
    journal->stored = thread->log.base; /* forgotten entries are in no store */
    journal->id_len = strlen(id);
    journal->id = (char *)phi__alloc(thread->log.memory, journal->id_len + 1);
    if (journal->id == NULL) {
        phi__free(thread->log.memory, journal, sizeof *journal);
        return NULL;
    }
    memcpy(journal->id, id, journal->id_len);
    return journal;
}

static void phi__journal_free(phi_thread *thread) {
    phi__journal *journal = thread->journal;
    thread->journal = NULL;
    thread->log.dirty = NULL;
    phi__dirty_remove(thread->log.grown, &journal->dirty, PHI__DIRTY_GREW);
    phi__dirty_remove(thread->log.grown, &journal->dirty, PHI__DIRTY_LEAVES);
    if (journal->id != NULL) phi__free(thread->log.memory, journal->id, journal->id_len + 1);
    phi__free(thread->log.memory, journal, sizeof *journal);
}

static void phi__journal_unlock(const phi__journal *journal) {
    if (journal->store.unlock != NULL) journal->store.unlock(journal->store.user_data, journal->id);
}

static void phi__journal_end(phi_thread *thread) {
    phi__journal_unlock(thread->journal);
    phi__journal_free(thread);
}

static phi_status phi__journal_check(const phi_thread *thread, const phi_store *store,
                                     const char *id, char *words, size_t words_size) {
    if (store == NULL || store->append == NULL || store->read == NULL) {
        phi__journal_words(words, words_size, "store: append or read is missing");
        return PHI_BAD_ARG;
    }
    if (!phi__journal_id_fits(id)) {
        phi__journal_words(words, words_size,
                           "thread id: expected 1 to 128 of A-Z a-z 0-9 . _ -, no dot in front");
        return PHI_BAD_ARG;
    }
    if (thread->journal == NULL) return PHI_OK;
    phi__journal_words(words, words_size, "the thread is attached already");
    return PHI_MISUSE;
}

static phi_status phi__journal_begin(phi_thread *thread, const phi_store *store, const char *id,
                                     uint64_t *torn, char *words, size_t words_size) {
    bool empty = thread->log.count == 0;
    if (words != NULL && words_size > 0) words[0] = '\0';
    if (torn != NULL) *torn = 0;
    phi_status status = phi__journal_check(thread, store, id, words, words_size);
    if (status != PHI_OK) return status;
    thread->journal = phi__journal_new(thread, store, id);
    if (thread->journal == NULL) {
        phi__journal_explain(words, words_size, PHI_NO_MEMORY);
        return PHI_NO_MEMORY;
    }
    thread->log.dirty = &thread->journal->dirty;
    if (store->lock != NULL) status = store->lock(store->user_data, id, words, words_size);
    if (status != PHI_OK) {
        phi__journal_explain(words, words_size, status);
        phi__journal_free(thread); /* the lock was not taken */
        return status;
    }
    status = phi__journal_fill(thread, torn, words, words_size);
    if (status == PHI_OK) status = phi__journal_write_all(thread, words, words_size);
    phi__journal_explain(words, words_size, status);
    if (status == PHI_OK) {
        phi__dirty_remove(thread->log.grown, thread->log.dirty, PHI__DIRTY_GREW);
        if (thread->log.left) phi__thread_evictable(thread);
        return PHI_OK;
    }
    phi__journal_end(thread);
    if (empty) phi__thread_destroy(thread);
    return status;
}

/* ---- calls through the store's table ---- */

PHI__FN phi_status phi__journal_open(phi_thread *thread, const phi_store *store, const char *id,
                                     uint64_t *torn, char *words, size_t words_size) {
    return store->journal->open(thread, store, id, torn, words, words_size);
}

PHI__FN phi_status phi__journal_batch(phi_thread *thread, char *words, size_t words_size) {
    if (thread->journal == NULL) return PHI_OK;
    return thread->journal->store.journal->batch(thread, words, words_size);
}

PHI__FN phi_status phi__journal_sync(phi_thread *thread, char *words, size_t words_size) {
    if (thread->journal == NULL) return PHI_OK;
    return thread->journal->store.journal->sync(thread, words, words_size);
}

PHI__FN void phi__journal_close(phi_thread *thread) {
    if (thread->journal != NULL) thread->journal->store.journal->close(thread);
}

PHI__FN void phi__journal_free_thread(phi_thread *thread) {
    if (thread->journal != NULL) (void)phi__journal_sync(thread, NULL, 0);
    phi__journal_close(thread);
    phi__thread_destroy(thread);
}

/* ---- public ---- */

PHI_API const phi__journal_ops *phi_store_journal(void) {
    static const phi__journal_ops ops = {
        phi__journal_begin, phi__journal_write,      phi__journal_write_all, phi__journal_end,
        phi__recall_all,    phi__thread_evict_begin, phi__thread_evict_end};
    return &ops;
}

PHI_API phi_status phi_thread_attach(phi_thread *thread, const phi_store *store, const char *id,
                                     uint64_t *torn, char *words, size_t words_size) {
    if (thread == NULL) return PHI_BAD_ARG;
    if (store == NULL) {
        if (words != NULL && words_size > 0) words[0] = '\0';
        if (thread->journal == NULL) return PHI_OK;
        phi_status status = phi__recall(thread);
        if (status != PHI_OK) return status;
        status = phi__journal_sync(thread, words, words_size);
        phi__journal_unlock(thread->journal);
        phi__about_name(thread, phi__str(thread->journal->id, thread->journal->id_len));
        thread->journal->id = NULL; /* the thread owns the id now */
        phi__journal_free(thread);
        return status;
    }
    return phi__journal_begin(thread, store, id, torn, words, words_size);
}

PHI_API phi_status phi_thread_sync(phi_thread *thread, char *words, size_t words_size) {
    if (thread == NULL) return PHI_BAD_ARG;
    if (thread->journal == NULL) {
        phi__journal_words(words, words_size, "the thread is in no store");
        return PHI_MISUSE;
    }
    return phi__journal_sync(thread, words, words_size);
}
