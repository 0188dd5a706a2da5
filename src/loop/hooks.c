/* hooks.c - calls the host's hooks. A hook answers at once, or makes the run wait for a decision.

   A ticket has its own slot, as a tool call has. The first to move the slot's word from OPEN to
   CLAIMED decides: another thread, the deadline or the end of the run. The decision is a member of
   the run or call and is freed with it, whatever happens during the hook. */
#include "loop/inner_in.h"

struct phi__question {
    phi__link link; /* link in the list of its agent's questions */
    phi__agent *agent;
    phi_call call; /* set if `of_call` */
    bool of_call;
    bool due;
    bool asking; /* the hook is running: the question must not be freed now */
    bool closed; /* withdrawn while the hook was running */
    bool over;   /* the call that led to the question is over */
    bool freed;  /* the agent was freed; the question is in no list */
    phi__asked asked;
    phi__decision decision;
    uint32_t timeout_ms;
    void (*decided)(void *ctx, phi_verdict verdict, phi_str reply);
    void *ctx;
    size_t bytes; /* size of the struct and the strings after it */
};

PHI__FN void phi__decision_init(phi__decision *d, phi__agent *agent, phi__run *run,
                                phi__toolcall *call) {
    memset(d, 0, sizeof *d);
    d->rt = agent->rt;
    d->agent = agent;
    d->run = run;
    d->call = call;
    phi__buf_init(&d->reply, &agent->memory);
}

/* Moves an open ticket to another state. False: the ticket is stale or decided, or the ticket is
   held and the verdict is not a denial. */
static bool phi__hooks_claim(phi__slots *tickets, uint32_t index, uint32_t gen, phi_verdict verdict,
                             uint32_t state) {
    return phi__slots_move(tickets, index, gen, PHI__TICKET_OPEN, state) ||
           (verdict == PHI_DENY && phi__slots_move(tickets, index, gen, PHI__TICKET_HELD, state));
}

static phi_ticket phi__decision_ticket(const phi__decision *d) {
    phi_ticket ticket;
    ticket.rt = d->rt;
    ticket.index = d->index;
    ticket.gen = d->gen;
    return ticket;
}

static void phi__decision_close(phi__decision *d) {
    if (PHI_NEVER(d->rt == NULL)) return;
    phi__io_timer_clear(d->rt->io, &d->timer);
    if (d->slot != NULL) phi__slots_release(&d->rt->tickets, d->slot);
    d->slot = NULL;
    if (d->over != NULL) {
        void (*over)(void *) = d->over;
        d->over = NULL;
        over(d->over_ctx);
    }
}

PHI__FN void phi__decision_drop(phi__decision *d) {
    if (d->rt == NULL) return; /* the decision was never used */
    phi__decision_close(d);
    d->state = PHI__DECISION_NONE;
    phi__buf_free(&d->reply);
}

/* Returns the verdict that applies: only a filter can warn. */
static phi_verdict phi__hooks_verdict(phi_hook_point point, phi_verdict verdict) {
    return verdict == PHI_WARN && point != PHI_HOOK_FILTER ? PHI_ALLOW : verdict;
}

static void phi__decision_settle(phi__decision *d, phi_verdict verdict, phi_str reply) {
    /* keep the hook's own reply unless there is a new one */
    bool again = d->round > 0 || d->ask_again;
    if (!again || verdict != PHI_ALLOW || reply.len > 0) {
        phi__buf_clear(&d->reply);
        phi__buf_add_str(&d->reply, reply);
    }
    phi__decision_close(d); /* this may free the reply */
    d->state = PHI__DECISION_MADE;
    d->verdict = phi__hooks_verdict(d->point, verdict);
    if (d->run != NULL)
        phi__schedule_wake(d->run);
    else
        d->settled(d);
}

