/* mcp_oauth_client.c - requests of an authorization, and the choice of the client that the program
   is for an authorization server. The host gives the client, a document's URL names it, or it is
   registered. */
#include "mcp/mcp_oauth_client_in.h"

#include "mcp/mcp_rpc_in.h"

#include <stdarg.h>
#include <stdio.h>

/* ---- an authorization under way ----

   The functions return PHI_BUSY if a request was sent or a person is asked, and PHI_OK if their
   part is done. Any other status is a failure, and o->message has its message. All memory comes
   from a budget that wipes blocks before it frees them, so answers, trees and copies of secrets
   need no further care. The end of a request sets the timer. The timer does all work, so only the
   timer calls functions of the host. */

/* Hides our secrets in a message: a server may have put them there. False: no memory. */
static bool phi__oauth_hide(phi__oauth *o, char *words, size_t len) {
    const phi_str secrets[10] = {phi__oauth_token_of(o->grant.bearer),
                                 phi__oauth_token_of(o->grant.spent[0]),
                                 o->grant.refresh,
                                 o->grant.spent[1],
                                 o->client.secret,
                                 phi_str_of(o->desc->client_secret),
                                 o->ask.state,
                                 o->ask.verifier,
                                 o->ask.code,
                                 o->ask.assertion};
    phi__secrets set;
    phi_arena arena = phi__arena_of(&o->memory, 1024);
    phi__secret_init(&set, &arena);
    for (size_t i = 0; i < PHI__COUNT(secrets); i++) phi__secret_add(&set, secrets[i]);
    if (o->desc->grant == PHI_MCP_GRANT_ASSERTION)
        phi__secret_add(&set, phi__buf_str(&o->redirected));
    bool fine = !set.failed;
    if (fine) (void)phi__secret_hide(&set, words, len, PHI__SECRET_WORDS);
    phi_arena_free(&arena);
    return fine;
}

PHI__FN phi_status phi__oauth_fail(phi__oauth *o, phi_status status, const char *format, ...) {
    char words[PHI__OAUTH_MESSAGE];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(words, sizeof words, format, args);
    va_end(args);
    size_t n = phi__words_clean_line(words, strlen(words));
    words[n] = '\0';
    if (!phi__oauth_hide(o, words, n))
        (void)snprintf(words, sizeof words, "%s", phi_status_text(PHI_NO_MEMORY));
    (void)snprintf(o->message, sizeof o->message, "authorization: %.*s",
                   (int)sizeof o->message - 20, words);
    /* If a function of the host returned PHI_BUSY, that is a failure: nothing would end the
       wait. */
    return status == PHI_BUSY ? PHI_BAD_ARG : status;
}

PHI__FN const char *phi__oauth_shown(phi__oauth *o, phi_str text, size_t most) {
    phi_str copy;
    if (!phi__arena_str(&o->arena, text, &copy) ||
        !phi__oauth_hide(o, (char *)(uintptr_t)copy.at, copy.len))
        return "";
    if (copy.len > most) ((char *)(uintptr_t)copy.at)[most] = '\0';
    return copy.at;
}

PHI__FN bool phi__oauth_person(const phi__oauth *o) {
    return o->desc->grant == PHI_MCP_GRANT_PERSON;
}

PHI__FN void phi__oauth_wake(phi__oauth *o) {
    /* Needs no memory: the timer already has a place in the heap. */
    (void)phi__mcp_timer_in(o->rt->io, &o->timer, 0);
}

/* ---- requests ---- */

PHI__FN void phi__oauth_nonce(phi__buf *nonce, phi_str headers) {
    phi_str value = phi__str_trim(phi__headers_value(headers, "dpop-nonce"));
    if (value.len > PHI__OAUTH_NONCE_BYTES || !phi__oauth_printable(value)) return;
    phi__buf_clear(nonce);
    phi__buf_add_str(nonce, value);
    if (nonce->failed) phi__buf_free(nonce); /* the server will send the nonce again */
}

static void phi__oauth_head(void *user_data, int http_status, phi_str headers) {
    phi__oauth *o = (phi__oauth *)user_data;
    o->sent.http_status = http_status;
    if (o->step == PHI__OAUTH_REFRESH || o->step == PHI__OAUTH_EXCHANGE)
        phi__oauth_nonce(&o->nonces[0], headers);
}

static size_t phi__oauth_body(void *user_data, phi_str bytes) {
    phi__buf_add_str(&((phi__oauth *)user_data)->sent.answer, bytes);
    return bytes.len;
}

static void phi__oauth_end(void *user_data, phi_status status, const char *message) {
    phi__oauth *o = (phi__oauth *)user_data;
    o->sent.fetch = NULL;
    o->sent.status = status;
    if (status == PHI_OK && o->sent.answer.failed) {
        o->sent.status = PHI_NO_MEMORY;
        message = phi_status_text(PHI_NO_MEMORY);
    }
    (void)snprintf(o->sent.message, sizeof o->sent.message, "%s", message != NULL ? message : "");
    phi__oauth_wake(o);
}

static phi_status phi__oauth_send(phi__oauth *o, phi__fetch_desc *desc, const char *what) {
    const char *words = NULL;
    phi__buf_free(&o->sent.answer);
    o->sent.what = what;
    o->sent.http_status = 0;
    desc->memory = &o->memory;
    desc->deadlines.first_event_ms = desc->deadlines.total_ms = PHI__OAUTH_FETCH_MS;
    desc->on_head = phi__oauth_head;
    desc->on_body = phi__oauth_body;
    desc->on_end = phi__oauth_end;
    desc->user_data = o;
    phi_status status = phi__fetch_open(o->rt, desc, &o->sent.fetch);
    if (status == PHI_OK) return PHI_BUSY;
    (void)phi__error_last(o->rt, &words);
    return phi__oauth_fail(o, status, "%s: %s", what, words != NULL ? words : "");
}

