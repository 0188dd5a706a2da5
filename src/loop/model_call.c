/* model_call.c - the messages of a model call with the host's changes, and the earlier thinking
   that the call leaves out.

   The list is made once for a turn, and used by all its attempts. Without a hook for the list, the
   thread's own projection is used, with its cached renderings. */
#include "loop/inner_in.h"

#include <stdio.h>

/* ---- earlier thinking that a request leaves out ----

   Thinking is left out if the messages before it have changed (wire/wire_in.h). The host gets a
   warning, and phi_agent_explain gets figures. */

static const phi__prefix *phi__thinking_prefix(const phi__run *run) {
    /* a host's provider: no codec rendered the request */
    if (run->agent->provider != NULL) return NULL;
    return run->attempt.encoder.prefix;
}

PHI__FN bool phi__thinking_left_out(const phi__run *run) {
    const phi__projected *projected = run->agent->projected;
    return run->projection.items != NULL && projected != NULL &&
           projected->last.messages_included < projected->last.messages_total;
}

PHI__FN const char *phi__thinking_cause(const phi__agent *agent, phi__prefix_cause cause,
                                        bool hooks, bool policy) {
    const phi__op *op = agent->thread->ops.last;
    if (cause == PHI__PREFIX_MESSAGES && hooks)
        return "the messages before it have changed (a hook)";
    if (cause == PHI__PREFIX_MESSAGES && policy)
        return "the messages before it have changed (the policy)";
    if (cause != PHI__PREFIX_MESSAGES || op == NULL) return phi__prefix_words(cause);
    switch (op->rewrite.reason) {
    case PHI_REWRITE_COMPACTION: return "the messages before it have changed (a compaction)";
    case PHI_REWRITE_PRUNE: return "the messages before it have changed (a prune)";
    case PHI_REWRITE_REVERT: return "the messages before it have changed (a revert)";
    default: return "the messages before it have changed (a rewrite)";
    }
}

PHI__FN bool phi__thinking_look(phi__run *run) {
    const phi__prefix *p = phi__thinking_prefix(run);
    phi__thinking *was = &run->agent->prior.thinking;
    phi__thinking now = PHI_ZERO;
    now.barred = was->barred;
    if (p != NULL && p->first != SIZE_MAX) {
        now.dropped = p->dropped;
        now.first = run->attempt.spec.items[p->first].from;
        now.cause = phi__thinking_cause(run->agent, p->cause, run->listed.messages != NULL,
                                        phi__thinking_left_out(run));
    }
    bool same = now.cause == was->cause; /* causes are static strings */
    *was = now;
    if (same || now.cause == NULL) return true;
    char words[200];
    (void)snprintf(words, sizeof words, "The thinking of %llu answer%s is not sent any more: %s",
                   (unsigned long long)now.dropped, now.dropped == 1 ? "" : "s", now.cause);
    return phi__events_warn(run->agent, phi_str_of(words));
}

PHI__FN bool phi__thinking_refused(const phi__run *run, const phi_failure *failure) {
    const phi__prefix *p = phi__thinking_prefix(run);
    return failure->kind == PHI_FAILURE_INVALID_REQUEST && p != NULL && p->last != 0 &&
           phi__str_find(failure->message, 0, "bound to a different conversation") != SIZE_MAX;
}

PHI__FN void phi__thinking_mark(const phi__run *run, phi_message *answer) {
    const phi__prefix *p = phi__thinking_prefix(run);
    if (p != NULL) phi__prefix_mark(p, answer);
}

/* ---- the host's list ---- */

/* Returns the list before the host's changes. */
static const phi__item *phi__ask_list_ours(const phi__run *run, size_t *count) {
    const phi__fold *fold = &run->agent->thread->fold;
    const phi__item *shown = phi__projection_list(run, count);
    if (shown != NULL) return shown;
    *count = fold->count;
    return fold->items;
}

PHI__FN bool phi__ask_list_make(phi__run *run) {
    size_t count;
    const phi__item *ours = phi__ask_list_ours(run, &count);
    run->listed.messages = (const phi_message **)phi_arena_alloc(
        &run->arena, phi__mul(phi__max(count, 1), sizeof *run->listed.messages));
    if (run->listed.messages == NULL) return false;
    for (size_t i = 0; i < count; i++) run->listed.messages[i] = ours[i].message;
    run->listed.count = count;
    return true;
}

/* Maps messages by their address to indexes, because a host's list may have any order, and may
   contain the host's messages. An open hash table, at most half full. */
typedef struct phi__place {
    const phi_message *message; /* NULL: free place */
    size_t at;
} phi__place;

typedef struct phi__places {
    phi__place *table;
    size_t mask;
} phi__places;

static bool phi__ask_places_init(phi__places *places, phi_arena *arena, size_t count) {
    size_t cap = 16;
    while (cap / 2 < count) cap = phi__mul(cap, 2);
    places->mask = cap - 1;
    places->table = (phi__place *)phi__arena_zero(arena, phi__mul(cap, sizeof *places->table));
    return places->table != NULL;
}

