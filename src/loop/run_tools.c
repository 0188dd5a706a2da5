/* run_tools.c - the tools of a turn: started as the mode says, told as they end, logged in call
   order.

   TOOL_END comes when a call ends; its result enters the log as soon as those of all calls before
   it have. So events follow time, and the log does not depend on it.
   A call goes through: begun, the BEFORE_TOOL hook, TOOL_START, the tool, a result, TOOL_END, the
   AFTER_TOOL hook, the log. Both hooks may wait, each call for itself. */
#include "loop/loop_in.h"

#include <stdio.h>

/* Whether a text of the answer is the arguments of PHI_RESPOND_TOOL; cut ones are no answer. */
static bool phi__tools_answered(const phi__run *run) {
    const phi_message *reply = run->reply;
    size_t i;
    if (!phi__attempt_ask(run)->respond || reply->stop_reason != PHI_STOP_REASON_STOP) return false;
    for (i = 0; i < reply->content_count; i++)
        if (reply->content[i].kind == PHI_CONTENT_TEXT &&
            phi__str_is(reply->content[i].name, PHI_RESPOND_TOOL))
            return true;
    return false;
}

PHI__FN phi__state phi__run_make_calls(phi__run *run) {
    size_t i;
    run->tools.answered = phi__tools_answered(run);
    if (!phi__run_lay_calls(run)) return PHI__RUN_LOST;
    for (i = 0; i < run->tools.count; i++)
        if (phi__feature_call(&run->tools.calls[i], PHI__POINT_CALL_MADE) != PHI__RUN_ON)
            return PHI__RUN_OVER;
    return run->tools.count > 0 ? PHI__RUN_TOOLS : PHI__RUN_TURN_END;
}

/* Whether the next call may begin beside those that are not in the log yet. */
static bool phi__tools_may_start(const phi__run *run) {
    const phi__agent *agent = run->agent;
    const phi__toolcall *next = &run->tools.calls[run->tools.next];
    size_t i;
    if (run->tools.emitted == run->tools.next || run->tools.skipping) return true;
    if (agent->desc.tool_mode == PHI_TOOLS_SEQUENTIAL) return false;
    if (agent->desc.tool_mode == PHI_TOOLS_BATCHED && run->tools.next % agent->desc.tool_batch == 0)
        return false;
    if (next->tool != NULL && next->tool->not_concurrent) return false;
    if (!phi__agent_has_tools(agent)->has_lone) return true;
    for (i = run->tools.emitted; i < run->tools.next; i++) {
        const phi__toolcall *call = &run->tools.calls[i];
        if (call->result == NULL && call->tool != NULL && call->tool->not_concurrent) return false;
    }
    return true;
}

static phi_event phi__tools_event(const phi__toolcall *call, phi_event_kind kind) {
    phi_event event;
    memset(&event, 0, sizeof event);
    event.kind = kind;
    event.tool_call_id = call->block->id;
    event.tool_name = call->block->name;
    if (!call->skipped) event.arguments = call->arguments;
    event.call.rt = call->rt;
    event.call.index = call->index;
    event.call.gen = call->gen;
    return event;
}

/* ---- the same call again ---- */

static bool phi__tools_warn(phi__toolcall *call) {
    char words[PHI__REPEAT_WORDS];
    phi_event event = phi__tools_event(call, PHI_EV_WARNING);
    phi__call_repeat_words(call, words);
    event.text = phi_str_of(words);
    return phi__emit(call->run->agent, &event, NULL, 0);
}

/* Counts it, also where there is no such tool; the one too many is answered in the tool's stead,
   and the run ends with the turn. */
