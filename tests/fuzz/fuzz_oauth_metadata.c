/* fuzz_oauth_metadata.c - what servers say about an authorization, out of any bytes: challenges,
   metadata documents, addresses, redirects and the answers of a token endpoint. Never a crash, and
   no address that an MCP server must not send us to. The first byte says which. */
#include "mcp/mcp_oauth_client_in.h"

#include <stdlib.h>

static void check_scopes(phi_str set) {
    size_t i;
    if (set.len > PHI__OAUTH_SCOPE_BYTES) abort();
    for (i = 0; i < set.len; i++)
        if (set.at[i] < ' ' || set.at[i] > '~' || set.at[i] == '"') abort();
}

static void challenge(phi_arena *arena, phi_str text) {
    phi__oauth_dare dare;
    phi__buf set;
    if (!phi__oaw_challenge(arena, text, &dare)) abort();
    if (!dare.bearer && dare.scope.len > 0) abort();
    phi__buf_init(&set, arena->memory);
    phi__oauth_join(&set, dare.scope);
    phi__oauth_join(&set, phi__str("a b c", 5));
    check_scopes(phi__buf_str(&set));
    phi__buf_free(&set);
}

static void documents(phi_arena *arena, phi_str text) {
    phi__oauth_resource resource;
    phi__oauth_server server;
    const char *fault = "";
    if (phi__oaw_resource(arena, text, phi__str("b", 1), &resource, &fault) == PHI_OK) {
        if (resource.resource.len == 0 || resource.issuer.len == 0) abort();
        check_scopes(resource.scopes);
    }
    if (phi__oaw_server(arena, text, true, &server, &fault) == PHI_OK &&
        (server.issuer.len == 0 || server.authorize.len == 0 || server.token.len == 0))
        abort();
}

/* By simple means: numbers alone that begin with 127, and the names of this machine. */
static bool looks_like_loopback(phi_str host) {
    size_t i;
    if (phi__str_is(host, "[::1]") || phi__str_is_nocase(host, "localhost")) return true;
    for (i = 0; i < host.len; i++)
        if (host.at[i] != '.' && (host.at[i] < '0' || host.at[i] > '9')) return false;
    return phi__str_starts(host, "127.") && host.at[host.len - 1] != '.' &&
           phi__str_find(host, 0, "..") == SIZE_MAX;
}

static void address(phi_arena *arena, phi_str text) {
    phi__oauth_url server, url;
    phi_str known[PHI__OAUTH_KNOWN];
    phi__buf out;
    size_t i, n;
    if (!phi__url_read(phi__str("https://mcp.example/a/b", 23), &server)) abort();
    if (phi__url_fault(&server, text, false) == NULL) {
        if (!phi__url_read(text, &url) || !url.https) abort();
        if (looks_like_loopback(url.host)) abort();
    }
    if (phi__url_covers(text, &server) &&
        (!phi__url_read(text, &url) || url.host.len != 11 || url.port != 443))
        abort();
    if (!phi__url_read(text, &url)) return;
    if (url.host.len == 0 || url.port == 0 || url.port > 65535) abort();
    n = phi__url_resources(arena, &url, known);
    if (n == 0) abort();
    n = phi__url_servers(arena, &url, known);
    if (n < 2) abort();
    for (i = 0; i < n; i++)
        if (memcmp(known[i].at, url.origin.at, url.origin.len) != 0) abort();
    phi__buf_init(&out, arena->memory);
    phi__url_put_resource(&out, &url);
    phi__buf_free(&out);
}

static void forms(phi_arena *arena, phi_str text) {
    phi__oauth_client client;
    phi__oauth_reply reply;
    phi__buf out;
    phi_str value, again;
    memset(&client, 0, sizeof client);
    if (!phi__form_reply(arena, text, &reply)) abort();
    if (reply.lifetime_s < 0) abort();
    if (!phi__form_client(arena, text, &client)) abort();
    if (client.secret.len == 0 && client.id.len > 0 && client.method != PHI__OAUTH_NONE) abort();
    phi__buf_init(&out, arena->memory);
    phi__url_put(&out, "code", text);
    if (phi__url_get(arena, phi__buf_str(&out), "code", &value) != PHI_OK) abort();
    if (!phi_str_equal(value, text)) abort();
    (void)phi__url_get(arena, text, "code", &again);
    phi__buf_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    phi_memory memory;
    phi_arena arena;
    phi_str text;
    if (size == 0) return 0;
    text = phi__str((const char *)data + 1, size - 1);
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    switch (data[0] % 4) {
    case 0: challenge(&arena, text); break;
    case 1: documents(&arena, text); break;
    case 2: address(&arena, text); break;
    default: forms(&arena, text); break;
    }
    phi_arena_free(&arena);
    if (memory.used_bytes != 0) abort();
    return 0;
}
