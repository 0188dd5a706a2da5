/* test_got.c - Graph-of-Thoughts: what is read in answers, the graph, and the machine. */
#include "orchestrate/machine_in.h"

#include "machine_support.h"

/* ---- answers ---- */

TEST(connections_are_read_line_by_line) {
    static const struct {
        const char *text;
        uint32_t from, to;
        const char *why;
    } rows[] = {{"CONNECTION: [1] -> [2] : supports it", 1, 2, "supports it"},
                {"connection:[3]->[1]", 3, 1, ""},
                {"- **Connection**: [1] => [2]: `x`", 1, 2, "x"},
                {"* CONNECTION\xEF\xBC\x9A [1] \xE2\x86\x92 [2]\xEF\xBC\x9A y", 1, 2, "y"},
                {"CONNECTION: 4 -> 5 : z", 4, 5, "z"},
                {"words\n\nCONNECTION: [12] -> [7] text", 12, 7, "text"},
                {"CONNECTION: [a] -> [b] : no\nCONNECTION: [2] -> [1] : yes", 2, 1, "yes"},
                {"CONNECTION: [1] [2] : no arrow", 0, 0, ""},
                {"CONNECTION: [1 -> [2] : no bracket", 0, 0, ""},
                {"CONNECTION: [1] -> : nothing", 0, 0, ""},
                {"CONNECTIONS: [1] -> [2]", 0, 0, ""},
                {"see CONNECTION: [1] -> [2]", 0, 0, ""},
                {"NONE", 0, 0, ""},
                {"", 0, 0, ""}};
    size_t i;
    for (i = 0; i < PHI__COUNT(rows); i++) {
        phi__got_edge edge;
        size_t at = 0;
        bool found = phi__got_parse_connection(phi_str_of(rows[i].text), &at, &edge);
        CHECK_EQ_INT(found, rows[i].from != 0);
        if (!found) continue;
        CHECK_EQ_INT(edge.from, rows[i].from);
        CHECK_EQ_INT(edge.to, rows[i].to);
        CHECK_STR(edge.text, rows[i].why);
    }
}

TEST(weights_are_read_line_by_line_and_clamped) {
    static const struct {
        const char *text;
        uint32_t node;
        int weight; /* hundredths */
    } rows[] = {{"WEIGHT: [1] : 0.8", 1, 80},
                {"weight: 2: .25 since", 2, 25},
                {"- **Weight**: [3]: 7", 3, 100},
                {"WEIGHT: [1]: -2", 1, 0},
                {"WEIGHT: [1]: high", 0, 0},
                {"WEIGHT: [1] 0.8", 0, 0},
                {"1. 0.8", 0, 0},
                {"", 0, 0}};
    size_t i;
    for (i = 0; i < PHI__COUNT(rows); i++) {
        uint32_t node = 0;
        double weight = 0;
        size_t at = 0;
        CHECK_EQ_INT(phi__got_parse_weight(phi_str_of(rows[i].text), &at, &node, &weight),
                     rows[i].node != 0);
        if (rows[i].node == 0) continue;
        CHECK_EQ_INT(node, rows[i].node);
        CHECK_EQ_INT((int)(weight * 100.0 + 0.5), rows[i].weight);
    }
}

TEST(the_last_vote_counts_and_without_a_line_the_last_bracket) {
    static const struct {
        const char *text;
        uint32_t vote;
    } rows[] = {{"VOTE: [2]", 2},
                {"[1] is wrong.\nVOTE: [3]\nor [4]", 3},
                {"VOTE: [1]\n**vote:** 2", 2},
                {"I take [1], no, [5].", 5},
                {"[12", 0},
                {"[x]", 0},
                {"[]", 0},
                {"none", 0},
                {"", 0}};
    size_t i;
    for (i = 0; i < PHI__COUNT(rows); i++)
        CHECK_EQ_INT(phi__got_parse_vote(phi_str_of(rows[i].text)), rows[i].vote);
}

/* ---- the machine ---- */

