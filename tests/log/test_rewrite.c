/* test_rewrite.c - the rules of rewrites, lanes and views, case by case. */
#include "support/test.h"

#include "log/prune.h"
#include "persist/store.h"
#include "persist/persist_in.h"
#include "support/append.h"
#include "support/thread_text.h"
#include "log/log_in.h"

static phi_memory memory;
static phi_thread thread;
static char words[200];

static void setup(void) {
    phi_allocator a = test_allocator();
    phi_memory_init(&memory, &a, 0);
    phi__thread_init(&thread, &memory, NULL);
}

static phi_thread *log_of(void) { return &thread; }

/* ---- making ---- */

static phi_content text_block(const char *text) {
    phi_content c = PHI_ZERO;
    c.kind = PHI_CONTENT_TEXT;
    c.text = phi_str_of(text);
    return c;
}

static phi_message message_of(phi_role role, phi_content *block) {
    phi_message m = PHI_ZERO;
    m.role = role;
    m.content = block;
    m.content_count = 1;
    return m;
}

static void put(const phi_message *m, uint32_t flags) {
    CHECK_EQ_INT(append_with(log_of(), m, 1, flags), PHI_OK);
}

static void say(phi_role role, const char *text) {
    phi_content c = text_block(text);
    phi_message m = message_of(role, &c);
    put(&m, 0);
}

/* "a b": one answer with the calls a and b. */
static phi_message calls_of(const char *ids, phi_content blocks[4]) {
    phi_message m = message_of(PHI_ROLE_ASSISTANT, blocks);
    m.stop_reason = PHI_STOP_REASON_TOOL_USE;
    m.content_count = 0;
    for (; *ids != '\0'; ids += ids[1] == ' ' ? 2 : 1) {
        phi_content *c = &blocks[m.content_count++];
        memset(c, 0, sizeof *c);
        c->kind = PHI_CONTENT_TOOL_CALL;
        c->id = phi__str(ids, 1);
        c->name = PHI__LIT("ls");
        c->arguments = PHI__LIT("{}");
    }
    return m;
}

static void call(const char *ids, uint32_t flags) {
    phi_content blocks[4];
    phi_message m = calls_of(ids, blocks);
    put(&m, flags);
}

static phi_message result_of(const char *id, phi_content *block, const char *text) {
    phi_message m;
    *block = text_block(text);
    m = message_of(PHI_ROLE_TOOL_RESULT, block);
    m.tool_call_id = phi_str_of(id);
    m.tool_name = PHI__LIT("ls");
    return m;
}

static void result(const char *id, uint32_t flags) {
    phi_content c;
    phi_message m = result_of(id, &c, "done");
    put(&m, flags);
}

/* user 0, calls a and b 1, their results 2 and 3, answer 4, user 5, answer 6 */
static void conversation(void) {
    setup();
    say(PHI_ROLE_USER, "list them");
    call("a b", 0);
    result("a", 0);
    result("b", 0);
    say(PHI_ROLE_ASSISTANT, "two files");
    say(PHI_ROLE_USER, "thanks");
    say(PHI_ROLE_ASSISTANT, "welcome");
}

/* ---- looking ---- */

/* An item of the log's own is its number, one of a rewrite [from-to text], a summary with an S before it. */
static const char *view(const char *lane, uint64_t upto) {
    static char out[2000];
    const phi_view_item *items = NULL;
    phi_arena arena;
    size_t count = 0, i, n = 0;
    out[0] = '\0';
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(phi_thread_view(log_of(), lane, upto, &arena, &items, &count), PHI_OK);
    for (i = 0; i < count && n + 100 < sizeof out; i++) {
        const phi_view_item *it = &items[i];
        phi_str text = it->message->content_count > 0 ? it->message->content[0].text : PHI__LIT("");
        n += (size_t)snprintf(out + n, sizeof out - n, "%s", i > 0 ? " " : "");
        if ((it->flags & PHI_ITEM_SYNTHETIC) == 0)
            n += (size_t)snprintf(out + n, sizeof out - n, "%u", (unsigned)it->from);
        else
            n += (size_t)snprintf(out + n, sizeof out - n, "%s[%u-%u %.*s]",
                                  (it->flags & PHI_ITEM_SUMMARY) != 0 ? "S" : "",
                                  (unsigned)it->from, (unsigned)it->to, (int)text.len, text.at);
    }
    phi_arena_free(&arena);
    return out;
}

static const char *now(void) { return view(NULL, UINT64_MAX); }

static phi_span span_of(uint64_t from, uint64_t to, const phi_message *messages, size_t count) {
    phi_span s = PHI_ZERO;
    s.from = from;
    s.to = to;
    s.messages = messages;
    s.message_count = count;
    return s;
}

static phi_rewrite rewrite_of(const char *op_id, const phi_span *spans, size_t count) {
    phi_rewrite r = PHI_ZERO;
    r.op_id = op_id;
    r.spans = spans;
    r.span_count = count;
    return r;
}

static phi_status make(const phi_rewrite *r) {
    return phi_thread_rewrite(log_of(), r, NULL, words, sizeof words);
}

/* One span, of one user message or (text NULL) of none. */
static phi_status swap(const char *op_id, uint64_t from, uint64_t to, const char *text) {
    phi_content c = text_block(text != NULL ? text : "");
    phi_message m = message_of(PHI_ROLE_USER, &c);
    phi_span s = span_of(from, to, &m, text != NULL ? 1 : 0);
    phi_rewrite r = rewrite_of(op_id, &s, 1);
    return make(&r);
}

static phi_status revoke(const char *op_id) {
    phi_rewrite r = PHI_ZERO;
    r.revoke = op_id;
    return make(&r);
}

static void done(void) {
    phi__journal_free_thread(&thread);
    CHECK_EQ_INT(test_alloc_live_bytes(), 0);
}

/* ---- rewrites ---- */

TEST(a_replaced_history_is_the_snapshot_and_what_follows) {
    conversation();
    CHECK_EQ_INT(swap("r", 0, 6, "so far: two files"), PHI_OK);
    CHECK_EQ_STR(words, "");
    say(PHI_ROLE_USER, "and now?");
    CHECK_EQ_STR(now(), "[0-6 so far: two files] 8");
    CHECK_EQ_INT(phi_thread_count(log_of()), 9);
    done();
}

TEST(a_summary_says_that_it_is_one) {
    phi_content c = text_block("files were listed");
    phi_message m = message_of(PHI_ROLE_USER, &c);
    phi_span s = span_of(1, 4, &m, 1);
    phi_rewrite r = rewrite_of("s", &s, 1);
    phi_entry e;
    s.summary = true;
    r.reason = PHI_REWRITE_COMPACTION;
    r.meta = "{\"by\":\"me\"}";
    conversation();
    CHECK_EQ_INT(make(&r), PHI_OK);
    CHECK_EQ_STR(now(), "0 S[1-4 files were listed] 5 6");
    REQUIRE(phi_thread_entry(log_of(), 7, &e) == PHI_OK);
    CHECK(e.kind == PHI_ENTRY_REWRITE);
    CHECK_STR(e.lane, "default");
    CHECK_EQ_STR(e.rewrite->op_id, "s");
    CHECK_EQ_STR(e.rewrite->meta, "{\"by\":\"me\"}");
    CHECK_EQ_INT(e.rewrite->base_seq, 6);
    CHECK_EQ_STR(phi__entry_reason_word(e.rewrite->reason), "compaction");
    CHECK(e.rewrite->spans[0].summary);
    done();
}

TEST(what_is_dropped_leaves_nothing) {
    conversation();
    CHECK_EQ_INT(swap("d", 1, 4, NULL), PHI_OK);
    CHECK_EQ_STR(now(), "0 5 6");
    done();
}

TEST(several_spans_of_one_rewrite_each_have_their_place) {
    phi_content c = text_block("x");
    phi_message m = message_of(PHI_ROLE_USER, &c);
    phi_span spans[3];
    phi_rewrite r = rewrite_of("m", spans, 3);
    spans[0] = span_of(0, 0, NULL, 0);
    spans[1] = span_of(1, 3, &m, 1);
    spans[2] = span_of(6, 6, &m, 1);
    conversation();
    CHECK_EQ_INT(make(&r), PHI_OK);
    CHECK_EQ_STR(now(), "[1-3 x] 4 5 [6-6 x]");
    done();
}

