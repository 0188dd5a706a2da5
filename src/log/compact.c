/* compact.c - plans a compaction: which turns stay, which become lines of a summary, and which are
   removed.

   Items of a view are grouped into turns, and turns into runs. Items whose entries overlap (a
   summary and the DURABLE messages it kept) are in one turn, because no span may end between them.
   An answer and its results are in one turn too. Each section (the middle of the current run, each
   earlier run, all runs beyond the scope) becomes a span; its durable items stay. A summary has one
   line for each message of the user or the model. If the lines exceed max_summary_tokens, the
   oldest are left out, and a first line says how many. A section stays if its summary would not be
   smaller. Long results of the recent turns are cut to their first and last lines. Earlier
   summaries are kept: the lines of an earlier plan become lines again. Any other summary, for
   example a model's, stays as it is, between two sections. */
#include "log/thread_in.h"

enum { PHI__COMPACT_TEXT = 200 }; /* bytes of a text in a line */

/* The defaults of phi_compaction_config. */
enum {
    PHI__COMPACT_WINDOW = 100000,
    PHI__COMPACT_SYSTEM = 4000,
    PHI__COMPACT_RUNS = 3,
    PHI__COMPACT_FIRST = 2,
    PHI__COMPACT_RECENT = 10,
    PHI__COMPACT_SUMMARY = 2000,
    PHI__COMPACT_LINES = 50
};

PHI__FN phi_compaction_config phi__compact_config(const phi_compaction_config *config) {
    phi_compaction_config c = PHI_ZERO;
    if (config != NULL) c = *config;
    if (c.max_context_tokens == 0) c.max_context_tokens = PHI__COMPACT_WINDOW;
    if (c.system_prompt_tokens == 0) c.system_prompt_tokens = PHI__COMPACT_SYSTEM;
    if (!(c.compact_at_pct > 0)) c.compact_at_pct = 0.90;
    if (!(c.budget_threshold_pct > 0)) c.budget_threshold_pct = 0.05;
    if (c.scope_runs == 0) c.scope_runs = PHI__COMPACT_RUNS;
    if (c.scope_tokens == 0) c.scope_tokens = c.max_context_tokens;
    if (c.keep_first_turns == 0) c.keep_first_turns = PHI__COMPACT_FIRST;
    if (c.keep_no_first) c.keep_first_turns = 0;
    if (c.keep_recent_turns == 0) c.keep_recent_turns = PHI__COMPACT_RECENT;
    if (c.keep_first_messages == 0) c.keep_first_messages = PHI__COMPACT_FIRST;
    if (c.keep_no_first_messages) c.keep_first_messages = 0;
    if (c.keep_recent_messages == 0) c.keep_recent_messages = PHI__COMPACT_RECENT;
    if (c.max_summary_tokens == 0) c.max_summary_tokens = PHI__COMPACT_SUMMARY;
    if (c.tool_output_max_lines == 0) c.tool_output_max_lines = PHI__COMPACT_LINES;
    return c;
}

/* Rounds, since a double cannot hold 0.9 - 0.05 exactly. */
PHI__FN uint64_t phi__compact_threshold(const phi_compaction_config *config) {
    double most = (config->compact_at_pct - config->budget_threshold_pct) *
                      (double)config->max_context_tokens -
                  (double)config->system_prompt_tokens + 0.5;
    if (!(most > 0)) return 0;
    return most < 9e18 ? (uint64_t)most : UINT64_MAX;
}

static size_t phi__compact_count_lines(phi_str text) {
    size_t n = 1;
    for (size_t i = 0; i < text.len; i++)
        if (text.at[i] == '\n') n++;
    return n;
}

/* Returns the offset of line `line`, counted from 0. */
static size_t phi__compact_line_at(phi_str text, size_t line) {
    size_t i = 0;
    while (line > 0 && i < text.len)
        if (text.at[i++] == '\n') line--;
    return i;
}

static bool phi__compact_cut_text(phi_str *text, size_t lines, const phi_texts *texts,
                                  phi_arena *arena) {
    size_t all = phi__compact_count_lines(*text), head = lines / 2, tail = lines - head;
    phi__buf out;
    phi__texts_args args = PHI_ZERO;
    args.n = all - lines;
    if (all <= lines) return true;
    phi__buf_init(&out, arena->memory);
    size_t end = phi__compact_line_at(*text, head);
    phi__buf_add(&out, text->at, end > 0 ? end - 1 : 0);
    phi__buf_text(&out, "\n\n");
    phi__texts_put(&out, texts, PHI_TEXT_LINES_CUT, &args);
    phi__buf_text(&out, "\n\n");
    end = phi__compact_line_at(*text, all - tail);
    phi__buf_add(&out, text->at + end, text->len - end);
    bool done = !out.failed && phi__arena_str(arena, phi__buf_str(&out), text);
    phi__buf_free(&out);
    return done;
}

