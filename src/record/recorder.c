/* recorder.c - builds sessions from events.

   An event is first written as JSON, which the session keeps, and then read back. So events of
   agents, of files and of other programs are handled in the same way, and a session never points
   into a runtime. */
#include "record/session_in.h"

#include "agent/agent.h"
#include "base/base_in.h"
#include "model/event_parts.h"
#include "record/event_json.h"
#include "text/text_in.h"
#include "wire/wire_in.h"

/* ---- sessions, in two lists; a session is added at the end ---- */

static void phi__known_put(phi_recorder *rec, phi__session_box *box, bool completed) {
    box->completed = completed;
    phi__list_push(completed ? &rec->completed : &rec->open, &box->link);
}

static void phi__known_take(phi_recorder *rec, phi__session_box *box) {
    phi__list_take(box->completed ? &rec->completed : &rec->open, &box->link);
}

/* Moves a session to the other list, unless it is there already. */
static void phi__known_move(phi_recorder *rec, phi__session_box *box, bool completed) {
    if (box->completed == completed) return;
    phi__known_take(rec, box);
    phi__known_put(rec, box, completed);
}

PHI__FN phi__session_box *phi__known_each(const phi_recorder *rec, const phi__session_box *last) {
    phi__link *link = last != NULL ? last->link.next : rec->completed.first;
    if (link == NULL && (last == NULL || last->completed)) link = rec->open.first;
    return link != NULL ? PHI__OWNER(link, phi__session_box, link) : NULL;
}

static phi__session_box *phi__known_session(const phi_recorder *rec, phi_str session_id) {
    phi__session_box *box = NULL;
    while ((box = phi__known_each(rec, box)) != NULL)
        if (phi_str_equal(box->pub.session_id, session_id)) break;
    return box;
}

/* ---- loops ---- */

static phi__loop_box *phi__known_open(const phi_recorder *rec, phi_str loop_id) {
    uint64_t hash = phi__hash(loop_id, 0);
    phi__loop_box *loop;
    size_t probe = 0;
    while ((loop = (phi__loop_box *)phi__map_each(&rec->loops, hash, &probe)) != NULL)
        if (phi_str_equal(loop->pub.loop_id, loop_id)) break;
    return loop;
}

static phi__loop_box *phi__known_running(const phi_recorder *rec, phi_str loop_id) {
    phi__loop_box *loop = phi__known_open(rec, loop_id);
    return loop != NULL && loop->pub.status == PHI_LOOP_RUNNING ? loop : NULL;
}

/* Adds a loop to the table of open loops. phi__map_room must have made room. */
static void phi__known_enter(phi_recorder *rec, phi__loop_box *loop) {
    loop->hash = phi__hash(loop->pub.loop_id, 0);
    phi__map_add(&rec->loops, loop->hash, loop);
    loop->open = true;
    loop->box->open++;
}

static void phi__known_leave(phi_recorder *rec, phi__loop_box *loop, phi_loop_status status) {
    phi__map_drop(&rec->loops, loop->hash, loop);
    loop->open = loop->in_turn = false;
    loop->box->open--;
    loop->pub.status = status;
}

/* Aborts all open loops of a session. */
static void phi__known_abort(phi_recorder *rec, phi__session_box *box) {
    for (size_t i = 0; i < box->pub.loop_count; i++) {
        phi__loop_box *loop = phi__session_loop_of(box->pub.loops[i]);
        if (loop->open) phi__known_leave(rec, loop, PHI_LOOP_ABORTED);
    }
}

/* Returns the part of a loop id before its first dot, or the whole id if it has no dot. */
static phi_str phi__session_id_of(phi_str loop_id) {
    size_t dot = phi__str_find(loop_id, 0, ".");
    return dot == SIZE_MAX ? loop_id : phi__str(loop_id.at, dot);
}

/* Finds a loop in any session. NULL if it is unknown. */
static phi__loop_box *phi__links_anywhere(const phi_recorder *rec, phi_str loop_id) {
    phi__loop_box *loop = phi__known_open(rec, loop_id);
    phi__session_box *box =
        loop == NULL ? phi__known_session(rec, phi__session_id_of(loop_id)) : NULL;
    if (box != NULL) loop = phi__loopbox_find(box, loop_id);
    for (box = NULL; loop == NULL && (box = phi__known_each(rec, box)) != NULL;)
        loop = phi__loopbox_find(box, loop_id);
    return loop;
}

