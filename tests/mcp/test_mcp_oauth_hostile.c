/* test_mcp_oauth_hostile.c - servers that lie, point elsewhere, flood or echo secrets: each is
   refused with words, and no secret is in them. */
#include "mcp/oauth_world.h"
#include "record/replay.h"

#include <stdio.h>

/* An authorization whose pages are as given (NULL: as usual) ends with that message, before a
   browser is opened. */
static void refused_at(const char *file_line, const char *headers, const char *resource,
                       const char *server, const char *want) {
    world o;
    world_init(&o);
    if (resource != NULL) world_page_first(&o, PRM "/api/mcp", 200, resource, 0);
    if (server != NULL) world_page_first(&o, META, 200, server, 0);
    REQUIRE(CHECK(world_begin(&o, SERVER)));
    CHECK_EQ_INT(world_401(&o, headers, ""), PHI_BUSY);
    world_step(&o, 40);
    if (!CHECK_EQ_STR(o.message, want)) printf("    of %s\n", file_line);
    CHECK_EQ_INT(o.status, PHI_REFUSED);
    CHECK_EQ_INT(o.opened, 0);
    CHECK_EQ_STR(world_header(&o), "");
    world_end(&o);
}

TEST(challenges_that_point_elsewhere_are_refused) {
    static const struct {
        const char *url, *want;
    } rows[] = {
        {"file:///etc/passwd",
         "authorization: resource_metadata is no address of https: file:///etc/passwd"},
        {"http://mcp.example/x", "authorization: resource_metadata is not https: "
                                 "http://mcp.example/x"},
        {"https://evil.example/x?key=1", "authorization: resource_metadata is of another host: "
                                         "https://evil.example/x"},
        {"https://127.0.0.1/x", "authorization: resource_metadata leads into a private network, "
                                "which the server is not in: https://127.0.0.1/x"},
        {"https://127.99999999999999999999/x", "authorization: resource_metadata is no address of "
                                               "https: https://127.99999999999999999999/x"},
        {"https://u:p@mcp.example/", "authorization: resource_metadata is no address of https: "
                                     "https://u:p@mcp.example/"},
        {"https://mcp.example/a b", "authorization: resource_metadata is no address of https: "
                                    "https://mcp.example/a b"},
    };
    size_t i;
    for (i = 0; i < PHI__COUNT(rows); i++) {
        char headers[300];
        (void)snprintf(headers, sizeof headers,
                       "WWW-Authenticate: Bearer resource_metadata=\"%s\"\r\n", rows[i].url);
        refused_at(rows[i].url, headers, NULL, NULL, rows[i].want);
    }
}

TEST(metadata_about_another_resource_are_refused) {
    static const char *const resources[] = {
        "https://evil.example/api/mcp", "https://mcp.example/api/m",
        "https://mcp.example/api/mcp/x", "http://mcp.example/api/mcp",
        "https://mcp.example:444/api/mcp"};
    size_t i;
    for (i = 0; i < PHI__COUNT(resources); i++) {
        char doc[300], want[300];
        (void)snprintf(doc, sizeof doc,
                       "{\"resource\":\"%s\",\"authorization_servers\":[\"" AS "\"]}",
                       resources[i]);
        (void)snprintf(want, sizeof want,
                       "authorization: the server's metadata are of another resource: %s",
                       resources[i]);
        refused_at(resources[i], "", doc, NULL, want);
    }
}

TEST(issuers_in_private_networks_are_refused) {
    static const char *const issuers[] = {
        "https://10.0.0.1",         "https://172.31.1.1/x", "https://192.168.1.1",
        "https://169.254.169.254",  "https://127.1",        "https://2130706433",
        "https://0x7f.0.0.1",       "https://0177.0.0.1",   "https://[::1]",
        "https://[fe80::1]",        "https://[fd00::1]",    "https://[::ffff:10.0.0.1]",
        "https://[64:ff9b::a00:1]", "https://localhost",    "https://a.localhost",
        "https://intranet",         "https://db.internal",  "https://printer.local.",
        "https://100.64.0.1",       "https://0.0.0.0"};
    size_t i;
    for (i = 0; i < PHI__COUNT(issuers); i++) {
        char doc[300], want[300];
        (void)snprintf(doc, sizeof doc,
                       "{\"resource\":\"" SERVER "\",\"authorization_servers\":[\"%s\"]}",
                       issuers[i]);
        (void)snprintf(
            want, sizeof want,
            "authorization: the issuer leads into a private network, which the server is "
            "not in: %s",
            issuers[i]);
        refused_at(issuers[i], "", doc, NULL, want);
    }
}

