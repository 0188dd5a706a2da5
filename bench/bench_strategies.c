/* bench_strategies.c - the game of 24 by a model that really plays it (examples/game24_model.h), with each strategy and
   with plain prompts: how many of 200 seeded puzzles are solved, with how many calls and tokens, and how many by a
   model that never errs; and what a strategy costs: CPU a model call, and bytes.

       bench_strategies [PUZZLES]

   Beside each strategy stands plain prompting at equal calls, in two ways. `plain_vote`: as many plain answers as the
   strategy makes calls, on average over its puzzles, and the answer that comes most often, the first of equals; nobody
   checks. `plain_any`: at least one of them is right; somebody who can check takes it. */
#include "../examples/game24_model.h"
#include "phi_tools.h"
#include "kit.h"

enum { PUZZLES = 200, PUZZLES_MOST = 1000, CALLS_MOST = 64, ROUNDS = 9 };

typedef struct arm {
    const char *name;
    const phi_strategy *strategy; /* NULL: the plain loop */
    const void *options;
    bool tool;
} arm;

typedef struct score {
    double solved, calls, tokens; /* a puzzle */
} score;

/* ---- playing ---- */

static phi_flow compute(void *user_data, phi_call call, phi_str arguments) {
    const int *numbers = (const int *)user_data;
    phi_content content = PHI_ZERO;
    phi_tool_result result = PHI_ZERO;
    char text[100], answer[40];
    double value = 0;
    size_t i;
    (void)snprintf(text, sizeof text, "%.*s", (int)arguments.len, arguments.at);
    for (i = 0; text[i] != '\0'; i++)
        if (strchr("\"{}:", text[i]) != NULL) text[i] = ' ';
    if (g24_answer(text, numbers, &value))
        (void)snprintf(answer, sizeof answer, "%.6f", value);
    else
        (void)snprintf(answer, sizeof answer, "not an expression of these numbers");
    content.kind = PHI_CONTENT_TEXT;
    content.text = phi_str_of(answer);
    result.content = &content;
    result.content_count = 1;
    bench_expect(phi_call_result(call, &result), "phi_call_result");
    return PHI_DONE;
}

/* Plays one puzzle; the last answer's text, if `said` is given. */
static bool play(const arm *a, uint64_t puzzle, uint64_t noise, bool sure, score *sum, char *said,
                 size_t size) {
    static g24_model mind;
    phi_runtime *rt = phi_runtime_new(NULL);
    phi_strategy_desc how = PHI_ZERO;
    phi_agent_desc desc = PHI_ZERO;
    phi_tool tool = PHI_ZERO;
    phi_provider model = g24_provider(&mind, noise), thinker;
    phi_event ev;
    int numbers[4], runs;
    char prompt[200];
    bool solved = false;
    mind.sure = sure;
    g24_deal(&puzzle, numbers);
    g24_prompt(numbers, prompt, sizeof prompt);
    how.strategy = a->strategy;
    how.options = a->options;
    how.provider = &model;
    thinker = phi_strategy_provider(&how);
    desc.model.protocol = "game24";
    desc.model.id = "player";
    desc.provider = a->strategy != NULL ? &thinker : &model;
    tool.name = "compute";
    tool.start = compute;
    tool.user_data = numbers;
    tool.may_repeat = true;
    tool.schema = "{\"type\":\"object\",\"properties\":{\"expression\":{\"type\":\"string\"}}}";
    desc.tools = &tool;
    desc.tool_count = a->tool ? 1 : 0;
    desc.limits.max_turns = 10; /* of the plain loop with a tool */
    bench_expect(phi_prompt(phi_agent_new(rt, &desc), prompt), "phi_prompt");
    do {
        runs = phi_step(rt, 0);
        while (phi_next_event(rt, &ev)) {
            if (ev.kind != PHI_EV_MESSAGE_END || ev.message->role != PHI_ROLE_ASSISTANT) continue;
            solved = g24_solves(ev.message, numbers);
            if (said != NULL && ev.message->content_count > 0)
                (void)snprintf(said, size, "%.*s", (int)ev.message->content[0].text.len,
                               ev.message->content[0].text.at);
        }
    } while (runs > 0);
    phi_runtime_free(rt);
    sum->solved += solved;
    sum->calls += (double)mind.calls;
    sum->tokens += (double)mind.tokens;
    return solved;
}

