/* transfer.c - a transfer: a request under way, with a bounded buffer between transport and
   decoder, and four deadlines.

   All times are those that count for deadlines: phi__io_counted_us.

   There is one timer a transfer. Seeing life only notes the time; the timer, when it fires, looks
   whether the deadline has moved and sets itself again, so that a stream of deltas costs no heap
   work. While bytes wait because the host does not drain its events, the deadline of silence stands
   still. */
#include "base/utf8_in.h"
#include "loop/loop_in.h"

#include <stdarg.h>
#include <stdio.h>

enum {
    PHI__TRANSFER_HEAD_MOST = 16384, /* bytes of header lines kept; transport.h says so */
    PHI__TRANSFER_GRACE_US = 1000    /* past a deadline: one more look at the descriptors */
};

static phi__transfer *phi__transfer_find(phi_transfer handle) {
    phi__slot *slot =
        handle.rt != NULL ? phi__slots_find(&handle.rt->transfers, handle.index, handle.gen) : NULL;
    return slot != NULL ? (phi__transfer *)slot->object : NULL;
}

static phi_transfer phi__transfer_handle(const phi__transfer *transfer) {
    phi_transfer handle;
    handle.rt = transfer->rt;
    handle.index = transfer->slot->index;
    handle.gen = phi__slots_gen_of(PHI__LOAD(&transfer->slot->word));
    return handle;
}

static void phi__transfer_wake(const phi__transfer *t) {
    if (t->owner.run != NULL)
        phi__schedule_wake(t->owner.run);
    else
        t->owner.wake(t->owner.object);
}

/* ---- deadlines ---- */

static uint64_t phi__transfer_after(uint64_t from_us, uint32_t ms) {
    return ms == PHI_UNLIMITED ? UINT64_MAX : from_us + (uint64_t)ms * 1000;
}

static uint64_t phi__transfer_due(const phi__transfer *t, const char **what) {
    uint64_t total = phi__transfer_after(t->opened_us, t->deadlines.total_ms);
    uint64_t stage = UINT64_MAX;
    if (t->stage == PHI_TRANSFER_STARTED) {
        *what = "no connection within";
        stage = phi__transfer_after(t->stage_us, t->deadlines.connect_ms);
    } else if (t->stage == PHI_TRANSFER_CONNECTED) {
        *what = "no answer within";
        stage = phi__transfer_after(t->stage_us, t->deadlines.first_event_ms);
    } else if (t->stage == PHI__STAGE_EVENTS) {
        *what = "the answer was silent for";
        stage = phi__transfer_after(t->stage_us, t->deadlines.idle_ms);
    }
    if (total <= stage) *what = "the answer was not whole after";
    return total <= stage ? total : stage;
}

static void phi__transfer_arm(phi__transfer *t) {
    const char *what = NULL;
    uint64_t due = phi__transfer_due(t, &what);
    uint64_t now = phi__io_counted_us(t->rt->io);
    t->late = false;
    if (t->ended || due == UINT64_MAX)
        phi__io_timer_clear(t->rt->io, &t->timer);
    else if (phi__io_deadline_set(t->rt->io, &t->timer, due > now ? due - now : 0) != PHI_OK) {
        t->ended = true;
        t->status = PHI_NO_MEMORY;
        phi__transfer_wake(t);
    }
}

static uint32_t phi__transfer_limit_ms(const phi__transfer *t, uint64_t due) {
    if (due == phi__transfer_after(t->opened_us, t->deadlines.total_ms))
        return t->deadlines.total_ms;
    return t->stage == PHI_TRANSFER_STARTED     ? t->deadlines.connect_ms
           : t->stage == PHI_TRANSFER_CONNECTED ? t->deadlines.first_event_ms
                                                : t->deadlines.idle_ms;
}

static void phi__transfer_cancel(phi__transfer *t) {
    if (t->gone) return;
    t->gone = true;
    t->transport->cancel(t->transport->user_data, phi__transfer_handle(t));
}

