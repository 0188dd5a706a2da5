/* openapi_request.c - from arguments to a URL and headers. */
#include "openapi/openapi_request_in.h"

#include "loop/fetch_in.h"
#include "openapi/styles_in.h"

#include <stdarg.h>
#include <stdio.h>

enum { PHI__OPENAPI_REQUEST_MOST = 1 << 20 }; /* bytes of a URL, of a query, of the cookies */

PHI__FN void phi__openapi_request_init(phi__openapi_request *r, phi_arena *arena,
                                       phi_memory *memory, const phi__operation *op,
                                       const phi_json *arguments) {
    memset(r, 0, sizeof *r);
    r->arena = arena;
    r->memory = memory;
    r->op = op;
    r->arguments = arguments;
    phi__buf_init(&r->url, memory);
    phi__buf_init(&r->query, memory);
    phi__buf_init(&r->cookie, memory);
}

/* Keys are not left in memory that somebody else gets. */
static void phi__openapi_request_wipe(phi_str text) {
    if (text.len > 0) memset((char *)(uintptr_t)text.at, 0, text.len);
}

PHI__FN void phi__openapi_request_free(phi__openapi_request *r) {
    size_t i;
    if (r->memory == NULL) return;
    for (i = 0; i < r->count; i++) phi__openapi_request_wipe(r->headers[i].value);
    r->count = 0;
    phi__openapi_request_wipe(phi__buf_str(&r->query));
    phi__openapi_request_wipe(phi__buf_str(&r->cookie));
    phi__buf_free(&r->url);
    phi__buf_free(&r->query);
    phi__buf_free(&r->cookie);
}

PHI__FN phi_status phi__openapi_request_refuse(phi__openapi_request *r, const char *format, ...) {
    va_list args;
    va_start(args, format);
    (void)vsnprintf(r->message, sizeof r->message, format, args);
    va_end(args);
    return PHI_BAD_ARG;
}

PHI__FN const phi_json *phi__openapi_request_argument(const phi__openapi_request *r, phi_str name) {
    const phi_json *value = phi__json_get_n(r->arguments, name);
    return phi_json_is(value, PHI_JSON_NULL) ? NULL : value;
}

/* ---- headers ---- */

static phi__header *phi__openapi_request_find(const phi__openapi_request *r, const char *name) {
    size_t i;
    for (i = 0; i < r->count; i++)
        if (phi__str_is_nocase(r->headers[i].name, name)) return &r->headers[i];
    return NULL;
}

static phi__header *phi__openapi_request_room(phi__openapi_request *r) {
    size_t cap = r->cap > 0 ? r->cap * 2 : 8;
    phi__header *grown;
    if (r->count < r->cap) return &r->headers[r->count++];
    grown = (phi__header *)phi_arena_alloc(r->arena, phi__mul(cap, sizeof *grown));
    if (grown == NULL) return NULL;
    if (r->count > 0) memcpy(grown, r->headers, r->count * sizeof *grown);
    r->headers = grown;
    r->cap = cap;
    return &r->headers[r->count++];
}

PHI__FN phi_status phi__openapi_request_add(phi__openapi_request *r, phi_str name, phi_str value,
                                            bool replaces) {
    phi_str own, text;
    phi__header *header;
    if (!phi__arena_str(r->arena, name, &own) || !phi__arena_str(r->arena, value, &text))
        return PHI_NO_MEMORY;
    header = phi__openapi_request_find(r, own.at);
    if (header != NULL && !replaces) return PHI_OK;
    if (header != NULL)
        phi__openapi_request_wipe(header->value);
    else
        header = phi__openapi_request_room(r);
    if (header == NULL) return PHI_NO_MEMORY;
    header->name = own;
    header->value = text;
    return PHI_OK;
}

static phi_status phi__openapi_request_own_headers(phi__openapi_request *r) {
    const phi_openapi_desc *desc = &r->op->api->desc;
    phi_status status = PHI_OK;
    size_t i;
    for (i = 0; i < desc->header_count && status == PHI_OK; i++)
        status = phi__openapi_request_add(r, phi_str_of(desc->headers[i].name),
                                          phi_str_of(desc->headers[i].value), true);
    return status;
}

/* OpenAPI's document says that these are described elsewhere; the others frame the request, or its
   answer: none that is compressed is read. */
static bool phi__openapi_request_ignores(phi_str name) {
    static const char *const names[] = {"Accept",     "Content-Type",     "Authorization",
                                        "Host",       "Content-Length",   "Transfer-Encoding",
                                        "Connection", "Expect",           "Upgrade",
                                        "TE",         "Trailer",          "Proxy-Authorization",
                                        "Cookie",     "Content-Encoding", "Accept-Encoding"};
    size_t i;
    for (i = 0; i < PHI__COUNT(names); i++)
        if (phi__str_is_nocase(name, names[i])) return true;
    return false;
}

