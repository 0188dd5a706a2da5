/* turns.c - the states of a run but for its model calls and tools: how it opens, what begins and ends each
   turn, and how it closes.

   Order, with behaviours B ruling: before_loop, AGENT_START, filters, steering; then for each turn the
   filters of what was polled, limits, before_turn, TURN_START, the messages; and after it TURN_END,
   after_turn, steering, follow-ups; at last AGENT_END and after_loop. */
#include "loop/loop_in.h"
#include "model/tokens.h"

#include <stdio.h>

enum { PHI__REASON = 160 }; /* bytes of a limit's words */

/* ---- shared by the states ---- */

PHI__FN phi__state phi__run_hooked(phi__run *run, phi__hooked hooked, phi__state here,
                                   phi__state next, phi__state denied, bool *wait) {
    switch (hooked) {
    case PHI__HOOK_ALLOW:
    case PHI__HOOK_WARN: return next;
    case PHI__HOOK_DENY: return denied;
    case PHI__HOOK_WAIT:
        if (run->cancelled) { /* it waits for nobody */
            phi__decision_drop(&run->decision);
            return denied;
        }
        *wait = true;
        return here;
    case PHI__HOOK_GONE: return PHI__RUN_OVER;
    case PHI__HOOK_LOST: break;
    }
    return phi__run_no_memory(run);
}

static void phi__turn_timer(phi__timer *timer) {
    phi__run *run = PHI__OWNER(timer, phi__run, timer);
    if (run->paused) run->pause_over = true;
    phi__run_wake(run);
}

PHI__FN bool phi__run_timer_set(phi__run *run, uint64_t at_us) {
    run->timer.fire = phi__turn_timer;
    return phi__io_timer_set(run->agent->rt->io, &run->timer, at_us) == PHI_OK;
}

/* Whether the host wants no more turns. */
static bool phi__turn_unwanted(const phi__run *run) { return run->cancelled || run->stopping; }

/* Prompts whose events are not out yet: after the first TURN_START, or before a run that ends without
   one. */
static bool phi__turn_tell_prompts(phi__run *run) {
    const phi__thread *thread = run->agent->thread;
    while (run->told_messages < thread->message_count) {
        const phi_message *message = phi__thread_message(thread, run->told_messages)->message;
        if (!phi__run_tell(run, message, PHI_INPUT_PROMPT, phi__str(NULL, 0))) return false;
        run->told_messages++;
    }
    return true;
}

/* The end of a run between two turns. */
static phi__state phi__turn_leave(phi__run *run, phi_status status) {
    phi__decision_drop(&run->decision);
    phi__filter_end(run);
    phi__input_poll_end(run);
    phi__input_return(run);
    phi__budget_release(run);
    phi__pause_end(run);
    run->status = status;
    return phi__turn_tell_prompts(run) ? PHI__RUN_CLOSE : phi__run_no_memory(run);
}

/* ---- opening ---- */

static phi__state phi__turn_before_loop(phi__run *run, bool *wait) {
    phi_hook hook = phi__hook_of(run, PHI_HOOK_BEFORE_LOOP);
    phi__hooked hooked;
    if (!phi__forget_begin(run, wait)) return phi__run_no_memory(run);
    if (run->agent->slot == NULL) return PHI__RUN_OVER;
    if (*wait) return PHI__RUN_BEFORE_LOOP;
    if (phi__turn_unwanted(run) && run->decision.asked == PHI__ASKED_NOT) return PHI__RUN_OPEN;
    hooked = phi__hook_run(run, &hook);
    if (hooked == PHI__HOOK_WAIT && phi__turn_unwanted(run)) {
        run->status = PHI_CANCELLED;
        hooked = PHI__HOOK_DENY;
    } else if (hooked == PHI__HOOK_DENY)
        run->status = PHI_DENIED;
    if (hooked == PHI__HOOK_DENY) {
        run->prompts = NULL;
        run->silent = run->opened = true; /* its end is its only event */
    }
    return phi__run_hooked(run, hooked, PHI__RUN_BEFORE_LOOP, PHI__RUN_OPEN, PHI__RUN_CLOSE, wait);
}

