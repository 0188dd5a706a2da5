/* openapi_request.c - makes the URL, the headers and the body of a request from arguments. */
#include "openapi/openapi_request_in.h"

#include "base/base_in.h"
#include "loop/loop_in.h"

#include <stdarg.h>
#include <stdio.h>

/* A parameter's name that is repeated for each item could turn a few megabytes into terabytes. A
   text that grows beyond this limit fails as if there were no memory. */
enum { PHI__STYLES_MOST = 16 << 20 };

/* ---- values of parameters, in OpenAPI's styles and RFC 6570's ---- */

/* Bytes outside RFC 3986's unreserved set become %XX. Null values and members are left out. An
   array or object inside another one is written as JSON text, except in deepObject. Two cases are
   not defined by any style: an empty array or object writes nothing in a query, and deepObject
   writes array items as "name[0]". */

enum { PHI__STYLES_DEPTH = 16 }; /* max. levels of deepObject; deeper values are JSON text */

/* How pairs are joined, and how their values are escaped. */
typedef struct phi__styles {
    phi__buf *out;
    const char *between;
    phi__styles_escape how;
} phi__styles;

static bool phi__styles_keeps(unsigned char c, phi__styles_escape how) {
    if (phi__is_alnum((char)c)) return true;
    if (c == '\0') return how == PHI__ESCAPE_NONE;
    if (strchr("-._~", c) != NULL) return true;
    if (how == PHI__ESCAPE_RESERVED) return strchr(":/?@!$'()*,;", c) != NULL;
    if (how == PHI__ESCAPE_COOKIE) return c > 32 && c < 127 && strchr("\"%,;\\", c) == NULL;
    return how == PHI__ESCAPE_NONE;
}

PHI__FN void phi__styles_put_escaped(phi__buf *out, phi_str text, phi__styles_escape how) {
    static const char hex[] = "0123456789ABCDEF";
    size_t from = 0;
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.at[i];
        char code[3];
        if (phi__styles_keeps(c, how)) continue;
        phi__buf_add(out, text.at + from, i - from);
        code[0] = '%';
        code[1] = hex[c >> 4];
        code[2] = hex[c & 15];
        phi__buf_add(out, code, 3);
        from = i + 1;
    }
    phi__buf_add(out, text.at + from, text.len - from);
}

/* Writes a string as it is, and any other value as JSON text. */
static void phi__styles_put_value(phi__buf *out, const phi_json *value, phi__styles_escape how) {
    phi__buf text;
    if (phi_json_is(value, PHI_JSON_STRING)) {
        phi__styles_put_escaped(out, phi_json_str(value, NULL), how);
        return;
    }
    phi__buf_init(&text, out->memory);
    if (phi__json_write(&text, value, 0) != PHI_OK) text.failed = true;
    if (text.failed)
        out->failed = true;
    else
        phi__styles_put_escaped(out, phi__buf_str(&text), how);
    phi__buf_free(&text);
}

static bool phi__styles_is_list(const phi_json *value) {
    return phi_json_is(value, PHI_JSON_ARRAY) || phi_json_is(value, PHI_JSON_OBJECT);
}

/* Writes items or members with `between` between them, and `equals` between key and value. Any
   other value is written alone. */
static void phi__styles_put_list(phi__buf *out, const phi_json *value, const char *between,
                                 const char *equals, phi__styles_escape how) {
    phi_json_iter it = phi_json_each(value);
    bool any = false;
    if (!phi__styles_is_list(value)) {
        phi__styles_put_value(out, value, how);
        return;
    }
    while (phi_json_next(&it) != NULL) {
        if (phi_json_is(it.at, PHI_JSON_NULL)) continue;
        if (any) phi__buf_text(out, between);
        any = true;
        if (phi_json_is(value, PHI_JSON_OBJECT)) {
            phi__styles_put_escaped(out, it.key, how);
            phi__buf_text(out, equals);
        }
        phi__styles_put_value(out, it.at, how);
    }
}

static void phi__styles_put_matrix_one(phi__buf *out, phi_str name, const phi_json *value) {
    if (out->len > PHI__STYLES_MOST) out->failed = true;
    phi__buf_char(out, ';');
    phi__styles_put_escaped(out, name, PHI__ESCAPE_ALL);
    if (phi_json_is(value, PHI_JSON_STRING) && phi_json_str(value, NULL).len == 0) return;
    phi__buf_char(out, '=');
    phi__styles_put_value(out, value, PHI__ESCAPE_ALL);
}

