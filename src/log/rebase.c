/* rebase.c - fills a new log with copies of another log's views, so that log can be freed.

   Entry numbers continue, so that a seq never means two entries. The copies are packed into
   segments of their own. */
#include "log/thread_in.h"

/* ---- copying runs of another log onto a lane that is not active ---- */

/* Hidden agents (a branch of an evaluation, the scratch work of a strategy) work in their own logs.
   When a run of a hidden agent ends, it is copied to the log of the agent that it worked for, even
   during that agent's own run, whose usage then includes the copied run. The copies have
   PHI_ENTRY_GRAFTED. Messages, turns, usage, spawned runs and notes of the run are copied; its
   rewrites and its system prompt are not, so the lane shows all its messages. */

/* ---- copies ---- */

/* Copies an entry's detail, with `count` strings at the offsets `texts`. NULL: no memory. */
static void *phi__graft_part(phi_arena *room, const void *part, size_t size, const size_t *texts,
                             size_t count) {
    char *kept = (char *)phi_arena_alloc(room, size);
    if (kept == NULL) return NULL;
    memcpy(kept, part, size);
    for (size_t i = 0; i < count; i++) {
        phi_str text;
        memcpy(&text, kept + texts[i], sizeof text);
        if (!phi__arena_str(room, text, &text)) return NULL;
        memcpy(kept + texts[i], &text, sizeof text);
    }
    return kept;
}

static bool phi__graft_copy(phi_thread *thread, const phi__entry *from, phi_str loop_id,
                            phi__entry *to) {
    static const size_t failure[] = {offsetof(phi_failure, code), offsetof(phi_failure, message),
                                     offsetof(phi_failure, request_id)};
    static const size_t spawn[] = {offsetof(phi__child_run, tool_call_id),
                                   offsetof(phi__child_run, session_id),
                                   offsetof(phi__child_run, loop_id)};
    static const size_t note[] = {offsetof(phi__note, kind), offsetof(phi__note, json)};
    phi_arena *room = phi__thread_room(thread);
    *to = *from;
    to->flags &= (uint32_t)PHI_ENTRY_DURABLE;
    to->ordinal = 0;
    to->loop_id = loop_id;
    if (from->message != NULL) {
        phi_message *message = phi__append_keep(thread, from->message);
        if (message == NULL || !phi__append_claim_calls(thread, message)) return false;
        to->message = message;
    }
    if (from->usage != NULL) {
        to->usage = (phi_usage *)phi__graft_part(room, from->usage, sizeof *to->usage, NULL, 0);
        if (to->usage == NULL) return false;
    }
    memset(&to->of, 0, sizeof to->of);
    if (from->kind == PHI_ENTRY_LOOP_START && from->of.loop != NULL) {
        phi_loop_info *info = phi__loops_copy_info(room, from->of.loop);
        if (info == NULL) return false;
        /* The prompt would count as that of this log's own agent. */
        info->has_system_prompt = false;
        info->system_prompt = phi__str("", 0);
        to->of.loop = info;
    } else if (from->kind == PHI_ENTRY_LOOP_END && from->of.failure != NULL) {
        to->of.failure =
            (phi_failure *)phi__graft_part(room, from->of.failure, sizeof(phi_failure), failure, 3);
        return to->of.failure != NULL;
    } else if (from->kind == PHI_ENTRY_SPAWN) {
        to->of.spawn = (phi__child_run *)phi__graft_part(room, from->of.spawn,
                                                         sizeof(phi__child_run), spawn, 3);
        return to->of.spawn != NULL;
    } else if (from->kind == PHI_ENTRY_NOTE) {
        to->of.note = (phi__note *)phi__graft_part(room, from->of.note, sizeof(phi__note), note, 2);
        return to->of.note != NULL;
    }
    return true;
}

/* ---- entries to copy ---- */

static bool phi__graft_wants(const phi__entry *entry, phi_str loop_id) {
    return phi_str_equal(entry->loop_id, loop_id) && entry->kind != PHI_ENTRY_REWRITE &&
           entry->kind != PHI_ENTRY_LANE && entry->kind != PHI_ENTRY_SWITCH &&
           entry->kind != PHI_ENTRY_FORGOTTEN;
}

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
    size_t first = from->log.held, n = 0, i; /* the index of the last LOOP_START of that id */
    phi_arena *room = phi__thread_room(thread);
    phi_arena_mark mark = phi_arena_save(room);
    phi__entry *copies = NULL;
    phi_str id;
    if (lane == thread->lanes.active) return PHI_MISUSE;
    while (first-- > 0)
        if (from->log.entries[first]->kind == PHI_ENTRY_LOOP_START &&
            phi_str_equal(from->log.entries[first]->loop_id, loop_id))
            break;
    if (first == SIZE_MAX) return PHI_NOT_FOUND;
    for (i = first; i < from->log.held; i++) n += phi__graft_wants(from->log.entries[i], loop_id);
    bool done = phi__append_reserve(thread, n, 0) && phi__loops_room(thread) &&
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