PHI__FN phi_status phi__oauth_get(phi__oauth *o, phi_str url, const char *what) {
    phi__header header;
    header.name = PHI__LIT("Accept");
    header.value = PHI__LIT("application/json");
    phi__fetch_desc desc = PHI_ZERO;
    desc.method = PHI__LIT("GET");
    desc.url = url;
    desc.headers = &header;
    desc.header_count = 1;
    desc.max_bytes = PHI__OAUTH_DOCUMENT;
    return phi__oauth_send(o, &desc, what);
}

PHI__FN phi_status phi__oauth_post(phi__oauth *o, phi_str url, const char *type, phi_str basic,
                                   phi_str proof, phi_str body, const char *what) {
    phi__header headers[4];
    headers[0].name = PHI__LIT("Accept");
    headers[0].value = PHI__LIT("application/json");
    headers[1].name = PHI__LIT("Content-Type");
    headers[1].value = phi_str_of(type);
    phi__fetch_desc desc = PHI_ZERO;
    desc.header_count = 2;
    if (basic.len > 0) {
        headers[desc.header_count].name = PHI__LIT("Authorization");
        headers[desc.header_count++].value = basic;
    }
    if (proof.len > 0) {
        headers[desc.header_count].name = PHI__LIT("DPoP");
        headers[desc.header_count++].value = proof;
    }
    desc.method = PHI__LIT("POST");
    desc.url = url;
    desc.headers = headers;
    desc.body = body;
    desc.max_bytes = PHI__OAUTH_ANSWER;
    return phi__oauth_send(o, &desc, what);
}

PHI__FN phi_status phi__oauth_answered(phi__oauth *o) {
    if (o->sent.status == PHI_OK) return PHI_OK;
    return phi__oauth_fail(o, o->sent.status, "%s: %s", o->sent.what, o->sent.message);
}

/* ---- the browser's URL, forms for the token endpoint, and answers ---- */

/* Appends base64 for URLs, without padding (RFC 4648, 5). */
static void phi__form_base64(phi__buf *out, const unsigned char *bytes, size_t n) {
    size_t from = out->len;
    phi__base64_encode(out, (const char *)bytes, n);
    if (out->failed) return;
    for (size_t i = from; i < out->len; i++) {
        if (out->at[i] == '+') out->at[i] = '-';
        if (out->at[i] == '/') out->at[i] = '_';
    }
    while (out->len > from && out->at[out->len - 1] == '=') out->len--;
}

/* Appends 32 random bytes in base64. If io is NULL, the bytes come from the system. */
static void phi__form_random(phi__buf *out, phi__io *io) {
    unsigned char random[32];
    if (io != NULL)
        phi__io_random(io, random, sizeof random);
    else
        phi__clock_random(random, sizeof random);
    phi__form_base64(out, random, sizeof random);
    memset(random, 0, sizeof random);
}

static bool phi__form_secret(phi__io *io, phi_arena *arena, phi_str *out) {
    phi__buf text = phi__buf_of(arena->memory);
    phi__form_random(&text, io);
    return phi__mcp_keep(&text, arena, out);
}

PHI__FN bool phi__form_secrets(phi__io *io, phi_arena *arena, phi__oauth_ask *ask) {
    return phi__form_secret(io, arena, &ask->state) && phi__form_secret(io, arena, &ask->verifier);
}

PHI__FN void phi__form_authorize(phi__buf *out, phi_str endpoint, const phi__oauth_client *client,
                                 const phi__oauth_ask *ask) {
    unsigned char hash[PHI__SHA256_BYTES];
    phi__sha256_of(ask->verifier, hash);
    phi__buf challenge = phi__buf_of(out->memory);
    phi__form_base64(&challenge, hash, sizeof hash);
    /* Makes the endpoint safe in shell quotes, because the host may pass the URL to a shell. */
    for (size_t i = 0; i < endpoint.len; i++)
        if (strchr("'$;!*()", endpoint.at[i]) != NULL)
            phi__url_escape(out, phi__str(endpoint.at + i, 1));
        else
            phi__buf_char(out, endpoint.at[i]);
    if (memchr(endpoint.at, '?', endpoint.len) == NULL) phi__buf_char(out, '?');
    phi__url_put(out, "response_type", PHI__LIT("code"));
    phi__url_put(out, "client_id", client->id);
    phi__url_put(out, "redirect_uri", ask->redirect);
    phi__url_put(out, "code_challenge", phi__buf_str(&challenge));
    phi__url_put(out, "code_challenge_method", PHI__LIT("S256"));
    phi__url_put(out, "state", ask->state);
    phi__url_put(out, "resource", ask->resource);
    if (ask->scope.len > 0) phi__url_put(out, "scope", ask->scope);
    /* OpenID Connect Core, 11: without prompt=consent, offline_access is ignored. */
    if (phi__oauth_has(ask->scope, PHI__LIT("offline_access")))
        phi__url_put(out, "prompt", PHI__LIT("consent"));
    if (challenge.failed) out->failed = true;
    phi__buf_free(&challenge);
}

