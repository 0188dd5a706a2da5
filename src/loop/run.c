/* run.c - makes, begins, detaches, destroys and fails runs, and writes runs and their agents as
   JSON.

   A run that lacks memory ends with an error event that needs no memory. Its agent can be prompted
   again. A snapshot leaves out everything that can be made again, such as a request, a current
   stream or a question to a hook. All states from a turn's beginning to its answer are saved as the
   first of these states. */
#include "loop/inner_in.h"

#include <stdio.h>

static phi__refusals phi__run_refusals(const phi__agent *agent);
static const phi_failure *phi__run_limit_failure(const phi__agent *agent,
                                                 const phi__refusals *since);

/* ---- beginning ---- */

/* The features' state follows the struct. */
static size_t phi__run_bytes(const phi__agent *agent) {
    return sizeof(phi__run) + agent->rt->features.run_bytes;
}

/* Copies the run's format, if there is one. False: no memory. */
static bool phi__run_take_format(phi__run *run, const phi_format *format) {
    if (format == NULL) return true;
    phi_str schema = phi_str_of(format->kind == PHI_FORMAT_JSON_SCHEMA ? format->schema : NULL);
    phi_str name = phi_str_of(format->name);
    size_t bytes = phi__add(sizeof *run->own.format, phi__add(schema.len, phi__add(name.len, 2)));
    run->own.format = (phi__run_format *)phi__alloc(&run->agent->memory, bytes);
    if (run->own.format == NULL) return false;
    run->own.format->bytes = bytes;
    run->own.format->format = *format;
    char *at = (char *)(run->own.format + 1); /* zeroed memory: both strings end with a zero */
    if (schema.len > 0) memcpy(at, schema.at, schema.len);
    run->own.format->format.schema = schema.len > 0 ? at : NULL;
    at += schema.len + 1;
    if (name.len > 0) memcpy(at, name.at, name.len);
    run->own.format->format.name = name.len > 0 ? at : NULL;
    return true;
}

static void phi__run_unmake(phi__run *run) {
    phi__agent *agent = run->agent;
    phi__schedule_unready(run);
    phi__input_end(run);
    phi__filter_end(run);
    phi__buf_free(&run->pause.reason);
    phi__disown(&agent->memory, &run->end.reason);
    phi__disown(&agent->memory, &run->end.limit);
    phi__free(&run->agent->memory, run->tools.repeat_guard, sizeof *run->tools.repeat_guard);
    phi__free(&agent->memory, run->own.policy, sizeof *run->own.policy);
    phi__disown(&agent->memory, &run->own.extra);
    phi__disown(&agent->memory, &run->own.context);
    phi__free(&agent->memory, run->own.format,
              run->own.format != NULL ? run->own.format->bytes : 0);
    phi__toolset_free_run(run);
    (void)phi__feature_run(run, PHI__POINT_RUN_FREED);
    phi_arena_free(&run->arena);
    phi__free(&agent->memory, run, phi__run_bytes(agent));
    phi__events_unreserve(agent);
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
    phi__secret_init(&run->attempt.secrets, &run->arena);
    phi__decision_init(&run->decision, run->agent, run, NULL);
    phi__filter_init(run);
    phi__buf_init(&run->pause.reason, &agent->memory);
    run->own.has_temperature = order->has_temperature;
    run->own.temperature = order->temperature;
    if (phi__own(&run->agent->memory, phi_str_of(order->extra), &run->own.extra) &&
        phi__own(&run->agent->memory, phi_str_of(order->context), &run->own.context) &&
        phi__run_take_format(run, order->format) &&
        phi__projection_take_policy(run, order->policy) &&
        (!order->has_tools || phi__toolset_take_run(run, order->tools, order->tool_count)))
        return run;
    phi__run_unmake(run);
    return NULL;
}

static void phi__run_take(phi__run *run) {
    phi__agent *agent = run->agent;
    agent->run = run;
    phi__feature_begin(run);
    agent->rt->active++;
    agent->thread->user = run;
    agent->thread->loops.keeps_none = agent->desc.keep == PHI_KEEP_NONE;
    phi__schedule_publish_state(agent, true);
    phi__schedule_wake(run);
}

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

/* Makes a run that began with this entry of the agent's thread. The agent owns the run after
   phi__run_take. NULL: no memory. */
static phi__run *phi__run_make_for(phi__agent *agent, const phi__entry *start) {
    phi__run_order order = PHI_ZERO;
    order.continuation = start->of.loop->continuation;
    phi__run *run = phi__run_make(agent, &order);
    if (run == NULL) return NULL;
    run->info = start->of.loop;
    if (phi__arena_str(phi__thread_room(agent->thread), start->loop_id, &run->loop_id)) return run;
    phi__run_unmake(run);
    return NULL;
}

PHI__FN bool phi__run_emit_start(phi__run *run) {
    if (run->start.emitted) return true;
    run->start.emitted = true;
    phi_event event = PHI_ZERO;
    event.kind = PHI_EV_AGENT_START;
    event.loop = run->info;
    return phi__events_emit_surely(run->agent, &event);
}

/* ---- continuing, ending ---- */

/* Ends all waits of the run, and releases its budget. */
static void phi__run_end_waits(phi__run *run) {
    run->end.over = true;
    phi__pause_end(run);
    phi__io_timer_clear(run->agent->rt->io, &run->timer);
    phi__decision_drop(&run->decision);
    phi__budget_release(run);
}

/* After this, nothing wakes the run, and the run calls nothing. */
static void phi__run_detach(phi__run *run) {
    phi__schedule_unready(run);
    if (!run->end.over) phi__attempt_charge(run); /* the agent's ancestors pay for the attempt */
    phi__run_end_waits(run);
    phi__tools_detach(run);
    phi__attempt_detach(run);
}

PHI__FN void phi__run_destroy(phi__run *run) {
    phi__agent *agent = run->agent;
    phi__run_end_waits(run);
    phi__attempt_drop(run);
    phi__tools_drop(run);
    agent->run = NULL;
    agent->thread->user = NULL;
    agent->rt->active--;
    phi__run_unmake(run);
    agent->memory.limit_bytes = agent->desc.memory.limit_bytes;
}

/* ---- failing ---- */

