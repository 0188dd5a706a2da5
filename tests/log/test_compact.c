/* What a compaction replaces, and what a model sees of it; the three levels over a plain list. */
#include "wire/wire_support.h"

#include "model/tokens.h"
#include "log/thread_in.h"
#include "persist/persist_in.h"

static phi_memory memory;
static phi_thread thread;
static uint32_t next_id;

static void setup(void) {
    phi_allocator a = test_allocator();
    phi_memory_init(&memory, &a, 0);
    phi__thread_init(&thread, &memory, NULL);
    next_id = 0;
}

/* ---- making histories ---- */

static bool append(phi_message *m, const char *loop, uint32_t turn, uint32_t flags) {
    phi__entry e;
    memset(&e, 0, sizeof e);
    m->loop_id = phi_str_of(loop);
    m->turn_index = turn;
    e.kind = PHI_ENTRY_MESSAGE;
    e.flags = (uint8_t)flags;
    e.loop_id = m->loop_id;
    e.message = phi__append_keep(&thread, m);
    return e.message != NULL && phi__append(&thread, &e, 1);
}

static void say(phi_role role, const char *loop, uint32_t turn, const char *text, uint32_t flags) {
    phi_content c = PHI_ZERO;
    phi_message m = PHI_ZERO;
    c.kind = PHI_CONTENT_TEXT;
    c.text = phi_str_of(text);
    m.role = role;
    m.content = &c;
    m.content_count = 1;
    CHECK(append(&m, loop, turn, flags));
}

static void result(const char *loop, uint32_t turn, const char *id, const char *text,
                   uint32_t flags) {
    phi_content c = PHI_ZERO;
    phi_message m = PHI_ZERO;
    c.kind = PHI_CONTENT_TEXT;
    c.text = phi_str_of(text);
    m.role = PHI_ROLE_TOOL_RESULT;
    m.tool_call_id = phi_str_of(id);
    m.tool_name = phi_str_of("ls");
    m.content = &c;
    m.content_count = 1;
    CHECK(append(&m, loop, turn, flags));
}

/* An answer with words (NULL: none) and `n` calls, whose ids are id_0, id_1... over the thread. */
static void calls(const char *loop, uint32_t turn, const char *text, uint32_t n, uint32_t flags) {
    phi_content blocks[9];
    char ids[8][16];
    phi_message m = PHI_ZERO;
    uint32_t i, at = 0;
    memset(blocks, 0, sizeof blocks);
    if (text != NULL) {
        blocks[at].kind = PHI_CONTENT_TEXT;
        blocks[at++].text = phi_str_of(text);
    }
    for (i = 0; i < n; i++) {
        (void)snprintf(ids[i], sizeof ids[i], "id_%u", (unsigned)next_id++);
        blocks[at].kind = PHI_CONTENT_TOOL_CALL;
        blocks[at].id = phi_str_of(ids[i]);
        blocks[at].name = phi_str_of("ls");
        blocks[at++].arguments = phi_str_of("{}");
    }
    m.role = PHI_ROLE_ASSISTANT;
    m.content = blocks;
    m.content_count = at;
    m.stop_reason = PHI_STOP_REASON_STOP;
    CHECK(append(&m, loop, turn, flags));
}

/* Lines "line 0" to "line n-1". */
static const char *lines_of(uint32_t n) {
    static char text[1 << 16];
    size_t at = 0;
    uint32_t i;
    text[0] = '\0';
    for (i = 0; i < n; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%sline %u", i > 0 ? "\n" : "",
                               (unsigned)i);
    return text;
}

/* Turn 0 begins with a question; each has one call with a result of so many lines. */
static void run_of(const char *loop, uint32_t turns, uint32_t lines) {
    char text[200], id[16];
    uint32_t t;
    for (t = 0; t < turns; t++) {
        if (t == 0) {
            (void)snprintf(text, sizeof text, "Question of %s, which is rather long as they go",
                           loop);
            say(PHI_ROLE_USER, loop, 0, text, 0);
        }
        (void)snprintf(text, sizeof text, "Answer %u of %s", (unsigned)t, loop);
        (void)snprintf(id, sizeof id, "id_%u", (unsigned)next_id);
        calls(loop, t, text, 1, 0);
        result(loop, t, id, lines_of(lines), 0);
    }
}

/* ---- planning ---- */

static phi_compaction_config config_of(uint32_t first, uint32_t recent) {
    phi_compaction_config c = PHI_ZERO;
    c.keep_first_turns = first;
    c.keep_no_first = first == 0;
    c.keep_recent_turns = recent;
    return c;
}

/* Plans and applies; the number of spans. */
static size_t compact_with(const phi_compaction_config *config, phi__compacted *plan) {
    const phi_view_item *items = NULL;
    size_t count = 0, spans;
    char words[200] = "";
    phi__compacted own;
    phi_arena arena;
    if (plan == NULL) plan = &own;
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(phi_thread_view(&thread, NULL, UINT64_MAX, &arena, &items, &count), PHI_OK);
    CHECK_EQ_INT(phi__compact_plan(items, count, config, NULL, &arena, false, plan), PHI_OK);
    CHECK_EQ_INT(plan->tokens_before, thread.fold.tokens);
    spans = plan->rewrite.span_count;
    if (spans > 0) {
        CHECK(plan->tokens_after < plan->tokens_before);
        CHECK_EQ_INT(phi__edit_rewrite(&thread, &plan->rewrite, phi_str_of("c"), 0, NULL, words,
                                       sizeof words),
                     PHI_OK);
        CHECK_EQ_STR(words, "");
    }
    CHECK_EQ_INT(thread.fold.tokens, plan->tokens_after);
    phi_arena_free(&arena);
    return spans;
}

static size_t compact(const phi_compaction_config *config) { return compact_with(config, NULL); }

/* What is shown: a raw message as its loop and turn, and what it is (u, a, r); one of a rewrite as the entries it stands
   for, S a summary, R another. */
