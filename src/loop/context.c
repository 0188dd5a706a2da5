/* context.c - what the model will see: the host's changes to the list, and making it smaller when the
   provider says that it does not fit.

   The list is prepared once a turn and is the same for all attempts. Where no hook wants it, the thread's
   own projection is taken as it is, and what was rendered of it. */
#include "loop/loop_in.h"
#include "wire/hash_in.h"

#include <stdio.h>

enum {
    PHI__COMPACT_MOST = 8,     /* compactions of a turn, whatever they gain */
    PHI__COMPACT_IDLE_MOST = 2 /* those that gain nothing; then it is an error */
};

/* ---- the host's list ---- */

static bool phi__context_list(phi__run *run) {
    const phi__thread *thread = run->agent->thread;
    size_t i;
    run->listed = (const phi_message **)phi_arena_alloc(
        &run->arena, phi__mul(phi__max(thread->fold.count, 1), sizeof *run->listed));
    if (run->listed == NULL) return false;
    for (i = 0; i < thread->fold.count; i++) run->listed[i] = thread->fold.items[i].message;
    run->listed_count = thread->fold.count;
    return true;
}

/* Where messages stand, by their addresses: a host's list may have any order, and messages of its own. An
   open table, half empty. */
typedef struct phi__place {
    const phi_message *message; /* NULL: free */
    size_t at;
} phi__place;

typedef struct phi__places {
    phi__place *table;
    size_t mask;
} phi__places;

static bool phi__places_init(phi__places *places, phi_arena *arena, size_t count) {
    size_t cap = 16;
    while (cap / 2 < count) cap = phi__mul(cap, 2);
    places->mask = cap - 1;
    places->table = (phi__place *)phi__arena_zero(arena, phi__mul(cap, sizeof *places->table));
    return places->table != NULL;
}

static phi__place *phi__places_find(const phi__places *places, const phi_message *message) {
    size_t i = (size_t)phi__hash_mix((uint64_t)(uintptr_t)message) & places->mask;
    while (places->table[i].message != NULL && places->table[i].message != message)
        i = (i + 1) & places->mask;
    return &places->table[i];
}

static void phi__places_add(const phi__places *places, const phi_message *message, size_t at) {
    phi__place *place = phi__places_find(places, message);
    if (place->message != NULL) return;
    place->message = message;
    place->at = at;
}

/* Takes what the hook has made of the list; its own messages are copied for the turn. Holes are left
   out. */
static bool phi__context_take(phi__run *run, const phi_hook *hook) {
    const phi_message **list;
    phi__places ours;
    size_t i, n = 0;
    if (hook->messages == run->listed && hook->message_count == run->listed_count) return true;
    list = (const phi_message **)phi_arena_alloc(
        &run->arena, phi__mul(phi__max(hook->message_count, 1), sizeof *list));
    if (list == NULL || !phi__places_init(&ours, &run->arena, run->listed_count)) return false;
    for (i = 0; i < run->listed_count; i++) phi__places_add(&ours, run->listed[i], i);
    for (i = 0; i < hook->message_count; i++) {
        const phi_message *message = hook->messages[i];
        if (message == NULL || (message->content == NULL && message->content_count > 0)) continue;
        list[n] = phi__places_find(&ours, message)->message != NULL
                      ? message
                      : phi_message_copy(message, &run->arena);
        if (list[n++] == NULL) return false;
    }
    run->listed = list;
    run->listed_count = n;
    return true;
}

static phi__state phi__context_ask(phi__run *run, phi_hook_point point, phi__state here,
                                   phi__state next, bool *wait) {
    phi_hook hook;
    phi__hooked hooked;
    if (run->cancelled) {
        phi__decision_drop(&run->decision);
        return PHI__RUN_TURN_END;
    }
    if (!phi__hook_wants(run->agent, point)) return next;
    if (run->listed == NULL && !phi__context_list(run)) return phi__run_no_memory(run);
    hook = phi__hook_of(run, point);
    hook.messages = run->listed;
    hook.message_count = run->listed_count;
    hooked = phi__hook_run(run, &hook);
    if (hooked == PHI__HOOK_ALLOW && (hook.messages != NULL || hook.message_count == 0) &&
        !phi__context_take(run, &hook))
        hooked = PHI__HOOK_LOST;
    return phi__run_hooked(run, hooked, here, next, next, wait);
}

PHI__FN phi__state phi__run_transform(phi__run *run, bool *wait) {
    return phi__context_ask(run, PHI_HOOK_TRANSFORM_CONTEXT, PHI__RUN_TRANSFORM, PHI__RUN_CONVERT,
                            wait);
}

PHI__FN phi__state phi__run_convert(phi__run *run, bool *wait) {
    return phi__context_ask(run, PHI_HOOK_CONVERT_TO_LLM, PHI__RUN_CONVERT, PHI__RUN_REQUEST, wait);
}

PHI__FN bool phi__run_has_items(const phi__run *run) {
    size_t i;
    if (run->listed == NULL) return true;
    for (i = 0; i < run->listed_count; i++)
        if (run->listed[i]->role != PHI_ROLE_EXTENSION) return true;
    return false;
}

