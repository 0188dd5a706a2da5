/* tools.c - the tool calls of a turn: created in the order of the answer, started as the mode says,
   reported when they end, and logged in call order. Also the repeat guard.

   TOOL_END is emitted when a call ends. The call's result is logged as soon as the results of all
   calls before it are logged. So the events follow time, but the log does not depend on time. A
   call passes these stages: it begins, the BEFORE_TOOL hook, TOOL_START, the tool, the result,
   TOOL_END, the AFTER_TOOL hook, and the log. Both hooks may wait, for each call separately. */
#include "loop/inner_in.h"

#include <stdio.h>
#include <errno.h>
#include <stdarg.h>

/* ---- checking a call's arguments against its tool's schema ---- */

/* Removes nulls that mean absent properties of a strict tool. Returns PHI_OK or
   PHI_NO_MEMORY. */
static phi_status phi__args_without_nulls(phi__toolcall *call) {
    phi_arena *arena = &call->run->arena;
    phi_memory *memory = arena->memory;
    phi_json *schema = NULL, *arguments = NULL;
    phi_arena scratch;
    phi__buf text;
    phi_arena_init(&scratch, memory, 0);
    phi__buf_init(&text, memory);
    phi_status status =
        phi_json_parse(&scratch, call->arguments, PHI_JSON_BORROW, &arguments, NULL);
    if (status == PHI_OK)
        status = phi_json_parse(&scratch, phi_str_of(call->tool->schema), PHI_JSON_BORROW, &schema,
                                NULL);
    if (status == PHI_OK && call->rt->features.formats->nulls(schema, arguments) > 0) {
        status = phi__json_write(&text, arguments, 0);
        if (text.failed ||
            (status == PHI_OK && !phi__arena_str(arena, phi__buf_str(&text), &call->arguments)))
            status = PHI_NO_MEMORY;
    }
    phi__buf_free(&text);
    phi_arena_free(&scratch);
    return status == PHI_NO_MEMORY ? status : PHI_OK; /* phi__args_fit reports invalid JSON */
}

/* True if the arguments fit the schema. False: `words` holds a message for the model. */
static bool phi__args_fit(phi__toolcall *call, char *words, size_t size) {
    phi_arena *arena = &call->run->arena;
    phi_arena_mark mark = phi_arena_save(arena);
    phi_json *arguments = NULL, *schema = NULL;
    phi_parse_error parse;
    phi_schema_error error;
    phi_status status = phi_json_parse(arena, call->arguments, PHI_JSON_BORROW, &arguments, &parse);
    bool fit = false;
    if (status == PHI_OK && !call->tool->checks_arguments)
        status =
            phi_json_parse(arena, phi_str_of(call->tool->schema), PHI_JSON_BORROW, &schema, &parse);
    if (status == PHI_NO_MEMORY)
        (void)snprintf(words, size, "Out of memory");
    else if (status != PHI_OK)
        (void)snprintf(words, size, "Invalid arguments: not JSON, at column %u: %s",
                       (unsigned)parse.column, parse.message);
    else if (!phi_json_is(arguments, PHI_JSON_OBJECT))
        (void)snprintf(words, size, "Invalid arguments: expected object, got %s",
                       phi__json_get_type_name(arguments));
    else if (schema != NULL &&
             phi__schema_check(arena->memory, schema, arguments, "arguments", &error) != PHI_OK)
        (void)snprintf(words, size, "Invalid arguments: %s", error.message);
    else
        fit = true;
    phi_arena_reset(arena, mark);
    return fit;
}

/* ---- one tool call: started, polled, finished from anywhere, or cancelled ----

   A call has exactly one result. The first result wins, by one compare-and-swap of the slot's word
   from PENDING to CLAIMED. Another thread reserves room in the inbox before it claims the call, so
   the result of a claimed call is sure to come. Neither a deadline nor an abort takes the result
   back, or cancels a tool that has finished. The call's memory is kept until its run continues, so
   that a tool may use its state after giving the result. */

PHI__FN bool phi__call_pending(phi_call handle) {
    return handle.rt != NULL && phi__slots_state(&handle.rt->calls, handle.index, handle.gen) ==
                                    (uint32_t)PHI__CALL_PENDING;
}

static void phi__call_poll_remove(phi__toolcall *call) {
    phi_runtime *rt = call->rt;
    if (!call->polled) return;
    call->polled = false;
    rt->polls.count--;
    if (rt->polls.next == call) rt->polls.next = rt->polls.count > 0 ? call->poll_next : NULL;
    call->poll_prev->poll_next = call->poll_next;
    call->poll_next->poll_prev = call->poll_prev;
}

static bool phi__call_claim(const phi__toolcall *call) {
    return phi__slots_move(&call->rt->calls, call->index, call->gen, PHI__CALL_PENDING,
                           PHI__CALL_CLAIMED);
}

/* Stops all calls of the tool's functions for this call. */
static void phi__call_quieten(phi__toolcall *call) {
    phi__io_timer_clear(call->rt->io, &call->timer);
    phi__io_timer_clear(call->rt->io, &call->beat);
    phi__call_poll_remove(call);
}

/* Invalidates the call's handle. */
static void phi__call_close(phi__toolcall *call) {
    if (call->run->agent->questions != NULL) phi__question_call_over(call);
    phi__call_quieten(call);
    if (call->slot != NULL) phi__slots_release(&call->rt->calls, call->slot);
    call->slot = NULL;
}

/* Ends the call with its result, or with NULL if there was no memory. */
static void phi__call_settle(phi__toolcall *call, phi_message *result) {
    call->result = result;
    if (call->begun && call->slot != NULL) call->run->tools.running--;
    phi__call_close(call);
    phi__schedule_wake(call->run);
}

/* Formats one of the agent's texts about a call. Without memory, returns a text about the lack of
   memory. */
static phi_str phi__call_about(const phi__toolcall *call, phi_text which, uint64_t n) {
    bool repeats = which == PHI_TEXT_RESULT_REPEATED || which == PHI_TEXT_REPEAT_WARNING;
    phi_str out;
    phi__texts_args args = PHI_ZERO;
    args.n = n;
    args.name = call->block->name;
    args.name.len = phi__utf8_cut(args.name, repeats ? 64 : 200);
    return phi__texts_make(&call->run->arena, call->run->agent->desc.texts, which, &args, &out)
               ? out
               : phi_str_of(phi__loop_words(call, PHI_TEXT_RESULT_NO_MEMORY));
}

/* Returns the result as a message in the thread. A repeated call gets one more block, a warning for
   the model. NULL: no memory. */
static phi_message *phi__call_keep(phi__toolcall *call, const phi_tool_result *result) {
    phi_thread *thread = call->run->agent->thread;
    phi_arena *arena = phi__thread_room(thread);
    size_t n = result->content_count;
    phi_message message = PHI_ZERO;
    message.role = PHI_ROLE_TOOL_RESULT;
    message.content = result->content;
    message.content_count = n;
    if (call->repeats > 0 && call->started &&
        call->repeats >= call->run->agent->desc.tool_options.repeat_warn_after) {
        phi_content *content = (phi_content *)phi_arena_alloc(
            &call->run->arena, phi__mul(phi__add(n, 1), sizeof *content));
        if (content == NULL) return NULL;
        if (n > 0) memcpy(content, result->content, n * sizeof *content);
        content[n] = phi__input_text(phi__call_about(call, PHI_TEXT_REPEAT_WARNING, call->repeats));
        message.content = content;
        message.content_count = n + 1;
    }
    if (!phi__arena_str(arena, phi_str_of(result->child_loop_id), &call->child_loop_id) ||
        (result->effects != NULL &&
         !phi__arena_str(arena, phi_str_of(result->effects), &call->effects)))
        return NULL;
    message.tool_call_id = call->block->id;
    message.tool_name = call->block->name;
    message.is_error = result->is_error;
    message.details = phi_str_of(result->details);
    phi__events_stamp(call->run, &message);
    return phi__attempt_hide(call->run, phi__append_keep(thread, &message));
}

