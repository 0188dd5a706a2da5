/* test_tot.c - Tree-of-Thoughts: the reading of answers, and the machine. */
#include "orchestrate/machine_in.h"

#include "machine_support.h"

/* ---- answers ---- */

typedef struct thought_row {
    const char *text, *thoughts; /* joined by '|' */
    bool json;
} thought_row;

TEST(thoughts_are_read_as_json_else_by_lines) {
    static const thought_row rows[] = {
        {"{\"thoughts\":[{\"id\":\"t1\",\"content\":\"a\"},{\"content\":\" b \"}]}", "a|b", true},
        {"{\"thoughts\":[\"a\",\"b\"]}", "a|b", true},
        {"{\"thoughts\":[\"\",\"  \",{\"content\":\"\"},{\"x\":1},3,null,\"b\"]}", "b", true},
        {"Here:\n```json\n{\"thoughts\":[\"a\"]}\n```\nDone {x}", "a", true},
        {"```\nno\n```\n```\n{\"thoughts\":[\"a\"]}\n```", "a", true},
        {"So: {\"thoughts\":[\"a\"]} ok", "a", true},
        {"{\"thoughts\":[\"a\",\"b\",\"c\",\"d\",\"e\"]}", "a|b|c|d", true}, /* at most four */
        {"1. a\n2. b", "a|b", false},
        {"1: a\n2) b\nmore of b\n\n3. c\n", "a|b\nmore of b|c", false},
        {"intro\n**1.** a\n 2. b", "a|b", false},
        {"1. \n2. b", "b", false},
        {"1. a\n2. b\n3. c\n4. d\n5. e", "a|b|c|d", false},
        {"{\"thoughts\":[]}\n1. a", "a", false},
        {"{\"thoughts\":[]}", "", false},
        {"{\"thoughts\":[\"a\"", "", false},
        {"no list", "", false},
        {"", "", false}};
    size_t i, j;
    for (i = 0; i < PHI__COUNT(rows); i++) {
        phi_memory memory;
        phi_arena arena;
        phi_str out[4];
        phi__tot_read read;
        phi__buf all;
        phi_allocator allocator = test_allocator();
        phi_memory_init(&memory, &allocator, 0);
        phi_arena_init(&arena, &memory, 0);
        phi__buf_init(&all, &memory);
        read = phi__tot_parse_thoughts(phi_str_of(rows[i].text), &arena, out, 4);
        for (j = 0; j < read.count; j++) {
            if (j > 0) phi__buf_char(&all, '|');
            phi__buf_add_str(&all, out[j]);
        }
        CHECK_STR(phi__buf_str(&all), rows[i].thoughts);
        CHECK_EQ_INT(read.json, rows[i].json);
        phi__buf_free(&all);
        phi_arena_free(&arena);
    }
}

typedef struct score_row {
    const char *text;
    size_t count;
    int scores[3]; /* hundredths */
    bool json;
} score_row;

TEST(scores_are_read_as_json_else_by_lines_and_one_at_least_must_be_there) {
    static const score_row rows[] = {
        {"{\"scores\":{\"t1\":0.8,\"t2\":0.25,\"t3\":1}}", 3, {80, 25, 100}, true},
        {"{\"scores\":{\"1\":0.8,\"t2\":\"0.25\",\"third\":\" .5 \"}}", 3, {80, 25, 50}, true},
        {"{\"scores\":{\"t1\":7,\"t2\":-1}}", 2, {100, 0, 50}, true}, /* clamped; t3 is left out */
        {"{\"scores\":{\"t2\":\"high\",\"t3\":0.1}}", 1, {50, 50, 10}, true},
        {"```json\n{\"scores\":{\"t1\":0.8}}\n```", 1, {80, 50, 50}, true},
        {"1. 0.9\n2: 0.1\n3) .4", 3, {90, 10, 40}, false},
        {"2. 0.1 because\n2. 0.2", 1, {50, 20, 50}, false},
        {"1. 0.8.\n0. 0.3\n4. 0.3", 1, {80, 50, 50}, false},
        {"1. 5e", 1, {100, 50, 50}, false},
        /* nothing matches: it is repaired, not scored 0.5 */
        {"{\"scores\":{\"a\":0.8}}", 0, {50, 50, 50}, false},
        {"{\"scores\":{}}", 0, {50, 50, 50}, false},
        {"{\"scores\":[0.1]}", 0, {50, 50, 50}, false},
        {"all good", 0, {50, 50, 50}, false},
        {"1. good", 0, {50, 50, 50}, false},
        {"", 0, {50, 50, 50}, false}};
    phi_str thoughts[3];
    size_t i, j;
    thoughts[0] = PHI__LIT("first");
    thoughts[1] = PHI__LIT("second");
    thoughts[2] = PHI__LIT("third");
    for (i = 0; i < PHI__COUNT(rows); i++) {
        phi_memory memory;
        phi_arena arena;
        phi__tot_read read;
        double scores[3];
        phi_allocator allocator = test_allocator();
        phi_memory_init(&memory, &allocator, 0);
        phi_arena_init(&arena, &memory, 0);
        read = phi__tot_parse_scores(phi_str_of(rows[i].text), &arena, thoughts, 3, scores);
        CHECK_EQ_INT(read.count, rows[i].count);
        CHECK_EQ_INT(read.json, rows[i].json);
        for (j = 0; j < 3; j++) CHECK_EQ_INT((int)(scores[j] * 100.0 + 0.5), rows[i].scores[j]);
        phi_arena_free(&arena);
    }
}

