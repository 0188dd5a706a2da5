/* phi_answer.h - which keys answer a question. Copy what you need of it.

   Nothing counts as an answer that may have been typed before the question was read, is pasted, or is the beginning of a
   sentence: an answer is a single key on an empty line, followed by nothing for QUESTION_MS, or a word and Enter. */
#ifndef PHI_ANSWER_H
#define PHI_ANSWER_H

#include "phi_question.h"

enum { ANSWER_BURST_MS = 20 }; /* no person types two keys as close as this */

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

/* It is on the screen from now on, and keys count a moment later. */
static inline void question_shown(question *q) {
    q->shown_ms = keys_now_ms();
    q->seen = true;
    q->key = 0;
}

/* A key, before the line gets it; line: what was typed so far. *answer: what it means; 0: nothing. True: the line does
   not get it. */
static inline bool question_press(question *q, int key, const char *character, bool pasted,
                                  const char *line, char *answer) {
    uint64_t since_ms = keys_now_ms() - q->last_ms;
    bool early = since_ms <= QUESTION_MS, empty = line[0] == '\0';
    bool unread = !q->seen || keys_now_ms() - q->shown_ms <= QUESTION_MS;
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
    if (*answer == 0) return false;
    if (since_ms <= KEYS_ESCAPE_MS)
        *answer = 0; /* it came with the word: a paste without brackets */
    return true;
}

/* The answer of a key that nothing followed; more: something that is no key yet has come. 0: none. */
static inline char question_waited(question *q, bool more) {
    char answer = q->key;
    char word[2] = {answer, '\0'};
    if (answer == 0 || more || keys_now_ms() - q->key_ms < QUESTION_MS) return 0;
    q->key = 0;
    return question_answer(q, word); /* the window may have become too small */
}

#endif
