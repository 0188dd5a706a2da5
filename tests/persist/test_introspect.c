/* test_introspect.c - a thread in figures, the last that was said, and the log in words. */
#include "support/figures.h"
#include "log/random_log.h"

#include "agent/agent_in.h"
#include "support/rig.h"
#include "support/store_mem.h"
#include "persist/introspect.h"
#include "support/append.h"
#include "support/thread_text.h"
#include "agent/agent_history.h"
#include "loop/hook.h"
#include "model/event.h"
#include "persist/plan.h"

static phi_memory memory;
static phi_thread thread;
static phi_arena arena;

static void setup(void) {
    phi_allocator a = test_allocator();
    phi_memory_init(&memory, &a, 0);
    phi__thread_init(&thread, &memory, NULL);
    phi_arena_init(&arena, &memory, 0);
}

static void done(void) {
    phi_arena_free(&arena);
    phi__journal_free_thread(&thread);
}

static phi_thread *log_of(void) { return &thread; }

/* ---- making ---- */

static phi_content block_of(phi_content_kind kind, const char *text) {
    phi_content c = PHI_ZERO;
    c.kind = kind;
    c.text = phi_str_of(text);
    return c;
}

static phi_message message_of(phi_role role, phi_content *blocks, size_t count) {
    phi_message m = PHI_ZERO;
    m.role = role;
    m.content = blocks;
    m.content_count = count;
    return m;
}

static void put(const phi_message *m, uint32_t flags) {
    CHECK_EQ_INT(append_with(log_of(), m, 1, flags), PHI_OK);
}

static void say(phi_role role, const char *text) {
    phi_content c = block_of(PHI_CONTENT_TEXT, text);
    phi_message m = message_of(role, &c, 1);
    put(&m, 0);
}

static phi_content call_of(const char *id, const char *arguments) {
    phi_content c = PHI_ZERO;
    c.kind = PHI_CONTENT_TOOL_CALL;
    c.id = phi_str_of(id);
    c.name = phi_str_of("ls");
    c.arguments = phi_str_of(arguments);
    return c;
}

/* "a b": one answer with the calls a and b, after some words. */
static void calls(const char *text, const char *ids) {
    static const char *const names[] = {"a", "b", "c", "d", "e", "f"};
    phi_content blocks[8];
    phi_message m = message_of(PHI_ROLE_ASSISTANT, blocks, 0);
    if (text != NULL) blocks[m.content_count++] = block_of(PHI_CONTENT_TEXT, text);
    for (; *ids != '\0'; ids += ids[1] == ' ' ? 2 : 1)
        blocks[m.content_count++] = call_of(names[*ids - 'a'], "{\"at\": \".\"}");
    m.stop_reason = PHI_STOP_REASON_TOOL_USE;
    put(&m, 0);
}

static void result(const char *id, uint32_t flags, bool is_error) {
    phi_content c = block_of(PHI_CONTENT_TEXT, "one\ntwo\tthree");
    phi_message m = message_of(PHI_ROLE_TOOL_RESULT, &c, 1);
    m.tool_call_id = phi_str_of(id);
    m.tool_name = phi_str_of("ls");
    m.is_error = is_error;
    put(&m, flags);
}

/* user 0, calls a and b 1, their results 2 and 3, answer 4, user 5, answer 6 */
static void conversation(void) {
    setup();
    say(PHI_ROLE_USER, "list them");
    calls("I look", "a b");
    result("a", 0, false);
    result("b", 0, true);
    say(PHI_ROLE_ASSISTANT, "two files");
    say(PHI_ROLE_USER, "thanks");
    say(PHI_ROLE_ASSISTANT, "welcome");
}

static void rewrite(const char *op_id, phi_rewrite_reason reason, const phi_span *spans, size_t n) {
    phi_rewrite r = PHI_ZERO;
    char words[200] = "";
    r.op_id = op_id;
    r.reason = reason;
    r.spans = spans;
    r.span_count = n;
    CHECK_EQ_INT(phi_thread_rewrite(log_of(), &r, NULL, words, sizeof words), PHI_OK);
    CHECK_EQ_STR(words, "");
}

static phi_span span_of(uint64_t from, uint64_t to, const phi_message *messages, size_t count) {
    phi_span span = PHI_ZERO;
    span.from = from;
    span.to = to;
    span.messages = messages;
    span.message_count = count;
    return span;
}

/* ---- looking ---- */

static const char *described(const phi_describe *d) {
    phi_str out = {"", 0};
    CHECK_EQ_INT(phi_thread_describe(log_of(), d, &arena, &out, NULL), PHI_OK);
    return out.at; /* an arena's copy is terminated */
}

static phi_lane_figures figures(const char *lane, uint64_t upto) {
    phi_lane_figures f = PHI_ZERO;
    CHECK_EQ_INT(lane_figures(log_of(), lane, upto, &f), PHI_OK);
    return f;
}

static phi_str last_text(void) {
    const phi_message *m = phi_thread_last(log_of(), PHI_ROLE_ASSISTANT, true);
    bool failed = false;
    return m != NULL ? phi_message_text(m, "", &arena, &failed) : phi_str_of("(none)");
}

/* ---- an empty one, and what is no argument ---- */

