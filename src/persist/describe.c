/* describe.c - prints a thread: its figures, then a line for each of its newest entries. Older
   entries are not read, since they may be evicted. */
#include "persist/journal_in.h"
#include "persist/introspect.h"

typedef struct phi__open_call {
    uint64_t seq; /* the first entry of the item that has the call */
    size_t block;
} phi__open_call;

/* ---- figures of a lane's view, and its newest message ---- */

/* ---- calls without a result ---- */

/* A tool result that the walk, which goes backwards through the view, has met. */
typedef struct phi__figures_id {
    phi_str id;
    bool used, waits; /* used: the slot is not free; waits: the call was not met yet */
} phi__figures_id;

typedef struct phi__figures_walk {
    phi__figures_id *ids; /* open hash table, at most half full */
    size_t cap;
    phi__open_call *calls; /* calls without a result, newest first */
    size_t count, all;     /* calls without a result; all calls */
} phi__figures_walk;

static phi__figures_id *phi__figures_place(const phi__figures_walk *walk, phi_str id) {
    size_t at = (size_t)phi__hash(id, 0) & (walk->cap - 1);
    while (walk->ids[at].used && !phi_str_equal(walk->ids[at].id, id))
        at = (at + 1) & (walk->cap - 1);
    return &walk->ids[at];
}

static void phi__figures_answer(phi__figures_walk *walk, const phi_view_item *item) {
    for (size_t i = item->message->content_count; i > 0; i--) {
        const phi_content *c = &item->message->content[i - 1];
        if (!phi__codec_is_call(c)) continue;
        phi__figures_id *place = phi__figures_place(walk, c->id);
        if (!place->waits) {
            walk->calls[walk->count].seq = item->from;
            walk->calls[walk->count++].block = i - 1;
        }
        place->waits = false;
    }
}

/* Counts the calls and allocates the tables in the arena. False: no memory. */
static bool phi__figures_room(phi__figures_walk *walk, const phi_view_item *items, size_t count,
                              phi_arena *arena) {
    size_t results = 0, j;
    memset(walk, 0, sizeof *walk);
    for (size_t i = 0; i < count; i++) {
        const phi_message *m = items[i].message;
        results += m->role == PHI_ROLE_TOOL_RESULT;
        for (j = 0; m->role == PHI_ROLE_ASSISTANT && j < m->content_count; j++)
            walk->all += phi__codec_is_call(&m->content[j]);
    }
    for (walk->cap = 4; walk->cap / 2 < results && walk->cap <= SIZE_MAX / 4;) walk->cap *= 2;
    walk->ids = (phi__figures_id *)phi__arena_zero(arena, phi__mul(walk->cap, sizeof *walk->ids));
    walk->calls =
        (phi__open_call *)phi_arena_alloc(arena, phi__mul(walk->all, sizeof *walk->calls));
    return walk->ids != NULL && walk->calls != NULL;
}

/* ---- figures ---- */

static phi_lane_figures phi__figures_of(const phi_view_item *items, size_t count,
                                        const phi__figures_walk *open) {
    phi_lane_figures out = PHI_ZERO;
    out.messages = count;
    out.calls = open->all;
    out.open_calls = open->count;
    for (size_t i = 0; i < count; i++) {
        const phi_message *m = items[i].message;
        out.user += m->role == PHI_ROLE_USER;
        out.answers += m->role == PHI_ROLE_ASSISTANT;
        out.results += m->role == PHI_ROLE_TOOL_RESULT;
        out.extensions += m->role == PHI_ROLE_EXTENSION;
        out.made += (items[i].flags & PHI_ITEM_SYNTHETIC) != 0;
        out.summaries += (items[i].flags & PHI_ITEM_SUMMARY) != 0;
        out.tokens += items[i].tokens;
        for (size_t j = 0; j < m->content_count; j++)
            if (m->content[j].kind == PHI_CONTENT_TEXT) out.text_bytes += m->content[j].text.len;
    }
    return out;
}

static bool phi__figures_has_text(const phi_message *m) {
    for (size_t i = 0; i < m->content_count; i++)
        if (m->content[i].kind == PHI_CONTENT_TEXT && m->content[i].text.len > 0) return true;
    return false;
}

/* ---- public ---- */

