/* test_mcp_oauth.c - authorizations from a challenge to a token, and what tokens live through. */
#include "mcp/oauth_world.h"

#include <stdio.h>

static const char *sent(world *o, size_t i) { return i < o->w.count ? o->w.sent[i].text : ""; }

static bool says(const char *text, const char *part) { return strstr(text, part) != NULL; }

TEST(a_refused_request_leads_to_a_token) {
    world o;
    world_init(&o);
    REQUIRE(CHECK(world_begin(&o, SERVER)));
    CHECK_EQ_STR(world_header(&o), "");
    CHECK_EQ_INT(o.w.count, 0);
    world_authorize(&o);
    CHECK_EQ_INT(o.changed, 1);
    CHECK_EQ_INT(o.status, PHI_OK);
    CHECK_EQ_STR(world_header(&o), "Bearer token-number-1");
    REQUIRE(CHECK_EQ_INT(o.w.count, 4));
    CHECK_EQ_STR(sent(&o, 0), PRM "/api/mcp\nAccept: application/json\n\n");
    CHECK_EQ_STR(sent(&o, 1), META "\nAccept: application/json\n\n");
    CHECK_EQ_STR(
        sent(&o, 2),
        "POST " AS "/register\nAccept: application/json\nContent-Type: application/json\n\n"
        "{\"client_name\":\"A game\",\"redirect_uris\":[\"https://app.example/back\"],"
        "\"grant_types\":[\"authorization_code\",\"refresh_token\"],\"response_types\":[\"code\"],"
        "\"token_endpoint_auth_method\":\"none\",\"application_type\":\"native\"}");
    CHECK_EQ_STR(o.url, AS "/authorize?response_type=code&client_id=client-number-1"
                           "&redirect_uri=https%3A%2F%2Fapp.example%2Fback"
                           "&code_challenge=GwuFiQGHnjWxf7UgF4OYBondj4PoV9Ua8l0kICA9CXs"
                           "&code_challenge_method=S256"
                           "&state=4JLBUm9OG7ueITLfFWUqqhF-XOkjgHsSQ3FVKiIC72Y"
                           "&resource=https%3A%2F%2Fmcp.example%2Fapi%2Fmcp");
    CHECK_EQ_STR(sent(&o, 3),
                 "POST " AS "/token\nAccept: application/json\n"
                 "Content-Type: application/x-www-form-urlencoded\n\n"
                 "grant_type=authorization_code&code=code-number-1"
                 "&redirect_uri=https%3A%2F%2Fapp.example%2Fback"
                 "&code_verifier=Ms3MzVZ_WFuNNns9wkWjLHcdLRyyHbA6lW8kg3egEps"
                 "&resource=https%3A%2F%2Fmcp.example%2Fapi%2Fmcp&client_id=client-number-1");
    world_end(&o);
}

TEST(requests_that_wait_are_told_once) {
    world o;
    world_init(&o);
    REQUIRE(CHECK(world_begin(&o, SERVER)));
    CHECK_EQ_INT(world_401(&o, "", ""), PHI_BUSY);
    CHECK_EQ_INT(world_401(&o, "", ""), PHI_BUSY);
    CHECK_EQ_STR(world_header(&o), "busy");
    world_step(&o, 20);
    CHECK_EQ_STR(world_header(&o), "busy");
    CHECK_EQ_INT(world_back(&o, "code=code-number-1"), PHI_OK);
    CHECK_EQ_INT(world_back(&o, "code=code-number-1"), PHI_MISUSE);
    world_step(&o, 10);
    CHECK_EQ_INT(o.changed, 1);
    CHECK_EQ_INT(o.opened, 1);
    /* a request that was sent without the token */
    CHECK_EQ_INT(world_401(&o, "", ""), PHI_OK);
    world_end(&o);
}

TEST(a_token_is_kept_in_the_store) {
    world o;
    world_init(&o);
    o.store = store_mem_new();
    o.desc.store = store_mem_store(o.store);
    REQUIRE(CHECK(world_begin(&o, SERVER)));
    world_authorize(&o);
    CHECK_EQ_STR(world_header(&o), "Bearer token-number-1");
    phi__oauth_free(o.oauth);
    REQUIRE(CHECK(world_make(&o, SERVER)));
    CHECK_EQ_STR(world_header(&o), "Bearer token-number-1");
    phi__oauth_free(o.oauth);
    /* another server of the same host has its own token, and the same registration */
    REQUIRE(CHECK(world_make(&o, "https://mcp.example/other")));
    CHECK_EQ_STR(world_header(&o), "");
    world_page_add(&o, PRM "/other", 200,
                   "{\"resource\":\"https://mcp.example\",\"authorization_servers\":[\"" AS "\"]}",
                   0);
    CHECK_EQ_INT(world_401(&o, "", ""), PHI_BUSY);
    world_step(&o, 20);
    CHECK_EQ_INT(o.opened, 2);
    CHECK_EQ_INT(o.w.count, 6);
    CHECK_EQ_STR(world_value(&o, "client_id"), "client-number-1");
    CHECK_EQ_STR(world_value(&o, "resource"), "https%3A%2F%2Fmcp.example");
    phi__sign_out(o.oauth);
    world_step(&o, 2);
    CHECK_EQ_INT(o.status, PHI_CANCELLED);
    phi__oauth_free(o.oauth);
    REQUIRE(CHECK(world_make(&o, SERVER)));
    phi__sign_out(o.oauth);
    CHECK_EQ_STR(world_header(&o), "");
    world_end(&o);
}

