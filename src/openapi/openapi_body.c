/* openapi_body.c - from an argument to the body of a request. */
#include "openapi/openapi_body_in.h"

#include "base/base64_in.h"
#include "loop/cap_in.h"
#include "loop/fetch_in.h"
#include "loop/loop_in.h"
#include "openapi/styles_in.h"

#include <stdio.h>

enum {
    PHI__OPENAPI_BODY_READ = 65536, /* bytes of a file in one slice */
    PHI__OPENAPI_BODY_PATHS = 128   /* units of work with paths in one slice: files_in.h */
};

/* ---- pieces ---- */

static phi_status phi__openapi_body_add_piece(phi__openapi_body *b, phi_str piece) {
    if (b->count == b->cap) {
        size_t cap = b->cap > 0 ? b->cap * 2 : 8;
        phi_str *grown = (phi_str *)phi_arena_alloc(b->r->arena, phi__mul(cap, sizeof *grown));
        if (grown == NULL) return PHI_NO_MEMORY;
        if (b->count > 0) memcpy(grown, b->pieces, b->count * sizeof *grown);
        b->pieces = grown;
        b->cap = cap;
    }
    b->pieces[b->count++] = piece;
    return PHI_OK;
}

/* Makes the text so far a piece. */
static phi_status phi__openapi_body_flush(phi__openapi_body *b) {
    phi_str piece;
    if (b->text.failed) return PHI_NO_MEMORY;
    if (b->text.len == 0) return PHI_OK;
    if (!phi__arena_str(b->r->arena, phi__buf_str(&b->text), &piece)) return PHI_NO_MEMORY;
    phi__buf_clear(&b->text);
    return phi__openapi_body_add_piece(b, piece);
}

/* The content type of the whole; a host's own header wins. */
static phi_status phi__openapi_body_type(phi__openapi_body *b, phi_str type) {
    return phi__openapi_request_add(b->r, PHI__LIT("Content-Type"), type, false);
}

/* ---- files ---- */

#ifdef PHI_NO_FILES
static phi_status phi__openapi_body_file_begin(phi__openapi_body *b, const phi_json *value) {
    (void)value;
    return phi__openapi_request_refuse(b->r, "Error: Files cannot be sent by this program");
}
static phi_status phi__openapi_body_file_more(phi__openapi_body *b) {
    (void)b;
    return PHI_OK;
}
static bool phi__openapi_body_in_file(const phi__openapi_body *b) {
    (void)b;
    return false;
}
static void phi__openapi_body_file_close(phi__openapi_body *b) { (void)b; }
#else

static bool phi__openapi_body_in_file(const phi__openapi_body *b) { return b->path != NULL; }

static void phi__openapi_body_file_close(phi__openapi_body *b) {
    phi__files_close(b->open);
    b->open = NULL;
    b->path = b->place = NULL;
}

static phi_status phi__openapi_body_file_refuse(phi__openapi_body *b, const char *why) {
    return phi__openapi_request_refuse(b->r, "Error: Cannot send file '%.150s': %s", b->path, why);
}

static phi_status phi__openapi_body_file_begin(phi__openapi_body *b, const phi_json *value) {
    const char *const *roots = b->r->op->api->desc.upload_roots;
    phi__words words;
    phi_str path;
    if (!phi__arena_str(b->r->arena, phi_json_str(phi_json_get(value, "path"), NULL), &path))
        return PHI_NO_MEMORY;
    b->path = path.at;
    if (roots == NULL || roots[0] == NULL)
        return phi__openapi_body_file_refuse(b, "no directory is set up to send files from");
    if (strlen(path.at) != path.len || path.len == 0)
        return phi__openapi_body_file_refuse(b, "its path is empty, or holds a NUL");
    if (b->resolve == NULL)
        b->resolve = (phi__resolve *)phi_arena_alloc(b->r->arena, sizeof *b->resolve);
    if (b->resolve == NULL) return PHI_NO_MEMORY;
    b->root = 0;
    b->place = NULL;
    if (phi__path_resolve_begin(b->resolve, roots[0], path.at, &words) != PHI_OK)
        return phi__openapi_body_file_refuse(b, words.text);
    return PHI_BUSY;
}

