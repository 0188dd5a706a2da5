/* mcp_oauth_words.c - reads URLs, challenges and metadata documents. */
#include "mcp/mcp_oauth_words_in.h"

#include "mcp/mcp_rpc_in.h"
#include "text/text_in.h"

/* ---- the network that a host is in ---- */

static char phi__url_lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

/* Returns 16 if c is no hexadecimal digit. */
static int phi__url_digit(char c) {
    uint32_t digit = phi__json_text_hex(&c, &c + 1, 1);
    return digit > 15 ? 16 : (int)digit;
}

/* Reads a number as inet_aton does: 0x7f, 0177 or 127. */
static bool phi__url_number(phi_str s, uint64_t *out) {
    unsigned base = 10;
    uint64_t n = 0;
    size_t i = 0;
    if (s.len >= 2 && s.at[0] == '0' && phi__url_lower(s.at[1]) == 'x') {
        base = 16;
        i = 2;
    } else if (s.len >= 2 && s.at[0] == '0')
        base = 8;
    if (i == s.len && base != 16) return false;
    for (; i < s.len; i++) {
        int digit = phi__url_digit(s.at[i]);
        if (digit >= (int)base || n > UINT32_MAX) return false;
        n = n * base + (unsigned)digit;
    }
    *out = n;
    return true;
}

/* True for decimal digits of any length, or a hexadecimal number. A host whose last label is a
   number must be an IPv4 address. */
static bool phi__url_is_number(phi_str s) {
    uint64_t number;
    size_t i = 0;
    while (i < s.len && phi__is_digit(s.at[i])) i++;
    return (s.len > 0 && i == s.len) || phi__url_number(s, &number);
}

static phi__oauth_reach phi__url_reach_v4(uint32_t a) {
    static const struct {
        uint32_t net;
        uint32_t bits;
    } reserved[] = {{0x0a000000u, 8},  {0xac100000u, 12}, {0xc0a80000u, 16}, {0xa9fe0000u, 16},
                    {0x64400000u, 10}, {0xc0000000u, 24}, {0xc6120000u, 15}, {0xe0000000u, 3}};
    if (a >> 24 == 127 || a >> 24 == 0) return PHI__OAUTH_LOOPBACK;
    for (size_t i = 0; i < PHI__COUNT(reserved); i++)
        if ((a ^ reserved[i].net) >> (32 - reserved[i].bits) == 0) return PHI__OAUTH_PRIVATE;
    return PHI__OAUTH_PUBLIC;
}

/* Reads an IPv4 address in all forms that resolvers accept: one to four numbers, of which the last
   fills the remaining bytes. False: the host is not such an address. */
static bool phi__url_v4(phi_str host, uint32_t *out) {
    uint64_t parts[4], a = 0;
    size_t n = 0, at = 0;
    for (size_t i = 0; i <= host.len; i++) {
        if (i < host.len && host.at[i] != '.') continue;
        if (n == 4 || !phi__url_number(phi__str(host.at + at, i - at), &parts[n])) return false;
        n++;
        at = i + 1;
    }
    for (size_t i = 0; i + 1 < n; i++) {
        if (parts[i] > 255) return false;
        a |= parts[i] << (24 - 8 * i);
    }
    if (parts[n - 1] >= (uint64_t)1 << (8 * (5 - n))) return false;
    *out = (uint32_t)(a | parts[n - 1]);
    return true;
}

