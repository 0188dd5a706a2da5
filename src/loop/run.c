/* run.c - a run's life: begun, advanced a slice at a time, cancelled, taken apart.

   Each state (turns.c and others) is a function that does a bounded amount and names the next state, or
   says that it waits. A run that cannot get memory ends with an error event that needs none, and leaves an
   agent that can be prompted again. */
#include "base/date_in.h"
#include "loop/loop_in.h"
#include "loop/provider_in.h"

PHI__FN bool phi__step_spent(const phi_runtime *rt) {
    return rt->step_bytes_left == 0 || phi__work_us(rt) >= rt->step_until_us;
}

/* A slice that was begun is finished: a third of the budget is kept for that. */
PHI__FN void phi__step_slice(phi_runtime *rt) {
    rt->step_until_us = phi__work_us(rt) + rt->step_budget_us - rt->step_budget_us / 3;
    rt->step_bytes_left = rt->step_budget_bytes;
}

PHI__FN uint64_t phi__look_us(const phi_runtime *rt) {
    return rt->tape != NULL ? rt->tape->ops->look_us(rt->tape) : phi__io_now_us(rt->io);
}

PHI__FN uint64_t phi__work_us(const phi_runtime *rt) {
    return rt->tape != NULL ? rt->tape->ops->work_us(rt->tape) : phi__io_now_us(rt->io);
}

PHI__FN void phi__run_wake(phi__run *run) {
    phi_runtime *rt = run->agent->rt;
    if (run->in_ready || run->over) return;
    run->in_ready = true;
    run->next_ready = NULL;
    run->prev_ready = rt->ready_last;
    if (rt->ready_last != NULL)
        rt->ready_last->next_ready = run;
    else
        rt->ready = run;
    rt->ready_last = run;
}

static void phi__run_unready(phi__run *run) {
    phi_runtime *rt = run->agent->rt;
    if (!run->in_ready) return;
    if (run->prev_ready != NULL)
        run->prev_ready->next_ready = run->next_ready;
    else
        rt->ready = run->next_ready;
    if (run->next_ready != NULL)
        run->next_ready->prev_ready = run->prev_ready;
    else
        rt->ready_last = run->prev_ready;
    run->in_ready = false;
}

/* ---- the log and its events ---- */

PHI__FN void phi__run_stamp(const phi__run *run, phi_message *message) {
    message->timestamp_ms = phi__io_wall_ms(run->agent->rt->io);
    message->loop_id = run->loop_id;
    message->turn_index = run->turn_index;
}

PHI__FN phi__entry phi__run_entry(const phi__run *run, phi_entry_kind kind) {
    phi__entry entry;
    memset(&entry, 0, sizeof entry);
    entry.kind = kind;
    entry.at_ms = phi__io_wall_ms(run->agent->rt->io);
    entry.loop_id = run->loop_id;
    entry.turn_index = run->turn_index;
    return entry;
}

PHI__FN bool phi__run_note(phi__run *run, const phi__entry *entry) {
    return phi__thread_append(run->agent->thread, entry, 1);
}

PHI__FN bool phi__run_tell(phi__run *run, const phi_message *message, phi_input input,
                           phi_str source) {
    phi_event event;
    memset(&event, 0, sizeof event);
    event.kind = PHI_EV_MESSAGE_START;
    event.message = message;
    event.input = input;
    event.source = source;
    if (!phi__emit(run->agent, &event, NULL, 0)) return false;
    event.kind = PHI_EV_MESSAGE_END;
    return phi__emit(run->agent, &event, NULL, 0);
}

PHI__FN bool phi__run_log(phi__run *run, const phi_message *kept) {
    phi__entry entry = phi__run_entry(run, PHI_ENTRY_MESSAGE);
    entry.message = kept;
    return phi__run_note(run, &entry) &&
           phi__run_tell(run, kept, PHI_INPUT_NONE, phi__str(NULL, 0));
}

/* ---- failing ---- */

