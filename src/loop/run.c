/* run.c - makes, begins, detaches, destroys and fails runs. A run without memory ends with an error
   event that needs none, and leaves an agent that can be prompted again. */
#include "loop/inner_in.h"

static phi__refusals phi__run_refusals(const phi__agent *agent);
static const phi_failure *phi__run_limit_failure(const phi__agent *agent,
                                                 const phi__refusals *since);

/* ---- beginning ---- */

/* The state of features follows it. */
static size_t phi__run_bytes(const phi__agent *agent) {
    return sizeof(phi__run) + agent->rt->features.run_bytes;
}

PHI__FN bool phi__run_take_text(phi__run *run, phi_str text, phi_str *at) {
    if (text.len == 0) return true;
    char *copy = (char *)phi__realloc(&run->agent->memory, NULL, 0, phi__add(text.len, 1));
    if (copy == NULL) return false;
    memcpy(copy, text.at, text.len);
    copy[text.len] = '\0';
    *at = phi__str(copy, text.len);
    return true;
}

PHI__FN bool phi__run_take_format(phi__run *run, const phi_format *format) {
    if (format == NULL) return true;
    phi_str schema = phi_str_of(format->kind == PHI_FORMAT_JSON_SCHEMA ? format->schema : NULL);
    phi_str name = phi_str_of(format->name);
    size_t bytes = phi__add(sizeof *run->own.format, phi__add(schema.len, phi__add(name.len, 2)));
    run->own.format = (phi__run_format *)phi__alloc(&run->agent->memory, bytes);
    if (run->own.format == NULL) return false;
    run->own.format->bytes = bytes;
    run->own.format->format = *format;
    char *at = (char *)(run->own.format + 1); /* zeroed: both end with a NUL */
    if (schema.len > 0) memcpy(at, schema.at, schema.len);
    run->own.format->format.schema = schema.len > 0 ? at : NULL;
    at += schema.len + 1;
    if (name.len > 0) memcpy(at, name.at, name.len);
    run->own.format->format.name = name.len > 0 ? at : NULL;
    return true;
}

static void phi__run_drop_text(phi__run *run, phi_str text) {
    phi__free(&run->agent->memory, (void *)(uintptr_t)text.at, text.at != NULL ? text.len + 1 : 0);
}

static phi__run *phi__run_make(phi__agent *agent, const phi__run_order *order) {
    phi__run *run = NULL;
    if (!order->goes_on) phi__posts_read_aborts(agent->rt);
    if (phi__events_reserve(agent))
        run = (phi__run *)phi__alloc(&agent->memory, phi__run_bytes(agent));
    if (run == NULL) {
        phi__events_unreserve(agent);
        return NULL;
    }
    run->agent = agent;
    run->state = PHI__RUN_BEFORE_LOOP;
    phi__input_since(run, phi__posts_next(agent->rt));
    run->limits = order->limits != NULL ? *order->limits : agent->desc.limits;
    run->own.waits_ms = order->waits_ms != 0 ? order->waits_ms : agent->desc.deadlines.decision_ms;
    run->refusals = phi__run_refusals(agent);
    run->no_turns = order->no_turns;
    run->start.trigger =
        order->continuation == PHI_CONTINUATION_INITIAL  ? agent->desc.input.first_turn_trigger
        : order->continuation == PHI_CONTINUATION_BRANCH ? PHI_TRIGGER_BRANCH
                                                         : PHI_TRIGGER_CONTINUATION;
    phi_arena_init(&run->arena, &agent->memory, 512);
    phi__attempt_init(run);
    phi__decision_init(&run->decision, run->agent, run, NULL);
    phi__filter_init(run);
    phi__buf_init(&run->pause.reason, &agent->memory);
    run->own.has_temperature = order->has_temperature;
    run->own.temperature = order->temperature;
    if (phi__run_take_text(run, phi_str_of(order->extra), &run->own.extra) &&
        phi__run_take_text(run, phi_str_of(order->context), &run->own.context) &&
        phi__run_take_format(run, order->format) &&
        phi__projection_take_policy(run, order->policy) &&
        (!order->has_tools || phi__toolset_take_run(run, order->tools, order->tool_count)))
        return run;
    phi__run_unmake(run);
    return NULL;
}