/* Reads an IPv6 address without its brackets. False: malformed. */
static bool phi__url_v6(phi_str s, unsigned char out[16]) {
    size_t n = 0, gap = SIZE_MAX, i = 0;
    uint32_t v4;
    memset(out, 0, 16);
    while (i < s.len) {
        size_t end = i, k;
        unsigned value = 0;
        if (s.at[i] == ':') {
            if (i + 1 >= s.len || s.at[i + 1] != ':' || gap != SIZE_MAX) return false;
            gap = n;
            i += 2;
            continue;
        }
        while (end < s.len && s.at[end] != ':') end++;
        if (memchr(s.at + i, '.', end - i) != NULL) {
            if (end != s.len || n > 12 || !phi__url_v4(phi__str(s.at + i, end - i), &v4))
                return false;
            for (k = 0; k < 4; k++) out[n++] = (unsigned char)(v4 >> (24 - 8 * k));
            break;
        }
        if (end - i > 4 || n > 14) return false;
        for (k = i; k < end; k++) {
            int digit = phi__url_digit(s.at[k]);
            if (digit > 15) return false;
            value = value * 16 + (unsigned)digit;
        }
        out[n++] = (unsigned char)(value >> 8);
        out[n++] = (unsigned char)value;
        i = end;
        if (i < s.len && (i + 1 == s.len || s.at[i + 1] != ':')) i++;
        if (i == s.len && end != s.len) return false; /* a colon at the end */
    }
    if (gap == SIZE_MAX) return n == 16;
    if (n > 14) return false;
    memmove(out + gap + (16 - n), out + gap, n - gap);
    memset(out + gap, 0, 16 - n);
    return true;
}

static phi__oauth_reach phi__url_reach_v6(const unsigned char a[16]) {
    static const unsigned char zero[16] = {0};
    static const unsigned char nat64[12] = {0, 0x64, 0xff, 0x9b};
    uint32_t v4 = (uint32_t)a[12] << 24 | (uint32_t)a[13] << 16 | (uint32_t)a[14] << 8 | a[15];
    if (memcmp(a, zero, 15) == 0 && a[15] <= 1) return PHI__OAUTH_LOOPBACK;
    if (memcmp(a, zero, 10) == 0 && a[10] == a[11] && (a[10] == 0xff || a[10] == 0))
        return phi__url_reach_v4(v4); /* IPv4 address inside IPv6 */
    if (memcmp(a, nat64, 12) == 0) return phi__url_reach_v4(v4);
    if (a[0] == 0x20 && a[1] == 0x02) /* 6to4 */
        return phi__url_reach_v4((uint32_t)a[2] << 24 | (uint32_t)a[3] << 16 | (uint32_t)a[4] << 8 |
                                 a[5]);
    /* only 2000::/3 is allocated for public addresses */
    return a[0] >> 5 == 1 ? PHI__OAUTH_PUBLIC : PHI__OAUTH_PRIVATE;
}

static bool phi__url_under(phi_str host, const char *domain) {
    size_t n = strlen(domain);
    return host.len > n && phi__str_is_nocase(phi__str_from(host, host.len - n), domain);
}

static bool phi__url_reach_of(phi_str host, phi__oauth_reach *out) {
    static const char *const inner[] = {".local", ".internal", ".home.arpa", ".lan", ".intranet"};
    unsigned char v6[16];
    uint32_t v4;
    size_t last;
    if (host.at[0] == '[') {
        if (!phi__url_v6(phi__str(host.at + 1, host.len - 2), v6)) return false;
        *out = phi__url_reach_v6(v6);
        return true;
    }
    if (host.at[host.len - 1] == '.') host.len--;
    if (host.len == 0 || host.at[0] == '.') return false;
    for (last = host.len; last > 0 && host.at[last - 1] != '.';) last--;
    if (phi__url_is_number(phi__str(host.at + last, host.len - last))) {
        if (!phi__url_v4(host, &v4)) return false;
        *out = phi__url_reach_v4(v4);
        return true;
    }
    *out = PHI__OAUTH_PUBLIC;
    if (last == 0) *out = PHI__OAUTH_PRIVATE;
    for (size_t i = 0; i < PHI__COUNT(inner); i++)
        if (phi__url_under(host, inner[i])) *out = PHI__OAUTH_PRIVATE;
    if (phi__str_is_nocase(host, "localhost") || phi__url_under(host, ".localhost"))
        *out = PHI__OAUTH_LOOPBACK;
    return true;
}

/* ---- parts of a URL ---- */

