/* phi_status.h - an agent in three lines: who, which thread; how many tokens, and what it does; what the keys do. Copy
   what you need of it. */
#ifndef PHI_STATUS_H
#define PHI_STATUS_H

#include "phi_keys.h"

/* 2.4k */
static inline void status_amount(text *out, uint64_t n) {
    if (n < 1000)
        text_print(out, "%u", (unsigned)n);
    else
        text_print(out, n < 1000000 ? "%.1fk" : "%.1fM", (double)n / (n < 1000000 ? 1e3 : 1e6));
}

static inline void status_work(text *out, phi_agent agent) {
    static const char spinner[] = "|/-\\";
    phi_agent_info info = phi_agent_get_info(agent);
    phi_waiting waiting = info.waiting.kind;
    if (!info.running) {
        text_say(out, "Ready");
        return;
    }
    text_print(out, "%c ", spinner[keys_now_ms() / 120 % 4]);
    if (waiting == PHI_WAITING_CALL)
        text_fit(out, info.waiting.tool_name, 30);
    else if (waiting == PHI_WAITING_DECISION && info.waiting.quiet) {
        text_say(out, "A hook script decides ");
        text_fit(out,
                 info.waiting.tool_name.len > 0 ? info.waiting.tool_name
                                                : phi_str_of("(no key does)"),
                 30);
    } else
        text_say(out, waiting == PHI_WAITING_RETRY ? "Waiting to try again" : "Thinking");
}

static inline void status_agent(text *out, phi_agent agent, phi_str name) {
    phi_agent_info info = phi_agent_get_info(agent);
    text_say(out, "Agent: ");
    text_fit(out, name.len > 0 ? name : info.model_id, 60);
    text_say(out, " | Thread: ");
    text_fit(out, info.thread_id.len > 0 ? info.thread_id : phi_str_of("not kept"), 40);
    text_print(out, " | Msgs: %u", (unsigned)phi_thread_message_count(phi_agent_thread(agent)));
}

/* The tokens are the log's: they survive a crash, and other processes. The dollars are what this process spent: the log
   may have answers of models whose rates nobody knows any more. doing: what the status says; NULL: what the agent does. */
static inline void status_tokens(text *out, phi_agent agent, bool brief, const char *doing) {
    phi_usage all = phi_thread_get_info(phi_agent_thread(agent)).usage;
    uint64_t in = all.input + all.cache_read + all.cache_write;
    double cost = phi_agent_get_info(agent).cost;
    if (!brief) text_say(out, "Tokens: ");
    status_amount(out, in + all.output);
    if (!brief) {
        text_say(out, " (");
        status_amount(out, in);
        text_say(out, " in / ");
        status_amount(out, all.output);
        text_say(out, " out)");
    }
    if (cost > 0) text_print(out, brief ? ", $%.4f" : ", $%.4f spent", cost);
    text_say(out, brief ? " | " : " | Status: ");
    if (doing != NULL)
        text_say(out, doing);
    else
        status_work(out, agent);
}

/* What the keys do now, while nothing waits for a person. */
static inline void status_keys(text *out, phi_agent agent, bool settles) {
    text_say(out, !phi_agent_get_info(agent).running
                      ? "Enter: submit | Ctrl+R: fresh lane | Ctrl+U: clear | Esc: quit"
                  : settles ? "Enter: steer | Ctrl+S: take the best so far | Esc: stop"
                            : "Enter: steer | Ctrl+U: clear | Esc: stop");
}

#endif
