/* test_forgetting.c - what else goes on while an agent forgets: a compactor at work, calls and their results, rewrites that
   wait, pending tools and snapshots, sessions. */
#include "support/talk.h"

#include "agent/response.h"
#include "agent/snapshot.h"
#include "agent/agent_history.h"
#include "agent/agent_info.h"
#include "loop/hook.h"
#include "log/log_in.h"

/* ---- a compactor at work ---- */

typedef struct worker {
    phi_agent frees; /* by `end` */
    int starts, ends;
} worker;

static phi_status work_start(void *user_data, const phi_compaction_request *request, void **job) {
    worker *w = (worker *)user_data;
    CHECK(request->item_count > 0);
    w->starts++;
    *job = w;
    return PHI_OK;
}

static phi_status work_poll(void *user_data, void *job, phi_rewrite *out) {
    (void)user_data, (void)job, (void)out;
    return PHI_BUSY;
}

static void work_end(void *user_data, void *job) {
    worker *w = (worker *)user_data;
    CHECK(job == w);
    w->ends++;
    if (w->frees.rt != NULL) phi_agent_free(w->frees);
}

static phi_agent_desc desc_with(worker *w) {
    phi_agent_desc desc = limited(65536, PHI_AT_MEMORY_LIMIT_FORGET);
    memset(w, 0, sizeof *w);
    desc.compaction.max_context_tokens = 4000;
    desc.compaction.budget_threshold_pct = 0.9; /* it begins at a tenth */
    desc.compactor.start = work_start;
    desc.compactor.poll = work_poll;
    desc.compactor.end = work_end;
    desc.compactor.user_data = w;
    return desc;
}

/* A prompt that found no memory, while the compactor is at work: the next step makes room. */
static void press(talk *t, worker *w, rig *r, const phi_agent_desc *desc) {
    static char said[20001], asked[14001];
    phi_content block;
    phi_message told = text_message(PHI_ROLE_USER, &block, memset(said, 'a', 20000));
    talk_begin(t, r, desc);
    while (t->times == 0 && t->ends < 200) CHECK(exchange(t) == PHI_OK);
    while (phi_agent_get_info(t->agent).memory_used < 26000 || w->starts == w->ends)
        if (!CHECK(t->ends < 500 && exchange(t) == PHI_OK)) return;
    CHECK_EQ_INT(phi_thread_append(phi_agent_thread(t->agent), &told, 1, NULL), PHI_OK);
    memset(asked, 'a', 14000);
    CHECK_EQ_INT(phi_prompt(t->agent, asked), PHI_NO_MEMORY);
}

TEST(a_compactor_at_work_is_told_before_the_log_is_copied) {
    rig *r = rig_new();
    worker w;
    phi_agent_desc desc = desc_with(&w);
    talk t;
    press(&t, &w, r, &desc);
    CHECK_EQ_INT(w.ends + 1, w.starts);
    (void)rig_step(r);
    CHECK_EQ_INT(w.ends, w.starts);
    CHECK_EQ_INT((int)exchanges(&t, 40), 40);
    rig_free(r);
    CHECK_EQ_INT(w.ends, w.starts);
}

TEST(a_compactor_that_frees_the_agent_while_room_is_made_is_survived) {
    int other;
    for (other = 0; other < 2; other++) {
        rig *r = rig_new();
        worker w;
        phi_agent_desc desc = desc_with(&w);
        phi_agent next;
        talk t;
        press(&t, &w, r, &desc);
        next = rig_agent(r, &desc);
        w.frees = other ? next : t.agent;
        (void)rig_step(r);
        w.frees.rt = NULL;
        CHECK_EQ_INT(w.ends, w.starts);
        if (!other) {
            t.agent = next;
            t.last_to = 0;
        }
        CHECK_EQ_INT((int)exchanges(&t, 40), 40);
        rig_free(r);
        CHECK_EQ_INT(test_alloc_live_bytes(), 0);
    }
}

TEST(a_compactor_that_frees_the_agent_at_the_beginning_of_a_run_is_survived) {
    rig *r = rig_new();
    worker w;
    phi_agent_desc desc = desc_with(&w);
    talk t;
    size_t n = 0;
    talk_begin(&t, r, &desc);
    CHECK(exchange(&t) == PHI_OK);
    w.frees = t.agent;
    while (n++ < 200 && exchange(&t) == PHI_OK) {}
    CHECK(w.ends == 1 && n < 200);
    phi_agent_free(t.agent);
    rig_free(r);
    CHECK_EQ_INT(test_alloc_live_bytes(), 0);
}

/* ---- calls and their results ---- */