/* Reads "host:port" or "[v6]:port". */
static bool phi__url_authority(phi_str at, phi__oauth_url *out) {
    size_t n = 0;
    uint64_t port;
    if (at.len > 0 && at.at[0] == '[') {
        while (n < at.len && at.at[n] != ']') n++;
        if (n++ == at.len) return false;
    } else
        while (n < at.len &&
               (phi__is_alnum(at.at[n]) || at.at[n] == '.' || at.at[n] == '-' || at.at[n] == '_'))
            n++;
    if (n == 0) return false;
    out->host = phi__str(at.at, n);
    out->port = out->https ? 443 : 80;
    if (n < at.len) {
        if (at.at[n] != ':' || at.len - n > 6) return false;
        if (!phi__str_to_u64(phi__str(at.at + n + 1, at.len - n - 1), &port) || port == 0 ||
            port > 65535)
            return false;
        out->port = (uint32_t)port;
    }
    return phi__url_reach_of(out->host, &out->reach);
}

/* True if text has only characters of RFC 3986 except "#". Each "%" needs two digits. */
static bool phi__url_plain(phi_str text) {
    static const char others[] = "-._~:/?[]@!$&'()*+,;=%";
    for (size_t i = 0; i < text.len; i++) {
        char c = text.at[i];
        if (c == '\0' || (!phi__is_alnum(c) && strchr(others, c) == NULL)) return false;
        if (c == '%' && (i + 2 >= text.len || phi__url_digit(text.at[i + 1]) > 15 ||
                         phi__url_digit(text.at[i + 2]) > 15))
            return false;
    }
    return true;
}

PHI__FN bool phi__url_read(phi_str text, phi__oauth_url *out) {
    size_t end;
    memset(out, 0, sizeof *out);
    if (text.len > PHI__OAUTH_URL || !phi__url_plain(text)) return false;
    out->https = phi__str_find_nocase(text, 0, "https://") == 0;
    if (!out->https && phi__str_find_nocase(text, 0, "http://") != 0) return false;
    size_t start = out->https ? 8 : 7;
    for (end = start; end < text.len && text.at[end] != '/' && text.at[end] != '?';) end++;
    out->origin = phi__str(text.at, end);
    if (!phi__url_authority(phi__str(text.at + start, end - start), out)) return false;
    for (start = end; end < text.len && text.at[end] != '?';) end++;
    out->path = phi__str(text.at + start, end - start);
    if (end < text.len) out->query = phi__str(text.at + end + 1, text.len - end - 1);
    return true;
}

PHI__FN const char *phi__url_fault(const phi__oauth_url *server, phi_str text, bool allow_private) {
    phi__oauth_url url;
    if (!phi__url_read(text, &url)) return "is no address of https";
    if (!url.https &&
        (server->https || server->reach != PHI__OAUTH_LOOPBACK || url.reach != PHI__OAUTH_LOOPBACK))
        return "is not https";
    if (url.reach > server->reach && !allow_private)
        return "leads into a private network, which the server is not in";
    return NULL;
}

PHI__FN bool phi__url_same_host(const phi__oauth_url *a, const phi__oauth_url *b) {
    return phi__str_equal_nocase(a->host, b->host);
}

PHI__FN bool phi__url_covers(phi_str resource, const phi__oauth_url *server) {
    phi__oauth_url of;
    if (!phi__url_read(resource, &of) || of.https != server->https || of.port != server->port ||
        !phi__url_same_host(&of, server))
        return false;
    if (of.query.len > 0)
        return phi_str_equal(of.query, server->query) && phi_str_equal(of.path, server->path);
    size_t n = of.path.len;
    while (n > 0 && of.path.at[n - 1] == '/') n--;
    if (n > server->path.len || (n > 0 && memcmp(of.path.at, server->path.at, n) != 0))
        return false;
    return n == server->path.len || server->path.at[n] == '/';
}

PHI__FN void phi__url_put_resource(phi__buf *out, const phi__oauth_url *url) {
    phi_str path = url->path;
    for (size_t i = 0; i < url->origin.len; i++)
        phi__buf_char(out, phi__url_lower(url->origin.at[i]));
    if (path.len > 0 && path.at[path.len - 1] == '/' && url->query.len == 0) path.len--;
    phi__buf_add_str(out, path);
    if (url->query.len == 0) return;
    phi__buf_char(out, '?');
    phi__buf_add_str(out, url->query);
}

