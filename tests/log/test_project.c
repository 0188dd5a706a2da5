/* What of a view is sent: the vectors of the documents, the thirteen flaws of the sketch, the policies, and what
   holds for every history. */
#include "support/test.h"

#include "model/tokens.h"
#include "log/thread_in.h"
#include "persist/persist_in.h"

enum { MOST = 256 };

static phi_memory memory;
static phi_arena arena, made_in;
static phi_view_item items[MOST];
static phi_message messages[MOST];
static phi_content blocks[MOST][4];
static size_t count;
static uint64_t next_seq;
static char filler[1 << 16];
static const phi_message *const *out;
static size_t out_count;
static phi_projection_meta meta;
static phi_policy policy;

static void begin(void) {
    phi_allocator a = test_allocator();
    phi_memory_init(&memory, &a, 0);
    phi_arena_init(&arena, &memory, 0);
    phi_arena_init(&made_in, &memory, 0);
    memset(filler, 'x', sizeof filler);
    memset(messages, 0, sizeof messages);
    memset(blocks, 0, sizeof blocks);
    memset(items, 0, sizeof items);
    memset(&policy, 0, sizeof policy);
    count = 0;
    next_seq = 0;
}

static void end(void) {
    phi_arena_free(&arena);
    phi_arena_free(&made_in);
}

/* ---- making a view ---- */

static phi_message *add(phi_role role) {
    phi_message *m = &messages[count];
    m->role = role;
    m->content = blocks[count];
    items[count].message = m;
    items[count].from = items[count].to = next_seq++;
    count++;
    return m;
}

static phi_message *add_block(phi_message *m, phi_content_kind kind, phi_str text) {
    phi_content *c = &blocks[m - messages][m->content_count++];
    c->kind = kind;
    c->text = text;
    items[m - messages].tokens = phi_tokens_of_message(NULL, m);
    return m;
}

static phi_str bytes_of(size_t n) { return phi__str(filler, n); }

static phi_message *says(phi_role role, const char *text) {
    return add_block(add(role), PHI_CONTENT_TEXT, phi_str_of(text));
}

/* tokens, the frame of four included */
static phi_message *user(size_t tokens) {
    return add_block(add(PHI_ROLE_USER), PHI_CONTENT_TEXT, bytes_of((tokens - 4) * 4));
}

static phi_message *answer(size_t tokens) {
    return add_block(add(PHI_ROLE_ASSISTANT), PHI_CONTENT_TEXT, bytes_of((tokens - 4) * 4));
}

/* another call of the answer; 10 tokens with name and arguments of 4 bytes */
static phi_message *and_call(phi_message *m, const char *id) {
    phi_content *c = &blocks[m - messages][m->content_count++];
    c->kind = PHI_CONTENT_TOOL_CALL;
    c->id = phi_str_of(id);
    c->name = phi_str_of("look");
    c->arguments = phi_str_of("{\"\"}");
    items[m - messages].tokens = phi_tokens_of_message(NULL, m);
    return m;
}

/* 14 tokens with one call */
static phi_message *calls(const char *id) { return and_call(add(PHI_ROLE_ASSISTANT), id); }

/* its text is of (tokens - 9) * 4 bytes */
static phi_message *result(const char *id, size_t tokens) {
    phi_message *m = add(PHI_ROLE_TOOL_RESULT);
    m->tool_call_id = phi_str_of(id);
    m->tool_name = phi_str_of("look");
    return add_block(m, PHI_CONTENT_TEXT, bytes_of((tokens - 9) * 4));
}

static void summary(uint64_t from, uint64_t to, size_t tokens) {
    (void)user(tokens);
    items[count - 1].from = from;
    items[count - 1].to = to;
    items[count - 1].flags = PHI_ITEM_SYNTHETIC | PHI_ITEM_SUMMARY;
    next_seq = to + 1;
}

/* ---- looking at what came of it ---- */

static void project_as(const phi_token_counter *counter, const char *prompt, uint64_t tools) {
    CHECK_EQ_INT(phi_project(items, count, &policy, counter, phi_str_of(prompt), tools, &made_in,
                             &out, &out_count, &meta),
                 PHI_OK);
}

/* Items by their place, in order; "+look" a result that was made, "~3" one of item 3 that was cut, "=3" another copy. */
static const char *shape(void) {
    static char text[4000];
    size_t n = 0, i, j;
    text[0] = '\0';
    for (i = 0; i < out_count && n + 40 < sizeof text; i++) {
        const phi_message *m = out[i];
        if (i > 0) text[n++] = ' ';
        for (j = 0; j < count && items[j].message != m; j++) {}
        if (j < count) {
            n += (size_t)snprintf(text + n, sizeof text - n, "%u", (unsigned)j);
            continue;
        }
        for (j = 0; j < count &&
                    !(m->role == PHI_ROLE_TOOL_RESULT && messages[j].role == PHI_ROLE_TOOL_RESULT &&
                      phi_str_equal(m->tool_call_id, messages[j].tool_call_id));
             j++) {}
        if (m->role != PHI_ROLE_TOOL_RESULT)
            n += (size_t)snprintf(text + n, sizeof text - n, "=");
        else if (j < count)
            n += (size_t)snprintf(text + n, sizeof text - n, "~%u", (unsigned)j);
        else
            n += (size_t)snprintf(text + n, sizeof text - n, "+%.*s", (int)m->tool_call_id.len,
                                  m->tool_call_id.at);
    }
    text[n] = '\0';
    return text;
}

static const char *projected(uint64_t budget) {
    policy.max_input_tokens = budget;
    policy.no_reserve = true;
    project_as(NULL, "", 0);
    return shape();
}

static phi_str text_of(const phi_message *m) { return m->content[0].text; }

static phi_status explain(phi_str *words) {
    phi__proj_order order = PHI_ZERO;
    order.items = items;
    order.count = count;
    order.policy = &policy;
    return phi__explain(&order, &made_in, words);
}

static const char *explained(void) {
    static char text[4000];
    phi_str words = {NULL, 0};
    CHECK_EQ_INT(explain(&words), PHI_OK);
    (void)snprintf(text, sizeof text, "%.*s", (int)words.len, words.at);
    return text;
}

/* ---- policies ---- */

TEST(every_field_of_a_policy_has_its_default) {
    phi_policy p = phi_policy_of(PHI_POLICY_DEFAULT, NULL);
    CHECK_EQ_INT(p.max_input_tokens, 8000);
    CHECK_EQ_INT(p.reserve_output_tokens, 2000);
    CHECK_EQ_INT(p.max_messages, 0);
    CHECK_EQ_INT(p.max_turns, 0);
    CHECK_EQ_INT(p.keep_last_turns, 3);
    CHECK_EQ_INT(p.summaries, PHI_SUMMARIES_USE);
    CHECK_EQ_INT(p.summary_role, PHI_ROLE_USER);
    CHECK_EQ_INT(p.include, PHI_INCLUDE_ALL);
}

