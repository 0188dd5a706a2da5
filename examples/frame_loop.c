/* frame_loop.c - a game at 60 frames a second with one NPC that thinks.

   The NPC's tool walk_to takes 300 frames: start returns PHI_PENDING, step moves one tile a frame. Esc
   cancels the run. At the end it prints what phi_step cost: the thread's CPU time of the worst frame,
   of one in a thousand, and of the middle one.
   usage: frame_loop [fast]     fast: frames of 1 ms, for tests */
#include "pick_model.h"
#include "typed.h"

#include <time.h>

enum { WALK_FRAMES = 300, MOST_FRAMES = 20000 };

typedef struct npc {
    phi_agent mind;
    char place[32]; /* where the walk under way leads */
    int walked;     /* its tiles so far */
} npc;

static phi_flow walk_start(void *user_data, phi_call call, phi_str arguments) {
    npc *smith = (npc *)user_data;
    (void)arguments;
    phi_call_arg_copy(call, "place", smith->place, sizeof smith->place);
    smith->walked = 0;
    return PHI_PENDING;
}

static phi_flow walk_step(void *user_data, phi_call call) {
    npc *smith = (npc *)user_data;
    if (++smith->walked < WALK_FRAMES) return PHI_PENDING;
    phi_call_replyf(call, "You are at the %s.", smith->place);
    return PHI_DONE;
}

static void walk_cancel(void *user_data, phi_call call) {
    (void)call;
    printf("\n[the smith stops after %d tiles]\n", ((npc *)user_data)->walked);
}

static double cpu_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static bool escape_pressed(void) {
    char c = 0;
    return typed_is_terminal(0) && typed_waits(0) && typed_read(&c, 1) == 1 && c == 27;
}

static void show(const phi_event *ev) {
    if (ev->kind == PHI_EV_TEXT) printf("%.*s", PHI_ARG(ev->text));
    if (ev->kind == PHI_EV_TOOL_START) printf("\n[walks: %.*s]\n", PHI_ARG(ev->arguments));
    if (ev->kind == PHI_EV_ERROR) printf("\n[error: %.*s]\n", PHI_ARG(ev->text));
    if (ev->kind == PHI_EV_AGENT_END) printf("\n[%s]\n", phi_status_text(ev->status));
    fflush(stdout);
}

static phi_agent make_smith(phi_runtime *rt, npc *smith) {
    phi_tool walk = PHI_ZERO;
    phi_agent_desc desc = PHI_ZERO;
    const char *why;
    walk.name = "walk_to";
    walk.description = "Walks to a place: forge, gate or well.";
    walk.schema = "{\"type\":\"object\",\"properties\":{\"place\":{\"type\":\"string\","
                  "\"enum\":[\"forge\",\"gate\",\"well\"]}},\"required\":[\"place\"]}";
    walk.start = walk_start;
    walk.step = walk_step;
    walk.cancel = walk_cancel;
    walk.user_data = smith;
    desc.model = pick_model(&why);
    desc.system_prompt = "You are the blacksmith of a small village. You speak little.";
    desc.tools = &walk;
    desc.tool_count = 1;
    return phi_agent_new(rt, &desc);
}

/* One frame: phi's share is timed, then the rest of the frame is slept away. */
static double frame(phi_runtime *rt, long frame_ns, int *runs) {
    struct timespec rest = {0, frame_ns};
    phi_event ev;
    double began = cpu_us(), spent;
    *runs = phi_step(rt, 0);
    spent = cpu_us() - began;
    while (phi_next_event(rt, &ev)) show(&ev);
    nanosleep(&rest, NULL); /* input, physics, drawing */
    return spent;
}

int main(int argc, char **argv) {
    static double spent[MOST_FRAMES];
    npc smith = PHI_ZERO;
    long frame_ns = argc > 1 && strcmp(argv[1], "fast") == 0 ? 1000000L : 16666667L;
    phi_runtime *rt = phi_runtime_new(NULL);
    int runs = 1, n = 0;
    if (rt == NULL) return 1;
    typed_raw(true);
    smith.mind = make_smith(rt, &smith);
    if (phi_prompt(smith.mind, "Can you mend this sword?") != PHI_OK) return 1;
    while (runs > 0 && n < MOST_FRAMES) {
        if (escape_pressed()) (void)phi_abort(smith.mind);
        spent[n++] = frame(rt, frame_ns, &runs);
    }
    typed_raw(false);
    phi_runtime_free(rt);
    qsort(spent, (size_t)n, sizeof spent[0], by_size);
    printf("%d frames; phi_step: worst %.0f us, p99.9 %.0f us, median %.1f us\n", n, spent[n - 1],
           spent[(n - 1) * 999 / 1000], spent[n / 2]);
    return 0;
}
