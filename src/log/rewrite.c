/* rewrite.c - checks, applies and appends rewrites, the only way to change a view. */
#include "log/thread_in.h"

#include <float.h>
#include <stdarg.h>
#include <stdio.h>

/* A rewrite during its check and application. */
typedef struct phi__rewriting {
    phi_thread *thread;
    const phi_rewrite *given;
    uint32_t lane;
    uint64_t base;
    phi__fold *fold;     /* the current view of `lane` */
    phi__fold made;      /* the view that `fold` points to, if the lane is not active */
    bool moves;          /* switch_to names another lane than the active one */
    uint32_t next;       /* the lane of switch_to; PHI__LANE_NONE: the lane must begin */
    phi__fold projected; /* the view of `next`, without the rewrite */
    char *words;
    size_t words_size;
} phi__rewriting;

/* ---- checks whether a rewrite is valid ---- */

/* Writes a message into the caller's buffer. Returns PHI_BAD_ARG. */
static phi_status phi__valid_refuse(phi__rewriting *w, const char *format, ...) {
    va_list args;
    if (w->words_size == 0) return PHI_BAD_ARG;
    va_start(args, format);
    (void)vsnprintf(w->words, w->words_size, format, args);
    va_end(args);
    return PHI_BAD_ARG;
}

static phi_status phi__valid_messages(phi__rewriting *w, size_t at) {
    const phi_span *span = &w->given->spans[at];
    size_t block;
    if (span->message_count > 0 && span->messages == NULL)
        return phi__valid_refuse(w, "spans[%u].messages is missing", (unsigned)at);
    for (size_t i = 0; i < span->message_count; i++) {
        const phi_message *m = &span->messages[i];
        if (m->role != PHI_ROLE_USER && m->role != PHI_ROLE_ASSISTANT &&
            m->role != PHI_ROLE_TOOL_RESULT)
            return phi__valid_refuse(w, "spans[%u].messages[%u]: no role a model has", (unsigned)at,
                                     (unsigned)i);
        if (m->content_count == 0 || m->content == NULL)
            return phi__valid_refuse(w, "spans[%u].messages[%u]: no content", (unsigned)at,
                                     (unsigned)i);
        const char *fault = phi__check_message(m, &block);
        if (fault != NULL && block == SIZE_MAX)
            return phi__valid_refuse(w, "spans[%u].messages[%u]: %s", (unsigned)at, (unsigned)i,
                                     fault);
        if (fault != NULL)
            return phi__valid_refuse(w, "spans[%u].messages[%u].content[%u]: %s", (unsigned)at,
                                     (unsigned)i, (unsigned)block, fault);
    }
    return PHI_OK;
}

static phi_status phi__valid_spans(phi__rewriting *w) {
    const phi_rewrite *r = w->given;
    for (size_t i = 0; i < r->span_count; i++) {
        const phi_span *span = &r->spans[i];
        if (span->from > span->to || span->to > w->base)
            return phi__valid_refuse(w, "spans[%u]: %llu to %llu, expected up to base_seq %llu",
                                     (unsigned)i, (unsigned long long)span->from,
                                     (unsigned long long)span->to, (unsigned long long)w->base);
        if (span->from < w->thread->log.base)
            return phi__valid_refuse(w, "spans[%u]: entry %llu is forgotten, the first is %llu",
                                     (unsigned)i, (unsigned long long)span->from,
                                     (unsigned long long)w->thread->log.base);
        if (i > 0 && span->from <= r->spans[i - 1].to)
            return phi__valid_refuse(w, "spans[%u] begins inside the one before", (unsigned)i);
    }
    return PHI_OK;
}

/* Returns the span that covers an item, or SIZE_MAX. Sets *cut if a part of the item is outside of
   that span. Items and spans must be visited in ascending order. */
static size_t phi__valid_span_of(const phi_rewrite *r, const phi__item *item, size_t *from,
                                 bool *cut) {
    while (*from < r->span_count && r->spans[*from].to < item->from) ++*from;
    if (*from == r->span_count || r->spans[*from].from > item->to) return SIZE_MAX;
    const phi_span *span = &r->spans[*from];
    *cut = item->from < span->from || item->to > span->to;
    return *from;
}

enum { PHI__REWRITE_STAYS, PHI__REWRITE_GOES, PHI__REWRITE_REPLACED };