static void phi__styles_put_matrix(phi__buf *out, phi_str name, const phi_json *value,
                                   bool explode) {
    phi_json_iter it = phi_json_each(value);
    bool keys = phi_json_is(value, PHI_JSON_OBJECT);
    if (!phi__styles_is_list(value)) {
        phi__styles_put_matrix_one(out, name, value);
    } else if (!explode) {
        phi__buf_char(out, ';');
        phi__styles_put_escaped(out, name, PHI__ESCAPE_ALL);
        if (phi_json_count(value) == 0) return;
        phi__buf_char(out, '=');
        phi__styles_put_list(out, value, ",", ",", PHI__ESCAPE_ALL);
    } else {
        while (!out->failed && phi_json_next(&it) != NULL)
            if (!phi_json_is(it.at, PHI_JSON_NULL))
                phi__styles_put_matrix_one(out, keys ? it.key : name, it.at);
    }
}

static void phi__styles_put_name(const phi__styles *s, phi_str name) {
    if (s->out->len > PHI__STYLES_MOST) s->out->failed = true;
    if (s->out->len > 0) phi__buf_text(s->out, s->between);
    phi__styles_put_escaped(s->out, name, PHI__ESCAPE_ALL);
    phi__buf_char(s->out, '=');
}

static void phi__styles_put_pair(const phi__styles *s, phi_str name, const phi_json *value) {
    phi__styles_put_name(s, name);
    phi__styles_put_value(s->out, value, s->how);
}

/* Writes a deepObject. Each level adds its key to `name`, and removes the key after it. */
static void phi__styles_put_deep(const phi__styles *s, phi__buf *name, const phi_json *value,
                                 int depth) {
    phi_json_iter it = phi_json_each(value);
    size_t len = name->len, index = 0;
    if (phi_json_is(value, PHI_JSON_NULL)) return;
    if (!phi__styles_is_list(value) || depth >= PHI__STYLES_DEPTH) {
        phi__styles_put_pair(s, phi__buf_str(name), value);
        return;
    }
    while (phi_json_next(&it) != NULL) {
        phi__buf_char(name, '[');
        if (phi_json_is(value, PHI_JSON_ARRAY))
            phi__buf_u64(name, index++);
        else
            phi__buf_add_str(name, it.key);
        phi__buf_char(name, ']');
        if (name->failed || s->out->failed) return;
        phi__styles_put_deep(s, name, it.at, depth + 1);
        name->len = len;
    }
}

/* Appends "name=value" pairs, each after a separator if `out` is not empty. */
static void phi__styles_put_pairs(phi__buf *out, const phi__operation_parameter *p,
                                  const phi_json *value) {
    bool cookie = p->place == PHI__OPERATION_COOKIE, keys = phi_json_is(value, PHI_JSON_OBJECT);
    phi__styles s;
    s.out = out;
    s.between = cookie ? "; " : "&";
    s.how = cookie              ? PHI__ESCAPE_COOKIE
            : p->allow_reserved ? PHI__ESCAPE_RESERVED
                                : PHI__ESCAPE_ALL;
    if (p->content_type.len > 0 || !phi__styles_is_list(value))
        phi__styles_put_pair(&s, p->name, value);
    else if (p->style == PHI__STYLE_DEEP) {
        phi__buf name;
        phi__buf_init(&name, out->memory);
        phi__buf_add_str(&name, p->name);
        if (!name.failed) phi__styles_put_deep(&s, &name, value, 0);
        if (name.failed) out->failed = true;
        phi__buf_free(&name);
    } else if (p->explode) {
        phi_json_iter it = phi_json_each(value);
        while (!out->failed && phi_json_next(&it) != NULL)
            if (!phi_json_is(it.at, PHI_JSON_NULL))
                phi__styles_put_pair(&s, keys ? it.key : p->name, it.at);
    } else if (phi_json_count(value) != 0) {
        const char *between = p->style == PHI__STYLE_SPACE  ? "%20"
                              : p->style == PHI__STYLE_PIPE ? "%7C"
                                                            : ",";
        phi__styles_put_name(&s, p->name);
        phi__styles_put_list(out, value, between, between, s.how);
    }
}

/* ---- the URL and the headers ---- */

enum { PHI__OPENAPI_REQUEST_MOST = 1 << 20 }; /* max. bytes of a URL, a query, or the cookies */

PHI__FN void phi__opreq_init(phi__openapi_request *r, phi_arena *arena, phi_memory *memory,
                             const phi__operation *op, const phi_json *arguments) {
    memset(r, 0, sizeof *r);
    r->arena = arena;
    r->memory = memory;
    r->op = op;
    r->arguments = arguments;
    phi__buf_init(&r->url, memory);
    phi__buf_init(&r->query, memory);
    phi__buf_init(&r->cookie, memory);
}

/* Overwrites a text that may hold a key, before its memory is used again. */
static void phi__opreq_wipe(phi_str text) {
    if (text.len > 0) memset((char *)(uintptr_t)text.at, 0, text.len);
}

