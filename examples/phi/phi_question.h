/* phi_question.h - a question for a person: what a tool wants to run, in rows that fit the window. Copy what you need of
   it. Each row of a command is marked, so that none looks like the program's: "|" begins a line, "+" continues the row
   before. Where not all rows fit, those between the first and last are counted. */
#ifndef PHI_QUESTION_H
#define PHI_QUESTION_H

#include "phi_calls.h"
#include "phi_change.h"
#include "phi_keys.h"
#include "phi_marked.h"
#include "phi_rows.h"

enum { QUESTION_MS = 250, QUESTION_ROWS = 40, QUESTION_LEAST = 5 };
enum { QUESTION_KEYS = 27 }; /* columns of the keys with "always" */

/* Zero to begin with; again with question_free. */
typedef struct question {
    bool asking, with_always;
    bool fits;             /* as it was last laid out: enough is to be seen for a yes */
    bool offers;           /* ... and for an "always" */
    bool cut;              /* ... and not all of it */
    bool above;            /* all of it stands in the transcript */
    bool printed;          /* where there is no screen: it was printed */
    bool open;             /* the line was empty since keys count */
    bool seen;             /* it was drawn as it is now; keys from before are dropped */
    bool nested;           /* a sub-agent asks */
    bool reads;            /* files are those of the current directory */
    bool change;           /* the body is the change of a file */
    phi_pending_item item; /* its strings are gone after the next step */
    phi_permission_rules always;
    text head, body, why, rules;     /* safe to show, in lines */
    text head_rows, rows, rule_rows; /* head, body and rules in rows of so many columns */
    int columns;
    uint64_t shown_ms, key_ms, last_ms; /* last: of any key */
    char key;                           /* waits to be followed by nothing; 0: none */
} question;

/* Adds a name, whole, with its blanks spelled out: it never reads like a sentence. */
static inline void question_name(text *out, phi_str name) {
    text strict = {NULL, 0, 0};
    size_t i;
    text_strict(&strict, name);
    for (i = 0; i < strict.len; i++)
        if (strchr(" \t\n", strict.at[i]) != NULL)
            text_print(out, "<U+%04X>", (unsigned)(unsigned char)strict.at[i]);
        else
            text_add(out, strict.at + i, 1);
    free(strict.at);
}

/* What is asked, and below it a rule a line; head and rules are those of the item's kind. */
static inline void question_set(question *q, const phi_pending_item *item, phi_arena *arena) {
    phi_str argument = calls_argument(arena, item->arguments);
    q->item = *item;
    q->head.len = q->body.len = q->why.len = q->rules.len = 0;
    q->columns = 0;
    change_call call = {item->tool_name, item->source, item->arguments, q->reads};
    q->with_always = q->change = q->above = q->printed = q->open = q->cut = q->seen = false;
    q->key = 0;
    if (item->kind == PHI_WAITING_BUDGET) {
        text_say(&q->head, "The run has paused. Shall it go on, with as much again?");
        text_strict(&q->body, item->text);
        return;
    }
    text_say(&q->head, q->nested ? "A sub-agent: " : "");
    question_name(&q->head, item->tool_name);
    text_say(&q->head, item->source.len > 0 ? " of " : "");
    text_fit(&q->head, item->source, 200);
    text_say(&q->head, " wants to run:");
    if ((q->change = change_shown(&q->body, &call, arena))) return;
    text_strict(&q->body, argument);
    if (calls_is_whole(arena, item->arguments, argument)) return;
    text_say(&q->body, "\n");
    text_strict(&q->body, item->arguments);
}

/* "Always" is offered by these rules; or not, and `why` says why. */
static inline void question_always(question *q, const phi_permission_rules *rules, phi_str why) {
    text lines = {NULL, 0, 0};
    size_t i;
    q->with_always = rules->count > 0;
    q->always = *rules;
    for (i = 0; i < rules->count; i++) {
        if (i > 0) text_say(&lines, "\n");
        calls_rule(&lines, &rules->rules[i]);
    }
    text_strict(&q->rules, text_str(&lines));
    if (why.len > 0) text_say(&q->why, "  not always: ");
    text_fit(&q->why, why, 400);
    free(lines.at);
}