static const char *shape(void) {
    static char out[8000];
    size_t i, n = 0;
    out[0] = '\0';
    for (i = 0; i < thread.fold.count; i++) {
        const phi__item *item = &thread.fold.items[i];
        if (i > 0) out[n++] = ' ';
        if ((item->flags & PHI_ITEM_SYNTHETIC) != 0)
            n += (size_t)snprintf(out + n, sizeof out - n, "%c(%u-%u)",
                                  (item->flags & PHI_ITEM_SUMMARY) != 0 ? 'S' : 'R',
                                  (unsigned)item->from, (unsigned)item->to);
        else
            n += (size_t)snprintf(out + n, sizeof out - n, "%.*s%u%c",
                                  (int)item->message->loop_id.len, item->message->loop_id.at,
                                  (unsigned)item->message->turn_index, " uar"[item->message->role]);
        CHECK(n + 100 < sizeof out);
    }
    return out;
}

static phi_str shown(size_t item) { return thread.fold.items[item].message->content[0].text; }

/* ---- when ---- */

static bool is_due(const phi_compaction_config *config, uint64_t tokens) {
    phi_compaction_config c = phi__compact_config(config);
    return tokens > phi__compact_threshold(&c);
}

TEST(a_view_of_80k_is_left_alone_and_one_of_82k_is_compacted) {
    phi_compaction_config c = PHI_ZERO;
    CHECK(!is_due(NULL, 80000));
    CHECK(is_due(NULL, 82000));
    CHECK(!is_due(&c, 81000));
    CHECK(is_due(&c, 81001));
    c.max_context_tokens = 1000;
    c.system_prompt_tokens = 100;
    CHECK(!is_due(&c, 750));
    CHECK(is_due(&c, 751));
    c.system_prompt_tokens = 5000;
    CHECK(is_due(&c, 1));
}

/* ---- the current run ---- */

TEST(of_twenty_turns_two_stay_thirteen_are_summed_up_and_five_stay) {
    phi_compaction_config c = config_of(2, 5);
    phi__compacted plan;
    setup();
    run_of("A", 20, 3);
    CHECK_EQ_INT(compact_with(&c, &plan),
                 1); /* entries 0-4 and 31-45 are the turns 0-1 and 15-19 */
    CHECK_EQ_INT(plan.runs, 1);
    CHECK_EQ_STR(shape(), "A0u A0a A0r A1a A1r S(5-30) A15a A15r A16a A16r A17a A17r A18a A18r "
                          "A19a A19r");
    CHECK_STR(shown(5),
              "[Summary] Answer 2 of A\n[Summary] Answer 3 of A\n[Summary] Answer 4 of A\n"
              "[Summary] Answer 5 of A\n[Summary] Answer 6 of A\n[Summary] Answer 7 of A\n"
              "[Summary] Answer 8 of A\n[Summary] Answer 9 of A\n[Summary] Answer 10 of A\n"
              "[Summary] Answer 11 of A\n[Summary] Answer 12 of A\n"
              "[Summary] Answer 13 of A\n[Summary] Answer 14 of A");
    CHECK_EQ_INT(compact(&c), 0); /* it leaves its own result as it is */
    phi__journal_free_thread(&thread);
}

TEST(of_ten_turns_nothing_is_summed_up) {
    setup();
    run_of("A", 10, 3);
    CHECK_EQ_INT(compact(NULL), 0);
    phi__journal_free_thread(&thread);
}

TEST(users_and_answers_without_words_have_their_lines) {
    phi_compaction_config c = config_of(0, 1);
    setup();
    say(PHI_ROLE_USER, "A", 0, "Where is\nthe well?", 0);
    calls("A", 0, NULL, 2, 0);
    result("A", 0, "id_0", lines_of(40), 0);
    result("A", 0, "id_1", "ok", 0);
    say(PHI_ROLE_USER, "A", 1, "", 0);
    say(PHI_ROLE_ASSISTANT, "A", 1, "", 0);
    say(PHI_ROLE_USER, "A", 2, "And now?", 0);
    CHECK_EQ_INT(compact(&c), 1);
    CHECK_EQ_STR(shape(), "S(0-5) A2u");
    CHECK_STR(shown(0), "[User] Where is the well?\n[Assistant used 2 tool(s)]\n[User message]\n"
                        "[Assistant response]");
    CHECK_EQ_INT(thread.fold.items[0].message->role, PHI_ROLE_USER);
    phi__journal_free_thread(&thread);
}

TEST(a_later_summary_takes_the_lines_of_the_earlier_one_as_they_are) {
    phi_compaction_config c = config_of(1, 2);
    char id[16];
    uint32_t t;
    setup();
    run_of("A", 6, 5);
    CHECK_EQ_INT(compact(&c), 1);
    CHECK_EQ_STR(shape(), "A0u A0a A0r S(3-8) A4a A4r A5a A5r");
    for (t = 6; t < 8; t++) {
        (void)snprintf(id, sizeof id, "id_%u", (unsigned)next_id);
        calls("A", t, "Later", 1, 0);
        result("A", t, id, lines_of(5), 0);
    }
    CHECK_EQ_INT(compact(&c), 1);
    CHECK_EQ_STR(shape(), "A0u A0a A0r S(3-12) A6a A6r A7a A7r");
    CHECK_STR(shown(3),
              "[Summary] Answer 1 of A\n[Summary] Answer 2 of A\n[Summary] Answer 3 of A\n"
              "[Summary] Answer 4 of A\n[Summary] Answer 5 of A");
    phi__journal_free_thread(&thread);
}

TEST(a_summary_that_grows_too_long_leaves_out_its_oldest_lines_and_counts_them) {
    phi_compaction_config c = config_of(0, 1);
    setup();
    c.max_summary_tokens = 60;
    run_of("A", 12, 8);
    CHECK_EQ_INT(compact(&c), 1);
    CHECK_STR(shown(0), "[... 7 earlier lines left out ...]\n[Summary] Answer 6 of A\n"
                        "[Summary] Answer 7 of A\n[Summary] Answer 8 of A\n"
                        "[Summary] Answer 9 of A\n[Summary] Answer 10 of A");
    CHECK(phi_tokens_of_message(NULL, thread.fold.items[0].message) <= 60);
    calls("A", 12, "Further", 1, 0);
    result("A", 12, "id_12", lines_of(5), 0);
    CHECK_EQ_INT(compact(&c), 1);
    CHECK_STR(shown(0), "[... 8 earlier lines left out ...]\n[Summary] Answer 7 of A\n"
                        "[Summary] Answer 8 of A\n[Summary] Answer 9 of A\n"
                        "[Summary] Answer 10 of A\n[Summary] Answer 11 of A");
    phi__journal_free_thread(&thread);
}