PHI__FN const phi_message *phi__compact_cut(const phi_message *message, uint32_t lines,
                                            const phi_texts *texts, phi_arena *arena) {
    bool longer = false;
    for (size_t i = 0; i < message->content_count; i++)
        longer = longer || (message->content[i].kind == PHI_CONTENT_TEXT &&
                            phi__compact_count_lines(message->content[i].text) > lines);
    if (!longer) return message;
    phi_message *cut = (phi_message *)phi_arena_alloc(arena, sizeof *cut);
    phi_content *blocks =
        (phi_content *)phi_arena_alloc(arena, phi__mul(message->content_count, sizeof *blocks));
    if (cut == NULL || blocks == NULL) return NULL;
    *cut = *message;
    memcpy(blocks, message->content, message->content_count * sizeof *blocks);
    cut->content = blocks;
    for (size_t i = 0; i < cut->content_count; i++)
        if (blocks[i].kind == PHI_CONTENT_TEXT &&
            !phi__compact_cut_text(&blocks[i].text, lines, texts, arena))
            return NULL;
    return cut;
}

/* ---- a summary with one line for each message of a section ---- */

typedef struct phi__compact_turn {
    size_t from, to; /* first item; end of the items */
    size_t run;
    bool stays; /* the turn has a summary that is not made of lines */
} phi__compact_turn;

typedef struct phi__compacting {
    const phi_view_item *items;
    size_t count;
    phi_compaction_config config;
    const phi_token_counter *counter;
    phi_arena *arena;
    bool again;       /* also sum up earlier summaries */
    uint8_t *durable; /* 1 for each item that always stays; NULL: none does */
    phi__compact_turn *turns;
    size_t turn_count, run_count;
    phi_span *spans;
    size_t span_count;
    phi__compacted *out;
} phi__compacting;

/* A sequence of turns that becomes a span. */
typedef struct phi__compact_section {
    size_t first, end;        /* first item; end of the items */
    const phi_message *named; /* the summary gets the run and turn of this message */
    phi_message messages[2];
    size_t message_count;
    uint64_t before, after; /* tokens before and after the plan */
    bool carries;           /* keep only the lines of earlier summaries */
    bool worth;             /* the section gets smaller */
} phi__compact_section;

enum {
    PHI__COMPACT_FRAME = 20,       /* tokens of a summary's role and marker */
    PHI__COMPACT_MOST = 0x3fffffff /* tokens of a summary, at most */
};

static bool phi__lines_stays(const phi__compacting *c, size_t item) {
    return c->durable != NULL && c->durable[item] != 0;
}

static bool phi__lines_is_summary(const phi_view_item *item) {
    return (item->flags & PHI_ITEM_SUMMARY) != 0;
}

typedef struct phi__compact_lines {
    phi_str *at; /* newest line first */
    size_t cap, count, total;
    uint64_t tokens, most;
    uint64_t left_out; /* messages without a line, here and in earlier summaries */
    bool full;
    phi__buf made; /* buffer for the current line */
} phi__compact_lines;

static bool phi__lines_has_line(const phi__compacting *c, size_t item) {
    const phi_message *m = c->items[item].message;
    /* updates are repeated in the next request */
    return !phi__lines_stays(c, item) && !m->is_update &&
           (m->role == PHI_ROLE_USER || m->role == PHI_ROLE_ASSISTANT);
}

/* Returns the text of an earlier summary; empty if the message is the focus message that comes
   before a summary. */
static phi_str phi__lines_summary_text(const phi__compacting *c, const phi_message *message) {
    phi_str text = message->content_count > 0 ? message->content[0].text : phi__str("", 0);
    if (c->config.focus_message != NULL && phi__str_is(text, c->config.focus_message)) text.len = 0;
    return text;
}

static phi_str phi__lines_last_line(phi_str *text) {
    size_t n = text->len;
    while (n > 0 && text->at[n - 1] != '\n') n--;
    phi_str line = phi__str(text->at + n, text->len - n);
    text->len = n > 0 ? n - 1 : 0;
    return line;
}

