/* compact.c - plans a compaction: which turns stay, which become lines of a summary, which go.

   Items of a view are put into turns, turns into runs. Ranges of entries that lie over each other
   (a summary and the DURABLE messages it left standing) are one turn, since no span may end between
   them; so are an answer and its results. Each section (the middle of the current run, each earlier
   run, all runs beyond the scope) becomes a span; the fold leaves its durable items standing.
   Summaries are taken over: the lines of an earlier plan become lines again, and any other summary,
   for example a model's, stays as it is, between two sections. */
#include "history/compact_lines_in.h"

#include "history/history_in.h"

/* ---- numbers ---- */

static uint64_t phi__compact_tokens(const phi__compacting *c, size_t from, size_t to) {
    uint64_t sum = 0;
    for (; from < to; from++) sum += phi_tokens_of_message(c->counter, c->items[from].message);
    return sum;
}

/* ---- turns and runs ---- */

/* Not to be put into lines, since it is no line itself. */
static bool phi__compact_is_whole(const phi__compacting *c, size_t item) {
    uint32_t flags = c->items[item].flags;
    return !c->anew && (flags & PHI_ITEM_SUMMARY) != 0 && (flags & PHI_ITEM_LINES) == 0;
}

static bool phi__compact_same_turn(const phi__compacting *c, size_t item) {
    const phi_message *a = c->items[item - 1].message, *b = c->items[item].message;
    if (phi__compact_is_whole(c, item - 1) || phi__compact_is_whole(c, item)) return false;
    if (b->role == PHI_ROLE_EXTENSION && b->loop_id.len == 0) return true;
    return a->loop_id.len > 0 && phi_str_equal(a->loop_id, b->loop_id) &&
           a->turn_index == b->turn_index;
}

/* A result belongs to the turn of its call, and so does all that stands between them. */
static void phi__compact_join(phi__compacting *c, size_t result, size_t caller) {
    size_t t = c->turn_count - 1;
    bool stays = c->turns[t].stays;
    while (c->turns[t].from > caller) {
        t--;
        stays = stays || c->turns[t].stays;
    }
    c->turns[t].to = result + 1;
    c->turns[t].stays = stays;
    c->turn_count = t + 1;
}

static void phi__compact_make_turns(phi__compacting *c, const size_t *callers) {
    uint64_t end = 0;
    size_t i;
    for (i = 0; i < c->count; i++) {
        const phi_view_item *item = &c->items[i];
        if (i == 0 || (item->from > end && !phi__compact_same_turn(c, i))) {
            c->turns[c->turn_count].stays = false;
            c->turns[c->turn_count++].from = i;
        }
        c->turns[c->turn_count - 1].to = i + 1;
        if (phi__compact_is_whole(c, i)) c->turns[c->turn_count - 1].stays = true;
        if (i == 0 || item->to > end) end = item->to;
        if (callers[i] != SIZE_MAX) phi__compact_join(c, i, callers[i]);
    }
}

static bool phi__compact_ordered(const phi__compacting *c) {
    size_t i;
    for (i = 0; i < c->count; i++) {
        const phi_view_item *item = &c->items[i];
        if (item->message == NULL || item->from > item->to ||
            (i > 0 && item->from < c->items[i - 1].from))
            return false;
    }
    return true;
}

static phi_status phi__compact_find_turns(phi__compacting *c) {
    phi_memory *memory = c->arena->memory;
    size_t *callers;
    phi__fold fold;
    bool done;
    if (!phi__compact_ordered(c)) return PHI_BAD_ARG;
    done = phi__fold_of_view(c->arena, c->items, c->count, &fold);
    c->turns = (phi__compact_turn *)phi__arena_zero(c->arena, phi__mul(c->count, sizeof *c->turns));
    if (!done || c->turns == NULL) return PHI_NO_MEMORY;
    if (!phi__groups_durable(memory, &fold, &c->durable)) return PHI_NO_MEMORY;
    callers = phi__groups_make(memory, &fold);
    if (callers == NULL) return PHI_NO_MEMORY;
    phi__compact_make_turns(c, callers);
    phi__groups_free(memory, c->count, callers);
    return PHI_OK;
}

