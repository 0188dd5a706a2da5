/* events.c - the event queue between the pump and the host, and streaming answers. An event shows
   the state of its answer at the time when the event is popped.

   The queue is a list of records in shared blocks. A block without records is freed, except for one
   spare block, so a steady stream allocates nothing. Until the event is popped, `partial` is only a
   length, because the answer may move. */
#include "loop/inner_in.h"

#include <stdarg.h>
#include <stdio.h>

/* Records for a run that lacks memory: AGENT_START or TURN_END, then ERROR, then AGENT_END. */
enum { PHI__RESERVE = 3 };

/* Room for a few dozen events. One slow reader would hold a larger block longer. */
#define PHI__EVENT_BLOCK_BYTES 8192u

/* A step frees this many popped events, and as many more as were queued since the last step. This
   takes about 50 us. So a long queue is freed step by step, and does not grow meanwhile. */
enum { PHI__EVENTS_FREED = 1024 };

typedef struct phi__event_block {
    uint32_t live; /* records that are not freed yet */
    size_t bytes, used;
} phi__event_block;

/* ---- an answer while it streams, and afterwards ---- */

static phi_str phi__answer_name(char **at, phi_str name) {
    phi_str out = phi__str(*at, name.len);
    if (out.len > 0) memcpy(*at, name.at, out.len);
    *at += out.len;
    return out;
}

PHI__FN phi__answer *phi__answer_new(phi__run *run) {
    phi__agent *agent = run->agent;
    phi_memory *memory = &agent->memory;
    const phi_model *model = &agent->desc.model;
    phi_str id = phi_str_of(model->id), provider = phi_str_of(model->provider);
    phi_str protocol = phi_str_of(model->protocol);
    size_t bytes =
        phi__add(sizeof(phi__answer), phi__add(id.len, phi__add(provider.len, protocol.len)));
    phi__answer *answer = (phi__answer *)phi__alloc(memory, bytes);
    if (answer == NULL) return NULL;
    char *names = (char *)(answer + 1);
    answer->memory = memory;
    answer->bytes = bytes;
    answer->refs = 1;
    answer->live = true;
    answer->view.model = phi__answer_name(&names, id);
    answer->view.provider = phi__answer_name(&names, provider);
    answer->view.protocol = phi__answer_name(&names, protocol);
    phi__assembly_init(&answer->assembly, memory);
    answer->assembly.id_salt = (uint64_t)agent->line.loops << 32 | run->turn.index;
    return answer;
}

PHI__FN void phi__answer_settle(phi__answer *answer, const phi_message *final) {
    if (!answer->live) return;
    answer->live = false;
    answer->final = final;
    phi__assembly_free(&answer->assembly);
    phi__free(answer->memory, answer->content, answer->content_cap * sizeof *answer->content);
    answer->content = NULL;
    answer->content_cap = 0;
}

PHI__FN void phi__answer_drop(phi__answer *answer) {
    if (answer == NULL || --answer->refs > 0) return;
    phi__answer_settle(answer, NULL);
    phi__free(answer->memory, answer, answer->bytes);
}

PHI__FN bool phi__answer_room(phi__answer *answer) {
    void *grown = phi__grow(answer->memory, answer->content, &answer->content_cap,
                            phi__max(answer->assembly.count, 1), sizeof *answer->content);
    if (grown == NULL) return false;
    if (answer->content != (phi_content *)grown) answer->viewed = false;
    answer->content = (phi_content *)grown;
    return true;
}

/* Returns the view without content, because its content was freed or is too small. */
static const phi_message *phi__answer_empty(phi__answer *answer) {
    phi_message shown = answer->view;
    memset(&answer->view, 0, sizeof answer->view);
    answer->view.role = PHI_ROLE_ASSISTANT;
    answer->view.model = shown.model;
    answer->view.provider = shown.provider;
    answer->view.protocol = shown.protocol;
    answer->viewed = false;
    return &answer->view;
}

