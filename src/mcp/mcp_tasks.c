/* mcp_tasks.c - tasks of 2025-11-25, and of the extension of 2026-07-28. */
#include "mcp/mcp_requests_in.h"

#include <stdio.h>

enum {
    PHI__TASKS_ID = 1024, /* bytes of an id */
    PHI__TASKS_POLL_MS = 1000,
    PHI__TASKS_POLL_LEAST_MS = 10,
    PHI__TASKS_POLL_MOST_MS = 60000
};

struct phi__task {
    phi__mcp_request *request; /* that it answers */
    phi__mcp_request *sub;     /* under way for it; NULL: none */
    phi__timer timer;          /* of the next look */
    phi_str id;                /* in the request's arena */
    phi__buf keys;             /* of the input that was asked for: each with its length before it */
    uint32_t poll_ms, polls;
    bool over; /* at the server */
};

typedef void (*phi__tasks_done)(void *ctx, const phi_mcp_reply *reply);

static void phi__tasks_later(struct phi__task *t);

/* ---- requests about it ---- */

/* more: further members of params. */
static void phi__tasks_send(struct phi__task *t, const char *method, phi_str more,
                            phi__tasks_done done) {
    phi__mcp_request *r = t->request;
    phi_status status = PHI_NO_MEMORY;
    phi__buf params;
    phi__buf_init(&params, &r->mcp->memory);
    phi__buf_text(&params, "{\"taskId\":");
    phi__json_write_str(&params, t->id);
    if (more.len > 0) {
        phi__buf_char(&params, ',');
        phi__buf_add_str(&params, more);
    }
    phi__buf_char(&params, '}');
    phi__mcp_request_desc desc = PHI_ZERO;
    desc.method = method;
    desc.params = phi__buf_str(&params);
    desc.name = t->id;
    desc.done = done;
    if (done != NULL) {
        desc.call = r->desc.call;
        desc.agent = r->desc.agent;
        desc.ctx = t;
    }
    if (strcmp(method, "tasks/result") == 0) desc.timeout_ms = r->desc.max_timeout_ms;
    if (!params.failed)
        status = phi__requests_new(r->mcp, &desc, false, done != NULL ? &t->sub : NULL);
    phi__buf_free(&params);
    if (status != PHI_OK && done != NULL)
        phi__requests_fail(r, status, "the state of the task could not be asked for");
}

/* The request about it has failed, and with it the call. */
static bool phi__tasks_failed(struct phi__task *t, const phi_mcp_reply *reply) {
    t->sub = NULL;
    if (reply->status == PHI_OK) return false;
    phi__requests_finish(t->request, reply);
    return true;
}

static void phi__tasks_got(void *ctx, const phi_mcp_reply *reply) {
    struct phi__task *t = (struct phi__task *)ctx;
    t->over = true;
    t->sub = NULL;
    phi__requests_finish(t->request, reply);
}

static void phi__tasks_updated(void *ctx, const phi_mcp_reply *reply) {
    struct phi__task *t = (struct phi__task *)ctx;
    if (!phi__tasks_failed(t, reply)) phi__tasks_later(t);
}

/* ---- input ---- */

static bool phi__tasks_knows(const struct phi__task *t, phi_str key) {
    size_t at = 0, len;
    while (at < t->keys.len) {
        memcpy(&len, t->keys.at + at, sizeof len);
        at += sizeof len;
        if (phi_str_equal(key, phi__str(t->keys.at + at, len))) return true;
        at += len;
    }
    return false;
}

/* The questions with new keys, as a result that asks them. Once there are more than may be asked at
   a time the rest is not looked at, for the whole is refused then. NULL: no memory. */