static phi__state phi__turn_open(phi__run *run) {
    phi_event event;
    memset(&event, 0, sizeof event);
    event.kind = PHI_EV_AGENT_START;
    event.loop = run->info;
    if (!run->opened) { /* else it was told before a snapshot was made */
        run->opened = true;
        if (!phi__emit_surely(run->agent, &event)) return phi__run_no_memory(run);
    }
    return run->compact_only ? phi__run_shrink(run) : PHI__RUN_FILTER;
}

/* Ended while a filter makes up its mind: what nobody has passed is not stored. */
static phi__state phi__turn_filter_aborted(phi__run *run) {
    size_t i;
    bool told = true;
    for (i = 0; i < run->prompt_count && told; i++) {
        phi_event event;
        bool failed = false;
        memset(&event, 0, sizeof event);
        event.kind = PHI_EV_INPUT_DROPPED;
        event.input = PHI_INPUT_PROMPT;
        event.text = phi_message_text(run->prompts[i].message, "\n", &run->arena, &failed);
        event.source = PHI__LIT("The run was ended before a filter had decided");
        told = !failed && phi__emit(run->agent, &event, NULL, 0);
    }
    run->prompts = NULL;
    if (!told) return phi__run_no_memory(run);
    return phi__turn_leave(run, PHI_CANCELLED);
}

static phi__state phi__turn_filter(phi__run *run, bool *wait) {
    phi__hooked hooked = phi__filter_prompts(run);
    if (hooked == PHI__HOOK_WAIT && phi__turn_unwanted(run)) return phi__turn_filter_aborted(run);
    if (hooked == PHI__HOOK_DENY) {
        run->prompts = NULL;
        run->silent = true;
        run->status = PHI_REJECTED;
    } else if (hooked == PHI__HOOK_ALLOW && run->prompts != NULL) {
        /* notes of the host may have taken what was reserved */
        if (!phi__thread_reserve(run->agent->thread, run->prompt_count, run->prompt_count))
            return phi__run_no_memory(run);
        phi__thread_attach(run->agent->thread, run->prompts, run->prompt_count);
        run->prompts = NULL;
    }
    return phi__run_hooked(run, hooked, PHI__RUN_FILTER, PHI__RUN_POLL, PHI__RUN_CLOSE, wait);
}

static phi__state phi__turn_poll(phi__run *run, bool *wait) {
    if (phi__turn_unwanted(run)) return phi__turn_leave(run, PHI_CANCELLED);
    return phi__run_hooked(run, phi__input_poll(run, PHI_INPUT_STEERING), PHI__RUN_POLL,
                           PHI__RUN_TOP, PHI__RUN_TOP, wait);
}

/* ---- limits ---- */

/* The words go into the log as the user's, outside any turn. */
static phi__state phi__turn_stop(phi__run *run, const char *reason) {
    char text[200];
    phi_content content;
    phi_message message, *kept;
    (void)snprintf(text, sizeof text, "[Agent stopped: %s]", reason);
    memset(&content, 0, sizeof content);
    memset(&message, 0, sizeof message);
    content.kind = PHI_CONTENT_TEXT;
    content.text = phi_str_of(text);
    message.role = PHI_ROLE_USER;
    message.content = &content;
    message.content_count = 1;
    phi__run_stamp(run, &message);
    kept = phi__thread_keep(run->agent->thread, &message);
    if (kept == NULL || !phi__turn_tell_prompts(run) || !phi__run_log(run, kept))
        return phi__run_no_memory(run);
    run->told_messages = run->agent->thread->message_count;
    return phi__turn_leave(run, PHI_LIMIT);
}

