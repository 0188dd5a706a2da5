/* test_switch_op.c - a rewrite that switches lanes: alone or with spans it is one entry, made as a whole or not at all,
   once for each id, and it is read as it was written. And a part of a log as a list. */
#include "support/test.h"
#include "support/thread_text.h"

#include "record/replay.h"
#include "persist/introspect.h"
#include "persist/store.h"
#include "persist/persist_in.h"

static phi_memory memory;
static phi_thread thread;
static char words[200];

static phi_thread *log_of(void) { return &thread; }

static void say(phi_role role, const char *text) {
    phi_content c = PHI_ZERO;
    phi_message m = PHI_ZERO;
    c.kind = PHI_CONTENT_TEXT;
    c.text = phi_str_of(text);
    m.role = role;
    m.content = &c;
    m.content_count = 1;
    CHECK_EQ_INT(phi_thread_append(log_of(), &m, 1, NULL), PHI_OK);
}

/* 0 to 3: two questions with their answers. */
static void conversation(void) {
    phi_allocator a = test_allocator();
    phi_memory_init(&memory, &a, 0);
    phi__thread_init(&thread, &memory, NULL);
    say(PHI_ROLE_USER, "left or right?");
    say(PHI_ROLE_ASSISTANT, "left");
    say(PHI_ROLE_USER, "and then?");
    say(PHI_ROLE_ASSISTANT, "up the stairs");
}

static void done(void) {
    phi__journal_free_thread(&thread);
    CHECK_EQ_INT(test_alloc_live_bytes(), 0);
}

/* The lane that is active, and the entries it shows: "default: 0 1 2 3"; [0-1] stands for a message of a rewrite. */
static const char *shows(phi_thread *of) {
    static char out[400];
    const phi__fold *fold = &of->fold;
    phi_str lane = phi_thread_get_info(of).lane;
    size_t i, n = (size_t)snprintf(out, sizeof out, "%.*s:", (int)lane.len, lane.at);
    for (i = 0; i < fold->count && n + 40 < sizeof out; i++)
        n += (size_t)snprintf(out + n, sizeof out - n,
                              (fold->items[i].flags & PHI_ITEM_SYNTHETIC) != 0 ? " [%u-%u]" : " %u",
                              (unsigned)fold->items[i].from, (unsigned)fold->items[i].to);
    return out;
}

static const char *now(void) { return shows(&thread); }

static size_t messages_of_lane(void) { return thread.messages.count; }

static phi_status apply(const phi_rewrite *r) {
    return phi_thread_rewrite(log_of(), r, NULL, words, sizeof words);
}

static phi_rewrite switch_of(const char *op_id, const char *to) {
    phi_rewrite r = PHI_ZERO;
    r.op_id = op_id;
    r.switch_to = to;
    return r;
}

static phi_rewrite with_span(phi_rewrite r, phi_span *span, uint64_t from, uint64_t to) {
    memset(span, 0, sizeof *span);
    span->from = from;
    span->to = to;
    r.spans = span;
    r.span_count = 1;
    return r;
}

/* What was written reads as the same log, with the same hash; and is written the same again. */
static void comes_back(void) {
    phi_arena arena;
    phi_thread again;
    phi_str text = phi_str_of(""), second = phi_str_of("");
    char was[400];
    phi_arena_init(&arena, &memory, 0);
    phi__thread_init(&again, &memory, NULL);
    (void)snprintf(was, sizeof was, "%s", now());
    CHECK_EQ_INT(phi_thread_to_json(log_of(), &arena, &text), PHI_OK);
    CHECK_EQ_INT(thread_from_json(&again, text, words, sizeof words), PHI_OK);
    CHECK_EQ_STR(shows(&again), was);
    CHECK_EQ_INT(again.messages.count, thread.messages.count);
    CHECK_EQ_INT(again.messages.last_user, thread.messages.last_user);
    CHECK(phi_thread_hash(&again) == phi_thread_hash(log_of()));
    CHECK_EQ_INT(phi_thread_to_json(&again, &arena, &second), PHI_OK);
    CHECK_STR(second, text.at);
    phi__journal_free_thread(&again);
    phi_arena_free(&arena);
}

/* ---- the switch ---- */

