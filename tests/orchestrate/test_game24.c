/* test_game24.c - the game of 24 with a scripted model: recorded, and played again from the tape with
   the same events and the same log; the best never falls, and calls stay within the reserved budget. */
#include "support/outcome.h"
#include "think.h"
#include "record/event_json.h"

#include "record/replay.h"
#include "agent/agent_history.h"
#include "agent/agent_info.h"

typedef struct text {
    char at[1 << 18];
    size_t len;
} text;

static void add(text *t, const char *bytes, size_t n) {
    if (n >= sizeof t->at - t->len) abort();
    memcpy(t->at + t->len, bytes, n);
    t->len += n;
    t->at[t->len] = '\0';
}

static phi_status write_tape(void *user_data, const char *bytes, size_t len) {
    add((text *)user_data, bytes, len);
    return PHI_OK;
}

typedef struct take {
    text tape, events;
    double best; /* of the last progress; -1: none yet */
    uint64_t calls, most;
    size_t progress;
    uint64_t hash;
    size_t requests;
    char answer[100], result[4000];
} take;

static void watch(void *user_data, const phi_event *e) {
    take *t = (take *)user_data;
    phi_memory memory;
    phi_arena arena;
    phi_str json = phi_str_of("");
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(phi_event_to_json(e, &arena, &json), PHI_OK);
    add(&t->events, json.at, json.len);
    add(&t->events, "\n", 1);
    phi_arena_free(&arena);
    if (e->kind != PHI_EV_STRATEGY) return;
    t->progress++;
    CHECK(e->strategy->calls <= e->strategy->most_calls && e->strategy->calls >= t->calls);
    CHECK(!e->strategy->has_score || e->strategy->score >= t->best);
    CHECK(t->best < 0 || e->strategy->has_score);
    t->best = e->strategy->has_score ? e->strategy->score : -1.0;
    t->calls = e->strategy->calls;
    t->most = e->strategy->most_calls;
}

/* Numbers 3, 4, 5 and 10. Scores rise and fall; the whole solution comes late. */
static void script_tree(rig *r) {
    static const char *const answers[] = {
        "{\"thoughts\":[\"4 * 5 = 20 (3 10 20)\",\"10 / 5 = 2 (2 3 4)\",\"3 + 4 = 7 (5 7 10)\"]}",
        "{\"scores\":{\"t1\":0.6,\"t2\":0.5,\"t3\":0.1}}",
        "{\"thoughts\":[\"20 + 10 = 30 (3 30)\",\"20 + 3 = 23 (10 23)\"]}",
        "{\"scores\":{\"t1\":0.3,\"t2\":0.2}}",
        "1. 3 * 4 = 12 (2 12)\n2. 2 + 3 = 5 (4 5)",
        "1. 0.9\n2. 0.4",
        "{\"thoughts\":[\"2 * 12 = 24: (10 / 5) * (3 * 4)\",\"12 - 2 = 10\"]}",
        "```json\n{\"scores\":{\"t1\":1.0,\"t2\":0.0}}\n```"};
    size_t i;
    for (i = 0; i < PHI__COUNT(answers); i++) rig_says(r, answers[i]);
}

static void script_search(rig *r) {
    rig_says(r, "Trying promising first operation:\n1. 4 * 5 = 20 : (3, 10, 20)\n"
                "Step 1: 20 + 10 = 30, then 27 or 33. Step back.\n"
                "Trying another promising first operation:\n2. 10 / 5 = 2 : (2, 3, 4)\n"
                "Step 2: 3 * 4 = 12 and 2 * 12 = 24. Found it.\nanswer: (10 / 5) * (3 * 4)");
}

