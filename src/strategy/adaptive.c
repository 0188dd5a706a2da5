/* adaptive.c - Adaptive: a machine that hands the prompt to another one. */
#include "strategy/adaptive_in.h"

#include "strategy/machine_in.h"
#include "text/records_in.h"

static phi_adaptive_options phi__adaptive_options_of(const void *options) {
    phi_adaptive_options o;
    memset(&o, 0, sizeof o);
    if (options != NULL) o = *(const phi_adaptive_options *)options;
    if (o.max_tool_rounds == 0) o.max_tool_rounds = 9; /* max_iterations 10; part E, ReAct */
    return o;
}

/* ---- react ---- */

typedef struct phi__adaptive_loop {
    uint32_t phase; /* 0: idle, 1: the call is under way, 2: over */
    phi_str answer;
} phi__adaptive_loop;

static phi_status phi__adaptive_loop_ask(const phi_strategy_env *env, phi_strategy_commands *out) {
    phi_adaptive_options o = phi__adaptive_options_of(env->options);
    phi_strategy_command *command = phi_strategy_add(out, PHI_STRATEGY_ASK);
    if (command == NULL) return PHI_FULL;
    command->call.id = 1;
    command->call.in_conversation = true;
    command->call.tools = true;
    command->call.max_tool_rounds = o.max_tool_rounds;
    return PHI_OK;
}

/* The model wants more rounds of tools than it may have: its text so far is the answer. */
static bool phi__adaptive_loop_spent(const phi_strategy_event *event, const phi_strategy_env *env) {
    return event->kind == PHI_STRATEGY_FAILED && event->status == PHI_LIMIT &&
           event->tool_rounds > phi__adaptive_options_of(env->options).max_tool_rounds;
}

static phi_status phi__adaptive_loop_over(phi__adaptive_loop *loop, const phi_strategy_event *event,
                                          const phi_strategy_env *env, phi_strategy_commands *out) {
    bool spent = phi__adaptive_loop_spent(event, env), stop = event->kind == PHI_STRATEGY_STOP;
    phi_str text = phi__str_trim(event->text), error = event->message;
    bool part = spent || (stop && text.len > 0), good = part || event->kind == PHI_STRATEGY_ANSWER;
    phi__buf result;
    loop->phase = 2;
    if (spent && text.len == 0) text = PHI__LIT("No answer within the allowed rounds of tools.");
    if (good && !phi__arena_str(env->arena, text, &loop->answer)) return PHI_NO_MEMORY;
    if (stop) error = PHI__LIT("ended before there was an answer");
    if (good && text.len == 0) error = PHI__LIT("the model wrote no answer");
    good = good && text.len > 0;
    phi__buf_init(&result, env->scratch->memory);
    phi__buf_char(&result, '{');
    phi__records_option(&result, "answer", good ? text : phi__str("", 0));
    phi__records_u64(&result, "tool_rounds", event->tool_rounds - (spent ? 1 : 0));
    phi__machine_put_usage(&result, &event->usage);
    phi__machine_put_termination(&result,
                                 spent  ? "max_tool_rounds"
                                 : stop ? env->calls_left == 0 ? "max_calls" : "stopped"
                                 : good ? "final_answer"
                                        : "error",
                                 part   ? "unfinished"
                                 : good ? "completed"
                                        : "error",
                                 env->elapsed_ms, false);
    if (good) return phi__machine_done(env, out, text, event->stop_reason, &result);
    phi__records_str(&result, "error", error);
    if (event->kind == PHI_STRATEGY_FAILED)
        return phi__machine_fail(env, out, event->status, error, &result);
    return phi__machine_fail(env, out, stop ? PHI_LIMIT : PHI_REFUSED, error, &result);
}