/* It needs no memory, and outlives every agent: a lent thread keeps it. */
static const phi_failure phi__run_out_of_memory = {
    PHI_FAILURE_NO_MEMORY, 0, false, false, 0, {"", 0}, {"Out of memory", 13}, {"", 0}};

/* Every run that is told of has a beginning, also one that fails before it. */
static void phi__run_tell_start(phi__run *run) {
    phi_event event;
    if (run->opened) return;
    run->opened = true;
    memset(&event, 0, sizeof event);
    event.kind = PHI_EV_AGENT_START;
    event.loop = run->info;
    (void)phi__emit_surely(run->agent, &event);
}

PHI__FN phi__state phi__run_fail(phi__run *run, const phi_failure *failure, phi_status status) {
    phi_event event;
    phi__run_tell_start(run);
    run->failure = failure;
    run->status = status;
    memset(&event, 0, sizeof event);
    event.kind = PHI_EV_ERROR;
    event.failure = failure;
    event.status = status;
    event.text = failure->message;
    (void)phi__emit_surely(run->agent, &event);
    return PHI__RUN_FAILED;
}

/* The limit that kept memory from an agent: its own or the runtime's, where they said no since then; NULL: neither. It
   outlives the log that it is put into. */
static const phi_failure *phi__run_limit_failure(const phi__agent *agent, uint64_t refusals,
                                                 uint64_t rt_refusals) {
    if (agent->thread == &agent->own && agent->memory.refusals > refusals)
        return &agent->at_limit->failure;
    return agent->rt->memory.refusals > rt_refusals ? &agent->rt->at_limit.failure : NULL;
}

static bool phi__run_is_memory_failure(const phi__run *run) {
    const phi__limit_failure *own = run->agent->at_limit;
    return run->failure == &phi__run_out_of_memory ||
           (own != NULL && run->failure == &own->failure) ||
           run->failure == &run->agent->rt->at_limit.failure;
}

PHI__FN phi__state phi__run_no_memory(phi__run *run) {
    const phi_failure *why;
    if (phi__run_is_memory_failure(run)) return PHI__RUN_CLOSE; /* it was told already */
    if (!phi__fields_drop(run)) return PHI__RUN_OVER;
    phi__decision_drop(&run->decision);
    phi__pause_end(run);
    phi__answer_charge_open(run);
    phi__run_drop_call(run);
    phi__run_drop_tools(run);
    run->reply = NULL;
    run->call_count = 0;
    why = phi__run_limit_failure(run->agent, run->refusals, run->rt_refusals);
    if (why == NULL) why = &phi__run_out_of_memory;
    if (run->failure == NULL) return phi__run_fail(run, why, PHI_NO_MEMORY);
    run->failure = why; /* a run has one PHI_EV_ERROR: it had failed already */
    run->status = PHI_NO_MEMORY;
    return PHI__RUN_TURN_END;
}

/* ---- beginning ---- */

/* A history that came from elsewhere, or that runs of other agents went over, has runs that are not
   counted yet. The run it goes on from need not be in the log. */
static bool phi__run_count_on(phi__agent *agent, const phi__run_order *order) {
    phi__sessions *sessions = &agent->rt->sessions;
    return phi__session_read(sessions, agent->session, agent->thread) &&
           phi__session_saw(sessions, agent->session, order->parent_loop_id);
}

static bool phi__run_name(phi__run *run, const phi__run_order *order) {
    phi__agent *agent = run->agent;
    phi__buf name;
    uint32_t n;
    bool done;
    if (order->loop_id.len > 0)
        return phi__arena_str(phi__thread_room(agent->thread), order->loop_id, &run->loop_id);
    if (!phi__run_count_on(agent, order)) return false;
    phi__buf_init(&name, &agent->memory);
    do { /* a host may have given an id of this form */
        n = phi__session_next(&agent->rt->sessions, agent->session, agent->segment);
        phi__buf_clear(&name);
        phi__buf_add_str(&name, agent->session->id);
        phi__buf_char(&name, '.');
        phi__buf_add_str(&name, agent->segment);
        phi__buf_char(&name, '.');
        phi__buf_u64(&name, (uint64_t)n);
    } while (n != 0 && !name.failed && phi__thread_has_loop(agent->thread, phi__buf_str(&name)));
    if (n == 0) {
        phi__buf_free(&name);
        return false;
    }
    done = !name.failed &&
           phi__arena_str(phi__thread_room(agent->thread), phi__buf_str(&name), &run->loop_id);
    phi__buf_free(&name);
    if (!done) phi__session_undo(agent->session, agent->segment);
    return done;
}

