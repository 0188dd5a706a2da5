/* pending.c - lists what the runs wait for. */
#include "loop/pending_in.h"

#include "loop/inner_in.h"

#include <stdio.h>

typedef struct phi__pending_list {
    phi_pending_item *out;
    size_t most, count;
    bool no_decisions, no_others; /* left out in this walk */
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
    if (d->point == PHI_HOOK_FILTER) item.text = phi__filter_text(run);
    if (call != NULL) phi__pending_of_call(&item, call);
    if (call != NULL) item.arguments = phi__hooks_arguments(d);
    phi__pending_add(list, &item);
}

/* In front of what the run waits for: a call may wait for its questions. */
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
    size_t count = 0;
    phi__pending_decision(list, run, &run->decision, NULL);
    if (run->pause.on || run->state == PHI__RUN_BACKOFF) {
        item = phi__pending_item_of(run, run->pause.on ? PHI_WAITING_BUDGET : PHI_WAITING_RETRY);
        if (run->pause.on) phi__pause_show(run, &item);
        phi__pending_due(&item, rt, &run->timer);
        phi__pending_add(list, &item);
    }
    const phi__toolcall *calls = phi__round_open(run, &count);
    for (size_t i = 0; i < count; i++) {
        const phi__toolcall *call = &calls[i];
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
