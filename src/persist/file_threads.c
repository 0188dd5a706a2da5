/* file_threads.c - threads of the file store: one line for each entry, with its check value.

       {"crc":"5c64baa6","phi_thread":1}
       {"crc":"41a0f168","seq":0,"e":{"a":"x"}}
       {"crc":"dd1e460f","seq":1,"of":[1,2],"e":{"b":1}}
       {"crc":"eab54e05","seq":2,"of":[1,2],"e":{"b":2}}

   An append is one write behind the last whole group of lines. Whatever a crash leaves behind that
   is torn: lines that are cut, or do not check, or lack a part of their group. Readers leave it
   out; the next append cuts it off. A line that does not check and has a good one of another group
   behind it was not torn but damaged. */
#include "persist/file_store_in.h"

#ifndef PHI_NO_FILES

#include <stdio.h>

enum {
    PHI__FILE_THREADS_PIECE = 256 * 1024,      /* read at once */
    PHI__FILE_THREADS_LINE = 512 * 1024 * 1024 /* bytes of a line, and of the lines of one append */
};

/* ---- a scan over a file ---- */

/* Of an entry, behind where its group begins. */
typedef struct phi__file_threads_place {
    size_t at, len;
} phi__file_threads_place;

typedef struct phi__file_threads_scan {
    phi__file_store *fs;
    intptr_t file;
    phi__buf buf;    /* bytes read that are still needed */
    phi__buf places; /* a phi__file_threads_place for each line of the group so far */
    uint64_t base;   /* the place in the file where buf begins */
    size_t at;       /* the next line in it */
    size_t keep;     /* where the group that is being read begins in it; at most `at` */
    uint64_t line;   /* the number of the line returned last */
    bool over;       /* the file has been read to its end */
    bool again;      /* the group has been read a second time */
    bool stopped;    /* by `each` */
    phi__words words;

    uint64_t from; /* entries to give */
    phi_status (*each)(void *ctx, uint64_t seq, phi_str entry);
    void *ctx;
    uint64_t count, end; /* whole groups so far */
} phi__file_threads_scan;

/* Reads on. */
static phi_status phi__file_threads_more(phi__file_threads_scan *s) {
    const phi__disk *disk = &s->fs->disk;
    phi_status status;
    size_t got, want;
    char *room;
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
    want = phi__max(PHI__FILE_THREADS_PIECE, s->buf.len); /* doubles for a long line */
    room = phi__buf_reserve(&s->buf, want);
    if (room == NULL) return PHI_NO_MEMORY;
    status =
        disk->read(disk->user_data, s->file, s->base + s->buf.len, room, want, &got, &s->words);
    if (status != PHI_OK) return status;
    phi__buf_add_len(&s->buf, got);
    s->over = got == 0;
    return PHI_OK;
}

/* The next line, without its end. PHI_NOT_FOUND: there is none, and *line is the rest behind the
   last line. */
static phi_status phi__file_threads_next(phi__file_threads_scan *s, phi_str *line) {
    size_t seen = 0;
    for (;;) {
        size_t n = s->buf.len - s->at;
        const char *from = n > 0 ? s->buf.at + s->at : "";
        const char *stop = n > seen ? (const char *)memchr(from + seen, '\n', n - seen) : NULL;
        phi_status status;
        *line = phi__str(from, stop != NULL ? (size_t)(stop - from) : n);
        if (stop != NULL) {
            s->at += line->len + 1;
            s->line++;
            return PHI_OK;
        }
        if (s->over) return PHI_NOT_FOUND;
        seen = n;
        status = phi__file_threads_more(s);
        if (status != PHI_OK) return status;
    }
}

/* Gives the entries of a whole group, whose lines lie in the buffer from s->keep on. */
static phi_status phi__file_threads_give(phi__file_threads_scan *s, uint64_t seq) {
    phi_status status = PHI_OK;
    phi__file_threads_place place;
    size_t i;
    for (i = 0; i < s->places.len && s->each != NULL && !s->stopped; i += sizeof place, seq++) {
        memcpy(&place, s->places.at + i, sizeof place);
        if (seq < s->from) continue;
        status = s->each(s->ctx, seq, phi__str(s->buf.at + s->keep + place.at, place.len));
        s->stopped = status != PHI_OK;
    }
    s->keep = s->at;
    return status;
}

/* A line of the group under way is whole. */
static void phi__file_threads_place_line(phi__file_threads_scan *s, const phi__file_line *line) {
    phi__file_threads_place place;
    if (line->seq == line->first) phi__buf_clear(&s->places);
    place.at = (size_t)(line->entry.at - s->buf.at) - s->keep;
    place.len = line->entry.len;
    phi__buf_add(&s->places, (const char *)&place, sizeof place);
}

