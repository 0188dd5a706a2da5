/* thinking.c - reports thinking that goes back no more, and marks answers that think. */
#include "loop/thinking_in.h"

#include "loop/loop_in.h"
#include "wire/prefix_in.h"

#include <stdio.h>

static const phi__prefix *phi__thinking_prefix(const phi__run *run) {
    if (run->agent->provider != NULL) return NULL; /* a host's own model: no codec has rendered */
    return run->attempt.encoder.prefix;
}

static bool phi__thinking_left_out(const phi__run *run) {
    const phi__projected *projected = run->agent->projected;
    return run->projection.items != NULL && projected != NULL &&
           projected->last.messages_included < projected->last.messages_total;
}

PHI__FN bool phi__thinking_rewritten(const phi__run *run) {
    return run->agent->thread->ops.last != NULL || run->listed.messages != NULL ||
           phi__thinking_left_out(run);
}

/* The change, as far as it is known who made it. */
static const char *phi__thinking_cause(const phi__run *run, const phi__prefix *p) {
    const phi_thread *thread = run->agent->thread;
    if (p->cause != PHI__PREFIX_MESSAGES) return phi__prefix_words(p->cause);
    if (run->listed.messages != NULL) return "the messages before it have changed (a hook)";
    if (phi__thinking_left_out(run)) return "the messages before it have changed (the policy)";
    if (thread->ops.last == NULL) return phi__prefix_words(p->cause);
    switch (thread->ops.last->rewrite.reason) {
    case PHI_REWRITE_COMPACTION: return "the messages before it have changed (a compaction)";
    case PHI_REWRITE_PRUNE: return "the messages before it have changed (a prune)";
    case PHI_REWRITE_REVERT: return "the messages before it have changed (a revert)";
    default: return "the messages before it have changed (a rewrite)";
    }
}

static bool phi__thinking_warn(phi__run *run, const phi__thinking *now) {
    char words[200];
    phi_event event;
    (void)snprintf(words, sizeof words, "The thinking of %llu answer%s is not sent any more: %s",
                   (unsigned long long)now->dropped, now->dropped == 1 ? "" : "s", now->cause);
    memset(&event, 0, sizeof event);
    event.kind = PHI_EV_WARNING;
    event.text = phi_str_of(words);
    return phi__events_emit(run->agent, &event, NULL, 0);
}

PHI__FN bool phi__thinking_look(phi__run *run) {
    const phi__prefix *p = phi__thinking_prefix(run);
    phi__thinking *was = &run->agent->prior.thinking, now;
    bool same;
    memset(&now, 0, sizeof now);
    now.barred = was->barred;
    if (p != NULL && p->first != SIZE_MAX) {
        now.dropped = p->dropped;
        now.first = run->attempt.spec.items[p->first].from;
        now.cause = phi__thinking_cause(run, p);
    }
    same = now.cause == was->cause; /* they are static */
    *was = now;
    return same || now.cause == NULL || phi__thinking_warn(run, &now);
}

PHI__FN bool phi__thinking_refused(const phi__run *run, const phi_failure *failure) {
    const phi__prefix *p = phi__thinking_prefix(run);
    return failure->kind == PHI_FAILURE_INVALID_REQUEST && p != NULL && p->last != 0 &&
           phi__str_find(failure->message, 0, "bound to a different conversation") != SIZE_MAX;
}

PHI__FN void phi__thinking_bar(phi__run *run) {
    run->agent->prior.thinking.barred = run->agent->thread->log.count;
}

PHI__FN void phi__thinking_mark(const phi__run *run, phi_message *answer) {
    const phi__prefix *p = phi__thinking_prefix(run);
    size_t i;
    if (p == NULL) return;
    for (i = 0; i < answer->content_count; i++)
        if (answer->content[i].kind == PHI_CONTENT_THINKING) {
            answer->prefix = phi__prefix_value(p);
            answer->prefix_parts = phi__prefix_parts(p);
        }
}
