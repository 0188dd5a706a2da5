/* sigv4.c - computes the signature. The canonical request is hashed directly and not stored. */
#include "codecs/sigv4_in.h"

#include "base/base_in.h"

#define PHI__SIGV4_SERVICE "bedrock"
#define PHI__SIGV4_NAMES "content-type;host;x-amz-content-sha256;x-amz-date"

static void phi__sigv4_add(phi__sha256 *sha, phi_str text) {
    phi__sha256_add(sha, text.at, text.len);
}

static bool phi__sigv4_stays(char c) {
    return phi__is_alnum(c) || c == '-' || c == '_' || c == '.' || c == '~' || c == '/';
}

/* Hashes "name:value\n". The value has no blanks at its ends and only single blanks inside. */
static void phi__sigv4_header(phi__sha256 *sha, phi_str name, phi_str value) {
    phi__sigv4_add(sha, name);
    phi__sha256_add(sha, ":", 1);
    value = phi__str_trim(value);
    for (size_t i = 0; i < value.len; i++)
        if (value.at[i] != ' ' || value.at[i - 1] != ' ') phi__sha256_add(sha, &value.at[i], 1);
    phi__sha256_add(sha, "\n", 1);
}

static void phi__sigv4_request(const phi__sigv4 *s, const phi__sigv4_words *words, char hex[64]) {
    unsigned char hash[32];
    phi__sha256 sha;
    phi__sha256_begin(&sha);
    phi__sigv4_add(&sha, s->method);
    phi__sha256_add(&sha, "\n", 1);
    /* The path is encoded once more: each '%' becomes "%25". */
    static const char digits[] = "0123456789ABCDEF";
    char coded[3] = {'%', '0', '0'};
    if (s->path.len == 0) phi__sha256_add(&sha, "/", 1);
    for (size_t i = 0; i < s->path.len; i++) {
        unsigned char c = (unsigned char)s->path.at[i];
        coded[1] = digits[c >> 4];
        coded[2] = digits[c & 15];
        if (phi__sigv4_stays(s->path.at[i]))
            phi__sha256_add(&sha, &s->path.at[i], 1);
        else
            phi__sha256_add(&sha, coded, 3);
    }
    phi__sha256_add(&sha, "\n\n", 2); /* no query */
    phi__sigv4_header(&sha, PHI__LIT("content-type"), s->content_type);
    phi__sigv4_header(&sha, PHI__LIT("host"), s->host);
    phi__sigv4_header(&sha, PHI__LIT("x-amz-content-sha256"), phi_str_of(words->content));
    phi__sigv4_header(&sha, PHI__LIT("x-amz-date"), phi_str_of(words->date));
    if (s->token.len > 0) phi__sigv4_header(&sha, PHI__LIT("x-amz-security-token"), s->token);
    phi__sigv4_add(&sha, PHI__LIT("\n" PHI__SIGV4_NAMES));
    if (s->token.len > 0) phi__sigv4_add(&sha, PHI__LIT(";x-amz-security-token"));
    phi__sha256_add(&sha, "\n", 1);
    phi__sha256_add(&sha, words->content, 64);
    phi__sha256_end(&sha, hash);
    phi__sha256_hex(hash, hex);
}

/* Computes the key of a day, region and service. `work` is scratch; its length is restored. */
static void phi__sigv4_key(const phi__sigv4 *s, phi_str day, phi__buf *work,
                           unsigned char key[32]) {
    phi_str chain = phi__str((const char *)key, 32);
    size_t from = work->len;
    phi__buf_wrap(work, "AWS4", s->secret, "");
    if (work->failed) return;
    phi__sha256_hmac(phi__str(work->at + from, work->len - from), day, key);
    work->len = from;
    phi__sha256_hmac(chain, s->region, key);
    phi__sha256_hmac(chain, PHI__LIT(PHI__SIGV4_SERVICE), key);
    phi__sha256_hmac(chain, PHI__LIT("aws4_request"), key);
}

static void phi__sigv4_scope(const phi__sigv4 *s, phi_str day, phi__buf *out) {
    phi__buf_add_str(out, day);
    phi__buf_wrap(out, "/", s->region, "");
    phi__buf_text(out, "/" PHI__SIGV4_SERVICE "/aws4_request");
}

PHI__FN void phi__sigv4_sign(const phi__sigv4 *s, phi__sigv4_words *words, phi__buf *out) {
    unsigned char key[32], hash[32];
    char hex[64];
    size_t from = out->len;
    phi_str day = phi__str(words->date, 8);
    /* Make "20261120T123456Z" from "2026-11-20T12:34:56Z". */
    char text[PHI__DATE_BYTES];
    size_t n = 0;
    (void)phi__date_put(s->wall_ms, text);
    for (size_t i = 0; i < 19; i++)
        if (text[i] != '-' && text[i] != ':') words->date[n++] = text[i];
    words->date[n++] = 'Z';
    words->date[n] = '\0';
    phi__sha256_hex(s->body_sha256, words->content);
    words->content[64] = '\0';
    phi__sigv4_request(s, words, hex);
    /* the string to sign, which the signature replaces later */
    phi__buf_text(out, "AWS4-HMAC-SHA256\n");
    phi__buf_text(out, words->date);
    phi__buf_char(out, '\n');
    phi__sigv4_scope(s, day, out);
    phi__buf_char(out, '\n');
    phi__buf_add(out, hex, sizeof hex);
    phi__sigv4_key(s, day, out, key);
    if (out->failed) return;
    phi__sha256_hmac(phi__str((const char *)key, 32), phi__str(out->at + from, out->len - from),
                     hash);
    phi__sha256_hex(hash, hex);
    out->len = from;
    phi__buf_wrap(out, "AWS4-HMAC-SHA256 Credential=", s->access_key, "/");
    phi__sigv4_scope(s, day, out);
    phi__buf_text(out, ", SignedHeaders=" PHI__SIGV4_NAMES);
    if (s->token.len > 0) phi__buf_text(out, ";x-amz-security-token");
    phi__buf_text(out, ", Signature=");
    phi__buf_add(out, hex, sizeof hex);
}
