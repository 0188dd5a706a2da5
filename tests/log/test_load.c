/* test_load.c - what it costs to read a thread, counted in bytes that are asked for: each folding anew of a view asks for
   a list of it. And what is refused while a thread is read. */
#include "support/test.h"
#include "support/thread_text.h"

#include "persist/store.h"
#include "persist/persist_in.h"

#include <stdarg.h>

enum { FEW = 100, MANY = 4 * FEW, TEXT_BYTES = 600000 };

/* ---- bytes that are asked for ---- */

static size_t asked_for;

static void *count_realloc(void *user_data, void *ptr, size_t old, size_t now) {
    phi_allocator *under = (phi_allocator *)user_data;
    asked_for += now;
    return under->realloc_fn(under->user_data, ptr, old, now);
}

/* ---- texts ---- */

static char text[TEXT_BYTES];
static size_t len;
static unsigned seq;

static void put(const char *format, ...) PHI_PRINTF(1, 2);

static void put(const char *format, ...) {
    va_list args;
    va_start(args, format);
    len += (size_t)vsnprintf(text + len, sizeof text - len, format, args);
    va_end(args);
    CHECK(len < sizeof text);
}

static void begin(void) {
    len = seq = 0;
    put("{\"phi_thread\":1}\n");
}

static const char *lane_of(unsigned n) { return n % 2 == 0 ? "" : ",\"lane\":\"side\""; }

static void message(const char *lane) {
    put("{\"seq\":%u,\"kind\":\"message\"%s,\"message\":{\"role\":\"user\",\"content\":[{\"type\":"
        "\"text\",\"text\":\"said\"}]}}\n",
        seq++, lane);
}

static void durable(void) {
    put("{\"seq\":%u,\"kind\":\"message\",\"durable\":true,\"message\":{\"role\":\"user\","
        "\"content\":["
        "{\"type\":\"text\",\"text\":\"never forget\"}]}}\n",
        seq++);
}

/* One message in the place of entries from to to; more: other members. */
static void rewrite(const char *lane, unsigned from, unsigned to, const char *more) {
    put("{\"seq\":%u,\"kind\":\"rewrite\"%s,\"op_id\":\"r%u\",\"reason\":\"manual\",\"base_seq\":%u"
        "%s,\"spans\":[{\"from\":%u,\"to\":%u,\"messages\":[{\"message\":{\"role\":\"user\","
        "\"content\":[{\"type\":\"text\",\"text\":\"so\"}]}}]}]}\n",
        seq, lane, seq, seq - 1, more, from, to);
    seq++;
}

static void drop(unsigned from, unsigned to) {
    put("{\"seq\":%u,\"kind\":\"rewrite\",\"op_id\":\"r%u\",\"reason\":\"manual\",\"base_seq\":%u,"
        "\"spans\":[{\"from\":%u,\"to\":%u,\"messages\":[]}]}\n",
        seq, seq, seq - 1, from, to);
    seq++;
}

static void revoke(unsigned of) {
    put("{\"seq\":%u,\"kind\":\"rewrite\",\"op_id\":\"r%u\",\"reason\":\"manual\",\"base_seq\":%u,"
        "\"revoke\":\"r%u\",\"spans\":[]}\n",
        seq, seq, seq - 1, of);
    seq++;
}

static void side(void) {
    message("");
    put("{\"seq\":1,\"kind\":\"lane\",\"lane\":\"side\",\"parent\":\"default\",\"fork_seq\":0}\n");
    seq++;
}

static void rewrites(unsigned n) {
    unsigned i;
    for (i = 0; i < n; i++) message("");
    for (i = 0; i < n; i++) rewrite("", i, i, "");
    for (i = 0; i < n; i++) revoke(n + i);
}

/* Each is revoked before the next one is made; beside a message that is durable. */
static void attempts(unsigned n) {
    unsigned i;
    durable();
    for (i = 1; i < n; i++) message("");
    for (i = 1; i < n; i++) {
        rewrite("", i, i, "");
        revoke(seq - 1);
    }
}

static void switches(unsigned n) {
    unsigned i;
    side();
    for (i = 0; i < n; i++) {
        message(lane_of(i));
        put("{\"seq\":%u,\"kind\":\"switch\"%s}\n", seq++, lane_of(i + 1));
    }
}

