/* test_session_context.c - compaction blocks of the original: applied, made, and put into an agent. */
#include "support/session_list.h"
#include "blocks_support.h"
#include "log_support.h"
#include "agent/one_shot_run.h"
#include "log/prune.h"
#include "record/recorder.h"
#include "support/context_tools.h"
#include "support/recorded.h"
#include "support/rig.h"
#include "loop/events.h"
#include "agent/agent_history.h"
#include "agent/agent_info.h"
#include "log/log_in.h"

static run_log l;

static const char *shown(void) {
    static char out[16 * 1024];
    const phi_view_item *items = NULL;
    phi_message list[256];
    phi_arena arena;
    size_t count = 0, i;
    phi_arena_init(&arena, &l.memory, 0);
    CHECK_EQ_INT(phi_thread_view(runs_thread(&l), NULL, UINT64_MAX, &arena, &items, &count),
                 PHI_OK);
    for (i = 0; i < count && i < 256; i++) list[i] = *items[i].message;
    (void)snprintf(out, sizeof out, "%s", words_of(list, i));
    phi_arena_free(&arena);
    return out;
}

static phi_status import(const phi_session *s, const phi_compaction_config *config) {
    char words[200];
    phi_status status = phi_session_to_thread(s, phi_str_of(""), PHI_SESSION_ROOTS_GO_ON, config,
                                              NULL, runs_thread(&l), words, sizeof words);
    CHECK_EQ_STR(words, "");
    return status;
}

static phi_compaction_config first_and_recent(uint32_t first, uint32_t recent) {
    phi_compaction_config config;
    memset(&config, 0, sizeof config);
    config.keep_first_turns = first;
    config.keep_recent_turns = recent;
    return config;
}

/* ---- applied ---- */

TEST(without_a_block_three_turns_are_their_six_messages) {
    phi_session *s;
    begin_session();
    loop_of_turns("s.m.1", NULL, 3);
    s = read_it();
    REQUIRE(s != NULL);
    CHECK_EQ_STR(context_of(s, "s.m.1", 0, NULL), "1.q0 1.a0 1.q1 1.a1 1.q2 1.a2");
    CHECK_EQ_STR(context_of(s, "", 0, NULL), "1.q0 1.a0 1.q1 1.a1 1.q2 1.a2");
    phi_session_free(s);
}

/* Of the book: 13 turns, 0-1, 2-7 and 8-12. */
static void book_s_loop(int count) {
    begin_loop("s.m.1", NULL);
    turns("s.m.1", count);
    put("],'compaction_block':{'keep_first':{'startTurn':0,'endTurn':1},"
        "'keep_compacted':{'range':{'startTurn':2,'endTurn':7},'messages':["
        "{'role':'user','content':[{'type':'text','text':'[Summary]'}],'timestamp':123}]},"
        "'keep_recent':{'range':{'startTurn':8,'endTurn':12},'messages':[");
    said("user", "s.m.1", 8, "recent");
    said("assistant", "s.m.1", 12, "cut");
    put("]},'createdAt':'2026-03-28T10:00:00Z'}}");
}

TEST(of_the_loop_itself_all_three_sections_are_loaded) {
    phi_session *s;
    begin_session();
    book_s_loop(13);
    s = read_it();
    REQUIRE(s != NULL);
    CHECK_EQ_STR(context_of(s, "s.m.1", 0, NULL), "1.q0 1.a0 1.q1 1.a1 [Summary] recent cut");
    CHECK_EQ_INT(s->loops[0]->message_count, 26); /* a block takes nothing away */
    phi_session_free(s);
}

TEST(turns_that_came_after_a_block_was_made_are_loaded_behind_it) {
    phi_session *s;
    begin_session();
    book_s_loop(15);
    s = read_it();
    REQUIRE(s != NULL);
    CHECK_EQ_STR(context_of(s, "s.m.1", 0, NULL),
                 "1.q0 1.a0 1.q1 1.a1 [Summary] recent cut 1.q13 1.a13 1.q14 1.a14");
    phi_session_free(s);
}

TEST(of_an_earlier_loop_only_what_is_compacted_is_loaded) {
    phi_session *s;
    begin_session();
    book_s_loop(13);
    loop_of_turns("s.m.2", "s.m.1", 1);
    s = read_it();
    REQUIRE(s != NULL);
    CHECK_EQ_STR(context_of(s, "s.m.2", 0, NULL), "[Summary] 2.q0 2.a0");
    CHECK_EQ_STR(context_of(s, "s.m.1", 0, NULL), "1.q0 1.a0 1.q1 1.a1 [Summary] recent cut");
    phi_session_free(s);
}

TEST(an_earlier_loop_whose_block_has_nothing_compacted_loads_nothing) {
    phi_session *s;
    begin_session();
    begin_loop("s.m.1", NULL);
    turns("s.m.1", 2);
    put("],'compaction_block':{'keep_first':{'startTurn':0,'endTurn':1},"
        "'createdAt':'2026-03-28T10:00:00Z'}}");
    loop_of_turns("s.m.2", "s.m.1", 1);
    s = read_it();
    REQUIRE(s != NULL);
    CHECK_EQ_STR(context_of(s, "s.m.2", 0, NULL), "2.q0 2.a0");
    phi_session_free(s);
}

TEST(earlier_loops_beyond_the_scope_are_skipped) {
    phi_compaction_config config;
    phi_session *s;
    begin_session();
    loop_of_turns("s.m.1", NULL, 1);
    loop_of_turns("s.m.2", "s.m.1", 1);
    loop_of_turns("s.m.3", "s.m.2", 1);
    loop_of_turns("s.m.4", "s.m.3", 1);
    loop_of_turns("s.m.5", "s.m.4", 1);
    s = read_it();
    REQUIRE(s != NULL);
    memset(&config, 0, sizeof config);
    CHECK_EQ_STR(context_of(s, "s.m.5", 0, NULL), "2.q0 2.a0 3.q0 3.a0 4.q0 4.a0 5.q0 5.a0");
    CHECK_EQ_STR(context_of(s, "s.m.5", 0, &config), "2.q0 2.a0 3.q0 3.a0 4.q0 4.a0 5.q0 5.a0");
    config.scope_runs = 1;
    CHECK_EQ_STR(context_of(s, "s.m.5", 0, &config), "4.q0 4.a0 5.q0 5.a0");
    config.scope_runs = PHI_COMPACTION_NO_RUNS;
    CHECK_EQ_STR(context_of(s, "s.m.5", 0, &config), "5.q0 5.a0");
    config.scope_runs = UINT32_MAX;
    CHECK_EQ_STR(context_of(s, "s.m.5", 0, &config),
                 "1.q0 1.a0 2.q0 2.a0 3.q0 3.a0 4.q0 4.a0 5.q0 5.a0");
    phi_session_free(s);
}

static size_t ten_a_byte(void *user_data, phi_str text) {
    (void)user_data;
    return text.len * 10;
}