static phi_status phi__adaptive_loop_on(void *state, const phi_strategy_event *event,
                                        const phi_strategy_env *env, phi_strategy_commands *out) {
    phi__adaptive_loop *loop = (phi__adaptive_loop *)state;
    if (event->kind == PHI_STRATEGY_BEGIN) {
        if (loop->phase != 0) return PHI_OK;
        loop->phase = 1;
        return phi__adaptive_loop_ask(env, out);
    }
    if (loop->phase != 1 || (event->kind != PHI_STRATEGY_STOP && event->call_id != 1))
        return PHI_OK;
    return phi__adaptive_loop_over(loop, event, env, out);
}

static void phi__adaptive_loop_bill(const void *options, uint64_t prompt_tokens,
                                    uint64_t answer_tokens, phi_strategy_bill *out) {
    phi_adaptive_options o = phi__adaptive_options_of(options);
    double calls = (double)o.max_tool_rounds + 1;
    /* a round reads what the rounds before it wrote, and the results of its calls */
    double in = calls * ((double)prompt_tokens + calls * (double)answer_tokens);
    memset(out, 0, sizeof *out);
    out->calls = (uint64_t)o.max_tool_rounds + 1;
    out->in_conversation = out->calls;
    out->input_tokens = in < 1e18 ? (uint64_t)in : UINT64_MAX;
}

static void phi__adaptive_loop_best(const void *state, phi_strategy_best *out) {
    memset(out, 0, sizeof *out);
    out->text = ((const phi__adaptive_loop *)state)->answer;
}

static phi_json *phi__adaptive_loop_save(const void *state, phi_arena *arena) {
    const phi__adaptive_loop *loop = (const phi__adaptive_loop *)state;
    phi__buf out;
    phi__buf_init(&out, arena->memory);
    phi__buf_char(&out, '{');
    phi__records_u64(&out, "phase", loop->phase);
    phi__records_str(&out, "answer", loop->answer);
    phi__buf_char(&out, '}');
    return phi__machine_tree(&out, arena);
}

static phi_status phi__adaptive_loop_load(void *state, const phi_json *saved,
                                          const phi_strategy_env *env, phi_strategy_commands *out) {
    phi__adaptive_loop *loop = (phi__adaptive_loop *)state;
    uint64_t phase = phi__json_get_uint(phi_json_get(saved, "phase"), UINT64_MAX);
    if (phase > 2) return PHI_PARSE;
    loop->phase = (uint32_t)phase;
    if (!phi__arena_str(env->arena, phi__records_get_str(saved, "answer"), &loop->answer))
        return PHI_NO_MEMORY;
    return phase == 1 ? phi__adaptive_loop_ask(env, out) : PHI_OK;
}

PHI__FN const phi_strategy *phi__adaptive_react(void) {
    static const phi_strategy strategy = {"react",
                                          sizeof(phi__adaptive_loop),
                                          phi__adaptive_loop_bill,
                                          phi__adaptive_loop_on,
                                          phi__adaptive_loop_best,
                                          phi__adaptive_loop_save,
                                          phi__adaptive_loop_load,
                                          NULL};
    return &strategy;
}

/* ---- the machine ---- */

typedef struct phi__adaptive {
    phi__adaptive_choice choice;
    const phi_strategy *chosen; /* NULL: not yet */
    void *state;                /* its machine */
} phi__adaptive;

enum { PHI__ADAPTIVE_MOST = 7 };

static const phi_strategy *phi__adaptive_at(size_t i) {
    switch (i) {
    case 0: return phi__adaptive_react();
    case 1: return phi_strategy_cot(PHI_COT_STEPS);
    case 2: return phi_strategy_cot(PHI_COT_DRAFTS);
    case 3: return phi_strategy_aot();
    case 4: return phi_strategy_tot();
    case 5: return phi_strategy_got();
    default: return phi_strategy_trm();
    }
}

static const phi_strategy *phi__adaptive_named(phi_str name) {
    size_t i;
    for (i = 0; i < PHI__ADAPTIVE_MOST; i++)
        if (phi__str_is(name, phi__adaptive_at(i)->name)) return phi__adaptive_at(i);
    return NULL;
}