TEST(a_store_that_fails_costs_no_token) {
    world o;
    world_init(&o);
    o.store = store_mem_new();
    o.desc.store = store_mem_store(o.store);
    REQUIRE(CHECK(world_begin(&o, SERVER)));
    CHECK_EQ_INT(world_401(&o, "", ""), PHI_BUSY);
    world_step(&o, 20);
    store_mem_fail_at(o.store, 0, PHI_FULL);
    CHECK_EQ_INT(world_back(&o, "code=code-number-1"), PHI_OK);
    world_step(&o, 10);
    CHECK_EQ_INT(o.status, PHI_OK);
    CHECK_EQ_STR(world_error(&o), "authorization: the store does not keep the token: a bounded "
                                  "queue is full");
    CHECK_EQ_STR(world_header(&o), "Bearer token-number-1");
    phi__oauth_free(o.oauth);
    REQUIRE(CHECK(world_make(&o, SERVER)));
    CHECK_EQ_STR(world_header(&o), "");
    world_end(&o);
}

TEST(a_given_client_proves_itself_after_a_restart_as_before) {
    world o;
    world_init(&o);
    world_page_first(&o, META, 200, SERVER_HEAD "}", 0);
    o.store = store_mem_new();
    o.desc.store = store_mem_store(o.store);
    o.desc.client_id = "mine";
    o.desc.client_secret = "a-client-secret";
    REQUIRE(CHECK(world_begin(&o, SERVER)));
    world_authorize(&o);
    phi__oauth_free(o.oauth);
    REQUIRE(CHECK(world_make(&o, SERVER)));
    world_pass_s(&o, 3590);
    CHECK_EQ_STR(world_header(&o), "busy");
    world_step(&o, 5);
    CHECK_EQ_STR(world_header(&o), "Bearer token-number-1");
    REQUIRE(CHECK_EQ_INT(o.w.count, 4));
    CHECK(says(sent(&o, 3), "\nAuthorization: Basic bWluZTphLWNsaWVudC1zZWNyZXQ=\n"));
    CHECK(says(sent(&o, 3), "grant_type=refresh_token"));
    CHECK(!says(sent(&o, 3), "client_id="));
    phi__oauth_free(o.oauth);
    o.desc.client_id = "another"; /* the stored token is not its own */
    REQUIRE(CHECK(world_make(&o, SERVER)));
    CHECK_EQ_STR(world_header(&o), "");
    world_end(&o);
}

/* Copies the one document whose id begins so under another id, or over itself with a change. */
static void change_document(world *o, const char *kind, const char *to, const char *from_text,
                            const char *to_text) {
    const phi_store *store = store_mem_store(o->store);
    const phi_store_item *items;
    phi_memory memory;
    phi_arena arena;
    phi_str text = phi__str("", 0);
    size_t i, count = 0, at;
    char words[100], id[200], changed[3000];
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(store->list(store->user_data, NULL, &arena, &items, &count, words, sizeof words),
                 PHI_OK);
    for (i = 0; i < count; i++) {
        (void)snprintf(id, sizeof id, "%.*s", (int)items[i].id.len, items[i].id.at);
        if (strncmp(id, kind, strlen(kind)) == 0) break;
    }
    CHECK(i < count);
    CHECK_EQ_INT(store->load(store->user_data, id, &arena, &text, words, sizeof words), PHI_OK);
    at = phi__str_find(text, 0, from_text);
    if (CHECK(at != SIZE_MAX)) {
        (void)snprintf(changed, sizeof changed, "%.*s%s%.*s", (int)at, text.at, to_text,
                       (int)(text.len - at - strlen(from_text)), text.at + at + strlen(from_text));
        CHECK_EQ_INT(store->save(store->user_data, to != NULL ? to : id, "mcp", phi_str_of(changed),
                                 words, sizeof words),
                     PHI_OK);
    }
    phi_arena_free(&arena);
}

