/* http_transfer.c - one request as an easy handle: its options, and callbacks that only copy.

   Every callback first asks whether the transfer was cancelled: then its request is gone, and the
   callback must make curl stop. */
#include "io/http_curl_in.h"

#if !defined(PHI_NO_CURL)

#include <stdio.h>

/* libcurl's read buffer, held while streaming: with 8192 it takes 8 KB less, and a delta costs a
   tenth more CPU when many come at once (bench/bench_http.c). */
#define PHI__HTTP_BUFFER_BYTES 16384L
#define PHI__HTTP_UPLOAD_LEAST 16384u /* libcurl's own bound */
#define PHI__HTTP_UPLOAD_MOST 131072u
#define PHI__HTTP_CONNECT_MS 86400000L /* never: the deadlines are the runtime's */
#define PHI__HTTP_KEEPALIVE_S 60L

static bool phi__http_transfer_dead(const phi__http_transfer *t) {
    return t->list == &t->http->dying;
}

/* ---- callbacks ---- */

static void phi__http_transfer_connected(phi__http_transfer *t) {
    if (t->connected) return;
    t->connected = true;
    t->resolving = false;
    if (t->request != NULL) (void)t->http->port.stage(t->transfer, PHI_TRANSFER_CONNECTED);
}

static int phi__http_transfer_on_resolve(void *resolver, void *reserved, void *user_data) {
    phi__http_transfer *t = (phi__http_transfer *)user_data;
    (void)resolver;
    (void)reserved;
    t->resolving = true;
    return phi__http_transfer_dead(t) ? 1 : 0;
}

static curl_socket_t phi__http_transfer_on_open_socket(void *user_data, curlsocktype purpose,
                                                       struct curl_sockaddr *address) {
    phi__http_transfer *t = (phi__http_transfer *)user_data;
    (void)purpose;
    t->resolving = false;
    if (phi__http_transfer_dead(t)) return CURL_SOCKET_BAD;
    t->fd = phi__http_open_socket(address->family, address->socktype, address->protocol,
                                  &t->no_descriptor);
    return t->fd;
}

#if LIBCURL_VERSION_NUM >= 0x075000
static int phi__http_transfer_on_request(void *user_data, char *remote_ip, char *local_ip,
                                         int remote_port, int local_port) {
    phi__http_transfer *t = (phi__http_transfer *)user_data;
    (void)remote_ip;
    (void)local_ip;
    (void)remote_port;
    (void)local_port;
    if (!phi__http_transfer_dead(t)) phi__http_transfer_connected(t);
    return phi__http_transfer_dead(t) ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
}
#endif

static size_t phi__http_transfer_on_read(char *out, size_t size, size_t n, void *user_data) {
    phi__http_transfer *t = (phi__http_transfer *)user_data;
    size_t got;
    if (!phi__http_transfer_dead(t)) phi__http_transfer_connected(t);
    if (phi__http_transfer_dead(t) || t->request == NULL) return CURL_READFUNC_ABORT;
    got = phi_request_read(t->request, t->body_at, out, size * n);
    t->body_at += got;
    return got;
}

/* curl goes back to the start when a kept connection turns out to be dead. */
static int phi__http_transfer_on_seek(void *user_data, curl_off_t offset, int origin) {
    phi__http_transfer *t = (phi__http_transfer *)user_data;
    if (phi__http_transfer_dead(t)) return CURL_SEEKFUNC_FAIL;
    if (origin != SEEK_SET || offset < 0) return CURL_SEEKFUNC_CANTSEEK;
    t->body_at = (uint64_t)offset;
    return CURL_SEEKFUNC_OK;
}

/* A joined body is of no more use once all of it was sent and answered. */
static void phi__http_transfer_drop_body(phi__http_transfer *t) {
    curl_off_t sent = 0;
    if (t->body == NULL) return;
    if (curl_easy_getinfo(t->easy, CURLINFO_SIZE_UPLOAD_T, &sent) != CURLE_OK) return;
    if ((uint64_t)sent < (uint64_t)t->body_bytes) return;
    phi__free(t->http->memory, t->body, t->body_bytes);
    t->body = NULL;
}

