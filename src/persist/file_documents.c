/* file_documents.c - documents of the file store: a temporary file, then a rename; and the lists.

   The temporary file has one name for each id, and is written under the id's lock: the rest that a
   killed process leaves is overwritten by the next save, and removed with the document. */
#include "persist/file_store_in.h"

#ifndef PHI_NO_FILES

#include "text/json_cursor_in.h"

#include <stdio.h>

#define PHI__FILE_STORE_AGENT_HEAD "{\"phi_agent_id\":"

/* The agent id in a document's first bytes; false: none. */
static bool phi__file_documents_agent_of(phi_str bytes, phi__json_text *out) {
    phi__json_cursor c;
    phi__json_text key;
    bytes.len = phi__min(bytes.len, PHI__FILE_STORE_HEAD);
    phi__json_cursor_init(&c, bytes);
    if (!phi__json_cursor_enter_object(&c)) return false;
    while (phi__json_cursor_next_key(&c, &key)) {
        if (phi__json_cursor_text_is(key, PHI__LIT("agent_id")))
            return phi__json_cursor_take_text(&c, out);
        (void)phi__json_cursor_skip(&c);
    }
    return false;
}

/* Bytes of the line that says the agent; 0: there is none. */
static size_t phi__file_documents_agent_head(phi_str bytes) {
    const char *end;
    if (!phi__str_starts(bytes, PHI__FILE_STORE_AGENT_HEAD)) return 0;
    end = (const char *)memchr(bytes.at, '\n', bytes.len);
    return end == NULL ? 0 : (size_t)(end - bytes.at) + 1;
}

static bool phi__file_documents_needs_head(phi_str bytes, phi_str agent) {
    phi__json_text told;
    if (phi__str_starts(bytes, PHI__FILE_STORE_AGENT_HEAD)) return true;
    if (!phi__file_documents_agent_of(bytes, &told)) return agent.len > 0;
    return !phi__json_cursor_text_is(told, agent);
}

static phi_status phi__file_documents_write_new(phi__file_store *fs, const char *temp,
                                                const char *path, phi_str head, phi_str bytes,
                                                phi__words *words) {
    const phi__disk *disk = &fs->disk;
    intptr_t file;
    phi_status closed, status = disk->open(disk->user_data, temp, PHI__DISK_FRESH, &file, words);
    if (status != PHI_OK) return status;
    status = phi__file_store_write(fs, file, 0, head, words);
    if (status == PHI_OK) status = phi__file_store_write(fs, file, head.len, bytes, words);
    if (status == PHI_OK && fs->sync) status = disk->sync(disk->user_data, file, words);
    closed = disk->close(disk->user_data, file, status == PHI_OK ? words : NULL);
    if (status == PHI_OK) status = closed;
    if (status == PHI_OK) status = disk->rename(disk->user_data, temp, path, words);
    if (status != PHI_OK) {
        (void)disk->remove(disk->user_data, temp, NULL);
        return status;
    }
    return fs->sync ? disk->sync_directory(disk->user_data, fs->directory, words) : PHI_OK;
}

PHI__FN phi_status phi__file_documents_save(void *user_data, const char *id, const char *agent_id,
                                            phi_str bytes, char *words, size_t words_size) {
    phi__file_store *fs = (phi__file_store *)user_data;
    phi__file_store_to to = phi__file_store_to_of(words, words_size);
    phi_str agent = phi_str_of(agent_id);
    phi_status status = phi__file_store_check_id(id, to);
    phi__file_store_path path, temp;
    phi__words said;
    phi__buf head;
    intptr_t lock;
    if (status != PHI_OK) return status;
    if (agent.len > PHI__FILE_STORE_HEAD / 8) {
        phi__file_store_say(to, "An agent's id is over 8,192 bytes");
        return PHI_BAD_ARG;
    }
    phi__buf_init(&head, &fs->memory);
    if (phi__file_documents_needs_head(bytes, agent)) {
        phi__buf_text(&head, PHI__FILE_STORE_AGENT_HEAD);
        phi__json_write_str(&head, agent);
        phi__buf_text(&head, "}\n");
    }
    status = head.failed ? phi__file_store_no_memory(to)
                         : phi__file_store_lock_take(fs, id, ".json", &lock, to);
    if (status == PHI_OK) {
        phi__file_store_path_of(fs, &path, "", id, ".json");
        phi__file_store_path_of(fs, &temp, ".", id, ".json.tmp");
        status = phi__file_documents_write_new(fs, temp.text, path.text, phi__buf_str(&head), bytes,
                                               &said);
        phi__file_store_lock_drop(fs, id, ".json", lock);
        if (status != PHI_OK)
            (void)phi__file_store_refuse(to, status == PHI_NOT_FOUND ? PHI_IO : status, "save", id,
                                         ".json", &said);
    }
    phi__buf_free(&head);
    return status == PHI_NOT_FOUND ? PHI_IO : status;
}

