/* ops_in.h - the rewrites of a log: by id, in a chain from the newest, and which of them are
   compactions that count. */
#ifndef PHI_HISTORY_OPS_IN_H
#define PHI_HISTORY_OPS_IN_H

#include "base/map_in.h"
#include "log/hashes_in.h"
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

/* Room for one more in the table of ids, and, of a compaction, among the marks. False: no
   memory. */
PHI__FN bool phi__ops_room(phi_thread *thread, const phi__op *op);
/* The newest; its seq and id are known. There is room. */
PHI__FN void phi__ops_add(phi_thread *thread, phi__op *op);
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

#endif
