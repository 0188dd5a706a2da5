/* one_shot.c - libcurl over epoll. */
#include "bare.h"

#include "kit.h"

#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *user_data, void *known) {
    bare *b = (bare *)user_data;
    struct epoll_event event;
    (void)easy;
    memset(&event, 0, sizeof event);
    event.data.fd = fd;
    event.events = ((what & CURL_POLL_IN) != 0 ? (uint32_t)EPOLLIN : 0u) |
                   ((what & CURL_POLL_OUT) != 0 ? (uint32_t)EPOLLOUT : 0u);
    if (what == CURL_POLL_REMOVE) {
        (void)epoll_ctl(b->epoll, EPOLL_CTL_DEL, fd, &event);
        (void)curl_multi_assign(b->multi, fd, NULL);
        return 0;
    }
    (void)epoll_ctl(b->epoll, known != NULL ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &event);
    (void)curl_multi_assign(b->multi, fd, b);
    return 0;
}

static int on_timer(CURLM *multi, long timeout_ms, void *user_data) {
    (void)multi;
    ((bare *)user_data)->due_ns =
        timeout_ms < 0 ? UINT64_MAX : bench_wall_ns() + (uint64_t)timeout_ms * 1000000u;
    return 0;
}

void bare_open(bare *b) {
    memset(b, 0, sizeof *b);
    b->multi = curl_multi_init();
    b->epoll = epoll_create1(EPOLL_CLOEXEC);
    b->due_ns = UINT64_MAX;
    if (b->multi == NULL || b->epoll < 0) bench_fail("no libcurl");
    (void)curl_multi_setopt(b->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
    (void)curl_multi_setopt(b->multi, CURLMOPT_SOCKETDATA, b);
    (void)curl_multi_setopt(b->multi, CURLMOPT_TIMERFUNCTION, on_timer);
    (void)curl_multi_setopt(b->multi, CURLMOPT_TIMERDATA, b);
}

void bare_close(bare *b) {
    (void)curl_multi_cleanup(b->multi);
    (void)close(b->epoll);
}

void bare_begin(bare *b, const char *url, const char *body, size_t body_len,
                curl_write_callback take, void *user_data) {
    CURL *e = b->easy = curl_easy_init();
    struct curl_slist *h = curl_slist_append(NULL, "content-type: application/json");
    h = curl_slist_append(h, "anthropic-version: 2023-06-01");
    h = curl_slist_append(h, "x-api-key: bench-key");
    h = curl_slist_append(h, "accept: text/event-stream");
    b->headers = h = curl_slist_append(h, "Expect:");
    (void)curl_easy_setopt(e, CURLOPT_URL, url);
    (void)curl_easy_setopt(e, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body_len);
    (void)curl_easy_setopt(e, CURLOPT_POSTFIELDS, body);
    (void)curl_easy_setopt(e, CURLOPT_HTTPHEADER, h);
    (void)curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, take);
    (void)curl_easy_setopt(e, CURLOPT_WRITEDATA, user_data);
    (void)curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
    (void)curl_easy_setopt(e, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    b->running = 1;
    (void)curl_multi_add_handle(b->multi, e);
}

/* curl's one timeout; true: it was due. */
static bool timeout_due(bare *b) {
    if (b->due_ns == UINT64_MAX || b->due_ns > bench_wall_ns()) return false;
    b->due_ns = UINT64_MAX;
    (void)curl_multi_socket_action(b->multi, CURL_SOCKET_TIMEOUT, 0, &b->running);
    return true;
}

int bare_step(bare *b, int timeout_ms) {
    struct epoll_event events[64];
    int i, n;
    if (timeout_due(b)) timeout_ms = 0;
    if (timeout_ms != 0 && b->due_ns != UINT64_MAX) timeout_ms = 1;
    n = epoll_wait(b->epoll, events, 64, timeout_ms);
    for (i = 0; i < n; i++) {
        uint32_t e = events[i].events;
        (void)curl_multi_socket_action(b->multi, events[i].data.fd,
                                       ((e & (uint32_t)EPOLLIN) != 0 ? CURL_CSELECT_IN : 0) |
                                           ((e & (uint32_t)EPOLLOUT) != 0 ? CURL_CSELECT_OUT : 0),
                                       &b->running);
    }
    return n;
}

void bare_end(bare *b) {
    (void)curl_multi_remove_handle(b->multi, b->easy);
    curl_easy_cleanup(b->easy);
    curl_slist_free_all(b->headers);
}

size_t bare_touch(char *at, size_t size, size_t n, void *user_data) {
    static char buffer[65536];
    size_t len = size * n, first = len < sizeof buffer ? len : sizeof buffer;
    memcpy(buffer, at, first);
    *(uint64_t *)user_data += len;
    return len;
}
