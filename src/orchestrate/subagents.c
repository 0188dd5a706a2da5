/* subagents.c - the tool that delegates to sub-agents, and phi_spawn. */
#include "agent/agent_in.h"
#include "features/features_in.h"
#include "orchestrate/subagents.h"
#include "text/text_in.h"

#include <stdio.h>

typedef struct phi__children {
    phi__attached attached;
    phi__agent *parent;
    phi__list list; /* list of phi__child, oldest first */
    /* The child that a sweep visits next. A host callback may drop any child. It may also begin
       another sweep, which visits all children and so ends the outer sweep. */
    phi__link *next;
    uint64_t made;
} phi__children;

typedef struct phi__child {
    phi__link link;
    phi__children *of;
    phi_subagent_desc *desc; /* NULL if the child is frozen */
    phi__agent *agent;       /* NULL if the child is frozen, or its agent was freed */
    phi_call call;           /* the call that waits for the child; rt is NULL if none waits */
    bool spawned;            /* phi_spawn made it, and the host waits for its result */
    bool running;
    bool over;         /* finished; freed once the host has popped its events */
    uint32_t depth;    /* levels below the topmost agent */
    uint64_t number;   /* the number in its id */
    phi__buf heard;    /* parts of events to forward to the call */
    size_t last_heard; /* offset of the last part; SIZE_MAX: none */
    /* The outcome, kept if the host's event found no memory at first. fault is NULL or a static
       message, and a child with a fault has no agent. */
    phi_status status;
    const char *fault;
    /* for a frozen child: strings in one block */
    phi_str name, call_id, snapshot;
    char *block;
    size_t block_bytes;
} phi__child;

enum { PHI__CHILD_ID = 32 }; /* size of an id in bytes */

/* The start function of every sub-agent tool. */
static phi_flow phi__subagents_start(void *user_data, phi_call call, phi_str arguments);

/* ---- the children of an agent ---- */

/* A phi__children is attached to the calling agent. Its children live in the same memory. A child
   is `frozen` while it is JSON of a snapshot. A child belongs to a call or to the host (phi_spawn),
   or it has finished and is kept. Host callbacks may free the calling agent: phi__children stays
   valid until the step ends, but a phi__child may be freed. */

enum {
    PHI__CHILD_TURNS = 10, /* default limits of a child; conformance C-54 */
    PHI__CHILD_TOKENS = 1000000,
    PHI__CHILD_DURATION_MS = 300000
};

static phi__child *phi__child_at(phi__link *link) {
    return link != NULL ? PHI__OWNER(link, phi__child, link) : NULL;
}

/* Returns the child after `child`, or the first child if `child` is NULL. */
static phi__child *phi__child_next(const phi__children *all, const phi__child *child) {
    return phi__child_at(child != NULL ? child->link.next : all->list.first);
}

/* A frozen child has no desc, so its saved name is used. */
static phi_str phi__child_name(const phi__child *child) {
    return child->desc != NULL ? phi_str_of(child->desc->name) : child->name;
}

/* True if the child has finished and the model may continue it. */
static bool phi__child_rests(const phi__child *child) {
    return !child->running && !child->over && !child->spawned;
}

static void phi__child_id(const phi__child *child, char out[PHI__CHILD_ID]) {
    (void)snprintf(out, PHI__CHILD_ID, "sub-%llu", (unsigned long long)child->number);
}

/* ---- freeing a child ---- */

static void phi__child_free_block(phi__child *child) {
    phi__free(&child->of->parent->memory, child->block, child->block_bytes);
    child->block = NULL;
    child->block_bytes = 0;
    child->name = child->call_id = child->snapshot = phi__str("", 0);
}

static void phi__child_drop_agent(phi__child *child) {
    phi__agent *agent = child->agent;
    child->agent = NULL;
    if (agent == NULL) return;
    /* A hidden agent keeps its watch functions, so its last charge goes to the parent. */
    agent->tree.watched = NULL;
    phi__end_drop(agent);
}

/* Frees the child and its agent. */
static void phi__child_drop(phi__child *child) {
    phi__children *all = child->of;
    if (all->next == &child->link) all->next = child->link.next;
    phi__list_take(&all->list, &child->link);
    phi__buf_free(&child->heard);
    phi__child_free_block(child);
    phi__child_drop_agent(child);
    phi__free(&all->parent->memory, child, sizeof *child);
}

/* Frees the child once the host has popped its events, because the events are freed with it. */
static void phi__child_leave(phi__child *child) {
    child->over = true;
    if (phi__find_hidden(child->agent) || child->agent->events.all.first == NULL)
        phi__child_drop(child);
}

/* Keeps the newest desc->keep finished children of a desc and frees the older ones. */
static void phi__child_keep_newest(phi__children *all, const phi_subagent_desc *desc) {
    phi__child *child = phi__child_at(all->list.last);
    for (uint32_t n = 0; child != NULL;) {
        phi__child *last = child;
        child = phi__child_at(child->link.prev);
        if (last->desc == desc && phi__child_rests(last) && ++n > desc->keep)
            phi__child_leave(last);
    }
}

