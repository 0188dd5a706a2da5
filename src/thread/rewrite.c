/* rewrite.c - the one change of what a lane shows: valid, or refused before it is appended. */
#include "thread/thread_in.h"

#include "model/message_in.h"
#include "text/json.h"
#include "wire/hash_in.h"

#include <float.h>
#include <stdarg.h>
#include <stdio.h>

/* What is checked, and where words about it go. */
typedef struct phi__rewriting {
    phi_thread *thread;
    const phi_rewrite *given;
    uint32_t lane;
    uint64_t base;
    phi__fold *fold; /* of the lane as it is */
    phi__fold made;  /* where the lane is not the active one */
    bool moves;      /* another lane is the active one afterwards: */
    uint32_t next;   /* ... this one; PHI__LANE_NONE: it is to begin */
    phi__fold shown; /* ... which shows this, without the rewrite */
    char *words;
    size_t words_size;
} phi__rewriting;

static phi_status phi__rewrite_refuse(phi__rewriting *w, const char *format, ...) PHI_PRINTF(2, 3);

static phi_status phi__rewrite_refuse(phi__rewriting *w, const char *format, ...) {
    va_list args;
    if (w->words_size == 0) return PHI_BAD_ARG;
    va_start(args, format);
    (void)vsnprintf(w->words, w->words_size, format, args);
    va_end(args);
    return PHI_BAD_ARG;
}

/* ---- spans ---- */

static phi_status phi__rewrite_check_messages(phi__rewriting *w, size_t at) {
    const phi_span *span = &w->given->spans[at];
    size_t i, block;
    if (span->message_count > 0 && span->messages == NULL)
        return phi__rewrite_refuse(w, "spans[%u].messages is missing", (unsigned)at);
    for (i = 0; i < span->message_count; i++) {
        const phi_message *m = &span->messages[i];
        const char *fault;
        if (m->role != PHI_ROLE_USER && m->role != PHI_ROLE_ASSISTANT &&
            m->role != PHI_ROLE_TOOL_RESULT)
            return phi__rewrite_refuse(w, "spans[%u].messages[%u]: no role a model has",
                                       (unsigned)at, (unsigned)i);
        if (m->content_count == 0 || m->content == NULL)
            return phi__rewrite_refuse(w, "spans[%u].messages[%u]: no content", (unsigned)at,
                                       (unsigned)i);
        fault = phi__message_fault(m, &block);
        if (fault != NULL && block == SIZE_MAX)
            return phi__rewrite_refuse(w, "spans[%u].messages[%u]: %s", (unsigned)at, (unsigned)i,
                                       fault);
        if (fault != NULL)
            return phi__rewrite_refuse(w, "spans[%u].messages[%u].content[%u]: %s", (unsigned)at,
                                       (unsigned)i, (unsigned)block, fault);
    }
    return PHI_OK;
}

static phi_status phi__rewrite_check_spans(phi__rewriting *w) {
    const phi_rewrite *r = w->given;
    size_t i;
    for (i = 0; i < r->span_count; i++) {
        const phi_span *span = &r->spans[i];
        if (span->from > span->to || span->to > w->base)
            return phi__rewrite_refuse(w, "spans[%u]: %llu to %llu, expected up to base_seq %llu",
                                       (unsigned)i, (unsigned long long)span->from,
                                       (unsigned long long)span->to, (unsigned long long)w->base);
        if (span->from < w->thread->log.base)
            return phi__rewrite_refuse(w, "spans[%u]: entry %llu is forgotten, the first is %llu",
                                       (unsigned)i, (unsigned long long)span->from,
                                       (unsigned long long)w->thread->log.base);
        if (i > 0 && span->from <= r->spans[i - 1].to)
            return phi__rewrite_refuse(w, "spans[%u] begins inside the one before", (unsigned)i);
    }
    return PHI_OK;
}

/* The span an item goes with, or SIZE_MAX; cut: it lies across an end of one. Items and spans both ascend. */
static size_t phi__rewrite_span_of(const phi_rewrite *r, const phi__item *item, size_t *from,
                                   bool *cut) {
    const phi_span *span;
    while (*from < r->span_count && r->spans[*from].to < item->from) ++*from;
    if (*from == r->span_count || r->spans[*from].from > item->to) return SIZE_MAX;
    span = &r->spans[*from];
    *cut = item->from < span->from || item->to > span->to;
    return *from;
}