/* Whether `request` has as many results as calls, each after its call. */
static bool pairs_hold(const char *request) {
    const char *at = request, *next;
    int open = 0, calls = 0;
    while ((next = strstr(at, "\"tool_")) != NULL) {
        bool use = strncmp(next, "\"tool_use\"", 10) == 0;
        if (use) open++, calls++;
        if (strncmp(next, "\"tool_result\"", 13) == 0 && --open < 0) return false;
        at = next + 6;
    }
    return open == 0 && calls > 0;
}

static phi_status exchange_with_calls(talk *t, int n) {
    size_t ends = t->ends;
    char id[2][40];
    const char *calls[2] = {id[0], id[1]};
    rig_forget(t->r);
    rig_rewind(t->r);
    (void)snprintf(id[0], sizeof id[0], "a%d echo {\"n\":%d}", n, n);
    (void)snprintf(id[1], sizeof id[1], "b%d echo {\"m\":%d}", n, n);
    rig_calls(t->r, calls, 2);
    rig_says(t->r, answer);
    if (phi_prompt(t->agent, question) != PHI_OK) return PHI_NO_MEMORY;
    (void)rig_run(t->r, 100);
    if (t->ends != ends + 1) return PHI_BUSY;
    CHECK(pairs_hold(rig_request(t->r, 1)));
    return t->status;
}

TEST(a_call_and_its_result_leave_together) {
    int how, i;
    for (how = 0; how < 2; how++) {
        rig *r = rig_new();
        phi_agent_desc desc = limited(65536, (phi_at_memory_limit)how);
        phi_tool echo = rig_echo();
        talk t;
        desc.tools = &echo;
        desc.tool_count = 1;
        talk_begin(&t, r, &desc);
        for (i = 0; i < 300; i++) CHECK_EQ_INT(exchange_with_calls(&t, i), PHI_OK);
        CHECK(t.times > 3);
        rig_free(r);
    }
}

/* ---- a rewrite that waits ---- */

/* What the last PHI_EV_REWRITE said. */
static phi_status rewritten;
static void rewrite_event(void *user_data, const phi_event *e) {
    if (e->kind == PHI_EV_REWRITE) rewritten = e->status;
    talk_event(user_data, e);
}

/* The first message of the log by `role`, or the last one. */
static uint64_t message_seq(phi_thread *thread, phi_role role, bool last) {
    uint64_t found = UINT64_MAX, seq;
    phi_entry e;
    for (seq = phi_thread_get_info(thread).first; seq < phi_thread_count(thread); seq++)
        if (phi_thread_entry(thread, seq, &e) == PHI_OK && e.kind == PHI_ENTRY_MESSAGE &&
            e.message->role == role && (last || found == UINT64_MAX))
            found = seq;
    return found;
}

/* Put off in the exchange that forgets, the `forgets`-th: of the last answer before it, or of the first question. */
static void rewrite_in(talk *t, size_t forgets, bool last) {
    phi_content block;
    phi_message other = text_message(PHI_ROLE_ASSISTANT, &block, "Never mind.");
    phi_rewrite rewrite;
    phi_span span;
    CHECK_EQ_INT((int)exchanges(t, forgets - 1), (int)(forgets - 1));
    memset(&rewrite, 0, sizeof rewrite);
    memset(&span, 0, sizeof span);
    rig_forget(t->r);
    rig_rewind(t->r);
    rig_says(t->r, answer);
    CHECK_EQ_INT(phi_prompt(t->agent, question), PHI_OK);
    if (!last) other.role = PHI_ROLE_USER;
    span.from = span.to = message_seq(phi_agent_thread(t->agent), other.role, last);
    span.messages = &other;
    span.message_count = 1;
    rewrite.spans = &span;
    rewrite.span_count = 1;
    CHECK_EQ_INT(phi_agent_rewrite(t->agent, &rewrite), PHI_OK);
    CHECK(phi_agent_get_info(t->agent).deferred_op_id.len > 0 && t->times == 0);
    (void)rig_run(t->r, 100);
    CHECK(phi_agent_get_info(t->agent).deferred_op_id.len == 0 && t->times == 1);
}

