/* UTF-8: what is valid, where it may be cut, how it is repaired. */
#include "support/test.h"

#include "base/base_in.h"

static phi_memory memory;

static size_t valid(const char *text) { return phi__utf8_valid(phi_str_of(text)); }

TEST(valid_text_is_valid_to_its_end) {
    phi_str null = PHI_ZERO;
    CHECK_EQ_INT(phi__utf8_valid(null), 0);
    CHECK_EQ_INT(valid(""), 0);
    CHECK_EQ_INT(valid("plain text that is longer than one word of eight bytes"), 54);
    CHECK_EQ_INT(valid("h\xC3\xA9llo"), 6);
    CHECK_EQ_INT(valid("\xE2\x82\xAC"), 3);
    CHECK_EQ_INT(valid("\xF0\x9F\x97\xA1"), 4);
    CHECK_EQ_INT(phi__utf8_valid(phi__str("a\0b", 3)), 3);
}

TEST(the_first_and_last_of_each_length_are_valid) {
    CHECK_EQ_INT(valid("\x7F"), 1);
    CHECK_EQ_INT(valid("\xC2\x80"), 2);
    CHECK_EQ_INT(valid("\xDF\xBF"), 2);
    CHECK_EQ_INT(valid("\xE0\xA0\x80"), 3);
    CHECK_EQ_INT(valid("\xED\x9F\xBF"), 3);
    CHECK_EQ_INT(valid("\xEE\x80\x80"), 3);
    CHECK_EQ_INT(valid("\xEF\xBF\xBF"), 3);
    CHECK_EQ_INT(valid("\xF0\x90\x80\x80"), 4);
    CHECK_EQ_INT(valid("\xF4\x8F\xBF\xBF"), 4);
}

TEST(overlong_forms_surrogates_and_what_is_past_the_end_are_not) {
    CHECK_EQ_INT(valid("ab\xC0\x80"), 2);
    CHECK_EQ_INT(valid("\xC1\xBF"), 0);
    CHECK_EQ_INT(valid("\xE0\x9F\xBF"), 0);
    CHECK_EQ_INT(valid("\xED\xA0\x80"), 0);
    CHECK_EQ_INT(valid("\xED\xBF\xBF"), 0);
    CHECK_EQ_INT(valid("\xF0\x8F\xBF\xBF"), 0);
    CHECK_EQ_INT(valid("\xF4\x90\x80\x80"), 0);
    CHECK_EQ_INT(valid("\xF5\x80\x80\x80"), 0);
    CHECK_EQ_INT(valid("\xFF"), 0);
    CHECK_EQ_INT(valid("12345678\x80"), 8);
}

TEST(a_sequence_that_is_cut_off_is_not_valid) {
    CHECK_EQ_INT(valid("a\xC3"), 1);
    CHECK_EQ_INT(valid("a\xE2\x82"), 1);
    CHECK_EQ_INT(valid("a\xF0\x9F\x97"), 1);
    CHECK_EQ_INT(valid("a\xE2\x28\xA1"), 1);
    CHECK_EQ_INT(valid("a\xF0\x9F\x28\xA1"), 1);
}

TEST(every_code_point_is_written_and_found_valid) {
    uint32_t code, wrong = 0;
    for (code = 0; code <= 0x10FFFF; code++) {
        char out[4];
        size_t n = phi__utf8_put(out, code);
        size_t want = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
        wrong += n != want || phi__utf8_valid(phi__str(out, n)) != n;
    }
    CHECK_EQ_INT(wrong, 0);
}

TEST(what_is_no_code_point_is_written_as_the_replacement) {
    char out[4];
    CHECK_STR(phi__str(out, phi__utf8_put(out, 0xD800)), "\xEF\xBF\xBD");
    CHECK_STR(phi__str(out, phi__utf8_put(out, 0xDFFF)), "\xEF\xBF\xBD");
    CHECK_STR(phi__str(out, phi__utf8_put(out, 0x110000)), "\xEF\xBF\xBD");
    CHECK_STR(phi__str(out, phi__utf8_put(out, UINT32_MAX)), "\xEF\xBF\xBD");
    CHECK_STR(phi__str(out, phi__utf8_put(out, 0x20AC)), "\xE2\x82\xAC");
}