static void phi__decision_timer(phi__timer *timer) {
    /* At the points that can be denied, a missed deadline denies. */
    const uint32_t can_deny = (uint32_t)PHI_HOOK_BEFORE_LOOP | PHI_HOOK_BEFORE_TURN |
                              PHI_HOOK_BEFORE_COMPACTION | PHI_HOOK_BEFORE_TOOL | PHI_HOOK_FILTER |
                              PHI_HOOK_CREDENTIAL | PHI_HOOK_STEERING | PHI_HOOK_FOLLOW_UP |
                              PHI_HOOK_QUESTION;
    phi__decision *d = PHI__OWNER(timer, phi__decision, timer);
    if (!phi__hooks_claim(&d->rt->tickets, d->index, d->gen, PHI_DENY, PHI__TICKET_CLAIMED))
        return; /* a decision is on its way */
    d->late = true;
    phi__texts_args args = PHI_ZERO;
    args.n = d->timeout_ms;
    phi__buf words;
    phi__buf_init(&words, &d->rt->memory);
    bool deny = ((uint32_t)d->point & can_deny) != 0;
    if (deny) phi__texts_put(&words, d->agent->desc.texts, PHI_TEXT_RESULT_UNDECIDED, &args);
    phi__decision_settle(d, deny ? PHI_DENY : PHI_ALLOW, phi__buf_str(&words));
    phi__buf_free(&words);
}

/* Returns the call's arguments for the decision. The previous round may have changed them. */
static phi_str phi__hooks_arguments(const phi__decision *d) {
    return d->round > 0 && d->point == PHI_HOOK_BEFORE_TOOL && d->reply.len > 0
               ? phi__buf_str(&d->reply)
               : d->call->arguments;
}

static bool phi__decision_wait(phi__decision *d, const phi_hook *hook) {
    uint32_t most = d->run != NULL ? d->run->own.waits_ms : d->agent->desc.deadlines.decision_ms;
    uint64_t after = UINT64_MAX;
    d->state = PHI__DECISION_WAITS;
    d->ask_again = hook->ask_again;
    d->quiet = hook->quiet;
    d->permissions = hook->permissions;
    d->waited = hook->waited;
    d->timer.fire = phi__decision_timer;
    d->timeout_ms = hook->timeout_ms != 0 ? hook->timeout_ms : most;
    if (d->timeout_ms != PHI_UNLIMITED) after = (uint64_t)d->timeout_ms * 1000;
    if (phi__io_deadline_set(d->rt->io, &d->timer, after) != PHI_OK) return false;
    if (hook->quiet) return true;
    phi_event event = PHI_ZERO;
    event.kind = PHI_EV_DECISION;
    event.ticket = phi__decision_ticket(d);
    event.point = (int)d->point;
    event.text = hook->text;
    event.input = hook->input;
    if (d->call != NULL) {
        event.call = hook->call;
        event.tool_call_id = d->call->block->id;
        event.tool_name = d->call->block->name;
        event.arguments = phi__hooks_arguments(d);
    }
    if (d->asked != NULL) {
        event.source = d->asked->source;
        event.question_kind = d->asked->kind;
        event.text = d->asked->text;
        event.arguments = d->asked->arguments;
        return phi__events_emit_asked(d->agent, &event);
    }
    return phi__events_emit(d->agent, &event);
}

/* ---- calling the host ---- */

PHI__FN bool phi__hooks_wanted(const phi__agent *agent, phi_hook_point point) {
    return agent->desc.hook_fn != NULL && (agent->desc.hook_points & (uint32_t)point) != 0;
}

PHI__FN void *phi__hooks_user_data(const phi__agent *agent) {
    return agent->desc.hook_user_data != NULL ? agent->desc.hook_user_data : agent->desc.user_data;
}

PHI__FN phi_hook phi__hooks_make(const phi__run *run, phi_hook_point point) {
    phi_hook hook = PHI_ZERO;
    hook.point = point;
    hook.agent = phi__find_seen(run->agent);
    hook.seq = run->agent->rt->events.seq;
    hook.loop_id = run->loop_id;
    hook.turn_index = run->turn.index;
    hook.message_count = run->agent->thread->messages.count;
    return hook;
}

