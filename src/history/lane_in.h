/* lane_in.h - lanes: which there are, and which is the active one. */
#ifndef PHI_HISTORY_LANE_IN_H
#define PHI_HISTORY_LANE_IN_H

#include "history/fold_in.h"

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
