/* The log and its projection: appending, counting, truncating. */
#include "wire/wire_support.h"
#include "support/codec_of.h"

#include "model/tokens.h"
#include "persist/persist_in.h"

static phi_memory memory;
static phi_thread thread;

static void setup(void) {
    phi_allocator a = test_allocator();
    phi_memory_init(&memory, &a, 0);
    phi__thread_init(&thread, &memory, NULL);
}

/* ---- making messages; `bytes` of text each ---- */

static char filler[4096];

static phi_str text_of(size_t bytes) {
    memset(filler, 'x', sizeof filler);
    return phi__str(filler, bytes);
}

static phi__entry entry_of(const phi_message *message) {
    phi__entry e;
    memset(&e, 0, sizeof e);
    e.kind = PHI_ENTRY_MESSAGE;
    e.message = message;
    return e;
}

static bool append(const phi_message *m) {
    const phi_message *kept = phi__append_keep(&thread, m);
    phi__entry e = entry_of(kept);
    return kept != NULL && phi__append(&thread, &e, 1);
}

static bool say(phi_role role, phi_stop_reason stop, size_t bytes) {
    phi_content c = PHI_ZERO;
    phi_message m = PHI_ZERO;
    c.kind = PHI_CONTENT_TEXT;
    c.text = text_of(bytes);
    m.role = role;
    m.content = &c;
    m.content_count = 1;
    if (role == PHI_ROLE_ASSISTANT) m.stop_reason = stop;
    return append(&m);
}

static bool user(size_t bytes) { return say(PHI_ROLE_USER, PHI_STOP_REASON_NONE, bytes); }
static bool answer(size_t bytes) { return say(PHI_ROLE_ASSISTANT, PHI_STOP_REASON_STOP, bytes); }

static bool extension(const char *data) {
    phi_message m = PHI_ZERO;
    m.role = PHI_ROLE_EXTENSION;
    m.extension_kind = phi_str_of("note");
    m.extension_data = phi_str_of(data);
    return append(&m);
}

static bool calls(uint32_t from, uint32_t n, phi_stop_reason stop) {
    phi_content blocks[8];
    char ids[8][16];
    phi_message m = PHI_ZERO;
    uint32_t i;
    memset(blocks, 0, sizeof blocks);
    for (i = 0; i < n; i++) {
        (void)snprintf(ids[i], sizeof ids[i], "id_%u", (unsigned)(from + i));
        blocks[i].kind = PHI_CONTENT_TOOL_CALL;
        blocks[i].id = phi_str_of(ids[i]);
        blocks[i].name = phi_str_of("ls");
        blocks[i].arguments = phi_str_of("{}");
    }
    m.role = PHI_ROLE_ASSISTANT;
    m.content = blocks;
    m.content_count = n;
    m.stop_reason = stop;
    return append(&m);
}

static bool result(uint32_t number, size_t bytes) {
    phi_content c = PHI_ZERO;
    phi_message m = PHI_ZERO;
    char id[16];
    (void)snprintf(id, sizeof id, "id_%u", (unsigned)number);
    c.kind = PHI_CONTENT_TEXT;
    c.text = text_of(bytes);
    m.role = PHI_ROLE_TOOL_RESULT;
    m.tool_call_id = phi_str_of(id);
    m.tool_name = phi_str_of("ls");
    m.content = &c;
    m.content_count = 1;
    return append(&m);
}

/* ---- looking ---- */

/* The rewrite that made an item, or NULL. */
static const phi__op *op_at(size_t item) {
    const phi__op *op = thread.ops.last;
    if ((thread.fold.items[item].flags & PHI_ITEM_SYNTHETIC) == 0) return NULL;
    while (op->rewrite.spans[0].messages != thread.fold.items[item].message) op = op->earlier;
    return op;
}

static unsigned gone_of(const phi__op *op) {
    unsigned gone = 0;
    (void)sscanf(op->rewrite.meta, "{\"removed\":%u}", &gone);
    return gone;
}