TEST(a_switch_is_an_entry_with_an_id) {
    phi_rewrite r = switch_of("go", "side");
    phi_entry e;
    conversation();
    CHECK_EQ_INT(phi_thread_fork_lane(log_of(), "side", NULL, 1), PHI_OK);
    CHECK_EQ_INT(apply(&r), PHI_OK);
    CHECK_EQ_STR(now(), "side: 0 1");
    CHECK_EQ_INT(messages_of_lane(), 2);
    CHECK_EQ_INT(phi_thread_count(log_of()), 6);
    REQUIRE(phi_thread_entry(log_of(), 5, &e) == PHI_OK);
    CHECK(e.kind == PHI_ENTRY_REWRITE);
    CHECK_STR(e.lane, "default");
    CHECK_EQ_STR(e.rewrite->switch_to, "side");
    CHECK_EQ_INT(e.rewrite->span_count, 0);
    say(PHI_ROLE_USER, "down?");
    CHECK_EQ_STR(now(), "side: 0 1 6");
    comes_back();
    done();
}

TEST(a_second_one_of_its_id_does_not_switch_again) {
    phi_rewrite r = switch_of("go", "side");
    bool duplicate = false;
    conversation();
    CHECK_EQ_INT(apply(&r), PHI_OK);
    CHECK_EQ_INT(phi_thread_switch(log_of(), PHI_LANE_DEFAULT), PHI_OK);
    CHECK_EQ_INT(phi_thread_rewrite(log_of(), &r, &duplicate, words, sizeof words), PHI_OK);
    CHECK(duplicate);
    CHECK_EQ_STR(now(), "default: 0 1 2 3");
    CHECK_EQ_INT(phi_thread_count(log_of()), 7);
    comes_back();
    done();
}

TEST(a_lane_that_is_not_there_begins_empty) {
    phi_rewrite r = switch_of("go", "new");
    phi_entry e;
    conversation();
    CHECK_EQ_INT(apply(&r), PHI_OK);
    CHECK_EQ_STR(now(), "new:");
    CHECK_EQ_INT(messages_of_lane(), 0);
    CHECK_EQ_INT(phi_thread_get_info(log_of()).lane_count, 2);
    REQUIRE(phi_thread_entry(log_of(), 4, &e) == PHI_OK);
    CHECK(e.kind == PHI_ENTRY_LANE);
    CHECK_STR(e.lane, "new");
    CHECK_STR(e.parent_lane, "");
    REQUIRE(phi_thread_entry(log_of(), 5, &e) == PHI_OK);
    CHECK(e.kind == PHI_ENTRY_REWRITE);
    CHECK_EQ_INT(e.rewrite->base_seq, 3); /* what was there when it was made */
    say(PHI_ROLE_USER, "hello");
    CHECK_EQ_STR(now(), "new: 6");
    comes_back();
    done();
}

/* The store lost its last line, and the host tries again what it was not told of. */
TEST(a_log_that_was_cut_behind_the_new_lane_can_still_be_switched) {
    phi_rewrite r = switch_of("go", "new");
    phi_str text = phi_str_of("");
    phi_arena arena;
    size_t cut;
    conversation();
    CHECK_EQ_INT(apply(&r), PHI_OK);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(phi_thread_to_json(log_of(), &arena, &text), PHI_OK);
    for (cut = text.len - 1; cut > 0 && text.at[cut - 1] != '\n';) cut--;
    phi__journal_free_thread(&thread);
    CHECK_EQ_INT(thread_from_json(log_of(), phi__str(text.at, cut), words, sizeof words), PHI_OK);
    CHECK_EQ_STR(now(), "default: 0 1 2 3");
    CHECK_EQ_INT(phi_thread_get_info(log_of()).lane_count, 2);
    CHECK_EQ_INT(apply(&r), PHI_OK);
    CHECK_EQ_STR(now(), "new:");
    CHECK_EQ_INT(phi_thread_count(log_of()), 6);
    comes_back();
    phi_arena_free(&arena);
    done();
}

TEST(an_empty_log_can_switch_too) {
    phi_allocator a = test_allocator();
    phi_rewrite r = switch_of(NULL, "new");
    phi_memory_init(&memory, &a, 0);
    phi__thread_init(&thread, &memory, NULL);
    CHECK_EQ_INT(apply(&r), PHI_OK);
    CHECK_EQ_STR(now(), "new:");
    r = switch_of("stay", "new"); /* it is there already: an entry all the same */
    CHECK_EQ_INT(apply(&r), PHI_OK);
    CHECK_EQ_STR(now(), "new:");
    CHECK_EQ_INT(phi_thread_count(log_of()), 3);
    say(PHI_ROLE_USER, "hello");
    CHECK_EQ_STR(now(), "new: 3");
    comes_back();
    done();
}