/* ---- plain prompting ---- */

static bool plain_right[PUZZLES_MOST][CALLS_MOST];
static char plain_said[PUZZLES_MOST][CALLS_MOST][80];
static score plain_one;

static void play_plain(size_t puzzles) {
    arm plain = {"plain", NULL, NULL, false};
    size_t i, k;
    for (i = 0; i < puzzles; i++)
        for (k = 0; k < CALLS_MOST; k++)
            plain_right[i][k] = play(&plain, i + 1, 1000003 * (k + 1) + i, false, &plain_one,
                                     plain_said[i][k], sizeof plain_said[i][k]);
}

static size_t plain_vote(size_t puzzle, size_t calls) {
    size_t best = 0, most = 0, k, j, votes;
    for (k = 0; k < calls; k++) {
        for (j = votes = 0; j < calls; j++)
            votes += strcmp(plain_said[puzzle][k], plain_said[puzzle][j]) == 0;
        if (votes <= most) continue;
        most = votes;
        best = k;
    }
    return best;
}

static void print_plain(const char *name, size_t puzzles, size_t calls) {
    size_t i, k, vote = 0, any = 0;
    char line[100];
    if (calls > CALLS_MOST) calls = CALLS_MOST;
    for (i = 0; i < puzzles; i++) {
        bool right = false;
        for (k = 0; k < calls; k++) right = right || plain_right[i][k];
        any += right;
        vote += plain_right[i][plain_vote(i, calls)];
    }
    (void)snprintf(line, sizeof line, "strategies_%s_plain_vote", name);
    bench_line(line, 100.0 * (double)vote / (double)puzzles, "percent");
    (void)snprintf(line, sizeof line, "strategies_%s_plain_any", name);
    bench_line(line, 100.0 * (double)any / (double)puzzles, "percent");
}

static void measure(const arm *a, size_t puzzles) {
    score sum = {0, 0, 0}, sure = {0, 0, 0};
    char line[100];
    size_t i;
    for (i = 0; i < puzzles; i++) {
        (void)play(a, i + 1, 7919 * (i + 1), false, &sum, NULL, 0);
        (void)play(a, i + 1, 7919 * (i + 1), true, &sure, NULL, 0);
    }
    (void)snprintf(line, sizeof line, "strategies_%s_solved", a->name);
    bench_line(line, 100.0 * sum.solved / (double)puzzles, "percent");
    (void)snprintf(line, sizeof line, "strategies_%s_sure_solved", a->name);
    bench_line(line, 100.0 * sure.solved / (double)puzzles, "percent");
    (void)snprintf(line, sizeof line, "strategies_%s_sure_calls", a->name);
    bench_line(line, sure.calls / (double)puzzles, "calls");
    (void)snprintf(line, sizeof line, "strategies_%s_calls", a->name);
    bench_line(line, sum.calls / (double)puzzles, "calls");
    (void)snprintf(line, sizeof line, "strategies_%s_tokens", a->name);
    bench_line(line, sum.tokens / (double)puzzles, "tokens");
    print_plain(a->name, puzzles, (size_t)(sum.calls / (double)puzzles + 0.5));
}

/* ---- what a strategy costs: answers that cost nothing ---- */

static bool holds(phi_str text, const char *word) {
    size_t n = strlen(word), i;
    for (i = 0; i + n <= text.len; i++)
        if (memcmp(text.at + i, word, n) == 0) return true;
    return false;
}

