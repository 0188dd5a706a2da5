/* tools.c - the tool calls of a turn: laid out in the order of the answer, started as the mode
   says, reported as they end, logged in call order; and the repeat guard.

   TOOL_END comes when a call ends; its result enters the log as soon as those of all calls before
   it have. So events follow time, and the log does not depend on it.
   A call goes through: begun, the BEFORE_TOOL hook, TOOL_START, the tool, a result, TOOL_END, the
   AFTER_TOOL hook, the log. Both hooks may wait, each call for itself. */
#include "loop/tools_in.h"

#include "loop/cap_in.h"
#include "loop/deferral_in.h"
#include "base/utf8_in.h"
#include "loop/loop_in.h"
#include "text/json_in.h"
#include "wire/hash_in.h"

#include <stdio.h>

/* ---- the same call again and again ---- */

/* Seeds, so that values of different kinds differ: 1 is not "1". */
enum {
    PHI__REPEAT_GUARD_RAW = 1,
    PHI__REPEAT_GUARD_WORD,
    PHI__REPEAT_GUARD_INTEGER,
    PHI__REPEAT_GUARD_LARGE,
    PHI__REPEAT_GUARD_FRACTION,
    PHI__REPEAT_GUARD_STRING,
    PHI__REPEAT_GUARD_KEY,
    PHI__REPEAT_GUARD_ARRAY,
    PHI__REPEAT_GUARD_OBJECT
};

static uint64_t phi__tools_repeat_join(uint64_t a, uint64_t b) {
    return phi__hash_mix(a * UINT64_C(0x9e3779b97f4a7c15) + b);
}

/* By value, as phi__json_get_equal has it: 1, 1.0 and 1e0 are the same. */
static uint64_t phi__tools_repeat_number(const phi_json *node) {
    phi__json_number n;
    int64_t i;
    uint64_t u;
    n.kind = phi__json_kind_of(node);
    n.v = node->v;
    if (phi__json_get_number_i64(&n, &i))
        return phi__tools_repeat_join(PHI__REPEAT_GUARD_INTEGER, (uint64_t)i);
    if (phi__json_get_number_u64(&n, &u)) return phi__tools_repeat_join(PHI__REPEAT_GUARD_LARGE, u);
    memcpy(&u, &n.v.d, sizeof u);
    return phi__tools_repeat_join(PHI__REPEAT_GUARD_FRACTION, u);
}

/* As deep as phi_json_parse lets it be. Members are added up: their order does not count. */
static uint64_t phi__tools_repeat_value(const phi_json *node) {
    phi_json_iter it = phi_json_each(node);
    const phi_json *child;
    uint64_t hash;
    switch (phi_json_type_of(node)) {
    case PHI_JSON_NUMBER: return phi__tools_repeat_number(node);
    case PHI_JSON_STRING: return phi__hash(phi_json_str(node, NULL), PHI__REPEAT_GUARD_STRING);
    case PHI_JSON_ARRAY:
        hash = PHI__REPEAT_GUARD_ARRAY;
        while ((child = phi_json_next(&it)) != NULL)
            hash = phi__tools_repeat_join(hash, phi__tools_repeat_value(child));
        return phi__hash_mix(hash);
    case PHI_JSON_OBJECT:
        hash = 0;
        while ((child = phi_json_next(&it)) != NULL)
            hash += phi__tools_repeat_join(phi__hash(it.key, PHI__REPEAT_GUARD_KEY),
                                           phi__tools_repeat_value(child));
        return phi__tools_repeat_join(PHI__REPEAT_GUARD_OBJECT, hash);
    default: return phi__tools_repeat_join(PHI__REPEAT_GUARD_WORD, phi__json_kind_of(node));
    }
}

PHI__FN uint64_t phi__tools_repeat_hash(phi_arena *arena, phi_str name, phi_str arguments) {
    phi_arena_mark mark = phi_arena_save(arena);
    phi_json *root = NULL;
    uint64_t hash;
    if (phi_json_parse(arena, arguments, PHI_JSON_BORROW, &root, NULL) == PHI_OK)
        hash = phi__tools_repeat_value(root);
    else
        hash = phi__hash(arguments, PHI__REPEAT_GUARD_RAW);
    phi_arena_reset(arena, mark);
    return phi__tools_repeat_join(phi__hash(name, 0), hash);
}