TEST(defaults_are_those_of_the_table) {
    phi_got_options o = phi__got_options_of(NULL);
    phi_strategy_bill bill;
    CHECK(o.aggregation == PHI_GOT_SYNTHESIS && o.generations == 2 && o.branching_factor == 3);
    CHECK(o.max_nodes == 20 && o.max_depth == 5 && o.votes == 3);
    phi_strategy_got()->bill(NULL, 100, 50, &bill);
    CHECK_EQ_INT(bill.calls, 5);
    CHECK_EQ_INT(bill.input_tokens, 5 * (5 * 50 / 2 + 100 + 250));
    o.aggregation = PHI_GOT_VOTING;
    phi_strategy_got()->bill(&o, 100, 50, &bill);
    CHECK_EQ_INT(bill.calls, 7);
    o.aggregation = PHI_GOT_WEIGHTED;
    o.max_tokens = 10;
    phi_strategy_got()->bill(&o, 100, 50, &bill);
    CHECK_EQ_INT(bill.calls, 6);
    CHECK_EQ_INT(bill.output_tokens, 60);
}

/* Three thoughts, two connections to the second, two thoughts that refine it, none connected. */
static void two_generations(machine *m) {
    machine_begin(m, "p");
    machine_answer(m, "1. a\n2. b\n3. c");
    machine_answer(m, "CONNECTION: [1] -> [2] : helps\nCONNECTION: [3] -> [2]\n"
                      "CONNECTION: [1] -> [2] : again\nCONNECTION: [2] -> [2] : itself\n"
                      "CONNECTION: [2] -> [9] : nobody\nCONNECTION: [0] -> [1] : the problem");
    machine_answer(m, "{\"thoughts\":[\"d\",\"e\"]}");
    machine_answer(m, "NONE");
}

TEST(generations_are_connected_and_the_most_connected_thought_is_refined) {
    int reload;
    for (reload = 0; reload < 2; reload++) {
        machine m;
        machine_new(&m, phi_strategy_got(), NULL, reload == 1);
        two_generations(&m);
        m.env.elapsed_ms = 7;
        machine_answer(&m, " the answer ");
        CHECK_EQ_STR(
            machine_text(&m.log),
            "emit generating\nask 1: Problem: p||Propose 3 different approaches.\n"
            "emit connecting\n"
            "ask 2: Problem: p||Thoughts:|[1] a|[2] b|[3] c||Name the connections.\n"
            "emit generating\n"
            "ask 3: Problem: p||Thoughts:|[1] a|[2] b|[3] c||Connections:|[1] -> [2]: helps|"
            "[3] -> [2]: ||Propose 3 different thoughts that refine thought [2].\n"
            "emit connecting\n"
            "ask 4: Problem: p||Thoughts:|[1] a|[2] b|[3] c|[4] (from [2]) d|[5] (from [2]) e||"
            "Connections:|[1] -> [2]: helps|[3] -> [2]: ||Name the connections.\n"
            "emit aggregating\n"
            "ask 5: Problem: p||Thoughts:|[1] a|[2] b|[3] c|[4] (from [2]) d|[5] (from [2]) e||"
            "Connections:|[1] -> [2]: helps|[3] -> [2]: ||Compose the answer.\n"
            "done: the answer\n");
        CHECK_EQ_STR(
            machine_text(&m.result),
            "{\"answer\":\"the answer\",\"best_node_id\":6,\"score\":1.0,\"aggregation\":"
            "\"synthesis\",\"nodes\":["
            "{\"parent\":0,\"depth\":0,\"content\":\"p\",\"connections\":0,\"support\":0},"
            "{\"parent\":0,\"depth\":1,\"content\":\"a\",\"connections\":1,\"support\":0},"
            "{\"parent\":0,\"depth\":1,\"content\":\"b\",\"connections\":2,\"support\":2},"
            "{\"parent\":0,\"depth\":1,\"content\":\"c\",\"connections\":1,\"support\":0},"
            "{\"parent\":2,\"depth\":2,\"content\":\"d\",\"connections\":0,\"support\":0},"
            "{\"parent\":2,\"depth\":2,\"content\":\"e\",\"connections\":0,\"support\":0},"
            "{\"parent\":0,\"depth\":1,\"content\":\"the "
            "answer\",\"connections\":0,\"support\":0}],"
            "\"connections\":[{\"from\":1,\"to\":2,\"kind\":\"supports\",\"text\":\"helps\"},"
            "{\"from\":3,\"to\":2,\"kind\":\"supports\"},"
            "{\"from\":1,\"to\":6,\"kind\":\"aggregates\"},"
            "{\"from\":2,\"to\":6,\"kind\":\"aggregates\"},"
            "{\"from\":3,\"to\":6,\"kind\":\"aggregates\"},"
            "{\"from\":4,\"to\":6,\"kind\":\"aggregates\"},"
            "{\"from\":5,\"to\":6,\"kind\":\"aggregates\"}],"
            "\"answer_node_id\":6,\"usage\":{\"input\":50,\"output\":25,\"reasoning\":0,"
            "\"cache_read\":0,\"cache_write\":0,\"total_tokens\":75},\"termination\":{\"reason\":"
            "\"aggregated\",\"status\":\"completed\",\"duration_ms\":7,\"node_count\":7,"
            "\"generations\":2},\"diagnostics\":{\"calls\":5,\"votes\":0,\"abstained\":0,"
            "\"pruned\":0}}");
        machine_free(&m);
    }
}

