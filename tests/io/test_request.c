/* A body in pieces: read from any offset, whatever the pieces are. */
#include "support/header.h"
#include "support/test.h"

#include "io/io_in.h"

static phi_request make(phi__piece *pieces, size_t count) {
    phi_request rq;
    memset(&rq, 0, sizeof rq);
    rq.pieces = pieces;
    rq.piece_count = count;
    phi__request_seal(&rq);
    return rq;
}

static phi__piece piece(const char *text) {
    phi__piece p;
    p.at = text;
    p.len = strlen(text);
    p.start = 999;
    return p;
}

TEST(seal_counts_the_length_and_the_starts) {
    phi__piece pieces[4];
    phi_request rq;
    pieces[0] = piece("abc");
    pieces[1] = piece("");
    pieces[2] = piece("defgh");
    pieces[3] = piece("i");
    rq = make(pieces, 4);
    CHECK_EQ_INT(phi_request_get_info(&rq).length, 9);
    CHECK_EQ_INT(pieces[0].start, 0);
    CHECK_EQ_INT(pieces[1].start, 3);
    CHECK_EQ_INT(pieces[2].start, 3);
    CHECK_EQ_INT(pieces[3].start, 8);
}

TEST(an_empty_body_reads_nothing) {
    char out[4];
    phi__piece empty = piece("");
    phi_request none = make(NULL, 0), one = make(&empty, 1);
    CHECK_EQ_INT(phi_request_get_info(&none).length, 0);
    CHECK_EQ_INT(phi_request_read(&none, 0, out, sizeof out), 0);
    CHECK_EQ_INT(phi_request_read(&one, 0, out, sizeof out), 0);
}

TEST(any_offset_and_any_length_give_the_same_bytes) {
    static const char *const texts[] = {"", "ab", "", "", "c", "defghij", "", "k", "lmnop", ""};
    static const char whole[] = "abcdefghijklmnop";
    phi__piece pieces[10];
    phi_request rq;
    char out[32];
    size_t i, at, n;
    for (i = 0; i < 10; i++) pieces[i] = piece(texts[i]);
    rq = make(pieces, 10);
    CHECK_EQ_INT(phi_request_get_info(&rq).length, 16);
    for (at = 0; at <= 18; at++)
        for (n = 0; n <= 20; n++) {
            size_t want = at >= 16 ? 0 : n < 16 - at ? n : 16 - at;
            memset(out, '?', sizeof out);
            if (!CHECK_EQ_INT(phi_request_read(&rq, at, out, n), want)) return;
            if (!CHECK(memcmp(out, whole + (at < 16 ? at : 0), want) == 0)) return;
            if (!CHECK_EQ_INT(out[want], '?')) return;
        }
}

TEST(offsets_past_four_gibibytes_are_past_the_end) {
    char out[4];
    phi__piece p = piece("abc");
    phi_request rq = make(&p, 1);
    CHECK_EQ_INT(phi_request_read(&rq, (uint64_t)1 << 32, out, sizeof out), 0);
    CHECK_EQ_INT(phi_request_read(&rq, UINT64_MAX, out, sizeof out), 0);
}

TEST(method_url_and_headers_are_told) {
    phi_request rq;
    phi__header lines[2];
    phi_str name, value;
    memset(&rq, 0, sizeof rq);
    rq.method = phi_str_of("POST");
    rq.url = phi_str_of("https://api.example/v1");
    lines[0].name = phi_str_of("A");
    lines[0].value = phi_str_of("1");
    lines[1].name = phi_str_of("B");
    lines[1].value = phi_str_of("");
    rq.headers = lines;
    rq.header_count = 2;
    CHECK_STR(phi_request_get_info(&rq).method, "POST");
    CHECK_STR(phi_request_get_info(&rq).url, "https://api.example/v1");
    CHECK(header_at(&rq, 1, &name, &value));
    CHECK_STR(name, "B");
    CHECK_STR(value, "");
    CHECK(!header_at(&rq, 2, &name, &value));
}

TEST_MAIN(TEST_ENTRY(seal_counts_the_length_and_the_starts),
          TEST_ENTRY(an_empty_body_reads_nothing),
          TEST_ENTRY(any_offset_and_any_length_give_the_same_bytes),
          TEST_ENTRY(offsets_past_four_gibibytes_are_past_the_end),
          TEST_ENTRY(method_url_and_headers_are_told))
