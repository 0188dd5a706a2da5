/* run_save.c - writes a run, its tool calls and queues as JSON.

   What can be made again is not written: a request, a stream under way, a question to a hook. The
   states between a turn's beginning and its answer are all written as the first of them. */
#include "loop/loop_in.h"

#include "base/base_in.h"
#include "model/model_in.h"
#include "persist/persist_in.h"
#include "text/text_in.h"
#include "wire/wire_in.h"
#include "loop/events_in.h"
#include "loop/input_in.h"
#include "loop/projection_in.h"
#include "loop/run_in.h"
#include "loop/tools_in.h"

/* run_save.c: fields that are written as they are, and read back: of what `from` and `to`
   are. */
typedef enum phi__run_save_part {
    PHI__RUN_SAVE_RUN,     /* phi__run */
    PHI__RUN_SAVE_FLAGS,   /* phi__run */
    PHI__RUN_SAVE_LIMITS,  /* phi_limits */
    PHI__RUN_SAVE_POLICY,  /* phi_policy */
    PHI__RUN_SAVE_FAILURE, /* phi_failure */
    PHI__RUN_SAVE_CALLS,   /* phi__run */
    PHI__RUN_SAVE_CALL     /* phi__toolcall */
} phi__run_save_part;

/* ======== Tables of the plain fields of a run, its parts and its tool calls. */

static const phi__field phi__run_save_run_fields[] = {
    PHI__FIELD(phi__run, start.trigger, "trigger", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi__run, turn.index, "turn_index", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi__run, said.first_message, "first_message", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi__run, said.emitted_messages, "told_messages", PHI__FIELD_UINT,
               PHI__FIELD_ALWAYS)};

