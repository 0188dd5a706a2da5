/* mcp_content.c - turns content blocks of MCP into content of messages. */
#include "mcp/mcp_content_in.h"
#include "mcp/mcp_rpc_in.h"

enum { PHI__CONTENT_MOST = 1000 }; /* max. blocks of a list; a line tells how many are left out */

/* Returns the number of bytes that base64 text encodes. */
static uint64_t phi__content_size(phi_str data) {
    uint64_t bytes = (uint64_t)data.len / 4 * 3;
    if (data.len >= 2 && data.len % 4 == 0 && data.at[data.len - 1] == '=')
        bytes -= data.at[data.len - 2] == '=' ? 2 : 1;
    return bytes;
}

/* Media types that some provider accepts, and their usual names. */
static const struct phi__content_type {
    const char *mime, *as;
    phi_content_kind kind;
} phi__content_types[] = {
    {"image/png", "image/png", PHI_CONTENT_IMAGE},
    {"image/jpeg", "image/jpeg", PHI_CONTENT_IMAGE},
    {"image/jpg", "image/jpeg", PHI_CONTENT_IMAGE},
    {"image/gif", "image/gif", PHI_CONTENT_IMAGE},
    {"image/webp", "image/webp", PHI_CONTENT_IMAGE},
    {"audio/wav", "audio/wav", PHI_CONTENT_AUDIO},
    {"audio/x-wav", "audio/wav", PHI_CONTENT_AUDIO},
    {"audio/wave", "audio/wav", PHI_CONTENT_AUDIO},
    {"audio/mpeg", "audio/mpeg", PHI_CONTENT_AUDIO},
    {"audio/mp3", "audio/mpeg", PHI_CONTENT_AUDIO},
    {"audio/aac", "audio/aac", PHI_CONTENT_AUDIO},
    {"audio/flac", "audio/flac", PHI_CONTENT_AUDIO},
    {"audio/ogg", "audio/ogg", PHI_CONTENT_AUDIO},
    {"application/pdf", "application/pdf", PHI_CONTENT_DOCUMENT},
};

/* Finds a media type in the table; kind 0 finds any kind. NULL: not found. */
static const struct phi__content_type *phi__content_type_of(phi_str mime, phi_content_kind kind) {
    for (size_t i = 0; i < PHI__COUNT(phi__content_types); i++) {
        const struct phi__content_type *type = &phi__content_types[i];
        if ((kind == (phi_content_kind)0 || kind == type->kind) &&
            phi__str_is_nocase(mime, type->mime))
            return type;
    }
    return NULL;
}

/* Moves the text of `words` to out->text, and frees `words`. False: no memory. */
static bool phi__content_set_text(phi_arena *arena, phi__buf *words, phi_content *out) {
    out->kind = PHI_CONTENT_TEXT;
    return phi__mcp_keep(words, arena, &out->text);
}

/* Appends a text such as ", image/png, 512 bytes". */
static void phi__content_put_facts(phi__buf *words, phi_str mime, phi_str data, bool sized) {
    if (mime.len > 0) {
        phi__buf_text(words, ", ");
        phi__buf_add_str(words, mime);
    }
    if (!sized) return;
    phi__buf_text(words, ", ");
    phi__buf_u64(words, phi__content_size(data));
    phi__buf_text(words, " bytes");
}

/* Makes a text such as "[audio, audio/wav, 512 bytes]". False: no memory. */
static bool phi__content_note(phi_arena *arena, const char *what, phi_str uri, phi_str mime,
                              phi_str data, const char *fault, phi_content *out) {
    phi__buf words = phi__buf_of(arena->memory);
    phi__buf_char(&words, '[');
    phi__buf_text(&words, what);
    if (uri.len > 0) {
        phi__buf_char(&words, ' ');
        phi__buf_add_str(&words, uri);
    }
    phi__content_put_facts(&words, mime, data, true);
    phi__buf_text(&words, fault);
    phi__buf_char(&words, ']');
    return phi__content_set_text(arena, &words, out);
}

/* Makes content from base64 data. If kind is 0, any known type is accepted. False: no memory. */
static bool phi__content_data(phi_arena *arena, const char *what, phi_content_kind kind,
                              phi_str uri, phi_str mime, phi_str data, phi_content *out) {
    const struct phi__content_type *type = phi__content_type_of(mime, kind);
    if (type == NULL) return phi__content_note(arena, what, uri, mime, data, "", out);
    /* The data must be base64: one bad image in the history would fail all later model calls. */
    size_t len = data.len;
    if (len == 0 || len % 4 != 0)
        return phi__content_note(arena, what, uri, mime, data, ": it is no base64", out);
    if (data.at[len - 1] == '=') len--;
    if (data.at[len - 1] == '=') len--;
    for (size_t i = 0; i < len; i++) {
        char c = data.at[i];
        bool fine = phi__is_alnum(c) || c == '+' || c == '/';
        if (!fine) return phi__content_note(arena, what, uri, mime, data, ": it is no base64", out);
    }
    out->kind = type->kind;
    out->data = data;
    out->mime_type = phi_str_of(type->as);
    if (type->kind == PHI_CONTENT_DOCUMENT && uri.len > 0) {
        size_t from = uri.len;
        while (from > 0 && uri.at[from - 1] != '/') from--;
        out->name = phi__str(uri.at + from, uri.len - from);
    }
    return true;
}

