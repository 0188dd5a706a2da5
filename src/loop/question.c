/* question.c - questions of rooms above the loop to the host of an agent.

   A question has a decision of hooks.c, and is due whenever there is something to do: to call the
   hook, to call it again, to report the answer. Then its agent's timer fires, and serves those that
   are due, the oldest first. So everything of the host's and of the asker's is called from
   phi_step, but for agents that are freed. The timer keeps its place among the timers, so that
   being due never needs memory. */
#include "base/words_in.h"
#include "loop/loop_in.h"

struct phi__question {
    phi__link link; /* of its agent's */
    phi__agent *agent;
    phi_call call; /* where `of_call` */
    bool of_call;
    bool due;
    bool asking; /* its hook is being called: it cannot be freed now */
    bool closed; /* ... and the asker has withdrawn it meanwhile */
    bool over;   /* its call is */
    bool freed;  /* its agent is, and it is in no list */
    phi__asked asked;
    phi__decision decision;
    uint32_t timeout_ms;
    void (*decided)(void *ctx, phi_verdict verdict, phi_str reply);
    void *ctx;
    size_t bytes; /* of this, and of the strings behind it */
};

static void phi__question_due(phi__question *q) {
    phi__io *io = q->agent->rt->io;
    q->due = true;
    /* it has a place */
    (void)phi__io_timer_set(io, &q->agent->questions->timer, phi__io_now_us(io));
}

static void phi__question_settled(phi__decision *decision) {
    phi__question_due(PHI__OWNER(decision, phi__question, decision));
}

/* ---- its end ---- */

static void phi__question_unlist(phi__question *q) {
    phi__questions *questions = q->agent->questions;
    if (q->freed) return;
    phi__list_take(&questions->list, &q->link);
    if (--questions->count == 0) phi__io_timer_clear(q->agent->rt->io, &questions->timer);
}

static void phi__question_free(phi__question *q) {
    phi__question_unlist(q);
    phi__hooks_decision_drop(&q->decision);
    phi__free(&q->agent->memory, q, q->bytes);
}

/* The reply may be that of the question's decision. The agent's memory stays until the step's
   end. */
static void phi__question_conclude(phi__question *q, phi_verdict verdict, phi_str reply) {
    void (*decided)(void *ctx, phi_verdict verdict, phi_str reply) = q->decided;
    void *ctx = q->ctx;
    phi__buf kept = q->decision.reply;
    phi__buf_init(&q->decision.reply, &q->agent->memory);
    phi__question_free(q);
    decided(ctx, verdict, reply);
    phi__buf_free(&kept);
}

static phi_str phi__question_over_words(void) {
    return PHI__LIT("The tool call that led to the question is over.");
}

/* ---- asking ---- */

static phi_hook phi__question_hook(const phi__question *q) {
    const phi__agent *agent = q->agent;
    phi_hook hook = phi__hooks_make_of(agent, PHI_HOOK_QUESTION);
    hook.source = q->asked.source;
    hook.question_kind = q->asked.kind;
    hook.text = q->asked.text;
    hook.arguments = q->asked.arguments;
    hook.timeout_ms = q->timeout_ms;
    if (hook.timeout_ms == 0 && q->of_call) hook.timeout_ms = agent->run->own.waits_ms;
    if (q->of_call) {
        hook.call = q->call;
        hook.tool_name = q->decision.call->block->name;
        hook.tool_call_id = q->decision.call->block->id;
    }
    return hook;
}

static void phi__question_hooked(phi__question *q, phi__hooked hooked) {
    switch (hooked) {
    case PHI__HOOK_WAIT: return;
    case PHI__HOOK_ALLOW:
    case PHI__HOOK_WARN:
        phi__question_conclude(q, PHI_ALLOW, phi__buf_str(&q->decision.reply));
        return;
    case PHI__HOOK_DENY:
        phi__question_conclude(q, q->decision.late ? PHI_WAIT : PHI_DENY,
                               phi__buf_str(&q->decision.reply));
        return;
    case PHI__HOOK_GONE:
        phi__question_conclude(q, PHI_WAIT, PHI__LIT("The agent was freed."));
        return;
    case PHI__HOOK_LOST: break;
    }
    phi__question_conclude(q, PHI_WAIT, PHI__LIT("Out of memory"));
}

static void phi__question_serve(phi__question *q) {
    phi__agent *agent = q->agent;
    phi__hooked hooked = PHI__HOOK_DENY;
    q->due = false;
    if (!q->over && phi__hooks_wanted(agent, PHI_HOOK_QUESTION)) {
        phi_hook hook = phi__question_hook(q);
        q->asking = true;
        hooked = phi__hooks_decide(&q->decision, &hook, agent->desc.hook_fn,
                                   phi__hooks_user_data(agent));
        q->asking = false;
    }
    if (q->closed)
        phi__question_free(q);
    else if (q->over && agent->slot != NULL)
        phi__question_conclude(q, PHI_WAIT, phi__question_over_words());
    else
        phi__question_hooked(q, hooked);
}

/* As many as are open now: those that come meanwhile are due in the next step. */
static void phi__question_fire(phi__timer *timer) {
    phi__questions *questions = PHI__OWNER(timer, phi__questions, timer);
    phi__agent *agent = questions->agent;
    size_t left = questions->count;
    /* its place was given back just now */
    (void)phi__io_timer_set(agent->rt->io, timer, UINT64_MAX);
    while (left-- > 0 && agent->slot != NULL) {
        phi__link *link = questions->list.first;
        while (link != NULL && !PHI__OWNER(link, phi__question, link)->due) link = link->next;
        if (link == NULL) return;
        phi__question_serve(PHI__OWNER(link, phi__question, link));
    }
}

