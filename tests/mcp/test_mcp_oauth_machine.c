/* test_mcp_oauth_machine.c - authorizations without a person, and keys of the host's that sign: who
   the client is, and whose token it is. */
#include "base/base_in.h"
#include "mcp/oauth_world.h"

#include <stdio.h>

/* Metadata of a server that no person visits. */
#define MACHINE_HEAD "{\"issuer\":\"" AS "\",\"token_endpoint\":\"" AS "/token\""
#define DPOP_DOC                                                                                   \
    SERVER_HEAD ",\"token_endpoint_auth_methods_supported\":[\"none\"],"                           \
                "\"registration_endpoint\":\"" AS "/register\","                                   \
                "\"dpop_signing_alg_values_supported\":[\"RS256\",\"ES256\"]}"
#define DPOP_TOKEN                                                                                 \
    "{\"access_token\":\"token-number-1\",\"token_type\":\"DPoP\",\"expires_in\":3600,"            \
    "\"refresh_token\":\"refresh-number-1\"}"
#define JWK "{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"xx\",\"y\":\"yy\"}"

static const char *sent(world *o, size_t i) { return i < o->w.count ? o->w.sent[i].text : ""; }

static bool says(const char *text, const char *part) { return strstr(text, part) != NULL; }

/* ---- a key that "signs" with the word signature ---- */

typedef struct signer {
    phi_mcp_key key;
    int signatures;
    size_t len; /* that it claims; 0: nine */
    phi_status status;
} signer;

static phi_status sign(void *user_data, phi_str bytes, unsigned char *signature, size_t *len) {
    signer *s = (signer *)user_data;
    CHECK(memchr(bytes.at, '.', bytes.len) != NULL);
    CHECK(bytes.len > 0 && bytes.at[bytes.len - 1] != '.');
    s->signatures++;
    memcpy(signature, "signature", 9);
    *len = s->len != 0 ? s->len : 9;
    return s->status;
}

static void signer_init(signer *s) {
    memset(s, 0, sizeof *s);
    s->key.algorithm = "ES256";
    s->key.sign = sign;
    s->key.user_data = s;
}

/* "HEADER CLAIMS SIGNATURE" of the token that follows the marker, decoded; static. */
static const char *token_after(const char *text, const char *marker) {
    static char out[4000];
    const char *at = strstr(text, marker);
    phi_memory memory;
    phi__buf plain, part;
    phi_memory_init(&memory, NULL, 0);
    phi__buf_init(&plain, &memory);
    phi__buf_init(&part, &memory);
    if (at == NULL) at = marker + strlen(marker);
    for (at += at[0] == '\0' ? 0 : strlen(marker);; at++) {
        char c = *at == '-' ? '+' : *at == '_' ? '/' : *at;
        if (c != '\0' && strchr(".&\n", c) == NULL) {
            phi__buf_char(&part, c);
            continue;
        }
        while (part.len % 4 != 0) phi__buf_char(&part, '=');
        CHECK(phi__base64_decode(&plain, phi__buf_str(&part)));
        phi__buf_clear(&part);
        if (c != '.') break;
        phi__buf_char(&plain, ' ');
    }
    (void)snprintf(out, sizeof out, "%.*s", (int)plain.len, plain.at);
    phi__buf_free(&plain);
    phi__buf_free(&part);
    return out;
}

/* A member of the JSON in a text, up to its quote; static. */
static const char *member(const char *text, const char *name) {
    static char out[200];
    char find[40];
    const char *at;
    (void)snprintf(find, sizeof find, "\"%s\":\"", name);
    at = strstr(text, find);
    out[0] = '\0';
    if (at != NULL)
        (void)snprintf(out, sizeof out, "%.*s", (int)strcspn(at + strlen(find), "\""),
                       at + strlen(find));
    return out;
}

/* ---- client_credentials ---- */

static void client_init(world *o) {
    world_init(o);
    o->desc.open_browser_fn = NULL;
    o->desc.redirect_uri = NULL;
    o->desc.redirect_port = 0;
    o->desc.grant = PHI_MCP_GRANT_CLIENT;
    o->desc.client_id = "my:id";
    o->desc.client_secret = "s&ecret 1";
    world_page_first(o, META, 200, MACHINE_HEAD "}", 0);
    world_page_first(o, "POST " AS "/token", 200, "{\"access_token\":\"token-number-2\"}", 0);
    world_page_first(o, "POST " AS "/token", 200,
                     "{\"access_token\":\"token-number-1\",\"token_type\":\"bearer\","
                     "\"expires_in\":3600}",
                     1);
}

TEST(a_program_with_a_secret_gets_a_token_without_a_person) {
    world o;
    client_init(&o);
    CHECK(phi__oauth_refuse(&o.desc) == NULL);
    REQUIRE(CHECK(world_begin(&o, SERVER)));
    CHECK_EQ_INT(world_401(&o, "WWW-Authenticate: Bearer scope=\"b a\"\r\n", ""), PHI_BUSY);
    world_step(&o, 20);
    CHECK_EQ_INT(o.opened, 0);
    CHECK_EQ_INT(o.changed, 1);
    CHECK_EQ_INT(o.status, PHI_OK);
    CHECK_EQ_STR(world_header(&o), "Bearer token-number-1");
    REQUIRE(CHECK_EQ_INT(o.w.count, 3));
    CHECK_EQ_STR(sent(&o, 2), "POST " AS "/token\nAccept: application/json\n"
                              "Content-Type: application/x-www-form-urlencoded\n"
                              "Authorization: Basic bXklM0FpZDpzJTI2ZWNyZXQlMjAx\n\n"
                              "grant_type=client_credentials&scope=b%20a"
                              "&resource=https%3A%2F%2Fmcp.example%2Fapi%2Fmcp");
    /* an hour later its own clock says it, and the server, too */
    world_pass_s(&o, 3601);
    CHECK_EQ_STR(world_header(&o), "Bearer token-number-1");
    CHECK_EQ_INT(world_401(&o, "", "Bearer token-number-1"), PHI_BUSY);
    world_step(&o, 20);
    CHECK_EQ_STR(world_header(&o), "Bearer token-number-2");
    /* a new one that is refused would be asked for again and again */
    CHECK_EQ_INT(world_401(&o, "", "Bearer token-number-2"), PHI_REFUSED);
    CHECK_EQ_STR(world_error(&o), "authorization: the server refuses a new token");
    CHECK_EQ_INT(o.w.count, 6);
    world_end(&o);
}