/* Finds a finished child by its id and the name of its desc. NULL if there is none. */
static phi__child *phi__child_kept(const phi__children *all, const phi_subagent_desc *desc,
                                   phi_str id) {
    phi__child *child = NULL;
    char own[PHI__CHILD_ID];
    while ((child = phi__child_next(all, child)) != NULL) {
        phi__child_id(child, own);
        if (phi__child_rests(child) && phi__str_is(id, own) &&
            phi__str_is(phi__child_name(child), desc->name))
            return child;
    }
    return NULL;
}

/* ---- making a child ---- */

/* Makes an empty child and adds it to the list. NULL: no memory. */
static phi__child *phi__child_make(phi__children *all) {
    phi__child *child = (phi__child *)phi__alloc(&all->parent->memory, sizeof *child);
    if (child == NULL) return NULL;
    child->of = all;
    child->last_heard = SIZE_MAX;
    phi__buf_init(&child->heard, &all->parent->memory);
    phi__list_push(&all->list, &child->link);
    return child;
}

/* Gives a sub-agent the model and the credential hook of the calling agent. False: no memory. */
static bool phi__child_inherit(const phi__agent *parent, phi_arena *scratch, phi_agent_desc *out) {
    out->model = parent->desc.model;
    if (out->provider == NULL) {
        out->provider = parent->desc.provider;
        if (parent->desc.failover != NULL && !phi__failover_inherit(parent, scratch, out))
            return false;
    }
    if (out->hook_fn != NULL || (parent->desc.hook_points & (uint32_t)PHI_HOOK_CREDENTIAL) == 0)
        return true;
    out->hook_fn = parent->desc.hook_fn;
    out->hook_points = (uint32_t)PHI_HOOK_CREDENTIAL;
    out->user_data = parent->desc.user_data;
    out->hook_user_data = parent->desc.hook_user_data;
    return true;
}

/* Fills the desc of the child's agent. Its tool array is in the arena. False: no memory. */
static bool phi__child_desc(const phi__child *child, phi_subagent_desc *desc, phi_arena *scratch,
                            phi_agent_desc *out) {
    const phi__agent *parent = child->of->parent;
    memset(out, 0, sizeof *out);
    if (desc->agent != NULL) *out = *desc->agent;
    if ((out->model.protocol == NULL || out->model.protocol[0] == '\0') &&
        !phi__child_inherit(parent, scratch, out))
        return false;
    out->parent = parent->handle;
    out->ids.agent_id = out->ids.session_id = out->thread_id = NULL;
    if (out->ids.config_id == NULL) out->ids.config_id = "sub";
    out->input.first_turn_trigger = PHI_TRIGGER_SUB_AGENT;
    if (out->limits.max_turns == 0) out->limits.max_turns = PHI__CHILD_TURNS;
    if (out->limits.max_tokens == 0) out->limits.max_tokens = PHI__CHILD_TOKENS;
    if (out->limits.max_duration_ms == 0) out->limits.max_duration_ms = PHI__CHILD_DURATION_MS;
    /* At the deepest level, leaves out the tools that delegate. */
    size_t n = 0;
    if (child->depth < (desc->max_depth != 0 ? desc->max_depth : 1) || out->tool_count == 0)
        return true;
    phi_tool *tools =
        (phi_tool *)phi_arena_alloc(scratch, phi__mul(out->tool_count, sizeof *tools));
    if (tools == NULL) return false;
    for (size_t i = 0; out->tools != NULL && i < out->tool_count; i++)
        if (out->tools[i].start != phi__subagents_start) tools[n++] = out->tools[i];
    out->tools = tools;
    out->tool_count = n;
    return true;
}

/* The result of a child's run. Strings are in an arena or static. */
typedef struct phi__result {
    phi_str text;
    phi_str stop; /* the sentence that names the limit; empty if no limit ended the run */
    const char *details;
    size_t turns; /* messages in the run */
    phi_status status;
    bool is_error, no_memory;
} phi__result;

/* Reads the text of the run's last answer that has text, counts the messages of the run, and finds
   the sentence of a limit, which is the run's last message. */
static void phi__result_read(const phi__agent *agent, phi_arena *arena, phi__result *out) {
    const phi_thread *thread = agent->thread;
    size_t i = thread->messages.count;
    while (i-- > 0) {
        const phi__entry *entry = phi__lane_message(thread, i);
        if (entry == NULL || !phi_str_equal(entry->loop_id, agent->line.last_loop_id)) return;
        const phi_message *message = entry->message;
        if (out->turns++ == 0 && out->status == PHI_LIMIT && message->role == PHI_ROLE_USER)
            out->stop = phi_message_text(message, "\n", arena, &out->no_memory);
        if (out->text.len == 0 && message->role == PHI_ROLE_ASSISTANT)
            out->text = phi_message_text(message, "\n", arena, &out->no_memory);
    }
}

