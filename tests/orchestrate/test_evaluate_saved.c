/* Evaluations in snapshots and in stores, without memory, and in any order. */
#include "support/resumed.h"
#include "agent/snapshot.h"
#include "orchestrate/actors.h"
#include "agent/agent_history.h"
#include "agent/agent_info.h"
#include "agent/runtime.h"
#include "base/arena.h"
#include "log/thread.h"
#include "loop/run.h"
#include "log/log_in.h"

/* ---- memory ---- */

static void judged(stage *s) {
    s->desc.by = PHI_EVALUATE_JUDGE;
    s->desc.judge = &s->configs[5];
    s->actors[5].text = "2";
    s->configs[5].compaction.max_context_tokens = 1000;
}

TEST(each_allocation_may_fail_before_it_begins) {
    int n = 0;
    bool tripped = true;
    for (; tripped && n < 2000; n++) {
        stage s;
        phi_status status;
        uint64_t count;
        stage_set(&s, rig_new(), 3);
        s.own.budget.max_tokens = 1000000;
        REQUIRE(stage_open(&s));
        CHECK_EQ_INT(phi_prompt(s.agent, "Hello"), PHI_OK);
        CHECK_EQ_INT(rig_run(s.r, 100), 0);
        (void)rig_step(s.r);
        judged(&s);
        count = phi_thread_count(phi_agent_thread(s.agent));
        test_alloc_fail_at(n);
        status = phi_evaluate(s.agent, &s.desc);
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        if (status != PHI_OK) {
            CHECK_EQ_INT(status, PHI_NO_MEMORY);
            CHECK(strstr(words_of(s.r), "out of memory") != NULL);
            CHECK(tripped);
            CHECK_EQ_INT(phi_thread_count(phi_agent_thread(s.agent)), count);
            CHECK_EQ_INT(s.actors[1].opens + s.actors[2].opens + s.actors[5].opens, 0);
            CHECK_EQ_INT(phi_evaluate(s.agent, &s.desc), PHI_OK); /* and again */
        }
        CHECK_EQ_INT(rig_run(s.r, 200), 0);
        CHECK_EQ_INT(stage_result(&s).status, PHI_OK);
        CHECK_EQ_INT(stage_result(&s).selected, 1);
        CHECK_EQ_STR(lane_texts(s.agent, NULL), "Hello|own|Why?|two");
        rig_free(s.r);
    }
    CHECK(n > 50 && n < 2000);
}

static void count_ends(void *user_data, const phi_event *event) {
    if (event->kind == PHI_EV_PARALLEL_END) ++*(int *)user_data;
}

TEST(each_allocation_may_fail_while_it_goes_on) {
    int n = 0;
    bool tripped = true;
    for (; tripped && n < 4000; n++) {
        stage s;
        phi_evaluation e;
        int ends = 0;
        stage_set(&s, rig_new(), 3);
        REQUIRE(stage_open(&s));
        judged(&s);
        CHECK_EQ_INT(phi_evaluate(s.agent, &s.desc), PHI_OK);
        rig_silent(s.r, true); /* the rig's own story needs memory */
        test_alloc_fail_at(n);
        CHECK_EQ_INT(rig_run(s.r, 200), 0);
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        e = stage_result(&s);
        CHECK(e.status == PHI_OK || (tripped && e.status == PHI_NO_MEMORY));
        CHECK((e.status == PHI_OK) == (e.selected < 3));
        if (e.status == PHI_OK) CHECK(e.branches[e.selected].lane.len > 0);
        if (e.status == PHI_OK && e.branches[1].status == PHI_OK)
            CHECK_STR(e.branches[1].text, "two");
        if (e.status != PHI_OK) CHECK_EQ_STR(lane_texts(s.agent, NULL), "");
        rig_silent(s.r, false);
        rig_watch(s.r, count_ends, &ends);
        (void)rig_step(s.r);
        CHECK_EQ_INT(ends, 1); /* whatever was lost, its end is told */
        (void)rig_step(s.r);
        CHECK_EQ_INT(phi_prompt(s.agent, "On"), PHI_OK);
        CHECK_EQ_INT(rig_run(s.r, 100), 0);
        CHECK_EQ_INT(s.actors[0].closes, 1);
        rig_free(s.r);
    }
    CHECK(n > 30 && n < 4000);
}

