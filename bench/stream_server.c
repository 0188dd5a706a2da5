/* stream_server.c: a model server for benchmarks. Linux, plain HTTP/1.1 on loopback, one thread,
   many thousand connections, as little work a delta as can be: what is measured is the client.

       cc -O2 -std=c99 -D_GNU_SOURCE -o stream_server bench/stream_server.c
       ./stream_server [PORT]       prints "listening PORT"; ends when its stdin (a pipe) closes

   A POST is answered by its path; what follows the numbers is ignored, so they go in a base URL.
   PROTOCOL is anthropic or chat.

       /sse/PROTOCOL/COUNT/INTERVAL_US/DELTA_BYTES/...
             COUNT text deltas. INTERVAL_US 0: back to back in writes as large as the socket takes;
             "w": one write a delta without a pause; else one write a delta, paced.
       /tool/PROTOCOL/TOTAL_BYTES/DELTA_BYTES/...
             one call of bench_tool {"data":"xxx"} with that many bytes of arguments, back to back
       /talk/PROTOCOL/COUNT/INTERVAL_US/DELTA_BYTES/CONVERSATION/...
             in turns a call of bench_tool and a text, both of COUNT deltas that are paced
       /turns/PROTOCOL/N/ARGUMENT_BYTES/CONVERSATION/...
             such a call for the first N requests of a conversation, then a short text, then again.
             Requests are counted per CONVERSATION (1 to 65535) or per connection (0), not read from
             the body, which is only skipped.

   GET anything: counters as JSON. "first_byte_ns" is CLOCK_MONOTONIC at the first byte of the last
   POST. */

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define MAX_RECIPES 256
#define MAX_PACES 64
#define MAX_HEADER 16384
#define BLOCK_BYTES 65536 /* deltas that are kept repeated, for back to back writing */
#define MAX_WRITES 256    /* on one connection before the others have their turn */
#define GRID_NS 500000u   /* slow paces are served together, at most this late */
#define SLOW_PACE_NS 10000000u
#define ID_DIGITS 8
#define CONVERSATIONS 65536

/* What one kind of answer consists of: head, `count` times the same delta, tail. */
typedef struct recipe {
    char key[128];
    char *head, *block, *tail;
    size_t head_len, delta_len, block_len, tail_len;
    size_t id_at;        /* where in head the call's digits go; 0: no call */
    uint64_t deltas_len; /* count * delta_len */
    uint64_t interval_ns;
    int pace; /* index into paces, -1: unpaced */
    bool one_write;
    uint32_t calls;      /* turns: this many calls, then `then` */
    struct recipe *then; /* turns only */
} recipe;

typedef struct conn {
    int fd;
    char *pending; /* an incomplete request header, or NULL */
    size_t pending_len;
    uint64_t body_left; /* bytes of the request body still to skip */
    const recipe *r;    /* being answered, or NULL */
    uint64_t sent;      /* bytes of the answer */
    uint64_t due_ns;
    uint32_t serial, requests;
    bool in_request, want_out, queued, is_post;
    struct conn *prev, *next; /* in the queue of its pace */
} conn;

/* Connections that wait for the same interval are due in the order they came: a list is a timer. */
typedef struct pace {
    uint64_t interval_ns;
    conn *first, *last;
} pace;

static struct server {
    int epoll, listener, timer;
    uint64_t timer_ns; /* what the timer is set to; 0: off */
    recipe *recipes[MAX_RECIPES];
    int recipe_count;
    pace paces[MAX_PACES];
    int pace_count;
    uint32_t serial;
    uint32_t conversations[CONVERSATIONS];
    uint64_t requests, accepted, open, bytes_in, bytes_out, first_byte_ns;
} S;

static void die(const char *what) {
    perror(what);
    exit(1);
}

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---- recipes ---- */

typedef struct text {
    char *p;
    size_t len, cap;
} text;

static void text_add(text *t, const char *p, size_t len) {
    if (t->len + len + 1 > t->cap) {
        t->cap = (t->len + len + 1) * 2;
        t->p = (char *)realloc(t->p, t->cap);
        if (!t->p) die("realloc");
    }
    memcpy(t->p + t->len, p, len);
    t->len += len;
    t->p[t->len] = 0;
}

static void text_chunk(text *t, const text *body) {
    char size[24];
    int n = snprintf(size, sizeof size, "%zx\r\n", body->len);
    text_add(t, size, (size_t)n);
    text_add(t, body->p, body->len);
    text_add(t, "\r\n", 2);
}

