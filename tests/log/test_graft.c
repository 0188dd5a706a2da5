/* test_graft.c - runs copied out of another agent's log onto a lane that is not the active one. */
#include "log/thread_in.h"

#include "agent/one_shot_run.h"
#include "agent/snapshot.h"
#include "loop/inner_in.h"
#include "record/session.h"
#include "support/heard.h"
#include "support/store_mem.h"
#include "support/recorded.h"
#include "support/thread_text.h"
#include "agent/agent_history.h"
#include "agent/agent_info.h"

typedef struct stage {
    rig *r;
    phi_agent main, side;
    phi_tool tools[2];
    phi_memory memory;
    phi_arena arena;
    char side_loop[160];
} stage;

/* Two agents; the main one has had one exchange, and `side` a run with a tool call. */
static void begin(stage *s, const phi_store *store) {
    phi_agent_desc desc = rig_desc();
    memset(s, 0, sizeof *s);
    s->r = rig_new();
    s->tools[0] = rig_echo();
    s->tools[1] = rig_wait(s->r);
    desc.tools = s->tools;
    desc.tool_count = 2;
    desc.ids.session_id = "branch";
    s->side = rig_agent(s->r, &desc);
    desc.ids.session_id = "trunk";
    desc.store = store;
    desc.thread_id = store != NULL ? "trunk" : NULL;
    s->main = rig_agent(s->r, &desc);
    phi_memory_init(&s->memory, NULL, 0);
    phi_arena_init(&s->arena, &s->memory, 0);
    rig_says(s->r, "First.");
    CHECK_EQ_INT(phi_prompt(s->main, "One"), PHI_OK);
    CHECK_EQ_INT(rig_run(s->r, 50), 0);
    rig_call(s->r, "c1", "echo", "{\"a\":1}");
    rig_says(s->r, "Side answer.");
    CHECK_EQ_INT(phi_prompt(s->side, "Side question"), PHI_OK);
    CHECK_EQ_INT(rig_run(s->r, 50), 0);
    heard_copy(s->side_loop, sizeof s->side_loop, phi_agent_get_info(s->side).loop_id);
}

static void end(stage *s) {
    phi_arena_free(&s->arena);
    rig_free(s->r);
}

static phi_status graft(stage *s, const char *name, uint64_t fork_seq) {
    phi_thread *thread = phi__find_agent(s->main)->thread;
    uint32_t lane = 0;
    phi_status status = phi__graft_lane(thread, phi_str_of(name), fork_seq, &lane);
    return status == PHI_OK
               ? phi__graft_run(thread, lane, phi_agent_thread(s->side), phi_str_of(s->side_loop))
               : status;
}

/* The texts of a lane's view, "role:text|..." */
static const char *view_of(stage *s, const phi_thread *thread, const char *lane) {
    static char out[600];
    const phi_view_item *items = NULL;
    size_t count = 0, i, at = 0;
    out[0] = '\0';
    CHECK_EQ_INT(phi_thread_view(thread, lane, UINT64_MAX, &s->arena, &items, &count), PHI_OK);
    for (i = 0; i < count; i++) {
        const phi_message *m = items[i].message;
        phi_str text = m->content_count > 0 ? m->content[0].text : phi__str("", 0);
        CHECK_EQ_INT((int)(items[i].flags & PHI_ENTRY_GRAFTED), 0);
        at += (size_t)snprintf(out + at, sizeof out - at, "%s%c:%.*s", i > 0 ? "|" : "",
                               "uatx"[(int)m->role - 1 > 3 ? 3 : (int)m->role - 1], (int)text.len,
                               text.len > 0 ? text.at : "");
    }
    return out;
}

static const char *const scratch_view = "u:Side question|a:|t:{\"a\":1}|a:Side answer.";

TEST(a_run_is_copied_onto_an_empty_lane) {
    stage s;
    phi_usage before, usage;
    phi_entry e;
    uint64_t seq, grafted = 0;
    begin(&s, NULL);
    before = phi_thread_get_info(phi_agent_thread(s.main)).usage;
    CHECK_EQ_INT(graft(&s, "~plan/1", UINT64_MAX), PHI_OK);
    CHECK_STR(phi_thread_get_info(phi_agent_thread(s.main)).lane, PHI_LANE_DEFAULT);
    CHECK_EQ_STR(view_of(&s, phi_agent_thread(s.main), NULL), "u:One|a:First.");
    CHECK_EQ_STR(view_of(&s, phi_agent_thread(s.main), "~plan/1"), scratch_view);
    usage = phi_thread_get_info(phi_agent_thread(s.main)).usage;
    CHECK_EQ_INT(usage.output - before.output,
                 phi_thread_get_info(phi_agent_thread(s.side)).usage.output);
    for (seq = 0; phi_thread_entry(phi_agent_thread(s.main), seq, &e) == PHI_OK; seq++)
        grafted += (e.flags & PHI_ENTRY_GRAFTED) != 0;
    CHECK_EQ_INT(grafted, 10); /* loop, 2 turns, 4 messages */
    /* it needs nothing of the other log */
    phi_agent_free(s.side);
    CHECK_EQ_STR(view_of(&s, phi_agent_thread(s.main), "~plan/1"), scratch_view);
    end(&s);
}

