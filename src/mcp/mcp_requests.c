/* mcp_requests.c - requests, their answers, questions of the server, tasks, and the message
   queue. */
#include "mcp/mcp_requests_in.h"

#include <stdarg.h>
#include <stdio.h>

static void phi__tasks_later(struct phi__task *t);

/* Sends the answers to the questions of a task. */
static void phi__tasks_answered(phi__req *r);

/* Sends a notification or an answer; frees `json`. `method` is a literal. PHI_FULL: too many
   messages wait. */
static phi_status phi__post_text(phi_mcp *mcp, phi__buf *json, phi_str method, bool first);

/* Returns the agent that waits for the request, or zero. */
static phi_agent phi__req_agent(const phi__req *r);

/* True if both are the same call. False for two empty handles. */
static bool phi__req_same_call(phi_call a, phi_call b);

/* Returns the agent that waits for the open requests; zero: no agent or several. If all requests
   serve one call, *only is the first of them; else *only is NULL. Requests about a task serve the
   call that became the task. */
static phi_agent phi__req_calling(const phi_mcp *mcp, phi__req **only);

/* Sends the request again under a new id, with further members of params. */
static phi_status phi__req_repeat(phi__req *r, phi_str members);

PHI__FN phi__mcp_ask *phi__asked_find(const phi_mcp *mcp, uint64_t ask) {
    for (phi__link *link = mcp->asks.open.first; link != NULL; link = link->next) {
        phi__mcp_ask *a = PHI__OWNER(link, phi__mcp_ask, link);
        if (a->ask == ask) return a;
    }
    return NULL;
}

static phi__mcp_ask *phi__asked_new(phi_mcp *mcp, phi_str id, phi__req *r) {
    if (mcp->asks.count >= PHI__ASKED_MOST) return NULL;
    phi__mcp_ask *a = (phi__mcp_ask *)phi__alloc(&mcp->memory, phi__add(sizeof *a, id.len));
    if (a == NULL) return NULL;
    a->ask = ++mcp->asks.next;
    a->request = r;
    if (r != NULL) a->agent = phi__req_agent(r);
    a->id_len = id.len;
    if (id.len > 0) memcpy(a->id, id.at, id.len);
    phi__list_push(&mcp->asks.open, &a->link);
    mcp->asks.count++;
    return a;
}

PHI__FN void phi__asked_free(phi_mcp *mcp, phi__mcp_ask *a) {
    phi__list_take(&mcp->asks.open, &a->link);
    mcp->asks.count--;
    phi__free(&mcp->memory, a, phi__add(sizeof *a, a->id_len));
}

/* Frees a question and tells its part that no answer is wanted. */
PHI__FN void phi__asked_unask(phi_mcp *mcp, phi__mcp_ask *a) {
    const phi__mcp_part *table = a->table;
    void *part = a->part;
    uint64_t ask = a->ask;
    phi__asked_free(mcp, a);
    if (table != NULL && table->unasked != NULL) table->unasked(mcp, part, ask);
}

/* Ends the questions of a request's input. Other questions about the request stay open, but no
   longer refer to the request and its agent. If r is NULL, ends all questions. */
PHI__FN void phi__asked_unask_of(phi_mcp *mcp, const phi__req *r) {
    phi__link *link = mcp->asks.open.first;
    while (link != NULL) {
        phi__mcp_ask *a = PHI__OWNER(link, phi__mcp_ask, link);
        link = link->next;
        if (r != NULL && a->request == r && !a->input) {
            a->request = NULL;
            memset(&a->agent, 0, sizeof a->agent);
        }
        if (r != NULL && a->request != r) continue;
        phi__asked_unask(mcp, a);
        link = mcp->asks.open.first;
    }
}

/* Offers a question to the parts until one takes it. The part may answer at once or free the
   connection. False: no part takes the question. */
static bool phi__asked_part(phi_mcp *mcp, uint64_t ask, phi_str method, const phi_json *params) {
    const phi__mcp_ask *asked = phi__asked_find(mcp, ask);
    phi_agent agent = asked->agent.rt != NULL ? asked->agent : mcp->desc.agent;
    phi_call call = PHI_ZERO;
    if (asked->request != NULL) call = asked->request->desc.call;
    for (size_t i = 0; i < mcp->part_count && !mcp->dead; i++) {
        const phi__joined *p = &mcp->parts[i];
        phi__mcp_ask *a = phi__asked_find(mcp, ask);
        if (p->table->asked == NULL || a == NULL) continue;
        a->table = p->table;
        a->part = p->part;
        if (p->table->asked(mcp, p->part, method, params, call, agent, ask)) return true;
        a = phi__asked_find(mcp, ask);
        if (a != NULL) a->table = NULL;
    }
    return mcp->dead;
}

PHI__FN void phi__asked_reply(phi_mcp *mcp, phi_str id, phi_str result, int code,
                              const char *message) {
    phi__buf json = phi__buf_of(&mcp->memory);
    if (code == 0)
        phi__rpc_result(&json, id, result);
    else
        phi__rpc_error(&json, id, code, phi_str_of(message), phi__str("", 0));
    (void)phi__post_text(mcp, &json, phi__str("", 0), false);
}

/* Handles a server's request, which came on the stream of `from` (or NULL). False: the connection
   was freed. */
