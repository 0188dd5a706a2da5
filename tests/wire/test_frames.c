/* test_frames.c - frames cut anywhere, lengths and checks that lie, garbage, and lines. */
#include "wire/frames_support.h"
#include "wire/codec_in.h"

/* All that is handed out, "name=payload;" each, then what the reader said last. */
static void read_all(const char *bytes, size_t len, size_t cut, size_t max_bytes, char out[2048]) {
    phi_allocator allocator = test_allocator();
    phi_memory memory;
    phi__frames frames;
    phi__frame frame;
    size_t at = 0, n, used = 0;
    int got = 0;
    out[0] = '\0';
    phi_memory_init(&memory, &allocator, 0);
    phi__frames_framing()->init(&frames, &memory, max_bytes);
    while (at < len) {
        char *piece;
        n = cut == SIZE_MAX ? 1 : at == 0 && cut > 0 && cut < len ? cut : len - at;
        piece = (char *)malloc(n); /* so that a read past the piece is seen */
        memcpy(piece, bytes + at, n);
        phi__frames_framing()->feed(&frames, piece, n);
        while ((got = phi__frames_framing()->next(&frames, &frame)) > 0)
            used += (size_t)snprintf(out + used, 2048 - used, "%.*s=%.*s;", (int)frame.name.len,
                                     frame.name.at != NULL ? frame.name.at : "",
                                     (int)frame.payload.len, frame.payload.at);
        free(piece);
        at += n;
    }
    snprintf(out + used, 2048 - used, "%s%s",
             got == 0             ? ""
             : got == PHI_PARSE   ? "parse"
             : got == PHI_TOO_BIG ? "big"
                                  : "other",
             phi__frames_framing()->cut(&frames) ? "cut" : "");
    phi__frames_framing()->free(&frames);
    phi__frames_framing()->free(&frames);
    CHECK_EQ_INT(memory.used_bytes, 0);
}

static void check_all(const char *bytes, size_t len, size_t max_bytes, const char *want) {
    char got[2048];
    size_t cut;
    for (cut = 0; cut <= len; cut++) {
        read_all(bytes, len, cut == len ? SIZE_MAX : cut, max_bytes, got);
        CHECK_EQ_STR(got, want);
    }
}

TEST(frames_cut_at_every_byte_are_put_together) {
    frame_bytes f;
    f.len = 0;
    frame_add(&f, "event", "messageStart", "{\"role\":\"assistant\"}");
    frame_add(&f, "event", "empty", "");
    frame_add(&f, "exception", "throttlingException", "{\"message\":\"slow\"}");
    check_all(f.at, f.len, 0,
              "messageStart={\"role\":\"assistant\"};empty=;"
              "!throttlingException={\"message\":\"slow\"};");
}

TEST(an_error_has_its_code_and_message_in_headers) {
    frame_bytes f, h;
    f.len = h.len = 0;
    frame_header(&h, ":error-message", "it broke");
    frame_header(&h, ":error-code", "InternalFailure");
    frame_header(&h, ":message-type", "error");
    frame_make(&f, &h, "");
    check_all(f.at, f.len, 0, "!InternalFailure=it broke;");
}

TEST(headers_of_every_type_are_read_over) {
    static const char odd[] = "\1a\0\1b\1\1c\2x\1d\3xx\1e\4xxxx\1f\5xxxxxxxx\1g\6\0\2xx"
                              "\1h\10xxxxxxxx\1i\11xxxxxxxxxxxxxxxx";
    frame_bytes f, h;
    f.len = 0;
    h.len = sizeof odd - 1;
    memcpy(h.at, odd, h.len);
    frame_header(&h, ":message-type", "event");
    frame_header(&h, ":event-type", "e");
    frame_make(&f, &h, "{}");
    check_all(f.at, f.len, 0, "e={};");
}

TEST(frames_of_unknown_kinds_are_read_over) {
    frame_bytes f, h;
    f.len = h.len = 0;
    frame_make(&f, &h, "no headers");
    frame_header(&h, ":message-type", "novelty");
    frame_make(&f, &h, "x");
    frame_add(&f, "event", "e", "{}");
    check_all(f.at, f.len, 0, "e={};");
}

TEST(a_flipped_bit_anywhere_is_noticed) {
    frame_bytes f;
    char got[2048];
    size_t i;
    f.len = 0;
    frame_add(&f, "event", "e", "{\"a\":1}");
    for (i = 0; i < f.len; i++) {
        f.at[i] = (char)(f.at[i] ^ 4);
        read_all(f.at, f.len, 0, 0, got);
        CHECK_EQ_STR(got, "parse");
        f.at[i] = (char)(f.at[i] ^ 4);
    }
}

TEST(a_cut_frame_is_said_to_be_cut) {
    frame_bytes f;
    size_t first;
    f.len = 0;
    frame_add(&f, "event", "e", "{}");
    first = f.len;
    frame_add(&f, "event", "f", "{}");
    check_all(f.at, first + 1, 0, "e={};cut");
    check_all(f.at, first + 13, 0, "e={};cut");
    check_all(f.at, f.len - 1, 0, "e={};cut");
    check_all(f.at, first, 0, "e={};");
}