/* Calls the hook. `again`: the decision was made, and only the hook's list is needed. */
static phi__hooked phi__hooks_decide_now(phi__decision *d, phi_hook *hook, phi_hook_fn fn,
                                         void *user_data, bool again) {
    phi__agent *agent = d->agent;
    if (d->round == 0) phi__buf_clear(&d->reply);
    d->slot = phi__slots_take(&d->rt->tickets, PHI__TICKET_OPEN, d);
    if (d->slot == NULL) return PHI__HOOK_LOST;
    d->index = d->slot->index;
    d->gen = phi__slots_gen_of(PHI__LOAD(&d->slot->word));
    d->late = false;
    d->point = hook->point;
    hook->ticket = phi__decision_ticket(d);
    hook->decided = again;
    phi__buf before = d->reply; /* the last round's reply, which the hook may return again */
    if (d->round > 0) {
        phi__buf_init(&d->reply, before.memory);
        hook->round = d->round;
        hook->waited = d->waited;
        if (before.len > 0) hook->reply = phi__buf_str(&before);
    }
    /* use d->point, because the hook may have changed hook->point */
    phi_verdict verdict = phi__hooks_verdict(d->point, fn(user_data, hook));
    bool gone = agent->slot == NULL;
    if (!gone && hook->reply.at != NULL) phi__buf_add_str(&d->reply, hook->reply);
    if (d->round > 0) phi__buf_free(&before);
    phi__hooked outcome = gone ? PHI__HOOK_GONE : d->reply.failed ? PHI__HOOK_LOST : PHI__HOOK_WAIT;
    if (outcome == PHI__HOOK_WAIT && (verdict != PHI_WAIT || again)) {
        phi__decision_close(d);
        if (verdict == PHI_WARN) return PHI__HOOK_WARN;
        if (verdict == PHI_ALLOW || verdict == PHI_WAIT) return PHI__HOOK_ALLOW;
        return PHI__HOOK_DENY; /* an invalid verdict denies, too */
    }
    if (outcome == PHI__HOOK_WAIT) {
        if (phi__decision_wait(d, hook)) return PHI__HOOK_WAIT;
        outcome = PHI__HOOK_LOST;
    }
    phi__decision_drop(d);
    return outcome;
}

PHI__FN phi__hooked phi__hooks_decide(phi__decision *d, phi_hook *hook, phi_hook_fn fn,
                                      void *user_data) {
    if (d->state == PHI__DECISION_WAITS) return PHI__HOOK_WAIT;
    if (d->state == PHI__DECISION_NONE) {
        d->round = d->waited = 0;
        return phi__hooks_decide_now(d, hook, fn, user_data, false);
    }
    d->state = PHI__DECISION_NONE;
    if (d->reply.failed) return PHI__HOOK_LOST;
    if (d->verdict == PHI_ALLOW && d->ask_again) {
        d->round++;
        return phi__hooks_decide_now(d, hook, fn, user_data, false);
    }
    if (d->verdict == PHI_ALLOW &&
        (hook->point == PHI_HOOK_TRANSFORM_CONTEXT || hook->point == PHI_HOOK_CONVERT_TO_LLM))
        return phi__hooks_decide_now(d, hook, fn, user_data, true);
    return (phi__hooked)d->verdict;
}

/* Calls the agent's hook, except for a run that lacks memory, which could not wait for a
   decision. */
static phi__hooked phi__hooks_agent(phi__decision *d, phi_hook *hook) {
    phi__agent *agent = d->run->agent;
    if (!phi__hooks_wanted(agent, hook->point) || d->run->status == PHI_NO_MEMORY) {
        phi__buf_clear(&d->reply);
        return PHI__HOOK_ALLOW;
    }
    return phi__hooks_decide(d, hook, agent->desc.hook_fn, phi__hooks_user_data(agent));
}