TEST(a_lane_that_forks_has_the_view_before_the_copy) {
    stage s;
    begin(&s, NULL);
    CHECK_EQ_INT(graft(&s, "b", phi_thread_count(phi_agent_thread(s.main)) - 1), PHI_OK);
    CHECK_EQ_STR(view_of(&s, phi_agent_thread(s.main), "b"),
                 "u:One|a:First.|u:Side question|a:|t:{\"a\":1}|a:Side answer.");
    CHECK_EQ_INT(phi_thread_switch(phi_agent_thread(s.main), "b"), PHI_OK);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(s.main)), 6);
    CHECK_EQ_INT(graft(&s, "b", 0), PHI_MISUSE); /* it is the active one */
    rig_says(s.r, "Second.");
    CHECK_EQ_INT(phi_prompt(s.main, "Two"), PHI_OK);
    CHECK_EQ_INT(rig_run(s.r, 50), 0);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(s.main)), 8);
    CHECK_EQ_STR(view_of(&s, phi_agent_thread(s.main), PHI_LANE_DEFAULT), "u:One|a:First.");
    end(&s);
}

TEST(what_is_not_there_is_not_copied) {
    stage s;
    begin(&s, NULL);
    (void)snprintf(s.side_loop, sizeof s.side_loop, "no-such-run");
    CHECK_EQ_INT(graft(&s, "x", UINT64_MAX), PHI_NOT_FOUND);
    end(&s);
}

/* The session model has both runs whole, though one stands in the midst of a turn of the other. */
static void session_holds_both(stage *s) {
    phi_session *session = NULL;
    const phi_loop_record *side, *last;
    phi_allocator allocator = test_allocator();
    CHECK_EQ_INT(phi_session_of_thread(phi_agent_thread(s->main), &allocator, &session), PHI_OK);
    if (session == NULL) return;
    CHECK_EQ_INT(session->loop_count, 3);
    side = session_loop(session, phi_str_of(s->side_loop));
    last = session_loop(session, phi_agent_get_info(s->main).loop_id);
    CHECK(side != NULL && side->turn_count == 2 && side->turns[0].result_count == 1);
    if (CHECK(last != NULL && last->turn_count == 2)) {
        CHECK_EQ_INT(last->turns[0].input_count, 1);
        CHECK_EQ_INT(last->turns[0].result_count, 1);
    }
    phi_session_free(session);
}

TEST(a_copy_made_during_a_run_leaves_the_run_alone_and_is_part_of_its_usage) {
    stage s;
    phi_usage sum;
    heard h;
    begin(&s, NULL);
    heard_begin(&h, s.r);
    rig_call(s.r, "w1", "wait", "{}");
    rig_says(s.r, "Second.");
    CHECK_EQ_INT(phi_prompt(s.main, "Two"), PHI_OK);
    CHECK_EQ_INT(rig_run(s.r, 20), 1);
    sum = phi_thread_get_info(phi_agent_thread(s.main)).usage;
    CHECK_EQ_INT(graft(&s, "~s", UINT64_MAX), PHI_OK);
    CHECK_EQ_INT(phi_thread_get_info(phi_agent_thread(s.main)).usage.output - sum.output,
                 phi_thread_get_info(phi_agent_thread(s.side)).usage.output);
    rig_finish(s.r, 0, "waited");
    CHECK_EQ_INT(rig_run(s.r, 50), 0);
    CHECK_EQ_INT(h.status, PHI_OK);
    CHECK_EQ_INT(h.message_count, 4);
    CHECK_EQ_STR(view_of(&s, phi_agent_thread(s.main), NULL),
                 "u:One|a:First.|u:Two|a:|t:waited|a:Second.");
    session_holds_both(&s);
    /* the run's own usage is the whole: nothing is counted twice */
    CHECK_EQ_INT(phi_thread_get_info(phi_agent_thread(s.main)).usage.output,
                 3 * h.usage.output / 2);
    end(&s);
}

/* ---- kept, and read again ---- */

