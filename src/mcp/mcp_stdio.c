/* mcp_stdio.c - the link to a child process over its stdin and stdout, one line per message. */
#include "mcp/mcp_requests_in.h"
#include "system/system_in.h"
#include "loop/loop_in.h"

#ifndef PHI_NO_PROCESS

#include <stdio.h>

enum {
    PHI__STDIO_ERRORS = 65536,  /* bytes of stderr that are kept */
    PHI__STDIO_QUEUE = 4194304, /* max. bytes that wait for the child */
    PHI__STDIO_KEEP = 65536,    /* a larger buffer is freed after its message */
    PHI__STDIO_BUSY_MS = 10     /* pause before a failed start is repeated */
};

typedef enum phi__stdio_end {
    PHI__STDIO_CLOSED,
    PHI__STDIO_STARTING,
    PHI__STDIO_OPEN,
    PHI__STDIO_EOF,    /* the child's stdin was closed */
    PHI__STDIO_TERM,   /* the child got a signal */
    PHI__STDIO_CLOSING /* there is no child; the end must be reported */
} phi__stdio_end;

typedef struct phi__stdio {
    phi__mcp_link link;
    phi__io *io;
    phi__process *process;
    phi__timer timer;
    phi__stdio_end end;
    bool skipping;  /* ignore the rest of a line that is too long */
    bool deaf;      /* the child has closed its stdin */
    phi__buf line;  /* beginning of an incomplete line */
    phi__buf rest;  /* unsent part of a message; if not empty, the link is full */
    phi__buf error; /* at least the last 64 KB of stderr */
} phi__stdio;

static phi__stdio *phi__stdio_of(const phi__mcp_link *link) {
    return PHI__OWNER((char *)(uintptr_t)link, phi__stdio, link);
}

/* ---- the end of the child ---- */

static void phi__stdio_in(phi__stdio *s, uint32_t ms) {
    (void)phi__io_timer_set(s->io, &s->timer, phi__io_now_us(s->io) + (uint64_t)ms * 1000);
}

/* Frees the child and reports the end of the link, once. The session may free the link. */
static void phi__stdio_down(phi__stdio *s, phi_status status, bool fatal, const char *message) {
    phi__process_free(s->process);
    s->process = NULL;
    s->end = PHI__STDIO_CLOSED;
    s->skipping = s->deaf = false;
    phi__io_timer_clear(s->io, &s->timer);
    phi__buf_free(&s->line);
    phi__buf_free(&s->rest);
    (void)phi__mcp_down(s->link.mcp, status, fatal, message);
}

static void phi__stdio_exited(void *ctx, int code, int signal_number) {
    phi__stdio *s = (phi__stdio *)ctx;
    char words[80];
    if (s->end == PHI__STDIO_EOF || s->end == PHI__STDIO_TERM) {
        phi__stdio_down(s, PHI_OK, false, "closed");
        return;
    }
    if (signal_number != 0)
        (void)snprintf(words, sizeof words, "the server's program was ended by signal %d",
                       signal_number);
    else
        (void)snprintf(words, sizeof words, "the server's program has ended with code %d", code);
    phi__stdio_down(s, PHI_NETWORK, false, words);
}

/* ---- stdout and stderr of the child ---- */

/* Passes a line to the session, unless the line is empty. False: the link was freed. */
static bool phi__stdio_line(phi__stdio *s, phi_str line) {
    line = phi__str_trim(line);
    return line.len == 0 || phi__mcp_message(s->link.mcp, line, NULL);
}

/* Handles the end of a line. False: the link was freed. */
static bool phi__stdio_ended(phi__stdio *s, const char *bytes, size_t len) {
    if (s->skipping) {
        s->skipping = false;
        return true;
    }
    if (s->line.len == 0) return phi__stdio_line(s, phi__str(bytes, len));
    phi__buf_add(&s->line, bytes, len);
    if (s->line.failed) {
        phi__buf_free(&s->line);
        return phi__mcp_warn(s->link.mcp, "no memory for a message: it is left out");
    }
    /* The buffer is moved first, because reading the line may free the link. */
    phi__buf whole = s->line;
    phi__buf_init(&s->line, whole.memory);
    bool alive = phi__stdio_line(s, phi__buf_str(&whole));
    phi__buf_free(&whole);
    return alive;
}