/* Static: needs no memory, and outlives every agent, because a lent thread keeps the pointer. */
static const phi_failure phi__run_out_of_memory = {
    PHI_FAILURE_NO_MEMORY, 0, false, false, 0, {"", 0}, {"Out of memory", 13}, {"", 0}};

PHI__FN phi__state phi__run_fail(phi__run *run, const phi_failure *failure, phi_status status) {
    (void)phi__run_emit_start(run); /* every run that emits events emits AGENT_START */
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

/* Returns the failure of the memory limit that has refused memory since the counts in `since`: the
   agent's limit or the runtime's. NULL: neither has refused memory. The failure outlives the log
   that contains it. */
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
    if (phi__run_is_memory_failure(run)) return PHI__RUN_CLOSE; /* the error was already emitted */
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
    run->failure = why; /* a run emits only one PHI_EV_ERROR, and this run has emitted it */
    run->status = PHI_NO_MEMORY;
    return PHI__RUN_TURN_END;
}

/* ---- tables of the plain fields, for saving and loading ---- */

static const phi__field phi__save_run_fields[] = {
    PHI__FIELD(phi__run, start.trigger, "trigger", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi__run, turn.index, "turn_index", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi__run, said.first_message, "first_message", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi__run, said.emitted_messages, "told_messages", PHI__FIELD_UINT,
               PHI__FIELD_ALWAYS)};

static const phi__field phi__save_flags_fields[] = {
    PHI__FIELD(phi__run, end.cancelled, "cancelled", PHI__FIELD_BOOL, PHI__FIELD_SET),
    PHI__FIELD(phi__run, end.stopping, "stopping", PHI__FIELD_BOOL, PHI__FIELD_SET),
    PHI__FIELD(phi__run, start.emitted, "opened", PHI__FIELD_BOOL, PHI__FIELD_SET),
    PHI__FIELD(phi__run, start.silent, "silent", PHI__FIELD_BOOL, PHI__FIELD_SET),
    PHI__FIELD(phi__run, no_turns, "compact_only", PHI__FIELD_BOOL, PHI__FIELD_SET),
    PHI__FIELD(phi__run, turn.open, "turn_open", PHI__FIELD_BOOL, PHI__FIELD_SET),
    PHI__FIELD(phi__run, turn.steered, "steered", PHI__FIELD_BOOL, PHI__FIELD_SET),
    PHI__FIELD(phi__run, tools.skipping, "skipping", PHI__FIELD_BOOL, PHI__FIELD_SET),
    PHI__FIELD(phi__run, tools.answered, "answered", PHI__FIELD_BOOL, PHI__FIELD_SET),
    PHI__FIELD(phi__run, tools.repeated, "doomed", PHI__FIELD_BOOL, PHI__FIELD_SET)};

static const phi__field phi__save_limits_fields[] = {
    PHI__FIELD(phi_limits, max_turns, "max_turns", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_limits, max_tokens, "max_tokens", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_limits, max_duration_ms, "max_duration_ms", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_limits, max_cost, "max_cost", PHI__FIELD_DOUBLE, PHI__FIELD_ALWAYS)};

static const phi__field phi__save_policy_fields[] = {
    PHI__FIELD(phi_policy, max_input_tokens, "max_input_tokens", PHI__FIELD_UINT,
               PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_policy, reserve_output_tokens, "reserve_output_tokens", PHI__FIELD_UINT,
               PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_policy, no_reserve, "no_reserve", PHI__FIELD_BOOL, PHI__FIELD_SET),
    PHI__FIELD(phi_policy, max_messages, "max_messages", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_policy, max_turns, "max_turns", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_policy, keep_last_turns, "keep_last_turns", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_policy, keep_no_turns, "keep_no_turns", PHI__FIELD_BOOL, PHI__FIELD_SET),
    PHI__FIELD(phi_policy, summaries, "summaries", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_policy, summary_role, "summary_role", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_policy, include, "include", PHI__FIELD_UINT, PHI__FIELD_ALWAYS)};

static const phi__field phi__save_failure_fields[] = {
    PHI__FIELD(phi_failure, kind, "kind", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_failure, http_status, "http_status", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_failure, retryable, "retryable", PHI__FIELD_BOOL, PHI__FIELD_SET),
    PHI__FIELD(phi_failure, code, "code", PHI__FIELD_STR, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_failure, message, "words", PHI__FIELD_STR, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_failure, request_id, "request_id", PHI__FIELD_STR, PHI__FIELD_ALWAYS)};

static const phi__field phi__save_calls_fields[] = {
    PHI__FIELD(phi__run, tools.next, "next_call", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi__run, tools.emitted, "told_calls", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi__run, tools.polled, "polled_calls", PHI__FIELD_UINT, PHI__FIELD_ALWAYS)};

static const phi__field phi__save_call_fields[] = {
    PHI__FIELD(phi__toolcall, arguments, "arguments", PHI__FIELD_STR, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi__toolcall, repeats, "repeats", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi__toolcall, begun, "begun", PHI__FIELD_BOOL, PHI__FIELD_SET),
    PHI__FIELD(phi__toolcall, decided, "asked", PHI__FIELD_BOOL, PHI__FIELD_SET),
    PHI__FIELD(phi__toolcall, quiet, "quiet", PHI__FIELD_BOOL, PHI__FIELD_SET),
    PHI__FIELD(phi__toolcall, emitted, "told", PHI__FIELD_BOOL, PHI__FIELD_SET),
    PHI__FIELD(phi__toolcall, started, "started", PHI__FIELD_BOOL, PHI__FIELD_SET),
    PHI__FIELD(phi__toolcall, tries, "tries", PHI__FIELD_UINT, PHI__FIELD_SET),
    PHI__FIELD(phi__toolcall, again, "again", PHI__FIELD_BOOL, PHI__FIELD_SET),
    PHI__FIELD(phi__toolcall, ended, "ended", PHI__FIELD_BOOL, PHI__FIELD_SET),
    PHI__FIELD(phi__toolcall, after, "after", PHI__FIELD_BOOL, PHI__FIELD_SET),
    PHI__FIELD(phi__toolcall, skipped, "skipped", PHI__FIELD_BOOL, PHI__FIELD_SET),
    PHI__FIELD(phi__toolcall, child_loop_id, "child_loop_id", PHI__FIELD_STR, PHI__FIELD_SET),
    PHI__FIELD(phi__toolcall, effects, "effects", PHI__FIELD_STR, PHI__FIELD_SET)};

