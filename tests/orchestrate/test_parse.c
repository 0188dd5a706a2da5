/* test_parse.c - how much of an answer strategies read, and what a line costs, counted in bytes that
   are looked at. */
#include "support/test.h"

#include "orchestrate/machine_in.h"

static size_t looked;

static const void *count_chr(const void *at, int c, size_t bytes) {
    const char *found = (const char *)memchr(at, c, bytes);
    looked += found != NULL ? (size_t)(found - (const char *)at) + 1 : bytes;
    return found;
}

#undef memchr
#define memchr count_chr
#include "orchestrate/one_call.c"
#undef memchr

enum { MOST = 262144, LONG = 600000 };

static char text[LONG + 200];

static phi_str filled(const char *begin, const char *between, const char *end) {
    size_t len = strlen(begin), n = strlen(between);
    memcpy(text, begin, len);
    for (; len < LONG; len += n) memcpy(text + len, between, n);
    memcpy(text + len, end, strlen(end));
    return phi__str(text, len + strlen(end));
}

TEST(a_text_is_read_from_a_line_within_its_last_262144_bytes) {
    phi_str whole = phi__str(text, MOST), tail;
    memset(text, 'a', sizeof text);
    tail = phi__parse_tail(whole);
    CHECK(tail.at == whole.at && tail.len == MOST);
    whole.len = MOST + 100; /* no line begins there */
    tail = phi__parse_tail(whole);
    CHECK(tail.at == text + 100 && tail.len == MOST);
    text[99] = '\n';
    tail = phi__parse_tail(whole);
    CHECK(tail.at == text + 100);
    text[99] = 'a';
    text[150] = '\n';
    tail = phi__parse_tail(whole);
    CHECK(tail.at == text + 151 && tail.at + tail.len == text + whole.len);
    text[150] = 'a';
    text[whole.len - 1] = '\n'; /* an empty line is no text */
    tail = phi__parse_tail(whole);
    CHECK(tail.at == text + 100);
    memcpy(text + 98, "\xE2\x82\xAC", 3); /* no character is cut */
    tail = phi__parse_tail(whole);
    CHECK(tail.at == text + 101);
}

TEST(a_long_answer_is_read_at_its_end) {
    phi_memory memory;
    phi_allocator a = test_allocator();
    phi_arena arena;
    phi__cot_parsed cot;
    phi__aot_parsed aot;
    phi__trm_parsed trm;
    phi_str thoughts[4];
    double scores[1];
    phi_memory_init(&memory, &a, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK(phi__cot_parse(filled("Step 1: early\n", "words and words\n", "Step 2: late\nAnswer: 42"),
                         &arena, &cot));
    CHECK_EQ_INT(cot.step_count, 1);
    CHECK_STR(cot.steps[0], "late");
    CHECK_STR(cot.conclusion, "42");
    phi__aot_parse(filled("Step 1: early\n", "words and words\n", "Step 2: late\nAnswer: 42"),
                   &aot);
    CHECK_EQ_INT(aot.backtracking_steps, 1);
    CHECK_STR(aot.answer, "42");
    phi__trm_parse(filled("issue: early\n", "words and words\n", "issue: late\nscore: 0.5"), &trm);
    CHECK_EQ_INT(trm.issues, 1);
    CHECK(trm.has_score && trm.score == 0.5);
    CHECK_EQ_INT(phi__tot_parse_thoughts(filled("1. early\n", "words and words\n", "1. late"),
                                         &arena, thoughts, 4)
                     .count,
                 1);
    CHECK_STR(thoughts[0], "late");
    thoughts[0] = PHI__LIT("x");
    (void)phi__tot_parse_scores(filled("1. 0.25\n", "words and words\n", "."), &arena, thoughts, 1,
                                scores);
    CHECK(scores[0] == 0.5); /* the early score was not read */
    phi_arena_free(&arena);
    CHECK_EQ_INT(test_alloc_live_bytes(), 0);
}

TEST(a_line_with_many_colons_is_looked_at_once) {
    phi__aot_parsed aot;
    (void)count_chr(text, text[0], 1);
    looked = 0;
    phi__aot_parse(filled("1. a", ":(", "\n2. b : (3)\n"), &aot);
    CHECK(looked <= MOST); /* by memchr; the pass over the line is not counted */
    CHECK_EQ_INT(aot.first_operations, 1);
    phi__aot_parse(PHI__LIT("1. a : b) (\n2. a: (\n3. a :\t(x)\n"), &aot);
    CHECK_EQ_INT(aot.first_operations, 1);
}

TEST_MAIN(TEST_ENTRY(a_text_is_read_from_a_line_within_its_last_262144_bytes),
          TEST_ENTRY(a_long_answer_is_read_at_its_end),
          TEST_ENTRY(a_line_with_many_colons_is_looked_at_once))
