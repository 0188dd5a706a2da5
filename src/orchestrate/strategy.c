/* strategy.c - runs a strategy as the provider of an agent.

   Each model call of the agent becomes a job. The job makes model calls, gives their answers to the
   strategy's machine and carries out the machine's commands.

   A job lasts from the provider's open to its close. It owns the machine, the machine's arena, and
   one hidden child agent for each model call. Answers reach the machine in the order of the calls,
   not in the order of arrival, so a run does not depend on network timing. */
#include "orchestrate/machine_in.h"

#include "log/log_in.h"
#include "model/event_parts.h"
#include "persist/persist_in.h"
#include "text/text_in.h"
#include "agent/agent_in.h"
#include "features/features_in.h"

#include <stdio.h>

#define PHI__STRATEGY_CALLS PHI_STRATEGY_COMMANDS /* max. model calls at a time */

/* A pending model call. */
typedef struct phi__strategy_call {
    uint32_t id, max_rounds;
    uint32_t most_turns, turns; /* limit and number of the turns of the call's run */
    phi_agent child;            /* rt is NULL if no agent could be made */
    bool over;
    bool silent;   /* the last answer has no text yet; `text` is from an earlier answer */
    phi__buf text; /* the last answer that has text, as far as received */
    phi_stop_reason stop_reason;
    phi_usage usage;
    phi_status status;
    phi_failure_kind kind;
    phi_str failure; /* message, in the job's arena or static */
    uint64_t began_us;
    /* The timeout, and the time that the call took before its snapshot was restored. */
    uint32_t timeout_ms, elapsed_ms;
    bool expired; /* the timeout has passed; the call was aborted */
} phi__strategy_call;

typedef struct phi__strategy_job {
    phi__attached attached;
    phi__agent *agent;
    const phi_strategy_desc *desc;
    const phi_model_request *request; /* valid until the provider's close */
    void *state;                      /* the strategy's machine */
    phi_arena arena, scratch;
    phi__strategy_call calls[PHI__STRATEGY_CALLS]; /* oldest first */
    size_t call_count;
    uint64_t made, most;   /* number and limit of model calls */
    uint64_t elapsed_ms;   /* time spent before a restore */
    uint64_t started_us;   /* time at which this process started the job */
    const phi_json *saved; /* calls in the snapshot, while it is loaded */
    /* settle: the machine must end now. stopped: the machine may make no more calls. */
    bool settle, stopped;
    bool over, no_memory; /* over: the job has ended */
    phi_status status;
    /* kind and status of the last failed call */
    phi_failure_kind kind;
    phi_status kind_status;
    bool filtered; /* a content filter ended the last answer */
    phi_stop_reason reason;
    phi_str text; /* the answer or the error message; NUL-terminated */
} phi__strategy_job;

/* ---- model calls: hidden agents, whose logs are copied onto a lane of the strategy ---- */

static phi__strategy_call *phi__scall_of(const phi__agent *child) {
    phi__strategy_job *job = (phi__strategy_job *)child->tree.watched;
    for (size_t i = 0; i < job->call_count; i++)
        if (job->calls[i].child.rt != NULL && job->calls[i].child.index == child->handle.index &&
            job->calls[i].child.gen == child->handle.gen)
            return &job->calls[i];
    return NULL;
}

/* Emits a child's decision about a tool as an event of the agent, so that the host can decide.
   Copies strings that must outlive the child. False: no memory. */
static bool phi__scall_show(const phi__agent *child, const phi_event *event) {
    phi__agent *agent = child->tree.parent;
    phi_arena *room = phi__thread_room(agent->thread);
    phi_event shown = *event;
    if (event->kind != PHI_EV_DECISION) return true;
    shown.loop_id = phi__str(NULL, 0);
    if (!phi__arena_str(room, event->tool_call_id, &shown.tool_call_id) ||
        !phi__arena_str(room, event->tool_name, &shown.tool_name))
        return false;
    if (event->point == PHI_HOOK_QUESTION) return phi__events_emit_asked(agent, &shown);
    return phi__arena_str(room, event->arguments, &shown.arguments) &&
           phi__events_emit(agent, &shown);
}

static bool phi__scall_event(phi__agent *child, const phi_event *event) {
    phi__strategy_call *call = phi__scall_of(child);
    phi__strategy_job *job = (phi__strategy_job *)child->tree.watched;
    if (call == NULL) return false;
    switch (event->kind) {
    case PHI_EV_TURN_START:
        call->turns++;
        job->made++;
        call->silent = true;
        break;
    case PHI_EV_RETRACT: phi__buf_clear(&call->text); break;
    case PHI_EV_TEXT:
        if (call->silent) phi__buf_clear(&call->text);
        call->silent = false;
        phi__buf_add_str(&call->text, event->text);
        break;
    case PHI_EV_MESSAGE_END:
        if (event->message != NULL && event->message->role == PHI_ROLE_ASSISTANT)
            call->stop_reason = event->message->stop_reason;
        break;
    default:
        if (!phi__scall_show(child, event)) job->no_memory = true;
        break;
    }
    return false;
}