/* A loop id of ours begins with the session's. */
static bool phi__run_session(phi__run *run, phi_loop_info *info) {
    phi_str id = run->agent->session->id;
    if (phi__str_starts(run->loop_id, id.at)) {
        info->session_id = phi__str(run->loop_id.at, id.len);
        return true;
    }
    return phi__arena_str(phi__thread_room(run->agent->thread), id, &info->session_id);
}

/* Who and from where, in the thread: a lent one outlives the agent. */
static bool phi__run_inform(phi__run *run, const phi__run_order *order) {
    phi__agent *agent = run->agent;
    phi_arena *arena = phi__thread_room(agent->thread);
    phi_loop_info *info = (phi_loop_info *)phi__arena_zero(arena, sizeof *info);
    phi_str parent = order->parent_loop_id;
    char tag[PHI__DATE_BYTES];
    tag[0] = '\0';
    if (info == NULL) return false;
    if (parent.len == 0 && order->continuation != PHI_CONTINUATION_INITIAL)
        parent = agent->last_loop_id;
    if (order->continuation == PHI_CONTINUATION_RERUN ||
        order->continuation == PHI_CONTINUATION_BRANCH)
        (void)phi__date_put(phi__io_wall_ms(agent->rt->io), tag);
    info->loop_id = run->loop_id;
    info->continuation = order->continuation;
    run->info = info;
    return phi__arena_str(arena, agent->agent_id, &info->agent_id) && phi__run_session(run, info) &&
           phi__loop_info_prompt(agent->thread, arena, agent->system_prompt, info) &&
           phi__arena_str(arena, parent, &info->parent_loop_id) &&
           phi__arena_str(arena, phi_str_of(tag), &info->tag);
}

/* The prompts are in the thread's segment and their room is taken, but they are not in the log before the
   filters have seen them. In front of them: the entry of the run's beginning. */
static bool phi__run_draft(phi__run *run, const phi__run_order *order, phi__entry **first) {
    phi__thread *thread = run->agent->thread;
    size_t n = order->prompt_count, i;
    phi__entry *entries;
    if (!phi__thread_reserve(thread, n + 1, n)) return false;
    entries = (phi__entry *)phi_arena_alloc(phi__thread_room(thread),
                                            phi__mul(phi__add(n, 1), sizeof *entries));
    if (entries == NULL) return false;
    entries[0] = phi__run_entry(run, PHI_ENTRY_LOOP_START);
    entries[0].of.loop = run->info;
    for (i = 0; i < n; i++) {
        phi_message message = order->prompts[i];
        phi__run_stamp(run, &message);
        entries[i + 1] = phi__run_entry(run, PHI_ENTRY_MESSAGE);
        entries[i + 1].message = phi__thread_keep(thread, &message);
        if (entries[i + 1].message == NULL) return false;
    }
    *first = entries;
    run->prompts = n > 0 ? entries + 1 : NULL;
    run->prompt_count = n;
    return true;
}

