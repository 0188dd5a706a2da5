/* http.c - the transport over libcurl: requests wait in a queue, a few start in each step, and the
   pump ends them.

   The queue is linked through the table of requests, so waiting allocates nothing. Everything that
   takes time or calls out happens in the pump, outside curl's callbacks: starting, ending and
   removing transfers. Work that does not fit waits for the next step, and a timer keeps the host
   awake. */

#include "io/http_curl_in.h"

#if !defined(PHI_NO_CURL)

#include <stdio.h>
#include <stdlib.h>

/* ---- libcurl's results as statuses and messages ---- */

/* Messages name the host or the URL, never a header, query or user, which may hold keys. */

#define PHI__HTTP_CURL_TOO_LARGE 100  /* CURLE_TOO_LARGE of libcurl 8.6 and newer */
#define PHI__HTTP_MULTI_QUICK_EXIT 21 /* CURLMOPT_QUICK_EXIT of libcurl 8.20 and newer */
#define PHI__HTTP_URL_SHOWN 160       /* max. bytes of a URL in a message */

static phi_str phi__http_host(phi_str url) {
    phi__url parts;
    (void)phi__url_split(url, &parts);
    return parts.host;
}

static bool phi__http_is_address(phi_str host) {
    size_t dots = 0;
    if (phi__str_find(host, 0, ":") != SIZE_MAX) return true;
    for (size_t i = 0; i < host.len; i++) {
        if (host.at[i] == '.')
            dots++;
        else if (!phi__is_digit(host.at[i]))
            return false;
    }
    return dots == 3;
}

/* The status of a failure, and the words that its message has before the URL. */
typedef struct phi__http_kind {
    phi_status status;
    const char *words;
} phi__http_kind;

static phi__http_kind phi__http_kind_of(phi_status status, const char *words) {
    phi__http_kind kind;
    kind.status = status;
    kind.words = words;
    return kind;
}

static phi__http_kind phi__http_connect_kind(const phi__http_transfer *t) {
    long os_error = 0;
    (void)curl_easy_getinfo(t->easy, CURLINFO_OS_ERRNO, &os_error);
    phi_status status = phi__http_connect_status(os_error);
    if (status == PHI_REFUSED) return phi__http_kind_of(status, "connection refused by");
    if (t->no_descriptor)
        return phi__http_kind_of(PHI_IO, "no file descriptor was left for a connection to");
    return phi__http_kind_of(status, "cannot connect to");
}

static phi__http_kind phi__http_classify(const phi__http_transfer *t) {
    long tunnel = 0; /* HTTP status of the proxy's answer to CONNECT */
    (void)curl_easy_getinfo(t->easy, CURLINFO_HTTP_CONNECTCODE, &tunnel);
    if (tunnel >= 500 || tunnel == 408 || tunnel == 429)
        return phi__http_kind_of(PHI_NETWORK, "the proxy has no connection with");
    if (tunnel >= 400)
        return phi__http_kind_of(PHI_TLS, "the proxy refused a secure connection with");
    switch (t->result) {
    case CURLE_COULDNT_RESOLVE_HOST: return phi__http_kind_of(PHI_NOT_FOUND, "no such host:");
    case CURLE_COULDNT_RESOLVE_PROXY:
        return phi__http_kind_of(PHI_NOT_FOUND, "no such proxy host, on the way to");
    case CURLE_COULDNT_CONNECT: return phi__http_connect_kind(t);
    case CURLE_OPERATION_TIMEDOUT: return phi__http_kind_of(PHI_TIMEOUT, "no answer in time from");
    case CURLE_OUT_OF_MEMORY: return phi__http_kind_of(PHI_NO_MEMORY, "no memory for");
    case CURLE_URL_MALFORMAT: return phi__http_kind_of(PHI_BAD_ARG, "the URL is not valid:");
    /* libcurl also returns this if the answer has no status line */
    case CURLE_UNSUPPORTED_PROTOCOL:
        return phi__http_kind_of(PHI_NETWORK, "what answers is not HTTP, at");
    case CURLE_GOT_NOTHING:
        return phi__http_kind_of(PHI_NETWORK, "the connection was closed without an answer by");
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_CRL_BADFILE:
    case CURLE_SSL_ENGINE_NOTFOUND:
    case CURLE_SSL_ENGINE_SETFAILED:
    case CURLE_SSL_ENGINE_INITFAILED:
    case CURLE_SSL_INVALIDCERTSTATUS:
    case CURLE_SSL_PINNEDPUBKEYNOTMATCH:
    case CURLE_USE_SSL_FAILED: return phi__http_kind_of(PHI_TLS, "no secure connection with");
    case CURLE_PARTIAL_FILE:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
    case CURLE_SEND_FAIL_REWIND:
    case CURLE_SSL_SHUTDOWN_FAILED:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM: return phi__http_kind_of(PHI_NETWORK, "the connection was cut, to");
    default: return phi__http_kind_of(PHI_NETWORK, "the transfer failed, with");
    }
}

static void phi__http_own(phi__http_reason reason, phi_status status, phi_str host, char *out,
                          size_t size) {
    int len = (int)phi__min(host.len, 128);
    switch (reason) {
    case PHI__HTTP_REASON_OVERFLOW:
        (void)snprintf(out, size,
                       "%.*s answers faster than is read: %d bytes wait (an HTTP/2 stream is "
                       "not paused)",
                       len, host.at, PHI__HTTP_OVERFLOW_BYTES);
        break;
    case PHI__HTTP_REASON_HEADERS:
        (void)snprintf(out, size,
                       "the header lines of the answer of %.*s are longer than %d bytes in all",
                       len, host.at, PHI__HTTP_HEADERS_MOST);
        break;
    case PHI__HTTP_REASON_LINE:
        (void)snprintf(out, size, "a header line of the answer of %.*s is too long", len, host.at);
        break;
    case PHI__HTTP_REASON_COUNT:
        (void)snprintf(out, size, "the answer of %.*s has more header lines than libcurl takes",
                       len, host.at);
        break;
    case PHI__HTTP_REASON_CODING:
        (void)snprintf(out, size,
                       "the answer of %.*s has a transfer coding that was not asked for: only "
                       "chunked is read",
                       len, host.at);
        break;
    case PHI__HTTP_REASON_NONE:
        (void)snprintf(out, size, "the answer of %.*s could not be taken: %s", len, host.at,
                       phi_status_text((int)status));
        break;
    }
}

/* True if a header line (libcurl's limit: 100 KB) or a trailer line (4 KB) was too long, or if
   there were too many (5,000 in newer versions). */
static bool phi__http_long_line(const phi__http_transfer *t) {
    if (!t->connected) return false;
    if ((int)t->result == PHI__HTTP_CURL_TOO_LARGE) return true;
    if (t->result == CURLE_RECV_ERROR)
        return t->head_told && strstr(t->error, "Out of memory in chunked") != NULL;
    if (t->result != CURLE_OUT_OF_MEMORY) return false;
    char zeros[8192] = PHI_ZERO;
    char *escaped = curl_easy_escape(t->easy, zeros, (int)sizeof zeros);
    curl_free(escaped);
    return escaped != NULL;
}

/* Returns the status if phi stopped the transfer, or if libcurl stopped it for one of phi's
   reasons. Otherwise returns PHI_OK. */
static phi_status phi__http_stopped(const phi__http_transfer *t, phi__http_reason *reason) {
    *reason = t->reason;
    if (t->failed != PHI_OK) return t->failed;
    if (t->result == CURLE_BAD_CONTENT_ENCODING) { /* libcurl: too many codings */
        *reason = PHI__HTTP_REASON_CODING;
        return PHI_UNSUPPORTED;
    }
    if (!phi__http_long_line(t)) return PHI_OK;
    *reason = strstr(t->error, "Too many response headers") != NULL ? PHI__HTTP_REASON_COUNT
                                                                    : PHI__HTTP_REASON_LINE;
    return PHI_TOO_BIG;
}