PHI__FN phi_tool_result phi__call_text(phi_content *content, phi_str text, bool is_error) {
    phi_tool_result result = PHI_ZERO;
    *content = phi__input_text(text);
    result.content = content;
    result.content_count = 1;
    result.is_error = is_error;
    return result;
}

/* Returns a copy of the result. If `text` is set, the copy's content is this text, stored in
   *one. */
static phi_tool_result phi__call_whole(const phi_tool_result *result, phi_content *one) {
    phi_tool_result whole = *result;
    if (result->text == NULL) return whole;
    *one = phi__input_text(phi_str_of(result->text));
    whole.content = one;
    whole.content_count = 1;
    return whole;
}

static void phi__call_fail_str(phi__toolcall *call, phi_str text) {
    phi_content content;
    phi_tool_result result = phi__call_text(&content, text, true);
    if (call->result != NULL) return;
    phi_message *kept = phi__call_keep(call, &result);
    /* removes control characters: the text may quote the model's tool name or arguments */
    if (kept != NULL) {
        phi_str *words = &((phi_content *)(uintptr_t)kept->content)->text;
        words->len = phi__words_clean((char *)(uintptr_t)words->at, words->len);
    }
    phi__call_settle(call, kept);
}

PHI__FN void phi__call_fail(phi__toolcall *call, const char *text) {
    phi__call_fail_str(call, phi_str_of(text));
}

static void phi__call_fail_as(phi__toolcall *call, phi_text which, uint64_t n) {
    phi__call_fail_str(call, phi__call_about(call, which, n));
}

/* True if the tool holds the call: the tool was started in this process, or has resumed the call
   after a restore. Otherwise the tool has nothing to release. */
static bool phi__call_held(const phi__toolcall *call) {
    return call->started && !call->resumes && !call->again && call->tool != NULL;
}

/* Returns the tape that the call's results go through. NULL: none. */
static phi_tape *phi__call_tape(const phi__toolcall *call) {
    return call->tool != NULL && call->tool->deterministic ? NULL : call->rt->tape;
}

/* Claims an open call in order to end it. False: its result is on its way (when a tape is played:
   it was on its way at the recording). */
static bool phi__call_claim_end(const phi__toolcall *call) {
    phi_tape *tape = phi__call_tape(call);
    bool won = phi__call_claim(call);
    if (tape == NULL) return won;
    if (!tape->ops->on_way(tape, call, !won)) return true;
    if (won)
        (void)phi__slots_move(&call->rt->calls, call->index, call->gen, PHI__CALL_CLAIMED,
                              PHI__CALL_PENDING);
    return false;
}

static void phi__call_cancel_tool(phi__toolcall *call) {
    if (phi__call_held(call) && call->tool->cancel != NULL)
        call->tool->cancel(call->tool->user_data, phi__call_handle(call));
}

static void phi__call_cancel(phi__toolcall *call, const char *text) {
    if (call->result != NULL) return;
    if (call->slot != NULL) {
        if (!phi__call_claim_end(call)) return;
        phi__call_cancel_tool(call);
    }
    phi__call_fail(call, text);
}

/* Detaches a call that will have no result. The call's memory stays until dispose, because one of
   the tool's functions may be running. */
static void phi__call_detach(phi__toolcall *call) {
    /* Claim first: the tool's cancel may call this function again by freeing the agent. */
    if (call->slot != NULL && phi__call_claim(call)) phi__call_cancel_tool(call);
    if (call->cap != NULL) phi__cap_drop(call);
    /* the call's hook was called */
    if (call->decision.point != 0) phi__decision_drop(&call->decision);
    phi__call_close(call);
}

PHI__FN void phi__call_on_gone(phi_call handle, void (*gone)(void *state)) {
    phi__toolcall *call = phi__call_find(handle);
    if (call != NULL) call->gone = gone;
}

static void phi__call_free_state(phi__toolcall *call) {
    if (call->state != NULL && call->gone != NULL) call->gone(call->state);
    phi__free(&call->run->agent->memory, call->state, call->state_bytes);
    call->state = NULL;
    call->state_bytes = 0;
    call->gone = NULL;
}

static void phi__call_dispose(phi__toolcall *call) {
    phi__call_detach(call);
    phi__call_free_state(call);
}

/* ---- starting ---- */

static bool phi__call_set_beat(phi__toolcall *call) {
    phi_runtime *rt = call->rt;
    return call->tool->heartbeat_ms == 0 ||
           phi__io_timer_set(rt->io, &call->beat,
                             phi__io_now_us(rt->io) + (uint64_t)call->tool->heartbeat_ms * 1000) ==
               PHI_OK;
}

static phi_event phi__call_event(const phi__toolcall *call, phi_event_kind kind) {
    phi_event event = PHI_ZERO;
    event.kind = kind;
    event.call = phi__call_handle(call);
    event.tool_call_id = call->block->id;
    event.tool_name = call->block->name;
    return event;
}

/* Emits a heartbeat. If there is no memory for the event, the call continues without it. */
static void phi__call_beat(phi__timer *timer) {
    phi__toolcall *call = PHI__OWNER(timer, phi__toolcall, beat);
    phi_event event = phi__call_event(call, PHI_EV_TOOL_HEARTBEAT);
    event.elapsed_ms = (phi__io_now_us(call->rt->io) - call->armed_us) / 1000;
    if (!phi__events_backlog(call->run->agent)) (void)phi__events_emit(call->run->agent, &event);
    (void)phi__call_set_beat(call);
}

/* Fails the call with a message. A message that fills its buffer may be cut inside a character. */
static void phi__call_fail_cut(phi__toolcall *call, char *words, size_t size) {
    size_t len = strlen(words);
    if (len + 1 == size) words[phi__utf8_cut(phi_str_of(words), len - 1)] = '\0';
    phi__call_fail(call, words);
}

/* defined below, because it may start the call again */
static void phi__call_timer(phi__timer *timer);

static bool phi__call_arm(phi__toolcall *call) {
    phi_runtime *rt = call->rt;
    if (call->beat.fire == NULL) { /* the first try */
        call->armed_us = phi__io_now_us(rt->io);
        call->beat.fire = phi__call_beat;
        if (!phi__call_set_beat(call)) return false;
    }
    if (call->tool->timeout_ms == PHI_UNLIMITED) return true;
    call->timer.fire = phi__call_timer;
    return phi__io_deadline_set(rt->io, &call->timer, (uint64_t)call->tool->timeout_ms * 1000) ==
           PHI_OK;
}

PHI__FN void phi__call_unclaim(phi__toolcall *call) {
    if (call->slot != NULL)
        (void)phi__slots_move(&call->rt->calls, call->index, call->gen, PHI__CALL_CLAIMED,
                              PHI__CALL_PENDING);
    phi__schedule_wake(call->run); /* an abort may have skipped the call meanwhile */
}

/* A phi__cap_give_fn. */
static phi_status phi__call_give_whole(phi__toolcall *call, const phi_tool_result *result) {
    phi_tape *tape = phi__call_tape(call);
    if (result != NULL)
        return tape != NULL ? tape->ops->result(tape, call, result) : phi__call_take(call, result);
    phi__call_settle(call, NULL);
    return PHI_NO_MEMORY;
}