static void switches_of_rewrites(unsigned n) {
    unsigned i;
    side();
    for (i = 0; i < n; i++) {
        message(lane_of(i));
        rewrite(lane_of(i), seq - 1, seq - 1,
                i % 2 == 0 ? ",\"switch_to\":\"side\"" : ",\"switch_to\":\"default\"");
    }
}

static void lanes(unsigned n) {
    char lane[40];
    unsigned i;
    message("");
    for (i = 0; i < n; i++) {
        (void)snprintf(lane, sizeof lane, ",\"lane\":\"way %u\"", i);
        put("{\"seq\":%u,\"kind\":\"lane\"%s,\"parent\":\"default\",\"fork_seq\":0}\n", seq++,
            lane);
        put("{\"seq\":%u,\"kind\":\"switch\"%s}\n", seq++, lane);
        message(lane);
    }
}

/* A summary of all so far, and another one over that, and so on. */
static void summaries(unsigned n) {
    unsigned i;
    for (i = 0; i < n; i++) {
        message("");
        rewrite("", 0, seq - 1, "");
    }
}

/* ---- reading ---- */

static phi_memory memory;
static phi_thread thread;
static char words[300];

static phi_status read_it(void) {
    phi__thread_init(&thread, &memory, NULL);
    return thread_from_json(&thread, phi__str(text, len), words, sizeof words);
}

static size_t cost(void (*fill)(unsigned), unsigned n) {
    phi_allocator under = test_allocator(), counting;
    memset(&counting, 0, sizeof counting);
    counting.realloc_fn = count_realloc;
    counting.user_data = &under;
    phi_memory_init(&memory, &counting, 0);
    begin();
    fill(n);
    asked_for = 0;
    CHECK_EQ_INT(read_it(), PHI_OK);
    CHECK_EQ_STR(words, "");
    CHECK_EQ_INT(thread.log.count, seq);
    phi__journal_free_thread(&thread);
    CHECK_EQ_INT(test_alloc_live_bytes(), 0);
    return asked_for;
}

/* Lists that grow double their room: four times as much may be a little more. */
static void is_linear(void (*fill)(unsigned)) {
    size_t few = cost(fill, FEW), many = cost(fill, MANY);
    if (!CHECK(many < few * 5))
        printf("  %lu bytes for %d, %lu for %d\n", (unsigned long)few, FEW, (unsigned long)many,
               MANY);
}

TEST(rewrites_and_what_revokes_them_are_read_at_the_cost_of_each) { is_linear(rewrites); }
TEST(rewrites_that_are_revoked_one_by_one_are_read_at_the_cost_of_each) { is_linear(attempts); }
TEST(switches_are_read_at_the_cost_of_each) { is_linear(switches); }
TEST(rewrites_that_switch_are_read_at_the_cost_of_each) { is_linear(switches_of_rewrites); }
TEST(lanes_are_read_at_the_cost_of_each) { is_linear(lanes); }
TEST(summaries_over_summaries_are_read_at_the_cost_of_each) { is_linear(summaries); }

/* ---- what is shown, and what is refused ---- */

static void setup(void) {
    phi_allocator a = test_allocator();
    phi_memory_init(&memory, &a, 0);
    begin();
}

static void done(void) {
    phi__journal_free_thread(&thread);
    CHECK_EQ_INT(test_alloc_live_bytes(), 0);
}

/* The entries it shows; [0-1] stands for a message of a rewrite. */
static const char *shown(void) {
    static char out[300];
    size_t i, n = 0;
    out[0] = '\0';
    for (i = 0; i < thread.fold.count && n + 40 < sizeof out; i++) {
        const phi__item *item = &thread.fold.items[i];
        n += (size_t)snprintf(out + n, sizeof out - n,
                              (item->flags & PHI_ITEM_SYNTHETIC) != 0 ? "%s[%u-%u]" : "%s%u",
                              i > 0 ? " " : "", (unsigned)item->from, (unsigned)item->to);
    }
    return out;
}

static void five(void) {
    int i;
    setup();
    for (i = 0; i < 5; i++) message("");
}

