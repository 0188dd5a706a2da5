/* kept_state.c - the tool state of a thread's active lane, as text beside the log.

   A run of which nothing may be kept leaves the text before its first change, so that its end needs
   no memory. */
#include "history/thread_in.h"

PHI__FN void phi__kept_state_drop(phi_thread *thread, phi__tool_state_text *text) {
    phi__free(thread->log.memory, text->at, text->at != NULL ? text->len + 1 : 0);
    memset(text, 0, sizeof *text);
}

PHI__FN bool phi__kept_state_copy(phi_thread *thread, phi_str from, phi__tool_state_text *out) {
    memset(out, 0, sizeof *out);
    if (phi__str_is(from, "{}")) return true;
    out->at = (char *)phi__alloc(thread->log.memory, phi__add(from.len, 1));
    if (out->at == NULL) return false;
    memcpy(out->at, from.at, from.len);
    out->len = from.len;
    return true;
}

static void phi__kept_state_know(phi_thread *thread, const phi__tool_state_text *made) {
    phi__kept_state_drop(thread, &thread->state.now);
    thread->state.now = *made;
    thread->state.known = true;
}

PHI__FN void phi__kept_state_take(phi_thread *thread, const phi__tool_state_text *made) {
    phi__tool_state *state = &thread->state;
    const phi__entry *run = thread->loops.started;
    uint64_t start = run != NULL && thread->loops.keeps_none ? run->seq + 1 : 0;
    if (start != 0 && state->run != start) {
        phi__kept_state_drop(thread, &state->before);
        state->before = state->now;
        state->run = start;
        memset(&state->now, 0, sizeof state->now);
    }
    phi__kept_state_know(thread, made);
}

PHI__FN void phi__kept_state_learn(phi_thread *thread, const phi__tool_state_text *now,
                                   const phi__tool_state_text *before, uint64_t run) {
    phi__tool_state *state = &thread->state;
    phi__kept_state_drop(thread, &state->now);
    phi__kept_state_drop(thread, &state->before);
    state->now = *now;
    state->before = *before;
    state->run = run;
    state->known = true;
}

PHI__FN void phi__kept_state_run_ended(phi_thread *thread, uint64_t start, bool none) {
    phi__tool_state *state = &thread->state;
    if (start == 0 || state->run != start) return;
    state->run = 0;
    if (none && state->known) {
        phi__kept_state_drop(thread, &state->now);
        state->now = state->before;
        memset(&state->before, 0, sizeof state->before);
    }
    phi__kept_state_drop(thread, &state->before);
}

PHI__FN void phi__kept_state_unknown(phi_thread *thread) { thread->state.known = false; }

PHI__FN void phi__kept_state_free(phi_thread *thread) {
    phi__kept_state_drop(thread, &thread->state.now);
    phi__kept_state_drop(thread, &thread->state.before);
    thread->state.known = false;
}

PHI__FN size_t phi__kept_state_bytes(const phi_thread *thread) {
    return thread->state.now.len + thread->state.before.len;
}