PHI__FN void phi__opreq_free(phi__openapi_request *r) {
    if (r->memory == NULL) return;
    for (size_t i = 0; i < r->count; i++) phi__opreq_wipe(r->headers[i].value);
    r->count = 0;
    phi__opreq_wipe(phi__buf_str(&r->query));
    phi__opreq_wipe(phi__buf_str(&r->cookie));
    phi__buf_free(&r->url);
    phi__buf_free(&r->query);
    phi__buf_free(&r->cookie);
}

PHI__FN phi_status phi__opreq_refuse(phi__openapi_request *r, const char *format, ...) {
    va_list args;
    va_start(args, format);
    (void)vsnprintf(r->message, sizeof r->message, format, args);
    va_end(args);
    return PHI_BAD_ARG;
}

/* Returns an argument; NULL if it is missing or null. */
static const phi_json *phi__opreq_argument(const phi__openapi_request *r, phi_str name) {
    const phi_json *value = phi__json_get_n(r->arguments, name);
    return phi_json_is(value, PHI_JSON_NULL) ? NULL : value;
}

PHI__FN phi_status phi__opreq_add(phi__openapi_request *r, phi_str name, phi_str value,
                                  bool replaces) {
    phi_str own, text;
    size_t i = 0;
    if (!phi__arena_str(r->arena, name, &own) || !phi__arena_str(r->arena, value, &text))
        return PHI_NO_MEMORY;
    while (i < r->count && !phi__str_is_nocase(r->headers[i].name, own.at)) i++;
    if (i < r->count) {
        if (!replaces) return PHI_OK;
        phi__opreq_wipe(r->headers[i].value);
    } else {
        void *room = phi__arena_grow(r->arena, r->headers, r->count, &r->cap, sizeof *r->headers);
        if (room == NULL) return PHI_NO_MEMORY;
        r->headers = (phi__header *)room;
        r->count++;
    }
    r->headers[i].name = own;
    r->headers[i].value = text;
    return PHI_OK;
}

/* True for headers that OpenAPI describes elsewhere, and for headers that frame the request or its
   answer. Accept-Encoding is ignored because a compressed answer could not be read. */
static bool phi__opreq_ignores(phi_str name) {
    static const char *const names[] = {"Accept",     "Content-Type",     "Authorization",
                                        "Host",       "Content-Length",   "Transfer-Encoding",
                                        "Connection", "Expect",           "Upgrade",
                                        "TE",         "Trailer",          "Proxy-Authorization",
                                        "Cookie",     "Content-Encoding", "Accept-Encoding"};
    for (size_t i = 0; i < PHI__COUNT(names); i++)
        if (phi__str_is_nocase(name, names[i])) return true;
    return false;
}

static phi_status phi__opreq_base(phi__openapi_request *r) {
    const char *given = r->op->api->desc.base_url;
    phi_str server = given != NULL && given[0] != '\0' ? phi_str_of(given) : r->op->server;
    phi__url parts;
    if (phi__str_find(server, 0, "?") != SIZE_MAX || phi__str_find(server, 0, "#") != SIZE_MAX)
        return phi__opreq_refuse(r, "Error: The server's URL has a query or a fragment");
    if (phi__str_starts(server, "http://") || phi__str_starts(server, "https://"))
        phi__buf_add_str(&r->url, server);
    else if (phi__str_find(server, 0, "://") != SIZE_MAX)
        return phi__opreq_refuse(r, "Error: The server's URL is not http or https");
    else
        (void)phi__url_resolve(&r->url, r->op->api->url, server.len > 0 ? server : PHI__LIT("./"));
    if (r->url.failed) return PHI_NO_MEMORY;
    if (!phi__url_split(phi__buf_str(&r->url), &parts) || !parts.web)
        return phi__opreq_refuse(
            r, "Error: No base URL: the document names no server, or a relative one");
    while (r->url.len > 0 && r->url.at[r->url.len - 1] == '/') r->url.len--;
    if (parts.user.at != NULL) /* results would show the user name */
        return phi__opreq_refuse(
            r, "Error: The server's URL has a user: set up user and password instead");
    return PHI_OK;
}