/* Thoughts a, b and c; c is supported twice, b contradicted, a left alone. */
static void one_generation(machine *m) {
    machine_begin(m, "p");
    machine_answer(m, "1. a\n2. b\n3. c");
    machine_answer(m, "CONNECTION: [1] -> [2] : contradicts: it is not so\n"
                      "CONNECTION: [3] -> [2] : **Contradicts** it\n"
                      "CONNECTION: [1] -> [3] : supports: so it is\n"
                      "CONNECTION: [2] -> [3] : completes\n"
                      "CONNECTION: [2] -> [1] : repeats: the same\n");
}

TEST(a_contradicted_thought_loses) {
    phi_got_options o;
    size_t i;
    memset(&o, 0, sizeof o);
    o.generations = 1;
    for (i = 0; i < 2; i++) {
        machine m;
        machine_new(&m, phi_strategy_got(), &o, i == 1);
        one_generation(&m);
        /* b is neither shown nor part of the answer */
        CHECK(strstr(machine_text(&m.log),
                     "ask 3: Problem: p||Thoughts:|[1] a|[3] c||Connections:|[1] -> [3]: supports: "
                     "so it is||Compose the answer.\n") != NULL);
        machine_stop(&m);
        CHECK_EQ_STR(machine_result(&m, "answer"), "c"); /* b has as many connections */
        CHECK_EQ_STR(machine_result(&m, "termination.status"), "unfinished");
        CHECK_EQ_STR(machine_result(&m, "nodes[2].support"), "-2");
        CHECK_EQ_STR(machine_result(&m, "nodes[3].support"), "2");
        CHECK_EQ_STR(machine_result(&m, "nodes[1].support"), "0");
        CHECK_EQ_STR(machine_result(&m, "connections[0].kind"), "contradicts");
        CHECK_EQ_STR(machine_result(&m, "connections[4].kind"), "repeats");
        machine_free(&m);
    }
    o.generations = 2;
    {
        machine m;
        machine_new(&m, phi_strategy_got(), &o, true);
        one_generation(&m);
        CHECK(strstr(machine_text(&m.log), "that refine thought [3]") != NULL);
        machine_free(&m);
    }
}

TEST(so_many_of_the_best_are_kept_and_the_answer_has_edges_from_them) {
    static const struct {
        uint32_t keep;
        phi_got_aggregation aggregation;
        const char *answers[2], *edges;
    } rows[] = {{1, PHI_GOT_SYNTHESIS, {"all", NULL}, " 3>4"},
                {2, PHI_GOT_SYNTHESIS, {"all", NULL}, " 1>4 3>4"},
                {9, PHI_GOT_SYNTHESIS, {"all", NULL}, " 1>4 3>4"},
                {9, PHI_GOT_WEIGHTED, {"WEIGHT: [1]: 0.5\nWEIGHT: [2]: 1", "all"}, " 1>4"},
                {9, PHI_GOT_WEIGHTED, {"no weights", "all"}, " 1>4 3>4"}};
    size_t i, j;
    for (i = 0; i < 2 * PHI__COUNT(rows); i++) {
        phi_got_options o;
        machine m;
        char edges[100] = "";
        memset(&o, 0, sizeof o);
        o.generations = 1;
        o.keep_best = rows[i / 2].keep;
        o.aggregation = rows[i / 2].aggregation;
        machine_new(&m, phi_strategy_got(), &o, i % 2 == 1);
        one_generation(&m);
        for (j = 0; j < 2 && rows[i / 2].answers[j] != NULL; j++)
            machine_answer(&m, rows[i / 2].answers[j]);
        CHECK_EQ_STR(machine_result(&m, "termination.reason"), "aggregated");
        for (j = 5; j < 9; j++) {
            char path[40];
            size_t len = strlen(edges);
            (void)snprintf(path, sizeof path, "connections[%u].from", (unsigned)j);
            if (strcmp(machine_result(&m, path), "(none)") == 0) break;
            (void)snprintf(edges + len, sizeof edges - len, " %s>", machine_result(&m, path));
            (void)snprintf(path, sizeof path, "connections[%u].to", (unsigned)j);
            len = strlen(edges);
            (void)snprintf(edges + len, sizeof edges - len, "%s", machine_result(&m, path));
        }
        CHECK_EQ_STR(edges, rows[i / 2].edges);
        machine_free(&m);
    }
}