TEST(what_was_under_a_revoked_rewrite_can_be_revoked_again) {
    five();
    rewrite("", 1, 1, ""); /* 5 */
    rewrite("", 3, 3, ""); /* 6 */
    rewrite("", 0, 3, ""); /* 7, over both */
    revoke(7);
    revoke(6);
    CHECK_EQ_INT(read_it(), PHI_OK);
    CHECK_EQ_STR(shown(), "0 [1-1] 2 3 4");
    done();
    five();
    rewrite("", 1, 1, "");
    rewrite("", 0, 3, "");
    revoke(5);
    CHECK_EQ_INT(read_it(), PHI_PARSE);
    CHECK_EQ_STR(words, "line 9: rewrite: the later rewrite \"r6\" touches it");
    done();
}

TEST(spans_that_overlap_in_part_are_known_to_touch) {
    five();
    drop(1, 3);            /* 5 */
    rewrite("", 2, 2, ""); /* 6, in its midst */
    revoke(5);
    CHECK_EQ_INT(read_it(), PHI_PARSE);
    CHECK_EQ_STR(words, "line 9: rewrite: the later rewrite \"r6\" touches it");
    done();
    five();
    drop(1, 3);
    rewrite("", 2, 2, "");
    revoke(6);
    revoke(5);
    rewrite("", 2, 3, "");
    CHECK_EQ_INT(read_it(), PHI_OK);
    CHECK_EQ_STR(shown(), "0 1 [2-3] 4");
    done();
}

TEST(a_span_in_front_of_others_leaves_them_known) {
    five();
    rewrite("", 3, 3, ""); /* 5 */
    rewrite("", 1, 1, ""); /* 6, in front of it */
    rewrite("", 3, 4, ""); /* 7, over the first */
    revoke(5);
    CHECK_EQ_INT(read_it(), PHI_PARSE);
    CHECK_EQ_STR(words, "line 10: rewrite: the later rewrite \"r7\" touches it");
    done();
    five();
    rewrite("", 3, 3, "");
    rewrite("", 1, 1, "");
    rewrite("", 3, 4, "");
    revoke(7);
    revoke(5);
    CHECK_EQ_INT(read_it(), PHI_OK);
    CHECK_EQ_STR(shown(), "0 [1-1] 2 3 4");
    done();
}

TEST(a_cut_through_what_a_rewrite_made_is_refused_when_it_is_read) {
    five();
    rewrite("", 1, 3, "");
    rewrite("", 3, 4, "");
    CHECK_EQ_INT(read_it(), PHI_PARSE);
    CHECK_EQ_STR(words, "line 8: rewrite: spans[0] cuts what stands for entries 1 to 3");
    done();
    five();
    rewrite("", 1, 3, "");
    revoke(5);
    revoke(5);
    CHECK_EQ_INT(read_it(), PHI_PARSE);
    CHECK_EQ_STR(words, "line 9: rewrite: no rewrite \"r5\" of this lane to revoke");
    done();
}

/* The summary stands in front of what is durable, and has what follows that in it, too. */
TEST(a_cut_behind_what_a_compaction_left_standing_is_refused_when_it_is_read) {
    setup();
    message("");
    message("");
    durable();
    message("");
    message("");
    put("{\"seq\":5,\"kind\":\"rewrite\",\"op_id\":\"r5\",\"reason\":\"compaction\",\"base_seq\":4,"
        "\"spans\":[{\"from\":1,\"to\":3,\"messages\":[{\"message\":{\"role\":\"user\","
        "\"content\":[{\"type\":\"text\",\"text\":\"so\"}]}}]}]}\n");
    seq = 6;
    CHECK_EQ_INT(read_it(), PHI_OK);
    CHECK_EQ_STR(shown(), "0 [1-3] 2 4");
    phi__journal_free_thread(&thread);
    rewrite("", 3, 4, "");
    CHECK_EQ_INT(read_it(), PHI_PARSE);
    CHECK_EQ_STR(words, "line 8: rewrite: spans[0] cuts what stands for entries 1 to 3");
    done();
}

/* The call was out of view when the compaction took its result. It is durable: where it is back, so
   is the result, which a durable call keeps. */
