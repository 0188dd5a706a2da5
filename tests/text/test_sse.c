/* test_sse.c - the reader of server-sent events, at every split. */
#include "support/test.h"
#include "text/json_in.h"

static phi_memory memory;

static void setup(void) {
    phi_allocator allocator = test_allocator();
    phi_memory_init(&memory, &allocator, 0);
}

/* Events as text: "name|data;" each. */
typedef struct log {
    char text[4096];
    size_t len;
    int status;
} log_type;

static void note(log_type *l, const phi__sse_event *e) {
    int n = snprintf(l->text + l->len, sizeof l->text - l->len, "%.*s|%.*s;", (int)e->name.len,
                     e->name.len > 0 ? e->name.at : "", (int)e->data.len,
                     e->data.len > 0 ? e->data.at : "");
    if (n > 0) l->len += (size_t)n;
}

/* Feeds one piece, from a buffer of its exact size that is gone afterwards. */
static void feed(phi__sse *sse, const char *bytes, size_t len, log_type *l) {
    char *piece = (char *)malloc(len > 0 ? len : 1);
    phi__sse_event e;
    if (piece == NULL) abort();
    if (len > 0) memcpy(piece, bytes, len);
    phi__sse_feed(sse, piece, len);
    while ((l->status = phi__sse_next(sse, &e)) > 0) note(l, &e);
    if (l->status == 0) memset(piece, '#', len);
    free(piece);
}

static void finish(phi__sse *sse, log_type *l) {
    phi__sse_event e;
    while ((l->status = phi__sse_finish(sse, &e)) > 0) note(l, &e);
}

static bool strays; /* of the readers that check_stream makes */

/* The stream as a whole, in two pieces cut at every place, and byte by byte. */
static void check_stream(const char *stream, size_t len, const char *want) {
    size_t cut;
    for (cut = 0; cut <= len + 1; cut++) {
        phi__sse sse;
        log_type l = PHI_ZERO;
        setup();
        phi__sse_init(&sse, &memory, 0);
        sse.strays = strays;
        if (cut <= len) {
            feed(&sse, stream, cut, &l);
            feed(&sse, stream + cut, len - cut, &l);
        } else {
            size_t i;
            for (i = 0; i < len; i++) feed(&sse, stream + i, 1, &l);
        }
        finish(&sse, &l);
        if (!CHECK_EQ_STR(l.text, want)) fprintf(stderr, "cut at %d\n", (int)cut);
        CHECK_EQ_INT(l.status, 0);
        phi__sse_free(&sse);
        CHECK_EQ_INT(memory.used_bytes, 0);
    }
}

#define CHECK_STREAM(stream, want) check_stream((stream), sizeof(stream) - 1, (want))

TEST(events_are_read_at_every_split) {
    CHECK_STREAM("data: a\n\n", "|a;");
    CHECK_STREAM("event: x\ndata: a\n\ndata: b\n\n", "x|a;|b;");
    CHECK_STREAM("data:a\n\ndata:  b\n\ndata:\n\ndata: \n\n", "|a;| b;|;|;");
    CHECK_STREAM("data: {\"a\": \"b: c\"}\n\n", "|{\"a\": \"b: c\"};");
    CHECK_STREAM("data\n\n", "|;");
    CHECK_STREAM("data: [DONE]\n\n", "|[DONE];");
}

TEST(lines_end_in_lf_cr_or_both) {
    CHECK_STREAM("event: x\rdata: a\r\rdata: b\r\r", "x|a;|b;");
    CHECK_STREAM("event: x\r\ndata: a\r\n\r\ndata: b\r\n\r\n", "x|a;|b;");
    CHECK_STREAM("data: a\r\n\rdata: b\n\r\ndata: c\r\r\n", "|a;|b;|c;");
    CHECK_STREAM("\n\n\r\r\n\ndata: a\n\n\n\n", "|a;");
}

TEST(data_lines_are_joined) {
    CHECK_STREAM("data: a\ndata: b\ndata:c\n\n", "|a\nb\nc;");
    CHECK_STREAM("data: a\nevent: x\ndata:\ndata: \n\n", "x|a\n\n;");
    CHECK_STREAM("data:\ndata: a\n\n", "|\na;");
}

