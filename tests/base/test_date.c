/* test_date.c - times as RFC 3339, both ways. */
#include "base/base_in.h"
#include "support/test.h"

static void check_both(int64_t ms, const char *want) {
    char text[PHI__DATE_BYTES];
    int64_t back = -1;
    size_t len = phi__date_put(ms, text);
    CHECK_EQ_STR(text, want);
    CHECK_EQ_INT(len, strlen(want));
    CHECK(phi__date_get(phi_str_of(want), &back));
    CHECK_EQ_INT(back, ms);
}

static void check_read(const char *text, int64_t want) {
    int64_t ms = -1;
    if (!CHECK(phi__date_get(phi_str_of(text), &ms))) printf("%s\n", text);
    CHECK_EQ_INT(ms, want);
}

static void check_refused(const char *text) {
    int64_t ms = 77;
    if (!CHECK(!phi__date_get(phi_str_of(text), &ms))) printf("%s\n", text);
    CHECK_EQ_INT(ms, 77);
}

TEST(times_go_both_ways) {
    check_both(0, "1970-01-01T00:00:00Z");
    check_both(1, "1970-01-01T00:00:00.001Z");
    check_both(-1, "1969-12-31T23:59:59.999Z");
    check_both(951782400000, "2000-02-29T00:00:00Z");
    check_both(1763700000120, "2025-11-21T04:40:00.120Z");
    check_both(4107542400000, "2100-03-01T00:00:00Z");
    check_both(-2203891200000, "1900-03-01T00:00:00Z");
    check_both(-62167219200000, "0000-01-01T00:00:00Z");
    check_both(253402300799999, "9999-12-31T23:59:59.999Z");
}

TEST(times_past_four_digits_of_a_year_are_the_nearest_that_have_them) {
    char text[PHI__DATE_BYTES];
    (void)phi__date_put(INT64_MAX, text);
    CHECK_EQ_STR(text, "9999-12-31T23:59:59.999Z");
    (void)phi__date_put(INT64_MIN, text);
    CHECK_EQ_STR(text, "0000-01-01T00:00:00Z");
}

TEST(every_day_of_four_centuries_survives) {
    int64_t day;
    for (day = -60000; day < 90000; day++) {
        char text[PHI__DATE_BYTES];
        int64_t ms = -1;
        (void)phi__date_put(day * 86400000 + 86399999, text);
        if (!phi__date_get(phi_str_of(text), &ms) || ms != day * 86400000 + 86399999) {
            CHECK_EQ_STR(text, "");
            return;
        }
    }
}

TEST(others_write_times_in_other_ways) {
    check_read("2025-11-21T04:40:00.1Z", 1763700000100);
    check_read("2025-11-21T04:40:00.123456Z", 1763700000123);
    check_read("2025-11-21T04:40:00.123999999Z", 1763700000123);
    check_read("2025-11-21t04:40:00z", 1763700000000);
    check_read("2025-11-21 04:40:00Z", 1763700000000);
    check_read("2025-11-21T04:40:00+00:00", 1763700000000);
    check_read("2025-11-21T06:10:00.5+01:30", 1763700000500);
    check_read("2025-11-20T20:40:00-08:00", 1763700000000);
    check_read("2016-12-31T23:59:60Z", 1483228800000);
}

TEST(what_is_no_time_is_refused) {
    static const char *const texts[] = {"",
                                        "Z",
                                        "2025-11-21",
                                        "2025-11-21T04:40:00",
                                        "2025-11-21T04:40Z",
                                        "2025-11-21T04:40:00.Z",
                                        "2025-11-21T04:40:00ZZ",
                                        "2025-11-21T04:40:00+0100",
                                        "2025-11-21T04:40:00+30:00",
                                        "2025-11-21T04:40:00+01:60",
                                        "2025-11-21T24:00:00Z",
                                        "2025-11-21T04:60:00Z",
                                        "2025-11-21T04:40:61Z",
                                        "2025-00-21T04:40:00Z",
                                        "2025-13-21T04:40:00Z",
                                        "2025-11-00T04:40:00Z",
                                        "2025-02-29T04:40:00Z",
                                        "2025-11-31T04:40:00Z",
                                        "20x5-11-21T04:40:00Z",
                                        "2025-11-21T04:40:00.123"};
    size_t i;
    for (i = 0; i < sizeof texts / sizeof texts[0]; i++) check_refused(texts[i]);
}

TEST_MAIN(TEST_ENTRY(times_go_both_ways),
          TEST_ENTRY(times_past_four_digits_of_a_year_are_the_nearest_that_have_them),
          TEST_ENTRY(every_day_of_four_centuries_survives),
          TEST_ENTRY(others_write_times_in_other_ways), TEST_ENTRY(what_is_no_time_is_refused))