TEST(the_presets_are_those_of_the_documents) {
    phi_model model = PHI_ZERO;
    phi_policy p = phi_policy_of(PHI_POLICY_SHORT_CONTEXT, NULL);
    CHECK_EQ_INT(p.max_input_tokens, 6000);
    CHECK_EQ_INT(p.keep_last_turns, 2);
    p = phi_policy_of(PHI_POLICY_LONG_CONTEXT, NULL);
    CHECK_EQ_INT(p.max_input_tokens, 100000);
    CHECK_EQ_INT(p.keep_last_turns, 10);
    CHECK_EQ_INT(p.max_messages, 0);
    p = phi_policy_of(PHI_POLICY_TOOL_FOCUSED, NULL);
    CHECK_EQ_INT(p.keep_last_turns, 5);
    CHECK_EQ_INT(p.include, PHI_INCLUDE_MESSAGES | PHI_INCLUDE_TOOLS);
    CHECK_EQ_INT(p.summaries, PHI_SUMMARIES_NONE);
    model.context_window = 200000;
    model.max_tokens = 64000;
    p = phi_policy_of(PHI_POLICY_FOR_MODEL, &model);
    CHECK_EQ_INT(p.max_input_tokens, 200000);
    CHECK_EQ_INT(p.reserve_output_tokens, 64000);
    model.context_window = 8192;
    model.max_tokens = 8192;
    CHECK_EQ_INT(phi_policy_of(PHI_POLICY_FOR_MODEL, &model).reserve_output_tokens, 4096);
    CHECK_EQ_INT(phi_policy_of(PHI_POLICY_FOR_MODEL, NULL).max_input_tokens, 128000);
}

TEST(the_budget_is_what_the_answer_the_prompt_and_the_tools_leave) {
    begin();
    (void)user(10);
    project_as(NULL, "0123456789012345678901234567890123456789", 300);
    CHECK_EQ_INT(meta.system_tokens, 10);
    CHECK_EQ_INT(meta.tools_tokens, 300);
    CHECK_EQ_INT(meta.budget_tokens, 8000 - 2000 - 10 - 300);
    CHECK_EQ_INT(meta.estimated_tokens, 10 + 10 + 300);
    policy.max_input_tokens = 100;
    project_as(NULL, "", 0);
    CHECK_EQ_INT(meta.budget_tokens, 0);
    CHECK(meta.overflow);
    policy.max_input_tokens = PHI_POLICY_UNLIMITED;
    project_as(NULL, "", 0);
    CHECK(meta.budget_tokens == UINT64_MAX && !meta.overflow);
    end();
}

TEST(what_is_no_policy_is_refused) {
    begin();
    policy.include = 8;
    CHECK_EQ_INT(
        phi_project(items, 0, &policy, NULL, phi_str_of(""), 0, &made_in, &out, &out_count, &meta),
        PHI_BAD_ARG);
    policy.include = 0;
    policy.summary_role = PHI_ROLE_TOOL_RESULT;
    CHECK_EQ_INT(
        phi_project(items, 0, &policy, NULL, phi_str_of(""), 0, &made_in, &out, &out_count, &meta),
        PHI_BAD_ARG);
    policy.summary_role = (phi_role)0;
    CHECK_EQ_INT(
        phi_project(NULL, 1, &policy, NULL, phi_str_of(""), 0, &made_in, &out, &out_count, &meta),
        PHI_BAD_ARG);
    CHECK_EQ_INT(
        phi_project(NULL, 0, NULL, NULL, phi_str_of(""), 0, &made_in, &out, &out_count, &meta),
        PHI_OK);
    CHECK_EQ_INT(out_count, 0);
    CHECK(meta.from_seq > meta.to_seq);
    end();
}

/* ---- vectors ---- */

/* "2+2?", "4", "multiply by 3" with one tool round: with the system prompt, the model is called with 2, 4 and 6. */
TEST(the_conversation_of_six_entries_is_sent_as_2_4_and_6_messages) {
    static const size_t at_calls[] = {1, 3, 5};
    size_t i, all;
    begin();
    (void)says(PHI_ROLE_USER, "2+2?");
    (void)says(PHI_ROLE_ASSISTANT, "4");
    (void)says(PHI_ROLE_USER, "multiply by 3");
    (void)calls("c1");
    (void)result("c1", 12);
    (void)says(PHI_ROLE_ASSISTANT, "12");
    all = count;
    CHECK_EQ_INT(all, 6);
    for (i = 0; i < 3; i++) {
        count = at_calls[i];
        project_as(NULL, "You are a calculator.", 0);
        CHECK_EQ_INT(1 + out_count, 2 + 2 * i);
        CHECK_EQ_INT(meta.messages_included, out_count);
        CHECK_EQ_INT(meta.orphans_repaired, 0);
    }
    end();
}

/* ---- the thirteen flaws of the sketch ---- */

TEST(flaw_1_messages_side_by_side_are_groups_of_their_own) {
    int i;
    begin();
    for (i = 0; i < 4; i++) {
        (void)user(10);
        (void)answer(10);
    }
    policy.keep_no_turns = true;
    CHECK_EQ_STR(projected(45), "4 5 6 7");
    CHECK_EQ_INT(meta.groups_dropped, 4);
    CHECK(meta.budget_truncated && !meta.window_truncated);
    end();
}

TEST(flaw_2_what_stands_between_a_call_and_its_result_does_not_part_them) {
    begin();
    (void)user(10);
    (void)and_call(calls("a"), "b");
    (void)user(10);
    (void)result("b", 20);
    (void)result("a", 20);
    (void)answer(10);
    CHECK_EQ_STR(projected(1000), "0 1 4 3 2 5");
    end();
}

TEST(flaw_3_results_are_found_by_their_call_id_whatever_their_loop) {
    begin();
    (void)user(10);
    calls("a")->loop_id = phi_str_of("loop 1");
    result("a", 20)->loop_id = phi_str_of("loop 2");
    CHECK_EQ_STR(projected(1000), "0 1 2");
    CHECK_EQ_INT(meta.orphans_repaired, 0);
    end();
}

TEST(flaw_4_summaries_stand_once_in_their_place) {
    begin();
    summary(0, 3, 20);
    (void)user(10);
    (void)answer(10);
    summary(6, 9, 20);
    (void)user(10);
    CHECK_EQ_STR(projected(1000), "0 1 2 3 4");
    CHECK(meta.summary_used);
    end();
}