PHI__FN uint32_t phi__tools_repeat_note(phi__repeat_guard *guard, uint64_t hash) {
    uint32_t i, seen = 0, known;
    guard->seen[guard->count % PHI__REPEAT_GUARD_WINDOW] = hash;
    guard->count++;
    /* never wraps */
    if (guard->count == 2 * PHI__REPEAT_GUARD_WINDOW) guard->count = PHI__REPEAT_GUARD_WINDOW;
    known =
        guard->count < PHI__REPEAT_GUARD_WINDOW ? guard->count : (uint32_t)PHI__REPEAT_GUARD_WINDOW;
    for (i = 0; i < known; i++) seen += guard->seen[i] == hash;
    return seen;
}

/* ---- the calls of a turn ---- */

PHI__FN bool phi__tools_lay_calls(phi__run *run) {
    const phi_message *reply = run->reply;
    size_t n = 0, i;
    for (i = 0; i < reply->content_count; i++) n += reply->content[i].kind == PHI_CONTENT_TOOL_CALL;
    run->tools.count = run->tools.next = run->tools.emitted = run->tools.running = 0;
    run->tools.calls = NULL;
    if (n == 0) return true;
    run->tools.calls =
        (phi__toolcall *)phi__arena_zero(&run->arena, phi__mul(n, sizeof *run->tools.calls));
    if (run->tools.calls == NULL) return false;
    for (i = 0; i < reply->content_count; i++) {
        phi__toolcall *call;
        if (reply->content[i].kind != PHI_CONTENT_TOOL_CALL) continue;
        call = &run->tools.calls[run->tools.count++];
        call->rt = run->agent->rt;
        call->run = run;
        call->block = &reply->content[i];
        call->arguments = call->block->arguments;
        call->tool = run->agent->tools->may_defer
                         ? run->agent->rt->features.deferral->find(run->agent, call->block->name)
                         : phi__toolset_find(run->agent->tools, call->block->name);
        phi__hooks_decision_init(&call->decision, run, call);
    }
    return true;
}

PHI__FN void phi__tools_detach(phi__run *run) {
    size_t i;
    for (i = 0; run->tools.calls != NULL && i < run->tools.count; i++)
        phi__call_detach(&run->tools.calls[i]);
}

PHI__FN void phi__tools_drop(phi__run *run) {
    size_t i;
    phi__tools_detach(run);
    for (i = 0; run->tools.calls != NULL && i < run->tools.count; i++)
        phi__call_dispose(&run->tools.calls[i]);
    run->tools.calls = NULL;
}

PHI__FN void phi__tools_round_clear(phi__run *run) {
    run->tools.skipping = run->tools.answered = false;
    run->tools.count = run->tools.next = run->tools.emitted = run->tools.running = 0;
    run->tools.polled = 0;
}

PHI__FN void phi__tools_round_forget(phi__run *run) { run->tools.count = 0; }

PHI__FN void phi__tools_round_free(phi__run *run) {
    phi__free(&run->agent->memory, run->tools.repeat_guard, sizeof *run->tools.repeat_guard);
}

PHI__FN void phi__tools_round_settle(phi__run *run) {
    size_t i;
    for (i = run->tools.emitted; run->tools.calls != NULL && i < run->tools.next; i++)
        if (run->tools.calls[i].cap != NULL) phi__cap_finish(&run->tools.calls[i]);
}

PHI__FN const phi__toolcall *phi__tools_round_open(const phi__run *run, size_t *count) {
    *count = run->tools.calls != NULL ? run->tools.next - run->tools.emitted : 0;
    return run->tools.calls != NULL ? &run->tools.calls[run->tools.emitted] : NULL;
}

/* ---- continuing ---- */

/* Whether a text of the answer is the arguments of PHI_RESPOND_TOOL; cut ones are no answer. */
static bool phi__tools_answered(const phi__run *run) {
    const phi_message *reply = run->reply;
    size_t i;
    if (reply->stop_reason != PHI_STOP_REASON_STOP || !phi__attempt_spec(run)->respond)
        return false;
    for (i = 0; i < reply->content_count; i++)
        if (reply->content[i].kind == PHI_CONTENT_TEXT &&
            phi__str_is(reply->content[i].name, PHI_RESPOND_TOOL))
            return true;
    return false;
}

/* Where a feature wants to hear of the call. False: the agent is gone. */
static bool phi__tools_feature(phi__toolcall *call, phi__point point) {
    return (call->run->taking.points & (uint32_t)point) == 0 ||
           phi__feature_call(call, point) == PHI__RUN_ON;
}