static const phi_message *phi__answer_message(phi__answer *answer) {
    phi_message before = answer->view; /* has the names of the request's model */
    /* Without memory for the content the view shows only the model. Never returns NULL. */
    if (!answer->live) return answer->final != NULL ? answer->final : phi__answer_empty(answer);
    if (answer->content_cap < answer->assembly.count) return phi__answer_empty(answer);
    if (!answer->viewed) {
        phi__assembly_view(&answer->assembly, answer->content, &answer->view);
        answer->view.model = before.model;
        answer->view.provider = before.provider;
        answer->view.protocol = before.protocol;
    }
    answer->viewed = true;
    return &answer->view;
}

PHI__FN const phi_message *phi__answer_whole(phi__answer *answer) {
    if (!phi__answer_room(answer)) return NULL;
    answer->viewed = false;
    return phi__answer_message(answer);
}

/* ---- blocks ---- */

enum { PHI__EVENT_ALIGN = 16 };

static size_t phi__events_round(size_t bytes) {
    return (bytes + PHI__EVENT_ALIGN - 1) & ~(size_t)(PHI__EVENT_ALIGN - 1);
}

static phi_str phi__events_partial(const phi__record *record) {
    const phi_message *message = record->event.message;
    if (message == NULL || record->event.block_index >= message->content_count)
        return phi__str(NULL, 0);
    const phi_content *block = &message->content[record->event.block_index];
    phi_str whole = block->kind == PHI_CONTENT_TOOL_CALL ? block->arguments : block->text;
    return phi__str(whole.at, phi__min(whole.len, record->partial_len));
}

/* ---- records ---- */

static bool phi__events_free_one(phi__events *events);

static phi__record *phi__events_take(phi__events *events, size_t text_bytes) {
    size_t need = phi__events_round(sizeof(phi__record) + text_bytes);
    size_t head = phi__events_round(sizeof(phi__event_block));
    phi__event_block *block = events->current;
    if (need < text_bytes) return NULL;
    if (block == NULL || block->bytes - block->used < need) {
        size_t bytes = phi__max(PHI__EVENT_BLOCK_BYTES, phi__add(head, need));
        /* frees popped events before allocating a block */
        while (events->spare == NULL && phi__events_free_one(events)) {}
        if (bytes == PHI__EVENT_BLOCK_BYTES && events->spare != NULL) {
            block = events->spare;
            events->spare = NULL;
        } else {
            block = (phi__event_block *)phi__realloc(events->memory, NULL, 0, bytes);
            if (block == NULL) return NULL;
            block->bytes = bytes;
        }
        block->live = 0;
        block->used = head;
        if (events->current != NULL && events->current->live == 0)
            phi__free(events->memory, events->current, events->current->bytes);
        events->current = block;
    }
    phi__record *record = (phi__record *)(void *)((char *)block + block->used);
    block->used += need;
    block->live++;
    record->block = block;
    record->in_use = record->popped = false;
    return record; /* the caller sets the record's links and event */
}

static void phi__events_unblock(phi__events *events, phi__event_block *block) {
    if (--block->live > 0) return;
    if (block == events->current && block->bytes == PHI__EVENT_BLOCK_BYTES) {
        block->used = phi__events_round(sizeof(phi__event_block));
        return;
    }
    if (block == events->current) events->current = NULL; /* a large block is not reused */
    if (events->spare == NULL && block->bytes == PHI__EVENT_BLOCK_BYTES)
        events->spare = block;
    else
        phi__free(events->memory, block, block->bytes);
}

PHI__FN bool phi__events_reserve(phi__agent *agent) {
    if (agent->events.reserve == NULL)
        agent->events.reserve =
            (phi__record *)phi__alloc(&agent->memory, PHI__RESERVE * sizeof *agent->events.reserve);
    return agent->events.reserve != NULL;
}

PHI__FN void phi__events_unreserve(phi__agent *agent) {
    if (agent->run != NULL || !phi__events_reserve_free(agent)) return;
    phi__free(&agent->memory, agent->events.reserve, PHI__RESERVE * sizeof *agent->events.reserve);
    agent->events.reserve = NULL;
}

