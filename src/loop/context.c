/* context.c - what the model will see: the host's changes to the list.

   The list is prepared once a turn and is the same for all attempts. Where no hook wants it, the
   thread's own projection is taken as it is, and what was rendered of it. */
#include "loop/loop_in.h"
#include "wire/hash_in.h"

/* ---- the host's list ---- */

/* What there is to be changed. */
static const phi__item *phi__context_ours(const phi__run *run, size_t *count) {
    const phi__fold *fold = &run->agent->thread->fold;
    const phi__item *shown = phi__projection_list(run, count);
    if (shown != NULL) return shown;
    *count = fold->count;
    return fold->items;
}

static bool phi__context_list(phi__run *run) {
    size_t count, i;
    const phi__item *ours = phi__context_ours(run, &count);
    run->listed.messages = (const phi_message **)phi_arena_alloc(
        &run->arena, phi__mul(phi__max(count, 1), sizeof *run->listed.messages));
    if (run->listed.messages == NULL) return false;
    for (i = 0; i < count; i++) run->listed.messages[i] = ours[i].message;
    run->listed.count = count;
    return true;
}

/* Where messages stand, by their addresses: a host's list may have any order, and messages of its
   own. An open table, half empty. */
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

/* Takes what the hook has made of the list; its own messages are copied for the turn. Holes are
   left out. */
static bool phi__context_take(phi__run *run, const phi_hook *hook) {
    const phi_message **list;
    phi__places ours;
    size_t i, n = 0;
    if (hook->messages == run->listed.messages && hook->message_count == run->listed.count)
        return true;
    list = (const phi_message **)phi_arena_alloc(
        &run->arena, phi__mul(phi__max(hook->message_count, 1), sizeof *list));
    if (list == NULL || !phi__places_init(&ours, &run->arena, run->listed.count)) return false;
    for (i = 0; i < run->listed.count; i++) phi__places_add(&ours, run->listed.messages[i], i);
    for (i = 0; i < hook->message_count; i++) {
        const phi_message *message = hook->messages[i];
        if (message == NULL || (message->content == NULL && message->content_count > 0)) continue;
        list[n] = phi__places_find(&ours, message)->message != NULL
                      ? message
                      : phi_message_copy(message, &run->arena);
        if (list[n++] == NULL) return false;
    }
    run->listed.messages = list;
    run->listed.count = n;
    return true;
}

static phi__state phi__context_ask(phi__run *run, phi_hook_point point, phi__state here,
                                   phi__state next, bool *wait) {
    phi_hook hook;
    phi__hooked hooked;
    if (run->end.cancelled) {
        phi__decision_drop(&run->decision);
        return PHI__RUN_TURN_END;
    }
    if (!phi__hook_wants(run->agent, point)) return next;
    if (run->listed.messages == NULL && !phi__context_list(run)) return PHI__RUN_LOST;
    hook = phi__hook_of(run, point);
    hook.messages = run->listed.messages;
    hook.message_count = run->listed.count;
    hooked = phi__hook_run(run, &hook);
    if (hooked == PHI__HOOK_ALLOW && (hook.messages != NULL || hook.message_count == 0) &&
        !phi__context_take(run, &hook))
        hooked = PHI__HOOK_LOST;
    return phi__run_hooked(run, hooked, here, next, next, wait);
}

static void phi__context_pin_at(const phi__places *listed, const phi_message *message,
                                phi__segment *segment) {
    if (phi__places_find(listed, message)->message != NULL) phi__log_pin(segment);
}