PHI_API const phi_message *phi_thread_last(const phi_thread *thread, phi_role role,
                                           bool with_text) {
    size_t i = thread != NULL ? thread->fold.count : 0;
    for (; i > 0; i--) {
        const phi_message *m = thread->fold.items[i - 1].message;
        if ((role == 0 || m->role == role) && (!with_text || phi__figures_has_text(m))) return m;
    }
    return NULL;
}

/* ---- printing a thread ---- */

enum {
    PHI__DESCRIBE_LAST = 20,  /* entries */
    PHI__DESCRIBE_TEXT = 200, /* bytes */
    PHI__DESCRIBE_NAME = 80,  /* bytes */
    PHI__DESCRIBE_MOST = 4    /* calls or spans in a line */
};

/* ---- texts ---- */

/* Escapes line breaks and control characters, which a terminal would obey. */
static void phi__describe_clean(phi__buf *out, phi_str s) {
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.at[i];
        bool c1 = c == 0xc2 && i + 1 < s.len && (unsigned char)s.at[i + 1] < 0xa0;
        if (c1) c = (unsigned char)s.at[++i];
        if (c == '\n')
            phi__buf_text(out, "\\n");
        else if (c == '\t')
            phi__buf_text(out, "\\t");
        else if (c < 0x20 || c == 0x7f || c1)
            phi__buf_printf(out, "\\x%02x", (unsigned)c);
        else
            phi__buf_char(out, (char)c);
    }
}

/* Writes the first `most` bytes as valid UTF-8. */
static void phi__describe_cut(phi__buf *out, phi_str s, size_t most) {
    phi__buf sound;
    phi__buf_init(&sound, out->memory);
    phi__utf8_repair(&sound, phi__str(s.at, phi__utf8_cut(s, most)));
    phi__describe_clean(out, phi__buf_str(&sound));
    out->failed = out->failed || sound.failed;
    phi__buf_free(&sound);
    if (s.len > most) phi__buf_text(out, "...");
}

static void phi__describe_name(phi__buf *out, phi_str s) {
    phi__describe_cut(out, s, PHI__DESCRIBE_NAME);
}

static void phi__describe_n(phi__buf *out, uint64_t n, const char *one, const char *many) {
    phi__buf_printf(out, "%llu %s", (unsigned long long)n, n == 1 ? one : many);
}

static void phi__describe_usage(phi__buf *out, const phi_usage *u) {
    phi__buf_printf(out, "%llu tokens in, %llu of them cached, %llu out",
                    (unsigned long long)(u->input + u->cache_read + u->cache_write),
                    (unsigned long long)u->cache_read, (unsigned long long)u->output);
}

/* ---- messages ---- */

/* The view and the output settings, which each entry needs. */
typedef struct phi__describe {
    phi__buf *out;
    phi_str lane;
    size_t text_bytes;
    /* The open calls, newest first. The next one to print is at open_at - 1. */
    const phi__figures_walk *open;
    size_t open_at;
    const phi_view_item *items;
    size_t item_count;
} phi__describe;

typedef enum phi__describe_mark {
    PHI__DESCRIBE_HIDDEN = 0,
    PHI__DESCRIBE_REPLACED,
    PHI__DESCRIBE_SHOWN
} phi__describe_mark;

static void phi__describe_who(phi__buf *out, const phi_message *m) {
    switch (m->role) {
    case PHI_ROLE_USER: phi__buf_text(out, "user message"); return;
    case PHI_ROLE_ASSISTANT:
        phi__buf_text(out, "answer");
        if (m->stop_reason > PHI_STOP_REASON_TOOL_USE || m->stop_reason == PHI_STOP_REASON_LENGTH)
            phi__buf_printf(out, " (%s)", phi__message_stop_text(m->stop_reason));
        return;
    case PHI_ROLE_TOOL_RESULT:
        phi__buf_text(out, m->is_error ? "failed result of " : "result of ");
        phi__describe_name(out, m->tool_name);
        phi__buf_char(out, ' ');
        phi__describe_name(out, m->tool_call_id);
        return;
    case PHI_ROLE_EXTENSION:
        phi__buf_text(out, "extension ");
        phi__describe_name(out, m->extension_kind);
        return;
    }
}

static size_t phi__describe_of_kind(const phi_message *m, phi_content_kind kind) {
    size_t n = 0;
    for (size_t i = 0; i < m->content_count; i++) n += m->content[i].kind == kind;
    return n;
}

