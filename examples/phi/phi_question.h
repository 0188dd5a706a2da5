/* phi_question.h - a question for a person: what a tool wants to run, in rows that fit the window, and which keys
   answer it. Copy what you need of it. Each row of a command is marked, so that none looks like the program's: "|"
   begins a line, "+" continues the row before. Where not all rows fit, those between the first and last are counted.
   Nothing counts as an answer that may have been typed before the question was read, or is the beginning of a sentence:
   an answer is a single key on an empty line, followed by nothing for QUESTION_MS, or a word and Enter. */
#ifndef PHI_QUESTION_H
#define PHI_QUESTION_H

#include "phi_calls.h"
#include "phi_keys.h"
#include "phi_marked.h"

enum { QUESTION_MS = 250, QUESTION_ROWS = 40, QUESTION_LEAST = 5 };

/* Zero to begin with; again with question_free. */
typedef struct question {
    bool asking, with_always;
    bool fits;             /* as it was last laid out: enough is to be seen for a yes */
    bool offers;           /* ... and for an "always" */
    bool cut;              /* ... and not all of it */
    bool above;            /* all of it stands in the transcript */
    bool printed;          /* where there is no screen: it was printed */
    bool open;             /* the line was empty since keys count */
    phi_pending_item item; /* its strings are gone after the next step */
    phi_permission_rules always;
    text head, body, why, rules; /* safe to show, in lines */
    text rows, rule_rows;        /* the body and the rules in rows of so many columns */
    int columns;
    uint64_t shown_ms, key_ms, last_ms; /* last: of any key */
    char key;                           /* waits to be followed by nothing; 0: none */
} question;

/* What is asked, and below it a rule a line; head and rules are those of the item's kind. */
static inline void question_set(question *q, const phi_pending_item *item, phi_arena *arena) {
    phi_str argument = calls_argument(arena, item->arguments);
    q->item = *item;
    q->head.len = q->body.len = q->why.len = q->rules.len = 0;
    q->columns = 0;
    q->with_always = q->above = q->printed = q->open = q->cut = false;
    q->key = 0;
    if (item->kind == PHI_WAITING_BUDGET) {
        text_say(&q->head, "The run has paused. Shall it go on, with as much again?");
        text_strict(&q->body, item->text);
        return;
    }
    text_fit(&q->head, item->tool_name, 200);
    text_say(&q->head, " wants to run:");
    text_strict(&q->body, argument);
    if (phi_str_equal(argument, item->arguments) ||
        phi_str_equal(item->tool_name, phi_str_of("bash")))
        return;
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
    q->rows.len = q->rule_rows.len = 0;
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
    int body, rules, least, room;
    size_t before = out->len;
    text part = {NULL, 0, 0};
    question_layout(q, columns < 16 ? 16 : columns);
    body = marked_count(&q->rows);
    rules = marked_count(&q->rule_rows);
    least = 1 + (body < QUESTION_LEAST ? body : QUESTION_LEAST);
    if (most <= 0) most = 1 + body + rules + 1;
    q->fits = columns >= 16 && most >= least;
    q->offers = q->with_always && q->fits && most >= least + rules;
    room = most - 1 - (q->offers ? rules : 0) - (q->why.len > 0 && most > least ? 1 : 0);
    q->cut = body > room;
    text_fit(out, text_str(&q->head), columns);
    text_say(out, "\n");
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

/* Head and body, whole, for the transcript. */
static inline void question_whole(question *q, int columns, text *out) {
    question_layout(q, columns < 16 ? 16 : columns);
    text_add(out, q->head.at, q->head.len);
    text_say(out, "\n");
    text_add(out, q->rows.at, q->rows.len);
}

static inline void question_keys(text *out, const question *q) {
    bool budget = q->item.kind == PHI_WAITING_BUDGET;
    text_say(out, !q->fits    ? "n: no | a yes wants a larger window"
                  : budget    ? "y: go on | n: stop"
                  : q->offers ? "y: once | n: no | a: always"
                              : "y: once | n: no");
}

/* The answer that a letter or a word means: 'y', 'a', 'n'; 0: none, or none that can be given. */
static inline char question_answer(const question *q, const char *word) {
    static const char *const words[] = {"y", "yes", "n", "no", "a", "always"};
    size_t i;
    for (i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(word, words[i]) == 0) break;
    if (i == sizeof words / sizeof *words || (word[0] != 'n' && !q->fits)) return 0;
    return word[0] == 'a' && !q->offers ? 0 : word[0];
}

/* It stands on the screen from now on, and keys count a moment later. */
static inline void question_shown(question *q) { q->shown_ms = keys_now_ms(); }

/* A key, before the line gets it; line: what was typed so far. *answer: what it means; 0: nothing. True: the line does
   not get it. */
static inline bool question_press(question *q, int key, const char *character, bool pasted,
                                  const char *line, char *answer) {
    bool early = keys_now_ms() - q->last_ms <= QUESTION_MS, empty = line[0] == '\0';
    bool unread = keys_now_ms() - q->shown_ms <= QUESTION_MS;
    bool writes = key == KEY_TEXT || key == KEY_NEWLINE || key == KEY_ENTER;
    *answer = q->key = 0;
    q->last_ms = keys_now_ms();
    if (unread) return empty && writes; /* typed before it could be read */
    if (empty) q->open = true;
    if (key == KEY_TEXT && empty && !early && !pasted && question_answer(q, character) != 0) {
        q->key = character[0];
        q->key_ms = q->last_ms;
    }
    if (key != KEY_ENTER || !q->open) return false;
    *answer = question_answer(q, line);
    return *answer != 0;
}

/* The answer of a key that nothing followed; more: something that is no key yet has come. 0: none. */
static inline char question_waited(question *q, bool more) {
    char answer = q->key;
    if (answer == 0 || more || keys_now_ms() - q->key_ms < QUESTION_MS) return 0;
    q->key = 0;
    return answer;
}

static inline void question_free(question *q) {
    free(q->head.at), free(q->body.at);
    free(q->why.at), free(q->rules.at);
    free(q->rows.at), free(q->rule_rows.at);
}

#endif