/* The end of a head: reported, unless it is an interim answer. */
static bool phi__http_transfer_head_end(phi__http_transfer *t) {
    phi_status status;
    if (t->http_status < 200) {
        phi__buf_clear(&t->head);
        return true;
    }
    if (t->head.failed) {
        t->failed = PHI_NO_MEMORY;
        return false;
    }
    t->head_told = true;
    phi__http_transfer_drop_body(t);
    if (t->request != NULL) {
        status = t->http->port.head(t->transfer, t->http_status, t->head.at, t->head.len);
        if (phi__http_transfer_dead(t)) return false;
        if (status != PHI_OK) t->failed = status;
    }
    phi__buf_free(&t->head);
    return t->failed == PHI_OK;
}

static void phi__http_transfer_status_line(phi__http_transfer *t, phi_str line) {
    size_t at = phi__str_find(line, 0, " ");
    uint64_t status = 0;
    phi__buf_clear(&t->head);
    t->http_status = 0;
    t->http2 = phi__str_starts(line, "HTTP/2");
    if (at != SIZE_MAX && line.len >= at + 4 &&
        phi__str_to_u64(phi__str(line.at + at + 1, 3), &status))
        t->http_status = (int)status;
}

static bool phi__http_transfer_stop(phi__http_transfer *t, phi_status status,
                                    phi__http_reason reason) {
    t->failed = status;
    t->reason = reason;
    return false;
}

static bool phi__http_transfer_codings_fit(phi_str value) {
    size_t at = 0;
    while (at <= value.len) {
        size_t end = phi__str_find(value, at, ",");
        phi_str coding;
        if (end == SIZE_MAX) end = value.len;
        coding = phi__str_trim(phi__str(value.at + at, end - at));
        if (coding.len > 0 && !phi__str_is_nocase(coding, "chunked") &&
            !phi__str_is_nocase(coding, "identity"))
            return false;
        at = end + 1;
    }
    return true;
}

/* libcurl undoes every transfer coding it knows, several deep and without being asked: 229 KB
   become 46 GB. It has seen the line by now, but decodes nothing before the head's end. Interim
   answers count: libcurl undoes codings that they name in the final one. */
static bool phi__http_transfer_may_decode(phi__http_transfer *t, phi_str line) {
    size_t colon;
    if (line.at[0] != ' ' && line.at[0] != '\t') { /* else the line before goes on */
        colon = phi__str_find(line, 0, ":");
        if (colon == SIZE_MAX) colon = line.len;
        t->in_coding =
            phi__str_is_nocase(phi__str_trim(phi__str(line.at, colon)), "transfer-encoding");
        if (colon < line.len) colon++;
        line = phi__str(line.at + colon, line.len - colon);
    }
    if (!t->in_coding || phi__http_transfer_codings_fit(line)) return true;
    return phi__http_transfer_stop(t, PHI_UNSUPPORTED, PHI__HTTP_REASON_CODING);
}

/* Interim answers and trailers, too: libcurl keeps each line, and not every version has a limit. */
static bool phi__http_transfer_count_head(phi__http_transfer *t, size_t len) {
    if (len > PHI__HTTP_HEADERS_MOST - t->head_bytes)
        return phi__http_transfer_stop(t, PHI_TOO_BIG, PHI__HTTP_REASON_HEADERS);
    t->head_bytes += len;
    return true;
}

static size_t phi__http_transfer_on_header(char *at, size_t size, size_t n, void *user_data) {
    phi__http_transfer *t = (phi__http_transfer *)user_data;
    size_t len = size * n;
    phi_str line = phi__str(at, len);
    if (!phi__http_transfer_dead(t)) phi__http_transfer_connected(t);
    if (phi__http_transfer_dead(t) || !phi__http_transfer_count_head(t, len)) return 0;
    if (t->head_told) return len; /* trailers of a chunked body */
    while (line.len > 0 && (line.at[line.len - 1] == '\n' || line.at[line.len - 1] == '\r'))
        line.len--;
    if (line.len == 0) return phi__http_transfer_head_end(t) ? len : 0;
    if (!phi__http_transfer_may_decode(t, line)) return 0;
    if (phi__str_starts(line, "HTTP/")) {
        phi__http_transfer_status_line(t, line);
    } else if (line.len + 2 <= PHI__HTTP_HEAD_BYTES - t->head.len) {
        phi__buf_add_str(&t->head, line);
        phi__buf_add(&t->head, "\r\n", 2);
    }
    return len;
}