/* ---- any order ---- */

/* What an evaluation left behind, as one text. */
static void leavings(stage *s, char *out, size_t size) {
    phi_thread *thread = phi_agent_thread(s->agent);
    phi_evaluation e = stage_result(s);
    size_t at = 0, i;
    at += (size_t)snprintf(out + at, size - at, "%d %u %llu %s\n", (int)e.status,
                           (unsigned)e.selected, (unsigned long long)e.total_usage.total_tokens,
                           lane_texts(s->agent, NULL));
    for (i = 0; i < phi_thread_count(thread); i++) {
        phi_entry entry;
        CHECK_EQ_INT(phi_thread_entry(thread, i, &entry), PHI_OK);
        at += (size_t)snprintf(out + at, size - at, "%d %.*s %.*s %.*s\n", (int)entry.kind,
                               (int)entry.lane.len, entry.lane.at, (int)entry.loop_id.len,
                               entry.loop_id.len > 0 ? entry.loop_id.at : "", (int)entry.note.len,
                               entry.note.len > 0 ? entry.note.at : "");
    }
}

TEST(in_any_order_of_ends_the_result_and_the_log_are_the_same) {
    static const phi_evaluate_by ways[] = {PHI_EVALUATE_FIRST, PHI_EVALUATE_TOKEN_EFFICIENT,
                                           PHI_EVALUATE_ELABORATE, PHI_EVALUATE_JUDGE};
    static char first[6000], now[6000];
    uint32_t state = 5;
    size_t way;
    int round, k;
    for (way = 0; way < PHI__COUNT(ways); way++)
        for (round = 0; round < 60; round++) {
            stage s;
            stage_set(&s, rig_new(), 4);
            REQUIRE(stage_open(&s));
            s.desc.by = ways[way];
            s.desc.judge = &s.configs[5];
            s.actors[5].text = "3";
            s.actors[2].text = NULL;
            for (k = 1; k <= 4; k++)
                s.actors[k].polls = round == 0 ? 0 : (int)(test_random(&state) % 9);
            stage_evaluate(&s);
            leavings(&s, now, sizeof now);
            if (round == 0) memcpy(first, now, sizeof first);
            CHECK_EQ_STR(now, first);
            rig_free(s.r);
        }
}

/* ---- snapshots ---- */

static phi_str snapshot_of(phi_agent agent, phi_arena *arena) {
    phi_str out = {"", 0};
    CHECK_EQ_INT(phi_agent_snapshot(agent, arena, &out), PHI_OK);
    return out;
}

/* Another process: a rig with the same configurations, and the agent out of the text. */
static bool elsewhere(stage *to, phi_str text, size_t branches) {
    stage_set(to, rig_new(), branches);
    judged(to);
    to->agent = phi_agent_restore(rig_runtime(to->r), &to->own, text, PHI_RESTORE_RESUME);
    return to->agent.rt != NULL;
}

