/* turn.c - all states of a run, in their order: the opening; each turn, which consists of the
   limits, the request, the attempts, the answer, the tools (tools.c) and the turn's end; the
   closing.

   Each state is a function that does a bounded amount of work and returns the next state, or sets
   *wait. Other outcomes, such as a lack of memory or an ended attempt, are handled at the end of
   the file. No state calls another.
   The order (docs/conformance.md, list B): before_loop, AGENT_START, filters, steering. Then for
   each turn: filters of polled input, limits, before_turn, filters of input injected meanwhile,
   TURN_START, the messages, the model call and tools, TURN_END, after_turn, steering, follow-ups.
   Finally AGENT_END and after_loop. */
#include "loop/inner_in.h"

#include <stdio.h>

/* ---- shared by several states ---- */

enum { PHI__REASON = 160 }; /* size of a limit's message */

static bool phi__turn_unwanted(const phi__run *run) {
    return run->end.cancelled || run->end.stopping;
}

/* Emits the missing events of the run's prompts: after the first TURN_START, or before a run ends
   without a turn. A message that is not in memory any more gets no event. */
static bool phi__turn_emit_prompts(phi__run *run) {
    const phi_thread *thread = run->agent->thread;
    while (run->said.emitted_messages < thread->messages.count) {
        const phi__entry *entry = phi__lane_message(thread, run->said.emitted_messages);
        if (entry != NULL &&
            !phi__events_message(run, entry->message, PHI_INPUT_PROMPT, phi__str(NULL, 0)))
            return false;
        run->said.emitted_messages++;
    }
    return true;
}

/* Ends a run between two turns. */
static phi__state phi__turn_leave(phi__run *run, phi_status status) {
    phi__decision_drop(&run->decision);
    phi__filter_end(run);
    phi__input_poll_end(run);
    phi__input_return(run);
    phi__budget_release(run);
    phi__pause_end(run);
    run->status = status;
    return phi__turn_emit_prompts(run) ? PHI__RUN_CLOSE : PHI__RUN_LOST;
}

/* ---- reserving budget for the next model call, or waiting for it ---- */

static void phi__pause_timer(phi__timer *timer) {
    phi__run *run = PHI__OWNER(timer, phi__run, timer);
    run->pause.over = true;
    phi__schedule_wake(run);
}

/* Reserves the most that the call may cost: its whole input and its largest output. */
PHI__FN bool phi__reserve_call(phi__run *run, uint64_t more, char *reason, size_t size) {
    const phi__agent *agent = run->agent;
    const phi_cost *rates = &agent->desc.model.cost;
    uint64_t out =
        agent->desc.max_tokens != 0 ? agent->desc.max_tokens : agent->desc.model.max_tokens;
    double rate = rates->cache_write > rates->input ? rates->cache_write : rates->input;
    if (!phi__budget_limited(agent)) return true;
    const phi_policy *policy = phi__projection_policy(agent);
    uint64_t in = phi__projection_view_tokens(agent) + phi__projection_overhead(run) + more;
    for (const phi__input *input = run->poll.pending.head; input != NULL; input = input->next)
        in += phi_tokens_of_message(phi__projection_counter(agent), &input->message);
    if (policy != NULL && in > phi__policy_filled(policy).max_input_tokens)
        in = phi__policy_filled(policy).max_input_tokens;
    phi_spending wanted = PHI_ZERO;
    wanted.tokens = in + out;
    wanted.cost = (double)in / 1e6 * rate + (double)out / 1e6 * rates->output;
    wanted.requests = 1;
    return phi__limits_line_reserve(run, &wanted, reason, size);
}

/* Does nothing if the run pauses already. False: no memory. */
static bool phi__pause_begin(phi__run *run) {
    phi_runtime *rt = run->agent->rt;
    uint64_t after =
        run->own.waits_ms != PHI_UNLIMITED ? (uint64_t)run->own.waits_ms * 1000 : UINT64_MAX;
    if (run->pause.on) return true;
    run->pause.on = true;
    phi__list_push_first(&rt->paused, &run->pause.link);
    run->timer.fire = phi__pause_timer;
    return phi__io_deadline_set(rt->io, &run->timer, after) == PHI_OK;
}

/* True if the host knows this limit and its payer. The figures of the limit, in parentheses, may
   have changed. */
static bool phi__pause_reported(const phi__pause *pause, const char *reason) {
    phi_str before = phi__buf_str(&pause->reason);
    size_t words = strcspn(reason, "(");
    return pause->on && before.len >= words && memcmp(before.at, reason, words) == 0 &&
           pause->reported.index == pause->payer.index && pause->reported.gen == pause->payer.gen;
}

PHI__FN phi__state phi__reserve_pause(phi__run *run, const char *reason, bool *wait) {
    phi__pause *pause = &run->pause;
    if (!run->limits.pause || pause->over) return PHI__RUN_ON;
    *wait = true;
    phi__budget_release(run); /* other runs may use the budget meanwhile */
    bool reported = phi__pause_reported(pause, reason);
    phi__buf_clear(&pause->reason);
    phi__buf_text(&pause->reason, reason);
    if (reported) return run->state;
    pause->reported = pause->payer;
    phi_event event = PHI_ZERO;
    event.kind = PHI_EV_PAUSED;
    event.text = phi_str_of(reason);
    if (!pause->reason.failed && phi__pause_begin(run) && phi__events_emit(run->agent, &event))
        return run->state;
    *wait = false;
    return PHI__RUN_LOST;
}

/* Fails the model call of a turn that has begun. */
static phi__state phi__reserve_refuse(phi__run *run, const char *reason) {
    phi_arena *room = phi__thread_room(run->agent->thread);
    phi_failure *failure = (phi_failure *)phi_arena_alloc(room, sizeof *failure);
    phi_str words;
    if (failure == NULL || !phi__arena_str(room, phi_str_of(reason), &words)) return PHI__RUN_LOST;
    *failure = phi__failure_of(PHI_FAILURE_QUOTA, false, words.at);
    return phi__attempt_refuse(run, failure);
}

/* Logs the reason as a user message outside any turn, and ends the run. */
static phi__state phi__turn_stop(phi__run *run, const char *reason) {
    phi__texts_args args = PHI_ZERO;
    args.name = phi_str_of(reason);
    phi_content content = phi__input_text(phi__str(NULL, 0));
    phi_message message = PHI_ZERO;
    if (!phi__texts_make(&run->arena, run->agent->desc.texts, PHI_TEXT_STOPPED, &args,
                         &content.text))
        return PHI__RUN_LOST;
    message.role = PHI_ROLE_USER;
    message.content = &content;
    message.content_count = 1;
    phi__events_stamp(run, &message);
    if (!phi__own(&run->agent->memory, args.name, &run->end.limit)) return PHI__RUN_LOST;
    phi_message *kept = phi__append_keep(run->agent->thread, &message);
    if (kept == NULL || !phi__turn_emit_prompts(run) || !phi__events_log(run, kept))
        return PHI__RUN_LOST;
    run->said.emitted_messages = run->agent->thread->messages.count;
    return phi__turn_leave(run, PHI_LIMIT);
}

static phi__state phi__turn_at_limit(phi__run *run, const char *reason, bool *wait) {
    phi__state next = phi__reserve_pause(run, reason, wait);
    if (next == PHI__RUN_ON) return phi__turn_stop(run, reason);
    return next == PHI__RUN_LOST ? next : PHI__RUN_TOP;
}

/* ---- the run opens ---- */

static phi__state phi__turn_before_loop(phi__run *run, bool *wait) {
    if (!phi__forget_begin(run, wait)) return PHI__RUN_LOST;
    if (run->agent->slot == NULL) return PHI__RUN_OVER;
    if (*wait) return PHI__RUN_BEFORE_LOOP;
    if (phi__turn_unwanted(run) && run->decision.state == PHI__DECISION_NONE) return PHI__RUN_OPEN;
    if (!phi__hooks_wanted(run->agent, PHI_HOOK_BEFORE_LOOP)) return PHI__RUN_OPEN;
    phi_hook hook = phi__hooks_make(run, PHI_HOOK_BEFORE_LOOP);
    phi__hooked hooked = phi__hooks_run(run, &hook);
    if (hooked == PHI__HOOK_WAIT && phi__turn_unwanted(run)) {
        run->status = PHI_CANCELLED;
        hooked = PHI__HOOK_DENY;
    } else if (hooked == PHI__HOOK_DENY)
        run->status = PHI_DENIED;
    if (hooked == PHI__HOOK_DENY) {
        run->said.prompts = NULL;
        run->start.silent = run->start.emitted = true;
    }
    return phi__hooks_next(run, hooked, PHI__RUN_BEFORE_LOOP, PHI__RUN_OPEN, PHI__RUN_CLOSE, wait);
}