static phi_json *phi__tasks_new_input(struct phi__task *t, const phi_json *questions,
                                      phi_arena *arena, size_t *count) {
    phi_json *result = phi_json_new_object(arena), *fresh = phi_json_new_object(arena);
    phi_json_iter it = phi_json_each(phi_json_is(questions, PHI_JSON_OBJECT) ? questions : NULL);
    const phi_json *question;
    *count = 0;
    if (phi_json_set(arena, result, "inputRequests", fresh) != PHI_OK) return NULL;
    while (*count <= PHI__ASKED_MOST && (question = phi_json_next(&it)) != NULL) {
        size_t len = it.key.len;
        if (phi__tasks_knows(t, it.key)) continue;
        phi__buf_add(&t->keys, (const char *)&len, sizeof len);
        phi__buf_add_str(&t->keys, it.key);
        if (t->keys.failed ||
            phi__json_edit_set(arena, fresh, it.key, phi_json_copy(arena, question)) != PHI_OK)
            return NULL;
        ++*count;
    }
    return result;
}

/* All input is there. */
PHI__FN void phi__tasks_answered(phi__mcp_request *r) {
    phi__buf more;
    phi__buf_init(&more, &r->mcp->memory);
    phi__buf_text(&more, "\"inputResponses\":{");
    phi__buf_add_str(&more, phi__buf_str(&r->input.answers));
    phi__buf_char(&more, '}');
    r->began_us = phi__io_counted_us(r->mcp->rt->io);
    if (more.failed || phi__requests_renew(r, true) != PHI_OK)
        phi__requests_fail(r, PHI_NO_MEMORY, "no memory");
    else
        phi__tasks_send(r->task, "tasks/update", phi__buf_str(&more), phi__tasks_updated);
    phi__buf_free(&more);
}

/* ---- its state ---- */

/* How often it wants to be looked at; where it does not say so, as before. */
static void phi__tasks_read_poll(struct phi__task *t, const phi_json *task) {
    const phi_json *node = phi_json_get(task, "pollIntervalMs");
    double ms = t->poll_ms > 0 ? (double)t->poll_ms : (double)PHI__TASKS_POLL_MS;
    if (node == NULL) node = phi_json_get(task, "pollInterval");
    ms = phi_json_num(node, ms);
    if (!(ms >= (double)PHI__TASKS_POLL_LEAST_MS)) ms = (double)PHI__TASKS_POLL_LEAST_MS;
    if (ms > (double)PHI__TASKS_POLL_MOST_MS) ms = (double)PHI__TASKS_POLL_MOST_MS;
    t->poll_ms = (uint32_t)ms;
}

/* The extension says in the task itself how it has ended. */
static void phi__tasks_end(struct phi__task *t, const phi_json *task, bool failed) {
    const phi_json *error = phi_json_get(task, "error");
    int64_t code;
    phi_mcp_reply reply = PHI_ZERO;
    t->over = true;
    if (failed) {
        reply.status = PHI_REFUSED;
        code = phi_json_int(phi_json_get(error, "code"), 0);
        reply.code = code >= INT32_MIN && code <= INT32_MAX ? (int)code : 0;
        reply.message = phi_json_str(phi_json_get(error, "message"), "the task has failed");
        reply.data = phi_json_get(error, "data");
    } else if (!phi_json_is(reply.result = phi_json_get(task, "result"), PHI_JSON_OBJECT)) {
        reply.result = NULL;
        reply.status = PHI_PARSE;
        reply.message = PHI__LIT("a task that is completed without a result");
    }
    phi__requests_finish(t->request, &reply);
}