TEST(a_snapshot_at_any_step_resumes_to_the_same_end) {
    static char first[6000], now[6000];
    phi_memory memory;
    phi_arena arena;
    int steps;
    phi_memory_init(&memory, NULL, 0);
    first[0] = '\0';
    for (steps = 0; steps < 40; steps++) {
        stage s, other;
        phi_str text;
        bool active;
        phi_arena_init(&arena, &memory, 0);
        stage_set(&s, rig_new(), 3);
        REQUIRE(stage_open(&s));
        judged(&s);
        s.actors[1].polls = 4;
        s.actors[2].polls = 8;
        s.actors[5].polls = 4;
        CHECK_EQ_INT(phi_evaluate(s.agent, &s.desc), PHI_OK);
        if (steps > 0) (void)rig_run(s.r, steps);
        active = stage_result(&s).status == PHI_BUSY;
        text = snapshot_of(s.agent, &arena);
        CHECK_EQ_INT(rig_run(s.r, 200), 0); /* it goes on unchanged */
        leavings(&s, now, sizeof now);
        if (steps == 0) memcpy(first, now, sizeof first);
        CHECK_EQ_STR(now, first);
        rig_free(s.r);
        REQUIRE(elsewhere(&other, text, 3));
        if (!active) {
            CHECK_EQ_INT(evaluate_resume(other.agent, &other.desc), PHI_NOT_FOUND);
            rig_free(other.r);
            phi_arena_free(&arena);
            continue;
        }
        text = snapshot_of(other.agent, &arena); /* it waits still, and is saved again */
        rig_free(other.r);
        REQUIRE(elsewhere(&other, text, 3));
        CHECK_EQ_INT(evaluate_resume(other.agent, &other.desc), PHI_OK);
        CHECK_EQ_INT(phi_prompt(other.agent, "x"), PHI_BUSY);
        CHECK_EQ_INT(rig_run(other.r, 300), 0);
        leavings(&other, now, sizeof now);
        if (!CHECK_EQ_STR(now, first)) printf("    steps %d\n", steps);
        CHECK_EQ_INT(other.actors[5].opens, 1); /* the judge's run is resumed, or begins */
        CHECK_EQ_INT(evaluate_resume(other.agent, &other.desc), PHI_NOT_FOUND);
        rig_free(other.r);
        phi_arena_free(&arena);
    }
}

/* A snapshot while the second of two branches runs. */
static phi_str midst(phi_arena *arena) {
    stage s;
    phi_str text;
    stage_set(&s, rig_new(), 2);
    (void)stage_open(&s);
    judged(&s);
    s.actors[2].hangs = true;
    CHECK_EQ_INT(phi_evaluate(s.agent, &s.desc), PHI_OK);
    (void)rig_run(s.r, 10);
    text = snapshot_of(s.agent, arena);
    rig_free(s.r);
    return text;
}

TEST(a_resume_that_does_not_fit_is_refused_and_waits_still) {
    phi_memory memory;
    phi_arena arena;
    stage s;
    phi_agent_desc bad;
    phi_str text;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    text = midst(&arena);
    REQUIRE(elsewhere(&s, text, 3));
    CHECK_EQ_INT(evaluate_resume(s.agent, &s.desc), PHI_BAD_ARG);
    CHECK_EQ_STR(words_of(s.r), "phi_evaluate: config_count is 3: expected 2");
    s.desc.config_count = 2;
    CHECK_EQ_INT(evaluate_resume(s.agent, NULL), PHI_BAD_ARG);
    bad = s.configs[1];
    bad.model.id = NULL;
    s.desc.configs = &bad;
    s.desc.config_count = 1;
    CHECK_EQ_INT(evaluate_resume(s.agent, &s.desc), PHI_BAD_ARG);
    s.desc.configs = &s.configs[1];
    s.desc.config_count = 2;
    CHECK_EQ_INT(evaluate_resume(s.agent, &s.desc), PHI_OK);
    CHECK_EQ_INT(evaluate_resume(s.agent, &s.desc), PHI_BUSY);
    CHECK_EQ_INT(rig_run(s.r, 200), 0);
    CHECK_EQ_STR(lane_texts(s.agent, NULL), "Why?|two");
    rig_free(s.r);
    REQUIRE(elsewhere(&s, text, 2)); /* another way to evaluate */
    s.desc.by = PHI_EVALUATE_FIRST;
    CHECK_EQ_INT(evaluate_resume(s.agent, &s.desc), PHI_OK);
    CHECK_EQ_INT(rig_run(s.r, 200), 0);
    CHECK_EQ_STR(lane_texts(s.agent, NULL), "Why?|one");
    CHECK_EQ_INT(s.actors[5].opens, 0);
    rig_free(s.r);
    REQUIRE(elsewhere(&s, text, 2)); /* the host goes on without it */
    CHECK_EQ_INT(phi_prompt(s.agent, "On"), PHI_OK);
    CHECK_EQ_INT(rig_run(s.r, 200), 0);
    CHECK_EQ_INT(evaluate_resume(s.agent, &s.desc), PHI_MISUSE);
    CHECK_EQ_STR(words_of(s.r), "phi_evaluate: the history has changed since the snapshot");
    stage_evaluate(&s); /* a new one takes its place */
    CHECK_EQ_INT(evaluate_resume(s.agent, &s.desc), PHI_NOT_FOUND);
    rig_free(s.r);
    phi_arena_free(&arena);
}

