/* event_in.h - members that events and sessions share, as JSON. */
#ifndef PHI_RECORD_EVENT_IN_H
#define PHI_RECORD_EVENT_IN_H

#include "base/base_in.h"
#include "model/event.h"
#include "text/json.h"

/* The word in JSON, static; an unknown trigger is "User". */
PHI__FN const char *phi__event_trigger(phi_trigger trigger);

/* Reads "triggered_by" of an object; missing or unknown: a user. */
PHI__FN phi_trigger phi__event_get_trigger(const phi_json *node);

/* An array of strings. */
PHI__FN void phi__event_put_ids(phi__buf *out, const char *key, const phi_str *ids, size_t count);

/* "continuation_kind": "Default", or {"Rerun":{"tag":".."}}. Read: missing or null is INITIAL. */
PHI__FN void phi__event_put_continuation(phi__buf *out, phi_continuation kind, phi_str tag);
PHI__FN phi_continuation phi__event_get_continuation(const phi_json *node, phi_str *tag);

#endif