/* Adds a line. After the first line without room, lines are only counted. */
static bool phi__lines_add_line(const phi__compacting *c, phi__compact_lines *lines, phi_str line,
                                bool copy) {
    uint64_t tokens = phi_tokens_of_text(c->counter, line) + 1; /* with the line break */
    uint64_t n;
    if (phi__texts_is(c->config.texts, PHI_TEXT_SUMMARY_LEFT_OUT, PHI_TEXT_COUNT, line, &n)) {
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

/* Adds the lines of an item, the last line first. bytes 0: only lines of an earlier summary. */
static bool phi__lines_add_item(const phi__compacting *c, phi__compact_lines *lines, size_t at,
                                size_t bytes) {
    const phi_view_item *item = &c->items[at];
    if (!phi__lines_has_line(c, at)) return true;
    if (!phi__lines_is_summary(item)) {
        if (bytes == 0) return true;
        phi__buf_clear(&lines->made);
        char body[PHI__COMPACT_TEXT];
        bool user = item->message->role == PHI_ROLE_USER;
        size_t n = 0, j;
        phi__texts_args args = PHI_ZERO;
        for (size_t i = 0; i < item->message->content_count; i++) {
            const phi_content *block = &item->message->content[i];
            phi_str text = phi__str_trim(block->text);
            if (block->kind == PHI_CONTENT_TOOL_CALL) args.n++;
            if (block->kind != PHI_CONTENT_TEXT || text.len == 0 || n >= bytes) continue;
            if (n > 0) body[n++] = ' ';
            text.len = phi__utf8_cut(text, bytes - n);
            for (j = 0; j < text.len; j++)
                body[n++] = (unsigned char)text.at[j] < ' ' ? ' ' : text.at[j];
        }
        args.text = phi__str(body, n);
        phi__texts_put(&lines->made, c->config.texts,
                       n > 0         ? (user ? PHI_TEXT_SUMMARY_USER : PHI_TEXT_SUMMARY)
                       : user        ? PHI_TEXT_SUMMARY_USER_EMPTY
                       : args.n == 0 ? PHI_TEXT_SUMMARY_ANSWER_EMPTY
                                     : PHI_TEXT_SUMMARY_CALLS,
                       &args);
        return !lines->made.failed &&
               phi__lines_add_line(c, lines, phi__buf_str(&lines->made), true);
    }
    for (phi_str text = phi__lines_summary_text(c, item->message); text.len > 0;)
        if (!phi__lines_add_line(c, lines, phi__lines_last_line(&text), false)) return false;
    return true;
}

/* Gathers the lines of a section. If the lines are too long for all messages to have one, they are
   made shorter, because short lines of all messages are better than long lines of the newest. */
static bool phi__lines_gather(const phi__compacting *c, phi__compact_lines *lines,
                              const phi__compact_section *s) {
    static const size_t bytes[] = {PHI__COMPACT_TEXT, 100, 50};
    phi_arena_mark mark = phi_arena_save(c->arena);
    for (size_t i = 0; i < PHI__COUNT(bytes); i++) {
        phi_arena_reset(c->arena, mark);
        lines->count = lines->total = 0;
        lines->tokens = lines->left_out = 0;
        lines->full = false;
        size_t to = s->end;
        for (; to > s->first; to--)
            if (!phi__lines_add_item(c, lines, to - 1, s->carries ? 0 : bytes[i])) return false;

        if (lines->count == lines->total || s->carries) return true;
    }
    return true;
}

static bool phi__lines_join(const phi__compacting *c, const phi__compact_lines *lines,
                            phi_str *out) {
    phi__buf text;
    phi__texts_args args = PHI_ZERO;
    args.n = lines->left_out;
    phi__buf_init(&text, c->arena->memory);
    if (lines->left_out > 0)
        phi__texts_put(&text, c->config.texts, PHI_TEXT_SUMMARY_LEFT_OUT, &args);
    for (size_t i = lines->count; i > 0; i--) {
        if (text.len > 0) phi__buf_char(&text, '\n');
        phi__buf_add_str(&text, lines->at[i - 1]);
    }
    bool done = !text.failed && phi__arena_str(c->arena, phi__buf_str(&text), out);
    phi__buf_free(&text);
    return done;
}

static phi_status phi__lines_add_message(const phi__compacting *c, phi__compact_section *s,
                                         phi_str text) {
    const phi_message *last = c->items[s->end - 1].message;
    phi_message *message = phi__compact_say(text, c->arena);
    if (message == NULL) return PHI_NO_MEMORY;
    message->loop_id = s->named->loop_id;
    message->turn_index = s->named->turn_index;
    message->timestamp_ms = last->timestamp_ms;
    s->messages[s->message_count++] = *message;
    s->after += phi_tokens_of_message(c->counter, message);
    return PHI_OK;
}

/* Makes the section's messages: the focus message, if there is room for it, and the summary. */
static phi_status phi__lines_sum_up(const phi__compacting *c, phi__compact_section *s) {
    phi_str text = phi_str_of(c->config.focus_message);
    size_t cap = 0;
    phi__compact_lines lines = PHI_ZERO;
    lines.most = c->config.max_summary_tokens < PHI__COMPACT_MOST ? c->config.max_summary_tokens
                                                                  : (uint64_t)PHI__COMPACT_MOST;
    if (text.len > 0 && phi_tokens_of_text(c->counter, text) <= lines.most / 2) {
        if (phi__lines_add_message(c, s, text) != PHI_OK) return PHI_NO_MEMORY;
        lines.most -= phi__min((size_t)s->after, (size_t)lines.most);
    }
    for (size_t i = s->first; i < s->end; i++)
        cap = phi__add(cap, !phi__lines_is_summary(&c->items[i]) ? 1
                            : c->items[i].message->content_count == 0
                                ? 0
                                : c->items[i].message->content[0].text.len + 1);
    lines.most -= phi__min(PHI__COMPACT_FRAME, (size_t)lines.most / 2);
    lines.cap = phi__min(cap, (size_t)lines.most); /* a line has at least one token */
    lines.at =
        (phi_str *)phi_arena_alloc(c->arena, phi__mul(phi__max(lines.cap, 1), sizeof *lines.at));
    phi__buf_init(&lines.made, c->arena->memory);
    bool done =
        lines.at != NULL && phi__lines_gather(c, &lines, s) && phi__lines_join(c, &lines, &text);
    phi__buf_free(&lines.made);
    if (!done) return PHI_NO_MEMORY;
    return text.len > 0 ? phi__lines_add_message(c, s, text) : PHI_OK;
}

static uint64_t phi__compact_tokens(const phi__compacting *c, size_t from, size_t to) {
    uint64_t sum = 0;
    for (; from < to; from++) sum += phi_tokens_of_message(c->counter, c->items[from].message);
    return sum;
}

/* ---- turns and runs ---- */

/* True if the item is a summary that is not made of lines, and so must stay. */
static bool phi__compact_is_whole(const phi__compacting *c, size_t item) {
    uint32_t flags = c->items[item].flags;
    return !c->again && (flags & PHI_ITEM_SUMMARY) != 0 && (flags & PHI_ITEM_LINES) == 0;
}

static bool phi__compact_same_turn(const phi__compacting *c, size_t item) {
    const phi_message *a = c->items[item - 1].message, *b = c->items[item].message;
    if (phi__compact_is_whole(c, item - 1) || phi__compact_is_whole(c, item)) return false;
    if (b->role == PHI_ROLE_EXTENSION && b->loop_id.len == 0) return true;
    return a->loop_id.len > 0 && phi_str_equal(a->loop_id, b->loop_id) &&
           a->turn_index == b->turn_index;
}

static void phi__compact_make_turns(phi__compacting *c, const size_t *callers) {
    uint64_t end = 0;
    for (size_t i = 0; i < c->count; i++) {
        const phi_view_item *item = &c->items[i];
        if (i == 0 || (item->from > end && !phi__compact_same_turn(c, i))) {
            c->turns[c->turn_count].stays = false;
            c->turns[c->turn_count++].from = i;
        }
        c->turns[c->turn_count - 1].to = i + 1;
        if (phi__compact_is_whole(c, i)) c->turns[c->turn_count - 1].stays = true;
        if (i == 0 || item->to > end) end = item->to;
        if (callers[i] != SIZE_MAX) {
            /* A result belongs to the turn of its call, and so do all items between them. */
            size_t caller = callers[i];
            size_t t = c->turn_count - 1;
            bool stays = c->turns[t].stays;
            while (c->turns[t].from > caller) {
                t--;
                stays = stays || c->turns[t].stays;
            }
            c->turns[t].to = i + 1;
            c->turns[t].stays = stays;
            c->turn_count = t + 1;
        }
    }
}

static phi_status phi__compact_find_turns(phi__compacting *c) {
    phi_memory *memory = c->arena->memory;
    phi__fold fold;
    for (size_t i = 0; i < c->count; i++) {
        const phi_view_item *item = &c->items[i];
        if (item->message == NULL || item->from > item->to ||
            (i > 0 && item->from < c->items[i - 1].from))
            return PHI_BAD_ARG;
    }
    bool done = phi__fold_of_view(c->arena, c->items, c->count, &fold);
    c->turns = (phi__compact_turn *)phi__arena_zero(c->arena, phi__mul(c->count, sizeof *c->turns));
    if (!done || c->turns == NULL) return PHI_NO_MEMORY;
    if (!phi__groups_durable(memory, &fold, &c->durable)) return PHI_NO_MEMORY;
    size_t *callers = phi__groups_make(memory, &fold);
    if (callers == NULL) return PHI_NO_MEMORY;
    phi__compact_make_turns(c, callers);
    phi__groups_free(memory, c->count, callers);
    return PHI_OK;
}

/* True if the turn is a marker. A marker names the run that made it, but lies among other runs, so
   it belongs to the items before it. */
static bool phi__compact_is_marker(const phi__compacting *c, size_t turn) {
    uint32_t flags = c->items[c->turns[turn].from].flags;
    return (flags & PHI_ITEM_SYNTHETIC) != 0 && (flags & PHI_ITEM_SUMMARY) == 0;
}

/* Returns the first turn of a run; for run run_count, the end of the turns. */
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

/* Sums the tokens of the items that do not stay. Sets *summaries if some of these items are
   summaries. Returns true if some of these items are not summaries. */
static bool phi__compact_look(const phi__compacting *c, phi__compact_section *s, bool *summaries) {
    bool raw = false;
    *summaries = false;
    for (size_t i = s->first; i < s->end; i++) {
        if (phi__lines_stays(c, i)) continue;
        s->before += phi_tokens_of_message(c->counter, c->items[i].message);
        if (phi__lines_is_summary(&c->items[i]))
            *summaries = true;
        else
            raw = true;
    }
    return raw;
}

static phi_status phi__compact_put(phi__compacting *c, const phi__compact_section *s) {
    phi_message *messages = (phi_message *)phi_arena_alloc(c->arena, sizeof s->messages);
    phi_span *span = &c->spans[c->span_count];
    if (messages == NULL) return PHI_NO_MEMORY;
    memcpy(messages, s->messages, sizeof s->messages);
    c->span_count++;
    span->messages = s->message_count > 0 ? messages : NULL;
    span->message_count = s->message_count;
    span->summary = span->lines = s->message_count > 0;
    span->from = c->items[s->first].from;
    for (size_t i = s->first; i < s->end; i++)
        if (c->items[i].to > span->to) span->to = c->items[i].to;
    c->out->tokens_after -= s->before - s->after;
    return PHI_OK;
}

/* Makes a section from turns that do not stay. */
static phi_status phi__section_of(const phi__compacting *c, size_t from, size_t to, bool carries,
                                  phi__compact_section *s) {
    phi_status status = PHI_OK;
    bool summaries;
    memset(s, 0, sizeof *s);
    s->first = from < c->turn_count ? c->turns[from].from : c->count;
    s->end = to < c->turn_count ? c->turns[to].from : c->count;
    s->carries = carries;
    while (from + 1 < to && phi__compact_is_marker(c, from)) from++;
    s->named = from < to ? c->items[c->turns[from].from].message : NULL;
    bool raw = phi__compact_look(c, s, &summaries);
    if (carries ? summaries && !c->again : raw) status = phi__lines_sum_up(c, s);
    s->worth = (raw || carries) && s->after < s->before;
    if (c->again && summaries) s->worth = true;
    return status;
}

/* Returns the first turn at or after `from` that stays, or `to`. */
static size_t phi__compact_stretch(const phi__compacting *c, size_t from, size_t to) {
    while (from < to && !c->turns[from].stays) from++;
    return from;
}

/* Makes spans from the turns, except those that stay. *did: a span was made. */
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
        status = phi__section_of(c, from, end, carries, &s);
        if (status == PHI_OK && s.worth) {
            status = phi__compact_put(c, &s);
            *did = true;
        }
        from = end;
    }
    return status;
}