TEST(a_program_is_not_asked_as_a_person_is) {
    int i;
    world o;
    client_init(&o);
    REQUIRE(CHECK(world_begin(&o, SERVER)));
    /* more often than four times in ten minutes */
    for (i = 0; i < 8; i++) {
        CHECK_EQ_INT(world_401(&o, "", world_header(&o)), PHI_BUSY);
        world_step(&o, 20);
        CHECK(says(world_header(&o), "Bearer token-number-"));
        world_pass_s(&o, 61);
    }
    /* more scopes */
    CHECK_EQ_INT(
        phi__oauth_challenge(o.oauth, 403,
                             phi_str_of("WWW-Authenticate: Bearer error=\"insufficient_scope\", "
                                        "scope=\"more\"\r\n"),
                             phi_str_of(world_header(&o))),
        PHI_BUSY);
    world_step(&o, 20);
    CHECK_EQ_INT(o.status, PHI_OK);
    CHECK(says(sent(&o, o.w.count - 1), "&scope=more&"));
    world_end(&o);
}

TEST(a_program_proves_itself_as_the_server_wants) {
    static const struct {
        const char *methods;
        phi_mcp_client_auth wish;
        const char *want, *message;
    } rows[] = {{",\"token_endpoint_auth_methods_supported\":[\"client_secret_post\"]",
                 PHI_MCP_CLIENT_AUTH_ANY, "&client_id=my%3Aid&client_secret=s%26ecret%201", ""},
                {",\"token_endpoint_auth_methods_supported\":[\"client_secret_basic\"]",
                 PHI_MCP_CLIENT_AUTH_POST, "&client_id=my%3Aid&client_secret=s%26ecret%201", ""},
                {",\"token_endpoint_auth_methods_supported\":[\"private_key_jwt\"]",
                 PHI_MCP_CLIENT_AUTH_ANY, NULL,
                 "authorization: the token endpoint takes no method that phi has: none, "
                 "client_secret_basic or client_secret_post"}};
    size_t i;
    for (i = 0; i < PHI__COUNT(rows); i++) {
        char metadata[600];
        world o;
        client_init(&o);
        (void)snprintf(metadata, sizeof metadata, MACHINE_HEAD "%s}", rows[i].methods);
        world_page_first(&o, META, 200, metadata, 0);
        o.desc.client_auth = rows[i].wish;
        REQUIRE(CHECK(world_begin(&o, SERVER)));
        CHECK_EQ_INT(world_401(&o, "", ""), PHI_BUSY);
        world_step(&o, 20);
        CHECK_EQ_STR(o.message, rows[i].message);
        CHECK_EQ_INT(o.w.count, rows[i].want != NULL ? 3 : 2);
        if (rows[i].want != NULL) CHECK(says(sent(&o, 2), rows[i].want));
        CHECK(!says(sent(&o, 2), "Basic"));
        world_end(&o);
    }
}

TEST(a_key_of_the_host_signs_who_the_client_is) {
    world o;
    signer s;
    char first[100];
    signer_init(&s);
    s.key.id = "key-7";
    client_init(&o);
    o.desc.client_key = &s.key;
    world_page_first(&o, META, 200,
                     MACHINE_HEAD ",\"token_endpoint_auth_methods_supported\":["
                                  "\"client_secret_basic\",\"private_key_jwt\"]}",
                     0);
    REQUIRE(CHECK(world_begin(&o, SERVER)));
    CHECK_EQ_INT(world_401(&o, "", ""), PHI_BUSY);
    world_step(&o, 20);
    CHECK_EQ_STR(world_header(&o), "Bearer token-number-1");
    REQUIRE(CHECK_EQ_INT(o.w.count, 3));
    CHECK(says(sent(&o, 2),
               "\n\ngrant_type=client_credentials&resource=https%3A%2F%2Fmcp.example%2Fapi%2Fmcp"
               "&client_assertion_type=urn%3Aietf%3Aparams%3Aoauth%3Aclient-assertion-type%3A"
               "jwt-bearer&client_assertion="));
    CHECK(!says(sent(&o, 2), "client_id") && !says(sent(&o, 2), "Basic"));
    (void)snprintf(first, sizeof first, "%s",
                   member(token_after(sent(&o, 2), "&client_assertion="), "jti"));
    CHECK_EQ_INT(strlen(first), 43);
    {
        char want[600];
        (void)snprintf(want, sizeof want,
                       "{\"typ\":\"JWT\",\"alg\":\"ES256\",\"kid\":\"key-7\"} "
                       "{\"iss\":\"my:id\",\"sub\":\"my:id\",\"aud\":\"" AS "\","
                       "\"iat\":1700000000,\"exp\":1700000300,\"jti\":\"%s\"} signature",
                       first);
        CHECK_EQ_STR(token_after(sent(&o, 2), "&client_assertion="), want);
    }
    /* each has its own name */
    world_pass_s(&o, 3601);
    CHECK_EQ_INT(world_401(&o, "", world_header(&o)), PHI_BUSY);
    world_step(&o, 20);
    CHECK_EQ_INT(s.signatures, 2);
    CHECK(strcmp(member(token_after(sent(&o, o.w.count - 1), "&client_assertion="), "jti"),
                 first) != 0);
    world_end(&o);
}