static void phi__form_self(phi__buf *out, const phi__oauth_client *client) {
    /* RFC 7521, 4.2: an assertion already names the client. */
    if ((client->method & (PHI__OAUTH_BASIC | PHI__OAUTH_KEY)) == 0 && client->id.len > 0)
        phi__url_put(out, "client_id", client->id);
    if (client->method == PHI__OAUTH_POST) phi__url_put(out, "client_secret", client->secret);
}

PHI__FN void phi__form_code(phi__buf *out, const phi__oauth_client *client,
                            const phi__oauth_ask *ask) {
    phi__buf_text(out, "grant_type=authorization_code");
    phi__url_put(out, "code", ask->code);
    phi__url_put(out, "redirect_uri", ask->redirect);
    phi__url_put(out, "code_verifier", ask->verifier);
    phi__url_put(out, "resource", ask->resource);
    phi__form_self(out, client);
}

PHI__FN void phi__form_machine(phi__buf *out, const phi__oauth_client *client,
                               const phi__oauth_ask *ask, phi_str token) {
    if (token.len == 0)
        phi__buf_text(out, "grant_type=client_credentials");
    else {
        phi__buf_text(out, "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer");
        phi__url_put(out, "assertion", token);
    }
    if (ask->scope.len > 0) phi__url_put(out, "scope", ask->scope);
    phi__url_put(out, "resource", ask->resource);
    phi__form_self(out, client);
}

PHI__FN void phi__form_refresh(phi__buf *out, const phi__oauth_client *client, phi_str refresh,
                               phi_str resource) {
    phi__buf_text(out, "grant_type=refresh_token");
    phi__url_put(out, "refresh_token", refresh);
    phi__url_put(out, "resource", resource);
    phi__form_self(out, client);
}

/* HTTP Basic authentication (RFC 6749, 2.3.1). */
PHI__FN void phi__form_basic(phi__buf *out, const phi__oauth_client *client) {
    if (client->method != PHI__OAUTH_BASIC) return;
    phi__buf plain = phi__buf_of(out->memory);
    phi__url_escape(&plain, client->id);
    phi__buf_char(&plain, ':');
    phi__url_escape(&plain, client->secret);
    phi__buf_text(out, "Basic ");
    if (plain.failed)
        out->failed = true;
    else
        phi__base64_encode(out, plain.at, plain.len);
    phi__buf_free(&plain);
}

/* Chooses how a client authenticates. has: PHI__OAUTH_BASIC for a secret, PHI__OAUTH_KEY for a key,
   or both. Returns 0 if the server supports no method of this library. */
static uint32_t phi__form_method(const phi__oauth_server *server, uint32_t has,
                                 phi_mcp_client_auth wish) {
    uint32_t methods = server->methods;
    bool secret = (has & PHI__OAUTH_BASIC) != 0, key = (has & PHI__OAUTH_KEY) != 0;
    if (wish == PHI_MCP_CLIENT_AUTH_KEY) return has & PHI__OAUTH_KEY;
    if (wish == PHI_MCP_CLIENT_AUTH_NONE) return PHI__OAUTH_NONE;
    if (wish == PHI_MCP_CLIENT_AUTH_BASIC) return PHI__OAUTH_BASIC;
    if (wish == PHI_MCP_CLIENT_AUTH_POST) return PHI__OAUTH_POST;
    /* RFC 8414, 2: client_secret_basic is the default. */
    if (!server->says_methods) methods = secret ? PHI__OAUTH_BASIC : PHI__OAUTH_NONE;
    if (key && (!server->says_methods || (methods & PHI__OAUTH_KEY) != 0)) return PHI__OAUTH_KEY;
    if (!secret) return methods & PHI__OAUTH_NONE;
    if ((methods & PHI__OAUTH_BASIC) != 0) return PHI__OAUTH_BASIC;
    if ((methods & PHI__OAUTH_POST) != 0) return PHI__OAUTH_POST;
    return methods & PHI__OAUTH_NONE;
}

/* Copies strings of an answer. root: NULL if the answer was no JSON. False: no memory. */
static bool phi__form_texts(phi_arena *arena, const phi_json *root, const char *const *names,
                            phi_str *const *out, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (!phi__arena_str(arena, phi__records_get_str(root, names[i]), out[i])) return false;
    return true;
}

/* Reads a number, or a string that contains one. Fractions are cut off. */
static int64_t phi__form_number(phi_str text, const char *name, int64_t fallback) {
    phi__json_found found;
    uint64_t u;
    double d;
    if (phi__json_cursor_find(text, name, &found) != PHI_OK) return fallback;
    if (found.type == PHI_JSON_STRING)
        return phi__str_to_u64(found.raw, &u) && u < (uint64_t)1 << 40 ? (int64_t)u : fallback;
    if (!phi__json_cursor_found_num(&found, &d) || !(d >= 0) || d > 1e12) return fallback;
    return (int64_t)d;
}

PHI__FN bool phi__form_reply(phi_arena *arena, phi_str text, phi__oauth_reply *out) {
    static const char *const names[] = {"access_token", "refresh_token",     "scope",
                                        "error",        "error_description", "token_type"};
    phi_str type;
    phi_str *const texts[] = {&out->token, &out->refresh,     &out->scope,
                              &out->error, &out->description, &type};
    phi_json *root;
    memset(out, 0, sizeof *out);
    out->lifetime_s = INT64_MAX;
    if (phi__rpc_parse_as(arena, text, PHI_JSON_BORROW, PHI__OAUTH_DEPTH, &root) == PHI_NO_MEMORY ||
        !phi__form_texts(arena, root, names, texts, PHI__COUNT(names)))
        return false;
    out->dpop = phi__str_is_nocase(type, "DPoP");
    out->other_type = type.len > 0 && !out->dpop && !phi__str_is_nocase(type, "Bearer");
    if (root != NULL) out->lifetime_s = phi__form_number(text, "expires_in", INT64_MAX);
    return true;
}