/* ---- well-known URLs ---- */

PHI__FN bool phi__url_join(phi_arena *arena, phi_str a, const char *b, phi_str c, phi_str *out) {
    phi__buf text = phi__buf_of(arena->memory);
    phi__buf_add_str(&text, a);
    phi__buf_text(&text, b);
    phi__buf_add_str(&text, c);
    return phi__mcp_keep(&text, arena, out);
}

static phi_str phi__url_bare_path(const phi__oauth_url *url) {
    phi_str path = url->path;
    if (path.len > 0 && path.at[path.len - 1] == '/') path.len--;
    return path;
}

PHI__FN size_t phi__url_resources(phi_arena *arena, const phi__oauth_url *server,
                                  phi_str out[PHI__OAUTH_KNOWN]) {
    static const char known[] = "/.well-known/oauth-protected-resource";
    phi_str path = phi__url_bare_path(server);
    size_t n = 0;
    if (path.len > 0 && !phi__url_join(arena, server->origin, known, path, &out[n++])) return 0;
    if (!phi__url_join(arena, server->origin, known, phi__str("", 0), &out[n++])) return 0;
    return n;
}

PHI__FN size_t phi__url_servers(phi_arena *arena, const phi__oauth_url *issuer,
                                phi_str out[PHI__OAUTH_KNOWN]) {
    static const char oauth[] = "/.well-known/oauth-authorization-server";
    static const char openid[] = "/.well-known/openid-configuration";
    phi_str path = phi__url_bare_path(issuer);
    phi_str whole = phi__str(issuer->origin.at, issuer->origin.len + path.len);
    if (!phi__url_join(arena, issuer->origin, oauth, path, &out[0]) ||
        !phi__url_join(arena, issuer->origin, openid, path, &out[1]) ||
        !phi__url_join(arena, whole, openid, phi__str("", 0), &out[2]))
        return 0;
    return path.len > 0 ? 3 : 2;
}

/* ---- forms ---- */

PHI__FN void phi__url_escape(phi__buf *out, phi_str text) { phi__buf_percent(out, text, "-._~"); }

PHI__FN void phi__url_put(phi__buf *out, const char *name, phi_str value) {
    char last = out->len > 0 ? out->at[out->len - 1] : '?';
    if (last != '?' && last != '&') phi__buf_char(out, '&');
    phi__buf_text(out, name);
    phi__buf_char(out, '=');
    phi__url_escape(out, value);
}

static phi_status phi__url_decode(phi_arena *arena, phi_str raw, phi_str *out) {
    char *at = phi__arena_bytes(arena, raw.len + 1);
    size_t n = 0;
    if (at == NULL) return PHI_NO_MEMORY;
    for (size_t i = 0; i < raw.len; i++) {
        char c = raw.at[i];
        if (c == '+') c = ' ';
        if (c == '%') {
            int high = i + 2 < raw.len ? phi__url_digit(raw.at[i + 1]) : 16;
            int low = i + 2 < raw.len ? phi__url_digit(raw.at[i + 2]) : 16;
            if (high > 15 || low > 15) return PHI_PARSE;
            c = (char)(high * 16 + low);
            i += 2;
        }
        at[n++] = c;
    }
    at[n] = '\0';
    *out = phi__str(at, n);
    return PHI_OK;
}

PHI__FN phi_status phi__url_get(phi_arena *arena, phi_str query, const char *name, phi_str *out) {
    phi_status status = PHI_NOT_FOUND;
    size_t at = 0;
    for (size_t i = 0; i <= query.len; i++) {
        size_t eq = 0;
        if (i < query.len && query.at[i] != '&') continue;
        phi_str part = phi__str(query.at + at, i - at);
        at = i + 1;
        while (eq < part.len && part.at[eq] != '=') eq++;
        phi_str key = phi__str(part.at, eq);
        if (!phi__str_is(key, name)) continue;
        if (status != PHI_NOT_FOUND) return PHI_PARSE;
        if (eq < part.len) eq++;
        status = phi__url_decode(arena, phi__str(part.at + eq, part.len - eq), out);
        if (status != PHI_OK) return status;
    }
    return status;
}