static phi_status phi__http_words(const phi__http_transfer *t, char *out, size_t size) {
    phi_str url = t->request != NULL ? t->request->url : phi_str_of(t->url);
    phi__http_reason reason;
    phi_status status = phi__http_stopped(t, &reason);
    out[0] = '\0';
    if (status != PHI_OK) {
        phi__http_own(reason, status, phi__http_host(url), out, size);
        return status;
    }
    if (t->result == CURLE_OK) return PHI_OK;
    phi__http_kind kind = phi__http_classify(t);
    /* The message has the failure, the URL and libcurl's message. If memory runs out, it has only
       the URL's host. */
    const char *words = kind.words;
    const char *detail = t->error[0] != '\0' ? t->error : curl_easy_strerror(t->result);
    phi_str shown = phi__str(url.at, 0);
    phi__buf buf;
    while (shown.len < url.len && url.at[shown.len] != '?' && url.at[shown.len] != '#') shown.len++;
    phi__buf_init(&buf, t->http->memory);
    phi__secret_put_url(&buf, shown);
    shown = buf.failed ? phi__http_host(url) : phi__buf_str(&buf);
    (void)snprintf(out, size, "%s %.*s (%s)", words, (int)phi__utf8_cut(shown, PHI__HTTP_URL_SHOWN),
                   shown.at, detail);
    phi__buf_free(&buf);
    return kind.status;
}

PHI__FN void phi__http_proxy(const phi__http *http, phi__secrets *secrets) {
    static const char *const names[] = {"http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy",
                                        "ALL_PROXY"};
    if (http == NULL) return;
    if (http->proxy != NULL) phi__secret_url(secrets, phi_str_of(http->proxy));
    for (size_t i = 0; http->proxy == NULL && http->use_environment && i < PHI__COUNT(names); i++)
        phi__secret_url(secrets, phi_str_of(getenv(names[i])));
}

/* ---- libcurl's sockets and its timeout, driven by phi__io ---- */

/* curl reports which sockets to watch and when to call it. When phi__io finds a socket ready,
   curl_multi_socket_action works on that socket only. So the cost of a step depends only on the
   ready sockets. */

typedef struct phi__http_socket {
    phi__watch watch;
    phi__http *http;
} phi__http_socket;

static void phi__http_kick(phi__http *http, uint64_t at_us) {
    if (at_us < http->kick.at_us) (void)phi__io_timer_set(http->io, &http->kick, at_us);
}

PHI__FN void phi__http_enter(phi__http *http) {
    if (http->inside++ == 0 && http->mask_sigpipe) http->signal_held = phi__http_signal_hold();
}

PHI__FN void phi__http_leave(phi__http *http) {
    if (--http->inside > 0 || !http->signal_held) return;
    http->signal_held = false;
    phi__http_signal_release();
}

static void phi__http_act(phi__http *http, curl_socket_t fd, int have) {
    int running = 0;
    phi__http_enter(http);
    (void)curl_multi_socket_action(http->multi, fd, have, &running);
    phi__http_leave(http);
    /* some transfers have finished, and the pump must handle them */
    if ((size_t)running < http->live || http->starved) phi__http_kick(http, 0);
}

static void phi__http_on_ready(phi__watch *watch, int have) {
    phi__http_socket *s = PHI__OWNER(watch, phi__http_socket, watch);
    phi__http_act(s->http, (curl_socket_t)watch->fd,
                  ((have & PHI__READ) != 0 ? CURL_CSELECT_IN : 0) |
                      ((have & PHI__WRITE) != 0 ? CURL_CSELECT_OUT : 0));
}

/* Ends the transfer of a socket that cannot be watched. A result of -1 would end the multi handle.
   With HTTP/2 other transfers may share the socket, so all transfers are ended. */
static int phi__http_starve(phi__http *http, CURL *easy) {
    char *owner = NULL;
    (void)curl_easy_getinfo(easy, CURLINFO_PRIVATE, &owner);
    for (phi__http_transfer *t = phi__http_curl_first(&http->active); t != NULL;
         t = phi__http_curl_next(t))
        if (http->http2 || (char *)t == owner) t->failed = PHI_NO_MEMORY;
    http->starved = true;
    phi__http_kick(http, 0);
    return 0;
}

static int phi__http_on_socket(CURL *easy, curl_socket_t fd, int what, void *user_data,
                               void *socket_data) {
    phi__http *http = (phi__http *)user_data;
    phi__http_socket *s = (phi__http_socket *)socket_data;
    int want = (what & CURL_POLL_IN) != 0 ? PHI__READ : 0;
    if ((what & CURL_POLL_OUT) != 0) want |= PHI__WRITE;
    if (what == CURL_POLL_REMOVE) {
        (void)curl_multi_assign(http->multi, fd, NULL);

        if (s != NULL) {
            (void)phi__io_watch(http->io, &s->watch, s->watch.fd, 0);
            phi__free(http->memory, s, sizeof *s);
        }
        return 0;
    }
    if (s == NULL) {
        s = (phi__http_socket *)phi__alloc(http->memory, sizeof *s);
        if (s == NULL) return phi__http_starve(http, easy);
        s->http = http;
        s->watch.ready = phi__http_on_ready;
        (void)curl_multi_assign(http->multi, fd, s);
    }
    if (phi__io_watch(http->io, &s->watch, (intptr_t)fd, want) != PHI_OK)
        return phi__http_starve(http, easy);
    return 0;
}

static int phi__http_on_timeout(CURLM *multi, long timeout_ms, void *user_data) {
    phi__http *http = (phi__http *)user_data;
    uint64_t at = UINT64_MAX;
    (void)multi;
    if (timeout_ms >= 0) at = phi__io_now_us(http->io) + (uint64_t)timeout_ms * 1000;
    (void)phi__io_timer_set(http->io, &http->curl_timer,
                            at); /* cannot fail: phi__http_configure has set the timer */
    return 0;
}

static void phi__http_on_timer(phi__timer *timer) {
    phi__http *http = PHI__OWNER(timer, phi__http, curl_timer);
    (void)phi__io_timer_set(http->io, timer, UINT64_MAX);
    phi__http_act(http, CURL_SOCKET_TIMEOUT, 0);
}

static void phi__http_due(phi__http *http) {
    uint64_t at = http->curl_timer.at_us;
    if (at == UINT64_MAX || at > phi__io_now_us(http->io)) return;
    phi__http_on_timer(&http->curl_timer);
}

/* ---- one request as an easy handle: options, and callbacks that only copy ---- */

/* Each callback first checks if the transfer was cancelled. If so, its request no longer exists,
   and curl must stop. */

/* The size of libcurl's read buffer, which is held while an answer streams. 8192 would save 8 KB,
   but cost a tenth more CPU if many deltas come at once (bench/bench_http.c). */
#define PHI__HTTP_BUFFER_BYTES 16384L
#define PHI__HTTP_UPLOAD_LEAST 16384u /* libcurl's own minimum */
#define PHI__HTTP_UPLOAD_MOST 131072u
#define PHI__HTTP_CONNECT_MS 86400000L /* practically never: the runtime has its own deadlines */
#define PHI__HTTP_KEEPALIVE_S 60L

static bool phi__http_dead(const phi__http_transfer *t) { return t->list == &t->http->dying; }

/* ---- callbacks ---- */

static void phi__http_connected(phi__http_transfer *t) {
    if (t->connected) return;
    t->connected = true;
    t->resolving = false;
    if (t->request != NULL) (void)t->http->port.stage(t->transfer, PHI_TRANSFER_CONNECTED);
}

static int phi__http_on_resolve(void *resolver, void *reserved, void *user_data) {
    phi__http_transfer *t = (phi__http_transfer *)user_data;
    (void)resolver;
    (void)reserved;
    t->resolving = true;
    return phi__http_dead(t) ? 1 : 0;
}

static curl_socket_t phi__http_on_open_socket(void *user_data, curlsocktype purpose,
                                              struct curl_sockaddr *address) {
    phi__http_transfer *t = (phi__http_transfer *)user_data;
    (void)purpose;
    t->resolving = false;
    if (phi__http_dead(t)) return CURL_SOCKET_BAD;
    t->fd = phi__http_open_socket(address->family, address->socktype, address->protocol,
                                  &t->no_descriptor);
    return t->fd;
}

#if LIBCURL_VERSION_NUM >= 0x075000
static int phi__http_on_request(void *user_data, char *remote_ip, char *local_ip, int remote_port,
                                int local_port) {
    phi__http_transfer *t = (phi__http_transfer *)user_data;
    (void)remote_ip;
    (void)local_ip;
    (void)remote_port;
    (void)local_port;
    if (!phi__http_dead(t)) phi__http_connected(t);
    return phi__http_dead(t) ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
}
#endif