/* ---- the machine ---- */

static bool begins_with(machine *m, const char *text) {
    return phi__str_starts(phi__buf_str(&m->ask), text);
}

/* Options for searches that are answered by hand: three thoughts a step, scored once. */
static const phi_tot_options *once(void) {
    static phi_tot_options options;
    options.branching_factor = 3;
    options.evaluations = 1;
    return &options;
}

static const char *const three = "{\"thoughts\":[\"a\",\"b\",\"c\"]}";

TEST(defaults_are_those_of_the_table) {
    phi_tot_options o = phi__tot_options_of(NULL);
    CHECK(o.traversal == PHI_TOT_BFS);
    CHECK(o.branching_factor == 8 && o.max_depth == 3 && o.top_k == 3 && o.min_depth == 2);
    CHECK(o.max_nodes == 100 && o.max_duration_ms == 0 && o.beam_width == 5);
    CHECK(o.evaluations == 3 && o.value_threshold > 0.39 && o.value_threshold < 0.41);
    CHECK(o.early_success_threshold >= 1.0 && o.early_success_threshold <= 1.0);
    CHECK(o.convergence_window == PHI_UNLIMITED && o.max_parse_retries == 1 &&
          o.max_tool_rounds == 3);
    CHECK(o.min_score_improvement > 0.019 && o.min_score_improvement < 0.021 && !o.tools);
}

TEST(a_search_generates_scores_and_expands_until_a_thought_succeeds) {
    int reload;
    for (reload = 0; reload < 2; reload++) {
        machine m;
        machine_new(&m, phi_strategy_tot(), once(), reload == 1);
        machine_begin(&m, "make 24");
        machine_answer(&m, three);
        machine_answer(&m, "{\"scores\":{\"t1\":0.2,\"t2\":0.6,\"t3\":0.4}}");
        machine_answer(&m, "1. d\n2. e");
        machine_answer(&m, "1. 1.0\n2. 0.5");
        CHECK_EQ_STR(machine_text(&m.log),
                     "emit generating\n"
                     "ask 1: Problem: make 24||Propose 3 different approaches.\n"
                     "emit evaluating\n"
                     "ask 2: Problem: make 24||Thoughts to score:|1. t1: a|2. t2: b|3. t3: c\n"
                     "emit generating\n"
                     "ask 3: Problem: make 24|Step 1: b||Propose 3 different next steps.\n"
                     "emit evaluating\n"
                     "ask 4: Problem: make 24|Step 1: b||Thoughts to score:|1. t1: d|2. t2: e\n"
                     "done: d\n");
        CHECK_EQ_STR(machine_text(&m.result),
                     "{\"best\":{\"node_id\":4,\"content\":\"d\",\"score\":1.0,\"depth\":2,"
                     "\"finished\":true,\"path_ids\":[2,4],\"path_text\":[\"b\",\"d\"]},"
                     "\"candidates\":[{\"node_id\":4,\"content\":\"d\",\"score\":1.0,"
                     "\"depth\":2,\"finished\":true,\"path_ids\":[2,4],\"path_text\":[\"b\","
                     "\"d\"]},{\"node_id\":5,\"content\":\"e\",\"score\":0.5,\"depth\":2,"
                     "\"finished\":false,\"path_ids\":[2,5],\"path_text\":[\"b\",\"e\"]},"
                     "{\"node_id\":3,\"content\":\"c\",\"score\":0.4,\"depth\":1,"
                     "\"finished\":false,\"path_ids\":[3],\"path_text\":[\"c\"]}],"
                     "\"solution_path\":[\"b\",\"d\"],"
                     "\"termination\":{\"reason\":\"threshold\",\"status\":\"completed\","
                     "\"duration_ms\":0,\"depth_reached\":2,\"node_count\":6},"
                     "\"tree\":{\"node_count\":6,\"frontier_size\":4,"
                     "\"traversal_strategy\":\"bfs\",\"max_depth\":3,"
                     "\"branching_factor\":3},\"usage\":{\"input\":40,\"output\":20,"
                     "\"reasoning\":0,\"cache_read\":0,\"cache_write\":0,"
                     "\"total_tokens\":60},\"diagnostics\":{\"parser_mode\":\"regex\","
                     "\"parse_retries\":{\"generation\":0,\"evaluation\":0},"
                     "\"parser_errors\":0,\"pruned\":0,\"tool_rounds\":{},"
                     "\"convergence\":{\"window\":null,\"min_score_improvement\":0.02,"
                     "\"recent_best_scores\":[]},\"best_node_id\":4}}");
        machine_free(&m);
    }
}

