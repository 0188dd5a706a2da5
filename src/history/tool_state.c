/* tool_state.c - the tool state of lanes, and the notes that hold it.

   A note has the whole state where the effects since the last such note would take more bytes: a
   fold reads at most about twice the state, and the notes take about twice the effects. */
#include "history/tool_state_in.h"

#include "history/effect_in.h"
#include "history/thread_in.h"
#include "text/records_in.h"

/* ---- the fold ---- */

/* A note in front of those that follow it. */
typedef struct phi__tool_state_note {
    const struct phi__tool_state_note *next;
    phi_json *root;
} phi__tool_state_note;

/* Notes of a lane, from the last one with the whole state on. False: no memory. */
static bool phi__tool_state_notes(const phi_thread *thread, const phi__limit *limits, uint64_t upto,
                                  phi_arena *arena, const phi__tool_state_note **out) {
    uint64_t skip_to = 0;
    uint32_t skip_lane = PHI__LANE_NONE;
    size_t i = thread->log.held;
    *out = NULL;
    while (i-- > 0) {
        const phi__entry *entry = thread->log.entries[i];
        phi__tool_state_note *note;
        phi_status status;
        if (entry->seq > upto || !limits[entry->lane].any || entry->seq > limits[entry->lane].seq ||
            (entry->lane == skip_lane && entry->seq >= skip_to))
            continue;
        if (entry->kind == PHI_ENTRY_LOOP_END && entry->keep == PHI_KEEP_NONE &&
            entry->ordinal > 0) { /* all of the run is undone */
            skip_lane = entry->lane;
            skip_to = (uint64_t)entry->ordinal - 1;
        }
        if (entry->kind != PHI_ENTRY_NOTE || !phi__str_is(entry->of.note->kind, PHI_NOTE_STATE))
            continue;
        note = (phi__tool_state_note *)phi__arena_zero(arena, sizeof *note);
        if (note == NULL) return false;
        status = phi_json_parse(arena, entry->of.note->json, 0, &note->root, NULL);
        if (status == PHI_NO_MEMORY) return false;
        if (status != PHI_OK) continue; /* a file may hold anything */
        note->next = *out;
        *out = note;
        if (phi_json_is(phi_json_get(note->root, "state"), PHI_JSON_OBJECT)) return true;
    }
    return true;
}

/* Applies the effects of a note; *tail: bytes of those since the whole state. */
static phi_status phi__tool_state_replay(phi__effect_tree *tree, const phi__tool_state_note *note,
                                         uint64_t *tail) {
    const phi_json *whole = phi_json_get(note->root, "state"),
                   *effects = phi_json_get(note->root, "effects"), *effect;
    phi_json_iter it = phi_json_each(effects);
    phi_status status;
    const char *why;
    if (phi_json_is(whole, PHI_JSON_OBJECT)) {
        *tail = 0;
        return phi__effect_replace(tree, whole);
    }
    phi__buf_clear(&tree->text);
    status = phi__json_write(&tree->text, effects, 0);
    *tail += tree->text.len;
    while (status == PHI_OK && (effect = phi_json_next(&it)) != NULL)
        if (phi__effect_fault(effect) == NULL)
            status = phi__effect_apply(tree, effect, PHI__TOOL_STATE_MOST, &why);
    return status;
}

static phi_status phi__tool_state_make(const phi_thread *thread, uint32_t lane, uint64_t upto,
                                       phi__buf *out, uint64_t *tail) {
    phi__limit *limits = phi__fold_limits(thread, lane, upto);
    const phi__tool_state_note *note = NULL;
    phi__effect_tree tree;
    phi_arena scratch;
    phi_status status;
    phi_arena_init(&scratch, thread->log.memory, 0);
    *tail = 0;
    status = phi__effect_open(&tree, thread->log.memory, &scratch, PHI__LIT("{}"));
    if (limits == NULL || !phi__tool_state_notes(thread, limits, upto, &scratch, &note))
        status = PHI_NO_MEMORY;
    for (; status == PHI_OK && note != NULL; note = note->next)
        status = phi__tool_state_replay(&tree, note, tail);
    if (status == PHI_OK) status = phi__json_write(out, tree.root, 0);
    phi__effect_close(&tree);
    phi__free(thread->log.memory, limits,
              limits != NULL ? phi__thread_lanes(thread) * sizeof *limits : 0);
    phi_arena_free(&scratch);
    return status == PHI_OK && !out->failed ? PHI_OK : PHI_NO_MEMORY;
}