TEST(a_resumed_evaluation_forks_the_lane_that_was_active) {
    phi_memory memory;
    phi_arena arena;
    stage s, other;
    phi_str text;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    stage_set(&s, rig_new(), 2);
    REQUIRE(stage_open(&s));
    stage_evaluate(&s);
    s.actors[2].hangs = true;
    s.desc.prompt = "And?";
    judged(&s);
    CHECK_EQ_INT(phi_evaluate(s.agent, &s.desc), PHI_OK);
    (void)rig_run(s.r, 10);
    text = snapshot_of(s.agent, &arena);
    rig_free(s.r);
    REQUIRE(elsewhere(&other, text, 2));
    CHECK_EQ_INT(evaluate_resume(other.agent, &other.desc), PHI_OK);
    CHECK_STR(stage_result(&other).query, "And?");
    CHECK_EQ_INT(stage_result(&other).branches[0].original_count, 2);
    CHECK_EQ_INT(stage_result(&other).branches[0].status, PHI_OK);
    CHECK_STR(stage_result(&other).branches[0].text, "one");
    CHECK(phi_agent_alive(stage_result(&other).branches[0].agent));
    CHECK(phi_agent_get_info(stage_result(&other).branches[1].agent).running);
    CHECK_EQ_INT(rig_run(other.r, 300), 0);
    CHECK_EQ_STR(other.actors[5].asked,
                 "Prior conversation context:\nUser: Why?\nAssistant: one\n\nOriginal query:\nAnd?"
                 "\n\nResponse 1:\none\n\nResponse 2:\ntwo\n\nWhich response is best? Reply with "
                 "ONLY the response number (e.g., \"1\" or \"2\").");
    CHECK_EQ_STR(lane_texts(other.agent, NULL), "Why?|one|And?|two");
    CHECK_EQ_INT(stage_result(&other).total_usage.total_tokens, 120 + 130 + 160);
    rig_free(other.r);
    phi_arena_free(&arena);
}

TEST(a_resumed_evaluation_without_a_prompt_has_its_query) {
    phi_memory memory;
    phi_arena arena;
    stage s, other;
    phi_content blocks[2];
    phi_message message = text_message(PHI_ROLE_USER, blocks, "Which?");
    phi_str text;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    stage_set(&s, rig_new(), 2);
    REQUIRE(stage_open(&s));
    CHECK_EQ_INT(phi_prompt(s.agent, "Hello"), PHI_OK);
    CHECK_EQ_INT(rig_run(s.r, 100), 0);
    CHECK_EQ_INT(phi_thread_append(phi_agent_thread(s.agent), &message, 1, NULL), PHI_OK);
    judged(&s);
    s.desc.prompt = NULL;
    s.actors[2].hangs = true;
    CHECK_EQ_INT(phi_evaluate(s.agent, &s.desc), PHI_OK);
    (void)rig_run(s.r, 10);
    text = snapshot_of(s.agent, &arena);
    rig_free(s.r);
    REQUIRE(elsewhere(&other, text, 2));
    CHECK_EQ_INT(evaluate_resume(other.agent, &other.desc), PHI_OK);
    CHECK_EQ_INT(rig_run(other.r, 300), 0);
    CHECK(begins(other.actors[5].asked, "Prior conversation context:\nUser: Hello\n"
                                        "Assistant: own\n\nOriginal query:\nWhich?\n\nResponse 1"));
    rig_free(other.r);
    phi_arena_free(&arena);
}

