/* test_http_head.c - requests, good and bad, in any pieces. */
#include "serve/http_head_in.h"
#include "support/test.h"

/* What a request came to, as one line of text: "refused 400: message", or its parts. */
static void read_in_pieces(const char *bytes, size_t len, size_t first, size_t piece,
                           const phi__http_head_limits *limits, phi__buf *out) {
    phi_memory memory;
    phi_allocator allocator = test_allocator();
    phi__http_head head;
    phi__http_head_body body;
    phi_status status = PHI_BUSY;
    phi_str data;
    size_t at = 0, used, i, n = first;
    phi_memory_init(&memory, &allocator, 0);
    phi__http_head_init(&head, &memory, limits);
    memset(&body, 0, sizeof body);
    while (status == PHI_BUSY && at < len) {
        status = phi__http_head_read(&head, bytes + at, n < len - at ? n : len - at, &used);
        at += used;
        n = piece;
    }
    if (status == PHI_PARSE) phi__buf_printf(out, "%d %s", head.refused, head.message);
    if (status == PHI_BUSY) phi__buf_text(out, "more");
    if (status == PHI_OK) {
        phi__buf_printf(out, "%.*s %.*s ?%.*s @%.*s", (int)head.method.len, head.method.at,
                        (int)head.path.len, head.path.at, (int)head.query.len, head.query.at,
                        (int)head.authority.len, head.authority.at);
        for (i = 0; i < head.header_count; i++)
            phi__buf_printf(out, " %.*s=%.*s", (int)head.headers[i].name.len,
                            head.headers[i].name.at, (int)head.headers[i].value.len,
                            head.headers[i].value.at);
        phi__buf_text(out, head.keep_alive ? " keep" : " close");
        if (head.expects_continue) phi__buf_text(out, " expect");
        phi__buf_text(out, " [");
        phi__http_head_body_init(&body, &head);
        do {
            size_t most = n < len - at ? n : len - at;
            status = phi__http_head_body_read(&body, bytes + at, most, &used, &data);
            phi__buf_add_str(out, data);
            at += used;
            n = piece;
        } while (status == PHI_BUSY && at < len);
        if (status == PHI_PARSE) phi__buf_printf(out, "] %d %s", body.refused, body.message);
        if (status == PHI_BUSY) phi__buf_text(out, "] more");
        if (status == PHI_OK) phi__buf_printf(out, "] left %d", (int)(len - at));
    }
    phi__http_head_free(&head);
    CHECK_EQ_INT(memory.used_bytes, 0);
}

/* Reads it whole, by bytes, and in two pieces cut at each place: the same comes of it. */
static void verdict(const char *bytes, size_t len, const char *want) {
    static const phi__http_head_limits none;
    phi_memory memory;
    phi__buf whole, cut;
    size_t i;
    phi_memory_init(&memory, NULL, 0);
    phi__buf_init(&whole, &memory);
    phi__buf_init(&cut, &memory);
    read_in_pieces(bytes, len, len, len, &none, &whole);
    if (want != NULL && !CHECK_STR(phi__buf_str(&whole), want)) printf("    of: %s\n", bytes);
    for (i = 0; i < len; i++) {
        bool same;
        phi__buf_clear(&cut);
        read_in_pieces(bytes, len, i == 0 ? 1 : i, i == 0 ? 1 : len, &none, &cut);
        same = cut.len == whole.len && memcmp(cut.at, whole.at, cut.len) == 0;
        if (!same && !CHECK_STR(phi__buf_str(&cut), "the same as whole")) break;
    }
    phi__buf_free(&whole);
    phi__buf_free(&cut);
}

typedef struct pair {
    const char *bytes, *want;
} pair;

static void verdicts(const pair *pairs, size_t count) {
    size_t i;
    for (i = 0; i < count; i++) verdict(pairs[i].bytes, strlen(pairs[i].bytes), pairs[i].want);
}

#define ALL(pairs) verdicts(pairs, sizeof pairs / sizeof pairs[0])
#define HOST "Host: a\r\n"

