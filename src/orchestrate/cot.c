/* cot.c - Chain-of-Thought and Chain-of-Draft: the machine of one call, and its parser. */
#include "orchestrate/cot_in.h"

#include "orchestrate/parse_in.h"
#include "text/text_in.h"

/* ---- the answer ---- */

/* Behind a marker: the rest of the line, or the next line where nothing follows on this one. */
static phi_str phi__cot_behind(phi_str text, size_t at, phi_str rest) {
    phi_str line;
    rest = phi__parse_plain(rest);
    if (rest.len == 0 && phi__parse_full_line(text, &at, &line)) rest = phi__parse_plain(line);
    return rest;
}

/* "Answer: x": words that name it, with a colon. */
static bool phi__cot_named(phi_str line, phi_str *rest) {
    static const char *const words[] = {"in conclusion", "conclusion", "final answer", "answer"};
    for (size_t i = 0; i < PHI__COUNT(words); i++)
        if (phi__parse_word(line, words[i], rest)) return phi__parse_colon(*rest, rest);
    return false;
}

/* "Therefore x": words that conclude. "So" is prose without a comma or a colon after it. */
static bool phi__cot_concluded(phi_str line, phi_str *rest) {
    static const char *const words[] = {"in conclusion", "conclusion", "final answer", "answer",
                                        "therefore",     "thus",       "hence",        "so"};
    for (size_t i = 0; i < PHI__COUNT(words); i++) {
        if (!phi__parse_word(line, words[i], rest)) continue;
        if (rest->len > 0 && rest->at[0] == ',') {
            *rest = phi__str(rest->at + 1, rest->len - 1);
            return true;
        }
        return phi__parse_colon(*rest, rest) || i + 1 < PHI__COUNT(words);
    }
    return false;
}

/* The last marker counts: a model that corrects itself writes the right one later. */
static phi_str phi__cot_marked(phi_str text, bool (*marker)(phi_str line, phi_str *rest)) {
    phi_str found = {NULL, 0}, line, rest;
    size_t at = 0;
    while (phi__parse_line(text, &at, &line)) {
        phi_str body = phi__parse_plain(line);
        if (!marker(body, &rest)) continue;
        rest = phi__cot_behind(text, at, rest);
        if (rest.len > 0) found = rest;
    }
    return found;
}

static phi_str phi__cot_conclusion(phi_str text) {
    size_t at = 0, last = SIZE_MAX;
    phi_str found;
    while ((at = phi__str_find(text, at, "####")) != SIZE_MAX) {
        last = at + 4;
        at += 4;
    }
    if (last != SIZE_MAX) {
        found = phi__parse_plain(phi__str(text.at + last, text.len - last));
        if (found.len > 0) return found;
    }
    found = phi__cot_marked(text, phi__cot_named);
    return found.len > 0 ? found : phi__cot_marked(text, phi__cot_concluded);
}

static bool phi__cot_step(phi_str line, phi_str *rest) {
    uint32_t number;
    return phi__parse_step(line, rest) || phi__parse_numbered(line, &number, rest) ||
           phi__parse_bullet(line, rest);
}

static bool phi__cot_indented(phi_str line) {
    return line.len > 0 && (line.at[0] == ' ' || line.at[0] == '\t');
}

/* A line that belongs to the step before it: up to a mark, and after a blank line only where it is
   indented. */