/* A marker is of the run that made it, but stands among other runs: it goes with the items before
   it. */
static bool phi__compact_is_marker(const phi__compacting *c, size_t turn) {
    uint32_t flags = c->items[c->turns[turn].from].flags;
    return (flags & PHI_ITEM_SYNTHETIC) != 0 && (flags & PHI_ITEM_SUMMARY) == 0;
}

static phi_str phi__compact_run_of(const phi__compacting *c, size_t turn) {
    return c->items[c->turns[turn].from].message->loop_id;
}

static void phi__compact_find_runs(phi__compacting *c) {
    size_t t, real = 0; /* real: the turn before that says which run it is */
    for (t = 0; t < c->turn_count; t++) {
        if (t > 0 && !phi__compact_is_marker(c, t)) {
            if (!phi_str_equal(phi__compact_run_of(c, t), phi__compact_run_of(c, real)) &&
                !phi__compact_is_marker(c, real))
                c->run_count++;
            real = t;
        }
        c->turns[t].run = c->run_count;
    }
    if (c->turn_count > 0) c->run_count++;
}

/* The turn that a run begins with; run run_count: behind the last. */
static size_t phi__compact_run_start(const phi__compacting *c, size_t run) {
    size_t low = 0, high = c->turn_count;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (c->turns[mid].run >= run)
            high = mid;
        else
            low = mid + 1;
    }
    return low;
}

/* ---- sections ---- */

/* What of it all would go, and whether there is anything that no summary has summed up; whether
   there are summaries. */
static bool phi__compact_look(const phi__compacting *c, phi__compact_section *s, bool *summaries) {
    bool raw = false;
    size_t i;
    *summaries = false;
    for (i = s->first; i < s->end; i++) {
        if (phi__compact_lines_stays(c, i)) continue;
        s->before += phi_tokens_of_message(c->counter, c->items[i].message);
        if (phi__compact_lines_is_summary(&c->items[i]))
            *summaries = true;
        else
            raw = true;
    }
    return raw;
}

static phi_status phi__compact_put(phi__compacting *c, const phi__compact_section *s) {
    phi_message *messages = (phi_message *)phi_arena_alloc(c->arena, sizeof s->messages);
    phi_span *span = &c->spans[c->span_count];
    size_t i;
    if (messages == NULL) return PHI_NO_MEMORY;
    memcpy(messages, s->messages, sizeof s->messages);
    c->span_count++;
    span->messages = s->message_count > 0 ? messages : NULL;
    span->message_count = s->message_count;
    span->summary = span->lines = s->message_count > 0;
    span->from = c->items[s->first].from;
    for (i = s->first; i < s->end; i++)
        if (c->items[i].to > span->to) span->to = c->items[i].to;
    c->out->tokens_after -= s->before - s->after;
    return PHI_OK;
}

/* The section of these turns, none of which stays. */
static phi_status phi__compact_section_of(const phi__compacting *c, size_t from, size_t to,
                                          bool carries, phi__compact_section *s) {
    phi_status status = PHI_OK;
    bool raw, summaries;
    memset(s, 0, sizeof *s);
    s->first = from < c->turn_count ? c->turns[from].from : c->count;
    s->end = to < c->turn_count ? c->turns[to].from : c->count;
    s->carries = carries;
    while (from + 1 < to && phi__compact_is_marker(c, from)) from++;
    s->named = from < to ? c->items[c->turns[from].from].message : NULL;
    raw = phi__compact_look(c, s, &summaries);
    if (carries ? summaries && !c->anew : raw) status = phi__compact_lines_sum_up(c, s);
    s->worth = (raw || carries) && s->after < s->before;
    if (c->anew && summaries) s->worth = true;
    return status;
}