/* The one rule is about all of the arguments, or is the tool's name and the command as shown above. */
static inline bool question_is_exact(const question *q) {
    size_t name = q->rules.len - q->body.len;
    const phi_permission_rule *rule = q->always.rules;
    if (q->always.count != 1) return false;
    if (rule->matches != NULL && rule->argument == NULL) return true;
    return q->body.len > 0 && q->rules.len > q->body.len &&
           memchr(q->rules.at, ' ', q->rules.len) == q->rules.at + name - 1 &&
           memcmp(q->rules.at + name, q->body.at, q->body.len) == 0;
}

static inline void question_layout(question *q, int columns) {
    if (q->columns == columns) return;
    q->columns = columns;
    q->head_rows.len = q->rows.len = q->rule_rows.len = 0;
    marked_wrap(&q->head_rows, &q->head, columns);
    text_remove(&q->head_rows, 0, 4); /* its first row is the program's */
    marked_wrap(&q->rows, &q->body, columns);
    if (!q->with_always) return;
    text_say(&q->rule_rows, question_is_exact(q) ? "  always would allow: this very line\n"
                                                 : "  always would allow:\n");
    if (!question_is_exact(q)) marked_wrap(&q->rule_rows, &q->rules, columns);
}

/* The first rows of the body, how much is between, and the last ones. */
static inline void question_between(const question *q, int all, int room, text *out) {
    int first = room / 2, last = room - 1 - first;
    size_t from = marked_row(&q->rows, first), to = marked_row(&q->rows, all - last), i;
    size_t characters = 0;
    for (i = from; i < to; i++)
        characters += ((unsigned char)q->rows.at[i] & 0xC0) != 0x80 && q->rows.at[i] != '\n';
    characters -= 4 * (size_t)(all - room + 1);
    text_add(out, q->rows.at, from);
    text_print(out, "  ... %d rows not shown, %u characters ...\n", all - room + 1,
               (unsigned)characters);
    text_add(out, q->rows.at + to, q->rows.len - to);
}

/* Adds it in at most `most` rows, and sees what fits. most 0: all of it. How many rows. */
static inline int question_rows(question *q, int columns, int most, text *out) {
    int body, rules, head, least, room;
    size_t before = out->len;
    text part = {NULL, 0, 0};
    question_layout(q, columns < 16 ? 16 : columns);
    body = marked_count(&q->rows);
    rules = marked_count(&q->rule_rows);
    head = marked_count(&q->head_rows);
    least = head + (body < QUESTION_LEAST ? body : QUESTION_LEAST);
    if (most <= 0) most = head + body + rules + 1;
    q->fits = columns >= 16 && most >= least;
    q->offers = q->with_always && q->fits && columns >= QUESTION_KEYS && most >= least + rules;
    room = most - head - (q->offers ? rules : 0) - (q->why.len > 0 && most > least ? 1 : 0);
    q->cut = body > room;
    if (q->fits)
        text_print(out, "%s\n", q->head_rows.at);
    else {
        text_fit(out, text_str(&q->head), columns);
        text_say(out, "\n");
    }
    if (q->fits && q->cut)
        question_between(q, body, room, out);
    else if (q->fits)
        text_add(out, q->rows.at, q->rows.len);
    else
        text_fit(out, phi_str_of("  (the window is too small to show it)"), columns);
    if (q->why.len > 0 && most > least) text_say(out, "\n");
    if (q->why.len > 0 && most > least) text_fit(out, text_str(&q->why), columns);
    if (q->offers) text_print(out, "\n%s", q->rule_rows.at);
    part.at = out->at + before, part.len = out->len - before;
    return marked_count(&part);
}

/* How a row looks, after one that looks like `before`: lines that go or come have their own colours. */
static inline style question_style(const question *q, phi_str row, style before) {
    bool begins = row.len > 4 && memcmp(row.at, "  | ", 4) == 0;
    char mark = begins ? change_mark(row.at + 4, row.len - 4) : ' ';
    if (q->change && row.len > 4 && memcmp(row.at, "  + ", 4) == 0) return before;
    return q->change && mark != ' ' ? (mark == '-' ? STYLE_BAD : STYLE_GOOD) : STYLE_ASK;
}

/* Head and body, whole, for the transcript. */
static inline void question_whole(question *q, int columns, text *out) {
    question_layout(q, columns < 16 ? 16 : columns);
    text_add(out, q->head_rows.at, q->head_rows.len);
    text_say(out, "\n");
    text_add(out, q->rows.at, q->rows.len);
}

static inline void question_free(question *q) {
    free(q->head.at), free(q->body.at);
    free(q->why.at), free(q->rules.at);
    free(q->head_rows.at), free(q->rows.at), free(q->rule_rows.at);
}

#endif
