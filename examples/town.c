/* town.c - forty villagers at sixty frames a second: they walk, talk in bubbles, and answer you.

   Type, and Enter says it to the chosen villager; a click or Tab chooses another; Esc quits.
   Each villager is an agent. The model is scripted; `live` asks a real one, at most 500 times.

   Look at frame (phi's part of a frame is two calls), let_think (the gate: a few villagers think
   at once, and you come first) and hear (the answer streams into a bubble).
   usage: town [live]
          town frames N FILE.bmp [WORDS]    a test: WORDS are typed, frame N is kept */
#define PHI_IMPLEMENTATION
#include "phi_tools.h"
#include "pick_model.h"
#include "town_draw.h"
#include "town_mind.h"

enum { AT_ONCE = 4, FRAME_MS = 16, LIVE_CALLS = 500 };

typedef struct town {
    SDL_Window *window;
    SDL_Renderer *renderer;
    phi_runtime *rt;
    phi_mock *mock;
    people people;
    int chosen, thinking, most_thinking, answers, errors;
    char typed[100];
    bool quits;
    Uint64 worst; /* ticks that phi took of a frame */
} town;

static bool town_open(town *t, bool live) {
    phi_runtime_desc clock = PHI_ZERO;
    phi_agent_desc desc = PHI_ZERO;
    const char *why = "";
    char prompt[160];
    if (!live) clock.clock_us_fn = people_clock;
    clock.user_data = &t->people;
    people_init(&t->people);
    t->rt = phi_runtime_new(&clock);
    t->mock = phi_mock_new(t->rt);
    if (t->mock == NULL) return false;
    t->mock->answer_fn = mind_answers;
    t->mock->user_data = &t->people;
    t->mock->delay_ms = 400;
    t->mock->max_requests = 1; /* so that a town that runs for days does not grow */
    desc.model = live ? pick_model(&why) : t->mock->model;
    if (live) desc.budget.max_requests = LIVE_CALLS;
    desc.parent = phi_agent_new(t->rt, &desc); /* says nothing: its budget is that of all others */
    desc.budget.max_requests = 0;
    desc.max_tokens = 100;
    desc.memory.limit_bytes = 64 << 10; /* a villager forgets old talks */
    desc.system_prompt = prompt;        /* copied */
    for (int i = 0; i < PEOPLE; i++) {
        villager *v = &t->people.all[i];
        (void)snprintf(prompt, sizeof prompt,
                       "You are %s, the %s of a small village. You say one short sentence.",
                       v->name, v->trade);
        desc.user_data = v; /* every event of the villager has it */
        v->mind = phi_agent_new(t->rt, &desc);
        if (v->mind.rt == NULL) return false;
    }
    return true;
}

/* The gate. A model has a price, and a small one on this machine thinks for one or two at a
   time. The others wait here, so that the chosen villager can go first;
   phi_runtime_desc.max_connections would let them wait in their order. */
static void let_think(town *t) {
    while (t->thinking < AT_ONCE) {
        villager *next = NULL;
        int i;
        for (i = 0; i < PEOPLE; i++) {
            villager *v = &t->people.all[i];
            if (v->wants[0] == '\0' || v->thinks) continue;
            if (i == t->chosen || next == NULL || v->since < next->since) next = v;
            if (i == t->chosen) break;
        }
        if (next == NULL) return;
        next->says[0] = '\0';
        next->thinks = phi_prompt(next->mind, next->wants) == PHI_OK;
        next->wants[0] = '\0';
        if (next->thinks) t->thinking++;
        if (t->thinking > t->most_thinking) t->most_thinking = t->thinking;
    }
}

static void hear(town *t, const phi_event *ev) {
    villager *v = (villager *)ev->user_data;
    switch (ev->kind) {
    case PHI_EV_TEXT: /* `partial` is the text so far, so nothing has to be added up */
        (void)snprintf(v->says, sizeof v->says, "%.*s", PHI_ARG(ev->partial));
        break;
    case PHI_EV_RETRACT: v->says[0] = '\0'; break; /* it broke off, and comes again */
    case PHI_EV_ERROR:
        (void)snprintf(v->says, sizeof v->says, "(%.*s)", PHI_ARG(ev->text));
        t->errors++;
        break;
    case PHI_EV_AGENT_END:
        t->thinking--, t->answers++;
        v->thinks = false;
        v->shown = READING;
        break;
    default: break;
    }
}

/* ---- keys and the mouse ---- */

