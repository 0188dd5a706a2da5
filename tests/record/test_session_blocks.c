/* test_session_blocks.c - a thread's compactions as blocks of the session that it is seen as, and of recorded ones. */
#include "blocks_support.h"
#include "log_support.h"
#include "recorder_support.h"
#include "support/recorded.h"
#include "support/rig.h"
#include "agent/agent_history.h"

static run_log l;

static phi_session *session_of_log(void) {
    phi_allocator allocator = test_allocator();
    phi_session *s = NULL;
    CHECK_EQ_INT(phi_session_of_thread(runs_thread(&l), &allocator, &s), PHI_OK);
    return s;
}

/* All loops, whatever the scope. */
static const char *context(const phi_session *s) {
    static char out[16 * 1024];
    phi_compaction_config config;
    memset(&config, 0, sizeof config);
    config.scope_runs = UINT32_MAX;
    (void)snprintf(out, sizeof out, "%s", context_of(s, "", PHI_SESSION_ROOTS_GO_ON, &config));
    return out;
}

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

static phi_compaction_config first_and_recent(uint32_t first, uint32_t recent) {
    phi_compaction_config config;
    memset(&config, 0, sizeof config);
    config.keep_first_turns = first;
    config.keep_recent_turns = recent;
    return config;
}

TEST(a_compaction_of_20_turns_is_a_block_of_0_to_1_and_2_to_14_and_15_to_19) {
    phi_compaction_config config = first_and_recent(2, 5);
    const phi_compaction_block *b;
    phi_session *s;
    runs_open(&l);
    runs_run(&l, 20);
    CHECK(runs_compact(&l, &config, "op"));
    s = session_of_log();
    b = s->loops[0]->block;
    REQUIRE(b != NULL);
    check_range(&b->keep_first, 0, 1);
    check_range(&b->keep_compacted, 2, 14);
    check_range(&b->keep_recent, 15, 19);
    CHECK_EQ_INT(b->keep_compacted.message_count, 1);
    CHECK_EQ_INT(b->keep_recent.message_count, 10);
    CHECK_EQ_INT(s->loops[0]->message_count, 40);
    CHECK_EQ_STR(context(s), shown());
    phi_session_free(s);
    runs_close(&l);
}

TEST(turns_after_a_compaction_are_recent_ones) {
    phi_compaction_config config = first_and_recent(1, 1);
    phi_session *s;
    runs_open(&l);
    runs_begin(&l);
    runs_text(&l, PHI_ROLE_USER, 0, "q0");
    runs_text(&l, PHI_ROLE_ASSISTANT, 0, "a0");
    runs_text(&l, PHI_ROLE_USER, 1, "a rather long question, one that is worth to be summed up");
    runs_call(&l, 1, "a result that is not, and that is rather long, too, so that it is one");
    runs_text(&l, PHI_ROLE_ASSISTANT, 2, "a2");
    CHECK(runs_compact(&l, &config, "op"));
    runs_text(&l, PHI_ROLE_ASSISTANT, 3, "a3"); /* the run goes on */
    s = session_of_log();
    REQUIRE(s->loops[0]->block != NULL);
    check_range(&s->loops[0]->block->keep_first, 0, 0);
    check_range(&s->loops[0]->block->keep_compacted, 1, 1);
    check_range(&s->loops[0]->block->keep_recent, 2, 3);
    CHECK_EQ_INT(s->loops[0]->status, PHI_LOOP_RUNNING);
    CHECK_EQ_STR(context(s), shown());
    phi_session_free(s);
    runs_close(&l);
}