TEST(with_a_budget_of_80_tokens_the_newest_earlier_loop_is_in_and_the_older_out) {
    phi_compaction_config config;
    phi_token_counter counter;
    phi_allocator allocator = test_allocator();
    phi_memory memory;
    phi_arena arena;
    const phi_message *list = NULL;
    size_t count = 0;
    phi_session *s;
    begin_session();
    begin_loop("s.m.1", NULL);
    said("user", "s.m.1", 0, "old.."); /* 54 tokens */
    put("]}");
    begin_loop("s.m.2", "s.m.1");
    said("user", "s.m.2", 0, "new.."); /* 54 */
    put("]}");
    loop_of_turns("s.m.3", "s.m.2", 1); /* the loop itself does not count */
    s = read_it();
    REQUIRE(s != NULL);
    memset(&config, 0, sizeof config);
    memset(&counter, 0, sizeof counter);
    counter.count_text = ten_a_byte;
    config.scope = PHI_COMPACTION_TOKENS;
    config.scope_tokens = 80;
    phi_memory_init(&memory, &allocator, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(session_list(s, phi_str_of(""), 0, &config, &counter, &arena, &list, &count),
                 PHI_OK);
    CHECK_EQ_STR(words_of(list, count), "new.. 3.q0 3.a0");
    config.scope_tokens = 108;
    CHECK_EQ_INT(session_list(s, phi_str_of(""), 0, &config, &counter, &arena, &list, &count),
                 PHI_OK);
    CHECK_EQ_STR(words_of(list, count), "old.. new.. 3.q0 3.a0");
    phi_arena_free(&arena);
    phi_session_free(s);
}

TEST(sections_that_overlap_load_no_turn_twice) {
    phi_session *s;
    begin_session();
    begin_loop("s.m.1", NULL);
    turns("s.m.1", 3);
    put("],'compaction_block':{'keep_first':{'startTurn':0,'endTurn':1},"
        "'keep_recent':{'range':{'startTurn':1,'endTurn':2},'messages':[");
    said("user", "s.m.1", 1, "recent1");
    said("user", "s.m.1", 2, "recent2");
    put("]},'createdAt':'2026-03-28T10:00:00Z'}}");
    s = read_it();
    REQUIRE(s != NULL);
    CHECK_EQ_STR(context_of(s, "", 0, NULL), "1.q0 1.a0 recent1 recent2");
    phi_session_free(s);
}

TEST(ranges_past_the_end_are_empty_and_messages_without_an_id_are_turns_of_their_own) {
    phi_session *s;
    begin_session();
    begin_loop("s.m.1", NULL);
    said("user", NULL, -1, "one");
    said("assistant", NULL, -1, "two");
    said("user", NULL, -1, "three");
    put("],'compaction_block':{'keep_first':{'startTurn':0,'endTurn':0},'keep_compacted':"
        "{'range':{'startTurn':1,'endTurn':1},'messages':[]}}}");
    begin_loop("t.m.1", NULL);
    said("user", NULL, -1, "four");
    put("],'compaction_block':{'keep_first':{'startTurn':7,'endTurn':9}}}");
    begin_loop("u.m.1", NULL);
    said("user", NULL, -1, "five");
    put("],'compaction_block':{'keep_first':{'startTurn':1,'endTurn':0}}}");
    begin_loop("v.m.1", NULL);
    said("user", NULL, -1, "six");
    put("],'compaction_block':{'keep_compacted':{'range':{'startTurn':0,'endTurn':4294967295},"
        "'messages':[]}}}");
    s = read_it();
    REQUIRE(s != NULL);
    CHECK_EQ_STR(context_of(s, "s.m.1", 0, NULL), "one three");
    CHECK_EQ_STR(context_of(s, "t.m.1", 0, NULL), "");
    CHECK_EQ_STR(context_of(s, "u.m.1", 0, NULL), "five"); /* no range at all */
    CHECK_EQ_STR(context_of(s, "v.m.1", 0, NULL), "");
    phi_session_free(s);
}

TEST(only_the_way_to_a_loop_is_loaded) {
    phi_session *s;
    begin_session();
    loop_of_turns("s.m.1", NULL, 1);
    loop_of_turns("s.m.2", "s.m.1", 1); /* superseded by the next */
    loop_of_turns("s.m.3", "s.m.1", 1);
    loop_of_turns("s.m.4", "t.x.9", 1); /* its parent is in another session */
    loop_of_turns("s.m.5", "s.m.5", 1); /* its own */
    loop_of_turns("s.m.6", "s.m.7", 1);
    loop_of_turns("s.m.7", "s.m.6", 1);
    s = read_it();
    REQUIRE(s != NULL);
    CHECK_EQ_STR(context_of(s, "s.m.3", 0, NULL), "1.q0 1.a0 3.q0 3.a0");
    CHECK_EQ_STR(context_of(s, "s.m.4", 0, NULL), "4.q0 4.a0");
    CHECK_EQ_STR(context_of(s, "s.m.5", 0, NULL), "5.q0 5.a0");
    CHECK_EQ_STR(context_of(s, "s.m.7", 0, NULL), "6.q0 6.a0 7.q0 7.a0");
    CHECK_EQ_STR(context_of(s, "s.m.4", PHI_SESSION_ROOTS_GO_ON, NULL),
                 "1.q0 1.a0 3.q0 3.a0 4.q0 4.a0");
    CHECK_EQ_STR(context_of(s, "s.m.7", PHI_SESSION_ROOTS_GO_ON, NULL), "6.q0 6.a0 7.q0 7.a0");
    phi_session_free(s);
}

static void branch(const char *id, bool selected) {
    begin_loop(id, NULL);
    turns(id, 1);
    put("],'parallel_group':{'all_loop_ids':['s.x.2','s.y.3'],'selected_loop_id':'s.x.2',"
        "'selected_config_index':0,'evaluation_usage':{},'is_selected':%s}}",
        selected ? "true" : "false");
}

TEST(of_a_group_the_selected_loop_is_gone_on_from) {
    phi_session *s;
    begin_session();
    loop_of_turns("s.m.1", NULL, 1);
    branch("s.x.2", true);
    branch("s.y.3", false);
    loop_of_turns("s.m.4", NULL, 1);
    s = read_it();
    REQUIRE(s != NULL);
    CHECK_EQ_STR(context_of(s, "", PHI_SESSION_ROOTS_GO_ON, NULL), "1.q0 1.a0 2.q0 2.a0 4.q0 4.a0");
    CHECK_EQ_STR(context_of(s, "s.y.3", PHI_SESSION_ROOTS_GO_ON, NULL),
                 "1.q0 1.a0 2.q0 2.a0 3.q0 3.a0");
    phi_session_free(s);
}

TEST(a_loop_that_is_not_there_and_a_session_without_messages) {
    phi_memory memory;
    phi_arena arena;
    const phi_message *list = NULL;
    size_t count = 7;
    phi_session *s;
    phi_str none = {"", 0};
    begin_session();
    loop_of_turns("s.m.1", NULL, 0);
    s = read_it();
    REQUIRE(s != NULL);
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(session_list(s, phi_str_of("s.m.2"), 0, NULL, NULL, &arena, &list, &count),
                 PHI_NOT_FOUND);
    CHECK_EQ_INT(session_list(s, none, 0, NULL, NULL, &arena, &list, &count), PHI_OK);
    CHECK_EQ_INT(count, 0);
    CHECK_EQ_INT(compact_session(s, phi_str_of("s.m.2"), 0, NULL, 0, NULL), PHI_NOT_FOUND);
    CHECK_EQ_INT(compact_session(s, none, 0, NULL, 0, &count), PHI_OK);
    CHECK_EQ_INT(count, 0);
    CHECK_EQ_INT(compact_session(s, phi_str_of("s.m.1"), 0, NULL, 0, &count), PHI_OK);
    CHECK_EQ_INT(count, 0);
    CHECK_EQ_INT(compact_session(NULL, none, 0, NULL, 0, NULL), PHI_BAD_ARG);
    phi_arena_free(&arena);
    phi_session_free(s);
}

/* ---- prunes ---- */

static void called(const char *id, int turn, const char *loop, int ms) {
    comma();
    put("{'role':'assistant','content':[{'type':'toolCall','id':'%s','name':'t','arguments':{}}],"
        "'stopReason':'toolUse','model':'m','provider':'p','usage':{'input':1,'output':1},"
        "'timestamp':%d",
        id, ms);
    if (turn >= 0) put(",'turnId':{'loopId':'%s','turnIndex':%d}", loop, turn);
    put("}");
}

static void result(const char *id, int turn, const char *loop, const char *text, int ms) {
    comma();
    put("{'role':'toolResult','toolCallId':'%s','toolName':'t','isError':false,'timestamp':%d,"
        "'content':[{'type':'text','text':'%s'}]",
        id, ms, text);
    if (turn >= 0) put(",'turnId':{'loopId':'%s','turnIndex':%d}", loop, turn);
    put("}");
}

static void pruned(const char *loop, const char *memo, const char *times) {
    put("{'sequence':%d,'event':{'type':'PrunApplied','loop_id':'%s','tokens_removed':9,"
        "'messages_removed':2,'memo':%s,'pruned_timestamps':[%s],"
        "'timestamp':'2026-03-28T10:00:00Z'}}",
        memo != NULL, loop, memo != NULL ? memo : "null", times);
}

/* q, a call and its result at 10 and 11, another at 12 and 13, an answer at 14; both are pruned, the
   second with a memo. */
static void pruned_loop(void) {
    begin_loop("s.m.1", NULL);
    said("user", "s.m.1", 0, "q");
    called("c0", 0, "s.m.1", 10);
    result("c0", 0, "s.m.1", "r0", 11);
    called("c1", 1, "s.m.1", 12);
    result("c1", 1, "s.m.1", "r1", 13);
    said("assistant", "s.m.1", 2, "a");
    put("],'events':[");
    pruned("s.m.1", NULL, "10,11");
    comma();
    pruned("s.m.1", "'two wells'", "12,13");
    put("]}");
}

#define WELLS "[Pruned context summary: two wells]"

TEST(messages_that_were_pruned_are_not_loaded_and_a_memo_is_in_their_place) {
    phi_session *s;
    begin_session();
    pruned_loop();
    loop_of_turns("s.m.2", "s.m.1", 1);
    s = read_it();
    REQUIRE(s != NULL);
    CHECK_EQ_STR(context_of(s, "s.m.1", 0, NULL), "q " WELLS " a");
    CHECK_EQ_STR(context_of(s, "s.m.2", 0, NULL), "q " WELLS " a 2.q0 2.a0");
    CHECK_EQ_INT(s->loops[0]->message_count, 6); /* the record has them all */
    phi_session_free(s);
}

TEST(a_timestamp_takes_one_message_of_the_loop_or_an_earlier_one_and_no_user_s) {
    phi_session *s;
    begin_session();
    loop_of_turns("s.m.1", NULL, 2); /* all messages are of time 1 */
    begin_loop("s.m.2", "s.m.1");
    turns("s.m.2", 1);
    put("],'events':[");
    pruned("s.m.2", NULL, "1,1,7");
    put("]}");
    begin_loop("s.m.3", "s.m.1");
    turns("s.m.3", 1);
    put("],'events':[{'sequence':0,'event':{'type':'PrunApplied','pruned_timestamps':7}},");
    pruned("s.m.3", NULL, "1,1,1,1");
    put("]}");
    s = read_it();
    REQUIRE(s != NULL);
    CHECK_EQ_STR(context_of(s, "s.m.1", 0, NULL), "1.q0 1.a0 1.q1 1.a1"); /* not on its way */
    CHECK_EQ_STR(context_of(s, "s.m.2", 0, NULL), "1.q0 1.q1 2.q0 2.a0");
    CHECK_EQ_STR(context_of(s, "s.m.3", 0, NULL), "1.q0 1.q1 3.q0");
    phi_session_free(s);
}

TEST(a_group_of_which_a_prune_names_one_message_goes_as_a_whole) {
    phi_session *s;
    begin_session();
    begin_loop("s.m.1", NULL);
    said("user", "s.m.1", 0, "q");
    called("c0", 0, "s.m.1", 10);
    result("c0", 0, "s.m.1", "r0", 11);
    put("],'events':[");
    pruned("s.m.1", "'m'", "11");
    put("]}");
    s = read_it();
    REQUIRE(s != NULL);
    CHECK_EQ_STR(context_of(s, "", 0, NULL), "q [Pruned context summary: m]");
    runs_open(&l);
    CHECK_EQ_INT(import(s, NULL), PHI_OK);
    CHECK_EQ_STR(shown(), "q [Pruned context summary: m]");
    runs_close(&l);
    phi_session_free(s);
}

TEST(in_a_thread_a_prune_is_a_rewrite_of_its_own) {
    phi_rewrite revoke;
    phi_entry e;
    phi_session *s;
    begin_session();
    pruned_loop();
    s = read_it();
    REQUIRE(s != NULL);
    runs_open(&l);
    CHECK_EQ_INT(import(s, NULL), PHI_OK);
    CHECK_EQ_STR(shown(), "q " WELLS " a");
    REQUIRE(phi_thread_entry(runs_thread(&l), phi_thread_count(runs_thread(&l)) - 1, &e) == PHI_OK);
    REQUIRE(CHECK_EQ_INT(e.kind, PHI_ENTRY_REWRITE));
    CHECK_EQ_INT(e.rewrite->reason, PHI_REWRITE_PRUNE);
    CHECK_EQ_INT(phi__prune_from(runs_thread(&l)), 0); /* what is left may be pruned */
    memset(&revoke, 0, sizeof revoke);
    revoke.revoke = e.rewrite->op_id;
    CHECK_EQ_INT(phi_thread_rewrite(runs_thread(&l), &revoke, NULL, NULL, 0), PHI_OK);
    CHECK_EQ_STR(shown(), "q call r0 call r1 a");
    runs_close(&l);
    phi_session_free(s);
}

TEST(blocks_show_nothing_that_was_pruned) {
    phi_compaction_config config = first_and_recent(1, 1);
    phi_session *s;
    int made_by_us;
    for (made_by_us = 0; made_by_us < 2; made_by_us++) {
        begin_session();
        pruned_loop();
        if (!made_by_us) { /* as the original makes it: of the whole log */
            made_len--;
            put(",'compaction_block':{'keep_first':{'startTurn':0,'endTurn':0},"
                "'keep_recent':{'range':{'startTurn':1,'endTurn':2},'messages':[");
            called("c1", 1, "s.m.1", 12);
            result("c1", 1, "s.m.1", "cut", 13);
            said("assistant", "s.m.1", 2, "a");
            put("]}}}");
        }
        s = read_it();
        REQUIRE(s != NULL);
        if (made_by_us)
            CHECK_EQ_INT(compact_session(s, phi_str_of(""), 0, &config, 0, NULL), PHI_OK);
        CHECK_EQ_STR(context_of(s, "", 0, NULL), "q " WELLS " a");
        runs_open(&l);
        CHECK_EQ_INT(import(s, NULL), PHI_OK);
        CHECK_EQ_STR(shown(), "q " WELLS " a");
        runs_close(&l);
        phi_session_free(s);
    }
}

/* What a session of this thread, or of these events, loads after a file. */
static const char *loaded(phi_session *s) {
    static char out[4096];
    phi_memory memory;
    phi_arena arena;
    phi_session *back = NULL;
    phi_str json;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    out[0] = '\0';
    if (CHECK(s != NULL) && CHECK_EQ_INT(phi_session_to_json(s, 0, &arena, &json), PHI_OK) &&
        CHECK_EQ_INT(phi_session_from_json(json, NULL, 0, &back, NULL), PHI_OK))
        (void)snprintf(out, sizeof out, "%s", context_of(back, "", 0, NULL));
    phi_session_free(back);
    phi_session_free(s);
    phi_arena_free(&arena);
    return out;
}

TEST(what_a_run_pruned_stays_away_when_its_session_is_saved_and_loaded) {
    static const char want[] = "Count. [Pruned context summary: nine] call Prun request recorded: "
                               "10 tokens will be removed "
                               "before next turn. Done.";
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_recorder *recorder = phi_recorder_new(NULL);
    phi_rewrite revoke;
    phi_tool tools[3];
    phi_entry e;
    phi_event ev;
    phi_session *s = NULL;
    phi_agent agent;
    uint64_t seq = 0;
    (void)tools_prun(tools);
    tools[2] = rig_echo();
    desc.tools = tools;
    desc.tool_count = 3;
    agent = rig_agent(r, &desc);
    rig_call(r, "c1", "echo", "{\"text\":\"a long and winding list of all the houses there\"}");
    rig_call(r, "c2", "prun_with_memo", "{\"tokens\":10,\"memo\":\"nine\"}");
    rig_says(r, "Done.");
    CHECK_EQ_INT(phi_prompt(agent, "Count."), PHI_OK);
    while (phi_step(rig_runtime(r), 0) > 0)
        while (phi_next_event(rig_runtime(r), &ev)) phi_recorder_add(recorder, &ev);
    while (phi_next_event(rig_runtime(r), &ev)) phi_recorder_add(recorder, &ev);
    (void)phi_recorder_flush(recorder, PHI_FLUSH_ALL);
    CHECK_EQ_STR(loaded(phi_recorder_drain(recorder)), want);
    CHECK_EQ_INT(phi_session_of_thread(phi_agent_thread(agent), NULL, &s), PHI_OK);
    CHECK_EQ_STR(loaded(s), want);
    do REQUIRE(phi_thread_entry(phi_agent_thread(agent), seq++, &e) == PHI_OK);
    while (e.kind != PHI_ENTRY_REWRITE);
    memset(&revoke, 0, sizeof revoke);
    revoke.revoke = e.rewrite->op_id;
    CHECK_EQ_INT(phi_thread_rewrite(phi_agent_thread(agent), &revoke, NULL, NULL, 0), PHI_OK);
    CHECK_EQ_INT(phi_session_of_thread(phi_agent_thread(agent), NULL, &s), PHI_OK);
    CHECK(strstr(loaded(s), "winding list") != NULL);
    phi_recorder_free(recorder);
    rig_free(r);
}

/* ---- made ---- */

TEST(of_20_turns_with_2_first_and_5_recent_2_to_14_are_compacted) {
    phi_compaction_config config = first_and_recent(2, 5);
    const phi_compaction_block *b;
    size_t n = 0;
    phi_session *s;
    begin_session();
    loop_of_turns("s.m.1", NULL, 20);
    s = read_it();
    REQUIRE(s != NULL);
    CHECK_EQ_INT(compact_session(s, phi_str_of("s.m.1"), 0, &config, 1774692000000, &n), PHI_OK);
    CHECK_EQ_INT(n, 1);
    b = s->loops[0]->block;
    REQUIRE(b != NULL);
    check_range(&b->keep_first, 0, 1);
    check_range(&b->keep_compacted, 2, 14);
    check_range(&b->keep_recent, 15, 19);
    CHECK_EQ_INT(b->keep_first.message_count, 0);
    CHECK_EQ_INT(b->keep_recent.message_count, 10);
    CHECK_EQ_INT(b->created_ms, 1774692000000);
    REQUIRE(b->keep_compacted.message_count == 1);
    CHECK_EQ_INT(b->keep_compacted.messages[0].role, PHI_ROLE_USER);
    CHECK_EQ_INT(b->keep_compacted.messages[0].loop_id.len, 0);
    CHECK_STR(b->keep_compacted.messages[0].content[0].text,
              "[User] 1.q2\n[Summary] 1.a2\n[User] 1.q3\n[Summary] 1.a3\n"
              "[User] 1.q4\n[Summary] 1.a4\n[User] 1.q5\n[Summary] 1.a5\n"
              "[User] 1.q6\n[Summary] 1.a6\n[User] 1.q7\n[Summary] 1.a7\n"
              "[User] 1.q8\n[Summary] 1.a8\n[User] 1.q9\n[Summary] 1.a9\n"
              "[User] 1.q10\n[Summary] 1.a10\n[User] 1.q11\n[Summary] 1.a11\n"
              "[User] 1.q12\n[Summary] 1.a12\n[User] 1.q13\n[Summary] 1.a13\n"
              "[User] 1.q14\n[Summary] 1.a14");
    CHECK_EQ_INT(s->loops[0]->message_count, 40);
    phi_session_free(s);
}

TEST(ten_turns_have_nothing_compacted_and_the_recent_begin_behind_the_first) {
    const phi_compaction_block *b;
    phi_session *s;
    begin_session();
    loop_of_turns("s.m.1", NULL, 10);
    s = read_it();
    REQUIRE(s != NULL);
    CHECK_EQ_INT(compact_session(s, phi_str_of(""), 0, NULL, 0, NULL), PHI_OK);
    b = s->loops[0]->block;
    REQUIRE(b != NULL);
    check_range(&b->keep_first, 0, 1);
    CHECK(!b->keep_compacted.present);
    check_range(&b->keep_recent, 2, 9);
    CHECK_EQ_STR(context_of(s, "", 0, NULL),
                 "1.q0 1.a0 1.q1 1.a1 1.q2 1.a2 1.q3 1.a3 1.q4 1.a4 1.q5 1.a5 1.q6 1.a6 1.q7 1.a7 "
                 "1.q8 1.a8 1.q9 1.a9");
    phi_session_free(s);
}

TEST(earlier_loops_in_scope_are_compacted_whole_and_keep_the_block_they_have) {
    phi_compaction_config config = first_and_recent(1, 1);
    size_t n = 0;
    phi_session *s;
    config.scope_runs = 2;
    config.focus_message = "Names!";
    begin_session();
    loop_of_turns("s.m.0", NULL, 4);
    loop_of_turns("s.m.1", "s.m.0", 4);
    begin_loop("s.m.2", "s.m.1");
    turns("s.m.2", 2);
    put("],'compaction_block':{'keep_compacted':{'range':{'startTurn':0,'endTurn':1},"
        "'messages':[");
    said("user", NULL, -1, "old");
    put("]}}}");
    loop_of_turns("s.m.3", "s.m.2", 6);
    s = read_it();
    REQUIRE(s != NULL);
    CHECK_EQ_INT(compact_session(s, phi_str_of("s.m.3"), 0, &config, 5, &n), PHI_OK);
    CHECK_EQ_INT(n, 2);
    CHECK(s->loops[0]->block == NULL); /* beyond the scope */
    REQUIRE(s->loops[1]->block != NULL && s->loops[3]->block != NULL);
    CHECK(!s->loops[1]->block->keep_first.present);
    CHECK(!s->loops[1]->block->keep_recent.present);
    check_range(&s->loops[1]->block->keep_compacted, 0, 3);
    check_range(&s->loops[3]->block->keep_compacted, 1, 4);
    config.focus_message = NULL;
    CHECK_EQ_STR(context_of(s, "s.m.3", 0, &config),
                 "Names! [User] 1.q0\n[Summary] 1.a0\n[User] 1.q1\n[Summary] 1.a1\n"
                 "[User] 1.q2\n[Summary] 1.a2\n[User] 1.q3\n[Summary] 1.a3 old 3.q0 3.a0 "
                 "Names! [User] 3.q1\n[Summary] 3.a1\n[User] 3.q2\n[Summary] 3.a2\n"
                 "[User] 3.q3\n[Summary] 3.a3\n[User] 3.q4\n[Summary] 3.a4 3.q5 3.a5");
    phi_session_free(s);
}

TEST(long_results_of_recent_turns_are_cut_and_those_of_first_ones_are_not) {
    phi_compaction_config config = first_and_recent(1, 1);
    phi_session *s;
    config.tool_output_max_lines = 2;
    begin_session();
    begin_loop("s.m.1", NULL);
    called("c0", 0, "s.m.1", 1);
    result("c0", 0, "s.m.1", "1\\n2\\n3\\n4", 1);
    called("c1", 1, "s.m.1", 1);
    result("c1", 1, "s.m.1", "1\\n2\\n3\\n4", 1);
    put("]}");
    s = read_it();
    REQUIRE(s != NULL);
    CHECK_EQ_INT(compact_session(s, phi_str_of(""), 0, &config, 0, NULL), PHI_OK);
    CHECK_EQ_STR(context_of(s, "", 0, NULL),
                 "call 1\n2\n3\n4 call 1\n\n[... 2 lines truncated ...]\n\n4");
    phi_session_free(s);
}

TEST(no_section_parts_a_call_from_its_result) {
    phi_compaction_config config = first_and_recent(2, 1);
    const phi_compaction_block *b;
    phi_session *s;
    begin_session();
    begin_loop("s.m.1", NULL);
    said("user", NULL, -1, "q");
    called("c0", -1, NULL, 1);
    result("c0", -1, NULL, "r0", 1);
    said("assistant", NULL, -1, "middle");
    called("c1", -1, NULL, 1);
    result("c1", -1, NULL, "r1", 1);
    put("]}");
    s = read_it();
    REQUIRE(s != NULL);
    CHECK_EQ_INT(compact_session(s, phi_str_of(""), 0, &config, 0, NULL), PHI_OK);
    b = s->loops[0]->block;
    REQUIRE(b != NULL);
    check_range(&b->keep_first, 0, 0);
    check_range(&b->keep_compacted, 1, 3);
    check_range(&b->keep_recent, 4, 5);
    phi_session_free(s);
}

TEST(blocks_that_were_made_are_written_and_read_back) {
    phi_compaction_config config = first_and_recent(2, 5);
    phi_allocator allocator = test_allocator();
    phi_memory memory;
    phi_arena arena;
    phi_session *s, *back = NULL;
    phi_str json;
    char before[4096];
    begin_session();
    loop_of_turns("s.m.1", NULL, 20);
    loop_of_turns("s.m.2", "s.m.1", 20);
    s = read_it();
    REQUIRE(s != NULL);
    CHECK_EQ_INT(compact_session(s, phi_str_of(""), 0, &config, 0, NULL), PHI_OK);
    (void)snprintf(before, sizeof before, "%s", context_of(s, "", 0, NULL));
    phi_memory_init(&memory, &allocator, 0);
    phi_arena_init(&arena, &memory, 0);
    REQUIRE(phi_session_to_json(s, 0, &arena, &json) == PHI_OK);
    REQUIRE(phi_session_from_json(json, &allocator, 0, &back, NULL) == PHI_OK);
    CHECK_EQ_STR(context_of(back, "", 0, NULL), before);
    phi_session_free(back);
    phi_session_free(s);
    phi_arena_free(&arena);
}

/* A strategy of the host's: its own summary, and where it is told so, less. */
typedef struct mine {
    int calls, current,
        mode; /* mode 1: nothing at all; 2: fails; 3: unfit; 4: turns out of order */
} mine;

static phi_status my_block(void *user_data, const phi_block_request *request,
                           phi_compaction_block *block) {
    mine *m = (mine *)user_data;
    phi_message *message = (phi_message *)phi_arena_alloc(request->arena, sizeof *message);
    phi_content *text = (phi_content *)phi_arena_alloc(request->arena, sizeof *text);
    m->calls++;
    m->current += request->is_current;
    CHECK_EQ_INT(request->config->keep_first_turns, 2);
    CHECK(session_loop(request->session, request->loop->loop_id) == request->loop);
    if (m->mode == 2) return PHI_LIMIT;
    if (message == NULL || text == NULL) return PHI_NO_MEMORY;
    if (m->mode == 1) memset(block, 0, sizeof *block);
    if (m->mode == 4) block->keep_recent.from = block->keep_recent.to + 1;
    if (m->mode == 1 || m->mode == 4) return PHI_OK;
    memset(message, 0, sizeof *message);
    memset(text, 0, sizeof *text);
    text->kind = PHI_CONTENT_TEXT;
    text->text = request->is_current ? phi_str_of("[mine now]") : phi_str_of("[mine before]");
    message->role = m->mode == 3 ? PHI_ROLE_TOOL_RESULT : PHI_ROLE_USER;
    message->content = text;
    message->content_count = 1;
    block->keep_compacted.present = true;
    block->keep_compacted.messages = message;
    block->keep_compacted.message_count = 1;
    return PHI_OK;
}

TEST(a_session_is_compacted_by_a_strategy_of_the_host_s) {
    static const struct {
        int mode;
        phi_status status;
        const char *words;
    } rows[] = {{1, PHI_REFUSED, "loop s.m.2: the strategy: its block shows nothing"},
                {2, PHI_LIMIT, "loop s.m.2: the strategy failed: a limit of the run was reached"},
                {3, PHI_REFUSED, "loop s.m.2: keep_compacted: a tool result needs a tool_call_id"},
                {4, PHI_REFUSED, "loop s.m.2: keep_recent: its first turn is behind its last"}};
    phi_session_compact_desc desc;
    phi_compaction_config config;
    phi_session *s;
    char words[200];
    mine m;
    size_t blocks = 9, i;
    memset(&desc, 0, sizeof desc);
    memset(&config, 0, sizeof config);
    config.keep_recent_turns = 2;
    desc.config = &config;
    desc.block_fn = my_block;
    desc.user_data = &m;
    desc.at_ms = 7;
    begin_session();
    loop_of_turns("s.m.1", NULL, 3);
    loop_of_turns("s.m.2", "s.m.1", 6);
    s = read_it();
    REQUIRE(s != NULL);
    for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        memset(&m, 0, sizeof m);
        m.mode = rows[i].mode;
        CHECK_EQ_INT(phi_session_compact(s, &desc, &blocks, words, sizeof words), rows[i].status);
        CHECK_EQ_STR(words, rows[i].words);
        CHECK_EQ_INT(blocks, 0);
        CHECK(s->loops[0]->block == NULL && s->loops[1]->block == NULL);
    }
    memset(&m, 0, sizeof m);
    CHECK_EQ_INT(phi_session_compact(s, &desc, &blocks, words, sizeof words), PHI_OK);
    CHECK_EQ_STR(words, "");
    CHECK_EQ_INT(blocks, 2);
    CHECK_EQ_INT(m.calls, 2);
    CHECK_EQ_INT(m.current, 1);
    CHECK_EQ_INT(s->loops[1]->block->created_ms, 7);
    CHECK_EQ_STR(context_of(s, "", 0, NULL),
                 "[mine before] 2.q0 2.a0 2.q1 2.a1 [mine now] 2.q4 2.a4 2.q5 2.a5");
    CHECK_EQ_INT(phi_session_compact(s, NULL, NULL, NULL, 0), PHI_OK); /* phi's own */
    CHECK_EQ_INT(phi_session_compact(NULL, &desc, NULL, NULL, 0), PHI_BAD_ARG);
    phi_session_free(s);
}

