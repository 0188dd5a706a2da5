/* http_words.c - turns libcurl's results into statuses and messages.

   Words name the host or the URL, never a header, a query or a user, for those may hold keys. */
#include "io/http_curl_in.h"

#if !defined(PHI_NO_CURL)

#include "base/utf8_in.h"

#include <stdio.h>
#include <stdlib.h>

#define PHI__HTTP_CURL_TOO_LARGE 100 /* CURLE_TOO_LARGE, of 8.6 and newer */
#define PHI__HTTP_URL_SHOWN 160      /* bytes */

/* "user:key@host:port" of an URL; empty where there is none. */
static phi_str phi__http_words_authority(phi_str url) {
    size_t at = phi__str_find(url, 0, "://"), end, i;
    if (at == SIZE_MAX) return phi__str(url.at, 0);
    at += 3;
    end = at;
    while (end < url.len && url.at[end] != '/' && url.at[end] != '?' && url.at[end] != '#') end++;
    for (i = end; i > at; i--)
        if (url.at[i - 1] == '@') break;
    return phi__str(url.at + i, end - i);
}

PHI__FN phi_str phi__http_words_host(phi_str url) {
    phi_str a = phi__http_words_authority(url);
    size_t i;
    if (a.len > 0 && a.at[0] == '[') {
        i = phi__str_find(a, 0, "]");
        return i == SIZE_MAX ? phi__str(a.at, 0) : phi__str(a.at + 1, i - 1);
    }
    i = phi__str_find(a, 0, ":");
    return i == SIZE_MAX ? a : phi__str(a.at, i);
}

PHI__FN phi_str phi__http_words_port(phi_str url) {
    phi_str a = phi__http_words_authority(url);
    size_t i = phi__str_find(a, 0, "]");
    i = phi__str_find(a, i == SIZE_MAX ? 0 : i, ":");
    if (i != SIZE_MAX && i + 1 < a.len) return phi__str(a.at + i + 1, a.len - i - 1);
    if (url.len >= 6 && phi__str_is_nocase(phi__str(url.at, 6), "https:")) return PHI__LIT("443");
    return PHI__LIT("80");
}

PHI__FN bool phi__http_words_is_address(phi_str host) {
    size_t i, dots = 0;
    if (phi__str_find(host, 0, ":") != SIZE_MAX) return true;
    for (i = 0; i < host.len; i++) {
        if (host.at[i] == '.')
            dots++;
        else if (host.at[i] < '0' || host.at[i] > '9')
            return false;
    }
    return dots == 3;
}

/* The words before the URL, by what kind of failure it is. */
typedef struct phi__http_kind {
    phi_status status;
    const char *words;
} phi__http_kind;

static phi__http_kind phi__http_words_kind_of(phi_status status, const char *words) {
    phi__http_kind kind;
    kind.status = status;
    kind.words = words;
    return kind;
}

static phi__http_kind phi__http_words_connect_kind(const phi__http_transfer *t) {
    long os_error = 0;
    phi_status status;
    (void)curl_easy_getinfo(t->easy, CURLINFO_OS_ERRNO, &os_error);
    status = phi__http_connect_status(os_error);
    if (status == PHI_REFUSED) return phi__http_words_kind_of(status, "connection refused by");
    if (t->no_descriptor)
        return phi__http_words_kind_of(PHI_IO, "no file descriptor was left for a connection to");
    return phi__http_words_kind_of(status, "cannot connect to");
}

static phi__http_kind phi__http_words_classify(const phi__http_transfer *t) {
    switch (t->result) {
    case CURLE_COULDNT_RESOLVE_HOST: return phi__http_words_kind_of(PHI_NOT_FOUND, "no such host:");
    case CURLE_COULDNT_RESOLVE_PROXY:
        return phi__http_words_kind_of(PHI_NOT_FOUND, "no such proxy host, on the way to");
    case CURLE_COULDNT_CONNECT: return phi__http_words_connect_kind(t);
    case CURLE_OPERATION_TIMEDOUT:
        return phi__http_words_kind_of(PHI_TIMEOUT, "no answer in time from");
    case CURLE_OUT_OF_MEMORY: return phi__http_words_kind_of(PHI_NO_MEMORY, "no memory for");
    case CURLE_URL_MALFORMAT: return phi__http_words_kind_of(PHI_BAD_ARG, "the URL is not valid:");
    case CURLE_UNSUPPORTED_PROTOCOL: /* also: an answer without a status line */
        return phi__http_words_kind_of(PHI_NETWORK, "what answers is not HTTP, at");
    case CURLE_GOT_NOTHING:
        return phi__http_words_kind_of(PHI_NETWORK,
                                       "the connection was closed without an answer by");
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
    case CURLE_USE_SSL_FAILED: return phi__http_words_kind_of(PHI_TLS, "no secure connection with");
    case CURLE_PARTIAL_FILE:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
    case CURLE_SEND_FAIL_REWIND:
    case CURLE_SSL_SHUTDOWN_FAILED:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
        return phi__http_words_kind_of(PHI_NETWORK, "the connection was cut, to");
    default: return phi__http_words_kind_of(PHI_NETWORK, "the transfer failed, with");
    }
}