static phi_status phi__openapi_body_file_open(phi__openapi_body *b) {
    phi__openapi_file *file;
    phi__file_info info;
    phi__words words;
    if (phi__files_stat(b->place, PHI__LINKS_REFUSE, &info, &words) != PHI_OK)
        return phi__openapi_body_file_refuse(b, words.text);
    if (info.bytes > (uint64_t)PHI__OPENAPI_BODY_MOST - b->file_bytes)
        return phi__openapi_body_file_refuse(b, "the files are larger than 32 MiB together");
    switch (phi__files_open_read(b->r->memory, b->place, PHI__LINKS_REFUSE, &b->open, &words)) {
    case PHI_OK: break;
    case PHI_NO_MEMORY: return PHI_NO_MEMORY;
    default: return phi__openapi_body_file_refuse(b, words.text);
    }
    file = (phi__openapi_file *)phi__arena_zero(b->r->arena, sizeof *file);
    if (file == NULL) return PHI_NO_MEMORY;
    file->len = (size_t)info.bytes;
    file->at = (char *)phi__realloc(b->r->memory, NULL, 0, file->len + 1);
    if (file->at == NULL) return PHI_NO_MEMORY;
    b->file_bytes += file->len;
    file->older = b->files;
    b->files = file;
    return PHI_BUSY;
}

/* The path, then each root until it lies in one. */
static phi_status phi__openapi_body_file_place(phi__openapi_body *b) {
    const char *const *roots = b->r->op->api->desc.upload_roots;
    size_t units = PHI__OPENAPI_BODY_PATHS;
    phi__words words;
    phi_status status = phi__path_resolve_advance(b->resolve, &units, &words);
    phi_str place;
    if (status == PHI_BUSY) return status;
    if (b->place == NULL) {
        if (status != PHI_OK) return phi__openapi_body_file_refuse(b, words.text);
        if (!phi__arena_str(b->r->arena, phi_str_of(b->resolve->out), &place)) return PHI_NO_MEMORY;
        b->place = place.at;
    } else {
        if (status == PHI_OK && phi__path_inside(b->resolve->out, b->place))
            return phi__openapi_body_file_open(b);
        b->root++;
    }
    if (roots[b->root] == NULL)
        return phi__openapi_body_file_refuse(b, "it is outside the directories to send from");
    if (phi__path_resolve_begin(b->resolve, NULL, roots[b->root], &words) != PHI_OK)
        return phi__openapi_body_file_refuse(b, words.text);
    return PHI_BUSY;
}

static phi_status phi__openapi_body_file_more(phi__openapi_body *b) {
    phi__openapi_file *file = b->files;
    size_t got = 0, want;
    phi__words words;
    if (b->open == NULL) return phi__openapi_body_file_place(b);
    want = phi__min(file->len + 1 - file->got, PHI__OPENAPI_BODY_READ);
    if (phi__files_read(b->open, file->at + file->got, want, &got, &words) != PHI_OK)
        return phi__openapi_body_file_refuse(b, words.text);
    file->got += got;
    if (file->got > file->len) return phi__openapi_body_file_refuse(b, "it grows");
    if (got > 0) return PHI_BUSY;
    phi__openapi_body_file_close(b);
    return phi__openapi_body_add_piece(b, phi__str(file->at, file->got));
}

#endif

/* ---- one value ---- */

static bool phi__openapi_body_is_path(const phi_json *value) {
    return phi_json_is(phi_json_get(value, "path"), PHI_JSON_STRING);
}

/* The first type of a list that is no range. */
static phi_str phi__openapi_body_first_type(phi_str types) {
    while (types.len > 0) {
        size_t comma = phi__str_find(types, 0, ",");
        size_t end = comma != SIZE_MAX ? comma : types.len;
        phi_str type = phi__str_trim(phi__str(types.at, end));
        if (type.len > 0 && phi__str_find(type, 0, "*") == SIZE_MAX) return type;
        if (comma == SIZE_MAX) break;
        types = phi__str(types.at + comma + 1, types.len - comma - 1);
    }
    return phi__str(NULL, 0);
}