TEST(flaw_5_a_summary_that_is_not_included_leaves_the_rest_as_it_is) {
    begin();
    summary(0, 3, 20);
    (void)user(10);
    (void)answer(10);
    policy.include = PHI_INCLUDE_MESSAGES;
    CHECK_EQ_STR(projected(1000), "1 2");
    CHECK(!meta.summary_used);
    policy.include = 0;
    policy.summaries = PHI_SUMMARIES_NONE;
    CHECK_EQ_STR(projected(1000), "1 2");
    end();
}

TEST(flaw_6_a_turn_is_a_user_message_and_all_that_follows_it) {
    begin();
    (void)user(10);
    (void)answer(10);
    (void)user(10);
    (void)calls("a");
    (void)result("a", 20);
    (void)calls("b");
    (void)result("b", 20);
    (void)answer(10);
    (void)user(10);
    policy.max_turns = 2;
    CHECK_EQ_STR(projected(1000), "2 3 4 5 6 7 8");
    CHECK(meta.window_truncated && !meta.budget_truncated);
    CHECK_EQ_INT(meta.from_seq, 2);
    CHECK_EQ_INT(meta.to_seq, 8);
    end();
}

TEST(steering_in_a_run_opens_no_turn) {
    begin();
    user(10)->loop_id = phi_str_of("1");
    answer(10)->loop_id = phi_str_of("1");
    user(10)->loop_id = phi_str_of("2");
    answer(10)->loop_id = phi_str_of("2");
    user(10)->loop_id = phi_str_of("2");
    answer(10)->loop_id = phi_str_of("2");
    policy.max_turns = 1;
    CHECK_EQ_STR(projected(1000), "2 3 4 5");
    end();
}

TEST(flaw_7_the_system_prompt_the_tools_and_the_summaries_are_paid_for) {
    begin();
    summary(0, 3, 30);
    (void)user(10);
    (void)answer(10);
    (void)user(10);
    policy.keep_no_turns = true;
    policy.no_reserve = true;
    policy.max_input_tokens = 30 + 30 + 20 + 10; /* all, a prompt of 20 and tools of 10 */
    project_as(NULL,
               "01234567890123456789012345678901234567890123456789012345678901234567890123456789",
               10);
    CHECK_EQ_STR(shape(), "0 1 2 3");
    CHECK_EQ_INT(meta.estimated_tokens, 90);
    policy.max_input_tokens--;
    project_as(NULL,
               "01234567890123456789012345678901234567890123456789012345678901234567890123456789",
               10);
    CHECK_EQ_STR(shape(), "0 3"); /* an answer that follows neither goes, too */
    end();
}

TEST(flaw_8_the_newest_turn_is_there_its_results_cut_until_it_fits) {
    begin();
    (void)user(10);
    (void)answer(10);
    (void)user(10);
    (void)calls("a");
    (void)result("a", 1009);
    policy.keep_no_turns = true;
    CHECK_EQ_STR(projected(300), "2 3 ~4");
    CHECK(meta.budget_truncated && !meta.overflow && !meta.protected_over);
    CHECK(meta.estimated_tokens <= 300 && meta.estimated_tokens > 240);
    CHECK(phi__str_find(text_of(out[2]), 0, "\n\n[... ") != SIZE_MAX);
    CHECK(phi__str_find(text_of(out[2]), 0, " bytes left out ...]\n\n") != SIZE_MAX);
    CHECK(text_of(out[2]).at[0] == 'x');
    CHECK(text_of(out[2]).at[text_of(out[2]).len - 1] == 'x');
    CHECK_EQ_STR(projected(50), "2 3 ~4");
    CHECK(meta.overflow && meta.budget_truncated);
    end();
}

TEST(a_long_result_is_cut_before_a_short_one) {
    begin();
    (void)user(10);
    (void)and_call(calls("a"), "b");
    (void)result("a", 30);
    (void)result("b", 1009);
    CHECK_EQ_STR(projected(300), "0 1 2 ~3");
    end();
}

TEST(a_cut_leaves_whole_characters) {
    static char text[6000];
    phi_message *m;
    size_t i;
    begin();
    for (i = 0; i + 3 <= sizeof text; i += 3) memcpy(text + i, "\xe2\x82\xac", 3);
    (void)user(10);
    (void)calls("a");
    m = add(PHI_ROLE_TOOL_RESULT);
    m->tool_call_id = phi_str_of("a");
    (void)add_block(m, PHI_CONTENT_TEXT, phi__str(text, sizeof text));
    for (i = 200; i < 260; i++) {
        const char *p;
        size_t n;
        CHECK_EQ_STR(projected(i), "0 1 ~2");
        p = text_of(out[2]).at;
        n = phi__str_find(text_of(out[2]), 0, "\n\n[... ");
        CHECK(n != SIZE_MAX && n % 3 == 0 && memcmp(p, "\xe2\x82\xac", 3) == 0);
        n = phi__str_find(text_of(out[2]), 0, "...]\n\n") + 6;
        CHECK((text_of(out[2]).len - n) % 3 == 0 && memcmp(p + n, "\xe2\x82\xac", 3) == 0);
    }
    end();
}

TEST(flaw_9_results_cost_what_they_hold) {
    begin();
    (void)user(10);
    (void)calls("a");
    (void)result("a", 509);
    (void)user(10);
    (void)answer(10);
    policy.keep_no_turns = true;
    CHECK_EQ_STR(projected(540), "3 4"); /* 10 + 14 + 509 do not fit beside 20 */
    CHECK_EQ_STR(projected(553), "0 1 2 3 4");
    CHECK_EQ_INT(meta.estimated_tokens, 553);
    end();
}

TEST(flaw_10_what_is_told_counts_everything_that_is_sent) {
    begin();
    summary(0, 3, 20);
    (void)user(10);
    (void)calls("a");
    (void)result("a", 20);
    (void)user(10);
    policy.max_turns = 1;
    CHECK_EQ_STR(projected(1000), "0 4");
    CHECK(meta.window_truncated && !meta.budget_truncated && meta.summary_used);
    CHECK_EQ_INT(meta.messages_included, 2);
    CHECK_EQ_INT(meta.messages_total, 5);
    CHECK_EQ_INT(meta.groups_dropped, 2);
    CHECK_EQ_INT(meta.estimated_tokens, 30);
    CHECK_EQ_INT(meta.from_seq, 7);
    CHECK_EQ_INT(meta.to_seq, 7);
    end();
}

