/* deferred.c - a host's rewrites: applied at once, or deferred until the active run has ended.

   An agent has one slot: a newer rewrite replaces the deferred one. An event reports the outcome of
   each rewrite. A note in the log holds the deferred rewrite. */
#include "features/features_in.h"

#include <stdio.h>

/* ---- notes of deferred rewrites in the log ----

   With these notes a rewrite outlives the process if the log is in a store. A note of kind
   PHI_NOTE_DEFERRED holds the deferred rewrite. A later note of that kind replaces it; a null note
   means that none is deferred. If the log has a rewrite with the same op_id, the deferred rewrite
   was applied. Logs without a store have these notes, too, so a log's content does not depend on
   its place. */

/* phi__deferred_note_put writes a rewrite as a JSON object. phi__deferred_note_get reads such an
   object and passes the rewrite to `take`. Returns PHI_PARSE if the object is no rewrite, or
   PHI_NO_MEMORY. After any other failure of `take` returns PHI_OK, because an event has reported
   it. */
static void phi__deferred_note_put(phi__buf *out, const phi_rewrite *rewrite, bool must_gain,
                                   phi_arena *scratch) {
    phi__buf_char(out, '{');
    if (rewrite->lane != NULL) {
        phi__json_write_key(out, PHI__LIT("lane"));
        phi__json_write_str(out, phi_str_of(rewrite->lane));
    }
    phi__write_rewrite(out, rewrite, scratch);
    if (must_gain) {
        phi__json_write_key(out, PHI__LIT("must_gain"));
        phi__buf_text(out, "true");
    }
    phi__buf_char(out, '}');
}

static phi_status phi__deferred_note_get(phi__agent *agent, const phi_json *node,
                                         phi_status (*take)(phi__agent *agent,
                                                            const phi_rewrite *rewrite,
                                                            bool must_gain)) {
    phi__entry_reader reader;
    phi_rewrite rewrite;
    phi__get_reader_init(&reader, agent->thread);
    phi_status status = phi__get_rewrite(&reader, node, &rewrite);
    if (status == PHI_OK) {
        status = take(agent, &rewrite, phi_json_bool(phi_json_get(node, "must_gain"), false));
        if (status != PHI_NO_MEMORY) status = PHI_OK; /* an event has reported the outcome */
    }
    phi__get_reader_free(&reader);
    return status;
}

/* Returns the note of the deferred rewrite, from the entries in memory. NULL: none is deferred. */
static const phi__note *phi__deferred_note_last(const phi_thread *thread) {
    size_t i = thread->log.held;
    while (i-- > 0) {
        const phi__entry *entry = thread->log.entries[i];
        if (entry->kind != PHI_ENTRY_NOTE || !phi__str_is(entry->of.note->kind, PHI_NOTE_DEFERRED))
            continue;
        return phi__str_is(entry->of.note->json, "null") ? NULL : entry->of.note;
    }
    return NULL;
}

/* phi__deferred_note adds a note of this rewrite to the log; phi__deferred_note_over adds a null
   note. PHI_NO_MEMORY: nothing changed. */
static phi_status phi__deferred_note(phi__agent *agent, const phi_rewrite *rewrite,
                                     bool must_gain) {
    phi__buf json;
    phi_arena scratch;
    phi__buf_init(&json, &agent->memory);
    phi_arena_init(&scratch, &agent->memory, 0);
    phi__deferred_note_put(&json, rewrite, must_gain, &scratch);
    phi_status status =
        json.failed ? PHI_NO_MEMORY
                    : phi__note_add(agent->thread, PHI_NOTE_DEFERRED, phi__buf_str(&json), NULL);
    phi_arena_free(&scratch);
    phi__buf_free(&json);
    return status;
}

static phi_status phi__deferred_note_over(phi__agent *agent) {
    return phi__note_add(agent->thread, PHI_NOTE_DEFERRED, PHI__LIT("null"), NULL);
}

/* ---- the rewrites ---- */

typedef struct phi__deferred {
    phi_arena arena;
    phi_rewrite rewrite;
    bool must_gain; /* the rewrite is refused unless it makes the view smaller */
} phi__deferred;

/* The feature's state of an agent. */
typedef struct phi__deferrals {
    phi__deferred *waits; /* the rewrite that waits for the run's end; or NULL */
} phi__deferrals;

static phi__deferrals *phi__deferred_of(const phi__agent *agent) {
    return (phi__deferrals *)phi__feature_agent_state(agent, phi_feature_deferred_rewrites);
}

static void phi__deferred_forget(phi__agent *agent) {
    phi__deferrals *all = phi__deferred_of(agent);
    phi__deferred *slot = all->waits;
    all->waits = NULL;
    if (slot == NULL) return;
    phi_arena_free(&slot->arena);
    phi__free(&agent->memory, slot, sizeof *slot);
}

