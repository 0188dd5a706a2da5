/* rewrite_in.h - rewrites, the only way to change a view: checked, then appended.

   Nothing here reads a store: the entries that a rewrite needs are in memory
   (phi__rewrite_needs). */
#ifndef PHI_HISTORY_REWRITE_IN_H
#define PHI_HISTORY_REWRITE_IN_H

#include "history/history_in.h"
#include "base/base_in.h"
#include "history/fold_in.h"
#include "log/log_in.h"

PHI__FN void phi__ops_init(phi__ops *ops, phi_memory *memory);
PHI__FN void phi__ops_free(phi__ops *ops, phi_memory *memory);

/* As if the rewrites of a lane between two entries had been revoked at the second. Whether there
   were any. */
PHI__FN bool phi__ops_roll_back(phi_thread *thread, uint32_t lane, uint64_t from, uint64_t to);

/* The marks of its compactions between two entries go. */
PHI__FN void phi__ops_unmark(phi_thread *thread, uint32_t lane, uint64_t from, uint64_t to);

#endif
