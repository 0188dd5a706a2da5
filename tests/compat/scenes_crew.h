/* scenes_crew.h - scenes of agents that work for another: sub-agents, evaluations, strategies.

   Answers come in pieces, so that model calls are in the midst of their streams when the scene is
   saved; a loaded agent makes them again. */
#ifndef PHI_TESTS_COMPAT_SCENES_CREW_H
#define PHI_TESTS_COMPAT_SCENES_CREW_H

#include "support/outcome.h"
#include "support/resumed.h"
#include "compat/scenes_threads.h"
#include "orchestrate/aot.h"
#include "orchestrate/cot.h"
#include "orchestrate/got.h"
#include "orchestrate/tot.h"
#include "orchestrate/trm.h"

enum { CREW_PIECE = 40 };

/* Steps so often that so many requests were sent, and the last answers have begun. A count, since a
   rig whose runtime plays a tape sees no requests. */
static inline void crew_until(scene *s, int steps, size_t requests) {
    for (; steps > 0; steps--) (void)rig_run(s->r, 1);
    CHECK(rig_requests(s->r) == requests || rig_requests(s->r) == 0);
    (void)rig_run(s->r, 4);
}

/* ---- sub-agents at work: one kept, two called, one begun by the host ---- */

static inline void crew_make(scene *s) {
    scene_plain_make(s);
    s->worker_desc = rig_desc();
    s->worker_desc.ids.agent_id = s->worker_desc.ids.session_id = NULL;
    s->worker_desc.system_prompt = "You work.";
    s->workers[0].name = "worker";
    s->workers[0].description = "Works";
    s->workers[0].agent = &s->worker_desc;
    s->workers[0].keep = 2;
    (void)scene_has(s, phi_subagent_tool(&s->workers[0]));
    s->workers[1] = s->workers[0];
    s->workers[1].name = "scout";
    s->workers[1].show_events = true;
}

static inline void crew_act(scene *s) {
    static const char *const calls[] = {"w1 worker {\"task\":\"the roof\"}",
                                        "w2 worker {\"task\":\"the \\\"door\\\"\"}"};
    rig_call(s->r, "w0", "worker", "{\"task\":\"the wall\"}");
    rig_says(s->r, "The wall stands.");
    rig_says(s->r, "The worker is done.");
    scene_prompt(s, "Build a wall.");
    scene_end(s);
    rig_chunk(s->r, CREW_PIECE);
    rig_calls(s->r, calls, 2);
    scene_prompt(s, "Build a roof and a door.");
    rig_says(s->r, "The roof is on.");
    rig_says(s->r, "The door is in.");
    rig_says(s->r, "Nobody comes.");
    crew_until(s, 28, 6);
    CHECK_EQ_INT(phi_spawn(s->agent, &s->workers[1], "watch the road", NULL), PHI_OK);
    crew_until(s, 1, 7);
}

static inline void crew_rest(scene *s) {
    rig_chunk(s->r, 0);
    if (s->loaded) {
        rig_says(s->r, "The roof is on, after all.");
        rig_says(s->r, "The door is in, after all.");
        rig_says(s->r, "Nobody came.");
        CHECK_EQ_INT(phi_spawn(s->agent, &s->workers[1], NULL, NULL), PHI_OK);
    }
    rig_says(s->r, "All is built.");
    scene_end(s);
    scene_talk(s, "Well done.", "Thanks.");
}

/* ---- evaluations ---- */

static inline phi_agent_desc branch_desc(const char *id) {
    phi_agent_desc desc = rig_desc();
    desc.ids.agent_id = desc.ids.session_id = NULL;
    desc.model.id = id;
    desc.ids.config_id = id;
    return desc;
}

static inline void judged_make(scene *s) {
    scene_plain_make(s);
    s->configs[0] = branch_desc("bold");
    s->configs[1] = branch_desc("calm");
    s->configs[2] = branch_desc("judge");
    s->evaluation.configs = s->configs;
    s->evaluation.config_count = 2;
    s->evaluation.prompt = "Attack?";
    s->evaluation.by = PHI_EVALUATE_JUDGE;
    s->evaluation.judge = &s->configs[2];
}

static inline void judged_act(scene *s) {
    scene_talk(s, "Who are you?", "A general.");
    rig_chunk(s->r, CREW_PIECE);
    rig_says(s->r, "Yes, at once.");
    rig_says(s->r, "No, not now.");
    CHECK_EQ_INT(phi_evaluate(s->agent, &s->evaluation), PHI_OK);
    crew_until(s, 1, 3); /* the first was the general's */
}

static inline void judged_rest(scene *s) {
    rig_chunk(s->r, 0);
    if (s->loaded) {
        CHECK_EQ_INT(evaluate_resume(s->agent, &s->evaluation), PHI_OK);
        rig_says(s->r, "Yes, now.");
        rig_says(s->r, "No, never.");
    }
    rig_says(s->r, "2");
    scene_end(s);
    scene_talk(s, "Why not?", "It rains.");
}

static inline void at_judge_act(scene *s) {
    rig_chunk(s->r, CREW_PIECE);
    rig_says(s->r, "Yes, at once.");
    rig_says(s->r, "No, not now.");
    rig_says(s->r, "1");
    CHECK_EQ_INT(phi_evaluate(s->agent, &s->evaluation), PHI_OK);
    crew_until(s, 17, 3);
}

static inline void at_judge_rest(scene *s) {
    rig_chunk(s->r, 0);
    if (s->loaded) {
        CHECK_EQ_INT(evaluate_resume(s->agent, &s->evaluation), PHI_OK);
        rig_says(s->r, "1");
    }
    scene_end(s);
    scene_talk(s, "Onward?", "Onward.");
}

