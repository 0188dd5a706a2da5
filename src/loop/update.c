/* update.c - what a tool asks about its call, and its reports while it runs: parts of its result,
   and messages for the person who waits.

   Nothing of a report reaches the model. A part passes the two hooks; a tape records it. */
#include "loop/inner_in.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

/* ---- the end of a call with one text, from any thread ----

   Another thread only reserves room in the inbox and writes the text there; the pumping thread
   makes the result. On the pumping thread itself a full inbox is passed by. */

/* Claims the call, and sends the record if that was in time. */
static phi_status phi__reply_send(phi_call handle, struct phi__inbox_record *record) {
    bool won = phi__slots_move(&handle.rt->calls, handle.index, handle.gen, PHI__CALL_PENDING,
                               PHI__CALL_CLAIMED);
    phi__inbox_publish(record, won);
    phi__io_wake(handle.rt->io); /* lost, too: later posts may be seen only now */
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

/* Writes the text straight into the inbox: another thread has no memory of the runtime's. */
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
    const phi_message *part; /* NULL: a text alone */
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
                                     : phi__events_emit(call->run->agent, &event, NULL, 0);
    return done ? PHI_OK : PHI_NO_MEMORY;
}

/* Calls one of the two hooks of an update, which answer at once. False: the update must not be
   emitted, or its call is gone. */
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
    /* an update may come between two steps: hooks have the same rights */
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
    if (tape != NULL) tape->ops->said(tape, call, update->text, partial, progress);
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
        !given->is_error) /* no more than its text */
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
    /* not on another thread than that of the last phi_step */
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
