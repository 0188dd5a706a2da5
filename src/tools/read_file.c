/* read_file.c - the tool that reads a file in slices: text with line numbers, or an image, a PDF or
   audio in base64. Lines are numbered as they arrive. Room for the header is left before the lines,
   because the header's numbers are known only at the end. */
#include "agent/agent.h"
#include "tools/job_in.h"
#include "base/base_in.h"

#ifndef PHI_NO_FILES

#include <stdio.h>

enum {
    PHI__READ_HEADER_BYTES = 96,      /* "[Lines a-b of n]" and a newline */
    PHI__READ_MEDIA_BYTES = 20971520, /* max. bytes of an image, document or sound */
    PHI__READ_MEGABYTE = 1048576,
    PHI__READ_SLICE = PHI__JOB_SLICE / 3 * 3 /* a multiple of 3 for base64 */
};

/* The types of files, by the ending of the name. */
static const struct phi__read_type {
    const char *end, *mime_type;
    phi_content_kind kind;
    const char *start; /* first bytes of such a file; NULL: not checked */
} phi__read_types[] = {
    {"jpg", "image/jpeg", PHI_CONTENT_IMAGE, NULL},
    {"jpeg", "image/jpeg", PHI_CONTENT_IMAGE, NULL},
    {"png", "image/png", PHI_CONTENT_IMAGE, NULL},
    {"webp", "image/webp", PHI_CONTENT_IMAGE, NULL},
    {"gif", "image/gif", PHI_CONTENT_IMAGE, NULL},
    {"bmp", "image/bmp", PHI_CONTENT_IMAGE, NULL},
    {"pdf", "application/pdf", PHI_CONTENT_DOCUMENT, "%PDF-"},
    {"wav", "audio/wav", PHI_CONTENT_AUDIO, "RIFF"},
    {"mp3", "audio/mpeg", PHI_CONTENT_AUDIO, NULL},
};

typedef struct phi__read {
    phi__job job;
    const char *path;
    const struct phi__read_type *type; /* NULL: text */
    uint64_t first, limit;             /* first line wanted, counted from 0; number of lines */
    uint64_t line;                     /* the line being read, counted from 0 */
    uint64_t bytes;                    /* bytes of the file read so far */
    uint64_t wanted_bytes;             /* bytes of the wanted lines, including their ends */
    uint64_t last;                     /* number of the last line returned */
    bool in_line;
    phi__file *file;
    phi__buf out;
    char *slice;
    size_t carried; /* bytes at the slice's start that remain from the previous slice */
} phi__read;

static void phi__rf_drop(phi__job *job) {
    phi__read *read = (phi__read *)(void *)job;
    phi__files_close(read->file);
    read->file = NULL;
    phi__buf_free(&read->out);
    phi__free(job->memory, read->slice, PHI__READ_SLICE);
    read->slice = NULL;
}

/* Returns the type of a file by its name, or NULL for text. Documents and audio that the agent's
   model does not take are read as text, which fails with a message. */
static const struct phi__read_type *phi__rf_type(const phi__read *read) {
    const char *dot = strrchr(read->path, '.');
    if (dot == NULL) return NULL;
    for (size_t i = 0; i < PHI__COUNT(phi__read_types); i++) {
        const struct phi__read_type *type = &phi__read_types[i];
        if (!phi__str_is_nocase(phi_str_of(dot + 1), type->end)) continue;
        if (type->kind == PHI_CONTENT_IMAGE ||
            phi_agent_takes(phi_call_get_info(read->job.call).agent, type->kind,
                            phi_str_of(type->mime_type)))
            return type;
        return NULL;
    }
    return NULL;
}

static const char *phi__rf_kind(const phi__read *read) {
    return read->type->kind == PHI_CONTENT_IMAGE      ? "image"
           : read->type->kind == PHI_CONTENT_DOCUMENT ? "document"
                                                      : "sound";
}

/* Appends {"path":...,"bytes":...} and a NUL. "bytes" is left out for text. */
static void phi__rf_details(const phi__read *read, phi__buf *details) {
    phi__buf_text(details, "{\"path\":");
    phi__json_write_str(details, phi_str_of(read->path));
    if (read->type != NULL)
        phi__buf_printf(details, ",\"bytes\":%llu", (unsigned long long)read->bytes);
    phi__buf_text(details, "}");
    phi__buf_char(details, '\0');
}

/* Reads the next slice after the carried bytes. *n counts the carried and the new bytes. False: the
   job has failed. */