/* Sets the unknown fields of a session's parent reference. False: no memory. */
static bool phi__links_spawned_by(phi__session_box *child, phi_str session_id, phi_str loop_id,
                                  const phi_child_ref *ref) {
    phi_spawn_ref *parent = &child->parent;
    bool ok = true;
    if (child->pub.parent == NULL)
        ok = phi__session_keep(child, session_id, &parent->parent_session_id) &&
             phi__session_keep(child, loop_id, &parent->parent_loop_id);
    else if (!phi_str_equal(parent->parent_loop_id, loop_id))
        return true;
    if (ok) child->pub.parent = parent;
    if (!ok || ref == NULL || parent->tool_call_id.len > 0 || parent->tool_name.len > 0) return ok;
    return phi__session_keep(child, ref->tool_name, &parent->tool_name) &&
           phi__session_keep(child, ref->tool_call_id, &parent->tool_call_id);
}

/* Returns the loop's reference to the child run. If session_too is true, also accepts a reference
   to only the child's session. NULL if there is none. */
static const phi_child_ref *phi__links_ref(const phi_loop_record *loop, const phi__loop_box *child,
                                           bool session_too) {
    for (size_t i = 0; i < loop->spawned_count; i++)
        if (phi_str_equal(loop->spawned[i].child_loop_id, child->pub.loop_id) ||
            (session_too &&
             phi_str_equal(loop->spawned[i].child_session_id, child->box->pub.session_id)))
            return &loop->spawned[i];
    return NULL;
}

/* If an ended call ran the new session's first loop, sets the session's parent. False: no
   memory. */
static bool phi__links_claimed(phi_recorder *rec, phi__loop_box *child) {
    phi__session_box *box = NULL;
    size_t i;
    while ((box = phi__known_each(rec, box)) != NULL)
        for (i = 0; box != child->box && i < box->pub.loop_count; i++) {
            const phi_loop_record *loop = box->pub.loops[i];
            const phi_child_ref *ref = phi__links_ref(loop, child, true);
            if (ref != NULL)
                return phi__links_spawned_by(child->box, loop->session_id, loop->loop_id, ref);
        }
    return true;
}

/* If the loop's parent is in another session, links both sessions. False: no memory. */
static bool phi__links_parent(phi_recorder *rec, phi__loop_box *loop, bool is_first) {
    phi_str id = loop->pub.parent_loop_id;
    if (id.len == 0) return !is_first || phi__links_claimed(rec, loop);
    if (phi_str_equal(id, loop->pub.loop_id) || phi__session_get_loop(&loop->box->pub, id) != NULL)
        return true;
    phi__loop_box *parent = phi__links_anywhere(rec, id);
    phi_str session_id = parent != NULL ? parent->pub.session_id : phi__session_id_of(id);
    if (phi_str_equal(session_id, loop->pub.session_id)) return true;
    return phi__links_spawned_by(loop->box, session_id, id,
                                 parent != NULL ? phi__links_ref(&parent->pub, loop, true) : NULL);
}

/* Links both runs at the end of a call that ran another agent. False: no memory. */
static bool phi__links_spawn(phi_recorder *rec, phi__loop_box *loop, const phi_event *ev) {
    phi__loop_box *child = phi__links_anywhere(rec, ev->child_loop_id);
    phi_str session_id =
        child != NULL ? child->pub.session_id : phi__session_id_of(ev->child_loop_id);
    size_t n = loop->pub.spawned_count;
    for (size_t i = 0; i < n; i++)
        if (phi_str_equal(loop->pub.spawned[i].tool_call_id, ev->tool_call_id) &&
            phi_str_equal(loop->pub.spawned[i].child_loop_id, ev->child_loop_id))
            return true;
    phi_child_ref ref = {ev->tool_call_id, ev->tool_name, ev->child_loop_id, session_id};
    if (!phi__session_add_child(loop, &ref)) return false;
    phi__session_box *of = child != NULL ? child->box : phi__known_session(rec, session_id);
    if (of == NULL || of == loop->box) return true;
    return phi__links_spawned_by(of, loop->pub.session_id, loop->pub.loop_id,
                                 &loop->pub.spawned[n]);
}

enum { PHI__RECORDER_INACTIVITY_S = 1800 }; /* default of inactivity_s */

/* ---- beginning a session ---- */

