/* persist_in.h - a thread, and the store that it may be in, for the rooms that use it. */
#ifndef PHI_PERSIST_PERSIST_IN_H
#define PHI_PERSIST_PERSIST_IN_H

#include "history/history_in.h"
#include "persist/journal_in.h"

#endif
