/* search.c - the tool that searches files: rg, without a shell, or our own engine; grep where the
   host wants it.

   Lines are read as they come; after the last line to show, the program is killed. */
#include "tools/search_in.h"

#ifndef PHI_NO_FILES

#include "base/utf8_in.h"
#include "base/words_in.h"

#include <stdio.h>

enum {
    PHI__SEARCH_WORDS_BYTES = 2000, /* kept of stderr */
    PHI__SEARCH_NAME_BYTES = 16384, /* kept of a file's name, and of a notice before it */
    PHI__SEARCH_ARGS = 20,
    PHI__SEARCH_RETRY_US = 5000
};

static void phi__search_drop(phi__job *job) {
    phi__search *search = (phi__search *)(void *)job;
    phi__search_own_free(search);
#ifndef PHI_NO_PROCESS
    phi__process_free(search->process);
    search->process = NULL;
    phi__buf_free(&search->words);
    phi__buf_free(&search->last);
#endif
    phi__io_timer_clear(job->io, &search->deadline);
    phi__io_timer_clear(job->io, &search->tick);
    phi__buf_free(&search->line);
    phi__buf_free(&search->out);
}

static void phi__search_late(phi__timer *timer) {
    phi__search *search = PHI__OWNER(timer, phi__search, deadline);
    (void)phi__job_fail(&search->job, "Search timed out");
}

/* ---- a program ---- */

#ifndef PHI_NO_PROCESS

static void phi__search_spawn(phi__search *search);

/* rg may say behind the last line of a file that the rest is binary, in a line without a NUL, which
   then stands before the next name. Takes that out of search->line, and keeps the name. */
static void phi__search_notice(phi__search *search) {
    static const char words[] =
        ": WARNING: stopped searching binary file after match (found \"\\0\" "
        "byte around offset ";
    phi_str line = phi__buf_str(&search->line);
    size_t n = search->last.len, end;
    if (n > 0 && line.len > n && memcmp(line.at, search->last.at, n) == 0 &&
        phi__str_starts(phi__str(line.at + n, line.len - n), words)) {
        end = phi__str_find(line, n + sizeof words - 1, ")\n");
        if (end != SIZE_MAX) {
            phi__buf_drop(&search->line, end + 2);
            search->line_bytes -= end + 2;
        }
    }
    phi__buf_clear(&search->last);
    phi__buf_add(&search->last, search->line.at, search->line.len);
    /* "./" stands for the default path; models do not write it. */
    if (strcmp(search->path, ".") == 0 && phi__str_starts(phi__buf_str(&search->line), "./")) {
        phi__buf_drop(&search->line, 2);
        search->line_bytes -= 2;
    }
}

/* A file's name comes before a NUL, so that its own line breaks and colons are no separators: it
   becomes one line. Returns the bytes taken. */
static size_t phi__search_name(phi__search *search, const char *bytes, size_t len) {
    const char *nul = (const char *)memchr(bytes, '\0', len);
    size_t n = nul != NULL ? (size_t)(nul - bytes) : len;
    phi__buf_add(&search->line, bytes, phi__min(n, PHI__SEARCH_NAME_BYTES - search->line.len));
    search->line_bytes += n;
    if (nul == NULL) return n;
    if (search->line.failed) return len; /* the job ends for want of memory */
    phi__search_notice(search);
    search->line.len = phi__min(search->line.len, PHI__SEARCH_LINE_BYTES + 4);
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
        search->named = false;
        if (phi__search_lines_add(search)) return true;
        bytes += n + 1;
        len -= n + 1;
    }
    if (search->line.failed || search->out.failed) (void)phi__job_no_memory(&search->job);
    return true;
}

/* The program was not found: our own engine takes the place of rg, unless the host chose. */
static void phi__search_missing(phi__search *search) {
    if (search->job.set->desc.search_with == PHI_SEARCH_AUTOMATIC)
        phi__search_own_begin(search);
    else
        (void)phi__job_fail(&search->job, "Search error: %s was not found",
                            search->use_grep ? "grep" : "rg");
}