TEST(votes_that_all_abstained_are_no_choice) {
    static const char *const votes[] = {"?", "VOTE: [2]", "VOTE: [77]"};
    phi_got_options o;
    machine m;
    size_t i;
    memset(&o, 0, sizeof o);
    o.generations = 1;
    o.aggregation = PHI_GOT_VOTING;
    machine_new(&m, phi_strategy_got(), &o, true);
    one_generation(&m);
    for (i = 0; i < 3; i++) machine_answer(&m, votes[i]); /* [2] was not shown */
    CHECK_EQ_STR(machine_result(&m, "termination.reason"), "abstained");
    CHECK_EQ_STR(machine_result(&m, "termination.status"), "unfinished");
    CHECK_EQ_STR(machine_result(&m, "diagnostics.abstained"), "3");
    CHECK_EQ_STR(machine_result(&m, "answer"), "c");
    machine_free(&m);
}

TEST(votes_choose_a_thought_and_a_majority_ends_them) {
    static const struct {
        const char *votes[3];
        const char *answer, *score;
        int asks;
    } rows[] = {{{"VOTE: [3]", "VOTE: [3]", NULL}, "c", "1.0", 6},
                {{"VOTE: [1]", "VOTE: [4]", "VOTE: [4]"}, "d", "0.6666666666666666", 7},
                {{"VOTE: [1]", "?", "VOTE: [99]"}, "a", "1.0", 7},
                /* a draw: the one with more connections */
                {{"VOTE: [1]", "VOTE: [2]", "VOTE: [3]"}, "b", "0.3333333333333333", 7},
                /* nobody votes: the most connected one, without a score */
                {{"?", "?", "?"}, "b", "(none)", 7}};
    phi_got_options o;
    size_t i, j;
    memset(&o, 0, sizeof o);
    o.aggregation = PHI_GOT_VOTING;
    for (i = 0; i < 2 * PHI__COUNT(rows); i++) {
        machine m;
        machine_new(&m, phi_strategy_got(), &o, i % 2 == 1);
        two_generations(&m);
        for (j = 0; j < 3 && rows[i / 2].votes[j] != NULL; j++)
            machine_answer(&m, rows[i / 2].votes[j]);
        CHECK(m.over);
        CHECK_EQ_INT(m.asks, rows[i / 2].asks);
        CHECK_EQ_STR(machine_result(&m, "answer"), rows[i / 2].answer);
        CHECK_EQ_STR(machine_result(&m, "score"), rows[i / 2].score);
        CHECK_EQ_STR(machine_result(&m, "aggregation"), "voting");
        machine_free(&m);
    }
}