TEST(a_shortened_result_keeps_its_place_in_the_group) {
    phi_content c, blocks[4];
    phi_message m = result_of("a", &c, "do..");
    phi_span s = span_of(2, 2, &m, 1);
    phi_rewrite r = rewrite_of("t", &s, 1);
    conversation();
    CHECK_EQ_INT(make(&r), PHI_OK);
    CHECK_EQ_STR(now(), "0 1 [2-2 do..] 3 4 5 6");
    m = calls_of("a b", blocks); /* the answer, too, where all calls stay */
    s = span_of(1, 1, &m, 1);
    r.op_id = "u";
    CHECK_EQ_INT(make(&r), PHI_OK);
    CHECK_EQ_STR(now(), "0 [1-1 ] [2-2 do..] 3 4 5 6");
    m = calls_of("a", blocks);
    r.op_id = "v";
    CHECK_EQ_INT(make(&r), PHI_BAD_ARG);
    m = result_of("b", &c, "not mine");
    s = span_of(2, 2, &m, 1);
    r.op_id = "w";
    CHECK_EQ_INT(make(&r), PHI_BAD_ARG);
    CHECK_EQ_STR(now(), "0 [1-1 ] [2-2 do..] 3 4 5 6");
    done();
}

TEST(a_group_is_taken_as_a_whole) {
    conversation();
    CHECK_EQ_INT(swap("x", 0, 1, NULL), PHI_BAD_ARG);
    CHECK_EQ_STR(words, "entry 2 is a result of the call in entry 1: they go together");
    CHECK_EQ_INT(swap("x", 3, 5, NULL), PHI_BAD_ARG);
    CHECK_EQ_STR(words, "entry 3 is a result of the call in entry 1: they go together");
    CHECK_EQ_INT(phi_thread_count(log_of()), 7);
    CHECK_EQ_INT(swap("x", 1, 3, NULL), PHI_OK);
    done();
}

static void note_here(void) {
    CHECK_EQ_INT(phi_thread_note(log_of(), "mine", phi_str_of("1"), NULL), PHI_OK);
}

/* user 0, note 1, calls a and b 2, note 3, result of a 4, note 5, result of b 6, note 7, answer 8 */
static void conversation_with_notes(uint32_t flags) {
    setup();
    say(PHI_ROLE_USER, "list them");
    note_here();
    call("a b", flags);
    note_here();
    result("a", 0);
    note_here();
    result("b", 0);
    note_here();
    say(PHI_ROLE_ASSISTANT, "two files");
}

/* A message between a call and its result would cost the model the result. */
TEST(a_group_is_not_parted_by_a_span_that_begins_on_a_note) {
    phi_content c = text_block("x");
    phi_message m = message_of(PHI_ROLE_USER, &c);
    phi_span spans[2];
    phi_rewrite r = rewrite_of("z", spans, 2);
    conversation_with_notes(0);
    CHECK_EQ_INT(swap("x", 5, 5, "between"), PHI_BAD_ARG);
    CHECK_EQ_STR(words, "spans[0] puts messages between entry 2 and its result in entry 6");
    CHECK_EQ_INT(swap("x", 3, 3, "between"), PHI_BAD_ARG);
    CHECK_EQ_STR(words, "spans[0] puts messages between entry 2 and its result in entry 4");
    CHECK_EQ_INT(swap("x", 5, 5, NULL), PHI_OK); /* nothing is put there */
    CHECK_EQ_INT(swap("y", 1, 1, "before"), PHI_OK);
    CHECK_EQ_INT(swap("w", 7, 7, "after"), PHI_OK);
    CHECK_EQ_STR(now(), "0 [1-1 before] 2 4 6 [7-7 after] 8");
    spans[0] = span_of(2, 4, NULL, 0);
    spans[1] = span_of(5, 6, &m, 1); /* the group goes with it */
    CHECK_EQ_INT(make(&r), PHI_OK);
    CHECK_EQ_STR(now(), "0 [1-1 before] [5-6 x] [7-7 after] 8");
    done();
}

TEST(a_group_that_stays_in_a_compaction_is_not_parted_either) {
    phi_content c = text_block("x");
    phi_message m = message_of(PHI_ROLE_USER, &c);
    phi_span s = span_of(5, 8, &m, 1);
    phi_rewrite r = rewrite_of("c", &s, 1);
    r.reason = PHI_REWRITE_COMPACTION;
    conversation_with_notes((uint32_t)PHI_ENTRY_DURABLE);
    CHECK_EQ_INT(make(&r), PHI_BAD_ARG);
    CHECK_EQ_STR(words, "spans[0] puts messages between entry 2 and its result in entry 6");
    s.to = 6; /* all in it stays, and nothing replaces it */
    CHECK_EQ_INT(make(&r), PHI_OK);
    s = span_of(2, 8, &m, 1);
    r.op_id = "d";
    CHECK_EQ_INT(make(&r), PHI_OK);
    CHECK_EQ_STR(now(), "0 [2-8 x] 2 4 6");
    done();
}

/* A log of an earlier version may hold such a rewrite: it is read as it was. */
TEST(a_log_that_holds_a_parted_group_is_read) {
    phi_arena arena;
    phi_str text = {NULL, 0};
    char *line;
    conversation_with_notes(0);
    CHECK_EQ_INT(swap("x", 7, 7, "between"), PHI_OK);
    phi_arena_init(&arena, &memory, 0);
    REQUIRE(phi_thread_to_json(log_of(), &arena, &text) == PHI_OK);
    line = strstr(text.at, "\"from\":7,\"to\":7");
    REQUIRE(line != NULL);
    line[7] = line[14] = '5';
    phi__journal_free_thread(&thread);
    phi__thread_init(&thread, &memory, NULL);
    CHECK_EQ_INT(thread_from_json(log_of(), text, words, sizeof words), PHI_OK);
    CHECK_EQ_STR(now(), "0 2 4 [5-5 between] 6 8");
    phi_arena_free(&arena);
    done();
}

TEST(a_result_that_came_late_binds_its_call_too) {
    setup();
    call("a", 0);
    say(PHI_ROLE_USER, "well?");
    result("a", 0);
    CHECK_EQ_INT(swap("x", 0, 1, NULL), PHI_BAD_ARG);
    CHECK_EQ_STR(words, "entry 2 is a result of the call in entry 0: they go together");
    CHECK_EQ_INT(swap("x", 0, 2, NULL), PHI_OK);
    CHECK_EQ_STR(now(), "");
    done();
}

TEST(what_a_rewrite_has_made_is_not_cut) {
    conversation();
    CHECK_EQ_INT(swap("a", 1, 4, "list"), PHI_OK);
    CHECK_EQ_INT(swap("b", 0, 3, NULL), PHI_BAD_ARG);
    CHECK_EQ_STR(words, "spans[0] cuts what stands for entries 1 to 4");
    CHECK_EQ_INT(swap("b", 2, 2, NULL), PHI_BAD_ARG);
    CHECK_EQ_STR(words, "spans[0] cuts what stands for entries 1 to 4");
    CHECK_EQ_INT(swap("b", 0, 4, "more"), PHI_OK);
    CHECK_EQ_STR(now(), "[0-4 more] 5 6");
    done();
}

TEST(spans_out_of_order_or_past_the_base_are_refused_with_words) {
    phi_span spans[2];
    phi_rewrite r;
    memset(spans, 0, sizeof spans);
    r = rewrite_of("x", spans, 2);
    conversation();
    spans[0] = span_of(4, 5, NULL, 0);
    spans[1] = span_of(5, 6, NULL, 0);
    CHECK_EQ_INT(make(&r), PHI_BAD_ARG);
    CHECK_EQ_STR(words, "spans[1] begins inside the one before");
    spans[1] = span_of(1, 3, NULL, 0);
    CHECK_EQ_INT(make(&r), PHI_BAD_ARG);
    CHECK_EQ_STR(words, "spans[1] begins inside the one before");
    CHECK_EQ_INT(swap("x", 5, 4, NULL), PHI_BAD_ARG);
    CHECK_EQ_STR(words, "spans[0]: 5 to 4, expected up to base_seq 6");
    CHECK_EQ_INT(swap("x", 5, 7, NULL), PHI_BAD_ARG);
    CHECK_EQ_STR(words, "spans[0]: 5 to 7, expected up to base_seq 6");
    r.span_count = 0;
    r.base_seq = 7;
    CHECK_EQ_INT(make(&r), PHI_BAD_ARG);
    CHECK_EQ_STR(words, "base_seq is 7, there are 7 entries");
    r.base_seq = 0;
    r.span_count = 1;
    r.spans = NULL;
    CHECK_EQ_INT(make(&r), PHI_BAD_ARG);
    CHECK_EQ_STR(words, "spans is missing");
    CHECK_EQ_INT(phi_thread_count(log_of()), 7);
    done();
}

