/* states.c - all states of a run and their outcomes. The states of opening, closing, and of a
   turn's begin and end are here; those of model calls and tools are in their own files.

   Each state is a function that does a bounded amount and names the next state, or says that it
   waits. Its other outcomes, such as memory that ran out or an attempt that ended, are handled at
   the end of the file: no state calls another.
   Order, with behaviours B ruling: before_loop, AGENT_START, filters, steering; then for each turn
   the filters of polled input, limits, before_turn, the filters of input injected meanwhile,
   TURN_START, the messages; and after it TURN_END, after_turn, steering, follow-ups; at last
   AGENT_END and after_loop. */
#include "loop/states_in.h"

#include "loop/loop_in.h"

#include <stdio.h>

enum { PHI__REASON = 160 }; /* bytes of a limit's words */

/* ---- shared by the states ---- */

static bool phi__states_unwanted(const phi__run *run) {
    return run->end.cancelled || run->end.stopping;
}

/* Whether the agent's hook function wants the point. */
static bool phi__states_wants_hook(const phi__run *run, phi_hook_point point) {
    return (run->agent->desc.hook_points & (uint32_t)point) != 0;
}

/* Emits the prompts' events that are missing: after the first TURN_START, or before a run that ends
   without one. A message that has left memory has none. */
static bool phi__states_emit_prompts(phi__run *run) {
    const phi_thread *thread = run->agent->thread;
    while (run->said.emitted_messages < thread->messages.count) {
        const phi__entry *entry = phi__lane_message(thread, run->said.emitted_messages);
        if (entry != NULL &&
            !phi__events_message(run, entry->message, PHI_INPUT_PROMPT, phi__str(NULL, 0)))
            return false;
        run->said.emitted_messages++;
    }
    return true;
}

/* The end of a run between two turns. */
static phi__state phi__states_leave(phi__run *run, phi_status status) {
    phi__hooks_decision_drop(&run->decision);
    phi__input_filter_end(run);
    phi__input_poll_end(run);
    phi__input_return(run);
    phi__limits_budget_release(run);
    phi__limits_pause_end(run);
    run->status = status;
    return phi__states_emit_prompts(run) ? PHI__RUN_CLOSE : PHI__RUN_LOST;
}

/* ---- opening ---- */

static phi__state phi__states_before_loop(phi__run *run, bool *wait) {
    phi_hook hook;
    phi__hooked hooked;
    if (!phi__forget_begin(run, wait)) return PHI__RUN_LOST;
    if (run->agent->slot == NULL) return PHI__RUN_OVER;
    if (*wait) return PHI__RUN_BEFORE_LOOP;
    if (phi__states_unwanted(run) && run->decision.state == PHI__DECISION_NONE)
        return PHI__RUN_OPEN;
    if (!phi__states_wants_hook(run, PHI_HOOK_BEFORE_LOOP)) return PHI__RUN_OPEN;
    hook = phi__hooks_make(run, PHI_HOOK_BEFORE_LOOP);
    hooked = phi__hooks_run(run, &hook);
    if (hooked == PHI__HOOK_WAIT && phi__states_unwanted(run)) {
        run->status = PHI_CANCELLED;
        hooked = PHI__HOOK_DENY;
    } else if (hooked == PHI__HOOK_DENY)
        run->status = PHI_DENIED;
    if (hooked == PHI__HOOK_DENY) {
        run->said.prompts = NULL;
        phi__run_silence(run);
    }
    return phi__hooks_next(run, hooked, PHI__RUN_BEFORE_LOOP, PHI__RUN_OPEN, PHI__RUN_CLOSE, wait);
}

static phi__state phi__states_open(phi__run *run) {
    phi__state next;
    if (!phi__run_emit_start(run)) return PHI__RUN_LOST;
    if (!run->no_turns) return PHI__RUN_FILTER;
    next = phi__feature_run(run, PHI__POINT_ERRAND);
    return next != PHI__RUN_ON ? next : PHI__RUN_CLOSE;
}

