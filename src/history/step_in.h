/* step_in.h - the names of steps: "n12" in a model's words and in events, 12 in JSON, as the
   original has it. */
#ifndef PHI_HISTORY_STEP_IN_H
#define PHI_HISTORY_STEP_IN_H

#include "base/arena_in.h"

enum { PHI__STEP_BYTES = 32 };

/* "[step n12]", terminated; its length. */
PHI__FN size_t phi__revert_step_label(uint64_t seq, char out[PHI__STEP_BYTES]);

/* The number of "n12" or "12". False: the name has none, and *seq stays as it is. */
PHI__FN bool phi__revert_step_number(phi_str name, uint64_t *seq);
/* The value of "abandoned_node_ids": an array of numbers. Names without a number are left out. */
PHI__FN void phi__revert_step_put_all(phi__buf *out, const phi_str *names, size_t count);

#endif