static void phi__scall_over(phi__agent *child, phi_status status, const phi_failure *failure,
                            bool stopping) {
    phi__strategy_call *call = phi__scall_of(child);
    phi__strategy_job *job = (phi__strategy_job *)child->tree.watched;
    phi_str words = phi_str_of(phi_status_text(status));
    char late[80];
    (void)stopping;
    if (call == NULL) return;
    call->over = true;
    call->status = status;
    call->usage = child->spent.run_usage;
    if (failure != NULL) call->kind = failure->kind;
    if (failure != NULL && failure->message.len > 0) words = failure->message;
    if (call->expired && status == PHI_CANCELLED) {
        call->status = PHI_TIMEOUT;
        call->kind = PHI_FAILURE_TIMEOUT;
        (void)snprintf(late, sizeof late, "a model call of the strategy took longer than %lu ms",
                       (unsigned long)call->timeout_ms);
        words = phi_str_of(late);
    }
    if (!phi__arena_str(&job->arena, words, &call->failure)) job->no_memory = true;
    if (job->agent->run != NULL) phi__schedule_wake(job->agent->run);
}

/* The host freed the child, so no answer will come. */
static void phi__scall_gone(phi__agent *child) {
    phi__strategy_call *call = phi__scall_of(child);
    if (call == NULL || call->over) return;
    call->over = true;
    call->status = PHI_CANCELLED;
    call->failure = phi_str_of(phi_status_text(PHI_CANCELLED));
}

/* ---- the agent of a model call ---- */

static const phi__child_watch phi__scall_watch = {true, false,           phi__scall_event,
                                                  NULL, phi__scall_over, phi__scall_gone};

static phi_agent_desc phi__scall_desc(const phi__strategy_job *job, const phi__strategy_call *slot,
                                      const phi_strategy_call *call) {
    const phi__agent *agent = job->agent;
    phi_agent_desc d = PHI_ZERO;
    d.model = agent->desc.model;
    d.provider = job->desc->provider;
    d.thinking = agent->desc.thinking;
    d.max_tokens = call->max_tokens != 0 ? call->max_tokens : agent->desc.max_tokens;
    /* Only a call without its own system prompt has the run's answer format. */
    if (call->in_conversation && call->system_prompt.len == 0)
        d.format = *phi__run_format_of(agent->run);
    d.options = agent->desc.options;
    d.options.temperature =
        call->has_temperature ? call->temperature : phi__run_temperature(agent->run);
    d.options.has_temperature = d.options.temperature >= 0.0;
    d.options.disable_facts = d.options.capture_requests = false;
    d.cache = agent->desc.cache;
    d.compaction.disable = true;
    d.limits.max_turns = slot->most_turns;
    d.limits.max_tokens = UINT64_MAX;
    d.limits.max_duration_ms = slot->timeout_ms;
    d.deadlines = agent->desc.deadlines;
    if (slot->timeout_ms < d.deadlines.total_ms) d.deadlines.total_ms = slot->timeout_ms;
    d.retry = agent->desc.retry;
    d.parent = agent->handle;
    d.hook_points = agent->desc.hook_points & (uint32_t)PHI_HOOK_CREDENTIAL;
    if (call->tools) {
        static const uint32_t points =
            (uint32_t)PHI_HOOK_BEFORE_TOOL | (uint32_t)PHI_HOOK_AFTER_TOOL |
            (uint32_t)PHI_HOOK_BEFORE_TOOL_UPDATE | (uint32_t)PHI_HOOK_AFTER_TOOL_UPDATE |
            (uint32_t)PHI_HOOK_QUESTION;
        d.tools = agent->tools->tools; /* the run's tools, which may differ from the agent's */
        d.tool_count = agent->tools->count;
        d.tool_options.raw_tools = agent->desc.tool_options.raw_tools;
        d.tool_options.raw_tool_count = agent->desc.tool_options.raw_tool_count;
        d.tool_options.defer_percent = agent->desc.tool_options.defer_percent;
        d.tool_options.mode = agent->desc.tool_options.mode;
        d.tool_options.batch = agent->desc.tool_options.batch;
        d.tool_options.timeout_ms = agent->desc.tool_options.timeout_ms;
        d.hook_points |= agent->desc.hook_points & points;
        d.tool_options.repeat_warn_after = agent->desc.tool_options.repeat_warn_after;
        d.tool_options.repeat_stop_after = agent->desc.tool_options.repeat_stop_after;
    }
    if (d.hook_points != 0) d.hook_fn = agent->desc.hook_fn;
    d.deadlines.decision_ms = agent->run->own.waits_ms;
    d.memory.limit_bytes = agent->desc.memory.limit_bytes;
    d.memory.at_limit = PHI_AT_MEMORY_LIMIT_STOP;
    d.memory.max_event_bytes = agent->desc.memory.max_event_bytes;
    d.memory.max_response_bytes = agent->desc.memory.max_response_bytes;
    d.translate_fn = agent->desc.translate_fn;
    d.token_counter = agent->desc.token_counter;
    d.user_data = agent->desc.user_data;
    d.hook_user_data = agent->desc.hook_user_data;
    return d;
}

/* Returns the index where the prompt before `to` begins. A prompt is a group of adjacent user
   messages that belong to one run or to none. */
