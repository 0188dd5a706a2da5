/* run.c - makes, begins, detaches, destroys and fails runs. A run without memory ends with an error
   event that needs none, and leaves an agent that can be prompted again. */
#include "loop/inner_in.h"

static phi__refusals phi__run_refusals(const phi__agent *agent);
static const phi_failure *phi__run_limit_failure(const phi__agent *agent,
                                                 const phi__refusals *since);

static bool phi__draft_name(phi__run *run, const phi__run_order *order) {
    phi__agent *agent = run->agent;
    phi__buf name;
    uint32_t n;
    if (order->loop_id.len > 0)
        return phi__arena_str(phi__thread_room(agent->thread), order->loop_id, &run->loop_id);
    /* A history that came from elsewhere, or that runs of other agents went over, has runs that are
       not counted yet. The run it continues need not be in the log. */
    phi__sessions *sessions = &agent->rt->sessions;
    if (!phi__session_read(sessions, agent->line.session, agent->thread) ||
        (order->parent_loop_id.len > 0 &&
         !phi__session_saw(sessions, agent->line.session, order->parent_loop_id)))
        return false;
    phi__buf_init(&name, &agent->memory);
    do { /* a host may have given an id of this form */
        n = phi__session_next(sessions, agent->line.session, agent->line.segment);
        phi__buf_clear(&name);
        phi__buf_add_str(&name, agent->line.session->id);
        phi__buf_char(&name, '.');
        phi__buf_add_str(&name, agent->line.segment);
        phi__buf_char(&name, '.');
        phi__buf_u64(&name, (uint64_t)n);
    } while (n != 0 && !name.failed && phi__loops_has(agent->thread, phi__buf_str(&name)));
    bool done = n != 0 && !name.failed &&
                phi__arena_str(phi__thread_room(agent->thread), phi__buf_str(&name), &run->loop_id);
    phi__buf_free(&name);
    if (!done && n != 0) phi__session_undo(agent->line.session, agent->line.segment);
    return done;
}

/* Who and from where, in the thread: a lent one outlives the agent. */
static bool phi__draft_inform(phi__run *run, const phi__run_order *order) {
    phi__agent *agent = run->agent;
    phi_arena *arena = phi__thread_room(agent->thread);
    phi_loop_info *info = (phi_loop_info *)phi__arena_zero(arena, sizeof *info);
    phi_str parent = order->parent_loop_id, session = agent->line.session->id;
    char tag[PHI__DATE_BYTES];
    tag[0] = '\0';
    if (info == NULL) return false;
    if (parent.len == 0 && order->continuation != PHI_CONTINUATION_INITIAL)
        parent = agent->line.last_loop_id;
    if (order->continuation == PHI_CONTINUATION_RERUN ||
        order->continuation == PHI_CONTINUATION_BRANCH)
        (void)phi__date_put(phi__io_wall_ms(agent->rt->io), tag);
    info->loop_id = run->loop_id;
    info->continuation = order->continuation;
    run->info = info;
    bool ours = phi__str_starts(run->loop_id, session.at); /* it begins with the session's id */
    if (ours) info->session_id = phi__str(run->loop_id.at, session.len);
    return phi__arena_str(arena, agent->agent_id, &info->agent_id) &&
           (ours || phi__arena_str(arena, session, &info->session_id)) &&
           phi__loops_info_prompt(agent->thread, arena, agent->system_prompt, info) &&
           phi__arena_str(arena, parent, &info->parent_loop_id) &&
           phi__arena_str(arena, phi_str_of(order->metadata), &info->metadata) &&
           phi__arena_str(arena, phi_str_of(tag), &info->tag);
}

/* The prompts are in the thread's segment and their room is taken, but they are not in the log
   before the filters have seen them. In front of them: the entry of the run's beginning. */
static bool phi__draft_entries(phi__run *run, const phi__run_order *order, phi__entry **first) {
    phi_thread *thread = run->agent->thread;
    size_t n = order->prompt_count;
    phi__entry *entries;
    if (!phi__append_reserve(thread, n + 1, n)) return false;
    entries = (phi__entry *)phi_arena_alloc(phi__thread_room(thread),
                                            phi__mul(phi__add(n, 1), sizeof *entries));
    if (entries == NULL) return false;
    entries[0] = phi__events_entry(run, PHI_ENTRY_LOOP_START);
    entries[0].of.loop = run->info;
    for (size_t i = 0; i < n; i++) {
        phi_message message = order->prompts[i];
        phi__events_stamp(run, &message);
        entries[i + 1] = phi__events_entry(run, PHI_ENTRY_MESSAGE);
        entries[i + 1].message = phi__append_keep(thread, &message);
        if (entries[i + 1].message == NULL) return false;
    }
    *first = entries;
    run->said.prompts = n > 0 ? entries + 1 : NULL;
    run->said.prompt_count = n;
    return true;
}

/* False: no memory, and the log is as it was, but for results of calls that had none. */
static bool phi__draft_run(phi__run *run, const phi__run_order *order) {
    phi_thread *thread = run->agent->thread;
    size_t count = thread->log.count;
    phi__entry *first = NULL;
    if (!phi__thread_roll(thread, NULL)) return false;
    phi_arena *room = phi__thread_room(thread);
    phi_arena_mark mark = phi_arena_save(room);
    bool named = phi__draft_name(run, order);
    if (named && phi__append_answer_orphans(thread, run->agent->desc.texts) &&
        phi__draft_inform(run, order) && phi__draft_entries(run, order, &first) &&
        phi__loops_room(thread) && phi__line_begin_run(run->agent, run->loop_id)) {
        phi__append_attach(thread, first, 1);
        run->said.first_message = run->said.emitted_messages = thread->messages.count;
        return true;
    }
    if (named && order->loop_id.len == 0)
        phi__session_undo(run->agent->line.session, run->agent->line.segment);
    /* So that a prompt which is tried again and again takes no memory; orphans' results stay. */
    if (thread->log.count == count) phi_arena_reset(room, mark);
    return false;
}