/* ---- into an agent ---- */

TEST(an_agent_goes_on_with_a_session_of_the_original_and_its_blocks) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent = rig_agent(r, &desc);
    phi_memory memory;
    phi_arena arena;
    const phi_message *list = NULL;
    size_t count = 0;
    phi_session *s;
    begin_session();
    book_s_loop(13);
    s = read_it();
    REQUIRE(s != NULL);
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(
        session_list(s, phi_str_of(""), PHI_SESSION_ROOTS_GO_ON, NULL, NULL, &arena, &list, &count),
        PHI_OK);
    CHECK_EQ_INT(phi_agent_replace_messages(agent, list, count), PHI_OK);
    phi_arena_free(&arena);
    phi_session_free(s);
    rig_says(r, "on");
    CHECK_EQ_INT(phi_prompt(agent, "and now?"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 100), 0);
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 4)->content[0].text, "[Summary]");
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 6)->content[0].text, "cut");
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 8)->content[0].text, "on");
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 9);
    rig_free(r);
}

TEST(an_agent_that_goes_on_with_a_session_counts_its_runs_on) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    phi_session *s;
    desc.ids.session_id = "s";
    desc.ids.config_id = "m";
    agent = rig_agent(r, &desc);
    begin_session();
    loop_of_turns("s.m.1", NULL, 1);
    loop_of_turns("s.m.2", "s.m.1", 1);
    s = read_it();
    REQUIRE(s != NULL);
    CHECK_EQ_INT(
        phi_session_to_thread(s, phi_str_of(""), 0, NULL, NULL, phi_agent_thread(agent), NULL, 0),
        PHI_OK);
    phi_session_free(s);
    rig_says(r, "on");
    CHECK_EQ_INT(phi_prompt(agent, "and now?"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 100), 0);
    CHECK_STR(phi_agent_get_info(agent).loop_id, "s.m.3");
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 4)->loop_id, "s.m.3");
    rig_free(r);
}