/* What is shown, as its entries' numbers; a marker is M and the spans of its rewrite, and how many went. */
static const char *shape(void) {
    static char out[1000];
    size_t i, j, n = 0;
    out[0] = '\0';
    for (i = 0; i < thread.fold.count && n + 60 < sizeof out; i++) {
        const phi__op *op = op_at(i);
        if (i > 0) out[n++] = ' ';
        if (op == NULL) {
            n += (size_t)snprintf(out + n, sizeof out - n, "%u",
                                  (unsigned)thread.fold.items[i].from);
            continue;
        }
        for (j = 0; j < op->rewrite.span_count; j++)
            n += (size_t)snprintf(out + n, sizeof out - n, "%s%u-%u", j == 0 ? "M(" : "+",
                                  (unsigned)op->rewrite.spans[j].from,
                                  (unsigned)op->rewrite.spans[j].to);
        n += (size_t)snprintf(out + n, sizeof out - n, ": %u)", gone_of(op));
    }
    return out;
}

static size_t truncate_to(uint64_t target) {
    size_t removed = 999;
    CHECK(phi__truncate(&thread, target, NULL, NULL, phi_str_of("s.c.1"), 3, &removed));
    return removed;
}

static uint64_t counted(void) {
    uint64_t sum = 0;
    size_t i;
    for (i = 0; i < thread.fold.count; i++)
        sum += phi_tokens_of_message(NULL, thread.fold.items[i].message);
    return sum;
}

/* ---- appending ---- */

TEST(a_new_thread_is_empty_and_belongs_to_nobody) {
    thread.user = &memory;
    setup();
    CHECK(thread.user == NULL);
    CHECK_EQ_INT(thread.log.count, 0);
    CHECK_EQ_INT(thread.fold.tokens, 0);
    CHECK(phi__append(&thread, NULL, 0));
    CHECK(phi__append_reserve(&thread, 0, 0));
    phi__append_attach(&thread, NULL, 0);
    phi__journal_free_thread(&thread);
    phi__journal_free_thread(&thread);
}

TEST(entries_are_numbered_in_order_and_messages_listed) {
    phi__entry two[2];
    setup();
    memset(two, 0, sizeof two);
    two[0].kind = PHI_ENTRY_LOOP_START;
    two[1].kind = PHI_ENTRY_TURN_START;
    CHECK(user(4));
    CHECK(phi__append(&thread, two, 2));
    CHECK(answer(4));
    CHECK_EQ_INT(thread.log.count, 4);
    CHECK_EQ_INT(thread.log.entries[2]->seq, 2);
    CHECK(thread.log.entries[2]->kind == PHI_ENTRY_TURN_START);
    CHECK_EQ_INT(thread.messages.count, 2);
    CHECK(thread.messages.at[1] == thread.log.entries[3]);
    CHECK_EQ_STR(shape(), "0 3");
    phi__journal_free_thread(&thread);
}

TEST(failed_and_aborted_answers_are_not_projected_and_extensions_are) {
    setup();
    CHECK(user(4));
    CHECK(say(PHI_ROLE_ASSISTANT, PHI_STOP_REASON_ERROR, 400));
    CHECK(say(PHI_ROLE_ASSISTANT, PHI_STOP_REASON_ABORTED, 400));
    CHECK(extension("{\"a\":1}"));
    CHECK(answer(4));
    CHECK_EQ_STR(shape(), "0 3 4");
    CHECK_EQ_INT(thread.messages.count, 5);
    phi__journal_free_thread(&thread);
}

TEST(the_tokens_of_the_projection_are_kept) {
    setup();
    CHECK(user(10)); /* 3 + 4 */
    CHECK_EQ_INT(thread.fold.tokens, 7);
    CHECK(say(PHI_ROLE_ASSISTANT, PHI_STOP_REASON_ERROR, 400));
    CHECK_EQ_INT(thread.fold.tokens, 7);
    CHECK(extension("{\"a\":1}")); /* 2 + 4 */
    CHECK_EQ_INT(thread.fold.tokens, 13);
    CHECK(calls(1, 2, PHI_STOP_REASON_TOOL_USE)); /* 2 * (1 + 1 + 8) + 4 */
    CHECK_EQ_INT(thread.fold.tokens, 37);
    CHECK(result(1, 8)); /* 2 + 1 + 8 */
    CHECK_EQ_INT(thread.fold.tokens, 48);
    phi__journal_free_thread(&thread);
    CHECK_EQ_INT(thread.fold.tokens, 0);
}