static size_t phi__http_on_read(char *out, size_t size, size_t n, void *user_data) {
    phi__http_transfer *t = (phi__http_transfer *)user_data;
    if (!phi__http_dead(t)) phi__http_connected(t);
    if (phi__http_dead(t) || t->request == NULL) return CURL_READFUNC_ABORT;
    size_t got = phi_request_read(t->request, t->body_at, out, size * n);
    t->body_at += got;
    return got;
}

/* curl reads the body again from the start if a reused connection turns out to be dead. */
static int phi__http_on_seek(void *user_data, curl_off_t offset, int origin) {
    phi__http_transfer *t = (phi__http_transfer *)user_data;
    if (phi__http_dead(t)) return CURL_SEEKFUNC_FAIL;
    if (origin != SEEK_SET || offset < 0) return CURL_SEEKFUNC_CANTSEEK;
    t->body_at = (uint64_t)offset;
    return CURL_SEEKFUNC_OK;
}

/* Frees a joined body once it was sent completely and the answer began. */
static void phi__http_drop_body(phi__http_transfer *t) {
    curl_off_t sent = 0;
    if (t->body == NULL) return;
    if (curl_easy_getinfo(t->easy, CURLINFO_SIZE_UPLOAD_T, &sent) != CURLE_OK) return;
    if ((uint64_t)sent < (uint64_t)t->body_bytes) return;
    phi__free(t->http->memory, t->body, t->body_bytes);
    t->body = NULL;
}

/* Handles the end of a head. Reports the head, except that of an interim answer. */
static bool phi__http_head_end(phi__http_transfer *t) {
    if (t->http_status < 200) {
        phi__buf_clear(&t->head);
        return true;
    }
    if (t->head.failed) {
        t->failed = PHI_NO_MEMORY;
        return false;
    }
    t->head_told = true;
    phi__http_drop_body(t);
    if (t->request != NULL) {
        phi_status status =
            t->http->port.head(t->transfer, t->http_status, t->head.at, t->head.len);
        if (phi__http_dead(t)) return false;
        if (status != PHI_OK) t->failed = status;
    }
    phi__buf_free(&t->head);
    return t->failed == PHI_OK;
}

static void phi__http_status_line(phi__http_transfer *t, phi_str line) {
    size_t at = phi__str_find(line, 0, " ");
    uint64_t status = 0;
    phi__buf_clear(&t->head);
    t->http_status = 0;
    t->http2 = phi__str_starts(line, "HTTP/2");
    if (at != SIZE_MAX && line.len >= at + 4 &&
        phi__str_to_u64(phi__str(line.at + at + 1, 3), &status))
        t->http_status = (int)status;
}

static bool phi__http_stop(phi__http_transfer *t, phi_status status, phi__http_reason reason) {
    t->failed = status;
    t->reason = reason;
    return false;
}

static bool phi__http_codings_fit(phi_str value) {
    size_t at = 0;
    while (at <= value.len) {
        size_t end = phi__str_find(value, at, ",");
        if (end == SIZE_MAX) end = value.len;
        phi_str coding = phi__str_trim(phi__str(value.at + at, end - at));
        if (coding.len > 0 && !phi__str_is_nocase(coding, "chunked") &&
            !phi__str_is_nocase(coding, "identity"))
            return false;
        at = end + 1;
    }
    return true;
}

/* False if the header line names a transfer coding other than chunked. libcurl decodes every coding
   it knows, even nested codings that nobody asked for, so 229 KB can become 46 GB. libcurl has seen
   the line by now, but decodes nothing before the head's end. Interim answers are checked too,
   because libcurl applies their codings to the final answer. */
static bool phi__http_may_decode(phi__http_transfer *t, phi_str line) {
    if (line.at[0] != ' ' && line.at[0] != '\t') { /* such a line would continue the one before */
        size_t colon = phi__str_find(line, 0, ":");
        if (colon == SIZE_MAX) colon = line.len;
        t->in_coding =
            phi__str_is_nocase(phi__str_trim(phi__str(line.at, colon)), "transfer-encoding");
        if (colon < line.len) colon++;
        line = phi__str(line.at + colon, line.len - colon);
    }
    if (!t->in_coding || phi__http_codings_fit(line)) return true;
    return phi__http_stop(t, PHI_UNSUPPORTED, PHI__HTTP_REASON_CODING);
}

/* Counts the bytes of all header lines, including those of interim answers and trailers. libcurl
   keeps each line, and some versions have no limit. */
static bool phi__http_count_head(phi__http_transfer *t, size_t len) {
    if (len > PHI__HTTP_HEADERS_MOST - t->head_bytes)
        return phi__http_stop(t, PHI_TOO_BIG, PHI__HTTP_REASON_HEADERS);
    t->head_bytes += len;
    return true;
}

static size_t phi__http_on_header(char *at, size_t size, size_t n, void *user_data) {
    phi__http_transfer *t = (phi__http_transfer *)user_data;
    size_t len = size * n;
    phi_str line = phi__str(at, len);
    if (!phi__http_dead(t)) phi__http_connected(t);
    if (phi__http_dead(t) || !phi__http_count_head(t, len)) return 0;
    if (t->head_told) return len; /* trailers of a chunked body */
    while (line.len > 0 && (line.at[line.len - 1] == '\n' || line.at[line.len - 1] == '\r'))
        line.len--;
    if (line.len == 0) return phi__http_head_end(t) ? len : 0;
    if (!phi__http_may_decode(t, line)) return 0;
    if (phi__str_starts(line, "HTTP/")) {
        phi__http_status_line(t, line);
    } else if (line.len + 2 <= PHI__HTTP_HEAD_BYTES - t->head.len) {
        phi__buf_add_str(&t->head, line);
        phi__buf_add(&t->head, "\r\n", 2);
    }
    return len;
}

static size_t phi__http_overflow(phi__http_transfer *t, const char *at, size_t len) {
    if (t->overflow_at > 0) {
        phi__buf_drop(&t->overflow, t->overflow_at);
        t->overflow_at = 0;
    }
    if (len > PHI__HTTP_OVERFLOW_BYTES - t->overflow.len)
        (void)phi__http_stop(t, PHI_TOO_BIG, PHI__HTTP_REASON_OVERFLOW);
    else
        phi__buf_add(&t->overflow, at, len);
    if (t->overflow.failed) t->failed = PHI_NO_MEMORY;
    return t->failed == PHI_OK ? len : 0;
}

static size_t phi__http_on_body(char *at, size_t size, size_t n, void *user_data) {
    phi__http_transfer *t = (phi__http_transfer *)user_data;
    size_t len = size * n;
    if (phi__http_dead(t)) return 0;
    if (t->request == NULL) {
        t->released_bytes += len;
        return t->released_bytes > PHI__HTTP_LINGER_BYTES ? 0 : len;
    }
    if (t->overflow.len > t->overflow_at) return phi__http_overflow(t, at, len);
    phi_status status = t->http->port.push(t->transfer, at, len);
    if (phi__http_dead(t)) return 0;
    if (status == PHI_OK) return len;
    if (status == PHI_FULL) {
        /* Do not pause HTTP/2: curl would buffer the paused stream without limit. */
        if (t->http2) return phi__http_overflow(t, at, len);
        t->paused = true;
        return CURL_WRITEFUNC_PAUSE;
    }
    t->failed = status;
    return 0;
}

/* ---- options ---- */

static bool phi__http_set_connection(phi__http_transfer *t) {
    const phi__http *http = t->http;
    CURL *e = t->easy;
    int bad = 0;
    bad |= curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L) != CURLE_OK;
#if LIBCURL_VERSION_NUM >= 0x075700
    if (http->quick_exit) bad |= curl_easy_setopt(e, CURLOPT_QUICK_EXIT, 1L) != CURLE_OK;
