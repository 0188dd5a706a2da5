/* subagents.c - an editor-in-chief delegates: two reporters work at once, a clerk checks, one is sent out again.

   The model is in the process, so the program runs without a key: it plays every role by its system prompt. With a
   model of your own, delete the office_ functions, and fill in desc.model.
   usage: subagents [what the paper is about] */
#define PHI_IMPLEMENTATION
#include "phi_tools.h"

#include <stdio.h>
#include <string.h>

/* ---- a model that plays all roles ---- */

typedef struct office_call {
    bool chief, told; /* told: the last message is a tool result */
    int round;        /* of the chief: answers so far */
    char task[160];
} office_call;

enum { OFFICE_CALLS = 8 };
static office_call office_calls[OFFICE_CALLS]; /* one a model call that is going on */

static phi_status office_open(void *user_data, const phi_model_request *request, void **call) {
    const phi_message *last = request->messages[request->message_count - 1];
    phi_str text = last->content_count > 0 ? last->content[0].text : phi_str_of("");
    office_call *c = office_calls;
    size_t i;
    (void)user_data;
    while (c->task[0] != '\0')
        if (++c == office_calls + OFFICE_CALLS) return PHI_BUSY; /* phi tries again */
    memset(c, 0, sizeof *c);
    c->chief = request->tool_count > 0;
    c->told = last->role == PHI_ROLE_TOOL_RESULT;
    for (i = 0; i < request->message_count; i++)
        c->round += request->messages[i]->role == PHI_ROLE_ASSISTANT;
    (void)snprintf(c->task, sizeof c->task, "%.*s", PHI_ARG(text));
    *call = c;
    return PHI_OK;
}

static void office_delegate(phi_answer *answer, const char *id, const char *to, const char *task,
                            const char *go_on) {
    char arguments[400];
    (void)snprintf(arguments, sizeof arguments, "{\"task\":\"%s\"%s}", task, go_on);
    phi_answer_call(answer, phi_str_of(id), phi_str_of(to));
    phi_answer_arguments(answer, phi_str_of(arguments), true);
}

static phi_poll office_poll(void *user_data, void *call, phi_answer *answer) {
    const office_call *c = (const office_call *)call;
    char text[240];
    (void)user_data;
    if (c->chief && c->round == 0) {
        office_delegate(answer, "a", "reporter", "Ask at the harbour", "");
        office_delegate(answer, "b", "reporter", "Ask at the market", "");
        phi_answer_stop(answer, PHI_STOP_REASON_TOOL_USE);
    } else if (c->chief && c->round == 1) {
        office_delegate(answer, "c", "reporter", "Ask again, for names", ",\"continue\":\"sub-1\"");
        office_delegate(answer, "d", "clerk", "Count the words", "");
        phi_answer_stop(answer, PHI_STOP_REASON_TOOL_USE);
    } else {
        (void)snprintf(text, sizeof text, c->chief ? "We print it." : "%s: done%s.", c->task,
                       c->round > 0 ? ", as I remember" : "");
        phi_answer_text(answer, phi_str_of(text));
    }
    return PHI_POLL_DONE;
}

static void office_close(void *user_data, void *call) {
    (void)user_data;
    ((office_call *)call)->task[0] = '\0';
}

/* ---- the agents ---- */

static void show(const phi_event *ev) {
    switch (ev->kind) {
    case PHI_EV_TOOL_START:
        printf("[%.*s begins] %.*s\n", PHI_ARG(ev->tool_name), PHI_ARG(ev->arguments));
        break;
    case PHI_EV_TOOL_UPDATE: /* a child's words, while it works */
        printf("    %.*s\n", PHI_ARG(ev->text));
        break;
    case PHI_EV_TOOL_END: /* details: who it was, and how to continue it */
        printf("[%.*s has finished] %.*s\n", PHI_ARG(ev->tool_name), PHI_ARG(ev->message->details));
        break;
    case PHI_EV_TEXT: printf("%.*s\n", PHI_ARG(ev->text)); break;
    case PHI_EV_SUBAGENT_END:
        printf("[spawned, %s] %.*s\n", phi_status_text(ev->status), PHI_ARG(ev->text));
        break;
    default: break;
    }
}

static void run(phi_runtime *rt) {
    phi_event ev;
    int runs;
    do {
        runs = phi_step(rt, -1);
        while (phi_next_event(rt, &ev)) show(&ev);
    } while (runs > 0);
}

int main(int argc, char **argv) {
    phi_runtime *rt = phi_runtime_new(NULL);
    phi_provider office = PHI_ZERO;
    phi_agent_desc reporting = PHI_ZERO, counting = PHI_ZERO, desc = PHI_ZERO;
    phi_subagent_desc reporter = PHI_ZERO, clerk = PHI_ZERO;
    phi_tool tools[2];
    phi_agent chief;
    if (rt == NULL) return 1;
    office.protocol = "office";
    office.open = office_open;
    office.poll = office_poll;
    office.close = office_close;
    if (phi_register_provider(rt, &office) != PHI_OK) return 1;

    /* The settings of the children. Without a model they have the chief's. */
    reporting.system_prompt = "You are a reporter: brief, and exact about names.";
    reporting.limits.max_turns = 5;
    counting.system_prompt = "You are a clerk.";
    reporter.name = "reporter";
    reporter.description = "Finds things out. Its result has an id by which it can be continued.";
    reporter.agent = &reporting;
    reporter.keep = 4; /* so many stay to be continued */
    clerk.name = "clerk";
    clerk.agent = &counting;
    tools[0] = phi_subagent_tool(&reporter);
    tools[1] = phi_subagent_tool(&clerk);

    desc.model.protocol = "office";
    desc.model.id = "office";
    desc.system_prompt = "You are the editor-in-chief. Delegate.";
    desc.tools = tools;
    desc.tool_count = 2;
    desc.budget.max_requests = 20; /* the children's model calls, too */
    chief = phi_agent_new(rt, &desc);
    if (phi_prompt(chief, argc > 1 ? argv[1] : "The fog of last night") != PHI_OK) return 1;
    run(rt);

    /* The program can send one, too: no model decides, and the result is an event. */
    if (phi_spawn(chief, &clerk, "File it", NULL) != PHI_OK) return 1;
    run(rt);
    printf("%u model calls, the chief's and the children's\n",
           (unsigned)phi_agent_get_info(chief).spending.requests);
    phi_runtime_free(rt);
    return 0;
}
