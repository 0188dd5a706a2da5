/* load.c - keeps the views of lanes up to date while a thread is read, at a cost that depends only
   on the changes.

   No other code uses the thread while entries are read. So a switch makes no view: the view of each
   lane seen so far is kept aside, and a missing view is folded when a rewrite needs it. The items
   that a rewrite removes are kept with the rewrite, and are put back if the rewrite is revoked.
   Each lane has a list of the spans that no later rewrite covers. The list shows which rewrites
   touch the same entries. Cases that the list cannot decide (durable groups, spans that overlap in
   part, calls and results) are computed as for a single rewrite of a thread in use. The list of
   messages and their indexes are made at the end. */
#include "log/thread_in.h"

/* ---- lanes ---- */

/* A span of a rewrite. */
typedef struct phi__load_span {
    uint64_t from, to;
    /* NULL: the rewrite was revoked; such a span is removed with the span that covers it */
    phi__op *op;
} phi__load_span;

typedef struct phi__load_lane {
    phi__fold fold; /* the lane's view, if it is known and the lane is not active */
    bool known, seen;
    uint64_t compacted;    /* seq of the lane's last compaction plus 1 */
    bool odd;              /* spans have overlapped in part, so the list is not used any more */
    phi__load_span *spans; /* in order, without overlaps */
    size_t count, cap;
} phi__load_lane;

struct phi__loading {
    phi_arena arena; /* has the items that are kept with rewrites */
    phi__load_lane *lanes;
    size_t count, cap;
    bool known;   /* thread->fold is the view of the active lane */
    bool durable; /* a durable message was read */
    size_t aside; /* items in the folds of other lanes */
};

/* The items to put back when a rewrite that was read is revoked. */
struct phi__load_op {
    phi__item *taken;
    size_t taken_count;
    phi__load_span *under; /* earlier spans that this rewrite's spans cover */
    size_t under_count;
    size_t touched;  /* number of this rewrite's spans that later rewrites cover */
    uint64_t tokens; /* tokens that the rewrite added to its lane's view (modulo 2^64) */
};

/* The folds of inactive lanes are freed if they have at least this many items, and at least twice
   as many items as the log has entries. */
enum { PHI__LOAD_ASIDE = 4096 };

PHI__FN bool phi__load_room(phi_thread *thread) {
    struct phi__loading *l = thread->loading;
    size_t lanes = phi__thread_lanes(thread);
    if (l->count >= lanes) return true;
    void *grown = phi__grow(thread->log.memory, l->lanes, &l->cap, lanes, sizeof *l->lanes);
    if (grown == NULL) return false;
    l->lanes = (phi__load_lane *)grown;
    memset(&l->lanes[l->count], 0, (lanes - l->count) * sizeof *l->lanes);
    l->count = lanes;
    return true;
}

PHI__FN phi_status phi__load_begin(phi_thread *thread, bool apart) {
    if (apart && !phi__segments_open(&thread->log)) return PHI_NO_MEMORY;
    thread->loading =
        (struct phi__loading *)phi__alloc(thread->log.memory, sizeof *thread->loading);
    if (thread->loading == NULL) return PHI_NO_MEMORY;
    thread->loading->known = true;
    phi_arena_init(&thread->loading->arena, thread->log.memory, 0);
    if (phi__load_room(thread)) return PHI_OK;
    phi__load_drop(thread);
    return PHI_NO_MEMORY;
}

static void phi__load_forget(phi_thread *thread, phi__load_lane *lane) {
    thread->loading->aside -= lane->fold.count;
    phi__fold_free(thread->log.memory, &lane->fold);
    lane->known = false;
}

PHI__FN void phi__load_drop(phi_thread *thread) {
    struct phi__loading *l = thread->loading;
    if (l == NULL) return;
    for (size_t i = 0; i < l->count; i++) {
        phi__fold_free(thread->log.memory, &l->lanes[i].fold);
        phi__free(thread->log.memory, l->lanes[i].spans, l->lanes[i].cap * sizeof(phi__load_span));
    }
    phi__free(thread->log.memory, l->lanes, l->cap * sizeof *l->lanes);
    phi_arena_free(&l->arena);
    phi__free(thread->log.memory, l, sizeof *l);
    thread->loading = NULL;
}

/* ---- views ---- */