PHI__FN phi_str phi__url_bare(phi_str url) {
    size_t n = 0;
    while (n < url.len && url.at[n] != '?' && url.at[n] != '#') n++;
    return phi__str(url.at, n);
}

/* ---- challenges ---- */

typedef struct phi__oauth_scan {
    phi_arena *arena;
    phi_str text;
    size_t at;
    bool bearer, failed; /* bearer: the challenge is Bearer or DPoP */
} phi__oauth_scan;

static void phi__oauth_skip(phi__oauth_scan *s, const char *set) {
    while (s->at < s->text.len && s->text.at[s->at] != '\0' &&
           strchr(set, s->text.at[s->at]) != NULL)
        s->at++;
}

static phi_str phi__oauth_token(phi__oauth_scan *s, const char *end) {
    size_t from = s->at;
    while (s->at < s->text.len &&
           (s->text.at[s->at] == '\0' || strchr(end, s->text.at[s->at]) == NULL))
        s->at++;
    return phi__str(s->text.at + from, s->at - from);
}

/* Returns the bytes from the quote at s->at to the closing quote, or to the end of the text. */
static size_t phi__oauth_quoted(const phi__oauth_scan *s) {
    size_t at = s->at + 1;
    while (at < s->text.len && s->text.at[at] != '"') at += s->text.at[at] == '\\' ? 2 : 1;
    return phi__min(at, s->text.len) - s->at;
}

/* Reads a token, or a quoted string without its quotes and backslashes. */
static phi_str phi__oauth_value(phi__oauth_scan *s) {
    size_t n = 0;
    if (s->at >= s->text.len || s->text.at[s->at] != '"') return phi__oauth_token(s, ", \t");
    char *to = phi__arena_bytes(s->arena, phi__oauth_quoted(s));
    if (to == NULL) {
        s->failed = true;
        s->at = s->text.len;
        return phi__str("", 0);
    }
    for (s->at++; s->at < s->text.len && s->text.at[s->at] != '"'; s->at++) {
        if (s->text.at[s->at] == '\\' && s->at + 1 < s->text.len) s->at++;
        to[n++] = s->text.at[s->at];
    }
    if (s->at < s->text.len) s->at++;
    return phi__str(to, n);
}

/* Reads the challenges of a header. A word before "=" is a parameter; any other word begins a
   challenge. */
static void phi__oaw_header(phi__oauth_scan *s, phi__oauth_dare *out) {
    s->bearer = false;
    for (;;) {
        phi__oauth_skip(s, ", \t");
        if (s->at >= s->text.len) return;
        phi_str word = phi__oauth_token(s, "=, \t\"");
        phi__oauth_skip(s, " \t");
        if (s->at < s->text.len && s->text.at[s->at] == '=') {
            s->at++;
            phi__oauth_skip(s, " \t");
            phi_str value = phi__oauth_value(s);
            if (s->bearer) {
                phi_str *to = NULL;
                if (phi__str_is_nocase(word, "resource_metadata")) to = &out->resource_metadata;
                if (phi__str_is_nocase(word, "scope")) to = &out->scope;
                if (phi__str_is_nocase(word, "error")) to = &out->error;
                if (to != NULL && to->len == 0) *to = value;
            }
        } else if (word.len > 0) {
            s->bearer = phi__str_is_nocase(word, "Bearer") || phi__str_is_nocase(word, "DPoP");
            if (s->bearer) out->bearer = true;
        } else
            (void)phi__oauth_value(s); /* a string without a name */
    }
}