static void event(text *t, const char *name, const char *data) {
    if (name) {
        text_add(t, "event: ", 7);
        text_add(t, name, strlen(name));
        text_add(t, "\n", 1);
    }
    text_add(t, "data: ", 6);
    text_add(t, data, strlen(data));
    text_add(t, "\n\n", 2);
}

#define CHAT_OPEN                                                                                  \
    "{\"id\":\"chatcmpl-bench\",\"object\":\"chat.completion.chunk\",\"created\":1763700000,"      \
    "\"model\":\"bench\",\"choices\":[{\"index\":0,\"delta\":"
#define CHAT_CLOSE ",\"logprobs\":null,\"finish_reason\":null}]}"

/* One delta event with `len` bytes of text or of arguments; `raw` is given as it stands in JSON. */
static void delta_event(text *t, bool chat, bool call, const char *raw) {
    text data = {0};
    const char *before =
        chat   ? (call ? CHAT_OPEN "{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\""
                       : CHAT_OPEN "{\"content\":\"")
        : call ? "{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"input_json_"
                 "delta\",\"partial_json\":\""
               : "{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\","
                 "\"text\":\"";
    const char *after = chat ? (call ? "\"}}]}" CHAT_CLOSE : "\"}" CHAT_CLOSE) : "\"}}";
    text_add(&data, before, strlen(before));
    text_add(&data, raw, strlen(raw));
    text_add(&data, after, strlen(after));
    event(t, chat ? NULL : "content_block_delta", data.p);
    free(data.p);
}

static void head_events(text *t, bool chat, bool call) {
    if (chat && call) {
        event(t, NULL,
              CHAT_OPEN "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"index\":0,"
                        "\"id\":\"call_00000000\","
                        "\"type\":\"function\",\"function\":{\"name\":\"bench_tool\",\"arguments\":"
                        "\"\"}}]}" CHAT_CLOSE);
    } else if (chat) {
        event(t, NULL,
              CHAT_OPEN "{\"role\":\"assistant\",\"content\":\"\",\"refusal\":null}" CHAT_CLOSE);
    } else {
        event(t, "message_start",
              "{\"type\":\"message_start\",\"message\":{\"id\":\"msg_bench\",\"type\":\"message\","
              "\"role\":\"assistant\",\"model\":\"bench\",\"content\":[],\"stop_reason\":null,"
              "\"stop_sequence\":null,"
              "\"usage\":{\"input_tokens\":25,\"cache_creation_input_tokens\":0,\"cache_read_input_"
              "tokens\":0,"
              "\"output_tokens\":1}}}");
        event(t, "content_block_start",
              call ? "{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":"
                     "\"tool_use\","
                     "\"id\":\"toolu_00000000\",\"name\":\"bench_tool\",\"input\":{}}}"
                   : "{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":"
                     "\"text\",\"text\":\"\"}}");
    }
    if (call) delta_event(t, chat, true, "{\\\"data\\\":\\\"");
}

static void tail_events(text *t, bool chat, bool call) {
    if (call) delta_event(t, chat, true, "\\\"}");
    if (chat) {
        event(t, NULL,
              call ? "{\"id\":\"chatcmpl-bench\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_"
                     "reason\":\"tool_calls\"}]}"
                   : "{\"id\":\"chatcmpl-bench\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_"
                     "reason\":\"stop\"}]}");
        event(t, NULL,
              "{\"id\":\"chatcmpl-bench\",\"choices\":[],\"usage\":{\"prompt_tokens\":25,"
              "\"completion_tokens\":12,"
              "\"total_tokens\":37}}");
        event(t, NULL, "[DONE]");
        return;
    }
    event(t, "content_block_stop", "{\"type\":\"content_block_stop\",\"index\":0}");
    event(t, "message_delta",
          call ? "{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\",\"stop_"
                 "sequence\":null},\"usage\":{\"output_tokens\":12}}"
               : "{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\",\"stop_"
                 "sequence\":null},\"usage\":{\"output_tokens\":12}}");
    event(t, "message_stop", "{\"type\":\"message_stop\"}");
}

/* Plain words for text, so that a client has no escape to undo; the same letter for arguments. */
static char *filler(size_t len, bool call) {
    static const char words[] = "some words of an answer ";
    char *p = (char *)malloc(len + 1);
    if (!p) die("malloc");
    for (size_t i = 0; i < len; i++) p[i] = call ? 'x' : words[i % (sizeof words - 1)];
    p[len] = 0;
    return p;
}

