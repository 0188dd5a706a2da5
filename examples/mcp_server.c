/* mcp_server.c - a game that MCP clients play: an editor, another agent, or a test.

   usage: mcp_server              over stdin and stdout, as editors start it
          mcp_server PORT [TOKEN] over HTTP on this machine (0: any port, which is printed)
   A hero on an island. Clients see the map (a resource they can watch), send the hero somewhere (a
   call that takes as many frames as there are steps, and can be cancelled) and plant trees. The
   game never waits for them: a frame is a phi_step. */
#define PHI_IMPLEMENTATION
#include "phi_tools.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDE = 12, HIGH = 6, FRAME_MS = 20 };

typedef struct game {
    char land[HIGH][WIDE]; /* '.' or 'T' */
    int x, y;              /* of the hero */
    int to_x, to_y, steps; /* of the walk that `walk` waits for */
    bool walking;
    phi_call walk;
    char text[WIDE * HIGH + 200];
    phi_mcp_server *server;
} game;

static const char map_uri[] = "island://map";

/* ---- the world ---- */

static void world_new(game *g) {
    memset(g->land, '.', sizeof g->land);
    g->land[1][4] = g->land[2][4] = 'T';
}

static const char *world_drawn(game *g) {
    int x, y, n = 0;
    for (y = 0; y < HIGH; y++) {
        for (x = 0; x < WIDE; x++) g->text[n++] = x == g->x && y == g->y ? '@' : g->land[y][x];
        g->text[n++] = '\n';
    }
    g->text[n] = '\0';
    return g->text;
}

static bool on_land(int64_t x, int64_t y) { return x >= 0 && x < WIDE && y >= 0 && y < HIGH; }

static int step_towards(int from, int to) { return from < to ? 1 : from > to ? -1 : 0; }

/* One step a frame, around nothing: a tree ends the walk. */
static void world_frame(game *g) {
    int x, y, left;
    if (!g->walking) return;
    x = g->x + step_towards(g->x, g->to_x);
    y = x != g->x ? g->y : g->y + step_towards(g->y, g->to_y);
    if (g->land[y][x] == 'T') {
        g->walking = false;
        phi_call_fail(g->walk, "A tree is in the way.");
        return;
    }
    g->x = x;
    g->y = y;
    left = abs(g->to_x - x) + abs(g->to_y - y);
    phi_mcp_server_updated(g->server, map_uri);
    (void)phi_mcp_progress(phi_mcp_incoming_of(g->walk), g->steps - left, g->steps, NULL);
    if (left > 0) return;
    g->walking = false;
    phi_call_reply(g->walk, "The hero is there.");
}

/* ---- what clients can do ---- */

static phi_flow look(void *user_data, phi_call call, phi_str arguments) {
    (void)arguments;
    phi_call_reply(call, world_drawn((game *)user_data));
    return PHI_DONE;
}

static phi_flow plant(void *user_data, phi_call call, phi_str arguments) {
    game *g = (game *)user_data;
    int64_t x = phi_call_arg_int(call, "x", -1), y = phi_call_arg_int(call, "y", -1);
    (void)arguments;
    if (!on_land(x, y)) {
        phi_call_fail(call, "That is in the sea.");
    } else if (x == g->x && y == g->y) {
        phi_call_fail(call, "The hero stands there.");
    } else {
        g->land[y][x] = 'T';
        phi_mcp_server_updated(g->server, map_uri);
        phi_call_reply(call, "A tree grows there.");
    }
    return PHI_DONE;
}

static phi_flow walk(void *user_data, phi_call call, phi_str arguments) {
    game *g = (game *)user_data;
    int64_t x = phi_call_arg_int(call, "x", -1), y = phi_call_arg_int(call, "y", -1);
    (void)arguments;
    if (!on_land(x, y)) {
        phi_call_fail(call, "That is in the sea.");
    } else if (g->walking) {
        phi_call_fail(call, "The hero is walking already.");
    } else if (x == g->x && y == g->y) {
        phi_call_reply(call, "The hero is there.");
    } else {
        g->to_x = (int)x;
        g->to_y = (int)y;
        g->steps = abs(g->to_x - g->x) + abs(g->to_y - g->y);
        g->walk = call;
        g->walking = true;
        return PHI_PENDING; /* world_frame finishes it */
    }
    return PHI_DONE;
}

static void walk_cancel(void *user_data, phi_call call) {
    (void)call;
    ((game *)user_data)->walking = false;
}

static void read_map(void *user_data, phi_mcp_incoming incoming, const char *uri) {
    phi_mcp_answer_desc answer = PHI_ZERO;
    (void)uri;
    answer.text = phi_str_of(world_drawn((game *)user_data));
    (void)phi_mcp_answer(incoming, &answer);
}

/* ---- the server ---- */

static phi_mcp_server *open_to_clients(game *g, phi_runtime *rt, int argc, char **argv) {
    static const char place[] = "{\"type\":\"object\",\"properties\":{\"x\":{\"type\":\"integer\"},"
                                "\"y\":{\"type\":\"integer\"}},\"required\":[\"x\",\"y\"]}";
    static phi_tool tools[3];
    static phi_mcp_serve_tool more[3];
    static phi_mcp_serve_resource map;
    static phi_mcp_serve_prompt tour;
    phi_mcp_server_desc desc = PHI_ZERO;
    size_t i;
    tools[0].name = "look";
    tools[0].description = "The map of the island: @ is the hero, T a tree";
    tools[0].start = look;
    more[0].annotations = "{\"readOnlyHint\":true}";
    tools[1].name = "plant";
    tools[1].description = "Plants a tree; x goes right, y down, from 0";
    tools[1].schema = place;
    tools[1].start = plant;
    tools[2].name = "walk";
    tools[2].description = "Sends the hero to a place, in a straight line: first x, then y";
    tools[2].schema = place;
    tools[2].start = walk;
    tools[2].cancel = walk_cancel;
    for (i = 0; i < 3; i++) tools[i].user_data = g;
    map.uri = map_uri;
    map.name = "map";
    map.mime_type = "text/plain";
    map.read = read_map;
    map.user_data = g;
    tour.name = "tour";
    tour.description = "A walk around the island";
    tour.text = "Look at the map, then walk the hero once around the trees.";
    desc.name = "island";
    desc.version = "1.0";
    desc.tools = tools;
    desc.tool_count = 3;
    desc.tool_infos = more;
    desc.resources = &map;
    desc.resource_count = 1;
    desc.prompts = &tour;
    desc.prompt_count = 1;
    desc.stdio = argc < 2;
    desc.http = argc > 1;
    desc.port = (uint16_t)(argc > 1 ? atoi(argv[1]) : 0);
    desc.token = argc > 2 ? argv[2] : NULL;
    return phi_mcp_serve(rt, &desc);
}

int main(int argc, char **argv) {
    static game g;
    phi_runtime *rt = phi_runtime_new(NULL);
    world_new(&g);
    g.server = open_to_clients(&g, rt, argc, argv);
    if (g.server == NULL) {
        fprintf(stderr, "%s\n", phi_last_error(rt).message);
        phi_runtime_free(rt);
        return 1;
    }
    if (argc > 1) { /* stdout is the clients' otherwise */
        printf("listening 127.0.0.1 %u\n", (unsigned)phi_mcp_server_get_info(g.server).port);
        fflush(stdout);
    }
    while (!phi_mcp_server_get_info(g.server).ended) {
        (void)phi_step(rt, FRAME_MS);
        world_frame(&g);
    }
    phi_mcp_server_free(g.server);
    phi_runtime_free(rt);
    return 0;
}
