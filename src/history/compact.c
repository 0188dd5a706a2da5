/* compact.c - plans a compaction: which turns stay, which become lines of a summary, which go.

   Items of a view are put into turns, turns into runs. Ranges of entries that lie over each other
   (a summary and the DURABLE messages it left standing) are one turn, since no span may end between
   them; so are an answer and its results. Each section (the middle of the current run, each earlier
   run, all runs beyond the scope) becomes a span; the fold leaves its durable items standing. */
#include "history/compact_in.h"

#include "base/utf8_in.h"
#include "history/history_in.h"

#include <stdio.h>

#ifndef PHI_NO_PLANS

enum {
    PHI__COMPACT_LINE = 256, /* bytes of a line that is made, with the label before its text */
    PHI__COMPACT_FRAME = 20, /* tokens of a summary besides its lines: its role, the marker */
    PHI__COMPACT_MOST = 0x3fffffff /* tokens of a summary at most */
};

#define PHI__COMPACT_LEFT_OUT " earlier lines left out ...]"

typedef struct phi__compact_turn {
    size_t from, to; /* its items; `to` is behind them */
    size_t run;
} phi__compact_turn;

typedef struct phi__compacting {
    const phi_view_item *items;
    size_t count;
    phi_compaction_config config;
    const phi_token_counter *counter;
    phi_arena *arena;
    uint8_t *durable; /* of each item: it always stays; NULL: none does */
    phi__compact_turn *turns;
    size_t turn_count, run_count;
    phi_span *spans;
    size_t span_count;
    phi__compacted *out;
} phi__compacting;

/* ---- numbers ---- */

static uint64_t phi__compact_tokens(const phi__compacting *c, size_t from, size_t to) {
    uint64_t sum = 0;
    for (; from < to; from++) sum += phi_tokens_of_message(c->counter, c->items[from].message);
    return sum;
}

/* ---- turns and runs ---- */

static bool phi__compact_stays(const phi__compacting *c, size_t item) {
    return c->durable != NULL && c->durable[item] != 0;
}

static bool phi__compact_same_turn(const phi_message *a, const phi_message *b) {
    if (b->role == PHI_ROLE_EXTENSION && b->loop_id.len == 0) return true;
    return a->loop_id.len > 0 && phi_str_equal(a->loop_id, b->loop_id) &&
           a->turn_index == b->turn_index;
}

/* A result belongs to the turn of its call, and so does all that stands between them. */
static void phi__compact_join(phi__compacting *c, size_t result, size_t caller) {
    size_t t = c->turn_count - 1;
    while (c->turns[t].from > caller) t--;
    c->turns[t].to = result + 1;
    c->turn_count = t + 1;
}

