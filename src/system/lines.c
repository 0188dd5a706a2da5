/* lines.c - lines over a channel of this process. */
#include "system/lines.h"

#include "base/base_in.h"
#include "loop/loop_in.h"
#include "system/system_in.h"

#ifndef PHI_NO_PROCESS

enum {
    PHI__LINES_BYTES = 16777216,  /* default of both limits */
    PHI__LINES_KEPT_BYTES = 65536 /* a larger buffer is freed when it is empty */
};

struct phi_lines {
    phi_runtime *rt;
    phi__channel *channel;
    size_t max_line_bytes, max_queue_bytes;
    phi__buf in;        /* bytes that were read */
    size_t taken;       /* bytes of `in` that the host has taken */
    size_t scanned;     /* bytes of `in` that were searched for the end of a line */
    phi_status skip;    /* why the rest of the present line is skipped; PHI_OK: it is not */
    bool ended, unread; /* the input has ended; nobody reads the output */
};

/* True if a whole line waits for the host. *end is set to its end. */
static bool phi__lines_find(phi_lines *lines, size_t *end) {
    const phi__buf *in = &lines->in;
    const char *found = NULL;
    if (lines->scanned < in->len)
        found = (const char *)memchr(in->at + lines->scanned, '\n', in->len - lines->scanned);
    lines->scanned = found != NULL ? (size_t)(found - in->at) : in->len;
    *end = lines->scanned;
    return found != NULL;
}

/* Begins to skip a line that is too long, or for which there is no memory. */
static void phi__lines_bound(phi_lines *lines) {
    phi__buf *in = &lines->in;
    if (in->failed)
        lines->skip = PHI_NO_MEMORY;
    else if (in->len - lines->taken > lines->max_line_bytes)
        lines->skip = PHI_TOO_BIG;
    else
        return;
    phi__buf_free(in);
    lines->taken = lines->scanned = 0;
}

static bool phi__lines_input(void *ctx, const char *bytes, size_t len) {
    phi_lines *lines = (phi_lines *)ctx;
    size_t end;
    if (lines->skip != PHI_OK && lines->in.len == lines->taken) {
        const char *line_end = (const char *)memchr(bytes, '\n', len);
        if (line_end == NULL) return true;
        len -= (size_t)(line_end - bytes);
        bytes = line_end;
    }
    if (lines->taken > 0) {
        phi__buf_drop(&lines->in, lines->taken);
        lines->scanned -= lines->taken;
        lines->taken = 0;
    }
    phi__buf_add(&lines->in, bytes, len);
    if (phi__lines_find(lines, &end)) return false;
    phi__lines_bound(lines);
    return true;
}

static void phi__lines_ended(void *ctx, phi_status status, const char *message) {
    phi_lines *lines = (phi_lines *)ctx;
    (void)message;
    lines->ended = true;
    lines->unread = status == PHI_STALE;
}

/* ---- public ---- */

PHI_API phi_lines *phi_lines_open(phi_runtime *rt, const phi_lines_desc *desc) {
    phi__channel_desc with = PHI_ZERO;
    phi_lines_desc from = PHI_ZERO;
    phi_status status = PHI_NO_MEMORY;
    if (rt == NULL) return NULL;
    if (desc != NULL) from = *desc;
    if (from.out_fd == 0) from.out_fd = 1;
    if (from.in_fd == from.out_fd) {
        (void)phi__error(rt, PHI_BAD_ARG, "phi_lines_open: in_fd and out_fd are both %d",
                         from.in_fd);
        return NULL;
    }
    phi_lines *lines = (phi_lines *)phi__alloc(&rt->memory, sizeof *lines);
    if (lines != NULL) {
        lines->rt = rt;
        lines->max_line_bytes = from.max_line_bytes;
        lines->max_queue_bytes = from.max_queue_bytes;
        if (from.max_line_bytes == 0) lines->max_line_bytes = PHI__LINES_BYTES;
        if (from.max_queue_bytes == 0) lines->max_queue_bytes = PHI__LINES_BYTES;
        phi__buf_init(&lines->in, &rt->memory);
        with.in_fd = from.in_fd;
        with.out_fd = from.out_fd;
        with.max_out_bytes = lines->max_queue_bytes;
        with.input = phi__lines_input;
        with.ended = phi__lines_ended;
        with.ctx = lines;
        status = phi__channel_new(rt->io, &with, &lines->channel);
    }
    if (status == PHI_OK) return lines;
    if (status == PHI_BAD_ARG)
        (void)phi__error(rt, status, "phi_lines_open: in_fd %d or out_fd %d is not open",
                         from.in_fd, from.out_fd);
    else
        (void)phi__error(rt, status, "phi_lines_open: out of memory");
    phi__free(&rt->memory, lines, sizeof *lines);
    return NULL;
}

/* Takes the bytes up to `end`, and `more` after them. *line is empty. */
static phi_status phi__lines_take(phi_lines *lines, size_t end, size_t more, phi_str *line) {
    phi_status status = lines->skip;
    if (status == PHI_OK) *line = phi__str(lines->in.at + lines->taken, end - lines->taken);
    if (line->len > 0 && line->at[line->len - 1] == '\r') line->len--;
    if (line->len > lines->max_line_bytes) {
        *line = phi__str(NULL, 0);
        status = PHI_TOO_BIG;
    }
    lines->taken = lines->scanned = end + more;
    lines->skip = PHI_OK;
    return status;
}

PHI_API phi_status phi_lines_next(phi_lines *lines, phi_str *line) {
    size_t end;
    *line = phi__str(NULL, 0);
    if (lines == NULL || lines->unread) return PHI_STALE;
    if (phi__lines_find(lines, &end)) return phi__lines_take(lines, end, 1, line);
    if (lines->ended && (lines->skip != PHI_OK || end > lines->taken))
        return phi__lines_take(lines, end, 0, line);
    if (lines->ended) return PHI_STALE;
    if (lines->taken == lines->in.len && lines->in.cap > PHI__LINES_KEPT_BYTES) {
        phi__buf_free(&lines->in);
        lines->taken = lines->scanned = 0;
    }
    phi__channel_resume(lines->channel);
    return PHI_BUSY;
}

PHI_API phi_status phi_lines_write(phi_lines *lines, phi_str text) {
    if (lines == NULL) return PHI_BAD_ARG;
    if (lines->unread) return PHI_STALE;
    size_t taken, waiting = phi__channel_waiting(lines->channel), most = lines->max_queue_bytes;
    if (waiting >= most || text.len >= most - waiting) return PHI_FULL;
    /* A line without its end would become a part of the next line. */
    if (!phi__channel_reserve(lines->channel, text.len + 1)) return PHI_NO_MEMORY;
    phi_status status = phi__channel_write(lines->channel, text.at, text.len, &taken);
    return status == PHI_OK ? phi__channel_write(lines->channel, "\n", 1, &taken) : status;
}

PHI_API size_t phi_lines_waiting(const phi_lines *lines) {
    return lines == NULL || lines->unread ? 0 : phi__channel_waiting(lines->channel);
}

PHI_API void phi_lines_free(phi_lines *lines) {
    if (lines == NULL) return;
    phi_runtime *rt = lines->rt;
    phi__channel_free(lines->channel);
    phi__buf_free(&lines->in);
    phi__free(&rt->memory, lines, sizeof *lines);
}

#endif