static phi__place *phi__ask_places_find(const phi__places *places, const phi_message *message) {
    size_t i = (size_t)phi__hash_mix((uint64_t)(uintptr_t)message) & places->mask;
    while (places->table[i].message != NULL && places->table[i].message != message)
        i = (i + 1) & places->mask;
    return &places->table[i];
}

static void phi__ask_places_add(const phi__places *places, const phi_message *message, size_t at) {
    phi__place *place = phi__ask_places_find(places, message);
    if (place->message != NULL) return;
    place->message = message;
    place->at = at;
}

PHI__FN bool phi__ask_list_take(phi__run *run, const phi_hook *hook) {
    const phi_message **list;
    phi__places ours;
    size_t n = 0;
    if (hook->messages == run->listed.messages && hook->message_count == run->listed.count)
        return true;
    list = (const phi_message **)phi_arena_alloc(
        &run->arena, phi__mul(phi__max(hook->message_count, 1), sizeof *list));
    if (list == NULL || !phi__ask_places_init(&ours, &run->arena, run->listed.count)) return false;
    for (size_t i = 0; i < run->listed.count; i++)
        phi__ask_places_add(&ours, run->listed.messages[i], i);
    for (size_t i = 0; i < hook->message_count; i++) {
        const phi_message *message = hook->messages[i];
        if (message == NULL || (message->content == NULL && message->content_count > 0)) continue;
        list[n] = phi__ask_places_find(&ours, message)->message != NULL
                      ? message
                      : phi_message_copy(message, &run->arena);
        if (list[n++] == NULL) return false;
    }
    run->listed.messages = list;
    run->listed.count = n;
    return true;
}

PHI__FN bool phi__ask_list_pin(phi__run *run) {
    const phi_thread *thread = run->agent->thread;
    phi__places listed;
    phi_arena scratch;
    if (run->listed.messages == NULL) return true;
    phi_arena_init(&scratch, &run->agent->memory, 0);
    bool done = phi__ask_places_init(&listed, &scratch, run->listed.count);
    for (size_t i = 0; done && i < run->listed.count; i++)
        phi__ask_places_add(&listed, run->listed.messages[i], i);
    for (size_t i = 0; done && i < thread->log.held; i++) {
        const phi__entry *entry = thread->log.entries[i];
        if (entry->kind == PHI_ENTRY_MESSAGE &&
            phi__ask_places_find(&listed, entry->message)->message != NULL)
            phi__segments_pin(entry->segment);
    }
    for (const phi__op *op = done ? thread->ops.last : NULL; op != NULL; op = op->earlier)
        for (size_t i = 0; i < op->rewrite.span_count; i++)
            for (size_t j = 0; j < op->rewrite.spans[i].message_count; j++)
                if (phi__ask_places_find(&listed, &op->rewrite.spans[i].messages[j])->message !=
                    NULL)
                    phi__segments_pin(op->segment);
    phi_arena_free(&scratch);
    return done;
}

PHI__FN phi_status phi__ask_items(phi__run *run, const phi__item **items, size_t *count) {
    const phi__agent *agent = run->agent;
    if (run->listed.messages == NULL && agent->desc.translate_fn != NULL &&
        !phi__ask_list_make(run))
        return PHI_NO_MEMORY;
    size_t known_count;
    const phi__item *known = phi__ask_list_ours(run, &known_count);
    *items = known;
    *count = known_count;
    if (run->listed.messages == NULL) return PHI_OK;
    const phi_message *const *list = run->listed.messages;
    size_t n = run->listed.count;
    if (agent->desc.translate_fn != NULL) {
        phi_status status = agent->desc.translate_fn(agent->desc.user_data, &agent->desc.model,
                                                     run->listed.messages, run->listed.count,
                                                     &run->arena, &list, &n);
        if (status != PHI_OK) return status;
        for (size_t i = 0; i < n; i++)
            if (list == NULL || list[i] == NULL ||
                (list[i]->content == NULL && list[i]->content_count > 0))
                return PHI_BAD_ARG;
        known = phi__ask_list_ours(run, &known_count); /* read again, because the host was called */
    }
    phi__places ours;
    phi__item *made =
        (phi__item *)phi__arena_zero(&run->arena, phi__mul(phi__max(n, 1), sizeof *made));
    if (made == NULL || !phi__ask_places_init(&ours, &run->arena, known_count))
        return PHI_NO_MEMORY;
    for (size_t i = 0; i < known_count; i++) phi__ask_places_add(&ours, known[i].message, i);
    for (size_t i = 0; i < n; i++) {
        const phi__place *place = phi__ask_places_find(&ours, list[i]);
        made[i].message = list[i];
        if (place->message != NULL) made[i] = known[place->at];
    }
    *items = made;
    *count = n;
    return PHI_OK;
}
