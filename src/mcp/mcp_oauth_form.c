/* mcp_oauth_form.c - requests of an authorization, and their answers. */
#include "mcp/mcp_oauth_form_in.h"

#include "base/base64_in.h"
#include "base/sha256_in.h"
#include "io/clock_in.h"
#include "text/json_in.h"

/* ---- secrets ---- */

PHI__FN void phi__mcp_oauth_form_base64(phi__buf *out, const unsigned char *bytes, size_t n) {
    size_t i, from = out->len;
    phi__base64_encode(out, (const char *)bytes, n);
    if (out->failed) return;
    for (i = from; i < out->len; i++) {
        if (out->at[i] == '+') out->at[i] = '-';
        if (out->at[i] == '/') out->at[i] = '_';
    }
    while (out->len > from && out->at[out->len - 1] == '=') out->len--;
}

PHI__FN void phi__mcp_oauth_form_random(phi__buf *out, phi__io *io) {
    unsigned char random[32];
    if (io != NULL)
        phi__io_random(io, random, sizeof random);
    else
        phi__clock_random(random, sizeof random);
    phi__mcp_oauth_form_base64(out, random, sizeof random);
    memset(random, 0, sizeof random);
}

static bool phi__mcp_oauth_form_secret(phi__io *io, phi_arena *arena, phi_str *out) {
    phi__buf text;
    bool fine;
    phi__buf_init(&text, arena->memory);
    phi__mcp_oauth_form_random(&text, io);
    fine = !text.failed && phi__arena_str(arena, phi__buf_str(&text), out);
    phi__buf_free(&text);
    return fine;
}

PHI__FN bool phi__mcp_oauth_form_secrets(phi__io *io, phi_arena *arena, phi__mcp_oauth_ask *ask) {
    return phi__mcp_oauth_form_secret(io, arena, &ask->state) &&
           phi__mcp_oauth_form_secret(io, arena, &ask->verifier);
}

/* ---- requests ---- */

/* An endpoint, safe in the quotes of a shell: the host may hand the URL to one. */
static void phi__mcp_oauth_form_endpoint(phi__buf *out, phi_str endpoint) {
    size_t i;
    for (i = 0; i < endpoint.len; i++)
        if (strchr("'$;!*()", endpoint.at[i]) != NULL)
            phi__mcp_oauth_url_escape(out, phi__str(endpoint.at + i, 1));
        else
            phi__buf_char(out, endpoint.at[i]);
    if (memchr(endpoint.at, '?', endpoint.len) == NULL) phi__buf_char(out, '?');
}

PHI__FN void phi__mcp_oauth_form_authorize(phi__buf *out, phi_str endpoint,
                                           const phi__mcp_oauth_client *client,
                                           const phi__mcp_oauth_ask *ask) {
    unsigned char hash[PHI__SHA256_BYTES];
    phi__buf challenge;
    phi__sha256_of(ask->verifier, hash);
    phi__buf_init(&challenge, out->memory);
    phi__mcp_oauth_form_base64(&challenge, hash, sizeof hash);
    phi__mcp_oauth_form_endpoint(out, endpoint);
    phi__mcp_oauth_url_put(out, "response_type", PHI__LIT("code"));
    phi__mcp_oauth_url_put(out, "client_id", client->id);
    phi__mcp_oauth_url_put(out, "redirect_uri", ask->redirect);
    phi__mcp_oauth_url_put(out, "code_challenge", phi__buf_str(&challenge));
    phi__mcp_oauth_url_put(out, "code_challenge_method", PHI__LIT("S256"));
    phi__mcp_oauth_url_put(out, "state", ask->state);
    phi__mcp_oauth_url_put(out, "resource", ask->resource);
    if (ask->scope.len > 0) phi__mcp_oauth_url_put(out, "scope", ask->scope);
    /* OpenID Connect Core, 11: without it, offline_access is ignored */
    if (phi__mcp_oauth_words_has(ask->scope, PHI__LIT("offline_access")))
        phi__mcp_oauth_url_put(out, "prompt", PHI__LIT("consent"));
    if (challenge.failed) out->failed = true;
    phi__buf_free(&challenge);
}

static void phi__mcp_oauth_form_self(phi__buf *out, const phi__mcp_oauth_client *client) {
    /* RFC 7521, 4.2: an assertion names the client */
    if ((client->method & (PHI__MCP_OAUTH_BASIC | PHI__MCP_OAUTH_KEY)) == 0 && client->id.len > 0)
        phi__mcp_oauth_url_put(out, "client_id", client->id);
    if (client->method == PHI__MCP_OAUTH_POST)
        phi__mcp_oauth_url_put(out, "client_secret", client->secret);
}