/* The answer was read to its last event: the rest of the body is the transport's. */
static void phi__transfer_release(phi__transfer *t) {
    const phi_transport *transport = t->transport;
    if (t->gone || !t->answered || transport->release == NULL) return;
    t->gone = true;
    transport->release(transport->user_data, phi__transfer_handle(t));
}

static void phi__transfer_timer(phi__timer *timer) {
    phi__transfer *t = PHI__OWNER(timer, phi__transfer, timer);
    const char *what = NULL;
    uint64_t due = phi__transfer_due(t, &what);
    uint64_t now = phi__io_counted_us(t->rt->io);
    if (t->ended) return;
    if (due <= now && t->read < t->body.len && t->stage >= (int)PHI_TRANSFER_CONNECTED) {
        t->stage_us = now; /* it is we who do not read */
        due = phi__transfer_due(t, &what);
    }
    if (due > now) {
        phi__transfer_arm(t);
        return;
    }
    if (!t->late) { /* bytes held up by the host's own pause are read first */
        t->late = true;
        if (phi__io_deadline_set(t->rt->io, timer, PHI__TRANSFER_GRACE_US) == PHI_OK) return;
    }
    phi__transfer_cancel(t);
    t->ended = true;
    t->status = PHI_TIMEOUT;
    (void)snprintf(t->words, sizeof t->words, "%s %u ms", what,
                   (unsigned)phi__transfer_limit_ms(t, due));
    phi__transfer_wake(t);
}

static void phi__transfer_stage(phi__transfer *t, int stage) {
    t->stage = stage;
    t->stage_us = phi__io_counted_us(t->rt->io);
    phi__transfer_arm(t);
}

PHI__FN void phi__transfer_alive(phi__transfer *t) {
    const phi_runtime *rt = t->rt;
    /* close enough for a deadline, and costs no clock */
    if (t->stage == PHI__STAGE_EVENTS)
        t->stage_us = rt->step.began_us - phi__io_gaps_us(rt->io, rt->step.began_us);
    else if (!t->ended)
        phi__transfer_stage(t, PHI__STAGE_EVENTS);
}

/* ---- input of the transport ---- */

PHI__FN phi_status phi__transfer_stage_now(phi_transfer handle, phi_transfer_stage stage) {
    phi__transfer *t = phi__transfer_find(handle);
    if (t == NULL || t->ended) return PHI_STALE;
    if (stage != PHI_TRANSFER_STARTED && stage != PHI_TRANSFER_CONNECTED) return PHI_BAD_ARG;
    /* Started again: it was put back into the queue for want of a descriptor. */
    if ((int)stage > t->stage ||
        (stage == PHI_TRANSFER_STARTED && t->stage == (int)PHI_TRANSFER_STARTED))
        phi__transfer_stage(t, (int)stage);
    return PHI_OK;
}

/* The end comes from here: closing the transfer cancels it at the transport. */
static phi_status phi__transfer_no_memory(phi__transfer *t) {
    t->ended = true;
    t->status = PHI_NO_MEMORY;
    phi__transfer_wake(t);
    return PHI_STALE;
}

PHI__FN phi_status phi__transfer_head_now(phi_transfer handle, int http_status, const char *headers,
                                          size_t len) {
    phi__transfer *t = phi__transfer_find(handle);
    if (t == NULL || t->ended) return PHI_STALE;
    if (headers == NULL && len > 0) return PHI_BAD_ARG;
    if (t->headed) return PHI_MISUSE;
    t->headed = true;
    t->http_status = http_status;
    phi__buf_add(&t->headers, headers, phi__min(len, PHI__TRANSFER_HEAD_MOST));
    if (t->headers.failed) return phi__transfer_no_memory(t);
    if (t->stage < (int)PHI_TRANSFER_CONNECTED) phi__transfer_stage(t, PHI_TRANSFER_CONNECTED);
    phi__transfer_wake(t);
    return PHI_OK;
}