TEST(an_empty_thread_shows_nothing_and_says_so) {
    phi_lane_figures f;
    phi_entry e;
    setup();
    f = figures(NULL, UINT64_MAX);
    CHECK_EQ_INT(f.messages + f.user + f.answers + f.results + f.extensions + f.made + f.summaries,
                 0);
    CHECK_EQ_INT(f.calls + f.open_calls + f.text_bytes + f.tokens, 0);
    CHECK(phi_thread_last(log_of(), PHI_ROLE_USER, false) == NULL);
    CHECK(phi_thread_last(log_of(), (phi_role)0, true) == NULL);
    CHECK_EQ_INT(phi_thread_entry(log_of(), phi_thread_count(log_of()) - 1, &e), PHI_NOT_FOUND);
    CHECK_EQ_STR(
        described(NULL),
        "0 entries, 1 lane; runs that ended took 0 tokens in, 0 of them cached, 0 out\n"
        "lane \"default\" shows 0 messages, 0 tokens: 0 of the user, 0 answers, 0 results\n");
    done();
}

TEST(what_is_missing_or_not_there_is_a_status_and_changes_nothing) {
    phi_describe d = PHI_ZERO;
    phi_lane_figures f;
    phi_str text = {"before", 6};
    conversation();
    memset(&f, 7, sizeof f);
    d.lane = "elsewhere";
    CHECK_EQ_INT(lane_figures(NULL, NULL, 0, &f), PHI_BAD_ARG);
    CHECK_EQ_INT(lane_figures(log_of(), NULL, 0, NULL), PHI_BAD_ARG);
    CHECK_EQ_INT(lane_figures(log_of(), "elsewhere", 0, &f), PHI_NOT_FOUND);
    CHECK_EQ_INT(((unsigned char *)&f)[sizeof f - 1], 7);
    CHECK(phi_thread_last(NULL, PHI_ROLE_USER, false) == NULL);
    CHECK(phi_thread_last(log_of(), (phi_role)5, false) == NULL);
    CHECK(phi_thread_last(log_of(), PHI_ROLE_EXTENSION, false) == NULL);
    CHECK_EQ_INT(phi_thread_describe(NULL, NULL, &arena, &text, NULL), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_thread_describe(log_of(), NULL, NULL, &text, NULL), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_thread_describe(log_of(), NULL, &arena, NULL, NULL), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_thread_describe(log_of(), &d, &arena, &text, NULL), PHI_NOT_FOUND);
    CHECK_STR(text, "before");
    done();
}

/* ---- figures and the last one ---- */

TEST(figures_count_what_a_lane_shows_at_any_entry) {
    phi_lane_figures f;
    conversation();
    f = figures(NULL, UINT64_MAX);
    CHECK_EQ_INT(f.messages, 7);
    CHECK_EQ_INT(f.user, 2);
    CHECK_EQ_INT(f.answers, 3);
    CHECK_EQ_INT(f.results, 2);
    CHECK_EQ_INT(f.calls, 2);
    CHECK_EQ_INT(f.open_calls, 0);
    CHECK_EQ_INT(f.text_bytes, 9 + 6 + 13 + 13 + 9 + 6 + 7);
    CHECK_EQ_INT(f.tokens, 82);
    f = figures(PHI_LANE_DEFAULT, 2);
    CHECK_EQ_INT(f.messages, 3);
    CHECK_EQ_INT(f.calls, 2);
    CHECK_EQ_INT(f.open_calls, 1); /* b */
    f = figures(NULL, 0);
    CHECK_EQ_INT(f.messages, 1);
    CHECK_EQ_INT(f.tokens, 7);
    done();
}

TEST(the_last_message_is_that_of_a_role) {
    const phi_message *m;
    conversation();
    m = phi_thread_last(log_of(), PHI_ROLE_USER, false);
    REQUIRE(m != NULL);
    CHECK_STR(m->content[0].text, "thanks");
    m = phi_thread_last(log_of(), PHI_ROLE_TOOL_RESULT, false);
    REQUIRE(m != NULL);
    CHECK(m->is_error); /* of b */
    m = phi_thread_last(log_of(), PHI_ROLE_ASSISTANT, false);
    REQUIRE(m != NULL);
    CHECK_STR(m->content[0].text, "welcome");
    CHECK(phi_thread_last(log_of(), (phi_role)0, false) == m);
    done();
}

TEST(what_the_model_said_last_is_of_the_newest_answer_with_words) {
    phi_content blocks[3];
    phi_message m = message_of(PHI_ROLE_ASSISTANT, blocks, 3);
    conversation();
    CHECK_STR(last_text(), "welcome");
    blocks[0] = block_of(PHI_CONTENT_TEXT, "first, ");
    blocks[1] = block_of(PHI_CONTENT_THINKING, "hm");
    blocks[2] = block_of(PHI_CONTENT_TEXT, "second");
    put(&m, 0);
    CHECK_STR(last_text(), "first, second");
    calls(NULL, "c");
    result("c", 0, false);
    CHECK_STR(last_text(), "first, second");
    CHECK_EQ_INT(phi_thread_switch(log_of(), NULL), PHI_OK);
    CHECK_STR(last_text(), "(none)");
    done();
}

TEST(an_answer_that_failed_is_not_the_last_one) {
    phi_content c = block_of(PHI_CONTENT_TEXT, "wel");
    phi_message m = message_of(PHI_ROLE_ASSISTANT, &c, 1);
    conversation();
    m.stop_reason = PHI_STOP_REASON_ABORTED;
    put(&m, 0);
    CHECK_STR(last_text(), "welcome");
    CHECK(strstr(described(NULL), "\n7 answer (aborted), 5 tokens, hidden: \"wel\"\n") != NULL);
    done();
}