static void phi__http_words_own(phi__http_reason reason, phi_status status, phi_str host, char *out,
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

/* libcurl says "out of memory" of a line over its own limit, too (7.71 to 8.5); so check whether it
   is. */
static bool phi__http_words_has_memory(const phi__http_transfer *t) {
    char zeros[8192];
    char *escaped; /* three bytes each */
    memset(zeros, 0, sizeof zeros);
    escaped = curl_easy_escape(t->easy, zeros, (int)sizeof zeros);
    curl_free(escaped);
    return escaped != NULL;
}

/* A line of the head is bounded by 100 KB in libcurl, a trailer by 4 KB. */
static bool phi__http_words_long_line(const phi__http_transfer *t) {
    if (!t->connected) return false;
    if ((int)t->result == PHI__HTTP_CURL_TOO_LARGE) return true;
    if (t->result == CURLE_RECV_ERROR)
        return t->head_told && strstr(t->error, "Out of memory in chunked") != NULL;
    return t->result == CURLE_OUT_OF_MEMORY && phi__http_words_has_memory(t);
}

/* Why we stopped it, or libcurl for a reason that is also ours. PHI_OK: neither. */
static phi_status phi__http_words_stopped(const phi__http_transfer *t, phi__http_reason *reason) {
    *reason = t->reason;
    if (t->failed != PHI_OK) return t->failed;
    if (t->result == CURLE_BAD_CONTENT_ENCODING) { /* more codings than it undoes */
        *reason = PHI__HTTP_REASON_CODING;
        return PHI_UNSUPPORTED;
    }
    if (!phi__http_words_long_line(t)) return PHI_OK;
    *reason = PHI__HTTP_REASON_LINE;
    return PHI_TOO_BIG;
}

/* What failed, where, and what libcurl says of it. Without memory, the host stands for the URL. */
static void phi__http_words_failed(const phi__http_transfer *t, const char *words, phi_str url,
                                   char *out, size_t size) {
    const char *detail = t->error[0] != '\0' ? t->error : curl_easy_strerror(t->result);
    phi_str shown = phi__str(url.at, 0);
    phi__buf buf;
    while (shown.len < url.len && url.at[shown.len] != '?' && url.at[shown.len] != '#') shown.len++;
    phi__buf_init(&buf, t->http->memory);
    phi__secret_put_url(&buf, shown);
    shown = buf.failed ? phi__http_words_host(url) : phi__buf_str(&buf);
    (void)snprintf(out, size, "%s %.*s (%s)", words, (int)phi__utf8_cut(shown, PHI__HTTP_URL_SHOWN),
                   shown.at, detail);
    phi__buf_free(&buf);
}

PHI__FN phi_status phi__http_words(const phi__http_transfer *t, char *out, size_t size) {
    phi_str url = t->request != NULL ? t->request->url : phi_str_of(t->url);
    phi__http_kind kind;
    phi__http_reason reason;
    phi_status status = phi__http_words_stopped(t, &reason);
    out[0] = '\0';
    if (status != PHI_OK) {
        phi__http_words_own(reason, status, phi__http_words_host(url), out, size);
        return status;
    }
    if (t->result == CURLE_OK) return PHI_OK;
    kind = phi__http_words_classify(t);
    phi__http_words_failed(t, kind.words, url, out, size);
    return kind.status;
}

PHI__FN void phi__http_words_proxy(const phi__http *http, phi__secrets *secrets) {
    static const char *const names[] = {"http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy",
                                        "ALL_PROXY"};
    size_t i;
    if (http == NULL) return;
    if (http->proxy != NULL) phi__secret_add_url(secrets, phi_str_of(http->proxy));
    for (i = 0; http->proxy == NULL && http->use_environment && i < PHI__COUNT(names); i++)
        phi__secret_add_url(secrets, phi_str_of(getenv(names[i])));
}

#endif