TEST(flaw_11_the_window_begins_with_a_user_message_or_a_summary) {
    begin();
    (void)user(10);
    (void)answer(10);
    (void)answer(10);
    (void)user(10);
    (void)answer(10);
    policy.keep_no_turns = true;
    CHECK_EQ_STR(projected(45), "3 4");
    CHECK_EQ_INT(meta.groups_dropped, 3);
    CHECK_EQ_INT(meta.estimated_tokens, 20);
    end();
}

TEST(a_greeting_that_nobody_asked_for_is_not_sent) {
    begin();
    (void)answer(10);
    (void)user(10);
    CHECK_EQ_STR(projected(1000), "1");
    count = 1;
    CHECK_EQ_STR(projected(1000), "");
    CHECK_EQ_INT(meta.estimated_tokens, 0);
    end();
}

TEST(flaw_12_each_call_has_one_result_and_each_result_its_call) {
    begin();
    (void)result("lost", 20);
    (void)user(10);
    (void)and_call(calls("a"), "b");
    (void)result("b", 20);
    (void)result("b", 30);
    (void)result("none", 20);
    CHECK_EQ_STR(projected(1000), "1 2 +a 3");
    CHECK_EQ_INT(meta.orphans_repaired, 3); /* made: a; left out: the second b, and none */
    CHECK_STR(text_of(out[2]), "No result provided");
    CHECK(out[2]->is_error);
    CHECK_STR(out[2]->tool_name, "look");
    end();
}

TEST(a_call_that_broke_off_needs_no_result) {
    begin();
    (void)user(10);
    (void)calls("a");
    blocks[1][0].incomplete = true;
    CHECK_EQ_STR(projected(1000), "0 1");
    CHECK_EQ_INT(meta.orphans_repaired, 0);
    end();
}

TEST(flaw_13_an_answer_keeps_what_it_says_beside_its_calls) {
    phi_message *m;
    begin();
    (void)user(10);
    m = add_block(add(PHI_ROLE_ASSISTANT), PHI_CONTENT_THINKING, phi_str_of("hm"));
    (void)and_call(add_block(m, PHI_CONTENT_TEXT, phi_str_of("I look.")), "a");
    (void)result("a", 20);
    CHECK_EQ_STR(projected(1000), "0 1 2");
    CHECK_EQ_INT(out[1]->content_count, 3);
    policy.include = PHI_INCLUDE_MESSAGES | PHI_INCLUDE_SUMMARIES;
    CHECK_EQ_STR(projected(1000), "0 =");
    CHECK_EQ_INT(out[1]->content_count, 2);
    CHECK_STR(out[1]->content[1].text, "I look.");
    CHECK_EQ_INT(meta.orphans_repaired, 0);
    end();
}

TEST(what_an_answer_says_beside_its_calls_is_a_message) {
    begin();
    (void)user(10);
    (void)and_call(says(PHI_ROLE_ASSISTANT, "I look."), "a");
    (void)result("a", 20);
    policy.include = PHI_INCLUDE_MESSAGES;
    CHECK_EQ_STR(projected(1000), "0 =");
    policy.include = PHI_INCLUDE_SUMMARIES; /* neither messages nor calls */
    CHECK_EQ_STR(projected(1000), "0");
    end();
}

/* ---- more of the policy ---- */

TEST(calls_go_with_their_results_or_not_at_all) {
    begin();
    (void)user(10);
    (void)calls("a");
    (void)result("a", 20);
    (void)answer(10);
    policy.include = PHI_INCLUDE_MESSAGES;
    CHECK_EQ_STR(projected(1000), "0 3");
    policy.include = PHI_INCLUDE_TOOLS;
    CHECK_EQ_STR(projected(1000), "0 1 2"); /* what the turn asks stays */
    end();
}

TEST(protected_turns_are_shown_whatever_the_budget) {
    int i;
    begin();
    for (i = 0; i < 5; i++) {
        (void)user(10);
        (void)answer(10);
    }
    CHECK_EQ_STR(projected(25), "4 5 6 7 8 9");
    CHECK(meta.protected_over && meta.budget_truncated && !meta.overflow);
    policy.keep_last_turns = 2;
    CHECK_EQ_STR(projected(25), "6 7 8 9");
    policy.keep_no_turns = true;
    CHECK_EQ_STR(projected(25), "8 9");
    CHECK(!meta.protected_over);
    end();
}

TEST(max_messages_cuts_at_a_group_but_not_into_the_newest_turn) {
    begin();
    (void)user(10);
    (void)calls("a");
    (void)result("a", 20);
    (void)user(10);
    (void)answer(10);
    (void)user(10);
    (void)calls("b");
    (void)result("b", 20);
    policy.max_messages = 5;
    CHECK_EQ_STR(projected(1000), "3 4 5 6 7");
    CHECK(meta.window_truncated);
    policy.max_messages = 4;
    CHECK_EQ_STR(projected(1000), "5 6 7"); /* 4 would be the first */
    policy.max_messages = 1;
    CHECK_EQ_STR(projected(1000), "5 6 7");
    policy.max_messages = 7;
    CHECK_EQ_STR(projected(1000), "3 4 5 6 7"); /* the answer and its result are one */
    end();
}

TEST(summaries_of_what_is_left_out_are_shown_before_what_is_not) {
    begin();
    (void)user(10);
    summary(1, 5, 20);
    (void)user(10);
    (void)answer(10);
    (void)user(10);
    policy.keep_no_turns = true;
    CHECK_EQ_STR(projected(30), "1 4");
    CHECK_EQ_STR(projected(29), "4"); /* it does not fit, and so nothing older does */
    CHECK(meta.budget_truncated && !meta.summary_used);
    CHECK_EQ_STR(projected(49), "1 4"); /* the answer would fit, without its question */
    CHECK_EQ_STR(projected(50), "1 2 3 4");
    CHECK_EQ_STR(projected(59), "1 2 3 4");
    CHECK_EQ_STR(projected(60), "0 1 2 3 4");
    end();
}

TEST(a_summary_is_shown_in_the_role_that_the_policy_says) {
    begin();
    summary(0, 3, 20);
    (void)user(10);
    policy.summary_role = PHI_ROLE_ASSISTANT;
    CHECK_EQ_STR(projected(1000), "= 1");
    CHECK_EQ_INT(out[0]->role, PHI_ROLE_ASSISTANT);
    CHECK_EQ_INT(meta.estimated_tokens, 30);
    end();
}