TEST(what_is_not_data_or_event_is_read_over) {
    CHECK_STREAM(": OPENROUTER PROCESSING\n\ndata: a\n\n:\n: x\n", "|a;");
    CHECK_STREAM("id: 1\nretry: 10\nfoo\nfoo: bar\ndata: a\nDATA: no\ndatas: no\ndat: no\n\n",
                 "|a;");
    CHECK_STREAM("event: x\n\ndata: a\n\n", "|a;"); /* no data, no event */
    CHECK_STREAM("event: x\nevent: y\ndata: a\n\n", "y|a;");
    CHECK_STREAM("event: x\nevent\ndata: a\n\n", "|a;");
    CHECK_STREAM(" data: a\n\n", "");
}

TEST(a_byte_order_mark_is_read_over_and_only_at_the_start) {
    CHECK_STREAM("\xef\xbb\xbf"
                 "data: a\n\n\xef\xbb\xbf"
                 "data: b\n\ndata: c\n\n",
                 "|a;|c;");
    CHECK_STREAM("\xef\xbb"
                 "data: a\n\ndata: b\n\n",
                 "|b;");
    CHECK_STREAM("\xef"
                 "data: a\n\ndata: b\n\n",
                 "|b;");
    CHECK_STREAM("\xef\xbb\xbf", "");
    CHECK_STREAM("\xef\xbb", "");
}

TEST(bare_json_is_an_event_where_that_is_asked_for) {
    strays = true;
    CHECK_STREAM("data: {a}\n\n{\n  \"error\": {\n\n    \"code\": 500\n  }\n}\n",
                 "|{a};|{\n  \"error\": {\n    \"code\": 500\n  }\n};");
    CHECK_STREAM("[{\r\n  \"error\": 1}\r\n]", "|[{\n  \"error\": 1}\n];");
    CHECK_STREAM("\xef\xbb\xbf{\"a\":1}\n\ndata: b\n\n", "|{\"a\":1};|b;");
    CHECK_STREAM("data: a\n\n {\nx: {\n: {\n", "|a;");
    strays = false;
    CHECK_STREAM("{\n \"a\": 1\n}\n\ndata: b\n\n", "|b;");
}

TEST(bare_json_behind_an_open_data_line_is_an_event_of_its_own) {
    strays = true;
    CHECK_STREAM("event: x\ndata: a\n{\"error\":1}\n", "x|a;|{\"error\":1};");
    CHECK_STREAM("data: a\r\n{\"error\":1}", "|a;|{\"error\":1};");
    CHECK_STREAM("data: a\ndata: b\n[1,\n{\n2}]\n\n", "|a\nb;|[1,\n{\n2}];");
    CHECK_STREAM("data: a\n{\"e\":1}\nevent: y\ndata: b\n\n", "|a;|{\"e\":1};y|b;");
    CHECK_STREAM("[info] up\n{\ndata: b\n\n{c}", "|[info] up\n{;|b;|{c};");
    strays = false;
}

/* docs/limits.md lists these; an event at the end, and bare JSON, have tests of their own. */
TEST(a_line_error_begins_an_event_of_that_name_with_a_colon_or_without) {
    CHECK_STREAM("error: {a}\n\ndata: b\n\n", "error|{a};|b;");
    CHECK_STREAM("error\n\ndata: b\n\n", "error|;|b;");
    CHECK_STREAM("errors: a\n\n", "");
}

TEST(bare_json_beyond_the_limit_is_an_error_and_a_new_beginning_forgets_it) {
    phi__sse sse;
    log_type l = PHI_ZERO;
    setup();
    phi__sse_init(&sse, &memory, 10);
    sse.strays = true;
    feed(&sse, "{\n12345\n6789\n", 13, &l);
    CHECK_EQ_INT(l.status, PHI_TOO_BIG);
    phi__sse_free(&sse);
    sse.strays = true;
    feed(&sse, "data: a\n\n{", 10, &l);
    finish(&sse, &l);
    CHECK_EQ_STR(l.text, "|a;|{;");
    phi__sse_free(&sse);
}

TEST(at_the_end_a_pending_event_is_delivered) {
    CHECK_STREAM("data: a\n\ndata: b\n", "|a;|b;");
    CHECK_STREAM("data: a\n\nevent: x\ndata: b", "|a;x|b;");
    CHECK_STREAM("data: a\ndata: b\r", "|a\nb;");
    CHECK_STREAM("event: x\n", "");
    CHECK_STREAM("", "");
}

TEST(comments_are_counted_as_signs_of_life) {
    phi__sse sse;
    log_type l = PHI_ZERO;
    setup();
    phi__sse_init(&sse, &memory, 0);
    feed(&sse, ": keep-alive\n\n:\n", 16, &l);
    CHECK_EQ_INT(sse.comments, 2);
    CHECK_EQ_INT(sse.events, 0);
    feed(&sse, "data: :no comment\n\n: c", 22, &l);
    CHECK_EQ_INT(sse.comments, 2);
    CHECK_EQ_INT(sse.events, 1);
    phi__sse_free(&sse);
}

