/* openapi.c - the object of a document: made, read, looked at and freed. */
#include "base/base_in.h"
#include "loop/loop_in.h"
#include "openapi/api_in.h"
#include "openapi/maker_in.h"
#include "openapi/openapi.h"
#include "openapi/openapi_call_in.h"
#include "wire/wire_in.h"

#include <stdio.h>

/* ---- a copy of the settings, defaults resolved ---- */

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
    if (count > 0 && pairs == NULL) return false;
    for (size_t i = 0; i < count; i++)
        if (pairs[i].name == NULL || pairs[i].value == NULL || pairs[i].name[0] == '\0' ||
            !phi__settings_line(pairs[i].name) || !phi__settings_line(pairs[i].value))
            return false;
    return true;
}

/* The fault of a desc: words for a message, static; NULL: none. */
static const char *phi__settings_refuse(const phi_openapi_desc *desc) {
    const phi_openapi_auth *auth = &desc->auth;
    if (!phi__settings_pairs(desc->headers, desc->header_count))
        return "headers: each needs a name and a value, without line breaks";
    for (size_t i = 0; i < desc->header_count; i++)
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
    if (count == 0) return true;
    phi_openapi_pair *copy =
        (phi_openapi_pair *)phi__arena_zero(arena, phi__mul(count, sizeof *copy));
    if (copy == NULL) return false;
    for (size_t i = 0; i < count; i++) {
        copy[i] = (*pairs)[i];
        if (!phi__settings_text(arena, &copy[i].name) || !phi__settings_text(arena, &copy[i].value))
            return false;
    }
    *pairs = copy;
    return true;
}

static bool phi__settings_copy_list(phi_arena *arena, const char *const **list) {
    size_t count = 0;
    if (*list == NULL) return true;
    while ((*list)[count] != NULL) count++;
    const char **copy = (const char **)phi__arena_zero(arena, phi__mul(count + 1, sizeof *copy));
    if (copy == NULL) return false;
    for (size_t i = 0; i < count; i++) {
        copy[i] = (*list)[i];
        if (!phi__settings_text(arena, &copy[i])) return false;
    }
    *list = copy;
    return true;
}

/* ---- a document from its URL ---- */

enum {
    PHI__ADDRESS_REDIRECTS = 5,
    PHI__ADDRESS_MOST = 4096 /* bytes of an address */
};