PHI__FN bool phi__form_client(phi_arena *arena, phi_str text, phi__oauth_client *client) {
    static const char *const names[] = {"client_id", "client_secret", "token_endpoint_auth_method"};
    phi_str method = PHI_ZERO;
    phi_str *const texts[] = {&client->id, &client->secret, &method};
    phi_json *root;
    phi_arena scratch; /* the client outlives the tree */
    phi_arena_init(&scratch, arena->memory, 0);
    client->id = client->secret = phi__str("", 0);
    bool fine = phi__rpc_parse_as(&scratch, text, PHI_JSON_BORROW, PHI__OAUTH_DEPTH, &root) !=
                    PHI_NO_MEMORY &&
                phi__form_texts(arena, root, names, texts, PHI__COUNT(names));
    if (fine && phi_json_is(root, PHI_JSON_OBJECT)) {
        if (phi__str_is(method, "none")) client->method = PHI__OAUTH_NONE;
        if (phi__str_is(method, "client_secret_basic")) client->method = PHI__OAUTH_BASIC;
        if (phi__str_is(method, "client_secret_post")) client->method = PHI__OAUTH_POST;
        if (client->secret.len == 0) client->method = PHI__OAUTH_NONE;
        int64_t until_s = phi__form_number(text, "client_secret_expires_at", 0);
        client->until_ms = until_s == 0 ? INT64_MAX : until_s * 1000;
    }
    phi_arena_free(&scratch);
    return fine;
}

/* ---- tokens and registrations, in memory and in the host's store ---- */

enum { PHI__OAUTH_KEEP_ID = 64, PHI__OAUTH_KEEP_WORDS = 200 };

PHI__FN void phi__keep_init(phi__oauth_grant *grant, phi_memory *memory) {
    memset(grant, 0, sizeof *grant);
    phi_arena_init(&grant->arena, memory, 512);
}

PHI__FN void phi__keep_clear(phi__oauth_grant *grant) {
    phi_memory *memory = grant->arena.memory;
    phi_arena_free(&grant->arena);
    phi__keep_init(grant, memory);
}

PHI__FN void phi__keep_move(phi__oauth_grant *to, phi__oauth_grant *from) {
    phi_arena_free(&to->arena);
    *to = *from;
    phi__keep_init(from, to->arena.memory);
}

PHI__FN void phi__keep_spend(phi_str *token, phi_str *spent) {
    if (token->len > 0) *spent = *token;
    *token = phi__str("", 0);
}

/* Makes a document's id: the kind, then half of a hash in hexadecimal. */
static void phi__keep_id(const char *kind, phi_str of, char out[PHI__OAUTH_KEEP_ID]) {
    unsigned char hash[PHI__SHA256_BYTES];
    char hex[PHI__SHA256_HEX];
    size_t n = strlen(kind);
    phi__sha256_of(of, hash);
    phi__sha256_hex(hash, hex);
    memcpy(out, kind, n);
    memcpy(out + n, hex, 32);
    out[n + 32] = '\0';
}

/* Loads the document of a server or an issuer. Its member `key` must name that server or issuer. */
static phi_status phi__keep_read(const phi_store *store, phi_arena *arena, const char *kind,
                                 const char *key, phi_str of, phi_json **root) {
    char id[PHI__OAUTH_KEEP_ID], words[PHI__OAUTH_KEEP_WORDS];
    phi_str text;
    if (store == NULL || store->load == NULL) return PHI_NOT_FOUND;
    phi__keep_id(kind, of, id);
    phi_status status = store->load(store->user_data, id, arena, &text, words, sizeof words);
    if (status == PHI_OK) status = phi_json_parse(arena, text, 0, root, NULL);
    if (status == PHI_OK && phi_json_int(phi_json_get(*root, "v"), 0) != 1) status = PHI_NOT_FOUND;
    if (status == PHI_PARSE || status == PHI_TOO_BIG) status = PHI_NOT_FOUND;
    if (status == PHI_OK && !phi_str_equal(phi__records_get_str(*root, key), of))
        status = PHI_NOT_FOUND;
    return status;
}

static phi_status phi__keep_write(const phi_store *store, const char *kind, phi_str of,
                                  phi__buf *doc) {
    char id[PHI__OAUTH_KEEP_ID], words[PHI__OAUTH_KEEP_WORDS];
    phi_status status = PHI_NO_MEMORY;
    phi__keep_id(kind, of, id);
    phi__buf_char(doc, '}');
    if (!doc->failed)
        status = store->save(store->user_data, id, "mcp", phi__buf_str(doc), words, sizeof words);
    phi__buf_free(doc);
    return status;
}

static void phi__keep_remove(const phi_store *store, const char *kind, phi_str of) {
    char id[PHI__OAUTH_KEEP_ID], words[PHI__OAUTH_KEEP_WORDS];
    if (store == NULL || store->remove == NULL) return;
    phi__keep_id(kind, of, id);
    (void)store->remove(store->user_data, id, words, sizeof words);
}

