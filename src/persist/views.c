/* views.c - entries, views and forks of a thread for the host. */
#include "persist/journal_in.h"
#include "persist/plan.h"

#include <stdio.h>

/* ---- a thread's info, title and metadata for the host ---- */

PHI__FN phi_str phi__info_id(phi_thread *thread) {
    unsigned char random[16] = {0};
    char made[PHI__UUID_SIZE];
    if (phi__info_known_id(thread).len > 0) return phi__info_known_id(thread);
    if (thread->log.io != NULL) phi__io_random(thread->log.io, random, sizeof random);
    phi__id_uuid(random, made);
    return phi__about_set_id(thread, phi_str_of(made)) ? thread->id : phi__str("", 0);
}

PHI__FN void phi__info_put_head(phi__buf *out, const phi_thread *thread) {
    if (thread->journal == NULL) phi__records_some(out, "id", thread->id);
}

PHI__FN phi_status phi__info_get_head(phi_thread *thread, const phi_json *head) {
    phi_str id = phi_json_str(phi_json_get(head, "id"), "");
    return id.len == 0 || phi__about_set_id(thread, id) ? PHI_OK : PHI_NO_MEMORY;
}

/* ---- public ---- */

PHI_API phi_thread_info phi_thread_get_info(const phi_thread *thread) {
    phi_thread_info info = PHI_ZERO;
    info.lane = info.title = info.metadata = info.forked_from = phi__str("", 0);
    if (thread == NULL) return info;
    info = phi__about_info(thread);
    info.first = thread->log.base;
    info.stored = thread->journal != NULL ? thread->journal->stored : 0;
    info.lane = phi__lane_name(thread, thread->lanes.active);
    info.lane_count = phi__thread_lanes(thread);
    info.usage = thread->counted.usage;
    info.made_ms = thread->log.made_ms;
    info.changed_ms = thread->log.changed_ms;
    return info;
}

PHI_API phi_str phi_thread_id(phi_thread *thread) {
    return thread != NULL ? phi__info_id(thread) : phi__str("", 0);
}

/* ---- entries ---- */

PHI_API uint64_t phi_thread_count(const phi_thread *thread) {
    return thread != NULL ? thread->log.count : 0;
}

PHI_API phi_status phi_thread_entry(const phi_thread *thread, uint64_t seq, phi_entry *out) {
    phi_status status = PHI_OK;
    if (thread == NULL || out == NULL) return PHI_BAD_ARG;
    if (seq >= thread->log.count || seq < thread->log.base) return PHI_NOT_FOUND;
    if (phi__thread_at(thread, seq) == NULL) status = phi__recall(thread);
    if (status != PHI_OK) return status;
    const phi__entry *entry = phi__thread_at(thread, seq);
    memset(out, 0, sizeof *out);
    out->seq = entry->seq;
    out->at_ms = entry->at_ms;
    out->kind = entry->kind;
    out->flags = entry->flags;
    out->lane =
        phi__lane_name(thread, entry->kind == PHI_ENTRY_REWRITE ? entry->of.op->lane : entry->lane);
    out->loop_id = entry->loop_id;
    out->turn_index = entry->turn_index;
    out->message = entry->message;
    out->trigger = entry->trigger;
    out->status = entry->status;
    out->keep = entry->keep;
    out->usage = entry->usage;
    const phi__lane *lane = thread->lanes.at != NULL ? &thread->lanes.at[entry->lane] : NULL;
    if (entry->kind == PHI_ENTRY_LANE && lane != NULL && lane->parent != PHI__LANE_NONE) {
        out->parent_lane = phi__lane_name(thread, lane->parent);
        out->fork_seq = lane->fork_seq;
    }
    if (entry->kind == PHI_ENTRY_LOOP_START) out->loop = entry->of.loop;
    if (entry->kind == PHI_ENTRY_LOOP_END) out->failure = entry->of.failure;
    if (entry->kind == PHI_ENTRY_REWRITE) out->rewrite = &entry->of.op->rewrite;
    if (entry->kind == PHI_ENTRY_SPAWN) {
        const phi__child_run *spawn = entry->of.spawn;
        out->tool_call_id = spawn->tool_call_id;
        out->child_session_id = spawn->session_id;
        out->child_loop_id = spawn->loop_id;
    }
    if (entry->kind == PHI_ENTRY_FORGOTTEN) out->forgotten = entry->of.forgotten;
    if (entry->kind == PHI_ENTRY_NOTE) {
        out->note_kind = entry->of.note->kind;
        out->note = entry->of.note->json;
    }
    return PHI_OK;
}

