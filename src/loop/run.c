/* run.c - the state machine of a run: open, turns, close.

   Each state is a function that does a bounded amount and names the next state, or says that it
   waits. Cancellation is looked at in every state. A run that cannot get memory ends with an error
   event that needs none, and leaves an agent that can be prompted again. */
#include "loop/loop_in.h"

#include <stdio.h>

PHI__FN bool phi__step_spent(const phi_runtime *rt) {
    return rt->step_bytes_left == 0 || phi__io_now_us(rt->io) >= rt->step_until_us;
}

PHI__FN void phi__run_wake(phi__run *run) {
    phi_runtime *rt = run->agent->rt;
    if (run->in_ready || run->over) return;
    run->in_ready = true;
    run->next_ready = NULL;
    if (rt->ready_last != NULL)
        rt->ready_last->next_ready = run;
    else
        rt->ready = run;
    rt->ready_last = run;
}

static void phi__run_unready(phi__run *run) {
    phi_runtime *rt = run->agent->rt;
    phi__run **at = &rt->ready, *last = NULL;
    if (!run->in_ready) return;
    while (*at != run) {
        last = *at;
        at = &(*at)->next_ready;
    }
    *at = run->next_ready;
    if (rt->ready_last == run) rt->ready_last = last;
    run->in_ready = false;
}

/* ---- the log and its events ---- */

PHI__FN void phi__run_stamp(const phi__run *run, phi_message *message) {
    message->timestamp_ms = phi__io_wall_ms(run->agent->rt->io);
    message->loop_id = run->loop_id;
    message->turn_index = run->turn_index;
}

static phi__entry phi__run_entry(const phi__run *run, phi__entry_kind kind) {
    phi__entry entry;
    memset(&entry, 0, sizeof entry);
    entry.kind = kind;
    entry.at_ms = phi__io_wall_ms(run->agent->rt->io);
    entry.loop_id = run->loop_id;
    entry.turn_index = run->turn_index;
    return entry;
}

static bool phi__run_note(phi__run *run, const phi__entry *entry) {
    return phi__thread_append(&run->agent->thread, entry, 1);
}

static bool phi__run_emit(phi__run *run, phi_event_kind kind, const phi_message *message) {
    phi_event event;
    memset(&event, 0, sizeof event);
    event.kind = kind;
    event.message = message;
    return phi__emit(run->agent, &event, NULL, 0);
}

PHI__FN bool phi__run_tell(phi__run *run, const phi_message *message) {
    return phi__run_emit(run, PHI_EV_MESSAGE_START, message) &&
           phi__run_emit(run, PHI_EV_MESSAGE_END, message);
}

PHI__FN bool phi__run_log(phi__run *run, const phi_message *kept) {
    phi__entry entry = phi__run_entry(run, PHI__ENTRY_MESSAGE);
    entry.message = kept;
    return phi__run_note(run, &entry) && phi__run_tell(run, kept);
}

/* Prompts whose events are not out yet: after the first TURN_START, or before a run that ends without
   one. */
static bool phi__run_tell_prompts(phi__run *run) {
    const phi__thread *thread = &run->agent->thread;
    while (run->told_messages < thread->message_count) {
        if (!phi__run_tell(run, thread->messages[run->told_messages]->message)) return false;
        run->told_messages++;
    }
    return true;
}

/* ---- failing ---- */

PHI__FN phi__state phi__run_fail(phi__run *run, const phi_failure *failure, phi_status status) {
    phi_event event;
    run->failure = failure;
    run->status = status;
    memset(&event, 0, sizeof event);
    event.kind = PHI_EV_ERROR;
    event.failure = failure;
    event.status = status;
    event.text = failure->message;
    (void)phi__emit_surely(run->agent, &event);
    return PHI__RUN_TURN_END;
}

PHI__FN phi__state phi__run_no_memory(phi__run *run) {
    phi__run_drop_call(run);
    phi__run_drop_tools(run);
    run->reply = NULL;
    run->call_count = 0;
    return phi__run_fail(run, &run->agent->no_memory, PHI_NO_MEMORY);
}

/* ---- states ---- */

static phi__state phi__run_open(phi__run *run) {
    phi_event event;
    memset(&event, 0, sizeof event);
    event.kind = PHI_EV_AGENT_START;
    return phi__emit_surely(run->agent, &event) ? PHI__RUN_TURN : phi__run_no_memory(run);
}

/* The limit's words go into the log as the user's, outside any turn. */
static phi__state phi__run_stop_at_limit(phi__run *run, const char *reason) {
    char text[160];
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
    kept = phi__thread_keep(&run->agent->thread, &message);
    if (kept == NULL || !phi__run_tell_prompts(run) || !phi__run_log(run, kept))
        return phi__run_no_memory(run);
    run->told_messages = run->agent->thread.message_count;
    run->status = PHI_LIMIT;
    return PHI__RUN_CLOSE;
}

