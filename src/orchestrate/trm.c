/* trm.c - TRM: the machine that reasons, supervises and improves, and the supervisor's parser. */
#include "orchestrate/trm_in.h"

#include "orchestrate/cot_in.h"
#include "orchestrate/parse_in.h"
#include "text/text_in.h"
#include "model/model_in.h"

enum {
    PHI__TRM_SUPERVISIONS = 5,       /* the strategy documents, part E */
    PHI__TRM_SUPERVISIONS_MOST = 50, /* ours: a bound on calls */
    PHI__TRM_STEPS_MOST = 20,        /* the same */
    PHI__TRM_WINDOW = 3,             /* scores that must lie close together */
    PHI__TRM_PROMPT_TOKENS = 200     /* of phi's own prompts, at most, by estimate */
};

/* ---- the supervisor's text ---- */

/* "0.8", "8/10", "80%"; a number above 1 without its scale counts as one of 10, or of 100. */
static bool phi__trm_score(phi_str text, double *out) {
    double of = 1, score;
    phi_str rest;
    if (!phi__parse_number(phi__parse_plain(text), &score, &rest)) return false;
    rest = phi__str_trim(rest);
    if (rest.len > 0 && rest.at[0] == '%')
        of = 100;
    else if (rest.len > 1 && rest.at[0] == '/') {
        if (!phi__parse_number(phi__str_trim(phi__str(rest.at + 1, rest.len - 1)), &of, &rest) ||
            !(of > 0))
            return false;
    } else if (score > 1)
        of = score <= 10 ? 10 : 100;
    score /= of;
    *out = score >= 1 ? 1 : score > 0 ? score : 0; /* not a number: 0 */
    return true;
}

static bool phi__trm_line(phi_str line, const char *word, phi_str *rest) {
    return phi__parse_word(line, word, rest) && phi__parse_colon(*rest, rest);
}

PHI__FN void phi__trm_parse(phi_str text, phi__trm_parsed *out) {
    phi_str line, rest;
    size_t at = 0;
    memset(out, 0, sizeof *out);
    text = phi__parse_tail(text);
    while (phi__parse_full_line(text, &at, &line)) {
        if (phi__parse_bullet(line, &rest)) line = rest;
        line = phi__parse_plain(line);
        if (phi__trm_line(line, "strength", &rest)) out->strengths++;
        if (phi__trm_line(line, "issue", &rest)) out->issues++;
        if (phi__trm_line(line, "suggestion", &rest)) out->suggestions++;
        if (phi__trm_line(line, "score", &rest) && phi__trm_score(rest, &out->score))
            out->has_score = true;
    }
    if (out->has_score || out->strengths + out->issues == 0) return;
    out->has_score = true;
    out->score = (double)out->strengths / (double)(out->strengths + out->issues);
}

/* ---- the machine ---- */

enum {
    PHI__TRM_IDLE,
    PHI__TRM_REASONING,
    PHI__TRM_SUPERVISING,
    PHI__TRM_NOTING,
    PHI__TRM_IMPROVING,
    PHI__TRM_OVER
};

typedef struct phi__trm {
    uint32_t phase, calls, supervisions, unscored, steps; /* steps: notes since the last review */
    phi_str problem;
    phi_str answer;                      /* the newest */
    phi_str feedback;                    /* the supervisor's, on it */
    phi_str notes;                       /* the newest */
    phi_str best;                        /* the best that was scored */
    phi_stop_reason reason, best_reason; /* of `answer`, of `best` */
    bool has_best;
    double best_score, scores[PHI__TRM_WINDOW]; /* the newest last */
    uint32_t score_count;
    phi_usage usage;
} phi__trm;

static const phi_trm_options *phi__trm_options(const phi_strategy_env *env) {
    static const phi_trm_options defaults = {0, 0, 0.0, NULL, NULL, NULL, NULL, 0, false, 0.0, 0};
    return env->options != NULL ? (const phi_trm_options *)env->options : &defaults;
}

