/* agent.c - begins and ends runs, and returns facts about agents. */
#include "agent/agent_in.h"
#include "agent/agent_history.h"
#include "agent/agent_info.h"
#include "features/features_in.h"

PHI_API void phi_agent_free(phi_agent handle) {
    phi__agent *agent = phi__find_agent(handle);
    if (agent != NULL) phi__end_drop(agent);
}

/* ---- beginning a run ---- */

PHI__FN phi_status phi__agent_may_run(phi__agent *agent, const char *what) {
    phi_runtime *rt = agent->rt;
    if (rt->closing) return phi__error(rt, PHI_MISUSE, "%s: the runtime is closing", what);
    if (!agent->thread->of_agent)
        return phi__error(rt, PHI_MISUSE, "%s: an agent of phi_run is for that one run", what);
    if (agent->run != NULL)
        return phi__error(rt, PHI_BUSY, "Agent is already streaming. Use steer() or follow_up().");
    if (agent->held != NULL) return phi__error(rt, PHI_BUSY, "%s: %s", what, agent->held);
    if (!phi__events_reserve_free(agent))
        return phi__error(rt, PHI_BUSY, "%s: the last run's events were not popped", what);
    return PHI_OK;
}

/* Returns the part of a limit's words that follows "Out of memory". */
static const char *phi__agent_why(const char *words) { return words + sizeof "Out of memory" - 1; }

PHI__FN phi_status phi__agent_no_memory(phi__agent *agent, const char *what) {
    const phi_failure *why = agent->refused;
    return phi__error(agent->rt, PHI_NO_MEMORY, "%s: out of memory%s", what,
                      why != NULL ? phi__agent_why(why->message.at) : "");
}

PHI__FN void phi__agent_no_room(phi_runtime *rt, const char *what, size_t limit, uint64_t before) {
    if (limit != 0)
        (void)phi__error(rt, PHI_NO_MEMORY,
                         "%s: out of memory: the agent's memory.limit_bytes, %llu, are too few",
                         what, (unsigned long long)limit);
    else
        (void)phi__error(rt, PHI_NO_MEMORY, "%s: out of memory%s", what,
                         rt->memory.refusals > before ? phi__agent_why(rt->at_limit.words) : "");
}

static phi_status phi__agent_run(phi__agent *agent, const char *what, const phi_content *content,
                                 size_t count, phi_continuation kind) {
    phi__run_order order = PHI_ZERO;
    order.continuation = kind;
    phi_status status = phi__run_new_of(agent, order, content, count);
    return status == PHI_OK ? status : phi__agent_no_memory(agent, what);
}

/* ---- public: runs ---- */

PHI_API bool phi_agent_alive(phi_agent handle) {
    return handle.rt != NULL && phi__slots_state(&handle.rt->agents, handle.index, handle.gen) != 0;
}

PHI_API phi_status phi_prompt(phi_agent handle, const char *text) {
    phi__agent *agent = phi__find_agent(handle);
    if (handle.rt == NULL) return PHI_BAD_ARG;
    if (text == NULL || text[0] == '\0')
        return phi__error(handle.rt, PHI_BAD_ARG, "phi_prompt: the text is empty");
    if (agent == NULL) return phi__error(handle.rt, PHI_STALE, "phi_prompt: the agent is gone");
    phi_status status = phi__agent_may_run(agent, "phi_prompt");
    if (status != PHI_OK) return status;
    phi_content content = phi__input_text(phi_str_of(text));
    return phi__agent_run(agent, "phi_prompt", &content, 1, PHI_CONTINUATION_INITIAL);
}

PHI_API phi_status phi_continue(phi_agent handle, phi_continuation kind) {
    phi__agent *agent = phi__find_agent(handle);
    if (handle.rt == NULL || (unsigned)kind > (unsigned)PHI_CONTINUATION_COMPACTION)
        return PHI_BAD_ARG;
    if (agent == NULL) return phi__error(handle.rt, PHI_STALE, "phi_continue: the agent is gone");
    phi_status status = phi__agent_may_run(agent, "phi_continue");
    if (status == PHI_OK) status = phi__history_goes_on(handle.rt, agent->thread, "phi_continue");
    if (status != PHI_OK) return status;
    if (kind == PHI_CONTINUATION_INITIAL) kind = PHI_CONTINUATION_DEFAULT;
    return phi__agent_run(agent, "phi_continue", NULL, 0, kind);
}