/* Two thoughts an expansion, named by their parent: "x1", "x2"; scores by a table. */
static void search(machine *m, const double *scores, size_t count) {
    size_t next = 0;
    char text[200];
    while (!m->over && m->status == PHI_OK && next + 1 < count) {
        (void)snprintf(text, sizeof text, "{\"thoughts\":[\"n%u\",\"n%u\"]}", (unsigned)next + 1,
                       (unsigned)next + 2);
        machine_answer(m, text);
        (void)snprintf(text, sizeof text, "{\"scores\":{\"t1\":%.2f,\"t2\":%.2f}}", scores[next],
                       scores[next + 1]);
        machine_answer(m, text);
        next += 2;
    }
}

typedef struct walk {
    phi_tot_traversal traversal;
    uint32_t beam;
    double threshold;
    const char *order; /* of expansion */
} walk;

TEST(traversals_expand_in_their_order_and_depth_ends_a_branch_alone) {
    static const double scores[] = {0.3, 0.2, 0.1, 0.9, 0.5, 0.4, 0.3,
                                    0.2, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1};
    static const walk walks[] = {{PHI_TOT_BFS, 9, -1.0, " n1 n2 n4 n5 n6 n3"},
                                 {PHI_TOT_BFS, 3, -1.0, " n1 n2 n4 n5 n6"},
                                 {PHI_TOT_BFS, 1, -1.0, " n1 n4"},
                                 {PHI_TOT_DFS, 0, -1.0, " n1 n4 n3 n2 n9 n10"},
                                 {PHI_TOT_DFS, 0, 0.15, " n1 n4 n2 n7 n8"},
                                 {PHI_TOT_DFS, 0, 0.25, " n1 n4"}};
    size_t i;
    int reload;
    for (i = 0; i < 2 * PHI__COUNT(walks); i++) {
        phi_tot_options options;
        machine m;
        phi__buf order;
        const char *line;
        reload = (int)(i % 2);
        options = *once();
        options.traversal = walks[i / 2].traversal;
        options.beam_width = walks[i / 2].beam;
        options.value_threshold = walks[i / 2].threshold;
        options.branching_factor = 2;
        options.convergence_window = PHI_UNLIMITED;
        machine_new(&m, phi_strategy_tot(), &options, reload == 1);
        phi__buf_init(&order, &m.memory);
        machine_begin(&m, "p");
        search(&m, scores, PHI__COUNT(scores));
        CHECK(m.over);
        CHECK_EQ_STR(machine_result(&m, "termination.reason"), "max_depth");
        CHECK_EQ_STR(machine_result(&m, "termination.status"), "completed");
        CHECK_EQ_STR(machine_result(&m, "best.depth"), "3"); /* though n4 has a higher score */
        line = machine_text(&m.log);
        while ((line = strstr(line, "||Propose")) != NULL) {
            const char *from = line;
            while (from[-1] != ' ') from--;
            if (*from == 'n') {
                phi__buf_char(&order, ' ');
                phi__buf_add(&order, from, (size_t)(line - from));
            }
            line++;
        }
        CHECK_STR(phi__buf_str(&order), walks[i / 2].order);
        phi__buf_free(&order);
        machine_free(&m);
    }
}

typedef struct stop_row {
    uint32_t max_nodes, max_duration, calls_left, window;
    double threshold;
    const char *reason, *status;
} stop_row;

TEST(each_reason_ends_the_search_with_the_best) {
    static const double scores[] = {0.3, 0.2, 0.31, 0.1, 0.5, 0.4, 0.3, 0.2};
    static const stop_row rows[] = {
        {5, 0, PHI_UNLIMITED, PHI_UNLIMITED, 0.0, "max_nodes", "unfinished"},
        {4, 0, PHI_UNLIMITED, PHI_UNLIMITED, 0.0, "max_nodes",
         "unfinished"}, /* the second of two is cut */
        {0, 5, PHI_UNLIMITED, PHI_UNLIMITED, 0.0, "max_duration", "unfinished"},
        {0, 0, PHI_UNLIMITED, PHI_UNLIMITED, 0.31, "threshold", "completed"}};
    size_t i;
    for (i = 0; i < PHI__COUNT(rows); i++) {
        phi_tot_options options;
        machine m;
        options = *once();
        options.branching_factor = 2;
        options.max_nodes = rows[i].max_nodes;
        options.max_duration_ms = rows[i].max_duration;
        options.early_success_threshold = rows[i].threshold;
        options.convergence_window = rows[i].window;
        machine_new(&m, phi_strategy_tot(), &options, i % 2 == 1);
        machine_begin(&m, "p");
        search(&m, scores, 2);
        m.env.elapsed_ms = 5;
        if (rows[i].max_duration != 0)
            machine_answer(&m, "{\"thoughts\":[\"x\"]}");
        else
            search(&m, scores + 2, 2);
        CHECK(m.over);
        CHECK_EQ_STR(machine_result(&m, "termination.reason"), rows[i].reason);
        CHECK_EQ_STR(machine_result(&m, "termination.status"), rows[i].status);
        if (rows[i].max_nodes != 0)
            CHECK_EQ_INT(atoi(machine_result(&m, "tree.node_count")), rows[i].max_nodes);
        machine_free(&m);
    }
}

