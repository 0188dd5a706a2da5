/* strategy_call.c - a strategy's model calls: hidden agents, each for one run, whose log is copied
   onto the strategy's own lane of the agent's log. */
#include "strategy/strategy_in.h"

#include "history/compact_in.h"
#include "history/graft_in.h"
#include "text/records_in.h"

#include <stdio.h>

/* ---- while it runs ---- */

static phi__strategy_call *phi__strategy_call_of(const phi__agent *child) {
    phi__strategy_job *job = (phi__strategy_job *)child->tree.watched;
    size_t i;
    for (i = 0; i < job->call_count; i++)
        if (job->calls[i].child.rt != NULL && job->calls[i].child.index == child->handle.index &&
            job->calls[i].child.gen == child->handle.gen)
            return &job->calls[i];
    return NULL;
}

static bool phi__strategy_call_emit(phi__agent *agent, phi_arena *room, phi_event *event) {
    if (event->point == PHI_HOOK_QUESTION) return phi__events_emit_asked(agent, event);
    return phi__arena_str(room, event->arguments, &event->arguments) &&
           phi__events_emit(agent, event, NULL, 0);
}

/* A decision about a tool is the host's to make: it gets the ticket as the agent's. Its strings
   must outlive the child. False: no memory. */
static bool phi__strategy_call_show(const phi__agent *child, const phi_event *event) {
    phi__agent *agent = child->tree.parent;
    phi_arena *room = phi__thread_room(agent->thread);
    phi_event shown = *event;
    if (event->kind != PHI_EV_DECISION) return true;
    shown.loop_id = phi__str(NULL, 0);
    return phi__arena_str(room, event->tool_call_id, &shown.tool_call_id) &&
           phi__arena_str(room, event->tool_name, &shown.tool_name) &&
           phi__strategy_call_emit(agent, room, &shown);
}

static bool phi__strategy_call_event(phi__agent *child, const phi_event *event) {
    phi__strategy_call *call = phi__strategy_call_of(child);
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
        if (!phi__strategy_call_show(child, event)) job->no_memory = true;
        break;
    }
    return false;
}

