/* family.h - a model in the process for tests of sub-agents: it answers by its system prompt and by
   the last message, so that any number of agents may share it in any order.

   A system prompt "lead N" makes N calls of the tool "worker" and then says "All N are done.";
   other models say "Done: <task>." A task may want more: "wait" never answers, "fail" fails, "tool"
   calls the tool "echo" first, "silent" says nothing, "talk" says "One. " and thinks on before the
   rest. */
#ifndef PHI_TESTS_SUBAGENTS_FAMILY_H
#define PHI_TESTS_SUBAGENTS_FAMILY_H

#include "orchestrate/subagents.h"
#include "support/heard.h"
#include "loop/provider.h"
#include "model/event.h"
#include "model/model.h"
#include "record/session.h"
#include "wire/writer.h"
#include "log/thread.h"

enum { FAMILY_INPUT = 10, FAMILY_OUTPUT = 5 }; /* tokens of each model call */

typedef struct family {
    rig *r;
    phi_provider provider;
    int opens, closes, most, open;
    int answers; /* that were given: each is charged */
    bool held;   /* nobody answers */
} family;

typedef struct family_call {
    family *f;
    char task[200];
    int lead;     /* calls of worker that it makes; 0: it works itself */
    bool results; /* the last message is a tool result */
    int polls;
} family_call;

static inline phi_status family_open(void *user_data, const phi_model_request *request,
                                     void **call) {
    family *f = (family *)user_data;
    family_call *c = (family_call *)malloc(sizeof *c);
    const phi_message *last = request->messages[request->message_count - 1];
    char prompt[60];
    memset(c, 0, sizeof *c);
    c->f = f;
    heard_copy(prompt, sizeof prompt, request->system_prompt);
    if (strncmp(prompt, "lead ", 5) == 0) c->lead = atoi(prompt + 5);
    c->results = last->role == PHI_ROLE_TOOL_RESULT;
    if (last->content_count > 0) heard_copy(c->task, sizeof c->task, last->content[0].text);
    f->opens++;
    f->open++;
    if (f->open > f->most) f->most = f->open;
    *call = c;
    return PHI_OK;
}

static inline void family_calls(phi_answer *answer, const char *name, int n, const char *what) {
    char id[40], arguments[300];
    int i;
    for (i = 0; i < n; i++) {
        (void)snprintf(id, sizeof id, "%s-%d", name, i);
        (void)snprintf(arguments, sizeof arguments, "{\"task\":\"%s %d\"}", what, i);
        phi_answer_call(answer, phi_str_of(id), phi_str_of(name));
        phi_answer_arguments(answer, phi_str_of(arguments), true);
    }
    phi_answer_stop(answer, PHI_STOP_REASON_TOOL_USE);
}

static inline phi_poll family_poll(void *user_data, void *call, phi_answer *answer) {
    family *f = (family *)user_data;
    family_call *c = (family_call *)call;
    phi_usage usage;
    char text[300];
    if (f->held || (c->lead == 0 && strstr(c->task, "wait") != NULL)) return PHI_POLL_AGAIN;
    if (c->lead == 0 && c->polls == 0 && strstr(c->task, "talk") != NULL)
        phi_answer_text(answer, phi_str_of("One. "));
    if (c->polls++ < 3) return PHI_POLL_AGAIN;
    memset(&usage, 0, sizeof usage);
    usage.input = FAMILY_INPUT;
    usage.output = FAMILY_OUTPUT;
    phi_answer_usage(answer, &usage);
    f->answers++;
    if (c->lead == 0 && strstr(c->task, "fail") != NULL && !c->results) {
        phi_answer_fail(answer, PHI_FAILURE_INVALID_REQUEST, false, "the worker is ill");
        return PHI_POLL_DONE;
    }
    if (c->lead > 0 && !c->results) {
        family_calls(answer, "worker", c->lead, c->task);
        return PHI_POLL_DONE;
    }
    if (strstr(c->task, "tool") != NULL && !c->results) {
        family_calls(answer, "echo", 1, "echoed");
        return PHI_POLL_DONE;
    }
    if (c->lead > 0)
        (void)snprintf(text, sizeof text, "All %d are done.", c->lead);
    else
        (void)snprintf(text, sizeof text, "Done: %s.", c->results ? "the tool" : c->task);
    if (c->lead > 0 || strstr(c->task, "silent") == NULL) phi_answer_text(answer, phi_str_of(text));
    phi_answer_stop(answer, PHI_STOP_REASON_STOP);
    return PHI_POLL_DONE;
}

static inline void family_close(void *user_data, void *call) {
    family *f = (family *)user_data;
    f->closes++;
    f->open--;
    free(call);
}

static inline void family_begin(family *f, rig *r) {
    memset(f, 0, sizeof *f);
    f->r = r;
    f->provider.protocol = "family";
    f->provider.open = family_open;
    f->provider.poll = family_poll;
    f->provider.close = family_close;
    f->provider.user_data = f;
}

/* An agent of that system prompt; dollars: a cent an input token, ten an output token. */
static inline phi_agent_desc family_desc(family *f, const char *prompt) {
    phi_agent_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.model.protocol = "family";
    desc.model.id = "family-1";
    desc.model.cost.input = 10000;
    desc.model.cost.output = 100000;
    desc.provider = &f->provider;
    desc.system_prompt = prompt;
    desc.retry.disable = true;
    return desc;
}

#endif
