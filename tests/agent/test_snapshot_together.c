/* test_snapshot_together.c - snapshots of agents that do several things at once: a store,
   compactions in the midst, prunes and reverts, a lent thread. */
#include "agent/one_shot_run.h"
#include "agent/snapshot.h"
#include "support/context_tools.h"
#include "support/rig.h"
#include "support/store_mem.h"
#include "tools/context_tools.h"
#include "agent/agent_history.h"
#include "agent/agent_info.h"
#include "loop/hook.h"
#include "loop/input.h"
#include "model/event.h"
#include "log/log_in.h"

enum { STEPS_MOST = 200, TOOLS = 5 };

typedef struct story {
    rig *r;
    phi_agent agent;
    phi_agent_desc desc;
    phi_tool tools[TOOLS];
    phi_memory memory;
    phi_arena arena;
    int waited; /* steps that what waits has waited */
} story;

/* ---- what a log says, but for times ---- */
static uint64_t mix(uint64_t h, phi_str s) {
    size_t i;
    for (i = 0; i < s.len; i++) h = (h ^ (unsigned char)s.at[i]) * UINT64_C(1099511628211);
    return (h ^ 0xff) * UINT64_C(1099511628211);
}

static uint64_t of_message(uint64_t h, const phi_message *m) {
    size_t i;
    h = h * 31 + (uint64_t)m->role;
    for (i = 0; i < m->content_count;
         i++) { /* ids are made by chance where they are there already */
        h = mix(h, m->content[i].text);
        h = mix(h, m->content[i].arguments);
    }
    return h;
}

static uint64_t of_entry(uint64_t h, const phi_entry *e) {
    size_t i, k;
    h = mix(h * 31 + (uint64_t)e->kind + e->turn_index * 7 + e->seq * 13, e->loop_id);
    if (e->message != NULL) h = of_message(h, e->message);
    for (i = 0; e->rewrite != NULL && i < e->rewrite->span_count; i++) {
        const phi_span *span = &e->rewrite->spans[i];
        h = h * 31 + span->from * 7 + span->to;
        for (k = 0; k < span->message_count; k++) h = of_message(h, &span->messages[k]);
    }
    return h;
}

static uint64_t digest(const phi_thread *thread) {
    uint64_t h = 1, seq;
    phi_entry e;
    for (seq = 0; phi_thread_entry(thread, seq, &e) == PHI_OK; seq++) h = of_entry(h, &e);
    return h;
}

static void show(const phi_thread *thread) {
    uint64_t seq;
    phi_entry e;
    for (seq = 0; phi_thread_entry(thread, seq, &e) == PHI_OK; seq++) {
        printf("  %u kind %d turn %u %.*s", (unsigned)seq, (int)e.kind, (unsigned)e.turn_index,
               e.message != NULL ? (int)e.message->content[0].text.len : 0,
               e.message != NULL ? e.message->content[0].text.at : "");
        if (e.rewrite != NULL)
            printf(" %s %u spans", phi__entry_reason_word(e.rewrite->reason),
                   (unsigned)e.rewrite->span_count);
        printf("\n");
    }
}

/* ---- the same log from any step on ---- */

static phi_verdict wait_for_host(void *user_data, phi_hook *hook) {
    (void)user_data;
    (void)hook;
    return PHI_WAIT;
}

static void make_desc(story *s) {
    s->desc = rig_desc();
    s->tools[0] = rig_echo();
    s->tools[1] = rig_wait(s->r);
    (void)tools_prun(&s->tools[2]);
    (void)tools_revert(&s->tools[4]);
    s->desc.tools = s->tools;
    s->desc.tool_count = TOOLS;
    s->desc.model.context_window = 420;
    s->desc.compaction.system_prompt_tokens = 20;
    s->desc.compaction.keep_recent_turns = 2;
    s->desc.budget.max_requests = 100;
    s->desc.hook_fn = wait_for_host;
    s->desc.hook_points = PHI_HOOK_BEFORE_COMPACTION | PHI_HOOK_AFTER_COMPACTION;
}