static recipe *recipe_make(const char *key, bool chat, bool call, uint64_t count,
                           size_t delta_bytes) {
    static const char status[] =
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n"
        "Transfer-Encoding: chunked\r\n\r\n";
    if (S.recipe_count == MAX_RECIPES) return NULL;
    recipe *r = (recipe *)calloc(1, sizeof *r);
    if (!r) die("calloc");
    text part = {0}, head = {0}, one = {0}, block = {0}, tail = {0};
    char *fill = filler(delta_bytes, call);
    text_add(&head, status, sizeof status - 1);
    head_events(&part, chat, call);
    text_chunk(&head, &part);
    if (call) r->id_at = (size_t)(strstr(head.p, "_00000000") + 1 - head.p);
    part.len = 0;
    delta_event(&part, chat, call, fill);
    text_chunk(&one, &part);
    do text_add(&block, one.p, one.len);
    while (block.len < BLOCK_BYTES);
    part.len = 0;
    tail_events(&part, chat, call);
    text_chunk(&tail, &part);
    text_add(&tail, "0\r\n\r\n", 5);
    snprintf(r->key, sizeof r->key, "%s", key);
    r->head = head.p, r->head_len = head.len;
    r->block = block.p, r->block_len = block.len, r->delta_len = one.len;
    r->tail = tail.p, r->tail_len = tail.len;
    r->deltas_len = count * one.len;
    r->pace = -1;
    free(part.p);
    free(one.p);
    free(fill);
    S.recipes[S.recipe_count++] = r;
    return r;
}

static bool recipe_pace(recipe *r, uint64_t interval_ns) {
    int i = 0;
    while (i < S.pace_count && S.paces[i].interval_ns != interval_ns) i++;
    if (i == MAX_PACES) return false;
    if (i == S.pace_count) S.paces[S.pace_count++].interval_ns = interval_ns;
    r->interval_ns = interval_ns;
    r->pace = i;
    return true;
}

/* The recipe of a path, made at its first use; NULL if the path means nothing. */
static recipe *recipe_of(const char *path, uint32_t *number) {
    char mode[8], protocol[16], pace_word[16];
    unsigned long long a = 0, b = 0, conversation = 0, us = 0;
    int used = 0;
    if (sscanf(path, "/%7[a-z]/%15[a-z]/%n", mode, protocol, &used) != 2 || !used) return NULL;
    bool chat = strcmp(protocol, "chat") == 0;
    if (!chat && strcmp(protocol, "anthropic") != 0) return NULL;
    bool sse = strcmp(mode, "sse") == 0, tool = strcmp(mode, "tool") == 0,
         turns = strcmp(mode, "turns") == 0, talk = strcmp(mode, "talk") == 0;
    const char *rest = path + used;
    if (sse && sscanf(rest, "%llu/%15[0-9w]/%llu", &a, pace_word, &b) != 3) return NULL;
    if (tool && sscanf(rest, "%llu/%llu", &a, &b) != 2) return NULL;
    if (turns && sscanf(rest, "%llu/%llu/%llu", &a, &b, &conversation) != 3) return NULL;
    if (talk && sscanf(rest, "%llu/%llu/%llu/%llu", &a, &us, &b, &conversation) != 4) return NULL;
    if (!sse && !tool && !turns && !talk) return NULL;
    if (b < 1 || b > 1u << 24 || a > 1000000000u || conversation >= CONVERSATIONS) return NULL;

    char key[128];
    snprintf(key, sizeof key, "%s %s %llu %llu %s %llu", mode, protocol, a, b, sse ? pace_word : "",
             us);
    recipe *r = NULL;
    for (int i = 0; i < S.recipe_count && !r; i++)
        if (strcmp(S.recipes[i]->key, key) == 0) r = S.recipes[i];
    if (!r && (turns || talk)) {
        r = recipe_make(key, chat, true, talk ? a : 1, (size_t)b);
        recipe *then = r ? recipe_make("", chat, false, talk ? a : 1, talk ? (size_t)b : 20) : NULL;
        if (!then) return NULL;
        if (talk && (!recipe_pace(r, us * 1000u) || !recipe_pace(then, us * 1000u))) return NULL;
        r->then = then;
        r->calls = talk ? 1 : (uint32_t)a;
    } else if (!r) {
        r = recipe_make(key, chat, tool, tool ? (a + b - 1) / b : a, (size_t)b);
        if (!r) return NULL;
        if (sse && pace_word[0] == 'w')
            r->one_write = true;
        else if (sse && atoll(pace_word) > 0 && !recipe_pace(r, (uint64_t)atoll(pace_word) * 1000u))
            return NULL;
    }
    *number = (uint32_t)conversation;
    return r;
}

