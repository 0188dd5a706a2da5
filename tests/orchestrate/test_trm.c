/* test_trm.c - TRM: what is read in a review, and the machine. */
#include "orchestrate/machine_in.h"

#include "machine_support.h"

TEST(a_review_is_read_line_by_line) {
    static const struct {
        const char *text;
        int score; /* thousandths; -1: none */
        uint32_t strengths, issues, suggestions;
    } rows[] = {{"SCORE: 0.85", 850, 0, 0, 0},
                {"STRENGTH: a\nISSUE: b\nSUGGESTION: c\nSCORE: 0.4", 400, 1, 1, 1},
                {"- **Strength:** a\n* issue : b\n**SCORE**: **.75**", 750, 1, 1, 0},
                {"Score: 8/10", 800, 0, 0, 0},
                {"SCORE: 80%", 800, 0, 0, 0},
                {"SCORE: 8", 800, 0, 0, 0},
                {"SCORE: 85 points", 850, 0, 0, 0},
                {"SCORE: 1", 1000, 0, 0, 0},
                {"SCORE: 7/0", -1, 0, 0, 0},
                {"SCORE: 12/10", 1000, 0, 0, 0},
                {"SCORE: -3", 0, 0, 0, 0},
                {"SCORE: 0.2\nSCORE: 0.6", 600, 0, 0, 0}, /* the last one */
                {"SCORE: high", -1, 0, 0, 0},
                {"SCORE\xEF\xBC\x9A 0.5", 500, 0, 0, 0},
                {"the score: 0.9", -1, 0, 0, 0}, /* not at a line's beginning */
                {"SCORES: 0.9", -1, 0, 0, 0},
                /* without a number: the ratio */
                {"STRENGTH: a\nSTRENGTH: b\nSTRENGTH: c\nISSUE: d", 750, 3, 1, 0},
                {"ISSUE: a", 0, 0, 1, 0},
                {"SUGGESTION: a", -1, 0, 0, 1},
                {"good", -1, 0, 0, 0},
                {"", -1, 0, 0, 0}};
    size_t i;
    for (i = 0; i < PHI__COUNT(rows); i++) {
        phi__trm_parsed parsed;
        phi__trm_parse(phi_str_of(rows[i].text), &parsed);
        CHECK_EQ_INT(parsed.has_score, rows[i].score >= 0);
        if (rows[i].score >= 0) CHECK_EQ_INT((int)(parsed.score * 1000 + 0.5), rows[i].score);
        CHECK_EQ_INT(parsed.strengths, rows[i].strengths);
        CHECK_EQ_INT(parsed.issues, rows[i].issues);
        CHECK_EQ_INT(parsed.suggestions, rows[i].suggestions);
    }
}

TEST(an_answer_is_reviewed_and_improved_until_it_is_good_enough) {
    int reload;
    for (reload = 0; reload < 2; reload++) {
        machine m;
        machine_new(&m, phi_strategy_trm(), NULL, reload == 1);
        machine_begin(&m, "p");
        machine_answer(&m, " first\nAnswer: 1 ");
        machine_answer(&m, "ISSUE: wrong\nSCORE: 0.3");
        machine_answer(&m, " try two ");
        machine_answer(&m, "second\nAnswer: 2");
        m.env.elapsed_ms = 9;
        machine_answer(&m, "STRENGTH: right\nSCORE: 0.9");
        CHECK_EQ_STR(machine_text(&m.log),
                     "emit reasoning\nask 1: Problem: p\n"
                     "emit supervising\nask 2: Problem: p||The answer:|first|Answer: 1\n"
                     "emit reasoning\nask 3: Problem: p||The answer:|first|Answer: 1||The "
                     "reviewer's remarks:|ISSUE: wrong|SCORE: 0.3\n"
                     "emit improving\nask 4: Problem: p||The answer:|first|Answer: 1||The "
                     "reviewer's remarks:|ISSUE: wrong|SCORE: 0.3||Your notes:|try two\n"
                     "emit supervising\nask 5: Problem: p||The answer:|second|Answer: 2\n"
                     "done: 2\n");
        CHECK_EQ_STR(
            machine_text(&m.result),
            "{\"answer\":\"2\",\"raw_response\":\"second\\nAnswer: 2\",\"score\":0.9,"
            "\"supervisions\":2,\"calls\":5,\"unscored\":0,\"usage\":{\"input\":50,\"output\":25,"
            "\"reasoning\":0,\"cache_read\":0,\"cache_write\":0,\"total_tokens\":75},"
            "\"termination\":{\"reason\":\"threshold\",\"status\":\"completed\",\"duration_ms\":9}"
            "}");
        machine_free(&m);
    }
}

