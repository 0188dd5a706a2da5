/* hooks.c - calls the host's hooks: for an answer at once, or a decision that the run waits for.

   A ticket is a slot of its own, as a tool call is: the first to move its word from OPEN to CLAIMED
   decides, be it another thread, the deadline or the end of the run. Whatever happens during the
   hook, its decision is a member of the run or call, and dies with it. */
#include "loop/loop_in.h"

#include <stdio.h>

PHI__FN void phi__hooks_decision_init(phi__decision *d, phi__run *run, phi__toolcall *call) {
    memset(d, 0, sizeof *d);
    d->rt = run->agent->rt;
    d->agent = run->agent;
    d->run = run;
    d->call = call;
    phi__buf_init(&d->reply, &run->agent->memory);
}

PHI__FN void phi__hooks_decision_asked(phi__decision *d, phi__agent *agent, phi__toolcall *call,
                                       const phi__asked *asked,
                                       void (*settled)(phi__decision *decision)) {
    memset(d, 0, sizeof *d);
    d->rt = agent->rt;
    d->agent = agent;
    d->call = call;
    d->asked = asked;
    d->settled = settled;
    phi__buf_init(&d->reply, &agent->memory);
}

/* Moves a ticket that waits to another state. False: it is dead, or decided, or is held and the
   verdict does not deny. */
static bool phi__hooks_claim(phi__slots *tickets, uint32_t index, uint32_t gen, phi_verdict verdict,
                             uint32_t state) {
    return phi__slots_move(tickets, index, gen, PHI__TICKET_OPEN, state) ||
           (verdict == PHI_DENY && phi__slots_move(tickets, index, gen, PHI__TICKET_HELD, state));
}

static phi_ticket phi__hooks_decision_ticket(const phi__decision *d) {
    phi_ticket ticket;
    ticket.rt = d->rt;
    ticket.index = d->index;
    ticket.gen = d->gen;
    return ticket;
}

static bool phi__hooks_decision_open(phi__decision *d) {
    d->slot = phi__slots_take(&d->rt->tickets, PHI__TICKET_OPEN, d);
    if (d->slot == NULL) return false;
    d->index = d->slot->index;
    d->gen = phi__slots_gen_of(PHI__LOAD(&d->slot->word));
    return true;
}

static void phi__hooks_decision_close(phi__decision *d) {
    if (d->rt == NULL) return;
    phi__io_timer_clear(d->rt->io, &d->timer);
    if (d->slot != NULL) phi__slots_release(&d->rt->tickets, d->slot);
    d->slot = NULL;
    if (d->over != NULL) {
        void (*over)(void *) = d->over;
        d->over = NULL;
        over(d->over_ctx);
    }
}

PHI__FN void phi__hooks_decision_drop(phi__decision *d) {
    if (d->rt == NULL) return; /* never begun */
    phi__hooks_decision_close(d);
    d->state = PHI__DECISION_NONE;
    phi__buf_free(&d->reply);
}

/* Only filters warn. */
static phi_verdict phi__hooks_verdict(phi_hook_point point, phi_verdict verdict) {
    return verdict == PHI_WARN && point != PHI_HOOK_FILTER ? PHI_ALLOW : verdict;
}

static void phi__hooks_decision_settle(phi__decision *d, phi_verdict verdict, phi_str reply) {
    bool again =
        d->round > 0 || d->ask_again; /* the hook's own reply counts until there is another */
    if (!again || verdict != PHI_ALLOW || reply.len > 0) {
        phi__buf_clear(&d->reply);
        phi__buf_add_str(&d->reply, reply);
    }
    phi__hooks_decision_close(d); /* may free the reply */
    d->state = PHI__DECISION_MADE;
    d->verdict = phi__hooks_verdict(d->point, verdict);
    if (d->run == NULL) {
        d->settled(d);
        return;
    }
    phi__schedule_wake(d->run);
}

/* ---- waiting ---- */

/* Where a denial has a meaning, silence is one. */
static bool phi__hooks_can_deny(phi_hook_point point) {
    return ((uint32_t)point &
            ((uint32_t)PHI_HOOK_BEFORE_LOOP | PHI_HOOK_BEFORE_TURN | PHI_HOOK_BEFORE_COMPACTION |
             PHI_HOOK_BEFORE_TOOL | PHI_HOOK_FILTER | PHI_HOOK_CREDENTIAL | PHI_HOOK_STEERING |
             PHI_HOOK_FOLLOW_UP | PHI_HOOK_QUESTION)) != 0;
}

