/* adaptive.c - Adaptive: a machine that chooses another machine for each prompt. */
#include "orchestrate/machine_in.h"

/* ---- the choice of a strategy ---- */

enum {
    PHI__ADAPTIVE_LOOK = 8192, /* only these first bytes of a prompt are searched, for speed */
    PHI__ADAPTIVE_WORD = 64    /* bytes of a listed word, with its NUL */
};

/* Word lists, which include inflections and words of similar meaning. */
static const char phi__choose_puzzle[] =
    "brain teaser|crossword|game of 24|improve|iterate|logic puzzle|puzzle|puzzles|recursive|"
    "refine|riddle|riddles|sudoku";
static const char phi__choose_synthesis[] =
    "aggregate|combine|connections|consolidate|graph|integrate|interconnected|interdependent|"
    "linked|merge|network|perspectives|reconcile|relationships|synthesis|synthesise|synthesize|"
    "unify|viewpoints";
static const char phi__choose_tool[] =
    "browse|calculate|call|compute|download|execute|fetch|find|get|look up|lookup|query|run|"
    "search|tool|use";
static const char phi__choose_exploration[] =
    "alternative|alternatives|analyze|analyse|approaches|brainstorm|compare|consider|contrast|"
    "evaluate|explore|multiple|options|possibilities|pros and cons|trade-offs|tradeoffs";
static const char phi__choose_complex[] =
    "algorithm|alternatives|analyze|analyse|architecture|compare|complex|consider|contrast|derive|"
    "design|evaluate|explain|explore|implement|investigate|model|multi|multiple|optimal|optimize|"
    "optimise|options|plan|proof|prove|reason|recommend|simulate|solve|step by step|strategy|"
    "system|why";
static const char phi__choose_constraints[] =
    "at least|at most|cannot|constraint|constraints|except|exactly|fewer|have to|less than|limit|"
    "maximum|minimum|more than|must|need to|never|only|require|required|requires|should|unless|"
    "within|without";

static bool phi__choose_letter(char c) {
    return phi__is_alnum(c) || ((unsigned char)c & 0x80) != 0;
}

/* Finds the next word from *at on. False if there is none. */
static bool phi__choose_word(phi_str text, size_t *at, phi_str *word) {
    size_t i = *at, from;
    while (i < text.len && !phi__choose_letter(text.at[i])) i++;
    for (from = i; i < text.len && phi__choose_letter(text.at[i]);) i++;
    *word = phi__str(text.at + from, i - from);
    *at = i;
    return i > from;
}

/* True if the text begins with a word of the list. Bars separate the words. */
static bool phi__choose_listed(phi_str text, const char *list) {
    phi_str rest;
    while (*list != '\0') {
        char name[PHI__ADAPTIVE_WORD];
        size_t len = strcspn(list, "|");
        if (len > 0 && len < sizeof name) {
            memcpy(name, list, len);
            name[len] = '\0';
            if (phi__parse_word(text, name, &rest)) return true;
        }
        list += len + (list[len] == '|' ? 1 : 0);
    }
    return false;
}

/* Counts the words or phrases ("look up") of the prompt in the given list (NULL: phi's own). */
static uint32_t phi__choose_count(phi_str prompt, const char *given, const char *own) {
    phi_str word;
    size_t at = 0;
    uint32_t count = 0;
    while (phi__choose_word(prompt, &at, &word)) {
        phi_str rest = phi__str_from(prompt, (size_t)(word.at - prompt.at));
        count += phi__choose_listed(rest, given != NULL ? given : own);
    }
    return count;
}

/* Counts sentences. A point within a number ends no sentence. The last sentence needs no mark. */
static uint32_t phi__choose_sentences(phi_str text) {
    uint32_t count = 0;
    bool open = false;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.at[i];
        bool end = i + 1 == text.len || !phi__choose_letter(text.at[i + 1]);
        if (phi__choose_letter(c)) open = true;
        if (!open || (c != '.' && c != '!' && c != '?') || !end) continue;
        count++;
        open = false;
    }
    return count + (open ? 1u : 0u);
}

static double phi__choose_part(uint32_t count, double most) {
    return count < most ? (double)count / most : 1.0;
}

