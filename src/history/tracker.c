/* tracker.c - adds estimates of later messages to the reported tokens. */
#include "history/tracker_in.h"

#include "base/base_in.h"

static uint64_t phi__tracker_add(uint64_t a, uint64_t b) {
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* ---- public ---- */

PHI__FN void phi__tracker_record(phi__tracker *tracker, const phi_usage *usage, size_t index) {
    uint64_t sum;
    if (tracker == NULL || usage == NULL) return;
    sum = phi__tracker_add(phi__tracker_add(usage->input, usage->output),
                           phi__tracker_add(usage->cache_read, usage->cache_write));
    if (sum == 0) return;
    tracker->reported = sum;
    tracker->index = index;
}

PHI__FN uint64_t phi__tracker_known(const phi__tracker *tracker, size_t count, size_t *from) {
    bool known = tracker != NULL && tracker->reported > 0 && tracker->index < count;
    if (from != NULL) *from = known ? tracker->index + 1 : 0;
    return known ? tracker->reported : 0;
}

PHI__FN uint64_t phi__tracker_tokens(const phi__tracker *tracker,
                                     const phi_message *const *messages, size_t count,
                                     const phi_token_counter *counter) {
    size_t i;
    uint64_t sum;
    if (messages == NULL) return 0;
    sum = phi__tracker_known(tracker, count, &i);
    for (; i < count; i++) sum = phi__tracker_add(sum, phi_tokens_of_message(counter, messages[i]));
    return sum;
}

PHI__FN void phi__tracker_reset(phi__tracker *tracker) {
    if (tracker != NULL) memset(tracker, 0, sizeof *tracker);
}
