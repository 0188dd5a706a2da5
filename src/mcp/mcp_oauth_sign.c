/* mcp_oauth_sign.c - JSON Web Tokens that the host's keys sign: who the client is (RFC 7523), and
   that a request comes from the key that its token is bound to (RFC 9449). */
#include "mcp/mcp_oauth_state_in.h"

#include "base/sha256_in.h"
#include "text/records_in.h"

enum { PHI__MCP_OAUTH_SIGN_S = 300 }; /* a client's assertion is valid so long */

/* ---- a token ---- */

/* A name of the token that no other has. */
static void phi__mcp_oauth_sign_name(const phi__mcp_oauth *o, phi__buf *out) {
    phi__json_write_key(out, PHI__LIT("jti"));
    phi__buf_char(out, '"');
    phi__mcp_oauth_form_random(out, o->rt->tape == NULL ? o->rt->io : NULL);
    phi__buf_char(out, '"');
}

static int64_t phi__mcp_oauth_sign_now_s(const phi__mcp_oauth *o) {
    return phi__io_wall_ms(o->rt->io) / 1000;
}

/* A JSON text, and a dot after it. */
static void phi__mcp_oauth_sign_part(phi__buf *out, phi__buf *json) {
    phi__buf_char(json, '}');
    if (json->failed) out->failed = true;
    if (out->failed) return;
    phi__mcp_oauth_form_base64(out, (const unsigned char *)json->at, json->len);
    phi__buf_char(out, '.');
}

/* Appends the token to `out`. */
static phi_status phi__mcp_oauth_sign(phi__mcp_oauth *o, const phi_mcp_key *key, phi__buf *head,
                                      phi__buf *claims, phi__buf *out) {
    unsigned char signature[PHI_MCP_SIGNATURE];
    size_t from = out->len, len = 0;
    phi_status status;
    phi__mcp_oauth_sign_part(out, head);
    phi__mcp_oauth_sign_part(out, claims);
    if (out->failed) return PHI_NO_MEMORY;
    o->signing = true;
    status =
        key->sign(key->user_data, phi__str(out->at + from, out->len - from - 1), signature, &len);
    o->signing = false;
    if (o->signs_out) return phi__mcp_oauth_state_fail(o, PHI_CANCELLED, "signed out");
    if (status == PHI_OK && (len == 0 || len > sizeof signature)) status = PHI_BAD_ARG;
    if (status != PHI_OK)
        return phi__mcp_oauth_state_fail(o, status, "the key's signature: %s",
                                         phi_status_text(status));
    phi__mcp_oauth_form_base64(out, signature, len);
    return out->failed ? PHI_NO_MEMORY : PHI_OK;
}

static void phi__mcp_oauth_sign_begin(phi__mcp_oauth *o, const phi_mcp_key *key, const char *type,
                                      phi__buf *head, phi__buf *claims) {
    phi__buf_init(head, &o->memory);
    phi__buf_init(claims, &o->memory);
    phi__buf_char(head, '{');
    phi__buf_char(claims, '{');
    phi__records_str(head, "typ", phi_str_of(type));
    phi__records_str(head, "alg", phi_str_of(key->algorithm));
    if (key->id != NULL) phi__records_str(head, "kid", phi_str_of(key->id));
}

/* ---- the client ---- */

static phi_status phi__mcp_oauth_sign_assertion(phi__mcp_oauth *o, phi__buf *out) {
    int64_t now_s = phi__mcp_oauth_sign_now_s(o);
    phi__buf head, claims;
    phi_status status;
    phi__mcp_oauth_sign_begin(o, o->desc->client_key, "JWT", &head, &claims);
    phi__records_str(&claims, "iss", o->client.id);
    phi__records_str(&claims, "sub", o->client.id);
    phi__records_str(&claims, "aud", o->client.issuer);
    phi__records_i64(&claims, "iat", now_s);
    phi__records_i64(&claims, "exp", now_s + PHI__MCP_OAUTH_SIGN_S);
    phi__mcp_oauth_sign_name(o, &claims);
    status = phi__mcp_oauth_sign(o, o->desc->client_key, &head, &claims, out);
    phi__buf_free(&head);
    phi__buf_free(&claims);
    return status;
}

PHI__FN phi_status phi__mcp_oauth_sign_client(phi__mcp_oauth *o, phi__buf *form) {
    phi__buf token;
    phi_status status;
    phi__buf_init(&token, &o->memory);
    status = phi__mcp_oauth_sign_assertion(o, &token);
    if (status == PHI_OK && !phi__arena_str(&o->arena, phi__buf_str(&token), &o->ask.assertion))
        status = PHI_NO_MEMORY;
    phi__buf_free(&token);
    if (status != PHI_OK) return status;
    phi__mcp_oauth_url_put(form, "client_assertion_type",
                           PHI__LIT("urn:ietf:params:oauth:client-assertion-type:jwt-bearer"));
    phi__mcp_oauth_url_put(form, "client_assertion", o->ask.assertion);
    return form->failed ? PHI_NO_MEMORY : PHI_OK;
}

/* ---- proofs of possession ---- */

/* An address without its query. */
static phi_str phi__mcp_oauth_sign_target(phi_str url) {
    size_t n = 0;
    while (n < url.len && url.at[n] != '?' && url.at[n] != '#') n++;
    return phi__str(url.at, n);
}

static void phi__mcp_oauth_sign_token(phi__buf *claims, phi_str token) {
    unsigned char hash[PHI__SHA256_BYTES];
    if (token.len == 0) return;
    phi__sha256_of(token, hash);
    phi__json_write_key(claims, PHI__LIT("ath"));
    phi__buf_char(claims, '"');
    phi__mcp_oauth_form_base64(claims, hash, sizeof hash);
    phi__buf_char(claims, '"');
}

PHI__FN phi_status phi__mcp_oauth_sign_proof(phi__mcp_oauth *o, phi_str method, phi_str url,
                                             phi_str token, phi__buf *out) {
    const phi_mcp_key *key = o->desc->dpop_key;
    const phi__buf *nonce = &o->nonces[token.len > 0 ? 1 : 0];
    phi__buf head, claims;
    phi_status status;
    phi__mcp_oauth_sign_begin(o, key, "dpop+jwt", &head, &claims);
    phi__json_write_key(&head, PHI__LIT("jwk"));
    phi__buf_text(&head, key->jwk);
    phi__mcp_oauth_sign_name(o, &claims);
    phi__records_str(&claims, "htm", method);
    phi__records_str(&claims, "htu", phi__mcp_oauth_sign_target(url));
    phi__records_i64(&claims, "iat", phi__mcp_oauth_sign_now_s(o));
    phi__mcp_oauth_sign_token(&claims, token);
    if (nonce->len > 0) phi__records_str(&claims, "nonce", phi__buf_str(nonce));
    status = phi__mcp_oauth_sign(o, key, &head, &claims, out);
    phi__buf_free(&head);
    phi__buf_free(&claims);
    return status;
}