static phi__session_box *phi__recorder_new_session(phi_recorder *rec, phi_str id, int64_t at_ms) {
    phi__session_box *box = phi__session_make(&rec->memory.allocator, 0, &rec->memory);
    if (box == NULL) return NULL;
    if (!phi__session_keep(box, id, &box->pub.session_id)) {
        phi_session_free(&box->pub);
        return NULL;
    }
    box->pub.created_ms = box->pub.last_active_ms = box->pub.formation.at_ms = at_ms;
    box->pub.scope = rec->desc.scope;
    phi__known_put(rec, box, false);
    return box;
}

/* Frees a session that is not needed. */
static void phi__recorder_forget(phi_recorder *rec, phi__session_box *box) {
    phi__known_take(rec, box);
    phi_session_free(&box->pub);
}

/* If the session's agent was idle before, sets the session's formation. False: no memory. */
static bool phi__recorder_formation(phi_recorder *rec, phi__session_box *box, int64_t at_ms) {
    const phi__session_box *one = NULL, *last = NULL;
    uint64_t idle_s = rec->desc.inactivity_s;
    if (!rec->desc.by_inactivity || box->pub.agent_id.len == 0 ||
        box->pub.formation.kind == PHI_FORMATION_EXPLICIT)
        return true;
    while ((one = phi__known_each(rec, (phi__session_box *)(uintptr_t)one)) != NULL)
        if (one != box && phi_str_equal(one->pub.agent_id, box->pub.agent_id) &&
            (last == NULL || one->pub.last_active_ms >= last->pub.last_active_ms))
            last = one;
    if (last == NULL || at_ms < last->pub.last_active_ms ||
        (uint64_t)at_ms - (uint64_t)last->pub.last_active_ms < idle_s * 1000)
        return true;
    if (!phi__session_keep(box, last->pub.session_id, &box->pub.formation.previous_session_id))
        return false;
    box->pub.formation.kind = PHI_FORMATION_INACTIVITY;
    box->pub.formation.threshold_s = idle_s;
    return true;
}

/* Sets the session's agent to that of its first run, unless the host named one. False: no
   memory. */
static bool phi__recorder_owner(phi__session_box *box, phi_str agent_id) {
    if (box->pub.formation.kind == PHI_FORMATION_EXPLICIT && box->pub.agent_id.len > 0) return true;
    return phi__session_keep(box, agent_id, &box->pub.agent_id);
}

/* Calls before_task_fn once. False: the session is rejected, and its loops are removed. */
static bool phi__recorder_decide(phi_recorder *rec, phi__session_box *box) {
    if (!box->decided && rec->desc.before_task_fn != NULL) {
        rec->busy = true;
        box->pub.rejected = !rec->desc.before_task_fn(rec->desc.user_data, &box->pub);
        rec->busy = false;
    }
    box->decided = true;
    if (!box->pub.rejected) return true;
    phi__known_abort(rec, box);
    box->pub.loop_count = 0;
    return false;
}

/* Fills a new or pending loop from an AgentStart event. False: no memory. */
static bool phi__recorder_fill(phi_recorder *rec, phi__loop_box *loop, const phi_event *ev,
                               phi_str session_id) {
    const phi_loop_info *info = ev->loop;
    phi_json *config = NULL;
    if (!phi__loopbox_fill(loop, info->loop_id, session_id, info)) return false;
    loop->pub.started_ms = ev->timestamp_ms;
    if (info->config.len == 0) return true;
    /* phi_event_from_json wrote this text, so parsing it fails only if memory runs out. */
    if (phi_json_parse(&rec->scratch, info->config, 0, &config, NULL) != PHI_OK) return false;
    if (!phi_json_is(config, PHI_JSON_OBJECT)) return true;
    loop->pub.config = phi__session_config(loop->box, config);
    return loop->pub.config != NULL;
}