TEST(a_key_that_signs_nothing_ends_the_authorization) {
    static const struct {
        phi_status status;
        size_t len;
        phi_status want;
        const char *message;
    } rows[] = {
        {PHI_DENIED, 9, PHI_DENIED, "authorization: the key's signature: "},
        {PHI_BUSY, 9, PHI_BAD_ARG, "authorization: the key's signature: "},
        {PHI_OK, PHI_MCP_SIGNATURE + 1, PHI_BAD_ARG, "authorization: the key's signature: "}};
    size_t i;
    for (i = 0; i < PHI__COUNT(rows); i++) {
        world o;
        signer s;
        signer_init(&s);
        s.status = rows[i].status;
        s.len = rows[i].len;
        client_init(&o);
        o.desc.client_key = &s.key;
        o.desc.client_auth = PHI_MCP_CLIENT_AUTH_KEY;
        REQUIRE(CHECK(world_begin(&o, SERVER)));
        CHECK_EQ_INT(world_401(&o, "", ""), PHI_BUSY);
        world_step(&o, 20);
        CHECK_EQ_INT(o.status, rows[i].want);
        CHECK(says(o.message, rows[i].message));
        CHECK_EQ_INT(o.w.count, 2);
        world_end(&o);
    }
}

/* ---- assertions of the host ---- */

typedef struct asserting {
    world o;
    int wanted;
    char issuer[100], resource[100], scope[100];
    const char *at_once; /* given inside of the callback */
    phi_status status;
    bool frees;
} asserting;

static phi_status want_assertion(void *user_data, const phi_mcp_assertion *wanted) {
    asserting *a = (asserting *)user_data;
    a->wanted++;
    (void)snprintf(a->issuer, sizeof a->issuer, "%s", wanted->issuer.at);
    (void)snprintf(a->resource, sizeof a->resource, "%s", wanted->resource.at);
    (void)snprintf(a->scope, sizeof a->scope, "%s", wanted->scope.at);
    if (a->at_once != NULL) {
        phi_status given = phi__oauth_asserted(a->o.oauth, phi_str_of(a->at_once));
        CHECK(given == PHI_OK || given == PHI_NO_MEMORY);
        if (given != PHI_OK) return given;
    }
    if (a->frees) {
        phi__oauth_free(a->o.oauth);
        a->o.oauth = NULL;
    }
    return a->status;
}

static void asserting_init(asserting *a) {
    memset(a, 0, sizeof *a);
    client_init(&a->o);
    a->o.desc.grant = PHI_MCP_GRANT_ASSERTION;
    a->o.desc.client_id = a->o.desc.client_secret = NULL;
    a->o.desc.want_assertion_fn = want_assertion;
    a->o.desc.user_data = a;
}

TEST(a_token_of_the_host_stands_for_a_person) {
    asserting a;
    asserting_init(&a);
    CHECK(phi__oauth_refuse(&a.o.desc) == NULL);
    REQUIRE(CHECK(world_begin(&a.o, SERVER)));
    CHECK_EQ_INT(phi__oauth_asserted(a.o.oauth, phi_str_of("early")), PHI_MISUSE);
    CHECK_EQ_STR(world_error(&a.o), "authorization: none waits for an assertion");
    CHECK_EQ_INT(world_401(&a.o, "WWW-Authenticate: Bearer scope=\"x\"\r\n", ""), PHI_BUSY);
    world_step(&a.o, 20);
    CHECK_EQ_INT(a.wanted, 1);
    CHECK_EQ_STR(a.issuer, AS);
    CHECK_EQ_STR(a.resource, SERVER);
    CHECK_EQ_STR(a.scope, "x");
    CHECK_EQ_INT(a.o.w.count, 2); /* it waits */
    CHECK_EQ_INT(phi__oauth_asserted(a.o.oauth, phi_str_of("")), PHI_BAD_ARG);
    CHECK_EQ_INT(phi__oauth_asserted(a.o.oauth, phi_str_of("a b")), PHI_BAD_ARG);
    CHECK_EQ_STR(world_error(&a.o),
                 "authorization: an assertion has 1 to 65536 printable characters");
    CHECK_EQ_INT(phi__oauth_asserted(a.o.oauth, phi_str_of("ey.J+w.t")), PHI_OK);
    CHECK_EQ_INT(phi__oauth_asserted(a.o.oauth, phi_str_of("again")), PHI_MISUSE);
    world_step(&a.o, 10);
    CHECK_EQ_INT(a.o.status, PHI_OK);
    CHECK_EQ_STR(world_header(&a.o), "Bearer token-number-1");
    CHECK_EQ_STR(sent(&a.o, 2), "POST " AS "/token\nAccept: application/json\n"
                                "Content-Type: application/x-www-form-urlencoded\n\n"
                                "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer"
                                "&assertion=ey.J%2Bw.t&scope=x"
                                "&resource=https%3A%2F%2Fmcp.example%2Fapi%2Fmcp");
    world_end(&a.o);
}