static void phi__keep_begin(phi__buf *doc, phi_memory *memory) {
    phi__buf_init(doc, memory);
    phi__buf_text(doc, "{\"v\":1");
}

/* Writes a time unless it is INT64_MAX, which means unknown. */
static void phi__keep_put_time(phi__buf *doc, const char *name, int64_t ms) {
    if (ms != INT64_MAX) phi__records_i64(doc, name, ms);
}

#define PHI__KEEP_TOKEN "mcp-oauth-token-"
#define PHI__KEEP_CLIENT "mcp-oauth-client-"

static const phi__field phi__keep_grant_fields[] = {
    PHI__FIELD(phi__oauth_grant, issuer, "issuer", PHI__FIELD_STR, PHI__FIELD_SET),
    PHI__FIELD(phi__oauth_grant, endpoint, "token_endpoint", PHI__FIELD_STR, PHI__FIELD_SET),
    PHI__FIELD(phi__oauth_grant, resource, "resource", PHI__FIELD_STR, PHI__FIELD_SET),
    PHI__FIELD(phi__oauth_grant, client_id, "client_id", PHI__FIELD_STR, PHI__FIELD_SET),
    PHI__FIELD(phi__oauth_grant, scope, "scope", PHI__FIELD_STR, PHI__FIELD_SET),
    PHI__FIELD(phi__oauth_grant, bearer, "authorization", PHI__FIELD_STR, PHI__FIELD_SET),
    PHI__FIELD(phi__oauth_grant, refresh, "refresh_token", PHI__FIELD_STR, PHI__FIELD_SET)};

PHI__FN phi_status phi__keep_load(const phi_store *store, phi_str server, phi__oauth_grant *out) {
    phi_json *root = NULL;
    phi__keep_clear(out);
    phi_status status =
        phi__keep_read(store, &out->arena, PHI__KEEP_TOKEN, "server", server, &root);
    if (status != PHI_OK) {
        phi__keep_clear(out);
        return status;
    }
    (void)phi__records_get(root, phi__keep_grant_fields, PHI__COUNT(phi__keep_grant_fields), out,
                           NULL);
    out->method = (uint32_t)phi_json_int(phi_json_get(root, "method"), PHI__OAUTH_NONE);
    out->kind = (uint32_t)phi_json_int(phi_json_get(root, "grant"), PHI_MCP_GRANT_PERSON);
    out->dpop = phi__str_is(phi__records_get_str(root, "token_type"), "DPoP");
    out->until_ms = phi_json_int(phi_json_get(root, "expires_at_ms"), INT64_MAX);
    out->renew_ms = phi_json_int(phi_json_get(root, "renew_at_ms"), INT64_MAX);
    return PHI_OK;
}

PHI__FN phi_status phi__keep_save(const phi_store *store, phi_str server,
                                  const phi__oauth_grant *grant) {
    phi__buf doc;
    if (store == NULL || store->save == NULL) return PHI_OK;
    phi__keep_begin(&doc, grant->arena.memory);
    phi__records_some(&doc, "server", server);
    phi__records_put(&doc, phi__keep_grant_fields, PHI__COUNT(phi__keep_grant_fields), grant);
    if (grant->dpop) phi__records_str(&doc, "token_type", PHI__LIT("DPoP"));
    phi__records_u64(&doc, "method", grant->method);
    if (grant->kind != PHI_MCP_GRANT_PERSON) phi__records_u64(&doc, "grant", grant->kind);
    phi__keep_put_time(&doc, "expires_at_ms", grant->until_ms);
    phi__keep_put_time(&doc, "renew_at_ms", grant->renew_ms);
    return phi__keep_write(store, PHI__KEEP_TOKEN, server, &doc);
}

PHI__FN void phi__keep_drop(const phi_store *store, phi_str server) {
    phi__keep_remove(store, PHI__KEEP_TOKEN, server);
}

static const phi__field phi__keep_client_fields[] = {
    PHI__FIELD(phi__oauth_client, issuer, "issuer", PHI__FIELD_STR, PHI__FIELD_SET),
    PHI__FIELD(phi__oauth_client, id, "client_id", PHI__FIELD_STR, PHI__FIELD_SET),
    PHI__FIELD(phi__oauth_client, secret, "client_secret", PHI__FIELD_STR, PHI__FIELD_SET),
    PHI__FIELD(phi__oauth_client, redirect, "redirect_uri", PHI__FIELD_STR, PHI__FIELD_SET),
    PHI__FIELD(phi__oauth_client, scope, "scope", PHI__FIELD_STR, PHI__FIELD_SET)};

static phi_status phi__keep_load_client(const phi_store *store, phi_arena *arena, phi_str issuer,
                                        phi__oauth_client *out) {
    phi_json *root = NULL;
    memset(out, 0, sizeof *out);
    phi_status status = phi__keep_read(store, arena, PHI__KEEP_CLIENT, "issuer", issuer, &root);
    if (status != PHI_OK) return status;
    (void)phi__records_get(root, phi__keep_client_fields, PHI__COUNT(phi__keep_client_fields), out,
                           NULL);
    if (out->id.len == 0) return PHI_NOT_FOUND;
    out->method = (uint32_t)phi_json_int(phi_json_get(root, "method"), PHI__OAUTH_NONE);
    out->until_ms = phi_json_int(phi_json_get(root, "secret_expires_at_ms"), INT64_MAX);
    out->registered = true;
    return PHI_OK;
}