static void phi__strategy_call_over(phi__agent *child, phi_status status,
                                    const phi_failure *failure, bool stopping) {
    phi__strategy_call *call = phi__strategy_call_of(child);
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

/* Freed by somebody else: its answer will not come. */
static void phi__strategy_call_gone(phi__agent *child) {
    phi__strategy_call *call = phi__strategy_call_of(child);
    if (call == NULL || call->over) return;
    call->over = true;
    call->status = PHI_CANCELLED;
    call->failure = phi_str_of(phi_status_text(PHI_CANCELLED));
}

/* ---- its agent ---- */

static const phi__child_watch *phi__strategy_call_watch(void) {
    static const phi__child_watch watch = {true,
                                           false,
                                           phi__strategy_call_event,
                                           NULL,
                                           phi__strategy_call_over,
                                           phi__strategy_call_gone};
    return &watch;
}

static uint32_t phi__strategy_call_timeout(const phi__strategy_job *job,
                                           const phi_strategy_call *call) {
    uint32_t timeout = call->timeout_ms != 0 ? call->timeout_ms : job->desc->call_timeout_ms;
    return timeout != 0 ? timeout : PHI_UNLIMITED;
}

static void phi__strategy_call_tools(const phi__agent *agent, phi_agent_desc *d) {
    static const uint32_t points = (uint32_t)PHI_HOOK_BEFORE_TOOL | (uint32_t)PHI_HOOK_AFTER_TOOL |
                                   (uint32_t)PHI_HOOK_BEFORE_TOOL_UPDATE |
                                   (uint32_t)PHI_HOOK_AFTER_TOOL_UPDATE |
                                   (uint32_t)PHI_HOOK_QUESTION;
    d->tools = agent->tools->tools; /* the run's, which may not be the agent's */
    d->tool_count = agent->tools->count;
    d->tool_options.raw_tools = agent->desc.tool_options.raw_tools;
    d->tool_options.raw_tool_count = agent->desc.tool_options.raw_tool_count;
    d->tool_options.defer_percent = agent->desc.tool_options.defer_percent;
    d->tool_options.mode = agent->desc.tool_options.mode;
    d->tool_options.batch = agent->desc.tool_options.batch;
    d->tool_options.timeout_ms = agent->desc.tool_options.timeout_ms;
    d->hook_points |= agent->desc.hook_points & points;
    d->tool_options.repeat_warn_after = agent->desc.tool_options.repeat_warn_after;
    d->tool_options.repeat_stop_after = agent->desc.tool_options.repeat_stop_after;
}

static phi_agent_desc phi__strategy_call_desc(const phi__strategy_job *job,
                                              const phi_strategy_call *call, uint32_t turns) {
    const phi__agent *agent = job->agent;
    uint32_t timeout = phi__strategy_call_timeout(job, call);
    phi_agent_desc d;
    memset(&d, 0, sizeof d);
    d.model = agent->desc.model;
    d.provider = job->desc->provider;
    d.thinking = agent->desc.thinking;
    d.max_tokens = call->max_tokens != 0 ? call->max_tokens : agent->desc.max_tokens;
    /* a call in the agent's own words is the answer itself; others ask in a form of their own */
    if (call->in_conversation && call->system_prompt.len == 0)
        d.format = *phi__run_format_of(agent->run);
    d.options = agent->desc.options;
    d.options.temperature =
        call->has_temperature ? call->temperature : phi__run_temperature(agent->run);
    d.options.has_temperature = d.options.temperature >= 0.0;
    d.options.disable_facts = d.options.capture_requests = false;
    d.cache = agent->desc.cache;
    d.compaction.disable = true;
    d.limits.max_turns = turns;
    d.limits.max_tokens = UINT64_MAX;
    d.limits.max_duration_ms = timeout;
    d.deadlines = agent->desc.deadlines;
    if (timeout < d.deadlines.total_ms) d.deadlines.total_ms = timeout;
    d.retry = agent->desc.retry;
    d.parent = agent->handle;
    d.hook_points = agent->desc.hook_points & (uint32_t)PHI_HOOK_CREDENTIAL;
    if (call->tools) phi__strategy_call_tools(agent, &d);
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

/* The agent's own prompt says who answers, and the strategy's how. */
static bool phi__strategy_call_system(const phi__strategy_job *job, const phi_strategy_call *call,
                                      phi__buf *out) {
    phi_str own = job->request->system_prompt;
    phi__buf_add_str(out, own);
    if (own.len > 0 && call->system_prompt.len > 0) phi__buf_text(out, "\n\n");
    phi__buf_add_str(out, call->system_prompt);
    phi__buf_char(out, '\0');
    return !out->failed;
}

PHI__FN size_t phi__strategy_call_from(const phi_model_request *request, size_t to) {
    phi_str run = {NULL, 0}; /* a prompt that an earlier run has not answered is no part of it */
    for (; to > 0 && request->messages[to - 1]->role == PHI_ROLE_USER; to--) {
        phi_str loop_id = request->messages[to - 1]->loop_id;
        if (loop_id.len > 0 && run.len > 0 && !phi_str_equal(loop_id, run)) break;
        if (loop_id.len > 0) run = loop_id;
    }
    return to;
}

/* How many of the request's messages stand before the prompt. */
static size_t phi__strategy_call_before(const phi_model_request *request) {
    return phi__strategy_call_from(request, request->message_count);
}

static phi_status phi__strategy_call_history(const phi__strategy_job *job, phi__agent *child) {
    const phi_model_request *request = job->request;
    size_t before = phi__strategy_call_before(request), i;
    phi_status status = PHI_OK;
    for (i = 0; i < before && status == PHI_OK; i++)
        status = phi_thread_append(child->thread, request->messages[i], 1, NULL);
    return status;
}

/* The prompt as the user wrote it, with its images; or the machine's text. A conversation that ends
   in results of tools continues without a prompt. False: no memory. */
static bool phi__strategy_call_prompts(const phi__strategy_job *job, const phi_strategy_call *call,
                                       phi_arena *arena, phi__run_order *order) {
    const phi_model_request *request = job->request;
    size_t before = phi__strategy_call_before(request), count = request->message_count - before, i;
    phi_message *prompts;
    if (!call->in_conversation || call->prompt.at != NULL) {
        order->prompts = phi__compact_say(call->prompt, arena);
        order->prompt_count = 1;
        return order->prompts != NULL;
    }
    prompts = (phi_message *)phi_arena_alloc(arena, phi__mul(count, sizeof *prompts));
    for (i = 0; prompts != NULL && i < count; i++) prompts[i] = *request->messages[before + i];
    order->prompts = prompts;
    order->prompt_count = count;
    if (count == 0) order->continuation = PHI_CONTINUATION_DEFAULT;
    return prompts != NULL;
}

static phi_status phi__strategy_call_run(const phi__strategy_job *job,
                                         const phi_strategy_call *call, phi__agent *child) {
    phi_arena scratch;
    phi__run_order order;
    phi_status status = PHI_NO_MEMORY;
    phi_arena_init(&scratch, &child->memory, 0);
    memset(&order, 0, sizeof order);
    order.goes_on = true;
    if (phi__strategy_call_prompts(job, call, &scratch, &order))
        status = phi__run_new(child, &order);
    phi_arena_free(&scratch);
    return status;
}

/* The agent out of a snapshot, with its run; or a new one. */
static phi__agent *phi__strategy_call_make(phi__strategy_job *job, const phi_agent_desc *d,
                                           const phi_json *saved) {
    const phi_json *root = phi_json_get(saved, "agent");
    if (root != NULL) return phi__snapshot_make(job->agent->rt, d, root, PHI_RESTORE_RESUME);
    return phi__agent_make(job->agent->rt, d, NULL);
}

static phi_status phi__strategy_call_start(phi__strategy_job *job, phi__strategy_call *slot,
                                           const phi_strategy_call *call, const phi_json *saved) {
    phi_agent_desc d = phi__strategy_call_desc(job, call, slot->most_turns);
    phi__agent *child = NULL;
    phi_status status = PHI_OK;
    phi__buf system;
    if (job->agent->rt->closing) return PHI_CANCELLED;
    phi__buf_init(&system, &job->agent->memory);
    if (phi__strategy_call_system(job, call, &system)) {
        d.system_prompt = system.at;
        child = phi__strategy_call_make(job, &d, saved);
    } else
        status = PHI_NO_MEMORY;
    phi__buf_free(&system);
    if (child == NULL) return status != PHI_OK ? status : phi__error_last(job->agent->rt, NULL);
    child->tree.watch = phi__strategy_call_watch();
    child->tree.watched = job;
    child->tree.of_run = child->tree.no_last_tools = true;
    slot->child = child->handle;
    if (saved != NULL) return child->run != NULL || slot->over ? PHI_OK : PHI_PARSE;
    if (call->in_conversation) status = phi__strategy_call_history(job, child);
    if (status == PHI_OK) status = phi__strategy_call_run(job, call, child);
    return status;
}

PHI__FN bool phi__strategy_call_inside(const phi__agent *agent, const phi_strategy_desc *desc) {
    for (; agent != NULL; agent = agent->tree.parent)
        if (agent->tree.watch == phi__strategy_call_watch() &&
            ((const phi__strategy_job *)agent->tree.watched)->desc == desc)
            return true;
    return false;
}

PHI__FN uint32_t phi__strategy_call_left(const phi__strategy_job *job) {
    uint64_t taken = job->made;
    size_t i;
    for (i = 0; i < job->call_count; i++)
        if (!job->calls[i].over) taken += job->calls[i].most_turns - job->calls[i].turns;
    if (taken >= job->most) return 0; /* of a saved call, `made` has the turns it had */
    return job->most - taken < PHI_UNLIMITED ? (uint32_t)(job->most - taken) : PHI_UNLIMITED - 1;
}

/* phi_last_error's message is the failure's, where making the agent failed. */
static bool phi__strategy_call_refuse(phi__strategy_job *job, phi__strategy_call *slot,
                                      phi_status status) {
    const char *words = NULL;
    slot->over = true;
    slot->status = status;
    if (phi__error_last(job->agent->rt, &words) != status || words == NULL || words[0] == '\0')
        words = phi_status_text(status);
    return phi__arena_str(&job->arena, phi_str_of(words), &slot->failure);
}

/* ---- in a snapshot ---- */

static uint64_t phi__strategy_call_elapsed(const phi__strategy_job *job,
                                           const phi__strategy_call *call) {
    return call->elapsed_ms + (phi__io_counted_us(job->agent->rt->io) - call->began_us) / 1000;
}

static const phi__field phi__strategy_call_fields[] = {
    PHI__FIELD(phi__strategy_call, id, "id", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi__strategy_call, turns, "turns", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi__strategy_call, over, "over", PHI__FIELD_BOOL, PHI__FIELD_SET),
    PHI__FIELD(phi__strategy_call, silent, "silent", PHI__FIELD_BOOL, PHI__FIELD_SET),
    PHI__FIELD(phi__strategy_call, stop_reason, "stop_reason", PHI__FIELD_UINT, PHI__FIELD_SET),
    PHI__FIELD(phi__strategy_call, kind, "kind", PHI__FIELD_UINT, PHI__FIELD_SET),
    PHI__FIELD(phi__strategy_call, elapsed_ms, "elapsed_ms", PHI__FIELD_UINT, PHI__FIELD_SET),
    PHI__FIELD(phi__strategy_call, expired, "expired", PHI__FIELD_BOOL, PHI__FIELD_SET),
    PHI__FIELD(phi__strategy_call, failure, "failure", PHI__FIELD_STR, PHI__FIELD_SET)};

static bool phi__strategy_call_keeps(const phi__strategy_call *call) {
    return call->max_rounds > 0 && call->turns > 0 && phi__find_agent(call->child) != NULL;
}

PHI__FN void phi__strategy_call_save(const phi__strategy_job *job, phi__buf *out,
                                     phi_arena *scratch) {
    size_t i;
    phi__records_raw(out, "calls", "[");
    for (i = 0; i < job->call_count; i++) {
        const phi__strategy_call *call = &job->calls[i];
        phi__strategy_call now = *call;
        uint64_t elapsed = phi__strategy_call_elapsed(job, call);
        phi_str text = {NULL, 0};
        if (!phi__strategy_call_keeps(call)) continue;
        now.elapsed_ms = elapsed < UINT32_MAX ? (uint32_t)elapsed : UINT32_MAX;
        if (phi_agent_snapshot(call->child, scratch, &text) != PHI_OK) out->failed = true;
        phi__json_write_comma(out);
        phi__buf_char(out, '{');
        phi__records_put(out, phi__strategy_call_fields, PHI__COUNT(phi__strategy_call_fields),
                         &now);
        phi__records_u64(out, "status", (uint64_t)(-(int64_t)call->status));
        phi__records_str(out, "text", phi__buf_str(&call->text));
        phi__machine_put_usage(out, &call->usage);
        phi__json_write_comma(out);
        phi__json_write_key(out, PHI__LIT("agent"));
        phi__buf_add_str(out, text);
        phi__buf_char(out, '}');
    }
    phi__buf_char(out, ']');
}

PHI__FN uint64_t phi__strategy_call_again(const phi__strategy_job *job) {
    uint64_t again = 0;
    size_t i;
    for (i = 0; i < job->call_count; i++)
        if (!phi__strategy_call_keeps(&job->calls[i])) again += job->calls[i].turns;
    return again;
}

/* What a snapshot has of a call with this id; NULL: nothing. */
static const phi_json *phi__strategy_call_saved(const phi__strategy_job *job, uint32_t id) {
    phi_json_iter it = phi_json_each(job->saved);
    const phi_json *item;
    while ((item = phi_json_next(&it)) != NULL)
        if (phi__records_get_u32(item, "id") == id) return item;
    return NULL;
}

/* False: no memory. */
static bool phi__strategy_call_load(phi__strategy_job *job, phi__strategy_call *slot,
                                    const phi_json *saved) {
    uint32_t status;
    if (saved == NULL) return true;
    if (!phi__records_get(saved, phi__strategy_call_fields, PHI__COUNT(phi__strategy_call_fields),
                          slot, &job->arena))
        return false;
    status = phi__records_get_u32(saved, "status");
    slot->status = status < -(int64_t)PHI_STATUS_END ? (phi_status)(-(int64_t)status) : PHI_PARSE;
    if (slot->turns > slot->max_rounds + 1) slot->turns = slot->max_rounds + 1;
    phi__machine_get_usage(saved, &slot->usage);
    phi__buf_add_str(&slot->text, phi__records_get_str(saved, "text"));
    return !slot->text.failed;
}

/* ---- its beginning ---- */

PHI__FN bool phi__strategy_call_begin(phi__strategy_job *job, const phi_strategy_call *call) {
    phi__strategy_call *slot;
    const phi_json *saved = phi__strategy_call_saved(job, call->id);
    uint32_t left = phi__strategy_call_left(job), rounds = call->max_tool_rounds;
    phi_status status;
    if ((left == 0 && saved == NULL) || job->call_count == PHI__STRATEGY_CALLS) {
        job->settle = job->stopped = true; /* none may be made: the machine ends */
        return true;
    }
    if (rounds == 0) rounds = 3;
    if (!call->tools) rounds = 0;
    slot = &job->calls[job->call_count++];
    memset(slot, 0, sizeof *slot);
    phi__buf_init(&slot->text, &job->agent->memory);
    slot->max_rounds = rounds;
    if (!phi__strategy_call_load(job, slot, saved)) return false;
    slot->id = call->id;
    slot->began_us = phi__io_counted_us(job->agent->rt->io);
    slot->timeout_ms = phi__strategy_call_timeout(job, call);
    slot->most_turns = rounds + 1 - slot->turns <= left ? rounds + 1 : slot->turns + left;
    status = phi__strategy_call_start(job, slot, call, saved);
    if (status == PHI_OK) return true;
    return status != PHI_NO_MEMORY && phi__strategy_call_refuse(job, slot, status);
}

/* ---- when it is over ---- */

PHI__FN void phi__strategy_call_expire(phi__strategy_job *job) {
    size_t i;
    for (i = 0; i < job->call_count; i++) {
        phi__strategy_call *call = &job->calls[i];
        if (call->over || call->expired || call->timeout_ms == PHI_UNLIMITED ||
            phi__strategy_call_elapsed(job, call) < call->timeout_ms)
            continue;
        call->expired = true;
        (void)phi_abort(call->child);
        if (job->agent->slot == NULL) return; /* by a function of the host's that it has called */
    }
}

/* "~tot/session.config.1" */
static bool phi__strategy_call_graft(phi__strategy_job *job, phi__agent *child) {
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

PHI__FN bool phi__strategy_call_take(phi__strategy_job *job, phi_strategy_event *event) {
    phi__strategy_call *call = &job->calls[0];
    phi__agent *child = phi__find_agent(call->child);
    memset(event, 0, sizeof *event);
    if (call->text.failed) return false;
    if (child != NULL && !phi__strategy_call_graft(job, child)) return false;
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

PHI__FN void phi__strategy_call_drop(phi__strategy_job *job) {
    phi__strategy_call call = job->calls[0];
    size_t i;
    job->call_count--;
    for (i = 0; i < job->call_count; i++) job->calls[i] = job->calls[i + 1];
    phi__buf_free(&call.text);
    if (call.child.rt != NULL) phi_agent_free(call.child); /* it may call the host */
}

PHI__FN void phi__strategy_call_drop_all(phi__strategy_job *job) {
    while (job->call_count > 0) phi__strategy_call_drop(job);
}