/* The worst that the next call may take: all it is shown, and all it may say. */
static bool phi__turn_reserve(phi__run *run, char *reason, size_t size) {
    const phi__agent *agent = run->agent;
    const phi_cost *rates = &agent->model.cost;
    const phi_policy *policy = phi__run_policy(agent);
    uint64_t in, out = agent->max_tokens != 0 ? agent->max_tokens : agent->model.max_tokens;
    const phi__input *input;
    double rate = rates->cache_write > rates->input ? rates->cache_write : rates->input;
    if (!phi__budget_limited(agent)) return true;
    in = phi__agent_tokens(agent) + phi__run_overhead_tokens(run);
    for (input = run->pending.head; input != NULL; input = input->next)
        in += phi_tokens_of_message(phi__agent_counter(agent), &input->message);
    if (policy != NULL) {
        uint64_t most = phi__policy_filled(policy).max_input_tokens;
        if (in > most) in = most;
    }
    return phi__budget_reserve(
        run, in + out, (double)in / 1e6 * rate + (double)out / 1e6 * rates->output, reason, size);
}

static phi__state phi__turn_at_limit(phi__run *run, const char *reason, bool *wait) {
    phi__agent *agent = run->agent;
    phi_event event;
    uint64_t at = UINT64_MAX;
    if (!run->limits.pause || run->pause_over) return phi__turn_stop(run, reason);
    *wait = true;
    if (run->paused) return PHI__RUN_TOP;
    phi__pause_begin(run);
    if (run->waits_ms != PHI_UNLIMITED)
        at = phi__io_now_us(agent->rt->io) + (uint64_t)run->waits_ms * 1000;
    memset(&event, 0, sizeof event);
    event.kind = PHI_EV_PAUSED;
    event.text = phi_str_of(reason);
    phi__buf_clear(&run->reason);
    phi__buf_text(&run->reason, reason);
    if (!run->reason.failed && phi__run_timer_set(run, at) && phi__emit(agent, &event, NULL, 0))
        return PHI__RUN_TOP;
    *wait = false;
    return phi__run_no_memory(run);
}

/* ---- a turn ---- */

static void phi__turn_take_injected(phi__run *run) {
    phi__inputs *injected = &run->agent->injected;
    if (injected->head == NULL) return;
    if (run->pending.tail != NULL)
        run->pending.tail->next = injected->head;
    else
        run->pending.head = injected->head;
    run->pending.tail = injected->tail;
    run->pending.count += injected->count;
    memset(injected, 0, sizeof *injected);
}

static phi__state phi__turn_top(phi__run *run, bool *wait) {
    char reason[PHI__REASON];
    phi__hooked hooked;
    if (run->starved) return phi__run_no_memory(run);
    if (phi__turn_unwanted(run)) return phi__turn_leave(run, PHI_CANCELLED);
    phi__turn_take_injected(run);
    hooked = phi__filter_pending(run);
    if (hooked == PHI__HOOK_DENY) return phi__turn_leave(run, PHI_REJECTED);
    if (hooked != PHI__HOOK_ALLOW)
        return phi__run_hooked(run, hooked, PHI__RUN_TOP, PHI__RUN_TOP, PHI__RUN_TOP, wait);
    if (phi__limit_reached(run, reason, sizeof reason) ||
        !phi__turn_reserve(run, reason, sizeof reason))
        return phi__turn_at_limit(run, reason, wait);
    if (!run->paused) return PHI__RUN_BEFORE_TURN;
    phi__pause_end(run);
    /* what was said meanwhile is seen by the call that was paid for */
    return run->pending.head == NULL ? PHI__RUN_POLL : PHI__RUN_BEFORE_TURN;
}

static phi__state phi__turn_before(phi__run *run, bool *wait) {
    phi_hook hook = phi__hook_of(run, PHI_HOOK_BEFORE_TURN);
    phi__hooked hooked;
    if (phi__turn_unwanted(run)) return phi__turn_leave(run, PHI_CANCELLED);
    hooked = phi__hook_run(run, &hook);
    if (hooked == PHI__HOOK_DENY) return phi__turn_leave(run, PHI_DENIED);
    return phi__run_hooked(run, hooked, PHI__RUN_BEFORE_TURN, PHI__RUN_TURN, PHI__RUN_TURN, wait);
}