PHI__FN bool phi__asked_request(phi_mcp *mcp, const phi__rpc *rpc, phi__req *from) {
    phi_str none = phi__str("", 0);
    phi_agent agent = PHI_ZERO;
    if (mcp->agreed.era != NULL && !mcp->agreed.era->asks)
        return phi__parts_warn(mcp, "a request of the server's, which this era does not have");
    if (phi__str_is(rpc->method, "ping")) {
        phi__asked_reply(mcp, rpc->id, none, 0, NULL);
        return true;
    }
    if (from == NULL) agent = phi__req_calling(mcp, &from);
    phi__mcp_ask *a = phi__asked_new(mcp, rpc->id, from);
    if (a == NULL) {
        phi__asked_reply(mcp, rpc->id, none, PHI__RPC_INTERNAL, "Too many requests");
        return true;
    }
    if (from == NULL) a->agent = agent;
    uint64_t ask = a->ask;
    if (phi__asked_part(mcp, ask, rpc->method, rpc->params)) return !mcp->dead;
    a = phi__asked_find(mcp, ask);
    if (a == NULL) return true;
    phi__asked_free(mcp, a);
    phi__asked_reply(mcp, rpc->id, none, PHI__RPC_NO_METHOD, "Method not found");
    return true;
}

/* Makes the timer continue the request, because `done` must not be called inside a part. */
static void phi__asked_due(phi__req *r) {
    r->input.due = true;
    if (r->input.busy) return;
    (void)phi__mcp_timer_in(r->mcp->rt->io, &r->timer, 0);
}

static void phi__asked_refuse(phi__req *r, phi_status status, const char *message) {
    if (r->input.status == PHI_OK) {
        r->input.status = status;
        (void)snprintf(r->input.message, sizeof r->input.message, "%s", message);
    }
    phi__asked_due(r);
}

PHI__FN void phi__asked_got(phi__req *r, const phi__mcp_ask *a, phi_str result, int code,
                            const char *message) {
    phi__buf *buf = &r->input.answers;
    if (code != 0) {
        phi__asked_refuse(r, PHI_REFUSED, message);
        return;
    }
    phi__json_write_key(buf, phi__str(a->id, a->id_len));
    phi__rpc_line(buf, result.len > 0 ? result : PHI__LIT("{}"));
    if (buf->failed) phi__asked_refuse(r, PHI_NO_MEMORY, "no memory");
    if (--r->input.pending == 0 && !r->input.busy) phi__asked_due(r);
}

/* Offers one question of the input to the parts. False: the connection or the request was freed. */
static bool phi__asked_one(phi__req *r, phi_str key, const phi_json *question) {
    phi_str method = phi__records_get_str(question, "method");
    const phi_json *params = phi_json_get(question, "params");
    phi_mcp *mcp = r->mcp;
    phi__mcp_ask *a = phi__asked_new(mcp, key, r);
    char words[120];
    uint64_t id = r->first_id;
    if (a == NULL) {
        phi__asked_refuse(r, PHI_FULL, "the server asks for too much input at once");
        return true;
    }
    a->input = true;
    r->input.pending++;
    uint64_t ask = a->ask;
    if (!phi_json_is(params, PHI_JSON_OBJECT)) params = NULL;
    bool taken = phi__asked_part(mcp, ask, method, params);
    if (mcp->dead || phi__req_first(mcp, id) == NULL) return false;
    if (taken) return true;
    a = phi__asked_find(mcp, ask);
    if (a != NULL) phi__asked_free(mcp, a);
    (void)snprintf(words, sizeof words, "the server asks for %.*s, which is not offered",
                   (int)phi__min(method.len, 60), method.at);
    phi__asked_refuse(r, PHI_REFUSED, words);
    return true;
}

PHI__FN bool phi__asked_input(phi__req *r, const phi_json *result) {
    const phi_json *questions = phi_json_get(result, "inputRequests");
    phi_mcp *mcp = r->mcp;
    phi__req_off(r);
    /* Removes the deadline. The timer keeps its place in the heap for phi__asked_due. */
    (void)phi__io_timer_set(mcp->rt->io, &r->timer, UINT64_MAX);
    if (r->input.rounds++ >= PHI__ASKED_ROUNDS) {
        phi__req_fail(r, PHI_REFUSED, "the server asked for input more than 16 times");
        return !mcp->dead;
    }
    const phi_json *state = phi_json_get(result, "requestState"); /* sent back unchanged */
    phi__buf_clear(&r->input.state);
    phi__buf_clear(&r->input.answers);
    r->input.pending = 0;
    r->input.status = PHI_OK;
    r->input.due = false;
    if (state != NULL) (void)phi__json_write(&r->input.state, state, 0);
    if (r->input.state.failed) {
        phi__req_fail(r, PHI_NO_MEMORY, "no memory");
        return !mcp->dead;
    }
    r->input.busy = true;
    phi_json_iter it = phi_json_each(phi_json_is(questions, PHI_JSON_OBJECT) ? questions : NULL);
    while (r->input.status == PHI_OK && phi_json_next(&it) != NULL)
        if (!phi__asked_one(r, it.key, it.at)) return !mcp->dead;
    r->input.busy = false;
    if (r->input.due || r->input.pending == 0) phi__asked_due(r);
    return true;
}

/* All answers have arrived: repeats the request, or reports its failure. */
static void phi__asked_repeat(phi__req *r) {
    phi_status status = r->input.status;
    r->input.due = false;
    if (status != PHI_OK) {
        phi__req_fail(r, status, "%s", r->input.message);
        return;
    }
    if (r->task != NULL) {
        phi__tasks_answered(r);
        return;
    }
    phi__buf more = phi__buf_of(&r->mcp->memory);
    if (r->input.answers.len > 0) {
        phi__buf_wrap(&more, "\"inputResponses\":{", phi__buf_str(&r->input.answers), "}");
    }
    if (r->input.state.len > 0) {
        phi__json_write_key(&more, PHI__LIT("requestState"));
        phi__buf_add_str(&more, phi__buf_str(&r->input.state));
    }
    status = more.failed ? PHI_NO_MEMORY : phi__req_repeat(r, phi__buf_str(&more));
    phi__buf_free(&more);
    if (status != PHI_OK) phi__req_fail(r, status, "the input could not be sent");
}

