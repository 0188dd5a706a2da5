/* test_mcp_oauth_flow.c - connections to a server that wants an authorization, over HTTP: the
   browser is redirected to our own port. The authorization server, tests/mock/mcp_auth.py, is
   strict. */
#include "agent/agent.h"
#include "io/io_in.h"
#include "loop/loop_in.h"
#include "loop/inner_in.h"
#include "mcp/mcp_oauth.h"
#include "persist/file_store.h"
#include "support/mock_server.h"
#include "mcp/mcp_requests_in.h"

#include <dirent.h>
#include <stdio.h>
#include <time.h>

typedef struct kit {
    phi_runtime *rt;
    phi_mcp_oauth_desc oauth;
    phi_mcp *mcp;
    char heard[8192]; /* all that the host was told */
    /* the browser */
    phi__fetch *fetch;
    char location[2048];
    int opened, pages;
    bool free_in_warning;
    /* a request */
    bool waiting;
    phi_status status;
    char reply[300];
} kit;

static void hear(kit *k, phi_str text) {
    size_t n = strlen(k->heard);
    (void)snprintf(k->heard + n, sizeof k->heard - n, "%.*s\n", (int)text.len,
                   text.at != NULL ? text.at : "");
}

/* ---- the browser: follows one redirect ---- */

static void browse(kit *k, const char *url);

static void page_head(void *user_data, int http_status, phi_str headers) {
    kit *k = (kit *)user_data;
    size_t at = phi__str_find_nocase(headers, 0, "location: "), end;
    k->location[0] = '\0';
    if (http_status == 200) k->pages++;
    if (http_status != 302 || at == SIZE_MAX) return;
    end = phi__str_find(headers, at, "\r\n");
    (void)snprintf(k->location, sizeof k->location, "%.*s", (int)(end - at - 10),
                   headers.at + at + 10);
}

static void page_end(void *user_data, phi_status status, const char *message) {
    kit *k = (kit *)user_data;
    (void)message;
    k->fetch = NULL;
    if (status == PHI_OK && k->location[0] != '\0') browse(k, k->location);
}

static void browse(kit *k, const char *url) {
    phi__fetch_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.memory = &k->rt->memory;
    desc.method = PHI__LIT("GET");
    desc.url = phi_str_of(url);
    desc.on_head = page_head;
    desc.on_end = page_end;
    desc.user_data = k;
    CHECK_EQ_INT(phi__fetch_open(k->rt, &desc, &k->fetch), PHI_OK);
}

static phi_status open_browser(void *user_data, const char *url) {
    kit *k = (kit *)user_data;
    k->opened++;
    browse(k, url);
    return PHI_OK;
}

/* ---- the connection ---- */

static void on_event(void *user_data, const phi_mcp_event *event) {
    hear((kit *)user_data, event->name);
    hear((kit *)user_data, event->text);
    if (event->kind == PHI_MCP_EV_WARNING && ((kit *)user_data)->free_in_warning) {
        phi_mcp_free(event->mcp);
        ((kit *)user_data)->mcp = NULL;
    }
}

static void pump(kit *k, bool ready) {
    time_t end = time(NULL) + 20;
    while (time(NULL) < end &&
           (ready ? phi_mcp_get_info(k->mcp).state == PHI_MCP_CONNECTING : k->waiting))
        (void)phi_step(k->rt, 5);
}

static bool connect_to(kit *k, const char *behaviour) {
    char url[200];
    phi_mcp_desc desc;
    (void)snprintf(url, sizeof url, "%s/m/%s/mcp", mock_url(""), behaviour);
    memset(&desc, 0, sizeof desc);
    desc.url = url;
    desc.oauth = &k->oauth;
    desc.event_fn = on_event;
    desc.user_data = k;
    k->mcp = phi_mcp_connect(k->rt, &desc);
    if (!CHECK(k->mcp != NULL)) return false;
    pump(k, true);
    hear(k, phi_str_of(phi_mcp_get_info(k->mcp).message));
    return phi_mcp_get_info(k->mcp).state == PHI_MCP_READY;
}

static void replied(void *user_data, const phi_mcp_reply *reply) {
    kit *k = (kit *)user_data;
    k->waiting = false;
    k->status = reply->status;
    (void)snprintf(k->reply, sizeof k->reply, "%.*s", (int)reply->message.len, reply->message.at);
    if (reply->result != NULL)
        (void)snprintf(k->reply, sizeof k->reply, "%.*s",
                       (int)phi_json_str(phi_json_path(reply->result, "content[0].text"), "").len,
                       phi_json_str(phi_json_path(reply->result, "content[0].text"), "").at);
    hear(k, phi_str_of(k->reply));
}

static const char *call(kit *k) {
    phi_mcp_send_desc request;
    memset(&request, 0, sizeof request);
    request.method = "tools/call";
    request.params = PHI__LIT("{\"name\":\"echo\",\"arguments\":{}}");
    request.done_fn = replied;
    request.user_data = k;
    k->waiting = true;
    CHECK_EQ_INT(phi_mcp_send(k->mcp, &request, NULL), PHI_OK);
    pump(k, false);
    return k->reply;
}

