/* bash.c - the tool that runs a command: streamed while it runs, killed with all it started. */
#include "tools/job_in.h"

#ifndef PHI_NO_PROCESS

#include "base/utf8_in.h"
#include "io/process_in.h"
#include "tools/deny_in.h"

#include <stdio.h>

enum {
    PHI__BASH_FRESH_BYTES = 65536, /* of updates the host has no room for, then reading stops */
    PHI__BASH_RETRY_US = 5000      /* until the next try to start, or to update */
};

/* A stream's output, as UTF-8, cut to the limit. */
typedef struct phi__bash_stream {
    phi__buf kept;
    char tail[4]; /* the first bytes of a character whose rest has not come */
    size_t tail_len;
    bool cut; /* there was more */
} phi__bash_stream;

typedef struct phi__bash {
    phi__job job;
    const char *command;
    phi__process *process;
    phi__bash_stream streams[2];
    phi__buf fresh; /* both streams as they came, not yet reported */
    bool stopped;
    phi__timer deadline, tick; /* tick: starts, or reports new output */
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
}

static void phi__bash_at(phi__bash *bash, phi__timer *timer, uint64_t us) {
    if (phi__io_timer_set(bash->job.io, timer, phi__io_now_us(bash->job.io) + us) != PHI_OK)
        (void)phi__job_no_memory(&bash->job);
}

/* ---- output ---- */

/* How many bytes are whole characters, or cannot become any. */
static size_t phi__bash_whole(const char *at, size_t len) {
    size_t back;
    for (back = 1; back < 4 && back <= len; back++) {
        unsigned char c = (unsigned char)at[len - back];
        if ((c & 0xC0) == 0x80) continue;
        if ((c & 0xE0) == 0xC0 && back < 2) return len - back;
        if ((c & 0xF0) == 0xE0 && back < 3) return len - back;
        if ((c & 0xF8) == 0xF0 && back < 4) return len - back;
        break;
    }
    return len;
}

static void phi__bash_keep(phi__bash *bash, phi__bash_stream *to, const char *at, size_t len) {
    size_t begin = to->kept.len, most = bash->job.set->desc.max_output_bytes;
    if (to->cut || len == 0) return;
    phi__utf8_repair(&to->kept, phi__str(at, len));
    if (to->kept.failed) return;
    if (to->kept.len > most) {
        to->kept.len = phi__utf8_cut(phi__buf_str(&to->kept), most);
        to->cut = true;
    }
    phi__buf_add(&bash->fresh, to->kept.at + begin, to->kept.len - begin);
}

static void phi__bash_take(phi__bash *bash, phi__bash_stream *to, const char *at, size_t len) {
    size_t whole;
    while (to->tail_len > 0 && len > 0) {
        to->tail[to->tail_len++] = *at++;
        len--;
        whole = phi__bash_whole(to->tail, to->tail_len);
        phi__bash_keep(bash, to, to->tail, whole);
        to->tail_len -= whole; /* at most three are left: another character may have begun */
        memmove(to->tail, to->tail + whole, to->tail_len);
    }
    whole = phi__bash_whole(at, len);
    phi__bash_keep(bash, to, at, whole);
    if (len > whole) memcpy(to->tail, at + whole, len - whole);
    to->tail_len += len - whole;
}

/* False: the host has no room, or there is no memory; it can be tried again. */
static bool phi__bash_tell(phi__bash *bash) {
    if (bash->fresh.len == 0) return true;
    if (phi_call_update(bash->job.call, bash->fresh.at, bash->fresh.len) != PHI_OK) return false;
    phi__buf_clear(&bash->fresh);
    return true;
}

static bool phi__bash_output(void *ctx, int stream, const char *bytes, size_t len) {
    phi__bash *bash = (phi__bash *)ctx;
    phi__bash_stream *to = &bash->streams[stream - 1];
    phi__bash_take(bash, to, bytes, len);
    if (to->kept.failed || bash->fresh.failed) {
        (void)phi__job_no_memory(&bash->job);
        return true;
    }
    if (bash->fresh.len > 0 && bash->tick.place == 0) phi__bash_at(bash, &bash->tick, 0);
    if (bash->job.ended) return true;
    bash->stopped = bash->fresh.len > PHI__BASH_FRESH_BYTES;
    return !bash->stopped;
}

/* ---- the end ---- */

static void phi__bash_show(phi__buf *out, const phi__bash_stream *stream) {
    phi__buf_add(out, stream->kept.at, stream->kept.len);
    if (stream->cut) phi__buf_text(out, "\n... (output truncated)");
}

static void phi__bash_exited(void *ctx, int code, int signal_number) {
    phi__bash *bash = (phi__bash *)ctx;
    phi__bash_stream *out_of = &bash->streams[0], *err_of = &bash->streams[1];
    char details[64];
    phi__buf out;
    (void)signal_number;
    phi__bash_keep(bash, out_of, out_of->tail, out_of->tail_len);
    phi__bash_keep(bash, err_of, err_of->tail, err_of->tail_len);
    (void)phi__bash_tell(bash); /* the result holds it all, reported or not */
    phi__buf_init(&out, bash->job.memory);
    (void)phi__buf_reserve(&out, out_of->kept.len + err_of->kept.len + 128);
    phi__buf_printf(&out, "Exit code: %d\n", code);
    if (err_of->kept.len > 0) phi__buf_text(&out, "STDOUT:\n");
    phi__bash_show(&out, out_of);
    if (err_of->kept.len > 0) {
        phi__buf_text(&out, "\nSTDERR:\n");
        phi__bash_show(&out, err_of);
    }
    (void)snprintf(details, sizeof details, "{\"exit_code\":%d,\"success\":%s}", code,
                   code == 0 ? "true" : "false");
    if (out.failed || out_of->kept.failed || err_of->kept.failed)
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
    const char *argv[4];
    char words[160];
    phi__process_desc desc;
    phi_status status;
    argv[0] = "bash";
    argv[1] = "-c";
    argv[2] = bash->command;
    argv[3] = NULL;
    memset(&desc, 0, sizeof desc);
    desc.argv = argv;
    desc.cwd = bash->job.set->desc.workspace;
    desc.output = phi__bash_output;
    desc.exited = phi__bash_exited;
    desc.ctx = bash;
    status = phi__process_new(bash->job.io, &desc, &bash->process, words, sizeof words);
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
