/* input.c - the input of a run: polled from the queues, filtered, and delivered to the log.

   A message waits in its own memory, and enters the log when it is delivered. Polled messages are
   pending until the next turn begins. If there is no next turn, they go back to their queues.
   All filters get the same text, in order. Their warnings are appended to the message for the
   model. The first filter that refuses ends the input. A filter may wait: the text and the filter's
   index are kept. */
#include "loop/inner_in.h"

static void phi__input_free(phi__agent *agent, phi__input *input) {
    phi_arena_free(&input->arena);
    phi__free(&agent->memory, input, sizeof *input);
}

static void phi__input_list_push(phi__inputs *to, phi__input *input) {
    input->next = NULL;
    if (to->tail != NULL)
        to->tail->next = input;
    else
        to->head = input;
    to->tail = input;
    to->count++;
}

static phi__input *phi__input_list_pop(phi__inputs *from) {
    phi__input *input = from->head;
    if (input == NULL) return NULL;
    from->head = input->next;
    if (from->head == NULL) from->tail = NULL;
    from->count--;
    return input;
}

static void phi__input_list_free(phi__agent *agent, phi__inputs *inputs) {
    phi__input *input;
    while ((input = phi__input_list_pop(inputs)) != NULL) phi__input_free(agent, input);
}

PHI__FN void phi__input_free_queues(phi__agent *agent) {
    phi__input_list_free(agent, &agent->queues.steering);
    phi__input_list_free(agent, &agent->queues.follow_ups);
    phi__input_list_free(agent, &agent->queues.injected);
}

PHI__FN phi__inputs *phi__input_list_of(phi__agent *agent, phi_input kind) {
    switch (kind) {
    case PHI_INPUT_STEERING: return &agent->queues.steering;
    case PHI_INPUT_FOLLOW_UP: return &agent->queues.follow_ups;
    case PHI_INPUT_INJECTED: return &agent->queues.injected;
    case PHI_INPUT_NONE:
    case PHI_INPUT_PROMPT: break;
    }
    return NULL;
}

PHI__FN phi_status phi__input_append(phi__agent *agent, phi__inputs *to, phi_input kind,
                                     const phi_content *content, size_t count, phi_str source,
                                     phi_str details) {
    phi__input *input = (phi__input *)phi__alloc(&agent->memory, sizeof *input);
    if (input == NULL) return PHI_NO_MEMORY;
    phi_arena_init(&input->arena, &agent->memory, 256);
    phi_message message = PHI_ZERO;
    message.role = PHI_ROLE_USER;
    message.content = content;
    message.content_count = count;
    message.details = details;
    phi_message *copy = phi_message_copy(&message, &input->arena);
    if (copy == NULL || !phi__arena_str(&input->arena, source, &input->source)) {
        phi__input_free(agent, input);
        return PHI_NO_MEMORY;
    }
    input->message = *copy;
    input->kind = kind;
    phi__input_list_push(to, input);
    return PHI_OK;
}

PHI__FN phi_content phi__input_text(phi_str text) {
    phi_content content = PHI_ZERO;
    content.kind = PHI_CONTENT_TEXT;
    content.text = text;
    return content;
}

PHI__FN phi_status phi__input_add(phi__agent *agent, phi_input kind, const phi_content *content,
                                  size_t count, phi_str source, phi_str details) {
    phi__inputs *to = phi__input_list_of(agent, kind);
    if (to->count >= agent->desc.input.queue_limit) return PHI_FULL;
    return phi__input_append(agent, to, kind, content, count, source, details);
}

/* ---- dropping ---- */

PHI__FN void phi__input_emit_dropped(phi__agent *agent, phi_input kind, phi_str text,
                                     const char *why) {
    phi_event event = PHI_ZERO;
    event.kind = PHI_EV_INPUT_DROPPED;
    event.input = kind;
    event.text = text;
    event.source = phi_str_of(why);
    if (phi__events_backlog(agent)) { /* the host does not pop events: only count */
        agent->events.untold_drops++;
        return;
    }
    if (phi__events_emit(agent, &event)) return;
    (void)phi__error(agent->rt, PHI_NO_MEMORY, "a message to an agent was lost: out of memory");
    if (agent->run != NULL) agent->run->end.starved = true;
}