static size_t phi__scall_from(const phi_model_request *request, size_t to) {
    phi_str run = {NULL, 0}; /* the one run whose messages count */
    for (; to > 0 && request->messages[to - 1]->role == PHI_ROLE_USER; to--) {
        phi_str loop_id = request->messages[to - 1]->loop_id;
        if (loop_id.len > 0 && run.len > 0 && !phi_str_equal(loop_id, run)) break;
        if (loop_id.len > 0) run = loop_id;
    }
    return to;
}

/* Starts the child's run. The prompt is the machine's text if there is one. Otherwise it is the
   user's prompt with its images, after the earlier history. If the conversation ends in tool
   results, there is no prompt. */
static phi_status phi__scall_run(const phi__strategy_job *job, const phi_strategy_call *call,
                                 phi__agent *child) {
    const phi_model_request *request = job->request;
    size_t before = phi__scall_from(request, request->message_count);
    size_t count = request->message_count - before;
    bool own = call->in_conversation && call->prompt.at == NULL;
    phi_status status = PHI_OK;
    phi_arena scratch;
    phi__run_order order = PHI_ZERO;
    for (size_t i = 0; call->in_conversation && i < before && status == PHI_OK; i++)
        status = phi_thread_append(child->thread, request->messages[i], 1, NULL);
    if (status != PHI_OK) return status;
    phi_arena_init(&scratch, &child->memory, 0);
    order.goes_on = true;
    if (own) {
        phi_message *prompts =
            (phi_message *)phi_arena_alloc(&scratch, phi__mul(count, sizeof *prompts));
        for (size_t i = 0; prompts != NULL && i < count; i++)
            prompts[i] = *request->messages[before + i];
        order.prompts = prompts;
        order.prompt_count = count;
        if (count == 0) order.continuation = PHI_CONTINUATION_DEFAULT;
    } else {
        order.prompts = phi__compact_say(call->prompt, &scratch);
        order.prompt_count = 1;
    }
    status = order.prompts != NULL ? phi__run_new(child, &order) : PHI_NO_MEMORY;
    phi_arena_free(&scratch);
    return status;
}

/* Makes the agent of a call: from a snapshot that includes its run, or a new agent with a new
   run. */
static phi_status phi__scall_start(phi__strategy_job *job, phi__strategy_call *slot,
                                   const phi_strategy_call *call, const phi_json *saved) {
    phi_runtime *rt = job->agent->rt;
    phi_agent_desc d = phi__scall_desc(job, slot, call);
    const phi_json *root = phi_json_get(saved, "agent");
    phi__agent *child = NULL;
    phi__buf system;
    if (rt->closing) return PHI_CANCELLED;
    /* Joins the agent's system prompt and the strategy's. */
    phi_str own = job->request->system_prompt;
    phi__buf_init(&system, &job->agent->memory);
    phi__buf_add_str(&system, own);
    if (own.len > 0 && call->system_prompt.len > 0) phi__buf_text(&system, "\n\n");
    phi__buf_add_str(&system, call->system_prompt);
    phi__buf_char(&system, '\0');
    bool room = !system.failed;
    d.system_prompt = system.at;
    if (room)
        child = root != NULL ? phi__snap_make(rt, &d, root, PHI_RESTORE_RESUME)
                             : phi__agent_make(rt, &d, NULL);
    phi__buf_free(&system);
    if (child == NULL) return room ? phi__error_last(rt, NULL) : PHI_NO_MEMORY;
    child->tree.watch = &phi__scall_watch;
    child->tree.watched = job;
    child->tree.of_run = child->tree.no_last_tools = true;
    slot->child = child->handle;
    if (saved != NULL) return child->run != NULL || slot->over ? PHI_OK : PHI_PARSE;
    return phi__scall_run(job, call, child);
}

/* True if the agent, or one of its ancestors, makes model calls for this strategy. */
static bool phi__scall_inside(const phi__agent *agent, const phi_strategy_desc *desc) {
    for (; agent != NULL; agent = agent->tree.parent)
        if (agent->tree.watch == &phi__scall_watch &&
            ((const phi__strategy_job *)agent->tree.watched)->desc == desc)
            return true;
    return false;
}

/* Returns the number of model calls left after the reservations of pending calls. */
static uint32_t phi__scall_left(const phi__strategy_job *job) {
    uint64_t taken = job->made;
    for (size_t i = 0; i < job->call_count; i++)
        if (!job->calls[i].over) taken += job->calls[i].most_turns - job->calls[i].turns;
    /* For a restored call, `made` includes the turns before the snapshot. */
    if (taken >= job->most) return 0;
    return job->most - taken < PHI_UNLIMITED ? (uint32_t)(job->most - taken) : PHI_UNLIMITED - 1;
}

/* ---- saving and loading model calls ---- */

static uint64_t phi__scall_elapsed(const phi__strategy_job *job, const phi__strategy_call *call) {
    return call->elapsed_ms + (phi__io_counted_us(job->agent->rt->io) - call->began_us) / 1000;
}