static void say(town *t) {
    villager *v = &t->people.all[t->chosen];
    char prompt[160];
    (void)snprintf(prompt, sizeof prompt, "A traveller says: %s", t->typed);
    if (t->typed[0] != '\0') people_want(&t->people, v, prompt);
    t->typed[0] = '\0';
}

static void choose(town *t, int x, int y) {
    villager at = PHI_ZERO;
    int i;
    at.x = (float)(x / ZOOM);
    at.y = (float)(y / ZOOM + 8);
    for (i = 0; i < PEOPLE; i++)
        if (people_far(&t->people.all[i], &at) < people_far(&t->people.all[t->chosen], &at))
            t->chosen = i;
}

static void input(town *t) {
    SDL_Event e;
    while (SDL_PollEvent(&e)) {
        size_t n = strlen(t->typed);
        if (e.type == SDL_QUIT) t->quits = true;
        if (e.type == SDL_MOUSEBUTTONDOWN) choose(t, e.button.x, e.button.y);
        if (e.type == SDL_TEXTINPUT && n + strlen(e.text.text) < sizeof t->typed)
            memcpy(t->typed + n, e.text.text, strlen(e.text.text) + 1);
        if (e.type != SDL_KEYDOWN) continue;
        if (e.key.keysym.sym == SDLK_ESCAPE) t->quits = true;
        if (e.key.keysym.sym == SDLK_TAB) t->chosen = (t->chosen + 1) % PEOPLE;
        if (e.key.keysym.sym == SDLK_RETURN) say(t);
        if (e.key.keysym.sym == SDLK_BACKSPACE && n > 0) t->typed[n - 1] = '\0';
    }
}

/* ---- frames ---- */

static void frame(town *t) {
    Uint64 began = SDL_GetPerformanceCounter(), spent;
    phi_event ev;
    let_think(t);
    (void)phi_step(t->rt, 0);
    while (phi_next_event(t->rt, &ev)) hear(t, &ev);
    spent = SDL_GetPerformanceCounter() - began;
    if (spent > t->worst) t->worst = spent;
    input(t);
    people_step(&t->people);
    draw_place(t->renderer);
    draw_people(t->renderer, &t->people, t->chosen);
    draw_line(t->renderer, t->people.all[t->chosen].name, t->typed);
}

static bool window_open(town *t) {
    if (SDL_Init(SDL_INIT_VIDEO) != 0) return false;
    t->window = SDL_CreateWindow("A town of agents", SDL_WINDOWPOS_CENTERED, SDL_WINDOWPOS_CENTERED,
                                 TOWN_WIDE * ZOOM, TOWN_HIGH * ZOOM, 0);
    if (t->window == NULL) return false;
    t->renderer = SDL_CreateRenderer(t->window, -1, 0);
    SDL_StartTextInput();
    return t->renderer != NULL && SDL_RenderSetScale(t->renderer, ZOOM, ZOOM) == 0;
}

int main(int argc, char **argv) {
    static town t;
    bool test = argc > 3 && strcmp(argv[1], "frames") == 0;
    unsigned last = test ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
    int code = 0;
    if (!window_open(&t) || !town_open(&t, argc > 1 && strcmp(argv[1], "live") == 0)) {
        printf("! %s\n", t.rt == NULL ? SDL_GetError() : phi_last_error(t.rt).message);
        code = 1;
    }
    while (code == 0 && !t.quits) {
        Uint32 began = SDL_GetTicks();
        if (test && argc > 4 && t.people.frame + 100 == last) draw_type(argv[4]);
        frame(&t);
        if (test && t.people.frame == last) {
            t.quits = true;
            code = draw_keep(t.renderer, argv[3]) ? 0 : 1;
        }
        SDL_RenderPresent(t.renderer);
        began = SDL_GetTicks() - began;
        if (!test && began < FRAME_MS) SDL_Delay(FRAME_MS - began);
    }
    printf("%s: %s\n", t.people.all[t.chosen].name, t.people.all[t.chosen].says);
    printf("%u frames, %d answers, %d errors; at most %d thought at once; ", t.people.frame,
           t.answers, t.errors, t.most_thinking);
    printf("phi's longest part of a frame took %.1f ms\n",
           1e3 * (double)t.worst / (double)SDL_GetPerformanceFrequency());
    phi_runtime_free(t.rt);
    if (t.renderer != NULL) SDL_DestroyRenderer(t.renderer);
    if (t.window != NULL) SDL_DestroyWindow(t.window);
    SDL_Quit();
    return code;
}
