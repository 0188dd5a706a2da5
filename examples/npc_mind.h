/* npc_mind.h - the model of npc.c: a few rules in the process, as a phi_provider.

   It understands "I am WHO. I like WHAT." and calls the tool `remember`; to anything else of "I
   am WHO." it answers what the facts of the request say about WHO. */
#ifndef NPC_MIND_H
#define NPC_MIND_H

#include "phi.h"

#include <stdio.h>
#include <string.h>

typedef struct mind {
    char who[32], what[32];
    char text[120]; /* the answer; empty: a call of `remember` */
} mind;

/* The newest line "WHO: likes WHAT" of the facts that the request shows. */
static void mind_recall(mind *m, const phi_model_request *request) {
    char line[64];
    size_t i, at, n = (size_t)snprintf(line, sizeof line, "\n%s: likes ", m->who);
    for (i = request->message_count; i-- > 0;) {
        phi_str text = request->messages[i]->content[0].text;
        for (at = 0; request->messages[i]->is_update && at + n < text.len; at++)
            if (memcmp(text.at + at, line, n) == 0) {
                (void)snprintf(line, sizeof line, "%.*s", (int)(text.len - at - n),
                               text.at + at + n);
                (void)snprintf(m->what, sizeof m->what, "%.*s", (int)strcspn(line, "\n"), line);
                return;
            }
    }
}

static phi_status mind_open(void *user_data, const phi_model_request *request, void **call) {
    mind *m = (mind *)user_data; /* one villager, so one answer at a time */
    size_t last = request->message_count - 1;
    char said[80];
    while (last > 0 && request->messages[last]->is_update) last--;
    (void)snprintf(said, sizeof said, "%.*s", PHI_ARG(request->messages[last]->content[0].text));
    memset(m, 0, sizeof *m);
    *call = m;
    if (request->messages[last]->role == PHI_ROLE_TOOL_RESULT) {
        (void)snprintf(m->text, sizeof m->text, "I shall not forget it.");
    } else if (sscanf(said, "I am %31[A-Za-z]. I like %31[a-z]", m->who, m->what) < 2) {
        mind_recall(m, request);
        (void)snprintf(m->text, sizeof m->text, "You like %s, %s.",
                       m->what[0] != '\0' ? m->what : "to talk", m->who);
    }
    return PHI_OK;
}

static phi_poll mind_poll(void *user_data, void *call, phi_answer *answer) {
    mind *m = (mind *)call;
    (void)user_data;
    if (m->text[0] != '\0') {
        phi_answer_text(answer, phi_str_of(m->text));
    } else {
        (void)snprintf(m->text, sizeof m->text, "{\"who\":\"%s\",\"what\":\"likes %s\"}", m->who,
                       m->what);
        phi_answer_call(answer, phi_str_of(""), phi_str_of("remember"));
        phi_answer_arguments(answer, phi_str_of(m->text), true);
    }
    return PHI_POLL_DONE;
}

static void mind_close(void *user_data, void *call) { (void)user_data, (void)call; }

static inline phi_provider mind_provider(mind *m) {
    phi_provider rules = PHI_ZERO;
    rules.protocol = "rules";
    rules.user_data = m;
    rules.open = mind_open;
    rules.poll = mind_poll;
    rules.close = mind_close;
    return rules;
}

#endif