/* Returns the fate of an item. An item replaced by one message keeps its place in its group. */
static int phi__valid_fate(const phi_rewrite *r, const phi__item *item, size_t span) {
    if (span == SIZE_MAX) return PHI__REWRITE_STAYS;
    const phi_span *s = &r->spans[span];
    return s->message_count == 1 && s->from == item->from && s->to == item->to &&
                   phi__groups_same_ids(item->message, &s->messages[0])
               ? PHI__REWRITE_REPLACED
               : PHI__REWRITE_GOES;
}

static phi_status phi__valid_fates(phi__rewriting *w, const size_t *callers, const uint8_t *durable,
                                   uint8_t *fates) {
    const phi__fold *fold = w->fold;
    size_t from = 0;
    for (size_t i = 0; i < fold->count; i++) {
        const phi__item *item = &fold->items[i];
        bool cut = false;
        size_t span = phi__valid_span_of(w->given, item, &from, &cut);
        if (cut)
            return phi__valid_refuse(w, "spans[%u] cuts what stands for entries %llu to %llu",
                                     (unsigned)span, (unsigned long long)item->from,
                                     (unsigned long long)item->to);
        fates[i] =
            (uint8_t)(durable != NULL && durable[i] != 0 ? PHI__REWRITE_STAYS
                                                         : phi__valid_fate(w->given, item, span));
        if (callers[i] != SIZE_MAX &&
            (fates[callers[i]] == PHI__REWRITE_GOES) != (fates[i] == PHI__REWRITE_GOES))
            return phi__valid_refuse(
                w, "entry %llu is a result of the call in entry %llu: they go together",
                (unsigned long long)item->from, (unsigned long long)fold->items[callers[i]].from);
    }
    return PHI_OK;
}

/* The places in the view for the messages of spans. */
typedef struct phi__rewrite_places {
    const size_t *callers;
    const uint8_t *fates;
    size_t span;  /* the next span */
    size_t put;   /* the last span that puts messages after `prior`; SIZE_MAX: none */
    size_t prior; /* the last item that stays; SIZE_MAX: none yet */
} phi__rewrite_places;

/* True if the next span, which begins at item `at` or before, puts messages before that item. As in
   a fold, one message that replaces an item takes that item's place, and a span whose items all
   stay puts nothing. */
static bool phi__valid_puts(const phi__rewriting *w, const phi__rewrite_places *p, size_t at) {
    const phi_span *span = &w->given->spans[p->span];
    size_t i = at;
    if (span->message_count == 0) return false;
    while (i < w->fold->count && w->fold->items[i].from <= span->to &&
           p->fates[i] == PHI__REWRITE_STAYS)
        i++;
    if (i < w->fold->count && w->fold->items[i].from <= span->to)
        return p->fates[i] != PHI__REWRITE_REPLACED;
    return i == at; /* the span has no items in view */
}

/* Refuses messages between a call and its result, because the model would lose the result. */
static phi_status phi__valid_parts(phi__rewriting *w, phi__rewrite_places *p) {
    const phi_rewrite *r = w->given;
    for (size_t i = 0; i < w->fold->count; i++) {
        const phi__item *item = &w->fold->items[i];
        size_t caller = p->callers[i];
        for (; p->span < r->span_count && r->spans[p->span].from <= item->from; p->span++)
            if (phi__valid_puts(w, p, i)) p->put = p->span;
        if (p->fates[i] == PHI__REWRITE_GOES || item->message->role == PHI_ROLE_EXTENSION) continue;
        if (caller != SIZE_MAX && p->put != SIZE_MAX && p->prior != SIZE_MAX &&
            (p->prior == caller || p->callers[p->prior] == caller))
            return phi__valid_refuse(
                w, "spans[%u] puts messages between entry %llu and its result in entry %llu",
                (unsigned)p->put, (unsigned long long)w->fold->items[caller].from,
                (unsigned long long)item->from);
        p->prior = i;
        p->put = SIZE_MAX;
    }
    return PHI_OK;
}

/* True if a span may put messages before a result. A log that is being read was checked when it was
   written. The walk for each span continues where the walk for the last span ended. */
static bool phi__valid_may_part(const phi__rewriting *w) {
    const phi__fold *fold = w->fold;
    size_t at = 0;
    for (size_t i = 0; i < w->given->span_count && w->thread->loading == NULL; i++) {
        if (w->given->spans[i].message_count == 0) continue;
        at = phi__max(at, phi__fold_find(fold, w->given->spans[i].from));
        while (at < fold->count && (fold->items[at].from <= w->given->spans[i].to ||
                                    fold->items[at].message->role == PHI_ROLE_EXTENSION))
            at++;
        if (at < fold->count && fold->items[at].message->role == PHI_ROLE_TOOL_RESULT) return true;
    }
    return false;
}