/* Ended while a filter waits: input that was not passed is not stored. */
static phi__state phi__states_filter_aborted(phi__run *run) {
    size_t i;
    bool emitted = true;
    for (i = 0; i < run->said.prompt_count && emitted; i++) {
        phi_event event;
        bool failed = false;
        memset(&event, 0, sizeof event);
        event.kind = PHI_EV_INPUT_DROPPED;
        event.input = PHI_INPUT_PROMPT;
        event.text = phi_message_text(run->said.prompts[i].message, "\n", &run->arena, &failed);
        event.source = PHI__LIT("The run was ended before a filter had decided");
        emitted = !failed && phi__events_emit(run->agent, &event, NULL, 0);
    }
    run->said.prompts = NULL;
    if (!emitted) return PHI__RUN_LOST;
    return phi__states_leave(run, PHI_CANCELLED);
}

static phi__state phi__states_filter(phi__run *run, bool *wait) {
    phi__hooked hooked = phi__input_filter_prompts(run);
    if (hooked == PHI__HOOK_WAIT && phi__states_unwanted(run))
        return phi__states_filter_aborted(run);
    if (hooked == PHI__HOOK_DENY) {
        run->said.prompts = NULL;
        phi__run_silence(run);
        run->status = PHI_REJECTED;
    } else if (hooked == PHI__HOOK_ALLOW && run->said.prompts != NULL) {
        /* notes of the host may have used the reserved room */
        if (!phi__append_reserve(run->agent->thread, run->said.prompt_count,
                                 run->said.prompt_count))
            return PHI__RUN_LOST;
        phi__append_attach(run->agent->thread, run->said.prompts, run->said.prompt_count);
        run->said.prompts = NULL;
    }
    if (hooked == PHI__HOOK_ALLOW) return PHI__RUN_POLL;
    return phi__hooks_next(run, hooked, PHI__RUN_FILTER, PHI__RUN_POLL, PHI__RUN_CLOSE, wait);
}

static phi__state phi__states_poll(phi__run *run, bool *wait) {
    phi__hooked hooked;
    if (phi__states_unwanted(run)) return phi__states_leave(run, PHI_CANCELLED);
    hooked = phi__input_poll(run, PHI_INPUT_STEERING);
    if (hooked == PHI__HOOK_ALLOW) return PHI__RUN_TOP;
    return phi__hooks_next(run, hooked, PHI__RUN_POLL, PHI__RUN_TOP, PHI__RUN_TOP, wait);
}

/* ---- limits ---- */

/* The words go into the log as the user's, outside any turn. */
static phi__state phi__states_stop(phi__run *run, const char *reason) {
    phi_content content;
    phi_message message, *kept;
    phi__texts_args args;
    memset(&args, 0, sizeof args);
    args.name = phi_str_of(reason);
    memset(&content, 0, sizeof content);
    memset(&message, 0, sizeof message);
    content.kind = PHI_CONTENT_TEXT;
    if (!phi__texts_make(&run->arena, run->agent->desc.texts, PHI_TEXT_STOPPED, &args,
                         &content.text))
        return PHI__RUN_LOST;
    message.role = PHI_ROLE_USER;
    message.content = &content;
    message.content_count = 1;
    phi__events_stamp(run, &message);
    kept = phi__append_keep(run->agent->thread, &message);
    if (kept == NULL || !phi__states_emit_prompts(run) || !phi__events_log(run, kept))
        return PHI__RUN_LOST;
    run->said.emitted_messages = run->agent->thread->messages.count;
    return phi__states_leave(run, PHI_LIMIT);
}

static phi__state phi__states_at_limit(phi__run *run, const char *reason, bool *wait) {
    phi__state next = phi__reserve_pause(run, reason, wait);
    if (next == PHI__RUN_ON) return phi__states_stop(run, reason);
    return next == PHI__RUN_LOST ? next : PHI__RUN_TOP;
}

/* ---- a turn ---- */

/* Filters the pending input in the state `here`. RUN_ON: all of it has passed. */
static phi__state phi__states_filter_pending(phi__run *run, phi__state here, bool *wait) {
    phi__hooked hooked;
    if (run->poll.pending.head == NULL) return PHI__RUN_ON;
    hooked = phi__input_filter_pending(run);
    if (hooked == PHI__HOOK_ALLOW) return PHI__RUN_ON;
    if (hooked == PHI__HOOK_DENY) return phi__states_leave(run, PHI_REJECTED);
    return phi__hooks_next(run, hooked, here, here, here, wait);
}