/* A list as the encoder wants it: what is of the thread's comes with what was rendered of it. */
static bool phi__context_items(phi__run *run, const phi_message *const *list, size_t count,
                               const phi__item **items) {
    const phi__thread *thread = run->agent->thread;
    phi__places ours;
    phi__item *made =
        (phi__item *)phi__arena_zero(&run->arena, phi__mul(phi__max(count, 1), sizeof *made));
    size_t i;
    if (made == NULL || !phi__places_init(&ours, &run->arena, thread->fold.count)) return false;
    for (i = 0; i < thread->fold.count; i++)
        phi__places_add(&ours, thread->fold.items[i].message, i);
    for (i = 0; i < count; i++) {
        const phi__place *place = phi__places_find(&ours, list[i]);
        made[i].message = list[i];
        if (place->message != NULL) made[i] = thread->fold.items[place->at];
    }
    *items = made;
    return true;
}

PHI__FN phi_status phi__run_items(phi__run *run, const phi__item **items, size_t *count) {
    const phi__agent *agent = run->agent;
    const phi_message *const *list;
    phi_status status;
    size_t i;
    if (run->listed == NULL && agent->translate_fn != NULL && !phi__context_list(run))
        return PHI_NO_MEMORY;
    *items = agent->thread->fold.items;
    *count = agent->thread->fold.count;
    if (run->listed == NULL) return PHI_OK;
    list = run->listed;
    *count = run->listed_count;
    if (agent->translate_fn != NULL) {
        status = agent->translate_fn(agent->user_data, &agent->model, run->listed,
                                     run->listed_count, &run->arena, &list, count);
        if (status != PHI_OK) return status;
        for (i = 0; i < *count; i++)
            if (list == NULL || list[i] == NULL ||
                (list[i]->content == NULL && list[i]->content_count > 0))
                return PHI_BAD_ARG;
    }
    return phi__context_items(run, list, *count, items) ? PHI_OK : PHI_NO_MEMORY;
}

/* ---- compaction ---- */

static phi__state phi__compact_refused(phi__run *run) {
    return phi__answer_give_up(run, run->overflow, phi__answer_status(run->overflow));
}

static bool phi__compact_tell(phi__run *run, phi_event_kind kind) {
    phi_event event;
    memset(&event, 0, sizeof event);
    event.kind = kind;
    event.compaction = run->compaction;
    return phi__emit(run->agent, &event, NULL, 0);
}

/* What is known before: also what the hook is told. */
static bool phi__compact_measure(phi__run *run) {
    phi__thread *thread = run->agent->thread;
    if (run->compaction == NULL)
        run->compaction =
            (phi_compaction *)phi__arena_zero(&thread->arena, sizeof *run->compaction);
    if (run->compaction == NULL) return false;
    run->compaction->estimated_tokens = run->compaction->tokens_before = thread->fold.tokens;
    run->compaction->message_count = run->compaction->messages_before = thread->fold.count;
    return true;
}

/* Half of it goes, or, where that took nothing away, all that may go. */
static phi__state phi__compact_do(phi__run *run) {
    phi__thread *thread = run->agent->thread;
    phi_compaction *c = run->compaction;
    uint64_t target = run->idle_compactions == 0 ? thread->fold.tokens / 2 : 0;
    size_t removed = 0;
    if (!phi__compact_tell(run, PHI_EV_COMPACTION_START) ||
        !phi__thread_truncate(thread, target, run->loop_id, run->turn_index, &removed))
        return phi__run_no_memory(run);
    c->messages_after = thread->fold.count;
    c->tokens_after = thread->fold.tokens;
    run->compactions++;
    if (removed == 0) run->idle_compactions++;
    if (!phi__compact_tell(run, PHI_EV_COMPACTION_END)) return phi__run_no_memory(run);
    return PHI__RUN_COMPACTED;
}

PHI__FN phi__state phi__run_compact(phi__run *run, bool *wait) {
    phi_hook hook = phi__hook_of(run, PHI_HOOK_BEFORE_COMPACTION);
    phi__hooked hooked;
    if (run->cancelled) {
        phi__decision_drop(&run->decision);
        return PHI__RUN_TURN_END;
    }
    if (run->compactions >= PHI__COMPACT_MOST || run->idle_compactions >= PHI__COMPACT_IDLE_MOST)
        return phi__compact_refused(run);
    if (!phi__compact_measure(run)) return phi__run_no_memory(run);
    hook.compaction = run->compaction;
    hooked = phi__hook_run(run, &hook);
    if (hooked == PHI__HOOK_DENY) return phi__compact_refused(run);
    if (hooked == PHI__HOOK_ALLOW || hooked == PHI__HOOK_WARN) return phi__compact_do(run);
    return phi__run_hooked(run, hooked, PHI__RUN_COMPACT, PHI__RUN_COMPACT, PHI__RUN_TURN_END,
                           wait);
}

PHI__FN phi__state phi__run_compacted(phi__run *run, bool *wait) {
    phi_hook hook = phi__hook_of(run, PHI_HOOK_AFTER_COMPACTION);
    bool gained = run->compaction->tokens_after < run->compaction->tokens_before;
    phi__state next = gained ? PHI__RUN_TRANSFORM : PHI__RUN_COMPACT;
    hook.compaction = run->compaction;
    next = phi__run_hooked(run, phi__hook_run(run, &hook), PHI__RUN_COMPACTED, next, next, wait);
    if (next == PHI__RUN_COMPACTED || next == PHI__RUN_OVER) return next;
    run->compaction = NULL; /* its events may still be read */
    run->listed = NULL;
    if (next == PHI__RUN_TRANSFORM) {
        run->idle_compactions = 0;
        phi__arena_rewind(&run->arena);
    }
    return next;
}
