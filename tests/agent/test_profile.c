/* test_profile.c - system prompts made of blocks, and profiles that fill what a desc leaves
   unset. */
#include "support/ask.h"
#include "support/heard.h"
#include "agent/profile.h"
#include "base/arena.h"
#include "agent/agent_in.h"

static phi_memory memory;

static phi_arena arena;

static void begin(void) {
    phi_allocator allocator = test_allocator();
    phi_memory_init(&memory, &allocator, 0);
    phi_arena_init(&arena, &memory, 0);
}

static void end(void) { phi_arena_free(&arena); }

static void check_prompt(const phi__profile_slot *slots, size_t slot_count,
                         const phi__profile_block *blocks, size_t block_count, const char *want) {
    phi_str out;
    begin();
    CHECK_EQ_INT(phi__profile_compose(slots, slot_count, blocks, block_count, &arena, &out),
                 PHI_OK);
    CHECK_STR(out, want);
    CHECK_EQ_INT(out.at[out.len], '\0');
    end();
}

TEST(blocks_stand_in_the_order_of_their_slots_with_a_blank_line_between) {
    static const phi__profile_slot slots[] = {{"c", 7, 0}, {"a", -1, 0}, {"b", 3, 0}};
    static const phi__profile_block blocks[] = {{"b", "BRAVO"}, {"c", "CHARLIE"}, {"a", "ALPHA"}};
    check_prompt(slots, 3, blocks, 3, "ALPHA\n\nBRAVO\n\nCHARLIE");
}

TEST(slots_of_one_order_stand_as_they_are_listed) {
    static const phi__profile_slot slots[] = {{"z", 1, 0}, {"y", 0, 0}, {"x", 1, 0}, {"w", 0, 0}};
    static const phi__profile_block blocks[] = {{"w", "W"}, {"x", "X"}, {"y", "Y"}, {"z", "Z"}};
    check_prompt(slots, 4, blocks, 4, "Y\n\nW\n\nZ\n\nX");
}

TEST(what_has_no_slot_or_no_block_or_no_text_is_left_out) {
    static const phi__profile_slot slots[] = {{"a", 0, 0}, {"b", 1, 0}, {"c", 2, 0}, {"d", 3, 0}};
    static const phi__profile_block blocks[] = {
        {"other", "O"}, {"d", "D"}, {"c", ""}, {"b", NULL}, {"a", "A"}};
    check_prompt(slots, 4, blocks, 5, "A\n\nD");
    check_prompt(slots, 4, blocks, 1, "");
    check_prompt(slots, 4, NULL, 0, "");
    check_prompt(NULL, 0, blocks, 5, "");
}

TEST(of_two_blocks_with_one_name_the_last_counts) {
    static const phi__profile_slot slots[] = {{"a", 0, 0}};
    static const phi__profile_block blocks[] = {{"a", "first"}, {"a", "second"}};
    static const phi__profile_block emptied[] = {{"a", "first"}, {"a", ""}};
    check_prompt(slots, 1, blocks, 2, "second");
    check_prompt(slots, 1, emptied, 2, "");
}

TEST(a_block_is_cut_after_so_many_characters_and_never_inside_of_one) {
    static const phi__profile_slot slots[] = {{"a", 0, 3}};
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
        phi__profile_block block;
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
    const phi__profile_slot *slots;
    size_t i, count;
    slots = phi__profile_slots_agent(&count);
    if (!CHECK_EQ_INT(count, 4)) return;
    for (i = 0; i < count; i++) {
        CHECK_EQ_STR(slots[i].name, agent[i].name);
        CHECK_EQ_INT(slots[i].max_length, agent[i].max_length);
        CHECK(i == 0 || slots[i].order > slots[i - 1].order);
    }
    slots = phi__profile_slots_minimal(&count);
    if (!CHECK_EQ_INT(count, 2)) return;
    for (i = 0; i < count; i++) {
        CHECK_EQ_STR(slots[i].name, minimal[i].name);
        CHECK_EQ_INT(slots[i].max_length, minimal[i].max_length);
    }
}

TEST(arguments_that_are_missing_are_refused) {
    static const phi__profile_slot slot = {"a", 0, 0}, nameless_slot = {NULL, 0, 0};
    static const phi__profile_block block = {"a", "A"}, nameless = {NULL, "A"};
    phi_str out;
    begin();
    CHECK_EQ_INT(phi__profile_compose(&slot, 1, &block, 1, &arena, NULL), PHI_BAD_ARG);
    CHECK_EQ_INT(phi__profile_compose(&slot, 1, &block, 1, NULL, &out), PHI_BAD_ARG);
    CHECK_EQ_INT(phi__profile_compose(NULL, 1, &block, 1, &arena, &out), PHI_BAD_ARG);
    CHECK_EQ_INT(phi__profile_compose(&slot, 1, NULL, 1, &arena, &out), PHI_BAD_ARG);
    CHECK_EQ_INT(phi__profile_compose(&nameless_slot, 1, &block, 1, &arena, &out), PHI_BAD_ARG);
    CHECK_EQ_INT(phi__profile_compose(&slot, 1, &nameless, 1, &arena, &out), PHI_BAD_ARG);
    CHECK_EQ_INT(out.len, 0);
    end();
}

