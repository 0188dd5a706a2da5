/* think.h - an agent of the rig with a strategy, whose model is the rig's script. */
#ifndef PHI_TESTS_STRATEGY_THINK_H
#define PHI_TESTS_STRATEGY_THINK_H

#include "orchestrate/adaptive.h"
#include "orchestrate/strategy.h"
#include "support/cot.h"
#include "support/outcome.h"
#include "support/heard.h"
#include "agent/agent_history.h"
#include "log/thread.h"
#include "text/json_in.h"

typedef struct think {
    rig *r;
    heard h;
    phi_strategy_desc desc;
    phi_provider provider;
    phi_agent_desc agent_desc;
    phi_memory memory;
    phi_arena arena; /* of results */
} think;

/* Change desc and agent_desc before think_agent. */
static inline void think_begin(think *t, rig *r, const phi_strategy *strategy,
                               const void *options) {
    memset(t, 0, sizeof *t);
    t->r = r;
    t->desc.strategy = strategy;
    t->desc.options = options;
    t->agent_desc = rig_desc();
    t->agent_desc.provider = &t->provider;
    t->agent_desc.max_tokens = 100;
    phi_memory_init(&t->memory, NULL, 0);
    phi_arena_init(&t->arena, &t->memory, 0);
    heard_begin(&t->h, r);
}

static inline phi_agent think_agent(think *t) {
    t->provider = phi_strategy_provider(&t->desc);
    return rig_agent(t->r, &t->agent_desc);
}

static inline void think_end(think *t) {
    phi_arena_free(&t->arena);
    rig_free(t->r);
}

/* A member of the agent's result; "(none)": there is no result, or no such member. */
static inline const char *think_result(think *t, phi_agent agent, const char *path) {
    static char out[1000];
    phi_str text;
    phi__json_found found;
    if (strategy_result(agent, &t->arena, &text) != PHI_OK) return "(none)";
    if (phi__json_cursor_find(text, path, &found) != PHI_OK) return "(none)";
    (void)snprintf(out, sizeof out, "%.*s", (int)found.raw.len, found.raw.at);
    return out;
}

static inline const char *think_answer(phi_agent agent) {
    size_t count = phi_thread_message_count(phi_agent_thread(agent));
    return count == 0 ? "(nothing)" : text_at(agent, count - 1, 0);
}

/* Options for searches that a script follows: three thoughts a step, scored once. */
static inline const phi_tot_options *think_tot(void) {
    static phi_tot_options options;
    options.branching_factor = 3;
    options.evaluations = 1;
    options.beam_width = 9;
    return &options;
}

/* Three thoughts and their scores, two steps deep; the second thought of the second step is whole. */
static inline void think_script_tree(rig *r) {
    rig_says(r, "{\"thoughts\":[\"4 * 4\",\"10 - 4\",\"10 + 4\"]}");
    rig_says(r, "{\"scores\":{\"t1\":0.2,\"t2\":0.7,\"t3\":0.4}}");
    rig_says(r, "{\"thoughts\":[\"(10 - 4) + 4\",\"(10 - 4) * 4\"]}");
    rig_says(r, "{\"scores\":{\"t1\":0.1,\"t2\":1.0}}");
}

#endif