static const phi__field phi__scall_fields[] = {
    PHI__KEYED(phi__strategy_call, id, UINT, ALWAYS),
    PHI__KEYED(phi__strategy_call, turns, UINT, ALWAYS),
    PHI__KEYED(phi__strategy_call, over, BOOL, SET),
    PHI__KEYED(phi__strategy_call, silent, BOOL, SET),
    PHI__KEYED(phi__strategy_call, stop_reason, UINT, SET),
    PHI__KEYED(phi__strategy_call, kind, UINT, SET),
    PHI__KEYED(phi__strategy_call, elapsed_ms, UINT, SET),
    PHI__KEYED(phi__strategy_call, expired, BOOL, SET),
    PHI__KEYED(phi__strategy_call, failure, STR, SET)};

static bool phi__scall_keeps(const phi__strategy_call *call) {
    return call->max_rounds > 0 && call->turns > 0 && phi__find_agent(call->child) != NULL;
}

/* Counts the turns of calls that a snapshot drops and a restore repeats. */
static uint64_t phi__scall_again(const phi__strategy_job *job) {
    uint64_t again = 0;
    for (size_t i = 0; i < job->call_count; i++)
        if (!phi__scall_keeps(&job->calls[i])) again += job->calls[i].turns;
    return again;
}

/* Returns the saved call with this id. NULL if there is none. */
static const phi_json *phi__scall_saved(const phi__strategy_job *job, uint32_t id) {
    phi_json_iter it = phi_json_each(job->saved);
    const phi_json *item;
    while ((item = phi_json_next(&it)) != NULL)
        if (phi__records_get_u32(item, "id") == id) return item;
    return NULL;
}

/* Fills a call from a snapshot, if there is one. False: no memory. */
static bool phi__scall_load(phi__strategy_job *job, phi__strategy_call *slot,
                            const phi_json *saved) {
    if (saved == NULL) return true;
    if (!PHI__RECORDS_GET(saved, phi__scall_fields, slot, &job->arena)) return false;
    uint32_t status = phi__records_get_u32(saved, "status");
    slot->status = status < -(int64_t)PHI_STATUS_END ? (phi_status)(-(int64_t)status) : PHI_PARSE;
    if (slot->turns > slot->max_rounds + 1) slot->turns = slot->max_rounds + 1;
    slot->usage = phi__message_read_get_usage(phi_json_get(saved, "usage"));
    phi__buf_add_str(&slot->text, phi__records_get_str(saved, "text"));
    return !slot->text.failed;
}

/* Begins a model call. If it cannot start, its failure becomes its answer. False: no memory. */
static bool phi__scall_begin(phi__strategy_job *job, const phi_strategy_call *call) {
    const phi_json *saved = phi__scall_saved(job, call->id);
    uint32_t left = phi__scall_left(job), rounds = call->max_tool_rounds;
    if ((left == 0 && saved == NULL) || job->call_count == PHI__STRATEGY_CALLS) {
        job->settle = job->stopped = true; /* no call may be made: the machine must end */
        return true;
    }
    if (rounds == 0) rounds = 3;
    if (!call->tools) rounds = 0;
    phi__strategy_call *slot = &job->calls[job->call_count++];
    memset(slot, 0, sizeof *slot);
    phi__buf_init(&slot->text, &job->agent->memory);
    slot->max_rounds = rounds;
    if (!phi__scall_load(job, slot, saved)) return false;
    slot->id = call->id;
    slot->began_us = phi__io_counted_us(job->agent->rt->io);
    slot->timeout_ms = call->timeout_ms != 0 ? call->timeout_ms : job->desc->call_timeout_ms;
    if (slot->timeout_ms == 0) slot->timeout_ms = PHI_UNLIMITED;
    slot->most_turns = rounds + 1 - slot->turns <= left ? rounds + 1 : slot->turns + left;
    phi_status status = phi__scall_start(job, slot, call, saved);
    if (status == PHI_OK || status == PHI_NO_MEMORY) return status == PHI_OK;
    /* If making the agent failed, the failure has the message of phi_last_error. */
    const char *words = NULL;
    slot->over = true;
    slot->status = status;
    if (phi__error_last(job->agent->rt, &words) != status || words == NULL || words[0] == '\0')
        words = phi_status_text(status);
    return phi__arena_str(&job->arena, phi_str_of(words), &slot->failure);
}

/* Aborts calls that have exceeded their timeout. */
static void phi__scall_expire(phi__strategy_job *job) {
    for (size_t i = 0; i < job->call_count; i++) {
        phi__strategy_call *call = &job->calls[i];
        if (call->over || call->expired || call->timeout_ms == PHI_UNLIMITED ||
            phi__scall_elapsed(job, call) < call->timeout_ms)
            continue;
        call->expired = true;
        (void)phi_abort(call->child);
        if (job->agent->slot == NULL) return; /* a host callback freed the agent */
    }
}

/* Copies the child's run onto the lane "~tot/session.config.1". False: no memory. */
static bool phi__scall_graft(phi__strategy_job *job, phi__agent *child) {
    phi__buf name;
    uint32_t lane = 0;
    phi_status status = PHI_NO_MEMORY;
    phi__buf_init(&name, &job->agent->memory);
    phi__buf_printf(&name, "~%s/", job->desc->strategy->name);
    phi__buf_add_str(&name, job->agent->run->loop_id);
    if (!name.failed)
        status = phi__graft_lane(job->agent->thread, phi__buf_str(&name), UINT64_MAX, &lane);
    if (status == PHI_OK)
        status = phi__graft_run(job->agent->thread, lane, child->thread, child->line.last_loop_id);
    phi__buf_free(&name);
    return status != PHI_NO_MEMORY;
}