/* Writes the text blocks as one text, cut to text_bytes. */
static void phi__describe_text(phi__describe *d, const phi_message *m) {
    size_t left = d->text_bytes;
    uint64_t all = 0;
    phi__buf_char(d->out, '"');
    for (size_t i = 0; i < m->content_count; i++) {
        phi_str s = m->content[i].text;
        if (m->content[i].kind != PHI_CONTENT_TEXT) continue;
        all += s.len;
        s.len = phi__utf8_cut(s, left);
        phi__describe_cut(d->out, s, s.len);
        left -= s.len;
        if (s.len < m->content[i].text.len) left = 0;
    }
    if (all > d->text_bytes) phi__buf_text(d->out, "...");
    phi__buf_char(d->out, '"');
    if (all > d->text_bytes) phi__buf_printf(d->out, " of %llu bytes", (unsigned long long)all);
}

static bool phi__describe_call_is_open(const phi__describe *d, uint64_t seq, size_t block) {
    for (size_t i = d->open_at; i > 0 && d->open->calls[i - 1].seq == seq; i--)
        if (d->open->calls[i - 1].block == block) return true;
    return false;
}

static void phi__describe_calls(phi__describe *d, const phi_message *m, uint64_t seq, bool shown) {
    size_t n = 0;
    for (size_t i = 0; i < m->content_count; i++) {
        const phi_content *c = &m->content[i];
        if (c->kind != PHI_CONTENT_TOOL_CALL || ++n > PHI__DESCRIBE_MOST) continue;
        phi__buf_text(d->out, n == 1 ? ", calls " : ", ");
        phi__describe_name(d->out, c->name);
        phi__buf_char(d->out, ' ');
        phi__describe_name(d->out, c->id);
        phi__buf_char(d->out, ' ');
        phi__describe_cut(d->out, c->arguments, d->text_bytes);
        if (c->incomplete) phi__buf_text(d->out, " (broke off)");
        if (shown && phi__describe_call_is_open(d, seq, i)) phi__buf_text(d->out, " (open)");
    }
    if (n > PHI__DESCRIBE_MOST)
        phi__buf_printf(d->out, " and %llu more", (unsigned long long)(n - PHI__DESCRIBE_MOST));
}

static void phi__describe_message(phi__describe *d, const phi_entry *e, phi__describe_mark mark) {
    static const char *const marks[] = {"hidden", "replaced", "shown"};
    const phi_message *m = e->message;
    static const struct {
        phi_content_kind kind;
        const char *one, *many;
    } media[] = {{PHI_CONTENT_IMAGE, "image", "images"},
                 {PHI_CONTENT_DOCUMENT, "document", "documents"},
                 {PHI_CONTENT_AUDIO, "sound", "sounds"}};
    phi__describe_who(d->out, m);
    phi__buf_printf(d->out, ", %llu tokens, %s", (unsigned long long)phi_tokens_of_message(NULL, m),
                    marks[mark]);
    if ((e->flags & PHI_ENTRY_DURABLE) != 0) phi__buf_text(d->out, ", durable");
    if (phi__describe_of_kind(m, PHI_CONTENT_THINKING) > 0) phi__buf_text(d->out, ", thinking");
    for (size_t i = 0; i < PHI__COUNT(media); i++) {
        size_t n = phi__describe_of_kind(m, media[i].kind);
        if (n == 0) continue;
        phi__buf_text(d->out, ", ");
        phi__describe_n(d->out, n, media[i].one, media[i].many);
    }
    if (phi__describe_of_kind(m, PHI_CONTENT_TEXT) > 0) {
        phi__buf_text(d->out, ": ");
        phi__describe_text(d, m);
    }
    if (m->role == PHI_ROLE_EXTENSION) {
        phi__buf_text(d->out, ": ");
        phi__describe_cut(d->out, m->extension_data, d->text_bytes);
    }
    phi__describe_calls(d, m, e->seq, mark == PHI__DESCRIBE_SHOWN);
}

/* ---- other entries ---- */

static void phi__describe_span(phi__describe *d, const phi_span *span) {
    phi__buf_printf(d->out, "%llu", (unsigned long long)span->from);
    if (span->to != span->from) phi__buf_printf(d->out, "-%llu", (unsigned long long)span->to);
    if (span->message_count == 0) {
        phi__buf_text(d->out, " by nothing");
        return;
    }
    phi__buf_text(d->out, " by ");
    if (span->summary)
        phi__describe_n(d->out, span->message_count, "summary ", "summaries ");
    else
        phi__describe_n(d->out, span->message_count, "message ", "messages ");
    phi__describe_text(d, &span->messages[0]);
}