static phi_status phi__openapi_request_header(phi__openapi_request *r,
                                              const phi__operation_parameter *p,
                                              const phi_json *value) {
    phi_status status = PHI_OK;
    phi__buf text;
    if (phi__openapi_request_ignores(p->name)) return PHI_OK;
    phi__buf_init(&text, r->memory);
    phi__styles_put_header(&text, p, value);
    if (text.failed)
        status = PHI_NO_MEMORY;
    else if (!phi__fetch_name_fits(p->name) || !phi__fetch_value_fits(phi__buf_str(&text)))
        status = phi__openapi_request_refuse(
            r, "Error: Header parameter '%s' cannot hold control characters", p->argument.at);
    else
        status = phi__openapi_request_add(r, p->name, phi__buf_str(&text), false);
    phi__buf_free(&text);
    return status;
}

/* ---- the base ---- */

static size_t phi__openapi_request_origin(phi_str url) {
    size_t host = phi__str_find(url, 0, "://"), end;
    if (host == SIZE_MAX) return 0;
    for (end = host + 3; end < url.len && strchr("/?#", url.at[end]) == NULL;) end++;
    return end;
}

/* The directory of a URL's path, without the slash at its end. */
static size_t phi__openapi_request_directory(phi_str url) {
    size_t origin = phi__openapi_request_origin(url), end = origin, at = origin;
    while (end < url.len && url.at[end] != '?' && url.at[end] != '#') end++;
    for (; at < end; end--)
        if (url.at[end - 1] == '/') return end - 1;
    return origin;
}

/* A relative server, against the URL that the document came from (RFC 3986 5.2). */
static bool phi__openapi_request_relative(phi__openapi_request *r, phi_str server) {
    phi_str url = r->op->api->url;
    size_t origin = phi__openapi_request_origin(url);
    if (origin == 0) return false;
    if (phi__str_starts(server, "//"))
        phi__buf_add(&r->url, url.at, phi__str_find(url, 0, "://") + 1);
    else if (server.len > 0 && server.at[0] == '/')
        phi__buf_add(&r->url, url.at, origin);
    else {
        phi__buf_add(&r->url, url.at, phi__openapi_request_directory(url));
        if (phi__str_starts(server, "./")) server = phi__str(server.at + 2, server.len - 2);
        if (server.len > 0) phi__buf_char(&r->url, '/');
    }
    phi__buf_add_str(&r->url, server);
    return true;
}

static phi_status phi__openapi_request_base(phi__openapi_request *r) {
    const char *given = r->op->api->desc.base_url;
    phi_str server = given != NULL && given[0] != '\0' ? phi_str_of(given) : r->op->server;
    if (phi__str_find(server, 0, "?") != SIZE_MAX || phi__str_find(server, 0, "#") != SIZE_MAX)
        return phi__openapi_request_refuse(r, "Error: The server's URL has a query or a fragment");
    if (phi__str_starts(server, "http://") || phi__str_starts(server, "https://"))
        phi__buf_add_str(&r->url, server);
    else if (phi__str_find(server, 0, "://") != SIZE_MAX)
        return phi__openapi_request_refuse(r, "Error: The server's URL is not http or https");
    else if (!phi__openapi_request_relative(r, server))
        return phi__openapi_request_refuse(
            r, "Error: No base URL: the document names no server, or a relative one");
    if (r->url.failed) return PHI_NO_MEMORY;
    while (r->url.len > 0 && r->url.at[r->url.len - 1] == '/') r->url.len--;
    /* results show the URL */
    server = phi__str(r->url.at, phi__openapi_request_origin(phi__buf_str(&r->url)));
    if (phi__str_find(server, 0, "@") != SIZE_MAX)
        return phi__openapi_request_refuse(
            r, "Error: The server's URL has a user: set up user and password instead");
    return PHI_OK;
}

/* ---- the path ---- */

static const phi__operation_parameter *
phi__openapi_request_path_parameter(const phi__openapi_request *r, phi_str name) {
    size_t i;
    for (i = 0; i < r->op->parameter_count; i++) {
        const phi__operation_parameter *p = &r->op->parameters[i];
        if (p->place == PHI__OPERATION_PATH && p->name.len == name.len &&
            memcmp(p->name.at, name.at, name.len) == 0)
            return p;
    }
    return NULL;
}