PHI__FN phi__hooked phi__hooks_run(phi__run *run, phi_hook *hook) {
    return phi__hooks_agent(&run->decision, hook);
}

PHI__FN phi__hooked phi__hooks_call(phi__toolcall *call, phi_hook *hook) {
    hook->call = phi__call_handle(call);
    hook->tool_name = call->block->name;
    hook->tool_call_id = call->block->id;
    hook->arguments = call->arguments;
    hook->needs_approval = call->tool != NULL && call->tool->needs_approval;
    return phi__hooks_agent(&call->decision, hook);
}

/* ---- decisions from other threads ---- */

PHI__FN void phi__decision_posted(phi_runtime *rt, const phi__post *post) {
    phi__slot *slot = phi__slots_find(&rt->tickets, post->index, post->gen);
    if (slot == NULL) return; /* the wait is already over */
    phi__decision_settle((phi__decision *)slot->object, (phi_verdict)post->flag, post->text);
}

PHI__FN void phi__decision_marked(phi_runtime *rt, uint32_t index) {
    phi__slot *slot = phi__slots_at(&rt->tickets, index);
    uint32_t state = phi__slots_state_of(PHI__LOAD(&slot->word));
    if ((state & PHI__TICKET_SAID) == 0) return; /* the wait is already over */
    phi__decision_settle((phi__decision *)slot->object,
                         (phi_verdict)(state & ~(uint32_t)PHI__TICKET_SAID), phi__str(NULL, 0));
}

static phi__decision *phi__hooks_ticket(phi_ticket ticket) {
    phi__slot *slot = phi__slots_find(&ticket.rt->tickets, ticket.index, ticket.gen);
    return slot != NULL ? (phi__decision *)slot->object : NULL;
}

PHI__FN bool phi__hooks_watch(phi_ticket ticket, void (*over)(void *ctx), void *ctx) {
    phi__decision *d = phi__hooks_ticket(ticket);
    if (d == NULL || d->over != NULL) return false;
    d->over = over;
    d->over_ctx = ctx;
    return true;
}

PHI__FN void phi__hooks_unwatch(phi_ticket ticket) {
    phi__decision *d = phi__hooks_ticket(ticket);
    if (d != NULL) d->over = NULL;
}

PHI__FN void phi__hooks_hold(phi_ticket ticket) {
    (void)phi__slots_move(&ticket.rt->tickets, ticket.index, ticket.gen, PHI__TICKET_OPEN,
                          PHI__TICKET_HELD);
}

PHI__FN void phi__hooks_settle(phi_ticket ticket, phi_verdict verdict, phi_str reply) {
    phi__decision *d = phi__hooks_ticket(ticket);
    if (d != NULL && phi__hooks_claim(&ticket.rt->tickets, ticket.index, ticket.gen, PHI_DENY,
                                      PHI__TICKET_CLAIMED))
        phi__decision_settle(d, verdict, reply);
}

/* ---- outcomes ---- */

PHI__FN phi__state phi__hooks_next(phi__run *run, phi__hooked hooked, phi__state here,
                                   phi__state next, phi__state denied, bool *wait) {
    switch (hooked) {
    case PHI__HOOK_ALLOW:
    case PHI__HOOK_WARN: return next;
    case PHI__HOOK_DENY: return denied;
    case PHI__HOOK_WAIT:
        if (run->end.cancelled) { /* a cancelled run does not wait */
            phi__decision_drop(&run->decision);
            return denied;
        }
        *wait = true;
        return here;
    case PHI__HOOK_GONE: return PHI__RUN_OVER;
    case PHI__HOOK_LOST: break;
    }
    return PHI__RUN_LOST;
}