TEST(messages_that_no_model_takes_are_refused_with_words) {
    phi_content c = text_block("x");
    phi_message m = message_of(PHI_ROLE_EXTENSION, &c);
    phi_span s = span_of(0, 0, &m, 1);
    phi_rewrite r = rewrite_of("x", &s, 1);
    conversation();
    CHECK_EQ_INT(make(&r), PHI_BAD_ARG);
    CHECK_EQ_STR(words, "spans[0].messages[0]: no role a model has");
    m = message_of(PHI_ROLE_USER, &c);
    m.content_count = 0;
    CHECK_EQ_INT(make(&r), PHI_BAD_ARG);
    CHECK_EQ_STR(words, "spans[0].messages[0]: no content");
    m = message_of(PHI_ROLE_TOOL_RESULT, &c);
    CHECK_EQ_INT(make(&r), PHI_BAD_ARG);
    CHECK_EQ_STR(words, "spans[0].messages[0]: a tool result needs a tool_call_id");
    m = message_of(PHI_ROLE_USER, &c);
    c.kind = PHI_CONTENT_TOOL_CALL;
    CHECK_EQ_INT(make(&r), PHI_BAD_ARG);
    CHECK_EQ_STR(words,
                 "spans[0].messages[0].content[0]: expected text, an image, a document or audio");
    s.messages = NULL;
    CHECK_EQ_INT(make(&r), PHI_BAD_ARG);
    CHECK_EQ_STR(words, "spans[0].messages is missing");
    CHECK_EQ_INT(phi_thread_count(log_of()), 7);
    done();
}

TEST(the_calls_of_a_rewrites_messages_have_their_ids_for_themselves) {
    phi_content blocks[4];
    phi_message m = calls_of("k", blocks);
    phi_span s = span_of(4, 4, &m, 1);
    phi_rewrite r = rewrite_of("x", &s, 1);
    conversation();
    CHECK_EQ_INT(make(&r), PHI_OK);
    CHECK_EQ_INT(phi__append_claim_id(&thread, PHI__LIT("k")), PHI_FULL);
    CHECK_EQ_INT(phi__append_claim_id(&thread, PHI__LIT("l")), PHI_OK);
    done();
}

TEST(a_reason_or_a_meta_or_a_lane_that_is_none_is_refused_with_words) {
    phi_rewrite r = rewrite_of("x", NULL, 0);
    setup();
    CHECK_EQ_INT(swap("x", 0, 0, "?"), PHI_BAD_ARG);
    CHECK_EQ_STR(words, "there is nothing to rewrite");
    r.reason = (phi_rewrite_reason)6;
    CHECK_EQ_INT(make(&r), PHI_BAD_ARG);
    CHECK_EQ_STR(words, "reason is none of its values");
    r.reason = PHI_REWRITE_MANUAL;
    r.meta = "{";
    CHECK_EQ_INT(make(&r), PHI_BAD_ARG);
    CHECK_EQ_STR(words, "meta is no JSON");
    r.meta = NULL;
    r.lane = "nowhere";
    CHECK_EQ_INT(make(&r), PHI_NOT_FOUND);
    CHECK_EQ_STR(words, "no lane \"nowhere\"");
    CHECK_EQ_INT(phi_thread_rewrite(NULL, &r, NULL, NULL, 0), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_thread_rewrite(log_of(), NULL, NULL, NULL, 0), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_thread_count(log_of()), 0);
    done();
}

TEST(words_are_cut_to_the_room_there_is) {
    phi_rewrite r = rewrite_of("x", NULL, 0);
    char small[8];
    setup();
    r.lane = "nowhere";
    CHECK_EQ_INT(phi_thread_rewrite(log_of(), &r, NULL, small, sizeof small), PHI_NOT_FOUND);
    CHECK_EQ_STR(small, "no lane");
    CHECK_EQ_INT(phi_thread_rewrite(log_of(), &r, NULL, NULL, 0), PHI_NOT_FOUND);
    done();
}

TEST(what_came_after_the_base_survives) {
    phi_content c = text_block("summary");
    phi_message m = message_of(PHI_ROLE_USER, &c);
    phi_span s = span_of(0, 4, &m, 1);
    phi_rewrite r = rewrite_of("late", &s, 1);
    conversation();
    r.base_seq = 4; /* as it was when the summary was asked for */
    CHECK_EQ_INT(make(&r), PHI_OK);
    CHECK_EQ_STR(now(), "[0-4 summary] 5 6");
    s = span_of(0, 5, NULL, 0);
    r.op_id = "too far";
    CHECK_EQ_INT(make(&r), PHI_BAD_ARG);
    CHECK_EQ_STR(words, "spans[0]: 0 to 5, expected up to base_seq 4");
    r.base_seq = 0;
    r.has_base = true;
    CHECK_EQ_INT(make(&r), PHI_BAD_ARG);
    CHECK_EQ_STR(words, "spans[0]: 0 to 5, expected up to base_seq 0");
    done();
}

TEST(a_second_rewrite_of_one_id_changes_nothing) {
    bool duplicate = true;
    phi_span s = span_of(1, 4, NULL, 0);
    phi_rewrite r = rewrite_of("x", &s, 1);
    conversation();
    CHECK_EQ_INT(phi_thread_rewrite(log_of(), &r, &duplicate, words, sizeof words), PHI_OK);
    CHECK(!duplicate);
    s = span_of(0, 99, NULL, 0); /* whatever it says */
    CHECK_EQ_INT(phi_thread_rewrite(log_of(), &r, &duplicate, words, sizeof words), PHI_OK);
    CHECK(duplicate);
    CHECK_EQ_INT(phi_thread_count(log_of()), 8);
    CHECK_EQ_STR(now(), "0 5 6");
    done();
}

/* Hosts of version 0.1.0 could give an id of any form. */
static void of_an_old_log(const char *op_id, uint64_t at) {
    phi_span s = span_of(at, at, NULL, 0);
    phi_rewrite r = rewrite_of(op_id, &s, 1);
    CHECK_EQ_INT(phi__edit_rewrite(&thread, &r, phi__str("", 0), 0, NULL, words, sizeof words),
                 PHI_OK);
}

TEST(an_id_of_the_form_that_phi_makes_is_not_a_hosts_to_give) {
    bool duplicate = true;
    phi_span s = span_of(6, 6, NULL, 0);
    phi_rewrite r = rewrite_of("op-8", &s, 1);
    conversation();
    CHECK_EQ_INT(swap(NULL, 5, 5, NULL), PHI_OK); /* it is op-7 */
    r.op_id = "op-7";
    CHECK_EQ_INT(phi_thread_rewrite(log_of(), &r, &duplicate, words, sizeof words), PHI_BAD_ARG);
    CHECK(!duplicate);
    CHECK_EQ_STR(words, "op_id \"op-7\": ids of the form op-NUMBER are phi's own");
    CHECK_EQ_INT(swap("op-8", 6, 6, NULL), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_thread_count(log_of()), 8);
    CHECK_EQ_INT(swap("op-", 6, 6, NULL), PHI_OK);
    CHECK_EQ_INT(swap("op-8a", 4, 4, NULL), PHI_OK);
    CHECK_EQ_INT(swap("op-+1", 0, 0, NULL), PHI_OK);
    CHECK_EQ_STR(now(), "1 2 3");
    done();
}

TEST(a_rewrite_without_an_id_gets_one_of_its_own) {
    phi_entry e;
    conversation();
    of_an_old_log("op-8", 6); /* as the next one would be called */
    CHECK_EQ_INT(swap(NULL, 5, 5, NULL), PHI_OK);
    CHECK_EQ_INT(swap("", 4, 4, NULL), PHI_OK);
    REQUIRE(phi_thread_entry(log_of(), 8, &e) == PHI_OK);
    CHECK_EQ_STR(e.rewrite->op_id, "op-9");
    REQUIRE(phi_thread_entry(log_of(), 9, &e) == PHI_OK);
    CHECK_EQ_STR(e.rewrite->op_id, "op-10");
    CHECK_EQ_INT(revoke("op-9"), PHI_OK);
    CHECK_EQ_STR(now(), "0 1 2 3 5");
    done();
}

/* ---- names ---- */

