/* list_files.c - the tool that lists files: a walk, some entries a step. */
#include "tools/job_in.h"

#ifndef PHI_NO_FILES

#include "base/utf8_in.h"
#include "tools/glob_in.h"

#include <stdio.h>

enum {
    PHI__LIST_STEP = 256, /* units of work in one step: an entry is one, */
    PHI__LIST_BUSY = 32,  /* opening a directory or reading a piece of it so many */
    PHI__LIST_DEPTH = 3
};

typedef struct phi__list {
    phi__job job;
    const char *path, *pattern;
    uint64_t max_depth;
    uint64_t total;
    uint64_t end_us;
    phi__walk *walk;
    phi__buf out;
} phi__list;

static void phi__list_drop(phi__job *job) {
    phi__list *list = (phi__list *)(void *)job;
    phi__walk_free(list->walk);
    list->walk = NULL;
    phi__buf_free(&list->out);
}

static bool phi__list_skipped(phi_str path) {
    static const char *const names[] = {"target", ".git", "node_modules"};
    size_t name = path.len, i;
    while (name > 0 && path.at[name - 1] != '/') name--;
    path = phi__str(path.at + name, path.len - name);
    for (i = 0; i < PHI__COUNT(names); i++)
        if (phi__str_is(path, names[i])) return true;
    return false;
}

/* A path as the model wrote it, and what is below it. */
static void phi__list_add(phi__list *list, phi_str relative) {
    size_t n = strlen(list->path);
    if (list->total++ >= list->job.set->desc.max_files) return;
    if (list->out.len > 0) phi__buf_char(&list->out, '\n');
    while (n > 1 && list->path[n - 1] == '/') n--;
    if (n > 1 || list->path[0] != '.') {
        phi__buf_add(&list->out, list->path, n);
        if (list->path[n - 1] != '/') phi__buf_char(&list->out, '/');
    }
    phi__utf8_repair(&list->out, relative);
}

static phi_flow phi__list_done(phi__list *list) {
    bool cut = list->total > list->job.set->desc.max_files;
    char details[80];
    (void)snprintf(details, sizeof details, "{\"total\":%llu,\"truncated\":%s}",
                   (unsigned long long)list->total, cut ? "true" : "false");
    if (list->total == 0)
        phi__buf_printf(&list->out, "No files found in %s", list->path);
    else if (cut)
        phi__buf_printf(&list->out, "\n\n... (%llu files, showing first %u)",
                        (unsigned long long)list->total, (unsigned)list->job.set->desc.max_files);
    else
        phi__buf_printf(&list->out, "\n\n(%llu files)", (unsigned long long)list->total);
    if (list->out.failed) return phi__job_no_memory(&list->job);
    return phi__job_done(&list->job, phi__buf_str(&list->out), details);
}

static void phi__list_entry(phi__list *list, const phi__walk_entry *entry) {
    if (entry->kind == PHI__FILE_DIRECTORY) {
        if (entry->depth >= list->max_depth || phi__list_skipped(entry->path))
            phi__walk_skip(list->walk);
    } else if (entry->kind == PHI__FILE_REGULAR && entry->depth <= list->max_depth) {
        if (list->pattern == NULL || phi__glob_match(list->pattern, entry->path))
            phi__list_add(list, entry->path);
    }
}

static phi_flow phi__list_walk(phi__job *job) {
    phi__list *list = (phi__list *)(void *)job;
    phi__walk_entry entry;
    int i;
    if (phi__io_now_us(job->io) >= list->end_us) return phi__job_fail(job, "Listing timed out");
    for (i = 0; i < PHI__LIST_STEP;) {
        phi_status status = phi__walk_next(list->walk, &entry);
        if (status == PHI_NOT_FOUND) return phi__list_done(list);
        if (status == PHI_OK) phi__list_entry(list, &entry);
        i += status == PHI_BUSY ? (int)PHI__LIST_BUSY : 1;
        if (status == PHI_NO_MEMORY || list->out.failed) return phi__job_no_memory(job);
    }
    return PHI_PENDING;
}

static phi_flow phi__list_go(phi__job *job) {
    phi__list *list = (phi__list *)(void *)job;
    const phi_tools_desc *desc = &job->set->desc;
    phi__file_info info;
    phi__words words;
    const char *real;
    phi_status status;
    phi__buf_init(&list->out, job->memory);
    if (!phi__job_text(job, "path", false, &list->path) ||
        !phi__job_text(job, "pattern", false, &list->pattern) ||
        !phi__job_number(job, "max_depth", PHI__LIST_DEPTH, &list->max_depth))
        return PHI_DONE;
    if (list->path == NULL || list->path[0] == '\0') list->path = ".";
    real = phi__job_place(job, list->path);
    if (real == NULL) return PHI_DONE;
    if (phi__file_stat(real, true, &info, &words) == PHI_NOT_FOUND ||
        (info.kind != PHI__FILE_NONE && info.kind != PHI__FILE_DIRECTORY))
        return phi__job_fail(job, "Directory not found: %s. Check the path and try again.",
                             list->path);
    status = phi__walk_new(job->memory, real, &list->walk, &words);
    if (status == PHI_NO_MEMORY) return phi__job_no_memory(job);
    if (status != PHI_OK) return phi__job_fail(job, "Cannot access %s: %s", list->path, words.text);
    list->end_us = desc->list_timeout_ms == PHI_UNLIMITED
                       ? UINT64_MAX
                       : phi__io_now_us(job->io) + (uint64_t)desc->list_timeout_ms * 1000;
    job->go = phi__list_walk;
    return phi__list_walk(job);
}

PHI__FN phi_flow phi__list_files_start(void *user_data, phi_call call, phi_str arguments) {
    return phi__job_begin(user_data, call, arguments, sizeof(phi__list), false, phi__list_go,
                          phi__list_drop);
}

#endif
