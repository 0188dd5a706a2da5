/* test_regex.c - regular expressions: what matches, what is refused, and what it costs. */
#include "tools/match_in.h"
#include "support/test.h"

/* The numbers of the matching lines, in pieces of `piece` bytes and with `units` at a time; "error
   column: message"; "no memory". Everything is freed. */
static const char *lines_in(const char *pattern, bool fold, phi_str text, size_t piece,
                            size_t units) {
    static char out[2048];
    phi_allocator allocator = test_allocator();
    phi_memory memory;
    phi__regex *regex;
    phi__regex_error error;
    phi_status status;
    size_t at = 0, line = 1, counted = 0, n = 0;
    phi_memory_init(&memory, &allocator, 0);
    status = phi__regex_new(&memory, phi_str_of(pattern), fold, &regex, &error);
    out[0] = '\0';
    if (status != PHI_OK) {
        if (status == PHI_BAD_ARG)
            (void)snprintf(out, sizeof out, "%u: %s", (unsigned)error.column, error.message);
        else
            (void)snprintf(out, sizeof out, "no memory");
        CHECK_EQ_INT(memory.used_bytes, 0);
        return out;
    }
    phi__regex_begin(regex);
    for (;;) {
        size_t have = phi__min(text.len, at + piece), left = units;
        bool last = have == text.len;
        phi__regex_found found = phi__regex_scan(regex, phi__str(text.at, have), last, &at, &left);
        if (found == PHI__REGEX_BUSY) continue;
        if (found == PHI__REGEX_NONE && !last) {
            piece += have - at; /* the beginning of a character */
            continue;
        }
        if (found == PHI__REGEX_NONE && text.len > 0 && text.at[text.len - 1] != '\n')
            found = phi__regex_finish(regex);
        if (found == PHI__REGEX_NO_MEMORY)
            n += (size_t)snprintf(out + n, sizeof out - n, "no memory");
        if (found != PHI__REGEX_MATCH) break;
        for (; counted < at; counted++) line += text.at[counted] == '\n';
        n += (size_t)snprintf(out + n, sizeof out - n, "%s%u", n > 0 ? " " : "", (unsigned)line);
        while (at < text.len && text.at[at] != '\n') at++;
        if (at + 1 >= text.len) break;
        at++;
        phi__regex_begin(regex);
    }
    phi__regex_free(regex);
    CHECK_EQ_INT(memory.used_bytes, 0);
    return out;
}

static const char *lines(const char *pattern, const char *text) {
    return lines_in(pattern, false, phi_str_of(text), SIZE_MAX / 2, SIZE_MAX);
}

static const char *folded(const char *pattern, const char *text) {
    return lines_in(pattern, true, phi_str_of(text), SIZE_MAX / 2, SIZE_MAX);
}