/* An answer in the form that is asked for; none is good enough to end a search. */
static const char *canned(phi_str system, uint64_t n) {
    static char scored[60];
    if (holds(system, "\"thoughts\""))
        return "{\"thoughts\":[{\"id\":\"t1\",\"content\":\"the first of three thoughts\"},"
               "{\"id\":\"t2\",\"content\":\"the second of three thoughts\"},"
               "{\"id\":\"t3\",\"content\":\"the third of three thoughts\"}]}";
    if (holds(system, "\"scores\"")) return "{\"scores\":{\"t1\":0.5,\"t2\":0.6,\"t3\":0.4}}";
    if (holds(system, "numbered lines and"))
        return "1. the first of three thoughts\n2. the second of three thoughts\n"
               "3. the third of three thoughts";
    if (holds(system, "CONNECTION:"))
        return "CONNECTION: [1] -> [2] : the first one supports the second one\n"
               "CONNECTION: [3] -> [2] : the third one completes the second one";
    if (holds(system, "SCORE:")) {
        (void)snprintf(scored, sizeof scored, "ISSUE: something\nSUGGESTION: else\nSCORE: 0.%02u",
                       (unsigned)(10 + n * 4 % 60));
        return scored;
    }
    return "Step 1: this and that\nStep 2: and something else\nanswer: a short one";
}

typedef struct parrot {
    const char *text;
    uint64_t calls;
} parrot;

static phi_status parrot_open(void *user_data, const phi_model_request *request, void **call) {
    parrot *p = (parrot *)user_data;
    p->text = canned(request->system_prompt, p->calls++);
    *call = p;
    return PHI_OK;
}

static phi_poll parrot_poll(void *user_data, void *call, phi_answer *answer) {
    (void)user_data;
    phi_answer_text(answer, phi_str_of(((parrot *)call)->text));
    return PHI_POLL_DONE;
}

static void parrot_close(void *user_data, void *call) {
    (void)user_data;
    (void)call;
}

/* CPU of a prompt from its beginning to its end, a model call, in microseconds; the agent's most
   memory. */
static double prompt_us(const arm *a, size_t *bytes) {
    phi_runtime *rt = phi_runtime_new(NULL);
    phi_strategy_desc how = PHI_ZERO;
    phi_agent_desc desc = PHI_ZERO;
    phi_provider model = PHI_ZERO, thinker;
    parrot bird = {NULL, 0};
    phi_agent agent;
    phi_event ev;
    uint64_t from;
    double us;
    int runs;
    model.protocol = "parrot";
    model.user_data = &bird;
    model.open = parrot_open;
    model.poll = parrot_poll;
    model.close = parrot_close;
    how.strategy = a->strategy;
    how.options = a->options;
    how.provider = &model;
    thinker = phi_strategy_provider(&how);
    desc.model.protocol = "parrot";
    desc.model.id = "parrot";
    desc.provider = a->strategy != NULL ? &thinker : &model;
    agent = phi_agent_new(rt, &desc);
    from = bench_cpu_ns();
    bench_expect(phi_prompt(agent, "A question of some length, as people ask it."), "phi_prompt");
    do {
        runs = phi_step(rt, 0);
        while (phi_next_event(rt, &ev)) {}
    } while (runs > 0);
    us = (double)(bench_cpu_ns() - from) / 1000.0 / (double)bird.calls;
    *bytes = phi_agent_get_info(agent).memory_peak;
    phi_runtime_free(rt);
    return us;
}

/* CPU of the machine alone, a model call, in microseconds; its own most memory. */
static double machine_us(const arm *a, size_t *bytes) {
    phi_memory memory;
    phi_arena arena, scratch;
    phi_strategy_env env = PHI_ZERO;
    phi_strategy_event event = PHI_ZERO;
    void *state = bench_alloc(a->strategy->state_bytes);
    uint64_t calls = 0, ns = 0, from, clock = bench_clock_cost_ns();
    bool over = false;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    phi_arena_init(&scratch, &memory, 0);
    env.options = a->options;
    env.arena = &arena;
    env.scratch = &scratch;
    env.calls_left = PHI_UNLIMITED;
    event.kind = PHI_STRATEGY_BEGIN;
    event.text = phi_str_of("A question of some length, as people ask it.");
    while (!over) {
        phi_strategy_commands commands;
        size_t i;
        commands.count = 0;
        from = bench_cpu_ns();
        bench_expect(a->strategy->on(state, &event, &env, &commands), "a machine");
        ns += bench_cpu_ns() - from;
        ns -= ns > clock ? clock : 0; /* of asking for the time */
        over = true;
        for (i = 0; i < commands.count; i++)
            if (commands.at[i].kind == PHI_STRATEGY_ASK) {
                over = false;
                event.kind = PHI_STRATEGY_ANSWER;
                event.call_id = commands.at[i].call.id;
                event.text = phi_str_of(canned(commands.at[i].call.system_prompt, calls++));
            }
        phi_arena_free(&scratch);
    }
    *bytes = memory.peak_bytes + a->strategy->state_bytes;
    phi_arena_free(&arena);
    free(state);
    return (double)ns / 1000.0 / (double)calls;
}

