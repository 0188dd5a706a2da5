/* search.c - the tool that searches files: rg, or grep where there is none, without a shell.

   Lines are read as they come; after the last line to show, the program is killed. */
#include "tools/job_in.h"

#if !defined(PHI_NO_PROCESS) && !defined(PHI_NO_FILES)

#include "base/utf8_in.h"
#include "base/words_in.h"
#include "io/process_in.h"

#include <stdio.h>

enum {
    PHI__SEARCH_LINE_BYTES = 2000,  /* bytes listed of one line */
    PHI__SEARCH_WORDS_BYTES = 2000, /* kept of stderr */
    PHI__SEARCH_ARGS = 20,
    PHI__SEARCH_RETRY_US = 5000
};

#define PHI__SEARCH_NONE "Search error: neither rg nor grep was found"

typedef struct phi__search {
    phi__job job;
    const char *pattern, *path, *include;
    bool case_sensitive, use_grep, placed;
    phi__process *process;
    phi__timer deadline, tick;
    phi__buf line, out, words; /* line: the line being read */
    size_t line_bytes;         /* of it, listed or not */
    bool named;                /* the name of its file is whole */
    uint32_t matches;
} phi__search;

static void phi__search_spawn(phi__search *search);

static void phi__search_drop(phi__job *job) {
    phi__search *search = (phi__search *)(void *)job;
    phi__process_free(search->process);
    search->process = NULL;
    phi__io_timer_clear(job->io, &search->deadline);
    phi__io_timer_clear(job->io, &search->tick);
    phi__buf_free(&search->line);
    phi__buf_free(&search->out);
    phi__buf_free(&search->words);
}

/* ---- output ---- */

static phi_flow phi__search_done(phi__search *search) {
    char details[40];
    (void)snprintf(details, sizeof details, "{\"matches\":%u}", (unsigned)search->matches);
    if (search->matches == 0)
        phi__buf_printf(&search->out, "No matches found for '%s'", search->pattern);
    else if (search->matches >= search->job.set->desc.max_matches)
        phi__buf_printf(&search->out, "\n... (showing first %u matches)",
                        (unsigned)search->matches);
    else
        phi__buf_printf(&search->out, "\n(%u matches)", (unsigned)search->matches);
    if (search->out.failed) return phi__job_no_memory(&search->job);
    return phi__job_done(&search->job, phi__buf_str(&search->out), details);
}

/* A whole line; true: it was the last to list, and the job is done. */
static bool phi__search_line(phi__search *search) {
    phi_str line = phi__buf_str(&search->line);
    size_t shown = phi__utf8_cut(line, PHI__SEARCH_LINE_BYTES);
    bool cut = search->line_bytes > shown;
    size_t from;
    if (!cut && line.len > 0 && line.at[line.len - 1] == '\r') shown--;
    line.len = shown;
    /* "./" is what stands for the default path; models do not write it. */
    if (strcmp(search->path, ".") == 0 && phi__str_starts(line, "./"))
        line = phi__str(line.at + 2, line.len - 2);
    if (search->matches > 0) phi__buf_char(&search->out, '\n');
    from = search->out.len;
    phi__utf8_repair(&search->out, line);
    if (!search->out.failed)
        search->out.len = from + phi__words_clean(search->out.at + from, search->out.len - from);
    if (cut) phi__buf_text(&search->out, "... (line truncated)");
    phi__buf_clear(&search->line);
    search->line_bytes = 0;
    search->named = false;
    if (++search->matches < search->job.set->desc.max_matches) return false;
    (void)phi__search_done(search);
    return true;
}

/* A file's name comes before a NUL, so that its own line breaks and colons are no separators: it
   becomes one line. Returns the bytes taken. */