static size_t phi__http_transfer_overflow(phi__http_transfer *t, const char *at, size_t len) {
    if (t->overflow_at > 0) {
        phi__buf_drop(&t->overflow, t->overflow_at);
        t->overflow_at = 0;
    }
    if (len > PHI__HTTP_OVERFLOW_BYTES - t->overflow.len)
        (void)phi__http_transfer_stop(t, PHI_TOO_BIG, PHI__HTTP_REASON_OVERFLOW);
    else
        phi__buf_add(&t->overflow, at, len);
    if (t->overflow.failed) t->failed = PHI_NO_MEMORY;
    return t->failed == PHI_OK ? len : 0;
}

static size_t phi__http_transfer_on_body(char *at, size_t size, size_t n, void *user_data) {
    phi__http_transfer *t = (phi__http_transfer *)user_data;
    size_t len = size * n;
    phi_status status;
    if (phi__http_transfer_dead(t)) return 0;
    if (t->request == NULL) {
        t->released_bytes += len;
        return t->released_bytes > PHI__HTTP_LINGER_BYTES ? 0 : len;
    }
    if (t->overflow.len > t->overflow_at) return phi__http_transfer_overflow(t, at, len);
    status = t->http->port.push(t->transfer, at, len);
    if (phi__http_transfer_dead(t)) return 0;
    if (status == PHI_OK) return len;
    if (status == PHI_FULL) {
        /* A paused HTTP/2 stream piles up inside curl, uncounted, while its siblings are read. */
        if (t->http2) return phi__http_transfer_overflow(t, at, len);
        t->paused = true;
        return CURL_WRITEFUNC_PAUSE;
    }
    t->failed = status;
    return 0;
}

/* ---- options ---- */

static bool phi__http_transfer_set_callbacks(phi__http_transfer *t) {
    CURL *e = t->easy;
    int bad = 0;
    bad |= curl_easy_setopt(e, CURLOPT_PRIVATE, (char *)t) != CURLE_OK;
    bad |= curl_easy_setopt(e, CURLOPT_ERRORBUFFER, t->error) != CURLE_OK;
    bad |= curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, phi__http_transfer_on_body) != CURLE_OK;
    bad |= curl_easy_setopt(e, CURLOPT_WRITEDATA, t) != CURLE_OK;
    bad |= curl_easy_setopt(e, CURLOPT_HEADERFUNCTION, phi__http_transfer_on_header) != CURLE_OK;
    bad |= curl_easy_setopt(e, CURLOPT_HEADERDATA, t) != CURLE_OK;
    bad |= curl_easy_setopt(e, CURLOPT_OPENSOCKETFUNCTION, phi__http_transfer_on_open_socket) !=
           CURLE_OK;
    bad |= curl_easy_setopt(e, CURLOPT_OPENSOCKETDATA, t) != CURLE_OK;
    bad |= curl_easy_setopt(e, CURLOPT_RESOLVER_START_FUNCTION, phi__http_transfer_on_resolve) !=
           CURLE_OK;
    bad |= curl_easy_setopt(e, CURLOPT_RESOLVER_START_DATA, t) != CURLE_OK;
#if LIBCURL_VERSION_NUM >= 0x075000
    if (t->http->prereq) {
        bad |=
            curl_easy_setopt(e, CURLOPT_PREREQFUNCTION, phi__http_transfer_on_request) != CURLE_OK;
        bad |= curl_easy_setopt(e, CURLOPT_PREREQDATA, t) != CURLE_OK;
    }
#endif
    return bad == 0;
}