TEST(a_summary_that_is_wanted_is_asked_for) {
    begin();
    summary(0, 3, 20);
    (void)user(10);
    (void)answer(10);
    (void)user(10);
    policy.keep_no_turns = true;
    policy.summaries = PHI_SUMMARIES_REQUEST;
    (void)projected(1000);
    CHECK(!meta.need_summary);
    CHECK_EQ_STR(projected(30), "0 3");
    CHECK(meta.need_summary);
    CHECK_EQ_INT(meta.need_from, 0);
    CHECK_EQ_INT(meta.need_to, 5);
    end();
}

TEST(extensions_are_not_sent) {
    begin();
    (void)user(10);
    (void)add(PHI_ROLE_EXTENSION);
    (void)answer(10);
    CHECK_EQ_STR(projected(1000), "0 2");
    CHECK_EQ_INT(meta.messages_included, 2);
    CHECK_EQ_INT(meta.messages_total, 3);
    end();
}

/* ---- counters ---- */

static size_t counted_texts;

static size_t count_bytes(void *user_data, phi_str text) {
    (void)user_data;
    counted_texts++;
    return text.len;
}

TEST(a_counter_counts_what_is_looked_at_and_no_more) {
    phi_token_counter counter = PHI_ZERO;
    int i;
    begin();
    counter.count_text = count_bytes;
    for (i = 0; i < 60; i++) {
        (void)user(14); /* 40 bytes: 44 by this counter */
        (void)answer(14);
    }
    policy.keep_no_turns = true;
    policy.no_reserve = true;
    policy.max_input_tokens = 2 * 88 + 5;
    counted_texts = 0;
    project_as(&counter, "12345", 0);
    CHECK_EQ_STR(shape(), "116 117 118 119");
    CHECK_EQ_INT(meta.estimated_tokens, 2 * 88 + 5);
    CHECK_EQ_INT(meta.system_tokens, 5);
    CHECK_EQ_INT(counted_texts, 1 + 5); /* the prompt, those shown, and the one that did not fit */
    end();
}

/* ---- in words ---- */

TEST(a_projection_is_explained_group_by_group) {
    begin();
    (void)user(10);
    (void)answer(10);
    summary(2, 5, 20);
    (void)user(10);
    (void)and_call(calls("a"), "b");
    (void)result("b", 20);
    (void)user(10);
    (void)calls("c");
    (void)result("c", 1009);
    policy.max_input_tokens = 300;
    policy.no_reserve = true;
    policy.keep_last_turns = 2;
    CHECK_EQ_STR(explained(),
                 "for messages: 300 of 300 tokens (answer 0, system prompt 0, tools 0)\n"
                 "0 user message, 10 tokens: left out: the budget\n"
                 "1 answer, 10 tokens: left out: the budget\n"
                 "2-5 summary, 20 tokens: left out: the budget\n"
                 "6 user message, 10 tokens: shown, protected\n"
                 "7 answer and 2 results (1 made), 58 tokens: shown, protected\n"
                 "9 user message, 10 tokens: shown\n"
                 "10 answer and 1 result, 220 tokens: shown, its results cut\n"
                 "sent: 7 messages of 9, 298 tokens in all\n");
    policy.max_turns = 1;
    policy.max_input_tokens = 2000;
    CHECK_EQ_STR(explained(),
                 "for messages: 2000 of 2000 tokens (answer 0, system prompt 0, tools 0)\n"
                 "0 user message, 10 tokens: left out: max_turns\n"
                 "1 answer, 10 tokens: left out: max_turns\n"
                 "2-5 summary, 20 tokens: shown\n"
                 "6 user message, 10 tokens: left out: max_turns\n"
                 "7 answer and 2 results (1 made), 58 tokens: left out: max_turns\n"
                 "9 user message, 10 tokens: shown\n"
                 "10 answer and 1 result, 1023 tokens: shown\n"
                 "sent: 4 messages of 9, 1053 tokens in all\n");
    end();
}

TEST(an_explanation_says_every_reason) {
    begin();
    (void)user(10);
    (void)answer(10);
    (void)user(10);
    (void)calls("a");
    (void)result("a", 20);
    (void)user(10);
    policy.max_input_tokens = PHI_POLICY_UNLIMITED;
    policy.summaries = PHI_SUMMARIES_REQUEST;
    policy.include = PHI_INCLUDE_MESSAGES | PHI_INCLUDE_SUMMARIES;
    policy.max_messages = 2;
    CHECK_EQ_STR(explained(),
                 "for messages: no limit\n"
                 "0 user message, 10 tokens: left out: max_messages\n"
                 "1 answer, 10 tokens: left out: max_messages\n"
                 "2 user message, 10 tokens: shown, protected\n"
                 "3 answer, 0 tokens: left out: not included by the policy\n"
                 "5 user message, 10 tokens: shown\n"
                 "sent: 2 messages of 6, 20 tokens in all; a summary of 0-1 is wanted\n");
    memset(&policy, 0, sizeof policy);
    policy.no_reserve = true;
    policy.keep_no_turns = true;
    policy.max_input_tokens = 55;
    CHECK_EQ_STR(explained(), "for messages: 55 of 55 tokens (answer 0, system prompt 0, tools 0)\n"
                              "0 user message, 10 tokens: left out: the budget\n"
                              "1 answer, 10 tokens: left out: the budget\n"
                              "2 user message, 10 tokens: shown\n"
                              "3 answer and 1 result, 34 tokens: shown\n"
                              "5 user message, 10 tokens: shown\n"
                              "sent: 4 messages of 6, 54 tokens in all\n");
    policy.max_input_tokens = 45;
    CHECK_EQ_STR(explained(),
                 "for messages: 45 of 45 tokens (answer 0, system prompt 0, tools 0)\n"
                 "0 user message, 10 tokens: left out: the budget\n"
                 "1 answer, 10 tokens: left out: the budget\n"
                 "2 user message, 10 tokens: left out: the budget\n"
                 "3 answer and 1 result, 34 tokens: left out: no user message before it is shown\n"
                 "5 user message, 10 tokens: shown\n"
                 "sent: 1 messages of 6, 10 tokens in all\n");
    policy.max_input_tokens = 5;
    CHECK(strstr(explained(), "; the newest turn does not fit\n") != NULL);
    policy.keep_no_turns = false;
    CHECK(strstr(explained(), "; protected turns are beyond the budget\n") != NULL);
    end();
}

/* ---- memory ---- */