TEST(weights_order_the_thoughts_that_are_composed) {
    phi_got_options o;
    int reload;
    memset(&o, 0, sizeof o);
    o.aggregation = PHI_GOT_WEIGHTED;
    for (reload = 0; reload < 2; reload++) {
        machine m;
        machine_new(&m, phi_strategy_got(), &o, reload == 1);
        two_generations(&m);
        CHECK(strstr(machine_text(&m.log), "emit weighing\n") != NULL);
        machine_answer(&m, "WEIGHT: [1]: 0.5\nWEIGHT: [2]: 0\nWEIGHT: [4]: 0.9\nWEIGHT: [5]: 0.5\n"
                           "WEIGHT: [77]: 1");
        CHECK(strstr(machine_text(&m.log),
                     "ask 6: Problem: p||Thoughts:|[4] (from [2]) (weight 0.90) d|"
                     "[1] (weight 0.50) a|[5] (from [2]) (weight 0.50) e||Connections:") != NULL);
        machine_stop(&m); /* the best so far is the heaviest */
        CHECK_EQ_STR(machine_result(&m, "answer"), "d");
        CHECK_EQ_STR(machine_result(&m, "termination.reason"), "stopped");
        machine_free(&m);
    }
}

TEST(custom_prompts_win) {
    static const char *const own[] = {"G", "C", "G", "C", "W", "A"};
    phi_got_options o;
    machine m;
    size_t i;
    memset(&o, 0, sizeof o);
    o.generation_prompt = "G";
    o.connection_prompt = "C";
    o.voting_prompt = "V";
    o.weighing_prompt = "W";
    o.aggregation_prompt = "A";
    o.aggregation = PHI_GOT_WEIGHTED;
    machine_new(&m, phi_strategy_got(), &o, false);
    machine_begin(&m, "p");
    for (i = 0; i < PHI__COUNT(own); i++) {
        CHECK(strncmp(machine_text(&m.ask), own[i], 1) == 0 && machine_text(&m.ask)[1] == '\n');
        machine_answer(&m, i % 2 == 0 ? "1. a\n2. b" : "-");
    }
    machine_free(&m);
    o.aggregation = PHI_GOT_VOTING;
    machine_new(&m, phi_strategy_got(), &o, false);
    two_generations(&m);
    CHECK(strncmp(machine_text(&m.ask), "V\n", 2) == 0);
    machine_free(&m);
}

TEST(bounds_of_nodes_and_depth_hold) {
    phi_got_options o;
    machine m;
    memset(&o, 0, sizeof o);
    o.generations = 9;
    o.max_nodes = 5; /* three thoughts */
    o.branching_factor = 2;
    machine_new(&m, phi_strategy_got(), &o, true);
    machine_begin(&m, "p");
    machine_answer(&m, "1. a\n2. b\n3. c\n4. d"); /* two are taken */
    machine_answer(&m, "NONE");
    machine_answer(&m, "1. e\n2. f"); /* one is left */
    machine_answer(&m, "NONE");
    machine_answer(&m, "end");
    CHECK(m.over);
    CHECK_EQ_STR(machine_result(&m, "termination.node_count"), "5");
    CHECK_EQ_STR(machine_result(&m, "nodes[3].content"), "e");
    machine_free(&m);
    o.max_nodes = 0;
    o.max_depth = 1; /* no thought may be refined */
    machine_new(&m, phi_strategy_got(), &o, true);
    machine_begin(&m, "p");
    machine_answer(&m, "1. a\n2. b");
    machine_answer(&m, "NONE");
    machine_answer(&m, "end");
    CHECK(m.over);
    CHECK_EQ_STR(machine_result(&m, "termination.generations"), "1");
    machine_free(&m);
}

TEST(prose_is_a_thought_and_nothing_is_none) {
    machine m;
    machine_new(&m, phi_strategy_got(), NULL, true);
    machine_begin(&m, "p");
    machine_answer(&m, " \n");        /* no thought: the next generation begins with the problem */
    machine_answer(&m, "just prose"); /* one thought: there is nothing to connect */
    CHECK_EQ_STR(machine_text(&m.log),
                 "emit generating\nask 1: Problem: p||Propose 3 different approaches.\n"
                 "emit generating\nask 2: Problem: p||Propose 3 different approaches.\n"
                 "emit aggregating\nask 3: Problem: p||Thoughts:|[1] just prose||Compose the "
                 "answer.\n");
    machine_answer(&m, ""); /* the best thought stays */
    CHECK_EQ_STR(machine_result(&m, "answer"), "just prose");
    CHECK_EQ_STR(machine_result(&m, "termination.reason"), "no_answer");
    machine_free(&m);
    machine_new(&m, phi_strategy_got(), NULL, true);
    machine_begin(&m, "p");
    machine_answer(&m, "");
    machine_answer(&m, "");
    CHECK(strstr(machine_text(&m.log), "fail: the model wrote no thought that could be used\n") !=
          NULL);
    CHECK_EQ_STR(machine_result(&m, "answer"), "null");
    machine_free(&m);
}

