/* file_store.c - the file store: documents and threads as files in a directory. */
#include "persist/journal_in.h"

#ifndef PHI_NO_FILES

#include <stdarg.h>
#include <stdio.h>

enum {
    PHI__FILE_STORE_ID = 128,    /* bytes of a document's or thread's id */
    PHI__FILE_STORE_NAME = 160,  /* bytes of a file's name: an id with its prefix and suffix */
    PHI__FILE_STORE_HEADER = 34, /* bytes of a thread's first line, the header */
    PHI__FILE_STORE_HEAD = 65536 /* bytes of a document that are searched for its agent's id */
};

/* The end of the last whole group of lines in a thread's file, and which file it was. */
typedef struct phi__store_tail {
    bool known;
    uint64_t count, end; /* number of entries; bytes of header and entries */
    uint64_t device, file;
} phi__store_tail;

/* A thread whose lock this store holds. */
typedef struct phi__store_held {
    char id[PHI__FILE_STORE_ID + 1];
    intptr_t lock;
    phi__store_tail tail;
} phi__store_held;

typedef struct phi__file_store {
    phi_memory memory;
    phi__disk disk;
    bool sync;
    char *directory; /* terminated */
    size_t directory_bytes;
    phi__store_held *held;
    size_t held_count, held_cap;
} phi__file_store;

/* The caller's buffer for an error message. */
typedef struct phi__store_to {
    char *words; /* NULL: the caller wants no message */
    size_t size;
} phi__store_to;

typedef struct phi__store_path {
    char text[PHI__PATH_BYTES];
} phi__store_path;

/* A parsed line of a thread's file. */
typedef struct phi__file_line {
    uint64_t seq, first, last; /* seq of the entry; first and last seq of the entry's group */
    phi_str entry;
} phi__file_line;

/* ---- messages, paths and locks ---- */

/* A lock is a flock on a separate file, never on the data file: a save replaces a document by a
   rename, and a lock on the old file says nothing about the new one.
   The lock file of a document is never removed, because the Rust original uses it too. That program
   opens the lock file and then waits for the lock. If the file were removed, it would wait on the
   removed file while another writer makes a new one.
   The lock file of a thread, which only phi uses, is removed before it is unlocked. A writer that
   gets a lock therefore checks that the name still belongs to the locked file. */

/* An attempt fails if another writer locks and unlocks meanwhile. */
enum { PHI__FILE_STORE_LOCK_TRIES = 64 };

/* Empties the caller's buffer, and returns it as a struct. */
static phi__store_to phi__store_to_of(char *words, size_t size) {
    phi__store_to to;
    to.words = size > 0 ? words : NULL;
    to.size = size;
    if (to.words != NULL) to.words[0] = '\0';
    return to;
}

static void phi__store_say(phi__store_to to, const char *format, ...) {
    va_list args;
    if (to.words == NULL) return;
    va_start(args, format);
    (void)vsnprintf(to.words, to.size, format, args);
    va_end(args);
}

/* Writes "Cannot {what} {id}{suffix}: {the system's message}" and returns `status`. */
static phi_status phi__store_refuse(phi__store_to to, phi_status status, const char *what,
                                    const char *id, const char *suffix, const phi__words *words) {
    phi__store_say(to, "Cannot %s %s%s: %s", what, id, suffix, words->text);
    return status;
}

static phi_status phi__store_no_memory(phi__store_to to) {
    phi__store_say(to, "The store has no memory");
    return PHI_NO_MEMORY;
}

static phi_status phi__store_check_id(const char *id, phi__store_to to) {
    if (phi__journal_id_fits(id)) return PHI_OK;
    phi__store_say(
        to, "\"%.80s\" is no id: 1 to 128 letters, digits, '.', '_' and '-', the first no '.'",
        id == NULL ? "" : id);
    return PHI_BAD_ARG;
}

static void phi__store_path_of(const phi__file_store *fs, phi__store_path *out, const char *prefix,
                               const char *id, const char *suffix) {
    (void)snprintf(out->text, sizeof out->text, "%s/%s%s%s", fs->directory, prefix, id, suffix);
}

/* ---- locks ---- */

/* Makes the directory and its parents. With fs->sync, also syncs the directories that contain their
   names. */
static phi_status phi__store_make_room(phi__file_store *fs, phi__words *words) {
    const phi__disk *disk = &fs->disk;
    phi_status status = disk->make_directories(disk->user_data, fs->directory, words);
    phi__store_path path;
    if (!fs->sync) return status;
    (void)snprintf(path.text, sizeof path.text, "%s", fs->directory);
    for (size_t i = strlen(path.text); status == PHI_OK && i > 1; i--) {
        if (!phi__path_is_slash(path.text[i])) continue;
        path.text[i] = '\0';
        /* Parents of other users may not be readable, so errors are ignored. */
        (void)disk->sync_directory(disk->user_data, path.text, words);
    }
    return status;
}

static const char *phi__store_kind(const char *suffix) {
    return strcmp(suffix, ".json") == 0 ? "Session" : "Thread";
}

