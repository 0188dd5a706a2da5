/* edit_file.c - the tool that replaces one piece of text. It reads the file, checks that the piece
   occurs exactly once, and rewrites the file, all in slices. It compares bytes, so a file in
   another encoding keeps all other bytes. */
#include "tools/edit_file_in.h"

#include "tools/job_in.h"
#include "base/base_in.h"

/* ---- finding a text in a longer text (Knuth-Morris-Pratt) ---- */

PHI__FN bool phi__finder_begin(phi__finder *finder, phi_memory *memory, phi_str needle,
                               phi_str text, size_t most) {
    phi__finder_end(finder);
    if (needle.len == 0 || needle.len >= UINT32_MAX / sizeof(uint32_t)) return false;
    finder->memory = memory;
    finder->needle = needle;
    finder->text = text;
    finder->most = most;
    if (needle.len > text.len) { /* no match is possible, so build no table */
        finder->built = needle.len;
        finder->at = text.len;
        return true;
    }
    finder->back = (uint32_t *)phi__realloc(memory, NULL, 0, needle.len * sizeof(uint32_t));
    if (finder->back == NULL) return false;
    finder->back[0] = 0;
    finder->built = 1;
    return true;
}

/* Returns how many bytes of the needle match after the text's next character `c` is read. Before,
   `matched` bytes matched. */
static size_t phi__finder_next(const phi__finder *finder, size_t matched, char c) {
    while (matched > 0 && finder->needle.at[matched] != c) matched = finder->back[matched - 1];
    return finder->needle.at[matched] == c ? matched + 1 : 0;
}

PHI__FN bool phi__finder_advance(phi__finder *finder, size_t units) {
    if (finder->built < finder->needle.len) {
        for (; units > 0 && finder->built < finder->needle.len; units--) {
            finder->matched =
                phi__finder_next(finder, finder->matched, finder->needle.at[finder->built]);
            finder->back[finder->built++] = (uint32_t)finder->matched;
        }
        if (finder->built == finder->needle.len) finder->matched = 0;
        return false;
    }
    size_t end = finder->text.len - finder->at > units ? finder->at + units : finder->text.len;
    while (finder->at < end && finder->found < finder->most) {
        if (finder->matched == 0) { /* nothing matches yet: skip to the needle's first byte */
            const void *next =
                memchr(finder->text.at + finder->at, finder->needle.at[0], end - finder->at);
            if (next == NULL) {
                finder->at = end;
                break;
            }
            finder->at = (size_t)((const char *)next - finder->text.at);
        }
        finder->matched = phi__finder_next(finder, finder->matched, finder->text.at[finder->at++]);
        if (finder->matched < finder->needle.len) continue;
        if (finder->found++ == 0) finder->first = finder->at - finder->needle.len;
        finder->matched = 0;
    }
    return finder->at == finder->text.len || finder->found == finder->most;
}

PHI__FN void phi__finder_end(phi__finder *finder) {
    if (finder->back != NULL)
        phi__free(finder->memory, finder->back, finder->needle.len * sizeof(uint32_t));
    memset(finder, 0, sizeof *finder);
}

/* ---- edit_file ---- */

#ifndef PHI_NO_FILES

#include <stdio.h>

enum {
    PHI__EDIT_BYTES = 16777216, /* max. bytes of a file, which is held in memory */
    PHI__EDIT_HINT_BYTES = 8192
};

typedef struct phi__edit {
    phi__job job;
    const char *path;
    phi_str old_text, new_text;
    phi__file *file; /* being read, later written */
    phi__buf content;
    phi__finder finder;
    phi_str parts[3]; /* the parts to write: before, new_text, after */
    size_t part, at;
} phi__edit;

static void phi__edit_drop(phi__job *job) {
    phi__edit *edit = (phi__edit *)(void *)job;
    phi__files_close(edit->file);
    edit->file = NULL;
    phi__finder_end(&edit->finder);
    phi__buf_free(&edit->content);
}