/* ---- saving ---- */

typedef struct phi__save_state_row {
    const char *name;
    phi__state state;
} phi__save_state_row;

static const phi__save_state_row phi__save_states[] = {
    {"before_loop", PHI__RUN_BEFORE_LOOP},
    {"open", PHI__RUN_OPEN},
    {"filter", PHI__RUN_FILTER},
    {"poll", PHI__RUN_POLL},
    {"top", PHI__RUN_TOP},
    {"before", PHI__RUN_BEFORE_TURN},
    {"turn", PHI__RUN_TURN},
    {"ask", PHI__RUN_TRANSFORM}, /* also the name of the following states, up to the answer */
    {"tools", PHI__RUN_TOOLS},
    {"failed", PHI__RUN_FAILED},
    {"turn_end", PHI__RUN_TURN_END},
    {"after", PHI__RUN_AFTER_TURN},
    {"next", PHI__RUN_NEXT},
    {"follow", PHI__RUN_FOLLOW},
    {"close", PHI__RUN_CLOSE}};

/* Returns the name of the run's state. NULL: the run is over. A run held by a feature is saved as
   the state that the feature returns. */
static const char *phi__save_state(const phi__run *run) {
    phi__state state = run->state;
    if (state == PHI__RUN_HELD) state = phi__feature_held_as(run);
    if (state >= PHI__RUN_TRANSFORM && state <= PHI__RUN_BACKOFF) state = PHI__RUN_TRANSFORM;
    for (size_t i = 0; i < PHI__COUNT(phi__save_states); i++)
        if (phi__save_states[i].state == state) return phi__save_states[i].name;
    return NULL;
}

/* Writes a message in the form of log entries. */
static void phi__save_message(phi__buf *out, const phi_message *message, phi_arena *scratch) {
    phi__json_write_comma(out);
    phi__buf_char(out, '{');
    phi__write_message(out, message, scratch);
    phi__buf_char(out, '}');
}

static void phi__save_inputs(phi__buf *out, const phi__inputs *inputs, phi_arena *scratch) {
    phi__buf_char(out, '[');
    for (const phi__input *input = inputs->head; input != NULL; input = input->next) {
        phi__json_write_comma(out);
        phi__buf_char(out, '{');
        phi__records_u64(out, "kind", (uint64_t)input->kind);
        phi__records_str(out, "source", input->source);
        if (input->filtered) phi__records_bool(out, "filtered", true);
        phi__json_write_key(out, PHI__LIT("input"));
        phi__save_message(out, &input->message, scratch);
        phi__buf_char(out, '}');
    }
    phi__buf_char(out, ']');
}

/* Writes a call. If the call's result is logged, writes only the call's id. */
static void phi__save_call(phi__buf *out, const phi__toolcall *call, bool logged,
                           phi_arena *scratch) {
    phi__json_write_comma(out);
    phi__buf_char(out, '{');
    phi__records_str(out, "id", call->block->id);
    if (!logged) {
        phi__records_str(out, "name", call->block->name);
        phi__records_put(out, phi__save_call_fields, PHI__COUNT(phi__save_call_fields), call);
        if (call->result != NULL) {
            phi__json_write_key(out, PHI__LIT("result"));
            phi__save_message(out, call->result, scratch);
        } else if (call->state != NULL && call->tool != NULL && call->tool->keeps_state) {
            phi__records_raw(out, "state", "\"");
            phi__base64_encode(out, (const char *)call->state, call->state_bytes);
            phi__buf_char(out, '"');
        }
    }
    phi__buf_char(out, '}');
}

/* Writes the settings that the run's request has made. After loading, the agent's settings replace
   all others. */
static void phi__save_offered(phi__buf *out, const phi__run *run) {
    const phi__agent *agent = run->agent;
    if (run->own.waits_ms != agent->desc.deadlines.decision_ms)
        phi__records_u64(out, "decision_timeout_ms", run->own.waits_ms);
    if (run->own.extra.len > 0) phi__records_str(out, "extra", run->own.extra);
    if (run->own.context.len > 0) phi__records_str(out, "context", run->own.context);
    if (run->own.has_temperature) phi__records_double(out, "temperature", run->own.temperature);
    if (run->own.format != NULL) {
        const phi_format *format = &run->own.format->format;
        phi__records_raw(out, "format", "{");
        phi__records_u64(out, "kind", format->kind);
        phi__records_some(out, "name", phi_str_of(format->name));
        phi__records_some(out, "schema", phi_str_of(format->schema));
        phi__records_true(out, "strict", format->strict);
        phi__buf_char(out, '}');
    }
    if (run->own.toolset == NULL) return;
    phi__records_raw(out, "tools", "[");
    for (size_t i = 0; i < run->own.toolset->count; i++) {
        phi__json_write_comma(out);
        phi__json_write_str(out, phi_str_of(run->own.toolset->tools[i].name));
    }
    phi__buf_char(out, ']');
}

