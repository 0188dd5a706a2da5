/* test_outside_random.c - random stories of agents whose tools come and go, and whose calls lead to
   questions, at any moment, with failing memory now and then: every list is given back once, every
   question ends once, and nothing is used after it was given back.

   PHI_SEEDS=n: so many stories (default 60). */
#include "agent/response.h"
#include "agent/snapshot.h"
#include "loop/inner_in.h"
#include "support/heard.h"
#include "support/set.h"
#include "loop/tool_source.h"
#include "agent/agent_history.h"
#include "loop/inner_in.h"

#include <stdlib.h>

enum { STEPS = 200, POOL = 5, MOST = 6, CALLS = 64, TICKETS = 64, ASKED = 512, SOURCES = 2 };

typedef struct world world;

typedef struct shop {
    phi_tool_source source;
    world *w;
    uint64_t version;
    int out;
} shop;

/* A question that was opened; ended: decided, or closed by the story. */
typedef struct asked {
    world *w;
    phi__question *q;
    bool ended;
    phi_call call;
} asked;

struct world {
    rig *r;
    uint32_t state;
    phi_agent agent;
    phi_agent_desc desc;
    shop shops[SOURCES];
    const phi_tool_source *sources[SOURCES];
    phi_call calls[CALLS];
    phi_ticket tickets[TICKETS];
    asked asked[ASKED];
    uint32_t call_count, ticket_count, asked_count, ids;
    bool starving, ending, failed;
};

#define HOLDS(w, condition)                                                                        \
    do {                                                                                           \
        if (!CHECK(condition)) (w)->failed = true;                                                 \
    } while (0)

typedef struct shelf {
    phi_tool tools[MOST];
    char names[MOST][16], texts[MOST][16], schemas[MOST][80];
} shelf;

static uint32_t pick(world *w, uint32_t n) { return test_random(&w->state) % n; }

/* ---- questions ---- */

static void asked_decided(void *ctx, phi_verdict verdict, phi_str reply) {
    asked *a = (asked *)ctx;
    world *w = a->w;
    HOLDS(w, !a->ended);
    HOLDS(w, verdict == PHI_ALLOW || verdict == PHI_DENY || verdict == PHI_WAIT);
    a->ended = true;
    if (reply.len > 0) HOLDS(w, memchr(reply.at, 0x5a, reply.len) == NULL);
    if (w->ending) return;
    if (pick(w, 2) == 0) (void)phi_call_reply(a->call, "said");
    if (pick(w, 30) == 0) phi_agent_free(w->agent);
}

static void ask(world *w, phi_call call) {
    phi__question_desc desc;
    asked *a = &w->asked[w->asked_count];
    if (w->asked_count == ASKED) return;
    memset(&desc, 0, sizeof desc);
    memset(a, 0, sizeof *a);
    a->w = w;
    a->call = call;
    desc.call = call;
    desc.source = phi_str_of("shop");
    desc.kind = phi_str_of("elicitation");
    desc.text = phi_str_of("What?");
    desc.arguments = phi_str_of("{}");
    desc.timeout_ms = pick(w, 3) == 0 ? PHI_UNLIMITED : pick(w, 400);
    desc.decided = asked_decided;
    desc.ctx = a;
    if (phi__question_open(w->agent, &desc, &a->q) == PHI_OK) w->asked_count++;
}

static void close_one(world *w) {
    asked *a;
    if (w->asked_count == 0) return;
    a = &w->asked[pick(w, w->asked_count)];
    if (a->ended) return;
    a->ended = true;
    phi__question_close(a->q);
}

/* ---- tools ---- */

static void deed(world *w);

static phi_flow shop_start(void *user_data, phi_call call, phi_str arguments) {
    world *w = ((shop *)user_data)->w;
    const char *name = phi_call_get_info(call).tool_name.at;
    (void)arguments;
    HOLDS(w, name[0] == 't');
    w->calls[w->call_count++ % CALLS] = call;
    if (pick(w, 4) == 0) ask(w, call);
    if (pick(w, 6) == 0) ask(w, call);
    if (pick(w, 8) == 0) deed(w);
    if (pick(w, 2) == 0)
        (void)(pick(w, 4) == 0 ? phi_call_fail(call, "done") : phi_call_reply(call, "done"));
    return pick(w, 12) == 0 ? PHI_DONE : PHI_PENDING;
}

static void shop_cancel(void *user_data, phi_call call) {
    world *w = ((shop *)user_data)->w;
    (void)call;
    if (!w->ending && pick(w, 6) == 0) w->shops[0].version++;
}

static void shop_field(void *user_data, const phi_field *field) {
    (void)field;
    CHECK(((shop *)user_data)->w != NULL);
}

