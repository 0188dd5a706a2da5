/* strategy.c - strategies as providers: a job for each model call of the agent, which feeds its
   machine with the answers of the calls that it made, and does what the machine commands. */
#include "strategy/strategy_in.h"

#include "model/failure_in.h"
#include "persist/recall_in.h"
#include "text/records_in.h"
#include "model/event_parts.h"

#include <stdio.h>

#define PHI__STRATEGY_NAME "strategy" /* of the attached object */
#define PHI__STRATEGY_NOTE "phi.strategy"

/* Answers that a step gives to the machine, at most. */
enum { PHI__STRATEGY_EVENTS = 4 };

/* ---- the machine's surroundings ---- */

static uint64_t phi__strategy_elapsed(const phi__strategy_job *job) {
    uint64_t now_us = phi__io_counted_us(job->agent->rt->io);
    return job->elapsed_ms + (now_us - job->started_us) / 1000;
}

static phi_strategy_env phi__strategy_env(phi__strategy_job *job) {
    phi_strategy_env env;
    memset(&env, 0, sizeof env);
    env.options = job->desc->options;
    env.elapsed_ms = phi__strategy_elapsed(job);
    env.calls_left = job->stopped ? 0 : phi__strategy_call_left(job);
    env.has_tools = job->request->tool_count > 0;
    env.arena = &job->arena;
    env.scratch = &job->scratch;
    env.prune_fn = job->desc->prune_fn;
    env.user_data = job->desc->user_data;
    return env;
}

/* ---- its commands ---- */

static bool phi__strategy_emit(phi__strategy_job *job, phi_str phase) {
    phi_arena *room = phi__thread_room(job->agent->thread);
    phi_strategy_progress *progress;
    phi_strategy_best best;
    phi_event event;
    memset(&best, 0, sizeof best);
    progress = (phi_strategy_progress *)phi__arena_zero(room, sizeof *progress);
    if (progress == NULL || !phi__arena_str(room, phase, &progress->phase) ||
        !phi__arena_str(room, phi_str_of(job->desc->strategy->name), &progress->name))
        return false;
    job->desc->strategy->best(job->state, &best);
    progress->calls = job->made;
    progress->most_calls = job->most;
    progress->nodes = best.nodes;
    progress->has_score = best.has_score;
    progress->score = best.score;
    memset(&event, 0, sizeof event);
    event.kind = PHI_EV_STRATEGY;
    event.strategy = progress;
    event.text = best.text;
    return phi__events_emit(job->agent, &event, NULL, 0);
}

/* {"loop_id","strategy","result"} in the log. */
static bool phi__strategy_note(phi__strategy_job *job, phi_str result) {
    phi__buf json;
    phi_status status;
    if (result.len == 0) return true;
    phi__buf_init(&json, &job->agent->memory);
    phi__buf_char(&json, '{');
    phi__records_str(&json, "loop_id", job->agent->run->loop_id);
    phi__records_str(&json, "strategy", phi_str_of(job->desc->strategy->name));
    phi__json_write_comma(&json);
    phi__json_write_key(&json, PHI__LIT("result"));
    phi__buf_add_str(&json, result);
    phi__buf_char(&json, '}');
    status = json.failed ? PHI_NO_MEMORY
                         : phi__note_add_of_run(job->agent->thread, PHI__STRATEGY_NOTE,
                                                phi__buf_str(&json));
    phi__buf_free(&json);
    return status != PHI_NO_MEMORY; /* a result that is no JSON is the machine's fault: without */
}

static bool phi__strategy_end(phi__strategy_job *job, phi_status status, phi_str text,
                              phi_str result) {
    job->over = true;
    job->status = status;
    return phi__arena_str(&job->arena, text, &job->text) && phi__strategy_note(job, result);
}

static bool phi__strategy_fault(phi__strategy_job *job, const char *words) {
    return phi__strategy_end(job, PHI_REFUSED, phi_str_of(words), phi__str(NULL, 0));
}

