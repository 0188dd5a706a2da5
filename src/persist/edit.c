/* edit.c - changes of a thread by a host or a run. Evicted entries that a change needs are recalled
   first. */
#include "persist/recall_in.h"

#include "history/rewrite_in.h"

#include <stdio.h>

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

/* Whether a lane without messages has a tool state after an entry: then its fork begins there, and
   not with nothing. */
static phi_status phi__edit_has_state(const phi_thread *thread, uint32_t lane, uint64_t at,
                                      bool *has) {
    phi_arena scratch;
    phi_status status;
    phi_str state;
    if (at == UINT64_MAX) return PHI_OK;
    phi_arena_init(&scratch, thread->log.memory, 0);
    status = phi__tool_state_at(thread, lane, at, &scratch, &state);
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
    if (phi__rewrite_check_given(thread, rewrite, words, words_size) != PHI_OK) return PHI_BAD_ARG;
    return phi__edit_rewrite(thread, rewrite, phi__str("", 0), 0, duplicate, words, words_size);
}

PHI_API phi_status phi_thread_fork_lane(phi_thread *thread, const char *name, const char *parent,
                                        uint64_t at_seq) {
    uint32_t from, lane;
    uint64_t at = 0;
    bool any = false;
    phi_status status;
    if (thread == NULL || !phi__edit_name_fits(name)) return PHI_BAD_ARG;
    if (thread->user != NULL) return PHI_BUSY;
    if (phi__lane_find(thread, phi_str_of(name)) != PHI__LANE_NONE) return PHI_MISUSE;
    from = parent != NULL ? phi__lane_find(thread, phi_str_of(parent)) : thread->lanes.active;
    if (from == PHI__LANE_NONE) return PHI_NOT_FOUND;
    status = phi__recall_view(thread, from, at_seq);
    if (status == PHI_OK) status = phi__lane_cut(thread, from, at_seq, &at, &any);
    if (status == PHI_OK && !any) status = phi__edit_has_state(thread, from, at, &any);
    if (status != PHI_OK) return status;
    return phi__lane_new(thread, phi_str_of(name), any ? from : (uint32_t)PHI__LANE_NONE, at,
                         &lane);
}

/* A host may have taken the name. */
static phi_status phi__edit_fresh(phi_thread *thread) {
    char name[32];
    size_t n;
    for (n = phi__thread_lanes(thread);; n++) {
        (void)snprintf(name, sizeof name, "lane-%llu", (unsigned long long)n);
        if (phi__lane_find(thread, phi_str_of(name)) == PHI__LANE_NONE) break;
    }
    return phi__lane_switch_new(thread, phi_str_of(name));
}

PHI_API phi_status phi_thread_switch(phi_thread *thread, const char *name) {
    phi_status status;
    uint32_t lane;
    if (thread == NULL || (name != NULL && !phi__edit_name_fits(name))) return PHI_BAD_ARG;
    if (thread->user != NULL) return PHI_BUSY;
    if (name == NULL) return phi__edit_fresh(thread);
    lane = phi__lane_find(thread, phi_str_of(name));
    if (lane == PHI__LANE_NONE) return phi__lane_switch_new(thread, phi_str_of(name));
    status = phi__recall_view(thread, lane, UINT64_MAX);
    return status == PHI_OK ? phi__lane_switch(thread, lane) : status;
}

PHI_API phi_status phi_thread_note(phi_thread *thread, const char *kind, phi_str json,
                                   uint64_t *seq) {
    if (thread == NULL || kind == NULL || kind[0] == '\0') return PHI_BAD_ARG;
    if (phi__str_starts(phi_str_of(kind), "phi.")) return PHI_BAD_ARG;
    return phi__note_add(thread, kind, json, seq);
}