static bool phi__stdio_part(phi__stdio *s, const char *bytes, size_t len) {
    size_t most = s->link.mcp->desc.max_message_bytes;
    if (s->skipping) return true;
    if (phi__add(s->line.len, len) <= most) {
        phi__buf_add(&s->line, bytes, len);
        if (!s->line.failed) return true;
    }
    s->skipping = true;
    phi__buf line = s->line; /* moved, because the link may be freed */
    phi__buf_init(&s->line, line.memory);
    phi_str beginning = line.len > 0 ? phi__buf_str(&line) : phi__str(bytes, len);
    bool alive = line.failed ? phi__mcp_warn(s->link.mcp, "no memory for a message")
                             : phi__mcp_cut(s->link.mcp, beginning);
    phi__buf_free(&line);
    return alive;
}

static void phi__stdio_lines(phi__stdio *s, const char *bytes, size_t len) {
    const phi__process *process = s->process;
    while (len > 0) {
        const char *end = (const char *)memchr(bytes, '\n', len);
        size_t n = end != NULL ? (size_t)(end - bytes) : len;
        if (end == NULL) {
            (void)phi__stdio_part(s, bytes, n);
            return;
        }
        if (s->line.len + n > s->link.mcp->desc.max_message_bytes && !phi__stdio_part(s, bytes, n))
            return;
        if (!phi__stdio_ended(s, bytes, n)) return;
        if (s->process != process) return;
        bytes += n + 1;
        len -= n + 1;
    }
}

/* The host may free the connection in this call; phi__core_enter keeps the line's memory. */
static bool phi__stdio_output(void *ctx, int stream, const char *bytes, size_t len) {
    phi__stdio *s = (phi__stdio *)ctx;
    phi_mcp *mcp = s->link.mcp;
    if (stream == 2) {
        phi__buf_add(&s->error, bytes, len);
        if (s->error.failed) phi__buf_free(&s->error);
        if (s->error.len >= (size_t)2 * PHI__STDIO_ERRORS)
            phi__buf_drop(&s->error, s->error.len - PHI__STDIO_ERRORS);
        return true;
    }
    phi__core_enter(mcp);
    phi__stdio_lines(s, bytes, len);
    (void)phi__core_leave(mcp);
    return true;
}

static void phi__stdio_room(void *ctx) {
    phi__stdio *s = (phi__stdio *)ctx;
    size_t taken = 0;
    if (s->rest.len == 0) return;
    if (phi__process_write(s->process, s->rest.at, s->rest.len, &taken) == PHI_OK)
        phi__buf_drop(&s->rest, taken);
    if (s->rest.len == 0) phi__mcp_drained(s->link.mcp);
}

static phi_status phi__stdio_send(phi__mcp_link *link, phi__out *out) {
    phi__stdio *s = phi__stdio_of(link);
    size_t taken = 0;
    if (s->process == NULL || s->end != PHI__STDIO_OPEN) return PHI_NETWORK;
    if (s->rest.len > 0) return PHI_FULL;
    phi__buf_clear(&s->rest);
    phi__buf_add_str(&s->rest, out->json);
    phi__buf_char(&s->rest, '\n');
    if (s->rest.failed) {
        phi__buf_free(&s->rest);
        return PHI_NO_MEMORY;
    }
    phi_status status = phi__process_write(s->process, s->rest.at, s->rest.len, &taken);
    phi__buf_drop(&s->rest, status == PHI_OK ? taken : s->rest.len);
    if (s->rest.len == 0 && s->rest.cap > PHI__STDIO_KEEP) phi__buf_free(&s->rest);
    if (status != PHI_STALE) return status;
    /* The child has closed its stdin and will probably exit. Its exit code and stderr will tell
       why, so the message counts as sent. */
    if (!s->deaf) phi__stdio_in(s, link->mcp->desc.close_ms);
    s->deaf = true;
    return PHI_OK;
}

/* ---- starting and closing ---- */

static void phi__stdio_start(phi__stdio *s) {
    const phi_mcp_desc *desc = &s->link.mcp->desc;
    char words[160], message[320];
    phi__process_desc process = PHI_ZERO;
    process.argv = desc->argv;
    process.cwd = desc->cwd;
    process.env = desc->env;
    process.hide_keys = desc->hide_keys;
    process.keep_input = true;
    process.max_input_bytes = PHI__STDIO_QUEUE;
    process.room = phi__stdio_room;
    process.output = phi__stdio_output;
    process.exited = phi__stdio_exited;
    process.ctx = s;
    words[0] = '\0';
    phi_status status = phi__process_new(s->io, &process, &s->process, words, sizeof words);
    if (status == PHI_OK) {
        s->end = PHI__STDIO_OPEN;
        phi__mcp_up(s->link.mcp);
    } else if (status == PHI_BUSY)
        phi__stdio_in(s, PHI__STDIO_BUSY_MS);
    else {
        (void)snprintf(message, sizeof message, "%.60s cannot be started%s%.80s: %s", desc->argv[0],
                       desc->cwd != NULL ? " in " : "", desc->cwd != NULL ? desc->cwd : "",
                       words[0] != '\0' ? words : phi_status_text(status));
        phi__stdio_down(s, status, status != PHI_NO_MEMORY, message);
    }
}