#endif
    bad |= curl_easy_setopt(e, CURLOPT_CONNECTTIMEOUT_MS, PHI__HTTP_CONNECT_MS) != CURLE_OK;
    bad |= curl_easy_setopt(e, CURLOPT_TCP_KEEPALIVE, 1L) != CURLE_OK;
    bad |= curl_easy_setopt(e, CURLOPT_TCP_KEEPIDLE, PHI__HTTP_KEEPALIVE_S) != CURLE_OK;
    bad |= curl_easy_setopt(e, CURLOPT_TCP_KEEPINTVL, PHI__HTTP_KEEPALIVE_S) != CURLE_OK;
    bad |= curl_easy_setopt(e, CURLOPT_BUFFERSIZE, PHI__HTTP_BUFFER_BYTES) != CURLE_OK;
    bad |= curl_easy_setopt(e, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L) != CURLE_OK;
    if (http->http2) {
        bad |= curl_easy_setopt(e, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS) != CURLE_OK;
        bad |= curl_easy_setopt(e, CURLOPT_PIPEWAIT, 1L) != CURLE_OK;
    } else {
        bad |= curl_easy_setopt(e, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1) != CURLE_OK;
    }
    if (http->proxy != NULL) {
        bad |= curl_easy_setopt(e, CURLOPT_PROXY, http->proxy) != CURLE_OK;
    } else if (!http->use_environment) {
        bad |= curl_easy_setopt(e, CURLOPT_PROXY, "") != CURLE_OK;
    }
    if (!http->use_environment) bad |= curl_easy_setopt(e, CURLOPT_NOPROXY, "") != CURLE_OK;
    if (http->resolve != NULL)
        bad |= curl_easy_setopt(e, CURLOPT_RESOLVE, http->resolve) != CURLE_OK;
    return bad == 0;
}

/* curl keeps a loaded CA store only if no CA directory is set. */
static bool phi__http_set_tls(phi__http_transfer *t) {
    const phi__http *http = t->http;
    CURL *e = t->easy;
    int bad = 0;
    bad |= curl_easy_setopt(e, CURLOPT_SSL_VERIFYPEER, 1L) != CURLE_OK;
    bad |= curl_easy_setopt(e, CURLOPT_SSL_VERIFYHOST, 2L) != CURLE_OK;
    if (http->ca_file != NULL)
        bad |= curl_easy_setopt(e, CURLOPT_CAINFO, http->ca_file) != CURLE_OK;
    if (http->ca_file != NULL || http->drop_ca_path) {
        CURLcode code = curl_easy_setopt(e, CURLOPT_CAPATH, (char *)NULL);
        bad |= code != CURLE_OK && code != CURLE_NOT_BUILT_IN; /* Schannel has no directories */
    }
    return bad == 0;
}

static bool phi__http_add_header(phi__http_transfer *t, const char *line) {
    struct curl_slist *list = curl_slist_append(t->headers, line);
    if (list == NULL) return false;
    t->headers = list;
    return true;
}

/* Sets the request's headers, and removes two that libcurl would add. The Expect header costs a
   second, and the Content-Type would be that of a form. */
static bool phi__http_set_headers(phi__http_transfer *t) {
    const phi_request *rq = t->request;
    bool typed = false, ok = true;
    phi__buf line;
    phi__buf_init(&line, t->http->memory);
    for (size_t i = 0; rq != NULL && i < rq->header_count && ok; i++) {
        const phi__header *h = &rq->headers[i];
        phi__buf_clear(&line);
        phi__buf_add_str(&line, h->name);
        phi__buf_text(&line, h->value.len > 0 ? ": " : ";");
        phi__buf_add_str(&line, h->value);
        phi__buf_char(&line, '\0');
        ok = !line.failed && phi__http_add_header(t, line.at);
        if (phi__str_is_nocase(h->name, "content-type")) typed = true;
    }
    if (line.at != NULL) memset(line.at, 0, line.cap); /* the buffer may have held a key */
    phi__buf_free(&line);
    if (ok) ok = phi__http_add_header(t, "Expect:");
    if (ok && !typed) ok = phi__http_add_header(t, "Content-Type:");
    return ok && curl_easy_setopt(t->easy, CURLOPT_HTTPHEADER, t->headers) == CURLE_OK;
}

/* Returns the size of libcurl's upload buffer, which is held while the answer streams. Each call
   sends one buffer. A buffer of a twentieth of the body means few calls and little extra memory. */
static long phi__http_upload_bytes(uint64_t body) {
    uint64_t part = body / 20;
    if (part < PHI__HTTP_UPLOAD_LEAST) part = PHI__HTTP_UPLOAD_LEAST;
    return (long)(part > PHI__HTTP_UPLOAD_MOST ? PHI__HTTP_UPLOAD_MOST : part);
}

static bool phi__http_set_body(phi__http_transfer *t) {
    const phi_request *rq = t->request;
    CURL *e = t->easy;
    int bad = curl_easy_setopt(e, CURLOPT_POST, 1L) != CURLE_OK;
    bad |= curl_easy_setopt(e, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)rq->length) != CURLE_OK;
    if (rq->length == 0) {
        bad |= curl_easy_setopt(e, CURLOPT_POSTFIELDS, "") != CURLE_OK;
    } else if (rq->length <= PHI__HTTP_JOIN_BYTES) {
        t->body_bytes = (size_t)rq->length;
        t->body = (char *)phi__realloc(t->http->memory, NULL, 0, t->body_bytes);
        if (t->body == NULL) return false;
        (void)phi_request_read(rq, 0, t->body, t->body_bytes);
        bad |= curl_easy_setopt(e, CURLOPT_POSTFIELDS, t->body) != CURLE_OK;
    } else {
        bad |= curl_easy_setopt(e, CURLOPT_READFUNCTION, phi__http_on_read) != CURLE_OK;
        bad |= curl_easy_setopt(e, CURLOPT_READDATA, t) != CURLE_OK;
        bad |= curl_easy_setopt(e, CURLOPT_SEEKFUNCTION, phi__http_on_seek) != CURLE_OK;
        bad |= curl_easy_setopt(e, CURLOPT_SEEKDATA, t) != CURLE_OK;
        bad |= curl_easy_setopt(e, CURLOPT_UPLOAD_BUFFERSIZE, phi__http_upload_bytes(rq->length)) !=
               CURLE_OK;
    }
    return bad == 0;
}

static bool phi__http_set_request(phi__http_transfer *t) {
    const phi_request *rq = t->request;
    CURL *e = t->easy;
    int bad = 0;
    if (rq == NULL)
        return curl_easy_setopt(e, CURLOPT_URL, t->url) == CURLE_OK &&
               curl_easy_setopt(e, CURLOPT_NOBODY, 1L) == CURLE_OK;
    bad |= curl_easy_setopt(e, CURLOPT_URL, rq->url.at) != CURLE_OK;
    if (phi__str_is(rq->method, "GET"))
        bad |= curl_easy_setopt(e, CURLOPT_HTTPGET, 1L) != CURLE_OK;
    else if (phi__str_is(rq->method, "HEAD"))
        bad |= curl_easy_setopt(e, CURLOPT_NOBODY, 1L) != CURLE_OK;
    else
        bad |= !phi__http_set_body(t);
    if (!phi__str_is(rq->method, "GET") && !phi__str_is(rq->method, "HEAD") &&
        !phi__str_is(rq->method, "POST"))
        bad |= curl_easy_setopt(e, CURLOPT_CUSTOMREQUEST, rq->method.at) != CURLE_OK;
    return bad == 0;
}

/* ---- starting and freeing a transfer ---- */

/* Adds a new transfer to the active list. NULL: no memory. */
static phi__http_transfer *phi__http_transfer_new(phi__http *http) {
    phi__http_transfer *t = (phi__http_transfer *)phi__alloc(http->memory, sizeof *t);
    if (t == NULL) return NULL;
    t->http = http;
    t->fd = CURL_SOCKET_BAD;
    phi__http_move(t, &http->active);
    return t;
}

static phi_status phi__http_begin(phi__http_transfer *t, const char **words) {
    phi__buf_init(&t->head, t->http->memory);
    phi__buf_init(&t->overflow, t->http->memory);
    *words = "no memory for a transfer";
    t->easy = curl_easy_init();
    if (t->easy == NULL) return PHI_NO_MEMORY;
    CURL *e = t->easy;
    int bad = 0;
    bad |= curl_easy_setopt(e, CURLOPT_PRIVATE, (char *)t) != CURLE_OK;
    bad |= curl_easy_setopt(e, CURLOPT_ERRORBUFFER, t->error) != CURLE_OK;
    bad |= curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, phi__http_on_body) != CURLE_OK;
    bad |= curl_easy_setopt(e, CURLOPT_WRITEDATA, t) != CURLE_OK;
    bad |= curl_easy_setopt(e, CURLOPT_HEADERFUNCTION, phi__http_on_header) != CURLE_OK;
    bad |= curl_easy_setopt(e, CURLOPT_HEADERDATA, t) != CURLE_OK;
    bad |= curl_easy_setopt(e, CURLOPT_OPENSOCKETFUNCTION, phi__http_on_open_socket) != CURLE_OK;
    bad |= curl_easy_setopt(e, CURLOPT_OPENSOCKETDATA, t) != CURLE_OK;
    bad |= curl_easy_setopt(e, CURLOPT_RESOLVER_START_FUNCTION, phi__http_on_resolve) != CURLE_OK;
    bad |= curl_easy_setopt(e, CURLOPT_RESOLVER_START_DATA, t) != CURLE_OK;