PHI__FN phi_status phi__load_view(phi_thread *thread, uint32_t lane, phi__fold **out) {
    struct phi__loading *l = thread->loading;
    bool active = lane == thread->lanes.active;
    phi_status status = PHI_OK;
    phi__fold made;
    if (!phi__load_room(thread)) return PHI_NO_MEMORY;
    phi__load_lane *of = &l->lanes[lane];
    *out = active ? &thread->fold : &of->fold;
    if (active ? l->known : of->known) return PHI_OK;
    status = phi__fold_lane(thread, lane, UINT64_MAX, &made);
    if (status != PHI_OK) return status;
    phi__fold_move(thread->log.memory, *out, &made);
    of->seen = true;
    if (active)
        l->known = true;
    else {
        of->known = true;
        l->aside += (*out)->count;
    }
    return PHI_OK;
}

PHI__FN void phi__load_enter(phi_thread *thread, uint32_t lane) {
    struct phi__loading *l = thread->loading;
    phi__load_lane *from = &l->lanes[thread->lanes.active], *to = &l->lanes[lane];
    if (!l->known) phi__fold_free(thread->log.memory, &thread->fold);
    phi__fold_move(thread->log.memory, &from->fold, &thread->fold);
    from->known = l->known;
    from->seen = true;
    l->aside += from->fold.count;
    if (!to->seen && (thread->lanes.at == NULL || thread->lanes.at[lane].parent == PHI__LANE_NONE))
        to->known = true;
    l->aside -= to->fold.count;
    phi__fold_move(thread->log.memory, &thread->fold, &to->fold);
    l->known = to->known;
    to->known = false;
    to->seen = true;
    thread->lanes.active = lane;
    thread->state.known = false;
    if (l->aside < PHI__LOAD_ASIDE || l->aside / 2 < thread->log.held) return;
    for (size_t i = 0; i < l->count; i++)
        if (l->lanes[i].fold.count > 0) phi__load_forget(thread, &l->lanes[i]);
}

PHI__FN phi_status phi__load_switch(phi_thread *thread, uint32_t lane) {
    phi__entry *entry = phi__load_room(thread) ? phi__lane_entries(thread, 1) : NULL;
    if (entry == NULL) return PHI_NO_MEMORY;
    phi__load_enter(thread, lane);
    phi__lane_append(thread, entry, PHI_ENTRY_SWITCH, lane);
    return PHI_OK;
}

/* ---- checking if a rewrite fits ---- */

static bool phi__load_calls(const phi_message *m) {
    if (m->role == PHI_ROLE_TOOL_RESULT) return true;
    for (size_t i = 0; m->role == PHI_ROLE_ASSISTANT && i < m->content_count; i++)
        if (m->content[i].kind == PHI_CONTENT_TOOL_CALL) return true;
    return false;
}

PHI__FN bool phi__load_fits(const phi__fold *fold, const phi_rewrite *rewrite) {
    size_t at;
    for (size_t i = 0; i < rewrite->span_count && !fold->overlaps; i++) {
        const phi_span *span = &rewrite->spans[i];
        at = phi__fold_find(fold, span->from);
        if (at > 0 && fold->items[at - 1].to >= span->from) return false;
        for (; at < fold->count && fold->items[at].from <= span->to; at++)
            if (fold->items[at].to > span->to || phi__load_calls(fold->items[at].message))
                return false;
    }
    return !fold->overlaps;
}

/* ---- spans that touch ---- */