TEST(what_was_reserved_is_attached_without_memory) {
    phi__entry *entries;
    size_t i;
    setup();
    CHECK(user(4));
    entries = (phi__entry *)phi__arena_zero(phi__thread_room(&thread), 6 * sizeof *entries);
    REQUIRE(entries != NULL && phi__append_reserve(&thread, 6, 5));
    for (i = 0; i < 6; i++) {
        entries[i].kind = i == 2 ? PHI_ENTRY_LOOP_START : PHI_ENTRY_MESSAGE;
        entries[i].message = thread.log.entries[0]->message;
    }
    test_alloc_fail_from(0);
    phi__append_attach(&thread, entries, 6);
    CHECK(!test_alloc_tripped());
    test_alloc_fail_from(-1);
    CHECK(thread.log.entries[1] == entries);
    CHECK(thread.messages.at[1] == entries);
    CHECK_EQ_STR(shape(), "0 1 2 4 5 6");
    CHECK_EQ_INT(thread.fold.tokens, 30);
    phi__journal_free_thread(&thread);
}

TEST(a_reservation_of_any_size_is_refused_or_given) {
    setup();
    CHECK(user(4));
    CHECK(!phi__append_reserve(&thread, SIZE_MAX, 0));
    CHECK(!phi__append_reserve(&thread, 1, SIZE_MAX));
    CHECK(!phi__append_reserve(&thread, SIZE_MAX / sizeof(phi__entry *), 1));
    CHECK(phi__append_reserve(&thread, 100, 100));
    CHECK_EQ_STR(shape(), "0");
    phi__journal_free_thread(&thread);
}

TEST(an_append_that_finds_no_memory_changes_nothing) {
    phi_message m = PHI_ZERO;
    phi__entry entries[9];
    size_t i;
    int n;
    m.role = PHI_ROLE_USER;
    for (i = 0; i < 9; i++) entries[i] = entry_of(&m);
    entries[4].kind = PHI_ENTRY_TURN_START;
    for (n = 0;; n++) {
        setup();
        test_alloc_fail_at(n);
        if (phi__append(&thread, entries, 9)) break;
        CHECK(test_alloc_tripped());
        CHECK_EQ_INT(thread.log.count, 0);
        CHECK_EQ_INT(thread.messages.count, 0);
        CHECK_EQ_INT(thread.fold.tokens, 0);
        CHECK(phi__append(&thread, entries, 9));
        CHECK_EQ_INT(thread.fold.count, 8);
        phi__journal_free_thread(&thread);
    }
    test_alloc_fail_at(-1);
    CHECK_EQ_INT(n, 4);
    phi__journal_free_thread(&thread);
}

/* Many parts of it find room, and the last one does not. */
TEST(messages_that_are_too_large_leave_no_parts_behind) {
    static char large[100000];
    phi_allocator a = test_allocator();
    phi_content parts[41];
    phi_message m = PHI_ZERO;
    size_t used;
    int i;
    phi_memory_init(&memory, &a, 60000);
    phi__thread_init(&thread, &memory, NULL);
    memset(parts, 0, sizeof parts);
    memset(large, 'x', sizeof large);
    for (i = 0; i < 41; i++) {
        parts[i].kind = PHI_CONTENT_TEXT;
        parts[i].text = i < 40 ? text_of(100) : phi__str(large, sizeof large);
    }
    m.role = PHI_ROLE_USER;
    m.content = parts;
    m.content_count = 41;
    CHECK(user(10));
    used = memory.used_bytes;
    for (i = 0; i < 20; i++) CHECK(!append(&m));
    CHECK_EQ_INT(memory.used_bytes, used);
    CHECK(user(4000));
    phi__journal_free_thread(&thread);
}

