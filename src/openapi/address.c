/* address.c - requests a document from its URL, and follows where the server sends it. */
#include "openapi/address_in.h"

#include "loop/fetch_in.h"
#include "wire/headers_in.h"

#include <stdio.h>

enum { PHI__ADDRESS_REDIRECTS = 5 };

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
    phi_str from = api->url;
    size_t host = phi__str_find(from, 0, "://"), path;
    bool secure = from.len > 5 && phi__str_is_nocase(phi__str(from.at, 5), "https");
    char url[4096];
    int n;
    if (host == SIZE_MAX) return false;
    path = phi__str_find(from, host + 3, "/");
    if (path == SIZE_MAX) path = from.len;
    if (phi__str_starts(to, "//"))
        n = snprintf(url, sizeof url, "%.*s:%.*s", (int)host, from.at, (int)to.len, to.at);
    else if (phi__str_starts(to, "/"))
        n = snprintf(url, sizeof url, "%.*s%.*s", (int)path, from.at, (int)to.len, to.at);
    else
        n = snprintf(url, sizeof url, "%.*s", (int)to.len, to.at);
    if (n <= 0 || (size_t)n >= sizeof url) return false;
    if (secure && (n < 8 || !phi__str_is_nocase(phi__str(url, 8), "https://"))) return false;
    return phi__arena_str(&api->arena, phi_str_of(url), out);
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
    size_t count = plain ? 0 : api->desc.header_count, i;
    phi__header *headers =
        (phi__header *)phi__arena_zero(&api->arena, (count + 1) * sizeof *headers);
    phi__fetch_desc desc;
    memset(&desc, 0, sizeof desc);
    if (headers == NULL || !phi__arena_str(&api->arena, url, &api->url))
        return phi__error(api->rt, PHI_NO_MEMORY, "phi_openapi_new: no memory") == PHI_OK;
    headers[0].name = PHI__LIT("Accept");
    headers[0].value = PHI__LIT("application/json, application/yaml, */*;q=0.5");
    for (i = 0; i < count; i++) {
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

PHI__FN bool phi__address_open(phi_openapi *api, phi_str url) {
    return phi__address_ask(api, url, false);
}

PHI__FN void phi__address_close(phi_openapi *api) {
    phi__fetch_close(api->address.fetch);
    api->address.fetch = NULL;
}
