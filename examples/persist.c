/* persist.c - kill it, start it, it goes on.

   The conversation is in a directory, an entry a line, written as it happens. What was said is there when the program
   starts again, also where it was killed in the middle: what was asked and not answered is asked again.
   usage: persist [directory [what you say]] */
#define PHI_IMPLEMENTATION
#include "phi_tools.h"

#include <stdio.h>

/* The model, a scripted one: writes its next answer. */
static void clerk_says(void *user_data, phi_mock *mock, const phi_model_request *request) {
    phi_str heard = request->messages[request->message_count - 1]->content[0].text;
    char text[400];
    (void)user_data;
    snprintf(text, sizeof text, "I have noted \"%.*s\". That makes %d messages.", PHI_ARG(heard),
             (int)request->message_count);
    phi_mock_text(mock, text);
}

static int stop(phi_runtime *rt, phi_store *store, const char *what) {
    const char *words = "";
    if (rt != NULL) words = phi_last_error(rt).message;
    printf("%s: %s\n", what, words);
    phi_runtime_free(rt);
    phi_file_store_close(store);
    return 1;
}

/* Whether the last message still waits for an answer: the program was stopped in between. */
static bool left_open(phi_agent agent) {
    const phi_message *last = phi_thread_last(phi_agent_thread(agent), (phi_role)0, false);
    return last != NULL && last->role != PHI_ROLE_ASSISTANT;
}

int main(int argc, char **argv) {
    phi_runtime *rt = phi_runtime_new(NULL);
    phi_file_store_desc where = PHI_ZERO;
    phi_store store = PHI_ZERO;
    phi_agent_desc desc = PHI_ZERO;
    phi_mock *mock = phi_mock_new(rt);
    phi_agent agent;
    phi_event ev;
    phi_status status;
    if (mock == NULL) return 1;
    where.directory = argc > 1 ? argv[1] : "phi_saves";
    where.sync = true; /* what was acknowledged survives a loss of power as well */
    if (phi_file_store_open(&where, &store) != PHI_OK) return stop(rt, &store, "store");
    mock->answer_fn = clerk_says;
    desc.model = mock->model;
    desc.store = &store;
    desc.thread_id = "chat";
    agent = phi_agent_new(rt, &desc); /* locks the thread, and loads what is there */
    if (agent.rt == NULL) return stop(rt, &store, "agent");
    printf("%d messages so far\n", (int)phi_thread_message_count(phi_agent_thread(agent)));
    if (left_open(agent)) {
        printf("going on where it was stopped\n");
        status = phi_continue(agent, PHI_CONTINUATION_DEFAULT);
    } else
        status = phi_prompt(agent, argc > 2 ? argv[2] : "Good morning.");
    if (status != PHI_OK) return stop(rt, &store, "run");
    for (;;) {
        int runs = phi_step(rt, -1);
        while (phi_next_event(rt, &ev))
            if (ev.kind == PHI_EV_TEXT) printf("%.*s", PHI_ARG(ev.text));
        if (runs == 0) break;
    }
    printf("\n");
    phi_runtime_free(rt); /* the thread is written and unlocked */
    phi_file_store_close(&store);
    return 0;
}