static bool phi__tools_count(phi__toolcall *call) {
    phi__run *run = call->run;
    phi__agent *agent = run->agent;
    uint32_t warn = agent->desc.repeat_warn_after, stop = agent->desc.repeat_stop_after;
    char words[PHI__REPEAT_WORDS + 16];
    if (call->tool != NULL && call->tool->may_repeat) return true;
    if (warn == PHI_UNLIMITED && stop == PHI_UNLIMITED) return true;
    if (run->tools.repeat_guard == NULL)
        run->tools.repeat_guard =
            (phi__repeat_guard *)phi__alloc(&agent->memory, sizeof *run->tools.repeat_guard);
    if (run->tools.repeat_guard == NULL) return false;
    call->repeats = phi__repeat_guard_note(
        run->tools.repeat_guard,
        phi__repeat_guard_hash(&run->arena, call->block->name, call->block->arguments));
    if (call->repeats >= stop) {
        run->tools.repeated = true;
        (void)snprintf(words, sizeof words, "Not run: ");
        phi__call_repeat_words(call, words + strlen(words));
        phi__call_fail(call, words);
        return phi__tools_warn(call);
    }
    return call->repeats < warn || phi__tools_warn(call);
}

/* ---- one call, from its beginning to the tool ---- */

static void phi__tools_deny(phi__toolcall *call, phi_str reason) {
    call->quiet = call->after = true;
    phi__call_fail_str(
        call, reason.len > 0 ? reason
                             : PHI__LIT("Tool execution skipped by before_tool_execution hook."));
}

/* The host's word on a call. False: it is waited for, the agent is gone, or memory ended
   (*lost). */
static bool phi__tools_ask(phi__toolcall *call, bool *lost) {
    phi_hook hook = phi__hook_of(call->run, PHI_HOOK_BEFORE_TOOL);
    phi_str reply;
    phi__hooked hooked;
    PHI_ASSERT(
        call->tool == NULL || !call->tool->needs_approval ||
        phi__hook_wants(call->run->agent, PHI_HOOK_BEFORE_TOOL)); /* phi__agent_check_tools */
    hooked = phi__hook_call(call, &hook);
    if (hooked == PHI__HOOK_GONE || hooked == PHI__HOOK_WAIT) return false;
    *lost = hooked == PHI__HOOK_LOST;
    if (*lost) return false;
    call->asked = true;
    reply = phi__buf_str(&call->decision.reply);
    if (hooked == PHI__HOOK_DENY)
        phi__tools_deny(call, reply);
    else if (reply.len > 0)
        /* in the thread: events that show them may outlive the run */
        *lost =
            !phi__arena_str(phi__thread_room(call->run->agent->thread), reply, &call->arguments);
    phi__decision_drop(&call->decision);
    return !*lost;
}

/* Counted, asked about, told and started, as far as it goes; false: no memory. */
static bool phi__tools_go(phi__toolcall *call) {
    phi__run *run = call->run;
    phi_event event;
    bool lost = false;
    if (call->emitted || call->quiet) return true;
    if (run->end.cancelled) { /* what nobody has allowed never ran, and is not told as if it had */
        if (call->decision.asked != PHI__ASKED_NOT) call->quiet = call->after = true;
        phi__decision_drop(&call->decision);
        phi__call_cancel(call, "Cancelled");
    } else if (call->result != NULL) {
        phi__decision_drop(&call->decision); /* finished while it was asked about */
    } else if (!call->asked && !phi__tools_ask(call, &lost)) {
        return !lost;
    }
    if (call->quiet) return true;
    event = phi__tools_event(call, PHI_EV_TOOL_START);
    if (!phi__emit(run->agent, &event, NULL, 0)) return false;
    call->emitted = true;
    if (phi__call_open_still(call)) phi__call_start(call);
    return true;
}

static bool phi__tools_begin(phi__run *run) {
    phi__toolcall *call = &run->tools.calls[run->tools.next];
    if (!phi__call_open(call)) return false;
    run->tools.next++;
    call->begun = true;
    run->tools.running++;
    if (run->tools.skipping || run->tools.answered) {
        call->skipped = call->asked = call->after = true;
        phi__call_fail(call, run->tools.answered ? "Not run: the answer was given."
                                                 : "Skipped due to queued user message.");
    } else if (!run->end.cancelled && !phi__tools_count(call))
        return false;
    return phi__tools_go(call);
}

