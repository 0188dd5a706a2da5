/* test_json_number.c - reading goes to the nearest double, and what is written reads back. */
#include "support/test.h"
#include "text/json_in.h"

#include <float.h>
#include <math.h>

#define READS 40000u /* random numbers a kind; TEST_NUMBERS in the environment changes it */

static unsigned how_many(void) {
    const char *more = getenv("TEST_NUMBERS");
    return more != NULL ? (unsigned)strtoul(more, NULL, 10) : READS;
}

static uint64_t random64(uint32_t *state) {
    uint64_t high = test_random(state);
    return high << 32 | test_random(state);
}

static uint64_t bits_of(double d) {
    uint64_t bits;
    memcpy(&bits, &d, sizeof bits);
    return bits;
}

static double double_of(uint64_t bits) {
    double d;
    memcpy(&d, &bits, sizeof d);
    return d;
}

/* As phi reads it; a number that no double holds is an infinity. */
static double phi_reads(const char *text) {
    phi__json_number n;
    const char *bad, *end = phi__json_number_read(text, text + strlen(text), &n, &bad);
    if (end == NULL && bad == text) return text[0] == '-' ? -HUGE_VAL : HUGE_VAL;
    if (end == NULL || *end != '\0') return -1.5e-300;
    return phi__json_get_number_double(&n);
}

static bool same_as_libc(const char *text) {
    double want = strtod(text, NULL), got = phi_reads(text);
    if (bits_of(got) == bits_of(want)) return true;
    fprintf(stderr, "%s: got %.17g, want %.17g\n", text, got, want);
    return false;
}

static void check_writes(double d, const char *want) {
    char out[40];
    out[phi__json_number_double_text(d, out)] = '\0';
    CHECK_EQ_STR(out, want);
}

TEST(hard_decimals_are_read_to_the_nearest_double) {
    static const char *const hard[] = {
        "0.0",
        "-0.0",
        "-0",
        "0e9999",
        "0.000e-9999",
        "1e0",
        "1.0",
        "123456789012345678901234567890",
        "2.2250738585072011e-308",
        "2.2250738585072012e-308",
        "2.2250738585072014e-308",
        "4.9406564584124654e-324",
        "2.4703282292062327e-324",
        "2.4703282292062328e-324",
        "2.47032822920623272088284396434110686182e-324",
        "1e-323",
        "1e-324",
        "1e-400",
        "1e-999999999",
        "1.7976931348623157e308",
        "1.7976931348623158e308",
        "1.7976931348623159e308",
        "1e308",
        "1.797693134862315807e308",
        "179769313486231580793728971405301e276",
        "1e309",
        "-1e400",
        "9007199254740991",
        "9007199254740992",
        "9007199254740993",
        "9007199254740993.0",
        "9007199254740993.00000000000000000000000000000000000001",
        "9007199254740994.9999",
        "9007199254740995e0",
        "0.1",
        "0.2",
        "0.3",
        "1e22",
        "1e23",
        "8.5e22",
        "9.5e22",
        "3.4028234664e38",
        "1.00000000000000011102230246251565404236316680908203125",
        "1.00000000000000011102230246251565404236316680908203124",
        "1.00000000000000011102230246251565404236316680908203126",
        "0.500000000000000166533453693773481063544750213623046875",
        "7.7326764535249987e-309",
        "6631236846766476e-316",
        "3.2402369e-319",
        "1.448997445238699",
        "9223372036854775807.5",
        "18446744073709551615.0",
        "18446744073709551616",
        "1e19",
        "7450580596923828125e-27",
        "5708990770823839207320493820740630171355185151999e-3",
        "6808957268280643116e-1",
        "1090544144181609348671888949248e0",
        "2e-324",
        "3e-324",
        "0.000000000000000000000000000000000000000000000000000000000000000000000000000000000001",
        "1000000000000000000000000000000000000000000000000000000000000000000000000000000000000.0"};
    size_t i;
    for (i = 0; i < PHI__COUNT(hard); i++) CHECK(same_as_libc(hard[i]));
}