static void phi__hooks_decision_timer(phi__timer *timer) {
    phi__decision *d = PHI__OWNER(timer, phi__decision, timer);
    const phi_texts *texts = d->agent->desc.texts;
    phi__buf words;
    phi__texts_args args;
    if (!phi__hooks_claim(&d->rt->tickets, d->index, d->gen, PHI_DENY, PHI__TICKET_CLAIMED))
        return; /* a decision is on its way */
    d->late = true;
    memset(&args, 0, sizeof args);
    args.n = d->timeout_ms;
    phi__buf_init(&words, &d->rt->memory);
    if (phi__hooks_can_deny(d->point)) {
        phi__texts_put(&words, texts, PHI_TEXT_RESULT_UNDECIDED, &args);
        phi__hooks_decision_settle(d, PHI_DENY, phi__buf_str(&words));
    } else
        phi__hooks_decision_settle(d, PHI_ALLOW, phi__str(NULL, 0));
    phi__buf_free(&words);
}

PHI__FN phi_str phi__hooks_arguments(const phi__decision *d) {
    return d->round > 0 && d->point == PHI_HOOK_BEFORE_TOOL && d->reply.len > 0
               ? phi__buf_str(&d->reply)
               : d->call->arguments;
}

static bool phi__hooks_decision_emit(phi__decision *d, phi_event *event) {
    if (d->asked != NULL) {
        event->source = d->asked->source;
        event->question_kind = d->asked->kind;
        event->text = d->asked->text;
        event->arguments = d->asked->arguments;
        return phi__events_emit_asked(d->agent, event);
    }
    return phi__events_emit(d->agent, event, NULL, 0);
}

static bool phi__hooks_decision_wait(phi__decision *d, const phi_hook *hook) {
    phi_event event;
    uint32_t most = d->run != NULL ? d->run->own.waits_ms : d->agent->desc.deadlines.decision_ms;
    uint64_t after = UINT64_MAX;
    d->state = PHI__DECISION_WAITS;
    d->ask_again = hook->ask_again;
    d->quiet = hook->quiet;
    d->permissions = hook->permissions;
    d->waited = hook->waited;
    d->timer.fire = phi__hooks_decision_timer;
    d->timeout_ms = hook->timeout_ms != 0 ? hook->timeout_ms : most;
    if (d->timeout_ms != PHI_UNLIMITED) after = (uint64_t)d->timeout_ms * 1000;
    if (phi__io_deadline_set(d->rt->io, &d->timer, after) != PHI_OK) return false;
    if (hook->quiet) return true;
    memset(&event, 0, sizeof event);
    event.kind = PHI_EV_DECISION;
    event.ticket = phi__hooks_decision_ticket(d);
    event.point = (int)d->point;
    event.text = hook->text;
    event.input = hook->input;
    if (d->call != NULL) {
        event.call = hook->call;
        event.tool_call_id = d->call->block->id;
        event.tool_name = d->call->block->name;
        event.arguments = phi__hooks_arguments(d);
    }
    return phi__hooks_decision_emit(d, &event);
}

/* ---- calling the host ---- */

PHI__FN bool phi__hooks_wanted(const phi__agent *agent, phi_hook_point point) {
    return agent->desc.hook_fn != NULL && (agent->desc.hook_points & (uint32_t)point) != 0;
}

PHI__FN void *phi__hooks_user_data(const phi__agent *agent) {
    return agent->desc.hook_user_data != NULL ? agent->desc.hook_user_data : agent->desc.user_data;
}

PHI__FN phi_hook phi__hooks_make(const phi__run *run, phi_hook_point point) {
    phi_hook hook;
    memset(&hook, 0, sizeof hook);
    hook.point = point;
    hook.agent = phi__find_seen(run->agent);
    hook.seq = run->agent->rt->events.seq;
    hook.loop_id = run->loop_id;
    hook.turn_index = run->turn.index;
    hook.message_count = run->agent->thread->messages.count;
    return hook;
}

PHI__FN phi_hook phi__hooks_make_of(const phi__agent *agent, phi_hook_point point) {
    phi_hook hook;
    if (agent->run != NULL) return phi__hooks_make(agent->run, point);
    memset(&hook, 0, sizeof hook);
    hook.point = point;
    hook.agent = phi__find_seen(agent);
    hook.seq = agent->rt->events.seq;
    hook.message_count = agent->thread->messages.count;
    return hook;
}