static uint64_t shop_version(void *user_data) {
    shop *s = (shop *)user_data;
    if (!s->w->ending && pick(s->w, 4) == 0) s->version++;
    return s->version;
}

static void shop_make(world *w, shelf *made, uint32_t i, shop *s) {
    phi_tool *tool = &made->tools[i];
    static const char *const schemas[] = {
        "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\"}}}",
        "{\"type\":\"object\"}", "[1", "{\"type\":\"string\"}"};
    uint32_t fit = pick(w, 12);
    (void)snprintf(made->names[i], sizeof made->names[i], "t%u", (unsigned)pick(w, POOL));
    (void)snprintf(made->texts[i], sizeof made->texts[i], "d%u", (unsigned)pick(w, 3));
    (void)snprintf(made->schemas[i], sizeof made->schemas[i], "%s", schemas[fit < 4 ? fit : 0]);
    tool->name = pick(w, 20) == 0 ? (pick(w, 2) == 0 ? NULL : "a b") : made->names[i];
    tool->description = made->texts[i];
    tool->schema = pick(w, 3) == 0 ? NULL : made->schemas[i];
    tool->start = shop_start;
    tool->cancel = shop_cancel;
    tool->user_data = s;
    tool->needs_approval = pick(w, 6) == 0;
    tool->strict = pick(w, 6) == 0;
    tool->names_steps = pick(w, 6) == 0;
    tool->not_concurrent = pick(w, 6) == 0;
    tool->deterministic = pick(w, 6) == 0;
    tool->may_repeat = pick(w, 2) == 0;
    tool->timeout_ms = pick(w, 3) == 0 ? 200 : 0;
    if (pick(w, 6) == 0) tool->on_field = shop_field;
}

static phi_status shop_take(void *user_data, const phi_tool **tools, size_t *count) {
    shop *s = (shop *)user_data;
    world *w = s->w;
    uint32_t n = pick(w, MOST + 1), i;
    shelf *made;
    if (pick(w, 20) == 0) return pick(w, 2) == 0 ? PHI_TIMEOUT : PHI_NO_MEMORY;
    made = (shelf *)calloc(1, sizeof *made);
    if (made == NULL) abort();
    for (i = 0; i < n; i++) shop_make(w, made, i, s);
    s->out++;
    *tools = made->tools;
    *count = n;
    return PHI_OK;
}

static void shop_release(void *user_data, const phi_tool *tools) {
    ((shop *)user_data)->out--;
    memset((void *)(uintptr_t)tools, 0x5a, sizeof(shelf));
    free((void *)(uintptr_t)tools);
}

/* ---- the host ---- */

static phi_verdict world_hook(void *user_data, phi_hook *hook) {
    world *w = (world *)user_data;
    w->tickets[w->ticket_count++ % TICKETS] = hook->ticket;
    if (pick(w, 12) == 0) deed(w);
    if (pick(w, 4) == 0) hook->ask_again = true;
    if (pick(w, 6) == 0 && hook->point == PHI_HOOK_QUESTION) hook->reply = PHI__LIT("here");
    if (pick(w, 5) == 0) hook->timeout_ms = 1 + pick(w, 300);
    if (hook->round > 2) return PHI_DENY;
    if (hook->point == PHI_HOOK_QUESTION) return (phi_verdict)pick(w, 3);
    return pick(w, 8) == 0 ? PHI_WAIT : pick(w, 16) == 0 ? PHI_DENY : PHI_ALLOW;
}

static void make_agent(world *w) {
    w->agent = phi_agent_new(rig_runtime(w->r), &w->desc);
    rig_hook_with(w->r, world_hook, w);
}

static void prompt(world *w) {
    phi_prompt_desc asks;
    phi_response response;
    char name[8];
    const char *allowed[1];
    if (pick(w, 3) != 0) {
        (void)phi_prompt(w->agent, "go");
        return;
    }
    memset(&asks, 0, sizeof asks);
    (void)snprintf(name, sizeof name, "t%u", (unsigned)pick(w, POOL));
    allowed[0] = name;
    asks.text = "go";
    asks.no_tools = pick(w, 4) == 0;
    if (!asks.no_tools) asks.allowed_tools = allowed;
    if (!asks.no_tools) asks.allowed_count = 1;
    (void)phi_prompt_with(w->agent, &asks, &response);
}

static void restore(world *w) {
    phi_memory memory;
    phi_arena arena;
    phi_str saved;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    if (phi_agent_snapshot(w->agent, &arena, &saved) == PHI_OK) {
        phi_agent back;
        phi_agent_free(w->agent);
        back = phi_agent_restore(rig_runtime(w->r), &w->desc, saved, PHI_RESTORE_RESUME);
        if (back.rt != NULL)
            w->agent = back;
        else
            make_agent(w);
        rig_hook_with(w->r, world_hook, w);
    }
    phi_arena_free(&arena);
}

