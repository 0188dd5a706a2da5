/* openapi_answer.c - answers of servers, for models. */
#include "openapi/openapi_answer_in.h"

#include "agent/agent.h"
#include "base/base64_in.h"
#include "base/utf8_in.h"
#include "loop/cap_in.h"
#include "loop/loop_in.h"
#include "openapi/json_cut_in.h"
#include "wire/headers_in.h"

#include <stdio.h>

enum {
    PHI__OPENAPI_ANSWER_TIMES = 4,            /* kept of a text, times max_response_bytes */
    PHI__OPENAPI_ANSWER_TEXT_MOST = 64 << 20, /* ... and at most */
    PHI__OPENAPI_ANSWER_MEDIA_MOST = 4 << 20, /* bytes of an image, PDF or sound that is shown */
    PHI__OPENAPI_ANSWER_FILE_MOST = 1 << 30   /* bytes of a file */
};

/* ---- kinds of answers ---- */

PHI__FN const char *phi__openapi_answer_reason(int http_status) {
    static const struct {
        int status;
        const char *reason;
    } rows[] = {{200, "OK"},
                {201, "Created"},
                {202, "Accepted"},
                {203, "Non Authoritative Information"},
                {204, "No Content"},
                {205, "Reset Content"},
                {206, "Partial Content"},
                {207, "Multi-Status"},
                {300, "Multiple Choices"},
                {301, "Moved Permanently"},
                {302, "Found"},
                {303, "See Other"},
                {304, "Not Modified"},
                {307, "Temporary Redirect"},
                {308, "Permanent Redirect"},
                {400, "Bad Request"},
                {401, "Unauthorized"},
                {402, "Payment Required"},
                {403, "Forbidden"},
                {404, "Not Found"},
                {405, "Method Not Allowed"},
                {406, "Not Acceptable"},
                {408, "Request Timeout"},
                {409, "Conflict"},
                {410, "Gone"},
                {411, "Length Required"},
                {412, "Precondition Failed"},
                {413, "Payload Too Large"},
                {414, "URI Too Long"},
                {415, "Unsupported Media Type"},
                {416, "Range Not Satisfiable"},
                {418, "I'm a teapot"},
                {422, "Unprocessable Entity"},
                {423, "Locked"},
                {424, "Failed Dependency"},
                {428, "Precondition Required"},
                {429, "Too Many Requests"},
                {431, "Request Header Fields Too Large"},
                {451, "Unavailable For Legal Reasons"},
                {500, "Internal Server Error"},
                {501, "Not Implemented"},
                {502, "Bad Gateway"},
                {503, "Service Unavailable"},
                {504, "Gateway Timeout"}};
    size_t i;
    for (i = 0; i < PHI__COUNT(rows); i++)
        if (rows[i].status == http_status) return rows[i].reason;
    return "";
}

static bool phi__openapi_answer_among(phi_str type, const char *const *names, size_t count) {
    size_t i;
    for (i = 0; i < count; i++)
        if (phi__str_is_nocase(type, names[i])) return true;
    return false;
}

static bool phi__openapi_answer_ends(phi_str type, const char *end) {
    size_t n = strlen(end);
    return type.len > n && phi__str_is_nocase(phi__str(type.at + type.len - n, n), end);
}

/* The kind of block that holds an answer of a type; PHI_CONTENT_TEXT: none does. */
static phi_content_kind phi__openapi_answer_kind_of(phi_str type) {
    static const char *const images[] = {"image/png", "image/jpeg", "image/gif", "image/webp"};
    static const char *const sounds[] = {"audio/wav", "audio/mpeg", "audio/mp3"};
    if (phi__openapi_answer_among(type, images, PHI__COUNT(images))) return PHI_CONTENT_IMAGE;
    if (phi__openapi_answer_among(type, sounds, PHI__COUNT(sounds))) return PHI_CONTENT_AUDIO;
    return phi__str_is_nocase(type, "application/pdf") ? PHI_CONTENT_DOCUMENT : PHI_CONTENT_TEXT;
}

PHI__FN phi_content_kind phi__openapi_answer_kind(const phi__openapi_answer *a) {
    return phi__openapi_answer_kind_of(phi_str_of(a->type));
}