/* Reports each message as dropped, and empties the queue. */
static void phi__input_drop(phi__agent *agent, phi__inputs *inputs, const char *why) {
    phi__input *input;
    while ((input = phi__input_list_pop(inputs)) != NULL) {
        phi_str text = phi_message_text(&input->message, "\n", &input->arena, NULL);
        phi__input_emit_dropped(agent, input->kind, text, why);
        phi__input_free(agent, input);
    }
}

PHI__FN void phi__input_drop_kept(phi__agent *agent, const char *why) {
    phi__input_drop(agent, &agent->queues.steering, why);
    phi__input_drop(agent, &agent->queues.follow_ups, why);
}

PHI__FN void phi__input_drop_injected(phi__agent *agent) {
    phi__input_drop(agent, &agent->queues.injected, "The run ended before it was seen");
}

/* Puts pending messages back at the front of their queues, in their old order. */
PHI__FN void phi__input_return(phi__run *run) {
    phi__agent *agent = run->agent;
    phi__inputs from = run->poll.pending;
    phi__inputs *queues[2] = {&agent->queues.steering, &agent->queues.follow_ups};
    phi__inputs dropped = PHI_ZERO, back[2] = PHI_ZERO;
    phi__input *input;
    memset(&run->poll.pending, 0, sizeof run->poll.pending);
    while ((input = phi__input_list_pop(&from)) != NULL)
        phi__input_list_push(input->kind == PHI_INPUT_INJECTED
                                 ? &dropped
                                 : &back[input->kind == PHI_INPUT_STEERING ? 0 : 1],
                             input);
    for (size_t i = 0; i < 2; i++) {
        while ((input = phi__input_list_pop(queues[i])) != NULL)
            phi__input_list_push(&back[i], input);
        *queues[i] = back[i];
    }
    phi__input_drop(agent, &dropped, "The run ended before it was seen");
}

/* ---- polling ---- */

PHI__FN void phi__input_poll_end(phi__run *run) {
    run->poll.on = false;
    run->poll.got = 0;
}

PHI__FN phi__hooked phi__input_poll(phi__run *run, phi_input kind) {
    phi__agent *agent = run->agent;
    phi__inputs *queue = phi__input_list_of(agent, kind);
    bool steering = kind == PHI_INPUT_STEERING;
    phi_hook_point point = steering ? PHI_HOOK_STEERING : PHI_HOOK_FOLLOW_UP;
    bool all = (steering ? agent->desc.input.steering_mode : agent->desc.input.follow_up_mode) ==
               PHI_QUEUE_ALL;
    if (!run->poll.on) {
        phi__input_poll_end(run);
        run->poll.on = true;
        for (; queue->head != NULL && (all || run->poll.got == 0); run->poll.got++)
            phi__input_list_push(&run->poll.pending, phi__input_list_pop(queue));
    }
    while (phi__hooks_wanted(agent, point) && (all || run->poll.got == 0) &&
           run->poll.got < agent->desc.input.queue_limit) {
        phi_hook hook = phi__hooks_make(run, point);
        phi__hooked hooked = phi__hooks_run(run, &hook);
        phi_content said = phi__input_text(phi__str_trim(phi__buf_str(&run->decision.reply)));
        if (hooked == PHI__HOOK_WAIT || hooked == PHI__HOOK_GONE || hooked == PHI__HOOK_LOST)
            return hooked;
        if (hooked == PHI__HOOK_DENY || said.text.len == 0) break;
        if (phi__input_append(agent, &run->poll.pending, kind, &said, 1, phi__str(NULL, 0),
                              phi__str(NULL, 0)) != PHI_OK)
            return PHI__HOOK_LOST;
        run->poll.got++;
    }
    phi__input_poll_end(run);
    return PHI__HOOK_ALLOW;
}

