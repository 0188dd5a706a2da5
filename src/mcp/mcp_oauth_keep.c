/* mcp_oauth_keep.c - tokens and registrations in a store. */
#include "mcp/mcp_oauth_keep_in.h"

#include "base/sha256_in.h"
#include "text/json_in.h"

enum { PHI__MCP_OAUTH_KEEP_ID = 64, PHI__MCP_OAUTH_KEEP_WORDS = 200 };

static const char phi__mcp_oauth_keep_agent[] = "mcp";

PHI__FN void phi__mcp_oauth_keep_init(phi__mcp_oauth_grant *grant, phi_memory *memory) {
    memset(grant, 0, sizeof *grant);
    phi_arena_init(&grant->arena, memory, 512);
}

PHI__FN void phi__mcp_oauth_keep_clear(phi__mcp_oauth_grant *grant) {
    phi_memory *memory = grant->arena.memory;
    phi_arena_free(&grant->arena);
    phi__mcp_oauth_keep_init(grant, memory);
}

PHI__FN void phi__mcp_oauth_keep_move(phi__mcp_oauth_grant *to, phi__mcp_oauth_grant *from) {
    phi_arena_free(&to->arena);
    *to = *from;
    phi__mcp_oauth_keep_init(from, to->arena.memory);
}

static void phi__mcp_oauth_keep_spend(phi_str *token, phi_str *spent) {
    if (token->len > 0) *spent = *token;
    *token = phi__str("", 0);
}

PHI__FN void phi__mcp_oauth_keep_spend_bearer(phi__mcp_oauth_grant *grant) {
    phi__mcp_oauth_keep_spend(&grant->bearer, &grant->spent[0]);
}

PHI__FN void phi__mcp_oauth_keep_spend_refresh(phi__mcp_oauth_grant *grant) {
    phi__mcp_oauth_keep_spend(&grant->refresh, &grant->spent[1]);
}

/* ---- documents ---- */

/* "mcp-oauth-token-" and half of a hash. */
static void phi__mcp_oauth_keep_id(const char *kind, phi_str of, char out[PHI__MCP_OAUTH_KEEP_ID]) {
    unsigned char hash[PHI__SHA256_BYTES];
    char hex[PHI__SHA256_HEX];
    size_t n = strlen(kind);
    phi__sha256_of(of, hash);
    phi__sha256_hex(hash, hex);
    memcpy(out, kind, n);
    memcpy(out + n, hex, 32);
    out[n + 32] = '\0';
}

static void phi__mcp_oauth_keep_token_id(phi_str server, char out[PHI__MCP_OAUTH_KEEP_ID]) {
    phi__mcp_oauth_keep_id("mcp-oauth-token-", server, out);
}

static void phi__mcp_oauth_keep_client_id(phi_str issuer, char out[PHI__MCP_OAUTH_KEEP_ID]) {
    phi__mcp_oauth_keep_id("mcp-oauth-client-", issuer, out);
}

static phi_status phi__mcp_oauth_keep_read(const phi_store *store, phi_arena *arena, const char *id,
                                           phi_json **root) {
    char words[PHI__MCP_OAUTH_KEEP_WORDS];
    phi_str text;
    phi_status status;
    if (store == NULL || store->load == NULL) return PHI_NOT_FOUND;
    status = store->load(store->user_data, id, arena, &text, words, sizeof words);
    if (status == PHI_OK) status = phi_json_parse(arena, text, 0, root, NULL);
    if (status == PHI_OK && phi_json_int(phi_json_get(*root, "v"), 0) != 1) status = PHI_NOT_FOUND;
    if (status == PHI_PARSE || status == PHI_TOO_BIG) status = PHI_NOT_FOUND;
    return status;
}

static phi_status phi__mcp_oauth_keep_write(const phi_store *store, const char *id, phi__buf *doc) {
    char words[PHI__MCP_OAUTH_KEEP_WORDS];
    phi_status status = doc->failed ? PHI_NO_MEMORY : PHI_OK;
    phi__buf_char(doc, '}');
    if (doc->failed) status = PHI_NO_MEMORY;
    if (status == PHI_OK)
        status = store->save(store->user_data, id, phi__mcp_oauth_keep_agent, phi__buf_str(doc),
                             words, sizeof words);
    phi__buf_free(doc);
    return status;
}

