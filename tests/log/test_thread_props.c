/* test_thread_props.c - random histories against an oracle: what each lane shows is worked out from the entries
   alone, in the most obvious way, and compared after every step and for every earlier state. Each seed is one history;
   PHI_SEEDS says how many, PHI_SEED picks one. */
#include "support/test.h"

#include "support/preflight.h"
#include "model/tokens.h"
#include "persist/store.h"
#include "persist/persist_in.h"
#include "wire/wire_in.h"
#include "codecs/translate.h"
#include "codecs/presets.h"
#include "model/model.h"
#include "support/append.h"
#include "support/thread_text.h"

enum { SEEDS = 200, STEPS = 70, CELLS = 2000, ENTRIES = 1000, LANES = 12, OPS = 200 };

typedef struct cell {
    const phi_message *message;
    uint64_t from, to;
    uint32_t flags;
    size_t order; /* what was before it stays before it */
} cell;

typedef struct cells {
    cell at[CELLS];
    size_t count;
} cells;

typedef struct world {
    phi_memory memory;
    phi_thread thread;
    uint32_t state;
    unsigned calls, ops, names; /* how many ids were made */
    phi__entry seen[ENTRIES];
    size_t seen_count;
    char op_ids[OPS][16];
    char loop_id[16]; /* of the run that goes on; empty: none */
    bool failed;
} world;

#define HOLDS(w, condition)                                                                        \
    do {                                                                                           \
        if (!CHECK(condition)) (w)->failed = true;                                                 \
    } while (0)

static uint32_t pick(world *w, uint32_t n) { return test_random(&w->state) % n; }

static phi_thread *open_thread(world *w) { return &w->thread; }

/* ---- the oracle ---- */

static bool asks(const phi_message *m, phi_str id) {
    size_t i;
    if (m->role != PHI_ROLE_ASSISTANT) return false;
    for (i = 0; i < m->content_count; i++)
        if (m->content[i].kind == PHI_CONTENT_TOOL_CALL && phi_str_equal(m->content[i].id, id))
            return true;
    return false;
}

/* The cell of the answer that a cell is a result of, or its own. */
static size_t leader(const cells *list, size_t i) {
    size_t j = i;
    if (list->at[i].message->role != PHI_ROLE_TOOL_RESULT) return i;
    while (j-- > 0)
        if (asks(list->at[j].message, list->at[i].message->tool_call_id)) return j;
    return i;
}

static bool is_durable(const cells *list, size_t i) {
    size_t j;
    for (j = 0; j < list->count; j++)
        if ((list->at[j].flags & PHI_ENTRY_DURABLE) != 0 && leader(list, j) == leader(list, i))
            return true;
    return false;
}

static const phi_span *span_of(const phi_rewrite *r, const cell *c) {
    size_t i;
    for (i = 0; i < r->span_count; i++)
        if (r->spans[i].from <= c->from && c->to <= r->spans[i].to) return &r->spans[i];
    return NULL;
}

static bool stands_for(const phi_span *s, const cell *c) {
    const phi_message *now = s->messages, *was = c->message;
    size_t i, j = 0;
    if (s->message_count != 1 || s->from != c->from || s->to != c->to || now->role != was->role)
        return false;
    if (was->role == PHI_ROLE_TOOL_RESULT)
        return phi_str_equal(was->tool_call_id, now->tool_call_id);
    for (i = 0; i < was->content_count; i++) { /* each call of it, in order */
        if (was->content[i].kind != PHI_CONTENT_TOOL_CALL) continue;
        while (j < now->content_count && (now->content[j].kind != PHI_CONTENT_TOOL_CALL ||
                                          !phi_str_equal(now->content[j].id, was->content[i].id)))
            j++;
        if (j++ == now->content_count) return false;
    }
    return true;
}

/* 0: it stays, 1: it goes, 2: one of its kind takes its place. */
static int fate(const cells *list, size_t i, const phi_rewrite *r) {
    const phi_span *s = span_of(r, &list->at[i]);
    if (s == NULL || (r->reason == PHI_REWRITE_COMPACTION && is_durable(list, i))) return 0;
    return stands_for(s, &list->at[i]) ? 2 : 1;
}

static bool comes_before(const cell *a, const cell *b) {
    return a->from != b->from ? a->from < b->from : a->order < b->order;
}

static void sort(cells *list) {
    size_t i, j;
    for (i = 1; i < list->count; i++)
        for (j = i; j > 0 && comes_before(&list->at[j], &list->at[j - 1]); j--) {
            cell c = list->at[j];
            list->at[j] = list->at[j - 1];
            list->at[j - 1] = c;
        }
}