TEST(lines_are_cut_shorter_before_any_is_left_out) {
    phi_compaction_config c = config_of(0, 1);
    char text[301];
    uint32_t t;
    setup();
    memset(text, 'x', 300);
    text[300] = '\0';
    c.max_summary_tokens = 180;
    for (t = 0; t < 7; t++) say(PHI_ROLE_ASSISTANT, "A", t, text, 0);
    CHECK_EQ_INT(compact(&c), 1);
    CHECK_EQ_INT(shown(0).len, 6 * (10 + 50) + 5); /* of 100 bytes they are 174 tokens */
    phi__journal_free_thread(&thread);
}

TEST(the_focus_stands_before_what_was_summed_up_and_is_not_summed_up_itself) {
    phi_compaction_config c = config_of(1, 2);
    char id[16];
    setup();
    c.focus_message = "Keep file paths.";
    run_of("A", 6, 5);
    CHECK_EQ_INT(compact(&c), 1);
    CHECK_EQ_STR(shape(), "A0u A0a A0r S(3-8) S(3-8) A4a A4r A5a A5r");
    CHECK_STR(shown(3), "Keep file paths.");
    CHECK_STR(shown(4),
              "[Summary] Answer 1 of A\n[Summary] Answer 2 of A\n[Summary] Answer 3 of A");
    CHECK_EQ_INT(compact(&c), 0);
    (void)snprintf(id, sizeof id, "id_%u", (unsigned)next_id);
    calls("A", 6, "Later", 1, 0);
    result("A", 6, id, lines_of(9), 0);
    CHECK_EQ_INT(compact(&c), 1);
    CHECK_STR(shown(3), "Keep file paths.");
    CHECK_STR(shown(4),
              "[Summary] Answer 1 of A\n[Summary] Answer 2 of A\n[Summary] Answer 3 of A\n"
              "[Summary] Answer 4 of A");
    phi__journal_free_thread(&thread);
}

TEST(long_results_of_recent_turns_are_cut_in_their_middle) {
    phi_compaction_config c = config_of(0, 5);
    phi__compacted plan;
    setup();
    c.tool_output_max_lines = 4;
    run_of("A", 2, 30);
    CHECK_EQ_INT(compact_with(&c, &plan), 2);
    CHECK_EQ_INT(plan.runs, 1);
    CHECK_EQ_STR(shape(), "A0u A0a R(2-2) A1a R(4-4)");
    CHECK_STR(shown(2), "line 0\nline 1\n\n[... 26 lines truncated ...]\n\nline 28\nline 29");
    CHECK_STR(thread.fold.items[2].message->tool_call_id, "id_0");
    CHECK_EQ_INT(compact(&c), 0);
    phi__journal_free_thread(&thread);
}

TEST(turns_that_are_kept_from_the_start_are_not_touched) {
    phi_compaction_config c = config_of(2, 5);
    setup();
    c.tool_output_max_lines = 4;
    run_of("A", 3, 30);
    CHECK_EQ_INT(compact(&c), 1);
    CHECK_EQ_STR(shape(), "A0u A0a A0r A1a A1r A2a R(6-6)");
    phi__journal_free_thread(&thread);
}

TEST(a_section_whose_summary_would_be_larger_stands) {
    phi_compaction_config c = config_of(0, 1);
    setup();
    say(PHI_ROLE_USER, "A", 0, "a", 0);
    say(PHI_ROLE_ASSISTANT, "A", 1, "b", 0);
    say(PHI_ROLE_USER, "A", 2, "c", 0);
    c.focus_message = "A focus that is longer than all that was said.";
    CHECK_EQ_INT(compact(&c), 0);
    CHECK_EQ_STR(shape(), "A0u A1a A2u");
    phi__journal_free_thread(&thread);
}

TEST(messages_without_a_run_are_turns_of_their_own_and_calls_keep_their_results) {
    phi_compaction_config c = config_of(1, 1);
    setup();
    say(PHI_ROLE_USER, "", 0, "A question that is long enough to be worth it", 0);
    calls("", 0, "I look", 1, 0);
    say(PHI_ROLE_USER, "", 0, "Hurry", 0); /* said between a call and its result */
    result("", 0, "id_0", lines_of(20), 0);
    say(PHI_ROLE_ASSISTANT, "", 0, "There", 0);
    CHECK_EQ_INT(compact(&c), 1);
    CHECK_EQ_STR(shape(), "0u S(1-3) 0a");
    CHECK_STR(shown(1), "[Summary] I look\n[User] Hurry");
    phi__journal_free_thread(&thread);
}

/* ---- earlier runs ---- */

TEST(earlier_runs_in_scope_are_summed_up_and_older_ones_go) {
    phi_compaction_config c = config_of(2, 5);
    phi__compacted plan;
    setup();
    c.scope_runs = 2;
    run_of("A", 2, 4);
    run_of("B", 2, 4);
    run_of("C", 2, 4);
    run_of("D", 2, 4);
    CHECK_EQ_INT(compact_with(&c, &plan), 3);
    CHECK_EQ_INT(plan.runs, 3);
    CHECK_EQ_STR(shape(), "S(5-9) S(10-14) D0u D0a D0r D1a D1r");
    CHECK_STR(shown(0), "[User] Question of B, which is rather long as they go\n"
                        "[Summary] Answer 0 of B\n[Summary] Answer 1 of B");
    CHECK_EQ_INT(compact(&c), 0);
    run_of("E", 1, 4);
    CHECK_EQ_INT(compact(&c), 1); /* B's summary is taken over as it is */
    CHECK_EQ_STR(shape(), "S(5-9) S(10-14) S(15-19) E0u E0a E0r");
    run_of("F", 1, 4);
    CHECK_EQ_INT(compact(&c), 2); /* what is older than the scope is one summary */
    CHECK_EQ_STR(shape(), "S(5-14) S(15-19) S(21-23) F0u F0a F0r");
    CHECK_STR(shown(0), "[User] Question of B, which is rather long as they go\n"
                        "[Summary] Answer 0 of B\n[Summary] Answer 1 of B\n"
                        "[User] Question of C, which is rather long as they go\n"
                        "[Summary] Answer 0 of C\n[Summary] Answer 1 of C");
    CHECK_EQ_INT(compact(&c), 0);
    phi__journal_free_thread(&thread);
}