TEST(without_calls_or_when_stopped_the_best_so_far_is_the_answer) {
    machine m;
    machine_new(&m, phi_strategy_tot(), once(), true);
    machine_begin(&m, "p");
    machine_answer(&m, three);
    m.env.calls_left = 0;
    machine_answer(&m, "{\"scores\":{\"t2\":0.7}}");
    CHECK_EQ_STR(machine_result(&m, "termination.reason"), "max_calls");
    CHECK_EQ_STR(machine_result(&m, "best.content"), "b");
    machine_free(&m);
    machine_new(&m, phi_strategy_tot(), once(), true);
    machine_begin(&m, "p");
    machine_stop(&m); /* the problem itself is no answer */
    CHECK(strstr(machine_text(&m.log), "fail: ended before a thought was scored\n") != NULL);
    CHECK_EQ_STR(machine_result(&m, "best"), "null");
    CHECK_EQ_STR(machine_result(&m, "termination.reason"), "stopped");
    machine_free(&m);
}

TEST(an_answer_that_cannot_be_read_is_repaired_once_a_call) {
    machine m;
    machine_new(&m, phi_strategy_tot(), once(), true);
    machine_begin(&m, "p");
    machine_answer(&m, "prose");
    CHECK(!m.call.tools);
    machine_answer(&m, three);
    machine_answer(&m, "{\"scores\":{\"x\":1}}"); /* no id matches */
    machine_answer(&m, "{\"scores\":{\"t1\":0.1}}");
    machine_answer(&m, "prose again"); /* another call, another repair */
    machine_answer(&m, "and again");
    CHECK_EQ_STR(
        machine_text(&m.log),
        "emit generating\nask 1: Problem: p||Propose 3 different approaches.\n"
        "emit repairing\nask 2: The shape: "
        "{\"thoughts\":[{\"id\":\"t1\",\"content\":\"...\"}]}|The text:|prose\n"
        "emit evaluating\nask 3: Problem: p||Thoughts to score:|1. t1: a|2. t2: b|3. t3: c\n"
        "emit repairing\nask 4: The shape: {\"scores\":{\"t1\":0.75}}|The ids: t1, t2, t3|"
        "The text:|{\"scores\":{\"x\":1}}\n"
        "emit generating\nask 5: Problem: p|Step 1: b||Propose 3 different next steps.\n"
        "emit repairing\nask 6: The shape: "
        "{\"thoughts\":[{\"id\":\"t1\",\"content\":\"...\"}]}|The text:|prose again\n"
        "fail: the model's thoughts could not be read\n");
    CHECK_EQ_STR(machine_result(&m, "diagnostics.parse_retries"),
                 "{\"generation\":2,\"evaluation\":1}");
    CHECK_EQ_STR(machine_result(&m, "diagnostics.error"),
                 "{\"type\":\"parse_failed\",\"phase\":\"generating\",\"reason\":\"no_thoughts\"}");
    CHECK_EQ_STR(machine_result(&m, "termination.status"), "error");
    CHECK_EQ_STR(machine_result(&m, "best.content"), "b");
    machine_free(&m);
}

TEST(no_repair_means_none) {
    machine m;
    phi_tot_options options;
    options = *once();
    options.no_repair = true;
    machine_new(&m, phi_strategy_tot(), &options, false);
    machine_begin(&m, "p");
    machine_answer(&m, "prose");
    CHECK(m.over && m.asks == 1);
    machine_free(&m);
}

static bool no_b(void *user_data, const phi_strategy_node *node) {
    phi__buf *seen = (phi__buf *)user_data;
    phi__buf_printf(seen, "%u<%u@%u ", (unsigned)node->id, (unsigned)node->parent,
                    (unsigned)node->depth);
    phi__buf_add_str(seen, node->content);
    phi__buf_char(seen, ';');
    CHECK_STR(node->problem, "p");
    CHECK(!node->has_score);
    return phi__str_is(node->content, "b");
}

TEST(the_hosts_prune_callback_leaves_thoughts_out_before_they_are_scored) {
    machine m;
    phi__buf seen;
    machine_new(&m, phi_strategy_tot(), once(), true);
    phi__buf_init(&seen, &m.memory);
    m.env.prune_fn = no_b;
    m.env.user_data = &seen;
    machine_begin(&m, "p");
    machine_answer(&m, three);
    CHECK_STR(phi__buf_str(&seen), "1<0@1 a;2<0@1 b;2<0@1 c;");
    phi__buf_clear(&seen);
    machine_answer(&m, "{\"scores\":{\"t1\":0.3,\"t2\":0.2}}");
    machine_answer(&m, "1. b"); /* all of them: the next node is expanded, without a score */
    CHECK_STR(phi__buf_str(&seen), "3<1@2 b;");
    machine_answer(&m, "1. b");
    CHECK(strstr(machine_text(&m.log), "Step 1: a||Propose") != NULL);
    CHECK(strstr(machine_text(&m.log), "Step 1: c||Propose") != NULL);
    CHECK(strstr(machine_text(&m.log), "done: a\n") != NULL);
    CHECK_EQ_STR(machine_result(&m, "diagnostics.pruned"), "3");
    phi__buf_free(&seen);
    machine_free(&m);
}

