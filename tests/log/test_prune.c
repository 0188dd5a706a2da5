/* What a prune takes: the oldest groups, whole, and nobody else's words. */
#include "support/test.h"

#include "log/prune.h"
#include "persist/persist_in.h"
#include "model/event_parts.h"
#include "support/append.h"
#include "log/log_in.h"

static phi_memory memory;
static phi_thread log_;
static phi_arena arena;
static const phi_thread *thread = &log_;

static void setup(void) {
    phi_allocator a = test_allocator();
    phi_memory_init(&memory, &a, 0);
    phi__thread_init(&log_, &memory, NULL);
    phi_arena_init(&arena, &memory, 0);
}

static void teardown(void) {
    phi_arena_free(&arena);
    phi__journal_free_thread(&log_);
}

/* ---- making messages: bytes of text each, and the number of the entry as its time ---- */

static uint64_t append_as(phi_message *m, uint32_t flags) {
    m->timestamp_ms = 1000 + (int64_t)log_.log.count;
    (void)append_with(&log_, m, 1, flags);
    return log_.log.count - 1;
}

static uint64_t say(phi_role role, size_t bytes, uint32_t flags) {
    static char filler[4096];
    phi_content c = PHI_ZERO;
    phi_message m = PHI_ZERO;
    memset(filler, 'x', sizeof filler);
    c.kind = PHI_CONTENT_TEXT;
    c.text = phi__str(filler, bytes);
    m.role = role;
    m.content = &c;
    m.content_count = 1;
    if (role == PHI_ROLE_ASSISTANT) m.stop_reason = PHI_STOP_REASON_STOP;
    return append_as(&m, flags);
}

static uint64_t user(size_t bytes) { return say(PHI_ROLE_USER, bytes, 0); }
static uint64_t answer(size_t bytes) { return say(PHI_ROLE_ASSISTANT, bytes, 0); }

static const char *id_of(unsigned number) {
    static char id[16];
    (void)snprintf(id, sizeof id, "id_%u", number);
    return id;
}

/* An answer with n calls, numbered from `from`: 4 + n * (1 + 1 + 8) tokens. */
static uint64_t calls(unsigned from, unsigned n) {
    phi_content blocks[8];
    char ids[8][16];
    phi_message m = PHI_ZERO;
    unsigned i;
    memset(blocks, 0, sizeof blocks);
    for (i = 0; i < n; i++) {
        (void)snprintf(ids[i], sizeof ids[i], "%s", id_of(from + i));
        blocks[i].kind = PHI_CONTENT_TOOL_CALL;
        blocks[i].id = phi_str_of(ids[i]);
        blocks[i].name = phi_str_of("ls");
        blocks[i].arguments = phi_str_of("{}");
    }
    m.role = PHI_ROLE_ASSISTANT;
    m.content = blocks;
    m.content_count = n;
    m.stop_reason = PHI_STOP_REASON_TOOL_USE;
    return append_as(&m, 0);
}

/* A result: 9 tokens and a fourth of its bytes. */
static uint64_t result_as(unsigned number, size_t bytes, uint32_t flags) {
    static char filler[4096];
    phi_content c = PHI_ZERO;
    phi_message m = PHI_ZERO;
    memset(filler, 'y', sizeof filler);
    c.kind = PHI_CONTENT_TEXT;
    c.text = phi__str(filler, bytes);
    m.role = PHI_ROLE_TOOL_RESULT;
    m.tool_call_id = phi_str_of(id_of(number));
    m.tool_name = phi_str_of("ls");
    m.content = &c;
    m.content_count = 1;
    return append_as(&m, flags);
}

static uint64_t result(unsigned number, size_t bytes) { return result_as(number, bytes, 0); }

static uint64_t extension(void) {
    phi_message m = PHI_ZERO;
    m.role = PHI_ROLE_EXTENSION;
    m.extension_kind = phi_str_of("note");
    m.extension_data = phi_str_of("{}");
    return append_as(&m, 0);
}

/* ---- planning, applying, looking ---- */

static phi_rewrite rewrite;
static phi_pruned pruned;

static phi_status plan(const phi_prune *prune) {
    const phi_view_item *items;
    size_t count;
    phi_status status = phi_thread_view(thread, NULL, UINT64_MAX, &arena, &items, &count);
    return status == PHI_OK ? phi__prune_plan(items, count, prune, NULL, &arena, &rewrite, &pruned)
                            : status;
}