/* ---- what others do ---- */

PHI__FN void phi__question_call_over(const phi__toolcall *call) {
    phi__link *link = call->run->agent->questions->list.first;
    for (; link != NULL; link = link->next) {
        phi__question *q = PHI__OWNER(link, phi__question, link);
        if (!q->of_call || q->call.index != call->index || q->call.gen != call->gen) continue;
        q->over = true;
        q->of_call = false;
        q->decision.call = NULL; /* it may go before the question does */
        if (!q->asking) phi__hooks_decision_drop(&q->decision);
        phi__question_due(q);
    }
}

PHI__FN void phi__question_drop_all(phi__agent *agent) {
    while (agent->questions->list.first != NULL) {
        phi__question *q = PHI__OWNER(agent->questions->list.first, phi__question, link);
        if (!q->asking) {
            phi__question_conclude(q, PHI_WAIT, PHI__LIT("The agent was freed."));
            continue;
        }
        phi__question_unlist(q);
        q->freed = true;
    }
}

PHI__FN const phi__decision *phi__question_waiting(const phi__link *link) {
    const phi__question *q = PHI__OWNER(link, const phi__question, link);
    return q->decision.state == PHI__DECISION_WAITS ? &q->decision : NULL;
}

/* ---- opening and closing ---- */

static phi_str phi__question_copy(char **at, phi_str text) {
    char *to = *at;
    if (text.len > 0) memcpy(to, text.at, text.len);
    to[text.len] = '\0';
    *at = to + text.len + 1;
    return phi__str(to, text.len);
}

/* A person reads it, on a terminal perhaps, and somebody outside wrote it. */
static phi_str phi__question_words(char **at, phi_str text) {
    char *copy = *at;
    size_t len;
    (void)phi__question_copy(at, text);
    len = phi__words_clean(copy, text.len);
    copy[len] = '\0';
    return phi__str(copy, len);
}

static phi__question *phi__question_make(phi__agent *agent, const phi__question_desc *desc) {
    size_t bytes = phi__add(sizeof(phi__question) + 4,
                            phi__add(phi__add(desc->source.len, desc->kind.len),
                                     phi__add(desc->text.len, desc->arguments.len)));
    phi__question *q = (phi__question *)phi__alloc(&agent->memory, bytes);
    char *at;
    if (q == NULL) return NULL;
    at = (char *)(q + 1);
    q->agent = agent;
    q->bytes = bytes;
    q->asked.source = phi__question_words(&at, desc->source);
    q->asked.kind = phi__question_copy(&at, desc->kind);
    q->asked.text = phi__question_words(&at, desc->text);
    q->asked.arguments = phi__question_copy(&at, desc->arguments);
    q->timeout_ms = desc->timeout_ms;
    q->decided = desc->decided;
    q->ctx = desc->ctx;
    return q;
}

/* As phi__call_find, whose file looks for questions itself. */
static phi__toolcall *phi__question_call(phi_call call) {
    phi__slot *slot =
        call.rt != NULL ? phi__slots_find(&call.rt->calls, call.index, call.gen) : NULL;
    return slot != NULL ? (phi__toolcall *)slot->object : NULL;
}

/* The list of an agent's questions begins with its first one, and stays. */
static bool phi__question_list(phi__agent *agent) {
    if (agent->questions != NULL) return true;
    agent->questions = (phi__questions *)phi__alloc(&agent->memory, sizeof *agent->questions);
    if (agent->questions == NULL) return false;
    agent->questions->agent = agent;
    agent->questions->timer.fire = phi__question_fire;
    return true;
}

PHI__FN phi_status phi__question_open(phi_agent handle, const phi__question_desc *desc,
                                      phi__question **out) {
    phi__agent *agent = phi__find_agent(handle);
    phi__toolcall *call = phi__question_call(desc->call);
    phi__question *q;
    if (agent == NULL || (desc->call.rt != NULL && (call == NULL || call->run->agent != agent)))
        return PHI_STALE;
    if (agent->rt->closing) return PHI_MISUSE;
    if (!phi__question_list(agent)) return PHI_NO_MEMORY;
    if (agent->questions->count >= PHI__QUESTION_MOST) return PHI_FULL;
    q = phi__question_make(agent, desc);
    if (q == NULL) return PHI_NO_MEMORY;
    if (phi__io_timer_set(agent->rt->io, &agent->questions->timer, phi__io_now_us(agent->rt->io)) !=
        PHI_OK) {
        phi__free(&agent->memory, q, q->bytes);
        return PHI_NO_MEMORY;
    }
    q->due = true;
    phi__hooks_decision_asked(&q->decision, agent, call, &q->asked, phi__question_settled);
    q->of_call = call != NULL;
    q->call = desc->call;
    phi__list_push(&agent->questions->list, &q->link);
    agent->questions->count++;
    *out = q;
    return PHI_OK;
}

PHI__FN void phi__question_close(phi__question *q) {
    if (q == NULL) return;
    if (q->asking)
        q->closed = true;
    else
        phi__question_free(q);
}