TEST(a_resumed_evaluation_has_its_reservation_and_counts_requests_once) {
    phi_memory memory;
    phi_arena arena;
    stage s, other;
    phi_str text;
    phi_spending before;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    stage_set(&s, rig_new(), 2);
    s.own.budget.max_requests = 100;
    s.own.budget.max_tokens = 1000000;
    REQUIRE(stage_open(&s));
    judged(&s);
    s.actors[2].hangs = true;
    CHECK_EQ_INT(phi_evaluate(s.agent, &s.desc), PHI_OK);
    (void)rig_run(s.r, 10);
    text = snapshot_of(s.agent, &arena);
    before = phi_agent_get_info(s.agent).spending;
    CHECK_EQ_INT(before.requests, 3); /* two were made, and the judge's */
    rig_free(s.r);
    stage_set(&other, rig_new(), 2);
    other.own.budget = s.own.budget;
    judged(&other);
    other.agent = phi_agent_restore(rig_runtime(other.r), &other.own, text, PHI_RESTORE_RESUME);
    REQUIRE(other.agent.rt != NULL);
    CHECK_EQ_INT(evaluate_resume(other.agent, &other.desc), PHI_OK);
    CHECK_EQ_INT(phi_agent_get_info(other.agent).spending.requests, 3);
    CHECK(phi_agent_get_info(other.agent).spending.reserved_tokens > 1000);
    CHECK_EQ_INT(rig_run(other.r, 200), 0);
    CHECK_EQ_INT(stage_result(&other).selected, 1);
    CHECK(phi_agent_get_info(other.agent).spending.requests >=
          3); /* the second branch was asked again */
    CHECK(phi_agent_get_info(other.agent).spending.requests <= 4);
    CHECK_EQ_INT(phi_agent_get_info(other.agent).spending.reserved_tokens, 0);
    rig_free(other.r);
    phi_arena_free(&arena);
}

TEST(a_resumed_evaluation_can_be_aborted) {
    phi_memory memory;
    phi_arena arena;
    stage s;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    REQUIRE(elsewhere(&s, midst(&arena), 2));
    CHECK_EQ_INT(evaluate_resume(s.agent, &s.desc), PHI_OK);
    CHECK_EQ_INT(phi_abort(s.agent), PHI_OK);
    CHECK_EQ_INT(rig_run(s.r, 200), 0);
    CHECK_EQ_INT(stage_result(&s).status, PHI_CANCELLED);
    CHECK_EQ_INT(phi_prompt(s.agent, "On"), PHI_OK);
    CHECK_EQ_INT(rig_run(s.r, 200), 0);
    rig_free(s.r);
    phi_arena_free(&arena);
}

/* The text with one place of it changed. */
static phi_str changed(phi_arena *arena, phi_str text, const char *from, const char *to) {
    size_t at = phi__str_find(text, phi__str_find(text, 0, "\"attached\""), from);
    size_t old = strlen(from), now = strlen(to);
    char *out = (char *)phi_arena_alloc(arena, text.len + now + 1);
    if (!CHECK(at != SIZE_MAX)) return text;
    memcpy(out, text.at, at);
    memcpy(out + at, to, now);
    memcpy(out + at + now, text.at + at + old, text.len - at - old);
    return phi__str(out, text.len + now - old);
}