static phi_status phi__valid_groups(phi__rewriting *w) {
    phi_memory *memory = w->thread->log.memory;
    const phi__fold *fold = w->fold;
    phi_status status = PHI_NO_MEMORY;
    uint8_t *durable = NULL;
    if (w->given->span_count == 0 || (phi__load_fits(fold, w->given) && !phi__valid_may_part(w)))
        return PHI_OK;
    uint8_t *fates = (uint8_t *)phi__alloc(memory, phi__max(fold->count, 1));
    size_t *callers = phi__groups_make(memory, fold);
    if (fates != NULL && callers != NULL &&
        (w->given->reason != PHI_REWRITE_COMPACTION || phi__groups_durable(memory, fold, &durable)))
        status = phi__valid_fates(w, callers, durable, fates);
    if (status == PHI_OK && w->thread->loading == NULL) {
        phi__rewrite_places p = {callers, fates, 0, SIZE_MAX, SIZE_MAX};
        status = phi__valid_parts(w, &p);
    }
    phi__free(memory, durable, durable != NULL ? fold->count : 0);
    phi__groups_free(memory, fold->count, callers);
    phi__free(memory, fates, fates != NULL ? phi__max(fold->count, 1) : 0);
    return status;
}

/* Checks the rewrite's id, and the name of a lane that may begin with the rewrite. */
static phi_status phi__valid_names(phi__rewriting *w) {
    const phi_rewrite *r = w->given;
    if (r->op_id != NULL && !phi__check_id_fits(phi_str_of(r->op_id)))
        return phi__valid_refuse(w, "op_id is not UTF-8");
    if (r->switch_to == NULL) return PHI_OK;
    if (r->switch_to[0] == '\0') return phi__valid_refuse(w, "switch_to is empty");
    return phi__check_id_fits(phi_str_of(r->switch_to))
               ? PHI_OK
               : phi__valid_refuse(w, "switch_to is not UTF-8");
}

static phi_status phi__valid_form(phi__rewriting *w) {
    const phi_rewrite *r = w->given;
    if ((unsigned)r->reason > (unsigned)PHI_REWRITE_SYSTEM)
        return phi__valid_refuse(w, "reason is none of its values");
    if (r->revoke != NULL && r->span_count > 0)
        return phi__valid_refuse(w, "revoke comes without spans");
    if (r->revoke != NULL && r->switch_to != NULL)
        return phi__valid_refuse(w, "revoke comes without switch_to");
    if (phi__valid_names(w) != PHI_OK) return PHI_BAD_ARG;
    if (r->span_count > 0 && r->spans == NULL) return phi__valid_refuse(w, "spans is missing");
    for (size_t i = 0; i < r->span_count; i++) {
        phi_status status = phi__valid_messages(w, i);
        if (status != PHI_OK) return status;
    }
    if (w->given->written != NULL &&
        !(w->given->written->cost >= 0 && w->given->written->cost <= DBL_MAX))
        return phi__valid_refuse(w, "written.cost is no amount");
    phi_arena scratch;
    phi_json *root = NULL;
    if (w->given->meta == NULL) return PHI_OK;
    phi_arena_init(&scratch, w->thread->log.memory, 0);
    phi_status status =
        phi_json_parse(&scratch, phi_str_of(w->given->meta), PHI_JSON_BORROW, &root, NULL);
    phi_arena_free(&scratch);
    if (status == PHI_OK || status == PHI_NO_MEMORY) return status;
    return phi__valid_refuse(w, "meta is no JSON");
}

static phi_status phi__valid_all(phi__rewriting *w) {
    phi_thread *thread = w->thread;
    const phi_rewrite *r = w->given;
    phi_status status = phi__valid_form(w);
    if (status != PHI_OK) return status;
    w->base = r->has_base || r->base_seq != 0 ? r->base_seq
              : thread->log.count > 0         ? (uint64_t)thread->log.count - 1
                                              : 0;
    if (w->base >= phi__max(thread->log.count, 1))
        return phi__valid_refuse(w, "base_seq is %llu, there are %llu entries",
                                 (unsigned long long)w->base,
                                 (unsigned long long)thread->log.count);
    if (thread->log.count == 0 && r->span_count > 0)
        return phi__valid_refuse(w, "there is nothing to rewrite");
    status = phi__valid_spans(w);
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
    status = phi__valid_groups(w);
    phi__fold_free(thread->log.memory, &w->made);
    return status;
}