TEST(composing_survives_every_failed_allocation) {
    static const phi__profile_slot slots[] = {{"a", 0, 0}, {"b", 1, 0}};
    static const phi__profile_block blocks[] = {{"a", "ALPHA"}, {"b", "BRAVO"}};
    phi_status status;
    int n = 0;
    do {
        phi_str out;
        begin();
        test_alloc_fail_at(n++);
        status = phi__profile_compose(slots, 2, blocks, 2, &arena, &out);
        CHECK_EQ_INT(status, test_alloc_tripped() ? PHI_NO_MEMORY : PHI_OK);
        CHECK_STR(out, status == PHI_OK ? "ALPHA\n\nBRAVO" : "");
        test_alloc_fail_at(-1);
        end();
    } while (status != PHI_OK && n < 20);
    CHECK_EQ_INT(status, PHI_OK);
}

TEST(a_profile_fills_only_what_is_unset) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc(), got;
    phi_profile profile;
    phi_agent agent;
    heard h;
    memset(&profile, 0, sizeof profile);
    heard_begin(&h, r);
    profile.system_prompt = "You are the smith.";
    profile.thinking = PHI_THINKING_LOW;
    profile.max_tokens = 777;
    profile.has_temperature = true;
    profile.temperature = 0.25;
    profile.config_id = "smith";
    profile.workspace = "forge";
    desc.profile = &profile;
    agent = rig_agent(r, &desc);
    CHECK_EQ_INT(phi_agent_get_desc(agent, &got), PHI_OK);
    CHECK_EQ_STR(got.system_prompt, "You are the smith.");
    CHECK_EQ_INT(got.thinking, PHI_THINKING_LOW);
    CHECK_EQ_INT(got.max_tokens, 777);
    CHECK(got.options.has_temperature && near_to(got.options.temperature, 0.25));
    CHECK_EQ_STR(got.ids.config_id, "smith");
    CHECK_EQ_STR(got.workspace, "forge");
    rig_says(r, "a");
    ask(r, agent, "Hi");
    CHECK(strstr(rig_request(r, 0), "You are the smith.") != NULL);
    CHECK_EQ_STR(h.loop_id, "session.smith.1");
    desc.system_prompt = "You are the cook.";
    desc.thinking = PHI_THINKING_HIGH;
    desc.max_tokens = 99;
    desc.options.has_temperature = true;
    desc.options.temperature = 0.0;
    desc.ids.config_id = "cook";
    desc.workspace = "kitchen";
    agent = rig_agent(r, &desc);
    CHECK_EQ_INT(phi_agent_get_desc(agent, &got), PHI_OK);
    CHECK_EQ_STR(got.system_prompt, "You are the cook.");
    CHECK_EQ_INT(got.thinking, PHI_THINKING_HIGH);
    CHECK_EQ_INT(got.max_tokens, 99);
    CHECK(got.options.has_temperature && near_to(got.options.temperature, 0.0));
    CHECK_EQ_STR(got.ids.config_id, "cook");
    CHECK_EQ_STR(got.workspace, "kitchen");
    rig_free(r);
}

TEST(a_profile_has_a_uuid_by_default_and_gives_back_every_field) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_profile profile;
    const phi_profile *got;
    phi_agent agent;
    static const char *const skills[] = {"forging", "haggling"};
    char scratch[16] = "Brokk";
    memset(&profile, 0, sizeof profile);
    CHECK(phi__make_profile(rig_agent(r, NULL)) == NULL);
    desc.profile = &profile;
    agent = rig_agent(r, &desc);
    got = phi__make_profile(agent);
    REQUIRE(got != NULL);
    CHECK_EQ_INT(strlen(got->profile_id), 36);
    CHECK_EQ_INT(got->profile_id[14], '4'); /* version 4 */
    profile.profile_id = "p-1";
    profile.name = scratch;
    profile.description = "A smith";
    profile.system_prompt = "Be gruff.";
    profile.thinking = PHI_THINKING_MEDIUM;
    profile.max_tokens = 100;
    profile.has_temperature = true;
    profile.temperature = 0.5;
    profile.config_id = "smith";
    profile.workspace = "forge";
    profile.skills = skills;
    profile.skill_count = 2;
    agent = rig_agent(r, &desc);
    memset(scratch, 'x', 5); /* it was copied */
    got = phi__make_profile(agent);
    REQUIRE(got != NULL);
    CHECK_EQ_STR(got->profile_id, "p-1");
    CHECK_EQ_STR(got->name, "Brokk");
    CHECK_EQ_STR(got->description, "A smith");
    CHECK_EQ_STR(got->system_prompt, "Be gruff.");
    CHECK_EQ_INT(got->thinking, PHI_THINKING_MEDIUM);
    CHECK_EQ_INT(got->max_tokens, 100);
    CHECK(got->has_temperature && near_to(got->temperature, 0.5));
    CHECK_EQ_STR(got->config_id, "smith");
    CHECK_EQ_STR(got->workspace, "forge");
    REQUIRE(got->skill_count == 2);
    CHECK_EQ_STR(got->skills[0], "forging");
    CHECK_EQ_STR(got->skills[1], "haggling");
    rig_free(r);
}

TEST_MAIN(TEST_ENTRY(blocks_stand_in_the_order_of_their_slots_with_a_blank_line_between),
          TEST_ENTRY(slots_of_one_order_stand_as_they_are_listed),
          TEST_ENTRY(what_has_no_slot_or_no_block_or_no_text_is_left_out),
          TEST_ENTRY(of_two_blocks_with_one_name_the_last_counts),
          TEST_ENTRY(a_block_is_cut_after_so_many_characters_and_never_inside_of_one),
          TEST_ENTRY(the_usual_slots_are_those_of_the_book),
          TEST_ENTRY(arguments_that_are_missing_are_refused),
          TEST_ENTRY(composing_survives_every_failed_allocation),
          TEST_ENTRY(a_profile_fills_only_what_is_unset),
          TEST_ENTRY(a_profile_has_a_uuid_by_default_and_gives_back_every_field))