/* Names of one byte that is no UTF-8: in a file they would be one. */
TEST(a_name_that_is_not_utf_8_is_refused) {
    phi_rewrite r = PHI_ZERO;
    conversation();
    CHECK_EQ_INT(phi_thread_fork_lane(log_of(), "\xff", NULL, 2), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_thread_switch(log_of(), "side \xfe"), PHI_BAD_ARG);
    CHECK_EQ_INT(swap("\xff", 6, 6, NULL), PHI_BAD_ARG);
    CHECK_EQ_STR(words, "op_id is not UTF-8");
    r.switch_to = "\xed\xa0\x80"; /* half of a pair */
    CHECK_EQ_INT(make(&r), PHI_BAD_ARG);
    CHECK_EQ_STR(words, "switch_to is not UTF-8");
    r.switch_to = NULL;
    r.lane = "\xff";
    CHECK_EQ_INT(make(&r), PHI_NOT_FOUND);
    CHECK_EQ_INT(revoke("\xff"), PHI_NOT_FOUND);
    CHECK_EQ_INT(phi_thread_count(log_of()), 7);
    CHECK_EQ_INT(phi_thread_get_info(log_of()).lane_count, 1);
    CHECK_EQ_INT(swap("\xc3\xa4", 6, 6, NULL), PHI_OK);
    CHECK_EQ_INT(phi_thread_switch(log_of(), "\xf0\x9f\x90\xa7"), PHI_OK);
    done();
}

static void unfit(const phi_message *m, const char *fault) {
    size_t block = 0;
    CHECK_EQ_INT(phi_thread_append(log_of(), m, 1, NULL), PHI_BAD_ARG);
    CHECK_EQ_STR(phi__check_message(m, &block), fault);
}

TEST(an_id_of_a_message_that_is_not_utf_8_is_refused) {
    phi_content blocks[4], text;
    phi_message m;
    setup();
    m = calls_of("a b", blocks);
    blocks[1].id = PHI__LIT("b\xff");
    unfit(&m, "a tool call's id is not UTF-8");
    m = result_of("b\xfe", &text, "done");
    unfit(&m, "tool_call_id is not UTF-8");
    CHECK_EQ_INT(phi_thread_count(log_of()), 0);
    done();
}

/* ---- revoking ---- */

TEST(what_is_revoked_is_as_if_it_had_not_been) {
    phi_entry e;
    conversation();
    CHECK_EQ_INT(swap("a", 1, 4, "list"), PHI_OK);
    say(PHI_ROLE_USER, "go on");
    CHECK_EQ_INT(revoke("a"), PHI_OK);
    CHECK_EQ_STR(now(), "0 1 2 3 4 5 6 8");
    CHECK_EQ_STR(view(NULL, 8), "0 [1-4 list] 5 6 8");
    REQUIRE(phi_thread_entry(log_of(), 9, &e) == PHI_OK);
    CHECK_EQ_STR(e.rewrite->revoke, "a");
    done();
}

TEST(only_what_nothing_later_touches_can_be_revoked) {
    conversation();
    CHECK_EQ_INT(swap("a", 1, 4, "list"), PHI_OK);
    CHECK_EQ_INT(swap("b", 6, 6, NULL), PHI_OK);
    CHECK_EQ_INT(swap("c", 0, 4, "all"), PHI_OK);
    CHECK_EQ_INT(revoke("a"), PHI_MISUSE);
    CHECK_EQ_STR(words, "the later rewrite \"c\" touches it");
    CHECK_EQ_INT(revoke("b"), PHI_OK);
    CHECK_EQ_INT(revoke("c"), PHI_OK);
    CHECK_EQ_STR(now(), "0 [1-4 list] 5 6");
    CHECK_EQ_INT(revoke("a"), PHI_OK);
    CHECK_EQ_STR(now(), "0 1 2 3 4 5 6");
    done();
}

TEST(there_must_be_something_to_revoke) {
    phi_span s = span_of(0, 0, NULL, 0);
    phi_rewrite r = rewrite_of("x", &s, 1);
    conversation();
    CHECK_EQ_INT(revoke("a"), PHI_NOT_FOUND);
    CHECK_EQ_STR(words, "no rewrite \"a\" of this lane to revoke");
    CHECK_EQ_INT(swap("a", 6, 6, NULL), PHI_OK);
    CHECK_EQ_INT(revoke("a"), PHI_OK);
    CHECK_EQ_INT(revoke("a"), PHI_NOT_FOUND);
    CHECK_EQ_INT(revoke("op-8"), PHI_NOT_FOUND); /* itself an undoing */
    r.revoke = "a";
    CHECK_EQ_INT(make(&r), PHI_BAD_ARG);
    CHECK_EQ_STR(words, "revoke comes without spans");
    CHECK_EQ_INT(phi_thread_switch(log_of(), "other"), PHI_OK);
    CHECK_EQ_INT(revoke("a"), PHI_NOT_FOUND);
    done();
}

/* ---- durable messages ---- */

TEST(a_compaction_leaves_durable_groups_standing) {
    phi_content c = text_block("short");
    phi_message m = message_of(PHI_ROLE_USER, &c);
    phi_span s = span_of(0, 4, &m, 1);
    phi_rewrite r = rewrite_of("c", &s, 1);
    setup();
    say(PHI_ROLE_USER, "load the skill");
    call("a b", 0);
    result("a", PHI_ENTRY_DURABLE); /* its call, and the other result, stay with it */
    result("b", 0);
    say(PHI_ROLE_ASSISTANT, "loaded");
    r.reason = PHI_REWRITE_COMPACTION;
    CHECK_EQ_INT(make(&r), PHI_OK);
    CHECK_EQ_STR(now(), "[0-4 short] 1 2 3");
    r.op_id = "d";
    r.reason = PHI_REWRITE_MANUAL; /* whoever asks for it by hand means it */
    CHECK_EQ_INT(make(&r), PHI_OK);
    CHECK_EQ_STR(now(), "[0-4 short]");
    done();
}

/* These two ids have one hash, of 64 bits. */
TEST(a_result_is_not_of_a_call_whose_id_only_hashes_the_same) {
    phi_content c = text_block("short"), blocks[4], text;
    phi_message m = message_of(PHI_ROLE_USER, &c), made;
    phi_span s = span_of(0, 1, &m, 1);
    phi_rewrite r = rewrite_of("c", &s, 1);
    setup();
    made = calls_of("a", blocks);
    blocks[0].id = PHI__LIT("8yn0iYCKYHlIj4-BwPqk");
    put(&made, 0);
    made = result_of("8yn0iYCKYHlIj4-BwPqk", &text, "done");
    put(&made, 0);
    made = result_of("GReLUrM4wMqfg9yzV3KQ", &text, "of no call");
    put(&made, PHI_ENTRY_DURABLE);
    r.reason = PHI_REWRITE_COMPACTION;
    CHECK_EQ_INT(make(&r), PHI_OK);
    CHECK_EQ_STR(now(), "[0-1 short] 2"); /* it holds no other message back */
    done();
}

TEST(in_the_place_of_what_stays_whole_nothing_is_put) {
    phi_content c;
    phi_message m = result_of("a", &c, "do..");
    phi_span s = span_of(1, 1, &m, 1);
    phi_rewrite r = rewrite_of("c", &s, 1);
    setup();
    call("a", 0);
    result("a", PHI_ENTRY_DURABLE);
    r.reason = PHI_REWRITE_COMPACTION;
    CHECK_EQ_INT(make(&r), PHI_OK);
    CHECK_EQ_STR(now(), "0 1"); /* not a second result */
    r.op_id = "p";
    r.reason = PHI_REWRITE_PRUNE;
    CHECK_EQ_INT(make(&r), PHI_OK);
    CHECK_EQ_STR(now(), "0 [1-1 do..]");
    r.op_id = "d";
    r.reason = PHI_REWRITE_COMPACTION; /* shortened, and durable still */
    s = span_of(0, 1, NULL, 0);
    CHECK_EQ_INT(make(&r), PHI_OK);
    CHECK_EQ_STR(now(), "0 [1-1 do..]");
    done();
}

TEST(truncation_spares_what_is_durable_and_takes_late_results_along) {
    size_t removed = 0;
    setup();
    say(PHI_ROLE_USER, "go");
    call("a", 0);
    result("a", PHI_ENTRY_DURABLE);
    say(PHI_ROLE_ASSISTANT, "something long enough to be worth more than the marker that comes, "
                            "and so much longer that nothing else has to be added to it");
    call("b", 0);
    say(PHI_ROLE_USER, "well?");
    result("b", 0);
    say(PHI_ROLE_ASSISTANT, "there");
    CHECK(phi__truncate(&thread, 0, NULL, NULL, phi_str_of("l"), 0, &removed));
    CHECK_EQ_INT(removed, 3);
    CHECK_EQ_STR(now(), "0 1 2 [3-4 [Context compacted: 3 messages removed to fit context window]] "
                        "5 7");
    done();
}

static size_t nothing(void *user_data, phi_str text) {
    (void)user_data;
    (void)text;
    return 0;
}

