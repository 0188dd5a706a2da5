/* phi_acp_prompt.h - the blocks of a prompt of the editor, as phi's content: texts, links, resources, images, sound. */
#ifndef PHI_ACP_PROMPT_H
#define PHI_ACP_PROMPT_H

#include "phi_acp_session.h"
#include "phi_words.h"

enum { ACP_BLOCKS = 256 };

/* The path of a file's address; any other address stays as it is. In the arena. */
static inline phi_str acp_place(acp_wire *w, phi_str uri) {
    static const char begins[] = "file://";
    char *out = (char *)phi_arena_alloc(&w->arena, uri.len + 1);
    size_t i = sizeof begins - 1, n = 0;
    phi_str path = PHI_ZERO;
    if (out == NULL || uri.len <= i || memcmp(uri.at, begins, i) != 0) return uri;
    if (uri.len > i + 2 && uri.at[i] == '/' && uri.at[i + 2] == ':') i++; /* "/C:/work" */
    for (; i < uri.len; i++) {
        bool coded = uri.at[i] == '%' && i + 2 < uri.len;
        int high = coded ? words_hex(uri.at[i + 1]) : -1,
            low = coded ? words_hex(uri.at[i + 2]) : -1;
        bool is = high >= 0 && low >= 0 && high + low > 0; /* no NUL */
        out[n++] = is ? (char)(16 * high + low) : uri.at[i];
        if (is) i += 2;
    }
    path.at = out;
    path.len = n;
    return path;
}

/* A link: the model has tools that read it, if it is a file. */
static inline void acp_link(acp_wire *w, const phi_json *block, phi_content *c) {
    phi_str place = acp_place(w, phi_json_str(phi_json_get(block, "uri"), ""));
    phi_str name = phi_json_str(phi_json_get(block, "name"), "");
    phi_str about = phi_json_str(phi_json_get(block, "description"), "");
    text words = {NULL, 0, 0};
    text_print(&words, "[%.*s](%.*s)", PHI_ARG(name), PHI_ARG(place));
    if (about.len > 0) text_print(&words, ": %.*s", PHI_ARG(about));
    c->kind = PHI_CONTENT_TEXT;
    c->text = phi_json_str(phi_json_new_str(&w->arena, text_str(&words)), "");
    free(words.at);
}

/* A text, or bytes of a type that says what they are. */
static inline void acp_resource(acp_wire *w, const phi_json *resource, phi_content *c) {
    const phi_json *blob = phi_json_get(resource, "blob");
    phi_str type = phi_json_str(phi_json_get(resource, "mimeType"), "");
    c->kind = PHI_CONTENT_DOCUMENT;
    if (blob != NULL && type.len > 6 && memcmp(type.at, "image/", 6) == 0)
        c->kind = PHI_CONTENT_IMAGE;
    if (blob != NULL && type.len > 6 && memcmp(type.at, "audio/", 6) == 0)
        c->kind = PHI_CONTENT_AUDIO;
    if (c->kind == PHI_CONTENT_DOCUMENT)
        c->name = acp_place(w, phi_json_str(phi_json_get(resource, "uri"), ""));
    if (blob == NULL)
        c->text = phi_json_str(phi_json_get(resource, "text"), "");
    else {
        c->data = phi_json_str(blob, "");
        c->mime_type = type.len > 0 ? type : phi_str_of("application/octet-stream");
    }
}

/* NULL, or what is wrong with the block. */
static inline const char *acp_block(acp_wire *w, const acp_session *s, const phi_json *block,
                                    phi_content *c) {
    phi_str type = phi_json_str(phi_json_get(block, "type"), "");
    const phi_json *resource = phi_json_get(block, "resource");
    memset(c, 0, sizeof *c);
    if (phi_str_is(type, "text")) {
        c->kind = PHI_CONTENT_TEXT;
        c->text = phi_json_str(phi_json_get(block, "text"), "");
    } else if (phi_str_is(type, "image") || phi_str_is(type, "audio")) {
        c->kind = phi_str_is(type, "image") ? PHI_CONTENT_IMAGE : PHI_CONTENT_AUDIO;
        c->data = phi_json_str(phi_json_get(block, "data"), "");
        c->mime_type = phi_json_str(phi_json_get(block, "mimeType"), "");
    } else if (phi_str_is(type, "resource_link"))
        acp_link(w, block, c);
    else if (phi_str_is(type, "resource") && resource != NULL)
        acp_resource(w, resource, c);
    else
        return "the prompt has a block of an unknown type";
    if (c->mime_type.len > 0 && c->data.len == 0) return "the prompt has a block without data";
    if (c->data.len > 0 && !phi_agent_takes(s->a.agent, c->kind, c->mime_type))
        return "the model takes no such image, sound or document";
    return NULL;
}

/* Reads the blocks into the arena; `words` get their texts, for the list of conversations and for commands. NULL, or what is
   wrong. */
static inline const char *acp_blocks(acp_wire *w, const acp_session *s, const phi_json *list,
                                     phi_content **out, size_t *count, text *words) {
    phi_json_iter it = phi_json_each(list);
    size_t n = phi_json_count(list);
    const phi_json *each;
    const char *wrong = NULL;
    *count = 0;
    *out = NULL;
    if (!phi_json_is(list, PHI_JSON_ARRAY) || n == 0) return "the prompt has no blocks";
    if (n > ACP_BLOCKS) return "the prompt has more than 256 blocks";
    *out = (phi_content *)phi_arena_alloc(&w->arena, n * sizeof **out);
    if (*out == NULL) return "there is no memory";
    while (wrong == NULL && (each = phi_json_next(&it)) != NULL) {
        phi_content *c = &(*out)[*count];
        wrong = acp_block(w, s, each, c);
        if (wrong != NULL || (c->text.len == 0 && c->data.len == 0))
            continue; /* nothing is in it */
        if (c->kind == PHI_CONTENT_TEXT && words->len > 0) text_say(words, "\n");
        if (c->kind == PHI_CONTENT_TEXT) text_add(words, c->text.at, c->text.len);
        ++*count;
    }
    return wrong == NULL && *count == 0 ? "the prompt is empty" : wrong;
}

#endif
