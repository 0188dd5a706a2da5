/* http_drive.c - drives libcurl's sockets and its one timeout with phi__io.

   curl says which sockets it wants watched and when it wants to be called; phi__io calls back, and
   curl_multi_socket_action works on that socket alone. So the cost of a step depends on the ready
   sockets only. */
#include "io/http_curl_in.h"

#if !defined(PHI_NO_CURL)

typedef struct phi__http_socket {
    phi__watch watch;
    phi__http *http;
} phi__http_socket;

PHI__FN void phi__http_drive_kick(phi__http *http, uint64_t at_us) {
    if (at_us < http->kick.at_us) (void)phi__io_timer_set(http->io, &http->kick, at_us);
}

PHI__FN void phi__http_drive_enter(phi__http *http) {
    if (http->inside++ == 0 && http->mask_sigpipe) http->signal_held = phi__http_signal_hold();
}

PHI__FN void phi__http_drive_leave(phi__http *http) {
    if (--http->inside > 0 || !http->signal_held) return;
    http->signal_held = false;
    phi__http_signal_release();
}

PHI__FN void phi__http_drive_act(phi__http *http, curl_socket_t fd, int have) {
    int running = 0;
    phi__http_drive_enter(http);
    (void)curl_multi_socket_action(http->multi, fd, have, &running);
    phi__http_drive_leave(http);
    /* Fewer than we count: some have finished, and the pump must learn of it. */
    if ((size_t)running < http->live || http->starved) phi__http_drive_kick(http, 0);
}

static void phi__http_drive_on_ready(phi__watch *watch, int have) {
    phi__http_socket *s = PHI__OWNER(watch, phi__http_socket, watch);
    phi__http_drive_act(s->http, (curl_socket_t)watch->fd,
                        ((have & PHI__READ) != 0 ? CURL_CSELECT_IN : 0) |
                            ((have & PHI__WRITE) != 0 ? CURL_CSELECT_OUT : 0));
}

static void phi__http_drive_forget_socket(phi__http *http, phi__http_socket *s) {
    if (s == NULL) return;
    (void)phi__io_watch(http->io, &s->watch, s->watch.fd, 0);
    phi__free(http->memory, s, sizeof *s);
}

/* A socket that cannot be watched ends its transfer, not the multi handle, as a -1 would. On
   HTTP/2 others may share the socket: then all end. */
static int phi__http_drive_starve(phi__http *http, CURL *easy) {
    char *owner = NULL;
    phi__http_transfer *t;
    (void)curl_easy_getinfo(easy, CURLINFO_PRIVATE, &owner);
    for (t = phi__http_curl_first(&http->active); t != NULL; t = phi__http_curl_next(t))
        if (http->http2 || (char *)t == owner) t->failed = PHI_NO_MEMORY;
    http->starved = true;
    phi__http_drive_kick(http, 0);
    return 0;
}

static int phi__http_drive_on_socket(CURL *easy, curl_socket_t fd, int what, void *user_data,
                                     void *socket_data) {
    phi__http *http = (phi__http *)user_data;
    phi__http_socket *s = (phi__http_socket *)socket_data;
    int want = (what & CURL_POLL_IN) != 0 ? PHI__READ : 0;
    if ((what & CURL_POLL_OUT) != 0) want |= PHI__WRITE;
    if (what == CURL_POLL_REMOVE) {
        (void)curl_multi_assign(http->multi, fd, NULL);
        phi__http_drive_forget_socket(http, s);
        return 0;
    }
    if (s == NULL) {
        s = (phi__http_socket *)phi__alloc(http->memory, sizeof *s);
        if (s == NULL) return phi__http_drive_starve(http, easy);
        s->http = http;
        s->watch.ready = phi__http_drive_on_ready;
        (void)curl_multi_assign(http->multi, fd, s);
    }
    if (phi__io_watch(http->io, &s->watch, (intptr_t)fd, want) != PHI_OK)
        return phi__http_drive_starve(http, easy);
    return 0;
}

static int phi__http_drive_on_timeout(CURLM *multi, long timeout_ms, void *user_data) {
    phi__http *http = (phi__http *)user_data;
    uint64_t at = UINT64_MAX;
    (void)multi;
    if (timeout_ms >= 0) at = phi__io_now_us(http->io) + (uint64_t)timeout_ms * 1000;
    (void)phi__io_timer_set(http->io, &http->curl_timer, at); /* has its place since init */
    return 0;
}

static void phi__http_drive_on_timer(phi__timer *timer) {
    phi__http *http = PHI__OWNER(timer, phi__http, curl_timer);
    (void)phi__io_timer_set(http->io, timer, UINT64_MAX);
    phi__http_drive_act(http, CURL_SOCKET_TIMEOUT, 0);
}

PHI__FN void phi__http_drive_due(phi__http *http) {
    uint64_t at = http->curl_timer.at_us;
    if (at == UINT64_MAX || at > phi__io_now_us(http->io)) return;
    phi__http_drive_on_timer(&http->curl_timer);
}

PHI__FN bool phi__http_drive_init(phi__http *http) {
    CURLM *m = http->multi;
    int bad = 0;
    http->curl_timer.fire = phi__http_drive_on_timer;
    if (phi__io_timer_set(http->io, &http->curl_timer, UINT64_MAX) != PHI_OK) return false;
    bad |= curl_multi_setopt(m, CURLMOPT_SOCKETFUNCTION, phi__http_drive_on_socket) != CURLM_OK;
    bad |= curl_multi_setopt(m, CURLMOPT_SOCKETDATA, http) != CURLM_OK;
    bad |= curl_multi_setopt(m, CURLMOPT_TIMERFUNCTION, phi__http_drive_on_timeout) != CURLM_OK;
    bad |= curl_multi_setopt(m, CURLMOPT_TIMERDATA, http) != CURLM_OK;
    bad |= curl_multi_setopt(m, CURLMOPT_MAXCONNECTS, (long)http->max_connections) != CURLM_OK;
    if (http->http2) bad |= curl_multi_setopt(m, CURLMOPT_MAX_CONCURRENT_STREAMS, 10L) != CURLM_OK;
    return bad == 0;
}

#endif
