/* feature.c - features are called at the points that they want, each with its own state.

   The state of all of them stands behind the run, and behind the agent, in one block with it: a
   feature's place is the sum of the sizes of those in front of it in the table. */
#include "loop/feature_in.h"

#include "loop/state_in.h"

enum { PHI__FEATURE_ALIGN = 8 }; /* bytes; no state has a member that wants more */

static size_t phi__feature_room(size_t bytes) {
    return (bytes + PHI__FEATURE_ALIGN - 1) / PHI__FEATURE_ALIGN * PHI__FEATURE_ALIGN;
}

PHI__FN size_t phi__feature_run_bytes(const phi_runtime *rt) {
    const phi__feature_fn *each = rt->features;
    size_t bytes = 0;
    for (; *each != NULL; each++) bytes += phi__feature_room((*each)()->run_bytes);
    return bytes;
}

PHI__FN size_t phi__feature_agent_bytes(const phi_runtime *rt) {
    const phi__feature_fn *each = rt->features;
    size_t bytes = 0;
    for (; *each != NULL; each++) bytes += phi__feature_room((*each)()->agent_bytes);
    return bytes;
}

PHI__FN void *phi__feature_run_state(const phi__run *run, phi__feature_fn feature) {
    const phi__feature_fn *each = run->agent->rt->features;
    char *state = (char *)(uintptr_t)run + sizeof *run;
    for (; *each != feature; each++) {
        if (*each == NULL) return NULL;
        state += phi__feature_room((*each)()->run_bytes);
    }
    return state;
}

PHI__FN void *phi__feature_agent_state(const phi__agent *agent, phi__feature_fn feature) {
    const phi__feature_fn *each = agent->rt->features;
    char *state = (char *)(uintptr_t)agent + sizeof *agent;
    for (; *each != feature; each++) {
        if (*each == NULL) return NULL;
        state += phi__feature_room((*each)()->agent_bytes);
    }
    return state;
}

/* From the feature of that place on; only: that one alone. */
static phi__state phi__feature_go(phi__moment *moment, size_t holder) {
    const phi__feature_fn *each = moment->agent->rt->features;
    char *agent_state = (char *)moment->agent + sizeof *moment->agent;
    char *run_state = moment->run != NULL ? (char *)moment->run + sizeof *moment->run : NULL;
    phi__state outcome = PHI__RUN_ON;
    size_t place = 1;
    for (; *each != NULL && outcome == PHI__RUN_ON && moment->status == PHI_OK; each++, place++) {
        const phi__feature *feature = (*each)();
        if ((feature->points & (uint32_t)moment->point) != 0 && (holder == 0 || holder == place)) {
            moment->agent_state = feature->agent_bytes != 0 ? agent_state : NULL;
            moment->run_state = feature->run_bytes != 0 ? run_state : NULL;
            outcome = feature->take(moment);
            if (outcome == PHI__RUN_HELD) moment->run->holder = (uint8_t)place;
        }
        agent_state += phi__feature_room(feature->agent_bytes);
        if (run_state != NULL) run_state += phi__feature_room(feature->run_bytes);
    }
    return outcome;
}

static phi__moment phi__feature_moment(phi__agent *agent, phi__run *run, phi__point point) {
    phi__moment moment;
    memset(&moment, 0, sizeof moment);
    moment.point = point;
    moment.agent = agent;
    moment.run = run;
    return moment;
}

PHI__FN phi__state phi__feature_take(phi__moment *moment) { return phi__feature_go(moment, 0); }

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

PHI__FN void phi__feature_renewed(phi__agent *agent, const phi__fold *copied, bool shortened) {
    phi__moment moment = phi__feature_moment(agent, NULL, PHI__POINT_LOG_RENEWED);
    moment.fold = copied;
    moment.did = shortened;
    (void)phi__feature_go(&moment, 0);
}

PHI__FN phi_status phi__feature_opened(phi__agent *agent) {
    phi__moment moment = phi__feature_moment(agent, NULL, PHI__POINT_LOG_OPENED);
    (void)phi__feature_go(&moment, 0);
    return moment.status;
}

PHI__FN phi__state phi__feature_held(phi__run *run, bool *wait) {
    phi__moment moment = phi__feature_moment(run->agent, run, PHI__POINT_HELD);
    moment.wait = wait;
    return phi__feature_go(&moment, run->holder);
}

PHI__FN phi__state phi__feature_held_as(const phi__run *run) {
    phi__moment moment =
        phi__feature_moment(run->agent, (phi__run *)(uintptr_t)run, PHI__POINT_HELD_AS);
    return phi__feature_go(&moment, run->holder);
}