static size_t phi__search_name(phi__search *search, const char *bytes, size_t len) {
    const char *nul = (const char *)memchr(bytes, '\0', len);
    size_t n = nul != NULL ? (size_t)(nul - bytes) : len;
    phi__buf_add(&search->line, bytes, phi__min(n, PHI__SEARCH_LINE_BYTES + 4 - search->line.len));
    search->line_bytes += n;
    if (nul == NULL) return n;
    if (search->line.failed) return len; /* the job ends for want of memory */
    if (search->line.len > 0)
        search->line.len = phi__words_clean_line(search->line.at, search->line.len);
    if (search->line_bytes < PHI__SEARCH_LINE_BYTES) {
        phi__buf_char(&search->line, ':');
        search->line_bytes = search->line.len;
    }
    search->named = true;
    return n + 1;
}

static bool phi__search_output(void *ctx, int stream, const char *bytes, size_t len) {
    phi__search *search = (phi__search *)ctx;
    if (stream == 2) {
        phi__buf_add(&search->words, bytes,
                     phi__min(len, PHI__SEARCH_WORDS_BYTES - search->words.len));
        return true;
    }
    while (len > 0) {
        const char *newline;
        size_t n;
        if (!search->named) {
            n = phi__search_name(search, bytes, len);
            bytes += n;
            len -= n;
            continue;
        }
        newline = (const char *)memchr(bytes, '\n', len);
        n = newline != NULL ? (size_t)(newline - bytes) : len;
        /* One byte more than is listed shows that the line was cut; three more may belong to its
           last character. */
        phi__buf_add(&search->line, bytes,
                     phi__min(n, PHI__SEARCH_LINE_BYTES + 4 - search->line.len));
        search->line_bytes += n;
        if (newline == NULL) break;
        if (phi__search_line(search)) return true;
        bytes += n + 1;
        len -= n + 1;
    }
    if (search->line.failed || search->out.failed) (void)phi__job_no_memory(&search->job);
    return true;
}

static void phi__search_exited(void *ctx, int code, int signal_number) {
    phi__search *search = (phi__search *)ctx;
    phi_str words;
    (void)signal_number;
    if (code == 127 && !search->use_grep) { /* a shell that stands between says it this way */
        phi__process_free(search->process);
        search->process = NULL;
        search->use_grep = true;
        phi__buf_clear(&search->words);
        phi__search_spawn(search);
        return;
    }
    if (code == 127) {
        (void)phi__job_fail(&search->job, PHI__SEARCH_NONE);
        return;
    }
    if (search->named && phi__search_line(search)) return;
    words = phi__str_trim(phi__buf_str(&search->words));
    /* Found is found, also where a directory could not be read. */
    if (search->matches == 0 && (code > 1 || code < 0 || (code == 1 && words.len > 0)))
        (void)phi__job_fail(&search->job, "Search error: %.*s", (int)words.len, words.at);
    else
        (void)phi__search_done(search);
}

static void phi__search_late(phi__timer *timer) {
    phi__search *search = PHI__OWNER(timer, phi__search, deadline);
    (void)phi__job_fail(&search->job, "Search timed out");
}

/* ---- the beginning ---- */

/* The pattern comes behind -e and the path behind --, so that neither is ever an option. */
static void phi__search_arguments(const phi__search *search, const char *include,
                                  const char **argv) {
    static const char *const rg[] = {"rg",
                                     "--no-config",
                                     "--line-number",
                                     "--no-heading",
                                     "--with-filename",
                                     "--null",
                                     "--color=never",
                                     "--sort=path",
                                     NULL};
    static const char *const grep[] = {
        "grep", "-r", "-n", "-H", "-I", "-E", "--null", "--exclude-dir=.git", NULL};
    const char *const *head = search->use_grep ? grep : rg;
    size_t n = 0;
    while (head[n] != NULL) {
        argv[n] = head[n];
        n++;
    }
    if (!search->case_sensitive) argv[n++] = "-i";
    if (include != NULL) argv[n++] = include;
    argv[n++] = "-e";
    argv[n++] = search->pattern;
    argv[n++] = "--";
    argv[n++] = search->path;
    argv[n] = NULL;
}

