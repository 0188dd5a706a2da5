/* strategies.c - the game of 24, played by one model with each reasoning strategy.

   The model is in the process (game24_model.h) and errs often; what a strategy makes of it is the difference. Progress
   comes as events, and the result as JSON. No key, no network.
   usage: strategies [seed [tot|got|...]] */
#define PHI_IMPLEMENTATION
#include "phi_tools.h"

#include "game24_model.h"

typedef struct arm {
    const char *name;
    const phi_strategy *strategy; /* NULL: a plain prompt */
    const void *options;
} arm;

static void print_text(phi_str text) { printf("%.*s", (int)text.len, text.len > 0 ? text.at : ""); }

static void show(const phi_event *ev) {
    if (ev->kind == PHI_EV_ERROR) {
        printf("    ");
        print_text(ev->failure->message);
        printf("\n");
    }
    if (ev->kind != PHI_EV_STRATEGY) return;
    printf("    %2llu ", (unsigned long long)ev->strategy->calls);
    print_text(ev->strategy->phase);
    if (ev->strategy->has_score) printf(", best %.2f", ev->strategy->score);
    if (ev->text.len > 0) printf(": ");
    print_text(ev->text);
    printf("\n");
}

/* Why the search ended, out of the result. */
static void print_reason(phi_agent agent) {
    phi_arena arena;
    phi_strategy_outcome outcome;
    phi_json *root = NULL;
    const phi_json *at;
    phi_arena_init(&arena, NULL, 0);
    if (phi_strategy_result(agent, &arena, &outcome) == PHI_OK &&
        phi_json_parse(&arena, outcome.result, 0, &root, NULL) == PHI_OK) {
        at = phi_json_get(root, "result") != NULL ? phi_json_get(root, "result") : root;
        printf(", ended by ");
        print_text(phi_json_str(phi_json_get(phi_json_get(at, "termination"), "reason"), "?"));
    }
    phi_arena_free(&arena);
}

static void play(const arm *a, uint64_t seed) {
    phi_runtime *rt = phi_runtime_new(NULL);
    phi_strategy_desc how = PHI_ZERO;
    phi_agent_desc desc = PHI_ZERO;
    phi_provider model, thinker;
    phi_agent agent;
    phi_event ev;
    static g24_model mind;
    int numbers[4];
    char prompt[200];
    uint64_t deal = seed, calls = 1;
    int runs;
    bool solved = false;
    if (rt == NULL) exit(1);
    g24_deal(&deal, numbers);
    g24_prompt(numbers, prompt, sizeof prompt);
    model = g24_provider(&mind, seed);
    how.strategy = a->strategy;
    how.options = a->options;
    how.provider = &model;
    thinker = phi_strategy_provider(&how);
    desc.model.protocol = "game24";
    desc.model.id = "player";
    desc.provider = a->strategy != NULL ? &thinker : &model;
    agent = phi_agent_new(rt, &desc);
    printf("%s: %s\n", a->name, prompt);
    if (phi_prompt(agent, prompt) != PHI_OK) exit(1);
    do {
        runs = phi_step(rt, 0);
        while (phi_next_event(rt, &ev)) {
            show(&ev);
            if (ev.kind == PHI_EV_STRATEGY) calls = ev.strategy->calls + 1; /* it makes one now */
            if (ev.kind == PHI_EV_MESSAGE_END) solved = g24_solves(ev.message, numbers);
        }
    } while (runs > 0);
    printf("    %s after %llu calls", solved ? "solved" : "not solved", (unsigned long long)calls);
    if (a->strategy != NULL) print_reason(agent);
    printf("\n");
    phi_runtime_free(rt);
}

int main(int argc, char **argv) {
    phi_got_options votes = PHI_ZERO;
    arm arms[9];
    size_t i;
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 24;
    memset(arms, 0, sizeof arms);
    votes.aggregation = PHI_GOT_VOTING;
    votes.generations = 3; /* as many as the game has steps */
    arms[0].name = "plain";
    arms[1].name = "cot";
    arms[1].strategy = phi_strategy_cot(PHI_COT_STEPS);
    arms[2].name = "cod";
    arms[2].strategy = phi_strategy_cot(PHI_COT_DRAFTS);
    arms[3].name = "aot";
    arms[3].strategy = phi_strategy_aot();
    arms[4].name = "tot";
    arms[4].strategy = phi_strategy_tot();
    arms[5].name = "got";
    arms[5].strategy = phi_strategy_got();
    arms[6].name = "got_votes";
    arms[6].strategy = phi_strategy_got();
    arms[6].options = &votes;
    arms[7].name = "trm";
    arms[7].strategy = phi_strategy_trm();
    arms[8].name = "adaptive";
    arms[8].strategy = phi_strategy_adaptive();
    for (i = 0; i < 9; i++)
        if (argc < 3 || strcmp(argv[2], arms[i].name) == 0) play(&arms[i], seed);
    return 0;
}
