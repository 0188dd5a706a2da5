/* adaptive_choose.c - how Adaptive chooses a strategy for a prompt. */
#include "strategy/adaptive_in.h"

#include "strategy/parse_in.h"

#ifndef PHI_NO_STRATEGIES

/* bytes of a prompt that are looked at: a choice must not hold up a frame */
enum { PHI__ADAPTIVE_LOOK = 8192 };

/* ---- words ---- */

static bool phi__adaptive_choose_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           ((unsigned char)c & 0x80) != 0;
}

/* The next word, from *at on. False: there is none. */
static bool phi__adaptive_choose_word(phi_str text, size_t *at, phi_str *word) {
    size_t i = *at, from;
    while (i < text.len && !phi__adaptive_choose_letter(text.at[i])) i++;
    for (from = i; i < text.len && phi__adaptive_choose_letter(text.at[i]);) i++;
    *word = phi__str(text.at + from, i - from);
    *at = i;
    return i > from;
}

/* How many words of the prompt, or pairs of them ("look up"), are in the list, which is separated
   by bars and ends with one. */
static uint32_t phi__adaptive_choose_count(phi_str prompt, const char *list) {
    phi_str word;
    size_t at = 0;
    uint32_t count = 0;
    while (phi__adaptive_choose_word(prompt, &at, &word)) {
        phi_str rest = phi__str(word.at, (size_t)(prompt.at + prompt.len - word.at)), behind;
        const char *entry, *bar;
        for (entry = list; (bar = strchr(entry, '|')) != NULL; entry = bar + 1) {
            char name[32];
            size_t len = (size_t)(bar - entry);
            if (len >= sizeof name) continue;
            memcpy(name, entry, len);
            name[len] = '\0';
            if (phi__parse_word(rest, name, &behind)) {
                count++;
                break;
            }
        }
    }
    return count;
}

/* ---- complexity ---- */

/* Ends of sentences; a point within a number is none. The last one needs no mark. */
static uint32_t phi__adaptive_choose_sentences(phi_str text) {
    uint32_t count = 0;
    bool open = false;
    size_t i;
    for (i = 0; i < text.len; i++) {
        char c = text.at[i];
        bool end = i + 1 == text.len || !phi__adaptive_choose_letter(text.at[i + 1]);
        if (phi__adaptive_choose_letter(c)) open = true;
        if (!open || (c != '.' && c != '!' && c != '?') || !end) continue;
        count++;
        open = false;
    }
    return count + (open ? 1u : 0u);
}

static double phi__adaptive_choose_part(uint32_t count, double most) {
    return count < most ? (double)count / most : 1.0;
}

PHI__FN double phi__adaptive_choose_complexity(phi_str prompt) {
    static const char keywords[] =
        "analyze|analyse|algorithm|architecture|complex|derive|design|evaluate|explain|"
        "implement|investigate|model|multi|multiple|optimal|optimize|optimise|plan|proof|prove|"
        "reason|recommend|simulate|solve|step by step|strategy|system|why|";
    static const char constraints[] = "at least|at most|cannot|constraint|constraints|except|"
                                      "exactly|fewer|less than|limit|maximum|minimum|more than|"
                                      "must|never|only|require|required|requires|should|unless|"
                                      "within|without|";
    uint32_t words = 0, asked = 0;
    size_t at = 0;
    phi_str word;
    while (phi__adaptive_choose_word(prompt, &at, &word)) words++;
    for (at = 0; at < prompt.len; at++) asked += prompt.at[at] == '?';
    asked += phi__adaptive_choose_count(prompt, constraints);
    return 0.3 * phi__adaptive_choose_part(words, 100) +
           0.2 * phi__adaptive_choose_part(phi__adaptive_choose_sentences(prompt), 5) +
           0.3 * phi__adaptive_choose_part(phi__adaptive_choose_count(prompt, keywords), 3) +
           0.2 * phi__adaptive_choose_part(asked, 5);
}

/* ---- the choice ---- */