TEST(the_middle_between_two_doubles_goes_to_the_even_one_whatever_comes_after) {
    uint32_t state = 5;
    char text[1200];
    unsigned i;
    for (i = 0; i < 2000; i++) { /* a middle has at most 767 digits: libc writes it exactly */
        double d = double_of(random64(&state) >> 1 & ~(UINT64_C(1) << 62));
        long double middle;
        int n;
        if (i % 4 == 0) d = double_of(random64(&state) >> (12 + test_random(&state) % 40));
        if (!(d < DBL_MAX) || sizeof(long double) < 10) continue;
        middle = ((long double)d + (long double)nextafter(d, HUGE_VAL)) / 2;
        n = snprintf(text, sizeof text - 40, "%.780Le", middle);
        if (!CHECK(n > 0 && same_as_libc(text))) return;
        snprintf(text, sizeof text - 40, "%.1100Le", middle); /* zeros after it change nothing */
        if (!CHECK(same_as_libc(text))) return;
        text[900] = '1'; /* and a 1 far behind does */
        if (!CHECK(same_as_libc(text))) return;
    }
}

TEST(random_decimals_are_read_as_the_c_library_reads_them) {
    uint32_t state = 1;
    unsigned i, most = how_many();
    char text[100];
    for (i = 0; i < most; i++) {
        uint64_t n = random64(&state) >> (test_random(&state) % 64);
        int e = (int)(test_random(&state) % 700) - 360;
        snprintf(text, sizeof text, "%llue%d", (unsigned long long)n, e);
        if (!CHECK(same_as_libc(text))) return;
        snprintf(text, sizeof text, "%u.%llu%llu", test_random(&state) % 1000,
                 (unsigned long long)n, (unsigned long long)random64(&state));
        if (!CHECK(same_as_libc(text))) return;
    }
}

TEST(doubles_of_all_precisions_are_read_as_the_c_library_reads_them) {
    uint32_t state = 2;
    unsigned i, most = how_many();
    char text[100];
    for (i = 0; i < most; i++) {
        double d = double_of(random64(&state));
        if (d - d != 0) continue;
        snprintf(text, sizeof text, "%.*e", (int)(test_random(&state) % 25), d);
        if (!CHECK(same_as_libc(text))) return;
    }
}

TEST(written_doubles_read_back_and_are_no_longer_than_needed) {
    uint32_t state = 3;
    unsigned i, most = how_many();
    for (i = 0; i < most; i++) {
        double d = double_of(i % 3 == 0 ? random64(&state) >> (test_random(&state) % 64)
                                        : random64(&state));
        char out[40], libc[40];
        size_t digits = 0, k;
        int least;
        if (d - d != 0) continue;
        out[phi__json_number_double_text(d, out)] = '\0';
        if (!CHECK(bits_of(strtod(out, NULL)) == bits_of(d))) return;
        if (!CHECK(bits_of(phi_reads(out)) == bits_of(d))) return;
        if (i % 8 != 0) continue;
        for (least = 1; least < 17; least++) {
            snprintf(libc, sizeof libc, "%.*e", least - 1, d);
            if (strtod(libc, NULL) == d) break;
        }
        snprintf(libc, sizeof libc, "%s", out);
        for (k = 0; out[k] != '\0' && out[k] != 'e'; k++)
            if (out[k] >= '0' && out[k] <= '9') digits += digits > 0 || out[k] != '0' ? 1 : 0;
        if (d != 0 && fabs(d) < 1e15 && fabs(d) > 1e-3) continue; /* may carry zeros of its place */
        if (d != 0 && fabs(d) >= 1e16 && !CHECK(digits <= (size_t)least)) {
            fprintf(stderr, "%s has more than %d digits\n", out, least);
            return;
        }
    }
}