#define LONG                                                                                       \
    "a long and winding list of all the houses in the village and of who lives in each of them"

static void script(rig *r, size_t from) {
    static const char *const calls[] = {"c1 echo {\"a\":\"" LONG "\"}", "c2 wait {}"};
    size_t i;
    if (from <= 0) rig_calls(r, calls, 2);
    if (from <= 1) rig_call(r, "c3", "echo", "{\"b\":\"" LONG "\"}");
    if (from <= 2) rig_call(r, "c4", "prun_with_memo", "{\"tokens\":30,\"memo\":\"houses\"}");
    for (i = 3; i < 9; i++) {
        char arguments[200];
        (void)snprintf(arguments, sizeof arguments, "{\"c%u\":\"%s\"}", (unsigned)i, LONG);
        if (from <= i) rig_call(r, "c5", "echo", arguments);
    }
    if (from <= 9)
        rig_call(r, "c6", "revert_to_state", "{\"category\":\"failure\",\"step\":\"n35\"}");
    if (from <= 10) rig_says(r, "The village has nine houses.");
    if (from <= 11) rig_says(r, "You are welcome.");
}

static void begin(story *s) {
    memset(s, 0, sizeof *s);
    s->r = rig_new();
    rig_chunk(s->r, 300);
    rig_mock(s->r); /* no usage: what counts is the estimate */
    phi_memory_init(&s->memory, NULL, 0);
    phi_arena_init(&s->arena, &s->memory, 0);
    make_desc(s);
    s->agent = rig_agent(s->r, &s->desc);
    script(s->r, 0);
    CHECK_EQ_INT(phi_prompt(s->agent, "Count the houses"), PHI_OK);
    CHECK_EQ_INT(phi_follow_up(s->agent, "Thanks"), PHI_OK);
}

static void end(story *s) {
    phi_arena_free(&s->arena);
    rig_free(s->r);
}

/* One step, and the host, which answers after two steps. */
static bool go_on(story *s) {
    phi_pending_item items[4];
    int runs = rig_step(s->r);
    size_t n, i;
    rig_pass_ms(s->r, 1);
    n = phi_pending(rig_runtime(s->r), items, 4);
    for (i = 0; i < n && i < 4; i++) {
        if (s->waited++ < 2) continue;
        s->waited = 0;
        if (items[i].kind == PHI_WAITING_CALL)
            (void)phi_call_reply(items[i].call, "nine");
        else
            (void)phi_decide(items[i].ticket, PHI_ALLOW, NULL);
    }
    return runs > 0;
}

static size_t answers(phi_agent agent) {
    size_t i, n = 0;
    for (i = 0; i < phi_thread_message_count(phi_agent_thread(agent)); i++)
        n += phi_thread_message_at(phi_agent_thread(agent), i)->role == PHI_ROLE_ASSISTANT;
    return n;
}

static void move(story *s) {
    phi_str text = phi_str_of("");
    size_t said = answers(s->agent);
    rig *old = s->r;
    CHECK_EQ_INT(phi_agent_snapshot(s->agent, &s->arena, &text), PHI_OK);
    s->r = rig_new();
    rig_chunk(s->r, 300);
    rig_mock(s->r); /* no usage: what counts is the estimate */
    make_desc(s);
    s->agent = phi_agent_restore(rig_runtime(s->r), &s->desc, text, PHI_RESTORE_RESUME);
    CHECK(s->agent.rt != NULL);
    rig_free(old);
    script(s->r, said);
}

static bool compaction_waits(const story *s) {
    phi_pending_item item;
    return (item = phi_agent_get_info(s->agent).waiting).kind == PHI_WAITING_DECISION &&
           item.point == PHI_HOOK_BEFORE_COMPACTION;
}

TEST(a_turn_that_is_saved_before_its_compaction_counts_one_request) {
    story s;
    int moved = 0;
    begin(&s);
    while (go_on(&s)) {
        if (!compaction_waits(&s) || s.waited != 1) continue;
        move(&s);
        moved++;
    }
    CHECK(moved > 0);
    CHECK_EQ_INT(answers(s.agent), 12);
    CHECK_EQ_INT(phi_agent_get_info(s.agent).spending.requests, 12);
    end(&s);
}

