/* http_head.c - the parser of http_head_in.h: checks lines byte by byte, splits them at the end. */
#include "serve/http_head_in.h"
#include "text/text_in.h"

#ifndef PHI_NO_LISTEN

#include <string.h>

enum {
    PHI__HEAD_LINE = 8192,
    PHI__HEAD_MOST = 32768,
    PHI__HEAD_COUNT = 100,
    PHI__HEAD_METHOD = 32,     /* max. bytes of a method */
    PHI__HEAD_DIGITS = 16,     /* max. digits of a chunk's size: 64 bits */
    PHI__HEAD_EXTENSION = 256, /* max. bytes after a chunk's size */
    PHI__HEAD_OVERHEAD = 16384 /* max. bytes of a body's extensions and trailers */
};

static phi_status phi__head_refuse(phi__http_head *head, int status, const char *message) {
    head->refused = status;
    head->message = message;
    return PHI_PARSE;
}

static bool phi__head_is_token(char c) {
    return phi__is_alnum(c) || (c != '\0' && strchr("!#$%&'*+-.^_`|~", c) != NULL);
}

static bool phi__head_all_token(phi_str s) {
    for (size_t i = 0; i < s.len; i++)
        if (!phi__head_is_token(s.at[i])) return false;
    return s.len > 0;
}

/* True unless c is a control character other than tab. */
static bool phi__head_is_text(char c) {
    unsigned char u = (unsigned char)c;
    return c == '\t' || (u >= 0x20 && u != 0x7F);
}

static phi_str phi__head_trim(phi_str s) {
    while (s.len > 0 && (s.at[0] == ' ' || s.at[0] == '\t')) s = phi__str_from(s, 1);
    while (s.len > 0 && (s.at[s.len - 1] == ' ' || s.at[s.len - 1] == '\t')) s.len--;
    return s;
}

/* ---- the request line ---- */

/* True for "host", "host:port" or "[v6]:port". */
static bool phi__head_is_authority(phi_str s) {
    size_t i = 0;
    if (s.len > 0 && s.at[0] == '[') {
        while (i < s.len && s.at[i] != ']') {
            if (i > 0 && strchr("0123456789abcdefABCDEF:.", s.at[i]) == NULL) return false;
            i++;
        }
        if (i < 3 || i++ == s.len) return false;
    } else
        while (i < s.len && s.at[i] != ':') {
            if (!phi__head_is_token(s.at[i]) || strchr("#%^`|", s.at[i]) != NULL) return false;
            i++;
        }
    if (i == s.len) return true;
    if (i == 0 || s.at[i++] != ':' || s.len - i > 5) return false;
    while (i < s.len && phi__is_digit(s.at[i])) i++;
    return i == s.len;
}

static void phi__head_split_path(phi__http_head *head, phi_str path) {
    size_t mark = phi__str_find(path, 0, "?");
    if (mark != SIZE_MAX) {
        head->query = phi__str_from(path, mark + 1);
        path.len = mark;
    }
    head->path = path.len > 0 ? path : PHI__LIT("/");
}

static phi_status phi__head_target(phi__http_head *head) {
    phi_str t = head->target;
    size_t i;
    for (i = 0; i < t.len; i++)
        if ((unsigned char)t.at[i] <= 0x20 || (unsigned char)t.at[i] >= 0x7F || t.at[i] == '#')
            return phi__head_refuse(head, 400, "a byte that no request target holds");
    if (t.len > 0 && t.at[0] == '/') {
        phi__head_split_path(head, t);
        return PHI_OK;
    }
    if (phi__str_is(head->method, "CONNECT"))
        return phi__head_refuse(head, 501, "CONNECT is not served");
    if (phi__str_is(t, "*")) {
        head->path = t;
        return phi__str_is(head->method, "OPTIONS")
                   ? PHI_OK
                   : phi__head_refuse(head, 400, "\"*\" is a target of OPTIONS alone");
    }
    size_t scheme = phi__str_find_nocase(t, 0, "http://") == 0    ? 7
                    : phi__str_find_nocase(t, 0, "https://") == 0 ? 8
                                                                  : 0;
    if (scheme == 0) return phi__head_refuse(head, 400, "a request target without a '/'");
    for (i = scheme; i < t.len && t.at[i] != '/' && t.at[i] != '?'; i++) continue;
    head->authority = phi__str(t.at + scheme, i - scheme);
    if (i == scheme || !phi__head_is_authority(head->authority))
        return phi__head_refuse(head, 400, "a bad host in the request target");
    phi__head_split_path(head, phi__str_from(t, i));
    return PHI_OK;
}