/* ---- long results ---- */

/* True if the result may be cut. A result that was cut before is left alone, because its marker
   adds lines beyond the limit. */
static bool phi__compact_may_cut(const phi__compacting *c, size_t i) {
    const phi_view_item *item = &c->items[i];
    return item->message->role == PHI_ROLE_TOOL_RESULT && !phi__lines_stays(c, i) &&
           (item->flags & PHI_ITEM_SYNTHETIC) == 0;
}

static phi_status phi__compact_cut_recent(phi__compacting *c, size_t turn, bool *did) {
    if (turn == c->turn_count) return PHI_OK;
    for (size_t i = c->turns[turn].from; i < c->count; i++) {
        const phi_message *was = c->items[i].message;
        if (!phi__compact_may_cut(c, i)) continue;
        const phi_message *now =
            phi__compact_cut(was, c->config.tool_output_max_lines, c->config.texts, c->arena);
        if (now == NULL) return PHI_NO_MEMORY;
        uint64_t before = phi_tokens_of_message(c->counter, was);
        uint64_t after = phi_tokens_of_message(c->counter, now);
        if (now == was || after >= before) continue;
        phi_span *span = &c->spans[c->span_count++];
        span->from = c->items[i].from;
        span->to = c->items[i].to;
        span->messages = now;
        span->message_count = 1;
        c->out->tokens_after -= before - after;
        *did = true;
    }
    return PHI_OK;
}