TEST(truncation_believes_the_hosts_counter) {
    static const phi_token_counter counter = {nothing, NULL};
    size_t removed = 0;
    setup();
    say(PHI_ROLE_USER, "go");
    say(PHI_ROLE_ASSISTANT, "something long enough to be worth more than the marker that comes, "
                            "and so much longer that nothing else has to be added to it");
    say(PHI_ROLE_USER, "again");
    say(PHI_ROLE_ASSISTANT, "yes");
    CHECK(phi__truncate(&thread, 40, &counter, NULL, phi_str_of("l"), 0, &removed));
    CHECK_EQ_INT(removed, 0);
    CHECK(phi__truncate(&thread, 40, NULL, NULL, phi_str_of("l"), 0, &removed));
    CHECK_EQ_INT(removed, 1);
    done();
}

/* Found by random histories: a summary of two messages, of which the first is the first of the user's. */
TEST(truncation_does_not_cut_what_a_rewrite_has_put_in_one_place) {
    phi_content c[2];
    phi_message m[2];
    phi_span s;
    phi_rewrite r;
    size_t removed = 0;
    c[0] = text_block("one");
    c[1] = text_block("a very long text that would go if it could be told apart from the first, "
                      "which stays because it is the first message of the user's");
    m[0] = message_of(PHI_ROLE_USER, &c[0]);
    m[1] = message_of(PHI_ROLE_ASSISTANT, &c[1]);
    s = span_of(0, 0, m, 2);
    r = rewrite_of("two", &s, 1);
    setup();
    say(PHI_ROLE_USER, "go");
    say(PHI_ROLE_ASSISTANT, c[1].text.at);
    say(PHI_ROLE_USER, "again");
    say(PHI_ROLE_ASSISTANT, "yes");
    CHECK_EQ_INT(make(&r), PHI_OK);
    CHECK(phi__truncate(&thread, 0, NULL, NULL, phi_str_of("l"), 0, &removed));
    CHECK_EQ_INT(removed, 1);
    CHECK_EQ_INT(phi_thread_count(log_of()), 6);
    done();
}

TEST(a_call_that_was_rewritten_away_needs_no_result) {
    setup();
    say(PHI_ROLE_USER, "go");
    call("a b", 0);
    CHECK_EQ_INT(swap("x", 1, 1, NULL), PHI_OK);
    CHECK(phi__append_answer_orphans(&thread, NULL));
    CHECK_EQ_STR(now(), "0");
    call("c d", 0);
    result("d", 0);
    CHECK(phi__append_answer_orphans(&thread, NULL));
    CHECK_EQ_STR(now(), "0 3 4 5");
    CHECK_STR(thread.log.entries[5]->message->tool_call_id, "c");
    done();
}

/* ---- runs of which nothing is kept ---- */

static void mark_run(phi_entry_kind kind, const char *loop_id, phi_keep keep) {
    phi__entry e;
    memset(&e, 0, sizeof e);
    e.kind = kind;
    e.keep = keep;
    e.loop_id = phi_str_of(loop_id);
    CHECK(phi__append(&thread, &e, 1));
}

TEST(of_a_run_that_keeps_nothing_nothing_is_shown) {
    setup();
    say(PHI_ROLE_USER, "hello");
    mark_run(PHI_ENTRY_LOOP_START, "l.1", PHI_KEEP_COMPLETE);
    say(PHI_ROLE_USER, "try");
    call("a", 0);
    CHECK_EQ_STR(now(), "0 2 3");
    mark_run(PHI_ENTRY_LOOP_END, "l.1", PHI_KEEP_NONE);
    CHECK_EQ_STR(now(), "0");
    mark_run(PHI_ENTRY_LOOP_START, "l.2", PHI_KEEP_COMPLETE);
    say(PHI_ROLE_USER, "again");
    mark_run(PHI_ENTRY_LOOP_END, "l.2", PHI_KEEP_COMPLETE);
    CHECK_EQ_STR(now(), "0 6");
    CHECK_EQ_STR(view(NULL, 3), "0 2 3");
    CHECK_EQ_INT(phi_thread_count(log_of()), 8);
    mark_run(PHI_ENTRY_LOOP_END, "who?", PHI_KEEP_NONE); /* no beginning: nothing is known to go */
    CHECK_EQ_STR(now(), "0 6");
    done();
}

/* ---- lanes ---- */

static bool copies; /* what was shown before is kept as the run goes */

/* A run over the conversation, which drops 5 and 6 and 1 to 4, and says 9. */
static void run_that_rewrites(void) {
    phi_span s = span_of(1, 4, NULL, 0);
    phi_rewrite r = rewrite_of("c", &s, 1);
    conversation();
    thread.loops.keeps_none = copies;
    mark_run(PHI_ENTRY_LOOP_START, "run", PHI_KEEP_COMPLETE);
    CHECK_EQ_INT(swap("s", 5, 6, NULL), PHI_OK);
    say(PHI_ROLE_USER, "more");
    r.reason = PHI_REWRITE_COMPACTION;
    CHECK_EQ_INT(make(&r), PHI_OK);
    CHECK_EQ_STR(now(), "0 9");
    CHECK_EQ_INT(phi__prune_from(log_of()), 11);
}

static void is_back(void) {
    CHECK_EQ_STR(now(), "0 1 2 3 4 5 6");
    CHECK_EQ_STR(view(NULL, 10), "0 9"); /* as it was then */
    CHECK_EQ_STR(view(NULL, 8), "0 1 2 3 4");
    CHECK_EQ_INT(phi__prune_from(log_of()), 0);
    CHECK_EQ_INT(revoke("s"), PHI_NOT_FOUND);
    CHECK_EQ_INT(swap("again", 5, 6, "bye"), PHI_OK);
    CHECK_EQ_STR(now(), "0 1 2 3 4 [5-6 bye]");
}

TEST(of_a_run_that_keeps_nothing_its_rewrites_go_too) {
    phi_arena arena;
    phi_str text = {"", 0};
    int i;
    for (i = 0; i < 2; i++) {
        copies = i == 1;
        run_that_rewrites();
        CHECK_EQ_INT(phi_thread_fork_lane(log_of(), "side", NULL, UINT64_MAX), PHI_OK);
        mark_run(PHI_ENTRY_LOOP_END, "run", PHI_KEEP_NONE);
        phi_arena_init(&arena, &memory, 0);
        CHECK_EQ_INT(phi_thread_to_json(log_of(), &arena, &text), PHI_OK);
        is_back();
        CHECK_EQ_STR(view("side", UINT64_MAX), "0 9"); /* it was forked before */
        phi__journal_free_thread(&thread);
        CHECK_EQ_INT(thread_from_json(log_of(), text, words, sizeof words), PHI_OK);
        is_back();
        phi_arena_free(&arena);
        done();
    }
}

TEST(an_end_that_finds_no_memory_changes_nothing) {
    phi__entry e;
    int n;
    bool ended = false;
    copies = false;
    for (n = 0; !ended && n < 50; n++) {
        run_that_rewrites();
        memset(&e, 0, sizeof e);
        e.kind = PHI_ENTRY_LOOP_END;
        e.loop_id = PHI__LIT("run");
        e.keep = PHI_KEEP_NONE;
        test_alloc_fail_at(n);
        ended = phi__append(&thread, &e, 1);
        CHECK(ended != test_alloc_tripped());
        test_alloc_fail_at(-1);
        if (!ended) {
            CHECK_EQ_STR(now(), "0 9");
            CHECK_EQ_STR(view(NULL, 10), "0 9");
            CHECK_EQ_INT(phi__prune_from(log_of()), 11);
            CHECK(phi__append(&thread, &e, 1));
        }
        is_back();
        done();
    }
    CHECK(n > 1 && ended);
}

TEST(a_fork_shows_what_its_parent_showed_and_goes_its_own_way) {
    phi_entry e;
    conversation();
    CHECK_EQ_INT(phi_thread_fork_lane(log_of(), "b", NULL, 4), PHI_OK);
    CHECK_STR(phi_thread_get_info(log_of()).lane, "default");
    CHECK_EQ_INT(phi_thread_switch(log_of(), "b"), PHI_OK);
    say(PHI_ROLE_USER, "and hidden ones?");
    CHECK_EQ_STR(now(), "0 1 2 3 4 9");
    CHECK_EQ_STR(view("default", UINT64_MAX), "0 1 2 3 4 5 6");
    CHECK_EQ_INT(phi_thread_switch(log_of(), "default"), PHI_OK);
    say(PHI_ROLE_USER, "bye");
    CHECK_EQ_STR(now(), "0 1 2 3 4 5 6 11");
    CHECK_EQ_STR(view("b", UINT64_MAX), "0 1 2 3 4 9");
    REQUIRE(phi_thread_entry(log_of(), 7, &e) == PHI_OK);
    CHECK(e.kind == PHI_ENTRY_LANE);
    CHECK_STR(e.lane, "b");
    CHECK_STR(e.parent_lane, "default");
    CHECK_EQ_INT(e.fork_seq, 4);
    REQUIRE(phi_thread_entry(log_of(), 10, &e) == PHI_OK);
    CHECK(e.kind == PHI_ENTRY_SWITCH);
    CHECK_STR(e.lane, "default");
    done();
}