TEST(a_text_with_grafted_runs_is_read_again) {
    stage s;
    phi_thread *again;
    phi_str text, second;
    char words[200] = "";
    begin(&s, NULL);
    CHECK_EQ_INT(graft(&s, "~plan", UINT64_MAX), PHI_OK);
    CHECK_EQ_INT(graft(&s, "b", 3), PHI_OK);
    CHECK_EQ_INT(graft(&s, "~plan", 0), PHI_OK);
    CHECK_EQ_INT(phi_thread_switch(phi_agent_thread(s.main), "b"), PHI_OK);
    CHECK_EQ_INT(phi_thread_to_json(phi_agent_thread(s.main), &s.arena, &text), PHI_OK);
    again = phi_thread_new(rig_runtime(s.r), 0);
    CHECK_EQ_INT(thread_from_json(again, text, words, sizeof words), PHI_OK);
    CHECK_EQ_STR(words, "");
    CHECK_EQ_INT(phi_thread_to_json(again, &s.arena, &second), PHI_OK);
    CHECK(phi_str_equal(text, second));
    CHECK_EQ_STR(view_of(&s, again, PHI_LANE_DEFAULT), "u:One|a:First.");
    CHECK_EQ_STR(view_of(&s, again, NULL),
                 "u:One|a:First.|u:Side question|a:|t:{\"a\":1}|a:Side answer.");
    CHECK_EQ_INT(strlen(view_of(&s, again, "~plan")), 2 * strlen(scratch_view) + 1);
    CHECK_EQ_INT(phi_thread_get_info(again).usage.output,
                 phi_thread_get_info(phi_agent_thread(s.main)).usage.output);
    phi_thread_free(again);
    end(&s);
}

TEST(grafted_entries_leave_memory_and_come_back_from_the_store) {
    store_mem *store = store_mem_new();
    stage s;
    size_t i;
    begin(&s, store_mem_store(store));
    CHECK_EQ_INT(graft(&s, "~plan", UINT64_MAX), PHI_OK);
    for (i = 0; i < 12; i++) {
        rig_says(s.r, "An answer that is long enough to fill a segment before the test is over.");
        CHECK_EQ_INT(phi_prompt(s.main, "Again, please, and at some length"), PHI_OK);
        CHECK_EQ_INT(rig_run(s.r, 50), 0);
    }
    CHECK_EQ_STR(view_of(&s, phi_agent_thread(s.main), "~plan"), scratch_view);
    CHECK_EQ_INT(phi_thread_switch(phi_agent_thread(s.main), "~plan"), PHI_OK);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(s.main)), 4);
    rig_says(s.r, "Done.");
    CHECK_EQ_INT(phi_prompt(s.main, "Go on"), PHI_OK);
    CHECK_EQ_INT(rig_run(s.r, 50), 0);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(s.main)), 6);
    end(&s);
    store_mem_free(store);
}

TEST(without_memory_nothing_is_copied) {
    int n = 0;
    bool tripped = true;
    while (tripped && n < 200) {
        stage s;
        phi_status status;
        uint64_t count;
        size_t lanes;
        begin(&s, NULL);
        CHECK_EQ_INT(graft(&s, "~a", UINT64_MAX), PHI_OK);
        count = phi_thread_count(phi_agent_thread(s.main));
        lanes = phi_thread_get_info(phi_agent_thread(s.main)).lane_count;
        test_alloc_fail_at(n++);
        status = graft(&s, "~b", UINT64_MAX);
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        CHECK_EQ_INT(status, tripped ? PHI_NO_MEMORY : PHI_OK);
        if (tripped) { /* the lane may have begun */
            CHECK(phi_thread_count(phi_agent_thread(s.main)) - count ==
                  phi_thread_get_info(phi_agent_thread(s.main)).lane_count - lanes);
            CHECK_EQ_INT(graft(&s, "~b", UINT64_MAX), PHI_OK);
        }
        CHECK_EQ_STR(view_of(&s, phi_agent_thread(s.main), "~b"), scratch_view);
        end(&s);
    }
    CHECK(n > 2 && n < 200); /* two with pointers of 32 bits */
}

TEST_MAIN(TEST_ENTRY(a_run_is_copied_onto_an_empty_lane),
          TEST_ENTRY(a_lane_that_forks_has_the_view_before_the_copy),
          TEST_ENTRY(what_is_not_there_is_not_copied),
          TEST_ENTRY(a_copy_made_during_a_run_leaves_the_run_alone_and_is_part_of_its_usage),
          TEST_ENTRY(a_text_with_grafted_runs_is_read_again),
          TEST_ENTRY(grafted_entries_leave_memory_and_come_back_from_the_store),
          TEST_ENTRY(without_memory_nothing_is_copied))