static void phi__stdio_fire(phi__timer *timer) {
    phi__stdio *s = PHI__OWNER(timer, phi__stdio, timer);
    switch (s->end) {
    case PHI__STDIO_STARTING: phi__stdio_start(s); return;
    case PHI__STDIO_EOF:
        s->end = PHI__STDIO_TERM;
        phi__process_terminate(s->process);
        phi__stdio_in(s, s->link.mcp->desc.close_ms);
        return;
    case PHI__STDIO_TERM:
    case PHI__STDIO_CLOSING: phi__stdio_down(s, PHI_OK, false, "closed"); return;
    case PHI__STDIO_OPEN:
        if (s->deaf)
            phi__stdio_down(s, PHI_NETWORK, false, "the server's program does not read any more");
        return;
    case PHI__STDIO_CLOSED: return;
    }
}

static phi_status phi__stdio_open(phi__mcp_link *link) {
    phi__stdio *s = phi__stdio_of(link);
    s->end = PHI__STDIO_STARTING;
    s->timer.fire = phi__stdio_fire;
    return phi__io_timer_set(s->io, &s->timer, phi__io_now_us(s->io));
}

static void phi__stdio_close(phi__mcp_link *link) {
    phi__stdio *s = phi__stdio_of(link);
    uint32_t ms = link->mcp->desc.close_ms;
    s->end = s->process != NULL ? PHI__STDIO_EOF : PHI__STDIO_CLOSING;
    if (s->process != NULL)
        phi__process_end_input(s->process);
    else
        ms = 0;
    phi__stdio_in(s, ms);
}

static void phi__stdio_free(phi__mcp_link *link) {
    phi__stdio *s = phi__stdio_of(link);
    phi_memory *memory = &link->mcp->memory;
    phi__process_free(s->process);
    phi__io_timer_clear(s->io, &s->timer);
    phi__buf_free(&s->line);
    phi__buf_free(&s->rest);
    phi__buf_free(&s->error);
    phi__free(memory, s, sizeof *s);
}

static void phi__stdio_forget(phi__mcp_link *link, phi__out *out) {
    (void)link;
    out->of_link = NULL;
}

static void phi__stdio_agreed(phi__mcp_link *link, const char *version, bool modern) {
    (void)link, (void)version, (void)modern;
}

static void phi__stdio_listen(phi__mcp_link *link) { (void)link; }

static void phi__stdio_info(const phi__mcp_link *link, phi_mcp_info *out) {
    const phi__stdio *s = phi__stdio_of(link);
    out->process_id = s->process != NULL ? phi__process_id(s->process) : 0;
}

static phi_str phi__stdio_errors(const phi__mcp_link *link) {
    const phi__stdio *s = phi__stdio_of(link);
    size_t len = phi__min(s->error.len, PHI__STDIO_ERRORS);
    return len > 0 ? phi__str(s->error.at + s->error.len - len, len) : phi__str("", 0);
}

PHI__FN phi_status phi__stdio_new(phi_mcp *mcp, phi__mcp_link **out) {
    static const phi__mcp_link_table table = {
        phi__stdio_open,  phi__stdio_send, phi__stdio_forget, phi__stdio_agreed, phi__stdio_listen,
        phi__stdio_close, phi__stdio_free, phi__stdio_info,   phi__stdio_errors};
    phi_memory *memory = &mcp->memory;
    phi__stdio *s = (phi__stdio *)phi__alloc(memory, sizeof *s);
    *out = NULL;
    if (s == NULL) return PHI_NO_MEMORY;
    s->link.table = &table;
    s->link.mcp = mcp;
    s->io = mcp->rt->io;
    phi__buf_init(&s->line, memory);
    phi__buf_init(&s->rest, memory);
    phi__buf_init(&s->error, memory);
    *out = &s->link;
    return PHI_OK;
}

#endif