TEST(a_result_answers_the_nearest_call_of_its_id_before_it) {
    setup();
    result("a", 0, false); /* of no call */
    calls(NULL, "a");
    calls(NULL, "a");
    result("a", 0, false);
    result("a", 0, false); /* once more */
    calls(NULL, "b a");
    CHECK_EQ_INT(figures(NULL, UINT64_MAX).calls, 4);
    CHECK_EQ_INT(figures(NULL, UINT64_MAX).open_calls, 3);
    CHECK_EQ_STR(
        described(NULL),
        "6 entries, 1 lane; runs that ended took 0 tokens in, 0 of them cached, 0 out\n"
        "lane \"default\" shows 6 messages, 99 tokens: 0 of the user, 3 answers, 3 results; "
        "3 calls open\n"
        "0 result of ls a, 13 tokens, shown: \"one\\ntwo\\tthree\"\n"
        "1 answer, 16 tokens, shown, calls ls a {\"at\": \".\"} (open)\n"
        "2 answer, 16 tokens, shown, calls ls a {\"at\": \".\"}\n"
        "3 result of ls a, 13 tokens, shown: \"one\\ntwo\\tthree\"\n"
        "4 result of ls a, 13 tokens, shown: \"one\\ntwo\\tthree\"\n"
        "5 answer, 28 tokens, shown, calls ls b {\"at\": \".\"} (open), ls a {\"at\": \".\"} "
        "(open)\n");
    done();
}

/* ---- plans ---- */

TEST(a_plan_is_of_one_kind_and_changes_nothing) {
    phi_compaction_config config = PHI_ZERO;
    phi_prune prune = PHI_ZERO;
    phi_revert revert = PHI_ZERO;
    phi_pruned pruned = PHI_ZERO;
    phi_reverted reverted = PHI_ZERO;
    phi_plan plan = PHI_ZERO;
    phi_rewrite out = PHI_ZERO;
    conversation();
    CHECK_EQ_INT(phi_thread_plan(log_of(), &plan, &arena, &out), PHI_BAD_ARG);
    plan.prune = &prune;
    CHECK_EQ_INT(phi_thread_plan(log_of(), &plan, &arena, &out), PHI_BAD_ARG); /* no tokens */
    prune.tokens = 20;
    plan.compaction = &config;
    CHECK_EQ_INT(phi_thread_plan(log_of(), &plan, &arena, &out), PHI_BAD_ARG);
    plan.compaction = NULL;
    plan.pruned = &pruned;
    CHECK_EQ_INT(phi_thread_plan(log_of(), &plan, &arena, &out), PHI_OK);
    REQUIRE(out.span_count == 1);
    CHECK_EQ_INT(out.spans[0].from, 1);
    CHECK_EQ_INT(out.spans[0].to, 3);
    CHECK_EQ_INT(pruned.messages_removed, 3);
    plan.prune = NULL;
    plan.revert = &revert;
    plan.reverted = &reverted;
    CHECK_EQ_INT(phi_thread_plan(log_of(), &plan, &arena, &out), PHI_BAD_ARG); /* no category */
    revert.category = PHI_REVERT_FAILURE;
    revert.step = 2;
    CHECK_EQ_INT(phi_thread_plan(log_of(), &plan, &arena, &out), PHI_OK);
    CHECK_STR(reverted.reason, "step n2 was not found");
    plan.revert = NULL;
    plan.compaction = &config;
    CHECK_EQ_INT(phi_thread_plan(log_of(), &plan, &arena, &out), PHI_OK);
    CHECK_EQ_INT(out.span_count, 0); /* nothing to save */
    CHECK_EQ_INT(phi_thread_plan(log_of(), &plan, NULL, &out), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_thread_count(log_of()), 7);
    done();
}

/* ---- in words ---- */

TEST(each_message_is_a_line) {
    conversation();
    CHECK_EQ_STR(
        described(NULL),
        "7 entries, 1 lane; runs that ended took 0 tokens in, 0 of them cached, 0 out\n"
        "lane \"default\" shows 7 messages, 82 tokens: 2 of the user, 3 answers, 2 results\n"
        "0 user message, 7 tokens, shown: \"list them\"\n"
        "1 answer, 30 tokens, shown: \"I look\", calls ls a {\"at\": \".\"}, ls b {\"at\": \".\"}\n"
        "2 result of ls a, 13 tokens, shown: \"one\\ntwo\\tthree\"\n"
        "3 failed result of ls b, 13 tokens, shown: \"one\\ntwo\\tthree\"\n"
        "4 answer, 7 tokens, shown: \"two files\"\n"
        "5 user message, 6 tokens, shown: \"thanks\"\n"
        "6 answer, 6 tokens, shown: \"welcome\"\n");
    done();
}

TEST(the_newest_entries_are_described_or_those_before_one) {
    phi_describe d = PHI_ZERO;
    conversation();
    d.last = 2;
    CHECK_EQ_STR(
        described(&d),
        "7 entries, 1 lane; runs that ended took 0 tokens in, 0 of them cached, 0 out\n"
        "lane \"default\" shows 7 messages, 82 tokens: 2 of the user, 3 answers, 2 results\n"
        "5 user message, 6 tokens, shown: \"thanks\"\n"
        "6 answer, 6 tokens, shown: \"welcome\"\n");
    d.before = 3;
    CHECK_EQ_STR(
        described(&d),
        "3 entries of 7, 1 lane\n"
        "lane \"default\" shows 3 messages, 50 tokens: 1 of the user, 1 answer, 1 result; "
        "1 call open\n"
        "1 answer, 30 tokens, shown: \"I look\", calls ls a {\"at\": \".\"}, ls b {\"at\": \".\"} "
        "(open)\n"
        "2 result of ls a, 13 tokens, shown: \"one\\ntwo\\tthree\"\n");
    d.before = 700;
    d.last = 1;
    CHECK(strstr(described(&d), "results\n6 answer, 6 tokens, shown: \"welcome\"\n") != NULL);
    done();
}

