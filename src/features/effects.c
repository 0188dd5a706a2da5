/* effects.c - the tool state of agents: the snapshot for a round of calls, and the effects of
   calls.

   The state itself belongs to the thread (log/tool_state.c). A run copies the state when a call of
   the round asks for it, or before the state changes. All calls of the round see this copy. A
   hidden agent works for the nearest visible agent above it: it reads and changes that agent's
   state, under the policies of both. */
#include "features/features_in.h"

#include <stdio.h>

/* The feature's state of a run: the snapshot of the current round. */
typedef struct phi__effects {
    char *seen; /* NULL: the round has no snapshot yet */
    size_t len;
    bool changed; /* the state has changed after the snapshot */
} phi__effects;

static phi__agent *phi__effects_owner(phi__agent *agent) {
    phi__agent *owner = phi__find_agent(phi__find_seen(agent));
    return owner != NULL ? owner : agent;
}

/* ---- the snapshot of a round ---- */

static bool phi__effects_see(phi__run *run, phi__effects *round) {
    phi_str now;
    if (round->seen != NULL) return true;
    /* max. runs never take part in this feature */
    phi__feature_join(run, phi_feature_tool_state);
    if (phi__state_now(phi__effects_owner(run->agent)->thread, &now) != PHI_OK) return false;
    round->seen = (char *)phi__alloc(&run->agent->memory, phi__add(now.len, 1));
    if (round->seen == NULL) return false;
    memcpy(round->seen, now.at, now.len);
    round->len = now.len;
    return true;
}

static void phi__effects_free(phi__run *run, phi__effects *round) {
    phi__free(&run->agent->memory, round->seen, round->seen != NULL ? round->len + 1 : 0);
    memset(round, 0, sizeof *round);
}

static bool phi__effects_emit_state(phi__agent *owner) {
    phi_event event = PHI_ZERO;
    event.kind = PHI_EV_TOOL_STATE;
    return phi__state_now(owner->thread, &event.text) == PHI_OK && phi__events_emit(owner, &event);
}

/* ---- the effects of a call ---- */

static uint32_t phi__effects_allowed(const phi_effect_policy *policy) {
    uint32_t all = UINT32_MAX;
    if (policy->mode == PHI_EFFECTS_DENY_ALL) all = 0;
    if (policy->mode == PHI_EFFECTS_ALLOW_LIST) all = policy->allow;
    return all & ~policy->deny;
}

static size_t phi__effects_most(const phi__agent *agent) {
    uint32_t most = agent->desc.tool_options.effects.max_state_bytes;
    return most != 0 ? most : (size_t)PHI__TOOL_STATE_BYTES;
}

/* Emits the event of an EMIT effect, or a warning about an effect that was not applied. */
static bool phi__effects_report(const phi__toolcall *call, phi__agent *owner,
                                const phi__state_outcome *outcome) {
    char words[240];
    if (outcome->why == NULL && outcome->op != PHI_EFFECT_EMIT) return true;
    phi_event event = PHI_ZERO;
    phi_arena *room = phi__thread_room(owner->thread);
    event.tool_call_id = call->block->id;
    event.tool_name = call->block->name;
    /* A hidden agent's log may be freed before the event is popped: copy the call's names. */
    if (owner != call->run->agent &&
        (!phi__arena_str(room, event.tool_call_id, &event.tool_call_id) ||
         !phi__arena_str(room, event.tool_name, &event.tool_name)))
        return false;
    event.kind = PHI_EV_EFFECT;
    event.text = outcome->value;
    if (outcome->why == NULL)
        return phi__arena_str(room, outcome->name, &event.source) &&
               phi__events_emit(owner, &event);
    (void)snprintf(words, sizeof words, "Tool %.*s: effect \"%s\" was not applied: %s",
                   (int)phi__utf8_cut(call->block->name, 64), call->block->name.at,
                   phi__effect_word(outcome->op), outcome->why);
    event.kind = PHI_EV_WARNING;
    event.text = phi_str_of(words);
    return phi__events_emit(owner, &event);
}

static bool phi__effects_apply(phi__toolcall *call, phi__effects *round) {
    phi__run *run = call->run;
    phi__agent *owner = phi__effects_owner(run->agent);
    phi__state_outcome *outcomes = NULL;
    phi__state_order order;
    phi_arena scratch;
    size_t count;
    bool changed;
    if (!phi__effects_see(run, round)) return false;
    order.call_id = call->block->id;
    order.effects = call->effects;
    order.allowed = phi__effects_allowed(&owner->desc.tool_options.effects) &
                    phi__effects_allowed(&run->agent->desc.tool_options.effects);
    order.max_bytes = phi__effects_most(owner);
    phi_arena_init(&scratch, &run->agent->memory, 0);
    bool done =
        phi__state_apply(owner->thread, &order, &scratch, &outcomes, &count, &changed) == PHI_OK;
    if (done) {
        call->effects = phi__str(NULL, 0);
        round->changed = round->changed || changed;
    }
    for (size_t i = 0; done && i < count; i++)
        done = phi__effects_report(call, owner, &outcomes[i]);
    phi_arena_free(&scratch);
    return done;
}