/* The options of a strategy that may be chosen. */
static const void *phi__adaptive_pick(const phi_adaptive_options *o, const phi_strategy *chosen) {
    if (chosen == phi_strategy_cot(PHI_COT_STEPS)) return o->cot;
    if (chosen == phi_strategy_cot(PHI_COT_DRAFTS)) return o->cod;
    if (chosen == phi_strategy_aot()) return o->aot;
    if (chosen == phi_strategy_tot()) return o->tot;
    if (chosen == phi_strategy_got()) return o->got;
    return chosen == phi_strategy_trm() ? (const void *)o->trm : (const void *)o;
}

/* The same surroundings, with the options of the chosen one. `o` must outlive it. */
static phi_strategy_env phi__adaptive_env(const phi__adaptive *a, const phi_adaptive_options *o,
                                          const phi_strategy_env *env) {
    phi_strategy_env inner = *env;
    inner.options = phi__adaptive_pick(o, a->chosen);
    return inner;
}

/* {"strategy","reason","complexity","result"} around the result of the chosen one. */
static phi_status phi__adaptive_wrap(const phi__adaptive *a, const phi_strategy_env *env,
                                     phi_strategy_commands *out) {
    phi_strategy_command *last = out->count > 0 ? &out->at[out->count - 1] : NULL;
    phi__buf result;
    if (last == NULL || (last->kind != PHI_STRATEGY_DONE && last->kind != PHI_STRATEGY_FAIL))
        return PHI_OK;
    phi__buf_init(&result, env->scratch->memory);
    phi__buf_char(&result, '{');
    phi__records_str(&result, "strategy", phi_str_of(a->chosen->name));
    phi__records_str(&result, "reason", phi_str_of(a->choice.reason));
    phi__records_double(&result, "complexity", a->choice.complexity);
    phi__json_write_comma(&result);
    phi__json_write_key(&result, PHI__LIT("result"));
    phi__buf_add_str(&result, last->result);
    phi__buf_char(&result, '}');
    return phi__machine_text(&result, env->scratch, &last->result) ? PHI_OK : PHI_NO_MEMORY;
}

static phi_status phi__adaptive_on(void *state, const phi_strategy_event *event,
                                   const phi_strategy_env *env, phi_strategy_commands *out) {
    phi__adaptive *a = (phi__adaptive *)state;
    phi_adaptive_options o = phi__adaptive_options_of(env->options);
    phi_strategy_env inner;
    phi_status status;
    if (a->chosen == NULL) {
        if (event->kind != PHI_STRATEGY_BEGIN) return PHI_OK;
        a->choice = phi__adaptive_choose(&o, event->text, env->has_tools);
        a->chosen = phi__adaptive_named(phi_str_of(a->choice.name));
        a->state = phi__arena_zero(env->arena, a->chosen->state_bytes);
        if (a->state == NULL) return PHI_NO_MEMORY;
        if (phi__machine_emit(out, a->choice.name) != PHI_OK) return PHI_FULL;
    }
    inner = phi__adaptive_env(a, &o, env);
    status = a->chosen->on(a->state, event, &inner, out);
    return status == PHI_OK ? phi__adaptive_wrap(a, env, out) : status;
}

static const phi_strategy *phi__adaptive_hand(const void *options, phi_str prompt, bool has_tools,
                                              const void **out) {
    phi_adaptive_options o = phi__adaptive_options_of(options);
    phi__adaptive_choice choice = phi__adaptive_choose(&o, prompt, has_tools);
    const phi_strategy *chosen = phi__adaptive_named(phi_str_of(choice.name));
    *out = chosen == phi__adaptive_react() ? options : phi__adaptive_pick(&o, chosen);
    return chosen;
}