/* The file's first bytes, at most `limit` of them, in the arena. */
static phi_status phi__file_documents_read(phi__file_store *fs, intptr_t file, uint64_t limit,
                                           phi_arena *arena, phi_str *out, phi__words *words) {
    const phi__disk *disk = &fs->disk;
    phi__disk_info info;
    size_t n, at = 0, got;
    char *bytes;
    phi_status status = disk->info(disk->user_data, file, &info, words);
    if (status != PHI_OK) return status;
    if (info.bytes < limit) limit = info.bytes;
    n = limit >= SIZE_MAX ? SIZE_MAX - 1 : (size_t)limit;
    bytes = phi__arena_bytes(arena, n + 1);
    if (bytes == NULL) {
        (void)snprintf(words->text, sizeof words->text, "no memory for %llu bytes",
                       (unsigned long long)limit);
        return PHI_NO_MEMORY;
    }
    while (at < n) {
        status = disk->read(disk->user_data, file, at, bytes + at, n - at, &got, words);
        if (status != PHI_OK) return status;
        if (got == 0) break;
        at += got;
    }
    bytes[at] = '\0';
    *out = phi__str(bytes, at);
    return PHI_OK;
}

PHI__FN phi_status phi__file_documents_load(void *user_data, const char *id, phi_arena *arena,
                                            phi_str *out, char *words, size_t words_size) {
    phi__file_store *fs = (phi__file_store *)user_data;
    phi__file_store_to to = phi__file_store_to_of(words, words_size);
    phi_arena_mark mark = phi_arena_save(arena);
    phi_str all = {NULL, 0};
    phi__file_store_path path;
    phi__words said;
    intptr_t file;
    size_t head;
    phi_status status = phi__file_store_check_id(id, to);
    if (status != PHI_OK) return status;
    phi__file_store_path_of(fs, &path, "", id, ".json");
    status = fs->disk.open(fs->disk.user_data, path.text, PHI__DISK_READ, &file, &said);
    if (status == PHI_NOT_FOUND) {
        phi__file_store_say(to, "Session not found: %s", id);
        return status;
    }
    if (status == PHI_OK) {
        status = phi__file_documents_read(fs, file, UINT64_MAX, arena, &all, &said);
        (void)fs->disk.close(fs->disk.user_data, file, NULL);
    }
    if (status != PHI_OK) {
        phi_arena_reset(arena, mark);
        return phi__file_store_refuse(to, status, "load", id, ".json", &said);
    }
    head = phi__file_documents_agent_head(all);
    *out = phi__str(all.at + head, all.len - head);
    return PHI_OK;
}

PHI__FN phi_status phi__file_documents_remove(void *user_data, const char *id, char *words,
                                              size_t words_size) {
    phi__file_store *fs = (phi__file_store *)user_data;
    const phi__disk *disk = &fs->disk;
    phi__file_store_to to = phi__file_store_to_of(words, words_size);
    phi__file_store_path path, temp;
    phi__disk_info info;
    phi__words said;
    intptr_t lock;
    phi_status status = phi__file_store_check_id(id, to);
    if (status != PHI_OK) return status;
    phi__file_store_path_of(fs, &path, "", id, ".json");
    phi__file_store_path_of(fs, &temp, ".", id, ".json.tmp");
    status = disk->info_of(disk->user_data, path.text, &info, &said);
    if (status == PHI_OK) {
        status = phi__file_store_lock_take(fs, id, ".json", &lock, to);
        if (status != PHI_OK) return status;
        (void)disk->remove(disk->user_data, temp.text, NULL);
        status = disk->remove(disk->user_data, path.text, &said);
        if (status == PHI_OK && fs->sync)
            status = disk->sync_directory(disk->user_data, fs->directory, &said);
        phi__file_store_lock_drop(fs, id, ".json", lock);
    }
    if (status == PHI_NOT_FOUND)
        phi__file_store_say(to, "Session not found: %s", id);
    else if (status != PHI_OK)
        (void)phi__file_store_refuse(to, status, "remove", id, ".json", &said);
    return status;
}

