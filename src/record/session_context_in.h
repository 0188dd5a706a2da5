/* session_context_in.h - turns of a loop's messages, as blocks count them; and a loop's
   ancestors. */
#ifndef PHI_RECORD_SESSION_CONTEXT_IN_H
#define PHI_RECORD_SESSION_CONTEXT_IN_H

#include "record/session_context.h"
#include "record/session_in.h"

PHI__FN bool phi__way_same_turn(const phi_message *a, const phi_message *b);
PHI__FN size_t phi__way_turn_count(const phi_message *messages, size_t count);

/* A section of the turns from `from` up to one before `end`. */
PHI__FN void phi__way_ends(phi_block_section *section, size_t from, size_t end);

/* What prunes did to a message: PrunApplied events of its loop, or of a later one of the way. */
typedef struct phi__session_mark {
    bool gone;
    const phi_message *memo; /* in its place; NULL: nothing */
} phi__session_mark;

typedef struct phi__way_way {
    phi_loop_record **loops; /* those with messages or a block, the newest first */
    size_t count;            /* those in scope */
    size_t all;
    phi__session_mark **marks; /* of each message of each loop; NULL: nothing was pruned */
    phi_compaction_config config;
    const phi_token_counter *counter;
} phi__way_way;

PHI__FN void phi__way_begin(phi__way_way *way, const phi_compaction_config *config,
                            const phi_token_counter *counter);

/* Behind phi__way_begin. The list is in the scratch arena, memos are in `kept`. */
PHI__FN phi_status phi__way_find_way(const phi_session *session, phi_str loop_id, uint32_t flags,
                                     phi_arena *scratch, phi_arena *kept, phi__way_way *way);

/* Sets way->marks. */
PHI__FN phi_status phi__pruned_find(phi__way_way *way, phi_arena *scratch, phi_arena *kept);

/* The messages to load, in the arena; they point into the session. */
PHI__FN phi_status phi__way_load(const phi__way_way *way, phi_arena *arena, const phi_message **out,
                                 size_t *count);

/* phi_session_compact of phi's own blocks, or of block_fn's. */
PHI__FN phi_status phi__way_compact(phi_session *session, const phi_session_compact_desc *desc,
                                    size_t *made, char *words, size_t words_size);

#endif
