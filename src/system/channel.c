/* channel.c - the channels of system_in.h: a queue for the reader, and two sides of
   channel_in.h. */
#include "system/channel_in.h"
#include "system/process_in.h"
#include "base/base_in.h"
#include "io/io_in.h"

#ifndef PHI_NO_PROCESS

enum {
    PHI__CHANNEL_TURN_BYTES = 16384,    /* max. bytes read in one turn */
    PHI__CHANNEL_WRITES = 16,           /* max. writes in one turn */
    PHI__CHANNEL_QUEUE_BYTES = 1048576, /* default of max_out_bytes */
    PHI__CHANNEL_KEPT_BYTES = 16384,    /* a larger queue is freed when it is empty */
    /* pauses between two tries on a side that no poller takes: the first, doubled up to the last */
    PHI__CHANNEL_PAUSE_US = 1000,
    PHI__CHANNEL_PAUSE_MOST_US = 8000
};
#define PHI__CHANNEL_RETRY_US 10000u /* pause after a watch failed for lack of memory */

struct phi__channel {
    phi__io *io;
    phi__channel_desc desc;
    phi__side sides[2]; /* 0: input, 1: output */
    phi__watch watches[2];
    /* for a plain side, which the timer serves: the time of its next try, and the last pause */
    uint64_t due_us[2];
    uint32_t pause_us[2];
    phi__timer timer;
    phi__outgoing out;
    bool stopped; /* `input` returned false */
    bool over;    /* `ended` was called */
    bool broken;  /* out_fd has no reader */
    bool wants_room, in_callback, freed;
};

static bool phi__channel_wants(const phi__channel *c, int side) {
    if (side == 0) return !c->over && !c->stopped;
    return !c->broken && (phi__outgoing_waits(&c->out) > 0 || c->wants_room);
}

/* Watches each side that must be watched. The timer serves sides without a poller, and tries failed
   watches again. */
static void phi__channel_watch(phi__channel *c) {
    uint64_t at = UINT64_MAX, now = phi__io_now_us(c->io);
    for (int side = 0; side < 2; side++) {
        bool on = phi__channel_wants(c, side);
        int want = !on ? 0 : side == 0 ? PHI__READ : PHI__WRITE;
        if (c->sides[side].plain) {
            if (on && c->due_us[side] < at) at = c->due_us[side];
            continue;
        }
        if (c->watches[side].want == want ||
            phi__io_watch(c->io, &c->watches[side], c->sides[side].fd, want) == PHI_OK)
            continue;
        if (at > now + PHI__CHANNEL_RETRY_US) at = now + PHI__CHANNEL_RETRY_US;
    }
    if (at < now) at = now;
    (void)phi__io_timer_set(c->io, &c->timer, at); /* cannot fail: the timer is set */
}

static void phi__channel_destroy(phi__channel *c) {
    for (int side = 0; side < 2; side++) {
        (void)phi__io_watch(c->io, &c->watches[side], c->sides[side].fd, 0);
        phi__side_close(&c->sides[side]);
    }
    phi__io_timer_clear(c->io, &c->timer);
    phi__outgoing_free(&c->out);
    phi__free(phi__io_memory(c->io), c, sizeof *c);
}

/* Called after each callback. False: the callback freed the channel. */
static bool phi__channel_returned(phi__channel *c) {
    c->in_callback = false;
    if (c->freed) {
        phi__channel_destroy(c);
        return false;
    }
    phi__channel_watch(c);
    return true;
}

/* Calls `ended`. False: the channel is gone. */
static bool phi__channel_over(phi__channel *c, phi_status status, int error) {
    char words[128] = "";
    if (c->over) return true;
    c->over = true;
    if (error != 0) phi__os_words(error, words, sizeof words);
    c->in_callback = true;
    c->desc.ended(c->desc.ctx, status, words);
    return phi__channel_returned(c);
}

/* Sets the time of the next try: at once after bytes, else after a pause. */
static void phi__channel_tried(phi__channel *c, int side, bool moved) {
    uint32_t pause = c->pause_us[side];
    pause = pause == 0 ? (uint32_t)PHI__CHANNEL_PAUSE_US : pause * 2;
    if (pause > PHI__CHANNEL_PAUSE_MOST_US) pause = PHI__CHANNEL_PAUSE_MOST_US;
    c->pause_us[side] = moved ? 0 : pause;
    c->due_us[side] = moved ? 0 : phi__io_now_us(c->io) + pause;
}

/* Reads once. False: the channel is gone. */
static bool phi__channel_read(phi__channel *c) {
    char bytes[PHI__CHANNEL_TURN_BYTES];
    size_t n;
    if (!phi__channel_wants(c, 0)) return true;
    int error = phi__side_read(&c->sides[0], bytes, sizeof bytes, &n);
    phi__channel_tried(c, 0, error != PHI__SIDE_BUSY);
    if (error == PHI__SIDE_BUSY) return true;
    if (n == 0) return phi__channel_over(c, error == 0 ? PHI_OK : PHI_IO, error);
    c->in_callback = true;
    if (!c->desc.input(c->desc.ctx, bytes, n)) c->stopped = true;
    return phi__channel_returned(c);
}

/* Removes bytes that were written from the queue. */
static void phi__channel_wrote(phi__channel *c, size_t n) {
    phi__outgoing *out = &c->out;
    out->at += n;
    if (out->at == out->bytes.len) {
        phi__buf_clear(&out->bytes);
        if (out->bytes.cap > PHI__CHANNEL_KEPT_BYTES) phi__buf_free(&out->bytes);
        out->at = 0;
    } else if (out->at >= out->bytes.len / 2) {
        phi__buf_drop(&out->bytes, out->at);
        out->at = 0;
    }
}