TEST(an_assertion_comes_with_the_proof_of_a_client) {
    asserting a;
    asserting_init(&a);
    a.o.desc.client_id = "me";
    a.o.desc.client_secret = "secret-1";
    a.at_once = "assertion-number-1";
    REQUIRE(CHECK(world_begin(&a.o, SERVER)));
    CHECK_EQ_INT(world_401(&a.o, "", ""), PHI_BUSY);
    world_step(&a.o, 20);
    CHECK_EQ_STR(world_header(&a.o), "Bearer token-number-1");
    CHECK(says(sent(&a.o, 2), "\nAuthorization: Basic bWU6c2VjcmV0LTE=\n"));
    CHECK(says(sent(&a.o, 2), "&assertion=assertion-number-1&"));
    world_end(&a.o);
}

TEST(a_refused_assertion_is_not_tried_again_nor_shown) {
    asserting a;
    asserting_init(&a);
    a.at_once = "assertion-number-1";
    world_page_first(&a.o, "POST " AS "/token", 400,
                     "{\"error\":\"invalid_grant\",\"error_description\":\"bad "
                     "assertion-number-1\"}",
                     0);
    REQUIRE(CHECK(world_begin(&a.o, SERVER)));
    CHECK_EQ_INT(world_401(&a.o, "", ""), PHI_BUSY);
    world_step(&a.o, 30);
    CHECK_EQ_INT(a.o.changed, 1);
    CHECK_EQ_INT(a.o.status, PHI_REFUSED);
    CHECK_EQ_STR(a.o.message, "authorization: the token endpoint: HTTP status 400: invalid_grant: "
                              "bad ******************");
    CHECK_EQ_INT(a.o.w.count, 3);
    world_end(&a.o);
}

TEST(a_host_may_refuse_be_late_or_free_all) {
    int i;
    for (i = 0; i < 3; i++) {
        asserting a;
        asserting_init(&a);
        if (i == 0) a.status = PHI_DENIED;
        a.frees = i == 2;
        REQUIRE(CHECK(world_begin(&a.o, SERVER)));
        CHECK_EQ_INT(world_401(&a.o, "", ""), PHI_BUSY);
        world_step(&a.o, 20);
        if (i == 1) {
            world_pass_stepping_s(&a.o, 301);
            world_step(&a.o, 2);
        }
        CHECK_EQ_INT(a.wanted, 1);
        CHECK_EQ_INT(a.o.changed, i < 2 ? 1 : 0);
        if (i == 0) CHECK(says(a.o.message, "authorization: the assertion: "));
        if (i == 0) CHECK_EQ_INT(a.o.status, PHI_DENIED);
        if (i == 1) CHECK_EQ_STR(a.o.message, "authorization: not completed within 300 s");
        world_end(&a.o);
    }
}

TEST(a_stored_token_of_an_assertion_is_refreshed_without_one) {
    asserting a;
    asserting_init(&a);
    a.at_once = "assertion-number-1";
    a.o.store = store_mem_new();
    a.o.desc.store = store_mem_store(a.o.store);
    world_page_first(&a.o, "POST " AS "/token", 200, TOKEN_1, 0);
    REQUIRE(CHECK(world_begin(&a.o, SERVER)));
    CHECK_EQ_INT(world_401(&a.o, "", ""), PHI_BUSY);
    world_step(&a.o, 20);
    phi__oauth_free(a.o.oauth);
    REQUIRE(CHECK(world_make(&a.o, SERVER)));
    world_pass_s(&a.o, 3600);
    CHECK_EQ_STR(world_header(&a.o), "busy");
    world_step(&a.o, 10);
    CHECK_EQ_INT(a.wanted, 1);
    CHECK(says(sent(&a.o, a.o.w.count - 1),
               "\n\ngrant_type=refresh_token&refresh_token=refresh-number-1&resource="));
    CHECK_EQ_STR(world_header(&a.o), "Bearer token-number-1");
    world_end(&a.o);
}

TEST(a_stored_token_serves_whom_it_was_given_for_alone) {
    asserting a;
    asserting_init(&a);
    a.at_once = "assertion-number-1";
    a.o.store = store_mem_new();
    a.o.desc.store = store_mem_store(a.o.store);
    REQUIRE(CHECK(world_begin(&a.o, SERVER)));
    CHECK_EQ_INT(world_401(&a.o, "", ""), PHI_BUSY);
    world_step(&a.o, 20);
    phi__oauth_free(a.o.oauth);
    a.o.desc.grant = PHI_MCP_GRANT_PERSON;
    REQUIRE(CHECK(world_make(&a.o, SERVER)));
    CHECK_EQ_STR(world_header(&a.o), "");
    phi__oauth_free(a.o.oauth);
    a.o.desc.grant = PHI_MCP_GRANT_ASSERTION;
    REQUIRE(CHECK(world_make(&a.o, SERVER)));
    CHECK_EQ_STR(world_header(&a.o), "Bearer token-number-1");
    world_end(&a.o);
}

/* ---- tokens that are bound to a key ---- */

static void dpop_init(world *o, signer *s) {
    signer_init(s);
    s->key.jwk = JWK;
    world_init(o);
    o->desc.dpop_key = &s->key;
    o->answer_in_browser = true;
    world_page_first(o, META, 200, DPOP_DOC, 0);
    world_page_first(o, "POST " AS "/token", 200, DPOP_TOKEN, 0);
}