static phi_status phi__recorder_begin(phi_recorder *rec, phi__session_box *box, const phi_event *ev,
                                      phi_str json) {
    phi__loop_box *old = phi__known_open(rec, ev->loop_id), *loop = old;
    bool is_first = !box->decided, pending = false;
    if (old != NULL && old->box == box && old->pub.status == PHI_LOOP_PENDING) pending = true;
    if (!pending) loop = phi__session_loop(box);
    if (loop == NULL || !phi__map_room(&rec->loops) ||
        !phi__recorder_fill(rec, loop, ev, box->pub.session_id) ||
        (is_first && (!phi__recorder_owner(box, ev->loop->agent_id) ||
                      !phi__recorder_formation(rec, box, ev->timestamp_ms))) ||
        !phi__links_parent(rec, loop, is_first) || !phi__session_add_event(loop, 0, json))
        return PHI_NO_MEMORY;
    if (is_first) box->pub.last_active_ms = ev->timestamp_ms;
    if (!phi__recorder_decide(rec, box)) return PHI_OK;
    box->pub.last_active_ms = ev->timestamp_ms;
    if (old != NULL && !pending) phi__known_leave(rec, old, PHI_LOOP_ABORTED);
    loop->sequence = 1;
    loop->pub.status = PHI_LOOP_RUNNING;
    if (pending) return PHI_OK;
    phi__session_add(box, loop);
    phi__known_enter(rec, loop);
    return PHI_OK;
}

static bool phi__recorder_config(phi__loop_box *loop, const phi_message *message) {
    if (loop->pub.config != NULL || message->role != PHI_ROLE_ASSISTANT) return true;
    loop->pub.config = phi__session_config_of(loop->box, loop->pub.loop_id, message);
    return loop->pub.config != NULL;
}

static bool phi__recorder_message(phi__loop_box *loop, const phi_event *ev) {
    const phi_message *message = ev->message;
    if (message == NULL) return true;
    if (!phi__recorder_config(loop, message)) return false;
    if (!loop->in_turn || message->role == PHI_ROLE_ASSISTANT ||
        message->role == PHI_ROLE_TOOL_RESULT)
        return true;
    return phi__session_push(loop->box, &loop->turn.input, &loop->turn.input_count,
                             &loop->turn_input_cap, message);
}

static bool phi__recorder_turn_end(phi__loop_box *loop, const phi_event *ev) {
    phi_loop_record *to = &loop->pub;
    phi_turn *place, turn = loop->turn;
    if (!loop->in_turn) return true;
    place = phi__session_turn_room(loop);
    if (place == NULL) return false;
    if (ev->message != NULL && !phi__recorder_config(loop, ev->message)) return false;
    if (ev->message != NULL) turn.output = phi_message_copy(ev->message, &loop->box->arena);
    if (ev->message != NULL && turn.output == NULL) return false;
    if (!phi__session_keep_messages(loop->box, ev->messages, ev->message_count, &turn.results))
        return false;
    turn.result_count = ev->message_count;
    for (size_t i = 0; i < turn.result_count; i++) {
        phi_message *result = (phi_message *)(uintptr_t)&turn.results[i];
        result->loop_id = to->loop_id;
        result->turn_index = turn.turn_index;
    }
    if (ev->usage != NULL) turn.usage = *ev->usage;
    turn.ended_ms = ev->timestamp_ms;
    *place = turn;
    to->turn_count++;
    loop->in_turn = false;
    return true;
}

/* Returns the session's loop with this id, or a new pending loop. NULL: no memory. */
static phi__loop_box *phi__recorder_branch(phi_recorder *rec, phi__session_box *box, phi_str id,
                                           int64_t at_ms) {
    phi__loop_box *loop = phi__loopbox_find(box, id);
    if (loop != NULL) return loop;
    loop = phi__session_loop(box);
    if (loop == NULL || !phi__map_room(&rec->loops) ||
        !phi__session_keep(box, id, &loop->pub.loop_id))
        return NULL;
    loop->pub.session_id = box->pub.session_id;
    loop->pub.agent_id = box->pub.agent_id;
    loop->pub.started_ms = at_ms;
    loop->pub.status = PHI_LOOP_PENDING;
    phi__session_add(box, loop);
    phi__known_enter(rec, loop);
    return loop;
}

static bool phi__recorder_group(phi_recorder *rec, phi__session_box *box, const phi_event *ev) {
    const phi_parallel *p = ev->parallel;
    size_t n = p->loop_count;
    phi_str *ids = (phi_str *)phi__arena_zero(&box->arena, phi__mul(n, sizeof *ids));
    if (ids == NULL) return false;
    for (size_t i = 0; i < n; i++)
        if (!phi__session_keep(box, p->loop_ids[i], &ids[i])) return false;
    for (size_t i = 0; i < n; i++) {
        phi_loop_group *group = (phi_loop_group *)phi__arena_zero(&box->arena, sizeof *group);
        phi__loop_box *loop =
            group != NULL ? phi__recorder_branch(rec, box, ids[i], ev->timestamp_ms) : NULL;
        if (loop == NULL) return false;
        group->loop_ids = ids;
        group->loop_count = n;
        loop->pub.group = group;
    }
    return true;
}

