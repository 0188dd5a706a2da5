/* compact_lines.c - see compact_lines_in.h. */
#include "history/compact_lines_in.h"

#include "base/utf8_in.h"
#include "model/texts_in.h"

enum {
    PHI__COMPACT_FRAME = 20,       /* tokens of a summary besides its lines: its role, the marker */
    PHI__COMPACT_MOST = 0x3fffffff /* tokens of a summary at most */
};

PHI__FN bool phi__compact_lines_stays(const phi__compacting *c, size_t item) {
    return c->durable != NULL && c->durable[item] != 0;
}

PHI__FN bool phi__compact_lines_is_summary(const phi_view_item *item) {
    return (item->flags & PHI_ITEM_SUMMARY) != 0;
}

typedef struct phi__compact_lines {
    phi_str *at; /* filled from the end: the newest first */
    size_t cap, count, total;
    uint64_t tokens, most;
    uint64_t left_out; /* messages without a line, here and in earlier summaries */
    bool full;
    phi__buf made; /* the line that is being made */
} phi__compact_lines;

/* All texts of a message as one line, of at most `most` bytes without its label. */
static void phi__compact_lines_of(const phi__compacting *c, const phi_message *message, size_t most,
                                  phi__buf *out) {
    char body[PHI__COMPACT_TEXT];
    bool user = message->role == PHI_ROLE_USER;
    phi__texts_args args;
    size_t n = 0, i, j;
    memset(&args, 0, sizeof args);
    for (i = 0; i < message->content_count; i++) {
        const phi_content *block = &message->content[i];
        phi_str text = phi__str_trim(block->text);
        if (block->kind == PHI_CONTENT_TOOL_CALL) args.n++;
        if (block->kind != PHI_CONTENT_TEXT || text.len == 0 || n >= most) continue;
        if (n > 0) body[n++] = ' ';
        text.len = phi__utf8_cut(text, most - n);
        for (j = 0; j < text.len; j++)
            body[n++] = (unsigned char)text.at[j] < ' ' ? ' ' : text.at[j];
    }
    args.text = phi__str(body, n);
    phi__texts_put(out, c->config.texts,
                   n > 0         ? (user ? PHI_TEXT_SUMMARY_USER : PHI_TEXT_SUMMARY)
                   : user        ? PHI_TEXT_SUMMARY_USER_EMPTY
                   : args.n == 0 ? PHI_TEXT_SUMMARY_ANSWER_EMPTY
                                 : PHI_TEXT_SUMMARY_CALLS,
                   &args);
}

static bool phi__compact_lines_has_line(const phi__compacting *c, size_t item) {
    const phi_message *m = c->items[item].message;
    return !phi__compact_lines_stays(c, item) &&
           !m->is_update && /* the next request says it again */
           (m->role == PHI_ROLE_USER || m->role == PHI_ROLE_ASSISTANT);
}

/* The text of an earlier summary; empty for the focus that stands before it. */
static phi_str phi__compact_lines_summary_text(const phi__compacting *c,
                                               const phi_message *message) {
    phi_str text = message->content_count > 0 ? message->content[0].text : phi__str("", 0);
    if (c->config.focus_message != NULL && phi__str_is(text, c->config.focus_message)) text.len = 0;
    return text;
}

/* Takes the last line off a text. */
static phi_str phi__compact_lines_last_line(phi_str *text) {
    size_t n = text->len;
    phi_str line;
    while (n > 0 && text->at[n - 1] != '\n') n--;
    line = phi__str(text->at + n, text->len - n);
    text->len = n > 0 ? n - 1 : 0;
    return line;
}