TEST(stored_documents_that_do_not_fit_count_as_none) {
    static const struct {
        const char *from, *to;
    } rows[] = {{"\"v\":1", "\"v\":2"},
                {"\"server\":\"" SERVER, "\"server\":\"https://other.example"},
                {"{", "["},
                {"Bearer token", "Basic token"},
                {"Bearer token", "Bearer to\\nken"}};
    size_t i;
    for (i = 0; i < PHI__COUNT(rows); i++) {
        world o;
        world_init(&o);
        world_page_first(&o, "POST " AS "/token", 200, "{\"access_token\":\"token-number-1\"}", 0);
        o.store = store_mem_new();
        o.desc.store = store_mem_store(o.store);
        REQUIRE(CHECK(world_begin(&o, SERVER)));
        world_authorize(&o);
        phi__oauth_free(o.oauth);
        change_document(&o, "mcp-oauth-token-", NULL, rows[i].from, rows[i].to);
        REQUIRE(CHECK(world_make(&o, SERVER)));
        CHECK_EQ_STR(world_header(&o), "");
        world_end(&o);
    }
}

TEST(a_registration_that_does_not_fit_is_made_anew) {
    static const struct {
        const char *from, *to, *redirect, *challenge;
    } rows[] = {
        {"\"issuer\":\"" AS, "\"issuer\":\"https://other.example", NULL, ""},
        {"client-number-1\"", "client-number-1\",\"secret_expires_at_ms\":1", NULL, ""},
        {"{", "{", "https://app.example/other", ""},
        {"\"v\":1", "\"v\":1,\"scope\":\"a\"", NULL, "WWW-Authenticate: Bearer scope=\"a b\"\r\n"},
        {"{", "{", NULL, ""}};
    size_t i;
    for (i = 0; i < PHI__COUNT(rows); i++) {
        world o;
        world_init(&o);
        world_page_first(&o, "POST " AS "/token", 200, "{\"access_token\":\"token-number-1\"}", 0);
        o.store = store_mem_new();
        o.desc.store = store_mem_store(o.store);
        REQUIRE(CHECK(world_begin(&o, SERVER)));
        world_authorize(&o);
        phi__sign_out(o.oauth);
        phi__oauth_free(o.oauth);
        change_document(&o, "mcp-oauth-client-", NULL, rows[i].from, rows[i].to);
        if (rows[i].redirect != NULL) o.desc.redirect_uri = rows[i].redirect;
        world_page_first(&o, "POST " AS "/register", 201, "{\"client_id\":\"client-number-2\"}", 0);
        REQUIRE(CHECK(world_make(&o, SERVER)));
        CHECK_EQ_INT(world_401(&o, rows[i].challenge, ""), PHI_BUSY);
        world_step(&o, 20);
        CHECK_EQ_STR(world_value(&o, "client_id"),
                     i + 1 == PHI__COUNT(rows) ? "client-number-1" : "client-number-2");
        world_end(&o);
    }
}

TEST(a_token_that_another_process_got_is_taken_from_the_store) {
    phi__oauth_listener listener;
    phi__oauth *first;
    phi_str value;
    world o;
    world_init(&o);
    o.store = store_mem_new();
    o.desc.store = store_mem_store(o.store);
    listener.changed = world_changed;
    listener.ctx = &o;
    REQUIRE(CHECK(world_begin(&o, SERVER)));
    world_authorize(&o);
    CHECK_EQ_INT(
        phi__oauth_new(o.rt, &o.rt->memory, &o.desc, phi_str_of(SERVER), "phi", &listener, &first),
        PHI_OK);
    CHECK_EQ_INT(phi__oauth_header(first, &value), PHI_OK);
    world_page_first(&o, "POST " AS "/token", 200,
                     "{\"access_token\":\"token-number-2\",\"refresh_token\":\"refresh-number-2\","
                     "\"expires_in\":3600}",
                     1);
    /* the other one refreshes; this one has the same token, near its end, and then refused */
    world_pass_s(&o, 3550);
    CHECK_EQ_STR(world_header(&o), "busy");
    world_step(&o, 5);
    CHECK_EQ_STR(world_header(&o), "Bearer token-number-2");
    CHECK_EQ_INT(o.w.count, 5);
    CHECK_EQ_INT(phi__oauth_header(first, &value), PHI_BUSY);
    world_step(&o, 5);
    CHECK_EQ_INT(phi__oauth_header(first, &value), PHI_OK);
    CHECK_STR(value, "Bearer token-number-2");
    CHECK_EQ_INT(o.w.count, 5);
    CHECK_EQ_INT(world_401(&o, "", "Bearer token-number-2"), PHI_BUSY);
    world_step(&o, 10);
    CHECK_EQ_INT(world_401(&o, "", "Bearer token-number-1"), PHI_BUSY);
    world_step(&o, 30);
    CHECK_EQ_INT(o.opened, 2);
    CHECK_EQ_INT(world_back(&o, "code=code-number-1"), PHI_OK);
    world_page_first(&o, "POST " AS "/token", 200, "{\"access_token\":\"token-number-4\"}", 1);
    world_step(&o, 10);
    CHECK_EQ_STR(world_header(&o), "Bearer token-number-4");
    CHECK_EQ_INT(
        phi__oauth_challenge(first, 401, phi_str_of(""), phi_str_of("Bearer token-number-2")),
        PHI_OK);
    CHECK_EQ_INT(phi__oauth_header(first, &value), PHI_OK);
    CHECK_STR(value, "Bearer token-number-4");
    phi__oauth_free(first);
    world_end(&o);
}