static bool prune_b(void *user_data, const phi_strategy_node *node) {
    ++*(int *)user_data;
    CHECK(node->depth == 1 && node->parent == 0 && !node->has_score);
    CHECK_STR(node->problem, "p");
    return phi__str_is(node->content, "b");
}

TEST(the_host_prunes_thoughts) {
    machine m;
    int seen = 0;
    machine_new(&m, phi_strategy_got(), NULL, true);
    m.env.prune_fn = prune_b;
    m.env.user_data = &seen;
    machine_begin(&m, "p");
    machine_answer(&m, "1. a\n2. b\n3. c");
    CHECK_EQ_INT(seen, 3);
    CHECK(strstr(machine_text(&m.log), "Thoughts:|[1] a|[2] c|") != NULL);
    machine_stop(&m);
    CHECK_EQ_STR(machine_result(&m, "diagnostics.pruned"), "1");
    machine_free(&m);
}

TEST(calls_that_fail_that_are_late_or_that_are_used_up) {
    machine m;
    machine_new(&m, phi_strategy_got(), NULL, true);
    machine_begin(&m, "p");
    machine_begin(&m, "again"); /* counts for nothing */
    machine_answer_str(&m, 7, PHI__LIT("1. late"));
    CHECK_EQ_INT(m.asks, 1);
    machine_answer(&m, "1. a\n2. b");
    machine_fail(&m, PHI_NETWORK, "gone", "");
    CHECK(strstr(machine_text(&m.log), "fail: gone\n") != NULL);
    CHECK_EQ_STR(machine_result(&m, "termination.status"), "error");
    CHECK_EQ_STR(machine_result(&m, "answer"), "a");
    machine_answer(&m, "1. more"); /* it is over */
    machine_stop(&m);
    CHECK_EQ_INT(m.asks, 2);
    machine_free(&m);
    machine_new(&m, phi_strategy_got(), NULL, true);
    machine_begin(&m, "p");
    m.env.calls_left = 0;
    machine_answer(&m, "1. a\n2. b");
    CHECK(strstr(machine_text(&m.log), "done: a\n") != NULL);
    CHECK_EQ_STR(machine_result(&m, "termination.reason"), "max_calls");
    machine_free(&m);
    machine_new(&m, phi_strategy_got(), NULL, true);
    machine_begin(&m, "p");
    machine_stop(&m);
    CHECK(strstr(machine_text(&m.log), "fail: ended before there was a thought\n") != NULL);
    machine_free(&m);
}

TEST(what_is_no_saved_machine_is_refused) {
    static const char *const rows[] = {
        "[]",
        "{\"phase\":7}",
        "{\"phase\":1}",
        "{\"phase\":2,\"nodes\":[{\"parent\":0}]}",
        "{\"phase\":1,\"nodes\":[{\"parent\":1}]}",
        "{\"phase\":1,\"nodes\":[{\"parent\":0},{\"parent\":0,\"weight\":3}]}",
        "{\"phase\":1,\"at\":4,\"nodes\":[{\"parent\":0}]}",
        "{\"phase\":6,\"nodes\":[{\"parent\":0}],\"answer_node_id\":2}",
        "{\"phase\":1,\"nodes\":[{\"parent\":0}],\"abstained\":1}"};
    size_t i;
    for (i = 0; i < PHI__COUNT(rows); i++) {
        phi_strategy_commands commands;
        phi_json *json = NULL;
        machine m;
        commands.count = 0;
        machine_new(&m, phi_strategy_got(), NULL, false);
        CHECK_EQ_INT(phi_json_parse(&m.scratch, phi_str_of(rows[i]), 0, &json, NULL), PHI_OK);
        CHECK_EQ_INT(m.strategy->load(m.state, json, &m.env, &commands), PHI_PARSE);
        CHECK_EQ_INT(commands.count, 0);
        machine_free(&m);
    }
}