/* ---- truncating ---- */

TEST(the_oldest_messages_go_and_a_marker_stands_in_their_place) {
    const phi__entry *e;
    const phi_message *m;
    size_t i;
    setup();
    for (i = 0; i < 5; i++) CHECK(user(400) && answer(400)); /* 104 tokens each */
    CHECK_EQ_INT(thread.fold.tokens, 1040);
    CHECK_EQ_INT(truncate_to(700), 4);
    CHECK_EQ_STR(shape(), "0 M(1-4: 4) 5 6 7 8 9");
    CHECK_EQ_INT(thread.fold.tokens, 6 * 104 + 20);
    CHECK_EQ_INT(thread.log.count, 11);
    e = thread.log.entries[10];
    CHECK(e->of.op == op_at(1));
    CHECK(e->kind == PHI_ENTRY_REWRITE);
    CHECK_EQ_INT(e->seq, 10);
    CHECK_EQ_INT(e->turn_index, 3);
    CHECK_STR(e->loop_id, "s.c.1");
    m = thread.fold.items[1].message;
    CHECK(m->role == PHI_ROLE_USER);
    REQUIRE(m->content_count == 1);
    CHECK(m->content[0].kind == PHI_CONTENT_TEXT);
    CHECK_STR(m->content[0].text, "[Context compacted: 4 messages removed to fit context window]");
    CHECK_STR(m->loop_id, "s.c.1");
    CHECK_EQ_INT(m->turn_index, 3);
    CHECK(thread.fold.items[1].message == m);
    CHECK(thread.fold.items[1].arena == phi__thread_room(&thread));
    CHECK_EQ_INT(thread.fold.items[1].origin, 0);
    CHECK_EQ_INT(thread.messages.count,
                 10); /* the log has them all, and the marker is none of them */
    phi__journal_free_thread(&thread);
}

TEST(what_fits_stays_as_it_is) {
    setup();
    CHECK_EQ_INT(truncate_to(0), 0);
    CHECK(user(400) && answer(400) && user(400) && answer(400));
    CHECK_EQ_INT(truncate_to(416), 0);
    CHECK_EQ_INT(truncate_to(UINT64_MAX), 0);
    CHECK_EQ_INT(thread.log.count, 4);
    CHECK_EQ_INT(truncate_to(415), 1);
    CHECK_EQ_STR(shape(), "0 M(1-1: 1) 2 3");
    phi__journal_free_thread(&thread);
}

TEST(the_first_and_the_newest_user_message_and_the_last_group_stay) {
    setup();
    CHECK(user(400) && answer(400) && user(400) && answer(400));
    CHECK(calls(1, 1, PHI_STOP_REASON_TOOL_USE) && result(1, 400));
    CHECK(calls(2, 2, PHI_STOP_REASON_TOOL_USE) && result(2, 400) && result(3, 400));
    CHECK_EQ_INT(truncate_to(0), 4);
    CHECK_EQ_STR(shape(), "0 M(1-1+3-5: 4) 2 6 7 8");
    CHECK_EQ_INT(truncate_to(0), 0);
    phi__journal_free_thread(&thread);
}

TEST(an_answer_goes_with_all_its_results_or_not_at_all) {
    setup();
    CHECK(user(40));
    CHECK(calls(1, 3, PHI_STOP_REASON_TOOL_USE) && result(1, 400) && extension("{}"));
    CHECK(result(2, 400) && result(3, 400));
    CHECK(answer(400) && user(400));
    CHECK_EQ_INT(truncate_to(thread.fold.tokens - 1), 5);
    CHECK_EQ_STR(shape(), "0 M(1-5: 5) 6 7");
    phi__journal_free_thread(&thread);
}

TEST(a_run_that_goes_on_and_on_keeps_its_prompt_and_its_last_step) {
    uint32_t i;
    setup();
    CHECK(user(40));
    for (i = 0; i < 50; i++) CHECK(calls(i, 1, PHI_STOP_REASON_TOOL_USE) && result(i, 400));
    CHECK_EQ_INT(truncate_to(0), 98);
    CHECK_EQ_STR(shape(), "0 M(1-98: 98) 99 100");
    phi__journal_free_thread(&thread);
}