static uint32_t phi__trm_most(const phi_trm_options *options) {
    uint32_t most = options->max_supervisions;
    if (most == 0) most = PHI__TRM_SUPERVISIONS;
    return most < PHI__TRM_SUPERVISIONS_MOST ? most : (uint32_t)PHI__TRM_SUPERVISIONS_MOST;
}

static uint32_t phi__trm_steps(const phi_trm_options *options) {
    uint32_t steps = options->reasoning_steps > 0 ? options->reasoning_steps : 1;
    return steps < PHI__TRM_STEPS_MOST ? steps : (uint32_t)PHI__TRM_STEPS_MOST;
}

static double phi__trm_threshold(const phi_trm_options *options) {
    return options->threshold > 0 ? options->threshold : 0.9; /* the strategy documents, part E */
}

/* ---- the calls ---- */

static phi_str phi__trm_system(const phi_trm_options *options, uint32_t phase) {
    static const char reason[] =
        "Solve the problem. Think it through first, then write the result on a last line of its "
        "own:\nAnswer: ...";
    static const char supervise[] =
        "You review an answer to a problem. Check it yourself: recompute numbers, try the edge "
        "cases, compare it with every condition of the problem. Write one line for each thing "
        "that you find, beginning with STRENGTH:, ISSUE: or SUGGESTION:, and end with the line\n"
        "SCORE: <a number from 0.0 to 1.0; 1.0 is correct and complete>";
    static const char improve[] =
        "You improve an answer to a problem by a reviewer's remarks and your notes. Keep what is "
        "right, mend every issue, and write the whole answer anew, with the result on a last line "
        "of its own:\nAnswer: ...";
    static const char note[] =
        "You keep notes while you work on a problem. Think about the answer so far, the "
        "reviewer's remarks and your notes: what is wrong, what follows, what to try next. Write "
        "the notes anew, short and complete; they are all that you will remember. Write no answer.";
    const char *own = phase == PHI__TRM_REASONING     ? options->reason_prompt
                      : phase == PHI__TRM_SUPERVISING ? options->supervise_prompt
                      : phase == PHI__TRM_NOTING      ? options->notes_prompt
                                                      : options->improve_prompt;
    if (own != NULL) return phi_str_of(own);
    if (phase == PHI__TRM_REASONING) return PHI__LIT(reason);
    if (phase == PHI__TRM_NOTING) return PHI__LIT(note);
    return phase == PHI__TRM_SUPERVISING ? PHI__LIT(supervise) : PHI__LIT(improve);
}

static void phi__trm_put_prompt(phi__buf *out, const phi__trm *t) {
    phi__buf_text(out, "Problem: ");
    phi__buf_add_str(out, t->problem);
    if (t->phase == PHI__TRM_REASONING) return;
    phi__buf_text(out, "\n\nThe answer:\n");
    phi__buf_add_str(out, t->answer);
    if (t->phase == PHI__TRM_SUPERVISING) return;
    phi__buf_text(out, "\n\nThe reviewer's remarks:\n");
    phi__buf_add_str(out, t->feedback);
    if (t->notes.len == 0) return;
    phi__buf_text(out, "\n\nYour notes:\n");
    phi__buf_add_str(out, t->notes);
}

static phi_status phi__trm_ask(phi__trm *t, const phi_strategy_env *env,
                               phi_strategy_commands *out) {
    const phi_trm_options *options = phi__trm_options(env);
    phi_strategy_command *command = phi_strategy_add(out, PHI_STRATEGY_ASK);
    phi__buf text;
    if (command == NULL) return PHI_FULL;
    phi__buf_init(&text, env->scratch->memory);
    phi__trm_put_prompt(&text, t);
    if (!phi__machine_text(&text, env->scratch, &command->call.prompt)) return PHI_NO_MEMORY;
    command->call.id = t->calls;
    command->call.system_prompt = phi__trm_system(options, t->phase);
    command->call.max_tokens = options->max_tokens;
    command->call.has_temperature = options->has_temperature;
    command->call.temperature = options->temperature;
    command->call.timeout_ms = options->timeout_ms;
    return PHI_OK;
}