PHI__FN void phi__mcp_oauth_form_code(phi__buf *out, const phi__mcp_oauth_client *client,
                                      const phi__mcp_oauth_ask *ask) {
    phi__buf_text(out, "grant_type=authorization_code");
    phi__mcp_oauth_url_put(out, "code", ask->code);
    phi__mcp_oauth_url_put(out, "redirect_uri", ask->redirect);
    phi__mcp_oauth_url_put(out, "code_verifier", ask->verifier);
    phi__mcp_oauth_url_put(out, "resource", ask->resource);
    phi__mcp_oauth_form_self(out, client);
}

PHI__FN void phi__mcp_oauth_form_machine(phi__buf *out, const phi__mcp_oauth_client *client,
                                         const phi__mcp_oauth_ask *ask, phi_str token) {
    if (token.len == 0)
        phi__buf_text(out, "grant_type=client_credentials");
    else {
        phi__buf_text(out, "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer");
        phi__mcp_oauth_url_put(out, "assertion", token);
    }
    if (ask->scope.len > 0) phi__mcp_oauth_url_put(out, "scope", ask->scope);
    phi__mcp_oauth_url_put(out, "resource", ask->resource);
    phi__mcp_oauth_form_self(out, client);
}

PHI__FN void phi__mcp_oauth_form_refresh(phi__buf *out, const phi__mcp_oauth_client *client,
                                         phi_str refresh, phi_str resource) {
    phi__buf_text(out, "grant_type=refresh_token");
    phi__mcp_oauth_url_put(out, "refresh_token", refresh);
    phi__mcp_oauth_url_put(out, "resource", resource);
    phi__mcp_oauth_form_self(out, client);
}

/* RFC 6749, 2.3.1. */
PHI__FN void phi__mcp_oauth_form_basic(phi__buf *out, const phi__mcp_oauth_client *client) {
    phi__buf plain;
    if (client->method != PHI__MCP_OAUTH_BASIC) return;
    phi__buf_init(&plain, out->memory);
    phi__mcp_oauth_url_escape(&plain, client->id);
    phi__buf_char(&plain, ':');
    phi__mcp_oauth_url_escape(&plain, client->secret);
    phi__buf_text(out, "Basic ");
    if (plain.failed)
        out->failed = true;
    else
        phi__base64_encode(out, plain.at, plain.len);
    phi__buf_free(&plain);
}

PHI__FN uint32_t phi__mcp_oauth_form_method(const phi__mcp_oauth_server *server, uint32_t has,
                                            phi_mcp_client_auth wish) {
    uint32_t methods = server->methods;
    bool secret = (has & PHI__MCP_OAUTH_BASIC) != 0, key = (has & PHI__MCP_OAUTH_KEY) != 0;
    if (wish == PHI_MCP_CLIENT_AUTH_KEY) return has & PHI__MCP_OAUTH_KEY;
    if (wish == PHI_MCP_CLIENT_AUTH_NONE) return PHI__MCP_OAUTH_NONE;
    if (wish == PHI_MCP_CLIENT_AUTH_BASIC) return PHI__MCP_OAUTH_BASIC;
    if (wish == PHI_MCP_CLIENT_AUTH_POST) return PHI__MCP_OAUTH_POST;
    /* RFC 8414, 2: client_secret_basic is the default */
    if (!server->says_methods) methods = secret ? PHI__MCP_OAUTH_BASIC : PHI__MCP_OAUTH_NONE;
    if (key && (!server->says_methods || (methods & PHI__MCP_OAUTH_KEY) != 0))
        return PHI__MCP_OAUTH_KEY;
    if (!secret) return methods & PHI__MCP_OAUTH_NONE;
    if ((methods & PHI__MCP_OAUTH_BASIC) != 0) return PHI__MCP_OAUTH_BASIC;
    if ((methods & PHI__MCP_OAUTH_POST) != 0) return PHI__MCP_OAUTH_POST;
    return methods & PHI__MCP_OAUTH_NONE;
}

static const char *phi__mcp_oauth_form_method_name(uint32_t method) {
    if (method == PHI__MCP_OAUTH_BASIC) return "client_secret_basic";
    return method == PHI__MCP_OAUTH_POST ? "client_secret_post" : "none";
}

static void phi__mcp_oauth_form_member(phi__buf *out, const char *name, phi_str value) {
    phi__json_write_key(out, phi_str_of(name));
    phi__json_write_str(out, value);
}

PHI__FN void phi__mcp_oauth_form_register(phi__buf *out, const phi_mcp_oauth_desc *desc,
                                          const char *name, const phi__mcp_oauth_ask *ask,
                                          uint32_t method) {
    phi__buf_char(out, '{');
    phi__mcp_oauth_form_member(out, "client_name", phi_str_of(name));
    if (desc->client_uri != NULL)
        phi__mcp_oauth_form_member(out, "client_uri", phi_str_of(desc->client_uri));
    phi__json_write_key(out, PHI__LIT("redirect_uris"));
    phi__buf_char(out, '[');
    phi__json_write_str(out, ask->redirect);
    phi__buf_text(out, "],\"grant_types\":[\"authorization_code\",\"refresh_token\"],"
                       "\"response_types\":[\"code\"]");
    phi__mcp_oauth_form_member(out, "token_endpoint_auth_method",
                               phi_str_of(phi__mcp_oauth_form_method_name(method)));
    phi__mcp_oauth_form_member(out, "application_type",
                               desc->web_application ? PHI__LIT("web") : PHI__LIT("native"));
    if (ask->scope.len > 0) phi__mcp_oauth_form_member(out, "scope", ask->scope);
    phi__buf_char(out, '}');
}