static void phi__search_exited(void *ctx, int code, int signal_number) {
    phi__search *search = (phi__search *)ctx;
    phi_str words;
    (void)signal_number;
    if (code == 127) { /* a shell that stands between says it this way */
        phi__process_free(search->process);
        search->process = NULL;
        phi__search_missing(search);
        return;
    }
    if (search->named && phi__search_lines_add(search)) return;
    words = phi__str_trim(phi__buf_str(&search->words));
    /* Found is found, also where a directory could not be read. */
    if (search->matches == 0 && (code > 1 || code < 0 || (code == 1 && words.len > 0)))
        (void)phi__job_fail(&search->job, "Search error: %.*s", (int)words.len, words.at);
    else
        (void)phi__search_lines_end(search);
}

/* The pattern comes behind -e and the path behind --, so that neither is ever an option. */
static void phi__search_arguments(const phi__search *search, const char *include,
                                  const char **argv) {
    static const char *const rg[] = {
        "rg",     "--no-config", "--line-number",      "--no-heading",  "--with-filename",
        "--null", "--no-mmap",   "--no-ignore-global", "--color=never", "--sort=path",
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
    if (status == PHI_BUSY)
        phi__search_again(search, PHI__SEARCH_RETRY_US);
    else if (status == PHI_NO_MEMORY)
        (void)phi__job_no_memory(&search->job);
    else if (status == PHI_NOT_FOUND)
        phi__search_missing(search);
    else if (status != PHI_OK)
        (void)phi__job_fail(&search->job, "Search error: %s", words);
}

/* A program opens its files by their names, which another process may have made links meanwhile. */
static bool phi__search_wants_own(const phi_tools_desc *desc) {
    return desc->search_with == PHI_SEARCH_OWN ||
           (desc->search_with == PHI_SEARCH_AUTOMATIC && phi__job_confined(desc));
}

static void phi__search_program(phi__search *search) {
    const phi_tools_desc *desc = &search->job.set->desc;
    phi__file_info info;
    search->use_grep = desc->search_with == PHI_SEARCH_GREP;
    if (phi__search_wants_own(desc))
        phi__search_own_begin(search);
    else if (phi__files_stat(search->job.place, PHI__LINKS_REFUSE, &info, NULL) == PHI_OK &&
             info.kind == PHI__FILE_OTHER) /* a pipe: the program would wait for its other end */
        (void)phi__job_fail(&search->job, "Search error: %s: Not a regular file", search->path);
    else
        phi__search_spawn(search);
}

#else

static void phi__search_program(phi__search *search) { phi__search_own_begin(search); }

#endif

/* ---- the beginning ---- */

/* Once the path is known to be allowed, the search begins. */
static void phi__search_place(phi__search *search) {
    phi_status status = search->placed ? PHI_OK : phi__job_place_more(&search->job);
    if (status == PHI_BUSY) phi__search_again(search, 1);
    if (status != PHI_OK) return;
    search->placed = true;
    phi__search_program(search);
}

static void phi__search_tick(phi__timer *timer) {
    phi__search *search = PHI__OWNER(timer, phi__search, tick);
    if (search->own != NULL)
        phi__search_own_more(search);
    else
        phi__search_place(search);
}

static phi_flow phi__search_go(phi__job *job) {
    phi__search *search = (phi__search *)(void *)job;
    uint32_t timeout_ms = job->set->desc.search_timeout_ms;
    phi__buf_init(&search->line, job->memory);
    phi__buf_init(&search->out, job->memory);
#ifndef PHI_NO_PROCESS
    phi__buf_init(&search->words, job->memory);
    phi__buf_init(&search->last, job->memory);
#endif
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
        phi__io_deadline_set(job->io, &search->deadline, (uint64_t)timeout_ms * 1000) != PHI_OK)
        return phi__job_no_memory(job);
    phi__search_place(search);
    return job->ended ? PHI_DONE : PHI_PENDING;
}

PHI__FN phi_flow phi__search_start(void *user_data, phi_call call, phi_str arguments) {
    return phi__job_begin(user_data, call, arguments, sizeof(phi__search), true, phi__search_go,
                          phi__search_drop);
}

#endif