/* ---- and from the result to the log ---- */

/* A call that is over has no result only because memory ran out: once more, then it is the run that
   ends. */
static bool phi__tools_result(phi__toolcall *call) {
    if (call->slot == NULL) phi__call_fail(call, "Out of memory");
    return call->slot != NULL || call->result != NULL;
}

static bool phi__tools_emit_end(phi__toolcall *call) {
    phi_event event = phi__tools_event(call, PHI_EV_TOOL_END);
    call->ended = true;
    event.message = call->result;
    event.is_error = call->result->is_error;
    event.child_loop_id = call->child_loop_id;
    return phi__emit(call->run->agent, &event, NULL, 0);
}

/* The hook after a call; false: no memory, or the agent is gone. */
static bool phi__tools_after(phi__toolcall *call) {
    phi_hook hook = phi__hook_of(call->run, PHI_HOOK_AFTER_TOOL);
    phi__hooked hooked;
    hook.message = call->result;
    hook.is_error = call->result->is_error;
    hooked = phi__hook_call(call, &hook);
    if (hooked == PHI__HOOK_WAIT && !call->run->end.cancelled) return true;
    if (hooked == PHI__HOOK_GONE) return false;
    phi__decision_drop(&call->decision);
    call->after = true;
    return hooked != PHI__HOOK_LOST;
}

static bool phi__tools_over(phi__toolcall *call) {
    if (call->resumes) phi__call_resume(call);
    if (call->run->agent->slot == NULL) return false;
    if (!phi__tools_go(call)) return false;
    if (call->run->agent->slot == NULL) return false;
    if (!phi__tools_result(call)) return false;
    if (call->result != NULL && phi__feature_call(call, PHI__POINT_CALL_ENDED) != PHI__RUN_ON)
        return false;
    if (call->result == NULL || (!call->emitted && !call->quiet)) return true;
    if (!call->ended && !call->quiet && !phi__tools_emit_end(call)) return false;
    return call->after || phi__tools_after(call);
}

static bool phi__tools_ready(const phi__run *run) {
    const phi__toolcall *front = &run->tools.calls[run->tools.emitted];
    return run->tools.emitted < run->tools.next && front->after && front->result != NULL;
}

/* Whose run it was. A loop id begins with its session's, and a dot; one that a host has made need
   not. */
static bool phi__tools_log_spawn(phi__toolcall *call, const phi_message *result) {
    phi__entry entry = phi__run_entry(call->run, PHI_ENTRY_SPAWN);
    phi__child_run *spawn;
    const char *dot;
    if (call->child_loop_id.len == 0) return true;
    spawn = (phi__child_run *)phi__arena_zero(phi__thread_room(call->run->agent->thread),
                                              sizeof *spawn);
    if (spawn == NULL) return false;
    spawn->tool_call_id = result->tool_call_id;
    spawn->loop_id = call->child_loop_id;
    dot = (const char *)memchr(spawn->loop_id.at, '.', spawn->loop_id.len);
    spawn->session_id =
        phi__str(spawn->loop_id.at, dot != NULL ? (size_t)(dot - spawn->loop_id.at) : 0);
    entry.of.spawn = spawn;
    return phi__run_note(call->run, &entry);
}

/* A result as features want it to enter the log. NULL: no memory. */
static const phi_message *phi__tools_entering(phi__run *run, const phi_message *result) {
    phi__moment moment;
    memset(&moment, 0, sizeof moment);
    moment.point = PHI__POINT_RESULT;
    moment.agent = run->agent;
    moment.run = run;
    moment.message = result;
    return phi__feature_take(&moment) == PHI__RUN_ON ? moment.message : NULL;
}

/* Results at the front, in call order, as far as the step goes. */
static bool phi__tools_log(phi__run *run) {
    while (phi__tools_ready(run)) {
        phi__toolcall *call = &run->tools.calls[run->tools.emitted];
        const phi_message *result = call->result;
        run->tools.emitted++;
        phi__call_dispose(call);
        result = phi__tools_entering(run, result);
        if (result == NULL || !phi__run_log(run, result) || !phi__tools_log_spawn(call, result))
            return false;
        if (phi__step_spent(run->agent->rt)) break;
    }
    return true;
}