/* ---- groups: an answer with calls, and their results ---- */

enum { PHI__REWRITE_STAYS, PHI__REWRITE_GOES, PHI__REWRITE_REPLACED };

PHI__FN bool phi__rewrite_same_ids(const phi_message *was, const phi_message *now) {
    size_t i, j = 0;
    if (was->role != now->role) return false;
    if (was->role == PHI_ROLE_TOOL_RESULT)
        return phi_str_equal(was->tool_call_id, now->tool_call_id);
    for (i = 0; i < was->content_count; i++) {
        if (was->content[i].kind != PHI_CONTENT_TOOL_CALL) continue;
        while (j < now->content_count && now->content[j].kind != PHI_CONTENT_TOOL_CALL) j++;
        if (j == now->content_count || !phi_str_equal(was->content[i].id, now->content[j].id))
            return false;
        j++;
    }
    return true;
}

/* What becomes of an item: one that a span of one message replaces keeps its place in its group. */
static int phi__rewrite_fate(const phi_rewrite *r, const phi__item *item, size_t span) {
    const phi_span *s;
    if (span == SIZE_MAX) return PHI__REWRITE_STAYS;
    s = &r->spans[span];
    return s->message_count == 1 && s->from == item->from && s->to == item->to &&
                   phi__rewrite_same_ids(item->message, &s->messages[0])
               ? PHI__REWRITE_REPLACED
               : PHI__REWRITE_GOES;
}

static phi_status phi__rewrite_check_fates(phi__rewriting *w, const size_t *askers,
                                           const uint8_t *durable, uint8_t *fates) {
    const phi__fold *fold = w->fold;
    size_t i, from = 0;
    for (i = 0; i < fold->count; i++) {
        const phi__item *item = &fold->items[i];
        bool cut = false;
        size_t span = phi__rewrite_span_of(w->given, item, &from, &cut);
        if (cut)
            return phi__rewrite_refuse(w, "spans[%u] cuts what stands for entries %llu to %llu",
                                       (unsigned)span, (unsigned long long)item->from,
                                       (unsigned long long)item->to);
        fates[i] =
            (uint8_t)(durable != NULL && durable[i] != 0 ? PHI__REWRITE_STAYS
                                                         : phi__rewrite_fate(w->given, item, span));
        if (askers[i] != SIZE_MAX &&
            (fates[askers[i]] == PHI__REWRITE_GOES) != (fates[i] == PHI__REWRITE_GOES))
            return phi__rewrite_refuse(
                w, "entry %llu is a result of the call in entry %llu: they go together",
                (unsigned long long)item->from, (unsigned long long)fold->items[askers[i]].from);
    }
    return PHI_OK;
}

static phi_status phi__rewrite_check_groups(phi__rewriting *w) {
    phi_memory *memory = w->thread->log.memory;
    const phi__fold *fold = w->fold;
    phi_status status = PHI_NO_MEMORY;
    uint8_t *durable = NULL, *fates;
    size_t *askers;
    if (w->given->span_count == 0 || phi__load_fits(fold, w->given)) return PHI_OK;
    fates = (uint8_t *)phi__alloc(memory, phi__max(fold->count, 1));
    askers = phi__groups_make(memory, fold);
    if (fates != NULL && askers != NULL &&
        (w->given->reason != PHI_REWRITE_COMPACTION || phi__groups_durable(memory, fold, &durable)))
        status = phi__rewrite_check_fates(w, askers, durable, fates);
    phi__free(memory, durable, durable != NULL ? fold->count : 0);
    phi__groups_free(memory, fold->count, askers);
    phi__free(memory, fates, fates != NULL ? phi__max(fold->count, 1) : 0);
    return status;
}

/* ---- by id ---- */

/* Where the rewrite of an id stands, or the free place where it would. */
static phi__op_place *phi__rewrite_place(phi__op_place *table, size_t cap, uint64_t hash,
                                         phi_str op_id) {
    size_t at = (size_t)hash & (cap - 1);
    while (table[at].op != NULL &&
           (table[at].hash != hash || !phi__str_is(op_id, table[at].op->rewrite.op_id)))
        at = (at + 1) & (cap - 1);
    return &table[at];
}