static void apply(cells *list, const phi_rewrite *r) {
    static cells out;
    size_t i, j;
    out.count = 0;
    for (i = 0; i < r->span_count; i++) {
        const phi_span *s = &r->spans[i];
        uint32_t inherited = 0;
        bool any = false, goes = false;
        for (j = 0; j < list->count; j++) {
            if (span_of(r, &list->at[j]) != s) continue;
            any = true;
            goes = goes || fate(list, j, r) != 0;
            if (fate(list, j, r) == 2) inherited |= list->at[j].flags & PHI_ENTRY_DURABLE;
        }
        for (j = 0; j < s->message_count && (goes || !any); j++) {
            cell *c = &out.at[out.count++];
            c->message = &s->messages[j];
            c->from = s->from;
            c->to = s->to;
            c->flags = PHI_ITEM_SYNTHETIC | (s->summary ? PHI_ITEM_SUMMARY : 0) | inherited;
            c->order = j;
        }
    }
    for (j = 0; j < list->count; j++) {
        if (fate(list, j, r) != 0) continue;
        out.at[out.count] = list->at[j];
        out.at[out.count++].order = 1000 + j;
    }
    sort(&out);
    *list = out;
}

static void end_without(const phi_thread *thread, cells *list, const phi_entry *end) {
    phi_entry e;
    uint64_t start = end->seq;
    size_t i, n = 0;
    do (void)phi_thread_entry(thread, --start, &e);
    while (start > 0 &&
           !(e.kind == PHI_ENTRY_LOOP_START && phi_str_equal(e.loop_id, end->loop_id)));
    for (i = 0; i < list->count; i++)
        if (list->at[i].from < start) list->at[n++] = list->at[i];
    list->count = n;
}

/* Whether a run ended at i that kept nothing and had made the rewrite. */
static bool is_rolled_back(const phi_thread *thread, const phi_entry *op, uint64_t i) {
    phi_entry end, e;
    (void)phi_thread_entry(thread, i, &end);
    if (end.kind != PHI_ENTRY_LOOP_END || end.keep != PHI_KEEP_NONE ||
        !phi_str_equal(end.lane, op->lane))
        return false;
    do (void)phi_thread_entry(thread, --i, &e);
    while (i > 0 && !(e.kind == PHI_ENTRY_LOOP_START && phi_str_equal(e.loop_id, end.loop_id)));
    return i < op->seq;
}

static bool is_revoked(const phi_thread *thread, const phi_entry *op, uint64_t upto) {
    phi_entry e;
    uint64_t i;
    for (i = op->seq; i < phi_thread_count(thread) && i <= upto; i++) {
        (void)phi_thread_entry(thread, i, &e);
        if (e.kind == PHI_ENTRY_REWRITE && e.rewrite->revoke != NULL &&
            strcmp(e.rewrite->revoke, op->rewrite->op_id) == 0)
            return true;
        if (is_rolled_back(thread, op, i)) return true;
    }
    return false;
}

static void work_out(const phi_thread *thread, phi_str lane, uint64_t upto, cells *out) {
    phi_entry e;
    uint64_t i;
    out->count = 0;
    for (i = 0; i < phi_thread_count(thread); i++) {
        (void)phi_thread_entry(thread, i, &e);
        if (!phi_str_equal(e.lane, lane)) continue;
        if (e.kind == PHI_ENTRY_LANE && e.parent_lane.len > 0)
            work_out(thread, e.parent_lane, upto < e.fork_seq ? upto : e.fork_seq, out);
        if (i > upto) continue;
        if (e.kind == PHI_ENTRY_MESSAGE && !(e.message->role == PHI_ROLE_ASSISTANT &&
                                             (e.message->stop_reason == PHI_STOP_REASON_ERROR ||
                                              e.message->stop_reason == PHI_STOP_REASON_ABORTED))) {
            cell *c = &out->at[out->count++];
            c->message = e.message;
            c->from = c->to = i;
            c->flags = e.flags;
        }
        if (e.kind == PHI_ENTRY_LOOP_END && e.keep == PHI_KEEP_NONE) end_without(thread, out, &e);
        if (e.kind == PHI_ENTRY_REWRITE && e.rewrite->revoke == NULL &&
            !is_revoked(thread, &e, upto))
            apply(out, e.rewrite);
    }
}

/* The lane that the last entry which says so has made the active one. */
static phi_str active(const phi_thread *thread) {
    phi_str lane = PHI__LIT(PHI_LANE_DEFAULT);
    phi_entry e;
    uint64_t i;
    for (i = 0; i < phi_thread_count(thread); i++) {
        (void)phi_thread_entry(thread, i, &e);
        if (e.kind == PHI_ENTRY_SWITCH) lane = e.lane;
        if (e.kind == PHI_ENTRY_REWRITE && e.rewrite->switch_to != NULL)
            lane = phi_str_of(e.rewrite->switch_to);
    }
    return lane;
}