static phi__state phi__states_top(phi__run *run, bool *wait) {
    char reason[PHI__REASON];
    phi__state next;
    if (run->end.starved) return PHI__RUN_LOST;
    if (phi__states_unwanted(run)) return phi__states_leave(run, PHI_CANCELLED);
    if (run->agent->sources != NULL && run->own.toolset == NULL &&
        run->agent->rt->features.sources->refresh(run->agent, false) != PHI_OK)
        return PHI__RUN_LOST;
    if (run->agent->queues.injected.head != NULL) phi__input_take_injected(run);
    next = phi__states_filter_pending(run, PHI__RUN_TOP, wait);
    if (next != PHI__RUN_ON) return next;
    if (phi__limits_reached(run, reason, sizeof reason) ||
        !phi__reserve_call(run, 0, reason, sizeof reason))
        return phi__states_at_limit(run, reason, wait);
    if (!run->pause.on) return PHI__RUN_BEFORE_TURN;
    phi__limits_pause_end(run);
    /* input that came meanwhile is sent with the model call that was paid for */
    return run->poll.pending.head == NULL ? PHI__RUN_POLL : PHI__RUN_BEFORE_TURN;
}

static phi__state phi__states_before_turn(phi__run *run, bool *wait) {
    phi_hook hook;
    phi__hooked hooked;
    if (phi__states_unwanted(run)) return phi__states_leave(run, PHI_CANCELLED);
    if (!phi__states_wants_hook(run, PHI_HOOK_BEFORE_TURN)) return PHI__RUN_TURN;
    hook = phi__hooks_make(run, PHI_HOOK_BEFORE_TURN);
    hooked = phi__hooks_run(run, &hook);
    if (hooked == PHI__HOOK_DENY) return phi__states_leave(run, PHI_DENIED);
    return phi__hooks_next(run, hooked, PHI__RUN_BEFORE_TURN, PHI__RUN_TURN, PHI__RUN_TURN, wait);
}

/* A message that was injected since the limits were checked, as while BEFORE_TURN waited, belongs
   to this turn: it is taken and filtered, and the turn's reservation covers it. RUN_ON: the turn
   may begin. */
static phi__state phi__states_late_input(phi__run *run, bool *wait) {
    char reason[PHI__REASON];
    phi__state next;
    if (run->agent->queues.injected.head != NULL) {
        phi__input_take_injected(run);
        if (!phi__reserve_call(run, 0, reason, sizeof reason))
            return phi__states_at_limit(run, reason, wait);
    }
    next = phi__states_filter_pending(run, PHI__RUN_TURN, wait);
    if (*wait && phi__states_unwanted(run)) {
        *wait = false;
        return phi__states_leave(run, PHI_CANCELLED);
    }
    return next;
}

/* Resets the fields of one turn. */
static void phi__states_turn_clear(phi__run *run) {
    phi__attempt_clear(run);
    phi__limits_charge_clear(run);
    run->reply = NULL;
    run->turn.steered = false;
    phi__tools_round_clear(run);
    phi__model_call_list_clear(run);
    phi__projection_clear(run);
}

/* To the model call, unless a feature has something to do before it. */
static phi__state phi__states_turn_call(phi__run *run) {
    phi__state next = phi__feature_run(run, PHI__POINT_TURN_BEGUN);
    return next != PHI__RUN_ON ? next : PHI__RUN_TRANSFORM;
}

/* A turn that had begun, of a run out of a snapshot, or for another model: out of a snapshot it has
   reserved nothing yet. */
static phi__state phi__states_turn_again(phi__run *run, bool *wait) {
    char reason[PHI__REASON];
    phi__state next = PHI__RUN_TURN_END;
    if (!phi__states_unwanted(run)) {
        if (!phi__limits_reached(run, reason, sizeof reason) &&
            phi__reserve_call(run, 0, reason, sizeof reason)) {
            phi__limits_pause_end(run);
            return phi__states_turn_call(run);
        }
        next = phi__reserve_pause(run, reason, wait);
        if (next == PHI__RUN_ON) return phi__reserve_refuse(run, reason);
    }
    if (!*wait) phi__limits_pause_end(run);
    return next;
}