TEST(tools_are_offered_and_one_round_too_many_is_an_error) {
    machine m;
    phi_tot_options options;
    phi_strategy_event event;
    options = *once();
    options.tools = true;
    machine_new(&m, phi_strategy_tot(), &options, true);
    machine_begin(&m, "p");
    CHECK(m.call.tools && m.call.max_tool_rounds == 3);
    memset(&event, 0, sizeof event);
    event.kind = PHI_STRATEGY_ANSWER;
    event.call_id = 1;
    event.text = phi_str_of(three);
    event.tool_rounds = 2;
    machine_event(&m, &event);
    memset(&event, 0, sizeof event);
    event.kind = PHI_STRATEGY_FAILED;
    event.call_id = 2;
    event.status = PHI_LIMIT;
    event.tool_rounds = 4;
    machine_event(&m, &event);
    CHECK(strstr(machine_text(&m.log), "fail: max_tool_round_trips_reached\n") != NULL);
    CHECK_EQ_STR(machine_result(&m, "diagnostics.tool_rounds"), "{\"1\":2,\"2\":4}");
    CHECK_EQ_STR(machine_result(&m, "diagnostics.error"), "max_tool_round_trips_reached");
    machine_free(&m);
}

TEST(stale_answers_change_nothing_and_a_failed_call_is_the_error) {
    machine m;
    machine_new(&m, phi_strategy_tot(), once(), true);
    machine_begin(&m, "p");
    machine_answer(&m, three);
    machine_answer_str(&m, 1, phi_str_of(three));
    machine_answer_str(&m, 9, phi_str_of(three));
    CHECK_EQ_INT(m.asks, 2);
    machine_fail(&m, PHI_NETWORK, "gone", "");
    CHECK(strstr(machine_text(&m.log), "fail: gone\n") != NULL);
    machine_answer(&m, three);
    CHECK_EQ_INT(m.asks, 2);
    machine_free(&m);
}

TEST(each_call_has_its_prompt_or_the_options) {
    machine m;
    phi_tot_options options;
    options = *once();
    options.has_temperature = true;
    options.temperature = 0.5;
    options.max_tokens = 9;
    options.timeout_ms = 77;
    machine_new(&m, phi_strategy_tot(), &options, true);
    machine_begin(&m, "p");
    CHECK(begins_with(&m, "You propose thoughts"));
    CHECK(m.call.has_temperature && m.call.temperature > 0.4 && m.call.max_tokens == 9);
    CHECK_EQ_INT(m.call.timeout_ms, 77);
    machine_answer(&m, three);
    CHECK(begins_with(&m, "You score thoughts"));
    machine_answer(&m, "prose");
    CHECK(begins_with(&m, "You convert a text"));
    machine_free(&m);
    options.generation_prompt = "Mine to propose.";
    options.evaluation_prompt = "Mine to score.";
    options.max_duration_ms = 50;
    machine_new(&m, phi_strategy_tot(), &options, true);
    machine_begin(&m, "p");
    CHECK(begins_with(&m, "Mine to propose.\n\nProblem: p"));
    CHECK_EQ_INT(m.call.timeout_ms, 50); /* no longer than the search */
    m.env.elapsed_ms = 20;
    machine_answer(&m, three);
    CHECK(begins_with(&m, "Mine to score.\n\nProblem: p"));
    CHECK_EQ_INT(m.call.timeout_ms, 30);
    m.reload = false;
    machine_free(&m);
}

TEST(of_equal_scores_the_deeper_thought_is_the_best_and_then_the_older) {
    machine m;
    phi_tot_options options;
    options = *once();
    options.max_depth = 2;
    options.convergence_window = PHI_UNLIMITED;
    options.top_k = 9;
    machine_new(&m, phi_strategy_tot(), &options, true);
    machine_begin(&m, "p");
    machine_answer(&m, "1. a\r\n2. b\r\n");
    machine_answer(&m, "1. 0.5\r\n2. 0.5\r\n");
    machine_answer(&m, "1. c\n2. d");
    machine_answer(&m, "1. 0.5\n2. 0.5");
    machine_answer(&m, "1. e");
    machine_answer(&m, "1. 0.4");
    CHECK_EQ_STR(machine_result(&m, "best.content"), "c");
    CHECK_EQ_STR(machine_result(&m, "candidates[1].content"), "d");
    CHECK_EQ_STR(machine_result(&m, "candidates[2].content"), "e");
    CHECK_EQ_STR(machine_result(&m, "candidates[3]"), "(none)"); /* a and b are no leaves */
    CHECK_EQ_STR(machine_result(&m, "diagnostics.convergence.window"), "null");
    machine_free(&m);
}