PHI__FN bool phi__oaw_challenge(phi_arena *arena, phi_str headers, phi__oauth_dare *out) {
    memset(out, 0, sizeof *out);
    phi__oauth_scan s = PHI_ZERO;
    s.arena = arena;
    while (headers.len > 0) {
        size_t end = phi__min(phi__str_find(headers, 0, "\n"), headers.len);
        phi_str line = phi__str(headers.at, end);
        size_t colon = phi__str_find(line, 0, ":");
        headers = phi__str_from(headers, phi__min(end + 1, headers.len));
        if (colon == SIZE_MAX || !phi__str_is_nocase(phi__str(line.at, colon), "WWW-Authenticate"))
            continue;
        s.text = phi__str_trim(phi__str_from(line, colon + 1));
        s.at = 0;
        phi__oaw_header(&s, out);
    }
    return !s.failed;
}

PHI__FN phi_str phi__oauth_token_of(phi_str bearer) {
    size_t at = phi__str_find(bearer, 0, " ");
    return at == SIZE_MAX ? phi__str("", 0) : phi__str_from(bearer, at + 1);
}

PHI__FN bool phi__oauth_printable(phi_str text) {
    for (size_t i = 0; i < text.len; i++)
        if (text.at[i] <= ' ' || text.at[i] > '~') return false;
    return text.len > 0;
}

/* ---- scopes ---- */

/* True if the scope is valid (RFC 6749, 3.3). */
static bool phi__oauth_scope_fits(phi_str scope) {
    for (size_t i = 0; i < scope.len; i++) {
        char c = scope.at[i];
        if (c <= ' ' || c > '~' || c == '"' || c == '\\') return false;
    }
    return scope.len > 0;
}

/* Returns the next scope of a set, and advances *at. Empty at the end. */
static phi_str phi__oauth_next(phi_str set, size_t *at) {
    if (set.len == 0) return set;
    while (*at < set.len && set.at[*at] == ' ') ++*at;
    size_t from = *at;
    while (*at < set.len && set.at[*at] != ' ') ++*at;
    return phi__str(set.at + from, *at - from);
}

PHI__FN bool phi__oauth_has(phi_str set, phi_str scope) {
    size_t at = 0;
    phi_str one;
    while ((one = phi__oauth_next(set, &at)).len > 0)
        if (phi_str_equal(one, scope)) return true;
    return false;
}

PHI__FN bool phi__oauth_has_all(phi_str set, phi_str scopes) {
    size_t at = 0;
    phi_str one;
    while ((one = phi__oauth_next(scopes, &at)).len > 0)
        if (!phi__oauth_has(set, one)) return false;
    return true;
}

PHI__FN void phi__oauth_join(phi__buf *set, phi_str scopes) {
    size_t at = 0, count = 0;
    phi_str one;
    while (phi__oauth_next(phi__buf_str(set), &at).len > 0) count++;
    at = 0;
    scopes.len = phi__min(scopes.len, 4 * PHI__OAUTH_SCOPE_BYTES);
    while (count < PHI__OAUTH_SCOPES && (one = phi__oauth_next(scopes, &at)).len > 0) {
        if (!phi__oauth_scope_fits(one) ||
            one.len >= PHI__OAUTH_SCOPE_BYTES - phi__min(set->len, PHI__OAUTH_SCOPE_BYTES) ||
            phi__oauth_has(phi__buf_str(set), one))
            continue;
        if (set->len > 0) phi__buf_char(set, ' ');
        phi__buf_add_str(set, one);
        count++;
    }
}

/* ---- documents ---- */

static phi_status phi__oauth_parse(phi_arena *arena, phi_str text, phi_json **root,
                                   const char **fault) {
    phi_status status = phi__rpc_parse_as(arena, text, PHI_JSON_BORROW, PHI__OAUTH_DEPTH, root);
    *fault = status != PHI_OK ? "is no JSON, or nested too deeply" : "is no JSON object";
    if (status == PHI_NO_MEMORY) return status;
    return phi_json_is(*root, PHI_JSON_OBJECT) ? PHI_OK : PHI_PARSE;
}