static phi__state phi__states_turn_begin(phi__run *run, bool *wait) {
    phi_event event;
    phi__entry entry;
    phi__state next;
    if (run->turn.open) return phi__states_turn_again(run, wait);
    if (run->end.cancelled) return phi__states_leave(run, PHI_CANCELLED);
    next = phi__states_late_input(run, wait);
    if (next != PHI__RUN_ON) return next;
    if (!phi__thread_roll(run->agent->thread, &run->loop_id)) return PHI__RUN_LOST;
    memset(&entry, 0, sizeof entry);
    entry.kind = PHI_ENTRY_TURN_START;
    memset(&event, 0, sizeof event);
    event.kind = PHI_EV_TURN_START;
    event.trigger = run->turn.index == 0 ? run->start.trigger : PHI_TRIGGER_CONTINUATION;
    entry.trigger = event.trigger;
    phi__states_turn_clear(run);
    if (!phi__events_emit(run->agent, &event, NULL, 0)) return PHI__RUN_LOST;
    run->turn.open = true; /* its start was emitted, so its end will be */
    if (!phi__events_note(run, &entry) || !phi__states_emit_prompts(run) ||
        (run->poll.pending.head != NULL && !phi__input_deliver(run)))
        return PHI__RUN_LOST;
    return phi__states_turn_call(run);
}

static phi__state phi__states_failed(phi__run *run, bool *wait) {
    phi_hook hook = phi__hooks_make(run, PHI_HOOK_ON_ERROR);
    hook.failure = run->failure;
    hook.text = run->reply != NULL ? run->reply->error_message : phi__str(NULL, 0);
    if (hook.text.len == 0) hook.text = PHI__LIT("Unknown error");
    return phi__hooks_next(run, phi__hooks_run(run, &hook), PHI__RUN_FAILED, PHI__RUN_TURN_END,
                           PHI__RUN_TURN_END, wait);
}

/* A copy: the answer may be evicted before the entry. */
static bool phi__states_turn_usage(phi__run *run, phi__entry *entry) {
    phi_usage *usage;
    if (run->reply == NULL) return true;
    usage = (phi_usage *)phi_arena_alloc(phi__thread_room(run->agent->thread), sizeof *usage);
    if (usage == NULL) return false;
    *usage = run->reply->usage;
    entry->usage = usage;
    return true;
}

static phi__state phi__states_turn_end(phi__run *run) {
    phi_event event;
    phi__entry entry;
    bool room;
    phi__attempt_drop(run);
    if (run->tools.calls != NULL) phi__tools_drop(run);
    phi__limits_budget_release(run);
    if (!run->turn.open) return PHI__RUN_NEXT;
    run->turn.open = false;
    memset(&event, 0, sizeof event);
    memset(&entry, 0, sizeof entry);
    entry.kind = PHI_ENTRY_TURN_END;
    event.kind = PHI_EV_TURN_END;
    event.message = run->reply;
    event.usage = run->reply != NULL ? &run->reply->usage : NULL;
    room = ((run->taking.points & (uint32_t)PHI__POINT_TURN_ENDS) == 0 ||
            phi__feature_run(run, PHI__POINT_TURN_ENDS) == PHI__RUN_ON) &&
           phi__states_turn_usage(run, &entry);
    room = phi__events_emit_surely(run->agent, &event) && room;
    room = phi__events_note(run, &entry) && room;
    if (run->agent->thread->journal != NULL) (void)phi__stored_run(run);
    if (!room && run->status == PHI_OK) return PHI__RUN_LOST;
    return PHI__RUN_AFTER_TURN;
}

static phi__state phi__states_after_turn(phi__run *run, bool *wait) {
    phi__state next = PHI__RUN_NEXT;
    if (phi__states_wants_hook(run, PHI_HOOK_AFTER_TURN)) {
        phi_hook hook = phi__hooks_make(run, PHI_HOOK_AFTER_TURN);
        hook.usage = &phi__limits_charge_of(run)->turn;
        next =
            phi__hooks_next(run, phi__hooks_run(run, &hook), PHI__RUN_AFTER_TURN, next, next, wait);
    }
    if (next != PHI__RUN_NEXT) return next;
    run->turn.index++;
    run->said.emitted_messages = run->agent->thread->messages.count;
    return next;
}