static phi_status phi__file_threads_damaged(phi__file_threads_scan *s, uint64_t line,
                                            const char *what) {
    (void)snprintf(s->words.text, sizeof s->words.text, "line %llu %s", (unsigned long long)line,
                   what);
    return PHI_PARSE;
}

/* Behind a line that does not check: PHI_OK, all of it is torn; PHI_PARSE, the line is damaged. */
static phi_status phi__file_threads_torn(phi__file_threads_scan *s) {
    uint64_t bad = s->line;
    phi__file_line line;
    phi_str text;
    phi_status status;
    do {
        s->keep = s->at;
        status = phi__file_threads_next(s, &text);
        if (status != PHI_OK) return status == PHI_NOT_FOUND ? PHI_OK : status;
    } while (!phi__file_lines_read(text, &line) || line.first == s->count);
    return phi__file_threads_damaged(s, bad,
                                     "is damaged: its check value is not that of its bytes");
}

/* The first line. PHI_NOT_FOUND: the file ends in it, and nothing else is in the file. */
static phi_status phi__file_threads_header(phi__file_threads_scan *s) {
    phi__buf header;
    phi_str text, want;
    phi_status status = phi__file_threads_next(s, &text);
    bool same, begun;
    phi__buf_init(&header, &s->fs->memory);
    phi__file_lines_put_header(&header);
    if (header.failed) return PHI_NO_MEMORY;
    want = phi__str(header.at, header.len - 1);
    same = phi_str_equal(text, want);
    begun = text.len <= want.len && memcmp(text.at, want.at, text.len) == 0;
    phi__buf_free(&header);
    if (status == PHI_OK && same) {
        s->keep = s->at;
        s->end = s->base + s->at;
        return PHI_OK;
    }
    /* A power failure can leave zeros in a file whose size was already written. */
    if (status == PHI_NOT_FOUND && (begun || text.at[0] == '\0')) return PHI_NOT_FOUND;
    if (status != PHI_OK && status != PHI_NOT_FOUND) return status;
    return phi__file_threads_damaged(s, 1,
                                     status == PHI_OK && phi__file_lines_checks(text)
                                         ? "is the header of another version"
                                         : "is damaged: it is not a thread's header");
}

/* A writer may have cut off a torn group while it was being read here, and have written over it:
   before its bytes count as damaged, the group is read once more from the file. */
static bool phi__file_threads_reread(phi__file_threads_scan *s, uint64_t line) {
    if (s->again) return false;
    s->again = true;
    s->over = false;
    s->at = s->buf.len = s->keep;
    s->line = line;
    return true;
}

static phi_status phi__file_threads_misplaced(phi__file_threads_scan *s, uint64_t has,
                                              uint64_t expected) {
    (void)snprintf(s->words.text, sizeof s->words.text,
                   "line %llu has entry %llu where %llu was to come", (unsigned long long)s->line,
                   (unsigned long long)has, (unsigned long long)expected);
    return PHI_PARSE;
}

/* Reads the whole file. */
static phi_status phi__file_threads_run(phi__file_threads_scan *s) {
    phi__file_line line;
    phi_str text;
    phi_status status = phi__file_threads_header(s);
    /* the entry to come, its group's last, the line before that */
    uint64_t next = 0, last = 0, before = s->line;
    if (status == PHI_NOT_FOUND) return PHI_OK;
    while (status == PHI_OK) {
        status = phi__file_threads_next(s, &text);
        if (status == PHI_NOT_FOUND) return PHI_OK;
        if (status != PHI_OK) break;
        if (!phi__file_lines_checks(text)) {
            if (!phi__file_threads_reread(s, before)) return phi__file_threads_torn(s);
            next = s->count;
            continue;
        }
        if (!phi__file_lines_parse(text, &line))
            return phi__file_threads_damaged(s, s->line, "is not an entry");
        if (next == s->count) last = line.last;
        if (line.seq != next || line.first != s->count || line.last != last)
            return phi__file_threads_misplaced(s, line.seq, next);
        phi__file_threads_place_line(s, &line);
        if (s->places.failed) return PHI_NO_MEMORY;
        next++;
        if (next <= last) continue;
        s->count = next;
        s->end = s->base + s->at;
        s->again = false;
        before = s->line;
        status = phi__file_threads_give(s, line.first);
    }
    return status;
}