/* ---- snapshots ---- */

static void phi__effects_save(phi__buf *out, const phi__effects *round) {
    if (round->seen == NULL) return;
    phi__records_str(out, "tool_state", phi__str(round->seen, round->len));
    phi__records_true(out, "tool_state_changed", round->changed);
}

static phi_status phi__effects_load(phi__run *run, phi__effects *round, const phi_json *node) {
    phi_str seen = phi__records_get_str(node, "tool_state");
    phi_status status;
    if (seen.len == 0) return PHI_OK;
    if (!phi__note_is_json(run->agent->thread, seen, &status))
        return status == PHI_NO_MEMORY ? status : PHI_PARSE;
    /* so that the state is freed if reading fails */
    phi__feature_join(run, phi_feature_tool_state);
    round->seen = (char *)phi__alloc(&run->agent->memory, phi__add(seen.len, 1));
    if (round->seen == NULL) return PHI_NO_MEMORY;
    memcpy(round->seen, seen.at, seen.len);
    round->len = seen.len;
    round->changed = phi__records_get_bool(node, "tool_state_changed");
    return PHI_OK;
}

static phi__state phi__effects_take(phi__moment *moment) {
    phi__effects *round = (phi__effects *)moment->run_state;
    bool done = true;
    switch (moment->point) {
    case PHI__POINT_EFFECTS: done = phi__effects_apply(moment->call, round); break;
    case PHI__POINT_TURN_ENDS: {
        bool changed = round->changed;
        phi__effects_free(moment->run, round);
        done = !changed || phi__effects_emit_state(phi__effects_owner(moment->agent));
        break;
    }
    case PHI__POINT_RUN_FREED: phi__effects_free(moment->run, round); break;
    case PHI__POINT_RUN_SAVE: phi__effects_save(moment->out, round); break;
    case PHI__POINT_RUN_LOAD:
        moment->status = phi__effects_load(moment->run, round, moment->json);
        break;
    default: break;
    }
    return done ? PHI__RUN_ON : PHI__RUN_LOST;
}

static void phi__effects_open(phi_runtime *rt) { rt->features.carry_state = phi__state_carry; }

PHI_API const phi__feature *phi_feature_tool_state(void) {
    enum {
        points = PHI__POINT_EFFECTS | PHI__POINT_TURN_ENDS | PHI__POINT_RUN_FREED |
                 PHI__POINT_RUN_SAVE | PHI__POINT_RUN_LOAD
    };
    static const phi__feature feature = {points,
                                         sizeof(phi__effects),
                                         0,
                                         phi__effects_take,
                                         phi__feature_late,
                                         PHI__FEATURE_AT_EFFECTS,
                                         phi__effects_open,
                                         NULL};
    return &feature;
}

static phi_status phi__effects_need(phi_runtime *rt) {
    return phi__feature_need(rt, PHI__FEATURE_AT_EFFECTS, "tool state", "phi_feature_tool_state");
}

PHI_API phi_str phi_call_tool_state(phi_call handle) {
    phi__toolcall *call = phi__call_find(handle);
    if (call == NULL || phi__effects_need(handle.rt) != PHI_OK) return phi__str(NULL, 0);
    phi__effects *round = (phi__effects *)phi__feature_run_state(call->run, phi_feature_tool_state);
    return phi__effects_see(call->run, round) ? phi__str(round->seen, round->len)
                                              : phi__str(NULL, 0);
}

/* Keeps a snapshot for the round of the agent and of hidden agents below. False: no memory. */
static bool phi__effects_keep(phi__agent *agent) {
    phi__agent *child = agent->tree.first_child;
    phi__run *run = agent->run;
    if (run != NULL && run->state == PHI__RUN_TOOLS &&
        !phi__effects_see(run, (phi__effects *)phi__feature_run_state(run, phi_feature_tool_state)))
        return false;
    for (; child != NULL; child = child->tree.next_child)
        if (phi__find_hidden(child) && !phi__effects_keep(child)) return false;
    return true;
}

PHI_API phi_status phi_agent_set_tool_state(phi_agent handle, phi_str json) {
    phi__agent *agent = phi__find_agent(handle);
    phi_status status = PHI_NO_MEMORY;
    if (handle.rt == NULL || (json.at == NULL && json.len > 0)) return PHI_BAD_ARG;
    if (agent == NULL) return PHI_STALE;
    if (phi__effects_need(handle.rt) != PHI_OK) return PHI_UNSUPPORTED;
    size_t most = phi__effects_most(agent);
    if (json.len > PHI__TOOL_STATE_MOST)
        status = PHI_BAD_ARG;
    else if (phi__effects_keep(agent))
        status = phi__state_set(agent->thread, json, most);
    if (status == PHI_BAD_ARG)
        return phi__error(handle.rt, status,
                          "phi_agent_set_tool_state: expected a JSON object of at most %u bytes",
                          (unsigned)most);
    if (status == PHI_OK) (void)phi__effects_emit_state(agent); /* set even if the event is lost */
    return status;
}