TEST(a_second_truncation_takes_the_first_ones_marker_and_counts_on) {
    size_t i;
    setup();
    for (i = 0; i < 5; i++) CHECK(user(400) && answer(400));
    CHECK_EQ_INT(truncate_to(900), 2);
    CHECK_EQ_STR(shape(), "0 M(1-2: 2) 3 4 5 6 7 8 9");
    CHECK_EQ_INT(truncate_to(700), 2);
    CHECK_EQ_STR(shape(), "0 M(1-4: 4) 5 6 7 8 9");
    CHECK(user(400));
    CHECK_EQ_INT(truncate_to(0), 5);
    CHECK_EQ_STR(shape(), "0 M(1-9: 9) 12");
    CHECK_STR(thread.fold.items[1].message->content[0].text,
              "[Context compacted: 9 messages removed to fit context window]");
    CHECK_EQ_INT(thread.log.count, 14);
    CHECK(thread.log.entries[13]->of.op == op_at(1));
    CHECK(thread.log.entries[10]->kind == PHI_ENTRY_REWRITE); /* the log keeps what was */
    phi__journal_free_thread(&thread);
}

TEST(what_was_spared_goes_when_it_is_the_newest_no_more) {
    setup();
    CHECK(user(400) && answer(400) && user(400) && answer(400) && answer(400));
    CHECK_EQ_INT(truncate_to(0), 2);
    CHECK_EQ_STR(shape(), "0 M(1-1+3-3: 2) 2 4");
    CHECK(user(400));
    CHECK_EQ_INT(truncate_to(thread.fold.tokens - 1), 1);
    CHECK_EQ_STR(shape(), "0 M(1-2: 3) 4 6");
    phi__journal_free_thread(&thread);
}

TEST(a_user_message_before_the_marker_moves_the_marker_when_it_goes) {
    setup();
    CHECK(user(400) && user(400) && answer(400) && answer(400));
    CHECK_EQ_INT(truncate_to(0), 1);
    CHECK_EQ_STR(shape(), "0 1 M(2-2: 1) 3");
    CHECK(user(400));
    CHECK_EQ_INT(truncate_to(thread.fold.tokens - 1), 1);
    CHECK_EQ_STR(shape(), "0 M(1-2: 2) 3 5");
    phi__journal_free_thread(&thread);
}

TEST(what_stands_before_the_first_user_message_goes_first) {
    setup();
    CHECK(answer(400) && answer(400) && user(400) && answer(400) && user(400));
    CHECK_EQ_INT(truncate_to(436), 1);
    CHECK_EQ_STR(shape(), "M(0-0: 1) 1 2 3 4");
    CHECK_EQ_INT(truncate_to(0), 2);
    CHECK_EQ_STR(shape(),
                 "M(0-1+3-3: 3) 2 4"); /* the first user message of all stays, without saying */
    phi__journal_free_thread(&thread);
}

TEST(a_history_without_the_user_keeps_its_last_group) {
    setup();
    CHECK(answer(400) && answer(400) && calls(1, 1, PHI_STOP_REASON_TOOL_USE) && result(1, 400));
    CHECK(extension("{\"at\":\"the end\"}"));
    CHECK_EQ_INT(truncate_to(0), 2);
    CHECK_EQ_STR(shape(), "M(0-1: 2) 2 3 4");
    phi__journal_free_thread(&thread);
}

TEST(an_open_call_at_the_end_stays) {
    setup();
    CHECK(user(400) && answer(400) && calls(1, 2, PHI_STOP_REASON_TOOL_USE) && result(1, 400));
    CHECK_EQ_INT(truncate_to(0), 1);
    CHECK_EQ_STR(shape(), "0 M(1-1: 1) 2 3");
    CHECK(result(2, 400));
    CHECK_EQ_STR(shape(), "0 M(1-1: 1) 2 3 5");
    phi__journal_free_thread(&thread);
}