static const phi__field phi__run_save_flags_fields[] = {
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

static const phi__field phi__run_save_limits_fields[] = {
    PHI__FIELD(phi_limits, max_turns, "max_turns", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_limits, max_tokens, "max_tokens", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_limits, max_duration_ms, "max_duration_ms", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_limits, max_cost, "max_cost", PHI__FIELD_DOUBLE, PHI__FIELD_ALWAYS)};

static const phi__field phi__run_save_policy_fields[] = {
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

static const phi__field phi__run_save_failure_fields[] = {
    PHI__FIELD(phi_failure, kind, "kind", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_failure, http_status, "http_status", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_failure, retryable, "retryable", PHI__FIELD_BOOL, PHI__FIELD_SET),
    PHI__FIELD(phi_failure, code, "code", PHI__FIELD_STR, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_failure, message, "words", PHI__FIELD_STR, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_failure, request_id, "request_id", PHI__FIELD_STR, PHI__FIELD_ALWAYS)};

static const phi__field phi__run_save_calls_fields[] = {
    PHI__FIELD(phi__run, tools.next, "next_call", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi__run, tools.emitted, "told_calls", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi__run, tools.polled, "polled_calls", PHI__FIELD_UINT, PHI__FIELD_ALWAYS)};

static const phi__field phi__run_save_call_fields[] = {
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

typedef struct phi__run_save_table {
    const phi__field *fields;
    size_t count;
} phi__run_save_table;

static phi__run_save_table phi__run_save_fields_table_of(phi__run_save_part part) {
    static const phi__run_save_table tables[] = {
        {phi__run_save_run_fields, PHI__COUNT(phi__run_save_run_fields)},
        {phi__run_save_flags_fields, PHI__COUNT(phi__run_save_flags_fields)},
        {phi__run_save_limits_fields, PHI__COUNT(phi__run_save_limits_fields)},
        {phi__run_save_policy_fields, PHI__COUNT(phi__run_save_policy_fields)},
        {phi__run_save_failure_fields, PHI__COUNT(phi__run_save_failure_fields)},
        {phi__run_save_calls_fields, PHI__COUNT(phi__run_save_calls_fields)},
        {phi__run_save_call_fields, PHI__COUNT(phi__run_save_call_fields)}};
    return tables[part];
}

static void phi__run_save_fields_put(phi__buf *out, phi__run_save_part part, const void *from) {
    phi__run_save_table table = phi__run_save_fields_table_of(part);
    phi__records_put(out, table.fields, table.count, from);
}

/* As phi__records_get. */
static bool phi__run_save_fields_get(const phi_json *node, phi__run_save_part part, void *to,
                                     phi_arena *arena) {
    phi__run_save_table table = phi__run_save_fields_table_of(part);
    return phi__records_get(node, table.fields, table.count, to, arena);
}

/* ======== Writes a run, its tool calls and queues as JSON.

   What can be made again is not written: a request, a stream under way, a question to a hook. The
   states between a turn's beginning and its answer are all written as the first of them. */

static const char *const phi__run_save_states[] = {
    "",    "before_loop", "open",   "filter",   "poll",  "top",  "before", "turn",
    "ask", "tools",       "failed", "turn_end", "after", "next", "follow", "close"};

/* Names of the states that are written, from 1; NULL past the last. */
static const char *phi__run_save_state_name(size_t i) {
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
    phi__write_message(out, message, scratch);
    phi__buf_char(out, '}');
}

PHI__FN void phi__run_save_inputs(phi__buf *out, const phi__inputs *inputs, phi_arena *scratch) {
    phi__buf_char(out, '[');
    for (const phi__input *input = inputs->head; input != NULL; input = input->next) {
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

/* ---- the run ---- */

static void phi__run_save_prompts(phi__buf *out, const phi__run *run, phi_arena *scratch) {
    if (run->said.prompts == NULL) return;
    phi__records_raw(out, "prompts", "[");
    for (size_t i = 0; i < run->said.prompt_count; i++)
        phi__run_save_message(out, run->said.prompts[i].message, scratch);
    phi__buf_char(out, ']');
}

static void phi__run_save_repeats(phi__buf *out, const phi__run *run) {
    if (run->tools.repeat_guard == NULL) return;
    phi__records_u64(out, "doom_count", run->tools.repeat_guard->count);
    phi__records_raw(out, "doom", "[");
    for (uint32_t i = 0; i < PHI__REPEAT_GUARD_WINDOW; i++) {
        phi__json_write_comma(out);
        phi__json_number_put_u64(out, run->tools.repeat_guard->seen[i]);
    }
    phi__buf_char(out, ']');
}

/* The request's own; where it has none, the agent's holds after loading. */
static void phi__run_save_offered(phi__buf *out, const phi__run *run) {
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

static void phi__run_save_policy(phi__buf *out, const phi_policy *policy) {
    if (policy == NULL) return;
    phi__records_raw(out, "policy", "{");
    phi__run_save_fields_put(out, PHI__RUN_SAVE_POLICY, policy);
    phi__buf_char(out, '}');
}

static void phi__run_save_failure(phi__buf *out, const phi__run *run) {
    if (run->failure == NULL) return;
    phi_failure failure = *run->failure;
    if (failure.http_status < 0) failure.http_status = 0;
    phi__records_raw(out, "failure", "{");
    phi__run_save_fields_put(out, PHI__RUN_SAVE_FAILURE, &failure);
    phi__buf_char(out, '}');
}

static void phi__run_save_features(phi__buf *out, const phi__run *run, phi_arena *scratch) {
    phi__moment moment = PHI_ZERO;
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
    phi__run_save_fields_put(out, PHI__RUN_SAVE_LIMITS, &run->limits);
    phi__records_u64(out, "elapsed_us", phi__io_counted_us(run->agent->rt->io) - run->started_us);
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
    /* The answer's entry: the last assistant message of the log. */
    const phi__entry *entry = phi__stored_reply_entry(run);
    if (entry != NULL) phi__records_u64(out, "reply", entry->seq);
    phi__records_u64(out, "call_count", run->tools.count);
    if (run->tools.calls == NULL) return;
    phi__run_save_fields_put(out, PHI__RUN_SAVE_CALLS, run);
    phi__records_raw(out, "calls", "[");
    for (size_t i = 0; i < run->tools.count; i++)
        phi__run_save_call(out, &run->tools.calls[i], i < run->tools.emitted, scratch);
    phi__buf_char(out, ']');
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

/* ======== Makes a run again, over its thread, from JSON.

   Everything is checked against the log: a text that does not fit it makes no run. Tool calls are
   taken up by the tools of their names when the run is stepped first, so that no function of the
   host's is called in here. */

/* ---- messages and queues ---- */

PHI__FN phi_status phi__run_load_inputs(phi__agent *agent, const phi_json *node, phi__inputs *to) {
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

/* ---- parts of the run ---- */

static size_t phi__run_load_state(const phi_json *node) {
    phi_str name = phi__records_get_str(node, "state");
    for (size_t i = 1; phi__run_save_state_name(i) != NULL; i++)
        if (phi__str_is(name, phi__run_save_state_name(i))) return i;
    return 0;
}

static phi__state phi__run_load_state_of(size_t i) {
    static const phi__state states[] = {
        PHI__RUN_OVER,       PHI__RUN_BEFORE_LOOP, PHI__RUN_OPEN,        PHI__RUN_FILTER,
        PHI__RUN_POLL,       PHI__RUN_TOP,         PHI__RUN_BEFORE_TURN, PHI__RUN_TURN,
        PHI__RUN_TRANSFORM,  PHI__RUN_TOOLS,       PHI__RUN_FAILED,      PHI__RUN_TURN_END,
        PHI__RUN_AFTER_TURN, PHI__RUN_NEXT,        PHI__RUN_FOLLOW,      PHI__RUN_CLOSE};
    return i < PHI__COUNT(states) ? states[i] : PHI__RUN_OVER;
}

/* The entry that began the run. */
static const phi__entry *phi__run_load_start(const phi_thread *thread, phi_str loop_id) {
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

static phi_status phi__run_load_policy(phi__run *run, const phi_json *node) {
    if (!phi_json_is(node, PHI_JSON_OBJECT)) return PHI_OK;
    phi_policy policy = PHI_ZERO;
    (void)phi__run_save_fields_get(node, PHI__RUN_SAVE_POLICY, &policy, NULL);
    if (phi__policy_fault(&policy) != NULL) return PHI_PARSE;
    return phi__projection_take_policy(run, &policy) ? PHI_OK : PHI_NO_MEMORY;
}

static phi_status phi__run_load_extra(phi__run *run, const phi_json *node) {
    phi_str extra = phi_json_str(node, "");
    char words[8];
    phi_status status = PHI_OK;
    if (extra.len > 0)
        status = phi__extra_check(NULL, &run->agent->memory, extra, words, sizeof words);
    if (status != PHI_OK) return status == PHI_BAD_ARG ? PHI_PARSE : status;
    return phi__run_take_text(run, extra, &run->own.extra) ? PHI_OK : PHI_NO_MEMORY;
}

/* Strings of JSON's end with a NUL. */
static phi_status phi__run_load_format(phi__run *run, const phi_json *node) {
    uint64_t kind = phi__json_get_uint(phi_json_get(node, "kind"), UINT64_MAX);
    if (!phi_json_is(node, PHI_JSON_OBJECT)) return PHI_OK;
    phi_format format = PHI_ZERO;
    format.schema = phi_json_str(phi_json_get(node, "schema"), "").at;
    format.name = phi_json_str(phi_json_get(node, "name"), "").at;
    format.strict = phi__records_get_bool(node, "strict");
    if (kind > PHI_FORMAT_JSON_SCHEMA ||
        (kind == PHI_FORMAT_JSON_SCHEMA && format.schema[0] == '\0'))
        return PHI_PARSE;
    format.kind = (phi_format_kind)kind;
    return phi__run_take_format(run, &format) ? PHI_OK : PHI_NO_MEMORY;
}

/* The format, temperature and context of a request. */
static phi_status phi__run_load_own(phi__run *run, const phi_json *node) {
    const phi_json *temperature = phi_json_get(node, "temperature");
    run->own.temperature = phi_json_num(temperature, -1.0);
    run->own.has_temperature = run->own.temperature >= 0.0;
    if (!phi__run_take_text(run, phi__records_get_str(node, "context"), &run->own.context))
        return PHI_NO_MEMORY;
    return phi__run_load_format(run, phi_json_get(node, "format"));
}

/* The run's own tools, as far as the agent has them now: they are in no save file. */
static phi_status phi__run_load_offered(phi__run *run, const phi_json *root) {
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

/* A message of the run, of that role, in the thread's segment. */
static phi_status phi__run_load_keep(phi__run *run, const phi_json *node, phi_role role,
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

static phi_status phi__run_load_prompts(phi__run *run, const phi_json *list) {
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
        phi_status status = phi__run_load_keep(run, child, PHI_ROLE_USER, &message);
        if (status != PHI_OK) return status;
        entries[i] = phi__events_entry(run, PHI_ENTRY_MESSAGE);
        entries[i].at_ms = message->timestamp_ms;
        entries[i++].message = message;
    }
    run->said.prompts = entries;
    run->said.prompt_count = n;
    return PHI_OK;
}

static phi_status phi__run_load_repeats(phi__run *run, const phi_json *node) {
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

static phi_status phi__run_load_failure(phi__run *run, const phi_json *node) {
    phi_arena *arena = phi__thread_room(run->agent->thread);
    phi_failure *failure;
    uint32_t kind = phi__records_get_u32(node, "kind");
    if (!phi_json_is(node, PHI_JSON_OBJECT)) return PHI_OK;
    if (kind == 0 || kind > (uint32_t)PHI_FAILURE_NO_MEMORY) return PHI_PARSE;
    failure = (phi_failure *)phi__arena_zero(arena, sizeof *failure);
    if (failure == NULL) return PHI_NO_MEMORY;
    run->failure = failure;
    if (!phi__run_save_fields_get(node, PHI__RUN_SAVE_FAILURE, failure, arena))
        return PHI_NO_MEMORY;
    if (failure->http_status < 0 || failure->http_status > 999) failure->http_status = 999;
    return PHI_OK;
}

static phi_status phi__run_load_reply(phi__run *run, const phi_json *node) {
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

/* ---- tool calls ---- */

/* The block of its tool, where that keeps it. */
static phi_status phi__run_load_call_state(phi__toolcall *call, phi_str text) {
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

static phi_status phi__run_load_call(phi__toolcall *call, const phi_json *node) {
    phi_arena *arena = phi__thread_room(call->run->agent->thread);
    phi_status status = PHI_OK;
    if (!phi_str_equal(call->block->id, phi__records_get_str(node, "id"))) return PHI_PARSE;
    if (!phi__run_save_fields_get(node, PHI__RUN_SAVE_CALL, call, arena)) return PHI_NO_MEMORY;
    if (phi_json_get(node, "result") != NULL)
        status = phi__run_load_keep(call->run, phi_json_get(node, "result"), PHI_ROLE_TOOL_RESULT,
                                    &call->result);
    if (status != PHI_OK || call->result != NULL || !call->begun) return status;
    status = phi__run_load_call_state(call, phi__records_get_str(node, "state"));
    if (status != PHI_OK) return status;
    if (!phi__call_open(call)) return PHI_NO_MEMORY;
    call->run->tools.running++;
    call->resumes = call->started;
    return PHI_OK;
}

/* The state of a call between two steps. */
static bool phi__run_load_call_fits(const phi__toolcall *call) {
    if (!call->begun)
        return !call->decided && !call->quiet && !call->emitted && !call->started && !call->ended &&
               !call->after && !call->skipped && !call->again && call->result == NULL;
    if (call->result != NULL) return call->emitted || !call->started;
    return !call->quiet && !call->ended && !call->after && !call->skipped &&
           call->emitted == call->started && (call->started || !call->again);
}

/* The results that the log has behind the answer are those of its first calls, in their order, and
   no more than the run says. */
static bool phi__run_load_results_fit(const phi__run *run, uint64_t reply) {
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
    if (list == NULL) { /* of a turn that is over */
        run->tools.count = count;
        return PHI_OK;
    }
    if (run->reply == NULL) return PHI_PARSE;
    if (!phi__tools_lay_calls(run)) return PHI_NO_MEMORY;
    if (run->tools.calls == NULL || run->tools.count != phi_json_count(list)) return PHI_PARSE;
    (void)phi__run_save_fields_get(node, PHI__RUN_SAVE_CALLS, run, NULL);
    if (run->tools.next > run->tools.count || run->tools.emitted > run->tools.next ||
        !phi__run_load_results_fit(run, phi__records_get_u64(node, "reply")))
        return PHI_PARSE;
    for (size_t i = 0; i < run->tools.count && status == PHI_OK; i++) {
        const phi_json *each = phi_json_next(&it);
        phi__toolcall *call = &run->tools.calls[i];
        if (i < run->tools.emitted) continue;
        status = phi__run_load_call(call, each);
        if (status == PHI_OK &&
            (call->begun != (i < run->tools.next) || !phi__run_load_call_fits(call)))
            status = PHI_PARSE;
    }
    return status;
}

/* ---- the run ---- */

static phi_status phi__run_load_features(phi__run *run, const phi_json *node) {
    phi__moment moment = PHI_ZERO;
    moment.point = PHI__POINT_RUN_LOAD;
    moment.agent = run->agent;
    moment.run = run;
    moment.json = node;
    (void)phi__feature_take(&moment);
    return moment.status;
}

static phi_status phi__run_load_members(phi__run *run, const phi_json *node) {
    phi__agent *agent = run->agent;
    (void)phi__run_save_fields_get(node, PHI__RUN_SAVE_RUN, run, NULL);
    run->status = (phi_status)phi_json_int(phi_json_get(node, "status"), 0);
    run->spent.usage = phi__message_read_get_usage(phi_json_get(node, "usage"));
    run->spent.turn = phi__message_read_get_usage(phi_json_path(node, "turn.usage"));
    run->spent.cost = phi__records_get_double(node, "cost");
    if (run->said.first_message > run->said.emitted_messages ||
        run->said.emitted_messages > agent->thread->messages.count ||
        (unsigned)run->start.trigger < (unsigned)PHI_TRIGGER_USER ||
        (unsigned)run->start.trigger > (unsigned)PHI_TRIGGER_BRANCH || run->status > PHI_OK)
        return PHI_PARSE;
    (void)phi__run_save_fields_get(node, PHI__RUN_SAVE_FLAGS, run, NULL);
    uint64_t elapsed = phi__records_get_u64(node, "elapsed_us");
    (void)phi__run_save_fields_get(node, PHI__RUN_SAVE_LIMITS, &run->limits, NULL);
    /* The host's clock may have begun at 0 again: the value wraps, and differences are right. */
    run->started_us = phi__io_counted_us(run->agent->rt->io) - elapsed;
    phi_status status = phi__run_load_policy(run, phi_json_get(node, "policy"));
    if (status == PHI_OK) status = phi__run_load_extra(run, phi_json_get(node, "extra"));
    if (status == PHI_OK) status = phi__run_load_own(run, node);
    if (status == PHI_OK) status = phi__run_load_offered(run, node);
    if (status == PHI_OK)
        status = phi__run_load_inputs(agent, phi_json_get(node, "pending"), &run->poll.pending);
    if (status == PHI_OK) status = phi__run_load_prompts(run, phi_json_get(node, "prompts"));
    if (status == PHI_OK) status = phi__run_load_repeats(run, node);
    if (status == PHI_OK) status = phi__run_load_features(run, node);
    if (status == PHI_OK) status = phi__run_load_failure(run, phi_json_get(node, "failure"));
    if (status == PHI_OK) status = phi__run_load_reply(run, node);
    return status == PHI_OK ? phi__run_load_calls(run, node) : status;
}

/* Whether everything that a state needs is there. */
static bool phi__run_load_fits(const phi__run *run) {
    if (run->tools.calls != NULL && run->state != PHI__RUN_TOOLS &&
        run->tools.emitted < run->tools.count)
        return false; /* nothing would finish them */
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

PHI__FN phi_status phi__run_load(phi__agent *agent, const phi_json *node, bool interrupt) {
    const phi__entry *start =
        phi__run_load_start(agent->thread, phi__records_get_str(node, "loop_id"));
    size_t state = phi__run_load_state(node);
    phi_status status = PHI_PARSE;
    if (start == NULL || start->of.loop == NULL || state == 0) return PHI_PARSE;
    phi__run *run = phi__run_make_for(agent, start);
    if (run == NULL) return PHI_NO_MEMORY;
    run->state = phi__run_load_state_of(state);
    status = phi__run_load_members(run, node);
    if (status == PHI_OK && !phi__run_load_fits(run)) status = PHI_PARSE;
    if (status != PHI_OK) {
        phi__tools_drop(run);
        phi__run_unmake(run);
        return status;
    }
    phi__run_take(run);
    if (interrupt) phi__schedule_cancel(run);
    return PHI_OK;
}
