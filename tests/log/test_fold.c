/* test_fold.c - a rewrite of many spans costs one pass, counted in bytes that the list of items
   moves. */
#include "support/test.h"

#include "log/thread_in.h"
#include "persist/persist_in.h"

static size_t moved;

static void *count_move(void *to, const void *from, size_t bytes) {
    moved += bytes;
    return memmove(to, from, bytes);
}

#undef memmove
#define memmove count_move
#include "log/fold.c"
#include "support/append.h"
#undef memmove

enum { ITEMS = 4000, SPANS = ITEMS / 2 };

static phi_content said, cut;
static phi_message question, shorter[2];
static phi_span spans[SPANS];
static phi_memory memory;
static phi_thread thread;

static void setup(void) {
    phi_allocator a = test_allocator();
    phi_memory_init(&memory, &a, 0);
    phi__thread_init(&thread, &memory, NULL);
    memset(&question, 0, sizeof question);
    memset(spans, 0, sizeof spans);
    said.kind = cut.kind = PHI_CONTENT_TEXT;
    said.text = PHI__LIT("a question that is long");
    cut.text = PHI__LIT("cut");
    question.role = PHI_ROLE_USER;
    question.content = &said;
    question.content_count = 1;
    shorter[0] = shorter[1] = question;
    shorter[0].content = shorter[1].content = &cut;
}

static void done(void) {
    phi__journal_free_thread(&thread);
    CHECK_EQ_INT(test_alloc_live_bytes(), 0);
}

static void append_one(uint32_t flags) {
    CHECK_EQ_INT(append_with(&thread, &question, 1, flags), PHI_OK);
}

static void append(size_t items) {
    size_t i;
    for (i = 0; i < items; i++) append_one(0);
}

/* Each second message is replaced by `messages` shorter ones. */
static void rewrite(size_t messages) {
    phi_rewrite r;
    size_t i;
    memset(&r, 0, sizeof r);
    for (i = 0; i < SPANS; i++) {
        spans[i].from = spans[i].to = 2 * i;
        spans[i].messages = messages > 0 ? shorter : NULL;
        spans[i].message_count = messages;
    }
    r.reason = PHI_REWRITE_COMPACTION;
    r.spans = spans;
    r.span_count = SPANS;
    moved = 0;
    CHECK_EQ_INT(phi_thread_rewrite(&thread, &r, NULL, NULL, 0), PHI_OK);
}

TEST(a_rewrite_of_many_spans_moves_each_item_at_most_once) {
    size_t messages, i, j;
    for (messages = 0; messages <= 2; messages++) {
        setup();
        append(ITEMS);
        rewrite(messages);
        CHECK(moved <= ITEMS * sizeof(phi__item));
        REQUIRE(thread.fold.count == SPANS * (1 + messages));
        for (i = 0; i < SPANS; i++) {
            const phi__item *item = &thread.fold.items[i * (1 + messages)];
            for (j = 0; j < messages; j++, item++) {
                CHECK_STR(item->message->content[0].text, "cut");
                CHECK(item->from == 2 * i && item->to == 2 * i);
            }
            CHECK(item->from == 2 * i + 1);
            CHECK_STR(item->message->content[0].text, "a question that is long");
        }
        done();
    }
}

/* The view of 3,000 items is before the spans, and 900 come after them. */
TEST(a_rewrite_moves_only_what_comes_after_it) {
    phi_rewrite r;
    setup();
    append(ITEMS);
    memset(&r, 0, sizeof r);
    spans[0].from = 3000;
    spans[0].to = 3099;
    r.reason = PHI_REWRITE_PRUNE;
    r.spans = spans;
    r.span_count = 1;
    moved = 0;
    CHECK_EQ_INT(phi_thread_rewrite(&thread, &r, NULL, NULL, 0), PHI_OK);
    CHECK_EQ_INT(moved, 900 * sizeof(phi__item));
    CHECK_EQ_INT(thread.fold.count, ITEMS - 100);
    CHECK_EQ_INT(thread.fold.items[3000].from, 3100);
    CHECK_EQ_INT(thread.fold.tokens, (ITEMS - 100) * phi_tokens_of_message(NULL, &question));
    done();
}

/* A span of several messages replaces one that lasts by ones that do not, and a span over several
   that last is none of them. */
TEST(only_one_message_in_place_of_one_that_lasts_lasts) {
    phi_rewrite r;
    size_t i;
    setup();
    for (i = 0; i < 5; i++) append_one(i < 4 ? PHI_ENTRY_DURABLE : 0);
    memset(&r, 0, sizeof r);
    spans[0].from = spans[0].to = 0; /* one by one */
    spans[0].messages = shorter;
    spans[0].message_count = 1;
    spans[1].from = spans[1].to = 1; /* one by two */
    spans[1].messages = shorter;
    spans[1].message_count = 2;
    spans[2].from = 2; /* two by one */
    spans[2].to = 3;
    spans[2].messages = shorter;
    spans[2].message_count = 1;
    r.reason = PHI_REWRITE_PRUNE;
    r.spans = spans;
    r.span_count = 3;
    CHECK_EQ_INT(phi_thread_rewrite(&thread, &r, NULL, NULL, 0), PHI_OK);
    REQUIRE(thread.fold.count == 5);
    CHECK_EQ_INT(thread.fold.durable, 1);
    CHECK((thread.fold.items[0].flags & PHI_ENTRY_DURABLE) != 0);
    for (i = 1; i < 5; i++) CHECK((thread.fold.items[i].flags & PHI_ENTRY_DURABLE) == 0);
    CHECK(!thread.fold.overlaps);
    done();
}

TEST_MAIN(TEST_ENTRY(a_rewrite_of_many_spans_moves_each_item_at_most_once),
          TEST_ENTRY(a_rewrite_moves_only_what_comes_after_it),
          TEST_ENTRY(only_one_message_in_place_of_one_that_lasts_lasts))