TEST(earlier_runs_hold_all_that_is_shown_of_them_in_one_section) {
    phi_compaction_config config = first_and_recent(1, 1);
    phi_session *s;
    size_t i;
    runs_open(&l);
    runs_run(&l, 6);
    CHECK(runs_compact(&l, &config, "op1"));
    runs_run(&l, 1); /* the run before is an earlier one now, and still shown in three parts */
    s = session_of_log();
    REQUIRE(s->loops[0]->block != NULL);
    CHECK(s->loops[1]->block == NULL);
    CHECK(!s->loops[0]->block->keep_first.present && !s->loops[0]->block->keep_recent.present);
    check_range(&s->loops[0]->block->keep_compacted, 0, 5);
    CHECK_EQ_INT(s->loops[0]->block->keep_compacted.message_count, 5);
    CHECK_EQ_STR(context(s), shown());
    phi_session_free(s);
    runs_run(&l, 6);
    CHECK(runs_compact(&l, &config, "op2"));
    s = session_of_log();
    for (i = 0; i < 3; i++) REQUIRE(s->loops[i]->block != NULL); /* also of the short one */
    CHECK_EQ_INT(s->loops[0]->block->keep_compacted.message_count, 1);
    CHECK_EQ_INT(s->loops[1]->block->keep_compacted.message_count, 2);
    check_range(&s->loops[2]->block->keep_first, 0, 0);
    check_range(&s->loops[2]->block->keep_compacted, 1, 4);
    check_range(&s->loops[2]->block->keep_recent, 5, 5);
    CHECK_EQ_STR(context(s), shown());
    phi_session_free(s);
    runs_close(&l);
}

TEST(a_run_beyond_the_scope_has_a_block_that_loads_nothing) {
    phi_compaction_config config = first_and_recent(1, 1);
    phi_session *s;
    config.scope_runs = 1;
    runs_open(&l);
    runs_run(&l, 6);
    runs_run(&l, 6);
    runs_run(&l, 6);
    CHECK(runs_compact(&l, &config, "op"));
    s = session_of_log();
    REQUIRE(s->loops[0]->block != NULL);
    check_range(&s->loops[0]->block->keep_compacted, 0, 5);
    CHECK_EQ_INT(s->loops[0]->block->keep_compacted.message_count, 0);
    CHECK_EQ_STR(context(s), shown());
    phi_session_free(s);
    runs_close(&l);
}

TEST(results_that_were_cut_are_recent_and_nothing_is_compacted) {
    phi_compaction_config config = first_and_recent(1, 5);
    phi_session *s;
    config.tool_output_max_lines = 2;
    runs_open(&l);
    runs_begin(&l);
    runs_text(&l, PHI_ROLE_USER, 0, "q");
    runs_call(&l, 1, "1\n2\n3 is a line of some length, and so it is worth it\n4\n5\n6\n7\n8\n9");
    runs_text(&l, PHI_ROLE_ASSISTANT, 2, "a");
    CHECK(runs_compact(&l, &config, "op"));
    s = session_of_log();
    REQUIRE(s->loops[0]->block != NULL);
    check_range(&s->loops[0]->block->keep_first, 0, 0);
    CHECK(!s->loops[0]->block->keep_compacted.present);
    check_range(&s->loops[0]->block->keep_recent, 1, 2);
    CHECK_EQ_STR(context(s), "q call 1\n\n[... 7 lines truncated ...]\n\n9 a");
    phi_session_free(s);
    runs_close(&l);
}

static void rewrite(phi_rewrite_reason reason, const char *revoke, uint64_t from, uint64_t to) {
    phi_rewrite r;
    phi_span span;
    memset(&r, 0, sizeof r);
    memset(&span, 0, sizeof span);
    span.from = from;
    span.to = to;
    r.reason = reason;
    r.revoke = revoke;
    r.spans = revoke == NULL ? &span : NULL;
    r.span_count = revoke == NULL ? 1 : 0;
    CHECK_EQ_INT(phi_thread_rewrite(runs_thread(&l), &r, NULL, NULL, 0), PHI_OK);
}

TEST(what_was_undone_or_is_no_compaction_leaves_no_block) {
    phi_compaction_config config = first_and_recent(1, 1);
    phi_session *s;
    runs_open(&l);
    runs_run(&l, 6);
    rewrite(PHI_REWRITE_PRUNE, NULL, 3, 4);
    s = session_of_log();
    CHECK(s->loops[0]->block == NULL);
    phi_session_free(s);
    CHECK(runs_compact(&l, &config, "op"));
    s = session_of_log();
    REQUIRE(s->loops[0]->block != NULL);
    CHECK_EQ_STR(context(s), shown());
    phi_session_free(s);
    rewrite(PHI_REWRITE_COMPACTION, "op", 0, 0);
    s = session_of_log();
    CHECK(s->loops[0]->block == NULL);
    phi_session_free(s);
    runs_close(&l);
}