static phi_status phi__opreq_substitute(phi__openapi_request *r, phi_str name) {
    const phi__operation_parameter *p = NULL;
    size_t before = r->url.len;
    for (size_t i = 0; i < r->op->parameter_count && p == NULL; i++)
        if (r->op->parameters[i].place == PHI__OPERATION_PATH &&
            phi_str_equal(r->op->parameters[i].name, name))
            p = &r->op->parameters[i];
    const phi_json *value = p != NULL ? phi__opreq_argument(r, p->argument) : NULL;
    if (value == NULL)
        return phi__opreq_refuse(r, "Error: Missing required path parameter '%.*s' for %s",
                                 (int)phi__min(name.len, 80), name.at, r->op->path.at);
    /* Write the text that replaces "{name}" in the path. */
    const char *equals = p->explode ? "=" : ",";
    if (p->content_type.len > 0)
        phi__styles_put_value(&r->url, value, PHI__ESCAPE_ALL);
    else if (p->style == PHI__STYLE_LABEL) {
        phi__buf_char(&r->url, '.');
        phi__styles_put_list(&r->url, value, p->explode ? "." : ",", equals, PHI__ESCAPE_ALL);
    } else if (p->style == PHI__STYLE_MATRIX)
        phi__styles_put_matrix(&r->url, p->name, value, p->explode);
    else
        phi__styles_put_list(&r->url, value, ",", equals, PHI__ESCAPE_ALL);
    if (!r->url.failed && r->url.len == before)
        return phi__opreq_refuse(r, "Error: Path parameter '%.*s' is empty",
                                 (int)phi__min(name.len, 80), name.at);
    return PHI_OK;
}

/* Refuses segments "." and "..", which programs on the way would remove from the path. */
static phi_status phi__opreq_check_dots(phi__openapi_request *r, size_t from) {
    size_t start = from;
    for (size_t i = from; i <= r->url.len; i++) {
        const char *at = r->url.at + start;
        if (i < r->url.len && r->url.at[i] != '/') continue;
        if ((i - start == 1 && at[0] == '.') || (i - start == 2 && memcmp(at, "..", 2) == 0))
            return phi__opreq_refuse(r, "Error: A path parameter makes a segment '%.*s' of %s",
                                     (int)(i - start), at, r->op->path.at);
        start = i + 1;
    }
    return PHI_OK;
}

static phi_status phi__opreq_path(phi__openapi_request *r) {
    phi_str path = r->op->path;
    size_t from = r->url.len, at = 0;
    phi_status status = PHI_OK;
    /* A value must not become a part of the host. */
    if (path.len == 0 || path.at[0] != '/') phi__buf_char(&r->url, '/');
    while (at < path.len && status == PHI_OK) {
        size_t open = phi__str_find(path, at, "{");
        size_t close = open != SIZE_MAX ? phi__str_find(path, open, "}") : SIZE_MAX;
        size_t end = close != SIZE_MAX ? open : path.len;
        /* Escape what a URL must not have in the template. Existing escapes stay. */
        for (; at < end; at++) {
            unsigned char c = (unsigned char)path.at[at];
            if (c <= 32 || c >= 127 || strchr("\"<>\\^`{|}", c) != NULL)
                phi__buf_printf(&r->url, "%%%02X", (unsigned)c);
            else
                phi__buf_char(&r->url, (char)c);
        }
        if (close == SIZE_MAX) break;
        status = phi__opreq_substitute(r, phi__str(path.at + open + 1, close - open - 1));
        at = close + 1;
    }
    if (r->url.failed) return status; /* too large, or no memory */
    /* The text after a "#" only tells operations of a document apart. Servers do not get it. */
    size_t hash = phi__str_find(phi__buf_str(&r->url), 0, "#");
    if (hash != SIZE_MAX) r->url.len = hash;
    return status == PHI_OK ? phi__opreq_check_dots(r, from) : status;
}

static phi_status phi__opreq_parameter(phi__openapi_request *r, const phi__operation_parameter *p) {
    const phi_json *value = phi__opreq_argument(r, p->argument);
    if (value == NULL) return PHI_OK;
    if (p->place == PHI__OPERATION_HEADER) {
        phi_status status = PHI_OK;
        phi__buf text;
        if (phi__opreq_ignores(p->name)) return PHI_OK;
        phi__buf_init(&text, r->memory);
        /* Write the header's value unescaped, and check it before it is sent. */
        if (p->content_type.len > 0)
            phi__styles_put_value(&text, value, PHI__ESCAPE_NONE);
        else
            phi__styles_put_list(&text, value, ",", p->explode ? "=" : ",", PHI__ESCAPE_NONE);
        if (text.failed)
            status = PHI_NO_MEMORY;
        else if (!phi__fetch_name_fits(p->name) || !phi__fetch_value_fits(phi__buf_str(&text)))
            status = phi__opreq_refuse(
                r, "Error: Header parameter '%s' cannot hold control characters", p->argument.at);
        else
            status = phi__opreq_add(r, p->name, phi__buf_str(&text), false);
        phi__buf_free(&text);
        return status;
    }
    if (p->place == PHI__OPERATION_QUERY) phi__styles_put_pairs(&r->query, p, value);
    if (p->place == PHI__OPERATION_COOKIE) phi__styles_put_pairs(&r->cookie, p, value);
    return PHI_OK;
}