TEST(heads_are_split_into_their_parts) {
    static const pair pairs[] = {
        {"GET / HTTP/1.1\r\nHost: a\r\n\r\n", "GET / ? @a Host=a keep [] left 0"},
        {"\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\nGET", "GET / ? @a Host=a keep [] left 3"},
        {"GET /a/b%20c?x=1?y#no HTTP/1.1\r\nHost: a\r\n\r\n",
         "400 a byte that no request target holds"},
        {"GET /a/b%20c?x=1?y HTTP/1.1\r\nhOST:  a.b:80 \t\r\nX:\r\n\r\n",
         "GET /a/b%20c ?x=1?y @a.b:80 hOST=a.b:80 X= keep [] left 0"},
        {"GET http://c:8/p?q HTTP/1.1\r\nHost: C:8\r\n\r\n",
         "GET /p ?q @c:8 Host=C:8 keep [] left 0"},
        {"GET http://aBc/ HTTP/1.1\r\nHost: AbC\r\n\r\n", "GET / ? @aBc Host=AbC keep [] left 0"},
        {"GET HTTPS://c HTTP/1.1\r\nHost: c\r\n\r\n", "GET / ? @c Host=c keep [] left 0"},
        {"GET http://c?q HTTP/1.1\r\nHost: c\r\n\r\n", "GET / ?q @c Host=c keep [] left 0"},
        {"GET / HTTP/1.1\r\nHost: [::1]:80\r\n\r\n",
         "GET / ? @[::1]:80 Host=[::1]:80 keep [] left 0"},
        {"OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", "OPTIONS * ? @a Host=a keep [] left 0"},
        {"GET / HTTP/1.0\r\n\r\n", "GET / ? @ close [] left 0"},
        {"GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n",
         "GET / ? @ Connection=Keep-Alive keep [] left 0"},
        {"GET / HTTP/1.1\r\nHost: a\r\nConnection: x, CLOSE\r\n\r\n",
         "GET / ? @a Host=a Connection=x, CLOSE close [] left 0"},
        {"GET / HTTP/1.1\r\nHost: a\r\nX: \xC3\xA9\r\n\r\n",
         "GET / ? @a Host=a X=\xC3\xA9 keep [] left 0"},
        {"GET / HTTP/1.1\r\nHost: a\r\n", "more"},
    };
    ALL(pairs);
}

TEST(bodies_end_where_their_framing_says) {
    static const pair pairs[] = {
        {"POST / HTTP/1.1\r\n" HOST "Content-Length: 5\r\n\r\nhelloGET",
         "POST / ? @a Host=a Content-Length=5 keep [hello] left 3"},
        {"POST / HTTP/1.1\r\n" HOST "Content-Length: 0\r\nExpect: 100-continue\r\n\r\n",
         "POST / ? @a Host=a Content-Length=0 Expect=100-continue keep [] left 0"},
        {"POST / HTTP/1.1\r\n" HOST "Content-Length: 2\r\nExpect: 100-Continue\r\n\r\nok",
         "POST / ? @a Host=a Content-Length=2 Expect=100-Continue keep expect [ok] left 0"},
        {"POST / HTTP/1.1\r\n" HOST "Content-Length: 18446744073709551615\r\n\r\nok",
         "POST / ? @a Host=a Content-Length=18446744073709551615 keep [ok] more"},
        {"POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: Chunked\r\n\r\n"
         "3\r\nabc\r\n00A;x=\"y\";z\r\n0123456789\r\n0\r\n\r\nNEXT",
         "POST / ? @a Host=a Transfer-Encoding=Chunked keep [abc0123456789] left 4"},
        {"POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n0\r\nT: 1\r\nU:\r\n\r\n",
         "POST / ? @a Host=a Transfer-Encoding=chunked keep [] left 0"},
    };
    ALL(pairs);
}