TEST(a_token_is_refreshed_a_minute_early_by_one_request) {
    world o;
    world_init(&o);
    world_page_first(&o, "POST " AS "/token", 200, TOKEN_1, 1);
    world_page_add(&o, "POST " AS "/token", 200, "{}", 0);
    o.pages[4].body = "{\"access_token\":\"token-number-2\",\"expires_in\":\"3600\"}";
    REQUIRE(CHECK(world_begin(&o, SERVER)));
    world_authorize(&o);
    world_pass_s(&o, 3530);
    CHECK_EQ_STR(world_header(&o), "Bearer token-number-1");
    world_pass_s(&o, 20);
    CHECK_EQ_STR(world_header(&o), "busy");
    CHECK_EQ_STR(world_header(&o), "Bearer token-number-1"); /* still good: others need not wait */
    world_step(&o, 10);
    CHECK_EQ_INT(o.changed, 2);
    CHECK_EQ_STR(world_header(&o), "Bearer token-number-2");
    REQUIRE(CHECK_EQ_INT(o.w.count, 5));
    CHECK_EQ_STR(sent(&o, 4),
                 "POST " AS "/token\nAccept: application/json\n"
                 "Content-Type: application/x-www-form-urlencoded\n\n"
                 "grant_type=refresh_token&refresh_token=refresh-number-1"
                 "&resource=https%3A%2F%2Fmcp.example%2Fapi%2Fmcp&client_id=client-number-1");
    /* the old refresh token stays where no new one was given */
    world_pass_s(&o, 4000);
    CHECK_EQ_STR(world_header(&o), "busy");
    CHECK_EQ_STR(world_header(&o), "busy");
    world_step(&o, 10);
    CHECK(says(sent(&o, 5), "refresh_token=refresh-number-1"));
    world_end(&o);
}

TEST(a_refused_token_is_refreshed_and_then_asked_for_anew) {
    world o;
    world_init(&o);
    world_page_first(&o, "POST " AS "/token", 200, TOKEN_1, 1);
    o.pages[4].body =
        "{\"access_token\":\"token-number-2\",\"refresh_token\":\"refresh-number-2\"}";
    REQUIRE(CHECK(world_begin(&o, SERVER)));
    world_authorize(&o);
    CHECK_EQ_INT(world_401(&o, "", "Bearer token-number-1"), PHI_BUSY);
    CHECK_EQ_STR(world_header(&o), "busy");
    world_step(&o, 10);
    CHECK_EQ_INT(o.status, PHI_OK);
    CHECK_EQ_STR(world_header(&o), "Bearer token-number-2");
    CHECK_EQ_INT(o.opened, 1);
    /* the late answer of another request */
    CHECK_EQ_INT(world_401(&o, "", "Bearer token-number-1"), PHI_OK);
    CHECK_EQ_INT(world_401(&o, "", "Bearer token-number-2"), PHI_BUSY);
    world_step(&o, 20);
    CHECK_EQ_INT(o.opened, 2);
    world_end(&o);
}

TEST(a_dead_refresh_token_leads_to_the_person) {
    world o;
    world_init(&o);
    world_page_first(&o, "POST " AS "/token", 400, "{\"error\":\"invalid_grant\"}", 1);
    world_page_first(&o, "POST " AS "/token", 200, TOKEN_1, 1);
    REQUIRE(CHECK(world_begin(&o, SERVER)));
    world_authorize(&o);
    CHECK_EQ_INT(world_401(&o, "", "Bearer token-number-1"), PHI_BUSY);
    world_step(&o, 30);
    CHECK_EQ_INT(o.opened, 2);
    CHECK_EQ_INT(o.changed, 1);
    CHECK_EQ_INT(world_back(&o, "code=code-number-1"), PHI_OK);
    world_step(&o, 10);
    CHECK_EQ_INT(o.changed, 2);
    CHECK_EQ_STR(world_header(&o), "Bearer token-number-1");
    world_end(&o);
}

TEST(a_refresh_that_fails_in_the_network_leaves_the_token) {
    world o;
    world_init(&o);
    world_page_first(&o, "POST " AS "/token", PHI_NETWORK, "", 1);
    world_page_first(&o, "POST " AS "/token", 200, TOKEN_1, 1);
    REQUIRE(CHECK(world_begin(&o, SERVER)));
    world_authorize(&o);
    world_pass_s(&o, 3550);
    CHECK_EQ_STR(world_header(&o), "busy");
    world_step(&o, 10);
    CHECK_EQ_INT(o.status, PHI_OK);
    CHECK_EQ_STR(world_header(&o), "Bearer token-number-1");
    world_pass_s(&o, 40);
    CHECK_EQ_STR(world_header(&o), "busy");
    world_step(&o, 10);
    CHECK_EQ_STR(world_header(&o), "Bearer token-number-1");
    CHECK_EQ_INT(o.w.count, 6);
    world_end(&o);
}