/* ---- the whole plan ---- */

/* Returns the oldest run of the scope. */
static size_t phi__compact_scope(const phi__compacting *c) {
    size_t run = c->run_count - 1;
    uint64_t tokens = 0, n = 0;
    for (; run > 0; run--) {
        size_t from = c->turns[phi__compact_run_start(c, run - 1)].from;
        size_t to = c->turns[phi__compact_run_start(c, run)].from;
        tokens += phi__compact_tokens(c, from, to);
        n++;
        if (c->config.scope == PHI_COMPACTION_RUNS
                ? n > c->config.scope_runs || c->config.scope_runs == PHI_COMPACTION_NO_RUNS
                : tokens > c->config.scope_tokens)
            break;
    }
    return run;
}

/* Returns the first turn of a run to compact, and sets *end after the last one. An earlier run is
   compacted whole. The current run is compacted without its first turn and its recent turns. */
static size_t phi__compact_bounds(const phi__compacting *c, size_t run, size_t *end) {
    size_t from = phi__compact_run_start(c, run), to = phi__compact_run_start(c, run + 1);
    if (run + 1 == c->run_count) {
        from += phi__min(c->config.keep_first_turns, to - from);
        to -= phi__min(c->config.keep_recent_turns, to - from);
    }
    *end = to;
    return from;
}

/* Sets *well to true if a new view that begins with this run begins with a user's message. */
static phi_status phi__compact_begins_well(const phi__compacting *c, size_t run, bool *well) {
    size_t start = phi__compact_run_start(c, run), end;
    phi__compact_section s;
    *well = c->items[c->turns[start].from].message->role == PHI_ROLE_USER;
    if (*well || phi__compact_bounds(c, run, &end) != start) return PHI_OK;
    end = phi__compact_stretch(c, start, end);
    if (end == start) return PHI_OK;
    phi_status status = phi__section_of(c, start, end, false, &s);
    *well = s.worth;
    return status;
}

