/* test_deferred.c - a rewrite that waits for the end of a run: looked at, withdrawn, and kept in a store. */
#include "support/figures.h"
#include "agent/snapshot.h"
#include "support/rig.h"
#include "support/store_mem.h"
#include "persist/introspect.h"
#include "agent/agent_history.h"
#include "agent/agent_info.h"

static store_mem *store;

/* The events of rewrites, as "id status words" lines. */
static char heard[600];

static void hear(void *user_data, const phi_event *e) {
    size_t n = strlen(heard);
    (void)user_data;
    if (e->kind != PHI_EV_REWRITE) return;
    (void)snprintf(heard + n, sizeof heard - n, "%.*s %s %.*s\n", (int)e->text.len, e->text.at,
                   phi_status_text(e->status), (int)e->source.len, e->source.at);
}

/* An agent, in the store where there is one, in its second run; its log begins with LOOP_START, user 1, TURN_START, the
   answer. */
static phi_agent begin(rig **r) {
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    heard[0] = '\0';
    *r = rig_new();
    rig_watch(*r, hear, NULL);
    if (store != NULL) desc.store = store_mem_store(store);
    if (store != NULL) desc.thread_id = "t";
    agent = rig_agent(*r, &desc);
    if (phi_thread_message_count(phi_agent_thread(agent)) > 0) return agent;
    rig_says(*r, "one");
    CHECK_EQ_INT(phi_prompt(agent, "first"), PHI_OK);
    CHECK_EQ_INT(rig_run(*r, 20), 0);
    CHECK_EQ_INT(phi_prompt(agent, "second"), PHI_OK);
    return agent;
}

/* Takes out the first answer. */
static phi_status defer(phi_agent agent, const char *op_id) {
    static phi_span span;
    phi_rewrite r = PHI_ZERO;
    span.from = span.to = 3;
    r.op_id = op_id;
    r.spans = &span;
    r.span_count = 1;
    r.meta = "{\"why\":\"to make room\"}";
    return phi_agent_rewrite(agent, &r);
}

static size_t shown(phi_agent agent) {
    phi_lane_figures f = PHI_ZERO;
    CHECK_EQ_INT(lane_figures(phi_agent_thread(agent), NULL, UINT64_MAX, &f), PHI_OK);
    return f.messages;
}

TEST(a_deferred_rewrite_can_be_looked_at) {
    rig *r;
    phi_agent agent;
    store = NULL;
    agent = begin(&r);
    CHECK_STR(phi_agent_get_info(agent).deferred_op_id, "");
    CHECK_EQ_INT(defer(agent, "x"), PHI_OK);
    CHECK_STR(phi_agent_get_info(agent).deferred_op_id, "x");
    rig_says(r, "two");
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_STR(phi_agent_get_info(agent).deferred_op_id, "");
    phi_agent_free(agent);
    CHECK_STR(phi_agent_get_info(agent).deferred_op_id, "");
    rig_free(r);
}

TEST(a_deferred_rewrite_can_be_withdrawn) {
    rig *r;
    phi_agent agent, none = PHI_ZERO;
    store = NULL;
    agent = begin(&r);
    CHECK_EQ_INT(phi_agent_rewrite(agent, NULL), PHI_NOT_FOUND);
    CHECK_EQ_INT(defer(agent, "x"), PHI_OK);
    CHECK_STR(phi_agent_get_info(agent).deferred_op_id, "x");
    CHECK_EQ_INT(phi_agent_rewrite(agent, NULL), PHI_OK);
    CHECK_STR(phi_agent_get_info(agent).deferred_op_id, "");
    CHECK_EQ_INT(defer(agent, NULL), PHI_OK);
    CHECK_EQ_INT(phi_agent_rewrite(agent, NULL), PHI_OK);
    CHECK_EQ_INT(phi_agent_rewrite(none, NULL), PHI_BAD_ARG);
    rig_says(r, "two");
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_STR(heard, "x cancelled it was withdrawn\nop-9 cancelled it was withdrawn\n");
    CHECK_EQ_INT(shown(agent), 4);
    rig_free(r);
}

/* The process ends in mid-run; another opens the thread. */
static void another_process(rig **r, phi_agent *agent) {
    for (; rig_step(*r) > 0 &&
           store_mem_count(store, "t") < phi_thread_count(phi_agent_thread(*agent));)
        continue;
    rig_free(*r);
    *agent = begin(r);
    (void)rig_step(*r);
}

TEST(a_deferred_rewrite_survives_in_a_store_and_is_done_when_the_thread_is_opened) {
    static const char *const ids[] = {"x", NULL};
    int i;
    for (i = 0; i < 2; i++) {
        rig *r;
        phi_agent agent;
        store = store_mem_new();
        agent = begin(&r);
        rig_hangs(r, "");
        CHECK_EQ_INT(defer(agent, ids[i]), PHI_OK);
        another_process(&r, &agent);
        CHECK_EQ_STR(heard, i == 0 ? "x ok \n" : "op-7 ok \n");
        CHECK_EQ_INT(shown(agent), 2); /* first, second */
        another_process(&r, &agent);
        CHECK_EQ_STR(heard, ""); /* once */
        CHECK_EQ_INT(shown(agent), 2);
        rig_free(r);
        store_mem_free(store);
    }
}

