/* channel.c - the channels of system_in.h: reads and writes only after poll reported readiness. */
#include "system/process_in.h"
#include "base/base_in.h"
#include "io/io_in.h"

#ifndef PHI_NO_PROCESS

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/types.h>
#include <unistd.h>

/* The bytes that a ready pipe takes without blocking. POSIX guarantees at least 512. */
#if defined(PIPE_BUF)
#define PHI__CHANNEL_PIECE PIPE_BUF
#else
#define PHI__CHANNEL_PIECE 512
#endif

enum {
    PHI__CHANNEL_TURN_BYTES = 16384,   /* max. bytes read in one turn */
    PHI__CHANNEL_WRITES = 16,          /* max. writes in one turn */
    PHI__CHANNEL_QUEUE_BYTES = 1048576 /* default of max_out_bytes */
};
#define PHI__CHANNEL_RETRY_US 10000u /* pause after a watch failed for lack of memory */

struct phi__channel {
    phi__io *io;
    phi__channel_desc desc;
    phi__watch watches[2]; /* 0: input, 1: output */
    bool plain[2];         /* no poller takes the descriptor, so the timer polls */
    phi__timer timer;
    phi__outgoing out;
    bool stopped; /* `input` returned false */
    bool over;    /* `ended` was called */
    bool broken;  /* out_fd has no reader */
    bool wants_room, in_callback, freed;
};

static int phi__channel_fd(const phi__channel *c, int side) {
    return side == 0 ? c->desc.in_fd : c->desc.out_fd;
}

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
        if (c->plain[side]) {
            if (on) at = now;
            continue;
        }
        if (c->watches[side].want == want ||
            phi__io_watch(c->io, &c->watches[side], phi__channel_fd(c, side), want) == PHI_OK)
            continue;
        if (at == UINT64_MAX) at = now + PHI__CHANNEL_RETRY_US;
    }
    (void)phi__io_timer_set(c->io, &c->timer, at); /* cannot fail: the timer is set */
}

static void phi__channel_destroy(phi__channel *c) {
    for (int side = 0; side < 2; side++)
        (void)phi__io_watch(c->io, &c->watches[side], phi__channel_fd(c, side), 0);
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

/* True if reading or writing on that side would not block. A file is always ready. */
static bool phi__channel_ready(const phi__channel *c, int side) {
    struct pollfd one;
    one.fd = phi__channel_fd(c, side);
    one.events = side == 0 ? POLLIN : POLLOUT;
    one.revents = 0;
    return poll(&one, 1, 0) > 0;
}

/* Reads once. False: the channel is gone. */
static bool phi__channel_read(phi__channel *c) {
    char bytes[PHI__CHANNEL_TURN_BYTES];
    ssize_t n;
    if (!phi__channel_wants(c, 0) || !phi__channel_ready(c, 0)) return true;
    do n = read(c->desc.in_fd, bytes, sizeof bytes);
    while (n < 0 && errno == EINTR);
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return true;
    if (n <= 0) return phi__channel_over(c, n == 0 ? PHI_OK : PHI_IO, n == 0 ? 0 : errno);
    c->in_callback = true;
    if (!c->desc.input(c->desc.ctx, bytes, (size_t)n)) c->stopped = true;
    return phi__channel_returned(c);
}

/* Writes as much as out_fd takes. Returns an errno value. */
static int phi__channel_send(phi__channel *c) {
    int error = 0;
    for (int i = 0; i < PHI__CHANNEL_WRITES && error == 0 && phi__outgoing_waits(&c->out) > 0;
         i++) {
        if (!phi__channel_ready(c, 1)) return 0;
        error = phi__outgoing_write(&c->out, c->desc.out_fd, PHI__CHANNEL_PIECE);
    }
    return error == PHI__STREAM_LATER ? 0 : error;
}

/* Writes queued bytes. False: the channel is gone. */
static bool phi__channel_write_on(phi__channel *c) {
    if (!phi__channel_wants(c, 1)) return true;
    int error = phi__channel_send(c);
    if (error != 0) {
        c->broken = true;
        c->wants_room = false;
        phi__outgoing_free(&c->out);
        return phi__channel_over(c, PHI_IO, error);
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
    if (c->plain[1] && !phi__channel_write_on(c)) return;
    if (c->plain[0] && !phi__channel_read(c)) return;
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
    if (c->desc.in_fd == c->desc.out_fd || fcntl(c->desc.in_fd, F_GETFD) < 0 ||
        fcntl(c->desc.out_fd, F_GETFD) < 0) {
        phi__free(phi__io_memory(io), c, sizeof *c);
        return PHI_BAD_ARG;
    }
    if (phi__io_timer_set(io, &c->timer, UINT64_MAX) != PHI_OK) {
        phi__free(phi__io_memory(io), c, sizeof *c);
        return PHI_NO_MEMORY;
    }
    /* Pollers take pipes, sockets and terminals, but may refuse seekable files and /dev/null. */
    for (int side = 0; side < 2; side++) {
        int fd = phi__channel_fd(c, side);
        c->plain[side] = lseek(fd, 0, SEEK_CUR) != (off_t)-1 && isatty(fd) == 0;
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

PHI__FN size_t phi__channel_waiting(const phi__channel *channel) {
    return phi__outgoing_waits(&channel->out);
}

PHI__FN void phi__channel_free(phi__channel *channel) {
    if (channel == NULL || channel->freed) return;
    channel->freed = true;
    if (!channel->in_callback) phi__channel_destroy(channel);
}

#endif
