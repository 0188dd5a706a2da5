/* run_save.c - writes a run, its tool calls and queues as JSON.

   What can be made again is not written: a request, a stream under way, a question to a hook. The
   states between a turn's beginning and its answer are all written as the first of them. */
#include "loop/run_save_in.h"

#include "base/base64_in.h"
#include "model/message_in.h"
#include "text/records_in.h"
#include "persist/entry_in.h"

static const char *const phi__run_save_states[] = {
    "",    "before_loop", "open",   "filter",   "poll",  "top",  "before", "turn",
    "ask", "tools",       "failed", "turn_end", "after", "next", "follow", "close"};

PHI__FN const char *phi__run_save_state_name(size_t i) {
    return i < PHI__COUNT(phi__run_save_states) ? phi__run_save_states[i] : NULL;
}

/* The place in the list of a state's name; 0: the run is over. A run held by a feature is written
   as the state that the feature names. */
static size_t phi__run_save_state(const phi__run *run, phi__state state) {
    switch (state) {
    case PHI__RUN_BEFORE_LOOP: return 1;
    case PHI__RUN_OPEN: return 2;
    case PHI__RUN_FILTER: return 3;
    case PHI__RUN_POLL: return 4;
    case PHI__RUN_TOP: return 5;
    case PHI__RUN_BEFORE_TURN: return 6;
    case PHI__RUN_TURN: return 7;
    case PHI__RUN_TRANSFORM:
    case PHI__RUN_CONVERT:
    case PHI__RUN_REQUEST:
    case PHI__RUN_CREDENTIAL:
    case PHI__RUN_SIGN:
    case PHI__RUN_SEND:
    case PHI__RUN_STREAM:
    case PHI__RUN_BACKOFF: return 8;
    case PHI__RUN_TOOLS: return 9;
    case PHI__RUN_FAILED: return 10;
    case PHI__RUN_TURN_END: return 11;
    case PHI__RUN_AFTER_TURN: return 12;
    case PHI__RUN_NEXT: return 13;
    case PHI__RUN_FOLLOW: return 14;
    case PHI__RUN_CLOSE: return 15;
    case PHI__RUN_HELD: return phi__run_save_state(run, phi__feature_held_as(run));
    case PHI__RUN_ON:
    case PHI__RUN_AFTER_LOOP:
    case PHI__RUN_OVER:
    case PHI__RUN_LOST:
    case PHI__RUN_ENDED:
    case PHI__RUN_GIVE_UP:
    case PHI__RUN_ANSWERED: break;
    }
    return 0;
}

/* ---- members ---- */

/* As an entry of the log has it. */
static void phi__run_save_message(phi__buf *out, const phi_message *message, phi_arena *scratch) {
    phi__json_write_comma(out);
    phi__buf_char(out, '{');
    phi__entry_json_message(out, message, scratch);
    phi__buf_char(out, '}');
}

PHI__FN void phi__run_save_inputs(phi__buf *out, const phi__inputs *inputs, phi_arena *scratch) {
    const phi__input *input;
    phi__buf_char(out, '[');
    for (input = inputs->head; input != NULL; input = input->next) {
        phi__json_write_comma(out);
        phi__buf_char(out, '{');
        phi__records_u64(out, "kind", (uint64_t)input->kind);
        phi__records_str(out, "source", input->source);
        if (input->filtered) phi__records_bool(out, "filtered", true);
        phi__json_write_key(out, PHI__LIT("input"));
        phi__run_save_message(out, &input->message, scratch);
        phi__buf_char(out, '}');
    }
    phi__buf_char(out, ']');
}

/* ---- tool calls ---- */

/* A call whose result is in the log is written as its id only. */
static void phi__run_save_call(phi__buf *out, const phi__toolcall *call, bool logged,
                               phi_arena *scratch) {
    phi__json_write_comma(out);
    phi__buf_char(out, '{');
    phi__records_str(out, "id", call->block->id);
    if (logged) {
        phi__buf_char(out, '}');
        return;
    }
    phi__records_str(out, "name", call->block->name);
    phi__run_save_fields_put(out, PHI__RUN_SAVE_CALL, call);
    if (call->result != NULL) {
        phi__json_write_key(out, PHI__LIT("result"));
        phi__run_save_message(out, call->result, scratch);
    } else if (call->state != NULL && call->tool != NULL && call->tool->keeps_state) {
        phi__records_raw(out, "state", "\"");
        phi__base64_encode(out, (const char *)call->state, call->state_bytes);
        phi__buf_char(out, '"');
    }
    phi__buf_char(out, '}');
}

static void phi__run_save_calls(phi__buf *out, const phi__run *run, phi_arena *scratch) {
    size_t i;
    phi__records_u64(out, "call_count", run->tools.count);
    if (run->tools.calls == NULL) return;
    phi__run_save_fields_put(out, PHI__RUN_SAVE_CALLS, run);
    phi__records_raw(out, "calls", "[");
    for (i = 0; i < run->tools.count; i++)
        phi__run_save_call(out, &run->tools.calls[i], i < run->tools.emitted, scratch);
    phi__buf_char(out, ']');
}

/* ---- the run ---- */

static void phi__run_save_prompts(phi__buf *out, const phi__run *run, phi_arena *scratch) {
    size_t i;
    if (run->said.prompts == NULL) return;
    phi__records_raw(out, "prompts", "[");
    for (i = 0; i < run->said.prompt_count; i++)
        phi__run_save_message(out, run->said.prompts[i].message, scratch);
    phi__buf_char(out, ']');
}