TEST(request_lines_that_two_readers_could_take_differently_are_refused) {
    static const pair pairs[] = {
        {"\r\n\r\nGET / HTTP/1.1\r\n\r\n", "400 empty lines before the request"},
        {"\nGET / HTTP/1.1\r\n\r\n", "400 a CR or a LF alone in the head"},
        {"GET / HTTP/1.1\n\n", "400 a CR or a LF alone in the head"},
        {"GET / HTTP/1.1\r\r\n", "400 a CR or a LF alone in the head"},
        {" GET / HTTP/1.1\r\n" HOST "\r\n", "400 a bad request line"},
        {"GET  / HTTP/1.1\r\n" HOST "\r\n", "400 a bad version in the request line"},
        {"GET / HTTP/1.1 \r\n" HOST "\r\n", "400 a bad version in the request line"},
        {"GET /\tHTTP/1.1\r\n" HOST "\r\n", "400 a request line without a version"},
        {"GET /a b HTTP/1.1\r\n" HOST "\r\n", "400 a bad version in the request line"},
        {"GET /\r\n" HOST "\r\n", "400 a request line without a version"},
        {"G@T / HTTP/1.1\r\n" HOST "\r\n", "400 a bad request line"},
        {"GET / http/1.1\r\n" HOST "\r\n", "400 a bad version in the request line"},
        {"GET / HTTP/1.10\r\n" HOST "\r\n", "400 a bad version in the request line"},
        {"GET / HTTP/2.0\r\n" HOST "\r\n", "505 only HTTP/1.1 and HTTP/1.0 are served"},
        {"PRI * HTTP/2.0\r\n\r\n", "505 only HTTP/1.1 and HTTP/1.0 are served"},
        {"GET / HTTP/0.9\r\n" HOST "\r\n", "505 only HTTP/1.1 and HTTP/1.0 are served"},
        {"GET \xFF HTTP/1.1\r\n" HOST "\r\n", "400 a byte that no request target holds"},
        {"GET a HTTP/1.1\r\n" HOST "\r\n", "400 a request target without a '/'"},
        {"GET ftp://a/ HTTP/1.1\r\n" HOST "\r\n", "400 a request target without a '/'"},
        {"GET  HTTP/1.1\r\n" HOST "\r\n", "400 a request target without a '/'"},
        {"GET * HTTP/1.1\r\n" HOST "\r\n", "400 \"*\" is a target of OPTIONS alone"},
        {"CONNECT a:80 HTTP/1.1\r\n" HOST "\r\n", "501 CONNECT is not served"},
        {"GET http:/// HTTP/1.1\r\n" HOST "\r\n", "400 a bad host in the request target"},
        {"GET http://u@a/ HTTP/1.1\r\n" HOST "\r\n", "400 a bad host in the request target"},
        {"GET http://b/ HTTP/1.1\r\n" HOST "\r\n",
         "400 Host is not the host of the request target"},
        {"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA / HTTP/1.1\r\n" HOST "\r\n", "501 an unknown method"},
        {"\x16\x03\x01\x02", "400 a control character in the head"}, /* TLS */
    };
    ALL(pairs);
}

TEST(header_lines_that_two_readers_could_take_differently_are_refused) {
#define GET "GET / HTTP/1.1\r\n"
    static const pair pairs[] = {
        {GET "\r\n", "400 no Host header"},
        {GET HOST HOST "\r\n", "400 two Host headers"},
        {GET "Host: a b\r\n\r\n", "400 a bad Host header"},
        {GET "Host: a/b\r\n\r\n", "400 a bad Host header"},
        {GET "Host: u@a\r\n\r\n", "400 a bad Host header"},
        {GET "Host: a:\x31x\r\n\r\n", "400 a bad Host header"},
        {GET "Host: a:123456\r\n\r\n", "400 a bad Host header"},
        {GET "Host: [::1\r\n\r\n", "400 a bad Host header"},
        {GET "Host: [::1]x\r\n\r\n", "400 a bad Host header"},
        {GET "Host: :80\r\n\r\n", "400 a bad Host header"},
        {GET "Host: a,b\r\n\r\n", "400 a bad Host header"},
        {GET "Host : a\r\n\r\n", "400 a bad header name"},
        {GET " Host: a\r\n\r\n", "400 a folded header line"},
        {GET HOST "X: a\r\n b\r\n\r\n", "400 a folded header line"},
        {GET HOST "X: a\r\n\tb\r\n\r\n", "400 a folded header line"},
        {GET HOST "X: a\rb\r\n\r\n", "400 a CR or a LF alone in the head"},
        {GET HOST "X: a\nb: c\r\n\r\n", "400 a CR or a LF alone in the head"},
        {GET HOST "X\r\n\r\n", "400 a header line without a colon"},
        {GET HOST ": x\r\n\r\n", "400 a bad header name"},
        {GET HOST "X\x0B: x\r\n\r\n", "400 a control character in the head"},
        {GET HOST "X\xC3: x\r\n\r\n", "400 a bad header name"},
        {GET HOST "X: \x7F\r\n\r\n", "400 a control character in the head"},
        {GET HOST "Expect: magic\r\n\r\n", "417 an unknown Expect"},
    };
    ALL(pairs);
    verdict(GET HOST "X: a\0b\r\n\r\n", strlen(GET HOST) + 10,
            "400 a control character in the head");
}