TEST(servers_of_the_wrong_kind_are_refused) {
    static const struct {
        const char *server, *want;
    } rows[] = {
        {"{\"issuer\":\"https://evil.example\",\"authorization_endpoint\":\"" AS
         "/authorize\",\"token_endpoint\":\"" AS "/token\"}",
         "authorization: the metadata of " AS " are of another issuer: https://evil.example"},
        {"{\"issuer\":\"" AS "/\",\"authorization_endpoint\":\"" AS
         "/authorize\",\"token_endpoint\":\"" AS "/token\"}",
         "authorization: the metadata of " AS " are of another issuer: " AS "/"},
        {"{\"issuer\":\"" AS "\",\"authorization_endpoint\":\"" AS
         "/authorize\",\"token_endpoint\":\"" AS
         "/token\",\"code_challenge_methods_supported\":[\"plain\"]}",
         "authorization: " AS " does not support PKCE with S256: code_challenge_methods_supported"},
        {"{\"issuer\":\"" AS "\",\"authorization_endpoint\":\"javascript:alert(1)\","
         "\"token_endpoint\":\"" AS "/token\",\"code_challenge_methods_supported\":[\"S256\"]}",
         "authorization: authorization_endpoint is no address of https: javascript:alert(1)"},
        {"{\"issuer\":\"" AS "\",\"authorization_endpoint\":\"" AS
         "/authorize\",\"token_endpoint\":\"http://auth.example/"
         "token\",\"code_challenge_methods_supported\":[\"S256\"]}",
         "authorization: token_endpoint is not https: http://auth.example/token"},
        {SERVER_HEAD ",\"registration_endpoint\":\"https://10.1.2.3/\"}",
         "authorization: registration_endpoint leads into a private network, which the server is "
         "not "
         "in: https://10.1.2.3/"},
        {"{\"issuer\":7,\"authorization_endpoint\":\"" AS "\"}",
         "authorization: the authorization server's metadata names no issuer"},
        {"{\"issuer\":\"" AS "\"}",
         "authorization: the authorization server's metadata names no authorization_endpoint"},
        {"{\"issuer\":\"" AS "\",\"authorization_endpoint\":\"" AS "\"}",
         "authorization: the authorization server's metadata names no token_endpoint"},
        {"[]", "authorization: the authorization server's metadata is no JSON object"},
        {SERVER_HEAD "}", "authorization: " AS " registers no clients: set client_id"},
        {SERVER_HEAD ",\"token_endpoint_auth_methods_supported\":[\"private_key_jwt\"],"
                     "\"registration_endpoint\":\"" AS "/register\"}",
         "authorization: the token endpoint takes no method that phi has: none, "
         "client_secret_basic or client_secret_post"},
    };
    size_t i;
    for (i = 0; i < PHI__COUNT(rows); i++)
        refused_at(rows[i].want, "", NULL, rows[i].server, rows[i].want);
}

TEST(documents_that_are_none_are_refused) {
    static char deep[3000];
    char *huge = (char *)malloc(400001);
    world o;
    REQUIRE(huge != NULL);
    memset(deep, '[', sizeof deep - 1);
    world_init(&o);
    world_page_first(&o, PRM, 200, deep, 0);
    world_page_first(&o, PRM "/api/mcp", 200, "<html>", 0);
    REQUIRE(CHECK(world_begin(&o, SERVER)));
    CHECK_EQ_INT(world_401(&o, "", ""), PHI_BUSY);
    world_step(&o, 20);
    CHECK_EQ_STR(o.message,
                 "authorization: the server's metadata is no JSON, or nested too deeply");
    world_end(&o);
    memset(huge, ' ', 400000);
    huge[400000] = '\0';
    world_init(&o);
    world_page_first(&o, PRM "/api/mcp", 200, huge, 0);
    REQUIRE(CHECK(world_begin(&o, SERVER)));
    CHECK_EQ_INT(world_401(&o, "", ""), PHI_BUSY);
    world_step(&o, 60);
    CHECK_EQ_INT(o.status, PHI_TOO_BIG);
    CHECK_EQ_STR(o.message,
                 "authorization: the server's metadata: the answer is larger than 262144 "
                 "bytes");
    world_end(&o);
    free(huge);
}