TEST(an_event_that_lies_whole_in_the_bytes_is_not_copied) {
    static const char bytes[] = "event: x\ndata: {\"a\":1}\n\ndata: b\n\n";
    phi__sse sse;
    phi__sse_event e;
    setup();
    phi__sse_init(&sse, &memory, 0);
    phi__sse_feed(&sse, bytes, sizeof bytes - 1);
    CHECK_EQ_INT(phi__sse_next(&sse, &e), 1);
    CHECK(e.data.at == bytes + 15);
    CHECK_STR(e.name, "x");
    CHECK_EQ_INT(phi__sse_next(&sse, &e), 1);
    CHECK(e.data.at == bytes + 30);
    CHECK_EQ_INT(e.name.len, 0);
    CHECK_EQ_INT(phi__sse_next(&sse, &e), 0);
    CHECK_EQ_INT(sse.line.cap, 0);
    CHECK_EQ_INT(sse.data.cap, 0);
    phi__sse_free(&sse);
}

TEST(an_event_beyond_the_limit_is_an_error_and_the_reader_is_dead_until_reset) {
    static const char *const streams[] = {
        "data: 12345678901\n\n", "data: 123456\ndata: 7890\n\n", "event: 123456\ndata: 12345\n\n",
        "data: 123456\nevent: 12345\n\n", "event: 12345678901\n\n"};
    size_t i;
    for (i = 0; i < PHI__COUNT(streams); i++) {
        phi__sse sse;
        log_type l = PHI_ZERO;
        setup();
        phi__sse_init(&sse, &memory, 10);
        feed(&sse, "data: 1234567890\n\ndata: 12345\ndata: 6789\n\n", 42, &l);
        CHECK_EQ_STR(l.text, "|1234567890;|12345\n6789;");
        feed(&sse, streams[i], strlen(streams[i]), &l);
        CHECK_EQ_INT(l.status, PHI_TOO_BIG);
        CHECK_EQ_INT(memory.used_bytes, 0);
        feed(&sse, "data: a\n\n", 9, &l);
        CHECK_EQ_INT(l.status, PHI_TOO_BIG);
        finish(&sse, &l);
        CHECK_EQ_INT(l.status, PHI_TOO_BIG);
        phi__sse_free(&sse);
        memset(&l, 0, sizeof l);
        feed(&sse, "data: a\n\n", 9, &l);
        CHECK_EQ_STR(l.text, "|a;");
        phi__sse_free(&sse);
    }
}

TEST(a_line_that_never_ends_is_bounded) {
    phi__sse sse;
    log_type l = PHI_ZERO;
    int i;
    setup();
    phi__sse_init(&sse, &memory, 1000);
    for (i = 0; i < 100000 && l.status == 0; i++) feed(&sse, "foo: xxxxx", 10, &l);
    CHECK_EQ_INT(l.status, PHI_TOO_BIG);
    CHECK(i < 200);
    CHECK(memory.peak_bytes < 8192);
    phi__sse_free(&sse);
}

TEST(memory_for_a_large_event_goes_back_when_it_was_handed_out) {
    static char big[20000];
    phi__sse sse;
    log_type l = PHI_ZERO;
    phi__sse_event e;
    setup();
    memset(big, 'x', sizeof big);
    memcpy(big, "data: ", 6);
    phi__sse_init(&sse, &memory, 0);
    feed(&sse, big, sizeof big, &l);
    feed(&sse, "y", 1, &l);
    phi__sse_feed(&sse, "\n\n", 2);
    CHECK_EQ_INT(phi__sse_next(&sse, &e), 1);
    CHECK_EQ_INT(e.data.len, sizeof big - 5);
    CHECK(memory.used_bytes >= sizeof big - 5);
    CHECK_EQ_INT(phi__sse_next(&sse, &e), 0);
    CHECK(memory.used_bytes <= 2 * 4096);
    phi__sse_free(&sse);
}