PHI__FN void phi__run_rewind(phi__run *run) {
    phi__arena_rewind(&run->arena);
    phi__secret_init(&run->secrets, &run->arena);
}

/* What belongs to one turn begins anew. */
static void phi__turn_clear(phi__run *run) {
    phi__run_rewind(run);
    memset(&run->turn_usage, 0, sizeof run->turn_usage);
    run->reply = NULL;
    run->steered = run->skipping = run->answered = run->refused = run->fresh = false;
    run->attempt = run->compactions = run->idle_compactions = 0;
    run->call_count = run->next_call = run->told_calls = run->running_calls = 0;
    run->polled_calls = 0;
    run->listed = NULL;
    run->shown = NULL;
    run->shown_for = 0;
}

static phi__state phi__turn_begin(phi__run *run) {
    phi_event event;
    phi__entry entry;
    if (run->turn_open) return phi__run_fit(run); /* out of a snapshot: it had begun */
    if (run->cancelled) return phi__turn_leave(run, PHI_CANCELLED);
    if (!phi__thread_roll(run->agent->thread, &run->loop_id)) return phi__run_no_memory(run);
    entry = phi__run_entry(run, PHI_ENTRY_TURN_START);
    memset(&event, 0, sizeof event);
    event.kind = PHI_EV_TURN_START;
    event.trigger = run->turn_index == 0 ? run->trigger : PHI_TRIGGER_CONTINUATION;
    entry.trigger = event.trigger;
    phi__turn_clear(run);
    if (!phi__emit(run->agent, &event, NULL, 0)) return phi__run_no_memory(run);
    run->turn_open = true; /* it was told, so its end will be */
    if (!phi__run_note(run, &entry) || !phi__turn_tell_prompts(run) || !phi__input_deliver(run))
        return phi__run_no_memory(run);
    return phi__run_fit(run);
}

static phi__state phi__turn_failed(phi__run *run, bool *wait) {
    phi_hook hook = phi__hook_of(run, PHI_HOOK_ON_ERROR);
    hook.failure = run->failure;
    hook.text = run->reply != NULL ? run->reply->error_message : phi__str(NULL, 0);
    if (hook.text.len == 0) hook.text = PHI__LIT("Unknown error");
    return phi__run_hooked(run, phi__hook_run(run, &hook), PHI__RUN_FAILED, PHI__RUN_TURN_END,
                           PHI__RUN_TURN_END, wait);
}

/* A copy: the answer may leave memory before the entry does. */
static bool phi__turn_usage(phi__run *run, phi__entry *entry) {
    phi_usage *usage;
    if (run->reply == NULL) return true;
    usage = (phi_usage *)phi_arena_alloc(phi__thread_room(run->agent->thread), sizeof *usage);
    if (usage == NULL) return false;
    *usage = run->reply->usage;
    entry->usage = usage;
    return true;
}

static phi__state phi__turn_end(phi__run *run) {
    phi_event event;
    phi__entry entry = phi__run_entry(run, PHI_ENTRY_TURN_END);
    bool room;
    phi__run_drop_call(run);
    phi__run_drop_tools(run);
    phi__budget_release(run);
    if (!run->turn_open) return PHI__RUN_NEXT;
    run->turn_open = false;
    memset(&event, 0, sizeof event);
    event.kind = PHI_EV_TURN_END;
    event.message = run->reply;
    event.usage = run->reply != NULL ? &run->reply->usage : NULL;
    room = phi__wishes_do(run) && phi__turn_usage(run, &entry);
    room = phi__emit_surely(run->agent, &event) && room;
    room = phi__run_note(run, &entry) && room;
    (void)phi__stored_run(run);
    if (!room && run->status == PHI_OK) return phi__run_no_memory(run);
    return PHI__RUN_AFTER_TURN;
}

