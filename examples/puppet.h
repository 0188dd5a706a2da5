/* puppet.h - a model in the process for the examples that need none from outside: a function writes its answers, and
   they come a word a step. See own_model.c for how such a model is made. */
#ifndef PUPPET_H
#define PUPPET_H

#include "phi.h"

#include <string.h>

/* Writes what is said into `out`, or returns a tool's name that is to be called without arguments. */
typedef const char *(*puppet_fn)(const phi_model_request *request, char *out, size_t size);

typedef struct puppet {
    puppet_fn answer;
    char text[400];
    size_t at;
    const char *tool;
} puppet;

static phi_status puppet_open(void *user_data, const phi_model_request *request, void **call) {
    puppet *p = (puppet *)user_data;
    p->at = 0;
    p->text[0] = '\0';
    p->tool = p->answer(request, p->text, sizeof p->text);
    *call = p;
    return PHI_OK;
}

static phi_poll puppet_poll(void *user_data, void *call, phi_answer *answer) {
    puppet *p = (puppet *)call;
    phi_str word = phi_str_of(p->text + p->at);
    const char *space = strchr(word.at, ' ');
    (void)user_data;
    if (p->tool != NULL) {
        phi_answer_call(answer, phi_str_of(""), phi_str_of(p->tool));
        return PHI_POLL_DONE;
    }
    if (space != NULL) word.len = (size_t)(space - word.at) + 1;
    p->at += word.len;
    phi_answer_text(answer, word);
    return p->text[p->at] != '\0' ? PHI_POLL_AGAIN : PHI_POLL_DONE;
}

static void puppet_close(void *user_data, void *call) {
    (void)user_data;
    (void)call;
}

/* Gives a desc this model. The puppet must live as long as the agent. */
static void puppet_use(phi_agent_desc *desc, phi_provider *provider, puppet *p, puppet_fn answer) {
    memset(p, 0, sizeof *p);
    memset(provider, 0, sizeof *provider);
    p->answer = answer;
    provider->protocol = "puppet";
    provider->user_data = p;
    provider->open = puppet_open;
    provider->poll = puppet_poll;
    provider->close = puppet_close;
    desc->model.protocol = "puppet";
    desc->model.id = "puppet";
    desc->provider = provider;
}

/* The text of the newest message that it was shown. */
static phi_str puppet_heard(const phi_model_request *request) {
    const phi_message *last = request->messages[request->message_count - 1];
    return last->content_count > 0 ? last->content[0].text : phi_str_of("");
}

#endif