TEST(a_cut_never_ends_inside_a_sequence) {
    /* a, two bytes, three bytes, four bytes, z */
    phi_str s = phi_str_of("a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x97\xA1z");
    static const size_t want[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 11, 11};
    size_t most;
    for (most = 0; most < PHI__COUNT(want); most++)
        if (!CHECK_EQ_INT(phi__utf8_cut(s, most), want[most])) printf("most was %zu\n", most);
    CHECK_EQ_INT(phi__utf8_cut(s, SIZE_MAX), 11);
    CHECK_EQ_INT(phi__utf8_cut(phi_str_of(""), 0), 0);
}

TEST(a_cut_of_garbage_is_where_it_was_asked_for) {
    CHECK_EQ_INT(phi__utf8_cut(phi_str_of("\x80\x80\x80\x80\x80\x80\x80\x80"), 6), 6);
    CHECK_EQ_INT(phi__utf8_cut(phi_str_of("\x80\x80\x80"), 2), 2);
}

static void check_repair(const char *text, const char *want) {
    phi_allocator a = test_allocator();
    phi__buf out;
    phi_memory_init(&memory, &a, 0);
    phi__buf_init(&out, &memory);
    phi__utf8_repair(&out, phi_str_of(text));
    CHECK_STR(phi__buf_str(&out), want);
    CHECK_EQ_INT(phi__utf8_valid(phi__buf_str(&out)), out.len);
    phi__buf_free(&out);
}

TEST(each_bad_byte_becomes_one_replacement) {
    check_repair("", "");
    check_repair("good \xC3\xA9", "good \xC3\xA9");
    check_repair("\xFF", "\xEF\xBF\xBD");
    check_repair("a\xC3", "a\xEF\xBF\xBD");
    check_repair("a\xE2\x82z", "a\xEF\xBF\xBDz"); /* one for each maximal subpart */
    check_repair("\xF0\x90\x8D", "\xEF\xBF\xBD");
    check_repair("\xF0\x90\x8D\x88\xF0\x90", "\xF0\x90\x8D\x88\xEF\xBF\xBD");
    check_repair("\xF0\x80\x80\x80", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
    check_repair("\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41",
                 "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\x41");
    check_repair("\xC3\x28\xC3\xA9", "\xEF\xBF\xBD(\xC3\xA9");
    check_repair("\xED\xA0\x80", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST(random_bytes_are_always_repaired_to_valid_text) {
    phi_allocator a = test_allocator();
    uint32_t state = 1, round;
    phi_memory_init(&memory, &a, 0);
    for (round = 0; round < 2000; round++) {
        char bytes[24];
        phi__buf out;
        size_t i;
        for (i = 0; i < sizeof bytes; i++)
            bytes[i] = (char)(test_random(&state) >> (round % 3 == 0 ? 8 : 1));
        phi__buf_init(&out, &memory);
        phi__utf8_repair(&out, phi__str(bytes, sizeof bytes));
        if (!CHECK_EQ_INT(phi__utf8_valid(phi__buf_str(&out)), out.len)) round = 2000;
        phi__buf_free(&out);
    }
}

TEST_MAIN(TEST_ENTRY(valid_text_is_valid_to_its_end),
          TEST_ENTRY(the_first_and_last_of_each_length_are_valid),
          TEST_ENTRY(overlong_forms_surrogates_and_what_is_past_the_end_are_not),
          TEST_ENTRY(a_sequence_that_is_cut_off_is_not_valid),
          TEST_ENTRY(every_code_point_is_written_and_found_valid),
          TEST_ENTRY(what_is_no_code_point_is_written_as_the_replacement),
          TEST_ENTRY(a_cut_never_ends_inside_a_sequence),
          TEST_ENTRY(a_cut_of_garbage_is_where_it_was_asked_for),
          TEST_ENTRY(each_bad_byte_becomes_one_replacement),
          TEST_ENTRY(random_bytes_are_always_repaired_to_valid_text))