static phi__state phi__turn_open(phi__run *run) {
    if (!phi__run_emit_start(run)) return PHI__RUN_LOST;
    if (!run->no_turns) return PHI__RUN_FILTER;
    phi__state next = phi__feature_run(run, PHI__POINT_ERRAND);
    return next != PHI__RUN_ON ? next : PHI__RUN_CLOSE;
}

static phi__state phi__turn_filter(phi__run *run, bool *wait) {
    phi__hooked hooked = phi__filter_prompts(run);
    if (hooked == PHI__HOOK_WAIT && phi__turn_unwanted(run)) {
        /* The run was ended while a filter waited. Prompts that did not pass the filter are not
           stored. */
        bool emitted = true;
        for (size_t i = 0; i < run->said.prompt_count && emitted; i++) {
            bool failed = false;
            phi_event event = PHI_ZERO;
            event.kind = PHI_EV_INPUT_DROPPED;
            event.input = PHI_INPUT_PROMPT;
            event.text = phi_message_text(run->said.prompts[i].message, "\n", &run->arena, &failed);
            event.source = PHI__LIT("The run was ended before a filter had decided");
            emitted = !failed && phi__events_emit(run->agent, &event);
        }
        run->said.prompts = NULL;
        if (!emitted) return PHI__RUN_LOST;
        return phi__turn_leave(run, PHI_CANCELLED);
    }
    if (hooked == PHI__HOOK_DENY) {
        run->said.prompts = NULL;
        run->start.silent = run->start.emitted = true;
        run->status = PHI_REJECTED;
    } else if (hooked == PHI__HOOK_ALLOW && run->said.prompts != NULL) {
        /* the host's notes may have used the reserved entries */
        if (!phi__append_reserve(run->agent->thread, run->said.prompt_count,
                                 run->said.prompt_count))
            return PHI__RUN_LOST;
        phi__append_attach(run->agent->thread, run->said.prompts, run->said.prompt_count);
        run->said.prompts = NULL;
    }
    if (hooked == PHI__HOOK_ALLOW) return PHI__RUN_POLL;
    return phi__hooks_next(run, hooked, PHI__RUN_FILTER, PHI__RUN_POLL, PHI__RUN_CLOSE, wait);
}

static phi__state phi__turn_poll(phi__run *run, bool *wait) {
    if (phi__turn_unwanted(run)) return phi__turn_leave(run, PHI_CANCELLED);
    phi__hooked hooked = phi__input_poll(run, PHI_INPUT_STEERING);
    if (hooked == PHI__HOOK_ALLOW) return PHI__RUN_TOP;
    return phi__hooks_next(run, hooked, PHI__RUN_POLL, PHI__RUN_TOP, PHI__RUN_TOP, wait);
}

/* ---- a turn begins ---- */

/* Filters the pending input in the state `here`. RUN_ON: all input has passed the filters. */
static phi__state phi__turn_filter_pending(phi__run *run, phi__state here, bool *wait) {
    if (run->poll.pending.head == NULL) return PHI__RUN_ON;
    phi__hooked hooked = phi__filter_pending(run);
    if (hooked == PHI__HOOK_ALLOW) return PHI__RUN_ON;
    if (hooked == PHI__HOOK_DENY) return phi__turn_leave(run, PHI_REJECTED);
    return phi__hooks_next(run, hooked, here, here, here, wait);
}

static phi__state phi__turn_top(phi__run *run, bool *wait) {
    char reason[PHI__REASON];
    if (run->end.starved) return PHI__RUN_LOST;
    if (phi__turn_unwanted(run)) return phi__turn_leave(run, PHI_CANCELLED);
    if (run->agent->sources != NULL && run->own.toolset == NULL &&
        run->agent->rt->features.sources->refresh(run->agent, false) != PHI_OK)
        return PHI__RUN_LOST;
    if (run->agent->queues.injected.head != NULL) phi__input_take_injected(run);
    phi__state next = phi__turn_filter_pending(run, PHI__RUN_TOP, wait);
    if (next != PHI__RUN_ON) return next;
    if (phi__limits_reached(run, reason, sizeof reason) ||
        !phi__reserve_call(run, 0, reason, sizeof reason))
        return phi__turn_at_limit(run, reason, wait);
    if (!run->pause.on) return PHI__RUN_BEFORE_TURN;
    phi__pause_end(run);
    /* input that arrived during the pause is sent with this model call */
    return run->poll.pending.head == NULL ? PHI__RUN_POLL : PHI__RUN_BEFORE_TURN;
}

static phi__state phi__turn_before_turn(phi__run *run, bool *wait) {
    if (phi__turn_unwanted(run)) return phi__turn_leave(run, PHI_CANCELLED);
    if (!phi__hooks_wanted(run->agent, PHI_HOOK_BEFORE_TURN)) return PHI__RUN_TURN;
    phi_hook hook = phi__hooks_make(run, PHI_HOOK_BEFORE_TURN);
    phi__hooked hooked = phi__hooks_run(run, &hook);
    if (hooked == PHI__HOOK_DENY) return phi__turn_leave(run, PHI_DENIED);
    return phi__hooks_next(run, hooked, PHI__RUN_BEFORE_TURN, PHI__RUN_TURN, PHI__RUN_TURN, wait);
}

/* Continues with the model call, unless a feature has something to do first. */
static phi__state phi__turn_call(phi__run *run) {
    phi__state next = phi__feature_run(run, PHI__POINT_TURN_BEGUN);
    return next != PHI__RUN_ON ? next : PHI__RUN_TRANSFORM;
}

static phi__state phi__turn_begin(phi__run *run, bool *wait) {
    if (run->turn.open) {
        /* The turn has already begun: in a restored run, or for another model. In a restored run
           nothing is reserved yet. */
        char reason[PHI__REASON];
        phi__state next = PHI__RUN_TURN_END;
        if (!phi__turn_unwanted(run)) {
            if (!phi__limits_reached(run, reason, sizeof reason) &&
                phi__reserve_call(run, 0, reason, sizeof reason)) {
                phi__pause_end(run);
                return phi__turn_call(run);
            }
            next = phi__reserve_pause(run, reason, wait);
            if (next == PHI__RUN_ON) return phi__reserve_refuse(run, reason);
        }
        if (!*wait) phi__pause_end(run);
        return next;
    }
    if (run->end.cancelled) return phi__turn_leave(run, PHI_CANCELLED);
    /* A message that was injected after the limits were checked, for example while BEFORE_TURN
       waited, belongs to this turn. It is filtered here, and added to the turn's reservation. */
    if (run->agent->queues.injected.head != NULL) {
        char reason[PHI__REASON];
        phi__input_take_injected(run);
        if (!phi__reserve_call(run, 0, reason, sizeof reason))
            return phi__turn_at_limit(run, reason, wait);
    }
    phi__state next = phi__turn_filter_pending(run, PHI__RUN_TURN, wait);
    if (*wait && phi__turn_unwanted(run)) {
        *wait = false;
        return phi__turn_leave(run, PHI_CANCELLED);
    }
    if (next != PHI__RUN_ON) return next;
    if (!phi__thread_roll(run->agent->thread, &run->loop_id)) return PHI__RUN_LOST;
    phi_event event = PHI_ZERO;
    event.kind = PHI_EV_TURN_START;
    event.trigger = run->turn.index == 0 ? run->start.trigger : PHI_TRIGGER_CONTINUATION;
    /* Clears the fields that belong to one turn. */
    phi__attempt_clear(run);
    phi__charge_clear(run);
    run->reply = NULL;
    run->turn.steered = false;
    phi__round_clear(run);
    run->listed.messages = NULL;
    phi__projection_clear(run);
    if (!phi__events_emit(run->agent, &event)) return PHI__RUN_LOST;
    run->turn.open = true; /* from now on TURN_END will be emitted */
    phi__entry entry = phi__events_entry(run, PHI_ENTRY_TURN_START);
    entry.trigger = event.trigger;
    if (!phi__append(run->agent->thread, &entry, 1) || !phi__turn_emit_prompts(run) ||
        (run->poll.pending.head != NULL && !phi__input_deliver(run)))
        return PHI__RUN_LOST;
    return phi__turn_call(run);
}

/* ---- the turn's request ---- */

static phi__state phi__ask_list_hook(phi__run *run, phi_hook_point point, phi__state here,
                                     phi__state next, bool *wait) {
    if (run->end.cancelled) {
        phi__decision_drop(&run->decision);
        return PHI__RUN_TURN_END;
    }
    if (!phi__hooks_wanted(run->agent, point)) return next;
    if (run->listed.messages == NULL && !phi__ask_list_make(run)) return PHI__RUN_LOST;
    phi_hook hook = phi__hooks_make(run, point);
    hook.messages = run->listed.messages;
    hook.message_count = run->listed.count;
    phi__hooked hooked = phi__hooks_run(run, &hook);
    if (hooked == PHI__HOOK_ALLOW && (hook.messages != NULL || hook.message_count == 0) &&
        !phi__ask_list_take(run, &hook))
        hooked = PHI__HOOK_LOST;
    return phi__hooks_next(run, hooked, here, next, next, wait);
}

