/* list_files.c - the tool that lists files: walks the tree, some entries a step. All names are
   counted, but a heap keeps only the names that come first in order. The top of the heap is the
   last of these names. So memory is bounded by the names listed, and the walk is linear in the
   entries. */
#include "tools/job_in.h"
#include "base/base_in.h"
#include "tools/match_in.h"

#ifndef PHI_NO_FILES

#include <stdio.h>

enum {
    PHI__LIST_STEP = 1024, /* units of work in one step; an entry costs one */
    PHI__LIST_BUSY = 32,   /* units to open a directory, plus two for each directory above */
    PHI__LIST_BYTES = 256, /* bytes of patterns compared per unit */
    PHI__LIST_DEPTH = 3
};

typedef struct phi__list_run {
    phi__job job;
    const char *path, *pattern;
    uint64_t max_depth;
    uint64_t total;
    uint64_t ignored_count; /* entries left out; a directory counts as one */
    uint64_t end_us;
    phi__walk *walk;
    phi__walk_entry entry; /* the entry whose test by the ignore files is under way */
    bool asking;
    phi__ignored ignored;
    phi__buf choices; /* the patterns to which the pattern's braces expand */
    phi_str *names;   /* a heap with the last name in order on top; sorted at the end */
    size_t count, cap;
    size_t heap, written; /* names still in the heap; names already in `out` */
    phi__buf out;
} phi__list_run;

static void phi__ls_drop(phi__job *job) {
    phi__list_run *list = (phi__list_run *)(void *)job;
    phi__walk_free(list->walk);
    list->walk = NULL;
    phi__ignored_free(&list->ignored);
    phi__buf_free(&list->choices);
    while (list->count > 0) {
        phi_str name = list->names[--list->count];
        phi__free(job->memory, (void *)(uintptr_t)name.at, name.len);
    }
    phi__free(job->memory, list->names, list->cap * sizeof *list->names);
    list->names = NULL;
    list->cap = 0;
    phi__buf_free(&list->out);
}

/* ---- the names that come first ---- */

static bool phi__ls_before(phi_str a, phi_str b) {
    int order = memcmp(a.at, b.at, phi__min(a.len, b.len));
    return order != 0 ? order < 0 : a.len < b.len;
}

static bool phi__ls_above(const void *a, const void *b, const void *ctx) {
    (void)ctx;
    return phi__ls_before(*(const phi_str *)b, *(const phi_str *)a);
}

static const phi__heap phi__ls_heap = {sizeof(phi_str), phi__ls_above, NULL};

/* Counts a name, and keeps it if it is one of the first names in order. False: no memory. */
static bool phi__ls_add(phi__list_run *list, phi_str name) {
    uint32_t most = list->job.set->desc.max_files;
    bool full = list->count >= most;
    phi_str *names;
    list->total++;
    if (most == 0 || (full && !phi__ls_before(name, list->names[0]))) return true;
    names = (phi_str *)phi__grow(list->job.memory, list->names, &list->cap,
                                 phi__min(list->count + 1, most), sizeof *names);
    char *copy = names != NULL ? (char *)phi__alloc(list->job.memory, name.len) : NULL;
    if (names != NULL) list->names = names;
    if (copy == NULL) return false;
    memcpy(copy, name.at, name.len);
    name.at = copy;
    if (full) {
        phi__free(list->job.memory, (void *)(uintptr_t)names[0].at, names[0].len);
        names[0] = name;
        phi__heap_sink(&phi__ls_heap, names, list->count, 0);
    } else {
        names[list->count] = name;
        phi__heap_rise(&phi__ls_heap, names, list->count++);
    }
    return true;
}

/* Writes the path as the model gave it, followed by the name below that path, in one line. */
static void phi__ls_write(phi__list_run *list, phi_str relative) {
    phi__buf *out = &list->out;
    size_t n = strlen(list->path);
    if (out->len > 0) phi__buf_char(out, '\n');
    size_t from = out->len;
    while (n > 1 && phi__path_is_slash(list->path[n - 1])) n--;
    if (n > 1 || list->path[0] != '.') {
        phi__buf_add(out, list->path, n);
        if (!phi__path_is_slash(list->path[n - 1])) phi__buf_char(out, '/');
    }
    phi__utf8_repair(out, relative);
    if (!out->failed) out->len = from + phi__words_clean_line(out->at + from, out->len - from);
}