/* ---- pauses ---- */

/* True if an answer is a pause with no block that can be sent back. */
static bool phi__states_paused_empty(const phi_message *m) {
    size_t i;
    if (m->role != PHI_ROLE_ASSISTANT || m->stop_reason != PHI_STOP_REASON_PAUSED) return false;
    for (i = 0; i < m->content_count; i++) {
        const phi_content *c = &m->content[i];
        if (c->kind == PHI_CONTENT_TEXT ? phi__str_trim(c->text).len > 0
                                        : c->kind != PHI_CONTENT_THINKING && !c->incomplete)
            return false;
    }
    return true;
}

/* After a pause the next request has the same history and the answer so far; a second one without
   any block would make the same request again and again. */
static phi__state phi__states_answered(phi__run *run) {
    static const phi_failure failure = {
        PHI_FAILURE_SERVER,
        0,
        false,
        false,
        0,
        {"", 0},
        {"the model paused its turn twice without a word or a block", 57},
        {"", 0}};
    const phi_thread *thread = run->agent->thread;
    size_t count = thread->messages.count;
    const phi__entry *before = NULL;
    if (count > 1 && phi__states_paused_empty(run->reply))
        before = phi__lane_message(thread, count - 2);
    if (before != NULL && before->message != NULL && phi__states_paused_empty(before->message))
        return phi__run_fail(run, &failure, phi__failure_status(&failure));
    return phi__tools_make_calls(run);
}

/* ---- another one? ---- */

static phi__state phi__states_repeated(phi__run *run) {
    char reason[PHI__REASON];
    (void)snprintf(reason, sizeof reason, "Repeated tool call (%u/%u)",
                   (unsigned)run->agent->desc.tool_options.repeat_stop_after,
                   (unsigned)run->agent->desc.tool_options.repeat_stop_after);
    return phi__states_stop(run, reason);
}

static phi__state phi__states_next(phi__run *run, bool *wait) {
    phi__hooked hooked;
    if (run->status != PHI_OK) return PHI__RUN_CLOSE;
    if (run->end.starved) return PHI__RUN_LOST;
    if (phi__states_unwanted(run) || run->reply == NULL)
        return phi__states_leave(run, PHI_CANCELLED);
    if (run->tools.repeated) return phi__states_repeated(run);
    if (run->poll.on || (run->poll.pending.head == NULL && !run->turn.steered)) {
        hooked = phi__input_poll(run, PHI_INPUT_STEERING);
        if (hooked != PHI__HOOK_ALLOW)
            return phi__hooks_next(run, hooked, PHI__RUN_NEXT, PHI__RUN_NEXT, PHI__RUN_NEXT, wait);
    }
    run->turn.steered = true;
    if ((run->tools.count > 0 && !run->tools.answered) ||
        run->reply->stop_reason == PHI_STOP_REASON_PAUSED || run->poll.pending.head != NULL ||
        run->agent->queues.injected.head != NULL)
        return PHI__RUN_TOP;
    return PHI__RUN_FOLLOW;
}

/* Nothing more can be injected from here on: other threads see the agent as idle. Input that they
   posted before is read once more. */
static bool phi__states_seal(phi__run *run) {
    phi__agent *agent = run->agent;
    phi__schedule_publish_state(agent, false);
    phi__posts_read_all(agent->rt);
    if (agent->queues.steering.head == NULL && agent->queues.follow_ups.head == NULL &&
        agent->queues.injected.head == NULL && !run->end.starved && !phi__states_unwanted(run))
        return true;
    phi__schedule_publish_state(agent, true);
    return false;
}

static phi__state phi__states_follow_up(phi__run *run, bool *wait) {
    phi__hooked hooked;
    if (phi__states_unwanted(run)) return phi__states_leave(run, PHI_CANCELLED);
    hooked = phi__input_poll(run, PHI_INPUT_FOLLOW_UP);
    if (hooked != PHI__HOOK_ALLOW)
        return phi__hooks_next(run, hooked, PHI__RUN_FOLLOW, PHI__RUN_FOLLOW, PHI__RUN_FOLLOW,
                               wait);
    if (run->poll.pending.head != NULL) return PHI__RUN_TOP;
    if (phi__states_seal(run)) return PHI__RUN_CLOSE;
    run->turn.steered = false;
    return PHI__RUN_NEXT;
}