TEST(framings_that_smuggle_are_refused) {
#define POST "POST / HTTP/1.1\r\n" HOST
    static const pair pairs[] = {
        {POST "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
         "400 both Content-Length and Transfer-Encoding"},
        {POST "Transfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n",
         "400 both Content-Length and Transfer-Encoding"},
        {POST "Content-Length: 1\r\nContent-Length: 1\r\n\r\n", "400 two Content-Length headers"},
        {POST "Content-Length: 1\r\ncontent-length: 2\r\n\r\n", "400 two Content-Length headers"},
        {POST "Content-Length: 1, 1\r\n\r\n", "400 a bad Content-Length"},
        {POST "Content-Length: +1\r\n\r\n", "400 a bad Content-Length"},
        {POST "Content-Length: -1\r\n\r\n", "400 a bad Content-Length"},
        {POST "Content-Length: 0x1\r\n\r\n", "400 a bad Content-Length"},
        {POST "Content-Length: 1 2\r\n\r\n", "400 a bad Content-Length"},
        {POST "Content-Length:\r\n\r\n", "400 a bad Content-Length"},
        {POST "Content-Length: 18446744073709551616\r\n\r\n", "400 a bad Content-Length"},
        {POST "Content-Length : 1\r\n\r\n", "400 a bad header name"},
        {POST "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n",
         "400 two Transfer-Encoding headers"},
        {POST "Transfer-Encoding: gzip, chunked\r\n\r\n",
         "501 a Transfer-Encoding other than chunked"},
        {POST "Transfer-Encoding: xchunked\r\n\r\n", "501 a Transfer-Encoding other than chunked"},
        {POST "Transfer-Encoding: chunked;x\r\n\r\n", "501 a Transfer-Encoding other than chunked"},
        {POST "Transfer-Encoding: \"chunked\"\r\n\r\n",
         "501 a Transfer-Encoding other than chunked"},
        {POST "Transfer-Encoding:\r\n\r\n", "501 a Transfer-Encoding other than chunked"},
        {POST "Transfer-Encoding : chunked\r\n\r\n", "400 a bad header name"},
        {POST "Transfer-Encoding:\x0B"
              "chunked\r\n\r\n",
         "400 a control character in the head"},
        {POST "Transfer-Encoding:\r\n chunked\r\n\r\n", "400 a folded header line"},
        {"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n",
         "400 Transfer-Encoding in an HTTP/1.0 request"},
    };
    ALL(pairs);
}

TEST(chunks_that_smuggle_are_refused) {
#define CHUNKED POST "Transfer-Encoding: chunked\r\n\r\n"
#define GOT "POST / ? @a Host=a Transfer-Encoding=chunked keep "
    static const pair pairs[] = {
        {CHUNKED "x\r\n", GOT "[] 400 a bad chunk size"},
        {CHUNKED "\r\n", GOT "[] 400 a bad chunk size"},
        {CHUNKED ";a\r\n", GOT "[] 400 a bad chunk size"},
        {CHUNKED " 1\r\na\r\n", GOT "[] 400 a bad chunk size"},
        {CHUNKED "1 \r\na\r\n", GOT "[] 400 a bad chunk size"},
        {CHUNKED "0x1\r\na\r\n", GOT "[] 400 a bad chunk size"},
        {CHUNKED "-1\r\na\r\n", GOT "[] 400 a bad chunk size"},
        {CHUNKED "1_0\r\na\r\n", GOT "[] 400 a bad chunk size"},
        {CHUNKED "1\na\r\n", GOT "[] 400 a bad chunk size"},
        {CHUNKED "1\ra\r\n", GOT "[] 400 a bad line end in a chunked body"},
        {CHUNKED "1\r\nab\r\n", GOT "[a] 400 a bad line end in a chunked body"},
        {CHUNKED "1\r\na\n", GOT "[a] 400 a bad line end in a chunked body"},
        {CHUNKED "1\r\na\r1", GOT "[a] 400 a bad line end in a chunked body"},
        {CHUNKED "00000000000000001\r\na\r\n", GOT "[] 400 a chunk size of more than 16 digits"},
        {CHUNKED "ffffffffffffffff\r\nabc", GOT "[abc] more"},
        {CHUNKED "1;a\nb\r\na\r\n", GOT "[] 400 a bad or long chunk extension"},
        {CHUNKED "0\r\nX\r\n\r\n", GOT "[] 400 a bad or long trailer"},
        {CHUNKED "0\r\nX: 1\r\nY\r\n\r\n", GOT "[] 400 a bad or long trailer"},
        {CHUNKED "0\r\n X: 1\r\n\r\n", GOT "[] 400 a bad or long trailer"},
        {CHUNKED "0\r\n: 1\r\n\r\n", GOT "[] 400 a bad or long trailer"},
        {CHUNKED "0\r\nX: 1\n\r\n", GOT "[] 400 a bad or long trailer"},
        {CHUNKED "0\r\n\rX", GOT "[] 400 a bad line end in a chunked body"},
        {CHUNKED "0\r\nX: 1\rY", GOT "[] 400 a bad line end in a chunked body"},
    };
    ALL(pairs);
}