/* The end of the turns from `from` on among which none stays. */
static size_t phi__compact_stretch(const phi__compacting *c, size_t from, size_t to) {
    while (from < to && !c->turns[from].stays) from++;
    return from;
}

/* Turns that stay are left out of the spans. *did: there is any span. */
static phi_status phi__compact_put_all(phi__compacting *c, size_t from, size_t to, bool carries,
                                       bool *did) {
    phi_status status = PHI_OK;
    *did = false;
    while (from < to && status == PHI_OK) {
        phi__compact_section s;
        size_t end = phi__compact_stretch(c, from, to);
        if (end == from) {
            from++;
            continue;
        }
        status = phi__compact_section_of(c, from, end, carries, &s);
        if (status == PHI_OK && s.worth) {
            status = phi__compact_put(c, &s);
            *did = true;
        }
        from = end;
    }
    return status;
}

/* ---- long results ---- */

/* A result that was cut before is left alone: with the marker it has more lines than the limit. */
static bool phi__compact_may_cut(const phi__compacting *c, size_t i) {
    const phi_view_item *item = &c->items[i];
    return item->message->role == PHI_ROLE_TOOL_RESULT && !phi__compact_lines_stays(c, i) &&
           (item->flags & PHI_ITEM_SYNTHETIC) == 0;
}

static phi_status phi__compact_cut_recent(phi__compacting *c, size_t turn, bool *did) {
    size_t i;
    if (turn == c->turn_count) return PHI_OK;
    for (i = c->turns[turn].from; i < c->count; i++) {
        const phi_message *was = c->items[i].message, *now;
        uint64_t before, after;
        phi_span *span;
        if (!phi__compact_may_cut(c, i)) continue;
        now = phi__compact_cut(was, c->config.tool_output_max_lines, c->config.texts, c->arena);
        if (now == NULL) return PHI_NO_MEMORY;
        before = phi_tokens_of_message(c->counter, was);
        after = phi_tokens_of_message(c->counter, now);
        if (now == was || after >= before) continue;
        span = &c->spans[c->span_count++];
        span->from = c->items[i].from;
        span->to = c->items[i].to;
        span->messages = now;
        span->message_count = 1;
        c->out->tokens_after -= before - after;
        *did = true;
    }
    return PHI_OK;
}

/* ---- all of it ---- */

/* The oldest run that is not dropped. */
static size_t phi__compact_scope(const phi__compacting *c) {
    size_t run = c->run_count - 1;
    uint64_t tokens = 0, n = 0;
    for (; run > 0; run--) {
        size_t from = c->turns[phi__compact_run_start(c, run - 1)].from;
        size_t to = c->turns[phi__compact_run_start(c, run)].from;
        tokens += phi__compact_tokens(c, from, to);
        n++;
        if (c->config.scope == PHI_COMPACTION_RUNS ? n > phi__compact_scope_runs(&c->config)
                                                   : tokens > c->config.scope_tokens)
            break;
    }
    return run;
}

/* The turns of a run that are compacted: all of an earlier one, of the current one those between
   its first and recent turns. */
static size_t phi__compact_bounds(const phi__compacting *c, size_t run, size_t *end) {
    size_t from = phi__compact_run_start(c, run), to = phi__compact_run_start(c, run + 1);
    if (run + 1 == c->run_count) {
        from += phi__min(c->config.keep_first_turns, to - from);
        to -= phi__min(c->config.keep_recent_turns, to - from);
    }
    *end = to;
    return from;
}

/* The resulting view begins with a user's message. */
static phi_status phi__compact_begins_well(const phi__compacting *c, size_t run, bool *well) {
    size_t start = phi__compact_run_start(c, run), end;
    phi__compact_section s;
    phi_status status;
    *well = c->items[c->turns[start].from].message->role == PHI_ROLE_USER;
    if (*well || phi__compact_bounds(c, run, &end) != start) return PHI_OK;
    end = phi__compact_stretch(c, start, end);
    if (end == start) return PHI_OK;
    status = phi__compact_section_of(c, start, end, false, &s);
    *well = s.worth;
    return status;
}