static bool phi__rf_more(phi__read *read, size_t *n, bool *end) {
    phi__words words;
    size_t got;
    if (phi__files_read(read->file, read->slice + read->carried, PHI__READ_SLICE - read->carried,
                        &got, &words) != PHI_OK) {
        (void)phi__job_fail(&read->job, "Cannot read %s: %s", read->path, words.text);
        return false;
    }
    read->bytes += got;
    *n = read->carried + got;
    *end = got == 0;
    read->carried = 0;
    return true;
}

static void phi__rf_carry(phi__read *read, size_t from, size_t n) {
    memmove(read->slice, read->slice + from, n - from);
    read->carried = n - from;
}

/* ---- images, documents, audio ---- */

static phi_flow phi__rf_media_end(phi__read *read) {
    phi__buf details;
    if (read->out.len == 0) /* providers refuse a block without data */
        return phi__job_fail(&read->job, "Cannot read %s: the %s is empty", read->path,
                             phi__rf_kind(read));
    phi_content content = PHI_ZERO;
    content.kind = read->type->kind;
    content.data = phi__buf_str(&read->out);
    content.mime_type = phi_str_of(read->type->mime_type);
    if (content.kind == PHI_CONTENT_DOCUMENT) content.name = phi__path_name(phi_str_of(read->path));
    phi__buf_init(&details, read->job.memory);
    phi__rf_details(read, &details);
    if (details.failed)
        (void)phi__job_no_memory(&read->job);
    else
        (void)phi__job_give(&read->job, &content, details.at, false);
    phi__buf_free(&details);
    return PHI_DONE;
}

static phi_flow phi__rf_media_too_large(phi__read *read, uint64_t bytes) {
    const char *kind = phi__rf_kind(read);
    return phi__job_fail(&read->job, "%c%s too large (%lluMB, max 20MB)", kind[0] - 'a' + 'A',
                         kind + 1, (unsigned long long)(bytes / PHI__READ_MEGABYTE));
}

static phi_flow phi__rf_media(phi__job *job) {
    phi__read *read = (phi__read *)(void *)job;
    phi_str start = phi_str_of(read->type->start);
    size_t n;
    bool end;
    if (!phi__rf_more(read, &n, &end)) return PHI_DONE;
    if (read->bytes > PHI__READ_MEDIA_BYTES) return phi__rf_media_too_large(read, read->bytes);
    size_t whole = end ? n : n / 3 * 3;
    /* Check the first bytes: a block that a provider refuses would fail every later model call. */
    if (whole > 0 && read->out.len == 0 && start.len > 0 &&
        (n < start.len || memcmp(read->slice, start.at, start.len) != 0))
        return phi__job_fail(job, "Cannot read %s: the file is not %s", read->path,
                             read->type->mime_type);
    phi__base64_encode(&read->out, read->slice, whole);
    if (read->out.failed) return phi__job_no_memory(job);
    phi__rf_carry(read, whole, n);
    return end ? phi__rf_media_end(read) : PHI_PENDING;
}

/* ---- text ---- */

static bool phi__rf_wanted(const phi__read *read) {
    return read->line >= read->first && read->line - read->first < read->limit;
}

/* Adds n bytes of one line, without its end. */
static void phi__rf_piece(phi__read *read, const char *at, size_t n) {
    bool begins = !read->in_line;
    read->in_line = true;
    if (!phi__rf_wanted(read)) return;
    if (begins) {
        if (read->line > read->first) phi__buf_char(&read->out, '\n');
        phi__buf_printf(&read->out, "%4llu | ", (unsigned long long)read->line + 1);
        read->last = read->line + 1;
    }
    phi__buf_add(&read->out, at, n);
    read->wanted_bytes += n;
}

static void phi__rf_lines(phi__read *read, const char *at, size_t n) {
    while (n > 0) {
        const char *newline = (const char *)memchr(at, '\n', n);
        size_t len = newline != NULL ? (size_t)(newline - at) : n;
        if (len > 0) phi__rf_piece(read, at, len);
        if (newline == NULL) return;
        phi__rf_piece(read, "", 0); /* an empty line counts, too */
        /* Remove a CR at the line's end. If the last byte is a CR, it belongs to this line, because
           a blank precedes the text of each line. */
        if (phi__rf_wanted(read)) {
            if (!read->out.failed && read->out.at[read->out.len - 1] == '\r') read->out.len--;
            read->wanted_bytes++;
        }
        read->in_line = false;
        read->line++;
        at += len + 1;
        n -= len + 1;
    }
}