/* Each call as far as it goes, in any order. *more: the step is spent before all were looked at. */
static bool phi__tools_flush(phi__run *run, bool *more) {
    size_t i;
    for (i = run->tools.emitted; i < run->tools.next; i++) {
        bool over = run->tools.calls[i].after;
        if (!phi__tools_over(&run->tools.calls[i])) return false;
        if (i == run->tools.emitted && !phi__tools_log(run)) return false;
        *more = !over && run->tools.calls[i].after && phi__step_spent(run->agent->rt);
        if (*more) return true;
    }
    *more = phi__tools_ready(run);
    return true;
}

static void phi__tools_cancel(phi__run *run) {
    size_t i;
    for (i = run->tools.emitted; i < run->tools.next; i++) {
        if (!run->tools.calls[i].emitted) continue; /* its turn comes */
        phi__call_cancel(&run->tools.calls[i], "Cancelled");
        if (run->agent->slot == NULL) return;
    }
}

/* ---- steering between calls ---- */

/* Whether this is a place to look for it: one by one after each call, in batches after each batch,
   at once when all are over. */
static bool phi__tools_checkpoint(const phi__run *run) {
    const phi__agent *agent = run->agent;
    size_t emitted = run->tools.emitted;
    if (emitted != run->tools.next || emitted == run->tools.polled || run->tools.skipping ||
        run->end.cancelled)
        return false;
    if (emitted == run->tools.count || agent->desc.tool_mode == PHI_TOOLS_SEQUENTIAL) return true;
    return agent->desc.tool_mode == PHI_TOOLS_BATCHED && emitted % agent->desc.tool_batch == 0;
}

static phi__hooked phi__tools_steering(phi__run *run) {
    phi__hooked hooked;
    if (!phi__input_polls(run) && !phi__tools_checkpoint(run)) return PHI__HOOK_ALLOW;
    hooked = phi__input_poll(run, PHI_INPUT_STEERING);
    if (hooked != PHI__HOOK_ALLOW) return hooked;
    run->tools.polled = run->tools.emitted;
    run->tools.skipping = phi__input_first(run) != NULL;
    return hooked;
}

/* Begins calls while there may be more of them, and the step lasts. *more: there are. */
static bool phi__tools_fill(phi__run *run, bool *more) {
    *more = false;
    while (run->tools.next < run->tools.count && phi__tools_may_start(run)) {
        if (!phi__tools_begin(run)) return false;
        if (run->agent->slot == NULL || !phi__tools_over(&run->tools.calls[run->tools.next - 1]) ||
            !phi__tools_log(run))
            return false;
        *more = phi__step_spent(run->agent->rt);
        if (*more || phi__tools_checkpoint(run)) return true;
    }
    return true;
}

PHI__FN phi__state phi__run_tools(phi__run *run, bool *wait) {
    phi__hooked hooked;
    bool more = false, good;
    if (run->end.cancelled) {
        phi__decision_drop(&run->decision);
        phi__input_poll_end(run);
        phi__tools_cancel(run);
    }
    good = run->agent->slot != NULL && phi__tools_flush(run, &more);
    if (good && !more) {
        hooked = phi__tools_steering(run);
        if (hooked != PHI__HOOK_ALLOW)
            return phi__run_hooked(run, hooked, PHI__RUN_TOOLS, PHI__RUN_TOOLS, PHI__RUN_TOOLS,
                                   wait);
        if (run->tools.emitted == run->tools.count) return PHI__RUN_TURN_END;
        good = phi__tools_fill(run, &more);
    }
    if (run->agent->slot == NULL) return PHI__RUN_OVER;
    if (!good) return PHI__RUN_LOST;
    *wait = !more && !phi__tools_checkpoint(run) && run->tools.emitted < run->tools.count;
    return PHI__RUN_TOOLS;
}