/* True if the result is within the size limits of the agent and the tool. */
static bool phi__call_fits(const phi__toolcall *call, const phi_tool_result *result) {
    uint32_t most_image = call->run->agent->desc.tool_options.max_result_image_bytes;
    size_t texts = 0;
    for (size_t i = 0; i < result->content_count; i++) {
        const phi_content *c = &result->content[i];
        if (c->kind == PHI_CONTENT_TEXT) texts += c->text.len;
        if (phi__cap_too_large(c, most_image)) return false;
    }
    return texts <= phi__cap_most(call);
}

/* Gives a claimed call the result of its tool. */
static phi_status phi__call_give(phi__toolcall *call, const phi_tool_result *result) {
    if (phi__call_fits(call, result)) return phi__call_give_whole(call, result);
    phi__call_quieten(call);
    return phi__cap_begin(call, result, phi__call_give_whole);
}

static void phi__call_give_text(phi__toolcall *call, phi_str text, bool is_error) {
    phi_content content;
    phi_tool_result result = phi__call_text(&content, text, is_error);
    (void)phi__call_give(call, &result);
}

/* Handles the result of start or step. PHI_DONE without a result gives the call an error. */
static void phi__call_flow(phi__toolcall *call, uint32_t gen, phi_flow flow) {
    if (call->slot == NULL || call->gen != gen || call->again || call->cap != NULL) return;
    if (flow == PHI_DONE || call->held != NULL) {
        phi__call_poll_remove(call); /* stops polling, even if the result is still in the inbox */
        if (phi__call_claim(call))
            phi__call_give_text(call, PHI__LIT("The tool returned PHI_DONE without a result"),
                                true);
    } else if (!call->polled && call->tool->step != NULL) {
        /* Insert the call at the end of the ring, which is before the first call. */
        phi_runtime *rt = call->rt;
        if (rt->polls.next == NULL) {
            call->poll_next = call->poll_prev = call;
            rt->polls.next = call;
        } else {
            call->poll_next = rt->polls.next;
            call->poll_prev = rt->polls.next->poll_prev;
            call->poll_prev->poll_next = call;
            rt->polls.next->poll_prev = call;
        }
        call->polled = true;
        rt->polls.count++;
    }
}

PHI__FN bool phi__call_open(phi__toolcall *call) {
    call->slot = phi__slots_take(&call->rt->calls, PHI__CALL_PENDING, call);
    if (call->slot == NULL) return false;
    call->index = call->slot->index;
    call->gen = phi__slots_gen_of(PHI__LOAD(&call->slot->word));
    return true;
}

/* True if no result is on its way (when a tape is played: if none was on its way at the
   recording). */
static bool phi__call_may_start(const phi__toolcall *call) {
    phi_tape *tape = phi__call_tape(call);
    if (call->slot == NULL) return false;
    bool open = phi__call_pending(phi__call_handle(call));
    return tape != NULL ? !tape->ops->on_way(tape, call, !open) : open;
}

/* Calls the tool's start or resume, unless the tape has the result. */
static void phi__call_begin(phi__toolcall *call,
                            phi_flow (*begin)(void *user_data, phi_call call, phi_str arguments)) {
    phi_tape *tape = phi__call_tape(call);
    bool plays = tape != NULL && tape->plays;
    if (plays && tape->player->start(tape, call)) return;
    call->starting = true;
    phi_flow flow = begin(call->tool->user_data, phi__call_handle(call), call->arguments);
    phi__call_flow(call, call->gen, flow);
    call->starting = false;
    if (plays) tape->player->started(tape, call);
}

static void phi__call_emit_warning(phi__toolcall *call, const char *words) {
    phi_event event = phi__call_event(call, PHI_EV_WARNING);
    event.text = phi_str_of(words);
    (void)phi__events_emit(call->run->agent, &event);
}

/* Timer: lets the run start the call again. */
static void phi__call_again(phi__timer *timer) {
    phi__toolcall *call = PHI__OWNER(timer, phi__toolcall, timer);
    call->resumes = true;
    phi__schedule_wake(call->run);
}

/* Schedules another try of a claimed call instead of giving it the error. False: no try is left. */
static bool phi__call_put_again(phi__toolcall *call, phi_str why) {
    phi_runtime *rt = call->rt;
    const phi_tool *tool = call->tool;
    if (tool == NULL || !call->started || call->tries >= tool->retries ||
        call->run->end.cancelled || call->run->agent->slot == NULL)
        return false;
    call->timer.fire = phi__call_again;
    if (phi__io_timer_set(rt->io, &call->timer,
                          phi__io_now_us(rt->io) + (uint64_t)tool->retry_delay_ms * 1000) != PHI_OK)
        return false;
    call->tries++;
    call->again = true;
    phi__call_poll_remove(call);
    char words[400];
    (void)snprintf(words, sizeof words, "Tool %.*s failed, attempt %u/%u, again in %u ms: %.*s",
                   (int)phi__utf8_cut(call->block->name, 64), call->block->name.at,
                   (unsigned)call->tries, (unsigned)tool->retries + 1,
                   (unsigned)tool->retry_delay_ms, (int)phi__utf8_cut(why, 200),
                   why.len > 0 ? why.at : "");
    phi__call_emit_warning(call, words);
    phi__call_unclaim(call);
    return true;
}

static void phi__call_timer(phi__timer *timer) {
    phi__toolcall *call = PHI__OWNER(timer, phi__toolcall, timer);
    phi_str text = phi__call_about(call, PHI_TEXT_RESULT_TIMEOUT, call->tool->timeout_ms);
    if (call->tries >= call->tool->retries) {
        phi__call_cancel(call, text.at);
    } else if (phi__call_claim_end(call)) {
        phi__call_cancel_tool(call);
        if (!phi__call_put_again(call, text)) phi__call_fail_str(call, text);
    }
}

PHI__FN phi_status phi__call_take(phi__toolcall *call, const phi_tool_result *result) {
    if (result->is_error) {
        phi_str why = phi__str("", 0);
        for (size_t i = result->content_count; i-- > 0;)
            if (result->content[i].kind == PHI_CONTENT_TEXT) why = result->content[i].text;
        if (phi__call_put_again(call, why)) return PHI_OK;
    }
    phi_message *kept = phi__call_keep(call, result);
    phi__call_settle(call, kept);
    return kept != NULL ? PHI_OK : PHI_NO_MEMORY;
}

static void phi__call_start(phi__toolcall *call) {
    char words[400];
    call->started = true;
    if (call->tool == NULL) {
        bool known = phi__toolset_find(call->run->agent->tools, call->block->name) != NULL;
        phi__call_fail_as(call, known ? PHI_TEXT_RESULT_NOT_LOADED : PHI_TEXT_RESULT_NO_TOOL, 0);
    } else if (call->block->incomplete) {
        phi__call_fail(call, phi__loop_words(call, PHI_TEXT_RESULT_BROKEN_OFF));
    } else if (call->tool->strict && phi__args_without_nulls(call) != PHI_OK) {
        phi__call_fail(call, phi__loop_words(call, PHI_TEXT_RESULT_NO_MEMORY));
    } else if (!phi__args_fit(call, words, sizeof words)) {
        phi__call_fail_cut(call, words, sizeof words);
    } else if (!phi__call_arm(call)) {
        phi__call_fail(call, phi__loop_words(call, PHI_TEXT_RESULT_NO_MEMORY));
    } else {
        if ((call->run->taking.points & (uint32_t)PHI__POINT_CALL_STARTS) != 0)
            (void)phi__feature_call(call, PHI__POINT_CALL_STARTS);
        phi__call_begin(call, call->tool->start);
    }
}

/* Continues a call that began before a snapshot, or that is tried again. The arguments may come
   from anywhere, and the tool may differ from the tool that started the call. */
