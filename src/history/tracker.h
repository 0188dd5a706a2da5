/* tracker.h - how full a context is: what a provider reported, and an estimate of what came since.

   A provider says with each answer how many tokens it read and wrote; those are exact, and hold the
   system prompt and the tools, too. Messages behind that answer are estimated. After a change of
   the list (compaction, prune, replaced messages) the report no longer describes it: reset the
   tracker. */
#ifndef PHI_HISTORY_TRACKER_H
#define PHI_HISTORY_TRACKER_H

#include "model/tokens.h"

#ifdef __cplusplus
extern "C" {
#endif

/* PHI_ZERO is a tracker that knows nothing. It owns nothing. */
typedef struct phi_tracker {
    uint64_t reported; /* tokens up to and with message `index`; 0: none are known */
    size_t index;
} phi_tracker;

/* What came with the answer at messages[index]: input, output, cache reads and writes. A sum of 0
   is ignored. */
PHI_API void phi_tracker_record(phi_tracker *tracker, const phi_usage *usage, size_t index);

/* The tokens that a list of `count` messages is known to have, and in *from the first message that
   is to be estimated and added. Where nothing is known of it, or it is too short to hold the
   recorded one: 0, and *from is 0. */
PHI_API uint64_t phi_tracker_known(const phi_tracker *tracker, size_t count, size_t *from);

/* The whole sum. counter NULL: the estimate. */
PHI_API uint64_t phi_tracker_tokens(const phi_tracker *tracker, const phi_message *const *messages,
                                    size_t count, const phi_token_counter *counter);

PHI_API void phi_tracker_reset(phi_tracker *tracker);

#ifdef __cplusplus
}
#endif
#endif
