/* phi_store_sqlite.h - a phi_store in an SQLite database - opt-in, MIT as phi.h

   In exactly ONE C or C++ file, then link with -lsqlite3 as well:
       #define PHI_STORE_SQLITE_IMPLEMENTATION
       #include "phi_store_sqlite.h"

   One file holds all documents and threads: a table of documents, a table of entries. Every call is one transaction of
   its own, in WAL mode, so that readers and a writer do not shut each other out. SQLite 3.24 or newer.

   MEMORY   SQLite's own, not the caller's allocator; results go into the caller's arena.
   THREADS  one at a time for each store; stores of one file may be in many threads and processes.
   LOCKS    a thread that is locked has a file of no bytes beside the database, {path}-lock-{id}, on which SQLite's own
            lock is held, so that it is free again when its process dies. The file stays. Nothing waits for a lock.
   ERRORS   SQLITE_BUSY is PHI_BUSY, SQLITE_FULL PHI_FULL, a damaged file PHI_PARSE, SQLITE_NOMEM PHI_NO_MEMORY,
            SQLITE_TOOBIG PHI_TOO_BIG, all else PHI_IO; with SQLite's words. */
#ifndef PHI_STORE_SQLITE_H
#define PHI_STORE_SQLITE_H

#ifndef PHI_PERSIST_STORE_H
#include "phi.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Zero means default for every field but path. */
typedef struct phi_sqlite_store_desc {
    const char *path; /* copied; the file is made where it is not there, its directory is not */
    /* Every append and save waits for the disk (synchronous=FULL). Default: NORMAL, which survives a crash of the
       process; a loss of power may take the last transactions, and never damages the file. */
    bool sync;
} phi_sqlite_store_desc;

/* PHI_OK: *out is to be closed; copies of it are the same store. Otherwise *out is zeroed and words say why: PHI_BAD_ARG,
   no path or one of over 3,900 bytes; PHI_BUSY, another is just making the tables: try again. */
PHI_API phi_status phi_sqlite_store_open(const phi_sqlite_store_desc *desc, phi_store *out,
                                         char *words, size_t words_size);
/* Gives up its locks and closes the database. Detach threads first. A zeroed store is harmless. */
PHI_API void phi_sqlite_store_close(phi_store *store);

#ifdef __cplusplus
}
#endif
#endif

#ifdef PHI_STORE_SQLITE_IMPLEMENTATION
#ifndef PHI_STORE_SQLITE_DONE
#define PHI_STORE_SQLITE_DONE

#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { PHI__SQL_ID = 128, PHI__SQL_PATH = 3900 };

/* The statements a store keeps prepared. */
#define PHI__SQL_STATEMENTS(X)                                                                     \
    X(BEGIN, "BEGIN IMMEDIATE")                                                                    \
    X(COMMIT, "COMMIT")                                                                            \
    X(ROLLBACK, "ROLLBACK")                                                                        \
    X(SAVE, "INSERT INTO phi_document (id, agent_id, changed_ms, change, bytes) VALUES (?1, ?2, "  \
            "CAST((julianday('now') - 2440587.5) * 86400000 + 0.5 AS INTEGER), "                   \
            "(SELECT coalesce(max(change), 0) + 1 FROM phi_document), ?3) "                        \
            "ON CONFLICT (id) DO UPDATE SET agent_id = excluded.agent_id, "                        \
            "changed_ms = excluded.changed_ms, change = excluded.change, bytes = excluded.bytes")  \
    X(LOAD, "SELECT bytes FROM phi_document WHERE id = ?1")                                        \
    X(REMOVE, "DELETE FROM phi_document WHERE id = ?1")                                            \
    X(LIST, "SELECT id, agent_id, changed_ms, length(bytes) FROM phi_document "                    \
            "WHERE ?1 IS NULL OR agent_id = ?1 ORDER BY change DESC")                              \
    X(COUNT, "SELECT coalesce(max(seq) + 1, 0) FROM phi_entry WHERE thread_id = ?1")               \
    X(APPEND, "INSERT INTO phi_entry (thread_id, seq, entry) VALUES (?1, ?2, ?3)")                 \
    X(TOUCH, "INSERT INTO phi_thread (id, changed_ms, change, bytes) VALUES (?1, "                 \
             "CAST((julianday('now') - 2440587.5) * 86400000 + 0.5 AS INTEGER), "                  \
             "(SELECT coalesce(max(change), 0) + 1 FROM phi_thread), ?2) "                         \
             "ON CONFLICT (id) DO UPDATE SET changed_ms = excluded.changed_ms, "                   \
             "change = excluded.change, bytes = bytes + excluded.bytes")                           \
    X(READ, "SELECT seq, entry FROM phi_entry WHERE thread_id = ?1 AND seq >= ?2 ORDER BY seq")    \
    X(REMOVE_ENTRIES, "DELETE FROM phi_entry WHERE thread_id = ?1")                                \
    X(REMOVE_THREAD, "DELETE FROM phi_thread WHERE id = ?1")                                       \
    X(LIST_THREADS, "SELECT id, '', changed_ms, bytes FROM phi_thread WHERE ?1 IS NULL "           \
                    "ORDER BY change DESC")