static void phi__call_resume(phi__toolcall *call) {
    const phi_tool *tool = call->tool;
    char words[400];
    call->resumes = false;
    if (call->result != NULL || call->slot == NULL) return;
    if (tool == NULL || (!call->again && tool->resume == NULL && tool->step != NULL)) {
        (void)snprintf(words, sizeof words, "A call of %.*s was interrupted by the restore: %s",
                       (int)phi__utf8_cut(call->block->name, 64), call->block->name.at,
                       tool == NULL ? "there is no such tool" : "the tool has no resume");
        phi__call_emit_warning(call, words);
        phi__call_fail(call, phi__loop_words(call, PHI_TEXT_RESULT_INTERRUPTED));
        return;
    }
    if (!call->again && tool->resume == NULL) {
        if (!phi__call_arm(call))
            phi__call_fail(call, phi__loop_words(call, PHI_TEXT_RESULT_NO_MEMORY));
        return;
    }
    if (!phi__args_fit(call, words, sizeof words)) {
        phi__call_fail_cut(call, words, sizeof words);
        return;
    }
    bool again = call->again;
    if (again) {
        if (!phi__call_may_start(call)) return;
        call->again = false;
        phi__call_free_state(call);
    }
    if (!phi__call_arm(call))
        phi__call_fail(call, phi__loop_words(call, PHI_TEXT_RESULT_NO_MEMORY));
    else
        phi__call_begin(call, again ? tool->start : tool->resume);
}

/* Continues after the call that the last step stopped at, so that every call is polled even under a
   small budget. With a tape each step polls all calls. Calls may join or leave the ring during the
   loop; a round ends at the first call that was already polled in this step. */
PHI__FN void phi__call_poll_all(phi_runtime *rt) {
    rt->polls.busy = false;
    while (rt->polls.next != NULL && rt->polls.next->poll_round != rt->step.round) {
        phi__toolcall *call = rt->polls.next;
        rt->polls.next = call->poll_next;
        call->poll_round = rt->step.round;
        /* With a tape, a step counts as not empty if this tool added to the log. */
        const phi__agent *agent = call->run->agent; /* valid until the step's end */
        size_t count = agent->thread->log.count;
        uint32_t gen = call->gen;
        phi_flow flow = call->tool->step(call->tool->user_data, phi__call_handle(call));
        phi__call_flow(call, gen, flow);
        if (rt->tape != NULL && !rt->tape->plays && agent->slot != NULL &&
            agent->thread->log.count != count)
            rt->tape->recorder->fires(rt->tape);
        if (rt->tape == NULL && phi__slice_spent(&rt->slice)) return;
    }
}

/* ---- posts from the inbox ---- */

PHI__FN void phi__call_posted(phi_runtime *rt, const phi__post *post) {
    phi_call handle;
    handle.rt = rt;
    handle.index = post->index;
    handle.gen = post->gen;
    phi__toolcall *call = phi__call_find(handle);
    /* the call was cancelled or freed after the post, or a tape will start it later */
    if (call == NULL || phi__call_pending(handle)) return;
    phi_str text = post->text;
    if ((post->flag & (uint32_t)PHI__CALL_TERMINATED) != 0) text.len--;
    phi__call_give_text(call, text, (post->flag & (uint32_t)PHI__CALL_IS_ERROR) != 0);
}

/* Checks a result. PHI_BAD_ARG sets a message that begins with the function's name. */
static phi_status phi__call_check(phi_call handle, const char *function,
                                  const phi_tool_result *result) {
    phi_runtime *rt = handle.rt;
    phi_status status = PHI_OK;
    char words[160];
    if (rt == NULL || result == NULL) return PHI_BAD_ARG;
    if (result->content == NULL && result->content_count > 0)
        return phi__error(rt, PHI_BAD_ARG, "%s: content is missing, content_count is %u", function,
                          (unsigned)result->content_count);
    if (result->text != NULL && result->content_count > 0)
        return phi__error(rt, PHI_BAD_ARG, "%s: text and content: give one of them", function);
    if (result->content_count > 0)
        status = phi__enqueue_check(rt, function, result->content, result->content_count);
    if (status != PHI_OK || result->effects == NULL) return status;
    if ((rt->features.wanted & (uint32_t)PHI__POINT_EFFECTS) == 0)
        return phi__feature_missing(rt, "effects", "phi_feature_tool_state");
    status = phi__effect_check(&rt->memory, phi_str_of(result->effects), words, sizeof words);
    return status == PHI_BAD_ARG ? phi__error(rt, status, "%s: effects: %s", function, words)
                                 : status;
}

PHI_API phi_status phi_call_result(phi_call handle, const phi_tool_result *result) {
    phi__toolcall *call = phi__call_find(handle);
    phi_status status = phi__call_check(handle, "phi_call_result", result);
    phi_content one;
    if (status != PHI_OK) return status;
    if (call == NULL || !phi__call_claim(call)) return PHI_STALE;
    phi_tool_result given = phi__call_whole(result, &one);
    return phi__call_give(call, &given);
}

/* ---- the arguments of a call by name, for its tool, a hook or a dialog ---- */

/* Returns an argument of a pending call, or NULL. Arguments are parsed once, in the turn's
   arena. */
static const phi_json *phi__call_args_at(phi_call handle, const char *path) {
    phi__toolcall *call = phi__call_find(handle);
    if (call == NULL || path == NULL) return NULL;
    if (call->read_of != call->arguments.at) { /* a hook may have replaced the arguments */
        phi_arena *arena = &call->run->arena;
        phi_arena_mark mark = phi_arena_save(arena);
        call->read = NULL;
        call->read_of = NULL;
        if (phi_json_parse(arena, call->arguments, PHI_JSON_REPLACE_BAD_UTF8, &call->read, NULL) !=
            PHI_OK) {
            phi_arena_reset(arena, mark);
            return NULL;
        }
        call->read_of = call->arguments.at;
    }
    return phi_json_path(call->read, path);
}

PHI_API const char *phi_call_arg_str(phi_call call, const char *path, const char *fallback) {
    const phi_json *node = phi__call_args_at(call, path);
    return phi_json_type_of(node) == PHI_JSON_STRING ? phi_json_str(node, NULL).at : fallback;
}

PHI_API bool phi_call_arg_copy(phi_call call, const char *path, char *buffer, size_t size) {
    const phi_json *node = phi__call_args_at(call, path);
    phi_str text = phi_json_str(node, NULL);
    if (buffer == NULL || size == 0) return false;
    size_t len = text.len < size ? text.len : phi__utf8_cut(text, size - 1);
    if (len > 0) memcpy(buffer, text.at, len);
    buffer[len] = '\0';
    return phi_json_type_of(node) == PHI_JSON_STRING && len == text.len;
}

PHI_API int64_t phi_call_arg_int(phi_call call, const char *path, int64_t fallback) {
    return phi_json_int(phi__call_args_at(call, path), fallback);
}

PHI_API double phi_call_arg_num(phi_call call, const char *path, double fallback) {
    return phi_json_num(phi__call_args_at(call, path), fallback);
}

PHI_API bool phi_call_arg_bool(phi_call call, const char *path, bool fallback) {
    return phi_json_bool(phi__call_args_at(call, path), fallback);
}

/* ---- the repeat guard ---- */

/* Hash seeds, so that values of different kinds differ: 1 is not "1". */
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

static uint64_t phi__repeat_join(uint64_t a, uint64_t b) {
    return phi__hash_mix(a * UINT64_C(0x9e3779b97f4a7c15) + b);
}

