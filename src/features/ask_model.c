/* ask_model.c - runs with their own model. While such a run lasts, the agent has the run's model,
   so the rest of the loop knows only one model. See features_in.h. */
#include "features/features_in.h"

/* The agent's own model while a run uses another one. */
struct phi__ask_model {
    phi_arena arena; /* memory of the run's model */
    phi__speaker own;
    uint32_t at; /* the agent's seat before the run (failover.c) */
    bool set;    /* the agent has the run's model now */
};

/* The feature's state of a run. */
typedef struct phi__ask_model_run {
    phi__ask_model *ask; /* NULL: the run uses the agent's model */
} phi__ask_model_run;

static void phi__ask_model_change(phi__agent *agent, const phi__speaker *to) {
    phi__speaker_set(agent, to);
    phi__feature_agent(agent, PHI__POINT_CHANGED);
    phi__sources_recheck(agent);
}

PHI__FN phi__ask_model *phi__ask_model_begin(phi__agent *agent, const phi_model *model) {
    phi__ask_model *ask = (phi__ask_model *)phi__alloc(&agent->memory, sizeof *ask);
    if (ask == NULL) return NULL;
    phi__speaker seat = PHI_ZERO;
    phi_arena_init(&ask->arena, &agent->memory, 256);
    if (!phi__speaker_take(agent->rt, &ask->arena, NULL, model, &seat)) {
        phi__ask_model_drop(agent, ask);
        return NULL;
    }
    ask->at = phi__failover_leave(agent);
    ask->own = phi__speaker_of(agent);
    ask->set = true;
    if (ask->own.own != NULL) phi__speaker_by(&seat, ask->own.own);
    phi__ask_model_change(agent, &seat);
    return ask;
}

static phi__ask_model_run *phi__ask_model_of(const phi__run *run) {
    return (phi__ask_model_run *)phi__feature_run_state(run, phi__ask_model_feature);
}

PHI__FN void phi__ask_model_keep(phi__agent *agent, phi__ask_model *ask) {
    phi__ask_model_of(agent->run)->ask = ask;
    phi__feature_join(agent->run, phi__ask_model_feature);
}

/* Gives the agent its own model back. If a failover lasts beyond the run, the agent keeps that
   seat; otherwise it returns to its seat before the run. */
static void phi__ask_model_end(phi__agent *agent, phi__ask_model *ask) {
    if (!ask->set) return;
    ask->set = false;
    if (agent->slot == NULL) { /* the agent is being freed */
        phi__speaker_set(agent, &ask->own);
        return;
    }
    uint32_t at = phi__failover_leave(agent);
    phi__ask_model_change(agent, &ask->own);
    phi__failover_back(agent, at != 0 ? at : ask->at);
}

PHI__FN void phi__ask_model_drop(phi__agent *agent, phi__ask_model *ask) {
    phi__ask_model_end(agent, ask);
    phi_arena_free(&ask->arena);
    phi__free(&agent->memory, ask, sizeof *ask);
}

PHI__FN void phi__ask_model_own(const phi__agent *agent, phi_agent_desc *out) {
    const phi__ask_model *ask = agent->run != NULL ? phi__ask_model_of(agent->run)->ask : NULL;
    if (ask == NULL || !ask->set) return;
    out->model = ask->own.model;
    out->provider = ask->own.own;
}

static phi__state phi__ask_model_take(phi__moment *moment) {
    phi__ask_model_run *r = (phi__ask_model_run *)moment->run_state;
    if (r->ask == NULL) return PHI__RUN_ON;
    if (moment->point == PHI__POINT_RUN_OVER) phi__ask_model_end(moment->agent, r->ask);
    if (moment->point == PHI__POINT_RUN_FREED) phi__ask_model_drop(moment->agent, r->ask);
    if (moment->point == PHI__POINT_RUN_FREED) r->ask = NULL;
    return PHI__RUN_ON;
}

PHI__FN const phi__feature *phi__ask_model_feature(void) {
    enum { points = PHI__POINT_RUN_OVER | PHI__POINT_RUN_FREED };
    static const phi__feature feature = {points,
                                         sizeof(phi__ask_model_run),
                                         0,
                                         phi__ask_model_take,
                                         phi__feature_late,
                                         PHI__FEATURE_AT_ASK_MODEL,
                                         NULL,
                                         NULL};
    return &feature;
}