TEST(a_fork_is_cut_back_to_the_end_of_a_group) {
    phi_entry e;
    conversation();
    CHECK_EQ_INT(phi_thread_fork_lane(log_of(), "at the call", NULL, 1), PHI_OK);
    CHECK_EQ_INT(phi_thread_fork_lane(log_of(), "at a result", NULL, 2), PHI_OK);
    CHECK_EQ_INT(phi_thread_fork_lane(log_of(), "at the last", NULL, 3), PHI_OK);
    CHECK_EQ_INT(phi_thread_fork_lane(log_of(), "at all", NULL, UINT64_MAX), PHI_OK);
    CHECK_EQ_INT(phi_thread_fork_lane(log_of(), "beyond", NULL, 999), PHI_OK);
    CHECK_EQ_STR(view("at the call", UINT64_MAX), "0");
    CHECK_EQ_STR(view("at a result", UINT64_MAX), "0");
    CHECK_EQ_STR(view("at the last", UINT64_MAX), "0 1 2 3");
    CHECK_EQ_STR(view("at all", UINT64_MAX), "0 1 2 3 4 5 6");
    CHECK_EQ_STR(view("beyond", UINT64_MAX), "0 1 2 3 4 5 6");
    REQUIRE(phi_thread_entry(log_of(), 8, &e) == PHI_OK);
    CHECK_EQ_INT(e.fork_seq, 0);
    done();
}

TEST(a_fork_of_nothing_begins_empty) {
    phi_entry e;
    setup();
    CHECK_EQ_INT(phi_thread_fork_lane(log_of(), "b", NULL, UINT64_MAX), PHI_OK);
    call("a", 0);
    CHECK_EQ_INT(phi_thread_fork_lane(log_of(), "c", NULL, UINT64_MAX), PHI_OK);
    CHECK_EQ_STR(view("b", UINT64_MAX), "");
    CHECK_EQ_STR(view("c", UINT64_MAX), "");
    REQUIRE(phi_thread_entry(log_of(), 0, &e) == PHI_OK);
    CHECK_STR(e.parent_lane, "");
    done();
}

/* A rewrite has put a message and an open call in the place of the first entry: nothing whole is before that. */
TEST(a_fork_behind_a_snapshot_that_ends_in_a_call_begins_empty) {
    phi_content c = text_block("so far"), blocks[4];
    phi_message m[2];
    phi_span s = span_of(0, 0, m, 2);
    phi_rewrite r = rewrite_of("x", &s, 1);
    m[0] = message_of(PHI_ROLE_USER, &c);
    m[1] = calls_of("a", blocks);
    setup();
    say(PHI_ROLE_USER, "hello");
    CHECK_EQ_INT(make(&r), PHI_OK);
    CHECK_EQ_INT(phi_thread_fork_lane(log_of(), "b", NULL, UINT64_MAX), PHI_OK);
    say(PHI_ROLE_USER, "later");
    CHECK_EQ_STR(view("b", UINT64_MAX), "");
    done();
}

TEST(a_fork_of_a_fork_shows_no_more_than_that_did) {
    conversation();
    CHECK_EQ_INT(phi_thread_fork_lane(log_of(), "b", NULL, 4), PHI_OK);
    CHECK_EQ_INT(phi_thread_switch(log_of(), "b"), PHI_OK);
    say(PHI_ROLE_USER, "b1");
    say(PHI_ROLE_ASSISTANT, "b2");
    CHECK_EQ_INT(phi_thread_fork_lane(log_of(), "c", "b", 9), PHI_OK);
    CHECK_EQ_INT(phi_thread_fork_lane(log_of(), "d", "b", 0), PHI_OK);
    CHECK_EQ_INT(phi_thread_fork_lane(log_of(), "e", "b", 6), PHI_OK); /* not the default's own */
    CHECK_EQ_STR(view("c", UINT64_MAX), "0 1 2 3 4 9");
    CHECK_EQ_STR(view("d", UINT64_MAX), "0");
    CHECK_EQ_STR(view("e", UINT64_MAX), "0 1 2 3 4");
    say(PHI_ROLE_USER, "b3");
    CHECK_EQ_STR(view("c", UINT64_MAX), "0 1 2 3 4 9");
    done();
}

TEST(a_rewrite_is_of_its_lane_and_of_later_forks) {
    phi_span s = span_of(1, 4, NULL, 0);
    phi_rewrite r = rewrite_of("x", &s, 1);
    conversation();
    CHECK_EQ_INT(phi_thread_fork_lane(log_of(), "before", NULL, UINT64_MAX), PHI_OK);
    CHECK_EQ_INT(make(&r), PHI_OK);
    CHECK_EQ_INT(phi_thread_fork_lane(log_of(), "after", NULL, UINT64_MAX), PHI_OK);
    CHECK_EQ_INT(phi_thread_fork_lane(log_of(), "early", NULL, 6), PHI_OK);
    CHECK_EQ_INT(revoke("x"), PHI_OK);
    CHECK_EQ_STR(now(), "0 1 2 3 4 5 6");
    CHECK_EQ_STR(view("before", UINT64_MAX), "0 1 2 3 4 5 6");
    CHECK_EQ_STR(view("after", UINT64_MAX), "0 5 6"); /* as its parent was then */
    CHECK_EQ_STR(view("early", UINT64_MAX), "0 1 2 3 4 5 6");
    r.op_id = "y";
    r.lane = "after"; /* not the active one */
    s = span_of(5, 6, NULL, 0);
    CHECK_EQ_INT(make(&r), PHI_OK);
    CHECK_EQ_STR(view("after", UINT64_MAX), "0");
    CHECK_EQ_STR(now(), "0 1 2 3 4 5 6");
    done();
}

TEST(lanes_have_names_and_an_order) {
    setup();
    CHECK_STR(phi_thread_get_info(log_of()).lane, "default");
    CHECK_EQ_INT(phi_thread_get_info(log_of()).lane_count, 1);
    CHECK_STR(phi_str_of(phi_thread_lane_at(log_of(), 0)), "default");
    CHECK_EQ_INT(phi_thread_switch(log_of(), "side"), PHI_OK); /* made */
    CHECK_EQ_INT(phi_thread_count(log_of()), 2);
    CHECK_EQ_INT(phi_thread_switch(log_of(), "side"), PHI_OK); /* nothing to do */
    CHECK_EQ_INT(phi_thread_count(log_of()), 2);
    CHECK_EQ_INT(phi_thread_switch(log_of(), "lane-2"), PHI_OK);
    CHECK_EQ_INT(phi_thread_switch(log_of(), NULL), PHI_OK);
    CHECK_STR(phi_thread_get_info(log_of()).lane, "lane-3");
    CHECK_STR(phi_str_of(phi_thread_lane_at(log_of(), 1)), "side");
    CHECK_STR(phi_str_of(phi_thread_lane_at(log_of(), 4)), "");
    CHECK_EQ_INT(phi_thread_fork_lane(log_of(), "side", NULL, 0), PHI_MISUSE);
    CHECK_EQ_INT(phi_thread_fork_lane(log_of(), "x", "nowhere", 0), PHI_NOT_FOUND);
    CHECK_EQ_INT(phi_thread_fork_lane(log_of(), "", NULL, 0), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_thread_switch(log_of(), ""), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_thread_switch(NULL, "a"), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_thread_switch(NULL, NULL), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_thread_get_info(NULL).lane_count, 0);
    CHECK_STR(phi_thread_get_info(NULL).lane, "");
    done();
}

TEST(a_thousand_lanes_are_no_trouble) {
    char name[16];
    unsigned i;
    conversation();
    for (i = 0; i < 1000; i++) {
        (void)snprintf(name, sizeof name, "f%u", i);
        CHECK_EQ_INT(phi_thread_fork_lane(log_of(), name, NULL, i % 7), PHI_OK);
    }
    CHECK_EQ_INT(phi_thread_get_info(log_of()).lane_count, 1001);
    for (i = 0; i < 1000; i += 100) {
        (void)snprintf(name, sizeof name, "f%u", i + 6);
        CHECK_EQ_INT(phi_thread_switch(log_of(), name), PHI_OK);
        say(PHI_ROLE_USER, name);
    }
    CHECK_EQ_STR(view("f5", UINT64_MAX), "0 1 2 3 4 5");
    CHECK_EQ_STR(view("default", UINT64_MAX), "0 1 2 3 4 5 6");
    done();
}