PHI_API phi_status phi_decide(phi_ticket ticket, phi_verdict verdict, const char *reply) {
    struct phi__inbox_record *record = NULL;
    if (ticket.rt == NULL || (verdict != PHI_ALLOW && verdict != PHI_DENY && verdict != PHI_WARN))
        return PHI_BAD_ARG;
    phi__slots *tickets = &ticket.rt->tickets;
    if (reply == NULL || reply[0] == '\0') {
        /* A decision without a text is stored in the ticket's word: it needs no room in the
           inbox. */
        if (!phi__hooks_claim(tickets, ticket.index, ticket.gen, verdict,
                              (uint32_t)PHI__TICKET_SAID | (uint32_t)verdict))
            return phi__slots_state(tickets, ticket.index, ticket.gen) == PHI__TICKET_HELD
                       ? PHI_MISUSE
                       : PHI_STALE;
        phi__slots_mark(tickets, ticket.index);
        phi__io_wake(ticket.rt->io);
        return PHI_OK;
    }
    uint32_t state = phi__slots_state(tickets, ticket.index, ticket.gen);
    if (state != PHI__TICKET_OPEN && (state != PHI__TICKET_HELD || verdict != PHI_DENY))
        return state == PHI__TICKET_HELD ? PHI_MISUSE : PHI_STALE;
    phi__post post = PHI_ZERO;
    post.kind = PHI__POST_DECIDE;
    post.index = ticket.index;
    post.gen = ticket.gen;
    post.flag = (uint32_t)verdict;
    post.text = phi_str_of(reply);
    phi_status status = phi__inbox_prepare(&ticket.rt->inbox, &post, &record);
    if (status != PHI_OK) return status;
    bool won = phi__hooks_claim(tickets, ticket.index, ticket.gen, verdict, PHI__TICKET_CLAIMED);
    phi__inbox_publish(record, won);
    phi__io_wake(ticket.rt->io);
    return won ? PHI_OK : PHI_STALE;
}

/* ---- questions to an agent's host ---- */

static void phi__question_due(phi__question *q) {
    phi__io *io = q->agent->rt->io;
    q->due = true;
    /* cannot fail, because the timer is already set */
    (void)phi__io_timer_set(io, &q->agent->questions->timer, phi__io_now_us(io));
}

static void phi__question_settled(phi__decision *decision) {
    phi__question_due(PHI__OWNER(decision, phi__question, decision));
}

/* ---- ending a question ---- */

static void phi__question_unlist(phi__question *q) {
    phi__questions *questions = q->agent->questions;
    if (q->freed) return;
    phi__list_take(&questions->list, &q->link);
    if (--questions->count == 0) phi__io_timer_clear(q->agent->rt->io, &questions->timer);
}

static void phi__question_free(phi__question *q) {
    phi__question_unlist(q);
    phi__decision_drop(&q->decision);
    phi__free(&q->agent->memory, q, q->bytes);
}

/* Ends a question. `reply` may be in the question's decision. The agent's memory is valid until the
   step's end. */
static void phi__question_conclude(phi__question *q, phi_verdict verdict, phi_str reply) {
    void (*decided)(void *ctx, phi_verdict verdict, phi_str reply) = q->decided;
    void *ctx = q->ctx;
    phi__buf kept = q->decision.reply;
    phi__buf_init(&q->decision.reply, &q->agent->memory);
    phi__question_free(q);
    decided(ctx, verdict, reply);
    phi__buf_free(&kept);
}

static void phi__question_hooked(phi__question *q, phi__hooked hooked) {
    phi_str reply = phi__buf_str(&q->decision.reply);
    switch (hooked) {
    case PHI__HOOK_WAIT: break;
    case PHI__HOOK_ALLOW:
    case PHI__HOOK_WARN: phi__question_conclude(q, PHI_ALLOW, reply); break;
    case PHI__HOOK_DENY:
        phi__question_conclude(q, q->decision.late ? PHI_WAIT : PHI_DENY, reply);
        break;
    case PHI__HOOK_GONE:
        phi__question_conclude(q, PHI_WAIT, PHI__LIT("The agent was freed."));
        break;
    case PHI__HOOK_LOST: phi__question_conclude(q, PHI_WAIT, PHI__LIT("Out of memory")); break;
    }
}