TEST(a_client_that_is_not_known_any_more_is_registered_anew) {
    world o;
    world_init(&o);
    world_page_first(&o, "POST " AS "/token", 401, "{\"error\":\"invalid_client\"}", 1);
    world_page_first(&o, "POST " AS "/register", 201, "{\"client_id\":\"client-number-0\"}", 1);
    o.store = store_mem_new();
    o.desc.store = store_mem_store(o.store);
    REQUIRE(CHECK(world_begin(&o, SERVER)));
    world_authorize(&o);
    world_step(&o, 20);
    CHECK_EQ_INT(o.opened, 2);
    CHECK_EQ_STR(world_value(&o, "client_id"), "client-number-1");
    CHECK_EQ_INT(world_back(&o, "code=code-number-2"), PHI_OK);
    world_step(&o, 10);
    CHECK_EQ_INT(o.changed, 1);
    CHECK_EQ_STR(world_header(&o), "Bearer token-number-1");
    world_end(&o);
}

TEST(scopes_come_from_the_challenge_then_from_the_resource) {
    static const char metadata[] =
        "{\"resource\":\"" SERVER "\",\"authorization_servers\":[\"" AS "\"],"
        "\"scopes_supported\":[\"read\",\"write\",\"bad scope\",7]}";
    static const struct {
        const char *challenge, *own, *want;
    } rows[] = {{"WWW-Authenticate: Bearer scope=\"basic\"\r\n", NULL, "basic"},
                {"WWW-Authenticate: Bearer realm=\"a, scope=b\", scope=\"x y\"\r\n", NULL, "x%20y"},
                {"www-authenticate: Basic realm=x, bearer scope=one\r\n", NULL, "one"},
                {"", NULL, "read%20write"},
                {"", "admin", "admin"},
                {"WWW-Authenticate: Bearer scope=basic\r\n", "admin basic", "basic%20admin"}};
    size_t i;
    for (i = 0; i < PHI__COUNT(rows); i++) {
        world o;
        world_init(&o);
        world_page_first(&o, PRM "/api/mcp", 200, metadata, 0);
        o.desc.scope = rows[i].own;
        REQUIRE(CHECK(world_begin(&o, SERVER)));
        CHECK_EQ_INT(world_401(&o, rows[i].challenge, ""), PHI_BUSY);
        world_step(&o, 20);
        CHECK_EQ_STR(world_value(&o, "scope"), rows[i].want);
        world_end(&o);
    }
}

TEST(offline_access_is_asked_for_where_it_is_supported) {
    int i;
    for (i = 0; i < 2; i++) {
        world o;
        world_init(&o);
        world_page_first(&o, META, 200,
                         SERVER_HEAD ",\"registration_endpoint\":\"" AS "/register\","
                                     "\"scopes_supported\":[\"basic\",\"offline_access\"]}",
                         0);
        o.desc.no_offline_access = i == 1;
        REQUIRE(CHECK(world_begin(&o, SERVER)));
        CHECK_EQ_INT(world_401(&o, "WWW-Authenticate: Bearer scope=basic\r\n", ""), PHI_BUSY);
        world_step(&o, 20);
        CHECK_EQ_STR(world_value(&o, "scope"), i == 0 ? "basic%20offline_access" : "basic");
        CHECK_EQ_STR(world_value(&o, "prompt"), i == 0 ? "consent" : "");
        world_end(&o);
    }
}

TEST(more_scopes_are_asked_for_together_with_those_before) {
    static const char more[] = "WWW-Authenticate: Bearer error=\"insufficient_scope\", "
                               "scope=\"write\"\r\n";
    world o;
    world_init(&o);
    REQUIRE(CHECK(world_begin(&o, SERVER)));
    CHECK_EQ_INT(world_401(&o, "WWW-Authenticate: Bearer scope=basic\r\n", ""), PHI_BUSY);
    world_step(&o, 20);
    CHECK_EQ_INT(world_back(&o, "code=code-number-1"), PHI_OK);
    world_step(&o, 10);
    CHECK_EQ_INT(phi__oauth_challenge(o.oauth, 403, phi_str_of("Content-Type: text/plain\r\n"),
                                      phi_str_of("Bearer token-number-1")),
                 PHI_REFUSED);
    CHECK_EQ_STR(world_error(&o),
                 "authorization: the server refuses the request (HTTP status 403)");
    CHECK_EQ_INT(
        phi__oauth_challenge(o.oauth, 403, phi_str_of(more), phi_str_of("Bearer token-number-1")),
        PHI_BUSY);
    CHECK_EQ_STR(world_header(&o), "Bearer token-number-1"); /* other requests go on */
    world_step(&o, 20);
    CHECK_EQ_INT(o.opened, 2);
    CHECK_EQ_STR(world_value(&o, "scope"), "basic%20write");
    world_page_first(&o, "POST " AS "/token", 200, "{\"access_token\":\"token-number-3\"}", 0);
    CHECK_EQ_INT(world_back(&o, "code=code-number-1"), PHI_OK);
    world_step(&o, 10);
    CHECK_EQ_STR(world_header(&o), "Bearer token-number-3");
    CHECK_EQ_INT(
        phi__oauth_challenge(o.oauth, 403, phi_str_of(more), phi_str_of("Bearer token-number-3")),
        PHI_REFUSED);
    CHECK_EQ_STR(world_error(&o), "authorization: the server wants more scopes, and names none "
                                  "that was not asked for");
    world_end(&o);
}