TEST(an_answer_names_its_thinking_and_a_call_that_broke_off) {
    phi_content blocks[3];
    phi_message m = message_of(PHI_ROLE_ASSISTANT, blocks, 3);
    setup();
    blocks[0] = block_of(PHI_CONTENT_THINKING, "hm");
    blocks[1] = block_of(PHI_CONTENT_TEXT, "I");
    blocks[2] = call_of("a", "{\"at");
    blocks[2].incomplete = true;
    m.stop_reason = PHI_STOP_REASON_LENGTH;
    put(&m, 0);
    CHECK_EQ_STR(
        strstr(described(NULL), "0 answer ("),
        "0 answer (length), 16 tokens, shown, thinking: \"I\", calls ls a {\"at (broke off)\n");
    CHECK_EQ_INT(figures(NULL, UINT64_MAX).calls, 0);
    done();
}

TEST(twenty_entries_are_described_unless_asked_otherwise) {
    phi_describe d = PHI_ZERO;
    int i;
    setup();
    for (i = 0; i < 30; i++) say(PHI_ROLE_USER, "x");
    CHECK(strstr(described(NULL), "results\n10 user message") != NULL);
    d.last = PHI_UNLIMITED;
    CHECK(strstr(described(&d), "results\n0 user message") != NULL);
    done();
}

TEST(a_line_says_whether_a_message_is_shown_replaced_or_hidden) {
    phi_content text = block_of(PHI_CONTENT_TEXT, "So far: two files."), shorter;
    phi_message summary = message_of(PHI_ROLE_USER, &text, 1), cut;
    phi_span spans[2];
    phi_rewrite undo = PHI_ZERO;
    conversation();
    spans[0] = span_of(0, 4, &summary, 1);
    spans[0].summary = true;
    rewrite("sum", PHI_REWRITE_COMPACTION, spans, 1);
    spans[0] = span_of(6, 6, NULL, 0);
    rewrite("gone", PHI_REWRITE_PRUNE, spans, 1);
    CHECK_EQ_STR(
        described(NULL),
        "9 entries, 1 lane; runs that ended took 0 tokens in, 0 of them cached, 0 out\n"
        "lane \"default\" shows 2 messages, 15 tokens: 2 of the user, 0 answers, 0 results; "
        "1 made by rewrites\n"
        "0 user message, 7 tokens, replaced: \"list them\"\n"
        "1 answer, 30 tokens, replaced: \"I look\", calls ls a {\"at\": \".\"}, ls b {\"at\": "
        "\".\"}\n"
        "2 result of ls a, 13 tokens, replaced: \"one\\ntwo\\tthree\"\n"
        "3 failed result of ls b, 13 tokens, replaced: \"one\\ntwo\\tthree\"\n"
        "4 answer, 7 tokens, replaced: \"two files\"\n"
        "5 user message, 6 tokens, shown: \"thanks\"\n"
        "6 answer, 6 tokens, hidden: \"welcome\"\n"
        "7 rewrite \"sum\" (compaction) replaces 0-4 by 1 summary \"So far: two files.\"\n"
        "8 rewrite \"gone\" (prune) replaces 6 by nothing\n");
    CHECK_EQ_INT(figures(NULL, UINT64_MAX).made, 1);
    CHECK_EQ_INT(figures(NULL, UINT64_MAX).summaries, 1);
    undo.revoke = "sum";
    undo.op_id = "back";
    CHECK_EQ_INT(phi_thread_rewrite(log_of(), &undo, NULL, NULL, 0), PHI_OK);
    CHECK(strstr(described(NULL), "\n9 rewrite \"back\" undoes \"sum\"\n") != NULL);
    CHECK(strstr(described(NULL), "\n0 user message, 7 tokens, shown: \"list them\"\n") != NULL);
    shorter = block_of(PHI_CONTENT_TEXT, "one");
    cut = message_of(PHI_ROLE_TOOL_RESULT, &shorter, 1);
    cut.tool_call_id = phi_str_of("a");
    cut.tool_name = phi_str_of("ls");
    spans[0] = span_of(2, 2, &cut, 1);
    spans[1] = span_of(4, 5, &summary, 1);
    rewrite("cut", PHI_REWRITE_MANUAL, spans, 2);
    CHECK(strstr(described(NULL), "\n2 result of ls a, 13 tokens, replaced: ") != NULL);
    CHECK(strstr(described(NULL),
                 "\n10 rewrite \"cut\" (manual) replaces 2 by 1 message \"one\", 4-5 "
                 "by 1 message \"So far: two files.\"\n") != NULL);
    done();
}

TEST(what_is_durable_is_shown_in_the_midst_of_what_was_replaced) {
    phi_content text = block_of(PHI_CONTENT_TEXT, "Short.");
    phi_message summary = message_of(PHI_ROLE_USER, &text, 1);
    phi_span span = span_of(0, 4, &summary, 1);
    phi_describe d = PHI_ZERO;
    setup();
    say(PHI_ROLE_USER, "go");
    calls(NULL, "a");
    result("a", PHI_ENTRY_DURABLE, false);
    say(PHI_ROLE_ASSISTANT, "gone");
    say(PHI_ROLE_USER, "more");
    rewrite("sum", PHI_REWRITE_COMPACTION, &span, 1);
    d.last = 6;
    CHECK(strstr(described(&d),
                 "0 user message, 5 tokens, replaced: \"go\"\n"
                 "1 answer, 16 tokens, shown, calls ls a {\"at\": \".\"}\n"
                 "2 result of ls a, 13 tokens, shown, durable: \"one\\ntwo\\tthree\"\n"
                 "3 answer, 5 tokens, replaced: \"gone\"\n"
                 "4 user message, 5 tokens, replaced: \"more\"\n") != NULL);
    done();
}