/* Finds the oldest run that stays: the first run of the scope, or an earlier one if the view must
   begin with a user's message. */
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
    phi_status status = phi__compact_find_turns(c);
    if (status != PHI_OK) return status;
    size_t real = 0; /* the last turn so far that is no marker */
    for (size_t t = 0; t < c->turn_count; t++) {
        if (t > 0 && !phi__compact_is_marker(c, t)) {
            if (!phi_str_equal(c->items[c->turns[t].from].message->loop_id,
                               c->items[c->turns[real].from].message->loop_id) &&
                !phi__compact_is_marker(c, real))
                c->run_count++;
            real = t;
        }
        c->turns[t].run = c->run_count;
    }
    if (c->turn_count > 0) c->run_count++;
    c->out->tokens_before = c->out->tokens_after = phi__compact_tokens(c, 0, c->count);
    c->spans = (phi_span *)phi__arena_zero(c->arena, phi__mul(c->count, sizeof *c->spans));
    if (c->spans == NULL) return PHI_NO_MEMORY;
    status = phi__compact_all(c);
    c->out->rewrite.spans = c->spans;
    c->out->rewrite.span_count = c->span_count;
    for (size_t i = 0; i < c->count; i++)
        if (c->items[i].to > c->out->rewrite.base_seq) c->out->rewrite.base_seq = c->items[i].to;
    return status;
}

PHI__FN phi_status phi__compact_plan(const phi_view_item *items, size_t count,
                                     const phi_compaction_config *config,
                                     const phi_token_counter *counter, phi_arena *arena, bool again,
                                     phi__compacted *out) {
    phi_status status = PHI_OK;
    phi__compacting c = PHI_ZERO;
    memset(out, 0, sizeof *out);
    out->rewrite.reason = PHI_REWRITE_COMPACTION;
    out->rewrite.has_base = count > 0;
    c.items = items;
    c.count = count;
    c.config = phi__compact_config(config);
    c.counter = counter;
    c.arena = arena;
    c.out = out;
    c.again = again;
    if (count > 0) status = phi__compact_whole(&c);
    phi__free(arena->memory, c.durable, c.durable != NULL ? count : 0);
    return status;
}

PHI__FN phi_status phi__compact_rewrite(const phi_view_item *items, size_t count,
                                        const phi_compaction_config *config,
                                        const phi_token_counter *counter, phi_arena *arena,
                                        phi_rewrite *out) {
    phi__compacted plan;
    if (arena == NULL || out == NULL || (items == NULL && count > 0)) return PHI_BAD_ARG;
    phi_status status = phi__compact_plan(items, count, config, counter, arena, false, &plan);
    if (status == PHI_OK) *out = plan.rewrite;
    return status;
}

/* ---- phi_compact_messages: three levels for a plain list of messages ---- */

/* A group is an answer with everything up to the last result of its calls. Any other message is a
   group by itself. */

typedef struct phi__compact_levels {
    phi_compaction_config config;
    const phi_token_counter *counter;
    phi_arena *arena;
    const phi_message **list;
    size_t count;
    size_t *callers; /* for each result the index of its answer; SIZE_MAX: none */
    size_t *ends;    /* for each message the end of the group that begins with it */
    uint64_t budget;
    bool no_memory;
} phi__compact_levels;

static uint64_t phi__levels_tokens(const phi__compact_levels *l, size_t from, size_t to) {
    uint64_t sum = 0;
    for (; from < to; from++) sum += phi_tokens_of_message(l->counter, l->list[from]);
    return sum;
}

static bool phi__levels_fit(const phi__compact_levels *l) {
    return phi__levels_tokens(l, 0, l->count) <= l->budget;
}

/* Finds the groups again after the list has changed. An answer's group ends with the last of its
   results before the next answer. False: no memory. */
static bool phi__levels_group(phi__compact_levels *l) {
    phi_memory *memory = l->arena->memory;
    size_t *callers = phi__groups_find(memory, l->list, sizeof *l->list, l->count);
    size_t answer = SIZE_MAX;
    if (callers == NULL) return false;
    for (size_t i = 0; i < l->count; i++) {
        l->callers[i] = callers[i];
        l->ends[i] = i + 1;
        if (l->list[i]->role == PHI_ROLE_ASSISTANT)
            answer = i;
        else if (callers[i] != SIZE_MAX && callers[i] == answer)
            l->ends[answer] = i + 1;
    }
    phi__groups_free(memory, l->count, callers);
    return true;
}

/* ---- a line for an answer ---- */

static bool phi__levels_words(const phi__compact_levels *l, const phi_message *answer,
                              phi_str *out) {
    phi__buf body;
    phi__texts_args args = PHI_ZERO;
    phi__buf_init(&body, l->arena->memory);
    size_t texts = 0; /* number of texts so far, each of which is cut */
    for (size_t i = 0; i < answer->content_count; i++) {
        const phi_content *block = &answer->content[i];
        phi_str text = block->text;
        if (block->kind == PHI_CONTENT_TOOL_CALL) args.n++;
        if (block->kind != PHI_CONTENT_TEXT || text.len == 0) continue;
        if (texts++ > 0) phi__buf_char(&body, ' ');
        phi__buf_add(&body, text.at, phi__utf8_cut(text, PHI__COMPACT_TEXT));
    }
    args.text = phi__buf_str(&body);
    phi_text which = texts > 0     ? PHI_TEXT_SUMMARY
                     : args.n == 0 ? PHI_TEXT_SUMMARY_ANSWER_EMPTY
                                   : PHI_TEXT_SUMMARY_CALLS;
    bool done = !body.failed && phi__texts_make(l->arena, l->config.texts, which, &args, out);
    phi__buf_free(&body);
    return done;
}

