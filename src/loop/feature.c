/* feature.c - calls features at the points that they want, each with its own state.

   The states of all features follow the run or the agent in one block. The offset of a feature's
   state is the sum of the sizes of the features before it in the table. */
#include "loop/inner_in.h"

PHI__FN bool phi__feature_named(const phi_runtime *rt, unsigned order) {
    for (size_t i = 0; i < rt->features.count; i++)
        if (rt->features.places[i].feature->order == order) return true;
    return false;
}

PHI__FN phi_status phi__feature_need(phi_runtime *rt, unsigned order, const char *what,
                                     const char *name) {
    return phi__feature_named(rt, order) ? PHI_OK : phi__feature_missing(rt, what, name);
}

PHI__FN phi_status phi__feature_missing(phi_runtime *rt, const char *what, const char *name) {
    return phi__error(rt, PHI_UNSUPPORTED,
                      "%s: the runtime does not have it: set phi_runtime_desc.features to a list "
                      "with %s, or to PHI_ALL_FEATURES",
                      what, name);
}

/* Returns NULL if the runtime does not have the feature. */
static const phi__feature_place *phi__feature_find(const phi_runtime *rt, phi__feature_fn feature) {
    for (size_t i = 0; i < rt->features.count; i++)
        if (rt->features.places[i].name == feature) return &rt->features.places[i];
    return NULL;
}

PHI__FN void *phi__feature_run_state(const phi__run *run, phi__feature_fn feature) {
    const phi__feature_place *place = phi__feature_find(run->agent->rt, feature);
    return place != NULL ? (char *)(uintptr_t)run + sizeof *run + place->run_at : NULL;
}

PHI__FN void *phi__feature_agent_state(const phi__agent *agent, phi__feature_fn feature) {
    const phi__feature_place *place = phi__feature_find(agent->rt, feature);
    return place != NULL ? (char *)(uintptr_t)agent + sizeof *agent + place->agent_at : NULL;
}

/* Calls the features that want the point. If holder is not 0, calls only the feature at this place
   (from 1) in the table. */
static phi__state phi__feature_go(phi__moment *moment, size_t holder) {
    const phi__features *features = &moment->agent->rt->features;
    phi__state outcome = PHI__RUN_ON;
    bool all = moment->run == NULL || moment->point == PHI__POINT_RUN_LOAD ||
               moment->point == PHI__POINT_EFFECTS;
    uint32_t points = all ? features->wanted : moment->run->taking.points;
    if ((points & (uint32_t)moment->point) == 0) return PHI__RUN_ON;
    for (size_t i = 0; i < features->count && outcome == PHI__RUN_ON && moment->status == PHI_OK;
         i++) {
        const phi__feature_place *place = &features->places[i];
        if ((place->feature->points & (uint32_t)moment->point) == 0) continue;
        if (!all && (moment->run->taking.features >> i & 1) == 0) continue;
        if (holder != 0 && holder != i + 1) continue;
        const phi__feature *feature = place->feature;
        moment->agent_state = moment->run_state = NULL;
        if (feature->agent_bytes != 0)
            moment->agent_state = (char *)moment->agent + sizeof *moment->agent + place->agent_at;
        if (feature->run_bytes != 0 && moment->run != NULL)
            moment->run_state = (char *)moment->run + sizeof *moment->run + place->run_at;
        outcome = feature->take(moment);
        if (outcome == PHI__RUN_HELD) moment->run->holder = (uint8_t)(i + 1);
    }
    return outcome;
}

PHI__FN phi__state phi__feature_take(phi__moment *moment) { return phi__feature_go(moment, 0); }

static void phi__feature_take_part(phi__run *run, size_t i) {
    run->taking.features |= (uint32_t)1 << i;
    run->taking.points |= run->agent->rt->features.places[i].feature->points;
}

PHI__FN void phi__feature_begin(phi__run *run) {
    const phi__features *features = &run->agent->rt->features;
    for (size_t i = 0; i < features->count; i++) {
        const phi__feature *feature = features->places[i].feature;
        bool joined = (features->joined >> i & 1) != 0;
        if (joined || feature->wants == NULL || feature->wants(run)) phi__feature_take_part(run, i);
    }
}

PHI__FN void phi__feature_join(phi__run *run, phi__feature_fn feature) {
    const phi__features *features = &run->agent->rt->features;
    for (size_t i = 0; i < features->count; i++)
        if (features->places[i].name == feature) phi__feature_take_part(run, i);
}

PHI__FN void phi__feature_join_all(phi_runtime *rt, phi__feature_fn feature) {
    phi__features *features = &rt->features;
    size_t i = 0;
    while (i < features->count && features->places[i].name != feature) i++;
    if (i == features->count || (features->joined >> i & 1) != 0) return;
    features->joined |= (uint32_t)1 << i;
    for (uint32_t at = 0; at < rt->agents.count; at++) {
        const phi__agent *agent = (const phi__agent *)phi__slots_at(&rt->agents, at)->object;
        if (agent != NULL && agent->run != NULL) phi__feature_take_part(agent->run, i);
    }
}

PHI__FN bool phi__feature_late(const phi__run *run) {
    (void)run;
    return false;
}

PHI__FN phi__moment phi__feature_moment(phi__agent *agent, const phi__run *run, phi__point point) {
    phi__moment moment = PHI_ZERO;
    moment.point = point;
    moment.agent = agent;
    moment.run = (phi__run *)(uintptr_t)run; /* SAVE and HELD_AS do not change the run */
    return moment;
}

PHI__FN phi__state phi__feature_run(phi__run *run, phi__point point) {
    phi__moment moment = phi__feature_moment(run->agent, run, point);
    return phi__feature_go(&moment, 0);
}

PHI__FN phi__state phi__feature_call(phi__toolcall *call, phi__point point) {
    phi__moment moment = phi__feature_moment(call->run->agent, call->run, point);
    moment.call = call;
    return phi__feature_go(&moment, 0);
}

PHI__FN void phi__feature_agent(phi__agent *agent, phi__point point) {
    phi__moment moment = phi__feature_moment(agent, NULL, point);
    (void)phi__feature_go(&moment, 0);
}

PHI__FN phi_status phi__feature_opened(phi__agent *agent) {
    phi__moment moment = phi__feature_moment(agent, NULL, PHI__POINT_LOG_OPENED);
    (void)phi__feature_go(&moment, 0);
    return moment.status;
}

PHI__FN void phi__feature_renewed(phi__agent *agent, const phi__fold *copied, bool shortened) {
    phi__moment moment = phi__feature_moment(agent, NULL, PHI__POINT_LOG_RENEWED);
    agent->prior.thinking.barred = 0; /* `barred` is an entry number of the old log */
    if (copied == NULL && !shortened && agent->prior.deferral != NULL)
        agent->rt->features.deferral->free(agent);
    moment.fold = copied;
    moment.did = shortened;
    (void)phi__feature_go(&moment, 0);
}

PHI__FN phi__state phi__feature_held(phi__run *run, bool *wait) {
    phi__moment moment = phi__feature_moment(run->agent, run, PHI__POINT_HELD);
    moment.wait = wait;
    return phi__feature_go(&moment, run->holder);
}

PHI__FN phi__state phi__feature_held_as(const phi__run *run) {
    phi__moment moment = phi__feature_moment(run->agent, run, PHI__POINT_HELD_AS);
    return phi__feature_go(&moment, run->holder);
}