TEST(extensions_go_by_age_and_are_counted) {
    setup();
    CHECK(user(400) && extension("{\"text\":\"a rather long note, longer than the marker, so that "
                                 "it is worth while to take it out of the projection\"}"));
    CHECK(answer(400));
    CHECK_EQ_INT(truncate_to(0), 1);
    CHECK_EQ_STR(shape(), "0 M(1-1: 1) 2");
    phi__journal_free_thread(&thread);
}

TEST(what_a_marker_costs_more_than_is_not_taken) {
    setup();
    CHECK(user(400) && answer(4) && answer(400) && user(4)); /* 104 + 5 + 104 + 5; a marker: 20 */
    CHECK_EQ_INT(truncate_to(217), 2); /* the small one alone would make it larger */
    CHECK_EQ_STR(shape(), "0 M(1-2: 2) 3");
    phi__journal_free_thread(&thread);
    setup();
    CHECK(user(400) && answer(4) && user(4));
    CHECK_EQ_INT(truncate_to(0), 0);
    CHECK_EQ_STR(shape(), "0 1 2");
    CHECK_EQ_INT(thread.log.count, 3);
    phi__journal_free_thread(&thread);
}

TEST(a_markers_rendering_is_kept_with_its_entry) {
    conversation t;
    char *first;
    setup();
    CHECK(user(400) && answer(400) && user(400) && extension("{}") && answer(400) && user(4));
    CHECK_EQ_INT(truncate_to(235), 3);
    talk_begin(&t, phi_model_anthropic("claude-sonnet-4-5", "key"));
    t.spec.items = thread.fold.items;
    t.spec.item_count = thread.fold.count;
    CHECK(*op_at(1)->rendered == NULL);
    REQUIRE(talk_render(&t, 1) == PHI_OK);
    CHECK(strstr(t.body, "[Context compacted: 3 messages removed to fit context window]") != NULL);
    CHECK(*op_at(1)->rendered != NULL);
    first = t.body;
    t.body = NULL;
    REQUIRE(talk_render(&t, 0) == PHI_OK);
    CHECK_EQ_STR(t.body, first);
    free(first);
    talk_free(&t);
    phi__journal_free_thread(&thread);
}

TEST(a_truncation_that_finds_no_memory_changes_nothing) {
    size_t removed, used;
    int n;
    for (n = 0;; n++) {
        bool done;
        setup();
        CHECK(user(400) && answer(400) && user(400) && answer(4));
        CHECK_EQ_INT(thread.log.cap, thread.log.count);
        while (thread.log.segments.first.arena.end - thread.log.segments.first.arena.at >= 8)
            (void)phi__arena_bytes(phi__thread_room(&thread), 8); /* so that it needs a block */
        used = (size_t)thread.fold.tokens;
        removed = 9;
        test_alloc_fail_at(n);
        done = phi__truncate(&thread, 300, NULL, NULL, phi_str_of("l"), 1, &removed);
        test_alloc_fail_at(-1);
        if (done) break;
        CHECK_EQ_INT(removed, 0);
        CHECK_EQ_INT(thread.log.count, 4);
        CHECK_EQ_INT(thread.fold.tokens, used);
        CHECK_EQ_STR(shape(), "0 1 2 3");
        CHECK_EQ_INT(truncate_to(300), 1);
        CHECK_EQ_STR(shape(), "0 M(1-1: 1) 2 3");
        phi__journal_free_thread(&thread);
    }
    CHECK(n >= 2);
    phi__journal_free_thread(&thread);
}

TEST(a_hundred_thousand_messages_are_truncated) {
    enum { COUNT = 100000 };
    phi__entry *entries;
    size_t i;
    setup();
    CHECK(user(400) && answer(400));
    entries = (phi__entry *)phi__arena_zero(phi__thread_room(&thread), COUNT * sizeof *entries);
    REQUIRE(entries != NULL && phi__append_reserve(&thread, COUNT, COUNT));
    for (i = 0; i < COUNT; i++)
        entries[i] = entry_of(thread.log.entries[i == COUNT - 1 ? 0 : 1]->message);
    phi__append_attach(&thread, entries, COUNT);
    CHECK_EQ_INT(truncate_to(1000000), 90387);
    CHECK_EQ_INT(truncate_to(0), COUNT - 90387);
    CHECK_EQ_STR(shape(), "0 M(1-100000: 100000) 100001");
    phi__journal_free_thread(&thread);
}

