/* talk.h - an agent at its memory limit in tests: exchanges of 175 bytes of text, and what was forgotten meanwhile. */
#ifndef PHI_TESTS_SUPPORT_TALK_H
#define PHI_TESTS_SUPPORT_TALK_H

#include "support/heard.h"
#include "support/rig.h"
#include "agent/agent_history.h"
#include "log/thread.h"
#include "model/message.h"

static const char *const question =
    "How far is it to the old mill, and does the road go by the river?";
static const char *const answer =
    "Two miles along the river, past the ferry and the chapel; mind the "
    "broken bridge, and be there before it gets dark.";

typedef struct talk {
    rig *r;
    phi_agent agent;
    size_t ends, times, messages, bytes;
    uint64_t last_to;
    phi_status status; /* of the last AGENT_END */
    char error[240];
    bool compacted; /* the last FORGOTTEN */
} talk;

static inline void talk_event(void *user_data, const phi_event *e) {
    talk *t = (talk *)user_data;
    if (e->kind == PHI_EV_ERROR) heard_copy(t->error, sizeof t->error, e->text);
    if (e->kind == PHI_EV_AGENT_END) {
        t->ends++;
        t->status = e->status;
    }
    if (e->kind != PHI_EV_FORGOTTEN) return;
    CHECK(e->forgotten->from == t->last_to && e->forgotten->to > e->forgotten->from);
    CHECK(e->forgotten->made_ms > 0); /* the thread is as old as before */
    t->last_to = e->forgotten->to;
    t->times++;
    t->messages += e->forgotten->messages;
    t->bytes += e->forgotten->bytes;
    t->compacted = e->forgotten->compacted;
}

static inline void talk_begin(talk *t, rig *r, const phi_agent_desc *desc) {
    memset(t, 0, sizeof *t);
    t->r = r;
    t->agent = rig_agent(r, desc);
    rig_watch(r, talk_event, t);
}

/* One prompt, run until it is over and all of its events are popped. The status of AGENT_END, or of the prompt. */
static inline phi_status talk_say(talk *t, const char *text, const char *said) {
    phi_status status;
    size_t ends = t->ends;
    rig_forget(t->r);
    rig_rewind(t->r);
    rig_says(t->r, said);
    status = phi_prompt(t->agent, text);
    if (status != PHI_OK) return status;
    (void)rig_run(t->r, 100);
    return t->ends == ends + 1 ? t->status : PHI_BUSY;
}

static inline phi_status exchange(talk *t) { return talk_say(t, question, answer); }

/* `n` of them; how many ended well. */
static inline size_t exchanges(talk *t, size_t n) {
    size_t good = 0, i;
    for (i = 0; i < n; i++) good += exchange(t) == PHI_OK;
    return good;
}

static inline phi_agent_desc limited(size_t bytes, phi_at_memory_limit how) {
    phi_agent_desc desc = rig_desc();
    desc.memory.limit_bytes = bytes;
    desc.memory.at_limit = how;
    return desc;
}

/* Every message of the history is whole, and questions and answers take turns. */
static inline void history_holds(phi_agent agent) {
    size_t n = phi_thread_message_count(phi_agent_thread(agent)), i;
    CHECK(n > 0 && phi_thread_message_at(phi_agent_thread(agent), n) == NULL);
    for (i = 0; i < n; i++) {
        const phi_message *m = phi_thread_message_at(phi_agent_thread(agent), i);
        if (!CHECK(m != NULL && m->content_count == 1)) return;
        if (m->role == PHI_ROLE_ASSISTANT) CHECK_STR(m->content[0].text, answer);
    }
}

#endif