/* ---- lists ---- */

typedef struct phi__file_store_node {
    struct phi__file_store_node *next;
    phi_store_item item;
    int64_t changed_ns;
} phi__file_store_node;

typedef struct phi__file_store_listing {
    phi__file_store *fs;
    phi_arena *arena;
    const char *suffix, *agent; /* agent NULL: all */
    phi__file_store_node *first;
    size_t count;
    phi__words *words;
} phi__file_store_listing;

/* The agent of a document, and how many of its bytes are a head. PHI_NOT_FOUND: it is gone. */
static phi_status phi__file_documents_look(phi__file_store_listing *l, const char *path,
                                           phi_store_item *item) {
    const phi__disk *disk = &l->fs->disk;
    phi_arena scratch;
    phi__json_text told;
    phi_str head = {NULL, 0};
    size_t skip;
    intptr_t file;
    phi_status status = disk->open(disk->user_data, path, PHI__DISK_READ, &file, l->words);
    if (status != PHI_OK) return status;
    phi_arena_init(&scratch, &l->fs->memory, 0);
    status = phi__file_documents_read(l->fs, file, PHI__FILE_STORE_HEAD, &scratch, &head, l->words);
    (void)disk->close(disk->user_data, file, NULL);
    if (status == PHI_OK) {
        phi__json_cursor c;
        bool has;
        skip = phi__file_documents_agent_head(head);
        item->bytes -= skip < item->bytes ? skip : item->bytes;
        phi__json_cursor_init(&c, phi__str(head.at, skip));
        if (skip > 0)
            has = phi__json_cursor_enter_object(&c) && phi__json_cursor_next_key(&c, &told) &&
                  phi__json_cursor_take_text(&c, &told);
        else
            has = phi__file_documents_agent_of(head, &told);
        if (has && !phi__json_cursor_unescape_arena(l->arena, told, &item->agent_id))
            status = PHI_NO_MEMORY;
    }
    phi_arena_free(&scratch);
    return status;
}

static phi_status phi__file_documents_list_one(void *ctx, const char *name) {
    phi__file_store_listing *l = (phi__file_store_listing *)ctx;
    size_t n = strlen(name), m = strlen(l->suffix);
    phi_arena_mark mark = phi_arena_save(l->arena);
    char id[PHI__FILE_STORE_ID + 1];
    phi__disk_info info;
    phi__file_store_path path;
    phi__file_store_node *node;
    phi_status status;
    if (n <= m || n - m > PHI__FILE_STORE_ID || memcmp(name + n - m, l->suffix, m) != 0)
        return PHI_OK;
    memcpy(id, name, n - m);
    id[n - m] = '\0';
    if (phi__file_store_check_id(id, phi__file_store_to_of(NULL, 0)) != PHI_OK) return PHI_OK;
    phi__file_store_path_of(l->fs, &path, "", id, l->suffix);
    status = l->fs->disk.info_of(l->fs->disk.user_data, path.text, &info, l->words);
    if (status == PHI_NOT_FOUND || (status == PHI_OK && !info.regular)) return PHI_OK;
    if (status != PHI_OK) return status;
    node = (phi__file_store_node *)phi__arena_zero(l->arena, sizeof *node);
    if (node == NULL || !phi__arena_str(l->arena, phi__str(id, n - m), &node->item.id))
        return PHI_NO_MEMORY;
    node->item.agent_id = PHI__LIT("");
    node->item.changed_ms = info.changed_ns / 1000000;
    node->item.bytes = info.bytes;
    node->changed_ns = info.changed_ns;
    if (m > 5) /* ".jsonl" */
        status = info.bytes > PHI__FILE_STORE_HEADER ? PHI_OK : PHI_NOT_FOUND;
    else
        status = phi__file_documents_look(l, path.text, &node->item);
    if (status == PHI_OK && l->agent != NULL && !phi__str_is(node->item.agent_id, l->agent))
        status = PHI_NOT_FOUND;
    if (status != PHI_OK) {
        phi_arena_reset(l->arena, mark);
        return status == PHI_NOT_FOUND ? PHI_OK : status;
    }
    node->next = l->first;
    l->first = node;
    l->count++;
    return PHI_OK;
}