static void phi__mcp_oauth_keep_remove(const phi_store *store, const char *id) {
    char words[PHI__MCP_OAUTH_KEEP_WORDS];
    if (store == NULL || store->remove == NULL) return;
    (void)store->remove(store->user_data, id, words, sizeof words);
}

static void phi__mcp_oauth_keep_begin(phi__buf *doc, phi_memory *memory) {
    phi__buf_init(doc, memory);
    phi__buf_text(doc, "{\"v\":1");
}

static void phi__mcp_oauth_keep_put(phi__buf *doc, const char *name, phi_str value) {
    if (value.len == 0) return;
    phi__json_write_key(doc, phi_str_of(name));
    phi__json_write_str(doc, value);
}

static void phi__mcp_oauth_keep_put_time(phi__buf *doc, const char *name, int64_t ms) {
    if (ms == INT64_MAX) return;
    phi__json_write_key(doc, phi_str_of(name));
    phi__json_number_put_i64(doc, ms);
}

static phi_str phi__mcp_oauth_keep_get(const phi_json *root, const char *name) {
    return phi__json_text_of(phi_json_get(root, name));
}

/* ---- grants ---- */

PHI__FN phi_status phi__mcp_oauth_keep_load(const phi_store *store, phi_str server,
                                            phi__mcp_oauth_grant *out) {
    char id[PHI__MCP_OAUTH_KEEP_ID];
    phi_json *root = NULL;
    phi_status status;
    phi__mcp_oauth_keep_clear(out);
    phi__mcp_oauth_keep_token_id(server, id);
    status = phi__mcp_oauth_keep_read(store, &out->arena, id, &root);
    if (status == PHI_OK && !phi_str_equal(phi__mcp_oauth_keep_get(root, "server"), server))
        status = PHI_NOT_FOUND;
    if (status != PHI_OK) {
        phi__mcp_oauth_keep_clear(out);
        return status;
    }
    out->bearer = phi__mcp_oauth_keep_get(root, "authorization");
    out->refresh = phi__mcp_oauth_keep_get(root, "refresh_token");
    out->scope = phi__mcp_oauth_keep_get(root, "scope");
    out->issuer = phi__mcp_oauth_keep_get(root, "issuer");
    out->endpoint = phi__mcp_oauth_keep_get(root, "token_endpoint");
    out->resource = phi__mcp_oauth_keep_get(root, "resource");
    out->client_id = phi__mcp_oauth_keep_get(root, "client_id");
    out->method = (uint32_t)phi_json_int(phi_json_get(root, "method"), PHI__MCP_OAUTH_NONE);
    out->kind = (uint32_t)phi_json_int(phi_json_get(root, "grant"), PHI_MCP_GRANT_PERSON);
    out->dpop = phi__str_is(phi__mcp_oauth_keep_get(root, "token_type"), "DPoP");
    out->until_ms = phi_json_int(phi_json_get(root, "expires_at_ms"), INT64_MAX);
    out->renew_ms = phi_json_int(phi_json_get(root, "renew_at_ms"), INT64_MAX);
    return PHI_OK;
}