TEST(no_earlier_run_is_in_scope_where_that_is_said) {
    phi_compaction_config c = config_of(2, 5);
    setup();
    c.scope_runs = PHI_COMPACTION_NO_RUNS;
    run_of("A", 2, 4);
    run_of("B", 2, 4);
    CHECK_EQ_INT(compact(&c), 1);
    CHECK_EQ_STR(shape(), "B0u B0a B0r B1a B1r");
    phi__journal_free_thread(&thread);
}

TEST(with_a_budget_of_80_tokens_the_newest_earlier_run_is_in_and_the_older_out) {
    phi_compaction_config c = config_of(2, 5);
    setup();
    c.scope = PHI_COMPACTION_TOKENS;
    c.scope_tokens = 80;
    run_of("A", 1, 10);
    run_of("B", 1, 10);
    run_of("C", 1, 1);
    CHECK_EQ_INT(compact(&c), 2);
    CHECK_EQ_STR(shape(), "S(3-5) C0u C0a C0r");
    phi__journal_free_thread(&thread);
}

/* A view begins with a user's message. */
TEST(a_run_that_goes_on_from_another_takes_it_along) {
    phi_compaction_config c = config_of(2, 5);
    setup();
    c.scope = PHI_COMPACTION_TOKENS;
    c.scope_tokens = 1;
    run_of("A", 1, 30);
    run_of("B", 2, 30);
    calls("C", 0, "I go on", 0, 0);
    CHECK_EQ_INT(compact(&c), 2);
    CHECK_EQ_STR(shape(), "S(3-7) C0a");
    phi__journal_free_thread(&thread);
}

TEST(a_run_that_was_compacted_in_part_is_summed_up_whole_when_it_is_an_earlier_one) {
    phi_compaction_config c = config_of(1, 1);
    setup();
    run_of("A", 5, 4);
    CHECK_EQ_INT(compact(&c), 1);
    CHECK_EQ_STR(shape(), "A0u A0a A0r S(3-8) A4a A4r");
    run_of("B", 1, 1);
    CHECK_EQ_INT(compact(&c), 1);
    CHECK_EQ_STR(shape(), "S(0-10) B0u B0a B0r");
    CHECK_STR(shown(0),
              "[User] Question of A, which is rather long as they go\n"
              "[Summary] Answer 0 of A\n[Summary] Answer 1 of A\n[Summary] Answer 2 of A\n"
              "[Summary] Answer 3 of A\n[Summary] Answer 4 of A");
    phi__journal_free_thread(&thread);
}

TEST(what_is_durable_stands_with_its_call) {
    phi_compaction_config c = config_of(0, 1);
    setup();
    run_of("A", 3, 9);
    say(PHI_ROLE_USER, "A", 3, "Never forget this", PHI_ENTRY_DURABLE);
    calls("A", 4, "The skill", 1, 0);
    result("A", 4, "id_3", "A skill of some length", PHI_ENTRY_DURABLE);
    calls("A", 5, "After it, with a lot of words, so that it counts for something", 0, 0);
    calls("A", 6, "The end", 0, 0);
    CHECK_EQ_INT(compact(&c), 1);
    CHECK_EQ_STR(shape(), "S(0-10) A3u A4a A4r A6a");
    CHECK_STR(shown(0),
              "[User] Question of A, which is rather long as they go\n"
              "[Summary] Answer 0 of A\n[Summary] Answer 1 of A\n[Summary] Answer 2 of A\n"
              "[Summary] After it, with a lot of words, so that it counts for something");
    CHECK_EQ_INT(compact(&c), 0);
    phi__journal_free_thread(&thread);
}

TEST(a_plan_leaves_what_came_after_it_alone) {
    phi_compaction_config c = config_of(0, 1);
    const phi_view_item *items = NULL;
    size_t count = 0;
    phi_rewrite rewrite;
    phi_arena arena;
    setup();
    run_of("A", 4, 9);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(phi_thread_view(&thread, NULL, UINT64_MAX, &arena, &items, &count), PHI_OK);
    CHECK_EQ_INT(phi__compact_rewrite(items, count, &c, NULL, &arena, &rewrite), PHI_OK);
    CHECK_EQ_INT(rewrite.reason, PHI_REWRITE_COMPACTION);
    CHECK_EQ_INT(rewrite.base_seq, 8);
    say(PHI_ROLE_USER, "A", 4, "One more thing", 0);
    CHECK_EQ_INT(phi_thread_rewrite(&thread, &rewrite, NULL, NULL, 0), PHI_OK);
    CHECK_EQ_STR(shape(), "S(0-6) A3a A3r A4u");
    phi_arena_free(&arena);
    phi__journal_free_thread(&thread);
}

TEST(a_plan_wants_its_items_in_order) {
    phi_message m = PHI_ZERO;
    phi_view_item items[2];
    phi_rewrite rewrite;
    phi_arena arena;
    setup();
    memset(items, 0, sizeof items);
    items[0].message = items[1].message = &m;
    m.role = PHI_ROLE_USER;
    items[0].from = items[0].to = 7;
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(phi__compact_rewrite(items, 2, NULL, NULL, &arena, &rewrite), PHI_BAD_ARG);
    CHECK_EQ_INT(phi__compact_rewrite(NULL, 2, NULL, NULL, &arena, &rewrite), PHI_BAD_ARG);
    CHECK_EQ_INT(phi__compact_rewrite(items, 1, NULL, NULL, NULL, &rewrite), PHI_BAD_ARG);
    CHECK_EQ_INT(phi__compact_rewrite(items, 0, NULL, NULL, &arena, &rewrite), PHI_OK);
    CHECK_EQ_INT(rewrite.span_count, 0);
    phi_arena_free(&arena);
}

