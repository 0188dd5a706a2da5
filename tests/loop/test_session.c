/* Session ids and the counts of their runs. */
#include "support/test.h"

#include "loop/inner_in.h"

#define UUID_A "123e4567-e89b-42d3-a456-426614174000"
#define UUID_B "123e4567-e89b-42d3-a456-426614174001"

static phi_memory memory;
static phi__sessions sessions;

static void setup(void) {
    phi_allocator a = test_allocator();
    phi_memory_init(&memory, &a, 0);
    phi__session_init(&sessions, &memory);
}

static phi__session *take(const char *id) { return phi__session_take(&sessions, phi_str_of(id)); }
static void drop(phi__session *session) { phi__session_drop(&sessions, session); }
static uint32_t next(phi__session *session, const char *segment) {
    return phi__session_next(&sessions, session, phi_str_of(segment));
}

TEST(those_who_take_one_id_share_one_session) {
    phi__session *a, *b, *c;
    char id[] = "game";
    setup();
    a = take(id);
    REQUIRE(a != NULL);
    id[0] = 'f'; /* it was copied */
    b = take("game");
    c = take("fame");
    CHECK(a == b);
    CHECK(a != c);
    CHECK_STR(a->id, "game");
    CHECK_EQ_STR(a->id.at, "game");
    CHECK_EQ_INT(a->refs, 2);
    CHECK_EQ_INT(sessions.map.count, 2);
    drop(b);
    drop(c);
    drop(a);
    drop(NULL);
    CHECK_EQ_INT(sessions.map.count, 0);
    phi__session_free_all(&sessions);
}

TEST(runs_are_counted_for_each_segment_from_one) {
    phi__session *a, *b;
    setup();
    a = take("one");
    b = take("two");
    REQUIRE(a != NULL && b != NULL);
    CHECK_EQ_INT(next(a, "anthropic.claude"), 1);
    CHECK_EQ_INT(next(a, "anthropic.claude"), 2);
    CHECK_EQ_INT(next(a, "anthropic.claude.high"), 1);
    CHECK_EQ_INT(next(a, ""), 1);
    CHECK_EQ_INT(next(b, "anthropic.claude"), 1);
    CHECK_EQ_INT(next(a, "anthropic.claude"), 3);
    CHECK_EQ_INT(next(a, ""), 2);
    drop(a);
    drop(b);
    phi__session_free_all(&sessions);
}

TEST(the_counts_go_with_the_last_user) {
    phi__session *a, *b;
    setup();
    a = take("s");
    b = take("s");
    REQUIRE(a != NULL && b != NULL);
    CHECK_EQ_INT(next(a, "x"), 1);
    drop(a);
    CHECK_EQ_INT(next(b, "x"), 2);
    drop(b);
    a = take("s");
    REQUIRE(a != NULL);
    CHECK_EQ_INT(next(a, "x"), 1);
    drop(a);
    phi__session_free_all(&sessions);
}

TEST(a_number_that_was_given_back_is_given_again) {
    phi__session *a;
    setup();
    a = take("s");
    REQUIRE(a != NULL);
    phi__session_undo(a, phi_str_of("x"));
    CHECK_EQ_INT(next(a, "x"), 1);
    CHECK_EQ_INT(next(a, "x"), 2);
    phi__session_undo(a, phi_str_of("x"));
    CHECK_EQ_INT(next(a, "x"), 2);
    phi__session_undo(a, phi_str_of("x"));
    phi__session_undo(a, phi_str_of("x"));
    phi__session_undo(a, phi_str_of("x"));
    phi__session_undo(a, phi_str_of("y"));
    CHECK_EQ_INT(next(a, "x"), 1);
    drop(a);
    phi__session_free_all(&sessions);
}

TEST(no_number_is_given_twice_after_the_last) {
    phi__session *a;
    setup();
    a = take("s");
    REQUIRE(a != NULL);
    CHECK_EQ_INT(next(a, "x"), 1);
    a->counts->runs = UINT32_MAX - 1;
    CHECK(next(a, "x") == UINT32_MAX);
    CHECK_EQ_INT(next(a, "x"), 0);
    CHECK_EQ_INT(next(a, "x"), 0);
    drop(a);
    phi__session_free_all(&sessions);
}