/* Hashes a number by its value, like phi__json_get_equal: 1, 1.0 and 1e0 are the same. */
static uint64_t phi__repeat_number(const phi_json *node) {
    phi__json_number n;
    int64_t i;
    uint64_t u;
    n.kind = phi__json_kind_of(node);
    n.v = node->v;
    if (phi__json_get_number_i64(&n, &i))
        return phi__repeat_join(PHI__REPEAT_GUARD_INTEGER, (uint64_t)i);
    if (phi__json_get_number_u64(&n, &u)) return phi__repeat_join(PHI__REPEAT_GUARD_LARGE, u);
    memcpy(&u, &n.v.d, sizeof u);
    return phi__repeat_join(PHI__REPEAT_GUARD_FRACTION, u);
}

/* Hashes a value of limited depth. Members' hashes are added, so their order does not matter. */
static uint64_t phi__repeat_value(const phi_json *node) {
    phi_json_iter it = phi_json_each(node);
    const phi_json *child;
    uint64_t hash;
    switch (phi_json_type_of(node)) {
    case PHI_JSON_NUMBER: return phi__repeat_number(node);
    case PHI_JSON_STRING: return phi__hash(phi_json_str(node, NULL), PHI__REPEAT_GUARD_STRING);
    case PHI_JSON_ARRAY:
        hash = PHI__REPEAT_GUARD_ARRAY;
        while ((child = phi_json_next(&it)) != NULL)
            hash = phi__repeat_join(hash, phi__repeat_value(child));
        return phi__hash_mix(hash);
    case PHI_JSON_OBJECT:
        hash = 0;
        while ((child = phi_json_next(&it)) != NULL)
            hash += phi__repeat_join(phi__hash(it.key, PHI__REPEAT_GUARD_KEY),
                                     phi__repeat_value(child));
        return phi__repeat_join(PHI__REPEAT_GUARD_OBJECT, hash);
    default: return phi__repeat_join(PHI__REPEAT_GUARD_WORD, phi__json_kind_of(node));
    }
}

PHI__FN uint64_t phi__repeat_hash(phi_arena *arena, phi_str name, phi_str arguments) {
    phi_arena_mark mark = phi_arena_save(arena);
    phi_json *root = NULL;
    bool read = phi_json_parse(arena, arguments, PHI_JSON_BORROW, &root, NULL) == PHI_OK;
    uint64_t hash = read ? phi__repeat_value(root) : phi__hash(arguments, PHI__REPEAT_GUARD_RAW);
    phi_arena_reset(arena, mark);
    return phi__repeat_join(phi__hash(name, 0), hash);
}

PHI__FN uint32_t phi__repeat_note(phi__repeat_guard *guard, uint64_t hash) {
    uint32_t seen = 0;
    guard->seen[guard->count % PHI__REPEAT_GUARD_WINDOW] = hash;
    guard->count++;
    /* keeps the counter from wrapping */
    if (guard->count == 2 * PHI__REPEAT_GUARD_WINDOW) guard->count = PHI__REPEAT_GUARD_WINDOW;
    uint32_t known =
        guard->count < PHI__REPEAT_GUARD_WINDOW ? guard->count : (uint32_t)PHI__REPEAT_GUARD_WINDOW;
    for (uint32_t i = 0; i < known; i++) seen += guard->seen[i] == hash;
    return seen;
}

/* ---- the calls of a turn ---- */

PHI__FN bool phi__tools_lay_calls(phi__run *run) {
    const phi_message *reply = run->reply;
    size_t n = 0;
    for (size_t i = 0; i < reply->content_count; i++)
        n += reply->content[i].kind == PHI_CONTENT_TOOL_CALL;
    run->tools.count = run->tools.next = run->tools.emitted = run->tools.running = 0;
    run->tools.calls = NULL;
    if (n == 0) return true;
    run->tools.calls =
        (phi__toolcall *)phi__arena_zero(&run->arena, phi__mul(n, sizeof *run->tools.calls));
    if (run->tools.calls == NULL) return false;
    for (size_t i = 0; i < reply->content_count; i++) {
        if (reply->content[i].kind != PHI_CONTENT_TOOL_CALL) continue;
        phi__toolcall *call = &run->tools.calls[run->tools.count++];
        call->rt = run->agent->rt;
        call->run = run;
        call->block = &reply->content[i];
        call->arguments = call->block->arguments;
        call->tool = run->agent->tools->may_defer
                         ? run->agent->rt->features.deferral->find(run->agent, call->block->name)
                         : phi__toolset_find(run->agent->tools, call->block->name);
        phi__decision_init(&call->decision, run->agent, run, call);
    }
    return true;
}

PHI__FN void phi__tools_detach(phi__run *run) {
    for (size_t i = 0; run->tools.calls != NULL && i < run->tools.count; i++)
        phi__call_detach(&run->tools.calls[i]);
}

PHI__FN void phi__tools_drop(phi__run *run) {
    phi__tools_detach(run);
    for (size_t i = 0; run->tools.calls != NULL && i < run->tools.count; i++)
        phi__call_dispose(&run->tools.calls[i]);
    run->tools.calls = NULL;
}

PHI__FN void phi__round_clear(phi__run *run) {
    run->tools.skipping = run->tools.answered = false;
    run->tools.count = run->tools.next = run->tools.emitted = run->tools.running = 0;
    run->tools.polled = 0;
}

PHI__FN void phi__round_settle(phi__run *run) {
    for (size_t i = run->tools.emitted; run->tools.calls != NULL && i < run->tools.next; i++)
        if (run->tools.calls[i].cap != NULL) phi__cap_finish(&run->tools.calls[i]);
}

/* Calls the features for the call. False: a feature has freed the agent. */
static bool phi__tools_feature(phi__toolcall *call, phi__point point) {
    return (call->run->taking.points & (uint32_t)point) == 0 ||
           phi__feature_call(call, point) == PHI__RUN_ON;
}

PHI__FN phi__state phi__tools_make_calls(phi__run *run) {
    const phi_message *reply = run->reply;
    /* A text named PHI_RESPOND_TOOL was made from this tool's arguments. A text that was cut off is
       not an answer. */
    run->tools.answered = false;
    if (reply->stop_reason == PHI_STOP_REASON_STOP && run->attempt.spec.respond)
        for (size_t i = 0; i < reply->content_count; i++)
            if (reply->content[i].kind == PHI_CONTENT_TEXT &&
                phi__str_is(reply->content[i].name, PHI_RESPOND_TOOL))
                run->tools.answered = true;
    if (!phi__tools_lay_calls(run)) return PHI__RUN_LOST;
    for (size_t i = 0; i < run->tools.count; i++)
        if (!phi__tools_feature(&run->tools.calls[i], PHI__POINT_CALL_MADE)) return PHI__RUN_OVER;
    return run->tools.count > 0 ? PHI__RUN_TOOLS : PHI__RUN_TURN_END;
}

/* True if the next call may begin although earlier calls are not logged yet. */
static bool phi__tools_may_start(const phi__run *run) {
    const phi__agent *agent = run->agent;
    const phi__toolcall *next = &run->tools.calls[run->tools.next];
    if (run->tools.emitted == run->tools.next || run->tools.skipping) return true;
    if (agent->desc.tool_options.mode == PHI_TOOLS_SEQUENTIAL) return false;
    if (agent->desc.tool_options.mode == PHI_TOOLS_BATCHED &&
        run->tools.next % agent->desc.tool_options.batch == 0)
        return false;
    if (next->tool != NULL && next->tool->not_concurrent) return false;
    if (!agent->tools->has_lone) return true;
    for (size_t i = run->tools.emitted; i < run->tools.next; i++) {
        const phi__toolcall *call = &run->tools.calls[i];
        if (call->result == NULL && call->tool != NULL && call->tool->not_concurrent) return false;
    }
    return true;
}