/* A session goes on in an agent that has its id; the loop id of the run that does. */
static void goes_on_as(phi_str loop_id, const char *want) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    phi_session *s = read_it();
    desc.ids.session_id = "s";
    desc.ids.config_id = "m";
    agent = rig_agent(r, &desc);
    REQUIRE(s != NULL);
    CHECK_EQ_INT(phi_session_to_thread(s, loop_id, 0, NULL, NULL, phi_agent_thread(agent), NULL, 0),
                 PHI_OK);
    phi_session_free(s);
    rig_says(r, "on");
    CHECK_EQ_INT(phi_prompt(agent, "and now?"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 100), 0);
    CHECK_STR(phi_agent_get_info(agent).loop_id, want);
    rig_free(r);
}

TEST(an_agent_that_goes_on_with_a_session_gives_no_loop_id_of_it_again) {
    begin_session(); /* the last run left no answer, and its prompt has no id */
    loop_of_turns("s.m.1", NULL, 1);
    begin_loop("s.m.2", "s.m.1");
    said("user", "", -1, "and?");
    put("]}");
    goes_on_as(phi_str_of(""), "s.m.3");
    begin_session(); /* its answer was aborted, and is not in view */
    loop_of_turns("s.m.1", NULL, 1);
    begin_loop("s.m.2", "s.m.1");
    said("user", "s.m.2", 0, "and?");
    put(",{'role':'assistant','content':[],'stopReason':'aborted','model':'m','provider':'p',"
        "'timestamp':1,'turnId':{'loopId':'s.m.7','turnIndex':0},'usage':{'input':1,'output':1}}]"
        "}");
    goes_on_as(phi_str_of(""), "s.m.8");
    begin_session(); /* nothing at all */
    loop_of_turns("s.m.1", NULL, 1);
    begin_loop("s.m.4", "s.m.1");
    put("]}");
    goes_on_as(phi_str_of(""), "s.m.5");
    begin_session(); /* another branch */
    loop_of_turns("s.m.1", NULL, 1);
    loop_of_turns("s.m.2", "s.m.1", 1);
    loop_of_turns("s.m.3", "s.m.1", 1);
    goes_on_as(phi_str_of("s.m.2"), "s.m.4");
    begin_session(); /* beyond the scope */
    loop_of_turns("s.m.9", NULL, 1);
    loop_of_turns("s.m.1", "s.m.9", 1);
    loop_of_turns("s.m.2", "s.m.1", 1);
    loop_of_turns("s.m.3", "s.m.2", 1);
    loop_of_turns("s.m.4", "s.m.3", 1);
    loop_of_turns("s.m.5", "s.m.4", 1);
    goes_on_as(phi_str_of(""), "s.m.10");
}