static uint64_t phi__adaptive_max(uint64_t a, uint64_t b) { return a > b ? a : b; }

static void phi__adaptive_bill(const void *options, uint64_t prompt_tokens, uint64_t answer_tokens,
                               phi_strategy_bill *out) {
    phi_adaptive_options o = phi__adaptive_options_of(options);
    size_t i;
    memset(out, 0, sizeof *out);
    for (i = 0; i < PHI__ADAPTIVE_MOST; i++) {
        const phi_strategy *chosen = phi__adaptive_at(i);
        phi_strategy_bill one;
        if (!phi__adaptive_choose_may(&o, chosen->name)) continue;
        chosen->bill(phi__adaptive_pick(&o, chosen), prompt_tokens, answer_tokens, &one);
        if (one.output_tokens == 0) one.output_tokens = one.calls * answer_tokens;
        out->calls = phi__adaptive_max(out->calls, one.calls);
        out->input_tokens = phi__adaptive_max(out->input_tokens, one.input_tokens);
        out->output_tokens = phi__adaptive_max(out->output_tokens, one.output_tokens);
        out->in_conversation = phi__adaptive_max(out->in_conversation, one.in_conversation);
    }
}

static void phi__adaptive_best(const void *state, phi_strategy_best *out) {
    const phi__adaptive *a = (const phi__adaptive *)state;
    memset(out, 0, sizeof *out);
    if (a->state != NULL) a->chosen->best(a->state, out);
}

/* ---- save and load ---- */

static phi_json *phi__adaptive_save(const void *state, phi_arena *arena) {
    const phi__adaptive *a = (const phi__adaptive *)state;
    const phi_json *inner = NULL;
    phi__buf out;
    if (a->state != NULL && (inner = a->chosen->save(a->state, arena)) == NULL) return NULL;
    phi__buf_init(&out, arena->memory);
    phi__buf_char(&out, '{');
    if (inner != NULL) {
        phi__records_str(&out, "strategy", phi_str_of(a->chosen->name));
        phi__records_str(&out, "reason", phi_str_of(a->choice.reason));
        phi__records_double(&out, "complexity", a->choice.complexity);
        phi__json_write_comma(&out);
        phi__json_write_key(&out, PHI__LIT("state"));
        (void)phi__json_write(&out, inner, 0);
    }
    phi__buf_char(&out, '}');
    return phi__machine_tree(&out, arena);
}

static phi_status phi__adaptive_load(void *state, const phi_json *saved,
                                     const phi_strategy_env *env, phi_strategy_commands *out) {
    phi__adaptive *a = (phi__adaptive *)state;
    phi_adaptive_options o = phi__adaptive_options_of(env->options);
    phi_strategy_env inner;
    if (!phi_json_is(saved, PHI_JSON_OBJECT)) return PHI_PARSE;
    if (phi_json_count(saved) == 0) return PHI_OK;
    a->chosen = phi__adaptive_named(phi__records_get_str(saved, "strategy"));
    if (a->chosen == NULL) return PHI_PARSE;
    a->choice.name = a->chosen->name;
    a->choice.reason = phi__adaptive_choose_reason(phi__records_get_str(saved, "reason"));
    a->choice.complexity = phi__records_get_double(saved, "complexity");
    a->state = phi__arena_zero(env->arena, a->chosen->state_bytes);
    if (a->state == NULL) return PHI_NO_MEMORY;
    inner = phi__adaptive_env(a, &o, env);
    return a->chosen->load(a->state, phi_json_get(saved, "state"), &inner, out);
}

/* ---- public ---- */

PHI_API const phi_strategy *phi_strategy_adaptive(void) {
    static const phi_strategy strategy = {
        "adaptive",         sizeof(phi__adaptive), phi__adaptive_bill, phi__adaptive_on,
        phi__adaptive_best, phi__adaptive_save,    phi__adaptive_load, phi__adaptive_hand};
    return &strategy;
}
