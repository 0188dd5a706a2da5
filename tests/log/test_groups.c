/* test_groups.c - what it costs to find the call of each result, counted in ids that are compared. */
#include "support/test.h"

#include "log/thread_in.h"
#include "log/prune.h"
#include "persist/persist_in.h"
#include "record/session_in.h"

static size_t compared;

static bool count_equal(phi_str a, phi_str b) {
    compared++;
    return phi_str_equal(a, b);
}

#define phi_str_equal count_equal
#include "log/fold.c"
#include "log/append.c"
#include "model/event_parts.h"
#include "log/log_in.h"
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

TEST(a_prune_finds_the_call_of_each_result_with_two_comparisons) {
    phi_view_item items[CALLS + 1];
    phi_rewrite rewrite;
    phi_pruned pruned;
    phi_prune prune;
    phi_arena arena;
    size_t i;
    setup(true);
    memset(items, 0, sizeof items);
    memset(&prune, 0, sizeof prune);
    for (i = 0; i <= CALLS; i++) {
        items[i].message = i == 0 ? &answer : &results[i - 1];
        items[i].from = items[i].to = i;
    }
    prune.tokens = 1;
    phi_arena_init(&arena, &memory, 0);
    compared = 0;
    CHECK_EQ_INT(phi__prune_plan(items, CALLS + 1, &prune, NULL, &arena, &rewrite, &pruned),
                 PHI_OK);
    CHECK(compared > 0 && compared <= 2 * CALLS);
    CHECK_EQ_INT(pruned.messages_removed, CALLS + 1);
    phi_arena_free(&arena);
    done();
}

/* Three times: for the sums, for orphans, and for the ends of the middle. */
TEST(compacting_a_list_finds_the_call_of_each_result_with_two_comparisons_each_time) {
    const phi_message *list[CALLS + 3], *const *out = NULL;
    phi_message last;
    phi_content long_text;
    phi_compaction_config config;
    phi_arena arena;
    size_t i, count = 0;
    setup(true);
    memset(&config, 0, sizeof config);
    long_text = said;
    last = results[0];
    last.role = PHI_ROLE_USER;
    last.content = &long_text;
    list[0] = &last;
    list[1] = &answer;
    for (i = 0; i < CALLS; i++) list[i + 2] = &results[i];
    list[CALLS + 2] = &last;
    config.max_context_tokens = 20000;
    config.system_prompt_tokens = 1;
    config.keep_recent_messages = CALLS + 2;
    phi_arena_init(&arena, &memory, 0);
    compared = 0;
    CHECK_EQ_INT(phi_compact_messages(list, CALLS + 3, &config, NULL, &arena, &out, &count),
                 PHI_OK);
    CHECK(compared > 0 && compared <= 8 * CALLS);
    if (CHECK_EQ_INT(count, 2)) CHECK(out[1] == &last); /* the answer does not fit: a marker */
    phi_arena_free(&arena);
    done();
}

TEST(a_session_finds_the_call_of_each_pruned_result_with_two_comparisons) {
    phi__way_way way;
    phi_loop_record loop, *loops[1];
    phi_loop_event event;
    phi_message list[CALLS + 1];
    phi_arena arena;
    size_t i, gone = 0;
    setup(true);
    memset(&way, 0, sizeof way);
    memset(&loop, 0, sizeof loop);
    memset(&event, 0, sizeof event);
    for (i = 0; i <= CALLS; i++) {
        list[i] = i == 0 ? answer : results[i - 1];
        list[i].timestamp_ms = (int64_t)i;
    }
    event.json = PHI__LIT("{\"type\":\"PrunApplied\",\"loop_id\":\"a\",\"tokens_removed\":1,"
                          "\"messages_removed\":1,\"memo\":null,\"pruned_timestamps\":[7],"
                          "\"timestamp\":\"2024-01-01T00:00:00Z\"}");
    loop.messages = list;
    loop.message_count = CALLS + 1;
    loop.events = &event;
    loop.event_count = 1;
    loops[0] = &loop;
    way.loops = loops;
    way.count = way.all = 1;
    phi_arena_init(&arena, &memory, 0);
    compared = 0;
    CHECK_EQ_INT(phi__pruned_find(&way, &arena, &arena), PHI_OK);
    CHECK(compared > 0 && compared <= 2 * CALLS);
    REQUIRE(way.marks != NULL);
    for (i = 0; i <= CALLS; i++) gone += way.marks[0][i].gone;
    CHECK_EQ_INT(gone, CALLS + 1);
    phi_arena_free(&arena);
    done();
}

TEST_MAIN(
    TEST_ENTRY(the_call_of_each_result_is_found_with_two_comparisons),
    TEST_ENTRY(calls_whose_results_are_in_any_order_are_checked_with_three_comparisons_each),
    TEST_ENTRY(a_fork_looks_for_an_open_call_with_two_comparisons_for_each_result),
    TEST_ENTRY(a_result_belongs_to_the_nearest_answer_that_made_its_call),
    TEST_ENTRY(a_prune_finds_the_call_of_each_result_with_two_comparisons),
    TEST_ENTRY(compacting_a_list_finds_the_call_of_each_result_with_two_comparisons_each_time),
    TEST_ENTRY(a_session_finds_the_call_of_each_pruned_result_with_two_comparisons))