/* ---- pending input ---- */

PHI__FN void phi__input_since(phi__run *run, uint64_t at) { run->poll.posts_from = at; }

PHI__FN void phi__input_end(phi__run *run) { phi__input_list_free(run->agent, &run->poll.pending); }

PHI__FN void phi__input_take_injected(phi__run *run) {
    phi__input *input;
    while ((input = phi__input_list_pop(&run->agent->queues.injected)) != NULL)
        phi__input_list_push(&run->poll.pending, input);
}

/* A logged message is no longer pending, even if there is no memory for its event; otherwise it
   would be logged again. A message that could not be logged returns to its queue unchanged, because
   only the log's copy has the run's id. */
PHI__FN bool phi__input_deliver(phi__run *run) {
    phi_thread *thread = run->agent->thread;
    while (run->poll.pending.head != NULL) {
        phi__input *input = run->poll.pending.head;
        phi_input kind = input->kind;
        phi_message stamped = input->message;
        phi_str source;
        phi__events_stamp(run, &stamped);
        phi_message *kept = phi__append_keep(thread, &stamped);
        if (kept == NULL || !phi__arena_str(phi__thread_room(thread), input->source, &source))
            return false;
        phi__entry entry = phi__events_entry(run, PHI_ENTRY_MESSAGE);
        entry.message = kept;
        if (!phi__append(thread, &entry, 1)) return false;
        phi__input_free(run->agent, phi__input_list_pop(&run->poll.pending));
        phi__moment moment = phi__feature_moment(run->agent, run, PHI__POINT_SAID);
        moment.input = kind;
        if (phi__feature_take(&moment) != PHI__RUN_ON ||
            !phi__events_message(run, kept, kind, source))
            return false;
    }
    return true;
}

/* ---- input filters ---- */

PHI__FN void phi__filter_init(phi__run *run) {
    phi__buf_init(&run->filter.text, &run->agent->memory);
    phi__buf_init(&run->filter.warnings, &run->agent->memory);
}

PHI__FN void phi__filter_end(phi__run *run) {
    run->filter.on = false;
    run->filter.at = 0;
    phi__buf_free(&run->filter.text);
    phi__buf_free(&run->filter.warnings);
}

/* Adds the message's text blocks, joined by line breaks. */
static void phi__filter_add(phi__run *run, const phi_message *message) {
    for (size_t i = 0; i < message->content_count; i++) {
        if (message->content[i].kind != PHI_CONTENT_TEXT) continue;
        if (run->filter.text.len > 0) phi__buf_char(&run->filter.text, '\n');
        phi__buf_add_str(&run->filter.text, message->content[i].text);
    }
}

/* True if there is a filter. The agent's own hook function may be the last one. */
static bool phi__filter_any(const phi__agent *agent) {
    return agent->desc.input.filter_count > 0 || phi__hooks_wanted(agent, PHI_HOOK_FILTER);
}

/* Calls the remaining filters with run->filter.text. */
static phi__hooked phi__filter_decide(phi__run *run, phi_input input) {
    phi__agent *agent = run->agent;
    if (run->filter.text.failed) return PHI__HOOK_LOST;
    while (run->filter.at <= agent->desc.input.filter_count) {
        phi_hook hook = phi__hooks_make(run, PHI_HOOK_FILTER);
        phi__hooked hooked;
        hook.text = phi__buf_str(&run->filter.text);
        hook.input = input;
        if (run->filter.at < agent->desc.input.filter_count) {
            const phi_filter *filter = &agent->desc.input.filters[run->filter.at];
            hooked = phi__hooks_decide(&run->decision, &hook, filter->fn, filter->user_data);
        } else
            hooked = phi__hooks_run(run, &hook);
        if (hooked == PHI__HOOK_WARN) {
            if (run->filter.warnings.len > 0) phi__buf_char(&run->filter.warnings, '\n');
            phi__buf_text(&run->filter.warnings, "[Warning: ");
            phi__buf_add_str(&run->filter.warnings, phi__buf_str(&run->decision.reply));
            phi__buf_char(&run->filter.warnings, ']');
        }
        if (run->filter.warnings.failed) return PHI__HOOK_LOST;
        if (hooked != PHI__HOOK_ALLOW && hooked != PHI__HOOK_WARN) return hooked;
        run->filter.at++;
    }
    return PHI__HOOK_ALLOW;
}