TEST(letters_sets_and_repetitions) {
    CHECK_EQ_STR(lines("b", "abc\nxyz\nb"), "1 3");
    CHECK_EQ_STR(lines("", "a\n\nb"), "1 2 3");
    CHECK_EQ_STR(lines("a.c", "abc\nac\na\nc\na\xc3\xa9"
                              "c"),
                 "1 5");
    CHECK_EQ_STR(lines("ab*c", "ac\nabbbc\nabd"), "1 2");
    CHECK_EQ_STR(lines("ab+?c", "ac\nabbbc\nabd"), "2");
    CHECK_EQ_STR(lines("^ab?c$", "ac\nabc\nabbc"), "1 2");
    CHECK_EQ_STR(lines("^a{2}$", "a\naa\naaa"), "2");
    CHECK_EQ_STR(lines("^a{2,}$", "a\naa\naaa"), "2 3");
    CHECK_EQ_STR(lines("^(?:ab){1,2}$", "ab\nabab\nababab"), "1 2");
    CHECK_EQ_STR(lines("^a{0}$", "a\n\nb"), "2");
    CHECK_EQ_STR(lines("^(a|bc|)d$", "d\nad\nbcd\nabcd"), "1 2 3");
    CHECK_EQ_STR(lines("[a-cx]", "b\ny\nx"), "1 3");
    CHECK_EQ_STR(lines("^[^a-c]+$", "b\nyy\n"), "2");
    CHECK_EQ_STR(lines("[]]", "a\n]"), "2");
    CHECK_EQ_STR(lines("^[^]a]$", "a\n]\nb"), "3");
    CHECK_EQ_STR(lines("^[a-]+$", "a-a\nab"), "1");
    CHECK_EQ_STR(lines("^[[:alpha:]_]+$", "a_b\na1"), "1");
    CHECK_EQ_STR(lines("[[:^ascii:]]", "a\n\xc3\xa9"), "2");
    CHECK_EQ_STR(lines("^[\\w.]+$", "a.b\na-b"), "1");
    CHECK_EQ_STR(lines("(?P<year>\\d{4})-(?<month>\\d\\d)", "2024-05\n24-05"), "1");
    CHECK_EQ_STR(lines("(a*)*b", "aaa\naab"), "2");
    CHECK_EQ_STR(lines("\\x41\\x{42}\\u0043\\.\\/\\\"", "ABC./\""), "1");
    CHECK_EQ_STR(lines("[\\n]|a\\tb", "x\na\tb"), "2");
}

TEST(edges_of_lines_and_words) {
    CHECK_EQ_STR(lines("^a", "ba\nab"), "2");
    CHECK_EQ_STR(lines("a$", "ba\nab"), "1");
    CHECK_EQ_STR(lines("^$", "\na\n\n"), "1 3");
    CHECK_EQ_STR(lines("$^", "\na\n\n"), "1 3");
    CHECK_EQ_STR(lines("^$", ""), "");
    CHECK_EQ_STR(lines("a$", "a\r\na"), "2");
    CHECK_EQ_STR(lines("\\bcat\\b", "cat\nconcat\na cat."), "1 3");
    CHECK_EQ_STR(lines("\\Bcat", "cat\nconcat"), "2");
    CHECK_EQ_STR(lines("\\b\xc3\xa9t\\b", "\xc3\xa9t\xc3\xa9\n\xc3\xa9t"), "2");
    CHECK_EQ_STR(lines("x\\b", "x\xff"), "1");
}

TEST(letters_alike_but_for_case) {
    CHECK_EQ_STR(folded("stra\xc3\x9f"
                        "e",
                        "STRA\xc3\x9f"
                        "E\nstrasse"),
                 "1");
    CHECK_EQ_STR(folded("\xc3\xa9", "\xc3\x89\ne"), "1");
    CHECK_EQ_STR(folded("k", "\xe2\x84\xaa\nK\nx"), "1 2");
    CHECK_EQ_STR(folded("^[a-c]+$", "AbC\nd"), "1");
    CHECK_EQ_STR(folded("(?-i)a", "A\na"), "2");
    CHECK_EQ_STR(lines("(?i)a|b", "A\nB\nc"), "1 2");
    CHECK_EQ_STR(lines("(?i:a)b", "Ab\nAB"), "1");
    CHECK_EQ_STR(lines("x(?i)a|b", "XA\nxA\nB"), "2 3");
    CHECK_EQ_STR(folded("[^\xce\xa9]", "\xe2\x84\xa6\n\xcf\x89\nx"), "3");
}

TEST(bytes_that_are_no_characters_match_nothing) {
    CHECK_EQ_STR(lines("a.b", "a\xff"
                              "b\na\xc3\xa9"
                              "b\na\xed\xa0\x80"
                              "b"),
                 "2");
    CHECK_EQ_STR(lines("^[^x]*$", "\xff\nab"), "2");
    CHECK_EQ_STR(lines("\xc3\xa9", "\xc3\xc3\xa9\n\xc3"), "1");
    CHECK_EQ_STR(lines("b", "\xe2\x84"
                            "b"),
                 "1");
    CHECK_EQ_STR(lines("^.$", "\xf0\x9f\x98\x80\n\xf0\x9f\x98\n\xf4\x90\x80\x80"), "1");
}