static void phi__describe_rewrite(phi__describe *d, const phi_rewrite *r) {
    phi__buf_text(d->out, "rewrite \"");
    phi__describe_name(d->out, phi_str_of(r->op_id));
    if (r->revoke != NULL) {
        phi__buf_text(d->out, "\" undoes \"");
        phi__describe_name(d->out, phi_str_of(r->revoke));
        phi__buf_char(d->out, '"');
        return;
    }
    phi__buf_printf(d->out, "\" (%s)%s", phi__entry_reason_word(r->reason),
                    r->span_count > 0 ? " replaces " : "");
    for (size_t i = 0; i < r->span_count && i < PHI__DESCRIBE_MOST; i++) {
        if (i > 0) phi__buf_text(d->out, ", ");
        phi__describe_span(d, &r->spans[i]);
    }
    if (r->span_count > PHI__DESCRIBE_MOST)
        phi__buf_printf(d->out, " and %llu more",
                        (unsigned long long)(r->span_count - PHI__DESCRIBE_MOST));
    if (r->switch_to == NULL) return;
    phi__buf_text(d->out, r->span_count > 0 ? ", and switches to lane \"" : " switches to lane \"");
    phi__describe_name(d->out, phi_str_of(r->switch_to));
    phi__buf_char(d->out, '"');
}

static void phi__describe_lane(phi__describe *d, const phi_entry *e) {
    phi__buf_text(d->out, "lane \"");
    phi__describe_name(d->out, e->lane);
    if (e->kind == PHI_ENTRY_SWITCH) {
        phi__buf_text(d->out, "\" is active");
    } else if (e->parent_lane.len == 0) {
        phi__buf_text(d->out, "\" begins empty");
    } else {
        phi__buf_text(d->out, "\" begins as \"");
        phi__describe_name(d->out, e->parent_lane);
        phi__buf_printf(d->out, "\" after %llu", (unsigned long long)e->fork_seq);
    }
}

static void phi__describe_why(phi__buf *out, const char *word) {
    if (word != NULL && word[0] != '\0') phi__buf_printf(out, " (%s)", word);
}

static void phi__describe_loop(phi__describe *d, const phi_entry *e) {
    phi__buf_text(d->out, "run \"");
    phi__describe_name(d->out, e->loop_id);
    if (e->kind == PHI_ENTRY_LOOP_START) {
        phi__buf_text(d->out, "\" begins");
        if (e->loop != NULL)
            phi__describe_why(d->out, phi__entry_continuation_word((int)e->loop->continuation));
        return;
    }
    phi__buf_printf(d->out, "\" ends: %s", phi_status_text((int)e->status));
    if (e->failure != NULL)
        phi__buf_printf(d->out, " (%s)", phi_failure_kind_text(e->failure->kind));
    if (e->keep == PHI_KEEP_NONE) phi__buf_text(d->out, ", nothing of it is kept");
}

static void phi__describe_other(phi__describe *d, const phi_entry *e) {
    switch (e->kind) {
    case PHI_ENTRY_MESSAGE: return;
    case PHI_ENTRY_REWRITE: phi__describe_rewrite(d, e->rewrite); return;
    case PHI_ENTRY_LANE:
    case PHI_ENTRY_SWITCH: phi__describe_lane(d, e); return;
    case PHI_ENTRY_LOOP_START:
    case PHI_ENTRY_LOOP_END: phi__describe_loop(d, e); break;
    case PHI_ENTRY_TURN_START:
        phi__buf_printf(d->out, "turn %u begins", (unsigned)e->turn_index);
        phi__describe_why(d->out, phi__entry_trigger_word((int)e->trigger));
        return;
    case PHI_ENTRY_TURN_END:
        phi__buf_printf(d->out, "turn %u ends", (unsigned)e->turn_index);
        break;
    case PHI_ENTRY_SPAWN:
        phi__buf_text(d->out, "call \"");
        phi__describe_name(d->out, e->tool_call_id);
        phi__buf_text(d->out, "\" ran \"");
        phi__describe_name(d->out, e->child_loop_id);
        phi__buf_char(d->out, '"');
        return;
    case PHI_ENTRY_FORGOTTEN:
        phi__buf_printf(d->out, "entries %llu to %llu are forgotten, %llu bytes",
                        (unsigned long long)e->forgotten->from,
                        (unsigned long long)e->forgotten->to - 1,
                        (unsigned long long)e->forgotten->bytes);
        return;
    case PHI_ENTRY_NOTE:
        phi__buf_text(d->out, "note ");
        phi__describe_name(d->out, e->note_kind);
        phi__buf_text(d->out, ": ");
        phi__describe_cut(d->out, e->note, d->text_bytes);
        return;
    }
    if (e->usage == NULL) return;
    phi__buf_text(d->out, "; ");
    phi__describe_usage(d->out, e->usage);
}