/* Sorts the heap, then writes the names as text. */
static phi_flow phi__ls_show(phi__job *job) {
    phi__list_run *list = (phi__list_run *)(void *)job;
    int units = PHI__LIST_STEP;
    for (; units > 0 && list->heap > 1; units--)
        phi__heap_pop(&phi__ls_heap, list->names, list->heap--);
    for (; units > 0 && list->heap <= 1 && list->written < list->count; units--)
        phi__ls_write(list, list->names[list->written++]);
    if (list->out.failed) return phi__job_no_memory(job);
    if (list->heap > 1 || list->written < list->count) return PHI_PENDING;
    bool cut = list->total > list->job.set->desc.max_files;
    unsigned long long ignored = list->ignored_count;
    char details[120], left_out[48] = "";
    if (ignored > 0) (void)snprintf(left_out, sizeof left_out, ",\"ignored\":%llu", ignored);
    (void)snprintf(details, sizeof details, "{\"total\":%llu,\"truncated\":%s%s}",
                   (unsigned long long)list->total, cut ? "true" : "false", left_out);
    if (list->total == 0) {
        phi__buf_printf(&list->out, "No files found in %s", list->path);
        if (!list->out.failed) list->out.len = phi__words_clean_line(list->out.at, list->out.len);
    } else if (cut)
        phi__buf_printf(&list->out, "\n\n... (%llu files, showing first %u)",
                        (unsigned long long)list->total, (unsigned)list->job.set->desc.max_files);
    else
        phi__buf_printf(&list->out, "\n\n(%llu files)", (unsigned long long)list->total);
    if (ignored > 0)
        phi__buf_printf(&list->out, "\n(left out: %llu ignored %s)", ignored,
                        ignored == 1 ? "entry" : "entries");
    if (list->out.failed) return phi__job_no_memory(&list->job);
    return phi__job_done(&list->job, phi__buf_str(&list->out), details);
}

/* True if the entry's kind, depth and name do not exclude it, so that the ignore files must
   decide. */
static bool phi__ls_asks(phi__list_run *list, size_t *work) {
    const phi__walk_entry *entry = &list->entry;
    phi_str path = entry->path, name = phi__glob_name(path);
    if (entry->kind != PHI__FILE_DIRECTORY) {
        if (entry->kind != PHI__FILE_REGULAR || entry->depth > list->max_depth) return false;
        if (list->pattern == NULL) return true;
        /* A pattern with a slash matches the whole path, one without a slash only the name. */
        if (strchr(list->pattern, '/') == NULL) path = name;
        return phi__glob_any(phi__buf_str(&list->choices), path, work);
    }
    if (entry->depth < list->max_depth) {
        /* These directories are never listed. .git is not even counted as left out. */
        bool skipped = phi__str_is(name, "target") || phi__str_is(name, "node_modules");
        if (skipped) list->ignored_count++;
        if (!skipped && !phi__str_is(name, ".git")) return true;
    }
    phi__walk_skip(list->walk);
    return false;
}

/* Returns the units for ignore files read since the last call. */
static uint32_t phi__ls_read(phi__list_run *list) {
    size_t spent = list->ignored.spent / PHI__LIST_BYTES;
    list->ignored.spent = 0;
    return (uint32_t)spent;
}

/* Handles the next entry and adds its cost to *units. PHI_NOT_FOUND: the walk has ended. */
static phi_status phi__ls_next(phi__list_run *list, uint32_t *units) {
    phi__walk_entry *entry = &list->entry;
    const size_t most = (size_t)(PHI__LIST_STEP - *units) * PHI__LIST_BYTES;
    size_t work = 0;
    phi_status status = PHI_OK;
    if (!list->asking) {
        memset(entry, 0, sizeof *entry);
        status = phi__walk_next(list->walk, entry);
        *units += status == PHI_BUSY ? PHI__LIST_BUSY + 2 * entry->depth : 1;
        if (status == PHI_BUSY && entry->entered) {
            status = phi__ignored_enter(&list->ignored, entry->depth, phi__walk_at(list->walk),
                                        entry->path);
            *units += phi__ls_read(list);
            return status;
        }
        list->asking = status == PHI_OK && phi__ls_asks(list, &work);
    }
    size_t left = most - phi__min(work, most - 1);
    bool directory = entry->kind == PHI__FILE_DIRECTORY, asked = list->asking;
    phi__ignore_said said = PHI__IGNORE_NONE;
    if (asked)
        status =
            phi__ignored_says(&list->ignored, entry->depth, entry->path, directory, &left, &said);
    *units += (uint32_t)(phi__max(work, most - left) / PHI__LIST_BYTES);
    list->asking = asked && status == PHI_BUSY;
    if (!asked || status != PHI_OK) return status;
    if (said == PHI__IGNORE_OUT) {
        list->ignored_count++;
        if (directory) phi__walk_skip(list->walk);
        return PHI_OK;
    }
    return directory || phi__ls_add(list, entry->path) ? PHI_OK : PHI_NO_MEMORY;
}

