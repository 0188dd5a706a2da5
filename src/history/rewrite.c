/* rewrite.c - rewrites, the only way to change a view: checked, applied, appended. */
#include "history/rewrite_in.h"

#include "model/message_in.h"
#include "history/load_in.h"
#include "history/thread_in.h"
#include "wire/hash_in.h"

#include <stdio.h>

/* ---- keeping it ---- */

static bool phi__rewrite_text(phi_arena *arena, const char **text) {
    phi_str copy;
    if (*text == NULL) return true;
    if (!phi__arena_str(arena, phi_str_of(*text), &copy)) return false;
    *text = copy.at;
    return true;
}

static bool phi__rewrite_copy_span(phi_arena *arena, phi_span *span) {
    phi_message *messages;
    size_t i;
    if (span->message_count == 0) return true;
    messages =
        (phi_message *)phi_arena_alloc(arena, phi__mul(span->message_count, sizeof *messages));
    if (messages == NULL) return false;
    for (i = 0; i < span->message_count; i++)
        if (!phi__message_copy(&span->messages[i], arena, &messages[i])) return false;
    span->messages = messages;
    return true;
}

static bool phi__rewrite_written(phi_arena *arena, const phi_written **written) {
    phi_written *copy;
    if (*written == NULL) return true;
    copy = (phi_written *)phi_arena_alloc(arena, sizeof *copy);
    if (copy == NULL) return false;
    *copy = **written;
    *written = copy;
    return phi__rewrite_text(arena, &copy->model);
}

/* The id comes first, right behind the op: a lookup by id reads both. */
PHI__FN bool phi__rewrite_copy(phi_arena *arena, const phi_rewrite *given, phi_rewrite *out) {
    phi_span *spans;
    size_t i;
    *out = *given;
    out->spans = NULL;
    if (!phi__rewrite_text(arena, &out->op_id) || !phi__rewrite_text(arena, &out->lane) ||
        !phi__rewrite_text(arena, &out->revoke) || !phi__rewrite_text(arena, &out->meta) ||
        !phi__rewrite_text(arena, &out->switch_to) || !phi__rewrite_written(arena, &out->written))
        return false;
    if (given->span_count == 0) return true;
    spans = (phi_span *)phi_arena_alloc(arena, phi__mul(given->span_count, sizeof *spans));
    if (spans == NULL) return false;
    out->spans = spans;
    for (i = 0; i < given->span_count; i++) {
        spans[i] = given->spans[i];
        if (!phi__rewrite_copy_span(arena, &spans[i])) return false;
    }
    return true;
}

/* A name that no rewrite has: a log of version 0.1.0 may have one of this form from its host. */
PHI__FN void phi__rewrite_name(const phi_thread *thread, char out[PHI__OP_MADE_SIZE]) {
    uint64_t n = thread->log.count;
    do (void)snprintf(out, PHI__OP_MADE_SIZE, PHI__OP_MADE, (unsigned long long)n++);
    while (phi__ops_find(thread, phi_str_of(out)) != NULL ||
           phi__hashes_has(&thread->ops.away, phi__hash(phi_str_of(out), 0)));
}

static phi__op *phi__rewrite_keep(phi_thread *thread, const phi_rewrite *given, uint32_t lane,
                                  uint64_t base) {
    phi_arena *room = phi__thread_room(thread);
    phi__op *op = (phi__op *)phi__arena_zero(room, sizeof *op);
    phi_rewrite named = *given;
    char made[PHI__OP_MADE_SIZE];
    size_t i, j;
    if (op == NULL) return NULL;
    if (!phi__rewrite_check_named(given)) {
        phi__rewrite_name(thread, made);
        named.op_id = made;
    }
    named.lane = NULL; /* it is in the op */
    named.base_seq = base;
    named.has_base = true;
    op->lane = lane;
    op->segment = thread->log.segments.current;
    if (!phi__rewrite_copy(room, &named, &op->rewrite)) return NULL;
    for (i = 0; i < given->span_count; i++) {
        op->message_count = phi__add(op->message_count, given->spans[i].message_count);
        for (j = 0; j < given->spans[i].message_count; j++)
            if (!phi__append_claim_calls(thread, &given->spans[i].messages[j])) return NULL;
    }
    if (op->message_count == 0) return op;
    op->rendered =
        (phi__rendered **)phi__arena_zero(room, phi__mul(op->message_count, sizeof *op->rendered));
    return op->rendered != NULL ? op : NULL;
}

