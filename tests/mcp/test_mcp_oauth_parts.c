/* test_mcp_oauth_parts.c - addresses, sets of scopes, challenges and forms of an authorization. */
#include "mcp/mcp_oauth_client_in.h"
#include "support/test.h"

static phi_memory memory;
static phi_arena arena;

static void begin(void) {
    phi_allocator allocator = test_allocator();
    phi_memory_init(&memory, &allocator, 0);
    phi_arena_init(&arena, &memory, 0);
}

static void finish(void) {
    phi_arena_free(&arena);
    CHECK_EQ_INT(memory.used_bytes, 0);
}

TEST(addresses_are_taken_apart) {
    phi__oauth_url url;
    CHECK(phi__url_read(phi_str_of("HTTPS://Mcp.Example:8443/a/b?c=%20d"), &url));
    CHECK_STR(url.origin, "HTTPS://Mcp.Example:8443");
    CHECK_STR(url.host, "Mcp.Example");
    CHECK_STR(url.path, "/a/b");
    CHECK_STR(url.query, "c=%20d");
    CHECK_EQ_INT(url.port, 8443);
    CHECK(url.https);
    CHECK(phi__url_read(phi_str_of("http://[::1]?x"), &url));
    CHECK_STR(url.host, "[::1]");
    CHECK_EQ_INT(url.port, 80);
    CHECK_STR(url.path, "");
    CHECK_EQ_INT(url.reach, PHI__OAUTH_LOOPBACK);
}

TEST(what_is_no_address_is_refused) {
    static const char *const rows[] = {
        "",
        "https",
        "https://",
        "https:///a",
        "https://:443/",
        "https://h:0/",
        "https://h:65536/",
        "https://h:123456/",
        "https://h:/",
        "https://h:8x/",
        "https://h/a b",
        "https://h/%2",
        "https://h/%zz",
        "https://h/\"",
        "https://h/<",
        "https://h/`",
        "https://h\\a/",
        "https://h#f",
        "https://u@h/",
        "ftp://h/",
        "javascript://h/",
        "https://[::1/",
        "https://[]/",
        "https://[1]/",
        "https://[:1]/",
        "https://[1:]/",
        "https://[1:2:3:4:5:6:7:8:9]/",
        "https://[::1::]/",
        "https://[12345::]/",
        "https://[g::]/",
        "https://[::1%25eth0]/",
        "https://[1:2:3:4:5:6:7:8::]/",
        "https://[::1.2.3]x/",
        "https://1.2.3.4.5/",
        "https://256.0.0.1/",
        "https://1.256.1/",
        "https://4294967296/",
        "https://0x1ffffffff/",
        "https://a.09/",
        "https://./",
        "https://.a/",
        "https://\xc3\xa9/",
    };
    char longer[3000];
    phi__oauth_url url;
    size_t i;
    for (i = 0; i < PHI__COUNT(rows); i++)
        if (!CHECK(!phi__url_read(phi_str_of(rows[i]), &url))) printf("%s\n", rows[i]);
    memset(longer, 'a', sizeof longer);
    memcpy(longer, "https://h/", 10);
    CHECK(phi__url_read(phi__str(longer, 2048), &url));
    CHECK(!phi__url_read(phi__str(longer, 2049), &url));
}