TEST(powers_of_two_and_their_neighbours_are_written_so_that_they_read_back) {
    int e;
    for (e = -1074; e <= 1023; e++) {
        double d = ldexp(1, e);
        double all[3];
        size_t i;
        all[0] = nextafter(d, 0);
        all[1] = d;
        all[2] = nextafter(d, HUGE_VAL);
        for (i = 0; i < 3; i++) {
            char out[40];
            out[phi__json_number_double_text(all[i], out)] = '\0';
#ifndef __MINGW32__ /* its strtod reads some of these wrong */
            CHECK(bits_of(strtod(out, NULL)) == bits_of(all[i]));
#endif
            CHECK(bits_of(phi_reads(out)) == bits_of(all[i]));
        }
    }
}

TEST(doubles_are_written_in_the_shortest_form) {
    check_writes(0.0, "0.0");
    check_writes(-0.0, "-0.0");
    check_writes(1, "1.0");
    check_writes(-1.5, "-1.5");
    check_writes(0.1, "0.1");
    check_writes(0.3, "0.3");
    check_writes(0.30000000000000004, "0.30000000000000004");
    check_writes(1.0 / 3, "0.3333333333333333");
    check_writes(100, "100.0");
    check_writes(1234.5678, "1234.5678");
    check_writes(1e15, "1000000000000000.0");
    check_writes(1e16, "1e16");
    check_writes(1.5e16, "1.5e16");
    check_writes(123456789012345680.0, "1.2345678901234568e17");
    check_writes(0.00001, "0.00001");
    check_writes(0.000012, "0.000012");
    check_writes(0.000001, "1e-6");
    check_writes(5e-324, "5e-324");
    check_writes(2.2250738585072014e-308, "2.2250738585072014e-308");
    check_writes(1.7976931348623157e308, "1.7976931348623157e308");
    check_writes(9007199254740993.0, "9007199254740992.0");
    check_writes(1e23, "1e23");
    check_writes(9.5367431640625e-7, "9.5367431640625e-7");
    check_writes(4.35, "4.35");
    check_writes(2e100, "2e100");
}

static void check_kind(const char *text, uint32_t kind, uint64_t bits) {
    phi__json_number n;
    const char *bad, *end = phi__json_number_read(text, text + strlen(text), &n, &bad);
    if (!CHECK(end == text + strlen(text))) return;
    CHECK_EQ_INT(n.kind, kind);
    CHECK(n.v.u == bits);
}

TEST(integers_that_fit_in_64_bits_are_kept_exactly) {
    check_kind("0", PHI__JSON_INT, 0);
    check_kind("-1", PHI__JSON_INT, UINT64_MAX);
    check_kind("9007199254740993", PHI__JSON_INT, UINT64_C(9007199254740993));
    check_kind("999999999999999999", PHI__JSON_INT, UINT64_C(999999999999999999));
    check_kind("1000000000000000000", PHI__JSON_INT, UINT64_C(1000000000000000000));
    check_kind("9223372036854775807", PHI__JSON_INT, INT64_MAX);
    check_kind("-9223372036854775807", PHI__JSON_INT, (uint64_t)-INT64_MAX);
    check_kind("-9223372036854775808", PHI__JSON_INT, UINT64_C(1) << 63);
    check_kind("9223372036854775808", PHI__JSON_UINT, UINT64_C(1) << 63);
    check_kind("18446744073709551615", PHI__JSON_UINT, UINT64_MAX);
    check_kind("18446744073709551616", PHI__JSON_DOUBLE, bits_of(18446744073709551616.0));
    check_kind("99999999999999999999", PHI__JSON_DOUBLE, bits_of(1e20));
    check_kind("-9223372036854775809", PHI__JSON_DOUBLE, bits_of(-9223372036854775808.0));
    check_kind("-18446744073709551615", PHI__JSON_DOUBLE, bits_of(-18446744073709551616.0));
    check_kind("-0", PHI__JSON_DOUBLE, bits_of(-0.0));
    check_kind("1.0", PHI__JSON_DOUBLE, bits_of(1.0));
    check_kind("1e2", PHI__JSON_DOUBLE, bits_of(100.0));
}