static bool phi__address_is_redirect(int status) {
    return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

static void phi__address_head(void *user_data, int http_status, phi_str headers) {
    phi_openapi *api = (phi_openapi *)user_data;
    phi_str location = phi__headers_value(headers, "location");
    api->address.http_status = http_status;
    api->address.location = phi__str(NULL, 0);
    if (!phi__address_is_redirect(http_status) || location.len == 0) return;
    if (!phi__arena_str(&api->arena, location, &api->address.location))
        (void)phi__reading_fail(&api->reading, PHI_NO_MEMORY, "no memory for the document");
}

static size_t phi__address_body(void *user_data, phi_str bytes) {
    phi_openapi *api = (phi_openapi *)user_data;
    if (api->address.http_status / 100 == 2) (void)phi__reading_add(&api->reading, bytes);
    return bytes.len;
}

/* The address that a Location names, from that of the answer; empty: none that is followed. */
static bool phi__address_join(phi_openapi *api, phi_str to, phi_str *out) {
    phi__url from, url;
    phi__buf made;
    phi__buf_init(&made, api->arena.memory);
    bool good = phi__url_split(api->url, &from) && phi__url_resolve(&made, api->url, to) &&
                made.len < PHI__ADDRESS_MOST && phi__url_split(phi__buf_str(&made), &url) &&
                (url.secure || !from.secure) &&
                phi__arena_str(&api->arena, phi__buf_str(&made), out);
    phi__buf_free(&made);
    return good;
}

static bool phi__address_ask(phi_openapi *api, phi_str url, bool plain);

static void phi__address_redirect(phi_openapi *api) {
    phi_str url = {NULL, 0};
    if (api->address.redirects++ == PHI__ADDRESS_REDIRECTS)
        (void)phi__reading_fail(&api->reading, PHI_REFUSED, "the document: too many redirects");
    else if (!phi__address_join(api, api->address.location, &url))
        (void)phi__reading_fail(&api->reading, PHI_REFUSED,
                                "the document: a redirect to an address that is not followed");
    else if (!phi__address_ask(api, url, true)) {
        const char *words = "";
        words = phi_last_error(api->rt).message;
        phi_status status = phi_last_error(api->rt).status;
        (void)phi__reading_fail(&api->reading, status, words);
    }
}

static void phi__address_end(void *user_data, phi_status status, const char *message) {
    phi_openapi *api = (phi_openapi *)user_data;
    char words[120];
    api->address.fetch = NULL;
    if (api->reading.status != PHI_BUSY) return;
    if (status != PHI_OK)
        (void)phi__reading_fail(&api->reading, status, message);
    else if (api->address.location.len > 0)
        phi__address_redirect(api);
    else if (api->address.http_status / 100 != 2) {
        (void)snprintf(words, sizeof words, "the document: HTTP status %d",
                       api->address.http_status);
        (void)phi__reading_fail(&api->reading, PHI_REFUSED, words);
    }
}

static bool phi__address_ask(phi_openapi *api, phi_str url, bool plain) {
    size_t count = plain ? 0 : api->desc.header_count;
    phi__header *headers =
        (phi__header *)phi__arena_zero(&api->arena, (count + 1) * sizeof *headers);
    phi__fetch_desc desc = PHI_ZERO;
    if (headers == NULL || !phi__arena_str(&api->arena, url, &api->url))
        return phi__error(api->rt, PHI_NO_MEMORY, "phi_openapi_new: no memory") == PHI_OK;
    headers[0].name = PHI__LIT("Accept");
    headers[0].value = PHI__LIT("application/json, application/yaml, */*;q=0.5");
    for (size_t i = 0; i < count; i++) {
        headers[i + 1].name = phi_str_of(api->desc.headers[i].name);
        headers[i + 1].value = phi_str_of(api->desc.headers[i].value);
    }
    desc.memory = &api->memory;
    desc.method = PHI__LIT("GET");
    desc.url = url;
    desc.headers = headers;
    desc.header_count = count + 1;
    desc.deadlines.total_ms = api->desc.timeout_ms;
    desc.max_bytes = api->desc.max_document_bytes;
    desc.on_head = phi__address_head;
    desc.on_body = phi__address_body;
    desc.on_end = phi__address_end;
    desc.user_data = api;
    return phi__fetch_open(api->rt, &desc, &api->address.fetch) == PHI_OK;
}

/* ---- the document's object ---- */

static void phi__openapi_destroy(phi_openapi *api) {
    phi_memory *memory = &api->rt->memory;
    if (api->document != NULL) {
        phi__reading_end(&api->reading);
        phi__document_free(api->document);
    }
    phi_arena_free(&api->arena);
    phi__free(memory, api, sizeof *api);
}

static bool phi__openapi_fill(phi_openapi *api, const phi_openapi_desc *desc) {
    phi__document *doc = (phi__document *)phi__arena_zero(&api->arena, sizeof *doc);
    if (doc == NULL) return false;
    /* Copies it with all that it points to. desc: NULL: defaults. False: no memory. */
    phi_openapi_desc *out = &api->desc;
    memset(out, 0, sizeof *out);
    if (desc != NULL) *out = *desc;
    if (out->name_prefix != NULL && out->name_prefix[0] == '\0') out->name_prefix = NULL;
    if (out->timeout_ms == 0) out->timeout_ms = PHI__SETTINGS_TIMEOUT_MS;
    if (out->max_response_bytes == 0) out->max_response_bytes = PHI__SETTINGS_RESPONSE_BYTES;
    if (out->max_document_bytes == 0) out->max_document_bytes = PHI__SETTINGS_DOCUMENT_BYTES;
    if (out->max_schema_bytes == 0) out->max_schema_bytes = PHI__SETTINGS_SCHEMA_BYTES;
    const char **texts[9];
    texts[0] = &out->base_url;
    texts[1] = &out->response_directory;
    texts[2] = &out->name_prefix;
    texts[3] = &out->auth.bearer_token;
    texts[4] = &out->auth.user;
    texts[5] = &out->auth.password;
    texts[6] = &out->auth.client_id;
    texts[7] = &out->auth.client_secret;
    texts[8] = &out->auth.token_url;
    for (size_t i = 0; i < PHI__COUNT(texts); i++)
        if (!phi__settings_text(&api->arena, texts[i])) return false;
    if (!phi__settings_copy_pairs(&api->arena, &out->headers, out->header_count) ||
        !phi__settings_copy_pairs(&api->arena, &out->auth.keys, out->auth.key_count) ||
        !phi__settings_copy_list(&api->arena, &out->upload_roots))
        return false;
    phi__document_init(doc, &api->memory);
    phi__reading_init(&api->reading, doc, api->desc.max_document_bytes);
    api->reading.prefix = api->desc.name_prefix;
    api->reading.skip_unnamed = api->desc.skip_unnamed;
    api->document = doc;
    return true;
}

static phi_openapi *phi__openapi_make(phi_runtime *rt, const phi_openapi_desc *desc) {
    const char *fault = phi__settings_refuse(desc);
    if (fault != NULL) {
        (void)phi__error(rt, PHI_BAD_ARG, "phi_openapi_new: %s", fault);
        return NULL;
    }
    phi_openapi *api = (phi_openapi *)phi__alloc(&rt->memory, sizeof *api);
    if (api != NULL) {
        api->rt = rt;
        api->step_bytes = rt->slice.budget_bytes;
        phi_memory_init(&api->memory, &rt->memory.allocator, 0);
        api->memory.parent = &rt->memory;
        phi_arena_init(&api->arena, &api->memory, 0);
        if (phi__openapi_fill(api, desc)) return api;
        phi__openapi_destroy(api);
    }
    (void)phi__error(rt, PHI_NO_MEMORY, "phi_openapi_new: no memory");
    return NULL;
}

/* ---- public ---- */

PHI_API phi_openapi *phi_openapi_new(phi_runtime *rt, const phi_openapi_desc *desc) {
    if (rt == NULL) return NULL;
    if (desc == NULL || (desc->text.at != NULL) + (desc->path != NULL) + (desc->url != NULL) != 1) {
        (void)phi__error(rt, PHI_BAD_ARG, "phi_openapi_new: expected one of text, path and url");
        return NULL;
    }
    phi_openapi *api = phi__openapi_make(rt, desc);
    if (api == NULL) return NULL;
    if (desc->path != NULL)
        (void)phi__reading_open(&api->reading, desc->path);
    else if (desc->url == NULL)
        (void)phi__reading_add(&api->reading, desc->text);
    else if (!(phi__address_ask(api, phi_str_of(desc->url), false))) {
        phi__openapi_destroy(api);
        return NULL;
    }
    return api;
}

PHI_API phi_status phi_openapi_step(phi_openapi *api, phi_parse_error *error) {
    if (error != NULL) memset(error, 0, sizeof *error);
    if (api == NULL) return PHI_BAD_ARG;
    phi_status status = api->reading.status;
    if (status == PHI_BUSY && api->address.fetch == NULL) {
        status = phi__reading_advance(&api->reading, api->step_bytes);
        if (status != PHI_BUSY) phi__reading_end(&api->reading);
    }
    if (error != NULL) *error = api->reading.error;
    return status;
}

PHI_API void phi_openapi_free(phi_openapi *api) {
    if (api == NULL) return;
    if (api->calls_open > 0) {
        (void)phi__error(api->rt, PHI_MISUSE,
                         "phi_openapi_free: %u calls are under way: free or abort their agents",
                         (unsigned)api->calls_open);
        return;
    }
    phi__fetch_close(api->address.fetch);
    api->address.fetch = NULL;
    phi__opcall_free(api);
    phi__selection_free_all(api);
    phi__openapi_destroy(api);
}

PHI_API const phi_openapi_operation *phi_openapi_operation_at(const phi_openapi *api,
                                                              size_t index) {
    if (api == NULL || api->reading.status != PHI_OK || index >= api->document->count) return NULL;
    return &api->document->operations[index].shown;
}
