/* aot.c - Algorithm-of-Thoughts: the prompt, the parser, the machine of one call. */
#include "orchestrate/aot_in.h"

#include "orchestrate/parse_in.h"
#include "text/text_in.h"

enum {
    PHI__AOT_MAX_TOKENS = 2048,
    PHI__AOT_PROMPT_TOKENS = 1200 /* of phi's own prompt with three examples, at most */
};

/* ---- the answer ---- */

/* Behind "answer:" or "final answer:" at a line's beginning. */
static bool phi__aot_marked(phi_str line, phi_str *rest) {
    phi_str body = phi__parse_plain(line);
    if (!phi__parse_word(body, "answer", rest) && !phi__parse_word(body, "final answer", rest))
        return false;
    return phi__parse_colon(*rest, rest);
}

/* The last one counts: earlier ones were tried and given up. White space after the colon may span
   lines. */
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

/* "3. text : (...)" */
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

static const phi_aot_options *phi__aot_options(const phi_strategy_env *env) {
    static const phi_aot_options defaults = {
        PHI_AOT_STANDARD, PHI_AOT_DFS, NULL, NULL, 0, false, 0, false, 0.0, 0};
    return env->options != NULL ? (const phi_aot_options *)env->options : &defaults;
}

/* ---- the machine ---- */

enum { PHI__AOT_IDLE, PHI__AOT_EXPLORING, PHI__AOT_OVER };

typedef struct phi__aot {
    uint32_t phase;
    phi_str problem;
    phi_str answer;
} phi__aot;

static phi_status phi__aot_ask(phi__aot *a, const phi_strategy_env *env,
                               phi_strategy_commands *out) {
    const phi_aot_options *options = phi__aot_options(env);
    phi_strategy_command *command = phi_strategy_add(out, PHI_STRATEGY_ASK);
    phi__buf text;
    if (command == NULL) return PHI_FULL;
    phi__buf_init(&text, env->scratch->memory);
    static const char role[] =
        "You solve problems by searching for the solution yourself, in one text. The pattern has "
        "four parts: propose first operations that look promising; expand one of them with "
        "concrete work, every intermediate result written out; step back from a branch as soon as "
        "it cannot succeed, and try another; finish with an explicit answer line.";
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
    bool done = phi__machine_text(&text, env->scratch, &command->call.system_prompt);
    phi__buf_text(&text, "Solve this problem with the search that was described. End with a line "
                         "of the form answer: <the solution>\n\nProblem: ");
    phi__buf_add_str(&text, a->problem);
    if (!phi__machine_text(&text, env->scratch, &command->call.prompt) || !done)
        return PHI_NO_MEMORY;
    command->call.id = 1;
    command->call.max_tokens =
        options->max_tokens != 0 ? options->max_tokens : (uint32_t)PHI__AOT_MAX_TOKENS;
    command->call.has_temperature = !options->agent_temperature;
    command->call.temperature = options->temperature;
    command->call.timeout_ms = options->timeout_ms;
    a->phase = PHI__AOT_EXPLORING;
    return PHI_OK;
}

static void phi__aot_put_result(phi__buf *result, const phi_strategy_event *event,
                                const phi__aot_parsed *parsed) {
    phi__buf_char(result, '{');
    phi__records_option(result, "answer", parsed->answer);
    phi__records_bool(result, "found_solution", parsed->found_solution);
    phi__records_u64(result, "first_operations_considered", parsed->first_operations);
    phi__records_u64(result, "backtracking_steps", parsed->backtracking_steps);
    phi__records_str(result, "raw_response", event->text);
    phi__machine_put_usage(result, &event->usage);
}

static phi_status phi__aot_failed(phi__aot *a, const phi_strategy_event *event,
                                  const phi_strategy_env *env, phi_strategy_commands *out) {
    bool stop = event->kind == PHI_STRATEGY_STOP;
    phi_str message = stop ? PHI__LIT("ended before there was an answer") : event->message;
    phi__buf result;
    phi__aot_parsed none = PHI_ZERO;
    a->phase = PHI__AOT_OVER;
    phi__buf_init(&result, env->scratch->memory);
    phi__aot_put_result(&result, event, &none);
    phi__machine_put_termination(&result, "error", "error", env->elapsed_ms, false);
    phi__records_raw(&result, "diagnostics", "{");
    phi__records_str(&result, "error", message);
    phi__buf_char(&result, '}');
    return phi__machine_fail(env, out, stop ? PHI_LIMIT : event->status, message, &result);
}

