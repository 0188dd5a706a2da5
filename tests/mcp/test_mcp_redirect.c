/* test_mcp_redirect.c - the page that receives an authorization: only from here, only as asked. */
#include "mcp/mcp_oauth_in.h"
#include "support/test.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

typedef struct rig {
    phi_memory memory;
    phi__io *io;
    phi__redirect *redirect;
    char query[128];
    int gots;
    phi_status answer;
    char text[2048];
} rig;

static phi_status on_got(void *ctx, phi_str query) {
    rig *r = (rig *)ctx;
    r->gots++;
    (void)snprintf(r->query, sizeof r->query, "%.*s", (int)query.len, query.at);
    return r->answer;
}

static bool rig_open(rig *r) {
    phi_allocator allocator = test_allocator();
    char message[160];
    memset(r, 0, sizeof *r);
    phi_memory_init(&r->memory, &allocator, 0);
    return CHECK_EQ_INT(phi__io_new(&r->memory, NULL, &r->io), PHI_OK) &&
           CHECK_EQ_INT(phi__redirect_new(r->io, 0, "/callback", on_got, r, &r->redirect, message,
                                          sizeof message),
                        PHI_OK);
}

static void rig_close(rig *r) {
    phi__redirect_free(r->redirect);
    phi__redirect_free(NULL);
    phi__io_free(r->io);
    CHECK_EQ_INT(r->memory.used_bytes, 0);
}

/* Sends it with PORT exchanged for the port, and pumps until the answer is there. */
static const char *ask(rig *r, const char *method, const char *target, const char *host) {
    struct sockaddr_in address;
    char request[512], port[16];
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), i;
    size_t len = 0;
    memset(&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(phi__redirect_port(r->redirect));
    CHECK(connect(fd, (struct sockaddr *)&address, sizeof address) == 0);
    (void)fcntl(fd, F_SETFL, O_NONBLOCK);
    (void)snprintf(port, sizeof port, ":%u", (unsigned)phi__redirect_port(r->redirect));
    (void)snprintf(request, sizeof request, "%s %s HTTP/1.1\r\nHost: %s%s\r\n\r\n", method, target,
                   host, strchr(host, ':') != NULL ? "" : port);
    (void)send(fd, request, strlen(request), MSG_NOSIGNAL);
    for (i = 0; i < 200 && (len == 0 || i % 4 != 0); i++) {
        ssize_t n;
        phi__io_step_begin(r->io);
        (void)phi__io_wait(r->io, 2, 64);
        (void)phi__io_timers(r->io, 64);
        n = read(fd, r->text + len, sizeof r->text - 1 - len);
        if (n > 0) len += (size_t)n;
    }
    r->text[len] = '\0';
    (void)close(fd);
    return r->text;
}

static bool has(const char *text, const char *part) { return strstr(text, part) != NULL; }

TEST(the_query_of_a_redirect_is_handed_over_and_the_browser_gets_a_page) {
    rig r;
    if (rig_open(&r)) {
        const char *page = ask(&r, "GET", "/callback?code=c%2B1&state=s", "127.0.0.1");
        CHECK(has(page, "HTTP/1.1 200 OK\r\n"));
        CHECK(has(page, "Content-Type: text/html; charset=utf-8\r\n"));
        CHECK(has(page, "Cache-Control: no-store\r\n"));
        CHECK(has(page, "Referrer-Policy: no-referrer\r\n"));
        CHECK(has(page, "default-src 'none'"));
        CHECK(has(page, "You can close this page."));
        CHECK(!has(page, "c%2B1"));
        CHECK_EQ_STR(r.query, "code=c%2B1&state=s");
        r.answer = PHI_DENIED;
        page = ask(&r, "GET", "/callback", "LOCALHOST");
        CHECK(has(page, "HTTP/1.1 400 Bad Request\r\n"));
        CHECK(has(page, "does not belong to an authorization that waits"));
        CHECK_EQ_STR(r.query, "");
        CHECK_EQ_INT(r.gots, 2);
    }
    rig_close(&r);
}

TEST(other_pages_methods_and_hosts_are_refused) {
    rig r;
    if (rig_open(&r)) {
        CHECK(has(ask(&r, "GET", "/", "127.0.0.1"), "404 Not Found\n"));
        CHECK(has(ask(&r, "GET", "/callback/", "127.0.0.1"), "404 Not Found\n"));
        CHECK(has(ask(&r, "GET", "/favicon.ico", "localhost"), "404 Not Found\n"));
        CHECK(has(ask(&r, "POST", "/callback?code=1", "127.0.0.1"), "405 Method Not Allowed\n"));
        CHECK(has(ask(&r, "GET", "/callback?code=1", "evil.example"), "421 Misdirected Request: "));
        CHECK(has(ask(&r, "GET", "/callback?code=1", "127.0.0.1:1"), "421 Misdirected Request: "));
        CHECK_EQ_INT(r.gots, 0);
    }
    rig_close(&r);
}

TEST(a_redirect_page_survives_every_failed_allocation) {
    bool tripped = true;
    int n;
    for (n = 0; tripped && n < 100; n++) {
        phi_allocator allocator = test_allocator();
        char message[160];
        phi_status status;
        rig r;
        memset(&r, 0, sizeof r);
        phi_memory_init(&r.memory, &allocator, 0);
        REQUIRE(phi__io_new(&r.memory, NULL, &r.io) == PHI_OK);
        test_alloc_fail_at(n);
        status = phi__redirect_new(r.io, 0, "/callback", on_got, &r, &r.redirect, message,
                                   sizeof message);
        CHECK(status == PHI_OK || status == PHI_NO_MEMORY);
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        if (status == PHI_OK) CHECK(has(ask(&r, "GET", "/callback?x", "127.0.0.1"), "200 OK"));
        rig_close(&r);
    }
    CHECK(n >= 3);
}

TEST_MAIN(TEST_ENTRY(the_query_of_a_redirect_is_handed_over_and_the_browser_gets_a_page),
          TEST_ENTRY(other_pages_methods_and_hosts_are_refused),
          TEST_ENTRY(a_redirect_page_survives_every_failed_allocation))
