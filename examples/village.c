/* village.c - an example for games: a cast that thinks, in one file.

   Eight villagers live along a road on which the player walks. One call of frame() is one frame.
   - The cast: each villager is an agent with a tool, give, that reads its argument.
   - The memory: facts that all villagers know, and facts that one villager knows.
   - The crowd: at most two villagers think at a time, the nearest first, nobody beyond earshot.
   - The budget: all villagers spend from one purse, which is filled up every hour.
   - Save and load: the whole village as one text, at any moment.
   - Quitting: what still runs ends, and everything is freed.

   usage: village [--model]     --model: a real model, in place of scripted_answer
   Build it with a second file: #define PHI_IMPLEMENTATION and #include "phi_tools.h". */
#include "phi_tools.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CAST = 8, EARSHOT = 12, THINKERS = 2, CALLS_AN_HOUR = 60, BUBBLE = 160, LINE = 200 };

typedef struct villager {
    const char *name, *trade;
    float x;
    int gold;
    int *player_gold;
    char prompt[LINE];
    phi_tool give;
    phi_agent mind;
    char bubble[BUBBLE]; /* what is drawn above the villager's head */
    char heard[LINE];    /* what the player said, until the villager may think about it */
} villager;

typedef struct village {
    phi_runtime *rt;
    phi_model model;
    phi_agent purse; /* never prompted: its budget is that of all villagers */
    villager cast[CAST];
    float player_x;
    int player_gold;
    double hour;          /* seconds since the purse was filled */
    unsigned long filled; /* model calls until then */
} village;

static const char *const people[CAST][2] = {
    {"Anna", "smith"},  {"Bert", "baker"},  {"Cleo", "healer"}, {"Dora", "miller"},
    {"Emil", "hunter"}, {"Fina", "weaver"}, {"Gert", "guard"},  {"Hilda", "innkeeper"}};

/* ---- a tool ---- */

/* phi has checked the arguments against the schema. An agent forgets old talk, but not its facts. */
static phi_flow give_start(void *user_data, phi_call call, phi_str arguments) {
    villager *who = (villager *)user_data;
    int64_t gold = phi_call_arg_int(call, "gold", 0);
    char debt[40];
    (void)arguments;
    if (gold > who->gold) {
        phi_call_failf(call, "You have only %d gold.", who->gold);
        return PHI_DONE;
    }
    who->gold -= (int)gold;
    *who->player_gold += (int)gold;
    snprintf(debt, sizeof debt, "owes you %d gold", 10 - who->gold);
    (void)phi_fact_set(phi_fact_agent(who->mind), "the player", phi_str_of(debt), NULL);
    phi_call_replyf(call, "You have %d gold left.", who->gold);
    return PHI_DONE;
}

/* ---- the cast ---- */

/* The desc of a villager, or of the purse (who is NULL), for a new game and for a loaded one. */
static phi_agent_desc describe(village *v, villager *who) {
    phi_agent_desc desc = PHI_ZERO;
    desc.model = v->model;
    if (who == NULL) {
        desc.ids.agent_id = "purse";
        desc.budget.max_requests = CALLS_AN_HOUR; /* max_cost: dollars, if the model has rates */
        return desc;
    }
    who->give.name = "give";
    who->give.description = "Gives the player some of your gold.";
    who->give.schema = "{\"type\":\"object\",\"properties\":{\"gold\":{\"type\":\"integer\","
                       "\"minimum\":1}},\"required\":[\"gold\"]}";
    who->give.start = give_start;
    who->give.user_data = who;
    desc.system_prompt = who->prompt;
    desc.ids.agent_id = who->name;
    desc.parent = v->purse;
    desc.user_data = who; /* every event of this agent has it */
    desc.tools = &who->give;
    desc.tool_count = 1;
    desc.max_tokens = 200;
    desc.memory.limit_bytes = 256u << 10; /* at the limit a villager forgets the oldest talk */
    return desc;
}

static void scripted_answer(void *user_data, phi_mock *mock, const phi_model_request *request) {
    size_t i = request->message_count - 1;
    while (i > 0 && request->messages[i]->is_update)
        i--; /* an update has facts, and is no question */
    const phi_message *last = request->messages[i];
    (void)user_data;
    if (last->role == PHI_ROLE_TOOL_RESULT)
        phi_mock_text(mock, "Take it, and pay me back.");
    else if (phi_str_is(last->content[0].text, "Lend me three gold, please."))
        phi_mock_call(mock, "give", "{\"gold\":3}");
    else
        phi_mock_text(mock, "They say that a wolf is in the hills, so stay on the road.");
}