static void phi__tasks_look(struct phi__task *t, const phi_json *task) {
    phi_str status = phi__records_get_str(task, "status");
    bool inlined = !t->request->as_task; /* of the extension */
    bool completed = phi__str_is(status, "completed"), failed = phi__str_is(status, "failed");
    bool asks = phi__str_is(status, "input_required");
    char words[100];
    phi__tasks_read_poll(t, task);
    if (phi__str_is(status, "working")) {
        phi__mcp_request *r = t->request;
        phi_mcp *mcp = r->mcp;
        uint64_t id = r->first_id;
        phi_str message = phi__records_get_str(task, "statusMessage");
        t->polls++;
        if (message.len > 0 && r->desc.progress != NULL)
            r->desc.progress(r->desc.ctx, t->polls, 0, message);
        if (!mcp->dead && phi__requests_first(mcp, id) == r) phi__tasks_later(t);
    } else if (inlined && asks) {
        const phi_json *questions = phi_json_get(task, "inputRequests");
        phi__mcp_request *r = t->request;
        phi_arena arena;
        size_t count;
        phi_arena_init(&arena, &r->mcp->memory, 0);
        phi_json *result = phi__tasks_new_input(t, questions, &arena, &count);
        if (result == NULL)
            phi__requests_fail(r, PHI_NO_MEMORY, "no memory");
        else if (count == 0)
            phi__tasks_later(t); /* it has not seen the answers yet */
        else
            (void)phi__asked_input(r, result);
        phi_arena_free(&arena);
    } else if (inlined && (completed || failed))
        phi__tasks_end(t, task, failed);
    else if (completed || failed || asks) /* its questions come while the result is waited for */
        phi__tasks_send(t, "tasks/result", phi__str("", 0), phi__tasks_got);
    else if (phi__str_is(status, "cancelled")) {
        t->over = true;
        phi__requests_fail(t->request, PHI_CANCELLED, "the server has cancelled the task");
    } else {
        (void)snprintf(words, sizeof words, "a task in the state \"%.*s\", which is unknown",
                       (int)phi__min(status.len, 40), status.at);
        phi__requests_fail(t->request, PHI_PARSE, words);
    }
}

static void phi__tasks_polled(void *ctx, const phi_mcp_reply *reply) {
    struct phi__task *t = (struct phi__task *)ctx;
    if (!phi__tasks_failed(t, reply)) phi__tasks_look(t, reply->result);
}

static void phi__tasks_fire(phi__timer *timer) {
    struct phi__task *t = PHI__OWNER(timer, struct phi__task, timer);
    phi_mcp *mcp = t->request->mcp;
    phi__core_enter(mcp);
    phi__tasks_send(t, "tasks/get", phi__str("", 0), phi__tasks_polled);
    (void)phi__core_leave(mcp);
}

static void phi__tasks_later(struct phi__task *t) {
    phi__io *io = t->request->mcp->rt->io;
    t->timer.fire = phi__tasks_fire;
    if (phi__io_timer_set(io, &t->timer, phi__io_now_us(io) + (uint64_t)t->poll_ms * 1000) !=
        PHI_OK)
        phi__requests_fail(t->request, PHI_NO_MEMORY, "no memory");
}

/* ---- beginning and end ---- */

/* The request is about to end. */
PHI__FN void phi__tasks_drop(phi__mcp_request *r) {
    struct phi__task *t = r->task;
    phi_mcp *mcp = r->mcp;
    const phi_json *caps = phi_json_get(mcp->agreed.capabilities, "tasks");
    phi__io_timer_clear(mcp->rt->io, &t->timer);
    if (t->sub != NULL) phi__requests_cancel(t->sub, "not wanted any more");
    if (!t->over && mcp->phase == PHI__LIVE &&
        (!r->as_task || phi_json_get(caps, "cancel") != NULL))
        phi__tasks_send(t, "tasks/cancel", phi__str("", 0), NULL);
    r->task = NULL;
    phi__buf_free(&t->keys);
    phi__free(&mcp->memory, t, sizeof *t);
}

PHI__FN bool phi__tasks_begin(phi__mcp_request *r, const phi_json *task) {
    const phi_json *id = phi_json_get(task, "taskId");
    struct phi__task *t;
    phi_mcp *mcp = r->mcp;
    if (!phi_json_is(id, PHI_JSON_STRING) || phi_json_str(id, "").len > PHI__TASKS_ID) return false;
    t = (struct phi__task *)phi__alloc(&mcp->memory, sizeof *t);
    if (t != NULL) {
        t->request = r;
        phi__buf_init(&t->keys, &mcp->memory);
        r->task = t;
        r->desc.timeout_ms = r->desc.max_timeout_ms; /* it is the server's turn; we look at it */
    }
    if (t == NULL || !phi__arena_str(&r->arena, phi_json_str(id, ""), &t->id) ||
        phi__requests_renew(r, true) != PHI_OK) {
        phi__requests_fail(r, PHI_NO_MEMORY, "no memory");
        return true;
    }
    phi__tasks_read_poll(t, task);
    phi__tasks_later(t);
    return true;
}
