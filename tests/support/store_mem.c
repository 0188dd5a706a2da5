/* store_mem.c - see store_mem.h. A thread is its text, an entry a line. */
#include "support/store_mem.h"

#include <stdlib.h>
#include <string.h>

typedef struct kept {
    struct kept *next;
    char id[129], agent_id[129];
    bool is_thread, locked;
    char *text; /* terminated */
    size_t len;
    uint64_t changes; /* order of the last one */
} kept;

struct store_mem {
    phi_store store;
    kept *first;
    int fail_at;
    phi_status fail_status;
    size_t room, used;
    bool lies;
    size_t appends, most_entries, most_bytes;
    uint64_t changes;
};

/* ---- what is kept ---- */

static kept *find(store_mem *s, const char *id, bool is_thread) {
    kept *k = s->first;
    while (k != NULL && (k->is_thread != is_thread || strcmp(k->id, id) != 0)) k = k->next;
    return k;
}

static kept *find_or_make(store_mem *s, const char *id, bool is_thread) {
    kept *k = find(s, id, is_thread);
    if (k != NULL) return k;
    k = (kept *)calloc(1, sizeof *k);
    if (k == NULL) abort();
    snprintf(k->id, sizeof k->id, "%s", id);
    k->is_thread = is_thread;
    k->next = s->first;
    s->first = k;
    return k;
}

static void put(store_mem *s, kept *k, const char *at, size_t len) {
    k->text = (char *)realloc(k->text, k->len + len + 1);
    if (k->text == NULL) abort();
    if (len > 0) memcpy(k->text + k->len, at, len);
    k->len += len;
    k->text[k->len] = '\0';
    k->changes = ++s->changes;
}

static void drop(store_mem *s, kept *gone) {
    kept **at = &s->first;
    while (*at != gone) at = &(*at)->next;
    *at = gone->next;
    free(gone->text);
    free(gone);
}

static uint64_t lines(const kept *k) {
    uint64_t n = 0;
    const char *at, *end;
    if (k == NULL || k->len == 0) return 0;
    for (at = k->text, end = at + k->len; (at = memchr(at, '\n', (size_t)(end - at))) != NULL; at++)
        n++;
    return n;
}

/* ---- trouble ---- */

static phi_status say(phi_status status, const char *text, char *words, size_t size) {
    if (words != NULL && size > 0) snprintf(words, size, "%s", text);
    return status;
}

static bool fails(store_mem *s, char *words, size_t size) {
    if (s->fail_at < 0 || s->fail_at-- > 0) return false;
    (void)say(s->fail_status, "the store failed on demand", words, size);
    return true;
}

/* ---- documents ---- */

static phi_status mem_save(void *user, const char *id, const char *agent_id, phi_str bytes,
                           char *words, size_t size) {
    store_mem *s = (store_mem *)user;
    kept *k;
    if (fails(s, words, size)) return s->fail_status;
    k = find_or_make(s, id, false);
    snprintf(k->agent_id, sizeof k->agent_id, "%s", agent_id != NULL ? agent_id : "");
    k->len = 0;
    put(s, k, bytes.at, bytes.len);
    return PHI_OK;
}

static phi_status mem_load(void *user, const char *id, phi_arena *arena, phi_str *out, char *words,
                           size_t size) {
    store_mem *s = (store_mem *)user;
    kept *k = find(s, id, false);
    char *copy;
    if (fails(s, words, size)) return s->fail_status;
    if (k == NULL) return say(PHI_NOT_FOUND, "no such document", words, size);
    copy = (char *)phi_arena_alloc(arena, k->len + 1);
    if (copy == NULL) return PHI_NO_MEMORY;
    memcpy(copy, k->text, k->len + 1);
    *out = phi__str(copy, k->len);
    return PHI_OK;
}

static phi_status remove_any(store_mem *s, const char *id, bool is_thread, char *words,
                             size_t size) {
    kept *k = find(s, id, is_thread);
    if (fails(s, words, size)) return s->fail_status;
    if (k == NULL) return say(PHI_NOT_FOUND, "no such id", words, size);
    if (k->locked) return say(PHI_BUSY, "locked", words, size);
    drop(s, k);
    return PHI_OK;
}

static phi_status mem_remove(void *user, const char *id, char *words, size_t size) {
    return remove_any((store_mem *)user, id, false, words, size);
}

/* The latest change first. */
static phi_status list_any(store_mem *s, const char *agent_id, bool threads, phi_arena *arena,
                           const phi_store_item **out, size_t *count, char *words, size_t size) {
    phi_store_item *items;
    size_t n = 0;
    uint64_t below = UINT64_MAX;
    kept *k;
    if (fails(s, words, size)) return s->fail_status;
    for (k = s->first; k != NULL; k = k->next) n++;
    items = (phi_store_item *)phi_arena_alloc(arena, (n + 1) * sizeof *items);
    if (items == NULL) return PHI_NO_MEMORY;
    for (*out = items, *count = 0;;) {
        kept *best = NULL;
        for (k = s->first; k != NULL; k = k->next)
            if (k->is_thread == threads && k->changes < below && k->len > 0 &&
                (agent_id == NULL || strcmp(agent_id, k->agent_id) == 0) &&
                (best == NULL || k->changes > best->changes))
                best = k;
        if (best == NULL) return PHI_OK;
        below = best->changes;
        memset(&items[*count], 0, sizeof items[*count]);
        items[*count].id = phi_str_of(best->id);
        items[*count].agent_id = phi_str_of(best->agent_id);
        items[*count].changed_ms = (int64_t)best->changes;
        items[(*count)++].bytes = best->len;
    }
}