static bool prune_by(const phi_prune *prune) {
    char words[200] = "";
    if (!CHECK_EQ_INT(plan(prune), PHI_OK)) return false;
    if (rewrite.span_count == 0) return true;
    return CHECK_EQ_INT(phi_thread_rewrite(&log_, &rewrite, NULL, words, 200), PHI_OK) ||
           CHECK_EQ_STR(words, "");
}

static bool prune_to(uint64_t tokens, const char *memo, uint64_t end) {
    phi_prune prune = PHI_ZERO;
    prune.tokens = tokens;
    prune.memo = phi_str_of(memo);
    prune.from_seq = phi__prune_from(thread);
    prune.end_seq = end;
    return prune_by(&prune);
}

/* The entries in view; what a rewrite has made is said by its words. */
static const char *shape(void) {
    static char out[2000];
    size_t i, n = 0;
    out[0] = '\0';
    for (i = 0; i < log_.fold.count && n + 200 < sizeof out; i++) {
        const phi__item *item = &log_.fold.items[i];
        if (i > 0) out[n++] = ' ';
        if ((item->flags & PHI_ITEM_SYNTHETIC) != 0)
            n += (size_t)snprintf(out + n, sizeof out - n, "%.*s",
                                  (int)item->message->content[0].text.len,
                                  item->message->content[0].text.at);
        else
            n += (size_t)snprintf(out + n, sizeof out - n, "%u", (unsigned)item->from);
    }
    return out;
}

/* ---- what goes ---- */

/* 0 user, 1 calls, 2 result, 3 calls, 4 5 results, 6 answer, 7 user, 8 calls, 9 result */
static void conversation(void) {
    setup();
    (void)user(40);
    (void)calls(1, 1);
    (void)result(1, 400);
    (void)calls(2, 2);
    (void)result(2, 400);
    (void)result(3, 400);
    (void)answer(40);
    (void)user(40);
    (void)calls(4, 1);
    (void)result(4, 400);
}

TEST(the_oldest_group_goes_first_and_as_a_whole) {
    conversation();
    CHECK(prune_to(1, NULL, 0));
    CHECK_EQ_STR(shape(), "0 3 4 5 6 7 8 9");
    CHECK_EQ_INT(pruned.messages_removed, 2);
    CHECK_EQ_INT(pruned.tokens_removed, 14 + 109);
    CHECK_EQ_INT(rewrite.span_count, 1);
    CHECK_EQ_INT(rewrite.spans[0].from, 1);
    CHECK_EQ_INT(rewrite.spans[0].to, 2);
    CHECK_EQ_INT(rewrite.reason, PHI_REWRITE_PRUNE);
    CHECK_EQ_STR(rewrite.meta, "{\"tokens_removed\":123,\"messages_removed\":2,\"memo\":null,"
                               "\"pruned_timestamps\":[1001,1002]}");
    teardown();
}

TEST(groups_go_until_it_is_enough) {
    conversation();
    CHECK(prune_to(123, NULL, 0));
    CHECK_EQ_INT(pruned.messages_removed, 2);
    CHECK(prune_to(124, NULL, 0)); /* the next one has 24 + 2 * 109 */
    CHECK_EQ_STR(shape(), "0 6 7 8 9");
    CHECK_EQ_INT(pruned.tokens_removed, 242);
    teardown();
}

TEST(what_a_user_said_stays_however_much_is_asked_for) {
    conversation();
    CHECK(prune_to(1000000, NULL, 0));
    CHECK_EQ_STR(shape(), "0 7");
    CHECK_EQ_INT(pruned.messages_removed, 8);
    CHECK_EQ_INT(rewrite.span_count, 2);
    CHECK(prune_to(1000000, NULL, 0));
    CHECK_EQ_INT(rewrite.span_count, 0);
    CHECK_EQ_INT(pruned.messages_removed, 0);
    CHECK_EQ_STR(shape(), "0 7");
    teardown();
}

TEST(the_turn_that_goes_on_stays) {
    conversation();
    CHECK(prune_to(1000000, NULL, 8));
    CHECK_EQ_STR(shape(), "0 7 8 9");
    CHECK_EQ_INT(log_.log.count, 11);
    teardown();
}