static phi_flow phi__edit_unreadable(phi__edit *edit, const char *words) {
    return phi__job_fail(&edit->job, "Cannot read %s: %s. Use write_file to create new files.",
                         edit->path, words);
}

static phi_flow phi__edit_unwritable(phi__edit *edit, const char *words) {
    return phi__job_fail(&edit->job, "Cannot write %s: %s", edit->path, words);
}

static size_t phi__edit_lines(phi_str s) {
    size_t n = s.len > 0 && s.at[s.len - 1] != '\n' ? 1 : 0;
    for (size_t i = 0; i < s.len; i++) n += s.at[i] == '\n';
    return n;
}

static phi_flow phi__edit_done(phi__edit *edit) {
    unsigned long long old_lines = phi__edit_lines(edit->old_text);
    unsigned long long new_lines = phi__edit_lines(edit->new_text);
    phi__buf text, details;
    phi__buf_init(&text, edit->job.memory);
    phi__buf_init(&details, edit->job.memory);
    if (phi_str_equal(edit->old_text, edit->new_text))
        phi__buf_text(&text, "No changes (old_text == new_text)");
    else
        phi__buf_printf(&text, "Replaced %llu line%s with %llu line%s in %s", old_lines,
                        old_lines == 1 ? "" : "s", new_lines, new_lines == 1 ? "" : "s",
                        edit->path);
    phi__buf_text(&details, "{\"path\":");
    phi__json_write_str(&details, phi_str_of(edit->path));
    phi__buf_printf(&details, ",\"old_lines\":%llu,\"new_lines\":%llu}", old_lines, new_lines);
    return phi__job_done_with(&edit->job, &text, &details);
}

static phi_flow phi__edit_write(phi__job *job) {
    phi__edit *edit = (phi__edit *)(void *)job;
    size_t left = PHI__JOB_SLICE;
    phi__words words;
    while (left > 0 && edit->part < PHI__COUNT(edit->parts)) {
        phi_str part = edit->parts[edit->part];
        size_t n = phi__min(left, part.len - edit->at);
        if (phi__files_write(edit->file, part.at + edit->at, n, &words) != PHI_OK)
            return phi__edit_unwritable(edit, words.text);
        left -= n;
        edit->at += n;
        if (edit->at < part.len) continue;
        edit->at = 0;
        edit->part++;
    }
    if (edit->part < PHI__COUNT(edit->parts)) return PHI_PENDING;
    if (phi__files_commit(edit->file, &words) != PHI_OK)
        return phi__edit_unwritable(edit, words.text);
    return phi__edit_done(edit);
}

static phi_flow phi__edit_not_found(phi__edit *edit) {
    return phi__job_fail(&edit->job,
                         "old_text not found in %s.\n\nTip: Use read_file to see the current "
                         "file contents, then copy the exact text you want to replace.",
                         edit->path);
}

/* Finds the place of old_text's first line in the file, and shows the lines from there on. */
static phi_flow phi__edit_find_hint(phi__job *job) {
    phi__edit *edit = (phi__edit *)(void *)job;
    const char *text = edit->content.at;
    if (!phi__finder_advance(&edit->finder, PHI__JOB_SLICE)) return PHI_PENDING;
    if (edit->finder.found == 0) return phi__edit_not_found(edit);
    size_t begin = edit->finder.first, end = begin;
    while (begin > 0 && text[begin - 1] != '\n') begin--;
    size_t lines = phi__edit_lines(phi__str_trim(edit->old_text)) + 1;
    for (size_t i = 0; i < lines && end < edit->content.len && end - begin < PHI__EDIT_HINT_BYTES;
         i++) {
        const char *newline = (const char *)memchr(text + end, '\n', edit->content.len - end);
        end = newline != NULL ? (size_t)(newline - text) + 1 : edit->content.len;
    }
    if (end > begin && text[end - 1] == '\n') end--;
    size_t n = phi__utf8_cut(phi__str(text + begin, end - begin), PHI__EDIT_HINT_BYTES);
    return phi__job_fail(job, "old_text not found in %s.\n\nDid you mean:\n```\n%.*s\n```",
                         edit->path, (int)n, text + begin);
}