PHI__FN void phi__run_unmake(phi__run *run) {
    phi__agent *agent = run->agent;
    phi__schedule_unready(run);
    phi__input_end(run);
    phi__filter_end(run);
    phi__buf_free(&run->pause.reason);
    phi__run_drop_text(run, run->end.reason);
    phi__free(&run->agent->memory, run->tools.repeat_guard, sizeof *run->tools.repeat_guard);
    phi__free(&agent->memory, run->own.policy, sizeof *run->own.policy);
    phi__run_drop_text(run, run->own.extra);
    phi__run_drop_text(run, run->own.context);
    phi__free(&agent->memory, run->own.format,
              run->own.format != NULL ? run->own.format->bytes : 0);
    phi__toolset_free_run(run);
    (void)phi__feature_run(run, PHI__POINT_RUN_FREED);
    phi_arena_free(&run->arena);
    phi__free(&agent->memory, run, phi__run_bytes(agent));
    phi__events_unreserve(agent);
}

PHI__FN const phi_failure *phi__run_refusal(const phi__agent *agent) { return agent->refused; }

PHI__FN phi_status phi__run_new(phi__agent *agent, const phi__run_order *order) {
    phi__refusals refusals = phi__run_refusals(agent);
    phi__run *run = phi__run_make(agent, order);
    if (run != NULL && !phi__draft_run(run, order)) {
        phi__run_unmake(run);
        run = NULL;
    }
    if (run == NULL) {
        agent->refused = phi__run_limit_failure(agent, &refusals);
        phi__forget_press(agent);
        return PHI_NO_MEMORY;
    }
    run->started_us =
        agent->line.last_active_us - phi__io_gaps_us(agent->rt->io, agent->line.last_active_us);
    memset(&agent->spent.run_usage, 0, sizeof agent->spent.run_usage);
    agent->spent.run_cost = 0;
    phi__run_take(run);
    return PHI_OK;
}

PHI__FN phi_status phi__run_new_of(phi__agent *agent, phi__run_order order,
                                   const phi_content *content, size_t count) {
    phi_message message = PHI_ZERO;
    message.role = PHI_ROLE_USER;
    message.content = content;
    message.content_count = count;
    order.prompts = &message;
    order.prompt_count = content != NULL ? 1 : 0;
    return phi__run_new(agent, &order);
}

PHI__FN phi__run *phi__run_make_for(phi__agent *agent, const phi__entry *start) {
    phi__run_order order = PHI_ZERO;
    order.continuation = start->of.loop->continuation;
    phi__run *run = phi__run_make(agent, &order);
    if (run == NULL) return NULL;
    run->info = start->of.loop;
    if (phi__arena_str(phi__thread_room(agent->thread), start->loop_id, &run->loop_id)) return run;
    phi__run_unmake(run);
    return NULL;
}

PHI__FN void phi__run_take(phi__run *run) {
    phi__agent *agent = run->agent;
    agent->run = run;
    phi__feature_begin(run);
    agent->rt->active++;
    agent->thread->user = run;
    agent->thread->loops.keeps_none = agent->desc.keep == PHI_KEEP_NONE;
    phi__schedule_publish_state(agent, true);
    phi__schedule_wake(run);
}

PHI__FN bool phi__run_emit_start(phi__run *run) {
    if (run->start.emitted) return true;
    run->start.emitted = true;
    phi_event event = PHI_ZERO;
    event.kind = PHI_EV_AGENT_START;
    event.loop = run->info;
    return phi__events_emit_surely(run->agent, &event);
}