static phi_status mem_list(void *user, const char *agent_id, phi_arena *arena,
                           const phi_store_item **out, size_t *count, char *words, size_t size) {
    return list_any((store_mem *)user, agent_id, false, arena, out, count, words, size);
}

/* ---- threads ---- */

static phi_status mem_append(void *user, const char *id, uint64_t expected, const phi_str *entries,
                             size_t count, char *words, size_t size) {
    store_mem *s = (store_mem *)user;
    kept *k;
    size_t bytes = 0, i;
    for (i = 0; i < count; i++) {
        bytes += entries[i].len + 1;
        CHECK(entries[i].len > 0 && memchr(entries[i].at, '\n', entries[i].len) == NULL);
    }
    if (fails(s, words, size)) return s->fail_status;
    if (lines(find(s, id, true)) != expected)
        return say(PHI_STALE, "there are more or fewer entries", words, size);
    if (bytes > s->room || s->used > s->room - bytes)
        return say(PHI_FULL, "no space left", words, size);
    k = find_or_make(s, id, true);
    for (i = 0; i < count; i++) {
        put(s, k, entries[i].at, entries[i].len);
        put(s, k, "\n", 1);
    }
    s->used += bytes;
    s->appends++;
    if (count > s->most_entries) s->most_entries = count;
    if (bytes > s->most_bytes) s->most_bytes = bytes;
    if (!s->lies) return PHI_OK;
    s->lies = false;
    return say(PHI_IO, "the disk did not answer", words, size);
}

static phi_status mem_read(void *user, const char *id, uint64_t from,
                           phi_status (*each)(void *ctx, uint64_t seq, phi_str entry), void *ctx,
                           uint64_t *torn, char *words, size_t size) {
    store_mem *s = (store_mem *)user;
    kept *k = find(s, id, true);
    size_t at = 0;
    uint64_t seq = 0;
    if (torn != NULL) *torn = 0;
    if (fails(s, words, size)) return s->fail_status;
    if (k == NULL || (k->len == 0 && k->changes == 0))
        return say(PHI_NOT_FOUND, "no such thread", words, size);
    while (at < k->len) {
        const char *end = (const char *)memchr(k->text + at, '\n', k->len - at);
        phi_status status;
        if (end == NULL) break;
        status = seq >= from ? each(ctx, seq, phi__str(k->text + at, (size_t)(end - k->text) - at))
                             : PHI_OK;
        if (status != PHI_OK) return status;
        seq++;
        at = (size_t)(end - k->text) + 1;
    }
    if (torn != NULL) *torn = k->len - at;
    k->len = at;
    k->text[at] = '\0';
    return PHI_OK;
}

static phi_status mem_remove_thread(void *user, const char *id, char *words, size_t size) {
    return remove_any((store_mem *)user, id, true, words, size);
}

static phi_status mem_list_threads(void *user, phi_arena *arena, const phi_store_item **out,
                                   size_t *count, char *words, size_t size) {
    return list_any((store_mem *)user, NULL, true, arena, out, count, words, size);
}

static phi_status mem_lock(void *user, const char *id, char *words, size_t size) {
    store_mem *s = (store_mem *)user;
    kept *k;
    if (fails(s, words, size)) return s->fail_status;
    k = find_or_make(s, id, true);
    if (k->locked) return say(PHI_BUSY, "locked", words, size);
    k->locked = true;
    return PHI_OK;
}

static void mem_unlock(void *user, const char *id) {
    kept *k = find((store_mem *)user, id, true);
    if (k != NULL) k->locked = false;
}

/* ---- for tests ---- */

store_mem *store_mem_new(void) {
    store_mem *s = (store_mem *)calloc(1, sizeof *s);
    if (s == NULL) abort();
    s->fail_at = -1;
    s->room = SIZE_MAX;
    s->store.user_data = s;
    s->store.save = mem_save;
    s->store.load = mem_load;
    s->store.remove = mem_remove;
    s->store.list = mem_list;
    s->store.append = mem_append;
    s->store.read = mem_read;
    s->store.remove_thread = mem_remove_thread;
    s->store.list_threads = mem_list_threads;
    s->store.lock = mem_lock;
    s->store.unlock = mem_unlock;
    s->store.journal = phi_store_journal();
    return s;
}

void store_mem_free(store_mem *s) {
    while (s->first != NULL) {
        CHECK(!s->first->locked);
        drop(s, s->first);
    }
    free(s);
}

const phi_store *store_mem_store(store_mem *s) { return &s->store; }

void store_mem_fail_at(store_mem *s, int n, phi_status status) {
    s->fail_at = n;
    s->fail_status = status;
}

void store_mem_lie(store_mem *s) { s->lies = true; }

void store_mem_room(store_mem *s, size_t bytes) { s->room = bytes; }

const char *store_mem_text(store_mem *s, const char *id) {
    kept *k = find(s, id, true);
    return k != NULL && k->text != NULL ? k->text : "";
}

uint64_t store_mem_count(store_mem *s, const char *id) { return lines(find(s, id, true)); }

void store_mem_set(store_mem *s, const char *id, const char *text, size_t len) {
    kept *k = find_or_make(s, id, true);
    k->len = 0;
    put(s, k, text, len);
}

bool store_mem_locked(store_mem *s, const char *id) {
    kept *k = find(s, id, true);
    return k != NULL && k->locked;
}

size_t store_mem_appends(const store_mem *s, size_t *most_entries, size_t *most_bytes) {
    if (most_entries != NULL) *most_entries = s->most_entries;
    if (most_bytes != NULL) *most_bytes = s->most_bytes;
    return s->appends;
}