/* ---- whatever the history ---- */

static uint32_t seed;

static uint32_t chance(uint32_t below) {
    seed ^= seed << 13;
    seed ^= seed >> 17;
    seed ^= seed << 5;
    return seed % below;
}

static const char *some_text(char text[400]) {
    size_t n = chance(8) == 0 ? chance(399) : chance(40), i;
    for (i = 0; i < n; i++) text[i] = (char)(chance(9) == 0 ? ' ' : 'a' + (char)chance(26));
    text[n] = '\0';
    return text;
}

static uint32_t some_flags(void) { return chance(12) == 0 ? PHI_ENTRY_DURABLE : 0u; }

static void some_turn(const char *loop, uint32_t turn) {
    char text[400], id[16];
    uint32_t n = chance(3), first = next_id, i;
    uint32_t flags; /* chosen first, so that every compiler makes the same history */
    if (turn == 0 || chance(6) == 0) {
        flags = some_flags();
        say(PHI_ROLE_USER, loop, turn, some_text(text), flags);
    }
    flags = some_flags();
    calls(loop, turn, chance(3) > 0 ? some_text(text) : NULL, n, flags);
    for (i = 0; i < n; i++) {
        (void)snprintf(id, sizeof id, "id_%u", (unsigned)(first + i));
        if (chance(10) == 0) say(PHI_ROLE_USER, loop, turn, some_text(text), 0);
        flags = some_flags();
        result(loop, turn, id, lines_of(chance(30)), flags);
    }
}

static void some_history(void) {
    static const char *const loops[] = {"A", "B", "C", "D", "E", "F"};
    uint32_t runs = 1 + chance(6), r, t, turns;
    for (r = 0; r < runs; r++) {
        turns = 1 + chance(9);
        for (t = 0; t < turns; t++) {
            uint32_t turn = r > 0 && chance(9) == 0 ? t + 1 : t;
            some_turn(chance(30) == 0 ? "" : loops[r], turn);
        }
    }
}

static phi_compaction_config some_config(void) {
    uint32_t recent = 1 + chance(6);
    phi_compaction_config c = config_of(chance(4), recent);
    c.scope = chance(3) == 0 ? PHI_COMPACTION_TOKENS : PHI_COMPACTION_RUNS;
    c.scope_runs = 1 + chance(4);
    c.scope_tokens = 1 + chance(600);
    c.max_summary_tokens = 1 + chance(200);
    c.tool_output_max_lines = 1 + chance(20);
    if (chance(3) == 0) c.focus_message = "Keep what matters.";
    return c;
}

/* Every result follows its call, and every call has its result. */
static bool whole(const phi_message *const *list, size_t count) {
    size_t i, j, k, found = 0, wanted = 0;
    for (i = 0; i < count; i++) {
        if (list[i]->role == PHI_ROLE_TOOL_RESULT) found++;
        if (list[i]->role != PHI_ROLE_ASSISTANT) continue;
        for (k = 0; k < list[i]->content_count; k++) {
            if (list[i]->content[k].kind != PHI_CONTENT_TOOL_CALL) continue;
            wanted++;
            for (j = i + 1; j < count; j++)
                if (list[j]->role == PHI_ROLE_TOOL_RESULT &&
                    phi_str_equal(list[j]->tool_call_id, list[i]->content[k].id))
                    break;
            if (j == count) return false;
        }
    }
    return found == wanted;
}

static const phi_message **listed(void) {
    const phi_message **list = (const phi_message **)malloc((thread.fold.count + 1) * sizeof *list);
    size_t i;
    for (i = 0; i < thread.fold.count; i++) list[i] = thread.fold.items[i].message;
    return list;
}

/* Or with what has to stand. */
static bool begins_with_a_user(void) {
    size_t i;
    if (thread.fold.items[0].message->role == PHI_ROLE_USER) return true;
    for (i = 0; i < thread.fold.count; i++)
        if ((thread.fold.items[i].flags & PHI_ENTRY_DURABLE) != 0) return true;
    return false;
}

static bool one_random_plan(uint32_t with) {
    phi_compaction_config c;
    const phi_message **list;
    bool good = true;
    int round;
    seed = with;
    setup();
    some_history();
    c = some_config();
    for (round = 0; round < 3 && good; round++) {
        (void)compact(&c);
        list = listed();
        good = CHECK(whole(list, thread.fold.count)) && CHECK(begins_with_a_user()) &&
               CHECK_EQ_INT(compact(&c), 0);
        free(list);
        some_turn("Z", (uint32_t)round);
    }
    phi__journal_free_thread(&thread);
    return good && CHECK_EQ_INT(test_alloc_live_bytes(), 0);
}

TEST(every_plan_is_taken_makes_the_view_smaller_and_leaves_no_call_without_its_result) {
    uint32_t i;
    for (i = 1; i <= 2000; i++)
        if (!one_random_plan(i * 2654435761u)) {
            printf("seed %u\n", (unsigned)(i * 2654435761u));
            return;
        }
}

/* ---- the three levels ---- */

static phi_arena arena;
static const phi_message *const *levels;
static size_t level_count;

static phi_status level(const phi_compaction_config *config) {
    const phi_message **list = listed();
    phi_status status;
    phi_arena_init(&arena, &memory, 0);
    status =
        phi_compact_messages(list, thread.fold.count, config, NULL, &arena, &levels, &level_count);
    free(list);
    return status;
}

static uint64_t level_tokens(void) {
    uint64_t sum = 0;
    size_t i;
    for (i = 0; i < level_count; i++) sum += phi_tokens_of_message(NULL, levels[i]);
    return sum;
}

static void level_end(void) {
    phi_arena_free(&arena);
    phi__journal_free_thread(&thread);
}