TEST(a_broken_number_says_where) {
    static const struct {
        const char *text;
        int at;
    } cases[] = {{"", 0},     {"-", 1},    {"+1", 0},  {".5", 0},
                 {"1.", 2},   {"1.e5", 2}, {"1e", 2},  {"1e+", 3},
                 {"1e-x", 3}, {"-x", 1},   {"1.x", 2}, {"123456789012345678901.", 22}};
    size_t i;
    for (i = 0; i < PHI__COUNT(cases); i++) {
        phi__json_number n;
        const char *text = cases[i].text, *bad = NULL;
        CHECK(phi__json_number_read(text, text + strlen(text), &n, &bad) == NULL);
        CHECK_EQ_INT(bad - text, cases[i].at);
    }
}

TEST(a_number_ends_where_its_grammar_ends) {
    phi__json_number n;
    const char *bad, *text = "01";
    CHECK(phi__json_number_read(text, text + 2, &n, &bad) == text + 1);
    text = "1.5.2";
    CHECK(phi__json_number_read(text, text + 5, &n, &bad) == text + 3);
    text = "12345678901234567890123.5.2";
    CHECK(phi__json_number_read(text, text + 27, &n, &bad) == text + 25);
    text = "-0x";
    CHECK(phi__json_number_read(text, text + 3, &n, &bad) == text + 2);
    text = "-01.5";
    CHECK(phi__json_number_read(text, text + 5, &n, &bad) == text + 2);
}

TEST(integers_are_written_as_they_are) {
    phi_memory memory;
    phi_allocator allocator = test_allocator();
    phi__buf buf;
    phi_memory_init(&memory, &allocator, 0);
    phi__buf_init(&buf, &memory);
    phi__json_number_put_i64(&buf, INT64_MIN);
    phi__buf_char(&buf, ' ');
    phi__json_number_put_i64(&buf, INT64_MAX);
    phi__buf_char(&buf, ' ');
    phi__json_number_put_i64(&buf, 0);
    phi__buf_char(&buf, ' ');
    phi__json_number_put_i64(&buf, -10);
    phi__buf_char(&buf, ' ');
    phi__json_number_put_u64(&buf, UINT64_MAX);
    phi__buf_char(&buf, ' ');
    phi__json_number_put_u64(&buf, 1000);
    phi__buf_char(&buf, ' ');
    phi__json_number_put_double(&buf, HUGE_VAL);
    phi__buf_char(&buf, ' ');
    phi__json_number_put_double(&buf, (double)NAN);
    CHECK_STR(phi__buf_str(&buf), "-9223372036854775808 9223372036854775807 0 -10 "
                                  "18446744073709551615 1000 null null");
    phi__buf_free(&buf);
}

TEST_MAIN(TEST_ENTRY(hard_decimals_are_read_to_the_nearest_double),
          TEST_ENTRY(the_middle_between_two_doubles_goes_to_the_even_one_whatever_comes_after),
          TEST_ENTRY(random_decimals_are_read_as_the_c_library_reads_them),
          TEST_ENTRY(doubles_of_all_precisions_are_read_as_the_c_library_reads_them),
          TEST_ENTRY(written_doubles_read_back_and_are_no_longer_than_needed),
          TEST_ENTRY(powers_of_two_and_their_neighbours_are_written_so_that_they_read_back),
          TEST_ENTRY(doubles_are_written_in_the_shortest_form),
          TEST_ENTRY(integers_that_fit_in_64_bits_are_kept_exactly),
          TEST_ENTRY(a_broken_number_says_where), TEST_ENTRY(a_number_ends_where_its_grammar_ends),
          TEST_ENTRY(integers_are_written_as_they_are))
