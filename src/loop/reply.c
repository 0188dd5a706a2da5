/* reply.c - ends a call with one text, from any thread.

   Another thread only reserves room in the inbox and writes the text there; the pumping thread
   makes the result. On the pumping thread itself a full inbox is passed by. */
#include "loop/loop_in.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

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

PHI__FN bool phi__reply_elsewhere(const phi_runtime *rt) {
    return PHI__LOAD(&rt->pump) != 0 && !phi__reply_pumps(rt);
}

static phi_status phi__reply_now(phi_call handle, phi_str text, bool is_error) {
    phi_content content;
    phi_tool_result result = phi__call_text(&content, text, is_error);
    return phi_call_result(handle, &result);
}

static phi__post phi__reply_post(phi_call handle, phi_str text, bool is_error) {
    phi__post post;
    memset(&post, 0, sizeof post);
    post.kind = PHI__POST_FINISH;
    post.index = handle.index;
    post.gen = handle.gen;
    post.flag = is_error ? (uint32_t)PHI__CALL_IS_ERROR : 0;
    post.text = text;
    return post;
}

static phi_status phi__reply_text(phi_call handle, const char *text, bool is_error) {
    phi__post post;
    phi_status status;
    struct phi__inbox_record *record = NULL;
    if (handle.rt == NULL || text == NULL) return PHI_BAD_ARG;
    if (!phi__call_pending(handle)) return PHI_STALE;
    post = phi__reply_post(handle, phi_str_of(text), is_error);
    status = phi__inbox_prepare(&handle.rt->inbox, &post, &record);
    if (status == PHI_OK) return phi__reply_send(handle, record);
    return phi__reply_pumps(handle.rt) ? phi__reply_now(handle, post.text, is_error) : status;
}

static phi_status phi__reply_format_now(phi_call handle, size_t size, bool is_error,
                                        const char *format, va_list args) {
    phi_status status = PHI_NO_MEMORY;
    phi_arena scratch;
    char *text;
    phi_arena_init(&scratch, &handle.rt->memory, 0);
    text = (char *)phi_arena_alloc(&scratch, size);
    if (text != NULL) {
        (void)vsnprintf(text, size, format, args);
        status = phi__reply_now(handle, phi__str(text, size - 1), is_error);
    }
    phi_arena_free(&scratch);
    return status;
}

/* Writes the text straight into the inbox: another thread has no memory of the runtime's. */
static phi_status phi__reply_format(phi_call handle, bool is_error, const char *format,
                                    va_list args) {
    struct phi__inbox_record *record = NULL;
    phi_status status;
    phi__post post;
    size_t size;
    va_list twice;
    int len;
    if (handle.rt == NULL || format == NULL) return PHI_BAD_ARG;
    if (!phi__call_pending(handle)) return PHI_STALE;
    va_copy(twice, args);
    len = vsnprintf(NULL, 0, format, twice);
    va_end(twice);
    if (len < 0) return PHI_BAD_ARG;
    size = (size_t)len + 1;
    post = phi__reply_post(handle, phi__str(NULL, size), is_error);
    post.flag |= (uint32_t)PHI__CALL_TERMINATED;
    status = phi__inbox_prepare(&handle.rt->inbox, &post, &record);
    if (status == PHI_OK) {
        (void)vsnprintf(phi__inbox_text(record), size, format, args);
        return phi__reply_send(handle, record);
    }
    return phi__reply_pumps(handle.rt) ? phi__reply_format_now(handle, size, is_error, format, args)
                                       : status;
}

/* ---- public ---- */

PHI_API phi_status phi_call_reply(phi_call call, const char *text) {
    return phi__reply_text(call, text, false);
}

PHI_API phi_status phi_call_fail(phi_call call, const char *text) {
    return phi__reply_text(call, text, true);
}

PHI_API phi_status phi_call_replyf(phi_call call, const char *format, ...) {
    phi_status status;
    va_list args;
    va_start(args, format);
    status = phi__reply_format(call, false, format, args);
    va_end(args);
    return status;
}

PHI_API phi_status phi_call_failf(phi_call call, const char *format, ...) {
    phi_status status;
    va_list args;
    va_start(args, format);
    status = phi__reply_format(call, true, format, args);
    va_end(args);
    return status;
}