PHI_API phi_status phi_compact(phi_agent handle) {
    phi__agent *agent = phi__find_agent(handle);
    bool gains = false;
    if (handle.rt == NULL) return PHI_BAD_ARG;
    if (agent == NULL) return phi__error(handle.rt, PHI_STALE, "phi_compact: the agent is gone");
    phi_status status = phi__agent_may_run(agent, "phi_compact");
    if (status != PHI_OK) return status;
    status = phi__compaction_gains(agent, &gains);
    phi__run_order order = PHI_ZERO;
    order.continuation = PHI_CONTINUATION_COMPACTION;
    order.no_turns = true;
    if (gains) status = phi__run_new(agent, &order);
    if (status == PHI_OK) return status;
    return phi__error(agent->rt, status, "phi_compact: out of memory");
}

PHI_API phi_status phi_send(phi_agent handle, const char *text) {
    phi__agent *agent = phi__find_agent(handle);
    if (handle.rt == NULL) return PHI_BAD_ARG;
    if (agent == NULL) return phi__error(handle.rt, PHI_STALE, "phi_send: the agent is gone");
    if (text == NULL || text[0] == '\0')
        return phi__error(handle.rt, PHI_BAD_ARG, "phi_send: the text is empty");
    phi_status status = phi__agent_may_run(agent, "phi_send");
    if (status != PHI_OK) return status;
    phi_content content = phi__input_text(phi_str_of(text));
    const phi_message *last = phi__history_last(agent->thread);
    return phi__agent_run(agent, "phi_send", &content, 1,
                          last == NULL || last->role == PHI_ROLE_ASSISTANT
                              ? PHI_CONTINUATION_INITIAL
                              : PHI_CONTINUATION_DEFAULT);
}

static phi_status phi__agent_end(phi_agent handle, uint32_t how) {
    if (handle.rt == NULL) return PHI_BAD_ARG;
    if (phi__slots_change(&handle.rt->agents, handle.index, handle.gen, 0, how) == 0)
        return PHI_STALE;
    phi__slots_mark(&handle.rt->agents, handle.index);
    phi__io_wake(handle.rt->io);
    return PHI_OK;
}

PHI_API phi_status phi_abort(phi_agent agent) { return phi__agent_end(agent, PHI__AGENT_ABORT); }
PHI_API phi_status phi_stop(phi_agent agent) { return phi__agent_end(agent, PHI__AGENT_STOP); }

/* Adds a note with the reason to the log before the run is aborted. False: no memory. */
static bool phi__agent_note_abort(phi__agent *agent, const char *reason) {
    phi__run *run = agent->run;
    phi_str kept;
    phi__buf note;
    if (!phi__own(&agent->memory, phi_str_of(reason), &kept)) return false;
    phi__buf_init(&note, &agent->memory);
    phi__buf_char(&note, '{');
    phi__json_write_key(&note, PHI__LIT("loop_id"));
    phi__json_write_str(&note, run->loop_id);
    phi__json_write_key(&note, PHI__LIT("reason"));
    phi__json_write_str(&note, phi_str_of(reason));
    phi__buf_char(&note, '}');
    bool done = reason == NULL ||
                (!note.failed &&
                 phi__note_add(agent->thread, PHI_NOTE_ABORT, phi__buf_str(&note), NULL) == PHI_OK);
    phi__buf_free(&note);
    phi__disown(&agent->memory, done ? &run->end.reason : &kept);
    if (done) run->end.reason = kept;
    return done;
}