static bool phi__http_transfer_set_connection(phi__http_transfer *t) {
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

/* curl keeps a loaded CA store only while no CA directory is set (engineering 1.2). */
static bool phi__http_transfer_set_tls(phi__http_transfer *t) {
    const phi__http *http = t->http;
    CURL *e = t->easy;
    int bad = 0;
    bad |= curl_easy_setopt(e, CURLOPT_SSL_VERIFYPEER, 1L) != CURLE_OK;
    bad |= curl_easy_setopt(e, CURLOPT_SSL_VERIFYHOST, 2L) != CURLE_OK;
    if (http->ca_file != NULL)
        bad |= curl_easy_setopt(e, CURLOPT_CAINFO, http->ca_file) != CURLE_OK;
    if (http->ca_file != NULL || http->drop_ca_path)
        bad |= curl_easy_setopt(e, CURLOPT_CAPATH, (char *)NULL) != CURLE_OK;
    return bad == 0;
}

static bool phi__http_transfer_add_header(phi__http_transfer *t, const char *line) {
    struct curl_slist *list = curl_slist_append(t->headers, line);
    if (list == NULL) return false;
    t->headers = list;
    return true;
}

/* The request's own, and an end to two that libcurl would add: Expect waits a second for nothing,
   and a form's content type is never right. */
static bool phi__http_transfer_set_headers(phi__http_transfer *t) {
    const phi_request *rq = t->request;
    bool typed = false, ok = true;
    phi__buf line;
    size_t i;
    phi__buf_init(&line, t->http->memory);
    for (i = 0; rq != NULL && i < rq->header_count && ok; i++) {
        const phi__header *h = &rq->headers[i];
        phi__buf_clear(&line);
        phi__buf_add_str(&line, h->name);
        phi__buf_text(&line, h->value.len > 0 ? ": " : ";");
        phi__buf_add_str(&line, h->value);
        phi__buf_char(&line, '\0');
        ok = !line.failed && phi__http_transfer_add_header(t, line.at);
        if (phi__str_is_nocase(h->name, "content-type")) typed = true;
    }
    if (line.at != NULL) memset(line.at, 0, line.cap); /* it may have held a key */
    phi__buf_free(&line);
    if (ok) ok = phi__http_transfer_add_header(t, "Expect:");
    if (ok && !typed) ok = phi__http_transfer_add_header(t, "Content-Type:");
    return ok && curl_easy_setopt(t->easy, CURLOPT_HTTPHEADER, t->headers) == CURLE_OK;
}

/* libcurl sends one such buffer a call and holds it while the answer streams: a twentieth of the
   body means few calls, and little memory beside the body. */
static long phi__http_transfer_upload_bytes(uint64_t body) {
    uint64_t part = body / 20;
    if (part < PHI__HTTP_UPLOAD_LEAST) part = PHI__HTTP_UPLOAD_LEAST;
    return (long)(part > PHI__HTTP_UPLOAD_MOST ? PHI__HTTP_UPLOAD_MOST : part);
}

static bool phi__http_transfer_set_body(phi__http_transfer *t) {
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
        bad |= curl_easy_setopt(e, CURLOPT_READFUNCTION, phi__http_transfer_on_read) != CURLE_OK;
        bad |= curl_easy_setopt(e, CURLOPT_READDATA, t) != CURLE_OK;
        bad |= curl_easy_setopt(e, CURLOPT_SEEKFUNCTION, phi__http_transfer_on_seek) != CURLE_OK;
        bad |= curl_easy_setopt(e, CURLOPT_SEEKDATA, t) != CURLE_OK;
        bad |= curl_easy_setopt(e, CURLOPT_UPLOAD_BUFFERSIZE,
                                phi__http_transfer_upload_bytes(rq->length)) != CURLE_OK;
    }
    return bad == 0;
}

static bool phi__http_transfer_set_request(phi__http_transfer *t) {
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
        bad |= !phi__http_transfer_set_body(t);
    if (!phi__str_is(rq->method, "GET") && !phi__str_is(rq->method, "HEAD") &&
        !phi__str_is(rq->method, "POST"))
        bad |= curl_easy_setopt(e, CURLOPT_CUSTOMREQUEST, rq->method.at) != CURLE_OK;
    return bad == 0;
}

/* ---- for http.c ---- */

PHI__FN phi__http_transfer *phi__http_transfer_new(phi__http *http) {
    phi__http_transfer *t = (phi__http_transfer *)phi__alloc(http->memory, sizeof *t);
    if (t == NULL) return NULL;
    t->http = http;
    t->fd = CURL_SOCKET_BAD;
    phi__http_transfer_move(t, &http->active);
    return t;
}

