/* bash.c - the tool that runs a command: streams its output, and kills its processes at the end. */
#include "base/base_in.h"
#include "tools/job_in.h"
#include "system/system_in.h"

#ifndef PHI_NO_PROCESS

/* ---- patterns that a command must not contain, however its words are spelled ----

   A pattern is compared with the command as it is, with the command without quotes and backslashes,
   and with each rm written as "rm -rf". Shell words are not parsed. So the check does not see
   variables, substitutions, or scripts that a command writes and runs. */

static bool phi__deny_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/* True if c ends a command: the words after c are not arguments of that command. */
static bool phi__deny_ends(char c) { return c != '\0' && strchr(";&|()<>\n`", c) != NULL; }

/* Returns the command's next word, which begins at `at` or later. Empty: the command has ended. */
static phi_str phi__deny_word(const char *at) {
    size_t n = 0;
    while (*at == ' ') at++;
    while (at[n] != '\0' && at[n] != ' ' && !phi__deny_ends(at[n])) n++;
    return phi__str(at, n);
}

/* Reads the arguments of an rm and returns their end. If rm has the flags r and f, appends "rm -rf"
   and each operand. */
static const char *phi__deny_rm(phi__buf *out, const char *at) {
    const char *from = at;
    bool recursive = false, force = false, operands = false;
    for (phi_str word = phi__deny_word(at); word.len > 0; word = phi__deny_word(at)) {
        at = word.at + word.len;
        if (phi__str_is(word, "--")) operands = true;
        if (word.at[0] != '-' || operands) continue;
        if (phi__str_is(word, "--recursive")) recursive = true;
        if (phi__str_is(word, "--force")) force = true;
        for (size_t i = 1; i < word.len && word.at[1] != '-'; i++) {
            if (word.at[i] == 'r' || word.at[i] == 'R') recursive = true;
            if (word.at[i] == 'f') force = true;
        }
    }
    for (phi_str word = phi__deny_word(from); recursive && force && word.len > 0;
         word = phi__deny_word(from)) {
        from = word.at + word.len;
        if (word.at[0] == '-') continue;
        phi__buf_text(out, "\nrm -rf ");
        phi__buf_add_str(out, word);
    }
    return at;
}

/* Appends each rm of the command `plain` that has the flags r and f, written as "rm -rf". */
static void phi__deny_removals(phi__buf *out, const char *plain) {
    while (*plain != '\0') {
        phi_str word = phi__deny_word(plain);
        if (word.len == 0) {
            while (*plain == ' ') plain++;
            if (*plain != '\0') plain++;
            continue;
        }
        plain = word.at + word.len;
        if (phi__str_is(word, "rm") ||
            (word.len > 3 && memcmp(word.at + word.len - 3, "/rm", 3) == 0))
            plain = phi__deny_rm(out, plain);
    }
}

/* True if a pattern has signs and no blanks. Such a pattern is also compared with the
   command after the blanks between signs were removed. */
static bool phi__deny_signs(const char *pattern) {
    bool signs = false;
    for (; *pattern != '\0'; pattern++) {
        if (phi__deny_blank(*pattern)) return false;
        if (strchr("{}();|&:", *pattern) != NULL) signs = true;
    }
    return signs;
}

/* Sets *found to the first of `patterns` (NULL-ended) that the command contains, or to NULL. Fails
   only with PHI_NO_MEMORY. */
static phi_status phi__deny_find(phi_memory *memory, const char *command,
                                 const char *const *patterns, const char **found) {
    phi__buf plain, removals, squeezed;
    phi__buf_init(&plain, memory);
    phi__buf_init(&removals, memory);
    phi__buf_init(&squeezed, memory);
    /* Remove quotes and backslashes, squeeze blanks, and join continued lines. */
    bool blank = false;
    for (const char *at = command; *at != '\0'; at++) {
        if (at[0] == '\\' && at[1] == '\n') {
            at++;
            blank = true;
        } else if (phi__deny_blank(*at))
            blank = true;
        else if (*at != '\'' && *at != '"' && *at != '\\') {
            if (blank && plain.len > 0) phi__buf_char(&plain, ' ');
            phi__buf_char(&plain, *at);
            blank = false;
        }
    }
    phi__buf_char(&plain, '\0');
    if (!plain.failed) phi__deny_removals(&removals, plain.at);
    phi__buf_char(&removals, '\0');
    for (const char *at = command; *at != '\0'; at++)
        if (!phi__deny_blank(*at) && *at != '\n') phi__buf_char(&squeezed, *at);
    phi__buf_char(&squeezed, '\0');
    bool failed = plain.failed || removals.failed || squeezed.failed;
    *found = NULL;
    for (; !failed && *found == NULL && *patterns != NULL; patterns++)
        if (strstr(command, *patterns) != NULL || strstr(plain.at, *patterns) != NULL ||
            strstr(removals.at, *patterns) != NULL ||
            (phi__deny_signs(*patterns) && strstr(squeezed.at, *patterns) != NULL))
            *found = *patterns;
    phi__buf_free(&plain);
    phi__buf_free(&removals);
    phi__buf_free(&squeezed);
    return failed ? PHI_NO_MEMORY : PHI_OK;
}