static phi__state phi__ask_transform(phi__run *run, bool *wait) {
    phi__state next;
    if (!run->end.cancelled && !phi__projection_ensure(run, &next)) return next;
    next = phi__hooks_wanted(run->agent, PHI_HOOK_CONVERT_TO_LLM) ? PHI__RUN_CONVERT
                                                                  : PHI__RUN_REQUEST;
    return phi__ask_list_hook(run, PHI_HOOK_TRANSFORM_CONTEXT, PHI__RUN_TRANSFORM, next, wait);
}

static phi__state phi__ask_convert(phi__run *run, bool *wait) {
    return phi__ask_list_hook(run, PHI_HOOK_CONVERT_TO_LLM, PHI__RUN_CONVERT, PHI__RUN_REQUEST,
                              wait);
}

enum {
    PHI__MODEL_CALL_SLICE = 4096, /* bytes hashed between two clock readings */
    /* messages, or KiB of them, rendered between two clock readings */
    PHI__MODEL_CALL_UNITS = 8
};

/* The protocol of a host's provider has one name. A run with its own tools gets no raw tools. */
PHI__FN bool phi__ask_spec(phi__agent *agent, phi_arena *arena, phi__request_spec *spec) {
    const char *own[PHI__CODEC_NAMES] = {NULL, NULL, NULL};
    own[0] = agent->desc.model.protocol;
    bool named = agent->run != NULL && agent->run->own.toolset != NULL;
    phi__toolset_change change = PHI_ZERO;
    memset(spec, 0, sizeof *spec);
    spec->model = &agent->desc.model;
    spec->system_prompt = agent->system_prompt;
    spec->tool_choice = agent->desc.tool_options.choice;
    spec->thinking = agent->desc.thinking;
    spec->thinking_from = agent->prior.thinking.barred;
    spec->max_tokens = agent->desc.max_tokens;
    spec->temperature = -1.0;
    spec->cache = agent->desc.cache;
    spec->format = agent->desc.format;
    spec->session_id = agent->line.session->id;
    spec->options = agent->desc.options;
    spec->texts = agent->desc.texts;
    spec->rewritten = agent->thread->ops.last != NULL;
    if (agent->rt->features.deferral != NULL &&
        !agent->rt->features.deferral->change(agent, arena, &change, &spec->system_prompt))
        return false;
    return phi__toolset_offer(agent->tools, &change, agent->desc.tool_options.raw_tools,
                              named ? 0 : agent->desc.tool_options.raw_tool_count,
                              agent->provider == NULL ? agent->codec->names : own, arena,
                              &spec->tools, &spec->tool_count);
}

/* Fills in the request. Returns PHI_BAD_ARG with a message if the model cannot give an answer in
   the wanted format. */
static phi_status phi__ask_fill_spec(phi__run *run, char *words, size_t words_size) {
    phi__agent *agent = run->agent;
    phi__toolset *set = agent->tools;
    phi__request_spec *spec = &run->attempt.spec;
    words[0] = '\0';
    if (!phi__strict_tools_adapt(set->views, set->count, agent->codec, &agent->desc.model,
                                 &set->arena) ||
        !phi__ask_spec(agent, &run->arena, spec))
        return PHI_NO_MEMORY;
    spec->temperature = phi__run_temperature(run);
    spec->format = *phi__run_format_of(run);
    /* join the extra members of the model, the agent and the run */
    const char *of_model = agent->desc.model.extra, *of_agent = agent->desc.options.extra;
    if ((of_model != NULL || of_agent != NULL || run->own.extra.len > 0) &&
        (!phi__extra_join(&run->arena, phi_str_of(of_model), phi_str_of(of_agent), &spec->extra) ||
         !phi__extra_join(&run->arena, spec->extra, run->own.extra, &spec->extra)))
        return PHI_NO_MEMORY;
    phi_status status = phi__ask_items(run, &spec->items, &spec->item_count);
    spec->rewritten =
        spec->rewritten || run->listed.messages != NULL || phi__thinking_left_out(run);
    if (status == PHI_OK && !phi__head_apply(run)) status = PHI_NO_MEMORY;
    spec->plain = run->listed.messages == NULL && !agent->thread->fold.opaque;
    if (status == PHI_OK && spec->format.kind != PHI_FORMAT_TEXT &&
        agent->provider == NULL) /* a host's provider gets the format unchanged */
        status =
            agent->rt->features.formats->apply(agent->codec, spec, &run->arena, words, words_size);
    if (status == PHI_OK)
        status = phi__strict_tools_refused(agent->codec, spec, &agent->memory, words, words_size);
    return status;
}

/* Ends an attempt before anything was sent. words: the message of the codec or the format; if
   empty, the message is made from `what` and the status. */
static phi__state phi__ask_refuse(phi__run *run, const char *words, const char *what,
                                  phi_status status) {
    char made[120];
    if (status == PHI_NO_MEMORY) return PHI__RUN_LOST;
    (void)snprintf(made, sizeof made, "%s: %s", what, phi_status_text(status));
    return phi__attempt_fault(run, PHI_FAILURE_INVALID_REQUEST, false, status,
                              words[0] != '\0' ? words : made);
}

/* Returns the state after the request and the key are ready. */
static phi__state phi__ask_keyed(const phi__run *run) {
    return run->agent->codec->sign != NULL ? PHI__RUN_SIGN : PHI__RUN_SEND;
}

/* True if anything is left to send after the hooks and the policy. */
static bool phi__ask_any(const phi__run *run) {
    if (run->listed.messages == NULL)
        return run->projection.items == NULL || run->projection.count > 0;
    for (size_t i = 0; i < run->listed.count; i++)
        if (run->listed.messages[i]->role != PHI_ROLE_EXTENSION) return true;
    return false;
}

static phi__state phi__ask_request(phi__run *run) {
    phi__agent *agent = run->agent;
    phi__attempt *a = &run->attempt;
    phi_status status;
    if (run->end.cancelled) return PHI__RUN_TURN_END;
    if (!a->encoding) {
        char words[400];
        if (!phi__ask_any(run))
            return phi__attempt_fault(run, PHI_FAILURE_INVALID_REQUEST, false, PHI_BAD_ARG,
                                      run->listed.messages != NULL
                                          ? "the hooks have left nothing to be sent"
                                          : "the policy has left nothing to be sent");
        status = phi__ask_fill_spec(run, words, sizeof words);
        if (status != PHI_OK || words[0] != '\0')
            return phi__ask_refuse(run, words, "the translation has failed", status);
        run->slices = false;
        phi__state outcome = phi__feature_run(run, PHI__POINT_REQUEST);
        if (outcome != PHI__RUN_ON) return outcome;
        a->hash = NULL;
        a->keyed = NULL;
        a->decoder = NULL; /* the old decoder was in the last turn's memory */
        if (agent->provider != NULL) {
            status = phi__provider_request(run);
            if (status == PHI_OK && !agent->in_process) status = phi__provider_encode(run);
            if (status == PHI_OK) return PHI__RUN_CREDENTIAL;
            return phi__ask_refuse(run, "", "the provider has refused the request", status);
        }
        phi__encoder_begin(&a->encoder, agent->codec, &a->spec, &run->arena);
        a->encoding = true;
    }
    status = phi__encoder_advance(&a->encoder, PHI__MODEL_CALL_UNITS);
    if (status == PHI_BUSY) return PHI__RUN_REQUEST;
    phi__encoder_free(&a->encoder);
    a->encoding = false;
    if (status == PHI_BAD_ARG) return phi__ask_refuse(run, a->encoder.refused, "", status);
    if (status != PHI_OK || !phi__thinking_look(run)) return PHI__RUN_LOST;
    return phi__hooks_wanted(run->agent, PHI_HOOK_CREDENTIAL) ? PHI__RUN_CREDENTIAL
                                                              : phi__ask_keyed(run);
}

/* Makes the request's address again with another key. The body stays. */
static phi_status phi__ask_key(phi__run *run, phi_str key) {
    phi_str copy;
    if (run->attempt.keyed == NULL)
        run->attempt.keyed = (phi_model *)phi_arena_alloc(&run->arena, sizeof *run->attempt.keyed);
    if (run->attempt.keyed == NULL || !phi__arena_str(&run->arena, key, &copy))
        return PHI_NO_MEMORY;
    *run->attempt.keyed = run->agent->desc.model;
    run->attempt.keyed->api_key = copy.at;
    run->attempt.spec.model = run->attempt.keyed;
    if (run->agent->provider != NULL)
        return run->agent->in_process ? PHI_OK : phi__provider_encode(run);
    bool done = phi__encoder_address(&run->attempt.encoder);
    phi__encoder_free(&run->attempt.encoder); /* frees the scratch buffer */
    return done ? PHI_OK : PHI_NO_MEMORY;
}