#if LIBCURL_VERSION_NUM >= 0x075000
    if (t->http->prereq) {
        bad |= curl_easy_setopt(e, CURLOPT_PREREQFUNCTION, phi__http_on_request) != CURLE_OK;
        bad |= curl_easy_setopt(e, CURLOPT_PREREQDATA, t) != CURLE_OK;
    }
#endif
    if (bad != 0 || !phi__http_set_connection(t) || !phi__http_set_tls(t) ||
        !phi__http_set_headers(t) || !phi__http_set_request(t))
        return PHI_NO_MEMORY; /* libcurl knows all options, so memory ran out */
    phi__http_enter(t->http);
    CURLMcode added = curl_multi_add_handle(t->http->multi, t->easy);
    phi__http_leave(t->http);
    if (added != CURLM_OK) return PHI_NO_MEMORY;
    t->added = true;
    t->http->live++;
    return PHI_OK;
}

PHI__FN void phi__http_move(phi__http_transfer *t, phi__http_list *list) {
    phi__http_list *from = t->list;
    if (from != NULL) {
        phi__list_take(&from->all, &t->link);
        from->count--;
    }
    t->list = list;
    if (list == NULL) return;
    phi__list_push(&list->all, &t->link);
    list->count++;
}

/* Removes a transfer from the multi handle and frees it. Call this only outside of curl's
   callbacks. */
static void phi__http_transfer_free(phi__http_transfer *t) {
    phi__http *http = t->http;
    phi__http_move(t, &http->dying); /* from now on no callback touches the request */
    phi__http_enter(http);
    if (t->added) (void)curl_multi_remove_handle(http->multi, t->easy);
    curl_easy_cleanup(t->easy);
    phi__http_leave(http);
    if (t->added && !t->finished) http->live--;
    phi__http_move(t, NULL);
    curl_slist_free_all(t->headers);
    phi__free(http->memory, t->body, t->body_bytes);
    phi__free(http->memory, t->url, t->url_bytes);
    phi__buf_free(&t->head);
    phi__buf_free(&t->overflow);
    phi__free(http->memory, t, sizeof *t);
}

/* Pushes overflowed bytes. The pieces are as small as those of a write callback, so the receiver
   takes them. */
static void phi__http_drain(phi__http_transfer *t) {
    phi_status status = PHI_OK;
    phi__http_enter(t->http); /* if a push calls resume, the pump handles it later */
    while (t->overflow.len > t->overflow_at && status == PHI_OK && !phi__http_dead(t)) {
        size_t n = phi__min(t->overflow.len - t->overflow_at, PHI__HTTP_BUFFER_BYTES);
        status = t->http->port.push(t->transfer, t->overflow.at + t->overflow_at, n);
        if (status == PHI_OK) t->overflow_at += n;
    }
    phi__http_leave(t->http);
    if (phi__http_dead(t)) return;
    if (status != PHI_OK && status != PHI_FULL) t->failed = status;
    if (t->overflow.len == t->overflow_at) {
        phi__buf_free(&t->overflow);
        t->overflow_at = 0;
    }
    if (t->finished || t->failed != PHI_OK) phi__http_kick(t->http, 0);
}

/* Call this only outside of curl's callbacks. */
static void phi__http_transfer_resume(phi__http_transfer *t) {
    t->resume_wanted = false;
    phi__http_drain(t);
    if (!t->paused || phi__http_dead(t)) return;
    t->paused = false;
    phi__http_enter(t->http);
    CURLcode result =
        curl_easy_pause(t->easy, CURLPAUSE_CONT); /* pushes the bytes that curl held back */
    phi__http_leave(t->http);
    if (result == CURLE_OK || phi__http_dead(t)) return;
    if (t->failed == PHI_OK)
        t->failed = result == CURLE_OUT_OF_MEMORY ? PHI_NO_MEMORY : PHI_NETWORK;
    /* curl does not report the end of this transfer, so the pump looks for it */
    t->http->starved = true;
    phi__http_kick(t->http, 0);
}

/* ---- loading the certificate store ahead of the first request ---- */

/* libcurl loads the store in the first TLS handshake, which takes 20 ms or more at once, and keeps
   it in the multi handle. So phi opens a loopback port that never answers, and starts a handshake
   with it. libcurl loads the store before it sends the first bytes; then the transfer is
   dropped. */

#define PHI__HTTP_WARM_TURNS 8 /* calls of curl's state machine; libcurl 7.88 needs three */

/* True once curl has connected and sent its first bytes. */
static bool phi__http_say_hello(phi__http *http, phi__http_transfer *t, curl_socket_t listener) {
    curl_socket_t peer = CURL_SOCKET_BAD;
    bool heard = false;
    for (int turn = 0; turn < PHI__HTTP_WARM_TURNS && !heard; turn++) {
        if (t->fd == CURL_SOCKET_BAD)
            phi__http_act(http, CURL_SOCKET_TIMEOUT, 0);
        else
            phi__http_act(http, t->fd, CURL_CSELECT_OUT);
        heard = phi__http_heard(listener, &peer);
    }
    phi__http_close(peer);
    return heard;
}

static void phi__http_load_ca(phi__http *http) {
    char url[48];
    const char *words;
    int port = 0;
    if (!http->ca_cache || http->ca_loaded) return;
    curl_socket_t listener = phi__http_listen(&port);
    /* the store is loaded by the first handshake instead */
    if (listener == CURL_SOCKET_BAD) return;
    (void)snprintf(url, sizeof url, "https://127.0.0.1:%d/", port);
    phi__http_transfer *t = phi__http_transfer_new(http);
    if (t != NULL) {
        t->url = (char *)phi__alloc(http->memory, sizeof url);
        if (t->url != NULL) {
            t->url_bytes = sizeof url;
            memcpy(t->url, url, sizeof url);
            if (phi__http_begin(t, &words) == PHI_OK &&
                curl_easy_setopt(t->easy, CURLOPT_NOPROXY, "*") == CURLE_OK)
                http->ca_loaded = phi__http_say_hello(http, t, listener);
        }
        phi__http_transfer_free(t);
    }
    phi__http_close(listener);
}

/* ---- the transport over libcurl, pumped by phi__io ---- */

#define PHI__HTTP_CURL_FLOOR 0x074400u /* libcurl 7.68 */
#define PHI__HTTP_CONNECTIONS 64       /* the default */
/* how many transfers one pump ends, and how many it removes, at most */
#define PHI__HTTP_ENDS 16
#define PHI__HTTP_HOLD_US 50000 /* time until the next check for free descriptors */
#define PHI__HTTP_SPARE_DESCRIPTORS                                                                \
    6 /* a start may need this many: two sockets and those of a lookup */
#define PHI__HTTP_LINGER_US 1000000 /* time that a released body may take to end */
#define PHI__HTTP_REUSE_US 50000    /* time that a start waits for a connection to be reused */
#define PHI__HTTP_PLACE_US 200000   /* the time to end if a queued request needs the connection */

/* ---- the table and its queue ---- */

static phi__http_slot *phi__http_slot_of(phi__http *http, phi_transfer transfer) {
    if (transfer.index >= http->slot_count) return NULL;
    phi__http_slot *slot = &http->slots[transfer.index];
    return slot->state != PHI__HTTP_FREE && slot->transfer.gen == transfer.gen ? slot : NULL;
}

static bool phi__http_reach(phi__http *http, uint32_t index) {
    size_t cap = http->slot_count;
    if (index < cap) return true;
    if (index >= UINT32_MAX - 1) return false;
    phi__http_slot *slots = (phi__http_slot *)phi__grow(http->memory, http->slots, &cap,
                                                        (size_t)index + 1, sizeof *slots);
    if (slots == NULL) return false;
    memset(slots + http->slot_count, 0, (cap - http->slot_count) * sizeof *slots);
    http->slots = slots;
    http->slot_count = cap;
    return true;
}