/* ---- handling an event ---- */

/* True if the recorder keeps events of this kind. */
static bool phi__recorder_wanted(const phi_recorder *rec, phi_event_kind kind) {
    if (kind == PHI_EV_TEXT || kind == PHI_EV_THINKING || kind == PHI_EV_TOOL_ARGUMENTS)
        return rec->desc.streaming_events;
    return kind != PHI_EV_TURN_REQUEST || rec->desc.turn_requests;
}

static bool phi__recorder_apply(phi_recorder *rec, phi__loop_box *loop, const phi_event *ev) {
    switch ((int)ev->kind) {
    case PHI_EV_AGENT_END: {
        phi_loop_record *to = &loop->pub;
        bool rejected = ev->rejection.at != NULL || ev->status == PHI_REJECTED;
        for (size_t i = 0; i < ev->message_count; i++)
            if (!phi__recorder_config(loop, &ev->messages[i])) return false;
        if (!phi__session_keep_messages(loop->box, ev->messages, ev->message_count,
                                        &to->messages) ||
            (ev->rejection.at != NULL &&
             !phi__session_keep(loop->box, ev->rejection, &to->rejection)) ||
            !phi__session_chain(loop->box, loop)) {
            to->messages = NULL;
            to->rejection = phi__str(NULL, 0);
            return false;
        }
        to->message_count = ev->message_count;
        if (ev->usage != NULL) to->usage = *ev->usage;
        to->ended_ms = ev->timestamp_ms;
        to->has_ended = true;
        phi__known_leave(rec, loop, rejected ? PHI_LOOP_REJECTED : PHI_LOOP_COMPLETED);
        return true;
    }
    case PHI_EV_TURN_START:
        memset(&loop->turn, 0, sizeof loop->turn);
        phi__session_turn_begin(loop, ev->turn_index, ev->trigger, ev->timestamp_ms);
        loop->turn_input_cap = 0;
        return true;
    case PHI_EV_TURN_END: return phi__recorder_turn_end(loop, ev);
    case PHI_EV_MESSAGE_END: return phi__recorder_message(loop, ev);
    case PHI_EV_TURN_REQUEST: {
        /* The payload is part of the event's text, which is already stored. */
        phi_str json = loop->pub.events[loop->pub.event_count - 1].json;
        phi__json_found found;
        if (loop->in_turn && phi__json_cursor_find(json, "payload", &found) == PHI_OK &&
            found.type == PHI_JSON_OBJECT)
            loop->turn.request = found.raw;
    }
        return true;
    case PHI_EV_TOOL_END: return ev->child_loop_id.len == 0 || phi__links_spawn(rec, loop, ev);
    default: return true;
    }
}

/* True for the end of a call that ran another agent. This event is recorded even if its loop has
   ended, for example by a flush during the call. */
static bool phi__recorder_links(const phi_event *ev) {
    return ev->kind == PHI_EV_TOOL_END && ev->child_loop_id.len > 0 && ev->loop_id.len > 0;
}