PHI__FN phi__op *phi__thread_find_op(const phi_thread *thread, phi_str op_id) {
    return thread->ops.cap > 0
               ? phi__rewrite_place(thread->ops.table, thread->ops.cap, phi__hash(op_id, 0), op_id)
                     ->op
               : NULL;
}

static void phi__rewrite_index(phi_thread *thread, phi__op *op) {
    phi__op_place *place = phi__rewrite_place(thread->ops.table, thread->ops.cap, op->id_hash,
                                              phi_str_of(op->rewrite.op_id));
    place->hash = op->id_hash;
    place->op = op;
    thread->ops.count++;
}

/* An empty table for so many: the old one, where it is large enough. False: no memory, and nothing changed. */
static bool phi__rewrite_table(phi_thread *thread, size_t count) {
    size_t cap = phi__max(thread->ops.cap, 8);
    phi__op_place *table;
    while (cap / 2 < count && cap < SIZE_MAX / 2) cap *= 2;
    if (cap == thread->ops.cap || count == 0) {
        if (thread->ops.cap > 0) memset(thread->ops.table, 0, thread->ops.cap * sizeof *table);
    } else {
        table = (phi__op_place *)phi__alloc(thread->log.memory, phi__mul(cap, sizeof *table));
        if (table == NULL) return false;
        phi__free(thread->log.memory, thread->ops.table, thread->ops.cap * sizeof *table);
        thread->ops.table = table;
        thread->ops.cap = cap;
    }
    thread->ops.count = 0;
    return true;
}

/* Room for one more: a table of twice the places, into which the hashes go. False: no memory. */
static bool phi__rewrite_room(phi_thread *thread) {
    size_t cap = phi__max(phi__mul(thread->ops.cap, 2), 8), i, at;
    phi__op_place *table;
    if ((thread->ops.count + 1) * 2 <= thread->ops.cap) return true;
    table = (phi__op_place *)phi__alloc(thread->log.memory, phi__mul(cap, sizeof *table));
    if (table == NULL) return false;
    for (i = 0; i < thread->ops.cap; i++) {
        if (thread->ops.table[i].op == NULL) continue;
        at = (size_t)thread->ops.table[i].hash & (cap - 1);
        while (table[at].op != NULL) at = (at + 1) & (cap - 1);
        table[at] = thread->ops.table[i];
    }
    phi__free(thread->log.memory, thread->ops.table, thread->ops.cap * sizeof *table);
    thread->ops.table = table;
    thread->ops.cap = cap;
    return true;
}

PHI__FN bool phi__thread_index_ops(phi_thread *thread) {
    size_t n = 0, i;
    for (i = 0; i < thread->log.held; i++) n += thread->log.entries[i]->kind == PHI_ENTRY_REWRITE;
    if (!phi__rewrite_table(thread, n)) return false;
    thread->ops.last = NULL;
    for (i = 0; i < thread->log.held; i++) {
        phi__op *op = thread->log.entries[i]->of.op;
        if (thread->log.entries[i]->kind != PHI_ENTRY_REWRITE) continue;
        op->earlier = thread->ops.last;
        thread->ops.last = op;
        phi__rewrite_index(thread, op);
    }
    return true;
}

static bool phi__rewrite_compacts(const phi__op *op) {
    return op->rewrite.reason == PHI_REWRITE_COMPACTION && op->rewrite.revoke == NULL;
}

enum { PHI__MARKS_MOST = 64 };

/* Room for the mark of one more compaction. False: no memory. Where memory is limited, old ones are given up: they count
   only when all later ones were undone. */
static bool phi__rewrite_mark_room(phi_thread *thread) {
    size_t half = PHI__MARKS_MOST / 2;
    void *grown;
    if (thread->log.limit_bytes != 0 && thread->lanes.at == NULL &&
        thread->ops.compaction_count == PHI__MARKS_MOST) {
        memmove(thread->ops.compactions, &thread->ops.compactions[half],
                half * sizeof *thread->ops.compactions);
        thread->ops.compaction_count = half;
    }
    grown = phi__grow(thread->log.memory, thread->ops.compactions, &thread->ops.compaction_cap,
                      phi__add(thread->ops.compaction_count, 1), sizeof *thread->ops.compactions);
    if (grown != NULL) thread->ops.compactions = (phi__compaction_mark *)grown;
    return grown != NULL;
}