static phi__state phi__ask_credential(phi__run *run, bool *wait) {
    if (run->end.cancelled) {
        phi__decision_drop(&run->decision);
        return PHI__RUN_TURN_END;
    }
    if (!phi__hooks_wanted(run->agent, PHI_HOOK_CREDENTIAL)) return phi__ask_keyed(run);
    phi_hook hook = phi__hooks_make(run, PHI_HOOK_CREDENTIAL);
    hook.is_error = run->attempt.refused;
    hook.model = &run->agent->desc.model;
    phi__hooked hooked = phi__hooks_run(run, &hook);
    if (hooked == PHI__HOOK_WAIT || hooked == PHI__HOOK_GONE || hooked == PHI__HOOK_LOST)
        return phi__hooks_next(run, hooked, PHI__RUN_CREDENTIAL, phi__ask_keyed(run),
                               PHI__RUN_TURN_END, wait);
    run->attempt.refused = false;
    phi_str key = phi__str_trim(phi__buf_str(&run->decision.reply));
    if (hooked == PHI__HOOK_DENY) {
        phi_failure failure = phi__failure_of(PHI_FAILURE_AUTH, false, "there is no key");
        if (key.len > 0) failure.message = key;
        return phi__attempt_failed(run, &failure, PHI_DENIED);
    }
    if (key.len == 0 && run->attempt.keyed != NULL) /* the last attempt had a key from the hook */
        key = phi_str_of(run->agent->desc.model.api_key);
    else if (key.len == 0)
        return phi__ask_keyed(run);
    phi_status status = phi__ask_key(run, key);
    return status == PHI_OK
               ? PHI__RUN_SIGN
               : phi__ask_refuse(run, "", "the provider has refused the request", status);
}

/* The hash of the body, in progress or done. All attempts share it. */
typedef struct phi__body_hash {
    phi__sha256 sha;
    uint64_t at;
    bool done;
    phi__signing signing;
} phi__body_hash;

/* Hashes the body in slices, and signs each attempt. */
static phi__state phi__ask_sign(phi__run *run) {
    phi_runtime *rt = run->agent->rt;
    phi__body_hash *hash = run->attempt.hash;
    if (run->end.cancelled) return PHI__RUN_TURN_END;
    if (run->agent->codec->sign == NULL) return PHI__RUN_SEND;
    if (hash == NULL) {
        run->attempt.hash = hash = (phi__body_hash *)phi__arena_zero(&run->arena, sizeof *hash);
        if (hash == NULL) return PHI__RUN_LOST;
        phi__sha256_begin(&hash->sha);
    }
    while (!hash->done) {
        char bytes[PHI__MODEL_CALL_SLICE];
        const phi_request *request = &run->attempt.encoder.request;
        size_t n = phi_request_read(request, hash->at, bytes, sizeof bytes);
        phi__sha256_add(&hash->sha, bytes, n);
        hash->at += n;
        hash->done = hash->at >= phi_request_get_info(request).length;
        if (hash->done)
            phi__sha256_end(&hash->sha, hash->signing.body_sha256);
        else if (phi__slice_spent(&rt->slice))
            return PHI__RUN_SIGN;
    }
    hash->signing.wall_ms = phi__io_wall_ms(rt->io);
    run->agent->codec->sign(&run->attempt.encoder, &hash->signing);
    return run->attempt.encoder.failed ? PHI__RUN_LOST : PHI__RUN_SEND;
}

/* ---- an attempt: a model call, tried once ----

   An attempt sends the request and decodes the answer, a slice at a time, into an assembly whose
   parts become events. A retry waits in BACKOFF, then sends the same bytes. Received bytes wait in
   the transfer's buffer. A slice is decoded to its end before the buffer may move. If the host does
   not pop its events, no slice is decoded, the buffer fills, and the transport stops reading. */

enum {
    PHI__ATTEMPT_SLICE = 4096,       /* bytes decoded between two clock readings */
    PHI__ATTEMPT_ERROR_MOST = 65536, /* bytes kept of an error's body */
    /* how long to wait for the usage or an error after the answer's end */
    PHI__ATTEMPT_LINGER_MS = 1000
};

/* Emits an event that shows the answer so far. False: no memory. */
static bool phi__attempt_emit(phi__run *run, phi_event_kind kind) {
    phi_event event = PHI_ZERO;
    event.kind = kind;
    return phi__events_emit_of(run->agent, &event, run->attempt.answer);
}

/* Emits MESSAGE_START if it was not emitted yet. The event needs no view of the answer. */
static bool phi__attempt_emit_start(phi__run *run) {
    if (run->attempt.emitted) return true;
    run->attempt.emitted = true;
    return phi__attempt_emit(run, PHI_EV_MESSAGE_START);
}

/* Emits RETRACT if MESSAGE_START was emitted. False: no memory. */
static bool phi__attempt_retract(phi__run *run) {
    return !run->attempt.emitted ||
           (phi__answer_room(run->attempt.answer) && phi__attempt_emit(run, PHI_EV_RETRACT));
}

/* Retracts the attempt's events, charges the attempt and frees it. False: no memory. */
static bool phi__attempt_withdraw(phi__run *run) {
    bool emitted = phi__attempt_retract(run);
    phi__attempt_charge(run);
    phi__attempt_close(run, false);
    return emitted;
}

/* Called when the decoder has read an event. */
static void phi__attempt_seen(void *ctx) {
    phi__run *run = (phi__run *)ctx;
    phi__assembly_hide(&run->attempt.answer->assembly, &run->attempt.secrets);
    run->attempt.answer->viewed = false;
}

/* Allocates an attempt's memory. The next attempt reuses the decoder's state, zeroed. */
static bool phi__attempt_prepare(phi__run *run) {
    phi__agent *agent = run->agent;
    phi__attempt *a = &run->attempt;
    size_t bytes = agent->provider != NULL ? phi__provider_state_bytes(agent->provider)
                                           : phi__max(agent->codec->state_bytes, 1);
    if (a->decoder == NULL) a->decoder = phi_arena_alloc(&run->arena, bytes);
    a->answer = phi__answer_new(run);
    if (a->decoder == NULL || a->answer == NULL) return false;
    memset(a->decoder, 0, bytes);
    if (agent->provider != NULL) phi__provider_state_init(a->decoder, agent->provider);
    phi__assembly *assembly = &a->answer->assembly;
    assembly->respond = a->spec.respond;
    assembly->quirks = a->spec.model->quirks;
    assembly->tools = a->spec.tools;
    assembly->tool_count = a->spec.tool_count;
    if (agent->codec != NULL) assembly->protocol = phi_str_of(agent->codec->names[0]);
    phi__reader_init(&a->reader, agent->codec, a->decoder, assembly,
                     agent->desc.memory.max_event_bytes);
    a->reader.seen = phi__attempt_seen;
    a->reader.ctx = run;
    phi__buf_init(&a->collected, &agent->memory);
    a->body = PHI__BODY_UNKNOWN;
    a->emitted = a->alive = a->lost = false;
    return true;
}

static phi__state phi__attempt_send(phi__run *run, bool *wait) {
    phi__agent *agent = run->agent;
    phi__attempt *a = &run->attempt;
    if (run->end.cancelled) return PHI__RUN_TURN_END;
    if (!phi__attempt_prepare(run)) return PHI__RUN_LOST;
    /* An error message must not show these secrets. */
    if (!agent->in_process) phi__secret_request(&a->secrets, &a->encoder.request);
    phi__secret_key(&a->secrets, phi_str_of(a->spec.model->api_key));
    phi__secret_key(&a->secrets, phi_str_of(agent->desc.model.api_key));
    phi__http_proxy(agent->rt->http, &a->secrets);
    if (a->secrets.failed) return PHI__RUN_LOST;
    phi_status status;
    if (agent->in_process) {
        run->reserved.requests = 0; /* the request was made, so it is not reserved any more */
        status = phi__provider_open(run);
        if (agent->slot == NULL) return PHI__RUN_OVER;
        if (status == PHI_OK) return PHI__RUN_STREAM;
        if (status == PHI_NO_MEMORY) return PHI__RUN_LOST;
        status = status == PHI_BUSY ? PHI_FULL : phi__transfer_status(status);
        return phi__attempt_fault(run, phi__failure_kind_of(status), status == PHI_FULL, status,
                                  NULL);
    }
    phi__transfer_owner owner = PHI_ZERO;
    owner.run = run;
    status =
        phi__transfer_open(agent->rt, &agent->memory, &a->encoder.request, &agent->desc.deadlines,
                           agent->desc.memory.max_response_bytes, &owner, &a->transfer);
    if (status == PHI_NO_MEMORY) return PHI__RUN_LOST;
    run->reserved.requests = 0; /* the request was made, so it is not reserved any more */
    if (status != PHI_OK)
        return phi__attempt_fault(run, PHI_FAILURE_NETWORK, status == PHI_FULL,
                                  phi__network_status(status), NULL);
    *wait = true;
    return PHI__RUN_STREAM;
}

