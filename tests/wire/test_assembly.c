/* test_assembly.c - how blocks grow, what is always true of their bytes, and what the end says. */
#include "wire/wire_support.h"

static phi_memory memory;
static phi__assembly a;
static char heard[4096];

static void sink(void *ctx, phi__assembly *from_a, phi__part part, size_t block, size_t from) {
    size_t n = strlen(heard);
    (void)ctx;
    if (part == PHI__PART_START)
        snprintf(heard + n, sizeof heard - n, "start ");
    else if (part == PHI__PART_BLOCK)
        snprintf(heard + n, sizeof heard - n, "block%zu ", block);
    else if (part == PHI__PART_BLOCK_END)
        snprintf(heard + n, sizeof heard - n, "end%zu ", block);
    else
        snprintf(heard + n, sizeof heard - n, "%zu(%.*s) ", block,
                 (int)(from_a->drafts[block].bytes.len - from),
                 from_a->drafts[block].bytes.at + from);
}

static void begin(void) {
    phi_allocator allocator = test_allocator();
    phi_memory_init(&memory, &allocator, 0);
    phi__assembly_init(&a, &memory);
    a.sink = sink;
    heard[0] = '\0';
}

static void end(void) {
    phi__assembly_free(&a);
    phi__assembly_free(&a);
}

static void add_json(size_t block, const char *raw) {
    phi__assembly_add_json(&a, block, phi_str_of(raw), strchr(raw, '\\') != NULL);
}

static phi_str bytes(size_t block) { return phi__buf_str(&a.drafts[block].bytes); }

TEST(the_sink_hears_every_part_in_order) {
    size_t block;
    begin();
    block = phi__assembly_open(&a, PHI_CONTENT_TEXT, 0);
    add_json(block, "Hel");
    add_json(block, "lo\\n");
    add_json(block, "");
    phi__assembly_close(&a, block);
    phi__assembly_close(&a, block);
    phi__assembly_start(&a);
    CHECK_EQ_STR(heard, "start block0 0(Hel) 0(lo\n) end0 ");
    end();
}

TEST(a_surrogate_pair_may_be_cut_between_two_deltas) {
    size_t block;
    begin();
    block = phi__assembly_open(&a, PHI_CONTENT_TEXT, 0);
    add_json(block, "a\\ud83d");
    CHECK_STR(bytes(block), "a");
    add_json(block, "\\ude00b");
    CHECK_STR(bytes(block), "a\xF0\x9F\x98\x80"
                            "b");
    CHECK_EQ_STR(heard, "start block0 0(a) 0(\xF0\x9F\x98\x80"
                        "b) ");
    end();
}

TEST(half_a_pair_without_the_other_half_becomes_a_replacement) {
    size_t block;
    begin();
    block = phi__assembly_open(&a, PHI_CONTENT_TEXT, 0);
    add_json(block, "a\\ud83d");
    add_json(block, "b");
    add_json(block, "c\\uD83D");
    add_json(block, "\\ud83d");
    add_json(block, "\\u0041");
    add_json(block, "\\udc00");
    add_json(block, "z\\ud83d");
    phi__assembly_close(&a, block);
    CHECK_STR(bytes(block), "a\xEF\xBF\xBD"
                            "bc\xEF\xBF\xBD\xEF\xBF\xBD"
                            "A\xEF\xBF\xBDz\xEF\xBF\xBD");
    end();
}

TEST(an_escaped_backslash_before_a_u_is_no_surrogate) {
    size_t block;
    begin();
    block = phi__assembly_open(&a, PHI_CONTENT_TEXT, 0);
    add_json(block, "\\\\ud83d");
    CHECK_STR(bytes(block), "\\ud83d");
    add_json(block, "\\\\\\ud83d");
    add_json(block, "\\ude00");
    CHECK_STR(bytes(block), "\\ud83d\\\xF0\x9F\x98\x80");
    end();
}

TEST(a_utf8_sequence_may_be_cut_between_two_deltas) {
    static const char smile[] = "\xF0\x9F\x98\x80";
    size_t cut, block;
    for (cut = 1; cut < 4; cut++) {
        begin();
        block = phi__assembly_open(&a, PHI_CONTENT_TEXT, 0);
        phi__assembly_add_json(&a, block, phi__str(smile, cut), false);
        CHECK_EQ_INT(bytes(block).len, 0);
        phi__assembly_add_json(&a, block, phi__str(smile + cut, 4 - cut), false);
        CHECK_STR(bytes(block), smile);
        end();
        begin();
        block = phi__assembly_open(&a, PHI_CONTENT_TEXT, 0);
        phi__assembly_add(&a, block, phi__str(smile, cut));
        phi__assembly_add(&a, block, phi__str(smile + cut, 4 - cut));
        CHECK_STR(bytes(block), smile);
        end();
    }
    begin();
    block = phi__assembly_open(&a, PHI_CONTENT_TEXT, 0);
    for (cut = 0; cut < 4; cut++)
        phi__assembly_add_json(&a, block, phi__str(smile + cut, 1), false);
    CHECK_STR(bytes(block), smile);
    end();
}

