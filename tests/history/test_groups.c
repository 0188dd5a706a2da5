/* test_groups.c - what it costs to find the call of each result, counted in ids that are compared. */
#include "support/test.h"

#include "history/fold_in.h"
#include "history/projecting_in.h"
#include "history/thread_in.h"
#include "persist/persist_in.h"

static size_t compared;

static bool count_equal(phi_str a, phi_str b) {
    compared++;
    return phi_str_equal(a, b);
}

#define phi_str_equal count_equal
#include "history/groups.c"
#include "history/append.c"
#include "history/lane.c"
#undef phi_str_equal

enum { CALLS = 2000 };

static char ids[CALLS][16];
static phi_content calls[CALLS], said;
static phi_message answer, results[CALLS];
static phi_memory memory;
static phi_thread thread;

/* An answer of CALLS calls, with its results in reverse order, or in call order. */
static void setup(bool reverse) {
    phi_allocator a = test_allocator();
    size_t i, at;
    phi_memory_init(&memory, &a, 0);
    phi__thread_init(&thread, &memory, NULL);
    memset(&answer, 0, sizeof answer);
    memset(results, 0, sizeof results);
    said.kind = PHI_CONTENT_TEXT;
    said.text = PHI__LIT("done");
    answer.role = PHI_ROLE_ASSISTANT;
    answer.content = calls;
    answer.content_count = CALLS;
    answer.stop_reason = PHI_STOP_REASON_TOOL_USE;
    for (i = 0; i < CALLS; i++) {
        (void)snprintf(ids[i], sizeof ids[i], "call_%u", (unsigned)i);
        calls[i].kind = PHI_CONTENT_TOOL_CALL;
        calls[i].id = phi_str_of(ids[i]);
        calls[i].name = PHI__LIT("look");
        calls[i].arguments = PHI__LIT("{}");
        at = reverse ? CALLS - 1 - i : i;
        results[at].role = PHI_ROLE_TOOL_RESULT;
        results[at].tool_call_id = calls[i].id;
        results[at].tool_name = calls[i].name;
        results[at].content = &said;
        results[at].content_count = 1;
    }
}

static void add(const phi_message *m) {
    phi__item *item;
    REQUIRE(phi__fold_room(&memory, &thread.fold, 1));
    item = &thread.fold.items[thread.fold.count++];
    memset(item, 0, sizeof *item);
    item->message = m;
}

static void add_all(void) {
    size_t i;
    add(&answer);
    for (i = 0; i < CALLS; i++) add(&results[i]);
}

static void done(void) {
    phi__journal_free_thread(&thread);
    CHECK_EQ_INT(test_alloc_live_bytes(), 0);
}

static void groups_of(bool reverse) {
    size_t *callers, i;
    setup(reverse);
    add_all();
    compared = 0;
    callers = phi__groups_make(&memory, &thread.fold);
    REQUIRE(callers != NULL);
    CHECK(compared <= 2 * CALLS);
    CHECK(callers[0] == SIZE_MAX);
    for (i = 1; i <= CALLS; i++) CHECK_EQ_INT(callers[i], 0);
    phi__groups_free(&memory, thread.fold.count, callers);
    done();
}

TEST(the_call_of_each_result_is_found_with_two_comparisons) {
    groups_of(false);
    groups_of(true);
}

TEST(calls_whose_results_are_in_any_order_are_checked_with_three_comparisons_each) {
    size_t i;
    for (i = 0; i < 2; i++) {
        setup(i == 1);
        add_all();
        compared = 0;
        CHECK(phi__append_answer_orphans(&thread, NULL));
        CHECK(compared <= 3 * CALLS);
        CHECK_EQ_INT(thread.fold.count, CALLS + 1);
        done();
    }
}

TEST(a_fork_looks_for_an_open_call_with_two_comparisons_for_each_result) {
    uint64_t at;
    size_t i;
    bool any;
    for (i = 0; i < 2; i++) {
        setup(i == 1);
        add_all();
        compared = 0;
        CHECK_EQ_INT(phi__lane_cut(&thread, 0, UINT64_MAX, &at, &any), PHI_OK);
        CHECK(compared <= 2 * CALLS);
        done();
    }
}

/* An id that is there twice belongs to the nearest answer before the result. */
TEST(a_result_belongs_to_the_nearest_answer_that_made_its_call) {
    size_t *callers;
    phi_message other;
    setup(false);
    other = results[0];
    other.tool_call_id = PHI__LIT("nobody");
    add(&results[0]);
    add(&answer);
    add(&results[0]);
    add(&answer);
    add(&results[0]);
    add(&other);
    callers = phi__groups_make(&memory, &thread.fold);
    REQUIRE(callers != NULL);
    CHECK(callers[0] == SIZE_MAX);
    CHECK_EQ_INT(callers[2], 1);
    CHECK_EQ_INT(callers[4], 3);
    CHECK(callers[5] == SIZE_MAX);
    phi__groups_free(&memory, thread.fold.count, callers);
    done();
}

TEST_MAIN(TEST_ENTRY(the_call_of_each_result_is_found_with_two_comparisons),
          TEST_ENTRY(calls_whose_results_are_in_any_order_are_checked_with_three_comparisons_each),
          TEST_ENTRY(a_fork_looks_for_an_open_call_with_two_comparisons_for_each_result),
          TEST_ENTRY(a_result_belongs_to_the_nearest_answer_that_made_its_call))