TEST(a_count_that_nobody_can_have_reached_does_not_use_up_the_numbers) {
    static const char *const ids[] = {"one.x.4294967295", "one.x.2147483649",
                                      "one.x.18446744073709551615"};
    phi__session *a;
    size_t i;
    setup();
    a = take("one");
    REQUIRE(a != NULL);
    CHECK_EQ_INT(next(a, "x"), 1);
    for (i = 0; i < 3; i++) CHECK(phi__session_saw(&sessions, a, phi_str_of(ids[i])));
    CHECK(phi__session_go_on(&sessions, a, phi_str_of("x"), UINT64_MAX));
    CHECK_EQ_INT(next(a, "x"), 2);
    CHECK(phi__session_saw(&sessions, a, phi_str_of("one.x.2147483648")));
    CHECK(next(a, "x") == 2147483649u);
    drop(a);
    phi__session_free_all(&sessions);
}

TEST(one_that_nobody_else_uses_is_renamed_without_memory) {
    phi__session *a, *was;
    setup();
    a = was = take("s");
    REQUIRE(a != NULL);
    CHECK_EQ_INT(next(a, "x"), 1);
    CHECK_EQ_INT(next(a, "y"), 1);
    test_alloc_fail_from(0);
    CHECK(phi__session_renew(&sessions, &a, phi_str_of(UUID_A)));
    CHECK(phi__session_renew(&sessions, &a, phi_str_of(UUID_B)));
    CHECK(!test_alloc_tripped());
    test_alloc_fail_from(-1);
    CHECK(a == was);
    CHECK_EQ_STR(a->id.at, UUID_B);
    CHECK_EQ_INT(next(a, "x"), 1);
    CHECK(take(UUID_B) == a);
    drop(a);
    was = take("s");
    CHECK(was != NULL && was != a);
    drop(was);
    drop(a);
    phi__session_free_all(&sessions);
}

TEST(one_that_others_use_stays_theirs_when_it_is_renewed) {
    phi__session *a, *b;
    setup();
    a = b = take("s");
    REQUIRE(take("s") == a);
    CHECK_EQ_INT(next(a, "x"), 1);
    CHECK(phi__session_renew(&sessions, &b, phi_str_of(UUID_A)));
    CHECK(a != b);
    CHECK_EQ_INT(a->refs, 1);
    CHECK_EQ_INT(b->refs, 1);
    CHECK_STR(a->id, "s");
    CHECK_STR(b->id, UUID_A);
    CHECK_EQ_INT(next(a, "x"), 2);
    CHECK_EQ_INT(next(b, "x"), 1);
    drop(a);
    drop(b);
    phi__session_free_all(&sessions);
}

TEST(renewing_to_an_id_in_use_joins_it_and_a_long_one_gets_room) {
    phi__session *a, *b;
    char longer[200];
    setup();
    a = take("a");
    b = take("b");
    REQUIRE(a != NULL && b != NULL);
    CHECK(phi__session_renew(&sessions, &a, phi_str_of("b")));
    CHECK(a == b);
    CHECK_EQ_INT(sessions.map.count, 1);
    drop(a);
    memset(longer, 'l', sizeof longer);
    CHECK(phi__session_renew(&sessions, &b, phi__str(longer, sizeof longer)));
    CHECK_EQ_INT(b->id.len, 200);
    CHECK_EQ_INT(sessions.map.count, 1);
    CHECK_EQ_INT(next(b, "x"), 1);
    CHECK(phi__session_renew(&sessions, &b, b->id)); /* its own again: counted anew */
    CHECK_EQ_INT(next(b, "x"), 1);
    drop(b);
    phi__session_free_all(&sessions);
}

