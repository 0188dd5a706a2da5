/* adaptive_choose.c - how Adaptive chooses a strategy for a prompt. */
#include "strategy/adaptive_in.h"

#include "strategy/parse_in.h"

enum {
    PHI__ADAPTIVE_LOOK =
        8192,               /* bytes of a prompt that are looked at: a choice must not take long */
    PHI__ADAPTIVE_WORD = 64 /* bytes of a word of a list, with its end */
};

/* Words beside those of the study are inflections and near words of theirs. */
static const char phi__adaptive_choose_puzzle[] =
    "brain teaser|crossword|game of 24|improve|iterate|logic puzzle|puzzle|puzzles|recursive|"
    "refine|riddle|riddles|sudoku";
static const char phi__adaptive_choose_synthesis[] =
    "aggregate|combine|connections|consolidate|graph|integrate|interconnected|interdependent|"
    "linked|merge|network|perspectives|reconcile|relationships|synthesis|synthesise|synthesize|"
    "unify|viewpoints";
static const char phi__adaptive_choose_tool[] =
    "browse|calculate|call|compute|download|execute|fetch|find|get|look up|lookup|query|run|"
    "search|tool|use";
static const char phi__adaptive_choose_exploration[] =
    "alternative|alternatives|analyze|analyse|approaches|brainstorm|compare|consider|contrast|"
    "evaluate|explore|multiple|options|possibilities|pros and cons|trade-offs|tradeoffs";
static const char phi__adaptive_choose_complex[] =
    "algorithm|alternatives|analyze|analyse|architecture|compare|complex|consider|contrast|derive|"
    "design|evaluate|explain|explore|implement|investigate|model|multi|multiple|optimal|optimize|"
    "optimise|options|plan|proof|prove|reason|recommend|simulate|solve|step by step|strategy|"
    "system|why";
static const char phi__adaptive_choose_constraints[] =
    "at least|at most|cannot|constraint|constraints|except|exactly|fewer|have to|less than|limit|"
    "maximum|minimum|more than|must|need to|never|only|require|required|requires|should|unless|"
    "within|without";

static const char *phi__adaptive_choose_words(const char *given, const char *own) {
    return given != NULL ? given : own;
}

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

/* A word of the list, which is separated by bars, begins the text. */
static bool phi__adaptive_choose_listed(phi_str text, const char *list) {
    phi_str behind;
    while (*list != '\0') {
        char name[PHI__ADAPTIVE_WORD];
        size_t len = strcspn(list, "|");
        if (len > 0 && len < sizeof name) {
            memcpy(name, list, len);
            name[len] = '\0';
            if (phi__parse_word(text, name, &behind)) return true;
        }
        list += len + (list[len] == '|' ? 1 : 0);
    }
    return false;
}

/* How many words of the prompt, or some that follow each other ("look up"), are in the list. */
static uint32_t phi__adaptive_choose_count(phi_str prompt, const char *list) {
    phi_str word;
    size_t at = 0;
    uint32_t count = 0;
    while (phi__adaptive_choose_word(prompt, &at, &word))
        count += phi__adaptive_choose_listed(
            phi__str(word.at, (size_t)(prompt.at + prompt.len - word.at)), list);
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

PHI__FN double phi__adaptive_choose_complexity(const phi_adaptive_options *options,
                                               phi_str prompt) {
    const char *keywords =
        phi__adaptive_choose_words(options->complex_words, phi__adaptive_choose_complex);
    uint32_t words = 0, asked = 0;
    size_t at = 0;
    phi_str word;
    while (phi__adaptive_choose_word(prompt, &at, &word)) words++;
    for (at = 0; at < prompt.len; at++) asked += prompt.at[at] == '?';
    asked += phi__adaptive_choose_count(prompt, phi__adaptive_choose_constraints);
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

/* Its calls may use the run's tools. */
static bool phi__adaptive_choose_tools(const phi_adaptive_options *options, const char *name) {
    return strcmp(name, "react") == 0 ||
           (strcmp(name, "tot") == 0 && options->tot != NULL && options->tot->tools);
}

static bool phi__adaptive_choose_available(const phi_adaptive_options *options, const char *name) {
    size_t i;
    if (options->available_count == 0) return strcmp(name, "aot") != 0;
    for (i = 0; i < options->available_count; i++)
        if (strcmp(options->available[i], name) == 0) return true;
    return false;
}

/* The first of three names that is available; the default where none is. */
static void phi__adaptive_choose_of(const phi_adaptive_options *options, bool has_tools,
                                    const char *const *names, const char *reason,
                                    phi__adaptive_choice *out) {
    size_t i;
    for (i = 0; i < 3 && names[i] != NULL; i++) {
        if (!phi__adaptive_choose_available(options, names[i]) ||
            (has_tools && !phi__adaptive_choose_tools(options, names[i])))
            continue;
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
    return strcmp(phi__adaptive_choose_default(options), name) == 0 || strcmp(name, "react") == 0 ||
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

static double phi__adaptive_choose_bound(double given, double own) {
    return given > 0.0 || given < 0.0 ? given : own;
}

/* By its words. False: it has none of them. */
static bool phi__adaptive_choose_kind(const phi_adaptive_options *o, phi_str prompt, bool has_tools,
                                      phi__adaptive_choice *out) {
    static const char *const reasons[] = {"puzzle", "synthesis", "tools", "exploration"};
    static const char *const names[][3] = {
        {"trm", "tot", NULL}, {"got", "tot", NULL}, {"react", NULL, NULL}, {"aot", "tot", "got"}};
    const char *words[4];
    size_t i;
    words[0] = phi__adaptive_choose_words(o->puzzle_words, phi__adaptive_choose_puzzle);
    words[1] = phi__adaptive_choose_words(o->synthesis_words, phi__adaptive_choose_synthesis);
    words[2] = phi__adaptive_choose_words(o->tool_words, phi__adaptive_choose_tool);
    words[3] = phi__adaptive_choose_words(o->exploration_words, phi__adaptive_choose_exploration);
    for (i = 0; i < PHI__COUNT(words); i++) {
        if (phi__adaptive_choose_count(prompt, words[i]) == 0) continue;
        phi__adaptive_choose_of(o, has_tools, names[i], reasons[i], out);
        return true;
    }
    return false;
}

PHI__FN phi__adaptive_choice phi__adaptive_choose(const phi_adaptive_options *options,
                                                  phi_str prompt, bool has_tools) {
    static const char *const simple[3] = {"cod", "cot", NULL};
    static const char *const hard[3] = {"aot", "tot", "got"};
    phi__adaptive_choice choice;
    prompt.len = phi__min(prompt.len, PHI__ADAPTIVE_LOOK);
    choice.name = phi__adaptive_choose_known(options->strategy);
    choice.reason = "option";
    choice.complexity = phi__adaptive_choose_complexity(options, prompt);
    if (choice.name != NULL) return choice;
    choice.name = phi__adaptive_choose_default(options);
    choice.reason = "default";
    if (has_tools && !phi__adaptive_choose_tools(options, choice.name)) choice.name = "react";
    if (phi__adaptive_choose_kind(options, prompt, has_tools, &choice)) return choice;
    if (choice.complexity < phi__adaptive_choose_bound(options->simple_below, 0.3))
        phi__adaptive_choose_of(options, has_tools, simple, "complexity", &choice);
    if (choice.complexity > phi__adaptive_choose_bound(options->complex_above, 0.7))
        phi__adaptive_choose_of(options, has_tools, hard, "complexity", &choice);
    return choice;
}