PHI__FN void phi__run_silence(phi__run *run) { run->start.silent = run->start.emitted = true; }

/* ---- continuing, ending ---- */

PHI__FN void phi__run_detach(phi__run *run) {
    phi__schedule_unready(run);
    if (!run->end.over) phi__attempt_charge(run); /* those above pay for it */
    run->end.over = true;
    phi__pause_end(run);
    phi__io_timer_clear(run->agent->rt->io, &run->timer);
    phi__decision_drop(&run->decision);
    phi__budget_release(run);
    phi__tools_detach(run);
    phi__attempt_detach(run);
}

PHI__FN void phi__run_destroy(phi__run *run) {
    phi__agent *agent = run->agent;
    run->end.over = true;
    phi__pause_end(run);
    phi__io_timer_clear(agent->rt->io, &run->timer);
    phi__decision_drop(&run->decision);
    phi__budget_release(run);
    phi__attempt_drop(run);
    phi__tools_drop(run);
    agent->run = NULL;
    agent->thread->user = NULL;
    agent->rt->active--;
    phi__run_unmake(run);
    phi__forget_end(agent);
}

/* ---- failing ---- */

/* It needs no memory, and outlives every agent: a lent thread keeps it. */
static const phi_failure phi__run_out_of_memory = {
    PHI_FAILURE_NO_MEMORY, 0, false, false, 0, {"", 0}, {"Out of memory", 13}, {"", 0}};

PHI__FN phi__state phi__run_fail(phi__run *run, const phi_failure *failure, phi_status status) {
    (void)phi__run_emit_start(run); /* every run with events has one */
    run->failure = failure;
    run->status = status;
    phi_event event = PHI_ZERO;
    event.kind = PHI_EV_ERROR;
    event.failure = failure;
    event.status = status;
    event.text = failure->message;
    (void)phi__events_emit_surely(run->agent, &event);
    return PHI__RUN_FAILED;
}

static phi__refusals phi__run_refusals(const phi__agent *agent) {
    phi__refusals now;
    now.own = agent->memory.refusals;
    now.all = agent->rt->memory.refusals;
    return now;
}

/* The limit that refused memory to an agent: its own or the runtime's, where it has refused since
   then; NULL: neither. It outlives the log that it is put into. */
static const phi_failure *phi__run_limit_failure(const phi__agent *agent,
                                                 const phi__refusals *since) {
    if (agent->thread == &agent->own && agent->memory.refusals > since->own)
        return phi__at_limit_of(agent);
    return agent->rt->memory.refusals > since->all ? &agent->rt->at_limit.failure : NULL;
}

static bool phi__run_is_memory_failure(const phi__run *run) {
    const phi_failure *own = phi__at_limit_of(run->agent);
    return run->failure == &phi__run_out_of_memory || (own != NULL && run->failure == own) ||
           run->failure == &run->agent->rt->at_limit.failure;
}

PHI__FN phi__state phi__run_no_memory(phi__run *run) {
    if (phi__run_is_memory_failure(run)) return PHI__RUN_CLOSE; /* it was emitted already */
    if (phi__feature_run(run, PHI__POINT_DROPPED) != PHI__RUN_ON) return PHI__RUN_OVER;
    phi__decision_drop(&run->decision);
    phi__pause_end(run);
    phi__attempt_charge(run);
    phi__attempt_drop(run);
    phi__tools_drop(run);
    run->reply = NULL;
    run->tools.count = 0;
    const phi_failure *why = phi__run_limit_failure(run->agent, &run->refusals);
    if (why == NULL) why = &phi__run_out_of_memory;
    if (run->failure == NULL) return phi__run_fail(run, why, PHI_NO_MEMORY);
    run->failure = why; /* a run has one PHI_EV_ERROR: it had failed already */
    run->status = PHI_NO_MEMORY;
    return PHI__RUN_TURN_END;
}
