/* trm.c - TRM: the machine that reasons, supervises and improves, and its parser for scores. */
#include "orchestrate/machine_in.h"

enum {
    PHI__TRM_SUPERVISIONS_MOST = 50, /* max. calls of the supervisor; phi's own bound */
    PHI__TRM_STEPS_MOST = 20,        /* max. calls for notes in a turn; phi's own bound */
    PHI__TRM_WINDOW = 3,             /* number of scores that must lie close together */
    PHI__TRM_PROMPT_TOKENS = 200     /* upper estimate of the tokens of phi's own prompts */
};

/* ---- parsing the supervisor's text ---- */

/* Reads a score: "0.8", "8/10" or "80%". A bare number up to 1 is the score itself. A greater one
   is out of 10, or, if it is above 10, out of 100. */
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
    *out = phi__parse_clamp(score / of);
    return true;
}

PHI__FN void phi__trm_parse(phi_str text, phi__trm_parsed *out) {
    phi_str line, rest;
    size_t at = 0;
    memset(out, 0, sizeof *out);
    text = phi__parse_tail(text);
    while (phi__parse_full_line(text, &at, &line)) {
        out->strengths += phi__parse_named(line, "strength", &rest);
        out->issues += phi__parse_named(line, "issue", &rest);
        out->suggestions += phi__parse_named(line, "suggestion", &rest);
        if (phi__parse_named(line, "score", &rest) && phi__trm_score(rest, &out->score))
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
    phi__machine m;
    phi_trm_options o; /* options of the current event, with defaults filled in */
    /* steps: note-taking calls since the last review. */
    uint32_t supervisions, unscored, steps;
    phi_str problem;
    phi_str answer;                      /* newest answer */
    phi_str feedback;                    /* the supervisor's remarks on the newest answer */
    phi_str notes;                       /* newest notes */
    phi_str best;                        /* answer with the best score */
    phi_stop_reason reason, best_reason; /* stop reasons of `answer` and `best` */
    bool has_best;
    double best_score, scores[PHI__TRM_WINDOW]; /* scores: newest last */
    uint32_t score_count;
} phi__trm;

static phi_trm_options phi__trm_options_of(const void *options) {
    phi_trm_options o = PHI_ZERO;
    if (options != NULL) o = *(const phi_trm_options *)options;
    if (o.max_supervisions == 0) o.max_supervisions = 5;
    if (o.max_supervisions > PHI__TRM_SUPERVISIONS_MOST)
        o.max_supervisions = PHI__TRM_SUPERVISIONS_MOST;
    if (o.reasoning_steps == 0) o.reasoning_steps = 1;
    if (o.reasoning_steps > PHI__TRM_STEPS_MOST) o.reasoning_steps = PHI__TRM_STEPS_MOST;
    if (!(o.threshold > 0)) o.threshold = 0.9;
    return o;
}

static phi_str phi__trm_system(const phi__trm *t) {
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
    /* in the order of the phases */
    static const char *const own[] = {reason, supervise, note, improve};
    const char *const given[] = {t->o.reason_prompt, t->o.supervise_prompt, t->o.notes_prompt,
                                 t->o.improve_prompt};
    uint32_t i = t->m.phase - PHI__TRM_REASONING;
    return phi_str_of(given[i] != NULL ? given[i] : own[i]);
}

static void phi__trm_put_prompt(phi__buf *out, const phi__trm *t) {
    phi__buf_text(out, "Problem: ");
    phi__buf_add_str(out, t->problem);
    if (t->m.phase == PHI__TRM_REASONING) return;
    phi__buf_text(out, "\n\nThe answer:\n");
    phi__buf_add_str(out, t->answer);
    if (t->m.phase == PHI__TRM_SUPERVISING) return;
    phi__buf_text(out, "\n\nThe reviewer's remarks:\n");
    phi__buf_add_str(out, t->feedback);
    if (t->notes.len == 0) return;
    phi__buf_text(out, "\n\nYour notes:\n");
    phi__buf_add_str(out, t->notes);
}

static phi_status phi__trm_ask(phi__trm *t) {
    phi_strategy_call call = PHI_ZERO;
    phi__buf text;
    phi__buf_init(&text, t->m.env->scratch->memory);
    phi__trm_put_prompt(&text, t);
    call.system_prompt = phi__trm_system(t);
    call.max_tokens = t->o.max_tokens;
    call.has_temperature = t->o.has_temperature;
    call.temperature = t->o.temperature;
    call.timeout_ms = t->o.timeout_ms;
    return phi__machine_ask(&t->m, &call, &text);
}

/* ---- the end ---- */

/* Ends the search with the best answer, or with an error if `message` is not empty. The answer is
   the marked conclusion of the text, or the whole text if none is marked. */
static phi_status phi__trm_end(phi__trm *t, const char *reason, phi_status status,
                               phi_str message) {
    phi_str raw = t->has_best ? t->best : t->answer;
    phi__cot_parsed parsed;
    phi__buf result;
    if (!phi__cot_parse(raw, t->m.env->scratch, &parsed)) return PHI_NO_MEMORY;
    phi_str answer = parsed.conclusion.len > 0 ? parsed.conclusion : phi__str_trim(raw);
    t->m.phase = PHI__TRM_OVER;
    phi__machine_result(&t->m, &result);
    phi__records_option(&result, "answer", answer);
    phi__records_some(&result, "raw_response", raw);
    if (t->has_best) phi__records_double(&result, "score", t->best_score);
    phi__records_u64(&result, "supervisions", t->supervisions);
    phi__records_u64(&result, "calls", t->m.call_id);
    phi__records_u64(&result, "unscored", t->unscored);
    phi__message_put_usage(&result, &t->m.usage);
    phi__machine_put_termination(&t->m, &result, reason, message.len == 0 ? "completed" : "error",
                                 false);
    if (message.len == 0)
        return phi__machine_done(&t->m, answer, t->has_best ? t->best_reason : t->reason, &result);
    phi__records_str(&result, "error", message);
    return phi__machine_fail(&t->m, status, message, &result);
}

static phi_status phi__trm_finish(phi__trm *t, const char *reason) {
    return phi__trm_end(t, reason, PHI_OK, phi__str("", 0));
}

static phi_status phi__trm_enter(phi__trm *t, uint32_t phase) {
    static const char *const names[] = {"idle", "reasoning", "supervising", "reasoning",
                                        "improving"};
    if (t->m.env->calls_left == 0 && t->answer.len > 0) return phi__trm_finish(t, "max_calls");
    t->m.phase = phase;
    t->m.call_id++;
    phi_status status = phi__machine_emit(&t->m, names[phase]);
    return status == PHI_OK ? phi__trm_ask(t) : status;
}

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

static phi_status phi__trm_supervised(phi__trm *t, phi_str text) {
    phi__trm_parsed parsed;
    phi__trm_parse(text, &parsed);
    if (!phi__arena_str(t->m.env->arena, text, &t->feedback)) return PHI_NO_MEMORY;
    t->supervisions++;
    if (parsed.has_score)
        phi__trm_note_score(t, parsed.score);
    else
        t->unscored++;
    if (parsed.has_score && parsed.score >= t->o.threshold) return phi__trm_finish(t, "threshold");
    double low = t->scores[0], high = t->scores[0];
    for (uint32_t i = 1; i < t->score_count; i++) {
        if (t->scores[i] < low) low = t->scores[i];
        if (t->scores[i] > high) high = t->scores[i];
    }
    /* the margin is for rounding: 0.52 - 0.5 is a little more than 0.02 */
    if (t->score_count == PHI__TRM_WINDOW && high - low < 0.02 + 1e-9)
        return phi__trm_finish(t, "converged");
    if (t->supervisions >= t->o.max_supervisions) return phi__trm_finish(t, "max_supervisions");
    t->steps = 0;
    return phi__trm_enter(t, PHI__TRM_NOTING);
}

static phi_status phi__trm_answered(phi__trm *t, const phi_strategy_event *event) {
    phi_str text = phi__str_trim(event->text);
    phi_arena *arena = t->m.env->arena;
    if (t->m.phase == PHI__TRM_SUPERVISING) return phi__trm_supervised(t, text);
    if (t->m.phase == PHI__TRM_NOTING) {
        /* Empty notes keep the previous ones. */
        if (text.len > 0 && !phi__arena_str(arena, text, &t->notes)) return PHI_NO_MEMORY;
        bool more = ++t->steps < t->o.reasoning_steps;
        return phi__trm_enter(t, more ? PHI__TRM_NOTING : PHI__TRM_IMPROVING);
    }
    if (text.len > 0) {
        if (!phi__arena_str(arena, text, &t->answer)) return PHI_NO_MEMORY;
        t->reason = event->stop_reason;
        return phi__trm_enter(t, PHI__TRM_SUPERVISING);
    }
    if (t->has_best) return phi__trm_finish(t, "no_answer");
    return phi__trm_end(t, "no_answer", PHI_REFUSED, PHI__LIT("the model wrote no answer"));
}

static phi_status phi__trm_on(void *state, const phi_strategy_event *event,
                              const phi_strategy_env *env, phi_strategy_commands *out) {
    phi__trm *t = (phi__trm *)state;
    if (!phi__machine_takes(&t->m, PHI__TRM_OVER, event, env, out)) return PHI_OK;
    t->o = phi__trm_options_of(env->options);
    switch (event->kind) {
    case PHI_STRATEGY_BEGIN:
        if (!phi__arena_str(env->arena, event->text, &t->problem)) return PHI_NO_MEMORY;
        return phi__trm_enter(t, PHI__TRM_REASONING);
    case PHI_STRATEGY_ANSWER: return phi__trm_answered(t, event);
    case PHI_STRATEGY_STOP:
        if (t->answer.len > 0)
            return phi__trm_finish(t, env->calls_left == 0 ? "max_calls" : "stopped");
        return phi__trm_end(t, "stopped", PHI_LIMIT, PHI__LIT("ended before there was an answer"));
    case PHI_STRATEGY_FAILED: break;
    }
    return phi__trm_end(t, "error", event->status,
                        event->message.len > 0 ? event->message : PHI__LIT("a model call failed"));
}

static void phi__trm_bill(const void *options, uint64_t prompt_tokens, uint64_t answer_tokens,
                          phi_strategy_bill *out) {
    phi_trm_options o = phi__trm_options_of(options);
    uint64_t most = o.max_supervisions, turns = (most - 1) * (1 + (uint64_t)o.reasoning_steps);
    memset(out, 0, sizeof *out);
    out->calls = 1 + most + turns;
    /* a supervisor reads the answer; other calls also read the remarks and the notes */
    out->input_tokens =
        out->calls * (prompt_tokens + PHI__TRM_PROMPT_TOKENS) + (most + 3 * turns) * answer_tokens;
    out->output_tokens = out->calls * o.max_tokens;
}

static void phi__trm_best(const void *state, phi_strategy_best *out) {
    const phi__trm *t = (const phi__trm *)state;
    memset(out, 0, sizeof *out);
    out->text = t->has_best ? t->best : t->answer;
    out->has_score = t->has_best;
    out->score = t->best_score;
}

static const phi__field phi__trm_fields[] = {
    PHI__FIELD(phi__trm, m.phase, "phase", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi__trm, m.call_id, "calls", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__KEYED(phi__trm, supervisions, UINT, ALWAYS),
    PHI__KEYED(phi__trm, unscored, UINT, ALWAYS),
    PHI__KEYED(phi__trm, reason, UINT, ALWAYS),
    PHI__KEYED(phi__trm, best_reason, UINT, ALWAYS),
    PHI__KEYED(phi__trm, problem, STR, ALWAYS),
    PHI__KEYED(phi__trm, answer, STR, ALWAYS),
    PHI__KEYED(phi__trm, feedback, STR, ALWAYS),
    PHI__KEYED(phi__trm, notes, STR, ALWAYS),
    PHI__KEYED(phi__trm, steps, UINT, ALWAYS),
    PHI__KEYED(phi__trm, best, STR, ALWAYS)};

static phi_json *phi__trm_save(const void *state, phi_arena *arena) {
    const phi__trm *t = (const phi__trm *)state;
    phi__buf out;
    phi__machine_save(&out, phi__trm_fields, PHI__COUNT(phi__trm_fields), t, arena);
    if (t->has_best) phi__records_double(&out, "best_score", t->best_score);
    phi__machine_put_doubles(&out, "scores", t->scores, t->score_count);
    return phi__machine_saved(&out, &t->m.usage, arena);
}

static phi_status phi__trm_load(void *state, const phi_json *saved, const phi_strategy_env *env,
                                phi_strategy_commands *out) {
    phi__trm *t = (phi__trm *)state;
    const phi_json *scores = phi_json_get(saved, "scores");
    size_t count = phi_json_count(scores);
    if (count > PHI__TRM_WINDOW) return PHI_PARSE;
    phi_status status = phi__machine_load(&t->m, phi__trm_fields, PHI__COUNT(phi__trm_fields),
                                          PHI__TRM_OVER, saved, env, out);
    if (status != PHI_OK) return status;
    t->o = phi__trm_options_of(env->options);
    for (size_t i = 0; i < count; i++) t->scores[i] = phi_json_num(phi_json_at(scores, i), 0);
    t->score_count = (uint32_t)count;
    t->has_best = phi_json_get(saved, "best_score") != NULL;
    t->best_score = phi__records_get_double(saved, "best_score");
    return t->m.phase == PHI__TRM_IDLE || t->m.phase == PHI__TRM_OVER ? PHI_OK : phi__trm_ask(t);
}

PHI_API const phi_strategy *phi_strategy_trm(void) {
    static const phi_strategy strategy = {
        "trm",         sizeof(phi__trm), phi__trm_bill, phi__trm_on,
        phi__trm_best, phi__trm_save,    phi__trm_load, NULL};
    return &strategy;
}