/* The cell that stayed as this one, or whose place it has; CELLS: the rewrite put it there. */
static size_t origin(const cells *list, const phi_rewrite *r, const cell *now) {
    size_t i;
    for (i = 0; i < list->count; i++) {
        int how = fate(list, i, r);
        if (how == 0 && list->at[i].message == now->message && list->at[i].from == now->from)
            return i;
        if (how == 2 && span_of(r, &list->at[i])->messages == now->message) return i;
    }
    return CELLS;
}

/* True if the rewrite puts a message between a call and its result. */
static bool parts_groups(const cells *list, const phi_rewrite *r) {
    static cells after;
    size_t i, last = CELLS;
    bool put = false;
    after = *list;
    apply(&after, r);
    for (i = 0; i < after.count; i++) {
        size_t was = origin(list, r, &after.at[i]);
        if (after.at[i].message->role == PHI_ROLE_EXTENSION) continue;
        if (was == CELLS) {
            put = true;
            continue;
        }
        if (put && last != CELLS && leader(list, was) != was &&
            leader(list, was) == leader(list, last))
            return true;
        last = was;
        put = false;
    }
    return false;
}

static bool is_valid(const cells *list, const phi_rewrite *r, uint64_t count) {
    size_t i, j;
    if (count == 0 && r->span_count > 0) return false;
    if (r->base_seq >= (count > 0 ? count : 1)) return false;
    for (i = 0; i < r->span_count; i++) {
        const phi_span *s = &r->spans[i];
        if (s->from > s->to || s->to > r->base_seq) return false;
        if (i > 0 && s->from <= r->spans[i - 1].to) return false;
        for (j = 0; j < list->count; j++) {
            const cell *c = &list->at[j];
            if (c->to >= s->from && c->from <= s->to && !(c->from >= s->from && c->to <= s->to))
                return false;
        }
    }
    for (j = 0; j < list->count; j++)
        if ((fate(list, j, r) == 1) != (fate(list, leader(list, j), r) == 1)) return false;
    return !parts_groups(list, r);
}

/* ---- looking ---- */

static uint64_t digest(const phi_view_item *items, size_t count) {
    uint64_t sum = count;
    size_t i;
    for (i = 0; i < count; i++) {
        uint64_t part[4];
        part[0] = (uint64_t)(uintptr_t)items[i].message;
        part[1] = items[i].from;
        part[2] = items[i].to;
        part[3] = items[i].flags;
        sum = phi__hash(phi__str((const char *)part, sizeof part), sum);
    }
    return sum;
}

static uint64_t look(world *w, const char *lane, uint64_t upto) {
    const phi_view_item *items = NULL;
    phi_arena arena;
    size_t count = 0;
    uint64_t sum;
    phi_arena_init(&arena, &w->memory, 0);
    HOLDS(w, phi_thread_view(open_thread(w), lane, upto, &arena, &items, &count) == PHI_OK);
    sum = digest(items, count);
    phi_arena_free(&arena);
    return sum;
}

/* The very messages, in the very order, of the very entries. */
static void compare(world *w, phi_str lane, uint64_t upto) {
    static cells want;
    const phi_view_item *items = NULL;
    phi_arena arena;
    size_t count = 0, i;
    work_out(open_thread(w), lane, upto, &want);
    phi_arena_init(&arena, &w->memory, 0);
    HOLDS(w, phi_thread_view(open_thread(w), lane.at, upto, &arena, &items, &count) == PHI_OK);
    HOLDS(w, count == want.count);
    for (i = 0; i < count && !w->failed; i++) {
        HOLDS(w, items[i].message == want.at[i].message);
        HOLDS(w, items[i].from == want.at[i].from && items[i].to == want.at[i].to);
        HOLDS(w, items[i].flags == want.at[i].flags);
        HOLDS(w, i == 0 || items[i].from >= items[i - 1].from);
        HOLDS(w, (items[i].flags & PHI_ITEM_SYNTHETIC) != 0 ||
                     items[i].message == w->thread.log.entries[items[i].from]->message);
    }
    phi_arena_free(&arena);
}