static phi_status phi__head_request_line(phi__http_head *head, phi_str line) {
    const char *first = (const char *)memchr(line.at, ' ', line.len);
    size_t method = first != NULL ? (size_t)(first - line.at) : line.len;
    phi_str rest = phi__str_from(line, method);
    size_t second = rest.len > 0 ? phi__str_find(rest, 1, " ") : SIZE_MAX;
    head->method = phi__str(line.at, method);
    if (!phi__head_all_token(head->method))
        return phi__head_refuse(head, 400, "a bad request line");
    if (method > PHI__HEAD_METHOD) return phi__head_refuse(head, 501, "an unknown method");
    if (second == SIZE_MAX) return phi__head_refuse(head, 400, "a request line without a version");
    head->target = phi__str(rest.at + 1, second - 1);
    phi_str version = phi__str_from(rest, second + 1);
    if (version.len != 8 || !phi__str_starts(version, "HTTP/") || version.at[6] != '.' ||
        !phi__is_digit(version.at[5]) || !phi__is_digit(version.at[7]))
        return phi__head_refuse(head, 400, "a bad version in the request line");
    if (version.at[5] != '1' || version.at[7] > '1')
        return phi__head_refuse(head, 505, "only HTTP/1.1 and HTTP/1.0 are served");
    head->http_1_0 = version.at[7] == '0';
    return phi__head_target(head);
}

/* ---- header lines ---- */

static phi_status phi__head_header(phi__http_head *head, phi_str line) {
    const char *colon = (const char *)memchr(line.at, ':', line.len);
    size_t n = colon != NULL ? (size_t)(colon - line.at) : 0;
    phi__header *header = &head->room[head->header_count];
    if (line.at[0] == ' ' || line.at[0] == '\t')
        return phi__head_refuse(head, 400, "a folded header line");
    if (colon == NULL) return phi__head_refuse(head, 400, "a header line without a colon");
    header->name = phi__str(line.at, n);
    header->value = phi__head_trim(phi__str(colon + 1, line.len - n - 1));
    if (!phi__head_all_token(header->name)) return phi__head_refuse(head, 400, "a bad header name");
    head->header_count++;
    return PHI_OK;
}

/* Counts the headers with that name. *value is the value of the last one. */
static size_t phi__head_count(const phi__http_head *head, const char *name, phi_str *value) {
    size_t n = 0;
    for (size_t i = 0; i < head->header_count; i++)
        if (phi__str_is_nocase(head->headers[i].name, name)) {
            *value = head->headers[i].value;
            n++;
        }
    return n;
}

static phi_status phi__head_host(phi__http_head *head) {
    phi_str host = phi__str(NULL, 0);
    size_t n = phi__head_count(head, "host", &host);
    if (n > 1) return phi__head_refuse(head, 400, "two Host headers");
    if (n == 0 && !head->http_1_0) return phi__head_refuse(head, 400, "no Host header");
    if (n > 0 && !phi__head_is_authority(host))
        return phi__head_refuse(head, 400, "a bad Host header");
    if (head->authority.len == 0) {
        head->authority = host;
        return PHI_OK;
    }
    if (n > 0 && !phi__str_equal_nocase(host, head->authority))
        return phi__head_refuse(head, 400, "Host is not the host of the request target");
    return PHI_OK;
}

static phi_status phi__head_framing(phi__http_head *head) {
    phi_str length = phi__str(NULL, 0), coding = phi__str(NULL, 0);
    size_t lengths = phi__head_count(head, "content-length", &length);
    size_t codings = phi__head_count(head, "transfer-encoding", &coding);
    if (lengths > 1) return phi__head_refuse(head, 400, "two Content-Length headers");
    if (codings > 1) return phi__head_refuse(head, 400, "two Transfer-Encoding headers");
    if (lengths + codings > 1)
        return phi__head_refuse(head, 400, "both Content-Length and Transfer-Encoding");
    if (lengths == 1 && !phi__str_to_u64(length, &head->length))
        return phi__head_refuse(head, 400, "a bad Content-Length");
    if (codings == 0) return PHI_OK;
    if (head->http_1_0)
        return phi__head_refuse(head, 400, "Transfer-Encoding in an HTTP/1.0 request");
    if (!phi__str_is_nocase(coding, "chunked"))
        return phi__head_refuse(head, 501, "a Transfer-Encoding other than chunked");
    head->chunked = true;
    return PHI_OK;
}