typedef struct course {
    const char *scores[6]; /* of one answer after another */
    const char *reason, *answer;
    int asks;
} course;

TEST(the_last_improvement_is_scored_and_the_best_answer_wins) {
    static const course courses[] = {
        /* five reviews: fourteen calls, and the fifth answer was scored */
        {{"0.1", "0.2", "0.3", "0.4", "0.8", NULL}, "max_supervisions", "a5", 14},
        {{"0.1", "0.7", "0.3", "0.4", "0.2", NULL}, "max_supervisions", "a2", 14},
        {{"0.5", "0.51", "0.52", NULL}, "converged", "a3", 8},
        {{"0.5", "0.5", "0.5", NULL}, "converged", "a1", 8}, /* of equals the first */
        {{"0.2", "0.5", "0.5", "0.51", NULL}, "converged", "a4", 11},
        {{"?", "?", "?", "?", "?", NULL}, "max_supervisions", "a5", 14}, /* nobody scored: newest */
        {{"0.95", NULL}, "threshold", "a1", 2}};
    size_t i, j;
    for (i = 0; i < 2 * PHI__COUNT(courses); i++) {
        const course *c = &courses[i / 2];
        machine m;
        machine_new(&m, phi_strategy_trm(), NULL, i % 2 == 1);
        machine_begin(&m, "p");
        for (j = 0; c->scores[j] != NULL && !m.over; j++) {
            char text[40];
            if (j > 0) machine_answer(&m, "notes");
            (void)snprintf(text, sizeof text, "a%u", (unsigned)j + 1);
            machine_answer(&m, text);
            (void)snprintf(text, sizeof text, "SCORE: %s", c->scores[j]);
            machine_answer(&m, text);
        }
        CHECK(m.over && c->scores[j] == NULL);
        CHECK_EQ_INT(m.asks, c->asks);
        CHECK_EQ_STR(machine_result(&m, "answer"), c->answer);
        CHECK_EQ_STR(machine_result(&m, "termination.reason"), c->reason);
        machine_free(&m);
    }
}