/* ---- the whole description ---- */

/* Returns an array with a phi__describe_mark for each entry from `first` to before `end`. */
static uint8_t *phi__describe_marks(const phi_view_item *items, size_t count, uint64_t first,
                                    uint64_t end, phi_arena *scratch) {
    uint8_t *marks = (uint8_t *)phi__arena_zero(scratch, (size_t)(end - first));
    uint64_t seq;
    for (size_t i = 0; marks != NULL && i < count; i++) {
        const phi_view_item *it = &items[i];
        if ((it->flags & PHI_ITEM_SYNTHETIC) == 0) {
            if (it->from >= first && it->from < end) marks[it->from - first] = PHI__DESCRIBE_SHOWN;
            continue;
        }
        /* messages that replace the same entries are handled once */
        if (i > 0 && items[i - 1].from == it->from && items[i - 1].to == it->to) continue;
        for (seq = it->from < first ? first : it->from; seq <= it->to && seq < end; seq++)
            if (marks[seq - first] == PHI__DESCRIBE_HIDDEN)
                marks[seq - first] = PHI__DESCRIBE_REPLACED;
    }
    return marks;
}

static void phi__describe_head(phi__describe *d, const phi_thread *thread, uint64_t end,
                               const phi_lane_figures *f) {
    phi__describe_n(d->out, end, "entry", "entries");
    if (end < phi_thread_count(thread))
        phi__buf_printf(d->out, " of %llu", (unsigned long long)phi_thread_count(thread));
    phi__buf_text(d->out, ", ");
    phi__describe_n(d->out, phi__thread_lanes(thread), "lane", "lanes");
    if (end == phi_thread_count(thread)) {
        phi__buf_text(d->out, "; runs that ended took ");
        phi__describe_usage(d->out, &thread->counted.usage);
    }
    phi__buf_text(d->out, "\nlane \"");
    phi__describe_name(d->out, d->lane);
    phi__buf_text(d->out, "\" shows ");
    phi__describe_n(d->out, f->messages, "message", "messages");
    phi__buf_printf(d->out, ", %llu tokens: %llu of the user, ", (unsigned long long)f->tokens,
                    (unsigned long long)f->user);
    phi__describe_n(d->out, f->answers, "answer, ", "answers, ");
    phi__describe_n(d->out, f->results, "result", "results");
    if (f->extensions > 0) {
        phi__buf_text(d->out, ", ");
        phi__describe_n(d->out, f->extensions, "extension", "extensions");
    }
    if (f->made > 0)
        phi__buf_printf(d->out, "; %llu made by rewrites", (unsigned long long)f->made);
    if (f->open_calls > 0) {
        phi__buf_text(d->out, "; ");
        phi__describe_n(d->out, f->open_calls, "call open", "calls open");
    }
    phi__buf_char(d->out, '\n');
}

/* A message made by a rewrite of another log counts as this log's own, if phi_agent_new_session or
   a fork carried it over. */
static phi__describe_mark phi__describe_carried(const phi__describe *d, const phi_entry *e,
                                                phi__describe_mark mark) {
    if ((e->flags & PHI_ITEM_SYNTHETIC) == 0) return mark;
    for (size_t i = 0; i < d->item_count; i++)
        if (d->items[i].message == e->message) return PHI__DESCRIBE_SHOWN;
    return mark;
}