static void phi__save_members(phi__buf *out, const phi__run *run, phi_arena *scratch) {
    phi__records_str(out, "loop_id", run->loop_id);
    phi__records_put(out, phi__save_run_fields, PHI__COUNT(phi__save_run_fields), run);
    phi__records_i64(out, "status", (int64_t)run->status);
    phi__records_put(out, phi__save_flags_fields, PHI__COUNT(phi__save_flags_fields), run);
    phi__records_put(out, phi__save_limits_fields, PHI__COUNT(phi__save_limits_fields),
                     &run->limits);
    phi__records_u64(out, "elapsed_us", phi__io_counted_us(run->agent->rt->io) - run->started_us);
    if (run->own.policy != NULL) {
        phi__records_raw(out, "policy", "{");
        phi__records_put(out, phi__save_policy_fields, PHI__COUNT(phi__save_policy_fields),
                         run->own.policy);
        phi__buf_char(out, '}');
    }
    phi__save_offered(out, run);
    phi__message_put_usage(out, &run->spent.usage);
    phi__records_double(out, "cost", run->spent.cost);
    phi__records_raw(out, "turn", "{");
    phi__message_put_usage(out, &run->spent.turn);
    phi__buf_char(out, '}');
    phi__json_write_key(out, PHI__LIT("pending"));
    phi__save_inputs(out, &run->poll.pending, scratch);
    if (run->said.prompts != NULL) {
        phi__records_raw(out, "prompts", "[");
        for (size_t i = 0; i < run->said.prompt_count; i++)
            phi__save_message(out, run->said.prompts[i].message, scratch);
        phi__buf_char(out, ']');
    }
    if (run->tools.repeat_guard != NULL) {
        phi__records_u64(out, "doom_count", run->tools.repeat_guard->count);
        phi__records_raw(out, "doom", "[");
        for (uint32_t i = 0; i < PHI__REPEAT_GUARD_WINDOW; i++) {
            phi__json_write_comma(out);
            phi__json_number_put_u64(out, run->tools.repeat_guard->seen[i]);
        }
        phi__buf_char(out, ']');
    }
    phi__moment moment = phi__feature_moment(run->agent, run, PHI__POINT_RUN_SAVE);
    moment.out = out;
    moment.scratch = scratch;
    (void)phi__feature_take(&moment);
    if (run->failure != NULL) {
        phi_failure failure = *run->failure;
        if (failure.http_status < 0) failure.http_status = 0;
        phi__records_raw(out, "failure", "{");
        phi__records_put(out, phi__save_failure_fields, PHI__COUNT(phi__save_failure_fields),
                         &failure);
        phi__buf_char(out, '}');
    }
    /* The entry of the answer is the log's last assistant message. */
    const phi__entry *entry = phi__stored_reply_entry(run);
    if (entry != NULL) phi__records_u64(out, "reply", entry->seq);
    phi__records_u64(out, "call_count", run->tools.count);
    if (run->tools.calls == NULL) return;
    phi__records_put(out, phi__save_calls_fields, PHI__COUNT(phi__save_calls_fields), run);
    phi__records_raw(out, "calls", "[");
    for (size_t i = 0; i < run->tools.count; i++)
        phi__save_call(out, &run->tools.calls[i], i < run->tools.emitted, scratch);
    phi__buf_char(out, ']');
}

/* Writes the agent's run as an object; null if there is no run, or if only the run's last hook is
   left. */
static void phi__run_save(phi__buf *out, const phi__agent *agent, phi_arena *scratch) {
    const phi__run *run = agent->run;
    const char *state = run != NULL && !run->end.over ? phi__save_state(run) : NULL;
    if (state == NULL) {
        phi__buf_text(out, "null");
        return;
    }
    phi__buf_char(out, '{');
    phi__records_str(out, "state", phi_str_of(state));
    phi__save_members(out, run, scratch);
    phi__buf_char(out, '}');
}

/* ---- loading a run from JSON ----

   Everything is checked against the log, and a text that does not fit it is refused. Loading calls
   no function of the host: the tools resume their calls in the first step. */

/* Reads an array into the queue. Returns PHI_PARSE or PHI_NO_MEMORY on failure. */
static phi_status phi__load_inputs(phi__agent *agent, const phi_json *node, phi__inputs *to) {
    phi_json_iter it = phi_json_each(node);
    const phi_json *child;
    phi__entry_reader reader;
    phi_status status = PHI_OK;
    phi__get_reader_init(&reader, agent->thread);
    while (status == PHI_OK && (child = phi_json_next(&it)) != NULL) {
        phi_message message;
        phi_input kind = (phi_input)phi__records_get_u32(child, "kind");
        status = phi__get_message(&reader, phi_json_get(child, "input"), &message);
        if ((unsigned)kind > (unsigned)PHI_INPUT_INJECTED) status = PHI_PARSE;
        if (status == PHI_OK)
            status = phi__input_append(agent, to, kind, message.content, message.content_count,
                                       phi__records_get_str(child, "source"), message.details);
        if (status == PHI_OK) to->tail->filtered = phi__records_get_bool(child, "filtered");
    }
    phi__get_reader_free(&reader);
    return status;
}

/* Returns the state with this name, or PHI__RUN_OVER if there is none. */
static phi__state phi__load_state(const phi_json *node) {
    phi_str name = phi__records_get_str(node, "state");
    for (size_t i = 0; i < PHI__COUNT(phi__save_states); i++)
        if (phi__str_is(name, phi__save_states[i].name)) return phi__save_states[i].state;
    return PHI__RUN_OVER;
}

/* Returns the entry that began the run. */
static const phi__entry *phi__load_start(const phi_thread *thread, phi_str loop_id) {
    size_t i = thread->log.held;
    while (i > 0) {
        const phi__entry *entry = thread->log.entries[--i];
        if (entry->kind == PHI_ENTRY_LOOP_END && phi_str_equal(entry->loop_id, loop_id))
            return NULL;
        if (entry->kind == PHI_ENTRY_LOOP_START && phi_str_equal(entry->loop_id, loop_id))
            return entry;
    }
    return NULL;
}

static phi_status phi__load_policy(phi__run *run, const phi_json *node) {
    if (!phi_json_is(node, PHI_JSON_OBJECT)) return PHI_OK;
    phi_policy policy = PHI_ZERO;
    (void)phi__records_get(node, phi__save_policy_fields, PHI__COUNT(phi__save_policy_fields),
                           &policy, NULL);
    if (phi__policy_fault(&policy) != NULL) return PHI_PARSE;
    return phi__projection_take_policy(run, &policy) ? PHI_OK : PHI_NO_MEMORY;
}

static phi_status phi__load_extra(phi__run *run, const phi_json *node) {
    phi_str extra = phi_json_str(node, "");
    char words[8];
    phi_status status = PHI_OK;
    if (extra.len > 0)
        status = phi__extra_check(NULL, &run->agent->memory, extra, words, sizeof words);
    if (status != PHI_OK) return status == PHI_BAD_ARG ? PHI_PARSE : status;
    return phi__own(&run->agent->memory, extra, &run->own.extra) ? PHI_OK : PHI_NO_MEMORY;
}

