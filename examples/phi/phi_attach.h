/* phi_attach.h - files that go with a prompt: documents, images and sound, their types by content, and a check
   whether the model takes them. Copy what you need of it. */
#ifndef PHI_ATTACH_H
#define PHI_ATTACH_H

#include "phi_places.h"

#include <errno.h>

enum { ATTACH_FILES = 16, ATTACH_BYTES = 20 << 20 }; /* bytes of all files */

typedef struct attachments {
    phi_content files[ATTACH_FILES + 1]; /* the last place is the prompt's */
    text bytes[ATTACH_FILES];            /* of the files: text, or base64 */
    text names[ATTACH_FILES];            /* without their directories */
    size_t count, total;
} attachments;

typedef struct attach_type {
    phi_content_kind kind;
    const char *type, *begins; /* bytes at `from` */
    size_t from;
    const char *ending; /* NULL: any */
} attach_type;

static const attach_type attach_types[] = {
    {PHI_CONTENT_DOCUMENT, "application/pdf", "%PDF-", 0, NULL},
    {PHI_CONTENT_IMAGE, "image/png", "\x89PNG\r\n\x1a\n", 0, NULL},
    {PHI_CONTENT_IMAGE, "image/jpeg", "\xff\xd8\xff", 0, NULL},
    {PHI_CONTENT_IMAGE, "image/gif", "GIF8", 0, NULL},
    {PHI_CONTENT_IMAGE, "image/webp", "WEBP", 8, NULL},
    {PHI_CONTENT_IMAGE, "image/heic", "ftypheic", 4, NULL},
    {PHI_CONTENT_AUDIO, "audio/wav", "WAVE", 8, NULL},
    {PHI_CONTENT_AUDIO, "audio/mp3", "ID3", 0, NULL},
    {PHI_CONTENT_AUDIO, "audio/mp3", "\xff\xfb", 0, NULL},
    {PHI_CONTENT_AUDIO, "audio/mp3", "\xff\xf3", 0, NULL},
    {PHI_CONTENT_AUDIO, "audio/mp3", "\xff\xf2", 0, NULL},
    {PHI_CONTENT_AUDIO, "audio/aac", "\xff\xf1", 0, NULL},
    {PHI_CONTENT_AUDIO, "audio/aac", "\xff\xf9", 0, NULL},
    {PHI_CONTENT_AUDIO, "audio/flac", "fLaC", 0, NULL},
    {PHI_CONTENT_AUDIO, "audio/ogg", "OggS", 0, NULL},
    {PHI_CONTENT_DOCUMENT,
     "application/vnd.openxmlformats-officedocument.wordprocessingml.document", "PK\x03\x04", 0,
     ".docx"},
    {PHI_CONTENT_DOCUMENT, "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
     "PK\x03\x04", 0, ".xlsx"},
    {PHI_CONTENT_DOCUMENT, "application/msword", "\xd0\xcf\x11\xe0", 0, ".doc"},
    {PHI_CONTENT_DOCUMENT, "application/vnd.ms-excel", "\xd0\xcf\x11\xe0", 0, ".xls"},
};

/* NULL: none of them. */
static inline const attach_type *attach_type_of(const text *file, const char *path) {
    const char *dot = strrchr(path, '.');
    size_t i, n;
    for (i = 0; i < sizeof attach_types / sizeof attach_types[0]; i++) {
        const attach_type *t = &attach_types[i];
        n = strlen(t->begins);
        if (file->len < t->from + n || memcmp(file->at + t->from, t->begins, n) != 0) continue;
        if (t->ending == NULL || (dot != NULL && strcmp(dot, t->ending) == 0)) return t;
    }
    return NULL;
}

/* UTF-8 without NUL. */
static inline bool attach_is_text(const text *file) {
    size_t at, n;
    uint32_t c;
    for (at = 0; at < file->len; at += n) {
        n = text_decode(file->at + at, file->len - at, &c);
        if (n == 0 || c == 0 || (c == 0xFFFD && n == 1)) return false;
    }
    return true;
}

static inline bool attach_base64(text *file) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    text out = {NULL, 0, 0};
    size_t i;
    if (!text_room(&out, file->len / 3 * 4 + 4)) return false;
    for (i = 0; i < file->len; i += 3) {
        size_t left = file->len - i;
        uint32_t n = (uint32_t)(unsigned char)file->at[i] << 16;
        if (left > 1) n |= (uint32_t)(unsigned char)file->at[i + 1] << 8;
        if (left > 2) n |= (unsigned char)file->at[i + 2];
        out.at[out.len++] = digits[n >> 18];
        out.at[out.len++] = digits[n >> 12 & 63];
        out.at[out.len++] = left > 1 ? digits[n >> 6 & 63] : '=';
        out.at[out.len++] = left > 2 ? digits[n & 63] : '=';
    }
    out.at[out.len] = '\0';
    free(file->at);
    *file = out;
    return true;
}