TEST(a_message_that_was_carried_over_is_shown) {
    phi_describe d = PHI_ZERO;
    phi_str text;
    phi_thread other;
    setup();
    phi__thread_init(&other, &memory, NULL);
    say(PHI_ROLE_USER, "as it was");
    thread.fold.items[0].flags |= (uint32_t)PHI_ITEM_SYNTHETIC | (uint32_t)PHI_ITEM_SUMMARY;
    CHECK(phi__rebase_take(&other, &thread, &thread.fold, NULL));
    CHECK_EQ_INT(phi_thread_describe(&other, &d, &arena, &text, NULL), PHI_OK);
    CHECK(strstr(text.at, "shown") != NULL && strstr(text.at, "replaced") == NULL);
    if (!CHECK(strstr(text.at, "shown") != NULL)) printf("%s\n", text.at);
    phi__journal_free_thread(&other);
    done();
}

TEST(entries_of_other_lanes_say_so) {
    phi_describe d = PHI_ZERO;
    conversation();
    CHECK_EQ_INT(phi_thread_fork_lane(log_of(), "what if", NULL, 4), PHI_OK);
    CHECK_EQ_INT(phi_thread_switch(log_of(), "what if"), PHI_OK);
    say(PHI_ROLE_USER, "left");
    CHECK_EQ_INT(phi_thread_switch(log_of(), "new\n"), PHI_OK);
    d.last = 8;
    d.lane = "what if";
    CHECK_EQ_STR(
        described(&d),
        "12 entries, 3 lanes; runs that ended took 0 tokens in, 0 of them cached, 0 out\n"
        "lane \"what if\" shows 6 messages, 75 tokens: 2 of the user, 2 answers, 2 results\n"
        "4 [default] answer, 7 tokens, shown: \"two files\"\n"
        "5 [default] user message, 6 tokens, hidden: \"thanks\"\n"
        "6 [default] answer, 6 tokens, hidden: \"welcome\"\n"
        "7 lane \"what if\" begins as \"default\" after 4\n"
        "8 lane \"what if\" is active\n"
        "9 user message, 5 tokens, shown: \"left\"\n"
        "10 lane \"new\\n\" begins empty\n"
        "11 lane \"new\\n\" is active\n");
    d.lane = NULL;
    d.last = 1;
    CHECK(strstr(described(&d), "\nlane \"new\\n\" shows 0 messages") != NULL);
    done();
}

TEST(texts_are_cut_at_a_character_and_hold_nothing_that_a_terminal_obeys) {
    phi_describe d = PHI_ZERO;
    phi_content blocks[3];
    phi_message m = message_of(PHI_ROLE_USER, blocks, 3);
    setup();
    d.text_bytes = 10;
    say(PHI_ROLE_USER, "0123456789");
    say(PHI_ROLE_USER, "012345678\xc3\xbc"); /* the tenth byte is half a character */
    say(PHI_ROLE_USER, "\x1b[2J\r\x7f\xc2\x9b\xff");
    blocks[0] = block_of(PHI_CONTENT_TEXT, "01234567");
    blocks[1] = block_of(PHI_CONTENT_TEXT, "");
    blocks[2] = block_of(PHI_CONTENT_TEXT, "89abcdef");
    put(&m, 0);
    blocks[1] = block_of(PHI_CONTENT_IMAGE, "");
    blocks[1].data = phi_str_of("aGVsbG8=");
    blocks[1].mime_type = phi_str_of("image/png");
    put(&m, 0);
    blocks[1].kind = PHI_CONTENT_DOCUMENT;
    blocks[2].kind = PHI_CONTENT_AUDIO;
    blocks[2].data = phi_str_of("UklGRg==");
    blocks[2].mime_type = phi_str_of("audio/wav");
    put(&m, 0);
    CHECK_EQ_STR(strstr(described(&d), "0 user message"),
                 "0 user message, 7 tokens, shown: \"0123456789\"\n"
                 "1 user message, 7 tokens, shown: \"012345678...\" of 11 bytes\n"
                 "2 user message, 7 tokens, shown: \"\\x1b[2J\\x0d\\x7f\\x9b\xef\xbf\xbd\"\n"
                 "3 user message, 8 tokens, shown: \"0123456789...\" of 16 bytes\n"
                 "4 user message, 93 tokens, shown, 1 image: \"0123456789...\" of 16 bytes\n"
                 "5 user message, 6 tokens, shown, 1 document, 1 sound: \"01234567\"\n");
    d.text_bytes = PHI_UNLIMITED;
    CHECK(strstr(described(&d), "\n3 user message, 8 tokens, shown: \"0123456789abcdef\"\n") !=
          NULL);
    done();
}

