/* process.c - a child process: its streams, its exit, its removal.

   A child is RUNNING, then EXITED, then REAPED. An EXITED child is kept as a zombie, so that the
   system cannot give the child's number, which is also its group's number, to another process.
   After its group was killed, it is REAPED, and the rest of its pipes is read. A process that is
   freed while it runs becomes an orphan: it lives on, without streams and callbacks, until it is
   reaped. */
#include "system/process_in.h"
#include "base/base_in.h"
#include "io/io_in.h"

#ifndef PHI_NO_PROCESS

/* ---- bytes that wait to be written, for processes and channels ---- */

enum { PHI__OUTGOING_KEPT = 16384 /* a larger buffer is freed when it is empty */ };

PHI__FN phi_status phi__outgoing_add(phi__outgoing *out, const char *bytes, size_t len, size_t most,
                                     size_t *taken) {
    size_t waits = phi__outgoing_waits(out);
    size_t n = phi__min(len, most - phi__min(waits, most));
    *taken = 0;
    if (n > 0 && phi__buf_reserve(&out->bytes, n) == NULL) {
        out->bytes.failed = false; /* the bytes queued before are intact */
        return PHI_NO_MEMORY;
    }
    phi__buf_add(&out->bytes, bytes, n);
    *taken = n;
    return PHI_OK;
}

PHI__FN int phi__outgoing_write(phi__outgoing *out, phi__fd fd, size_t most) {
    size_t wrote;
    int error = phi__stream_write(fd, out->bytes.at + out->at,
                                  phi__min(phi__outgoing_waits(out), most), &wrote);
    out->at += wrote;
    if (out->at == out->bytes.len) {
        phi__buf_clear(&out->bytes);
        if (out->bytes.cap > PHI__OUTGOING_KEPT) phi__buf_free(&out->bytes);
        out->at = 0;
    } else if (out->at > 0 && out->at >= out->bytes.len / 2) {
        phi__buf_drop(&out->bytes, out->at);
        out->at = 0;
    }
    return error;
}

PHI__FN void phi__outgoing_free(phi__outgoing *out) {
    phi__buf_free(&out->bytes);
    out->at = 0;
}

/* ---- child processes as streams ---- */

enum {
    PHI__PROCESS_TURN_BYTES = 16384,   /* max. bytes read from a stream in one turn */
    PHI__PROCESS_WRITE_BYTES = 65536,  /* max. bytes written in one turn; a pipe's default size */
    PHI__PROCESS_REST_BYTES = 1048576, /* max. bytes read after the grace; a pipe's largest size */
    PHI__PROCESS_GRACE_US = 100000,    /* time after the exit for streams held by grandchildren */
    PHI__PROCESS_POLL_FIRST_US = 1000, /* first pause between polls for the exit; it doubles */
    PHI__PROCESS_POLL_LAST_US = 20000,
    PHI__PROCESS_RETRY_US = 10000,     /* pause after a watch failed for lack of memory */
    PHI__PROCESS_QUEUE_BYTES = 1048576 /* default of max_input_bytes */
};

#ifndef PHI__PROCESS_LAST_MS
#define PHI__PROCESS_LAST_MS 50 /* longest wait for a killed child when the io ends */
#endif

/* With a descriptor for the exit the timer is not needed. It stays set, because moving a set timer
   cannot fail. */
#define PHI__PROCESS_HOUR_US 3600000000u

typedef enum phi__process_state {
    PHI__PROCESS_RUNNING,
    PHI__PROCESS_EXITED,
    PHI__PROCESS_REAPED
} phi__process_state;

struct phi__process {
    phi__io *io;
    bool (*output)(void *ctx, int stream, const char *bytes, size_t len);
    void (*exited)(void *ctx, int code, int signal_number);
    void (*room)(void *ctx);
    void *ctx;
    phi__os_child child;
    phi__process_state state;
    bool stopped[3]; /* `output` returned false */
    bool in_callback, freed;
    phi__fd fds[3];                    /* our ends of the pipes; -1: closed */
    phi__watch watches[3], exit_watch; /* exit_watch.fd: the pidfd, or -1 */
    phi__timer timer;
    uint64_t grace_end_us;
    uint32_t poll_us;
    size_t rest_bytes;
    phi__outgoing input;
    size_t input_max; /* max. bytes of `input` that may wait */
    bool keep_input;  /* stdin stays open after all input was written */
    bool wants_room;  /* a write took only a part of its bytes */
    phi__ending ending;
};