static void phi__question_serve(phi__question *q) {
    phi__agent *agent = q->agent;
    phi__hooked hooked = PHI__HOOK_DENY;
    q->due = false;
    if (!q->over && phi__hooks_wanted(agent, PHI_HOOK_QUESTION)) {
        phi_hook hook = PHI_ZERO;
        if (agent->run != NULL)
            hook = phi__hooks_make(agent->run, PHI_HOOK_QUESTION);
        else {
            hook.point = PHI_HOOK_QUESTION;
            hook.agent = phi__find_seen(agent);
            hook.seq = agent->rt->events.seq;
            hook.message_count = agent->thread->messages.count;
        }
        hook.source = q->asked.source;
        hook.question_kind = q->asked.kind;
        hook.text = q->asked.text;
        hook.arguments = q->asked.arguments;
        hook.timeout_ms = q->timeout_ms;
        if (q->of_call) {
            if (hook.timeout_ms == 0) hook.timeout_ms = agent->run->own.waits_ms;
            hook.call = q->call;
            hook.tool_name = q->decision.call->block->name;
            hook.tool_call_id = q->decision.call->block->id;
        }
        q->asking = true;
        hooked = phi__hooks_decide(&q->decision, &hook, agent->desc.hook_fn,
                                   phi__hooks_user_data(agent));
        q->asking = false;
    }
    if (q->closed)
        phi__question_free(q);
    else if (q->over && agent->slot != NULL)
        phi__question_conclude(q, PHI_WAIT,
                               PHI__LIT("The tool call that led to the question is over."));
    else
        phi__question_hooked(q, hooked);
}

/* Serves the questions that are due, at most as many as are open now. If more become due meanwhile,
   the next step serves them. */
static void phi__question_fire(phi__timer *timer) {
    phi__questions *questions = PHI__OWNER(timer, phi__questions, timer);
    phi__agent *agent = questions->agent;
    size_t left = questions->count;
    /* cannot fail: the timer's place was just freed */
    (void)phi__io_timer_set(agent->rt->io, timer, UINT64_MAX);
    while (left-- > 0 && agent->slot != NULL) {
        phi__link *link = questions->list.first;
        while (link != NULL && !PHI__OWNER(link, phi__question, link)->due) link = link->next;
        if (link == NULL) return;
        phi__question_serve(PHI__OWNER(link, phi__question, link));
    }
}

/* ---- called by other files ---- */