/* Replaces answers before the recent messages by lines. Removes the results of their calls. */
static bool phi__levels_sum_up_all(phi__compact_levels *l) {
    size_t recent = l->count - phi__min(l->config.keep_recent_messages, l->count);
    size_t i, n = 0, end;
    for (i = 0; i < recent; i = end) {
        const phi_message *m = l->list[i];
        end = i + 1;
        if (m->role == PHI_ROLE_TOOL_RESULT) continue;
        if (m->role == PHI_ROLE_ASSISTANT) {
            phi_str words;
            end = l->ends[i];
            m = phi__levels_words(l, m, &words) ? phi__compact_say_at(words, m, l->arena) : NULL;
            if (m == NULL) return false;
        }
        l->list[n++] = m;
        for (size_t j = i + 1; j < end; j++)
            if (l->list[j]->role != PHI_ROLE_TOOL_RESULT) l->list[n++] = l->list[j];
    }
    for (; i < l->count; i++) l->list[n++] = l->list[i];
    l->count = n;
    return true;
}

/* ---- the middle ---- */

static const phi_message *phi__levels_marker(const phi__compact_levels *l, uint64_t gone,
                                             phi_text which) {
    phi_str text;
    return phi__texts_make_n(l->arena, l->config.texts, which, gone, &text)
               ? phi__compact_say(text, l->arena)
               : NULL;
}

static uint64_t phi__levels_marker_tokens(phi__compact_levels *l, uint64_t gone) {
    phi_arena_mark mark = phi_arena_save(l->arena);
    const phi_message *marker = phi__levels_marker(l, gone, PHI_TEXT_REMOVED_OLDEST);
    uint64_t tokens = marker != NULL ? phi_tokens_of_message(l->counter, marker) : 0;
    if (marker == NULL) l->no_memory = true;
    phi_arena_reset(l->arena, mark);
    return tokens;
}

/* True if the message is phi's text `which` and nothing else. *n gets the number in the text. */
static bool phi__levels_is(const phi__compact_levels *l, const phi_message *message, phi_text which,
                           uint64_t *n) {
    return message->role == PHI_ROLE_USER && message->content_count == 1 &&
           message->content[0].kind == PHI_CONTENT_TEXT &&
           phi__texts_is(l->config.texts, which, PHI_TEXT_COUNT, message->content[0].text, n);
}

/* Returns how many original messages a part of the list represents. A marker counts as the number
   of removed messages that its text names. */
static uint64_t phi__levels_gone(const phi__compact_levels *l, size_t from, size_t to) {
    uint64_t sum = 0;
    for (; from < to; from++) {
        uint64_t n = 1; /* for a marker with a host's text, which need not have a number */
        bool marker = phi__levels_is(l, l->list[from], PHI_TEXT_REMOVED, &n) ||
                      phi__levels_is(l, l->list[from], PHI_TEXT_REMOVED_OLDEST, &n);
        sum += marker ? n : 1;
    }
    return sum;
}

/* Returns the end of the last whole group within the first `most` messages. */
static size_t phi__levels_head(const phi__compact_levels *l, size_t most) {
    size_t at = 0;
    while (at < l->count && l->ends[at] <= most) at = l->ends[at];
    return at;
}

static bool phi__levels_cut_middle(phi__compact_levels *l, size_t head, size_t tail) {
    if (head >= tail) return true;
    const phi_message *marker =
        phi__levels_marker(l, phi__levels_gone(l, head, tail), PHI_TEXT_REMOVED);
    if (marker == NULL) return false;
    l->list[head] = marker;
    memmove(l->list + head + 1, l->list + tail, (l->count - tail) * sizeof *l->list);
    l->count -= tail - head - 1;
    return true;
}

/* Returns 1 if the list begins with a summary, else 0. The summary is removed last. */
static size_t phi__levels_summary(const phi__compact_levels *l) {
    uint64_t n;
    return l->count > 0 && phi__levels_is(l, l->list[0], PHI_TEXT_SUMMARY, &n) ? 1 : 0;
}

/* Returns the start of the newest groups that fit together with a marker, and sets *marked. If none
   fit with a marker, returns the start of the newest groups that fit without one. The first `kept`
   messages stay in any case. */
static size_t phi__levels_newest_from(phi__compact_levels *l, const size_t *ends, size_t groups,
                                      size_t kept, bool *marked) {
    uint64_t tokens = phi__levels_tokens(l, 0, kept);
    uint64_t gone = phi__levels_gone(l, kept, l->count);
    size_t from = l->count;
    *marked = false;
    for (; groups > kept; groups--) {
        size_t begins = groups > 1 ? ends[groups - 2] : 0, end = ends[groups - 1];
        tokens += phi__levels_tokens(l, begins, end);
        if (tokens > l->budget) break;
        gone -= phi__levels_gone(l, begins, end);
        if (tokens + phi__levels_marker_tokens(l, gone) <= l->budget)
            *marked = true;
        else if (*marked)
            break;
        from = begins;
    }
    return from;
}