TEST(what_is_outside_is_refused_with_words_and_a_column) {
    static const struct {
        const char *pattern, *words;
    } cases[] = {
        {"(a)\\1", "4: back references are not supported"},
        {"a(?=b)", "2: look-around is not supported"},
        {"(?<!a)b", "1: look-around is not supported"},
        {"(?P=n)", "1: back references are not supported"},
        {"\\pL", "1: classes by \\p{...} are not supported"},
        {"a\\z", "2: anchors of the whole text are not supported: use ^ and $"},
        {"\\<a", "1: anchors of one side of a word are not supported: use \\b"},
        {"\\b{start}a", "1: boundaries by name are not supported: use \\b"},
        {"\\y", "1: unknown escape sequence"},
        {"a\\", "2: a backslash at the end"},
        {"(a", "1: a group without its closing parenthesis"},
        {"(?i", "1: a group without its closing parenthesis"},
        {"a)", "2: a closing parenthesis without a group"},
        {"(?)", "3: a group without flags"},
        {"(?x)a", "3: this flag is not supported"},
        {"(?-u)a", "4: this flag is not supported"},
        {"(?#a)", "3: unknown kind of group"},
        {"(?<1>a)", "4: the name of a group has letters, digits and underscores"},
        {"*a", "1: there is nothing to repeat"},
        {"(?i)*", "5: there is nothing to repeat"},
        {"a|{2}", "3: there is nothing to repeat"},
        {"a{", "2: expected a count such as {2}, {2,} or {2,5}: write \\{"},
        {"a{,2}", "2: expected a count such as {2}, {2,} or {2,5}: write \\{"},
        {"a{2,1}", "2: a count whose end is before its beginning"},
        {"a{1001}", "3: a count of more than 1,000"},
        {"[a", "1: a set without its closing bracket"},
        {"[]", "1: a set without its closing bracket"},
        {"[b-a]", "2: a range whose end is before its beginning"},
        {"[a-\\d]", "2: a range cannot end with a class"},
        {"[a[b]]", "3: a set inside a set is not supported: write \\["},
        {"[[:nothing:]]", "2: unknown class of characters, or a set inside a set: write \\["},
        {"[a&&b]", "3: operations on sets are not supported"},
        {"[\\b]", "2: a word boundary cannot be in a set"},
        {"a\nb", "2: a match cannot contain a newline"},
        {"a\\nb", "2: a match cannot contain a newline"},
        {"\\x4", "3: expected hexadecimal digits"},
        {"\\x{}", "3: expected hexadecimal digits"},
        {"\\x{110000}", "3: there is no such character"},
        {"\\ud800", "3: there is no such character"},
        {"a\xff", "2: the pattern is not UTF-8"},
        {"((a{1000}){1000}){1000}", "1: the pattern is too large"},
        {"(((){1000}){1000}){1000}", "1: the pattern is too large"},
    };
    size_t i;
    for (i = 0; i < PHI__COUNT(cases); i++)
        if (!CHECK_EQ_STR(lines(cases[i].pattern, "a"), cases[i].words))
            printf("  pattern %s\n", cases[i].pattern);
}