static void phi__rewrite_mark(phi_thread *thread, const phi__op *op) {
    phi__compaction_mark *mark = &thread->ops.compactions[thread->ops.compaction_count++];
    mark->seq = op->seq;
    mark->lane = op->lane;
}

/* Newest first: a run's own are in front. */
PHI__FN bool phi__thread_roll_back_ops(phi_thread *thread, uint32_t lane, uint64_t from,
                                       uint64_t to) {
    phi__op *op;
    bool any = false;
    for (op = thread->ops.last; op != NULL && op->seq > from; op = op->earlier) {
        if (op->seq > to || op->lane != lane || op->rewrite.revoke != NULL || op->revoked) continue;
        op->revoked = any = true;
        op->revoked_at = to;
    }
    return any;
}

PHI__FN void phi__thread_unmark_ops(phi_thread *thread, uint32_t lane, uint64_t from, uint64_t to) {
    size_t i, n = 0;
    for (i = 0; i < thread->ops.compaction_count; i++) {
        const phi__compaction_mark *mark = &thread->ops.compactions[i];
        if (mark->lane != lane || mark->seq < from || mark->seq > to)
            thread->ops.compactions[n++] = *mark;
    }
    thread->ops.compaction_count = n;
}

/* Whether the id is that of a rewrite: one that is away is read back. */
static phi_status phi__rewrite_known(phi_thread *thread, phi_str op_id, bool *known) {
    phi_status status = PHI_OK;
    *known = phi__thread_find_op(thread, op_id) != NULL;
    if (*known || !phi__hashes_has(&thread->ops.away, phi__hash(op_id, 0))) return PHI_OK;
    status = phi__thread_recall(thread);
    if (status == PHI_OK) *known = phi__thread_find_op(thread, op_id) != NULL;
    return status;
}

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

/* The id comes first: who looks a rewrite up by it looks at the op, too, which is in front of it. */
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

static bool phi__rewrite_named(const phi_rewrite *r) {
    return r->op_id != NULL && r->op_id[0] != '\0';
}

/* "op-" and a number: ids of this form are phi's to make. */
static bool phi__rewrite_is_made(const char *op_id) {
    if (strncmp(op_id, "op-", 3) != 0 || op_id[3] == '\0') return false;
    return op_id[3 + strspn(op_id + 3, "0123456789")] == '\0';
}