/* A head alone, with a right check of its own. */
static void check_head(uint32_t total, uint32_t headers, size_t max_bytes, const char *want) {
    frame_bytes f;
    f.len = 0;
    frame_u32(&f, total);
    frame_u32(&f, headers);
    frame_u32(&f, phi__crc32(0, f.at, 8));
    check_all(f.at, f.len, max_bytes, want);
}

TEST(lengths_that_cannot_be_are_refused_before_their_bytes_come) {
    check_head(15, 0, 0, "parse");
    check_head(0, 0, 0, "parse");
    check_head(16, 1, 0, "parse");
    check_head(16, 0xffffffffu, 0, "parse");
    check_head(1u << 20, (1u << 17) + 1, 0, "parse");
    check_head(0xffffffffu, 0, 0, "big");
    check_head(1001, 0, 1000, "big");
    check_head(1000, 0, 1000, "cut");
}

TEST(headers_that_run_over_their_end_are_refused) {
    static const char *const bad[] = {"\377",    "\3ab",    "\1a",   "\1a\7",
                                      "\1a\7\1", "\1a\4xx", "\1a\12"};
    size_t i;
    for (i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        frame_bytes f, h;
        f.len = 0;
        h.len = strlen(bad[i]);
        memcpy(h.at, bad[i], h.len);
        frame_make(&f, &h, "");
        check_all(f.at, f.len, 0, "parse");
    }
}

TEST(garbage_is_refused) {
    check_all("HTTP/1.1 200 OK\r\n\r\n", 19, 0, "parse");
    check_all("data: {\"a\":1}\n\n", 15, 0, "parse");
}

TEST(after_a_failure_nothing_more_comes) {
    frame_bytes f;
    phi_memory memory;
    phi__frames frames;
    phi__frame frame;
    phi_memory_init(&memory, NULL, 0);
    phi__frames_framing()->init(&frames, &memory, 0);
    phi__frames_framing()->feed(&frames, "garbage of twelve and more", 26);
    CHECK_EQ_INT(phi__frames_framing()->next(&frames, &frame), PHI_PARSE);
    f.len = 0;
    frame_add(&f, "event", "e", "{}");
    phi__frames_framing()->feed(&frames, f.at, f.len);
    CHECK_EQ_INT(phi__frames_framing()->next(&frames, &frame), PHI_PARSE);
    phi__frames_framing()->free(&frames);
    CHECK_EQ_INT(memory.used_bytes, 0);
}

TEST(objects_in_lines_come_with_an_empty_name) {
    static const char text[] = "{\"a\":\"}\\\"{\"}\n\r\n {\"b\":{\"c\":{}}}\r\n{\"d\":\n1}{}";
    check_all(text, strlen(text), 0, "={\"a\":\"}\\\"{\"};={\"b\":{\"c\":{}}};={\"d\":\n1};={};");
    check_all("{\"a\":1}\n{\"b\"", 12, 0, "={\"a\":1};cut");
    check_all("{}\noops", 7, 0, "={};parse");
    check_all("{\"a\":\"0123456789\"}", 18, 10, "big");
}

TEST(want_of_memory_is_said) {
    phi_allocator allocator = test_allocator();
    phi_memory memory;
    phi__frames frames;
    phi__frame frame;
    frame_bytes f;
    int n, got;
    size_t i;
    f.len = 0;
    frame_add(&f, "event", "e", "{\"a\":\"a payload that is longer than a first buffer is\"}");
    frame_add(&f, "exception", "x", "{}");
    for (n = 0;; n++) {
        phi_memory_init(&memory, &allocator, 0);
        phi__frames_framing()->init(&frames, &memory, 0);
        test_alloc_fail_at(n);
        got = 0;
        for (i = 0; i < f.len && got >= 0; i++) {
            phi__frames_framing()->feed(&frames, f.at + i, 1);
            do got = phi__frames_framing()->next(&frames, &frame);
            while (got > 0);
        }
        phi__frames_framing()->free(&frames);
        CHECK_EQ_INT(memory.used_bytes, 0);
        CHECK_EQ_INT(got, test_alloc_tripped() ? PHI_NO_MEMORY : 0);
        if (!test_alloc_tripped()) break;
    }
    test_alloc_fail_at(-1);
    CHECK(n > 1);
}

TEST_MAIN(TEST_ENTRY(frames_cut_at_every_byte_are_put_together),
          TEST_ENTRY(an_error_has_its_code_and_message_in_headers),
          TEST_ENTRY(headers_of_every_type_are_read_over),
          TEST_ENTRY(frames_of_unknown_kinds_are_read_over),
          TEST_ENTRY(a_flipped_bit_anywhere_is_noticed), TEST_ENTRY(a_cut_frame_is_said_to_be_cut),
          TEST_ENTRY(lengths_that_cannot_be_are_refused_before_their_bytes_come),
          TEST_ENTRY(headers_that_run_over_their_end_are_refused), TEST_ENTRY(garbage_is_refused),
          TEST_ENTRY(after_a_failure_nothing_more_comes),
          TEST_ENTRY(objects_in_lines_come_with_an_empty_name), TEST_ENTRY(want_of_memory_is_said))