/* ---- the timer and the watches ---- */

/* Sets the timer. Cannot fail, because the timer is always set. */
static void phi__process_in(phi__process *p, uint64_t us) {
    (void)phi__io_timer_set(p->io, &p->timer, phi__io_now_us(p->io) + us);
}

static void phi__process_poll_again(phi__process *p) {
    if (p->exit_watch.fd >= 0) {
        phi__process_in(p, PHI__PROCESS_HOUR_US);
        return;
    }
    phi__process_in(p, p->poll_us);
    if (p->poll_us < PHI__PROCESS_POLL_LAST_US) p->poll_us *= 2;
}

static bool phi__process_ended(const phi__process *p) { return p->fds[1] < 0 && p->fds[2] < 0; }

static void phi__process_shut(phi__process *p, int stream) {
    if (p->fds[stream] < 0) return;
    (void)phi__io_watch(p->io, &p->watches[stream], p->fds[stream], 0);
    phi__stream_close(p->fds[stream]);
    p->fds[stream] = -1;
    if (stream == 0) phi__outgoing_free(&p->input);
    /* The exit is near after both streams have ended, so poll more often. */
    if (phi__process_ended(p) && p->state == PHI__PROCESS_RUNNING) {
        p->poll_us = PHI__PROCESS_POLL_FIRST_US;
        phi__process_poll_again(p);
    }
}

/* Watches a stream, or stops watching it. Without memory the timer tries again. */
static void phi__process_watch(phi__process *p, int stream, bool on) {
    int want = !on ? 0 : stream == 0 ? PHI__WRITE : PHI__READ;
    if (p->fds[stream] < 0 || p->watches[stream].want == want) return;
    if (phi__io_watch(p->io, &p->watches[stream], p->fds[stream], want) != PHI_OK)
        phi__process_in(p, PHI__PROCESS_RETRY_US);
}

static void phi__process_watch_all(phi__process *p) {
    phi__process_watch(p, 0, phi__outgoing_waits(&p->input) > 0 || p->wants_room);
    phi__process_watch(p, 1, !p->stopped[1]);
    phi__process_watch(p, 2, !p->stopped[2]);
}

/* ---- exit ---- */

static void phi__process_exit_forget(phi__process *p) {
    phi__fd fd = (phi__fd)p->exit_watch.fd;
    if (fd < 0) return;
    (void)phi__io_watch(p->io, &p->exit_watch, fd, 0);
    phi__stream_close(fd);
    p->exit_watch.fd = -1;
}

/* True if the child has exited. Leaves the child a zombie, and begins the grace of its streams. */
static bool phi__process_look(phi__process *p) {
    if (p->state != PHI__PROCESS_RUNNING) return true;
    if (!phi__child_look(&p->child)) return false;
    p->state = PHI__PROCESS_EXITED;
    phi__process_exit_forget(p);
    phi__process_shut(p, 0);
    p->grace_end_us = phi__io_now_us(p->io) + PHI__PROCESS_GRACE_US;
    phi__process_in(p, phi__process_ended(p) ? 0 : PHI__PROCESS_GRACE_US);
    return true;
}

static void phi__process_reap(phi__process *p) {
    PHI_ASSERT(p->state == PHI__PROCESS_EXITED);
    phi__child_reap(&p->child);
    p->state = PHI__PROCESS_REAPED;
}

/* Closes and frees the process. A running child becomes an orphan of the io. */
static void phi__process_release(phi__process *p) {
    phi__io *io = p->io;
    p->output = NULL;
    p->exited = NULL;
    p->room = NULL;
    for (int i = 0; i < 3; i++) phi__process_shut(p, i);
    if (!phi__process_look(p)) {
        if (p->ending.next == NULL) {
            phi__child_kill(&p->child);
            phi__io_ending_add(io, &p->ending);
            p->poll_us = PHI__PROCESS_POLL_FIRST_US;
        }
        phi__process_poll_again(p);
        return;
    }
    if (p->state == PHI__PROCESS_EXITED) phi__process_reap(p);
    phi__io_ending_remove(io, &p->ending);
    phi__io_timer_clear(io, &p->timer);
    phi__free(phi__io_memory(io), p, sizeof *p);
}