static phi_flow phi__edit_found(phi__job *job) {
    phi__edit *edit = (phi__edit *)(void *)job;
    if (!phi__finder_advance(&edit->finder, PHI__JOB_SLICE)) return PHI_PENDING;
    if (edit->finder.found == 1) {
        size_t begin = edit->finder.first, end = begin + edit->old_text.len;
        phi__words words;
        if (phi_str_equal(edit->old_text, edit->new_text)) return phi__edit_done(edit);
        edit->parts[0] = phi__str(edit->content.at, begin);
        edit->parts[1] = edit->new_text;
        edit->parts[2] = phi__str(edit->content.at + end, edit->content.len - end);
        phi_status status =
            phi__files_open_replace(edit->job.memory, edit->job.place, &edit->file, &words);
        if (status == PHI_NO_MEMORY) return phi__job_no_memory(&edit->job);
        if (status != PHI_OK) return phi__edit_unwritable(edit, words.text);
        edit->job.go = phi__edit_write;
        return PHI_PENDING;
    }
    if (edit->finder.found > 1)
        return phi__job_fail(&edit->job,
                             "old_text matches %llu locations in %s. Include more surrounding "
                             "context to make the match unique.",
                             (unsigned long long)edit->finder.found, edit->path);
    phi_str s = phi__str_trim(edit->old_text);
    const char *newline = s.len > 0 ? (const char *)memchr(s.at, '\n', s.len) : NULL;
    phi_str line = newline != NULL ? phi__str_trim(phi__str(s.at, (size_t)(newline - s.at))) : s;
    if (line.len == 0) return phi__edit_not_found(edit);
    if (!phi__finder_begin(&edit->finder, edit->job.memory, line, phi__buf_str(&edit->content), 1))
        return phi__job_no_memory(&edit->job);
    edit->job.go = phi__edit_find_hint;
    return PHI_PENDING;
}

static phi_flow phi__edit_too_large(phi__edit *edit) {
    return phi__job_fail(&edit->job, "Cannot edit %s: larger than %u bytes", edit->path,
                         (unsigned)PHI__EDIT_BYTES);
}

static phi_flow phi__edit_read(phi__job *job) {
    phi__edit *edit = (phi__edit *)(void *)job;
    char *to = phi__buf_reserve(&edit->content, PHI__JOB_SLICE);
    phi__words words;
    size_t got;
    if (to == NULL) return phi__job_no_memory(job);
    if (phi__files_read(edit->file, to, PHI__JOB_SLICE, &got, &words) != PHI_OK)
        return phi__edit_unreadable(edit, words.text);
    phi__buf_add_len(&edit->content, got);
    if (edit->content.len > PHI__EDIT_BYTES) return phi__edit_too_large(edit);
    if (got > 0) return PHI_PENDING;
    phi__files_close(edit->file);
    edit->file = NULL;
    if (!phi__finder_begin(&edit->finder, job->memory, edit->old_text, phi__buf_str(&edit->content),
                           SIZE_MAX))
        return phi__job_no_memory(job);
    job->go = phi__edit_found;
    return PHI_PENDING;
}

static phi_flow phi__edit_open(phi__job *job) {
    phi__edit *edit = (phi__edit *)(void *)job;
    phi__file_info info;
    phi__words words;
    if (phi__files_stat(job->place, PHI__LINKS_REFUSE, &info, &words) != PHI_OK)
        return phi__edit_unreadable(edit, words.text);
    if (info.kind == PHI__FILE_REGULAR && info.bytes > PHI__EDIT_BYTES)
        return phi__edit_too_large(edit);
    phi_status status =
        phi__files_open_read(job->memory, job->place, PHI__LINKS_REFUSE, &edit->file, &words);
    if (status == PHI_NO_MEMORY) return phi__job_no_memory(job);
    if (status != PHI_OK) return phi__edit_unreadable(edit, words.text);
    if (phi__buf_reserve(&edit->content, (size_t)info.bytes + PHI__JOB_SLICE) == NULL)
        return phi__job_no_memory(job);
    job->go = phi__edit_read;
    return phi__edit_read(job);
}