PHI__FN phi__state phi__tools_make_calls(phi__run *run) {
    size_t i;
    run->tools.answered = phi__tools_answered(run);
    if (!phi__tools_lay_calls(run)) return PHI__RUN_LOST;
    for (i = 0; i < run->tools.count; i++)
        if (!phi__tools_feature(&run->tools.calls[i], PHI__POINT_CALL_MADE)) return PHI__RUN_OVER;
    return run->tools.count > 0 ? PHI__RUN_TOOLS : PHI__RUN_TURN_END;
}

/* Whether the next call may begin beside the calls that are not in the log yet. */
static bool phi__tools_may_start(const phi__run *run) {
    const phi__agent *agent = run->agent;
    const phi__toolcall *next = &run->tools.calls[run->tools.next];
    size_t i;
    if (run->tools.emitted == run->tools.next || run->tools.skipping) return true;
    if (agent->desc.tool_options.mode == PHI_TOOLS_SEQUENTIAL) return false;
    if (agent->desc.tool_options.mode == PHI_TOOLS_BATCHED &&
        run->tools.next % agent->desc.tool_options.batch == 0)
        return false;
    if (next->tool != NULL && next->tool->not_concurrent) return false;
    if (!agent->tools->has_lone) return true;
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
    char words[200];
    phi_event event = phi__tools_event(call, PHI_EV_WARNING);
    (void)snprintf(words, sizeof words,
                   "the same call of %.*s with the same arguments was made %u times in this run",
                   (int)phi__utf8_cut(call->block->name, 64), call->block->name.at,
                   (unsigned)call->repeats);
    event.text = phi_str_of(words);
    return phi__events_emit(call->run->agent, &event, NULL, 0);
}

/* Counts it, also where there is no such tool; the one too many is answered in the tool's stead,
   and the run ends with the turn. */
static bool phi__tools_count(phi__toolcall *call) {
    phi__run *run = call->run;
    phi__agent *agent = run->agent;
    uint32_t warn = agent->desc.tool_options.repeat_warn_after,
             stop = agent->desc.tool_options.repeat_stop_after;
    if (call->tool != NULL && call->tool->may_repeat) return true;
    if (warn == PHI_UNLIMITED && stop == PHI_UNLIMITED) return true;
    if (run->tools.repeat_guard == NULL)
        run->tools.repeat_guard =
            (phi__repeat_guard *)phi__alloc(&agent->memory, sizeof *run->tools.repeat_guard);
    if (run->tools.repeat_guard == NULL) return false;
    call->repeats = phi__tools_repeat_note(
        run->tools.repeat_guard,
        phi__tools_repeat_hash(&run->arena, call->block->name, call->block->arguments));
    if (call->repeats >= stop) {
        run->tools.repeated = true;
        phi__call_fail_as(call, PHI_TEXT_RESULT_REPEATED, call->repeats);
        return phi__tools_warn(call);
    }
    return call->repeats < warn || phi__tools_warn(call);
}

/* ---- one call, from its beginning to the tool ---- */

static void phi__tools_deny(phi__toolcall *call, phi_str reason) {
    call->quiet = call->after = true;
    phi__call_fail_str(
        call, reason.len > 0 ? reason : phi_str_of(phi__loop_words(call, PHI_TEXT_RESULT_DENIED)));
}

static bool phi__tools_wants(const phi__toolcall *call, phi_hook_point point) {
    return (call->run->agent->desc.hook_points & (uint32_t)point) != 0;
}

/* The host's word on a call. False: it is waited for, the agent is gone, or memory ended
   (*lost). */
static bool phi__tools_decide(phi__toolcall *call, bool *lost) {
    phi_hook hook;
    phi_str reply;
    phi__hooked hooked;
    PHI_ASSERT(call->tool == NULL || !call->tool->needs_approval ||
               phi__tools_wants(call, PHI_HOOK_BEFORE_TOOL)); /* phi__tool_check_one */
    if (!phi__tools_wants(call, PHI_HOOK_BEFORE_TOOL)) return call->decided = true;
    hook = phi__hooks_make(call->run, PHI_HOOK_BEFORE_TOOL);
    if (call->tool != NULL) hook.source = phi_str_of(call->tool->source);
    hooked = phi__hooks_call(call, &hook);
    if (hooked == PHI__HOOK_GONE || hooked == PHI__HOOK_WAIT) return false;
    *lost = hooked == PHI__HOOK_LOST;
    if (*lost) return false;
    call->decided = true;
    reply = phi__buf_str(&call->decision.reply);
    if (hooked == PHI__HOOK_DENY)
        phi__tools_deny(call, reply);
    else if (reply.len > 0)
        /* in the thread: events with them may outlive the run */
        *lost =
            !phi__arena_str(phi__thread_room(call->run->agent->thread), reply, &call->arguments);
    phi__hooks_decision_drop(&call->decision);
    return !*lost;
}

