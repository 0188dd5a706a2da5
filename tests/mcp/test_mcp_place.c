/* test_mcp_place.c - addresses that servers name: joined, and refused where they lead elsewhere. */
#include "mcp/mcp_oauth_in.h"
#include "mcp/mcp_requests_in.h"
#include "mcp/mcp_rpc_in.h"
#include "loop/loop_in.h"
#include "support/test.h"

/* want NULL: refused. */
static void check_join(const char *from, const char *to, const char *want) {
    phi_allocator allocator = test_allocator();
    phi_memory memory;
    phi__buf out;
    bool good;
    phi_memory_init(&memory, &allocator, 0);
    phi__buf_init(&out, &memory);
    good = phi__place_join(&out, phi_str_of(from), phi_str_of(to));
    CHECK_EQ_INT(good, want != NULL);
    if (good && want != NULL) CHECK_STR(phi__buf_str(&out), want);
    phi__buf_free(&out);
}

static void addresses_of_the_same_origin_are_joined(void) {
    check_join("http://h:8080/a/sse", "/messages?id=1", "http://h:8080/messages?id=1");
    check_join("http://h:8080/a/sse", "messages?id=1", "http://h:8080/a/messages?id=1");
    check_join("http://h:8080/a/sse?x=/y", "messages", "http://h:8080/a/messages");
    check_join("http://h:8080", "messages", "http://h:8080/messages");
    check_join("http://h:8080?x=1", "/m", "http://h:8080/m");
    check_join("http://h:8080/a/sse?x=1", "?id=1", "http://h:8080/a/sse?id=1");
    check_join("http://h:8080/a", "http://h:8080/m", "http://h:8080/m");
    check_join("http://h/a", "http://H:80/m#top", "http://H:80/m");
    check_join("https://h/a", "HTTPS://h:443/m", "HTTPS://h:443/m");
    check_join("http://AbC/a", "http://aBc/m", "http://aBc/m");
    check_join("https://h/a", "//h/m", "https://h/m");
    check_join("http://[::1]:81/a", "http://[::1]:81/b", "http://[::1]:81/b");
    check_join("http://u:p@h/a", "http://h/b", "http://h/b");
    check_join("http://u:p@h/a", "/b", "http://u:p@h/b");
    check_join("http://h/a", "/b:c", "http://h/b:c");
}

static void addresses_of_other_origins_are_refused(void) {
    static const char *const bad[] = {"http://other/m",
                                      "https://h/m",
                                      "http://h:81/m",
                                      "//other/m",
                                      "http://h@other/m",
                                      "http://u@h/m",
                                      "file:///etc/passwd",
                                      "javascript:1",
                                      "http:",
                                      "http:///m",
                                      "http://h.other/m",
                                      "http://h:80:90/m",
                                      "data:,x",
                                      "http://h\\@other/",
                                      "\\\\other\\m"};
    size_t i;
    for (i = 0; i < sizeof bad / sizeof *bad; i++) check_join("http://h/a", bad[i], NULL);
}

static void what_is_no_address_is_refused(void) {
    char *huge = (char *)malloc(10000);
    memset(huge, 'a', 9999);
    huge[9999] = '\0';
    check_join("http://h/a", "", NULL);
    check_join("http://h/a", "#x", NULL);
    check_join("http://h/a", "/a b", NULL);
    check_join("http://h/a", "/a\r\nX: 1", NULL);
    check_join("http://h/a", huge, NULL);
    check_join("h/a", "/a", NULL);
    check_join("http://[::1]/a", "http://[::1].evil.com/a", NULL);
    free(huge);
}

static void the_buffer_is_written_anew(void) {
    phi_allocator allocator = test_allocator();
    phi_memory memory;
    phi__buf out;
    phi_memory_init(&memory, &allocator, 0);
    phi__buf_init(&out, &memory);
    CHECK(phi__place_join(&out, phi_str_of("http://h/a"), phi_str_of("/b")));
    CHECK(phi__place_join(&out, phi_str_of("http://h/a"), phi_str_of("/c")));
    CHECK_STR(phi__buf_str(&out), "http://h/c");
    phi__buf_free(&out);
}

static void no_memory_is_a_refusal(void) {
    test_alloc_fail_at(0);
    check_join("http://h/a", "/b", NULL);
    test_alloc_fail_at(-1);
}

TEST_MAIN(TEST_ENTRY(addresses_of_the_same_origin_are_joined),
          TEST_ENTRY(addresses_of_other_origins_are_refused),
          TEST_ENTRY(what_is_no_address_is_refused), TEST_ENTRY(the_buffer_is_written_anew),
          TEST_ENTRY(no_memory_is_a_refusal))
