/* phi_steer.h - lines that are sent while the agent works. Those that a run did not read come back into the line. */
#ifndef PHI_STEER_H
#define PHI_STEER_H

#include "phi_app.h"

/* Sends the line. The agent reads it after the running calls. */
static inline phi_status steer_send(app *a, const char *line) {
    phi_enqueue_desc desc = PHI_ZERO;
    phi_status status;
    desc.queue = PHI_INPUT_STEERING;
    desc.text = line;
    status = phi_enqueue(a->agent, &desc);
    if (status == PHI_OK) text_add(&a->typing.steered, line, strlen(line) + 1);
    return status;
}

/* Call it after a run. Puts the lines that the run did not read before the words in the line: the next prompt must not
   send them. */
static inline void steer_back(app *a) {
    phi_agent_info info = phi_agent_get_info(a->agent);
    text *sent = &a->typing.steered, words = {NULL, 0, 0};
    size_t at, lines;
    if (info.running || sent->len == 0) return;
    for (at = sent->len, lines = 0; at > 0; at--) /* the newest ones are unread */
        if (sent->at[at - 1] == '\0' && lines++ == info.steering) break;
    for (; at < sent->len; at += strlen(sent->at + at) + 1)
        text_print(&words, "%s%s", words.len > 0 ? "\n" : "", sent->at + at);
    sent->len = 0;
    if (words.len == 0) return;
    (void)phi_queue_clear(a->agent, PHI_INPUT_STEERING);
    if (a->line.text.len > 0) text_print(&words, "\n%s", a->line.text.at);
    line_set(&a->line, words.at);
    note(a, STYLE_DIM, "(the agent has not read what you sent: it is in the line again)");
    free(words.at);
}

#endif