/* ---- closing ---- */

static phi_event phi__states_end_event(const phi__run *run, const phi_usage *usage) {
    const phi_thread *thread = run->agent->thread;
    phi_event event;
    memset(&event, 0, sizeof event);
    event.kind = PHI_EV_AGENT_END;
    event.status = run->status;
    event.failure = run->failure;
    event.usage = usage;
    event.rejection = phi__input_filter_rejection(run);
    if (run->status == PHI_CANCELLED &&
        !phi__arena_str(phi__thread_room(run->agent->thread), run->end.reason, &event.source))
        event.source = phi__str("", 0);
    if (thread->messages.count > run->said.first_message) {
        const phi__entry *last = phi__lane_message(thread, thread->messages.count - 1);
        event.message = last != NULL ? last->message : NULL;
    }
    event.first_message = run->said.first_message;
    event.message_count = thread->messages.count - run->said.first_message;
    return event;
}

static phi__state phi__states_close(phi__run *run) {
    phi__agent *agent = run->agent;
    phi__entry entry = phi__events_entry(run, PHI_ENTRY_LOOP_END);
    phi_usage *usage = (phi_usage *)phi_arena_alloc(phi__thread_room(agent->thread), sizeof *usage);
    phi_event event;
    phi__schedule_publish_state(agent, false);
    if (run->decision.point != 0) phi__hooks_decision_drop(&run->decision);
    phi__limits_budget_release(run);
    if (run->poll.pending.head != NULL) phi__input_return(run);
    if (agent->queues.injected.head != NULL) phi__input_drop_injected(agent);
    if (usage != NULL) *usage = phi__limits_charge_of(run)->usage;
    entry.usage = usage;
    entry.status = run->status;
    /* a limit ends a run, and does not fail it */
    if (run->status != PHI_OK && run->status != PHI_LIMIT) entry.keep = agent->desc.keep;
    entry.of.failure = run->failure;
    /* without memory for it, the log still shows it: no reply */
    if (phi__recall_end(agent->thread, &entry) == PHI_OK)
        (void)phi__append(agent->thread, &entry, 1);
    if (run->response != NULL) phi__responses_close(run);
    event = phi__states_end_event(run, usage); /* the next calls may switch lanes */
    run->said.message_count = event.message_count;
    (void)phi__feature_run(run, PHI__POINT_RUN_ENDS);
    if (agent->thread->journal != NULL) phi__stored_updated(run);
    (void)phi__events_emit_surely(agent, &event);
    return run->start.silent ? PHI__RUN_OVER : PHI__RUN_AFTER_LOOP;
}

static phi__state phi__states_after_loop(phi__run *run, bool *wait) {
    phi_hook hook;
    if (!phi__states_wants_hook(run, PHI_HOOK_AFTER_LOOP)) return PHI__RUN_OVER;
    hook = phi__hooks_make(run, PHI_HOOK_AFTER_LOOP);
    hook.message_count = run->said.message_count;
    hook.usage = &phi__limits_charge_of(run)->usage;
    if (phi__hooks_run(run, &hook) == PHI__HOOK_WAIT && !phi__states_unwanted(run)) {
        *wait = true;
        return PHI__RUN_AFTER_LOOP;
    }
    return PHI__RUN_OVER; /* AGENT_END was the last word, whatever the hook came to */
}

/* ---- all states ---- */