/* Records an event that was read back from `json`. */
static phi_status phi__recorder_event(phi_recorder *rec, const phi_event *ev, phi_str json) {
    if (ev->kind == PHI_EV_AGENT_START) {
        phi_str id = ev->loop->session_id;
        bool made = false;
        if (ev->loop_id.len == 0) return PHI_OK;
        if (id.len == 0) id = phi__session_id_of(ev->loop_id);
        phi__session_box *box = phi__known_session(rec, id);
        if (box != NULL && box->pub.rejected) return PHI_OK;
        if (box == NULL) {
            box = phi__recorder_new_session(rec, id, ev->timestamp_ms);
            if (box == NULL) return PHI_NO_MEMORY;
            made = true;
        }
        phi_status status = phi__recorder_begin(rec, box, ev, json);
        if (status != PHI_OK && made) phi__recorder_forget(rec, box);
        if (status == PHI_OK) phi__known_move(rec, box, false);
        return status;
    }
    if (ev->kind == PHI_EV_PARALLEL_START) {
        phi__session_box *box = phi__known_session(rec, ev->parallel->session_id);
        if (ev->parallel->session_id.len == 0 || ev->parallel->loop_count == 0) return PHI_OK;
        if (box != NULL && box->pub.rejected) return PHI_OK;
        if (box == NULL)
            box = phi__recorder_new_session(rec, ev->parallel->session_id, ev->timestamp_ms);
        if (box == NULL) return PHI_NO_MEMORY;
        phi__known_move(rec, box, false);
        return phi__recorder_group(rec, box, ev) ? PHI_OK : PHI_NO_MEMORY;
    }
    if (ev->kind == PHI_EV_PARALLEL_END) {
        const phi_parallel *p = ev->parallel;
        phi__loop_box *winner =
            p->selected_loop_id.len > 0 ? phi__links_anywhere(rec, p->selected_loop_id) : NULL;
        phi_loop_group *of = winner != NULL ? winner->pub.group : NULL;
        phi_str id = {NULL, 0};
        if (of == NULL) return PHI_OK;
        if (!phi__session_keep(winner->box, p->selected_loop_id, &id)) return PHI_NO_MEMORY;
        for (size_t i = 0; i < of->loop_count; i++) {
            const phi_loop_record *loop = phi__session_get_loop(&winner->box->pub, of->loop_ids[i]);
            if (loop == NULL || loop->group == NULL) continue;
            loop->group->selected_loop_id = id;
            loop->group->selected_index = p->selected_index;
            loop->group->evaluation_usage = p->evaluation_usage;
            loop->group->is_selected = loop == &winner->pub;
        }
        return PHI_OK;
    }
    phi__loop_box *loop = phi__known_running(rec, ev->loop_id);
    if (loop == NULL) {
        if (phi__recorder_links(ev)) loop = phi__links_anywhere(rec, ev->loop_id);
        return loop == NULL || phi__links_spawn(rec, loop, ev) ? PHI_OK : PHI_NO_MEMORY;
    }
    uint64_t sequence = loop->sequence++;
    if (!phi__recorder_wanted(rec, ev->kind)) return PHI_OK;
    if (!phi__session_add_event(loop, sequence, json)) return PHI_NO_MEMORY;
    if (phi__recorder_apply(rec, loop, ev)) return PHI_OK;
    loop->pub.event_count--;
    return PHI_NO_MEMORY;
}

/* Counts an event that cannot be stored. */
static phi_status phi__recorder_lost(phi_recorder *rec, const phi_event *ev, phi_status status) {
    phi__loop_box *loop = phi__known_running(rec, ev->loop_id);
    if (loop != NULL) loop->sequence++;
    return status;
}

/* ---- public ---- */

PHI_API phi_recorder *phi_recorder_new(const phi_recorder_desc *desc) {
    phi_memory memory;
    phi_memory_init(&memory, desc != NULL ? &desc->allocator : NULL,
                    desc != NULL ? desc->memory_limit_bytes : 0);
    phi_recorder *rec = (phi_recorder *)phi__alloc(&memory, sizeof *rec);
    if (rec == NULL) return NULL;
    rec->memory = memory;
    if (desc != NULL) rec->desc = *desc;
    if (rec->desc.inactivity_s == 0) rec->desc.inactivity_s = PHI__RECORDER_INACTIVITY_S;
    if (rec->desc.inactivity_s == PHI_RECORDER_AT_ONCE) rec->desc.inactivity_s = 0;
    phi_arena_init(&rec->scratch, &rec->memory, 0);
    phi__map_init(&rec->loops, &rec->memory);
    return rec;
}

PHI_API void phi_recorder_free(phi_recorder *recorder) {
    phi__session_box *box;
    if (recorder == NULL || recorder->busy) return;
    while ((box = phi__known_each(recorder, NULL)) != NULL) {
        phi__known_take(recorder, box);
        phi_session_free(&box->pub);
    }
    phi_arena_free(&recorder->scratch);
    phi__map_free(&recorder->loops);
    phi_memory memory = recorder->memory; /* a copy, because the recorder's block is freed */
    phi__free(&memory, recorder, sizeof *recorder);
}

/* False for events of unknown loops and for unwanted events. They are not even written as JSON. */
static bool phi__recorder_passes(phi_recorder *rec, const phi_event *ev) {
    if (ev->kind == PHI_EV_AGENT_START || ev->kind == PHI_EV_PARALLEL_START ||
        ev->kind == PHI_EV_PARALLEL_END)
        return true;
    if (phi__known_running(rec, ev->loop_id) == NULL) return phi__recorder_links(ev);
    if (phi__recorder_wanted(rec, ev->kind)) return true;
    (void)phi__recorder_lost(rec, ev, PHI_OK);
    return false;
}