/* ---- properties ---- */

static uint32_t number; /* of the next tool call */

static void grow(uint32_t *seed) {
    uint32_t n = 1 + test_random(seed) % 4, i;
    phi__entry turn;
    switch (test_random(seed) % 9) {
    case 0:
    case 1: CHECK(user(1 + test_random(seed) % 800)); break;
    case 2: CHECK(answer(test_random(seed) % 800)); break;
    case 3: CHECK(extension("{\"some\":\"data\"}")); break;
    case 4: CHECK(say(PHI_ROLE_ASSISTANT, PHI_STOP_REASON_ERROR, 40)); break;
    case 5: CHECK(calls(number, n, PHI_STOP_REASON_ABORTED)); break;
    case 6:
        memset(&turn, 0, sizeof turn);
        turn.kind = PHI_ENTRY_TURN_START;
        CHECK(phi__append(&thread, &turn, 1));
        break;
    default:
        CHECK(calls(number, n, PHI_STOP_REASON_TOOL_USE));
        for (i = 0; i < n; i++) {
            if (test_random(seed) % 5 == 0) CHECK(extension("[]"));
            CHECK(result(number + (i + 1) % n, test_random(seed) % 800));
        }
    }
    number += n;
}

static bool projects(const phi__entry *e) {
    return e->kind == PHI_ENTRY_MESSAGE && (e->message->role != PHI_ROLE_ASSISTANT ||
                                            e->message->stop_reason == PHI_STOP_REASON_STOP ||
                                            e->message->stop_reason == PHI_STOP_REASON_TOOL_USE);
}

/* That what is shown is what the log alone says it is, and that the marker counts what went. */
static bool folds(void) {
    phi__fold fold;
    size_t i, shown = 0, all = 0, gone = 0;
    bool same = CHECK(phi__fold_lane(&thread, 0, UINT64_MAX, &fold) == PHI_OK);
    if (!same) return false;
    same = fold.count == thread.fold.count && fold.tokens == thread.fold.tokens;
    for (i = 0; same && i < fold.count; i++) {
        same = memcmp(&fold.items[i], &thread.fold.items[i], sizeof fold.items[i]) == 0;
        if (op_at(i) != NULL)
            gone = gone_of(op_at(i));
        else
            shown++;
    }
    for (i = 0; i < thread.log.count; i++) all += projects(thread.log.entries[i]);
    phi__fold_free(&memory, &fold);
    return same && shown + gone == all;
}

static bool user_messages_stay(void) {
    const phi__entry *first = NULL, *newest = NULL;
    size_t i, found = 0;
    for (i = 0; i < thread.messages.count; i++) {
        if (thread.messages.at[i]->message->role != PHI_ROLE_USER) continue;
        if (first == NULL) first = thread.messages.at[i];
        newest = thread.messages.at[i];
    }
    if (first == NULL) return true;
    for (i = 0; i < thread.fold.count; i++)
        found += (size_t)(thread.fold.items[i].message == first->message) +
                 (size_t)(thread.fold.items[i].message == newest->message);
    return found == 2;
}

static bool in_order(void) {
    size_t i;
    for (i = 1; i < thread.fold.count; i++)
        if (thread.fold.items[i].from <= thread.fold.items[i - 1].to) return false;
    return true;
}

static bool every_call_has_its_result(void) {
    phi_model model = phi_model_openai("gpt-4.1", "key");
    phi__request_spec spec;
    char words[200];
    memset(&spec, 0, sizeof spec);
    spec.model = &model;
    spec.items = thread.fold.items;
    spec.item_count = thread.fold.count;
    if (phi__preflight(codec_of(PHI_PROTOCOL_OPENAI_CHAT), &spec, words, sizeof words) == PHI_OK ||
        strcmp(words, "messages: there is none to send") == 0)
        return true;
    printf("%s\n", words);
    return false;
}