/* True if the question may concern r. A question without a known call concerns all requests of its
   agent. A question about a call also concerns the requests of the call's task. */
static bool phi__asked_holds(const phi__mcp_ask *a, const phi__req *r) {
    phi_agent agent = phi__req_agent(r);
    if (a->request == r) return true;
    if (a->input || a->agent.rt == NULL || agent.rt == NULL) return false;
    if (a->agent.index != agent.index || a->agent.gen != agent.gen) return false;
    return a->request == NULL || phi__req_same_call(a->request->desc.call, r->desc.call);
}

/* Called when the request's timer fires. True if the deadline has not passed. */
static bool phi__asked_late(phi__req *r) {
    if (r->input.due) {
        phi__asked_repeat(r);
        return true;
    }
    /* A person may be thinking about a question that concerns this request. */
    for (phi__link *link = r->mcp->asks.open.first; link != NULL; link = link->next)
        if (phi__asked_holds(PHI__OWNER(link, phi__mcp_ask, link), r))
            return phi__req_renew(r, false) == PHI_OK;
    return false;
}

PHI__FN void phi__incoming_drop(phi__req *r) {
    struct phi__mcp_reading *reading = r->reading;
    phi_mcp *mcp = r->mcp;
    r->reading = NULL;
    phi__slices_end(&reading->slices);
    phi__free(&mcp->memory, reading, sizeof *reading);
}

enum {
    PHI__TASKS_ID = 1024, /* max. bytes of a task's id */
    PHI__TASKS_POLL_MS = 1000,
    PHI__TASKS_POLL_LEAST_MS = 10,
    PHI__TASKS_POLL_MOST_MS = 60000
};

struct phi__task {
    phi__req *request; /* the request that the task answers */
    phi__req *sub;     /* a request about the task, or NULL */
    phi__timer timer;  /* fires at the next poll */
    phi_str id;        /* in the request's arena */
    phi__buf keys;     /* keys of all questions so far; each key follows its length */
    uint32_t poll_ms, polls;
    bool over; /* the task has ended at the server */
};

typedef void (*phi__tasks_done)(void *ctx, const phi_mcp_reply *reply);

/* Sends a request about the task. more: further members of params. */
static void phi__tasks_send(struct phi__task *t, const char *method, phi_str more,
                            phi__tasks_done done) {
    phi__req *r = t->request;
    phi__buf params;
    phi__rpc_open_params(&params, &r->mcp->memory, "taskId", t->id);
    if (more.len > 0) {
        phi__buf_char(&params, ',');
        phi__buf_add_str(&params, more);
    }
    phi__buf_char(&params, '}');
    phi__req_desc desc = PHI_ZERO;
    desc.method = method;
    desc.name = t->id;
    desc.done = done;
    if (done != NULL) {
        desc.call = r->desc.call;
        desc.agent = r->desc.agent;
        desc.ctx = t;
    }
    if (strcmp(method, "tasks/result") == 0) desc.timeout_ms = r->desc.max_timeout_ms;
    phi_status status =
        phi__req_new_buf(r->mcp, &desc, &params, false, done != NULL ? &t->sub : NULL);
    if (status != PHI_OK && done != NULL)
        phi__req_fail(r, status, "the state of the task could not be asked for");
}

/* True if the request about the task has failed; the call then fails, too. */
static bool phi__tasks_failed(struct phi__task *t, const phi_mcp_reply *reply) {
    t->sub = NULL;
    if (reply->status == PHI_OK) return false;
    phi__req_finish(t->request, reply);
    return true;
}

static void phi__tasks_got(void *ctx, const phi_mcp_reply *reply) {
    struct phi__task *t = (struct phi__task *)ctx;
    t->over = true;
    t->sub = NULL;
    phi__req_finish(t->request, reply);
}

static void phi__tasks_updated(void *ctx, const phi_mcp_reply *reply) {
    struct phi__task *t = (struct phi__task *)ctx;
    if (!phi__tasks_failed(t, reply)) phi__tasks_later(t);
}

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

/* Returns an input_required result with the questions whose keys are new. Stops after
   PHI__ASKED_MOST + 1 questions, because that many are refused as a whole. NULL: no memory. */
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

static void phi__tasks_answered(phi__req *r) {
    phi__buf more = phi__buf_of(&r->mcp->memory);
    phi__buf_wrap(&more, "\"inputResponses\":{", phi__buf_str(&r->input.answers), "}");
    r->began_us = phi__io_counted_us(r->mcp->rt->io);
    if (more.failed || phi__req_renew(r, true) != PHI_OK)
        phi__req_fail(r, PHI_NO_MEMORY, "no memory");
    else
        phi__tasks_send(r->task, "tasks/update", phi__buf_str(&more), phi__tasks_updated);
    phi__buf_free(&more);
}

/* Reads the interval between polls. If the task names none, the interval stays as it is. */
static void phi__tasks_read_poll(struct phi__task *t, const phi_json *task) {
    const phi_json *node = phi_json_get(task, "pollIntervalMs");
    double ms = t->poll_ms > 0 ? (double)t->poll_ms : (double)PHI__TASKS_POLL_MS;
    if (node == NULL) node = phi_json_get(task, "pollInterval");
    ms = phi_json_num(node, ms);
    if (!(ms >= (double)PHI__TASKS_POLL_LEAST_MS)) ms = (double)PHI__TASKS_POLL_LEAST_MS;
    if (ms > (double)PHI__TASKS_POLL_MOST_MS) ms = (double)PHI__TASKS_POLL_MOST_MS;
    t->poll_ms = (uint32_t)ms;
}