PHI__FN void phi__question_call_over(const phi__toolcall *call) {
    phi__link *link = call->run->agent->questions->list.first;
    for (; link != NULL; link = link->next) {
        phi__question *q = PHI__OWNER(link, phi__question, link);
        if (!q->of_call || q->call.index != call->index || q->call.gen != call->gen) continue;
        q->over = true;
        q->of_call = false;
        q->decision.call = NULL; /* the call may be freed before the question */
        if (!q->asking) phi__decision_drop(&q->decision);
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

/* Copies a string. clean: removes control characters, because a person may read the string. */
static phi_str phi__question_copy(char **at, phi_str text, bool clean) {
    char *to = *at;
    if (text.len > 0) memcpy(to, text.at, text.len);
    *at = to + text.len + 1;
    size_t len = clean ? phi__words_clean(to, text.len) : text.len;
    to[len] = '\0';
    return phi__str(to, len);
}

static phi__question *phi__question_make(phi__agent *agent, const phi__question_desc *desc) {
    size_t bytes = phi__add(sizeof(phi__question) + 4,
                            phi__add(phi__add(desc->source.len, desc->kind.len),
                                     phi__add(desc->text.len, desc->arguments.len)));
    phi__question *q = (phi__question *)phi__alloc(&agent->memory, bytes);
    if (q == NULL) return NULL;
    char *at = (char *)(q + 1);
    q->agent = agent;
    q->bytes = bytes;
    q->asked.source = phi__question_copy(&at, desc->source, true);
    q->asked.kind = phi__question_copy(&at, desc->kind, false);
    q->asked.text = phi__question_copy(&at, desc->text, true);
    q->asked.arguments = phi__question_copy(&at, desc->arguments, false);
    q->timeout_ms = desc->timeout_ms;
    q->decided = desc->decided;
    q->ctx = desc->ctx;
    return q;
}

PHI__FN phi_status phi__question_open(phi_agent handle, const phi__question_desc *desc,
                                      phi__question **out) {
    phi__agent *agent = phi__find_agent(handle);
    phi__toolcall *call = phi__call_find(desc->call);
    if (agent == NULL || (desc->call.rt != NULL && (call == NULL || call->run->agent != agent)))
        return PHI_STALE;
    if (agent->rt->closing) return PHI_MISUSE;
    if (agent->questions == NULL) { /* made for the first question, then kept */
        agent->questions = (phi__questions *)phi__alloc(&agent->memory, sizeof *agent->questions);
        if (agent->questions == NULL) return PHI_NO_MEMORY;
        agent->questions->agent = agent;
        agent->questions->timer.fire = phi__question_fire;
    }
    if (agent->questions->count >= PHI__QUESTION_MOST) return PHI_FULL;
    phi__question *q = phi__question_make(agent, desc);
    if (q == NULL) return PHI_NO_MEMORY;
    if (phi__io_timer_set(agent->rt->io, &agent->questions->timer, phi__io_now_us(agent->rt->io)) !=
        PHI_OK) {
        phi__free(&agent->memory, q, q->bytes);
        return PHI_NO_MEMORY;
    }
    q->due = true;
    phi__decision_init(&q->decision, agent, NULL, call);
    q->decision.asked = &q->asked;
    q->decision.settled = phi__question_settled;
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

/* ---- listing what runs wait for, for hosts that display it or look for stuck runs ---- */

typedef struct phi__pending_list {
    phi_pending_item *out;
    size_t most, count;
    bool no_decisions, no_others; /* items to skip in this pass */
} phi__pending_list;

static void phi__pending_add(phi__pending_list *list, const phi_pending_item *item) {
    if (item->kind == PHI_WAITING_DECISION ? list->no_decisions : list->no_others) return;
    if (list->count < list->most) list->out[list->count] = *item;
    list->count++;
}

static void phi__pending_due(phi_pending_item *item, const phi_runtime *rt,
                             const phi__timer *timer) {
    uint64_t now = phi__schedule_look_us(rt);
    item->has_deadline = timer->place != 0 && timer->at_us != UINT64_MAX;
    if (item->has_deadline) item->left_ms = phi__io_left_us(rt->io, timer, now) / 1000;
}

static phi_pending_item phi__pending_item_of(const phi__run *run, phi_waiting kind) {
    phi_pending_item item = PHI_ZERO;
    item.kind = kind;
    item.agent = phi__find_seen(run->agent);
    item.loop_id = run->loop_id;
    item.turn_index = run->turn.index;
    return item;
}

static void phi__pending_of_call(phi_pending_item *item, const phi__toolcall *call) {
    item->call = phi__call_handle(call);
    item->tool_name = call->block->name;
    item->tool_call_id = call->block->id;
    item->arguments = call->arguments;
    if (call->tool != NULL) item->source = phi_str_of(call->tool->source);
}

static phi_pending_item phi__pending_ticket(phi_pending_item item, const phi__decision *d) {
    item.kind = PHI_WAITING_DECISION;
    item.ticket = phi__decision_ticket(d);
    item.point = d->point;
    item.quiet = d->quiet;
    item.permissions = d->permissions;
    phi__pending_due(&item, d->rt, &d->timer);
    return item;
}

static void phi__pending_decision(phi__pending_list *list, const phi__run *run,
                                  const phi__decision *d, const phi__toolcall *call) {
    if (d->state != PHI__DECISION_WAITS) return;
    phi_pending_item item = phi__pending_ticket(phi__pending_item_of(run, PHI_WAITING_DECISION), d);
    if (d->point == PHI_HOOK_FILTER) item.text = phi__buf_str(&run->filter.text);
    if (call != NULL) phi__pending_of_call(&item, call);
    if (call != NULL) item.arguments = phi__hooks_arguments(d);
    phi__pending_add(list, &item);
}

/* Questions come before the run's items, because a call may wait for its questions. */
static void phi__pending_questions(phi__pending_list *list, const phi__agent *agent) {
    const phi__link *link = agent->questions != NULL ? agent->questions->list.first : NULL;
    for (; link != NULL; link = link->next) {
        const phi__decision *d = &PHI__OWNER(link, const phi__question, link)->decision;
        if (d->state != PHI__DECISION_WAITS) continue;
        phi_pending_item item = PHI_ZERO;
        if (agent->run != NULL)
            item = phi__pending_item_of(agent->run, PHI_WAITING_DECISION);
        else
            item.agent = phi__find_seen(agent);
        item = phi__pending_ticket(item, d);
        if (d->call != NULL) phi__pending_of_call(&item, d->call);
        item.arguments = d->asked->arguments;
        item.text = d->asked->text;
        item.source = d->asked->source;
        item.question_kind = d->asked->kind;
        phi__pending_add(list, &item);
    }
}

static void phi__pending_run(phi__pending_list *list, const phi__run *run) {
    const phi_runtime *rt = run->agent->rt;
    phi_pending_item item;
    phi__pending_decision(list, run, &run->decision, NULL);
    if (run->pause.on || run->state == PHI__RUN_BACKOFF) {
        item = phi__pending_item_of(run, run->pause.on ? PHI_WAITING_BUDGET : PHI_WAITING_RETRY);
        if (run->pause.on) {
            item.text = phi__buf_str(&run->pause.reason);
            item.payer = run->pause.payer;
        }
        phi__pending_due(&item, rt, &run->timer);
        phi__pending_add(list, &item);
    }
    /* Calls that have begun and are not logged yet. */
    for (size_t i = run->tools.emitted; run->tools.calls != NULL && i < run->tools.next; i++) {
        const phi__toolcall *call = &run->tools.calls[i];
        phi__pending_decision(list, run, &call->decision, call);
        if (!call->started || call->slot == NULL) continue;
        item = phi__pending_item_of(run, PHI_WAITING_CALL);
        phi__pending_of_call(&item, call);
        phi__pending_due(&item, rt, &call->timer);
        phi__pending_add(list, &item);
    }
}

PHI_API size_t phi_pending(phi_runtime *rt, phi_pending_item *out, size_t most) {
    phi__pending_list list = PHI_ZERO;
    if (rt == NULL) return 0;
    list.out = out;
    list.most = out != NULL ? most : 0;
    for (int walk = 0; walk < 2; walk++) { /* decisions come first */
        list.no_others = walk == 0;
        list.no_decisions = walk == 1;
        for (uint32_t i = 0; i < rt->agents.count; i++) {
            const phi__agent *agent = (const phi__agent *)phi__slots_at(&rt->agents, i)->object;
            if (agent != NULL) phi__pending_questions(&list, agent);
            if (agent != NULL && agent->run != NULL) phi__pending_run(&list, agent->run);
        }
    }
    return list.count;
}

PHI__FN void phi__pending_of(const phi__agent *agent, phi_pending_item *out) {
    const phi__run *run = agent->run;
    phi__pending_list list = PHI_ZERO;
    list.out = out;
    list.most = 1;
    if (run != NULL) {
        bool calling = run->state == PHI__RUN_SEND || run->state == PHI__RUN_STREAM;
        *out = phi__pending_item_of(run, calling ? PHI_WAITING_MODEL : PHI_WAITING_NOTHING);
        phi__pending_questions(&list, agent);
        if (list.count == 0) phi__pending_run(&list, run);
    } else {
        memset(out, 0, sizeof *out);
        out->agent = agent->handle;
        phi__pending_questions(&list, agent);
    }
}