/* Loads the format, temperature and context of a request. */
static phi_status phi__load_own(phi__run *run, const phi_json *node) {
    run->own.temperature = phi_json_num(phi_json_get(node, "temperature"), -1.0);
    run->own.has_temperature = run->own.temperature >= 0.0;
    if (!phi__own(&run->agent->memory, phi__records_get_str(node, "context"), &run->own.context))
        return PHI_NO_MEMORY;
    const phi_json *own = phi_json_get(node, "format");
    if (!phi_json_is(own, PHI_JSON_OBJECT)) return PHI_OK;
    uint64_t kind = phi__json_get_uint(phi_json_get(own, "kind"), UINT64_MAX);
    phi_format format = PHI_ZERO;
    format.schema = phi_json_str(phi_json_get(own, "schema"), "").at; /* null-terminated strings */
    format.name = phi_json_str(phi_json_get(own, "name"), "").at;
    format.strict = phi__records_get_bool(own, "strict");
    if (kind > PHI_FORMAT_JSON_SCHEMA ||
        (kind == PHI_FORMAT_JSON_SCHEMA && format.schema[0] == '\0'))
        return PHI_PARSE;
    format.kind = (phi_format_kind)kind;
    return phi__run_take_format(run, &format) ? PHI_OK : PHI_NO_MEMORY;
}

/* Loads the run's own tools by name. Tools that the agent does not have now are left out. */
static phi_status phi__load_offered(phi__run *run, const phi_json *root) {
    phi__agent *agent = run->agent;
    const phi_json *node = phi_json_get(root, "tools"), *name;
    phi_json_iter it = phi_json_each(node);
    uint32_t waits_ms = phi__records_get_u32(root, "decision_timeout_ms");
    const phi_tool *tool;
    phi_tool *tools;
    size_t n = 0;
    if (waits_ms != 0) run->own.waits_ms = waits_ms;
    if (!phi_json_is(node, PHI_JSON_ARRAY)) return PHI_OK;
    tools =
        (phi_tool *)phi__alloc(&agent->memory, phi__mul(agent->toolset.count + 1, sizeof *tools));
    if (tools == NULL) return PHI_NO_MEMORY;
    while ((name = phi_json_next(&it)) != NULL && n < agent->toolset.count)
        if ((tool = phi__toolset_find(&agent->toolset, phi_json_str(name, ""))) != NULL)
            tools[n++] = *tool;
    phi_status status = phi__toolset_take_run(run, tools, n) ? PHI_OK : PHI_NO_MEMORY;
    phi__free(&agent->memory, tools, (agent->toolset.count + 1) * sizeof *tools);
    return status;
}

/* Loads a message of the run into the thread's segment. PHI_PARSE: the message has another role. */
static phi_status phi__load_keep(phi__run *run, const phi_json *node, phi_role role,
                                 phi_message **out) {
    phi_thread *thread = run->agent->thread;
    phi__entry_reader reader;
    phi_message message;
    phi__get_reader_init(&reader, thread);
    phi_status status = phi__get_message(&reader, node, &message);
    if (status == PHI_OK && message.role != role) status = PHI_PARSE;
    if (status == PHI_OK) {
        message.loop_id = run->loop_id;
        *out = phi__append_keep(thread, &message);
        if (*out == NULL) status = PHI_NO_MEMORY;
    }
    phi__get_reader_free(&reader);
    return status;
}

static phi_status phi__load_prompts(phi__run *run, const phi_json *list) {
    phi_thread *thread = run->agent->thread;
    size_t n = phi_json_count(list), i = 0;
    phi_json_iter it = phi_json_each(list);
    const phi_json *child;
    phi__entry *entries;
    if (!phi_json_is(list, PHI_JSON_ARRAY) || n == 0) return PHI_OK;
    entries = (phi__entry *)phi_arena_alloc(phi__thread_room(thread), phi__mul(n, sizeof *entries));
    if (entries == NULL || !phi__append_reserve(thread, n, n)) return PHI_NO_MEMORY;
    while ((child = phi_json_next(&it)) != NULL) {
        phi_message *message;
        phi_status status = phi__load_keep(run, child, PHI_ROLE_USER, &message);
        if (status != PHI_OK) return status;
        entries[i] = phi__events_entry(run, PHI_ENTRY_MESSAGE);
        entries[i].at_ms = message->timestamp_ms;
        entries[i++].message = message;
    }
    run->said.prompts = entries;
    run->said.prompt_count = n;
    return PHI_OK;
}

static phi_status phi__load_repeats(phi__run *run, const phi_json *node) {
    phi_json_iter it = phi_json_each(phi_json_get(node, "doom"));
    const phi_json *child;
    size_t i = 0;
    if (phi_json_get(node, "doom") == NULL) return PHI_OK;
    run->tools.repeat_guard =
        (phi__repeat_guard *)phi__alloc(&run->agent->memory, sizeof *run->tools.repeat_guard);
    if (run->tools.repeat_guard == NULL) return PHI_NO_MEMORY;
    run->tools.repeat_guard->count = phi__records_get_u32(node, "doom_count");
    while (i < PHI__REPEAT_GUARD_WINDOW && (child = phi_json_next(&it)) != NULL)
        run->tools.repeat_guard->seen[i++] = phi__json_get_uint(child, 0);
    return PHI_OK;
}

static phi_status phi__load_failure(phi__run *run, const phi_json *node) {
    phi_arena *arena = phi__thread_room(run->agent->thread);
    phi_failure *failure;
    uint32_t kind = phi__records_get_u32(node, "kind");
    if (!phi_json_is(node, PHI_JSON_OBJECT)) return PHI_OK;
    if (kind == 0 || kind > (uint32_t)PHI_FAILURE_NO_MEMORY) return PHI_PARSE;
    failure = (phi_failure *)phi__arena_zero(arena, sizeof *failure);
    if (failure == NULL) return PHI_NO_MEMORY;
    run->failure = failure;
    if (!phi__records_get(node, phi__save_failure_fields, PHI__COUNT(phi__save_failure_fields),
                          failure, arena))
        return PHI_NO_MEMORY;
    if (failure->http_status < 0 || failure->http_status > 999) failure->http_status = 999;
    return PHI_OK;
}

static phi_status phi__load_reply(phi__run *run, const phi_json *node) {
    const phi_json *reply = phi_json_get(node, "reply");
    if (reply == NULL) return PHI_OK;
    const phi__entry *entry =
        phi__thread_at(run->agent->thread, phi__json_get_uint(reply, UINT64_MAX));
    if (entry == NULL || entry->kind != PHI_ENTRY_MESSAGE || entry->message == NULL ||
        entry->message->role != PHI_ROLE_ASSISTANT)
        return PHI_PARSE;
    run->reply = entry->message;
    return PHI_OK;
}

/* Reads the limit that has ended the run from the thread's last message, which phi__turn_stop has
   logged. In a host's own words, this is the whole message. */