TEST(addresses_lead_as_far_as_their_hosts) {
    static const struct {
        const char *host;
        phi__oauth_reach reach;
    } rows[] = {{"example.com", PHI__OAUTH_PUBLIC},
                {"example.com.", PHI__OAUTH_PUBLIC},
                {"10.example.com", PHI__OAUTH_PUBLIC},
                {"9.255.255.255", PHI__OAUTH_PUBLIC},
                {"11.0.0.0", PHI__OAUTH_PUBLIC},
                {"172.15.0.1", PHI__OAUTH_PUBLIC},
                {"172.32.0.1", PHI__OAUTH_PUBLIC},
                {"192.169.0.1", PHI__OAUTH_PUBLIC},
                {"[2606:4700::1]", PHI__OAUTH_PUBLIC},
                {"[::ffff:8.8.8.8]", PHI__OAUTH_PUBLIC},
                {"[2002:0808:0808::]", PHI__OAUTH_PUBLIC},
                {"[2002:0a00:0001::]", PHI__OAUTH_PRIVATE},
                {"[1:2:3:4:5:6:7:8]", PHI__OAUTH_PRIVATE},
                {"[ff02::1]", PHI__OAUTH_PRIVATE},
                {"[fc00::]", PHI__OAUTH_PRIVATE},
                {"10.0.0.1.", PHI__OAUTH_PRIVATE},
                {"012.0.0.1", PHI__OAUTH_PRIVATE},
                {"0xa000001", PHI__OAUTH_PRIVATE},
                {"10.1", PHI__OAUTH_PRIVATE},
                {"172.16.0.0", PHI__OAUTH_PRIVATE},
                {"192.168.255.255", PHI__OAUTH_PRIVATE},
                {"198.19.0.1", PHI__OAUTH_PRIVATE},
                {"224.0.0.1", PHI__OAUTH_PRIVATE},
                {"255.255.255.255", PHI__OAUTH_PRIVATE},
                {"HOST", PHI__OAUTH_PRIVATE},
                {"a.LOCAL", PHI__OAUTH_PRIVATE},
                {"LocalHost", PHI__OAUTH_LOOPBACK},
                {"x.localhost.", PHI__OAUTH_LOOPBACK},
                {"127.255.255.254", PHI__OAUTH_LOOPBACK},
                {"0", PHI__OAUTH_LOOPBACK},
                {"[::]", PHI__OAUTH_LOOPBACK},
                {"[0:0:0:0:0:0:0:1]", PHI__OAUTH_LOOPBACK},
                {"[::127.0.0.1]", PHI__OAUTH_LOOPBACK},
                {"[::ffff:7f00:1]", PHI__OAUTH_LOOPBACK}};
    char text[200];
    phi__oauth_url url;
    size_t i;
    for (i = 0; i < PHI__COUNT(rows); i++) {
        (void)snprintf(text, sizeof text, "https://%s/", rows[i].host);
        if (!CHECK(phi__url_read(phi_str_of(text), &url)) ||
            !CHECK_EQ_INT(url.reach, rows[i].reach))
            printf("    of %s\n", rows[i].host);
    }
}

TEST(servers_lead_no_further_in_than_they_are) {
    static const char *const at[] = {"https://h.example/", "https://10.0.0.1/",
                                     "https://127.0.0.1/", "http://127.0.0.1/"};
    phi__oauth_url server;
    size_t i, k;
    for (i = 0; i < 4; i++) {
        CHECK(phi__url_read(phi_str_of(at[i]), &server));
        for (k = 0; k < 4; k++) {
            bool fine = k < 3 ? k <= i : i == 3;
            CHECK((phi__url_fault(&server, phi_str_of(at[k]), false) == NULL) == fine);
            CHECK((phi__url_fault(&server, phi_str_of(at[k]), true) == NULL) == (k < 3 || i == 3));
        }
    }
}

TEST(a_resource_is_the_server_s_address_or_one_above_it) {
    static const struct {
        const char *resource;
        bool covers;
    } rows[] = {{"https://h.example/a/b", true},    {"https://h.example/a/b/", true},
                {"https://h.example/a", true},      {"https://h.example/", true},
                {"https://H.EXAMPLE:443", true},    {"https://h.example/x", false},
                {"https://h.example/a/b/c", false}, {"https://h.example/a/", true},
                {"https://h.example/a/bb", false},  {"https://h.example/a/b?q", false},
                {"http://h.example/a/b", false},    {"https://h.example.evil/a/b", false},
                {"https://h.example:444/a", false}, {"h.example", false}};
    phi__oauth_url server;
    size_t i;
    CHECK(phi__url_read(phi_str_of("https://h.example/a/b"), &server));
    for (i = 0; i < PHI__COUNT(rows); i++)
        if (!CHECK(phi__url_covers(phi_str_of(rows[i].resource), &server) == rows[i].covers))
            printf("    of %s\n", rows[i].resource);
}

static void resource_is(const char *url, const char *want) {
    phi__oauth_url parts;
    phi__buf out;
    phi__buf_init(&out, &memory);
    CHECK(phi__url_read(phi_str_of(url), &parts));
    phi__url_put_resource(&out, &parts);
    CHECK_STR(phi__buf_str(&out), want);
    phi__buf_free(&out);
}

TEST(resources_are_written_in_one_way) {
    begin();
    resource_is("HTTPS://H.Example/A/", "https://h.example/A");
    resource_is("https://h.example/", "https://h.example");
    resource_is("https://h.example", "https://h.example");
    resource_is("https://h.example/a/?B=1", "https://h.example/a/?B=1");
    finish();
}