PHI__FN double phi__choose_complexity(const phi_adaptive_options *options, phi_str prompt) {
    uint32_t words = 0, asked = 0;
    uint32_t complex = phi__choose_count(prompt, options->complex_words, phi__choose_complex);
    size_t at = 0;
    phi_str word;
    while (phi__choose_word(prompt, &at, &word)) words++;
    for (at = 0; at < prompt.len; at++) asked += prompt.at[at] == '?';
    asked += phi__choose_count(prompt, NULL, phi__choose_constraints);
    return 0.3 * phi__choose_part(words, 100) +
           0.2 * phi__choose_part(phi__choose_sentences(prompt), 5) +
           0.3 * phi__choose_part(complex, 3) + 0.2 * phi__choose_part(asked, 5);
}

/* Returns strategy i of those that may be chosen. NULL past the last. */
static const phi_strategy *phi__adaptive_at(size_t i) {
    switch (i) {
    case 0: return phi__strategy_react();
    case 1: return phi_strategy_cot(PHI_COT_STEPS);
    case 2: return phi_strategy_cot(PHI_COT_DRAFTS);
    case 3: return phi_strategy_aot();
    case 4: return phi_strategy_tot();
    case 5: return phi_strategy_got();
    case 6: return phi_strategy_trm();
    default: return NULL;
    }
}

static const phi_strategy *phi__adaptive_named(phi_str name) {
    for (size_t i = 0; phi__adaptive_at(i) != NULL; i++)
        if (phi__str_is(name, phi__adaptive_at(i)->name)) return phi__adaptive_at(i);
    return NULL;
}

/* Returns the static string for a strategy's name. NULL if there is no such strategy. */
static const char *phi__choose_known(const char *name) {
    const phi_strategy *strategy = phi__adaptive_named(phi_str_of(name));
    return strategy != NULL ? strategy->name : NULL;
}

/* True if the strategy's calls may use the run's tools. */
static bool phi__choose_tools(const phi_adaptive_options *options, const char *name) {
    return strcmp(name, "react") == 0 ||
           (strcmp(name, "tot") == 0 && options->tot != NULL && options->tot->tools);
}

static bool phi__choose_available(const phi_adaptive_options *options, const char *name) {
    if (options->available_count == 0) return strcmp(name, "aot") != 0;
    for (size_t i = 0; i < options->available_count; i++)
        if (strcmp(options->available[i], name) == 0) return true;
    return false;
}

/* Chooses the first available name, of at most three. Changes nothing if none is available. */
static void phi__choose_of(const phi_adaptive_options *options, bool has_tools,
                           const char *const *names, const char *reason,
                           phi__adaptive_choice *out) {
    for (size_t i = 0; i < 3 && names[i] != NULL; i++) {
        if (!phi__choose_available(options, names[i]) ||
            (has_tools && !phi__choose_tools(options, names[i])))
            continue;
        out->name = names[i];
        out->reason = reason;
        return;
    }
}

static const char *phi__choose_default(const phi_adaptive_options *options) {
    const char *name = phi__choose_known(options->default_strategy);
    return name != NULL ? name : "react";
}

PHI__FN bool phi__choose_may(const phi_adaptive_options *options, const char *name) {
    const char *always = phi__choose_known(options->strategy);
    if (always != NULL) return strcmp(always, name) == 0;
    return strcmp(phi__choose_default(options), name) == 0 || strcmp(name, "react") == 0 ||
           phi__choose_available(options, name);
}

static const char *const phi__choose_reasons[] = {"puzzle",      "synthesis",  "tools",
                                                  "exploration", "complexity", "option"};

/* Returns the static string for a saved reason. */
static const char *phi__choose_reason(phi_str name) {
    for (size_t i = 0; i < PHI__COUNT(phi__choose_reasons); i++)
        if (phi__str_is(name, phi__choose_reasons[i])) return phi__choose_reasons[i];
    return "default";
}

static double phi__choose_bound(double given, double own) {
    return given > 0.0 || given < 0.0 ? given : own;
}

