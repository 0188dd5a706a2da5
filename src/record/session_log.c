/* session_log.c - makes a session of a thread's log: loops, turns, usage, spawned runs. */
#include "model/message_in.h"
#include "record/session_context_in.h"
#include "record/session_context.h"
#include "record/session_in.h"
#include "text/records_in.h"
#include "model/event_parts.h"

/* The loop that entries are of, the latest of that id. */
static phi__loop_box *phi__session_log_loop(phi__session_box *box, phi_str loop_id) {
    const phi_loop_record *record = phi__session_get_loop(&box->pub, loop_id);
    return record != NULL ? phi__session_loop_of((phi_loop_record *)(uintptr_t)record) : NULL;
}

static bool phi__session_log_begin(phi__session_box *box, const phi_entry *entry) {
    phi__loop_box *loop = phi__session_loop(box);
    const phi_loop_info *info = entry->loop;
    phi_loop_record *to;
    if (loop == NULL) return false;
    to = &loop->pub;
    if (!phi__session_keep(box, entry->loop_id, &to->loop_id)) return false;
    if (info != NULL) {
        to->continuation = info->continuation;
        if (!phi__session_keep(box, info->session_id, &to->session_id) ||
            !phi__session_keep(box, info->agent_id, &to->agent_id) ||
            !phi__session_keep(box, info->parent_loop_id, &to->parent_loop_id) ||
            !phi__session_keep(box, info->tag, &to->tag) ||
            !phi__session_keep(box, info->metadata, &to->metadata))
            return false;
    }
    to->started_ms = entry->at_ms;
    to->status = PHI_LOOP_RUNNING;
    phi__session_add(box, loop);
    if (box->pub.loop_count == 1) {
        box->pub.session_id = to->session_id;
        box->pub.agent_id = to->agent_id;
        box->pub.created_ms = box->pub.formation.at_ms = entry->at_ms;
    }
    box->pub.last_active_ms = entry->at_ms;
    return phi__session_chain(box, loop);
}

/* Arrays of messages grow with the log; `cap` is counted beside them. */
static bool phi__session_log_push(phi__session_box *box, const phi_message **list, size_t *count,
                                  size_t *cap, const phi_message *message) {
    phi_message *now = (phi_message *)phi__session_room_for(box, (void *)(uintptr_t)*list, *count,
                                                            cap, *count + 1, sizeof *now);
    if (now == NULL) return false;
    *list = now;
    if (!phi__message_copy(message, &box->arena, &now[*count])) return false;
    ++*count;
    return true;
}

/* Lists of the turn under way have their room in the loop; its list of all messages counts in
   input_cap. */
static bool phi__session_log_message(phi__session_box *box, phi__loop_box *loop,
                                     const phi_message *message) {
    phi_turn *turn = &loop->turn;
    if (!phi__session_log_push(box, &loop->pub.messages, &loop->pub.message_count, &loop->input_cap,
                               message))
        return false;
    if (message->role == PHI_ROLE_ASSISTANT && loop->pub.config == NULL) {
        loop->pub.config = phi__session_config_of(box, loop->pub.loop_id, message);
        if (loop->pub.config == NULL) return false;
    }
    if (message->role == PHI_ROLE_USER || message->role == PHI_ROLE_EXTENSION)
        return phi__session_log_push(box, &turn->input, &turn->input_count, &loop->turn_input_cap,
                                     message);
    if (!loop->in_turn) return true;
    if (message->role == PHI_ROLE_TOOL_RESULT)
        return phi__session_log_push(box, &turn->results, &turn->result_count,
                                     &loop->turn_result_cap, message);
    turn->output = phi_message_copy(message, &box->arena);
    return turn->output != NULL;
}

/* Messages before a turn begins, such as prompts, belong to that turn. */
static void phi__session_log_forget(phi__loop_box *loop) {
    memset(&loop->turn, 0, sizeof loop->turn);
    loop->turn_input_cap = loop->turn_result_cap = 0;
    loop->in_turn = false;
}

