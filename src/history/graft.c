/* graft.c - copies runs of another log onto a lane that is not the active one. */
#include "history/graft_in.h"
#include "model/event_parts.h"

/* ---- attaching ---- */

PHI__FN void phi__graft_put(phi_thread *thread, phi__entry *entry) {
    entry->flags |= (uint32_t)PHI_ENTRY_GRAFTED;
    phi__log_add(&thread->log, entry);
    if (entry->kind == PHI_ENTRY_LOOP_START) phi__loops_note(thread, entry);
    if (entry->kind != PHI_ENTRY_LOOP_END) return;
    phi__loops_ends_beside(thread, entry);
    if (entry->usage != NULL) phi__append_count_beside(thread, entry->usage);
}

/* ---- copies ---- */

static const phi_failure *phi__graft_failure(phi_arena *room, const phi_failure *failure) {
    phi_failure *kept = (phi_failure *)phi_arena_alloc(room, sizeof *kept);
    if (kept == NULL) return NULL;
    *kept = *failure;
    return phi__arena_str(room, failure->code, &kept->code) &&
                   phi__arena_str(room, failure->message, &kept->message) &&
                   phi__arena_str(room, failure->request_id, &kept->request_id)
               ? kept
               : NULL;
}

static phi__child_run *phi__graft_spawn(phi_arena *room, const phi__child_run *spawn) {
    phi__child_run *kept = (phi__child_run *)phi_arena_alloc(room, sizeof *kept);
    return kept != NULL && phi__arena_str(room, spawn->tool_call_id, &kept->tool_call_id) &&
                   phi__arena_str(room, spawn->session_id, &kept->session_id) &&
                   phi__arena_str(room, spawn->loop_id, &kept->loop_id)
               ? kept
               : NULL;
}

static phi__note *phi__graft_note(phi_arena *room, const phi__note *note) {
    phi__note *kept = (phi__note *)phi_arena_alloc(room, sizeof *kept);
    return kept != NULL && phi__arena_str(room, note->kind, &kept->kind) &&
                   phi__arena_str(room, note->json, &kept->json)
               ? kept
               : NULL;
}

static phi_loop_info *phi__graft_info(phi_arena *room, const phi_loop_info *from) {
    phi_loop_info *info = phi__loops_copy_info(room, from);
    if (info == NULL) return NULL;
    /* it would count as the prompt of the log's own agent */
    info->has_system_prompt = false;
    info->system_prompt = phi__str("", 0);
    return info;
}

/* What an entry of this kind has beside its message and its usage. */
static bool phi__graft_own(phi_arena *room, const phi__entry *from, phi__entry *to) {
    memset(&to->of, 0, sizeof to->of);
    switch ((int)from->kind) {
    case PHI_ENTRY_LOOP_START:
        to->of.loop = from->of.loop != NULL ? phi__graft_info(room, from->of.loop) : NULL;
        return to->of.loop != NULL || from->of.loop == NULL;
    case PHI_ENTRY_LOOP_END:
        if (from->of.failure != NULL) to->of.failure = phi__graft_failure(room, from->of.failure);
        return to->of.failure != NULL || from->of.failure == NULL;
    case PHI_ENTRY_SPAWN:
        to->of.spawn = phi__graft_spawn(room, from->of.spawn);
        return to->of.spawn != NULL;
    case PHI_ENTRY_NOTE:
        to->of.note = phi__graft_note(room, from->of.note);
        return to->of.note != NULL;
    default: return true;
    }
}

static bool phi__graft_copy(phi_thread *thread, const phi__entry *from, phi_str loop_id,
                            phi__entry *to) {
    phi_arena *room = phi__thread_room(thread);
    phi_message *message;
    phi_usage *usage;
    *to = *from;
    to->flags &= (uint32_t)PHI_ENTRY_DURABLE;
    to->ordinal = 0;
    to->loop_id = loop_id;
    if (from->message != NULL) {
        message = phi__append_keep(thread, from->message);
        if (message == NULL || !phi__append_claim_calls(thread, message)) return false;
        to->message = message;
    }
    if (from->usage != NULL) {
        usage = (phi_usage *)phi_arena_alloc(room, sizeof *usage);
        if (usage == NULL) return false;
        *usage = *from->usage;
        to->usage = usage;
    }
    return phi__graft_own(room, from, to);
}

/* ---- which entries ---- */

static bool phi__graft_wants(const phi__entry *entry, phi_str loop_id) {
    if (!phi_str_equal(entry->loop_id, loop_id)) return false;
    switch ((int)entry->kind) {
    case PHI_ENTRY_MESSAGE:
    case PHI_ENTRY_LOOP_START:
    case PHI_ENTRY_LOOP_END:
    case PHI_ENTRY_TURN_START:
    case PHI_ENTRY_TURN_END:
    case PHI_ENTRY_SPAWN:
    case PHI_ENTRY_NOTE: return true;
    default: return false;
    }
}

/* The place of the last LOOP_START of that id; SIZE_MAX: none. */
static size_t phi__graft_start(const phi_thread *from, phi_str loop_id) {
    size_t i = from->log.held;
    while (i-- > 0)
        if (from->log.entries[i]->kind == PHI_ENTRY_LOOP_START &&
            phi_str_equal(from->log.entries[i]->loop_id, loop_id))
            return i;
    return SIZE_MAX;
}

/* ---- for rooms above ---- */

PHI__FN phi_status phi__graft_lane(phi_thread *thread, phi_str name, uint64_t fork_seq,
                                   uint32_t *lane) {
    uint32_t parent = fork_seq != UINT64_MAX ? thread->lanes.active : (uint32_t)PHI__LANE_NONE;
    *lane = phi__lane_find(thread, name);
    if (*lane != PHI__LANE_NONE) return PHI_OK;
    PHI_ASSERT(parent == PHI__LANE_NONE || fork_seq < thread->log.count);
    return phi__lane_new(thread, name, parent, parent == PHI__LANE_NONE ? 0 : fork_seq, lane);
}

PHI__FN phi_status phi__graft_run(phi_thread *thread, uint32_t lane, const phi_thread *from,
                                  phi_str loop_id) {
    size_t first = phi__graft_start(from, loop_id), n = 0, i;
    phi_arena *room = phi__thread_room(thread);
    phi_arena_mark mark = phi_arena_save(room);
    phi__entry *copies = NULL;
    phi_str id;
    bool done;
    if (lane == thread->lanes.active) return PHI_MISUSE;
    if (first == SIZE_MAX) return PHI_NOT_FOUND;
    for (i = first; i < from->log.held; i++) n += phi__graft_wants(from->log.entries[i], loop_id);
    done = phi__append_reserve(thread, n, 0) && phi__loops_room(thread) &&
           phi__arena_str(room, loop_id, &id);
    if (done) copies = (phi__entry *)phi__arena_zero(room, phi__mul(n, sizeof *copies));
    done = copies != NULL;
    for (i = first, n = 0; done && i < from->log.held; i++)
        if (phi__graft_wants(from->log.entries[i], loop_id))
            done = phi__graft_copy(thread, from->log.entries[i], id, &copies[n++]);
    if (!done) {
        phi_arena_reset(room, mark);
        return PHI_NO_MEMORY;
    }
    for (i = 0; i < n; i++) {
        copies[i].lane = lane;
        phi__graft_put(thread, &copies[i]);
    }
    phi__thread_evictable(thread);
    phi__log_grew(&thread->log);
    return PHI_OK;
}
