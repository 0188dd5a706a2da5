/* game24_mind.h - the mind of game24_model.h: it reads what a strategy asks, and answers in the form that was asked
   for, as well as the player of game24.h can. A call that works one position out is surer than one that writes a whole
   answer at a glance. */
#ifndef GAME24_MIND_H
#define GAME24_MIND_H

#include "game24_words.h"

static bool g24_is_24(g24_model *m, const g24_state *s, g24_care care) {
    return s->n == 1 && g24_seems(s, care, &m->seed);
}

/* Tries to come to 24 until it seems to be so. False: the last try is `end`. */
static bool g24_search(g24_model *m, const g24_state *from, int tries, g24_state *end) {
    while (tries-- > 0) {
        *end = g24_finish(from, g24_as(m, G24_WRITTEN), &m->seed);
        if (g24_is_24(m, end, g24_as(m, G24_WRITTEN))) return true;
    }
    return false;
}

/* ---- what strategies ask ---- */

static void g24_propose(g24_model *m, const g24_state *begin, bool json) {
    const char *from = json ? strstr(m->said, "\nStep 1: ") : strstr(m->said, "refine thought [");
    const char *wanted = strstr(m->said, "Propose ");
    int n = wanted != NULL ? atoi(wanted + 8) : 3, i;
    g24_state at = *begin, next;
    if (json)
        while (from != NULL) { /* the last step */
            (void)g24_hear_step(from + 9, strcspn(from + 9, "\n"), &at);
            from = strstr(from + 9, "\nStep ");
        }
    for (i = 0; !json && from != NULL && i < m->count; i++)
        if (m->ids[i] == atoi(from + 16)) at = m->listed[i];
    if (json) g24_say(m, "{\"thoughts\":[");
    for (i = 0; i < n && at.n > 1; i++) {
        next = g24_step(&at, g24_as(m, G24_GLANCE), &m->seed);
        if (json)
            g24_say(m, i > 0 ? ",\"" : "\"");
        else
            g24_say(m, "%d. ", i + 1);
        g24_say_step(m, &next);
        g24_say(m, json ? "\"" : "\n");
    }
    if (json) g24_say(m, "]}");
}

static double g24_mark(g24_model *m, const g24_state *s) {
    if (!g24_seems(s, g24_as(m, G24_REVIEW), &m->seed)) return 0.1 + 0.2 * g24_chance(&m->seed);
    return s->n == 1 ? 1.0 : 0.6 + 0.3 * g24_chance(&m->seed);
}

static void g24_judge(g24_model *m, const char *system) {
    bool scores = strstr(system, "\"scores\"") != NULL, weights = strstr(system, "WEIGHT:") != NULL;
    double best = -1, mark;
    int i, chosen = 0;
    if (scores) g24_say(m, "{\"scores\":{");
    for (i = 0; i < m->count; i++) {
        mark = g24_mark(m, &m->listed[i]);
        if (scores) g24_say(m, "%s\"t%d\":%.2f", i > 0 ? "," : "", m->ids[i], mark);
        if (weights) g24_say(m, "WEIGHT: [%d] : %.2f\n", m->ids[i], mark);
        if (mark <= best) continue;
        best = mark;
        chosen = i;
    }
    if (scores) g24_say(m, "}}");
    if (m->count == 0 || scores || weights) return;
    if (strstr(system, "VOTE:") != NULL) g24_say(m, "VOTE: [%d]", m->ids[chosen]);
    for (i = 0; strstr(system, "CONNECTION:") != NULL && i < m->count; i++)
        if (i != chosen)
            g24_say(m, "CONNECTION: [%d] -> [%d] : the second one leads further\n", m->ids[i],
                    m->ids[chosen]);
}

/* One answer out of all thoughts: the first one that can be brought to 24. */
static void g24_compose(g24_model *m, const g24_state *begin) {
    g24_state end = *begin;
    int i;
    for (i = 0; i < m->count; i++)
        if (g24_seems(&m->listed[i], g24_as(m, G24_WRITTEN), &m->seed) &&
            g24_search(m, &m->listed[i], 1, &end))
            break;
    if (end.n > 1) end = g24_finish(begin, g24_as(m, G24_WRITTEN), &m->seed);
    g24_say(m, "Answer: %s", end.at[0].text);
}

static void g24_review(g24_model *m, const int numbers[4]) {
    g24_state end;
    end.n = 1;
    if (g24_answer(m->said, numbers, &end.at[0].value) && g24_is_24(m, &end, g24_as(m, G24_REVIEW)))
        g24_say(m, "STRENGTH: it makes 24\nSCORE: 1.0");
    else
        g24_say(m, "ISSUE: it does not make 24\nSUGGESTION: begin with another step\nSCORE: %.2f",
                0.1 + 0.4 * g24_chance(&m->seed));
}

/* Notes: the first step that seems right when it is all that it looks at. */
static void g24_note(g24_model *m, const g24_state *begin) {
    g24_state next = g24_step(begin, g24_as(m, G24_REVIEW), &m->seed);
    g24_say(m, "Begin with ");
    g24_say_step(m, &next);
}

/* The position that its notes begin with; else the first one. */
static g24_state g24_noted(g24_model *m, const g24_state *begin) {
    const char *notes = strstr(m->said, "Your notes:\nBegin with ");
    g24_state at = *begin;
    if (notes != NULL && !g24_hear_step(notes + 23, strcspn(notes + 23, "\n"), &at)) at = *begin;
    return at;
}

/* ---- the answer to a request, which is in `said` ---- */

/* tools: the model has one that computes; it tries expressions with it. */
static void g24_think(g24_model *m, const char *system, const int numbers[4], bool tools) {
    g24_state begin, end;
    g24_begin(&begin, numbers);
    g24_hear_list(m);
    if (strstr(system, "\"thoughts\"") != NULL)
        g24_propose(m, &begin, true);
    else if (strstr(system, "numbered lines and") != NULL)
        g24_propose(m, &begin, false);
    else if (strstr(system, "\"scores\"") != NULL || strstr(system, "CONNECTION:") != NULL ||
             strstr(system, "VOTE:") != NULL || strstr(system, "WEIGHT:") != NULL)
        g24_judge(m, system);
    else if (strstr(m->said, "Compose the answer.") != NULL)
        g24_compose(m, &begin);
    else if (strstr(system, "SCORE:") != NULL)
        g24_review(m, numbers);
    else if (strstr(system, "Write the notes anew") != NULL)
        g24_note(m, &begin);
    else if (strstr(m->said, "answer: <") != NULL) { /* a search in one answer */
        if (g24_search(m, &begin, G24_TRIES, &end)) g24_say(m, "answer: %s", end.at[0].text);
    } else if (tools) {
        end = g24_finish(&begin, g24_as(m, G24_WRITTEN), &m->seed);
        memcpy(m->expression, end.at[0].text, G24_TEXT);
    } else if (strstr(system, "Conclusion:") != NULL) { /* it checks once */
        (void)g24_search(m, &begin, 2, &end);
        g24_say(m, "Conclusion: %s", end.at[0].text);
    } else {
        bool written = strstr(system, "####") != NULL || strstr(system, "Answer:") != NULL;
        begin = g24_noted(m, &begin);
        end = g24_finish(&begin, g24_as(m, written ? G24_WRITTEN : G24_GLANCE), &m->seed);
        g24_say(m, strstr(system, "####") != NULL ? "#### %s" : "Answer: %s", end.at[0].text);
    }
}

#endif