/* True if a comma-separated list contains the token. */
static bool phi__head_lists(phi_str list, const char *token) {
    while (list.len > 0) {
        const char *comma = (const char *)memchr(list.at, ',', list.len);
        size_t n = comma != NULL ? (size_t)(comma - list.at) : list.len;
        if (phi__str_is_nocase(phi__head_trim(phi__str(list.at, n)), token)) return true;
        n += comma != NULL;
        list = phi__str_from(list, n);
    }
    return false;
}

static phi_status phi__head_connection(phi__http_head *head) {
    phi_str expect = phi__str(NULL, 0);
    bool close = false, keep = false;
    for (size_t i = 0; i < head->header_count; i++) {
        if (!phi__str_is_nocase(head->headers[i].name, "connection")) continue;
        close = close || phi__head_lists(head->headers[i].value, "close");
        keep = keep || phi__head_lists(head->headers[i].value, "keep-alive");
    }
    head->keep_alive = !close && (!head->http_1_0 || keep);
    if (head->http_1_0 || phi__head_count(head, "expect", &expect) == 0) return PHI_OK;
    if (!phi__str_is_nocase(expect, "100-continue"))
        return phi__head_refuse(head, 417, "an unknown Expect");
    head->expects_continue = head->chunked || head->length > 0;
    return PHI_OK;
}

/* Returns the next line without its CRLF, and advances *at. The CRLF is known to be there. */
static phi_str phi__head_line(const phi__buf *bytes, size_t *at) {
    size_t from = *at;
    const char *end = (const char *)memchr(bytes->at + from, '\r', bytes->len - from);
    PHI_ASSERT(end != NULL);
    *at = (size_t)(end - bytes->at) + 2;
    return phi__str(bytes->at + from, (size_t)(end - bytes->at) - from);
}

static phi_status phi__head_parse(phi__http_head *head) {
    size_t at = head->bytes.at[0] == '\r' ? 2 : 0, n = head->lines - 1;
    phi_status status = phi__head_request_line(head, phi__head_line(&head->bytes, &at));
    if (status != PHI_OK) return status;
    if (n > 0) { /* `room` is still NULL, because a head is parsed once */
        head->room = (phi__header *)phi__alloc(head->memory, n * sizeof *head->room);
        if (head->room == NULL) return PHI_NO_MEMORY;
        head->room_count = n;
    }
    head->headers = head->room;
    while (n-- > 0 && status == PHI_OK)
        status = phi__head_header(head, phi__head_line(&head->bytes, &at));
    if (status == PHI_OK) status = phi__head_host(head);
    if (status == PHI_OK) status = phi__head_framing(head);
    if (status == PHI_OK) status = phi__head_connection(head);
    head->complete = status == PHI_OK;
    return status;
}

/* Checks the byte c, which was just added to `bytes`. PHI_OK: c ends the head. */
static phi_status phi__head_byte(phi__http_head *head, char c) {
    size_t len = head->bytes.len - head->line_at; /* length of the line, with c */
    bool after_cr = len > 1 && head->bytes.at[head->bytes.len - 2] == '\r';
    if (after_cr != (c == '\n'))
        return phi__head_refuse(head, 400, "a CR or a LF alone in the head");
    if (c != '\n') {
        if (c != '\r' && !phi__head_is_text(c))
            return phi__head_refuse(head, 400, "a control character in the head");
        if (c != '\r' && len > head->limits.max_line_bytes)
            return phi__head_refuse(head, head->lines == 0 ? 414 : 431,
                                    head->lines == 0 ? "the request line is too long"
                                                     : "a header line is too long");
        return PHI_BUSY;
    }
    if (len == 2 && head->lines > 0) return PHI_OK;
    if (len == 2) { /* old clients send one empty line before a request */
        if (head->line_at > 0) return phi__head_refuse(head, 400, "empty lines before the request");
        head->line_at = 2;
        return PHI_BUSY;
    }
    head->line_at = head->bytes.len;
    if (head->lines++ > head->limits.max_headers)
        return phi__head_refuse(head, 431, "too many headers");
    return PHI_BUSY;
}