PHI__FN phi_status phi__transfer_push_now(phi_transfer handle, const char *bytes, size_t len) {
    phi__transfer *t = phi__transfer_find(handle);
    if (t == NULL || t->ended) return PHI_STALE;
    if (bytes == NULL && len > 0) return PHI_BAD_ARG;
    if (!t->headed) return PHI_MISUSE;
    if (t->body.len - t->read >= PHI__TRANSFER_BODY_MOST) {
        t->refused = true;
        return PHI_FULL;
    }
    if (t->read > 0) {
        phi__buf_drop(&t->body, t->read);
        t->read = 0;
    }
    phi__buf_add(&t->body, bytes, len);
    if (t->body.failed) return phi__transfer_no_memory(t);
    phi__transfer_wake(t);
    return PHI_OK;
}

PHI__FN phi_status phi__transfer_end_now(phi_transfer handle, phi_status status,
                                         const char *words) {
    phi__transfer *t = phi__transfer_find(handle);
    if (t == NULL || t->ended) return PHI_STALE;
    t->ended = t->gone = true;
    t->status = status;
    if (words == NULL) words = "";
    (void)snprintf(t->words, sizeof t->words, "%.*s",
                   (int)phi__utf8_cut(phi_str_of(words), sizeof t->words - 1), words);
    phi__io_timer_clear(t->rt->io, &t->timer);
    phi__transfer_wake(t);
    return PHI_OK;
}

/* Input of a transport goes to the tape first, where there is one and it has the request. */
static phi_tape *phi__transfer_port_tape(phi_transfer handle) {
    const phi__transfer *t = phi__transfer_find(handle);
    return t != NULL && t->owner.run != NULL ? handle.rt->tape : NULL;
}

static phi_status phi__transfer_port_stage(phi_transfer handle, phi_transfer_stage stage) {
    phi_tape *tape = phi__transfer_port_tape(handle);
    return tape != NULL ? tape->ops->stage(tape, handle, stage)
                        : phi__transfer_stage_now(handle, stage);
}

static phi_status phi__transfer_port_head(phi_transfer handle, int http_status, const char *headers,
                                          size_t len) {
    phi_tape *tape = phi__transfer_port_tape(handle);
    return tape != NULL ? tape->ops->head(tape, handle, http_status, headers, len)
                        : phi__transfer_head_now(handle, http_status, headers, len);
}

static phi_status phi__transfer_port_push(phi_transfer handle, const char *bytes, size_t len) {
    phi_tape *tape = phi__transfer_port_tape(handle);
    return tape != NULL ? tape->ops->push(tape, handle, bytes, len)
                        : phi__transfer_push_now(handle, bytes, len);
}

static phi_status phi__transfer_port_end(phi_transfer handle, phi_status status,
                                         const char *words) {
    phi_tape *tape = phi__transfer_port_tape(handle);
    return tape != NULL ? tape->ops->end(tape, handle, status, words)
                        : phi__transfer_end_now(handle, status, words);
}

static const phi__transfer_port phi__transfer_port_table = {
    phi__transfer_port_stage, phi__transfer_port_head, phi__transfer_port_push,
    phi__transfer_port_end};

PHI__FN const phi__transfer_port *phi__transfer_port_get(void) { return &phi__transfer_port_table; }

/* ---- the decoder's side ---- */

static phi__transfer *phi__transfer_make(phi_runtime *rt, phi_memory *memory) {
    phi__transfer *t = (phi__transfer *)phi__alloc(memory, sizeof *t);
    if (t == NULL) return NULL;
    t->rt = rt;
    phi__buf_init(&t->body, memory);
    phi__buf_init(&t->headers, memory);
    t->timer.fire = phi__transfer_timer;
    t->slot = phi__slots_take(&rt->transfers, 1, t);
    if (t->slot == NULL) {
        phi__free(memory, t, sizeof *t);
        return NULL;
    }
    return t;
}

static void phi__transfer_unmake(phi__transfer *t) {
    phi_memory *memory = t->body.memory;
    phi__io_timer_clear(t->rt->io, &t->timer);
    phi__slots_release(&t->rt->transfers, t->slot);
    phi__buf_free(&t->body);
    phi__buf_free(&t->headers);
    phi__free(memory, t, sizeof *t);
}