/* ---- pacing ---- */

static void timer_update(void) {
    uint64_t due = 0;
    for (int i = 0; i < S.pace_count; i++) {
        const conn *c = S.paces[i].first;
        if (c && (!due || c->due_ns < due)) due = c->due_ns;
    }
    for (int i = 0; i < S.pace_count && due; i++) {
        if (S.paces[i].first && S.paces[i].interval_ns < SLOW_PACE_NS) break;
        if (i == S.pace_count - 1) due += GRID_NS - due % GRID_NS;
    }
    if (due == S.timer_ns) return;
    struct itimerspec t = {{0, 0}, {0, 0}};
    t.it_value.tv_sec = (time_t)(due / 1000000000u);
    t.it_value.tv_nsec = (long)(due % 1000000000u);
    if (timerfd_settime(S.timer, TFD_TIMER_ABSTIME, &t, NULL) != 0) die("timerfd_settime");
    S.timer_ns = due;
}

static void pace_push(conn *c) {
    pace *p = &S.paces[c->r->pace];
    c->prev = p->last;
    c->next = NULL;
    if (p->last)
        p->last->next = c;
    else
        p->first = c;
    p->last = c;
    c->queued = true;
}

static void pace_remove(conn *c) {
    if (!c->queued) return;
    pace *p = &S.paces[c->r->pace];
    if (c->prev)
        c->prev->next = c->next;
    else
        p->first = c->next;
    if (c->next)
        c->next->prev = c->prev;
    else
        p->last = c->prev;
    c->queued = false;
}

/* ---- connections ---- */

static void conn_close(conn *c) {
    pace_remove(c);
    close(c->fd);
    free(c->pending);
    S.open--;
    c->fd = -1; /* freed after the round: an event for it may still be in the list */
}

static void conn_watch(conn *c, bool out) {
    if (c->want_out == out) return;
    struct epoll_event e = {0};
    e.events = EPOLLIN | EPOLLRDHUP | (out ? (uint32_t)EPOLLOUT : 0u);
    e.data.ptr = c;
    if (epoll_ctl(S.epoll, EPOLL_CTL_MOD, c->fd, &e) != 0) die("epoll_ctl");
    c->want_out = out;
}

/* Sends some bytes; false if the socket is full (we are called again) or the connection is gone. */
static bool conn_send(conn *c, const char *p, size_t len) {
    ssize_t n = send(c->fd, p, len, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) n = 0;
    if (n < 0) {
        conn_close(c);
        return false;
    }
    c->sent += (uint64_t)n;
    S.bytes_out += (uint64_t)n;
    if ((size_t)n == len) return true;
    conn_watch(c, true);
    return false;
}

static bool send_head(conn *c) {
    static char head[4096];
    const recipe *r = c->r;
    if (!r->id_at) return conn_send(c, r->head + c->sent, r->head_len - (size_t)c->sent);
    char digits[ID_DIGITS + 1];
    snprintf(digits, sizeof digits, "%08x", (unsigned)c->serial);
    memcpy(head, r->head, r->head_len);
    memcpy(head + r->id_at, digits, ID_DIGITS);
    return conn_send(c, head + c->sent, r->head_len - (size_t)c->sent);
}

/* Sends what is due now. A paced answer sends one delta and waits in its queue. */
static void conn_pump(conn *c) {
    const recipe *r = c->r;
    if (c->sent < r->head_len && !send_head(c)) return;
    uint64_t end = r->head_len + r->deltas_len;
    int writes = 0;
    while (c->sent < end) {
        if (writes++ == MAX_WRITES) {
            conn_watch(c, true);
            return;
        }
        uint64_t at = c->sent - r->head_len;
        size_t within = (size_t)(at % r->delta_len);
        if (r->pace >= 0 && within == 0) {
            uint64_t now = now_ns();
            if (c->due_ns > now) {
                conn_watch(c, false);
                pace_push(c);
                return;
            }
            c->due_ns += r->interval_ns;
            if (c->due_ns + r->interval_ns < now) c->due_ns = now + r->interval_ns;
        }
        size_t len = r->pace >= 0 || r->one_write ? r->delta_len - within : r->block_len - within;
        if (len > end - c->sent) len = (size_t)(end - c->sent);
        if (!conn_send(c, r->block + within, len)) return;
    }
    if (!conn_send(c, r->tail + (c->sent - end), r->tail_len - (size_t)(c->sent - end))) return;
    conn_watch(c, false);
    c->r = NULL;
}

