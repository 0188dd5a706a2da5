/* trace_prompt.c - which system prompt an entry of the walk was sent with. */
#include "trace/trace_in.h"
#include "model/event_parts.h"

static bool phi__trace_prompt_is_in(const phi__entry *e) {
    return e->kind == PHI_ENTRY_LOOP_START && e->of.loop != NULL && e->of.loop->has_system_prompt;
}

PHI__FN void phi__trace_prompt_note(phi_trace *t, const phi__entry *entry) {
    if (phi__trace_prompt_is_in(entry)) t->prompt = entry->seq + 1;
}

PHI__FN uint64_t phi__trace_prompt_at(const phi_trace *t, const phi__entry *entry) {
    if (phi__trace_prompt_is_in(entry)) return entry->seq + 1;
    return (entry->flags & PHI_ENTRY_GRAFTED) == 0 ? t->prompt : 0;
}

PHI__FN phi_str phi__trace_prompt(const phi_trace *t, uint64_t at) {
    return at > 0 ? phi__thread_at(t->thread, at - 1)->of.loop->system_prompt : phi__str("", 0);
}
