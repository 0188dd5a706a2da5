/* mcp_serve_uri.c - addresses by a template: RFC 6570, level 1, read backwards. */
#include "mcp/mcp_serve_state_in.h"

static int phi__mcp_serve_uri_hex(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* A value with its %XX taken back, as a JSON string. False: a broken one. */
static bool phi__mcp_serve_uri_value(phi_str value, phi__buf *out) {
    phi__buf plain;
    size_t i;
    bool good = true;
    phi__buf_init(&plain, out->memory);
    for (i = 0; good && i < value.len; i++) {
        int high, low;
        if (value.at[i] != '%') {
            phi__buf_char(&plain, value.at[i]);
            continue;
        }
        high = i + 2 < value.len ? phi__mcp_serve_uri_hex(value.at[i + 1]) : -1;
        low = i + 2 < value.len ? phi__mcp_serve_uri_hex(value.at[i + 2]) : -1;
        good = high >= 0 && low >= 0;
        if (good) phi__buf_char(&plain, (char)(high * 16 + low));
        i += 2;
    }
    if (plain.failed) out->failed = true;
    phi__json_write_str(out, phi__buf_str(&plain));
    phi__buf_free(&plain);
    return good;
}

/* The end of a variable's value: it has no '/', and ends where the next literal begins. */
static size_t phi__mcp_serve_uri_end(phi_str uri, size_t at, char next) {
    while (at < uri.len && uri.at[at] != '/' && uri.at[at] != next) at++;
    return at;
}

PHI__FN bool phi__mcp_serve_uri_match(const char *pattern, phi_str uri, phi__buf *out) {
    size_t at = 0;
    bool good = true;
    if (out != NULL) phi__buf_char(out, '{');
    while (good && *pattern != '\0') {
        const char *close = *pattern == '{' ? strchr(pattern, '}') : NULL;
        if (close == NULL) {
            good = at < uri.len && uri.at[at++] == *pattern++;
            continue;
        }
        {
            size_t end = phi__mcp_serve_uri_end(uri, at, close[1]);
            good = end > at;
            if (good && out != NULL) {
                phi__json_write_key(out, phi__str(pattern + 1, (size_t)(close - pattern) - 1));
                good = phi__mcp_serve_uri_value(phi__str(uri.at + at, end - at), out);
            }
            at = end;
            pattern = close + 1;
        }
    }
    if (out != NULL) phi__buf_char(out, '}');
    return good && at == uri.len;
}