TEST(a_text_is_cut_to_two_hundred_bytes_and_a_name_to_eighty) {
    static char text[202], name[91], want[500];
    phi_message m = PHI_ZERO;
    setup();
    memset(text, 't', 201);
    memset(name, 'n', 90);
    m.role = PHI_ROLE_EXTENSION;
    m.extension_kind = phi_str_of(name);
    m.extension_data = phi_str_of("{}");
    put(&m, 0);
    say(PHI_ROLE_USER, text);
    (void)snprintf(want, sizeof want,
                   "0 extension %.80s..., 5 tokens, shown: {}\n"
                   "1 user message, 55 tokens, shown: \"%.200s...\" of 201 bytes\n",
                   name, text);
    CHECK_EQ_STR(strstr(described(NULL), "0 extension"), want);
    CHECK_EQ_INT(figures(NULL, UINT64_MAX).extensions, 1);
    CHECK(strstr(described(NULL), ", 0 results, 1 extension\n") != NULL);
    done();
}

TEST(a_line_names_four_calls_and_four_spans) {
    phi_span spans[6];
    size_t i;
    setup();
    for (i = 0; i < 6; i++) {
        say(PHI_ROLE_USER, "x");
        spans[i] = span_of(i, i, NULL, 0);
    }
    calls(NULL, "a b c d e f");
    rewrite("six", PHI_REWRITE_REVERT, spans, 6);
    CHECK(
        strstr(
            described(NULL),
            "calls ls a {\"at\": \".\"} (open), ls b {\"at\": \".\"} (open), ls c {\"at\": \".\"} "
            "(open), ls d {\"at\": \".\"} (open) and 2 more\n") != NULL);
    CHECK(strstr(described(NULL),
                 "rewrite \"six\" (revert) replaces 0 by nothing, 1 by nothing, 2 by "
                 "nothing, 3 by nothing and 2 more\n") != NULL);
    done();
}

TEST(other_entries_are_a_line_each) {
    static const char *const text =
        "{\"phi_thread\":1}\n"
        "{\"seq\":0,\"kind\":\"loop_start\",\"at\":0,\"loop\":\"s.m.1\",\"info\":{\"continuation\":"
        "\"rerun\","
        "\"loop_id\":\"\"}}\n"
        "{\"seq\":1,\"kind\":\"turn_start\",\"at\":0,\"loop\":\"s.m.1\",\"turn\":3,\"trigger\":"
        "\"sub_agent\"}\n"
        "{\"seq\":2,\"kind\":\"spawn\",\"at\":0,\"loop\":\"s.m.1\",\"tool_call_id\":\"c1\","
        "\"session_id\":"
        "\"child\",\"loop_id\":\"child.x.1\"}\n"
        "{\"seq\":3,\"kind\":\"turn_end\",\"at\":0,\"loop\":\"s.m.1\",\"turn\":3,\"usage\":{"
        "\"input\":10,"
        "\"output\":40,\"cache_read\":200,\"cache_write\":3}}\n"
        "{\"seq\":4,\"kind\":\"loop_end\",\"at\":0,\"loop\":\"s.m.1\",\"status\":-16,\"keep\":"
        "\"none\","
        "\"failure\":{\"kind\":\"rate_limited\"},\"usage\":{\"input\":10,\"output\":40,\"cache_"
        "read\":200,"
        "\"cache_write\":3}}\n"
        "{\"seq\":5,\"kind\":\"note\",\"at\":0,\"name\":\"gate\",\"json\":\"{\\\"open\\\":true}\"}"
        "\n"
        "{\"seq\":6,\"kind\":\"turn_start\",\"at\":0,\"loop\":\"s.m.1\",\"turn\":3}\n";
    char words[200] = "";
    setup();
    CHECK_EQ_INT(thread_from_json(log_of(), phi_str_of(text), words, sizeof words), PHI_OK);
    CHECK_EQ_STR(words, "");
    CHECK_EQ_STR(
        described(NULL),
        "7 entries, 1 lane; runs that ended took 213 tokens in, 200 of them cached, 40 out\n"
        "lane \"default\" shows 0 messages, 0 tokens: 0 of the user, 0 answers, 0 results\n"
        "0 run \"s.m.1\" begins (rerun)\n"
        "1 turn 3 begins (sub_agent)\n"
        "2 call \"c1\" ran \"child.x.1\"\n"
        "3 turn 3 ends; 213 tokens in, 200 of them cached, 40 out\n"
        "4 run \"s.m.1\" ends: the other side refused (rate_limited), nothing of it is kept; 213 "
        "tokens "
        "in, 200 of them cached, 40 out\n"
        "5 note gate: {\"open\":true}\n"
        "6 turn 3 begins\n");
    done();
}

