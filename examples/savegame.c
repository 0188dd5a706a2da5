/* savegame.c - F5 and F9 in the middle of a tool call.

   The smith needs sixty frames for a sword. The player saves at frame 30 and quits; the program that loads the game
   is another one, as far as phi is concerned: a new runtime, a new agent, and the sword is finished in it. */
#define PHI_IMPLEMENTATION
#include "phi_tools.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The game's own state, saved by the game: how far the sword is. */
typedef struct smithy {
    int frames;
    phi_call call; /* the one that waits for the sword; a handle is not saved */
} smithy;

static phi_flow forge_start(void *user_data, phi_call call, phi_str arguments) {
    smithy *s = (smithy *)user_data;
    (void)arguments;
    s->frames = 0;
    s->call = call;
    return PHI_PENDING;
}

/* After loading: the same work, under a new handle. What is done so far is the game's to know. */
static phi_flow forge_resume(void *user_data, phi_call call, phi_str arguments) {
    smithy *s = (smithy *)user_data;
    (void)arguments;
    s->call = call;
    printf("\n[loaded: the smith goes on at frame %d]", s->frames);
    return PHI_PENDING;
}

static phi_flow forge_step(void *user_data, phi_call call) {
    smithy *s = (smithy *)user_data;
    if (++s->frames < 60) return PHI_PENDING;
    phi_call_reply(call, "a sword of good steel");
    return PHI_DONE;
}

typedef struct game {
    smithy smithy;
    phi_mock *mock;
    phi_tool tool;
    phi_agent_desc desc;
    phi_runtime *rt;
    phi_agent smith;
} game;

static bool game_open(game *g) {
    phi_tool tool = PHI_ZERO;
    phi_agent_desc desc = PHI_ZERO;
    g->rt = phi_runtime_new(NULL);
    tool.name = "forge";
    tool.start = forge_start;
    tool.step = forge_step;
    tool.resume = forge_resume;
    tool.user_data = &g->smithy;
    g->tool = tool;
    g->desc = desc;
    g->mock = phi_mock_new(g->rt);
    if (g->mock == NULL) return false;
    g->desc.model = g->mock->model;
    g->desc.tools = &g->tool;
    g->desc.tool_count = 1;
    return true;
}

/* A frame; false: nothing goes on any more. */
static bool game_frame(game *g) {
    phi_event ev;
    int runs = phi_step(g->rt, 0);
    while (phi_next_event(g->rt, &ev)) {
        if (ev.kind == PHI_EV_TEXT) printf("%.*s", PHI_ARG(ev.text));
        if (ev.kind == PHI_EV_TOOL_START) printf("[the smith begins]");
        if (ev.kind == PHI_EV_TOOL_END) printf("\n[the smith is done]\n");
    }
    return runs > 0;
}

/* F5. The text could go to a file; it is the caller's to free. */
static char *game_save(game *g) {
    phi_arena arena;
    phi_str text;
    char *saved = NULL;
    phi_arena_init(&arena, NULL, 0);
    if (phi_agent_snapshot(g->smith, &arena, &text) == PHI_OK) {
        saved = (char *)malloc(text.len + 1);
        if (saved != NULL) memcpy(saved, text.at, text.len + 1);
        printf("\n[saved: %d bytes]", (int)text.len);
    }
    phi_arena_free(&arena);
    return saved;
}

int main(void) {
    static game first, second;
    char *saved = NULL;
    int frame;
    if (!game_open(&first)) return 1;
    phi_mock_call(first.mock, "forge", NULL);
    first.smith = phi_agent_new(first.rt, &first.desc);
    if (phi_prompt(first.smith, "Make me a sword.") != PHI_OK) return 1;
    for (frame = 0; frame < 30; frame++) (void)game_frame(&first);
    saved = game_save(&first); /* F5 */
    phi_runtime_free(first.rt);
    if (saved == NULL || !game_open(&second)) return 1;
    phi_mock_text(second.mock, "Here it is: a sword of good steel.");
    second.smithy.frames = first.smithy.frames; /* out of the game's own save */
    second.smith =
        phi_agent_restore(second.rt, &second.desc, phi_str_of(saved), PHI_RESTORE_RESUME); /* F9 */
    free(saved);
    while (game_frame(&second)) continue;
    printf("\n");
    phi_runtime_free(second.rt);
    return 0;
}