PHI__FN phi_status phi__mcp_oauth_keep_save(const phi_store *store, phi_str server,
                                            const phi__mcp_oauth_grant *grant) {
    char id[PHI__MCP_OAUTH_KEEP_ID];
    phi__buf doc;
    if (store == NULL || store->save == NULL) return PHI_OK;
    phi__mcp_oauth_keep_token_id(server, id);
    phi__mcp_oauth_keep_begin(&doc, grant->arena.memory);
    phi__mcp_oauth_keep_put(&doc, "server", server);
    phi__mcp_oauth_keep_put(&doc, "issuer", grant->issuer);
    phi__mcp_oauth_keep_put(&doc, "token_endpoint", grant->endpoint);
    phi__mcp_oauth_keep_put(&doc, "resource", grant->resource);
    phi__mcp_oauth_keep_put(&doc, "client_id", grant->client_id);
    phi__mcp_oauth_keep_put(&doc, "scope", grant->scope);
    phi__mcp_oauth_keep_put(&doc, "authorization", grant->bearer);
    phi__mcp_oauth_keep_put(&doc, "refresh_token", grant->refresh);
    if (grant->dpop) phi__mcp_oauth_keep_put(&doc, "token_type", PHI__LIT("DPoP"));
    phi__mcp_oauth_keep_put_time(&doc, "method", (int64_t)grant->method);
    if (grant->kind != PHI_MCP_GRANT_PERSON)
        phi__mcp_oauth_keep_put_time(&doc, "grant", (int64_t)grant->kind);
    phi__mcp_oauth_keep_put_time(&doc, "expires_at_ms", grant->until_ms);
    phi__mcp_oauth_keep_put_time(&doc, "renew_at_ms", grant->renew_ms);
    return phi__mcp_oauth_keep_write(store, id, &doc);
}

PHI__FN void phi__mcp_oauth_keep_drop(const phi_store *store, phi_str server) {
    char id[PHI__MCP_OAUTH_KEEP_ID];
    phi__mcp_oauth_keep_token_id(server, id);
    phi__mcp_oauth_keep_remove(store, id);
}

/* ---- registrations ---- */

PHI__FN phi_status phi__mcp_oauth_keep_load_client(const phi_store *store, phi_arena *arena,
                                                   phi_str issuer, phi__mcp_oauth_client *out) {
    char id[PHI__MCP_OAUTH_KEEP_ID];
    phi_json *root = NULL;
    phi_status status;
    memset(out, 0, sizeof *out);
    phi__mcp_oauth_keep_client_id(issuer, id);
    status = phi__mcp_oauth_keep_read(store, arena, id, &root);
    if (status != PHI_OK) return status;
    if (!phi_str_equal(phi__mcp_oauth_keep_get(root, "issuer"), issuer)) return PHI_NOT_FOUND;
    out->id = phi__mcp_oauth_keep_get(root, "client_id");
    if (out->id.len == 0) return PHI_NOT_FOUND;
    out->issuer = phi__mcp_oauth_keep_get(root, "issuer");
    out->secret = phi__mcp_oauth_keep_get(root, "client_secret");
    out->redirect = phi__mcp_oauth_keep_get(root, "redirect_uri");
    out->scope = phi__mcp_oauth_keep_get(root, "scope");
    out->method = (uint32_t)phi_json_int(phi_json_get(root, "method"), PHI__MCP_OAUTH_NONE);
    out->until_ms = phi_json_int(phi_json_get(root, "secret_expires_at_ms"), INT64_MAX);
    out->registered = true;
    return PHI_OK;
}

PHI__FN phi_status phi__mcp_oauth_keep_save_client(const phi_store *store, phi_memory *memory,
                                                   const phi__mcp_oauth_client *client) {
    char id[PHI__MCP_OAUTH_KEEP_ID];
    phi__buf doc;
    if (store == NULL || store->save == NULL) return PHI_OK;
    phi__mcp_oauth_keep_client_id(client->issuer, id);
    phi__mcp_oauth_keep_begin(&doc, memory);
    phi__mcp_oauth_keep_put(&doc, "issuer", client->issuer);
    phi__mcp_oauth_keep_put(&doc, "client_id", client->id);
    phi__mcp_oauth_keep_put(&doc, "client_secret", client->secret);
    phi__mcp_oauth_keep_put(&doc, "redirect_uri", client->redirect);
    phi__mcp_oauth_keep_put(&doc, "scope", client->scope);
    phi__mcp_oauth_keep_put_time(&doc, "method", (int64_t)client->method);
    phi__mcp_oauth_keep_put_time(&doc, "secret_expires_at_ms", client->until_ms);
    return phi__mcp_oauth_keep_write(store, id, &doc);
}

PHI__FN void phi__mcp_oauth_keep_drop_client(const phi_store *store, phi_str issuer) {
    char id[PHI__MCP_OAUTH_KEEP_ID];
    phi__mcp_oauth_keep_client_id(issuer, id);
    phi__mcp_oauth_keep_remove(store, id);
}