/* Calls it with the reply of the round before, which may also be its own reply. */
static phi_verdict phi__hooks_ask(phi__decision *d, phi_hook *hook, phi_hook_fn fn,
                                  void *user_data) {
    phi__buf before = d->reply;
    phi_verdict verdict;
    bool gone;
    phi__buf_init(&d->reply, before.memory);
    hook->round = d->round;
    hook->waited = d->waited;
    if (before.len > 0) hook->reply = phi__buf_str(&before);
    verdict = fn(user_data, hook);
    gone = d->agent->slot == NULL;
    if (!gone && hook->reply.at != NULL) phi__buf_add_str(&d->reply, hook->reply);
    phi__buf_free(&before);
    return verdict;
}

/* The question itself. `again`: it was decided, and only the list is wanted. */
static phi__hooked phi__hooks_decide_now(phi__decision *d, phi_hook *hook, phi_hook_fn fn,
                                         void *user_data, bool again) {
    phi__agent *agent = d->agent;
    phi_verdict verdict;
    if (d->round == 0) phi__buf_clear(&d->reply);
    if (!phi__hooks_decision_open(d)) return PHI__HOOK_LOST;
    d->late = false;
    d->point = hook->point;
    hook->ticket = phi__hooks_decision_ticket(d);
    hook->decided = again;
    verdict = d->round == 0 ? fn(user_data, hook) : phi__hooks_ask(d, hook, fn, user_data);
    /* the hook's own copy may have been written to */
    verdict = phi__hooks_verdict(d->point, verdict);
    if (agent->slot == NULL) {
        phi__hooks_decision_drop(d);
        return PHI__HOOK_GONE;
    }
    if (d->round == 0 && hook->reply.at != NULL) phi__buf_add_str(&d->reply, hook->reply);
    if (d->reply.failed) {
        phi__hooks_decision_drop(d);
        return PHI__HOOK_LOST;
    }
    if (verdict == PHI_WAIT && !again) {
        if (phi__hooks_decision_wait(d, hook)) return PHI__HOOK_WAIT;
        phi__hooks_decision_drop(d);
        return PHI__HOOK_LOST;
    }
    phi__hooks_decision_close(d);
    if (verdict == PHI_ALLOW || verdict == PHI_WARN || verdict == PHI_WAIT)
        return verdict == PHI_WARN ? PHI__HOOK_WARN : PHI__HOOK_ALLOW;
    return PHI__HOOK_DENY; /* also for an invalid verdict */
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

/* A run without memory calls no more hooks: it could not wait for a decision. */
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
    hook->call.rt = call->rt;
    hook->call.index = call->index;
    hook->call.gen = call->gen;
    hook->tool_name = call->block->name;
    hook->tool_call_id = call->block->id;
    hook->arguments = call->arguments;
    hook->needs_approval = call->tool != NULL && call->tool->needs_approval;
    return phi__hooks_agent(&call->decision, hook);
}

/* ---- what other threads say ---- */

PHI__FN void phi__hooks_decision_posted(phi_runtime *rt, const phi__post *post) {
    phi__slot *slot = phi__slots_find(&rt->tickets, post->index, post->gen);
    if (slot == NULL) return; /* the wait is over already */
    phi__hooks_decision_settle((phi__decision *)slot->object, (phi_verdict)post->flag, post->text);
}

PHI__FN void phi__hooks_decision_marked(phi_runtime *rt, uint32_t index) {
    phi__slot *slot = phi__slots_at(&rt->tickets, index);
    uint32_t state = phi__slots_state_of(PHI__LOAD(&slot->word));
    if ((state & PHI__TICKET_SAID) == 0) return; /* the wait is over already */
    phi__hooks_decision_settle((phi__decision *)slot->object,
                               (phi_verdict)(state & ~(uint32_t)PHI__TICKET_SAID),
                               phi__str(NULL, 0));
}

/* ---- hooks of ours ---- */

PHI__FN bool phi__hooks_watch(phi_ticket ticket, void (*over)(void *ctx), void *ctx) {
    phi__slot *slot = phi__slots_find(&ticket.rt->tickets, ticket.index, ticket.gen);
    phi__decision *d;
    if (slot == NULL) return false;
    d = (phi__decision *)slot->object;
    if (d->over != NULL) return false;
    d->over = over;
    d->over_ctx = ctx;
    return true;
}