PHI__FN phi_status phi__tool_state_fold(const phi_thread *thread, uint32_t lane, uint64_t upto,
                                        phi_arena *arena, phi_str *out) {
    phi_status status;
    uint64_t tail;
    phi__buf text;
    phi__buf_init(&text, thread->log.memory);
    status = phi__tool_state_make(thread, lane, upto, &text, &tail);
    if (status == PHI_OK && !phi__arena_str(arena, phi__buf_str(&text), out))
        status = PHI_NO_MEMORY;
    phi__buf_free(&text);
    return status;
}

/* ---- the active lane's ---- */

/* The active lane's state after an entry, in memory of its own. */
static phi_status phi__tool_state_read(phi_thread *thread, uint64_t upto,
                                       phi__tool_state_text *out) {
    phi_status status;
    uint64_t tail;
    phi__buf text;
    phi__buf_init(&text, thread->log.memory);
    memset(out, 0, sizeof *out);
    status = phi__tool_state_make(thread, thread->lanes.active, upto, &text, &tail);
    if (status == PHI_OK && !phi__kept_state_copy(thread, phi__buf_str(&text), out))
        status = PHI_NO_MEMORY;
    phi__buf_free(&text);
    if (status == PHI_OK) out->tail = tail;
    return status;
}

/* Of a run that is open, read with its thread, also the state before it: its notes may leave. */
static phi_status phi__tool_state_learn(phi_thread *thread) {
    const phi__entry *run = thread->loops.started;
    phi__tool_state_text now, before;
    phi_status status = phi__tool_state_read(thread, UINT64_MAX, &now);
    memset(&before, 0, sizeof before);
    if (status == PHI_OK && run != NULL) status = phi__tool_state_read(thread, run->seq, &before);
    if (status != PHI_OK) {
        phi__kept_state_drop(thread, &now);
        return status;
    }
    phi__kept_state_learn(thread, &now, &before, run != NULL ? run->seq + 1 : 0);
    return PHI_OK;
}

PHI__FN phi_status phi__tool_state_now(phi_thread *thread, phi_str *out) {
    phi_status status = thread->state.known ? PHI_OK : phi__tool_state_learn(thread);
    const phi__tool_state_text *now = &thread->state.now;
    *out = status == PHI_OK && now->at != NULL ? phi__str(now->at, now->len) : PHI__LIT("{}");
    return status;
}

/* ---- notes ---- */

static phi_status phi__tool_state_note_whole(phi_thread *thread, phi_str state) {
    phi_status status = PHI_NO_MEMORY;
    phi__buf note;
    phi__buf_init(&note, thread->log.memory);
    phi__buf_text(&note, "{\"state\":");
    phi__buf_add_str(&note, state);
    phi__buf_char(&note, '}');
    if (!note.failed) status = phi__note_add_of_run(thread, PHI_NOTE_STATE, phi__buf_str(&note));
    phi__buf_free(&note);
    return status == PHI_OK ? PHI_OK : PHI_NO_MEMORY;
}

PHI__FN phi_status phi__tool_state_at(const phi_thread *thread, uint32_t lane, uint64_t upto,
                                      phi_arena *arena, phi_str *out) {
    if (lane == thread->lanes.active && (upto == UINT64_MAX || upto + 1 >= thread->log.count))
        return phi__tool_state_now((phi_thread *)(uintptr_t)thread, out);
    return phi__tool_state_fold(thread, lane, upto, arena, out);
}

