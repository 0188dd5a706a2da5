/* test_aot.c - Algorithm-of-Thoughts: the reading of answers, the prompt, and the machine. */
#include "orchestrate/machine_in.h"

#include "machine_support.h"

typedef struct row {
    const char *text, *answer;
    uint32_t operations, steps, markers;
    bool found;
} row;

TEST(the_answer_and_the_search_are_read) {
    static const row rows[] = {
        {"", "", 0, 0, 0, false},
        {"answer: 24", "24", 0, 0, 1, true},
        {"Answer \xEF\xBC\x9A 24", "24", 0, 0, 0, true}, /* a full-width colon is no marker */
        {"answer:\n\n  (1 + 2)  \nrest", "(1 + 2)", 0, 0, 1, true},
        {"answer: 1\nno\nanswer: 2", "2", 0, 0, 2, true}, /* the last one */
        {"**Answer:** `7`", "7", 0, 0, 1, true},
        {"answer: **7**", "7", 0, 0, 1, true},
        {"Final answer: 9", "9", 0, 0, 1, true},
        {"answer: 1\nfinal answer: 9", "9", 0, 0, 2, true},
        {"the answer: 5", "", 0, 0, 1, true}, /* not at a line's beginning */
        {"answers: 5", "", 0, 0, 0, false},
        {"answer:\nanswer: 3", "3", 0, 0, 2, true},
        {"answer:", "", 0, 0, 1, true},
        {"Found it! Solution found.", "", 0, 0, 2, true},
        {"Trying promising first operation:\nTrying another promising first operation:", "", 2, 0,
         0, false},
        {"1. 4 * 5 = 20 : (3, 10, 20)\n2. 10 / 5 = 2 : (2, 3)\n3. no brackets : here", "", 2, 0, 0,
         false},
        {"Trying promising first operation:\n1. a : (b)\n2. c : (d)", "", 2, 0, 0, false},
        {"Step 1: x\nStep 22: y\nsteps: z\n**Step 3:** w", "", 0, 3, 0, false}};
    size_t i;
    for (i = 0; i < PHI__COUNT(rows); i++) {
        phi__aot_parsed parsed;
        phi__aot_parse(phi_str_of(rows[i].text), &parsed);
        CHECK_STR(parsed.answer, rows[i].answer);
        CHECK_EQ_INT(parsed.first_operations, rows[i].operations);
        CHECK_EQ_INT(parsed.backtracking_steps, rows[i].steps);
        CHECK_EQ_INT(parsed.found_markers, rows[i].markers);
        CHECK_EQ_INT(parsed.found_solution, rows[i].found);
    }
}

static size_t examples_in(machine *m) {
    size_t at = 0, n = 0;
    while ((at = phi__str_find(phi__buf_str(&m->ask), at, "Problem: use")) != SIZE_MAX) {
        at++;
        n++;
    }
    return n;
}

TEST(the_prompt_has_the_profiles_examples_the_style_and_the_defaults) {
    static const char *const own[] = {"Mine 1", "Mine 2"};
    static const struct {
        phi_aot_profile profile;
        size_t examples;
    } profiles[] = {{PHI_AOT_STANDARD, 2}, {PHI_AOT_SHORT, 1}, {PHI_AOT_LONG, 3}};
    phi_aot_options options;
    machine m;
    size_t i;
    memset(&options, 0, sizeof options);
    for (i = 0; i < PHI__COUNT(profiles); i++) {
        options.profile = profiles[i].profile;
        machine_new(&m, phi_strategy_aot(), &options, false);
        machine_begin(&m, "p");
        CHECK_EQ_INT(examples_in(&m), profiles[i].examples);
        CHECK(phi__str_find(phi__buf_str(&m.ask), 0, "depth first") != SIZE_MAX);
        CHECK(m.call.max_tokens == 2048 && m.call.has_temperature && !m.call.tools);
        CHECK(!(m.call.temperature > 0.0) && m.call.timeout_ms == 0 && !m.call.in_conversation);
        machine_free(&m);
    }
    options.profile = PHI_AOT_SHORT;
    options.timeout_ms = 5;
    machine_new(&m, phi_strategy_aot(), &options, true);
    machine_begin(&m, "p");
    CHECK(phi__str_find(phi__buf_str(&m.ask), 0, "use 3, 4, 5 and 10") != SIZE_MAX);
    CHECK(phi__str_find(phi__buf_str(&m.ask), 0, "Mark the search with these lines") != SIZE_MAX);
    CHECK_EQ_INT(m.call.timeout_ms, 5);
    machine_answer_str(&m, 2, PHI__LIT("answer: stale"));
    CHECK(!m.over);
    machine_free(&m);
    options.examples = own;
    options.example_count = 2;
    options.style = PHI_AOT_BFS;
    options.agent_temperature = true;
    options.max_tokens = 7;
    machine_new(&m, phi_strategy_aot(), &options, false);
    machine_begin(&m, "p");
    CHECK_EQ_INT(examples_in(&m), 0);
    CHECK(phi__str_find(phi__buf_str(&m.ask), 0, "Mine 1\n\nMine 2") != SIZE_MAX);
    CHECK(phi__str_find(phi__buf_str(&m.ask), 0, "breadth first") != SIZE_MAX);
    CHECK(m.call.max_tokens == 7 && !m.call.has_temperature);
    machine_free(&m);
}

