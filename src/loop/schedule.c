/* schedule.c - finds agents and calls, keeps the last error, and lists ready runs. */
#include "loop/inner_in.h"
#include <stdarg.h>
#include <stdio.h>

PHI__FN uint64_t phi__schedule_look_us(const phi_runtime *rt) {
    return rt->tape != NULL ? rt->tape->ops->look_us(rt->tape) : phi__io_now_us(rt->io);
}

/* ---- the ready list ---- */

PHI__FN void phi__schedule_wake(phi__run *run) {
    phi_runtime *rt = run->agent->rt;
    if (run->ready.in || run->end.over) return;
    run->ready.in = true;
    phi__list_push(&rt->ready, &run->ready.link);
}

PHI__FN void phi__schedule_unready(phi__run *run) {
    phi_runtime *rt = run->agent->rt;
    if (!run->ready.in) return;
    phi__list_take(&rt->ready, &run->ready.link);
    run->ready.in = false;
}

PHI__FN phi__run *phi__schedule_next_ready(phi_runtime *rt) {
    phi__link *first = rt->ready.first;
    phi__run *run = first != NULL ? PHI__OWNER(first, phi__run, ready.link) : NULL;
    if (run != NULL) phi__schedule_unready(run);
    return run;
}

static void phi__schedule_timer(phi__timer *timer) {
    phi__schedule_wake(PHI__OWNER(timer, phi__run, timer));
}

PHI__FN bool phi__schedule_timer_set(phi__run *run, uint64_t at_us) {
    run->timer.fire = phi__schedule_timer;
    return phi__io_timer_set(run->agent->rt->io, &run->timer, at_us) == PHI_OK;
}

/* ---- ending early ---- */

/* Walks the tree without recursion, because a host may make it arbitrarily deep. */
PHI__FN void phi__schedule_cancel_tree(phi__agent *top, bool after_turn) {
    phi__agent *agent = top;
    for (;;) {
        if (!after_turn) agent->tree.aborts++;
        if (agent->run != NULL && after_turn) agent->run->end.stopping = true;
        if (agent->run != NULL && !after_turn) agent->run->end.cancelled = true;
        if (agent->run != NULL) phi__schedule_wake(agent->run);
        if (agent->tree.first_child != NULL) {
            agent = agent->tree.first_child;
            continue;
        }
        while (agent != top && agent->tree.next_child == NULL) agent = agent->tree.parent;
        if (agent == top) return;
        agent = agent->tree.next_child;
    }
}

PHI__FN void phi__schedule_publish_state(const phi__agent *agent, bool running) {
    (void)phi__slots_change(&agent->rt->agents, agent->handle.index, agent->handle.gen,
                            (uint32_t)(running ? PHI__AGENT_IDLE : PHI__AGENT_RUNNING),
                            (uint32_t)(running ? PHI__AGENT_RUNNING : PHI__AGENT_IDLE));
}

PHI__FN phi_status phi__error(phi_runtime *rt, phi_status status, const char *format, ...) {
    va_list args;
    if (rt == NULL) return status;
    va_start(args, format);
    (void)vsnprintf(rt->last_error.words, sizeof rt->last_error.words, format, args);
    va_end(args);
    rt->last_error.words[phi__words_clean(rt->last_error.words, strlen(rt->last_error.words))] =
        '\0';
    rt->last_error.status = status;
    return status;
}

PHI__FN phi_status phi__error_last(const phi_runtime *rt, const char **words) {
    if (words != NULL) *words = rt->last_error.words;
    return rt->last_error.status;
}

PHI__FN phi__toolcall *phi__call_find(phi_call call) {
    phi__slot *slot =
        call.rt != NULL ? phi__slots_find(&call.rt->calls, call.index, call.gen) : NULL;
    return slot != NULL ? (phi__toolcall *)slot->object : NULL;
}

PHI__FN phi_call phi__call_handle(const phi__toolcall *call) {
    phi_call handle;
    handle.rt = call->rt;
    handle.index = call->index;
    handle.gen = call->gen;
    return handle;
}

PHI__FN bool phi__own(phi_memory *memory, phi_str text, phi_str *out) {
    char *copy = NULL;
    if (text.at != NULL) {
        copy = (char *)phi__realloc(memory, NULL, 0, phi__add(text.len, 1));
        if (copy == NULL) return false;
        memcpy(copy, text.at, text.len);
        copy[text.len] = '\0';
    }
    *out = phi__str(copy, text.len);
    return true;
}

PHI__FN void phi__disown(phi_memory *memory, phi_str *s) {
    if (s->at != NULL) phi__free(memory, (void *)(uintptr_t)s->at, s->len + 1);
    *s = phi__str(NULL, 0);
}

PHI__FN phi__agent *phi__find_agent(phi_agent handle) {
    phi__slot *slot =
        handle.rt != NULL ? phi__slots_find(&handle.rt->agents, handle.index, handle.gen) : NULL;
    return slot != NULL ? (phi__agent *)slot->object : NULL;
}

PHI__FN phi_status phi__find_idle(phi__agent *agent, const char *what) {
    const char *busy = agent->run != NULL ? "a run is going on" : agent->held;
    return busy == NULL ? PHI_OK : phi__error(agent->rt, PHI_BUSY, "%s: %s", what, busy);
}

PHI__FN bool phi__find_reader(const phi__agent *agent) {
    const phi__agent *child = agent->tree.first_child;
    for (; child != NULL; child = child->tree.next_child)
        if (child->tree.watch != NULL && child->tree.watch->reads) return true;
    return false;
}