/* False: no memory. */
static bool phi__strategy_do(phi__strategy_job *job, const phi_strategy_command *command) {
    switch (command->kind) {
    case PHI_STRATEGY_ASK: return phi__strategy_call_begin(job, &command->call);
    case PHI_STRATEGY_EMIT: return phi__strategy_emit(job, command->phase);
    case PHI_STRATEGY_DONE:
        job->reason = command->stop_reason;
        return phi__strategy_end(job, PHI_OK, command->text, command->result);
    case PHI_STRATEGY_FAIL:
        return phi__strategy_end(job, command->status != PHI_OK ? command->status : PHI_REFUSED,
                                 command->text, command->result);
    }
    return true;
}

static void phi__strategy_do_all(phi__strategy_job *job, phi_status status,
                                 const phi_strategy_commands *commands) {
    size_t i;
    if (status == PHI_NO_MEMORY) job->no_memory = true;
    if (status != PHI_OK && status != PHI_NO_MEMORY &&
        !phi__strategy_fault(job, phi_status_text(status)))
        job->no_memory = true;
    for (i = 0; i < commands->count && !job->over && !job->no_memory; i++)
        if (!phi__strategy_do(job, &commands->at[i])) job->no_memory = true;
    phi_arena_free(&job->scratch);
}

static void phi__strategy_tell(phi__strategy_job *job, const phi_strategy_event *event) {
    phi_strategy_commands commands;
    phi_strategy_env env = phi__strategy_env(job);
    phi_status status;
    commands.count = 0;
    status = job->desc->strategy->on(job->state, event, &env, &commands);
    phi__strategy_do_all(job, status, &commands);
}

/* ---- the beginning ---- */

/* The user's last messages; of a history that ends otherwise, the last ones that there are. */
static bool phi__strategy_prompt(const phi_model_request *request, phi_arena *arena,
                                 phi__buf *out) {
    size_t to = request->message_count, from;
    bool failed = false;
    while (to > 0 && request->messages[to - 1]->role != PHI_ROLE_USER) to--;
    for (from = phi__strategy_call_from(request, to); from < to && !failed; from++) {
        if (out->len > 0) phi__buf_text(out, "\n\n");
        phi__buf_add_str(out, phi_message_text(request->messages[from], "\n", arena, &failed));
    }
    return !failed && !out->failed;
}

