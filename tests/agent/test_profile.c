/* test_profile.c - system prompts made of blocks. */
#include "agent/profile.h"
#include "support/test.h"

static phi_memory memory;
static phi_arena arena;

static void begin(void) {
    phi_allocator allocator = test_allocator();
    phi_memory_init(&memory, &allocator, 0);
    phi_arena_init(&arena, &memory, 0);
}

static void end(void) { phi_arena_free(&arena); }

static void check_prompt(const phi_prompt_slot *slots, size_t slot_count,
                         const phi_prompt_block *blocks, size_t block_count, const char *want) {
    phi_str out;
    begin();
    CHECK_EQ_INT(phi_prompt_compose(slots, slot_count, blocks, block_count, &arena, &out), PHI_OK);
    CHECK_STR(out, want);
    CHECK_EQ_INT(out.at[out.len], '\0');
    end();
}

TEST(blocks_stand_in_the_order_of_their_slots_with_a_blank_line_between) {
    static const phi_prompt_slot slots[] = {{"c", 7, 0}, {"a", -1, 0}, {"b", 3, 0}};
    static const phi_prompt_block blocks[] = {{"b", "BRAVO"}, {"c", "CHARLIE"}, {"a", "ALPHA"}};
    check_prompt(slots, 3, blocks, 3, "ALPHA\n\nBRAVO\n\nCHARLIE");
}

TEST(slots_of_one_order_stand_as_they_are_listed) {
    static const phi_prompt_slot slots[] = {{"z", 1, 0}, {"y", 0, 0}, {"x", 1, 0}, {"w", 0, 0}};
    static const phi_prompt_block blocks[] = {{"w", "W"}, {"x", "X"}, {"y", "Y"}, {"z", "Z"}};
    check_prompt(slots, 4, blocks, 4, "Y\n\nW\n\nZ\n\nX");
}

TEST(what_has_no_slot_or_no_block_or_no_text_is_left_out) {
    static const phi_prompt_slot slots[] = {{"a", 0, 0}, {"b", 1, 0}, {"c", 2, 0}, {"d", 3, 0}};
    static const phi_prompt_block blocks[] = {
        {"other", "O"}, {"d", "D"}, {"c", ""}, {"b", NULL}, {"a", "A"}};
    check_prompt(slots, 4, blocks, 5, "A\n\nD");
    check_prompt(slots, 4, blocks, 1, "");
    check_prompt(slots, 4, NULL, 0, "");
    check_prompt(NULL, 0, blocks, 5, "");
}

TEST(of_two_blocks_with_one_name_the_last_counts) {
    static const phi_prompt_slot slots[] = {{"a", 0, 0}};
    static const phi_prompt_block blocks[] = {{"a", "first"}, {"a", "second"}};
    static const phi_prompt_block emptied[] = {{"a", "first"}, {"a", ""}};
    check_prompt(slots, 1, blocks, 2, "second");
    check_prompt(slots, 1, emptied, 2, "");
}

TEST(a_block_is_cut_after_so_many_characters_and_never_inside_of_one) {
    static const phi_prompt_slot slots[] = {{"a", 0, 3}};
    static const struct {
        const char *text, *want;
    } rows[] = {{"abc", "abc"},
                {"abcd", "abc"},
                {"ab", "ab"},
                {"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80z", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"},
                {"\xf0\x9f\x98\x80\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80\xf0\x9f\x98\x80"},
                {"a\xc3\xa4\xc3\xa4\xc3\xa4", "a\xc3\xa4\xc3\xa4"},
                {"\x80\x80\x80\x80", "\x80\x80\x80"}, /* no UTF-8: each byte is one */
                {"ab\xe2\x82", "ab\xe2\x82"}};        /* what becomes one U+FFFD is one character */
    size_t i;
    for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        phi_prompt_block block;
        block.name = "a";
        block.text = rows[i].text;
        check_prompt(slots, 1, &block, 1, rows[i].want);
    }
}

TEST(the_usual_slots_are_those_of_the_book) {
    static const struct {
        const char *name;
        size_t max_length;
    } agent[] = {{"identity", 500}, {"instructions", 2000}, {"tools", 1000}, {"constraints", 500}},
      minimal[] = {{"identity", 1000}, {"task", 3000}};
    const phi_prompt_slot *slots;
    size_t i, count;
    slots = phi_prompt_slots_agent(&count);
    if (!CHECK_EQ_INT(count, 4)) return;
    for (i = 0; i < count; i++) {
        CHECK_EQ_STR(slots[i].name, agent[i].name);
        CHECK_EQ_INT(slots[i].max_length, agent[i].max_length);
        CHECK(i == 0 || slots[i].order > slots[i - 1].order);
    }
    slots = phi_prompt_slots_minimal(&count);
    if (!CHECK_EQ_INT(count, 2)) return;
    for (i = 0; i < count; i++) {
        CHECK_EQ_STR(slots[i].name, minimal[i].name);
        CHECK_EQ_INT(slots[i].max_length, minimal[i].max_length);
    }
}

TEST(arguments_that_are_missing_are_refused) {
    static const phi_prompt_slot slot = {"a", 0, 0}, nameless_slot = {NULL, 0, 0};
    static const phi_prompt_block block = {"a", "A"}, nameless = {NULL, "A"};
    phi_str out;
    begin();
    CHECK_EQ_INT(phi_prompt_compose(&slot, 1, &block, 1, &arena, NULL), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_prompt_compose(&slot, 1, &block, 1, NULL, &out), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_prompt_compose(NULL, 1, &block, 1, &arena, &out), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_prompt_compose(&slot, 1, NULL, 1, &arena, &out), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_prompt_compose(&nameless_slot, 1, &block, 1, &arena, &out), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_prompt_compose(&slot, 1, &nameless, 1, &arena, &out), PHI_BAD_ARG);
    CHECK_EQ_INT(out.len, 0);
    end();
}

TEST(composing_survives_every_failed_allocation) {
    static const phi_prompt_slot slots[] = {{"a", 0, 0}, {"b", 1, 0}};
    static const phi_prompt_block blocks[] = {{"a", "ALPHA"}, {"b", "BRAVO"}};
    phi_status status;
    int n = 0;
    do {
        phi_str out;
        begin();
        test_alloc_fail_at(n++);
        status = phi_prompt_compose(slots, 2, blocks, 2, &arena, &out);
        CHECK_EQ_INT(status, test_alloc_tripped() ? PHI_NO_MEMORY : PHI_OK);
        CHECK_STR(out, status == PHI_OK ? "ALPHA\n\nBRAVO" : "");
        test_alloc_fail_at(-1);
        end();
    } while (status != PHI_OK && n < 20);
    CHECK_EQ_INT(status, PHI_OK);
}

TEST_MAIN(TEST_ENTRY(blocks_stand_in_the_order_of_their_slots_with_a_blank_line_between),
          TEST_ENTRY(slots_of_one_order_stand_as_they_are_listed),
          TEST_ENTRY(what_has_no_slot_or_no_block_or_no_text_is_left_out),
          TEST_ENTRY(of_two_blocks_with_one_name_the_last_counts),
          TEST_ENTRY(a_block_is_cut_after_so_many_characters_and_never_inside_of_one),
          TEST_ENTRY(the_usual_slots_are_those_of_the_book),
          TEST_ENTRY(arguments_that_are_missing_are_refused),
          TEST_ENTRY(composing_survives_every_failed_allocation))