static void pass_ms(kit *k, long ms) {
    struct timespec from, now;
    (void)clock_gettime(CLOCK_MONOTONIC, &from);
    do {
        (void)phi_step(k->rt, 10);
        (void)clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - from.tv_sec) * 1000 + (now.tv_nsec - from.tv_nsec) / 1000000 < ms);
}

static bool begin(kit *k) {
    phi_runtime_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.allocator = test_allocator();
    memset(k, 0, sizeof *k);
    k->rt = phi_runtime_new(&desc);
    k->oauth.open_browser_fn = open_browser;
    k->oauth.user_data = k;
    return CHECK(k->rt != NULL);
}

static void leave(kit *k) {
    phi_mcp_free(k->mcp);
    k->mcp = NULL;
}

static void finish(kit *k) {
    static const char *const secrets[] = {"token-", "refresh-", "code-", "secret-"};
    char *problems = mock_ask("GET", "/_problems");
    size_t i;
    CHECK_EQ_STR(problems, "[]");
    free(problems);
    for (i = 0; i < PHI__COUNT(secrets); i++) CHECK(strstr(k->heard, secrets[i]) == NULL);
    if (k->mcp != NULL) leave(k);
    phi_runtime_free(k->rt);
}

TEST(a_person_authorizes_a_connection) {
    kit k;
    REQUIRE(begin(&k));
    CHECK(connect_to(&k, "plain"));
    CHECK_EQ_STR(call(&k), "called");
    CHECK_EQ_INT(k.opened, 1);
    CHECK_EQ_INT(k.pages, 1); /* the person has seen that all is done */
    finish(&k);
}

TEST(a_person_who_says_no_ends_the_connection) {
    kit k;
    REQUIRE(begin(&k));
    CHECK(!connect_to(&k, "deny"));
    CHECK_EQ_INT(phi_mcp_get_info(k.mcp).state, PHI_MCP_FAILED);
    CHECK(strstr(phi_mcp_get_info(k.mcp).message, "authorization: access_denied") != NULL);
    while (k.fetch != NULL) (void)phi_step(k.rt, 5);
    CHECK_EQ_INT(k.pages, 1); /* the browser has got its page, though nothing waits any more */
    finish(&k);
}

TEST(clients_with_secrets_prove_themselves) {
    kit k;
    REQUIRE(begin(&k));
    CHECK(connect_to(&k, "secret"));
    CHECK_EQ_STR(call(&k), "called");
    finish(&k);
}

TEST(a_program_authorizes_itself_whenever_its_token_has_ended) {
    kit k;
    int i;
    REQUIRE(begin(&k));
    k.oauth.grant = PHI_MCP_GRANT_CLIENT;
    k.oauth.client_id = "robot";
    k.oauth.client_secret = "robot secret";
    k.oauth.open_browser_fn = NULL;
    CHECK(connect_to(&k, "machine+short"));
    for (i = 0; i < 2; i++) {
        CHECK_EQ_STR(call(&k), "called");
        pass_ms(&k, 2100);
    }
    CHECK_EQ_STR(call(&k), "called");
    CHECK_EQ_INT(k.opened, 0);
    finish(&k);
}

TEST(a_program_with_another_secret_is_refused_without_showing_it) {
    kit k;
    REQUIRE(begin(&k));
    k.oauth.grant = PHI_MCP_GRANT_CLIENT;
    k.oauth.client_id = "robot";
    k.oauth.client_secret = "another secret";
    CHECK(!connect_to(&k, "machine"));
    CHECK(strstr(phi_mcp_get_info(k.mcp).message,
                 "the token endpoint: HTTP status 401: invalid_client") != NULL);
    CHECK(strstr(k.heard, "another secret") == NULL);
    CHECK_EQ_INT(k.opened, 0);
    finish(&k);
}

TEST(a_client_that_was_forgotten_is_registered_again) {
    kit k;
    REQUIRE(begin(&k));
    CHECK(connect_to(&k, "amnesia"));
    CHECK_EQ_STR(call(&k), "called");
    CHECK_EQ_INT(k.opened, 2);
    finish(&k);
}

TEST(a_call_that_needs_more_scopes_gets_them) {
    kit k;
    REQUIRE(begin(&k));
    CHECK(connect_to(&k, "scopes"));
    CHECK_EQ_INT(k.opened, 1);
    CHECK_EQ_STR(call(&k), "called");
    CHECK_EQ_INT(k.opened, 2);
    finish(&k);
}

TEST(tokens_of_two_seconds_are_refreshed_without_the_person) {
    kit k;
    int i;
    REQUIRE(begin(&k));
    CHECK(connect_to(&k, "short"));
    for (i = 0; i < 2; i++) {
        pass_ms(&k, 1100);
        CHECK_EQ_STR(call(&k), "called");
    }
    CHECK_EQ_INT(k.opened, 1);
    finish(&k);
}