PHI__FN void phi__hooks_unwatch(phi_ticket ticket) {
    phi__slot *slot = phi__slots_find(&ticket.rt->tickets, ticket.index, ticket.gen);
    if (slot != NULL) ((phi__decision *)slot->object)->over = NULL;
}

PHI__FN void phi__hooks_hold(phi_ticket ticket) {
    (void)phi__slots_move(&ticket.rt->tickets, ticket.index, ticket.gen, PHI__TICKET_OPEN,
                          PHI__TICKET_HELD);
}

PHI__FN void phi__hooks_settle(phi_ticket ticket, phi_verdict verdict, phi_str reply) {
    phi__slots *tickets = &ticket.rt->tickets;
    phi__slot *slot = phi__slots_find(tickets, ticket.index, ticket.gen);
    if (slot != NULL &&
        phi__hooks_claim(tickets, ticket.index, ticket.gen, PHI_DENY, PHI__TICKET_CLAIMED))
        phi__hooks_decision_settle((phi__decision *)slot->object, verdict, reply);
}

/* ---- outcomes ---- */

PHI__FN phi__state phi__hooks_next(phi__run *run, phi__hooked hooked, phi__state here,
                                   phi__state next, phi__state denied, bool *wait) {
    switch (hooked) {
    case PHI__HOOK_ALLOW:
    case PHI__HOOK_WARN: return next;
    case PHI__HOOK_DENY: return denied;
    case PHI__HOOK_WAIT:
        if (run->end.cancelled) { /* it does not wait */
            phi__hooks_decision_drop(&run->decision);
            return denied;
        }
        *wait = true;
        return here;
    case PHI__HOOK_GONE: return PHI__RUN_OVER;
    case PHI__HOOK_LOST: break;
    }
    return PHI__RUN_LOST;
}

/* ---- public ---- */

/* Why a ticket was not decided. */
static phi_status phi__hooks_decide_not(phi_ticket ticket) {
    uint32_t state = phi__slots_state(&ticket.rt->tickets, ticket.index, ticket.gen);
    return state == PHI__TICKET_HELD ? PHI_MISUSE : PHI_STALE;
}

/* Without a text it needs no room: the ticket's own word takes it. */
static phi_status phi__hooks_decide_without_text(phi_ticket ticket, phi_verdict verdict) {
    phi__slots *tickets = &ticket.rt->tickets;
    if (!phi__hooks_claim(tickets, ticket.index, ticket.gen, verdict,
                          (uint32_t)PHI__TICKET_SAID | (uint32_t)verdict))
        return phi__hooks_decide_not(ticket);
    phi__slots_mark(tickets, ticket.index);
    phi__io_wake(ticket.rt->io);
    return PHI_OK;
}

PHI_API phi_status phi_decide(phi_ticket ticket, phi_verdict verdict, const char *reply) {
    phi__post post;
    phi_status status;
    struct phi__inbox_record *record = NULL;
    uint32_t state;
    bool won;
    if (ticket.rt == NULL || (verdict != PHI_ALLOW && verdict != PHI_DENY && verdict != PHI_WARN))
        return PHI_BAD_ARG;
    if (reply == NULL || reply[0] == '\0') return phi__hooks_decide_without_text(ticket, verdict);
    state = phi__slots_state(&ticket.rt->tickets, ticket.index, ticket.gen);
    if (state != PHI__TICKET_OPEN && (state != PHI__TICKET_HELD || verdict != PHI_DENY))
        return phi__hooks_decide_not(ticket);
    memset(&post, 0, sizeof post);
    post.kind = PHI__POST_DECIDE;
    post.index = ticket.index;
    post.gen = ticket.gen;
    post.flag = (uint32_t)verdict;
    post.text = phi_str_of(reply);
    status = phi__inbox_prepare(&ticket.rt->inbox, &post, &record);
    if (status != PHI_OK) return status;
    won = phi__hooks_claim(&ticket.rt->tickets, ticket.index, ticket.gen, verdict,
                           PHI__TICKET_CLAIMED);
    phi__inbox_publish(record, won);
    phi__io_wake(ticket.rt->io);
    return won ? PHI_OK : PHI_STALE;
}
