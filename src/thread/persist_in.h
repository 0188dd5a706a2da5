/* persist_in.h - a thread, and the store that it may be in, for the layers below. */
#ifndef PHI_THREAD_PERSIST_IN_H
#define PHI_THREAD_PERSIST_IN_H

#include "thread/history_in.h"
#include "thread/journal_in.h"
#include "thread/recall_in.h"

#endif