/* Counts a call, calls its hook, emits its event and starts it, as far as possible; false: no
   memory. */
static bool phi__tools_go(phi__toolcall *call) {
    phi__run *run = call->run;
    phi_event event;
    bool lost = false;
    if (call->emitted || call->quiet) return true;
    if (run->end.cancelled) { /* not allowed, so it never ran: no events */
        if (call->decision.state != PHI__DECISION_NONE) call->quiet = call->after = true;
        phi__hooks_decision_drop(&call->decision);
        phi__call_cancel(call, phi__loop_words(call, PHI_TEXT_RESULT_CANCELLED));
    } else if (call->result != NULL) {
        phi__hooks_decision_drop(&call->decision); /* finished while its hook waited */
    } else if (!call->decided && !phi__tools_decide(call, &lost)) {
        return !lost;
    }
    if (call->quiet) return true;
    event = phi__tools_event(call, PHI_EV_TOOL_START);
    if (!phi__events_emit(run->agent, &event, NULL, 0)) return false;
    call->emitted = true;
    if (phi__call_may_start(call)) phi__call_start(call);
    return true;
}

/* Why no call of this turn is run; NULL: they are. */
static const char *phi__tools_unrun(const phi__run *run) {
    const phi_texts *texts = run->agent->desc.texts;
    if (run->tools.answered) return phi__texts_get(texts, PHI_TEXT_RESULT_ANSWERED);
    if (run->tools.skipping) return phi__texts_get(texts, PHI_TEXT_RESULT_SKIPPED);
    if (run->agent->tree.no_last_tools && run->turn.index + 1 >= run->limits.max_turns)
        return phi__texts_get(texts, PHI_TEXT_RESULT_NO_ROUND);
    return NULL;
}

static bool phi__tools_begin(phi__run *run) {
    phi__toolcall *call = &run->tools.calls[run->tools.next];
    const char *unrun = phi__tools_unrun(run);
    if (!phi__call_open(call)) return false;
    run->tools.next++;
    call->begun = true;
    run->tools.running++;
    if (unrun != NULL) {
        call->skipped = call->decided = call->after = true;
        phi__call_fail(call, unrun);
    } else if (!run->end.cancelled && !phi__tools_count(call))
        return false;
    return phi__tools_go(call);
}

/* ---- and from the result to the log ---- */

/* A call that is over has no result only because memory ran out: once more, then it is the run that
   ends. */
static bool phi__tools_result(phi__toolcall *call) {
    if (call->slot == NULL) phi__call_fail(call, phi__loop_words(call, PHI_TEXT_RESULT_NO_MEMORY));
    return call->slot != NULL || call->result != NULL;
}

static bool phi__tools_emit_end(phi__toolcall *call) {
    phi_event event = phi__tools_event(call, PHI_EV_TOOL_END);
    call->ended = true;
    event.message = call->result;
    event.is_error = call->result->is_error;
    event.child_loop_id = call->child_loop_id;
    return phi__events_emit(call->run->agent, &event, NULL, 0);
}

/* The hook after a call; false: no memory, or the agent is gone. */
static bool phi__tools_after(phi__toolcall *call) {
    phi_hook hook;
    phi__hooked hooked;
    if (!phi__tools_wants(call, PHI_HOOK_AFTER_TOOL)) return call->after = true;
    hook = phi__hooks_make(call->run, PHI_HOOK_AFTER_TOOL);
    hook.message = call->result;
    hook.is_error = call->result->is_error;
    hooked = phi__hooks_call(call, &hook);
    if (hooked == PHI__HOOK_WAIT && !call->run->end.cancelled) return true;
    if (hooked == PHI__HOOK_GONE) return false;
    phi__hooks_decision_drop(&call->decision);
    call->after = true;
    return hooked != PHI__HOOK_LOST;
}

static bool phi__tools_over(phi__toolcall *call) {
    if (call->cap != NULL) phi__cap_more(call);
    if (call->resumes) phi__call_resume(call);
    if (call->run->agent->slot == NULL) return false;
    if (!phi__tools_go(call)) return false;
    if (call->run->agent->slot == NULL) return false;
    if (!phi__tools_result(call)) return false;
    if (call->result != NULL && !phi__tools_feature(call, PHI__POINT_CALL_ENDED)) return false;
    if (call->result == NULL || (!call->emitted && !call->quiet)) return true;
    if (!call->ended && !call->quiet && !phi__tools_emit_end(call)) return false;
    return call->after || phi__tools_after(call);
}

