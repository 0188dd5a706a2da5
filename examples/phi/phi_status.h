/* phi_status.h - an agent in two lines: who, which thread, how many tokens, and what it does. Copy what you need of
   it. */
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
    phi_pending_item item;
    phi_waiting waiting = phi_agent_waiting(agent, &item);
    if (!phi_agent_running(agent)) {
        text_say(out, "Ready");
        return;
    }
    text_print(out, "%c ", spinner[keys_now_ms() / 120 % 4]);
    if (waiting == PHI_WAITING_CALL)
        text_fit(out, item.tool_name, 30);
    else
        text_say(out, waiting == PHI_WAITING_RETRY ? "Waiting to try again" : "Thinking");
}

static inline void status_agent(text *out, phi_agent agent, phi_str name) {
    phi_str thread = phi_agent_thread_id(agent), id = phi_agent_model_id(agent);
    text_say(out, "Agent: ");
    text_fit(out, name.len > 0 ? name : id, 60);
    text_say(out, " | Thread: ");
    text_fit(out, thread.len > 0 ? thread : phi_str_of("not kept"), 40);
    text_print(out, " | Msgs: %u", (unsigned)phi_message_count(agent));
}

/* The totals are the log's: they survive a crash, and other processes. */
static inline void status_tokens(text *out, phi_agent agent, bool brief, bool asking) {
    phi_usage all = phi_thread_usage(phi_agent_thread(agent));
    phi_agent_desc desc = PHI_ZERO;
    double cost;
    (void)phi_agent_get_desc(agent, &desc);
    cost = phi_cost_of(&desc.model.cost, &all);
    if (!brief) text_say(out, "Tokens: ");
    status_amount(out, all.total_tokens);
    if (!brief) {
        text_say(out, " (");
        status_amount(out, all.total_tokens - all.output);
        text_say(out, " in / ");
        status_amount(out, all.output);
        text_say(out, " out)");
    }
    if (cost > 0) text_print(out, ", $%.4f", cost);
    text_say(out, brief ? " | " : " | Status: ");
    if (asking)
        text_say(out, "Waiting for you");
    else
        status_work(out, agent);
}

#endif