static phi__result phi__result_of(const phi__child *child, phi_status status,
                                  const phi_failure *failure, phi_arena *arena) {
    phi__result out = PHI_ZERO;
    char id[PHI__CHILD_ID];
    phi__buf buf;
    phi_str details;
    out.status = status;
    out.is_error = status != PHI_OK && status != PHI_LIMIT;
    phi__result_read(child->agent, arena, &out);
    if (out.is_error) {
        out.text =
            status == PHI_CANCELLED ? PHI__LIT("Cancelled") : phi_str_of(phi_status_text(status));
        if (failure != NULL && failure->message.len > 0) out.text = failure->message;
    } else if (out.text.len == 0)
        out.text = phi_str_of(phi__texts_get(child->agent->desc.texts, PHI_TEXT_SUBAGENT_EMPTY));
    phi__buf_init(&buf, arena->memory);
    phi__buf_char(&buf, '{');
    phi__records_str(&buf, "sub_agent", phi_str_of(child->desc->name));
    phi__records_u64(&buf, "turns", out.turns);
    if (status == PHI_LIMIT) phi__records_str(&buf, "status", PHI__LIT("limit"));
    phi__child_id(child, id);
    if (child->desc->keep > 0 && !out.is_error) phi__records_str(&buf, "id", phi_str_of(id));
    phi__buf_char(&buf, '}');
    if (buf.failed || !phi__arena_str(arena, phi__buf_str(&buf), &details))
        out.no_memory = true;
    else
        out.details = details.at;
    phi__buf_free(&buf);
    if (!out.no_memory) return out;
    out.text = PHI__LIT("Out of memory");
    out.stop = phi__str("", 0);
    out.is_error = true;
    return out;
}

static void phi__result_to_call(phi_call call, const phi__result *result,
                                const char *child_loop_id) {
    phi_content content[2];
    phi_tool_result given = PHI_ZERO;
    content[0] = phi__input_text(result->text);
    content[1] = phi__input_text(result->stop);
    given.content = content;
    given.content_count = result->stop.len > 0 ? 2 : 1;
    given.details = result->details;
    given.is_error = result->is_error;
    given.child_loop_id = child_loop_id;
    (void)phi_call_result(call, &given); /* without memory, the call fails on its own */
}

/* Fails a call that has no child. */
static void phi__result_error(phi_call call, const char *words) {
    phi__result result = PHI_ZERO;
    result.text = phi_str_of(words);
    result.is_error = true;
    phi__result_to_call(call, &result, NULL);
}

/* Logs the run in the parent's log, and returns the log's copy of its ids. NULL: no memory. */
static phi__child_run *phi__result_log(phi__agent *parent, const phi__agent *agent) {
    phi_thread *thread = parent->thread;
    if (thread->user == NULL && !phi__thread_roll(thread, NULL)) return NULL;
    phi_arena *room = phi__thread_room(thread);
    phi__child_run *spawn = (phi__child_run *)phi__arena_zero(room, sizeof *spawn);
    phi__entry entry = PHI_ZERO;
    entry.kind = PHI_ENTRY_SPAWN;
    entry.at_ms = phi__thread_now(thread);
    entry.of.spawn = spawn;
    if (spawn == NULL || !phi__arena_str(room, agent->line.session->id, &spawn->session_id) ||
        !phi__arena_str(room, agent->line.last_loop_id, &spawn->loop_id) ||
        !phi__arena_str(room, parent->line.last_loop_id, &entry.loop_id))
        return NULL;
    spawn->tool_call_id = phi__str("", 0);
    return phi__append(thread, &entry, 1) ? spawn : NULL;
}

/* Emits PHI_EV_SUBAGENT_END. False: no memory; try again later. */
static bool phi__result_to_host(const phi__child *child, const phi__result *result) {
    phi__agent *parent = child->of->parent;
    char id[PHI__CHILD_ID];
    phi__child_run *spawn = phi__result_log(parent, child->agent);
    if (spawn == NULL) return false;
    phi_arena *room = phi__thread_room(parent->thread);
    phi_usage *usage = (phi_usage *)phi_arena_alloc(room, sizeof *usage);
    phi_event event = PHI_ZERO;
    phi__child_id(child, id);
    if (usage == NULL || !phi__arena_str(room, phi_str_of(id), &event.source) ||
        !phi__arena_str(room, phi_str_of(child->desc->name), &event.tool_name))
        return false;
    *usage = child->agent->spent.run_usage;
    event.kind = PHI_EV_SUBAGENT_END;
    event.text = result->text;
    event.status = result->status;
    event.is_error = result->is_error;
    event.child_loop_id = spawn->loop_id;
    event.usage = usage;
    return phi__events_emit(parent, &event);
}

/* Gives the result of a run to its call or to the host. Then keeps the child or frees it. */
static void phi__result_give(phi__child *child, phi_status status, const phi_failure *failure) {
    phi_arena scratch;
    bool keep = false, told = true; /* told: false if the host must still get the result */
    phi_arena_init(&scratch, &child->of->parent->memory, 0);
    if (child->call.rt != NULL || child->spawned) {
        const phi__result result = phi__result_of(child, status, failure, &scratch);
        keep = !result.is_error;
        if (child->spawned)
            told = phi__result_to_host(child, &result);
        else
            phi__result_to_call(child->call, &result, child->agent->line.last_loop_id.at);
    }
    phi_arena_free(&scratch);
    child->running = false;
    child->status = status;
    if (!told) return;
    /* Keeps the child, or frees it now or once its events are popped. */
    child->spawned = false;
    child->call.rt = NULL;
    if (keep && child->desc->keep > 0)
        phi__child_keep_newest(child->of, child->desc);
    else
        phi__child_leave(child);
}

/* Fails the child with a static message and frees it. If the host's event finds no memory, the
   child stays without an agent until the next sweep. */