static phi__state phi__attempt_backoff(phi__run *run, bool *wait) {
    phi__io *io = run->agent->rt->io;
    if (run->end.cancelled || run->end.stopping) {
        phi__io_timer_clear(io, &run->timer);
        return PHI__RUN_TURN_END;
    }
    if (phi__io_now_us(io) >= run->attempt.retry_at_us) {
        phi__io_timer_clear(io, &run->timer);
        return PHI__RUN_CREDENTIAL;
    }
    *wait = true;
    return PHI__RUN_BACKOFF;
}

static void phi__attempt_part(void *ctx, phi__assembly *assembly, phi__part part, size_t block,
                              size_t from) {
    phi__run *run = (phi__run *)ctx;
    phi__attempt *a = &run->attempt;
    a->alive = true;
    if (part == PHI__PART_AGAIN) {
        a->answer->viewed = false;
        if (!phi__attempt_retract(run)) a->lost = true;
        a->emitted = false;
        return;
    }
    if (a->answer->content_cap < assembly->count && !phi__answer_room(a->answer)) a->lost = true;
    /* Only a delta, or the end of a block that phi does not interpret, becomes an event. */
    if (a->lost || (part != PHI__PART_DELTA && part != PHI__PART_BLOCK_END)) return;
    const phi__draft *draft = &assembly->drafts[block];
    bool opaque =
        part == PHI__PART_BLOCK_END && draft->kind == PHI_CONTENT_OPAQUE && !draft->incomplete;
    if (part == PHI__PART_BLOCK_END && !opaque) return;
    if (run->first_delta_ms == 0) run->first_delta_ms = run->agent->rt->step.wall_ms;
    phi_content_kind kind = phi__assembly_kind(assembly, block);
    if (!phi__attempt_emit_start(run))
        a->lost = true;
    else if (opaque)
        a->lost = !phi__events_emit_opaque(run->agent, (uint32_t)block, phi__buf_str(&draft->name),
                                           phi__buf_str(&draft->replay), a->answer);
    else
        a->lost = !phi__events_emit_delta(run->agent,
                                          kind == PHI_CONTENT_THINKING    ? PHI_EV_THINKING
                                          : kind == PHI_CONTENT_TOOL_CALL ? PHI_EV_TOOL_ARGUMENTS
                                                                          : PHI_EV_TEXT,
                                          (uint32_t)block,
                                          phi__str(draft->bytes.at + from, draft->bytes.len - from),
                                          a->answer, draft->bytes.len);
}

/* Calls the features that want new parts of an answer. False: the agent was freed. */
static bool phi__attempt_slice(phi__run *run, bool whole) {
    if (!run->slices) return true;
    phi__moment moment = phi__feature_moment(run->agent, run, PHI__POINT_SLICE);
    moment.whole = whole;
    return phi__feature_take(&moment) == PHI__RUN_ON;
}

/* Ends an attempt whose answer is decoded completely. */
static phi__state phi__attempt_finished(phi__run *run, int http_status) {
    phi__assembly *assembly = &run->attempt.answer->assembly;
    if (run->attempt.lost || assembly->no_memory) return PHI__RUN_LOST;
    phi__assembly_hide(assembly, &run->attempt.secrets);
    phi__assembly_finish(assembly);
    phi__repair_calls(assembly);
    if (!phi__attempt_slice(run, true)) return PHI__RUN_OVER;
    if (run->attempt.lost || assembly->no_memory) return PHI__RUN_LOST;
    if (assembly->failure.kind == PHI_FAILURE_NONE) {
        run->attempt.fault = NULL;
        return PHI__RUN_ENDED;
    }
    phi_failure failure = assembly->failure;
    if (failure.http_status == 0) failure.http_status = http_status;
    return phi__attempt_failed(run, &failure,
                               assembly->status != PHI_OK ? assembly->status
                                                          : phi__failure_status(&failure));
}

/* Decides the outcome of an attempt after all bytes were decoded. */
static phi__state phi__attempt_over(phi__run *run) {
    phi__attempt *a = &run->attempt;
    phi__assembly *assembly = &a->answer->assembly;
    phi__transfer *transfer = a->transfer;
    if (a->lost || assembly->no_memory || a->collected.failed) return PHI__RUN_LOST;
    if (transfer->status != PHI_OK && !phi__reader_lingers(&a->reader) &&
        !phi__reader_done(&a->reader) && a->body != PHI__BODY_ERROR)
        return phi__attempt_broken(run);
    switch (a->body) {
    case PHI__BODY_UNKNOWN:
        return phi__attempt_fault(run, PHI_FAILURE_NETWORK, true, PHI_NETWORK,
                                  "the transport gave no answer");
    case PHI__BODY_ERROR: return phi__attempt_classify(run);
    case PHI__BODY_WHOLE:
        run->agent->codec->whole(a->decoder, assembly, phi__buf_str(&a->collected));
        break;
    case PHI__BODY_STREAM: phi__reader_end(&a->reader); break;
    }
    phi__transfer_drop_body(transfer); /* the log's copy of the answer may need this memory */
    return phi__attempt_finished(run, transfer->http_status);
}

static void phi__attempt_look_at_head(phi__run *run) {
    const phi__transfer *transfer = run->attempt.transfer;
    phi_str type = phi__headers_value(phi__buf_str(&transfer->headers), "content-type");
    phi__body *body = &run->attempt.body;
    run->attempt.answer->assembly.sink = phi__attempt_part;
    run->attempt.answer->assembly.ctx = run;
    if (transfer->http_status < 200 || transfer->http_status > 299)
        *body = PHI__BODY_ERROR;
    else if (phi__str_find_nocase(type, 0, "application/json") != SIZE_MAX ||
             phi__str_find_nocase(type, 0, "+json") != SIZE_MAX) /* application/problem+json */
        *body = PHI__BODY_WHOLE;
    else
        *body =
            phi__str_find_nocase(type, 0, "html") != SIZE_MAX ? PHI__BODY_ERROR : PHI__BODY_STREAM;
}

/* Fails the attempt because its answer is too large, unless the answer has already ended. */
static void phi__attempt_too_big(phi__run *run, uint64_t most) {
    char words[120];
    if (run->attempt.answer->assembly.terminal) return;
    (void)snprintf(words, sizeof words, "The answer is larger than %llu bytes",
                   (unsigned long long)most);
    phi__assembly_fail(&run->attempt.answer->assembly, PHI_FAILURE_SERVER, false, phi__str(NULL, 0),
                       phi_str_of(words));
}

static void phi__attempt_collect(phi__run *run, phi_str bytes) {
    size_t most = run->attempt.body == PHI__BODY_WHOLE ? run->agent->desc.memory.max_event_bytes
                                                       : (size_t)PHI__ATTEMPT_ERROR_MOST;
    size_t room = most - phi__min(most, run->attempt.collected.len);
    run->attempt.alive = true;
    phi__buf_add(&run->attempt.collected, bytes.at, phi__min(room, bytes.len));
    if (bytes.len > room && run->attempt.body == PHI__BODY_WHOLE) phi__attempt_too_big(run, most);
}

/* True if the rest of the answer is not worth waiting for. */
static bool phi__attempt_settled(phi__run *run) {
    const phi__attempt *a = &run->attempt;
    if (a->lost || a->collected.failed || phi__reader_done(&a->reader)) return true;
    if (a->body == PHI__BODY_ERROR && a->collected.len >= PHI__ATTEMPT_ERROR_MOST) return true;
    if (a->transfer->decoded <= a->transfer->max_bytes) return false;
    phi__attempt_too_big(run, a->transfer->max_bytes);
    return true;
}

/* Decodes the received bytes. False: the slice is spent, the host must pop events first (*wait), or
   the run has ended. */
static bool phi__attempt_decode(phi__run *run, bool *wait) {
    phi_runtime *rt = run->agent->rt;
    phi__transfer *transfer = run->attempt.transfer;
    phi_str bytes = phi__transfer_unread(transfer);
    for (;;) {
        size_t len = phi__min(bytes.len, PHI__ATTEMPT_SLICE);
        if (len == 0 || phi__attempt_settled(run)) return true;
        if (phi__events_backlog(run->agent)) {
            *wait = true;
            return false;
        }
        run->attempt.answer->viewed = run->attempt.alive = false;
        if (run->attempt.body == PHI__BODY_STREAM)
            phi__reader_feed(&run->attempt.reader, phi__str(bytes.at, len));
        else
            phi__attempt_collect(run, phi__str(bytes.at, len));
        phi__slice_took(&rt->slice, len);
        bytes = phi__transfer_took(transfer, len, run->attempt.alive);
        if (!phi__attempt_slice(run, false) || run->end.cancelled) return false;
        if (run->slices) bytes = phi__transfer_unread(transfer); /* a tool may have pushed bytes */
        if (phi__slice_spent(&rt->slice)) return false;
    }
}