static phi_status phi__aot_on(void *state, const phi_strategy_event *event,
                              const phi_strategy_env *env, phi_strategy_commands *out) {
    phi__aot *a = (phi__aot *)state;
    if (event->kind == PHI_STRATEGY_BEGIN) {
        if (a->phase != PHI__AOT_IDLE) return PHI_OK;
        if (!phi__arena_str(env->arena, event->text, &a->problem)) return PHI_NO_MEMORY;
        if (phi__machine_emit(out, "exploring") != PHI_OK) return PHI_FULL;
        return phi__aot_ask(a, env, out);
    }
    if (a->phase != PHI__AOT_EXPLORING) return PHI_OK;
    if (event->kind == PHI_STRATEGY_STOP) return phi__aot_failed(a, event, env, out);
    if (event->call_id != 1) return PHI_OK;
    if (event->kind == PHI_STRATEGY_ANSWER) {
        bool required = !phi__aot_options(env)->implicit_answer;
        const char *reason = "success";
        phi__aot_parsed parsed;
        phi__buf result;
        phi__aot_parse(event->text, &parsed);
        bool good = required ? parsed.answer.len > 0 : parsed.found_solution;
        if (!good) reason = parsed.found_solution ? "missing_explicit_answer" : "no_solution";
        phi_str answer = parsed.answer.len > 0 ? parsed.answer : phi__str_trim(event->text);
        if (good && !phi__arena_str(env->arena, answer, &a->answer)) return PHI_NO_MEMORY;
        a->phase = PHI__AOT_OVER;
        phi__buf_init(&result, env->scratch->memory);
        phi__aot_put_result(&result, event, &parsed);
        phi__machine_put_termination(&result, reason, good ? "completed" : "error", env->elapsed_ms,
                                     false);
        phi__records_raw(&result, "diagnostics", "{");
        phi__records_bool(&result, "explicit_answer_required", required);
        phi__records_bool(&result, "explicit_answer_found", parsed.answer.len > 0);
        phi__records_bool(&result, "non_finalization_detected", required && parsed.answer.len == 0);
        phi__records_u64(&result, "found_markers", parsed.found_markers);
        phi__records_str(&result, "parser_mode", PHI__LIT("regex"));
        phi__buf_char(&result, '}');
        if (good) return phi__machine_done(env, out, answer, event->stop_reason, &result);
        return phi__machine_fail(
            env, out, PHI_REFUSED,
            parsed.found_solution ? PHI__LIT("the model found a solution but wrote no answer line")
                                  : PHI__LIT("the model found no solution"),
            &result);
    }
    return phi__aot_failed(a, event, env, out);
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

static void phi__aot_best(const void *state, phi_strategy_best *out) {
    memset(out, 0, sizeof *out);
    out->text = ((const phi__aot *)state)->answer;
}

static const phi__field phi__aot_fields[] = {
    PHI__FIELD(phi__aot, phase, "phase", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi__aot, problem, "problem", PHI__FIELD_STR, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi__aot, answer, "answer", PHI__FIELD_STR, PHI__FIELD_ALWAYS)};

static phi_json *phi__aot_save(const void *state, phi_arena *arena) {
    return phi__machine_save(phi__aot_fields, PHI__COUNT(phi__aot_fields), state, arena);
}

static phi_status phi__aot_load(void *state, const phi_json *saved, const phi_strategy_env *env,
                                phi_strategy_commands *out) {
    phi__aot *a = (phi__aot *)state;
    phi_status status = phi__machine_load(phi__aot_fields, PHI__COUNT(phi__aot_fields), saved,
                                          PHI__AOT_OVER, env->arena, a);
    if (status != PHI_OK || a->phase != PHI__AOT_EXPLORING) return status;
    return phi__aot_ask(a, env, out);
}

/* ---- public ---- */

PHI_API const phi_strategy *phi_strategy_aot(void) {
    static const phi_strategy strategy = {
        "aot",         sizeof(phi__aot), phi__aot_bill, phi__aot_on,
        phi__aot_best, phi__aot_save,    phi__aot_load, NULL};
    return &strategy;
}