static phi__entry *phi__rewrite_entry(phi_thread *thread, phi__op *op, phi_str loop_id,
                                      uint32_t turn_index) {
    phi__entry *entry = (phi__entry *)phi__arena_zero(phi__thread_room(thread), sizeof *entry);
    if (entry == NULL || !phi__append_reserve(thread, 1, 0) || !phi__ops_room(thread, op))
        return NULL;
    entry->kind = PHI_ENTRY_REWRITE;
    entry->at_ms = phi__thread_now(thread);
    entry->loop_id = loop_id;
    entry->turn_index = turn_index;
    entry->of.op = op;
    return entry;
}

static void phi__rewrite_append(phi_thread *thread, phi__op *op, phi__entry *entry) {
    op->seq = thread->log.count;
    phi__ops_add(thread, op);
    if (op->rewrite.written != NULL) phi__append_count_written(thread, &op->rewrite.written->usage);
    phi__append_attach(thread, entry, 1);
    phi__thread_evictable(thread);
}

/* The view of the lane that it switches to. */
static phi_status phi__rewrite_look_ahead(phi__rewriting *w) {
    phi_thread *thread = w->thread;
    if (w->given->switch_to == NULL) return PHI_OK;
    w->next = phi__lane_find(thread, phi_str_of(w->given->switch_to));
    w->moves = w->next != thread->lanes.active;
    return w->moves && thread->loading == NULL && w->next != PHI__LANE_NONE
               ? phi__fold_lane(thread, w->next, UINT64_MAX, &w->projected)
               : PHI_OK;
}

/* Applies a rewrite to the fold. False: no memory, and nothing changed; else a lane that begins has
   its entry, and the rest cannot fail. */
static bool phi__rewrite_fold(phi__rewriting *w, phi__op *op) {
    phi_thread *thread = w->thread;
    if (thread->loading != NULL) return phi__load_may_enter(thread) && phi__load_apply(thread, op);
    if (!w->moves)
        return w->lane != thread->lanes.active ||
               (phi__runs_keep_undo(thread) && phi__fold_op(thread, &thread->fold, op));
    if (w->next != PHI__LANE_NONE)
        return (w->lane != w->next || phi__fold_op(thread, &w->projected, op)) &&
               phi__lane_messages(thread, w->next);
    return phi__append_reserve(thread, 2, 0) && /* the lane's entry, and its own */
           phi__lane_new(thread, phi_str_of(w->given->switch_to), PHI__LANE_NONE, 0, &w->next) ==
               PHI_OK;
}

static phi_status phi__rewrite_apply(phi__rewriting *w, phi_str loop_id, uint32_t turn_index) {
    phi_thread *thread = w->thread;
    phi_arena *room = phi__thread_room(thread);
    phi_arena_mark mark = phi_arena_save(room);
    phi_status status = phi__rewrite_look_ahead(w);
    bool begins = w->next == PHI__LANE_NONE;
    phi__op *op = NULL;
    phi__entry *entry = NULL;
    if (status != PHI_OK) return status;
    op = phi__rewrite_keep(thread, w->given, w->lane, w->base);
    if (op != NULL) entry = phi__rewrite_entry(thread, op, loop_id, turn_index);
    if (entry == NULL || !phi__rewrite_fold(w, op)) {
        phi__fold_free(thread->log.memory, &w->projected);
        phi_arena_reset(room, mark);
        return PHI_NO_MEMORY;
    }
    phi__rewrite_append(thread, op, entry);
    if (w->moves && thread->loading != NULL)
        phi__load_enter(thread, w->next);
    else if (w->moves)
        phi__lane_enter(thread, w->next, begins ? NULL : &w->projected);
    return PHI_OK;
}

/* ---- undoing ---- */

static bool phi__rewrite_touches(const phi_rewrite *a, const phi_rewrite *b) {
    size_t i = 0, j = 0;
    while (i < a->span_count && j < b->span_count) {
        if (a->spans[i].to < b->spans[j].from)
            i++;
        else if (b->spans[j].to < a->spans[i].from)
            j++;
        else
            return true;
    }
    return false;
}