/* A runtime and a model; the cast comes from begin or load. False: no memory. */
static bool open_village(village *v, bool real_model) {
    static const phi_feature_fn features[] = {phi_feature_facts, NULL};
    phi_runtime_desc desc = PHI_ZERO;
    phi_mock *mock;
    desc.features = features;
    desc.memory_limit_bytes = 16u << 20; /* of all villagers together */
    v->rt = phi_runtime_new(&desc);
    if (v->rt == NULL) return false;
    if (real_model) {
        const char *key = getenv("ANTHROPIC_API_KEY");
        v->model = key != NULL ? phi_model_anthropic("claude-sonnet-4-5", key)
                               : phi_model_local("http://localhost:11434/v1", "llama3.2", NULL);
    } else {
        mock = phi_mock_new(v->rt);
        if (mock == NULL) return false;
        mock->answer_fn = scripted_answer;
        v->model = mock->model;
    }
    for (int i = 0; i < CAST; i++) {
        villager *who = &v->cast[i];
        who->name = people[i][0];
        who->trade = people[i][1];
        who->player_gold = &v->player_gold;
        snprintf(who->prompt, sizeof who->prompt,
                 "You are %s, the %s of a small village. Answer in one sentence.", who->name,
                 who->trade);
    }
    return true;
}

static bool begin(village *v) {
    phi_agent_desc desc = describe(v, NULL);
    v->purse = phi_agent_new(v->rt, &desc);
    for (int i = 0; i < CAST; i++) {
        villager *who = &v->cast[i];
        who->x = (float)(8 * i);
        who->gold = 10;
        desc = describe(v, who);
        who->mind = phi_agent_new(v->rt, &desc);
        if (who->mind.rt == NULL) return false;
    }
    return true;
}

/* ---- the crowd ---- */

/* The player speaks to a villager. A villager who is thinking hears it with the next model call. */
static void say_to(villager *who, const char *text) {
    if (phi_agent_get_info(who->mind).running)
        (void)phi_steer(who->mind, text);
    else
        snprintf(who->heard, sizeof who->heard, "%s", text);
}

/* Lets the nearest villagers think who have heard something, if the purse has a call for each. */
static void let_think(village *v) {
    unsigned long spent = (unsigned long)phi_agent_get_info(v->purse).spending.requests;
    for (;;) {
        villager *next = NULL;
        int thinking = 0;
        for (int i = 0; i < CAST; i++) {
            villager *who = &v->cast[i];
            float distance = fabsf(who->x - v->player_x);
            thinking += phi_agent_get_info(who->mind).running;
            if (who->heard[0] == '\0' || distance > (float)EARSHOT) continue;
            if (next == NULL || distance < fabsf(next->x - v->player_x)) next = who;
        }
        if (next == NULL || thinking >= THINKERS) return;
        if (spent + (unsigned long)thinking >= CALLS_AN_HOUR + v->filled) return;
        if (phi_prompt(next->mind, next->heard) != PHI_OK) return; /* the next frame tries again */
        next->heard[0] = '\0';
        snprintf(next->bubble, sizeof next->bubble, "...");
    }
}

/* Gives back every hour what the villagers spent in it. */
static void fill_purse(village *v, double seconds) {
    unsigned long spent = (unsigned long)phi_agent_get_info(v->purse).spending.requests;
    phi_raise by = PHI_ZERO;
    v->hour += seconds;
    if (v->hour < 3600) return;
    by.requests = spent - v->filled;
    if (phi_budget_raise(v->purse, &by) != PHI_OK) return;
    v->filled = spent;
    v->hour = 0;
}

static void show(const phi_event *ev) {
    villager *who = (villager *)ev->user_data;
    if (who == NULL) return;
    switch (ev->kind) {
    case PHI_EV_TEXT: /* partial is the text so far, text is what is new */
        snprintf(who->bubble, sizeof who->bubble, "%.*s", PHI_ARG(ev->partial));
        break;
    case PHI_EV_RETRACT: snprintf(who->bubble, sizeof who->bubble, "..."); break;
    case PHI_EV_AGENT_END:
        if (ev->status != PHI_OK) /* a failure, or a limit */
            snprintf(who->bubble, sizeof who->bubble, "(%.*s)", PHI_ARG(ev->text));
        printf("%s: %s\n", who->name, who->bubble);
        break;
    default: break;
    }
}

/* A frame. True: somebody thinks. */
static bool frame(village *v, double seconds) {
    phi_event ev;
    int runs;
    fill_purse(v, seconds);
    let_think(v);
    runs = phi_step(v->rt, 16); /* a game that draws gives 0, which never sleeps */
    while (phi_next_event(v->rt, &ev)) show(&ev);
    return runs > 0;
}

/* ---- save and load ---- */

/* A game writes a new file, and renames it when it is whole. */
static bool write_all(const char *path, const village *v, phi_str minds) {
    FILE *file = fopen(path, "wb");
    if (file == NULL) return false;
    bool done = fprintf(file, "%d %g %g %lu\n", v->player_gold, (double)v->player_x, v->hour,
                        v->filled) > 0;
    for (int i = 0; i < CAST; i++)
        done = done && fprintf(file, "%d %g\n", v->cast[i].gold, (double)v->cast[i].x) > 0;
    done = done && fwrite(minds.at, 1, minds.len, file) == minds.len;
    return fclose(file) == 0 && done;
}