/* ---- the tool ---- */

#include <stdio.h>
#include <stdlib.h>

enum {
    PHI__BASH_FRESH_BYTES = 65536, /* unreported bytes at which reading stops */
    PHI__BASH_RETRY_US = 5000      /* pause before the next try to start, or to update */
};

/* A stream's output, as UTF-8. If it is longer than max_output_bytes, `kept` holds its head in one
   half and a ring of its last bytes in the other. */
typedef struct phi__bash_stream {
    phi__buf kept;
    uint64_t all; /* bytes received */
    size_t next;  /* place in the ring of the next byte, which replaces the oldest */
    char tail[4]; /* start of a character whose other bytes have not come yet */
    size_t tail_len;
} phi__bash_stream;

typedef struct phi__bash {
    phi__job job;
    const char *command;
    phi__process *process;
    phi__bash_stream streams[2];
    phi__buf fresh; /* both streams in the order received, not reported yet */
    phi__buf valid; /* the bytes just read, as UTF-8; later the tail of a cut stream */
    bool stopped;
    phi__timer deadline, tick; /* tick: starts the process, or reports new output */
} phi__bash;

static void phi__bash_drop(phi__job *job) {
    phi__bash *bash = (phi__bash *)(void *)job;
    phi__process_free(bash->process);
    bash->process = NULL;
    phi__io_timer_clear(job->io, &bash->deadline);
    phi__io_timer_clear(job->io, &bash->tick);
    phi__buf_free(&bash->streams[0].kept);
    phi__buf_free(&bash->streams[1].kept);
    phi__buf_free(&bash->fresh);
    phi__buf_free(&bash->valid);
}

static void phi__bash_at(phi__bash *bash, phi__timer *timer, uint64_t us) {
    if (phi__io_timer_set(bash->job.io, timer, phi__io_now_us(bash->job.io) + us) != PHI_OK)
        (void)phi__job_no_memory(&bash->job);
}

/* ---- output ---- */

/* Returns how many bytes can be decoded now: an incomplete last character is not counted. */
static size_t phi__bash_whole(const char *at, size_t len) {
    for (size_t back = 1; back < 4 && back <= len; back++) {
        unsigned char c = (unsigned char)at[len - back];
        if ((c & 0xC0) == 0x80) continue;
        if ((c & 0xE0) == 0xC0 && back < 2) return len - back;
        if ((c & 0xF0) == 0xE0 && back < 3) return len - back;
        if ((c & 0xF8) == 0xF0 && back < 4) return len - back;
        break;
    }
    return len;
}

/* Returns the offset of the ring, which follows the head. */
static size_t phi__bash_ring(const phi__bash *bash) {
    size_t most = bash->job.set->desc.max_output_bytes;
    return most - most / 2;
}

/* Writes text over the oldest bytes of the ring. */
static void phi__bash_turn(phi__bash *bash, phi__bash_stream *to, phi_str text) {
    size_t begin = phi__bash_ring(bash), size = to->kept.len - begin;
    if (text.len > size) text = phi__str(text.at + text.len - size, size);
    if (to->next < begin) to->next = begin; /* first use of the ring */
    while (text.len > 0) {                  /* loops at most twice */
        if (to->next == to->kept.len) to->next = begin;
        size_t n = phi__min(text.len, to->kept.len - to->next);
        memcpy(to->kept.at + to->next, text.at, n);
        to->next += n;
        text = phi__str_from(text, n);
    }
}

static void phi__bash_keep(phi__bash *bash, phi__bash_stream *to, const char *at, size_t len) {
    size_t room = bash->job.set->desc.max_output_bytes - to->kept.len;
    bool reports = room > 0;
    if (len == 0 || to->kept.failed || bash->valid.failed) return;
    phi__buf_clear(&bash->valid);
    phi__utf8_repair(&bash->valid, phi__str(at, len));
    if (bash->valid.failed) return;
    phi_str text = phi__buf_str(&bash->valid);
    to->all += text.len;
    room = phi__min(room, text.len);
    phi__buf_add(&to->kept, text.at, room);
    if (to->kept.failed) return;
    if (reports) phi__buf_add(&bash->fresh, text.at, phi__utf8_cut(text, room));
    if (text.len > room) phi__bash_turn(bash, to, phi__str_from(text, room));
}