/* ---- views ---- */

static bool phi__views_items(const phi__fold *fold, phi_arena *arena, const phi_view_item **out,
                             size_t *count) {
    phi_view_item *items =
        (phi_view_item *)phi_arena_alloc(arena, phi__mul(phi__max(fold->count, 1), sizeof *items));
    if (items == NULL) return false;
    for (size_t i = 0; i < fold->count; i++) {
        items[i].message = fold->items[i].message;
        items[i].from = fold->items[i].from;
        items[i].to = fold->items[i].to;
        items[i].flags = fold->items[i].flags;
        items[i].tokens = phi_tokens_of_message(NULL, items[i].message);
    }
    *out = items;
    *count = fold->count;
    return true;
}

PHI_API phi_status phi_thread_view(const phi_thread *thread, const char *lane, uint64_t upto,
                                   phi_arena *arena, const phi_view_item **out, size_t *count) {
    phi__fold made;
    const phi__fold *fold;
    if (thread == NULL || arena == NULL || out == NULL || count == NULL) return PHI_BAD_ARG;
    uint32_t at = phi__lane_named(thread, lane);
    if (at == PHI__LANE_NONE) return PHI_NOT_FOUND;
    phi_status status = phi__recall_view(thread, at, upto);
    if (status == PHI_OK) status = phi__fold_at(thread, at, upto, &made, &fold);
    if (status != PHI_OK) return status;
    bool done = phi__views_items(fold, arena, out, count);
    phi__fold_free(thread->log.memory, &made);
    return done ? PHI_OK : PHI_NO_MEMORY;
}

PHI_API phi_status phi_thread_tool_state(const phi_thread *thread, const char *lane, uint64_t seq,
                                         phi_arena *arena, phi_str *out) {
    if (thread == NULL || out == NULL) return PHI_BAD_ARG;
    if (arena == NULL)
        return lane != NULL || seq != UINT64_MAX
                   ? PHI_BAD_ARG
                   : phi__state_now((phi_thread *)(uintptr_t)thread, out);
    uint32_t at = phi__lane_named(thread, lane);
    if (at == PHI__LANE_NONE || seq < thread->log.base) return PHI_NOT_FOUND;
    phi_status status = phi__recall(thread);
    return status == PHI_OK ? phi__state_fold(thread, at, seq, arena, out) : status;
}

PHI_API const char *phi_thread_lane_at(const phi_thread *thread, size_t i) {
    return thread != NULL && i < phi__thread_lanes(thread) ? phi__lane_name(thread, (uint32_t)i).at
                                                           : NULL;
}

/* ---- changes by a host or a run; recalls evicted entries that a change needs ---- */

static bool phi__edit_name_fits(const char *name) {
    return name != NULL && name[0] != '\0' && phi__check_id_fits(phi_str_of(name));
}

PHI__FN phi_status phi__edit_rewrite(phi_thread *thread, const phi_rewrite *rewrite,
                                     phi_str loop_id, uint32_t turn_index, bool *duplicate,
                                     char *words, size_t words_size) {
    phi_status status = PHI_OK;
    if (words != NULL && words_size > 0) words[0] = '\0';
    if (duplicate != NULL) *duplicate = false;
    if (phi__rewrite_needs(thread, rewrite)) status = phi__recall(thread);
    return status == PHI_OK ? phi__rewrite_make(thread, rewrite, loop_id, turn_index, duplicate,
                                                words, words_size)
                            : status;
}

/* Sets *has to true if a lane without messages has a tool state at entry `at`. A fork at `at` then
   begins at that entry, instead of empty. */
static phi_status phi__edit_has_state(const phi_thread *thread, uint32_t lane, uint64_t at,
                                      bool *has) {
    phi_arena scratch;
    phi_str state;
    if (at == UINT64_MAX) return PHI_OK;
    phi_arena_init(&scratch, thread->log.memory, 0);
    phi_status status = phi__state_at(thread, lane, at, &scratch, &state);
    *has = status == PHI_OK && !phi__str_is(state, "{}");
    phi_arena_free(&scratch);
    return status;
}