static phi_status phi__openapi_body_base64(phi__openapi_body *b, phi_str name, phi_str text) {
    if (phi__base64_decode(&b->text, text)) return PHI_OK;
    if (b->text.failed) return PHI_NO_MEMORY;
    return phi__openapi_request_refuse(b->r, "Error: '%.*s' is not base64",
                                       (int)phi__min(name.len, 80), name.at);
}

/* ---- forms ---- */

static const phi__operation_property *phi__openapi_body_property(const phi__openapi_body *b,
                                                                 phi_str name) {
    const phi__operation_body *body = &b->r->op->body;
    size_t i;
    for (i = 0; i < body->property_count; i++)
        if (body->properties[i].name.len == name.len &&
            memcmp(body->properties[i].name.at, name.at, name.len) == 0)
            return &body->properties[i];
    return NULL;
}

/* Without a style: arrays as repeated names, objects as JSON text. */
static void phi__openapi_body_pair(phi__openapi_body *b, phi_str name, const phi_json *value) {
    const phi__operation_property *property = phi__openapi_body_property(b, name);
    phi__operation_parameter p;
    memset(&p, 0, sizeof p);
    p.place = PHI__OPERATION_QUERY;
    p.name = name;
    p.style = PHI__STYLE_FORM;
    p.explode = true;
    if (property != NULL && property->has_style) {
        p.style = property->style;
        p.explode = property->explode;
        p.allow_reserved = property->allow_reserved;
    } else if (phi_json_is(value, PHI_JSON_OBJECT) ||
               (property != NULL && phi__str_find(property->content_type, 0, "json") != SIZE_MAX))
        p.content_type = PHI__LIT("application/json");
    phi__styles_put_pairs(&b->text, &p, value);
}

static phi_status phi__openapi_body_form(phi__openapi_body *b) {
    phi_json_iter it = phi_json_each(b->value);
    phi_json *child;
    while ((child = phi_json_next(&it)) != NULL)
        if (!phi_json_is(child, PHI_JSON_NULL)) phi__openapi_body_pair(b, it.key, child);
    b->done = true;
    if (b->text.len > PHI__STYLES_MOST)
        return phi__openapi_request_refuse(b->r, "Error: '%s' is larger than %u bytes as a form",
                                           b->r->op->body.argument.at, (unsigned)PHI__STYLES_MOST);
    return phi__openapi_body_flush(b);
}

/* ---- multipart ---- */

/* As browsers write names: quotes and line breaks escaped. */
static void phi__openapi_body_quoted(phi__buf *out, phi_str text) {
    size_t i;
    phi__buf_char(out, '"');
    for (i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.at[i];
        if (c < 32 || c == '"' || c == 127)
            phi__buf_printf(out, "%%%02X", c);
        else
            phi__buf_char(out, (char)c);
    }
    phi__buf_char(out, '"');
}

static phi_str phi__openapi_body_filename(const phi_json *value, phi_str otherwise) {
    phi_str name = phi_json_str(phi_json_get(value, "filename"), NULL);
    phi_str path = phi_json_str(phi_json_get(value, "path"), NULL);
    size_t i;
    if (name.len > 0) return name;
    for (i = path.len; i > 0 && path.at[i - 1] != '/';) i--;
    return i < path.len ? phi__str(path.at + i, path.len - i) : otherwise;
}

static phi_str phi__openapi_body_part_type(const phi__openapi_body *b, const phi_json *value) {
    phi_str type = phi__str(NULL, 0);
    if (b->property != NULL && !b->property->has_style)
        type = phi__openapi_body_first_type(b->property->content_type);
    if (type.len > 0) return type;
    if (b->property != NULL && b->property->file) return PHI__LIT("application/octet-stream");
    return phi_json_is(value, PHI_JSON_OBJECT) || phi_json_is(value, PHI_JSON_ARRAY)
               ? PHI__LIT("application/json")
               : type;
}

