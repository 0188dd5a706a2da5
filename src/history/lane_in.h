/* lane_in.h - lanes: which there are, and which is the active one. */
#ifndef PHI_HISTORY_LANE_IN_H
#define PHI_HISTORY_LANE_IN_H

#include "history/fold_in.h"
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
PHI__FN void phi__loops_ends_beside(phi_thread *thread, phi__entry *end);

/* Of the run that goes over the thread. */
PHI__FN void phi__loops_keep_none(phi_thread *thread, bool keeps_none);

/* What no run has answered since was lost with a process; a run that starts ends that. */
PHI__FN void phi__loops_set_restored(phi_thread *thread, bool restored);
PHI__FN void phi__loops_free(phi__loops *loops, phi_memory *memory);

/* A lane's view before the active run rewrote it, restored by a run that keeps nothing. Its items
   may be of the run, too. */
typedef struct phi__undo {
    phi__fold fold;
    uint64_t start; /* seq of the run's LOOP_START, and 1; 0: there is nothing */
    uint32_t lane;
} phi__undo;

/* For a LOOP_END, when it is attached. */
PHI__FN void phi__runs_loop_ends(phi_thread *thread, phi__entry *end);

/* Whether the end of a run folds its lane anew, for which the log must be whole. */
PHI__FN bool phi__runs_end_folds(const phi_thread *thread, const phi__entry *end);

/* Before a LOOP_END is attached: prepares the rollback of the run, if it needs one.
   PHI_NO_MEMORY. */
PHI__FN phi_status phi__runs_may_end(phi_thread *thread, const phi__entry *end);

/* Before a rewrite of the active lane: saves its view, during a run that keeps nothing. False: no
   memory. */
PHI__FN bool phi__runs_keep_undo(phi_thread *thread);
PHI__FN void phi__runs_drop_undo(phi_thread *thread);

/* Rewrites that were rolled back by ends which the store did not have yet are so here, too. */
PHI__FN void phi__runs_roll_back_again(phi_thread *thread);

enum { PHI__LANE_NONE = 0x7fffffff };

typedef struct phi__lane {
    phi_str name;    /* in memory of its own */
    uint32_t parent; /* PHI__LANE_NONE: it began empty */
    uint64_t fork_seq;
    uint64_t seq; /* of the entry that began it */
} phi__lane;

typedef struct phi__lanes {
    phi__lane *at; /* none: there is only the default one */
    uint32_t count, active, cap;
    uint32_t *table; /* lanes by name, where there are many: an open table, half empty */
    size_t table_cap;
} phi__lanes;

PHI__FN uint32_t phi__lane_find(const phi_thread *thread, phi_str name);
PHI__FN phi_str phi__lane_name(const phi_thread *thread, uint32_t lane);

/* Message i of the active lane; NULL: it is evicted, or there is none. */
PHI__FN phi__entry *phi__lane_message(const phi_thread *thread, size_t i);

/* Begins one; parent PHI__LANE_NONE: empty. PHI_NO_MEMORY: nothing changed. *lane: its number. */
PHI__FN phi_status phi__lane_new(phi_thread *thread, phi_str name, uint32_t parent,
                                 uint64_t fork_seq, uint32_t *lane);

/* The log is whole. PHI_NO_MEMORY: nothing changed. */
PHI__FN phi_status phi__lane_switch(phi_thread *thread, uint32_t lane);

/* Activates a lane, with its fold, which is the thread's from then on, where its messages are in
   their place already (phi__lane_messages); NULL: an empty view. */
PHI__FN void phi__lane_enter(phi_thread *thread, uint32_t lane, phi__fold *fold);

/* The same without its view and its messages: a reader has them. */
PHI__FN void phi__lane_activate(phi_thread *thread, uint32_t lane);
PHI__FN void phi__lane_free_all(phi_thread *thread);

/* n entries of now, and room to attach them; NULL: no memory. */
PHI__FN phi__entry *phi__lane_entries(phi_thread *thread, size_t n);

/* Attaches one on the lane that it is about, which need not be the active one. */
PHI__FN void phi__lane_append(phi_thread *thread, phi__entry *entry, phi_entry_kind kind,
                              uint32_t lane);

/* To a new lane that begins empty: both, or nothing. */
PHI__FN phi_status phi__lane_switch_new(phi_thread *thread, phi_str name);

/* The MESSAGE entries of a lane, in place of those of the active one; of a log that is whole.
   False: no memory, and nothing changed. */
PHI__FN bool phi__lane_messages(phi_thread *thread, uint32_t lane);

/* The end of the last whole group of a lane at `at`: its seq, in *out. *any false: there is none,
   and *out is the last entry before the first group; UINT64_MAX: there is no entry. */
PHI__FN phi_status phi__lane_cut(const phi_thread *thread, uint32_t lane, uint64_t at,
                                 uint64_t *out, bool *any);

#endif