TEST(a_group_that_reaches_into_the_open_turn_stays) {
    conversation();
    CHECK(prune_to(1000000, NULL, 5)); /* 5 is a result of the call in 3 */
    CHECK_EQ_STR(shape(), "0 3 4 5 6 7 8 9");
    teardown();
}

TEST(a_memo_stands_where_the_first_one_stood_and_in_its_time) {
    conversation();
    CHECK(prune_to(1000000, "two wells, one dry", 0));
    CHECK_EQ_STR(shape(), "0 [Pruned context summary: two wells, one dry] 7");
    CHECK_EQ_INT(log_.fold.items[1].message->role, PHI_ROLE_USER);
    CHECK_EQ_INT(log_.fold.items[1].message->timestamp_ms, 1001);
    CHECK_EQ_INT(log_.fold.items[1].from, 1);
    CHECK_STR(pruned.memo, "two wells, one dry");
    CHECK_EQ_STR(rewrite.meta,
                 "{\"tokens_removed\":502,\"messages_removed\":8,\"memo\":\"two wells, one dry\","
                 "\"pruned_timestamps\":[1001,1002,1003,1004,1005,1006,1008,1009]}");
    teardown();
}

TEST(a_memo_is_of_the_run_and_turn_of_the_first_one) {
    static char filler[400];
    phi_content c = PHI_ZERO;
    phi_message m = PHI_ZERO;
    setup();
    (void)user(20);
    memset(filler, 'z', sizeof filler);
    c.kind = PHI_CONTENT_TEXT;
    c.text = phi__str(filler, sizeof filler);
    m.role = PHI_ROLE_ASSISTANT;
    m.stop_reason = PHI_STOP_REASON_STOP;
    m.content = &c;
    m.content_count = 1;
    m.loop_id = phi_str_of("a.b.3");
    m.turn_index = 7;
    (void)append_as(&m, 0);
    (void)user(20);
    CHECK(prune_to(50, "two wells", 0));
    CHECK_EQ_STR(shape(), "0 [Pruned context summary: two wells] 2");
    CHECK_STR(log_.fold.items[1].message->loop_id, "a.b.3");
    CHECK_EQ_INT(log_.fold.items[1].message->turn_index, 7);
    teardown();
}

TEST(a_memo_is_not_pruned_again) {
    conversation();
    CHECK(prune_to(1, "first", 0));
    CHECK(prune_to(1000000, "second", 0));
    CHECK_EQ_STR(shape(), "0 [Pruned context summary: first] [Pruned context summary: second] 7");
    teardown();
}

TEST(a_memo_larger_than_what_goes_prunes_nothing) {
    char memo[800];
    memset(memo, 'm', sizeof memo);
    memo[sizeof memo - 1] = '\0';
    conversation();
    CHECK(prune_to(1, memo, 0));
    CHECK_EQ_INT(rewrite.span_count, 0);
    CHECK_EQ_INT(pruned.messages_removed, 0);
    CHECK_EQ_INT(pruned.tokens_removed, 0);
    CHECK_EQ_INT(pruned.memo.len, 0);
    CHECK_EQ_STR(shape(), "0 1 2 3 4 5 6 7 8 9");
    teardown();
}

TEST(what_a_compaction_left_standing_stays) {
    phi_rewrite compaction = PHI_ZERO;
    phi_span span = PHI_ZERO;
    conversation();
    CHECK_EQ_INT(phi__prune_from(thread), 0);
    span.from = 1;
    span.to = 2;
    compaction.op_id = "c";
    compaction.reason = PHI_REWRITE_COMPACTION;
    compaction.spans = &span;
    compaction.span_count = 1;
    CHECK_EQ_INT(phi_thread_rewrite(&log_, &compaction, NULL, NULL, 0), PHI_OK);
    CHECK_EQ_INT(phi__prune_from(thread), 11);
    (void)answer(40); /* 11 */
    CHECK(prune_to(1000000, NULL, 0));
    CHECK_EQ_STR(shape(), "0 3 4 5 6 7 8 9");
    CHECK_EQ_INT(pruned.messages_removed, 1);
    teardown();
}