static phi_status phi__openapi_body_part_headers(phi__openapi_body *b) {
    phi_json_iter it;
    phi_json *child;
    if (b->property == NULL || b->property->headers == NULL) return PHI_OK;
    it = phi_json_each(b->property->headers);
    while ((child = phi_json_next(&it)) != NULL) {
        phi_str value = phi_json_str(child, NULL);
        if (!phi__fetch_name_fits(it.key) || !phi__fetch_value_fits(value)) continue;
        phi__buf_add_str(&b->text, it.key);
        phi__buf_text(&b->text, ": ");
        phi__buf_add_str(&b->text, value);
        phi__buf_text(&b->text, "\r\n");
    }
    return PHI_OK;
}

static void phi__openapi_body_part_head(phi__openapi_body *b, const phi_json *value, bool file) {
    phi_str type = phi__openapi_body_part_type(b, value);
    phi__buf_printf(&b->text, "--%s\r\nContent-Disposition: form-data; name=", b->boundary);
    phi__openapi_body_quoted(&b->text, b->name);
    if (file) {
        phi__buf_text(&b->text, "; filename=");
        phi__openapi_body_quoted(&b->text, phi__openapi_body_filename(value, b->name));
    }
    phi__buf_text(&b->text, "\r\n");
    if (type.len > 0 && phi__fetch_value_fits(type)) {
        phi__buf_text(&b->text, "Content-Type: ");
        phi__buf_add_str(&b->text, type);
        phi__buf_text(&b->text, "\r\n");
    }
    (void)phi__openapi_body_part_headers(b);
    phi__buf_text(&b->text, "\r\n");
}

/* A part; PHI_BUSY: its file is to be read. */
static phi_status phi__openapi_body_part(phi__openapi_body *b, const phi_json *value) {
    const phi__operation_property *property = b->property;
    bool file = property != NULL && property->file;
    phi_status status;
    phi__openapi_body_part_head(b, value, file);
    if (file && phi__openapi_body_is_path(value)) {
        status = phi__openapi_body_flush(b);
        return status == PHI_OK ? phi__openapi_body_file_begin(b, value) : status;
    }
    if (file && property->base64 && phi_json_is(value, PHI_JSON_STRING)) {
        status = phi__openapi_body_base64(b, b->name, phi_json_str(value, NULL));
        if (status != PHI_OK) return status;
    } else
        phi__styles_put_value(&b->text, value, PHI__ESCAPE_NONE);
    phi__buf_text(&b->text, "\r\n");
    return PHI_OK;
}

/* The next value: items of arrays are parts of the same name. */
static const phi_json *phi__openapi_body_next(phi__openapi_body *b) {
    const phi_json *value;
    for (;;) {
        value = b->in_items ? phi_json_next(&b->items) : NULL;
        if (value == NULL) {
            b->in_items = false;
            value = phi_json_next(&b->members);
            if (value == NULL) return NULL;
            b->name = b->members.key;
            b->property = phi__openapi_body_property(b, b->name);
            if (phi_json_is(value, PHI_JSON_ARRAY)) {
                b->items = phi_json_each(value);
                b->in_items = true;
                continue;
            }
        }
        if (!phi_json_is(value, PHI_JSON_NULL)) return value;
    }
}

static phi_status phi__openapi_body_multipart(phi__openapi_body *b) {
    const phi_json *value = phi__openapi_body_next(b);
    if (value != NULL) {
        phi_status status = phi__openapi_body_part(b, value);
        return status == PHI_OK ? PHI_BUSY : status;
    }
    phi__buf_printf(&b->text, "--%s--\r\n", b->boundary);
    b->done = true;
    return phi__openapi_body_flush(b);
}

static phi_status phi__openapi_body_boundary(phi__openapi_body *b) {
    phi_str type = b->r->op->body.content_type;
    unsigned char random[16];
    char whole[200];
    size_t i;
    phi__cap_random(phi__call_find(b->call), random);
    (void)memcpy(b->boundary, "phi-", 5);
    for (i = 0; i < 12; i++) (void)snprintf(b->boundary + 4 + 2 * i, 3, "%02x", random[i]);
    (void)snprintf(whole, sizeof whole, "%.*s; boundary=%s", (int)phi__min(type.len, 100), type.at,
                   b->boundary);
    return phi__openapi_body_type(b, phi_str_of(whole));
}