static inline void cheapest_make(scene *s) {
    judged_make(s);
    s->evaluation.by = PHI_EVALUATE_TOKEN_EFFICIENT;
    s->evaluation.judge = NULL;
}

static inline void cheapest_rest(scene *s) {
    rig_chunk(s->r, 0);
    if (s->loaded) {
        CHECK_EQ_INT(evaluate_resume(s->agent, &s->evaluation), PHI_OK);
        rig_says(s->r, "Yes, now.");
        rig_says(s->r, "No, never.");
    }
    scene_end(s);
}

/* ---- strategies ---- */

/* The answers of a strategy's calls; the scene is saved in the midst of answer `midst`. */
static inline void thinker_make(scene *s, const phi_strategy *strategy, const void *options) {
    scene_plain_make(s);
    s->strategy.strategy = strategy;
    s->strategy.options = options;
    s->provider = phi_strategy_provider(&s->strategy);
    s->desc.provider = &s->provider;
    s->desc.max_tokens = 100;
}

static inline void thinker_act(scene *s, const char *const *answers, size_t midst, int steps) {
    size_t i;
    rig_chunk(s->r, CREW_PIECE);
    for (i = 0; i <= midst; i++) rig_says(s->r, answers[i]);
    /* whose complexity, for Adaptive, is the same with 80 bits of precision */
    scene_prompt(s, "Make 24 of 4, 4 and 10, please.");
    crew_until(s, steps, midst + 1);
}

static inline void thinker_rest(scene *s, const char *const *answers, size_t midst) {
    phi_str result = PHI_ZERO;
    size_t i;
    rig_chunk(s->r, 0);
    for (i = s->loaded ? midst : midst + 1; answers[i] != NULL; i++) rig_says(s->r, answers[i]);
    scene_end(s);
    CHECK_EQ_INT(strategy_result(s->agent, &s->arena, &result), PHI_OK);
}

#define SCENE_THINKER(name, strategy, options, midst, steps, ...)                                  \
    static const char *const name##_answers[] = {__VA_ARGS__, NULL};                               \
    static inline void name##_make(scene *s) { thinker_make(s, strategy, options); }               \
    static inline void name##_act(scene *s) { thinker_act(s, name##_answers, midst, steps); }      \
    static inline void name##_rest(scene *s) { thinker_rest(s, name##_answers, midst); }

static inline const phi_tot_options *tree_options(void) {
    static phi_tot_options options;
    options.branching_factor = 3;
    options.evaluations = 1;
    options.beam_width = 9;
    return &options;
}

SCENE_THINKER(cot, phi_strategy_cot(PHI_COT_STEPS), NULL, 0, 1,
              "Step 1: 10 - 4 is 6\nConclusion: (10 - 4) * 4")
SCENE_THINKER(cod, phi_strategy_cot(PHI_COT_DRAFTS), NULL, 0, 1,
              "10 - 4: 6\n6 * 4: 24\n#### (10 - 4) * 4")
SCENE_THINKER(aot, phi_strategy_aot(), NULL, 0, 1,
              "Trying promising first operation:\nStep 1: 10 - 4\nanswer: (10 - 4) * 4")
SCENE_THINKER(tot, phi_strategy_tot(), tree_options(), 2, 35,
              "{\"thoughts\":[\"4 * 4\",\"10 - 4\",\"10 + 4\"]}",
              "{\"scores\":{\"t1\":0.2,\"t2\":0.7,\"t3\":0.4}}",
              "{\"thoughts\":[\"(10 - 4) + 4\",\"(10 - 4) * 4\"]}",
              "{\"scores\":{\"t1\":0.1,\"t2\":1.0}}")
SCENE_THINKER(got, phi_strategy_got(), NULL, 2, 35, "1. 10 - 4 = 6\n2. 4 * 4 = 16",
              "CONNECTION: [1] -> [2] : both use a 4", "1. (10 - 4) * 4", "NONE", "(10 - 4) * 4")
SCENE_THINKER(trm, phi_strategy_trm(), NULL, 3, 50, "Answer: 4 * 4 + 10",
              "ISSUE: that is 26\nSCORE: 0.2", "10 - 4 first.", "Answer: (10 - 4) * 4",
              "STRENGTH: 24\nSCORE: 1.0")
SCENE_THINKER(adaptive, phi_strategy_adaptive(), NULL, 0, 1,
              "10 - 4: 6\n6 * 4: 24\n#### (10 - 4) * 4")

static const scene_kind scenes_of_crews[] = {
    {"subagents_at_work", crew_make, crew_act, crew_rest, 0},
    {"evaluation_with_a_judge", judged_make, judged_act, judged_rest, 0},
    {"evaluation_at_its_judge", judged_make, at_judge_act, at_judge_rest, SCENE_COMMON},
    {"evaluation_by_tokens", cheapest_make, judged_act, cheapest_rest, SCENE_COMMON},
    {"chain_of_thought", cot_make, cot_act, cot_rest, 0},
    {"chain_of_draft", cod_make, cod_act, cod_rest, SCENE_COMMON},
    {"algorithm_of_thoughts", aot_make, aot_act, aot_rest, SCENE_COMMON},
    {"tree_of_thoughts", tot_make, tot_act, tot_rest, 0},
    {"graph_of_thoughts", got_make, got_act, got_rest, 0},
    {"trm", trm_make, trm_act, trm_rest, 0},
    {"adaptive", adaptive_make, adaptive_act, adaptive_rest, SCENE_COMMON},
};

#endif