static size_t phi__load_find_span(const phi__load_lane *lane, uint64_t from) {
    size_t low = 0, high = lane->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (lane->spans[middle].to < from)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Makes room for n spans in place of `gone` spans. */
static void phi__load_splice(phi__load_lane *lane, size_t at, size_t gone, size_t n) {
    if (gone == n) return;
    memmove(&lane->spans[at + n], &lane->spans[at + gone],
            (lane->count - at - gone) * sizeof *lane->spans);
    lane->count = lane->count - gone + n;
}

static bool phi__load_span_room(phi_thread *thread, phi__load_lane *lane, size_t more) {
    void *grown = phi__grow(thread->log.memory, lane->spans, &lane->cap,
                            phi__add(lane->count, more), sizeof *lane->spans);
    if (grown != NULL) lane->spans = (phi__load_span *)grown;
    return grown != NULL;
}

/* Removes the spans of revoked rewrites. True if there were any. */
static bool phi__load_sweep(phi__load_lane *lane) {
    size_t n = 0, before = lane->count;
    for (size_t i = 0; i < lane->count; i++)
        if (lane->spans[i].op != NULL) lane->spans[n++] = lane->spans[i];
    lane->count = n;
    return n < before;
}

/* Returns how many listed spans a new span covers, and sets *at to the index of the first one.
   Returns SIZE_MAX if the new span cuts a listed span. */
static size_t phi__load_covers(phi__load_lane *lane, const phi_span *span, size_t *at) {
    size_t end;
    *at = end = phi__load_find_span(lane, span->from);
    for (; end < lane->count && lane->spans[end].from <= span->to; end++)
        if (lane->spans[end].from < span->from || lane->spans[end].to > span->to)
            return phi__load_sweep(lane) ? phi__load_covers(lane, span, at) : SIZE_MAX;
    return end - *at;
}

/* Moves n spans from the list to the rewrite's `under`, and puts the rewrite's span in their
   place. */
static void phi__load_go_under(phi__load_lane *lane, phi__op *op, size_t at, size_t n,
                               const phi_span *span) {
    struct phi__load_op *load = op->load;
    for (size_t i = at; i < at + n; i++) {
        if (lane->spans[i].op == NULL) continue;
        lane->spans[i].op->load->touched++;
        load->under[load->under_count++] = lane->spans[i];
    }
    phi__load_splice(lane, at, n, 1);
    lane->spans[at].from = span->from;
    lane->spans[at].to = span->to;
    lane->spans[at].op = op;
}

/* Puts a rewrite's spans into the list, and moves the spans that they cover to its `under`. */
static bool phi__load_cover(phi_thread *thread, phi__load_lane *lane, phi__op *op) {
    struct phi__load_op *load = op->load;
    const phi_rewrite *r = &op->rewrite;
    size_t at, n, all = 0;
    for (size_t i = 0; i < r->span_count && !lane->odd; i++) {
        n = phi__load_covers(lane, &r->spans[i], &at);
        lane->odd = n == SIZE_MAX;
        if (n != SIZE_MAX) all += n;
    }
    if (lane->odd) return true;
    if (!phi__load_span_room(thread, lane, r->span_count)) return false;
    if (all > 0) {
        load->under = (phi__load_span *)phi_arena_alloc(&thread->loading->arena,
                                                        phi__mul(all, sizeof *load->under));
        if (load->under == NULL) return false;
    }
    for (size_t i = 0; i < r->span_count; i++) {
        n = phi__load_covers(lane, &r->spans[i], &at);
        phi__load_go_under(lane, op, at, n, &r->spans[i]);
    }
    return true;
}

/* Removes a rewrite's spans from the list, and puts the spans of its `under` back. */
static bool phi__load_uncover(phi_thread *thread, phi__load_lane *lane, phi__op *op) {
    struct phi__load_op *load = op->load;
    size_t at;
    if (lane->odd) return true;
    if (!phi__load_span_room(thread, lane, load->under_count)) return false;
    for (size_t i = 0; i < op->rewrite.span_count; i++) {
        at = phi__load_find_span(lane, op->rewrite.spans[i].from);
        lane->spans[at].op = NULL;
        if (load->under_count > 0) phi__load_splice(lane, at, 1, 0);
    }
    for (size_t i = 0; i < load->under_count; i++) {
        at = phi__load_find_span(lane, load->under[i].from);
        phi__load_splice(lane, at, 0, 1);
        lane->spans[at] = load->under[i];
        load->under[i].op->load->touched--;
    }
    return true;
}

PHI__FN bool phi__load_untouched(const phi_thread *thread, const phi__op *op) {
    return !thread->loading->lanes[op->lane].odd && op->load->touched == 0;
}

/* ---- rewrites ---- */

/* Counts the items that the rewrite's spans select, and copies them to `out` if it is not NULL. */
static size_t phi__load_taken(const phi__fold *fold, const phi_rewrite *r, phi__item *out) {
    size_t at, n = 0;
    for (size_t i = 0; i < r->span_count; i++)
        for (at = phi__fold_find(fold, r->spans[i].from);
             at < fold->count && fold->items[at].from <= r->spans[i].to; at++, n++)
            if (out != NULL) out[n] = fold->items[at];
    return n;
}

static bool phi__load_keep_taken(phi_thread *thread, const phi__fold *fold, phi__op *op) {
    struct phi__load_op *load = op->load;
    size_t n = phi__load_taken(fold, &op->rewrite, NULL);
    if (n == 0) return true;
    load->taken =
        (phi__item *)phi_arena_alloc(&thread->loading->arena, phi__mul(n, sizeof *load->taken));
    if (load->taken == NULL) return false;
    load->taken_count = phi__load_taken(fold, &op->rewrite, load->taken);
    return true;
}

PHI__FN bool phi__load_apply(phi_thread *thread, phi__op *op) {
    struct phi__loading *l = thread->loading;
    phi__load_lane *lane = &l->lanes[op->lane];
    phi__fold *fold = op->lane == thread->lanes.active ? &thread->fold : &lane->fold;
    size_t before = fold->count;
    uint64_t tokens = fold->tokens;
    op->load = (struct phi__load_op *)phi__arena_zero(&l->arena, sizeof *op->load);
    if (op->load == NULL) return false;
    if (op->rewrite.span_count == 0) return true;
    if (!phi__load_keep_taken(thread, fold, op) || !phi__load_cover(thread, lane, op) ||
        !phi__fold_op(thread, fold, op))
        return false;
    op->load->tokens = fold->tokens - tokens;
    if (op->rewrite.reason == PHI_REWRITE_COMPACTION) lane->compacted = thread->log.count + 1;
    if (op->lane != thread->lanes.active) l->aside += fold->count - before;
    return true;
}

/* Replaces a rewrite's messages by the items that it removed. Does not read the messages
   themselves, since they are no longer in the processor's caches. */
static bool phi__load_put_back(phi_thread *thread, phi__fold *fold, const phi__op *op) {
    const struct phi__load_op *load = op->load;
    size_t done = load->taken_count;
    if (!phi__fold_room(thread->log.memory, fold, load->taken_count)) return false;
    for (size_t i = op->rewrite.span_count; i > 0; i--) {
        const phi_span *span = &op->rewrite.spans[i - 1];
        size_t at = phi__fold_find(fold, span->from), end = at, from = done;
        while (end < fold->count && fold->items[end].from <= span->to) end++;
        while (from > 0 && load->taken[from - 1].from >= span->from) from--;
        phi__fold_splice(fold, at, end - at, &load->taken[from], done - from);
        done = from;
    }
    fold->tokens -= load->tokens;
    return true;
}

PHI__FN phi_status phi__load_unapply(phi_thread *thread, phi__op *op) {
    struct phi__loading *l = thread->loading;
    phi__load_lane *lane = &l->lanes[op->lane];
    bool active = op->lane == thread->lanes.active, known = active ? l->known : lane->known;
    phi__fold *fold = active ? &thread->fold : &lane->fold;
    size_t before = fold->count;
    if (op->rewrite.span_count == 0) return PHI_OK;
    if (!phi__load_uncover(thread, lane, op)) return PHI_NO_MEMORY;
    if (known && l->durable && lane->compacted > op->seq) {
        if (active)
            l->known = false;
        else
            phi__load_forget(thread, lane);
        return PHI_OK;
    }
    if (known && !phi__load_put_back(thread, fold, op)) return PHI_NO_MEMORY;
    if (known && !active) l->aside += fold->count - before;
    return PHI_OK;
}

/* Reverts the active lane's rewrites from entry `start` on. */
static phi_status phi__load_roll_back(phi_thread *thread, uint64_t start) {
    phi_status status = PHI_OK;
    for (phi__op *op = thread->ops.last; status == PHI_OK && op != NULL && op->seq >= start;
         op = op->earlier)
        if (op->lane == thread->lanes.active && op->rewrite.revoke == NULL && !op->revoked)
            status = phi__load_unapply(thread, op);
    return status;
}

PHI__FN phi_status phi__load_put(phi_thread *thread, phi__entry *entry) {
    struct phi__loading *l = thread->loading;
    bool message = entry->kind == PHI_ENTRY_MESSAGE;
    bool active = entry->lane == thread->lanes.active;
    phi_status status = PHI_OK;
    if (!phi__append_reserve(thread, 1, 0) || !phi__load_room(thread) ||
        (message && l->known && !phi__fold_room(thread->log.memory, &thread->fold, 1)) ||
        (entry->kind == PHI_ENTRY_LOOP_START && !phi__loops_room(thread)))
        return PHI_NO_MEMORY;
    if (entry->kind == PHI_ENTRY_LOOP_END && active && phi__runs_end_folds(thread, entry))
        status = phi__load_roll_back(thread, phi__loops_find(thread, entry->loop_id)->seq);
    if (status != PHI_OK) return status;
    if (message && (entry->flags & PHI_ENTRY_DURABLE) != 0) l->durable = true;
    if ((entry->flags & PHI_ENTRY_GRAFTED) != 0 && !active) {
        /* The saved view of that lane is out of date now. */
        phi__load_lane *lane = &l->lanes[entry->lane];
        phi__graft_put(thread, entry);
        if (lane->known) phi__load_forget(thread, lane);
        lane->seen = true;
    } else {
        phi__append_put(thread, entry);
        if (message && l->known) phi__fold_put(&thread->fold, entry);
    }
    phi__log_grew(&thread->log);
    return PHI_OK;
}

/* ---- finishing ---- */

/* Finds the lanes that fork at an entry: first[i] is the first lane that forks at entry i, and
   `next` links the others. */
typedef struct phi__load_forks {
    uint32_t *first, *next;
    size_t *counts; /* messages of each lane so far, including its parents' */
    size_t entries, lanes;
} phi__load_forks;

static bool phi__load_make_forks(phi_thread *thread, phi__load_forks *f) {
    memset(f, 0, sizeof *f);
    f->entries = thread->log.held;
    f->lanes = phi__thread_lanes(thread);
    f->first = (uint32_t *)phi__alloc(thread->log.memory, phi__mul(f->entries, sizeof *f->first));
    f->next = (uint32_t *)phi__alloc(thread->log.memory, phi__mul(f->lanes, sizeof *f->next));
    f->counts = (size_t *)phi__alloc(thread->log.memory, phi__mul(f->lanes, sizeof *f->counts));
    if (f->first == NULL || f->next == NULL || f->counts == NULL) return false;
    for (uint32_t i = (uint32_t)f->lanes;
         thread->lanes.at != NULL && i-- > 1;) { /* so first[] is the lowest lane */
        if (thread->lanes.at[i].parent == PHI__LANE_NONE) continue;
        f->next[i] = f->first[thread->lanes.at[i].fork_seq - thread->log.base];
        f->first[thread->lanes.at[i].fork_seq - thread->log.base] = i;
    }
    return true;
}

/* Returns how many messages a lane has at an entry. Before the lane's fork, this is the number of
   messages of its parent. */
static size_t phi__load_count_at(const phi_thread *thread, const phi__load_forks *f, uint32_t lane,
                                 uint64_t seq) {
    while (thread->lanes.at[lane].parent != PHI__LANE_NONE && thread->lanes.at[lane].fork_seq > seq)
        lane = thread->lanes.at[lane].parent;
    return f->counts[lane];
}

/* Sets the index of each message within its lane. */
static bool phi__load_places(phi_thread *thread) {
    phi__load_forks f;
    bool done = phi__load_make_forks(thread, &f);
    uint32_t lane;
    for (size_t i = 0; done && i < thread->log.held; i++) {
        phi__entry *entry = thread->log.entries[i];
        if (entry->kind == PHI_ENTRY_MESSAGE) entry->ordinal = f.counts[entry->lane]++;
        for (lane = f.first[i]; lane != 0; lane = f.next[lane])
            f.counts[lane] =
                phi__load_count_at(thread, &f, thread->lanes.at[lane].parent, entry->seq);
    }
    phi__free(thread->log.memory, f.first, f.first != NULL ? f.entries * sizeof *f.first : 0);
    phi__free(thread->log.memory, f.next, f.next != NULL ? f.lanes * sizeof *f.next : 0);
    phi__free(thread->log.memory, f.counts, f.counts != NULL ? f.lanes * sizeof *f.counts : 0);
    return done;
}

PHI__FN phi_status phi__load_end(phi_thread *thread, phi_status status) {
    phi__fold *fold;
    if (status == PHI_OK) status = phi__load_view(thread, thread->lanes.active, &fold);
    if (status == PHI_OK && thread->log.held > 0 &&
        !(phi__load_places(thread) && phi__lane_messages(thread, thread->lanes.active)))
        status = PHI_NO_MEMORY;
    phi__load_drop(thread);
    return status;
}