/* `ends` has room for as many elements as there are messages. */
static bool phi__levels_newest(phi__compact_levels *l, size_t *ends) {
    size_t groups = 0, kept = phi__levels_summary(l);
    bool marked;
    for (size_t at = 0; at < l->count; at = ends[groups++]) ends[groups] = l->ends[at];
    size_t from = phi__levels_newest_from(l, ends, groups, kept, &marked);
    if (from == l->count && kept > 0) {
        kept = 0;
        from = phi__levels_newest_from(l, ends, groups, kept, &marked);
    }
    if (from == kept) return true;
    const phi_message *marker =
        marked ? phi__levels_marker(l, phi__levels_gone(l, kept, from), PHI_TEXT_REMOVED_OLDEST)
               : NULL;
    if (marked && marker == NULL) return false;
    size_t head = kept + (marked ? 1 : 0);
    memmove(l->list + head, l->list + from, (l->count - from) * sizeof *l->list);
    if (marked) l->list[kept] = marker;
    l->count -= from - head;
    return true;
}

static phi_status phi__levels_go(phi__compact_levels *l) {
    if (phi__levels_fit(l)) return PHI_OK;
    for (size_t i = 0; i < l->count; i++) {
        if (l->list[i]->role != PHI_ROLE_TOOL_RESULT) continue;
        l->list[i] = phi__compact_cut(l->list[i], l->config.tool_output_max_lines, l->config.texts,
                                      l->arena);
        if (l->list[i] == NULL) return PHI_NO_MEMORY;
    }
    if (phi__levels_fit(l)) return PHI_OK;
    if (!phi__levels_group(l) || !phi__levels_sum_up_all(l) || !phi__levels_group(l))
        return PHI_NO_MEMORY;
    /* A provider refuses results without their call. */
    size_t j, n = 0, end;
    for (size_t i = 0; i < l->count; i = end) {
        end = l->ends[i];
        if (l->list[i]->role == PHI_ROLE_TOOL_RESULT) continue;
        for (j = i; j < end; j++)
            if (l->list[j]->role != PHI_ROLE_TOOL_RESULT || l->callers[j] == i)
                l->list[n++] = l->list[j];
    }
    l->count = n;
    if (phi__levels_fit(l)) return PHI_OK;
    if (!phi__levels_group(l)) return PHI_NO_MEMORY;
    size_t most = l->config.keep_recent_messages;
    size_t at = 0, from = l->count - phi__min(most, l->count);
    while (at < from) at = l->ends[at];
    size_t tail = at;
    size_t head = phi__levels_head(l, l->config.keep_first_messages);
    if (!phi__levels_cut_middle(l, phi__max(head, phi__levels_summary(l)), tail))
        return PHI_NO_MEMORY;
    if (phi__levels_fit(l)) return PHI_OK;
    size_t *ends =
        (size_t *)phi_arena_alloc(l->arena, phi__mul(phi__max(l->count, 1), sizeof *ends));
    if (ends == NULL || !phi__levels_group(l)) return PHI_NO_MEMORY;
    return phi__levels_newest(l, ends) && !l->no_memory ? PHI_OK : PHI_NO_MEMORY;
}

/* ---- public ---- */

PHI_API phi_status phi_compact_messages(const phi_message *const *messages, size_t count,
                                        const phi_compaction_config *config,
                                        const phi_token_counter *counter, phi_arena *arena,
                                        const phi_message *const **out, size_t *out_count) {
    if (arena == NULL || out == NULL || out_count == NULL || (messages == NULL && count > 0))
        return PHI_BAD_ARG;
    for (size_t i = 0; i < count; i++)
        if (messages[i] == NULL) return PHI_BAD_ARG;
    phi__compact_levels l = PHI_ZERO;
    l.config = phi__compact_config(config);
    l.counter = counter;
    l.arena = arena;
    l.budget = l.config.max_context_tokens > l.config.system_prompt_tokens
                   ? l.config.max_context_tokens - l.config.system_prompt_tokens
                   : 0;
    l.list = (const phi_message **)phi_arena_alloc(
        arena, phi__mul(phi__add(count, 1), sizeof *l.list)); /* one more for a marker */
    l.callers = (size_t *)phi_arena_alloc(arena, phi__mul(phi__max(count, 1), sizeof *l.callers));
    l.ends = (size_t *)phi_arena_alloc(arena, phi__mul(phi__max(count, 1), sizeof *l.ends));
    if (l.list == NULL || l.callers == NULL || l.ends == NULL) return PHI_NO_MEMORY;
    l.count = count;
    if (count > 0) memcpy(l.list, messages, count * sizeof *l.list);
    phi_status status = phi__levels_go(&l);
    if (status != PHI_OK) return status;
    *out = l.list;
    *out_count = l.count;
    return PHI_OK;
}
