/* tape_secret.c - keeps keys off a tape: in headers, URLs, and wherever else their text appears.

   Asterisks of the same length stand for a secret in all that comes after it was sent: in answers
   that repeat it, and in results of tools (io/secret_in.h). */
#include "record/replay_in.h"
#include "text/records_in.h"

/* Better no recording than one with a key in it. */
static void phi__tape_secret_kept(phi__tape *tape) {
    if (tape->secrets.failed || tape->secrets.count > PHI__TAPE_SECRETS_MOST)
        tape->failed = PHI_NO_MEMORY;
}

PHI__FN void phi__tape_secret_add(phi__tape *tape, const char *const *secrets) {
    for (; secrets != NULL && *secrets != NULL; secrets++)
        phi__secret_add(&tape->secrets, phi_str_of(*secrets));
    phi__tape_secret_kept(tape);
}

PHI__FN void phi__tape_secret_add_proxy(phi__tape *tape, const phi__http *http) {
    phi__http_words_proxy(http, &tape->secrets);
    phi__tape_secret_kept(tape);
}

static void phi__tape_secret_put_url(phi__tape *tape, phi__buf *line, phi_str url) {
    phi__buf_clear(&tape->bytes);
    phi__secret_add_url(&tape->secrets, url);
    phi__tape_secret_kept(tape);
    phi__secret_put_url(&tape->bytes, url);
    phi__records_str(line, "url", phi__buf_str(&tape->bytes));
    line->failed = line->failed || tape->bytes.failed;
}

static void phi__tape_secret_put_headers(phi__tape *tape, phi__buf *line,
                                         const phi_request *request) {
    phi_request_info info = phi_request_get_info(request);
    size_t i;
    phi__records_raw(line, "headers", "{");
    for (i = 0; i < info.header_count; i++) {
        phi_str name = info.headers[i].name, value = info.headers[i].value;
        phi__json_write_key(line, name);
        if (phi__secret_add_header(&tape->secrets, name, value)) value = phi_str_of("[redacted]");
        phi__json_write_str(line, value);
    }
    phi__buf_char(line, '}');
    phi__tape_secret_kept(tape);
}

static void phi__tape_secret_drop_cookies(phi__buf *out, phi_str headers) {
    while (headers.len > 0) {
        size_t end = phi__str_find(headers, 0, "\n");
        size_t n = end < headers.len ? end + 1 : headers.len;
        phi_str one = phi__str(headers.at, n);
        size_t colon = phi__min(phi__str_find(one, 0, ":"), n);
        if (phi__str_find_nocase(phi__str(one.at, colon), 0, "cookie") != SIZE_MAX) {
            phi__buf_add(out, one.at, colon);
            phi__buf_text(out, ": [redacted]\r\n");
        } else
            phi__buf_add_str(out, one);
        headers = phi__str(headers.at + n, headers.len - n);
    }
}

PHI__FN void phi__tape_secret_put_head(phi__tape *tape, phi__buf *line, phi_str headers) {
    phi__buf_clear(&tape->bytes);
    phi__tape_secret_drop_cookies(&tape->bytes, headers);
    phi__records_str(line, "headers", phi__buf_str(&tape->bytes));
    line->failed = line->failed || tape->bytes.failed;
}

/* Its hash, and the whole of it where that is wanted. */
static void phi__tape_secret_put_body(phi__tape *tape, phi__buf *line, const phi_request *request,
                                      bool whole) {
    char piece[4096];
    unsigned char hash[32];
    char hex[PHI__SHA256_HEX];
    phi__sha256 sha;
    uint64_t at = 0;
    size_t n;
    phi__sha256_begin(&sha);
    phi__buf_clear(&tape->bytes);
    while ((n = phi_request_read(request, at, piece, sizeof piece)) > 0) {
        phi__sha256_add(&sha, piece, n);
        if (whole) phi__buf_add(&tape->bytes, piece, n);
        at += n;
    }
    phi__sha256_end(&sha, hash);
    phi__sha256_hex(hash, hex);
    phi__records_u64(line, "length", at);
    phi__records_str(line, "sha256", phi__str(hex, sizeof hex));
    if (whole) phi__records_str(line, "body", phi__buf_str(&tape->bytes));
    line->failed = line->failed || tape->bytes.failed;
}

PHI__FN void phi__tape_secret_put_request(phi__tape *tape, phi__buf *line,
                                          const phi_request *request, bool whole) {
    phi__records_str(line, "method", phi_request_get_info(request).method);
    phi__tape_secret_put_url(tape, line, phi_request_get_info(request).url);
    phi__tape_secret_put_headers(tape, line, request);
    phi__tape_secret_put_body(tape, line, request, whole);
}