static phi_status phi__keep_save_client(const phi_store *store, phi_memory *memory,
                                        const phi__oauth_client *client) {
    phi__buf doc;
    if (store == NULL || store->save == NULL) return PHI_OK;
    phi__keep_begin(&doc, memory);
    phi__records_put(&doc, phi__keep_client_fields, PHI__COUNT(phi__keep_client_fields), client);
    phi__records_u64(&doc, "method", client->method);
    phi__keep_put_time(&doc, "secret_expires_at_ms", client->until_ms);
    return phi__keep_write(store, PHI__KEEP_CLIENT, client->issuer, &doc);
}

/* ---- JSON Web Tokens that the host's keys sign (RFC 7523, RFC 9449) ---- */

enum { PHI__OAUTH_SIGN_S = 300 }; /* an assertion of the client is valid this long */

/* Writes the claim "jti", a random name for the token. */
static void phi__sign_name(const phi__oauth *o, phi__buf *out) {
    phi__records_raw(out, "jti", "\"");
    phi__form_random(out, o->rt->tape == NULL ? o->rt->io : NULL);
    phi__buf_char(out, '"');
}

/* Appends a JSON text in base64, and a dot. */
static void phi__sign_part(phi__buf *out, phi__buf *json) {
    phi__buf_char(json, '}');
    if (json->failed) out->failed = true;
    if (out->failed) return;
    phi__form_base64(out, (const unsigned char *)json->at, json->len);
    phi__buf_char(out, '.');
}

/* Appends the token to `out`. Frees head and claims. */
static phi_status phi__oauth_sign(phi__oauth *o, const phi_mcp_key *key, phi__buf *head,
                                  phi__buf *claims, phi__buf *out) {
    unsigned char signature[PHI_MCP_SIGNATURE];
    size_t from = out->len, len = 0;
    phi__sign_part(out, head);
    phi__sign_part(out, claims);
    phi__buf_free(head);
    phi__buf_free(claims);
    if (out->failed) return PHI_NO_MEMORY;
    o->signing = true;
    phi_status status =
        key->sign(key->user_data, phi__str(out->at + from, out->len - from - 1), signature, &len);
    o->signing = false;
    if (o->signs_out) return phi__oauth_fail(o, PHI_CANCELLED, "signed out");
    if (status == PHI_OK && (len == 0 || len > sizeof signature)) status = PHI_BAD_ARG;
    if (status != PHI_OK)
        return phi__oauth_fail(o, status, "the key's signature: %s", phi_status_text(status));
    phi__form_base64(out, signature, len);
    return out->failed ? PHI_NO_MEMORY : PHI_OK;
}

static void phi__sign_begin(phi__oauth *o, const phi_mcp_key *key, const char *type, phi__buf *head,
                            phi__buf *claims) {
    phi__buf_init(head, &o->memory);
    phi__buf_init(claims, &o->memory);
    phi__buf_char(head, '{');
    phi__buf_char(claims, '{');
    phi__records_str(head, "typ", phi_str_of(type));
    phi__records_str(head, "alg", phi_str_of(key->algorithm));
    if (key->id != NULL) phi__records_str(head, "kid", phi_str_of(key->id));
}

PHI__FN phi_status phi__sign_client(phi__oauth *o, phi__buf *form) {
    phi__buf token = phi__buf_of(&o->memory);
    int64_t now_s = phi__io_wall_ms(o->rt->io) / 1000;
    phi__buf head, claims;
    phi__sign_begin(o, o->desc->client_key, "JWT", &head, &claims);
    phi__records_str(&claims, "iss", o->client.id);
    phi__records_str(&claims, "sub", o->client.id);
    phi__records_str(&claims, "aud", o->client.issuer);
    phi__records_i64(&claims, "iat", now_s);
    phi__records_i64(&claims, "exp", now_s + PHI__OAUTH_SIGN_S);
    phi__sign_name(o, &claims);
    phi_status status = phi__oauth_sign(o, o->desc->client_key, &head, &claims, &token);
    if (!phi__mcp_keep(&token, &o->arena, &o->ask.assertion) && status == PHI_OK)
        status = PHI_NO_MEMORY;
    if (status != PHI_OK) return status;
    phi__url_put(form, "client_assertion_type",
                 PHI__LIT("urn:ietf:params:oauth:client-assertion-type:jwt-bearer"));
    phi__url_put(form, "client_assertion", o->ask.assertion);
    return form->failed ? PHI_NO_MEMORY : PHI_OK;
}

/* ---- proofs of possession (DPoP) ---- */

PHI__FN phi_status phi__sign_proof(phi__oauth *o, phi_str method, phi_str url, phi_str token,
                                   phi__buf *out) {
    const phi_mcp_key *key = o->desc->dpop_key;
    const phi__buf *nonce = &o->nonces[token.len > 0 ? 1 : 0];
    phi__buf head, claims;
    phi__sign_begin(o, key, "dpop+jwt", &head, &claims);
    phi__records_raw(&head, "jwk", key->jwk);
    phi__sign_name(o, &claims);
    phi__records_str(&claims, "htm", method);
    phi__records_str(&claims, "htu", phi__url_bare(url));
    phi__records_i64(&claims, "iat", phi__io_wall_ms(o->rt->io) / 1000);
    unsigned char hash[PHI__SHA256_BYTES];
    if (token.len != 0) {
        phi__sha256_of(token, hash);
        phi__records_raw(&claims, "ath", "\"");
        phi__form_base64(&claims, hash, sizeof hash);
        phi__buf_char(&claims, '"');
    }
    phi__records_some(&claims, "nonce", phi__buf_str(nonce));
    return phi__oauth_sign(o, key, &head, &claims, out);
}