PHI_API phi_status phi_abort_run(phi_agent handle, const char *loop_id, const char *reason) {
    phi__agent *agent = phi__find_agent(handle);
    const phi__run *run = agent != NULL ? agent->run : NULL;
    if (handle.rt == NULL) return PHI_BAD_ARG;
    if (agent == NULL) return phi__error(handle.rt, PHI_STALE, "phi_abort_run: the agent is gone");
    if (run == NULL || run->end.over || run->state >= PHI__RUN_CLOSE ||
        (loop_id != NULL && !phi__str_is(run->loop_id, loop_id)))
        return phi__error(handle.rt, PHI_NOT_FOUND, "phi_abort_run: no run \"%.160s\" goes on",
                          loop_id != NULL ? loop_id : "");
    if (!phi__agent_note_abort(agent, reason))
        return phi__error(handle.rt, PHI_NO_MEMORY, "phi_abort_run: out of memory");
    return phi_abort(handle);
}

/* Returns the raised limit. A sum that overflows means "no limit". */
static uint32_t phi__agent_more(uint32_t limit, uint32_t by) {
    return by >= PHI_UNLIMITED - limit ? PHI_UNLIMITED : limit + by;
}

static uint64_t phi__agent_more64(uint64_t limit, uint64_t by) {
    return by >= UINT64_MAX - limit ? UINT64_MAX : limit + by;
}

PHI_API phi_status phi_budget_raise(phi_agent handle, const phi_raise *by) {
    phi__agent *agent = phi__find_agent(handle);
    if (handle.rt == NULL || by == NULL || !(by->cost >= 0)) return PHI_BAD_ARG;
    if (agent == NULL) return PHI_STALE;
    const phi_budget *budget = &agent->budget.limits;
    if (agent->run == NULL && budget->max_tokens == 0 && !(budget->max_cost > 0) &&
        budget->max_requests == 0)
        return phi__error(handle.rt, PHI_MISUSE,
                          "phi_budget_raise: there is neither a run nor a budget");
    if (agent->budget.limits.max_tokens != 0)
        agent->budget.limits.max_tokens =
            phi__agent_more64(agent->budget.limits.max_tokens, by->tokens);
    if (agent->budget.limits.max_cost > 0) agent->budget.limits.max_cost += by->cost;
    if (agent->budget.limits.max_requests != 0)
        agent->budget.limits.max_requests =
            phi__agent_more64(agent->budget.limits.max_requests, by->requests);
    if (agent->run != NULL) {
        phi_limits *limits = &agent->run->limits;
        if (limits->max_turns != PHI_UNLIMITED)
            limits->max_turns = phi__agent_more(limits->max_turns, by->turns);
        limits->max_tokens = phi__agent_more64(limits->max_tokens, by->tokens);
        if (limits->max_duration_ms != PHI_UNLIMITED)
            limits->max_duration_ms = phi__agent_more(limits->max_duration_ms, by->duration_ms);
        if (limits->max_cost > 0) limits->max_cost += by->cost;
    }
    phi__pause_wake_all(handle.rt);
    return PHI_OK;
}

/* ---- public: the log ---- */

PHI_API phi_thread *phi_agent_thread(phi_agent handle) {
    phi__agent *agent = phi__find_agent(handle);
    return agent != NULL ? agent->thread : NULL;
}

PHI_API phi_status phi_agent_rewrite(phi_agent handle, const phi_rewrite *rewrite) {
    phi__agent *agent = phi__find_agent(handle);
    if (handle.rt == NULL) return PHI_BAD_ARG;
    if (agent == NULL) return PHI_STALE;
    return rewrite != NULL ? phi__deferred_rewrite(agent, rewrite, false)
                           : phi__deferred_withdraw(agent);
}

/* ---- public: changing an agent ---- */

/* Gives the agent a new session. A log in a store is kept, and the agent begins a fresh lane of it.
   Everything that may fail comes before the first change. False: no memory. (Between two runs,
   phi_thread_switch fails for no other reason.) */
static bool phi__agent_renew_session(phi__agent *agent) {
    phi__sessions *sessions = &agent->rt->sessions;
    char made[PHI__UUID_SIZE];
    phi__take_random_id(agent, made);
    if (agent->thread->journal == NULL) return phi__line_renew(agent, phi_str_of(made));
    phi__session *session = phi__session_take(sessions, phi_str_of(made));
    if (session == NULL || phi_thread_switch(agent->thread, NULL) != PHI_OK) {
        phi__session_drop(sessions, session);
        return false;
    }
    phi__line_begin(agent, session, phi__str(NULL, 0));
    return true;
}