static phi_compaction_config budget_of(uint64_t tokens, uint32_t first, uint32_t recent) {
    phi_compaction_config c = PHI_ZERO;
    c.keep_first_messages = first;
    c.keep_no_first_messages = first == 0;
    c.keep_recent_messages = recent;
    c.max_context_tokens = tokens + 10;
    c.system_prompt_tokens = 10;
    return c;
}

static void chat(uint32_t n) {
    uint32_t i;
    for (i = 0; i < n; i++) say(PHI_ROLE_USER, "A", i, "Twelve bytes", 0); /* 7 tokens each */
}

TEST(a_list_that_fits_is_left_as_it_is) {
    phi_compaction_config c = budget_of(1000, 2, 2);
    setup();
    run_of("A", 2, 60);
    CHECK_EQ_INT(level(&c), PHI_OK);
    CHECK_EQ_INT(level_count, 5);
    CHECK(levels[2] == thread.fold.items[2].message);
    level_end();
}

TEST(a_list_of_exactly_the_budget_is_left_as_it_is_and_one_token_more_is_cut) {
    phi_compaction_config c = budget_of(28, 1, 1);
    setup();
    chat(4);
    CHECK_EQ_INT(level(&c), PHI_OK);
    CHECK_EQ_INT(level_count, 4);
    CHECK_EQ_INT(level_tokens(), 28);
    CHECK(levels[0] == thread.fold.items[0].message);
    level_end();
    setup();
    chat(4);
    c.max_context_tokens--;
    CHECK_EQ_INT(level(&c), PHI_OK);
    CHECK_EQ_INT(level_count, 2);
    CHECK_STR(levels[0]->content[0].text, "[Context compacted: 3 messages removed]");
    CHECK(levels[1] == thread.fold.items[3].message);
    level_end();
}

TEST(of_fewer_messages_than_are_to_be_kept_the_newest_that_fit_stay) {
    phi_compaction_config c = budget_of(21, 5, 10);
    setup();
    chat(3);
    CHECK_EQ_INT(level(&c), PHI_OK);
    CHECK_EQ_INT(level_count, 3);
    level_end();
    setup();
    chat(4);
    CHECK_EQ_INT(level(&c), PHI_OK);
    REQUIRE(level_count == 2);
    CHECK_STR(levels[0]->content[0].text, "[Context compacted: 3 messages removed]");
    CHECK(levels[1] == thread.fold.items[3].message);
    level_end();
}

TEST(the_levels_keep_messages_whatever_is_said_of_turns) {
    phi_compaction_config c = budget_of(45, 1, 2);
    setup();
    c.keep_first_turns = 4;
    c.keep_recent_turns = 4;
    chat(8);
    CHECK_EQ_INT(level(&c), PHI_OK);
    REQUIRE(level_count == 4); /* one, the marker, two */
    CHECK_STR(levels[1]->content[0].text,
              "[Context compacted: 5 messages removed to fit context window]");
    CHECK(levels[3] == thread.fold.items[7].message);
    level_end();
}

TEST(first_long_results_are_cut) {
    phi_compaction_config c = budget_of(100, 2, 2);
    setup();
    c.tool_output_max_lines = 5;
    run_of("A", 1, 60);
    CHECK_EQ_INT(level(&c), PHI_OK);
    CHECK_EQ_INT(level_count, 3);
    CHECK_STR(levels[2]->content[0].text,
              "line 0\nline 1\n\n[... 55 lines truncated ...]\n\nline 57\nline 58\nline 59");
    level_end();
}

TEST(then_older_answers_become_a_line_and_their_results_go) {
    phi_compaction_config c = budget_of(160, 2, 2);
    char text[301];
    setup();
    memset(text, 'y', 300);
    text[300] = '\0';
    say(PHI_ROLE_USER, "A", 0, "Where?", 0);
    calls("A", 0, text, 1, 0);
    result("A", 0, "id_0", lines_of(50), 0);
    calls("A", 1, NULL, 2, 0);
    result("A", 1, "id_1", lines_of(50), 0);
    result("A", 1, "id_2", lines_of(50), 0);
    say(PHI_ROLE_ASSISTANT, "A", 2, "", 0);
    say(PHI_ROLE_USER, "B", 0, "And then?", 0);
    say(PHI_ROLE_ASSISTANT, "B", 0, "Nothing", 0);
    CHECK_EQ_INT(level(&c), PHI_OK);
    REQUIRE(level_count == 6);
    CHECK_STR(levels[0]->content[0].text, "Where?");
    CHECK_EQ_INT(levels[1]->role, PHI_ROLE_USER);
    CHECK_EQ_INT(levels[1]->content[0].text.len, 10 + 200);
    CHECK(memcmp(levels[1]->content[0].text.at, "[Summary] yyy", 13) == 0);
    CHECK_STR(levels[2]->content[0].text, "[Assistant used 2 tool(s)]");
    CHECK_STR(levels[3]->content[0].text, "[Assistant response]");
    CHECK_STR(levels[4]->content[0].text, "And then?");
    CHECK_STR(levels[5]->content[0].text, "Nothing");
    level_end();
}

/* As a host's own history may have it: the result came behind the next answer. */
TEST(a_late_result_whose_call_became_a_line_goes_too) {
    phi_compaction_config c = budget_of(90, 1, 1);
    char text[301];
    setup();
    memset(text, 'y', 300);
    text[300] = '\0';
    say(PHI_ROLE_USER, "A", 0, "Where?", 0);
    calls("A", 0, NULL, 1, 0);
    say(PHI_ROLE_ASSISTANT, "A", 1, text, 0);
    result("A", 1, "id_0", "here", 0);
    CHECK_EQ_INT(level(&c), PHI_OK);
    REQUIRE(level_count == 3);
    CHECK_STR(levels[0]->content[0].text, "Where?");
    CHECK_STR(levels[1]->content[0].text, "[Assistant used 1 tool(s)]");
    CHECK(memcmp(levels[2]->content[0].text.at, "[Summary] yyy", 13) == 0);
    level_end();
}