TEST(convergence_looks_at_the_whole_window_since_the_depth_was_reached) {
    /* flat scores on the way down end nothing */
    static const double scores[] = {0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.3,
                                    0.1, 0.4, 0.1, 0.4, 0.1, 0.4, 0.1};
    machine m;
    phi_tot_options options;
    options = *once();
    options.convergence_window = 3;
    options.branching_factor = 2;
    machine_new(&m, phi_strategy_tot(), &options, true);
    machine_begin(&m, "p");
    search(&m, scores, PHI__COUNT(scores));
    CHECK_EQ_STR(machine_result(&m, "termination.reason"), "converged");
    CHECK_EQ_STR(machine_result(&m, "termination.status"), "completed");
    CHECK_EQ_STR(machine_result(&m, "diagnostics.convergence"),
                 "{\"window\":3,\"min_score_improvement\":0.02,"
                 "\"recent_best_scores\":[0.4,0.4,0.4]}");
    CHECK_EQ_INT(m.asks, 14);
    machine_free(&m);
}

TEST(a_thoughts_score_is_the_mean_of_its_evaluations) {
    int reload;
    for (reload = 0; reload < 2; reload++) {
        machine m;
        phi_tot_options options;
        options = *once();
        options.evaluations = 3;
        machine_new(&m, phi_strategy_tot(), &options, reload == 1);
        machine_begin(&m, "p");
        machine_answer(&m, "1. a\n2. b");
        machine_answer(&m, "1. 0.9\n2. 0.5");
        machine_answer(&m, "1. 0.3\n2. 0.9");
        machine_answer(&m, "1. 0.3\n2. 0.4");
        CHECK(strstr(machine_text(&m.log), "ask 5: Problem: p|Step 1: b||Propose") != NULL);
        machine_answer(&m, "1. c");
        machine_answer(&m, "1. 1.0");
        machine_answer(&m, "1. 0.8");
        m.env.calls_left = 0;
        machine_stop(&m); /* in the midst of the evaluations: the mean of those that there were */
        CHECK_EQ_STR(machine_result(&m, "best.content"), "c");
        CHECK_EQ_STR(machine_result(&m, "best.score"), "0.9");
        CHECK_EQ_STR(machine_result(&m, "termination.status"), "unfinished");
        CHECK_EQ_STR(machine_result(&m, "candidates[1].score"), "0.5");
        machine_free(&m);
    }
}

TEST(a_dead_end_closes_its_branch_and_not_the_search) {
    machine m;
    machine_new(&m, phi_strategy_tot(), once(), true);
    machine_begin(&m, "p");
    machine_answer(&m, three);
    machine_answer(&m, "1. 0.9\n2. 0.8\n3. 0.7");
    machine_answer(&m, "{\"thoughts\":[]}");
    CHECK(strstr(machine_text(&m.log), "ask 4: Problem: p|Step 1: b||Propose") != NULL);
    machine_answer(&m, "{\"thoughts\": [ ] }");
    machine_answer(&m, "```\n{\"thoughts\":[]}\n```");
    CHECK(strstr(machine_text(&m.log), "done: a\n") != NULL);
    CHECK_EQ_STR(machine_result(&m, "termination.reason"), "exhausted");
    CHECK_EQ_STR(machine_result(&m, "termination.status"), "unfinished");
    CHECK_EQ_STR(machine_result(&m, "best.finished"), "false");
    CHECK_EQ_STR(machine_result(&m, "diagnostics.parser_errors"), "0");
    machine_free(&m);
    machine_new(&m, phi_strategy_tot(), once(), true);
    machine_begin(&m, "p");
    machine_answer(&m, "{\"thoughts\":[]}");
    CHECK(strstr(machine_text(&m.log), "fail: the model wrote no thought that could be used\n") !=
          NULL);
    machine_free(&m);
}

TEST(at_the_full_depth_the_best_there_is_the_answer_however_good_the_way_looked) {
    machine m;
    phi_tot_options options;
    phi_strategy_best best;
    options = *once();
    options.max_depth = 2;
    machine_new(&m, phi_strategy_tot(), &options, true);
    machine_begin(&m, "p");
    machine_answer(&m, "1. half");
    machine_answer(&m, "1. 0.9");
    m.strategy->best(m.state, &best);
    CHECK(best.unfinished);
    CHECK(strstr(machine_text(&m.log),
                 "next steps. This is the last step: each states a whole solution.\n") != NULL);
    machine_answer(&m, "1. whole");
    machine_answer(&m, "1. 0.6");
    m.strategy->best(m.state, &best);
    CHECK(!best.unfinished);
    CHECK(strstr(machine_text(&m.log), "done: whole\n") != NULL);
    CHECK_EQ_STR(machine_result(&m, "termination.status"), "completed");
    machine_free(&m);
}