static phi__state phi__run_turn(phi__run *run) {
    char reason[120];
    phi_event event;
    phi__entry entry = phi__run_entry(run, PHI__ENTRY_TURN_START);
    if (run->cancelled) {
        run->status = PHI_CANCELLED;
        return phi__run_tell_prompts(run) ? PHI__RUN_CLOSE : phi__run_no_memory(run);
    }
    if (phi__limit_reached(run, reason, sizeof reason)) return phi__run_stop_at_limit(run, reason);
    memset(&event, 0, sizeof event);
    event.kind = PHI_EV_TURN_START;
    event.trigger = run->turn_index == 0 ? PHI_TRIGGER_USER : PHI_TRIGGER_CONTINUATION;
    entry.trigger = event.trigger;
    phi__arena_rewind(&run->arena);
    memset(&run->turn_usage, 0, sizeof run->turn_usage);
    run->reply = NULL;
    if (!phi__emit(run->agent, &event, NULL, 0)) return phi__run_no_memory(run);
    run->turn_open = true; /* it was told, so its end will be */
    if (!phi__run_note(run, &entry) || !phi__run_tell_prompts(run)) return phi__run_no_memory(run);
    return PHI__RUN_REQUEST;
}

static phi__state phi__run_turn_end(phi__run *run) {
    phi_event event;
    phi__entry entry = phi__run_entry(run, PHI__ENTRY_TURN_END);
    const phi_usage *usage = NULL;
    bool go_on, room;
    phi__run_drop_call(run);
    phi__run_drop_tools(run);
    if (run->turn_open) {
        run->turn_open = false;
        if (run->reply != NULL) usage = &run->reply->usage;
        memset(&event, 0, sizeof event);
        event.kind = PHI_EV_TURN_END;
        event.message = run->reply;
        event.usage = usage;
        entry.usage = usage;
        room = phi__emit_surely(run->agent, &event);
        room = phi__run_note(run, &entry) && room;
        if (!room && run->status == PHI_OK) return phi__run_no_memory(run);
    }
    go_on = run->status == PHI_OK && !run->cancelled && run->reply != NULL &&
            (run->call_count > 0 || run->reply->stop_reason == PHI_STOP_REASON_PAUSED);
    if (run->cancelled && run->status == PHI_OK) run->status = PHI_CANCELLED;
    run->turn_index++;
    run->told_messages = run->agent->thread.message_count;
    return go_on ? PHI__RUN_TURN : PHI__RUN_CLOSE;
}

static phi__state phi__run_close(phi__run *run) {
    phi__agent *agent = run->agent;
    phi__entry entry = phi__run_entry(run, PHI__ENTRY_LOOP_END);
    phi_usage *usage = (phi_usage *)phi_arena_alloc(&agent->thread.arena, sizeof *usage);
    phi_event event;
    if (usage != NULL) *usage = run->usage;
    entry.usage = usage;
    entry.status = run->status;
    entry.failure = run->failure;
    (void)phi__run_note(run, &entry); /* without memory for it, the log still tells: no reply */
    memset(&event, 0, sizeof event);
    event.kind = PHI_EV_AGENT_END;
    event.status = run->status;
    event.failure = run->failure;
    event.usage = usage;
    event.message = agent->thread.message_count > run->first_message
                        ? agent->thread.messages[agent->thread.message_count - 1]->message
                        : NULL;
    event.first_message = run->first_message;
    event.message_count = agent->thread.message_count - run->first_message;
    (void)phi__emit_surely(agent, &event);
    return PHI__RUN_OVER;
}

static phi__state phi__run_state(phi__run *run, bool *wait) {
    switch (run->state) {
    case PHI__RUN_OPEN: return phi__run_open(run);
    case PHI__RUN_TURN: return phi__run_turn(run);
    case PHI__RUN_REQUEST: return phi__run_request(run, wait);
    case PHI__RUN_STREAM: return phi__run_stream(run, wait);
    case PHI__RUN_TOOLS: return phi__run_tools(run, wait);
    case PHI__RUN_TURN_END: return phi__run_turn_end(run);
    case PHI__RUN_CLOSE: return phi__run_close(run);
    case PHI__RUN_OVER: break;
    }
    return PHI__RUN_OVER;
}

/* ---- beginning, going on, ending ---- */