static phi_flow phi__rf_text_end(phi__read *read) {
    char header[PHI__READ_HEADER_BYTES];
    uint64_t total = read->line + (read->in_line ? 1 : 0);
    uint64_t first = read->first < total ? read->first : total;
    uint64_t end = read->last > first ? read->last : first;
    phi__buf details;
    if (first > 0 || end < total)
        (void)snprintf(header, sizeof header, "[Lines %llu-%llu of %llu]\n",
                       (unsigned long long)first + 1, (unsigned long long)end,
                       (unsigned long long)total);
    else
        (void)snprintf(header, sizeof header, "[%llu lines]\n", (unsigned long long)total);
    size_t n = strlen(header);
    memcpy(read->out.at + PHI__READ_HEADER_BYTES - n, header, n);
    phi__buf_init(&details, read->job.memory);
    phi__rf_details(read, &details);
    if (details.failed)
        (void)phi__job_no_memory(&read->job);
    else
        (void)phi__job_done(&read->job,
                            phi__str(read->out.at + PHI__READ_HEADER_BYTES - n,
                                     read->out.len - PHI__READ_HEADER_BYTES + n),
                            details.at);
    phi__buf_free(&details);
    return PHI_DONE;
}

static phi_flow phi__rf_too_large(phi__read *read, uint64_t bytes) {
    return phi__job_fail(&read->job,
                         "File too large (%llu bytes, max %llu). Use offset/limit for partial "
                         "reads.",
                         (unsigned long long)bytes,
                         (unsigned long long)read->job.set->desc.max_read_bytes);
}

static phi_flow phi__rf_text(phi__job *job) {
    phi__read *read = (phi__read *)(void *)job;
    size_t n;
    bool end;
    if (!phi__rf_more(read, &n, &end)) return PHI_DONE;
    size_t valid = phi__utf8_valid(phi__str(read->slice, n));
    if (n - valid > 3 || (end && valid < n))
        return phi__job_fail(job, "Cannot read %s: the file is not valid UTF-8 text", read->path);
    phi__rf_lines(read, read->slice, valid);
    if (read->out.failed) return phi__job_no_memory(job);
    if (read->wanted_bytes > job->set->desc.max_read_bytes)
        return phi__rf_too_large(read, read->bytes);
    phi__rf_carry(read, valid, n);
    return end ? phi__rf_text_end(read) : PHI_PENDING;
}

/* ---- the beginning ---- */

static phi_flow phi__rf_placed(phi__job *job) {
    phi__read *read = (phi__read *)(void *)job;
    phi__file_info info;
    phi__words words;
    bool part = read->first > 0 || read->limit != UINT64_MAX;
    if (read->first > 0) read->first--;
    if (phi__files_stat(job->place, PHI__LINKS_REFUSE, &info, &words) != PHI_OK)
        return phi__job_fail(job, "Cannot access %s: %s", read->path, words.text);
    read->type = phi__rf_type(read);
    bool media = read->type != NULL;
    if (media && info.bytes > PHI__READ_MEDIA_BYTES)
        return phi__rf_media_too_large(read, info.bytes);
    if (!media && !part && info.kind == PHI__FILE_REGULAR &&
        info.bytes > job->set->desc.max_read_bytes)
        return phi__rf_too_large(read, info.bytes);
    phi_status status =
        phi__files_open_read(job->memory, job->place, PHI__LINKS_REFUSE, &read->file, &words);
    if (status == PHI_NO_MEMORY) return phi__job_no_memory(job);
    if (status != PHI_OK) return phi__job_fail(job, "Cannot read %s: %s", read->path, words.text);
    read->slice = (char *)phi__alloc(job->memory, PHI__READ_SLICE);
    size_t room = media ? (size_t)info.bytes / 3 * 4 + 8 : (size_t)PHI__READ_HEADER_BYTES;
    if (read->slice == NULL || phi__buf_reserve(&read->out, room) == NULL)
        return phi__job_no_memory(job);
    if (!media) phi__buf_add_len(&read->out, PHI__READ_HEADER_BYTES);
    job->go = media ? phi__rf_media : phi__rf_text;
    return job->go(job);
}

static phi_flow phi__rf_go(phi__job *job) {
    phi__read *read = (phi__read *)(void *)job;
    phi__buf_init(&read->out, job->memory);
    if (!phi__job_text(job, "path", true, &read->path) ||
        !phi__job_number(job, "offset", 0, &read->first) ||
        !phi__job_number(job, "limit", UINT64_MAX, &read->limit))
        return PHI_DONE;
    return phi__job_place(job, read->path, phi__rf_placed);
}

PHI__FN phi_flow phi__rf_start(void *user_data, phi_call call, phi_str arguments) {
    return phi__job_begin(user_data, call, arguments, sizeof(phi__read), false, phi__rf_go,
                          phi__rf_drop);
}

#endif