TEST(compactions_prunes_and_reverts_are_the_same_after_a_snapshot_at_any_step) {
    story s;
    uint64_t want;
    const char *told;
    int k, n = 0;
    begin(&s);
    while (go_on(&s) && n < STEPS_MOST) n++;
    want = digest(phi_agent_thread(s.agent));
    told = rig_story(s.r);
    CHECK(strstr(told, "CompactionEnd") != NULL);
    CHECK(strstr(told, "PrunApplied") != NULL);
    CHECK(strstr(told, "Revert") != NULL);
    if (getenv("SHOW")) printf("%s", told), show(phi_agent_thread(s.agent));
    CHECK_EQ_INT(answers(s.agent), 12);
    end(&s);
    CHECK(n > 20 && n < STEPS_MOST);
    for (k = 0; k <= n; k++) {
        int i;
        begin(&s);
        for (i = 0; i < k; i++) (void)go_on(&s);
        move(&s);
        for (i = 0; i < 3 * STEPS_MOST && go_on(&s); i++) continue;
        if (!CHECK(want == digest(phi_agent_thread(s.agent)))) {
            printf("  snapshot at step %d of %d\n", k, n);
            show(phi_agent_thread(s.agent));
            end(&s);
            return;
        }
        end(&s);
    }
}

/* ---- a compaction that the host asked for ---- */

static void fill(rig *r, phi_agent agent) {
    int i;
    for (i = 0; i < 6; i++) {
        rig_says(r, LONG);
        CHECK_EQ_INT(phi_prompt(agent, LONG), PHI_OK);
        CHECK_EQ_INT(rig_run(r, 20), 0);
    }
}

TEST(a_compaction_of_the_hosts_that_waits_goes_on_after_loading) {
    story s;
    phi_str text = phi_str_of("");
    phi_entry last;
    rig *other = rig_new();
    memset(&s, 0, sizeof s);
    s.r = rig_new();
    phi_memory_init(&s.memory, NULL, 0);
    phi_arena_init(&s.arena, &s.memory, 0);
    make_desc(&s);
    s.desc.model.context_window = 100000;
    s.agent = rig_agent(s.r, &s.desc);
    fill(s.r, s.agent);
    CHECK_EQ_INT(phi_compact(s.agent), PHI_OK);
    (void)rig_run(s.r, 5); /* the hook waits */
    CHECK(phi_agent_get_info(s.agent).running);
    CHECK_EQ_INT(phi_agent_snapshot(s.agent, &s.arena, &text), PHI_OK);
    rig_free(s.r);
    s.r = other;
    s.agent = phi_agent_restore(rig_runtime(other), &s.desc, text, PHI_RESTORE_RESUME);
    REQUIRE(s.agent.rt != NULL);
    CHECK(phi_agent_get_info(s.agent).running);
    s.waited = 2;
    while (go_on(&s)) continue;
    CHECK(strstr(rig_story(other), "AgentStart") == NULL); /* it was told before */
    CHECK(strstr(rig_story(other), "CompactionEnd") != NULL);
    CHECK(strstr(rig_story(other), "AgentEnd ok") != NULL);
    CHECK_EQ_INT(phi_thread_entry(phi_agent_thread(s.agent),
                                  phi_thread_count(phi_agent_thread(s.agent)) - 1, &last),
                 PHI_OK);
    CHECK(last.kind == PHI_ENTRY_LOOP_END);
    end(&s);
}

/* ---- a snapshot and a store ---- */