/* The proof of a request with the token, decoded; static. */
static const char *proof(world *o, const char *method, const char *url) {
    static char text[2000];
    phi__buf out;
    phi__buf_init(&out, &o->rt->memory);
    text[0] = '\0';
    if (CHECK_EQ_INT(phi__oauth_proof(o->oauth, method, phi_str_of(url), &out), PHI_OK))
        (void)snprintf(text, sizeof text, "%.*s", (int)out.len, out.len > 0 ? out.at : "");
    phi__buf_free(&out);
    return text[0] != '\0' ? token_after(text, "") : "";
}

TEST(a_bound_token_comes_with_a_proof_for_each_request) {
    world o;
    signer s;
    char want[700], jti[100];
    dpop_init(&o, &s);
    CHECK(phi__oauth_refuse(&o.desc) == NULL);
    REQUIRE(CHECK(world_begin(&o, SERVER)));
    CHECK_EQ_STR(proof(&o, "POST", SERVER), "");
    CHECK_EQ_INT(world_401(&o, "WWW-Authenticate: DPoP scope=\"z\"\r\n", ""), PHI_BUSY);
    world_step(&o, 30);
    CHECK_EQ_STR(world_header(&o), "DPoP token-number-1");
    REQUIRE(CHECK_EQ_INT(o.w.count, 4));
    CHECK(says(o.url, "&scope=z"));
    (void)snprintf(jti, sizeof jti, "%s", member(token_after(sent(&o, 3), "\nDPoP: "), "jti"));
    (void)snprintf(want, sizeof want,
                   "{\"typ\":\"dpop+jwt\",\"alg\":\"ES256\",\"jwk\":" JWK "} "
                   "{\"jti\":\"%s\",\"htm\":\"POST\",\"htu\":\"" AS "/token\","
                   "\"iat\":1700000000} signature",
                   jti);
    CHECK_EQ_INT(strlen(jti), 43);
    CHECK_EQ_STR(token_after(sent(&o, 3), "\nDPoP: "), want);
    /* ath: base64url(SHA-256("token-number-1")) */
    (void)snprintf(jti, sizeof jti, "%s", member(proof(&o, "GET", SERVER "?q=1#f"), "jti"));
    CHECK(strcmp(jti, member(proof(&o, "GET", SERVER), "jti")) != 0);
    CHECK(says(proof(&o, "GET", SERVER "?q=1#f"),
               "\"htm\":\"GET\",\"htu\":\"" SERVER "\",\"iat\":1700000000,"
               "\"ath\":\"whxiQ5Rt74yf1sY44nNS8Rbjiznv0N1-_padkwbjF2g\"} signature"));
    world_end(&o);
}

TEST(nonces_of_both_servers_go_into_the_next_proof) {
    world o;
    signer s;
    int i;
    dpop_init(&o, &s);
    o.nonce = "nonce-of-as";
    world_page_first(&o, "POST " AS "/token", 400, "{\"error\":\"use_dpop_nonce\"}", 1);
    REQUIRE(CHECK(world_begin(&o, SERVER)));
    CHECK_EQ_INT(world_401(&o, "", ""), PHI_BUSY);
    world_step(&o, 30);
    CHECK_EQ_STR(world_header(&o), "DPoP token-number-1");
    REQUIRE(CHECK_EQ_INT(o.w.count, 5));
    CHECK(says(token_after(sent(&o, 4), "\nDPoP: "), "\"nonce\":\"nonce-of-as\"}"));
    CHECK(strcmp(strstr(sent(&o, 3), "\n\n"), strstr(sent(&o, 4), "\n\n")) == 0);
    CHECK(!says(proof(&o, "POST", SERVER), "nonce"));
    /* the server asks for its own, which costs no token */
    for (i = 0; i < 2; i++) {
        phi__oauth_heard(o.oauth, phi_str_of("DPoP-Nonce: nonce-of-rs\r\n"));
        CHECK_EQ_INT(world_401(&o, "WWW-Authenticate: DPoP error=\"use_dpop_nonce\"\r\n",
                               "DPoP token-number-1"),
                     PHI_OK);
        CHECK_EQ_STR(world_header(&o), "DPoP token-number-1");
        CHECK(says(proof(&o, "POST", SERVER), "\"nonce\":\"nonce-of-rs\"}"));
    }
    /* what is no nonce is none */
    phi__oauth_heard(o.oauth, phi_str_of("DPoP-Nonce: a b\r\n"));
    phi__oauth_heard(o.oauth, phi_str_of("DPoP-Nonce: \r\n"));
    CHECK(says(proof(&o, "POST", SERVER), "\"nonce\":\"nonce-of-rs\"}"));
    phi__oauth_heard(o.oauth, phi_str_of("dpop-nonce:next\r\n"));
    CHECK(says(proof(&o, "POST", SERVER), "\"nonce\":\"next\"}"));
    /* any other refusal is one of the token */
    CHECK_EQ_INT(
        world_401(&o, "WWW-Authenticate: DPoP error=\"invalid_token\"\r\n", "DPoP token-number-1"),
        PHI_BUSY);
    world_step(&o, 20);
    CHECK(says(sent(&o, o.w.count - 1), "grant_type=refresh_token"));
    CHECK(says(token_after(sent(&o, o.w.count - 1), "\nDPoP: "), "\"nonce\":\"nonce-of-as\"}"));
    world_end(&o);
}