PHI__FN bool phi__events_reserve_free(const phi__agent *agent) {
    for (size_t i = 0; agent->events.reserve != NULL && i < PHI__RESERVE; i++)
        if (agent->events.reserve[i].in_use) return false;
    return true;
}

static phi__list *phi__events_list(phi__events *events, const phi__record *record) {
    if (record->popped) return &events->popped;
    return record->agent->events.held ? &events->held : &events->queued;
}

static void phi__events_drop(phi__events *events, phi__record *record) {
    if (&record->link == events->kept) events->kept = record->link.next;
    phi__list_take(phi__events_list(events, record), &record->link);
    phi__list_take(&record->agent->events.all, &record->own);
    phi__answer_drop(record->answer);
    record->answer = NULL;
    if (record->block != NULL) {
        phi__events_unblock(events, record->block);
        return;
    }
    record->in_use = false;
    phi__events_unreserve(record->agent);
}

/* Frees one event that was popped before this step. False: there is none. */
static bool phi__events_free_one(phi__events *events) {
    if (events->popped.first == events->kept) return false;
    phi__events_drop(events, PHI__OWNER(events->popped.first, phi__record, link));
    return true;
}

static void phi__events_queue(phi__agent *agent, phi__record *record) {
    phi__events *events = &agent->rt->events;
    phi_event *event = &record->event;
    event->agent = agent->handle;
    event->user_data = agent->desc.user_data;
    event->seq = ++events->seq;
    event->timestamp_ms =
        agent->rt->in_step ? agent->rt->step.wall_ms : phi__io_wall_ms(agent->rt->io);
    if (event->loop_id.at == NULL && agent->run != NULL) event->loop_id = agent->run->loop_id;
    if (agent->run != NULL) event->turn_index = agent->run->turn.index;
    record->agent = agent;
    phi__list_push(&agent->events.all, &record->own);
    phi__list_push(phi__events_list(events, record), &record->link);
}

/* Allocates a record with `bytes` bytes after it. The caller sets its event. NULL: no memory. */
static phi__record *phi__events_room(phi__agent *agent, size_t bytes) {
    phi__record *record = phi__events_take(&agent->rt->events, bytes);
    if (record == NULL) return NULL;
    record->answer = NULL;
    record->partial_len = 0;
    record->cost = sizeof *record + bytes;
    agent->events.queued_bytes += record->cost;
    return record;
}

/* Allocates a record with a copy of the text. */
static phi__record *phi__events_make(phi__agent *agent, phi_str text, phi__answer *answer,
                                     size_t partial_len) {
    phi__record *record = phi__events_room(agent, text.len);
    if (record == NULL) return NULL;
    if (text.len > 0) memcpy(record + 1, text.at, text.len);
    record->answer = answer;
    record->partial_len = partial_len;
    if (answer != NULL) answer->refs++;
    return record;
}

/* Returns the number of bytes after the record of a part: its message, blocks and null-terminated
   strings. */
static size_t phi__events_part_bytes(const phi_event *event, const phi_message *part) {
    size_t bytes = phi__add(sizeof *part, phi__mul(part->content_count, sizeof *part->content));
    bytes = phi__add(bytes, phi__add(event->text.len, event->child_loop_id.len));
    bytes = phi__add(bytes, phi__add(part->details.len, 3));
    for (size_t i = 0; i < part->content_count; i++) {
        const phi_content *c = &part->content[i];
        const size_t lens[] = {c->text.len, c->data.len,   c->mime_type.len, c->url.len,
                               c->name.len, c->replay.len, c->protocol.len};
        for (size_t k = 0; k < PHI__COUNT(lens); k++) bytes = phi__add(bytes, phi__add(lens[k], 1));
    }
    return bytes;
}

static phi_str phi__events_put(char **at, phi_str text) {
    char *to = *at;
    if (text.len > 0) memcpy(to, text.at, text.len);
    to[text.len] = '\0';
    *at = to + text.len + 1;
    return phi__str(to, text.len);
}