/* Refuses texts that are too long. Most servers take only some kilobytes. */
static phi_status phi__opreq_check_size(phi__openapi_request *r) {
    size_t most = phi__max(r->url.len, phi__max(r->query.len, r->cookie.len));
    if (most > PHI__OPENAPI_REQUEST_MOST)
        return phi__opreq_refuse(
            r, "Error: The arguments are too long for a URL or a header: at most %u bytes",
            (unsigned)PHI__OPENAPI_REQUEST_MOST);
    return r->url.failed || r->query.failed || r->cookie.failed ? PHI_NO_MEMORY : PHI_OK;
}

PHI__FN phi_status phi__opreq_build(phi__openapi_request *r) {
    const phi_openapi_desc *desc = &r->op->api->desc;
    phi_status status = phi__opreq_base(r);
    if (status == PHI_OK) status = phi__opreq_path(r);
    if (status == PHI_OK) status = phi__opreq_check_size(r);
    for (size_t i = 0; i < desc->header_count && status == PHI_OK; i++)
        status = phi__opreq_add(r, phi_str_of(desc->headers[i].name),
                                phi_str_of(desc->headers[i].value), true);
    for (size_t i = 0; i < r->op->parameter_count && status == PHI_OK; i++)
        status = phi__opreq_parameter(r, &r->op->parameters[i]);
    if (status == PHI_OK) status = phi__opreq_check_size(r);
    return status;
}

/* ---- the body ---- */

/* Files are read in slices, from the directories in phi_openapi_desc.upload_roots. Links are
   resolved first. The pieces of the body point into the arena and into the files' bytes. */

enum { PHI__OPENAPI_BODY_MOST = 32 << 20 }; /* max. bytes of all files of one request */

enum {
    PHI__OPENAPI_BODY_READ = 65536, /* max. bytes of a file in one slice */
    PHI__OPENAPI_BODY_PATHS = 128   /* max. units of work on paths in one slice: see files_in.h */
};

static phi_status phi__body_add_piece(phi__openapi_body *b, phi_str piece) {
    void *room = phi__arena_grow(b->r->arena, b->pieces, b->count, &b->cap, sizeof *b->pieces);
    if (room == NULL) return PHI_NO_MEMORY;
    b->pieces = (phi_str *)room;
    b->pieces[b->count++] = piece;
    return PHI_OK;
}

/* Turns the text written so far into a piece. */
static phi_status phi__body_flush(phi__openapi_body *b) {
    phi_str piece;
    if (b->text.failed) return PHI_NO_MEMORY;
    if (b->text.len == 0) return PHI_OK;
    if (!phi__arena_str(b->r->arena, phi__buf_str(&b->text), &piece)) return PHI_NO_MEMORY;
    phi__buf_clear(&b->text);
    return phi__body_add_piece(b, piece);
}

/* ---- files ---- */

#ifdef PHI_NO_FILES
static phi_status phi__body_file_begin(phi__openapi_body *b, const phi_json *value) {
    (void)value;
    return phi__opreq_refuse(b->r, "Error: Files cannot be sent by this program");
}
static phi_status phi__body_file_more(phi__openapi_body *b) {
    (void)b;
    return PHI_OK;
}
static bool phi__body_in_file(const phi__openapi_body *b) {
    (void)b;
    return false;
}
static void phi__body_file_close(phi__openapi_body *b) { (void)b; }
#else

static bool phi__body_in_file(const phi__openapi_body *b) { return b->path != NULL; }

static void phi__body_file_close(phi__openapi_body *b) {
    phi__files_close(b->open);
    b->open = NULL;
    b->path = b->place = NULL;
}

static phi_status phi__body_file_refuse(phi__openapi_body *b, const char *why) {
    return phi__opreq_refuse(b->r, "Error: Cannot send file '%.150s': %s", b->path, why);
}

static phi_status phi__body_file_begin(phi__openapi_body *b, const phi_json *value) {
    const char *const *roots = b->r->op->api->desc.upload_roots;
    phi__words words;
    phi_str path;
    if (!phi__arena_str(b->r->arena, phi__records_get_str(value, "path"), &path))
        return PHI_NO_MEMORY;
    b->path = path.at;
    if (roots == NULL || roots[0] == NULL)
        return phi__body_file_refuse(b, "no directory is set up to send files from");
    if (strlen(path.at) != path.len || path.len == 0)
        return phi__body_file_refuse(b, "its path is empty, or holds a NUL");
    if (b->resolve == NULL)
        b->resolve = (phi__resolve *)phi_arena_alloc(b->r->arena, sizeof *b->resolve);
    if (b->resolve == NULL) return PHI_NO_MEMORY;
    b->root = 0;
    b->place = NULL;
    if (phi__path_resolve_begin(b->resolve, roots[0], path.at, &words) != PHI_OK)
        return phi__body_file_refuse(b, words.text);
    return PHI_BUSY;
}

