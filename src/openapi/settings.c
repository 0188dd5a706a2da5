/* settings.c - copies and checks of a document's settings. */
#include "openapi/settings_in.h"

enum {
    PHI__SETTINGS_TIMEOUT_MS = 30000,     /* the book, part "OpenAPI Tool Adapter" */
    PHI__SETTINGS_RESPONSE_BYTES = 65536, /* the same */
    PHI__SETTINGS_DOCUMENT_BYTES = 67108864,
    PHI__SETTINGS_SCHEMA_BYTES = 65536
};

/* ---- checks ---- */

static bool phi__settings_line(const char *text) {
    return text == NULL || strpbrk(text, "\r\n") == NULL;
}

static bool phi__settings_pairs(const phi_openapi_pair *pairs, size_t count) {
    size_t i;
    if (count > 0 && pairs == NULL) return false;
    for (i = 0; i < count; i++)
        if (pairs[i].name == NULL || pairs[i].value == NULL || pairs[i].name[0] == '\0' ||
            !phi__settings_line(pairs[i].name) || !phi__settings_line(pairs[i].value))
            return false;
    return true;
}

PHI__FN const char *phi__settings_refuse(const phi_openapi_desc *desc) {
    const phi_openapi_auth *auth = &desc->auth;
    size_t i;
    if (!phi__settings_pairs(desc->headers, desc->header_count))
        return "headers: each needs a name and a value, without line breaks";
    for (i = 0; i < desc->header_count; i++)
        if (strpbrk(desc->headers[i].name, ": \t") != NULL)
            return "headers: a name holds a colon or a blank";
    if (!phi__settings_pairs(auth->keys, auth->key_count))
        return "auth.keys: each needs a scheme's name and a value, without line breaks";
    if (!phi__settings_line(auth->bearer_token) || !phi__settings_line(auth->user) ||
        !phi__settings_line(auth->password) || !phi__settings_line(auth->client_id) ||
        !phi__settings_line(auth->client_secret))
        return "auth: a credential holds a line break";
    if (auth->user != NULL && strchr(auth->user, ':') != NULL)
        return "auth.user: it may not hold a colon";
    if (auth->client_secret != NULL && auth->client_id == NULL)
        return "auth.client_id is missing beside client_secret";
    return NULL;
}

/* ---- copies ---- */

static bool phi__settings_text(phi_arena *arena, const char **text) {
    phi_str copy;
    if (*text == NULL) return true;
    if (!phi__arena_str(arena, phi_str_of(*text), &copy)) return false;
    *text = copy.at;
    return true;
}

static bool phi__settings_copy_pairs(phi_arena *arena, const phi_openapi_pair **pairs,
                                     size_t count) {
    phi_openapi_pair *copy;
    size_t i;
    if (count == 0) return true;
    copy = (phi_openapi_pair *)phi__arena_zero(arena, phi__mul(count, sizeof *copy));
    if (copy == NULL) return false;
    for (i = 0; i < count; i++) {
        copy[i] = (*pairs)[i];
        if (!phi__settings_text(arena, &copy[i].name) || !phi__settings_text(arena, &copy[i].value))
            return false;
    }
    *pairs = copy;
    return true;
}

static bool phi__settings_copy_list(phi_arena *arena, const char *const **list) {
    const char **copy;
    size_t count = 0, i;
    if (*list == NULL) return true;
    while ((*list)[count] != NULL) count++;
    copy = (const char **)phi__arena_zero(arena, phi__mul(count + 1, sizeof *copy));
    if (copy == NULL) return false;
    for (i = 0; i < count; i++) {
        copy[i] = (*list)[i];
        if (!phi__settings_text(arena, &copy[i])) return false;
    }
    *list = copy;
    return true;
}

static bool phi__settings_texts(phi_arena *arena, phi_openapi_desc *desc) {
    const char **texts[9];
    size_t i;
    texts[0] = &desc->base_url;
    texts[1] = &desc->response_directory;
    texts[2] = &desc->name_prefix;
    texts[3] = &desc->auth.bearer_token;
    texts[4] = &desc->auth.user;
    texts[5] = &desc->auth.password;
    texts[6] = &desc->auth.client_id;
    texts[7] = &desc->auth.client_secret;
    texts[8] = &desc->auth.token_url;
    for (i = 0; i < PHI__COUNT(texts); i++)
        if (!phi__settings_text(arena, texts[i])) return false;
    return true;
}

PHI__FN bool phi__settings_copy(phi_arena *arena, const phi_openapi_desc *desc,
                                phi_openapi_desc *out) {
    memset(out, 0, sizeof *out);
    if (desc != NULL) *out = *desc;
    if (out->name_prefix != NULL && out->name_prefix[0] == '\0') out->name_prefix = NULL;
    if (out->timeout_ms == 0) out->timeout_ms = PHI__SETTINGS_TIMEOUT_MS;
    if (out->max_response_bytes == 0) out->max_response_bytes = PHI__SETTINGS_RESPONSE_BYTES;
    if (out->max_document_bytes == 0) out->max_document_bytes = PHI__SETTINGS_DOCUMENT_BYTES;
    if (out->max_schema_bytes == 0) out->max_schema_bytes = PHI__SETTINGS_SCHEMA_BYTES;
    return phi__settings_texts(arena, out) &&
           phi__settings_copy_pairs(arena, &out->headers, out->header_count) &&
           phi__settings_copy_pairs(arena, &out->auth.keys, out->auth.key_count) &&
           phi__settings_copy_list(arena, &out->upload_roots);
}