TEST(a_token_endpoint_that_is_never_content_with_a_nonce_is_asked_twice) {
    world o;
    signer s;
    dpop_init(&o, &s);
    o.nonce = "n";
    world_page_first(&o, "POST " AS "/token", 400, "{\"error\":\"use_dpop_nonce\"}", 0);
    REQUIRE(CHECK(world_begin(&o, SERVER)));
    CHECK_EQ_INT(world_401(&o, "", ""), PHI_BUSY);
    world_step(&o, 40);
    CHECK_EQ_INT(o.status, PHI_REFUSED);
    CHECK_EQ_STR(o.message, "authorization: the token endpoint: HTTP status 400: use_dpop_nonce");
    CHECK_EQ_INT(o.w.count, 5);
    world_end(&o);
}

TEST(a_server_without_the_keys_algorithm_gives_bearer_tokens) {
    world o;
    signer s;
    dpop_init(&o, &s);
    s.key.algorithm = "EdDSA";
    world_page_first(&o, "POST " AS "/token", 200, TOKEN_1, 1);
    REQUIRE(CHECK(world_begin(&o, SERVER)));
    CHECK_EQ_INT(world_401(&o, "", ""), PHI_BUSY);
    world_step(&o, 30);
    CHECK_EQ_STR(world_header(&o), "Bearer token-number-1");
    CHECK(!says(sent(&o, 3), "\nDPoP: "));
    CHECK_EQ_STR(proof(&o, "POST", SERVER), "");
    CHECK_EQ_INT(s.signatures, 0);
    world_end(&o);
    /* a bound token that was not asked for is of no use */
    dpop_init(&o, &s);
    o.desc.dpop_key = NULL;
    REQUIRE(CHECK(world_begin(&o, SERVER)));
    CHECK_EQ_INT(world_401(&o, "", ""), PHI_BUSY);
    world_step(&o, 30);
    CHECK_EQ_STR(o.message,
                 "authorization: the token endpoint gave a token that is no bearer token");
    world_end(&o);
}

TEST(a_stored_token_that_is_bound_needs_the_key) {
    world o;
    signer s;
    dpop_init(&o, &s);
    o.store = store_mem_new();
    o.desc.store = store_mem_store(o.store);
    REQUIRE(CHECK(world_begin(&o, SERVER)));
    CHECK_EQ_INT(world_401(&o, "", ""), PHI_BUSY);
    world_step(&o, 30);
    phi__oauth_free(o.oauth);
    REQUIRE(CHECK(world_make(&o, SERVER)));
    CHECK_EQ_STR(world_header(&o), "DPoP token-number-1");
    CHECK(says(proof(&o, "POST", SERVER), "\"ath\":"));
    /* the refresh proves it, too */
    world_pass_s(&o, 3600);
    CHECK_EQ_STR(world_header(&o), "busy");
    world_step(&o, 20);
    CHECK(says(sent(&o, o.w.count - 1), "\nDPoP: "));
    phi__oauth_free(o.oauth);
    o.desc.dpop_key = NULL;
    REQUIRE(CHECK(world_make(&o, SERVER)));
    CHECK_EQ_STR(world_header(&o), "");
    world_end(&o);
}

TEST(a_proof_that_is_not_signed_fails_the_request) {
    world o;
    signer s;
    phi__buf out;
    dpop_init(&o, &s);
    REQUIRE(CHECK(world_begin(&o, SERVER)));
    CHECK_EQ_INT(world_401(&o, "", ""), PHI_BUSY);
    world_step(&o, 30);
    s.status = PHI_DENIED;
    phi__buf_init(&out, &o.rt->memory);
    CHECK_EQ_INT(phi__oauth_proof(o.oauth, "POST", phi_str_of(SERVER), &out), PHI_DENIED);
    CHECK(says(world_error(&o), "authorization: the key's signature: "));
    phi__buf_free(&out);
    world_end(&o);
}

/* ---- descs ---- */

TEST(what_a_grant_or_a_key_lacks_is_named) {
    phi_mcp_oauth_desc d;
    phi_mcp_key key;
    memset(&key, 0, sizeof key);
    memset(&d, 0, sizeof d);
    d.grant = PHI_MCP_GRANT_CLIENT;
    CHECK_EQ_STR(phi__oauth_refuse(&d),
                 "oauth: grant: client_id, and client_secret or client_key, are needed");
    d.client_id = "a";
    CHECK(phi__oauth_refuse(&d) != NULL);
    d.client_secret = "b";
    CHECK(phi__oauth_refuse(&d) == NULL);
    d.grant = PHI_MCP_GRANT_ASSERTION;
    CHECK_EQ_STR(phi__oauth_refuse(&d), "oauth: grant: want_assertion_fn is needed");
    d.grant = (phi_mcp_grant)3;
    CHECK_EQ_STR(phi__oauth_refuse(&d),
                 "oauth: grant: expected PHI_MCP_GRANT_PERSON, _CLIENT or _ASSERTION");
    d.grant = PHI_MCP_GRANT_PERSON;
    d.client_key = &key;
    CHECK_EQ_STR(phi__oauth_refuse(&d), "oauth: client_key: algorithm and sign are needed");
    key.algorithm = "ES256";
    key.sign = sign;
    CHECK(phi__oauth_refuse(&d) == NULL);
    d.client_id = NULL;
    CHECK_EQ_STR(phi__oauth_refuse(&d), "oauth: client_key: client_id is needed");
    d.client_key = NULL;
    d.dpop_key = &key;
    CHECK_EQ_STR(phi__oauth_refuse(&d),
                 "oauth: dpop_key: jwk: expected a public key as a JSON object");
    key.jwk = "{\"kty\":\"EC\",\"d\":\"private\"}";
    CHECK_EQ_STR(phi__oauth_refuse(&d), "oauth: dpop_key: jwk: it holds a private key");
    key.jwk = "{\"kty\":\"oct\",\"k\":\"private\"}";
    CHECK_EQ_STR(phi__oauth_refuse(&d), "oauth: dpop_key: jwk: it holds a private key");
    key.jwk = JWK;
    CHECK(phi__oauth_refuse(&d) == NULL);
    key.sign = NULL;
    CHECK_EQ_STR(phi__oauth_refuse(&d), "oauth: dpop_key: algorithm and sign are needed");
    d.dpop_key = NULL;
    d.client_secret = NULL;
    d.client_auth = PHI_MCP_CLIENT_AUTH_KEY;
    CHECK_EQ_STR(phi__oauth_refuse(&d), "oauth: client_auth: client_key is needed");
    d.client_auth = PHI_MCP_CLIENT_AUTH_BASIC; /* a registration brings the secret */
    CHECK(phi__oauth_refuse(&d) == NULL);
    d.client_id = "a";
    CHECK_EQ_STR(phi__oauth_refuse(&d), "oauth: client_auth: client_secret is needed");
    d.client_auth = PHI_MCP_CLIENT_AUTH_POST;
    CHECK_EQ_STR(phi__oauth_refuse(&d), "oauth: client_auth: client_secret is needed");
}