/* After the first line without room, all are only counted. */
static bool phi__compact_lines_add_line(const phi__compacting *c, phi__compact_lines *lines,
                                        phi_str line, bool copy) {
    uint64_t tokens = phi_tokens_of_text(c->counter, line) + 1; /* its line break */
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

/* The lines of an item, the last first. bytes 0: only those of an earlier summary. */
static bool phi__compact_lines_add_item(const phi__compacting *c, phi__compact_lines *lines,
                                        size_t at, size_t bytes) {
    const phi_view_item *item = &c->items[at];
    phi_str text;
    if (!phi__compact_lines_has_line(c, at)) return true;
    if (!phi__compact_lines_is_summary(item)) {
        if (bytes == 0) return true;
        phi__buf_clear(&lines->made);
        phi__compact_lines_of(c, item->message, bytes, &lines->made);
        return !lines->made.failed &&
               phi__compact_lines_add_line(c, lines, phi__buf_str(&lines->made), true);
    }
    for (text = phi__compact_lines_summary_text(c, item->message); text.len > 0;)
        if (!phi__compact_lines_add_line(c, lines, phi__compact_lines_last_line(&text), false))
            return false;
    return true;
}

static bool phi__compact_lines_add_items(const phi__compacting *c, phi__compact_lines *lines,
                                         size_t from, size_t to, size_t bytes) {
    for (; to > from; to--)
        if (!phi__compact_lines_add_item(c, lines, to - 1, bytes)) return false;
    return true;
}

/* Short lines of all are better than long ones of the newest. */
static bool phi__compact_lines_gather(const phi__compacting *c, phi__compact_lines *lines,
                                      const phi__compact_section *s) {
    static const size_t bytes[] = {PHI__COMPACT_TEXT, 100, 50};
    phi_arena_mark mark = phi_arena_save(c->arena);
    size_t i;
    for (i = 0; i < PHI__COUNT(bytes); i++) {
        phi_arena_reset(c->arena, mark);
        lines->count = lines->total = 0;
        lines->tokens = lines->left_out = 0;
        lines->full = false;
        if (!phi__compact_lines_add_items(c, lines, s->first, s->end, s->carries ? 0 : bytes[i]))
            return false;
        if (lines->count == lines->total || s->carries) return true;
    }
    return true;
}

static bool phi__compact_lines_join(const phi__compacting *c, const phi__compact_lines *lines,
                                    phi_str *out) {
    phi__texts_args args;
    phi__buf text;
    size_t i;
    bool done;
    memset(&args, 0, sizeof args);
    args.n = lines->left_out;
    phi__buf_init(&text, c->arena->memory);
    if (lines->left_out > 0)
        phi__texts_put(&text, c->config.texts, PHI_TEXT_SUMMARY_LEFT_OUT, &args);
    for (i = lines->count; i > 0; i--) {
        if (text.len > 0) phi__buf_char(&text, '\n');
        phi__buf_add_str(&text, lines->at[i - 1]);
    }
    done = !text.failed && phi__arena_str(c->arena, phi__buf_str(&text), out);
    phi__buf_free(&text);
    return done;
}

static phi_status phi__compact_lines_add_message(const phi__compacting *c, phi__compact_section *s,
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

PHI__FN phi_status phi__compact_lines_sum_up(const phi__compacting *c, phi__compact_section *s) {
    phi__compact_lines lines;
    phi_str text = phi_str_of(c->config.focus_message);
    size_t i, cap = 0;
    bool done;
    memset(&lines, 0, sizeof lines);
    lines.most = c->config.max_summary_tokens < PHI__COMPACT_MOST ? c->config.max_summary_tokens
                                                                  : (uint64_t)PHI__COMPACT_MOST;
    if (text.len > 0 && phi_tokens_of_text(c->counter, text) <= lines.most / 2) {
        if (phi__compact_lines_add_message(c, s, text) != PHI_OK) return PHI_NO_MEMORY;
        lines.most -= phi__min((size_t)s->after, (size_t)lines.most);
    }
    for (i = s->first; i < s->end; i++)
        cap = phi__add(cap, !phi__compact_lines_is_summary(&c->items[i]) ? 1
                            : c->items[i].message->content_count == 0
                                ? 0
                                : c->items[i].message->content[0].text.len + 1);
    lines.most -= phi__min(PHI__COMPACT_FRAME, (size_t)lines.most / 2);
    lines.cap = phi__min(cap, (size_t)lines.most); /* a line has a token at least */
    lines.at =
        (phi_str *)phi_arena_alloc(c->arena, phi__mul(phi__max(lines.cap, 1), sizeof *lines.at));
    phi__buf_init(&lines.made, c->arena->memory);
    done = lines.at != NULL && phi__compact_lines_gather(c, &lines, s) &&
           phi__compact_lines_join(c, &lines, &text);
    phi__buf_free(&lines.made);
    if (!done) return PHI_NO_MEMORY;
    return text.len > 0 ? phi__compact_lines_add_message(c, s, text) : PHI_OK;
}