/* Shows an event to the agent's watcher. True: the host must not get this event. */
static bool phi__events_unwanted(phi__agent *agent, const phi_event *event) {
    const phi__child_watch *watch = agent->tree.watch;
    if (watch == NULL) return false;
    if (watch->event != NULL && watch->event(agent, event)) agent->tree.due = true;
    return watch->hidden;
}

PHI__FN bool phi__events_emit_part(phi__agent *agent, const phi_event *event,
                                   const phi_message *part) {
    if (agent->slot == NULL || phi__events_unwanted(agent, event)) return true;
    phi__record *record = phi__events_room(agent, phi__events_part_bytes(event, part));
    if (record == NULL) return false;
    phi_message *message = (phi_message *)(void *)(record + 1);
    phi_content *content = (phi_content *)(void *)(message + 1);
    char *at = (char *)(content + part->content_count);
    *message = *part;
    message->content = content;
    message->details = phi__events_put(&at, part->details);
    for (size_t i = 0; i < part->content_count; i++) {
        memset(&content[i], 0, sizeof content[i]);
        content[i].kind = part->content[i].kind;
        content[i].text = phi__events_put(&at, part->content[i].text);
        content[i].data = phi__events_put(&at, part->content[i].data);
        content[i].mime_type = phi__events_put(&at, part->content[i].mime_type);
        content[i].url = phi__events_put(&at, part->content[i].url);
        content[i].name = phi__events_put(&at, part->content[i].name);
        content[i].replay = phi__events_put(&at, part->content[i].replay);
        content[i].protocol = phi__events_put(&at, part->content[i].protocol);
    }
    record->event = *event;
    record->event.text = phi__events_put(&at, event->text);
    record->event.child_loop_id = phi__events_put(&at, event->child_loop_id);
    record->event.message = message;
    phi__events_queue(agent, record);
    return true;
}

PHI__FN bool phi__events_emit_of(phi__agent *agent, const phi_event *event, phi__answer *answer) {
    if (agent->slot == NULL || phi__events_unwanted(agent, event)) return true;
    phi__record *record = phi__events_make(agent, event->text, answer, 0);
    if (record == NULL) return false;
    record->event = *event;
    if (event->text.len > 0) record->event.text.at = (const char *)(record + 1);
    /* removes control characters: the text quotes names of calls and files */
    if (event->kind == PHI_EV_WARNING)
        record->event.text.len = phi__words_clean((char *)(record + 1), event->text.len);
    phi__events_queue(agent, record);
    return true;
}

PHI__FN bool phi__events_emit(phi__agent *agent, const phi_event *event) {
    return phi__events_emit_of(agent, event, NULL);
}

PHI__FN bool phi__events_warn(phi__agent *agent, phi_str text) {
    phi_event event = PHI_ZERO;
    event.kind = PHI_EV_WARNING;
    event.text = text;
    return phi__events_emit(agent, &event);
}

PHI__FN bool phi__events_warn_call(phi__agent *agent, const phi_content *block, phi_str text) {
    phi_event event = PHI_ZERO;
    event.kind = PHI_EV_WARNING;
    event.tool_call_id = block->id;
    event.tool_name = block->name;
    event.text = text;
    return phi__events_emit(agent, &event);
}

PHI__FN bool phi__events_emit_asked(phi__agent *agent, const phi_event *event) {
    size_t bytes = phi__add(phi__add(event->text.len, event->arguments.len),
                            phi__add(phi__add(event->source.len, event->question_kind.len), 4));
    if (agent->slot == NULL || phi__events_unwanted(agent, event)) return true;
    phi__record *record = phi__events_room(agent, bytes);
    if (record == NULL) return false;
    char *at = (char *)(record + 1);
    record->event = *event;
    record->event.text = phi__events_put(&at, event->text);
    record->event.arguments = phi__events_put(&at, event->arguments);
    record->event.source = phi__events_put(&at, event->source);
    record->event.question_kind = phi__events_put(&at, event->question_kind);
    phi__events_queue(agent, record);
    return true;
}