PHI__FN phi__adaptive_choice phi__adaptive_choose(const phi_adaptive_options *options,
                                                  phi_str prompt, bool has_tools) {
    static const char *const names[][3] = {
        {"trm", "tot", NULL}, {"got", "tot", NULL}, {"react", NULL, NULL}, {"aot", "tot", "got"}};
    static const char *const simple[3] = {"cod", "cot", NULL};
    static const char *const hard[3] = {"aot", "tot", "got"};
    static const char *const own[] = {phi__choose_puzzle, phi__choose_synthesis, phi__choose_tool,
                                      phi__choose_exploration};
    const char *given[] = {options->puzzle_words, options->synthesis_words, options->tool_words,
                           options->exploration_words};
    phi__adaptive_choice choice;
    prompt.len = phi__min(prompt.len, PHI__ADAPTIVE_LOOK);
    choice.name = phi__choose_known(options->strategy);
    choice.reason = "option";
    choice.complexity = phi__choose_complexity(options, prompt);
    if (choice.name != NULL) return choice;
    choice.name = phi__choose_default(options);
    choice.reason = "default";
    if (has_tools && !phi__choose_tools(options, choice.name)) choice.name = "react";
    for (size_t i = 0; i < PHI__COUNT(names); i++) {
        if (phi__choose_count(prompt, given[i], own[i]) == 0) continue;
        phi__choose_of(options, has_tools, names[i], phi__choose_reasons[i], &choice);
        return choice;
    }
    if (choice.complexity < phi__choose_bound(options->simple_below, 0.3))
        phi__choose_of(options, has_tools, simple, "complexity", &choice);
    if (choice.complexity > phi__choose_bound(options->complex_above, 0.7))
        phi__choose_of(options, has_tools, hard, "complexity", &choice);
    return choice;
}

/* ---- the machine ---- */

typedef struct phi__adaptive {
    phi__machine m; /* only env and out are used */
    phi__adaptive_choice choice;
    const phi_strategy *chosen; /* NULL until BEGIN */
    void *state;                /* state of the chosen machine */
} phi__adaptive;

/* Returns the options for the chosen strategy. */
static const void *phi__adaptive_pick(const phi_adaptive_options *o, const phi_strategy *chosen) {
    if (chosen == phi_strategy_cot(PHI_COT_STEPS)) return o->cot;
    if (chosen == phi_strategy_cot(PHI_COT_DRAFTS)) return o->cod;
    if (chosen == phi_strategy_aot()) return o->aot;
    if (chosen == phi_strategy_tot()) return o->tot;
    if (chosen == phi_strategy_got()) return o->got;
    return chosen == phi_strategy_trm() ? (const void *)o->trm : (const void *)o;
}

/* Returns the environment with the options of the chosen strategy. `o` must outlive the result. */
static phi_strategy_env phi__adaptive_env(const phi__adaptive *a, const phi_adaptive_options *o,
                                          const phi_strategy_env *env) {
    phi_strategy_env inner = *env;
    inner.options = phi__adaptive_pick(o, a->chosen);
    return inner;
}

static void phi__adaptive_put(const phi__adaptive *a, phi__buf *out) {
    phi__records_str(out, "strategy", phi_str_of(a->chosen->name));
    phi__records_str(out, "reason", phi_str_of(a->choice.reason));
    phi__records_double(out, "complexity", a->choice.complexity);
}

/* Wraps the chosen strategy's result as {"strategy","reason","complexity","result"}. */
static phi_status phi__adaptive_wrap(const phi__adaptive *a) {
    phi_strategy_commands *out = a->m.out;
    phi_strategy_command *last = out->count > 0 ? &out->at[out->count - 1] : NULL;
    phi__buf result;
    if (last == NULL || (last->kind != PHI_STRATEGY_DONE && last->kind != PHI_STRATEGY_FAIL))
        return PHI_OK;
    phi__machine_result(&a->m, &result);
    phi__adaptive_put(a, &result);
    phi__records_raw(&result, "result", "");
    phi__buf_add_str(&result, last->result);
    phi__buf_char(&result, '}');
    return phi__machine_text(&result, a->m.env->scratch, &last->result) ? PHI_OK : PHI_NO_MEMORY;
}

static phi_status phi__adaptive_on(void *state, const phi_strategy_event *event,
                                   const phi_strategy_env *env, phi_strategy_commands *out) {
    phi__adaptive *a = (phi__adaptive *)state;
    phi_adaptive_options o = phi__adaptive_options_of(env->options);
    a->m.env = env;
    a->m.out = out;
    if (a->chosen == NULL) {
        if (event->kind != PHI_STRATEGY_BEGIN) return PHI_OK;
        a->choice = phi__adaptive_choose(&o, event->text, env->has_tools);
        a->chosen = phi__adaptive_named(phi_str_of(a->choice.name));
        a->state = phi__arena_zero(env->arena, a->chosen->state_bytes);
        if (a->state == NULL) return PHI_NO_MEMORY;
        if (phi__machine_emit(&a->m, a->choice.name) != PHI_OK) return PHI_FULL;
    }
    phi_strategy_env inner = phi__adaptive_env(a, &o, env);
    phi_status status = a->chosen->on(a->state, event, &inner, out);
    return status == PHI_OK ? phi__adaptive_wrap(a) : status;
}