static void phi__result_fail(phi__child *child, phi_status status, const char *words) {
    if (child->call.rt != NULL) phi__result_error(child->call, words);
    child->call.rt = NULL;
    child->running = false;
    child->status = status;
    child->fault = words;
    phi_event event = PHI_ZERO;
    event.kind = PHI_EV_SUBAGENT_END;
    event.text = phi_str_of(words);
    event.status = status;
    event.is_error = true;
    if (child->desc != NULL) event.tool_name = phi_str_of(child->desc->name);
    if (!child->spawned || phi__events_emit(child->of->parent, &event))
        phi__child_drop(child);
    else
        phi__child_drop_agent(child);
}

/* ---- forwarding the child's events to its call ---- */

/* A child's event can arrive while its run changes state, when no host function may be called. So
   the event is stored and forwarded after the state change. Updates are lost without memory, or if
   the host does not pop its events. */

typedef enum phi__forward_kind {
    PHI__FORWARD_TEXT = 1, /* text of the child's answer */
    PHI__FORWARD_TOOL,
    PHI__FORWARD_PROGRESS
} phi__forward_kind;

/* Precedes the text of each part in the buffer. */
typedef struct phi__forward_part {
    phi__forward_kind kind;
    size_t len;
} phi__forward_part;

static phi__forward_part phi__forward_get(const phi__buf *heard, size_t at) {
    phi__forward_part part;
    memcpy(&part, heard->at + at, sizeof part);
    return part;
}

static void phi__forward_add(phi__child *child, phi__forward_kind kind, phi_str text) {
    phi__buf *heard = &child->heard;
    phi__forward_part part;
    size_t at = child->last_heard;
    if (at != SIZE_MAX) part = phi__forward_get(heard, at);
    if (at != SIZE_MAX && kind == PHI__FORWARD_TEXT && part.kind == kind) {
        part.len += text.len;
    } else {
        at = heard->len;
        part.kind = kind;
        part.len = text.len;
        phi__buf_add(heard, (const char *)&part, sizeof part);
    }
    phi__buf_add_str(heard, text);
    if (heard->failed) {
        phi__buf_free(&child->heard);
        child->last_heard = SIZE_MAX;
        return;
    }
    memcpy(heard->at + at, &part, sizeof part);
    child->last_heard = at;
}

/* Forwards the stored parts to the child's call. Each part may call hooks of the host. A hook may
   free the child and its parent, whose memory stays valid until the step ends. */
static void phi__forward_all(phi__child *child) {
    phi__buf heard = child->heard, details;
    phi_call call = child->call;
    phi_status status = PHI_OK;
    size_t at = 0;
    phi__buf_init(&child->heard, &child->of->parent->memory);
    phi__buf_init(&details, &child->of->parent->memory);
    child->last_heard = SIZE_MAX;
    phi__buf_char(&details, '{');
    phi__records_str(&details, "sub_agent", phi_str_of(child->desc->name));
    phi__buf_add(&details, "}", 2); /* includes the terminating NUL */
    phi_tool_result partial = PHI_ZERO;
    partial.child_loop_id = child->agent->line.last_loop_id.at;
    if (!details.failed) partial.details = details.at;
    while (at < heard.len && status != PHI_STALE) {
        phi__forward_part part = phi__forward_get(&heard, at);
        phi_content content = phi__input_text(phi__str(heard.at + at + sizeof part, part.len));
        partial.content = &content;
        partial.content_count = 1;
        status = part.kind == PHI__FORWARD_PROGRESS ? phi__update_progress(call, content.text)
                                                    : phi_call_update(call, &partial);
        at += sizeof part + part.len;
    }
    phi__buf_free(&details);
    phi__buf_free(&heard);
}

/* ---- watching a child's agent ---- */

/* Returns the child of an agent. NULL if the agent is being freed and no longer watched. */
static phi__child *phi__follow_watched(const phi__agent *agent) {
    return (phi__child *)agent->tree.watched;
}

/* Stores an event of a child's agent. True: call phi__forward_all. */
static bool phi__follow_saw(phi__agent *agent, const phi_event *event) {
    phi__child *child = phi__follow_watched(agent);
    phi__buf text;
    if (child == NULL || child->call.rt == NULL) return false;
    if (!phi__call_pending(child->call)) { /* the call was finished from outside, so nobody waits */
        child->call.rt = NULL;
        phi__schedule_cancel_tree(child->agent, false);
        return false;
    }
    switch ((int)event->kind) {
    case PHI_EV_TEXT: phi__forward_add(child, PHI__FORWARD_TEXT, event->text); return true;
    case PHI_EV_TOOL_START:
        phi__buf_init(&text, &child->of->parent->memory);
        phi__buf_wrap(&text, "[sub-agent calling tool: ", event->tool_name, "]");
        if (!text.failed) phi__forward_add(child, PHI__FORWARD_TOOL, phi__buf_str(&text));
        phi__buf_free(&text);
        return true;
    case PHI_EV_TOOL_PROGRESS:
        phi__forward_add(child, PHI__FORWARD_PROGRESS, event->text);
        /* The host may report progress while the run waits. */
        if (child->agent->run != NULL) phi__schedule_wake(child->agent->run);
        return true;
    default: return false;
    }
}

static void phi__follow_between(phi__agent *agent) {
    if (phi__follow_watched(agent) != NULL) phi__forward_all(phi__follow_watched(agent));
}

