/* find.c - finds agents by their handles. */
#include "loop/inner_in.h"
#include <stdarg.h>
#include <stdio.h>

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