static void phi__http_enqueue(phi__http *http, uint32_t index, bool first) {
    phi__http_slot *slot = &http->slots[index];
    uint32_t at = index + 1;
    slot->state = PHI__HTTP_QUEUED;
    slot->running = NULL;
    slot->queued_us = phi__io_now_us(http->io);
    slot->next = first ? http->queue_first : 0;
    slot->prev = first ? 0 : http->queue_last;
    if (slot->next != 0) http->slots[slot->next - 1].prev = at;
    if (slot->prev != 0) http->slots[slot->prev - 1].next = at;
    if (slot->next == 0) http->queue_last = at;
    if (slot->prev == 0) http->queue_first = at;
    http->queue_count++;
}

static void phi__http_dequeue(phi__http *http, phi__http_slot *slot) {
    if (slot->prev != 0)
        http->slots[slot->prev - 1].next = slot->next;
    else
        http->queue_first = slot->next;
    if (slot->next != 0)
        http->slots[slot->next - 1].prev = slot->prev;
    else
        http->queue_last = slot->prev;
    slot->next = slot->prev = 0;
    http->queue_count--;
}

static void phi__http_slot_clear(phi__http_slot *slot) {
    slot->state = PHI__HTTP_FREE;
    slot->running = NULL;
    slot->request = NULL;
}

static size_t phi__http_busy(const phi__http *http) {
    return http->active.count + http->done.count + http->dying.count;
}

/* ---- starting ---- */

static bool phi__http_starts_nocase(phi_str s, phi_str with) {
    if (s.len < with.len) return false;
    for (size_t i = 0; i < with.len; i++)
        if (s.at[i] != with.at[i] && ((s.at[i] ^ with.at[i]) != 32 || (s.at[i] | 32) < 'a'))
            return false;
    return true;
}

/* True if a resolve entry "HOST:PORT:ADDRESS" matches the URL. A leading + or - is ignored. */
static bool phi__http_pinned(const phi__http *http, phi_str url) {
    phi__url parts;
    (void)phi__url_split(url, &parts);
    phi_str host = parts.host, port = parts.port;
    for (const struct curl_slist *entry = http->resolve; entry != NULL; entry = entry->next) {
        phi_str s = phi_str_of(entry->data);
        if (s.len > 0 && (s.at[0] == '+' || s.at[0] == '-')) s = phi__str(s.at + 1, s.len - 1);
        if (!phi__http_starts_nocase(s, host)) continue;
        s = phi__str(s.at + host.len, s.len - host.len);
        if (s.len > port.len + 2 && s.at[0] == ':' && s.at[port.len + 1] == ':' &&
            memcmp(s.at + 1, port.at, port.len) == 0)
            return true;
    }
    return false;
}

/* True if a lookup of the host would stop the pump, because libcurl does lookups on this thread. */
static bool phi__http_would_block(const phi__http *http, phi_str url) {
    return !http->async_dns && http->proxy == NULL && !phi__http_is_address(phi__http_host(url)) &&
           !phi__http_pinned(http, url);
}

static void phi__http_start(phi__http *http, phi__http_slot *slot) {
    phi__http_transfer *t = phi__http_transfer_new(http);
    const char *words = "no memory for a transfer";
    phi_status status = PHI_NO_MEMORY;
    phi_transfer transfer = slot->transfer;
    phi__http_dequeue(http, slot);
    if (phi__http_would_block(http, slot->request->url)) {
        status = PHI_UNSUPPORTED;
        words = "this libcurl looks names up without AsynchDNS, which would stop the pump: give an "
                "address, or pin the name with resolve";
    } else if (t != NULL) {
        t->transfer = transfer;
        t->request = slot->request;
        status = phi__http_begin(t, &words);
    }
    if (status == PHI_OK) {
        slot->state = PHI__HTTP_STARTED;
        slot->running = t;
        (void)http->port.stage(transfer, PHI_TRANSFER_STARTED);
    } else {
        if (t != NULL) phi__http_transfer_free(t);
        phi__http_slot_clear(slot);
        (void)http->port.end(transfer, status, words);
    }
}

/* True if descriptors for one more connection are free, or if no transfer is busy and could free
   some. Otherwise the pump retries later. The check costs a dozen system calls. */
static bool phi__http_has_descriptors(phi__http *http) {
    if (phi__http_busy(http) == 0) return true;
    uint64_t now = phi__io_now_us(http->io);
    if (now >= http->hold_until_us) {
        if (phi__http_descriptors_left(phi__io_any_fd(http->io), PHI__HTTP_SPARE_DESCRIPTORS))
            return true;
        http->hold_until_us = now + PHI__HTTP_HOLD_US;
        phi__http_transfer *t = phi__http_curl_first(&http->lingering);
        if (t != NULL) phi__http_move(t, &http->dying);
    }
    phi__http_kick(http, http->hold_until_us);
    return false;
}

/* True if the connection that the next request can reuse will soon be free. The body on it was read
   to its last event, and a server ends such a body either at once or only after a long time. */
static bool phi__http_awaits_end(phi__http *http) {
    const phi__http_slot *slot = &http->slots[http->queue_first - 1];
    const phi__http_transfer *t = phi__http_curl_of(http->lingering.all.last);
    uint64_t now = phi__io_now_us(http->io);
    if (t == NULL || t->http2) return false; /* an HTTP/2 connection has room for both */
    uint64_t first = slot->queued_us < t->released_us ? slot->queued_us : t->released_us;
    uint64_t until = first + PHI__HTTP_REUSE_US;
    if (now >= until) return false;
    char *at = NULL;
    if (curl_easy_getinfo(t->easy, CURLINFO_EFFECTIVE_URL, &at) != CURLE_OK || at == NULL)
        return false;
    phi__url its, next;
    (void)phi__url_split(phi_str_of(at), &its);
    (void)phi__url_split(slot->request->url, &next);
    if (!phi_str_equal(its.host, next.host) || !phi_str_equal(its.port, next.port)) return false;
    phi__http_kick(http, until);
    return true;
}

/* True if the next request may start now. If not, the pump will be called again. */
static bool phi__http_may_start(phi__http *http) {
    if (http->queue_first == 0) return false;
    if (phi__http_busy(http) + http->lingering.count >= http->max_connections) return false;
    if (phi__http_awaits_end(http)) return false;
    if (phi__io_start_left(http->io)) {
        if (!phi__http_has_descriptors(http)) return false;
        if (phi__io_may_start(http->io)) return true;
    }
    phi__http_kick(http, 0);
    return false;
}

/* ---- ending ---- */

static void phi__http_read_messages(phi__http *http) {
    CURLMsg *message;
    int left;
    while ((message = curl_multi_info_read(http->multi, &left)) != NULL) {
        char *owner = NULL;
        if (message->msg != CURLMSG_DONE) continue;
        (void)curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &owner);
        phi__http_transfer *t = (phi__http_transfer *)(void *)owner;
        t->finished = true;
        t->result = message->data.result;
        http->live--;
        if (t->list == &http->active || t->list == &http->lingering) phi__http_move(t, &http->done);
    }
}

/* Without the callback before a request, looks for transfers whose request has left. Searches from
   the front after each call, because the receiver's stage function may cancel any transfer. */
static void phi__http_find_connected(phi__http *http) {
    phi__http_transfer *t = http->prereq ? NULL : phi__http_curl_first(&http->active);
    while (t != NULL) {
        curl_off_t left_us = 0;
        bool found =
            !t->connected && t->request != NULL &&
            curl_easy_getinfo(t->easy, CURLINFO_PRETRANSFER_TIME_T, &left_us) == CURLE_OK &&
            left_us > 0;
        if (found) phi__http_connected(t);
        t = found ? phi__http_curl_first(&http->active) : phi__http_curl_next(t);
    }
}

/* Ends the transfers that failed outside of a callback, since only a callback can stop curl. */
static void phi__http_read_failed(phi__http *http) {
    phi__http_transfer *next;
    if (!http->starved) return;
    http->starved = false;
    for (phi__http_transfer *t = phi__http_curl_first(&http->active); t != NULL; t = next) {
        next = phi__http_curl_next(t);
        if (t->failed != PHI_OK) phi__http_move(t, &http->done);
    }
}

/* True if a transfer failed because no descriptor was free, perhaps one for the lookup of a
   name. */
static bool phi__http_wants_descriptor(phi__http *http, const phi__http_transfer *t) {
    if (t->failed != PHI_OK || t->connected || t->request == NULL) return false;
    if (t->result == CURLE_COULDNT_CONNECT) return t->no_descriptor;
    if (t->result != CURLE_COULDNT_RESOLVE_HOST && t->result != CURLE_OUT_OF_MEMORY) return false;
    return !phi__http_descriptors_left(phi__io_any_fd(http->io), 1);
}