/* Emits the outcome. words: static, or in the thread's memory. */
static bool phi__deferred_emit(phi__agent *agent, const phi_rewrite *rewrite, phi_status status,
                               phi_str words) {
    phi_event event = PHI_ZERO;
    event.kind = PHI_EV_REWRITE;
    event.status = status;
    event.text = phi_str_of(rewrite->op_id);
    event.source = words;
    return phi__events_emit(agent, &event);
}

static phi_status phi__deferred_over(phi__agent *agent, const phi_rewrite *rewrite,
                                     phi_status status, const char *words) {
    phi_str kept = {"", 0};
    phi_rewrite emitted = *rewrite;
    bool named = emitted.op_id != NULL && emitted.op_id[0] != '\0';
    if (status == PHI_OK && !named) emitted.op_id = agent->thread->ops.last->rewrite.op_id;
    if (words[0] != '\0' &&
        !phi__arena_str(phi__thread_room(agent->thread), phi_str_of(words), &kept))
        status = status == PHI_OK ? PHI_OK : PHI_NO_MEMORY;
    /* the rewrite was applied, even if the event is lost */
    (void)phi__deferred_emit(agent, &emitted, status, kept);
    return status;
}

static phi_status phi__deferred_do(phi__agent *agent, const phi_rewrite *rewrite, bool must_gain) {
    char words[200];
    bool duplicate = false;
    if (must_gain && !phi__weigh_gains(agent, rewrite))
        return phi__deferred_over(agent, rewrite, PHI_REFUSED,
                                  "the summary is no shorter than what it would replace");
    phi_status status = phi__edit_rewrite(agent->thread, rewrite, phi__str("", 0), 0, &duplicate,
                                          words, sizeof words);
    if (duplicate)
        (void)snprintf(words, sizeof words, "nothing was done: a rewrite of this op_id is there");
    return phi__deferred_over(agent, rewrite, status, words);
}

/* Defers a rewrite. If this replaces a deferred rewrite, an event reports the old one, if memory
   allows. */
static phi_status phi__deferred_wait(phi__agent *agent, const phi_rewrite *rewrite, bool must_gain,
                                     bool noted) {
    char words[200], made[PHI__OP_MADE_SIZE];
    phi_status status =
        phi__rewrite_check(agent->thread, rewrite, PHI__REWRITE_FORM, words, sizeof words);
    if (status != PHI_OK) return phi__deferred_over(agent, rewrite, status, words);
    phi__deferred *slot = (phi__deferred *)phi__alloc(&agent->memory, sizeof *slot);
    if (slot == NULL) return PHI_NO_MEMORY;
    slot->must_gain = must_gain;
    phi_arena_init(&slot->arena, &agent->memory, 0);
    bool good = phi__rewrite_copy(&slot->arena, rewrite, &slot->rewrite);
    const char *id = slot->rewrite.op_id;
    /* the op_id shows another process if the rewrite was applied */
    if (good && (id == NULL || id[0] == '\0')) {
        phi_str kept;
        phi__rewrite_name(agent->thread, made);
        good = phi__arena_str(&slot->arena, phi_str_of(made), &kept);
        if (good) slot->rewrite.op_id = kept.at;
    }
    if (good && !noted) good = phi__deferred_note(agent, &slot->rewrite, must_gain) == PHI_OK;
    if (!good) {
        phi_arena_free(&slot->arena);
        phi__free(&agent->memory, slot, sizeof *slot);
        return PHI_NO_MEMORY;
    }
    phi__deferrals *all = phi__deferred_of(agent);
    if (!noted && all->waits != NULL)
        (void)phi__deferred_emit(agent, &all->waits->rewrite, PHI_CANCELLED,
                                 PHI__LIT("a newer rewrite took its place"));
    phi__deferred_forget(agent);
    all->waits = slot;
    return PHI_OK;
}

/* Applies or defers a rewrite of which the log has a note. The op_id may be one that phi made. */
static phi_status phi__deferred_take(phi__agent *agent, const phi_rewrite *rewrite,
                                     bool must_gain) {
    if (agent->run != NULL) return phi__deferred_wait(agent, rewrite, must_gain, true);
    phi_status status = phi__deferred_do(agent, rewrite, must_gain);
    if (status != PHI_OK && status != PHI_NO_MEMORY) (void)phi__deferred_note_over(agent);
    return status;
}