/* Read from its text, the log shows the same in each lane and counts the same. */
static void comes_back(world *w) {
    phi_thread again;
    phi_arena arena;
    phi_str json = {"", 0};
    char words[200] = "";
    size_t i, lanes = phi_thread_get_info(open_thread(w)).lane_count;
    phi_arena_init(&arena, &w->memory, 0);
    phi__thread_init(&again, &w->memory, NULL);
    HOLDS(w, phi_thread_to_json(open_thread(w), &arena, &json) == PHI_OK);
    HOLDS(w, thread_from_json(&again, json, words, sizeof words) == PHI_OK);
    if (w->failed) printf("  %s\n", words);
    HOLDS(w, again.log.count == w->thread.log.count && again.fold.count == w->thread.fold.count);
    HOLDS(w, again.fold.tokens == w->thread.fold.tokens);
    HOLDS(w, again.fold.durable == w->thread.fold.durable);
    HOLDS(w, again.messages.count == w->thread.messages.count);
    HOLDS(w, again.messages.last_user == w->thread.messages.last_user &&
                 again.ops.last_seq == w->thread.ops.last_seq);
    HOLDS(w, again.ops.compaction_count == w->thread.ops.compaction_count);
    for (i = 0; i < again.fold.count && !w->failed; i++) {
        const phi__item *one = &again.fold.items[i], *other = &w->thread.fold.items[i];
        HOLDS(w, one->from == other->from && one->to == other->to && one->flags == other->flags);
    }
    for (i = 0; i < again.log.count && !w->failed; i++)
        HOLDS(w, again.log.entries[i]->ordinal == w->thread.log.entries[i]->ordinal);
    for (i = 0; i < lanes && !w->failed; i++) {
        phi_str lane = phi_str_of(phi_thread_lane_at(open_thread(w), i));
        const phi_view_item *a = NULL, *b = NULL;
        size_t m = 0, n = 0, j;
        HOLDS(w, phi_thread_view(&again, lane.at, UINT64_MAX, &arena, &a, &m) == PHI_OK);
        HOLDS(w, phi_thread_view(open_thread(w), lane.at, UINT64_MAX, &arena, &b, &n) == PHI_OK);
        HOLDS(w, m == n);
        for (j = 0; j < n && !w->failed; j++)
            HOLDS(w, a[j].from == b[j].from && a[j].to == b[j].to && a[j].flags == b[j].flags);
    }
    phi__journal_free_thread(&again);
    phi_arena_free(&arena);
}

static void entries_stay(world *w) {
    const phi_thread *t = &w->thread;
    size_t i;
    HOLDS(w, phi_thread_count(open_thread(w)) >= w->seen_count);
    for (i = 0; i < t->log.count; i++) {
        if (i >= w->seen_count) w->seen[i] = *t->log.entries[i];
        HOLDS(w, memcmp(&w->seen[i], t->log.entries[i], sizeof w->seen[i]) == 0);
        HOLDS(w, t->log.entries[i]->seq == i);
    }
    w->seen_count = t->log.count;
}

static void tokens_are_counted(world *w) {
    const phi__fold *fold = &w->thread.fold;
    uint64_t sum = 0;
    size_t i;
    for (i = 0; i < fold->count; i++) sum += phi_tokens_of_message(NULL, fold->items[i].message);
    HOLDS(w, sum == fold->tokens);
}

static bool holds_opaque(const phi_message *m) {
    size_t i = 0;
    while (i < m->content_count && m->content[i].kind != PHI_CONTENT_OPAQUE) i++;
    return i < m->content_count;
}

/* A codec that is told of no opaque block does not look for one. */
static void opaque_blocks_are_known(world *w) {
    const phi_thread *t = &w->thread;
    bool shown = false, said = false;
    size_t i;
    for (i = 0; i < t->fold.count; i++) shown = shown || holds_opaque(t->fold.items[i].message);
    for (i = 0; i < t->log.count; i++)
        said = said || (t->log.entries[i]->kind == PHI_ENTRY_MESSAGE &&
                        holds_opaque(t->log.entries[i]->message));
    HOLDS(w, t->fold.opaque || !shown);
    HOLDS(w, !t->fold.opaque || said);
}

static size_t results_for(const phi_message *const *list, size_t from, size_t to, phi_str id) {
    size_t n = 0;
    for (; from < to; from++) n += phi_str_equal(list[from]->tool_call_id, id);
    return n;
}

/* What would be sent: each call has one result, right behind its answer. */
static void can_be_sent(world *w) {
    const phi_message *list[CELLS];
    phi_message flat[CELLS];
    const phi_message *const *out = NULL;
    phi_model model = phi_model_anthropic("claude-sonnet-4-5", "key");
    const phi__fold *fold = &w->thread.fold;
    phi_arena arena;
    char words[200] = "";
    size_t count = 0, i, end, k;
    phi_arena_init(&arena, &w->memory, 0);
    for (i = 0; i < fold->count; i++) list[i] = fold->items[i].message;
    HOLDS(w, phi_translate(&model, list, fold->count, &arena, &out, &count) == PHI_OK);
    for (i = 0; i < count && !w->failed; i++) flat[i] = *out[i];
    for (i = 0; i < count && !w->failed; i = end) {
        const phi_message *m = out[i];
        for (end = i + 1; end < count && out[end]->role == PHI_ROLE_TOOL_RESULT; end++)
            HOLDS(w, asks(m, out[end]->tool_call_id));
        for (k = 0; m->role == PHI_ROLE_ASSISTANT && k < m->content_count; k++)
            if (m->content[k].kind == PHI_CONTENT_TOOL_CALL)
                HOLDS(w, results_for(out, i + 1, end, m->content[k].id) == 1);
        HOLDS(w, m->role != PHI_ROLE_TOOL_RESULT);
    }
    if (!w->failed && count > 0 && flat[0].role == PHI_ROLE_USER)
        HOLDS(w, preflight(&model, flat, count, NULL, 0, &arena, words, sizeof words) == PHI_OK);
    if (w->failed) printf("  %s\n", words);
    phi_arena_free(&arena);
}

