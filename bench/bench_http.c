/* bench_http.c - what our HTTP path costs beside a bare libcurl loop that reads the same stream.

       cc -O2 -std=c99 -D_GNU_SOURCE -Isrc bench/bench_http.c src/base/x.c src/io/x.c -lcurl
       ./bench_http PATH_OF_STREAM_SERVER [QUICK]

   Three readers take turns: ours, curl_multi_perform with curl_multi_poll (what most programs do),
   and curl_multi_socket_action over epoll (the least libcurl allows). Each copies the bytes into a
   ring of 64 KiB and does no more. Prints `name value unit` lines; times are thread CPU time. */
#include "io/io_in.h"

#include <curl/curl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define RING 65536
#define ROUNDS 7
#define STEPS_MAX 2000000

typedef struct reader {
    char ring[RING];
    size_t at;
    uint64_t bytes, pushes;
    size_t room; /* ours: what may still be pushed in this step */
    bool full;
    int ends, status;
} reader;

static reader R;
static uint32_t *steps_ns;
static size_t step_count;

static void take(const char *at, size_t len) {
    size_t n = RING - R.at < len ? RING - R.at : len;
    memcpy(R.ring + R.at, at, n);
    memcpy(R.ring, at + n, len - n);
    R.at = (R.at + len) % RING;
    R.bytes += len;
    R.pushes++;
}