/* ---- the end ---- */

/* The result that an answer names; all of it where it names none. */
static bool phi__trm_named(phi_str text, phi_arena *arena, phi_str *out) {
    phi__cot_parsed parsed;
    if (!phi__cot_parse(text, arena, &parsed)) return false;
    *out = parsed.conclusion.len > 0 ? parsed.conclusion : phi__str_trim(text);
    return true;
}

/* message empty: the best answer is the machine's. */
static phi_status phi__trm_end(phi__trm *t, const char *reason, phi_status status, phi_str message,
                               const phi_strategy_env *env, phi_strategy_commands *out) {
    phi_str answer;
    phi__buf result;
    if (!phi__trm_named(t->has_best ? t->best : t->answer, env->scratch, &answer))
        return PHI_NO_MEMORY;
    t->phase = PHI__TRM_OVER;
    phi__buf_init(&result, env->scratch->memory);
    phi_str raw = t->has_best ? t->best : t->answer;
    phi__buf_char(&result, '{');
    phi__records_option(&result, "answer", answer);
    phi__records_some(&result, "raw_response", raw);
    if (t->has_best) phi__records_double(&result, "score", t->best_score);
    phi__records_u64(&result, "supervisions", t->supervisions);
    phi__records_u64(&result, "calls", t->calls);
    phi__records_u64(&result, "unscored", t->unscored);
    phi__machine_put_usage(&result, &t->usage);
    phi__machine_put_termination(&result, reason, message.len == 0 ? "completed" : "error",
                                 env->elapsed_ms, false);
    if (message.len == 0)
        return phi__machine_done(env, out, answer, t->has_best ? t->best_reason : t->reason,
                                 &result);
    phi__records_str(&result, "error", message);
    return phi__machine_fail(env, out, status, message, &result);
}

/* The next call. */
static phi_status phi__trm_enter(phi__trm *t, uint32_t phase, const phi_strategy_env *env,
                                 phi_strategy_commands *out) {
    static const char *const names[] = {"idle", "reasoning", "supervising", "reasoning",
                                        "improving"};
    if (env->calls_left == 0 && t->answer.len > 0)
        return phi__trm_end(t, "max_calls", PHI_OK, phi__str("", 0), env, out);
    t->phase = phase;
    t->calls++;
    if (phi__machine_emit(out, names[phase]) != PHI_OK) return PHI_FULL;
    return phi__trm_ask(t, env, out);
}

static phi_status phi__trm_failed(phi__trm *t, const phi_strategy_event *event,
                                  const phi_strategy_env *env, phi_strategy_commands *out) {
    bool stop = event->kind == PHI_STRATEGY_STOP;
    phi_str message = stop ? PHI__LIT("ended before there was an answer") : event->message;
    phi__message_add_usage(&t->usage, &event->usage);
    if (stop && t->answer.len > 0)
        return phi__trm_end(t, env->calls_left == 0 ? "max_calls" : "stopped", PHI_OK,
                            phi__str("", 0), env, out);
    if (message.len == 0) message = PHI__LIT("a model call failed");
    return phi__trm_end(t, stop ? "stopped" : "error", stop ? PHI_LIMIT : event->status, message,
                        env, out);
}

/* ---- events ---- */

static void phi__trm_note_score(phi__trm *t, double score) {
    if (t->score_count == PHI__TRM_WINDOW)
        memmove(&t->scores[0], &t->scores[1], (PHI__TRM_WINDOW - 1) * sizeof t->scores[0]);
    else
        t->score_count++;
    t->scores[t->score_count - 1] = score;
    if (t->has_best && score <= t->best_score) return;
    t->has_best = true;
    t->best_score = score;
    t->best = t->answer;
    t->best_reason = t->reason;
}

