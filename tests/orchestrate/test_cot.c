/* test_cot.c - Chain-of-Thought and Chain-of-Draft: the reading of answers, and the machine. */
#include "orchestrate/machine_in.h"

#include "machine_support.h"

typedef struct row {
    const char *text, *conclusion, *steps; /* steps: joined by '|' */
} row;

static void check_rows(const row *rows, size_t count) {
    size_t i, j;
    for (i = 0; i < count; i++) {
        phi_memory memory;
        phi_arena arena;
        phi__cot_parsed parsed;
        phi__buf steps;
        phi_allocator allocator = test_allocator();
        phi_memory_init(&memory, &allocator, 0);
        phi_arena_init(&arena, &memory, 0);
        phi__buf_init(&steps, &memory);
        if (CHECK(phi__cot_parse(phi_str_of(rows[i].text), &arena, &parsed))) {
            CHECK_STR(parsed.conclusion, rows[i].conclusion);
            for (j = 0; j < parsed.step_count; j++) {
                if (j > 0) phi__buf_char(&steps, '|');
                phi__buf_add_str(&steps, parsed.steps[j]);
            }
            CHECK_STR(phi__buf_str(&steps), rows[i].steps);
        }
        phi__buf_free(&steps);
        phi_arena_free(&arena);
    }
}

TEST(the_conclusion_is_found_by_its_marks) {
    static const row rows[] = {
        {"2 + 2\n#### 4", "4", ""},
        {"#### 3\nno\n#### 4\nand more", "4\nand more", ""}, /* the last mark */
        {"Answer: 3\n#### 4", "4", ""},                      /* before any word */
        {"Answer: 3\n####", "3", ""},                        /* nothing behind it */
        {"Conclusion: it is blue", "it is blue", ""},
        {"conclusion:\n\n  it is blue ", "it is blue", ""},
        {"Final answer: 7", "7", ""},
        {"FINAL ANSWER \xEF\xBC\x9A 7", "7", ""},
        {"**Answer:** 42", "42", ""},
        {"*Answer*: `42`", "42", ""},
        {"In conclusion, it holds.", "it holds.", ""},
        {"Therefore x is 3.", "x is 3.", ""},
        {"Thus, x is 3.", "x is 3.", ""},
        {"Hence: x", "x", ""},
        {"So, x is 3.", "x is 3.", ""},
        {"So far so good.", "", ""}, /* prose */
        {"Some answers are wrong", "", ""},
        {"Answers: none", "", ""},
        {"Thus x is 3.\nAnswer: 4\nTherefore y.", "4", ""}, /* what names it goes first */
        {"Answer: 4\nNo.\nAnswer: 5", "5", ""},             /* the last one counts */
        {"Therefore 1.\nThus 2.", "2.", ""},
        {"", "", ""}};
    check_rows(rows, PHI__COUNT(rows));
}

TEST(steps_are_numbered_lines_or_bullets) {
    static const row rows[] = {
        {"Step 1: add\nStep 2: divide\nAnswer: 3", "3", "add|divide"},
        {"**Step 1:** add\nstep 2 : divide", "", "add|divide"},
        {"1. add\n2) divide\r\n\r\n3.5 is no step", "", "add|divide"},
        {"- add\n* divide\n\xE2\x80\xA2 carry\n\n-5 is no step", "", "add|divide|carry"},
        {"1.\nStep x: no", "", ""}};
    check_rows(rows, PHI__COUNT(rows));
}

TEST(steps_keep_their_continuation_lines) {
    static const row rows[] = {
        {"Step 1: add 2\nand 3\nStep 2: divide\nAnswer: 3", "3", "add 2\nand 3|divide"},
        {"1. add\n   - carry\n   - again\n2. divide\r\nby two\r\n", "",
         "add\n   - carry\n   - again|divide\r\nby two"},
        {"Step 1: add\n\n    x = 3\n\nSo far so good.\nStep 2: divide", "",
         "add\n\n    x = 3|divide"},
        {"- add\nthis\n#### 7", "7", "add\nthis"},
        {"Step 1: add\nTherefore 3", "3", "add"},
        {"prose\nStep 1: **add**\n**all of it**\n\nprose", "", "add**\n**all of it"},
        {"  Step 1: add\n  more\n  Step 2: divide", "", "add\n  more|divide"}};
    check_rows(rows, PHI__COUNT(rows));
}