/* ---- choosing the client ---- */

static void phi__oac_clear(phi__oauth *o) {
    phi_arena_free(&o->client_arena);
    memset(&o->client, 0, sizeof o->client);
}

/* Sets o->client to the registration at an issuer, in memory or the store. False: there is none. */
static bool phi__oac_find(phi__oauth *o, phi_str issuer) {
    if (o->client.registered && phi_str_equal(o->client.issuer, issuer)) return true;
    phi__oac_clear(o);
    if (phi__keep_load_client(o->desc->store, &o->client_arena, issuer, &o->client) == PHI_OK)
        return true;
    phi__oac_clear(o);
    return false;
}

/* Sets o->client to a client that needs no registration. False: no memory. */
static bool phi__oac_set(phi__oauth *o, phi_str issuer, const char *id, const char *secret,
                         uint32_t method) {
    phi__oac_clear(o);
    o->client.id = phi_str_of(id);
    o->client.secret = phi_str_of(secret);
    o->client.method = method;
    return phi__arena_str(&o->client_arena, issuer, &o->client.issuer);
}

/* Returns the credentials that the desc has: a key, a secret or both. */
static uint32_t phi__oac_has(const phi_mcp_oauth_desc *desc) {
    uint32_t has = desc->client_key != NULL ? PHI__OAUTH_KEY : 0;
    if (desc->client_secret != NULL && desc->client_secret[0] != '\0') has |= PHI__OAUTH_BASIC;
    return has;
}

static const char *phi__oac_methods(const phi_mcp_oauth_desc *desc) {
    return desc->client_key != NULL
               ? "the token endpoint takes no method that phi has: none, client_secret_basic, "
                 "client_secret_post or private_key_jwt"
               : "the token endpoint takes no method that phi has: none, client_secret_basic or "
                 "client_secret_post";
}

/* Checks that the client belongs to this issuer. A client_id or an assertion belongs to one issuer:
   the issuer in the desc, or if the desc has none, the issuer of the last token. */
static phi_status phi__oac_bound(phi__oauth *o) {
    const phi_mcp_oauth_desc *desc = o->desc;
    phi_str issuer = o->found.server.issuer, bound = phi_str_of(desc->issuer);
    if (desc->client_id == NULL && phi__oauth_person(o)) return PHI_OK;
    if (bound.len == 0 &&
        (desc->client_id == NULL || phi__str_is(o->grant.client_id, desc->client_id)))
        bound = o->grant.issuer;
    if (bound.len == 0) bound = phi__buf_str(&o->bound);
    if (bound.len == 0 || phi_str_equal(bound, issuer)) return PHI_OK;
    return phi__oauth_fail(o, PHI_REFUSED, "%s to another issuer than %.*s: %.*s",
                           desc->client_id != NULL ? "client_id belongs" : "the assertion goes",
                           (int)phi__min(issuer.len, 100), issuer.at, (int)phi__min(bound.len, 100),
                           bound.at);
}

/* Returns the method that the registration asks for: PHI__OAUTH_NONE if the server allows that. */
static uint32_t phi__oac_method(const phi__oauth_server *server) {
    if (!server->says_methods || (server->methods & PHI__OAUTH_NONE) != 0) return PHI__OAUTH_NONE;
    return (server->methods & PHI__OAUTH_BASIC) != 0 ? (uint32_t)PHI__OAUTH_BASIC
                                                     : server->methods & PHI__OAUTH_POST;
}

static phi_status phi__oac_register(phi__oauth *o) {
    const phi__oauth_server *server = &o->found.server;
    uint32_t method = phi__oac_method(server);
    phi_status status = PHI_NO_MEMORY;
    if (server->registration.len == 0)
        return phi__oauth_fail(o, PHI_REFUSED, "%.*s registers no clients: set client_id",
                               (int)phi__min(server->issuer.len, 100), server->issuer.at);
    if (method == 0) return phi__oauth_fail(o, PHI_REFUSED, "%s", phi__oac_methods(o->desc));
    phi__oac_clear(o);
    o->client.method = method;
    phi__buf body = phi__buf_of(&o->memory);
    phi__buf_char(&body, '{');
    phi__records_str(&body, "client_name", phi_str_of(o->client_name));
    if (o->desc->client_uri != NULL)
        phi__records_str(&body, "client_uri", phi_str_of(o->desc->client_uri));
    phi__records_raw(&body, "redirect_uris", "[");
    phi__json_write_str(&body, o->ask.redirect);
    phi__buf_text(&body, "],\"grant_types\":[\"authorization_code\",\"refresh_token\"],"
                         "\"response_types\":[\"code\"]");
    phi__records_str(&body, "token_endpoint_auth_method",
                     method == PHI__OAUTH_BASIC  ? PHI__LIT("client_secret_basic")
                     : method == PHI__OAUTH_POST ? PHI__LIT("client_secret_post")
                                                 : PHI__LIT("none"));
    phi__records_str(&body, "application_type",
                     o->desc->web_application ? PHI__LIT("web") : PHI__LIT("native"));
    phi__records_some(&body, "scope", o->ask.scope);
    phi__buf_char(&body, '}');
    o->step = PHI__OAUTH_REGISTER;
    if (!body.failed)
        status = phi__oauth_post(o, server->registration, "application/json", phi__str("", 0),
                                 phi__str("", 0), phi__buf_str(&body), "registration");
    phi__buf_free(&body);
    return status;
}