/* Called after each callback. False: the callback freed the process. */
static bool phi__process_returned(phi__process *p) {
    p->in_callback = false;
    if (!p->freed) return true;
    phi__process_release(p);
    return false;
}

/* Reads once from a stream. False: the process is gone. */
static bool phi__process_read(phi__process *p, int stream, bool *emptied) {
    char bytes[PHI__PROCESS_TURN_BYTES];
    size_t n;
    int error = phi__stream_read(p->fds[stream], bytes, sizeof bytes, &n);
    *emptied = error == PHI__STREAM_LATER;
    if (*emptied) return true;
    if (error != 0 || n == 0) {
        phi__process_shut(p, stream);
        return true;
    }
    p->rest_bytes += n;
    if (p->output == NULL) return true;
    p->in_callback = true;
    bool more = p->output(p->ctx, stream, bytes, n);
    if (!phi__process_returned(p)) return false;
    if (!more) p->stopped[stream] = true;
    phi__process_watch(p, stream, more && p->state != PHI__PROCESS_REAPED);
    return true;
}

/* After the group was killed, reads the rest of each pipe, a piece a turn, by timer. Stops at an
   empty pipe or a limit, because an escaped grandchild may keep writing. False: the process is
   gone. */
static bool phi__process_rest(phi__process *p) {
    bool again = false, emptied;
    for (int i = 1; i < 3; i++) {
        phi__process_watch(p, i, false);
        if (p->fds[i] < 0 || p->stopped[i]) continue;
        if (!phi__process_read(p, i, &emptied)) return false;
        if (emptied || p->rest_bytes >= PHI__PROCESS_REST_BYTES) phi__process_shut(p, i);
        again = again || (p->fds[i] >= 0 && !p->stopped[i]);
    }
    phi__process_in(p, again ? 0 : PHI__PROCESS_HOUR_US);
    return true;
}

/* Advances as far as possible: the exit, the grace, the end. The process may be gone afterwards. */
static void phi__process_settle(phi__process *p) {
    if (!phi__process_look(p)) return;
    if (p->state == PHI__PROCESS_EXITED) {
        if (!phi__process_ended(p) && phi__io_now_us(p->io) < p->grace_end_us) return;
        phi__process_reap(p);
        p->rest_bytes = 0;
        if (!phi__process_rest(p)) return;
    }
    if (phi__process_ended(p) && p->exited != NULL) {
        void (*exited)(void *, int, int) = p->exited;
        p->exited = NULL;
        p->in_callback = true;
        exited(p->ctx, p->child.code, p->child.signal_number);
        (void)phi__process_returned(p);
    }
}

static void phi__process_on_stream(phi__process *p, int stream) {
    bool emptied;
    if (p->fds[stream] < 0 || p->stopped[stream]) return;
    if (phi__process_read(p, stream, &emptied) && p->fds[stream] < 0) phi__process_settle(p);
}

static void phi__process_on_out(phi__watch *watch, int have) {
    (void)have;
    phi__process_on_stream(PHI__OWNER(watch, phi__process, watches[1]), 1);
}

static void phi__process_on_err(phi__watch *watch, int have) {
    (void)have;
    phi__process_on_stream(PHI__OWNER(watch, phi__process, watches[2]), 2);
}

/* Writes as much as the pipe takes. False: the child closed its stdin. */
static bool phi__process_send(phi__process *p) {
    int error = phi__outgoing_write(&p->input, p->fds[0], PHI__PROCESS_WRITE_BYTES);
    return error == 0 || error == PHI__STREAM_LATER;
}

/* Closes stdin at the end of the input, or watches it while input waits. */
static void phi__process_sent(phi__process *p) {
    bool waits = phi__outgoing_waits(&p->input) > 0;
    if (!waits && !p->keep_input)
        phi__process_shut(p, 0);
    else
        phi__process_watch(p, 0, waits || p->wants_room);
}