/* ---- restarts a log with copies of its lanes' views ---- */

PHI__FN bool phi__rebase_take(phi_thread *thread, const phi_thread *from, const phi__fold *fold,
                              const uint8_t *keep) {
    size_t n = 0;
    for (size_t i = 0; i < fold->count; i++) n += keep == NULL || keep[i] != 0;
    if (!phi__append_reserve(thread, n, n)) return false;
    for (size_t i = 0; i < fold->count; i++) {
        const phi__item *item = &fold->items[i];
        if (keep != NULL && keep[i] == 0) continue;
        if (!phi__thread_roll(thread, NULL)) return false;
        phi__entry entry = PHI_ZERO;
        entry.kind = PHI_ENTRY_MESSAGE;
        entry.message = phi__append_keep(thread, item->message);
        if (entry.message == NULL || !phi__append_claim_calls(thread, entry.message)) return false;
        entry.flags = item->flags & 0xff;
        if (item->message->role == PHI_ROLE_ASSISTANT && item->from < from->ops.last_seq)
            entry.flags |= (uint32_t)PHI_ITEM_UNMEASURED;
        entry.at_ms = (item->flags & PHI_ITEM_SYNTHETIC) != 0
                          ? entry.message->timestamp_ms
                          : phi__thread_at(from, item->from)->at_ms;
        entry.loop_id = entry.message->loop_id;
        entry.turn_index = entry.message->turn_index;
        if (!phi__append(thread, &entry, 1)) return false;
    }
    return true;
}

/* ---- choosing the items to keep ---- */

enum { PHI__REBASE_WIRE = 64 }; /* bytes around a block's text in a wire format */

/* Estimates the bytes of a message in a log. Texts count twice: in the message, and in a wire
   format. An eighth is added because memory blocks are never completely full. */
static size_t phi__rebase_cost(const phi_message *m) {
    size_t bytes = sizeof(phi__entry) + 2 * sizeof(phi__entry *) + sizeof(phi__item) + sizeof *m;
    bytes += m->loop_id.len + m->error_message.len + m->details.len + m->extension_data.len;
    if (m->extra != NULL)
        bytes += sizeof *m->extra + m->extra->node_id.len + m->extra->parent_id.len +
                 m->extra->tags.len + m->extra->provenance_hint.len + m->extra->role.len;
    for (size_t i = 0; i < m->content_count; i++) {
        const phi_content *c = &m->content[i];
        bytes += sizeof *c + sizeof(phi__rendered) + PHI__REBASE_WIRE +
                 2 * (c->text.len + c->data.len + c->arguments.len + c->signature.len +
                      c->replay.len + c->id.len + c->name.len);
    }
    return bytes + bytes / 8;
}

PHI__FN size_t phi__rebase_bytes(const phi__fold *fold, const uint8_t *keep) {
    size_t sum = 0;
    for (size_t i = 0; i < fold->count; i++)
        if (keep == NULL || keep[i] != 0) sum += phi__rebase_cost(fold->items[i].message);
    return sum;
}

/* Returns the start of the newest turns that fit into `room`, or fold->count if none fits. newest:
   the last turn stays in any case. */
static size_t phi__rebase_from(const phi__fold *fold, const size_t *callers, const uint8_t *keep,
                               size_t room, bool newest) {
    size_t from = fold->count, first_caller = SIZE_MAX, sum = 0, i = fold->count;
    while (i-- > 0) {
        if (callers[i] < first_caller) first_caller = callers[i];
        if (keep[i] == 0) sum += phi__rebase_cost(fold->items[i].message);
        if (sum > room && !(newest && from == fold->count)) break;
        if (fold->items[i].message->role == PHI_ROLE_USER && !fold->items[i].message->is_update &&
            (fold->items[i].flags & PHI_ITEM_SUMMARY) == 0 && first_caller >= i)
            from = i;
    }
    return i == SIZE_MAX && sum <= room ? 0 : from;
}