/* The entry of its beginning, and its prompts behind it; NULL: no memory. */
static phi__entry *phi__draft_again(const phi__run *run, phi_loop_info *info,
                                    const phi_thread *before) {
    phi_thread *thread = run->agent->thread;
    size_t n = run->said.prompt_count;
    phi__entry *entries;
    if (!phi__append_reserve(thread, n + 1, n) || !phi__loops_room(thread)) return NULL;
    entries = (phi__entry *)phi_arena_alloc(phi__thread_room(thread),
                                            phi__mul(phi__add(n, 1), sizeof *entries));
    if (entries == NULL) return NULL;
    entries[0] = *before->loops.started;
    entries[0].of.loop = info;
    for (size_t i = 0; i < n; i++) {
        phi_message message = *run->said.prompts[i].message;
        message.loop_id = info->loop_id;
        entries[i + 1] = run->said.prompts[i];
        entries[i + 1].of.rendered = NULL;
        entries[i + 1].message = phi__append_keep(thread, &message);
        if (entries[i + 1].message == NULL) return NULL;
    }
    for (size_t i = 0; i <= n; i++) entries[i].loop_id = info->loop_id;
    return entries;
}

PHI__FN bool phi__draft_rehome(phi__run *run, const phi_thread *before) {
    phi_thread *thread = run->agent->thread;
    phi__entry *entries = NULL;
    if (!phi__thread_roll(thread, NULL)) return false;
    phi_loop_info *info = phi__loops_copy_info(phi__thread_room(thread), run->info);
    if (info != NULL &&
        !phi__loops_info_prompt(thread, phi__thread_room(thread), run->agent->system_prompt, info))
        return false;
    if (info != NULL) entries = phi__draft_again(run, info, before);
    if (entries == NULL) return false;
    run->info = info;
    run->loop_id = info->loop_id;
    if (run->said.prompts != NULL) run->said.prompts = entries + 1;
    if (run->response != NULL) run->response->loop_id = run->loop_id;
    phi__append_attach(thread, entries, 1);
    run->said.first_message = run->said.emitted_messages = thread->messages.count;
    return true;
}

PHI__FN void phi__responses_update(phi__response *response, const phi__run *run) {
    const phi_thread *thread = run->agent->thread;
    /* The run's last answer: after it come at most results of its calls, and what stopped it. */
    response->message = NULL;
    response->message_in = NULL;
    for (size_t i = thread->messages.held; i > 0 && response->message == NULL; i--) {
        const phi__entry *entry = thread->messages.at[i - 1];
        if (entry->ordinal < run->said.first_message) break;
        if (entry->message->role != PHI_ROLE_ASSISTANT) continue;
        response->message = entry->message;
        response->message_in = entry->segment;
    }
    response->loop_id = run->loop_id;
    response->rest_in = thread->log.segments.current; /* where the run's last words are */
    response->failure = run->failure;
    response->usage = run->spent.usage;
    response->cost = run->spent.cost;
    response->first_delta_ms = run->first_delta_ms;
}

PHI__FN void phi__responses_close(phi__run *run) {
    phi__response *response = run->response;
    const phi_runtime *rt = run->agent->rt;
    if (response == NULL) return;
    run->response = NULL;
    phi__responses_update(response, run);
    response->status = run->status;
    response->ended_ms = rt->in_step ? rt->step.wall_ms : phi__io_wall_ms(rt->io);
}

PHI__FN void phi__responses_drop_one(phi__response *response) {
    phi__agent *agent = response->agent;
    if (agent->run != NULL && agent->run->response == response) agent->run->response = NULL;
    if (response->newer != NULL)
        response->newer->older = response->older;
    else
        agent->responses = response->older;
    if (response->older != NULL) response->older->newer = response->newer;
    phi__slots_release(&agent->rt->responses, response->slot);
    phi__free(&agent->memory, (void *)(uintptr_t)response->id.at,
              response->id.at != NULL ? response->id.len + 1 : 0);
    phi__free(&agent->memory, (void *)(uintptr_t)response->query.at,
              response->query.at != NULL ? response->query.len + 1 : 0);
    phi__free(&agent->memory, response, sizeof *response);
}

PHI__FN void phi__responses_drop(phi__agent *agent) {
    while (agent->responses != NULL) phi__responses_drop_one(agent->responses);
}

/* ---- beginning ---- */

/* Behind it stands what features keep of it. */
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

PHI__FN const phi_format *phi__run_format_of(const phi__run *run) {
    return run->own.format != NULL ? &run->own.format->format : &run->agent->desc.format;
}

PHI__FN double phi__run_temperature(const phi__run *run) {
    if (run->own.has_temperature) return run->own.temperature;
    return run->agent->desc.options.has_temperature ? run->agent->desc.options.temperature : -1.0;
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
    phi__thread_use(agent->thread, run);
    phi__loops_keep_none(agent->thread, agent->desc.keep == PHI_KEEP_NONE);
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
    phi__thread_use(agent->thread, NULL);
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