PHI__FN phi_status phi__http_transfer_begin(phi__http_transfer *t, const char **words) {
    CURLMcode added;
    phi__buf_init(&t->head, t->http->memory);
    phi__buf_init(&t->overflow, t->http->memory);
    *words = "no memory for a transfer";
    t->easy = curl_easy_init();
    if (t->easy == NULL) return PHI_NO_MEMORY;
    if (!phi__http_transfer_set_callbacks(t) || !phi__http_transfer_set_connection(t) ||
        !phi__http_transfer_set_tls(t) || !phi__http_transfer_set_headers(t) ||
        !phi__http_transfer_set_request(t))
        return PHI_NO_MEMORY; /* libcurl knows the options: memory ran out */
    phi__http_drive_enter(t->http);
    added = curl_multi_add_handle(t->http->multi, t->easy);
    phi__http_drive_leave(t->http);
    if (added != CURLM_OK) return PHI_NO_MEMORY;
    t->added = true;
    t->http->live++;
    return PHI_OK;
}

PHI__FN void phi__http_transfer_move(phi__http_transfer *t, phi__http_transfer_list *list) {
    phi__http_transfer_list *from = t->list;
    if (from != NULL) {
        phi__list_take(&from->all, &t->link);
        from->count--;
    }
    t->list = list;
    if (list == NULL) return;
    phi__list_push(&list->all, &t->link);
    list->count++;
}

PHI__FN void phi__http_transfer_free(phi__http_transfer *t) {
    phi__http *http = t->http;
    phi__http_transfer_move(t, &http->dying); /* no callback touches its request now */
    phi__http_drive_enter(http);
    if (t->added) (void)curl_multi_remove_handle(http->multi, t->easy);
    curl_easy_cleanup(t->easy);
    phi__http_drive_leave(http);
    if (t->added && !t->finished) http->live--;
    phi__http_transfer_move(t, NULL);
    curl_slist_free_all(t->headers);
    phi__free(http->memory, t->body, t->body_bytes);
    phi__free(http->memory, t->url, t->url_bytes);
    phi__buf_free(&t->head);
    phi__buf_free(&t->overflow);
    phi__free(http->memory, t, sizeof *t);
}

/* Pieces of at most what one write callback brings, so that whatever takes those takes these. */
static void phi__http_transfer_drain(phi__http_transfer *t) {
    phi_status status = PHI_OK;
    phi__http_drive_enter(t->http); /* a resume from within a push waits for the pump */
    while (t->overflow.len > t->overflow_at && status == PHI_OK && !phi__http_transfer_dead(t)) {
        size_t n = phi__min(t->overflow.len - t->overflow_at, PHI__HTTP_BUFFER_BYTES);
        status = t->http->port.push(t->transfer, t->overflow.at + t->overflow_at, n);
        if (status == PHI_OK) t->overflow_at += n;
    }
    phi__http_drive_leave(t->http);
    if (phi__http_transfer_dead(t)) return;
    if (status != PHI_OK && status != PHI_FULL) t->failed = status;
    if (t->overflow.len == t->overflow_at) {
        phi__buf_free(&t->overflow);
        t->overflow_at = 0;
    }
    if (t->finished || t->failed != PHI_OK) phi__http_drive_kick(t->http, 0);
}

PHI__FN void phi__http_transfer_resume(phi__http_transfer *t) {
    CURLcode result;
    t->resume_wanted = false;
    phi__http_transfer_drain(t);
    if (!t->paused || phi__http_transfer_dead(t)) return;
    t->paused = false;
    phi__http_drive_enter(t->http);
    result = curl_easy_pause(t->easy, CURLPAUSE_CONT); /* pushes what curl held back */
    phi__http_drive_leave(t->http);
    if (result == CURLE_OK || phi__http_transfer_dead(t)) return;
    if (t->failed == PHI_OK)
        t->failed = result == CURLE_OUT_OF_MEMORY ? PHI_NO_MEMORY : PHI_NETWORK;
    t->http->starved = true; /* curl will not say that it is over: the pump looks for it */
    phi__http_drive_kick(t->http, 0);
}

#endif
