/* rewrite_in.h - rewrites, the only way to change a view: checked, then appended.

   Nothing here reads a store: the entries that a rewrite needs are in memory
   (phi__rewrite_needs). */
#ifndef PHI_HISTORY_REWRITE_IN_H
#define PHI_HISTORY_REWRITE_IN_H

#include "base/map_in.h"
#include "history/fold_in.h"
#include "log/log_in.h"

/* A compaction that was not revoked; it is known also when its rewrite is evicted. */
typedef struct phi__compaction_mark {
    uint64_t seq;
    uint32_t lane;
} phi__compaction_mark;

typedef struct phi__ops {
    phi__op *last;     /* the last one in memory */
    uint64_t last_seq; /* of the last one that changed a view, evicted or not; 0: none */
    phi__map by_id;    /* those in memory */
    phi__hashes away;  /* of the ids of evicted ones */
    phi__compaction_mark *compactions; /* in the order of the log */
    size_t compaction_count, compaction_cap;
} phi__ops;

PHI__FN void phi__ops_init(phi__ops *ops, phi_memory *memory);
PHI__FN void phi__ops_free(phi__ops *ops, phi_memory *memory);
PHI__FN phi__op *phi__ops_find(const phi_thread *thread, phi_str op_id); /* in memory */

/* As if the rewrites of a lane between two entries had been revoked at the second. Whether there
   were any. */
PHI__FN bool phi__ops_roll_back(phi_thread *thread, uint32_t lane, uint64_t from, uint64_t to);

/* The marks of its compactions between two entries go. */
PHI__FN void phi__ops_unmark(phi_thread *thread, uint32_t lane, uint64_t from, uint64_t to);

/* Chains the rewrites of the entries in memory anew, and puts them into the table. False: no
   memory, and nothing changed; never, where there are not more than before. */
PHI__FN bool phi__ops_index_all(phi_thread *thread);

/* Rewrites in segments that are not live leave memory: ids that a host gave stay known. False: no
   memory, and nothing changed. */
PHI__FN bool phi__ops_evict(phi_thread *thread);

/* All rewrites are in memory again, and in the table. */
PHI__FN void phi__ops_recalled(phi_thread *thread);

/* Whether spans would be taken now, in the active lane; else what phi_thread_rewrite says. Nothing
   changes. */
PHI__FN phi_status phi__rewrite_check_full(phi_thread *thread, const phi_rewrite *rewrite,
                                           char *words, size_t words_size);

/* Checks a rewrite without a log: whether it could ever be valid. As phi__rewrite_check_full. */
PHI__FN phi_status phi__rewrite_check_form_of(phi_thread *thread, const phi_rewrite *rewrite,
                                              char *words, size_t words_size);

/* Refuses an op_id of the form that phi makes, which a log may hold and a host may not give. As
   phi__rewrite_check_full. */
PHI__FN phi_status phi__rewrite_check_given(phi_thread *thread, const phi_rewrite *rewrite,
                                            char *words, size_t words_size);

/* As phi_thread_rewrite, without the check for an active run; the entries that it needs are in
   memory. loop_id, turn_index: who makes it. */
PHI__FN phi_status phi__rewrite_make(phi_thread *thread, const phi_rewrite *rewrite,
                                     phi_str loop_id, uint32_t turn_index, bool *duplicate,
                                     char *words, size_t words_size);

/* Whether the log must be whole for it. */
PHI__FN bool phi__rewrite_needs(const phi_thread *thread, const phi_rewrite *rewrite);

/* A deep copy in an arena, of one whose form is right. False: no memory. */
PHI__FN bool phi__rewrite_copy(phi_arena *arena, const phi_rewrite *given, phi_rewrite *out);

enum { PHI__OP_MADE_SIZE = 32 }; /* bytes, its end included */
PHI__FN void phi__rewrite_name(const phi_thread *thread, char out[PHI__OP_MADE_SIZE]);

#endif