TEST(a_durable_call_that_comes_back_has_its_result_again) {
    setup();
    message("");
    put("{\"seq\":1,\"kind\":\"message\",\"durable\":true,\"message\":{\"role\":\"assistant\","
        "\"content\":"
        "[{\"type\":\"toolCall\",\"id\":\"a\",\"name\":\"ls\",\"arguments\":{}}],\"stopReason\":"
        "\"toolUse\"}}\n");
    seq = 2;
    drop(1, 1);
    put("{\"seq\":3,\"kind\":\"message\",\"message\":{\"role\":\"toolResult\",\"toolCallId\":\"a\","
        "\"toolName\":\"ls\",\"isError\":false,\"content\":[{\"type\":\"text\",\"text\":\"two\"}]}}"
        "\n");
    seq = 4;
    message("");
    put("{\"seq\":5,\"kind\":\"rewrite\",\"op_id\":\"r5\",\"reason\":\"compaction\",\"base_seq\":4,"
        "\"spans\":[{\"from\":3,\"to\":4,\"messages\":[]}]}\n");
    seq = 6;
    CHECK_EQ_INT(read_it(), PHI_OK);
    CHECK_EQ_STR(words, "");
    CHECK_EQ_STR(shown(), "0");
    phi__journal_free_thread(&thread);
    revoke(2);
    CHECK_EQ_INT(read_it(), PHI_OK);
    CHECK_EQ_STR(words, "");
    CHECK_EQ_STR(shown(), "0 1 3");
    done();
}

TEST(a_rewrite_of_a_lane_that_was_left_is_in_its_view) {
    setup();
    side();
    put("{\"seq\":2,\"kind\":\"switch\",\"lane\":\"side\"}\n");
    seq = 3;
    message(lane_of(1));
    rewrite("", 0, 0, ""); /* of the default one */
    rewrite(lane_of(1), 0, 3, "");
    put("{\"seq\":%u,\"kind\":\"switch\"}\n", seq++);
    message("");
    CHECK_EQ_INT(read_it(), PHI_OK);
    CHECK_EQ_STR(shown(), "[0-0] 7");
    CHECK_EQ_INT(thread.messages.count, 2);
    done();
}

TEST(reading_survives_every_failed_allocation) {
    void (*const fills[])(unsigned) = {rewrites, attempts, switches, switches_of_rewrites,
                                       lanes,    summaries};
    size_t i;
    int n;
    for (i = 0; i < PHI__COUNT(fills); i++)
        for (n = 0; n < 500; n++) {
            phi_status status;
            setup();
            fills[i](6);
            test_alloc_fail_at(n);
            status = read_it();
            CHECK_EQ_INT(status, test_alloc_tripped() ? PHI_NO_MEMORY : PHI_OK);
            test_alloc_fail_at(-1);
            done();
            if (status == PHI_OK) break;
        }
}

TEST_MAIN(TEST_ENTRY(rewrites_and_what_revokes_them_are_read_at_the_cost_of_each),
          TEST_ENTRY(rewrites_that_are_revoked_one_by_one_are_read_at_the_cost_of_each),
          TEST_ENTRY(switches_are_read_at_the_cost_of_each),
          TEST_ENTRY(rewrites_that_switch_are_read_at_the_cost_of_each),
          TEST_ENTRY(lanes_are_read_at_the_cost_of_each),
          TEST_ENTRY(summaries_over_summaries_are_read_at_the_cost_of_each),
          TEST_ENTRY(what_was_under_a_revoked_rewrite_can_be_revoked_again),
          TEST_ENTRY(spans_that_overlap_in_part_are_known_to_touch),
          TEST_ENTRY(a_span_in_front_of_others_leaves_them_known),
          TEST_ENTRY(a_cut_through_what_a_rewrite_made_is_refused_when_it_is_read),
          TEST_ENTRY(a_cut_behind_what_a_compaction_left_standing_is_refused_when_it_is_read),
          TEST_ENTRY(a_durable_call_that_comes_back_has_its_result_again),
          TEST_ENTRY(a_rewrite_of_a_lane_that_was_left_is_in_its_view),
          TEST_ENTRY(reading_survives_every_failed_allocation))