static size_t files_in(const char *dir) {
    DIR *d = opendir(dir);
    const struct dirent *e;
    size_t n = 0;
    while (d != NULL && (e = readdir(d)) != NULL)
        if (strncmp(e->d_name, "mcp-oauth-", 10) == 0 && strstr(e->d_name, ".lock") == NULL) n++;
    if (d != NULL) (void)closedir(d);
    return n;
}

TEST(another_process_uses_the_stored_token_and_registration) {
    char dir[300];
    phi_file_store_desc files;
    phi_store store;
    kit k;
    int i;
    REQUIRE(test_temp_dir(dir, sizeof dir));
    memset(&files, 0, sizeof files);
    files.directory = dir;
    REQUIRE(CHECK_EQ_INT(phi_file_store_open(&files, &store), PHI_OK));
    for (i = 0; i < 3; i++) {
        REQUIRE(begin(&k));
        k.oauth.store = &store;
        CHECK(connect_to(&k, "plain+stored"));
        CHECK_EQ_STR(call(&k), "called");
        CHECK_EQ_INT(k.opened, i == 1 ? 0 : 1);
        CHECK_EQ_INT(files_in(dir), 2);
        if (i == 1) CHECK_EQ_INT(phi_mcp_authorize(k.mcp, NULL), PHI_OK);
        finish(&k);
    }
    phi_file_store_close(&store);
}

static phi_status full_save(void *user_data, const char *id, const char *agent_id, phi_str bytes,
                            char *words, size_t words_size) {
    (void)user_data;
    (void)id;
    (void)agent_id;
    (void)bytes;
    (void)snprintf(words, words_size, "the disk is full");
    return PHI_IO;
}

TEST(a_store_that_keeps_no_token_is_a_warning) {
    char dir[300];
    phi_file_store_desc files;
    phi_store store;
    kit k;
    int i;
    REQUIRE(test_temp_dir(dir, sizeof dir));
    memset(&files, 0, sizeof files);
    files.directory = dir;
    REQUIRE(CHECK_EQ_INT(phi_file_store_open(&files, &store), PHI_OK));
    store.save = full_save;
    for (i = 0; i < 2; i++) { /* the second time the host frees the connection inside of it */
        REQUIRE(begin(&k));
        k.oauth.store = &store;
        k.free_in_warning = i == 1;
        CHECK(connect_to(&k, "plain") == (i == 0));
        CHECK(strstr(k.heard, "authorization: the store does not keep the token; a person will be "
                              "asked again when the program has ended") != NULL);
        if (i == 0) CHECK_EQ_STR(call(&k), "called");
        finish(&k);
    }
    phi_file_store_close(&store);
}

TEST(the_host_may_receive_the_redirect_itself) {
    phi_mcp_desc desc;
    kit k;
    REQUIRE(begin(&k));
    k.oauth.redirect_port = -1;
    memset(&desc, 0, sizeof desc);
    desc.url = mock_url("/m/plain/mcp");
    desc.oauth = &k.oauth;
    CHECK(phi_mcp_connect(k.rt, &desc) == NULL);
    k.oauth.redirect_uri = "http://127.0.0.1:1/mine";
    k.mcp = phi_mcp_connect(k.rt, &desc);
    REQUIRE(CHECK(k.mcp != NULL));
    CHECK_EQ_INT(phi_mcp_authorize(k.mcp, "http://127.0.0.1:1/mine?code=1"), PHI_MISUSE);
    while (strncmp(k.location, "http://127.0.0.1:1/mine", 23) != 0) (void)phi_step(k.rt, 5);
    CHECK_EQ_INT(phi_mcp_authorize(k.mcp, "http://127.0.0.1:1/mine?code=1&state=2"), PHI_REFUSED);
    CHECK_EQ_INT(phi_mcp_authorize(k.mcp, k.location), PHI_OK);
    pump(&k, true);
    CHECK_EQ_INT(phi_mcp_get_info(k.mcp).state, PHI_MCP_READY);
    if (k.fetch != NULL) phi__fetch_close(k.fetch);
    finish(&k);
}

int main(int argc, char **argv) {
    static const test_entry entries[] = {
        TEST_ENTRY(a_person_authorizes_a_connection),
        TEST_ENTRY(a_person_who_says_no_ends_the_connection),
        TEST_ENTRY(clients_with_secrets_prove_themselves),
        TEST_ENTRY(a_program_authorizes_itself_whenever_its_token_has_ended),
        TEST_ENTRY(a_program_with_another_secret_is_refused_without_showing_it),
        TEST_ENTRY(a_client_that_was_forgotten_is_registered_again),
        TEST_ENTRY(a_call_that_needs_more_scopes_gets_them),
        TEST_ENTRY(tokens_of_two_seconds_are_refreshed_without_the_person),
        TEST_ENTRY(another_process_uses_the_stored_token_and_registration),
        TEST_ENTRY(a_store_that_keeps_no_token_is_a_warning),
        TEST_ENTRY(the_host_may_receive_the_redirect_itself)};
    int failed;
    if (!mock_start_script(&mock, "tests/mock/mcp_auth.py", NULL)) return 1;
    failed = test_run(argc, argv, entries, PHI__COUNT(entries));
    mock_stop(&mock);
    return failed;
}
