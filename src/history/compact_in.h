/* compact_in.h - a compaction's defaults, and helpers that both ways to compact share. */
#ifndef PHI_HISTORY_COMPACT_IN_H
#define PHI_HISTORY_COMPACT_IN_H

#include "history/history_in.h"
#include "base/base_in.h"
#include "history/compact.h"

/* The same with the time, run and turn of `place`. */
PHI__FN phi_message *phi__compact_say_at(phi_str text, const phi_message *place, phi_arena *arena);

#endif