TEST(answers_of_the_browser_are_checked) {
    static const struct {
        bool names;
        const char *back, *want;
    } rows[] = {
        {false, "code=x&iss=https%3A%2F%2Fevil.example",
         "authorization: the redirect comes from another issuer"},
        {false, "code=x&iss=https%3A%2F%2Fauth.example%2F",
         "authorization: the redirect comes from another issuer"},
        {false, "error=evil&error_description=read+this&iss=https://evil.example",
         "authorization: the redirect comes from another issuer"},
        {true, "code=x", "authorization: the redirect does not name its issuer"},
        {true, "error=access_denied&iss=https%3A%2F%2Fauth.example",
         "authorization: access_denied"},
        {false, "error=server_error&error_description=come%0aback+later",
         "authorization: server_error: come?back later"},
        {false, "x=1", "authorization: the redirect has no code"},
        {false, "code=", "authorization: the redirect has no code"},
        {false, "code=1&code=2", "authorization: the redirect has no code"},
        {false, "code=%zz", "authorization: the redirect has no code"},
    };
    size_t i;
    for (i = 0; i < PHI__COUNT(rows); i++) {
        world o;
        world_init(&o);
        if (rows[i].names)
            world_page_first(&o, META, 200,
                             SERVER_HEAD ",\"registration_endpoint\":\"" AS "/register\","
                                         "\"authorization_response_iss_parameter_supported\":true}",
                             0);
        REQUIRE(CHECK(world_begin(&o, SERVER)));
        CHECK_EQ_INT(world_401(&o, "", ""), PHI_BUSY);
        world_step(&o, 20);
        CHECK_EQ_INT(world_back(&o, rows[i].back), PHI_OK);
        world_step(&o, 5);
        CHECK_EQ_STR(o.message, rows[i].want);
        CHECK_EQ_INT(o.status, i == 4 ? PHI_DENIED : PHI_REFUSED);
        CHECK_EQ_INT(o.w.count, 3);
        world_end(&o);
    }
}

TEST(a_redirect_of_another_authorization_changes_nothing) {
    static const char *const urls[] = {
        "https://app.example/back?code=x&state=4JLBUm9OG7ueITLfFWUqqhF-XOkjgHsSQ3FVKiIC72Z",
        "https://app.example/back?code=x&state=", "https://app.example/back?code=x",
        "https://app.example/back?code=x&state=4JLB"};
    size_t i;
    world o;
    world_init(&o);
    REQUIRE(CHECK(world_begin(&o, SERVER)));
    CHECK_EQ_INT(world_401(&o, "", ""), PHI_BUSY);
    world_step(&o, 20);
    for (i = 0; i < PHI__COUNT(urls); i++) {
        CHECK_EQ_INT(phi__oauth_redirected(o.oauth, phi_str_of(urls[i])), PHI_REFUSED);
        CHECK_EQ_STR(world_error(&o), "authorization: the redirect belongs to another one");
    }
    CHECK_EQ_INT(phi__oauth_redirected(o.oauth, phi_str_of("https://app.example/back")),
                 PHI_BAD_ARG);
    world_step(&o, 5);
    CHECK_EQ_INT(o.changed, 0);
    CHECK_EQ_INT(world_back(&o, "code=code-number-1"), PHI_OK);
    world_step(&o, 5);
    CHECK_EQ_STR(world_header(&o), "Bearer token-number-1");
    world_end(&o);
}

TEST(tokens_that_cannot_be_sent_are_refused) {
    static const struct {
        int status;
        const char *body, *want;
    } rows[] = {
        {200, "{\"access_token\":\"a\\r\\nX: y\"}",
         "authorization: the token endpoint: HTTP status 200, no token"},
        {200, "{\"access_token\":\"a\",\"token_type\":\"mac\"}",
         "authorization: the token endpoint gave a token that is no bearer token"},
        {200, "{\"access_token\":7}",
         "authorization: the token endpoint: HTTP status 200, no token"},
        {200, "[", "authorization: the token endpoint: HTTP status 200, no token"},
        {302, "", "authorization: the token endpoint: HTTP status 302, no token"},
        {400, "{\"error\":\"invalid_grant\",\"error_description\":\"code\\u001b[31m\"}",
         "authorization: the token endpoint: HTTP status 400: invalid_grant: code?[31m"},
    };
    size_t i;
    for (i = 0; i < PHI__COUNT(rows); i++) {
        world o;
        world_init(&o);
        world_page_first(&o, "POST " AS "/token", rows[i].status, rows[i].body, 0);
        REQUIRE(CHECK(world_begin(&o, SERVER)));
        world_authorize(&o);
        CHECK_EQ_STR(o.message, rows[i].want);
        CHECK_EQ_INT(o.status, PHI_REFUSED);
        CHECK_EQ_STR(world_header(&o), "");
        world_end(&o);
    }
}