/* ---- the body ---- */

typedef enum phi__head_state {
    PHI__HEAD_DONE,
    PHI__HEAD_FIXED, /* `left` bytes follow; then the body ends */
    PHI__HEAD_SIZE,
    PHI__HEAD_EXTENDED, /* after the ';' of a size */
    PHI__HEAD_SIZE_LF,
    PHI__HEAD_CHUNK,
    PHI__HEAD_CHUNK_CR,
    PHI__HEAD_CHUNK_LF,
    PHI__HEAD_TRAILER, /* `left` is 1 after the line's colon */
    PHI__HEAD_TRAILER_LF,
    PHI__HEAD_LAST_LF
} phi__head_state;

static phi_status phi__head_body_refuse(phi__http_head_body *body, const char *message) {
    body->refused = 400;
    body->message = message;
    return PHI_PARSE;
}

/* Changes the state and begins a line. */
static phi_status phi__head_body_go(phi__http_head_body *body, phi__head_state state) {
    body->state = (uint32_t)state;
    body->line = 0;
    return state == PHI__HEAD_DONE ? PHI_OK : PHI_BUSY;
}

static phi_status phi__head_body_expect(phi__http_head_body *body, char c, char want,
                                        phi__head_state next) {
    return c == want ? phi__head_body_go(body, next)
                     : phi__head_body_refuse(body, "a bad line end in a chunked body");
}

static phi_status phi__head_body_size(phi__http_head_body *body, char c) {
    uint32_t digit = phi__json_text_hex(&c, &c + 1, 1);
    if (digit < 16) {
        if (body->line++ == PHI__HEAD_DIGITS)
            return phi__head_body_refuse(body, "a chunk size of more than 16 digits");
        body->left = body->left * 16 + digit;
        return PHI_BUSY;
    }
    if (body->line == 0 || (c != '\r' && c != ';'))
        return phi__head_body_refuse(body, "a bad chunk size");
    return phi__head_body_go(body, c == ';' ? PHI__HEAD_EXTENDED : PHI__HEAD_SIZE_LF);
}

static phi_status phi__head_body_extended(phi__http_head_body *body, char c) {
    if (c == '\r') return phi__head_body_go(body, PHI__HEAD_SIZE_LF);
    if (!phi__head_is_text(c) || body->line++ == PHI__HEAD_EXTENSION ||
        body->overhead++ == PHI__HEAD_OVERHEAD)
        return phi__head_body_refuse(body, "a bad or long chunk extension");
    return PHI_BUSY;
}

static phi_status phi__head_body_trailer(phi__http_head_body *body, char c) {
    if (c == '\r' && body->line == 0) return phi__head_body_go(body, PHI__HEAD_LAST_LF);
    if (c == '\r' && body->left == 1) return phi__head_body_go(body, PHI__HEAD_TRAILER_LF);
    if (c == ':' && body->line > 0) body->left = 1;
    if ((body->left == 0 && !phi__head_is_token(c)) || !phi__head_is_text(c) ||
        body->overhead++ == PHI__HEAD_OVERHEAD)
        return phi__head_body_refuse(body, "a bad or long trailer");
    body->line++;
    return PHI_BUSY;
}

/* Handles a byte of a chunked body that is outside of the chunks. */
static phi_status phi__head_body_byte(phi__http_head_body *body, char c) {
    phi__head_state next;
    switch ((phi__head_state)body->state) {
    case PHI__HEAD_SIZE: return phi__head_body_size(body, c);
    case PHI__HEAD_EXTENDED: return phi__head_body_extended(body, c);
    case PHI__HEAD_SIZE_LF:
        next = body->left > 0 ? PHI__HEAD_CHUNK : PHI__HEAD_TRAILER;
        return phi__head_body_expect(body, c, '\n', next);
    case PHI__HEAD_CHUNK_CR: return phi__head_body_expect(body, c, '\r', PHI__HEAD_CHUNK_LF);
    case PHI__HEAD_CHUNK_LF: return phi__head_body_expect(body, c, '\n', PHI__HEAD_SIZE);
    case PHI__HEAD_TRAILER: return phi__head_body_trailer(body, c);
    case PHI__HEAD_TRAILER_LF:
        body->left = 0;
        return phi__head_body_expect(body, c, '\n', PHI__HEAD_TRAILER);
    default: return phi__head_body_expect(body, c, '\n', PHI__HEAD_DONE);
    }
}