#define PHI__SQL_X(name, text) PHI__SQL_##name,
typedef enum phi__sql_name { PHI__SQL_STATEMENTS(PHI__SQL_X) PHI__SQL_COUNT_OF_THEM } phi__sql_name;
#undef PHI__SQL_X

/* phi_thread repeats what could be summed up from phi_entry, so that a list costs threads and not entries. */
static const char phi__sql_tables[] =
    "BEGIN IMMEDIATE;"
    "CREATE TABLE IF NOT EXISTS phi_document (id TEXT PRIMARY KEY, agent_id TEXT NOT NULL, "
    "changed_ms INTEGER NOT NULL, change INTEGER NOT NULL, bytes BLOB NOT NULL);"
    "CREATE INDEX IF NOT EXISTS phi_document_change ON phi_document (change);"
    "CREATE TABLE IF NOT EXISTS phi_thread (id TEXT PRIMARY KEY, changed_ms INTEGER NOT NULL, "
    "change INTEGER NOT NULL, bytes INTEGER NOT NULL);"
    "CREATE INDEX IF NOT EXISTS phi_thread_change ON phi_thread (change);"
    "CREATE TABLE IF NOT EXISTS phi_entry (thread_id TEXT NOT NULL, seq INTEGER NOT NULL, "
    "entry TEXT NOT NULL, PRIMARY KEY (thread_id, seq));"
    "COMMIT;";

typedef struct phi__sql_lock {
    struct phi__sql_lock *next;
    sqlite3 *db;
    char id[PHI__SQL_ID + 1];
} phi__sql_lock;

typedef struct phi__sql {
    sqlite3 *db;
    sqlite3_stmt *statements[PHI__SQL_COUNT_OF_THEM];
    phi__sql_lock *locks;
    char path[PHI__SQL_PATH + 1];
} phi__sql;

typedef struct phi__sql_to {
    char *words;
    size_t size;
} phi__sql_to;

static phi__sql_to phi__sql_to_of(char *words, size_t size) {
    phi__sql_to to;
    to.words = size > 0 ? words : NULL;
    to.size = size;
    if (to.words != NULL) to.words[0] = '\0';
    return to;
}

static void phi__sql_say(phi__sql_to to, const char *format, ...) PHI_PRINTF(2, 3);
static void phi__sql_say(phi__sql_to to, const char *format, ...) {
    va_list args;
    if (to.words == NULL) return;
    va_start(args, format);
    (void)vsnprintf(to.words, to.size, format, args);
    va_end(args);
}