static uint64_t clock_ns(clockid_t id) {
    struct timespec now;
    (void)clock_gettime(id, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ---- ours ---- */

static phi_status on_stage(phi_transfer transfer, phi_transfer_stage stage) {
    (void)transfer;
    (void)stage;
    return PHI_OK;
}
static phi_status on_head(phi_transfer transfer, int http_status, const char *headers, size_t len) {
    (void)transfer;
    (void)headers;
    (void)len;
    R.status = http_status;
    return PHI_OK;
}
static phi_status on_push(phi_transfer transfer, const char *bytes, size_t len) {
    (void)transfer;
    if (len > R.room) {
        R.full = true;
        return PHI_FULL;
    }
    R.room -= len;
    take(bytes, len);
    return PHI_OK;
}
static phi_status on_end(phi_transfer transfer, phi_status status, const char *words) {
    (void)transfer;
    if (status != PHI_OK) {
        fprintf(stderr, "%s\n", words);
        exit(1);
    }
    R.ends++;
    return PHI_OK;
}

typedef struct ours {
    phi_memory memory;
    phi__io *io;
    phi__http *http;
    const phi_transport *transport;
} ours;

static void ours_new(ours *o, uint32_t connections, uint32_t starts) {
    phi__transfer_port port = {on_stage, on_head, on_push, on_end};
    phi__io_desc io_desc;
    phi__http_desc desc;
    const char *words = NULL;
    memset(&io_desc, 0, sizeof io_desc);
    memset(&desc, 0, sizeof desc);
    desc.max_connections = connections;
    io_desc.max_starts_per_step = starts;
    phi_memory_init(&o->memory, NULL, 0);
    if (phi__io_new(&o->memory, &io_desc, &o->io) != PHI_OK ||
        phi__http_new(o->io, &desc, &port, &o->http, &words) != PHI_OK) {
        fprintf(stderr, "%s\n", words);
        exit(1);
    }
    o->transport = phi__http_transport(o->http);
}

static void ours_free(ours *o) {
    phi__http_free(o->http);
    phi__io_free(o->io);
}

static void ours_open(ours *o, uint32_t index, phi_request *rq, const char *url) {
    static phi__piece body = {"{}", 2, 0};
    phi_transfer transfer;
    memset(&transfer, 0, sizeof transfer);
    memset(rq, 0, sizeof *rq);
    transfer.index = index;
    rq->method = phi_str_of("POST");
    rq->url = phi_str_of(url);
    rq->pieces = &body;
    rq->piece_count = 1;
    phi__request_seal(rq);
    if (o->transport->open(o->transport->user_data, transfer, rq) != PHI_OK) exit(1);
}

/* One step takes at most a ring of bytes, as the runtime does (step_budget_bytes). */
static int ours_step(ours *o, int timeout_ms) {
    int n;
    R.room = RING;
    phi__io_step_begin(o->io);
    if (R.full) {
        phi_transfer first;
        memset(&first, 0, sizeof first);
        R.full = false;
        timeout_ms = 0;
        o->transport->resume(o->transport->user_data, first);
    }
    n = phi__io_timers(o->io, 64);
    n += phi__io_wait(o->io, timeout_ms, 64);
    o->transport->pump(o->transport->user_data);
    return n;
}

static void ours_read(const char *url) {
    ours o;
    phi_request rq;
    ours_new(&o, 64, 4);
    ours_open(&o, 0, &rq, url);
    while (R.ends == 0) (void)ours_step(&o, -1);
    ours_free(&o);
}

/* The same, each step timed; only steps that had work count. */
static void ours_read_timed(const char *url) {
    ours o;
    phi_request rq;
    ours_new(&o, 64, 4);
    ours_open(&o, 0, &rq, url);
    while (R.ends == 0) {
        uint64_t before = clock_ns(CLOCK_THREAD_CPUTIME_ID);
        int n = ours_step(&o, 0);
        uint64_t spent = clock_ns(CLOCK_THREAD_CPUTIME_ID) - before;
        if (n > 0 && step_count < STEPS_MAX) steps_ns[step_count++] = (uint32_t)spent;
    }
    ours_free(&o);
}

/* ---- bare libcurl ---- */

static size_t bare_write(char *at, size_t size, size_t n, void *ctx) {
    (void)ctx;
    take(at, size * n);
    return size * n;
}

static CURL *bare_easy(const char *url, struct curl_slist **headers) {
    CURL *easy = curl_easy_init();
    *headers = curl_slist_append(NULL, "Expect:");
    (void)curl_easy_setopt(easy, CURLOPT_URL, url);
    (void)curl_easy_setopt(easy, CURLOPT_POSTFIELDS, "{}");
    (void)curl_easy_setopt(easy, CURLOPT_HTTPHEADER, *headers);
    (void)curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, bare_write);
    (void)curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    (void)curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    return easy;
}

static void perform_read(const char *url) {
    struct curl_slist *headers;
    CURLM *multi = curl_multi_init();
    CURL *easy = bare_easy(url, &headers);
    int running = 1;
    (void)curl_multi_add_handle(multi, easy);
    while (running > 0) {
        (void)curl_multi_perform(multi, &running);
        if (running > 0) (void)curl_multi_poll(multi, NULL, 0, 1000, NULL);
    }
    (void)curl_multi_remove_handle(multi, easy);
    curl_easy_cleanup(easy);
    (void)curl_multi_cleanup(multi);
    curl_slist_free_all(headers);
}

static int bare_epoll;
static long bare_timeout;

static int bare_socket(CURL *easy, curl_socket_t fd, int what, void *ctx, void *socket_ctx) {
    struct epoll_event event;
    (void)easy;
    (void)ctx;
    (void)socket_ctx;
    memset(&event, 0, sizeof event);
    event.data.fd = fd;
    event.events = ((what & CURL_POLL_IN) != 0 ? (uint32_t)EPOLLIN : 0u) |
                   ((what & CURL_POLL_OUT) != 0 ? (uint32_t)EPOLLOUT : 0u);
    if (what == CURL_POLL_REMOVE)
        (void)epoll_ctl(bare_epoll, EPOLL_CTL_DEL, fd, &event);
    else if (epoll_ctl(bare_epoll, EPOLL_CTL_MOD, fd, &event) != 0)
        (void)epoll_ctl(bare_epoll, EPOLL_CTL_ADD, fd, &event);
    return 0;
}

static int bare_timer(CURLM *multi, long timeout_ms, void *ctx) {
    (void)multi;
    (void)ctx;
    bare_timeout = timeout_ms;
    return 0;
}

static void epoll_read(const char *url) {
    struct curl_slist *headers;
    CURLM *multi = curl_multi_init();
    CURL *easy = bare_easy(url, &headers);
    int running = 1;
    bare_epoll = epoll_create1(EPOLL_CLOEXEC);
    bare_timeout = -1;
    (void)curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, bare_socket);
    (void)curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, bare_timer);
    (void)curl_multi_add_handle(multi, easy);
    while (running > 0) {
        struct epoll_event events[64];
        int i, n = epoll_wait(bare_epoll, events, 64, (int)bare_timeout);
        if (n == 0) {
            bare_timeout = -1;
            (void)curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &running);
        }
        for (i = 0; i < n; i++)
            (void)curl_multi_socket_action(
                multi, events[i].data.fd,
                ((events[i].events & (uint32_t)EPOLLIN) != 0 ? CURL_CSELECT_IN : 0) |
                    ((events[i].events & (uint32_t)EPOLLOUT) != 0 ? CURL_CSELECT_OUT : 0),
                &running);
    }
    (void)curl_multi_remove_handle(multi, easy);
    curl_easy_cleanup(easy);
    (void)curl_multi_cleanup(multi);
    (void)close(bare_epoll);
    curl_slist_free_all(headers);
}