/* A name that no rewrite has: a log of version 0.1.0 may have one of this form from its host. */
PHI__FN void phi__rewrite_name(const phi_thread *thread, char out[PHI__OP_MADE_SIZE]) {
    uint64_t n = thread->log.count;
    do (void)snprintf(out, PHI__OP_MADE_SIZE, PHI__OP_MADE, (unsigned long long)n++);
    while (phi__thread_find_op(thread, phi_str_of(out)) != NULL ||
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
    if (!phi__rewrite_named(given)) {
        phi__rewrite_name(thread, made);
        named.op_id = made;
    }
    named.lane = NULL; /* it is in the op */
    named.base_seq = base;
    named.has_base = true;
    op->lane = lane;
    op->segment = thread->log.current;
    if (!phi__rewrite_copy(room, &named, &op->rewrite)) return NULL;
    for (i = 0; i < given->span_count; i++) {
        op->message_count = phi__add(op->message_count, given->spans[i].message_count);
        for (j = 0; j < given->spans[i].message_count; j++)
            if (!phi__thread_claim_calls(thread, &given->spans[i].messages[j])) return NULL;
    }
    if (op->message_count == 0) return op;
    op->rendered =
        (phi__rendered **)phi__arena_zero(room, phi__mul(op->message_count, sizeof *op->rendered));
    return op->rendered != NULL ? op : NULL;
}

static phi__entry *phi__rewrite_entry(phi_thread *thread, phi__op *op, phi_str loop_id,
                                      uint32_t turn_index) {
    phi__entry *entry = (phi__entry *)phi__arena_zero(phi__thread_room(thread), sizeof *entry);
    if (entry == NULL || !phi__rewrite_room(thread) || !phi__thread_reserve(thread, 1, 0) ||
        (phi__rewrite_compacts(op) && !phi__rewrite_mark_room(thread)))
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
    if (op->rewrite.span_count > 0 || op->rewrite.revoke != NULL) thread->ops.last_seq = op->seq;
    op->earlier = thread->ops.last;
    thread->ops.last = op;
    op->id_hash = phi__hash(phi_str_of(op->rewrite.op_id), 0);
    phi__rewrite_index(thread, op);
    if (op->rewrite.written != NULL) phi_usage_add(&thread->usage, &op->rewrite.written->usage);
    if (phi__rewrite_compacts(op)) phi__rewrite_mark(thread, op);
    phi__thread_attach(thread, entry, 1);
    phi__thread_left(thread);
}

/* Where it switches to: what is away is read back before anything is made. */
static phi_status phi__rewrite_look_ahead(phi__rewriting *w) {
    phi_thread *thread = w->thread;
    if (w->given->switch_to == NULL) return PHI_OK;
    w->next = phi__thread_find_lane(thread, phi_str_of(w->given->switch_to));
    w->moves = w->next != thread->lanes.active;
    return w->moves && thread->loading == NULL && w->next != PHI__LANE_NONE
               ? phi__fold_lane(thread, w->next, UINT64_MAX, &w->shown)
               : PHI_OK;
}

/* What is shown then. False: no memory, and nothing changed; else a lane that begins has its entry, and what is left to
   do cannot fail. */
static bool phi__rewrite_fold(phi__rewriting *w, phi__op *op) {
    phi_thread *thread = w->thread;
    if (thread->loading != NULL) return phi__load_may_enter(thread) && phi__load_apply(thread, op);
    if (!w->moves)
        return w->lane != thread->lanes.active ||
               (phi__thread_keep_undo(thread) && phi__fold_op(thread, &thread->fold, op));
    if (w->next != PHI__LANE_NONE)
        return (w->lane != w->next || phi__fold_op(thread, &w->shown, op)) &&
               phi__lane_messages(thread, w->next);
    return phi__thread_reserve(thread, 2, 0) && /* the lane's entry, and its own */
           phi__thread_new_lane(thread, phi_str_of(w->given->switch_to), PHI__LANE_NONE, 0,
                                &w->next) == PHI_OK;
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
        phi__fold_free(thread->log.memory, &w->shown);
        phi_arena_reset(room, mark);
        return PHI_NO_MEMORY;
    }
    phi__rewrite_append(thread, op, entry);
    if (w->moves && thread->loading != NULL)
        phi__load_enter(thread, w->next);
    else if (w->moves)
        phi__lane_enter(thread, w->next, begins ? NULL : &w->shown);
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

/* The lane's fold without a rewrite, in place of what it was: the originals are in the log. */
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
    phi__fold_free(thread->log.memory, &thread->fold);
    thread->fold = fold;
    return PHI_OK;
}

static phi_status phi__rewrite_revoke(phi__rewriting *w, phi_str loop_id, uint32_t turn_index) {
    phi_thread *thread = w->thread;
    phi__op *target = phi__thread_find_op(thread, phi_str_of(w->given->revoke)), *later, *op;
    phi_arena *room = phi__thread_room(thread);
    phi_arena_mark mark = phi_arena_save(room);
    phi__entry *entry;
    if (target == NULL || target->lane != w->lane || target->rewrite.revoke != NULL ||
        target->revoked) {
        (void)phi__rewrite_refuse(w, "no rewrite \"%s\" of this lane to revoke", w->given->revoke);
        return PHI_NOT_FOUND;
    }
    later =
        thread->loading != NULL && phi__load_untouched(thread, target) ? target : thread->ops.last;
    for (; later != target; later = later->earlier)
        if (later->lane == target->lane && !later->revoked &&
            phi__rewrite_touches(&later->rewrite, &target->rewrite)) {
            (void)phi__rewrite_refuse(w, "the later rewrite \"%s\" touches it",
                                      later->rewrite.op_id);
            return PHI_MISUSE;
        }
    op = phi__rewrite_keep(thread, w->given, w->lane, w->base);
    entry = op != NULL ? phi__rewrite_entry(thread, op, loop_id, turn_index) : NULL;
    if (entry == NULL || phi__rewrite_unfold(thread, target) != PHI_OK) {
        phi_arena_reset(room, mark);
        return PHI_NO_MEMORY;
    }
    phi__thread_unmark_ops(thread, target->lane, target->seq, target->seq);
    phi__thread_drop_undo(thread); /* it has what is undone */
    phi__rewrite_append(thread, op, entry);
    return PHI_OK;
}