static phi_status phi__trm_answered(phi__trm *t, const phi_strategy_event *event,
                                    const phi_strategy_env *env, phi_strategy_commands *out) {
    phi_str text = phi__str_trim(event->text);
    phi__message_add_usage(&t->usage, &event->usage);
    if (t->phase == PHI__TRM_SUPERVISING) {
        const phi_trm_options *options = phi__trm_options(env);
        phi__trm_parsed parsed;
        phi__trm_parse(text, &parsed);
        if (!phi__arena_str(env->arena, text, &t->feedback)) return PHI_NO_MEMORY;
        t->supervisions++;
        if (parsed.has_score)
            phi__trm_note_score(t, parsed.score);
        else
            t->unscored++;
        if (parsed.has_score && parsed.score >= phi__trm_threshold(options))
            return phi__trm_end(t, "threshold", PHI_OK, phi__str("", 0), env, out);
        double low = t->scores[0], high = t->scores[0];
        for (uint32_t i = 1; i < t->score_count; i++) {
            if (t->scores[i] < low) low = t->scores[i];
            if (t->scores[i] > high) high = t->scores[i];
        }
        /* the strategy documents, part E; 0.52 - 0.5 is a little more than 0.02 */
        if (t->score_count == PHI__TRM_WINDOW && high - low < 0.02 + 1e-9)
            return phi__trm_end(t, "converged", PHI_OK, phi__str("", 0), env, out);
        if (t->supervisions >= phi__trm_most(options))
            return phi__trm_end(t, "max_supervisions", PHI_OK, phi__str("", 0), env, out);
        t->steps = 0;
        return phi__trm_enter(t, PHI__TRM_NOTING, env, out);
    }
    if (t->phase == PHI__TRM_NOTING) {
        /* Notes without a word leave those before them. */
        bool more = ++t->steps < phi__trm_steps(phi__trm_options(env));
        if (text.len > 0 && !phi__arena_str(env->arena, text, &t->notes)) return PHI_NO_MEMORY;
        return phi__trm_enter(t, more ? PHI__TRM_NOTING : PHI__TRM_IMPROVING, env, out);
    }
    if (text.len > 0) {
        if (!phi__arena_str(env->arena, text, &t->answer)) return PHI_NO_MEMORY;
        t->reason = event->stop_reason;
        return phi__trm_enter(t, PHI__TRM_SUPERVISING, env, out);
    }
    if (t->has_best) return phi__trm_end(t, "no_answer", PHI_OK, phi__str("", 0), env, out);
    return phi__trm_end(t, "no_answer", PHI_REFUSED, PHI__LIT("the model wrote no answer"), env,
                        out);
}

static phi_status phi__trm_on(void *state, const phi_strategy_event *event,
                              const phi_strategy_env *env, phi_strategy_commands *out) {
    phi__trm *t = (phi__trm *)state;
    if (event->kind == PHI_STRATEGY_BEGIN) {
        if (t->phase != PHI__TRM_IDLE) return PHI_OK;
        if (!phi__arena_str(env->arena, event->text, &t->problem)) return PHI_NO_MEMORY;
        return phi__trm_enter(t, PHI__TRM_REASONING, env, out);
    }
    if (t->phase == PHI__TRM_IDLE || t->phase == PHI__TRM_OVER) return PHI_OK;
    if (event->kind == PHI_STRATEGY_STOP) return phi__trm_failed(t, event, env, out);
    if (event->call_id != t->calls) return PHI_OK;
    if (event->kind == PHI_STRATEGY_ANSWER) return phi__trm_answered(t, event, env, out);
    return phi__trm_failed(t, event, env, out);
}