TEST(well_known_addresses_come_in_their_order) {
    phi__oauth_url url;
    phi_str known[PHI__OAUTH_KNOWN];
    begin();
    CHECK(phi__url_read(phi_str_of("https://h.example/t/1/"), &url));
    CHECK_EQ_INT(phi__url_resources(&arena, &url, known), 2);
    CHECK_STR(known[0], "https://h.example/.well-known/oauth-protected-resource/t/1");
    CHECK_STR(known[1], "https://h.example/.well-known/oauth-protected-resource");
    CHECK_EQ_INT(phi__url_servers(&arena, &url, known), 3);
    CHECK_STR(known[0], "https://h.example/.well-known/oauth-authorization-server/t/1");
    CHECK_STR(known[1], "https://h.example/.well-known/openid-configuration/t/1");
    CHECK_STR(known[2], "https://h.example/t/1/.well-known/openid-configuration");
    CHECK(phi__url_read(phi_str_of("https://h.example/"), &url));
    CHECK_EQ_INT(phi__url_resources(&arena, &url, known), 1);
    CHECK_EQ_INT(phi__url_servers(&arena, &url, known), 2);
    CHECK_STR(known[0], "https://h.example/.well-known/oauth-authorization-server");
    CHECK_STR(known[1], "https://h.example/.well-known/openid-configuration");
    finish();
}

TEST(values_of_a_query_are_found_once) {
    phi_str query = phi_str_of("code=a%2Bb+c&codex=1&empty=&bare&twice=1&twice=2&bad=%g0&cut=%4");
    phi_str value;
    begin();
    CHECK_EQ_INT(phi__url_get(&arena, query, "code", &value), PHI_OK);
    CHECK_STR(value, "a+b c");
    CHECK_EQ_INT(phi__url_get(&arena, query, "empty", &value), PHI_OK);
    CHECK_STR(value, "");
    CHECK_EQ_INT(phi__url_get(&arena, query, "bare", &value), PHI_OK);
    CHECK_STR(value, "");
    CHECK_EQ_INT(phi__url_get(&arena, query, "cod", &value), PHI_NOT_FOUND);
    CHECK_EQ_INT(phi__url_get(&arena, query, "twice", &value), PHI_PARSE);
    CHECK_EQ_INT(phi__url_get(&arena, query, "bad", &value), PHI_PARSE);
    CHECK_EQ_INT(phi__url_get(&arena, query, "cut", &value), PHI_PARSE);
    finish();
}

TEST(sets_of_scopes_have_each_once_and_an_end) {
    char many[4000];
    size_t i, n = 0;
    phi__buf set;
    begin();
    phi__buf_init(&set, &memory);
    phi__oauth_join(&set, phi_str_of("  b a  b \"c\" d\\ \x7f e\tf "));
    CHECK_STR(phi__buf_str(&set), "b a");
    phi__oauth_join(&set, phi_str_of("a c"));
    CHECK_STR(phi__buf_str(&set), "b a c");
    CHECK(phi__oauth_has(phi__buf_str(&set), phi_str_of("c")));
    CHECK(!phi__oauth_has(phi_str_of("read:all"), phi_str_of("read")));
    CHECK(phi__oauth_has_all(phi_str_of("a b c"), phi_str_of("c a")));
    CHECK(!phi__oauth_has_all(phi_str_of("a b"), phi_str_of("a x")));
    CHECK(phi__oauth_has_all(phi_str_of(""), phi_str_of(" ")));
    for (i = 0; i < 400; i++) n += (size_t)snprintf(many + n, sizeof many - n, "s%u ", (unsigned)i);
    phi__oauth_join(&set, phi__str(many, n));
    CHECK(phi__oauth_has(phi__buf_str(&set), phi_str_of("s124")));
    CHECK(!phi__oauth_has(phi__buf_str(&set), phi_str_of("s125")));
    phi__buf_free(&set);
    memset(many, 'x', sizeof many);
    phi__oauth_join(&set, phi__str(many, sizeof many));
    phi__oauth_join(&set, phi__str(many, 200));
    CHECK_EQ_INT(set.len, sizeof many);
    phi__buf_free(&set);
    finish();
}