/* Advances an attempt whose model runs in this process (a host's provider). */
static phi__state phi__attempt_poll(phi__run *run, bool *wait) {
    run->attempt.answer->assembly.sink = phi__attempt_part;
    run->attempt.answer->assembly.ctx = run;
    bool over = phi__provider_poll(run, wait);
    if (run->agent->slot == NULL) return PHI__RUN_OVER;
    if (!over) {
        if (!phi__attempt_slice(run, false)) return PHI__RUN_OVER;
        if (run->end.cancelled) *wait = false;
        return PHI__RUN_STREAM;
    }
    *wait = false;
    phi__provider_close(run);
    return run->agent->slot == NULL ? PHI__RUN_OVER : phi__attempt_finished(run, 0);
}

static phi__state phi__attempt_stream(phi__run *run, bool *wait) {
    phi__attempt *a = &run->attempt;
    phi__transfer *transfer = a->transfer;
    if (run->end.cancelled) {
        phi__assembly_finish(&a->answer->assembly);
        return phi__attempt_fault(run, PHI_FAILURE_CANCELLED, false, PHI_CANCELLED, "Cancelled");
    }
    if (run->agent->in_process) return phi__attempt_poll(run, wait);
    if (transfer->headed && a->body == PHI__BODY_UNKNOWN) phi__attempt_look_at_head(run);
    if (transfer->headed && !phi__attempt_decode(run, wait)) return PHI__RUN_STREAM;
    if (phi__attempt_settled(run)) {
        transfer->answered = a->answer->assembly.last;
        return phi__attempt_over(run);
    }
    if (!transfer->ended) {
        if (phi__reader_lingers(&a->reader) &&
            transfer->deadlines.idle_ms != PHI__ATTEMPT_LINGER_MS) {
            /* Only the usage and the end of the body may follow. phi waits for these once, for a
               short time. Setting the stage makes phi__transfer_alive arm the timer again. */
            transfer->deadlines.idle_ms = PHI__ATTEMPT_LINGER_MS;
            transfer->stage = PHI_TRANSFER_CONNECTED;
            phi__transfer_alive(transfer);
        }
        *wait = true;
        return PHI__RUN_STREAM;
    }
    if (a->body == PHI__BODY_STREAM) phi__reader_finish(&a->reader, transfer->status != PHI_OK);
    return phi__attempt_over(run);
}

/* ---- the attempt's end ---- */

/* Copies the answer so far into the thread. failure NULL: the answer is complete. Returns NULL if
   there is no memory. */
static phi_message *phi__end_keep_answer(phi__run *run, const phi_failure *failure) {
    char words[2200];
    phi_content empty;
    const phi_message *shown = phi__answer_whole(run->attempt.answer);
    if (shown == NULL) return NULL;
    phi_message message = *shown;
    if (failure == NULL && !phi__end_unique_ids(run)) return NULL;
    if (failure != NULL) {
        phi__end_words(failure, words, sizeof words);
        message.error_message = phi_str_of(words);
        message.stop_reason = failure->kind == PHI_FAILURE_CANCELLED ? PHI_STOP_REASON_ABORTED
                                                                     : PHI_STOP_REASON_ERROR;
    }
    if (message.content_count == 0) {
        memset(&empty, 0, sizeof empty);
        empty.kind = PHI_CONTENT_TEXT;
        empty.text = phi__str("", 0);
        message.content = &empty;
        message.content_count = 1;
        if (failure != NULL && !run->attempt.answer->assembly.started)
            message.provider = phi_str_of("unknown");
    }
    if (failure == NULL) phi__thinking_mark(run, &message);
    phi__events_stamp(run, &message);
    return phi__append_keep(run->agent->thread, &message);
}

/* Logs the answer and emits its events. False: no memory. */
static bool phi__end_log(phi__run *run, const phi_failure *failure) {
    phi__agent *agent = run->agent;
    phi__answer *answer = run->attempt.answer;
    const phi__assembly *assembly = &answer->assembly;
    if (!phi__attempt_emit_start(run)) return false;
    phi_message *kept = phi__end_keep_answer(run, failure);
    if (kept == NULL) return false;
    phi__entry entry = PHI_ZERO;
    entry.kind = PHI_ENTRY_MESSAGE;
    entry.at_ms = kept->timestamp_ms;
    entry.loop_id = run->loop_id;
    entry.turn_index = kept->turn_index;
    entry.message = kept;
    if (!phi__append(agent->thread, &entry, 1)) return false;
    bool unknown = failure == NULL && assembly->unknown_stop, emitted = true;
    phi__buf words;
    phi__buf_init(&words, &agent->memory);
    for (size_t i = 0; emitted && i < assembly->count && i < kept->content_count; i++) {
        if (assembly->drafts[i].note.len == 0) continue; /* this call was not repaired */
        phi__buf_clear(&words);
        phi__buf_text(&words, "the call of ");
        phi__buf_add_str(&words, kept->content[i].name);
        phi__buf_text(&words, " was repaired: ");
        phi__buf_add_str(&words, phi__buf_str(&assembly->drafts[i].note));
        emitted =
            !words.failed && phi__events_warn_call(agent, &kept->content[i], phi__buf_str(&words));
    }
    phi__buf_free(&words);
    phi__answer_settle(answer, kept);
    run->reply = kept;
    phi_event event = PHI_ZERO;
    event.kind = PHI_EV_MESSAGE_END;
    event.message = kept;
    if (!emitted || !phi__events_emit(agent, &event)) return false;
    if (!unknown) return true;
    char warning[160];
    int n = (int)phi__utf8_cut(kept->raw_stop_reason, 80);
    (void)snprintf(warning, sizeof warning,
                   "the model stopped with the reason \"%.*s\", which is not known: its answer is "
                   "taken as it is",
                   n, n > 0 ? kept->raw_stop_reason.at : "");
    return phi__events_warn(agent, phi_str_of(warning));
}

/* Logs the answer, complete or not, and charges it. False: no memory. */
static bool phi__end_settle(phi__run *run, const phi_failure *failure) {
    bool emitted = phi__end_log(run, failure);
    if (run->reply == NULL) return false;
    phi__charge_turn(run, &run->reply->usage); /* the answer is logged, so it is charged */
    if (!emitted) return false;
    phi__budget_release(run); /* child agents of the turn's tools can use the rest of the budget */
    phi__attempt_drop(run);
    return true;
}

/* Lets a feature handle a failure. Without `whole`, the request is too long. With `whole`, the
   attempt will not be tried again. Returns the next state, or ON if no feature handles the
   failure. */
static phi__state phi__end_offer(phi__run *run, bool whole) {
    phi__moment moment = phi__feature_moment(run->agent, run, PHI__POINT_FAILED);
    moment.failure = run->attempt.fault;
    moment.whole = whole;
    phi__state outcome = phi__feature_take(&moment);
    run->attempt.fault = moment.failure;
    if (outcome == PHI__RUN_ON || run->attempt.answer == NULL) return outcome;
    return phi__attempt_withdraw(run) ? outcome : PHI__RUN_LOST;
}

/* Returns a number in [0, 1) that depends on the random bytes but not on the machine's byte order,
   so that a tape of another machine has the same delays. */
static double phi__attempt_random(phi__io *io) {
    unsigned char bytes[4] = {0};
    phi__io_random(io, bytes, sizeof bytes);
    double value = 0;
    for (size_t i = 0; i < sizeof bytes; i++) value = (value + bytes[i]) / 256.0;
    return value;
}

/* Ends a turn whose attempt has finally failed. The attempt itself may be freed already. */
static phi__state phi__end_give_up(phi__run *run) {
    phi__state next = PHI__RUN_ON;
    if (!phi__turn_unwanted(run) && run->attempt.fault_status != PHI_DENIED) /* a hook denied it */
        next = phi__end_offer(run, true);
    if (next != PHI__RUN_ON) return next;
    const phi_failure *failure = run->attempt.fault;
    if (run->attempt.answer == NULL) { /* the attempt was freed */
        run->attempt.answer = phi__answer_new(run);
        if (run->attempt.answer == NULL) return PHI__RUN_LOST;
        phi__reader_init(&run->attempt.reader, run->agent->codec, NULL,
                         &run->attempt.answer->assembly, run->agent->desc.memory.max_event_bytes);
        phi__buf_init(&run->attempt.collected, &run->agent->memory);
        run->attempt.emitted = false;
    }
    if (!phi__end_settle(run, failure)) return PHI__RUN_LOST;
    if (failure->kind == PHI_FAILURE_CANCELLED) {
        run->status = PHI_CANCELLED;
        return PHI__RUN_TURN_END;
    }
    return phi__run_fail(run, failure, run->attempt.fault_status);
}