static void phi__session_log_turn_start(phi__loop_box *loop, const phi_entry *entry) {
    if (loop->in_turn) phi__session_log_forget(loop);
    loop->turn.loop_id = loop->pub.loop_id;
    loop->turn.turn_index = entry->turn_index;
    loop->turn.trigger = entry->trigger;
    loop->turn.started_ms = entry->at_ms;
    loop->in_turn = true;
}

static bool phi__session_log_turn_end(phi__session_box *box, phi__loop_box *loop,
                                      const phi_entry *entry) {
    phi_loop_record *to = &loop->pub;
    phi_turn *turns;
    /* until its end has all */
    if (entry->usage != NULL && !to->has_ended) phi__message_add_usage(&to->usage, entry->usage);
    if (!loop->in_turn) return true;
    turns = (phi_turn *)phi__session_room_for(box, to->turns, to->turn_count, &loop->turn_cap,
                                              to->turn_count + 1, sizeof *turns);
    if (turns == NULL) return false;
    to->turns = turns;
    if (entry->usage != NULL) loop->turn.usage = *entry->usage;
    loop->turn.ended_ms = entry->at_ms;
    turns[to->turn_count++] = loop->turn;
    phi__session_log_forget(loop);
    return true;
}

static void phi__session_log_end(phi__loop_box *loop, const phi_entry *entry) {
    if (entry->usage != NULL) loop->pub.usage = *entry->usage;
    loop->pub.ended_ms = entry->at_ms;
    loop->pub.has_ended = true;
    loop->pub.status = entry->status == PHI_REJECTED ? PHI_LOOP_REJECTED : PHI_LOOP_COMPLETED;
    loop->in_turn = false;
}

static bool phi__session_log_spawn(phi__session_box *box, phi__loop_box *loop,
                                   const phi_entry *entry) {
    phi_loop_record *to = &loop->pub;
    phi_child_ref *refs = (phi_child_ref *)phi__session_room_for(
        box, to->spawned, to->spawned_count, &loop->spawned_cap, to->spawned_count + 1,
        sizeof *refs);
    phi_child_ref *ref;
    if (refs == NULL) return false;
    to->spawned = refs;
    ref = &refs[to->spawned_count];
    if (!phi__session_keep(box, entry->tool_call_id, &ref->tool_call_id) ||
        !phi__session_keep(box, entry->child_loop_id, &ref->child_loop_id) ||
        !phi__session_keep(box, entry->child_session_id, &ref->child_session_id))
        return false;
    to->spawned_count++;
    return true;
}

/* ---- prunes ---- */

/* phi's own prunes have the fields of PrunApplied as their meta. */
static bool phi__session_log_is_prune(const phi_rewrite *rewrite) {
    phi__json_found times;
    return rewrite->reason == PHI_REWRITE_PRUNE && rewrite->revoke == NULL &&
           rewrite->meta != NULL && rewrite->meta[0] == '{' &&
           phi__json_cursor_find(phi_str_of(rewrite->meta), "pruned_timestamps", &times) == PHI_OK;
}

/* The event's sequence is the entry's number. */
static bool phi__session_log_prune(phi__session_box *box, phi__loop_box *loop,
                                   const phi_entry *entry) {
    phi_loop_record *to = &loop->pub;
    phi_loop_event *events = (phi_loop_event *)phi__session_room_for(
        box, to->events, to->event_count, &loop->event_cap, to->event_count + 1, sizeof *events);
    phi_str meta = phi_str_of(entry->rewrite->meta);
    phi__buf out;
    bool done;
    if (events == NULL) return false;
    to->events = events;
    phi__buf_init(&out, &box->memory);
    phi__buf_text(&out, "{\"type\":\"PrunApplied\"");
    phi__records_str(&out, "loop_id", to->loop_id);
    phi__records_time(&out, "timestamp", entry->at_ms);
    phi__buf_char(&out, ',');
    phi__buf_add_str(&out, phi__str(meta.at + 1, meta.len - 1));
    done = !out.failed && phi__session_keep(box, phi__buf_str(&out), &events[to->event_count].json);
    phi__buf_free(&out);
    if (done) events[to->event_count++].sequence = entry->seq;
    return done;
}