static bool phi__cot_goes_on(phi_str line, bool blank) {
    phi_str plain = phi__parse_plain(line), rest;
    if (plain.len == 0 || (blank && !phi__cot_indented(line))) return false;
    return !phi__str_starts(plain, "####") && !phi__cot_concluded(plain, &rest);
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

/* ---- the machine ---- */

enum { PHI__COT_PROMPT_TOKENS = 160 }; /* of phi's own prompts, at most, by estimate */

static phi_str phi__cot_prompt(bool draft) {
    static const char thought[] =
        "Work the task out before you answer it. Write the reasoning as numbered lines, one "
        "thought on each:\n"
        "Step 1: ...\n"
        "Step 2: ...\n"
        "Check the result against the task. End with one line that holds nothing but the result:\n"
        "Conclusion: ...";
    static const char drafted[] =
        "Work the task out in drafts before you answer it. Write one draft a line, each of about "
        "five words or one equation, and nothing else. End with the mark #### and behind it the "
        "final answer alone.\n"
        "A task might be: a baker has 4 trays of 6 rolls and sells 9; how many are left?\n"
        "4 trays of 6: 24\n"
        "24 - 9 sold: 15\n"
        "#### 15";
    return draft ? PHI__LIT(drafted) : PHI__LIT(thought);
}

static phi_status phi__cot_ask(phi__machine_one *c, const phi_strategy_env *env,
                               phi_strategy_commands *out) {
    static const phi_cot_options defaults = {NULL, 0, false, 0.0, 0};
    const phi_cot_options *options =
        env->options != NULL ? (const phi_cot_options *)env->options : &defaults;
    phi_strategy_command *command = phi_strategy_add(out, PHI_STRATEGY_ASK);
    if (command == NULL) return PHI_FULL;
    command->call.id = 1;
    command->call.system_prompt = options->system_prompt != NULL
                                      ? phi_str_of(options->system_prompt)
                                      : phi__cot_prompt(c->draft);
    command->call.in_conversation = true;
    command->call.max_tokens = options->max_tokens;
    command->call.has_temperature = options->has_temperature;
    command->call.temperature = options->temperature;
    command->call.timeout_ms = options->timeout_ms;
    c->phase = PHI__MACHINE_CALLING;
    return PHI_OK;
}

static void phi__cot_result(phi__buf *result, const phi_strategy_event *event, phi_str answer,
                            const phi__cot_parsed *parsed) {
    phi__buf_char(result, '{');
    phi__records_option(result, "answer", answer);
    phi__records_option(result, "conclusion", parsed->conclusion);
    phi__records_raw(result, "steps", "[");
    for (size_t i = 0; i < parsed->step_count; i++) {
        phi__json_write_comma(result);
        phi__json_write_str(result, parsed->steps[i]);
    }
    phi__buf_char(result, ']');
    phi__records_str(result, "raw_response", event->text);
    phi__machine_put_usage(result, &event->usage);
}

static phi_status phi__cot_failed(phi__machine_one *c, const phi_strategy_event *event,
                                  const phi_strategy_env *env, phi_strategy_commands *out) {
    bool stop = event->kind == PHI_STRATEGY_STOP;
    phi_str message = stop ? PHI__LIT("ended before there was an answer") : event->message;
    phi__cot_parsed parsed;
    phi__buf result;
    if (!phi__cot_parse(event->text, env->scratch, &parsed)) return PHI_NO_MEMORY;
    memset(&parsed.conclusion, 0, sizeof parsed.conclusion); /* of half an answer */
    c->phase = PHI__MACHINE_OVER;
    phi__buf_init(&result, env->scratch->memory);
    phi__cot_result(&result, event, parsed.conclusion, &parsed);
    phi__machine_put_termination(&result, stop ? "stopped" : "error", "error", env->elapsed_ms,
                                 false);
    phi__records_str(&result, "error", message);
    return phi__machine_fail(env, out, stop ? PHI_LIMIT : event->status, message, &result);
}

static phi_status phi__cot_on(void *state, const phi_strategy_event *event,
                              const phi_strategy_env *env, phi_strategy_commands *out) {
    phi__machine_one *c = (phi__machine_one *)state;
    if (event->kind == PHI_STRATEGY_BEGIN) {
        if (c->phase != PHI__MACHINE_IDLE) return PHI_OK;
        if (phi__machine_emit(out, "reasoning") != PHI_OK) return PHI_FULL;
        return phi__cot_ask(c, env, out);
    }
    if (c->phase != PHI__MACHINE_CALLING) return PHI_OK;
    if (event->kind == PHI_STRATEGY_STOP) return phi__cot_failed(c, event, env, out);
    if (event->call_id != 1) return PHI_OK;
    if (event->kind == PHI_STRATEGY_ANSWER) {
        phi__cot_parsed parsed;
        phi__buf result;
        if (!phi__cot_parse(event->text, env->scratch, &parsed)) return PHI_NO_MEMORY;
        phi_str answer = parsed.conclusion.len > 0 ? parsed.conclusion : phi__str_trim(event->text);
        if (!phi__arena_str(env->arena, answer, &c->answer)) return PHI_NO_MEMORY;
        c->phase = PHI__MACHINE_OVER;
        phi__buf_init(&result, env->scratch->memory);
        phi__cot_result(&result, event, answer, &parsed);
        phi__machine_put_termination(&result, answer.len > 0 ? "success" : "no_answer",
                                     answer.len > 0 ? "completed" : "error", env->elapsed_ms,
                                     false);
        if (answer.len > 0) return phi__machine_done(env, out, answer, event->stop_reason, &result);
        return phi__machine_fail(env, out, PHI_REFUSED, PHI__LIT("the model wrote no answer"),
                                 &result);
    }
    return phi__cot_failed(c, event, env, out);
}

static phi_status phi__cot_on_draft(void *state, const phi_strategy_event *event,
                                    const phi_strategy_env *env, phi_strategy_commands *out) {
    ((phi__machine_one *)state)->draft = true;
    return phi__cot_on(state, event, env, out);
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
    phi__machine_one *c = (phi__machine_one *)state;
    phi_status status = phi__machine_one_load(c, saved, env->arena);
    if (status != PHI_OK || c->phase != PHI__MACHINE_CALLING) return status;
    return phi__cot_ask(c, env, out);
}

static phi_status phi__cot_load_draft(void *state, const phi_json *saved,
                                      const phi_strategy_env *env, phi_strategy_commands *out) {
    ((phi__machine_one *)state)->draft = true;
    return phi__cot_load(state, saved, env, out);
}

/* ---- public ---- */

PHI_API const phi_strategy *phi_strategy_cot(phi_cot_kind kind) {
    static const phi_strategy steps = {"cot",
                                       sizeof(phi__machine_one),
                                       phi__cot_bill,
                                       phi__cot_on,
                                       phi__machine_one_best,
                                       phi__machine_one_save,
                                       phi__cot_load,
                                       NULL};
    static const phi_strategy drafts = {"cod",
                                        sizeof(phi__machine_one),
                                        phi__cot_bill,
                                        phi__cot_on_draft,
                                        phi__machine_one_best,
                                        phi__machine_one_save,
                                        phi__cot_load_draft,
                                        NULL};
    return kind == PHI_COT_DRAFTS ? &drafts : &steps;
}