TEST(secrets_that_a_server_echoes_are_hidden) {
    char body[600];
    world o;
    world_init(&o);
    o.desc.client_id = "mine";
    o.desc.client_secret = "a-client-secret";
    world_page_first(&o, META, 200, SERVER_HEAD "}", 0);
    REQUIRE(CHECK(world_begin(&o, SERVER)));
    CHECK_EQ_INT(world_401(&o, "", ""), PHI_BUSY);
    world_step(&o, 20);
    (void)snprintf(body, sizeof body,
                   "{\"error\":\"invalid_grant\",\"error_description\":\"code-number-1 "
                   "a-client-secret %s\"}",
                   world_value(&o, "state"));
    world_page_first(&o, "POST " AS "/token", 400, body, 0);
    CHECK_EQ_INT(world_back(&o, "code=code-number-1"), PHI_OK);
    world_step(&o, 5);
    CHECK_EQ_STR(o.message,
                 "authorization: the token endpoint: HTTP status 400: invalid_grant: "
                 "************* *************** *******************************************");
    world_end(&o);
}

/* A message shows the beginning of what a server says: not the beginning of a secret, either. */
TEST(secrets_are_hidden_before_a_message_is_cut) {
    static const char filler[] = "0123456789 0123456789 0123456789 0123456789 012345";
    char text[600];
    int i;
    for (i = 0; i < 2; i++) { /* of the token endpoint, or of the browser */
        world o;
        world_init(&o);
        o.desc.client_id = "an id";
        o.desc.client_secret = "a-client-secret";
        world_page_first(&o, META, 200, SERVER_HEAD "}", 0);
        REQUIRE(CHECK(world_begin(&o, SERVER)));
        CHECK_EQ_INT(world_401(&o, "", ""), PHI_BUSY);
        world_step(&o, 20);
        (void)snprintf(text, sizeof text,
                       i == 0 ? "{\"error\":\"%s a-client-secret\",\"error_description\":\"sorry\"}"
                              : "error=%s%%20a-client-secret&error_description=sorry",
                       filler);
        world_page_first(&o, "POST " AS "/token", 400, text, 0);
        CHECK_EQ_INT(world_back(&o, i == 0 ? "code=code-number-1" : text), PHI_OK);
        world_step(&o, 5);
        CHECK(strstr(o.message, "012345 *********: sorry") != NULL);
        world_end(&o);
    }
}

/* ---- memory ---- */

static int leaked;

static void look_for_secrets(const char *at, size_t n) {
    static const char *const secrets[] = {"token-number-1", "refresh-number-1", "code-number-1",
                                          "a-client-secret"};
    phi_str text = phi__str(at, n);
    size_t i;
    for (i = 0; i < PHI__COUNT(secrets); i++)
        if (phi__str_find(text, 0, secrets[i]) != SIZE_MAX) leaked++;
}

static void *looking_realloc(void *user_data, void *ptr, size_t old_bytes, size_t new_bytes) {
    phi_allocator under = test_allocator();
    (void)user_data;
    if (ptr != NULL) look_for_secrets((const char *)ptr, old_bytes);
    return under.realloc_fn(under.user_data, ptr, old_bytes, new_bytes);
}

TEST(memory_that_is_given_back_holds_no_secret) {
    phi__oauth_listener listener;
    phi_allocator looking;
    phi_memory memory;
    world o;
    leaked = 0;
    looking.realloc_fn = looking_realloc;
    looking.user_data = NULL;
    phi_memory_init(&memory, &looking, 0);
    world_init(&o);
    o.desc.client_id = "mine";
    o.desc.client_secret = "a-client-secret";
    world_page_first(&o, META, 200, SERVER_HEAD "}", 0);
    REQUIRE(CHECK(world_begin(&o, SERVER)));
    phi__oauth_free(o.oauth);
    listener.changed = world_changed;
    listener.ctx = &o;
    CHECK_EQ_INT(
        phi__oauth_new(o.rt, &memory, &o.desc, phi_str_of(SERVER), "phi", &listener, &o.oauth),
        PHI_OK);
    world_authorize(&o);
    CHECK_EQ_STR(world_header(&o), "Bearer token-number-1");
    world_pass_s(&o, 4000);
    CHECK_EQ_STR(world_header(&o), "busy");
    world_step(&o, 10);
    CHECK_EQ_STR(world_header(&o), "Bearer token-number-1");
    world_end(&o);
    CHECK_EQ_INT(leaked, 0);
    CHECK_EQ_INT(memory.used_bytes, 0);
}