/* ---- acting ---- */

static char *made_id(char out[16], const char *what, unsigned n) {
    (void)snprintf(out, 16, "%s%u", what, n);
    return out;
}

static phi_content text(world *w) {
    static const char filler[] = "some words that are said, and some more of them, and so on";
    phi_content c;
    memset(&c, 0, sizeof c);
    c.kind = PHI_CONTENT_TEXT;
    c.text = phi__str(filler, 1 + pick(w, sizeof filler - 1));
    return c;
}

static phi_content opaque(void) {
    phi_content c;
    memset(&c, 0, sizeof c);
    c.kind = PHI_CONTENT_OPAQUE;
    c.name = PHI__LIT("container_upload");
    c.protocol = PHI__LIT("anthropic-messages");
    c.replay = PHI__LIT("{\"type\":\"container_upload\",\"file_id\":\"f\"}");
    return c;
}

static void append(world *w, const phi_message *m) {
    uint32_t flags = pick(w, 8) == 0 ? (uint32_t)PHI_ENTRY_DURABLE : 0u;
    uint64_t count = phi_thread_count(open_thread(w));
    HOLDS(w, append_at(open_thread(w), m, 1, flags, count + 1) == PHI_STALE);
    HOLDS(w, append_at(open_thread(w), m, 1, flags, count) == PHI_OK);
    HOLDS(w, phi_thread_count(open_thread(w)) == count + 1);
}

static void say(world *w, phi_role role, phi_stop_reason stop) {
    phi_content blocks[4];
    char ids[3][16];
    phi_message m;
    memset(&m, 0, sizeof m);
    blocks[0] = text(w);
    m.role = role;
    m.content = blocks;
    m.content_count = 1;
    m.stop_reason = stop;
    if (pick(w, 12) == 0) blocks[m.content_count++] = opaque();
    while (role == PHI_ROLE_ASSISTANT && m.content_count < 4 && pick(w, 2) == 0) {
        phi_content *c = &blocks[m.content_count];
        memset(c, 0, sizeof *c);
        c->kind = PHI_CONTENT_TOOL_CALL;
        c->id = phi_str_of(made_id(ids[m.content_count - 1], "c", w->calls++));
        c->name = PHI__LIT("ls");
        c->arguments = PHI__LIT("{}");
        m.content_count++;
    }
    append(w, &m);
}

/* Of any call so far, most often a late one; also twice. */
static void answer_call(world *w, unsigned call) {
    phi_content block = text(w);
    phi_message m;
    char id[16];
    memset(&m, 0, sizeof m);
    m.role = PHI_ROLE_TOOL_RESULT;
    m.content = &block;
    m.content_count = 1;
    m.tool_name = PHI__LIT("ls");
    m.tool_call_id = phi_str_of(made_id(id, "c", call));
    append(w, &m);
}

static void extension(world *w) {
    phi_message m;
    memset(&m, 0, sizeof m);
    m.role = PHI_ROLE_EXTENSION;
    m.extension_kind = PHI__LIT("note");
    m.extension_data = PHI__LIT("{}");
    append(w, &m);
}

static void begin_or_end(world *w) {
    phi__entry e;
    phi_str id;
    memset(&e, 0, sizeof e);
    if (w->loop_id[0] == '\0') {
        e.kind = PHI_ENTRY_LOOP_START;
        (void)made_id(w->loop_id, "l", w->names++);
        HOLDS(w, phi__arena_str(phi__thread_room(&w->thread), phi_str_of(w->loop_id), &id));
    } else {
        e.kind = PHI_ENTRY_LOOP_END;
        e.keep = pick(w, 2) == 0 ? PHI_KEEP_NONE : PHI_KEEP_COMPLETE;
        HOLDS(w, phi__arena_str(phi__thread_room(&w->thread), phi_str_of(w->loop_id), &id));
        w->loop_id[0] = '\0';
    }
    e.loop_id = id;
    HOLDS(w, phi__append(&w->thread, &e, 1));
}