/* ---- all of it ---- */

/* Names of the rewrite's own, and of a lane that may begin with it. */
static phi_status phi__rewrite_check_names(phi__rewriting *w) {
    const phi_rewrite *r = w->given;
    if (r->op_id != NULL && !phi__id_fits(phi_str_of(r->op_id)))
        return phi__rewrite_refuse(w, "op_id is not UTF-8");
    if (r->switch_to == NULL) return PHI_OK;
    if (r->switch_to[0] == '\0') return phi__rewrite_refuse(w, "switch_to is empty");
    return phi__id_fits(phi_str_of(r->switch_to))
               ? PHI_OK
               : phi__rewrite_refuse(w, "switch_to is not UTF-8");
}

/* It is written to files and read by others: what is no JSON would spoil them. */
static phi_status phi__rewrite_check_meta(phi__rewriting *w) {
    phi_arena scratch;
    phi_json *root = NULL;
    phi_status status;
    if (w->given->meta == NULL) return PHI_OK;
    phi_arena_init(&scratch, w->thread->log.memory, 0);
    status = phi_json_parse(&scratch, phi_str_of(w->given->meta), PHI_JSON_BORROW, &root, NULL);
    phi_arena_free(&scratch);
    if (status == PHI_OK || status == PHI_NO_MEMORY) return status;
    return phi__rewrite_refuse(w, "meta is no JSON");
}

static phi_status phi__rewrite_check_form(phi__rewriting *w) {
    const phi_rewrite *r = w->given;
    size_t i;
    if ((unsigned)r->reason > (unsigned)PHI_REWRITE_SYSTEM)
        return phi__rewrite_refuse(w, "reason is none of its values");
    if (r->revoke != NULL && r->span_count > 0)
        return phi__rewrite_refuse(w, "revoke comes without spans");
    if (r->revoke != NULL && r->switch_to != NULL)
        return phi__rewrite_refuse(w, "revoke comes without switch_to");
    if (phi__rewrite_check_names(w) != PHI_OK) return PHI_BAD_ARG;
    if (r->span_count > 0 && r->spans == NULL) return phi__rewrite_refuse(w, "spans is missing");
    for (i = 0; i < r->span_count; i++) {
        phi_status status = phi__rewrite_check_messages(w, i);
        if (status != PHI_OK) return status;
    }
    if (w->given->written != NULL &&
        !(w->given->written->cost >= 0 && w->given->written->cost <= DBL_MAX))
        return phi__rewrite_refuse(w, "written.cost is no amount");
    return phi__rewrite_check_meta(w);
}

static phi_status phi__rewrite_check(phi__rewriting *w) {
    phi_thread *thread = w->thread;
    const phi_rewrite *r = w->given;
    phi_status status = phi__rewrite_check_form(w);
    if (status != PHI_OK) return status;
    w->base = r->has_base || r->base_seq != 0 ? r->base_seq
              : thread->log.count > 0         ? (uint64_t)thread->log.count - 1
                                              : 0;
    if (w->base >= phi__max(thread->log.count, 1))
        return phi__rewrite_refuse(w, "base_seq is %llu, there are %llu entries",
                                   (unsigned long long)w->base,
                                   (unsigned long long)thread->log.count);
    if (thread->log.count == 0 && r->span_count > 0)
        return phi__rewrite_refuse(w, "there is nothing to rewrite");
    status = phi__rewrite_check_spans(w);
    if (status != PHI_OK || r->revoke != NULL || r->span_count == 0) return status;
    w->fold = &thread->fold;
    if (thread->loading != NULL) {
        status = phi__load_view(thread, w->lane, &w->fold);
        if (status != PHI_OK) return status;
    } else if (w->lane != thread->lanes.active) {
        status = phi__fold_lane(thread, w->lane, UINT64_MAX, &w->made);
        if (status != PHI_OK) return status;
        w->fold = &w->made;
    }
    status = phi__rewrite_check_groups(w);
    phi__fold_free(thread->log.memory, &w->made);
    return status;
}