PHI__FN bool phi__tool_state_carry(phi_thread *thread, const phi_thread *from, uint32_t lane,
                                   uint64_t upto) {
    phi_arena scratch;
    phi_str text;
    bool done;
    phi_arena_init(&scratch, thread->log.memory, 0);
    done = phi__tool_state_at(from, lane, upto, &scratch, &text) == PHI_OK;
    if (done && !phi__str_is(text, "{}")) done = phi__tool_state_note_whole(thread, text) == PHI_OK;
    phi__kept_state_unknown(thread);
    phi_arena_free(&scratch);
    return done;
}

PHI__FN phi_status phi__tool_state_set(phi_thread *thread, phi_str json, size_t max_bytes) {
    phi__tool_state_text made;
    phi_json *root = NULL;
    phi_arena scratch;
    phi__buf text;
    phi_status status;
    phi_str now;
    phi_arena_init(&scratch, thread->log.memory, 0);
    phi__buf_init(&text, thread->log.memory);
    memset(&made, 0, sizeof made);
    status = phi_json_parse(&scratch, json, PHI_JSON_BORROW, &root, NULL);
    if (status == PHI_OK && phi_json_is(root, PHI_JSON_OBJECT))
        status = phi__json_write(&text, root, 0);
    if (status == PHI_OK && (!phi_json_is(root, PHI_JSON_OBJECT) || text.len > max_bytes))
        status = PHI_BAD_ARG;
    if (status != PHI_OK && status != PHI_NO_MEMORY) status = PHI_BAD_ARG;
    if (status == PHI_OK) status = phi__tool_state_now(thread, &now); /* for a run that is undone */
    if (status == PHI_OK && !phi__kept_state_copy(thread, phi__buf_str(&text), &made))
        status = PHI_NO_MEMORY;
    if (status == PHI_OK) status = phi__tool_state_note_whole(thread, phi__buf_str(&text));
    if (status == PHI_OK)
        phi__kept_state_take(thread, &made);
    else
        phi__kept_state_drop(thread, &made);
    phi__buf_free(&text);
    phi_arena_free(&scratch);
    return status;
}

/* ---- the effects of a call ---- */

/* Applies the effects to the tree, and writes the applied ones and the others as lists. */
static phi_status phi__tool_state_run(phi__effect_tree *tree, const phi_json *list,
                                      const phi__tool_state_order *order, phi_arena *arena,
                                      phi__tool_state_outcome *outcomes, phi__buf *applied,
                                      phi__buf *denied) {
    phi_json_iter it = phi_json_each(list);
    const phi_json *effect;
    phi_status status = PHI_OK;
    for (; status == PHI_OK && (effect = phi_json_next(&it)) != NULL; outcomes++) {
        outcomes->op = phi__effect_op(effect);
        outcomes->why = phi__effect_fault(effect);
        if (outcomes->why == NULL && (order->allowed & outcomes->op) == 0)
            outcomes->why = "the policy denies it";
        if (outcomes->why == NULL && outcomes->op != PHI_EFFECT_EMIT)
            status = phi__effect_apply(tree, effect, order->max_bytes, &outcomes->why);
        if (outcomes->why == NULL && outcomes->op == PHI_EFFECT_EMIT) {
            outcomes->name = phi_json_str(phi_json_get(effect, "name"), "");
            status = phi_json_write(arena, phi_json_get(effect, "value"), 0, &outcomes->value);
        }
        if (status != PHI_OK) break;
        if (outcomes->why == NULL) {
            phi__json_write_comma(applied);
            status = phi__json_write(applied, effect, 0);
            continue;
        }
        phi__json_write_comma(denied);
        phi__buf_char(denied, '{');
        phi__records_str(denied, "op", phi_str_of(phi__effect_word(outcomes->op)));
        phi__records_str(denied, "why", phi_str_of(outcomes->why));
        phi__buf_char(denied, '}');
    }
    return status;
}