/* A run that ended without memory may have left calls without a result: they get one now. */
static bool phi__run_answer_orphans(phi__run *run) {
    phi__thread *thread = &run->agent->thread;
    size_t end = thread->message_count, at = end, i;
    const phi_message *asked;
    while (at > 0 && thread->messages[at - 1]->message->role == PHI_ROLE_TOOL_RESULT) at--;
    if (at == 0) return true;
    asked = thread->messages[at - 1]->message;
    if (asked->role != PHI_ROLE_ASSISTANT || asked->stop_reason == PHI_STOP_REASON_ERROR ||
        asked->stop_reason == PHI_STOP_REASON_ABORTED)
        return true;
    for (i = 0; i < asked->content_count; i++) {
        phi__toolcall call;
        if (asked->content[i].kind != PHI_CONTENT_TOOL_CALL) continue;
        if (at++ < end) continue; /* results stand in call order */
        memset(&call, 0, sizeof call);
        call.rt = run->agent->rt;
        call.run = run;
        call.block = &asked->content[i];
        phi__call_fail(&call, "Out of memory");
        if (call.result == NULL) return false;
        {
            phi__entry entry = phi__run_entry(run, PHI__ENTRY_MESSAGE);
            entry.message = call.result;
            if (!phi__run_note(run, &entry)) return false;
        }
    }
    return true;
}

static bool phi__run_name(phi__run *run) {
    phi__agent *agent = run->agent;
    phi__buf name;
    bool done;
    phi__buf_init(&name, &agent->memory);
    phi__buf_add_str(&name, agent->session_id);
    phi__buf_char(&name, '.');
    phi__buf_add_str(&name, agent->segment);
    phi__buf_char(&name, '.');
    phi__buf_u64(&name, (uint64_t)agent->loops + 1);
    done = !name.failed && phi__arena_str(&agent->thread.arena, phi__buf_str(&name), &run->loop_id);
    phi__buf_free(&name);
    return done;
}

static bool phi__run_begin(phi__run *run, const phi_message *prompt) {
    phi__thread *thread = &run->agent->thread;
    phi_arena_mark mark = phi_arena_save(&thread->arena);
    size_t count = thread->count;
    phi__entry entries[2];
    phi_message message = *prompt, *kept;
    bool done = phi__run_name(run) && phi__run_answer_orphans(run);
    phi__run_stamp(run, &message);
    kept = done ? phi__thread_keep(thread, &message) : NULL;
    run->first_message = run->told_messages = thread->message_count;
    entries[0] = phi__run_entry(run, PHI__ENTRY_LOOP_START);
    entries[1] = phi__run_entry(run, PHI__ENTRY_MESSAGE);
    entries[1].message = kept;
    if (kept != NULL && phi__thread_append(thread, entries, 2)) return true;
    /* So that a prompt which is tried again and again takes no memory; orphans' results stay. */
    if (thread->count == count) phi_arena_reset(&thread->arena, mark);
    return false;
}

PHI__FN phi_status phi__run_new(phi__agent *agent, const phi_message *prompt) {
    phi__run *run = (phi__run *)phi__alloc(&agent->memory, sizeof *run);
    if (run == NULL) return PHI_NO_MEMORY;
    run->agent = agent;
    run->state = PHI__RUN_OPEN;
    run->posts_from = PHI__LOAD(&agent->rt->inbox.tail);
    phi_arena_init(&run->arena, &agent->memory, 1024);
    if (!phi__run_begin(run, prompt)) {
        phi__run_unready(run); /* an orphan's result has woken it */
        phi_arena_free(&run->arena);
        phi__free(&agent->memory, run, sizeof *run);
        return PHI_NO_MEMORY;
    }
    run->started_us = phi__io_now_us(agent->rt->io);
    agent->run = run;
    agent->loops++;
    agent->rt->active++;
    phi__run_wake(run);
    return PHI_OK;
}

PHI__FN void phi__run_cancel(phi__run *run) {
    run->cancelled = true;
    phi__run_wake(run);
}

PHI__FN void phi__run_detach(phi__run *run) {
    phi__run_unready(run);
    run->over = true;
    phi__run_detach_tools(run);
    phi__xfer_close(run->transfer);
    run->transfer = NULL;
}

PHI__FN void phi__run_destroy(phi__run *run) {
    phi__agent *agent = run->agent;
    phi__run_unready(run);
    run->over = true;
    phi__run_drop_call(run);
    phi__run_drop_tools(run);
    phi_arena_free(&run->arena);
    agent->run = NULL;
    agent->rt->active--;
    phi__free(&agent->memory, run, sizeof *run);
}

/* One run, until it waits, is over, or the step is spent. */
static void phi__run_advance(phi__run *run) {
    phi_runtime *rt = run->agent->rt;
    for (;;) {
        bool wait = false;
        phi__agent *agent = run->agent;
        run->state = phi__run_state(run, &wait);
        if (agent->slot == NULL) return; /* freed by a tool: gone when the step ends */
        if (run->state == PHI__RUN_OVER) {
            phi__run_destroy(run);
            return;
        }
        if (wait) return;
        if (phi__step_spent(rt)) {
            phi__run_wake(run);
            return;
        }
    }
}

PHI__FN void phi__runs_advance(phi_runtime *rt) {
    while (rt->ready != NULL) {
        phi__run *run = rt->ready;
        rt->ready = run->next_ready;
        if (rt->ready == NULL) rt->ready_last = NULL;
        run->in_ready = false;
        phi__run_advance(run);
        if (phi__step_spent(rt)) return;
    }
}