TEST(a_saved_text_that_is_no_machine_is_refused) {
    static const char *const texts[] = {
        "{}",
        "[]",
        "{\"phase\":1,\"nodes\":[]}",
        "{\"phase\":9,\"nodes\":[[0,0.0,\"p\"]]}",
        "{\"phase\":1,\"at\":1,\"nodes\":[[0,0.0,\"p\"]]}",
        "{\"phase\":1,\"at\":0,\"nodes\":[[1,0.0,\"p\"]]}",
        "{\"phase\":1,\"at\":0,\"nodes\":[[0,0.0,\"p\"],[2,0.5,\"a\"]]}",
        "{\"phase\":1,\"at\":0,\"nodes\":[[0,0.0,\"p\"],[0,1.5,\"a\"]]}",
        "{\"phase\":1,\"at\":0,\"nodes\":[[0,0.0,\"p\"],[0,0.5,7]]}",
        "{\"phase\":1,\"at\":0,\"nodes\":[[0,0.0,\"p\"],[0,0.5,\"a\"]],\"frontier\":[2]}",
        "{\"phase\":1,\"at\":0,\"nodes\":[[0,0.0,\"p\"],[0,0.5,\"a\"]],\"frontier\":[0]}",
        "{\"phase\":1,\"at\":0,\"nodes\":[[0,0.0,\"p\"],[0,0.5,\"a\"]],\"frontier\":[1,1,1]}",
        "{\"phase\":2,\"at\":0,\"nodes\":[[0,0.0,\"p\"]],\"pending\":[]}"};
    size_t i;
    for (i = 0; i < PHI__COUNT(texts); i++) {
        machine m;
        phi_json *root = NULL;
        phi_strategy_commands commands;
        commands.count = 0;
        machine_new(&m, phi_strategy_tot(), once(), false);
        CHECK_EQ_INT(phi_json_parse(&m.scratch, phi_str_of(texts[i]), 0, &root, NULL), PHI_OK);
        if (!CHECK_EQ_INT(m.strategy->load(m.state, root, &m.env, &commands), PHI_PARSE))
            printf("  %s\n", texts[i]);
        machine_free(&m);
    }
}

/* ---- by chance ---- */