static void reply_small(conn *c, const char *status, const char *body) {
    char out[1024];
    int n =
        snprintf(out, sizeof out,
                 "HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
                 status, strlen(body), body);
    if (send(c->fd, out, (size_t)n, MSG_NOSIGNAL | MSG_DONTWAIT) != n) conn_close(c);
}

static void reply_stats(conn *c) {
    char body[512];
    snprintf(
        body, sizeof body,
        "{\"requests\":%llu,\"accepted\":%llu,\"open\":%llu,\"bytes_in\":%llu,\"bytes_out\":%llu,"
        "\"first_byte_ns\":%llu}\n",
        (unsigned long long)S.requests, (unsigned long long)S.accepted, (unsigned long long)S.open,
        (unsigned long long)S.bytes_in, (unsigned long long)S.bytes_out,
        (unsigned long long)S.first_byte_ns);
    reply_small(c, "200 OK", body);
}

/* The answer begins when the whole request body has been skipped. */
static void request_done(conn *c) {
    c->in_request = false;
    if (!c->is_post) {
        reply_stats(c);
        return;
    }
    if (!c->r) {
        reply_small(c, "404 Not Found",
                    "{\"error\":{\"message\":\"see the top of stream_server.c for paths\"}}");
        return;
    }
    S.requests++;
    c->serial = ++S.serial;
    c->sent = 0;
    c->due_ns = c->r->pace >= 0 ? now_ns() + c->r->interval_ns : 0;
    conn_pump(c);
}

static void request_begin(conn *c, char *head) {
    char path[512];
    c->is_post = strncmp(head, "POST ", 5) == 0;
    c->r = NULL;
    c->body_left = 0;
    if (sscanf(head, "%*s %511s", path) == 1 && c->is_post) {
        uint32_t number = 0;
        recipe *r = recipe_of(path, &number);
        c->r = r;
        if (r && r->then) {
            uint32_t *n = number ? &S.conversations[number] : &c->requests;
            if ((*n)++ >= r->calls) {
                *n = 0;
                c->r = r->then;
            }
        }
    }
    for (char *line = strchr(head, '\n'); line; line = strchr(line + 1, '\n')) {
        if (strncasecmp(line + 1, "content-length:", 15) == 0)
            c->body_left = strtoull(line + 16, NULL, 10);
        if (strncasecmp(line + 1, "expect: 100", 11) == 0) {
            static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";
            if (send(c->fd, go_on, sizeof go_on - 1, MSG_NOSIGNAL) < 0) return;
        }
    }
}

/* Keeps header lines until the blank one has come. Returns the bytes of `p` that belong to them. */
static size_t header_take(conn *c, char *p, size_t len) {
    char *blank = NULL;
    if (!c->pending) {
        if (p[0] == 'P') S.first_byte_ns = now_ns(); /* a POST, not the question for it */
        blank = strstr(p, "\r\n\r\n");
        if (blank) {
            c->in_request = true;
            blank[2] = 0;
            request_begin(c, p);
            return (size_t)(blank - p) + 4;
        }
    }
    size_t before = c->pending_len;
    char *all = (char *)realloc(c->pending, before + len + 1);
    if (!all) die("realloc");
    memcpy(all + before, p, len);
    all[before + len] = 0;
    c->pending = all;
    c->pending_len = before + len;
    blank = strstr(all, "\r\n\r\n");
    if (!blank) {
        if (c->pending_len > MAX_HEADER) conn_close(c);
        return len;
    }
    c->in_request = true;
    blank[2] = 0;
    request_begin(c, all);
    size_t used = (size_t)(blank - all) + 4 - before;
    free(c->pending);
    c->pending = NULL;
    c->pending_len = 0;
    return used;
}

/* Takes bytes of a request: header lines, then the body, only counted. `p` ends with a 0. */
static void conn_take(conn *c, char *p, size_t len) {
    S.bytes_in += len;
    if (!c->in_request) len -= header_take(c, p, len);
    if (c->fd < 0 || !c->in_request) return;
    c->body_left -= len < c->body_left ? len : c->body_left;
    if (c->body_left == 0) request_done(c);
}