static void phi__follow_over(phi__agent *agent, phi_status status, const phi_failure *failure,
                             bool stopping) {
    phi__child *child = phi__follow_watched(agent);
    (void)stopping;
    if (child != NULL && child->running) phi__result_give(child, status, failure);
}

static void phi__follow_gone(phi__agent *agent) {
    phi__child *child = phi__follow_watched(agent);
    if (child == NULL) return;
    child->agent = NULL;
    phi__result_fail(child, PHI_CANCELLED, "The sub-agent was freed");
}

static const phi__child_watch phi__follow_hidden = {
    true, false, phi__follow_saw, phi__follow_between, phi__follow_over, phi__follow_gone};
static const phi__child_watch phi__follow_shown = {
    false, false, phi__follow_saw, phi__follow_between, phi__follow_over, phi__follow_gone};

/* Sets the child's agent and starts to watch it. */
static void phi__follow_begin(phi__child *child, phi_subagent_desc *desc, phi__agent *agent) {
    child->desc = desc;
    child->agent = agent;
    agent->tree.watch = desc->show_events ? &phi__follow_shown : &phi__follow_hidden;
    agent->tree.watched = child;
}

/* Returns the depth of a sub-agent below the topmost agent. 0 if the agent is not a sub-agent. */
static uint32_t phi__follow_depth(const phi__agent *agent) {
    const phi__child_watch *watch = agent->tree.watch;
    if (watch != &phi__follow_hidden && watch != &phi__follow_shown) return 0;
    const phi__child *child = phi__follow_watched(agent);
    return child != NULL ? child->depth : 0;
}

/* ---- children in a snapshot ---- */

static void phi__child_save_one(const phi__child *child, phi__buf *out, phi_arena *scratch) {
    phi_str call_id = child->call.rt != NULL ? phi__update_info(child->call).id : child->call_id;
    phi__json_write_comma(out);
    phi__buf_char(out, '{');
    phi__records_u64(out, "number", child->number);
    phi__records_str(out, "name", phi__child_name(child));
    phi__records_u64(out, "depth", child->depth);
    phi__records_true(out, "running", child->running);
    phi__records_true(out, "spawned", child->spawned);
    phi__records_true(out, "fault", child->fault != NULL);
    phi__records_some(out, "call", call_id);
    phi_str text = child->snapshot;
    if (child->agent != NULL && phi_agent_snapshot(child->agent->handle, scratch, &text) != PHI_OK)
        out->failed = true;
    phi__json_write_key(out, PHI__LIT("agent"));
    phi__buf_add_str(out, text.len > 0 ? text : PHI__LIT("null"));
    phi__buf_char(out, '}');
}

static void phi__child_save_all(const phi__attached *attached, phi__buf *out, phi_arena *scratch) {
    const phi__children *all = PHI__OWNER((uintptr_t)attached, const phi__children, attached);
    phi__buf_char(out, '{');
    phi__records_u64(out, "made", all->made);
    phi__records_raw(out, "children", "[");
    const phi__child *child = NULL;
    while ((child = phi__child_next(all, child)) != NULL) {
        bool waits = child->call.rt != NULL || child->call_id.len > 0 || child->spawned;
        if (!child->over && (waits || !child->running)) phi__child_save_one(child, out, scratch);
    }
    phi__buf_text(out, "]}");
}

/* ---- loading children from a snapshot ---- */

/* Copies the saved child into one block. False: no memory. */
static bool phi__child_freeze(phi__child *child, const phi_json *node) {
    phi_memory *memory = &child->of->parent->memory;
    phi_str name = phi__records_get_str(node, "name"), call = phi__records_get_str(node, "call");
    phi__buf text;
    phi__buf_init(&text, memory);
    if (phi__json_write(&text, phi_json_get(node, "agent"), 0) == PHI_OK && !text.failed) {
        size_t len = text.len;
        phi__buf_add_str(&text, name);
        phi__buf_add_str(&text, call);
        if (!text.failed) child->block = (char *)phi__alloc(memory, text.len);
        if (child->block != NULL) {
            memcpy(child->block, text.at, text.len);
            child->block_bytes = text.len;
            child->snapshot = phi__str(child->block, len);
            child->name = phi__str(child->block + len, name.len);
            child->call_id = phi__str(child->block + len + name.len, call.len);
        }
    }
    phi__buf_free(&text);
    return child->block != NULL;
}

static bool phi__child_save_load(phi__children *all, const phi_json *node) {
    bool fault = phi__records_get_bool(node, "fault");
    /* the call ended when the run was interrupted */
    if (phi_json_get(node, "call") != NULL && all->parent->run == NULL) return true;
    if (!phi_json_is(phi_json_get(node, "agent"), PHI_JSON_OBJECT) && !fault) return true;
    phi__child *child = phi__child_make(all);
    if (child == NULL) return false;
    child->number = phi__records_get_u64(node, "number");
    child->depth = phi__records_get_u32(node, "depth");
    child->running = phi__records_get_bool(node, "running");
    child->spawned = phi__records_get_bool(node, "spawned");
    if (!fault) return phi__child_freeze(child, node);
    child->status = PHI_CANCELLED;
    child->fault = "The sub-agent is gone";
    return true;
}