static void phi__file_threads_scan_init(phi__file_threads_scan *s, phi__file_store *fs,
                                        intptr_t file) {
    memset(s, 0, sizeof *s);
    s->fs = fs;
    s->file = file;
    phi__buf_init(&s->buf, &fs->memory);
    phi__buf_init(&s->places, &fs->memory);
}

static void phi__file_threads_scan_free(phi__file_threads_scan *s) {
    phi__buf_free(&s->buf);
    phi__buf_free(&s->places);
}

static phi_status phi__file_threads_refuse(phi__file_store_to to, phi_status status,
                                           const char *what, const char *id,
                                           const phi__words *words) {
    if (status == PHI_NO_MEMORY) return phi__file_store_no_memory(to);
    if (status != PHI_PARSE) return phi__file_store_refuse(to, status, what, id, ".jsonl", words);
    phi__file_store_say(to, "%s.jsonl: %s", id, words->text);
    return status;
}

/* ---- the end of a file ---- */

/* The last line, where it is whole and near: true, and *tail is known but for the file it is of. */
static bool phi__file_threads_glance(phi__file_store *fs, intptr_t file, uint64_t bytes,
                                     phi__file_store_tail *tail) {
    char piece[4096];
    size_t n = bytes < sizeof piece ? (size_t)bytes : sizeof piece, from, got;
    phi__file_line line;
    if (bytes <= PHI__FILE_STORE_HEADER ||
        fs->disk.read(fs->disk.user_data, file, bytes - n, piece, n, &got, NULL) != PHI_OK ||
        got != n || piece[n - 1] != '\n')
        return false;
    for (from = n - 1; from > 0 && piece[from - 1] != '\n';) from--;
    if (from == 0) return false;
    /* Of a group, a line before the last may be bad all the same. */
    if (!phi__file_lines_read(phi__str(piece + from, n - 1 - from), &line) ||
        line.first != line.last)
        return false;
    tail->count = line.seq + 1;
    tail->end = bytes;
    return true;
}

static phi_status phi__file_threads_find_tail(phi__file_store *fs, intptr_t file,
                                              const phi__disk_info *info,
                                              phi__file_store_tail *tail, phi__words *words) {
    phi__file_threads_scan scan;
    phi_status status = PHI_OK;
    if (tail->known && tail->device == info->device && tail->file == info->file &&
        tail->end == info->bytes)
        return PHI_OK;
    tail->known = false;
    if (!phi__file_threads_glance(fs, file, info->bytes, tail)) {
        phi__file_threads_scan_init(&scan, fs, file);
        status = phi__file_threads_run(&scan);
        *words = scan.words;
        tail->count = scan.count;
        tail->end = scan.count > 0 ? scan.end : 0;
        phi__file_threads_scan_free(&scan);
    }
    tail->known = status == PHI_OK;
    tail->device = info->device;
    tail->file = info->file;
    return status;
}

/* After a reading: no other process writes to a locked thread. */
static void phi__file_threads_remember(phi__file_threads_scan *s, const char *thread_id) {
    phi__file_store_held *held = phi__file_store_find(s->fs, thread_id);
    phi__disk_info info;
    if (held == NULL || s->fs->disk.info(s->fs->disk.user_data, s->file, &info, NULL) != PHI_OK)
        return;
    held->tail.known = true;
    held->tail.count = s->count;
    held->tail.end = s->count > 0 ? s->end : 0;
    held->tail.device = info.device;
    held->tail.file = info.file;
}

/* ---- appending ---- */

typedef struct phi__file_threads_write {
    phi__file_store *fs;
    const char *id;
    phi__file_store_path path;
    phi__file_store_tail *tail;
    intptr_t file;
    bool made; /* the file was not there */
    phi__file_store_to to;
    phi__words words;
} phi__file_threads_write;

static phi_status phi__file_threads_check(const phi_str *entries, size_t count,
                                          phi__file_store_to to) {
    size_t i, all = 0;
    for (i = 0; i < count; i++) {
        if (entries[i].len == 0 || memchr(entries[i].at, '\n', entries[i].len) != NULL) {
            phi__file_store_say(to, "Entry %llu of those to append is empty or has a line break",
                                (unsigned long long)i);
            return PHI_BAD_ARG;
        }
        all = phi__add(all, phi__add(entries[i].len, 128)); /* more than is put around it */
    }
    if (all <= PHI__FILE_THREADS_LINE) return PHI_OK;
    phi__file_store_say(to, "Entries of %llu bytes: at most %d are appended at once",
                        (unsigned long long)all, (int)PHI__FILE_THREADS_LINE);
    return PHI_TOO_BIG;
}