/* Reads one byte more than there may be. False: errno says why. */
static inline bool attach_read(attachments *a, const char *path, text *file) {
    FILE *from = places_open(path);
    char part[65536];
    size_t got;
    bool done = from != NULL;
    while (done && a->total + file->len <= ATTACH_BYTES &&
           (got = fread(part, 1, sizeof part, from)) > 0)
        if (!text_add(file, part, got)) done = false, errno = ENOMEM;
    if (done && ferror(from)) done = false;
    if (from != NULL) (void)fclose(from); /* errno stays: nothing was written */
    a->total += file->len;
    return done;
}

/* NULL, or a sentence about what is wrong with it, in `words`. */
static inline const char *attach_add(attachments *a, phi_agent agent, const char *path,
                                     text *words) {
    phi_content *c = &a->files[a->count];
    text *file = &a->bytes[a->count], *name = &a->names[a->count];
    phi_str model = phi_agent_get_info(agent).model_id;
    const attach_type *type;
    bool is_text;
    a->count++;
    if (!attach_read(a, path, file)) return strerror(errno);
    if (a->total > ATTACH_BYTES) return "more than 20 MiB of files";
    if (file->len == 0) return "the file is empty";
    type = attach_type_of(file, path);
    is_text = attach_is_text(file);
    if (is_text && type != NULL && strcmp(type->type, "application/pdf") != 0) type = NULL;
    c->kind = type != NULL ? type->kind : PHI_CONTENT_DOCUMENT;
    text_say(name, places_name(path));
    if (c->kind == PHI_CONTENT_DOCUMENT) c->name = text_str(name);
    if (type == NULL && !is_text)
        return "neither text nor a document, image or sound of a known type";
    if (type == NULL) {
        c->text = text_str(file);
        return NULL;
    }
    c->mime_type = phi_str_of(type->type);
    if (!phi_agent_takes(agent, c->kind, c->mime_type)) {
        words->len = 0;
        text_print(words, "%.*s takes no %s (%s)", PHI_ARG(model),
                   c->kind == PHI_CONTENT_IMAGE      ? "such image"
                   : c->kind == PHI_CONTENT_DOCUMENT ? "such document"
                                                     : "such sound",
                   type->type);
        return words->at;
    }
    if (!attach_base64(file)) return strerror(ENOMEM);
    c->data = text_str(file);
    return NULL;
}

/* Reads the files, by the same rule as phi_preflight. False: `words` say why not; nothing was sent. */
static inline bool attach_open(attachments *a, phi_agent agent, const char *const *paths,
                               size_t count, text *words) {
    text more = {NULL, 0, 0};
    const char *why = NULL;
    size_t i;
    for (i = 0; i < count && why == NULL; i++) why = attach_add(a, agent, paths[i], &more);
    words->len = 0;
    if (why != NULL) text_print(words, "%s: %s", paths[i - 1], why);
    free(more.at);
    return why == NULL;
}

/* Leaves the first `count` files, of `total` bytes. */
static inline void attach_cut(attachments *a, size_t count, size_t total) {
    for (; a->count > count; a->count--) {
        size_t i = a->count - 1;
        free(a->bytes[i].at), free(a->names[i].at);
        memset(&a->bytes[i], 0, sizeof a->bytes[i]);
        memset(&a->names[i], 0, sizeof a->names[i]);
        memset(&a->files[i], 0, sizeof a->files[i]);
    }
    a->total = total;
}

static inline void attach_free(attachments *a) { attach_cut(a, 0, 0); }

/* As phi_send, with the files before the words the first time. */
static inline phi_status attach_send(attachments *a, phi_agent agent, const char *words) {
    phi_content *last = &a->files[a->count];
    phi_prompt_desc prompt = PHI_ZERO;
    phi_status status;
    if (a->count == 0) return phi_send(agent, words);
    last->kind = PHI_CONTENT_TEXT;
    last->text = phi_str_of(words);
    prompt.content = a->files;
    prompt.content_count = a->count + 1;
    status = phi_prompt_with(agent, &prompt, NULL);
    if (status == PHI_OK) attach_free(a);
    return status;
}

#endif