/* Handles an ended attempt. An answer is logged. A failure is handled by a feature, by another key,
   by leaving out the thinking, or by a retry. Otherwise the turn fails. */
static phi__state phi__attempt_end(phi__run *run) {
    phi__agent *agent = run->agent;
    phi__attempt *a = &run->attempt;
    const phi_failure *failure = a->fault;
    if (failure == NULL) return phi__end_settle(run, NULL) ? PHI__RUN_ANSWERED : PHI__RUN_LOST;
    if (phi__feature_run(run, PHI__POINT_DROPPED) != PHI__RUN_ON) return PHI__RUN_OVER;
    if (phi__turn_unwanted(run)) return phi__end_give_up(run);
    if (failure->kind == PHI_FAILURE_OVERFLOW) {
        phi__state next = phi__end_offer(run, false);
        if (next != PHI__RUN_ON) return next;
    }
    /* a proxy's 407 says nothing about the provider's key */
    if (failure->kind == PHI_FAILURE_AUTH && failure->http_status != 407 &&
        a->fault_status != PHI_DENIED && !a->fresh &&
        phi__hooks_wanted(agent, PHI_HOOK_CREDENTIAL)) { /* ask for another key, once a turn */
        a->refused = a->fresh = true;
        return phi__attempt_withdraw(run) ? PHI__RUN_CREDENTIAL : PHI__RUN_LOST;
    }
    if (phi__thinking_refused(run, failure)) {
        /* Make the same request again without its thinking, and report the answers whose thinking
           is left out. */
        bool emitted = phi__attempt_withdraw(run);
        agent->prior.thinking.barred = agent->thread->log.count;
        phi__attempt_clear(run);
        run->listed.messages = NULL;
        phi__projection_clear(run);
        return emitted ? PHI__RUN_TURN : PHI__RUN_LOST;
    }
    if (!phi__retry_wanted(&agent->desc.retry, failure, a->retries + 1,
                           phi__attempt_random(agent->rt->io), &a->delay_ms) ||
        !phi__limits_leaves(run, a->delay_ms))
        return phi__end_give_up(run);
    a->retries++;
    a->retry_at_us = phi__io_now_us(agent->rt->io) + (uint64_t)a->delay_ms * 1000;
    bool emitted = phi__attempt_withdraw(run) && phi__end_emit_retry(run, failure);
    return emitted && phi__schedule_timer_set(run, a->retry_at_us) ? PHI__RUN_BACKOFF
                                                                   : PHI__RUN_LOST;
}

/* ---- the turn's end ---- */

/* True if an answer is a pause that contains no block to send back. */
static bool phi__turn_paused_empty(const phi_message *m) {
    if (m->role != PHI_ROLE_ASSISTANT || m->stop_reason != PHI_STOP_REASON_PAUSED) return false;
    for (size_t i = 0; i < m->content_count; i++) {
        const phi_content *c = &m->content[i];
        if (c->kind == PHI_CONTENT_TEXT ? phi__str_trim(c->text).len > 0
                                        : c->kind != PHI_CONTENT_THINKING && !c->incomplete)
            return false;
    }
    return true;
}

/* After a pause the next request contains the same history and the answer so far. If two pauses
   follow each other without a block, the same request would repeat forever, so the run fails. */
static phi__state phi__turn_answered(phi__run *run) {
    static const char words[] = "the model paused its turn twice without a word or a block";
    static const phi_failure failure = {PHI_FAILURE_SERVER,        0,      false, false, 0, {"", 0},
                                        {words, sizeof words - 1}, {"", 0}};
    const phi_thread *thread = run->agent->thread;
    size_t count = thread->messages.count;
    const phi__entry *before = NULL;
    if (count > 1 && phi__turn_paused_empty(run->reply))
        before = phi__lane_message(thread, count - 2);
    if (before != NULL && before->message != NULL && phi__turn_paused_empty(before->message))
        return phi__run_fail(run, &failure, phi__failure_status(&failure));
    return phi__tools_make_calls(run);
}

static phi__state phi__turn_failed(phi__run *run, bool *wait) {
    phi_hook hook = phi__hooks_make(run, PHI_HOOK_ON_ERROR);
    hook.failure = run->failure;
    hook.text = run->reply != NULL ? run->reply->error_message : phi__str(NULL, 0);
    if (hook.text.len == 0) hook.text = PHI__LIT("Unknown error");
    return phi__hooks_next(run, phi__hooks_run(run, &hook), PHI__RUN_FAILED, PHI__RUN_TURN_END,
                           PHI__RUN_TURN_END, wait);
}

static phi__state phi__turn_end(phi__run *run) {
    phi__attempt_drop(run);
    if (run->tools.calls != NULL) phi__tools_drop(run);
    phi__budget_release(run);
    if (!run->turn.open) return PHI__RUN_NEXT;
    run->turn.open = false;
    phi_event event = PHI_ZERO;
    phi_usage *usage = NULL;
    event.kind = PHI_EV_TURN_END;
    event.message = run->reply;
    event.usage = run->reply != NULL ? &run->reply->usage : NULL;
    bool room = (run->taking.points & (uint32_t)PHI__POINT_TURN_ENDS) == 0 ||
                phi__feature_run(run, PHI__POINT_TURN_ENDS) == PHI__RUN_ON;
    /* a copy for the log entry, because the answer may be evicted before this entry */
    if (room && run->reply != NULL) {
        usage = (phi_usage *)phi_arena_alloc(phi__thread_room(run->agent->thread), sizeof *usage);
        if (usage != NULL) *usage = run->reply->usage;
        room = usage != NULL;
    }
    room = phi__events_emit_surely(run->agent, &event) && room;
    phi__entry entry = phi__events_entry(run, PHI_ENTRY_TURN_END);
    entry.usage = usage;
    room = phi__append(run->agent->thread, &entry, 1) && room;
    if (run->agent->thread->journal != NULL) (void)phi__stored_run(run);
    if (!room && run->status == PHI_OK) return PHI__RUN_LOST;
    return PHI__RUN_AFTER_TURN;
}

static phi__state phi__turn_after_turn(phi__run *run, bool *wait) {
    if (phi__hooks_wanted(run->agent, PHI_HOOK_AFTER_TURN)) {
        phi_hook hook = phi__hooks_make(run, PHI_HOOK_AFTER_TURN);
        hook.usage = &run->spent.turn;
        phi__state next = phi__hooks_next(run, phi__hooks_run(run, &hook), PHI__RUN_AFTER_TURN,
                                          PHI__RUN_NEXT, PHI__RUN_NEXT, wait);
        if (next != PHI__RUN_NEXT) return next;
    }
    run->turn.index++;
    run->said.emitted_messages = run->agent->thread->messages.count;
    return PHI__RUN_NEXT;
}

static phi__state phi__turn_next(phi__run *run, bool *wait) {
    if (run->status != PHI_OK) return PHI__RUN_CLOSE;
    if (run->end.starved) return PHI__RUN_LOST;
    if (phi__turn_unwanted(run) || run->reply == NULL) return phi__turn_leave(run, PHI_CANCELLED);
    if (run->tools.repeated) {
        char reason[PHI__REASON];
        (void)snprintf(reason, sizeof reason, "Repeated tool call (%u/%u)",
                       (unsigned)run->agent->desc.tool_options.repeat_stop_after,
                       (unsigned)run->agent->desc.tool_options.repeat_stop_after);
        return phi__turn_stop(run, reason);
    }
    if (run->poll.on || (run->poll.pending.head == NULL && !run->turn.steered)) {
        phi__hooked hooked = phi__input_poll(run, PHI_INPUT_STEERING);
        if (hooked != PHI__HOOK_ALLOW)
            return phi__hooks_next(run, hooked, PHI__RUN_NEXT, PHI__RUN_NEXT, PHI__RUN_NEXT, wait);
    }
    run->turn.steered = true;
    if ((run->tools.count > 0 && !run->tools.answered) ||
        run->reply->stop_reason == PHI_STOP_REASON_PAUSED || run->poll.pending.head != NULL ||
        run->agent->queues.injected.head != NULL)
        return PHI__RUN_TOP;
    return PHI__RUN_FOLLOW;
}