/* Documents and audio are bytes of no use to a model that does not take them. */
static phi__openapi_form phi__openapi_answer_form(phi_call call, phi_str type) {
    phi_content_kind kind = phi__openapi_answer_kind_of(type);
    static const char *const texts[] = {
        "application/xml",          "application/javascript", "application/x-www-form-urlencoded",
        "application/yaml",         "application/x-yaml",     "application/graphql",
        "application/x-ndjson",     "application/jsonl",      "application/sql",
        "application/toml",         "application/xhtml+xml",  "message/rfc822",
        "application/problem+json", "image/svg+xml"};
    if (type.len == 0) return PHI__FORM_UNKNOWN;
    if (phi__str_is_nocase(type, "application/json") || phi__str_is_nocase(type, "text/json") ||
        phi__openapi_answer_ends(type, "+json"))
        return PHI__FORM_JSON;
    if (kind == PHI_CONTENT_IMAGE ||
        (kind != PHI_CONTENT_TEXT && phi_agent_takes(phi_call_get_info(call).agent, kind, type)))
        return PHI__FORM_MEDIA;
    if (phi__str_is_nocase(phi__str(type.at, phi__min(type.len, 5)), "text/") ||
        phi__openapi_answer_among(type, texts, PHI__COUNT(texts)) ||
        phi__openapi_answer_ends(type, "+xml") || phi__openapi_answer_ends(type, "+yaml"))
        return PHI__FORM_TEXT;
    return PHI__FORM_BINARY;
}

static bool phi__openapi_answer_is_latin1(phi_str content_type) {
    static const char *const names[] = {"iso-8859-1", "iso-8859-15", "latin1", "windows-1252"};
    size_t at = phi__str_find_nocase(content_type, 0, "charset="), i;
    if (at == SIZE_MAX) return false;
    at += 8;
    if (at < content_type.len && content_type.at[at] == '"') at++;
    for (i = 0; i < PHI__COUNT(names); i++) {
        size_t n = strlen(names[i]);
        if (content_type.len - at >= n &&
            phi__str_is_nocase(phi__str(content_type.at + at, n), names[i]))
            return true;
    }
    return false;
}

PHI__FN void phi__openapi_answer_init(phi__openapi_answer *a, phi_memory *memory,
                                      const phi__operation *op, phi_call call,
                                      const phi__secrets *secrets) {
    memset(a, 0, sizeof *a);
    a->op = op;
    a->call = call;
    a->secrets = secrets;
    phi__buf_init(&a->kept, memory);
    phi__buf_init(&a->incoming, memory);
}

/* As much as is printable. */
static phi_str phi__openapi_answer_word(phi_str text, size_t most) {
    size_t i;
    text = phi__str_trim(text);
    for (i = 0; i < text.len && i < most && text.at[i] > 32 && text.at[i] < 127;) i++;
    return phi__str(text.at, i);
}

/* The body of a server that compresses unasked is not read. */
static void phi__openapi_answer_coding(phi__openapi_answer *a, phi_str headers) {
    phi_str coding = phi__openapi_answer_word(phi__headers_value(headers, "content-encoding"), 20);
    size_t len = strlen(a->type);
    if (coding.len == 0 || phi__str_is_nocase(coding, "identity")) return;
    a->form = PHI__FORM_BINARY;
    (void)snprintf(a->type + len, sizeof a->type - len, "%s%.*s", len > 0 ? " in " : "",
                   (int)coding.len, coding.at);
}

PHI__FN void phi__openapi_answer_head(phi__openapi_answer *a, int http_status, phi_str headers) {
    phi_str whole = phi__headers_value(headers, "content-type");
    size_t semicolon = phi__str_find(whole, 0, ";");
    phi_str type = phi__openapi_answer_word(phi__str(whole.at, phi__min(whole.len, semicolon)),
                                            sizeof a->type - 1);
    size_t most = a->op->api->desc.max_response_bytes;
    char *at;
    a->http_status = http_status;
    a->latin1 = phi__openapi_answer_is_latin1(whole);
    (void)snprintf(a->type, sizeof a->type, "%.*s", (int)type.len, type.at);
    if (phi__openapi_answer_kind(a) != PHI_CONTENT_TEXT) /* providers want their types so */
        for (at = a->type; *at != '\0'; at++)
            if (*at >= 'A' && *at <= 'Z') *at = (char)(*at - 'A' + 'a');
    a->form = phi__openapi_answer_form(a->call, phi_str_of(a->type));
    phi__openapi_answer_coding(a, headers);
    (void)phi__secret_hide(a->secrets, a->type, strlen(a->type), PHI__SECRET_WORDS);
    if (!phi__str_to_u64(phi__headers_value(headers, "content-length"), &a->announced))
        a->announced = 0;
    a->most = a->form == PHI__FORM_MEDIA    ? (size_t)PHI__OPENAPI_ANSWER_MEDIA_MOST
              : a->form == PHI__FORM_BINARY ? 0
                                            : phi__min(phi__mul(most, PHI__OPENAPI_ANSWER_TIMES),
                                                       (size_t)PHI__OPENAPI_ANSWER_TEXT_MOST);
}

/* ---- the file ---- */