/* The game's own lines come first, then phi's text with all agents and facts. */
static bool save(village *v, const char *path) {
    phi_arena arena;
    phi_str minds;
    phi_status status;
    phi_arena_init(&arena, NULL, 0);
    do status = phi_runtime_snapshot(v->rt, &arena, &minds); /* works for about a step each time */
    while (status == PHI_BUSY);
    bool done = status == PHI_OK && write_all(path, v, minds);
    phi_arena_free(&arena);
    return done;
}

/* Called for each agent of the text; the purse is the first, because it is above all others. */
static bool describe_saved(void *user_data, phi_str agent_id, size_t index, const phi_agent *agents,
                           phi_agent_desc *out) {
    village *v = (village *)user_data;
    villager *who = NULL;
    for (int i = 0; i < CAST; i++)
        if (phi_str_is(agent_id, v->cast[i].name)) who = &v->cast[i];
    v->purse = index > 0 ? agents[0] : v->purse;
    *out = describe(v, who);
    return who != NULL || index == 0;
}

static bool read_game(village *v, FILE *file) {
    bool done =
        fscanf(file, "%d %f %lf %lu", &v->player_gold, &v->player_x, &v->hour, &v->filled) == 4;
    for (int i = 0; i < CAST; i++)
        done = done && fscanf(file, "%d %f", &v->cast[i].gold, &v->cast[i].x) == 2;
    return done && fgetc(file) == '\n';
}

static bool read_minds(village *v, phi_str text) {
    phi_restore_desc desc = PHI_ZERO;
    phi_arena arena;
    const phi_agent *agents;
    size_t count;
    phi_status status;
    desc.desc_fn = describe_saved;
    desc.user_data = v;
    phi_arena_init(&arena, NULL, 0);
    do status = phi_runtime_restore(v->rt, text, &desc, &arena, &agents, &count);
    while (status == PHI_BUSY);
    for (size_t i = 1; status == PHI_OK && i < count; i++) {
        phi_str id = phi_agent_get_info(agents[i]).agent_id;
        for (int k = 0; k < CAST; k++)
            if (phi_str_is(id, v->cast[k].name)) v->cast[k].mind = agents[i];
    }
    phi_arena_free(&arena);
    return status == PHI_OK;
}

static bool load(village *v, const char *path) {
    static char text[1 << 20];
    FILE *file = fopen(path, "rb");
    if (file == NULL) return false;
    bool done = read_game(v, file);
    size_t n = done ? fread(text, 1, sizeof text, file) : 0;
    done = done && n < sizeof text; /* else the text was cut */
    fclose(file);
    phi_str minds = PHI_ZERO;
    minds.at = text;
    minds.len = n;
    return done && read_minds(v, minds);
}

/* Ends what runs, and frees all agents. */
static void quit(village *v) {
    while (phi_runtime_close(v->rt) == PHI_BUSY) phi_step(v->rt, 10);
    phi_runtime_free(v->rt);
}

/* ---- an afternoon ---- */

int main(int argc, char **argv) {
    static village first, again;
    bool real = argc > 1 && strcmp(argv[1], "--model") == 0;
    const double seconds = 1.0 / 60;
    if (!open_village(&first, real) || !begin(&first)) return 1;

    /* All know that it rains; the guard alone knows the password. */
    phi_fact_scope guard = phi_fact_agent(first.cast[6].mind);
    if (phi_fact_set(phi_fact_all(first.rt), "weather", phi_str_of("rain"), NULL) != PHI_OK ||
        phi_fact_set(guard, "password", phi_str_of("swordfish"), NULL) != PHI_OK) {
        printf("%s\n", phi_last_error(first.rt).message);
        return 1;
    }

    for (int i = 0; i < CAST; i++) say_to(&first.cast[i], "Is the road safe?");
    while (frame(&first, seconds)) continue; /* those within earshot have answered */
    say_to(&first.cast[0], "Lend me three gold, please.");
    for (int i = 0; i < 3; i++) (void)frame(&first, seconds);
    printf("[saved while Anna thinks: %s]\n", save(&first, "village.sav") ? "yes" : "no");
    quit(&first);

    if (!open_village(&again, real) || !load(&again, "village.sav")) return 1;
    while (frame(&again, seconds)) continue; /* Anna goes on where she was */
    printf("[the player has %d gold, Anna %d]\n", again.player_gold, again.cast[0].gold);
    again.player_x = 48; /* the player walks to the guard */
    say_to(&again.cast[6], "Is the road safe?");
    while (frame(&again, seconds)) continue;
    quit(&again);
    return 0;
}