TEST(a_run_is_looked_at_while_its_tool_is_pending) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool wait = rig_wait(r);
    phi_agent agent;
    phi_lane_figures f = PHI_ZERO;
    phi_str text = {"", 0};
    desc.tools = &wait;
    desc.tool_count = 1;
    agent = rig_agent(r, &desc);
    setup();
    rig_call(r, "c1", "wait", "{}");
    rig_says(r, "Here it is");
    CHECK_EQ_INT(phi_prompt(agent, "Fetch it"), PHI_OK);
    (void)rig_run(r, 20);
    CHECK_EQ_INT(lane_figures(phi_agent_thread(agent), NULL, UINT64_MAX, &f), PHI_OK);
    CHECK_EQ_INT(f.open_calls, 1);
    CHECK_EQ_INT(phi_thread_describe(phi_agent_thread(agent), NULL, &arena, &text, NULL), PHI_OK);
    CHECK_EQ_STR(
        text.at,
        "4 entries, 1 lane; runs that ended took 0 tokens in, 0 of them cached, 0 out\n"
        "lane \"default\" shows 2 messages, 20 tokens: 1 of the user, 1 answer, 0 results; "
        "1 call open\n"
        "0 run \"session.anthropic.test-model.1\" begins (initial)\n"
        "1 user message, 6 tokens, shown: \"Fetch it\"\n"
        "2 turn 0 begins (user)\n"
        "3 answer, 14 tokens, shown, calls wait c1 {} (open)\n");
    rig_finish(r, 0, "a sword");
    CHECK_EQ_INT(rig_run(r, 40), 0);
    CHECK_EQ_INT(lane_figures(phi_agent_thread(agent), NULL, UINT64_MAX, &f), PHI_OK);
    CHECK_EQ_INT(f.open_calls, 0);
    REQUIRE(phi_thread_last(phi_agent_thread(agent), PHI_ROLE_ASSISTANT, true) != NULL);
    CHECK_STR(phi_thread_last(phi_agent_thread(agent), PHI_ROLE_ASSISTANT, true)->content[0].text,
              "Here it is");
    CHECK_EQ_INT(phi_thread_describe(phi_agent_thread(agent), NULL, &arena, &text, NULL), PHI_OK);
    CHECK_EQ_STR(
        text.at,
        "10 entries, 1 lane; runs that ended took 20 tokens in, 0 of them cached, 10 out\n"
        "lane \"default\" shows 4 messages, 38 tokens: 1 of the user, 2 answers, 1 result\n"
        "0 run \"session.anthropic.test-model.1\" begins (initial)\n"
        "1 user message, 6 tokens, shown: \"Fetch it\"\n"
        "2 turn 0 begins (user)\n"
        "3 answer, 14 tokens, shown, calls wait c1 {}\n"
        "4 result of wait c1, 11 tokens, shown: \"a sword\"\n"
        "5 turn 0 ends; 10 tokens in, 0 of them cached, 5 out\n"
        "6 turn 1 begins (continuation)\n"
        "7 answer, 7 tokens, shown: \"Here it is\"\n"
        "8 turn 1 ends; 10 tokens in, 0 of them cached, 5 out\n"
        "9 run \"session.anthropic.test-model.1\" ends: ok; 20 tokens in, 0 of them cached, 10 "
        "out\n");
    done();
    rig_free(r);
}

static size_t lines(const char *text) {
    size_t n = 0;
    for (; *text != '\0'; text++) n += *text == '\n';
    return n;
}

/* Forty runs in a store, of which one message is left in view. */
static phi_agent talk_that_is_away(rig *r, store_mem *store) {
    static char long_text[2001];
    phi_agent_desc desc = rig_desc();
    phi_content text = block_of(PHI_CONTENT_TEXT, "They talked.");
    phi_message summary = message_of(PHI_ROLE_USER, &text, 1);
    phi_span span = span_of(0, 0, &summary, 1);
    phi_rewrite all = PHI_ZERO;
    phi_agent agent;
    int i;
    desc.store = store_mem_store(store);
    desc.thread_id = "t";
    agent = rig_agent(r, &desc);
    memset(long_text, 'w', 2000);
    for (i = 0; i < 40; i++) {
        rig_says(r, long_text);
        CHECK_EQ_INT(phi_prompt(agent, "Go on."), PHI_OK);
        CHECK_EQ_INT(rig_run(r, 40), 0);
    }
    span.to = phi_thread_count(phi_agent_thread(agent)) - 1;
    span.summary = true;
    all.op_id = "all";
    all.spans = &span;
    all.span_count = 1;
    CHECK_EQ_INT(phi_agent_rewrite(agent, &all), PHI_OK);
    for (i = 0; i < 3; i++) (void)rig_step(r);
    return agent;
}

TEST(entries_that_left_memory_are_read_back_when_they_are_described) {
    rig *r = rig_new();
    store_mem *store = store_mem_new();
    phi_agent agent = talk_that_is_away(r, store);
    const phi_thread *log = phi_agent_thread(agent);
    const phi_thread *inside = log;
    phi_describe d = PHI_ZERO;
    phi_lane_figures f = PHI_ZERO;
    const phi_message *last;
    phi_str text = {"before", 6};
    setup();
    CHECK(inside->log.held < inside->log.count);
    store_mem_fail_at(store, 0, PHI_IO);
    CHECK_EQ_INT(lane_figures(log, NULL, UINT64_MAX, &f), PHI_OK); /* without the store */
    CHECK_EQ_INT(f.messages, 1);
    last = phi_thread_last(log, PHI_ROLE_USER, false);
    REQUIRE(last != NULL);
    CHECK_STR(last->content[0].text, "They talked.");
    d.last = PHI_UNLIMITED;
    CHECK_EQ_INT(phi_thread_describe(log, &d, &arena, &text, NULL), PHI_IO);
    CHECK_STR(text, "before");
    CHECK_EQ_INT(phi_thread_describe(log, &d, &arena, &text, NULL), PHI_OK);
    CHECK_EQ_INT(lines(text.at), phi_thread_count(log) + 2);
    CHECK(strstr(text.at, "\n1 user message, 6 tokens, replaced: \"Go on.\"\n") != NULL);
    done();
    rig_free(r);
    store_mem_free(store);
}

/* ---- for every log ---- */