static phi_status phi__describe_entries(phi__describe *d, const phi_thread *thread, uint64_t first,
                                        uint64_t end, const uint8_t *marks) {
    for (uint64_t seq = first; seq < end; seq++) {
        phi_entry e;
        phi_status status = phi_thread_entry(thread, seq, &e);
        if (status != PHI_OK) return status;
        while (d->open_at > 0 && d->open->calls[d->open_at - 1].seq < seq) d->open_at--;
        phi__describe_mark mark =
            phi__describe_carried(d, &e, (phi__describe_mark)marks[seq - first]);
        phi__buf_printf(d->out, "%llu ", (unsigned long long)e.seq);
        if (e.kind != PHI_ENTRY_LANE && e.kind != PHI_ENTRY_SWITCH &&
            !phi_str_equal(e.lane, d->lane)) {
            phi__buf_char(d->out, '[');
            phi__describe_name(d->out, e.lane);
            phi__buf_text(d->out, "] ");
        }
        if (e.kind == PHI_ENTRY_MESSAGE)
            phi__describe_message(d, &e, mark);
        else
            phi__describe_other(d, &e);
        phi__buf_char(d->out, '\n');
    }
    return PHI_OK;
}

static phi_status phi__describe_write(phi__describe *d, const phi_thread *thread,
                                      const phi_describe *wanted, phi_arena *scratch,
                                      phi_lane_figures *out) {
    uint64_t count = phi_thread_count(thread);
    uint64_t end = wanted->before != 0 && wanted->before < count ? wanted->before : count;
    uint64_t most = wanted->last == 0 ? (uint64_t)PHI__DESCRIBE_LAST : wanted->last;
    uint64_t first = wanted->last != PHI_UNLIMITED && end > most ? end - most : 0;
    uint64_t base = thread->log.base;
    const phi_view_item *items;
    phi__figures_walk walk;
    size_t n;
    if (first < base) first = base;
    if (end < first && d->out != NULL) return PHI_NOT_FOUND;
    phi_status status = phi_thread_view(thread, wanted->lane, end < count ? end - 1 : UINT64_MAX,
                                        scratch, &items, &n);
    if (status != PHI_OK) return status;
    if (!phi__figures_room(&walk, items, n, scratch)) return PHI_NO_MEMORY;
    for (size_t i = n; i > 0; i--) {
        const phi_message *m = items[i - 1].message;
        if (m->role == PHI_ROLE_TOOL_RESULT) {
            phi__figures_id *place = phi__figures_place(&walk, m->tool_call_id);
            place->id = m->tool_call_id;
            place->used = place->waits = true;
        }
        if (m->role == PHI_ROLE_ASSISTANT) phi__figures_answer(&walk, &items[i - 1]);
    }
    *out = phi__figures_of(items, n, &walk);
    if (d->out == NULL) return PHI_OK;
    uint8_t *marks = phi__describe_marks(items, n, first, end, scratch);
    if (marks == NULL) return PHI_NO_MEMORY;
    d->items = items;
    d->item_count = n;
    d->open = &walk;
    d->open_at = walk.count;
    d->lane = wanted->lane != NULL ? phi_str_of(wanted->lane)
                                   : phi__lane_name(thread, thread->lanes.active);
    d->text_bytes = wanted->text_bytes == 0 ? (size_t)PHI__DESCRIBE_TEXT : wanted->text_bytes;
    if (wanted->text_bytes == PHI_UNLIMITED) d->text_bytes = SIZE_MAX;
    phi__describe_head(d, thread, end, out);
    return phi__describe_entries(d, thread, first, end, marks);
}

/* ---- public ---- */

PHI_API phi_status phi_thread_describe(const phi_thread *thread, const phi_describe *describe,
                                       phi_arena *arena, phi_str *out, phi_lane_figures *figures) {
    phi_lane_figures found;
    phi_arena scratch;
    phi__buf text;
    if (thread == NULL || (out == NULL && figures == NULL) || (out != NULL && arena == NULL))
        return PHI_BAD_ARG;
    phi_describe plain = PHI_ZERO;
    phi__describe d = PHI_ZERO;
    phi_memory *memory = arena != NULL ? arena->memory : thread->log.memory;
    phi_arena_init(&scratch, memory, 0);
    phi__buf_init(&text, memory);
    if (out != NULL) d.out = &text;
    phi_status status =
        phi__describe_write(&d, thread, describe != NULL ? describe : &plain, &scratch, &found);
    if (status == PHI_OK && out != NULL &&
        (text.failed || !phi__arena_str(arena, phi__buf_str(&text), out)))
        status = PHI_NO_MEMORY;
    if (status == PHI_OK && figures != NULL) *figures = found;
    phi__buf_free(&text);
    phi_arena_free(&scratch);
    return status;
}