/* Makes a text: "[resource file:///a.txt, "a.txt", text/plain, 512 bytes: The description]". */
static bool phi__content_link(const phi_json *block, phi_arena *arena, phi_content *out) {
    phi_str name = phi__records_get_str(block, "title");
    phi_str mime = phi__records_get_str(block, "mimeType");
    phi_str about = phi__records_get_str(block, "description");
    uint64_t size = phi__json_get_uint(phi_json_get(block, "size"), 0);
    if (name.len == 0) name = phi__records_get_str(block, "name");
    phi__buf words = phi__buf_of(arena->memory);
    phi__buf_text(&words, "[resource ");
    phi__buf_add_str(&words, phi__records_get_str(block, "uri"));
    if (name.len > 0) {
        phi__buf_wrap(&words, ", \"", name, "\"");
    }
    phi__content_put_facts(&words, mime, mime, false);
    if (size > 0) {
        phi__buf_text(&words, ", ");
        phi__buf_u64(&words, size);
        phi__buf_text(&words, " bytes");
    }
    if (about.len > 0) {
        phi__buf_text(&words, ": ");
        phi__buf_add_str(&words, about);
    }
    phi__buf_char(&words, ']');
    return phi__content_set_text(arena, &words, out);
}

PHI__FN bool phi__content_block(const phi_json *block, phi_arena *arena, phi_content *out) {
    phi_str type = phi__records_get_str(block, "type");
    phi_str data = phi__records_get_str(block, "data");
    phi_str mime = phi__records_get_str(block, "mimeType");
    memset(out, 0, sizeof *out);
    if (phi__str_is(type, "text") && phi_json_is(phi_json_get(block, "text"), PHI_JSON_STRING)) {
        out->kind = PHI_CONTENT_TEXT;
        out->text = phi__records_get_str(block, "text");
        return true;
    }
    if (phi__str_is(type, "image") && data.len > 0)
        return phi__content_data(arena, "image", PHI_CONTENT_IMAGE, phi__str(NULL, 0), mime, data,
                                 out);
    if (phi__str_is(type, "audio") && data.len > 0)
        return phi__content_data(arena, "audio", PHI_CONTENT_AUDIO, phi__str(NULL, 0), mime, data,
                                 out);
    if (phi__str_is(type, "resource_link") &&
        phi_json_is(phi_json_get(block, "uri"), PHI_JSON_STRING))
        return phi__content_link(block, arena, out);
    if (phi__str_is(type, "resource") &&
        phi_json_is(phi_json_get(block, "resource"), PHI_JSON_OBJECT)) {
        const phi_json *resource = phi_json_get(block, "resource");
        const phi_json *text = phi_json_get(resource, "text");
        if (phi_json_is(text, PHI_JSON_STRING)) {
            out->kind = PHI_CONTENT_TEXT;
            out->text = phi__json_text_of(text);
            return true;
        }
        return phi__content_data(arena, "resource", (phi_content_kind)0,
                                 phi__records_get_str(resource, "uri"),
                                 phi__records_get_str(resource, "mimeType"),
                                 phi__records_get_str(resource, "blob"), out);
    }
    out->kind = PHI_CONTENT_TEXT;
    return phi_json_write(arena, block, 0, &out->text) == PHI_OK;
}

PHI__FN bool phi__content_read(const phi_json *blocks, phi_arena *arena, phi_content **out,
                               size_t *count) {
    bool list = phi_json_is(blocks, PHI_JSON_ARRAY);
    size_t all = list ? phi_json_count(blocks) : phi_json_is(blocks, PHI_JSON_OBJECT) ? 1 : 0, i;
    size_t most = phi__min(all, PHI__CONTENT_MOST);
    phi_json_iter it = phi_json_each(list ? blocks : NULL);
    phi_content *made;
    *out = NULL;
    *count = 0;
    if (all == 0) return true;
    made = (phi_content *)phi__arena_zero(arena, (most + 1) * sizeof *made);
    if (made == NULL) return false;
    for (i = 0; i < most; i++)
        if (!phi__content_block(list ? phi_json_next(&it) : blocks, arena, &made[i])) return false;
    if (all > most) {
        phi__buf words = phi__buf_of(arena->memory);
        phi__buf_printf(&words, "[%lu more blocks were left out]", (unsigned long)(all - most));
        if (!phi__content_set_text(arena, &words, &made[i++])) return false;
    }
    *out = made;
    *count = i;
    return true;
}

PHI__FN void phi__content_of_assistant(phi_content *content, size_t count) {
    for (size_t i = 0; i < count; i++) {
        phi_content_kind kind = content[i].kind;
        if (kind != PHI_CONTENT_IMAGE && kind != PHI_CONTENT_DOCUMENT && kind != PHI_CONTENT_AUDIO)
            continue;
        memset(&content[i], 0, sizeof content[i]);
        content[i].kind = PHI_CONTENT_TEXT;
        content[i].text = kind == PHI_CONTENT_IMAGE      ? PHI__LIT("[image]")
                          : kind == PHI_CONTENT_DOCUMENT ? PHI__LIT("[document]")
                                                         : PHI__LIT("[audio]");
    }
}