static void phi__bash_take(phi__bash *bash, phi__bash_stream *to, const char *at, size_t len) {
    size_t whole;
    while (to->tail_len > 0 && len > 0) {
        to->tail[to->tail_len++] = *at++;
        len--;
        whole = phi__bash_whole(to->tail, to->tail_len);
        phi__bash_keep(bash, to, to->tail, whole);
        to->tail_len -= whole; /* at most three bytes of the next character are left */
        memmove(to->tail, to->tail + whole, to->tail_len);
    }
    whole = phi__bash_whole(at, len);
    phi__bash_keep(bash, to, at, whole);
    if (len > whole) memcpy(to->tail, at + whole, len - whole);
    to->tail_len += len - whole;
}

/* Reports new output. False: the host has no room, or there is no memory; try again later. */
static bool phi__bash_tell(phi__bash *bash) {
    if (bash->fresh.len == 0) return true;
    if (phi__update_text(bash->job.call, phi__buf_str(&bash->fresh)) != PHI_OK) return false;
    phi__buf_clear(&bash->fresh);
    return true;
}

static bool phi__bash_output(void *ctx, int stream, const char *bytes, size_t len) {
    phi__bash *bash = (phi__bash *)ctx;
    phi__bash_stream *to = &bash->streams[stream - 1];
    phi__bash_take(bash, to, bytes, len);
    if (to->kept.failed || bash->fresh.failed || bash->valid.failed) {
        (void)phi__job_no_memory(&bash->job);
        return true;
    }
    if (bash->fresh.len > 0 && bash->tick.place == 0) phi__bash_at(bash, &bash->tick, 0);
    if (bash->job.ended) return true;
    bash->stopped = bash->fresh.len > PHI__BASH_FRESH_BYTES;
    return !bash->stopped;
}

/* ---- the end ---- */

static void phi__bash_show(phi__bash *bash, phi__buf *out, const phi__bash_stream *stream) {
    unsigned long long all = (unsigned long long)stream->all;
    phi_str head = phi__buf_str(&stream->kept);
    if (stream->all <= stream->kept.len) {
        phi__buf_add(out, head.at, head.len);
        return;
    }
    size_t begin = phi__bash_ring(bash), n = 0;
    head.len = phi__utf8_cut(head, begin);
    /* The tail begins at a whole character. */
    phi__buf_clear(&bash->valid);
    phi__buf_add(&bash->valid, stream->kept.at + stream->next, stream->kept.len - stream->next);
    if (stream->next > begin)
        phi__buf_add(&bash->valid, stream->kept.at + begin, stream->next - begin);
    phi_str tail = phi__buf_str(&bash->valid);
    while (n < 3 && n < tail.len && ((unsigned char)tail.at[n] & 0xC0) == 0x80) n++;
    tail = phi__str_from(tail, n);
    unsigned long long kept = (unsigned long long)(head.len + tail.len);
    phi__buf_add(out, head.at, head.len);
    phi__buf_printf(out, "\n[... %llu bytes left out ...]\n", all - kept);
    phi__buf_add(out, tail.at, tail.len);
    phi__buf_printf(out, "\n... (output truncated): %llu of %llu bytes were kept", kept, all);
}

static void phi__bash_exited(void *ctx, int code, int signal_number) {
    phi__bash *bash = (phi__bash *)ctx;
    phi__bash_stream *out_of = &bash->streams[0], *err_of = &bash->streams[1];
    char details[64];
    phi__buf out;
    (void)signal_number;
    phi__bash_keep(bash, out_of, out_of->tail, out_of->tail_len);
    phi__bash_keep(bash, err_of, err_of->tail, err_of->tail_len);
    (void)phi__bash_tell(bash); /* the result has all output, reported or not */
    phi__buf_init(&out, bash->job.memory);
    (void)phi__buf_reserve(&out, out_of->kept.len + err_of->kept.len + 320);
    phi__buf_printf(&out, "Exit code: %d\n", code);
    if (err_of->kept.len > 0) phi__buf_text(&out, "STDOUT:\n");
    phi__bash_show(bash, &out, out_of);
    if (err_of->kept.len > 0) {
        phi__buf_text(&out, "\nSTDERR:\n");
        phi__bash_show(bash, &out, err_of);
    }
    (void)snprintf(details, sizeof details, "{\"exit_code\":%d,\"success\":%s}", code,
                   code == 0 ? "true" : "false");
    if (out.failed || out_of->kept.failed || err_of->kept.failed || bash->valid.failed)
        (void)phi__job_no_memory(&bash->job);
    else
        (void)phi__job_done(&bash->job, phi__buf_str(&out), details);
    phi__buf_free(&out);
}

