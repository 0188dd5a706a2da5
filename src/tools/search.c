/* search.c - the tool that searches files. It runs rg without a shell, or phi's own engine. It runs
   grep only if the host chose grep.

   Lines are read as they arrive. After the last line to show, the program is killed. */
#include "tools/match_in.h"
#include "system/system_in.h"
#include "tools/job_in.h"
#include "base/base_in.h"

#ifndef PHI_NO_FILES

#include <stdio.h>

enum { PHI__SEARCH_LINE_BYTES = 2000 /* max. bytes listed of one line */ };

typedef struct phi__search {
    phi__job job;
    const char *pattern, *path, *include;
    bool case_sensitive, placed;
    phi__timer deadline, tick;
    phi__buf line, out; /* line: the line being read */
    size_t line_bytes;  /* bytes of the line, listed or not */
    uint32_t matches;
    struct phi__search_own *own; /* NULL: a program searches */
#ifndef PHI_NO_PROCESS
    phi__process *process;
    phi__buf words;       /* from the program's standard error */
    phi__buf last;        /* file name of the last line, as the program wrote it */
    bool use_grep, named; /* named: the file name of the line is complete */
#endif
} phi__search;

/* Continues the search in a later step. */
static inline void phi__search_again(phi__search *search, uint64_t delay_us) {
    phi__job *job = &search->job;
    if (phi__io_timer_set(job->io, &search->tick, phi__io_now_us(job->io) + delay_us) != PHI_OK)
        (void)phi__job_no_memory(job);
}

/* ---- the lines that a search lists, and its result ---- */