TEST(defaults_and_options) {
    phi_trm_options o;
    phi_strategy_bill bill;
    machine m;
    phi_strategy_trm()->bill(NULL, 100, 50, &bill);
    CHECK_EQ_INT(bill.calls, 14); /* one answer, five reviews, four times notes and an answer */
    CHECK_EQ_INT(bill.input_tokens, 14 * (100 + 200) + (5 + 3 * 8) * 50);
    CHECK(bill.output_tokens == 0 && bill.in_conversation == 0);
    memset(&o, 0, sizeof o);
    o.max_supervisions = 1;
    o.threshold = 0.2;
    o.max_tokens = 7;
    o.has_temperature = true;
    o.temperature = 0.5;
    o.timeout_ms = 99;
    o.reason_prompt = "R";
    o.supervise_prompt = "S";
    o.improve_prompt = "I";
    o.notes_prompt = "N";
    phi_strategy_trm()->bill(&o, 100, 50, &bill);
    CHECK(bill.calls == 2 && bill.output_tokens == 14);
    machine_new(&m, phi_strategy_trm(), &o, true);
    machine_begin(&m, "p");
    CHECK_EQ_STR(machine_text(&m.ask), "R\n\nProblem: p");
    CHECK(m.call.max_tokens == 7 && m.call.has_temperature && m.call.timeout_ms == 99);
    CHECK(!m.call.tools && !m.call.in_conversation);
    machine_answer(&m, "a");
    CHECK_EQ_STR(machine_text(&m.ask), "S\n\nProblem: p\n\nThe answer:\na");
    machine_answer(&m, "SCORE: 0.1");
    CHECK_EQ_STR(machine_result(&m, "termination.reason"), "max_supervisions");
    machine_free(&m);
    o.max_supervisions = 1000; /* a bound on calls */
    phi_strategy_trm()->bill(&o, 0, 0, &bill);
    CHECK_EQ_INT(bill.calls, 1 + 50 + 49 * 2);
    o.reasoning_steps = 1000;
    phi_strategy_trm()->bill(&o, 0, 0, &bill);
    CHECK_EQ_INT(bill.calls, 1 + 50 + 49 * 21);
    o.reasoning_steps = 0;
    o.max_supervisions = 2;
    machine_new(&m, phi_strategy_trm(), &o, true);
    machine_begin(&m, "p");
    machine_answer(&m, "a");
    machine_answer(&m, "SCORE: 0.1");
    CHECK(strncmp(machine_text(&m.ask), "N\n\n", 3) == 0);
    machine_answer(&m, "n");
    CHECK(strncmp(machine_text(&m.ask), "I\n\n", 3) == 0);
    machine_free(&m);
}

TEST(reasoning_is_repeated_as_often_as_the_option_says_each_time_from_the_notes_before) {
    int reload;
    for (reload = 0; reload < 2; reload++) {
        phi_trm_options o;
        machine m;
        memset(&o, 0, sizeof o);
        o.reasoning_steps = 3;
        machine_new(&m, phi_strategy_trm(), &o, reload == 1);
        machine_begin(&m, "p");
        machine_answer(&m, "a");
        machine_answer(&m, "SCORE: 0.1");
        machine_answer(&m, "one");
        CHECK(strstr(machine_text(&m.ask), "\n\nYour notes:\none") != NULL);
        machine_answer(&m, "two");
        CHECK(strstr(machine_text(&m.ask), "\n\nYour notes:\ntwo") != NULL);
        machine_answer(&m, " "); /* nothing new */
        CHECK(strstr(machine_text(&m.ask), "You improve") != NULL);
        CHECK(strstr(machine_text(&m.ask), "\n\nYour notes:\ntwo") != NULL);
        machine_answer(&m, "b");
        CHECK(strstr(machine_text(&m.ask), "Your notes") == NULL); /* the supervisor's own check */
        machine_answer(&m, "SCORE: 0.2");
        CHECK(strstr(machine_text(&m.ask), "\n\nYour notes:\ntwo") != NULL);
        machine_stop(&m); /* among its notes: the best answer */
        CHECK_EQ_STR(machine_result(&m, "answer"), "b");
        CHECK_EQ_INT(m.asks, 8);
        machine_free(&m);
    }
}