static uint64_t phi__strategy_add(uint64_t a, uint64_t b) {
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static uint64_t phi__strategy_times(uint64_t a, uint64_t b) {
    return b != 0 && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

/* Of fewer calls than the bill has, as large a part. */
static uint64_t phi__strategy_part(uint64_t all, uint64_t calls, uint64_t of) {
    if (of == 0 || calls >= of) return all;
    return (uint64_t)((double)all / (double)of * (double)calls);
}

PHI__FN void phi__strategy_bill(const phi_strategy_desc *desc, const phi_strategy *strategy,
                                const void *options, uint64_t prompt_tokens, uint64_t answer_tokens,
                                phi_strategy_bill *out) {
    uint64_t most =
        desc->max_calls != 0 && desc->max_calls != PHI_UNLIMITED ? desc->max_calls : UINT64_MAX;
    memset(out, 0, sizeof *out);
    strategy->bill(options, prompt_tokens, answer_tokens, out);
    if (out->output_tokens == 0)
        out->output_tokens = phi__strategy_times(out->calls, answer_tokens);
    if (most >= out->calls) return;
    out->input_tokens = phi__strategy_part(out->input_tokens, most, out->calls);
    out->output_tokens = phi__strategy_part(out->output_tokens, most, out->calls);
    if (out->in_conversation > most) out->in_conversation = most;
    out->calls = most;
}

/* Reserves what the calls that are left may cost, or ends the job with a message. */
static bool phi__strategy_reserve(phi__strategy_job *job, phi_str prompt) {
    const phi__agent *agent = job->agent;
    const phi_cost *rates = &agent->desc.model.cost;
    const phi_strategy *strategy = job->desc->strategy;
    const void *options = job->desc->options;
    const phi_token_counter *counter = phi__projection_counter(agent);
    uint64_t answer =
        agent->desc.max_tokens != 0 ? agent->desc.max_tokens : agent->desc.model.max_tokens;
    double rate = rates->cache_write > rates->input ? rates->cache_write : rates->input;
    phi_strategy_bill bill;
    char reason[200] = "", words[400];
    uint64_t left, in = 0;
    size_t i;
    if (strategy->choose != NULL)
        strategy = strategy->choose(options, prompt, job->request->tool_count > 0, &options);
    phi__strategy_bill(job->desc, strategy, options, phi_tokens_of_text(counter, prompt), answer,
                       &bill);
    job->most = bill.calls;
    left = bill.calls > job->made ? bill.calls - job->made : 0;
    for (i = 0; bill.in_conversation > 0 && i < job->request->message_count; i++)
        in += phi_tokens_of_message(counter, job->request->messages[i]);
    in = phi__strategy_add(phi__strategy_times(in, bill.in_conversation), bill.input_tokens);
    in = phi__strategy_add(
        in,
        phi__strategy_times(phi_tokens_of_text(counter, job->request->system_prompt), bill.calls));
    in = phi__strategy_part(in, left, bill.calls);
    answer = phi__strategy_part(bill.output_tokens, left, bill.calls);
    if (phi__limits_pot_reserve(agent->run, phi__strategy_add(in, answer),
                                (double)in / 1e6 * rate + (double)answer / 1e6 * rates->output,
                                left, reason, sizeof reason))
        return true;
    (void)snprintf(words, sizeof words, "strategy %s: up to %llu model calls: %s",
                   job->desc->strategy->name, (unsigned long long)left, reason);
    job->kind = PHI_FAILURE_QUOTA;
    job->kind_status = PHI_REFUSED;
    return phi__strategy_end(job, PHI_REFUSED, phi_str_of(words), phi__str(NULL, 0));
}

/* Claims what a snapshot holds of this run's machine; NULL: nothing. */
static const phi_json *phi__strategy_claim(phi__strategy_job *job) {
    phi_str text = phi__attached_saved(job->agent, PHI__STRATEGY_NAME);
    phi_json *root = NULL;
    if (text.len == 0) return NULL;
    if (phi_json_parse(&job->scratch, text, 0, &root, NULL) == PHI_NO_MEMORY) job->no_memory = true;
    phi__attached_saved_drop(job->agent, PHI__STRATEGY_NAME);
    if (!phi_str_equal(phi__records_get_str(root, "loop_id"), job->agent->run->loop_id) ||
        phi__records_get_u64(root, "turn") != job->agent->run->turn.index ||
        !phi__str_is(phi__records_get_str(root, "strategy"), job->desc->strategy->name))
        return NULL;
    job->made = phi__records_get_u64(root, "made");
    job->saved = phi_json_get(root, "calls");
    job->elapsed_ms = phi__records_get_u64(root, "elapsed_ms");
    return phi_json_get(root, "state");
}

/* A machine that cannot be read begins anew. */
static void phi__strategy_load(phi__strategy_job *job, const phi_json *saved, phi_str prompt) {
    phi_strategy_commands commands;
    phi_strategy_env env = phi__strategy_env(job);
    phi_strategy_event event;
    phi_status status = PHI_NOT_FOUND;
    commands.count = 0;
    if (saved != NULL) status = job->desc->strategy->load(job->state, saved, &env, &commands);
    if (status == PHI_OK || status == PHI_NO_MEMORY) {
        phi__strategy_do_all(job, status, &commands);
        return;
    }
    memset(job->state, 0, job->desc->strategy->state_bytes);
    memset(&event, 0, sizeof event);
    event.kind = PHI_STRATEGY_BEGIN;
    event.text = prompt;
    phi__strategy_tell(job, &event);
}

static void phi__strategy_begin(phi__strategy_job *job) {
    const phi_json *saved = phi__strategy_claim(job);
    phi__buf text;
    phi_str prompt = {NULL, 0};
    phi__buf_init(&text, &job->agent->memory);
    if (!phi__strategy_prompt(job->request, &job->scratch, &text) ||
        !phi__machine_text(&text, &job->arena, &prompt))
        job->no_memory = true;
    phi__buf_free(&text);
    /* registered under the protocol of the agent's own model, it would make its own calls */
    if (phi__strategy_call_inside(job->agent, job->desc)) {
        if (!phi__strategy_fault(job, "a strategy cannot make its own model calls: set provider"))
            job->no_memory = true;
    } else if (!job->no_memory && !phi__strategy_reserve(job, prompt))
        job->no_memory = true;
    if (!job->no_memory && !job->over) phi__strategy_load(job, saved, prompt);
    job->saved = NULL;
    phi_arena_free(&job->scratch);
}

/* ---- with the agent's snapshot ---- */

static phi__strategy_job *phi__strategy_of(const phi__attached *object) {
    return PHI__OWNER((uintptr_t)object, phi__strategy_job, attached);
}

static void phi__strategy_save(const phi__attached *object, phi__buf *out, phi_arena *scratch) {
    const phi__strategy_job *job = phi__strategy_of(object);
    const phi_json *state = job->desc->strategy->save(job->state, scratch);
    if (state == NULL) out->failed = true;
    phi__buf_char(out, '{');
    phi__records_str(out, "strategy", phi_str_of(job->desc->strategy->name));
    phi__records_str(out, "loop_id", job->agent->run->loop_id);
    phi__records_u64(out, "turn", job->agent->run->turn.index);
    phi__records_u64(out, "made", job->made - phi__strategy_call_again(job));
    phi__records_u64(out, "elapsed_ms", phi__strategy_elapsed(job));
    phi__json_write_comma(out);
    phi__json_write_key(out, PHI__LIT("state"));
    (void)phi__json_write(out, state, 0);
    phi__strategy_call_save(job, out, scratch);
    phi__buf_char(out, '}');
}

/* The provider's close, which comes first, has freed it. */
static void phi__strategy_freed(phi__attached *object) { (void)object; }

static const phi__attached_ops *phi__strategy_ops(void) {
    static const phi__attached_ops ops = {PHI__STRATEGY_NAME, phi__strategy_save, NULL,
                                          phi__strategy_freed};
    return &ops;
}

/* ---- the provider ---- */

static void phi__strategy_close(void *user_data, void *opaque) {
    phi__strategy_job *job = (phi__strategy_job *)opaque;
    phi__agent *agent = job->agent;
    (void)user_data;
    phi__attached_remove(&job->attached);
    phi__strategy_call_drop_all(job);
    phi_arena_free(&job->scratch);
    phi_arena_free(&job->arena);
    phi__free(&agent->memory, job->state, job->desc->strategy->state_bytes);
    phi__free(&agent->memory, job, sizeof *job);
}

static phi_status phi__strategy_open(void *user_data, const phi_model_request *request,
                                     void **out) {
    const phi_strategy_desc *desc = (const phi_strategy_desc *)user_data;
    phi__agent *agent = phi__find_agent(request->agent);
    phi__strategy_job *job;
    void *state;
    if (desc == NULL || desc->strategy == NULL) return PHI_BAD_ARG;
    job = (phi__strategy_job *)phi__alloc(&agent->memory, sizeof *job);
    state = phi__alloc(&agent->memory, desc->strategy->state_bytes);
    if (job == NULL || state == NULL) {
        phi__free(&agent->memory, job, sizeof *job);
        phi__free(&agent->memory, state, desc->strategy->state_bytes);
        return PHI_NO_MEMORY;
    }
    job->agent = agent;
    job->desc = desc;
    job->request = request;
    job->state = state;
    job->started_us = phi__io_counted_us(agent->rt->io);
    phi_arena_init(&job->arena, &agent->memory, 0);
    phi_arena_init(&job->scratch, &agent->memory, 0);
    phi__attached_add(agent, &job->attached, phi__strategy_ops());
    phi__strategy_begin(job);
    *out = job;
    if (!job->no_memory) return PHI_OK;
    phi__strategy_close(user_data, job);
    return PHI_NO_MEMORY;
}

/* A limit of the run that is reached in the midst of it: it ends with the best so far. A run that
   would pause at it goes on to the end of its turn. */
static bool phi__strategy_spent(const phi__strategy_job *job) {
    const phi__run *run = job->agent->run;
    const phi_limits *limits = &run->limits;
    const phi__spent *spent = phi__limits_charge_of(run);
    if (limits->pause) return false;
    if (limits->max_tokens != UINT64_MAX &&
        spent->usage.input + spent->usage.output >= limits->max_tokens)
        return true;
    if (limits->max_cost > 0 && spent->cost >= limits->max_cost) return true;
    return !phi__limits_leaves(run, 0);
}

static void phi__strategy_stop(phi__strategy_job *job) {
    phi_strategy_event event;
    memset(&event, 0, sizeof event);
    event.kind = PHI_STRATEGY_STOP;
    if (job->call_count > 0 &&
        !phi__arena_str(&job->arena, phi__buf_str(&job->calls[0].text), &event.text))
        job->no_memory = true;
    phi__strategy_call_drop_all(job);
    if (job->agent->slot == NULL || job->no_memory) return;
    if (phi__strategy_call_left(job) == 0) job->stopped = true;
    phi__strategy_tell(job, &event);
    if (!job->over && !job->no_memory &&
        !phi__strategy_fault(job, "the strategy did not end when it had to"))
        job->no_memory = true;
}

/* The model wants no more tools than it may have, but the calls are used up, or a budget. */
static bool phi__strategy_used_up(const phi_strategy_event *event, const phi__strategy_call *call) {
    return event->kind == PHI_STRATEGY_FAILED && event->status == PHI_LIMIT &&
           event->tool_rounds <= call->max_rounds;
}

static void phi__strategy_answer(phi__strategy_job *job) {
    phi_strategy_event event;
    if (!phi__strategy_call_take(job, &event)) {
        job->no_memory = true;
        return;
    }
    job->filtered = event.stop_reason == PHI_STOP_REASON_GUARD_RAIL;
    if (phi__strategy_used_up(&event, &job->calls[0])) {
        job->settle = true; /* the call stays until then, for its text */
        return;
    }
    phi__strategy_tell(job, &event);
    if (job->call_count > 0) phi__strategy_call_drop(job);
}

static void phi__strategy_step(phi__strategy_job *job) {
    int i;
    phi__strategy_call_expire(job);
    for (i = 0; i < PHI__STRATEGY_EVENTS && !job->over && !job->no_memory; i++) {
        if (job->agent->slot == NULL) return;
        if (job->settle || phi__strategy_spent(job))
            phi__strategy_stop(job);
        else if (job->call_count == 0) {
            if (!phi__strategy_fault(job, "the strategy waits for no call")) job->no_memory = true;
        } else if (job->calls[0].over)
            phi__strategy_answer(job);
        else
            return;
    }
}

static phi_failure_kind phi__strategy_kind(const phi__strategy_job *job) {
    if (job->kind != PHI_FAILURE_NONE && job->kind_status == job->status) return job->kind;
    if (job->filtered && job->status == PHI_REFUSED) return PHI_FAILURE_CONTENT_FILTER;
    return phi__failure_kind_of(job->status);
}

static void phi__strategy_failed(const phi__strategy_job *job, phi_answer *answer) {
    phi_answer_fail(answer, phi__strategy_kind(job), false, job->text.at);
    job->agent->run->attempt.answer->assembly.status = job->status;
}

static phi_poll phi__strategy_poll(void *user_data, void *opaque, phi_answer *answer) {
    phi__strategy_job *job = (phi__strategy_job *)opaque;
    (void)user_data;
    phi__strategy_step(job);
    if (job->agent->slot == NULL) return PHI_POLL_DONE;
    if (job->no_memory)
        phi_answer_fail(answer, PHI_FAILURE_NO_MEMORY, false, "a strategy: out of memory");
    else if (!job->over)
        return PHI_POLL_AGAIN;
    else if (job->status != PHI_OK)
        phi__strategy_failed(job, answer);
    else {
        phi_answer_text(answer, job->text);
        phi_answer_stop(answer, job->reason);
    }
    return PHI_POLL_DONE;
}

/* ---- public ---- */

PHI_API phi_provider phi_strategy_provider(const phi_strategy_desc *desc) {
    phi_provider provider;
    memset(&provider, 0, sizeof provider);
    provider.protocol = "phi.strategy";
    if (desc == NULL || desc->strategy == NULL) return provider; /* phi_agent_new refuses it */
    provider.user_data = (void *)(uintptr_t)desc;
    provider.open = phi__strategy_open;
    provider.poll = phi__strategy_poll;
    provider.close = phi__strategy_close;
    return provider;
}

/* Of the last run, which an evaluation may have copied into the log; calls of a strategy, and
   branches that were not selected, have notes of their own. */
static const phi__note *phi__strategy_last(const phi__agent *agent) {
    const phi_thread *thread = agent->thread;
    phi_str last = agent->line.last_loop_id;
    size_t i = thread->log.held;
    while (i-- > 0) {
        const phi__entry *entry = thread->log.entries[i];
        if (entry->kind == PHI_ENTRY_NOTE &&
            phi__str_is(entry->of.note->kind, PHI__STRATEGY_NOTE) &&
            phi_str_equal(entry->loop_id, last))
            return entry->of.note;
        if (entry->kind == PHI_ENTRY_LOOP_START && phi_str_equal(entry->loop_id, last)) return NULL;
    }
    return NULL;
}

static phi__strategy_job *phi__strategy_job_of(const phi__agent *agent) {
    const phi__attached *object = phi__attached_find(agent, PHI__STRATEGY_NAME);
    return object != NULL ? phi__strategy_of(object) : NULL;
}

static phi_status phi__strategy_best_now(const phi__strategy_job *job, phi_arena *arena,
                                         phi_strategy_outcome *out) {
    job->desc->strategy->best(job->state, &out->best);
    out->running = true;
    if (phi__arena_str(arena, out->best.text, &out->best.text)) return PHI_OK;
    memset(out, 0, sizeof *out); /* its text is the strategy's own */
    return PHI_NO_MEMORY;
}

PHI_API phi_status phi_strategy_result(phi_agent handle, phi_arena *arena,
                                       phi_strategy_outcome *out) {
    const phi__agent *agent = phi__find_agent(handle);
    const phi__note *note;
    phi__json_found found;
    phi_status status;
    if (handle.rt == NULL || arena == NULL || out == NULL) return PHI_BAD_ARG;
    memset(out, 0, sizeof *out);
    if (agent == NULL) return PHI_STALE;
    if (phi__strategy_job_of(agent) != NULL)
        return phi__strategy_best_now(phi__strategy_job_of(agent), arena, out);
    if (agent->run != NULL) return PHI_NOT_FOUND;
    status = phi__recall(agent->thread);
    if (status != PHI_OK) return status;
    note = phi__strategy_last(agent);
    if (note == NULL || phi__json_cursor_find(note->json, "result", &found) != PHI_OK)
        return PHI_NOT_FOUND;
    return phi__arena_str(arena, found.raw, &out->result) ? PHI_OK : PHI_NO_MEMORY;
}

PHI_API phi_status phi_strategy_settle(phi_agent handle) {
    const phi__agent *agent = phi__find_agent(handle);
    phi__strategy_job *job;
    if (handle.rt == NULL) return PHI_BAD_ARG;
    if (agent == NULL) return PHI_STALE;
    job = phi__strategy_job_of(agent);
    if (job == NULL) return PHI_NOT_FOUND;
    job->settle = true;
    phi__schedule_wake(agent->run);
    return PHI_OK;
}