TEST(nested_and_long_patterns_are_bounded) {
    static char pattern[10000];
    size_t i;
    for (i = 0; i < 101; i++) pattern[i] = '(';
    (void)snprintf(pattern + 101, 200, "a");
    CHECK_EQ_STR(lines(pattern, "a"), "101: the pattern is nested too deeply");
    for (i = 0; i < 400; i++) pattern[1 + i] = '*';
    pattern[0] = 'a';
    pattern[401] = '\0';
    CHECK_EQ_STR(lines(pattern, "a"), "302: the pattern is nested too deeply");
    memset(pattern, 'a', sizeof pattern);
    pattern[4097] = '\0';
    CHECK_EQ_STR(lines(pattern, "a"), "4097: the pattern is longer than 4,096 bytes");
    pattern[4096] = '\0';
    CHECK_EQ_STR(lines(pattern, "a"), "");
    for (i = 0; i < 100; i++) memcpy(pattern + i, "(", 1);
    pattern[100] = 'a';
    for (i = 0; i < 100; i++) pattern[101 + i] = ')';
    pattern[201] = '\0';
    CHECK_EQ_STR(lines(pattern, "b\na"), "2");
}

/* ---- pieces ---- */

TEST(pieces_and_units_of_every_size_give_the_same_lines) {
    static const char text[] =
        "ab\xc3\xa9\n\xf0\x9f\x98\x80x\n\xe2\x84\xaa\xff\xc3\n\naab word\nlast";
    static const char *const patterns[] = {"\xc3\xa9$", "\\bword\\b", "^.x", "k",
                                           "(a|ab)*b",  "^$",         "t$"};
    size_t i, piece;
    for (i = 0; i < PHI__COUNT(patterns); i++) {
        char want[100];
        (void)snprintf(want, sizeof want, "%s",
                       lines_in(patterns[i], true, phi_str_of(text), SIZE_MAX / 2, SIZE_MAX));
        CHECK(want[0] != '\0');
        for (piece = 1; piece < sizeof text; piece++) {
            CHECK_EQ_STR(lines_in(patterns[i], true, phi_str_of(text), piece, SIZE_MAX), want);
            CHECK_EQ_STR(lines_in(patterns[i], true, phi_str_of(text), SIZE_MAX / 2, piece), want);
        }
    }
}

/* ---- cost ---- */

/* Units of work for so many bytes of `unit`, repeated. */
static uint64_t work_for(const char *pattern, const char *unit, size_t bytes) {
    phi_memory memory;
    phi__regex *regex;
    phi__regex_error error;
    char *text = (char *)malloc(bytes);
    size_t i, n = strlen(unit), at = 0, units = SIZE_MAX;
    uint64_t work = 0;
    phi_memory_init(&memory, NULL, 0);
    if (text == NULL ||
        phi__regex_new(&memory, phi_str_of(pattern), false, &regex, &error) != PHI_OK) {
        CHECK(false);
        free(text);
        return 0;
    }
    for (i = 0; i < bytes; i++) text[i] = unit[i % n];
    phi__regex_begin(regex);
    CHECK_EQ_INT(phi__regex_scan(regex, phi__str(text, bytes), true, &at, &units), PHI__REGEX_NONE);
    CHECK_EQ_INT(at, bytes);
    work = SIZE_MAX - units;
    phi__regex_free(regex);
    free(text);
    return work;
}

TEST(patterns_that_blow_up_backtrackers_take_linear_time) {
    static const char *const patterns[] = {"(a+)+$",
                                           "(a|a)*c",
                                           "(a*)*c",
                                           "(a|aa)+$",
                                           "((a{1,9}){1,9}){1,9}c",
                                           "(.*)(.*)(.*)(.*)(.*)x",
                                           "a?a?a?a?a?a?a?a?a?a?aaaaaaaaaac",
                                           "(?:a|b|ab|ba|aab|aba|baa)*c",
                                           "^(a|b|ab)*c$",
                                           "([a-z]+)*\\d"};
    size_t i;
    for (i = 0; i < PHI__COUNT(patterns); i++) {
        uint64_t small = work_for(patterns[i], "ab", 20000),
                 large = work_for(patterns[i], "ab", 50000);
        if (!CHECK(large <= 11 * small)) printf("  %s\n", patterns[i]);
        small = work_for(patterns[i], "aaaaaaaaaab", 20000);
        if (!CHECK(small < 400 * 20000))
            printf("  %s: %llu\n", patterns[i], (unsigned long long)small);
    }
}