static phi_flow phi__search_end(phi__search *search) {
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

/* Lists search->line, which is complete. True: it was the last line to list, and the job ended. */
static bool phi__search_add(phi__search *search) {
    phi_str line = phi__buf_str(&search->line);
    size_t shown = phi__utf8_cut(line, PHI__SEARCH_LINE_BYTES);
    bool cut = search->line_bytes > shown;
    if (!cut && line.len > 0 && line.at[line.len - 1] == '\r') shown--;
    line.len = shown;
    if (search->matches > 0) phi__buf_char(&search->out, '\n');
    size_t from = search->out.len;
    phi__utf8_repair(&search->out, line);
    if (!search->out.failed)
        search->out.len = from + phi__words_clean(search->out.at + from, search->out.len - from);
    if (cut) phi__buf_text(&search->out, "... (line truncated)");
    phi__buf_clear(&search->line);
    search->line_bytes = 0;
    if (++search->matches < search->job.set->desc.max_matches) return false;
    (void)phi__search_end(search);
    return true;
}

/* ---- the search without a program ----

   Walks the tree in order and runs phi's own engine over each file. It reads the same files as
   ripgrep, and stops in each at the same byte. ripgrep reads pieces of 64 KiB, and stops before the
   piece that holds a NUL. After a piece that ends in an incomplete line, the next piece is shorter
   by the bytes of that line. */

enum {
    PHI__OWN_PIECE = 65536,
    PHI__OWN_BUFFER = PHI__OWN_PIECE + 64,
    PHI__OWN_MARK = 3,      /* bytes that ripgrep reads first, for a byte order mark */
    PHI__OWN_UNITS = 65536, /* units of work at once; a byte of text costs one */
    PHI__OWN_TURNS = 8,     /* max. times that one step does this many units */
    PHI__OWN_ENTRY = 64,    /* units for an entry */
    PHI__OWN_OPEN = 4096,   /* units for opening and closing a file or a directory */
    PHI__OWN_PART = 256     /* units for each part of a directory's path */
};

typedef enum phi__search_phase {
    PHI__SEARCH_ABOVE, /* reads the ignore files of the directories above */
    PHI__SEARCH_WALK,
    PHI__SEARCH_SCAN
} phi__search_phase;

typedef struct phi__search_own {
    phi__search_phase phase;
    phi__regex *regex;
    phi__ignore include; /* `include` as a rule: it matches the entries to search */
    phi__ignored ignored;
    phi__ordered *tree;       /* NULL: the path is one file */
    phi__ordered_entry entry; /* kept while the ignore files are tested */
    bool asking;
    phi__file *file;
    phi__buf name; /* name of the file, as it is listed */
    phi__words words;
    phi__buf trouble; /* the first directory or file that could not be read, and why */
    /* the text of the file */
    char *text;
    size_t from, have; /* the bytes read but not scanned: their place; their number */
    size_t piece;      /* bytes of `have` that belong to the piece being scanned */
    size_t at;         /* place in the piece */
    size_t tail;       /* bytes of an incomplete character at the end of the last piece */
    bool first, whole; /* first: nothing is scanned yet; whole: the file was read to its end */
    bool found;        /* the line at `at` matches; its end is being looked for */
    uint64_t line;     /* number of the line at `begin` */
    size_t begin;      /* start of the line in the piece; 0 if the line began earlier */
    phi__buf head;     /* first bytes of a line that began in an earlier piece */
    size_t head_bytes; /* number of that line's bytes in earlier pieces */
} phi__search_own;

/* Calling it twice is harmless. */
static void phi__own_free(phi__search *search) {
    phi_memory *memory = search->job.memory;
    phi__search_own *own = search->own;
    if (own == NULL) return;
    search->own = NULL;
    phi__regex_free(own->regex);
    phi__ignore_free(&own->include);
    phi__ignored_free(&own->ignored);
    phi__ordered_free(own->tree);
    phi__files_close(own->file);
    phi__buf_free(&own->name);
    phi__buf_free(&own->trouble);
    phi__buf_free(&own->head);
    phi__free(memory, own->text, PHI__OWN_BUFFER);
    phi__free(memory, own, sizeof *own);
}

/* Notes the first directory or file that cannot be read. It is reported if nothing is found. */
static void phi__own_note(phi__search_own *own, const char *path, const char *words) {
    if (own->trouble.len == 0) phi__buf_printf(&own->trouble, "%s: %s", path, words);
}

static void phi__own_end(phi__search *search) {
    phi__search_own *own = search->own;
    phi_str trouble = phi__buf_str(&own->trouble);
    if (own->trouble.failed)
        (void)phi__job_no_memory(&search->job);
    else if (search->matches == 0 && trouble.len > 0)
        (void)phi__job_fail(&search->job, "Search error: %.*s", (int)trouble.len, trouble.at);
    else
        (void)phi__search_end(search);
}

/* Lists the line from `begin` to `end`, with its bytes from earlier pieces. True: the job ended. */
static bool phi__own_emit(phi__search *search, size_t end) {
    phi__search_own *own = search->own;
    phi__buf *line = &search->line;
    const size_t most = PHI__SEARCH_LINE_BYTES + 4;
    phi__buf_add_str(line, phi__buf_str(&own->name));
    if (!line->failed) line->len = phi__words_clean_line(line->at, phi__min(line->len, most));
    phi__buf_printf(line, ":%llu:", (unsigned long long)own->line);
    search->line_bytes = line->len + own->head_bytes + (end - own->begin);
    phi__buf_add(line, own->head.at, phi__min(own->head.len, most - phi__min(line->len, most)));
    phi__buf_add(line, own->text + own->from + own->begin,
                 phi__min(end - own->begin, most - phi__min(line->len, most)));
    if (line->failed || own->head.failed) {
        (void)phi__job_no_memory(&search->job);
        return true;
    }
    if (phi__search_add(search)) return true;
    if (!search->out.failed) return false;
    (void)phi__job_no_memory(&search->job);
    return true;
}

/* Moves `begin` to the start of the line at `at`, and counts the newlines passed. */
static void phi__own_line(phi__search_own *own, size_t at) {
    const char *text = own->text + own->from;
    size_t i = own->begin;
    const char *newline;
    while (i < at && (newline = (const char *)memchr(text + i, '\n', at - i)) != NULL) {
        i = (size_t)(newline - text) + 1;
        own->line++;
        own->begin = i;
        own->head_bytes = 0;
        phi__buf_clear(&own->head);
    }
}

/* Scans the piece. PHI_OK: the piece was scanned to its end. PHI_BUSY: no units are left.
   PHI_REFUSED: the job has ended. */
static phi_status phi__own_scan(phi__search *search, size_t *units) {
    phi__search_own *own = search->own;
    const char *text = own->text + own->from;
    for (;;) {
        phi__regex_found found = PHI__REGEX_MATCH;
        if (!own->found)
            found = phi__regex_scan(own->regex, phi__str(text, own->piece),
                                    own->whole && own->piece == own->have, &own->at, units);
        if (found == PHI__REGEX_BUSY) return PHI_BUSY;
        if (found == PHI__REGEX_NONE) return PHI_OK;
        if (found == PHI__REGEX_NO_MEMORY) {
            (void)phi__job_no_memory(&search->job);
            return PHI_REFUSED;
        }
        own->found = true;
        phi__own_line(own, own->at);
        const char *newline = (const char *)memchr(text + own->at, '\n', own->piece - own->at);
        if (newline == NULL) { /* the line ends in a later piece */
            own->at = own->piece;
            return PHI_OK;
        }
        if (phi__own_emit(search, (size_t)(newline - text))) return PHI_REFUSED;
        own->at = (size_t)(newline - text) + 1;
        phi__own_line(own, own->at);
        own->found = false;
        phi__regex_begin(own->regex);
    }
}

static void phi__own_shut(phi__search_own *own) {
    phi__files_close(own->file);
    own->file = NULL;
    own->phase = PHI__SEARCH_WALK;
}

/* Reads the next piece of the file. False: the file has ended and was closed, or the job ended. */
static bool phi__own_piece(phi__search *search, size_t *units) {
    phi__search_own *own = search->own;
    size_t got = 1, want = own->first ? (size_t)PHI__OWN_MARK : (size_t)PHI__OWN_PIECE;
    if (own->head_bytes + own->tail < PHI__OWN_PIECE)
        want -= phi__min(own->head_bytes, want);
    else
        want += own->tail;
    if (own->from > 0) memmove(own->text, own->text + own->from, own->have);
    for (own->from = 0; own->have < want && !own->whole; own->have += got) {
        if (phi__files_read(own->file, own->text + own->have, PHI__OWN_BUFFER - own->have, &got,
                            &own->words) != PHI_OK) {
            phi__own_note(own, own->name.at, own->words.text);
            phi__own_shut(own);
            return false;
        }
        own->whole = got == 0;
    }
    own->piece = phi__min(own->have, want);
    *units -= phi__min(*units, own->piece / 4);
    if (own->piece == 0) { /* the last line may have no newline */
        if (own->head_bytes > 0 && !own->found) {
            phi__regex_found found = phi__regex_finish(own->regex);
            if (found == PHI__REGEX_NO_MEMORY) {
                (void)phi__job_no_memory(&search->job);
                return false;
            }
            own->found = found == PHI__REGEX_MATCH;
        }
        if (own->head_bytes == 0 || !own->found || !phi__own_emit(search, own->begin))
            phi__own_shut(own);
        return false;
    }
    if (memchr(own->text, '\0', own->piece) != NULL) { /* binary from here on */
        phi__own_shut(own);
        return false;
    }
    if (own->first && phi__str_starts(phi__str(own->text, own->piece), "\xEF\xBB\xBF")) {
        own->from = 3;
        own->have -= 3;
        own->piece = 0;
    }
    own->first = false;
    own->at = 0;
    return true;
}

static void phi__own_read(phi__search *search, size_t *units) {
    phi__search_own *own = search->own;
    if (own->at == own->piece && !phi__own_piece(search, units)) return;
    phi_status status = phi__own_scan(search, units);
    if (status == PHI_OK) {
        /* Keep the part of the last line that was scanned, up to `at`. */
        phi__own_line(own, own->at);
        size_t rest = own->at - own->begin;
        if (own->head.len < PHI__SEARCH_LINE_BYTES + 4)
            phi__buf_add(&own->head, own->text + own->from + own->begin,
                         phi__min(rest, PHI__SEARCH_LINE_BYTES + 4 - own->head.len));
        own->head_bytes += rest;
        own->tail = own->piece - own->at;
        own->from += own->at;
        own->have -= own->at;
        own->at = own->piece = own->begin = 0;
    }
}

/* Begins the search of the file just opened. */
static void phi__own_start(phi__search_own *own) {
    own->phase = PHI__SEARCH_SCAN;
    own->from = own->have = own->piece = own->at = own->begin = own->head_bytes = own->tail = 0;
    own->first = true;
    own->whole = own->found = false;
    own->line = 1;
    phi__buf_clear(&own->head);
    phi__regex_begin(own->regex);
}

/* Sets the name as it is listed: the path as the model gave it, then the path below. */
static bool phi__own_name(phi__search *search, phi_str path) {
    phi__search_own *own = search->own;
    size_t n = strlen(search->path);
    phi__buf_clear(&own->name);
    if (strcmp(search->path, ".") != 0) {
        phi__buf_add(&own->name, search->path, n);
        if (path.len > 0 && !phi__path_is_slash(search->path[n - 1]))
            phi__buf_char(&own->name, '/');
    }
    phi__buf_add_str(&own->name, path);
    phi__buf_char(&own->name, '\0');
    own->name.len -= own->name.failed ? 0 : 1;
    return !own->name.failed;
}

/* Handles an entry. First `include` may decide if the entry is left out; if not, the ignore files
   may decide. If they do not, a hidden entry is left out. PHI_BUSY: the units are used up. */
static phi_status phi__own_entry(phi__search *search, size_t *units) {
    phi__search_own *own = search->own;
    const phi__ordered_entry *entry = &own->entry;
    const char *workspace = search->job.set->desc.workspace;
    bool directory = entry->kind == PHI__FILE_DIRECTORY, out = false, settled = false;
    phi_status status = PHI_OK;
    phi__ignore_said said;
    if (!directory && entry->kind != PHI__FILE_REGULAR) return PHI_OK;
    if (!phi__own_name(search, entry->path)) return PHI_NO_MEMORY;
    if (!own->asking) {
        /* `include` is matched with the path relative to the workspace. */
        phi_str name = phi__buf_str(&own->name);
        size_t n = workspace != NULL ? strlen(workspace) : 0, rules = own->include.count;
        while (phi__str_starts(name, "./")) name = phi__str_from(name, 2);
        if (n > 0 && phi__path_absolute(phi_str_of(workspace)) &&
            phi__str_starts(name, workspace) &&
            (phi__path_is_slash(workspace[n - 1]) || phi__path_is_slash(name.at[n++])))
            name = phi__str_from(name, n);
        said = phi__ignore_says(&own->include, name, directory, &rules, units);
        out = said == PHI__IGNORE_IN ||
              (said == PHI__IGNORE_NONE && own->include.outs > 0 && !directory);
        settled = said != PHI__IGNORE_NONE || out;
    }
    if (!settled) {
        status =
            phi__ignored_says(&own->ignored, entry->depth, entry->path, directory, units, &said);
        own->asking = status == PHI_BUSY;
        out = said == PHI__IGNORE_OUT ||
              (said == PHI__IGNORE_NONE && phi__glob_name(entry->path).at[0] == '.');
    }
    if (status != PHI_OK) return status;
    if (out && directory) phi__ordered_skip(own->tree);
    if (out || directory) return PHI_OK;
    status = phi__files_open_in(search->job.memory, phi__ordered_at(own->tree),
                                phi__glob_name(entry->path).at, &own->file, &own->words);
    if (status == PHI_OK) phi__own_start(own);
    if (status == PHI_IO) phi__own_note(own, own->name.at, own->words.text);
    return status == PHI_NO_MEMORY ? PHI_NO_MEMORY : PHI_OK;
}

/* Handles the next entry. PHI_NOT_FOUND: the walk has ended. */
static phi_status phi__own_next(phi__search *search, size_t *units) {
    phi__search_own *own = search->own;
    phi__ordered_entry *entry = &own->entry;
    phi_status status = PHI_OK;
    size_t cost = PHI__OWN_ENTRY;
    if (own->tree == NULL) return PHI_NOT_FOUND;
    if (!own->asking) status = phi__ordered_next(own->tree, entry, &own->words);
    if (status == PHI_BUSY || status == PHI_IO || entry->entered)
        cost += PHI__OWN_OPEN + PHI__OWN_PART * (size_t)entry->depth;
    if (status == PHI_IO) {
        if (!phi__own_name(search, entry->path)) return PHI_NO_MEMORY;
        phi__own_note(own, own->name.at, own->words.text);
        status = PHI_OK;
    } else if (status == PHI_OK && entry->entered) {
        status = phi__ignored_enter(&own->ignored, entry->depth - 1, phi__ordered_at(own->tree),
                                    entry->path);
        cost += own->ignored.spent;
        own->ignored.spent = 0;
    } else if (status == PHI_OK) {
        status = phi__own_entry(search, units);
        if (own->file != NULL) cost += PHI__OWN_OPEN;
    }
    *units -= phi__min(*units, cost);
    return status;
}

static void phi__own_turn(phi__search *search) {
    size_t units = PHI__OWN_UNITS;
    while (units > 0 && search->own != NULL) {
        phi__search_own *own = search->own;
        phi_status status = PHI_OK;
        if (own->phase == PHI__SEARCH_SCAN) {
            phi__own_read(search, &units);
            continue;
        }
        if (own->phase == PHI__SEARCH_ABOVE) {
            status = phi__ignored_above(&own->ignored, search->job.place);
            if (status == PHI_OK) own->phase = PHI__SEARCH_WALK;
            units -= phi__min(units, PHI__OWN_OPEN + own->ignored.spent);
            own->ignored.spent = 0;
        } else
            status = phi__own_next(search, &units);
        if (status == PHI_NO_MEMORY) (void)phi__job_no_memory(&search->job);
        if (status == PHI_NOT_FOUND) phi__own_end(search);
    }
}

/* ---- the beginning ---- */

/* Begins phi's own search, after the path was resolved. May end the job. */
static void phi__own_begin(phi__search *search) {
    phi__job *job = &search->job;
    const char *wrong = NULL;
    phi__regex_error error;
    phi__file_info info;
    phi__search_own *own = (phi__search_own *)phi__alloc(job->memory, sizeof *own);
    search->own = own;
    if (own == NULL) {
        (void)phi__job_no_memory(job);
        return;
    }
    phi__ignore_init(&own->include, job->memory);
    phi__ignored_init(&own->ignored, job->memory);
    phi__buf_init(&own->name, job->memory);
    phi__buf_init(&own->trouble, job->memory);
    phi__buf_init(&own->head, job->memory);
    own->text = (char *)phi__alloc(job->memory, PHI__OWN_BUFFER);
    phi_status status = own->text == NULL
                            ? PHI_NO_MEMORY
                            : phi__regex_new(job->memory, phi_str_of(search->pattern),
                                             !search->case_sensitive, &own->regex, &error);
    if (status == PHI_BAD_ARG)
        (void)phi__job_fail(job, "Search error: pattern, column %u: %s", (unsigned)error.column,
                            error.message);
    if (status == PHI_OK && search->include != NULL) {
        status = phi__ignore_add_line(&own->include, phi_str_of(search->include), &wrong);
        if (wrong != NULL)
            (void)phi__job_fail(job, "Search error: include \"%s\": %s", search->include, wrong);
    }
    if (status == PHI_NO_MEMORY) (void)phi__job_no_memory(job);
    if (search->own == NULL) return;
    status = phi__files_stat(job->place, PHI__LINKS_REFUSE, &info, &own->words);
    if (status == PHI_OK && info.kind == PHI__FILE_DIRECTORY) {
        status = phi__ordered_new(job->memory, job->place, &own->tree, &own->words);
    } else if (status == PHI_OK) {
        status = phi__files_open_read(job->memory, job->place, PHI__LINKS_REFUSE, &own->file,
                                      &own->words);
        if (status == PHI_OK) phi__own_start(own);
    }
    if (status == PHI_NO_MEMORY || !phi__own_name(search, phi__str("", 0)))
        (void)phi__job_no_memory(job);
    else if (status != PHI_OK)
        (void)phi__job_fail(job, "Search error: %s: %s", search->path, own->words.text);
    if (search->own != NULL) phi__search_again(search, 1);
}

enum {
    PHI__SEARCH_WORDS_BYTES = 2000, /* max. bytes kept of standard error */
    PHI__SEARCH_NAME_BYTES = 16384, /* max. bytes kept of a file name, and of a notice before it */
    PHI__SEARCH_ARGS = 20,
    PHI__SEARCH_RETRY_US = 5000
};

static void phi__search_drop(phi__job *job) {
    phi__search *search = (phi__search *)(void *)job;
    phi__own_free(search);
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

/* ---- search with a program ---- */

#ifndef PHI_NO_PROCESS

/* After the last line of a file, rg may write a notice that the rest is binary. The notice has no
   NUL, so it precedes the next file name. Removes the notice from search->line, and keeps the file
   name. */
static void phi__search_notice(phi__search *search) {
    static const char words[] =
        ": WARNING: stopped searching binary file after match (found \"\\0\" "
        "byte around offset ";
    phi_str line = phi__buf_str(&search->line);
    size_t n = search->last.len;
    if (n > 0 && line.len > n && memcmp(line.at, search->last.at, n) == 0 &&
        phi__str_starts(phi__str_from(line, n), words)) {
        size_t end = phi__str_find(line, n + sizeof words - 1, ")\n");
        if (end != SIZE_MAX) {
            phi__buf_drop(&search->line, end + 2);
            search->line_bytes -= end + 2;
        }
    }
    phi__buf_clear(&search->last);
    phi__buf_add(&search->last, search->line.at, search->line.len);
    /* "./" comes from the default path; models do not write it. */
    if (strcmp(search->path, ".") == 0 && phi__str_starts(phi__buf_str(&search->line), "./")) {
        phi__buf_drop(&search->line, 2);
        search->line_bytes -= 2;
    }
}

/* Reads a file name, which ends at a NUL because it may contain line breaks and colons. Makes it
   one line. Returns the bytes read. */
static size_t phi__search_name(phi__search *search, const char *bytes, size_t len) {
    const char *nul = (const char *)memchr(bytes, '\0', len);
    size_t n = nul != NULL ? (size_t)(nul - bytes) : len;
    phi__buf_add(&search->line, bytes, phi__min(n, PHI__SEARCH_NAME_BYTES - search->line.len));
    search->line_bytes += n;
    if (nul == NULL) return n;
    if (search->line.failed) return len; /* the job will end for lack of memory */
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
        size_t n;
        if (!search->named) {
            n = phi__search_name(search, bytes, len);
            bytes += n;
            len -= n;
            continue;
        }
        const char *newline = (const char *)memchr(bytes, '\n', len);
        n = newline != NULL ? (size_t)(newline - bytes) : len;
        /* Keep one byte more than is listed, to notice a cut, and three more for the rest of a
           character. */
        phi__buf_add(&search->line, bytes,
                     phi__min(n, PHI__SEARCH_LINE_BYTES + 4 - search->line.len));
        search->line_bytes += n;
        if (newline == NULL) break;
        search->named = false;
        if (phi__search_add(search)) return true;
        bytes += n + 1;
        len -= n + 1;
    }
    if (search->line.failed || search->out.failed) (void)phi__job_no_memory(&search->job);
    return true;
}

/* Called if the program was not found. phi's own engine replaces rg, unless the host chose rg. */
static void phi__search_missing(phi__search *search) {
    if (search->job.set->desc.search_with == PHI_SEARCH_AUTOMATIC)
        phi__own_begin(search);
    else
        (void)phi__job_fail(&search->job, "Search error: %s was not found",
                            search->use_grep ? "grep" : "rg");
}

static void phi__search_exited(void *ctx, int code, int signal_number) {
    phi__search *search = (phi__search *)ctx;
    (void)signal_number;
    if (code == 127) { /* the code of a shell for "not found" */
        phi__process_free(search->process);
        search->process = NULL;
        phi__search_missing(search);
        return;
    }
    if (search->named && phi__search_add(search)) return;
    phi_str words = phi__str_trim(phi__buf_str(&search->words));
    /* Matches count as success, even if some directory could not be read. */
    if (search->matches == 0 && (code > 1 || code < 0 || (code == 1 && words.len > 0)))
        (void)phi__job_fail(&search->job, "Search error: %.*s", (int)words.len, words.at);
    else
        (void)phi__search_end(search);
}

/* Starts the program. The pattern follows -e and the path follows --: neither can be an option. */
static phi_status phi__search_try(phi__search *search, char *words, size_t size) {
    static const char *const rg[] = {
        "rg",     "--no-config", "--line-number",      "--no-heading",  "--with-filename",
        "--null", "--no-mmap",   "--no-ignore-global", "--color=never", "--sort=path",
        NULL};
    static const char *const grep[] = {
        "grep", "-r", "-n", "-H", "-I", "-E", "--null", "--exclude-dir=.git", NULL};
    const char *argv[PHI__SEARCH_ARGS], *const *head = search->use_grep ? grep : rg;
    size_t n = 0;
    phi__buf include;
    phi_status status = PHI_NO_MEMORY;
    phi__buf_init(&include, search->job.memory);
    if (search->include != NULL)
        phi__buf_printf(&include, search->use_grep ? "--include=%s" : "--glob=%s", search->include);
    for (; head[n] != NULL; n++) argv[n] = head[n];
    if (!search->case_sensitive) argv[n++] = "-i";
    if (search->include != NULL) argv[n++] = include.at;
    argv[n++] = "-e";
    argv[n++] = search->pattern;
    argv[n++] = "--";
    argv[n++] = search->path;
    argv[n] = NULL;
    phi__process_desc desc = PHI_ZERO;
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

static void phi__search_program(phi__search *search) {
    const phi_tools_desc *desc = &search->job.set->desc;
    phi__file_info info;
    search->use_grep = desc->search_with == PHI_SEARCH_GREP;
    /* A program opens files by name; another process may meanwhile replace them by links. */
    if (desc->search_with == PHI_SEARCH_OWN ||
        (desc->search_with == PHI_SEARCH_AUTOMATIC && phi__job_confined(desc)))
        phi__own_begin(search);
    else if (phi__files_stat(search->job.place, PHI__LINKS_REFUSE, &info, NULL) == PHI_OK &&
             info.kind == PHI__FILE_OTHER) /* a program would wait for the pipe's other end */
        (void)phi__job_fail(&search->job, "Search error: %s: Not a regular file", search->path);
    else {
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
}

#else

static void phi__search_program(phi__search *search) { phi__own_begin(search); }

#endif

/* ---- the beginning ---- */

/* Resolves the path and checks it, then begins the search. */
static void phi__search_place(phi__search *search) {
    phi_status status = search->placed ? PHI_OK : phi__job_place_more(&search->job);
    if (status == PHI_BUSY) phi__search_again(search, 1);
    if (status != PHI_OK) return;
    search->placed = true;
    phi__search_program(search);
}

static void phi__search_tick(phi__timer *timer) {
    phi__search *search = PHI__OWNER(timer, phi__search, tick);
    if (search->own != NULL) {
        const phi__slice *slice = &search->job.call.rt->slice;
        int turns = 0;
        do phi__own_turn(search);
        while (search->own != NULL && ++turns < PHI__OWN_TURNS && !phi__slice_spent(slice));
        if (search->own != NULL) phi__search_again(search, 1);
    } else
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