TEST(garbage_bytes_become_replacements) {
    size_t block;
    begin();
    block = phi__assembly_open(&a, PHI_CONTENT_TEXT, 0);
    add_json(block, "a\xFF"
                    "b\xC3");
    add_json(block, "x\xE2\x82");
    phi__assembly_close(&a, block);
    CHECK_STR(bytes(block), "a\xEF\xBF\xBD"
                            "b\xEF\xBF\xBDx\xEF\xBF\xBD");
    CHECK_EQ_INT(phi__str_find(bytes(block), 0, "\xFF"), SIZE_MAX);
    end();
}

TEST(protocols_without_block_starts_get_a_block_where_the_kind_changes) {
    size_t thinking, text;
    begin();
    thinking = phi__assembly_current(&a, PHI_CONTENT_THINKING);
    CHECK_EQ_INT(phi__assembly_current(&a, PHI_CONTENT_THINKING), thinking);
    text = phi__assembly_current(&a, PHI_CONTENT_TEXT);
    CHECK_EQ_INT(text, 1);
    CHECK(!a.drafts[thinking].open);
    CHECK_EQ_INT(phi__assembly_current(&a, PHI_CONTENT_THINKING), 2);
    CHECK_EQ_INT(phi__assembly_find(&a, 5), SIZE_MAX);
    end();
}

TEST(finished_calls_make_a_normal_stop_a_tool_use) {
    size_t block;
    begin();
    block = phi__assembly_open(&a, PHI_CONTENT_TOOL_CALL, 0);
    phi__assembly_set(&a, &a.drafts[block].id, phi_str_of("c1"));
    phi__assembly_close(&a, block);
    a.stop_reason = PHI_STOP_REASON_STOP;
    a.usage.input = 1;
    a.usage.cache_read = 20;
    phi__assembly_finish(&a);
    CHECK_EQ_INT(a.stop_reason, PHI_STOP_REASON_TOOL_USE);
    CHECK_STR(bytes(block), "{}");
    CHECK_EQ_INT(a.usage.total_tokens, 21);
    end();
}

TEST(a_tool_use_without_calls_is_a_stop) {
    begin();
    a.stop_reason = PHI_STOP_REASON_TOOL_USE;
    phi__assembly_finish(&a);
    CHECK_EQ_INT(a.stop_reason, PHI_STOP_REASON_STOP);
    end();
}

TEST(a_call_that_is_still_open_or_was_cut_by_a_limit_is_incomplete) {
    size_t open, cut, whole, text;
    begin();
    cut = phi__assembly_open(&a, PHI_CONTENT_TOOL_CALL, 0);
    add_json(cut, "{\\\"a\\\":");
    phi__assembly_close(&a, cut);
    whole = phi__assembly_open(&a, PHI_CONTENT_TOOL_CALL, 1);
    add_json(whole, "{\\\"a\\\":1}");
    phi__assembly_close(&a, whole);
    open = phi__assembly_open(&a, PHI_CONTENT_TOOL_CALL, 2);
    add_json(open, "{}");
    text = phi__assembly_open(&a, PHI_CONTENT_TEXT, 3);
    a.stop_reason = PHI_STOP_REASON_LENGTH;
    phi__assembly_finish(&a);
    CHECK(a.drafts[cut].incomplete);
    CHECK(!a.drafts[whole].incomplete);
    CHECK(a.drafts[open].incomplete);
    CHECK(!a.drafts[text].incomplete);
    CHECK_EQ_INT(a.stop_reason, PHI_STOP_REASON_LENGTH);
    end();
}

TEST(calls_without_an_id_or_with_a_taken_one_get_their_own) {
    static const char *const ids[] = {"", "c1", "c1", "null"};
    phi__assembly other;
    size_t i, j;
    begin();
    a.id_salt = 1;
    for (i = 0; i < 4; i++) {
        size_t block = phi__assembly_open(&a, PHI_CONTENT_TOOL_CALL, (int64_t)i);
        phi__assembly_set(&a, &a.drafts[block].id, phi_str_of(ids[i]));
        phi__assembly_close(&a, block);
    }
    phi__assembly_finish(&a);
    CHECK_STR(phi__buf_str(&a.drafts[1].id), "c1");
    for (i = 0; i < 4; i++)
        for (j = 0; j < i; j++)
            CHECK(!phi_str_equal(phi__buf_str(&a.drafts[i].id), phi__buf_str(&a.drafts[j].id)));
    CHECK(phi__str_starts(phi__buf_str(&a.drafts[0].id), "call_"));
    CHECK_EQ_INT(a.drafts[0].id.len, 21);
    /* another turn of the session, with another salt */
    phi__assembly_init(&other, &memory);
    other.id_salt = 2;
    (void)phi__assembly_open(&other, PHI_CONTENT_TOOL_CALL, 0);
    phi__assembly_finish(&other);
    CHECK(!phi_str_equal(phi__buf_str(&a.drafts[0].id), phi__buf_str(&other.drafts[0].id)));
    phi__assembly_free(&other);
    end();
}