TEST(what_was_withdrawn_or_replaced_does_not_come_back) {
    rig *r;
    phi_agent agent;
    store = store_mem_new();
    agent = begin(&r);
    rig_hangs(r, "");
    CHECK_EQ_INT(defer(agent, "x"), PHI_OK);
    CHECK_EQ_INT(defer(agent, "y"), PHI_OK);
    CHECK_EQ_INT(phi_agent_rewrite(agent, NULL), PHI_OK);
    another_process(&r, &agent);
    CHECK_EQ_STR(heard, "");
    CHECK_EQ_INT(shown(agent), 3);
    rig_free(r);
    store_mem_free(store);
}

TEST(what_was_done_or_refused_is_not_done_again) {
    int i;
    for (i = 0; i < 2; i++) {
        rig *r;
        phi_agent agent;
        phi_span span = PHI_ZERO;
        phi_rewrite refused = PHI_ZERO;
        store = store_mem_new();
        agent = begin(&r);
        span.to = 999;
        refused.op_id = "far";
        refused.spans = &span;
        refused.span_count = 1;
        rig_says(r, "two");
        CHECK_EQ_INT(i == 0 ? defer(agent, "x") : phi_agent_rewrite(agent, &refused), PHI_OK);
        CHECK_EQ_INT(rig_run(r, 40), 0);
        CHECK(strstr(heard, i == 0 ? "x ok" : "far an argument") != NULL);
        another_process(&r, &agent);
        CHECK_EQ_STR(heard, "");
        CHECK_EQ_INT(shown(agent), i == 0 ? 3 : 4);
        rig_free(r);
        store_mem_free(store);
    }
}

TEST(a_deferral_that_finds_no_memory_changes_nothing_in_a_store_either) {
    phi_status status = PHI_NO_MEMORY;
    rig *r;
    phi_agent agent;
    int n;
    store = store_mem_new();
    agent = begin(&r);
    rig_hangs(r, "");
    (void)rig_run(r, 5);
    for (n = 0; status != PHI_OK && n < 100; n++) {
        uint64_t count = phi_thread_count(phi_agent_thread(agent));
        test_alloc_fail_at(n);
        status = defer(agent, "x");
        CHECK_EQ_INT(status, test_alloc_tripped() ? PHI_NO_MEMORY : PHI_OK);
        test_alloc_fail_at(-1);
        if (status != PHI_OK) CHECK(phi_agent_get_info(agent).deferred_op_id.len == 0);
        if (status != PHI_OK) CHECK_EQ_INT(phi_thread_count(phi_agent_thread(agent)), count);
    }
    CHECK(n > 1 && n < 100);
    CHECK(phi_agent_get_info(agent).deferred_op_id.len > 0);
    rig_free(r);
    store_mem_free(store);
}

TEST(a_snapshot_holds_the_one_that_waits_with_its_made_id) {
    phi_allocator allocator = test_allocator();
    phi_memory memory;
    phi_arena arena;
    phi_agent_desc desc = rig_desc();
    phi_str text;
    rig *r;
    phi_agent agent;
    phi_memory_init(&memory, &allocator, 0);
    phi_arena_init(&arena, &memory, 0);
    store = store_mem_new();
    agent = begin(&r);
    rig_hangs(r, "");
    (void)rig_run(r, 5);
    CHECK_EQ_INT(defer(agent, NULL), PHI_OK);
    CHECK_EQ_INT(phi_agent_snapshot(agent, &arena, &text), PHI_OK);
    rig_free(r);
    r = rig_new();
    agent = phi_agent_restore(rig_runtime(r), &desc, text, PHI_RESTORE_RESUME);
    CHECK(agent.rt != NULL);
    CHECK(phi_agent_get_info(agent).deferred_op_id.len > 0);
    rig_says(r, "two");
    CHECK_EQ_INT(rig_run(r, 40), 0);
    CHECK_EQ_INT(shown(agent), 3);
    phi_arena_free(&arena);
    rig_free(r);
    store_mem_free(store);
}

TEST_MAIN(TEST_ENTRY(a_deferred_rewrite_can_be_looked_at),
          TEST_ENTRY(a_deferred_rewrite_can_be_withdrawn),
          TEST_ENTRY(a_deferred_rewrite_survives_in_a_store_and_is_done_when_the_thread_is_opened),
          TEST_ENTRY(what_was_withdrawn_or_replaced_does_not_come_back),
          TEST_ENTRY(what_was_done_or_refused_is_not_done_again),
          TEST_ENTRY(a_deferral_that_finds_no_memory_changes_nothing_in_a_store_either),
          TEST_ENTRY(a_snapshot_holds_the_one_that_waits_with_its_made_id))