static phi_event phi__tools_event(const phi__toolcall *call, phi_event_kind kind) {
    phi_event event = phi__call_event(call, kind);
    if (!call->skipped) event.arguments = call->arguments;
    return event;
}

static bool phi__tools_warn(phi__toolcall *call) {
    char words[200];
    phi_event event = phi__tools_event(call, PHI_EV_WARNING);
    (void)snprintf(words, sizeof words,
                   "the same call of %.*s with the same arguments was made %u times in this run",
                   (int)phi__utf8_cut(call->block->name, 64), call->block->name.at,
                   (unsigned)call->repeats);
    event.text = phi_str_of(words);
    return phi__events_emit(call->run->agent, &event);
}

/* Counts a call, even one of an unknown tool, for the repeat guard. When a call is repeated too
   often, the guard answers it in the tool's place, and the run ends with the turn. False: no
   memory. */
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
    call->repeats =
        phi__repeat_note(run->tools.repeat_guard,
                         phi__repeat_hash(&run->arena, call->block->name, call->block->arguments));
    if (call->repeats >= stop) {
        run->tools.repeated = true;
        phi__call_fail_as(call, PHI_TEXT_RESULT_REPEATED, call->repeats);
        return phi__tools_warn(call);
    }
    return call->repeats < warn || phi__tools_warn(call);
}

/* ---- one call, from its beginning to the tool ---- */

/* Gets the host's decision on a call. False: the decision is pending, the agent was freed, or there
   is no memory (*lost). */
static bool phi__tools_decide(phi__toolcall *call, bool *lost) {
    PHI_ASSERT(
        call->tool == NULL || !call->tool->needs_approval ||
        phi__hooks_wanted(call->run->agent, PHI_HOOK_BEFORE_TOOL)); /* see phi__tool_check_one */
    if (!phi__hooks_wanted(call->run->agent, PHI_HOOK_BEFORE_TOOL)) return call->decided = true;
    phi_hook hook = phi__hooks_make(call->run, PHI_HOOK_BEFORE_TOOL);
    if (call->tool != NULL) hook.source = phi_str_of(call->tool->source);
    phi__hooked hooked = phi__hooks_call(call, &hook);
    if (hooked == PHI__HOOK_GONE || hooked == PHI__HOOK_WAIT) return false;
    *lost = hooked == PHI__HOOK_LOST;
    if (*lost) return false;
    call->decided = true;
    phi_str reply = phi__buf_str(&call->decision.reply);
    if (hooked == PHI__HOOK_DENY) {
        call->quiet = call->after = true;
        phi__call_fail_str(call, reply.len > 0
                                     ? reply
                                     : phi_str_of(phi__loop_words(call, PHI_TEXT_RESULT_DENIED)));
    } else if (reply.len > 0)
        /* in the thread's memory, because events that show the arguments may outlive the run */
        *lost =
            !phi__arena_str(phi__thread_room(call->run->agent->thread), reply, &call->arguments);
    phi__decision_drop(&call->decision);
    return !*lost;
}

/* Calls the BEFORE_TOOL hook, emits TOOL_START and starts the tool, if possible. False: no
   memory. */
static bool phi__tools_go(phi__toolcall *call) {
    phi__run *run = call->run;
    bool lost = false;
    if (call->emitted || call->quiet) return true;
    if (run->end.cancelled) { /* a call that was not allowed never ran and has no events */
        if (call->decision.state != PHI__DECISION_NONE) call->quiet = call->after = true;
        phi__decision_drop(&call->decision);
        phi__call_cancel(call, phi__loop_words(call, PHI_TEXT_RESULT_CANCELLED));
    } else if (call->result != NULL) {
        phi__decision_drop(&call->decision); /* the call was finished while its hook waited */
    } else if (!call->decided && !phi__tools_decide(call, &lost)) {
        return !lost;
    }
    if (call->quiet) return true;
    phi_event event = phi__tools_event(call, PHI_EV_TOOL_START);
    if (!phi__events_emit(run->agent, &event)) return false;
    call->emitted = true;
    if (phi__call_may_start(call)) phi__call_start(call);
    return true;
}

/* Returns the text that answers all calls of this turn without running them. NULL: the calls are
   run. */
static const char *phi__tools_unrun(const phi__run *run) {
    const phi_texts *texts = run->agent->desc.texts;
    if (run->tools.answered) return phi__texts_get(texts, PHI_TEXT_RESULT_ANSWERED);
    if (run->tools.skipping) return phi__texts_get(texts, PHI_TEXT_RESULT_SKIPPED);
    if (run->agent->tree.no_last_tools && run->turn.index + 1 >= run->limits.max_turns)
        return phi__texts_get(texts, PHI_TEXT_RESULT_NO_ROUND);
    return NULL;
}

/* Calls the AFTER_TOOL hook. False: no memory, or the agent was freed. */
static bool phi__tools_after(phi__toolcall *call) {
    if (!phi__hooks_wanted(call->run->agent, PHI_HOOK_AFTER_TOOL)) return call->after = true;
    phi_hook hook = phi__hooks_make(call->run, PHI_HOOK_AFTER_TOOL);
    hook.message = call->result;
    hook.is_error = call->result->is_error;
    phi__hooked hooked = phi__hooks_call(call, &hook);
    if (hooked == PHI__HOOK_WAIT && !call->run->end.cancelled) return true;
    if (hooked == PHI__HOOK_GONE) return false;
    phi__decision_drop(&call->decision);
    call->after = true;
    return hooked != PHI__HOOK_LOST;
}

static bool phi__tools_over(phi__toolcall *call) {
    if (call->cap != NULL) phi__cap_more(call);
    if (call->resumes) phi__call_resume(call);
    if (call->run->agent->slot == NULL) return false;
    if (!phi__tools_go(call) || call->run->agent->slot == NULL) return false;
    /* A closed call lacks a result only if memory ran out. Try once more. If that fails, the run
       ends. */
    if (call->slot == NULL) phi__call_fail(call, phi__loop_words(call, PHI_TEXT_RESULT_NO_MEMORY));
    if (call->result == NULL) return call->slot != NULL;
    if (!phi__tools_feature(call, PHI__POINT_CALL_ENDED)) return false;
    if (!call->emitted && !call->quiet) return true;
    if (!call->ended && !call->quiet) {
        phi_event event = phi__tools_event(call, PHI_EV_TOOL_END);
        call->ended = true;
        event.message = call->result;
        event.is_error = call->result->is_error;
        event.child_loop_id = call->child_loop_id;
        if (!phi__events_emit(call->run->agent, &event)) return false;
    }
    return call->after || phi__tools_after(call);
}

static bool phi__tools_ready(const phi__run *run) {
    const phi__toolcall *front = &run->tools.calls[run->tools.emitted];
    return run->tools.emitted < run->tools.next && front->after && front->result != NULL;
}

/* Logs the child run that made the result. A loop id of phi begins with a session id and a dot, but
   a host's own loop id may have no dot. */
static bool phi__tools_log_spawn(phi__toolcall *call, const phi_message *result) {
    phi__child_run *spawn;
    if (call->child_loop_id.len == 0) return true;
    spawn = (phi__child_run *)phi__arena_zero(phi__thread_room(call->run->agent->thread),
                                              sizeof *spawn);
    if (spawn == NULL) return false;
    spawn->tool_call_id = result->tool_call_id;
    spawn->loop_id = call->child_loop_id;
    const char *dot = (const char *)memchr(spawn->loop_id.at, '.', spawn->loop_id.len);
    spawn->session_id =
        phi__str(spawn->loop_id.at, dot != NULL ? (size_t)(dot - spawn->loop_id.at) : 0);
    phi__entry entry = phi__events_entry(call->run, PHI_ENTRY_SPAWN);
    entry.of.spawn = spawn;
    return phi__append(call->run->agent->thread, &entry, 1);
}