TEST(one_call_sees_the_conversation_and_its_conclusion_is_the_answer) {
    int reload;
    for (reload = 0; reload < 2; reload++) {
        machine m;
        machine_new(&m, phi_strategy_cot(PHI_COT_STEPS), NULL, reload == 1);
        machine_begin(&m, "2 + 2?");
        CHECK(m.call.in_conversation && !m.call.tools && !m.call.has_temperature);
        CHECK_EQ_INT(m.call.max_tokens, 0);
        machine_answer_str(&m, 7, PHI__LIT("stale")); /* of no call: ignored */
        machine_answer(&m, "Step 1: two and two\nConclusion: 4");
        machine_answer(&m, "late");
        CHECK_EQ_STR(machine_text(&m.log), "emit reasoning\nask 1: (the prompt)\ndone: 4\n");
        CHECK_EQ_STR(machine_text(&m.result),
                     "{\"answer\":\"4\",\"conclusion\":\"4\",\"steps\":[\"two and two\"],"
                     "\"raw_response\":\"Step 1: two and two\\nConclusion: 4\","
                     "\"usage\":{\"input\":10,\"output\":5,\"reasoning\":0,\"cache_read\":0,"
                     "\"cache_write\":0,\"total_tokens\":15},"
                     "\"termination\":{\"reason\":\"success\",\"status\":\"completed\","
                     "\"duration_ms\":0}}");
        machine_free(&m);
    }
}

TEST(a_whole_text_without_a_mark_is_the_answer_and_an_empty_one_is_an_error) {
    machine m;
    machine_new(&m, phi_strategy_cot(PHI_COT_DRAFTS), NULL, false);
    machine_begin(&m, "x?");
    CHECK(phi__str_find(phi__buf_str(&m.ask), 0, "####") != SIZE_MAX);
    machine_answer(&m, " just this \n");
    CHECK_EQ_STR(machine_text(&m.log), "emit reasoning\nask 1: (the prompt)\ndone: just this\n");
    CHECK_EQ_STR(machine_result(&m, "conclusion"), "null");
    machine_free(&m);
    machine_new(&m, phi_strategy_cot(PHI_COT_DRAFTS), NULL, false);
    machine_begin(&m, "x?");
    machine_answer(&m, "\n");
    CHECK_EQ_STR(machine_text(&m.log),
                 "emit reasoning\nask 1: (the prompt)\nfail: the model wrote no answer\n");
    machine_free(&m);
}

TEST(options_replace_the_prompt_and_set_the_call) {
    machine m;
    phi_cot_options options;
    memset(&options, 0, sizeof options);
    options.system_prompt = "Think hard.";
    options.max_tokens = 99;
    options.has_temperature = true;
    options.temperature = 0.5;
    options.timeout_ms = 1000;
    machine_new(&m, phi_strategy_cot(PHI_COT_STEPS), &options, true);
    machine_begin(&m, "x?");
    CHECK_EQ_STR(machine_text(&m.ask), "Think hard.\n\n");
    CHECK(m.call.max_tokens == 99 && m.call.has_temperature && m.call.timeout_ms == 1000);
    machine_free(&m);
}

TEST(a_failed_call_is_the_error_with_the_text_so_far) {
    machine m;
    machine_new(&m, phi_strategy_cot(PHI_COT_STEPS), NULL, true);
    machine_begin(&m, "x?");
    machine_fail(&m, PHI_NETWORK, "the line broke", "Step 1: half");
    CHECK_EQ_STR(machine_text(&m.log),
                 "emit reasoning\nask 1: (the prompt)\nfail: the line broke\n");
    CHECK_EQ_STR(machine_result(&m, "raw_response"), "Step 1: half");
    CHECK_EQ_STR(machine_result(&m, "termination.status"), "error");
    CHECK_EQ_STR(machine_result(&m, "error"), "the line broke");
    machine_free(&m);
    machine_new(&m, phi_strategy_cot(PHI_COT_STEPS), NULL, true);
    machine_begin(&m, "x?");
    machine_stop(&m);
    CHECK_EQ_STR(machine_result(&m, "termination.reason"), "stopped");
    machine_free(&m);
}

TEST(without_memory_the_machine_says_so_and_leaves_nothing) {
    int n = 0;
    do {
        machine m;
        machine_new(&m, phi_strategy_cot(PHI_COT_STEPS), NULL, false);
        test_alloc_fail_at(n);
        machine_begin(&m, "a prompt");
        if (m.status == PHI_OK && m.asks > 0) machine_answer(&m, "1. a\nAnswer: b");
        CHECK(m.status == PHI_OK || m.status == PHI_NO_MEMORY);
        test_alloc_fail_at(-1);
        machine_free(&m);
    } while (n++ < 40);
}

TEST_MAIN(TEST_ENTRY(the_conclusion_is_found_by_its_marks),
          TEST_ENTRY(steps_are_numbered_lines_or_bullets),
          TEST_ENTRY(steps_keep_their_continuation_lines),
          TEST_ENTRY(one_call_sees_the_conversation_and_its_conclusion_is_the_answer),
          TEST_ENTRY(a_whole_text_without_a_mark_is_the_answer_and_an_empty_one_is_an_error),
          TEST_ENTRY(options_replace_the_prompt_and_set_the_call),
          TEST_ENTRY(a_failed_call_is_the_error_with_the_text_so_far),
          TEST_ENTRY(without_memory_the_machine_says_so_and_leaves_nothing))