/* What a host may do also inside of its hooks and tools. */
static void deed(world *w) {
    static const phi_call none = {NULL, 0, 0};
    phi_tool echo = rig_echo();
    phi_ticket ticket = w->tickets[pick(w, TICKETS)];
    phi_call call = w->calls[pick(w, CALLS)];
    switch (pick(w, 12)) {
    case 0:
        if (pick(w, 3) == 0) (void)phi_abort(w->agent);
        break;
    case 1: w->shops[pick(w, SOURCES)].version++; break;
    case 2:
    case 3:
        if (ticket.rt != NULL)
            (void)phi_decide(ticket, (phi_verdict)pick(w, 2), pick(w, 2) == 0 ? "text" : NULL);
        break;
    case 4:
    case 5:
        if (call.rt != NULL) (void)phi_call_reply(call, "late");
        break;
    case 6: ask(w, none); break;
    case 7: close_one(w); break;
    case 8: (void)set_tools(w->agent, &echo, pick(w, 2)); break;
    case 9:
        if (pick(w, 4) == 0) phi_agent_free(w->agent);
        break;
    case 10: (void)set_model(w->agent, &w->desc.model); break;
    default:
        if (pick(w, 4) == 0) (void)phi_agent_reset(w->agent);
        break;
    }
}

static void script(world *w) {
    char texts[3][40];
    const char *calls[3];
    uint32_t n = 1 + pick(w, 3), i;
    if (pick(w, 3) == 0) {
        rig_says(w->r, "done");
        return;
    }
    for (i = 0; i < n; i++) {
        (void)snprintf(texts[i], sizeof texts[i], "c%u t%u {\"a\":\"%u\"}", (unsigned)++w->ids,
                       (unsigned)pick(w, POOL), (unsigned)pick(w, 3));
        calls[i] = texts[i];
    }
    rig_calls(w->r, calls, n);
}

static void play(world *w) {
    uint32_t i;
    for (i = 0; i < STEPS; i++) {
        if (!phi_agent_alive(w->agent)) make_agent(w);
        script(w);
        switch (pick(w, 16)) {
        case 0:
        case 1:
        case 2:
        case 3:
        case 4:
        case 5: prompt(w); break;
        case 6: restore(w); break;
        case 7: (void)phi_agent_new_session(w->agent, pick(w, 2) == 0); break;
        case 8:
        case 9: rig_pass_ms(w->r, pick(w, 500)); break;
        default: deed(w); break;
        }
        if (w->starving) test_alloc_fail_at((int)pick(w, 200));
        (void)rig_run(w->r, (int)pick(w, 60));
        test_alloc_fail_at(-1);
        (void)rig_step(w->r);
    }
}

static bool tell(uint32_t seed) {
    static world w; /* large */
    uint32_t i;
    memset(&w, 0, sizeof w);
    w.state = seed * 2654435761u + 1;
    w.starving = seed % 3 == 0;
    w.r = rig_new();
    w.desc = rig_desc();
    w.desc.ids.agent_id = "a";
    w.desc.ids.session_id = "s";
    w.desc.deadlines.decision_ms = 300;
    w.desc.tool_options.mode = seed % 2 == 0 ? PHI_TOOLS_PARALLEL : PHI_TOOLS_SEQUENTIAL;
    for (i = 0; i < SOURCES; i++) {
        shop *s = &w.shops[i];
        s->w = &w;
        s->source.user_data = s;
        s->source.version = shop_version;
        s->source.take = shop_take;
        s->source.release = shop_release;
        w.sources[i] = &s->source;
    }
    w.desc.tool_options.sources = w.sources;
    w.desc.tool_options.source_count = SOURCES;
    rig_hooks(w.r, &w.desc, PHI_HOOK_QUESTION | PHI_HOOK_BEFORE_TOOL | PHI_HOOK_BEFORE_TURN);
    make_agent(&w);
    play(&w);
    w.ending = true;
    rig_free(w.r);
    for (i = 0; i < SOURCES; i++) HOLDS(&w, w.shops[i].out == 0);
    for (i = 0; i < w.asked_count; i++) HOLDS(&w, w.asked[i].ended);
    return !w.failed;
}

TEST(any_story_gives_lists_back_and_ends_questions) {
    const char *given = getenv("PHI_SEEDS"), *from = getenv("PHI_SEED");
    uint32_t count = given != NULL ? (uint32_t)strtoul(given, NULL, 10) : 60, i;
    uint32_t first = from != NULL ? (uint32_t)strtoul(from, NULL, 10) : 1;
    for (i = first; i < first + count; i++) {
        if (!tell(i)) {
            printf("  seed %u\n", (unsigned)i);
            return;
        }
    }
}

TEST_MAIN(TEST_ENTRY(any_story_gives_lists_back_and_ends_questions))