static phi_status phi__sql_status(int code) {
    switch (code & 0xff) {
    case SQLITE_OK:
    case SQLITE_ROW:
    case SQLITE_DONE: return PHI_OK;
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return PHI_BUSY;
    case SQLITE_FULL: return PHI_FULL;
    case SQLITE_NOMEM: return PHI_NO_MEMORY;
    case SQLITE_TOOBIG: return PHI_TOO_BIG;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return PHI_PARSE;
    default: return PHI_IO;
    }
}

static phi_status phi__sql_refuse(sqlite3 *db, int code, phi__sql_to to, const char *what,
                                  const char *id) {
    phi_status status = phi__sql_status(code);
    if (status != PHI_OK)
        phi__sql_say(to, "Cannot %s %s: %s", what, id,
                     db == NULL ? sqlite3_errstr(code) : sqlite3_errmsg(db));
    return status;
}

static phi_status phi__sql_check_id(const char *id, phi__sql_to to) {
    static const char bytes[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    size_t n = id == NULL || id[0] == '.' ? 0 : strspn(id, bytes);
    if (n > 0 && n <= PHI__SQL_ID && id[n] == '\0') return PHI_OK;
    phi__sql_say(to,
                 "\"%.80s\" is no id: 1 to 128 letters, digits, '.', '_' and '-', the first no '.'",
                 id == NULL ? "" : id);
    return PHI_BAD_ARG;
}

/* ---- statements ---- */

/* The statement with its first text bound; NULL is SQL's NULL. The text is borrowed until phi__sql_done. */
static sqlite3_stmt *phi__sql_of(phi__sql *s, phi__sql_name name, const char *first) {
    sqlite3_stmt *statement = s->statements[name];
    if (sqlite3_bind_parameter_count(statement) > 0)
        (void)sqlite3_bind_text(statement, 1, first, -1, SQLITE_STATIC);
    return statement;
}

static void phi__sql_done(sqlite3_stmt *statement) {
    (void)sqlite3_reset(statement);
    (void)sqlite3_clear_bindings(statement);
}

/* Runs a statement to its end. An SQLite code. */
static int phi__sql_run(sqlite3_stmt *statement) {
    int code = sqlite3_step(statement);
    (void)sqlite3_reset(statement);
    return code;
}

static int phi__sql_do(phi__sql *s, phi__sql_name name) {
    return phi__sql_run(phi__sql_of(s, name, NULL));
}

/* Commits, or takes everything back. */
static phi_status phi__sql_end(phi__sql *s, phi_status status, phi__sql_to to, const char *what,
                               const char *id) {
    if (status == PHI_OK)
        status = phi__sql_refuse(s->db, phi__sql_do(s, PHI__SQL_COMMIT), to, what, id);
    if (status != PHI_OK && sqlite3_get_autocommit(s->db) == 0)
        (void)phi__sql_do(s, PHI__SQL_ROLLBACK);
    return status;
}

/* A copy in the arena, terminated. */
static bool phi__sql_copy(phi_arena *arena, const void *bytes, int len, phi_str *out) {
    size_t n = len > 0 ? (size_t)len : 0;
    char *copy = (char *)phi_arena_alloc(arena, n + 1);
    if (copy == NULL) return false;
    if (n > 0) memcpy(copy, bytes, n);
    copy[n] = '\0';
    out->at = copy;
    out->len = n;
    return true;
}

/* ---- documents ---- */

static phi_status phi__sql_save(void *user_data, const char *id, const char *agent_id,
                                phi_str bytes, char *words, size_t words_size) {
    phi__sql *s = (phi__sql *)user_data;
    phi__sql_to to = phi__sql_to_of(words, words_size);
    phi_status status = phi__sql_check_id(id, to);
    sqlite3_stmt *save;
    int code;
    if (status != PHI_OK) return status;
    save = phi__sql_of(s, PHI__SQL_SAVE, id);
    code = sqlite3_bind_text(save, 2, agent_id == NULL ? "" : agent_id, -1, SQLITE_STATIC);
    if (code == SQLITE_OK)
        code =
            sqlite3_bind_blob64(save, 3, bytes.len == 0 ? "" : bytes.at, bytes.len, SQLITE_STATIC);
    if (code == SQLITE_OK) code = sqlite3_step(save);
    status = phi__sql_refuse(s->db, code, to, "save", id);
    phi__sql_done(save);
    if (status == PHI_BUSY) phi__sql_say(to, "Session %s is locked by another writer", id);
    return status;
}

static phi_status phi__sql_load(void *user_data, const char *id, phi_arena *arena, phi_str *out,
                                char *words, size_t words_size) {
    phi__sql *s = (phi__sql *)user_data;
    phi__sql_to to = phi__sql_to_of(words, words_size);
    phi_status status = phi__sql_check_id(id, to);
    sqlite3_stmt *load;
    int code;
    if (status != PHI_OK) return status;
    load = phi__sql_of(s, PHI__SQL_LOAD, id);
    code = sqlite3_step(load);
    status = phi__sql_refuse(s->db, code, to, "load", id);
    if (code == SQLITE_DONE) {
        phi__sql_say(to, "Session not found: %s", id);
        status = PHI_NOT_FOUND;
    } else if (status == PHI_OK) {
        const void *bytes = sqlite3_column_blob(load, 0);
        if (!phi__sql_copy(arena, bytes, sqlite3_column_bytes(load, 0), out)) {
            phi__sql_say(to, "Cannot load %s: no memory", id);
            status = PHI_NO_MEMORY;
        }
    }
    phi__sql_done(load);
    return status;
}

static phi_status phi__sql_remove(void *user_data, const char *id, char *words, size_t words_size) {
    phi__sql *s = (phi__sql *)user_data;
    phi__sql_to to = phi__sql_to_of(words, words_size);
    phi_status status = phi__sql_check_id(id, to);
    sqlite3_stmt *remove;
    if (status != PHI_OK) return status;
    remove = phi__sql_of(s, PHI__SQL_REMOVE, id);
    status = phi__sql_refuse(s->db, sqlite3_step(remove), to, "remove", id);
    phi__sql_done(remove);
    if (status == PHI_BUSY) phi__sql_say(to, "Session %s is locked by another writer", id);
    if (status != PHI_OK || sqlite3_changes(s->db) > 0) return status;
    phi__sql_say(to, "Session not found: %s", id);
    return PHI_NOT_FOUND;
}

/* A row of a list, chained in the arena until their number is known. */
typedef struct phi__sql_node {
    phi_store_item item;
    struct phi__sql_node *next;
} phi__sql_node;

static phi_status phi__sql_rows(sqlite3_stmt *list, phi_arena *arena, phi__sql_node **first,
                                size_t *count, int *code) {
    phi__sql_node **end = first;
    while ((*code = sqlite3_step(list)) == SQLITE_ROW) {
        phi__sql_node *node = (phi__sql_node *)phi_arena_alloc(arena, sizeof *node);
        const void *id = sqlite3_column_text(list, 0), *agent;
        if (node == NULL ||
            !phi__sql_copy(arena, id, sqlite3_column_bytes(list, 0), &node->item.id))
            return PHI_NO_MEMORY;
        agent = sqlite3_column_text(list, 1);
        if (!phi__sql_copy(arena, agent, sqlite3_column_bytes(list, 1), &node->item.agent_id))
            return PHI_NO_MEMORY;
        node->item.changed_ms = sqlite3_column_int64(list, 2);
        node->item.bytes = (uint64_t)sqlite3_column_int64(list, 3);
        node->next = NULL;
        *end = node;
        end = &node->next;
        ++*count;
    }
    return PHI_OK;
}

static phi_status phi__sql_list_all(phi__sql *s, phi__sql_name name, const char *agent_id,
                                    phi_arena *arena, const phi_store_item **out, size_t *count,
                                    phi__sql_to to) {
    phi_arena_mark mark = phi_arena_save(arena);
    sqlite3_stmt *list = phi__sql_of(s, name, agent_id);
    phi__sql_node *first = NULL;
    phi_store_item *items = NULL;
    int code = SQLITE_OK;
    size_t i, n = 0;
    phi_status status = phi__sql_rows(list, arena, &first, &n, &code);
    *out = NULL;
    *count = 0;
    if (status == PHI_OK)
        status = phi__sql_refuse(s->db, code, to, "list", s->path);
    else
        phi__sql_say(to, "Cannot list %s: no memory", s->path);
    phi__sql_done(list);
    if (status == PHI_OK && n > 0) {
        items = (phi_store_item *)phi_arena_alloc(arena, n * sizeof *items);
        if (items == NULL) status = PHI_NO_MEMORY;
    }
    if (status != PHI_OK) {
        phi_arena_reset(arena, mark);
        return status;
    }
    for (i = 0; i < n; i++, first = first->next) items[i] = first->item;
    *out = items;
    *count = n;
    return PHI_OK;
}

static phi_status phi__sql_list(void *user_data, const char *agent_id, phi_arena *arena,
                                const phi_store_item **out, size_t *count, char *words,
                                size_t words_size) {
    return phi__sql_list_all((phi__sql *)user_data, PHI__SQL_LIST, agent_id, arena, out, count,
                             phi__sql_to_of(words, words_size));
}

static phi_status phi__sql_list_threads(void *user_data, phi_arena *arena,
                                        const phi_store_item **out, size_t *count, char *words,
                                        size_t words_size) {
    return phi__sql_list_all((phi__sql *)user_data, PHI__SQL_LIST_THREADS, NULL, arena, out, count,
                             phi__sql_to_of(words, words_size));
}

/* ---- locks ---- */

static phi__sql_lock **phi__sql_held(phi__sql *s, const char *thread_id) {
    phi__sql_lock **at = &s->locks;
    while (*at != NULL && strcmp((*at)->id, thread_id) != 0) at = &(*at)->next;
    return at;
}

/* An exclusive transaction on a database of its own, in which nothing is ever written. Private to this process where
   the store is (":memory:", or no name). */
static phi_status phi__sql_take(phi__sql *s, const char *thread_id, sqlite3 **out, phi__sql_to to) {
    char path[PHI__SQL_PATH + PHI__SQL_ID + 16];
    phi_status status;
    int code;
    bool here = strcmp(s->path, ":memory:") == 0;
    (void)snprintf(path, sizeof path, here ? "%s" : "%s-lock-%s", s->path, thread_id);
    *out = NULL;
    code = sqlite3_open_v2(path, out, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
    if (code == SQLITE_OK) code = sqlite3_exec(*out, "BEGIN EXCLUSIVE", NULL, NULL, NULL);
    if (code == SQLITE_OK) return PHI_OK;
    status = phi__sql_refuse(*out, code, to, "lock", thread_id);
    if (status == PHI_BUSY) phi__sql_say(to, "Thread %s is locked by another writer", thread_id);
    (void)sqlite3_close(*out);
    *out = NULL;
    return status;
}

static phi_status phi__sql_lock_thread(void *user_data, const char *thread_id, char *words,
                                       size_t words_size) {
    phi__sql *s = (phi__sql *)user_data;
    phi__sql_to to = phi__sql_to_of(words, words_size);
    phi_status status = phi__sql_check_id(thread_id, to);
    phi__sql_lock *lock;
    if (status != PHI_OK) return status;
    if (*phi__sql_held(s, thread_id) != NULL) {
        phi__sql_say(to, "Thread %s is locked by this store already", thread_id);
        return PHI_BUSY;
    }
    lock = (phi__sql_lock *)sqlite3_malloc((int)sizeof *lock);
    if (lock == NULL) {
        phi__sql_say(to, "Cannot lock %s: no memory", thread_id);
        return PHI_NO_MEMORY;
    }
    status = phi__sql_take(s, thread_id, &lock->db, to);
    if (status != PHI_OK) {
        sqlite3_free(lock);
        return status;
    }
    memcpy(lock->id, thread_id, strlen(thread_id) + 1);
    lock->next = s->locks;
    s->locks = lock;
    return PHI_OK;
}

static void phi__sql_unlock(void *user_data, const char *thread_id) {
    phi__sql *s = (phi__sql *)user_data;
    phi__sql_lock **at = thread_id == NULL ? NULL : phi__sql_held(s, thread_id), *lock;
    if (at == NULL || *at == NULL) return;
    lock = *at;
    *at = lock->next;
    (void)sqlite3_close(lock->db);
    sqlite3_free(lock);
}

/* For one call: *own is NULL where the store holds the thread already. */
static phi_status phi__sql_borrow(phi__sql *s, const char *thread_id, sqlite3 **own,
                                  phi__sql_to to) {
    *own = NULL;
    return *phi__sql_held(s, thread_id) != NULL ? PHI_OK : phi__sql_take(s, thread_id, own, to);
}

/* ---- threads ---- */

static phi_status phi__sql_check_entries(const phi_str *entries, size_t count, phi__sql_to to) {
    size_t i;
    for (i = 0; i < count; i++)
        if (entries[i].len == 0 || memchr(entries[i].at, '\n', entries[i].len) != NULL) {
            phi__sql_say(to, "Entry %llu of those to append is empty or has a line break",
                         (unsigned long long)i);
            return PHI_BAD_ARG;
        }
    return PHI_OK;
}

/* Within a transaction. */
static phi_status phi__sql_append_all(phi__sql *s, const char *thread_id, uint64_t expected,
                                      const phi_str *entries, size_t count, phi__sql_to to) {
    sqlite3_stmt *statement = phi__sql_of(s, PHI__SQL_COUNT, thread_id);
    int code = sqlite3_step(statement);
    uint64_t has = code == SQLITE_ROW ? (uint64_t)sqlite3_column_int64(statement, 0) : 0;
    uint64_t bytes = 0;
    size_t i;
    phi_status status = phi__sql_refuse(s->db, code, to, "append to", thread_id);
    phi__sql_done(statement);
    if (status != PHI_OK) return status;
    if (has != expected) {
        phi__sql_say(to, "Thread %s has %llu entries, not %llu", thread_id, (unsigned long long)has,
                     (unsigned long long)expected);
        return PHI_STALE;
    }
    if (count == 0) return PHI_OK;
    statement = phi__sql_of(s, PHI__SQL_APPEND, thread_id);
    for (i = 0; i < count && status == PHI_OK; i++) {
        code = sqlite3_bind_int64(statement, 2, (sqlite3_int64)(has + i));
        if (code == SQLITE_OK)
            code = sqlite3_bind_text64(statement, 3, entries[i].at, entries[i].len, SQLITE_STATIC,
                                       SQLITE_UTF8);
        if (code == SQLITE_OK) code = phi__sql_run(statement);
        status = phi__sql_refuse(s->db, code, to, "append to", thread_id);
        bytes += entries[i].len;
    }
    phi__sql_done(statement);
    if (status != PHI_OK) return status;
    statement = phi__sql_of(s, PHI__SQL_TOUCH, thread_id);
    code = sqlite3_bind_int64(statement, 2, (sqlite3_int64)bytes);
    if (code == SQLITE_OK) code = sqlite3_step(statement);
    status = phi__sql_refuse(s->db, code, to, "append to", thread_id);
    phi__sql_done(statement);
    return status;
}

static phi_status phi__sql_append(void *user_data, const char *thread_id, uint64_t expected,
                                  const phi_str *entries, size_t count, char *words,
                                  size_t words_size) {
    phi__sql *s = (phi__sql *)user_data;
    phi__sql_to to = phi__sql_to_of(words, words_size);
    phi_status status = phi__sql_check_id(thread_id, to);
    sqlite3 *own = NULL;
    if (status == PHI_OK) status = phi__sql_check_entries(entries, count, to);
    if (status == PHI_OK) status = phi__sql_borrow(s, thread_id, &own, to);
    if (status != PHI_OK) return status;
    status = phi__sql_refuse(s->db, phi__sql_do(s, PHI__SQL_BEGIN), to, "append to", thread_id);
    if (status == PHI_OK)
        status = phi__sql_end(s, phi__sql_append_all(s, thread_id, expected, entries, count, to),
                              to, "append to", thread_id);
    (void)sqlite3_close(own);
    return status;
}

/* The rows from the statement's on. PHI_NOT_FOUND: there was none. */
static phi_status phi__sql_give(phi__sql *s, sqlite3_stmt *read, uint64_t from,
                                phi_status (*each)(void *ctx, uint64_t seq, phi_str entry),
                                void *ctx, phi__sql_to to, const char *id) {
    phi_status status = PHI_OK;
    uint64_t next = from;
    int code;
    while ((code = sqlite3_step(read)) == SQLITE_ROW) {
        uint64_t seq = (uint64_t)sqlite3_column_int64(read, 0);
        phi_str entry;
        entry.at = (const char *)sqlite3_column_text(read, 1);
        entry.len = (size_t)sqlite3_column_bytes(read, 1);
        if (seq != next || entry.at == NULL) {
            phi__sql_say(to, "%s: entry %llu is there where %llu was to come", id,
                         (unsigned long long)seq, (unsigned long long)next);
            return PHI_PARSE;
        }
        next++;
        status = each == NULL ? PHI_OK : each(ctx, seq, entry);
        if (status != PHI_OK) return status;
    }
    return phi__sql_refuse(s->db, code, to, "read", id);
}

static phi_status phi__sql_read(void *user_data, const char *thread_id, uint64_t from,
                                phi_status (*each)(void *ctx, uint64_t seq, phi_str entry),
                                void *ctx, uint64_t *torn, char *words, size_t words_size) {
    phi__sql *s = (phi__sql *)user_data;
    phi__sql_to to = phi__sql_to_of(words, words_size);
    phi_status status = phi__sql_check_id(thread_id, to);
    sqlite3_stmt *statement;
    uint64_t count;
    int code;
    if (torn != NULL) *torn = 0; /* SQLite takes back what was torn */
    if (status != PHI_OK) return status;
    statement = phi__sql_of(s, PHI__SQL_COUNT, thread_id);
    code = sqlite3_step(statement);
    count = code == SQLITE_ROW ? (uint64_t)sqlite3_column_int64(statement, 0) : 0;
    status = phi__sql_refuse(s->db, code, to, "read", thread_id);
    phi__sql_done(statement);
    if (status != PHI_OK) return status;
    if (count == 0) {
        phi__sql_say(to, "Thread not found: %s", thread_id);
        return PHI_NOT_FOUND;
    }
    if (from >= count) return PHI_OK;
    statement = phi__sql_of(s, PHI__SQL_READ, thread_id);
    (void)sqlite3_bind_int64(statement, 2, (sqlite3_int64)from);
    status = phi__sql_give(s, statement, from, each, ctx, to, thread_id);
    phi__sql_done(statement);
    return status;
}

static phi_status phi__sql_remove_thread(void *user_data, const char *thread_id, char *words,
                                         size_t words_size) {
    phi__sql *s = (phi__sql *)user_data;
    phi__sql_to to = phi__sql_to_of(words, words_size);
    phi_status status = phi__sql_check_id(thread_id, to);
    sqlite3_stmt *statement;
    sqlite3 *own = NULL;
    int gone = 0;
    if (status == PHI_OK) status = phi__sql_borrow(s, thread_id, &own, to);
    if (status != PHI_OK) return status;
    status = phi__sql_refuse(s->db, phi__sql_do(s, PHI__SQL_BEGIN), to, "remove", thread_id);
    if (status == PHI_OK) {
        statement = phi__sql_of(s, PHI__SQL_REMOVE_ENTRIES, thread_id);
        status = phi__sql_refuse(s->db, sqlite3_step(statement), to, "remove", thread_id);
        phi__sql_done(statement);
        gone = sqlite3_changes(s->db);
        statement = phi__sql_of(s, PHI__SQL_REMOVE_THREAD, thread_id);
        if (status == PHI_OK)
            status = phi__sql_refuse(s->db, sqlite3_step(statement), to, "remove", thread_id);
        phi__sql_done(statement);
        status = phi__sql_end(s, status, to, "remove", thread_id);
    }
    (void)sqlite3_close(own);
    if (status != PHI_OK || gone > 0) return status;
    phi__sql_say(to, "Thread not found: %s", thread_id);
    return PHI_NOT_FOUND;
}

/* ---- opening ---- */

/* An SQLite code. */
static int phi__sql_begin(phi__sql *s, bool sync) {
#define PHI__SQL_X(name, text) text,
    static const char *const texts[] = {PHI__SQL_STATEMENTS(PHI__SQL_X) NULL};
#undef PHI__SQL_X
    int code = sqlite3_open_v2(s->path, &s->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
    int i;
    if (code == SQLITE_OK) code = sqlite3_exec(s->db, "PRAGMA journal_mode=WAL", NULL, NULL, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_exec(s->db, sync ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL",
                            NULL, NULL, NULL);
    if (code == SQLITE_OK) code = sqlite3_exec(s->db, phi__sql_tables, NULL, NULL, NULL);
    for (i = 0; code == SQLITE_OK && texts[i] != NULL; i++)
        code = sqlite3_prepare_v2(s->db, texts[i], -1, &s->statements[i], NULL);
    return code;
}

static void phi__sql_free(phi__sql *s) {
    int i;
    while (s->locks != NULL) phi__sql_unlock(s, s->locks->id);
    for (i = 0; i < (int)PHI__SQL_COUNT_OF_THEM; i++) (void)sqlite3_finalize(s->statements[i]);
    (void)sqlite3_close(s->db);
    sqlite3_free(s);
}

PHI_API phi_status phi_sqlite_store_open(const phi_sqlite_store_desc *desc, phi_store *out,
                                         char *words, size_t words_size) {
    phi__sql_to to = phi__sql_to_of(words, words_size);
    size_t n = desc == NULL || desc->path == NULL ? 0 : strlen(desc->path);
    phi_status status;
    phi__sql *s;
    int code;
    memset(out, 0, sizeof *out);
    if (n == 0 || n > PHI__SQL_PATH) {
        phi__sql_say(to, "A database needs a path, of at most %d bytes", (int)PHI__SQL_PATH);
        return PHI_BAD_ARG;
    }
    s = (phi__sql *)sqlite3_malloc((int)sizeof *s);
    if (s == NULL) {
        phi__sql_say(to, "Cannot open %s: no memory", desc->path);
        return PHI_NO_MEMORY;
    }
    memset(s, 0, sizeof *s);
    memcpy(s->path, desc->path, n + 1);
    code = phi__sql_begin(s, desc->sync);
    status = phi__sql_refuse(s->db, code, to, "open", s->path);
    if (status != PHI_OK) {
        phi__sql_free(s);
        return status;
    }
    out->user_data = s;
    out->save = phi__sql_save;
    out->load = phi__sql_load;
    out->remove = phi__sql_remove;
    out->list = phi__sql_list;
    out->append = phi__sql_append;
    out->read = phi__sql_read;
    out->remove_thread = phi__sql_remove_thread;
    out->list_threads = phi__sql_list_threads;
    out->lock = phi__sql_lock_thread;
    out->unlock = phi__sql_unlock;
    out->journal = phi_store_journal();
    return PHI_OK;
}

PHI_API void phi_sqlite_store_close(phi_store *store) {
    if (store == NULL || store->user_data == NULL) return;
    phi__sql_free((phi__sql *)store->user_data);
    memset(store, 0, sizeof *store);
}

#undef PHI__SQL_STATEMENTS
#endif
#endif
