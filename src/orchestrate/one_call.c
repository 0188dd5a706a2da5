/* one_call.c - strategies that make one model call: Chain-of-Thought, Chain-of-Draft,
   Algorithm-of-Thoughts and "react". Has their prompts and parses their answers. */
#include "orchestrate/machine_in.h"

enum { PHI__ONE_IDLE, PHI__ONE_CALLING, PHI__ONE_OVER };

typedef struct phi__one {
    phi__machine m;
    phi_str problem; /* only for Algorithm-of-Thoughts */
    phi_str answer;
} phi__one;

static void phi__one_best(const void *state, phi_strategy_best *out) {
    memset(out, 0, sizeof *out);
    out->text = ((const phi__one *)state)->answer;
}

static const phi__field phi__one_fields[] = {
    PHI__FIELD(phi__one, m.phase, "phase", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__KEYED(phi__one, problem, STR, SET), PHI__KEYED(phi__one, answer, STR, ALWAYS)};

static phi_json *phi__one_save(const void *state, phi_arena *arena) {
    phi__buf out;
    phi__machine_save(&out, phi__one_fields, PHI__COUNT(phi__one_fields), state, arena);
    return phi__machine_saved(&out, NULL, arena);
}

/* Loads the state, and makes the call again if it was pending. */
static phi_status phi__one_load(void *state, const phi_json *saved, const phi_strategy_env *env,
                                phi_strategy_commands *out, phi_status (*ask)(phi__one *c)) {
    phi__one *c = (phi__one *)state;
    phi_status status = phi__machine_load(&c->m, phi__one_fields, PHI__COUNT(phi__one_fields),
                                          PHI__ONE_OVER, saved, env, out);
    return status == PHI_OK && c->m.phase == PHI__ONE_CALLING ? ask(c) : status;
}

/* Makes the machine's only call. */
static phi_status phi__one_ask(phi__one *c, const phi_strategy_call *call, phi__buf *prompt) {
    c->m.phase = PHI__ONE_CALLING;
    c->m.call_id = 1;
    return phi__machine_ask(&c->m, call, prompt);
}

/* Returns the message for a missing answer. */
static phi_str phi__one_message(const phi_strategy_event *event) {
    return event->kind == PHI_STRATEGY_STOP ? PHI__LIT("ended before there was an answer")
                                            : event->message;
}

static phi_status phi__one_status(const phi_strategy_event *event) {
    return event->kind == PHI_STRATEGY_STOP ? PHI_LIMIT : event->status;
}

/* ---- Chain-of-Thought and Chain-of-Draft ---- */

/* Returns the text after a marker: the rest of the line, or the next line if the rest is empty. */
static phi_str phi__cot_after(phi_str text, size_t at, phi_str rest) {
    phi_str line;
    rest = phi__parse_plain(rest);
    if (rest.len == 0 && phi__parse_full_line(text, &at, &line)) rest = phi__parse_plain(line);
    return rest;
}

/* Markers of an answer. The first four words need a colon; the others may start a sentence. */
enum { PHI__COT_NAMES = 4, PHI__COT_WORDS = 8 };

/* Finds a marker at the line's start, such as "Answer: x" or "Therefore x", among the first `count`
   words. "So" counts only with a comma or a colon after it. */
static bool phi__cot_mark(phi_str line, size_t count, phi_str *rest) {
    static const char *const words[PHI__COT_WORDS] = {"in conclusion", "conclusion", "final answer",
                                                      "answer",        "therefore",  "thus",
                                                      "hence",         "so"};
    for (size_t i = 0; i < count; i++) {
        if (!phi__parse_word(line, words[i], rest)) continue;
        if (phi__parse_colon(*rest, rest)) return true;
        if (count == PHI__COT_NAMES) return false;
        if (rest->len == 0 || rest->at[0] != ',') return i + 1 < count;
        *rest = phi__str_from(*rest, 1);
        return true;
    }
    return false;
}

/* Returns the text after the last marker, because a model may correct itself. */
static phi_str phi__cot_marked(phi_str text, size_t words) {
    phi_str found = {NULL, 0}, line, rest;
    size_t at = 0;
    while (phi__parse_line(text, &at, &line)) {
        if (!phi__cot_mark(phi__parse_plain(line), words, &rest)) continue;
        rest = phi__cot_after(text, at, rest);
        if (rest.len > 0) found = rest;
    }
    return found;
}

static phi_str phi__cot_conclusion(phi_str text) {
    size_t at = 0;
    phi_str found = {"", 0};
    while ((at = phi__str_find(text, at, "####")) != SIZE_MAX) {
        at += 4;
        found = phi__str_from(text, at);
    }
    found = phi__parse_plain(found);
    if (found.len == 0) found = phi__cot_marked(text, PHI__COT_NAMES);
    return found.len > 0 ? found : phi__cot_marked(text, PHI__COT_WORDS);
}

static bool phi__cot_step(phi_str line, phi_str *rest) {
    uint32_t number;
    return phi__parse_step(line, rest) || phi__parse_numbered(line, &number, rest) ||
           phi__parse_bullet(line, rest);
}

static bool phi__cot_indented(phi_str line) {
    return line.len > 0 && (line.at[0] == ' ' || line.at[0] == '\t');
}

/* True if the line continues the step before it. Markers, and lines at the margin after a blank
   line, end a step. */
static bool phi__cot_goes_on(phi_str line, bool blank) {
    phi_str plain = phi__parse_plain(line), rest;
    if (plain.len == 0 || (blank && !phi__cot_indented(line))) return false;
    return !phi__str_starts(plain, "####") && !phi__cot_mark(plain, PHI__COT_WORDS, &rest);
}

static void phi__cot_steps(phi_str text, phi__cot_parsed *out) {
    phi_str line, rest, *open = NULL;
    size_t at = 0;
    bool blank = false;
    while (phi__parse_line(text, &at, &line)) {
        bool step = phi__cot_step(line, &rest) && rest.len > 0;
        phi_str plain = phi__parse_plain(line);
        if (open != NULL && phi__cot_indented(line) && !phi__parse_step(line, &rest)) step = false;
        if (step) {
            open = &out->steps[out->step_count++];
            *open = rest;
        } else if (open != NULL && phi__cot_goes_on(line, blank))
            open->len = (size_t)(plain.at + plain.len - open->at);
        else if (plain.len > 0)
            open = NULL;
        blank = plain.len == 0;
    }
}

PHI__FN bool phi__cot_parse(phi_str text, phi_arena *arena, phi__cot_parsed *out) {
    phi_str line, rest;
    size_t at = 0, count = 0;
    memset(out, 0, sizeof *out);
    text = phi__parse_tail(text);
    while (phi__parse_full_line(text, &at, &line)) count += phi__cot_step(line, &rest);
    out->steps = (phi_str *)phi_arena_alloc(arena, phi__mul(phi__max(count, 1), sizeof(phi_str)));
    if (out->steps == NULL) return false;
    phi__cot_steps(text, out);
    out->conclusion = phi__cot_conclusion(text);
    return true;
}

/* Upper estimate of the tokens of phi's own prompts. */
enum { PHI__COT_PROMPT_TOKENS = 160 };

static phi_status phi__cot_ask_with(phi__one *c, const char *system_prompt) {
    const phi_cot_options *options = (const phi_cot_options *)c->m.env->options;
    phi_strategy_call call = PHI_ZERO;
    call.system_prompt = phi_str_of(system_prompt);
    call.in_conversation = true;
    if (options != NULL) {
        if (options->system_prompt != NULL) call.system_prompt = phi_str_of(options->system_prompt);
        call.max_tokens = options->max_tokens;
        call.has_temperature = options->has_temperature;
        call.temperature = options->temperature;
        call.timeout_ms = options->timeout_ms;
    }
    return phi__one_ask(c, &call, NULL);
}

static phi_status phi__cot_ask(phi__one *c) {
    return phi__cot_ask_with(
        c,
        "Work the task out before you answer it. Write the reasoning as numbered lines, one "
        "thought on each:\n"
        "Step 1: ...\n"
        "Step 2: ...\n"
        "Check the result against the task. End with one line that holds nothing but the result:\n"
        "Conclusion: ...");
}

static phi_status phi__cod_ask(phi__one *c) {
    return phi__cot_ask_with(
        c,
        "Work the task out in drafts before you answer it. Write one draft a line, each of about "
        "five words or one equation, and nothing else. End with the mark #### and behind it the "
        "final answer alone.\n"
        "A task might be: a baker has 4 trays of 6 rolls and sells 9; how many are left?\n"
        "4 trays of 6: 24\n"
        "24 - 9 sold: 15\n"
        "#### 15");
}

static phi_status phi__cot_over(phi__one *c, const phi_strategy_event *event) {
    bool answered = event->kind == PHI_STRATEGY_ANSWER;
    bool stop = event->kind == PHI_STRATEGY_STOP;
    phi__cot_parsed parsed;
    phi__buf result;
    if (!phi__cot_parse(event->text, c->m.env->scratch, &parsed)) return PHI_NO_MEMORY;
    if (!answered) parsed.conclusion = phi__str("", 0); /* a partial answer has no conclusion */
    phi_str answer = parsed.conclusion;
    if (answered && answer.len == 0) answer = phi__str_trim(event->text);
    if (answered && !phi__arena_str(c->m.env->arena, answer, &c->answer)) return PHI_NO_MEMORY;
    c->m.phase = PHI__ONE_OVER;
    phi__machine_result(&c->m, &result);
    phi__records_option(&result, "answer", answer);
    phi__records_option(&result, "conclusion", parsed.conclusion);
    phi__records_strs(&result, "steps", parsed.steps, parsed.step_count);
    phi__records_str(&result, "raw_response", event->text);
    phi__message_put_usage(&result, &c->m.usage);
    phi__machine_put_termination(&c->m, &result,
                                 stop              ? "stopped"
                                 : !answered       ? "error"
                                 : answer.len == 0 ? "no_answer"
                                                   : "success",
                                 answer.len > 0 ? "completed" : "error", false);
    if (answer.len > 0) return phi__machine_done(&c->m, answer, event->stop_reason, &result);
    if (answered)
        return phi__machine_fail(&c->m, PHI_REFUSED, PHI__LIT("the model wrote no answer"),
                                 &result);
    phi__records_str(&result, "error", phi__one_message(event));
    return phi__machine_fail(&c->m, phi__one_status(event), phi__one_message(event), &result);
}

static phi_status phi__cot_take(phi__one *c, const phi_strategy_event *event,
                                const phi_strategy_env *env, phi_strategy_commands *out,
                                phi_status (*ask)(phi__one *c)) {
    if (!phi__machine_takes(&c->m, PHI__ONE_OVER, event, env, out)) return PHI_OK;
    if (event->kind != PHI_STRATEGY_BEGIN) return phi__cot_over(c, event);
    phi_status status = phi__machine_emit(&c->m, "reasoning");
    return status == PHI_OK ? ask(c) : status;
}

static phi_status phi__cot_on(void *state, const phi_strategy_event *event,
                              const phi_strategy_env *env, phi_strategy_commands *out) {
    return phi__cot_take((phi__one *)state, event, env, out, phi__cot_ask);
}

static phi_status phi__cod_on(void *state, const phi_strategy_event *event,
                              const phi_strategy_env *env, phi_strategy_commands *out) {
    return phi__cot_take((phi__one *)state, event, env, out, phi__cod_ask);
}

static void phi__cot_bill(const void *options, uint64_t prompt_tokens, uint64_t answer_tokens,
                          phi_strategy_bill *out) {
    (void)answer_tokens;
    memset(out, 0, sizeof *out);
    out->calls = 1;
    out->in_conversation = 1;
    out->input_tokens = prompt_tokens + PHI__COT_PROMPT_TOKENS;
    if (options != NULL) out->output_tokens = ((const phi_cot_options *)options)->max_tokens;
}

static phi_status phi__cot_load(void *state, const phi_json *saved, const phi_strategy_env *env,
                                phi_strategy_commands *out) {
    return phi__one_load(state, saved, env, out, phi__cot_ask);
}

static phi_status phi__cod_load(void *state, const phi_json *saved, const phi_strategy_env *env,
                                phi_strategy_commands *out) {
    return phi__one_load(state, saved, env, out, phi__cod_ask);
}

PHI_API const phi_strategy *phi_strategy_cot(phi_cot_kind kind) {
    static const phi_strategy steps = {"cot",         sizeof(phi__one), phi__cot_bill, phi__cot_on,
                                       phi__one_best, phi__one_save,    phi__cot_load, NULL};
    static const phi_strategy drafts = {"cod",         sizeof(phi__one), phi__cot_bill, phi__cod_on,
                                        phi__one_best, phi__one_save,    phi__cod_load, NULL};
    return kind == PHI_COT_DRAFTS ? &drafts : &steps;
}

/* ---- Algorithm-of-Thoughts ---- */

enum {
    PHI__AOT_MAX_TOKENS = 2048,
    PHI__AOT_PROMPT_TOKENS = 1200 /* upper estimate of tokens: phi's prompt and three examples */
};

/* Reads "answer:" or "final answer:" at the line's start. */
static bool phi__aot_marked(phi_str line, phi_str *rest) {
    phi_str body = phi__parse_plain(line);
    if (!phi__parse_word(body, "answer", rest) && !phi__parse_word(body, "final answer", rest))
        return false;
    return phi__parse_colon(*rest, rest);
}

/* Returns the text of the last answer line, because earlier answers were rejected. The text may be
   on the line after it. */
static phi_str phi__aot_answer(phi_str text) {
    phi_str found = {NULL, 0}, line, rest;
    size_t at = 0;
    while (phi__parse_line(text, &at, &line)) {
        size_t next = at;
        if (!phi__aot_marked(line, &rest)) continue;
        rest = phi__parse_plain(rest);
        if (rest.len == 0 && phi__parse_full_line(text, &next, &line) &&
            !phi__aot_marked(line, &rest))
            rest = phi__parse_plain(line);
        else
            rest = phi__parse_plain(rest);
        if (rest.len > 0) found = rest;
    }
    return found;
}

/* True for a first operation of the form "3. text : (...)". */
static bool phi__aot_operation(phi_str line) {
    phi_str rest;
    uint32_t number;
    size_t i, end;
    if (!phi__parse_numbered(line, &number, &rest)) return false;
    for (end = rest.len; end > 0 && rest.at[end - 1] != ')';) end--;
    for (size_t colon = 1; colon < end; colon++) {
        if (rest.at[colon] != ':') continue;
        for (i = colon + 1; i < end && (rest.at[i] == ' ' || rest.at[i] == '\t');) i++;
        if (i < end && rest.at[i] == '(') return true;
    }
    return false;
}

PHI__FN void phi__aot_parse(phi_str text, phi__aot_parsed *out) {
    uint32_t numbered = 0;
    size_t at = 0;
    phi_str line, rest;
    memset(out, 0, sizeof *out);
    text = phi__str_trim(phi__parse_tail(text));
    while (phi__parse_line(text, &at, &line)) {
        numbered += phi__aot_operation(line);
        out->backtracking_steps += phi__parse_step(line, &rest);
    }
    uint32_t tried = phi__parse_count(text, "trying promising first operation:") +
                     phi__parse_count(text, "trying another promising first operation:");
    out->first_operations = tried > numbered ? tried : numbered;
    out->answer = phi__aot_answer(text);
    out->found_markers = phi__parse_count(text, "found it") +
                         phi__parse_count(text, "solution found") +
                         phi__parse_count(text, "answer:");
    out->found_solution = out->found_markers > 0 || out->answer.len > 0;
}

static phi_str phi__aot_example(size_t index) {
    static const char with_division[] =
        "Problem: use 3, 4, 5 and 10 once each with + - * / to make 24.\n"
        "Trying promising first operation:\n"
        "1. 4 * 5 = 20 : (3, 10, 20)\n"
        "Step 1: 20 + 10 = 30 leaves 3 and 30, which make 27, 33, 90 or 10. None is 24.\n"
        "Step 2: 20 + 3 = 23 leaves 10 and 23, which make 33 or 13. Step back.\n"
        "Trying another promising first operation:\n"
        "2. 10 / 5 = 2 : (2, 3, 4)\n"
        "Step 3: 3 * 4 = 12 leaves 2 and 12, and 2 * 12 = 24. Found it.\n"
        "answer: (10 / 5) * (3 * 4)";
    static const char with_fraction[] =
        "Problem: use 2, 3, 5 and 12 once each with + - * / to make 24.\n"
        "Trying promising first operation:\n"
        "1. 12 * 2 = 24 : (3, 5, 24)\n"
        "Step 1: 5 - 3 = 2 leaves 2 and 24, which make 26, 22, 48 or 12. Step back.\n"
        "Trying another promising first operation:\n"
        "2. 5 / 2 = 2.5 : (2.5, 3, 12)\n"
        "Step 2: 3 - 2.5 = 0.5 leaves 0.5 and 12, and 12 / 0.5 = 24. Found it.\n"
        "answer: 12 / (3 - 5 / 2)";
    static const char with_differences[] =
        "Problem: use 1, 5, 8 and 9 once each with + - * / to make 24.\n"
        "Trying promising first operation:\n"
        "1. 8 * 9 = 72 : (1, 5, 72)\n"
        "Step 1: 5 - 1 = 4 leaves 4 and 72, which make 18 or 68. Step back.\n"
        "Trying another promising first operation:\n"
        "2. 9 - 5 = 4 : (1, 4, 8)\n"
        "Step 2: 4 + 1 = 5 leaves 5 and 8, which make 40 or 13. Not that.\n"
        "Step 3: 4 - 1 = 3 leaves 3 and 8, and 3 * 8 = 24. Found it.\n"
        "answer: (9 - 5 - 1) * 8";
    if (index == 0) return PHI__LIT(with_division);
    return index == 1 ? PHI__LIT(with_fraction) : PHI__LIT(with_differences);
}

static phi_status phi__aot_ask(phi__one *a) {
    static const char role[] =
        "You solve problems by searching for the solution yourself, in one text. The pattern has "
        "four parts: propose first operations that look promising; expand one of them with "
        "concrete work, every intermediate result written out; step back from a branch as soon as "
        "it cannot succeed, and try another; finish with an explicit answer line.";
    phi_aot_options none = PHI_ZERO;
    const phi_aot_options *options = (const phi_aot_options *)a->m.env->options;
    phi_arena *scratch = a->m.env->scratch;
    phi_strategy_call call = PHI_ZERO;
    phi__buf text;
    if (options == NULL) options = &none;
    phi__buf_init(&text, scratch->memory);
    phi__buf_text(&text, options->system_prompt != NULL ? options->system_prompt : role);
    phi__buf_text(&text, options->style == PHI_AOT_BFS
                             ? "\n\nSearch breadth first: compare several first operations before "
                               "you expand one of them further."
                             : "\n\nSearch depth first: follow one first operation to its end "
                               "before you try another.");
    phi__buf_text(&text,
                  "\n\nMark the search with these lines: \"Trying promising first operation:\", "
                  "\"Trying another promising first operation:\", \"1. operation : (what is "
                  "left)\", \"Step 1: ...\", and at the end \"answer: ...\".\n\nExamples:");
    size_t count = options->profile == PHI_AOT_SHORT  ? 1u
                   : options->profile == PHI_AOT_LONG ? 3u
                                                      : 2u;
    bool own = options->examples != NULL && options->example_count > 0;
    if (own) count = options->example_count;
    for (size_t i = 0; i < count; i++) {
        phi__buf_text(&text, "\n\n");
        phi__buf_add_str(&text, own ? phi_str_of(options->examples[i]) : phi__aot_example(i));
    }
    if (!phi__machine_text(&text, scratch, &call.system_prompt)) return PHI_NO_MEMORY;
    phi__buf_text(&text, "Solve this problem with the search that was described. End with a line "
                         "of the form answer: <the solution>\n\nProblem: ");
    phi__buf_add_str(&text, a->problem);
    call.max_tokens =
        options->max_tokens != 0 ? options->max_tokens : (uint32_t)PHI__AOT_MAX_TOKENS;
    call.has_temperature = !options->agent_temperature;
    call.temperature = options->temperature;
    call.timeout_ms = options->timeout_ms;
    return phi__one_ask(a, &call, &text);
}

static phi_status phi__aot_over(phi__one *a, const phi_strategy_event *event) {
    const phi_aot_options *options = (const phi_aot_options *)a->m.env->options;
    bool answered = event->kind == PHI_STRATEGY_ANSWER;
    phi__aot_parsed parsed = PHI_ZERO;
    phi__buf result;
    if (answered) phi__aot_parse(event->text, &parsed);
    bool required = options == NULL || !options->implicit_answer;
    bool good = required ? parsed.answer.len > 0 : parsed.found_solution;
    phi_str answer = parsed.answer.len > 0 ? parsed.answer : phi__str_trim(event->text);
    if (good && !phi__arena_str(a->m.env->arena, answer, &a->answer)) return PHI_NO_MEMORY;
    a->m.phase = PHI__ONE_OVER;
    phi__machine_result(&a->m, &result);
    phi__records_option(&result, "answer", parsed.answer);
    phi__records_bool(&result, "found_solution", parsed.found_solution);
    phi__records_u64(&result, "first_operations_considered", parsed.first_operations);
    phi__records_u64(&result, "backtracking_steps", parsed.backtracking_steps);
    phi__records_str(&result, "raw_response", event->text);
    phi__message_put_usage(&result, &a->m.usage);
    phi__machine_put_termination(&a->m, &result,
                                 good                    ? "success"
                                 : !answered             ? "error"
                                 : parsed.found_solution ? "missing_explicit_answer"
                                                         : "no_solution",
                                 good ? "completed" : "error", false);
    phi__records_raw(&result, "diagnostics", "{");
    if (answered) {
        phi__records_bool(&result, "explicit_answer_required", required);
        phi__records_bool(&result, "explicit_answer_found", parsed.answer.len > 0);
        phi__records_bool(&result, "non_finalization_detected", required && parsed.answer.len == 0);
        phi__records_u64(&result, "found_markers", parsed.found_markers);
        phi__records_str(&result, "parser_mode", PHI__LIT("regex"));
    } else
        phi__records_str(&result, "error", phi__one_message(event));
    phi__buf_char(&result, '}');
    if (good) return phi__machine_done(&a->m, answer, event->stop_reason, &result);
    if (!answered)
        return phi__machine_fail(&a->m, phi__one_status(event), phi__one_message(event), &result);
    return phi__machine_fail(&a->m, PHI_REFUSED,
                             parsed.found_solution
                                 ? PHI__LIT("the model found a solution but wrote no answer line")
                                 : PHI__LIT("the model found no solution"),
                             &result);
}

static phi_status phi__aot_on(void *state, const phi_strategy_event *event,
                              const phi_strategy_env *env, phi_strategy_commands *out) {
    phi__one *a = (phi__one *)state;
    if (!phi__machine_takes(&a->m, PHI__ONE_OVER, event, env, out)) return PHI_OK;
    if (event->kind != PHI_STRATEGY_BEGIN) return phi__aot_over(a, event);
    if (!phi__arena_str(env->arena, event->text, &a->problem)) return PHI_NO_MEMORY;
    phi_status status = phi__machine_emit(&a->m, "exploring");
    return status == PHI_OK ? phi__aot_ask(a) : status;
}

static void phi__aot_bill(const void *opaque, uint64_t prompt_tokens, uint64_t answer_tokens,
                          phi_strategy_bill *out) {
    const phi_aot_options *options = (const phi_aot_options *)opaque;
    size_t bytes = 0;
    (void)answer_tokens;
    memset(out, 0, sizeof *out);
    for (size_t i = 0; options != NULL && options->examples != NULL && i < options->example_count;
         i++)
        bytes += phi_str_of(options->examples[i]).len;
    out->calls = 1;
    out->input_tokens = prompt_tokens + PHI__AOT_PROMPT_TOKENS + bytes / 4;
    out->output_tokens = options != NULL && options->max_tokens != 0
                             ? options->max_tokens
                             : (uint64_t)PHI__AOT_MAX_TOKENS;
}

static phi_status phi__aot_load(void *state, const phi_json *saved, const phi_strategy_env *env,
                                phi_strategy_commands *out) {
    return phi__one_load(state, saved, env, out, phi__aot_ask);
}

PHI_API const phi_strategy *phi_strategy_aot(void) {
    static const phi_strategy strategy = {
        "aot",         sizeof(phi__one), phi__aot_bill, phi__aot_on,
        phi__one_best, phi__one_save,    phi__aot_load, NULL};
    return &strategy;
}

/* ---- "react": the model with the run's tools ---- */

PHI__FN phi_adaptive_options phi__adaptive_options_of(const void *options) {
    phi_adaptive_options o = PHI_ZERO;
    if (options != NULL) o = *(const phi_adaptive_options *)options;
    if (o.max_tool_rounds == 0) o.max_tool_rounds = 9; /* 9 rounds make ten model calls */
    return o;
}

static phi_status phi__react_ask(phi__one *r) {
    phi_strategy_call call = PHI_ZERO;
    call.in_conversation = true;
    call.tools = true;
    call.max_tool_rounds = phi__adaptive_options_of(r->m.env->options).max_tool_rounds;
    return phi__one_ask(r, &call, NULL);
}

/* Ends the run. If the model wants too many tool rounds or is stopped, its last text is the
   answer. */
static phi_status phi__react_over(phi__one *r, const phi_strategy_event *event) {
    uint32_t most = phi__adaptive_options_of(r->m.env->options).max_tool_rounds;
    bool stop = event->kind == PHI_STRATEGY_STOP;
    bool spent = event->kind == PHI_STRATEGY_FAILED && event->status == PHI_LIMIT &&
                 event->tool_rounds > most;
    phi_str text = phi__str_trim(event->text), error = phi__one_message(event);
    phi_status status = phi__one_status(event);
    const char *reason = "error";
    phi__buf result;
    if (spent && text.len == 0) text = PHI__LIT("No answer within the allowed rounds of tools.");
    if (event->kind == PHI_STRATEGY_FAILED && !spent) text = phi__str("", 0);
    if (event->kind == PHI_STRATEGY_ANSWER) {
        error = PHI__LIT("the model wrote no answer");
        status = PHI_REFUSED;
    }
    if (text.len > 0) reason = "final_answer";
    if (stop) reason = r->m.env->calls_left == 0 ? "max_calls" : "stopped";
    if (spent) reason = "max_tool_rounds";
    if (!phi__arena_str(r->m.env->arena, text, &r->answer)) return PHI_NO_MEMORY;
    r->m.phase = PHI__ONE_OVER;
    phi__machine_result(&r->m, &result);
    phi__records_option(&result, "answer", text);
    phi__records_u64(&result, "tool_rounds", event->tool_rounds - (spent ? 1 : 0));
    phi__message_put_usage(&result, &r->m.usage);
    phi__machine_put_termination(&r->m, &result, reason,
                                 text.len == 0   ? "error"
                                 : spent || stop ? "unfinished"
                                                 : "completed",
                                 false);
    if (text.len > 0) return phi__machine_done(&r->m, text, event->stop_reason, &result);
    phi__records_str(&result, "error", error);
    return phi__machine_fail(&r->m, status, error, &result);
}

static phi_status phi__react_on(void *state, const phi_strategy_event *event,
                                const phi_strategy_env *env, phi_strategy_commands *out) {
    phi__one *r = (phi__one *)state;
    if (!phi__machine_takes(&r->m, PHI__ONE_OVER, event, env, out)) return PHI_OK;
    return event->kind == PHI_STRATEGY_BEGIN ? phi__react_ask(r) : phi__react_over(r, event);
}

static void phi__react_bill(const void *options, uint64_t prompt_tokens, uint64_t answer_tokens,
                            phi_strategy_bill *out) {
    phi_adaptive_options o = phi__adaptive_options_of(options);
    double calls = (double)o.max_tool_rounds + 1;
    /* each round reads the output of all earlier rounds and the results of its calls */
    double in = calls * ((double)prompt_tokens + calls * (double)answer_tokens);
    memset(out, 0, sizeof *out);
    out->calls = (uint64_t)o.max_tool_rounds + 1;
    out->in_conversation = out->calls;
    out->input_tokens = in < 1e18 ? (uint64_t)in : UINT64_MAX;
}

static phi_status phi__react_load(void *state, const phi_json *saved, const phi_strategy_env *env,
                                  phi_strategy_commands *out) {
    return phi__one_load(state, saved, env, out, phi__react_ask);
}

PHI__FN const phi_strategy *phi__strategy_react(void) {
    static const phi_strategy strategy = {
        "react",       sizeof(phi__one), phi__react_bill, phi__react_on,
        phi__one_best, phi__one_save,    phi__react_load, NULL};
    return &strategy;
}