/* States that are never seen twice: the cache is emptied again and again, and a byte costs one pass
   over the program. */
TEST(a_cache_that_is_too_small_costs_a_pass_of_the_program_a_byte) {
    static char text[20000];
    uint32_t state = 3;
    size_t i, codes = 2 * 16 + 300;
    uint64_t work;
    for (i = 0; i + 1 < sizeof text; i++) text[i] = test_random(&state) % 2 ? 'a' : 'b';
    text[sizeof text - 1] = '\0';
    work = work_for("a[ab]{300}c", text, sizeof text - 1);
    CHECK(work > sizeof text);
    if (!CHECK(work < (uint64_t)sizeof text * codes * 4))
        printf("  %llu\n", (unsigned long long)work);
    CHECK_EQ_STR(lines_in("a[ab]{300}b$", false, phi__str(text, 5000), SIZE_MAX / 2, SIZE_MAX),
                 text[5000 - 302] == 'a' && text[4999] == 'b' ? "1" : "");
}

TEST(units_bound_the_work_of_a_call) {
    static char text[5000];
    phi_memory memory;
    phi__regex *regex;
    phi__regex_error error;
    uint32_t state = 5;
    size_t i, at = 0;
    unsigned calls = 0;
    phi__regex_found found = PHI__REGEX_BUSY;
    phi_memory_init(&memory, NULL, 0);
    for (i = 0; i < sizeof text; i++) text[i] = test_random(&state) % 2 ? 'a' : 'b';
    REQUIRE(phi__regex_new(&memory, phi_str_of("(a|b)*a(a|b){500}c"), false, &regex, &error) ==
            PHI_OK);
    phi__regex_begin(regex);
    while (found == PHI__REGEX_BUSY) {
        size_t units = 1000;
        found = phi__regex_scan(regex, phi__str(text, sizeof text), true, &at, &units);
        calls++;
    }
    CHECK_EQ_INT(found, PHI__REGEX_NONE);
    CHECK(calls > sizeof text / 2); /* nearly each byte costs more than 1,000 */
    CHECK(memory.peak_bytes < 4000000);
    phi__regex_free(regex);
    CHECK_EQ_INT(memory.used_bytes, 0);
}

TEST(every_allocation_may_fail) {
    static const char *const patterns[] = {"a[b-d]+(e|f){2,4}$", "(?i)\\bw\xc3\xa9\\W\\d", "."};
    size_t i;
    for (i = 0; i < PHI__COUNT(patterns); i++) {
        int n;
        bool failed = true;
        for (n = 0; failed && n < 1000; n++) {
            const char *out;
            test_alloc_fail_at(n);
            out = lines(patterns[i], "abbeef\nw\xc3\xa9 1\n\n");
            failed = test_alloc_tripped();
            test_alloc_fail_at(-1);
            CHECK_EQ_INT(test_alloc_live_bytes(), 0);
            if (failed) CHECK(strstr(out, "no memory") != NULL);
        }
        CHECK(n > 10 && n < 1000);
    }
}

TEST_MAIN(TEST_ENTRY(letters_sets_and_repetitions), TEST_ENTRY(edges_of_lines_and_words),
          TEST_ENTRY(letters_alike_but_for_case),
          TEST_ENTRY(bytes_that_are_no_characters_match_nothing),
          TEST_ENTRY(what_is_outside_is_refused_with_words_and_a_column),
          TEST_ENTRY(nested_and_long_patterns_are_bounded),
          TEST_ENTRY(pieces_and_units_of_every_size_give_the_same_lines),
          TEST_ENTRY(patterns_that_blow_up_backtrackers_take_linear_time),
          TEST_ENTRY(a_cache_that_is_too_small_costs_a_pass_of_the_program_a_byte),
          TEST_ENTRY(units_bound_the_work_of_a_call), TEST_ENTRY(every_allocation_may_fail))