PHI__FN phi_status phi__transfer_open(phi_runtime *rt, phi_memory *memory,
                                      const phi_request *request, const phi_deadlines *deadlines,
                                      uint64_t max_bytes, const phi__transfer_owner *owner,
                                      phi__transfer **out) {
    bool of_run = owner->run != NULL;
    bool stages = of_run ? rt->tells_stages : rt->fetches.stages;
    phi__transfer *t = phi__transfer_make(rt, memory);
    phi_status status;
    if (t == NULL) return PHI_NO_MEMORY;
    t->owner = *owner;
    t->transport = of_run ? rt->transport : rt->fetches.transport;
    t->deadlines = *deadlines;
    t->max_bytes = max_bytes;
    t->opened_us = t->stage_us = phi__io_counted_us(rt->io);
    *out = t; /* the transport may push before open returns */
    status = t->transport->open(t->transport->user_data, phi__transfer_handle(t), request);
    if (status != PHI_OK) {
        phi__transfer_unmake(t);
        *out = NULL;
        return status;
    }
    /* a host's transport without stages */
    if (t->stage == PHI__STAGE_QUEUED && !stages)
        phi__transfer_stage(t, PHI_TRANSFER_CONNECTED);
    else
        phi__transfer_arm(t);
    return PHI_OK;
}

PHI__FN phi_str phi__transfer_unread(const phi__transfer *t) {
    return t->read < t->body.len ? phi__str(t->body.at + t->read, t->body.len - t->read)
                                 : phi__str(NULL, 0);
}

/* Resumes a transport that was refused: it may push at once. */
static void phi__transfer_resume(phi__transfer *t) {
    t->read = 0;
    phi__buf_clear(&t->body);
    if (!t->refused || t->ended) return;
    t->refused = false;
    t->stage_us = phi__io_now_us(t->rt->io);
    t->transport->resume(t->transport->user_data, phi__transfer_handle(t));
}

PHI__FN phi_str phi__transfer_took(phi__transfer *t, size_t bytes, bool alive) {
    if (alive) phi__transfer_alive(t);
    t->read += bytes;
    t->decoded += bytes;
    if (t->read >= t->body.len) phi__transfer_resume(t);
    return phi__transfer_unread(t);
}

PHI__FN void phi__transfer_close(phi__transfer *t) {
    if (t == NULL) return;
    phi__transfer_release(t);
    phi__transfer_cancel(t);
    phi__transfer_unmake(t);
}

/* ---- its end, for the run ---- */

/* A status of a transport or of a provider's open counts where it is about these: BUSY or CANCELLED
   mean something else of a run. */
PHI__FN phi_status phi__transfer_status(phi_status status) {
    switch (status) {
    case PHI_BAD_ARG:
    case PHI_NO_MEMORY:
    case PHI_FULL:
    case PHI_TIMEOUT:
    case PHI_TLS:
    case PHI_PARSE:
    case PHI_TOO_BIG:
    case PHI_NOT_FOUND:
    case PHI_IO:
    case PHI_UNSUPPORTED:
    case PHI_REFUSED: return status;
    default: return PHI_NETWORK;
    }
}

/* A transport is refused by a server that is not there, a run by a provider that has answered. */
PHI__FN phi_status phi__transfer_network_status(phi_status status) {
    return status == PHI_REFUSED ? PHI_UNREACHABLE : phi__transfer_status(status);
}

/* ---- public ---- */

PHI_API phi_status phi_transfer_head(phi_transfer handle, int http_status, const char *headers,
                                     size_t len) {
    if (http_status == PHI_TRANSFER_STARTED || http_status == PHI_TRANSFER_CONNECTED)
        return phi__transfer_port_stage(handle, (phi_transfer_stage)http_status);
    return phi__transfer_port_head(handle, http_status, headers, len);
}

PHI_API phi_status phi_transfer_push(phi_transfer handle, const char *bytes, size_t len) {
    return phi__transfer_port_push(handle, bytes, len);
}

PHI_API phi_status phi_transfer_end(phi_transfer handle, phi_status status, const char *words) {
    return phi__transfer_port_end(handle, status, words);
}