static void cost(const arm *a) {
    double whole[ROUNDS], own[ROUNDS];
    size_t i, agent_bytes = 0, bytes = 0;
    char line[100];
    for (i = 0; i < ROUNDS; i++) {
        whole[i] = prompt_us(a, &agent_bytes);
        own[i] = a->strategy != NULL ? machine_us(a, &bytes) : 0;
    }
    (void)snprintf(line, sizeof line, "strategies_%s_call", a->name);
    bench_line(line, bench_median(whole, ROUNDS), "us");
    (void)snprintf(line, sizeof line, "strategies_%s_agent", a->name);
    bench_line(line, (double)agent_bytes, "bytes");
    if (a->strategy == NULL) return;
    (void)snprintf(line, sizeof line, "strategies_%s_call_own", a->name);
    bench_line(line, bench_median(own, ROUNDS), "us");
    (void)snprintf(line, sizeof line, "strategies_%s_machine", a->name);
    bench_line(line, (double)bytes, "bytes");
}

static arm arm_of(const char *name, const phi_strategy *strategy, const void *options) {
    arm a;
    a.name = name;
    a.strategy = strategy;
    a.options = options;
    a.tool = false;
    return a;
}

int main(int argc, char **argv) {
    size_t puzzles = argc > 1 ? (size_t)strtoul(argv[1], NULL, 10) : PUZZLES, i;
    phi_tot_options deep = PHI_ZERO, once = PHI_ZERO;
    phi_got_options votes = PHI_ZERO, weighted = PHI_ZERO;
    arm arms[13];
    if (puzzles == 0 || puzzles > PUZZLES_MOST) puzzles = PUZZLES;
    deep.traversal = PHI_TOT_DFS;
    once.evaluations = 1;
    votes.generations = weighted.generations = 3; /* the game's steps */
    votes.aggregation = PHI_GOT_VOTING;
    weighted.aggregation = PHI_GOT_WEIGHTED;
    arms[0] = arm_of("plain", NULL, NULL);
    arms[1] = arm_of("react", NULL, NULL);
    arms[1].tool = true;
    arms[2] = arm_of("cot", phi_strategy_cot(PHI_COT_STEPS), NULL);
    arms[3] = arm_of("cod", phi_strategy_cot(PHI_COT_DRAFTS), NULL);
    arms[4] = arm_of("aot", phi_strategy_aot(), NULL);
    arms[5] = arm_of("tot", phi_strategy_tot(), NULL);
    arms[6] = arm_of("tot_dfs", phi_strategy_tot(), &deep);
    arms[7] = arm_of("got", phi_strategy_got(), NULL);
    arms[8] = arm_of("got_votes", phi_strategy_got(), &votes);
    arms[9] = arm_of("got_weighted", phi_strategy_got(), &weighted);
    arms[10] = arm_of("trm", phi_strategy_trm(), NULL);
    arms[11] = arm_of("adaptive", phi_strategy_adaptive(), NULL);
    arms[12] = arm_of("tot_once", phi_strategy_tot(), &once);
    for (i = 0; i < 13; i++)
        if (i != 1) cost(&arms[i]);
    play_plain(puzzles);
    bench_line("strategies_plain_solved", 100.0 * plain_one.solved / (double)(puzzles * CALLS_MOST),
               "percent");
    bench_line("strategies_plain_tokens", plain_one.tokens / (double)(puzzles * CALLS_MOST),
               "tokens");
    for (i = 1; i < 13; i++) measure(&arms[i], puzzles);
    return 0;
}