TEST(without_memory_nothing_is_said) {
    int n = 0;
    phi_status status;
    begin();
    (void)user(10);
    (void)and_call(calls("a"), "b");
    (void)result("b", 8009);
    policy.no_reserve = true;
    policy.max_input_tokens = 300;
    do {
        phi_str words = {NULL, 0};
        phi_arena_free(&made_in);
        test_alloc_fail_at(n);
        status = phi_project(items, count, &policy, NULL, phi_str_of(""), 0, &made_in, &out,
                             &out_count, &meta);
        CHECK(status == PHI_OK || status == PHI_NO_MEMORY);
        status = explain(&words);
        CHECK(status == PHI_OK || status == PHI_NO_MEMORY);
    } while (test_alloc_tripped() && n++ < 1000);
    test_alloc_fail_at(-1);
    CHECK(n > 2);
    end();
}

/* Its results, and its copy without the calls, are pieces of memory of their own. */
TEST(an_answer_of_many_calls_survives_every_failed_allocation) {
    enum { CALLS = 300 };
    static phi_content many[CALLS + 1];
    uint32_t include;
    int n = 0, i;
    many[0].kind = PHI_CONTENT_TEXT;
    many[0].text = phi_str_of("I look everywhere.");
    for (i = 1; i <= CALLS; i++) {
        many[i].kind = PHI_CONTENT_TOOL_CALL;
        many[i].id = phi_str_of("a");
        many[i].name = phi_str_of("look");
        many[i].arguments = phi_str_of("{}");
    }
    for (include = PHI_INCLUDE_MESSAGES; include <= PHI_INCLUDE_ALL; include += 2) {
        phi_status status = PHI_NO_MEMORY;
        for (n = 0; n < 100 && status != PHI_OK; n++) {
            phi_message *m;
            begin();
            (void)user(10);
            m = add(PHI_ROLE_ASSISTANT);
            m->content = many;
            m->content_count = CALLS + 1;
            policy.include = include;
            test_alloc_fail_at(n);
            status = phi_project(items, count, &policy, NULL, phi_str_of(""), 0, &made_in, &out,
                                 &out_count, &meta);
            CHECK_EQ_INT(status, test_alloc_tripped() ? PHI_NO_MEMORY : PHI_OK);
            test_alloc_fail_at(-1);
            end();
        }
        CHECK(n > 2 && n < 100);
    }
}

/* Results are made for all of them, and their memory does not come from one piece. */
TEST(without_memory_no_result_is_made_up) {
    enum { LOST = 40 };
    static char ids[LOST][8];
    int n = 0, failed = 0, i;
    phi_status status;
    begin();
    for (i = 0; i < LOST; i++) {
        (void)snprintf(ids[i], sizeof ids[i], "c%d", i);
        (void)user(10);
        (void)calls(ids[i]);
    }
    do {
        phi_arena_free(&made_in);
        test_alloc_fail_at(n);
        status = phi_project(items, count, &policy, NULL, phi_str_of(""), 0, &made_in, &out,
                             &out_count, &meta);
        if (status == PHI_OK)
            CHECK_EQ_INT(out_count, 3 * LOST);
        else
            CHECK_EQ_INT(status, PHI_NO_MEMORY);
        failed += status != PHI_OK;
    } while (test_alloc_tripped() && n++ < 1000);
    test_alloc_fail_at(-1);
    CHECK_EQ_INT(status, PHI_OK);
    CHECK(failed > 2);
    end();
}

/* ---- what holds for every history ---- */

static uint32_t seed;

static size_t random_to(size_t most) { return test_random(&seed) % (most + 1); }

static void random_answer(void) {
    static const char *const ids[] = {"a", "b", "c", "d", "e", "f"};
    phi_message *m = add(PHI_ROLE_ASSISTANT);
    size_t n = random_to(3), i;
    if (random_to(1) == 0) (void)add_block(m, PHI_CONTENT_TEXT, bytes_of(random_to(200)));
    for (i = 0; i < n && m->content_count < 4; i++) {
        (void)and_call(m, ids[(random_to(5) + i) % 6]);
        if (random_to(9) == 0) blocks[m - messages][m->content_count - 1].incomplete = true;
    }
    if (m->content_count == 0) (void)add_block(m, PHI_CONTENT_TEXT, bytes_of(4));
    for (i = 0; i < m->content_count && random_to(9) > 0; i++) {
        const phi_content *c = &blocks[m - messages][i];
        if (c->kind != PHI_CONTENT_TOOL_CALL || random_to(6) == 0) continue;
        if (random_to(9) == 0) (void)user(4 + random_to(30));
        (void)result(random_to(12) == 0 ? "z" : c->id.at,
                     9 + random_to(random_to(4) == 0 ? 900 : 40));
        if (random_to(15) == 0) (void)result(c->id.at, 20);
    }
}

static void random_view(void) {
    size_t n = random_to(30), i;
    static const char *const loops[] = {"", "", "1", "2"};
    for (i = 0; i < n && count + 12 < MOST; i++) {
        size_t was = count, kind = random_to(9);
        if (kind < 4)
            (void)user(4 + random_to(60));
        else if (kind < 8)
            random_answer();
        else if (kind == 8)
            summary(next_seq, next_seq + random_to(5), 4 + random_to(40));
        else
            (void)add(PHI_ROLE_EXTENSION);
        messages[was].loop_id = phi_str_of(loops[random_to(3)]);
    }
}

static void random_policy(void) {
    memset(&policy, 0, sizeof policy);
    policy.no_reserve = true;
    policy.keep_no_turns = random_to(1) == 0;
    policy.keep_last_turns = (uint32_t)random_to(4);
    if (random_to(2) == 0) policy.max_turns = (uint32_t)random_to(5);
    if (random_to(2) == 0) policy.max_messages = (uint32_t)random_to(20);
    policy.summaries = (phi_summaries)random_to(2);
    if (random_to(3) == 0) policy.include = (uint32_t)random_to(7);
}

/* Of the whole list, as it came out. */
static uint64_t recount(void) {
    uint64_t n = 0;
    size_t i;
    for (i = 0; i < out_count; i++) n += phi_tokens_of_message(NULL, out[i]);
    return n;
}

/* Each call has exactly one result, right behind its answer, in call order; no other results. */
static bool pairs_hold(void) {
    size_t i = 0, b;
    while (i < out_count) {
        const phi_message *m = out[i++];
        if (m->role == PHI_ROLE_TOOL_RESULT || m->role == PHI_ROLE_EXTENSION) return false;
        for (b = 0; m->role == PHI_ROLE_ASSISTANT && b < m->content_count; b++) {
            const phi_content *c = &m->content[b];
            if (c->kind != PHI_CONTENT_TOOL_CALL || c->incomplete) continue;
            if (i == out_count || out[i]->role != PHI_ROLE_TOOL_RESULT ||
                !phi_str_equal(out[i]->tool_call_id, c->id))
                return false;
            i++;
        }
    }
    return true;
}