static bool counts(const char *lane, uint64_t upto) {
    const phi_view_item *items = NULL;
    phi_lane_figures f = figures(lane, upto);
    size_t count = 0, i, user = 0;
    uint64_t tokens = 0;
    CHECK_EQ_INT(phi_thread_view(log_of(), lane, upto, &arena, &items, &count), PHI_OK);
    for (i = 0; i < count; i++) {
        user += items[i].message->role == PHI_ROLE_USER;
        tokens += items[i].tokens;
    }
    return CHECK_EQ_INT(f.messages, count) && CHECK_EQ_INT(f.user, user) &&
           CHECK_EQ_INT(f.tokens, tokens) && CHECK(f.open_calls <= f.calls) &&
           CHECK_EQ_INT(f.user + f.answers + f.results + f.extensions, count);
}

TEST(a_thread_at_its_memory_limit_is_described_in_the_memory_of_the_callers_arena) {
    phi_allocator a = test_allocator();
    phi_memory ours = PHI_ZERO;
    phi_arena room;
    phi_str text = PHI_ZERO;
    conversation();
    phi_memory_init(&ours, &a, 0);
    phi_arena_init(&room, &ours, 0);
    memory.limit_bytes = memory.used_bytes;
    CHECK_EQ_INT(phi_thread_describe(log_of(), NULL, &room, &text, NULL), PHI_OK);
    CHECK(text.len > 100);
    CHECK_EQ_INT(memory.refusals, 0);
    memory.limit_bytes = 0;
    phi_arena_free(&room);
    done();
}

TEST(any_log_is_described_with_a_line_for_each_entry) {
    uint32_t seed;
    for (seed = 1; seed <= 40; seed++) {
        random_log g;
        phi_describe d = PHI_ZERO;
        int before = test_failures();
        size_t i;
        setup();
        memset(&g, 0, sizeof g);
        g.thread = &thread;
        g.state = seed;
        log_grow(&g, 60);
        d.last = PHI_UNLIMITED;
        CHECK_EQ_INT(lines(described(&d)), thread.log.count + 2);
        for (i = 0; i < phi_thread_get_info(log_of()).lane_count; i++) {
            d.lane = phi_thread_lane_at(log_of(), i);
            d.before = 1 + seed % (thread.log.count + 1);
            CHECK_EQ_INT(lines(described(&d)),
                         2 + (d.before < thread.log.count ? d.before : thread.log.count));
            (void)counts(d.lane, UINT64_MAX);
            (void)counts(d.lane, d.before - 1);
        }
        if (test_failures() != before) printf("  seed %u\n", (unsigned)seed);
        done();
    }
}

TEST(without_memory_looking_says_so_and_gives_all_back) {
    int n = 0, failed = 0;
    bool tripped;
    conversation();
    do {
        phi_describe d = PHI_ZERO;
        phi_lane_figures f = PHI_ZERO;
        phi_str text = {"", 0};
        size_t live = test_alloc_live_bytes();
        phi_status status;
        d.before = 6;
        test_alloc_fail_at(n);
        status = lane_figures(log_of(), NULL, 5, &f);
        if (status == PHI_OK) status = phi_thread_describe(log_of(), NULL, &arena, &text, NULL);
        if (status == PHI_OK) status = phi_thread_describe(log_of(), &d, &arena, &text, NULL);
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        CHECK_EQ_INT(status, tripped ? PHI_NO_MEMORY : PHI_OK);
        failed += tripped;
        phi_arena_free(&arena);
        CHECK_EQ_INT(test_alloc_live_bytes(), live);
        n++;
    } while (tripped && n < 1000);
    CHECK(failed > 20);
    done();
}

TEST_MAIN(TEST_ENTRY(an_empty_thread_shows_nothing_and_says_so),
          TEST_ENTRY(what_is_missing_or_not_there_is_a_status_and_changes_nothing),
          TEST_ENTRY(figures_count_what_a_lane_shows_at_any_entry),
          TEST_ENTRY(the_last_message_is_that_of_a_role),
          TEST_ENTRY(what_the_model_said_last_is_of_the_newest_answer_with_words),
          TEST_ENTRY(an_answer_that_failed_is_not_the_last_one),
          TEST_ENTRY(a_result_answers_the_nearest_call_of_its_id_before_it),
          TEST_ENTRY(a_plan_is_of_one_kind_and_changes_nothing), TEST_ENTRY(each_message_is_a_line),
          TEST_ENTRY(the_newest_entries_are_described_or_those_before_one),
          TEST_ENTRY(an_answer_names_its_thinking_and_a_call_that_broke_off),
          TEST_ENTRY(twenty_entries_are_described_unless_asked_otherwise),
          TEST_ENTRY(a_line_says_whether_a_message_is_shown_replaced_or_hidden),
          TEST_ENTRY(what_is_durable_is_shown_in_the_midst_of_what_was_replaced),
          TEST_ENTRY(a_message_that_was_carried_over_is_shown),
          TEST_ENTRY(entries_of_other_lanes_say_so),
          TEST_ENTRY(texts_are_cut_at_a_character_and_hold_nothing_that_a_terminal_obeys),
          TEST_ENTRY(a_text_is_cut_to_two_hundred_bytes_and_a_name_to_eighty),
          TEST_ENTRY(a_line_names_four_calls_and_four_spans),
          TEST_ENTRY(other_entries_are_a_line_each),
          TEST_ENTRY(a_run_is_looked_at_while_its_tool_is_pending),
          TEST_ENTRY(entries_that_left_memory_are_read_back_when_they_are_described),
          TEST_ENTRY(a_thread_at_its_memory_limit_is_described_in_the_memory_of_the_callers_arena),
          TEST_ENTRY(any_log_is_described_with_a_line_for_each_entry),
          TEST_ENTRY(without_memory_looking_says_so_and_gives_all_back))
