/* testing.c - tests of an agent: a scripted model, no network, no key, and the same each time.

   The smith looks at a place before he answers. A test writes the model's part, and checks the requests of the model
   and the answer to the player. */
#include "phi_tools.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the program ---- */

static phi_flow look_start(void *user_data, phi_call call, phi_str arguments) {
    const char *place = phi_call_arg_str(call, "place", "nowhere");
    (void)user_data, (void)arguments;
    if (strcmp(place, "forge") == 0)
        phi_call_reply(call, "The fire is out.");
    else
        phi_call_failf(call, "There is no %s here.", place);
    return PHI_DONE;
}

static phi_agent smith_new(phi_runtime *rt, phi_model model) {
    phi_tool look = PHI_ZERO;
    phi_agent_desc desc = PHI_ZERO;
    look.name = "look";
    look.description = "Looks at a place in the village";
    look.schema = "{\"type\":\"object\",\"properties\":{\"place\":{\"type\":\"string\"}}}";
    look.start = look_start;
    desc.model = model;
    desc.system_prompt = "You are the smith.";
    desc.tools = &look;
    desc.tool_count = 1;
    desc.retry.initial_delay_ms = 1;
    return phi_agent_new(rt, &desc);
}

/* ---- its tests ---- */

typedef struct smithy {
    phi_runtime *rt;
    phi_mock *mock;
    phi_agent smith;
    char said[200]; /* the newest answer */
    char error[200];
} smithy;

static void check(bool good, const char *what) {
    printf("%s %s\n", good ? "ok  " : "FAIL", what);
    if (!good) exit(1);
}

static smithy smithy_open(void) {
    smithy s = PHI_ZERO;
    s.rt = phi_runtime_new(NULL);
    s.mock = phi_mock_new(s.rt);
    if (s.mock == NULL) exit(1);
    s.smith = smith_new(s.rt, s.mock->model);
    return s;
}

/* Prompts the smith, and runs until he has answered. */
static void ask(smithy *s, const char *prompt) {
    phi_event ev;
    int runs;
    s->said[0] = s->error[0] = '\0';
    check(phi_prompt(s->smith, prompt) == PHI_OK, prompt);
    do {
        runs = phi_step(s->rt, -1);
        while (phi_next_event(s->rt, &ev)) {
            if (ev.kind == PHI_EV_TEXT)
                snprintf(s->said, sizeof s->said, "%.*s", PHI_ARG(ev.partial));
            if (ev.kind == PHI_EV_ERROR)
                snprintf(s->error, sizeof s->error, "%.*s", PHI_ARG(ev.text));
        }
    } while (runs > 0);
}

/* What the model was sent last: the text of its newest message that is no update of facts. */
static bool was_told(const smithy *s, const char *text) {
    const phi_model_request *sent = &s->mock->requests[s->mock->request_count - 1];
    size_t i = sent->message_count - 1;
    while (i > 0 && sent->messages[i]->is_update) i--;
    return phi_str_is(sent->messages[i]->content[0].text, text);
}

static void he_looks_before_he_answers(void) {
    smithy s = smithy_open();
    phi_mock_call(s.mock, "look", "{\"place\":\"forge\"}");
    phi_mock_text(s.mock, "Not today, the fire is out.");
    ask(&s, "Can you mend this sword?");
    check(was_told(&s, "The fire is out."), "the model read what the tool said");
    check(strcmp(s.said, "Not today, the fire is out.") == 0, "the player heard the answer");
    check(s.mock->answers_left == 0, "there were two model calls");
    phi_runtime_free(s.rt);
}

static void a_wrong_place_is_an_error_that_the_model_reads(void) {
    smithy s = smithy_open();
    phi_mock_call(s.mock, "look", "{\"place\":\"moon\"}");
    phi_mock_text(s.mock, "I see nothing.");
    ask(&s, "What is on the moon?");
    check(was_told(&s, "There is no moon here."), "the model read the error");
    phi_runtime_free(s.rt);
}

static void a_busy_model_is_asked_again(void) {
    smithy s = smithy_open();
    phi_mock_fail(s.mock, PHI_FAILURE_RATE_LIMITED, "slow down");
    phi_mock_text(s.mock, "Good day.");
    ask(&s, "Good day!");
    check(strcmp(s.said, "Good day.") == 0 && s.error[0] == '\0', "the player noticed nothing");
    phi_runtime_free(s.rt);
}

int main(void) {
    he_looks_before_he_answers();
    a_wrong_place_is_an_error_that_the_model_reads();
    a_busy_model_is_asked_again();
    return 0;
}