PHI__FN bool phi__context_pin(phi__run *run) {
    const phi_thread *thread = run->agent->thread;
    const phi__op *op;
    phi__places listed;
    phi_arena scratch;
    size_t i, j;
    bool done;
    if (run->listed.messages == NULL) return true;
    phi_arena_init(&scratch, &run->agent->memory, 0);
    done = phi__places_init(&listed, &scratch, run->listed.count);
    for (i = 0; done && i < run->listed.count; i++)
        phi__places_add(&listed, run->listed.messages[i], i);
    for (i = 0; done && i < thread->log.held; i++)
        if (thread->log.entries[i]->kind == PHI_ENTRY_MESSAGE)
            phi__context_pin_at(&listed, thread->log.entries[i]->message,
                                thread->log.entries[i]->segment);
    for (op = done ? thread->ops.last : NULL; op != NULL; op = op->earlier)
        for (i = 0; i < op->rewrite.span_count; i++)
            for (j = 0; j < op->rewrite.spans[i].message_count; j++)
                phi__context_pin_at(&listed, &op->rewrite.spans[i].messages[j], op->segment);
    phi_arena_free(&scratch);
    return done;
}

PHI__FN phi__state phi__run_transform(phi__run *run, bool *wait) {
    phi__state next;
    if (!run->end.cancelled && !phi__run_show(run, &next)) return next;
    return phi__context_ask(run, PHI_HOOK_TRANSFORM_CONTEXT, PHI__RUN_TRANSFORM, PHI__RUN_CONVERT,
                            wait);
}

PHI__FN phi__state phi__run_convert(phi__run *run, bool *wait) {
    return phi__context_ask(run, PHI_HOOK_CONVERT_TO_LLM, PHI__RUN_CONVERT, PHI__RUN_REQUEST, wait);
}

PHI__FN bool phi__context_listed(const phi__run *run) { return run->listed.messages != NULL; }

PHI__FN void phi__context_clear(phi__run *run) { run->listed.messages = NULL; }

PHI__FN bool phi__run_has_items(const phi__run *run) {
    size_t i, count = 0;
    if (run->listed.messages == NULL) return phi__projection_list(run, &count) == NULL || count > 0;
    for (i = 0; i < run->listed.count; i++)
        if (run->listed.messages[i]->role != PHI_ROLE_EXTENSION) return true;
    return false;
}

/* A list as the encoder wants it: what is of the thread's comes with what was rendered of it. */
static bool phi__context_items(phi__run *run, const phi_message *const *list, size_t count,
                               const phi__item **items) {
    size_t known_count, i;
    const phi__item *known = phi__context_ours(run, &known_count);
    phi__places ours;
    phi__item *made =
        (phi__item *)phi__arena_zero(&run->arena, phi__mul(phi__max(count, 1), sizeof *made));
    if (made == NULL || !phi__places_init(&ours, &run->arena, known_count)) return false;
    for (i = 0; i < known_count; i++) phi__places_add(&ours, known[i].message, i);
    for (i = 0; i < count; i++) {
        const phi__place *place = phi__places_find(&ours, list[i]);
        made[i].message = list[i];
        if (place->message != NULL) made[i] = known[place->at];
    }
    *items = made;
    return true;
}

PHI__FN phi_status phi__run_items(phi__run *run, const phi__item **items, size_t *count) {
    const phi__agent *agent = run->agent;
    const phi_message *const *list;
    phi_status status;
    size_t i;
    if (run->listed.messages == NULL && agent->desc.translate_fn != NULL && !phi__context_list(run))
        return PHI_NO_MEMORY;
    *items = phi__context_ours(run, count);
    if (run->listed.messages == NULL) return PHI_OK;
    list = run->listed.messages;
    *count = run->listed.count;
    if (agent->desc.translate_fn != NULL) {
        status = agent->desc.translate_fn(agent->desc.user_data, &agent->desc.model,
                                          run->listed.messages, run->listed.count, &run->arena,
                                          &list, count);
        if (status != PHI_OK) return status;
        for (i = 0; i < *count; i++)
            if (list == NULL || list[i] == NULL ||
                (list[i]->content == NULL && list[i]->content_count > 0))
                return PHI_BAD_ARG;
    }
    return phi__context_items(run, list, *count, items) ? PHI_OK : PHI_NO_MEMORY;
}