#ifdef PHI_NO_FILES
static void phi__openapi_answer_save(phi__openapi_answer *a, phi_str bytes) {
    (void)a;
    (void)bytes;
}
static void phi__openapi_answer_commit(phi__openapi_answer *a) { (void)a; }
static void phi__openapi_answer_note_file(phi__openapi_answer *a, phi__buf *out) {
    (void)a;
    (void)out;
}
static bool phi__openapi_answer_saves(const phi__openapi_answer *a) {
    (void)a;
    return false;
}
#else

static const char *phi__openapi_answer_directory(const phi__openapi_answer *a) {
    const char *directory = a->op->api->desc.response_directory;
    return directory != NULL && directory[0] != '\0' ? directory : NULL;
}

static bool phi__openapi_answer_saves(const phi__openapi_answer *a) {
    return phi__openapi_answer_directory(a) != NULL && !a->unsaved;
}

static const char *phi__openapi_answer_ending(const phi__openapi_answer *a) {
    static const char *const rows[][2] = {
        {"text/html", "html"},      {"text/csv", "csv"},      {"application/pdf", "pdf"},
        {"image/png", "png"},       {"image/jpeg", "jpg"},    {"image/gif", "gif"},
        {"image/webp", "webp"},     {"image/svg+xml", "svg"}, {"application/zip", "zip"},
        {"application/xml", "xml"}, {"text/xml", "xml"}};
    size_t i;
    if (a->form == PHI__FORM_JSON) return "json";
    for (i = 0; i < PHI__COUNT(rows); i++)
        if (phi__str_is_nocase(phi_str_of(a->type), rows[i][0])) return rows[i][1];
    return a->form == PHI__FORM_BINARY ? "bin" : "txt";
}

static void phi__openapi_answer_create(phi__openapi_answer *a) {
    unsigned char random[16];
    char name[20];
    size_t i;
    int n;
    phi__cap_random(phi__call_find(a->call), random);
    for (i = 0; i < 8; i++) (void)snprintf(name + 2 * i, 3, "%02x", random[i]);
    n = snprintf(a->path, sizeof a->path, "%s/%s-%s.%s", phi__openapi_answer_directory(a),
                 a->op->name.at, name, phi__openapi_answer_ending(a));
    (void)snprintf(a->words.text, sizeof a->words.text, "its name is taken, or too long");
    a->unsaved = n < 0 || (size_t)n >= sizeof a->path ||
                 phi__files_open_new(a->kept.memory, a->path, &a->file, &a->words) != PHI_OK;
}

static void phi__openapi_answer_save(phi__openapi_answer *a, phi_str bytes) {
    if (!phi__openapi_answer_saves(a) || a->saved) return;
    if (a->file == NULL) phi__openapi_answer_create(a);
    if (a->unsaved || bytes.len == 0) return;
    a->unsaved = phi__files_write(a->file, bytes.at, bytes.len, &a->words) != PHI_OK;
}

static void phi__openapi_answer_commit(phi__openapi_answer *a) {
    if (a->file == NULL || a->saved) return;
    if (!a->unsaved) a->unsaved = phi__files_commit(a->file, &a->words) != PHI_OK;
    a->saved = !a->unsaved;
    phi__files_close(a->file);
    a->file = NULL;
}

static void phi__openapi_answer_note_file(phi__openapi_answer *a, phi__buf *out) {
    if (a->saved)
        phi__buf_printf(out, "\n[The %s, %llu bytes: %s]",
                        a->enough ? "beginning of the answer" : "whole answer",
                        (unsigned long long)a->total, a->path);
    else if (a->unsaved)
        phi__buf_printf(out, "\n[The whole answer could not be saved: %s]", a->words.text);
}

#endif

/* ---- as it comes ---- */

/* Bytes without secrets. */
static void phi__openapi_answer_take(phi__openapi_answer *a, phi_str bytes) {
    bool fits = bytes.len <= a->most - phi__min(a->most, a->kept.len);
    bool over = a->total > a->kept.len;
    if (fits && !over)
        phi__buf_add_str(&a->kept, bytes);
    else {
        if (!over) {
            size_t room = a->most - phi__min(a->most, a->kept.len);
            phi__openapi_answer_save(a, phi__buf_str(&a->kept));
            phi__buf_add(&a->kept, bytes.at, phi__min(room, bytes.len));
        }
        phi__openapi_answer_save(a, bytes);
        a->enough = !phi__openapi_answer_saves(a) ||
                    a->total + bytes.len > (uint64_t)PHI__OPENAPI_ANSWER_FILE_MOST;
    }
    a->total += bytes.len;
}