/* The entry of its beginning, and its prompts behind it; NULL: no memory. */
static phi__entry *phi__run_redraft(const phi__run *run, phi_loop_info *info,
                                    const phi__thread *before) {
    phi__thread *thread = run->agent->thread;
    size_t n = run->prompt_count, i;
    phi__entry *entries;
    if (!phi__thread_reserve(thread, n + 1, n) || !phi__thread_loop_room(thread)) return NULL;
    entries = (phi__entry *)phi_arena_alloc(phi__thread_room(thread),
                                            phi__mul(phi__add(n, 1), sizeof *entries));
    if (entries == NULL) return NULL;
    entries[0] = *before->started;
    entries[0].of.loop = info;
    for (i = 0; i < n; i++) {
        phi_message message = *run->prompts[i].message;
        message.loop_id = info->loop_id;
        entries[i + 1] = run->prompts[i];
        entries[i + 1].of.rendered = NULL;
        entries[i + 1].message = phi__thread_keep(thread, &message);
        if (entries[i + 1].message == NULL) return NULL;
    }
    for (i = 0; i <= n; i++) entries[i].loop_id = info->loop_id;
    return entries;
}

PHI__FN bool phi__run_rehome(phi__run *run, const phi__thread *before) {
    phi__thread *thread = run->agent->thread;
    phi_loop_info *info;
    phi__entry *entries = NULL;
    if (!phi__thread_roll(thread, NULL)) return false;
    info = phi__loop_info_copy(phi__thread_room(thread), run->info);
    if (info != NULL &&
        !phi__loop_info_prompt(thread, phi__thread_room(thread), run->agent->system_prompt, info))
        return false;
    if (info != NULL) entries = phi__run_redraft(run, info, before);
    if (entries == NULL) return false;
    run->info = info;
    run->loop_id = info->loop_id;
    if (run->prompts != NULL) run->prompts = entries + 1;
    if (run->response != NULL) run->response->loop_id = run->loop_id;
    phi__thread_attach(thread, entries, 1);
    run->first_message = run->told_messages = thread->message_count;
    return true;
}

/* What the next run calls its parent. */
static bool phi__run_remember(phi__run *run) {
    phi__agent *agent = run->agent;
    char *copy = (char *)phi__realloc(&agent->memory, NULL, 0, run->loop_id.len + 1);
    if (copy == NULL) return false;
    memcpy(copy, run->loop_id.at, run->loop_id.len + 1);
    phi__free(&agent->memory, (void *)(uintptr_t)agent->last_loop_id.at,
              agent->last_loop_id.at != NULL ? agent->last_loop_id.len + 1 : 0);
    agent->last_loop_id = phi__str(copy, run->loop_id.len);
    return true;
}

static bool phi__run_begin(phi__run *run, const phi__run_order *order) {
    phi__thread *thread = run->agent->thread;
    phi_arena *room;
    phi_arena_mark mark;
    size_t count = thread->count;
    phi__entry *first = NULL;
    bool named;
    if (!phi__thread_roll(thread, NULL)) return false;
    room = phi__thread_room(thread);
    mark = phi_arena_save(room);
    named = phi__run_name(run, order);
    if (named && phi__thread_answer_orphans(thread) && phi__run_inform(run, order) &&
        phi__run_draft(run, order, &first) && phi__thread_loop_room(thread) &&
        phi__run_remember(run)) {
        phi__thread_attach(thread, first, 1);
        run->first_message = run->told_messages = thread->message_count;
        return true;
    }
    if (named && order->loop_id.len == 0)
        phi__session_undo(run->agent->session, run->agent->segment);
    /* So that a prompt which is tried again and again takes no memory; orphans' results stay. */
    if (thread->count == count) phi_arena_reset(room, mark);
    return false;
}

