/* tape_secret.c - what must not be on a tape: keys, in headers, URLs, and wherever else their text appears.

   In headers and URLs a secret is told by its name. Its text is kept, and asterisks of the same length stand for it in all
   that comes later: in answers that repeat it, and in results of tools. */
#include "session/replay_in.h"

static const char *const phi__secret_words[] = {"auth",    "api-key", "apikey",    "token",
                                                "secret",  "cookie",  "signature", "credential",
                                                "api_key", "passw"};

static bool phi__secret_name(phi_str name) {
    size_t i;
    for (i = 0; i < PHI__COUNT(phi__secret_words); i++)
        if (phi__str_find_nocase(name, 0, phi__secret_words[i]) != SIZE_MAX) return true;
    return phi__str_is_nocase(name, "key");
}

PHI__FN bool phi__secret_header(phi_str name) { return phi__secret_name(name); }

static void phi__secret_keep(phi__tape *tape, phi_str secret) {
    char *copy = (char *)phi__alloc(&tape->memory, secret.len);
    if (tape->secrets == NULL)
        tape->secrets =
            (phi_str *)phi__alloc(&tape->memory, PHI__SECRETS_MOST * sizeof *tape->secrets);
    if (copy == NULL || tape->secrets == NULL || tape->secret_count == PHI__SECRETS_MOST) {
        phi__free(&tape->memory, copy, secret.len);
        tape->failed = PHI_NO_MEMORY; /* better no recording than one with a key in it */
        return;
    }
    memcpy(copy, secret.at, secret.len);
    tape->secrets[tape->secret_count++] = phi__str(copy, secret.len);
}

PHI__FN void phi__secret_add(phi__tape *tape, phi_str secret) {
    size_t i;
    if (secret.len < PHI__SECRET_LEAST) return;
    for (i = 0; i < tape->secret_count; i++)
        if (phi_str_equal(tape->secrets[i], secret)) return;
    phi__secret_keep(tape, secret);
}

PHI__FN void phi__secret_value(phi__tape *tape, phi_str value) {
    size_t space = phi__str_find(value, 0, " "); /* "Bearer key" */
    if (space < value.len) value = phi__str(value.at + space + 1, value.len - space - 1);
    phi__secret_add(tape, phi__str_trim(value));
}

static bool phi__secret_hide_one(phi_str secret, char *at, size_t len) {
    bool found = false;
    char *end = at + len;
    while ((size_t)(end - at) >= secret.len) {
        char *first = (char *)memchr(at, secret.at[0], (size_t)(end - at) - secret.len + 1);
        if (first == NULL) break;
        at = first + 1;
        if (memcmp(first, secret.at, secret.len) != 0) continue;
        memset(first, '*', secret.len);
        at = first + secret.len;
        found = true;
    }
    return found;
}

PHI__FN bool phi__secret_hide(const phi__tape *tape, char *at, size_t len) {
    bool found = false;
    size_t i;
    for (i = 0; i < tape->secret_count; i++)
        found = phi__secret_hide_one(tape->secrets[i], at, len) || found;
    return found;
}

PHI__FN size_t phi__secret_tail(const phi__tape *tape, phi_str text) {
    size_t i, best = 0;
    for (i = 0; i < tape->secret_count; i++) {
        phi_str s = tape->secrets[i];
        size_t n = phi__min(s.len - 1, text.len);
        while (n > best && memcmp(text.at + text.len - n, s.at, n) != 0) n--;
        best = phi__max(best, n);
    }
    return best;
}

/* One "name=value" of a query. */
static void phi__secret_query(phi__tape *tape, phi__buf *out, phi_str part) {
    size_t eq = phi__str_find(part, 0, "=");
    if (eq >= part.len || !phi__secret_name(phi__str(part.at, eq))) {
        phi__buf_add_str(out, part);
        return;
    }
    phi__secret_add(tape, phi__str(part.at + eq + 1, part.len - eq - 1));
    phi__buf_add(out, part.at, eq + 1);
    phi__buf_text(out, "[redacted]");
}

/* Where the user and password before the host begin and end; false: there are none. */
static bool phi__secret_user(phi_str url, size_t *from, size_t *to) {
    size_t scheme = phi__str_find(url, 0, "://"), at, slash;
    if (scheme >= url.len) return false;
    *from = scheme + 3;
    slash = phi__str_find(url, *from, "/");
    at = phi__str_find(phi__str(url.at, phi__min(slash, url.len)), *from, "@");
    *to = at;
    return at < url.len;
}

PHI__FN void phi__secret_url(phi__tape *tape, phi__buf *out, phi_str url) {
    size_t from = 0, to = 0, at, end;
    if (phi__secret_user(url, &from, &to)) {
        phi__secret_add(tape, phi__str(url.at + from, to - from));
        phi__buf_add(out, url.at, from);
        phi__buf_text(out, "[redacted]");
        url = phi__str(url.at + to, url.len - to);
    }
    at = phi__min(phi__str_find(url, 0, "?"), url.len);
    if (at > 0) phi__buf_add(out, url.at, at);
    while (at < url.len) { /* at a "?" or "&" */
        phi__buf_char(out, url.at[at++]);
        end = phi__min(phi__str_find(url, at, "&"), url.len);
        phi__secret_query(tape, out, phi__str(url.at + at, end - at));
        at = end;
    }
}

PHI__FN void phi__secret_cookies(phi__buf *out, phi_str headers) {
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
