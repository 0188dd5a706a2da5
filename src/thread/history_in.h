/* history_in.h - all of src/history that works on a thread, for the layers below. */
#ifndef PHI_THREAD_HISTORY_IN_H
#define PHI_THREAD_HISTORY_IN_H

#include "thread/load_in.h"
#include "thread/rebase_in.h"
#include "thread/rewrite_in.h"
#include "thread/thread_in.h"
#include "thread/truncate_in.h"

#endif