/* Opens the thread's file and looks where it ends. PHI_NOT_FOUND: it is not there. */
static phi_status phi__file_threads_open(phi__file_threads_write *w, phi__disk_how how) {
    const phi__disk *disk = &w->fs->disk;
    phi__disk_info info;
    phi_status status = disk->open(disk->user_data, w->path.text, how, &w->file, &w->words);
    if (status != PHI_OK) return status;
    status = disk->info(disk->user_data, w->file, &info, &w->words);
    if (status == PHI_OK)
        status = phi__file_threads_find_tail(w->fs, w->file, &info, w->tail, &w->words);
    if (status == PHI_OK && info.bytes > w->tail->end)
        status = disk->cut(disk->user_data, w->file, w->tail->end, &w->words);
    if (status == PHI_OK) return PHI_OK;
    (void)disk->close(disk->user_data, w->file, NULL);
    w->file = -1;
    return status;
}

/* Removes bytes that were not acknowledged. Where even that fails, a later append cuts them off as
   torn, or finds them complete. */
static void phi__file_threads_undo(phi__file_threads_write *w) {
    const phi__disk *disk = &w->fs->disk;
    if (w->file < 0 &&
        disk->open(disk->user_data, w->path.text, PHI__DISK_UPDATE, &w->file, NULL) != PHI_OK)
        w->file = -1;
    if (w->file >= 0) {
        (void)disk->cut(disk->user_data, w->file, w->tail->end, NULL);
        (void)disk->close(disk->user_data, w->file, NULL);
    }
    if (w->tail->end == 0) (void)disk->remove(disk->user_data, w->path.text, NULL);
    w->tail->known = false;
}

static phi_status phi__file_threads_write_lines(phi__file_threads_write *w, phi_str lines) {
    const phi__disk *disk = &w->fs->disk;
    intptr_t file = w->file;
    phi_status status = phi__file_store_write(w->fs, file, w->tail->end, lines, &w->words);
    if (status == PHI_OK && w->fs->sync) status = disk->sync(disk->user_data, file, &w->words);
    if (status == PHI_OK) {
        w->file = -1;
        status = disk->close(disk->user_data, file, &w->words);
    }
    if (status == PHI_OK && w->fs->sync && w->made)
        status = disk->sync_directory(disk->user_data, w->fs->directory, &w->words);
    if (status != PHI_OK) {
        phi__file_threads_undo(w);
        return status == PHI_NOT_FOUND ? PHI_IO : status;
    }
    return PHI_OK;
}

/* Leaves w->file open or not. */
static phi_status phi__file_threads_append(phi__file_threads_write *w, uint64_t expected,
                                           const phi_str *entries, size_t count) {
    phi_status status = phi__file_threads_open(w, PHI__DISK_UPDATE);
    uint64_t has = status == PHI_OK ? w->tail->count : 0;
    phi__buf lines;
    size_t i;
    w->made = status == PHI_NOT_FOUND;
    if (status == PHI_OK || w->made) {
        if (has != expected) {
            phi__file_store_say(w->to, "Thread %s has %llu entries, not %llu", w->id,
                                (unsigned long long)has, (unsigned long long)expected);
            return PHI_STALE;
        }
        if (count == 0) return PHI_OK;
    }
    phi__buf_init(&lines, &w->fs->memory);
    if (has == 0) phi__file_lines_put_header(&lines);
    for (i = 0; i < count; i++)
        phi__file_lines_put(&lines, has + i, has, has + count - 1, entries[i]);
    if (lines.failed) status = PHI_NO_MEMORY;
    if (status == PHI_NOT_FOUND) status = phi__file_threads_open(w, PHI__DISK_CREATE);
    if (status == PHI_OK) status = phi__file_threads_write_lines(w, phi__buf_str(&lines));
    if (status == PHI_OK) {
        w->tail->count += count;
        w->tail->end += lines.len;
    } else {
        (void)phi__file_threads_refuse(w->to, status, "append to", w->id, &w->words);
    }
    phi__buf_free(&lines);
    return status;
}

/* ---- for other modules ---- */