TEST(a_list_in_place_of_a_history_has_no_loop_id_that_is_given_again) {
    phi_content block;
    phi_message list[2];
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    rig *r = rig_new();
    memset(&block, 0, sizeof block);
    memset(list, 0, sizeof list);
    desc.ids.session_id = "s";
    desc.ids.config_id = "m";
    agent = rig_agent(r, &desc);
    block.kind = PHI_CONTENT_TEXT;
    block.text = phi_str_of("hello");
    list[0].role = PHI_ROLE_USER;
    list[0].content = &block;
    list[0].content_count = 1;
    list[0].loop_id = phi_str_of("s.m.5"); /* higher than the newest message's */
    list[1] = list[0];
    list[1].loop_id = phi_str_of("s.m.2");
    CHECK_EQ_INT(phi_agent_replace_messages(agent, list, 2), PHI_OK);
    rig_says(r, "on");
    CHECK_EQ_INT(phi_prompt(agent, "and now?"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 100), 0);
    CHECK_STR(phi_agent_get_info(agent).loop_id, "s.m.6");
    rig_free(r);
}

TEST(a_run_over_a_thread_is_not_its_own_parent) {
    rig *r = rig_new();
    phi_thread *thread = phi_thread_new(rig_runtime(r), 0);
    phi_agent_desc desc = rig_desc();
    phi_run_desc run;
    phi_message prompt;
    phi_content block;
    phi_entry e;
    REQUIRE(thread != NULL);
    memset(&run, 0, sizeof run);
    memset(&prompt, 0, sizeof prompt);
    memset(&block, 0, sizeof block);
    block.kind = PHI_CONTENT_TEXT;
    block.text = phi_str_of("and?");
    prompt.role = PHI_ROLE_USER;
    prompt.content = &block;
    prompt.content_count = 1;
    desc.ids.session_id = "s";
    desc.ids.config_id = "m";
    run.agent = &desc;
    run.thread = thread;
    run.prompts = &prompt;
    run.prompt_count = 1;
    run.parent_loop_id = "s.m.1";
    rig_says(r, "on");
    CHECK(phi_run(rig_runtime(r), &run).rt != NULL);
    CHECK_EQ_INT(rig_run(r, 100), 0);
    REQUIRE(CHECK_EQ_INT(phi_thread_entry(thread, 0, &e), PHI_OK));
    CHECK_STR(e.loop_id, "s.m.2");
    CHECK_STR(e.loop->parent_loop_id, "s.m.1");
    phi_thread_free(thread);
    rig_free(r);
}