/* Messages for a span: a few, or, where the span is one item, one of its kind. */
static void fill_span(world *w, phi_span *span, phi_message room[3], phi_content blocks[3],
                      char ids[3][16], const cell *only) {
    size_t i;
    span->messages = room;
    memset(room, 0, 3 * sizeof *room);
    if (only != NULL && only->message->role != PHI_ROLE_EXTENSION && pick(w, 2) == 0) {
        room[0] = *only->message;
        if (only->message->role != PHI_ROLE_ASSISTANT) {
            blocks[0] = text(w);
            room[0].content = blocks;
            room[0].content_count = 1;
        }
        span->message_count = 1;
        return;
    }
    span->message_count = pick(w, 4);
    span->summary = pick(w, 2) == 0;
    for (i = 0; i < span->message_count; i++) {
        blocks[i] = text(w);
        room[i].role = pick(w, 3) == 0 ? PHI_ROLE_ASSISTANT : PHI_ROLE_USER;
        room[i].content = &blocks[i];
        room[i].content_count = 1;
        if (room[i].role == PHI_ROLE_ASSISTANT && pick(w, 6) == 0) {
            blocks[i].kind = PHI_CONTENT_TOOL_CALL;
            blocks[i].id = phi_str_of(made_id(ids[i], "c", w->calls++));
            blocks[i].name = PHI__LIT("ls");
            blocks[i].arguments = PHI__LIT("{}");
        }
    }
}

/* From an item to another, most often; or any numbers. */
static size_t random_spans(world *w, const cells *list, phi_span spans[3], phi_message room[3][3],
                           phi_content blocks[3][3], char ids[3][3][16]) {
    size_t most = 1 + pick(w, 3), n, at = pick(w, 4);
    memset(spans, 0, 3 * sizeof *spans);
    for (n = 0; n < most; n++) {
        size_t last = at + pick(w, 6) % (1 + pick(w, 6));
        bool one = false;
        if (pick(w, 12) == 0 || last >= list->count) {
            if (n > 0) break;
            spans[n].from = pick(w, 40);
            spans[n].to = spans[n].from + pick(w, 20);
        } else {
            while (last + 1 < list->count && leader(list, last + 1) <= last && pick(w, 8) != 0)
                last++; /* a whole group, most often */
            spans[n].from = list->at[at].from;
            spans[n].to = list->at[last].to;
            one = last == at;
        }
        fill_span(w, &spans[n], room[n], blocks[n], ids[n], one ? &list->at[at] : NULL);
        at = last + 1 + pick(w, 3);
    }
    return n;
}

static void undo(world *w, const char *op_id, const char *lane, uint64_t before) {
    phi_rewrite r;
    char words[200];
    memset(&r, 0, sizeof r);
    r.revoke = op_id;
    r.lane = lane;
    HOLDS(w, phi_thread_rewrite(open_thread(w), &r, NULL, words, sizeof words) == PHI_OK);
    HOLDS(w, look(w, lane, UINT64_MAX) == before);
    HOLDS(w, phi_thread_rewrite(open_thread(w), &r, NULL, words, sizeof words) == PHI_NOT_FOUND);
    HOLDS(w, words[0] != '\0');
}

/* At times to another lane, or to one that begins; not while a run goes on. NULL: it stays. */
static const char *somewhere(world *w, char name[16]) {
    uint32_t n = (uint32_t)phi_thread_get_info(open_thread(w)).lane_count, i = pick(w, n + 2);
    if (w->loop_id[0] != '\0' || pick(w, 3) != 0) return NULL;
    if (i < n) return phi_thread_lane_at(open_thread(w), i);
    return n < LANES ? made_id(name, "lane", w->names++) : NULL;
}

static void rewrite(world *w, const char *lane) {
    static cells list;
    phi_span spans[3];
    phi_message room[3][3];
    phi_content blocks[3][3];
    char ids[3][3][16];
    phi_rewrite r;
    char words[200], name[16];
    uint64_t count = phi_thread_count(open_thread(w)), before = look(w, lane, UINT64_MAX);
    uint32_t was = w->thread.lanes.active;
    size_t lanes = phi_thread_get_info(open_thread(w)).lane_count, added;
    bool valid, duplicate = true;
    phi_status status;
    if (w->ops == OPS) return;
    work_out(open_thread(w), phi_str_of(lane), UINT64_MAX, &list);
    memset(&r, 0, sizeof r);
    r.op_id = made_id(w->op_ids[w->ops], "op", w->ops);
    r.lane = lane;
    r.reason = (phi_rewrite_reason)pick(w, 6);
    r.base_seq = count > 0 && pick(w, 3) != 0 ? count - 1 : pick(w, (uint32_t)count + 2);
    r.has_base = true;
    r.spans = spans;
    r.span_count = random_spans(w, &list, spans, room, blocks, ids);
    r.switch_to = somewhere(w, name);
    if (r.switch_to != NULL && pick(w, 3) == 0) r.span_count = 0;
    valid = is_valid(&list, &r, count);
    status = phi_thread_rewrite(open_thread(w), &r, &duplicate, words, sizeof words);
    HOLDS(w, status == (valid ? PHI_OK : PHI_BAD_ARG));
    HOLDS(w, (words[0] == '\0') == valid && !duplicate);
    if (!valid) {
        HOLDS(w, phi_thread_count(open_thread(w)) == count);
        HOLDS(w, look(w, lane, UINT64_MAX) == before);
        HOLDS(w, w->thread.lanes.active == was &&
                     phi_thread_get_info(open_thread(w)).lane_count == lanes);
        return;
    }
    if (w->failed) printf("  %s\n", words);
    w->ops++;
    added = phi_thread_get_info(open_thread(w)).lane_count - lanes;
    HOLDS(w, added == (r.switch_to == name ? 1 : 0));
    HOLDS(w, phi_thread_count(open_thread(w)) == count + 1 + added);
    HOLDS(w, phi_thread_rewrite(open_thread(w), &r, &duplicate, NULL, 0) == PHI_OK && duplicate);
    HOLDS(w, phi_thread_count(open_thread(w)) == count + 1 + added);
    HOLDS(w, r.switch_to == NULL ? w->thread.lanes.active == was
                                 : phi_str_equal(phi_thread_get_info(open_thread(w)).lane,
                                                 phi_str_of(r.switch_to)));
    was = w->thread.lanes.active;
    if (pick(w, 4) == 0) undo(w, r.op_id, lane, before);
    HOLDS(w, w->thread.lanes.active == was);
}