/* Writes as much as out_fd takes. Returns 0 or an error of the system. */
static int phi__channel_send(phi__channel *c) {
    int error = 0;
    bool moved = false;
    for (int i = 0; i < PHI__CHANNEL_WRITES && error == 0 && phi__outgoing_waits(&c->out) > 0;
         i++) {
        size_t wrote;
        error = phi__side_write(&c->sides[1], c->out.bytes.at + c->out.at,
                                phi__outgoing_waits(&c->out), &wrote);
        if (wrote > 0) phi__channel_wrote(c, wrote);
        moved = moved || wrote > 0;
    }
    phi__channel_tried(c, 1, moved || error == 0);
    return error == PHI__SIDE_BUSY ? 0 : error;
}

/* Writes queued bytes. False: the channel is gone. */
static bool phi__channel_write_on(phi__channel *c) {
    if (!phi__channel_wants(c, 1)) return true;
    int error = phi__channel_send(c);
    if (error != 0) {
        c->broken = true;
        c->wants_room = false;
        phi__outgoing_free(&c->out);
        return phi__channel_over(c, PHI_STALE, error);
    }
    if (!c->wants_room || phi__channel_waiting(c) > c->desc.max_out_bytes / 2) return true;
    c->wants_room = false;
    if (c->desc.room == NULL) return true;
    c->in_callback = true;
    c->desc.room(c->desc.ctx);
    return phi__channel_returned(c);
}

static void phi__channel_on_in(phi__watch *watch, int have) {
    phi__channel *c = PHI__OWNER(watch, phi__channel, watches[0]);
    (void)have;
    if (phi__channel_read(c)) phi__channel_watch(c);
}

static void phi__channel_on_out(phi__watch *watch, int have) {
    phi__channel *c = PHI__OWNER(watch, phi__channel, watches[1]);
    (void)have;
    if (phi__channel_write_on(c)) phi__channel_watch(c);
}

static void phi__channel_on_timer(phi__timer *timer) {
    phi__channel *c = PHI__OWNER(timer, phi__channel, timer);
    /* cannot fail: the slot of the fired timer is free */
    (void)phi__io_timer_set(c->io, &c->timer, UINT64_MAX);
    uint64_t now = phi__io_now_us(c->io);
    if (c->sides[1].plain && c->due_us[1] <= now && !phi__channel_write_on(c)) return;
    if (c->sides[0].plain && c->due_us[0] <= now && !phi__channel_read(c)) return;
    phi__channel_watch(c);
}

PHI__FN phi_status phi__channel_new(phi__io *io, const phi__channel_desc *desc,
                                    phi__channel **out) {
    phi__channel *c;
    *out = NULL;
    c = (phi__channel *)phi__alloc(phi__io_memory(io), sizeof *c);
    if (c == NULL) return PHI_NO_MEMORY;
    c->io = io;
    c->desc = *desc;
    if (c->desc.out_fd == 0) c->desc.out_fd = 1;
    if (c->desc.max_out_bytes == 0) c->desc.max_out_bytes = PHI__CHANNEL_QUEUE_BYTES;
    phi__buf_init(&c->out.bytes, phi__io_memory(io));
    c->watches[0].ready = phi__channel_on_in;
    c->watches[1].ready = phi__channel_on_out;
    c->timer.fire = phi__channel_on_timer;
    phi_status status = PHI_OK;
    if (c->desc.in_fd == c->desc.out_fd ||
        !phi__side_open(&c->sides[0], phi__io_memory(io), c->desc.in_fd, false) ||
        !phi__side_open(&c->sides[1], phi__io_memory(io), c->desc.out_fd, true))
        status = PHI_BAD_ARG;
    else
        status = phi__io_timer_set(io, &c->timer, UINT64_MAX);
    if (status != PHI_OK) {
        phi__side_close(&c->sides[0]);
        phi__side_close(&c->sides[1]);
        phi__free(phi__io_memory(io), c, sizeof *c);
        return status;
    }
    phi__channel_watch(c);
    *out = c;
    return PHI_OK;
}

PHI__FN void phi__channel_resume(phi__channel *channel) {
    channel->stopped = false;
    phi__channel_watch(channel);
}

PHI__FN phi_status phi__channel_write(phi__channel *channel, const char *bytes, size_t len,
                                      size_t *taken) {
    phi__channel *c = channel;
    *taken = 0;
    if (c->broken) return PHI_STALE;
    phi_status status = phi__outgoing_add(&c->out, bytes, len, c->desc.max_out_bytes, taken);
    if (status != PHI_OK) return status;
    if (*taken < len) c->wants_room = true;
    phi__channel_watch(c);
    return PHI_OK;
}

PHI__FN bool phi__channel_reserve(phi__channel *channel, size_t len) {
    phi__buf *bytes = &channel->out.bytes;
    bool taken = phi__buf_reserve(bytes, len) != NULL;
    bytes->failed = false; /* the bytes queued before are intact */
    return taken;
}

PHI__FN size_t phi__channel_waiting(const phi__channel *channel) {
    return phi__outgoing_waits(&channel->out);
}

PHI__FN void phi__channel_free(phi__channel *channel) {
    if (channel == NULL || channel->freed) return;
    channel->freed = true;
    if (!channel->in_callback) phi__channel_destroy(channel);
}

#endif
