/* freeze.c - a run, its tool calls and queues written as JSON.

   What can be made again is not written: a request, a stream under way, a question to a hook. The states between a
   turn's beginning and its answer are all written as the first of them. */
#include "loop/freeze_in.h"

#include "model/message_in.h"
#include "persist/entry_in.h"

#ifndef PHI_NO_SNAPSHOT

static const char *const phi__freeze_states[] = {
    "",    "before_loop", "open",   "filter",   "poll",  "top",  "before", "turn",
    "ask", "tools",       "failed", "turn_end", "after", "next", "follow", "close"};

PHI__FN const char *phi__freeze_state_name(size_t i) {
    return i < PHI__COUNT(phi__freeze_states) ? phi__freeze_states[i] : NULL;
}

/* The place in the list of a state's name; 0: the run is over. A compaction that was not done is
   planned anew: of a turn that has begun, or for the host. */
static size_t phi__freeze_state(const phi__run *run) {
    switch (run->state) {
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
    case PHI__RUN_COMPACT: return run->compact_only ? 2 : phi__compaction_overflowed(run) ? 8 : 7;
    case PHI__RUN_COMPACTED: return run->compact_only ? 15 : 8;
    case PHI__RUN_TOOLS: return 9;
    case PHI__RUN_FAILED: return 10;
    case PHI__RUN_TURN_END: return 11;
    case PHI__RUN_AFTER_TURN: return 12;
    case PHI__RUN_NEXT: return 13;
    case PHI__RUN_FOLLOW: return 14;
    case PHI__RUN_CLOSE: return 15;
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

static void phi__freeze_u64(phi__buf *out, const char *key, uint64_t n) {
    phi__json_put_key(out, phi_str_of(key));
    phi__json_put_u64(out, n);
}

static void phi__freeze_str(phi__buf *out, const char *key, phi_str s) {
    phi__json_put_key(out, phi_str_of(key));
    phi__json_put_str(out, s);
}

static void phi__freeze_double(phi__buf *out, const char *key, double d) {
    phi__json_put_key(out, phi_str_of(key));
    phi__json_put_double(out, d);
}

/* Only where it is set. */
static void phi__freeze_flag(phi__buf *out, const char *key, bool set) {
    if (!set) return;
    phi__json_put_key(out, phi_str_of(key));
    phi__json_put_bool(out, true);
}

/* As an entry of the log has it. */
static void phi__freeze_message(phi__buf *out, const phi_message *message, phi_arena *scratch) {
    phi__json_put_comma(out);
    phi__buf_char(out, '{');
    phi__entry_put_message(out, message, scratch);
    phi__buf_char(out, '}');
}

PHI__FN void phi__freeze_inputs(phi__buf *out, const phi__inputs *inputs, phi_arena *scratch) {
    const phi__input *input;
    phi__buf_char(out, '[');
    for (input = inputs->head; input != NULL; input = input->next) {
        phi__json_put_comma(out);
        phi__buf_char(out, '{');
        phi__freeze_u64(out, "kind", (uint64_t)input->kind);
        phi__freeze_str(out, "source", input->source);
        phi__freeze_flag(out, "filtered", input->filtered);
        phi__json_put_key(out, PHI__LIT("input"));
        phi__freeze_message(out, &input->message, scratch);
        phi__buf_char(out, '}');
    }
    phi__buf_char(out, ']');
}

/* ---- tool calls ---- */

/* One whose result is in the log is its id alone. */
static void phi__freeze_call(phi__buf *out, const phi__toolcall *call, bool logged,
                             phi_arena *scratch) {
    phi__json_put_comma(out);
    phi__buf_char(out, '{');
    phi__freeze_str(out, "id", call->block->id);
    if (logged) {
        phi__buf_char(out, '}');
        return;
    }
    phi__freeze_str(out, "name", call->block->name);
    phi__freeze_str(out, "arguments", call->arguments);
    phi__freeze_u64(out, "repeats", call->repeats);
    phi__freeze_flag(out, "begun", call->begun);
    phi__freeze_flag(out, "asked", call->asked);
    phi__freeze_flag(out, "quiet", call->quiet);
    phi__freeze_flag(out, "told", call->told);
    phi__freeze_flag(out, "started", call->started);
    if (call->tries > 0) phi__freeze_u64(out, "tries", call->tries);
    phi__freeze_flag(out, "again", call->again);
    phi__freeze_flag(out, "ended", call->ended);
    phi__freeze_flag(out, "after", call->after);
    phi__freeze_flag(out, "skipped", call->skipped);
    if (call->child_loop_id.len > 0) phi__freeze_str(out, "child_loop_id", call->child_loop_id);
    if (call->result != NULL) {
        phi__json_put_key(out, PHI__LIT("result"));
        phi__freeze_message(out, call->result, scratch);
    }
    phi__buf_char(out, '}');
}

static void phi__freeze_calls(phi__buf *out, const phi__run *run, phi_arena *scratch) {
    size_t i;
    phi__freeze_u64(out, "call_count", run->tools.count);
    if (run->tools.calls == NULL) return;
    phi__freeze_u64(out, "next_call", run->tools.next);
    phi__freeze_u64(out, "told_calls", run->tools.told);
    phi__freeze_u64(out, "polled_calls", run->tools.polled);
    phi__json_put_key(out, PHI__LIT("calls"));
    phi__buf_char(out, '[');
    for (i = 0; i < run->tools.count; i++)
        phi__freeze_call(out, &run->tools.calls[i], i < run->tools.told, scratch);
    phi__buf_char(out, ']');
}

/* ---- the run ---- */

static void phi__freeze_prompts(phi__buf *out, const phi__run *run, phi_arena *scratch) {
    size_t i;
    if (run->said.prompts == NULL) return;
    phi__json_put_key(out, PHI__LIT("prompts"));
    phi__buf_char(out, '[');
    for (i = 0; i < run->said.prompt_count; i++)
        phi__freeze_message(out, run->said.prompts[i].message, scratch);
    phi__buf_char(out, ']');
}

static void phi__freeze_doom(phi__buf *out, const phi__run *run) {
    uint32_t i;
    if (run->tools.doom == NULL) return;
    phi__freeze_u64(out, "doom_count", run->tools.doom->count);
    phi__json_put_key(out, PHI__LIT("doom"));
    phi__buf_char(out, '[');
    for (i = 0; i < PHI__DOOM_WINDOW; i++) {
        phi__json_put_comma(out);
        phi__json_put_u64(out, run->tools.doom->seen[i]);
    }
    phi__buf_char(out, ']');
}

static void phi__freeze_limits(phi__buf *out, const phi__run *run) {
    phi__freeze_u64(out, "max_turns", run->limits.max_turns);
    phi__freeze_u64(out, "max_tokens", run->limits.max_tokens);
    phi__freeze_u64(out, "max_duration_ms", run->limits.max_duration_ms);
    phi__freeze_double(out, "max_cost", run->limits.max_cost);
    phi__freeze_u64(out, "elapsed_us", phi__io_now_us(run->agent->rt->io) - run->started_us);
}

/* The request's own; where it has none, the agent's holds after loading. */
static void phi__freeze_offered(phi__buf *out, const phi__run *run) {
    const phi__agent *agent = run->agent;
    size_t i;
    if (run->waits_ms != agent->desc.decision_timeout_ms)
        phi__freeze_u64(out, "decision_timeout_ms", run->waits_ms);
    if (run->toolset == NULL) return;
    phi__json_put_key(out, PHI__LIT("tools"));
    phi__buf_char(out, '[');
    for (i = 0; i < run->toolset->count; i++) {
        phi__json_put_comma(out);
        phi__json_put_str(out, phi_str_of(run->toolset->tools[i].name));
    }
    phi__buf_char(out, ']');
}

static void phi__freeze_policy(phi__buf *out, const phi_policy *policy) {
    if (policy == NULL) return;
    phi__json_put_key(out, PHI__LIT("policy"));
    phi__buf_char(out, '{');
    phi__freeze_u64(out, "max_input_tokens", policy->max_input_tokens);
    phi__freeze_u64(out, "reserve_output_tokens", policy->reserve_output_tokens);
    phi__freeze_flag(out, "no_reserve", policy->no_reserve);
    phi__freeze_u64(out, "max_messages", policy->max_messages);
    phi__freeze_u64(out, "max_turns", policy->max_turns);
    phi__freeze_u64(out, "keep_last_turns", policy->keep_last_turns);
    phi__freeze_flag(out, "keep_no_turns", policy->keep_no_turns);
    phi__freeze_u64(out, "summaries", (uint64_t)policy->summaries);
    phi__freeze_u64(out, "summary_role", (uint64_t)policy->summary_role);
    phi__freeze_u64(out, "include", policy->include);
    phi__buf_char(out, '}');
}

static void phi__freeze_flags(phi__buf *out, const phi__run *run) {
    phi__freeze_flag(out, "cancelled", run->end.cancelled);
    phi__freeze_flag(out, "stopping", run->end.stopping);
    phi__freeze_flag(out, "opened", run->turn.opened);
    phi__freeze_flag(out, "silent", run->turn.silent);
    phi__freeze_flag(out, "compact_only", run->compact_only);
    phi__freeze_flag(out, "turn_open", run->turn.open);
    phi__freeze_flag(out, "steered", run->turn.steered);
    phi__freeze_flag(out, "skipping", run->tools.skipping);
    phi__freeze_flag(out, "answered", run->tools.answered);
    phi__freeze_flag(out, "doomed", run->tools.doomed);
}

static void phi__freeze_failure(phi__buf *out, const phi__run *run) {
    const phi_failure *failure = run->failure;
    if (failure == NULL) return;
    phi__json_put_key(out, PHI__LIT("failure"));
    phi__buf_char(out, '{');
    phi__freeze_u64(out, "kind", (uint64_t)failure->kind);
    phi__freeze_u64(out, "http_status",
                    (uint64_t)(failure->http_status > 0 ? failure->http_status : 0));
    phi__freeze_flag(out, "retryable", failure->retryable);
    phi__freeze_str(out, "code", failure->code);
    phi__freeze_str(out, "words", failure->message);
    phi__freeze_str(out, "request_id", failure->request_id);
    phi__buf_char(out, '}');
}

/* The answer's entry: the last assistant message of the log. */
static void phi__freeze_reply(phi__buf *out, const phi__run *run) {
    const phi__entry *entry = phi__run_reply_entry(run);
    if (entry != NULL) phi__freeze_u64(out, "reply", entry->seq);
}

static void phi__freeze_members(phi__buf *out, const phi__run *run, phi_arena *scratch) {
    phi__freeze_str(out, "loop_id", run->loop_id);
    phi__freeze_u64(out, "trigger", (uint64_t)run->turn.trigger);
    phi__freeze_u64(out, "turn_index", run->turn.index);
    phi__freeze_u64(out, "first_message", run->said.first_message);
    phi__freeze_u64(out, "told_messages", run->said.told_messages);
    phi__json_put_key(out, PHI__LIT("status"));
    phi__json_put_i64(out, (int64_t)run->status);
    phi__freeze_flags(out, run);
    phi__freeze_limits(out, run);
    phi__freeze_policy(out, run->policy);
    phi__freeze_offered(out, run);
    phi__message_put_usage(out, &run->spent.usage);
    phi__freeze_double(out, "cost", run->spent.cost);
    phi__json_put_key(out, PHI__LIT("turn"));
    phi__buf_char(out, '{');
    phi__message_put_usage(out, &run->spent.turn);
    phi__buf_char(out, '}');
    phi__json_put_key(out, PHI__LIT("pending"));
    phi__freeze_inputs(out, &run->poll.pending, scratch);
    phi__freeze_prompts(out, run, scratch);
    phi__freeze_doom(out, run);
    phi__wishes_freeze(out, run);
    phi__freeze_failure(out, run);
    phi__freeze_reply(out, run);
    phi__freeze_calls(out, run, scratch);
}

PHI__FN void phi__run_freeze(phi__buf *out, const phi__agent *agent, phi_arena *scratch) {
    const phi__run *run = agent->run;
    size_t state = run != NULL && !run->end.over ? phi__freeze_state(run) : 0;
    if (state == 0) {
        phi__buf_text(out, "null");
        return;
    }
    phi__buf_char(out, '{');
    phi__freeze_str(out, "state", phi_str_of(phi__freeze_states[state]));
    phi__freeze_members(out, run, scratch);
    phi__buf_char(out, '}');
}

#endif
