/* one_shot.h - threads of a test's own, and runs over them. */
#ifndef PHI_TESTS_AGENT_ONE_SHOT_H
#define PHI_TESTS_AGENT_ONE_SHOT_H

#include "agent/messages.h"
#include "agent/one_shot_run.h"
#include "log/log_in.h"

static inline phi_status say(phi_thread *thread, phi_role role, const char *text) {
    phi_content content = text_block(text);
    phi_message message = message_of(role, &content);
    return phi_thread_append(thread, &message, 1, NULL);
}

/* A run by one prompt; desc NULL: the rig's. */
static inline phi_agent run_over(rig *r, phi_thread *thread, const phi_agent_desc *desc,
                                 const char *text) {
    phi_agent_desc plain = rig_desc();
    phi_content content = text_block(text);
    phi_message prompt = message_of(PHI_ROLE_USER, &content);
    phi_run_desc run;
    memset(&run, 0, sizeof run);
    run.agent = desc != NULL ? desc : &plain;
    run.thread = thread;
    run.prompts = &prompt;
    run.prompt_count = 1;
    return phi_run(rig_runtime(r), &run);
}

static inline const char *text_in(const phi_thread *thread, size_t i) {
    const phi_message *message = phi_thread_message_at(thread, i);
    if (message == NULL || message->content_count == 0) return "(none)";
    return message->content[0].text.at; /* terminated, as every copy is */
}

#endif