static void phi__http_end(phi__http *http, phi__http_transfer *t) {
    char words[PHI__HTTP_WORDS_BYTES];
    phi_transfer transfer = t->transfer;
    phi__http_slot *slot = t->request != NULL ? phi__http_slot_of(http, transfer) : NULL;
    phi_status status = phi__http_words(t, words, sizeof words);
    bool again = phi__http_busy(http) > 1 && phi__http_wants_descriptor(http, t);
    phi__http_transfer_free(t);
    if (slot == NULL) return;
    if (again) {
        phi__http_enqueue(http, transfer.index, true);
        http->hold_until_us = phi__io_now_us(http->io) + PHI__HTTP_HOLD_US;
        return;
    }
    phi__http_slot_clear(slot);
    (void)http->port.end(transfer, status, words[0] != '\0' ? words : NULL);
}

/* Returns the first finished transfer whose bytes were all taken, or NULL. */
static phi__http_transfer *phi__http_next_end(phi__http *http) {
    phi__http_transfer *t = phi__http_curl_first(&http->done);
    while (t != NULL && t->failed == PHI_OK && t->overflow.len > t->overflow_at)
        t = phi__http_curl_next(t);
    return t;
}

/* Returns the next transfer to remove. Without QUICK_EXIT, transfers that look up a name are
   skipped, because a removal would wait for the lookup. */
static phi__http_transfer *phi__http_next_removal(phi__http *http) {
    phi__http_transfer *t = phi__http_curl_first(&http->dying);
    while (t != NULL && t->resolving && !t->finished && !http->quick_exit)
        t = phi__http_curl_next(t);
    return t;
}

static void phi__http_destroy(phi__http *http, phi__http_slot *slot) {
    phi__http_transfer *t = slot->running;
    if (slot->state == PHI__HTTP_QUEUED) phi__http_dequeue(http, slot);
    phi__http_slot_clear(slot);
    if (t == NULL) return;
    phi__http_move(t, &http->dying);
    t->request = NULL;
    phi__http_kick(http, 0);
}

/* Lets curl read the rest of a body by itself. Bytes that the receiver did not take are lost. */
static void phi__http_linger(phi__http *http, phi__http_slot *slot) {
    phi__http_transfer *t = slot->running;
    if (t == NULL || t->paused || !t->head_told) {
        phi__http_destroy(http, slot);
        return;
    }
    phi__http_slot_clear(slot);
    t->request = NULL;
    t->resume_wanted = false;
    phi__buf_free(&t->overflow);
    t->overflow_at = 0;
    t->released_us = phi__io_now_us(http->io);
    if (t->list == &http->active) phi__http_move(t, &http->lingering);
    phi__http_kick(http, t->list == &http->done ? 0 : t->released_us + PHI__HTTP_LINGER_US);
}

/* Ends lingering transfers whose time is up. The time is shorter if queued requests need the
   place. */
static void phi__http_cut_lingering(phi__http *http) {
    uint64_t now = phi__io_now_us(http->io), patience = PHI__HTTP_LINGER_US;
    phi__http_transfer *t;
    if (http->queue_first != 0 &&
        phi__http_busy(http) + http->lingering.count >= http->max_connections)
        patience = PHI__HTTP_PLACE_US;
    while ((t = phi__http_curl_first(&http->lingering)) != NULL && now >= t->released_us + patience)
        phi__http_move(t, &http->dying);
    if (t != NULL) phi__http_kick(http, t->released_us + patience);
}

/* ---- the pump ---- */

/* Returns the next transfer to resume. Each call searches from the front, because a push may have
   cancelled any transfer. */
static phi__http_transfer *phi__http_next_resume(phi__http *http) {
    if (!http->resumes_wanted) return NULL;
    for (phi__http_transfer *t = phi__http_curl_first(&http->active); t != NULL;
         t = phi__http_curl_next(t))
        if (t->resume_wanted) return t;
    for (phi__http_transfer *t = phi__http_curl_first(&http->done); t != NULL;
         t = phi__http_curl_next(t))
        if (t->resume_wanted) return t;
    http->resumes_wanted = false;
    return NULL;
}

static void phi__http_pump(void *user_data) {
    phi__http *http = (phi__http *)user_data;
    phi__http_transfer *t;
    bool started = false;
    if (http->pumping || http->inside > 0) return;
    http->pumping = true;
    (void)phi__io_timer_set(http->io, &http->kick,
                            UINT64_MAX); /* cannot fail: phi__http_configure has set the timer */
    for (int n = 0; n < PHI__HTTP_ENDS && (t = phi__http_next_resume(http)) != NULL; n++)
        phi__http_transfer_resume(t);
    phi__http_find_connected(http); /* before a transfer that has finished leaves the list */
    phi__http_read_messages(http);
    phi__http_read_failed(http);
    phi__http_cut_lingering(http);
    for (int n = 0; n < PHI__HTTP_ENDS && (t = phi__http_next_removal(http)) != NULL; n++)
        phi__http_transfer_free(t);
    for (int n = 0; n < PHI__HTTP_ENDS && (t = phi__http_next_end(http)) != NULL; n++)
        phi__http_end(http, t);
    while (phi__http_may_start(http)) {
        phi__http_start(http, &http->slots[http->queue_first - 1]);
        started = true;
    }
    if (started) phi__http_due(http); /* so that the request leaves in this step, not in the next */
    if (http->resumes_wanted || phi__http_next_removal(http) != NULL ||
        phi__http_next_end(http) != NULL)
        phi__http_kick(http, 0);
    http->pumping = false;
}

static void phi__http_on_kick(phi__timer *timer) {
    phi__http *http = PHI__OWNER(timer, phi__http, kick);
    (void)phi__io_timer_set(http->io, timer, UINT64_MAX);
    phi__http_pump(http);
}

/* ---- the transport ---- */

static bool phi__http_clean(phi_str s) {
    for (size_t i = 0; i < s.len; i++)
        if (s.at[i] == '\r' || s.at[i] == '\n' || s.at[i] == '\0') return false;
    return true;
}

static bool phi__http_good_url(phi_str url) {
    phi__url parts;
    return phi__url_split(url, &parts) && parts.web && parts.host.len > 0 && phi__http_clean(url);
}

static phi_status phi__http_open(void *user_data, phi_transfer transfer,
                                 const phi_request *request) {
    phi__http *http = (phi__http *)user_data;
    if (request == NULL || !phi__http_good_url(request->url)) return PHI_BAD_ARG;
    if (request->method.len == 0 || !phi__http_clean(request->method)) return PHI_BAD_ARG;
    for (size_t i = 0; i < request->header_count; i++)
        if (request->headers[i].name.len == 0 || !phi__http_clean(request->headers[i].name) ||
            !phi__http_clean(request->headers[i].value))
            return PHI_BAD_ARG;
    if (!phi__http_reach(http, transfer.index)) return PHI_NO_MEMORY;
    phi__http_slot *slot = &http->slots[transfer.index];
    if (slot->state != PHI__HTTP_FREE) return PHI_BUSY;
    slot->transfer = transfer;
    slot->request = request;
    phi__http_enqueue(http, transfer.index, false);
    phi__http_kick(http, 0);
    return PHI_OK;
}

static void phi__http_resume(void *user_data, phi_transfer transfer) {
    phi__http *http = (phi__http *)user_data;
    phi__http_slot *slot = phi__http_slot_of(http, transfer);
    if (slot == NULL || slot->running == NULL) return;
    if (http->inside == 0) {
        phi__http_transfer_resume(slot->running);
        return;
    }
    slot->running->resume_wanted = true;
    http->resumes_wanted = true;
    phi__http_kick(http, 0);
}

static void phi__http_release(void *user_data, phi_transfer transfer) {
    phi__http *http = (phi__http *)user_data;
    phi__http_slot *slot = phi__http_slot_of(http, transfer);
    if (slot != NULL) phi__http_linger(http, slot);
}

static void phi__http_cancel(void *user_data, phi_transfer transfer) {
    phi__http *http = (phi__http *)user_data;
    phi__http_slot *slot = phi__http_slot_of(http, transfer);
    if (slot != NULL) phi__http_destroy(http, slot);
}

/* ---- new and free ---- */