/* ---- entries, notes, views ---- */

TEST(an_append_says_what_it_expects) {
    phi_content c = text_block("x");
    phi_message m[2];
    uint64_t seq;
    m[0] = message_of(PHI_ROLE_USER, &c);
    m[1] = message_of(PHI_ROLE_ASSISTANT, &c);
    setup();
    CHECK_EQ_INT(append_at(log_of(), m, 2, 0, 1), PHI_STALE);
    CHECK_EQ_INT(phi_thread_count(log_of()), 0);
    CHECK_EQ_INT(append_at(log_of(), m, 2, 0, 0), PHI_OK);
    CHECK_EQ_INT(phi_thread_count(log_of()), 2);
    CHECK_EQ_INT(append_at(log_of(), m, 2, 0, 2), PHI_OK);
    CHECK_EQ_INT(phi_thread_count(log_of()), 4);
    CHECK_EQ_INT(append_at(log_of(), m, 0, 0, 4), PHI_BAD_ARG);
    CHECK_EQ_INT(append_at(log_of(), NULL, 1, 0, 4), PHI_BAD_ARG);
    m[1].role = (phi_role)9;
    CHECK_EQ_INT(append_at(log_of(), m, 2, 0, 4), PHI_BAD_ARG);
    m[1] = message_of(PHI_ROLE_EXTENSION, &c);
    m[1].extension_kind = PHI__LIT("e");
    m[1].extension_data = PHI__LIT("no json");
    CHECK_EQ_INT(append_at(log_of(), m, 2, 0, 4), PHI_BAD_ARG);
    thread.user = &memory; /* a run */
    CHECK_EQ_INT(append_at(log_of(), m, 1, 0, 4), PHI_BUSY);
    CHECK_EQ_INT(phi_thread_fork_lane(log_of(), "b", NULL, 0), PHI_BUSY);
    CHECK_EQ_INT(phi_thread_switch(log_of(), "b"), PHI_BUSY);
    CHECK_EQ_INT(phi_thread_switch(log_of(), NULL), PHI_BUSY);
    CHECK_EQ_INT(swap("x", 0, 0, NULL), PHI_BUSY);
    CHECK_EQ_INT(phi_thread_count(log_of()), 4);
    CHECK_EQ_INT(phi_thread_note(log_of(), "n", PHI__LIT("{\"a\":[1]}"), &seq), PHI_OK);
    CHECK_EQ_INT(seq, 4);
    thread.user = NULL;
    done();
}

TEST(notes_are_kept_and_not_shown) {
    phi_entry e;
    setup();
    say(PHI_ROLE_USER, "x");
    CHECK_EQ_INT(phi_thread_note(log_of(), "save", PHI__LIT("{\"slot\":3}"), NULL), PHI_OK);
    CHECK_EQ_INT(phi_thread_note(log_of(), "save", PHI__LIT("{"), NULL), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_thread_note(log_of(), "", PHI__LIT("1"), NULL), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_thread_note(NULL, "save", PHI__LIT("1"), NULL), PHI_BAD_ARG);
    REQUIRE(phi_thread_entry(log_of(), 1, &e) == PHI_OK);
    CHECK(e.kind == PHI_ENTRY_NOTE);
    CHECK_STR(e.note_kind, "save");
    CHECK_STR(e.note, "{\"slot\":3}");
    CHECK_EQ_STR(now(), "0");
    CHECK_EQ_INT(phi_thread_entry(log_of(), 2, &e), PHI_NOT_FOUND);
    CHECK_EQ_INT(phi_thread_entry(log_of(), 0, NULL), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_thread_count(NULL), 0);
    done();
}

TEST(views_of_earlier_states_are_what_was_shown_then) {
    const phi_view_item *items;
    phi_arena arena;
    size_t count;
    conversation();
    CHECK_EQ_INT(swap("a", 1, 4, "list"), PHI_OK);
    say(PHI_ROLE_USER, "8");
    CHECK_EQ_STR(view(NULL, 0), "0");
    CHECK_EQ_STR(view(NULL, 2), "0 1 2");
    CHECK_EQ_STR(view(NULL, 6), "0 1 2 3 4 5 6");
    CHECK_EQ_STR(view(NULL, 7), "0 [1-4 list] 5 6");
    CHECK_EQ_STR(view(NULL, 8), "0 [1-4 list] 5 6 8");
    CHECK_EQ_STR(view(NULL, UINT64_MAX - 1), "0 [1-4 list] 5 6 8");
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(phi_thread_view(log_of(), "nowhere", 0, &arena, &items, &count), PHI_NOT_FOUND);
    CHECK_EQ_INT(phi_thread_view(log_of(), NULL, 0, NULL, &items, &count), PHI_BAD_ARG);
    REQUIRE(phi_thread_view(log_of(), NULL, 0, &arena, &items, &count) == PHI_OK && count == 1);
    CHECK_EQ_INT(items[0].tokens, 7); /* 9 letters: 3, and 4 for the message */
    phi_arena_free(&arena);
    done();
}

TEST(usage_is_the_sum_of_the_runs_that_have_ended) {
    phi_usage usage = PHI_ZERO;
    phi__entry e;
    memset(&e, 0, sizeof e);
    setup();
    usage.input = 10;
    usage.output = 3;
    usage.total_tokens = 13;
    e.kind = PHI_ENTRY_LOOP_END;
    e.usage = &usage;
    CHECK(phi__append(&thread, &e, 1));
    CHECK_EQ_INT(phi_thread_switch(log_of(), "other"), PHI_OK);
    CHECK(phi__append(&thread, &e, 1));
    e.usage = NULL;
    CHECK(phi__append(&thread, &e, 1));
    CHECK_EQ_INT(phi_thread_get_info(log_of()).usage.total_tokens, 26);
    CHECK_EQ_INT(phi_thread_get_info(log_of()).usage.input, 20);
    CHECK_EQ_INT(phi_thread_get_info(NULL).usage.input, 0);
    done();
}

/* Where memory is limited, the places of old compactions are given up, and not of the newest. */
TEST(after_many_compactions_the_newest_says_from_where_to_prune) {
    char ids[100][8];
    int i;
    setup();
    phi__segments_limit(&thread.log, 1 << 20);
    for (i = 0; i < 100; i++) {
        phi_content c = text_block("short");
        phi_message m = message_of(PHI_ROLE_USER, &c);
        phi_span s = span_of(2 * (uint64_t)i, 2 * (uint64_t)i, &m, 1);
        phi_rewrite r = rewrite_of(ids[i], &s, 1);
        (void)snprintf(ids[i], sizeof ids[i], "c%d", i);
        r.reason = PHI_REWRITE_COMPACTION;
        say(PHI_ROLE_USER, "a long word or two");
        CHECK_EQ_INT(make(&r), PHI_OK);
        CHECK_EQ_INT(phi__prune_from(log_of()), 2 * i + 2);
    }
    for (i = 99; i > 80; i--) {
        CHECK_EQ_INT(revoke(ids[i]), PHI_OK);
        CHECK_EQ_INT(phi__prune_from(log_of()), 2 * i);
    }
    done();
}

/* ---- without memory ---- */

static phi_status step(int which) {
    phi_content c = text_block("x");
    phi_message m = message_of(PHI_ROLE_USER, &c);
    phi_span s = span_of(1, 3, &m, 1);
    phi_rewrite r = rewrite_of("r", &s, 1);
    phi_content blocks[4];
    size_t removed;
    switch (which) {
    case 0: return make(&r);
    case 1: r.lane = "b"; return make(&r);
    case 2: r.reason = PHI_REWRITE_COMPACTION; return make(&r);
    case 3: return revoke("first");
    case 4: return phi_thread_fork_lane(log_of(), "c", NULL, 4);
    case 5: return phi_thread_switch(log_of(), "b");
    case 6: return phi_thread_switch(log_of(), "new");
    case 7: return phi_thread_switch(log_of(), NULL);
    case 8: return phi_thread_note(log_of(), "n", PHI__LIT("[1,2]"), NULL);
    case 9: m = calls_of("x y z", blocks); break;
    case 10:
        return phi__truncate(&thread, 0, NULL, NULL, PHI__LIT("l"), 0, &removed) ? PHI_OK
                                                                                 : PHI_NO_MEMORY;
    default: break;
    }
    return phi_thread_append(log_of(), &m, 1, NULL);
}

