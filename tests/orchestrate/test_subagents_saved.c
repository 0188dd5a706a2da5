/* test_subagents_saved.c - sub-agents in snapshots, and without memory. */
#include "agent/snapshot.h"
#include "orchestrate/family.h"
#include "agent/agent_history.h"
#include "base/arena.h"
#include "log/thread.h"

#include <pthread.h>

typedef struct stage {
    rig *r;
    family f;
    phi_agent_desc worker_desc, lead_desc;
    phi_subagent_desc worker;
    phi_tool tool;
    phi_agent lead;
    int tool_ends, errors, sub_ends;
    char result[300];
    phi_status status;
} stage;

static void hear(void *user_data, const phi_event *e) {
    stage *s = (stage *)user_data;
    if (e->agent.index != s->lead.index || e->agent.gen != s->lead.gen) return; /* a child's */
    if (e->kind == PHI_EV_TOOL_END) {
        s->tool_ends++;
        s->errors += e->is_error;
        if (e->message != NULL)
            heard_copy(s->result, sizeof s->result, e->message->content[0].text);
    }
    if (e->kind == PHI_EV_SUBAGENT_END) {
        s->sub_ends++;
        heard_copy(s->result, sizeof s->result, e->text);
    }
    if (e->kind == PHI_EV_AGENT_END) s->status = e->status;
}

/* A lead of `n` workers, each a lead of `n` below it, `depth` levels deep; 0: workers work. */
static void stage_begin(stage *s, rig *r, const char *lead, uint32_t depth) {
    memset(s, 0, sizeof *s);
    s->r = r;
    family_begin(&s->f, r);
    s->worker_desc = family_desc(&s->f, depth > 1 ? lead : "worker");
    s->worker.name = "worker";
    s->worker.agent = &s->worker_desc;
    s->worker.max_depth = depth;
    s->tool = phi_subagent_tool(&s->worker);
    s->worker_desc.tools = s->lead_desc.tools = &s->tool;
    s->worker_desc.tool_count = 1;
    s->lead_desc = family_desc(&s->f, lead);
    s->lead_desc.tools = &s->tool;
    s->lead_desc.tool_count = 1;
    rig_watch(r, hear, s);
}

/* Saves the lead, frees it, and loads it again. */
static void save_and_load(stage *s, phi_restore_run how) {
    phi_memory memory;
    phi_arena arena;
    phi_str text = {"", 0};
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(phi_agent_snapshot(s->lead, &arena, &text), PHI_OK);
    phi_agent_free(s->lead);
    CHECK_EQ_INT(s->f.open, 0);
    s->lead = phi_agent_restore(rig_runtime(s->r), &s->lead_desc, text, how);
    if (!CHECK(s->lead.rt != NULL)) printf("  %s\n", words_of(s->r));
    phi_arena_free(&arena);
}

static const char *tell(stage *s) {
    static char out[4000];
    size_t n = phi_thread_message_count(phi_agent_thread(s->lead)), i, at = 0;
    out[0] = '\0';
    for (i = 0; i < n && at < sizeof out; i++)
        at += (size_t)snprintf(out + at, sizeof out - at, "%s|", text_at(s->lead, i, 0));
    return out;
}

TEST(a_snapshot_in_the_midst_of_children_resumes_all_at_every_step) {
    char expected[4000] = "";
    int at;
    for (at = -1; at < 60; at++) {
        stage s;
        bool done;
        stage_begin(&s, rig_new(), "lead 3", 2); /* 3 leads of 3 workers */
        s.lead = rig_agent(s.r, &s.lead_desc);
        CHECK_EQ_INT(phi_prompt(s.lead, "part"), PHI_OK);
        done = at >= 0 && rig_run(s.r, at) == 0;
        if (at >= 0 && !done) save_and_load(&s, PHI_RESTORE_RESUME);
        CHECK_EQ_INT(rig_run(s.r, 300), 0);
        CHECK_EQ_INT(s.errors, 0);
        CHECK_EQ_INT(s.status, PHI_OK);
        if (at < 0) (void)snprintf(expected, sizeof expected, "%s", tell(&s));
        CHECK_EQ_STR(tell(&s), expected);
        rig_free(s.r);
        if (done) {
            CHECK(at > 8);
            return;
        }
    }
    CHECK(!"it never ended");
}