/* Replaces the lane's fold by one without a rewrite: the originals are in the log. */
static phi_status phi__rewrite_unfold(phi_thread *thread, phi__op *target) {
    phi__fold fold;
    phi_status status;
    target->revoked = true;
    target->revoked_at = thread->log.count;
    if (thread->loading != NULL) return phi__load_unapply(thread, target);
    if (target->lane != thread->lanes.active) return PHI_OK;
    status = phi__fold_lane(thread, thread->lanes.active, UINT64_MAX, &fold);
    if (status != PHI_OK) {
        target->revoked = false;
        return status;
    }
    phi__fold_move(thread->log.memory, &thread->fold, &fold);
    return PHI_OK;
}

static phi_status phi__rewrite_revoke(phi__rewriting *w, phi_str loop_id, uint32_t turn_index) {
    phi_thread *thread = w->thread;
    phi__op *target = phi__ops_find(thread, phi_str_of(w->given->revoke)), *later, *op;
    phi_arena *room = phi__thread_room(thread);
    phi_arena_mark mark = phi_arena_save(room);
    phi__entry *entry;
    if (target == NULL || target->lane != w->lane || target->rewrite.revoke != NULL ||
        target->revoked) {
        (void)phi__rewrite_check_refuse(w, "no rewrite \"%s\" of this lane to revoke",
                                        w->given->revoke);
        return PHI_NOT_FOUND;
    }
    later =
        thread->loading != NULL && phi__load_untouched(thread, target) ? target : thread->ops.last;
    for (; later != target; later = later->earlier)
        if (later->lane == target->lane && !later->revoked &&
            phi__rewrite_touches(&later->rewrite, &target->rewrite)) {
            (void)phi__rewrite_check_refuse(w, "the later rewrite \"%s\" touches it",
                                            later->rewrite.op_id);
            return PHI_MISUSE;
        }
    op = phi__rewrite_keep(thread, w->given, w->lane, w->base);
    entry = op != NULL ? phi__rewrite_entry(thread, op, loop_id, turn_index) : NULL;
    if (entry == NULL || phi__rewrite_unfold(thread, target) != PHI_OK) {
        phi_arena_reset(room, mark);
        return PHI_NO_MEMORY;
    }
    phi__ops_unmark(thread, target->lane, target->seq, target->seq);
    phi__runs_drop_undo(thread); /* it refers to the revoked rewrite */
    phi__rewrite_append(thread, op, entry);
    return PHI_OK;
}

/* ---- all of it ---- */

PHI__FN bool phi__rewrite_needs(const phi_thread *thread, const phi_rewrite *rewrite) {
    uint32_t lane = thread->lanes.active, next;
    if (phi__thread_whole(thread)) return false;
    if (phi__rewrite_check_named(rewrite) &&
        phi__ops_find(thread, phi_str_of(rewrite->op_id)) == NULL &&
        phi__hashes_has(&thread->ops.away, phi__hash(phi_str_of(rewrite->op_id), 0)))
        return true;
    if (rewrite->lane != NULL) lane = phi__lane_find(thread, phi_str_of(rewrite->lane));
    if (lane == PHI__LANE_NONE) return false;
    if (rewrite->revoke != NULL || (rewrite->span_count > 0 && lane != thread->lanes.active))
        return true;
    if (rewrite->switch_to == NULL) return false;
    next = phi__lane_find(thread, phi_str_of(rewrite->switch_to));
    return next != PHI__LANE_NONE && next != thread->lanes.active;
}

PHI__FN phi_status phi__rewrite_make(phi_thread *thread, const phi_rewrite *rewrite,
                                     phi_str loop_id, uint32_t turn_index, bool *duplicate,
                                     char *words, size_t words_size) {
    phi__rewriting w = phi__rewrite_check_begin(thread, rewrite, words, words_size);
    bool known = phi__rewrite_check_named(rewrite) &&
                 phi__ops_find(thread, phi_str_of(rewrite->op_id)) != NULL;
    phi_status status;
    if (duplicate != NULL) *duplicate = known;
    if (known) return PHI_OK;
    if (rewrite->lane != NULL) w.lane = phi__lane_find(thread, phi_str_of(rewrite->lane));
    if (w.lane == PHI__LANE_NONE) {
        (void)phi__rewrite_check_refuse(&w, "no lane \"%s\"", rewrite->lane);
        return PHI_NOT_FOUND;
    }
    status = phi__rewrite_check(&w);
    if (status != PHI_OK) return status;
    return rewrite->revoke != NULL ? phi__rewrite_revoke(&w, loop_id, turn_index)
                                   : phi__rewrite_apply(&w, loop_id, turn_index);
}
