/* state.c - what characters share, and what they keep to themselves.

   A knight buys a sword: the tool reads the state of the game and its result changes it. Then the same moment is played
   twice: each way on has the purse of its own past. At last the knight and a thief are asked what they know: facts of
   the world are for both, the guards' password is not for the thief. */
#define PHI_IMPLEMENTATION
#include "phi.h"

#include "puppet.h"

#include <stdio.h>

/* Buys a sword for 5, if the state has the gold for it. */
static phi_flow buy(void *user_data, phi_call call, phi_str arguments) {
    phi_tool_result result = PHI_ZERO;
    phi_content text = PHI_ZERO;
    phi_json_found found;
    int64_t gold = 0;
    char effects[200];
    (void)user_data;
    (void)arguments;
    text.kind = PHI_CONTENT_TEXT;
    text.text = phi_str_of("You cannot pay for it.");
    if (phi_json_find(phi_call_tool_state(call), "gold", &found) == PHI_OK)
        (void)phi_json_found_int(&found, &gold);
    if (gold >= 5) {
        (void)snprintf(effects, sizeof effects,
                       "[{\"op\":\"merge\",\"value\":{\"gold\":%d}},"
                       "{\"op\":\"set_path\",\"path\":\"/bag/-\",\"value\":\"sword\"},"
                       "{\"op\":\"emit\",\"name\":\"sold\",\"value\":\"sword\"}]",
                       (int)gold - 5);
        result.effects = effects;
        text.text = phi_str_of("The sword is yours.");
    }
    result.content = &text;
    result.content_count = 1;
    (void)phi_call_result(call, &result);
    return PHI_DONE;
}

/* Buys once it is told to, and else repeats the newest message: that is the one with the facts. */
static const char *character(const phi_model_request *request, char *out, size_t size) {
    phi_str heard = puppet_heard(request);
    if (phi_str_equal(heard, phi_str_of("Buy it."))) return "buy";
    (void)snprintf(out, size, "%.*s", (int)heard.len, heard.at);
    return NULL;
}

static bool ask(phi_runtime *rt, phi_agent agent, const char *text) {
    phi_event ev;
    bool going = true;
    if (phi_prompt(agent, text) != PHI_OK) return false;
    while (going) {
        going = phi_step(rt, 0) > 0;
        while (phi_next_event(rt, &ev))
            if (ev.kind == PHI_EV_EFFECT)
                printf("%.*s: %.*s\n", (int)ev.source.len, ev.source.at, (int)ev.text.len,
                       ev.text.at);
    }
    return true;
}

static void show_state(const char *where, phi_agent agent) {
    phi_str state = phi_agent_tool_state(agent);
    printf("%s: %.*s\n", where, (int)state.len, state.at);
}

static void show_answer(const char *who, phi_agent agent) {
    const phi_message *last = phi_thread_last(phi_agent_thread(agent), PHI_ROLE_ASSISTANT, true);
    printf("%s says: %.*s\n", who, (int)last->content[0].text.len, last->content[0].text.at);
}

int main(void) {
    static const phi_feature_fn features[] = {phi_feature_facts, phi_feature_tool_state, NULL};
    phi_runtime *rt;
    phi_runtime_desc world = PHI_ZERO;
    phi_agent_desc desc = PHI_ZERO;
    phi_provider provider;
    puppet models[2];
    phi_tool tool = PHI_ZERO;
    phi_agent knight, thief;
    uint64_t moment;
    world.features = features;
    rt = phi_runtime_new(&world);
    if (rt == NULL) return 1;
    tool.name = "buy";
    tool.description = "Buys the sword for 5 gold";
    tool.start = buy;
    desc.tools = &tool;
    desc.tool_count = 1;
    puppet_use(&desc, &provider, &models[0], character);
    knight = phi_agent_new(rt, &desc);
    puppet_use(&desc, &provider, &models[1], character);
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
    (void)phi_fact_join(knight, "guards");
    if (!ask(rt, knight, "What do you know?") || !ask(rt, thief, "What do you know?")) return 1;
    show_answer("the knight", knight);
    show_answer("the thief", thief);
    phi_runtime_free(rt);
    return 0;
}