/* Fills the event of the oldest call, which has ended, and logs its run. False: no memory. */
static bool phi__scall_take(phi__strategy_job *job, phi_strategy_event *event) {
    phi__strategy_call *call = &job->calls[0];
    phi__agent *child = phi__find_agent(call->child);
    memset(event, 0, sizeof *event);
    if (call->text.failed) return false;
    if (child != NULL && !phi__scall_graft(job, child)) return false;
    event->kind = call->status == PHI_OK ? PHI_STRATEGY_ANSWER : PHI_STRATEGY_FAILED;
    event->call_id = call->id;
    if (!call->silent || call->status != PHI_OK) event->text = phi__buf_str(&call->text);
    event->usage = call->usage;
    event->tool_rounds = call->turns > 0 ? call->turns - 1 : 0;
    event->stop_reason = call->stop_reason;
    event->status = call->status;
    event->message = call->failure;
    if (call->status == PHI_OK) return true;
    if (call->status == PHI_LIMIT && call->turns > call->max_rounds && call->max_rounds > 0)
        event->tool_rounds = call->max_rounds + 1;
    job->kind = call->kind;
    job->kind_status = call->status;
    return true;
}

/* Removes the oldest call, after the machine has handled its event. */
static void phi__scall_drop(phi__strategy_job *job) {
    phi__strategy_call call = job->calls[0];
    job->call_count--;
    for (size_t i = 0; i < job->call_count; i++) job->calls[i] = job->calls[i + 1];
    phi__buf_free(&call.text);
    if (call.child.rt != NULL) phi_agent_free(call.child); /* may call the host */
}

static void phi__scall_drop_all(phi__strategy_job *job) {
    while (job->call_count > 0) phi__scall_drop(job);
}

/* ---- running a strategy ---- */

#define PHI__STRATEGY_NAME "strategy" /* name of the attached object */
#define PHI__STRATEGY_NOTE "phi.strategy"

/* Most answers that the machine receives in one step. */
enum { PHI__STRATEGY_EVENTS = 4 };

static uint64_t phi__strategy_elapsed(const phi__strategy_job *job) {
    uint64_t now_us = phi__io_counted_us(job->agent->rt->io);
    return job->elapsed_ms + (now_us - job->started_us) / 1000;
}

static phi_strategy_env phi__strategy_env(phi__strategy_job *job) {
    phi_strategy_env env = PHI_ZERO;
    env.options = job->desc->options;
    env.elapsed_ms = phi__strategy_elapsed(job);
    env.calls_left = job->stopped ? 0 : phi__scall_left(job);
    env.has_tools = job->request->tool_count > 0;
    env.arena = &job->arena;
    env.scratch = &job->scratch;
    env.prune_fn = job->desc->prune_fn;
    env.user_data = job->desc->user_data;
    return env;
}

/* Adds the note {"loop_id","strategy","result"} to the log. False: no memory. */
static bool phi__strategy_note(phi__strategy_job *job, phi_str result) {
    phi__buf json;
    if (result.len == 0) return true;
    phi__buf_init(&json, &job->agent->memory);
    phi__buf_char(&json, '{');
    phi__records_str(&json, "loop_id", job->agent->run->loop_id);
    phi__records_str(&json, "strategy", phi_str_of(job->desc->strategy->name));
    phi__records_raw(&json, "result", "");
    phi__buf_add_str(&json, result);
    phi__buf_char(&json, '}');
    phi_status status = json.failed ? PHI_NO_MEMORY
                                    : phi__note_add_of_run(job->agent->thread, PHI__STRATEGY_NOTE,
                                                           phi__buf_str(&json));
    phi__buf_free(&json);
    return status != PHI_NO_MEMORY; /* if the machine's result is not JSON, no note is added */
}

static void phi__strategy_end(phi__strategy_job *job, phi_status status, phi_str text,
                              phi_str result) {
    job->over = true;
    job->status = status;
    if (!phi__arena_str(&job->arena, text, &job->text) || !phi__strategy_note(job, result))
        job->no_memory = true;
}

static void phi__strategy_fault(phi__strategy_job *job, const char *words) {
    phi__strategy_end(job, PHI_REFUSED, phi_str_of(words), phi__str(NULL, 0));
}

/* Emits PHI_EV_STRATEGY. False: no memory. */
static bool phi__strategy_emit(phi__strategy_job *job, phi_str phase) {
    const phi_strategy *strategy = job->desc->strategy;
    phi_arena *room = phi__thread_room(job->agent->thread);
    phi_strategy_best best = PHI_ZERO;
    phi_event event = PHI_ZERO;
    phi_strategy_progress *progress =
        (phi_strategy_progress *)phi__arena_zero(room, sizeof *progress);
    if (progress == NULL || !phi__arena_str(room, phase, &progress->phase) ||
        !phi__arena_str(room, phi_str_of(strategy->name), &progress->name))
        return false;
    strategy->best(job->state, &best);
    progress->calls = job->made;
    progress->most_calls = job->most;
    progress->nodes = best.nodes;
    progress->has_score = best.has_score;
    progress->score = best.score;
    event.kind = PHI_EV_STRATEGY;
    event.strategy = progress;
    event.text = best.text;
    return phi__events_emit(job->agent, &event);
}