static phi_status phi__body_file_open(phi__openapi_body *b) {
    phi__file_info info;
    phi__words words;
    if (phi__files_stat(b->place, PHI__LINKS_REFUSE, &info, &words) != PHI_OK)
        return phi__body_file_refuse(b, words.text);
    if (info.bytes > (uint64_t)PHI__OPENAPI_BODY_MOST - b->file_bytes)
        return phi__body_file_refuse(b, "the files are larger than 32 MiB together");
    switch (phi__files_open_read(b->r->memory, b->place, PHI__LINKS_REFUSE, &b->open, &words)) {
    case PHI_OK: break;
    case PHI_NO_MEMORY: return PHI_NO_MEMORY;
    default: return phi__body_file_refuse(b, words.text);
    }
    phi__openapi_file *file = (phi__openapi_file *)phi__arena_zero(b->r->arena, sizeof *file);
    if (file == NULL) return PHI_NO_MEMORY;
    file->len = (size_t)info.bytes;
    file->at = (char *)phi__realloc(b->r->memory, NULL, 0, file->len + 1);
    if (file->at == NULL) return PHI_NO_MEMORY;
    b->file_bytes += file->len;
    file->older = b->files;
    b->files = file;
    return PHI_BUSY;
}

/* Resolves the file's path, and then the roots until one contains the file. */
static phi_status phi__body_file_place(phi__openapi_body *b) {
    const char *const *roots = b->r->op->api->desc.upload_roots;
    size_t units = PHI__OPENAPI_BODY_PATHS;
    phi__words words;
    phi_status status = phi__path_resolve_advance(b->resolve, &units, &words);
    phi_str place;
    if (status == PHI_BUSY) return status;
    if (b->place == NULL) {
        if (status != PHI_OK) return phi__body_file_refuse(b, words.text);
        if (!phi__arena_str(b->r->arena, phi_str_of(b->resolve->out), &place)) return PHI_NO_MEMORY;
        b->place = place.at;
    } else {
        if (status == PHI_OK && phi__path_inside(b->resolve->out, b->place))
            return phi__body_file_open(b);
        b->root++;
    }
    if (roots[b->root] == NULL)
        return phi__body_file_refuse(b, "it is outside the directories to send from");
    if (phi__path_resolve_begin(b->resolve, NULL, roots[b->root], &words) != PHI_OK)
        return phi__body_file_refuse(b, words.text);
    return PHI_BUSY;
}

static phi_status phi__body_file_more(phi__openapi_body *b) {
    phi__openapi_file *file = b->files;
    size_t got = 0;
    phi__words words;
    if (b->open == NULL) return phi__body_file_place(b);
    size_t want = phi__min(file->len + 1 - file->got, PHI__OPENAPI_BODY_READ);
    if (phi__files_read(b->open, file->at + file->got, want, &got, &words) != PHI_OK)
        return phi__body_file_refuse(b, words.text);
    file->got += got;
    if (file->got > file->len) return phi__body_file_refuse(b, "it grows");
    if (got > 0) return PHI_BUSY;
    phi__body_file_close(b);
    return phi__body_add_piece(b, phi__str(file->at, file->got));
}

#endif

static bool phi__body_is_path(const phi_json *value) {
    return phi_json_is(phi_json_get(value, "path"), PHI_JSON_STRING);
}

/* Returns the first type of a list that is not a range; empty if there is none. */
static phi_str phi__body_first_type(phi_str types) {
    while (types.len > 0) {
        size_t comma = phi__str_find(types, 0, ",");
        size_t end = comma != SIZE_MAX ? comma : types.len;
        phi_str type = phi__str_trim(phi__str(types.at, end));
        if (type.len > 0 && phi__str_find(type, 0, "*") == SIZE_MAX) return type;
        if (comma == SIZE_MAX) break;
        types = phi__str_from(types, comma + 1);
    }
    return phi__str(NULL, 0);
}

static phi_status phi__body_base64(phi__openapi_body *b, phi_str name, phi_str text) {
    if (phi__base64_decode(&b->text, text)) return PHI_OK;
    if (b->text.failed) return PHI_NO_MEMORY;
    return phi__opreq_refuse(b->r, "Error: '%.*s' is not base64", (int)phi__min(name.len, 80),
                             name.at);
}

static const phi__operation_property *phi__body_property(const phi__openapi_body *b, phi_str name) {
    const phi__operation_body *body = &b->r->op->body;
    for (size_t i = 0; i < body->property_count; i++)
        if (phi_str_equal(body->properties[i].name, name)) return &body->properties[i];
    return NULL;
}