TEST(failures_ends_and_empty_answers) {
    machine m;
    machine_new(&m, phi_strategy_trm(), NULL, true);
    machine_begin(&m, "p");
    machine_answer(&m, "  ");
    CHECK(strstr(machine_text(&m.log), "fail: the model wrote no answer\n") != NULL);
    machine_free(&m);
    machine_new(&m, phi_strategy_trm(), NULL, true);
    machine_begin(&m, "p");
    machine_answer(&m, "a");
    machine_answer(&m, "SCORE: 0.4");
    machine_answer(&m, "notes");
    machine_answer(&m, "");
    CHECK_EQ_STR(machine_result(&m, "termination.reason"), "no_answer");
    CHECK_EQ_STR(machine_result(&m, "answer"), "a");
    machine_free(&m);
    machine_new(&m, phi_strategy_trm(), NULL, true);
    machine_begin(&m, "p");
    machine_answer(&m, "a");
    machine_fail(&m, PHI_TIMEOUT, "late", "");
    CHECK(strstr(machine_text(&m.log), "fail: late\n") != NULL);
    CHECK_EQ_STR(machine_result(&m, "error"), "late");
    machine_answer(&m, "more"); /* it is over */
    machine_free(&m);
    machine_new(&m, phi_strategy_trm(), NULL, true);
    machine_begin(&m, "p");
    machine_begin(&m, "again");
    machine_answer_str(&m, 9, PHI__LIT("late"));
    CHECK_EQ_INT(m.asks, 1);
    machine_stop(&m);
    CHECK(strstr(machine_text(&m.log), "fail: ended before there was an answer\n") != NULL);
    machine_free(&m);
    machine_new(&m, phi_strategy_trm(), NULL, true);
    machine_begin(&m, "p");
    machine_answer(&m, "a");
    machine_stop(&m); /* not scored yet, but an answer */
    CHECK(strstr(machine_text(&m.log), "done: a\n") != NULL);
    CHECK_EQ_STR(machine_result(&m, "termination.reason"), "stopped");
    machine_free(&m);
    machine_new(&m, phi_strategy_trm(), NULL, true);
    machine_begin(&m, "p");
    m.env.calls_left = 0;
    machine_answer(&m, "a"); /* a call more than there are is not asked for */
    CHECK(strstr(machine_text(&m.log), "done: a\n") != NULL);
    CHECK_EQ_STR(machine_result(&m, "termination.reason"), "max_calls");
    machine_free(&m);
}

TEST(what_is_no_saved_machine_is_refused) {
    static const char *const rows[] = {"[]", "{}", "{\"phase\":9}",
                                       "{\"phase\":1,\"scores\":[1,2,3,4]}"};
    size_t i;
    for (i = 0; i < PHI__COUNT(rows); i++) {
        phi_strategy_commands commands;
        phi_json *json = NULL;
        machine m;
        commands.count = 0;
        machine_new(&m, phi_strategy_trm(), NULL, false);
        CHECK_EQ_INT(phi_json_parse(&m.scratch, phi_str_of(rows[i]), 0, &json, NULL), PHI_OK);
        CHECK_EQ_INT(m.strategy->load(m.state, json, &m.env, &commands), PHI_PARSE);
        CHECK_EQ_INT(commands.count, 0);
        machine_free(&m);
    }
}

TEST(without_memory_the_machine_says_so_and_leaves_nothing) {
    int n = 0;
    do {
        machine m;
        machine_new(&m, phi_strategy_trm(), NULL, false);
        test_alloc_fail_at(n);
        machine_begin(&m, "a prompt");
        if (m.status == PHI_OK && m.asks == 1) machine_answer(&m, "a");
        if (m.status == PHI_OK && m.asks == 2) machine_answer(&m, "SCORE: 0.95");
        CHECK(m.status == PHI_OK || m.status == PHI_NO_MEMORY);
        test_alloc_fail_at(-1);
        machine_free(&m);
    } while (n++ < 60);
}

TEST_MAIN(
    TEST_ENTRY(a_review_is_read_line_by_line),
    TEST_ENTRY(an_answer_is_reviewed_and_improved_until_it_is_good_enough),
    TEST_ENTRY(the_last_improvement_is_scored_and_the_best_answer_wins),
    TEST_ENTRY(defaults_and_options),
    TEST_ENTRY(reasoning_is_repeated_as_often_as_the_option_says_each_time_from_the_notes_before),
    TEST_ENTRY(failures_ends_and_empty_answers), TEST_ENTRY(what_is_no_saved_machine_is_refused),
    TEST_ENTRY(without_memory_the_machine_says_so_and_leaves_nothing))
