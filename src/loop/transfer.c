/* transfer.c - a transfer: a sent request, with a bounded buffer between transport and decoder, and
   four deadlines.

   All times come from phi__io_counted_us, the clock of deadlines.

   Each transfer has one timer. A sign of life only stores the time. When the timer fires, it checks
   if the deadline has moved, and sets itself again, so that a stream of deltas costs no heap
   operations. While bytes wait because the host pops no events, the deadline of silence is
   paused. */
#include "loop/inner_in.h"

#include <stdarg.h>
#include <stdio.h>

enum {
    PHI__TRANSFER_HEAD_MOST = 16384, /* bytes of header lines that are kept; see transport.h */
    PHI__TRANSFER_GRACE_US = 1000    /* one more read of the descriptors after a deadline */
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

/* Returns the next deadline. *what and *ms describe it for the message. */
static uint64_t phi__transfer_due(const phi__transfer *t, const char **what, uint32_t *ms) {
    const phi_deadlines *d = &t->deadlines;
    uint64_t total = phi__transfer_after(t->opened_us, d->total_ms);
    uint64_t stage = UINT64_MAX;
    *what = "the answer was silent for";
    *ms = d->idle_ms;
    if (t->stage == PHI_TRANSFER_STARTED) {
        *what = "no connection within";
        *ms = d->connect_ms;
    } else if (t->stage == PHI_TRANSFER_CONNECTED) {
        *what = "no answer within";
        *ms = d->first_event_ms;
    }
    if (t->stage != PHI__STAGE_QUEUED) stage = phi__transfer_after(t->stage_us, *ms);
    if (total > stage) return stage;
    *what = "the answer was not whole after";
    *ms = d->total_ms;
    return total;
}

static void phi__transfer_arm(phi__transfer *t) {
    const char *what;
    uint32_t ms;
    uint64_t due = phi__transfer_due(t, &what, &ms);
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

static void phi__transfer_cancel(phi__transfer *t) {
    if (t->gone) return;
    t->gone = true;
    t->transport->cancel(t->transport->user_data, phi__transfer_handle(t));
}

static void phi__transfer_timer(phi__timer *timer) {
    phi__transfer *t = PHI__OWNER(timer, phi__transfer, timer);
    const char *what;
    uint32_t ms;
    uint64_t due = phi__transfer_due(t, &what, &ms);
    uint64_t now = phi__io_counted_us(t->rt->io);
    if (t->ended) return;
    if (due <= now && t->read < t->body.len && t->stage >= (int)PHI_TRANSFER_CONNECTED) {
        t->stage_us = now; /* phi causes the silence, because it does not read */
        due = phi__transfer_due(t, &what, &ms);
    }
    if (due > now) {
        phi__transfer_arm(t);
        return;
    }
    if (!t->late) { /* first read bytes that waited during the host's own pause */
        t->late = true;
        if (phi__io_deadline_set(t->rt->io, timer, PHI__TRANSFER_GRACE_US) == PHI_OK) return;
    }
    phi__transfer_cancel(t);
    t->ended = true;
    t->status = PHI_TIMEOUT;
    (void)snprintf(t->words, sizeof t->words, "%s %u ms", what, (unsigned)ms);
    phi__transfer_wake(t);
}

static void phi__transfer_stage(phi__transfer *t, int stage) {
    t->stage = stage;
    t->stage_us = phi__io_counted_us(t->rt->io);
    phi__transfer_arm(t);
}

PHI__FN void phi__transfer_alive(phi__transfer *t) {
    const phi_runtime *rt = t->rt;
    /* exact enough for a deadline, and reads no clock */
    if (t->stage == PHI__STAGE_EVENTS)
        t->stage_us = rt->step.began_us - phi__io_gaps_us(rt->io, rt->step.began_us);
    else if (!t->ended)
        phi__transfer_stage(t, PHI__STAGE_EVENTS);
}

/* ---- input from the transport ---- */

PHI__FN phi_status phi__transfer_stage_now(phi_transfer handle, phi_transfer_stage stage) {
    phi__transfer *t = phi__transfer_find(handle);
    if (t == NULL || t->ended) return PHI_STALE;
    if (stage != PHI_TRANSFER_STARTED && stage != PHI_TRANSFER_CONNECTED) return PHI_BAD_ARG;
    /* A second STARTED: the transfer was put back into the queue because no descriptor was free. */
    if ((int)stage > t->stage ||
        (stage == PHI_TRANSFER_STARTED && t->stage == (int)PHI_TRANSFER_STARTED))
        phi__transfer_stage(t, (int)stage);
    return PHI_OK;
}

/* Ends the transfer without memory. Closing the transfer then cancels it at the transport. */
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

/* Returns the number of unread bytes at which a push is refused. */
static size_t phi__transfer_most(const phi__transfer *t) {
    const size_t most = PHI__TRANSFER_BODY_MOST;
    size_t part = t->body.memory->limit_bytes / PHI__TRANSFER_LIMIT_PART; /* 0: no limit */
    return part == 0 || part > most ? most : part;
}

PHI__FN phi_status phi__transfer_push_now(phi_transfer handle, const char *bytes, size_t len) {
    phi__transfer *t = phi__transfer_find(handle);
    if (t == NULL || t->ended) return PHI_STALE;
    if (bytes == NULL && len > 0) return PHI_BAD_ARG;
    if (!t->headed) return PHI_MISUSE;
    if (t->body.len - t->read >= phi__transfer_most(t)) {
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

/* Returns the tape that gets the transport's input first. NULL: there is no tape, or the request
   does not belong to a run. */
static phi_tape *phi__transfer_port_tape(phi_transfer handle) {
    const phi__transfer *t = phi__transfer_find(handle);
    return t != NULL && t->owner.run != NULL ? handle.rt->tape : NULL;
}

static phi_status phi__transfer_port_stage(phi_transfer handle, phi_transfer_stage stage) {
    phi_tape *tape = phi__transfer_port_tape(handle);
    if (tape == NULL) return phi__transfer_stage_now(handle, stage);
    return tape->plays ? PHI_STALE : tape->recorder->stage(tape, handle, stage);
}

static phi_status phi__transfer_port_head(phi_transfer handle, int http_status, const char *headers,
                                          size_t len) {
    phi_tape *tape = phi__transfer_port_tape(handle);
    if (tape == NULL) return phi__transfer_head_now(handle, http_status, headers, len);
    return tape->plays ? PHI_STALE : tape->recorder->head(tape, handle, http_status, headers, len);
}

PHI_API phi_status phi_transfer_head(phi_transfer handle, int http_status, const char *headers,
                                     size_t len) {
    if (http_status == PHI_TRANSFER_STARTED || http_status == PHI_TRANSFER_CONNECTED)
        return phi__transfer_port_stage(handle, (phi_transfer_stage)http_status);
    return phi__transfer_port_head(handle, http_status, headers, len);
}

PHI_API phi_status phi_transfer_push(phi_transfer handle, const char *bytes, size_t len) {
    phi_tape *tape = phi__transfer_port_tape(handle);
    if (tape == NULL) return phi__transfer_push_now(handle, bytes, len);
    return tape->plays ? PHI_STALE : tape->recorder->push(tape, handle, bytes, len);
}

PHI_API phi_status phi_transfer_end(phi_transfer handle, phi_status status, const char *words) {
    phi_tape *tape = phi__transfer_port_tape(handle);
    if (tape == NULL) return phi__transfer_end_now(handle, status, words);
    return tape->plays ? PHI_STALE : tape->recorder->end(tape, handle, status, words);
}

PHI__FN const phi__transfer_port *phi__transfer_port_get(void) {
    static const phi__transfer_port table = {phi__transfer_port_stage, phi__transfer_port_head,
                                             phi_transfer_push, phi_transfer_end};
    return &table;
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
    phi__transfer *t = (phi__transfer *)phi__alloc(memory, sizeof *t);
    if (t == NULL) return PHI_NO_MEMORY;
    t->slot = phi__slots_take(&rt->transfers, 1, t);
    if (t->slot == NULL) {
        phi__free(memory, t, sizeof *t);
        return PHI_NO_MEMORY;
    }
    t->rt = rt;
    phi__buf_init(&t->body, memory);
    phi__buf_init(&t->headers, memory);
    t->timer.fire = phi__transfer_timer;
    t->owner = *owner;
    t->transport = of_run ? rt->transport : rt->fetches.transport;
    t->deadlines = *deadlines;
    t->max_bytes = max_bytes;
    t->opened_us = t->stage_us = phi__io_counted_us(rt->io);
    *out = t; /* set first, because the transport may push inside open */
    phi_status status =
        t->transport->open(t->transport->user_data, phi__transfer_handle(t), request);
    if (status != PHI_OK) {
        phi__transfer_unmake(t);
        *out = NULL;
    } else if (t->stage == PHI__STAGE_QUEUED && !stages) /* transport that reports no stages */
        phi__transfer_stage(t, PHI_TRANSFER_CONNECTED);
    else
        phi__transfer_arm(t);
    return status;
}

PHI__FN phi_str phi__transfer_unread(const phi__transfer *t) {
    return t->read < t->body.len ? phi__str(t->body.at + t->read, t->body.len - t->read)
                                 : phi__str(NULL, 0);
}

PHI__FN phi_str phi__transfer_took(phi__transfer *t, size_t bytes, bool alive) {
    if (alive) phi__transfer_alive(t);
    t->read += bytes;
    t->decoded += bytes;
    if (t->read >= t->body.len) {
        t->read = 0;
        phi__buf_clear(&t->body);
        if (t->refused && !t->ended) { /* the transport may push inside resume */
            t->refused = false;
            t->stage_us = phi__io_counted_us(t->rt->io);
            t->transport->resume(t->transport->user_data, phi__transfer_handle(t));
        }
    }
    return phi__transfer_unread(t);
}

PHI__FN void phi__transfer_drop_body(phi__transfer *t) {
    t->read = 0;
    phi__buf_free(&t->body);
}

PHI__FN void phi__transfer_close(phi__transfer *t) {
    if (t == NULL) return;
    /* The last event was read. The transport may read or drop the rest of the body. */
    if (!t->gone && t->answered && t->transport->release != NULL) {
        t->gone = true;
        t->transport->release(t->transport->user_data, phi__transfer_handle(t));
    }
    phi__transfer_cancel(t);
    phi__transfer_unmake(t);
}

/* ---- mapping statuses for the run ---- */

/* Returns unchanged the statuses that mean the same for a run. Others, such as BUSY or CANCELLED,
   mean something else for a run and become PHI_NETWORK. */
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

/* For a transport, REFUSED means that no server listens. For a run, REFUSED means that the provider
   has answered with a refusal. */
PHI__FN phi_status phi__network_status(phi_status status) {
    return status == PHI_REFUSED ? PHI_UNREACHABLE : phi__transfer_status(status);
}

/* ---- HTTP requests of other rooms ---- */

enum {
    PHI__FETCH_SLICE = 16384, /* maximum for one callback */
    PHI__FETCH_PART = 32768,  /* maximum for one fetch in a step */
    PHI__FETCH_STEP = 65536,  /* maximum for all fetches in a step */
    /* The defaults of phi_deadlines. */
    PHI__FETCH_CONNECT_MS = 15000,
    PHI__FETCH_FIRST_MS = 300000,
    PHI__FETCH_IDLE_MS = 120000
};

struct phi__fetch {
    phi_runtime *rt;
    phi__link open, ready;             /* in rt->fetches */
    bool waits;                        /* in the list `ready` */
    bool headed, paused, busy, closed; /* busy: a callback is running */
    bool resumed;                      /* resumed while a callback was running */
    uint32_t round;                    /* the last step that handled the fetch */
    phi_status status;                 /* the final status if there is no transfer */
    phi__transfer *transfer;           /* NULL: the fetch was refused or cancelled */
    phi_request request;
    phi__fetch_desc desc; /* the strings are copied into the arena */
    phi_arena arena;
};

PHI__FN bool phi__fetch_value_fits(phi_str value) {
    for (size_t i = 0; i < value.len; i++) {
        unsigned char c = (unsigned char)value.at[i];
        if ((c < 32 && c != '\t') || c == 127) return false;
    }
    return true;
}

PHI__FN bool phi__fetch_name_fits(phi_str name) {
    static const char others[] = "!#$%&'*+-.^_`|~";
    for (size_t i = 0; i < name.len; i++) {
        char c = name.at[i];
        if (!phi__is_alnum(c) && (c == '\0' || strchr(others, c) == NULL)) return false;
    }
    return name.len > 0;
}

static phi_status phi__fetch_check(phi_runtime *rt, const phi__fetch_desc *desc) {
    if (rt->closing) return phi__error(rt, PHI_MISUSE, "request: the runtime is closing");
    if (rt->fetches.transport == NULL)
        return phi__error(rt, PHI_MISUSE,
                          "request: a tape is played, which has no requests of tools");
    if (desc->stands && rt->fetches.standing >= rt->fetches.standing_most)
        return phi__error(rt, PHI_FULL,
                          "request: half of max_connections are streams that stay open");
    if (!phi__fetch_name_fits(desc->method))
        return phi__error(rt, PHI_BAD_ARG, "request: method: expected a token");
    phi_str url = desc->url;
    phi__url parts;
    bool fits = phi__url_split(url, &parts) && parts.web && parts.host.len > 0;
    for (size_t i = 0; fits && i < url.len; i++)
        fits = (unsigned char)url.at[i] > 32 && (unsigned char)url.at[i] != 127;
    if (!fits)
        return phi__error(rt, PHI_BAD_ARG,
                          "request: url: expected http:// or https:// without spaces or control "
                          "characters");
    for (size_t i = 0; i < desc->header_count; i++) {
        const phi__header *h = &desc->headers[i];
        if (!phi__fetch_name_fits(h->name))
            return phi__error(rt, PHI_BAD_ARG, "request: headers[%u]: its name is no token",
                              (unsigned)i);
        if (!phi__fetch_value_fits(h->value))
            return phi__error(rt, PHI_BAD_ARG,
                              "request: header %.*s: a control character in its value",
                              (int)phi__min(h->name.len, 80), h->name.at);
    }
    return PHI_OK;
}

static bool phi__fetch_copy(phi__fetch *f, const phi__fetch_desc *desc) {
    phi_request *request = &f->request;
    size_t headers = desc->header_count;
    size_t pieces = phi__add(desc->piece_count, desc->body.len > 0 ? 1 : 0), n = 0;
    phi_str body;
    if (!phi__arena_str(&f->arena, desc->method, &request->method) ||
        !phi__arena_str(&f->arena, desc->url, &request->url))
        return false;
    if (headers > 0) {
        request->headers =
            (phi__header *)phi__arena_zero(&f->arena, phi__mul(headers, sizeof *request->headers));
        if (request->headers == NULL) return false;
    }
    for (size_t i = 0; i < headers; i++)
        if (!phi__arena_str(&f->arena, desc->headers[i].name, &request->headers[i].name) ||
            !phi__arena_str(&f->arena, desc->headers[i].value, &request->headers[i].value))
            return false;
    request->header_count = headers;
    request->piece_count = pieces;
    if (pieces == 0) return true;
    request->pieces =
        (phi__piece *)phi__arena_zero(&f->arena, phi__mul(pieces, sizeof *request->pieces));
    if (request->pieces == NULL || !phi__arena_str(&f->arena, desc->body, &body)) return false;
    if (body.len > 0) {
        request->pieces[n].at = body.at;
        request->pieces[n++].len = body.len;
    }
    for (size_t i = 0; i < desc->piece_count; i++, n++) {
        request->pieces[n].at = desc->pieces[i].at;
        request->pieces[n].len = desc->pieces[i].len;
    }
    return true;
}

static phi__fetch *phi__fetch_make(phi_runtime *rt, const phi__fetch_desc *desc) {
    phi__fetch *f = (phi__fetch *)phi__alloc(desc->memory, sizeof *f);
    if (f == NULL) return NULL;
    f->rt = rt;
    f->desc = *desc;
    f->round = rt->step.round; /* callbacks begin in a later step */
    phi_deadlines *d = &f->desc.deadlines;
    if (d->connect_ms == 0) d->connect_ms = PHI__FETCH_CONNECT_MS;
    if (d->first_event_ms == 0) d->first_event_ms = PHI__FETCH_FIRST_MS;
    if (d->idle_ms == 0) d->idle_ms = PHI__FETCH_IDLE_MS;
    if (d->total_ms == 0) d->total_ms = PHI_UNLIMITED;
    phi_arena_init(&f->arena, desc->memory, 1024);
    if (phi__fetch_copy(f, desc)) {
        phi__request_seal(&f->request);
        return f;
    }
    phi_arena_free(&f->arena);
    phi__free(desc->memory, f, sizeof *f);
    return NULL;
}

/* ---- lists ---- */

static void phi__fetch_wake(void *object) {
    phi__fetch *f = (phi__fetch *)object;
    if (f->waits || f->closed) return;
    f->waits = true;
    phi__list_push(&f->rt->fetches.ready, &f->ready);
}

static void phi__fetch_unready(phi__fetch *f) {
    if (f->waits) phi__list_take(&f->rt->fetches.ready, &f->ready);
    f->waits = false;
}

static void phi__fetch_destroy(phi__fetch *f) {
    phi_memory *memory = f->desc.memory;
    /* Erase the headers' keys before the memory is reused. */
    for (size_t i = 0; i < f->request.header_count; i++)
        memset((char *)(uintptr_t)f->request.headers[i].value.at, 0,
               f->request.headers[i].value.len);
    phi_arena_free(&f->arena);
    phi__free(memory, f, sizeof *f);
}

/* Removes the fetch from all lists, and closes its transfer. */
static void phi__fetch_detach(phi__fetch *f) {
    f->closed = true;
    phi__fetch_unready(f);
    phi__list_take(&f->rt->fetches.open, &f->open);
    if (f->desc.stands) f->rt->fetches.standing--;
    phi__transfer_close(f->transfer);
    f->transfer = NULL;
}

/* ---- calling the callbacks ---- */

static void phi__fetch_end(phi__fetch *f, phi_status status) {
    char words[sizeof f->transfer->words];
    words[0] = '\0';
    if (status == PHI_TOO_BIG)
        (void)snprintf(words, sizeof words, "the answer is larger than %llu bytes",
                       (unsigned long long)f->desc.max_bytes);
    else if (status != PHI_OK && f->transfer != NULL)
        memcpy(words, f->transfer->words, sizeof words);
    if (words[0] != '\0') {
        /* A message of the transport may quote the URL. */
        phi__secrets secrets;
        phi__secret_init(&secrets, &f->arena);
        phi__secret_request(&secrets, &f->request);
        if (secrets.failed)
            words[0] = '\0';
        else
            (void)phi__secret_hide(&secrets, words, strlen(words), PHI__SECRET_WORDS);
    }
    if (status != PHI_OK && words[0] == '\0')
        (void)snprintf(words, sizeof words, "%s", phi_status_text(status));
    phi__fetch_detach(f);
    f->busy = true;
    f->desc.on_end(f->desc.user_data, status, words);
    phi__fetch_destroy(f);
}

/* Ends a callback. False: the callback has closed the fetch. */
static bool phi__fetch_still(phi__fetch *f) {
    f->busy = false;
    if (!f->closed) return true;
    phi__fetch_destroy(f);
    return false;
}

static phi_status phi__fetch_status(phi_status status) {
    return status == PHI_OK ? status : phi__network_status(status);
}

/* Delivers a part of the waiting bytes. Returns how many. */
static size_t phi__fetch_go(phi__fetch *f) {
    size_t done = 0;
    if (f->transfer == NULL) {
        phi__fetch_end(f, f->status);
        return 0;
    }
    if (f->transfer->headed && !f->headed) {
        f->headed = f->busy = true;
        if (f->desc.on_head != NULL)
            f->desc.on_head(f->desc.user_data, f->transfer->http_status,
                            phi__buf_str(&f->transfer->headers));
        if (!phi__fetch_still(f)) return 0;
    }
    while (!f->paused) {
        phi_str unread = phi__transfer_unread(f->transfer);
        size_t n = phi__min(unread.len, PHI__FETCH_SLICE);
        if (f->desc.max_bytes > 0 && f->transfer->decoded + unread.len > f->desc.max_bytes) {
            phi__fetch_end(f, PHI_TOO_BIG);
            return done;
        }
        if (n == 0) break;
        if (done >= PHI__FETCH_PART) {
            phi__fetch_wake(f);
            return done;
        }
        done += n;
        size_t took = n;
        f->busy = true;
        f->resumed = false;
        if (f->desc.on_body != NULL)
            took = f->desc.on_body(f->desc.user_data, phi__str(unread.at, n));
        if (!phi__fetch_still(f)) return done;
        PHI_ASSERT(took <= n);
        if (took < n && !f->resumed) f->paused = true;
        if (took > 0) (void)phi__transfer_took(f->transfer, took, true);
    }
    if (!f->paused && f->transfer->ended) phi__fetch_end(f, phi__fetch_status(f->transfer->status));
    return done;
}

/* ---- used by other rooms ---- */

PHI__FN phi_status phi__fetch_open(phi_runtime *rt, const phi__fetch_desc *desc, phi__fetch **out) {
    phi_status status = phi__fetch_check(rt, desc);
    *out = NULL;
    if (status != PHI_OK) return status;
    phi__fetch *f = phi__fetch_make(rt, desc);
    if (f == NULL) return phi__error(rt, PHI_NO_MEMORY, "request: no memory");
    phi__transfer_owner owner = PHI_ZERO;
    owner.wake = phi__fetch_wake;
    owner.object = f;
    status = phi__transfer_open(rt, desc->memory, &f->request, &f->desc.deadlines, desc->max_bytes,
                                &owner, &f->transfer);
    if (status == PHI_NO_MEMORY) {
        phi__fetch_unready(f); /* the transport may have pushed before open failed */
        phi__fetch_destroy(f);
        return phi__error(rt, PHI_NO_MEMORY, "request: no memory");
    }
    phi__list_push(&rt->fetches.open, &f->open);
    if (desc->stands) rt->fetches.standing++;
    f->status = phi__fetch_status(status);
    if (status != PHI_OK) phi__fetch_wake(f);
    *out = f;
    return PHI_OK;
}

PHI__FN void phi__fetch_close(phi__fetch *f) {
    if (f == NULL || f->closed) return;
    phi__fetch_detach(f);
    if (!f->busy) phi__fetch_destroy(f);
}

PHI__FN void phi__fetch_resume(phi__fetch *f) {
    f->resumed = true;
    if (!f->paused) return;
    f->paused = false;
    phi__fetch_wake(f);
}

/* ---- used by the runtime ---- */

PHI__FN void phi__fetch_pump(phi_runtime *rt) {
    phi__list *ready = &rt->fetches.ready;
    size_t done = 0;
    while (ready->first != NULL && done < PHI__FETCH_STEP) {
        phi__fetch *f = PHI__OWNER(ready->first, phi__fetch, ready);
        /* this and all later fetches were already handled in this step */
        if (f->round == rt->step.round) return;
        f->round = rt->step.round;
        phi__fetch_unready(f);
        size_t n = phi__fetch_go(f);
        done += n;
        if (n == 0) continue;
        phi__slice_took(&rt->slice, n);
        if (phi__slice_io_spent(&rt->slice)) return; /* keep the rest of the slice for the runs */
    }
}

PHI__FN void phi__fetch_cancel_all(phi_runtime *rt) {
    for (phi__link *link = rt->fetches.open.first; link != NULL; link = link->next) {
        phi__fetch *f = PHI__OWNER(link, phi__fetch, open);
        f->status = PHI_CANCELLED;
        phi__transfer_close(f->transfer);
        f->transfer = NULL;
        phi__fetch_wake(f);
    }
}

PHI__FN void phi__fetch_end_all(phi_runtime *rt) {
    phi__link *first;
    while ((first = rt->fetches.open.first) != NULL)
        phi__fetch_end(PHI__OWNER(first, phi__fetch, open), PHI_CANCELLED);
}