/* The oldest run that is not dropped: that of the scope, or as many before it as it takes for a
   good beginning. */
static phi_status phi__compact_first(const phi__compacting *c, size_t *run) {
    phi_status status = PHI_OK;
    bool well = false;
    for (*run = phi__compact_scope(c); *run > 0; (*run)--) {
        status = phi__compact_begins_well(c, *run, &well);
        if (well || status != PHI_OK) break;
    }
    return status;
}

static phi_status phi__compact_all(phi__compacting *c) {
    size_t run, from, to = 0;
    phi_status status = phi__compact_first(c, &run);
    bool did = false, cut = false;
    if (status != PHI_OK) return status;
    status = phi__compact_put_all(c, 0, phi__compact_run_start(c, run), true, &did);
    if (did) c->out->runs += run;
    for (; run < c->run_count && status == PHI_OK; run++) {
        from = phi__compact_bounds(c, run, &to);
        status = phi__compact_put_all(c, from, to, false, &did);
        if (did) c->out->runs++;
    }
    if (status == PHI_OK) status = phi__compact_cut_recent(c, to, &cut);
    if (cut && !did) c->out->runs++;
    return status;
}

static phi_status phi__compact_whole(phi__compacting *c) {
    size_t i;
    phi_status status = phi__compact_find_turns(c);
    if (status != PHI_OK) return status;
    phi__compact_find_runs(c);
    c->out->tokens_before = c->out->tokens_after = phi__compact_tokens(c, 0, c->count);
    c->spans = (phi_span *)phi__arena_zero(c->arena, phi__mul(c->count, sizeof *c->spans));
    if (c->spans == NULL) return PHI_NO_MEMORY;
    status = phi__compact_all(c);
    c->out->rewrite.spans = c->spans;
    c->out->rewrite.span_count = c->span_count;
    for (i = 0; i < c->count; i++)
        if (c->items[i].to > c->out->rewrite.base_seq) c->out->rewrite.base_seq = c->items[i].to;
    return status;
}

static phi_status phi__compact_make(const phi_view_item *items, size_t count,
                                    const phi_compaction_config *config,
                                    const phi_token_counter *counter, phi_arena *arena, bool anew,
                                    phi__compacted *out) {
    phi__compacting c;
    phi_status status = PHI_OK;
    memset(&c, 0, sizeof c);
    memset(out, 0, sizeof *out);
    out->rewrite.reason = PHI_REWRITE_COMPACTION;
    out->rewrite.has_base = count > 0;
    c.items = items;
    c.count = count;
    c.config = phi__compact_config(config);
    c.counter = counter;
    c.arena = arena;
    c.out = out;
    c.anew = anew;
    if (count > 0) status = phi__compact_whole(&c);
    phi__free(arena->memory, c.durable, c.durable != NULL ? count : 0);
    return status;
}

PHI__FN phi_status phi__compact_plan(const phi_view_item *items, size_t count,
                                     const phi_compaction_config *config,
                                     const phi_token_counter *counter, phi_arena *arena,
                                     phi__compacted *out) {
    return phi__compact_make(items, count, config, counter, arena, false, out);
}

PHI__FN phi_status phi__compact_plan_anew(const phi_view_item *items, size_t count,
                                          const phi_compaction_config *config,
                                          const phi_token_counter *counter, phi_arena *arena,
                                          phi__compacted *out) {
    return phi__compact_make(items, count, config, counter, arena, true, out);
}

PHI__FN phi_status phi__compact_rewrite(const phi_view_item *items, size_t count,
                                        const phi_compaction_config *config,
                                        const phi_token_counter *counter, phi_arena *arena,
                                        phi_rewrite *out) {
    phi__compacted plan;
    phi_status status;
    if (arena == NULL || out == NULL || (items == NULL && count > 0)) return PHI_BAD_ARG;
    status = phi__compact_plan(items, count, config, counter, arena, &plan);
    if (status == PHI_OK) *out = plan.rewrite;
    return status;
}