static bool phi__tools_ready(const phi__run *run) {
    const phi__toolcall *front = &run->tools.calls[run->tools.emitted];
    return run->tools.emitted < run->tools.next && front->after && front->result != NULL;
}

/* Logs which run made the result. A loop id begins with its session's id and a dot, but a host's
   own loop id need not. */
static bool phi__tools_log_spawn(phi__toolcall *call, const phi_message *result) {
    phi__entry entry;
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
    memset(&entry, 0, sizeof entry);
    entry.kind = PHI_ENTRY_SPAWN;
    entry.of.spawn = spawn;
    return phi__events_note(call->run, &entry);
}

/* A result as features want it to enter the log. NULL: no memory. */
static const phi_message *phi__tools_entering(phi__toolcall *call, const phi_message *result) {
    phi__run *run = call->run;
    phi__moment moment;
    if ((run->taking.points & (uint32_t)PHI__POINT_RESULT) == 0) return result;
    memset(&moment, 0, sizeof moment);
    moment.point = PHI__POINT_RESULT;
    moment.agent = run->agent;
    moment.run = run;
    moment.call = call;
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
        if (call->effects.len > 0 && phi__feature_call(call, PHI__POINT_EFFECTS) != PHI__RUN_ON)
            return false;
        result = phi__tools_entering(call, result);
        if (result == NULL || !phi__events_log(run, result) || !phi__tools_log_spawn(call, result))
            return false;
        if (phi__slice_spent(&run->agent->rt->slice)) break;
    }
    return true;
}

/* Advances each call as far as possible, in any order. *more: the step was spent before all calls
   were reached. */
static bool phi__tools_flush(phi__run *run, bool *more) {
    size_t i;
    for (i = run->tools.emitted; i < run->tools.next; i++) {
        bool over = run->tools.calls[i].after;
        if (!phi__tools_over(&run->tools.calls[i])) return false;
        if (i == run->tools.emitted && !phi__tools_log(run)) return false;
        *more = !over && run->tools.calls[i].after && phi__slice_spent(&run->agent->rt->slice);
        if (*more) return true;
    }
    *more = phi__tools_ready(run);
    return true;
}

static void phi__tools_cancel(phi__run *run) {
    size_t i;
    for (i = run->tools.emitted; i < run->tools.next; i++) {
        if (!run->tools.calls[i].emitted) continue; /* its turn comes */
        phi__call_cancel(&run->tools.calls[i],
                         phi__loop_words(&run->tools.calls[i], PHI_TEXT_RESULT_CANCELLED));
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
    if (emitted == run->tools.count || agent->desc.tool_options.mode == PHI_TOOLS_SEQUENTIAL)
        return true;
    return agent->desc.tool_options.mode == PHI_TOOLS_BATCHED &&
           emitted % agent->desc.tool_options.batch == 0;
}

static phi__hooked phi__tools_steering(phi__run *run) {
    phi__hooked hooked;
    if (!run->poll.on && !phi__tools_checkpoint(run)) return PHI__HOOK_ALLOW;
    hooked = phi__input_poll(run, PHI_INPUT_STEERING);
    if (hooked != PHI__HOOK_ALLOW) return hooked;
    run->tools.polled = run->tools.emitted;
    run->tools.skipping = run->poll.pending.head != NULL;
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
        *more = phi__slice_spent(&run->agent->rt->slice);
        if (*more || phi__tools_checkpoint(run)) return true;
    }
    return true;
}

PHI__FN phi__state phi__tools_run(phi__run *run, bool *wait) {
    phi__hooked hooked;
    bool more = false, good;
    if (run->end.cancelled) {
        phi__hooks_decision_drop(&run->decision);
        phi__input_poll_end(run);
        phi__tools_cancel(run);
    }
    good = run->agent->slot != NULL && phi__tools_flush(run, &more);
    if (good && !more) {
        hooked = phi__tools_steering(run);
        if (hooked != PHI__HOOK_ALLOW)
            return phi__hooks_next(run, hooked, PHI__RUN_TOOLS, PHI__RUN_TOOLS, PHI__RUN_TOOLS,
                                   wait);
        if (run->tools.emitted == run->tools.count) return PHI__RUN_TURN_END;
        good = phi__tools_fill(run, &more);
    }
    if (run->agent->slot == NULL) return PHI__RUN_OVER;
    if (!good) return PHI__RUN_LOST;
    *wait = !more && !phi__tools_checkpoint(run) && run->tools.emitted < run->tools.count;
    return PHI__RUN_TOOLS;
}