static size_t place_of(const phi_message *m) {
    size_t i;
    for (i = 0; i < count; i++)
        if (items[i].message == m) return i;
    return SIZE_MAX;
}

/* Answers and users' messages ascend; the list begins with a user's message or a summary; and the newest user's
   message is in it. */
static bool order_holds(void) {
    size_t i, at, last = 0, newest = SIZE_MAX;
    bool any = false;
    for (i = 0; i < count; i++)
        if (messages[i].role == PHI_ROLE_USER && (items[i].flags & PHI_ITEM_SUMMARY) == 0)
            newest = i;
    for (i = 0; i < out_count; i++) {
        at = place_of(out[i]);
        if (at == newest) any = true;
        if (at == SIZE_MAX || out[i]->role == PHI_ROLE_TOOL_RESULT) continue;
        if (i > 0 && at <= last) return false;
        last = at;
    }
    if (out_count > 0 && out[0]->role != PHI_ROLE_USER) return false;
    return newest == SIZE_MAX || any;
}

static bool budget_holds(uint64_t budget) {
    if (meta.estimated_tokens != recount()) return false;
    return meta.estimated_tokens <= budget || meta.protected_over || meta.overflow;
}

static bool shown_before[MOST];

/* Nothing that a smaller budget showed is gone. */
static bool grows(bool first) {
    size_t i;
    bool now[MOST] = {false};
    for (i = 0; i < out_count; i++)
        if (out[i]->role != PHI_ROLE_TOOL_RESULT) {
            size_t at = place_of(out[i]);
            if (at != SIZE_MAX) now[at] = true;
        }
    for (i = 0; !first && i < count; i++)
        if (shown_before[i] && !now[i]) return false;
    memcpy(shown_before, now, sizeof now);
    return true;
}

static bool same_again(void) {
    const phi_message *const *first = out;
    phi_projection_meta told = meta;
    size_t n = out_count, i;
    phi_str a, b;
    project_as(NULL, "", 0);
    if (n != out_count || memcmp(&told, &meta, sizeof meta) != 0) return false;
    for (i = 0; i < n; i++) {
        if (phi_message_to_json(first[i], &made_in, &a) != PHI_OK ||
            phi_message_to_json(out[i], &made_in, &b) != PHI_OK || !phi_str_equal(a, b))
            return false;
    }
    return true;
}

/* What is explained is what is sent: as many messages, as many tokens. */
static bool explains(void) {
    char words[120];
    (void)snprintf(words, sizeof words, "sent: %u messages of %u, %llu tokens in all",
                   (unsigned)meta.messages_included, (unsigned)meta.messages_total,
                   (unsigned long long)meta.estimated_tokens);
    return strstr(explained(), words) != NULL;
}

static bool history_holds(uint32_t from) {
    static const uint64_t budgets[] = {0, 40, 120, 300, 700, 2000, 100000};
    size_t i;
    bool held = true;
    begin();
    seed = from;
    random_view();
    random_policy();
    for (i = 0; held && i < sizeof budgets / sizeof budgets[0]; i++) {
        policy.max_input_tokens = budgets[i] > 0 ? budgets[i] : 1;
        project_as(NULL, "", 0);
        held = CHECK(pairs_hold()) && CHECK(order_holds()) &&
               CHECK(budget_holds(policy.max_input_tokens)) && CHECK(grows(i == 0)) &&
               CHECK(meta.messages_included == out_count) &&
               ((from + i) % 4 != 0 || CHECK(same_again())) &&
               ((from + i) % 8 != 0 || count > 40 || CHECK(explains()));
    }
    if (!held) printf("  seed %u, budget %u\n", (unsigned)from, (unsigned)policy.max_input_tokens);
    end();
    return held;
}

TEST(invariants_hold_for_ten_thousand_random_histories) {
    const char *given = getenv("PHI_SEED");
    uint32_t from = given != NULL ? (uint32_t)strtoul(given, NULL, 10) : 1, i;
    uint32_t n = given != NULL ? 1 : 10000;
    for (i = 0; i < n; i++)
        if (!history_holds(from + i)) return;
}

/* ---- a thread, as the loop projects it ---- */

static phi_thread thread;

static void log_one(phi_role role, const char *id) {
    phi_content c = PHI_ZERO;
    phi_message m = PHI_ZERO;
    c.kind = PHI_CONTENT_TEXT;
    c.text = bytes_of(1 + random_to(200));
    if (role == PHI_ROLE_ASSISTANT && id != NULL) {
        c.kind = PHI_CONTENT_TOOL_CALL;
        c.id = phi_str_of(id);
        c.name = phi_str_of("look");
        c.arguments = phi_str_of("{}");
    }
    m.role = role;
    m.content = &c;
    m.content_count = 1;
    if (role == PHI_ROLE_ASSISTANT) m.stop_reason = PHI_STOP_REASON_STOP;
    if (role == PHI_ROLE_TOOL_RESULT) m.tool_call_id = phi_str_of(id);
    (void)phi_thread_append(&thread, &m, 1, NULL);
}

/* A summary in the place of some items; spans that cut a group are refused, and nothing changes. */
static void log_summary(void) {
    phi_content c = PHI_ZERO;
    phi_message m = PHI_ZERO;
    phi_span span = PHI_ZERO;
    phi_rewrite rewrite = PHI_ZERO;
    if (thread.fold.count < 4) return;
    c.kind = PHI_CONTENT_TEXT;
    c.text = bytes_of(1 + random_to(60));
    m.role = PHI_ROLE_USER;
    m.content = &c;
    m.content_count = 1;
    span.from = thread.fold.items[random_to(2)].from;
    span.to = thread.fold.items[2 + random_to(thread.fold.count - 3)].to;
    span.messages = &m;
    span.message_count = 1;
    span.summary = true;
    rewrite.spans = &span;
    rewrite.span_count = 1;
    (void)phi_thread_rewrite(&thread, &rewrite, NULL, NULL, 0);
}

static void log_some(unsigned n) {
    char id[16];
    (void)snprintf(id, sizeof id, "c%u", n);
    switch (random_to(5)) {
    case 0:
    case 1: log_one(PHI_ROLE_USER, NULL); break;
    case 2: log_one(PHI_ROLE_ASSISTANT, NULL); break;
    case 3:
    case 4:
        log_one(PHI_ROLE_ASSISTANT, id);
        log_one(PHI_ROLE_TOOL_RESULT, id);
        break;
    default: log_summary(); break;
    }
}

