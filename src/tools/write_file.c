/* write_file.c - the tool that writes a whole file, a slice a step, and replaces it at the end. */
#include "tools/job_in.h"

#ifndef PHI_NO_FILES

typedef struct phi__write {
    phi__job job;
    const char *path;
    phi_str content;
    phi__way way; /* to the place: its directories are made */
    size_t at;
    phi__file *file;
} phi__write;

static void phi__write_file_drop(phi__job *job) {
    phi__write *write = (phi__write *)(void *)job;
    phi__files_close(write->file);
    write->file = NULL;
    phi__files_leave(&write->way);
}

static phi_flow phi__write_file_done(phi__write *write) {
    phi__buf details, text;
    phi__buf_init(&details, write->job.memory);
    phi__buf_init(&text, write->job.memory);
    phi__buf_text(&details, "{\"path\":");
    phi__json_write_str(&details, phi_str_of(write->path));
    phi__buf_printf(&details, ",\"bytes\":%llu}", (unsigned long long)write->content.len);
    phi__buf_char(&details, '\0');
    phi__buf_printf(&text, "Wrote %llu bytes to %s", (unsigned long long)write->content.len,
                    write->path);
    if (details.failed || text.failed)
        (void)phi__job_no_memory(&write->job);
    else
        (void)phi__job_done(&write->job, phi__buf_str(&text), details.at);
    phi__buf_free(&details);
    phi__buf_free(&text);
    return PHI_DONE;
}

static phi_flow phi__write_file_slice(phi__job *job) {
    phi__write *write = (phi__write *)(void *)job;
    size_t n = phi__min(write->content.len - write->at, PHI__JOB_SLICE);
    phi__words words;
    phi_status status = PHI_OK;
    if (n > 0) status = phi__files_write(write->file, write->content.at + write->at, n, &words);
    write->at += n;
    if (status == PHI_OK && write->at < write->content.len) return PHI_PENDING;
    if (status == PHI_OK) status = phi__files_commit(write->file, &words);
    if (status != PHI_OK) return phi__job_fail(job, "Cannot write %s: %s", write->path, words.text);
    return phi__write_file_done(write);
}

static phi_flow phi__write_file_open(phi__job *job) {
    phi__write *write = (phi__write *)(void *)job;
    size_t units = PHI__JOB_PATHS;
    phi__words words;
    phi_status status;
    write->way.path = job->place;
    status = phi__files_make_way(&write->way, &units, &words);
    if (status == PHI_BUSY) return PHI_PENDING;
    phi__files_leave(&write->way);
    if (status == PHI_OK)
        status = phi__files_open_replace(job->memory, job->place, &write->file, &words);
    if (status == PHI_NO_MEMORY) return phi__job_no_memory(job);
    if (status != PHI_OK) return phi__job_fail(job, "Cannot write %s: %s", write->path, words.text);
    job->go = phi__write_file_slice;
    return phi__write_file_slice(job);
}

static phi_flow phi__write_file_go(phi__job *job) {
    phi__write *write = (phi__write *)(void *)job;
    if (!phi__job_text(job, "path", true, &write->path) ||
        !phi__job_str(job, "content", &write->content))
        return PHI_DONE;
    return phi__job_place(job, write->path, phi__write_file_open);
}

PHI__FN phi_flow phi__write_file_start(void *user_data, phi_call call, phi_str arguments) {
    return phi__job_begin(user_data, call, arguments, sizeof(phi__write), false, phi__write_file_go,
                          phi__write_file_drop);
}

#endif
