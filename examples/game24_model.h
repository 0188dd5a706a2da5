/* game24_model.h - a model in the process that really plays the game of 24, as a provider. The same seed gives the
   same answers. */
#ifndef GAME24_MODEL_H
#define GAME24_MODEL_H

#include "phi.h"

#include "game24_mind.h"

/* "... use 4, 4, 10 and 10 once each ..." */
static void g24_numbers(const char *said, int numbers[4]) {
    const char *at = said;
    memset(numbers, 0, 4 * sizeof numbers[0]);
    while ((at = strstr(at, "use ")) != NULL) {
        if (sscanf(at, "use %d, %d, %d and %d", &numbers[0], &numbers[1], &numbers[2],
                   &numbers[3]) == 4)
            return;
        at++;
    }
}

static void g24_prompt(const int numbers[4], char *out, size_t size) {
    (void)snprintf(out, size,
                   "Game of 24: use %d, %d, %d and %d once each with + - * / to make 24.",
                   numbers[0], numbers[1], numbers[2], numbers[3]);
}

static phi_status g24_open(void *user_data, const phi_model_request *request, void **call) {
    g24_model *m = (g24_model *)user_data; /* one agent, so one call at a time */
    const phi_message *last = request->messages[request->message_count - 1];
    phi_str text = last->content_count > 0 ? last->content[0].text : phi_str_of("");
    char system[8000];
    int numbers[4];
    (void)snprintf(system, sizeof system, "%.*s", (int)request->system_prompt.len,
                   request->system_prompt.len > 0 ? request->system_prompt.at : "");
    (void)snprintf(m->said, sizeof m->said, "%.*s", (int)text.len, text.len > 0 ? text.at : "");
    m->calls++;
    m->len = 0;
    m->answer[0] = '\0';
    if (last->role == PHI_ROLE_TOOL_RESULT && atof(m->said) > 23.9999 && atof(m->said) < 24.0001) {
        g24_say(m, "Answer: %s", m->expression);
        m->expression[0] = '\0';
    } else {
        if (last->role == PHI_ROLE_TOOL_RESULT) { /* another try */
            text = request->messages[0]->content[0].text;
            (void)snprintf(m->said, sizeof m->said, "%.*s", PHI_ARG(text));
        }
        m->expression[0] = '\0';
        g24_numbers(m->said, numbers);
        g24_think(m, system, numbers, request->tool_count > 0);
    }
    m->tokens += (strlen(system) + strlen(m->said) + m->len) / 4;
    *call = m;
    return PHI_OK;
}

static phi_poll g24_poll(void *user_data, void *call, phi_answer *answer) {
    g24_model *m = (g24_model *)call;
    char arguments[G24_TEXT + 32];
    (void)user_data;
    if (m->expression[0] != '\0') {
        (void)snprintf(arguments, sizeof arguments, "{\"expression\":\"%s\"}", m->expression);
        phi_answer_call(answer, phi_str_of(""), phi_str_of("compute"));
        phi_answer_arguments(answer, phi_str_of(arguments), false);
    } else
        phi_answer_text(answer, phi_str_of(m->answer));
    return PHI_POLL_DONE;
}

static void g24_close(void *user_data, void *call) {
    (void)user_data;
    (void)call;
}

/* The message is an answer, and makes 24. */
static bool g24_solves(const phi_message *message, const int numbers[4]) {
    char text[1000];
    double value;
    if (message->role != PHI_ROLE_ASSISTANT || message->content_count == 0) return false;
    (void)snprintf(text, sizeof text, "%.*s", (int)message->content[0].text.len,
                   message->content[0].text.len > 0 ? message->content[0].text.at : "");
    return g24_answer(text, numbers, &value) && fabs(value - 24) < 1e-6;
}

/* A provider with this model, which must live as long as the agents. */
static phi_provider g24_provider(g24_model *m, uint64_t seed) {
    phi_provider provider = PHI_ZERO;
    memset(m, 0, sizeof *m);
    m->seed = seed;
    provider.protocol = "game24";
    provider.user_data = m;
    provider.open = g24_open;
    provider.poll = g24_poll;
    provider.close = g24_close;
    return provider;
}

#endif