static const phi_strategy *phi__adaptive_hand(const void *options, phi_str prompt, bool has_tools,
                                              const void **out) {
    phi_adaptive_options o = phi__adaptive_options_of(options);
    phi__adaptive_choice choice = phi__adaptive_choose(&o, prompt, has_tools);
    const phi_strategy *chosen = phi__adaptive_named(phi_str_of(choice.name));
    *out = chosen == phi__strategy_react() ? options : phi__adaptive_pick(&o, chosen);
    return chosen;
}

static void phi__adaptive_raise(uint64_t *most, uint64_t n) {
    if (n > *most) *most = n;
}

static void phi__adaptive_bill(const void *options, uint64_t prompt_tokens, uint64_t answer_tokens,
                               phi_strategy_bill *out) {
    phi_adaptive_options o = phi__adaptive_options_of(options);
    memset(out, 0, sizeof *out);
    for (size_t i = 0; phi__adaptive_at(i) != NULL; i++) {
        const phi_strategy *chosen = phi__adaptive_at(i);
        phi_strategy_bill one;
        if (!phi__choose_may(&o, chosen->name)) continue;
        chosen->bill(phi__adaptive_pick(&o, chosen), prompt_tokens, answer_tokens, &one);
        if (one.output_tokens == 0) one.output_tokens = one.calls * answer_tokens;
        phi__adaptive_raise(&out->calls, one.calls);
        phi__adaptive_raise(&out->input_tokens, one.input_tokens);
        phi__adaptive_raise(&out->output_tokens, one.output_tokens);
        phi__adaptive_raise(&out->in_conversation, one.in_conversation);
    }
}

static void phi__adaptive_best(const void *state, phi_strategy_best *out) {
    const phi__adaptive *a = (const phi__adaptive *)state;
    memset(out, 0, sizeof *out);
    if (a->state != NULL) a->chosen->best(a->state, out);
}

static phi_json *phi__adaptive_save(const void *state, phi_arena *arena) {
    const phi__adaptive *a = (const phi__adaptive *)state;
    const phi_json *inner = NULL;
    phi__buf out;
    if (a->state != NULL && (inner = a->chosen->save(a->state, arena)) == NULL) return NULL;
    phi__machine_save(&out, NULL, 0, a, arena);
    if (inner != NULL) {
        phi__adaptive_put(a, &out);
        phi__records_raw(&out, "state", "");
        (void)phi__json_write(&out, inner, 0);
    }
    return phi__machine_saved(&out, NULL, arena);
}

static phi_status phi__adaptive_load(void *state, const phi_json *saved,
                                     const phi_strategy_env *env, phi_strategy_commands *out) {
    phi__adaptive *a = (phi__adaptive *)state;
    phi_adaptive_options o = phi__adaptive_options_of(env->options);
    if (!phi_json_is(saved, PHI_JSON_OBJECT)) return PHI_PARSE;
    if (phi_json_count(saved) == 0) return PHI_OK;
    a->chosen = phi__adaptive_named(phi__records_get_str(saved, "strategy"));
    if (a->chosen == NULL) return PHI_PARSE;
    a->choice.name = a->chosen->name;
    a->choice.reason = phi__choose_reason(phi__records_get_str(saved, "reason"));
    a->choice.complexity = phi__records_get_double(saved, "complexity");
    a->state = phi__arena_zero(env->arena, a->chosen->state_bytes);
    if (a->state == NULL) return PHI_NO_MEMORY;
    phi_strategy_env inner = phi__adaptive_env(a, &o, env);
    return a->chosen->load(a->state, phi_json_get(saved, "state"), &inner, out);
}

PHI_API const phi_strategy *phi_strategy_adaptive(void) {
    static const phi_strategy strategy = {
        "adaptive",         sizeof(phi__adaptive), phi__adaptive_bill, phi__adaptive_on,
        phi__adaptive_best, phi__adaptive_save,    phi__adaptive_load, phi__adaptive_hand};
    return &strategy;
}