PHI__FN bool phi__openapi_answer_body(phi__openapi_answer *a, phi_str bytes) {
    size_t n;
    if (a->secrets->count == 0) {
        phi__openapi_answer_take(a, bytes);
        return !a->enough && !a->kept.failed;
    }
    phi__buf_add_str(&a->incoming, bytes);
    if (a->incoming.failed) return false;
    (void)phi__secret_hide(a->secrets, a->incoming.at, a->incoming.len, PHI__SECRET_BYTES);
    n = a->incoming.len - phi__secret_tail(a->secrets, phi__buf_str(&a->incoming));
    if (n > 0) phi__openapi_answer_take(a, phi__str(a->incoming.at, n));
    phi__buf_drop(&a->incoming, n);
    return !a->enough && !a->kept.failed;
}

/* ---- the result ---- */

/* Text of any charset becomes UTF-8, without a byte order mark. */
static bool phi__openapi_answer_text(phi__openapi_answer *a, phi__buf *out) {
    phi_str text = phi__buf_str(&a->kept);
    size_t i;
    if (phi__str_starts(text, "\xEF\xBB\xBF")) text = phi__str(text.at + 3, text.len - 3);
    if (!a->latin1)
        phi__utf8_repair(out, text);
    else
        for (i = 0; i < text.len && !out->failed; i++) {
            char code[4];
            phi__buf_add(out, code, phi__utf8_put(code, (unsigned char)text.at[i]));
        }
    return !out->failed;
}

static void phi__openapi_answer_put_text(phi__openapi_answer *a, phi__buf *out) {
    size_t most = a->op->api->desc.max_response_bytes;
    bool whole = a->total == a->kept.len;
    phi__buf text;
    phi__buf_init(&text, out->memory);
    if (!phi__openapi_answer_text(a, &text)) {
        out->failed = true;
    } else if (whole && text.len <= most) {
        phi__buf_add_str(out, phi__buf_str(&text));
    } else {
        if (a->form != PHI__FORM_JSON || !phi__json_cut(out, phi__buf_str(&text), whole, most))
            phi__buf_add(out, text.at, phi__utf8_cut(phi__buf_str(&text), most));
        phi__buf_text(out, "\n... [truncated]");
        if (whole) phi__openapi_answer_save(a, phi__buf_str(&a->kept));
    }
    phi__buf_free(&text);
}

static void phi__openapi_answer_put_binary(phi__openapi_answer *a, phi__buf *out) {
    uint64_t bytes = a->announced > a->total ? a->announced : a->total;
    bool least = a->enough && a->announced == 0;
    phi__buf_printf(out, "[%s, %s%llu bytes: not text]",
                    a->type[0] != '\0' ? a->type : "Binary data", least ? "at least " : "",
                    (unsigned long long)bytes);
    if (a->total == a->kept.len) phi__openapi_answer_save(a, phi__buf_str(&a->kept));
}

/* Whatever its type says: a NUL is in no text, but in UTF-16, which is not read. Without a type it
   is text where it is UTF-8; a character may be cut at the end. */
static bool phi__openapi_answer_is_binary(const phi__openapi_answer *a) {
    phi_str bytes = phi__buf_str(&a->kept);
    if (a->form == PHI__FORM_MEDIA)
        return phi__openapi_answer_kind(a) == PHI_CONTENT_DOCUMENT &&
               !phi__str_starts(bytes, "%PDF-");
    if (bytes.len == 0) return false;
    return memchr(bytes.at, 0, bytes.len) != NULL ||
           (a->form == PHI__FORM_UNKNOWN && phi__utf8_valid(bytes) + 4 <= bytes.len);
}

PHI__FN phi_status phi__openapi_answer_finish(phi__openapi_answer *a, phi__buf *out,
                                              phi__buf *media) {
    if (a->incoming.len > 0) phi__openapi_answer_take(a, phi__buf_str(&a->incoming));
    phi__buf_clear(&a->incoming);
    if (phi__openapi_answer_is_binary(a)) a->form = PHI__FORM_BINARY;
    if (a->total == 0 && a->announced == 0) return PHI_OK;
    if (a->form == PHI__FORM_MEDIA && a->total == a->kept.len && !a->kept.failed)
        phi__base64_encode(media, a->kept.at, a->kept.len);
    else if (a->form == PHI__FORM_MEDIA || a->form == PHI__FORM_BINARY)
        phi__openapi_answer_put_binary(a, out);
    else
        phi__openapi_answer_put_text(a, out);
    phi__openapi_answer_commit(a);
    phi__openapi_answer_note_file(a, out);
    return out->failed || media->failed || a->kept.failed ? PHI_NO_MEMORY : PHI_OK;
}

PHI__FN void phi__openapi_answer_free(phi__openapi_answer *a) {
    if (a->op == NULL) return;
#ifndef PHI_NO_FILES
    phi__files_close(a->file);
    a->file = NULL;
#endif
    phi__buf_free(&a->kept);
    phi__buf_free(&a->incoming);
}
