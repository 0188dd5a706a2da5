/* loops_in.h - the runs of a log, by id: where each began; and the state of the active one. */
#ifndef PHI_HISTORY_LOOPS_IN_H
#define PHI_HISTORY_LOOPS_IN_H

#include "log/log_in.h"
#include "model/event_parts.h"

/* The last beginning of each run, by the hash of its id: an open table, half empty. */
typedef struct phi__loop_start {
    uint64_t hash; /* 0: free */
    uint64_t seq;  /* of its LOOP_START, and 1; 0: it has ended */
} phi__loop_start;

typedef struct phi__loops {
    phi__loop_start *at;
    size_t count, cap;
    bool away;              /* runs whose beginning has left memory are not in it */
    bool keeps_none;        /* the active run may be rolled back */
    bool restored;          /* they were read: the last one may have been lost with a process */
    uint64_t told, told_to; /* phi__loops_visit: up to which entry, and whom */
    phi__entry *started;    /* the LOOP_START whose end has not come, or NULL */
    uint64_t prompt_hash;   /* of the last run's system prompt; 0: none was noted */
} phi__loops;

/* NULL: there is no run of this id in memory. */
PHI__FN const phi__loop_start *phi__loops_find(const phi_thread *thread, phi_str loop_id);
/* Whether a run of this id is in memory. */
PHI__FN bool phi__loops_has(const phi_thread *thread, phi_str loop_id);

/* Calls saw_fn for each loop id that entries in memory name: runs, messages, and messages of
   rewrites, in view or not; an id may come more than once. The id that this reader (a number of its
   own) got last is left out. False: saw_fn returned false. */
PHI__FN bool phi__loops_visit(phi_thread *thread, uint64_t reader,
                              bool (*saw_fn)(void *user_data, phi_str loop_id), void *user_data);
/* A deep copy; NULL: no memory. */
PHI__FN phi_loop_info *phi__loops_copy_info(phi_arena *arena, const phi_loop_info *from);
/* Notes a run's system prompt, which lives in the arena, unless the run before had the same, or
   none did. False: no memory. */
PHI__FN bool phi__loops_info_prompt(const phi_thread *thread, phi_arena *arena, phi_str prompt,
                                    phi_loop_info *info);
/* Room for the id of one more. False: no memory. */
PHI__FN bool phi__loops_room(phi_thread *thread);
/* Entries have left memory: so do the ids of their runs. */
PHI__FN void phi__loops_evict(phi_thread *thread);

/* Where a run began, by its LOOP_START, whose seq is known; there is room. */
PHI__FN void phi__loops_note(phi_thread *thread, const phi__entry *start);
/* For a LOOP_START, when it is attached. */
PHI__FN void phi__loops_starts(phi_thread *thread, const phi__entry *start);
/* For a LOOP_END, when it is attached: its ordinal. Beside: of a run that was copied, so that the
   active run stays the active one. */
PHI__FN void phi__loops_ends(phi_thread *thread, phi__entry *end);
PHI__FN void phi__loops_ends_beside(phi_thread *thread, phi__entry *end);
/* Of the run that goes over the thread. */
PHI__FN void phi__loops_keep_none(phi_thread *thread, bool keeps_none);
/* What no run has answered since was lost with a process; a run that starts ends that. */
PHI__FN void phi__loops_set_restored(phi_thread *thread, bool restored);
PHI__FN void phi__loops_free(phi__loops *loops, phi_memory *memory);

#endif
