/* Base64, by the examples of RFC 4648 and by round trips. */
#include "support/test.h"

#include "base/base_in.h"

static phi_memory memory;
static phi__buf out;

static void setup(void) {
    phi_allocator a = test_allocator();
    phi_memory_init(&memory, &a, 0);
    phi__buf_init(&out, &memory);
}

static void check_pair(const char *plain, const char *coded) {
    setup();
    phi__base64_encode(&out, plain, strlen(plain));
    CHECK(!out.failed);
    CHECK_STR(phi__buf_str(&out), coded);
    phi__buf_clear(&out);
    CHECK(phi__base64_decode(&out, phi_str_of(coded)));
    CHECK_STR(phi__buf_str(&out), plain);
    phi__buf_free(&out);
}

TEST(the_vectors_of_the_rfc_hold) {
    check_pair("", "");
    check_pair("f", "Zg==");
    check_pair("fo", "Zm8=");
    check_pair("foo", "Zm9v");
    check_pair("foob", "Zm9vYg==");
    check_pair("fooba", "Zm9vYmE=");
    check_pair("foobar", "Zm9vYmFy");
    check_pair("\xFB\xEF\xBE\xFF\xFF\xFF", "++++////");
}

TEST(every_length_survives_a_round_trip) {
    char bytes[100];
    size_t n, i;
    setup();
    for (i = 0; i < sizeof bytes; i++) bytes[i] = (char)(i * 37 + 128);
    for (n = 0; n <= sizeof bytes; n++) {
        phi__buf back;
        phi__buf_clear(&out);
        phi__base64_encode(&out, bytes, n);
        CHECK_EQ_INT(out.len, (n + 2) / 3 * 4);
        phi__buf_init(&back, &memory);
        CHECK(phi__base64_decode(&back, phi__buf_str(&out)));
        CHECK(back.len == n && (n == 0 || memcmp(back.at, bytes, n) == 0));
        phi__buf_free(&back);
    }
    phi__buf_free(&out);
}

TEST(slices_of_a_multiple_of_three_join) {
    setup();
    phi__base64_encode(&out, "foo", 3);
    phi__base64_encode(&out, "barbaz", 6);
    phi__base64_encode(&out, "qu", 2);
    CHECK_STR(phi__buf_str(&out), "Zm9vYmFyYmF6cXU=");
    phi__buf_free(&out);
}

TEST(what_is_not_strict_is_refused_and_leaves_the_buffer) {
    static const char *const bad[] = {
        "Z",    "Zg",   "Zg=",      "Zm9v=", "====", "=m9v",  "Z===",          "Z=g=", "Zm9v\n",
        "Zm 9", "Zm-_", "Zg==Zg==", "Zh==",  "Zm9=", "Zm9vZ", "Zm9v\xC3\xA9v", "Zg=g"};
    size_t i;
    setup();
    phi__buf_text(&out, "kept");
    for (i = 0; i < PHI__COUNT(bad); i++) {
        if (!CHECK(!phi__base64_decode(&out, phi_str_of(bad[i])))) printf("took %s\n", bad[i]);
        CHECK_STR(phi__buf_str(&out), "kept");
    }
    phi__buf_free(&out);
}

TEST(no_memory_is_a_failure) {
    setup();
    test_alloc_fail_at(0);
    phi__base64_encode(&out, "foo", 3);
    CHECK(out.failed);
    phi__buf_free(&out);
    test_alloc_fail_at(0);
    CHECK(!phi__base64_decode(&out, phi_str_of("Zm9v")));
    CHECK(out.failed);
    phi__buf_free(&out);
}

TEST_MAIN(TEST_ENTRY(the_vectors_of_the_rfc_hold), TEST_ENTRY(every_length_survives_a_round_trip),
          TEST_ENTRY(slices_of_a_multiple_of_three_join),
          TEST_ENTRY(what_is_not_strict_is_refused_and_leaves_the_buffer),
          TEST_ENTRY(no_memory_is_a_failure))