PHI_API phi_status phi_agent_reset(phi_agent handle) {
    phi__agent *agent = phi__find_agent(handle);
    phi_thread before, *old = NULL;
    if (handle.rt == NULL) return PHI_BAD_ARG;
    if (agent == NULL) return PHI_STALE;
    if (!agent->thread->of_agent)
        return phi__error(handle.rt, PHI_MISUSE, "phi_agent_reset: the thread is not its own");
    phi_status status = phi__find_idle(agent, "phi_agent_reset");
    if (status != PHI_OK) return status;
    if (!phi__agent_renew_session(agent))
        return phi__error(handle.rt, PHI_NO_MEMORY, "phi_agent_reset: out of memory");
    phi__input_free_queues(agent); /* injected messages were freed with the last run */
    if (agent->thread->journal == NULL) {
        phi__exchange_begin(agent, &before);
        old = &before;
    }
    if (phi__exchange_done(agent, old, false)) phi__stored_evict_now(agent);
    return PHI_OK;
}

PHI_API bool phi_agent_takes(phi_agent handle, phi_content_kind kind, phi_str mime_type) {
    const phi__agent *agent = phi__find_agent(handle);
    phi_content probe = PHI_ZERO;
    if (agent == NULL) return false;
    probe.kind = kind;
    probe.mime_type = mime_type;
    if (kind == PHI_CONTENT_TEXT || (kind == PHI_CONTENT_DOCUMENT && mime_type.len == 0))
        return true;
    if (kind != PHI_CONTENT_IMAGE && (agent->codec == NULL || agent->provider != NULL))
        return false;
    probe.data = PHI__LIT("AA==");
    return phi__render_way_of(agent->codec, &agent->desc.model, &probe) == PHI__RENDER_BLOCK;
}

/* ---- public: facts about an agent ---- */

PHI_API phi_agent_info phi_agent_get_info(phi_agent handle) {
    const phi__agent *agent = phi__find_agent(handle);
    phi_agent_info info = PHI_ZERO;
    info.agent_id = info.session_id = info.thread_id = info.model_id = info.loop_id =
        info.deferred_op_id = phi__str("", 0);
    if (agent == NULL) return info;
    const phi__journal *journal = agent->thread->journal;
    info.agent_id = agent->agent_id;
    info.session_id = agent->line.session->id;
    info.model_id = phi_str_of(agent->desc.model.id);
    if (journal != NULL) info.thread_id = phi__str(journal->id, journal->id_len);
    if (agent->line.last_loop_id.at != NULL) info.loop_id = agent->line.last_loop_id;
    info.steering = agent->queues.steering.count;
    info.follow_ups = agent->queues.follow_ups.count;
    info.injected = agent->queues.injected.count;
    info.queued = info.steering + info.follow_ups + info.injected;
    info.running = agent->run != NULL;
    phi__pending_of(agent, &info.waiting);
    info.usage = agent->spent.usage;
    info.cost = agent->spent.cost;
    /* Uses doubles, since the sum of three counts may overflow. */
    const phi_usage *usage = &info.usage;
    double read = (double)usage->cache_read;
    double all = (double)usage->input + read + (double)usage->cache_write;
    info.cache_hit_rate = all > 0 ? read / all : 0;
    info.run_usage = agent->spent.run_usage;
    info.run_cost = agent->spent.run_cost;
    info.spending = agent->budget.seen;
    if (agent->projected != NULL) info.projection = agent->projected->last;
    if (agent->rt->features.deferred_fn != NULL)
        info.deferred_op_id = agent->rt->features.deferred_fn(agent);
    if (agent->rt->features.cache_stats_fn != NULL)
        agent->rt->features.cache_stats_fn(agent, &info.cache);
    info.memory_used = agent->memory.used_bytes;
    info.memory_peak = agent->memory.peak_bytes;
    return info;
}