static void phi__strategy_do(phi__strategy_job *job, const phi_strategy_command *command) {
    switch (command->kind) {
    case PHI_STRATEGY_ASK:
        if (!phi__scall_begin(job, &command->call)) job->no_memory = true;
        return;
    case PHI_STRATEGY_EMIT:
        if (!phi__strategy_emit(job, command->phase)) job->no_memory = true;
        return;
    case PHI_STRATEGY_DONE:
        job->reason = command->stop_reason;
        phi__strategy_end(job, PHI_OK, command->text, command->result);
        return;
    case PHI_STRATEGY_FAIL:
        phi__strategy_end(job, command->status != PHI_OK ? command->status : PHI_REFUSED,
                          command->text, command->result);
        return;
    }
}

static void phi__strategy_do_all(phi__strategy_job *job, phi_status status,
                                 const phi_strategy_commands *commands) {
    if (status == PHI_NO_MEMORY)
        job->no_memory = true;
    else if (status != PHI_OK)
        phi__strategy_fault(job, phi_status_text(status));
    for (size_t i = 0; i < commands->count && !job->over && !job->no_memory; i++)
        phi__strategy_do(job, &commands->at[i]);
    phi_arena_free(&job->scratch);
}

static void phi__strategy_tell(phi__strategy_job *job, const phi_strategy_event *event) {
    phi_strategy_commands commands;
    phi_strategy_env env = phi__strategy_env(job);
    commands.count = 0;
    phi_status status = job->desc->strategy->on(job->state, event, &env, &commands);
    phi__strategy_do_all(job, status, &commands);
}

/* ---- starting a strategy ---- */

/* Scales `all`, an amount for `of` model calls, down to the amount for `calls` model calls. */
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
    if (out->output_tokens == 0) out->output_tokens = phi__bill_times(out->calls, answer_tokens);
    if (most >= out->calls) return;
    out->input_tokens = phi__strategy_part(out->input_tokens, most, out->calls);
    out->output_tokens = phi__strategy_part(out->output_tokens, most, out->calls);
    if (out->in_conversation > most) out->in_conversation = most;
    out->calls = most;
}

/* Reserves the most that the remaining calls may cost. If a budget has no room, ends the job. */
static void phi__strategy_reserve(phi__strategy_job *job, phi_str prompt) {
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
    uint64_t in = 0;
    if (strategy->choose != NULL)
        strategy = strategy->choose(options, prompt, job->request->tool_count > 0, &options);
    phi__strategy_bill(job->desc, strategy, options, phi_tokens_of_text(counter, prompt), answer,
                       &bill);
    job->most = bill.calls;
    uint64_t left = bill.calls > job->made ? bill.calls - job->made : 0;
    for (size_t i = 0; bill.in_conversation > 0 && i < job->request->message_count; i++)
        in += phi_tokens_of_message(counter, job->request->messages[i]);
    in = phi__sum(phi__bill_times(in, bill.in_conversation), bill.input_tokens);
    in = phi__sum(
        in, phi__bill_times(phi_tokens_of_text(counter, job->request->system_prompt), bill.calls));
    in = phi__strategy_part(in, left, bill.calls);
    answer = phi__strategy_part(bill.output_tokens, left, bill.calls);
    if (phi__pot_reserve(agent->run, phi__sum(in, answer),
                         (double)in / 1e6 * rate + (double)answer / 1e6 * rates->output, left,
                         reason, sizeof reason))
        return;
    (void)snprintf(words, sizeof words, "strategy %s: up to %llu model calls: %s",
                   job->desc->strategy->name, (unsigned long long)left, reason);
    job->kind = PHI_FAILURE_QUOTA;
    job->kind_status = PHI_REFUSED;
    phi__strategy_fault(job, words);
}

/* Takes the saved state of this run's machine from the snapshot. NULL if there is none. */
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

/* Loads the machine from a snapshot, or starts it if it cannot be loaded. */
static void phi__strategy_load(phi__strategy_job *job, const phi_json *saved, phi_str prompt) {
    phi_strategy_commands commands;
    phi_strategy_env env = phi__strategy_env(job);
    phi_status status = PHI_NOT_FOUND;
    commands.count = 0;
    if (saved != NULL) status = job->desc->strategy->load(job->state, saved, &env, &commands);
    if (status == PHI_OK || status == PHI_NO_MEMORY) {
        phi__strategy_do_all(job, status, &commands);
        return;
    }
    memset(job->state, 0, job->desc->strategy->state_bytes);
    phi_strategy_event event = PHI_ZERO;
    event.kind = PHI_STRATEGY_BEGIN;
    event.text = prompt;
    phi__strategy_tell(job, &event);
}

