/* run_tools.c - the tools of a turn: started as the mode says, told as they end, logged in call order.

   TOOL_END comes when a call ends; its result enters the log as soon as those of all calls before it
   have. So events follow time, and the log does not depend on it. */
#include "loop/loop_in.h"

static const phi_tool *phi__tools_named(const phi__agent *agent, phi_str name) {
    size_t i;
    for (i = 0; i < agent->tool_count; i++)
        if (phi__str_is(name, agent->tools[i].name)) return &agent->tools[i];
    return NULL;
}

PHI__FN phi__state phi__run_make_calls(phi__run *run) {
    const phi_message *reply = run->reply;
    size_t n = 0, i;
    for (i = 0; i < reply->content_count; i++) n += reply->content[i].kind == PHI_CONTENT_TOOL_CALL;
    run->call_count = run->next_call = run->told_calls = run->running_calls = 0;
    run->calls = NULL;
    if (n == 0) return PHI__RUN_TURN_END;
    run->calls = (phi__toolcall *)phi__arena_zero(&run->arena, phi__mul(n, sizeof *run->calls));
    if (run->calls == NULL) return phi__run_no_memory(run);
    for (i = 0; i < reply->content_count; i++) {
        phi__toolcall *call;
        if (reply->content[i].kind != PHI_CONTENT_TOOL_CALL) continue;
        call = &run->calls[run->call_count++];
        call->rt = run->agent->rt;
        call->run = run;
        call->block = &reply->content[i];
        call->arguments = call->block->arguments;
        call->tool = phi__tools_named(run->agent, call->block->name);
    }
    return PHI__RUN_TOOLS;
}

PHI__FN void phi__run_detach_tools(phi__run *run) {
    size_t i;
    for (i = 0; run->calls != NULL && i < run->call_count; i++) phi__call_detach(&run->calls[i]);
}

PHI__FN void phi__run_drop_tools(phi__run *run) {
    size_t i;
    phi__run_detach_tools(run);
    for (i = 0; run->calls != NULL && i < run->call_count; i++) phi__call_dispose(&run->calls[i]);
    run->calls = NULL;
}

/* Whether the next call may begin beside those that run. */
static bool phi__tools_may_start(const phi__run *run) {
    const phi__agent *agent = run->agent;
    const phi__toolcall *next = &run->calls[run->next_call];
    size_t i;
    if (run->running_calls == 0) return true;
    if (agent->tool_mode == PHI_TOOLS_SEQUENTIAL) return false;
    if (agent->tool_mode == PHI_TOOLS_BATCHED && run->next_call % agent->tool_batch == 0)
        return false;
    if (next->tool != NULL && next->tool->not_concurrent) return false;
    for (i = run->next_call; i > 0; i--) {
        const phi__toolcall *call = &run->calls[i - 1];
        if (call->slot != NULL) return call->tool == NULL || !call->tool->not_concurrent;
    }
    return true;
}

static phi_event phi__tools_event(const phi__toolcall *call, phi_event_kind kind) {
    phi_event event;
    memset(&event, 0, sizeof event);
    event.kind = kind;
    event.tool_call_id = call->block->id;
    event.tool_name = call->block->name;
    event.arguments = call->arguments;
    event.call.rt = call->rt;
    event.call.index = call->index;
    event.call.gen = call->gen;
    return event;
}

/* A call that is over has no result only because memory ran out: once more, then it is the run that
   ends. */
static bool phi__tools_result(phi__toolcall *call) {
    if (call->slot == NULL) phi__call_fail(call, "Out of memory");
    return call->slot != NULL || call->result != NULL;
}

static bool phi__tools_tell_end(phi__toolcall *call) {
    phi_event event = phi__tools_event(call, PHI_EV_TOOL_END);
    call->ended = true;
    event.message = call->result;
    event.is_error = call->result->is_error;
    return phi__emit(call->run->agent, &event, NULL, 0);
}

static bool phi__tools_begin(phi__run *run) {
    phi__toolcall *call = &run->calls[run->next_call++];
    phi_event event;
    if (!phi__call_open(call)) return false;
    event = phi__tools_event(call, PHI_EV_TOOL_START);
    if (!phi__emit(run->agent, &event, NULL, 0)) return false;
    if (run->cancelled)
        phi__call_fail(call, "Cancelled");
    else
        phi__call_start(call);
    return true;
}

/* Ends that were not told yet, in any order; then results at the front, in call order. */
static bool phi__tools_flush(phi__run *run) {
    size_t i;
    for (i = run->told_calls; i < run->next_call; i++) {
        phi__toolcall *call = &run->calls[i];
        if (!phi__tools_result(call)) return false;
        if (call->result != NULL && !call->ended && !phi__tools_tell_end(call)) return false;
    }
    while (run->told_calls < run->next_call && run->calls[run->told_calls].result != NULL) {
        phi__toolcall *call = &run->calls[run->told_calls];
        const phi_message *result = call->result;
        run->told_calls++;
        phi__call_dispose(call);
        if (!phi__run_log(run, result)) return false;
    }
    return true;
}

static void phi__tools_cancel(phi__run *run) {
    size_t i;
    for (i = run->told_calls; i < run->next_call; i++) {
        phi__call_cancel(&run->calls[i], "Cancelled");
        if (run->agent->slot == NULL) return;
    }
}

PHI__FN phi__state phi__run_tools(phi__run *run, bool *wait) {
    if (run->cancelled) phi__tools_cancel(run);
    while (run->agent->slot != NULL) {
        if (!phi__tools_flush(run)) return phi__run_no_memory(run);
        if (run->told_calls == run->call_count) return PHI__RUN_TURN_END;
        if (run->next_call == run->call_count || !phi__tools_may_start(run)) break;
        if (!phi__tools_begin(run)) return phi__run_no_memory(run);
        if (phi__step_spent(run->agent->rt)) return PHI__RUN_TOOLS;
    }
    *wait = true;
    return PHI__RUN_TOOLS;
}
