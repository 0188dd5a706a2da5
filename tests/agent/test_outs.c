/* What a function gives back through pointers, when it fails: what they held, or nothing at all. A count without its
   list, or a text that somebody else owns, is a crash in a caller that looks at them first. */
#include "features/facts.h"
#include "log/prune.h"
#include "log/revert.h"
#include "persist/introspect.h"
#include "support/context_tools.h"
#include "support/rig.h"
#include "tools/context_tools.h"
#include "agent/agent_history.h"
#include "log/policy.h"
#include "log/log_in.h"

/* An agent that a conversation, facts and a deferred rewrite belong to. */
typedef struct outs {
    rig *r;
    phi_agent agent;
    const phi_thread *thread;
    uint64_t step; /* of the echo's result */
    phi_memory memory;
    phi_arena arena;
} outs;

static void outs_begin(outs *o) {
    phi_allocator allocator = test_allocator();
    phi_agent_desc desc = rig_desc();
    phi_tool tools[2];
    o->r = rig_new();
    tools[0] = rig_echo();
    CHECK_EQ_INT(tools_revert(&tools[1]), PHI_OK); /* it has results say their step */
    desc.tools = tools;
    desc.tool_count = 2;
    o->agent = rig_agent(o->r, &desc);
    o->thread = phi_agent_thread(o->agent);
    phi_memory_init(&o->memory, &allocator, 0);
    phi_arena_init(&o->arena, &o->memory, 0);
    CHECK_EQ_INT(phi_fact_set(phi_fact_group(o->agent.rt, "g"), "a", phi_str_of("1"), NULL),
                 PHI_OK);
    CHECK_EQ_INT(phi_fact_join(o->agent, "g", true), PHI_OK);
    rig_call(o->r, "c1", "echo", "{}");
    rig_says(o->r, "one");
    CHECK_EQ_INT(phi_prompt(o->agent, "first"), PHI_OK);
    CHECK_EQ_INT(rig_run(o->r, 20), 0);
}

/* The last entry of that role. */
static uint64_t outs_last(outs *o, phi_role role) {
    const phi_view_item *items = NULL;
    size_t n = 0;
    CHECK_EQ_INT(phi_thread_view(o->thread, NULL, UINT64_MAX, &o->arena, &items, &n), PHI_OK);
    while (n > 0 && items[n - 1].message->role != role) n--;
    return n > 0 ? items[n - 1].from : UINT64_MAX;
}

/* Takes out the answer when a second run has ended. */
static void outs_defer(outs *o) {
    phi_span span = PHI_ZERO;
    phi_rewrite rewrite = PHI_ZERO;
    span.from = span.to = outs_last(o, PHI_ROLE_ASSISTANT);
    rewrite.op_id = "x";
    rewrite.meta = "{}";
    rewrite.spans = &span;
    rewrite.span_count = 1;
    CHECK_EQ_INT(phi_prompt(o->agent, "second"), PHI_OK);
    CHECK_EQ_INT(phi_agent_rewrite(o->agent, &rewrite), PHI_OK);
}

static void outs_end(outs *o) {
    phi_arena_free(&o->arena);
    rig_free(o->r);
}

/* What a list was before, and that it is the same or empty now. */
static const char canary[16];

static void check_list(const void *list, size_t count) {
    CHECK((list == canary && count == 77) || count == 0);
}

static void check_text(phi_str text) { CHECK(text.at == canary || text.len == 0); }

static phi_status view_row(outs *o) {
    const phi_view_item *items = (const phi_view_item *)(const void *)canary;
    size_t count = 77;
    phi_status status = phi_thread_view(o->thread, NULL, UINT64_MAX, &o->arena, &items, &count);
    if (status != PHI_OK) check_list(items, count);
    return status;
}

static phi_status facts_row(outs *o) {
    const phi_fact *facts = (const phi_fact *)(const void *)canary;
    size_t count = 77;
    phi_status status = phi_fact_list(phi_fact_group(o->agent.rt, "g"), &o->arena, &facts, &count);
    if (status != PHI_OK) check_list(facts, count);
    return status;
}

static phi_status known_row(outs *o) {
    phi_fact_scope scope = phi_fact_agent(o->agent);
    const phi_fact *facts = (const phi_fact *)(const void *)canary;
    size_t count = 77;
    phi_status status;
    scope.known = true;
    status = phi_fact_list(scope, &o->arena, &facts, &count);
    if (status != PHI_OK) check_list(facts, count);
    return status;
}