/* ---- functions for other files ---- */

PHI__FN void phi__http_head_init(phi__http_head *head, phi_memory *memory,
                                 const phi__http_head_limits *limits) {
    memset(head, 0, sizeof *head);
    head->memory = memory;
    head->limits = *limits;
    if (head->limits.max_line_bytes == 0) head->limits.max_line_bytes = PHI__HEAD_LINE;
    if (head->limits.max_bytes == 0) head->limits.max_bytes = PHI__HEAD_MOST;
    if (head->limits.max_headers == 0) head->limits.max_headers = PHI__HEAD_COUNT;
    phi__buf_init(&head->bytes, memory);
}

PHI__FN void phi__http_head_clear(phi__http_head *head) {
    phi__http_head_limits limits = head->limits;
    phi_memory *memory = head->memory;
    phi__http_head_free(head);
    phi__http_head_init(head, memory, &limits);
}

PHI__FN void phi__http_head_free(phi__http_head *head) {
    phi__free(head->memory, head->room, head->room_count * sizeof *head->room);
    phi__buf_free(&head->bytes);
    head->room = NULL;
    head->room_count = 0;
}

PHI__FN phi_status phi__http_head_read(phi__http_head *head, const char *bytes, size_t len,
                                       size_t *used) {
    phi_status status = PHI_BUSY;
    *used = 0;
    if (head->refused != 0) return PHI_PARSE;
    if (head->complete) return PHI_OK;
    while (*used < len && status == PHI_BUSY) {
        if (head->bytes.len == head->limits.max_bytes)
            return phi__head_refuse(head, 431, "the head is too long");
        phi__buf_char(&head->bytes, bytes[*used]);
        if (head->bytes.failed) return PHI_NO_MEMORY;
        (*used)++;
        status = phi__head_byte(head, bytes[*used - 1]);
    }
    return status == PHI_OK ? phi__head_parse(head) : status;
}

PHI__FN bool phi__http_head_begun(const phi__http_head *head) {
    return head->bytes.len > head->line_at || head->lines > 0;
}

PHI__FN phi_str phi__http_head_get(const phi__http_head *head, const char *name) {
    for (size_t i = 0; i < head->header_count; i++)
        if (phi__str_is_nocase(head->headers[i].name, name)) return head->headers[i].value;
    return phi__str(NULL, 0);
}

PHI__FN void phi__http_head_body_init(phi__http_head_body *body, const phi__http_head *head) {
    memset(body, 0, sizeof *body);
    body->left = head->length;
    body->state = (uint32_t)(head->chunked      ? PHI__HEAD_SIZE
                             : head->length > 0 ? PHI__HEAD_FIXED
                                                : PHI__HEAD_DONE);
}

PHI__FN phi_status phi__http_head_body_read(phi__http_head_body *body, const char *bytes,
                                            size_t len, size_t *used, phi_str *piece) {
    phi_status status = PHI_BUSY;
    *used = 0;
    *piece = phi__str(bytes, 0);
    if (body->refused != 0) return PHI_PARSE;
    if (body->state == PHI__HEAD_DONE) return PHI_OK;
    while (status == PHI_BUSY && *used < len && body->state != PHI__HEAD_FIXED &&
           body->state != PHI__HEAD_CHUNK)
        status = phi__head_body_byte(body, bytes[(*used)++]);
    if (status != PHI_BUSY || *used == len) return status;
    *piece = phi__str(bytes + *used, len - *used);
    if (piece->len > body->left) piece->len = (size_t)body->left;
    *used += piece->len;
    body->left -= piece->len;
    if (body->left > 0) return PHI_BUSY;
    return phi__head_body_go(body,
                             body->state == PHI__HEAD_FIXED ? PHI__HEAD_DONE : PHI__HEAD_CHUNK_CR);
}

#endif
