/* tracker.h - the tokens of a context: the provider's report, and an estimate of later messages.

   A provider says with each answer how many tokens it read and wrote; those are exact, and include
   the system prompt and the tools. Messages behind that answer are estimated. After a change of the
   list (compaction, prune, replaced messages) the report no longer describes it: reset the
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

/* Records the usage of the answer at messages[index]: input, output, cache reads and writes. A sum
   of 0 is ignored. */
PHI_API void phi_tracker_record(phi_tracker *tracker, const phi_usage *usage, size_t index);

/* The known tokens of a list of `count` messages, and in *from the first message to estimate and
   add. Where nothing is known, or the list is too short to hold the recorded message: 0, and *from
   is 0. */
PHI_API uint64_t phi_tracker_known(const phi_tracker *tracker, size_t count, size_t *from);

/* The whole sum. counter NULL: the estimate. */
PHI_API uint64_t phi_tracker_tokens(const phi_tracker *tracker, const phi_message *const *messages,
                                    size_t count, const phi_token_counter *counter);

/* Forgets the last report, so that everything is estimated again. */
PHI_API void phi_tracker_reset(phi_tracker *tracker);

#ifdef __cplusplus
}
#endif
#endif