static phi__state phi__turn_follow_up(phi__run *run, bool *wait) {
    if (phi__turn_unwanted(run)) return phi__turn_leave(run, PHI_CANCELLED);
    phi__hooked hooked = phi__input_poll(run, PHI_INPUT_FOLLOW_UP);
    if (hooked != PHI__HOOK_ALLOW)
        return phi__hooks_next(run, hooked, PHI__RUN_FOLLOW, PHI__RUN_FOLLOW, PHI__RUN_FOLLOW,
                               wait);
    if (run->poll.pending.head != NULL) return PHI__RUN_TOP;
    /* From here on nothing can be injected, because other threads see the agent as idle. Read the
       input that these threads have posted until now. */
    phi__agent *agent = run->agent;
    phi__schedule_publish_state(agent, false);
    phi__posts_read_all(agent->rt);
    if (agent->queues.steering.head == NULL && agent->queues.follow_ups.head == NULL &&
        agent->queues.injected.head == NULL && !run->end.starved && !phi__turn_unwanted(run))
        return PHI__RUN_CLOSE;
    phi__schedule_publish_state(agent, true);
    run->turn.steered = false;
    return PHI__RUN_NEXT;
}

/* ---- the run closes ---- */

static phi_event phi__turn_end_event(const phi__run *run, const phi_usage *usage) {
    const phi_thread *thread = run->agent->thread;
    phi_event event = PHI_ZERO;
    event.kind = PHI_EV_AGENT_END;
    event.status = run->status;
    event.failure = run->failure;
    event.usage = usage;
    event.rejection = run->filter.rejection;
    /* The event may be queued without a copy of its strings, and outlives the run. */
    phi_arena *room = phi__thread_room(run->agent->thread);
    if (run->status == PHI_LIMIT) {
        if (!phi__arena_str(room, run->end.limit, &event.text)) event.text = phi__str("", 0);
    } else if (run->failure != NULL)
        event.text = run->failure->message;
    if (run->status == PHI_CANCELLED && !phi__arena_str(room, run->end.reason, &event.source))
        event.source = phi__str("", 0);
    if (thread->messages.count > run->said.first_message) {
        const phi__entry *last = phi__lane_message(thread, thread->messages.count - 1);
        event.message = last != NULL ? last->message : NULL;
    }
    event.first_message = run->said.first_message;
    event.message_count = thread->messages.count - run->said.first_message;
    return event;
}

static phi__state phi__turn_close(phi__run *run) {
    phi__agent *agent = run->agent;
    phi__entry entry = phi__events_entry(run, PHI_ENTRY_LOOP_END);
    phi_usage *usage = (phi_usage *)phi_arena_alloc(phi__thread_room(agent->thread), sizeof *usage);
    phi__schedule_publish_state(agent, false);
    if (run->decision.point != 0) phi__decision_drop(&run->decision);
    phi__budget_release(run);
    if (run->poll.pending.head != NULL) phi__input_return(run);
    if (agent->queues.injected.head != NULL) phi__input_drop_injected(agent);
    if (usage != NULL) *usage = run->spent.usage;
    entry.usage = usage;
    entry.status = run->status;
    /* reaching a limit is not a failure */
    if (run->status != PHI_OK && run->status != PHI_LIMIT) entry.keep = agent->desc.keep;
    entry.of.failure = run->failure;
    /* without memory the log still shows that the run lacks a reply */
    if (phi__recall_end(agent->thread, &entry) == PHI_OK)
        (void)phi__append(agent->thread, &entry, 1);
    if (run->response != NULL) phi__responses_close(run);
    phi_event event = phi__turn_end_event(run, usage); /* later calls may switch lanes */
    run->said.message_count = event.message_count;
    (void)phi__feature_run(run, PHI__POINT_RUN_ENDS);
    if (agent->thread->journal != NULL) phi__stored_updated(run);
    (void)phi__events_emit_surely(agent, &event);
    return run->start.silent ? PHI__RUN_OVER : PHI__RUN_AFTER_LOOP;
}

static phi__state phi__turn_after_loop(phi__run *run, bool *wait) {
    if (!phi__hooks_wanted(run->agent, PHI_HOOK_AFTER_LOOP)) return PHI__RUN_OVER;
    phi_hook hook = phi__hooks_make(run, PHI_HOOK_AFTER_LOOP);
    hook.message_count = run->said.message_count;
    hook.usage = &run->spent.usage;
    if (phi__hooks_run(run, &hook) == PHI__HOOK_WAIT && !phi__turn_unwanted(run)) {
        *wait = true;
        return PHI__RUN_AFTER_LOOP;
    }
    return PHI__RUN_OVER; /* AGENT_END was emitted: the hook's verdict changes nothing */
}

/* ---- all states ---- */

static phi__state phi__turn_enter(phi__run *run, bool *wait) {
    switch (run->state) {
    case PHI__RUN_BEFORE_LOOP: return phi__turn_before_loop(run, wait);
    case PHI__RUN_OPEN: return phi__turn_open(run);
    case PHI__RUN_FILTER: return phi__turn_filter(run, wait);
    case PHI__RUN_POLL: return phi__turn_poll(run, wait);
    case PHI__RUN_TOP: return phi__turn_top(run, wait);
    case PHI__RUN_BEFORE_TURN: return phi__turn_before_turn(run, wait);
    case PHI__RUN_TURN: return phi__turn_begin(run, wait);
    case PHI__RUN_TRANSFORM: return phi__ask_transform(run, wait);
    case PHI__RUN_CONVERT: return phi__ask_convert(run, wait);
    case PHI__RUN_REQUEST: return phi__ask_request(run);
    case PHI__RUN_CREDENTIAL: return phi__ask_credential(run, wait);
    case PHI__RUN_SIGN: return phi__ask_sign(run);
    case PHI__RUN_SEND: return phi__attempt_send(run, wait);
    case PHI__RUN_STREAM: return phi__attempt_stream(run, wait);
    case PHI__RUN_BACKOFF: return phi__attempt_backoff(run, wait);
    case PHI__RUN_HELD: return phi__feature_held(run, wait);
    case PHI__RUN_TOOLS: return phi__tools_run(run, wait);
    case PHI__RUN_FAILED: return phi__turn_failed(run, wait);
    case PHI__RUN_TURN_END: return phi__turn_end(run);
    case PHI__RUN_AFTER_TURN: return phi__turn_after_turn(run, wait);
    case PHI__RUN_NEXT: return phi__turn_next(run, wait);
    case PHI__RUN_FOLLOW: return phi__turn_follow_up(run, wait);
    case PHI__RUN_CLOSE: return phi__turn_close(run);
    case PHI__RUN_AFTER_LOOP: return phi__turn_after_loop(run, wait);
    case PHI__RUN_ON:
    case PHI__RUN_OVER:
    case PHI__RUN_LOST:
    case PHI__RUN_ENDED:
    case PHI__RUN_GIVE_UP:
    case PHI__RUN_ANSWERED: break;
    }
    return PHI__RUN_OVER;
}

/* Advances one run until it waits, is over, or the step's slice is spent. */
static void phi__turn_advance(phi__run *run) {
    phi_runtime *rt = run->agent->rt;
    for (;;) {
        bool wait = false;
        phi__agent *agent = run->agent;
        /* These outcomes belong to the same state; one outcome may lead to another. */
        phi__state outcome = phi__turn_enter(run, &wait);
        if (outcome == PHI__RUN_ENDED) outcome = phi__attempt_end(run);
        if (outcome == PHI__RUN_GIVE_UP) outcome = phi__end_give_up(run);
        if (outcome == PHI__RUN_ANSWERED) outcome = phi__turn_answered(run);
        run->state = outcome == PHI__RUN_LOST ? phi__run_no_memory(run) : outcome;
        if (agent->slot == NULL) return; /* a tool freed the agent */
        if (agent->tree.due) {           /* the watcher reads the new events */
            const phi__child_watch *watch = agent->tree.watch;
            agent->tree.due = false;
            if (watch != NULL && watch->between != NULL) watch->between(agent);
            if (agent->slot == NULL) return;
        }
        if (run->state == PHI__RUN_OVER) {
            phi_status status = run->status;
            const phi_failure *failure = run->failure;
            bool stopping = run->end.stopping;
            phi__forget_ran(agent, status);
            (void)phi__feature_run(run, PHI__POINT_RUN_OVER);
            phi__run_destroy(run);
            if (agent->one_shot.ended_fn != NULL) agent->one_shot.ended_fn(agent);
            if (agent->tree.watch != NULL)
                agent->tree.watch->over(agent, status, failure, stopping);
            return;
        }
        if (wait) return;
        /* A host that pops AGENT_END may prompt at once. */
        if (run->state == PHI__RUN_AFTER_LOOP) continue;
        if (!phi__slice_spent(&rt->slice)) continue;
        if (rt->tape == NULL) {
            phi__schedule_wake(run);
            return;
        }
        phi__slice_begin(&rt->slice);
    }
}

/* With a tape, all input is processed slice by slice, and each run continues until it waits.
   Otherwise the size of the slices would change the order of turns of runs that share a budget, and
   also what a host sees between two steps. */
PHI__FN void phi__turn_advance_all(phi_runtime *rt) {
    phi__run *run;
    while ((run = phi__schedule_next_ready(rt)) != NULL) {
        phi__turn_advance(run);
        if (phi__slice_spent(&rt->slice) && rt->tape == NULL) return;
    }
}