/* ---- tapes ---- */

static phi_status tape_write(void *user_data, const char *bytes, size_t len) {
    phi__buf_add((phi__buf *)user_data, bytes, len);
    return PHI_OK;
}

TEST(a_tape_has_no_secret_and_none_follows_from_its_seed) {
    static const char *const secrets[] = {"token-number-1", "refresh-number-1", "code-number-1",
                                          "client-number-1"};
    char states[2][100];
    int i;
    for (i = 0; i < 2; i++) {
        phi_runtime_desc desc;
        phi_tape_desc tape;
        phi_memory memory;
        phi__buf text;
        size_t k;
        world o;
        phi_memory_init(&memory, NULL, 0);
        phi__buf_init(&text, &memory);
        memset(&tape, 0, sizeof tape);
        memset(&desc, 0, sizeof desc);
        tape.write_fn = tape_write;
        tape.user_data = &text;
        tape.whole_bodies = true;
        world_init(&o);
        desc.random_fn = world_random_of_wires;
        desc.tape = phi_tape_record(&tape);
        o.rt = wires_runtime(&o.w, &desc);
        REQUIRE(CHECK(o.rt != NULL && world_make(&o, SERVER)));
        world_authorize(&o);
        CHECK_EQ_STR(world_header(&o), "Bearer token-number-1");
        (void)snprintf(states[i], sizeof states[i], "%s", world_value(&o, "state"));
        world_end(&o);
        CHECK_EQ_INT(phi_tape_end(desc.tape, NULL), PHI_OK);
        phi_tape_free(desc.tape);
        CHECK(text.len > 0);
        for (k = 0; k < PHI__COUNT(secrets); k++)
            CHECK_EQ_INT(phi__str_find(phi__buf_str(&text), 0, secrets[k]), SIZE_MAX);
        CHECK_EQ_INT(phi__str_find(phi__buf_str(&text), 0, states[i]), SIZE_MAX);
        phi__buf_free(&text);
    }
    CHECK(strcmp(states[0], states[1]) != 0); /* though both seeds are the same */
}

TEST(a_token_never_goes_over_plain_http_to_another_machine) {
    static const char *const urls[] = {"http://mcp.example/mcp",
                                       "http://10.0.0.1/mcp",
                                       "ftp://mcp.example/",
                                       "https://u@mcp.example/mcp",
                                       "https://mcp.example/mcp#x",
                                       "https://",
                                       ""};
    size_t i;
    world o;
    world_init(&o);
    REQUIRE(CHECK(world_begin(&o, "http://127.0.0.1:8080/mcp")));
    phi__oauth_free(o.oauth);
    for (i = 0; i < PHI__COUNT(urls); i++) {
        CHECK(!world_make(&o, urls[i]));
        CHECK(o.oauth == NULL);
        CHECK_EQ_STR(world_error(&o),
                     "authorization: url: expected https, or http on this machine");
    }
    world_end(&o);
}

TEST_MAIN(TEST_ENTRY(challenges_that_point_elsewhere_are_refused),
          TEST_ENTRY(metadata_about_another_resource_are_refused),
          TEST_ENTRY(issuers_in_private_networks_are_refused),
          TEST_ENTRY(servers_of_the_wrong_kind_are_refused),
          TEST_ENTRY(documents_that_are_none_are_refused),
          TEST_ENTRY(answers_of_the_browser_are_checked),
          TEST_ENTRY(a_redirect_of_another_authorization_changes_nothing),
          TEST_ENTRY(tokens_that_cannot_be_sent_are_refused),
          TEST_ENTRY(secrets_that_a_server_echoes_are_hidden),
          TEST_ENTRY(secrets_are_hidden_before_a_message_is_cut),
          TEST_ENTRY(memory_that_is_given_back_holds_no_secret),
          TEST_ENTRY(a_tape_has_no_secret_and_none_follows_from_its_seed),
          TEST_ENTRY(a_token_never_goes_over_plain_http_to_another_machine))
