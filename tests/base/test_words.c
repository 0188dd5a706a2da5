/* test_words.c - words that a terminal may be given. */
#include "support/test.h"

#include "base/base_in.h"

/* Bytes that are cleaned; the result may hold no NUL. */
static void clean_bytes(const char *bytes, size_t len, bool line, const char *want) {
    char out[200];
    memcpy(out, bytes, len);
    len = line ? phi__words_clean_line(out, len) : phi__words_clean(out, len);
    CHECK_STR(phi__str(out, len), want);
}

#define CLEAN(bytes, want) clean_bytes(bytes, sizeof(bytes) - 1, false, want)
#define CLEAN_LINE(bytes, want) clean_bytes(bytes, sizeof(bytes) - 1, true, want)

TEST(words_without_control_characters_stay_as_they_are) {
    CLEAN("", "");
    CLEAN("It is 42.\n\tYes: \xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80 \xc2\xa0",
          "It is 42.\n\tYes: \xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80 \xc2\xa0");
}

TEST(control_characters_become_question_marks) {
    CLEAN("\x1b[31mred\x1b[0m", "?[31mred?[0m");
    CLEAN("a\0b\x01\x7f\b", "a?b???");
    CLEAN("c1: \xc2\x80\xc2\x9b\xc2\x9f", "c1: ???");
    CLEAN("one\r\ntwo\rthree\r", "one\ntwo?three?");
    CLEAN("\xe2\x80\xae"
          "evil\xe2\x80\xac \xe2\x81\xa6x\xe2\x81\xa9",
          "?evil? ?x?");
}

TEST(marks_of_direction_stay) {
    CLEAN("\xe2\x80\x8e \xe2\x80\x8f \xd8\x9c", "\xe2\x80\x8e \xe2\x80\x8f \xd8\x9c");
}

TEST(bytes_that_are_no_utf8_become_question_marks) {
    CLEAN("\x9b"
          "31m \xff \xc3",
          "?31m ? ?");
    CLEAN("\xed\xa0\x80 \xc0\x80 \xf4\x90\x80\x80", "??? ?? ????");
}

TEST(a_line_holds_no_line_break_and_no_tab) {
    CLEAN_LINE("a\nb\tc\r\nd", "a?b?c??d");
    CLEAN_LINE("plain \xc3\xa4", "plain \xc3\xa4");
}

TEST(whatever_bytes_come_what_is_left_is_valid_and_printable) {
    char bytes[3];
    uint32_t n;
    for (n = 0; n < 0x1000000; n += 7) {
        size_t len, i;
        bytes[0] = (char)(n >> 16);
        bytes[1] = (char)(n >> 8);
        bytes[2] = (char)n;
        len = phi__words_clean_line(bytes, 3);
        for (i = 0; i < len; i++)
            if ((unsigned char)bytes[i] < 0x20 || bytes[i] == 0x7f) break;
        if (i < len || len > 3 || phi__utf8_valid(phi__str(bytes, len)) != len) {
            CHECK_EQ_INT(n, -1);
            return;
        }
    }
}

TEST_MAIN(TEST_ENTRY(words_without_control_characters_stay_as_they_are),
          TEST_ENTRY(control_characters_become_question_marks), TEST_ENTRY(marks_of_direction_stay),
          TEST_ENTRY(bytes_that_are_no_utf8_become_question_marks),
          TEST_ENTRY(a_line_holds_no_line_break_and_no_tab),
          TEST_ENTRY(whatever_bytes_come_what_is_left_is_valid_and_printable))