static void long_text(const char *before, char c, size_t n, const char *after, const char *want) {
    static const phi__http_head_limits none;
    phi_memory memory;
    phi__buf text, got;
    phi_memory_init(&memory, NULL, 0);
    phi__buf_init(&text, &memory);
    phi__buf_init(&got, &memory);
    phi__buf_text(&text, before);
    while (n-- > 0) phi__buf_char(&text, c);
    phi__buf_text(&text, after);
    read_in_pieces(text.at, text.len, text.len, text.len, &none, &got);
    if (strlen(want) > 0)
        CHECK_STR(phi__buf_str(&got), want);
    else
        CHECK(got.len > 1000 && got.at[0] == 'G');
    phi__buf_free(&text);
    phi__buf_free(&got);
}

TEST(each_limit_is_exact) {
    phi_memory memory;
    phi__buf text, got;
    static const phi__http_head_limits none;
    size_t i, k;
    long_text("GET /", 'a', 8192 - 14, " HTTP/1.1\r\n" HOST "\r\n", "");
    long_text("GET /", 'a', 8192 - 13, " HTTP/1.1\r\n" HOST "\r\n",
              "414 the request line is too long");
    long_text(GET HOST "X: ", 'a', 8192 - 3, "\r\n\r\n", "");
    long_text(GET HOST "X: ", 'a', 8192 - 2, "\r\n\r\n", "431 a header line is too long");
    long_text(CHUNKED "1;", 'a', 256, "\r\na\r\n0\r\n\r\n", GOT "[a] left 0");
    long_text(CHUNKED "1;", 'a', 257, "\r\na\r\n0\r\n\r\n",
              GOT "[] 400 a bad or long chunk extension");
    long_text(CHUNKED "0\r\nX:", 'a', 16384, "\r\n\r\n", GOT "[] 400 a bad or long trailer");
    long_text(CHUNKED "0\r\nX:", 'a', 16382, "\r\n\r\n", GOT "[] left 0");
    phi_memory_init(&memory, NULL, 0);
    phi__buf_init(&text, &memory);
    phi__buf_init(&got, &memory);
    for (k = 99; k <= 100; k++) {
        phi__buf_clear(&text);
        phi__buf_clear(&got);
        phi__buf_text(&text, GET HOST);
        for (i = 0; i < k; i++) phi__buf_text(&text, "X: 1\r\n");
        phi__buf_text(&text, "\r\n");
        read_in_pieces(text.at, text.len, text.len, text.len, &none, &got);
        if (k == 99)
            CHECK(got.at[0] == 'G');
        else
            CHECK_STR(phi__buf_str(&got), "431 too many headers");
    }
    phi__buf_clear(&text);
    phi__buf_clear(&got);
    phi__buf_text(&text, GET HOST);
    for (i = 0; i < 20; i++) {
        phi__buf_text(&text, "X: ");
        for (k = 0; k < 2000; k++) phi__buf_char(&text, 'x');
        phi__buf_text(&text, "\r\n");
    }
    read_in_pieces(text.at, text.len, text.len, text.len, &none, &got);
    CHECK_STR(phi__buf_str(&got), "431 the head is too long");
    phi__buf_free(&text);
    phi__buf_free(&got);
}