/* What blocks it is said by the oracle, too. */
static void revoke_any(world *w, const char *lane) {
    phi_rewrite r;
    phi_entry e, later;
    char words[200];
    uint64_t i, at = UINT64_MAX, count = phi_thread_count(open_thread(w));
    phi_status want = PHI_OK;
    size_t j, k;
    if (w->ops == 0) return;
    memset(&r, 0, sizeof r);
    r.lane = lane;
    r.revoke = w->op_ids[pick(w, w->ops)];
    for (i = 0; i < count; i++) {
        (void)phi_thread_entry(open_thread(w), i, &e);
        if (e.kind == PHI_ENTRY_REWRITE && strcmp(e.rewrite->op_id, r.revoke) == 0) at = i;
    }
    (void)phi_thread_entry(open_thread(w), at, &e);
    if (!phi_str_equal(e.lane, phi_str_of(lane)) || is_revoked(open_thread(w), &e, UINT64_MAX))
        want = PHI_NOT_FOUND;
    for (i = at + 1; i < count && want == PHI_OK; i++) {
        (void)phi_thread_entry(open_thread(w), i, &later);
        if (later.kind != PHI_ENTRY_REWRITE || !phi_str_equal(later.lane, e.lane) ||
            is_revoked(open_thread(w), &later, UINT64_MAX))
            continue;
        for (j = 0; j < later.rewrite->span_count; j++)
            for (k = 0; k < e.rewrite->span_count; k++)
                if (later.rewrite->spans[j].to >= e.rewrite->spans[k].from &&
                    later.rewrite->spans[j].from <= e.rewrite->spans[k].to)
                    want = PHI_MISUSE;
    }
    HOLDS(w, phi_thread_rewrite(open_thread(w), &r, NULL, words, sizeof words) == want);
    HOLDS(w, (words[0] == '\0') == (want == PHI_OK));
    HOLDS(w, phi_thread_count(open_thread(w)) == count + (want == PHI_OK ? 1 : 0));
}

static void truncate(world *w) {
    size_t removed = 0, shown = w->thread.fold.count, count = w->thread.log.count;
    uint64_t tokens = w->thread.fold.tokens;
    HOLDS(w, phi__truncate(&w->thread, tokens * pick(w, 100) / 100, NULL, NULL, phi_str_of("l"), 0,
                           &removed));
    HOLDS(w, w->thread.log.count == count + (removed > 0 ? 1 : 0));
    HOLDS(w, removed == 0 || (w->thread.fold.tokens < tokens && w->thread.fold.count <= shown));
    HOLDS(w, removed > 0 || w->thread.fold.tokens == tokens);
}

static void new_lane(world *w) {
    char name[16];
    uint64_t at = pick(w, 3) == 0 ? UINT64_MAX : pick(w, (uint32_t)w->thread.log.count + 3);
    const char *parent =
        pick(w, 2) == 0
            ? NULL
            : phi_str_of(phi_thread_lane_at(
                             open_thread(w),
                             pick(w, (uint32_t)phi_thread_get_info(open_thread(w)).lane_count)))
                  .at;
    size_t lanes = phi_thread_get_info(open_thread(w)).lane_count;
    if (lanes == LANES || w->loop_id[0] != '\0') return;
    (void)made_id(name, "lane", w->names++);
    HOLDS(w, phi_thread_fork_lane(open_thread(w), name, parent, at) == PHI_OK);
    HOLDS(w, phi_thread_get_info(open_thread(w)).lane_count == lanes + 1);
    HOLDS(w, phi_thread_fork_lane(open_thread(w), name, parent, at) == PHI_MISUSE);
}

