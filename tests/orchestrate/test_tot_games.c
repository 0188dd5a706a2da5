/* test_tot_games.c - Tree-of-Thoughts plays the game of 24: with the player of the examples, which errs
   often, and with one that never errs. */
#include "machine_support.h"
#include "orchestrate/tot.h"

#include "../../examples/game24_mind.h"

enum { GAMES = 200 };

typedef struct games {
    int solved, unfinished;
    uint64_t calls;
} games;

static void answer(machine *m, g24_model *mind, const int numbers[4]) {
    const char *ask = machine_text(&m->ask), *prompt = strstr(ask, "\n\nProblem: ");
    char system[4000];
    (void)snprintf(system, sizeof system, "%.*s", (int)(prompt - ask), ask);
    (void)snprintf(mind->said, sizeof mind->said, "%s", prompt + 2);
    mind->len = 0;
    mind->answer[0] = '\0';
    g24_think(mind, system, numbers, false);
    machine_answer(m, mind->answer);
}

static void play(games *all, uint64_t game, const phi_tot_options *options, bool sure) {
    static g24_model mind;
    uint64_t deal = game;
    int numbers[4];
    char text[2000];
    double value = 0;
    machine m;
    memset(&mind, 0, sizeof mind);
    mind.seed = 7919 * game;
    mind.sure = sure;
    g24_deal(&deal, numbers);
    machine_new(&m, phi_strategy_tot(), options, false);
    (void)snprintf(text, sizeof text, "Make 24 of %d, %d, %d and %d.", numbers[0], numbers[1],
                   numbers[2], numbers[3]);
    machine_begin(&m, text);
    while (!m.over && m.status == PHI_OK) answer(&m, &mind, numbers);
    (void)snprintf(text, sizeof text, "%s", machine_result(&m, "best.content"));
    if (g24_answer(text, numbers, &value) && fabs(value - 24) < 1e-6)
        all->solved++;
    else if (strcmp(machine_result(&m, "termination.status"), "unfinished") == 0)
        all->unfinished++;
    all->calls += (uint64_t)m.asks;
    machine_free(&m);
}

static games play_all(phi_tot_traversal traversal, bool sure) {
    phi_tot_options options;
    games all;
    uint64_t i;
    memset(&all, 0, sizeof all);
    memset(&options, 0, sizeof options);
    options.traversal = traversal;
    for (i = 1; i <= GAMES; i++) play(&all, i, &options, sure);
    return all;
}

TEST(a_model_that_never_errs_solves_every_game) {
    CHECK_EQ_INT(play_all(PHI_TOT_BFS, true).solved, GAMES);
    CHECK_EQ_INT(play_all(PHI_TOT_DFS, true).solved, GAMES);
}

TEST(with_a_model_that_errs_the_defaults_solve_three_games_of_four) {
    games bfs = play_all(PHI_TOT_BFS, false), dfs = play_all(PHI_TOT_DFS, false);
    CHECK(bfs.solved >= GAMES * 3 / 4);
    CHECK(dfs.solved >= GAMES * 3 / 4);
    CHECK(dfs.calls < bfs.calls); /* it stops at the first whole solution, where all goes well */
}

TEST_MAIN(TEST_ENTRY(a_model_that_never_errs_solves_every_game),
          TEST_ENTRY(with_a_model_that_errs_the_defaults_solve_three_games_of_four))