static phi_status phi__load_limit(phi__run *run) {
    const phi_thread *thread = run->agent->thread;
    const phi_str before = PHI__LIT("[Agent stopped: ");
    size_t count = thread->messages.count;
    if (run->status != PHI_LIMIT || count == 0) return PHI_OK;
    const phi__entry *last = phi__lane_message(thread, count - 1);
    if (last == NULL || last->message == NULL || last->message->content_count == 0) return PHI_OK;
    phi_str text = last->message->content[0].text;
    if (text.len > before.len && memcmp(text.at, before.at, before.len) == 0)
        text = phi__str(text.at + before.len, text.len - before.len - 1);
    return phi__own(&run->agent->memory, text, &run->end.limit) ? PHI_OK : PHI_NO_MEMORY;
}

/* Loads the call's state, if the tool keeps its state. */
static phi_status phi__load_call_state(phi__toolcall *call, phi_str text) {
    phi_memory *memory = &call->run->agent->memory;
    phi_status status = PHI_PARSE;
    phi__buf bytes;
    if (text.len == 0 || call->tool == NULL || !call->tool->keeps_state) return PHI_OK;
    phi__buf_init(&bytes, memory);
    if (phi__base64_decode(&bytes, text)) {
        status = PHI_NO_MEMORY;
        call->state = phi__alloc(memory, bytes.len);
        if (call->state != NULL) {
            memcpy(call->state, bytes.at, bytes.len);
            call->state_bytes = bytes.len;
            status = PHI_OK;
        }
    }
    if (bytes.failed) status = PHI_NO_MEMORY;
    phi__buf_free(&bytes);
    return status;
}

static phi_status phi__load_call(phi__toolcall *call, const phi_json *node) {
    phi_arena *arena = phi__thread_room(call->run->agent->thread);
    phi_status status = PHI_OK;
    if (!phi_str_equal(call->block->id, phi__records_get_str(node, "id"))) return PHI_PARSE;
    if (!phi__records_get(node, phi__save_call_fields, PHI__COUNT(phi__save_call_fields), call,
                          arena))
        return PHI_NO_MEMORY;
    if (phi_json_get(node, "result") != NULL)
        status = phi__load_keep(call->run, phi_json_get(node, "result"), PHI_ROLE_TOOL_RESULT,
                                &call->result);
    if (status != PHI_OK || call->result != NULL || !call->begun) return status;
    status = phi__load_call_state(call, phi__records_get_str(node, "state"));
    if (status != PHI_OK) return status;
    if (!phi__call_open(call)) return PHI_NO_MEMORY;
    call->run->tools.running++;
    call->resumes = call->started;
    return PHI_OK;
}

/* True if the call's flags are possible between two steps. */
static bool phi__load_call_fits(const phi__toolcall *call) {
    if (!call->begun)
        return !call->decided && !call->quiet && !call->emitted && !call->started && !call->ended &&
               !call->after && !call->skipped && !call->again && call->result == NULL;
    if (call->result != NULL) return call->emitted || !call->started;
    return !call->quiet && !call->ended && !call->after && !call->skipped &&
           call->emitted == call->started && (call->started || !call->again);
}

/* True if the results after the answer in the log belong to the answer's first `emitted` calls, in
   order. */
static bool phi__load_results_fit(const phi__run *run, uint64_t reply) {
    const phi_thread *thread = run->agent->thread;
    const phi__entry *entry;
    size_t emitted = 0;
    while ((entry = phi__thread_at(thread, ++reply)) != NULL) {
        if (entry->kind != PHI_ENTRY_MESSAGE || entry->message->role != PHI_ROLE_TOOL_RESULT)
            continue;
        if (emitted == run->tools.emitted ||
            !phi_str_equal(entry->message->tool_call_id, run->tools.calls[emitted].block->id))
            return false;
        emitted++;
    }
    return emitted == run->tools.emitted;
}

static phi_status phi__run_load_calls(phi__run *run, const phi_json *node) {
    const phi_json *list = phi_json_get(node, "calls");
    phi_json_iter it = phi_json_each(list);
    size_t count = phi__records_get_size(node, "call_count");
    phi_status status = PHI_OK;
    if (list == NULL) { /* the turn of these calls is over */
        run->tools.count = count;
        return PHI_OK;
    }
    if (run->reply == NULL) return PHI_PARSE;
    if (!phi__tools_lay_calls(run)) return PHI_NO_MEMORY;
    if (run->tools.calls == NULL || run->tools.count != phi_json_count(list)) return PHI_PARSE;
    (void)phi__records_get(node, phi__save_calls_fields, PHI__COUNT(phi__save_calls_fields), run,
                           NULL);
    if (run->tools.next > run->tools.count || run->tools.emitted > run->tools.next ||
        !phi__load_results_fit(run, phi__records_get_u64(node, "reply")))
        return PHI_PARSE;
    for (size_t i = 0; i < run->tools.count && status == PHI_OK; i++) {
        const phi_json *each = phi_json_next(&it);
        phi__toolcall *call = &run->tools.calls[i];
        if (i < run->tools.emitted) continue;
        status = phi__load_call(call, each);
        if (status == PHI_OK &&
            (call->begun != (i < run->tools.next) || !phi__load_call_fits(call)))
            status = PHI_PARSE;
    }
    return status;
}