/* Adds the children of the parent's snapshot to the list. False: no memory. */
static bool phi__child_save_claim(phi__children *all) {
    phi_str saved = phi__attached_saved(all->parent, "subagents");
    phi_json *root = NULL;
    phi_arena scratch;
    bool done = true;
    if (saved.len == 0) return true;
    phi_arena_init(&scratch, &all->parent->memory, 0);
    phi_status status = phi_json_parse(&scratch, saved, PHI_JSON_BORROW, &root, NULL);
    if (status == PHI_OK) {
        const phi_json *list = phi_json_get(root, "children");
        all->made = phi__records_get_u64(root, "made");
        for (size_t i = 0; done && phi_json_at(list, i) != NULL; i++)
            done = phi__child_save_load(all, phi_json_at(list, i));
    }
    phi_arena_free(&scratch);
    done = done && status != PHI_NO_MEMORY;
    if (done) phi__attached_saved_drop(all->parent, "subagents");
    return done;
}

/* Makes the agent of a frozen child. On failure, phi_last_error has a message. */
static phi_status phi__child_save_thaw(phi__child *child, phi_subagent_desc *desc) {
    phi__agent *parent = child->of->parent, *agent = NULL;
    phi_agent_desc d;
    phi_arena scratch;
    phi_json *root = NULL;
    phi_arena_init(&scratch, &parent->memory, 0);
    phi_status status = phi_json_parse(&scratch, child->snapshot, 0, &root, NULL);
    if (status == PHI_OK && !phi__child_desc(child, desc, &scratch, &d)) status = PHI_NO_MEMORY;
    if (status == PHI_OK)
        agent = phi__snap_make(parent->rt, &d, root, PHI_RESTORE_RESUME);
    else
        (void)phi__error(parent->rt, status, "%s", phi_status_text(status));
    phi_arena_free(&scratch);
    if (agent == NULL) return phi__error_last(parent->rt, NULL);
    phi__child_free_block(child);
    phi__follow_begin(child, desc, agent);
    if (!child->running || agent->run != NULL) return PHI_OK;
    return phi__error(parent->rt, PHI_PARSE, "the snapshot has no run of it");
}

/* Returns the oldest child that has not failed and has a number up to `last`. NULL if there is
   none. Loops call this again after each child, because a host callback may drop any child. */
static phi__child *phi__children_first(const phi__children *all, uint64_t last, bool frozen,
                                       const char *name) {
    phi__child *child = NULL;
    while ((child = phi__child_next(all, child)) != NULL) {
        if (child->number > last || child->fault != NULL) continue;
        if (frozen && (child->agent != NULL || !child->spawned)) continue;
        if (name == NULL || phi__str_is(child->name, name)) return child;
    }
    return NULL;
}

static void phi__children_renewed(phi__attached *attached, bool copied) {
    phi__children *all = PHI__OWNER(attached, phi__children, attached);
    uint64_t last = all->made; /* children that the new conversation makes get higher numbers */
    phi__child *child;
    if (copied) return;
    while ((child = phi__children_first(all, last, false, NULL)) != NULL)
        phi__result_fail(child, PHI_CANCELLED, "The conversation was reset");
}

static void phi__children_freed(phi__attached *attached) {
    phi__children *all = PHI__OWNER(attached, phi__children, attached);
    while (all->list.first != NULL) phi__child_drop(phi__child_at(all->list.first));
    phi__free(&all->parent->memory, all, sizeof *all);
}

static const phi__attached_ops phi__children_ops = {"subagents", phi__child_save_all,
                                                    phi__children_renewed, phi__children_freed};

static phi__children *phi__children_find(const phi__agent *parent) {
    phi__attached *attached = phi__attached_find(parent, phi__children_ops.name);
    return attached != NULL ? PHI__OWNER(attached, phi__children, attached) : NULL;
}

/* Returns the agent's children and makes the list at the first use. NULL: no memory. */
static phi__children *phi__children_all(phi__agent *parent) {
    phi__children *all = phi__children_find(parent);
    if (all != NULL) return all;
    all = (phi__children *)phi__alloc(&parent->memory, sizeof *all);
    if (all == NULL) return NULL;
    all->parent = parent;
    if (!phi__child_save_claim(all)) {
        phi__children_freed(&all->attached);
        return NULL;
    }
    phi__attached_add(parent, &all->attached, &phi__children_ops);
    return all;
}

/* Frees children whose events were popped, and reports finished children to the host. */
static void phi__children_sweep(phi__children *all) {
    all->next = all->list.first;
    while (all->next != NULL) {
        phi__child *child = phi__child_at(all->next);
        all->next = all->next->next;
        if (child->fault != NULL)
            phi__result_fail(child, child->status, child->fault);
        else if (child->agent == NULL || child->running)
            continue;
        else if (child->spawned)
            phi__result_give(child, child->status, NULL);
        else if (child->over)
            phi__child_leave(child);
    }
}