/* The program's own string for a name; NULL: there is no such strategy. */
static const char *phi__adaptive_choose_known(const char *name) {
    static const char *const names[] = {"react", "cot", "cod", "aot", "tot", "got", "trm"};
    size_t i;
    for (i = 0; name != NULL && i < PHI__COUNT(names); i++)
        if (strcmp(name, names[i]) == 0) return names[i];
    return NULL;
}

static bool phi__adaptive_choose_available(const phi_adaptive_options *options, const char *name) {
    size_t i;
    if (options->available_count == 0) return strcmp(name, "aot") != 0;
    for (i = 0; i < options->available_count; i++)
        if (strcmp(options->available[i], name) == 0) return true;
    return false;
}

/* The first of three names that is available; the default where none is. */
static void phi__adaptive_choose_of(const phi_adaptive_options *options, const char *const *names,
                                    const char *reason, phi__adaptive_choice *out) {
    size_t i;
    for (i = 0; i < 3 && names[i] != NULL; i++) {
        if (!phi__adaptive_choose_available(options, names[i])) continue;
        out->name = names[i];
        out->reason = reason;
        return;
    }
}

static const char *phi__adaptive_choose_default(const phi_adaptive_options *options) {
    const char *name = phi__adaptive_choose_known(options->default_strategy);
    return name != NULL ? name : "react";
}

PHI__FN bool phi__adaptive_choose_may(const phi_adaptive_options *options, const char *name) {
    const char *always = phi__adaptive_choose_known(options->strategy);
    if (always != NULL) return strcmp(always, name) == 0;
    return strcmp(phi__adaptive_choose_default(options), name) == 0 ||
           phi__adaptive_choose_available(options, name);
}

PHI__FN const char *phi__adaptive_choose_reason(phi_str name) {
    static const char *const reasons[] = {"puzzle",      "synthesis",  "tools",
                                          "exploration", "complexity", "option"};
    size_t i;
    for (i = 0; i < PHI__COUNT(reasons); i++)
        if (phi__str_is(name, reasons[i])) return reasons[i];
    return "default";
}

PHI__FN phi__adaptive_choice phi__adaptive_choose(const phi_adaptive_options *options,
                                                  phi_str prompt) {
    static const struct {
        const char *reason, *words;
        const char *names[3];
    } kinds[] = {{"puzzle",
                  "brain teaser|crossword|game of 24|logic puzzle|puzzle|puzzles|riddle|riddles|"
                  "sudoku|",
                  {"trm", "tot", NULL}},
                 {"synthesis",
                  "combine|consolidate|graph|integrate|interconnected|merge|perspectives|"
                  "reconcile|synthesis|synthesise|synthesize|",
                  {"got", "tot", NULL}},
                 {"tools",
                  "browse|calculate|call|compute|download|execute|fetch|find|look up|lookup|"
                  "query|run|search|use|",
                  {"react", NULL, NULL}},
                 {"exploration",
                  "alternative|alternatives|approaches|brainstorm|compare|explore|options|"
                  "possibilities|pros and cons|trade-offs|tradeoffs|",
                  {"aot", "tot", "got"}}};
    static const char *const simple[3] = {"cod", "cot", NULL};
    static const char *const hard[3] = {"aot", "tot", "got"};
    phi__adaptive_choice choice;
    size_t i;
    prompt.len = phi__min(prompt.len, PHI__ADAPTIVE_LOOK);
    choice.name = phi__adaptive_choose_known(options->strategy);
    choice.reason = "option";
    choice.complexity = phi__adaptive_choose_complexity(prompt);
    if (choice.name != NULL) return choice;
    choice.name = phi__adaptive_choose_default(options);
    choice.reason = "default";
    for (i = 0; i < PHI__COUNT(kinds); i++) {
        if (phi__adaptive_choose_count(prompt, kinds[i].words) == 0) continue;
        phi__adaptive_choose_of(options, kinds[i].names, kinds[i].reason, &choice);
        return choice;
    }
    if (choice.complexity < 0.3) phi__adaptive_choose_of(options, simple, "complexity", &choice);
    if (choice.complexity > 0.7) phi__adaptive_choose_of(options, hard, "complexity", &choice);
    return choice;
}

#endif