static phi_flow phi__ls_walk(phi__job *job) {
    phi__list_run *list = (phi__list_run *)(void *)job;
    if (phi__io_counted_us(job->io) >= list->end_us) return phi__job_fail(job, "Listing timed out");
    for (uint32_t units = 0; units < PHI__LIST_STEP;) {
        phi_status status = phi__ls_next(list, &units);
        if (status == PHI_NO_MEMORY) return phi__job_no_memory(job);
        if (status != PHI_NOT_FOUND) continue;
        phi__walk_free(list->walk);
        list->walk = NULL;
        list->heap = list->count;
        job->go = phi__ls_show;
        return phi__ls_show(job);
    }
    return PHI_PENDING;
}

/* Before the walk, reads the ignore files of the directories above the root. */
static phi_flow phi__ls_outer(phi__job *job) {
    phi__list_run *list = (phi__list_run *)(void *)job;
    uint32_t units = 0;
    phi_status status = PHI_BUSY;
    for (; status == PHI_BUSY && units < PHI__LIST_STEP; units += PHI__LIST_BUSY) {
        status = phi__ignored_above(&list->ignored, job->place);
        units += phi__ls_read(list);
    }
    if (status == PHI_BUSY) return PHI_PENDING;
    if (status != PHI_OK) return phi__job_no_memory(job);
    job->go = phi__ls_walk;
    return phi__ls_walk(job);
}

static phi_flow phi__ls_open(phi__job *job) {
    phi__list_run *list = (phi__list_run *)(void *)job;
    const phi_tools_desc *desc = &job->set->desc;
    phi__file_info info;
    phi__words words;
    if (phi__files_stat(job->place, PHI__LINKS_REFUSE, &info, &words) == PHI_NOT_FOUND ||
        (info.kind != PHI__FILE_NONE && info.kind != PHI__FILE_DIRECTORY))
        return phi__job_fail(job, "Directory not found: %s. Check the path and try again.",
                             list->path);
    phi_status status =
        phi__walk_new(job->memory, job->place, PHI__LINKS_REFUSE, &list->walk, &words);
    if (status == PHI_NO_MEMORY) return phi__job_no_memory(job);
    if (status != PHI_OK) return phi__job_fail(job, "Cannot access %s: %s", list->path, words.text);
    list->end_us = desc->list_timeout_ms == PHI_UNLIMITED
                       ? UINT64_MAX
                       : phi__io_counted_us(job->io) + (uint64_t)desc->list_timeout_ms * 1000;
    job->go = phi__ls_outer;
    return phi__ls_outer(job);
}

static phi_flow phi__ls_go(phi__job *job) {
    phi__list_run *list = (phi__list_run *)(void *)job;
    phi__buf_init(&list->out, job->memory);
    phi__buf_init(&list->choices, job->memory);
    phi__ignored_init(&list->ignored, job->memory);
    if (!phi__job_text(job, "path", false, &list->path) ||
        !phi__job_text(job, "pattern", false, &list->pattern) ||
        !phi__job_number(job, "max_depth", PHI__LIST_DEPTH, &list->max_depth))
        return PHI_DONE;
    if (list->path == NULL || list->path[0] == '\0') list->path = ".";
    /* Expand the pattern. An invalid one is matched as it is. */
    phi_str pattern = phi_str_of(list->pattern);
    if (pattern.len > PHI__GLOB_PATTERN)
        return phi__job_fail(job, "Cannot list %s: the pattern is longer than 2,048 bytes",
                             list->path);
    if (phi__str_starts(pattern, "./")) pattern = phi__str_from(pattern, 2);
    if (list->pattern != NULL && phi__glob_expand(&list->choices, pattern) != NULL)
        phi__buf_add_str(&list->choices, pattern);
    if (list->choices.failed) return phi__job_no_memory(job);
    return phi__job_place(job, list->path, phi__ls_open);
}

PHI__FN phi_flow phi__ls_start(void *user_data, phi_call call, phi_str arguments) {
    return phi__job_begin(user_data, call, arguments, sizeof(phi__list_run), false, phi__ls_go,
                          phi__ls_drop);
}

#endif