static void phi__process_on_in(phi__watch *watch, int have) {
    phi__process *p = PHI__OWNER(watch, phi__process, watches[0]);
    void (*room)(void *) = NULL;
    (void)have;
    if (p->fds[0] < 0) return;
    if (phi__outgoing_waits(&p->input) > 0 && !phi__process_send(p)) {
        phi__process_shut(p, 0);
        return;
    }
    if (p->wants_room && phi__outgoing_waits(&p->input) <= p->input_max / 2) {
        p->wants_room = false;
        room = p->room;
    }
    phi__process_sent(p);
    if (room == NULL) return;
    p->in_callback = true;
    room(p->ctx);
    (void)phi__process_returned(p);
}

static void phi__process_on_exit(phi__watch *watch, int have) {
    phi__process *p = PHI__OWNER(watch, phi__process, exit_watch);
    (void)have;
    if (p->freed)
        phi__process_release(p);
    else
        phi__process_settle(p);
}

static void phi__process_on_timer(phi__timer *timer) {
    phi__process *p = PHI__OWNER(timer, phi__process, timer);
    if (p->freed) {
        phi__process_release(p);
        return;
    }
    phi__process_poll_again(p); /* cannot fail: the slot of the fired timer is free */
    if (p->state != PHI__PROCESS_REAPED) phi__process_watch_all(p);
    if (p->state == PHI__PROCESS_REAPED && !phi__process_rest(p)) return;
    phi__process_settle(p);
}

/* Called when the io ends, after which no poll can reap the child. A killed process dies within
   about a millisecond. A short wait for that is better than a zombie as long as the host lives. */
static void phi__process_on_end(phi__ending *ending) {
    phi__process *p = PHI__OWNER(ending, phi__process, ending);
    phi__io *io = p->io;
    for (int i = 0; i < PHI__PROCESS_LAST_MS && !phi__process_look(p); i++) phi__child_pause();
    if (p->state == PHI__PROCESS_EXITED) phi__process_reap(p);
    phi__process_exit_forget(p);
    phi__io_ending_remove(io, ending);
    phi__io_timer_clear(io, &p->timer);
    phi__free(phi__io_memory(io), p, sizeof *p);
}

/* ---- starting ---- */

/* Makes the pipes, their watches and the timer. Only these need memory, so they are made before the
   child exists. */
static phi_status phi__process_prepare(phi__process *p, bool with_input, phi__fd *child,
                                       int *error) {
    phi_status status =
        phi__io_timer_set(p->io, &p->timer, phi__io_now_us(p->io) + PHI__PROCESS_HOUR_US);
    p->timer.fire = phi__process_on_timer;
    p->watches[0].ready = phi__process_on_in;
    p->watches[1].ready = phi__process_on_out;
    p->watches[2].ready = phi__process_on_err;
    p->exit_watch.ready = phi__process_on_exit;
    p->ending.end = phi__process_on_end;
    for (int i = with_input || p->keep_input ? 0 : 1; i < 3 && status == PHI_OK; i++) {
        *error = phi__child_pipe(p->io, i != 0, &p->fds[i], &child[i]);
        if (*error != 0) return PHI_IO;
        if (i > 0 || phi__outgoing_waits(&p->input) > 0)
            status =
                phi__io_watch(p->io, &p->watches[i], p->fds[i], i == 0 ? PHI__WRITE : PHI__READ);
    }
    return status;
}

/* Watches for the exit, if the system has a descriptor that becomes readable then. */
static void phi__process_watch_exit(phi__process *p) {
    phi__fd fd = phi__child_exit_fd(&p->child);
    if (fd >= 0) {
        p->exit_watch.fd = fd;
        if (phi__io_watch(p->io, &p->exit_watch, fd, PHI__READ) != PHI_OK) {
            phi__stream_close(fd);
            p->exit_watch.fd = -1;
        }
    }
    phi__process_poll_again(p);
}