static phi__state phi__turn_after(phi__run *run, bool *wait) {
    phi_hook hook = phi__hook_of(run, PHI_HOOK_AFTER_TURN);
    phi__state next;
    hook.usage = &run->turn_usage;
    next = phi__run_hooked(run, phi__hook_run(run, &hook), PHI__RUN_AFTER_TURN, PHI__RUN_NEXT,
                           PHI__RUN_NEXT, wait);
    if (next != PHI__RUN_NEXT) return next;
    run->turn_index++;
    run->told_messages = run->agent->thread->message_count;
    return next;
}

/* ---- another one? ---- */

static phi__state phi__turn_doomed(phi__run *run) {
    char reason[PHI__REASON];
    (void)snprintf(reason, sizeof reason, "Repeated tool call (%u/%u)",
                   (unsigned)run->agent->doom_stop_after, (unsigned)run->agent->doom_stop_after);
    return phi__turn_stop(run, reason);
}

static phi__state phi__turn_next(phi__run *run, bool *wait) {
    phi__hooked hooked;
    if (run->status != PHI_OK) return PHI__RUN_CLOSE;
    if (run->starved) return phi__run_no_memory(run);
    if (phi__turn_unwanted(run) || run->reply == NULL) return phi__turn_leave(run, PHI_CANCELLED);
    if (run->doomed) return phi__turn_doomed(run);
    if (run->polling || (run->pending.head == NULL && !run->steered)) {
        hooked = phi__input_poll(run, PHI_INPUT_STEERING);
        if (hooked != PHI__HOOK_ALLOW)
            return phi__run_hooked(run, hooked, PHI__RUN_NEXT, PHI__RUN_NEXT, PHI__RUN_NEXT, wait);
    }
    run->steered = true;
    if ((run->call_count > 0 && !run->answered) ||
        run->reply->stop_reason == PHI_STOP_REASON_PAUSED || run->pending.head != NULL ||
        run->agent->injected.head != NULL)
        return PHI__RUN_TOP;
    return PHI__RUN_FOLLOW;
}

/* Nothing more can be injected from here on: other threads see the agent as idle. What they had posted
   before is read once more. */
static bool phi__turn_seal(phi__run *run) {
    phi__agent *agent = run->agent;
    phi__run_show_state(agent, false);
    phi__posts_read_all(agent->rt);
    if (agent->steering.head == NULL && agent->follow_ups.head == NULL &&
        agent->injected.head == NULL && !run->starved && !phi__turn_unwanted(run))
        return true;
    phi__run_show_state(agent, true);
    return false;
}

static phi__state phi__turn_follow(phi__run *run, bool *wait) {
    phi__hooked hooked;
    if (phi__turn_unwanted(run)) return phi__turn_leave(run, PHI_CANCELLED);
    hooked = phi__input_poll(run, PHI_INPUT_FOLLOW_UP);
    if (hooked != PHI__HOOK_ALLOW)
        return phi__run_hooked(run, hooked, PHI__RUN_FOLLOW, PHI__RUN_FOLLOW, PHI__RUN_FOLLOW,
                               wait);
    if (run->pending.head != NULL) return PHI__RUN_TOP;
    if (phi__turn_seal(run)) return PHI__RUN_CLOSE;
    run->steered = false;
    return PHI__RUN_NEXT;
}

/* ---- closing ---- */

static phi_event phi__turn_end_event(const phi__run *run, const phi_usage *usage) {
    const phi__thread *thread = run->agent->thread;
    phi_event event;
    memset(&event, 0, sizeof event);
    event.kind = PHI_EV_AGENT_END;
    event.status = run->status;
    event.failure = run->failure;
    event.usage = usage;
    event.rejection = run->rejection;
    if (run->status == PHI_CANCELLED &&
        !phi__arena_str(phi__thread_room(run->agent->thread), run->abort_reason, &event.source))
        event.source = phi__str("", 0);
    if (thread->message_count > run->first_message) {
        const phi__entry *last = phi__thread_message(thread, thread->message_count - 1);
        event.message = last != NULL ? last->message : NULL;
    }
    event.first_message = run->first_message;
    event.message_count = thread->message_count - run->first_message;
    return event;
}