static bool fold_is_as_its_view(void) {
    const phi_view_item *view;
    phi__proj_order order;
    phi__projection made;
    size_t n, i;
    memset(&order, 0, sizeof order);
    phi__fold_link(&thread.fold);
    order.fold = &thread.fold;
    order.count = thread.fold.count;
    order.policy = &policy;
    CHECK_EQ_INT(phi__project(&order, &made_in, &made), PHI_OK);
    CHECK_EQ_INT(phi_thread_view(&thread, NULL, UINT64_MAX, &made_in, &view, &n), PHI_OK);
    CHECK_EQ_INT(
        phi_project(view, n, &policy, NULL, phi_str_of(""), 0, &made_in, &out, &out_count, &meta),
        PHI_OK);
    if (!CHECK_EQ_INT(made.count, out_count) || !CHECK(memcmp(&made.meta, &meta, sizeof meta) == 0))
        return false;
    for (i = 0; i < out_count; i++)
        if (made.places[i] != SIZE_MAX && !CHECK(made.messages[i] == out[i])) return false;
    return true;
}

TEST(a_thread_that_grows_is_projected_as_its_view_is) {
    uint32_t from;
    unsigned i;
    for (from = 1; from <= 200; from++) {
        bool held = true;
        begin();
        phi__thread_init(&thread, &memory, NULL);
        seed = from;
        random_policy();
        policy.max_input_tokens = 50 + random_to(900);
        for (i = 0; held && i < 40; i++) {
            log_some(i);
            held = fold_is_as_its_view();
        }
        if (!held) printf("  seed %u\n", (unsigned)from);
        phi__journal_free_thread(&thread);
        end();
        if (!held) return;
    }
}

TEST(a_summary_alone_that_does_not_fit_is_said_to_be_cut) {
    begin();
    summary(0, 3, 20);
    (void)user(10);
    policy.keep_no_turns = true;
    CHECK_EQ_STR(projected(30), "0 1");
    CHECK(!meta.budget_truncated);
    CHECK_EQ_STR(projected(29), "1");
    CHECK(meta.budget_truncated && !meta.summary_used);
    end();
}

TEST(a_summary_is_asked_for_from_the_first_entry_that_is_there) {
    begin();
    next_seq = 7;
    (void)user(10);
    (void)answer(10);
    (void)user(10);
    policy.keep_no_turns = true;
    policy.summaries = PHI_SUMMARIES_REQUEST;
    CHECK_EQ_STR(projected(15), "2");
    CHECK(meta.need_summary);
    CHECK_EQ_INT(meta.need_from, 7);
    CHECK_EQ_INT(meta.need_to, 8);
    end();
}

TEST(a_short_result_beside_one_that_is_cut_is_not_said_to_be_cut) {
    begin();
    (void)user(10);
    (void)calls("a");
    (void)result("a", 20);
    (void)calls("b");
    (void)result("b", 2009);
    policy.max_input_tokens = 300;
    policy.no_reserve = true;
    CHECK(strstr(explained(), "\n1 answer and 1 result, 34 tokens: shown\n") != NULL);
    CHECK(strstr(explained(), ": shown, its results cut\n") != NULL);
    end();
}

TEST_MAIN(TEST_ENTRY(every_field_of_a_policy_has_its_default),
          TEST_ENTRY(the_presets_are_those_of_the_documents),

          TEST_ENTRY(the_budget_is_what_the_answer_the_prompt_and_the_tools_leave),
          TEST_ENTRY(what_is_no_policy_is_refused),
          TEST_ENTRY(the_conversation_of_six_entries_is_sent_as_2_4_and_6_messages),
          TEST_ENTRY(flaw_1_messages_side_by_side_are_groups_of_their_own),
          TEST_ENTRY(flaw_2_what_stands_between_a_call_and_its_result_does_not_part_them),
          TEST_ENTRY(flaw_3_results_are_found_by_their_call_id_whatever_their_loop),
          TEST_ENTRY(flaw_4_summaries_stand_once_in_their_place),
          TEST_ENTRY(flaw_5_a_summary_that_is_not_included_leaves_the_rest_as_it_is),
          TEST_ENTRY(flaw_6_a_turn_is_a_user_message_and_all_that_follows_it),
          TEST_ENTRY(steering_in_a_run_opens_no_turn),
          TEST_ENTRY(flaw_7_the_system_prompt_the_tools_and_the_summaries_are_paid_for),
          TEST_ENTRY(flaw_8_the_newest_turn_is_there_its_results_cut_until_it_fits),
          TEST_ENTRY(a_long_result_is_cut_before_a_short_one),
          TEST_ENTRY(a_cut_leaves_whole_characters), TEST_ENTRY(flaw_9_results_cost_what_they_hold),
          TEST_ENTRY(flaw_10_what_is_told_counts_everything_that_is_sent),
          TEST_ENTRY(flaw_11_the_window_begins_with_a_user_message_or_a_summary),
          TEST_ENTRY(a_greeting_that_nobody_asked_for_is_not_sent),
          TEST_ENTRY(flaw_12_each_call_has_one_result_and_each_result_its_call),
          TEST_ENTRY(a_call_that_broke_off_needs_no_result),
          TEST_ENTRY(flaw_13_an_answer_keeps_what_it_says_beside_its_calls),
          TEST_ENTRY(what_an_answer_says_beside_its_calls_is_a_message),
          TEST_ENTRY(calls_go_with_their_results_or_not_at_all),
          TEST_ENTRY(protected_turns_are_shown_whatever_the_budget),
          TEST_ENTRY(max_messages_cuts_at_a_group_but_not_into_the_newest_turn),
          TEST_ENTRY(summaries_of_what_is_left_out_are_shown_before_what_is_not),
          TEST_ENTRY(a_summary_is_shown_in_the_role_that_the_policy_says),
          TEST_ENTRY(a_summary_that_is_wanted_is_asked_for), TEST_ENTRY(extensions_are_not_sent),
          TEST_ENTRY(a_counter_counts_what_is_looked_at_and_no_more),
          TEST_ENTRY(a_projection_is_explained_group_by_group),
          TEST_ENTRY(an_explanation_says_every_reason), TEST_ENTRY(without_memory_nothing_is_said),
          TEST_ENTRY(an_answer_of_many_calls_survives_every_failed_allocation),
          TEST_ENTRY(without_memory_no_result_is_made_up),
          TEST_ENTRY(invariants_hold_for_ten_thousand_random_histories),
          TEST_ENTRY(a_thread_that_grows_is_projected_as_its_view_is),
          TEST_ENTRY(a_summary_alone_that_does_not_fit_is_said_to_be_cut),
          TEST_ENTRY(a_summary_is_asked_for_from_the_first_entry_that_is_there),
          TEST_ENTRY(a_short_result_beside_one_that_is_cut_is_not_said_to_be_cut))
