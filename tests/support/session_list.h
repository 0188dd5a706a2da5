/* session_list.h - what phi_session_to_thread shows of a session, as a list without a thread. */
#ifndef PHI_TESTS_SUPPORT_SESSION_LIST_H
#define PHI_TESTS_SUPPORT_SESSION_LIST_H

#include "record/session_in.h"

/* In the arena; its messages point into the session. */
static inline phi_status session_list(const phi_session *session, phi_str loop_id, uint32_t flags,
                                      const phi_compaction_config *config,
                                      const phi_token_counter *counter, phi_arena *arena,
                                      const phi_message **out, size_t *count) {
    phi__way_way way;
    phi_arena scratch;
    phi_status status;
    *out = NULL;
    *count = 0;
    phi__way_begin(&way, config, counter);
    phi_arena_init(&scratch, arena->memory, 0);
    status = phi__way_find_way(session, loop_id, flags, &scratch, arena, &way);
    if (status == PHI_OK) status = phi__way_load(&way, arena, out, count);
    phi_arena_free(&scratch);
    return status;
}

#endif