TEST(a_snapshot_that_contradicts_itself_is_refused) {
    static const struct {
        const char *from, *to;
        phi_status want;
    } rows[] = {{"\"loop_id\":\"s.play.a.1\"", "\"loop_id\":\"\"", PHI_PARSE},
                {"\"status\":0", "\"status\":5", PHI_PARSE},
                {"\"status\":0", "\"status\":-101", PHI_PARSE},
                {"\"status\":0", "\"status\":\"x\"", PHI_PARSE},
                {"\"forks\":\"default\"", "\"forks\":\"none\"", PHI_MISUSE},
                {"\"entries\":0", "\"entries\":9", PHI_MISUSE},
                {"\"view\":0", "\"view\":1", PHI_MISUSE},
                {"\"lane\":\"default\"", "\"lane\":\"x\"", PHI_MISUSE},
                {"\"branches\":[", "\"branches\":[{},", PHI_BAD_ARG},
                {"\"query\"", "\"quirk\"", PHI_OK}};
    phi_memory memory;
    phi_arena arena;
    phi_str text;
    size_t i;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    text = midst(&arena);
    for (i = 0; i < PHI__COUNT(rows); i++) {
        stage s;
        REQUIRE(elsewhere(&s, changed(&arena, text, rows[i].from, rows[i].to), 2));
        if (!CHECK_EQ_INT(evaluate_resume(s.agent, &s.desc), rows[i].want))
            printf("    row %d\n", (int)i);
        if (rows[i].want == PHI_PARSE)
            CHECK_EQ_STR(words_of(s.r), "phi_evaluate: the snapshot does not fit together");
        CHECK_EQ_INT(rig_run(s.r, 200), 0);
        CHECK_EQ_INT(phi_prompt(s.agent, "On"), PHI_OK);
        CHECK_EQ_INT(rig_run(s.r, 200), 0);
        rig_free(s.r);
    }
    phi_arena_free(&arena);
}

TEST(a_branch_that_is_missing_from_a_snapshot_counts_as_cancelled) {
    phi_memory memory;
    phi_arena arena;
    stage s;
    phi_str text;
    phi_evaluation e;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    stage_set(&s, rig_new(), 2);
    REQUIRE(stage_open(&s));
    judged(&s);
    s.actors[1].hangs = s.actors[2].hangs = true;
    CHECK_EQ_INT(phi_evaluate(s.agent, &s.desc), PHI_OK);
    (void)rig_run(s.r, 5);
    phi_agent_free(stage_result(&s).branches[0].agent);
    text = snapshot_of(s.agent, &arena);
    rig_free(s.r);
    REQUIRE(elsewhere(&s, text, 2));
    CHECK_EQ_INT(evaluate_resume(s.agent, &s.desc), PHI_OK);
    CHECK_EQ_INT(rig_run(s.r, 200), 0);
    e = stage_result(&s);
    CHECK_EQ_INT(e.branches[0].status, PHI_CANCELLED);
    CHECK_EQ_INT(e.selected, 1);
    rig_free(s.r);
    text = changed(&arena, text, "\"status\":-7", "\"status\":-4");
    REQUIRE(elsewhere(&s, text, 2)); /* no such agent, and no outcome */
    (void)evaluate_resume(s.agent, &s.desc);
    CHECK_EQ_INT(rig_run(s.r, 200), 0);
    rig_free(s.r);
    phi_arena_free(&arena);
}

/* Snapshots are texts, and anybody can change a text. */
TEST(a_snapshot_that_was_changed_is_refused_or_taken_and_never_more) {
    phi_memory memory;
    phi_arena arena;
    uint32_t state = 11;
    phi_str text;
    size_t at;
    char *copy;
    int i;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    text = midst(&arena);
    at = phi__str_find(text, 0, "\"attached\"");
    REQUIRE(at != SIZE_MAX);
    copy = (char *)phi_arena_alloc(&arena, text.len + 1);
    for (i = 0; i < 400; i++) {
        stage s;
        size_t place = at + test_random(&state) % (text.len - at);
        memcpy(copy, text.at, text.len + 1);
        copy[place] = "0x\"{}[],:9-ntf"[test_random(&state) % 14];
        if (elsewhere(&s, phi__str(copy, text.len), 2)) {
            if (evaluate_resume(s.agent, &s.desc) == PHI_OK) {
                CHECK_EQ_INT(rig_run(s.r, 300), 0);
                CHECK(stage_result(&s).status != PHI_BUSY);
            }
        }
        rig_free(s.r);
    }
    phi_arena_free(&arena);
}