static uint32_t dice(uint32_t *seed) {
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

static void random_answer(uint32_t *seed, char *out, size_t size) {
    static const char *const odd[] = {"",
                                      "prose",
                                      "{\"thoughts\":[]}",
                                      "{\"scores\":{}}",
                                      "1.",
                                      "{\"thoughts\":[\"x\",\"y\",\"z\",\"w\",\"v\"]}",
                                      "1. a\n2. b\n3. c\n4. d\n5. e"};
    uint32_t kind = dice(seed) % 8;
    if (kind < 2)
        (void)snprintf(out, size, "%s", odd[dice(seed) % PHI__COUNT(odd)]);
    else if (kind < 5)
        (void)snprintf(out, size, "{\"scores\":{\"t1\":0.%u,\"t2\":0.%u,\"t3\":%u}}",
                       (unsigned)dice(seed) % 100, (unsigned)dice(seed) % 100,
                       (unsigned)(dice(seed) % 50 == 0));
    else
        (void)snprintf(out, size, "{\"thoughts\":[\"a%u\",\"b\",\"c\",\"d\"]}",
                       (unsigned)dice(seed) % 100);
}

static void random_options(uint32_t *seed, phi_tot_options *o) {
    memset(o, 0, sizeof *o);
    o->traversal = (phi_tot_traversal)(dice(seed) % 2);
    o->evaluations = dice(seed) % 3;
    o->value_threshold = dice(seed) % 2 == 0 ? -1.0 : 0.0;
    o->branching_factor = dice(seed) % 5;
    o->max_depth = dice(seed) % 5;
    o->max_nodes = dice(seed) % 4 == 0 ? 0 : dice(seed) % 12;
    o->beam_width = dice(seed) % 4;
    o->top_k = dice(seed) % 5;
    o->no_repair = dice(seed) % 4 == 0;
    o->max_parse_retries = dice(seed) % 3;
    o->convergence_window = dice(seed) % 2 == 0 ? PHI_UNLIMITED : dice(seed) % 4;
}

/* Invariant 15: bounds hold, the best is the path's last, calls stay within the bill. */
TEST(whatever_the_model_answers_the_bounds_hold) {
    uint32_t run;
    for (run = 1; run <= 400; run++) {
        uint32_t seed = run, i;
        phi_tot_options given, o;
        phi_strategy_bill bill;
        const phi__tot *t;
        char text[200];
        machine m;
        random_options(&seed, &given);
        o = phi__tot_options_of(&given);
        machine_new(&m, phi_strategy_tot(), &given, run % 2 == 0);
        m.strategy->bill(&given, 10, 10, &bill);
        machine_begin(&m, "p");
        while (!m.over && m.status == PHI_OK && m.asks < 3000) {
            random_answer(&seed, text, sizeof text);
            machine_answer(&m, text);
        }
        t = (const phi__tot *)m.state;
        CHECK(m.over);
        CHECK((uint64_t)m.asks <= bill.calls);
        CHECK(t->tree.count <= o.max_nodes);
        for (i = 1; i < t->tree.count; i++) {
            CHECK(t->tree.nodes[i].children <= o.branching_factor);
            CHECK(t->tree.nodes[i].depth <= o.max_depth);
        }
        if (t->tree.best != 0) {
            char best[64], last[64];
            (void)snprintf(best, sizeof best, "%s", machine_result(&m, "best.content"));
            (void)snprintf(text, sizeof text, "solution_path[%u]",
                           (unsigned)t->tree.nodes[t->tree.best].depth - 1);
            (void)snprintf(last, sizeof last, "%s", machine_result(&m, text));
            CHECK_EQ_STR(last, best);
        }
        machine_free(&m);
        if (test_failures() > 0) {
            printf("seed %u\n", (unsigned)run);
            return;
        }
    }
}

TEST(without_memory_the_machine_says_so_and_leaves_nothing) {
    int n = 0;
    for (; n < 150; n++) {
        machine m;
        machine_new(&m, phi_strategy_tot(), once(), false);
        test_alloc_fail_at(n);
        machine_begin(&m, "a prompt");
        if (m.status == PHI_OK) machine_answer(&m, "prose");
        if (m.status == PHI_OK) machine_answer(&m, three);
        if (m.status == PHI_OK) machine_answer(&m, "{\"scores\":{\"t1\":0.1,\"t2\":1}}");
        if (m.status == PHI_OK) machine_answer(&m, "1. x");
        if (m.status == PHI_OK) machine_answer(&m, "1. 1.0");
        CHECK(m.status == PHI_OK || m.status == PHI_NO_MEMORY);
        test_alloc_fail_at(-1);
        machine_free(&m);
    }
}

TEST(the_bill_is_the_worst_case) {
    phi_strategy_bill bill;
    phi_tot_options options;
    phi_strategy_tot()->bill(NULL, 100, 50, &bill);
    CHECK_EQ_INT(bill.calls, 88); /* 1 + 5 + 5 expansions of four calls, each repaired once */
    CHECK_EQ_INT(bill.input_tokens, 88 * (400 + 100 + 50 * 4));
    options = *once();
    options.traversal = PHI_TOT_DFS;
    phi_strategy_tot()->bill(&options, 100, 50, &bill);
    CHECK_EQ_INT(bill.calls, 52); /* 1 + 3 + 9 expansions of two calls, each repaired once */
    options = *once();
    options.tools = true;
    options.no_repair = true;
    options.max_depth = 1;
    options.max_tokens = 10;
    phi_strategy_tot()->bill(&options, 0, 50, &bill);
    CHECK_EQ_INT(bill.calls, 8); /* one expansion; three rounds of tools and the answer */
    CHECK_EQ_INT(bill.output_tokens, 80);
    options.max_nodes = options.max_depth = options.branching_factor = PHI_UNLIMITED;
    options.max_tool_rounds = options.max_tokens = PHI_UNLIMITED;
    phi_strategy_tot()->bill(&options, 0, 50, &bill);
    CHECK(bill.input_tokens == UINT64_MAX);
}

TEST_MAIN(TEST_ENTRY(thoughts_are_read_as_json_else_by_lines),
          TEST_ENTRY(scores_are_read_as_json_else_by_lines_and_one_at_least_must_be_there),
          TEST_ENTRY(defaults_are_those_of_the_table),
          TEST_ENTRY(a_search_generates_scores_and_expands_until_a_thought_succeeds),
          TEST_ENTRY(traversals_expand_in_their_order_and_depth_ends_a_branch_alone),
          TEST_ENTRY(each_reason_ends_the_search_with_the_best),
          TEST_ENTRY(without_calls_or_when_stopped_the_best_so_far_is_the_answer),
          TEST_ENTRY(an_answer_that_cannot_be_read_is_repaired_once_a_call),
          TEST_ENTRY(no_repair_means_none),
          TEST_ENTRY(the_hosts_prune_callback_leaves_thoughts_out_before_they_are_scored),
          TEST_ENTRY(tools_are_offered_and_one_round_too_many_is_an_error),
          TEST_ENTRY(stale_answers_change_nothing_and_a_failed_call_is_the_error),
          TEST_ENTRY(each_call_has_its_prompt_or_the_options),
          TEST_ENTRY(of_equal_scores_the_deeper_thought_is_the_best_and_then_the_older),
          TEST_ENTRY(convergence_looks_at_the_whole_window_since_the_depth_was_reached),
          TEST_ENTRY(a_thoughts_score_is_the_mean_of_its_evaluations),
          TEST_ENTRY(a_dead_end_closes_its_branch_and_not_the_search),
          TEST_ENTRY(at_the_full_depth_the_best_there_is_the_answer_however_good_the_way_looked),
          TEST_ENTRY(a_saved_text_that_is_no_machine_is_refused),
          TEST_ENTRY(whatever_the_model_answers_the_bounds_hold),
          TEST_ENTRY(without_memory_the_machine_says_so_and_leaves_nothing),
          TEST_ENTRY(the_bill_is_the_worst_case))