TEST(a_loop_that_no_message_names_is_a_run_of_the_thread) {
    rig *r = rig_new();
    phi_thread *thread = phi_thread_new(rig_runtime(r), 0);
    phi_entry e;
    phi_session *s;
    begin_session();
    loop_of_turns("s.m.1", NULL, 1);
    put(",{'loop_id':'s.m.2','session_id':'s','agent_id':'a','parent_loop_id':'s.m.1',"
        "'continuation_kind':'Default','started_at':'1970-01-01T00:00:01Z',"
        "'ended_at':'1970-01-01T00:00:02Z','status':'Rejected','messages':[]}");
    s = read_it();
    REQUIRE(s != NULL && thread != NULL);
    CHECK_EQ_INT(phi_session_to_thread(s, phi_str_of(""), 0, NULL, NULL, thread, NULL, 0), PHI_OK);
    CHECK_EQ_INT(phi_thread_count(thread), 4);
    REQUIRE(CHECK_EQ_INT(phi_thread_entry(thread, 0, &e), PHI_OK));
    REQUIRE(CHECK_EQ_INT(e.kind, PHI_ENTRY_LOOP_START));
    CHECK_EQ_INT(e.at_ms, 1000);
    CHECK_STR(e.loop->loop_id, "s.m.2");
    CHECK_STR(e.loop->session_id, "s");
    CHECK_STR(e.loop->agent_id, "a");
    CHECK_STR(e.loop->parent_loop_id, "s.m.1");
    CHECK_EQ_INT(e.loop->continuation, PHI_CONTINUATION_DEFAULT);
    REQUIRE(CHECK_EQ_INT(phi_thread_entry(thread, 1, &e), PHI_OK));
    CHECK_EQ_INT(e.kind, PHI_ENTRY_LOOP_END);
    CHECK_EQ_INT(e.at_ms, 2000);
    CHECK_EQ_INT(e.status, PHI_REJECTED);
    CHECK_EQ_INT(phi_session_to_thread(s, phi_str_of(""), 0, NULL, NULL, thread, NULL, 0), PHI_OK);
    CHECK_EQ_INT(phi_thread_count(thread), 6); /* once */
    phi_session_free(s);
    phi_thread_free(thread);
    rig_free(r);
}

/* ---- into a thread ---- */

TEST(in_a_thread_the_originals_stand_behind_the_blocks_and_come_back) {
    phi_rewrite r;
    phi_entry e;
    phi_session *s;
    begin_session();
    loop_of_turns("s.m.0", NULL, 2);
    book_s_loop(14);
    s = read_it();
    REQUIRE(s != NULL);
    runs_open(&l);
    runs_text(&l, PHI_ROLE_USER, 0, "before");
    CHECK_EQ_INT(import(s, NULL), PHI_OK);
    CHECK_EQ_INT(phi_thread_count(runs_thread(&l)), 1 + 4 + 28 + 1);
    CHECK_EQ_STR(shown(), "before 0.q0 0.a0 0.q1 0.a1 1.q0 1.a0 1.q1 1.a1 [Summary] recent cut "
                          "1.q13 1.a13");
    CHECK_EQ_INT(phi_thread_entry(runs_thread(&l), 33, &e), PHI_OK);
    CHECK_EQ_INT(e.rewrite->reason, PHI_REWRITE_COMPACTION);
    CHECK(e.rewrite->spans[0].summary);
    memset(&r, 0, sizeof r);
    r.revoke = e.rewrite->op_id;
    CHECK_EQ_INT(phi_thread_rewrite(runs_thread(&l), &r, NULL, NULL, 0), PHI_OK);
    CHECK(strstr(shown(), "1.q7 1.a7 1.q8") != NULL);
    phi_session_free(s);
    runs_close(&l);
}