static void phi__bash_late(phi__timer *timer) {
    phi__bash *bash = PHI__OWNER(timer, phi__bash, deadline);
    (void)phi__job_fail(&bash->job, "Command timed out after %gs",
                        (double)bash->job.set->desc.bash_timeout_ms / 1000.0);
}

/* ---- the beginning ---- */

static void phi__bash_spawn(phi__bash *bash) {
    const char *argv[PHI__SHELL_ARGS], *env[4];
    char git[3][48];
    char words[160];
    phi__shell_program shell;
    phi__buf text;
    phi__shell_find(&shell);
    if (shell.powershell != bash->job.set->powershell) {
        (void)phi__job_fail(&bash->job, "The shell is not that of the tool's description any more");
        return;
    }
    phi__buf_init(&text, bash->job.memory);
    phi__process_desc desc = PHI_ZERO;
    desc.argv = argv;
    /* Make git ignore bare repositories in the tree, whose configuration could name programs to
       run. The numbers of these variables follow those in the host's environment. */
    const char *given = getenv("GIT_CONFIG_COUNT");
    unsigned long n = given != NULL ? strtoul(given, NULL, 10) : 0;
    if (n > 9999) n = 0;
    (void)snprintf(git[0], 48, "GIT_CONFIG_COUNT=%lu", n + 1);
    (void)snprintf(git[1], 48, "GIT_CONFIG_KEY_%lu=safe.bareRepository", n);
    (void)snprintf(git[2], 48, "GIT_CONFIG_VALUE_%lu=explicit", n);
    for (int i = 0; i < 3; i++) env[i] = git[i];
    env[3] = NULL;
    desc.env = env;
    desc.hide_keys = true;
    desc.keep_keys = bash->job.set->desc.keep_keys;
    desc.cwd = bash->job.set->desc.workspace;
    desc.output = phi__bash_output;
    desc.exited = phi__bash_exited;
    desc.ctx = bash;
    words[0] = '\0';
    phi_status status = phi__shell_argv(&shell, bash->command, &text, argv);
    if (status == PHI_OK)
        status = phi__process_new(bash->job.io, &desc, &bash->process, words, sizeof words);
    phi__buf_free(&text);
    if (status == PHI_BUSY)
        phi__bash_at(bash, &bash->tick, PHI__BASH_RETRY_US);
    else if (status != PHI_OK)
        (void)phi__job_fail(&bash->job, "Failed to execute: %s",
                            words[0] != '\0' ? words : phi_status_text(status));
}

static void phi__bash_tick(phi__timer *timer) {
    phi__bash *bash = PHI__OWNER(timer, phi__bash, tick);
    if (bash->process == NULL) {
        phi__bash_spawn(bash);
    } else if (!phi__bash_tell(bash)) {
        phi__bash_at(bash, &bash->tick, PHI__BASH_RETRY_US);
    } else if (bash->stopped) {
        bash->stopped = false;
        phi__process_resume(bash->process);
    }
}

static phi_flow phi__bash_go(phi__job *job) {
    phi__bash *bash = (phi__bash *)(void *)job;
    const phi_tools_desc *desc = &job->set->desc;
    const char *denied;
    phi__buf_init(&bash->streams[0].kept, job->memory);
    phi__buf_init(&bash->streams[1].kept, job->memory);
    phi__buf_init(&bash->fresh, job->memory);
    phi__buf_init(&bash->valid, job->memory);
    bash->deadline.fire = phi__bash_late;
    bash->tick.fire = phi__bash_tick;
    if (!phi__job_text(job, "command", true, &bash->command)) return PHI_DONE;
    if (phi__deny_find(job->memory, bash->command, desc->deny_patterns, &denied) != PHI_OK)
        return phi__job_no_memory(job);
    if (denied != NULL)
        return phi__job_fail(job,
                             "Command blocked by safety policy: contains '%s'. This pattern is "
                             "denied for safety.",
                             denied);
    if (desc->confirm_fn != NULL && !desc->confirm_fn(desc->user_data, bash->command))
        return phi__job_fail(job, "Command was not confirmed by the user.");
    if (desc->bash_timeout_ms != PHI_UNLIMITED &&
        phi__io_deadline_set(job->io, &bash->deadline, (uint64_t)desc->bash_timeout_ms * 1000) !=
            PHI_OK)
        return phi__job_no_memory(job);
    phi__bash_spawn(bash);
    return job->ended ? PHI_DONE : PHI_PENDING;
}

PHI__FN phi_flow phi__bash_start(void *user_data, phi_call call, phi_str arguments) {
    return phi__job_begin(user_data, call, arguments, sizeof(phi__bash), true, phi__bash_go,
                          phi__bash_drop);
}

#endif