/* Sets up libcurl once in the process. In old versions of libcurl this is not thread-safe. */
static bool phi__http_global_init(void) {
    static PHI__ATOMIC(int) state; /* 0: not set up, 1: in progress, 2: done; phi's only global */
    for (;;) {
        int none = 0;
        if (PHI__LOAD(&state) == 2) return true;
        if (PHI__CAS(&state, &none, 1)) {
            bool ok = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
            PHI__STORE(&state, ok ? 2 : 0);
            return ok;
        }
        phi__http_yield();
    }
}

/* Reads the abilities of this libcurl. Returns a message if a needed ability is missing, else
   NULL. */
static const char *phi__http_look(phi__http *http, const phi__http_desc *desc) {
    const curl_version_info_data *info = curl_version_info(CURLVERSION_NOW);
    if (info->version_num < PHI__HTTP_CURL_FLOOR) return "libcurl 7.68 or newer is needed";
    if ((info->features & CURL_VERSION_SSL) == 0) return "this libcurl was built without TLS";
    if (desc->enable_http2 && (info->features & CURL_VERSION_HTTP2) == 0)
        return "this libcurl was built without HTTP/2";
    http->async_dns = (info->features & CURL_VERSION_ASYNCHDNS) != 0;
    /* an option needs the headers at compile time and the library at run time */
    http->prereq = LIBCURL_VERSION_NUM >= 0x075000 && info->version_num >= 0x075000u; /* 7.80 */
    http->quick_exit =
        LIBCURL_VERSION_NUM >= 0x075700 && info->version_num >= 0x075700u; /* libcurl 7.87 */
    http->mask_sigpipe = info->version_num < 0x075800u; /* before 7.88, TLS uses send() */
#if LIBCURL_VERSION_NUM >= 0x075400
    if (info->age >= CURLVERSION_TENTH && info->cainfo != NULL)
        http->drop_ca_path = phi__http_can_read(info->cainfo);
#endif
    http->ca_cache = info->version_num >= 0x075700u && /* libcurl 7.87 */
                     (desc->ca_file != NULL || http->drop_ca_path);
    return NULL;
}

static const char *phi__http_copy(phi__http *http, const char *text, bool *ok) {
    phi_str copy;
    if (text == NULL) return NULL;
    if (phi__arena_str(&http->strings, phi_str_of(text), &copy)) return copy.at;
    *ok = false;
    return NULL;
}

static bool phi__http_configure(phi__http *http, const phi__http_desc *desc) {
    bool ok = true;
    http->max_connections =
        desc->max_connections == 0 ? PHI__HTTP_CONNECTIONS : desc->max_connections;
    http->http2 = desc->enable_http2;
    http->use_environment = desc->use_environment;
    http->proxy = phi__http_copy(http, desc->proxy, &ok);
    http->ca_file = phi__http_copy(http, desc->ca_file, &ok);
    for (size_t i = 0; ok && desc->resolve != NULL && desc->resolve[i] != NULL; i++) {
        struct curl_slist *list = curl_slist_append(http->resolve, desc->resolve[i]);
        ok = list != NULL;
        if (ok) http->resolve = list;
    }
    if (!ok) return false;
    http->multi = curl_multi_init();
    http->kick.fire = phi__http_on_kick;
    if (http->multi == NULL) return false;
    CURLM *m = http->multi;
    int bad = 0;
    http->curl_timer.fire = phi__http_on_timer;
    if (phi__io_timer_set(http->io, &http->curl_timer, UINT64_MAX) != PHI_OK) return false;
    bad |= curl_multi_setopt(m, CURLMOPT_SOCKETFUNCTION, phi__http_on_socket) != CURLM_OK;
    bad |= curl_multi_setopt(m, CURLMOPT_SOCKETDATA, http) != CURLM_OK;
    bad |= curl_multi_setopt(m, CURLMOPT_TIMERFUNCTION, phi__http_on_timeout) != CURLM_OK;
    bad |= curl_multi_setopt(m, CURLMOPT_TIMERDATA, http) != CURLM_OK;
    bad |= curl_multi_setopt(m, CURLMOPT_MAXCONNECTS, (long)http->max_connections) != CURLM_OK;
    if (http->http2) bad |= curl_multi_setopt(m, CURLMOPT_MAX_CONCURRENT_STREAMS, 10L) != CURLM_OK;
    (void)curl_multi_setopt(m, (CURLMoption)PHI__HTTP_MULTI_QUICK_EXIT, 1L); /* if it is known */
    return bad == 0 && phi__io_timer_set(http->io, &http->kick, UINT64_MAX) == PHI_OK;
}

PHI__FN phi_status phi__http_new(phi__io *io, const phi__http_desc *desc,
                                 const phi__transfer_port *port, phi__http **out,
                                 const char **words) {
    *out = NULL;
    *words = "no memory for the HTTP transport";
    if (!phi__http_global_init()) {
        *words = "libcurl could not be set up";
        return PHI_UNSUPPORTED;
    }
    phi__http *http = (phi__http *)phi__alloc(phi__io_memory(io), sizeof *http);
    if (http == NULL) return PHI_NO_MEMORY;
    http->io = io;
    http->memory = phi__io_memory(io);
    http->port = *port;
    http->transport.open = phi__http_open;
    http->transport.resume = phi__http_resume;
    http->transport.cancel = phi__http_cancel;
    http->transport.release = phi__http_release;
    http->transport.pump = phi__http_pump;
    http->transport.user_data = http;
    phi_arena_init(&http->strings, http->memory, 512);
    {
        const char *lacks = phi__http_look(http, desc);
        if (lacks != NULL) {
            phi__http_free(http);
            *words = lacks;
            return PHI_UNSUPPORTED;
        }
    }
    if (!phi__http_configure(http, desc)) {
        phi__http_free(http);
        return PHI_NO_MEMORY;
    }
    *words = NULL;
    *out = http;
    return PHI_OK;
}

PHI__FN const phi_transport *phi__http_transport(phi__http *http) { return &http->transport; }

PHI__FN phi_status phi__http_warm(phi__http *http, phi_str url) {
    phi_str host = phi__http_host(url);
    const char *words;
    if (!phi__http_good_url(url)) return PHI_BAD_ARG;
    if (phi__http_would_block(http, url)) return PHI_UNSUPPORTED;
    if (phi__http_busy(http) >= http->max_connections) return PHI_BUSY;
    if (phi__str_starts(url, "https:") || phi__str_starts(url, "HTTPS:")) phi__http_load_ca(http);
    phi__http_transfer *t = phi__http_transfer_new(http);
    if (t == NULL) return PHI_NO_MEMORY;
    size_t len = (size_t)(host.at - url.at) + host.len; /* the URL up to its path */
    while (len < url.len && url.at[len] != '/' && url.at[len] != '?' && url.at[len] != '#') len++;
    t->url = (char *)phi__alloc(http->memory, len + 2);
    phi_status status = t->url != NULL ? PHI_OK : PHI_NO_MEMORY;
    if (t->url != NULL) {
        t->url_bytes = len + 2;
        memcpy(t->url, url.at, len);
        t->url[len] = '/';
        status = phi__http_begin(t, &words);
    }
    if (status != PHI_OK) {
        phi__http_transfer_free(t);
        return status;
    }
    phi__http_due(http);
    return PHI_OK;
}

PHI__FN size_t phi__http_pending(const phi__http *http) {
    return http->queue_count + phi__http_busy(http);
}

PHI__FN void phi__http_free(phi__http *http) {
    phi__http_transfer *t;
    if (http == NULL) return;
    while ((t = phi__http_curl_first(&http->active)) != NULL) phi__http_move(t, &http->dying);
    while ((t = phi__http_curl_first(&http->done)) != NULL) phi__http_move(t, &http->dying);
    while ((t = phi__http_curl_first(&http->lingering)) != NULL) phi__http_move(t, &http->dying);
    while ((t = phi__http_curl_first(&http->dying)) != NULL) phi__http_transfer_free(t);
    phi__http_enter(http);
    if (http->multi != NULL) (void)curl_multi_cleanup(http->multi);
    phi__http_leave(http);
    phi__io_timer_clear(http->io, &http->curl_timer);
    phi__io_timer_clear(http->io, &http->kick);
    curl_slist_free_all(http->resolve);
    phi_arena_free(&http->strings);
    phi__free(http->memory, http->slots, http->slot_count * sizeof *http->slots);
    phi__free(http->memory, http, sizeof *http);
}

#endif