/* ---- the kinds ---- */

static phi_status phi__openapi_body_plain(phi__openapi_body *b) {
    const phi__operation_body *body = &b->r->op->body;
    phi_status status = PHI_OK;
    if (body->kind == PHI__BODY_JSON) {
        status = phi__json_write(&b->text, b->value, 0);
    } else if (body->kind == PHI__BODY_TEXT) {
        phi__styles_put_value(&b->text, b->value, PHI__ESCAPE_NONE);
    } else if (phi__openapi_body_is_path(b->value)) {
        b->done = true;
        return phi__openapi_body_file_begin(b, b->value);
    } else
        status = phi__openapi_body_base64(b, body->argument, phi_json_str(b->value, NULL));
    b->done = true;
    return status == PHI_OK ? phi__openapi_body_flush(b) : status;
}

static phi_status phi__openapi_body_expect(phi__openapi_body *b) {
    const phi__operation_body *body = &b->r->op->body;
    bool form = body->kind == PHI__BODY_FORM || body->kind == PHI__BODY_MULTIPART;
    if (!form || phi_json_is(b->value, PHI_JSON_OBJECT)) return PHI_OK;
    return phi__openapi_request_refuse(b->r, "Error: Expected object in '%s', got %s",
                                       body->argument.at, phi__json_get_type_name(b->value));
}

/* ---- for the call ---- */

PHI__FN void phi__openapi_body_begin(phi__openapi_body *b, phi__openapi_request *r, phi_call call) {
    memset(b, 0, sizeof *b);
    b->r = r;
    b->call = call;
    phi__buf_init(&b->text, r->memory);
}

static phi_status phi__openapi_body_start(phi__openapi_body *b) {
    const phi__operation_body *body = &b->r->op->body;
    phi_status status;
    b->done = body->kind == PHI__BODY_NONE;
    if (b->done) return PHI_OK;
    b->value = phi__openapi_request_argument(b->r, body->argument);
    /* null is a body of its own where the argument is there */
    if (b->value == NULL && body->kind == PHI__BODY_JSON)
        b->value = phi__json_get_n(b->r->arguments, body->argument);
    b->done = b->value == NULL;
    if (b->done && body->required)
        return phi__openapi_request_refuse(b->r, "Error: Missing required request body '%s'",
                                           body->argument.at);
    if (b->done) return PHI_OK;
    status = phi__openapi_body_expect(b);
    if (status != PHI_OK) return status;
    b->members = phi_json_each(b->value);
    status = body->kind == PHI__BODY_MULTIPART ? phi__openapi_body_boundary(b)
                                               : phi__openapi_body_type(b, body->content_type);
    return status == PHI_OK ? PHI_BUSY : status;
}

PHI__FN phi_status phi__openapi_body_advance(phi__openapi_body *b) {
    phi_status status;
    if (phi__openapi_body_in_file(b)) {
        status = phi__openapi_body_file_more(b);
        if (status != PHI_OK || b->done) return status;
        phi__buf_text(&b->text, "\r\n");
        return PHI_BUSY;
    }
    if (b->done) return PHI_OK;
    if (b->value == NULL) return phi__openapi_body_start(b);
    switch (b->r->op->body.kind) {
    case PHI__BODY_FORM: return phi__openapi_body_form(b);
    case PHI__BODY_MULTIPART: return phi__openapi_body_multipart(b);
    default: return phi__openapi_body_plain(b);
    }
}

PHI__FN void phi__openapi_body_free(phi__openapi_body *b) {
    phi__openapi_file *file;
    if (b->r == NULL) return;
    phi__openapi_body_file_close(b);
    for (file = b->files; file != NULL; file = file->older)
        phi__free(b->r->memory, file->at, file->len + 1);
    b->files = NULL;
    phi__buf_free(&b->text);
}