static phi__rewriting phi__rewrite_begin(phi_thread *thread, const phi_rewrite *rewrite,
                                         char *words, size_t words_size) {
    phi__rewriting w;
    memset(&w, 0, sizeof w);
    w.thread = thread;
    w.given = rewrite;
    w.lane = thread->lanes.active;
    w.words = words;
    w.words_size = words != NULL ? words_size : 0;
    if (w.words_size > 0) words[0] = '\0';
    return w;
}

PHI__FN phi_status phi__rewrite_form(phi_thread *thread, const phi_rewrite *rewrite, char *words,
                                     size_t words_size) {
    phi__rewriting w = phi__rewrite_begin(thread, rewrite, words, words_size);
    return phi__rewrite_check_form(&w);
}

PHI__FN phi_status phi__rewrite_given(phi_thread *thread, const phi_rewrite *rewrite, char *words,
                                      size_t words_size) {
    phi__rewriting w = phi__rewrite_begin(thread, rewrite, words, words_size);
    if (!phi__rewrite_named(rewrite) || !phi__rewrite_is_made(rewrite->op_id)) return PHI_OK;
    return phi__rewrite_refuse(&w, "op_id \"%.40s\": ids of the form op-NUMBER are phi's own",
                               rewrite->op_id);
}

PHI__FN phi_status phi__thread_rewrite_check(phi_thread *thread, const phi_rewrite *rewrite,
                                             char *words, size_t words_size) {
    phi__rewriting w = phi__rewrite_begin(thread, rewrite, words, words_size);
    return phi__rewrite_check(&w);
}

PHI__FN phi_status phi__thread_rewrite(phi_thread *thread, const phi_rewrite *rewrite,
                                       phi_str loop_id, uint32_t turn_index, bool *duplicate,
                                       char *words, size_t words_size) {
    phi__rewriting w = phi__rewrite_begin(thread, rewrite, words, words_size);
    phi_status status;
    bool known = false;
    if (duplicate != NULL) *duplicate = false;
    if (phi__rewrite_named(rewrite)) {
        status = phi__rewrite_known(thread, phi_str_of(rewrite->op_id), &known);
        if (status != PHI_OK) return status;
        if (duplicate != NULL) *duplicate = known;
        if (known) return PHI_OK;
    }
    if (rewrite->lane != NULL) w.lane = phi__thread_find_lane(thread, phi_str_of(rewrite->lane));
    if (w.lane == PHI__LANE_NONE) {
        (void)phi__rewrite_refuse(&w, "no lane \"%s\"", rewrite->lane);
        return PHI_NOT_FOUND;
    }
    status = phi__rewrite_check(&w);
    if (status == PHI_OK && rewrite->revoke != NULL) status = phi__thread_recall(thread);
    if (status != PHI_OK) return status;
    return rewrite->revoke != NULL ? phi__rewrite_revoke(&w, loop_id, turn_index)
                                   : phi__rewrite_apply(&w, loop_id, turn_index);
}

/* ---- public ---- */

PHI_API const char *phi_rewrite_reason_text(phi_rewrite_reason reason) {
    switch (reason) {
    case PHI_REWRITE_MANUAL: return "manual";
    case PHI_REWRITE_COMPACTION: return "compaction";
    case PHI_REWRITE_PRUNE: return "prune";
    case PHI_REWRITE_RESTORE: return "restore";
    case PHI_REWRITE_REVERT: return "revert";
    case PHI_REWRITE_SYSTEM: return "system";
    }
    return "";
}

PHI_API phi_status phi_thread_rewrite(phi_thread *thread, const phi_rewrite *rewrite,
                                      bool *duplicate, char *words, size_t words_size) {
    if (thread == NULL || rewrite == NULL) return PHI_BAD_ARG;
    if (duplicate != NULL) *duplicate = false;
    if (thread->user != NULL) return PHI_BUSY;
    if (phi__rewrite_given(thread, rewrite, words, words_size) != PHI_OK) return PHI_BAD_ARG;
    return phi__thread_rewrite(thread, rewrite, phi__str("", 0), 0, duplicate, words, words_size);
}