static phi_status phi__load_members(phi__run *run, const phi_json *node) {
    phi__agent *agent = run->agent;
    (void)phi__records_get(node, phi__save_run_fields, PHI__COUNT(phi__save_run_fields), run, NULL);
    run->status = (phi_status)phi_json_int(phi_json_get(node, "status"), 0);
    run->spent.usage = phi__message_read_get_usage(phi_json_get(node, "usage"));
    run->spent.turn = phi__message_read_get_usage(phi_json_path(node, "turn.usage"));
    run->spent.cost = phi__records_get_double(node, "cost");
    if (run->said.first_message > run->said.emitted_messages ||
        run->said.emitted_messages > agent->thread->messages.count ||
        (unsigned)run->start.trigger < (unsigned)PHI_TRIGGER_USER ||
        (unsigned)run->start.trigger > (unsigned)PHI_TRIGGER_BRANCH || run->status > PHI_OK)
        return PHI_PARSE;
    (void)phi__records_get(node, phi__save_flags_fields, PHI__COUNT(phi__save_flags_fields), run,
                           NULL);
    uint64_t elapsed = phi__records_get_u64(node, "elapsed_us");
    (void)phi__records_get(node, phi__save_limits_fields, PHI__COUNT(phi__save_limits_fields),
                           &run->limits, NULL);
    /* If the host's clock has restarted at 0, the value wraps, but differences are right. */
    run->started_us = phi__io_counted_us(run->agent->rt->io) - elapsed;
    phi_status status = phi__load_policy(run, phi_json_get(node, "policy"));
    if (status == PHI_OK) status = phi__load_extra(run, phi_json_get(node, "extra"));
    if (status == PHI_OK) status = phi__load_own(run, node);
    if (status == PHI_OK) status = phi__load_offered(run, node);
    if (status == PHI_OK)
        status = phi__load_inputs(agent, phi_json_get(node, "pending"), &run->poll.pending);
    if (status == PHI_OK) status = phi__load_prompts(run, phi_json_get(node, "prompts"));
    if (status == PHI_OK) status = phi__load_repeats(run, node);
    if (status == PHI_OK) {
        phi__moment moment = phi__feature_moment(run->agent, run, PHI__POINT_RUN_LOAD);
        moment.json = node;
        (void)phi__feature_take(&moment);
        status = moment.status;
    }
    if (status == PHI_OK) status = phi__load_failure(run, phi_json_get(node, "failure"));
    if (status == PHI_OK) status = phi__load_reply(run, node);
    if (status == PHI_OK) status = phi__load_limit(run);
    return status == PHI_OK ? phi__run_load_calls(run, node) : status;
}

/* True if the run has everything that its state needs. */
static bool phi__run_load_fits(const phi__run *run) {
    if (run->tools.calls != NULL && run->state != PHI__RUN_TOOLS &&
        run->tools.emitted < run->tools.count)
        return false; /* false, because nothing would finish these calls */
    if (!run->start.emitted && (run->turn.open || run->state > PHI__RUN_OPEN))
        return false; /* no turn begins before AGENT_START */
    switch (run->state) {
    case PHI__RUN_TURN: return !run->turn.open || run->agent->thread->fold.count > 0;
    case PHI__RUN_TRANSFORM: return run->turn.open && run->agent->thread->fold.count > 0;
    case PHI__RUN_TOOLS: return run->turn.open && run->tools.calls != NULL;
    case PHI__RUN_FAILED: return run->failure != NULL && run->status != PHI_OK;
    case PHI__RUN_NEXT:
    case PHI__RUN_FOLLOW: return run->reply != NULL || run->status != PHI_OK || run->end.cancelled;
    default: return true;
    }
}

/* Loads the run of an idle agent whose thread is loaded. On failure there is no run. Returns
   PHI_PARSE if the run does not fit the thread. May also return PHI_NO_MEMORY. */
static phi_status phi__run_load(phi__agent *agent, const phi_json *node, bool interrupt) {
    const phi__entry *start = phi__load_start(agent->thread, phi__records_get_str(node, "loop_id"));
    phi__state state = phi__load_state(node);
    if (start == NULL || start->of.loop == NULL || state == PHI__RUN_OVER) return PHI_PARSE;
    phi__run *run = phi__run_make_for(agent, start);
    if (run == NULL) return PHI_NO_MEMORY;
    run->state = state;
    phi_status status = phi__load_members(run, node);
    if (status == PHI_OK && !phi__run_load_fits(run)) status = PHI_PARSE;
    if (status != PHI_OK) {
        phi__tools_drop(run);
        phi__run_unmake(run);
        return status;
    }
    phi__run_take(run);
    if (interrupt) run->end.cancelled = true;
    return PHI_OK;
}

/* ---- an agent and its run, without its thread ---- */

static const phi__field phi__save_budget_fields[] = {
    PHI__FIELD(phi__budget, limits.max_tokens, "max_tokens", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi__budget, limits.max_requests, "max_requests", PHI__FIELD_UINT,
               PHI__FIELD_ALWAYS),
    PHI__FIELD(phi__budget, limits.max_cost, "max_cost", PHI__FIELD_DOUBLE, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi__budget, seen.tokens, "tokens", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi__budget, seen.requests, "requests", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi__budget, seen.cost, "spent", PHI__FIELD_DOUBLE, PHI__FIELD_ALWAYS)};

static void phi__save_usage(phi__buf *out, const char *key, const phi_usage *usage, double cost) {
    phi__records_raw(out, key, "{");
    phi__message_put_usage(out, usage);
    phi__records_double(out, "cost", cost);
    phi__buf_char(out, '}');
}

static void phi__save_features(phi__buf *out, const phi__agent *agent, phi_arena *scratch,
                               phi__point point) {
    /* the agent is not changed */
    phi__moment moment = phi__feature_moment((phi__agent *)(uintptr_t)agent, NULL, point);
    moment.out = out;
    moment.scratch = scratch;
    (void)phi__feature_take(&moment);
}

/* The queues of an agent and their names in a snapshot. */
typedef struct phi__save_queue {
    const char *name;
    phi_input kind;
} phi__save_queue;

static const phi__save_queue phi__save_queues[] = {{"steering", PHI_INPUT_STEERING},
                                                   {"follow_ups", PHI_INPUT_FOLLOW_UP},
                                                   {"injected", PHI_INPUT_INJECTED}};

/* Returns the request count for a snapshot. The requests of a pot are left out: the restored run
   reserves them again and then gives back the request of its own call. again: the run reserves its
   call again, so that request is left out, too. */
static uint64_t phi__budget_requests(const phi__agent *agent, bool again) {
    uint64_t seen = agent->budget.seen.requests;
    const phi__run *run = agent->run;
    if (run == NULL || (!run->pot && !again)) return seen;
    uint64_t made = seen - (seen < run->reserved.requests ? seen : run->reserved.requests);
    return run->pot ? made + 1 : made;
}