TEST(ten_thousand_sessions_are_found_and_go) {
    enum { COUNT = 10000 };
    static phi__session *all[COUNT];
    char id[32];
    int i;
    setup();
    for (i = 0; i < COUNT; i++) {
        (void)snprintf(id, sizeof id, "session-%d", i);
        all[i] = take(id);
        REQUIRE(all[i] != NULL);
    }
    CHECK_EQ_INT(sessions.map.count, COUNT);
    CHECK_EQ_INT(sessions.map.cap, 16384);
    for (i = 0; i < COUNT; i++) {
        (void)snprintf(id, sizeof id, "session-%d", i);
        REQUIRE(take(id) == all[i]);
        CHECK_EQ_INT(next(all[i], "x"), 1);
        drop(all[i]);
    }
    for (i = 0; i < COUNT; i += 2) drop(all[i]);
    for (i = 1; i < COUNT; i += 2) CHECK_EQ_INT(next(all[i], "x"), 2);
    for (i = 1; i < COUNT; i += 2) drop(all[i]);
    CHECK_EQ_INT(sessions.map.count, 0);
    phi__session_free_all(&sessions);
    phi__session_free_all(&sessions);
}

/* Takes until the table has to grow, counts, renews one that is shared. */
static bool everything(phi__session **all, int count) {
    char id[32];
    int i;
    for (i = 0; i < count; i++) {
        (void)snprintf(id, sizeof id, "session-%d", i);
        if ((all[i] = take(id)) == NULL) return false;
        if (next(all[i], "x") == 0) return false;
    }
    if ((all[count] = take("session-0")) == NULL) return false;
    return phi__session_renew(&sessions, &all[count], phi_str_of(UUID_A));
}

TEST(every_failed_allocation_leaves_what_there_was) {
    enum { COUNT = 20 };
    phi__session *all[COUNT + 1];
    bool done = false;
    int n, i;
    for (n = 0; !done; n++) {
        size_t used;
        setup();
        memset(all, 0, sizeof all);
        test_alloc_fail_at(n);
        done = everything(all, COUNT);
        CHECK(done != test_alloc_tripped());
        test_alloc_fail_at(-1);
        used = sessions.map.count;
        for (i = 0; i < COUNT; i++)
            if (all[i] != NULL) CHECK(take(all[i]->id.at) == all[i]);
        CHECK_EQ_INT(sessions.map.count, used);
        for (i = 0; i < COUNT; i++) drop(all[i]);
        for (i = 0; i <= COUNT; i++) drop(all[i]);
        CHECK_EQ_INT(sessions.map.count, 0);
        phi__session_free_all(&sessions);
        CHECK_EQ_INT(memory.used_bytes, 0);
    }
    CHECK(n > 40);
}

TEST(a_count_that_found_no_memory_changed_nothing) {
    phi__session *a;
    setup();
    a = take("s");
    REQUIRE(a != NULL);
    test_alloc_fail_at(0);
    CHECK_EQ_INT(next(a, "x"), 0);
    CHECK(a->counts == NULL);
    CHECK_EQ_INT(next(a, "x"), 1);
    test_alloc_fail_at(0);
    CHECK_EQ_INT(next(a, "x"), 2); /* needs none */
    test_alloc_fail_at(-1);
    CHECK_EQ_INT(phi__session_next(&sessions, a, phi__str("", SIZE_MAX)), 0);
    drop(a);
    phi__session_free_all(&sessions);
}

TEST_MAIN(TEST_ENTRY(those_who_take_one_id_share_one_session),
          TEST_ENTRY(runs_are_counted_for_each_segment_from_one),
          TEST_ENTRY(the_counts_go_with_the_last_user),
          TEST_ENTRY(a_number_that_was_given_back_is_given_again),
          TEST_ENTRY(no_number_is_given_twice_after_the_last),
          TEST_ENTRY(a_count_that_nobody_can_have_reached_does_not_use_up_the_numbers),
          TEST_ENTRY(one_that_nobody_else_uses_is_renamed_without_memory),
          TEST_ENTRY(one_that_others_use_stays_theirs_when_it_is_renewed),
          TEST_ENTRY(renewing_to_an_id_in_use_joins_it_and_a_long_one_gets_room),
          TEST_ENTRY(ten_thousand_sessions_are_found_and_go),
          TEST_ENTRY(every_failed_allocation_leaves_what_there_was),
          TEST_ENTRY(a_count_that_found_no_memory_changed_nothing))