static void phi__trm_bill(const void *opaque, uint64_t prompt_tokens, uint64_t answer_tokens,
                          phi_strategy_bill *out) {
    phi_strategy_env env = PHI_ZERO;
    env.options = opaque;
    uint64_t most = phi__trm_most(phi__trm_options(&env));
    memset(out, 0, sizeof *out);
    uint64_t turns = (most - 1) * (1 + (uint64_t)phi__trm_steps(phi__trm_options(&env)));
    out->calls = 1 + most + turns;
    /* a supervisor reads the answer, the others the remarks and the notes, too */
    out->input_tokens =
        out->calls * (prompt_tokens + PHI__TRM_PROMPT_TOKENS) + (most + 3 * turns) * answer_tokens;
    out->output_tokens = out->calls * phi__trm_options(&env)->max_tokens;
}

static void phi__trm_best(const void *state, phi_strategy_best *out) {
    const phi__trm *t = (const phi__trm *)state;
    memset(out, 0, sizeof *out);
    out->text = t->has_best ? t->best : t->answer;
    out->has_score = t->has_best;
    out->score = t->best_score;
}

static const phi__field phi__trm_fields[] = {
    PHI__FIELD(phi__trm, phase, "phase", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi__trm, calls, "calls", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi__trm, supervisions, "supervisions", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi__trm, unscored, "unscored", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi__trm, reason, "reason", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi__trm, best_reason, "best_reason", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi__trm, problem, "problem", PHI__FIELD_STR, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi__trm, answer, "answer", PHI__FIELD_STR, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi__trm, feedback, "feedback", PHI__FIELD_STR, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi__trm, notes, "notes", PHI__FIELD_STR, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi__trm, steps, "steps", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi__trm, best, "best", PHI__FIELD_STR, PHI__FIELD_ALWAYS)};

static phi_json *phi__trm_save(const void *state, phi_arena *arena) {
    const phi__trm *t = (const phi__trm *)state;
    phi__buf out;
    phi__buf_init(&out, arena->memory);
    phi__buf_char(&out, '{');
    phi__records_put(&out, phi__trm_fields, PHI__COUNT(phi__trm_fields), t);
    if (t->has_best) phi__records_double(&out, "best_score", t->best_score);
    phi__records_raw(&out, "scores", "[");
    for (uint32_t i = 0; i < t->score_count; i++) {
        phi__json_write_comma(&out);
        phi__json_number_put_double(&out, t->scores[i]);
    }
    phi__buf_char(&out, ']');
    phi__machine_put_usage(&out, &t->usage);
    phi__buf_char(&out, '}');
    return phi__machine_tree(&out, arena);
}

static phi_status phi__trm_load(void *state, const phi_json *saved, const phi_strategy_env *env,
                                phi_strategy_commands *out) {
    phi__trm *t = (phi__trm *)state;
    const phi_json *scores = phi_json_get(saved, "scores");
    size_t count = phi_json_count(scores);
    if (count > PHI__TRM_WINDOW) return PHI_PARSE;
    phi_status status = phi__machine_load(phi__trm_fields, PHI__COUNT(phi__trm_fields), saved,
                                          PHI__TRM_OVER, env->arena, t);
    if (status != PHI_OK) return status;
    for (size_t i = 0; i < count; i++) t->scores[i] = phi_json_num(phi_json_at(scores, i), 0);
    t->score_count = (uint32_t)count;
    t->has_best = phi_json_get(saved, "best_score") != NULL;
    t->best_score = phi__records_get_double(saved, "best_score");
    phi__machine_get_usage(saved, &t->usage);
    if (t->phase == PHI__TRM_IDLE || t->phase == PHI__TRM_OVER) return PHI_OK;
    return phi__trm_ask(t, env, out);
}

/* ---- public ---- */

PHI_API const phi_strategy *phi_strategy_trm(void) {
    static const phi_strategy strategy = {
        "trm",         sizeof(phi__trm), phi__trm_bill, phi__trm_on,
        phi__trm_best, phi__trm_save,    phi__trm_load, NULL};
    return &strategy;
}