/* Joins the strings of an array to a set of scopes. False: no memory. */
static bool phi__oauth_set(phi_arena *arena, const phi_json *array, phi_str *out) {
    phi_json_iter it = phi_json_each(array);
    size_t left = 8 * PHI__OAUTH_SCOPES;
    *out = phi__str("", 0);
    if (!phi_json_is(array, PHI_JSON_ARRAY)) return true;
    phi__buf set = phi__buf_of(arena->memory);
    while (left-- > 0 && phi_json_next(&it) != NULL) {
        phi_str one = phi__json_text_of(it.at);
        if (memchr(one.at, ' ', one.len) == NULL) phi__oauth_join(&set, one);
    }
    return phi__mcp_keep(&set, arena, out);
}

static bool phi__oauth_lists(const phi_json *array, const char *text) {
    phi_json_iter it = phi_json_each(array);
    if (!phi_json_is(array, PHI_JSON_ARRAY)) return false;
    while (phi_json_next(&it) != NULL)
        if (phi__str_is(phi__json_text_of(it.at), text)) return true;
    return false;
}

PHI__FN phi_status phi__oaw_resource(phi_arena *arena, phi_str text, phi_str preferred,
                                     phi__oauth_resource *out, const char **fault) {
    phi_json *root;
    const phi_json *item;
    phi_status status = phi__oauth_parse(arena, text, &root, fault);
    memset(out, 0, sizeof *out);
    if (status != PHI_OK) return status;
    const phi_json *servers = phi_json_get(root, "authorization_servers");
    out->resource = phi__records_get_str(root, "resource");
    *fault = "names no resource";
    if (out->resource.len == 0) return PHI_PARSE;
    phi_json_iter it = phi_json_each(servers);
    while (phi_json_is(servers, PHI_JSON_ARRAY) && (item = phi_json_next(&it)) != NULL) {
        phi_str one = phi__json_text_of(item);
        if (one.len == 0) continue;
        if (out->issuer.len == 0 || phi_str_equal(one, preferred)) out->issuer = one;
    }
    *fault = "names no authorization server";
    if (out->issuer.len == 0) return PHI_PARSE;
    if (!phi__oauth_set(arena, phi_json_get(root, "scopes_supported"), &out->scopes))
        return PHI_NO_MEMORY;
    return PHI_OK;
}

PHI__FN phi_status phi__oaw_server(phi_arena *arena, phi_str text, bool person,
                                   phi__oauth_server *out, const char **fault) {
    static const char *const names[] = {"none", "client_secret_basic", "client_secret_post",
                                        "private_key_jwt"}; /* in the order of their bits */
    phi_json *root;
    phi_status status = phi__oauth_parse(arena, text, &root, fault);
    memset(out, 0, sizeof *out);
    if (status != PHI_OK) return status;
    out->issuer = phi__records_get_str(root, "issuer");
    out->authorize = phi__records_get_str(root, "authorization_endpoint");
    out->token = phi__records_get_str(root, "token_endpoint");
    out->registration = phi__records_get_str(root, "registration_endpoint");
    const phi_json *methods = phi_json_get(root, "token_endpoint_auth_methods_supported");
    out->says_methods = phi_json_is(methods, PHI_JSON_ARRAY);
    for (size_t i = 0; i < PHI__COUNT(names); i++)
        if (phi__oauth_lists(methods, names[i])) out->methods |= (uint32_t)PHI__OAUTH_NONE << i;
    if (!phi__oauth_set(arena, phi_json_get(root, "dpop_signing_alg_values_supported"), &out->dpop))
        return PHI_NO_MEMORY;
    out->s256 = phi__oauth_lists(phi_json_get(root, "code_challenge_methods_supported"), "S256");
    out->documents = phi__records_get_bool(root, "client_id_metadata_document_supported");
    out->names_itself =
        phi__records_get_bool(root, "authorization_response_iss_parameter_supported");
    out->offline = phi__oauth_lists(phi_json_get(root, "scopes_supported"), "offline_access");
    *fault = out->issuer.len == 0                ? "names no issuer"
             : person && out->authorize.len == 0 ? "names no authorization_endpoint"
             : out->token.len == 0               ? "names no token_endpoint"
                                                 : "";
    return **fault == '\0' ? PHI_OK : PHI_PARSE;
}