/* Begins a check for the active lane; the caller may set another lane. */
static phi__rewriting phi__valid_begin(phi_thread *thread, const phi_rewrite *rewrite, char *words,
                                       size_t words_size) {
    phi__rewriting w = PHI_ZERO;
    w.thread = thread;
    w.given = rewrite;
    w.lane = thread->lanes.active;
    w.words = words;
    w.words_size = words != NULL ? words_size : 0;
    if (w.words_size > 0) words[0] = '\0';
    return w;
}

/* True if the rewrite has an id. */
static bool phi__valid_named(const phi_rewrite *r) {
    return r->op_id != NULL && r->op_id[0] != '\0';
}

PHI__FN phi_status phi__rewrite_check(phi_thread *thread, const phi_rewrite *rewrite,
                                      phi__rewrite_asked asked, char *words, size_t words_size) {
    phi__rewriting w = phi__valid_begin(thread, rewrite, words, words_size);
    if (asked == PHI__REWRITE_FORM) return phi__valid_form(&w);
    if (asked == PHI__REWRITE_NOW) return phi__valid_all(&w);
    if (!phi__valid_named(rewrite)) return PHI_OK;
    if (strncmp(rewrite->op_id, "op-", 3) != 0 || rewrite->op_id[3] == '\0') return PHI_OK;
    if (rewrite->op_id[3 + strspn(rewrite->op_id + 3, "0123456789")] != '\0') return PHI_OK;
    return phi__valid_refuse(&w, "op_id \"%.40s\": ids of the form op-NUMBER are phi's own",
                             rewrite->op_id);
}

/* ---- keeping a rewrite in the log ---- */

static bool phi__rewrite_copy_span(phi_arena *arena, phi_span *span) {
    if (span->message_count == 0) return true;
    phi_message *messages =
        (phi_message *)phi_arena_alloc(arena, phi__mul(span->message_count, sizeof *messages));
    if (messages == NULL) return false;
    for (size_t i = 0; i < span->message_count; i++)
        if (!phi__message_copy(&span->messages[i], arena, &messages[i])) return false;
    span->messages = messages;
    return true;
}

static bool phi__rewrite_written(phi_arena *arena, const phi_written **written) {
    if (*written == NULL) return true;
    phi_written *copy = (phi_written *)phi_arena_alloc(arena, sizeof *copy);
    if (copy == NULL) return false;
    *copy = **written;
    *written = copy;
    return phi__keep_text(arena, &copy->model);
}

/* The id is copied first, so it comes right after the op: a lookup by id reads both. */
PHI__FN bool phi__rewrite_copy(phi_arena *arena, const phi_rewrite *given, phi_rewrite *out) {
    *out = *given;
    out->spans = NULL;
    if (!phi__keep_text(arena, &out->op_id) || !phi__keep_text(arena, &out->lane) ||
        !phi__keep_text(arena, &out->revoke) || !phi__keep_text(arena, &out->meta) ||
        !phi__keep_text(arena, &out->switch_to) || !phi__rewrite_written(arena, &out->written))
        return false;
    if (given->span_count == 0) return true;
    phi_span *spans =
        (phi_span *)phi_arena_alloc(arena, phi__mul(given->span_count, sizeof *spans));
    if (spans == NULL) return false;
    out->spans = spans;
    for (size_t i = 0; i < given->span_count; i++) {
        spans[i] = given->spans[i];
        if (!phi__rewrite_copy_span(arena, &spans[i])) return false;
    }
    return true;
}

/* Makes an unused id. In a log of version 0.1.0 a host may have used an id of this form. */
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
    size_t j;
    if (op == NULL) return NULL;
    if (!phi__valid_named(given)) {
        phi__rewrite_name(thread, made);
        named.op_id = made;
    }
    named.lane = NULL; /* op->lane replaces this field */
    named.base_seq = base;
    named.has_base = true;
    op->lane = lane;
    op->segment = thread->log.segments.current;
    if (!phi__rewrite_copy(room, &named, &op->rewrite)) return NULL;
    for (size_t i = 0; i < given->span_count; i++) {
        op->message_count = phi__add(op->message_count, given->spans[i].message_count);
        for (j = 0; j < given->spans[i].message_count; j++)
            if (!phi__append_claim_calls(thread, &given->spans[i].messages[j])) return NULL;
    }
    if (op->message_count == 0) return op;
    op->rendered =
        (phi__rendered **)phi__arena_zero(room, phi__mul(op->message_count, sizeof *op->rendered));
    return op->rendered != NULL ? op : NULL;
}