PHI_API phi_status phi_recorder_add(phi_recorder *recorder, const phi_event *event) {
    phi_event read;
    phi_str json;
    if (recorder == NULL || event == NULL) return PHI_BAD_ARG;
    if (recorder->busy) return PHI_MISUSE;
    if (!phi__recorder_passes(recorder, event)) return PHI_OK;
    phi__arena_rewind(&recorder->scratch);
    phi_status status = phi_event_to_json(event, &recorder->scratch, &json);
    if (status == PHI_OK) status = phi_event_from_json(json, &recorder->scratch, &read, NULL);
    if (status != PHI_OK) return phi__recorder_lost(recorder, event, status);
    return phi__recorder_event(recorder, &read, json);
}

/* Adds the session's memory to the recorder's used memory if `own` is true, else subtracts it. */
static void phi__recorder_own(phi_recorder *rec, phi__session_box *box, bool own) {
    phi_memory *memory = &rec->memory;
    if (own)
        memory->used_bytes += box->memory.used_bytes;
    else
        memory->used_bytes -= box->memory.used_bytes;
    if (memory->used_bytes > memory->peak_bytes) memory->peak_bytes = memory->used_bytes;
    box->memory.parent = own ? memory : NULL;
}

PHI_API phi_status phi_recorder_resume(phi_recorder *recorder, phi_session *session) {
    if (recorder == NULL || session == NULL) return PHI_BAD_ARG;
    if (recorder->busy || phi__known_session(recorder, session->session_id) != NULL)
        return PHI_MISUSE;
    phi__session_box *box = phi__session_of(session);
    box->decided = true;
    phi__recorder_own(recorder, box, true);
    phi__known_put(recorder, box, true);
    return PHI_OK;
}

PHI_API phi_status phi_recorder_begin(phi_recorder *recorder, phi_str session_id, phi_str agent_id,
                                      int64_t at_ms) {
    if (recorder == NULL || session_id.len == 0) return PHI_BAD_ARG;
    if (recorder->busy || phi__known_session(recorder, session_id) != NULL) return PHI_MISUSE;
    phi__session_box *box = phi__recorder_new_session(recorder, session_id, at_ms);
    if (box == NULL) return PHI_NO_MEMORY;
    if (!phi__session_keep(box, agent_id, &box->pub.agent_id)) {
        phi__recorder_forget(recorder, box);
        return PHI_NO_MEMORY;
    }
    box->pub.formation.kind = PHI_FORMATION_EXPLICIT;
    return PHI_OK;
}

static size_t phi__recorder_checkpoint(phi_recorder *recorder) {
    phi__link *next;
    size_t n = 0;
    for (phi__link *link = recorder->open.first; link != NULL; link = next) {
        phi__session_box *box = PHI__OWNER(link, phi__session_box, link);
        next = link->next;
        /* A session of phi_recorder_begin waits for its first loop. */
        bool waits = box->pub.formation.kind == PHI_FORMATION_EXPLICIT && !box->decided &&
                     box->pub.loop_count == 0;
        if (box->open > 0 || waits) continue;
        phi__known_move(recorder, box, true);
        n++;
    }
    return n;
}

PHI_API size_t phi_recorder_flush(phi_recorder *recorder, phi_flush which) {
    size_t n = 0;
    if (recorder == NULL || recorder->busy) return 0;
    if (which == PHI_FLUSH_IDLE) return phi__recorder_checkpoint(recorder);
    for (; recorder->open.first != NULL; n++) {
        phi__session_box *box = PHI__OWNER(recorder->open.first, phi__session_box, link);
        phi__known_abort(recorder, box);
        phi__known_move(recorder, box, true);
        if (recorder->desc.after_task_fn == NULL || box->pub.rejected) continue;
        recorder->busy = true;
        recorder->desc.after_task_fn(recorder->desc.user_data, &box->pub);
        recorder->busy = false;
    }
    return n;
}

PHI_API phi_session *phi_recorder_drain(phi_recorder *recorder) {
    if (recorder == NULL || recorder->busy || recorder->completed.first == NULL) return NULL;
    phi__session_box *box = PHI__OWNER(recorder->completed.first, phi__session_box, link);
    phi__known_take(recorder, box);
    phi__recorder_own(recorder, box, false);
    return &box->pub;
}
