/* draft.c - the first entries of a run, and the responses of phi_prompt_with. */
#include "loop/inner_in.h"

static bool phi__draft_name(phi__run *run, const phi__run_order *order) {
    phi__agent *agent = run->agent;
    phi__buf name;
    uint32_t n;
    if (order->loop_id.len > 0)
        return phi__arena_str(phi__thread_room(agent->thread), order->loop_id, &run->loop_id);
    /* A history that comes from elsewhere, or that other agents' runs have extended, contains runs
       that are not counted yet. The parent run need not be in the log. */
    phi__sessions *sessions = &agent->rt->sessions;
    if (!phi__session_read(sessions, agent->line.session, agent->thread) ||
        (order->parent_loop_id.len > 0 &&
         !phi__session_saw(sessions, agent->line.session, order->parent_loop_id)))
        return false;
    phi__buf_init(&name, &agent->memory);
    do { /* tries the next number if the host has given this id to a run */
        n = phi__session_next(sessions, agent->line.session, agent->line.segment);
        phi__buf_clear(&name);
        phi__buf_add_str(&name, agent->line.session->id);
        phi__buf_char(&name, '.');
        phi__buf_add_str(&name, agent->line.segment);
        phi__buf_char(&name, '.');
        phi__buf_u64(&name, (uint64_t)n);
    } while (n != 0 && !name.failed && phi__loops_find(agent->thread, phi__buf_str(&name)) != NULL);
    bool done = n != 0 && !name.failed &&
                phi__arena_str(phi__thread_room(agent->thread), phi__buf_str(&name), &run->loop_id);
    phi__buf_free(&name);
    if (!done && n != 0) phi__session_undo(agent->line.session, agent->line.segment);
    return done;
}

/* Makes the run's info in the thread, because a lent thread outlives the agent. */
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
    bool ours = phi__str_starts(run->loop_id, session.at); /* a loop id of this session */
    if (ours) info->session_id = phi__str(run->loop_id.at, session.len);
    return phi__arena_str(arena, agent->agent_id, &info->agent_id) &&
           (ours || phi__arena_str(arena, session, &info->session_id)) &&
           phi__loops_info_prompt(agent->thread, arena, agent->system_prompt, info) &&
           phi__arena_str(arena, parent, &info->parent_loop_id) &&
           phi__arena_str(arena, phi_str_of(order->metadata), &info->metadata) &&
           phi__arena_str(arena, phi_str_of(tag), &info->tag);
}

/* Makes the entry of the run's start, and entries for the prompts. The prompts are in the thread's
   segment and have reserved room, but are logged only after the filters have passed them. */
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

PHI__FN bool phi__draft_run(phi__run *run, const phi__run_order *order) {
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
    /* A failed prompt keeps no memory, because hosts may retry often. The results that were added
       for orphaned calls stay. */
    if (thread->log.count == count) phi_arena_reset(room, mark);
    return false;
}

/* Copies the entries of the run's start and prompts. NULL: no memory. */
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
    /* The run's last answer. Only tool results and the message of a limit can follow it. */
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
    response->rest_in = thread->log.segments.current; /* holds the end of the run */
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
    phi__disown(&agent->memory, &response->id);
    phi__disown(&agent->memory, &response->query);
    phi__free(&agent->memory, response, sizeof *response);
}

PHI__FN const phi_format *phi__run_format_of(const phi__run *run) {
    return run->own.format != NULL ? &run->own.format->format : &run->agent->desc.format;
}

PHI__FN double phi__run_temperature(const phi__run *run) {
    if (run->own.has_temperature) return run->own.temperature;
    return run->agent->desc.options.has_temperature ? run->agent->desc.options.temperature : -1.0;
}