PHI__FN phi_status phi__deferred_rewrite(phi__agent *agent, const phi_rewrite *rewrite,
                                         bool must_gain) {
    char words[200];
    phi_status status = phi__feature_need(agent->rt, PHI__FEATURE_AT_DEFERRED, "phi_agent_rewrite",
                                          "phi_feature_deferred_rewrites");
    if (status != PHI_OK) return status;
    if (agent->run == NULL && agent->thread->user != NULL) return PHI_BUSY;
    status = phi__rewrite_check(agent->thread, rewrite, PHI__REWRITE_GIVEN, words, sizeof words);
    if (status != PHI_OK) return phi__deferred_over(agent, rewrite, status, words);
    return agent->run != NULL ? phi__deferred_wait(agent, rewrite, must_gain, false)
                              : phi__deferred_do(agent, rewrite, must_gain);
}

/* Applies a rewrite that another process had deferred, and emits the outcome. Returns PHI_OK or
   PHI_NO_MEMORY. */
static phi_status phi__deferred_recover(phi__agent *agent) {
    const phi__note *note = phi__deferred_note_last(agent->thread);
    phi_json *root = NULL;
    phi_arena scratch;
    phi_status status = PHI_OK;
    if (note == NULL) return PHI_OK;
    phi_arena_init(&scratch, &agent->memory, 0);
    status = phi_json_parse(&scratch, note->json, 0, &root, NULL);
    phi_str op_id = phi_json_str(phi_json_get(root, "op_id"), "");
    if (status == PHI_OK && phi__ops_find(agent->thread, op_id) == NULL)
        status = phi__deferred_note_get(agent, root, phi__deferred_take);
    phi_arena_free(&scratch);
    /* an invalid note is ignored: the host may have written it */
    return status == PHI_NO_MEMORY ? status : PHI_OK;
}

PHI__FN phi_status phi__deferred_withdraw(phi__agent *agent) {
    const phi__deferrals *all = phi__deferred_of(agent);
    const phi__deferred *slot = all != NULL ? all->waits : NULL;
    if (slot == NULL) return PHI_NOT_FOUND;
    if (phi__deferred_note_over(agent) != PHI_OK) return PHI_NO_MEMORY;
    (void)phi__deferred_emit(agent, &slot->rewrite, PHI_CANCELLED, PHI__LIT("it was withdrawn"));
    phi__deferred_forget(agent);
    return PHI_OK;
}

static phi__state phi__deferred_at(phi__moment *moment) {
    phi__agent *agent = moment->agent;
    const phi__deferred *slot = ((const phi__deferrals *)moment->agent_state)->waits;
    switch (moment->point) {
    case PHI__POINT_RUN_ENDS:
    case PHI__POINT_RUN_OVER: /* the run's last hook may have deferred a rewrite */
        if (slot == NULL) break;
        if (phi__deferred_do(agent, &slot->rewrite, slot->must_gain) != PHI_OK)
            (void)phi__deferred_note_over(agent);
        phi__deferred_forget(agent);
        break;
    case PHI__POINT_AGENT_FREED: phi__deferred_forget(agent); break;
    case PHI__POINT_AGENT_SAVE_LATE:
        if (slot == NULL) break;
        phi__json_write_key(moment->out, PHI__LIT("put_off"));
        phi__deferred_note_put(moment->out, &slot->rewrite, slot->must_gain, moment->scratch);
        break;
    case PHI__POINT_AGENT_LOAD_LATE: {
        /* without an active run, the rewrite is applied now, and an event reports the outcome */
        const phi_json *node = phi_json_get(moment->json, "put_off");
        if (node != NULL) moment->status = phi__deferred_note_get(agent, node, phi__deferred_take);
        break;
    }
    case PHI__POINT_LOG_OPENED: moment->status = phi__deferred_recover(agent); break;
    default: break;
    }
    return PHI__RUN_ON;
}

static phi_str phi__deferred_op_id(const phi__agent *agent) {
    const phi__deferred *slot = phi__deferred_of(agent)->waits;
    return slot != NULL ? phi_str_of(slot->rewrite.op_id) : phi__str("", 0);
}

static void phi__deferred_open(phi_runtime *rt) { rt->features.deferred_fn = phi__deferred_op_id; }

PHI_API const phi__feature *phi_feature_deferred_rewrites(void) {
    enum {
        points = PHI__POINT_RUN_ENDS | PHI__POINT_RUN_OVER | PHI__POINT_AGENT_FREED |
                 PHI__POINT_AGENT_SAVE_LATE | PHI__POINT_AGENT_LOAD_LATE | PHI__POINT_LOG_OPENED
    };
    static const phi__feature feature = {points,
                                         0,
                                         sizeof(phi__deferrals),
                                         phi__deferred_at,
                                         NULL,
                                         PHI__FEATURE_AT_DEFERRED,
                                         phi__deferred_open,
                                         NULL};
    return &feature;
}