static phi_flow phi__edit_go(phi__job *job) {
    phi__edit *edit = (phi__edit *)(void *)job;
    phi__buf_init(&edit->content, job->memory);
    if (!phi__job_text(job, "path", true, &edit->path) ||
        !phi__job_str(job, "old_text", &edit->old_text) ||
        !phi__job_str(job, "new_text", &edit->new_text))
        return PHI_DONE;
    if (edit->old_text.len == 0)
        return phi__job_fail(job, "Invalid arguments: 'old_text' must not be empty");
    return phi__job_place(job, edit->path, phi__edit_open);
}

PHI__FN phi_flow phi__edit_start(void *user_data, phi_call call, phi_str arguments) {
    return phi__job_begin(user_data, call, arguments, sizeof(phi__edit), false, phi__edit_go,
                          phi__edit_drop);
}

/* ---- write_file: writes a slice a step, and replaces the file at the end ---- */

typedef struct phi__write {
    phi__job job;
    const char *path;
    phi_str content;
    phi__way way; /* makes the directories of the path */
    size_t at;
    phi__file *file;
} phi__write;

static void phi__write_drop(phi__job *job) {
    phi__write *write = (phi__write *)(void *)job;
    phi__files_close(write->file);
    write->file = NULL;
    phi__files_leave(&write->way);
}

static phi_flow phi__write_slice(phi__job *job) {
    phi__write *write = (phi__write *)(void *)job;
    size_t n = phi__min(write->content.len - write->at, PHI__JOB_SLICE);
    unsigned long long all = (unsigned long long)write->content.len;
    phi__buf details, text;
    phi__words words;
    phi_status status = PHI_OK;
    if (n > 0) status = phi__files_write(write->file, write->content.at + write->at, n, &words);
    write->at += n;
    if (status == PHI_OK && write->at < write->content.len) return PHI_PENDING;
    if (status == PHI_OK) status = phi__files_commit(write->file, &words);
    if (status != PHI_OK) return phi__job_fail(job, "Cannot write %s: %s", write->path, words.text);
    phi__buf_init(&details, job->memory);
    phi__buf_init(&text, job->memory);
    phi__buf_text(&details, "{\"path\":");
    phi__json_write_str(&details, phi_str_of(write->path));
    phi__buf_printf(&details, ",\"bytes\":%llu}", all);
    phi__buf_printf(&text, "Wrote %llu bytes to %s", all, write->path);
    return phi__job_done_with(job, &text, &details);
}

static phi_flow phi__write_open(phi__job *job) {
    phi__write *write = (phi__write *)(void *)job;
    size_t units = PHI__JOB_PATHS;
    phi__words words;
    write->way.path = job->place;
    phi_status status = phi__files_make_way(&write->way, &units, &words);
    if (status == PHI_BUSY) return PHI_PENDING;
    phi__files_leave(&write->way);
    if (status == PHI_OK)
        status = phi__files_open_replace(job->memory, job->place, &write->file, &words);
    if (status == PHI_NO_MEMORY) return phi__job_no_memory(job);
    if (status != PHI_OK) return phi__job_fail(job, "Cannot write %s: %s", write->path, words.text);
    job->go = phi__write_slice;
    return phi__write_slice(job);
}

static phi_flow phi__write_go(phi__job *job) {
    phi__write *write = (phi__write *)(void *)job;
    if (!phi__job_text(job, "path", true, &write->path) ||
        !phi__job_str(job, "content", &write->content))
        return PHI_DONE;
    return phi__job_place(job, write->path, phi__write_open);
}

PHI__FN phi_flow phi__write_start(void *user_data, phi_call call, phi_str arguments) {
    return phi__job_begin(user_data, call, arguments, sizeof(phi__write), false, phi__write_go,
                          phi__write_drop);
}

#endif
