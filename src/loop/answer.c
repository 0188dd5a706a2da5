/* answer.c - an answer while it streams: what events show of it, and what takes its place in the
   end. */
#include "loop/answer_in.h"

static phi_str phi__answer_name(char **at, phi_str name) {
    phi_str out = phi__str(*at, name.len);
    if (out.len > 0) memcpy(*at, name.at, out.len);
    *at += out.len;
    return out;
}

PHI__FN phi__answer *phi__answer_new(phi_memory *memory, const phi_model *model) {
    phi_str id = phi_str_of(model->id), provider = phi_str_of(model->provider);
    phi_str protocol = phi_str_of(model->protocol);
    size_t bytes =
        phi__add(sizeof(phi__answer), phi__add(id.len, phi__add(provider.len, protocol.len)));
    phi__answer *answer = (phi__answer *)phi__alloc(memory, bytes);
    char *names;
    if (answer == NULL) return NULL;
    names = (char *)(answer + 1);
    answer->memory = memory;
    answer->bytes = bytes;
    answer->refs = 1;
    answer->live = true;
    answer->view.role = PHI_ROLE_ASSISTANT;
    answer->view.model = phi__answer_name(&names, id);
    answer->view.provider = phi__answer_name(&names, provider);
    answer->view.protocol = phi__answer_name(&names, protocol);
    phi__assembly_init(&answer->assembly, memory);
    return answer;
}

PHI__FN void phi__answer_settle(phi__answer *answer, const phi_message *final) {
    if (!answer->live) return;
    answer->live = false;
    answer->final = final;
    phi__assembly_free(&answer->assembly);
    phi__free(answer->memory, answer->content, answer->content_cap * sizeof *answer->content);
    answer->content = NULL;
    answer->content_cap = 0;
}

PHI__FN void phi__answer_drop(phi__answer *answer) {
    if (answer == NULL || --answer->refs > 0) return;
    phi__answer_settle(answer, NULL);
    phi__free(answer->memory, answer, answer->bytes);
}

PHI__FN bool phi__answer_room(phi__answer *answer) {
    void *grown = phi__grow(answer->memory, answer->content, &answer->content_cap,
                            phi__max(answer->assembly.count, 1), sizeof *answer->content);
    if (grown == NULL) return false;
    if (answer->content != (phi_content *)grown) answer->viewed = false;
    answer->content = (phi_content *)grown;
    return true;
}

/* Nothing is said: what was shown before is not there any more, or does not fit. */
PHI__FN const phi_message *phi__answer_empty(phi__answer *answer) {
    phi_message shown = answer->view;
    memset(&answer->view, 0, sizeof answer->view);
    answer->view.role = PHI_ROLE_ASSISTANT;
    answer->view.model = shown.model;
    answer->view.provider = shown.provider;
    answer->view.protocol = shown.protocol;
    answer->viewed = false;
    return &answer->view;
}

PHI__FN const phi_message *phi__answer_message(phi__answer *answer) {
    phi_message before = answer->view; /* which model is asked */
    /* An answer that memory did not suffice for shows who spoke, and nothing said: never NULL. */
    if (!answer->live) return answer->final != NULL ? answer->final : phi__answer_empty(answer);
    if (answer->content_cap < answer->assembly.count) return phi__answer_empty(answer);
    if (!answer->viewed) {
        phi__assembly_view(&answer->assembly, answer->content, &answer->view);
        answer->view.model = before.model;
        answer->view.provider = before.provider;
        answer->view.protocol = before.protocol;
    }
    answer->viewed = true;
    return &answer->view;
}