static void phi__compact_make_turns(phi__compacting *c, const size_t *callers) {
    uint64_t end = 0;
    size_t i;
    for (i = 0; i < c->count; i++) {
        const phi_view_item *item = &c->items[i];
        if (i == 0 ||
            (item->from > end && !phi__compact_same_turn(c->items[i - 1].message, item->message)))
            c->turns[c->turn_count++].from = i;
        c->turns[c->turn_count - 1].to = i + 1;
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

/* ---- the lines of a summary ---- */

typedef struct phi__compact_lines {
    phi_str *at; /* filled from the end: the newest first */
    size_t cap, count, total;
    uint64_t tokens, most;
    uint64_t left_out; /* messages without a line, here and in earlier summaries */
    bool full;
} phi__compact_lines;

/* All texts of a message as one line of at most `most` bytes behind its prefix. */
static phi_str phi__compact_line(const phi_message *message, size_t most,
                                 char out[PHI__COMPACT_LINE]) {
    const char *prefix = message->role == PHI_ROLE_USER ? "[User] " : "[Summary] ";
    size_t n = strlen(prefix), from = n, i, j, calls = 0;
    memcpy(out, prefix, n);
    for (i = 0; i < message->content_count; i++) {
        const phi_content *block = &message->content[i];
        phi_str text = phi__str_trim(block->text);
        if (block->kind == PHI_CONTENT_TOOL_CALL) calls++;
        if (block->kind != PHI_CONTENT_TEXT || text.len == 0 || n - from >= most) continue;
        if (n > from) out[n++] = ' ';
        text.len = phi__utf8_cut(text, most - phi__min(n - from, most));
        for (j = 0; j < text.len; j++)
            out[n++] = (unsigned char)text.at[j] < ' ' ? ' ' : text.at[j];
    }
    if (n > from) return phi__str(out, n);
    if (message->role == PHI_ROLE_USER) return PHI__LIT("[User message]");
    if (calls == 0) return PHI__LIT("[Assistant response]");
    return phi__str(out, (size_t)snprintf(out, PHI__COMPACT_LINE, "[Assistant used %u tool(s)]",
                                          (unsigned)calls));
}

static bool phi__compact_has_line(const phi__compacting *c, size_t item) {
    const phi_message *m = c->items[item].message;
    return !phi__compact_stays(c, item) && !m->is_update && /* the next request says it again */
           (m->role == PHI_ROLE_USER || m->role == PHI_ROLE_ASSISTANT);
}

/* The text of an earlier summary; empty for the focus that stands before it. */
static phi_str phi__compact_summary_text(const phi__compacting *c, const phi_message *message) {
    phi_str text = message->content_count > 0 ? message->content[0].text : phi__str("", 0);
    if (c->config.focus_message != NULL && phi__str_is(text, c->config.focus_message)) text.len = 0;
    return text;
}

static bool phi__compact_is_summary(const phi_view_item *item) {
    return (item->flags & PHI_ITEM_SUMMARY) != 0;
}

/* Takes the last line off a text. */
static phi_str phi__compact_last_line(phi_str *text) {
    size_t n = text->len;
    phi_str line;
    while (n > 0 && text->at[n - 1] != '\n') n--;
    line = phi__str(text->at + n, text->len - n);
    text->len = n > 0 ? n - 1 : 0;
    return line;
}

/* "[... 12 earlier lines left out ...]" */
static bool phi__compact_left_out(phi_str line, uint64_t *n) {
    size_t end = phi__str_find(line, 0, PHI__COMPACT_LEFT_OUT);
    return phi__str_starts(line, "[... ") && end != SIZE_MAX &&
           end + sizeof PHI__COMPACT_LEFT_OUT - 1 == line.len &&
           phi__str_to_u64(phi__str(line.at + 5, end - 5), n);
}

/* After the first line without room, all are only counted. */
static bool phi__compact_add_line(const phi__compacting *c, phi__compact_lines *lines, phi_str line,
                                  bool copy) {
    uint64_t tokens = phi_tokens_of_text(c->counter, line) + 1; /* its line break */
    uint64_t n;
    if (phi__compact_left_out(line, &n)) {
        lines->left_out += n;
        return true;
    }
    lines->total++;
    lines->full = lines->full || lines->tokens + tokens > lines->most || lines->count == lines->cap;
    if (lines->full) {
        lines->left_out++;
        return true;
    }
    if (copy && !phi__arena_str(c->arena, line, &line)) return false;
    lines->tokens += tokens;
    lines->at[lines->count++] = line;
    return true;
}

/* The lines of an item, the last first. */
static bool phi__compact_add_item(const phi__compacting *c, phi__compact_lines *lines, size_t at,
                                  size_t bytes) {
    const phi_view_item *item = &c->items[at];
    char made[PHI__COMPACT_LINE];
    phi_str text;
    if (!phi__compact_has_line(c, at)) return true;
    if (!phi__compact_is_summary(item))
        return phi__compact_add_line(c, lines, phi__compact_line(item->message, bytes, made), true);
    for (text = phi__compact_summary_text(c, item->message); text.len > 0;)
        if (!phi__compact_add_line(c, lines, phi__compact_last_line(&text), false)) return false;
    return true;
}

static bool phi__compact_add_items(const phi__compacting *c, phi__compact_lines *lines, size_t from,
                                   size_t to, size_t bytes) {
    for (; to > from; to--)
        if (!phi__compact_add_item(c, lines, to - 1, bytes)) return false;
    return true;
}

/* Short lines of all are better than long ones of the newest. */
static bool phi__compact_gather(const phi__compacting *c, phi__compact_lines *lines, size_t from,
                                size_t to) {
    static const size_t bytes[] = {PHI__COMPACT_TEXT, 100, 50};
    phi_arena_mark mark = phi_arena_save(c->arena);
    phi_str *at = lines->at;
    uint64_t most = lines->most;
    size_t i;
    for (i = 0; i < PHI__COUNT(bytes); i++) {
        size_t cap = lines->cap;
        phi_arena_reset(c->arena, mark);
        memset(lines, 0, sizeof *lines);
        lines->at = at;
        lines->cap = cap;
        lines->most = most;
        if (!phi__compact_add_items(c, lines, from, to, bytes[i])) return false;
        if (lines->count == lines->total) return true;
    }
    return true;
}

static bool phi__compact_join_lines(const phi__compacting *c, const phi__compact_lines *lines,
                                    phi_str *out) {
    phi__buf text;
    size_t i;
    bool done;
    phi__buf_init(&text, c->arena->memory);
    if (lines->left_out > 0)
        phi__buf_printf(&text, "[... %llu" PHI__COMPACT_LEFT_OUT,
                        (unsigned long long)lines->left_out);
    for (i = lines->count; i > 0; i--) {
        if (text.len > 0) phi__buf_char(&text, '\n');
        phi__buf_add_str(&text, lines->at[i - 1]);
    }
    done = !text.failed && phi__arena_str(c->arena, phi__buf_str(&text), out);
    phi__buf_free(&text);
    return done;
}

/* ---- sections ---- */

typedef struct phi__compact_section {
    size_t from, to;   /* turns */
    size_t first, end; /* items */
    phi_message messages[2];
    size_t message_count;
    uint64_t before, after; /* tokens */
    bool worth;             /* it gets smaller */
} phi__compact_section;

/* Whether there is anything that no summary has summed up, and what of it all would go. */
static bool phi__compact_look(const phi__compacting *c, phi__compact_section *s) {
    bool raw = false;
    size_t i;
    for (i = s->first; i < s->end; i++) {
        if (phi__compact_stays(c, i)) continue;
        s->before += phi_tokens_of_message(c->counter, c->items[i].message);
        if (!phi__compact_is_summary(&c->items[i])) raw = true;
    }
    return raw;
}

static phi_status phi__compact_add_message(const phi__compacting *c, phi__compact_section *s,
                                           phi_str text) {
    size_t named = s->from;
    const phi_message *first;
    const phi_message *last = c->items[s->end - 1].message;
    phi_message *message = phi__compact_say(text, c->arena);
    if (message == NULL) return PHI_NO_MEMORY;
    while (named + 1 < s->to && phi__compact_is_marker(c, named)) named++;
    first = c->items[c->turns[named].from].message;
    message->loop_id = first->loop_id;
    message->turn_index = first->turn_index;
    message->timestamp_ms = last->timestamp_ms;
    s->messages[s->message_count++] = *message;
    s->after += phi_tokens_of_message(c->counter, message);
    return PHI_OK;
}

/* The focus, where there is room for it, and the summary. */
static phi_status phi__compact_sum_up(const phi__compacting *c, phi__compact_section *s) {
    phi__compact_lines lines;
    phi_str text = phi_str_of(c->config.focus_message);
    size_t i, cap = 0;
    memset(&lines, 0, sizeof lines);
    lines.most = c->config.max_summary_tokens < PHI__COMPACT_MOST ? c->config.max_summary_tokens
                                                                  : (uint64_t)PHI__COMPACT_MOST;
    if (text.len > 0 && phi_tokens_of_text(c->counter, text) <= lines.most / 2) {
        if (phi__compact_add_message(c, s, text) != PHI_OK) return PHI_NO_MEMORY;
        lines.most -= phi__min((size_t)s->after, (size_t)lines.most);
    }
    for (i = s->first; i < s->end; i++)
        cap = phi__add(cap, !phi__compact_is_summary(&c->items[i]) ? 1
                            : c->items[i].message->content_count == 0
                                ? 0
                                : c->items[i].message->content[0].text.len + 1);
    lines.most -= phi__min(PHI__COMPACT_FRAME, (size_t)lines.most / 2);
    lines.cap = phi__min(cap, (size_t)lines.most); /* a line has a token at least */
    lines.at =
        (phi_str *)phi_arena_alloc(c->arena, phi__mul(phi__max(lines.cap, 1), sizeof *lines.at));
    if (lines.at == NULL || !phi__compact_gather(c, &lines, s->first, s->end) ||
        !phi__compact_join_lines(c, &lines, &text))
        return PHI_NO_MEMORY;
    return text.len > 0 ? phi__compact_add_message(c, s, text) : PHI_OK;
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
    span->summary = s->message_count > 0;
    span->from = c->items[s->first].from;
    for (i = s->first; i < s->end; i++)
        if (c->items[i].to > span->to) span->to = c->items[i].to;
    c->out->tokens_after -= s->before - s->after;
    return PHI_OK;
}

static phi_status phi__compact_section_of(const phi__compacting *c, size_t from, size_t to,
                                          bool sum_up, phi__compact_section *s) {
    phi_status status = PHI_OK;
    bool raw;
    memset(s, 0, sizeof *s);
    s->from = from;
    s->to = to;
    s->first = from < c->turn_count ? c->turns[from].from : c->count;
    s->end = to < c->turn_count ? c->turns[to].from : c->count;
    raw = phi__compact_look(c, s);
    if (sum_up && raw) status = phi__compact_sum_up(c, s);
    s->worth = (raw || !sum_up) && s->after < s->before;
    return status;
}

/* ---- long results ---- */

/* A result that was cut before is left alone: with the marker it has more lines than the limit. */
static bool phi__compact_may_cut(const phi__compacting *c, size_t i) {
    const phi_view_item *item = &c->items[i];
    return item->message->role == PHI_ROLE_TOOL_RESULT && !phi__compact_stays(c, i) &&
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
        now = phi__compact_cut(was, c->config.tool_output_max_lines, c->arena);
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

/* How a run is compacted: an earlier one is summed up whole, the current one between its first and
   recent turns. */
static phi_status phi__compact_run(const phi__compacting *c, size_t run, phi__compact_section *s) {
    size_t from = phi__compact_run_start(c, run), to = phi__compact_run_start(c, run + 1);
    if (run + 1 == c->run_count) {
        from += phi__min(c->config.keep_first_turns, to - from);
        to -= phi__min(c->config.keep_recent_turns, to - from);
    }
    return phi__compact_section_of(c, from, to, true, s);
}

/* The resulting view begins with a user's message. */
static bool phi__compact_begins_well(const phi__compacting *c, size_t run,
                                     const phi__compact_section *s) {
    size_t start = phi__compact_run_start(c, run);
    if (c->items[c->turns[start].from].message->role == PHI_ROLE_USER) return true;
    return s->worth && s->from == start;
}

/* Runs from `scope` on, and before them as many as it takes for a good beginning. */
static phi_status phi__compact_runs(const phi__compacting *c, phi__compact_section *sections,
                                    size_t *scope) {
    size_t run = c->run_count;
    phi_status status = PHI_OK;
    while (run > 0 && status == PHI_OK) {
        if (run <= *scope && phi__compact_begins_well(c, run, &sections[run])) break;
        run--;
        status = phi__compact_run(c, run, &sections[run]);
    }
    *scope = run;
    return status;
}

static phi_status phi__compact_all(phi__compacting *c) {
    phi__compact_section *sections = (phi__compact_section *)phi__arena_zero(
        c->arena, phi__mul(phi__add(c->run_count, 1), sizeof *sections));
    phi__compact_section before;
    size_t scope = phi__compact_scope(c), run;
    phi_status status;
    bool cut = false;
    if (sections == NULL) return PHI_NO_MEMORY;
    status = phi__compact_runs(c, sections, &scope);
    if (status != PHI_OK) return status;
    (void)phi__compact_section_of(c, 0, phi__compact_run_start(c, scope), false, &before);
    if (before.worth) c->out->runs += scope;
    if (before.worth) status = phi__compact_put(c, &before);
    for (run = scope; run < c->run_count && status == PHI_OK; run++) {
        if (!sections[run].worth) continue;
        c->out->runs++;
        status = phi__compact_put(c, &sections[run]);
    }
    run = c->run_count - 1;
    if (status == PHI_OK) status = phi__compact_cut_recent(c, sections[run].to, &cut);
    if (cut && !sections[run].worth) c->out->runs++;
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

PHI__FN phi_status phi__compact_plan(const phi_view_item *items, size_t count,
                                     const phi_compaction_config *config,
                                     const phi_token_counter *counter, phi_arena *arena,
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
    if (count > 0) status = phi__compact_whole(&c);
    phi__free(arena->memory, c.durable, c.durable != NULL ? count : 0);
    return status;
}

/* ---- public ---- */

PHI_API bool phi_compaction_due(const phi_compaction_config *config, uint64_t current_tokens) {
    phi_compaction_config c = phi__compact_config(config);
    return current_tokens > phi__compact_threshold(&c);
}

PHI_API phi_status phi_compaction_plan(const phi_view_item *items, size_t count,
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

#endif
