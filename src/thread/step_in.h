/* step_in.h - the line that names a step: the last block of a tool's result. */
#ifndef PHI_THREAD_STEP_IN_H
#define PHI_THREAD_STEP_IN_H

#include "base/base_in.h"

enum { PHI__STEP_BYTES = 32 };

/* "[step n12]", terminated; its length. */
PHI__FN size_t phi__step_label(uint64_t seq, char out[PHI__STEP_BYTES]);

#endif