/* Takes the event of a prune that was revoked away again. */
static phi_status phi__session_log_revoke(phi__session_box *box, const phi_thread *thread,
                                          const phi_entry *entry) {
    uint64_t seq = entry->seq, first = phi_thread_get_info(thread).first;
    phi_entry was;
    phi_status status = PHI_OK;
    phi__loop_box *loop;
    size_t i, n;
    while (seq-- > first) {
        status = phi_thread_entry(thread, seq, &was);
        if (status != PHI_OK) return status;
        if (was.kind == PHI_ENTRY_REWRITE && was.rewrite->op_id != NULL &&
            strcmp(was.rewrite->op_id, entry->rewrite->revoke) == 0)
            break;
    }
    loop = seq != UINT64_MAX ? phi__session_log_loop(box, was.loop_id) : NULL;
    if (loop == NULL) return PHI_OK;
    for (i = n = 0; i < loop->pub.event_count; i++)
        if (loop->pub.events[i].sequence != seq) loop->pub.events[n++] = loop->pub.events[i];
    loop->pub.event_count = n;
    return PHI_OK;
}

static bool phi__session_log_entry(phi__session_box *box, const phi_entry *entry) {
    phi__loop_box *loop;
    if (entry->kind == PHI_ENTRY_LOOP_START) return phi__session_log_begin(box, entry);
    if (entry->kind == PHI_ENTRY_NOTE && phi__str_is(entry->note_kind, PHI_NOTE_PARALLEL))
        return phi__session_groups_note(box, entry->note);
    loop = entry->loop_id.len > 0 ? phi__session_log_loop(box, entry->loop_id) : NULL;
    if (loop == NULL) return true;
    switch ((int)entry->kind) {
    case PHI_ENTRY_MESSAGE:
        return entry->message == NULL || phi__session_log_message(box, loop, entry->message);
    case PHI_ENTRY_TURN_START: phi__session_log_turn_start(loop, entry); return true;
    case PHI_ENTRY_TURN_END: return phi__session_log_turn_end(box, loop, entry);
    case PHI_ENTRY_LOOP_END: phi__session_log_end(loop, entry); return true;
    case PHI_ENTRY_SPAWN: return phi__session_log_spawn(box, loop, entry);
    case PHI_ENTRY_REWRITE:
        return !phi__session_log_is_prune(entry->rewrite) ||
               phi__session_log_prune(box, loop, entry);
    default: return true;
    }
}

/* ---- public ---- */

PHI_API phi_status phi_session_of_thread(const phi_thread *thread, const phi_allocator *allocator,
                                         phi_session **out) {
    phi__session_box *box;
    phi_entry entry;
    phi_status status = PHI_OK;
    uint64_t seq, count;
    if (thread == NULL || out == NULL) return PHI_BAD_ARG;
    *out = NULL;
    box = phi__session_make(allocator, 0, NULL);
    if (box == NULL) return PHI_NO_MEMORY;
    count = phi_thread_count(thread);
    for (seq = phi_thread_get_info(thread).first; status == PHI_OK && seq < count; seq++) {
        status = phi_thread_entry(thread, seq, &entry);
        if (status == PHI_OK && !phi__session_log_entry(box, &entry)) status = PHI_NO_MEMORY;
        if (status == PHI_OK && entry.kind == PHI_ENTRY_REWRITE && entry.rewrite->revoke != NULL)
            status = phi__session_log_revoke(box, thread, &entry);
    }
    if (status == PHI_OK) status = phi__session_blocks_add(&box->pub, thread);
    if (status == PHI_OK)
        *out = &box->pub;
    else
        phi_session_free(&box->pub);
    return status;
}