TEST(a_step_that_finds_no_memory_changes_nothing) {
    char before[2000], lane[16];
    int which, n;
    for (which = 0; which <= 11; which++)
        for (n = 0;; n++) {
            uint64_t count;
            size_t lanes;
            phi_status status;
            conversation();
            result("zz", PHI_ENTRY_DURABLE); /* of no call */
            say(PHI_ROLE_ASSISTANT,
                "a long answer, so that there is something to be gained when it "
                "goes: it must be longer than the marker that comes for it");
            say(PHI_ROLE_USER, "go on");
            say(PHI_ROLE_ASSISTANT, "yes");
            CHECK_EQ_INT(swap("first", 6, 6, "instead"), PHI_OK);
            CHECK_EQ_INT(phi_thread_fork_lane(log_of(), "b", NULL, UINT64_MAX), PHI_OK);
            (void)snprintf(before, sizeof before, "%s", now());
            (void)snprintf(lane, sizeof lane, "%s", phi_thread_get_info(log_of()).lane.at);
            count = phi_thread_count(log_of());
            lanes = phi_thread_get_info(log_of()).lane_count;
            test_alloc_fail_at(n);
            status = step(which);
            if (!test_alloc_tripped()) {
                test_alloc_fail_at(-1);
                CHECK_EQ_INT(status, PHI_OK);
                done();
                break;
            }
            test_alloc_fail_at(-1);
            if (status == PHI_OK) { /* it was a new segment: the old one has room */
                CHECK(phi_thread_count(log_of()) > count);
                done();
                continue;
            }
            CHECK_EQ_INT(status, PHI_NO_MEMORY);
            CHECK_EQ_INT(phi_thread_count(log_of()), count);
            CHECK_EQ_INT(phi_thread_get_info(log_of()).lane_count, lanes);
            CHECK_EQ_STR(phi_thread_get_info(log_of()).lane.at, lane);
            CHECK_EQ_STR(now(), before);
            CHECK_EQ_INT(step(which), PHI_OK); /* and there is nothing in the way of it now */
            done();
            if (n > 100) break;
        }
}

TEST(a_long_replacement_that_finds_no_memory_changes_nothing) {
    static phi_message list[400];
    phi_content c = text_block("line");
    phi_span s = span_of(0, 6, list, 400);
    phi_rewrite r = rewrite_of("long", &s, 1);
    phi_status status = PHI_NO_MEMORY;
    int n;
    size_t i;
    for (i = 0; i < 400; i++) list[i] = message_of(PHI_ROLE_USER, &c);
    for (n = 0; n < 100 && status != PHI_OK; n++) {
        conversation();
        test_alloc_fail_at(n);
        status = make(&r);
        test_alloc_fail_at(-1);
        if (status != PHI_OK) {
            CHECK_EQ_INT(status, PHI_NO_MEMORY);
            CHECK_EQ_STR(now(), "0 1 2 3 4 5 6");
        }
        done();
    }
    CHECK(n > 3 && n < 100);
}

TEST(many_spans_that_find_no_memory_change_nothing) {
    enum { SPANS = 200 };
    static phi_span spans[SPANS];
    phi_rewrite r = rewrite_of("many", spans, SPANS);
    phi_status status = PHI_NO_MEMORY;
    size_t i;
    int n;
    for (i = 0; i < SPANS; i++) spans[i] = span_of(7 + i, 7 + i, NULL, 0);
    for (n = 0; n < 100 && status != PHI_OK; n++) {
        conversation();
        for (i = 0; i < SPANS; i++) say(PHI_ROLE_USER, "more");
        test_alloc_fail_at(n);
        status = make(&r);
        test_alloc_fail_at(-1);
        CHECK(status == PHI_OK || status == PHI_NO_MEMORY);
        CHECK_EQ_INT(thread.fold.count, status == PHI_OK ? 7 : 7 + SPANS);
        done();
    }
    CHECK(n > 2 && n < 100);
}

TEST(a_view_that_finds_no_memory_says_so) {
    const phi_view_item *items;
    phi_arena arena;
    size_t count;
    int n;
    conversation();
    CHECK_EQ_INT(swap("a", 1, 4, "list"), PHI_OK);
    for (n = 0; n < 100; n++) {
        phi_status status;
        phi_arena_init(&arena, &memory, 0);
        test_alloc_fail_at(n);
        status = phi_thread_view(log_of(), NULL, 5, &arena, &items, &count);
        phi_arena_free(&arena);
        if (!test_alloc_tripped()) break;
        CHECK_EQ_INT(status, PHI_NO_MEMORY);
    }
    test_alloc_fail_at(-1);
    CHECK(n > 2 && n < 100);
    done();
}

TEST_MAIN(TEST_ENTRY(a_replaced_history_is_the_snapshot_and_what_follows),
          TEST_ENTRY(a_summary_says_that_it_is_one), TEST_ENTRY(what_is_dropped_leaves_nothing),
          TEST_ENTRY(several_spans_of_one_rewrite_each_have_their_place),
          TEST_ENTRY(a_shortened_result_keeps_its_place_in_the_group),
          TEST_ENTRY(a_group_is_taken_as_a_whole),
          TEST_ENTRY(a_group_is_not_parted_by_a_span_that_begins_on_a_note),
          TEST_ENTRY(a_group_that_stays_in_a_compaction_is_not_parted_either),
          TEST_ENTRY(a_log_that_holds_a_parted_group_is_read),
          TEST_ENTRY(a_result_that_came_late_binds_its_call_too),
          TEST_ENTRY(what_a_rewrite_has_made_is_not_cut),
          TEST_ENTRY(spans_out_of_order_or_past_the_base_are_refused_with_words),
          TEST_ENTRY(messages_that_no_model_takes_are_refused_with_words),
          TEST_ENTRY(the_calls_of_a_rewrites_messages_have_their_ids_for_themselves),
          TEST_ENTRY(a_reason_or_a_meta_or_a_lane_that_is_none_is_refused_with_words),
          TEST_ENTRY(words_are_cut_to_the_room_there_is),
          TEST_ENTRY(what_came_after_the_base_survives),
          TEST_ENTRY(a_second_rewrite_of_one_id_changes_nothing),
          TEST_ENTRY(an_id_of_the_form_that_phi_makes_is_not_a_hosts_to_give),
          TEST_ENTRY(a_rewrite_without_an_id_gets_one_of_its_own),
          TEST_ENTRY(a_name_that_is_not_utf_8_is_refused),
          TEST_ENTRY(an_id_of_a_message_that_is_not_utf_8_is_refused),
          TEST_ENTRY(what_is_revoked_is_as_if_it_had_not_been),
          TEST_ENTRY(only_what_nothing_later_touches_can_be_revoked),
          TEST_ENTRY(there_must_be_something_to_revoke),
          TEST_ENTRY(a_compaction_leaves_durable_groups_standing),
          TEST_ENTRY(a_result_is_not_of_a_call_whose_id_only_hashes_the_same),
          TEST_ENTRY(in_the_place_of_what_stays_whole_nothing_is_put),
          TEST_ENTRY(truncation_spares_what_is_durable_and_takes_late_results_along),
          TEST_ENTRY(truncation_believes_the_hosts_counter),
          TEST_ENTRY(truncation_does_not_cut_what_a_rewrite_has_put_in_one_place),
          TEST_ENTRY(a_call_that_was_rewritten_away_needs_no_result),
          TEST_ENTRY(of_a_run_that_keeps_nothing_nothing_is_shown),
          TEST_ENTRY(of_a_run_that_keeps_nothing_its_rewrites_go_too),
          TEST_ENTRY(an_end_that_finds_no_memory_changes_nothing),
          TEST_ENTRY(a_fork_shows_what_its_parent_showed_and_goes_its_own_way),
          TEST_ENTRY(a_fork_is_cut_back_to_the_end_of_a_group),
          TEST_ENTRY(a_fork_of_nothing_begins_empty),
          TEST_ENTRY(a_fork_behind_a_snapshot_that_ends_in_a_call_begins_empty),
          TEST_ENTRY(a_fork_of_a_fork_shows_no_more_than_that_did),
          TEST_ENTRY(a_rewrite_is_of_its_lane_and_of_later_forks),
          TEST_ENTRY(lanes_have_names_and_an_order), TEST_ENTRY(a_thousand_lanes_are_no_trouble),
          TEST_ENTRY(an_append_says_what_it_expects), TEST_ENTRY(notes_are_kept_and_not_shown),
          TEST_ENTRY(views_of_earlier_states_are_what_was_shown_then),
          TEST_ENTRY(usage_is_the_sum_of_the_runs_that_have_ended),
          TEST_ENTRY(after_many_compactions_the_newest_says_from_where_to_prune),
          TEST_ENTRY(a_step_that_finds_no_memory_changes_nothing),
          TEST_ENTRY(a_long_replacement_that_finds_no_memory_changes_nothing),
          TEST_ENTRY(many_spans_that_find_no_memory_change_nothing),
          TEST_ENTRY(a_view_that_finds_no_memory_says_so))