/* Returns the message's blocks and one more block with the warnings. NULL: no memory. */
static phi_content *phi__filter_warned(phi__run *run, const phi_message *message,
                                       phi_arena *arena) {
    size_t n = message->content_count;
    phi_content *content =
        (phi_content *)phi_arena_alloc(arena, phi__mul(phi__add(n, 1), sizeof *content));
    phi_str warnings;
    if (content == NULL || !phi__arena_str(arena, phi__buf_str(&run->filter.warnings), &warnings))
        return NULL;
    if (n > 0) memcpy(content, message->content, n * sizeof *content);
    content[n] = phi__input_text(warnings);
    return content;
}

/* Returns the reason, which is never empty, because an empty reason means no rejection. */
static phi_str phi__filter_reason(const phi__run *run) {
    phi_str reason = phi__buf_str(&run->decision.reply);
    return reason.len > 0 ? reason : PHI__LIT("Rejected by an input filter");
}

static bool phi__filter_emit_rejected(phi__run *run) {
    phi_event event = PHI_ZERO;
    event.kind = PHI_EV_INPUT_REJECTED;
    event.text = phi__filter_reason(run);
    return phi__events_emit(run->agent, &event);
}

PHI__FN phi__hooked phi__filter_prompts(phi__run *run) {
    phi_arena *arena = phi__thread_room(run->agent->thread);
    if (!phi__filter_any(run->agent) || run->said.prompts == NULL) return PHI__HOOK_ALLOW;
    if (!run->filter.on) {
        run->filter.on = true;
        for (size_t i = 0; i < run->said.prompt_count; i++)
            phi__filter_add(run, run->said.prompts[i].message);
    }
    phi__hooked hooked = phi__filter_decide(run, PHI_INPUT_PROMPT);
    if (hooked == PHI__HOOK_WAIT || hooked == PHI__HOOK_GONE) return hooked;
    if (hooked == PHI__HOOK_DENY &&
        (!phi__arena_str(arena, phi__filter_reason(run), &run->filter.rejection) ||
         !phi__filter_emit_rejected(run)))
        hooked = PHI__HOOK_LOST;
    if (hooked == PHI__HOOK_ALLOW && run->filter.warnings.len > 0) {
        phi__entry *last = &run->said.prompts[run->said.prompt_count - 1];
        phi_message *warned = (phi_message *)phi_arena_alloc(arena, sizeof *warned);
        phi_content *content = phi__filter_warned(run, last->message, arena);
        if (warned == NULL || content == NULL) return PHI__HOOK_LOST;
        *warned = *last->message;
        warned->content = content;
        warned->content_count++;
        last->message = warned;
    }
    phi__filter_end(run);
    return hooked;
}

PHI__FN phi__hooked phi__filter_pending(phi__run *run) {
    phi__inputs *pending = &run->poll.pending;
    if (!phi__filter_any(run->agent)) return PHI__HOOK_ALLOW;
    for (phi__input *input = pending->head; input != NULL; input = input->next) {
        if (input->filtered) continue;
        if (!run->filter.on) {
            run->filter.on = true;
            phi__filter_add(run, &input->message);
        }
        phi__hooked hooked = phi__filter_decide(run, input->kind);
        if (hooked == PHI__HOOK_DENY) {
            if (!phi__filter_emit_rejected(run)) hooked = PHI__HOOK_LOST;
            phi__filter_end(run);
            phi__inputs rest = PHI_ZERO;
            for (phi__input *each = NULL; (each = phi__input_list_pop(pending)) != NULL;)
                if (each != input) phi__input_list_push(&rest, each);
            *pending = rest;
            phi__input_free(run->agent, input);
        }
        if (hooked != PHI__HOOK_ALLOW) return hooked;
        if (run->filter.warnings.len > 0) {
            phi_content *content = phi__filter_warned(run, &input->message, &input->arena);
            if (content == NULL) return PHI__HOOK_LOST;
            input->message.content = content;
            input->message.content_count++;
        }
        input->filtered = true;
        phi__filter_end(run);
    }
    return PHI__HOOK_ALLOW;
}

