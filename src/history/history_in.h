/* history_in.h - all of src/history that works on a thread, for the rooms that use it. */
#ifndef PHI_HISTORY_HISTORY_IN_H
#define PHI_HISTORY_HISTORY_IN_H

#include "history/load_in.h"
#include "history/rebase_in.h"
#include "history/rewrite_in.h"
#include "history/thread_in.h"
#include "history/tool_state_in.h"
#include "history/prune_in.h"

#endif