static phi__run *phi__run_make(phi__agent *agent, const phi__run_order *order) {
    phi__run *run = NULL;
    if (!order->goes_on) phi__posts_read_aborts(agent->rt);
    if (phi__events_reserve(agent)) run = (phi__run *)phi__alloc(&agent->memory, sizeof *run);
    if (run == NULL) {
        phi__events_unreserve(agent);
        return NULL;
    }
    run->agent = agent;
    run->state = PHI__RUN_BEFORE_LOOP;
    run->posts_from = phi__posts_next(agent->rt);
    run->limits = order->limits != NULL ? *order->limits : agent->limits;
    run->waits_ms = order->waits_ms != 0 ? order->waits_ms : agent->decision_timeout_ms;
    run->refusals = agent->memory.refusals;
    run->rt_refusals = agent->rt->memory.refusals;
    run->compact_only = order->compact_only;
    run->trigger = order->continuation == PHI_CONTINUATION_INITIAL  ? agent->first_turn_trigger
                   : order->continuation == PHI_CONTINUATION_BRANCH ? PHI_TRIGGER_BRANCH
                                                                    : PHI_TRIGGER_CONTINUATION;
    phi_arena_init(&run->arena, &agent->memory, 512);
    phi__secret_init(&run->secrets, &run->arena);
    phi__decision_init(&run->decision, run, NULL);
    phi__buf_init(&run->filter_text, &agent->memory);
    phi__buf_init(&run->warnings, &agent->memory);
    phi__buf_init(&run->reason, &agent->memory);
    phi__buf_init(&run->wishes.memo, &agent->memory);
    phi__buf_init(&run->wishes.summary, &agent->memory);
    if (phi__run_take_policy(run, order->policy) &&
        (!order->has_tools || phi__run_take_tools(run, order->tools, order->tool_count)))
        return run;
    phi__run_unmake(run);
    return NULL;
}

PHI__FN void phi__run_unmake(phi__run *run) {
    phi__agent *agent = run->agent;
    phi__run_unready(run);
    phi__inputs_free(agent, &run->pending);
    phi__filter_end(run);
    phi__buf_free(&run->reason);
    phi__free(&agent->memory, (void *)(uintptr_t)run->abort_reason.at,
              run->abort_reason.at != NULL ? run->abort_reason.len + 1 : 0);
    phi__wishes_free(run);
    phi__free(&agent->memory, run->doom, sizeof *run->doom);
    phi__free(&agent->memory, run->policy, sizeof *run->policy);
    phi__run_free_toolset(run);
    phi__capture_free(run);
    phi_arena_free(&run->arena);
    phi__free(&agent->memory, run, sizeof *run);
    phi__events_unreserve(agent);
}

PHI__FN phi_status phi__run_new(phi__agent *agent, const phi__run_order *order) {
    uint64_t refusals = agent->memory.refusals, rt_refusals = agent->rt->memory.refusals;
    phi__run *run = phi__run_make(agent, order);
    if (run != NULL && !phi__run_begin(run, order)) {
        phi__run_unmake(run);
        run = NULL;
    }
    if (run == NULL) {
        agent->refused = phi__run_limit_failure(agent, refusals, rt_refusals);
        phi__forget_press(agent);
        return PHI_NO_MEMORY;
    }
    run->started_us = agent->last_active_us = phi__io_now_us(agent->rt->io);
    memset(&agent->run_usage, 0, sizeof agent->run_usage);
    agent->run_cost = 0;
    agent->loops++;
    phi__run_take(run);
    return PHI_OK;
}

PHI__FN phi__run *phi__run_make_for(phi__agent *agent, const phi__entry *start) {
    phi__run_order order;
    phi__run *run;
    memset(&order, 0, sizeof order);
    order.continuation = start->of.loop->continuation;
    run = phi__run_make(agent, &order);
    if (run == NULL) return NULL;
    run->info = start->of.loop;
    if (phi__arena_str(phi__thread_room(agent->thread), start->loop_id, &run->loop_id)) return run;
    phi__run_unmake(run);
    return NULL;
}

PHI__FN void phi__run_show_state(const phi__agent *agent, bool running) {
    (void)phi__slots_change(&agent->rt->agents, agent->index, agent->gen,
                            (uint32_t)(running ? PHI__AGENT_IDLE : PHI__AGENT_RUNNING),
                            (uint32_t)(running ? PHI__AGENT_RUNNING : PHI__AGENT_IDLE));
}