static phi__state phi__states_enter(phi__run *run, bool *wait) {
    switch (run->state) {
    case PHI__RUN_BEFORE_LOOP: return phi__states_before_loop(run, wait);
    case PHI__RUN_OPEN: return phi__states_open(run);
    case PHI__RUN_FILTER: return phi__states_filter(run, wait);
    case PHI__RUN_POLL: return phi__states_poll(run, wait);
    case PHI__RUN_TOP: return phi__states_top(run, wait);
    case PHI__RUN_BEFORE_TURN: return phi__states_before_turn(run, wait);
    case PHI__RUN_TURN: return phi__states_turn_begin(run, wait);
    case PHI__RUN_TRANSFORM: return phi__model_call_transform(run, wait);
    case PHI__RUN_CONVERT: return phi__model_call_convert(run, wait);
    case PHI__RUN_REQUEST: return phi__model_call_request(run, wait);
    case PHI__RUN_CREDENTIAL: return phi__model_call_credential(run, wait);
    case PHI__RUN_SIGN: return phi__model_call_sign(run);
    case PHI__RUN_SEND: return phi__attempt_send(run, wait);
    case PHI__RUN_STREAM: return phi__attempt_stream(run, wait);
    case PHI__RUN_BACKOFF: return phi__attempt_backoff(run, wait);
    case PHI__RUN_HELD: return phi__feature_held(run, wait);
    case PHI__RUN_TOOLS: return phi__tools_run(run, wait);
    case PHI__RUN_FAILED: return phi__states_failed(run, wait);
    case PHI__RUN_TURN_END: return phi__states_turn_end(run);
    case PHI__RUN_AFTER_TURN: return phi__states_after_turn(run, wait);
    case PHI__RUN_NEXT: return phi__states_next(run, wait);
    case PHI__RUN_FOLLOW: return phi__states_follow_up(run, wait);
    case PHI__RUN_CLOSE: return phi__states_close(run);
    case PHI__RUN_AFTER_LOOP: return phi__states_after_loop(run, wait);
    case PHI__RUN_ON:
    case PHI__RUN_OVER:
    case PHI__RUN_LOST:
    case PHI__RUN_ENDED:
    case PHI__RUN_GIVE_UP:
    case PHI__RUN_ANSWERED: break;
    }
    return PHI__RUN_OVER;
}

/* An outcome may lead to another. They are those of the same state: nothing comes in between. */
static phi__state phi__states_follow(phi__run *run, phi__state outcome) {
    if (outcome == PHI__RUN_ENDED) outcome = phi__attempt_end(run);
    if (outcome == PHI__RUN_GIVE_UP) outcome = phi__attempt_end_give_up(run);
    if (outcome == PHI__RUN_ANSWERED) outcome = phi__states_answered(run);
    return outcome == PHI__RUN_LOST ? phi__run_no_memory(run) : outcome;
}

/* Its watcher looks at the events so far. False: the agent was freed. */
static bool phi__states_between(phi__agent *agent) {
    const phi__child_watch *watch = agent->tree.watch;
    agent->tree.due = false;
    if (watch != NULL && watch->between != NULL) watch->between(agent);
    return agent->slot != NULL;
}

/* One run, until it waits, is over, or the step is spent. */
static void phi__states_advance(phi__run *run) {
    phi_runtime *rt = run->agent->rt;
    for (;;) {
        bool wait = false;
        phi__agent *agent = run->agent;
        run->state = phi__states_follow(run, phi__states_enter(run, &wait));
        if (agent->slot == NULL) return; /* freed by a tool: gone when the step ends */
        if (agent->tree.due && !phi__states_between(agent)) return;
        if (run->state == PHI__RUN_OVER) {
            phi_status status = run->status;
            const phi_failure *failure = run->failure;
            bool stopping = run->end.stopping;
            phi__forget_ran(agent, status);
            (void)phi__feature_run(run, PHI__POINT_RUN_OVER);
            phi__run_destroy(run);
            if (agent->one_shot.ended_fn != NULL) agent->one_shot.ended_fn(agent);
            if (agent->tree.watch != NULL)
                agent->tree.watch->over(agent, status, failure, stopping);
            return;
        }
        if (wait) return;
        if (run->state == PHI__RUN_AFTER_LOOP) continue; /* who pops AGENT_END may prompt at once */
        if (!phi__slice_spent(&rt->slice)) continue;
        if (rt->tape == NULL) {
            phi__schedule_wake(run);
            return;
        }
        phi__slice_begin(&rt->slice);
    }
}

/* With a tape all input is processed, a slice at a time, and each run continues until it waits:
   otherwise slices of another size would give a host that counts frames, or acts between two steps,
   another state to see, and runs that share a budget another order of turns. */
PHI__FN void phi__states_advance_all(phi_runtime *rt) {
    phi__run *run;
    while ((run = phi__schedule_next_ready(rt)) != NULL) {
        phi__states_advance(run);
        if (phi__slice_spent(&rt->slice) && rt->tape == NULL) return;
    }
}