TEST(in_a_thread_earlier_loops_are_what_is_compacted_and_those_beyond_the_scope_nothing) {
    phi_compaction_config config = first_and_recent(1, 1);
    phi_session *s;
    char before[4096];
    config.scope_runs = 1;
    begin_session();
    loop_of_turns("s.m.1", NULL, 3);
    loop_of_turns("s.m.2", NULL, 3);
    loop_of_turns("s.m.3", NULL, 3);
    s = read_it();
    REQUIRE(s != NULL);
    CHECK_EQ_INT(compact_session(s, phi_str_of(""), PHI_SESSION_ROOTS_GO_ON, &config, 0, NULL),
                 PHI_OK);
    runs_open(&l);
    CHECK_EQ_INT(import(s, &config), PHI_OK);
    (void)snprintf(before, sizeof before, "%s",
                   context_of(s, "", PHI_SESSION_ROOTS_GO_ON, &config));
    CHECK_EQ_STR(shown(), before);
    CHECK(strncmp(shown(), "[User] 2.q0\n", 12) == 0);
    phi_session_free(s);
    runs_close(&l);
}

TEST(in_a_thread_only_results_that_were_cut_are_replaced) {
    phi_compaction_config config = first_and_recent(1, 1);
    phi_entry e;
    phi_session *s;
    config.tool_output_max_lines = 2;
    begin_session();
    begin_loop("s.m.1", NULL);
    said("user", "s.m.1", 0, "q");
    called("c1", 1, "s.m.1", 1);
    result("c1", 1, "s.m.1", "1\\n2\\n3\\n4", 1);
    put("]}");
    s = read_it();
    REQUIRE(s != NULL);
    CHECK_EQ_INT(compact_session(s, phi_str_of(""), 0, &config, 0, NULL), PHI_OK);
    runs_open(&l);
    CHECK_EQ_INT(import(s, NULL), PHI_OK);
    CHECK_EQ_STR(shown(), "q call 1\n\n[... 2 lines truncated ...]\n\n4");
    REQUIRE(phi_thread_entry(runs_thread(&l), 3, &e) == PHI_OK);
    CHECK_EQ_INT(e.rewrite->span_count, 1);
    CHECK_EQ_INT(e.rewrite->spans[0].from, 2);
    CHECK_EQ_INT(e.rewrite->spans[0].to, 2);
    phi_session_free(s);
    runs_close(&l);
}

TEST(in_a_thread_a_block_that_parts_a_call_from_its_result_replaces_everything) {
    phi_entry e;
    phi_session *s;
    begin_session();
    begin_loop("s.m.1", NULL);
    said("user", NULL, -1, "q");
    called("c1", -1, NULL, 1);
    result("c1", -1, NULL, "r", 1);
    said("assistant", NULL, -1, "a");
    put("],'compaction_block':{'keep_first':{'startTurn':0,'endTurn':1},'keep_compacted':"
        "{'range':{'startTurn':2,'endTurn':3},'messages':[");
    said("user", NULL, -1, "[Summary]");
    put("]}}}");
    s = read_it();
    REQUIRE(s != NULL);
    runs_open(&l);
    CHECK_EQ_INT(import(s, NULL), PHI_OK);
    CHECK_EQ_STR(shown(), "q call [Summary]"); /* what is sent gets a result that says so */
    REQUIRE(phi_thread_entry(runs_thread(&l), 6, &e) == PHI_OK); /* behind a run and 4 messages */
    REQUIRE(CHECK_EQ_INT(e.kind, PHI_ENTRY_REWRITE));
    CHECK_EQ_INT(e.rewrite->spans[0].to, 5);
    CHECK_EQ_INT(phi_thread_count(runs_thread(&l)), 7);
    phi_session_free(s);
    runs_close(&l);
}

TEST(a_block_without_messages_of_its_loop_is_all_there_is) {
    phi_session *s;
    begin_session();
    begin_loop("s.m.1", NULL);
    put("],'compaction_block':{'keep_compacted':{'range':{'startTurn':0,'endTurn':3},'messages':[");
    said("user", NULL, -1, "[Summary]");
    put("]}}}");
    s = read_it();
    REQUIRE(s != NULL);
    CHECK_EQ_STR(context_of(s, "", 0, NULL), "[Summary]");
    runs_open(&l);
    CHECK_EQ_INT(import(s, NULL), PHI_OK);
    CHECK_EQ_STR(shown(), "[Summary]");
    phi_session_free(s);
    begin_session();
    s = read_it();
    REQUIRE(s != NULL);
    CHECK_EQ_INT(import(s, NULL), PHI_OK);              /* nothing at all */
    CHECK_EQ_INT(phi_thread_count(runs_thread(&l)), 3); /* the run, and the block */
    phi_session_free(s);
    runs_close(&l);
}

TEST(what_the_original_keeps_with_a_message_survives_a_thread_and_its_file) {
    static const char kept[] = "\"nodeId\":7,\"parentId\":6,\"tags\":[{\"kind\":\"lesson\"}],"
                               "\"provenanceHint\":{\"kind\":\"steering\"}}";
    phi_thread *again;
    phi_session *s;
    phi_memory memory;
    phi_arena arena;
    phi_str json, second;
    rig *r = rig_new();
    const phi_view_item *items = NULL;
    size_t count = 0;
    begin_session();
    begin_loop("s.m.1", NULL);
    put("{'role':'user','content':[{'type':'text','text':'q'}],'timestamp':1,'nodeId':7,"
        "'parentId':6,'tags':[{'kind':'lesson'}],'provenanceHint':{'kind':'steering'}}]}");
    s = read_it();
    REQUIRE(s != NULL);
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    runs_open(&l);
    CHECK_EQ_INT(import(s, NULL), PHI_OK);
    CHECK_EQ_INT(phi_thread_to_json(runs_thread(&l), &arena, &json), PHI_OK);
    CHECK(strstr(json.at, kept) != NULL);
    again = phi_thread_new(rig_runtime(r), 0);
    CHECK_EQ_INT(phi_thread_from_json(again, json, NULL), PHI_OK);
    CHECK_EQ_INT(phi_thread_view(again, NULL, UINT64_MAX, &arena, &items, &count), PHI_OK);
    if (CHECK_EQ_INT(count, 1)) {
        CHECK_EQ_INT(phi_message_to_json(items[0].message, &arena, &second), PHI_OK);
        CHECK(strstr(second.at, kept) != NULL);
    }
    CHECK_EQ_INT(phi_session_to_json(s, 0, &arena, &json), PHI_OK);
    CHECK(strstr(json.at, "\"nodeId\": 7,") != NULL);
    phi_thread_free(again);
    phi_arena_free(&arena);
    phi_session_free(s);
    runs_close(&l);
    rig_free(r);
}

TEST(messages_without_content_and_extensions_of_the_original_are_gone_on_with) {
    phi_session *s;
    begin_session();
    begin_loop("s.m.1", NULL);
    put("{'role':'user','content':[],'timestamp':1},");
    put("{'role':'note','kind':'k','data':{'a':1}},");
    put("{'role':'user','content':[{'type':'text','text':'q'}],'timestamp':1},");
    put("{'role':'assistant','content':[],'stopReason':'stop','model':'m','provider':'p',"
        "'timestamp':1,'usage':{'input':1,'output':1}}");
    put("],'compaction_block':{'keep_first':{'startTurn':0,'endTurn':0},'keep_recent':"
        "{'range':{'startTurn':1,'endTurn':3},'messages':["
        "{'role':'note','kind':'k','data':{'a':1}},{'role':'user','content':[],'timestamp':1}");
    put("]}}}");
    s = read_it();
    REQUIRE(s != NULL);
    CHECK_EQ_INT(s->loops[0]->messages[0].content_count, 0);
    CHECK_STR(s->loops[0]->messages[1].extra->role, "note");
    runs_open(&l);
    CHECK_EQ_INT(import(s, NULL), PHI_OK);
    CHECK_EQ_STR(shown(), "");
    phi_session_free(s);
    runs_close(&l);
}

TEST(a_message_that_is_unfit_for_a_thread_is_named) {
    char words[200];
    phi_session *s;
    begin_session();
    begin_loop("s.m.1", NULL);
    said("user", NULL, -1, "q");
    put(",{'role':'user','kind':'k','data':1}]}");
    s = read_it(); /* the file is good, and an extension has any role in the original */
    REQUIRE(s != NULL);
    CHECK_EQ_INT(s->loops[0]->messages[1].role, PHI_ROLE_EXTENSION);
    runs_open(&l);
    CHECK_EQ_INT(phi_session_to_thread(s, phi_str_of(""), 0, NULL, NULL, runs_thread(&l), words,
                                       sizeof words),
                 PHI_BAD_ARG);
    CHECK_EQ_STR(words,
                 "message 1: an extension cannot have the role user, assistant or toolResult");
    CHECK_EQ_INT(phi_thread_count(runs_thread(&l)), 0);
    CHECK_EQ_INT(phi_session_to_thread(s, phi_str_of("t"), 0, NULL, NULL, runs_thread(&l), NULL, 0),
                 PHI_NOT_FOUND);
    CHECK_EQ_INT(phi_session_to_thread(s, phi_str_of(""), 0, NULL, NULL, NULL, NULL, 0),
                 PHI_BAD_ARG);
    phi_session_free(s);
    runs_close(&l);
}