static phi__state phi__turn_close(phi__run *run) {
    phi__agent *agent = run->agent;
    phi__entry entry = phi__run_entry(run, PHI_ENTRY_LOOP_END);
    phi_usage *usage = (phi_usage *)phi_arena_alloc(phi__thread_room(agent->thread), sizeof *usage);
    phi_event event;
    phi__run_show_state(agent, false);
    phi__decision_drop(&run->decision);
    phi__budget_release(run);
    phi__input_return(run);
    phi__input_drop(agent, &agent->injected, "The run ended before it was seen");
    if (usage != NULL) *usage = run->usage;
    entry.usage = usage;
    entry.status = run->status;
    /* a limit ends a run, and does not fail it */
    if (run->status != PHI_OK && run->status != PHI_LIMIT) entry.keep = agent->keep;
    if (entry.keep == PHI_KEEP_NONE) agent->compacted_tokens = 0;
    entry.of.failure = run->failure;
    (void)phi__run_note(run, &entry); /* without memory for it, the log still tells: no reply */
    phi__response_close(run);
    event = phi__turn_end_event(run, usage); /* what comes now may switch lanes */
    run->message_count = event.message_count;
    phi__put_off_due(agent);
    phi__stored_updated(run);
    (void)phi__emit_surely(agent, &event);
    return run->silent ? PHI__RUN_OVER : PHI__RUN_AFTER_LOOP;
}

static phi__state phi__turn_after_loop(phi__run *run, bool *wait) {
    phi_hook hook = phi__hook_of(run, PHI_HOOK_AFTER_LOOP);
    hook.message_count = run->message_count;
    hook.usage = &run->usage;
    if (phi__hook_run(run, &hook) == PHI__HOOK_WAIT && !phi__turn_unwanted(run)) {
        *wait = true;
        return PHI__RUN_AFTER_LOOP;
    }
    return PHI__RUN_OVER; /* AGENT_END was the last word, whatever the hook came to */
}

/* ---- all states ---- */

PHI__FN phi__state phi__run_state(phi__run *run, bool *wait) {
    switch (run->state) {
    case PHI__RUN_BEFORE_LOOP: return phi__turn_before_loop(run, wait);
    case PHI__RUN_OPEN: return phi__turn_open(run);
    case PHI__RUN_FILTER: return phi__turn_filter(run, wait);
    case PHI__RUN_POLL: return phi__turn_poll(run, wait);
    case PHI__RUN_TOP: return phi__turn_top(run, wait);
    case PHI__RUN_BEFORE_TURN: return phi__turn_before(run, wait);
    case PHI__RUN_TURN: return phi__turn_begin(run);
    case PHI__RUN_TRANSFORM: return phi__run_transform(run, wait);
    case PHI__RUN_CONVERT: return phi__run_convert(run, wait);
    case PHI__RUN_REQUEST: return phi__run_request(run, wait);
    case PHI__RUN_CREDENTIAL: return phi__run_credential(run, wait);
    case PHI__RUN_SIGN: return phi__run_sign(run);
    case PHI__RUN_SEND: return phi__run_send(run, wait);
    case PHI__RUN_STREAM: return phi__run_stream(run, wait);
    case PHI__RUN_BACKOFF: return phi__run_backoff(run, wait);
    case PHI__RUN_COMPACT: return phi__run_compact(run, wait);
    case PHI__RUN_COMPACTED: return phi__run_compacted(run, wait);
    case PHI__RUN_TOOLS: return phi__run_tools(run, wait);
    case PHI__RUN_FAILED: return phi__turn_failed(run, wait);
    case PHI__RUN_TURN_END: return phi__turn_end(run);
    case PHI__RUN_AFTER_TURN: return phi__turn_after(run, wait);
    case PHI__RUN_NEXT: return phi__turn_next(run, wait);
    case PHI__RUN_FOLLOW: return phi__turn_follow(run, wait);
    case PHI__RUN_CLOSE: return phi__turn_close(run);
    case PHI__RUN_AFTER_LOOP: return phi__turn_after_loop(run, wait);
    case PHI__RUN_OVER: break;
    }
    return PHI__RUN_OVER;
}