TEST(a_compaction_that_was_undone_protects_nothing) {
    phi_rewrite compaction = PHI_ZERO, undo = PHI_ZERO;
    phi_span span = PHI_ZERO;
    conversation();
    span.from = 1;
    span.to = 2;
    compaction.op_id = "c";
    compaction.reason = PHI_REWRITE_COMPACTION;
    compaction.spans = &span;
    compaction.span_count = 1;
    undo.revoke = "c";
    undo.reason = PHI_REWRITE_COMPACTION;
    CHECK_EQ_INT(phi_thread_rewrite(&log_, &compaction, NULL, NULL, 0), PHI_OK);
    CHECK_EQ_INT(phi_thread_rewrite(&log_, &undo, NULL, NULL, 0), PHI_OK);
    CHECK_EQ_INT(phi__prune_from(thread), 0);
    CHECK(prune_to(1000000, NULL, 0));
    CHECK_EQ_STR(shape(), "0 7");
    teardown();
}

TEST(a_fork_goes_by_the_compactions_it_was_made_behind) {
    phi_rewrite compaction = PHI_ZERO;
    phi_span span = PHI_ZERO;
    conversation();
    CHECK_EQ_INT(phi_thread_fork_lane(&log_, "before", NULL, UINT64_MAX), PHI_OK);
    span.from = 1;
    span.to = 2;
    compaction.reason = PHI_REWRITE_COMPACTION;
    compaction.spans = &span;
    compaction.span_count = 1;
    CHECK_EQ_INT(phi_thread_rewrite(&log_, &compaction, NULL, NULL, 0), PHI_OK);
    CHECK_EQ_INT(phi_thread_fork_lane(&log_, "behind", NULL, UINT64_MAX), PHI_OK);
    CHECK_EQ_INT(phi__prune_from(thread), 12);
    CHECK_EQ_INT(phi_thread_switch(&log_, "before"), PHI_OK);
    CHECK_EQ_INT(phi__prune_from(thread), 0);
    CHECK_EQ_INT(phi_thread_switch(&log_, "behind"), PHI_OK);
    CHECK_EQ_INT(phi__prune_from(thread), 12);
    CHECK_EQ_INT(phi_thread_switch(&log_, NULL), PHI_OK);
    CHECK_EQ_INT(phi__prune_from(thread), 0);
    teardown();
}

TEST(durable_results_stay_with_their_calls) {
    setup();
    (void)user(4);
    (void)calls(1, 2);
    (void)result_as(1, 4, PHI_ENTRY_DURABLE);
    (void)result(2, 4);
    (void)answer(4);
    CHECK(prune_to(1000000, NULL, 0));
    CHECK_EQ_STR(shape(), "0 1 2 3");
    teardown();
}

TEST(extensions_stay_between_the_spans) {
    setup();
    (void)user(4);
    (void)answer(40);
    (void)extension();
    (void)answer(40);
    CHECK(prune_to(1000000, NULL, 0));
    CHECK_EQ_STR(shape(), "0 2");
    CHECK_EQ_INT(rewrite.span_count, 2);
    teardown();
}

TEST(results_far_from_their_call_go_with_it) {
    setup();
    (void)user(4);
    (void)calls(1, 2);
    (void)result(1, 40);
    (void)user(4);
    (void)result(2, 40);
    CHECK(prune_to(1, NULL, 0));
    CHECK_EQ_STR(shape(), "0 3");
    CHECK_EQ_INT(pruned.messages_removed, 3);
    teardown();
}

TEST(an_empty_view_has_nothing_to_prune) {
    setup();
    CHECK(prune_to(10, "memo", 0));
    CHECK_EQ_INT(rewrite.span_count, 0);
    (void)user(40);
    CHECK(prune_to(10, "memo", 0));
    CHECK_EQ_INT(rewrite.span_count, 0);
    teardown();
}

TEST(a_prune_can_be_undone) {
    phi_rewrite undo = PHI_ZERO;
    conversation();
    CHECK(prune_to(1000000, "memo", 0));
    undo.revoke = "op-10";
    CHECK_EQ_INT(phi_thread_rewrite(&log_, &undo, NULL, NULL, 0), PHI_OK);
    CHECK_EQ_STR(shape(), "0 1 2 3 4 5 6 7 8 9");
    teardown();
}