TEST(a_server_that_is_never_content_opens_four_browsers_in_ten_minutes) {
    world o;
    int i;
    world_init(&o);
    world_page_first(&o, "POST " AS "/token", 200, "{\"access_token\":\"token-number-3\"}", 0);
    REQUIRE(CHECK(world_begin(&o, SERVER)));
    for (i = 0; i < 6; i++) {
        CHECK_EQ_INT(world_401(&o, "", world_header(&o)), PHI_BUSY);
        world_step(&o, 20);
        if (i >= 4) break;
        CHECK_EQ_INT(world_back(&o, "code=code-number-1"), PHI_OK);
        world_step(&o, 10);
        CHECK_EQ_INT(o.status, PHI_OK);
    }
    CHECK_EQ_INT(o.opened, 4);
    CHECK_EQ_INT(o.status, PHI_REFUSED);
    CHECK_EQ_STR(o.message, "authorization: the server has wanted 4 within 10 minutes");
    world_pass_s(&o, 601);
    CHECK_EQ_INT(world_401(&o, "", ""), PHI_BUSY);
    world_step(&o, 20);
    CHECK_EQ_INT(o.opened, 5);
    world_end(&o);
}

TEST(another_authorization_server_gets_a_registration_of_its_own) {
    static const char other_server[] =
        "{\"issuer\":\"https://new.example/t\",\"authorization_endpoint\":"
        "\"https://new.example/t/authorize\",\"token_endpoint\":\"https://new.example/t/token\","
        "\"registration_endpoint\":\"https://new.example/t/register\","
        "\"code_challenge_methods_supported\":[\"S256\"]}";
    world o;
    world_init(&o);
    REQUIRE(CHECK(world_begin(&o, SERVER)));
    world_page_first(&o, "POST " AS "/token", 200, "{\"access_token\":\"token-number-1\"}", 0);
    world_authorize(&o);
    world_page_first(
        &o, PRM "/api/mcp", 200,
        "{\"resource\":\"" SERVER "\",\"authorization_servers\":[\"https://new.example/t\"]}", 0);
    world_page_add(&o, "GET https://new.example/t/.well-known/openid-configuration", 200,
                   other_server, 0);
    world_page_add(&o, "POST https://new.example/t/register", 201,
                   "{\"client_id\":\"client-number-2\"}", 0);
    CHECK_EQ_INT(world_401(&o, "", "Bearer token-number-1"), PHI_BUSY);
    world_step(&o, 30);
    CHECK_EQ_INT(o.opened, 2);
    CHECK_EQ_STR(world_value(&o, "client_id"), "client-number-2");
    CHECK(says(o.url, "https://new.example/t/authorize?"));
    REQUIRE(CHECK_EQ_INT(o.w.count, 9));
    CHECK(says(sent(&o, 5), "GET https://new.example/.well-known/oauth-authorization-server/t\n"));
    CHECK(says(sent(&o, 6), "GET https://new.example/.well-known/openid-configuration/t\n"));
    world_end(&o);
}

TEST(a_server_without_metadata_is_asked_as_in_2025_03_26) {
    world o;
    world_init(&o);
    o.page_count = 0;
    REQUIRE(CHECK(world_begin(&o, SERVER)));
    world_page_add(&o, "POST https://mcp.example/register", 201, "{\"client_id\":\"c\"}", 0);
    world_page_add(&o, "POST https://mcp.example/token", 200, TOKEN_1, 0);
    world_authorize(&o);
    CHECK_EQ_STR(world_header(&o), "Bearer token-number-1");
    CHECK(says(o.url, "https://mcp.example/authorize?response_type=code"));
    REQUIRE(CHECK_EQ_INT(o.w.count, 6));
    CHECK(says(sent(&o, 0), PRM "/api/mcp\n"));
    CHECK(says(sent(&o, 1), PRM "\n"));
    CHECK(says(sent(&o, 2), "GET https://mcp.example/.well-known/oauth-authorization-server\n"));
    CHECK(says(sent(&o, 3), "GET https://mcp.example/.well-known/openid-configuration\n"));
    world_end(&o);
    world_init(&o);
    o.page_count = 0;
    o.desc.no_legacy = true;
    REQUIRE(CHECK(world_begin(&o, SERVER)));
    CHECK_EQ_INT(world_401(&o, "", ""), PHI_BUSY);
    world_step(&o, 20);
    CHECK_EQ_STR(o.message, "authorization: the server names no authorization server");
    world_end(&o);
}