PHI__FN bool phi__events_emit_delta(phi__agent *agent, phi_event_kind kind, uint32_t block_index,
                                    phi_str text, phi__answer *answer, size_t partial_len) {
    if (agent->slot == NULL) return true;
    if (agent->tree.watch != NULL) {
        phi_event event = PHI_ZERO;
        event.kind = kind;
        event.block_index = block_index;
        event.text = text;
        if (phi__events_unwanted(agent, &event)) return true;
    }
    phi__record *record = phi__events_make(agent, text, answer, partial_len);
    if (record == NULL) return false;
    memset(&record->event, 0, sizeof record->event);
    record->event.kind = kind;
    record->event.block_index = block_index;
    record->event.text = phi__str((const char *)(record + 1), text.len);
    phi__events_queue(agent, record);
    return true;
}

PHI__FN bool phi__events_emit_opaque(phi__agent *agent, uint32_t block_index, phi_str type,
                                     phi_str json, phi__answer *answer) {
    phi_event event = PHI_ZERO;
    event.kind = PHI_EV_OPAQUE;
    event.block_index = block_index;
    event.source = type;
    event.text = json;
    if (agent->slot == NULL || phi__events_unwanted(agent, &event)) return true;
    phi__record *record = phi__events_room(agent, phi__add(phi__add(type.len, json.len), 2));
    if (record == NULL) return false;
    char *at = (char *)(record + 1);
    event.source = phi__events_put(&at, type);
    event.text = phi__events_put(&at, json);
    record->event = event;
    record->answer = answer;
    answer->refs++;
    phi__events_queue(agent, record);
    return true;
}

PHI__FN bool phi__events_emit_surely(phi__agent *agent, const phi_event *event) {
    if (phi__events_emit(agent, event)) return true;
    for (size_t i = 0; agent->events.reserve != NULL && i < PHI__RESERVE; i++) {
        phi__record *record = &agent->events.reserve[i];
        if (record->in_use) continue;
        memset(record, 0, sizeof *record);
        record->in_use = true;
        record->event = *event;
        phi__events_queue(agent, record);
        return false;
    }
    PHI_ASSERT(false && "the reserve covers every event of a run that must not be lost");
    return false;
}

PHI__FN bool phi__events_backlog(const phi__agent *agent) {
    return agent->events.queued_bytes >= agent->desc.memory.event_queue_bytes;
}

static void phi__events_look_up(phi__record *record) {
    if (record->answer == NULL) return;
    if (record->event.kind == PHI_EV_MESSAGE_START) {
        record->event.message = phi__answer_empty(record->answer);
        return;
    }
    record->event.message = phi__answer_message(record->answer);
    record->event.partial = phi__events_partial(record);
}

/* Subtracts a popped event from the queue's size. Wakes a run that was stopped by a full queue. */
static void phi__events_paid(phi__record *record) {
    phi__agent *agent = record->agent;
    bool stopped = phi__events_backlog(agent);
    agent->events.queued_bytes -= record->cost;
    record->cost = 0;
    if (!stopped || phi__events_backlog(agent)) return;
    if (agent->run != NULL) phi__schedule_wake(agent->run);
    /* Report input that was dropped without an event. If there is no memory for the event, a later
       pop tries again. */
    if (agent->events.untold_drops == 0) return;
    phi_event event = PHI_ZERO;
    event.kind = PHI_EV_INPUT_DROPPED;
    event.message_count = agent->events.untold_drops;
    event.source = PHI__LIT("The queues of messages and of events were full");
    if (phi__events_emit(agent, &event)) agent->events.untold_drops = 0;
}

PHI__FN void phi__events_release(phi_runtime *rt, bool all) {
    phi__events *events = &rt->events;
    uint64_t left = PHI__EVENTS_FREED + (events->seq - events->freed_at);
    events->kept = NULL;
    events->freed_at = events->seq;
    while ((all || left-- > 0) && phi__events_free_one(events)) {}
}