static void act(world *w, const char *lane) {
    switch (pick(w, 20)) {
    case 0:
    case 1:
    case 2: say(w, PHI_ROLE_USER, PHI_STOP_REASON_NONE); break;
    case 3:
    case 4:
    case 5:
    case 6: say(w, PHI_ROLE_ASSISTANT, PHI_STOP_REASON_TOOL_USE); break;
    case 7:
        say(w, PHI_ROLE_ASSISTANT,
            pick(w, 2) == 0 ? PHI_STOP_REASON_ERROR : PHI_STOP_REASON_ABORTED);
        break;
    case 8:
    case 9:
    case 10:
    case 11:
        answer_call(w, w->calls > 0 ? w->calls - 1 - pick(w, w->calls < 4 ? w->calls : 4) : 0);
        break;
    case 12: pick(w, 2) == 0 ? extension(w) : begin_or_end(w); break;
    case 13: revoke_any(w, lane); break;
    case 14: truncate(w); break;
    default: rewrite(w, lane); break;
    }
}

/* Whatever happens on one lane, no other shows anything else. */
static void act_and_look_around(world *w) {
    uint64_t before[LANES];
    size_t i, n = phi_thread_get_info(open_thread(w)).lane_count;
    size_t target = w->thread.lanes.active, active_one = target;
    for (i = 0; i < n; i++) before[i] = look(w, phi_thread_lane_at(open_thread(w), i), UINT64_MAX);
    if (pick(w, 5) == 0) target = pick(w, (uint32_t)n);
    act(w, phi_thread_lane_at(open_thread(w), target));
    for (i = 0; i < n; i++)
        HOLDS(w, i == target || i == active_one ||
                     look(w, phi_thread_lane_at(open_thread(w), i), UINT64_MAX) == before[i]);
}

static void move(world *w) {
    uint32_t n = (uint32_t)phi_thread_get_info(open_thread(w)).lane_count;
    if (w->loop_id[0] != '\0') return; /* a run stays on its lane */
    switch (pick(w, 12)) {
    case 0: new_lane(w); break;
    case 1:
        HOLDS(w, phi_thread_switch(open_thread(w),
                                   phi_thread_lane_at(open_thread(w), pick(w, n))) == PHI_OK);
        break;
    case 2:
        if (n < LANES && pick(w, 4) == 0) {
            HOLDS(w, phi_thread_switch(open_thread(w), NULL) == PHI_OK);
            HOLDS(w, w->thread.fold.count == 0);
        }
        break;
    case 3:
        HOLDS(w, phi_thread_note(open_thread(w), "mark", PHI__LIT("[1]"), NULL) == PHI_OK);
        break;
    default: break;
    }
}

static void every_earlier_state(world *w) {
    size_t i, lane;
    for (lane = 0; lane < phi_thread_get_info(open_thread(w)).lane_count && !w->failed; lane++)
        for (i = 0; i < w->thread.log.count && !w->failed; i++)
            compare(w, phi_str_of(phi_thread_lane_at(open_thread(w), lane)), i);
}

static bool history(uint32_t seed) {
    static world w;
    phi_allocator allocator = test_allocator();
    int i;
    memset(&w, 0, sizeof w);
    w.state = seed;
    phi_memory_init(&w.memory, &allocator, 0);
    phi__thread_init(&w.thread, &w.memory, NULL);
    w.thread.loops.keeps_none = seed % 2 == 0;
    for (i = 0; i < STEPS && !w.failed && w.thread.log.count + 8 < ENTRIES; i++) {
        move(&w);
        act_and_look_around(&w);
        entries_stay(&w);
        tokens_are_counted(&w);
        opaque_blocks_are_known(&w);
        HOLDS(&w,
              phi_str_equal(phi_thread_get_info(open_thread(&w)).lane, active(open_thread(&w))));
        compare(&w, phi_thread_get_info(open_thread(&w)).lane, UINT64_MAX);
        can_be_sent(&w);
    }
    if (!w.failed) every_earlier_state(&w);
    if (!w.failed) comes_back(&w);
    if (w.failed) printf("  seed %u, step %d\n", (unsigned)seed, i);
    phi__journal_free_thread(&w.thread);
    CHECK_EQ_INT(test_alloc_live_bytes(), 0);
    return !w.failed;
}

TEST(random_histories_show_what_their_entries_say) {
    const char *chosen = getenv("PHI_SEED");
    const char *more = getenv("PHI_SEEDS");
    uint32_t seed, most = more != NULL ? (uint32_t)strtoul(more, NULL, 10) : (uint32_t)SEEDS;
    if (chosen != NULL) {
        (void)history((uint32_t)strtoul(chosen, NULL, 10));
        return;
    }
    for (seed = 1; seed <= most; seed++)
        if (!history(seed)) return;
}

TEST_MAIN(TEST_ENTRY(random_histories_show_what_their_entries_say))