TEST(a_given_client_proves_itself_as_the_server_wants) {
    static const struct {
        const char *methods;
        phi_mcp_client_auth wish;
        const char *want;
    } rows[] = {
        {"", PHI_MCP_CLIENT_AUTH_ANY, "\nAuthorization: Basic bXklM0FpZDpzJTI2ZWNyZXQlMjAx\n"},
        {",\"token_endpoint_auth_methods_supported\":[\"client_secret_post\"]",
         PHI_MCP_CLIENT_AUTH_ANY, "&client_id=my%3Aid&client_secret=s%26ecret%201"},
        {",\"token_endpoint_auth_methods_supported\":[\"none\"]", PHI_MCP_CLIENT_AUTH_ANY,
         "&client_id=my%3Aid"},
        {"", PHI_MCP_CLIENT_AUTH_POST, "&client_secret=s%26ecret%201"}};
    size_t i;
    for (i = 0; i < PHI__COUNT(rows); i++) {
        char metadata[600];
        world o;
        world_init(&o);
        (void)snprintf(metadata, sizeof metadata, SERVER_HEAD "%s}", rows[i].methods);
        world_page_first(&o, META, 200, metadata, 0);
        o.desc.client_id = "my:id";
        o.desc.client_secret = "s&ecret 1";
        o.desc.client_auth = rows[i].wish;
        REQUIRE(CHECK(world_begin(&o, SERVER)));
        world_authorize(&o);
        CHECK_EQ_STR(world_header(&o), "Bearer token-number-1");
        REQUIRE(CHECK_EQ_INT(o.w.count, 3));
        CHECK(says(sent(&o, 2), rows[i].want));
        CHECK(says(sent(&o, 2), "client_secret=") == (rows[i].want[1] == 'c' && i != 2));
        world_end(&o);
    }
}

TEST(a_client_of_another_issuer_is_not_used) {
    world o;
    world_init(&o);
    o.desc.client_id = "mine";
    o.desc.issuer = "https://elsewhere.example";
    REQUIRE(CHECK(world_begin(&o, SERVER)));
    CHECK_EQ_INT(world_401(&o, "", ""), PHI_BUSY);
    world_step(&o, 20);
    CHECK_EQ_INT(o.opened, 0);
    CHECK_EQ_STR(o.message, "authorization: client_id belongs to another issuer than " AS
                            ": https://elsewhere.example");
    world_end(&o);
}

TEST(a_metadata_document_is_the_client_id_where_the_server_supports_it) {
    world o;
    world_init(&o);
    world_page_first(&o, META, 200, SERVER_HEAD ",\"client_id_metadata_document_supported\":true}",
                     0);
    o.desc.client_metadata_url = "https://app.example/client.json";
    REQUIRE(CHECK(world_begin(&o, SERVER)));
    world_authorize(&o);
    CHECK_EQ_STR(world_value(&o, "client_id"), "https%3A%2F%2Fapp.example%2Fclient.json");
    CHECK_EQ_INT(o.w.count, 3);
    CHECK_EQ_STR(world_header(&o), "Bearer token-number-1");
    world_pass_s(&o, 4000);
    CHECK_EQ_STR(world_header(&o), "busy");
    world_step(&o, 5);
    CHECK(says(sent(&o, 3), "&client_id=https%3A%2F%2Fapp.example%2Fclient.json"));
    world_end(&o);
}

TEST(an_authorization_that_nobody_completes_ends) {
    world o;
    world_init(&o);
    o.desc.timeout_ms = 60000;
    REQUIRE(CHECK(world_begin(&o, SERVER)));
    CHECK_EQ_INT(world_401(&o, "", ""), PHI_BUSY);
    world_step(&o, 20);
    world_pass_s(&o, 7200); /* a pause of the host: it counts as a second */
    world_step(&o, 2);
    CHECK_EQ_STR(o.message, "");
    world_pass_stepping_s(&o, 58);
    CHECK_EQ_STR(o.message, "");
    world_pass_s(&o, 1);
    world_step(&o, 2);
    CHECK_EQ_INT(o.status, PHI_TIMEOUT);
    CHECK_EQ_STR(o.message, "authorization: not completed within 60 s");
    CHECK_EQ_INT(world_back(&o, "code=1"), PHI_MISUSE);
    /* the client may be dead: the next authorization has a new one */
    world_page_first(&o, "POST " AS "/register", 201, "{\"client_id\":\"client-number-2\"}", 0);
    CHECK_EQ_INT(world_401(&o, "", ""), PHI_BUSY);
    world_step(&o, 20);
    CHECK_EQ_STR(world_value(&o, "client_id"), "client-number-2");
    world_end(&o);
}