/* ---- answers ---- */

static bool phi__mcp_oauth_form_text(phi_arena *arena, phi_str text, const char *name,
                                     phi_str *out) {
    phi__json_found found;
    *out = phi__str("", 0);
    if (phi__json_cursor_find(text, name, &found) != PHI_OK || found.type != PHI_JSON_STRING)
        return true;
    if (!phi__json_cursor_found_str(arena, &found, out)) return false;
    return phi__arena_str(arena, *out, out);
}

/* A number, or a text with one; fractions are cut. */
static int64_t phi__mcp_oauth_form_number(phi_str text, const char *name, int64_t fallback) {
    phi__json_found found;
    uint64_t u;
    double d;
    if (phi__json_cursor_find(text, name, &found) != PHI_OK) return fallback;
    if (found.type == PHI_JSON_STRING)
        return phi__str_to_u64(found.raw, &u) && u < (uint64_t)1 << 40 ? (int64_t)u : fallback;
    if (!phi__json_cursor_found_num(&found, &d) || !(d >= 0) || d > 1e12) return fallback;
    return (int64_t)d;
}

/* Whether the text is one JSON object: values are searched for without a tree. */
static bool phi__mcp_oauth_form_is_object(phi_arena *arena, phi_str text, bool *memory) {
    phi_arena_mark mark = phi_arena_save(arena);
    phi__json_reader reader;
    phi_json *root = NULL;
    phi_status status;
    phi__json_read_begin(&reader, arena, text, PHI_JSON_BORROW, PHI__MCP_OAUTH_DEPTH);
    do status = phi__json_read_advance(&reader, SIZE_MAX);
    while (status == PHI_BUSY);
    *memory = status != PHI_NO_MEMORY;
    if (status == PHI_OK) (void)phi__json_read_result(&reader, &root, NULL);
    status = phi_json_is(root, PHI_JSON_OBJECT) ? PHI_OK : PHI_PARSE;
    phi_arena_reset(arena, mark);
    return status == PHI_OK;
}

PHI__FN bool phi__mcp_oauth_form_reply(phi_arena *arena, phi_str text, phi__mcp_oauth_reply *out) {
    phi_str type;
    bool memory;
    memset(out, 0, sizeof *out);
    out->lifetime_s = INT64_MAX;
    if (!phi__mcp_oauth_form_is_object(arena, text, &memory)) return memory;
    if (!phi__mcp_oauth_form_text(arena, text, "access_token", &out->token) ||
        !phi__mcp_oauth_form_text(arena, text, "refresh_token", &out->refresh) ||
        !phi__mcp_oauth_form_text(arena, text, "scope", &out->scope) ||
        !phi__mcp_oauth_form_text(arena, text, "error", &out->error) ||
        !phi__mcp_oauth_form_text(arena, text, "error_description", &out->description) ||
        !phi__mcp_oauth_form_text(arena, text, "token_type", &type))
        return false;
    out->dpop = phi__str_is_nocase(type, "DPoP");
    out->other_type = type.len > 0 && !out->dpop && !phi__str_is_nocase(type, "Bearer");
    out->lifetime_s = phi__mcp_oauth_form_number(text, "expires_in", INT64_MAX);
    return true;
}

PHI__FN bool phi__mcp_oauth_form_client(phi_arena *arena, phi_str text,
                                        phi__mcp_oauth_client *client) {
    phi_str method;
    int64_t until_s;
    bool memory;
    client->id = client->secret = phi__str("", 0);
    if (!phi__mcp_oauth_form_is_object(arena, text, &memory)) return memory;
    if (!phi__mcp_oauth_form_text(arena, text, "client_id", &client->id) ||
        !phi__mcp_oauth_form_text(arena, text, "client_secret", &client->secret) ||
        !phi__mcp_oauth_form_text(arena, text, "token_endpoint_auth_method", &method))
        return false;
    if (phi__str_is(method, "none")) client->method = PHI__MCP_OAUTH_NONE;
    if (phi__str_is(method, "client_secret_basic")) client->method = PHI__MCP_OAUTH_BASIC;
    if (phi__str_is(method, "client_secret_post")) client->method = PHI__MCP_OAUTH_POST;
    if (client->secret.len == 0) client->method = PHI__MCP_OAUTH_NONE;
    until_s = phi__mcp_oauth_form_number(text, "client_secret_expires_at", 0);
    client->until_ms = until_s == 0 ? INT64_MAX : until_s * 1000;
    return true;
}