/* True if the rewrite counts as a compaction until it is revoked. */
static bool phi__rewrite_compacts(const phi__op *op) {
    return op->rewrite.reason == PHI_REWRITE_COMPACTION && op->rewrite.revoke == NULL;
}

enum { PHI__REWRITE_MARKS = 64 };

/* Makes room for the mark of one more compaction. With a memory limit, the oldest marks are
   dropped; they count only if all later compactions are revoked. False: no memory. */
static bool phi__rewrite_mark_room(phi_thread *thread) {
    size_t half = PHI__REWRITE_MARKS / 2;
    if (thread->log.segments.limit_bytes != 0 && thread->lanes.at == NULL &&
        thread->ops.compaction_count == PHI__REWRITE_MARKS) {
        memmove(thread->ops.compactions, &thread->ops.compactions[half],
                half * sizeof *thread->ops.compactions);
        thread->ops.compaction_count = half;
    }
    void *grown =
        phi__grow(thread->log.memory, thread->ops.compactions, &thread->ops.compaction_cap,
                  phi__add(thread->ops.compaction_count, 1), sizeof *thread->ops.compactions);
    if (grown != NULL) thread->ops.compactions = (phi__compaction_mark *)grown;
    return grown != NULL;
}

static phi__entry *phi__rewrite_entry(phi_thread *thread, phi__op *op, phi_str loop_id,
                                      uint32_t turn_index) {
    phi__entry *entry = (phi__entry *)phi__arena_zero(phi__thread_room(thread), sizeof *entry);
    if (entry == NULL || !phi__append_reserve(thread, 1, 0) || !phi__map_room(&thread->ops.by_id) ||
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
    /* Makes this rewrite the newest. Room was reserved. */
    if (op->rewrite.span_count > 0 || op->rewrite.revoke != NULL) thread->ops.last_seq = op->seq;
    op->earlier = thread->ops.last;
    thread->ops.last = op;
    op->id_hash = phi__hash(phi_str_of(op->rewrite.op_id), 0);
    phi__map_add(&thread->ops.by_id, op->id_hash, op);
    if (phi__rewrite_compacts(op)) {
        phi__compaction_mark *mark = &thread->ops.compactions[thread->ops.compaction_count++];
        mark->seq = op->seq;
        mark->lane = op->lane;
    }
    if (op->rewrite.written != NULL)
        phi__message_add_usage(&thread->counted.usage, &op->rewrite.written->usage);
    phi__append_attach(thread, entry, 1);
    phi__thread_evictable(thread);
}

/* Builds the view of the lane to switch to. */
static phi_status phi__rewrite_look_ahead(phi__rewriting *w) {
    phi_thread *thread = w->thread;
    if (w->given->switch_to == NULL) return PHI_OK;
    w->next = phi__lane_find(thread, phi_str_of(w->given->switch_to));
    w->moves = w->next != thread->lanes.active;
    return w->moves && thread->loading == NULL && w->next != PHI__LANE_NONE
               ? phi__fold_lane(thread, w->next, UINT64_MAX, &w->projected)
               : PHI_OK;
}

/* Applies a rewrite to the fold; appending it cannot fail afterwards. If switch_to names a new
   lane, begins that lane. False: no memory, and nothing changed. */
static bool phi__rewrite_fold(phi__rewriting *w, phi__op *op) {
    phi_thread *thread = w->thread;
    if (thread->loading != NULL) return phi__load_room(thread) && phi__load_apply(thread, op);
    if (!w->moves)
        return w->lane != thread->lanes.active ||
               (phi__runs_keep_undo(thread) && phi__fold_op(thread, &thread->fold, op));
    if (w->next != PHI__LANE_NONE)
        return (w->lane != w->next || phi__fold_op(thread, &w->projected, op)) &&
               phi__lane_messages(thread, w->next);
    return phi__append_reserve(thread, 2, 0) && /* for the new lane, and for the rewrite */
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

/* ---- revoking ---- */

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

/* Rebuilds the lane's view without a rewrite. The original messages are in the log. */
static phi_status phi__rewrite_unfold(phi_thread *thread, phi__op *target) {
    phi__fold fold;
    target->revoked = true;
    target->revoked_at = thread->log.count;
    if (thread->loading != NULL) return phi__load_unapply(thread, target);
    if (target->lane != thread->lanes.active) return PHI_OK;
    phi_status status = phi__fold_lane(thread, thread->lanes.active, UINT64_MAX, &fold);
    if (status != PHI_OK) {
        target->revoked = false;
        return status;
    }
    phi__fold_move(thread->log.memory, &thread->fold, &fold);
    return PHI_OK;
}

static phi_status phi__rewrite_revoke(phi__rewriting *w, phi_str loop_id, uint32_t turn_index) {
    phi_thread *thread = w->thread;
    phi__op *target = phi__ops_find(thread, phi_str_of(w->given->revoke));
    phi_arena *room = phi__thread_room(thread);
    phi_arena_mark mark = phi_arena_save(room);
    if (target == NULL || target->lane != w->lane || target->rewrite.revoke != NULL ||
        target->revoked) {
        (void)phi__valid_refuse(w, "no rewrite \"%s\" of this lane to revoke", w->given->revoke);
        return PHI_NOT_FOUND;
    }
    phi__op *later =
        thread->loading != NULL && phi__load_untouched(thread, target) ? target : thread->ops.last;
    for (; later != target; later = later->earlier)
        if (later->lane == target->lane && !later->revoked &&
            phi__rewrite_touches(&later->rewrite, &target->rewrite)) {
            (void)phi__valid_refuse(w, "the later rewrite \"%s\" touches it", later->rewrite.op_id);
            return PHI_MISUSE;
        }
    phi__op *op = phi__rewrite_keep(thread, w->given, w->lane, w->base);
    phi__entry *entry = op != NULL ? phi__rewrite_entry(thread, op, loop_id, turn_index) : NULL;
    if (entry == NULL || phi__rewrite_unfold(thread, target) != PHI_OK) {
        phi_arena_reset(room, mark);
        return PHI_NO_MEMORY;
    }
    phi__ops_unmark(thread, target->lane, target->seq, target->seq);
    phi__runs_drop_undo(thread); /* the saved view still contains the revoked rewrite */
    phi__rewrite_append(thread, op, entry);
    return PHI_OK;
}

/* ---- the whole ---- */

PHI__FN bool phi__rewrite_needs(const phi_thread *thread, const phi_rewrite *rewrite) {
    if (phi__thread_whole(thread)) return false;
    if (phi__valid_named(rewrite) && phi__ops_find(thread, phi_str_of(rewrite->op_id)) == NULL &&
        phi__hashes_has(&thread->ops.away, phi__hash(phi_str_of(rewrite->op_id), 0)))
        return true;
    uint32_t lane = phi__lane_named(thread, rewrite->lane);
    if (lane == PHI__LANE_NONE) return false;
    if (rewrite->revoke != NULL || (rewrite->span_count > 0 && lane != thread->lanes.active))
        return true;
    if (rewrite->switch_to == NULL) return false;
    uint32_t next = phi__lane_find(thread, phi_str_of(rewrite->switch_to));
    return next != PHI__LANE_NONE && next != thread->lanes.active;
}

PHI__FN phi_status phi__rewrite_make(phi_thread *thread, const phi_rewrite *rewrite,
                                     phi_str loop_id, uint32_t turn_index, bool *duplicate,
                                     char *words, size_t words_size) {
    phi__rewriting w = phi__valid_begin(thread, rewrite, words, words_size);
    bool known =
        phi__valid_named(rewrite) && phi__ops_find(thread, phi_str_of(rewrite->op_id)) != NULL;
    if (duplicate != NULL) *duplicate = known;
    if (known) return PHI_OK;
    w.lane = phi__lane_named(thread, rewrite->lane);
    if (w.lane == PHI__LANE_NONE) {
        (void)phi__valid_refuse(&w, "no lane \"%s\"", rewrite->lane);
        return PHI_NOT_FOUND;
    }
    phi_status status = phi__valid_all(&w);
    if (status != PHI_OK) return status;
    return rewrite->revoke != NULL ? phi__rewrite_revoke(&w, loop_id, turn_index)
                                   : phi__rewrite_apply(&w, loop_id, turn_index);
}