/* ---- public ---- */

PHI_API phi_status phi_thread_rewrite(phi_thread *thread, const phi_rewrite *rewrite,
                                      bool *duplicate, char *words, size_t words_size) {
    if (thread == NULL || rewrite == NULL) return PHI_BAD_ARG;
    if (duplicate != NULL) *duplicate = false;
    if (thread->user != NULL) return PHI_BUSY;
    if (phi__rewrite_check(thread, rewrite, PHI__REWRITE_GIVEN, words, words_size) != PHI_OK)
        return PHI_BAD_ARG;
    return phi__edit_rewrite(thread, rewrite, phi__str("", 0), 0, duplicate, words, words_size);
}

PHI_API phi_status phi_thread_fork_lane(phi_thread *thread, const char *name, const char *parent,
                                        uint64_t at_seq) {
    uint32_t lane;
    uint64_t at = 0;
    bool any = false;
    if (thread == NULL || !phi__edit_name_fits(name)) return PHI_BAD_ARG;
    if (thread->user != NULL) return PHI_BUSY;
    if (phi__lane_find(thread, phi_str_of(name)) != PHI__LANE_NONE) return PHI_MISUSE;
    uint32_t from = phi__lane_named(thread, parent);
    if (from == PHI__LANE_NONE) return PHI_NOT_FOUND;
    phi_status status = phi__recall_view(thread, from, at_seq);
    if (status == PHI_OK) status = phi__lane_cut(thread, from, at_seq, &at, &any);
    if (status == PHI_OK && !any) status = phi__edit_has_state(thread, from, at, &any);
    if (status != PHI_OK) return status;
    return phi__lane_new(thread, phi_str_of(name), any ? from : (uint32_t)PHI__LANE_NONE, at,
                         &lane);
}

/* Switches to a new lane with a generated name. Skips names that a host already took. */
static phi_status phi__edit_fresh(phi_thread *thread) {
    char name[32];
    for (size_t n = phi__thread_lanes(thread);; n++) {
        (void)snprintf(name, sizeof name, "lane-%llu", (unsigned long long)n);
        if (phi__lane_find(thread, phi_str_of(name)) == PHI__LANE_NONE) break;
    }
    return phi__lane_switch_new(thread, phi_str_of(name));
}

PHI_API phi_status phi_thread_switch(phi_thread *thread, const char *name) {
    if (thread == NULL || (name != NULL && !phi__edit_name_fits(name))) return PHI_BAD_ARG;
    if (thread->user != NULL) return PHI_BUSY;
    if (name == NULL) return phi__edit_fresh(thread);
    uint32_t lane = phi__lane_find(thread, phi_str_of(name));
    if (lane == PHI__LANE_NONE) return phi__lane_switch_new(thread, phi_str_of(name));
    phi_status status = phi__recall_view(thread, lane, UINT64_MAX);
    return status == PHI_OK ? phi__lane_switch(thread, lane) : status;
}

/* ---- plans a compaction, a prune or a revert of a thread for the host ---- */

PHI_API phi_status phi_thread_plan(const phi_thread *thread, const phi_plan *plan, phi_arena *arena,
                                   phi_rewrite *out) {
    const phi_view_item *items;
    size_t count;
    phi_reverted reverted;
    if (thread == NULL || plan == NULL || arena == NULL || out == NULL) return PHI_BAD_ARG;
    if ((plan->compaction != NULL) + (plan->prune != NULL) + (plan->revert != NULL) != 1)
        return PHI_BAD_ARG;
    phi_status status = phi_thread_view(thread, NULL, UINT64_MAX, arena, &items, &count);
    if (status != PHI_OK) return status;
    if (plan->revert != NULL)
        return phi__revert_plan(thread, plan->revert, arena, out,
                                plan->reverted != NULL ? plan->reverted : &reverted);
    if (plan->compaction != NULL)
        return phi__compact_rewrite(items, count, plan->compaction, plan->counter, arena, out);
    phi_prune prune = *plan->prune;
    if (prune.from_seq == 0) prune.from_seq = phi__prune_from(thread);
    return phi__prune_plan(items, count, &prune, plan->counter, arena, out, plan->pruned);
}