TEST(a_desc_with_keys_is_copied) {
    phi_mcp_oauth_desc d;
    const phi_mcp_oauth_desc *copy = NULL;
    char algorithm[] = "ES256", id[] = "one", jwk[] = JWK;
    phi_mcp_key key;
    phi_memory memory;
    phi_arena arena;
    memset(&key, 0, sizeof key);
    memset(&d, 0, sizeof d);
    key.algorithm = algorithm;
    key.id = id;
    key.jwk = jwk;
    key.sign = sign;
    d.client_key = d.dpop_key = &key;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK(phi__oauth_copy(&arena, &d, &copy));
    memset(algorithm, 'x', sizeof algorithm - 1);
    memset(id, 'x', sizeof id - 1);
    memset(jwk, 'x', sizeof jwk - 1);
    memset(&key, 0, sizeof key);
    CHECK_EQ_STR(copy->client_key->algorithm, "ES256");
    CHECK_EQ_STR(copy->client_key->id, "one");
    CHECK_EQ_STR(copy->dpop_key->jwk, JWK);
    CHECK(copy->dpop_key->sign == sign);
    phi_arena_free(&arena);
}

/* ---- memory ---- */

/* 0: a secret, 1: a key, 2: an assertion, 3: a bound token with a nonce. */
static bool poor(int kind, int n) {
    static asserting a;
    signer s;
    world *o = &a.o;
    bool tripped;
    phi__buf out;
    int k;
    signer_init(&s);
    if (kind == 2) {
        asserting_init(&a);
        a.at_once = "assertion-number-1";
    } else if (kind == 3) {
        dpop_init(o, &s);
        o->nonce = "n";
        world_page_first(o, "POST " AS "/token", 400, "{\"error\":\"use_dpop_nonce\"}", 1);
    } else
        client_init(o);
    if (kind == 1) o->desc.client_key = &s.key;
    if (kind == 1) o->desc.client_auth = PHI_MCP_CLIENT_AUTH_KEY;
    if (!CHECK(world_begin(o, SERVER))) return false;
    phi__buf_init(&out, &o->rt->memory);
    test_alloc_fail_at(n);
    if (world_401(o, "WWW-Authenticate: Bearer scope=\"a b\"\r\n", "") == PHI_BUSY)
        world_step(o, 30);
    phi__oauth_heard(o->oauth, phi_str_of("DPoP-Nonce: other\r\n"));
    (void)phi__oauth_proof(o->oauth, "POST", phi_str_of(SERVER), &out);
    tripped = test_alloc_tripped();
    test_alloc_fail_at(-1);
    phi__buf_free(&out);
    for (k = 0; k < 3 && strstr(world_header(o), "token-number") == NULL; k++) {
        if (strcmp(world_header(o), "") == 0) (void)world_401(o, "", "");
        if (kind == 3) (void)world_back(o, "code=code-number-1"); /* it may have been lost */
        world_step(o, 30);
    }
    CHECK(says(world_header(o), kind == 3 ? "DPoP token-number-1" : "Bearer token-number-"));
    world_end(o);
    CHECK_EQ_INT(test_alloc_live_bytes(), 0);
    return tripped && test_failures() == 0;
}

TEST(every_allocation_may_fail) {
    int kind;
    for (kind = 0; kind < 4; kind++) {
        int n = 0;
        while (poor(kind, n)) n++;
        CHECK(n > 20);
    }
}

/* The MCP server names another authorization server. */
static void names_evil(world *o) {
    world_page_first(
        o, PRM "/api/mcp", 200,
        "{\"resource\":\"" SERVER "\",\"authorization_servers\":[\"https://evil.example\"]}", 0);
    world_page_first(o, "GET https://evil.example/.well-known/oauth-authorization-server", 200,
                     "{\"issuer\":\"https://evil.example\","
                     "\"token_endpoint\":\"https://evil.example/token\"}",
                     0);
}