/* Returns PHI_STALE if the path no longer names the file that was locked. */
static phi_status phi__store_lock_once(phi__file_store *fs, const char *path, intptr_t *out,
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

/* Takes the lock {id}{suffix}.lock. Makes the lock file and its directory if they do not exist. */
static phi_status phi__store_lock_take(phi__file_store *fs, const char *id, const char *suffix,
                                       intptr_t *out, phi__store_to to) {
    phi__store_path path;
    phi__words words;
    phi_status status = PHI_STALE;
    bool made = false;
    char name[PHI__FILE_STORE_NAME];
    (void)snprintf(name, sizeof name, "%s.lock", suffix);
    phi__store_path_of(fs, &path, "", id, name);
    for (int i = 0; i < PHI__FILE_STORE_LOCK_TRIES && status == PHI_STALE; i++) {
        status = phi__store_lock_once(fs, path.text, out, &words);
        if (status != PHI_NOT_FOUND || made) continue;
        made = true;
        status = phi__store_make_room(fs, &words);
        if (status == PHI_OK) status = PHI_STALE;
    }
    if (status == PHI_OK) return PHI_OK;
    if (status != PHI_BUSY && status != PHI_STALE)
        return phi__store_refuse(to, status, "lock", id, suffix, &words);
    phi__store_say(to, "%s %s is locked by another writer", phi__store_kind(suffix), id);
    return PHI_BUSY;
}

static void phi__store_lock_drop(phi__file_store *fs, const char *id, const char *suffix,
                                 intptr_t lock) {
    phi__store_path path;
    char name[PHI__FILE_STORE_NAME];
    (void)snprintf(name, sizeof name, "%s.lock", suffix);
    phi__store_path_of(fs, &path, "", id, name);
    if (strcmp(suffix, ".json") != 0) (void)fs->disk.remove(fs->disk.user_data, path.text, NULL);
    (void)fs->disk.close(fs->disk.user_data, lock, NULL);
}

/* Returns NULL if this store does not hold the thread's lock. */
static phi__store_held *phi__store_find(const phi__file_store *fs, const char *thread_id) {
    for (size_t i = 0; i < fs->held_count; i++)
        if (strcmp(fs->held[i].id, thread_id) == 0) return &fs->held[i];
    return NULL;
}

/* Writes all bytes at offset `at`. */
static phi_status phi__store_write(phi__file_store *fs, intptr_t file, uint64_t at, phi_str bytes,
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

/* ---- one line of a thread's file: its check value, its number, its entry ---- */

enum { PHI__FILE_LINES_CRC = 18 }; /* length of {"crc":"xxxxxxxx", */

/* Computes the check value of a line, as eight hex digits. */
static void phi__line_digits(const char *line, size_t len, char *out) {
    static const char digits[] = "0123456789abcdef";
    uint32_t crc = phi__crc32(0, line + PHI__FILE_LINES_CRC, len - PHI__FILE_LINES_CRC);
    for (int i = 0; i < 8; i++) out[i] = digits[crc >> (28 - 4 * i) & 15];
}

/* Fills in the check value of the line that begins at `from`, and appends a line break. */
static void phi__line_seal(phi__buf *out, size_t from) {
    if (out->failed) return;
    phi__line_digits(out->at + from, out->len - from, out->at + from + 8);
    phi__buf_char(out, '\n');
}

static void phi__line_put_header(phi__buf *out) {
    size_t from = out->len;
    phi__buf_text(out, "{\"crc\":\"00000000\",\"phi_thread\":1}");
    phi__line_seal(out, from);
}

/* True if the line's check value matches its bytes. */
static bool phi__line_checks(phi_str line) {
    char digits[8];
    if (line.len <= PHI__FILE_LINES_CRC || memcmp(line.at, "{\"crc\":\"", 8) != 0 ||
        memcmp(line.at + 16, "\",", 2) != 0)
        return false;
    phi__line_digits(line.at, line.len, digits);
    return memcmp(line.at + 8, digits, 8) == 0;
}

static bool phi__line_word(phi_str *rest, const char *word) {
    size_t n = strlen(word);
    if (rest->len < n || memcmp(rest->at, word, n) != 0) return false;
    *rest = phi__str(rest->at + n, rest->len - n);
    return true;
}

static bool phi__line_number(phi_str *rest, uint64_t *out) {
    size_t n = 0;
    while (n < rest->len && rest->at[n] >= '0' && rest->at[n] <= '9') n++;
    if (!phi__str_to_u64(phi__str(rest->at, n), out)) return false;
    *rest = phi__str(rest->at + n, rest->len - n);
    return true;
}

/* Parses a line whose check value is right. */
static bool phi__line_parse(phi_str line, phi__file_line *out) {
    phi_str rest = phi__str(line.at + PHI__FILE_LINES_CRC, line.len - PHI__FILE_LINES_CRC);
    if (!phi__line_word(&rest, "\"seq\":") || !phi__line_number(&rest, &out->seq)) return false;
    out->first = out->last = out->seq;
    if (phi__line_word(&rest, ",\"of\":[") &&
        !(phi__line_number(&rest, &out->first) && phi__line_word(&rest, ",") &&
          phi__line_number(&rest, &out->last) && phi__line_word(&rest, "]")))
        return false;
    if (!phi__line_word(&rest, ",\"e\":") || rest.len < 2 || rest.at[rest.len - 1] != '}')
        return false;
    out->entry = phi__str(rest.at, rest.len - 1);
    return out->first <= out->seq && out->seq <= out->last;
}

static bool phi__line_read(phi_str line, phi__file_line *out) {
    return phi__line_checks(line) && phi__line_parse(line, out);
}

/* ---- documents of the file store: a temporary file, then a rename; and the lists ---- */

/* Each id has one temporary file, written under the id's lock. If a process dies, the next save
   overwrites this file, and a removal of the document removes it. */

#define PHI__FILE_STORE_AGENT_HEAD "{\"phi_agent_id\":"

/* Finds the agent's id in a document's first bytes. False if there is none. */
static bool phi__doc_agent_of(phi_str bytes, phi__json_text *out) {
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

/* Returns the bytes of the extra first line with the agent's id; 0 if there is no such line. */
static size_t phi__doc_agent_head(phi_str bytes) {
    if (!phi__str_starts(bytes, PHI__FILE_STORE_AGENT_HEAD)) return 0;
    const char *end = (const char *)memchr(bytes.at, '\n', bytes.len);
    return end == NULL ? 0 : (size_t)(end - bytes.at) + 1;
}

static bool phi__doc_needs_head(phi_str bytes, phi_str agent) {
    phi__json_text told;
    if (phi__str_starts(bytes, PHI__FILE_STORE_AGENT_HEAD)) return true;
    if (!phi__doc_agent_of(bytes, &told)) return agent.len > 0;
    return !phi__json_cursor_text_is(told, agent);
}

static phi_status phi__doc_write_new(phi__file_store *fs, const char *temp, const char *path,
                                     phi_str head, phi_str bytes, phi__words *words) {
    const phi__disk *disk = &fs->disk;
    intptr_t file;
    phi_status status = disk->open(disk->user_data, temp, PHI__DISK_FRESH, &file, words);
    if (status != PHI_OK) return status;
    status = phi__store_write(fs, file, 0, head, words);
    if (status == PHI_OK) status = phi__store_write(fs, file, head.len, bytes, words);
    if (status == PHI_OK && fs->sync) status = disk->sync(disk->user_data, file, words);
    phi_status closed = disk->close(disk->user_data, file, status == PHI_OK ? words : NULL);
    if (status == PHI_OK) status = closed;
    if (status == PHI_OK) status = disk->rename(disk->user_data, temp, path, words);
    if (status != PHI_OK) {
        (void)disk->remove(disk->user_data, temp, NULL);
        return status;
    }
    return fs->sync ? disk->sync_directory(disk->user_data, fs->directory, words) : PHI_OK;
}

static phi_status phi__doc_save(void *user_data, const char *id, const char *agent_id,
                                phi_str bytes, char *words, size_t words_size) {
    phi__file_store *fs = (phi__file_store *)user_data;
    phi__store_to to = phi__store_to_of(words, words_size);
    phi_str agent = phi_str_of(agent_id);
    phi_status status = phi__store_check_id(id, to);
    phi__store_path path, temp;
    phi__words said;
    phi__buf head;
    intptr_t lock;
    if (status != PHI_OK) return status;
    if (agent.len > PHI__FILE_STORE_HEAD / 8) {
        phi__store_say(to, "An agent's id is over 8,192 bytes");
        return PHI_BAD_ARG;
    }
    phi__buf_init(&head, &fs->memory);
    if (phi__doc_needs_head(bytes, agent)) {
        phi__buf_text(&head, PHI__FILE_STORE_AGENT_HEAD);
        phi__json_write_str(&head, agent);
        phi__buf_text(&head, "}\n");
    }
    status =
        head.failed ? phi__store_no_memory(to) : phi__store_lock_take(fs, id, ".json", &lock, to);
    if (status == PHI_OK) {
        phi__store_path_of(fs, &path, "", id, ".json");
        phi__store_path_of(fs, &temp, ".", id, ".json.tmp");
        status = phi__doc_write_new(fs, temp.text, path.text, phi__buf_str(&head), bytes, &said);
        phi__store_lock_drop(fs, id, ".json", lock);
        if (status != PHI_OK)
            (void)phi__store_refuse(to, status == PHI_NOT_FOUND ? PHI_IO : status, "save", id,
                                    ".json", &said);
    }
    phi__buf_free(&head);
    return status == PHI_NOT_FOUND ? PHI_IO : status;
}

/* Reads at most the first `limit` bytes of a file into the arena. */
static phi_status phi__doc_read(phi__file_store *fs, intptr_t file, uint64_t limit,
                                phi_arena *arena, phi_str *out, phi__words *words) {
    const phi__disk *disk = &fs->disk;
    phi__disk_info info;
    size_t at = 0, got;
    phi_status status = disk->info(disk->user_data, file, &info, words);
    if (status != PHI_OK) return status;
    if (info.bytes < limit) limit = info.bytes;
    size_t n = limit >= SIZE_MAX ? SIZE_MAX - 1 : (size_t)limit;
    char *bytes = phi__arena_bytes(arena, n + 1);
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

static phi_status phi__doc_load(void *user_data, const char *id, phi_arena *arena, phi_str *out,
                                char *words, size_t words_size) {
    phi__file_store *fs = (phi__file_store *)user_data;
    phi__store_to to = phi__store_to_of(words, words_size);
    phi_arena_mark mark = phi_arena_save(arena);
    phi_str all = {NULL, 0};
    phi__store_path path;
    phi__words said;
    intptr_t file;
    phi_status status = phi__store_check_id(id, to);
    if (status != PHI_OK) return status;
    phi__store_path_of(fs, &path, "", id, ".json");
    status = fs->disk.open(fs->disk.user_data, path.text, PHI__DISK_READ, &file, &said);
    if (status == PHI_NOT_FOUND) {
        phi__store_say(to, "Session not found: %s", id);
        return status;
    }
    if (status == PHI_OK) {
        status = phi__doc_read(fs, file, UINT64_MAX, arena, &all, &said);
        (void)fs->disk.close(fs->disk.user_data, file, NULL);
    }
    if (status != PHI_OK) {
        phi_arena_reset(arena, mark);
        return phi__store_refuse(to, status, "load", id, ".json", &said);
    }
    size_t head = phi__doc_agent_head(all);
    *out = phi__str(all.at + head, all.len - head);
    return PHI_OK;
}

/* Locks and removes a document or a thread. */
static phi_status phi__store_remove(phi__file_store *fs, const char *id, const char *suffix,
                                    phi__store_to to) {
    const phi__disk *disk = &fs->disk;
    bool document = strcmp(suffix, ".json") == 0;
    phi__store_held *held = NULL;
    phi__store_path path, temp;
    phi__disk_info info;
    phi__words said;
    intptr_t lock = -1;
    phi_status status = phi__store_check_id(id, to);
    if (status != PHI_OK) return status;
    if (!document) held = phi__store_find(fs, id);
    phi__store_path_of(fs, &path, "", id, suffix);
    phi__store_path_of(fs, &temp, ".", id, ".json.tmp");
    status = disk->info_of(disk->user_data, path.text, &info, &said);
    if (status == PHI_OK) {
        if (held == NULL) status = phi__store_lock_take(fs, id, suffix, &lock, to);
        if (status != PHI_OK) return status;
        if (document) (void)disk->remove(disk->user_data, temp.text, NULL);
        status = disk->remove(disk->user_data, path.text, &said);
        if (status == PHI_OK && fs->sync)
            status = disk->sync_directory(disk->user_data, fs->directory, &said);
        if (held == NULL) phi__store_lock_drop(fs, id, suffix, lock);
    }
    if (held != NULL) held->tail.known = false;
    if (status == PHI_NOT_FOUND)
        phi__store_say(to, "%s not found: %s", phi__store_kind(suffix), id);
    else if (status != PHI_OK)
        (void)phi__store_refuse(to, status, "remove", id, suffix, &said);
    return status;
}

static phi_status phi__doc_remove(void *user_data, const char *id, char *words, size_t words_size) {
    return phi__store_remove((phi__file_store *)user_data, id, ".json",
                             phi__store_to_of(words, words_size));
}

static phi_status phi__tfile_remove(void *user_data, const char *thread_id, char *words,
                                    size_t words_size) {
    return phi__store_remove((phi__file_store *)user_data, thread_id, ".jsonl",
                             phi__store_to_of(words, words_size));
}

/* ---- lists ---- */

typedef struct phi__store_node {
    struct phi__store_node *next;
    phi_store_item item;
    int64_t changed_ns;
} phi__store_node;

typedef struct phi__store_listing {
    phi__file_store *fs;
    phi_arena *arena;
    const char *suffix, *agent; /* agent NULL: the documents of all agents */
    phi__store_node *first;
    size_t count;
    phi__words *words;
} phi__store_listing;

/* Finds a document's agent, and subtracts the extra first line from item->bytes. PHI_NOT_FOUND: the
   document was removed meanwhile. */
static phi_status phi__doc_look(phi__store_listing *l, const char *path, phi_store_item *item) {
    const phi__disk *disk = &l->fs->disk;
    phi_arena scratch;
    phi__json_text told;
    phi_str head = {NULL, 0};
    intptr_t file;
    phi_status status = disk->open(disk->user_data, path, PHI__DISK_READ, &file, l->words);
    if (status != PHI_OK) return status;
    phi_arena_init(&scratch, &l->fs->memory, 0);
    status = phi__doc_read(l->fs, file, PHI__FILE_STORE_HEAD, &scratch, &head, l->words);
    (void)disk->close(disk->user_data, file, NULL);
    if (status == PHI_OK) {
        phi__json_cursor c;
        bool has;
        size_t skip = phi__doc_agent_head(head);
        item->bytes -= skip < item->bytes ? skip : item->bytes;
        phi__json_cursor_init(&c, phi__str(head.at, skip));
        if (skip > 0)
            has = phi__json_cursor_enter_object(&c) && phi__json_cursor_next_key(&c, &told) &&
                  phi__json_cursor_take_text(&c, &told);
        else
            has = phi__doc_agent_of(head, &told);
        if (has && !phi__json_cursor_unescape_arena(l->arena, told, &item->agent_id))
            status = PHI_NO_MEMORY;
    }
    phi_arena_free(&scratch);
    return status;
}

static phi_status phi__doc_list_one(void *ctx, const char *name) {
    phi__store_listing *l = (phi__store_listing *)ctx;
    size_t n = strlen(name), m = strlen(l->suffix);
    phi_arena_mark mark = phi_arena_save(l->arena);
    char id[PHI__FILE_STORE_ID + 1];
    phi__disk_info info;
    phi__store_path path;
    if (n <= m || n - m > PHI__FILE_STORE_ID || memcmp(name + n - m, l->suffix, m) != 0)
        return PHI_OK;
    memcpy(id, name, n - m);
    id[n - m] = '\0';
    if (phi__store_check_id(id, phi__store_to_of(NULL, 0)) != PHI_OK) return PHI_OK;
    phi__store_path_of(l->fs, &path, "", id, l->suffix);
    phi_status status = l->fs->disk.info_of(l->fs->disk.user_data, path.text, &info, l->words);
    if (status == PHI_NOT_FOUND || (status == PHI_OK && !info.regular)) return PHI_OK;
    if (status != PHI_OK) return status;
    phi__store_node *node = (phi__store_node *)phi__arena_zero(l->arena, sizeof *node);
    if (node == NULL || !phi__arena_str(l->arena, phi__str(id, n - m), &node->item.id))
        return PHI_NO_MEMORY;
    node->item.agent_id = PHI__LIT("");
    node->item.changed_ms = info.changed_ns / 1000000;
    node->item.bytes = info.bytes;
    node->changed_ns = info.changed_ns;
    if (m > 5) /* a thread's suffix, ".jsonl", is longer than ".json" */
        status = info.bytes > PHI__FILE_STORE_HEADER ? PHI_OK : PHI_NOT_FOUND;
    else
        status = phi__doc_look(l, path.text, &node->item);
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

/* Orders by the time of change, latest first, then by id. */
static bool phi__doc_before(const phi__store_node *a, const phi__store_node *b) {
    size_t n = phi__min(a->item.id.len, b->item.id.len);
    if (a->changed_ns != b->changed_ns) return a->changed_ns > b->changed_ns;
    int order = memcmp(a->item.id.at, b->item.id.at, n);
    return order < 0 || (order == 0 && a->item.id.len < b->item.id.len);
}

static phi__store_node *phi__doc_merge(phi__store_node *a, phi__store_node *b) {
    phi__store_node *first = NULL, **end = &first;
    while (a != NULL && b != NULL) {
        phi__store_node **from = phi__doc_before(b, a) ? &b : &a;
        *end = *from;
        end = &(*from)->next;
        *from = *end;
    }
    *end = a != NULL ? a : b;
    return first;
}

/* A merge sort. runs[i] is empty or a sorted list of 2^i nodes, like bit i of a counter. */
static phi__store_node *phi__doc_sorted(phi__store_node *list) {
    phi__store_node *runs[64];
    phi__store_node *all = NULL;
    size_t i;
    memset((void *)runs, 0, sizeof runs);
    while (list != NULL) {
        phi__store_node *run = list;
        list = list->next;
        run->next = NULL;
        for (i = 0; runs[i] != NULL; i++) {
            run = phi__doc_merge(runs[i], run);
            runs[i] = NULL;
        }
        runs[i] = run;
    }
    for (i = 0; i < PHI__COUNT(runs); i++) all = phi__doc_merge(runs[i], all);
    return all;
}

static phi_status phi__doc_list_all(phi__file_store *fs, const char *suffix, const char *agent,
                                    phi_arena *arena, const phi_store_item **out, size_t *count,
                                    phi__store_to to) {
    phi_arena_mark mark = phi_arena_save(arena);
    phi_store_item *items = NULL;
    phi__words said;
    size_t i = 0;
    phi__store_listing l = PHI_ZERO;
    said.text[0] = '\0';
    l.fs = fs;
    l.arena = arena;
    l.suffix = suffix;
    l.agent = agent;
    l.words = &said;
    *out = NULL;
    *count = 0;
    phi_status status =
        fs->disk.list(fs->disk.user_data, fs->directory, phi__doc_list_one, &l, &said);
    if (status == PHI_NOT_FOUND) status = PHI_OK; /* the directory does not exist yet */
    if (status == PHI_OK && l.count > 0) {
        items = (phi_store_item *)phi_arena_alloc(arena, phi__mul(l.count, sizeof *items));
        if (items == NULL) status = PHI_NO_MEMORY;
    }
    if (status != PHI_OK) {
        phi_arena_reset(arena, mark);
        if (status == PHI_NO_MEMORY) return phi__store_no_memory(to);
        return phi__store_refuse(to, status, "list", fs->directory, "", &said);
    }
    for (phi__store_node *node = phi__doc_sorted(l.first); node != NULL; node = node->next)
        items[i++] = node->item;
    *out = items;
    *count = l.count;
    return PHI_OK;
}

static phi_status phi__doc_list(void *user_data, const char *agent_id, phi_arena *arena,
                                const phi_store_item **out, size_t *count, char *words,
                                size_t words_size) {
    return phi__doc_list_all((phi__file_store *)user_data, ".json", agent_id, arena, out, count,
                             phi__store_to_of(words, words_size));
}

static phi_status phi__doc_list_threads(void *user_data, phi_arena *arena,
                                        const phi_store_item **out, size_t *count, char *words,
                                        size_t words_size) {
    return phi__doc_list_all((phi__file_store *)user_data, ".jsonl", NULL, arena, out, count,
                             phi__store_to_of(words, words_size));
}

/* ---- threads of the file store: one line for each entry, with its check value ---- */

/* {"crc":"5c64baa6","phi_thread":1}
       {"crc":"41a0f168","seq":0,"e":{"a":"x"}}
       {"crc":"dd1e460f","seq":1,"of":[1,2],"e":{"b":1}}
       {"crc":"eab54e05","seq":2,"of":[1,2],"e":{"b":2}}

   An append is one write after the last whole group of lines. Anything that a crash leaves after
   that group is torn: lines that are cut off, have a wrong check value, or lack a part of their
   group. Readers ignore a torn end, and the next append cuts it off. A line with a wrong check
   value is damaged, not torn, if a later line is valid and begins in another group or is a whole
   group: no append leaves such lines. */

enum {
    PHI__FILE_THREADS_PIECE = 256 * 1024,      /* bytes of one read */
    PHI__FILE_THREADS_LINE = 512 * 1024 * 1024 /* bytes of a line, and of one append, at most */
};

/* ---- a scan over a file ---- */

/* The place of an entry, in bytes from the start of its group. */
typedef struct phi__tfile_place {
    size_t at, len;
} phi__tfile_place;

typedef struct phi__tfile_scan {
    phi__file_store *fs;
    intptr_t file;
    phi__buf buf;    /* bytes read that are still needed */
    phi__buf places; /* has a phi__tfile_place for each line that was read of the current group */
    uint64_t base;   /* the offset in the file at which buf begins */
    size_t at;       /* the offset in buf of the next line */
    size_t keep;     /* the offset in buf of the current group; at most `at` */
    uint64_t line;   /* the number of the line returned last */
    bool over;       /* the file was read to its end */
    bool again;      /* the current group is being read a second time */
    bool stopped;    /* `each` returned an error */
    phi__words words;

    uint64_t from; /* the first entry to pass to `each` */
    phi_status (*each)(void *ctx, uint64_t seq, phi_str entry);
    void *ctx;
    /* number of entries in whole groups so far, and the offset after these groups */
    uint64_t count, end;
} phi__tfile_scan;

static phi_status phi__tfile_more(phi__tfile_scan *s) {
    const phi__disk *disk = &s->fs->disk;
    size_t got;
    if (s->keep > 0) {
        phi__buf_drop(&s->buf, s->keep);
        s->base += s->keep;
        s->at -= s->keep;
        s->keep = 0;
    }
    if (s->buf.len > PHI__FILE_THREADS_LINE) {
        (void)snprintf(s->words.text, sizeof s->words.text, "longer than a line may be");
        return PHI_PARSE;
    }
    size_t want = phi__max(PHI__FILE_THREADS_PIECE, s->buf.len); /* doubles for a long line */
    char *room = phi__buf_reserve(&s->buf, want);
    if (room == NULL) return PHI_NO_MEMORY;
    phi_status status =
        disk->read(disk->user_data, s->file, s->base + s->buf.len, room, want, &got, &s->words);
    if (status != PHI_OK) return status;
    phi__buf_add_len(&s->buf, got);
    s->over = got == 0;
    return PHI_OK;
}

/* Returns the next line without its line break. PHI_NOT_FOUND: there is no further line break, and
   *line is the rest. */
static phi_status phi__tfile_next(phi__tfile_scan *s, phi_str *line) {
    size_t seen = 0;
    for (;;) {
        size_t n = s->buf.len - s->at;
        const char *from = n > 0 ? s->buf.at + s->at : "";
        const char *stop = n > seen ? (const char *)memchr(from + seen, '\n', n - seen) : NULL;
        *line = phi__str(from, stop != NULL ? (size_t)(stop - from) : n);
        if (stop != NULL) {
            s->at += line->len + 1;
            s->line++;
            return PHI_OK;
        }
        if (s->over) return PHI_NOT_FOUND;
        seen = n;
        phi_status status = phi__tfile_more(s);
        if (status != PHI_OK) return status;
    }
}

/* Passes the entries of a whole group, which begins at s->keep, to `each`. */
static phi_status phi__tfile_give(phi__tfile_scan *s, uint64_t seq) {
    phi_status status = PHI_OK;
    phi__tfile_place place;
    for (size_t i = 0; i < s->places.len && s->each != NULL && !s->stopped;
         i += sizeof place, seq++) {
        memcpy(&place, s->places.at + i, sizeof place);
        if (seq < s->from) continue;
        status = s->each(s->ctx, seq, phi__str(s->buf.at + s->keep + place.at, place.len));
        s->stopped = status != PHI_OK;
    }
    s->keep = s->at;
    return status;
}

static phi_status phi__tfile_damaged(phi__tfile_scan *s, uint64_t line, const char *what) {
    (void)snprintf(s->words.text, sizeof s->words.text, "line %llu %s", (unsigned long long)line,
                   what);
    return PHI_PARSE;
}

/* Decides about a line with a wrong check value. PHI_OK: the rest of the file is torn. PHI_PARSE:
   the line is damaged. */
static phi_status phi__tfile_torn(phi__tfile_scan *s) {
    uint64_t bad = s->line;
    phi__file_line line;
    phi_str text;
    do {
        s->keep = s->at;
        phi_status status = phi__tfile_next(s, &text);
        if (status != PHI_OK) return status == PHI_NOT_FOUND ? PHI_OK : status;
    } while (!phi__line_read(text, &line) || (line.first == s->count && line.first != line.last));
    return phi__tfile_damaged(s, bad, "is damaged: its check value is not that of its bytes");
}

/* Reads the header line. PHI_NOT_FOUND: the file has only a part of the header. */
static phi_status phi__tfile_header(phi__tfile_scan *s) {
    phi__buf header;
    phi_str text;
    phi_status status = phi__tfile_next(s, &text);
    phi__buf_init(&header, &s->fs->memory);
    phi__line_put_header(&header);
    if (header.failed) {
        phi__buf_free(&header);
        return PHI_NO_MEMORY;
    }
    phi_str want = phi__str(header.at, header.len - 1);
    bool same = phi_str_equal(text, want);
    bool begun = text.len <= want.len && memcmp(text.at, want.at, text.len) == 0;
    phi__buf_free(&header);
    if (status == PHI_OK && same) {
        s->keep = s->at;
        s->end = s->base + s->at;
        return PHI_OK;
    }
    /* After a power failure a file may hold zeros, if the file system wrote its size first. */
    if (status == PHI_NOT_FOUND && (begun || text.at[0] == '\0')) return PHI_NOT_FOUND;
    if (status != PHI_OK && status != PHI_NOT_FOUND) return status;
    return phi__tfile_damaged(s, 1,
                              status == PHI_OK && phi__line_checks(text)
                                  ? "is the header of another version"
                                  : "is damaged: it is not a thread's header");
}

/* Scans the whole file, and passes its entries to `each`. */
static phi_status phi__tfile_run(phi__tfile_scan *s) {
    phi__file_line line;
    phi_str text;
    phi_status status = phi__tfile_header(s);
    /* next: the next entry; last: the last entry of its group; before: the number of the line
       before the group */
    uint64_t next = 0, last = 0, before = s->line;
    if (status == PHI_NOT_FOUND) return PHI_OK;
    while (status == PHI_OK) {
        status = phi__tfile_next(s, &text);
        if (status == PHI_NOT_FOUND) return PHI_OK;
        if (status != PHI_OK) break;
        if (!phi__line_checks(text)) {
            /* A writer may have cut off and replaced a torn group during this read. So the group is
               read once more before its bytes count as damaged. */
            if (s->again) return phi__tfile_torn(s);
            s->again = true;
            s->over = false;
            s->at = s->buf.len = s->keep;
            s->line = before;
            next = s->count;
            continue;
        }
        if (!phi__line_parse(text, &line)) return phi__tfile_damaged(s, s->line, "is not an entry");
        if (next == s->count) last = line.last;
        if (line.seq != next || line.first != s->count || line.last != last) {
            (void)snprintf(s->words.text, sizeof s->words.text,
                           "line %llu has entry %llu where %llu was to come",
                           (unsigned long long)s->line, (unsigned long long)line.seq,
                           (unsigned long long)next);
            return PHI_PARSE;
        }
        /* The line is valid and belongs to the current group. */
        phi__tfile_place place;
        if (line.seq == line.first) phi__buf_clear(&s->places);
        place.at = (size_t)(line.entry.at - s->buf.at) - s->keep;
        place.len = line.entry.len;
        phi__buf_add(&s->places, (const char *)&place, sizeof place);
        if (s->places.failed) return PHI_NO_MEMORY;
        next++;
        if (next <= last) continue;
        s->count = next;
        s->end = s->base + s->at;
        s->again = false;
        before = s->line;
        status = phi__tfile_give(s, line.first);
    }
    return status;
}

static void phi__tfile_scan_init(phi__tfile_scan *s, phi__file_store *fs, intptr_t file) {
    memset(s, 0, sizeof *s);
    s->fs = fs;
    s->file = file;
    phi__buf_init(&s->buf, &fs->memory);
    phi__buf_init(&s->places, &fs->memory);
}

static void phi__tfile_scan_free(phi__tfile_scan *s) {
    phi__buf_free(&s->buf);
    phi__buf_free(&s->places);
}

static phi_status phi__tfile_refuse(phi__store_to to, phi_status status, const char *what,
                                    const char *id, const phi__words *words) {
    if (status == PHI_NO_MEMORY) return phi__store_no_memory(to);
    if (status != PHI_PARSE) return phi__store_refuse(to, status, what, id, ".jsonl", words);
    phi__store_say(to, "%s.jsonl: %s", id, words->text);
    return status;
}

/* ---- the end of a file ---- */

static void phi__tfile_set_tail(phi__store_tail *tail, const phi__disk_info *info, uint64_t count,
                                uint64_t end) {
    tail->known = true;
    tail->count = count;
    tail->end = count > 0 ? end : 0;
    tail->device = info->device;
    tail->file = info->file;
}

/* Finds the end of the file from its last line. False: that line is torn, too long, or in a group
   of several entries. */
static bool phi__tfile_glance(phi__file_store *fs, intptr_t file, const phi__disk_info *info,
                              phi__store_tail *tail) {
    uint64_t bytes = info->bytes;
    char piece[4096];
    size_t n = bytes < sizeof piece ? (size_t)bytes : sizeof piece, from, got;
    phi__file_line line;
    if (bytes <= PHI__FILE_STORE_HEADER ||
        fs->disk.read(fs->disk.user_data, file, bytes - n, piece, n, &got, NULL) != PHI_OK ||
        got != n || piece[n - 1] != '\n')
        return false;
    for (from = n - 1; from > 0 && piece[from - 1] != '\n';) from--;
    if (from == 0) return false;
    /* With more lines in the group, an earlier line may be damaged though the last is not. */
    if (!phi__line_read(phi__str(piece + from, n - 1 - from), &line) || line.first != line.last)
        return false;
    phi__tfile_set_tail(tail, info, line.seq + 1, bytes);
    return true;
}

static phi_status phi__tfile_find_tail(phi__file_store *fs, intptr_t file,
                                       const phi__disk_info *info, phi__store_tail *tail,
                                       phi__words *words) {
    phi__tfile_scan scan;
    if (tail->known && tail->device == info->device && tail->file == info->file &&
        tail->end == info->bytes)
        return PHI_OK;
    tail->known = false;
    if (phi__tfile_glance(fs, file, info, tail)) return PHI_OK;
    phi__tfile_scan_init(&scan, fs, file);
    phi_status status = phi__tfile_run(&scan);
    *words = scan.words;
    if (status == PHI_OK) phi__tfile_set_tail(tail, info, scan.count, scan.end);
    phi__tfile_scan_free(&scan);
    return status;
}

/* ---- appending ---- */

typedef struct phi__tfile_write {
    phi__file_store *fs;
    const char *id;
    phi__store_path path;
    phi__store_tail *tail;
    intptr_t file;
    bool made; /* the file did not exist before */
    phi__store_to to;
    phi__words words;
} phi__tfile_write;

static phi_status phi__tfile_check(const phi_str *entries, size_t count, phi__store_to to) {
    size_t all = 0;
    for (size_t i = 0; i < count; i++) {
        if (entries[i].len == 0 || memchr(entries[i].at, '\n', entries[i].len) != NULL) {
            phi__store_say(to, "Entry %llu of those to append is empty or has a line break",
                           (unsigned long long)i);
            return PHI_BAD_ARG;
        }
        /* The frame of a line adds less than 128 bytes to the entry. */
        all = phi__add(all, phi__add(entries[i].len, 128));
    }
    if (all <= PHI__FILE_THREADS_LINE) return PHI_OK;
    phi__store_say(to, "Entries of %llu bytes: at most %d are appended at once",
                   (unsigned long long)all, (int)PHI__FILE_THREADS_LINE);
    return PHI_TOO_BIG;
}

/* Opens the thread's file, finds its end and cuts off torn lines. PHI_NOT_FOUND: there is no
   file. */
static phi_status phi__tfile_open(phi__tfile_write *w, phi__disk_how how) {
    const phi__disk *disk = &w->fs->disk;
    phi__disk_info info;
    phi_status status = disk->open(disk->user_data, w->path.text, how, &w->file, &w->words);
    if (status != PHI_OK) return status;
    status = disk->info(disk->user_data, w->file, &info, &w->words);
    if (status == PHI_OK) status = phi__tfile_find_tail(w->fs, w->file, &info, w->tail, &w->words);
    if (status == PHI_OK && info.bytes > w->tail->end)
        status = disk->cut(disk->user_data, w->file, w->tail->end, &w->words);
    if (status == PHI_OK) return PHI_OK;
    (void)disk->close(disk->user_data, w->file, NULL);
    w->file = -1;
    return status;
}

static phi_status phi__tfile_write_lines(phi__tfile_write *w, phi_str lines) {
    const phi__disk *disk = &w->fs->disk;
    intptr_t file = w->file;
    phi_status status = phi__store_write(w->fs, file, w->tail->end, lines, &w->words);
    if (status == PHI_OK && w->fs->sync) status = disk->sync(disk->user_data, file, &w->words);
    if (status == PHI_OK) {
        w->file = -1;
        status = disk->close(disk->user_data, file, &w->words);
    }
    if (status == PHI_OK && w->fs->sync && w->made)
        status = disk->sync_directory(disk->user_data, w->fs->directory, &w->words);
    if (status != PHI_OK) {
        if (w->file < 0 &&
            disk->open(disk->user_data, w->path.text, PHI__DISK_UPDATE, &w->file, NULL) != PHI_OK)
            w->file = -1;
        if (w->file >= 0) {
            (void)disk->cut(disk->user_data, w->file, w->tail->end, NULL);
            (void)disk->close(disk->user_data, w->file, NULL);
        }
        if (w->tail->end == 0) (void)disk->remove(disk->user_data, w->path.text, NULL);
        w->tail->known = false;
        return status == PHI_NOT_FOUND ? PHI_IO : status;
    }
    return PHI_OK;
}

/* May leave w->file open; the caller closes it. */
static phi_status phi__tfile_append(phi__tfile_write *w, uint64_t expected, const phi_str *entries,
                                    size_t count) {
    phi_status status = phi__tfile_open(w, PHI__DISK_UPDATE);
    uint64_t has = status == PHI_OK ? w->tail->count : 0;
    phi__buf lines;
    w->made = status == PHI_NOT_FOUND;
    if (status == PHI_OK || w->made) {
        if (has != expected) {
            phi__store_say(w->to, "Thread %s has %llu entries, not %llu", w->id,
                           (unsigned long long)has, (unsigned long long)expected);
            return PHI_STALE;
        }
        if (count == 0) return PHI_OK;
    }
    phi__buf_init(&lines, &w->fs->memory);
    if (has == 0) phi__line_put_header(&lines);
    for (size_t i = 0; i < count; i++) {
        uint64_t seq = has + i;
        uint64_t last = has + count - 1;
        size_t from = lines.len;
        phi__buf_text(&lines, "{\"crc\":\"00000000\",\"seq\":");
        phi__buf_u64(&lines, seq);
        if (has != last) {
            phi__buf_text(&lines, ",\"of\":[");
            phi__buf_u64(&lines, has);
            phi__buf_char(&lines, ',');
            phi__buf_u64(&lines, last);
            phi__buf_char(&lines, ']');
        }
        phi__buf_text(&lines, ",\"e\":");
        phi__buf_add_str(&lines, entries[i]);
        phi__buf_char(&lines, '}');
        phi__line_seal(&lines, from);
    }
    if (lines.failed) status = PHI_NO_MEMORY;
    if (status == PHI_NOT_FOUND) status = phi__tfile_open(w, PHI__DISK_CREATE);
    if (status == PHI_OK) status = phi__tfile_write_lines(w, phi__buf_str(&lines));
    if (status == PHI_OK) {
        w->tail->count += count;
        w->tail->end += lines.len;
    } else {
        (void)phi__tfile_refuse(w->to, status, "append to", w->id, &w->words);
    }
    phi__buf_free(&lines);
    return status;
}

static phi_status phi__tfile_store_append(void *user_data, const char *thread_id, uint64_t expected,
                                          const phi_str *entries, size_t count, char *words,
                                          size_t words_size) {
    phi__file_store *fs = (phi__file_store *)user_data;
    phi__store_to to = phi__store_to_of(words, words_size);
    phi_status status = phi__store_check_id(thread_id, to);
    intptr_t lock = -1;
    if (status == PHI_OK) status = phi__tfile_check(entries, count, to);
    if (status != PHI_OK) return status;
    phi__store_held *held = phi__store_find(fs, thread_id);
    if (held == NULL) status = phi__store_lock_take(fs, thread_id, ".jsonl", &lock, to);
    if (status != PHI_OK) return status;
    phi__store_tail tail = PHI_ZERO;
    phi__tfile_write w = PHI_ZERO;
    w.fs = fs;
    w.id = thread_id;
    w.tail = held == NULL ? &tail : &held->tail;
    w.file = -1;
    w.to = to;
    phi__store_path_of(fs, &w.path, "", thread_id, ".jsonl");
    status = phi__tfile_append(&w, expected, entries, count);
    if (w.file >= 0) (void)fs->disk.close(fs->disk.user_data, w.file, NULL);
    if (held == NULL) phi__store_lock_drop(fs, thread_id, ".jsonl", lock);
    return status;
}

static phi_status phi__tfile_store_read(void *user_data, const char *thread_id, uint64_t from,
                                        phi_status (*each)(void *ctx, uint64_t seq, phi_str entry),
                                        void *ctx, uint64_t *torn, char *words, size_t words_size) {
    phi__file_store *fs = (phi__file_store *)user_data;
    phi__store_to to = phi__store_to_of(words, words_size);
    phi_status status = phi__store_check_id(thread_id, to);
    phi__store_path path;
    phi__tfile_scan scan;
    intptr_t file;
    if (torn != NULL) *torn = 0;
    if (status != PHI_OK) return status;
    phi__tfile_scan_init(&scan, fs, -1);
    phi__store_path_of(fs, &path, "", thread_id, ".jsonl");
    status = fs->disk.open(fs->disk.user_data, path.text, PHI__DISK_READ, &file, &scan.words);
    if (status == PHI_OK) {
        scan.file = file;
        scan.from = from;
        scan.each = each;
        scan.ctx = ctx;
        status = phi__tfile_run(&scan);
        if (status == PHI_OK) {
            if (torn != NULL) *torn = scan.base + scan.buf.len - (scan.count > 0 ? scan.end : 0);
            phi__store_held *held = phi__store_find(fs, thread_id);
            phi__disk_info info;
            if (held != NULL && fs->disk.info(fs->disk.user_data, file, &info, NULL) == PHI_OK)
                phi__tfile_set_tail(&held->tail, &info, scan.count, scan.end);
        }
        (void)fs->disk.close(fs->disk.user_data, file, NULL);
    }
    phi__tfile_scan_free(&scan);
    if (scan.stopped) return status;
    if (status == PHI_OK && scan.count == 0) status = PHI_NOT_FOUND;
    if (status == PHI_NOT_FOUND)
        phi__store_say(to, "Thread not found: %s", thread_id);
    else if (status != PHI_OK)
        (void)phi__tfile_refuse(to, status, "read", thread_id, &scan.words);
    return status;
}

/* ---- opening a store ---- */

/* bytes of the directory's path; this leaves room for a file's name */
enum { PHI__FILE_STORE_DIRECTORY = 3900 };

static phi_status phi__store_lock(void *user_data, const char *thread_id, char *words,
                                  size_t words_size) {
    phi__file_store *fs = (phi__file_store *)user_data;
    phi__store_to to = phi__store_to_of(words, words_size);
    phi_status status = phi__store_check_id(thread_id, to);
    intptr_t lock;
    if (status != PHI_OK) return status;
    if (phi__store_find(fs, thread_id) != NULL) {
        phi__store_say(to, "Thread %s is locked by this store already", thread_id);
        return PHI_BUSY;
    }
    void *grown =
        phi__grow(&fs->memory, fs->held, &fs->held_cap, fs->held_count + 1, sizeof *fs->held);
    if (grown == NULL) return phi__store_no_memory(to);
    fs->held = (phi__store_held *)grown;
    status = phi__store_lock_take(fs, thread_id, ".jsonl", &lock, to);
    if (status != PHI_OK) return status;
    phi__store_held *held = &fs->held[fs->held_count++];
    memset(held, 0, sizeof *held);
    memcpy(held->id, thread_id, strlen(thread_id) + 1);
    held->lock = lock;
    return PHI_OK;
}

static void phi__store_unlock(void *user_data, const char *thread_id) {
    phi__file_store *fs = (phi__file_store *)user_data;
    phi__store_held *held = thread_id == NULL ? NULL : phi__store_find(fs, thread_id);
    if (held == NULL) return;
    phi__store_lock_drop(fs, thread_id, ".jsonl", held->lock);
    *held = fs->held[--fs->held_count];
}

/* ---- for other modules ---- */

PHI__FN phi_status phi__store_open_on(const phi_file_store_desc *desc, const phi__disk *disk,
                                      phi_store *out) {
    phi_memory memory;
    memset(out, 0, sizeof *out);
    if (desc == NULL || desc->directory == NULL) return PHI_BAD_ARG;
    size_t n = strlen(desc->directory);
    if (n == 0 || n > PHI__FILE_STORE_DIRECTORY) return PHI_BAD_ARG;
    phi_memory_init(&memory, &desc->allocator, desc->memory_limit_bytes);
    phi__file_store *fs = (phi__file_store *)phi__alloc(&memory, sizeof *fs);
    if (fs == NULL) return PHI_NO_MEMORY;
    fs->memory = memory; /* already counts the memory of the store itself */
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
    while (n > 1 && phi__path_is_slash(fs->directory[n - 1])) fs->directory[--n] = '\0';
    out->user_data = fs;
    out->save = phi__doc_save;
    out->load = phi__doc_load;
    out->remove = phi__doc_remove;
    out->list = phi__doc_list;
    out->append = phi__tfile_store_append;
    out->read = phi__tfile_store_read;
    out->remove_thread = phi__tfile_remove;
    out->list_threads = phi__doc_list_threads;
    out->lock = phi__store_lock;
    out->unlock = phi__store_unlock;
    out->journal = phi_store_journal();
    return PHI_OK;
}

/* ---- public ---- */

PHI_API phi_status phi_file_store_open(const phi_file_store_desc *desc, phi_store *out) {
    return phi__store_open_on(desc, phi__disk_system(), out);
}

PHI_API void phi_file_store_close(phi_store *store) {
    phi__file_store *fs = store == NULL ? NULL : (phi__file_store *)store->user_data;
    if (fs == NULL) return;
    while (fs->held_count > 0) phi__store_unlock(fs, fs->held[fs->held_count - 1].id);
    phi_memory memory = fs->memory;
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