PHI__FN phi_status phi__oac_registered(phi__oauth *o) {
    phi_str text = phi__buf_str(&o->sent.answer);
    phi__oauth_client *client = &o->client;
    phi__oauth_reply reply;
    phi_status status = phi__oauth_answered(o);
    if (status != PHI_OK) return status;
    if (!phi__form_client(&o->client_arena, text, client) ||
        !phi__form_reply(&o->arena, text, &reply))
        return PHI_NO_MEMORY;
    if (o->sent.http_status < 200 || o->sent.http_status > 299 || client->id.len == 0) {
        int code = o->sent.http_status;
        phi__oac_clear(o);
        return phi__oauth_fail(
            o, PHI_REFUSED, "registration: HTTP status %d%s%s%s%s", code,
            reply.error.len > 0 ? ": " : ", no client", phi__oauth_shown(o, reply.error, 60),
            reply.description.len > 0 ? ": " : "", phi__oauth_shown(o, reply.description, 120));
    }
    phi__buf_free(&o->sent.answer);
    client->registered = true;
    if (!phi__arena_str(&o->client_arena, o->found.server.issuer, &client->issuer) ||
        !phi__arena_str(&o->client_arena, o->ask.redirect, &client->redirect) ||
        !phi__arena_str(&o->client_arena, o->ask.scope, &client->scope)) {
        phi__oac_clear(o);
        return PHI_NO_MEMORY;
    }
    /* If the store refuses, the next process registers again. */
    (void)phi__keep_save_client(o->desc->store, &o->memory, client);
    return PHI_OK;
}

/* True if the registration fits this authorization. */
static bool phi__oac_fits(const phi__oauth *o) {
    const phi__oauth_client *client = &o->client;
    return client->until_ms > phi__io_wall_ms(o->rt->io) &&
           phi_str_equal(client->redirect, o->ask.redirect) &&
           (client->scope.len == 0 || phi__oauth_has_all(client->scope, o->ask.scope));
}

PHI__FN phi_status phi__oac_choose(phi__oauth *o) {
    phi_status status = phi__oac_bound(o);
    if (status != PHI_OK) return status;
    const phi__oauth_server *server = &o->found.server;
    const phi_mcp_oauth_desc *desc = o->desc;
    if (desc->client_id != NULL) {
        uint32_t has = phi__oac_has(desc);
        uint32_t method = phi__form_method(server, has, desc->client_auth);
        if (method == 0 && has == 0) method = PHI__OAUTH_NONE;
        if (!phi__oac_set(o, server->issuer, desc->client_id, desc->client_secret, method))
            return PHI_NO_MEMORY;
        if (method != 0) return PHI_OK;
        return phi__oauth_fail(o, PHI_REFUSED, "%s", phi__oac_methods(desc));
    }
    /* The client is a metadata document, or an assertion identifies it (RFC 7523, 3.1). */
    bool document = desc->client_metadata_url != NULL && server->documents;
    if (document || !phi__oauth_person(o))
        return phi__oac_set(o, server->issuer, document ? desc->client_metadata_url : NULL, NULL,
                            PHI__OAUTH_NONE)
                   ? PHI_OK
                   : PHI_NO_MEMORY;
    if (phi__oac_find(o, o->found.server.issuer) && phi__oac_fits(o)) return PHI_OK;
    return phi__oac_register(o);
}

PHI__FN bool phi__oac_recall(phi__oauth *o) {
    phi_str id = o->grant.client_id;
    if (phi_str_equal(o->client.issuer, o->grant.issuer) && phi_str_equal(o->client.id, id))
        return true;
    const phi_mcp_oauth_desc *desc = o->desc;
    const char *url = desc->client_metadata_url;
    if (desc->client_id == NULL && url != NULL && phi__str_is(id, url))
        return phi__oac_set(o, o->grant.issuer, url, NULL, PHI__OAUTH_NONE);
    if (desc->client_id != NULL && phi__str_is(id, desc->client_id)) {
        uint32_t has = phi__oac_has(desc);
        if ((has & PHI__OAUTH_BASIC) != 0) has |= PHI__OAUTH_POST;
        has &= o->grant.method;
        return phi__oac_set(o, o->grant.issuer, desc->client_id, desc->client_secret,
                            has != 0 ? has : (uint32_t)PHI__OAUTH_NONE);
    }
    if (!phi__oauth_person(o) && id.len == 0)
        return phi__oac_set(o, o->grant.issuer, NULL, NULL, PHI__OAUTH_NONE);
    return phi__oac_find(o, o->grant.issuer) && phi_str_equal(o->client.id, id);
}

PHI__FN void phi__oac_forget(phi__oauth *o) {
    if (!o->client.registered) return;
    phi__keep_remove(o->desc->store, PHI__KEEP_CLIENT, o->client.issuer);
    phi__oac_clear(o);
}

PHI__FN uint16_t phi__oac_port(phi__oauth *o) {
    static const char head[] = "http://127.0.0.1:";
    uint64_t port;
    size_t n = 0;
    if (!phi__oac_find(o, o->found.server.issuer)) return 0;
    phi_str at = o->client.redirect;
    if (!phi__str_starts(at, head)) return 0;
    at = phi__str(at.at + sizeof head - 1, at.len - (sizeof head - 1));
    while (n < at.len && at.at[n] != '/') n++;
    return phi__str_to_u64(phi__str(at.at, n), &port) && port <= 65535 ? (uint16_t)port
                                                                       : (uint16_t)0;
}