/* ---- checking and posting a host's input ---- */

enum { PHI__ENQUEUE_ID = 128 }; /* maximum length of a request's id */

PHI__FN phi_status phi__enqueue_check(phi_runtime *rt, const char *what, const phi_content *content,
                                      size_t count) {
    if (content == NULL || count == 0)
        return phi__error(rt, PHI_BAD_ARG, "%s: there is no content", what);
    for (size_t i = 0; i < count; i++) {
        const char *fault = phi__check_media(&content[i]);
        if (content[i].kind == PHI_CONTENT_THINKING || content[i].kind == PHI_CONTENT_TOOL_CALL ||
            (unsigned)content[i].kind - 1u >= (unsigned)PHI_CONTENT_AUDIO)
            return phi__error(
                rt, PHI_BAD_ARG,
                "%s: content[%u].kind: expected text, image, document, audio or opaque", what,
                (unsigned)i);
        if (fault != NULL)
            return phi__error(rt, PHI_BAD_ARG, "%s: content[%u]: %s", what, (unsigned)i, fault);
    }
    return PHI_OK;
}

PHI__FN void phi__enqueue_details(const char *id, const char *refs, phi__buf *out) {
    if (id == NULL && refs == NULL) return;
    phi__buf_char(out, '{');
    if (id != NULL) {
        phi__json_write_key(out, PHI__LIT("request_id"));
        phi__json_write_str(out, phi_str_of(id));
    }
    if (refs != NULL) {
        phi__json_write_key(out, PHI__LIT("refs"));
        phi__buf_text(out, refs);
    }
    phi__buf_char(out, '}');
}

PHI__FN phi_status phi__enqueue_check_json(phi_runtime *rt, const char *what, const char *name,
                                           const char *text) {
    phi_arena scratch;
    phi_json *root = NULL;
    if (text == NULL) return PHI_OK;
    phi_arena_init(&scratch, &rt->memory, 0);
    phi_status status = phi_json_parse(&scratch, phi_str_of(text), PHI_JSON_BORROW, &root, NULL);
    phi_arena_free(&scratch);
    if (status == PHI_OK) return PHI_OK;
    return status == PHI_NO_MEMORY ? phi__error(rt, status, "%s: out of memory", what)
                                   : phi__error(rt, PHI_BAD_ARG, "%s: %s is no JSON", what, name);
}

PHI__FN phi_status phi__enqueue_check_details(phi_runtime *rt, const char *what, const char *id,
                                              const char *refs) {
    phi_str name = phi_str_of(id);
    if (id != NULL &&
        (name.len == 0 || name.len > PHI__ENQUEUE_ID || phi__utf8_valid(name) != name.len))
        return phi__error(rt, PHI_BAD_ARG, "%s: id: expected 1 to 128 bytes of UTF-8", what);
    return phi__enqueue_check_json(rt, what, "refs", refs);
}

static phi_status phi__enqueue_post(phi_agent agent, uint32_t kind, const char *text,
                                    const char *source) {
    struct phi__inbox_record *record = NULL;
    phi_str trimmed = phi__str_trim(phi_str_of(text)), tag = phi_str_of(source);
    if (agent.rt == NULL || trimmed.len == 0) return PHI_BAD_ARG;
    uint32_t state = phi__slots_state(&agent.rt->agents, agent.index, agent.gen);
    if (state == 0) return PHI_STALE;
    if (kind == PHI__POST_INJECT && (state & PHI__AGENT_RUNNING) == 0) return PHI_MISUSE;
    phi__post post = PHI_ZERO;
    post.kind = kind;
    post.index = agent.index;
    post.gen = agent.gen;
    post.flag = (uint32_t)tag.len;
    if (tag.len > UINT32_MAX / 4) return PHI_BAD_ARG;
    post.before = tag;
    post.text = trimmed;
    phi_status status = phi__inbox_prepare(&agent.rt->inbox, &post, &record);
    if (status != PHI_OK) return status;
    phi__inbox_publish(record, true);
    phi__io_wake(agent.rt->io);
    return PHI_OK;
}