/* A body of tiny chunks with extensions cannot go on for ever. */
TEST(extensions_are_bounded_over_a_body) {
    static const phi__http_head_limits none;
    phi_memory memory;
    phi__buf text, got;
    int i;
    phi_memory_init(&memory, NULL, 0);
    phi__buf_init(&text, &memory);
    phi__buf_init(&got, &memory);
    phi__buf_text(&text, CHUNKED);
    for (i = 0; i < 1000; i++) phi__buf_text(&text, "1;aaaaaaaaaaaaaaaaaaaaaaaaaa\r\nb\r\n");
    read_in_pieces(text.at, text.len, text.len, text.len, &none, &got);
    CHECK(phi__str_find(phi__buf_str(&got), 0, "400 a bad or long chunk extension") != SIZE_MAX);
    phi__buf_free(&text);
    phi__buf_free(&got);
}

TEST(a_head_survives_every_failed_allocation_and_is_reused) {
    static const phi__http_head_limits none;
    const char *text = "GET /some/path HTTP/1.1\r\nHost: a\r\nX: 1\r\nY: 2\r\n\r\n";
    phi_allocator allocator = test_allocator();
    phi_memory memory;
    phi__http_head head;
    bool tripped = true;
    int n;
    for (n = 0; tripped && n < 50; n++) {
        phi_status status;
        size_t used;
        phi_memory_init(&memory, &allocator, 0);
        phi__http_head_init(&head, &memory, &none);
        test_alloc_fail_at(n);
        status = phi__http_head_read(&head, text, strlen(text), &used);
        tripped = test_alloc_tripped();
        CHECK_EQ_INT(status, tripped ? PHI_NO_MEMORY : PHI_OK);
        test_alloc_fail_at(-1);
        phi__http_head_clear(&head);
        CHECK_EQ_INT(memory.used_bytes, 0);
        CHECK(!phi__http_head_begun(&head));
        CHECK_EQ_INT(phi__http_head_read(&head, text, strlen(text), &used), PHI_OK);
        CHECK_STR(phi__http_head_get(&head, "y"), "2");
        CHECK(phi__http_head_get(&head, "z").at == NULL);
        phi__http_head_free(&head);
        phi__http_head_free(&head);
        CHECK_EQ_INT(memory.used_bytes, 0);
    }
    CHECK(n >= 3);
}

/* One byte of a request exchanged, left out or doubled: what comes of it does not depend on the
   pieces, and nothing is read beyond them. */
TEST(a_changed_byte_gives_the_same_verdict_in_any_pieces) {
    static const char base[] = "POST /a?b HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                               "2;x\r\nhi\r\n0\r\nT: u\r\n\r\n";
    static const char with[] = "\r\n \t:;,0\0\x7Fz";
    size_t len = sizeof base - 1, i, k;
    char text[sizeof base + 2];
    for (i = 0; i < len; i += 3)
        for (k = 0; k < sizeof with - 1; k++) {
            memcpy(text, base, len);
            text[i] = with[k];
            verdict(text, len, NULL);
        }
    for (i = 0; i < len; i += 2) {
        memcpy(text, base, i);
        memcpy(text + i, base + i + 1, len - i - 1);
        verdict(text, len - 1, NULL);
        memcpy(text, base, i + 1);
        memcpy(text + i + 1, base + i, len - i);
        verdict(text, len + 1, NULL);
    }
}

TEST_MAIN(TEST_ENTRY(heads_are_split_into_their_parts),
          TEST_ENTRY(bodies_end_where_their_framing_says),
          TEST_ENTRY(request_lines_that_two_readers_could_take_differently_are_refused),
          TEST_ENTRY(header_lines_that_two_readers_could_take_differently_are_refused),
          TEST_ENTRY(framings_that_smuggle_are_refused),
          TEST_ENTRY(chunks_that_smuggle_are_refused), TEST_ENTRY(each_limit_is_exact),
          TEST_ENTRY(extensions_are_bounded_over_a_body),
          TEST_ENTRY(a_head_survives_every_failed_allocation_and_is_reused),
          TEST_ENTRY(a_changed_byte_gives_the_same_verdict_in_any_pieces))