TEST(challenges_are_read_however_they_are_written) {
    static const struct {
        const char *headers;
        bool bearer;
        const char *scope, *metadata, *error;
    } rows[] = {
        {"", false, "", "", ""},
        {"WWW-Authenticate: Bearer\r\n", true, "", "", ""},
        {"WWW-Authenticate\r\n", false, "", "", ""},
        {"X: Bearer scope=a\r\n", false, "", "", ""},
        {"WWW-Authenticate: Basic scope=a, Digest scope=\"b\"\r\n", false, "", "", ""},
        {"WWW-Authenticate: BEARER Scope = \"a b\" , ERROR=x\r\n", true, "a b", "", "x"},
        {"WWW-Authenticate: Negotiate abc==, Bearer scope=a\r\n", true, "a", "", ""},
        {"WWW-Authenticate: Bearer scope=\"a\\\"b\", error=\"c, scope=d\"\r\n", true, "a\"b", "",
         "c, scope=d"},
        {"WWW-Authenticate: Bearer scope=a, scope=b\r\n", true, "a", "", ""},
        {"WWW-Authenticate: Basic realm=r\r\nwww-authenticate:Bearer resource_metadata=\"u\"\r\n",
         true, "", "u", ""},
        {"WWW-Authenticate: Bearer scope=\"open\r\n", true, "open", "", ""},
        {"WWW-Authenticate: Bearer \"lost\", scope=a\r\n", true, "a", "", ""},
        {"WWW-Authenticate: Bearer scope=a, Basic scope=b, error=c\r\n", true, "a", "", ""}};
    phi__oauth_dare dare;
    size_t i;
    begin();
    for (i = 0; i < PHI__COUNT(rows); i++) {
        CHECK(phi__oaw_challenge(&arena, phi_str_of(rows[i].headers), &dare));
        if (!CHECK(dare.bearer == rows[i].bearer) || !CHECK_STR(dare.scope, rows[i].scope) ||
            !CHECK_STR(dare.resource_metadata, rows[i].metadata) ||
            !CHECK_STR(dare.error, rows[i].error))
            printf("    of %s", rows[i].headers);
    }
    finish();
}

TEST(the_challenge_of_a_verifier_is_that_of_rfc_7636) {
    phi__oauth_client client;
    phi__oauth_ask ask;
    phi__buf out;
    begin();
    memset(&client, 0, sizeof client);
    memset(&ask, 0, sizeof ask);
    ask.verifier = phi_str_of("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk");
    phi__buf_init(&out, &memory);
    phi__form_authorize(&out, phi_str_of("https://h.example/a'$(b)?x=1"), &client, &ask);
    CHECK_STR(phi__buf_str(&out),
              "https://h.example/a%27%24%28b%29?x=1&response_type=code&client_id=&redirect_uri="
              "&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
              "&code_challenge_method=S256&state=&resource=");
    phi__buf_free(&out);
    finish();
}

TEST(answers_with_odd_numbers_are_read) {
    static const struct {
        const char *text;
        int64_t want;
    } rows[] = {{"{\"expires_in\":3600}", 3600},
                {"{\"expires_in\":\"3600\"}", 3600},
                {"{\"expires_in\":3599.9}", 3599},
                {"{\"expires_in\":0}", 0},
                {"{\"expires_in\":-1}", INT64_MAX},
                {"{\"expires_in\":1e300}", INT64_MAX},
                {"{\"expires_in\":\"x\"}", INT64_MAX},
                {"{\"expires_in\":null}", INT64_MAX},
                {"{}", INT64_MAX},
                {"[3600]", INT64_MAX}};
    phi__oauth_reply reply;
    phi__oauth_client client;
    size_t i;
    begin();
    for (i = 0; i < PHI__COUNT(rows); i++) {
        CHECK(phi__form_reply(&arena, phi_str_of(rows[i].text), &reply));
        CHECK_EQ_INT(reply.lifetime_s, rows[i].want);
    }
    memset(&client, 0, sizeof client);
    client.method = PHI__OAUTH_POST;
    CHECK(phi__form_client(&arena,
                           phi_str_of("{\"client_id\":\"a\",\"client_secret\":\"b\","
                                      "\"client_secret_expires_at\":1700000000}"),
                           &client));
    CHECK_EQ_INT(client.method, PHI__OAUTH_POST);
    CHECK_EQ_INT(client.until_ms, 1700000000000);
    CHECK(phi__form_client(
        &arena, phi_str_of("{\"client_id\":\"a\",\"client_secret_expires_at\":0}"), &client));
    CHECK_EQ_INT(client.method, PHI__OAUTH_NONE);
    CHECK_EQ_INT(client.until_ms, INT64_MAX);
    finish();
}

TEST_MAIN(TEST_ENTRY(addresses_are_taken_apart), TEST_ENTRY(what_is_no_address_is_refused),
          TEST_ENTRY(addresses_lead_as_far_as_their_hosts),
          TEST_ENTRY(servers_lead_no_further_in_than_they_are),
          TEST_ENTRY(a_resource_is_the_server_s_address_or_one_above_it),
          TEST_ENTRY(resources_are_written_in_one_way),
          TEST_ENTRY(well_known_addresses_come_in_their_order),
          TEST_ENTRY(values_of_a_query_are_found_once),
          TEST_ENTRY(sets_of_scopes_have_each_once_and_an_end),
          TEST_ENTRY(challenges_are_read_however_they_are_written),
          TEST_ENTRY(the_challenge_of_a_verifier_is_that_of_rfc_7636),
          TEST_ENTRY(answers_with_odd_numbers_are_read))