static void *pump(void *ctx) {
    stage *s = (stage *)ctx;
    while (s->f.answers < 4 && rig_run(s->r, 1) > 0) {} /* those of the lead and its 3 leads */
    return NULL;
}

/* The pump moves to another thread: its snapshot knows whose call a child works for. */
TEST(a_snapshot_of_another_thread_than_the_last_steps_keeps_the_calls_of_children) {
    stage s;
    pthread_t thread;
    char expected[4000];
    int answers;
    stage_begin(&s, rig_new(), "lead 3", 2);
    s.lead = rig_agent(s.r, &s.lead_desc);
    CHECK_EQ_INT(phi_prompt(s.lead, "part"), PHI_OK);
    CHECK_EQ_INT(rig_run(s.r, 300), 0);
    (void)snprintf(expected, sizeof expected, "%s", tell(&s));
    answers = s.f.answers;
    rig_free(s.r);

    stage_begin(&s, rig_new(), "lead 3", 2);
    s.lead = rig_agent(s.r, &s.lead_desc);
    CHECK_EQ_INT(phi_prompt(s.lead, "part"), PHI_OK);
    CHECK_EQ_INT(pthread_create(&thread, NULL, pump, &s), 0);
    CHECK_EQ_INT(pthread_join(thread, NULL), 0);
    CHECK_EQ_INT(s.tool_ends, 0);
    save_and_load(&s, PHI_RESTORE_RESUME);
    CHECK_EQ_INT(rig_run(s.r, 300), 0);
    CHECK_EQ_INT(s.errors, 0);
    CHECK_EQ_STR(tell(&s), expected);
    CHECK_EQ_INT(s.f.answers, answers); /* no child began again */
    rig_free(s.r);
}

TEST(a_run_that_is_interrupted_ends_its_children) {
    stage s;
    stage_begin(&s, rig_new(), "lead 2", 1);
    s.lead = rig_agent(s.r, &s.lead_desc);
    CHECK_EQ_INT(phi_prompt(s.lead, "wait"), PHI_OK);
    CHECK_EQ_INT(rig_run(s.r, 20), 3);
    save_and_load(&s, PHI_RESTORE_INTERRUPT);
    CHECK_EQ_INT(rig_run(s.r, 50), 0);
    CHECK_EQ_INT(s.status, PHI_CANCELLED);
    CHECK_EQ_STR(text_at(s.lead, 2, 0), "Cancelled");
    /* what was saved of them is gone when the next one is made */
    CHECK_EQ_INT(phi_prompt(s.lead, "part"), PHI_OK);
    CHECK_EQ_INT(rig_run(s.r, 100), 0);
    CHECK_EQ_INT(s.status, PHI_OK);
    rig_free(s.r);
}

TEST(a_child_that_is_kept_is_saved_and_spawned_ones_go_on) {
    stage s;
    phi_agent child;
    stage_begin(&s, rig_new(), "lead 1", 1);
    s.worker.keep = 3;
    s.tool = phi_subagent_tool(&s.worker);
    s.lead = rig_agent(s.r, &s.lead_desc);
    CHECK_EQ_INT(phi_prompt(s.lead, "one"), PHI_OK);
    CHECK_EQ_INT(rig_run(s.r, 100), 0);
    s.f.held = true;
    CHECK_EQ_INT(phi_spawn(s.lead, &s.worker, "two", &child), PHI_OK);
    CHECK_EQ_INT(rig_run(s.r, 5), 1);
    save_and_load(&s, PHI_RESTORE_RESUME);
    save_and_load(&s, PHI_RESTORE_RESUME); /* nothing was claimed */
    CHECK_EQ_INT(rig_run(s.r, 5), 0);
    CHECK_EQ_INT(phi_spawn(s.lead, &s.worker, NULL, NULL), PHI_OK);
    CHECK_EQ_INT(rig_run(s.r, 5), 1);
    CHECK_EQ_INT(phi_spawn(s.lead, &s.worker, NULL, NULL), PHI_OK);
    CHECK_EQ_INT(rig_run(s.r, 5), 1); /* the same one */
    s.f.held = false;
    CHECK_EQ_INT(rig_run(s.r, 50), 0);
    CHECK_EQ_INT(s.sub_ends, 1);
    CHECK_EQ_STR(s.result, "Done: two.");
    save_and_load(&s, PHI_RESTORE_RESUME);
    CHECK_EQ_INT(phi_prompt(s.lead, "three"), PHI_OK); /* sub-3: none is used twice */
    CHECK_EQ_INT(rig_run(s.r, 100), 0);
    CHECK_EQ_STR(s.result, "Done: three 0.");
    rig_free(s.r);
}