TEST(each_allocation_may_fail_in_a_snapshot_and_in_a_resume) {
    phi_allocator allocator = test_allocator();
    phi_memory memory, kept;
    phi_arena arena, keeps;
    phi_str text;
    int n = 0;
    bool tripped = true;
    phi_memory_init(&memory, &allocator, 0);
    phi_memory_init(&kept, NULL, 0);
    phi_arena_init(&keeps, &kept, 0);
    {
        stage s;
        stage_set(&s, rig_new(), 2);
        REQUIRE(stage_open(&s));
        judged(&s);
        s.actors[2].hangs = true;
        CHECK_EQ_INT(phi_evaluate(s.agent, &s.desc), PHI_OK);
        (void)rig_run(s.r, 10);
        for (; tripped && n < 2000; n++) {
            phi_status status;
            phi_arena_init(&arena, &memory, 0);
            test_alloc_fail_at(n);
            status = phi_agent_snapshot(s.agent, &arena, &text);
            tripped = test_alloc_tripped();
            test_alloc_fail_at(-1);
            CHECK_EQ_INT(status, tripped ? PHI_NO_MEMORY : PHI_OK);
            phi_arena_free(&arena);
        }
        CHECK(n > 10 && n < 2000);
        rig_free(s.r);
    }
    text = midst(&keeps);
    tripped = true;
    for (n = 0; tripped && n < 2000; n++) {
        stage s;
        phi_status status;
        REQUIRE(elsewhere(&s, text, 2));
        test_alloc_fail_at(n);
        status = evaluate_resume(s.agent, &s.desc);
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        if (status != PHI_OK) {
            CHECK_EQ_INT(status, PHI_NO_MEMORY);
            CHECK_EQ_INT(evaluate_resume(s.agent, &s.desc), PHI_OK);
        }
        CHECK_EQ_INT(rig_run(s.r, 200), 0);
        CHECK_EQ_STR(lane_texts(s.agent, NULL), "Why?|two");
        rig_free(s.r);
    }
    CHECK(n > 50 && n < 2000);
    phi_arena_free(&keeps);
}

TEST_MAIN(TEST_ENTRY(each_allocation_may_fail_before_it_begins),
          TEST_ENTRY(each_allocation_may_fail_while_it_goes_on),
          TEST_ENTRY(in_any_order_of_ends_the_result_and_the_log_are_the_same),
          TEST_ENTRY(a_snapshot_at_any_step_resumes_to_the_same_end),
          TEST_ENTRY(a_resume_that_does_not_fit_is_refused_and_waits_still),
          TEST_ENTRY(a_resumed_evaluation_forks_the_lane_that_was_active),
          TEST_ENTRY(a_resumed_evaluation_without_a_prompt_has_its_query),
          TEST_ENTRY(a_resumed_evaluation_has_its_reservation_and_counts_requests_once),
          TEST_ENTRY(a_resumed_evaluation_can_be_aborted),
          TEST_ENTRY(a_snapshot_that_contradicts_itself_is_refused),
          TEST_ENTRY(a_branch_that_is_missing_from_a_snapshot_counts_as_cancelled),
          TEST_ENTRY(a_snapshot_that_was_changed_is_refused_or_taken_and_never_more),
          TEST_ENTRY(each_allocation_may_fail_in_a_snapshot_and_in_a_resume))