TEST(an_assertion_goes_to_the_issuer_that_it_is_for_alone) {
    int known;
    for (known = 0; known < 2; known++) {
        asserting a;
        asserting_init(&a);
        a.at_once = "assertion-of-the-platform";
        if (known == 0) a.o.desc.issuer = "https://idp.corp";
        REQUIRE(CHECK(world_begin(&a.o, SERVER)));
        CHECK_EQ_INT(world_401(&a.o, "", ""), PHI_BUSY);
        world_step(&a.o, 20);
        CHECK_EQ_INT(a.wanted, known);
        if (known == 1) {
            names_evil(&a.o);
            world_pass_s(&a.o, 61);
            CHECK_EQ_INT(world_401(&a.o, "", world_header(&a.o)), PHI_BUSY);
            world_step(&a.o, 20);
            CHECK_EQ_INT(a.wanted, 1);
        }
        CHECK_EQ_INT(a.o.status, PHI_REFUSED);
        CHECK(says(a.o.message, "authorization: the assertion goes to another issuer than "));
        CHECK(!says(sent(&a.o, a.o.w.count - 1), "assertion-of-the-platform") || known == 1);
        CHECK(!says(sent(&a.o, a.o.w.count - 1), "evil.example/token"));
        world_end(&a.o);
    }
}

TEST(a_secret_goes_to_no_other_issuer_after_signing_out) {
    world o;
    client_init(&o);
    REQUIRE(CHECK(world_begin(&o, SERVER)));
    CHECK_EQ_INT(world_401(&o, "", ""), PHI_BUSY);
    world_step(&o, 20);
    CHECK_EQ_STR(world_header(&o), "Bearer token-number-1");
    names_evil(&o);
    phi__sign_out(o.oauth);
    CHECK_EQ_INT(world_401(&o, "", ""), PHI_BUSY);
    world_step(&o, 20);
    CHECK_EQ_INT(o.status, PHI_REFUSED);
    CHECK(says(o.message, "client_id belongs to another issuer than https://evil.example"));
    CHECK(!says(sent(&o, o.w.count - 1), "evil.example/token"));
    world_end(&o);
}

typedef struct leaver {
    world o;
    bool leaves;
} leaver;

static phi_status sign_and_leave(void *user_data, phi_str bytes, unsigned char *signature,
                                 size_t *len) {
    leaver *l = (leaver *)user_data;
    (void)bytes;
    memcpy(signature, "signature", 9);
    *len = 9;
    if (l->leaves) phi__sign_out(l->o.oauth);
    return PHI_OK;
}

TEST(a_key_may_sign_out_while_it_signs) {
    leaver l;
    phi_mcp_key key;
    size_t count;
    memset(&l, 0, sizeof l);
    memset(&key, 0, sizeof key);
    key.algorithm = "ES256";
    key.sign = sign_and_leave;
    key.user_data = &l;
    client_init(&l.o);
    l.o.desc.client_key = &key;
    l.o.desc.client_auth = PHI_MCP_CLIENT_AUTH_KEY;
    world_page_first(&l.o, "POST " AS "/token", 200, TOKEN_1, 0);
    REQUIRE(CHECK(world_begin(&l.o, SERVER)));
    CHECK_EQ_INT(world_401(&l.o, "", ""), PHI_BUSY);
    world_step(&l.o, 20);
    CHECK_EQ_STR(world_header(&l.o), "Bearer token-number-1");
    world_pass_s(&l.o, 3600);
    l.leaves = true;
    count = l.o.w.count;
    CHECK_EQ_STR(world_header(&l.o), "busy"); /* it is refreshed, which wants a signature */
    world_step(&l.o, 20);
    CHECK_EQ_INT(l.o.w.count, count); /* nothing was sent */
    CHECK_EQ_INT(l.o.status, PHI_CANCELLED);
    CHECK_EQ_STR(world_header(&l.o), "");
    world_end(&l.o);
}

TEST_MAIN(TEST_ENTRY(a_program_with_a_secret_gets_a_token_without_a_person),
          TEST_ENTRY(a_program_is_not_asked_as_a_person_is),
          TEST_ENTRY(a_program_proves_itself_as_the_server_wants),
          TEST_ENTRY(a_key_of_the_host_signs_who_the_client_is),
          TEST_ENTRY(a_key_that_signs_nothing_ends_the_authorization),
          TEST_ENTRY(a_token_of_the_host_stands_for_a_person),
          TEST_ENTRY(an_assertion_comes_with_the_proof_of_a_client),
          TEST_ENTRY(a_refused_assertion_is_not_tried_again_nor_shown),
          TEST_ENTRY(a_host_may_refuse_be_late_or_free_all),
          TEST_ENTRY(a_stored_token_of_an_assertion_is_refreshed_without_one),
          TEST_ENTRY(a_stored_token_serves_whom_it_was_given_for_alone),
          TEST_ENTRY(a_bound_token_comes_with_a_proof_for_each_request),
          TEST_ENTRY(nonces_of_both_servers_go_into_the_next_proof),
          TEST_ENTRY(a_token_endpoint_that_is_never_content_with_a_nonce_is_asked_twice),
          TEST_ENTRY(a_server_without_the_keys_algorithm_gives_bearer_tokens),
          TEST_ENTRY(a_stored_token_that_is_bound_needs_the_key),
          TEST_ENTRY(a_proof_that_is_not_signed_fails_the_request),
          TEST_ENTRY(what_a_grant_or_a_key_lacks_is_named), TEST_ENTRY(a_desc_with_keys_is_copied),
          TEST_ENTRY(an_assertion_goes_to_the_issuer_that_it_is_for_alone),
          TEST_ENTRY(a_secret_goes_to_no_other_issuer_after_signing_out),
          TEST_ENTRY(a_key_may_sign_out_while_it_signs), TEST_ENTRY(every_allocation_may_fail))
