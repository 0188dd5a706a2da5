/* tracker_in.h - the tokens of a context: the provider's report, and an estimate of later messages.

   A provider says with each answer how many tokens it read and wrote; those are exact, and include
   the system prompt and the tools. Messages behind that answer are estimated. After a change of the
   list (compaction, prune, replaced messages) the report no longer describes it: reset the
   tracker. */
#ifndef PHI_HISTORY_TRACKER_IN_H
#define PHI_HISTORY_TRACKER_IN_H

#include "base/base_in.h"
#include "model/tokens.h"

/* PHI_ZERO is a tracker that knows nothing. It owns nothing. */
typedef struct phi__tracker {
    uint64_t reported; /* tokens up to and with message `index`; 0: none are known */
    size_t index;
} phi__tracker;

/* Records the usage of the answer at messages[index]: input, output, cache reads and writes. A sum
   of 0 is ignored. */
PHI__FN void phi__tracker_record(phi__tracker *tracker, const phi_usage *usage, size_t index);

/* The known tokens of a list of `count` messages, and in *from the first message to estimate and
   add. Where nothing is known, or the list is too short to hold the recorded message: 0, and *from
   is 0. */
PHI__FN uint64_t phi__tracker_known(const phi__tracker *tracker, size_t count, size_t *from);

/* The whole sum. counter NULL: the estimate. */
PHI__FN uint64_t phi__tracker_tokens(const phi__tracker *tracker,
                                     const phi_message *const *messages, size_t count,
                                     const phi_token_counter *counter);

/* Forgets the last report, so that everything is estimated again. */
PHI__FN void phi__tracker_reset(phi__tracker *tracker);

#endif
