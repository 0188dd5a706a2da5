/* heard.h - what a test remembers of a run's events beyond the story: identities, triggers, and how it
   ended. Set it up with heard_begin; it is the watcher of the rig from then on. */
#ifndef PHI_TESTS_SUPPORT_HEARD_H
#define PHI_TESTS_SUPPORT_HEARD_H

#include "support/rig.h"
#include "agent/agent_history.h"
#include "log/thread.h"
#include "model/message.h"

enum { HEARD_TURNS = 16 };

typedef struct heard {
    size_t starts, turns, ends;
    /* of the last AGENT_START */
    char agent_id[64], session_id[64], loop_id[160], parent_loop_id[160], tag[64];
    phi_continuation continuation;
    /* of every TURN_START, the first HEARD_TURNS */
    phi_trigger trigger[HEARD_TURNS];
    uint32_t turn_index[HEARD_TURNS];
    /* of the last AGENT_END */
    phi_status status;
    size_t first_message, message_count;
    char rejection[200], reason[200];
    phi_usage usage;
} heard;

static inline void heard_copy(char *out, size_t size, phi_str text) {
    (void)snprintf(out, size, "%.*s", (int)text.len, text.len > 0 ? text.at : "");
}

static inline void heard_event(void *user_data, const phi_event *e) {
    heard *h = (heard *)user_data;
    if (e->kind == PHI_EV_AGENT_START) {
        h->starts++;
        heard_copy(h->agent_id, sizeof h->agent_id, e->loop->agent_id);
        heard_copy(h->session_id, sizeof h->session_id, e->loop->session_id);
        heard_copy(h->loop_id, sizeof h->loop_id, e->loop->loop_id);
        heard_copy(h->parent_loop_id, sizeof h->parent_loop_id, e->loop->parent_loop_id);
        heard_copy(h->tag, sizeof h->tag, e->loop->tag);
        h->continuation = e->loop->continuation;
    } else if (e->kind == PHI_EV_TURN_START) {
        if (h->turns < HEARD_TURNS) {
            h->trigger[h->turns] = e->trigger;
            h->turn_index[h->turns] = e->turn_index;
        }
        h->turns++;
    } else if (e->kind == PHI_EV_AGENT_END) {
        h->ends++;
        h->status = e->status;
        h->first_message = e->first_message;
        h->message_count = e->message_count;
        heard_copy(h->rejection, sizeof h->rejection, e->rejection);
        heard_copy(h->reason, sizeof h->reason, e->text);
        if (e->usage != NULL) h->usage = *e->usage;
    }
}

static inline void heard_begin(heard *h, rig *r) {
    memset(h, 0, sizeof *h);
    rig_watch(r, heard_event, h);
}

/* ---- small things that such tests share ---- */

/* The bodies of a failed call, for rig_replies with status 500. */
#define HEARD_JSON "Content-Type: application/json\r\n"
#define HEARD_BOOM "{\"type\":\"error\",\"error\":{\"type\":\"api_error\",\"message\":\"boom\"}}"

static inline const char *words_of(rig *r) {
    const char *words = "";
    words = phi_last_error(rig_runtime(r)).message;
    return words;
}

static inline const phi_message *last_of(phi_agent agent) {
    return phi_thread_message_at(phi_agent_thread(agent),
                                 phi_thread_message_count(phi_agent_thread(agent)) - 1);
}

/* A block's text, in a static buffer. */
static inline const char *text_at(phi_agent agent, size_t i, size_t block) {
    static char out[300];
    const phi_message *m = phi_thread_message_at(phi_agent_thread(agent), i);
    if (m == NULL || block >= m->content_count) return "(nothing)";
    heard_copy(out, sizeof out, m->content[block].text);
    return out;
}

static inline phi_message text_message(phi_role role, phi_content *block, const char *text) {
    phi_message message;
    memset(block, 0, sizeof *block);
    memset(&message, 0, sizeof message);
    block->kind = PHI_CONTENT_TEXT;
    block->text = phi_str_of(text);
    message.role = role;
    message.content = block;
    message.content_count = 1;
    if (role == PHI_ROLE_ASSISTANT) message.stop_reason = PHI_STOP_REASON_STOP;
    return message;
}

/* An agent with one tool. */
static inline phi_agent agent_with(rig *r, phi_agent_desc *desc, const phi_tool *tool) {
    desc->tools = tool;
    desc->tool_count = 1;
    return rig_agent(r, desc);
}

enum { HOOK_POINTS = 16, EVERY_POINT = (1 << HOOK_POINTS) - 1 };

/* An agent whose hooks are written into the story. */
static inline phi_agent hooked(rig *r, uint32_t points) {
    phi_agent_desc desc = rig_desc();
    rig_hooks(r, &desc, points);
    return rig_agent(r, &desc);
}

static inline size_t count_of(const char *story, const char *line) {
    size_t n = 0;
    for (; (story = strstr(story, line)) != NULL; story++) n++;
    return n;
}

static inline bool begins(const char *story, const char *with) {
    return strncmp(story, with, strlen(with)) == 0;
}

#endif
