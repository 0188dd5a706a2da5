/* event_in.h - the names and fields of events in JSON, for their writer and their reader. */
#ifndef PHI_RECORD_EVENT_IN_H
#define PHI_RECORD_EVENT_IN_H

#include "base/base_in.h"
#include "loop/hook.h"
#include "text/json.h"

/* All are static. An unknown trigger is "User", an unknown kind, point or input is "". */
/* the three deltas are "MessageUpdate" */
PHI__FN const char *phi__event_words_type(phi_event_kind kind);
PHI__FN const char *phi__event_words_delta(phi_event_kind kind); /* and this inside */
PHI__FN const char *phi__event_words_trigger(phi_trigger trigger);
/* a phi_hook_point; as the book names hooks */
PHI__FN const char *phi__event_words_point(int point);
PHI__FN const char *phi__event_words_input(phi_input input);

/* event_json.c: fields that are written as they are, and read back: of what `from` and `to` are.
   Strings that are read are the tree's. */
typedef enum phi__event_part {
    PHI__EVENT_TOOL,             /* phi_event */
    PHI__EVENT_RETRY,            /* phi_event */
    PHI__EVENT_DROPPED,          /* phi_event */
    PHI__EVENT_FAILURE,          /* phi_failure */
    PHI__EVENT_FAILURE_MORE,     /* phi_failure */
    PHI__EVENT_PRUNED,           /* phi_pruned */
    PHI__EVENT_REVERTED,         /* phi_reverted */
    PHI__EVENT_COMPACTION_START, /* phi_compaction */
    PHI__EVENT_COMPACTION_END,   /* phi_compaction */
    PHI__EVENT_PARALLEL_END,     /* phi_parallel */
    PHI__EVENT_FORGOTTEN,        /* phi_forgotten */
    PHI__EVENT_CONTEXT,          /* phi_context */
    PHI__EVENT_NEEDED,           /* phi_context */
    PHI__EVENT_STRATEGY,         /* phi_strategy_progress */
    PHI__EVENT_OPAQUE            /* phi_event */
} phi__event_part;
PHI__FN void phi__event_fields_put(phi__buf *out, phi__event_part part, const void *from);
PHI__FN void phi__event_fields_get(const phi_json *node, phi__event_part part, void *to);

#endif
