/* time_travel.c - three ways on from the same moment, compared.

   Two turns are played once. From the end of the second one three lanes begin: each hears another question and gives
   another answer. They share what came before; going back is a switch, and nothing is lost. */
#define PHI_IMPLEMENTATION
#include "phi_tools.h"

#include <stdio.h>

enum { WAYS = 3 };

/* The model, a scripted one: writes its next answer. */
static void witness_says(void *user_data, phi_mock *mock, const phi_model_request *request) {
    phi_str heard = request->messages[request->message_count - 1]->content[0].text;
    char text[400];
    (void)user_data;
    snprintf(text, sizeof text, "You asked \"%.*s\", and I have seen %d messages.", PHI_ARG(heard),
             (int)request->message_count);
    phi_mock_text(mock, text);
}

static bool ask(phi_runtime *rt, phi_agent agent, const char *text) {
    phi_event ev;
    int runs;
    if (phi_prompt(agent, text) != PHI_OK) return false;
    do {
        runs = phi_step(rt, 0);
        while (phi_next_event(rt, &ev)) continue;
    } while (runs > 0);
    return true;
}

static void show(const char *name, phi_agent agent) {
    const phi_thread *thread = phi_agent_thread(agent);
    const phi_message *last = phi_thread_last(thread, PHI_ROLE_ASSISTANT, true);
    printf("%-6s %d messages, the last: %.*s\n", name, (int)phi_thread_message_count(thread),
           PHI_ARG(last->content[0].text));
}

int main(void) {
    static const char *const ways[WAYS][2] = {{"kind", "Would you like some tea?"},
                                              {"stern", "Where were you last night?"},
                                              {"sly", "Your brother has confessed."}};
    phi_runtime *rt = phi_runtime_new(NULL);
    phi_agent_desc desc = PHI_ZERO;
    phi_mock *mock = phi_mock_new(rt);
    phi_agent agent;
    phi_thread *thread;
    uint64_t moment;
    int i;
    if (mock == NULL) return 1;
    mock->answer_fn = witness_says;
    desc.model = mock->model;
    agent = phi_agent_new(rt, &desc);
    if (!ask(rt, agent, "Good evening.") || !ask(rt, agent, "May I sit down?")) return 1;
    thread = phi_agent_thread(agent);
    moment = phi_thread_count(thread) - 1;
    for (i = 0; i < WAYS; i++) {
        if (phi_thread_fork_lane(thread, ways[i][0], PHI_LANE_DEFAULT, moment) != PHI_OK ||
            phi_thread_switch(thread, ways[i][0]) != PHI_OK || !ask(rt, agent, ways[i][1]))
            return 1;
        show(ways[i][0], agent);
    }
    if (phi_thread_switch(thread, PHI_LANE_DEFAULT) != PHI_OK) return 1;
    show("before", agent);
    printf("%d entries, %d lanes, all in one log\n", (int)phi_thread_count(thread),
           (int)phi_thread_get_info(thread).lane_count);
    phi_runtime_free(rt);
    return 0;
}