PHI__FN void phi__events_purge(phi_runtime *rt, phi__agent *agent) {
    phi__list *all = &agent->events.all;
    while (all->first != NULL)
        phi__events_drop(&rt->events, PHI__OWNER(all->first, phi__record, own));
    agent->events.queued_bytes = 0;
}

PHI__FN void phi__events_free(phi__events *events) {
    PHI_ASSERT(!events->queued.first && !events->held.first && !events->popped.first);
    if (events->current != NULL) phi__free(events->memory, events->current, events->current->bytes);
    if (events->spare != NULL) phi__free(events->memory, events->spare, events->spare->bytes);
    events->current = events->spare = NULL;
}

/* ---- a run's entries in its agent's log, and their events ---- */

PHI__FN void phi__events_stamp(const phi__run *run, phi_message *message) {
    message->timestamp_ms = phi__io_wall_ms(run->agent->rt->io);
    message->loop_id = run->loop_id;
    message->turn_index = run->turn.index;
}

PHI__FN phi__entry phi__events_entry(const phi__run *run, phi_entry_kind kind) {
    phi__entry entry = PHI_ZERO;
    entry.kind = kind;
    entry.at_ms = phi__io_wall_ms(run->agent->rt->io);
    entry.loop_id = run->loop_id;
    entry.turn_index = run->turn.index;
    return entry;
}

PHI__FN bool phi__events_message(phi__run *run, const phi_message *message, phi_input input,
                                 phi_str source) {
    phi_event event = PHI_ZERO;
    event.kind = PHI_EV_MESSAGE_START;
    event.message = message;
    event.input = input;
    event.source = source;
    if (!phi__events_emit(run->agent, &event)) return false;
    event.kind = PHI_EV_MESSAGE_END;
    return phi__events_emit(run->agent, &event);
}

PHI__FN bool phi__events_log(phi__run *run, const phi_message *kept) {
    phi__entry entry = phi__events_entry(run, PHI_ENTRY_MESSAGE);
    entry.message = kept;
    return phi__append(run->agent->thread, &entry, 1) &&
           phi__events_message(run, kept, PHI_INPUT_NONE, phi__str(NULL, 0));
}

PHI__FN phi_status phi__events_rewrite(phi__run *run, const phi_rewrite *rewrite) {
    return phi__edit_rewrite(run->agent->thread, rewrite, run->loop_id, run->turn.index, NULL, NULL,
                             0);
}

/* ---- public ---- */

PHI_API bool phi_next_event(phi_runtime *rt, phi_event *out) {
    if (rt == NULL || out == NULL || rt->events.queued.first == NULL) return false;
    phi__events *events = &rt->events;
    phi__record *record = PHI__OWNER(events->queued.first, phi__record, link);
    phi__events_paid(record);
    phi__events_look_up(record);
    *out = record->event;
    if (record->block == NULL) { /* a reserve record: the event points to no memory of the record */
        phi__events_drop(events, record);
        return true;
    }
    phi__list_take(&events->queued, &record->link);
    phi__list_push(&events->popped, &record->link);
    if (events->kept == NULL) events->kept = &record->link;
    record->popped = true;
    return true;
}

PHI_API phi_status phi_agent_hold(phi_agent handle, bool hold) {
    phi__agent *agent = phi__find_agent(handle);
    if (agent == NULL) return handle.rt != NULL ? PHI_STALE : PHI_BAD_ARG;
    if (agent->events.held == hold) return PHI_OK;
    for (phi__link *own = agent->events.all.first; own != NULL; own = own->next) {
        phi__record *record = PHI__OWNER(own, phi__record, own);
        if (record->popped) continue;
        phi__list_take(phi__events_list(&handle.rt->events, record), &record->link);
        phi__list_push(hold ? &handle.rt->events.held : &handle.rt->events.queued, &record->link);
    }
    agent->events.held = hold;
    return PHI_OK;
}