/* Ends the request with the result or the error that `task`, a task of the extension, holds. */
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
    phi__req_finish(t->request, &reply);
}

static void phi__tasks_look(struct phi__task *t, const phi_json *task) {
    phi_str status = phi__records_get_str(task, "status");
    bool inlined = !t->request->as_task; /* true for a task of the extension */
    bool completed = phi__str_is(status, "completed"), failed = phi__str_is(status, "failed");
    bool asks = phi__str_is(status, "input_required");
    phi__tasks_read_poll(t, task);
    if (phi__str_is(status, "working")) {
        phi__req *r = t->request;
        phi_mcp *mcp = r->mcp;
        uint64_t id = r->first_id;
        phi_str message = phi__records_get_str(task, "statusMessage");
        t->polls++;
        if (message.len > 0 && r->desc.progress != NULL)
            r->desc.progress(r->desc.ctx, t->polls, 0, message);
        if (!mcp->dead && phi__req_first(mcp, id) == r) phi__tasks_later(t);
    } else if (inlined && asks) {
        const phi_json *questions = phi_json_get(task, "inputRequests");
        phi__req *r = t->request;
        size_t count;
        phi_arena arena = phi__arena_of(&r->mcp->memory, 0);
        phi_json *result = phi__tasks_new_input(t, questions, &arena, &count);
        if (result == NULL)
            phi__req_fail(r, PHI_NO_MEMORY, "no memory");
        else if (count == 0)
            phi__tasks_later(t); /* the server has not seen the answers yet */
        else
            (void)phi__asked_input(r, result);
        phi_arena_free(&arena);
    } else if (inlined && (completed || failed))
        phi__tasks_end(t, task, failed);
    else if (completed || failed || asks) /* the server asks while tasks/result waits */
        phi__tasks_send(t, "tasks/result", phi__str("", 0), phi__tasks_got);
    else if (phi__str_is(status, "cancelled")) {
        t->over = true;
        phi__req_fail(t->request, PHI_CANCELLED, "the server has cancelled the task");
    } else {
        phi__req_fail(t->request, PHI_PARSE, "a task in the state \"%.*s\", which is unknown",
                      (int)phi__min(status.len, 40), status.at);
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
    t->timer.fire = phi__tasks_fire;
    if (phi__mcp_timer_in(t->request->mcp->rt->io, &t->timer, t->poll_ms) != PHI_OK)
        phi__req_fail(t->request, PHI_NO_MEMORY, "no memory");
}

/* Frees the task of a request that ends. Cancels the task at the server if it is still running. */
static void phi__tasks_drop(phi__req *r) {
    struct phi__task *t = r->task;
    phi_mcp *mcp = r->mcp;
    const phi_json *caps = phi_json_get(mcp->agreed.capabilities, "tasks");
    phi__io_timer_clear(mcp->rt->io, &t->timer);
    if (t->sub != NULL) phi__req_cancel(t->sub, "not wanted any more");
    if (!t->over && mcp->phase == PHI__LIVE &&
        (!r->as_task || phi_json_get(caps, "cancel") != NULL))
        phi__tasks_send(t, "tasks/cancel", phi__str("", 0), NULL);
    r->task = NULL;
    phi__buf_free(&t->keys);
    phi__free(&mcp->memory, t, sizeof *t);
}

PHI__FN bool phi__tasks_begin(phi__req *r, const phi_json *task) {
    const phi_json *id = phi_json_get(task, "taskId");
    phi_mcp *mcp = r->mcp;
    if (!phi_json_is(id, PHI_JSON_STRING) || phi_json_str(id, "").len > PHI__TASKS_ID) return false;
    struct phi__task *t = (struct phi__task *)phi__alloc(&mcp->memory, sizeof *t);
    if (t != NULL) {
        t->request = r;
        phi__buf_init(&t->keys, &mcp->memory);
        r->task = t;
        r->desc.timeout_ms = r->desc.max_timeout_ms; /* the task may take long and is polled */
    }
    if (t == NULL || !phi__arena_str(&r->arena, phi_json_str(id, ""), &t->id) ||
        phi__req_renew(r, true) != PHI_OK) {
        phi__req_fail(r, PHI_NO_MEMORY, "no memory");
        return true;
    }
    phi__tasks_read_poll(t, task);
    phi__tasks_later(t);
    return true;
}

/* ---- the lifetime of a connection's struct ---- */

/* Events, `done` and parts may free the connection. Before such a call, the functions for links and
   timers call phi__core_enter, which keeps the struct until phi__core_leave. */

PHI__FN void phi__core_enter(phi_mcp *mcp) { mcp->depth++; }

PHI__FN bool phi__core_leave(phi_mcp *mcp) {
    mcp->depth--;
    if (!mcp->dead) return true;
    if (mcp->depth == 0) phi__free(&mcp->rt->memory, mcp, sizeof *mcp);
    return false;
}

/* ---- the event function, and calls of all parts ---- */

enum { PHI__PARTS_WARN_US = 1000000 };

PHI__FN bool phi__parts_tell(phi_mcp *mcp, phi_mcp_event_kind kind, phi_str name, phi_str before,
                             phi_str text) {
    phi_mcp_event event;
    if (mcp->dead) return false;
    if (mcp->desc.event_fn == NULL) return true;
    event.kind = kind;
    event.mcp = mcp;
    event.name = name;
    event.before = before;
    event.text = text;
    mcp->desc.event_fn(mcp->desc.user_data, &event);
    return !mcp->dead;
}

PHI__FN bool phi__parts_warn(phi_mcp *mcp, const char *format, ...) {
    uint64_t now_us = phi__io_now_us(mcp->rt->io);
    char words[400];
    va_list args;
    if (now_us < mcp->warned.next_us) {
        mcp->warned.hidden++;
        return !mcp->dead;
    }
    va_start(args, format);
    int n = vsnprintf(words, sizeof words, format, args);
    va_end(args);
    size_t len = n < 0 ? 0 : phi__min((size_t)n, sizeof words - 1);
    if (mcp->warned.hidden > 0) {
        n = snprintf(words + len, sizeof words - len, " (%u more before it)",
                     (unsigned)mcp->warned.hidden);
        len = n < 0 ? len : phi__min(len + (size_t)n, sizeof words - 1);
    }
    len = phi__words_clean_line(words, len); /* the text may contain bytes from the server */
    mcp->warned.hidden = 0;
    mcp->warned.next_us = now_us + PHI__PARTS_WARN_US;
    return phi__parts_tell(mcp, PHI_MCP_EV_WARNING, phi__str("", 0), phi__str("", 0),
                           phi__str(words, len));
}

PHI__FN bool phi__parts_ready(phi_mcp *mcp) {
    for (size_t i = 0; i < mcp->part_count && !mcp->dead; i++) {
        const phi__joined *p = &mcp->parts[i];
        if (p->table->ready != NULL) p->table->ready(mcp, p->part);
    }
    return !mcp->dead;
}

PHI__FN bool phi__parts_down(phi_mcp *mcp) {
    for (size_t i = 0; i < mcp->part_count; i++) {
        const phi__joined *p = &mcp->parts[i];
        if (p->table->down != NULL) p->table->down(mcp, p->part);
    }
    return !mcp->dead;
}

PHI__FN bool phi__parts_notified(phi_mcp *mcp, phi_str method, const phi_json *params) {
    for (size_t i = 0; i < mcp->part_count && !mcp->dead; i++) {
        const phi__joined *p = &mcp->parts[i];
        if (p->table->notified != NULL && p->table->notified(mcp, p->part, method, params)) break;
    }
    return !mcp->dead;
}

PHI__FN void phi__parts_free(phi_mcp *mcp) {
    while (mcp->part_count > 0) {
        const phi__joined *p = &mcp->parts[--mcp->part_count];
        if (p->table->free != NULL) p->table->free(mcp, p->part);
    }
}

PHI__FN bool phi__parts_held(const phi_mcp *mcp) {
    for (size_t i = 0; i < mcp->part_count; i++)
        if (mcp->parts[i].table->held != NULL && mcp->parts[i].table->held(mcp, mcp->parts[i].part))
            return true;
    return false;
}

/* Declares the extension for tasks, which the session implements without a part. */
static phi_status phi__parts_tasks(phi_arena *arena, phi_json *into) {
    phi_json *extensions = phi_json_get(into, "extensions");
    phi_status status = PHI_OK;
    if (extensions == NULL) {
        extensions = phi_json_new_object(arena);
        status = phi_json_set(arena, into, "extensions", extensions);
    }
    if (status != PHI_OK) return status;
    return phi_json_set(arena, extensions, "io.modelcontextprotocol/tasks",
                        phi_json_new_object(arena));
}

PHI__FN phi_status phi__parts_capabilities(phi_mcp *mcp, phi_arena *arena, phi_str *out) {
    phi_json *into = phi_json_new_object(arena);
    phi_status status = into != NULL ? PHI_OK : PHI_NO_MEMORY;
    for (size_t i = 0; i < mcp->part_count && status == PHI_OK; i++) {
        const phi__joined *p = &mcp->parts[i];
        if (p->table->capabilities != NULL)
            status = p->table->capabilities(mcp, p->part, into, arena);
    }
    if (status == PHI_OK && mcp->agreed.era != NULL &&
        mcp->agreed.era->tasks == PHI__TASKS_EXTENSION)
        status = phi__parts_tasks(arena, into);
    return status == PHI_OK ? phi_json_write(arena, into, 0, out) : status;
}

/* ---- messages to the link; they wait in order while the link is full ---- */

enum { PHI__POST_OWNED = 256 }; /* max. notifications and answers that wait */

static void phi__post_free(phi_mcp *mcp, phi__mcp_item *item) {
    phi__buf_free(&item->json);
    phi__free(&mcp->memory, item, sizeof *item);
}

static phi_status phi__post_now(phi_mcp *mcp, phi__mcp_item *item) {
    phi_status status = mcp->link->table->send(mcp->link, &item->out);
    item->sent = status == PHI_OK;
    return status;
}

static void phi__post_queue(phi_mcp *mcp, phi__mcp_item *item, bool first) {
    item->waits = true;
    if (item->owned) mcp->queue.owned++;
    if (first)
        phi__list_push_first(&mcp->queue.waiting, &item->link);
    else
        phi__list_push(&mcp->queue.waiting, &item->link);
}

/* Sends item->out, or queues it if the link is full. If `first`, the message goes ahead of the
   queued ones. Any failure means that the message is lost. Never returns PHI_FULL. */
static phi_status phi__post_item(phi_mcp *mcp, phi__mcp_item *item, bool first) {
    phi_status status = PHI_FULL;
    if (first || mcp->queue.waiting.first == NULL) status = phi__post_now(mcp, item);
    if (status != PHI_FULL) return status;
    phi__post_queue(mcp, item, first);
    return PHI_OK;
}

/* Removes the item from the queue, if it is there. */
static void phi__post_take(phi_mcp *mcp, phi__mcp_item *item) {
    if (!item->waits) return;
    phi__list_take(&mcp->queue.waiting, &item->link);
    item->waits = false;
    if (item->owned) mcp->queue.owned--;
}

static phi_status phi__post_text(phi_mcp *mcp, phi__buf *json, phi_str method, bool first) {
    phi__mcp_item *item = NULL;
    phi_status status = PHI_NO_MEMORY;
    if (mcp->queue.owned >= PHI__POST_OWNED)
        status = PHI_FULL;
    else if (!json->failed)
        item = (phi__mcp_item *)phi__alloc(&mcp->memory, sizeof *item);
    if (item == NULL) {
        phi__buf_free(json);
        return status;
    }
    item->owned = true;
    item->json = *json;
    item->out.json = phi__buf_str(&item->json);
    item->out.method = method;
    status = phi__post_item(mcp, item, first);
    if (!item->waits) phi__post_free(mcp, item);
    return status;
}

PHI__FN phi_status phi__post_notification(phi_mcp *mcp, const char *method, phi_str params,
                                          bool first) {
    phi__buf json = phi__buf_of(&mcp->memory);
    phi__rpc_notification(&json, method, params);
    return phi__post_text(mcp, &json, phi_str_of(method), first);
}

/* Sends queued messages. If `all` is false, stops at the first request that is not part of the
   handshake. If a request could not be sent, removes its item from the queue, sets *status and
   returns the item. NULL: nothing more can be sent now. */
static phi__mcp_item *phi__post_flush(phi_mcp *mcp, bool all, phi_status *status) {
    while (mcp->queue.waiting.first != NULL) {
        phi__mcp_item *item = PHI__OWNER(mcp->queue.waiting.first, phi__mcp_item, link);
        if (!all && !item->owned && !item->early) return NULL;
        *status = phi__post_now(mcp, item);
        if (*status == PHI_FULL) return NULL;
        phi__post_take(mcp, item);
        if (item->owned)
            phi__post_free(mcp, item);
        else if (*status != PHI_OK)
            return item;
    }
    return NULL;
}

PHI__FN void phi__post_clear(phi_mcp *mcp) {
    phi__link *link = mcp->queue.waiting.first;
    while (link != NULL) {
        phi__mcp_item *item = PHI__OWNER(link, phi__mcp_item, link);
        link = link->next;
        if (!item->owned) continue;
        phi__post_take(mcp, item);
        phi__post_free(mcp, item);
    }
}

enum { PHI__REQUESTS_MOST = 4096 };

static uint64_t phi__req_hash(uint64_t id) { return id * 0x9e3779b97f4a7c15u >> 16; }

PHI__FN phi__req *phi__req_find(const phi_mcp *mcp, uint64_t id) {
    size_t probe = 0;
    phi__req *r;
    do {
        r = (phi__req *)phi__map_each(&mcp->requests.by_id, phi__req_hash(id), &probe);
    } while (r != NULL && r->id != id);
    return r;
}

PHI__FN phi__req *phi__req_first(const phi_mcp *mcp, uint64_t id) {
    for (phi__link *link = mcp->requests.open.first; link != NULL; link = link->next) {
        phi__req *r = PHI__OWNER(link, phi__req, open);
        if (r->first_id == id) return r;
    }
    return NULL;
}

PHI__FN bool phi__req_issued(const phi_mcp *mcp, uint64_t id) {
    return id > 0 && id < mcp->requests.next_id;
}

static phi_agent phi__req_agent(const phi__req *r) {
    return r->desc.agent.rt != NULL ? r->desc.agent : phi__update_info(r->desc.call).agent;
}

static bool phi__req_same_call(phi_call a, phi_call b) {
    return a.rt != NULL && a.rt == b.rt && a.index == b.index && a.gen == b.gen;
}

static phi_agent phi__req_calling(const phi_mcp *mcp, phi__req **only) {
    const phi__req *first = NULL;
    phi_agent agent;
    phi_agent found = PHI_ZERO;
    *only = NULL;
    for (phi__link *link = mcp->requests.open.first; link != NULL; link = link->next) {
        phi__req *r = PHI__OWNER(link, phi__req, open);
        agent = phi__req_agent(r);
        if (agent.rt == NULL) continue;
        if (first == NULL) {
            first = *only = r;
            found = agent;
        } else if (agent.index != found.index || agent.gen != found.gen) {
            memset(&found, 0, sizeof found);
            *only = NULL;
            break;
        } else if (!phi__req_same_call(r->desc.call, first->desc.call))
            *only = NULL;
    }
    return found;
}

PHI__FN phi__req *phi__req_of(phi__out *out) {
    if (out == NULL || !out->request) return NULL;
    phi__mcp_item *item = PHI__OWNER(out, phi__mcp_item, out);
    return PHI__OWNER(item, phi__req, item);
}

static void phi__req_map(phi__req *r) {
    r->id = r->mcp->requests.next_id++;
    r->mapped = true;
    phi__map_add(&r->mcp->requests.by_id, phi__req_hash(r->id), r);
}

/* ---- making and sending requests ---- */

static bool phi__req_copy(phi__req *r, const phi__req_desc *desc) {
    phi__out *out = &r->item.out;
    phi_str members;
    r->desc = *desc;
    out->headers = desc->headers;
    out->header_count = desc->header_count;
    if (!phi__rpc_members(desc->params, &members) ||
        !phi__arena_str(&r->arena, phi_str_of(desc->method), &out->method) ||
        !phi__arena_str(&r->arena, desc->name, &out->name) ||
        !phi__arena_str(&r->arena, members, &r->members) ||
        !phi__arena_str(&r->arena, desc->meta, &r->meta) ||
        !phi__mcp_own_pairs(&r->arena, &out->headers, out->header_count))
        return false;
    r->desc.method = out->method.at;
    r->desc.params = phi__str("", 0);
    if (r->desc.timeout_ms == 0) r->desc.timeout_ms = r->mcp->desc.timeout_ms;
    if (r->desc.max_timeout_ms == 0) r->desc.max_timeout_ms = r->mcp->desc.max_timeout_ms;
    return true;
}

/* Writes the message under the request's newest id. */
static bool phi__req_write(phi__req *r, phi_str more) {
    phi__buf *buf = &r->item.json;
    phi__buf_clear(buf);
    phi__rpc_open_request(buf, r->id, r->item.out.method);
    phi__buf_char(buf, '{');
    phi__rpc_line(buf, r->members);
    if (more.len > 0) {
        phi__json_write_comma(buf);
        phi__rpc_line(buf, more);
    }
    if (r->as_task) {
        phi__json_write_key(buf, PHI__LIT("task"));
        phi__buf_printf(buf, "{\"ttl\":%lu}", (unsigned long)r->desc.max_timeout_ms);
    }
    /* Writes _meta, and removes it again if it has no members. */
    phi__records_raw(buf, "_meta", "{");
    size_t before = buf->len;
    phi__rpc_line(buf, r->meta);
    if (r->desc.progress != NULL) {
        phi__records_u64(buf, "progressToken", r->id);
    }
    if (r->mcp->agreed.meta.len > 0) {
        phi__json_write_comma(buf);
        phi__buf_add_str(buf, r->mcp->agreed.meta);
    }
    if (!buf->failed) {
        if (buf->len > before)
            phi__buf_char(buf, '}');
        else
            buf->len -= sizeof "\"_meta\":{" - 1;
    }
    if (!buf->failed && buf->at[buf->len - 1] == ',') buf->len--;
    phi__buf_text(buf, "}}");
    r->item.out.json = phi__buf_str(buf);
    return !buf->failed;
}

static phi_status phi__req_send(phi__req *r, bool first) {
    r->item.early = r->handshake;
    r->item.out.request = true;
    r->item.out.stream = r->desc.stream;
    r->item.out.of_link = NULL;
    if (r->handshake || phi__core_agreed(r->mcp)) return phi__post_item(r->mcp, &r->item, first);
    phi__post_queue(r->mcp, &r->item, false); /* waits for the next handshake */
    return PHI_OK;
}

/* Tells the server that the answer is not wanted any more. */
static void phi__req_tell(phi__req *r, const char *reason) {
    phi_mcp *mcp = r->mcp;
    const phi__era *era = mcp->agreed.era;
    if (!r->item.sent || r->handshake || !r->mapped || era == NULL) return;
    if (era->cancel_by_stream && mcp->desc.url != NULL) return;
    phi__buf params = phi__buf_of(&mcp->memory);
    phi__buf_printf(&params, "{\"requestId\":%llu,\"reason\":", (unsigned long long)r->id);
    phi__json_write_str(&params, phi_str_of(reason));
    phi__buf_char(&params, '}');
    if (!params.failed)
        (void)phi__post_notification(mcp, "notifications/cancelled", phi__buf_str(&params), false);
    phi__buf_free(&params);
}

static void phi__req_late(phi__timer *timer) {
    phi__req *r = PHI__OWNER(timer, phi__req, timer);
    phi_mcp *mcp = r->mcp;
    phi__core_enter(mcp);
    if (mcp->life.waits)
        (void)phi__req_renew(r, false);
    else if (!phi__asked_late(r)) {
        uint64_t ms = (phi__io_counted_us(mcp->rt->io) - r->began_us) / 1000;
        phi__req_tell(r, "timed out");
        phi__req_fail(r, PHI_TIMEOUT, "no answer within %llu ms", (unsigned long long)ms);
    }
    (void)phi__core_leave(mcp);
}

PHI__FN phi_status phi__req_renew(phi__req *r, bool bounded) {
    phi__io *io = r->mcp->rt->io;
    uint64_t after_us = UINT64_MAX;
    if (!r->desc.stream) {
        uint64_t most_us = phi__core_after_ms(r->began_us, r->desc.max_timeout_ms);
        uint64_t now_us = phi__io_counted_us(io);
        uint64_t at_us = phi__core_after_ms(now_us, r->desc.timeout_ms);
        if (bounded && at_us > most_us) at_us = most_us;
        if (at_us != UINT64_MAX) after_us = at_us > now_us ? at_us - now_us : 0;
    }
    r->timer.fire = phi__req_late;
    return phi__io_deadline_set(io, &r->timer, after_us);
}

/* ---- ends of requests ---- */

static void phi__req_destroy(phi__req *r) {
    phi_memory *memory = &r->mcp->memory;
    phi__buf_free(&r->item.json);
    phi__buf_free(&r->input.answers);
    phi__buf_free(&r->input.state);
    phi_arena_free(&r->arena);
    phi__free(memory, r, sizeof *r);
}

PHI__FN void phi__req_off(phi__req *r) {
    phi_mcp *mcp = r->mcp;
    if (r->item.out.of_link != NULL && mcp->life.link_open)
        mcp->link->table->forget(mcp->link, &r->item.out);
    r->item.out.of_link = NULL;
    if (r->mapped) phi__map_drop(&r->mcp->requests.by_id, phi__req_hash(r->id), r);
    r->mapped = false;
    phi__post_take(mcp, &r->item);
    r->item.sent = false;
}

/* Removes the request from all lists and from the link. */
static void phi__req_detach(phi__req *r) {
    phi_mcp *mcp = r->mcp;
    phi__req_off(r);
    phi__io_timer_clear(mcp->rt->io, &r->timer);
    phi__list_take(&mcp->requests.open, &r->open);
    mcp->requests.count--;
    if (r->task != NULL) phi__tasks_drop(r);
    if (r->reading != NULL) phi__incoming_drop(r);
    phi__asked_unask_of(mcp, r);
}

PHI__FN void phi__req_finish(phi__req *r, const phi_mcp_reply *reply) {
    phi_mcp *mcp = r->mcp;
    phi__core_enter(mcp);
    phi__req_detach(r);
    if (r->desc.done != NULL) r->desc.done(r->desc.ctx, reply);
    phi__req_destroy(r);
    (void)phi__core_leave(mcp);
}

PHI__FN void phi__req_fail(phi__req *r, phi_status status, const char *format, ...) {
    phi_mcp_reply reply = PHI_ZERO;
    char words[400];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(words, sizeof words, format, args);
    va_end(args);
    reply.status = status;
    reply.message = phi_str_of(words);
    phi__req_finish(r, &reply);
}

PHI__FN bool phi__req_fail_all(phi_mcp *mcp, phi_status status, const char *message,
                               bool sent_only) {
    uint64_t before = mcp->requests.next_id;
    phi__link *link = mcp->requests.open.first;
    while (link != NULL) {
        phi__req *r = PHI__OWNER(link, phi__req, open);
        link = link->next;
        if (r->first_id >= before || (sent_only && !r->item.sent)) continue;
        phi__req_fail(r, status, "%s", message);
        if (mcp->dead) return false;
        link = mcp->requests.open.first; /* `done` may have cancelled any request */
    }
    return true;
}

PHI__FN void phi__req_cancel(phi__req *r, const char *reason) {
    phi__req_tell(r, reason);
    phi__req_detach(r);
    phi__req_destroy(r);
}

PHI__FN phi_status phi__req_new(phi_mcp *mcp, const phi__req_desc *desc, bool handshake,
                                phi__req **out) {
    const phi__era *era = mcp->agreed.era;
    phi_str members;
    if (out != NULL) *out = NULL;
    if (mcp->requests.count >= PHI__REQUESTS_MOST) return PHI_FULL;
    if (!phi__rpc_members(desc->params, &members)) return PHI_BAD_ARG;
    if (!phi__map_room(&mcp->requests.by_id)) return PHI_NO_MEMORY;
    phi__req *r = (phi__req *)phi__alloc(&mcp->memory, sizeof *r);
    if (r == NULL) return PHI_NO_MEMORY;
    r->mcp = mcp;
    r->handshake = handshake;
    r->as_task = desc->task && era != NULL && era->tasks == PHI__TASKS_ASKED &&
                 phi_json_path(mcp->agreed.capabilities, "tasks.requests.tools.call") != NULL;
    r->began_us = phi__io_counted_us(mcp->rt->io);
    phi_arena_init(&r->arena, &mcp->memory, 256);
    phi__buf_init(&r->item.json, &mcp->memory);
    phi__buf_init(&r->input.answers, &mcp->memory);
    phi__buf_init(&r->input.state, &mcp->memory);
    phi__list_push(&mcp->requests.open, &r->open);
    mcp->requests.count++;
    phi__req_map(r);
    r->first_id = r->id;
    phi_status status = PHI_NO_MEMORY;
    if (phi__req_copy(r, desc) && phi__req_write(r, phi__str("", 0)) &&
        phi__req_renew(r, true) == PHI_OK)
        status = phi__req_send(r, handshake);
    if (status != PHI_OK) {
        phi__req_detach(r);
        phi__req_destroy(r);
    } else if (out != NULL)
        *out = r;
    return status;
}

PHI__FN phi_status phi__req_new_buf(phi_mcp *mcp, phi__req_desc *desc, phi__buf *params,
                                    bool handshake, phi__req **out) {
    desc->params = phi__buf_str(params);
    phi_status status = params->failed ? PHI_NO_MEMORY : phi__req_new(mcp, desc, handshake, out);
    phi__buf_free(params);
    return status;
}

static phi_status phi__req_repeat(phi__req *r, phi_str members) {
    phi__req_off(r);
    if (!phi__map_room(&r->mcp->requests.by_id)) return PHI_NO_MEMORY;
    phi__req_map(r);
    r->began_us = phi__io_counted_us(r->mcp->rt->io);
    if (!phi__req_write(r, members)) return PHI_NO_MEMORY;
    phi_status status = phi__req_renew(r, true);
    return status == PHI_OK ? phi__req_send(r, false) : status;
}

PHI__FN void phi__req_again(phi__req *r) {
    phi__post_take(r->mcp, &r->item);
    r->item.sent = false;
    phi__post_queue(r->mcp, &r->item, false);
}

PHI__FN void phi__req_progress(phi_mcp *mcp, const phi_json *params) {
    const phi_json *token = phi_json_get(params, "progressToken");
    phi_str text = phi_json_str(token, "");
    uint64_t id = phi__json_get_uint(token, 0);
    if (phi_json_is(token, PHI_JSON_STRING) && !phi__str_to_u64(text, &id)) return;
    phi__req *r = phi__req_find(mcp, id);
    if (r == NULL || r->desc.progress == NULL) return;
    (void)phi__req_renew(r, true);
    r->desc.progress(r->desc.ctx, phi_json_num(phi_json_get(params, "progress"), 0),
                     phi_json_num(phi_json_get(params, "total"), 0),
                     phi__records_get_str(params, "message"));
}

PHI__FN bool phi__req_flush(phi_mcp *mcp, bool all) {
    phi_status status = PHI_OK;
    phi__mcp_item *item;
    while (!mcp->dead && (item = phi__post_flush(mcp, all, &status)) != NULL) {
        phi__req *r = PHI__OWNER(item, phi__req, item);
        phi__req_fail(r, status, "the message could not be sent");
    }
    return !mcp->dead;
}