TEST(a_solution_is_the_answer_and_the_result_has_the_whole_contract) {
    int reload;
    for (reload = 0; reload < 2; reload++) {
        machine m;
        machine_new(&m, phi_strategy_aot(), NULL, reload == 1);
        machine_begin(&m, "make 24");
        m.env.elapsed_ms = 12;
        machine_answer(&m, "Trying promising first operation:\nStep 1: x\nanswer: 3 * 8");
        CHECK_EQ_STR(
            machine_text(&m.log),
            "emit exploring\nask 1: Solve this problem with the search that was described. "
            "End with a line of the form answer: <the solution>||Problem: make 24\n"
            "done: 3 * 8\n");
        CHECK_EQ_STR(
            machine_text(&m.result),
            "{\"answer\":\"3 * 8\",\"found_solution\":true,"
            "\"first_operations_considered\":1,\"backtracking_steps\":1,"
            "\"raw_response\":\"Trying promising first operation:\\nStep 1: x\\nanswer: 3 * "
            "8\",\"usage\":{\"input\":10,\"output\":5,\"reasoning\":0,\"cache_read\":0,"
            "\"cache_write\":0,\"total_tokens\":15},\"termination\":{\"reason\":\"success\","
            "\"status\":\"completed\",\"duration_ms\":12},\"diagnostics\":{"
            "\"explicit_answer_required\":true,\"explicit_answer_found\":true,"
            "\"non_finalization_detected\":false,\"found_markers\":1,"
            "\"parser_mode\":\"regex\"}}");
        machine_free(&m);
    }
}

typedef struct ending {
    const char *text;
    bool implicit;
    const char *reason, *status, *last; /* of the log */
} ending;

TEST(what_is_no_success_ends_as_an_error_with_the_whole_result) {
    static const ending endings[] = {
        {"found it, somewhere", false, "missing_explicit_answer", "error",
         "fail: the model found a solution but wrote no answer line\n"},
        {"nothing", false, "no_solution", "error", "fail: the model found no solution\n"},
        {"nothing", true, "no_solution", "error", "fail: the model found no solution\n"},
        {" found it: 5 ", true, "success", "completed", "done: found it: 5\n"}};
    size_t i;
    for (i = 0; i < PHI__COUNT(endings); i++) {
        phi_aot_options options;
        machine m;
        const char *log;
        memset(&options, 0, sizeof options);
        options.implicit_answer = endings[i].implicit;
        machine_new(&m, phi_strategy_aot(), &options, true);
        machine_begin(&m, "p");
        machine_answer(&m, endings[i].text);
        CHECK_EQ_STR(machine_result(&m, "termination.reason"), endings[i].reason);
        CHECK_EQ_STR(machine_result(&m, "termination.status"), endings[i].status);
        CHECK_EQ_STR(machine_result(&m, "raw_response"), endings[i].text);
        CHECK_EQ_STR(machine_result(&m, "answer"), "null");
        log = machine_text(&m.log);
        CHECK(strstr(log, endings[i].last) != NULL);
        machine_free(&m);
    }
}

TEST(the_bill_of_one_call_counts_the_examples) {
    static const char *const own[] = {"A worked search of forty bytes, or so it is"};
    phi_strategy_bill bill;
    phi_aot_options options;
    phi_strategy_aot()->bill(NULL, 100, 7, &bill);
    CHECK(bill.calls == 1 && bill.output_tokens == 2048 && bill.input_tokens == 1300);
    memset(&options, 0, sizeof options);
    options.examples = own;
    options.example_count = 1;
    options.max_tokens = 50;
    phi_strategy_aot()->bill(&options, 100, 7, &bill);
    CHECK(bill.output_tokens == 50 && bill.input_tokens == 1310 && bill.in_conversation == 0);
}

TEST(a_provider_error_keeps_the_text_so_far) {
    machine m;
    machine_new(&m, phi_strategy_aot(), NULL, true);
    machine_begin(&m, "p");
    machine_fail(&m, PHI_NETWORK, "gone", "Step 1: ha");
    CHECK_EQ_STR(machine_result(&m, "raw_response"), "Step 1: ha");
    CHECK_EQ_STR(machine_result(&m, "termination.reason"), "error");
    CHECK_EQ_STR(machine_result(&m, "diagnostics.error"), "gone");
    machine_free(&m);
}

TEST(without_memory_the_machine_says_so_and_leaves_nothing) {
    int n = 0;
    do {
        machine m;
        machine_new(&m, phi_strategy_aot(), NULL, false);
        test_alloc_fail_at(n);
        machine_begin(&m, "a prompt");
        if (m.status == PHI_OK && m.asks > 0) machine_answer(&m, "answer: b");
        CHECK(m.status == PHI_OK || m.status == PHI_NO_MEMORY);
        test_alloc_fail_at(-1);
        machine_free(&m);
    } while (n++ < 40);
}

TEST_MAIN(TEST_ENTRY(the_answer_and_the_search_are_read),
          TEST_ENTRY(the_prompt_has_the_profiles_examples_the_style_and_the_defaults),
          TEST_ENTRY(a_solution_is_the_answer_and_the_result_has_the_whole_contract),
          TEST_ENTRY(what_is_no_success_ends_as_an_error_with_the_whole_result),
          TEST_ENTRY(the_bill_of_one_call_counts_the_examples),
          TEST_ENTRY(a_provider_error_keeps_the_text_so_far),
          TEST_ENTRY(without_memory_the_machine_says_so_and_leaves_nothing))