PHI__FN void phi__save_agent(phi__buf *out, const phi__agent *agent, phi_arena *scratch) {
    phi__records_str(out, "agent_id", agent->agent_id);
    phi__records_str(out, "session_id", agent->line.session->id);
    phi__records_str(out, "config_id", agent->line.segment);
    phi__records_str(out, "last_loop_id", agent->line.last_loop_id);
    phi__records_u64(out, "loops", agent->line.loops);
    phi__save_features(out, agent, scratch, PHI__POINT_AGENT_SAVE);
    phi__records_u64(out, "session_loops",
                     phi__session_count_so_far(agent->line.session, agent->line.segment));
    phi__budget budget = agent->budget;
    budget.seen.requests =
        phi__budget_requests(agent, agent->run != NULL && agent->run->state == PHI__RUN_HELD &&
                                        phi__feature_held_as(agent->run) == PHI__RUN_TURN);
    phi__save_usage(out, "all", &agent->spent.usage, agent->spent.cost);
    phi__save_usage(out, "last_run", &agent->spent.run_usage, agent->spent.run_cost);
    phi__records_raw(out, "budget", "{");
    phi__records_put(out, phi__save_budget_fields, PHI__COUNT(phi__save_budget_fields), &budget);
    phi__buf_char(out, '}');
    phi__head_save(out, agent);
    if (agent->prior.deferral != NULL) agent->rt->features.deferral->save(out, agent);
    phi__agent *owner = (phi__agent *)(uintptr_t)agent; /* the agent is not changed */
    for (size_t i = 0; i < PHI__COUNT(phi__save_queues); i++) {
        phi__json_write_key(out, phi_str_of(phi__save_queues[i].name));
        phi__save_inputs(out, phi__input_list_of(owner, phi__save_queues[i].kind), scratch);
    }
    phi__json_write_key(out, PHI__LIT("run"));
    phi__run_save(out, agent, scratch);
    phi__save_features(out, agent, scratch, PHI__POINT_AGENT_SAVE_LATE);
}

static void phi__load_spent(phi__agent *agent, const phi_json *root) {
    const phi_json *all = phi_json_get(root, "all"), *last = phi_json_get(root, "last_run");
    agent->spent.usage = phi__message_read_get_usage(phi_json_get(all, "usage"));
    agent->spent.cost = phi__records_get_double(all, "cost");
    agent->spent.run_usage = phi__message_read_get_usage(phi_json_get(last, "usage"));
    agent->spent.run_cost = phi__records_get_double(last, "cost");
    (void)phi__records_get(phi_json_get(root, "budget"), phi__save_budget_fields,
                           PHI__COUNT(phi__save_budget_fields), &agent->budget, NULL);
}

static phi_status phi__load_features(phi__agent *agent, const phi_json *root, phi__point point) {
    phi__moment moment = phi__feature_moment(agent, NULL, point);
    moment.json = root;
    (void)phi__feature_take(&moment);
    return moment.status;
}

PHI__FN phi_status phi__load_agent(phi__agent *agent, const phi_json *root, bool interrupt,
                                   char *words, size_t words_size) {
    const phi_json *run = phi_json_get(root, "run");
    phi_str last = phi__records_get_str(root, "last_loop_id");
    const phi_json *lines = phi_json_get(root, "thread");
    phi_status status = PHI_OK;
    if (agent->thread->log.count > 0) {
        (void)snprintf(words, words_size, "the store has thread \"%.128s\" already",
                       agent->thread->journal->id);
        return PHI_MISUSE;
    }
    if (phi_json_count(lines) > 0)
        status = phi__thread_text_from_array(agent->thread, lines, words, words_size);
    if (status != PHI_OK) return status;
    phi__load_spent(agent, root);
    status = phi__load_features(agent, root, PHI__POINT_AGENT_LOAD);
    if (status == PHI_OK) status = phi__head_load(agent, phi_json_get(root, "head"));
    if (status == PHI_OK && phi_json_get(root, "loaded_tools") != NULL &&
        !agent->rt->features.deferral->load(agent, phi_json_get(root, "loaded_tools")))
        status = PHI_NO_MEMORY;
    if (status != PHI_OK) return status;
    phi__line_count(agent, phi__records_get_u32(root, "loops"));
    if (!phi__session_go_on(&agent->rt->sessions, agent->line.session, agent->line.segment,
                            phi__records_get_u64(root, "session_loops")))
        return PHI_NO_MEMORY;
    if (last.len > 0 && !phi__line_remember(agent, phi_str_of(last.at))) return PHI_NO_MEMORY;
    status = PHI_OK;
    for (size_t i = 0; i < PHI__COUNT(phi__save_queues) && status == PHI_OK; i++)
        status = phi__load_inputs(agent, phi_json_get(root, phi__save_queues[i].name),
                                  phi__input_list_of(agent, phi__save_queues[i].kind));

    if (status == PHI_OK && phi_json_is(run, PHI_JSON_OBJECT)) {
        agent->line.last_active_us = phi__io_now_us(agent->rt->io);
        status = phi__run_load(agent, run, interrupt);
    }
    return status == PHI_OK ? phi__load_features(agent, root, PHI__POINT_AGENT_LOAD_LATE) : status;
}

/* ---- freeing an agent ---- */

PHI__FN bool phi__gone_detach(phi__agent *agent) {
    if (agent->run != NULL) phi__run_detach(agent->run);
    if (agent->slot == NULL) return false; /* a tool's cancel has freed the agent */
    agent->slot = NULL;
    if (agent->questions != NULL) phi__question_drop_all(agent);
    phi__forget_unpress(agent);
    return true;
}

PHI__FN void phi__gone_drop(phi__agent *agent) {
    phi__events_purge(agent->rt, agent);
    while (agent->responses != NULL) phi__responses_drop_one(agent->responses);
}

PHI__FN void phi__gone_free(phi__agent *agent) {
    if (agent->run != NULL) phi__run_destroy(agent->run);
    while (agent->responses != NULL) phi__responses_drop_one(agent->responses);
    phi__feature_agent(agent, PHI__POINT_AGENT_FREED);
    phi__free(&agent->memory, agent->projected, sizeof *agent->projected);
    phi__input_free_queues(agent);
    phi__journal_free_thread(&agent->own);
    phi__toolset_free(&agent->toolset);
    phi__head_free(agent);
    if (agent->prior.deferral != NULL) agent->rt->features.deferral->free(agent);
    if (agent->sources != NULL) agent->rt->features.sources->free(agent);
    phi__free(&agent->memory, agent->questions, sizeof *agent->questions);
    phi__session_drop(&agent->rt->sessions, agent->line.session);
    phi__line_take_last(agent, phi__str(NULL, 0));
}