static void conn_readable(conn *c) {
    static char buf[262144 + 1];
    for (;;) {
        ssize_t n = recv(c->fd, buf, sizeof buf - 1, MSG_DONTWAIT);
        if (n == 0 || (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)) {
            conn_close(c);
            return;
        }
        if (n < 0) return;
        buf[n] = 0;
        if (c->r && !c->in_request)
            continue; /* bytes after the request, which nobody should send */
        conn_take(c, buf, (size_t)n);
        if (c->fd < 0 || (size_t)n < sizeof buf - 1) return;
    }
}

static void accept_all(void) {
    int fd, one = 1;
    while ((fd = accept4(S.listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
        conn *c = (conn *)calloc(1, sizeof *c);
        if (!c) die("calloc");
        c->fd = fd;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        struct epoll_event e = {0};
        e.events = EPOLLIN | EPOLLRDHUP;
        e.data.ptr = c;
        if (epoll_ctl(S.epoll, EPOLL_CTL_ADD, fd, &e) != 0) die("epoll_ctl");
        S.accepted++;
        S.open++;
    }
    if (errno != EAGAIN && errno != EWOULDBLOCK && errno != ECONNABORTED && errno != EMFILE)
        die("accept4");
}

static void timer_fired(void) {
    uint64_t ticks, now = now_ns();
    if (read(S.timer, &ticks, sizeof ticks) < 0 && errno != EAGAIN) die("timerfd");
    S.timer_ns = 0;
    for (int i = 0; i < S.pace_count; i++) {
        conn *c;
        while ((c = S.paces[i].first) != NULL && c->due_ns <= now) {
            pace_remove(c);
            conn_pump(c);
            if (c->fd < 0) free(c);
        }
    }
}

/* ---- the process ---- */

static int listen_on(int port) {
    struct sockaddr_in a;
    socklen_t len = sizeof a;
    int one = 1;
    memset(&a, 0, sizeof a);
    a.sin_family = AF_INET;
    a.sin_port = htons((uint16_t)port);
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    S.listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    setsockopt(S.listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(S.listener, (struct sockaddr *)&a, sizeof a) != 0 || listen(S.listener, 16384) != 0)
        die("listen");
    if (getsockname(S.listener, (struct sockaddr *)&a, &len) != 0) die("getsockname");
    return ntohs(a.sin_port);
}

static void watch(int fd, void *tag, bool must) {
    struct epoll_event e = {0};
    e.events = EPOLLIN;
    e.data.ptr = tag;
    if (epoll_ctl(S.epoll, EPOLL_CTL_ADD, fd, &e) != 0 && must) die("epoll_ctl");
}

static void handle(const struct epoll_event *e) {
    static char scratch[256];
    if (e->data.ptr == &S.listener) {
        accept_all();
    } else if (e->data.ptr == &S.timer) {
        return; /* after the round, so that no event meets a freed conn */
    } else if (e->data.ptr == NULL) {
        if (read(0, scratch, sizeof scratch) == 0) exit(0);
    } else {
        conn *c = (conn *)e->data.ptr;
        if (e->events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) conn_readable(c);
        if (c->fd >= 0 && (e->events & EPOLLOUT) && c->r) conn_pump(c);
        if (c->fd < 0) free(c);
    }
}

int main(int argc, char **argv) {
    static struct epoll_event events[1024];
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    signal(SIGPIPE, SIG_IGN);
    S.epoll = epoll_create1(EPOLL_CLOEXEC);
    S.timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    if (S.epoll < 0 || S.timer < 0) die("epoll");
    int port = listen_on(argc > 1 ? atoi(argv[1]) : 0);
    watch(S.listener, &S.listener, true);
    watch(S.timer, &S.timer, true);
    watch(0, NULL, false); /* a file or /dev/null cannot be watched: then not */
    printf("listening %d\n", port);
    fflush(stdout);
    for (;;) {
        timer_update();
        int n = epoll_wait(S.epoll, events, 1024, -1);
        bool timer = false;
        for (int i = 0; i < n; i++) {
            timer = timer || events[i].data.ptr == &S.timer;
            handle(&events[i]);
        }
        if (timer) timer_fired();
        if (n < 0 && errno != EINTR) die("epoll_wait");
    }
}