/* ---- what is measured ---- */

static int by_u64(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static int by_u32(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static void compare(const char *name, int port, const char *recipe, uint64_t deltas) {
    static void (*const readers[3])(const char *) = {ours_read, epoll_read, perform_read};
    static const char *const names[3] = {"ours", "bare_epoll", "bare_perform"};
    uint64_t spent[3][ROUNDS], pushes[3];
    char url[256];
    int round, i;
    (void)snprintf(url, sizeof url, "http://127.0.0.1:%d%s", port, recipe);
    for (round = 0; round < ROUNDS; round++) {
        for (i = 0; i < 3; i++) {
            uint64_t before;
            memset(&R, 0, sizeof R);
            before = clock_ns(CLOCK_THREAD_CPUTIME_ID);
            readers[i](url);
            spent[i][round] = clock_ns(CLOCK_THREAD_CPUTIME_ID) - before;
            pushes[i] = R.pushes;
        }
    }
    for (i = 0; i < 3; i++) {
        qsort(spent[i], ROUNDS, sizeof spent[i][0], by_u64);
        printf("http_%s_%s_cpu_per_delta %.1f ns\n", name, names[i],
               (double)spent[i][ROUNDS / 2] / (double)deltas);
        printf("http_%s_%s_deltas_per_callback %.2f deltas\n", name, names[i],
               (double)deltas / (double)pushes[i]);
    }
    printf("http_%s_ratio_to_bare_epoll %.3f x\n", name,
           (double)spent[0][ROUNDS / 2] / (double)spent[1][ROUNDS / 2]);
    printf("http_%s_ratio_to_bare_perform %.3f x\n", name,
           (double)spent[0][ROUNDS / 2] / (double)spent[2][ROUNDS / 2]);
}

static void step_times(const char *name, int port, const char *recipe) {
    char url[256];
    (void)snprintf(url, sizeof url, "http://127.0.0.1:%d%s", port, recipe);
    step_count = 0;
    memset(&R, 0, sizeof R);
    ours_read_timed(url);
    qsort(steps_ns, step_count, sizeof steps_ns[0], by_u32);
    if (step_count == 0) return;
    printf("http_%s_step_p50 %.1f us\n", name, steps_ns[step_count / 2] / 1000.0);
    printf("http_%s_step_p99 %.1f us\n", name, steps_ns[step_count * 99 / 100] / 1000.0);
    printf("http_%s_step_p999 %.1f us\n", name, steps_ns[step_count * 999 / 1000] / 1000.0);
    printf("http_%s_step_max %.1f us\n", name, steps_ns[step_count - 1] / 1000.0);
}

static void requests(int port, int count) {
    ours o;
    phi_request rq;
    char url[128];
    uint64_t before;
    int i;
    (void)snprintf(url, sizeof url, "http://127.0.0.1:%d/sse/anthropic/1/0/20/", port);
    ours_new(&o, 64, 4);
    memset(&R, 0, sizeof R);
    before = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    for (i = 0; i < count; i++) {
        ours_open(&o, 0, &rq, url);
        while (R.ends == i) (void)ours_step(&o, -1);
    }
    printf("http_request_on_kept_connection_cpu %.1f us\n",
           (double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - before) / 1000.0 / count);
    ours_free(&o);
}

static size_t heap_bytes(void) {
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

static void memory(int port, uint32_t count) {
    ours o;
    phi_request *rqs = (phi_request *)calloc(count, sizeof *rqs);
    char url[128];
    size_t before, mine;
    uint32_t i;
    int turns;
    (void)snprintf(url, sizeof url, "http://127.0.0.1:%d/sse/anthropic/100/1000000/20/", port);
    ours_new(&o, count, 50);
    before = heap_bytes();
    mine = o.memory.used_bytes;
    memset(&R, 0, sizeof R);
    for (i = 0; i < count; i++) ours_open(&o, i, &rqs[i], url);
    for (turns = 0; turns < 100000 && R.pushes < count; turns++) (void)ours_step(&o, 1);
    printf("http_streaming_heap_per_transfer %.0f bytes\n",
           (double)(heap_bytes() - before) / count);
    printf("http_streaming_ours_per_transfer %.0f bytes\n",
           (double)(o.memory.used_bytes - mine) / count);
    ours_free(&o);
    free(rqs);
}

static pid_t serve(const char *path, int *port, int *hold) {
    int in[2], out[2];
    char line[64];
    ssize_t n;
    pid_t pid;
    if (pipe(in) != 0 || pipe(out) != 0) return -1;
    pid = fork();
    if (pid == 0) {
        (void)dup2(in[0], 0);
        (void)dup2(out[1], 1);
        (void)close(in[1]);
        (void)close(out[0]);
        (void)execl(path, path, (char *)NULL);
        _exit(127);
    }
    (void)close(in[0]);
    (void)close(out[1]);
    n = read(out[0], line, sizeof line - 1);
    line[n > 0 ? n : 0] = '\0';
    (void)close(out[0]);
    *hold = in[1];
    return sscanf(line, "listening %d", port) == 1 ? pid : -1;
}

int main(int argc, char **argv) {
    int port = 0, hold = -1;
    bool quick = argc > 2;
    pid_t pid = argc > 1 ? serve(argv[1], &port, &hold) : -1;
    if (pid < 0) {
        fprintf(stderr, "usage: bench_http PATH_OF_STREAM_SERVER [QUICK]\n");
        return 2;
    }
    steps_ns = (uint32_t *)malloc(STEPS_MAX * sizeof *steps_ns);
    if (steps_ns == NULL) return 1;
    (void)curl_global_init(CURL_GLOBAL_DEFAULT);
    compare("back_to_back", port, "/sse/anthropic/200000/0/40/", 200000);
    compare("one_by_one", port,
            quick ? "/sse/anthropic/1000/200/40/" : "/sse/anthropic/4000/200/40/",
            quick ? 1000 : 4000);
    step_times("back_to_back", port, "/sse/anthropic/400000/0/40/");
    step_times("one_by_one", port, "/sse/anthropic/10000/100/40/");
    requests(port, 2000);
    memory(port, 200);
    free(steps_ns);
    (void)close(hold);
    (void)waitpid(pid, NULL, 0);
    return 0;
}