TEST(only_what_the_active_lane_shows_is_in_blocks) {
    phi_compaction_config config = first_and_recent(1, 1);
    phi_session *s;
    runs_open(&l);
    runs_run(&l, 6);
    CHECK_EQ_INT(phi_thread_fork_lane(runs_thread(&l), "other", NULL, UINT64_MAX), PHI_OK);
    CHECK_EQ_INT(phi_thread_switch(runs_thread(&l), "other"), PHI_OK);
    CHECK(runs_compact(&l, &config, "op"));
    s = session_of_log();
    REQUIRE(s->loops[0]->block != NULL);
    CHECK_EQ_STR(context(s), shown());
    phi_session_free(s);
    CHECK_EQ_INT(phi_thread_switch(runs_thread(&l), "default"), PHI_OK);
    s = session_of_log();
    CHECK(s->loops[0]->block == NULL);
    CHECK_EQ_STR(context(s), shown());
    phi_session_free(s);
    CHECK(runs_compact(&l, &config, "op2")); /* after the fork: the other lane does not see it */
    CHECK_EQ_INT(phi_thread_switch(runs_thread(&l), "other"), PHI_OK);
    rewrite(PHI_REWRITE_COMPACTION, "op", 0, 0);
    s = session_of_log();
    CHECK(s->loops[0]->block == NULL);
    phi_session_free(s);
    runs_close(&l);
}

TEST(one_summary_of_several_runs_is_of_the_last_of_them) {
    phi_content c;
    phi_message m;
    phi_rewrite r;
    phi_span span;
    phi_session *s;
    runs_open(&l);
    runs_run(&l, 2);
    runs_run(&l, 2);
    runs_run(&l, 1);
    memset(&c, 0, sizeof c);
    memset(&m, 0, sizeof m);
    memset(&r, 0, sizeof r);
    memset(&span, 0, sizeof span);
    c.kind = PHI_CONTENT_TEXT;
    c.text = phi_str_of("both");
    m.role = PHI_ROLE_USER;
    m.content = &c;
    m.content_count = 1;
    span.to = 11; /* to the end of the second */
    span.messages = &m;
    span.message_count = 1;
    span.summary = true;
    r.reason = PHI_REWRITE_COMPACTION;
    r.spans = &span;
    r.span_count = 1;
    CHECK_EQ_INT(phi_thread_rewrite(runs_thread(&l), &r, NULL, NULL, 0), PHI_OK);
    s = session_of_log();
    REQUIRE(s->loops[0]->block != NULL && s->loops[1]->block != NULL);
    CHECK_EQ_INT(s->loops[0]->block->keep_compacted.message_count, 0);
    CHECK_EQ_INT(s->loops[1]->block->keep_compacted.message_count, 1);
    CHECK(s->loops[2]->block == NULL);
    CHECK_EQ_STR(context(s), "both 3.q0 3.a0");
    phi_session_free(s);
    runs_close(&l);
}

/* ---- living agents ---- */

static void record(void *user_data, const phi_event *event) {
    (void)user_data;
    CHECK_EQ_INT(phi_recorder_add(rec, event), PHI_OK);
}

static void same_section(const phi_block_section *a, const phi_block_section *b) {
    CHECK_EQ_INT(a->present, b->present);
    CHECK_EQ_INT(a->from, b->from);
    CHECK_EQ_INT(a->to, b->to);
    CHECK_EQ_INT(a->message_count, b->message_count);
}