TEST(misuse_of_the_plan_is_a_status) {
    phi_prune prune = PHI_ZERO;
    phi_view_item item = PHI_ZERO;
    setup();
    CHECK_EQ_INT(phi__prune_plan(&item, 0, &prune, NULL, &arena, &rewrite, NULL), PHI_BAD_ARG);
    prune.tokens = 1;
    CHECK_EQ_INT(phi__prune_plan(&item, 0, &prune, NULL, &arena, &rewrite, NULL), PHI_OK);
    CHECK_EQ_INT(phi__prune_plan(NULL, 1, &prune, NULL, &arena, &rewrite, NULL), PHI_BAD_ARG);
    CHECK_EQ_INT(phi__prune_plan(&item, 0, NULL, NULL, &arena, &rewrite, NULL), PHI_BAD_ARG);
    CHECK_EQ_INT(phi__prune_plan(&item, 0, &prune, NULL, NULL, &rewrite, NULL), PHI_BAD_ARG);
    CHECK_EQ_INT(phi__prune_plan(&item, 0, &prune, NULL, &arena, NULL, NULL), PHI_BAD_ARG);
    CHECK_EQ_INT(phi__prune_from(NULL), 0);
    teardown();
}

/* ---- properties ---- */

static uint32_t seed;
static unsigned made;

static void random_group(void) {
    unsigned n = test_random(&seed) % 4, i, first = made + 1;
    size_t bytes = test_random(&seed) % 600;
    if (n == 0) {
        (void)answer(bytes);
        return;
    }
    (void)calls(first, n);
    made += n;
    for (i = 0; i < n; i++)
        (void)result_as(first + i, bytes, test_random(&seed) % 20 == 0 ? PHI_ENTRY_DURABLE : 0);
}

static void random_entry(void) {
    switch (test_random(&seed) % 5) {
    case 0: (void)user(test_random(&seed) % 300); break;
    case 1: (void)extension(); break;
    default: random_group(); break;
    }
}

static size_t users_in_view(void) {
    size_t i, n = 0;
    for (i = 0; i < log_.fold.count; i++)
        n += (log_.fold.items[i].flags & PHI_ITEM_SYNTHETIC) == 0 &&
             log_.fold.items[i].message->role == PHI_ROLE_USER;
    return n;
}

static size_t users_in_log(void) {
    size_t i, n = 0;
    for (i = 0; i < log_.messages.count; i++)
        n += log_.messages.at[i]->message->role == PHI_ROLE_USER;
    return n;
}

static bool ascending(void) {
    size_t i;
    for (i = 1; i < log_.fold.count; i++)
        if (log_.fold.items[i - 1].to >= log_.fold.items[i].from) return false;
    return true;
}

/* Each call in view has its result behind it, and each result its call in front. */
static bool pairs_hold(void) {
    size_t i, j, k;
    for (i = 0; i < log_.fold.count; i++) {
        const phi_message *m = log_.fold.items[i].message;
        size_t found = 0;
        for (k = 0; m->role == PHI_ROLE_ASSISTANT && k < m->content_count; k++) {
            if (m->content[k].kind != PHI_CONTENT_TOOL_CALL) continue;
            for (found = 0, j = i + 1; j < log_.fold.count; j++)
                found += phi_str_equal(log_.fold.items[j].message->tool_call_id, m->content[k].id);
            if (found != 1) return false;
        }
        if (m->role != PHI_ROLE_TOOL_RESULT) continue;
        for (found = 0, j = 0; j < i; j++) {
            const phi_message *a = log_.fold.items[j].message;
            for (k = 0; k < a->content_count; k++)
                found += a->content[k].kind == PHI_CONTENT_TOOL_CALL &&
                         phi_str_equal(a->content[k].id, m->tool_call_id);
        }
        if (found != 1) return false;
    }
    return true;
}