/* Records (from NULL), or plays a tape without a script. */
static void shoot(take *t, const phi_strategy *strategy, const void *options,
                  void (*script)(rig *r), const text *from) {
    phi_runtime_desc runtime;
    phi_tape_desc how;
    phi_tape_divergence divergence;
    phi_agent agent;
    phi_str result;
    think th;
    int i;
    memset(t, 0, sizeof *t);
    t->best = -1.0;
    memset(&runtime, 0, sizeof runtime);
    memset(&how, 0, sizeof how);
    how.allocator = test_allocator();
    how.write_fn = write_tape;
    how.user_data = &t->tape;
    runtime.tape = from == NULL ? phi_tape_record(&how)
                                : phi_tape_play(&how, phi__str(from->at, from->len), NULL);
    if (!CHECK(runtime.tape != NULL)) return;
    think_begin(&th, rig_new_with(&runtime), strategy, options);
    rig_chunk(th.r, 64);
    th.agent_desc.budget.max_requests = 60;
    if (from == NULL) script(th.r);
    agent = think_agent(&th);
    rig_watch(th.r, watch, t);
    CHECK_EQ_INT(phi_prompt(agent, "Make 24 of 3, 4, 5 and 10."), PHI_OK);
    for (i = 0; i < 3000 && rig_run(th.r, 1) > 0; i++) rig_pass_ms(th.r, 6);
    CHECK(i < 3000);
    t->hash = phi_thread_hash(phi_agent_thread(agent));
    t->requests = rig_requests(th.r);
    (void)snprintf(t->answer, sizeof t->answer, "%s", think_answer(agent));
    if (CHECK_EQ_INT(strategy_result(agent, &th.arena, &result), PHI_OK))
        (void)snprintf(t->result, sizeof t->result, "%.*s", (int)result.len, result.at);
    CHECK_EQ_INT(phi_agent_get_info(agent).spending.reserved_tokens, 0);
    CHECK(phi_agent_get_info(agent).spending.requests <= 60);
    think_end(&th);
    if (!CHECK_EQ_INT(phi_tape_end(runtime.tape, &divergence), PHI_OK))
        printf("  %.*s\n", (int)divergence.what.len, divergence.what.at);
    phi_tape_free(runtime.tape);
}

static void check_replay(const phi_strategy *strategy, const void *options, void (*script)(rig *r),
                         const char *answer, uint64_t calls) {
    static take recorded, played;
    shoot(&recorded, strategy, options, script, NULL);
    CHECK_EQ_STR(recorded.answer, answer);
    CHECK_EQ_INT(recorded.requests, calls);
    CHECK(recorded.progress > 0 && recorded.requests <= recorded.most);
    shoot(&played, strategy, options, NULL, &recorded.tape);
    CHECK_EQ_INT(played.requests, 0);
    CHECK_EQ_STR(played.answer, answer);
    CHECK_EQ_STR(played.result, recorded.result);
    CHECK(played.hash == recorded.hash);
    CHECK_EQ_STR(played.events.at, recorded.events.at);
}

TEST(a_tree_search_is_replayed_and_its_best_never_falls) {
    phi_tot_options options;
    options = *think_tot();
    options.convergence_window = PHI_UNLIMITED;
    check_replay(phi_strategy_tot(), &options, script_tree, "2 * 12 = 24: (10 / 5) * (3 * 4)", 8);
}

TEST(an_algorithmic_search_is_replayed) {
    check_replay(phi_strategy_aot(), NULL, script_search, "(10 / 5) * (3 * 4)", 1);
}

static void script_graph(rig *r) {
    rig_says(r, "1. 10 / 5 = 2 (2 3 4)\n2. 4 * 5 = 20 (3 10 20)");
    rig_says(r, "CONNECTION: [2] -> [1] : the first one leads further");
    rig_says(r, "1. 3 * 4 = 12 (2 12)");
    rig_says(r, "NONE");
    rig_says(r, "(10 / 5) * (3 * 4)");
}

TEST(a_graph_is_replayed) {
    check_replay(phi_strategy_got(), NULL, script_graph, "(10 / 5) * (3 * 4)", 5);
}

static void script_reviews(rig *r) {
    rig_says(r, "Answer: 3 * 4 + 10 + 5");
    rig_says(r, "ISSUE: that is 27\nSCORE: 0.5");
    rig_says(r, "Not 27.");
    rig_says(r, "Answer: 4 * 5 + 10 - 3");
    rig_says(r, "ISSUE: that is 27, too\nSCORE: 0.3"); /* the best does not fall */
    rig_says(r, "Divide first.");
    rig_says(r, "Answer: (10 / 5) * (3 * 4)");
    rig_says(r, "STRENGTH: 2 * 12\nSCORE: 1.0");
}

TEST(reviews_are_replayed_and_the_best_never_falls) {
    check_replay(phi_strategy_trm(), NULL, script_reviews, "(10 / 5) * (3 * 4)", 8);
}

TEST_MAIN(TEST_ENTRY(a_tree_search_is_replayed_and_its_best_never_falls),
          TEST_ENTRY(an_algorithmic_search_is_replayed), TEST_ENTRY(a_graph_is_replayed),
          TEST_ENTRY(reviews_are_replayed_and_the_best_never_falls))