/* ---- without memory ---- */

static void sweep_once(int n, bool *tripped, bool spawn, bool shown) {
    stage s;
    phi_agent child;
    phi_status status = PHI_OK;
    stage_begin(&s, rig_new(), "lead 2", 2);
    s.worker.keep = 1;
    s.worker.show_events = shown;
    s.lead = rig_agent(s.r, &s.lead_desc);
    test_alloc_fail_at(n);
    if (spawn)
        status = phi_spawn(s.lead, &s.worker, "part", &child);
    else
        status = phi_prompt(s.lead, "part");
    if (status == PHI_OK) CHECK_EQ_INT(rig_run(s.r, 300), 0);
    *tripped = test_alloc_tripped();
    test_alloc_fail_at(-1);
    CHECK(status == PHI_OK || status == PHI_NO_MEMORY);
    CHECK_EQ_INT(s.f.open, 0);
    if (!spawn && status == PHI_OK && s.status == PHI_OK) CHECK_EQ_INT(s.tool_ends, 2);
    /* it is usable */
    s.sub_ends = 0;
    CHECK_EQ_INT(phi_prompt(s.lead, "part"), PHI_OK);
    CHECK_EQ_INT(rig_run(s.r, 300), 0);
    CHECK_EQ_INT(s.status, PHI_OK);
    rig_free(s.r);
}

static void sweep(bool spawn, bool shown) {
    bool tripped = true;
    int n = 0;
    while (tripped && n < 3000) sweep_once(n++, &tripped, spawn, shown);
    CHECK(n > 50 && n < 3000);
}

TEST(a_call_survives_every_failed_allocation) { sweep(false, false); }
TEST(a_call_with_shown_children_survives_every_failed_allocation) { sweep(false, true); }
TEST(a_spawned_child_survives_every_failed_allocation) { sweep(true, false); }

TEST(a_snapshot_survives_every_failed_allocation) {
    bool tripped = true;
    int n = 0;
    while (tripped && n < 3000) {
        stage s;
        phi_memory memory;
        phi_arena arena;
        phi_str text = {"", 0};
        phi_allocator allocator = test_allocator();
        stage_begin(&s, rig_new(), "lead 2", 1);
        s.lead = rig_agent(s.r, &s.lead_desc);
        CHECK_EQ_INT(phi_prompt(s.lead, "part"), PHI_OK);
        CHECK_EQ_INT(rig_run(s.r, 6), 3);
        phi_memory_init(&memory, &allocator, 0);
        phi_arena_init(&arena, &memory, 0);
        test_alloc_fail_at(n);
        if (phi_agent_snapshot(s.lead, &arena, &text) == PHI_OK) {
            phi_agent_free(s.lead);
            s.lead = phi_agent_restore(rig_runtime(s.r), &s.lead_desc, text, PHI_RESTORE_RESUME);
        }
        if (s.lead.rt != NULL) CHECK_EQ_INT(rig_run(s.r, 300), 0);
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        CHECK_EQ_INT(s.f.open, 0);
        n++;
        phi_arena_free(&arena);
        rig_free(s.r);
    }
    CHECK(n > 50 && n < 3000);
}

TEST_MAIN(TEST_ENTRY(a_snapshot_in_the_midst_of_children_resumes_all_at_every_step),
          TEST_ENTRY(a_snapshot_of_another_thread_than_the_last_steps_keeps_the_calls_of_children),
          TEST_ENTRY(a_run_that_is_interrupted_ends_its_children),
          TEST_ENTRY(a_child_that_is_kept_is_saved_and_spawned_ones_go_on),
          TEST_ENTRY(a_call_survives_every_failed_allocation),
          TEST_ENTRY(a_call_with_shown_children_survives_every_failed_allocation),
          TEST_ENTRY(a_spawned_child_survives_every_failed_allocation),
          TEST_ENTRY(a_snapshot_survives_every_failed_allocation))
