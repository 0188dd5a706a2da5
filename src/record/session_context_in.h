/* session_context_in.h - turns of a loop's messages, as blocks count them; and a loop's
   ancestors. */
#ifndef PHI_RECORD_SESSION_CONTEXT_IN_H
#define PHI_RECORD_SESSION_CONTEXT_IN_H

#include "record/session_context.h"
#include "record/session_in.h"

PHI__FN bool phi__session_context_same_turn(const phi_message *a, const phi_message *b);
/* Where a turn begins; `count` past the last. */
PHI__FN size_t phi__session_context_turn_at(const phi_message *messages, size_t count,
                                            uint64_t turn);

/* What prunes did to a message: PrunApplied events of its loop, or of a later one of the way. */
typedef struct phi__session_mark {
    bool gone;
    const phi_message *memo; /* in its place; NULL: nothing */
} phi__session_mark;

typedef struct phi__session_context_way {
    phi_loop_record **loops; /* those with messages or a block, the newest first */
    size_t count;            /* those in scope */
    size_t all;
    phi__session_mark **marks; /* of each message of each loop; NULL: nothing was pruned */
    phi_compaction_config config;
    const phi_token_counter *counter;
} phi__session_context_way;

PHI__FN void phi__session_context_begin(phi__session_context_way *way,
                                        const phi_compaction_config *config,
                                        const phi_token_counter *counter);
/* Behind phi__session_context_begin. The list is in the scratch arena, memos are in `kept`. */
PHI__FN phi_status phi__session_context_find_way(const phi_session *session, phi_str loop_id,
                                                 uint32_t flags, phi_arena *scratch,
                                                 phi_arena *kept, phi__session_context_way *way);
/* session_pruned.c: sets way->marks. */
PHI__FN phi_status phi__session_pruned_find(phi__session_context_way *way, phi_arena *scratch,
                                            phi_arena *kept);
/* True if prunes took message `at` of the way's loop i. */
PHI__FN bool phi__session_context_gone(const phi__session_context_way *way, size_t i, size_t at);
/* True if the section has these messages, in their order, with other texts at most. */
PHI__FN bool phi__session_context_one_by_one(const phi_message *messages, size_t count,
                                             const phi_block_section *section);
/* The messages to load, in the arena; they point into the session. */
PHI__FN phi_status phi__session_context_load(const phi__session_context_way *way, phi_arena *arena,
                                             const phi_message **out, size_t *count);

/* The sections of the current loop's block, by turn: `first` up to `first_end` stay as they are,
   then come the compacted turns, from `recent` on the recent turns, and from `end` on all stay. */
typedef struct phi__session_context_cuts {
    uint64_t first, first_end, recent, end;
} phi__session_context_cuts;
PHI__FN phi__session_context_cuts phi__session_context_cut(const phi_compaction_block *block);

/* phi_session_compact of phi's own blocks, or of block_fn's. */
PHI__FN phi_status phi__session_context_compact(phi_session *session,
                                                const phi_session_compact_desc *desc, size_t *made,
                                                char *words, size_t words_size);
/* session_blocks.c: as phi_session_compact_desc.thread says. */
PHI__FN phi_status phi__session_blocks_add(phi_session *session, const phi_thread *thread);

#endif