TEST(a_recorded_session_takes_its_blocks_from_the_agent_s_thread) {
    phi_allocator allocator = test_allocator();
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    phi_session *mine, *logged = NULL;
    char before[4096];
    size_t i;
    desc.ids.session_id = "s";
    desc.ids.config_id = "c";
    desc.compaction.keep_recent_turns = 1;
    desc.compaction.keep_no_first = true;
    agent = rig_agent(r, &desc);
    rec_begin(NULL);
    rig_watch(r, record, NULL);
    for (i = 0; i < 3; i++) {
        rig_says(r, "An answer that is long enough to be worth a line of its own, and then some "
                    "words more, so many that a line of it is shorter than it is: therefore on "
                    "and on it goes, beyond two hundred bytes, which is what a line may hold of a "
                    "text, and the summary has the frame of a message as well.");
        CHECK_EQ_INT(phi_prompt(agent, "What is it?"), PHI_OK);
        CHECK_EQ_INT(rig_run(r, 200), 0);
    }
    CHECK_EQ_INT(phi_compact(agent), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 200), 0);
    (void)phi_recorder_flush(rec, PHI_FLUSH_ALL);
    mine = phi_recorder_drain(rec);
    REQUIRE(mine != NULL);
    for (i = 0; i < mine->loop_count; i++) CHECK(mine->loops[i]->block == NULL);
    CHECK_EQ_INT(compact_from(mine, phi_agent_thread(agent)), PHI_OK);
    REQUIRE(phi_session_of_thread(phi_agent_thread(agent), &allocator, &logged) == PHI_OK);
    REQUIRE(mine->loop_count == 4 && logged->loop_count == 4);
    CHECK(mine->loops[0]->block != NULL && mine->loops[1]->block != NULL);
    CHECK(mine->loops[3]->block == NULL); /* of the compaction itself */
    CHECK_EQ_INT(mine->loops[3]->continuation, PHI_CONTINUATION_COMPACTION);
    for (i = 0; i < 4; i++) {
        const phi_compaction_block *a = mine->loops[i]->block, *b = logged->loops[i]->block;
        CHECK_EQ_INT(a == NULL, b == NULL);
        if (a == NULL || b == NULL) continue;
        same_section(&a->keep_first, &b->keep_first);
        same_section(&a->keep_compacted, &b->keep_compacted);
        same_section(&a->keep_recent, &b->keep_recent);
    }
    (void)snprintf(before, sizeof before, "%s", context(mine));
    CHECK_EQ_STR(context(logged), before);
    CHECK(strncmp(before, "[User] What is it?\n[Summary] An answer", 38) == 0);
    phi_session_free(logged);
    phi_session_free(mine);
    rec_end();
    rig_free(r);
}

/* ---- no memory ---- */

TEST(blocks_out_of_a_log_survive_every_failed_allocation) {
    phi_compaction_config config = first_and_recent(1, 1);
    phi_allocator allocator = test_allocator();
    phi_session *s = NULL;
    int n = 0;
    bool tripped;
    size_t before;
    runs_open(&l);
    runs_run(&l, 6);
    CHECK_EQ_INT(phi_thread_fork_lane(runs_thread(&l), "other", NULL, UINT64_MAX), PHI_OK);
    CHECK_EQ_INT(phi_thread_switch(runs_thread(&l), "other"), PHI_OK);
    runs_run(&l, 6);
    CHECK(runs_compact(&l, &config, "op"));
    before = test_alloc_live_bytes();
    do {
        phi_status status;
        test_alloc_fail_at(n++);
        status = phi_session_of_thread(runs_thread(&l), &allocator, &s);
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        CHECK_EQ_INT(status, tripped ? PHI_NO_MEMORY : PHI_OK);
        CHECK(tripped || (s->loops[0]->block != NULL && s->loops[1]->block != NULL));
        phi_session_free(s);
        s = NULL;
        CHECK_EQ_INT(test_alloc_live_bytes(), before);
    } while (tripped);
    CHECK(n > 5);
    runs_close(&l);
}

TEST_MAIN(TEST_ENTRY(a_compaction_of_20_turns_is_a_block_of_0_to_1_and_2_to_14_and_15_to_19),
          TEST_ENTRY(turns_after_a_compaction_are_recent_ones),
          TEST_ENTRY(earlier_runs_hold_all_that_is_shown_of_them_in_one_section),
          TEST_ENTRY(a_run_beyond_the_scope_has_a_block_that_loads_nothing),
          TEST_ENTRY(results_that_were_cut_are_recent_and_nothing_is_compacted),
          TEST_ENTRY(what_was_undone_or_is_no_compaction_leaves_no_block),
          TEST_ENTRY(only_what_the_active_lane_shows_is_in_blocks),
          TEST_ENTRY(one_summary_of_several_runs_is_of_the_last_of_them),
          TEST_ENTRY(a_recorded_session_takes_its_blocks_from_the_agent_s_thread),
          TEST_ENTRY(blocks_out_of_a_log_survive_every_failed_allocation))
