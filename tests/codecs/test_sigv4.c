/* test_sigv4.c - signatures by the vectors of tests/fixtures, and what becomes of odd values. */
#include "base/base_in.h"
#include "codecs/sigv4_in.h"
#include "wire/wire_support.h"

static phi_str text_of(const phi_json *one, const char *key) {
    return phi_json_str(phi_json_get(one, key), "");
}

/* "20261120T123456Z" */
static int64_t time_of(phi_str t) {
    char text[32];
    int64_t ms = 0;
    snprintf(text, sizeof text, "%.4s-%.2s-%.5s:%.2s:%.3s", t.at, t.at + 4, t.at + 6, t.at + 11,
             t.at + 13);
    CHECK(phi__date_get(phi_str_of(text), &ms));
    return ms;
}

static void check_vector(const phi_json *one, phi_memory *memory) {
    phi__sigv4 s;
    phi__sigv4_words words;
    unsigned char hash[32];
    phi__buf out;
    memset(&s, 0, sizeof s);
    s.method = text_of(one, "method");
    s.path = text_of(one, "wire_path");
    s.host = text_of(one, "host");
    s.content_type = phi_str_of("application/json");
    s.access_key = text_of(one, "access_key_id");
    s.secret = text_of(one, "secret_access_key");
    s.token = text_of(one, "session_token");
    s.region = text_of(one, "region");
    s.wall_ms = time_of(text_of(one, "time"));
    phi__sha256_of(text_of(one, "body"), hash);
    s.body_sha256 = hash;
    phi__buf_init(&out, memory);
    phi__sigv4_sign(&s, &words, &out);
    CHECK_STR(phi__buf_str(&out), text_of(one, "authorization").at);
    CHECK_STR(phi_str_of(words.date), text_of(one, "time").at);
    CHECK_STR(phi_str_of(words.content),
              text_of(phi_json_get(one, "headers"), "x-amz-content-sha256").at);
    phi__buf_free(&out);
}

TEST(the_vectors_are_signed_as_they_say) {
    phi_allocator allocator = test_allocator();
    phi_memory memory;
    phi_arena arena;
    phi_json_iter it;
    phi_json *root = NULL;
    const phi_json *one;
    char *text;
    size_t len;
    text = test_fixture("bedrock/sigv4_vectors.json", &len);
    if (text == NULL) return;
    phi_memory_init(&memory, &allocator, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(phi_json_parse(&arena, phi__str(text, len), 0, &root, NULL), PHI_OK);
    CHECK_EQ_INT(phi_json_count(root), 2);
    it = phi_json_each(root);
    while ((one = phi_json_next(&it)) != NULL) check_vector(one, &memory);
    phi_arena_free(&arena);
    free(text);
}

/* A signature of mostly empty values; false: no memory. */
static bool sign_plain(phi_memory *memory, const char *content_type, char out[400]) {
    static const unsigned char hash[32] = {0};
    phi__sigv4 s;
    phi__sigv4_words words;
    phi__buf buf;
    bool ok;
    memset(&s, 0, sizeof s);
    s.method = phi_str_of("POST");
    s.content_type = phi_str_of(content_type);
    s.access_key = phi_str_of("A");
    s.secret = phi_str_of("S");
    s.body_sha256 = hash;
    phi__buf_init(&buf, memory);
    phi__sigv4_sign(&s, &words, &buf);
    ok = !buf.failed;
    snprintf(out, 400, "%.*s", ok ? (int)buf.len : 0, buf.at);
    phi__buf_free(&buf);
    return ok;
}

TEST(blanks_around_and_inside_of_a_value_do_not_change_the_signature) {
    phi_memory memory;
    char one[400], two[400];
    phi_memory_init(&memory, NULL, 0);
    CHECK(sign_plain(&memory, "a b", one));
    CHECK(sign_plain(&memory, "  a   b ", two));
    CHECK_EQ_STR(one, two);
}

TEST(want_of_memory_shows_in_the_buffer) {
    phi_allocator allocator = test_allocator();
    phi_memory memory;
    char out[400];
    bool ok;
    int n = 0;
    do {
        phi_memory_init(&memory, &allocator, 0);
        test_alloc_fail_at(n);
        ok = sign_plain(&memory, "x", out);
        CHECK_EQ_INT(ok, !test_alloc_tripped());
        CHECK_EQ_INT(test_alloc_live_bytes(), 0);
        n++;
    } while (test_alloc_tripped());
    test_alloc_fail_at(-1);
    CHECK(n > 1);
}

TEST_MAIN(TEST_ENTRY(the_vectors_are_signed_as_they_say),
          TEST_ENTRY(blanks_around_and_inside_of_a_value_do_not_change_the_signature),
          TEST_ENTRY(want_of_memory_shows_in_the_buffer))