TEST(spans_are_replaced_on_the_lane_that_is_left) {
    phi_span s;
    phi_rewrite r;
    conversation();
    CHECK_EQ_INT(phi_thread_fork_lane(log_of(), "side", NULL, UINT64_MAX), PHI_OK);
    r = with_span(switch_of("tidy", "side"), &s, 0, 1);
    CHECK_EQ_INT(apply(&r), PHI_OK);
    CHECK_EQ_STR(now(), "side: 0 1 2 3");
    comes_back();
    r = switch_of("back", PHI_LANE_DEFAULT);
    CHECK_EQ_INT(apply(&r), PHI_OK);
    CHECK_EQ_STR(now(), "default: 2 3");
    comes_back();
    done();
}

TEST(spans_are_replaced_on_the_lane_that_is_entered) {
    phi_content c = PHI_ZERO;
    phi_message m = PHI_ZERO;
    phi_span s;
    phi_rewrite r;
    conversation();
    CHECK_EQ_INT(phi_thread_fork_lane(log_of(), "side", NULL, UINT64_MAX), PHI_OK);
    r = with_span(switch_of("in", "side"), &s, 0, 1);
    c.kind = PHI_CONTENT_TEXT;
    c.text = PHI__LIT("we went left");
    m.role = PHI_ROLE_USER;
    m.content = &c;
    m.content_count = 1;
    s.messages = &m;
    s.message_count = 1;
    r.lane = "side";
    CHECK_EQ_INT(apply(&r), PHI_OK);
    CHECK_EQ_STR(now(), "side: [0-1] 2 3");
    comes_back();
    CHECK_EQ_INT(phi_thread_switch(log_of(), PHI_LANE_DEFAULT), PHI_OK);
    CHECK_EQ_STR(now(), "default: 0 1 2 3");
    done();
}

TEST(what_is_revoked_leaves_the_active_lane_as_it_is) {
    phi_span s;
    phi_rewrite r, undo = PHI_ZERO;
    conversation();
    r = with_span(switch_of("tidy", "new"), &s, 0, 1);
    CHECK_EQ_INT(apply(&r), PHI_OK);
    undo.revoke = "tidy";
    CHECK_EQ_INT(apply(&undo), PHI_NOT_FOUND); /* of another lane */
    undo.lane = PHI_LANE_DEFAULT;
    CHECK_EQ_INT(apply(&undo), PHI_OK);
    CHECK_EQ_STR(now(), "new:");
    comes_back();
    CHECK_EQ_INT(phi_thread_switch(log_of(), PHI_LANE_DEFAULT), PHI_OK);
    CHECK_EQ_STR(now(), "default: 0 1 2 3");
    done();
}

TEST(a_switch_that_is_not_valid_changes_nothing) {
    phi_span s;
    phi_rewrite r = switch_of("x", "");
    conversation();
    CHECK_EQ_INT(apply(&r), PHI_BAD_ARG);
    CHECK_EQ_STR(words, "switch_to is empty");
    r = switch_of("x", "new");
    r.revoke = "y";
    CHECK_EQ_INT(apply(&r), PHI_BAD_ARG);
    CHECK_EQ_STR(words, "revoke comes without switch_to");
    r = with_span(switch_of("x", "new"), &s, 0, 9);
    CHECK_EQ_INT(apply(&r), PHI_BAD_ARG);
    CHECK_EQ_STR(words, "spans[0]: 0 to 9, expected up to base_seq 3");
    r = switch_of("x", "new");
    r.lane = "new"; /* it is what the spans are of, and must be there */
    CHECK_EQ_INT(apply(&r), PHI_NOT_FOUND);
    CHECK_EQ_STR(words, "no lane \"new\"");
    r = switch_of("x", "new");
    thread.user = &memory; /* a run */
    CHECK_EQ_INT(apply(&r), PHI_BUSY);
    thread.user = NULL;
    CHECK_EQ_STR(now(), "default: 0 1 2 3");
    CHECK_EQ_INT(phi_thread_count(log_of()), 4);
    CHECK_EQ_INT(phi_thread_get_info(log_of()).lane_count, 1);
    CHECK_EQ_INT(apply(&r), PHI_OK);
    done();
}