static phi_status phi__openapi_request_substitute(phi__openapi_request *r, phi_str name) {
    const phi__operation_parameter *p = phi__openapi_request_path_parameter(r, name);
    const phi_json *value = p != NULL ? phi__openapi_request_argument(r, p->argument) : NULL;
    size_t before = r->url.len;
    if (value == NULL)
        return phi__openapi_request_refuse(r,
                                           "Error: Missing required path parameter '%.*s' for %s",
                                           (int)phi__min(name.len, 80), name.at, r->op->path.at);
    phi__styles_put_path(&r->url, p, value);
    if (!r->url.failed && r->url.len == before)
        return phi__openapi_request_refuse(r, "Error: Path parameter '%.*s' is empty",
                                           (int)phi__min(name.len, 80), name.at);
    return PHI_OK;
}

/* Segments "." and ".." would be taken out of the path on its way, with the segment before. */
static phi_status phi__openapi_request_check_dots(phi__openapi_request *r, size_t from) {
    size_t i, start = from;
    for (i = from; i <= r->url.len; i++) {
        const char *at = r->url.at + start;
        if (i < r->url.len && r->url.at[i] != '/') continue;
        if ((i - start == 1 && at[0] == '.') || (i - start == 2 && memcmp(at, "..", 2) == 0))
            return phi__openapi_request_refuse(
                r, "Error: A path parameter makes a segment '%.*s' of %s", (int)(i - start), at,
                r->op->path.at);
        start = i + 1;
    }
    return PHI_OK;
}

/* Characters of a template that may not stand in a URL are escaped; escapes stay. */
static void phi__openapi_request_literal(phi__buf *out, phi_str text) {
    size_t i;
    for (i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.at[i];
        if (c <= 32 || c >= 127 || strchr("\"<>\\^`{|}", c) != NULL)
            phi__buf_printf(out, "%%%02X", (unsigned)c);
        else
            phi__buf_char(out, (char)c);
    }
}

/* The text behind a "#" tells operations of a document apart; a server does not get it. */
static void phi__openapi_request_no_fragment(phi__openapi_request *r) {
    size_t hash = phi__str_find(phi__buf_str(&r->url), 0, "#");
    if (hash != SIZE_MAX) r->url.len = hash;
}

static phi_status phi__openapi_request_path(phi__openapi_request *r) {
    phi_str path = r->op->path;
    size_t from = r->url.len, at = 0;
    phi_status status = PHI_OK;
    /* a value must not become a part of the host */
    if (path.len == 0 || path.at[0] != '/') phi__buf_char(&r->url, '/');
    while (at < path.len && status == PHI_OK) {
        size_t open = phi__str_find(path, at, "{");
        size_t close = open != SIZE_MAX ? phi__str_find(path, open, "}") : SIZE_MAX;
        size_t end = close != SIZE_MAX ? open : path.len;
        phi__openapi_request_literal(&r->url, phi__str(path.at + at, end - at));
        at = end;
        if (close == SIZE_MAX) break;
        status = phi__openapi_request_substitute(r, phi__str(path.at + open + 1, close - open - 1));
        at = close + 1;
    }
    if (r->url.failed) return status; /* too large, or no memory */
    phi__openapi_request_no_fragment(r);
    return status == PHI_OK ? phi__openapi_request_check_dots(r, from) : status;
}

/* ---- all of it ---- */

static phi_status phi__openapi_request_parameter(phi__openapi_request *r,
                                                 const phi__operation_parameter *p) {
    const phi_json *value = phi__openapi_request_argument(r, p->argument);
    if (value == NULL) return PHI_OK;
    if (p->place == PHI__OPERATION_HEADER) return phi__openapi_request_header(r, p, value);
    if (p->place == PHI__OPERATION_QUERY) phi__styles_put_pairs(&r->query, p, value);
    if (p->place == PHI__OPERATION_COOKIE) phi__styles_put_pairs(&r->cookie, p, value);
    return PHI_OK;
}

/* Servers take some kilobytes. */
static phi_status phi__openapi_request_check_size(phi__openapi_request *r) {
    size_t most = phi__max(r->url.len, phi__max(r->query.len, r->cookie.len));
    if (most > PHI__OPENAPI_REQUEST_MOST)
        return phi__openapi_request_refuse(
            r, "Error: The arguments are too long for a URL or a header: at most %u bytes",
            (unsigned)PHI__OPENAPI_REQUEST_MOST);
    return r->url.failed || r->query.failed || r->cookie.failed ? PHI_NO_MEMORY : PHI_OK;
}

PHI__FN phi_status phi__openapi_request_build(phi__openapi_request *r) {
    size_t i;
    phi_status status = phi__openapi_request_base(r);
    if (status == PHI_OK) status = phi__openapi_request_path(r);
    if (status == PHI_OK) status = phi__openapi_request_check_size(r);
    if (status == PHI_OK) status = phi__openapi_request_own_headers(r);
    for (i = 0; i < r->op->parameter_count && status == PHI_OK; i++)
        status = phi__openapi_request_parameter(r, &r->op->parameters[i]);
    if (status == PHI_OK) status = phi__openapi_request_check_size(r);
    return status;
}