/* Writes a name as browsers do: in quotes, with quotes and control characters escaped. */
static void phi__body_quoted(phi__buf *out, phi_str text) {
    phi__buf_char(out, '"');
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.at[i];
        if (c < 32 || c == '"' || c == 127)
            phi__buf_printf(out, "%%%02X", c);
        else
            phi__buf_char(out, (char)c);
    }
    phi__buf_char(out, '"');
}

static phi_str phi__body_part_type(const phi__openapi_body *b, const phi_json *value) {
    phi_str type = phi__str(NULL, 0);
    if (b->property != NULL && !b->property->has_style)
        type = phi__body_first_type(b->property->content_type);
    if (type.len > 0) return type;
    if (b->property != NULL && b->property->file) return PHI__LIT("application/octet-stream");
    return phi_json_is(value, PHI_JSON_OBJECT) || phi_json_is(value, PHI_JSON_ARRAY)
               ? PHI__LIT("application/json")
               : type;
}

static void phi__body_header(phi__openapi_body *b, phi_str name, phi_str value) {
    phi__buf_add_str(&b->text, name);
    phi__buf_text(&b->text, ": ");
    phi__buf_add_str(&b->text, value);
    phi__buf_text(&b->text, "\r\n");
}

/* Writes one part. PHI_BUSY: the part's file must be read first. */
static phi_status phi__body_part(phi__openapi_body *b, const phi_json *value) {
    const phi__operation_property *property = b->property;
    bool file = property != NULL && property->file;
    phi_status status;
    phi_str type = phi__body_part_type(b, value);
    phi__buf_printf(&b->text, "--%s\r\nContent-Disposition: form-data; name=", b->boundary);
    phi__body_quoted(&b->text, b->name);
    if (file) {
        phi__buf_text(&b->text, "; filename=");
        phi_str name = phi__records_get_str(value, "filename");
        phi_str path = phi__records_get_str(value, "path");
        size_t i = path.len;
        while (i > 0 && path.at[i - 1] != '/') i--;
        if (name.len == 0) name = i < path.len ? phi__str_from(path, i) : b->name;
        phi__body_quoted(&b->text, name);
    }
    phi__buf_text(&b->text, "\r\n");
    if (type.len > 0 && phi__fetch_value_fits(type))
        phi__body_header(b, PHI__LIT("Content-Type"), type);
    phi_json_iter it = phi_json_each(property != NULL ? property->headers : NULL);
    while (phi_json_next(&it) != NULL) {
        phi_str text = phi__json_text_of(it.at);
        if (phi__fetch_name_fits(it.key) && phi__fetch_value_fits(text))
            phi__body_header(b, it.key, text);
    }
    phi__buf_text(&b->text, "\r\n");
    if (file && phi__body_is_path(value)) {
        status = phi__body_flush(b);
        return status == PHI_OK ? phi__body_file_begin(b, value) : status;
    }
    if (file && property->base64 && phi_json_is(value, PHI_JSON_STRING)) {
        status = phi__body_base64(b, b->name, phi_json_str(value, NULL));
        if (status != PHI_OK) return status;
    } else
        phi__styles_put_value(&b->text, value, PHI__ESCAPE_NONE);
    phi__buf_text(&b->text, "\r\n");
    return PHI_OK;
}

/* Returns the next value. Each item of an array becomes a part with the name of the array. */
static const phi_json *phi__body_next(phi__openapi_body *b) {
    for (;;) {
        const phi_json *value = b->in_items ? phi_json_next(&b->items) : NULL;
        b->in_items = value != NULL;
        if (value == NULL) {
            value = phi_json_next(&b->members);
            if (value == NULL) return NULL;
            b->name = b->members.key;
            b->property = phi__body_property(b, b->name);
            b->in_items = phi_json_is(value, PHI_JSON_ARRAY);
            if (b->in_items) {
                b->items = phi_json_each(value);
                continue;
            }
        }
        if (!phi_json_is(value, PHI_JSON_NULL)) return value;
    }
}

static phi_status phi__body_boundary(phi__openapi_body *b) {
    phi_str type = b->r->op->body.content_type;
    unsigned char random[16];
    char whole[200];
    phi__cap_random(phi__call_find(b->call), random);
    (void)memcpy(b->boundary, "phi-", 5);
    for (size_t i = 0; i < 12; i++) (void)snprintf(b->boundary + 4 + 2 * i, 3, "%02x", random[i]);
    (void)snprintf(whole, sizeof whole, "%.*s; boundary=%s", (int)phi__min(type.len, 100), type.at,
                   b->boundary);
    return phi__opreq_add(b->r, PHI__LIT("Content-Type"), phi_str_of(whole), false);
}