/* Logs finished results in call order, as far as the slice allows. Features may replace them. */
static bool phi__tools_log(phi__run *run) {
    while (phi__tools_ready(run)) {
        phi__toolcall *call = &run->tools.calls[run->tools.emitted];
        const phi_message *result = call->result;
        run->tools.emitted++;
        phi__call_dispose(call);
        if (call->effects.len > 0 && phi__feature_call(call, PHI__POINT_EFFECTS) != PHI__RUN_ON)
            return false;
        if ((run->taking.points & (uint32_t)PHI__POINT_RESULT) != 0) {
            phi__moment moment = phi__feature_moment(run->agent, run, PHI__POINT_RESULT);
            moment.call = call;
            moment.message = result;
            if (phi__feature_take(&moment) != PHI__RUN_ON) return false;
            result = moment.message;
        }
        if (result == NULL || !phi__events_log(run, result) || !phi__tools_log_spawn(call, result))
            return false;
        if (phi__slice_spent(&run->agent->rt->slice)) break;
    }
    return true;
}

/* Advances each call as far as possible. *more is true if the slice was spent before the last
   call. */
static bool phi__tools_flush(phi__run *run, bool *more) {
    for (size_t i = run->tools.emitted; i < run->tools.next; i++) {
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
    for (size_t i = run->tools.emitted; i < run->tools.next; i++) {
        if (!run->tools.calls[i].emitted) continue; /* phi__tools_go will cancel this call */
        phi__call_cancel(&run->tools.calls[i],
                         phi__loop_words(&run->tools.calls[i], PHI_TEXT_RESULT_CANCELLED));
        if (run->agent->slot == NULL) return;
    }
}

/* ---- steering between calls ---- */

/* True if steering must be polled now: after each call (sequential), after each batch (batched), or
   after all calls (parallel). */
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

/* Begins calls as the mode allows, until the slice is spent. *more is true if more calls can
   begin. */
static bool phi__tools_fill(phi__run *run, bool *more) {
    *more = false;
    while (run->tools.next < run->tools.count && phi__tools_may_start(run)) {
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
        if (!phi__tools_go(call)) return false;
        if (run->agent->slot == NULL || !phi__tools_over(&run->tools.calls[run->tools.next - 1]) ||
            !phi__tools_log(run))
            return false;
        *more = phi__slice_spent(&run->agent->rt->slice);
        if (*more || phi__tools_checkpoint(run)) return true;
    }
    return true;
}

PHI__FN phi__state phi__tools_run(phi__run *run, bool *wait) {
    bool more = false;
    if (run->end.cancelled) {
        phi__decision_drop(&run->decision);
        phi__input_poll_end(run);
        phi__tools_cancel(run);
    }
    bool good = run->agent->slot != NULL && phi__tools_flush(run, &more);
    if (good && !more) {
        if (run->poll.on || phi__tools_checkpoint(run)) {
            phi__hooked hooked = phi__input_poll(run, PHI_INPUT_STEERING);
            if (hooked != PHI__HOOK_ALLOW)
                return phi__hooks_next(run, hooked, PHI__RUN_TOOLS, PHI__RUN_TOOLS, PHI__RUN_TOOLS,
                                       wait);
            run->tools.polled = run->tools.emitted;
            run->tools.skipping = run->poll.pending.head != NULL;
        }
        if (run->tools.emitted == run->tools.count) return PHI__RUN_TURN_END;
        good = phi__tools_fill(run, &more);
    }
    if (run->agent->slot == NULL) return PHI__RUN_OVER;
    if (!good) return PHI__RUN_LOST;
    *wait = !more && !phi__tools_checkpoint(run) && run->tools.emitted < run->tools.count;
    return PHI__RUN_TOOLS;
}

/* ---- ending a call with one text, from any thread ----

   Another thread reserves room in the inbox and writes the text there; the pumping thread makes the
   result. If the inbox is full, the pumping thread itself gives the result directly. */

/* Claims the call, and publishes the record if the claim succeeded. */
static phi_status phi__reply_send(phi_call handle, struct phi__inbox_record *record) {
    bool won = phi__slots_move(&handle.rt->calls, handle.index, handle.gen, PHI__CALL_PENDING,
                               PHI__CALL_CLAIMED);
    phi__inbox_publish(record, won);
    phi__io_wake(handle.rt->io); /* also if the claim failed: the record may have blocked posts */
    return won ? PHI_OK : PHI_STALE;
}

static bool phi__reply_pumps(const phi_runtime *rt) {
    return PHI__LOAD(&rt->pump) == (uintptr_t)(void *)&errno;
}

static phi_status phi__reply_now(phi_call handle, phi_str text, bool is_error) {
    phi_content content;
    phi_tool_result result = phi__call_text(&content, text, is_error);
    return phi_call_result(handle, &result);
}

static phi__post phi__reply_post(phi_call handle, phi_str text, bool is_error) {
    phi__post post = PHI_ZERO;
    post.kind = PHI__POST_FINISH;
    post.index = handle.index;
    post.gen = handle.gen;
    post.flag = is_error ? (uint32_t)PHI__CALL_IS_ERROR : 0;
    post.text = text;
    return post;
}

static phi_status phi__reply_text(phi_call handle, const char *text, bool is_error) {
    struct phi__inbox_record *record = NULL;
    if (handle.rt == NULL || text == NULL) return PHI_BAD_ARG;
    if (!phi__call_pending(handle)) return PHI_STALE;
    phi__post post = phi__reply_post(handle, phi_str_of(text), is_error);
    phi_status status = phi__inbox_prepare(&handle.rt->inbox, &post, &record);
    if (status == PHI_OK) return phi__reply_send(handle, record);
    return phi__reply_pumps(handle.rt) ? phi__reply_now(handle, post.text, is_error) : status;
}

/* Formats the text directly in the inbox, because other threads must not use rt's memory. */
static phi_status phi__reply_format(phi_call handle, bool is_error, const char *format,
                                    va_list args) {
    struct phi__inbox_record *record = NULL;
    va_list twice;
    if (handle.rt == NULL || format == NULL) return PHI_BAD_ARG;
    if (!phi__call_pending(handle)) return PHI_STALE;
    va_copy(twice, args);
    int len = vsnprintf(NULL, 0, format, twice);
    va_end(twice);
    if (len < 0) return PHI_BAD_ARG;
    size_t size = (size_t)len + 1;
    phi__post post = phi__reply_post(handle, phi__str(NULL, size), is_error);
    post.flag |= (uint32_t)PHI__CALL_TERMINATED;
    phi_status status = phi__inbox_prepare(&handle.rt->inbox, &post, &record);
    if (status == PHI_OK) {
        (void)vsnprintf(phi__inbox_text(record), size, format, args);
        return phi__reply_send(handle, record);
    }
    if (!phi__reply_pumps(handle.rt)) return status;
    phi_arena scratch;
    phi_arena_init(&scratch, &handle.rt->memory, 0);
    char *text = (char *)phi_arena_alloc(&scratch, size);
    if (text != NULL) (void)vsnprintf(text, size, format, args);
    status =
        text != NULL ? phi__reply_now(handle, phi__str(text, size - 1), is_error) : PHI_NO_MEMORY;
    phi_arena_free(&scratch);
    return status;
}

PHI_API phi_status phi_call_reply(phi_call call, const char *text) {
    return phi__reply_text(call, text, false);
}

PHI_API phi_status phi_call_fail(phi_call call, const char *text) {
    return phi__reply_text(call, text, true);
}

PHI_API phi_status phi_call_replyf(phi_call call, const char *format, ...) {
    va_list args;
    va_start(args, format);
    phi_status status = phi__reply_format(call, false, format, args);
    va_end(args);
    return status;
}

PHI_API phi_status phi_call_failf(phi_call call, const char *format, ...) {
    va_list args;
    va_start(args, format);
    phi_status status = phi__reply_format(call, true, format, args);
    va_end(args);
    return status;
}

/* ---- reports of a tool while it runs ---- */

typedef struct phi__update {
    phi_str text;
    const phi_message *part; /* NULL: the update is only a text */
    phi_str child_loop_id;
} phi__update;

static phi_status phi__update_emit(phi_call handle, phi_event_kind kind,
                                   const phi__update *update) {
    phi__toolcall *call = phi__call_find(handle);
    if (call == NULL) return PHI_STALE;
    phi_event event = PHI_ZERO;
    event.kind = kind;
    event.call = handle;
    event.tool_call_id = call->block->id;
    event.tool_name = call->block->name;
    event.text = update->text;
    event.child_loop_id = update->child_loop_id;
    if (phi__events_backlog(call->run->agent)) return PHI_FULL;
    bool done = update->part != NULL ? phi__events_emit_part(call->run->agent, &event, update->part)
                                     : phi__events_emit(call->run->agent, &event);
    return done ? PHI_OK : PHI_NO_MEMORY;
}

/* Calls one of the two hooks of an update. They cannot wait. False: the update must not be emitted,
   or the call is gone. */
static bool phi__update_hook(phi_call handle, phi_hook_point point, const phi__update *update) {
    phi__toolcall *call = phi__call_find(handle);
    bool inside = handle.rt->in_step;
    if (call == NULL) return false;
    phi__agent *agent = call->run->agent;
    if (!phi__hooks_wanted(agent, point)) return true;
    phi_hook hook = phi__hooks_make(call->run, point);
    hook.call = handle;
    hook.tool_name = call->block->name;
    hook.tool_call_id = call->block->id;
    hook.arguments = call->arguments;
    hook.text = update->text;
    hook.message = update->part;
    call->updating = true;
    /* the hook has the same rules for an update between two steps as inside a step */
    handle.rt->in_step = true;
    phi_verdict verdict = agent->desc.hook_fn(phi__hooks_user_data(agent), &hook);
    handle.rt->in_step = inside;
    call = phi__call_find(handle);
    if (call != NULL) call->updating = false;
    return call != NULL && (verdict == PHI_ALLOW || verdict == PHI_WARN);
}

static phi_status phi__update_make(phi_call handle, const phi__update *update) {
    if (!phi__update_hook(handle, PHI_HOOK_BEFORE_TOOL_UPDATE, update))
        return phi__call_find(handle) != NULL ? PHI_OK : PHI_STALE;
    phi_status status = phi__update_emit(handle, PHI_EV_TOOL_UPDATE, update);
    if (status == PHI_OK) (void)phi__update_hook(handle, PHI_HOOK_AFTER_TOOL_UPDATE, update);
    return status;
}

static void phi__update_tape(phi__toolcall *call, const phi__update *update,
                             const phi_tool_result *partial, bool progress) {
    phi_tape *tape = phi__call_tape(call);
    if (tape != NULL && !tape->plays)
        tape->recorder->said(tape, call, update->text, partial, progress);
}

PHI__FN phi_status phi__update_text(phi_call handle, phi_str text) {
    phi__toolcall *call = phi__call_find(handle);
    if (call == NULL) return PHI_STALE;
    if (call->updating) return phi__error(handle.rt, PHI_MISUSE, "phi_call_update inside its hook");
    phi__update update = PHI_ZERO;
    update.text = text;
    phi__update_tape(call, &update, NULL, false);
    return phi__update_make(handle, &update);
}

PHI__FN phi_status phi__update_progress(phi_call handle, phi_str text) {
    phi__toolcall *call = phi__call_find(handle);
    phi__update update = PHI_ZERO;
    update.text = text;
    if (call != NULL) phi__update_tape(call, &update, NULL, true);
    return phi__update_emit(handle, PHI_EV_TOOL_PROGRESS, &update);
}

PHI_API phi_status phi_call_update(phi_call handle, const phi_tool_result *given) {
    phi_status status = phi__call_check(handle, "phi_call_update", given);
    phi__toolcall *call = phi__call_find(handle);
    phi_content one;
    phi_arena scratch;
    bool failed = false;
    if (status != PHI_OK) return status;
    if (call == NULL) return PHI_STALE;
    if (call->updating) return phi__error(handle.rt, PHI_MISUSE, "phi_call_update inside its hook");
    if (given->text != NULL && given->details == NULL && given->child_loop_id == NULL &&
        !given->is_error) /* only a text */
        return phi__update_text(handle, phi_str_of(given->text));
    phi_arena_init(&scratch, &handle.rt->memory, 0);
    phi_tool_result partial = phi__call_whole(given, &one);
    phi_message part = PHI_ZERO;
    part.role = PHI_ROLE_TOOL_RESULT;
    part.content = partial.content;
    part.content_count = partial.content_count;
    part.details = phi_str_of(partial.details);
    part.is_error = partial.is_error;
    part.tool_call_id = call->block->id;
    part.tool_name = call->block->name;
    phi__update update = PHI_ZERO;
    update.part = &part;
    update.child_loop_id = phi_str_of(partial.child_loop_id);
    update.text = phi_message_text(&part, "\n", &scratch, &failed);
    if (!failed) phi__update_tape(call, &update, &partial, false);
    status = failed ? PHI_NO_MEMORY : phi__update_make(handle, &update);
    phi_arena_free(&scratch);
    return status;
}

PHI_API phi_status phi_call_progress(phi_call handle, const char *text) {
    if (handle.rt == NULL || text == NULL) return PHI_BAD_ARG;
    return phi__update_progress(handle, phi_str_of(text));
}

/* ---- about a call ---- */

PHI_API void *phi_call_state(phi_call handle, size_t bytes) {
    phi__toolcall *call = phi__call_find(handle);
    if (call == NULL) return NULL;
    if (call->state == NULL && bytes > 0) {
        call->state = phi__alloc(&call->run->agent->memory, bytes);
        if (call->state != NULL) call->state_bytes = bytes;
    }
    return bytes <= call->state_bytes ? call->state : NULL;
}

PHI_API phi_call_info phi_call_get_info(phi_call handle) {
    phi_call_info info = PHI_ZERO;
    /* a thread other than that of the last phi_step sees only `pending` */
    if (handle.rt != NULL && (PHI__LOAD(&handle.rt->pump) == 0 || phi__reply_pumps(handle.rt)))
        return phi__update_info(handle);
    info.pending = phi__call_pending(handle);
    return info;
}

PHI__FN phi_call_info phi__update_info(phi_call handle) {
    const phi__toolcall *call = phi__call_find(handle);
    phi_call_info info = PHI_ZERO;
    info.pending = phi__call_pending(handle);
    if (call == NULL) return info;
    info.agent = call->run->agent->handle;
    info.id = call->block->id;
    info.tool_name = call->block->name;
    info.arguments = call->arguments;
    const phi__agent *agent = call->run->agent;
    phi_str context = call->run->own.context;
    while (agent != NULL && context.len == 0 && phi__find_hidden(agent)) {
        agent = agent->tree.parent;
        if (agent != NULL && agent->run != NULL) context = agent->run->own.context;
    }
    info.context = context;
    info.block_index = (uint32_t)(call->block - call->run->reply->content);
    info.timeout_ms = call->tool != NULL ? call->tool->timeout_ms : 0;
    return info;
}