static uint32_t dice(uint32_t *seed) {
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

TEST(bounds_hold_whatever_the_model_says) {
    static const char *const says[] = {"1. a\n2. b\n3. c\n4. d\n5. e",
                                       "{\"thoughts\":[\"f\",\"g\",\"h\"]}",
                                       "CONNECTION: [1] -> [2] : x\nCONNECTION: [3] -> [2] : y",
                                       "WEIGHT: [2] : 0.7\nWEIGHT: [1] : 9",
                                       "VOTE: [2]",
                                       "prose",
                                       "",
                                       "CONNECTION: [4294967299] -> [1]\nVOTE: [0]"};
    uint32_t seed = 1;
    int round;
    for (round = 0; round < 300 && test_failures() == 0; round++) {
        phi_got_options o;
        phi_strategy_bill bill;
        machine m;
        const phi__got *g;
        uint32_t i;
        memset(&o, 0, sizeof o);
        o.aggregation = (phi_got_aggregation)(dice(&seed) % 3);
        o.generations = dice(&seed) % 6;
        o.branching_factor = dice(&seed) % 5;
        o.max_nodes = dice(&seed) % 12;
        o.max_depth = dice(&seed) % 4;
        o.votes = dice(&seed) % 4;
        phi_strategy_got()->bill(&o, 1, 1, &bill);
        machine_new(&m, phi_strategy_got(), &o, round % 2 == 0);
        machine_begin(&m, "p");
        for (i = 0; i < 100 && !m.over; i++)
            machine_answer(&m, says[dice(&seed) % PHI__COUNT(says)]);
        o = phi__got_options_of(&o);
        g = (const phi__got *)m.state;
        CHECK(m.over && (uint64_t)m.asks <= bill.calls);
        CHECK(g->graph.count <= o.max_nodes);
        for (i = 1; i < g->graph.count; i++) {
            CHECK(g->graph.nodes[i].depth <= o.max_depth);
            CHECK(g->graph.nodes[i].parent < i);
            CHECK(g->graph.nodes[i].children <= o.branching_factor);
        }
        for (i = 0; i < g->graph.edge_count; i++)
            CHECK(g->graph.edges[i].from < g->graph.count && g->graph.edges[i].to != 0);
        machine_free(&m);
    }
}

TEST(without_memory_the_machine_says_so_and_leaves_nothing) {
    int n = 0;
    do {
        machine m;
        machine_new(&m, phi_strategy_got(), NULL, false);
        test_alloc_fail_at(n);
        machine_begin(&m, "a prompt");
        if (m.status == PHI_OK && m.asks == 1) machine_answer(&m, "1. a\n2. b");
        if (m.status == PHI_OK && m.asks == 2) machine_answer(&m, "CONNECTION: [1] -> [2] : c");
        CHECK(m.status == PHI_OK || m.status == PHI_NO_MEMORY);
        test_alloc_fail_at(-1);
        machine_free(&m);
    } while (n++ < 60);
}

TEST_MAIN(TEST_ENTRY(connections_are_read_line_by_line),
          TEST_ENTRY(weights_are_read_line_by_line_and_clamped),
          TEST_ENTRY(the_last_vote_counts_and_without_a_line_the_last_bracket),
          TEST_ENTRY(defaults_are_those_of_the_table),
          TEST_ENTRY(generations_are_connected_and_the_most_connected_thought_is_refined),
          TEST_ENTRY(votes_choose_a_thought_and_a_majority_ends_them),
          TEST_ENTRY(a_contradicted_thought_loses),
          TEST_ENTRY(so_many_of_the_best_are_kept_and_the_answer_has_edges_from_them),
          TEST_ENTRY(votes_that_all_abstained_are_no_choice),
          TEST_ENTRY(weights_order_the_thoughts_that_are_composed), TEST_ENTRY(custom_prompts_win),
          TEST_ENTRY(bounds_of_nodes_and_depth_hold),
          TEST_ENTRY(prose_is_a_thought_and_nothing_is_none), TEST_ENTRY(the_host_prunes_thoughts),
          TEST_ENTRY(calls_that_fail_that_are_late_or_that_are_used_up),
          TEST_ENTRY(what_is_no_saved_machine_is_refused),
          TEST_ENTRY(bounds_hold_whatever_the_model_says),
          TEST_ENTRY(without_memory_the_machine_says_so_and_leaves_nothing))