PHI__FN void phi__body_begin(phi__openapi_body *b, phi__openapi_request *r, phi_call call) {
    memset(b, 0, sizeof *b);
    b->r = r;
    b->call = call;
    phi__buf_init(&b->text, r->memory);
}

PHI__FN phi_status phi__body_advance(phi__openapi_body *b) {
    if (phi__body_in_file(b)) {
        phi_status status = phi__body_file_more(b);
        if (status != PHI_OK || b->done) return status;
        phi__buf_text(&b->text, "\r\n");
        return PHI_BUSY;
    }
    if (b->done) return PHI_OK;
    if (b->value == NULL) {
        const phi__operation_body *body = &b->r->op->body;
        b->done = body->kind == PHI__BODY_NONE;
        if (b->done) return PHI_OK;
        b->value = phi__opreq_argument(b->r, body->argument);
        /* an explicit null is a body */
        if (b->value == NULL && body->kind == PHI__BODY_JSON)
            b->value = phi__json_get_n(b->r->arguments, body->argument);
        b->done = b->value == NULL;
        if (b->done && body->required)
            return phi__opreq_refuse(b->r, "Error: Missing required request body '%s'",
                                     body->argument.at);
        if (b->done) return PHI_OK;
        bool form = body->kind == PHI__BODY_FORM || body->kind == PHI__BODY_MULTIPART;
        if (form && !phi_json_is(b->value, PHI_JSON_OBJECT))
            return phi__opreq_refuse(b->r, "Error: Expected object in '%s', got %s",
                                     body->argument.at, phi__json_get_type_name(b->value));
        b->members = phi_json_each(b->value);
        /* Set the content type of the body. A header of the host takes precedence. */
        phi_status status =
            body->kind == PHI__BODY_MULTIPART
                ? phi__body_boundary(b)
                : phi__opreq_add(b->r, PHI__LIT("Content-Type"), body->content_type, false);
        return status == PHI_OK ? PHI_BUSY : status;
    }
    switch (b->r->op->body.kind) {
    case PHI__BODY_FORM: {
        phi_json_iter it = phi_json_each(b->value);
        phi_json *child;
        while ((child = phi_json_next(&it)) != NULL)
            if (!phi_json_is(child, PHI_JSON_NULL)) {
                /* Without a style, arrays become repeated names, and objects become JSON text. */
                phi_str name = it.key;
                const phi__operation_property *property = phi__body_property(b, name);
                phi__operation_parameter p = PHI_ZERO;
                p.place = PHI__OPERATION_QUERY;
                p.name = name;
                p.style = PHI__STYLE_FORM;
                p.explode = true;
                if (property != NULL && property->has_style) {
                    p.style = property->style;
                    p.explode = property->explode;
                    p.allow_reserved = property->allow_reserved;
                } else if (phi_json_is(child, PHI_JSON_OBJECT) ||
                           (property != NULL &&
                            phi__str_find(property->content_type, 0, "json") != SIZE_MAX))
                    p.content_type = PHI__LIT("application/json");
                phi__styles_put_pairs(&b->text, &p, child);
            }
        b->done = true;
        if (b->text.len > PHI__STYLES_MOST)
            return phi__opreq_refuse(b->r, "Error: '%s' is larger than %u bytes as a form",
                                     b->r->op->body.argument.at, (unsigned)PHI__STYLES_MOST);
        return phi__body_flush(b);
    }
    case PHI__BODY_MULTIPART: {
        const phi_json *value = phi__body_next(b);
        if (value != NULL) {
            phi_status status = phi__body_part(b, value);
            return status == PHI_OK ? PHI_BUSY : status;
        }
        phi__buf_printf(&b->text, "--%s--\r\n", b->boundary);
        b->done = true;
        return phi__body_flush(b);
    }
    default: {
        const phi__operation_body *body = &b->r->op->body;
        phi_status status = PHI_OK;
        if (body->kind == PHI__BODY_JSON) {
            status = phi__json_write(&b->text, b->value, 0);
        } else if (body->kind == PHI__BODY_TEXT) {
            phi__styles_put_value(&b->text, b->value, PHI__ESCAPE_NONE);
        } else if (phi__body_is_path(b->value)) {
            b->done = true;
            return phi__body_file_begin(b, b->value);
        } else
            status = phi__body_base64(b, body->argument, phi_json_str(b->value, NULL));
        b->done = true;
        return status == PHI_OK ? phi__body_flush(b) : status;
    }
    }
}

PHI__FN void phi__body_free(phi__openapi_body *b) {
    if (b->r == NULL) return;
    phi__body_file_close(b);
    for (phi__openapi_file *file = b->files; file != NULL; file = file->older)
        phi__free(b->r->memory, file->at, file->len + 1);
    b->files = NULL;
    phi__buf_free(&b->text);
}