PHI__FN phi_status phi__process_new(phi__io *io, const phi__process_desc *desc, phi__process **out,
                                    char *words, size_t words_size) {
    phi__process *p;
    phi__spawn spawn;
    int error = 0;
    *out = NULL;
    if (words_size > 0) words[0] = '\0';
    if (desc->argv == NULL || desc->argv[0] == NULL) return PHI_BAD_ARG;
    if (!phi__io_may_start(io)) return PHI_BUSY;
    p = (phi__process *)phi__alloc(phi__io_memory(io), sizeof *p);
    if (p == NULL) return PHI_NO_MEMORY;
    p->io = io;
    p->output = desc->output;
    p->exited = desc->exited;
    p->room = desc->room;
    p->ctx = desc->ctx;
    p->keep_input = desc->keep_input;
    p->input_max =
        desc->max_input_bytes != 0 ? desc->max_input_bytes : (size_t)PHI__PROCESS_QUEUE_BYTES;
    p->poll_us = PHI__PROCESS_POLL_FIRST_US;
    p->exit_watch.fd = -1;
    for (int i = 0; i < 3; i++) p->fds[i] = spawn.fds[i] = -1;
    phi__buf_init(&p->input.bytes, phi__io_memory(io));
    phi__buf_add(&p->input.bytes, desc->input.at, desc->input.len);
    phi_status status = p->input.bytes.failed
                            ? PHI_NO_MEMORY
                            : phi__process_prepare(p, desc->input.len > 0, spawn.fds, &error);
    if (status == PHI_OK) {
        spawn.argv = desc->argv;
        spawn.env = desc->env;
        spawn.hide_keys = desc->hide_keys;
        spawn.keep_keys = desc->keep_keys;
        spawn.env_only = desc->env_only;
        spawn.cwd = desc->cwd;
        error = phi__child_start(phi__io_memory(io), &spawn, &p->child);
    }
    for (int i = 0; i < 3; i++)
        if (spawn.fds[i] >= 0) phi__child_end_close(spawn.fds[i]);
    if (error != 0) {
        status = phi__child_refusal(error, desc->cwd);
        if (words_size > 0) phi__os_words(error, words, words_size);
    }
    if (status != PHI_OK) {
        /* No child exists yet. */
        p->state = PHI__PROCESS_REAPED;
        for (int i = 0; i < 3; i++) phi__process_shut(p, i);
        phi__outgoing_free(&p->input);
        phi__io_timer_clear(p->io, &p->timer);
        phi__free(phi__io_memory(p->io), p, sizeof *p);
        return status;
    }
    phi__process_watch_exit(p);
    *out = p;
    return PHI_OK;
}

PHI__FN void phi__process_resume(phi__process *process) {
    process->stopped[1] = process->stopped[2] = false;
    if (process->state == PHI__PROCESS_REAPED)
        phi__process_in(process, 0);
    else
        phi__process_watch_all(process);
}

PHI__FN phi_status phi__process_write(phi__process *process, const char *bytes, size_t len,
                                      size_t *taken) {
    phi__process *p = process;
    bool idle = phi__outgoing_waits(&p->input) == 0;
    *taken = 0;
    if (p->fds[0] < 0 || !p->keep_input) return PHI_STALE;
    phi_status status = phi__outgoing_add(&p->input, bytes, len, p->input_max, taken);
    if (status != PHI_OK) return status;
    if (idle && *taken > 0 && !phi__process_send(p)) {
        phi__process_shut(p, 0);
        *taken = 0;
        return PHI_STALE;
    }
    if (*taken < len) p->wants_room = true;
    phi__process_sent(p);
    return PHI_OK;
}

PHI__FN void phi__process_end_input(phi__process *process) {
    process->keep_input = false;
    if (process->fds[0] >= 0) phi__process_sent(process);
}

PHI__FN void phi__process_terminate(phi__process *process) {
    if (!phi__process_look(process)) phi__child_terminate(&process->child);
}

PHI__FN int phi__process_id(const phi__process *process) { return process->child.id; }

PHI__FN void phi__process_free(phi__process *process) {
    if (process == NULL || process->freed) return;
    process->freed = true;
    process->output = NULL;
    process->exited = NULL;
    process->room = NULL;
    if (!process->in_callback) phi__process_release(process);
}

#endif