/* whole: the state after it is part of the note. */
static phi_status phi__tool_state_note_effects(phi_thread *thread, phi_str call_id, phi_str applied,
                                               phi_str denied, const phi_str *whole) {
    phi_status status = PHI_NO_MEMORY;
    phi__buf note;
    phi__buf_init(&note, thread->log.memory);
    phi__buf_char(&note, '{');
    phi__records_some(&note, "call", call_id);
    phi__json_write_key(&note, PHI__LIT("effects"));
    phi__buf_add_str(&note, applied);
    if (denied.len > 2) {
        phi__json_write_key(&note, PHI__LIT("denied"));
        phi__buf_add_str(&note, denied);
    }
    if (whole != NULL) {
        phi__json_write_key(&note, PHI__LIT("state"));
        phi__buf_add_str(&note, *whole);
    }
    phi__buf_char(&note, '}');
    if (!note.failed) status = phi__note_add_of_run(thread, PHI_NOTE_STATE, phi__buf_str(&note));
    phi__buf_free(&note);
    return status == PHI_OK ? PHI_OK : PHI_NO_MEMORY;
}

/* The note, and then the text. */
static phi_status phi__tool_state_commit(phi_thread *thread, phi_str call_id, const phi__buf *text,
                                         const phi__buf *applied, const phi__buf *denied) {
    uint64_t tail = thread->state.now.tail + applied->len;
    bool whole = tail > text->len;
    phi_str state = phi__buf_str(text);
    phi__tool_state_text made;
    phi_status status;
    if (!phi__kept_state_copy(thread, state, &made)) return PHI_NO_MEMORY;
    made.tail = whole ? 0 : tail;
    status = phi__tool_state_note_effects(thread, call_id, phi__buf_str(applied),
                                          phi__buf_str(denied), whole ? &state : NULL);
    if (status == PHI_OK)
        phi__kept_state_take(thread, &made);
    else
        phi__kept_state_drop(thread, &made);
    return status;
}

PHI__FN phi_status phi__tool_state_apply(phi_thread *thread, const phi__tool_state_order *order,
                                         phi_arena *arena, phi__tool_state_outcome **outcomes,
                                         size_t *count, bool *changed) {
    phi__buf text, applied, denied;
    phi__effect_tree tree;
    phi_json *list = NULL;
    phi_str now;
    phi_status status = phi_json_parse(arena, order->effects, 0, &list, NULL);
    *count = status == PHI_OK && phi_json_is(list, PHI_JSON_ARRAY) ? phi_json_count(list) : 0;
    *changed = false;
    if (status == PHI_NO_MEMORY || phi__tool_state_now(thread, &now) != PHI_OK)
        return PHI_NO_MEMORY;
    *outcomes = (phi__tool_state_outcome *)phi__arena_zero(
        arena, phi__mul(phi__max(*count, 1), sizeof **outcomes));
    if (*outcomes == NULL) return PHI_NO_MEMORY;
    if (*count == 0) return PHI_OK;
    phi__buf_init(&text, thread->log.memory);
    phi__buf_init(&applied, thread->log.memory);
    phi__buf_init(&denied, thread->log.memory);
    phi__buf_char(&applied, '[');
    phi__buf_char(&denied, '[');
    status = phi__effect_open(&tree, thread->log.memory, arena, now);
    if (status == PHI_OK)
        status = phi__tool_state_run(&tree, list, order, arena, *outcomes, &applied, &denied);
    if (status == PHI_OK) status = phi__json_write(&text, tree.root, 0);
    phi__effect_close(&tree);
    phi__buf_char(&applied, ']');
    phi__buf_char(&denied, ']');
    if (status == PHI_OK && (text.failed || applied.failed || denied.failed))
        status = PHI_NO_MEMORY;
    if (status == PHI_OK) *changed = text.len != now.len || memcmp(text.at, now.at, now.len) != 0;
    if (status == PHI_OK)
        status = phi__tool_state_commit(thread, order->call_id, &text, &applied, &denied);
    phi__buf_free(&text);
    phi__buf_free(&applied);
    phi__buf_free(&denied);
    return status == PHI_OK ? PHI_OK : PHI_NO_MEMORY;
}
