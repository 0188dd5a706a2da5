/* state.c - what characters share, and what they keep to themselves.

   A knight buys a sword: the tool reads the state of the game and its result changes it. Then the same moment is played
   twice: each way on has the purse of its own past. At last the knight and a thief are asked what they know: facts of
   the world are for both, the guards' password is not for the thief. The model is a scripted one. */
#define PHI_IMPLEMENTATION
#include "phi_tools.h"

#include <stdio.h>

/* Buys a sword for 5, if the state has the gold for it. */
static phi_flow buy(void *user_data, phi_call call, phi_str arguments) {
    phi_tool_result result = PHI_ZERO;
    phi_json *state = phi_json_load(phi_call_tool_state(call), 0, NULL, NULL);
    int64_t gold = phi_json_int(phi_json_get(state, "gold"), 0);
    char effects[200];
    (void)user_data, (void)arguments;
    phi_json_unload(state);
    if (gold < 5) {
        phi_call_reply(call, "You cannot pay for it.");
        return PHI_DONE;
    }
    snprintf(effects, sizeof effects,
             "[{\"op\":\"merge\",\"value\":{\"gold\":%d}},"
             "{\"op\":\"set_path\",\"path\":\"/bag/-\",\"value\":\"sword\"},"
             "{\"op\":\"emit\",\"name\":\"sold\",\"value\":\"sword\"}]",
             (int)gold - 5);
    result.text = "The sword is yours.";
    result.effects = effects;
    phi_call_result(call, &result);
    return PHI_DONE;
}

static bool ask(phi_runtime *rt, phi_agent agent, const char *text) {
    phi_event ev;
    bool going = true;
    if (phi_prompt(agent, text) != PHI_OK) return false;
    while (going) {
        going = phi_step(rt, 0) > 0;
        while (phi_next_event(rt, &ev))
            if (ev.kind == PHI_EV_EFFECT)
                printf("%.*s: %.*s\n", PHI_ARG(ev.source), PHI_ARG(ev.text));
    }
    return true;
}

static void show_state(const char *where, phi_agent agent) {
    phi_str state;
    if (phi_thread_tool_state(phi_agent_thread(agent), NULL, UINT64_MAX, NULL, &state) == PHI_OK)
        printf("%s: %.*s\n", where, PHI_ARG(state));
}

/* The newest message that the model was sent: the one with the facts. */
static void show_told(const char *who, const phi_mock *mock) {
    const phi_model_request *sent = &mock->requests[mock->request_count - 1];
    phi_str text = sent->messages[sent->message_count - 1]->content[0].text;
    printf("%s is told: %.*s\n", who, PHI_ARG(text));
}

int main(void) {
    static const phi_feature_fn features[] = {phi_feature_facts, phi_feature_tool_state, NULL};
    phi_runtime *rt;
    phi_runtime_desc world = PHI_ZERO;
    phi_agent_desc desc = PHI_ZERO;
    phi_mock *mock;
    phi_tool tool = PHI_ZERO;
    phi_agent knight, thief;
    uint64_t moment;
    world.features = features;
    rt = phi_runtime_new(&world);
    mock = phi_mock_new(rt);
    if (mock == NULL) return 1;
    phi_mock_text(mock, "Good day to you.");
    phi_mock_call(mock, "buy", NULL);
    phi_mock_text(mock, "A fine sword.");
    phi_mock_text(mock, "A little.");
    phi_mock_text(mock, "Enough.");
    tool.name = "buy";
    tool.description = "Buys the sword for 5 gold";
    tool.start = buy;
    desc.tools = &tool;
    desc.tool_count = 1;
    desc.model = mock->model;
    knight = phi_agent_new(rt, &desc);
    thief = phi_agent_new(rt, &desc);

    if (phi_agent_set_tool_state(knight, phi_str_of("{\"gold\":8,\"bag\":[]}")) != PHI_OK) return 1;
    if (!ask(rt, knight, "Good day.")) return 1;
    moment = phi_thread_count(phi_agent_thread(knight)) - 1;
    if (!ask(rt, knight, "Buy it.")) return 1;
    show_state("after the purchase", knight);
    if (phi_thread_fork_lane(phi_agent_thread(knight), "poor", NULL, moment) != PHI_OK ||
        phi_thread_switch(phi_agent_thread(knight), "poor") != PHI_OK)
        return 1;
    show_state("before it, in another lane", knight);

    (void)phi_fact_set(phi_fact_all(rt), "weather", phi_str_of("rain"), NULL);
    (void)phi_fact_set(phi_fact_group(rt, "guards"), "password", phi_str_of("swordfish"), NULL);
    (void)phi_fact_set(phi_fact_agent(thief), "loot", phi_str_of("under the oak"), NULL);
    (void)phi_fact_join(knight, "guards", true);
    if (!ask(rt, knight, "What do you know?")) return 1;
    show_told("the knight", mock);
    if (!ask(rt, thief, "What do you know?")) return 1;
    show_told("the thief", mock);
    phi_runtime_free(rt);
    return 0;
}