/* The latest first; of the same time, by id. */
static bool phi__file_documents_before(const phi__file_store_node *a,
                                       const phi__file_store_node *b) {
    size_t n = phi__min(a->item.id.len, b->item.id.len);
    int order;
    if (a->changed_ns != b->changed_ns) return a->changed_ns > b->changed_ns;
    order = memcmp(a->item.id.at, b->item.id.at, n);
    return order < 0 || (order == 0 && a->item.id.len < b->item.id.len);
}

static phi__file_store_node *phi__file_documents_merge(phi__file_store_node *a,
                                                       phi__file_store_node *b) {
    phi__file_store_node *first = NULL, **end = &first;
    while (a != NULL && b != NULL) {
        phi__file_store_node **from = phi__file_documents_before(b, a) ? &b : &a;
        *end = *from;
        end = &(*from)->next;
        *from = *end;
    }
    *end = a != NULL ? a : b;
    return first;
}

/* Runs of 1, 2, 4, ... nodes, each in its place, as a counter in binary. */
static phi__file_store_node *phi__file_documents_sorted(phi__file_store_node *list) {
    phi__file_store_node *runs[64];
    phi__file_store_node *all = NULL;
    size_t i;
    memset((void *)runs, 0, sizeof runs);
    while (list != NULL) {
        phi__file_store_node *run = list;
        list = list->next;
        run->next = NULL;
        for (i = 0; runs[i] != NULL; i++) {
            run = phi__file_documents_merge(runs[i], run);
            runs[i] = NULL;
        }
        runs[i] = run;
    }
    for (i = 0; i < PHI__COUNT(runs); i++) all = phi__file_documents_merge(runs[i], all);
    return all;
}

static phi_status phi__file_documents_list_all(phi__file_store *fs, const char *suffix,
                                               const char *agent, phi_arena *arena,
                                               const phi_store_item **out, size_t *count,
                                               phi__file_store_to to) {
    phi_arena_mark mark = phi_arena_save(arena);
    phi_store_item *items = NULL;
    phi__file_store_listing l;
    phi__file_store_node *node;
    phi__words said;
    phi_status status;
    size_t i = 0;
    memset(&l, 0, sizeof l);
    said.text[0] = '\0';
    l.fs = fs;
    l.arena = arena;
    l.suffix = suffix;
    l.agent = agent;
    l.words = &said;
    *out = NULL;
    *count = 0;
    status =
        fs->disk.list(fs->disk.user_data, fs->directory, phi__file_documents_list_one, &l, &said);
    if (status == PHI_NOT_FOUND) status = PHI_OK; /* there is no directory yet */
    if (status == PHI_OK && l.count > 0) {
        items = (phi_store_item *)phi_arena_alloc(arena, phi__mul(l.count, sizeof *items));
        if (items == NULL) status = PHI_NO_MEMORY;
    }
    if (status != PHI_OK) {
        phi_arena_reset(arena, mark);
        if (status == PHI_NO_MEMORY) return phi__file_store_no_memory(to);
        return phi__file_store_refuse(to, status, "list", fs->directory, "", &said);
    }
    for (node = phi__file_documents_sorted(l.first); node != NULL; node = node->next)
        items[i++] = node->item;
    *out = items;
    *count = l.count;
    return PHI_OK;
}

PHI__FN phi_status phi__file_documents_list(void *user_data, const char *agent_id, phi_arena *arena,
                                            const phi_store_item **out, size_t *count, char *words,
                                            size_t words_size) {
    return phi__file_documents_list_all((phi__file_store *)user_data, ".json", agent_id, arena, out,
                                        count, phi__file_store_to_of(words, words_size));
}

PHI__FN phi_status phi__file_documents_list_threads(void *user_data, phi_arena *arena,
                                                    const phi_store_item **out, size_t *count,
                                                    char *words, size_t words_size) {
    return phi__file_documents_list_all((phi__file_store *)user_data, ".jsonl", NULL, arena, out,
                                        count, phi__file_store_to_of(words, words_size));
}

#endif