static void phi__run_save_repeats(phi__buf *out, const phi__run *run) {
    uint32_t i;
    if (run->tools.repeat_guard == NULL) return;
    phi__records_u64(out, "doom_count", run->tools.repeat_guard->count);
    phi__records_raw(out, "doom", "[");
    for (i = 0; i < PHI__REPEAT_GUARD_WINDOW; i++) {
        phi__json_write_comma(out);
        phi__json_number_put_u64(out, run->tools.repeat_guard->seen[i]);
    }
    phi__buf_char(out, ']');
}

static void phi__run_save_limits(phi__buf *out, const phi__run *run) {
    phi__run_save_fields_put(out, PHI__RUN_SAVE_LIMITS, &run->limits);
    phi__records_u64(out, "elapsed_us", phi__io_counted_us(run->agent->rt->io) - run->started_us);
}

static void phi__run_save_format(phi__buf *out, const phi_format *format) {
    phi__records_raw(out, "format", "{");
    phi__records_u64(out, "kind", format->kind);
    phi__records_some(out, "name", phi_str_of(format->name));
    phi__records_some(out, "schema", phi_str_of(format->schema));
    phi__records_true(out, "strict", format->strict);
    phi__buf_char(out, '}');
}

/* The request's own; where it has none, the agent's holds after loading. */
static void phi__run_save_offered(phi__buf *out, const phi__run *run) {
    const phi__agent *agent = run->agent;
    size_t i;
    if (run->own.waits_ms != agent->desc.deadlines.decision_ms)
        phi__records_u64(out, "decision_timeout_ms", run->own.waits_ms);
    if (run->own.extra.len > 0) phi__records_str(out, "extra", run->own.extra);
    if (run->own.context.len > 0) phi__records_str(out, "context", run->own.context);
    if (run->own.has_temperature) phi__records_double(out, "temperature", run->own.temperature);
    if (run->own.format != NULL) phi__run_save_format(out, &run->own.format->format);
    if (run->own.toolset == NULL) return;
    phi__records_raw(out, "tools", "[");
    for (i = 0; i < run->own.toolset->count; i++) {
        phi__json_write_comma(out);
        phi__json_write_str(out, phi_str_of(run->own.toolset->tools[i].name));
    }
    phi__buf_char(out, ']');
}

static void phi__run_save_policy(phi__buf *out, const phi_policy *policy) {
    if (policy == NULL) return;
    phi__records_raw(out, "policy", "{");
    phi__run_save_fields_put(out, PHI__RUN_SAVE_POLICY, policy);
    phi__buf_char(out, '}');
}

static void phi__run_save_failure(phi__buf *out, const phi__run *run) {
    phi_failure failure;
    if (run->failure == NULL) return;
    failure = *run->failure;
    if (failure.http_status < 0) failure.http_status = 0;
    phi__records_raw(out, "failure", "{");
    phi__run_save_fields_put(out, PHI__RUN_SAVE_FAILURE, &failure);
    phi__buf_char(out, '}');
}

/* The answer's entry: the last assistant message of the log. */
static void phi__run_save_reply(phi__buf *out, const phi__run *run) {
    const phi__entry *entry = phi__stored_reply_entry(run);
    if (entry != NULL) phi__records_u64(out, "reply", entry->seq);
}

static void phi__run_save_features(phi__buf *out, const phi__run *run, phi_arena *scratch) {
    phi__moment moment;
    memset(&moment, 0, sizeof moment);
    moment.point = PHI__POINT_RUN_SAVE;
    moment.agent = run->agent;
    moment.run = (phi__run *)(uintptr_t)run; /* nothing of it is changed */
    moment.out = out;
    moment.scratch = scratch;
    (void)phi__feature_take(&moment);
}

static void phi__run_save_members(phi__buf *out, const phi__run *run, phi_arena *scratch) {
    phi__records_str(out, "loop_id", run->loop_id);
    phi__run_save_fields_put(out, PHI__RUN_SAVE_RUN, run);
    phi__records_i64(out, "status", (int64_t)run->status);
    phi__run_save_fields_put(out, PHI__RUN_SAVE_FLAGS, run);
    phi__run_save_limits(out, run);
    phi__run_save_policy(out, run->own.policy);
    phi__run_save_offered(out, run);
    phi__message_put_usage(out, &phi__limits_charge_of(run)->usage);
    phi__records_double(out, "cost", phi__limits_charge_of(run)->cost);
    phi__records_raw(out, "turn", "{");
    phi__message_put_usage(out, &phi__limits_charge_of(run)->turn);
    phi__buf_char(out, '}');
    phi__json_write_key(out, PHI__LIT("pending"));
    phi__run_save_inputs(out, &run->poll.pending, scratch);
    phi__run_save_prompts(out, run, scratch);
    phi__run_save_repeats(out, run);
    phi__run_save_features(out, run, scratch);
    phi__run_save_failure(out, run);
    phi__run_save_reply(out, run);
    phi__run_save_calls(out, run, scratch);
}

PHI__FN void phi__run_save(phi__buf *out, const phi__agent *agent, phi_arena *scratch) {
    const phi__run *run = agent->run;
    size_t state = run != NULL && !run->end.over ? phi__run_save_state(run, run->state) : 0;
    if (state == 0) {
        phi__buf_text(out, "null");
        return;
    }
    phi__buf_char(out, '{');
    phi__records_str(out, "state", phi_str_of(phi__run_save_states[state]));
    phi__run_save_members(out, run, scratch);
    phi__buf_char(out, '}');
}