static phi_status explain_row(outs *o) {
    phi_str text = {canary, 77};
    phi_status status = phi_agent_explain(o->agent, &o->arena, &text);
    if (status != PHI_OK) check_text(text);
    return status;
}

static phi_status prune_row(outs *o) {
    const phi_view_item *items = NULL;
    size_t count = 0;
    phi_rewrite rewrite = PHI_ZERO;
    phi_pruned pruned = PHI_ZERO;
    phi_prune prune = PHI_ZERO;
    phi_status status;
    prune.tokens = 1;
    status = phi_thread_view(o->thread, NULL, UINT64_MAX, &o->arena, &items, &count);
    if (status != PHI_OK) return status;
    status = phi__prune_plan(items, count, &prune, NULL, &o->arena, &rewrite, &pruned);
    if (status == PHI_OK) return status;
    CHECK(rewrite.spans == NULL && rewrite.span_count == 0 && rewrite.meta == NULL);
    CHECK(pruned.timestamps == NULL && pruned.timestamp_count == 0);
    return status;
}

static phi_status revert_row(outs *o) {
    phi_rewrite rewrite = PHI_ZERO;
    phi_reverted reverted = PHI_ZERO;
    phi_revert revert = PHI_ZERO;
    phi_status status;
    revert.step = o->step;
    revert.category = PHI_REVERT_TANGENT;
    revert.summary = phi_str_of("gone");
    status = phi__revert_plan(o->thread, &revert, &o->arena, &rewrite, &reverted);
    if (status == PHI_OK) CHECK(reverted.applied);
    if (status == PHI_OK) return status;
    CHECK(rewrite.spans == NULL && rewrite.span_count == 0 && rewrite.meta == NULL);
    CHECK(!reverted.applied);
    return status;
}

static phi_status project_row(outs *o) {
    const phi_view_item *items = NULL;
    const phi_message *const *messages = (const phi_message *const *)(const void *)canary;
    size_t count = 0, made = 77;
    phi_status status = phi_thread_view(o->thread, NULL, UINT64_MAX, &o->arena, &items, &count);
    if (status != PHI_OK) return status;
    status =
        phi_project(items, count, NULL, NULL, phi_str_of(""), 0, &o->arena, &messages, &made, NULL);
    if (status != PHI_OK) check_list((const void *)messages, made);
    return status;
}

typedef struct out_row {
    const char *name;
    phi_status (*run)(outs *o);
    bool defers;
} out_row;

static const out_row out_rows[] = {
    {"phi_thread_view", view_row, false},       {"phi_fact_list", facts_row, false},
    {"phi_fact_list, known", known_row, false}, {"phi_agent_explain", explain_row, false},
    {"phi__prune_plan", prune_row, false},      {"phi__revert_plan", revert_row, false},
    {"phi_project", project_row, false},
};

/* The arena's block may end anywhere. */
static void run_row(const out_row *row, size_t taken) {
    phi_status status = PHI_NO_MEMORY;
    int n = 0, before = test_failures();
    for (; status != PHI_OK && n < 400; n++) {
        outs o;
        size_t i;
        outs_begin(&o);
        o.step = outs_last(&o, PHI_ROLE_TOOL_RESULT);
        if (row->defers) outs_defer(&o);
        for (i = 0; i < taken; i += 16) CHECK(phi_arena_alloc(&o.arena, 16) != NULL);
        test_alloc_fail_from(n);
        status = row->run(&o);
        CHECK_EQ_INT(status, test_alloc_tripped() ? PHI_NO_MEMORY : PHI_OK);
        test_alloc_fail_from(-1);
        outs_end(&o);
    }
    CHECK(n < 400);
    if (test_failures() != before) printf("%s, %u bytes taken\n", row->name, (unsigned)taken);
}

TEST(a_call_that_fails_gives_back_nothing_rather_than_a_part) {
    size_t i, taken;
    for (i = 0; i < PHI__COUNT(out_rows); i++)
        for (taken = 0; taken < 2048; taken += 48) run_row(&out_rows[i], taken);
}

TEST_MAIN(TEST_ENTRY(a_call_that_fails_gives_back_nothing_rather_than_a_part))