/* ---- no memory ---- */

static bool all_of_it(void) {
    phi_compaction_config config = first_and_recent(2, 5);
    phi_allocator allocator = test_allocator();
    phi_memory memory;
    phi_arena arena;
    const phi_message *list = NULL;
    size_t count = 0, n = 9;
    phi_session *s = NULL;
    bool done;
    phi_memory_init(&memory, &allocator, 0);
    phi_arena_init(&arena, &memory, 0);
    done = phi_session_from_json(phi__str(made, made_len), &allocator, 0, &s, NULL) == PHI_OK;
    if (done && compact_session(s, phi_str_of(""), 0, &config, 0, &n) != PHI_OK) {
        CHECK(s->loops[0]->block == NULL && s->loops[1]->block == NULL);
        CHECK_EQ_INT(n, 0);
        done = false;
    }
    done =
        done && session_list(s, phi_str_of(""), 0, &config, NULL, &arena, &list, &count) == PHI_OK;
    if (done) CHECK_EQ_INT(count, 1 + 4 + 1 + 10);
    runs_open(&l);
    if (done && phi_session_to_thread(s, phi_str_of(""), 0, NULL, NULL, runs_thread(&l), NULL, 0) !=
                    PHI_OK) {
        CHECK(phi_thread_count(runs_thread(&l)) % 80 == 0); /* all, or nothing */
        done = false;
    }
    if (done) CHECK_EQ_INT(phi_thread_count(runs_thread(&l)), 81);
    runs_close(&l);
    phi_session_free(s);
    phi_arena_free(&arena);
    return done;
}

TEST(blocks_survive_every_failed_allocation) {
    int n = 0;
    bool tripped;
    begin_session();
    loop_of_turns("s.m.1", NULL, 20);
    loop_of_turns("s.m.2", "s.m.1", 20);
    put("]}");
    do {
        bool done;
        test_alloc_fail_at(n++);
        done = all_of_it();
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        CHECK_EQ_INT(done, !tripped);
        CHECK_EQ_INT(test_alloc_live_bytes(), 0);
    } while (tripped);
    CHECK(n > 8);
}

static bool loads_pruned(void) {
    phi_allocator allocator = test_allocator();
    phi_memory memory;
    phi_arena arena;
    const phi_message *list = NULL;
    size_t count = 0;
    phi_session *s = NULL;
    bool done;
    phi_memory_init(&memory, &allocator, 0);
    phi_arena_init(&arena, &memory, 0);
    done = phi_session_from_json(phi__str(made, made_len), &allocator, 0, &s, NULL) == PHI_OK;
    done = done && session_list(s, phi_str_of(""), 0, NULL, NULL, &arena, &list, &count) == PHI_OK;
    if (done) CHECK_EQ_STR(words_of(list, count), "q " WELLS " a");
    runs_open(&l);
    done = done && phi_session_to_thread(s, phi_str_of(""), 0, NULL, NULL, runs_thread(&l), NULL,
                                         0) == PHI_OK;
    if (done) CHECK_EQ_INT(phi_thread_count(runs_thread(&l)), 7);
    runs_close(&l);
    phi_session_free(s);
    phi_arena_free(&arena);
    return done;
}

TEST(prunes_of_a_session_survive_every_failed_allocation) {
    int n = 0;
    bool tripped;
    begin_session();
    pruned_loop();
    put("]}");
    do {
        bool done;
        test_alloc_fail_at(n++);
        done = loads_pruned();
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        CHECK_EQ_INT(done, !tripped);
        CHECK_EQ_INT(test_alloc_live_bytes(), 0);
    } while (tripped);
    CHECK(n > 8);
}

TEST_MAIN(
    TEST_ENTRY(without_a_block_three_turns_are_their_six_messages),
    TEST_ENTRY(of_the_loop_itself_all_three_sections_are_loaded),
    TEST_ENTRY(turns_that_came_after_a_block_was_made_are_loaded_behind_it),
    TEST_ENTRY(of_an_earlier_loop_only_what_is_compacted_is_loaded),
    TEST_ENTRY(an_earlier_loop_whose_block_has_nothing_compacted_loads_nothing),
    TEST_ENTRY(earlier_loops_beyond_the_scope_are_skipped),
    TEST_ENTRY(with_a_budget_of_80_tokens_the_newest_earlier_loop_is_in_and_the_older_out),
    TEST_ENTRY(sections_that_overlap_load_no_turn_twice),
    TEST_ENTRY(ranges_past_the_end_are_empty_and_messages_without_an_id_are_turns_of_their_own),
    TEST_ENTRY(only_the_way_to_a_loop_is_loaded),
    TEST_ENTRY(of_a_group_the_selected_loop_is_gone_on_from),
    TEST_ENTRY(a_loop_that_is_not_there_and_a_session_without_messages),
    TEST_ENTRY(messages_that_were_pruned_are_not_loaded_and_a_memo_is_in_their_place),
    TEST_ENTRY(a_timestamp_takes_one_message_of_the_loop_or_an_earlier_one_and_no_user_s),
    TEST_ENTRY(a_group_of_which_a_prune_names_one_message_goes_as_a_whole),
    TEST_ENTRY(in_a_thread_a_prune_is_a_rewrite_of_its_own),
    TEST_ENTRY(blocks_show_nothing_that_was_pruned),
    TEST_ENTRY(what_a_run_pruned_stays_away_when_its_session_is_saved_and_loaded),
    TEST_ENTRY(of_20_turns_with_2_first_and_5_recent_2_to_14_are_compacted),
    TEST_ENTRY(ten_turns_have_nothing_compacted_and_the_recent_begin_behind_the_first),
    TEST_ENTRY(earlier_loops_in_scope_are_compacted_whole_and_keep_the_block_they_have),
    TEST_ENTRY(long_results_of_recent_turns_are_cut_and_those_of_first_ones_are_not),
    TEST_ENTRY(no_section_parts_a_call_from_its_result),
    TEST_ENTRY(blocks_that_were_made_are_written_and_read_back),
    TEST_ENTRY(a_session_is_compacted_by_a_strategy_of_the_host_s),
    TEST_ENTRY(an_agent_goes_on_with_a_session_of_the_original_and_its_blocks),
    TEST_ENTRY(an_agent_that_goes_on_with_a_session_counts_its_runs_on),
    TEST_ENTRY(an_agent_that_goes_on_with_a_session_gives_no_loop_id_of_it_again),
    TEST_ENTRY(a_list_in_place_of_a_history_has_no_loop_id_that_is_given_again),
    TEST_ENTRY(a_run_over_a_thread_is_not_its_own_parent),
    TEST_ENTRY(a_loop_that_no_message_names_is_a_run_of_the_thread),
    TEST_ENTRY(in_a_thread_the_originals_stand_behind_the_blocks_and_come_back),
    TEST_ENTRY(in_a_thread_earlier_loops_are_what_is_compacted_and_those_beyond_the_scope_nothing),
    TEST_ENTRY(in_a_thread_only_results_that_were_cut_are_replaced),
    TEST_ENTRY(in_a_thread_a_block_that_parts_a_call_from_its_result_replaces_everything),
    TEST_ENTRY(a_block_without_messages_of_its_loop_is_all_there_is),
    TEST_ENTRY(what_the_original_keeps_with_a_message_survives_a_thread_and_its_file),
    TEST_ENTRY(messages_without_content_and_extensions_of_the_original_are_gone_on_with),
    TEST_ENTRY(a_message_that_is_unfit_for_a_thread_is_named),
    TEST_ENTRY(blocks_survive_every_failed_allocation),
    TEST_ENTRY(prunes_of_a_session_survive_every_failed_allocation))