TEST(the_first_failure_stays) {
    begin();
    phi__assembly_fail(&a, PHI_FAILURE_SERVER, true, phi_str_of("one"), phi_str_of("first"));
    phi__assembly_fail(&a, PHI_FAILURE_AUTH, false, phi_str_of("two"), phi_str_of("second"));
    CHECK_EQ_INT(a.failure.kind, PHI_FAILURE_SERVER);
    CHECK_STR(a.failure.code, "one");
    CHECK_STR(a.failure.message, "first");
    CHECK_EQ_INT(a.stop_reason, PHI_STOP_REASON_ERROR);
    end();
    begin();
    phi__assembly_fail(&a, PHI_FAILURE_CONTENT_FILTER, false, phi_str_of("x"), phi_str_of("y"));
    CHECK_EQ_INT(a.stop_reason, PHI_STOP_REASON_GUARD_RAIL);
    end();
}

TEST(bytes_in_tiny_deltas_cost_by_their_number_and_not_its_square) {
    size_t block, i;
    uint64_t grown = 0;
    const char *at = NULL;
    begin();
    a.sink = NULL;
    block = phi__assembly_open(&a, PHI_CONTENT_TOOL_CALL, 0);
    for (i = 0; i < 100000; i++) {
        add_json(block, "x");
        if (a.drafts[block].bytes.at != at) grown += a.drafts[block].bytes.len;
        at = a.drafts[block].bytes.at;
    }
    CHECK_EQ_INT(bytes(block).len, 100000);
    CHECK(grown < 300000); /* bytes moved: the buffer doubles */
    end();
}

TEST(want_of_memory_is_a_failure_with_words) {
    phi_content content[2];
    phi_message view;
    size_t block;
    begin();
    block = phi__assembly_open(&a, PHI_CONTENT_TEXT, 0);
    add_json(block, "abc");
    test_alloc_fail_from(0);
    for (; !a.no_memory;) add_json(block, "0123456789");
    phi__assembly_finish(&a);
    test_alloc_fail_from(-1);
    CHECK_EQ_INT(a.failure.kind, PHI_FAILURE_NO_MEMORY);
    CHECK_STR(a.failure.message, "the answer does not fit into the memory allowed");
    CHECK_EQ_INT(phi__assembly_open(&a, PHI_CONTENT_TEXT, 1), SIZE_MAX);
    phi__assembly_add(&a, SIZE_MAX, phi_str_of("nothing"));
    phi__assembly_view(&a, content, &view);
    CHECK(phi__str_starts(view.content[0].text, "abc"));
    end();
}

/* Found by a fuzzer: a failure of which nothing is known but that it is one. */
TEST(a_failure_without_any_words_is_a_failure) {
    phi_allocator allocator = test_allocator();
    phi_memory own;
    phi__assembly bare;
    phi_memory_init(&own, &allocator, 0);
    phi__assembly_init(&bare, &own);
    phi__assembly_fail(&bare, PHI_FAILURE_SERVER, true, phi__str(NULL, 0), phi__str(NULL, 0));
    CHECK_EQ_INT(bare.failure.kind, PHI_FAILURE_SERVER);
    CHECK_EQ_INT(bare.failure.message.len, 0);
    CHECK(bare.failure.message.at != NULL);
    phi__assembly_free(&bare);
}

TEST_MAIN(TEST_ENTRY(a_failure_without_any_words_is_a_failure),
          TEST_ENTRY(the_sink_hears_every_part_in_order),
          TEST_ENTRY(a_surrogate_pair_may_be_cut_between_two_deltas),
          TEST_ENTRY(half_a_pair_without_the_other_half_becomes_a_replacement),
          TEST_ENTRY(an_escaped_backslash_before_a_u_is_no_surrogate),
          TEST_ENTRY(a_utf8_sequence_may_be_cut_between_two_deltas),
          TEST_ENTRY(garbage_bytes_become_replacements),
          TEST_ENTRY(protocols_without_block_starts_get_a_block_where_the_kind_changes),
          TEST_ENTRY(finished_calls_make_a_normal_stop_a_tool_use),
          TEST_ENTRY(a_tool_use_without_calls_is_a_stop),
          TEST_ENTRY(a_call_that_is_still_open_or_was_cut_by_a_limit_is_incomplete),
          TEST_ENTRY(calls_without_an_id_or_with_a_taken_one_get_their_own),
          TEST_ENTRY(the_first_failure_stays),
          TEST_ENTRY(bytes_in_tiny_deltas_cost_by_their_number_and_not_its_square),
          TEST_ENTRY(want_of_memory_is_a_failure_with_words))