PHI__FN void phi__run_take(phi__run *run) {
    phi__agent *agent = run->agent;
    agent->run = run;
    agent->rt->active++;
    agent->thread->user = run;
    agent->thread->keeps_none = agent->keep == PHI_KEEP_NONE;
    phi__run_show_state(agent, true);
    phi__run_wake(run);
}

/* ---- going on, ending ---- */

PHI__FN void phi__run_cancel(phi__run *run) {
    run->cancelled = true;
    phi__run_wake(run);
}

static void phi__run_cancel_one(phi__agent *agent, bool after_turn) {
    phi__run *run = agent->run;
    if (run == NULL) return;
    if (after_turn)
        run->stopping = true;
    else
        run->cancelled = true;
    phi__run_wake(run);
}

/* Down, along, and up again, without a stack: trees are as deep as the host makes them. */
PHI__FN void phi__run_cancel_tree(phi__agent *top, bool after_turn) {
    phi__agent *agent = top;
    for (;;) {
        phi__run_cancel_one(agent, after_turn);
        if (agent->first_child != NULL) {
            agent = agent->first_child;
            continue;
        }
        while (agent != top && agent->next_child == NULL) agent = agent->parent;
        if (agent == top) return;
        agent = agent->next_child;
    }
}

PHI__FN void phi__run_detach(phi__run *run) {
    phi__run_unready(run);
    if (!run->over) phi__answer_charge_open(run); /* those above pay for it */
    run->over = true;
    phi__pause_end(run);
    phi__io_timer_clear(run->agent->rt->io, &run->timer);
    phi__decision_drop(&run->decision);
    phi__budget_release(run);
    phi__run_detach_tools(run);
    phi__provider_close(run);
    phi__xfer_close(run->transfer);
    run->transfer = NULL;
}

PHI__FN void phi__run_destroy(phi__run *run) {
    phi__agent *agent = run->agent;
    run->over = true;
    phi__pause_end(run);
    phi__io_timer_clear(agent->rt->io, &run->timer);
    phi__decision_drop(&run->decision);
    phi__budget_release(run);
    phi__run_drop_call(run);
    phi__run_drop_tools(run);
    agent->run = NULL;
    agent->thread->user = NULL;
    agent->rt->active--;
    phi__run_unmake(run);
    phi__forget_end(agent);
    phi__bare_over(agent);
}

/* One run, until it waits, is over, or the step is spent. */
static void phi__run_advance(phi__run *run) {
    phi_runtime *rt = run->agent->rt;
    for (;;) {
        bool wait = false;
        phi__agent *agent = run->agent;
        run->state = phi__run_state(run, &wait);
        if (agent->slot == NULL) return; /* freed by a tool: gone when the step ends */
        if (run->state == PHI__RUN_OVER) {
            phi_status status = run->status;
            const phi_failure *failure = run->failure;
            bool stopping = run->stopping;
            agent->runs_short = status == PHI_NO_MEMORY ? agent->runs_short + 1 : 0;
            phi__put_off_due(run->agent); /* asked for by the last hook */
            phi__run_destroy(run);
            if (agent->hidden_fn != NULL) agent->hidden_fn(agent, status, failure, stopping);
            return;
        }
        if (wait) return;
        if (run->state == PHI__RUN_AFTER_LOOP)
            continue; /* whoever pops AGENT_END may prompt at once */
        if (!phi__step_spent(rt)) continue;
        if (rt->tape == NULL) {
            phi__run_wake(run);
            return;
        }
        phi__step_slice(rt);
    }
}

/* With a tape all that was let in is worked off, a slice at a time, and each run goes on until it waits: a host that
   counts its frames, or acts on what it sees between two steps, must not meet a half of it, nor may the turns of runs that
   share a budget be others, because slices are larger or smaller than they were. */
PHI__FN void phi__runs_advance(phi_runtime *rt) {
    while (rt->ready != NULL) {
        phi__run *run = rt->ready;
        phi__run_unready(run);
        phi__run_advance(run);
        if (phi__step_spent(rt) && rt->tape == NULL) return;
    }
}