TEST(without_a_browser_only_stored_tokens_are_used) {
    world o;
    world_init(&o);
    o.desc.open_browser_fn = NULL;
    REQUIRE(CHECK(world_begin(&o, SERVER)));
    CHECK_EQ_INT(world_401(&o, "", ""), PHI_REFUSED);
    CHECK_EQ_STR(world_error(&o), "authorization: the server wants one, and there is no "
                                  "open_browser_fn for a person");
    CHECK_EQ_INT(o.w.count, 0);
    CHECK_EQ_INT(o.changed, 0);
    world_end(&o);
}

TEST(callbacks_may_free_the_authorization) {
    world o;
    int i;
    for (i = 0; i < 3; i++) {
        world_init(&o);
        o.free_in_browser = i == 1;
        o.free_in_changed = i == 2;
        o.answer_in_browser = true;
        REQUIRE(CHECK(world_begin(&o, SERVER)));
        CHECK_EQ_INT(world_401(&o, "", ""), PHI_BUSY);
        world_step(&o, 30);
        CHECK_EQ_INT(o.opened, 1);
        CHECK_EQ_INT(o.changed, i == 1 ? 0 : 1);
        CHECK((o.oauth == NULL) == (i > 0));
        world_end(&o);
    }
}

TEST(every_allocation_of_an_authorization_may_fail) {
    int n = 0, k;
    bool tripped;
    do {
        world o;
        world_init(&o);
        o.store = store_mem_new();
        o.desc.store = store_mem_store(o.store);
        o.answer_in_browser = true;
        o.rt = NULL;
        if (!CHECK(world_begin(&o, SERVER))) return;
        test_alloc_fail_at(n++);
        if (world_401(&o, "WWW-Authenticate: Bearer scope=\"a b\"\r\n", "") == PHI_BUSY) {
            world_step(&o, 30);
            world_pass_s(&o, 4000);
            if (o.changed == 1 && strcmp(world_header(&o), "busy") == 0) world_step(&o, 10);
        }
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        /* whatever failed, the next try succeeds */
        for (k = 0; k < 3 && strncmp(world_header(&o), "Bearer", 6) != 0; k++) {
            if (strcmp(world_header(&o), "") == 0) (void)world_401(&o, "", "");
            if (k > 0) world_pass_stepping_s(&o, 301); /* one without its answer ends first */
            world_step(&o, 30);
        }
        CHECK_EQ_STR(world_header(&o), "Bearer token-number-1");
        world_end(&o);
        CHECK_EQ_INT(test_alloc_live_bytes(), 0);
    } while (tripped && test_failures() == 0);
    CHECK(n > 60);
}

TEST_MAIN(TEST_ENTRY(a_refused_request_leads_to_a_token),
          TEST_ENTRY(requests_that_wait_are_told_once), TEST_ENTRY(a_token_is_kept_in_the_store),
          TEST_ENTRY(a_store_that_fails_costs_no_token),
          TEST_ENTRY(a_given_client_proves_itself_after_a_restart_as_before),
          TEST_ENTRY(stored_documents_that_do_not_fit_count_as_none),
          TEST_ENTRY(a_registration_that_does_not_fit_is_made_anew),
          TEST_ENTRY(a_token_that_another_process_got_is_taken_from_the_store),
          TEST_ENTRY(a_token_is_refreshed_a_minute_early_by_one_request),
          TEST_ENTRY(a_refused_token_is_refreshed_and_then_asked_for_anew),
          TEST_ENTRY(a_dead_refresh_token_leads_to_the_person),
          TEST_ENTRY(a_refresh_that_fails_in_the_network_leaves_the_token),
          TEST_ENTRY(a_client_that_is_not_known_any_more_is_registered_anew),
          TEST_ENTRY(scopes_come_from_the_challenge_then_from_the_resource),
          TEST_ENTRY(offline_access_is_asked_for_where_it_is_supported),
          TEST_ENTRY(more_scopes_are_asked_for_together_with_those_before),
          TEST_ENTRY(a_server_that_is_never_content_opens_four_browsers_in_ten_minutes),
          TEST_ENTRY(another_authorization_server_gets_a_registration_of_its_own),
          TEST_ENTRY(a_server_without_metadata_is_asked_as_in_2025_03_26),
          TEST_ENTRY(a_given_client_proves_itself_as_the_server_wants),
          TEST_ENTRY(a_client_of_another_issuer_is_not_used),
          TEST_ENTRY(a_metadata_document_is_the_client_id_where_the_server_supports_it),
          TEST_ENTRY(an_authorization_that_nobody_completes_ends),
          TEST_ENTRY(without_a_browser_only_stored_tokens_are_used),
          TEST_ENTRY(callbacks_may_free_the_authorization),
          TEST_ENTRY(every_allocation_of_an_authorization_may_fail))
