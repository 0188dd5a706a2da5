/* truncate_in.h - takes the oldest groups out of the view. */
#ifndef PHI_HISTORY_TRUNCATE_IN_H
#define PHI_HISTORY_TRUNCATE_IN_H

#include "base/base_in.h"
#include "model/texts.h"
#include "model/tokens.h"
#include "log/thread.h"

/* Takes the oldest whole groups (an answer with its results, or a user message) out of the view
   until it is estimated at target_tokens or less; *removed: the messages taken out; the marker's
   text counts those of earlier times, too. counter NULL: the estimate. texts NULL: phi's. The first
   user message, the newest one, and the last group stay. A user message "[Context compacted: N
   messages removed to fit context window]" takes their place. It is one rewrite. False: no
   memory, and nothing changed. *removed 0: there was nothing to take; no entry is appended. */
PHI__FN bool phi__truncate(phi_thread *thread, uint64_t target_tokens,
                           const phi_token_counter *counter, const phi_texts *texts,
                           phi_str loop_id, uint32_t turn_index, size_t *removed);

#endif