static void phi__strategy_begin(phi__strategy_job *job) {
    const phi_json *saved = phi__strategy_claim(job);
    phi__buf text;
    phi_str prompt = {NULL, 0};
    phi__buf_init(&text, &job->agent->memory);
    /* The prompt is the last group of user messages in the history. Other messages may follow
       it. */
    const phi_model_request *request = job->request;
    size_t to = request->message_count;
    bool failed = false;
    while (to > 0 && request->messages[to - 1]->role != PHI_ROLE_USER) to--;
    for (size_t from = phi__scall_from(request, to); from < to && !failed; from++) {
        if (text.len > 0) phi__buf_text(&text, "\n\n");
        phi__buf_add_str(&text,
                         phi_message_text(request->messages[from], "\n", &job->scratch, &failed));
    }
    if (failed) text.failed = true;
    if (!phi__machine_text(&text, &job->arena, &prompt)) job->no_memory = true;
    /* A strategy registered for the agent's own protocol would call itself. */
    if (phi__scall_inside(job->agent, job->desc))
        phi__strategy_fault(job, "a strategy cannot make its own model calls: set provider");
    else if (!job->no_memory)
        phi__strategy_reserve(job, prompt);
    if (!job->no_memory && !job->over) phi__strategy_load(job, saved, prompt);
    job->saved = NULL;
    phi_arena_free(&job->scratch);
}

/* ---- saving the job ---- */

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
    phi__records_u64(out, "made", job->made - phi__scall_again(job));
    phi__records_u64(out, "elapsed_ms", phi__strategy_elapsed(job));
    phi__records_raw(out, "state", "");
    (void)phi__json_write(out, state, 0);
    /* After a restore, only calls that may have run tools continue. The others are made again. */
    phi__records_raw(out, "calls", "[");
    for (size_t i = 0; i < job->call_count; i++) {
        const phi__strategy_call *call = &job->calls[i];
        phi__strategy_call now = *call;
        uint64_t elapsed = phi__scall_elapsed(job, call);
        phi_str text = {NULL, 0};
        if (!phi__scall_keeps(call)) continue;
        now.elapsed_ms = elapsed < UINT32_MAX ? (uint32_t)elapsed : UINT32_MAX;
        if (phi_agent_snapshot(call->child, scratch, &text) != PHI_OK) out->failed = true;
        phi__json_write_comma(out);
        phi__buf_char(out, '{');
        PHI__RECORDS_PUT(out, phi__scall_fields, &now);
        phi__records_u64(out, "status", (uint64_t)(-(int64_t)call->status));
        phi__records_str(out, "text", phi__buf_str(&call->text));
        phi__message_put_usage(out, &call->usage);
        phi__records_raw(out, "agent", "");
        phi__buf_add_str(out, text);
        phi__buf_char(out, '}');
    }
    phi__buf_char(out, ']');
    phi__buf_char(out, '}');
}

/* The provider's close, which is called first, has freed the job. */
static void phi__strategy_freed(phi__attached *object) { (void)object; }

static const phi__attached_ops phi__strategy_ops = {PHI__STRATEGY_NAME, phi__strategy_save, NULL,
                                                    phi__strategy_freed};

/* ---- the provider ---- */

static void phi__strategy_close(void *user_data, void *opaque) {
    phi__strategy_job *job = (phi__strategy_job *)opaque;
    phi__agent *agent = job->agent;
    (void)user_data;
    phi__attached_remove(&job->attached);
    phi__scall_drop_all(job);
    phi_arena_free(&job->scratch);
    phi_arena_free(&job->arena);
    phi__free(&agent->memory, job->state, job->desc->strategy->state_bytes);
    phi__free(&agent->memory, job, sizeof *job);
}

static phi_status phi__strategy_open(void *user_data, const phi_model_request *request,
                                     void **out) {
    const phi_strategy_desc *desc = (const phi_strategy_desc *)user_data;
    phi__agent *agent = phi__find_agent(request->agent);
    if (desc == NULL || desc->strategy == NULL) return PHI_BAD_ARG;
    phi__strategy_job *job = (phi__strategy_job *)phi__alloc(&agent->memory, sizeof *job);
    void *state = phi__alloc(&agent->memory, desc->strategy->state_bytes);
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
    phi__attached_add(agent, &job->attached, &phi__strategy_ops);
    phi__strategy_begin(job);
    *out = job;
    if (!job->no_memory) return PHI_OK;
    phi__strategy_close(user_data, job);
    return PHI_NO_MEMORY;
}

/* True if a limit of the run was reached during the strategy, so the machine must end with its best
   answer. A run that pauses at its limits first finishes the turn. */
static bool phi__strategy_spent(const phi__strategy_job *job) {
    const phi__run *run = job->agent->run;
    const phi_limits *limits = &run->limits;
    const phi__spent *spent = &run->spent;
    if (limits->pause) return false;
    if (limits->max_tokens != UINT64_MAX &&
        spent->usage.input + spent->usage.output >= limits->max_tokens)
        return true;
    if (limits->max_cost > 0 && spent->cost >= limits->max_cost) return true;
    return !phi__limits_leaves(run, 0);
}