/* Makes a child and its agent. NULL: see phi_last_error. */
static phi__child *phi__children_new(phi__children *all, phi_subagent_desc *desc) {
    phi_runtime *rt = all->parent->rt;
    phi__child *child = phi__child_make(all);
    phi__agent *agent = NULL;
    phi_agent_desc d;
    phi_arena scratch;
    if (child == NULL) {
        (void)phi__error(rt, PHI_NO_MEMORY, "out of memory");
        return NULL;
    }
    child->depth = phi__follow_depth(all->parent) + 1;
    phi_arena_init(&scratch, &all->parent->memory, 0);
    if (phi__child_desc(child, desc, &scratch, &d))
        agent = phi__agent_make(rt, &d, NULL);
    else
        (void)phi__error(rt, PHI_NO_MEMORY, "out of memory");
    phi_arena_free(&scratch);
    if (agent == NULL) {
        phi__child_drop(child);
        return NULL;
    }
    child->number = ++all->made;
    phi__follow_begin(child, desc, agent);
    return child;
}

/* Begins a run of the child. On failure, phi_last_error has a message. */
static phi_status phi__children_begin(phi__child *child, phi_str task) {
    const phi__agent *parent = child->of->parent;
    phi__agent *agent = child->agent;
    phi_status status = phi__agent_may_run(agent, "sub-agent");
    if (status != PHI_OK) return status;
    const phi_content content = phi__input_text(task);
    phi__run_order order = PHI_ZERO;
    order.parent_loop_id = parent->run != NULL ? parent->run->loop_id : parent->line.last_loop_id;
    status = phi__run_new_of(agent, order, &content, 1);
    child->running = status == PHI_OK;
    return status == PHI_OK ? status : phi__agent_no_memory(agent, "sub-agent");
}

/* Returns a new child for a task, or the kept child with the id go_on. NULL: the message is in
   `words`, or else in phi_last_error. */
static phi__child *phi__subagents_child(phi__children *all, phi_subagent_desc *desc, phi_str go_on,
                                        char *words, size_t size) {
    phi__child *child = NULL;
    if (go_on.len == 0) return phi__children_new(all, desc);
    child = phi__child_kept(all, desc, go_on);
    if (child == NULL)
        (void)snprintf(words, size, "There is no finished sub-agent \"%.*s\" to continue",
                       (int)phi__min(go_on.len, 40), go_on.at);
    else if (child->agent == NULL && phi__child_save_thaw(child, desc) != PHI_OK)
        return NULL;
    return child;
}

/* Begins the task of a call. False: `words` has the error message. */
static bool phi__subagents_begin(phi__agent *parent, phi_subagent_desc *desc, phi_str arguments,
                                 phi_call call, phi_arena *scratch, char *words, size_t size) {
    const char *last = "";
    phi_json *root = NULL;
    phi_status status = phi_json_parse(scratch, arguments, 0, &root, NULL);
    phi_str task = phi_json_str(phi_json_get(root, "task"), ""), go_on = {"", 0};
    if (desc->keep > 0) go_on = phi_json_str(phi_json_get(root, "continue"), "");
    if (status != PHI_NO_MEMORY && task.len == 0) {
        (void)snprintf(words, size, "Invalid arguments: Missing required 'task' parameter");
        return false;
    }
    phi__children *all = status != PHI_NO_MEMORY ? phi__children_all(parent) : NULL;
    if (all == NULL) {
        (void)snprintf(words, size, "Out of memory");
        return false;
    }
    phi__children_sweep(all);
    phi__child *child = phi__subagents_child(all, desc, go_on, words, size);
    if (child == NULL && words[0] != '\0') return false;
    if (child != NULL) {
        child->call = call;
        if (phi__children_begin(child, task) == PHI_OK) return true;
        child->call.rt = NULL;
    }
    (void)phi__error_last(parent->rt, &last);
    (void)snprintf(words, size, "The sub-agent could not start: %s", last);
    if (child != NULL && go_on.len == 0) phi__child_drop(child);
    return false;
}

static phi_flow phi__subagents_start(void *user_data, phi_call call, phi_str arguments) {
    phi__agent *parent = phi__find_agent(phi__update_info(call).agent);
    phi_arena scratch;
    char words[360] = "";
    phi_arena_init(&scratch, &parent->memory, 0);
    bool begun = phi__subagents_begin(parent, (phi_subagent_desc *)user_data, arguments, call,
                                      &scratch, words, sizeof words);
    phi_arena_free(&scratch);
    if (begun) return PHI_PENDING;
    phi__result_error(call, words);
    return PHI_DONE;
}

/* Cancels the child of a call. Only a child with show_events still emits events. */
static void phi__subagents_cancel(void *user_data, phi_call call) {
    phi__agent *parent = phi__find_agent(phi__update_info(call).agent);
    const phi__children *all = parent != NULL ? phi__children_find(parent) : NULL;
    phi__child *child = NULL;
    (void)user_data;
    while (all != NULL && (child = phi__child_next(all, child)) != NULL) {
        if (child->call.rt == NULL || child->call.index != call.index ||
            child->call.gen != call.gen)
            continue;
        child->call.rt = NULL;
        if (phi__find_hidden(child->agent))
            phi__child_drop(child);
        else
            phi__schedule_cancel_tree(child->agent, false);
        return;
    }
}

static phi__child *phi__subagents_frozen(const phi__children *all, phi_str call_id) {
    phi__child *child = NULL;
    while ((child = phi__child_next(all, child)) != NULL)
        if (child->agent == NULL && child->running && !child->spawned &&
            phi_str_equal(child->call_id, call_id))
            return child;
    return NULL;
}

