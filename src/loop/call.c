/* call.c - one tool call: started, polled, finished from anywhere, or cancelled; exactly one
   result.

   The first result wins, by one compare-and-swap of the slot's word from PENDING to CLAIMED.
   Another thread reserves its room in the inbox before it claims, so a claimed result is sure to
   come, and neither a deadline nor an abort takes it back or cancels a tool that has finished. A
   call's own memory is kept until its run continues, so that a tool may use its state after giving
   the result. */
#include "base/utf8_in.h"
#include "base/words_in.h"
#include "history/effect_in.h"
#include "loop/cap_in.h"
#include "loop/loop_in.h"

#include <stdio.h>

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

static void phi__call_poll_remove(phi__toolcall *call) {
    phi_runtime *rt = call->rt;
    if (!call->polled) return;
    call->polled = false;
    rt->polls.count--;
    if (rt->polls.next == call) rt->polls.next = rt->polls.count > 0 ? call->poll_next : NULL;
    call->poll_prev->poll_next = call->poll_next;
    call->poll_next->poll_prev = call->poll_prev;
}

/* Behind the ring's last one, which is before its first. */
static void phi__call_poll_add(phi__toolcall *call) {
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

static bool phi__call_claim(const phi__toolcall *call) {
    return phi__slots_move(&call->rt->calls, call->index, call->gen, PHI__CALL_PENDING,
                           PHI__CALL_CLAIMED);
}

static void phi__call_clear_timers(phi__toolcall *call) {
    phi__io_timer_clear(call->rt->io, &call->timer);
    phi__io_timer_clear(call->rt->io, &call->beat);
}

/* The result is there, or cannot be: the handle dies now. */
static void phi__call_settle(phi__toolcall *call, phi_message *result) {
    call->result = result;
    if (call->begun && call->slot != NULL) call->run->tools.running--;
    if (call->run->agent->questions != NULL) phi__question_call_over(call);
    phi__call_clear_timers(call);
    phi__call_poll_remove(call);
    if (call->slot != NULL) phi__slots_release(&call->rt->calls, call->slot);
    call->slot = NULL;
    phi__schedule_wake(call->run);
}

/* A text of the agent's about a call; without memory, the one that says so. */
static phi_str phi__call_about(const phi__toolcall *call, phi_text which, uint64_t n) {
    bool repeats = which == PHI_TEXT_RESULT_REPEATED || which == PHI_TEXT_REPEAT_WARNING;
    phi__texts_args args;
    phi_str out;
    memset(&args, 0, sizeof args);
    args.n = n;
    args.name = call->block->name;
    args.name.len = phi__utf8_cut(args.name, repeats ? 64 : 200);
    return phi__texts_make(&call->run->arena, call->run->agent->desc.texts, which, &args, &out)
               ? out
               : phi_str_of(phi__loop_words(call, PHI_TEXT_RESULT_NO_MEMORY));
}

/* The result's blocks, and one more for the model where the call repeats itself. NULL: no
   memory. */
static const phi_content *phi__call_warned(phi__toolcall *call, const phi_tool_result *result,
                                           size_t *count) {
    phi_arena *arena = &call->run->arena;
    size_t n = result->content_count;
    phi_content *content;
    *count = n;
    if (call->repeats == 0 || !call->started ||
        call->repeats < call->run->agent->desc.tool_options.repeat_warn_after)
        return result->content;
    content = (phi_content *)phi_arena_alloc(arena, phi__mul(phi__add(n, 1), sizeof *content));
    if (content == NULL) return NULL;
    if (n > 0) memcpy(content, result->content, n * sizeof *content);
    memset(&content[n], 0, sizeof content[n]);
    content[n].kind = PHI_CONTENT_TEXT;
    content[n].text = phi__call_about(call, PHI_TEXT_REPEAT_WARNING, call->repeats);
    *count = n + 1;
    return content;
}

static phi_message *phi__call_keep(phi__toolcall *call, const phi_tool_result *result) {
    phi_arena *arena = phi__thread_room(call->run->agent->thread);
    phi_message message;
    memset(&message, 0, sizeof message);
    message.role = PHI_ROLE_TOOL_RESULT;
    message.content = phi__call_warned(call, result, &message.content_count);
    if (message.content == NULL && message.content_count > 0) return NULL;
    if (!phi__arena_str(arena, phi_str_of(result->child_loop_id), &call->child_loop_id) ||
        (result->effects != NULL &&
         !phi__arena_str(arena, phi_str_of(result->effects), &call->effects)))
        return NULL;
    message.tool_call_id = call->block->id;
    message.tool_name = call->block->name;
    message.is_error = result->is_error;
    message.details = phi_str_of(result->details);
    phi__events_stamp(call->run, &message);
    return phi__attempt_hide(call->run, phi__append_keep(call->run->agent->thread, &message));
}

PHI__FN phi_tool_result phi__call_text(phi_content *content, phi_str text, bool is_error) {
    phi_tool_result result;
    memset(content, 0, sizeof *content);
    memset(&result, 0, sizeof result);
    content->kind = PHI_CONTENT_TEXT;
    content->text = text;
    result.content = content;
    result.content_count = 1;
    result.is_error = is_error;
    return result;
}

PHI__FN phi_tool_result phi__call_whole(const phi_tool_result *result, phi_content *one) {
    phi_tool_result whole = *result;
    phi_tool_result text;
    if (result->text == NULL) return whole;
    text = phi__call_text(one, phi_str_of(result->text), false);
    whole.content = text.content;
    whole.content_count = 1;
    return whole;
}

PHI__FN void phi__call_fail_str(phi__toolcall *call, phi_str text) {
    phi_content content;
    phi_tool_result result = phi__call_text(&content, text, true);
    phi_message *kept;
    if (call->result != NULL) return;
    kept = phi__call_keep(call, &result);
    if (kept != NULL) { /* it may quote a tool name or arguments of the model */
        phi_str *words = &((phi_content *)(uintptr_t)kept->content)->text;
        words->len = phi__words_clean((char *)(uintptr_t)words->at, words->len);
    }
    phi__call_settle(call, kept);
}

PHI__FN void phi__call_fail(phi__toolcall *call, const char *text) {
    phi__call_fail_str(call, phi_str_of(text));
}

PHI__FN void phi__call_fail_as(phi__toolcall *call, phi_text which, uint64_t n) {
    phi__call_fail_str(call, phi__call_about(call, which, n));
}

/* Whether the tool has the call: it was started in this process, or has resumed it out of a
   snapshot. Else it has nothing to release. */
static bool phi__call_held(const phi__toolcall *call) {
    return call->started && !call->resumes && !call->again && call->tool != NULL;
}

PHI__FN phi_tape *phi__call_tape(const phi__toolcall *call) {
    return call->tool != NULL && call->tool->deterministic ? NULL : call->rt->tape;
}

/* Claims an open call, to end it. False: its result is on its way; with a tape: as it was when that
   was recorded. */
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

PHI__FN void phi__call_cancel(phi__toolcall *call, const char *text) {
    const phi_tool *tool = call->tool;
    if (call->result != NULL) return;
    if (call->slot != NULL) {
        if (!phi__call_claim_end(call)) return;
        if (phi__call_held(call) && tool->cancel != NULL)
            tool->cancel(tool->user_data, phi__call_handle(call));
    }
    phi__call_fail(call, text);
}

PHI__FN void phi__call_detach(phi__toolcall *call) {
    const phi_tool *tool = call->tool;
    /* Claimed before the tool is called, which may free the agent again from there. */
    if (call->slot != NULL && phi__call_claim(call) && phi__call_held(call) && tool->cancel != NULL)
        tool->cancel(tool->user_data, phi__call_handle(call));
    if (call->run->agent->questions != NULL) phi__question_call_over(call);
    phi__call_clear_timers(call);
    phi__call_poll_remove(call);
    if (call->cap != NULL) phi__cap_drop(call);
    /* its hook was called */
    if (call->decision.point != 0) phi__hooks_decision_drop(&call->decision);
    if (call->slot != NULL) phi__slots_release(&call->rt->calls, call->slot);
    call->slot = NULL;
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

PHI__FN void phi__call_dispose(phi__toolcall *call) {
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

/* Without memory for it there is no event, and the call continues. */
static void phi__call_beat(phi__timer *timer) {
    phi__toolcall *call = PHI__OWNER(timer, phi__toolcall, beat);
    phi_event event;
    memset(&event, 0, sizeof event);
    event.kind = PHI_EV_TOOL_HEARTBEAT;
    event.call = phi__call_handle(call);
    event.tool_call_id = call->block->id;
    event.tool_name = call->block->name;
    event.elapsed_ms = (phi__io_now_us(call->rt->io) - call->armed_us) / 1000;
    if (!phi__events_backlog(call->run->agent))
        (void)phi__events_emit(call->run->agent, &event, NULL, 0);
    (void)phi__call_set_beat(call);
}

/* Words that fill their room were cut, perhaps inside a character. */
static void phi__call_fail_cut(phi__toolcall *call, char *words, size_t size) {
    size_t len = strlen(words);
    if (len + 1 == size) words[phi__utf8_cut(phi_str_of(words), len - 1)] = '\0';
    phi__call_fail(call, words);
}

static void phi__call_timer(phi__timer *timer); /* below: it may start the call again */

static bool phi__call_arm(phi__toolcall *call) {
    phi_runtime *rt = call->rt;
    if (call->beat.fire == NULL) { /* it is the first try */
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
    phi__schedule_wake(call->run); /* an abort may have passed it by meanwhile */
}

/* phi__cap_give_fn. */
static phi_status phi__call_give_whole(phi__toolcall *call, const phi_tool_result *result) {
    phi_tape *tape = phi__call_tape(call);
    if (result != NULL)
        return tape != NULL ? tape->ops->result(tape, call, result) : phi__call_take(call, result);
    phi__call_settle(call, NULL);
    return PHI_NO_MEMORY;
}

/* True if the result is as small as its agent and its tool want it. */
static bool phi__call_fits(const phi__toolcall *call, const phi_tool_result *result) {
    uint32_t most_image = call->run->agent->desc.tool_options.max_result_image_bytes;
    size_t texts = 0, i;
    for (i = 0; i < result->content_count; i++) {
        const phi_content *c = &result->content[i];
        if (c->kind == PHI_CONTENT_TEXT) texts += c->text.len;
        if (phi__cap_too_large(c, most_image)) return false;
    }
    return texts <= phi__cap_most(call);
}

/* The result of a call that is claimed, from its tool. */
static phi_status phi__call_give(phi__toolcall *call, const phi_tool_result *result) {
    if (phi__call_fits(call, result)) return phi__call_give_whole(call, result);
    phi__call_clear_timers(call); /* it has a result, so neither is its tool called again */
    phi__call_poll_remove(call);
    return phi__cap_begin(call, result, phi__call_give_whole);
}

static void phi__call_give_text(phi__toolcall *call, phi_str text, bool is_error) {
    phi_content content;
    phi_tool_result result = phi__call_text(&content, text, is_error);
    (void)phi__call_give(call, &result);
}

/* Handles the flow of start or step; a tool that is done without a result gets an error. */
static void phi__call_flow(phi__toolcall *call, uint32_t gen, phi_flow flow) {
    if (call->slot == NULL || call->gen != gen || call->again || call->cap != NULL) return;
    if (flow == PHI_DONE || call->held != NULL) {
        phi__call_poll_remove(call); /* also where its result is still in the inbox */
        if (phi__call_claim(call))
            phi__call_give_text(call, PHI__LIT("The tool returned PHI_DONE without a result"),
                                true);
    } else if (!call->polled && call->tool->step != NULL)
        phi__call_poll_add(call);
}

PHI__FN bool phi__call_open(phi__toolcall *call) {
    call->slot = phi__slots_take(&call->rt->calls, PHI__CALL_PENDING, call);
    if (call->slot == NULL) return false;
    call->index = call->slot->index;
    call->gen = phi__slots_gen_of(PHI__LOAD(&call->slot->word));
    return true;
}

PHI__FN bool phi__call_may_start(const phi__toolcall *call) {
    phi_tape *tape = phi__call_tape(call);
    bool open;
    if (call->slot == NULL) return false;
    open =
        phi__slots_state(&call->rt->calls, call->index, call->gen) == (uint32_t)PHI__CALL_PENDING;
    return tape != NULL ? !tape->ops->on_way(tape, call, !open) : open;
}

/* start or resume of its tool, unless a tape has its result. */
static void phi__call_begin(phi__toolcall *call,
                            phi_flow (*begin)(void *user_data, phi_call call, phi_str arguments)) {
    phi_tape *tape = phi__call_tape(call);
    phi_flow flow;
    if (tape != NULL && tape->ops->start(tape, call)) return;
    call->starting = true;
    flow = begin(call->tool->user_data, phi__call_handle(call), call->arguments);
    phi__call_flow(call, call->gen, flow);
    call->starting = false;
    if (tape != NULL) tape->ops->started(tape, call);
}

/* ---- starting once more ---- */

static void phi__call_emit_warning(phi__toolcall *call, const char *words) {
    phi_event event = PHI_ZERO;
    event.kind = PHI_EV_WARNING;
    event.call = phi__call_handle(call);
    event.tool_call_id = call->block->id;
    event.tool_name = call->block->name;
    event.text = phi_str_of(words);
    (void)phi__events_emit(call->run->agent, &event, NULL, 0);
}

static void phi__call_emit_again(phi__toolcall *call, phi_str why) {
    char words[400];
    (void)snprintf(words, sizeof words, "Tool %.*s failed, attempt %u/%u, again in %u ms: %.*s",
                   (int)phi__utf8_cut(call->block->name, 64), call->block->name.at,
                   (unsigned)call->tries, (unsigned)call->tool->retries + 1,
                   (unsigned)call->tool->retry_delay_ms, (int)phi__utf8_cut(why, 200),
                   why.len > 0 ? why.at : "");
    phi__call_emit_warning(call, words);
}

/* The run starts it, as any other call. */
static void phi__call_again(phi__timer *timer) {
    phi__toolcall *call = PHI__OWNER(timer, phi__toolcall, timer);
    call->resumes = true;
    phi__schedule_wake(call->run);
}

static void phi__call_start_again(phi__toolcall *call) {
    if (!phi__call_may_start(call)) return;
    call->again = false;
    phi__call_free_state(call);
    if (!phi__call_arm(call))
        phi__call_fail(call, phi__loop_words(call, PHI_TEXT_RESULT_NO_MEMORY));
    else
        phi__call_begin(call, call->tool->start);
}

/* Starts a claimed call again instead of giving its error. False: no try is left. */
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
    phi__call_emit_again(call, why);
    phi__call_unclaim(call);
    return true;
}

static void phi__call_timer(phi__timer *timer) {
    phi__toolcall *call = PHI__OWNER(timer, phi__toolcall, timer);
    const phi_tool *tool = call->tool;
    phi_str text = phi__call_about(call, PHI_TEXT_RESULT_TIMEOUT, tool->timeout_ms);
    if (call->tries >= tool->retries) {
        phi__call_cancel(call, text.at);
        return;
    }
    if (!phi__call_claim_end(call)) return;
    if (phi__call_held(call) && tool->cancel != NULL)
        tool->cancel(tool->user_data, phi__call_handle(call));
    if (!phi__call_put_again(call, text)) phi__call_fail_str(call, text);
}

static phi_str phi__call_why(const phi_tool_result *result) {
    size_t i;
    for (i = 0; i < result->content_count; i++)
        if (result->content[i].kind == PHI_CONTENT_TEXT) return result->content[i].text;
    return phi__str("", 0);
}

PHI__FN phi_status phi__call_take(phi__toolcall *call, const phi_tool_result *result) {
    phi_message *kept;
    if (result->is_error && phi__call_put_again(call, phi__call_why(result))) return PHI_OK;
    kept = phi__call_keep(call, result);
    phi__call_settle(call, kept);
    return kept != NULL ? PHI_OK : PHI_NO_MEMORY;
}

PHI__FN void phi__call_start(phi__toolcall *call) {
    char words[400];
    call->started = true;
    if (call->tool == NULL) {
        bool known = phi__toolset_find(call->run->agent->tools, call->block->name) != NULL;
        phi__call_fail_as(call, known ? PHI_TEXT_RESULT_NOT_LOADED : PHI_TEXT_RESULT_NO_TOOL, 0);
    } else if (call->block->incomplete) {
        phi__call_fail(call, phi__loop_words(call, PHI_TEXT_RESULT_BROKEN_OFF));
    } else if (call->tool->strict && phi__arguments_without_nulls(call) != PHI_OK) {
        phi__call_fail(call, phi__loop_words(call, PHI_TEXT_RESULT_NO_MEMORY));
    } else if (!phi__arguments_fit(call, words, sizeof words)) {
        phi__call_fail_cut(call, words, sizeof words);
    } else if (!phi__call_arm(call)) {
        phi__call_fail(call, phi__loop_words(call, PHI_TEXT_RESULT_NO_MEMORY));
    } else {
        if ((call->run->taking.points & (uint32_t)PHI__POINT_CALL_STARTS) != 0)
            (void)phi__feature_call(call, PHI__POINT_CALL_STARTS);
        phi__call_begin(call, call->tool->start);
    }
}

/* Nothing can go on with a call that had begun before a restore. */
static void phi__call_interrupt(phi__toolcall *call) {
    char words[200];
    (void)snprintf(words, sizeof words, "A call of %.*s was interrupted by the restore: %s",
                   (int)phi__utf8_cut(call->block->name, 64), call->block->name.at,
                   call->tool == NULL ? "there is no such tool" : "the tool has no resume");
    phi__call_emit_warning(call, words);
    phi__call_fail(call, phi__loop_words(call, PHI_TEXT_RESULT_INTERRUPTED));
}

/* The text may come from anywhere, and the tool may be another one than that which started it. */
PHI__FN void phi__call_resume(phi__toolcall *call) {
    const phi_tool *tool = call->tool;
    char words[400];
    call->resumes = false;
    if (call->result != NULL || call->slot == NULL) return;
    if (tool == NULL || (!call->again && tool->resume == NULL && tool->step != NULL))
        phi__call_interrupt(call);
    else if ((call->again || tool->resume != NULL) &&
             !phi__arguments_fit(call, words, sizeof words))
        phi__call_fail_cut(call, words, sizeof words);
    else if (call->again)
        phi__call_start_again(call);
    else if (!phi__call_arm(call))
        phi__call_fail(call, phi__loop_words(call, PHI_TEXT_RESULT_NO_MEMORY));
    else if (tool->resume != NULL)
        phi__call_begin(call, tool->resume);
}

/* With a tape, a step in which nothing but this tool has added to the log is no empty one. */
static void phi__call_poll_tool(phi_runtime *rt, phi__toolcall *call) {
    const phi__agent *agent = call->run->agent; /* it stays until the step's end */
    size_t count = agent->thread->log.count;
    uint32_t gen = call->gen;
    phi_flow flow = call->tool->step(call->tool->user_data, phi__call_handle(call));
    phi__call_flow(call, gen, flow);
    if (rt->tape != NULL && agent->slot != NULL && agent->thread->log.count != count)
        rt->tape->ops->fires(rt->tape);
}

PHI__FN void phi__call_has_work(phi_runtime *rt) { rt->polls.busy = true; }

/* Goes on where the last step stopped, so that none starves under a small budget; with a tape all
   have their turn in each. The ring may change under way: a round is over when it comes to a call
   that had its turn. */
PHI__FN void phi__call_poll_all(phi_runtime *rt) {
    rt->polls.busy = false;
    while (rt->polls.next != NULL && rt->polls.next->poll_round != rt->step.round) {
        phi__toolcall *call = rt->polls.next;
        rt->polls.next = call->poll_next;
        call->poll_round = rt->step.round;
        phi__call_poll_tool(rt, call);
        if (rt->tape == NULL && phi__slice_spent(&rt->slice)) return;
    }
}

PHI__FN bool phi__call_pending(phi_call handle) {
    return handle.rt != NULL && phi__slots_state(&handle.rt->calls, handle.index, handle.gen) ==
                                    (uint32_t)PHI__CALL_PENDING;
}

/* ---- posts from the inbox ---- */

PHI__FN void phi__call_posted(phi_runtime *rt, const phi__post *post) {
    phi_call handle;
    phi__toolcall *call;
    phi_str text;
    handle.rt = rt;
    handle.index = post->index;
    handle.gen = post->gen;
    call = phi__call_find(handle);
    /* cancelled, or its agent freed, since it was posted; or a tape has started it later */
    if (call == NULL || phi__call_pending(handle)) return;
    text = post->text;
    if ((post->flag & (uint32_t)PHI__CALL_TERMINATED) != 0) text.len--;
    phi__call_give_text(call, text, (post->flag & (uint32_t)PHI__CALL_IS_ERROR) != 0);
}

static phi_status phi__call_check_effects(phi_runtime *rt, const char *function,
                                          const char *effects) {
    char words[160];
    phi_status status;
    if ((rt->features.wanted & (uint32_t)PHI__POINT_EFFECTS) == 0)
        return phi__feature_missing(rt, "effects", "phi_feature_tool_state");
    status = phi__effect_check(&rt->memory, phi_str_of(effects), words, sizeof words);
    return status == PHI_BAD_ARG ? phi__error(rt, status, "%s: effects: %s", function, words)
                                 : status;
}

PHI__FN phi_status phi__call_check(phi_call handle, const char *function,
                                   const phi_tool_result *result) {
    if (handle.rt == NULL || result == NULL) return PHI_BAD_ARG;
    if (result->content == NULL && result->content_count > 0)
        return phi__error(handle.rt, PHI_BAD_ARG, "%s: content is missing, content_count is %u",
                          function, (unsigned)result->content_count);
    if (result->text != NULL && result->content_count > 0)
        return phi__error(handle.rt, PHI_BAD_ARG, "%s: text and content: give one of them",
                          function);
    if (result->content_count > 0) {
        phi_status status =
            phi__enqueue_check(handle.rt, function, result->content, result->content_count);
        if (status != PHI_OK) return status;
    }
    return result->effects != NULL ? phi__call_check_effects(handle.rt, function, result->effects)
                                   : PHI_OK;
}

/* ---- public ---- */

PHI_API phi_status phi_call_result(phi_call handle, const phi_tool_result *result) {
    phi__toolcall *call = phi__call_find(handle);
    phi_status status = phi__call_check(handle, "phi_call_result", result);
    phi_tool_result given;
    phi_content one;
    if (status != PHI_OK) return status;
    if (call == NULL || !phi__call_claim(call)) return PHI_STALE;
    given = phi__call_whole(result, &one);
    return phi__call_give(call, &given);
}