TEST(a_rewrite_that_waits_is_refused_where_its_entries_were_forgotten_meanwhile) {
    phi_agent_desc desc = limited(65536, PHI_AT_MEMORY_LIMIT_FORGET);
    size_t forgets = 0;
    int last;
    for (last = -1; last < 2; last++) { /* -1: counts the exchanges until it forgets */
        rig *r = rig_new();
        talk t;
        talk_begin(&t, r, &desc);
        if (last < 0) {
            while (t.times == 0 && exchange(&t) == PHI_OK) {}
            forgets = t.ends;
        } else {
            rig_watch(r, rewrite_event, &t);
            rewritten = PHI_OK;
            rewrite_in(&t, forgets, last != 0);
            CHECK_EQ_INT(rewritten, PHI_BAD_ARG); /* what it kept are copies, of other numbers */
            CHECK_EQ_INT((int)exchanges(&t, 1), 1);
            CHECK(strstr(rig_request(r, 0), "Never mind.") == NULL);
            CHECK_EQ_INT((int)exchanges(&t, 30), 30);
        }
        rig_free(r);
    }
}

/* ---- pending tools, snapshots, sessions ---- */

TEST(a_pending_call_of_an_agent_that_has_forgotten_is_saved_restored_and_finished) {
    rig *r = rig_new();
    phi_agent_desc desc = limited(65536, PHI_AT_MEMORY_LIMIT_FORGET);
    phi_tool wait = rig_wait(r);
    phi_memory memory;
    phi_arena arena;
    phi_str saved = {NULL, 0};
    phi_pending_item item;
    uint64_t first;
    talk t;
    desc.tools = &wait;
    desc.tool_count = 1;
    talk_begin(&t, r, &desc);
    while (t.times < 2) CHECK_EQ_INT(exchange(&t), PHI_OK);
    first = phi_thread_get_info(phi_agent_thread(t.agent)).first;
    rig_call(r, "c1", "wait", "{}");
    CHECK_EQ_INT(phi_prompt(t.agent, question), PHI_OK);
    (void)rig_run(r, 20);
    REQUIRE(rig_started(r) == 1);
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(phi_agent_snapshot(t.agent, &arena, &saved), PHI_OK);
    phi_agent_free(t.agent);
    rig_drop_answers(r);
    t.agent = phi_agent_restore(rig_runtime(r), &desc, saved, PHI_RESTORE_RESUME);
    phi_arena_free(&arena);
    REQUIRE(t.agent.rt != NULL);
    CHECK(phi_thread_get_info(phi_agent_thread(t.agent)).first == first &&
          phi_agent_get_info(t.agent).running);
    (void)rig_run(r, 20);
    REQUIRE(phi_pending(rig_runtime(r), &item, 1) == 1);
    rig_says(r, answer);
    CHECK_EQ_INT(phi_call_reply(item.call, "found it"), PHI_OK);
    (void)rig_run(r, 50);
    CHECK(!phi_agent_get_info(t.agent).running && t.status == PHI_OK);
    t.times = 0;
    CHECK_EQ_INT((int)exchanges(&t, 60), 60);
    CHECK(t.times > 0 && phi_thread_get_info(phi_agent_thread(t.agent)).first > first);
    rig_free(r);
}

TEST(a_new_session_after_forgetting_begins_with_what_was_kept) {
    int empty;
    for (empty = 0; empty < 2; empty++) {
        rig *r = rig_new();
        phi_agent_desc desc = limited(65536, PHI_AT_MEMORY_LIMIT_FORGET);
        size_t kept;
        talk t;
        talk_begin(&t, r, &desc);
        while (t.times < 2) CHECK_EQ_INT(exchange(&t), PHI_OK);
        kept = phi_thread_message_count(phi_agent_thread(t.agent));
        CHECK_EQ_INT(phi_agent_new_session(t.agent, empty != 0), PHI_OK);
        CHECK(phi_thread_get_info(phi_agent_thread(t.agent)).first == 0);
        CHECK_EQ_INT((int)phi_thread_message_count(phi_agent_thread(t.agent)),
                     empty ? 0 : (int)kept);
        t.last_to = 0; /* seqs of another log */
        CHECK_EQ_INT((int)exchanges(&t, 60), 60);
        CHECK(t.times > 2);
        history_holds(t.agent);
        rig_free(r);
    }
}

TEST_MAIN(TEST_ENTRY(a_compactor_at_work_is_told_before_the_log_is_copied),
          TEST_ENTRY(a_compactor_that_frees_the_agent_while_room_is_made_is_survived),
          TEST_ENTRY(a_compactor_that_frees_the_agent_at_the_beginning_of_a_run_is_survived),
          TEST_ENTRY(a_call_and_its_result_leave_together),
          TEST_ENTRY(a_rewrite_that_waits_is_refused_where_its_entries_were_forgotten_meanwhile),
          TEST_ENTRY(a_pending_call_of_an_agent_that_has_forgotten_is_saved_restored_and_finished),
          TEST_ENTRY(a_new_session_after_forgetting_begins_with_what_was_kept))