TEST(a_snapshot_is_loaded_into_a_new_thread_of_a_store_and_not_over_another) {
    store_mem *store = store_mem_new();
    phi_agent_desc desc = rig_desc();
    phi_str text = phi_str_of("");
    phi_memory memory;
    phi_arena arena;
    phi_agent agent;
    const char *words = "";
    uint64_t want;
    rig *r = rig_new();
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    desc.store = store_mem_store(store);
    desc.thread_id = "t";
    agent = rig_agent(r, &desc);
    fill(r, agent);
    want = digest(phi_agent_thread(agent));
    CHECK_EQ_INT(phi_agent_snapshot(agent, &arena, &text), PHI_OK);
    rig_free(r);
    r = rig_new();
    CHECK(phi_agent_restore(rig_runtime(r), &desc, text, PHI_RESTORE_RESUME).rt == NULL);
    words = phi_last_error(rig_runtime(r)).message;
    CHECK(phi_last_error(rig_runtime(r)).status == PHI_MISUSE);
    CHECK_EQ_STR(words, "phi_agent_restore: the store has thread \"t\" already");
    CHECK(!store_mem_locked(store, "t"));
    desc.thread_id = "u";
    agent = phi_agent_restore(rig_runtime(r), &desc, text, PHI_RESTORE_RESUME);
    REQUIRE(agent.rt != NULL);
    CHECK_EQ_INT(digest(phi_agent_thread(agent)), want);
    (void)rig_run(r, 2);
    CHECK_EQ_STR(store_mem_text(store, "u"), store_mem_text(store, "t"));
    phi_arena_free(&arena);
    rig_free(r);
    store_mem_free(store);
}

/* ---- a run over a thread of the host's ---- */

TEST(a_run_over_a_lent_thread_is_saved_and_goes_on_in_a_thread_of_its_own) {
    rig *r = rig_new(), *other = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_content block = PHI_ZERO;
    phi_message prompt = PHI_ZERO;
    phi_run_desc run = PHI_ZERO;
    phi_str text = phi_str_of("");
    phi_memory memory;
    phi_arena arena;
    phi_tool wait = rig_wait(r), again = rig_wait(other);
    phi_thread *thread = phi_thread_new(rig_runtime(r), 0);
    phi_agent agent;
    phi_pending_item item;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    block.kind = PHI_CONTENT_TEXT;
    block.text = phi_str_of("Go");
    prompt.role = PHI_ROLE_USER;
    prompt.content = &block;
    prompt.content_count = 1;
    desc.tools = &wait;
    desc.tool_count = 1;
    run.agent = &desc;
    run.thread = thread;
    run.prompts = &prompt;
    run.prompt_count = 1;
    agent = phi_run(rig_runtime(r), &run);
    REQUIRE(agent.rt != NULL);
    rig_call(r, "c1", "wait", "{}");
    (void)rig_run(r, 10);
    CHECK_EQ_INT(phi_agent_snapshot(agent, &arena, &text), PHI_OK);
    desc.tools = &again;
    agent = phi_agent_restore(rig_runtime(other), &desc, text, PHI_RESTORE_RESUME);
    REQUIRE(agent.rt != NULL);
    (void)rig_run(other, 5);
    REQUIRE(phi_pending(rig_runtime(other), &item, 1) == 1);
    CHECK_EQ_INT(phi_call_reply(item.call, "done"), PHI_OK);
    rig_says(other, "Well.");
    CHECK_EQ_INT(rig_run(other, 20), 0);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 4);
    CHECK_EQ_INT(phi_thread_count(thread), 4); /* it was only read */
    rig_finish(r, 0, "done");
    rig_says(r, "Well.");
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_INT(digest(thread), digest(phi_agent_thread(agent)));
    phi_arena_free(&arena);
    phi_thread_free(thread);
    rig_free(r);
    rig_free(other);
}

TEST_MAIN(TEST_ENTRY(a_turn_that_is_saved_before_its_compaction_counts_one_request),
          TEST_ENTRY(compactions_prunes_and_reverts_are_the_same_after_a_snapshot_at_any_step),
          TEST_ENTRY(a_compaction_of_the_hosts_that_waits_goes_on_after_loading),
          TEST_ENTRY(a_snapshot_is_loaded_into_a_new_thread_of_a_store_and_not_over_another),
          TEST_ENTRY(a_run_over_a_lent_thread_is_saved_and_goes_on_in_a_thread_of_its_own))