static void phi__strategy_stop(phi__strategy_job *job) {
    phi_strategy_event event = PHI_ZERO;
    event.kind = PHI_STRATEGY_STOP;
    if (job->call_count > 0 &&
        !phi__arena_str(&job->arena, phi__buf_str(&job->calls[0].text), &event.text))
        job->no_memory = true;
    phi__scall_drop_all(job);
    if (job->agent->slot == NULL || job->no_memory) return;
    if (phi__scall_left(job) == 0) job->stopped = true;
    phi__strategy_tell(job, &event);
    if (!job->over && !job->no_memory)
        phi__strategy_fault(job, "the strategy did not end when it had to");
}

static void phi__strategy_answer(phi__strategy_job *job) {
    phi_strategy_event event;
    if (!phi__scall_take(job, &event)) {
        job->no_memory = true;
        return;
    }
    job->filtered = event.stop_reason == PHI_STOP_REASON_GUARD_RAIL;
    if (event.kind == PHI_STRATEGY_FAILED && event.status == PHI_LIMIT &&
        event.tool_rounds <= job->calls[0].max_rounds) {
        /* The run's calls or a budget are used up. The call is kept until the machine stops,
           because the machine then gets the call's text. */
        job->settle = true;
        return;
    }
    phi__strategy_tell(job, &event);
    if (job->call_count > 0) phi__scall_drop(job);
}

static void phi__strategy_step(phi__strategy_job *job) {
    phi__scall_expire(job);
    for (int i = 0; i < PHI__STRATEGY_EVENTS && !job->over && !job->no_memory; i++) {
        if (job->agent->slot == NULL) return;
        if (job->settle || phi__strategy_spent(job))
            phi__strategy_stop(job);
        else if (job->call_count == 0)
            phi__strategy_fault(job, "the strategy waits for no call");
        else if (job->calls[0].over)
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

static phi_poll phi__strategy_poll(void *user_data, void *opaque, phi_answer *answer) {
    phi__strategy_job *job = (phi__strategy_job *)opaque;
    (void)user_data;
    phi__strategy_step(job);
    if (job->agent->slot == NULL) return PHI_POLL_DONE;
    if (job->no_memory)
        phi_answer_fail(answer, PHI_FAILURE_NO_MEMORY, false, "a strategy: out of memory");
    else if (!job->over)
        return PHI_POLL_AGAIN;
    else if (job->status != PHI_OK) {
        phi_answer_fail(answer, phi__strategy_kind(job), false, job->text.at);
        job->agent->run->attempt.answer->assembly.status = job->status;
    } else {
        phi_answer_text(answer, job->text);
        phi_answer_stop(answer, job->reason);
    }
    return PHI_POLL_DONE;
}

/* ---- public ---- */

PHI_API phi_provider phi_strategy_provider(const phi_strategy_desc *desc) {
    phi_provider provider = PHI_ZERO;
    provider.protocol = "phi.strategy";
    if (desc == NULL || desc->strategy == NULL) return provider; /* phi_agent_new rejects it */
    provider.user_data = (void *)(uintptr_t)desc;
    provider.open = phi__strategy_open;
    provider.poll = phi__strategy_poll;
    provider.close = phi__strategy_close;
    return provider;
}

/* Returns the result note of the agent's last run. NULL if there is none. An evaluation may have
   copied the run into the log. The loop id tells the note from notes of other runs: of a strategy's
   calls, and of branches that were not selected. */
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

PHI_API phi_status phi_strategy_result(phi_agent handle, phi_arena *arena,
                                       phi_strategy_outcome *out) {
    const phi__agent *agent = phi__find_agent(handle);
    phi__json_found found;
    if (handle.rt == NULL || arena == NULL || out == NULL) return PHI_BAD_ARG;
    memset(out, 0, sizeof *out);
    if (agent == NULL) return PHI_STALE;
    if (phi__strategy_job_of(agent) != NULL) {
        const phi__strategy_job *job = phi__strategy_job_of(agent);
        job->desc->strategy->best(job->state, &out->best);
        out->running = true;
        if (phi__arena_str(arena, out->best.text, &out->best.text)) return PHI_OK;
        memset(out, 0, sizeof *out); /* best.text is not ours: it belonged to the strategy */
        return PHI_NO_MEMORY;
    }
    if (agent->run != NULL) return PHI_NOT_FOUND;
    phi_status status = phi__recall(agent->thread);
    if (status != PHI_OK) return status;
    const phi__note *note = phi__strategy_last(agent);
    if (note == NULL || phi__json_cursor_find(note->json, "result", &found) != PHI_OK)
        return PHI_NOT_FOUND;
    return phi__arena_str(arena, found.raw, &out->result) ? PHI_OK : PHI_NO_MEMORY;
}

PHI_API phi_status phi_strategy_settle(phi_agent handle) {
    const phi__agent *agent = phi__find_agent(handle);
    if (handle.rt == NULL) return PHI_BAD_ARG;
    if (agent == NULL) return PHI_STALE;
    phi__strategy_job *job = phi__strategy_job_of(agent);
    if (job == NULL) return PHI_NOT_FOUND;
    job->settle = true;
    phi__schedule_wake(agent->run);
    return PHI_OK;
}