PHI__FN bool phi__rebase_choose(const phi_thread *thread, size_t target_bytes, bool newest,
                                uint8_t *keep) {
    const phi__fold *fold = &thread->fold;
    size_t *callers = phi__groups_make(thread->log.memory, fold), from = fold->count;
    uint8_t *durable = NULL;
    bool done = callers != NULL && phi__groups_durable(thread->log.memory, fold, &durable);
    for (size_t i = 0; i < fold->count; i++)
        keep[i] = done && target_bytes > 0 &&
                  ((durable != NULL && durable[i] != 0) ||
                   (fold->items[i].flags & PHI_ITEM_SUMMARY) != 0);
    size_t kept = phi__rebase_bytes(fold, keep);
    if (done)
        from = phi__rebase_from(fold, callers, keep, target_bytes > kept ? target_bytes - kept : 0,
                                newest);
    for (size_t i = from; i < fold->count; i++) keep[i] = 1;
    size_t first = 0, i;
    while (first < fold->count &&
           (keep[first] == 0 || fold->items[first].message->role == PHI_ROLE_EXTENSION))
        first++;
    if (first != fold->count && fold->items[first].message->role != PHI_ROLE_USER) {
        for (i = first; i > 0 && fold->items[i - 1].message->role != PHI_ROLE_USER; i--) {}
        if (i > 0) keep[i - 1] = 1;
    }
    phi__free(thread->log.memory, durable, durable != NULL ? fold->count : 0);
    phi__groups_free(thread->log.memory, fold->count, callers);
    return done;
}

/* ---- the new log ---- */

static phi_forgotten *phi__rebase_begin(phi_thread *thread, const phi_thread *before,
                                        const uint8_t *keep) {
    phi_arena *room = phi__thread_room(thread);
    phi_forgotten *made = (phi_forgotten *)phi__arena_zero(room, sizeof *made);
    phi_usage *usage = (phi_usage *)phi_arena_alloc(room, sizeof *usage);
    const phi__fold *fold = &before->fold;
    size_t kept = 0; /* messages of the old log in the new one, without those made by rewrites */
    for (size_t i = 0; i < fold->count; i++)
        kept += (keep == NULL || keep[i] != 0) && (fold->items[i].flags & PHI_ITEM_SYNTHETIC) == 0;
    if (made == NULL || usage == NULL) return NULL;
    *usage = before->counted.usage;
    made->from = before->log.base;
    made->to = before->log.count;
    made->made_ms = before->log.made_ms;
    thread->log.made_ms = made->made_ms;
    if (before->messages.count > kept) made->messages = before->messages.count - kept;
    phi__entry entry = PHI_ZERO;
    entry.kind = PHI_ENTRY_FORGOTTEN;
    entry.at_ms = phi__thread_now(thread);
    entry.usage = usage;
    entry.of.forgotten = made;
    thread->log.base = thread->log.count = before->log.count;
    thread->loops.restored = before->loops.restored;
    return phi__append(thread, &entry, 1) && phi__about_carry(thread, before) ? made : NULL;
}

/* True for scratch lanes of strategies, such as "~tot/...": they are no part of a conversation. */
static bool phi__rebase_scratch(const phi_thread *before, uint32_t lane) {
    phi_str name = before->lanes.at[lane].name;
    return lane != before->lanes.active && name.len > 0 && name.at[0] == '~';
}

static bool phi__rebase_lane(phi_thread *thread, const phi_thread *before, uint32_t lane,
                             phi__carry_fn carry) {
    phi__fold fold;
    bool done = phi__fold_lane(before, lane, UINT64_MAX, &fold) == PHI_OK;
    if (done && fold.count > 0)
        done = phi__lane_switch(thread, lane) == PHI_OK &&
               (carry == NULL || carry(thread, before, lane, UINT64_MAX)) &&
               phi__rebase_take(thread, before, &fold, NULL);
    phi__fold_free(before->log.memory, &fold);
    return done;
}

PHI__FN bool phi__rebase_copy(phi_thread *thread, const phi_thread *before, const uint8_t *keep,
                              phi__carry_fn carry, phi_forgotten **made) {
    *made = phi__rebase_begin(thread, before, keep);
    if (*made == NULL) return false;
    uint32_t lane, count = before->lanes.count;
    while (count > 1 && phi__rebase_scratch(before, count - 1)) count--;
    for (uint32_t i = 1; i < count; i++)
        if (phi__lane_new(thread, before->lanes.at[i].name, PHI__LANE_NONE, 0, &lane) != PHI_OK)
            return false;

    for (uint32_t i = 0; i < before->lanes.count; i++)
        if (i != before->lanes.active && !phi__rebase_scratch(before, i) &&
            !phi__rebase_lane(thread, before, i, carry))
            return false;
    return phi__lane_switch(thread, before->lanes.active) == PHI_OK &&
           (carry == NULL || carry(thread, before, before->lanes.active, UINT64_MAX)) &&
           phi__rebase_take(thread, before, &before->fold, keep);
}