PHI_API phi_status phi_steer(phi_agent agent, const char *text) {
    return phi__enqueue_post(agent, PHI__POST_STEER, text, NULL);
}

PHI_API phi_status phi_follow_up(phi_agent agent, const char *text) {
    return phi__enqueue_post(agent, PHI__POST_FOLLOW_UP, text, NULL);
}

PHI_API phi_status phi_inject(phi_agent agent, const char *text, const char *source) {
    return phi__enqueue_post(agent, PHI__POST_INJECT, text, source);
}

PHI_API phi_status phi_enqueue(phi_agent handle, const phi_enqueue_desc *desc) {
    phi__agent *agent = phi__find_agent(handle);
    phi_runtime *rt = handle.rt;
    phi_content content;
    if (rt == NULL) return PHI_BAD_ARG;
    if (agent == NULL) return PHI_STALE;
    if (desc == NULL) return phi__error(rt, PHI_BAD_ARG, "phi_enqueue: desc is NULL");
    if (desc->text != NULL && desc->content != NULL)
        return phi__error(rt, PHI_BAD_ARG, "phi_enqueue: text and content are both given");
    phi_enqueue_desc given = *desc;
    if (desc->text != NULL) {
        content = phi__input_text(phi__str_trim(phi_str_of(desc->text)));
        if (content.text.len == 0)
            return phi__error(rt, PHI_BAD_ARG, "phi_enqueue: the text is empty");
        given.content = &content;
        given.content_count = 1;
    }
    if (phi__input_list_of(agent, given.queue) == NULL)
        return phi__error(rt, PHI_BAD_ARG,
                          "phi_enqueue: queue: expected steering, follow-up or injected");
    phi_status status = phi__enqueue_check(rt, "phi_enqueue", given.content, given.content_count);
    if (status == PHI_OK)
        status = phi__enqueue_check_details(rt, "phi_enqueue", given.id, given.refs);
    if (status != PHI_OK) return status;
    bool goes_on = agent->run != NULL && agent->run->state < PHI__RUN_CLOSE;
    if (given.loop_id != NULL && (!goes_on || !phi__str_is(agent->run->loop_id, given.loop_id)))
        return phi__error(rt, PHI_NOT_FOUND, "phi_enqueue: loop_id: no run \"%.160s\" goes on",
                          given.loop_id);
    if (given.queue == PHI_INPUT_INJECTED && !goes_on)
        return phi__error(rt, PHI_MISUSE, "phi_enqueue: no run is going on");
    phi__buf details;
    phi__buf_init(&details, &agent->memory);
    phi__enqueue_details(given.id, given.refs, &details);
    status = details.failed ? PHI_NO_MEMORY
                            : phi__input_add(agent, given.queue, given.content, given.content_count,
                                             phi_str_of(given.source), phi__buf_str(&details));
    phi__buf_free(&details);
    return status == PHI_OK ? status
                            : phi__error(rt, status, "phi_enqueue: %s", phi_status_text(status));
}

PHI_API phi_status phi_queue_clear(phi_agent handle, phi_input queue) {
    phi__agent *agent = phi__find_agent(handle);
    if (handle.rt == NULL) return PHI_BAD_ARG;
    if (agent == NULL) return PHI_STALE;
    if (queue != PHI_INPUT_NONE && phi__input_list_of(agent, queue) == NULL) return PHI_BAD_ARG;
    if (queue == PHI_INPUT_NONE)
        phi__input_free_queues(agent);
    else
        phi__input_list_free(agent, phi__input_list_of(agent, queue));
    return PHI_OK;
}