static bool random_history_holds(void) {
    unsigned rounds = 12, i;
    for (made = 0; rounds > 0; rounds--) {
        uint64_t tokens, end;
        phi_prune prune = PHI_ZERO;
        for (i = test_random(&seed) % 6; i > 0; i--) random_entry();
        if (log_.log.count == 0) continue;
        tokens = log_.fold.tokens;
        end = test_random(&seed) % (log_.log.count + 1);
        prune.tokens = 1 + test_random(&seed) % 800;
        prune.memo = phi_str_of(test_random(&seed) % 2 == 0 ? NULL : "what there was to know");
        prune.end_seq = end;
        if (!prune_by(&prune)) return false;
        if (!ascending() || log_.fold.tokens > tokens || users_in_view() != users_in_log() ||
            !pairs_hold())
            return false;
        if (rewrite.span_count > 0 && end > 0 && rewrite.spans[rewrite.span_count - 1].to >= end)
            return false;
        if (rewrite.span_count > 0 && prune.memo.len == 0 &&
            log_.fold.tokens + pruned.tokens_removed != tokens)
            return false;
    }
    return true;
}

TEST(no_prune_takes_a_users_word_or_parts_a_call_from_its_result_or_makes_a_view_larger) {
    uint32_t number;
    for (number = 1; number <= 200; number++) {
        bool held;
        seed = number;
        setup();
        held = random_history_holds();
        teardown();
        if (!CHECK(held)) {
            printf("seed %u\n", (unsigned)number);
            return;
        }
    }
}

TEST(a_plan_survives_every_failed_allocation) {
    phi_status status = PHI_NO_MEMORY;
    phi_prune prune = PHI_ZERO;
    int n;
    prune.tokens = 1000;
    prune.memo = phi_str_of("memo");
    for (n = 0; status != PHI_OK; n++) {
        conversation();
        test_alloc_fail_at(n);
        status = plan(&prune);
        CHECK(status == PHI_OK || status == PHI_NO_MEMORY);
        CHECK_EQ_INT(status == PHI_OK, !test_alloc_tripped());
        test_alloc_fail_at(-1);
        teardown();
        CHECK_EQ_INT(test_alloc_live_bytes(), 0);
    }
    CHECK(n > 1);
}

/* The block of memory in which a plan is made may end at any place of it. */
TEST(a_plan_survives_a_failed_allocation_at_any_fill_of_its_memory) {
    phi_prune prune = PHI_ZERO;
    int failed = 0;
    size_t taken;
    prune.tokens = 1000;
    prune.memo = phi_str_of("memo");
    for (taken = 16; taken < 2048; taken += 16) {
        phi_status status;
        size_t i;
        conversation();
        for (i = 0; i < taken; i += 16) CHECK(phi_arena_alloc(&arena, 16) != NULL);
        test_alloc_fail_from(0);
        status = plan(&prune);
        CHECK_EQ_INT(status, test_alloc_tripped() ? PHI_NO_MEMORY : PHI_OK);
        test_alloc_fail_from(-1);
        failed += status != PHI_OK;
        teardown();
    }
    CHECK(failed > 10);
}

TEST_MAIN(
    TEST_ENTRY(the_oldest_group_goes_first_and_as_a_whole),
    TEST_ENTRY(groups_go_until_it_is_enough),
    TEST_ENTRY(what_a_user_said_stays_however_much_is_asked_for),
    TEST_ENTRY(the_turn_that_goes_on_stays),
    TEST_ENTRY(a_group_that_reaches_into_the_open_turn_stays),
    TEST_ENTRY(a_memo_stands_where_the_first_one_stood_and_in_its_time),
    TEST_ENTRY(a_memo_is_of_the_run_and_turn_of_the_first_one),
    TEST_ENTRY(a_memo_is_not_pruned_again), TEST_ENTRY(a_memo_larger_than_what_goes_prunes_nothing),
    TEST_ENTRY(what_a_compaction_left_standing_stays),
    TEST_ENTRY(a_compaction_that_was_undone_protects_nothing),
    TEST_ENTRY(a_fork_goes_by_the_compactions_it_was_made_behind),
    TEST_ENTRY(durable_results_stay_with_their_calls),
    TEST_ENTRY(extensions_stay_between_the_spans),
    TEST_ENTRY(results_far_from_their_call_go_with_it),
    TEST_ENTRY(an_empty_view_has_nothing_to_prune), TEST_ENTRY(a_prune_can_be_undone),
    TEST_ENTRY(misuse_of_the_plan_is_a_status),
    TEST_ENTRY(no_prune_takes_a_users_word_or_parts_a_call_from_its_result_or_makes_a_view_larger),
    TEST_ENTRY(a_plan_survives_every_failed_allocation),
    TEST_ENTRY(a_plan_survives_a_failed_allocation_at_any_fill_of_its_memory))