static phi_status phi__search_try(phi__search *search, char *words, size_t size) {
    const char *argv[PHI__SEARCH_ARGS];
    phi__process_desc desc;
    phi__buf include;
    phi_status status = PHI_NO_MEMORY;
    phi__buf_init(&include, search->job.memory);
    if (search->include != NULL)
        phi__buf_printf(&include, search->use_grep ? "--include=%s" : "--glob=%s", search->include);
    phi__search_arguments(search, search->include != NULL ? include.at : NULL, argv);
    memset(&desc, 0, sizeof desc);
    desc.argv = argv;
    desc.cwd = search->job.set->desc.workspace;
    desc.output = phi__search_output;
    desc.exited = phi__search_exited;
    desc.ctx = search;
    words[0] = '\0';
    if (!include.failed)
        status = phi__process_new(search->job.io, &desc, &search->process, words, size);
    phi__buf_free(&include);
    return status;
}

static void phi__search_spawn(phi__search *search) {
    char words[160];
    phi_status status = phi__search_try(search, words, sizeof words);
    if (status == PHI_NOT_FOUND && !search->use_grep) {
        search->use_grep = true;
        status = phi__search_try(search, words, sizeof words);
    }
    if (status == PHI_BUSY &&
        phi__io_timer_set(search->job.io, &search->tick,
                          phi__io_now_us(search->job.io) + PHI__SEARCH_RETRY_US) == PHI_OK)
        return;
    if (status == PHI_NO_MEMORY || status == PHI_BUSY)
        (void)phi__job_no_memory(&search->job);
    else if (status == PHI_NOT_FOUND)
        (void)phi__job_fail(&search->job, PHI__SEARCH_NONE);
    else if (status != PHI_OK)
        (void)phi__job_fail(&search->job, "Search error: %s", words);
}

/* Once the path is known to be allowed, the program is started. */
static void phi__search_place(phi__search *search) {
    phi__job *job = &search->job;
    phi_status status = search->placed ? PHI_OK : phi__job_place_more(job);
    if (status == PHI_BUSY &&
        phi__io_timer_set(job->io, &search->tick, phi__io_now_us(job->io) + 1) != PHI_OK)
        (void)phi__job_no_memory(job);
    if (status != PHI_OK) return;
    search->placed = true;
    phi__search_spawn(search);
}

static void phi__search_tick(phi__timer *timer) {
    phi__search_place(PHI__OWNER(timer, phi__search, tick));
}

static phi_flow phi__search_go(phi__job *job) {
    phi__search *search = (phi__search *)(void *)job;
    uint32_t timeout_ms = job->set->desc.search_timeout_ms;
    phi__buf_init(&search->line, job->memory);
    phi__buf_init(&search->out, job->memory);
    phi__buf_init(&search->words, job->memory);
    search->deadline.fire = phi__search_late;
    search->tick.fire = phi__search_tick;
    if (!phi__job_text(job, "pattern", true, &search->pattern) ||
        !phi__job_text(job, "path", false, &search->path) ||
        !phi__job_text(job, "include", false, &search->include) ||
        !phi__job_flag(job, "case_sensitive", &search->case_sensitive))
        return PHI_DONE;
    if (search->path == NULL || search->path[0] == '\0') search->path = ".";
    if (phi__job_place_begin(job, search->path) != PHI_OK) return PHI_DONE;
    if (timeout_ms != PHI_UNLIMITED &&
        phi__io_timer_set(job->io, &search->deadline,
                          phi__io_now_us(job->io) + (uint64_t)timeout_ms * 1000) != PHI_OK)
        return phi__job_no_memory(job);
    phi__search_place(search);
    return job->ended ? PHI_DONE : PHI_PENDING;
}

PHI__FN phi_flow phi__search_start(void *user_data, phi_call call, phi_str arguments) {
    return phi__job_begin(user_data, call, arguments, sizeof(phi__search), true, phi__search_go,
                          phi__search_drop);
}

#endif