static bool cut(uint64_t target, size_t *removed) {
    uint64_t before = thread.fold.tokens;
    size_t entries = thread.log.count;
    if (!CHECK(phi__truncate(&thread, target, NULL, NULL, phi_str_of("l"), 0, removed)))
        return false;
    CHECK_EQ_INT(thread.log.count, entries + (*removed > 0));
    CHECK(*removed > 0 ? thread.fold.tokens < before : thread.fold.tokens == before);
    CHECK(thread.fold.tokens == counted());
    CHECK(user_messages_stay());
    CHECK(every_call_has_its_result());
    CHECK(in_order());
    return CHECK(folds());
}

static void random_history(uint32_t seed) {
    uint32_t steps = 1 + test_random(&seed) % 60, i;
    size_t removed, again;
    setup();
    number = 0;
    for (i = 0; i < steps; i++) {
        uint64_t target = thread.fold.tokens * (test_random(&seed) % 110) / 100;
        grow(&seed);
        if (test_random(&seed) % 6 != 0) continue;
        if (!cut(target, &removed) || !cut(target, &again) || !CHECK_EQ_INT(again, 0)) break;
    }
    while (cut(thread.fold.tokens / 2, &removed) && removed > 0) continue;
    CHECK(cut(0, &removed));
    CHECK(cut(0, &again));
    CHECK_EQ_INT(again, 0);
    phi__journal_free_thread(&thread);
}

TEST(random_histories_are_truncated_to_what_a_provider_accepts) {
    uint32_t seed;
    for (seed = 1; seed <= 1500; seed++) random_history(seed * 2654435761u);
}

TEST_MAIN(TEST_ENTRY(a_new_thread_is_empty_and_belongs_to_nobody),
          TEST_ENTRY(entries_are_numbered_in_order_and_messages_listed),
          TEST_ENTRY(failed_and_aborted_answers_are_not_projected_and_extensions_are),
          TEST_ENTRY(the_tokens_of_the_projection_are_kept),
          TEST_ENTRY(what_was_reserved_is_attached_without_memory),
          TEST_ENTRY(a_reservation_of_any_size_is_refused_or_given),
          TEST_ENTRY(an_append_that_finds_no_memory_changes_nothing),
          TEST_ENTRY(messages_that_are_too_large_leave_no_parts_behind),
          TEST_ENTRY(the_oldest_messages_go_and_a_marker_stands_in_their_place),
          TEST_ENTRY(what_fits_stays_as_it_is),
          TEST_ENTRY(the_first_and_the_newest_user_message_and_the_last_group_stay),
          TEST_ENTRY(an_answer_goes_with_all_its_results_or_not_at_all),
          TEST_ENTRY(a_run_that_goes_on_and_on_keeps_its_prompt_and_its_last_step),
          TEST_ENTRY(a_second_truncation_takes_the_first_ones_marker_and_counts_on),
          TEST_ENTRY(what_was_spared_goes_when_it_is_the_newest_no_more),
          TEST_ENTRY(a_user_message_before_the_marker_moves_the_marker_when_it_goes),
          TEST_ENTRY(what_stands_before_the_first_user_message_goes_first),
          TEST_ENTRY(a_history_without_the_user_keeps_its_last_group),
          TEST_ENTRY(an_open_call_at_the_end_stays),
          TEST_ENTRY(extensions_go_by_age_and_are_counted),
          TEST_ENTRY(what_a_marker_costs_more_than_is_not_taken),
          TEST_ENTRY(a_markers_rendering_is_kept_with_its_entry),
          TEST_ENTRY(a_truncation_that_finds_no_memory_changes_nothing),
          TEST_ENTRY(a_hundred_thousand_messages_are_truncated),
          TEST_ENTRY(random_histories_are_truncated_to_what_a_provider_accepts))