TEST(an_answer_is_as_well_measured_after_a_switch_as_before) {
    phi_rewrite r = switch_of("go", "side");
    phi_span s;
    conversation();
    CHECK_EQ_INT(apply(&r), PHI_OK);
    CHECK_EQ_INT(thread.ops.last_seq, 0);
    r = with_span(switch_of("tidy", PHI_LANE_DEFAULT), &s, 0, 1);
    r.lane = PHI_LANE_DEFAULT;
    CHECK_EQ_INT(apply(&r), PHI_OK);
    CHECK_EQ_INT(thread.ops.last_seq, 6);
    done();
}

TEST(a_switch_is_told_in_words) {
    phi_rewrite r = switch_of("go", "side");
    phi_span s;
    phi_arena arena;
    phi_str text = phi_str_of("");
    conversation();
    CHECK_EQ_INT(apply(&r), PHI_OK);
    r = with_span(switch_of("tidy", PHI_LANE_DEFAULT), &s, 0, 1);
    r.lane = PHI_LANE_DEFAULT;
    CHECK_EQ_INT(apply(&r), PHI_OK);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(phi_thread_describe(log_of(), NULL, &arena, &text, NULL), PHI_OK);
    CHECK(strstr(text.at, "5 rewrite \"go\" (manual) switches to lane \"side\"\n") != NULL);
    CHECK(strstr(text.at,
                 "6 rewrite \"tidy\" (manual) replaces 0-1 by nothing, and switches to lane "
                 "\"default\"\n") != NULL);
    phi_arena_free(&arena);
    done();
}

/* ---- without memory ---- */

static phi_status step(int which) {
    phi_span s;
    phi_rewrite r = switch_of("op", which % 2 == 0 ? "side" : "new");
    if (which >= 2) r = with_span(r, &s, 0, 1);
    if (which == 4) r.lane = "side";
    if (which >= 3) r.reason = PHI_REWRITE_COMPACTION;
    return apply(&r);
}

TEST(a_switch_that_finds_no_memory_changes_nothing) {
    int which, n;
    for (which = 0; which <= 5; which++)
        for (n = 0; n < 100; n++) {
            phi_status status;
            bool tripped;
            conversation();
            CHECK_EQ_INT(phi_thread_fork_lane(log_of(), "side", NULL, UINT64_MAX), PHI_OK);
            test_alloc_fail_at(n);
            status = step(which);
            tripped = test_alloc_tripped();
            test_alloc_fail_at(-1);
            if (tripped) {
                CHECK_EQ_INT(status, PHI_NO_MEMORY);
                CHECK_EQ_STR(now(), "default: 0 1 2 3");
                CHECK_EQ_INT(messages_of_lane(), 4);
                CHECK_EQ_INT(phi_thread_count(log_of()), 5);
                CHECK_EQ_INT(phi_thread_get_info(log_of()).lane_count, 2);
                comes_back();
                CHECK_EQ_INT(step(which), PHI_OK); /* and there is nothing in its way now */
            }
            CHECK_STR(phi_thread_get_info(log_of()).lane, which % 2 == 0 ? "side" : "new");
            comes_back();
            done();
            if (!tripped) {
                CHECK(n > 1);
                break;
            }
        }
}

/* ---- slices ---- */

TEST_MAIN(TEST_ENTRY(a_switch_is_an_entry_with_an_id),
          TEST_ENTRY(a_second_one_of_its_id_does_not_switch_again),
          TEST_ENTRY(a_lane_that_is_not_there_begins_empty),
          TEST_ENTRY(a_log_that_was_cut_behind_the_new_lane_can_still_be_switched),
          TEST_ENTRY(an_empty_log_can_switch_too),
          TEST_ENTRY(spans_are_replaced_on_the_lane_that_is_left),
          TEST_ENTRY(spans_are_replaced_on_the_lane_that_is_entered),
          TEST_ENTRY(what_is_revoked_leaves_the_active_lane_as_it_is),
          TEST_ENTRY(a_switch_that_is_not_valid_changes_nothing),
          TEST_ENTRY(an_answer_is_as_well_measured_after_a_switch_as_before),
          TEST_ENTRY(a_switch_is_told_in_words),
          TEST_ENTRY(a_switch_that_finds_no_memory_changes_nothing))