PHI__FN phi_status phi__file_threads_store_append(void *user_data, const char *thread_id,
                                                  uint64_t expected, const phi_str *entries,
                                                  size_t count, char *words, size_t words_size) {
    phi__file_store *fs = (phi__file_store *)user_data;
    phi__file_store_to to = phi__file_store_to_of(words, words_size);
    phi_status status = phi__file_store_check_id(thread_id, to);
    phi__file_store_held *held;
    phi__file_store_tail tail;
    phi__file_threads_write w;
    intptr_t lock = -1;
    if (status == PHI_OK) status = phi__file_threads_check(entries, count, to);
    if (status != PHI_OK) return status;
    held = phi__file_store_find(fs, thread_id);
    if (held == NULL) status = phi__file_store_lock_take(fs, thread_id, ".jsonl", &lock, to);
    if (status != PHI_OK) return status;
    memset(&tail, 0, sizeof tail);
    memset(&w, 0, sizeof w);
    w.fs = fs;
    w.id = thread_id;
    w.tail = held == NULL ? &tail : &held->tail;
    w.file = -1;
    w.to = to;
    phi__file_store_path_of(fs, &w.path, "", thread_id, ".jsonl");
    status = phi__file_threads_append(&w, expected, entries, count);
    if (w.file >= 0) (void)fs->disk.close(fs->disk.user_data, w.file, NULL);
    if (held == NULL) phi__file_store_lock_drop(fs, thread_id, ".jsonl", lock);
    return status;
}

PHI__FN phi_status
phi__file_threads_store_read(void *user_data, const char *thread_id, uint64_t from,
                             phi_status (*each)(void *ctx, uint64_t seq, phi_str entry), void *ctx,
                             uint64_t *torn, char *words, size_t words_size) {
    phi__file_store *fs = (phi__file_store *)user_data;
    phi__file_store_to to = phi__file_store_to_of(words, words_size);
    phi_status status = phi__file_store_check_id(thread_id, to);
    phi__file_store_path path;
    phi__file_threads_scan scan;
    intptr_t file;
    if (torn != NULL) *torn = 0;
    if (status != PHI_OK) return status;
    phi__file_threads_scan_init(&scan, fs, -1);
    phi__file_store_path_of(fs, &path, "", thread_id, ".jsonl");
    status = fs->disk.open(fs->disk.user_data, path.text, PHI__DISK_READ, &file, &scan.words);
    if (status == PHI_OK) {
        scan.file = file;
        scan.from = from;
        scan.each = each;
        scan.ctx = ctx;
        status = phi__file_threads_run(&scan);
        if (status == PHI_OK) {
            if (torn != NULL) *torn = scan.base + scan.buf.len - (scan.count > 0 ? scan.end : 0);
            phi__file_threads_remember(&scan, thread_id);
        }
        (void)fs->disk.close(fs->disk.user_data, file, NULL);
    }
    phi__file_threads_scan_free(&scan);
    if (scan.stopped) return status;
    if (status == PHI_OK && scan.count == 0) status = PHI_NOT_FOUND;
    if (status == PHI_NOT_FOUND)
        phi__file_store_say(to, "Thread not found: %s", thread_id);
    else if (status != PHI_OK)
        (void)phi__file_threads_refuse(to, status, "read", thread_id, &scan.words);
    return status;
}

PHI__FN phi_status phi__file_threads_store_remove(void *user_data, const char *thread_id,
                                                  char *words, size_t words_size) {
    phi__file_store *fs = (phi__file_store *)user_data;
    const phi__disk *disk = &fs->disk;
    phi__file_store_to to = phi__file_store_to_of(words, words_size);
    phi_status status = phi__file_store_check_id(thread_id, to);
    phi__file_store_held *held;
    phi__disk_info info;
    phi__file_store_path path;
    phi__words said;
    intptr_t lock = -1;
    if (status != PHI_OK) return status;
    phi__file_store_path_of(fs, &path, "", thread_id, ".jsonl");
    held = phi__file_store_find(fs, thread_id);
    status = disk->info_of(disk->user_data, path.text, &info, &said);
    if (status == PHI_OK) {
        if (held == NULL) status = phi__file_store_lock_take(fs, thread_id, ".jsonl", &lock, to);
        if (status != PHI_OK) return status;
        status = disk->remove(disk->user_data, path.text, &said);
        if (status == PHI_OK && fs->sync)
            status = disk->sync_directory(disk->user_data, fs->directory, &said);
        if (held == NULL) phi__file_store_lock_drop(fs, thread_id, ".jsonl", lock);
    }
    if (held != NULL) held->tail.known = false;
    if (status == PHI_NOT_FOUND)
        phi__file_store_say(to, "Thread not found: %s", thread_id);
    else if (status != PHI_OK)
        (void)phi__file_store_refuse(to, status, "remove", thread_id, ".jsonl", &said);
    return status;
}

#endif