TEST(then_the_middle_goes_and_a_marker_says_how_many_messages_it_was) {
    phi_compaction_config c = budget_of(60, 2, 3);
    setup();
    chat(12);
    CHECK_EQ_INT(level(&c), PHI_OK);
    REQUIRE(level_count == 6);
    CHECK_STR(levels[2]->content[0].text,
              "[Context compacted: 7 messages removed to fit context window]");
    CHECK_EQ_INT(level_tokens(), 5 * 7 + 20);
    level_end();
}

TEST(and_at_last_only_the_newest_stay_behind_the_marker) {
    phi_compaction_config c = budget_of(40, 2, 3);
    setup();
    chat(12);
    CHECK_EQ_INT(level(&c), PHI_OK);
    REQUIRE(level_count == 4);
    CHECK_STR(levels[0]->content[0].text, "[Context compacted: 9 messages removed]");
    CHECK(levels[3] == thread.fold.items[11].message);
    CHECK_EQ_INT(level_tokens(), 14 + 3 * 7);
    level_end();
}

TEST(a_marker_counts_as_the_messages_it_stands_for_and_not_as_one_of_them) {
    phi_compaction_config c = budget_of(21, 2, 3);
    setup();
    say(PHI_ROLE_USER, "A", 0, "[Context compacted: 30 messages removed]", 0);
    chat(4);
    CHECK_EQ_INT(level(&c), PHI_OK);
    REQUIRE(level_count == 2);
    CHECK_STR(levels[0]->content[0].text, "[Context compacted: 33 messages removed]");
    level_end();
    setup();
    say(PHI_ROLE_USER, "A", 0, "[Context compacted: 30 messages removed] or so", 0);
    say(PHI_ROLE_USER, "A", 1, "[Context compacted: messages removed]", 0);
    chat(4);
    CHECK_EQ_INT(level(&c), PHI_OK);
    REQUIRE(level_count == 2);
    CHECK_STR(levels[0]->content[0].text, "[Context compacted: 5 messages removed]");
    level_end();
}

TEST(a_budget_that_the_marker_just_fills_keeps_the_newest_messages_that_fit_without_it) {
    static const uint64_t budgets[] = {13, 14, 20, 21, 27, 28};
    static const size_t messages[] = {1, 2, 2, 1, 1, 2}, markers[] = {0, 0, 0, 1, 1, 1};
    size_t i;
    for (i = 0; i < sizeof budgets / sizeof budgets[0]; i++) {
        phi_compaction_config c = budget_of(budgets[i], 2, 3);
        setup();
        chat(12); /* 7 tokens each; the marker has 14 */
        CHECK_EQ_INT(level(&c), PHI_OK);
        if (CHECK_EQ_INT(level_count, messages[i] + markers[i])) {
            CHECK(levels[level_count - 1] == thread.fold.items[11].message);
            CHECK(phi__str_starts(levels[0]->content[0].text, "[Context") == (markers[i] == 1));
        }
        level_end();
    }
}

/* The summary has 8 tokens, a message 7, the longer marker 20, the shorter one 14. */
TEST(a_summary_at_the_front_is_cut_last_before_the_newest_message_only) {
    static const struct {
        uint64_t budget;
        uint32_t first;
        size_t count;
        const char *marker; /* behind the summary; NULL: none */
    } rows[] = {{60, 0, 5, "[Context compacted: 9 messages removed to fit context window]"},
                {40, 2, 4, "[Context compacted: 10 messages removed]"},
                {40, 0, 4, "[Context compacted: 10 messages removed]"},
                {15, 2, 2, NULL}};
    phi_compaction_config c = budget_of(14, 2, 3);
    size_t i;
    for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        phi_compaction_config row = budget_of(rows[i].budget, rows[i].first, 3);
        setup();
        say(PHI_ROLE_USER, "A", 0, "[Summary] Twelve", 0);
        chat(12);
        CHECK_EQ_INT(level(&row), PHI_OK);
        if (CHECK_EQ_INT(level_count, rows[i].count)) {
            CHECK(levels[0] == thread.fold.items[0].message);
            CHECK(levels[level_count - 1] == thread.fold.items[12].message);
            if (rows[i].marker != NULL) CHECK_STR(levels[1]->content[0].text, rows[i].marker);
            CHECK(level_tokens() <= rows[i].budget);
        }
        level_end();
    }
    setup();
    say(PHI_ROLE_USER, "A", 0, "[Summary] Twelve", 0);
    chat(12);
    CHECK_EQ_INT(level(&c), PHI_OK); /* the newest does not fit with it */
    REQUIRE(level_count == 2);
    CHECK(levels[0] == thread.fold.items[11].message);
    level_end();
}

TEST(without_room_for_a_marker_there_is_none) {
    phi_compaction_config c = budget_of(10, 2, 3);
    setup();
    chat(12);
    CHECK_EQ_INT(level(&c), PHI_OK);
    CHECK_EQ_INT(level_count, 1);
    CHECK(levels[0] == thread.fold.items[11].message);
    level_end();
    setup();
    chat(3);
    c.max_context_tokens = 10;
    CHECK_EQ_INT(level(&c), PHI_OK);
    CHECK_EQ_INT(level_count, 0);
    level_end();
}

static bool one_random_list(uint32_t with) {
    phi_compaction_config c;
    bool good;
    seed = with;
    setup();
    some_history();
    c = some_config();
    c.max_context_tokens = 1 + chance(1500);
    c.system_prompt_tokens = 1 + chance(100);
    good = CHECK_EQ_INT(level(&c), PHI_OK) &&
           CHECK(level_tokens() <= (c.max_context_tokens > c.system_prompt_tokens
                                        ? c.max_context_tokens - c.system_prompt_tokens
                                        : 0)) &&
           CHECK(whole(levels, level_count));
    level_end();
    return good;
}

TEST(no_list_of_ten_thousand_is_over_its_budget) {
    uint32_t i;
    for (i = 1; i <= 10000; i++)
        if (!one_random_list(i * 2246822519u)) {
            printf("seed %u\n", (unsigned)(i * 2246822519u));
            return;
        }
}