TEST(every_failed_allocation_is_reported_and_leaks_nothing) {
    static const char stream[] = "event: x\ndata: a\ndata: b\n\ndata: c\n\nevent: y\ndata: d\n\n";
    size_t cut;
    for (cut = 1; cut < sizeof stream - 1; cut++) {
        int n = 0;
        bool tripped;
        do {
            phi__sse sse;
            log_type l = PHI_ZERO;
            setup();
            test_alloc_fail_at(n++);
            phi__sse_init(&sse, &memory, 0);
            feed(&sse, stream, cut, &l);
            if (l.status == 0) feed(&sse, stream + cut, sizeof stream - 1 - cut, &l);
            tripped = test_alloc_tripped();
            if (tripped)
                CHECK_EQ_INT(l.status, PHI_NO_MEMORY);
            else
                CHECK_EQ_STR(l.text, "x|a\nb;|c;y|d;");
            phi__sse_free(&sse);
            CHECK_EQ_INT(test_alloc_live_bytes(), 0);
        } while (tripped);
    }
    test_alloc_fail_at(-1);
}

/* Ids and delays after a stream, cut at every place: "id retry". */
static void check_resume(const char *stream, size_t len, const char *want) {
    size_t cut;
    for (cut = 0; cut <= len; cut++) {
        phi__sse sse;
        phi__sse_resume resume;
        log_type l = PHI_ZERO;
        char got[2000];
        setup();
        phi__sse_init(&sse, &memory, 0);
        phi__sse_resume_init(&resume, &memory);
        sse.resume = &resume;
        feed(&sse, stream, cut, &l);
        feed(&sse, stream + cut, len - cut, &l);
        (void)snprintf(got, sizeof got, "%.*s %d", (int)resume.id.len,
                       resume.id.len > 0 ? resume.id.at : "",
                       resume.has_retry ? (int)resume.retry_ms : -1);
        CHECK_EQ_STR(got, want);
        phi__sse_free(&sse);
        phi__sse_resume_free(&resume);
        phi__sse_resume_free(&resume);
    }
}

static void ids_and_retries_are_kept_where_they_are_wanted(void) {
    static char longest[PHI__SSE_ID_MOST + 64];
    static const char nul[] = "id: a\ndata: 1\n\nid: b\0c\ndata: 2\n\n";
    int n;
#define RESUME(stream, want) check_resume("" stream, sizeof(stream) - 1, want)
    RESUME("data: x\n\n", " -1");
    RESUME("id: a\ndata: x\n\n", "a -1");
    RESUME("id: a\nretry: 500\ndata: \n\n", "a 500");
    RESUME("id: a\n\n", "a -1");                          /* no data: no event, but an id */
    RESUME("id: a\ndata: 1\n\nid: b\ndata: 2\n", "a -1"); /* the second is not complete */
    RESUME("id: a\ndata: 1\n\ndata: 2\n\n", "a -1");
    RESUME("id: a\ndata: 1\n\nid\ndata: 2\n\n", " -1");
    RESUME("retry: 5x\nretry: -1\nretry:\n\n", " -1");
    RESUME("retry: 1\nretry: 20\n", " 20");
    check_resume(nul, sizeof nul - 1, "a -1");
    n = snprintf(longest, sizeof longest, "id: a\ndata: 1\n\nid: ");
    memset(longest + n, 'x', PHI__SSE_ID_MOST + 1);
    memcpy(longest + n + PHI__SSE_ID_MOST + 1, "\n\n", 3);
    check_resume(longest, strlen(longest), " -1");
}

TEST_MAIN(TEST_ENTRY(ids_and_retries_are_kept_where_they_are_wanted),
          TEST_ENTRY(events_are_read_at_every_split), TEST_ENTRY(lines_end_in_lf_cr_or_both),
          TEST_ENTRY(data_lines_are_joined), TEST_ENTRY(what_is_not_data_or_event_is_read_over),
          TEST_ENTRY(a_byte_order_mark_is_read_over_and_only_at_the_start),
          TEST_ENTRY(bare_json_is_an_event_where_that_is_asked_for),
          TEST_ENTRY(bare_json_behind_an_open_data_line_is_an_event_of_its_own),
          TEST_ENTRY(a_line_error_begins_an_event_of_that_name_with_a_colon_or_without),
          TEST_ENTRY(bare_json_beyond_the_limit_is_an_error_and_a_new_beginning_forgets_it),
          TEST_ENTRY(at_the_end_a_pending_event_is_delivered),
          TEST_ENTRY(comments_are_counted_as_signs_of_life),
          TEST_ENTRY(an_event_that_lies_whole_in_the_bytes_is_not_copied),
          TEST_ENTRY(an_event_beyond_the_limit_is_an_error_and_the_reader_is_dead_until_reset),
          TEST_ENTRY(a_line_that_never_ends_is_bounded),
          TEST_ENTRY(memory_for_a_large_event_goes_back_when_it_was_handed_out),
          TEST_ENTRY(every_failed_allocation_is_reported_and_leaks_nothing))