/* If the snapshot has the call but no child, the call starts again. */
static phi_flow phi__subagents_resume(void *user_data, phi_call call, phi_str arguments) {
    phi__agent *parent = phi__find_agent(phi__update_info(call).agent);
    phi__children *all = phi__children_all(parent);
    phi__child *child = all != NULL ? phi__subagents_frozen(all, phi__update_info(call).id) : NULL;
    const char *last = "";
    char words[360];
    if (child == NULL && all != NULL) return phi__subagents_start(user_data, call, arguments);
    if (child != NULL && phi__child_save_thaw(child, (phi_subagent_desc *)user_data) == PHI_OK) {
        child->call = call;
        return PHI_PENDING;
    }
    (void)phi__error_last(parent->rt, &last);
    (void)snprintf(words, sizeof words, "The sub-agent could not be resumed: %s",
                   all != NULL ? last : "out of memory");
    if (child != NULL) phi__child_drop(child);
    phi__result_error(call, words);
    return PHI_DONE;
}

/* ---- public ---- */

PHI_API phi_tool phi_subagent_tool(phi_subagent_desc *desc) {
    static const char schema[] =
        "{\"type\":\"object\",\"properties\":{\"task\":{\"type\":\"string\",\"description\":"
        "\"The whole task: the sub-agent sees nothing of this conversation\"}},"
        "\"required\":[\"task\"]}";
    static const char keeps[] =
        "{\"type\":\"object\",\"properties\":{\"task\":{\"type\":\"string\",\"description\":"
        "\"The whole task: the sub-agent sees nothing of this conversation\"},"
        "\"continue\":{\"type\":\"string\",\"description\":\"The id in an earlier result: that "
        "sub-agent goes on, and remembers its work\"}},\"required\":[\"task\"]}";
    phi_tool tool = PHI_ZERO;
    if (desc == NULL || desc->name == NULL) return tool;
    tool.name = tool.label = desc->name;
    tool.description = desc->description;
    if (tool.description == NULL) {
        (void)snprintf(desc->own_words, sizeof desc->own_words,
                       "Delegate a task to the '%s' sub-agent", desc->name);
        tool.description = desc->own_words;
    }
    tool.schema = desc->keep > 0 ? keeps : schema;
    tool.start = phi__subagents_start;
    tool.cancel = phi__subagents_cancel;
    tool.resume = phi__subagents_resume;
    tool.user_data = desc;
    tool.timeout_ms = desc->timeout_ms != 0 ? desc->timeout_ms : PHI_UNLIMITED;
    tool.checks_arguments = tool.deterministic = tool.unlisted = true;
    return tool;
}

static phi_status phi__subagents_check(phi_agent handle, const phi__agent *parent,
                                       const phi_subagent_desc *desc) {
    if (handle.rt == NULL || desc == NULL) return PHI_BAD_ARG;
    if (parent == NULL) return phi__error(handle.rt, PHI_STALE, "phi_spawn: the agent is gone");
    if (desc->name == NULL || desc->name[0] == '\0')
        return phi__error(handle.rt, PHI_BAD_ARG, "phi_spawn: desc.name is missing");
    if (!parent->thread->of_agent)
        return phi__error(handle.rt, PHI_MISUSE,
                          "phi_spawn: an agent of phi_run is for that one run");
    return PHI_OK;
}

/* After a restore, resumes the unfinished children that phi_spawn made with this desc. */
static phi_status phi__subagents_resume_all(phi__children *all, phi_subagent_desc *desc) {
    phi_runtime *rt = all->parent->rt;
    phi_status status = PHI_OK;
    phi__child *child;
    if (rt->in_step)
        return phi__error(rt, PHI_MISUSE, "phi_spawn without a task inside a callback");
    rt->in_step = true; /* functions of a store must not call phi_step */
    rt->step.wall_ms = phi__io_wall_ms(rt->io);
    while ((child = phi__children_first(all, all->made, true, desc->name)) != NULL) {
        phi_status one = phi__child_save_thaw(child, desc);
        if (one == PHI_OK) continue;
        if (status == PHI_OK) status = one;
        child->desc = desc;
        phi__result_fail(child, one, "The sub-agent could not be resumed");
    }
    phi__end_of_step(rt);
    return status;
}

PHI_API phi_status phi_spawn(phi_agent handle, phi_subagent_desc *desc, const char *task,
                             phi_agent *out) {
    phi__agent *parent = phi__find_agent(handle);
    phi_status status = phi__subagents_check(handle, parent, desc);
    if (status != PHI_OK) return status;
    if (task != NULL && task[0] == '\0')
        return phi__error(handle.rt, PHI_BAD_ARG, "phi_spawn: the task is empty");
    phi__children *all = phi__children_all(parent);
    if (all == NULL) return phi__error(handle.rt, PHI_NO_MEMORY, "phi_spawn: out of memory");
    if (task == NULL) return phi__subagents_resume_all(all, desc);
    phi__children_sweep(all);
    phi__child *child = phi__children_new(all, desc);
    if (child == NULL) return phi__error_last(handle.rt, NULL);
    status = phi__children_begin(child, phi_str_of(task));
    child->spawned = status == PHI_OK;
    if (status != PHI_OK)
        phi__child_drop(child);
    else if (out != NULL)
        *out = child->agent->handle;
    return status;
}