TEST(the_levels_want_a_list_and_a_place) {
    const phi_message *none = NULL;
    phi_arena to;
    setup();
    phi_arena_init(&to, &memory, 0);
    CHECK_EQ_INT(phi_compact_messages(NULL, 1, NULL, NULL, &to, &levels, &level_count),
                 PHI_BAD_ARG);
    CHECK_EQ_INT(phi_compact_messages(&none, 1, NULL, NULL, &to, &levels, &level_count),
                 PHI_BAD_ARG);
    CHECK_EQ_INT(phi_compact_messages(NULL, 0, NULL, NULL, &to, &levels, &level_count), PHI_OK);
    CHECK_EQ_INT(level_count, 0);
    phi_arena_free(&to);
}

/* ---- memory ---- */

TEST(both_survive_every_failed_allocation) {
    phi_compaction_config c = budget_of(60, 1, 1);
    const phi_view_item *items = NULL;
    const phi_message **list;
    phi_rewrite rewrite;
    phi_arena view, made;
    size_t count = 0;
    phi_status status = PHI_NO_MEMORY;
    int n;
    setup();
    c.focus_message = "Keep it.";
    c.tool_output_max_lines = 4;
    run_of("A", 5, 60);
    run_of("B", 6, 60);
    list = listed();
    phi_arena_init(&view, &memory, 0);
    REQUIRE(phi_thread_view(&thread, NULL, UINT64_MAX, &view, &items, &count) == PHI_OK);
    for (n = 0; status != PHI_OK && n < 1000; n++) {
        phi_arena_init(&made, &memory, 64);
        test_alloc_fail_at(n);
        status = phi__compact_rewrite(items, count, &c, NULL, &made, &rewrite);
        CHECK_EQ_INT(status, test_alloc_tripped() ? PHI_NO_MEMORY : PHI_OK);
        phi_arena_free(&made);
    }
    CHECK(n > 5 && n < 1000);
    for (n = 0, status = PHI_NO_MEMORY; status != PHI_OK && n < 1000; n++) {
        phi_arena_init(&made, &memory, 64);
        test_alloc_fail_at(n);
        status = phi_compact_messages(list, count, &c, NULL, &made, &levels, &level_count);
        CHECK_EQ_INT(status, test_alloc_tripped() ? PHI_NO_MEMORY : PHI_OK);
        phi_arena_free(&made);
    }
    CHECK(n > 5 && n < 1000);
    test_alloc_fail_at(-1);
    free(list);
    phi_arena_free(&view);
    phi__journal_free_thread(&thread);
}

TEST_MAIN(
    TEST_ENTRY(a_view_of_80k_is_left_alone_and_one_of_82k_is_compacted),
    TEST_ENTRY(of_twenty_turns_two_stay_thirteen_are_summed_up_and_five_stay),
    TEST_ENTRY(of_ten_turns_nothing_is_summed_up),
    TEST_ENTRY(users_and_answers_without_words_have_their_lines),
    TEST_ENTRY(a_later_summary_takes_the_lines_of_the_earlier_one_as_they_are),
    TEST_ENTRY(a_summary_that_grows_too_long_leaves_out_its_oldest_lines_and_counts_them),
    TEST_ENTRY(lines_are_cut_shorter_before_any_is_left_out),
    TEST_ENTRY(the_focus_stands_before_what_was_summed_up_and_is_not_summed_up_itself),
    TEST_ENTRY(long_results_of_recent_turns_are_cut_in_their_middle),
    TEST_ENTRY(turns_that_are_kept_from_the_start_are_not_touched),
    TEST_ENTRY(a_section_whose_summary_would_be_larger_stands),
    TEST_ENTRY(messages_without_a_run_are_turns_of_their_own_and_calls_keep_their_results),
    TEST_ENTRY(earlier_runs_in_scope_are_summed_up_and_older_ones_go),
    TEST_ENTRY(no_earlier_run_is_in_scope_where_that_is_said),
    TEST_ENTRY(with_a_budget_of_80_tokens_the_newest_earlier_run_is_in_and_the_older_out),
    TEST_ENTRY(a_run_that_goes_on_from_another_takes_it_along),
    TEST_ENTRY(a_run_that_was_compacted_in_part_is_summed_up_whole_when_it_is_an_earlier_one),
    TEST_ENTRY(what_is_durable_stands_with_its_call),
    TEST_ENTRY(a_plan_leaves_what_came_after_it_alone), TEST_ENTRY(a_plan_wants_its_items_in_order),
    TEST_ENTRY(every_plan_is_taken_makes_the_view_smaller_and_leaves_no_call_without_its_result),
    TEST_ENTRY(a_list_that_fits_is_left_as_it_is), TEST_ENTRY(first_long_results_are_cut),
    TEST_ENTRY(a_list_of_exactly_the_budget_is_left_as_it_is_and_one_token_more_is_cut),
    TEST_ENTRY(of_fewer_messages_than_are_to_be_kept_the_newest_that_fit_stay),
    TEST_ENTRY(a_marker_counts_as_the_messages_it_stands_for_and_not_as_one_of_them),
    TEST_ENTRY(a_budget_that_the_marker_just_fills_keeps_the_newest_messages_that_fit_without_it),
    TEST_ENTRY(then_older_answers_become_a_line_and_their_results_go),
    TEST_ENTRY(a_late_result_whose_call_became_a_line_goes_too),
    TEST_ENTRY(the_levels_keep_messages_whatever_is_said_of_turns),
    TEST_ENTRY(then_the_middle_goes_and_a_marker_says_how_many_messages_it_was),
    TEST_ENTRY(and_at_last_only_the_newest_stay_behind_the_marker),
    TEST_ENTRY(a_summary_at_the_front_is_cut_last_before_the_newest_message_only),
    TEST_ENTRY(without_room_for_a_marker_there_is_none),
    TEST_ENTRY(no_list_of_ten_thousand_is_over_its_budget),
    TEST_ENTRY(the_levels_want_a_list_and_a_place),
    TEST_ENTRY(both_survive_every_failed_allocation))
